//! Runs and exports: files, statistics, failures on the way.

use crate::common::Place;
use pliant_cache::LogReader;
use serde_json::Value;

const KEYS: [&str; 15] = [
    "frame",
    "time",
    "kinetic",
    "elastic",
    "gravity",
    "momentum",
    "angular_momentum",
    "max_strain",
    "contacts",
    "max_penetration",
    "iterations",
    "residual",
    "solvers",
    "controls",
    "ms",
];

/// Where the header of a log ends and its frames begin.
fn frames_begin(log: &[u8]) -> usize {
    let length: [u8; 8] = log[20..28].try_into().expect("a record");
    32 + u64::from_le_bytes(length) as usize
}

/// The position in a log that has this part of all frames before it.
fn within(log: &[u8], part: f64) -> usize {
    let begin = frames_begin(log);
    begin + ((log.len() - begin) as f64 * part) as usize
}

fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = String::from_utf8(place.read(name)).expect("text");
    text.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
}

#[test]
fn the_default_demo_says_where_its_files_are() {
    let place = Place::new();
    let ran = place.fine(&[]);
    let name = place.fine(&["demos"]).out;
    let name = name.split_whitespace().next().expect("a demo");
    for extension in ["plog", "usda", "gif", "png"] {
        let file = format!("out/{name}.{extension}");
        assert!(place.has(&file), "{file}");
        assert!(ran.out.contains(&file), "{}", ran.out);
    }
    assert!(ran.out.contains("File > Import"), "{}", ran.out);
    assert!(place.read(&format!("out/{name}.gif")).starts_with(b"GIF89a"));
    assert!(place.read(&format!("out/{name}.png")).starts_with(b"\x89PNG"));
    // A finished log may be replaced by the same again.
    let before = place.read(&format!("out/{name}.plog"));
    place.fine(&["run", name, "-q", "--log", &format!("out/{name}.plog")]);
    assert_eq!(place.read(&format!("out/{name}.plog")), before);
}

#[test]
fn the_default_demo_goes_on_where_it_was_stopped() {
    let place = Place::new();
    let list = place.fine(&["demos"]).out;
    let name = list.split_whitespace().next().expect("a demo");
    let log = format!("out/{name}.plog");
    place.fine(&["run", name, "-q", "--log", &log]);
    let whole = place.read(&log);
    let all = LogReader::open(place.path(&log)).expect("a log").frame_count() - 1;
    std::fs::write(place.path(&log), &whole[..within(&whole, 0.7)]).expect("a file");
    let ran = place.fine(&[]);
    assert_eq!(place.read(&log), whole, "{}", ran.out);
    assert!(!ran.out.contains(&format!("{name}: {all} frames")), "only the rest: {}", ran.out);
    // An unfinished run of something else is not touched.
    place.fine(&["run", "s.toml", "-q", "--frames", "9", "--log", "other.plog"]);
    let other = place.read("other.plog");
    let other = &other[..within(&other, 0.7)];
    std::fs::write(place.path(&log), other).expect("a file");
    place.fails(&[], 2, &[&log, "another scene", "move it away"]);
    assert_eq!(place.read(&log), other);
}

