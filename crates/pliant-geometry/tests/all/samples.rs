//! What people bring that is no clean body: small files with a fault each, and a garment.

use glam::DVec3;
use pliant_geometry::TriMesh;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// The path of a file in `tests/samples`.
pub fn sample(name: &str) -> PathBuf {
    folder().join(name)
}

/// All files in `tests/samples`, in the order of their names.
pub fn sample_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folder().read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 12, "{files:?}");
    files
}

/// A shirt: two sheets in the shape of a T, sewn together but at the neck, the cuffs and the hem. `n` is the number of
/// cells across a sleeve.
pub fn shirt(n: i32) -> TriMesh {
    // In sleeves: 5 wide with 1 long arms at the top, 3 high.
    let cloth = |i: i32, j: i32| {
        let (i, j) = (i.div_euclid(n), j.div_euclid(n));
        (0..5).contains(&i) && (0..4).contains(&j) && (j == 3 || (1..4).contains(&i))
    };
    let (width, height) = (5 * n, 4 * n);
    // A vertex on the rim is sewn to the one behind it, unless the rim is an opening there.
    let sewn = |i: i32, j: i32| {
        let around = [(i - 1, j - 1), (i, j - 1), (i - 1, j), (i, j)];
        let open = j == 0
            || i == 0 && j > 3 * n
            || i == width && j > 3 * n
            || j == height && (2 * n..=3 * n).contains(&i);
        around.iter().any(|&(a, b)| !cloth(a, b)) && !open
    };
    let mut mesh = TriMesh::default();
    let mut vertices = BTreeMap::new();
    for side in [1, -1] {
        let mut vertex = |i: i32, j: i32| {
            *vertices.entry((i, j, if sewn(i, j) { 0 } else { side })).or_insert_with(|| {
                let bulge = if sewn(i, j) { 0.0 } else { 0.12 * f64::from(side) };
                let at = DVec3::new(f64::from(i), f64::from(j), 0.0) / (5 * n) as f64;
                mesh.positions.push(at + DVec3::Z * bulge);
                mesh.positions.len() as u32 - 1
            })
        };
        let mut triangles = Vec::new();
        for (i, j) in (0..width).flat_map(|i| (0..height).map(move |j| (i, j))).filter(|&(i, j)| cloth(i, j))
        {
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            triangles.extend(if side > 0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
        }
        mesh.triangles.append(&mut triangles);
    }
    mesh
}
