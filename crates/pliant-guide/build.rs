//! Makes pages for rustdoc out of the chapters: links between chapters become links between modules, and pictures go into the
//! pages, as rustdoc has no place for files. What is only in the repository loses its link and keeps its text.

// The encoder itself, and not the crate: a build script would have it compiled once more.
#[allow(dead_code)]
#[path = "../pliant-geometry/src/base64.rs"]
mod base64;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let docs = root.join("../../docs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=../../docs");
    for folder in ["", "guide"] {
        let folder = docs.join(folder);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for file in files.map(|f| f.expect("a readable folder").path()) {
            if file.extension().is_some_and(|e| e == "md") {
                let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                let name = file.file_name().expect("a file has a name");
                fs::write(out.join(name), page(&text, &file)).expect("OUT_DIR can be written");
            }
        }
    }
}

/// A chapter with its links as rustdoc needs them. Fenced blocks stay as they are.
fn page(text: &str, file: &Path) -> String {
    let mut page = String::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        match fenced {
            true => page.push_str(line),
            false => page.push_str(&links(line, file)),
        }
        page.push('\n');
    }
    page
}

fn links(line: &str, file: &Path) -> String {
    let mut done = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (label, target) = (&rest[..at], &rest[at + 2..]);
        let Some(end) = target.find(')') else { break };
        let (target, after) = (&target[..end], &target[end + 1..]);
        match new_target(target, file) {
            Some(new) => {
                let _ = write!(done, "{label}]({new})");
            }
            // Only the text stays, and its opening bracket goes.
            None => match label.rfind('[') {
                Some(open) => {
                    done.push_str(&label[..open]);
                    done.push_str(&label[open + 1..]);
                }
                None => done.push_str(label),
            },
        }
        rest = after;
    }
    done + rest
}

fn new_target(target: &str, file: &Path) -> Option<String> {
    if target.starts_with("http") || target.starts_with('#') {
        return Some(target.into());
    }
    let (path, anchor) =
        target.split_once('#').map_or((target, String::new()), |(p, a)| (p, format!("#{a}")));
    let full = file.parent()?.join(path);
    let kind = match full.extension()?.to_str()? {
        "md" => return module(&full, file).map(|page| page + &anchor),
        "png" => "image/png",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        _ => return None,
    };
    let bytes = fs::read(&full).unwrap_or_else(|e| panic!("{}: {e}", full.display()));
    Some(format!("data:{kind};base64,{}", String::from_utf8_lossy(&base64::encode(&bytes))))
}

/// The page of the module that a chapter has become; the guide's README is the crate's own.
fn module(target: &Path, from: &Path) -> Option<String> {
    let folder = target.parent()?.canonicalize().ok()?;
    let known = folder.ends_with("docs/guide") || folder.ends_with("docs");
    let up = if from.file_stem()? == "README" { "" } else { "../" };
    match target.file_stem()?.to_str()? {
        "README" if folder.ends_with("docs/guide") => Some(format!("{up}index.html")),
        name if known => Some(format!("{up}{name}/index.html")),
        _ => None,
    }
}
