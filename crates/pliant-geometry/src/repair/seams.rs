//! Seams: vertices in the same place become one where faces fit together there, and vertices where separate fans
//! of faces meet are split, in one go, so that the one never undoes the other.
//!
//! Faces that share an edge, two of them, stay together. Other sides that lie on one another are joined in
//! pairs: those that bound one wedge of the solid (turning about the edge, a face that looks back and the next one
//! that looks on have the solid between them), so two boxes that touch along an edge become two boxes. Where
//! sides cannot all be paired, sheets that meet in an edge stay joined.

use super::edit::{copy_vertices, keep_vertices, rename_corners, used};
use crate::disjoint_sets::DisjointSets;
use crate::inspect::fans::inside_faces;
use crate::inspect::sides::{EdgeSide, EdgeSides, SharedEdge, WeldedFaces};
use crate::poly::PolyMesh;
use glam::DVec3;

/// What was done.
pub(crate) struct SeamRepair {
    pub mesh: PolyMesh,
    pub welded: usize,
    pub split: usize,
    /// Corners that got another vertex, where no vertex came or went.
    pub moved: usize,
}

/// `names` tells for each vertex the one it is in the place of.
pub(crate) fn repair_seams(mesh: &PolyMesh, names: &[u32], split: bool) -> SeamRepair {
    let corners = mesh.attributes.faces.corners();
    let mut copied = Vec::new();
    let vertices = if split {
        let around = WeldedFaces::new(&mesh.attributes.faces, Some(names));
        let mut fans = joined(mesh, &around);
        assign(mesh, &around, &mut fans, &mut copied)
    } else {
        corners.iter().map(|&v| names[v as usize]).collect()
    };
    let before = used(mesh);
    let moved = corners.iter().zip(&vertices).filter(|(old, new)| old != new).count();
    let mut mended = rename_corners(mesh, vertices);
    copy_vertices(&mut mended, &copied);
    // Vertices that lost all their faces go; those that had none stay.
    let mut keep = used(&mended);
    keep.iter_mut().zip(&before).for_each(|(k, &b)| *k |= !b);
    let welded = keep.iter().filter(|k| !**k).count();
    if welded > 0 {
        mended = keep_vertices(&mended, &keep);
    }
    let moved = if welded + copied.len() == 0 { moved } else { 0 };
    SeamRepair { mesh: mended, welded, split: copied.len(), moved }
}

/// Corners that are to share a vertex.
fn joined(mesh: &PolyMesh, around: &WeldedFaces<'_>) -> DisjointSets {
    let mut fans = inside_faces(around);
    let plain = WeldedFaces::new(&mesh.attributes.faces, None);
    let mut paired = vec![false; mesh.attributes.faces.corners().len()];
    for edge in EdgeSides::new(&plain, mesh.positions.len()).edges() {
        if let [s, t] = edge.sides {
            join(&mut fans, edge.ends(s, &plain), edge.ends(t, &plain));
            paired[s.corner as usize] = true;
            paired[t.corner as usize] = true;
        }
    }
    let mut free: Vec<EdgeSide> = Vec::new();
    for edge in EdgeSides::new(around, mesh.positions.len()).edges() {
        free.clear();
        free.extend(edge.sides.iter().filter(|s| !paired[s.corner as usize]));
        let mut link =
            |s: &EdgeSide, t: &EdgeSide| join(&mut fans, edge.ends(s, around), edge.ends(t, around));
        match free.as_slice() {
            [] | [_] => {}
            [s, t] => link(s, t),
            _ => {
                let pairs = pair_up(mesh, around, &edge, &free);
                if 2 * pairs.len() == free.len() {
                    pairs.iter().for_each(|(s, t)| link(s, t));
                    continue;
                }
                // Sheets that share the edge by name stay together; the others are joined as far as they fit.
                let name =
                    |s: &EdgeSide| edge.ends(s, around).map(|c| mesh.attributes.faces.corners()[c as usize]);
                free.sort_by_key(|s| (name(s), s.corner));
                let mut single = Vec::new();
                for group in free.chunk_by(|s, t| name(s) == name(t)) {
                    group[1..].iter().for_each(|t| link(&group[0], t));
                    if group.len() == 1 {
                        single.push(group[0]);
                    }
                }
                pair_up(mesh, around, &edge, &single).iter().for_each(|(s, t)| link(s, t));
            }
        }
    }
    fans
}

