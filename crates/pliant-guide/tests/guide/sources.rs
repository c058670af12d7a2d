//! Tests stand on the repository alone: what they need is in it, and none passes because something is missing.

use super::root;
use std::fs;
use std::path::{Path, PathBuf};

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// What is wrong with lines of a test: places outside the repository, and tests that end early and in silence.
fn faults(text: &str) -> Vec<(usize, &'static str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        // A crate's own folder is two below the root.
        let climbs = line.contains(concat!("../../", "../"));
        let leaves = |l: &str| ["return;", "continue;", "return Ok(());"].iter().any(|end| l.ends_with(end));
        let asks = [".exists()", ".is_file()", "else { return }"].iter().any(|ask| line.contains(ask));
        let skips = asks && (line.contains("return") || lines.get(k + 1).is_some_and(|next| leaves(next)));
        if climbs {
            found.push((k + 1, "reaches outside of the repository"));
        } else if skips && !line.starts_with("assert") {
            found.push((k + 1, "skips where a file is missing"));
        }
    }
    found
}

#[test]
fn tests_bring_what_they_read_and_never_skip() {
    let mut files = Vec::new();
    for member in fs::read_dir(root().join("crates")).unwrap() {
        let tests = member.unwrap().path().join("tests");
        if tests.is_dir() {
            collect(&tests, &mut files);
        }
    }
    assert!(files.len() > 100, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files.iter().filter(|f| !f.ends_with("guide/sources.rs")) {
        let text = fs::read_to_string(file).unwrap();
        wrong.extend(faults(&text).iter().map(|(line, what)| format!("{}:{line}: {what}", file.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_looked_for_is_found() {
    let outside = format!("let path = \"../../{}shared/a.obj\";", "../");
    assert_eq!(faults(&outside).len(), 1);
    assert_eq!(faults("if !path.exists() {\n    return;\n}").len(), 1);
    assert_eq!(faults("let Ok(mesh) = read(&path) else { return };").len(), 1);
    assert_eq!(faults("assert!(path.exists());\nlet a = \"../../support.md\";"), []);
}
