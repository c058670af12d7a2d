//! What the program answers: exit codes, messages, lists.

use crate::common::{Place, Ran};
use std::process::Stdio;

#[test]
fn scenes_are_checked_with_every_error_at_once() {
    let place = Place::new();
    let fine = place.fine(&["check", "s.toml"]);
    for told in ["fine:", "2 bodies", "ball", "clustered", "box", "projective"] {
        assert!(fine.out.contains(told), "{}", fine.out);
    }
    place.write("bad.toml", "framez = 3\n[[body]]\nshape = \"ball\"\nmass = -1\n[[body]]\nshape = \"bal\"\n");
    place.fails(
        &["check", "bad.toml"],
        2,
        &["bad.toml:1:", "framez", "frames", "bad.toml:4:", "mass", "bad.toml:6:", "bal"],
    );
    place.fails(&["run", "bad.toml", "-o", "a.gif"], 2, &["bad.toml:1:", "bad.toml:4:"]);
    assert!(!place.has("bad.plog") && !place.has("a.gif") && !place.has("a.plog"));
}

#[test]
fn missing_files_are_io() {
    let place = Place::new();
    place.fails(&["check", "no.toml"], 4, &["no.toml"]);
    place.fails(&["run", "no/such.toml"], 4, &["no/such.toml"]);
    place.fails(&["export", "no.plog", "-o", "a.usda"], 4, &["no.plog", "check that the path"]);
}

#[test]
fn what_is_unknown_is_answered_with_what_is_known() {
    let place = Place::new();
    let list = place.fine(&["demos"]).out;
    let name = list.split_whitespace().next().expect("a demo").to_string();
    let misspelt = format!("{name}x");
    place.fails(&["run", &misspelt], 2, &[&misspelt, &format!("did you mean \"{name}\""), "pliant demos"]);
    place.fails(&["demos", &misspelt], 2, &[&format!("did you mean \"{name}\"")]);
    let both = ["run", "s.toml", "-o", "a.fbx", "-o", "b"];
    place.fails(&both, 2, &["a.fbx", ".fbx", "b: no extension", ".usda", ".gif", ".pc2"]);
    place.fails(&["run", "s.toml", "-o", "a.plog"], 2, &["--log a.plog"]);
    place.fails(&["run", "s.toml", "-o", "a.gif", "-o", "a.gif"], 2, &["twice"]);
    for frames in ["many", "0", "10000001", "4294967295"] {
        place.fails(&["run", "s.toml", "--frames", frames], 2, &["--frames"]);
    }
    place.fails(&["run", "s.toml", "--threads", "0"], 2, &["--threads"]);
    place.fails(&["run", "s.toml", "--resume", "--force"], 2, &["--force"]);
    place.fails(&["frobnicate"], 2, &["frobnicate"]);
    assert_eq!(place.names(), ["s.toml"], "nothing was begun");
}

#[test]
fn demos_are_listed_one_to_a_row_and_can_be_copied() {
    let place = Place::new();
    let list = place.fine(&["demos"]).out;
    assert!(!list.trim().is_empty());
    for row in list.lines() {
        let (name, about) = row.split_once("  ").expect("name, then one line");
        assert!(!about.trim().is_empty(), "{row}");
        let text = place.fine(&["demos", name]).out;
        // That scene builds, which the tests of `pliant-scene` see to.
        let demo = pliant_scene::DEMOS.iter().find(|d| d.name == name).expect("one that there is");
        assert_eq!(text.trim_end(), demo.text.trim_end(), "{name}");
        if name == "gummy_bear" {
            place.write("copy.toml", &text);
            place.fine(&["check", "copy.toml"]);
            place.fine(&["check", name]);
        }
    }
}

#[test]
fn the_schema_is_json() {
    let place = Place::new();
    let schema = place.fine(&["schema"]).out;
    let value: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    assert!(value.get("$schema").is_some() || value.get("properties").is_some(), "{schema}");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let place = Place::new();
    for words in [&["demos"][..], &["schema"], &["check", "s.toml"], &["--help"]] {
        let mut child = place.command(words).spawn().expect("the program starts");
        drop(child.stdout.take());
        let ran = Ran::of(child.wait_with_output().expect("the program ends"));
        assert!(!ran.err.contains("panicked"), "{words:?}: {}", ran.err);
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_io() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut command = place.command(&["schema"]);
    command.stdout(Stdio::from(full));
    let ran = Ran::of(command.output().expect("the program starts"));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
}

#[cfg(all(feature = "figures", feature = "bench"))]
#[test]
fn a_bench_draws_how_time_grows() {
    let place = Place::new();
    let args = ["bench", "--filter", "scaling/1k", "--json", "--isa", "baseline", "--plot", "growth.svg"];
    let out = place.fine(&args).out;
    let lines: Vec<serde_json::Value> = out.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let (limits, found): (Vec<_>, Vec<_>) =
        lines.iter().partition(|l| l["name"].as_str().is_some_and(|n| n.starts_with("limits/")));
    assert!(limits.len() == 6 && found.len() == 1, "{out}");
    assert_eq!(found[0]["name"], "clustered/scaling/1k");
    assert_eq!(found[0]["isa"], "baseline");
    let svg = std::fs::read_to_string(place.path("growth.svg")).expect("a drawing");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("particles") && svg.contains("time per frame"), "{svg}");
    place.fails(&["bench", "--filter", "cloth", "--plot", "a.svg"], 2, &["clustered/scaling"]);
    assert!(!place.has("a.svg"));
    place.fails(&["bench", "--isa", "avx3"], 2, &["baseline"]);
    place.fails(&["bench", "--filter", "scaling/1k", "--plot", "no/such/a.svg"], 4, &["a.svg"]);
}

/// `cargo test -p pliant-cli --no-default-features --test all left_out` runs it.
#[cfg(not(any(feature = "figures", feature = "bench")))]
#[test]
fn commands_that_were_left_out_are_told_with_their_features() {
    let place = Place::new();
    place.fails(&["figures", "--list"], 2, &["leaves out `pliant figures`", "--features figures"]);
    place.fails(&["bench", "--plot", "a.svg"], 2, &["leaves out `pliant bench`", "--features bench"]);
}