fn join(fans: &mut DisjointSets, [a, b]: [u32; 2], [c, d]: [u32; 2]) {
    fans.join(a, c);
    fans.join(b, d);
}

/// Pairs of sides with a wedge of the solid between them, as brackets are paired.
fn pair_up(
    mesh: &PolyMesh,
    around: &WeldedFaces<'_>,
    edge: &SharedEdge<'_>,
    free: &[EdgeSide],
) -> Vec<(EdgeSide, EdgeSide)> {
    let at = |v: u32| mesh.positions[v as usize];
    let start = at(edge.a);
    let axis = (at(edge.b) - start).normalize_or(DVec3::X);
    let (u, v) = axis.any_orthonormal_pair();
    let mut sorted: Vec<(f64, bool, EdgeSide)> = free
        .iter()
        .map(|&side| {
            let forward = edge.forward(&side, around);
            // A point of the face beyond the edge.
            let mut corner = around.next(side.corner);
            let ends = [edge.a, edge.b];
            for _ in 0..mesh.attributes.faces.range(around.face(corner) as usize).len() {
                if !ends.contains(&around.vertex(corner)) {
                    break;
                }
                corner = around.next(corner);
            }
            let into = at(around.vertex(corner)) - start;
            (turn(into.dot(u), into.dot(v)), !forward, side)
        })
        .collect();
    // Faces in the same place: first those that end a wedge, so that no wedge lies between them.
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.corner.cmp(&b.2.corner)));
    let mut open: Vec<EdgeSide> = Vec::new();
    let mut pairs = Vec::new();
    let mut taken = vec![false; sorted.len()];
    // Twice around, for wedges that begin before the end and end after the beginning.
    for round in 0..2 {
        for (k, &(_, back, side)) in sorted.iter().enumerate() {
            if back && round == 0 {
                open.push(side);
            } else if !back
                && !taken[k]
                && let Some(first) = open.pop()
            {
                taken[k] = true;
                pairs.push((first, side));
            }
        }
    }
    pairs
}

/// Grows with the angle of (x, y) from 0 to 4, without trigonometry.
fn turn(x: f64, y: f64) -> f64 {
    let size = x.abs() + y.abs();
    if size == 0.0 {
        return 0.0;
    }
    let part = y / size;
    match (x >= 0.0, y >= 0.0) {
        (true, true) => part,
        (false, _) => 2.0 - part,
        (true, false) => 4.0 + part,
    }
}

/// A vertex for every corner: each fan takes its smallest one that no other fan has taken, or a copy.
fn assign(
    mesh: &PolyMesh,
    around: &WeldedFaces<'_>,
    fans: &mut DisjointSets,
    copied: &mut Vec<u32>,
) -> Vec<u32> {
    let corners = mesh.attributes.faces.corners();
    let mut smallest = vec![u32::MAX; corners.len()];
    let live: Vec<bool> = (0..mesh.attributes.faces.len()).map(|f| !around.collapsed(f)).collect();
    let alive = |c: u32| live[around.face(c) as usize];
    for c in (0..corners.len() as u32).filter(|&c| alive(c)) {
        let least = &mut smallest[fans.find(c) as usize];
        *least = (*least).min(corners[c as usize]);
    }
    let mut taken = vec![false; mesh.positions.len()];
    let mut vertex = vec![u32::MAX; corners.len()];
    for c in (0..corners.len() as u32).filter(|&c| alive(c)) {
        let fan = fans.find(c) as usize;
        if fan == c as usize && !taken[smallest[fan] as usize] {
            taken[smallest[fan] as usize] = true;
            vertex[fan] = smallest[fan];
        }
    }
    for (c, &v) in corners.iter().enumerate().filter(|&(c, _)| alive(c as u32)) {
        let fan = fans.find(c as u32) as usize;
        if vertex[fan] == u32::MAX && !taken[v as usize] {
            taken[v as usize] = true;
            vertex[fan] = v;
        }
    }
    let mut all = Vec::with_capacity(corners.len());
    for (c, &v) in corners.iter().enumerate() {
        let fan = fans.find(c as u32) as usize;
        if !alive(c as u32) {
            all.push(v);
            continue;
        }
        if vertex[fan] == u32::MAX {
            vertex[fan] = (mesh.positions.len() + copied.len()) as u32;
            copied.push(v);
        }
        all.push(vertex[fan]);
    }
    all
}
