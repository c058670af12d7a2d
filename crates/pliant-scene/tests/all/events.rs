//! Events of scenes: what happens at a time, and what is refused with its line.

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

/// A body becomes what another says, once, at its time; that one is never there.
#[test]
fn bodies_become_what_others_describe() {
    let bar = |name: &str, more: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ kind = \"box\", size = [0.4, 0.2, 0.2] }}\nspacing = 0.1\n\
             elements = \"tetrahedra\"\nmaterial = \"jelly\"\n{more}"
        )
    };
    let become_at = |at: f64, to: &str| format!("[[event]]\nat = {at}\nbody = \"a\"\nbecome = \"{to}\"\n");
    let (a, stiff) = (bar("a", ""), bar("stiff", "young = 3e5\nsolver = \"xpbd\"\n"));
    let mut scene = built(&format!("{a}{stiff}{}", become_at(0.1, "stiff")));
    assert_eq!((scene.simulation.model().bodies().len(), scene.bodies.len()), (1, 1));
    let mut plain = built(&a);
    for frame in 0..12 {
        let same = plain.simulation.state().bodies()[0] == scene.simulation.state().bodies()[0];
        assert_eq!(same, frame <= 6, "frame {frame}");
        scene.simulation.step_by(&scene.events).unwrap();
        plain.simulation.step().unwrap();
    }
    let parts = &scene.simulation.model().get(0).unwrap().parts;
    assert_eq!(parts.solver(), pliant::SolverKind::Xpbd);
    assert_eq!(scene.simulation.controls().body(0).unwrap().young, 3e5);
    let keyed = bar("k", "[[body.keyframes]]\ncontrol = \"young\"\nkeys = [[0, 1e4]]\n");
    let other = "[[body]]\nname = \"ball\"\nshape = \"ball\"\nparticles = 40\nclusters = 2\n";
    for (text, part) in [
        (format!("{a}{stiff}{}", become_at(0.1, "stif")), "did you mean \"stiff\""),
        (format!("{a}{other}{}", become_at(0.1, "ball")), "particles"),
        (format!("{a}{keyed}{}", become_at(0.1, "k")), "keyframes"),
        (format!("{a}{}", become_at(0.1, "a")), "none is there from the start"),
        (
            format!(
                "{a}{stiff}{}[[event]]\nat = 1\nbody = \"stiff\"\nremove = true\n",
                become_at(0.1, "stiff")
            ),
            "never there itself",
        ),
    ] {
        let problems = refused(&text);
        assert!(problems.len() == 1 && problems[0].contains(part), "{part}: {problems:#?}");
    }
}

const BALLS: &str = "[[body]]\nname = \"a\"\nshape = \"ball\"\nparticles = 40\nclusters = 2\n\
                     [[body]]\nname = \"b\"\nshape = \"ball\"\nparticles = 40\nclusters = 2\nposition = [2, 0, 0]\n";