#[test]
fn outputs_come_from_the_command_line_or_the_scene() {
    let place = Place::new();
    let ran = place.fine(&[
        "run",
        "s.toml",
        "--frames",
        "12",
        "-o",
        "a/b/x.usda",
        "-o",
        "a/x.gif",
        "-o",
        "a/x.pc2",
        "-o",
        "c.png",
        "--size",
        "64x48",
        "--color-by",
        "strain",
    ]);
    for file in ["a/b/x.plog", "a/b/x.usda", "a/x.gif", "a/x.pc2", "c.png"] {
        assert!(place.has(file), "{file}\n{}", ran.out);
    }
    assert_eq!(LogReader::open(place.path("a/b/x.plog")).expect("a log").frame_count(), 13);
    let text = crate::common::SCENE.replace("[output]", "[output]\nfiles = [\"made/y.usda\"]");
    std::fs::create_dir(place.path("deep")).expect("a folder");
    place.write("deep/t.toml", &text);
    place.fine(&["run", "deep/t.toml", "--frames", "3"]);
    assert!(place.has("deep/made/y.usda") && place.has("deep/made/y.plog"));
    // Quiet is quiet.
    let ran = place.fine(&["run", "s.toml", "--frames", "3", "-q"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert!(place.has("s.plog"), "beside nothing else: in the current folder");
    place.fine(&["run", "s.toml", "--frames", "1", "--log", "one.plog"]);
    assert_eq!(LogReader::open(place.path("one.plog")).expect("a log").frame_count(), 2);
}

#[test]
fn statistics_have_every_key_and_follow_a_resume() {
    let place = Place::new();
    let run = |frames: &str, more: &[&str]| {
        let mut words = vec!["run", "s.toml", "-q", "--stats", "st.jsonl", "--frames", frames];
        words.extend(more);
        place.fine(&words);
        lines(&place, "st.jsonl")
    };
    let first = run("30", &[]);
    assert_eq!(first.len(), 31);
    for (k, line) in first.iter().enumerate() {
        let object = line.as_object().expect("an object");
        for key in KEYS {
            assert!(object.contains_key(key), "no {key} in {line}");
        }
        assert_eq!(line["frame"], k);
        assert_eq!(line["momentum"].as_array().map(Vec::len), Some(3));
        for key in ["clustered", "projective", "log"] {
            assert!(line["ms"][key].as_f64().is_some_and(|ms| ms >= 0.0), "{line}");
        }
    }
    assert!(first[1]["ms"]["projective"].as_f64() > Some(0.0));
    assert!(first[30]["kinetic"].as_f64() > Some(0.0));
    // The log is where a resume cuts; the statistics follow, with lines lost or torn made anew.
    let text = String::from_utf8(place.read("st.jsonl")).expect("text");
    let torn: String = text.lines().take(9).map(|l| format!("{l}\n")).collect();
    place.write("st.jsonl", &format!("{torn}{{\"frame\":9,\"ti"));
    let second = run("40", &["--resume"]);
    assert_eq!(second.len(), 41);
    let but_ms = |v: &Value| {
        let mut v = v.clone();
        v.as_object_mut().expect("an object").remove("ms");
        v
    };
    for k in 0..31 {
        assert_eq!(but_ms(&first[k]), but_ms(&second[k]));
    }
    assert_eq!(first[8], second[8], "kept lines are kept");
    let again = run("40", &["--resume"]);
    assert_eq!(second, again, "nothing to do, nothing changed");
}

#[test]
fn a_log_is_not_destroyed_by_accident() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "30"]);
    let whole = place.read("s.plog");
    // Finished: may be replaced. Resumed: nothing to do.
    place.fine(&["run", "s.toml", "-q", "--frames", "30"]);
    assert_eq!(place.read("s.plog"), whole);
    let ran = place.fine(&["run", "s.toml", "--resume", "--frames", "30", "-o", "x.usda", "--log", "s.plog"]);
    assert!(ran.out.contains("already holds all frames") && place.has("x.usda"), "{}", ran.out);
    place.fine(&["run", "s.toml", "-q", "--resume", "--frames", "10"]);
    assert_eq!(place.read("s.plog"), whole, "more frames than asked for are kept");
    // Unfinished: asks.
    let cut = &whole[..within(&whole, 0.66)];
    std::fs::write(place.path("s.plog"), cut).expect("a file");
    place.fails(&["run", "s.toml"], 2, &["s.plog", "unfinished", "--resume", "--force"]);
    assert_eq!(place.read("s.plog"), cut);
    // Resumed as another scene: refused, untouched.
    place.write("t.toml", &crate::common::SCENE.replace("0.5, 0", "0.6, 0"));
    place.fails(&["run", "t.toml", "--log", "s.plog", "--resume"], 2, &["another scene", "--log", "--force"]);
    assert_eq!(place.read("s.plog"), cut);
    place.fine(&["run", "s.toml", "-q", "--resume", "--frames", "30"]);
    assert_eq!(place.read("s.plog"), whole);
    std::fs::write(place.path("s.plog"), cut).expect("a file");
    place.fine(&["run", "s.toml", "-q", "--force", "--frames", "30"]);
    assert_eq!(place.read("s.plog"), whole);
    // Something else in its place.
    place.write("diary.txt", "dear diary");
    place.fails(&["run", "s.toml", "--log", "diary.txt"], 2, &["diary.txt", "not a frame log", "--force"]);
    place.fails(&["run", "s.toml", "--log", "s.toml", "--force"], 2, &["replace the scene"]);
    place.fails(&["run", "s.toml", "--stats", "s.toml"], 2, &["replace the scene"]);
    place.fails(&["run", "s.toml", "--stats", "a.plog", "--log", "a.plog"], 2, &["its own name"]);
    assert_eq!(place.read("diary.txt"), b"dear diary");
    assert_eq!(place.read("s.toml"), crate::common::SCENE.as_bytes());
}

