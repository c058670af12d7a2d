//! Every key of a scene file: name, kind, range, default, meaning. The reader and the schema both follow
//! this list; to add a key, add it here and take it up where the table is made use of.

mod colliders;
mod constraints;
mod events;
mod fields;
mod joints;

use crate::format::{COORDINATE, Key, Kind, MOST_PARTICLES, Range, Rule, Table};
use colliders::COLLIDER;
use constraints::CONSTRAINTS;
use events::EVENT;
use fields::FIELDS;
use joints::JOINT;
use pliant::Control;
use pliant_geometry::{CameraMotion, ColorBy, Look};

const NUMBER: Kind = Kind::Number(Range::new(-COORDINATE, COORDINATE));
const RATE: Kind = Kind::Number(Range::new(0.0, 1e9));
const FREQUENCY: Kind = Kind::Number(Range::new(0.0, 1e6));
const FRICTION: Kind = Kind::Number(Range::new(0.0, 1e6));
const SHARE: Kind = Kind::Number(Range::new(0.0, 1.0));
const LENGTH: Kind = Kind::Number(Range::above(0.0, 1e6));
const VECTOR: Kind = Kind::List(&NUMBER, 3, 3);
const SPIN: Kind = Kind::List(&Kind::Number(Range::new(-1e6, 1e6)), 3, 3);
const FORCE: Kind = Kind::List(&Kind::Number(Range::new(-1e12, 1e12)), 3, 3);
const SIZE: Kind = Kind::List(&LENGTH, 3, 3);
const COLOR: Kind = Kind::Either(&[Kind::HexColor, Kind::List(&SHARE, 3, 3)]);
const SOLVER: Kind = Kind::Word(&["clustered", "projective", "newton", "xpbd", "pbd"]);

/// The scene itself.
pub(crate) static SCENE: Table = Table {
    title: "the scene",
    groups: &[&[
        Key::new("fps", Kind::Number(Range::new(0.01, 1e6)), "Frames per second; one step is one frame.")
            .default("60")
            .also(&["frames_per_second", "rate"]),
        Key::new("frames", Kind::Whole(1, 10_000_000), "How many frames to simulate.")
            .default("120")
            .also(&["steps"]),
        Key::new(
            "substeps",
            Kind::Whole(1, 10_000),
            "Equal parts a step is taken in; more allow stiffer bodies and cost as much more.",
        )
        .default("4"),
        Key::new("gravity", FORCE, "Acceleration of everything, m/s²; y is up.").default("[0, -9.81, 0]"),
        Key::new("wind", FORCE, "Velocity of the air, m/s; it pushes the faces of bodies that have `air`.")
            .default("[0, 0, 0]"),
        Key::new(
            "gusts",
            Kind::Number(Range::new(0.0, 10.0)),
            "How much of the wind comes and goes: 0 for a steady one, 1 for one that now and then stands still.",
        )
        .default("0.0")
        .also(&["gust", "turbulence"]),
        Key::new(
            "solver",
            SOLVER,
            "The solver of solid bodies that do not name one; sheets and bodies of elements take \"projective\".",
        )
        .default("\"clustered\""),
        Key::new("output", Kind::Table(&OUTPUT), "What is written.").example("{ files = [\"scene.gif\"] }"),
        Key::new(
            "implicit",
            Kind::Table(&IMPLICIT),
            "How the projective solver takes a step; `implicitness` and `mass` hold for Newton's method too. The same for all \
             their bodies.",
        )
        .example("{ implicitness = 0.55, acceleration = \"lbfgs\" }"),
        Key::new("picture", Kind::Table(&PICTURE), "How pictures are taken.").example("{ width = 320 }"),
        Key::new("materials", Kind::Named(&MATERIAL), "Materials by name, for bodies to share.")
            .example("{ jelly = { frequency = 30.0 } }")
            .also(&["material"]),
        Key::new("keyframes", Kind::Tables(&WORLD_TRACK), "Values of the world over time.")
            .example("[{ control = \"gravity_magnitude\", keys = [[0, 9.81], [1, 0]] }]")
            .also(&["keyframe", "keys", "animation"]),
        Key::new(
            "field",
            Kind::List(&Kind::Tagged(FIELDS), 0, 1000),
            "Fields of force, which act on all bodies alike.",
        )
        .example("[{ kind = \"attractor\", center = [0, 1, 0], strength = 20.0 }]")
        .also(&["fields", "force_field"]),
        Key::new("plane", Kind::Tables(&PLANE), "Planes no body can pass, at rest or moving; an empty one is the ground y = 0.")
            .example("[{ normal = [0, 1, 0] }]")
            .also(&["planes", "ground", "floor"]),
        Key::new("collider", Kind::Tables(&COLLIDER), "Other things no body can enter: balls, boxes, capsules, cylinders, meshes, grounds of heights; at rest, moving or animated.")
            .example("[{ shape = { kind = \"ball\", radius = 0.2 } }]")
            .also(&["colliders", "collision_object", "obstacle", "obstacles"]),
        Key::new("joint", Kind::Tables(&JOINT), "Points of bodies that are tied together, exactly or by springs.")
            .example("[{ between = [\"lamp\", \"cord\"], at = [0, 1, 0] }]")
            .also(&["joints", "coupling", "tie", "link"]),
        Key::new("event", Kind::Tables(&EVENT), "What happens at a time: pins are let go, bodies held, pushed, moved.")
            .example("[{ at = 1.5, body = \"cloth\", release = \"left\" }]")
            .also(&["events"]),
        Key::new("body", Kind::Tables(&BODY), "The soft bodies.")
            .example("[{ shape = \"ball\" }]")
            .also(&["bodies"]),
    ]],
    rules: &[],
};

