//! Closed surfaces of revolution about the y axis.

use crate::TriMesh;
use crate::circle::turn;
use glam::DVec3;

/// Turns a profile of (radius, height) points, given from bottom to top, about the y axis. The first and last
/// point are the poles and must have radius zero.
pub(super) fn revolve(profile: &[(f64, f64)], segments: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    let [(_, bottom), rings @ .., (_, top)] = profile else {
        return mesh;
    };
    mesh.positions.push(DVec3::new(0.0, *bottom, 0.0));
    for &(radius, y) in rings {
        for s in 0..segments {
            let (c, sin) = turn(s, segments);
            mesh.positions.push(DVec3::new(radius * c, y, radius * sin));
        }
    }
    let last = mesh.positions.len() as u32;
    mesh.positions.push(DVec3::new(0.0, *top, 0.0));
    let at = |ring: usize, s: usize| (1 + ring * segments + s % segments) as u32;
    for s in 0..segments {
        mesh.triangles.push([0, at(0, s), at(0, s + 1)]);
        for r in 1..rings.len() {
            let [a, b, c, d] = [at(r - 1, s), at(r - 1, s + 1), at(r, s), at(r, s + 1)];
            mesh.triangles.extend([[a, c, d], [a, d, b]]);
        }
        mesh.triangles.push([last, at(rings.len() - 1, s + 1), at(rings.len() - 1, s)]);
    }
    mesh
}

/// Segments round a circle for triangles of about `cell`, a multiple of four for symmetry.
pub(super) fn segments(radius: f64, cell: f64) -> usize {
    ((std::f64::consts::TAU * radius / cell / 4.0).ceil() as usize).clamp(3, 400) * 4
}

/// Number of equal steps of about `cell` along `length`, at least one.
pub(super) fn steps(length: f64, cell: f64) -> usize {
    ((length / cell).round() as usize).clamp(1, 2000)
}
