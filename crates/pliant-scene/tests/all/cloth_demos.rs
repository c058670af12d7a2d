//! What the demos of cloth show: sheets that lie on each other and on themselves, and never cross.

use pliant_scene::{BuiltScene, DEMOS, Scene};
use pliant_testing::Crossings;

fn built(name: &str) -> BuiltScene {
    let demo = DEMOS.iter().find(|d| d.name == name).unwrap();
    let scene = Scene::parse(demo.text, name.as_ref()).unwrap_or_else(|p| panic!("{name}: {}", p[0]));
    scene.build(2).unwrap_or_else(|p| panic!("{name}: {}", p[0]))
}

/// Runs a demo and counts crossings of all surfaces of elements in every frame.
fn run(name: &str, frames: usize) -> BuiltScene {
    let mut built = built(name);
    let mut triangles = Vec::new();
    let mut first = 0;
    for body in built.simulation.model().bodies() {
        triangles.extend(body.parts.topology().faces.iter().map(|t| t.map(|i| i + first)));
        first += body.parts.particle_count() as u32;
    }
    let crossings = Crossings::of(triangles);
    let bodies = built.simulation.model().bodies().len();
    for frame in 1..=frames {
        built.simulation.step().unwrap();
        let s = &built.simulation;
        let places: Vec<[f64; 3]> =
            (0..bodies).flat_map(|b| s.positions(b).map(|p| p.to_array()).collect::<Vec<_>>()).collect();
        assert_eq!(crossings.count(&places), 0, "{name}, frame {frame}");
    }
    built
}

#[test]
fn cloths_lie_on_a_ball_and_on_each_other() {
    let built = run("falling_cloths", 100);
    let s = &built.simulation;
    let place = |name: &str| built.bodies.iter().position(|b| b.name == name).unwrap();
    let top = |name: &str| s.positions(place(name)).map(|p| p.y).fold(0.0, f64::max);
    let (ball, first, second) = (top("ball"), top("first"), top("second"));
    println!("ball {ball:.4}, on it {first:.4}, on that {second:.4}");
    assert!(ball > 0.2 && first > ball && second > first && second < ball + 0.03);
    // Folds stay: it lies in a heap lower than it stood, higher than it is thick.
    let heap = top("upright");
    assert!(heap > 0.01 && heap < 0.3, "{heap}");
}
