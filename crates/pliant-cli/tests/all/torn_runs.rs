//! Runs in which bodies tear: what the log says of them, that they resume to the same bytes, and every format.

use crate::common::Place;
use pliant_cache::LogReader;

/// A strip of quads, 1.2 m by 0.4 m, with texture coordinates that tell where a corner is.
fn strip() -> String {
    let (nx, nz) = (12, 4);
    let mut text = String::new();
    for k in 0..=nz {
        for i in 0..=nx {
            let (x, z) = (0.1 * i as f64 - 0.6, 0.1 * k as f64 - 0.2);
            text += &format!("v {x} 0 {z}\nvt {} {}\n", x + 0.6, z + 0.2);
        }
    }
    for k in 0..nz {
        for i in 0..nx {
            let at = |i: usize, k: usize| k * (nx + 1) + i + 1;
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
            text += &format!("f {a}/{a} {b}/{b} {c}/{c} {d}/{d}\n");
        }
    }
    text
}

const SCENE: &str = r#"
frames = 80
[output]
checkpoint_every = 11

[[body]]
name = "strip"
shape = { kind = "vertices", file = "strip.obj" }
elements = "triangles"
material = "cotton"
young = 1e5
iterations = 10
tear_strain = 0.2
[[body.pin]]
box = { min = [-0.61, -1, -1], max = [-0.59, 1, 1] }
velocity = [-0.3, 0, 0]
[[body.pin]]
box = { min = [0.59, -1, -1], max = [0.61, 1, 1] }
velocity = [0.3, 0, 0]

[[body]]
name = "bar"
shape = { kind = "box", size = [0.4, 0.1, 0.1] }
spacing = 0.05
elements = "tetrahedra"
material = "jelly"
tear_strain = 0.3
position = [0, 1, 0]
[[body.pin]]
box = { min = [-0.3, 0, -1], max = [-0.19, 2, 1] }
velocity = [-0.2, 0, 0]
[[body.pin]]
box = { min = [0.19, 0, -1], max = [0.3, 2, 1] }
velocity = [0.2, 0, 0]
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("strip.obj", &strip());
    place.write("t.toml", SCENE);
    place.fine(&["run", "t.toml", "-q", "--log", "whole.plog"]);
    place
}

#[test]
fn the_log_follows_meshes_and_attributes_through_tears() {
    let place = place();
    let reader = LogReader::open(place.path("whole.plog")).unwrap();
    let first: f64 = reader.bodies_at(0)[0].simulated.masses.iter().map(|m| f64::from(*m)).sum();
    let mut versions = [0, 0];
    for i in 0..=80 {
        reader.frame(i).unwrap();
        let bodies = reader.bodies_at(i);
        for (k, body) in bodies.iter().enumerate() {
            versions[k] = body.version;
            let vertices = body.mesh.positions.len();
            assert_eq!(body.attributes.check(vertices), Ok(()), "frame {i}");
            assert_eq!(body.skin.check(vertices, body.particles.len()), Ok(()));
            assert!(body.mesh.triangles.iter().flatten().all(|v| (*v as usize) < vertices));
        }
        // The strip is flat cloth: wherever it tore, every corner has the coordinates of its place at rest.
        let strip = &bodies[0];
        let corners = strip.attributes.faces.corners();
        assert_eq!(corners.len(), strip.attributes.uvs.corners.len());
        for (v, uv) in corners.iter().zip(&strip.attributes.uvs.corners) {
            let (at, [u, w]) = (strip.mesh.positions[*v as usize], strip.attributes.uvs.values[*uv as usize]);
            let off = (u - (at.x + 0.6) as f32).abs().max((w - (at.z + 0.2) as f32).abs());
            assert!(off < 1e-5, "frame {i}: {u} {w} at {at}");
        }
        let mass: f64 = strip.simulated.masses.iter().map(|m| f64::from(*m)).sum();
        assert!((mass / first - 1.0).abs() < 1e-5);
    }
    assert!(versions.iter().all(|v| *v >= 1), "both tore: {versions:?}");
    let end = reader.bodies_at(80);
    assert!(end[0].particles.len() > reader.bodies_at(0)[0].particles.len());
    assert!(end[1].mesh.triangles.len() > reader.bodies_at(0)[1].mesh.triangles.len(), "laid open");
}

#[test]
fn a_torn_run_resumes_to_the_same_bytes() {
    let place = place();
    let whole = place.read("whole.plog");
    for stops in [["5", "30"], ["41", "42"], ["47", "79"]] {
        for frames in stops {
            place.fine(&["run", "t.toml", "-q", "--log", "parts.plog", "--frames", frames, "--resume"]);
        }
        place.fine(&["run", "t.toml", "-q", "--log", "parts.plog", "--resume"]);
        assert!(place.read("parts.plog") == whole, "{stops:?}");
        std::fs::remove_file(place.path("parts.plog")).unwrap();
    }
    for threads in ["1", "7"] {
        let words = ["run", "t.toml", "-q", "--force", "--log", "other.plog", "--threads", threads];
        place.fine(&words);
        assert!(place.read("other.plog") == whole, "{threads} threads");
    }
}

#[test]
fn every_format_takes_a_torn_run() {
    let place = place();
    let formats = ["usda", "usdz", "abc", "glb", "pc2", "mdd", "pvd", "obj", "ply", "png", "gif"];
    let files: Vec<String> = formats.iter().map(|f| format!("out.{f}")).collect();
    let mut words = vec!["export", "whole.plog", "-q", "--step", "8"];
    files.iter().for_each(|f| words.extend(["-o", f.as_str()]));
    place.fine(&words);
    let names = place.names();
    for f in formats {
        let there = names.iter().any(|n| n.starts_with("out") && n.ends_with(f));
        assert!(there, "{f} is not among {names:?}");
    }
}