#[test]
fn extending_a_finished_run_gives_the_bytes_of_a_longer_one() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "60", "--log", "long.plog"]);
    place.fine(&["run", "s.toml", "-q", "--frames", "33", "--log", "grown.plog"]);
    place.fine(&["run", "s.toml", "-q", "--frames", "60", "--log", "grown.plog", "--resume"]);
    assert_eq!(place.read("grown.plog"), place.read("long.plog"));
    place.fine(&["run", "s.toml", "-q", "--frames", "60", "--log", "new.plog", "--resume"]);
    assert_eq!(place.read("new.plog"), place.read("long.plog"), "nothing to resume: begun");
}

#[test]
fn unwritable_places_are_io_and_told_before_the_work() {
    let place = Place::new();
    place.write("file", "");
    let ran = place.fails(
        &["run", "s.toml", "-o", "file/x.usda", "-o", "/proc/nowhere/y.gif"],
        4,
        &["file/x.usda", "/proc/nowhere/y.gif"],
    );
    assert_eq!(ran.out, "");
    place.fails(&["run", "s.toml", "--log", "file/x.plog"], 4, &["file/x.plog"]);
    std::fs::create_dir(place.path("folder.gif")).expect("a folder");
    place.fails(&["run", "s.toml", "-o", "folder.gif"], 4, &["this is a folder"]);
    assert!(!place.has("s.plog") && !place.has("folder.plog"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_io_and_what_was_written_stays() {
    let place = Place::new();
    place.fails(&["run", "s.toml", "--stats", "/dev/full"], 4, &["/dev/full", "free space"]);
    place.fine(&["run", "s.toml", "-q", "--log", "large.plog"]);
    let large = place.read("large.plog");
    // A limit on file sizes (in units of 512 bytes) stands for a small disk.
    let limit = within(&large, 0.4) / 512;
    let ran = place.limited("run s.toml --log small.plog", limit, true);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("small.plog") && ran.err.contains("--resume"), "{}", ran.err);
    assert!(LogReader::open(place.path("small.plog")).expect("a log").frame_count() > 3);
    place.fine(&["run", "s.toml", "-q", "--log", "small.plog", "--resume"]);
    assert_eq!(place.read("small.plog"), large);
}

#[test]
fn a_non_finite_state_keeps_the_frames_before_it() {
    let place = Place::new();
    // An acceleration that leaves the range of numbers after some hundred frames.
    let text = "frames = 200\ngravity = [0, 0, 0]\n[[body]]\nname = \"wild\"\nshape = \"ball\"\nparticles = 30\n\
                mass = 1e-299\nforce = [1e9, 0, 0]\n";
    place.write("w.toml", text);
    let told = ["w.toml", "non-finite in frame", "\"wild\"", "likely cause", "pliant export w.plog"];
    place.fails(&["run", "w.toml", "-o", "w.gif"], 3, &told);
    assert!(!place.has("w.gif"));
    let kept = place.read("w.plog");
    let reader = LogReader::open(place.path("w.plog")).expect("a log");
    let frames = reader.frame_count();
    assert!(frames > 2 && frames < 201, "{frames}");
    let checkpoint = reader.last_checkpoint().expect("readable").map(|(n, _)| n as usize);
    assert_eq!(checkpoint, Some(frames - 1), "the last good state");
    place.fine(&["export", "w.plog", "-o", "w.usda", "--last", "0"]);
    // Nothing else comes of trying again.
    place.fails(&["run", "w.toml", "--resume", "--log", "w.plog"], 3, &told);
    assert_eq!(place.read("w.plog"), kept);
    place.fails(&["run", "w.toml"], 3, &told);
    assert_eq!(place.read("w.plog"), kept);
}

#[test]
fn exports_choose_frames_and_bodies() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "20"]);
    place.fine(&["export", "s.plog", "-q", "-o", "o.obj", "--first", "5", "--last", "15", "--step", "5"]);
    let objects: Vec<String> = place.names().into_iter().filter(|n| n.ends_with(".obj")).collect();
    assert_eq!(objects, ["o_0005.obj", "o_0010.obj", "o_0015.obj"]);
    place.fine(&["export", "s.plog", "-q", "-o", "b.pc2", "--body", "box"]);
    place.fails(&["export", "s.plog", "-o", "b.pc2", "--body", "bux"], 2, &["bux", "ball", "box"]);
    place.fails(&["export", "s.plog", "-o", "b.usda", "--first", "50"], 2, &["frames 0 to 20"]);
    for by in ["body", "strain", "cluster", "speed"] {
        let file = format!("{by}.png");
        place.fine(&["export", "s.plog", "-o", &file, "--color-by", by, "--size", "64x48"]);
        assert!(place.read(&file).starts_with(b"\x89PNG"));
    }
    assert_ne!(place.read("strain.png"), place.read("body.png"));
    place.fails(&["export", "s.plog", "-o", "x.gif", "--size", "9x9"], 2, &["640x480"]);
}

