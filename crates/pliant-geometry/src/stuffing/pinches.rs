//! Where a body touches itself: along edges tetrahedra are taken away, at points the two sides are parted.
//!
//! Two lattice points moved onto the surface can leave an edge between them that four boundary faces share. A body
//! has no strength there, and its boundary is no surface.

use crate::TetMesh;
use crate::disjoint_sets::DisjointSets;
use crate::tet_mesh::outward_faces;

impl TetMesh {
    /// Takes tetrahedra away until no boundary edge belongs to more than two boundary faces: all but the fan of the
    /// largest volume around such an edge. Returns how many went.
    pub(super) fn open_pinched_edges(&mut self) -> usize {
        let before = self.tetrahedra.len();
        loop {
            let pinched = pinched_edges(&self.boundary());
            if pinched.is_empty() {
                return before - self.tetrahedra.len();
            }
            let mut around: Vec<(usize, usize)> = Vec::new();
            for (t, corners) in self.tetrahedra.iter().enumerate() {
                for (i, &a) in corners.iter().enumerate() {
                    for &b in &corners[i + 1..] {
                        if let Ok(edge) = pinched.binary_search(&[a.min(b), a.max(b)]) {
                            around.push((edge, t));
                        }
                    }
                }
            }
            around.sort_unstable();
            let volumes = self.volumes();
            let mut gone = vec![false; self.tetrahedra.len()];
            for fan in around.chunk_by(|a, b| a.0 == b.0) {
                let members: Vec<usize> = fan.iter().map(|f| f.1).collect();
                self.lesser_fans(&members, pinched[fan[0].0], &volumes).for_each(|t| gone[t] = true);
            }
            let mut gone = gone.into_iter();
            self.tetrahedra.retain(|_| gone.next() != Some(true));
        }
    }

    /// Of the tetrahedra around an edge, those not in the largest group that faces at the edge join.
    fn lesser_fans(&self, around: &[usize], edge: [u32; 2], volumes: &[f64]) -> impl Iterator<Item = usize> {
        let others = |t: usize| self.tetrahedra[t].into_iter().filter(move |i| !edge.contains(i));
        let mut groups = DisjointSets::new(around.len());
        for i in 0..around.len() {
            for j in 0..i {
                if others(around[i]).any(|v| others(around[j]).any(|w| v == w)) {
                    groups.join(i as u32, j as u32);
                }
            }
        }
        let roots: Vec<u32> = (0..around.len() as u32).map(|i| groups.find(i)).collect();
        let volume = |root: u32| -> f64 {
            around.iter().zip(&roots).filter(|(_, r)| **r == root).map(|(&t, _)| volumes[t]).sum()
        };
        let largest = roots.iter().copied().max_by(|&a, &b| volume(a).total_cmp(&volume(b)).then(b.cmp(&a)));
        let lesser = around.iter().zip(roots.clone()).filter(move |(_, root)| Some(*root) != largest);
        lesser.map(|(&t, _)| t).collect::<Vec<_>>().into_iter()
    }

    /// Gives every group of tetrahedra that only a point joins to others its own copy of the point; returns how many
    /// copies there are.
    pub(super) fn part_at_points(&mut self) -> usize {
        let mut groups = DisjointSets::new(4 * self.tetrahedra.len());
        self.each_shared_face(|t, u, face| {
            for v in face {
                let corner = |t: usize| self.tetrahedra[t].iter().position(|&i| i == v).unwrap_or_default();
                groups.join((4 * t + corner(t)) as u32, (4 * u + corner(u)) as u32);
            }
        });
        let mut first_group = vec![u32::MAX; self.points.len()];
        let mut copies = std::collections::BTreeMap::new();
        let before = self.points.len();
        for corner in 0..4 * self.tetrahedra.len() {
            let root = groups.find(corner as u32);
            let point = &mut self.tetrahedra[corner / 4][corner % 4];
            let first = &mut first_group[*point as usize];
            if *first == u32::MAX {
                *first = root;
            } else if *first != root {
                let position = self.points[*point as usize];
                *point = *copies.entry(root).or_insert_with(|| {
                    self.points.push(position);
                    self.points.len() as u32 - 1
                });
            }
        }
        self.points.len() - before
    }

    /// For each tetrahedron the number of the part, joined by faces, that it is in; counted from 0 as they come.
    pub(crate) fn parts(&self) -> Vec<usize> {
        let mut groups = DisjointSets::new(self.tetrahedra.len());
        self.each_shared_face(|t, u, _| {
            groups.join(t as u32, u as u32);
        });
        groups.numbers().into_iter().map(|part| part as usize).collect()
    }

    fn each_shared_face(&self, mut found: impl FnMut(usize, usize, [u32; 3])) {
        let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * self.tetrahedra.len());
        for (t, &corners) in self.tetrahedra.iter().enumerate() {
            for mut face in outward_faces(corners) {
                face.sort_unstable();
                faces.push((face, t as u32));
            }
        }
        faces.sort_unstable();
        for same in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            found(same[0].1 as usize, same[1].1 as usize, same[0].0);
        }
    }
}

/// The edges, sorted, that more than two of the faces have.
pub(super) fn pinched_edges(boundary: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = boundary
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.chunk_by(|a, b| a == b).filter(|same| same.len() > 2).map(|same| same[0]).collect()
}

/// Points of a closed boundary at which more than one round of faces meet.
pub(super) fn pinched_points(boundary: &[[u32; 3]]) -> usize {
    let mut sides: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * boundary.len());
    for (f, &[a, b, c]) in boundary.iter().enumerate() {
        sides.extend([[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], f)));
    }
    sides.sort_unstable();
    let mut groups = DisjointSets::new(3 * boundary.len());
    for pair in sides.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        for v in pair[0].0 {
            let corner = |f: usize| 3 * f + boundary[f].iter().position(|&i| i == v).unwrap_or_default();
            groups.join(corner(pair[0].1) as u32, corner(pair[1].1) as u32);
        }
    }
    let mut rounds: Vec<(u32, u32)> =
        boundary.as_flattened().iter().zip(0..).map(|(&v, i)| (v, groups.find(i))).collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds.chunk_by(|a, b| a.0 == b.0).filter(|of_one| of_one.len() > 1).count()
}
