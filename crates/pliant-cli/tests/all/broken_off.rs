//! Runs that are killed, stopped or spread over threads end with the same bytes as one that is left alone.

use crate::common::{Place, Ran, size};
use pliant_cache::LogReader;
use pliant_geometry::SplitMix64;
use std::process::Command;

const FRAMES: &str = "240";

/// The log of a run of a scene that was left alone.
fn unbroken(place: &Place, scene: &str) -> Vec<u8> {
    let words = ["run", scene, "-q", "--frames", FRAMES, "--log", "whole.plog", "--stats", "whole.jsonl"];
    place.fine(&words);
    place.read("whole.plog")
}

/// Where the header of a log ends and its frames begin.
fn frames_begin(log: &[u8]) -> u64 {
    let length: [u8; 8] = log[20..28].try_into().expect("a record");
    32 + u64::from_le_bytes(length)
}

/// A rigid door on a hinge that is limited and driven, glue on it whose stiffness is keyed, a sign that breaks off, and a soft block
/// welded to a lid: all that is history of couplings and solids.
const TIED: &str = r#"
frames = 240
substeps = 2

[output]
checkpoint_every = 25

[[plane]]
restitution = 0.3

[[body]]
name = "door"
kind = "rigid"
shape = { kind = "box", size = [0.5, 0.9, 0.03] }
position = [0.25, 0.6, 0]
density = 500

[[joint]]
name = "hinge"
kind = "hinge"
between = ["world", "door"]
at = [0, 0.6, 0]
axis = [0, 1, 0]
limits = [-60, 70]
motor = { speed = 1.5, torque = 20 }

[[joint.keyframes]]
control = "motor_speed"
keys = [[0, 1.5], [1.6, 1.5, "stepped"], [1.8, -2]]

[[body]]
name = "handle"
shape = { kind = "ball", radius = 0.05 }
material = "rubber"
particles = 60
position = [0.45, 0.6, 0.08]

[[glue]]
name = "held"
from = "handle"
to = "door"
stiffness = 400
damping = 0.5

[[glue.keyframes]]
control = "stiffness"
keys = [[0, 400], [0.7, 400, "stepped"], [0.8, 0, "stepped"], [0.85, 5e3]]

[[body]]
name = "block"
shape = { kind = "box", size = [0.2, 0.2, 0.2], cells = [2, 2, 2] }
elements = "tetrahedra"
material = "jelly"
position = [1, 0.4, 0]

[[body]]
name = "lid"
kind = "rigid"
shape = { kind = "box", size = [0.2, 0.02, 0.2] }
position = [1, 0.52, 0]
density = 800

[[glue]]
from = "lid"
to = "block"

[[body]]
name = "sign"
kind = "rigid"
shape = { kind = "box", size = [0.1, 0.1, 0.1] }
position = [1.15, 0.55, 0]
spin = [0, 3, 1]

[[joint]]
name = "nail"
between = ["lid", "sign"]
at = [1.1, 0.53, 0]
break_force = 8
"#;

/// Kills runs of a scene at moments of all kinds and goes on with them, so many times over; their logs are those of one left alone.
fn kill_and_resume(scene: &str, whole: &[u8], place: &Place, rounds: usize) {
    let begin = frames_begin(whole);
    let mut random = SplitMix64::new(7);
    let mut kills = 0;
    for round in 0..rounds {
        let log = format!("{round}.plog");
        let words = ["run", scene, "-q", "--frames", FRAMES, "--resume", "--log", &log, "--stats", "s.jsonl"];
        for _ in 0..4 {
            // Further than it has come, but not to the end.
            let now = size(&place.path(&log)).max(begin) as f64;
            let wanted = now + (whole.len() as f64 - now) * random.unit().max(0.01) * 0.8;
            if let Some(mut child) = place.start(&words, &log, wanted as u64) {
                child.kill().expect("SIGKILL");
                let status = child.wait().expect("the child ends");
                kills += usize::from(status.code().is_none());
            }
        }
        place.fine(&words);
        assert!(place.read(&log) == whole, "{scene}: round {round}");
        let lines = String::from_utf8(place.read("s.jsonl")).expect("text");
        assert_eq!(lines.lines().count(), 241, "{scene}: round {round}");
    }
    assert!(kills >= rounds, "{scene}: only {kills} runs were caught on the way");
}

#[test]
fn killed_at_any_moment_and_resumed() {
    let place = Place::new();
    let whole = unbroken(&place, "s.toml");
    kill_and_resume("s.toml", &whole, &place, 4);
}