#[test]
fn logs_broken_off_or_damaged_are_exported_as_far_as_they_go() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "20"]);
    let whole = place.read("s.plog");
    std::fs::write(place.path("cut.plog"), &whole[..within(&whole, 0.5)]).expect("a file");
    let ran = place.fine(&["export", "cut.plog", "-o", "cut.usda"]);
    assert!(ran.err.contains("warning: cut.plog: the run was broken off"), "{}", ran.err);
    assert!(place.has("cut.usda"));
    let mut bad = whole.clone();
    bad[within(&whole, 0.75)] ^= 0x40;
    std::fs::write(place.path("bad.plog"), &bad).expect("a file");
    let ran = place.fine(&["export", "bad.plog", "-o", "bad.usda"]);
    assert!(ran.err.contains("damaged") && ran.err.contains("--resume"), "{}", ran.err);
    // What comes after the damage is computed again.
    place.fine(&["run", "s.toml", "-q", "--frames", "20", "--log", "bad.plog", "--resume"]);
    assert_eq!(place.read("bad.plog"), whole);
    place.write("no.plog", "this is no log at all, but long enough to be one");
    place.fails(&["export", "no.plog", "-o", "no.usda"], 2, &["not a frame log"]);
    std::fs::write(place.path("head.plog"), &whole[..200]).expect("a file");
    let ran = place.pliant(&["export", "head.plog", "-o", "no.usda"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(!place.has("no.usda"));
}

#[test]
fn every_frame_of_a_log_holds_its_controls() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "130", "--log", "a.plog", "--stats", "a.jsonl"]);
    let scene = pliant_scene::Scene::load(&place.path("s.toml")).expect("a scene");
    let mut simulation = scene.build(1).expect("a simulation").simulation;
    let reader = LogReader::open(place.path("a.plog")).expect("a log");
    for (k, line) in lines(&place, "a.jsonl").iter().enumerate() {
        let frame = reader.frame(k).expect("a frame");
        let stored = pliant::Controls::decode(&frame.controls, simulation.model()).expect("controls");
        assert_eq!(&stored, simulation.controls(), "frame {k}");
        let wanted = 25.0 - 17.0 * (k as f64 / 90.0).min(1.0) + 22.0 * ((k as f64 - 90.0) / 60.0).max(0.0);
        let driven = line["controls"]["box.frequency"].as_f64().expect("a number");
        assert!((driven - wanted).abs() < 1e-9, "frame {k}: {driven}, not {wanted}");
        let down = line["controls"]["gravity_direction"][1].as_f64().expect("a number");
        assert!((down - stored.gravity_direction().y).abs() < 1e-12, "frame {k}: {down}");
        simulation.step().expect("a step");
    }
    // Without keyframes there is nothing to say.
    place.write("still.toml", "[[body]]\nshape = \"ball\"\nparticles = 20\n");
    place.fine(&["run", "still.toml", "-q", "--frames", "2", "--log", "b.plog", "--stats", "b.jsonl"]);
    assert!(lines(&place, "b.jsonl").iter().all(|l| l.get("controls").is_none()));
}

