//! The pieces of a mesh: what no edge joins to the rest. A box and a ball in one file are two, and so are the outside and
//! the hollow of a shell; a cup of which a part is too thin to be filled is one.

use super::from_mesh::weld;
use crate::disjoint_sets::DisjointSets;
use crate::{TriMesh, Winding};
use glam::DVec3;

/// An open piece with less than this part of all area is a patch of something, not a thing of its own.
const LEAST_AREA: f64 = 0.01;

/// A mesh piece by piece, ready to tell to which one a point belongs.
pub(super) struct SolidPieces {
    /// The piece that each vertex of the mesh is in.
    pub of_vertex: Vec<usize>,
    list: Vec<SolidPiece>,
    points: Vec<DVec3>,
}

struct SolidPiece {
    winding: Winding,
    /// Triangles of the welded mesh, and whether some edge has but one of them.
    triangles: Vec<[u32; 3]>,
    open: bool,
    lo: DVec3,
    hi: DVec3,
}

impl SolidPieces {
    /// Joined are triangles at an edge that two of them share, of vertices in the same place. Small open patches count
    /// together as one piece: one by one they bound nothing.
    pub fn new(mesh: &TriMesh) -> SolidPieces {
        SolidPieces::up_to(mesh, usize::MAX)
            .unwrap_or_else(|count| unreachable!("{count} pieces are counted"))
    }

