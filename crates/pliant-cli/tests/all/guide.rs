//! The commands of the guide do what it says. Each chapter has a folder of its own, in which its scenes lie under their names and
//! its commands are run one after the other.
//!
//! - `sh`: must succeed. So that it is quick, runs have three frames and small pictures where nothing else is said, and figures
//!   and benchmarks are only looked up. With the word `whole` commands are run as they stand.
//! - `sh fails`: must be refused.
//! - `console`: a line `$ pliant …` and all that it answers.
//!
//! The pages to look things up in (`docs/*.md`) speak of files a reader has; there commands must be understood.

use crate::common::Place;
use pliant_guide::{Block, CHAPTERS, REFERENCE};

/// Words of a command line, up to where its output goes; no quotes are needed so far.
fn words(command: &str) -> Vec<String> {
    command.split_whitespace().take_while(|w| *w != ">").map(String::from).collect()
}

/// The same command with less to do.
fn quick(mut words: Vec<String>) -> Vec<String> {
    let has = |words: &[String], flag: &str| words.iter().any(|w| w == flag);
    let draws = words.iter().any(|w| [".png", ".gif", ".apng"].iter().any(|e| w.ends_with(e)));
    match words.first().map(String::as_str) {
        Some("run") => {
            if !has(&words, "--frames") {
                words.extend(["--frames".into(), "3".into()]);
            }
            if draws && !has(&words, "--size") {
                words.extend(["--size".into(), "64x48".into()]);
            }
        }
        Some("export") if draws && !has(&words, "--size") => words.extend(["--size".into(), "64x48".into()]),
        Some("figures" | "bench") if !has(&words, "--list") => words.push("--list".into()),
        _ => {}
    }
    words
}

/// Figures and benchmarks that are named are in the list of the program.
fn look_up(words: &[String], list: &str, at: &str) {
    let known: Vec<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let after = |flag: &str| words.iter().position(|w| w == flag).map(|k| words[k + 1].clone());
    if let Some(filter) = after("--filter") {
        assert!(
            known.iter().any(|name| name.contains(&filter)),
            "{at}: no benchmark has {filter} in its name"
        );
    }
    if words[0] == "figures" {
        let folder = after("-o");
        for name in words[1..].iter().filter(|w| !w.starts_with('-') && Some(*w) != folder.as_ref()) {
            assert!(known.contains(&name.as_str()), "{at}: there is no figure {name}");
        }
    }
}

/// Arguments of the commands of a block that are the program's.
fn commands(block: &Block) -> impl Iterator<Item = Vec<String>> {
    block.commands().into_iter().filter_map(|c| c.strip_prefix("pliant ").map(words))
}

/// Runs a console block: what is printed after each command has to be what stands there.
fn converse(place: &Place, block: &Block, at: &str) {
    for part in block.text.split("$ pliant ").skip(1) {
        let (command, wanted) = part.split_once('\n').unwrap_or((part, ""));
        let list = words(command);
        let ran = place.pliant(&list.iter().map(String::as_str).collect::<Vec<_>>());
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(said.trim_end(), wanted.trim_end(), "{at}: pliant {command}");
    }
}

#[test]
fn commands_of_the_guide_do_what_it_says() {
    let mut count = 0;
    for chapter in CHAPTERS {
        let place = Place::new();
        let blocks = chapter.blocks();
        for block in blocks.iter().filter(|b| b.language == "toml") {
            if let Some(name) = block.file() {
                place.write(name, &block.text);
            }
        }
        for block in &blocks {
            let at = format!("{}:{}", chapter.path, block.line);
            if block.language == "console" {
                converse(&place, block, &at);
                count += 1;
            }
            for command in commands(block).filter(|_| block.language == "sh") {
                let command = if block.is("whole") { command } else { quick(command) };
                let ran = place.pliant(&command.iter().map(String::as_str).collect::<Vec<_>>());
                let fine = ran.code == Some(0);
                assert_eq!(
                    fine,
                    !block.is("fails"),
                    "{at}: pliant {}\n{}{}",
                    command.join(" "),
                    ran.out,
                    ran.err
                );
                if command.iter().any(|w| w == "--list") {
                    look_up(&command, &ran.out, &at);
                }
                count += 1;
            }
        }
    }
    assert!(count > 20, "the guide has commands, but only {count} were found");
}

#[test]
fn commands_of_the_reference_are_understood() {
    const NOT_UNDERSTOOD: i32 = 2;
    for page in REFERENCE {
        let place = Place::new();
        for block in page.blocks() {
            let at = format!("{}:{}", page.path, block.line);
            assert!(
                ["sh", "text"].contains(&block.language.as_str()),
                "{at}: say whether it is `sh` or `text`"
            );
            for command in commands(&block).filter(|_| block.language == "sh").map(quick) {
                let ran = place.pliant(&command.iter().map(String::as_str).collect::<Vec<_>>());
                assert_ne!(ran.code, Some(NOT_UNDERSTOOD), "{at}: pliant {}\n{}", command.join(" "), ran.err);
            }
        }
    }
}
