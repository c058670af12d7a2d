//! Links and pictures of the guide, the README and what else is read at the root: files are there, and so are headings.

use crate::root;
use pliant_guide::{CHAPTERS, REFERENCE};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All pages whose links are looked at.
fn pages() -> Vec<PathBuf> {
    let other = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide/README.md"];
    let chapters = CHAPTERS.iter().chain(REFERENCE).map(|c| c.path);
    chapters.chain(other).map(|path| root().join(path)).collect()
}

/// The page without its fenced blocks, in which brackets mean something else.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let mut fenced = false;
    let mut keep = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    };
    text.lines().filter(|l| keep(l)).collect::<Vec<_>>().join("\n")
}

/// Targets of all links and pictures.
fn targets(page: &Path) -> Vec<String> {
    let prose = prose(page);
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| rest.split(')').next()).map(String::from).collect()
}

/// What a heading is called in links.
fn anchors(page: &Path) -> Vec<String> {
    let slug = |title: &str| {
        let kept = title.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect::<String>()
    };
    let prose = prose(page);
    let titles = prose.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#'));
    titles.map(slug).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for target in targets(&page).iter().filter(|t| !t.starts_with("http")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let there =
                file.exists() && (anchor.is_empty() || anchors(&file).iter().any(|known| known == anchor));
            if !there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_chapter_is_in_the_table_of_contents() {
    let listed: BTreeSet<String> = targets(&root().join("docs/guide/README.md")).into_iter().collect();
    for chapter in CHAPTERS {
        let name = chapter.path.rsplit('/').next().unwrap();
        assert!(listed.contains(name), "docs/guide/README.md does not lead to {name}");
    }
}

#[test]
fn pictures_are_small_in_use_and_made_by_the_script() {
    let script = fs::read_to_string(root().join("docs/guide/pictures.sh")).unwrap();
    let used: BTreeSet<String> = CHAPTERS.iter().flat_map(|c| targets(&root().join(c.path))).collect();
    let mut bytes = 0;
    for file in fs::read_dir(root().join("docs/guide/pictures")).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let stem = name.split('.').next().unwrap();
        assert!(used.contains(&format!("pictures/{name}")), "no chapter shows pictures/{name}");
        assert!(script.contains(stem), "pictures.sh does not make {name}");
        bytes += file.metadata().unwrap().len();
    }
    assert!(bytes < 2_000_000, "pictures have {bytes} bytes; two million are the limit");
}

/// The file of an example that a command names, if it names one.
fn example(command: &str) -> Option<PathBuf> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let after = |flag: &str| words.iter().position(|w| *w == flag).and_then(|k| words.get(k + 1));
    let name = after("--example")?;
    let package = after("-p").unwrap_or(&"(none: say which with -p)");
    Some(root().join(format!("crates/{package}/examples/{name}.rs")))
}

#[test]
fn examples_that_commands_name_are_there() {
    for chapter in CHAPTERS {
        for block in chapter.blocks().iter().filter(|b| b.language == "sh") {
            for file in block.commands().iter().filter_map(|c| example(c)) {
                assert!(file.exists(), "{}:{}: there is no {}", chapter.path, block.line, file.display());
            }
        }
    }
}

/// All Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Words of a text that name Rust files.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_/.*-".contains(c));
    words
        .filter(|w| w.ends_with(".rs") && w.len() > 3 && !w.contains('*'))
        .map(|w| w.trim_start_matches("../"))
}

/// What `//` begins, of all lines.
fn comments(source: &str) -> String {
    source.lines().filter_map(|l| l.split_once("//")).map(|(_, comment)| format!("{comment}\n")).collect()
}

#[test]
fn source_files_that_pages_and_comments_name_are_there() {
    let mut files = Vec::new();
    for folder in ["crates", "fuzz/fuzz_targets"] {
        sources(&root().join(folder), &mut files);
    }
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    // The changelog tells of files that were.
    let pages = pages().into_iter().filter(|p| !p.ends_with("CHANGELOG.md"));
    let mut texts: Vec<(PathBuf, String)> = pages.map(|p| (p.clone(), read(&p))).collect();
    texts.extend(files.iter().map(PathBuf::from).map(|p| (p.clone(), comments(&read(&p)))));
    let mut gone = Vec::new();
    for (place, text) in &texts {
        let missing = named(text).filter(|name| !files.iter().any(|f| f.ends_with(&format!("/{name}"))));
        gone.extend(missing.map(|name| format!("{}: {name}", place.display())));
    }
    assert!(gone.is_empty(), "source files that are named and not there:\n{}", gone.join("\n"));
}