/// What is written.
pub(crate) static OUTPUT: Table = Table {
    title: "[output]",
    groups: &[&[
        Key::new(
            "files",
            Kind::List(&Kind::Text, 0, 1000),
            "Files to write, relative to the scene's folder; the ending chooses the format.",
        )
        .default("[]")
        .example("[\"bear.gif\", \"bear.usda\"]")
        .also(&["file", "outputs"]),
        Key::new(
            "checkpoint_every",
            Kind::Whole(1, 10_000_000),
            "Frames between two checkpoints, from which a broken-off run resumes.",
        )
        .default("30"),
    ]],
    rules: &[],
};

/// How implicit steps are taken.
pub(crate) static IMPLICIT: Table = Table {
    title: "[implicit]",
    groups: &[&[
        Key::new(
            "implicitness",
            Kind::Number(Range::new(0.5, 1.0)),
            "1 is implicit Euler, which damps; 0.5 the midpoint rule, which keeps energy and momentum; a little \
             above 0.5 is lively and still calm where things are stiff.",
        )
        .default("1.0")
        .also(&["theta"]),
        Key::new(
            "acceleration",
            Kind::Word(&["none", "lbfgs", "anderson"]),
            "Fewer iterations to the same end, with the plain step to fall back on (projective solver, where \
             nothing touches a plane).",
        )
        .default("\"none\""),
        Key::new(
            "tolerance",
            Kind::Number(Range::new(0.0, 0.999)),
            "Iterations end when one lowers the objective by less than this part of what all have so far; 0 does \
             all of `iterations`.",
        )
        .default("0.0"),
        Key::new(
            "warm_start",
            Kind::Word(&["prediction", "last"]),
            "Where iterations begin: where inertia leads, or at the last positions, which damps more.",
        )
        .default("\"prediction\""),
        Key::new(
            "mass",
            Kind::Word(&["lumped", "consistent"]),
            "Mass at the particles, or spread as the shape functions of tetrahedra and triangles say.",
        )
        .default("\"lumped\""),
    ]],
    rules: &[],
};

/// How pictures are taken.
pub(crate) static PICTURE: Table = Table {
    title: "[picture]",
    groups: &[&[
        Key::new("width", Kind::Whole(16, 8192), "Width in pixels.").default("640"),
        Key::new("height", Kind::Whole(16, 8192), "Height in pixels.").default("480"),
        Key::new("color_by", Kind::Word(ColorBy::NAMES), "What colours show.")
            .default("\"body\"")
            .also(&["colour_by"]),
        Key::new(
            "azimuth",
            Kind::Number(Range::new(-360.0, 360.0)),
            "Direction of the camera around the scene, degrees; 0 looks along -z.",
        )
        .default("25"),
        Key::new(
            "elevation",
            Kind::Number(Range::new(-89.0, 89.0)),
            "Height of the camera, degrees above the horizon.",
        )
        .default("15"),
        Key::new(
            "camera",
            Kind::Word(CameraMotion::NAMES),
            "Whether the camera goes along with what moves, or stands where all of the run is in the picture; auto follows \
             what would be small.",
        )
        .default("\"auto\""),
    ]],
    rules: &[],
};

