//! Joints in scenes: where they find their points, when they come and go, and what is wrong with them.

use pliant::{Attachment, BodyId, CouplingId, DVec3, Simulation};
use pliant_scene::{Diagnostic, Scene};

const BODIES: &str = "[[body]]\nname = \"block\"\nshape = { kind = \"box\", size = [0.2, 0.2, 0.2], cells = [2, 2, 2] }\n\
                      material = \"rubber\"\nposition = [0, 1, 0]\n\
                      [[body]]\nname = \"cord\"\nshape = { kind = \"thread\", points = [[0, 0.9, 0], [0, 0.6, 0]], segments = 6 }\n\
                      [[body]]\nname = \"cloud\"\nshape = { kind = \"ball\", radius = 0.1 }\nparticles = 200\nposition = [0, 0.5, 0]\n";

fn built(text: &str) -> Result<pliant_scene::BuiltScene, Vec<Diagnostic>> {
    Scene::parse(&format!("{BODIES}{text}"), "scene.toml".as_ref())?.build(1)
}

/// How far the points of a coupling are from each other, and from a place.
fn apart(s: &Simulation, k: usize, from: DVec3) -> (f64, f64) {
    let (coupling, memory) = (&s.model().couplings()[k].coupling, s.state().couplings()[k]);
    let points = [0, 1].map(|side| coupling.sides[side].place(s.state(), memory.rotations[side]).unwrap());
    (points[0].distance(points[1]), points[0].distance(from).max(points[1].distance(from)))
}

#[test]
fn a_place_is_a_point_of_each_body() {
    let joints = "[[joint]]\nbetween = [\"block\", \"cord\"]\nat = [0.0, 0.9, 0.0]\n\
                  [[joint]]\nname = \"lower\"\nbetween = [\"cord\", \"cloud\"]\nat = [0, 0.57, 0.01]\nstiffness = 300\ndamping = 2\n\
                  [[joint]]\nbetween = [\"block\", \"block\"]\nparticles = [0, 26]\nstiffness = 50\n";
    let scene = built(joints).unwrap();
    let s = &scene.simulation;
    assert_eq!(s.model().couplings().len(), 3);
    assert_eq!(s.model().coupling("lower"), Some(CouplingId::from(1)));
    let (far, off) = apart(s, 0, DVec3::new(0.0, 0.9, 0.0));
    assert!(far < 1e-12 && off < 1e-12, "{far} {off}");
    // Inside the cloud it is the place itself, of the cord its nearest end.
    let (_, off) = apart(s, 1, DVec3::new(0.0, 0.57, 0.01));
    assert!((off - 0.001f64.sqrt()).abs() < 1e-2 && off > 0.03 - 1e-9, "{off}");
    let lower = &s.model().couplings()[1].coupling;
    assert_eq!((lower.stiffness, lower.damping), (Some(300.0), 2.0));
}

#[test]
fn joints_come_and_go_with_their_bodies() {
    let text = "[[joint]]\nname = \"first\"\nbetween = [\"block\", \"cord\"]\nat = [0, 0.9, 0]\n\
                [[joint]]\nname = \"later\"\nbetween = [\"cord\", \"cloud\"]\nat = [0, 0.6, 0]\n\
                [[event]]\nat = 0.1\nbody = \"cloud\"\nadd = true\n\
                [[event]]\nat = 0.1\njoint = \"later\"\nadd = true\n\
                [[event]]\nat = 0.3\njoint = \"first\"\nremove = true\n\
                [[event]]\nat = 0.3\nbody = \"block\"\nremove = true\n";
    let mut scene = built(text).unwrap();
    let mut counts = Vec::new();
    for _ in 0..30 {
        scene.simulation.step_by(&scene.events).unwrap();
        let model = scene.simulation.model();
        counts.push((model.bodies().len(), model.couplings().len()));
    }
    assert_eq!((counts[5], counts[6], counts[17], counts[18]), ((2, 1), (3, 2), (3, 2), (2, 1)));
    let ends: Vec<BodyId> = scene.simulation.model().couplings()[0].coupling.bodies().collect();
    assert_eq!(ends, [BodyId::from(1), BodyId::from(2)]);
}

