//! A closed mesh from a signed distance: dual contouring with one vertex per sheet of surface in a cell.
//!
//! Plain surface nets put one vertex in a cell even where two sheets pass through it, and weld them.
//! Keeping the sheets apart (Nielson's dual marching cubes) makes the mesh manifold.

use crate::mesh::TriMesh;
use crate::sdf;
use glam::DVec3;

/// Corners of a cell are numbered by bits: 1 for +x, 2 for +y, 4 for +z. Edges are `4 * axis` plus the bits
/// of the two other axes in cyclic order.
const FACES: [[usize; 4]; 6] =
    [[0, 2, 6, 4], [1, 3, 7, 5], [0, 1, 5, 4], [2, 3, 7, 6], [0, 1, 3, 2], [4, 5, 7, 6]];

fn edge_between(a: usize, b: usize) -> usize {
    let axis = (a ^ b).trailing_zeros() as usize;
    let low = a & b;
    4 * axis + (low >> ((axis + 1) % 3) & 1) + 2 * (low >> ((axis + 2) % 3) & 1)
}

fn edge_corners(edge: usize) -> [usize; 2] {
    let axis = edge / 4;
    let low = (edge & 1) << ((axis + 1) % 3) | (edge >> 1 & 1) << ((axis + 2) % 3);
    [low, low | 1 << axis]
}

/// The zero level of `distance` within the box, which must hold all of it, as a closed mesh of cells of
/// about `cell`, oriented outwards, its vertices evened out and then set onto the surface.
pub(crate) fn contour(distance: &impl Fn(DVec3) -> f64, lo: DVec3, hi: DVec3, cell: f64) -> TriMesh {
    // Two cells of air all round, so that every surface edge has its four cells.
    let size = ((hi - lo) / cell).ceil() + 4.0;
    let dims = [size.x as usize, size.y as usize, size.z as usize];
    let origin = (lo + hi) * 0.5 - size * (0.5 * cell);
    let nodes = dims.map(|n| n + 1);
    let place = |i: usize, j: usize, k: usize| origin + DVec3::new(i as f64, j as f64, k as f64) * cell;
    let mut values = Vec::with_capacity(nodes.iter().product());
    for k in 0..nodes[2] {
        for j in 0..nodes[1] {
            values.extend((0..nodes[0]).map(|i| distance(place(i, j, k))));
        }
    }
    let node = |at: [usize; 3]| (at[2] * nodes[1] + at[1]) * nodes[0] + at[0];
    let mut mesh = TriMesh::default();
    // For each cell the surface passes through, the vertex that serves each of its twelve edges.
    let mut active: Vec<[u32; 12]> = Vec::new();
    let mut active_of = vec![u32::MAX; values.len()];
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in 0..dims[0] {
                let corner: [f64; 8] =
                    std::array::from_fn(|c| values[node([i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)])]);
                let inside = corner.map(|v| v < 0.0);
                if inside.iter().all(|&s| s == inside[0]) {
                    continue;
                }
                active_of[node([i, j, k])] = active.len() as u32;
                active.push(cell_vertices(&corner, place(i, j, k), cell, &mut mesh.positions));
            }
        }
    }
    for k in 1..dims[2] {
        for j in 1..dims[1] {
            for i in 1..dims[0] {
                for axis in 0..3 {
                    let start = [i, j, k];
                    let mut end = start;
                    end[axis] += 1;
                    let inside = [values[node(start)] < 0.0, values[node(end)] < 0.0];
                    if inside[0] == inside[1] {
                        continue;
                    }
                    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
                    let mut quad = [(1, 1), (0, 1), (0, 0), (1, 0)].map(|(back_b, back_c)| {
                        let mut at = start;
                        at[b] -= back_b;
                        at[c] -= back_c;
                        active[active_of[node(at)] as usize][4 * axis + back_b + 2 * back_c]
                    });
                    if inside[1] {
                        quad.reverse();
                    }
                    mesh.triangles.extend(split(quad, &mesh.positions));
                }
            }
        }
    }
    even_out(distance, &mut mesh, cell);
    mesh
}