/// Keys of a material, which are keys of a body too.
const MATERIAL_KEYS: &[Key] = &[
    Key::new(
        "frequency",
        FREQUENCY,
        "Stiffness as oscillations per second (Hz); does not depend on step, substeps or resolution. 25 unless given, or the most the step allows.",
    )
    .example("30.0")
    .also(&["stiffness"]),
    Key::new(
        "alpha",
        SHARE,
        "Stiffness as the papers' alpha: the share of the way to the goal covered in one substep.",
    )
    .example("0.5"),
    Key::new(
        "strain_limit",
        Kind::Number(Range::new(0.0, 1e6).or_infinite()),
        "Gamma: allowed distance from the goal over the width of a cluster; inf for no limit. 0.3 for the clustered solver, which alone has it.",
    )
    .example("0.3")
    .also(&["gamma"]),
    Key::new(
        "relaxation",
        Kind::Number(Range::new(0.0, 2.0)),
        "Omega: under- or over-relaxation of the strain limiting; in PBD the part of each correction that is made.",
    )
    .default("1.0")
    .also(&["omega"]),
    Key::new(
        "limiting",
        Kind::Word(&["conserving", "paper"]),
        "Whether strain limiting takes back the momentum it introduces, so that limits hold on the ground \
         and set nothing spinning, or follows the paper to the letter.",
    )
    .default("\"conserving\""),
    Key::new(
        "iterations",
        Kind::Whole(0, 10_000),
        "Iterations per substep. 5 for the clustered solver, 10 for all others.",
    )
    .example("5"),
    Key::new(
        "damping",
        RATE,
        "Decay rate (1/s) of all motion that is not rigid; keeps momentum.",
    )
    .default("2.0"),
    Key::new("drag", RATE, "Decay rate (1/s) of all motion, as by air.").default("0.0"),
    Key::new(
        "edge_stiffness",
        Kind::Number(Range::new(0.0, 1e15)),
        "Stiffness of springs along edges (projective solver): Pa for solids, N/m for sheets. 2000 for sheets, otherwise 0.",
    )
    .example("2000.0"),
    Key::new(
        "friction",
        FRICTION,
        "Coulomb friction of the surface, combined with the plane's as the root of their product; the plane's unless given.",
    )
    .example("0.5"),
    Key::new(
        "restitution",
        SHARE,
        "Speed kept by a bounce; the larger of the body's and the plane's counts.",
    )
    .default("0.0")
    .also(&["elasticity", "bounciness"]),
    Key::new(
        "goals",
        Kind::Word(&["rigid", "linear", "quadratic"]),
        "Which deformations the goals of a cluster follow: none, stretch and shear, or bending and twist too.",
    )
    .default("\"rigid\"")
    .also(&["goal", "mode"]),
    Key::new(
        "deformation",
        Kind::Number(Range::new(0.0, 0.98)),
        "Beta: how much of the fitted deformation linear and quadratic goals follow.",
    )
    .default("0.5")
    .also(&["beta"]),
    Key::new("volume", SHARE, "How much of its volume a linear or quadratic goal keeps.").default("1.0"),
    Key::new(
        "two_step",
        Kind::Truth,
        "Whether goals are made by deformation and then rotation instead of as a blend of both; for comparison.",
    )
    .default("false"),
    Key::new(
        "integrator",
        Kind::Word(&["strain_limited", "deformer"]),
        "How the clustered solver moves on in time: springs and strain limits, or the deformer's matching step.",
    )
    .default("\"strain_limited\""),
    Key::new(
        "flappiness",
        SHARE,
        "The deformer's share of the matching step that becomes velocity: low creeps to the goal, high swings.",
    )
    .default("1.0"),
    Key::new(
        "viscous_friction",
        SHARE,
        "The deformer's friction: the share of the sliding velocity an impact takes away.",
    )
    .default("0.2"),
    Key::new(
        "yield_strain",
        Kind::Number(Range::new(0.0, 1e6).or_infinite()),
        "Stretch of a cluster beyond which it deforms for good; inf for an elastic body.",
    )
    .default("inf")
    .also(&["yield", "plasticity"]),
    Key::new("creep", RATE, "Rate (1/s) at which what is beyond the yield strain becomes permanent.")
        .default("10.0"),
    Key::new("plastic_limit", Kind::Number(Range::new(0.0, 9.0)), "Largest permanent stretch.").default("0.5"),
    Key::new("hardening", RATE, "How much the yield strain grows per permanent stretch.").default("0.0"),
    Key::new(
        "follow",
        FREQUENCY,
        "How strongly painted particles are drawn to the body's input: oscillations per second (Hz) at weight 1. 4 unless given, or the most the step allows.",
    )
    .example("4.0"),
    Key::new(
        "follow_damping",
        RATE,
        "Rate (1/s) at which the motion of painted particles relative to the input decays, at weight 1.",
    )
    .default("3.0"),
    Key::new(
        "density",
        Kind::Number(Range::new(1e-9, 1e9)),
        "kg/m³; for sheets, open meshes and vertices without elements kg/m². The named material's; else 1000, and \
         0.3 kg/m² for whatever is thin, unless this or `mass` is given.",
    )
    .example("1000.0"),
    Key::new(
        "young",
        Kind::Number(Range::new(0.0, 1e15)),
        "Young's modulus of its elements, Pa: how hard it is to stretch. 1e5 unless given, or the named material's.",
    )
    .example("1e5")
    .also(&["youngs_modulus", "modulus"]),
    Key::new(
        "poisson",
        Kind::Number(Range::new(0.0, 0.499)),
        "Poisson's ratio of its elements: how much it thins when stretched; close to 0.5 it keeps its volume. \
         0.3 unless given, or the named material's.",
    )
    .example("0.3")
    .also(&["poissons_ratio", "nu"]),
    Key::new(
        "thickness",
        Kind::Number(Range::new(1e-9, 1e3)),
        "Thickness of sheets and shells, diameter of threads, m. 0.001 unless given, or the named material's.",
    )
    .example("0.001")
    .also(&["diameter"]),
    Key::new(
        "air",
        Kind::Number(Range::new(0.0, 1e6)),
        "How strongly air pushes its faces: density times drag coefficient, kg/m³. 1.2 where there is wind and the \
         body has faces (sheets, shells, tetrahedra), otherwise 0.",
    )
    .example("1.2")
    .also(&["air_density", "drag_coefficient"]),
    Key::new(
        "tear_strain",
        Kind::Number(Range::new(1e-3, 1e6).or_infinite()),
        "How far triangles and tetrahedra may be stretched before they come apart: 0.4 is 40 % longer. They never do unless \
         it is given (not for clusters). Painted, it is this times the painted value.",
    )
    .default("inf"),
];

/// A time and what holds then.
const KEYS: Kind = Kind::List(
    &Kind::Tuple(
        &[NUMBER, KEY_VALUE, EASE],
        2,
        "[time, value] or [time, value, \"ease\"], with the time in seconds",
    ),
    1,
    100_000,
);
const KEY_VALUE: Kind = Kind::Either(&[
    Kind::Number(Range::new(-1e15, 1e15).or_infinite()),
    Kind::List(&Kind::Number(Range::new(-1e12, 1e12)), 3, 3),
]);
const EASE: Kind = Kind::Word(&["stepped", "linear", "smooth"]);

