//! Time and memory of looking over and mending a large mesh: `measure_inspect [RINGS] [soup]`.

use std::time::Instant;

use glam::DVec3;
use pliant_geometry::{MeshAttributes, PolyMesh, Polygons, RepairOptions, inspect, repair};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let n: u32 = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(500);
    let soup = arguments.next().is_some_and(|a| a == "soup");
    let mesh = torus(2 * n, n, soup);
    let bytes = 24 * mesh.positions.len() + 4 * mesh.attributes.faces.corners().len();
    println!("{} triangles, mesh {} MB, peak so far {} MB", mesh.attributes.faces.len(), bytes >> 20, peak());
    for threads in [1, 2] {
        let start = Instant::now();
        let report = inspect(&mesh, threads);
        println!("inspect on {threads} threads: {:.2} s, peak {} MB", start.elapsed().as_secs_f64(), peak());
        if threads == 2 {
            report.lines().iter().for_each(|line| println!("  {line}"));
        }
    }
    let start = Instant::now();
    let (mended, done) = repair(&mesh, &RepairOptions::default());
    let seconds = start.elapsed().as_secs_f64();
    println!("repair: {seconds:.2} s, peak {} MB, {} vertices left", peak(), mended.positions.len());
    done.iter().for_each(|d| println!("  {d}"));
}

/// A bumpy torus; as a soup every triangle has its own vertices.
fn torus(m: u32, n: u32, soup: bool) -> PolyMesh {
    let at = |i: u32, j: u32| {
        let (a, b) = (f64::from(i % m) / f64::from(m), f64::from(j % n) / f64::from(n));
        let ((s, c), (t, d)) = ((a * std::f64::consts::TAU).sin_cos(), (b * std::f64::consts::TAU).sin_cos());
        let r = 1.0 + 0.02 * (40.0 * s + 30.0 * t).sin();
        DVec3::new((3.0 + r * d) * c, r * t, (3.0 + r * d) * -s)
    };
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..m {
        for j in 0..n {
            if soup {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let first = positions.len() as u32;
                positions.extend([a, b, c, a, c, d]);
                triangles.extend([[first, first + 1, first + 2], [first + 3, first + 4, first + 5]]);
            } else {
                positions.push(at(i, j));
                let name = |i: u32, j: u32| i % m * n + j % n;
                let [a, b, c, d] = [name(i, j), name(i + 1, j), name(i + 1, j + 1), name(i, j + 1)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    let attributes =
        MeshAttributes { faces: Polygons::of_triangles(&triangles), ..MeshAttributes::default() };
    PolyMesh { positions, attributes, ..PolyMesh::default() }
}

/// Most memory used so far, in MB, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) >> 10
}