    /// The same if there are no more than `most`; otherwise their number, told before anything large is made of them.
    pub fn up_to(mesh: &TriMesh, most: usize) -> Result<SolidPieces, usize> {
        let (welded, vertex_of) = weld(mesh);
        let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * welded.triangles.len());
        for (t, &[a, b, c]) in welded.triangles.iter().enumerate() {
            sides.extend([[a, b], [b, c], [c, a]].map(|[p, q]| ([p.min(q), p.max(q)], t as u32)));
        }
        sides.sort_unstable();
        let mut groups = DisjointSets::new(welded.triangles.len());
        for edge in sides.chunk_by(|a, b| a.0 == b.0) {
            if let [(_, s), (_, t)] = *edge {
                groups.join(s, t);
            }
        }
        let root: Vec<usize> = (0..welded.triangles.len() as u32).map(|t| groups.find(t) as usize).collect();
        let mut open = vec![false; welded.triangles.len()];
        for edge in sides.chunk_by(|a, b| a.0 == b.0).filter(|edge| edge.len() % 2 == 1) {
            edge.iter().for_each(|&(_, t)| open[root[t as usize]] = true);
        }
        let mut area = vec![0.0; welded.triangles.len()];
        for (t, corners) in welded.triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|i| welded.positions[i as usize]);
            area[root[t]] += (b - a).cross(c - a).length();
        }
        let least = LEAST_AREA * area.iter().sum::<f64>();
        // Numbered as they come; the patches are the last.
        let mut number = vec![None; welded.triangles.len()];
        let mut count = 0;
        for &r in &root {
            if number[r].is_none() && !(open[r] && area[r] < least) {
                number[r] = Some(count);
                count += 1;
            }
        }
        if count > most {
            return Err(count);
        }
        let piece = |t: usize| number[root[t]].unwrap_or(count);
        let mut own: Vec<Vec<[u32; 3]>> = vec![Vec::new(); count + 1];
        // A vertex without a triangle goes with the patches.
        let mut of_welded = vec![count; welded.positions.len()];
        for (t, &corners) in welded.triangles.iter().enumerate() {
            own[piece(t)].push(corners);
            corners.iter().for_each(|&i| of_welded[i as usize] = piece(t));
        }
        let is_open = |triangles: &[[u32; 3]]| {
            let mut sides: Vec<[u32; 2]> = triangles
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
                .map(|[p, q]| [p.min(q), p.max(q)])
                .collect();
            sides.sort_unstable();
            sides.chunk_by(|a, b| a == b).any(|same| same.len() % 2 == 1)
        };
        let list = own.into_iter().map(|triangles| {
            let corners: Vec<[DVec3; 3]> =
                triangles.iter().map(|t| t.map(|i| welded.positions[i as usize])).collect();
            let points = || corners.iter().flatten().copied();
            SolidPiece {
                lo: points().fold(DVec3::INFINITY, DVec3::min),
                hi: points().fold(DVec3::NEG_INFINITY, DVec3::max),
                open: is_open(&triangles),
                triangles,
                winding: Winding::of_triangles(corners),
            }
        });
        Ok(SolidPieces {
            list: list.collect(),
            of_vertex: vertex_of.iter().map(|&v| of_welded[v as usize]).collect(),
            points: welded.positions,
        })
    }

    /// For each piece the number of the body it belongs to. Pieces that cross or lie in one another make one body, and
    /// so do all that are open, as none bounds anything alone; whatever else comes near is another.
    pub fn bodies(&self) -> Vec<usize> {
        let mut groups = DisjointSets::new(self.len());
        let open = (0..self.len()).find(|&i| self.list[i].open);
        for i in 0..self.len() {
            if let Some(first) = open.filter(|_| self.list[i].open || self.list[i].triangles.is_empty()) {
                groups.join(first as u32, i as u32);
            }
            for j in 0..i {
                if groups.find(i as u32) != groups.find(j as u32) && (self.meet(i, j) || self.meet(j, i)) {
                    groups.join(i as u32, j as u32);
                }
            }
        }
        (0..self.len() as u32).map(|i| groups.find(i) as usize).collect()
    }

    /// Whether an edge of one piece passes through another, or lies in it.
    fn meet(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.list[one], &self.list[other]);
        if !(one.lo.cmple(other.hi) & other.lo.cmple(one.hi)).all() {
            return false;
        }
        let within = |p: DVec3| p.cmpge(other.lo).all() && p.cmple(other.hi).all();
        let mut hits = Vec::new();
        for (k, t) in one.triangles.iter().enumerate() {
            let corners = t.map(|i| self.points[i as usize]);
            let lo = corners.into_iter().fold(DVec3::INFINITY, DVec3::min);
            let hi = corners.into_iter().fold(DVec3::NEG_INFINITY, DVec3::max);
            if !(lo.cmple(other.hi) & other.lo.cmple(hi)).all() {
                continue;
            }
            // One vertex tells for all of a piece that crosses nothing.
            if k == 0 && within(corners[0]) && other.winding.inside(corners[0]) {
                return true;
            }
            for [a, b] in [[0, 1], [1, 2], [2, 0]] {
                hits.clear();
                other.winding.crossings(corners[a], corners[b], &mut hits);
                if !hits.is_empty() {
                    return true;
                }
            }
        }
        false
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The piece that comes nearest to a point; the first, of equally near ones.
    pub fn nearest(&self, p: DVec3) -> usize {
        let mut best = (f64::INFINITY, 0);
        for (index, piece) in self.list.iter().enumerate() {
            if (p - p.clamp(piece.lo, piece.hi)).length() < best.0
                && let Some(q) = piece.winding.nearest(p)
                && q.distance(p) < best.0
            {
                best = (q.distance(p), index);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{ball, sheet};

    fn both(mut a: TriMesh, b: TriMesh) -> TriMesh {
        let first = a.positions.len() as u32;
        a.positions.extend(b.positions);
        a.triangles.extend(b.triangles.iter().map(|t| t.map(|i| i + first)));
        a
    }

    #[test]
    fn closed_pieces_and_large_open_ones_are_told_apart_and_patches_are_not() {
        let moved = |mut mesh: TriMesh, by: DVec3| {
            mesh.positions.iter_mut().for_each(|p| *p += by);
            mesh
        };
        let ball = |x: f64| moved(ball(0.5, 0.2).expect("a ball").surface, DVec3::X * x);
        let patch = |x: f64| moved(sheet(0.1, 0.1, 1, 1).expect("a sheet").surface, DVec3::X * x);
        let mesh = both(both(ball(0.0), ball(3.0)), both(patch(6.0), patch(9.0)));
        let pieces = SolidPieces::new(&mesh);
        assert_eq!(pieces.len(), 3);
        assert_eq!([-1.0, 2.0, 4.0, 6.1, 9.0].map(|x| pieces.nearest(DVec3::X * x)), [0, 1, 1, 2, 2]);
        assert_eq!((pieces.of_vertex[0], pieces.of_vertex.last()), (0, Some(&2)));
        let large = SolidPieces::new(&both(
            ball(0.0),
            moved(sheet(2.0, 2.0, 1, 1).expect("a sheet").surface, DVec3::X * 9.0),
        ));
        assert_eq!(large.nearest(DVec3::X * 9.0), 1);
    }

    #[test]
    fn what_crosses_or_holds_another_is_one_body() {
        let at = |x: f64, radius: f64| {
            let mut mesh = ball(radius, 0.1).expect("a ball").surface;
            mesh.positions.iter_mut().for_each(|p| p.x += x);
            mesh
        };
        let bodies = |b: TriMesh| SolidPieces::new(&both(at(0.0, 0.5), b)).bodies()[..2].to_vec();
        assert_eq!(bodies(at(1.01, 0.5)), [0, 1]);
        assert_eq!(bodies(at(0.9, 0.5)), [0, 0]);
        assert_eq!(bodies(at(0.1, 0.2)), [0, 0]);
        assert_eq!(bodies(at(0.0, 0.9)), [0, 0]);
    }
}