/// Keys of a track, apart from what it drives.
const TRACK_KEYS: &[Key] = &[
    Key::new(
        "keys",
        KEYS,
        "Times (s) and values, each with an ease of its own if need be; the first and the last value hold before and after.",
    )
    .required()
    .example("[[0.0, 0.2], [1.0, 0.9, \"stepped\"], [1.5, 0.1]]"),
    Key::new(
        "ease",
        EASE,
        "How values go on to the next key: not until there, at a steady rate, or leaving and arriving at rest. \"linear\" unless given; \"stepped\" for whole numbers.",
    )
    .example("\"smooth\"")
    .also(&["interpolation"]),
];

static WORLD_TRACK: Table = Table {
    title: "keyframes of the world",
    groups: &[
        &[Key::new("control", Kind::Word(Control::WORLD_NAMES), "What the keys drive.")
            .required()
            .example("\"gravity_magnitude\"")],
        TRACK_KEYS,
    ],
    rules: &[],
};

static BODY_TRACK: Table = Table {
    title: "keyframes of a body",
    groups: &[
        &[Key::new("control", Kind::Word(Control::BODY_NAMES), "What the keys drive.")
            .required()
            .example("\"deformation\"")],
        TRACK_KEYS,
    ],
    rules: &[],
};

static PAINT: Table = Table {
    title: "paint",
    groups: &[&[
        Key::new(
            "channel",
            Kind::Word(&["stiffness", "follow", "tear_strain"]),
            "What is painted: stiffness, how far particles follow the body's input, or how far it may be stretched.",
        )
        .default("\"stiffness\""),
        Key::new(
            "value",
            Kind::Number(Range::new(0.0, 1e6)),
            "The painted value: a share of the body's stiffness; or 1 to be held where the input is, less to be drawn there, 0 (where nothing is painted) to be free; or what its `tear_strain` is multiplied by, 0.001 or more.",
        )
        .required()
        .example("0.2"),
        Key::new(
            "box",
            Kind::Table(&EXTENT),
            "The painted region: a box in the world, where the body starts (before any stretch).",
        )
        .example("{ min = [-1, -1, -1], max = [1, 1, 1] }"),
        Key::new("sphere", Kind::Table(&SPHERE), "The painted region: a sphere in the world.")
            .example("{ center = [0, 0, 0], radius = 1.0 }"),
        Key::new(
            "falloff",
            Kind::Number(Range::new(0.0, 1e6)),
            "Distance from the region over which the paint fades, m.",
        )
        .default("0.0"),
    ]],
    rules: &[Rule::ExactlyOne(&["box", "sphere"])],
};

static SPHERE: Table = Table {
    title: "a sphere",
    groups: &[&[
        Key::new("center", VECTOR, "Its centre, m.").required().example("[0, 0, 0]"),
        Key::new("radius", LENGTH, "Its radius, m.").required().example("0.1"),
    ]],
    rules: &[],
};

const ONE_STIFFNESS: Rule = Rule::AtMostOne(&["frequency", "alpha"]);

/// What the many keys of a large table are for, in a line.
pub(crate) fn groups(table: &Table) -> Option<&'static str> {
    match table.title {
        "a body" => Some(
            "its shape and fineness (`shape`, `particles`), place (`position`, `rotation`), material (`material`, `young`, \
             `frequency`), solver and clusters (`solver`, `clusters`), pins and input (`pin`, `input`) and look (`color`, `look`)",
        ),
        "a material" => Some(
            "stiffness (`frequency`, `young`), damping (`damping`, `drag`), limits (`strain_limit`, `yield_strain`), contact \
             (`friction`, `restitution`) and goals (`goals`, `volume`)",
        ),
        "the scene" => Some(
            "time (`fps`, `frames`, `substeps`), forces (`gravity`, `wind`), bodies (`body`, `plane`, `materials`), solver \
             (`solver`) and results (`output`, `picture`)",
        ),
        _ => None,
    }
}

static MATERIAL: Table = Table { title: "a material", groups: &[MATERIAL_KEYS], rules: &[ONE_STIFFNESS] };

static PLANE: Table = Table {
    title: "a plane",
    groups: &[
        &[
            Key::new("normal", VECTOR, "Direction in which bodies are; of any length but 0.")
                .default("[0, 1, 0]"),
            Key::new(
                "offset",
                NUMBER,
                "Distance of the plane from the origin along its normal, m. 0 unless given.",
            )
            .example("0.5"),
            Key::new("point", VECTOR, "A point of the plane, instead of its offset.").example("[0, 0.5, 0]"),
            Key::new("friction", FRICTION, "Coulomb friction.").default("0.5"),
            Key::new("restitution", SHARE, "Speed kept by a bounce.").default("0.0"),
            Key::new("name", Kind::Text, "A name of its own, for events and messages.").example("\"gate\""),
        ],
        MOTION,
    ],
    rules: &[
        Rule::AtMostOne(&["offset", "point"]),
        Rule::Needs("sway", "frequency"),
        Rule::Needs("frequency", "sway"),
    ],
};