/// A stiff body with far too few iterations: said once on the terminal, and frame by frame in the statistics.
#[test]
fn what_does_not_converge_is_said() {
    let place = Place::new();
    let scene = |solver: &str, iterations: u32| {
        format!(
            "solver = \"{solver}\"\nfps = 5\n[[plane]]\nnormal = [0, 1, 0]\n[[body]]\nname = \"capsule\"\nmaterial = \
             \"leather\"\nparticles = 80\niterations = {iterations}\nshape = {{ kind = \"capsule\", radius = 0.08, height = \
             0.5 }}\nposition = [0, 0.4, 0]\n"
        )
    };
    place.write("x.toml", &scene("xpbd", 5));
    let ran = place.fine(&["run", "x.toml", "-q", "--frames", "6", "--log", "x.plog", "--stats", "x.jsonl"]);
    assert_eq!(ran.err.matches("xpbd did not converge").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("iterations") && ran.err.contains("solver = \"projective\""), "{}", ran.err);
    let frames = lines(&place, "x.jsonl");
    assert!(frames.iter().any(|f| f["solvers"]["xpbd"]["converged"] == Value::Bool(false)));
    assert!(frames[1..].iter().all(|f| f["solvers"]["xpbd"]["residual"].is_number()));
    place.write("n.toml", &scene("newton", 40));
    let ran = place.fine(&["run", "n.toml", "-q", "--frames", "6", "--log", "n.plog", "--stats", "n.jsonl"]);
    assert!(!ran.err.contains("converge"), "{}", ran.err);
    let frames = lines(&place, "n.jsonl");
    assert!(frames[1..].iter().all(|f| f["solvers"]["newton"]["converged"] == Value::Bool(true)));
}

/// What happens to glue and joints is told once by its name, and frame by frame in the statistics.
#[test]
fn what_breaks_and_what_collapses_is_said() {
    let place = Place::new();
    // A napkin of four corners, the front two led onto the others: what carries the button lies on a line then. And a ball at a hook
    // that does not hold it.
    let scene = r#"
        gravity = [0, -9.81, 0]
        [[body]]
        name = "napkin"
        shape = { kind = "sheet", size = [0.4, 0.4], cells = [1, 1] }
        edge_stiffness = 50
        [[body.pin]]
        box = { min = [-1, -1, -1], max = [1, 1, 0] }
        [[body.pin]]
        box = { min = [-1, -1, 0], max = [1, 1, 1] }
        velocity = [0, 0, -0.8]
        end = 0.5
        [[body]]
        name = "button"
        shape = { kind = "ball", radius = 0.04 }
        particles = 40
        position = [0, 0.05, -0.15]
        [[glue]]
        name = "thread"
        from = "button"
        to = "napkin"
        [[body]]
        name = "ball"
        kind = "rigid"
        shape = { kind = "ball", radius = 0.1 }
        density = 1000
        position = [2, 0, 0]
        [[joint]]
        between = ["world", "ball"]
        at = [2, 0.1, 0]
        break_force = 20
        [[joint]]
        name = "hook"
        between = ["world", "ball"]
        at = [2.05, 0.1, 0]
        break_force = 30
        "#;
    place.write("x.toml", scene);
    let words = ["run", "x.toml", "-q", "--frames", "45", "--log", "x.plog", "--stats", "x.jsonl"];
    let ran = place.fine(&words);
    let note = |text: &str| {
        let found = ran.err.lines().filter(|l| l.contains(text)).count();
        assert_eq!(found, 1, "{text}:\n{}", ran.err);
    };
    note("note: `thread` collapsed at ");
    note("note: what ties `ball` to the world broke, first in frame ");
    note("note: `hook` broke, first in frame ");
    let frames = lines(&place, "x.jsonl");
    let told = |key: &str| {
        let told = frames.iter().filter_map(|f| Some((f["frame"].as_u64()?, f.get(key)?.as_u64()?)));
        told.collect::<Vec<_>>()
    };
    assert_eq!(told("broken").iter().map(|b| b.1).sum::<u64>(), 2, "{:?}", told("broken"));
    let collapsed = told("collapsed");
    assert!(collapsed.len() == 1 && (29..=31).contains(&collapsed[0].0), "told once: {collapsed:?}");
    // Nothing is said of glue that holds.
    place.write(
        "y.toml",
        &scene.replace("break_force = 20", "").replace("break_force = 30", "").replace("-0.8", "0"),
    );
    let ran = place.fine(&["run", "y.toml", "-q", "--frames", "45", "--log", "y.plog", "--stats", "y.jsonl"]);
    assert!(!ran.err.contains("note:"), "{}", ran.err);
    let text = String::from_utf8(place.read("y.jsonl")).expect("text");
    assert!(["broken", "collapsed", "let_go"].iter().all(|key| !text.contains(key)));
}

