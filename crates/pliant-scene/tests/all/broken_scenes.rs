//! Broken scenes: each problem is found at its line and column, with the value and the remedy.

use pliant_scene::{Diagnostic, Scene};

const BODY: &str = "[[body]]\nshape = \"ball\"\nparticles = 50\n";

fn problems(text: &str) -> Vec<Diagnostic> {
    match Scene::parse(text, "folder/scene.toml".as_ref()) {
        Err(problems) => problems,
        Ok(scene) => scene.build(1).err().unwrap_or_default(),
    }
}

/// Scene, line, column, part of the message, part of the help.
type Case = (&'static str, usize, usize, &'static str, &'static str);

/// Scenes that a body is added to.
const WITH_BODY: &[Case] = &[
    ("framse = 3\n", 1, 1, "no key `framse`", "did you mean `frames`?"),
    ("frames = 0\n", 1, 10, "`frames` cannot be 0", "from 1 to 10000000"),
    ("frames = 1e9\n", 1, 10, "cannot be 1e9", "from 1 to 10000000"),
    ("frames = 2.5\n", 1, 10, "cannot be 2.5", "a whole number"),
    ("frames = \"many\"\n", 1, 10, "is the text \"many\"", "a whole number"),
    ("frames = 99999999999999999999\n", 1, 10, "cannot be 9999", "a whole number"),
    ("fps = 0\n", 1, 7, "`fps` cannot be 0", "from 0.01 to 1e6"),
    ("fps = -24\n", 1, 7, "cannot be -24", "from 0.01 to 1e6"),
    ("fps = nan\n", 1, 7, "cannot be nan", "from 0.01 to 1e6"),
    ("fps = 1e400\n", 1, 7, "cannot be 1e400", "from 0.01 to 1e6"),
    ("fps = 0x80000000000000000000000000000000000\n", 1, 7, "cannot be 0x8", "from 0.01 to 1e6"),
    ("fps = true\n", 1, 7, "is the truth value true", "a number"),
    ("fps = 1979-05-27\n", 1, 7, "is the date or time 1979-05-27", "a number"),
    ("gravity = [0, inf, 0]\n", 1, 15, "cannot be inf", "from -1e12 to 1e12"),
    ("gravity = [0, -9.81]\n", 1, 11, "`gravity` has 2 values", "a list of 3 numbers"),
    ("gravity = 9.81\n", 1, 11, "is the number 9.81", "a list of 3 numbers"),
    ("solver = \"clusterd\"\n", 1, 10, "cannot be \"clusterd\"", "did you mean \"clustered\"?"),
    ("[[field]]\nkind = \"vortx\"\n", 2, 8, "cannot be \"vortx\"", "did you mean \"vortex\"?"),
    ("[[field]]\nkind = \"vortex\"\naxis = [0, 0, 0]\n", 3, 8, "length 0", "[0, 1, 0]"),
    ("[[field]]\nkind = \"attractor\"\nradius = 0\n", 3, 10, "cannot be 0", "above 0"),
    ("[[field]]\nkind = \"uniform\"\n", 1, 1, "`box` is missing", "add it"),
    (
        "[[field]]\nkind = \"uniform\"\nbox = { min = [1, 0, 0], max = [0, 0, 0] }\n",
        3,
        7,
        "beyond `max`",
        "smaller",
    ),
    ("[field]\nkind = \"vortex\"\n", 1, 1, "double brackets", "[[field]]"),
    ("wind = 3\n", 1, 8, "is the number 3", "a list of 3 numbers"),
    ("gusts = -1\n", 1, 9, "cannot be -1", "from 0 to 10"),
    ("seed = 4\n", 1, 1, "no key `seed` in the scene", "it is a key of a body"),
    ("[outptu]\n", 1, 2, "no key `outptu`", "did you mean `output`?"),
    ("[output]\nfiles = \"a.gif\"\n", 2, 9, "is the text", "a list of texts"),
    ("[output]\nfiles = [\"a.gif\", \"\"]\n", 2, 19, "cannot be \"\"", "text in quotes"),
    ("[output]\nfiles = [\"a.gif\", \"a.gif\"]\n", 2, 19, "written twice", "once"),
    ("[output]\ncheckpoint_every = 0\n", 2, 20, "cannot be 0", "from 1"),
    ("[picture]\nwidth = 100000\n", 2, 9, "cannot be 100000", "from 16 to 8192"),
    ("[picture]\ncolor_by = \"stain\"\n", 2, 12, "\"stain\"", "did you mean \"strain\"?"),
    ("[[picture]]\n", 1, 1, "`picture` is a list", "a table with keys `width`"),
    ("[plane]\n", 1, 1, "needs double brackets", "[[plane]]"),
    ("plane = 3\n", 1, 9, "`plane` is the number 3", "double brackets"),
    ("[[plane]]\nnormal = [0, 0, 0]\n", 2, 10, "length 0", "[0, 1, 0]"),
    ("[[plane]]\npoint = [0, 0, 0]\noffset = 1\n", 3, 1, "`point` and `offset` contradict", "keep one"),
    ("[[plane]]\nrestitution = 1.5\n", 2, 15, "cannot be 1.5", "from 0 to 1"),
    ("[materials]\njelly = 3\n", 2, 9, "`jelly` in [materials]", "[materials.jelly]"),
    ("[materials.jelly]\nalpha = 0.5\nfrequency = 3\n", 3, 1, "contradict", "keep one"),
    ("[materials.jelly]\ngamma = 0.5\n", 2, 1, "no key `gamma`", "did you mean `strain_limit`?"),
    ("[materials.jelly]\nfriction = -1\n", 2, 12, "cannot be -1", "from 0 to 1e6"),
    ("[keyframes]\n", 1, 1, "needs double brackets", "[[keyframes]]"),
    ("[[keyframes]]\nkeys = [[0, 1]]\n", 1, 1, "`control` is missing", "add it"),
    (
        "[[keyframes]]\ncontrol = \"gravty\"\nkeys = [[0, 1]]\n",
        2,
        11,
        "cannot be \"gravty\"",
        "did you mean \"gravity\"?",
    ),
    ("[[keyframes]]\ncontrol = \"gravity\"\n", 1, 1, "`keys` is missing", "add it"),
    (
        "[[keyframes]]\ncontrol = \"gravity\"\nkeys = [[0, 1]]\n",
        3,
        9,
        "cannot be 1.0 at key 0",
        "three numbers",
    ),
    ("[[keyframes]]\ncontrol = \"gravity\"\nkeys = [[0]]\n", 3, 9, "cannot be [0]", "[time, value]"),
    (
        "[[keyframes]]\ncontrol = \"gravity_magnitude\"\nkeys = [[0, 1], [1, -2]]\n",
        3,
        17,
        "cannot be -2.0 at key 1",
        "from 0 to",
    ),
    (
        "[[keyframes]]\ncontrol = \"gravity\"\nkeys = [[0, [0, 0, 0]]]\n\
         [[keyframes]]\ncontrol = \"gravity_magnitude\"\nkeys = [[0, 1]]\n",
        5,
        11,
        "the track of gravity sets gravity_magnitude too",
        "one track",
    ),
];

/// Keys that are added to a body of the clustered solver, whose first line is the first here.
const IN_BODY: &[Case] = &[
    ("stifness = 3\n", 1, 1, "no key `stifness`", "did you mean `frequency`?"),
    ("frequancy = 3\n", 1, 1, "no key `frequancy` in a body", "did you mean `frequency`?"),
    ("colour = \"#fff\"\n", 1, 1, "no key `colour`", "did you mean `color`?"),
    ("width = 3\n", 1, 1, "no key `width`", "it is a key of [picture]"),
    ("radius = 3\n", 1, 1, "no key `radius`", "did you mean `cluster_radius`?"),
    ("frequency = 500\n", 1, 13, "`frequency` cannot be 500", "times the substeps"),
    ("alpha = 1.5\n", 1, 9, "cannot be 1.5", "from 0 to 1"),
    ("alpha = 0.5\nfrequency = 3\n", 2, 1, "`alpha` and `frequency` contradict", "keep one"),
    ("spacing = 0.1\n", 1, 1, "contradict", "keep one"),
    ("mass = 1\ndensity = 1\n", 2, 1, "contradict", "keep one"),
    ("mass = 0\n", 1, 8, "cannot be 0", "above 0, up to 1e12"),
    ("mass = 1e308\n", 1, 8, "cannot be 1e308", "up to 1e12"),
    ("frequency = 1e200\n", 1, 13, "cannot be 1e200", "from 0 to 1e6"),
    ("edge_stiffness = 1e308\n", 1, 18, "cannot be 1e308", "from 0 to 1e15"),
    ("density = 1e300\n", 1, 11, "cannot be 1e300", "from 1e-9 to 1e9"),
    ("position = [0, 1e10, 0]\n", 1, 16, "cannot be 1e10", "from -1e9 to 1e9"),
    ("clusters = 3\ncluster_radius = 1\n", 2, 1, "contradict", "keep one"),
    ("clusters = 0\n", 1, 12, "cannot be 0", "from 1"),
    ("clusters = \"nine\"\n", 1, 12, "cannot be \"nine\"", "did you mean \"none\"?"),
    ("clusters = \"none\"\n", 1, 12, "needs clusters", "projective"),
    ("clusters = [1]\n", 1, 12, "is a list", "a whole number"),
    ("clustering = \"kmean\"\n", 1, 14, "cannot be \"kmean\"", "did you mean \"kmeans\"?"),
    ("cluster_levels = 0\n", 1, 18, "cannot be 0", "from 1 to 16"),
    ("coarse_share = 1\n", 1, 16, "cannot be 1", "from 0.01 to 0.99"),
    ("overlap = -0.5\n", 1, 11, "cannot be -0.5", "from 0 to 10"),
    ("symmetric = \"yes\"\n", 1, 13, "is the text", "true or false"),
    ("smooth_weights = 1\n", 1, 18, "is the number 1", "true or false"),
    ("edge_stiffness = 10\n", 1, 18, "does not support edge springs", "projective"),
    ("copies = { grid = [100, 100, 100] }\n", 1, 19, "more than 10000 bodies", "fewer"),
    ("copies = { apart = [1, 1, 1] }\n", 1, 10, "grid", "[10, 10, 10]"),
    ("copies = { grid = [2, 1, 0] }\n", 1, 26, "cannot be 0", "from 1 to 10000"),
    ("copies = { grid = [2, 1, 1] }\n[[body.pin]]\nparticles = [0]\n", 2, 1, "cannot be copied", "each body"),
    ("material = \"unobtainium\"\n", 1, 12, "no material \"unobtainium\"", "`rubber`, `jelly`, `foam`"),
    ("material = \"unobtainium\"\n", 1, 12, "no material", "[materials.unobtainium]"),
    ("material = \"ruber\"\n", 1, 12, "no material \"ruber\"", "did you mean \"rubber\"?"),
    ("material = \"rubber\"\nsolver = \"clustered\"\n", 2, 10, "does not support", "projective"),
    ("young = -1\n", 1, 9, "cannot be -1", "from 0 to 1e15"),
    ("poisson = 0.5\n", 1, 11, "cannot be 0.5", "from 0 to 0.499"),
    ("thickness = 0\n", 1, 13, "cannot be 0", "from 1e-9"),
    ("air = -1\n", 1, 7, "cannot be -1", "from 0 to 1e6"),
    ("young = 1e5\nelements = \"none\"\n", 1, 9, "the body has none", "remove"),
    ("elements = \"cubes\"\n", 1, 12, "cannot be \"cubes\"", "\"tetrahedra\", \"triangles\""),
    ("constraint = \"strain\"\n", 1, 14, "is the text", "a list"),
    ("constraint = [\"strane\"]\n", 1, 15, "cannot be \"strane\"", "did you mean \"strain\"?"),
    ("[body.constraint]\nkind = \"strain\"\n", 1, 1, "double brackets", "[[body.constraint]]"),
    ("[[body.constraint]]\nstiffness = 3\n", 1, 1, "`kind` is missing", "strain_limit"),
    ("[[body.constraint]]\nkind = \"strain_limit\"\nmin = 1.2\n", 3, 7, "`min` 1.2 is above", "exchange"),
    ("[[body.constraint]]\nkind = \"strain\"\nmin = 1.2\n", 3, 1, "no key `min`", "stiffness"),
    ("[[body.constraint]]\nkind = \"fibre\"\n", 1, 1, "`direction` is missing", "add it"),
    ("[[body.constraint]]\nkind = \"fibre\"\ndirection = [0, 0, 0]\n", 3, 13, "length 0", "[1, 0, 0]"),
    ("[[body.constraint]]\nkind = \"bending\"\n", 1, 1, "needs triangles", "another shape"),
    ("[[body.constraint]]\nkind = \"examples\"\nfiles = [\"no.obj\"]\n", 3, 10, "cannot read", "path"),
    ("color = \"red\"\n", 1, 9, "cannot be \"red\"", "#rrggbb"),
    ("color = [255, 0, 0]\n", 1, 10, "cannot be 255", "from 0 to 1"),
    ("look = \"shiny\"\n", 1, 8, "cannot be \"shiny\"", "\"jelly\", \"matte\", \"cloth\""),
    ("rotation = { axis = [0, 0, 0], angle = 3 }\n", 1, 21, "length 0", "direction"),
    ("rotation = { axis = [0, 1, 0] }\n", 1, 12, "`angle` is missing", "add it"),
    ("rotation = \"up\"\n", 1, 12, "is the text", "a list of 3 numbers from -1e9 to 1e9, or a table"),
    ("seed = -1\n", 1, 8, "cannot be -1", "at least 0"),
    ("name = \"\"\n", 1, 8, "cannot be \"\"", "text in quotes"),
    ("[body.pin]\nparticles = [0]\n", 1, 1, "double brackets", "[[body.pin]]"),
    ("[[body.pin]]\nname = \"x\"\n", 1, 1, "`particles`, `box` or `corners` is missing", "add one"),
    ("[[body.pin]]\nparticles = [0, 7000]\n", 2, 17, "no particle 7000", "numbered from 0"),
    ("[[body.pin]]\nparticles = []\n", 2, 13, "has 0 values", "at least 1"),
    ("[[body.pin]]\ncorners = [\"left_back\"]\n", 2, 11, "this body is none", "box"),
    (
        "[[body.pin]]\nbox = { min = [9, 9, 9], max = [10, 10, 10] }\n",
        2,
        7,
        "no particle is in",
        "reaches from",
    ),
    ("[[body.pin]]\nbox = { min = [1, 0, 0], max = [0, 0, 0] }\n", 2, 7, "beyond `max`", "smaller"),
    ("[[body.pin]]\nbox = { min = [1, 0, 0] }\n", 2, 7, "`max` is missing", "add it"),
    ("[[body.pin]]\nparticles = [0]\nstiffness = 5\n", 3, 13, "soft pins", ""),
    ("[[body.pin]]\nparticles = [0]\nsway = [1, 0, 0]\n", 3, 1, "without `frequency`", "add `frequency`"),
    ("[[body.pin]]\nparticles = [0]\nstart = 3\nend = 1\n", 4, 7, "before it begins", "later"),
    ("goals = \"quadratc\"\n", 1, 9, "cannot be \"quadratc\"", "did you mean \"quadratic\"?"),
    ("beta = 0.3\n", 1, 1, "no key `beta`", "did you mean `deformation`?"),
    ("elasticity = 0.3\n", 1, 1, "no key `elasticity`", "did you mean `restitution`?"),
    ("deformation = 0.99\n", 1, 15, "cannot be 0.99", "from 0 to 0.98"),
    ("two_step = \"yes\"\n", 1, 12, "is the text \"yes\"", "true or false"),
    ("[body.keyframes]\n", 1, 1, "double brackets", "[[body.keyframes]]"),
    (
        "[[body.keyframes]]\ncontrol = \"damping\"\nkeys = [[0, 1], [2, 3], [1, 2]]\n",
        3,
        25,
        "key 2 of damping is at 1 s, not after the one at 2 s",
        "in order",
    ),
    (
        "[[body.keyframes]]\ncontrol = \"frequency\"\nkeys = [[0, 1], [2, 500]]\n",
        3,
        17,
        "frequency cannot be 500.0 at key 1",
        "times the substeps",
    ),
    (
        "[[body.keyframes]]\ncontrol = \"iterations\"\nease = \"smooth\"\nkeys = [[0, 1], [2, 5]]\n",
        4,
        9,
        "whole number",
        "stepped",
    ),
    (
        "[[body.keyframes]]\ncontrol = \"damping\"\nkeys = [[0, 1, \"liner\"], [2, 5]]\n",
        3,
        16,
        "cannot be \"liner\"",
        "did you mean \"linear\"?",
    ),
    (
        "[[body.keyframes]]\ncontrol = \"edge_stiffness\"\nkeys = [[0, 1]]\n",
        2,
        11,
        "does not support edge springs",
        "projective",
    ),
    (
        "[[body.keyframes]]\ncontrol = \"stiffness\"\nkeys = [[0, 1]]\n",
        2,
        11,
        "cannot be \"stiffness\"",
        "did you mean \"frequency\"?",
    ),
    (
        "[[body.keyframes]]\ncontrol = \"beta\"\nkeys = [[0, 0.1]]\n",
        2,
        11,
        "cannot be \"beta\"",
        "did you mean \"deformation\"?",
    ),
    ("[[body.paint]]\nvalue = 0.2\n", 1, 1, "`box` or `sphere` is missing", "add one"),
    (
        "[[body.paint]]\nvalue = 0.2\nsphere = { center = [9, 9, 9], radius = 1 }\n",
        3,
        10,
        "no particle is painted",
        "reaches from",
    ),
    (
        "[[body.paint]]\nchannel = \"stifness\"\nvalue = 0.2\nsphere = { center = [0, 0, 0], radius = 1 }\n",
        2,
        11,
        "cannot be \"stifness\"",
        "did you mean \"stiffness\"?",
    ),
    (
        "[[body.paint]]\nchannel = \"follow\"\nvalue = 1\nsphere = { center = [0, 0, 0], radius = 1 }\n",
        2,
        11,
        "the body has no input",
        "[body.input]",
    ),
    ("[body.input]\n", 1, 1, "`file`, `files` or `wag` is missing", "add one"),
    ("[body.input]\nfile = \"a.pc2\"\nwag = {}\n", 3, 1, "`file` and `wag` contradict", "keep one"),
    (
        "[body.input]\nwag = {}\nreshape = false\n",
        3,
        11,
        "nothing follows this input",
        "channel = \"follow\"",
    ),
    ("[body.input]\nwag = {}\nfps = 24\n", 3, 7, "`fps` has no meaning for a wagging", "remove"),
    ("[body.input]\nwag = {}\nrepeat = true\n", 3, 10, "`repeat` has no meaning", "remove"),
    ("[body.input]\nwag = { frequency = 0 }\n", 2, 21, "cannot be 0", "above 0"),
    ("[body.input]\nwag = { axis = [0, 0, 0] }\n", 2, 16, "length 0", "direction"),
    ("[body.input]\nwag = { bend = false, along = [1, 0, 0] }\n", 2, 31, "without `bend`", "remove"),
    ("[body.input]\nwag = { pivot = [0, 9, 0] }\n", 2, 7, "no particle is beyond the pivot", "`along`"),
    ("[body.input]\nfile = \"no.pc2\"\n", 2, 8, "cannot read folder/no.pc2", "relative to the scene"),
    ("[body.input]\nfiles = \"a.obj\"\n", 2, 9, "there is no #", "walk_####.obj"),
    ("[body.input]\nfiles = \"a_#_#.obj\"\n", 2, 9, "several places", "together"),
    ("[body.input]\nfiles = \"a_##.obj\"\n", 2, 9, "cannot read folder", "relative to the scene"),
    ("follow = -1\n", 1, 10, "cannot be -1", ""),
    ("follow_damping = -1\n", 1, 18, "cannot be -1", "from 0 to 1e9"),
    (
        "[[body.keyframes]]\ncontrol = \"follow\"\nkeys = [[0, 1], [1, -1]]\n",
        3,
        17,
        "cannot be -1.0 at key 1",
        "",
    ),
    (
        "[[body.pin]]\nparticles = [0]\n[[body.pin]]\nparticles = [0]\n",
        4,
        13,
        "held by an earlier pin",
        "one pin",
    ),
];

/// Whole scenes.
const WHOLE: &[Case] = &[
    (
        "[[body]]\nshape = \"box\"\nparticles = 27\nsolver = \"projective\"\nmass = 1e-300\nedge_stiffness = 1e15\n",
        6,
        18,
        "positive definite",
        "lower",
    ),
    ("[[body]]\n", 1, 1, "`shape` is missing in a body", "kind = \"ball\""),
    ("[[body]]\nshape = \"bal\"\n", 2, 9, "cannot be \"bal\"", "did you mean \"ball\"?"),
    ("[[body]]\nshape = 3\n", 2, 9, "is the number 3", "\"gummy_bear\""),
    ("[[body]]\nshape = { radius = 3 }\n", 2, 9, "`kind` is missing", "\"ball\""),
    ("[[body]]\nshape = { kind = 3 }\n", 2, 18, "cannot be 3", "\"ball\""),
    (
        "[[body]]\nshape = { kind = \"ball\", raduis = 1 }\n",
        2,
        26,
        "no key `raduis` in a ball",
        "did you mean `radius`?",
    ),
    ("[[body]]\nshape = { kind = \"ball\", radius = -1 }\n", 2, 35, "cannot be -1", "above 0"),
    ("[[body]]\nshape = { kind = \"box\", size = [1, 0, 1] }\n", 2, 36, "cannot be 0", "above 0"),
    ("[[body]]\nshape = { kind = \"torus\", major = 1, minor = 2 }\n", 2, 9, "runs into itself", "smaller"),
    (
        "[[body]]\nshape = { kind = \"capsule\", radius = 1, height = 1 }\n",
        2,
        9,
        "no room for its ends",
        "twice",
    ),
    ("[[body]]\nshape = \"mesh\"\n", 2, 9, "`file` is missing in a mesh", "add it"),
    ("[[body]]\nshape = \"ball\"\nspacing = 1e-5\n", 3, 11, "particles", "spacing"),
    ("[[body]]\nshape = \"ball\"\nspacing = 10\n", 3, 11, "", "spacing"),
    (
        "[[body]]\nshape = { kind = \"sheet\", cells = [3, 3] }\nparticles = 9\n",
        3,
        13,
        "contradict",
        "keep one",
    ),
    (
        "[[body]]\nshape = \"ball\"\nsolver = \"projective\"\nclusters = \"none\"\n",
        4,
        12,
        "nothing holds",
        "edge_stiffness",
    ),
    (
        "[[body]]\nshape = \"ball\"\nsolver = \"projective\"\nstrain_limit = 0.3\n",
        4,
        16,
        "strain limiting",
        "",
    ),
    (
        "[[body]]\nname = \"a\"\nshape = \"ball\"\n[[body]]\nname = \"a\"\nshape = \"ball\"\n",
        5,
        8,
        "named \"a\" already, in line 2",
        "of its own",
    ),
    (
        "[[body]]\nshape = \"ball\"\nsolver = \"projective\"\n[body.input]\nwag = {}\n",
        4,
        1,
        "does not support animated inputs",
        "clustered",
    ),
    (
        "[[body]]\nshape = { kind = \"vertices\", file = \"a.obj\" }\nspacing = 0.1\n",
        3,
        11,
        "no meaning for vertices",
        "kind = \"mesh\"",
    ),
    ("[body]\nshape = \"ball\"\n", 1, 1, "double brackets", "[[body]]"),
    ("bodies = []\n", 1, 1, "no key `bodies`", "did you mean `body`?"),
    (
        "[materials.jelly]\n[materials.foam]\n[[body]]\nshape = \"ball\"\nmaterial = \"jely\"\n",
        5,
        12,
        "no material \"jely\"",
        "did you mean \"jelly\"?",
    ),
    (
        "[materials.a]\nstrain_limit = 0.3\n[[body]]\nname = \"b\"\nshape = \"ball\"\nsolver = \"projective\"\nmaterial = \"a\"\n",
        2,
        16,
        "of the material of body `b`",
        "",
    ),
    (
        "[[body]]\nshape = { kind = \"mesh\", file = \"no.obj\" }\n",
        2,
        33,
        "cannot read folder/no.obj",
        "relative to the scene's folder",
    ),
    (
        "[[body]]\nshape = { kind = \"points\", file = \"/dev/zero\" }\n",
        2,
        35,
        "not a regular file",
        "check the path",
    ),
    (
        "[[body]]\nshape = { kind = \"sheet\", cells = [4000, 4000] }\n",
        2,
        9,
        "the scene has 16008001 particles; 5000000 are possible",
        "fewer cells",
    ),
    (
        "[[body]]\nshape = { kind = \"sheet\", cells = [1700, 1700] }\n[[body]]\nname = \"b\"\nshape = \"sheet\"\nspacing = 0.0006\n",
        6,
        11,
        "with body `b` the scene has 5675625 particles",
        "coarser spacing",
    ),
    ("[[body]]\nshape = \"sheet\"\nspacing = 1e-9\n", 3, 11, "particles; 5000000 are possible", "coarser"),
    ("[[body]]\nshape = \"bunny\"\nspacing = 0.0001\n", 3, 11, "more than 5000000 particles", "or more"),
    ("[[body]]\nshape = \"ball\"\nparticles = 20000000\n", 3, 13, "cannot be 20000000", "from 1 to 5000000"),
    ("[[body]]\nshape = \"ball\nname = \"x\"\n", 2, 14, "not TOML", ""),
    ("fps = \n[[body]]\nshape = \"ball\"\n", 1, 7, "not TOML", "quotes"),
    ("[[body]]\nshape = ball\n", 2, 9, "must be quoted", "quotes"),
    ("fps = 1\nfps = 2\n[[body]]\nshape = \"ball\"\n", 2, 1, "duplicate key", "once"),
];

#[test]
fn every_broken_scene_is_explained_at_its_place() {
    let mut wrong = Vec::new();
    let mut check = |text: &str, shift: usize, case: &Case| {
        let found = problems(text);
        let (_, line, column, message, help) = *case;
        let fits = |p: &&Diagnostic| {
            p.place == Some((line + shift, column)) && p.message.contains(message) && p.help.contains(help)
        };
        if found.len() != 1 || !found.iter().any(|p| fits(&p)) {
            let shown: Vec<String> = found.iter().map(|p| p.to_string()).collect();
            wrong.push(format!("---\n{text}wanted {case:?}\ngot {}:\n{}", found.len(), shown.join("\n")));
        }
        for p in &found {
            assert!(!p.help.is_empty(), "no remedy in {p}");
            assert_eq!(p.is_io, p.message.starts_with("cannot read"), "{p}");
        }
    };
    for case in WITH_BODY {
        check(&format!("{}{BODY}", case.0), 0, case);
    }
    for case in IN_BODY {
        check(&format!("{BODY}{}", case.0), BODY.lines().count(), case);
    }
    for case in WHOLE {
        check(case.0, 0, case);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_empty_scene_says_what_to_add() {
    for text in ["", "# nothing\n", "fps = 30\n", "body = []\n"] {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        assert!(found[0].message.contains("there is no body"), "{}", found[0]);
        assert!(found[0].help.contains("[[body]]"), "{}", found[0]);
    }
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_file() {
    let text = "framse = 1\nfps = -1\n[[plane]]\nnormal = [0, 0, 0]\n[[body]]\nshape = \"bal\"\nmass = 0\n\
                material = \"x\"\n[[body]]\nname = 3\nshape = \"ball\"\nfrequency = 1e6\n";
    let lines: Vec<usize> = problems(text).iter().filter_map(|p| Some(p.place?.0)).collect();
    assert_eq!(lines, [1, 2, 4, 6, 7, 8, 10, 12]);
}

#[test]
fn all_faults_of_keyframes_come_at_once() {
    let text = format!(
        "[[keyframes]]\ncontrol = \"gravity\"\nkeys = [[1, [0, 0, 0]], [0, [0, 1, 0]]]\n{BODY}\
         [[body.keyframes]]\ncontrol = \"alpha\"\nkeys = [\n[0, 2],\n[0, -1]]\n\
         [[body.keyframes]]\ncontrol = \"frequency\"\nkeys = [[0, 5]]\n"
    );
    let lines: Vec<usize> = problems(&text).iter().filter_map(|p| Some(p.place?.0)).collect();
    assert_eq!(lines, [3, 10, 11, 11, 13]);
}

#[test]
fn problems_beside_a_syntax_error_are_still_reported() {
    let found = problems("fps = sixty\n[[body]]\nshape = \"ball\"\nfrequancy = 3\n");
    let lines: Vec<_> = found.iter().map(|p| p.place).collect();
    assert_eq!(lines, [Some((1, 7)), Some((4, 1))]);
}

#[test]
fn an_open_bracket_does_not_flood_the_terminal() {
    let text = format!("gravity = [0, 1\n{}", BODY.repeat(50));
    assert!(problems(&text).len() <= 5);
}

#[test]
fn a_problem_shows_the_line_with_a_mark_under_the_place() {
    let found = problems("[[body]]\nname = \"é\"\nshape = { kind = \"ball\", radius = -1.5 } # é\n");
    assert_eq!(
        found[0].to_string(),
        "folder/scene.toml:3:35: error: `radius` cannot be -1.5\n  \
         3 | shape = { kind = \"ball\", radius = -1.5 } # é\n    \
           |                                   ^^^^\n  \
         help: give a number above 0, up to 1e6: radius, m."
    );
}

#[test]
fn columns_count_characters_and_a_byte_order_mark_none() {
    let found = problems("\u{feff}fps = 0\n[[body]]\nname = \"ééé\"\nshape = { kind = \"ball\" }\n");
    assert_eq!(found[0].place, Some((1, 7)));
    let found = problems("[[body]]\nshape = { 'é' = 1, kind = \"ball\", radius = 0 }\n");
    let columns: Vec<_> = found.iter().map(|p| p.place).collect();
    assert_eq!(columns, [Some((2, 11)), Some((2, 44))]);
}

#[test]
fn windows_line_ends_are_lines() {
    let found = problems("fps = 60\r\nframes = 0\r\n[[body]]\r\nshape = \"ball\"\r\n");
    assert_eq!(found[0].place, Some((2, 10)));
    assert!(!found[0].to_string().contains('\r'));
}

/// Words of other programs are answered with what they are here, or that it is not there yet; never with sixty keys.
#[test]
fn words_of_other_programs_are_known() {
    let told = |text: &str| {
        let problems = Scene::parse(text, "s.toml".as_ref()).expect_err("a refusal");
        let help: Vec<String> = problems.iter().map(|p| p.help.clone()).collect();
        assert!(help.iter().all(|h| h.matches('`').count() < 44), "a list: {help:?}");
        help.join("\n")
    };
    let body = |line: &str| told(&format!("[[body]]\nshape = \"ball\"\n{line}\n"));
    for (line, wanted) in [
        ("collider = true", "a key of the scene"),
        ("self_collision = true", "`self_contact"),
        ("self-collision = true", "`self_contact"),
        ("attach = \"box\"", "[[body.pin]]"),
        ("glue = true", "[[body.pin]]"),
        ("joint = 1", "[[joint]]"),
        ("weld = 1", "[[joint]]"),
        ("tear = 0.5", "`tear_strain`"),
        ("rigid = true", "kind = \"rigid\""),
        ("is_static = true", "did you mean `kinematic`?"),
        ("dt = 0.01", "`fps`"),
        ("frequancy = 1", "did you mean `frequency`?"),
    ] {
        let help = body(line);
        assert!(help.contains(wanted), "{line}: {help}");
    }
    for (text, wanted) in [
        ("[[wall]]\nshape = \"box\"\n", "[[collider]]"),
        ("[[sphere]]\nradius = 1\n", "shape = \"ball\""),
        ("[camera]\n", "[picture]"),
        ("[[body]]\nshape = \"sphere\"\n", "did you mean \"ball\"?"),
        ("[[body]]\nshape = { kind = \"cube\", size = [1, 1, 1] }\n", "did you mean \"box\"?"),
        ("[[body]]\nshape = \"rope\"\n", "did you mean \"thread\"?"),
    ] {
        let help = told(text);
        assert!(help.contains(wanted), "{text}: {help}");
    }
}

/// A key like nothing there is: what looks most like it, and what the keys are for, in one line; never sixty words.
#[test]
fn strange_keys_are_answered_in_a_line() {
    for (text, title) in [
        ("[[body]]\nshape = \"ball\"\nqwertz = 1\n", "a body has"),
        ("[materials.m]\nqwertz = 1\n", "a material has"),
        ("[[body]]\nshape = \"ball\"\nfluffiness_of_it = 1\n", "a body has"),
    ] {
        let problems = Scene::parse(text, "s.toml".as_ref()).expect_err("a refusal");
        let help = &problems.iter().find(|p| p.message.contains("there is no key")).expect("the key").help;
        assert!(help.contains(title) && help.contains("`pliant schema`") && help.contains(" for "), "{help}");
        let words = help.matches('`').count() / 2;
        assert!(!help.contains('\n') && (3..=20).contains(&words), "{words} words: {help}");
    }
    let problems = Scene::parse("[[body]]\nshape = \"ball\"\nplastic = 1\n", "s.toml".as_ref());
    let help = problems.expect_err("a refusal")[0].help.clone();
    assert!(help.contains("plastic"), "{help}");
}

/// A key that nothing of its body reads is refused where it stands, with what would have the effect.
#[test]
fn keys_without_effect_are_refused_at_their_line() {
    let built = |text: &str| Scene::parse(text, "s.toml".as_ref()).expect("a scene").build(1);
    let ball = |lines: &str| format!("[[body]]\nname = \"it\"\nshape = \"ball\"\nparticles = 60\n{lines}\n");
    for (text, line, key, instead) in [
        (ball("flappiness = 0.4"), 5, "flappiness", "`damping`"),
        (ball("viscous_friction = 0.4"), 5, "viscous_friction", "`friction`"),
        (ball("volume = 0.5"), 5, "volume", "goals"),
        (ball("friction = 0.5\nfollow = 3.0"), 6, "follow", "`input`"),
        (ball("solver = \"pbd\"\nfrequency = 10"), 6, "frequency", "relaxation"),
        (
            ball("elements = \"tetrahedra\"\nspacing = 0.05\nfrequency = 9").replace("particles = 60\n", ""),
            6,
            "frequency",
            "`young`",
        ),
        (
            format!("[materials.m]\nflappiness = 0.4\n{}", ball("material = \"m\"")),
            2,
            "flappiness",
            "`damping`",
        ),
    ] {
        let problems = built(&text).err().unwrap_or_else(|| panic!("accepted:\n{text}"));
        let said = problems[0].to_string();
        assert_eq!((problems.len(), problems[0].place.map(|p| p.0)), (1, Some(line)), "{said}");
        assert!(said.contains(&format!("`{key}` does nothing")) && said.contains(instead), "{said}");
    }
    // Off where there is none anyway, springs of PBD, a material that serves another body, and a thickness that makes mass.
    for text in [
        ball("solver = \"pbd\"\nclusters = \"none\"\nedge_stiffness = 100"),
        ball("volume = 0\nair = 0"),
        format!(
            "[materials.m]\nflappiness = 0.4\n{}{}",
            ball("material = \"m\""),
            ball("material = \"m\"\nintegrator = \"deformer\"").replace("\"it\"", "\"other\"")
        ),
        "[[body]]\nshape = { kind = \"sheet\", size = [1, 1], cells = [3, 3] }\nthickness = 0.01\ndensity = 900\n\
         elements = \"triangles\"\nconstraint = [{ kind = \"strain\", stiffness = 1e3 }]\n"
            .to_string(),
    ] {
        assert!(built(&text).is_ok(), "{text}\n{:?}", built(&text).err());
    }
}
