//! Meshes on their way to bodies: winding numbers, tetrahedra, particles, and files of a million triangles.

use crate::timing::best_of;
use crate::{Measurement, Run};
use pliant::DVec3;
use pliant_geometry::shapes::{self, SolidShape, filled};
use pliant_geometry::{
    ClusterMethod, ClusterSize, Covering, FillDensity, FillOptions, FillPattern, MeshAttributes, PolyMesh,
    Polygons, RepairOptions, Skin, SkinBinding, SplitMix64, StuffingOptions, TriMesh, Winding, inspect,
    read_mesh, repair, stuff, write_mesh,
};
use std::f64::consts::TAU;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const POINTS: usize = 100_000;
/// About 100,000 tetrahedra of a bear one metre high.
const CELL: f64 = 0.0267;
const PARTICLES: usize = 20_000;

impl Run<'_> {
    /// The thread count asked for, or one and two.
    pub(crate) fn one_and_two(&self) -> Vec<usize> {
        if self.options.threads > 0 { vec![self.options.threads] } else { vec![1, 2] }
    }

    /// As many threads as the machine has.
    pub(crate) fn all_threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get())
    }

    fn seconds(&mut self, name: &'static str, value: f64, threads: usize, share: Option<f64>, note: String) {
        // Nothing here chooses its instructions at run time.
        let isa = "baseline";
        self.report(Measurement::new(name, (value, "s"), isa).on(threads).limited(share).noted(note));
    }
}

pub(crate) fn winding(run: &mut Run<'_>) -> Result<(), String> {
    let mesh = torus();
    let mut rng = SplitMix64::new(1);
    let mut place = || DVec3::new(1.4 * rng.unit() - 0.7, 0.6 * rng.unit() - 0.3, 1.4 * rng.unit() - 0.7);
    let points: Vec<DVec3> = (0..POINTS).map(|_| place()).collect();
    for threads in run.one_and_two() {
        let seconds = best_of(Duration::from_secs(2), || {
            black_box(Winding::new(&mesh).numbers(&points, threads));
        });
        let note = format!(
            "{} triangles, {POINTS} points, {:.0} ns each",
            mesh.triangles.len(),
            1e9 * seconds / POINTS as f64
        );
        run.seconds("geometry/winding", seconds, threads, None, note);
    }
    Ok(())
}

/// A ring of exactly 100,000 triangles.
fn torus() -> TriMesh {
    let (around, tube) = (250_u32, 200_u32);
    let mut mesh = TriMesh::default();
    for k in 0..around * tube {
        let (i, j) = (k / tube, k % tube);
        let (si, ci) = (TAU * f64::from(i) / f64::from(around)).sin_cos();
        let (sj, cj) = (TAU * f64::from(j) / f64::from(tube)).sin_cos();
        let r = 0.45 + 0.2 * cj;
        mesh.positions.push(DVec3::new(r * ci, 0.2 * sj, r * si));
        let at = |i: u32, j: u32| i % around * tube + j % tube;
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        mesh.triangles.extend([[a, d, c], [a, c, b]]);
    }
    mesh
}

fn bear() -> Result<TriMesh, String> {
    let shape = SolidShape::GummyBear { height: 1.0 }.build(0.04).map_err(|e| e.to_string())?;
    Ok(shape.surface)
}

pub(crate) fn stuffing(run: &mut Run<'_>) -> Result<(), String> {
    let mesh = bear()?;
    for threads in run.one_and_two() {
        let options = StuffingOptions { graded: false, threads };
        let mut count = Ok(0);
        let seconds = best_of(Duration::from_secs(2), || {
            count = stuff(&mesh, CELL, &options).map(|(tets, _)| tets.tetrahedra.len());
        });
        let count = count.map_err(|e| e.to_string())?;
        let note = format!("{count} tetrahedra, {:.1} µs each", 1e6 * seconds / count as f64);
        run.seconds("geometry/stuffing", seconds, threads, None, note);
    }
    Ok(())
}

