//! Meshes made by hand.

use glam::DVec3;
use pliant_geometry::{MeshAttributes, PolyMesh, Polygons, TriMesh};

/// A mesh of polygons.
pub fn mesh<F: AsRef<[u32]>>(positions: &[[f64; 3]], list: &[F]) -> PolyMesh {
    let mut faces = Polygons::default();
    list.iter().for_each(|f| faces.push(f.as_ref()));
    let positions = positions.iter().map(|&p| DVec3::from_array(p)).collect();
    let mesh = PolyMesh {
        positions,
        attributes: MeshAttributes { faces, ..MeshAttributes::default() },
        ..PolyMesh::default()
    };
    mesh.check().expect("a sound mesh");
    mesh
}

/// The faces of a mesh as lists.
pub fn faces(mesh: &PolyMesh) -> Vec<Vec<u32>> {
    mesh.attributes.faces.iter().map(<[u32]>::to_vec).collect()
}

/// The same vertices with other faces.
pub fn with_faces(m: &PolyMesh, list: &[Vec<u32>]) -> PolyMesh {
    let positions: Vec<[f64; 3]> = m.positions.iter().map(|p| p.to_array()).collect();
    mesh(&positions, list)
}

/// Faces of a box whose corners are numbered by the bits x, y, z.
pub const BOX: [[u32; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// A box of quads.
pub fn cuboid(lo: [f64; 3], hi: [f64; 3]) -> PolyMesh {
    let corner = |k: usize| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { hi[axis] } else { lo[axis] });
    mesh(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner), &BOX)
}

pub fn cube() -> PolyMesh {
    cuboid([0.0; 3], [1.0; 3])
}

/// Triangles as faces.
pub fn of_triangles(m: &TriMesh) -> PolyMesh {
    let faces = Polygons::of_triangles(&m.triangles);
    PolyMesh {
        positions: m.positions.clone(),
        attributes: MeshAttributes { faces, ..MeshAttributes::default() },
        ..PolyMesh::default()
    }
}

/// Triangles instead of polygons.
pub fn cut(m: &PolyMesh) -> PolyMesh {
    of_triangles(&m.triangulated())
}

/// Meshes in one, nothing shared.
pub fn both(a: &PolyMesh, b: &PolyMesh) -> PolyMesh {
    let positions: Vec<[f64; 3]> = a.positions.iter().chain(&b.positions).map(|p| p.to_array()).collect();
    let shift = a.positions.len() as u32;
    let moved = faces(b).into_iter().map(|f| f.into_iter().map(|v| v + shift).collect());
    let list: Vec<Vec<u32>> = faces(a).into_iter().chain(moved).collect();
    mesh(&positions, &list)
}

/// A ball of radius r: `n` rings of `2 n` quads between two poles.
pub fn ball(r: f64, n: u32) -> PolyMesh {
    let mut positions = vec![[0.0, 0.0, r]];
    for i in 1..n {
        for j in 0..2 * n {
            let (a, b) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
            let ((s, c), (t, d)) =
                ((a * std::f64::consts::PI).sin_cos(), (b * std::f64::consts::PI).sin_cos());
            positions.push([r * s * d, r * s * t, r * c]);
        }
    }
    positions.push([0.0, 0.0, -r]);
    let last = positions.len() as u32 - 1;
    let at = |i: u32, j: u32| 1 + (i - 1) * 2 * n + j % (2 * n);
    let mut list: Vec<Vec<u32>> = Vec::new();
    for j in 0..2 * n {
        list.push(vec![0, at(1, j), at(1, j + 1)]);
        (1..n - 1).for_each(|i| list.push(vec![at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]));
        list.push(vec![last, at(n - 1, j + 1), at(n - 1, j)]);
    }
    mesh(&positions, &list)
}

/// A grid of m × n quads, joined at both ends: `twist` joins the second direction upside down (a Klein bottle's
/// way; the positions are a torus's). Open in the second direction for `ring` (a band, with `twist` Möbius's).
pub fn grid(m: u32, n: u32, ring: bool, twist: bool) -> PolyMesh {
    let rows = if ring { n + 1 } else { n };
    let mut positions = Vec::new();
    for i in 0..m {
        for j in 0..rows {
            let turn = std::f64::consts::TAU;
            let (a, b) = (turn * f64::from(i) / f64::from(m), turn * f64::from(j) / f64::from(rows));
            let (r, z) = if ring {
                let (s, c) = (a / 2.0).sin_cos();
                let t = f64::from(j) / f64::from(n) - 0.5;
                (2.0 + t * c, t * s)
            } else {
                (2.0 + b.cos(), b.sin())
            };
            positions.push([r * a.cos(), r * a.sin(), z]);
        }
    }
    let at = |i: u32, j: u32| {
        let back = match (i == m && twist, ring) {
            (false, _) => j,
            (true, true) => n - j,
            (true, false) => (2 * n - j) % n,
        };
        i % m * rows + if ring { back } else { back % rows }
    };
    let mut list = Vec::new();
    for i in 0..m {
        for j in 0..n {
            list.push([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    mesh(&positions, &list)
}
