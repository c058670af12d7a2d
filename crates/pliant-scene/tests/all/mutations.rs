//! Whatever a file holds, reading it gives a scene or explains; it never panics.

use pliant_scene::{DEMOS, Scene};
use proptest::prelude::*;

const ALL: &str = r##"
fps = 24
wind = [1, 0, 0]
substeps = 2
gravity = [0, -1.5, 0.0]
[output]
files = ["a.gif", "ü.usda"]
[picture]
color_by = "strain"
[materials.jelly]
frequency = 6.0
strain_limit = inf
[[plane]]
normal = [0.1, 1, 0]
point = [0, -1, 0]
[[body]]
name = "ball"
shape = { kind = "ball", radius = 0.2 }
material = "jelly"
rotation = { axis = [1, 1, 0], angle = -30 }
color = "#12aBcD"
clusters = 3
[[body.pin]]
box = { min = [-1, 0, -1], max = [1, 1, 1] }
sway = [1, 0, 0]
frequency = 2
[[body]]
shape = { kind = "sheet", size = [1, 2], cells = [3, 4] }
pin = [{ corners = ["left_back"] }]
[[field]]
kind = "vortex"
axis = [0, 1, 0]
[[body]]
shape = { kind = "box", cells = [2, 2, 2], tet_style = "six" }
material = "rubber"
young = 1e5
[[body.constraint]]
kind = "strain_limit"
min = 0.9
[[body]]
shape = { kind = "thread", points = [[0, 0, 0], [1, 0, 0]], segments = 4 }
"##;

/// Pieces that change the meaning of what stands around them.
const PIECES: &[&str] = &[
    "nan",
    "-inf",
    "1e999",
    "-1",
    "0",
    "[]",
    "{}",
    "\"",
    "'",
    "[[",
    "]]",
    "=",
    "\n",
    "#",
    ",",
    "true",
    "1979-05-27",
    "9223372036854775808",
    "0xFFFFFFFFFFFFFFFFFFFF",
    "é",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "kind",
    "body",
    ".",
    "\"\"\"",
    "\r",
];

fn check(text: &str) {
    if let Err(problems) = Scene::parse(text, "s.toml".as_ref()) {
        assert!(!problems.is_empty());
        for problem in problems {
            assert!(!problem.message.is_empty() && !problem.to_string().is_empty());
            if let Some((line, column)) = problem.place {
                assert!(line >= 1 && column >= 1 && line <= text.lines().count() + 1);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_mutated_scene_never_panics(
        demo in 0..DEMOS.len() + 8,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..6, 0..PIECES.len()), 1..5),
    ) {
        let mut text: Vec<char> = DEMOS.get(demo).map_or(ALL, |d| d.text).chars().collect();
        for (at, cut, piece) in edits {
            if text.is_empty() {
                break;
            }
            let start = at.index(text.len());
            let end = (start + cut).min(text.len());
            text.splice(start..end, PIECES[piece].chars());
        }
        check(&text.into_iter().collect::<String>());
    }

    #[test]
    fn any_text_never_panics(text in "\\PC{0,80}") {
        check(&text);
    }

    #[test]
    fn a_scene_cut_off_never_panics(at in 0..ALL.len()) {
        check(&ALL[..ALL.floor_char_boundary(at)]);
    }
}

#[test]
fn the_unmutated_scene_is_right() {
    let built = Scene::parse(ALL, "s.toml".as_ref()).unwrap_or_else(|p| panic!("{}", p[0])).build(1);
    built.unwrap_or_else(|p| panic!("{}", p[0]));
}

#[test]
fn deep_nesting_is_refused_quietly() {
    check(&format!("a = {}", "[".repeat(100_000)));
    check(&format!("a = {}", "{a=".repeat(100_000)));
    check(&format!("[{}a]\n", "a.".repeat(100_000)));
}