/// A soft body.
pub(crate) static BODY: Table = Table {
    title: "a body",
    groups: &[
        &[
            Key::new("name", Kind::Text, "A name of its own; the shape's unless given.").example("\"bear\""),
            Key::new(
                "shape",
                Kind::Tagged(SHAPES),
                "What it is made of, at rest, centred at its origin.",
            )
            .required()
            .example("{ kind = \"ball\", radius = 0.2 }"),
            Key::new("spacing", LENGTH, "Distance between particles, m.").example("0.05"),
            Key::new(
                "particles",
                Kind::Whole(1, MOST_PARTICLES as u64),
                "About how many particles. 1500 unless this or `spacing` is given.",
            )
            .example("200")
            .also(&["count", "resolution"]),
            Key::new(
                "sampling",
                Kind::Word(&["lattice", "jittered", "blue_noise"]),
                "How solids are filled with particles: on a lattice, on one shaken by `seed`, or scattered evenly \
                 without order. Tetrahedra are always cut from a lattice.",
            )
            .default("\"lattice\""),
            Key::new(
                "solver",
                SOLVER,
                "Who moves it; newton, xpbd and pbd take what projective takes, to compare with it.",
            ).example("\"projective\""),
            Key::new(
                "elements",
                Kind::Word(&["tetrahedra", "triangles", "edges", "none"]),
                "What its material acts on: the inside of solids and closed meshes cut into tetrahedra; the triangles \
                 of sheets and surfaces; edges, as threads; or none, for clusters and springs. Whatever the shape has \
                 if a named material, `young`, `poisson`, `thickness` or `constraint` is given, otherwise \"none\".",
            )
            .example("\"triangles\""),
            Key::new(
                "material",
                Kind::Text,
                "A material of the scene; else one known by name: rubber, jelly, foam, cotton, silk, denim, leather, \
                 paper, steel_sheet, muscle. Keys of the body go before its keys.",
            )
            .example("\"jelly\""),
            Key::new(
                "constraint",
                Kind::List(&Kind::Tagged(CONSTRAINTS), 0, 1000),
                "What its elements resist. Strain and volume unless given; for sheets and shells bending too; for \
                 threads strain alone.",
            )
            .example("[\"strain\", { kind = \"strain_limit\", min = 0.9, max = 1.1, stiffness = 1e5 }]")
            .also(&["constraints"]),
            Key::new("mass", Kind::Number(Range::above(0.0, 1e12)), "Mass of the whole body, kg.").example("1.0"),
            Key::new(
                "clusters",
                Kind::Either(&[Kind::Whole(1, 1_000_000), Kind::Word(&["none"])]),
                "About how many clusters, or \"none\" (projective solver). 12 unless this or `cluster_radius` is given; \"none\" for sheets.",
            )
            .example("24"),
            Key::new(
                "cluster_radius",
                LENGTH_OR_INFINITE,
                "Reach of a cluster, m; inf for a single one.",
            )
            .example("0.1")
            .also(&["radius"]),
            Key::new(
                "clustering",
                Kind::Word(&["random", "farthest", "kmeans", "file_order"]),
                "How clusters are chosen: balls around random particles; the fewest balls; compact cells, the \
                 most even, in exactly the number asked for; or in file order as the paper's program does.",
            )
            .default("\"random\""),
            Key::new(
                "cluster_levels",
                Kind::Whole(1, 16),
                "Scales of clusters, each twice as coarse as the one before; coarse ones tie far parts together.",
            )
            .default("1"),
            Key::new(
                "coarse_share",
                Kind::Number(Range::new(0.01, 0.99)),
                "The part of the mass that all coarser scales of clusters carry together.",
            )
            .default("0.25"),
            Key::new(
                "smooth_weights",
                Kind::Truth,
                "Whether a particle's share in a cluster falls smoothly to zero at its rim; otherwise shares are equal.",
            )
            .default("false"),
            Key::new(
                "symmetric",
                Kind::Truth,
                "Whether clusters keep the mirror planes of the shape, so that a symmetric push does not turn it.",
            )
            .default("false"),
            Key::new(
                "overlap",
                Kind::Number(Range::new(0.0, 10.0)),
                "How much further clusters reach than it takes to cover the body, as a part of their radius.",
            )
            .default("0.0"),
            Key::new("seed", Kind::Whole(0, i64::MAX as u64), "Seed of the random clusters.").default("1"),
            Key::new("position", VECTOR, "Where its origin starts, m.").default("[0, 0, 0]"),
            Key::new(
                "rotation",
                Kind::Either(&[VECTOR, Kind::Table(&TURN)]),
                "How it is turned at the start: degrees about x, then y, then z, or an axis and an angle.",
            )
            .default("[0, 0, 0]")
            .example("[0, 45, 0]"),
            Key::new("stretch", VECTOR, "Initial deformation along its own axes; 1 is the rest shape.")
                .default("[1, 1, 1]")
                .also(&["scale"]),
            Key::new("velocity", VECTOR, "Initial velocity, m/s.").default("[0, 0, 0]"),
            Key::new(
                "spin",
                SPIN,
                "Initial angular velocity about the centre of mass, radians per second.",
            )
            .default("[0, 0, 0]")
            .also(&["angular_velocity"]),
            Key::new("force", FORCE, "A force on the whole body, N, shared by mass.").default("[0, 0, 0]"),
            Key::new(
                "color",
                COLOR,
                "Its colour: \"#rrggbb\", or red, green and blue from 0 to 1, as on a screen (sRGB). One of a palette unless given.",
            )
            .example("\"#e03030\"")
            .also(&["colour"]),
            Key::new(
                "look",
                Kind::Word(Look::NAMES),
                "How it looks in pictures. \"cloth\" for sheets and open meshes, \"matte\" for points and vertices, otherwise \"jelly\". \
                 \"prop\" is matte and not what the picture is about (a table, a press, a line): it has no name there, and \
                 the camera does not make room for it.",
            )
            .example("\"matte\""),
            Key::new(
                "render",
                Kind::Either(&[Kind::Text, Kind::Table(&RENDER)]),
                "A mesh to show in place of its own surface, as fine as you like: a file, or a table with `file` and \
                 `object`. It lies where the shape's file has it, and keeps its vertex order, texture coordinates and \
                 materials.",
            )
            .example("\"fine.obj\""),
            Key::new(
                "skin",
                Kind::Word(&["particles", "tetrahedra", "cloth", "clusters"]),
                "What the shown surface rides on: the particles around it, the tetrahedra or the cloth it is on, or \
                 the clusters, which is smoothest. Its elements if it has any unless given, else its particles.",
            )
            .example("\"clusters\""),
            Key::new(
                "contact_radius",
                Kind::Number(Range::new(0.0, 1e6)),
                "How far its particles keep from planes, m. As far as what is shown lies beyond them unless given, so \
                 that what is seen rests on what is seen; 0 lets particles themselves touch, as the papers have it.",
            )
            .example("0.01")
            .also(&["collision_radius", "collision_margin", "particle_radius"]),
            Key::new("pin", Kind::Tables(&PIN), "Particles that are held or led.")
                .example("[{ particles = [0] }]")
                .also(&["pins"]),
            Key::new("paint", Kind::Tables(&PAINT), "Regions with a stiffness of their own, or that follow the input; later ones go over earlier ones.")
                .example("[{ value = 0.2, sphere = { center = [0, 0, 0], radius = 1.0 } }]"),
            Key::new(
                "copies",
                Kind::Table(&COPIES),
                "Many of the same body on a grid, named name_0001 and so on; each is a body of its own.",
            )
            .example("{ grid = [2, 3, 2] }")
            .also(&["scatter", "instances", "repeat", "array"]),
            Key::new("input", Kind::Table(&INPUT), "An animation that the rest shape and painted particles follow (clustered solver).")
                .example("{ wag = { angle = 40 } }"),
            Key::new("keyframes", Kind::Tables(&BODY_TRACK), "Values of the body over time.")
                .example("[{ control = \"deformation\", keys = [[0.0, 0.1], [1.0, 0.9]] }]")
                .also(&["keyframe", "keys", "animation"]),
        ],
        MATERIAL_KEYS,
    ],
    rules: &[
        Rule::AtMostOne(&["spacing", "particles"]),
        Rule::AtMostOne(&["mass", "density"]),
        Rule::AtMostOne(&["clusters", "cluster_radius"]),
        ONE_STIFFNESS,
    ],
};

