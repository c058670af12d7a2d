//! Events of scenes: what happens at a time, and what is refused with its line.
#![allow(clippy::unwrap_used)]

use pliant::{DVec3, Simulation};
use pliant_scene::{BuiltScene, Scene};

const CLOTH: &str = "substeps = 1\n[[body]]\nname = \"cloth\"\nshape = { kind = \"sheet\", cells = [6, 6] }\n\
                     edge_stiffness = 100\nposition = [0, 2, 0]\n\
                     [[body.pin]]\nname = \"left\"\ncorners = [\"left_back\"]\n\
                     [[body.pin]]\nname = \"right\"\ncorners = [\"right_back\"]\n";

fn built(text: &str) -> BuiltScene {
    let scene = Scene::parse(text, "s.toml".as_ref()).unwrap_or_else(|p| panic!("{}", p[0]));
    scene.build(1).unwrap_or_else(|p| panic!("{}", p[0]))
}

fn refused(text: &str) -> Vec<String> {
    match Scene::parse(text, "s.toml".as_ref()).and_then(|scene| scene.build(1)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(|p| p.to_string()).collect(),
    }
}

fn corner(s: &Simulation, i: usize) -> DVec3 {
    s.positions(0).nth(i).unwrap()
}

#[test]
fn pins_are_let_go_in_the_step_after_their_time() {
    let mut scene = built(&format!("{CLOTH}[[event]]\nat = 0.5\nrelease = \"left\"\n"));
    let (left, right) = (corner(&scene.simulation, 0), corner(&scene.simulation, 6));
    for frame in 1..=60 {
        scene.simulation.step_by(&scene.events).unwrap();
        // Half a second is frame 30: it is as it was there, and the step that leaves it is the first without the pin.
        assert_eq!(corner(&scene.simulation, 0) == left, frame <= 30, "frame {frame}");
        assert_eq!(corner(&scene.simulation, 6), right);
    }
    assert!(corner(&scene.simulation, 0).y < left.y - 0.1);
}

#[test]
fn bodies_are_pushed_moved_and_held() {
    let ball = "gravity = [0, 0, 0]\n[[body]]\nshape = \"ball\"\nparticles = 60\nmass = 2\n";
    let events = "[[event]]\nat = 0.1\npush = [1, 0, 0]\n[[event]]\nat = 0.2\nmove = [0, 3, 0]\n\
                  [[event]]\nat = 0.2\npush = [0, 0, 0.5]\nparticles = [3, 4]\n[[event]]\nat = 0.3\nhold = [5, 7]\n";
    let mut scene = built(&format!("{ball}{events}"));
    for _ in 0..18 {
        scene.simulation.step_by(&scene.events).unwrap();
    }
    let moving = scene.simulation.statistics();
    assert!((moving.momentum - DVec3::new(1.0, 0.0, 0.5)).length() < 1e-9, "{}", moving.momentum);
    let middle = scene.simulation.positions(0).sum::<DVec3>() / scene.simulation.positions(0).len() as f64;
    assert!((middle.y - 3.0).abs() < 1e-3, "{middle}");
    let held = [5, 7].map(|i| corner(&scene.simulation, i));
    for _ in 0..10 {
        scene.simulation.step_by(&scene.events).unwrap();
    }
    assert_eq!([5, 7].map(|i| corner(&scene.simulation, i)), held);
}

/// A run that is broken off anywhere between its events goes on with the same bits.
#[test]
fn checkpoints_between_events_go_on() {
    let text = format!(
        "{CLOTH}[[event]]\nat = 0.1\nrelease = \"left\"\n[[event]]\nat = 0.2\nhold = [24, 25]\n\
         [[event]]\nat = 0.2\npush = [0, 0.1, 0]\n[[event]]\nat = 0.3\nrelease = \"right\"\n"
    );
    let mut whole = built(&text);
    let mut saved = vec![whole.simulation.checkpoint()];
    for _ in 0..25 {
        whole.simulation.step_by(&whole.events).unwrap();
        saved.push(whole.simulation.checkpoint());
    }
    for from in [0, 5, 6, 7, 12, 13, 18, 19, 24] {
        let mut broken = built(&text);
        broken.simulation.restore_by(&broken.events, from, &saved[from as usize]).unwrap();
        for expected in &saved[from as usize + 1..] {
            broken.simulation.step_by(&broken.events).unwrap();
            assert!(broken.simulation.checkpoint() == *expected, "from {from}");
        }
    }
    let mut other = built(&text);
    assert!(other.simulation.restore_by(&other.events, 3, &saved[12]).is_err(), "of another frame");
}

#[test]
fn faults_are_told_with_their_lines_all_at_once() {
    let events = "[[event]]\nat = 1\nbody = \"clot\"\nrelease = \"left\"\n\
                  [[event]]\nat = 1\nrelease = \"left\"\nmove = [0, 1, 0]\n\
                  [[event]]\nat = -1\nmove = [0, 1, 0]\n\
                  [[event]]\nat = 1\nparticles = [1]\nrelease = \"left\"\n[[event]]\nrelease = \"left\"\n";
    let problems = refused(&format!("{CLOTH}{events}"));
    for (line, part) in [("15", "clot"), ("20", "move"), ("22", "-1"), ("26", "particles"), ("28", "at")] {
        let found = problems.iter().any(|p| p.contains(&format!("s.toml:{line}")) && p.contains(part));
        assert!(found, "line {line}, {part}: {problems:#?}");
    }
    assert!(problems.iter().any(|p| p.contains("did you mean \"cloth\"")), "{problems:#?}");
    // What only the built body tells.
    for (event, parts) in [
        ("at = 1\nrelease = \"top\"", ["no pin named \"top\"", "\"left\", \"right\""]),
        ("at = 1\nmove = [0, 1, 0]", ["held by pins", "release its pins"]),
        ("at = 1\nhold = [5, 900]", ["particle 900", "there are 49"]),
        ("at = 1\nhold = [0]", ["particle 0 is held", "release"]),
    ] {
        let problems = refused(&format!("{CLOTH}[[event]]\n{event}\n"));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].contains("s.toml:13") && parts.iter().all(|p| problems[0].contains(p)),
            "{problems:?}"
        );
    }
    // Once let go it may be held, and let go only once.
    let twice =
        format!("{CLOTH}[[event]]\nat = 1\nrelease = \"left\"\n[[event]]\nat = 2\nrelease = \"left\"\n");
    let problems = refused(&twice);
    assert!(problems.len() == 1 && problems[0].contains("s.toml:16"), "{problems:?}");
    built(&format!("{CLOTH}[[event]]\nat = 2\nhold = [0]\n[[event]]\nat = 1\nrelease = \"left\"\n"));
}