#[test]
fn killed_with_joints_glue_and_solids() {
    let place = Place::new();
    place.write("t.toml", TIED);
    let whole = unbroken(&place, "t.toml");
    // All of it happens, or nothing of it was tested.
    let lines = String::from_utf8(place.read("whole.jsonl")).expect("text");
    let sum = |key: &str| {
        let each = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        each.filter_map(|frame| frame[key].as_f64()).map(f64::abs).sum::<f64>()
    };
    assert!(sum("coupling_energy") > 0.1, "motor and keys work");
    assert_eq!(sum("broken"), 1.0, "the nail breaks");
    kill_and_resume("t.toml", &whole, &place, 3);
}

#[cfg(unix)]
#[test]
fn stopped_by_ctrl_c_and_resumed() {
    let place = Place::new();
    let whole = unbroken(&place, "s.toml");
    let log = "stopped.plog";
    let words = ["run", "s.toml", "--frames", FRAMES, "--log", log, "-o", "x.usda"];
    let child = place.start(&words, log, frames_begin(&whole) + 50_000).expect("still running");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let ran = Ran::of(child.wait_with_output().expect("the child ends"));
    assert_eq!(ran.code, Some(130), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("--log stopped.plog -o x.usda --resume"), "{}", ran.err);
    assert!(!place.has("x.usda"));
    let reader = LogReader::open(place.path(log)).expect("a valid log");
    assert!(!reader.is_finished());
    let last = reader.frame_index(reader.frame_count() - 1);
    let checkpoint = reader.last_checkpoint().expect("readable").map(|(frame, _)| frame);
    assert_eq!(checkpoint, last, "nothing has to be computed twice");
    drop(reader);
    let mut words = words.to_vec();
    words.push("--resume");
    place.fine(&words);
    assert_eq!(place.read(log), whole);
    assert!(place.has("x.usda"));
}

#[cfg(unix)]
#[test]
fn an_export_stopped_by_ctrl_c_leaves_nothing_behind() {
    let place = Place::new();
    unbroken(&place, "s.toml");
    let words = ["export", "whole.plog", "-o", "x.gif", "--size", "1600x1200"];
    let child = place.command(&words).spawn().expect("the program starts");
    while !place.has("x.gif.tmp") {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let ran = Ran::of(child.wait_with_output().expect("the child ends"));
    assert_eq!(ran.code, Some(130), "{}{}", ran.out, ran.err);
    assert_eq!(place.names(), ["s.toml", "whole.jsonl", "whole.plog"]);
}

#[test]
fn any_number_of_threads() {
    let place = Place::new();
    place.write("t.toml", TIED);
    for scene in ["s.toml", "t.toml"] {
        let whole = unbroken(&place, scene);
        for threads in ["1", "2", "7"] {
            place.fine(&["run", scene, "-q", "--frames", FRAMES, "--log", "t.plog", "--threads", threads]);
            assert!(place.read("t.plog") == whole, "{scene}: {threads} threads");
        }
    }
}

#[test]
fn two_runs_do_not_write_the_same_log() {
    let place = Place::new();
    let words = ["run", "s.toml", "-q", "--frames", "100000", "--log", "one.plog"];
    let mut first = place.start(&words, "one.plog", 1000).expect("still running");
    place.fails(&["run", "s.toml", "--log", "one.plog", "--resume"], 2, &["another program"]);
    place.fails(&["run", "s.toml", "--log", "one.plog", "--force"], 2, &["another program"]);
    first.kill().expect("SIGKILL");
    first.wait().expect("the child ends");
}

#[test]
fn two_runs_do_not_write_the_same_statistics() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--log", "old.plog"]);
    let old = place.read("old.plog");
    // Held as a run holds it.
    let held = std::fs::File::create(place.path("s.jsonl")).expect("a file");
    held.try_lock().expect("a lock");
    let words = ["run", "s.toml", "--stats", "s.jsonl", "--log", "old.plog", "--frames", "5"];
    place.fails(&words, 2, &["s.jsonl", "another run", "choose another name"]);
    assert_eq!(place.read("old.plog"), old, "refused before the log is replaced");
    drop(held);
    place.fine(&words);
}

/// What happens at a time happens once, wherever a run was broken off around it.
#[test]
fn resumed_around_events() {
    let place = Place::new();
    let scene = "frames = 40\n[output]\ncheckpoint_every = 1000\n[[plane]]\n[[body]]\nshape = { kind = \"sheet\", cells = [8, 8] }\n\
                 edge_stiffness = 50\nposition = [0, 1, 0]\n[[body.pin]]\nname = \"hook\"\ncorners = [\"left_back\"]\n\
                 [[event]]\nat = 0.2\nrelease = \"hook\"\n[[event]]\nat = 0.4\npush = [0, 0.5, 0]\n\
                 [[event]]\nat = 0.5\nhold = [40]\n";
    place.write("e.toml", scene);
    place.fine(&["run", "e.toml", "-q", "--log", "whole.plog"]);
    // Before, at and after each of them.
    for stops in [[11, 12, 13], [24, 25, 39], [5, 30, 31]] {
        for frames in stops {
            let frames = frames.to_string();
            place.fine(&["run", "e.toml", "-q", "--log", "parts.plog", "--frames", &frames, "--resume"]);
        }
        place.fine(&["run", "e.toml", "-q", "--log", "parts.plog", "--resume"]);
        assert_eq!(place.read("parts.plog"), place.read("whole.plog"), "{stops:?}");
        std::fs::remove_file(place.path("parts.plog")).expect("it is there");
    }
}

