//! Surfaces the tests of constraints share.

use crate::constraints::conformance::Stream;
use crate::points::Points;
use glam::DVec3;

/// A number in [−1, 1).
pub(super) fn random(rng: &mut Stream) -> f64 {
    2.0 * rng.unit() - 1.0
}

/// A sheet in the plane z = 0 over [0, width] × [0, depth], normals up; alternating diagonals. `warp` moves
/// the vertices, given their indices and places.
pub(super) fn sheet(
    [nx, ny]: [u32; 2],
    [width, depth]: [f64; 2],
    mut warp: impl FnMut(bool, DVec3) -> DVec3,
) -> (Vec<[u32; 3]>, Points) {
    let at = |i: u32, j: u32| j * (nx + 1) + i;
    let mut points = Points::default();
    for j in 0..=ny {
        for i in 0..=nx {
            let p =
                DVec3::new(width * f64::from(i) / f64::from(nx), depth * f64::from(j) / f64::from(ny), 0.0);
            points.push(warp(i > 0 && i < nx && j > 0 && j < ny, p));
        }
    }
    let mut triangles = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if (i + j) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    (triangles, points)
}

/// Rolls a sheet about an axis along y, without stretching it.
pub(super) fn roll(sheet: &Points, radius: f64) -> Points {
    sheet
        .iter()
        .map(|p| DVec3::new(radius * (p.x / radius).sin(), p.y, radius * (p.x / radius).cos() - radius))
        .collect()
}

/// A sphere of radius 1 from an octahedron, normals outwards.
pub(super) fn sphere(level: u32) -> (Vec<[u32; 3]>, Points) {
    let mut points: Vec<DVec3> = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z].to_vec();
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..level {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                points.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
    }
    (triangles, points.into_iter().collect())
}

/// Energy of a batch without memory at a shape.
pub(super) fn energy(batch: &impl super::ConstraintBatch, x: &Points) -> f64 {
    let mut shared = vec![0.0; batch.shared_len()];
    batch.begin_iteration(x, &mut shared);
    batch.energy(super::View { x, state: &[], shared: &shared, targets: &[] })
}
