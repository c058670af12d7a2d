//! How long winding numbers, filling and cutting into tetrahedra take on this machine.

use std::path::Path;
use std::time::Instant;

use glam::DVec3;
use pliant_geometry::shapes::filled;
use pliant_geometry::{
    FillDensity, FillOptions, FillPattern, SplitMix64, StuffingOptions, TriMesh, Winding, read_obj, stuff,
};

/// A bumpy ball of at least so many triangles.
fn bumpy_ball(triangles: usize) -> TriMesh {
    let rows = ((triangles / 4) as f64).sqrt().ceil() as u32 + 1;
    let columns = 2 * rows;
    let mut mesh = TriMesh::default();
    for row in 0..=rows {
        for column in 0..columns {
            let (theta, phi) = (
                std::f64::consts::PI * f64::from(row) / f64::from(rows),
                std::f64::consts::TAU * f64::from(column) / f64::from(columns),
            );
            let direction = DVec3::new(theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin());
            let radius = 1.0 + 0.1 * (5.0 * direction).map(f64::sin).element_product();
            mesh.positions.push(direction * radius);
            if row < rows {
                let (next, a) = ((column + 1) % columns, row * columns);
                let b = a + columns;
                mesh.triangles.push([a + column, a + next, b + column]);
                mesh.triangles.push([a + next, b + next, b + column]);
            }
        }
    }
    mesh
}

/// The least of a few runs in milliseconds, and the last result.
fn time<T>(runs: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..runs {
        let start = Instant::now();
        result = Some(work());
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    (best, result.expect("at least one run"))
}

fn main() {
    let mesh = bumpy_ball(100_000);
    let (build, winding) = time(3, || Winding::new(&mesh));
    println!("{} triangles: tree {build:.0} ms", mesh.triangles.len());
    let mut rng = SplitMix64::new(1);
    let points: Vec<DVec3> =
        (0..100_000).map(|_| (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5) * 2.4).collect();
    for threads in [1, 2] {
        let (took, numbers) = time(3, || winding.numbers(&points, threads));
        let inside = numbers.iter().filter(|w| w.abs() > 0.5).count();
        println!("winding of {} points on {threads} threads: {took:.0} ms ({inside} inside)", points.len());
        let off = numbers.iter().map(|w| (w.abs() - w.abs().round()).abs()).fold(0.0, f64::max);
        println!("  largest distance from a whole number {off:.1e}");
    }
    let near: Vec<DVec3> = points.iter().map(|p| p.normalize() * 1.02).collect();
    println!("near the surface, 1 thread: {:.0} ms", time(3, || winding.numbers(&near, 1)).0);
    for pattern in [FillPattern::Lattice, FillPattern::BlueNoise] {
        let filling = FillOptions { pattern, by: FillDensity::Count(20_000), seed: 1 };
        // A surface of few vertices, so that what is timed is the filling and not the binding of its skin.
        let coarse = bumpy_ball(5_000);
        match time(3, || filled(coarse.clone(), &filling)) {
            (took, Ok(shape)) => println!("{pattern:?} of {} particles: {took:.0} ms", shape.points.len()),
            (_, Err(error)) => eprintln!("{error}"),
        }
    }
    tetrahedra("bumpy ball", &mesh, 0.08);
    // A mesh of one's own may be named.
    if let Some(path) = std::env::args().nth(1) {
        match read_obj(Path::new(&path)) {
            Ok(obj) => tetrahedra(&path, &obj.mesh, 0.0448),
            Err(errors) => errors.iter().for_each(|error| eprintln!("{error}")),
        }
    }
}

fn tetrahedra(name: &str, mesh: &TriMesh, cell: f64) {
    for (threads, graded) in [(1, false), (2, false), (2, true)] {
        let options = StuffingOptions { graded, threads };
        match time(3, || stuff(mesh, cell, &options)) {
            (took, Ok((_, report))) => {
                println!("{name}, cell {cell}, {options:?}: {took:.0} ms");
                println!("  {report:?}, volume error {:+.2} %", 100.0 * report.volume_error());
            }
            (_, Err(error)) => eprintln!("{name}: {error}"),
        }
    }
}