/// One vertex per sheet in the cell, at the mean of where the sheet crosses the cell's edges.
fn cell_vertices(corner: &[f64; 8], at: DVec3, cell: f64, positions: &mut Vec<DVec3>) -> [u32; 12] {
    let crosses = |e: usize| {
        let [a, b] = edge_corners(e);
        (corner[a] < 0.0) != (corner[b] < 0.0)
    };
    // Crossed edges joined across a face belong to one sheet. Where a face is crossed four times the inside
    // corners are kept apart, and the cell behind that face decides the same way.
    let mut sheet: [usize; 12] = std::array::from_fn(|e| e);
    let mut join = |a: usize, b: usize| {
        let (from, to) = (sheet[a].max(sheet[b]), sheet[a].min(sheet[b]));
        sheet.iter_mut().filter(|s| **s == from).for_each(|s| *s = to);
    };
    for face in FACES {
        let around: [usize; 4] = std::array::from_fn(|i| edge_between(face[i], face[(i + 1) % 4]));
        let crossed: Vec<usize> = around.into_iter().filter(|&e| crosses(e)).collect();
        match crossed[..] {
            [a, b] => join(a, b),
            [_, _, _, _] => {
                for i in 0..4 {
                    if corner[face[i]] < 0.0 {
                        join(around[(i + 3) % 4], around[i]);
                    }
                }
            }
            _ => {}
        }
    }
    let mut vertex = [u32::MAX; 12];
    for first in 0..12 {
        if !crosses(first) || sheet[first] != first {
            continue;
        }
        let mut sum = DVec3::ZERO;
        let mut count = 0.0;
        for e in (first..12).filter(|&e| sheet[e] == first && crosses(e)) {
            let [a, b] = edge_corners(e);
            let [pa, pb] = [a, b].map(|c| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64));
            sum += pa.lerp(pb, corner[a] / (corner[a] - corner[b]));
            count += 1.0;
            vertex[e] = positions.len() as u32;
        }
        positions.push(at + sum / count * cell);
    }
    vertex
}

/// Cuts a quad along its shorter diagonal.
fn split([a, b, c, d]: [u32; 4], positions: &[DVec3]) -> [[u32; 3]; 2] {
    let gap = |i: u32, j: u32| positions[i as usize].distance_squared(positions[j as usize]);
    if gap(a, c) <= gap(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

/// Moves vertices toward their neighbours' mean and back onto the surface, for triangles of even size.
fn even_out(distance: &impl Fn(DVec3) -> f64, mesh: &mut TriMesh, cell: f64) {
    let edges = mesh.edges();
    for _ in 0..3 {
        let mut sums = vec![(DVec3::ZERO, 0.0); mesh.positions.len()];
        for &[a, b] in &edges {
            for (i, j) in [(a, b), (b, a)] {
                sums[i as usize].0 += mesh.positions[j as usize];
                sums[i as usize].1 += 1.0;
            }
        }
        for (p, (sum, count)) in mesh.positions.iter_mut().zip(&sums) {
            let goal = p.lerp(*sum / f64::max(*count, 1.0), 0.5);
            *p = sdf::project(distance, goal, cell, 1);
        }
    }
    for p in &mut mesh.positions {
        *p = sdf::project(distance, *p, cell, 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;
    use std::collections::BTreeMap;

    /// Balls in random places, coarsely cut: every ambiguous cell there is.
    #[test]
    fn surfaces_are_closed_even_where_cells_are_ambiguous() {
        let mut rng = SplitMix64::new(5);
        for _ in 0..40 {
            let balls: Vec<(DVec3, f64)> = (0..12)
                .map(|_| (DVec3::new(rng.unit(), rng.unit(), rng.unit()), 0.05 + 0.15 * rng.unit()))
                .collect();
            let distance =
                |p: DVec3| balls.iter().fold(f64::INFINITY, |d, &(c, r)| d.min(sdf::sphere(p, c, r)));
            let mesh = contour(&distance, DVec3::splat(-0.2), DVec3::splat(1.2), 0.06);
            let mut walked: BTreeMap<[u32; 2], i32> = BTreeMap::new();
            for &[a, b, c] in &mesh.triangles {
                assert!(a != b && b != c && c != a);
                for edge in [[a, b], [b, c], [c, a]] {
                    *walked.entry(edge).or_default() += 1;
                }
            }
            for (&[a, b], &times) in &walked {
                assert_eq!(walked.get(&[b, a]), Some(&times));
            }
            assert!(mesh.volume() > 0.0);
        }
    }

    #[test]
    fn vertices_lie_on_the_surface() {
        let distance = |p: DVec3| sdf::torus(p, 0.6, 0.25);
        let mesh = contour(&distance, DVec3::splat(-0.85), DVec3::splat(0.85), 0.06);
        assert!(mesh.positions.iter().all(|&p| distance(p).abs() < 1e-6));
        let exact = 2.0 * std::f64::consts::PI.powi(2) * 0.6 * 0.0625;
        assert!((mesh.volume() / exact - 1.0).abs() < 0.02);
    }
}
