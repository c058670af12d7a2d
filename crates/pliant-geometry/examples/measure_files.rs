//! How fast a mesh of a million triangles is read and written in each format, and the memory it takes.
//!
//! `cargo run --release -p pliant-geometry --example measure_files [-- FORMAT]`; one format at a time tells its own
//! peak memory.

use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use glam::DVec3;
use pliant_geometry::{MeshAttributes, PolyMesh, Polygons, read_mesh, write_mesh};

/// A wavy sheet of 2 × `side`² triangles.
fn sheet(side: u32) -> PolyMesh {
    let n = side + 1;
    let height = |i: u32, j: u32| ((f64::from(i) * 0.05).sin() * (f64::from(j) * 0.03).cos()) as f32;
    let vertex = |k: u32| DVec3::new(f64::from(k % n), f64::from(height(k % n, k / n)), f64::from(k / n));
    let cell = |k: u32| {
        let a = k % side + k / side * n;
        [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]
    };
    let triangles: Vec<[u32; 3]> = (0..side * side).flat_map(cell).collect();
    let attributes =
        MeshAttributes { faces: Polygons::of_triangles(&triangles), ..MeshAttributes::default() };
    PolyMesh {
        name: "sheet".into(),
        positions: (0..n * n).map(vertex).collect(),
        attributes,
        animation: None,
    }
}

/// Most memory this process had at once, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

fn write(path: &Path, mesh: &PolyMesh) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, std::fs::File::create(path)?);
    write_mesh(path, std::slice::from_ref(mesh), &mut out)?;
    std::io::Write::flush(&mut out)
}

fn main() -> std::io::Result<()> {
    let asked = std::env::args().nth(1);
    let folder = std::env::temp_dir();
    if let Some(path) = asked.as_deref().filter(|a| a.contains('.')) {
        // Reading alone, so that the peak is the reader's.
        let before = peak();
        let start = Instant::now();
        let file = read_mesh(Path::new(path)).map_err(|e| std::io::Error::other(format!("{e:?}")))?;
        let seconds = start.elapsed().as_secs_f64();
        let size = |m: &PolyMesh| 24 * m.positions.len() + 4 * m.attributes.faces.corners().len();
        let mesh = file.meshes.iter().map(size).sum::<usize>() as f64 / 1e6 / 1.048_576;
        println!(
            "  {} in {seconds:.3} s, peak {:.0} MB over a mesh of {mesh:.0} MB",
            file.format,
            peak() - before
        );
        return Ok(());
    }
    let mesh = sheet(708);
    println!("{} triangles, {} vertices", mesh.attributes.faces.len(), mesh.positions.len());
    for format in ["ply", "stl", "obj", "off", "xyz"] {
        let path = folder.join(format!("pliant_measure.{format}"));
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            write(&path, &mesh)?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        let bytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
        println!("{format}: {bytes:.1} MB written in {best:.3} s, {:.0} MB/s", bytes / best);
        for _ in 0..3 {
            std::process::Command::new(std::env::current_exe()?).arg(&path).status()?;
        }
        std::fs::remove_file(&path)?;
    }
    // A hostile polygon: a comb and a spiral of a million corners.
    for (name, polygon) in [("comb", comb(333_333)), ("random", random(1_000_000))] {
        let mut faces = Polygons::default();
        faces.push(&(0..polygon.len() as u32).collect::<Vec<u32>>());
        let start = Instant::now();
        let cut = faces.corner_triangles(&polygon).len();
        println!(
            "{name} of {} corners: {cut} triangles in {:.2} s",
            polygon.len(),
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

fn comb(teeth: u32) -> Vec<DVec3> {
    let mut corners = vec![DVec3::new(0.0, -1.0, 0.0), DVec3::new(4.0 * f64::from(teeth), -1.0, 0.0)];
    for k in (0..teeth).rev().map(f64::from) {
        corners.extend(
            [[4.0 * k + 3.0, 1e6], [4.0 * k + 1.0, 1e6], [4.0 * k, 0.0]].map(|[x, y]| DVec3::new(x, y, 0.0)),
        );
    }
    corners
}

fn random(n: u32) -> Vec<DVec3> {
    let mut random = pliant_geometry::SplitMix64::new(1);
    (0..n).map(|_| DVec3::new(random.unit(), random.unit(), 0.0)).collect()
}