static INPUT: Table = Table {
    title: "an input",
    groups: &[&[
        Key::new(
            "file",
            Kind::Text,
            "A PC2 point cache of the body's particles, relative to the scene's folder; in the units of the shape's file and placed like the body, its first sample at the start.",
        )
        .example("\"example.pc2\""),
        Key::new(
            "files",
            Kind::Text,
            "Numbered Wavefront OBJ files, each # a digit; vertices in the order of the particles, in the units of the shape's file and placed like the body.",
        )
        .example("\"example_####.obj\""),
        Key::new("wag", Kind::Table(&WAG), "A wagging of whatever shape the body has, without any file.")
            .example("{ axis = [0, 0, 1], pivot = [0, 0, 0], angle = 40, frequency = 1.0 }"),
        Key::new(
            "fps",
            Kind::Number(Range::new(0.01, 1e6)),
            "Frames per second of the animation; the scene's unless given.",
        )
        .example("24"),
        Key::new("repeat", Kind::Truth, "Whether the animation begins again at its end.").default("false"),
        Key::new(
            "reshape",
            Kind::Truth,
            "Whether the rest shape follows too, so that free parts take the poses; otherwise only painted particles do.",
        )
        .default("true"),
    ]],
    rules: &[Rule::ExactlyOne(&["file", "files", "wag"])],
};

static WAG: Table = Table {
    title: "a wagging",
    groups: &[&[
        Key::new("axis", VECTOR, "Axis of the turn, in the world, of any length but 0.").default("[0, 0, 1]"),
        Key::new("pivot", VECTOR, "A point of the axis, in the world, m.").default("[0, 0, 0]"),
        Key::new(
            "angle",
            Kind::Number(Range::new(-3600.0, 3600.0)),
            "Largest turn to either side, degrees; the turn is angle sin(2π frequency t).",
        )
        .default("30"),
        Key::new("frequency", Kind::Number(Range::above(0.0, 1e6)), "Waggings per second.").default("1.0"),
        Key::new("along", VECTOR, "Direction from the pivot to the far end, in the world, for `bend`.")
            .default("[0, 1, 0]"),
        Key::new(
            "bend",
            Kind::Truth,
            "Whether the turn grows from nothing at the pivot to all of it at the far end; otherwise the body turns rigidly.",
        )
        .default("true"),
    ]],
    rules: &[],
};

const LENGTH_OR_INFINITE: Kind = Kind::Number(Range::above(0.0, 1e6).or_infinite());