/// A ball from the start, a copy of it and a cloth that come later, removals between, frames of every kind around them.
const COMING: &str = r#"
frames = 200

[output]
checkpoint_every = 15

[[plane]]

[[body]]
name = "first"
shape = { kind = "ball", radius = 0.2 }
particles = 150
clusters = 6
position = [0, 0.5, 0]

[[body]]
name = "second"
shape = { kind = "ball", radius = 0.2 }
particles = 150
clusters = 6
position = [0.6, 0.5, 0]

[[body]]
name = "cloth"
shape = { kind = "sheet", size = [0.5, 0.5], cells = [8, 8] }
edge_stiffness = 50
position = [0, 1, 0]

[[event]]
at = 0.5
body = "second"
add = true

[[event]]
at = 1.2
body = "first"
remove = true

[[event]]
at = 1.2
body = "cloth"
add = true

[[event]]
at = 2.5
body = "second"
remove = true
"#;

/// The log has the bodies of each moment, and a run killed around any of it ends with the bytes of one left alone.
#[test]
fn killed_while_bodies_come_and_go() {
    let place = Place::new();
    place.write("c.toml", COMING);
    place.fine(&["run", "c.toml", "-q", "--log", "whole.plog"]);
    let whole = place.read("whole.plog");
    let reader = LogReader::open(place.path("whole.plog")).expect("a log");
    let names = |i: usize| reader.bodies_at(i).iter().map(|b| b.name.to_string()).collect::<Vec<_>>();
    for (frames, there) in [
        (0..=30, vec!["first"]),
        (31..=72, vec!["first", "second"]),
        (73..=150, vec!["second", "cloth"]),
        (151..=200, vec!["cloth"]),
    ] {
        for i in frames {
            assert_eq!(names(i), there, "frame {i}");
            reader.frame(i).expect("a frame");
        }
    }
    let mesh = |i: usize, b: usize| &reader.bodies_at(i)[b].mesh;
    assert!(
        std::sync::Arc::ptr_eq(mesh(0, 0), mesh(100, 0)),
        "the second ball is stored as a copy of the first"
    );
    assert_eq!(reader.epochs().len(), 4);

    let begin = frames_begin(&whole);
    let mut random = SplitMix64::new(3);
    let mut kills = 0;
    for round in 0..5 {
        let log = format!("{round}.plog");
        let words = ["run", "c.toml", "-q", "--resume", "--log", &log];
        for _ in 0..4 {
            let now = size(&place.path(&log)).max(begin) as f64;
            let wanted = now + (whole.len() as f64 - now) * random.unit().max(0.01) * 0.7;
            if let Some(mut child) = place.start(&words, &log, wanted as u64) {
                child.kill().expect("SIGKILL");
                kills += usize::from(child.wait().expect("the child ends").code().is_none());
            }
        }
        place.fine(&words);
        assert!(place.read(&log) == whole, "round {round}");
    }
    assert!(kills >= 4, "only {kills} runs were caught on the way");
    // And stopped right before, at and after each of it.
    for stops in [[29, 30, 31], [32, 71, 72], [73, 74, 149], [150, 151, 199]] {
        for frames in stops {
            let frames = frames.to_string();
            place.fine(&["run", "c.toml", "-q", "--log", "parts.plog", "--frames", &frames, "--resume"]);
        }
        place.fine(&["run", "c.toml", "-q", "--log", "parts.plog", "--resume"]);
        assert!(place.read("parts.plog") == whole, "{stops:?}");
        std::fs::remove_file(place.path("parts.plog")).expect("it is there");
    }
    // Any number of threads.
    for threads in ["1", "2", "7"] {
        place.fine(&["run", "c.toml", "-q", "--log", "t.plog", "--threads", threads]);
        assert!(place.read("t.plog") == whole, "{threads} threads");
    }
}

#[test]
fn check_tells_who_comes_later() {
    let place = Place::new();
    place.write("c.toml", COMING);
    let ran = place.fine(&["check", "c.toml"]);
    assert!(ran.out.contains("cloth") && ran.out.contains("comes at frame 72"), "{}", ran.out);
}