/// Two events of one time act in the order of the file, and what comes or goes is counted through.
#[test]
fn bodies_are_added_and_removed_in_the_order_of_the_file() {
    let add = "[[event]]\nat = 0.1\nbody = \"b\"\nadd = true\n";
    let push = "[[event]]\nat = 0.1\nbody = \"b\"\npush = [1, 0, 0]\n";
    let mut scene = built(&format!("gravity = [0, 0, 0]\n{BALLS}{add}{push}"));
    let ids = |s: &Simulation| s.model().ids().map(|id| id.number()).collect::<Vec<_>>();
    assert_eq!(ids(&scene.simulation), [0]);
    for frame in 1..=8 {
        scene.simulation.step_by(&scene.events).unwrap();
        assert_eq!(ids(&scene.simulation), if frame > 6 { vec![0, 1] } else { vec![0] }, "frame {frame}");
    }
    assert!((scene.simulation.statistics().momentum.x - 1.0).abs() < 1e-9);
    // The other way round there is nothing to push yet.
    let problems = refused(&format!("{BALLS}{push}{add}"));
    assert!(problems.len() == 1 && problems[0].contains("s.toml:12"), "{problems:?}");
    assert!(problems[0].contains("`b` is not there yet"), "{problems:?}");
    // Ids are given in the order bodies come, whatever the order of the file.
    let early = "[[event]]\nat = 0.3\nbody = \"a\"\nadd = true\n";
    let scene = built(&format!("{BALLS}{early}"));
    assert_eq!(scene.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
}

#[test]
fn what_cannot_come_or_go_is_told_with_its_line() {
    let event = |at: &str, rest: &str| format!("[[event]]\nat = {at}\n{rest}\n");
    let add = event("1", "body = \"b\"\nadd = true");
    let remove = event("1", "body = \"b\"\nremove = true");
    for (events, line, told) in [
        (add.clone() + &add, 16, "`b` was added before"),
        (remove.clone() + &remove, 16, "`b` is gone by then"),
        (remove.clone() + &event("2", "body = \"b\"\npush = [1, 0, 0]"), 16, "`b` is gone by then"),
        (event("0.5", "body = \"b\"\nremove = true") + &add, 12, "`b` is not there yet"),
        (
            add.clone()
                + &event("2", "body = \"b\"\nremove = true")
                + &event("3", "body = \"b\"\nadd = true"),
            20,
            "added before",
        ),
        (event("1", "body = \"bb\"\nadd = true"), 14, "no body named \"bb\""),
        (event("1", "body = \"b\"\nadd = false"), 15, "lets nothing happen"),
        (event("1", "body = \"b\"\nadd = true\nremove = true"), 16, "remove"),
    ] {
        let problems = refused(&format!("{BALLS}{events}"));
        let found = problems.len() == 1 && problems[0].contains(&format!("s.toml:{line}"));
        assert!(found && problems[0].contains(told), "{told}: {problems:#?}");
    }
    let both = event("1", "body = \"a\"\nadd = true") + &add;
    let problems = refused(&format!("{BALLS}{both}"));
    assert!(problems.len() == 1 && problems[0].contains("none is there from the start"), "{problems:?}");
    // A body that comes later is looked over like any other.
    let problems = refused(&format!("{BALLS}friction = -1\n{add}"));
    assert!(problems.len() == 1 && problems[0].contains("s.toml:12"), "{problems:?}");
}

/// A run that is broken off around bodies that come and go, with keyframes of their own, goes on with the same bits.
#[test]
fn checkpoints_around_bodies_that_come_and_go() {
    let text = format!(
        "{BALLS}[[body.keyframes]]\ncontrol = \"damping\"\nkeys = [[0.1, 0], [0.4, 5]]\n\
         [[event]]\nat = 0.1\nbody = \"b\"\nadd = true\n[[event]]\nat = 0.2\nbody = \"a\"\nremove = true\n"
    );
    let mut whole = built(&text);
    let mut saved = vec![whole.simulation.checkpoint()];
    for _ in 0..16 {
        whole.simulation.step_by(&whole.events).unwrap();
        saved.push(whole.simulation.checkpoint());
    }
    for from in [0, 5, 6, 7, 11, 12, 13, 15] {
        let mut broken = built(&text);
        broken.simulation.restore_by(&broken.events, from, &saved[from as usize]).unwrap();
        for expected in &saved[from as usize + 1..] {
            broken.simulation.step_by(&broken.events).unwrap();
            assert!(broken.simulation.checkpoint() == *expected, "from {from}");
        }
    }
}

#[test]
fn planes_come_go_and_move() {
    let text = "substeps = 2\ngravity = [0, 0, 0]\n[[body]]\nshape = \"ball\"\nparticles = 60\nposition = [0, 5, 0]\n\
                [[plane]]\nname = \"later\"\noffset = -1\n[[plane]]\nname = \"lift\"\nvelocity = [0, 2, 0]\nend = 0.5\n\
                [[event]]\nat = 0.2\nplane = \"later\"\nadd = true\n\
                [[event]]\nat = 0.4\nplane = \"later\"\nremove = true\n\
                [[event]]\nat = 0.6\nplane = \"lift\"\nremove = true\n";
    let mut scene = built(text);
    for frame in 1..=45_u32 {
        scene.simulation.step_by(&scene.events).unwrap();
        let names: Vec<String> =
            scene.simulation.model().colliders().iter().map(|c| c.collider.name.clone()).collect();
        let later = (13..=24).contains(&frame);
        let expected = [("lift", frame <= 36), ("later", later)];
        let expected: Vec<&str> = expected.iter().filter(|e| e.1).map(|e| e.0).collect();
        assert_eq!(names, expected, "frame {frame}");
        if let Some(lift) = scene.simulation.state().half_spaces(scene.simulation.model()).next() {
            let high = (2.0 * f64::from(frame) / 60.0).min(1.0);
            assert!(frame > 36 || (lift.offset - high).abs() < 1e-12, "{} at frame {frame}", lift.offset);
        }
    }
}

#[test]
fn planes_that_cannot_come_or_go_are_told_with_their_lines() {
    let scene = "[[body]]\nshape = \"ball\"\nposition = [0, 5, 0]\n[[plane]]\nname = \"gate\"\n";
    let add = |at: f64| format!("[[event]]\nat = {at}\nplane = \"gate\"\nadd = true\n");
    let remove = |at: f64| format!("[[event]]\nat = {at}\nplane = \"gate\"\nremove = true\n");
    for (events, said) in [
        (remove(1.0) + &remove(2.0), "is gone by then"),
        (remove(1.0) + &add(2.0), "is not there yet"),
        (add(1.0) + &add(2.0), "was added before"),
        (add(1.0).replace("gate", "gato"), "did you mean \"gate\"?"),
        (add(1.0).replace("add = true", "push = [0, 1, 0]"), "cannot happen to a plane"),
        (add(1.0).replace("add = true", "add = false"), "lets nothing happen"),
    ] {
        let told = refused(&format!("{scene}{events}"));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(said) && told[0].contains("s.toml:"), "{told:?}");
    }
    let two = refused(&format!("{scene}[[plane]]\nname = \"gate\"\n"));
    assert!(two.iter().any(|t| t.contains("two colliders named")), "{two:?}");
    let back = refused(&scene.replace("name =", "end = 1\nstart = 2\nname ="));
    assert!(back.iter().any(|t| t.contains("before it begins")), "{back:?}");
}