/// Every solver of constraints takes the same scene; its error falls from 1, and tracing changes no frame.
#[test]
fn traces_of_each_solver() {
    let place = Place::new();
    for solver in ["projective", "newton", "xpbd", "pbd"] {
        let scene = format!(
            "solver = \"{solver}\"\n[[body]]\nname = \"cloth\"\nshape = {{ kind = \"sheet\", size = [1, 1], \
             cells = [8, 8] }}\nedge_stiffness = 200\n[[body.pin]]\ncorners = [\"left_back\", \"right_back\"]\n"
        );
        place.write("s.toml", &scene);
        let words = ["run", "s.toml", "-q", "--frames", "4", "--force", "--log"];
        place.fine(&[&words[..], &["plain.plog"]].concat());
        place.fine(&[&words[..], &["a.plog", "--trace", "t.csv", "--trace-steps", "3"]].concat());
        assert_eq!(place.read("plain.plog"), place.read("a.plog"), "{solver}");
        let text = String::from_utf8(place.read("t.csv")).expect("text");
        let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
        let head = "step,substep,solver,iteration,milliseconds,objective,gradient,relative_error";
        assert_eq!(rows[0].join(","), head);
        assert!(rows[1..].iter().all(|r| r[2] == solver), "{solver}");
        assert_eq!(rows[rows.len() - 1][0], "3");
        let error = |r: &Vec<&str>| r[7].parse::<f64>().expect("a number");
        assert_eq!(error(&rows[1]), 1.0);
        let last = error(&rows[rows.len() - 1]);
        assert!(last >= 0.0 && (solver == "pbd" || last < 0.1), "{solver}: {last}");
    }
    place.fails(&["run", "s.toml", "--trace", "s.toml"], 2, &["replace the scene"]);
    place.fails(&["run", "gummy_bear", "--trace", "t.csv"], 2, &["--trace", "projective"]);
    place.fails(&["run", "s.toml", "--trace", "a.plog", "--log", "a.plog"], 2, &["its own name"]);
}

#[test]
fn a_thousand_bodies_make_a_log_of_less_than_a_hundred_megabytes() {
    let place = Place::new();
    let bytes = |frames: &str| {
        place.fine(&["run", "raining_bodies", "-q", "--frames", frames, "--log", "rain.plog", "--resume"]);
        place.read("rain.plog").len()
    };
    place.fine(&["run", "raining_bodies", "-q", "--frames", "1", "--log", "rain.plog"]);
    // While they fall they hardly deform, and little is to be told of them; from here on they lie in a heap and bounce.
    let begun = bytes("50");
    let each = (bytes("60") - begun) as f64 / 10.0;
    let all = begun as f64 + 100.0 * each;
    println!("{all} bytes, {each} a frame");
    assert!(all < 100e6, "{all} bytes for 150 frames, {each} for each at the end");
}