static COPIES: Table = Table {
    title: "copies of a body",
    groups: &[&[
        Key::new(
            "grid",
            Kind::List(&Kind::Whole(1, 10_000), 3, 3),
            "How many along x, y and z; along x and z around the body's position, along y up from it.",
        )
        .required()
        .example("[10, 10, 10]")
        .also(&["count", "number"]),
        Key::new("apart", VECTOR, "Distance of neighbours along x, y and z, m.")
            .default("[1, 1, 1]")
            .also(&["spacing", "step"]),
        Key::new(
            "shift",
            Kind::Number(Range::new(0.0, COORDINATE)),
            "How far each is moved off its place at random, at most, along each axis, m.",
        )
        .default("0.0")
        .also(&["jitter", "spread"]),
        Key::new("turn", Kind::Truth, "Whether each is turned at random, in all directions alike.")
            .default("false"),
        Key::new("seed", Kind::Whole(0, i64::MAX as u64), "Seed of what is random.").default("1"),
    ]],
    rules: &[],
};

static TURN: Table = Table {
    title: "a rotation",
    groups: &[&[
        Key::new("axis", VECTOR, "Axis of the turn, of any length but 0.").required().example("[0, 1, 0]"),
        Key::new("angle", NUMBER, "Degrees.").required().example("45"),
    ]],
    rules: &[],
};

/// The shapes by name; each has the keys of its table and `kind`.
const SHAPES: &[(&str, &Table)] = &[
    ("box", &BOX),
    ("ball", &BALL),
    ("torus", &TORUS),
    ("cylinder", &CYLINDER),
    ("capsule", &CAPSULE),
    ("sheet", &SHEET),
    ("gummy_bear", &GUMMY_BEAR),
    ("bunny", &BUNNY),
    ("mesh", &MESH),
    ("vertices", &VERTICES),
    ("points", &POINTS),
    ("tets", &TETS),
    ("tube", &TUBE),
    ("thread", &THREAD),
];

static BOX: Table = Table {
    title: "a box",
    groups: &[&[
        Key::new("size", SIZE, "Width (x), height (y) and depth (z), m.").default("[0.3, 0.3, 0.3]"),
        Key::new(
            "cells",
            Kind::List(&Kind::Whole(1, 100_000), 3, 3),
            "Cells along x, y and z, each cut into tetrahedra, instead of `spacing` or `particles` of the body.",
        )
        .example("[28, 5, 6]"),
        Key::new(
            "tet_style",
            Kind::Word(&["five", "six"]),
            "How a cell is cut: into five tetrahedra, in turns like a chessboard, or into six of one shape.",
        )
        .example("\"six\""),
    ]],
    rules: &[Rule::Needs("tet_style", "cells")],
};

static BALL: Table = Table {
    title: "a ball",
    groups: &[&[Key::new("radius", LENGTH, "Radius, m.").default("0.15")]],
    rules: &[],
};

static TORUS: Table = Table {
    title: "a torus",
    groups: &[&[
        Key::new("major", LENGTH, "Distance of the middle of the tube from the axis (y), m.").default("0.15"),
        Key::new("minor", LENGTH, "Radius of the tube, m; less than `major`.").default("0.06"),
    ]],
    rules: &[],
};

static CYLINDER: Table = Table {
    title: "a cylinder",
    groups: &[&[
        Key::new("radius", LENGTH, "Radius, m.").default("0.12"),
        Key::new("height", LENGTH, "Height (y), m.").default("0.3"),
    ]],
    rules: &[],
};

static CAPSULE: Table = Table {
    title: "a capsule",
    groups: &[&[
        Key::new("radius", LENGTH, "Radius, m.").default("0.1"),
        Key::new("height", LENGTH, "Height (y) from tip to tip, m; at least twice the radius.")
            .default("0.4"),
    ]],
    rules: &[],
};

static SHEET: Table = Table {
    title: "a sheet",
    groups: &[&[
        Key::new("size", Kind::List(&LENGTH, 2, 2), "Width (x) and depth (z), m.").default("[1.0, 1.0]"),
        Key::new(
            "cells",
            Kind::List(&Kind::Whole(1, 10_000), 2, 2),
            "Cells along x and z, instead of `spacing` or `particles` of the body.",
        )
        .example("[20, 20]"),
    ]],
    rules: &[],
};

static GUMMY_BEAR: Table = Table {
    title: "a gummy bear",
    groups: &[&[Key::new("height", LENGTH, "Height from soles to ear tips, m.").default("0.3")]],
    rules: &[],
};

static BUNNY: Table = Table {
    title: "a bunny",
    groups: &[&[Key::new("height", LENGTH, "Height from paws to ear tips, m.").default("0.3")]],
    rules: &[],
};

/// How large what a file holds is, and which way up.
const FIT: &[Key] = &[
    Key::new("scale", LENGTH, "Metres per unit of the file.").default("1.0"),
    Key::new("fit", LENGTH, "Metres of the longest side of its box, instead of `scale`.").example("0.4"),
    Key::new("up", Kind::Word(&["y", "z"]), "Which axis is up in the file.").default("\"y\""),
    Key::new(
        "origin",
        Kind::Word(&["file", "center", "base"]),
        "What becomes the body's origin: the file's, the centre of its box, or the centre of the lowest side of it.",
    )
    .default("\"file\""),
];

const SCALE_OR_FIT: Rule = Rule::AtMostOne(&["scale", "fit"]);

/// Which object of a mesh file.
const OBJECT: &[Key] =
    &[Key::new("object", Kind::Text, "Only the object of this name. All are joined unless given.")
        .example("\"hat\"")];

static MESH: Table = Table {
    title: "a mesh",
    groups: &[
        &[Key::new(
            "file",
            Kind::Text,
            "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB. What has an inside is filled with \
             particles, holes or not; the rest is a shell of its vertices.",
        )
        .required()
        .example("\"example.obj\"")],
        FIT,
        OBJECT,
    ],
    rules: &[SCALE_OR_FIT],
};

