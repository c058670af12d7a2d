//! Pipes, folders and links where files are expected: refused at once, or followed, never replaced.

use crate::common::{Place, Ran};
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

fn with_pipe(name: &str) -> Place {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path(name)).status().expect("mkfifo");
    assert!(made.success());
    place
}

/// Runs, and must end with exit code 4 before long.
fn refused(place: &Place, words: &[&str]) -> Ran {
    let mut child = place.command(words).spawn().expect("the program starts");
    let begin = Instant::now();
    while child.try_wait().expect("a child to wait for").is_none() {
        if begin.elapsed() > Duration::from_secs(30) {
            child.kill().expect("a child to stop");
            panic!("{words:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ran = Ran::of(child.wait_with_output().expect("output"));
    assert_eq!(ran.code, Some(4), "{words:?}\n{}{}", ran.out, ran.err);
    ran
}

fn still_a_pipe(place: &Place, name: &str) {
    let kind = fs::symlink_metadata(place.path(name)).expect("the pipe").file_type();
    assert!(kind.is_fifo(), "{name} was replaced");
}

#[test]
fn a_pipe_is_neither_replaced_nor_waited_for() {
    for option in ["--log", "-o", "--stats"] {
        let place = with_pipe("pipe.gif");
        for force in [None, Some("--force"), Some("--resume")] {
            let words = ["run", "s.toml", "--frames", "3", option, "pipe.gif"];
            let words: Vec<&str> = words.into_iter().chain(force).collect();
            let ran = refused(&place, &words);
            assert!(ran.err.contains("pipe.gif") && ran.err.contains("regular file"), "{}", ran.err);
            still_a_pipe(&place, "pipe.gif");
        }
        assert_eq!(place.names(), ["pipe.gif", "s.toml"], "refused before anything is written");
    }
}

#[test]
fn a_pipe_under_the_temporary_name_is_not_waited_for() {
    for (option, name) in [("--log", "a.plog"), ("-o", "a.gif")] {
        let place = with_pipe(&format!("{name}.tmp"));
        refused(&place, &["run", "s.toml", "--frames", "3", option, name]);
        still_a_pipe(&place, &format!("{name}.tmp"));
    }
}

#[test]
fn a_pipe_is_not_read() {
    let place = with_pipe("pipe");
    place.write("mesh.toml", "[[body]]\nshape = { kind = \"mesh\", file = \"pipe\" }\n");
    place.write("points.toml", "[[body]]\nshape = { kind = \"points\", file = \"pipe\" }\n");
    place.write("folder.toml", "[[body]]\nshape = { kind = \"mesh\", file = \".\" }\n");
    symlink("pipe", place.path("link.toml")).expect("a link");
    fs::create_dir(place.path("folder")).expect("a folder");
    for scene in ["pipe", "link.toml", "mesh.toml", "points.toml", "folder.toml", "folder"] {
        refused(&place, &["check", scene]);
        refused(&place, &["run", scene]);
    }
    refused(&place, &["export", "pipe", "-o", "a.gif"]);
    refused(&place, &["export", "folder", "-o", "a.gif"]);
}

#[test]
fn links_are_followed_and_stay() {
    let place = Place::new();
    fs::create_dir(place.path("real")).expect("a folder");
    // One leads to a file, the others to files that are yet to be made.
    fs::write(place.path("real/a.gif"), "old").expect("a file");
    for name in ["a.gif", "a.plog", "a.jsonl"] {
        symlink(format!("real/{name}"), place.path(name)).expect("a link");
    }
    let words = ["run", "s.toml", "--frames", "3", "-o", "a.gif", "--log", "a.plog", "--stats", "a.jsonl"];
    for _ in 0..2 {
        place.fine(&words);
        for name in ["a.gif", "a.plog", "a.jsonl"] {
            let link = fs::symlink_metadata(place.path(name)).expect("a link");
            assert!(link.file_type().is_symlink(), "{name} was replaced");
        }
        assert!(place.read("real/a.gif").starts_with(b"GIF89a"));
    }
    assert_eq!(place.names(), ["a.gif", "a.jsonl", "a.plog", "real", "s.toml"]);
    // Links in a ring lead nowhere.
    symlink("ring.gif", place.path("ring.gif")).expect("a link");
    refused(&place, &["run", "s.toml", "--frames", "3", "-o", "ring.gif"]);
}