#[test]
fn glue_finds_what_lies_against_what_and_says_so() {
    let text = "[[glue]]\nname = \"held\"\nfrom = \"cloud\"\nto = \"block\"\nbreak_force = 30\n\
                [[joint]]\nbetween = [\"block\", \"world\"]\nat = [0, 1.1, 0]\nkind = \"hinge\"\naxis = [1, 0, 0]\n\
                [[event]]\nat = 0.2\nglue = \"held\"\nremove = true\n";
    let mut scene = built(text).unwrap();
    let note = scene.settings.notes.iter().find(|n| n.starts_with("glue")).unwrap();
    let s = &scene.simulation;
    let glued = s.model().couplings().len() - 1;
    assert!(note.contains(&format!("{glued} point")) && note.contains("`cloud` bound to `block`"), "{note}");
    assert!(glued > 3, "{glued}");
    // Only what is uppermost of the cloud, and nothing moves by it.
    let lowest = s.model().couplings()[1]
        .coupling
        .sides
        .iter()
        .map(|a| a.place(s.state(), pliant::DMat3::IDENTITY).unwrap().y);
    assert!(lowest.fold(f64::INFINITY, f64::min) > 0.5);
    assert_eq!(s.model().coupling("held"), Some(CouplingId::from(1)));
    assert_eq!(s.model().couplings()[1].coupling.break_force, 30.0);
    for _ in 0..40 {
        scene.simulation.step_by(&scene.events).unwrap();
    }
    assert_eq!(scene.simulation.model().couplings().len(), 1);
}

#[test]
fn glue_is_carried_by_the_layer_it_is_put_onto() {
    let text = "[[body]]\nname = \"shirt\"\nshape = { kind = \"roll\", size = [0.4, 0.4, 0.24], turn = 385, gap = 0.01, cells = [36, 16] }\n\
                material = \"cotton\"\n[[body]]\nname = \"button\"\nkind = \"rigid\"\n\
                shape = { kind = \"cylinder\", radius = 0.014, height = 0.006 }\nrotation = [90, 0, 0]\nposition = [0, 0, 0.136]\n\
                [[glue]]\nfrom = \"button\"\nto = \"shirt\"\n";
    let deepest = |text: &str| {
        let scene = Scene::parse(text, "scene.toml".as_ref()).unwrap_or_else(|p| panic!("{}", p[0]));
        let s = scene.build(1).unwrap_or_else(|p| panic!("{}", p[0])).simulation;
        let Attachment::Frame(frame) = &s.model().couplings()[0].coupling.sides[0] else {
            panic!("no frame")
        };
        let x: Vec<DVec3> = s.positions(frame.body()).collect();
        frame.parents().iter().map(|i| x[*i as usize].z).fold(f64::MAX, f64::min)
    };
    let onto = format!("{text}onto = {{ min = [-1, -1, 0.126], max = [1, 1, 1] }}\n");
    // Both layers are near; only one of them is meant.
    assert!(deepest(text) < 0.121 && deepest(&onto) >= 0.126, "{} {}", deepest(text), deepest(&onto));
    let nowhere = format!("{text}onto = {{ min = [5, 5, 5], max = [6, 6, 6] }}\n");
    let refused = Scene::parse(&nowhere, "scene.toml".as_ref()).unwrap().build(1).err().unwrap();
    assert!(refused[0].to_string().contains("no particle is in this box"), "{}", refused[0]);
}