pub(crate) fn blue_noise(run: &mut Run<'_>) -> Result<(), String> {
    let mesh = bear()?;
    let filling = FillOptions { pattern: FillPattern::BlueNoise, by: FillDensity::Count(PARTICLES), seed: 1 };
    let mut count = Ok(0);
    let seconds = best_of(Duration::from_secs(2), || {
        count = filled(mesh.clone(), &filling).map(|shape| shape.points.len());
    });
    let count = count.map_err(|e| e.to_string())?;
    let note = format!("{count} particles, {:.1} µs each", 1e6 * seconds / count as f64);
    run.seconds("geometry/fill/blue_noise", seconds, run.all_threads(), None, note);
    Ok(())
}

/// Looking over and mending a ring whose triangles share no vertices.
pub(crate) fn care(run: &mut Run<'_>) -> Result<(), String> {
    let ring = torus();
    let positions = ring.triangles.iter().flatten().map(|&i| ring.positions[i as usize]).collect();
    let triangles: Vec<[u32; 3]> =
        (0..ring.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let attributes =
        MeshAttributes { faces: Polygons::of_triangles(&triangles), ..MeshAttributes::default() };
    let soup = PolyMesh { positions, attributes, ..PolyMesh::default() };
    if run.wants("geometry/inspect") {
        for threads in run.one_and_two() {
            let seconds = best_of(Duration::from_secs(2), || {
                black_box(inspect(&soup, threads));
            });
            run.seconds("geometry/inspect", seconds, threads, None, format!("{} triangles", triangles.len()));
        }
    }
    if run.wants("geometry/repair") {
        let mut left = 0;
        let seconds = best_of(Duration::from_secs(2), || {
            left = repair(&soup, &RepairOptions::default()).0.positions.len();
        });
        let note = format!("{} vertices become {left}", soup.positions.len());
        run.seconds("geometry/repair", seconds, 1, None, note);
    }
    Ok(())
}

/// Ways to cover a cloud with clusters, by the names they are measured under.
pub(crate) const COVERINGS: [(&str, ClusterMethod); 3] = [
    ("geometry/clusters/random", ClusterMethod::Random),
    ("geometry/clusters/farthest", ClusterMethod::Farthest),
    ("geometry/clusters/k_means", ClusterMethod::KMeans),
];

pub(crate) fn clusters(run: &mut Run<'_>) -> Result<(), String> {
    let mut rng = SplitMix64::new(5);
    let points: Vec<DVec3> = (0..1_000_000).map(|_| DVec3::new(rng.unit(), rng.unit(), rng.unit())).collect();
    for (name, method) in COVERINGS.into_iter().filter(|c| run.wants(c.0)).collect::<Vec<_>>() {
        let what = Covering { smooth: true, ..Covering::new(method, ClusterSize::Radius(0.03)) };
        let start = Instant::now();
        let clusters = what.build(&points).map_err(|e| e.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        let note = format!("{} clusters, {} memberships", clusters.len(), clusters.members.len());
        run.seconds(name, seconds, 1, None, note);
    }
    Ok(())
}

/// What fine meshes are bound to, by the names they are measured under.
pub(crate) const SKINS: [(&str, SkinBinding); 3] = [
    ("geometry/skin/particles", SkinBinding::Particles),
    ("geometry/skin/tetrahedra", SkinBinding::Tetrahedra),
    ("geometry/skin/clusters", SkinBinding::Clusters),
];

pub(crate) fn skins(run: &mut Run<'_>) -> Result<(), String> {
    let say = |e: pliant_geometry::GeometryError| e.to_string();
    let mesh = SolidShape::GummyBear { height: 1.0 }.build(0.014).map_err(say)?.surface;
    let (shape, _) = shapes::tets_from_mesh(mesh.clone(), 0.052).map_err(say)?;
    let size = ClusterSize::Count(shape.points.len() / 30 + 1);
    let clusters = Covering { smooth: true, ..Covering::new(ClusterMethod::KMeans, size) };
    let clusters = clusters.build(&shape.points).map_err(say)?;
    let [x, y, z]: [Vec<f64>; 3] = [0, 1, 2].map(|k| shape.points.iter().map(|p| p[k]).collect());
    for (name, binding) in SKINS.into_iter().filter(|s| run.wants(s.0)).collect::<Vec<_>>() {
        let start = Instant::now();
        let skin = Skin::bind_to(binding, &shape, Some(&clusters), &mesh.positions).map_err(say)?;
        let bound = start.elapsed().as_secs_f64();
        let mut vertices = Vec::new();
        let seconds = best_of(Duration::from_millis(500), || skin.apply([&x, &y, &z], &mut vertices));
        let note =
            format!("{} vertices on {} particles; bound in {bound:.2} s", vertices.len(), shape.points.len());
        run.seconds(name, seconds, 1, None, note);
    }
    Ok(())
}

/// A file that goes away with its name.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // If it cannot be removed, the system's own cleaning does it.
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) fn files(run: &mut Run<'_>) -> Result<(), String> {
    let mesh = sheet(708);
    for (extension, read, write) in
        [("ply", "files/ply/read", "files/ply/write"), ("stl", "files/stl/read", "files/stl/write")]
    {
        if !run.wants(read) && !run.wants(write) {
            continue;
        }
        let name = format!("pliant_bench_{}.{extension}", std::process::id());
        let file = Temporary(std::env::temp_dir().join(name));
        let mut bytes = Vec::new();
        // Into memory, so that the disk does not count.
        let mut to_memory = || {
            bytes.clear();
            write_mesh(Path::new(&file.0), std::slice::from_ref(&mesh), &mut bytes).map(|_| ())
        };
        let mut done = to_memory();
        if run.wants(write) {
            let seconds = best_of(Duration::from_secs(1), || done = to_memory());
            report(run, write, seconds, (bytes.len(), &mesh));
        }
        done.map_err(|e| e.to_string())?;
        if run.wants(read) {
            std::fs::write(&file.0, &bytes).map_err(|e| format!("{}: {e}", file.0.display()))?;
            let mut done = Ok(0);
            let seconds = best_of(Duration::from_secs(1), || {
                done = read_mesh(&file.0).map(|f| f.meshes.len());
            });
            done.map_err(|e| e.first().map_or_else(String::new, ToString::to_string))?;
            report(run, read, seconds, (bytes.len(), &mesh));
        }
    }
    Ok(())
}

/// Bytes of the file a second, over what memory can move.
fn report(run: &mut Run<'_>, name: &'static str, seconds: f64, (bytes, mesh): (usize, &PolyMesh)) {
    let speed = bytes as f64 / seconds;
    let note = format!(
        "{} triangles, {:.1} MB, {:.0} MB/s",
        mesh.attributes.faces.len(),
        bytes as f64 / 1e6,
        speed / 1e6
    );
    run.seconds(name, seconds, 1, Some(speed / run.limits.bandwidth), note);
}

/// A wavy sheet of 2 × `side`² triangles.
fn sheet(side: u32) -> PolyMesh {
    let n = side + 1;
    let height = |i: u32, j: u32| (f64::from(i) * 0.05).sin() * (f64::from(j) * 0.03).cos();
    let vertex = |k: u32| {
        // As files of this size have it: single precision.
        let place = [f64::from(k % n), height(k % n, k / n), f64::from(k / n)];
        DVec3::from(place.map(|v| f64::from(v as f32)))
    };
    let cell = |k: u32| {
        let a = k % side + k / side * n;
        [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]
    };
    let triangles: Vec<[u32; 3]> = (0..side * side).flat_map(cell).collect();
    let attributes =
        MeshAttributes { faces: Polygons::of_triangles(&triangles), ..MeshAttributes::default() };
    PolyMesh { positions: (0..n * n).map(vertex).collect(), attributes, ..PolyMesh::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_are_as_large_as_their_names_say() {
        let ring = torus();
        assert_eq!(ring.triangles.len(), 100_000);
        let inside = Winding::new(&ring).number(DVec3::new(0.45, 0.0, 0.0));
        assert!((inside - 1.0).abs() < 1e-3, "{inside}");
        assert!(sheet(708).attributes.faces.len() > 1_000_000);
    }
}
