//! Every TOML block is a scene, or part of one that is said to be: `body` keys of a body, `world` keys beside bodies. Each is built
//! and runs for some frames; a `broken` one is refused.

use pliant_guide::{Block, CHAPTERS, Chapter};
use pliant_scene::Scene;
use std::path::Path;

const FRAMES: u32 = 5;

/// The block as a whole scene.
fn whole(block: &Block) -> String {
    let body = "[[body]]\nname = \"bear\"\nposition = [0, 0.5, 0]\n";
    let has_shape = block.text.lines().any(|l| l.starts_with("shape"));
    let shape =
        if has_shape { "" } else { "shape = { kind = \"gummy_bear\", height = 0.3 }\nparticles = 300\n" };
    match () {
        () if block.is("body") => format!("[[plane]]\n{body}{shape}{}", block.text),
        () if block.is("world") => format!("{}\n{body}{shape}", block.text),
        () => block.text.clone(),
    }
}

fn run(chapter: &Chapter, block: &Block) -> Result<(), String> {
    let place = format!("{}:{}", chapter.path, block.line);
    let said = |problems: Vec<pliant_scene::Diagnostic>| {
        problems.iter().map(|p| format!("{place}: {p}")).collect::<Vec<_>>().join("\n")
    };
    let scene = Scene::parse(&whole(block), Path::new("guide.toml")).map_err(said)?;
    let mut built = scene.build(2).map_err(said)?;
    for frame in 0..built.settings.frames.min(FRAMES) {
        built.simulation.step_by(&built.events).map_err(|e| format!("{place}, frame {frame}: {e}"))?;
    }
    let strain = built.simulation.statistics().max_strain;
    if strain.is_finite() { Ok(()) } else { Err(format!("{place}: a strain of {strain}")) }
}

#[test]
fn scenes_run() {
    let mut count = 0;
    for chapter in CHAPTERS {
        for block in chapter.blocks().iter().filter(|b| b.language == "toml") {
            let result = run(chapter, block);
            if block.is("broken") {
                assert!(result.is_err(), "{}:{} is said to be broken and runs", chapter.path, block.line);
            } else if let Err(problem) = result {
                panic!("{problem}");
            }
            count += 1;
        }
    }
    assert!(count > 20, "the guide has scenes, but only {count} were found");
}

#[test]
fn blocks_say_what_they_are() {
    for chapter in CHAPTERS {
        for block in chapter.blocks() {
            let place = format!("{}:{}", chapter.path, block.line);
            let known = ["rust", "toml", "sh", "console", "text"].contains(&block.language.as_str());
            assert!(known, "{place}: a block of {:?} is not run by any test", block.language);
            let untested = ["ignore", "no_run", "compile_fail", "should_panic"];
            assert!(!block.words.iter().any(|w| untested.contains(&w.as_str())), "{place}: is not run");
        }
    }
}