#[test]
fn glue_names_groups_and_pins_of_bodies() {
    let groups = "[[body]]\nname = \"a.shirt\"\nshape = { kind = \"sheet\", size = [0.4, 0.4], cells = [8, 8] }\nmaterial = \"cotton\"\n\
                  [[body.group]]\nname = \"middle\"\nbox = { min = [-0.11, -1, -0.11], max = [0.11, 1, 0.11] }\n\
                  [[body.pin]]\nname = \"hem\"\nbox = { min = [-1, -1, 0.19], max = [1, 1, 1] }\n\
                  [[body]]\nname = \"pocket\"\nshape = { kind = \"sheet\", size = [0.1, 0.1], cells = [2, 2] }\nmaterial = \"cotton\"\n\
                  position = [0, 0.01, 0]\n[[body.group]]\nname = \"corners\"\nparticles = [0, 2, 6, 8]\n";
    let build =
        |glue: &str| Scene::parse(&format!("{groups}{glue}"), "scene.toml".as_ref()).and_then(|s| s.build(1));
    let bound = |glue: &str| {
        let s = build(glue).unwrap_or_else(|p| panic!("{}", p[0])).simulation;
        let each = s.model().couplings().iter().map(|c| match &c.coupling.sides {
            [Attachment::Frame(frame), Attachment::Point(point)] => {
                (point.particles[0], frame.parents().to_vec())
            }
            other => panic!("{other:?}"),
        });
        each.collect::<Vec<_>>()
    };
    let couplings = bound("[[glue]]\nfrom = \"pocket.corners\"\nto = \"a.shirt.middle\"\n");
    assert!(couplings.iter().map(|c| c.0).eq([0, 2, 6, 8]));
    // The 5 × 5 in the middle of 9 × 9.
    let inside = |i: &u32| (2..=6).contains(&(i % 9)) && (2..=6).contains(&(i / 9));
    assert!(couplings.iter().all(|c| c.1.iter().all(inside)), "{couplings:?}");
    let hem = bound("[[glue]]\nfrom = \"a.shirt.hem\"\nto = \"pocket\"\n");
    assert!(hem.iter().map(|c| c.0).eq(72..81), "{hem:?}");
    let one = |glue: &str, parts: &[&str]| {
        let all = build(glue).err().unwrap();
        let text = format!("{}; {}", all[0].message, all[0].help);
        assert!(all.len() == 1 && parts.iter().all(|p| text.contains(p)), "{all:?}");
    };
    one(
        "[[glue]]\nfrom = \"pocket.corner\"\nto = \"a.shirt\"\n",
        &["no group", "did you mean \"pocket.corners\""],
    );
    one("[[glue]]\nfrom = \"pocket\"\nto = \"a.shirt.xyzzy\"\n", &["no group", "middle, hem"]);
    one("[[glue]]\nfrom = \"poket.corners\"\nto = \"a.shirt\"\n", &["no body"]);
    one(
        "[[glue]]\nfrom = \"pocket.corners\"\nto = \"a.shirt\"\nparticles = [0]\n",
        &["a group is named already"],
    );
    let twice = groups.replace("name = \"middle\"", "name = \"hem\"");
    let told = Scene::parse(&twice, "scene.toml".as_ref()).and_then(|s| s.build(1)).err().unwrap();
    assert!(told[0].message.contains("\"hem\"") && told[0].message.contains("already"), "{}", told[0]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let told = |text: &str| {
        let problems = built(text).err().unwrap_or_default();
        let first = BODIES.lines().count();
        problems
            .iter()
            .map(|p| (p.place.map_or(0, |(line, _)| line - first), format!("{}; {}", p.message, p.help)))
            .collect::<Vec<_>>()
    };
    let one = |text: &str, line: usize, parts: &[&str]| {
        let all = told(text);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].0 == line && parts.iter().all(|p| all[0].1.contains(p)), "{all:?}");
    };
    one(
        "[[joint]]\nbetween = [\"blok\", \"cord\"]\nat = [0, 1, 0]\n",
        2,
        &["no body", "did you mean \"block\""],
    );
    one("[[glue]]\nfrom = \"clod\"\nto = \"block\"\n", 2, &["clod", "cloud"]);
    one("[[glue]]\nfrom = \"cloud\"\n", 1, &["`to`"]);
    one("[[glue]]\nfrom = \"cloud\"\nto = \"cloud\"\n", 3, &["itself", "box"]);
    one("[[glue]]\nfrom = \"cord\"\nto = \"cord\"\nparticles = [0]\n", 1, &["cord", "line"]);
    one("[[glue]]\nfrom = \"block\"\nto = \"cloud\"\nparticles = [900]\n", 4, &["900", "27"]);
    one(
        "[[glue]]\nfrom = \"block\"\nto = \"cloud\"\nbox = { min = [5, 5, 5], max = [6, 6, 6] }\n",
        4,
        &["no particle"],
    );
    one("[[glue]]\nfrom = \"block\"\nto = \"cloud\"\nbreak_force = -1\n", 4, &["above 0"]);
    one(
        "[[joint]]\nbetween = [\"block\", \"cord\"]\nat = [0, 1, 0]\nkind = \"hinge\"\n",
        3,
        &["cord", "line"],
    );
    one("[[joint]]\nbetween = [\"world\", \"world\"]\nat = [0, 1, 0]\n", 2, &["world"]);
    one("[[joint]]\nbetween = [\"block\"]\nat = [0, 1, 0]\n", 2, &["1 value", "2"]);
    one("[[joint]]\nbetween = [\"block\", \"cord\"]\n", 1, &["`at`", "`particles`"]);
    one(
        "[[joint]]\nbetween = [\"block\", \"cord\"]\nparticles = [0, 99]\n",
        3,
        &["no particle 99", "it has 7"],
    );
    one("[[joint]]\nbetween = [\"cord\", \"cord\"]\nat = [0, 1, 0]\n", 2, &["one body", "particles"]);
    one("[[joint]]\nbetween = [\"block\", \"cord\"]\nat = [0, 1, 0]\nstiffness = 0\n", 4, &["above 0"]);
    one(
        "[[joint]]\nbetween = [\"block\", \"cord\"]\nat = [0, 1, 0]\ndamping = 2\n",
        1,
        &["damping", "stiffness"],
    );
    let joint = "[[joint]]\nname = \"hook\"\nbetween = [\"cord\", \"cloud\"]\nat = [0, 0.6, 0]\n";
    one(&format!("{joint}[[event]]\nat = 1\njoint = \"hok\"\nremove = true\n"), 7, &["no joint", "\"hook\""]);
    one(&format!("{joint}[[event]]\nat = 1\njoint = \"hook\"\npush = [0, 1, 0]\n"), 5, &["to a joint"]);
    one(&format!("{joint}{joint}"), 6, &["already"]);
    one(
        &format!("{joint}[[event]]\nat = 1\nbody = \"cloud\"\nadd = true\n"),
        1,
        &["not there from the start"],
    );
    let removed = format!("{joint}[[event]]\nat = 1\nbody = \"cloud\"\nremove = true\n");
    one(&removed, 5, &["tied to something", "couplings 0"]);
}