static RENDER: Table = Table {
    title: "a render mesh",
    groups: &[
        &[Key::new(
            "file",
            Kind::Text,
            "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB.",
        )
        .required()
        .example("\"example.obj\"")],
        OBJECT,
    ],
    rules: &[],
};

static VERTICES: Table = Table {
    title: "vertices",
    groups: &[
        &[Key::new(
            "file",
            Kind::Text,
            "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB; each vertex is a particle, in its \
             order.",
        )
        .required()
        .example("\"example.obj\"")],
        FIT,
        OBJECT,
    ],
    rules: &[SCALE_OR_FIT],
};

static POINTS: Table = Table {
    title: "points",
    groups: &[
        &[Key::new(
            "file",
            Kind::Text,
            "A text file of lines `x y z`, or a mesh, relative to the scene's folder; each point or vertex is a particle.",
        )
        .required()
        .example("\"example.txt\"")],
        FIT,
    ],
    rules: &[SCALE_OR_FIT],
};

static TETS: Table = Table {
    title: "tetrahedra",
    groups: &[&[
        Key::new(
            "file",
            Kind::Text,
            "A tetrahedral mesh, relative to the scene's folder: TetGen (.node and .ele), Gmsh (.msh), Medit (.mesh), \
             .vtk or .vtu; each point is a particle.",
        )
        .required()
        .example("\"example.msh\""),
    ],
    FIT,
    ],
    rules: &[SCALE_OR_FIT],
};

static TUBE: Table = Table {
    title: "a tube",
    groups: &[&[
        Key::new("radius", LENGTH, "Radius, m.").default("0.1"),
        Key::new("height", LENGTH, "Height (y), m; it is open above and below.").default("0.3"),
        Key::new(
            "cells",
            Kind::List(&Kind::Whole(1, 100_000), 2, 2),
            "Cells around and along, instead of `spacing` or `particles` of the body; at least three around.",
        )
        .example("[40, 20]"),
    ]],
    rules: &[],
};

static THREAD: Table = Table {
    title: "a thread",
    groups: &[&[
        Key::new("points", Kind::List(&VECTOR, 2, 100_000), "Its ends and what corners lie between them, m.")
            .default("[[-0.5, 0, 0], [0.5, 0, 0]]"),
        Key::new(
            "segments",
            Kind::Whole(1, MOST_PARTICLES as u64 - 1),
            "Straight pieces it is made of, at least one between two points. 50 unless this, or `spacing` or \
             `particles` of the body is given.",
        )
        .example("80"),
    ]],
    rules: &[],
};

/// How pins and colliders move.
pub(crate) const MOTION: &[Key] = &[
    Key::new("velocity", VECTOR, "Steady velocity, m/s.").default("[0, 0, 0]"),
    Key::new("spin", SPIN, "Steady turning about `pivot`, radians per second.").default("[0, 0, 0]"),
    Key::new("pivot", VECTOR, "Centre of the spin, in the world, m.").default("[0, 0, 0]"),
    Key::new("sway", VECTOR, "Amplitude of a swing to and fro, m.").default("[0, 0, 0]"),
    Key::new("frequency", FREQUENCY, "Swings per second of `sway`.").default("0.0"),
    Key::new("start", Kind::Number(Range::new(0.0, COORDINATE)), "When the motion begins, s.").default("0.0"),
    Key::new("end", Kind::Number(Range::new(0.0, COORDINATE).or_infinite()), "When the motion ends, s.")
        .default("inf"),
];

static PIN: Table = Table {
    title: "a pin",
    groups: &[
        &[
            Key::new("name", Kind::Text, "A name, for messages and live control.").example("\"hook\""),
            Key::new(
                "particles",
                Kind::List(&Kind::Whole(0, MOST_PARTICLES as u64), 1, MOST_PARTICLES),
                "Particles of the body, counted from 0.",
            )
            .example("[0, 1]"),
            Key::new(
                "box",
                Kind::Table(&EXTENT),
                "All particles in this box, in the world, where the body starts (before any stretch).",
            )
            .example("{ min = [-1, -1, -1], max = [1, 1, 1] }"),
            Key::new(
                "corners",
                Kind::List(&Kind::Word(CORNERS), 1, 4),
                "Corners of a sheet: left is -x, back is -z, before it is turned.",
            )
            .example("[\"left_back\", \"right_back\"]"),
        ],
        MOTION,
        &[Key::new(
            "stiffness",
            Kind::Number(Range::above(0.0, 1e15)),
            "Spring stiffness per particle, N/m (projective solver); held exactly unless given.",
        )
        .example("1000.0")],
    ],
    rules: &[
        Rule::ExactlyOne(&["particles", "box", "corners"]),
        Rule::Needs("sway", "frequency"),
        Rule::Needs("frequency", "sway"),
    ],
};

/// Corners of a sheet, in the order of [`crate::pin`].
pub(crate) const CORNERS: &[&str] = &["left_back", "right_back", "left_front", "right_front"];

static EXTENT: Table = Table {
    title: "a region",
    groups: &[&[
        Key::new("min", VECTOR, "Smallest coordinates, m.").required().example("[-1, -1, -1]"),
        Key::new("max", VECTOR, "Largest coordinates, m.").required().example("[1, 1, 1]"),
    ]],
    rules: &[],
};
