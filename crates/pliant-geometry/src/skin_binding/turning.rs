//! How what lies far outside a body is carried along: by the rigid motion that fits the particles near it best, as
//! point cloud glue has it. Weights that reach that far would blow up where elements are squashed or sheared.
//!
//! With weights m over the particles around a corner, their mean C and spread S = Σ m (X − C)(X − C)ᵀ, the best affine fit is
//! F = Σ m (x − c) ⊗ S⁻¹(X − C), which is linear in x: three handles. F S is the covariance that the best rotation is of
//! (orthogonal Procrustes problem), so a frame is these handles and S. The farther a vertex, the more particles carry
//! it: those within one, two and four edges, blended.

use crate::eigen::symmetric_eigen;
use crate::rows::SparseRows;
use crate::skin::{RigidFrame, RigidOffsets};
use glam::{DMat3, DVec3};

/// Circles of particles: within 1, 2 and 4 edges.
const CIRCLES: usize = 3;
/// How far outside a vertex may be, in sizes of its circle, before a wider one gets a say.
const REACH: f64 = 1.5;
/// A circle that spreads less than this share (squared) of its widest is flat, and no frame.
const FLAT: f64 = 1e-6;

/// Frames of the particles around corners, made when they are asked for.
pub(super) struct TurningFrames<'a> {
    points: &'a [DVec3],
    /// Neighbours of each particle.
    next: Vec<Vec<u32>>,
    /// Per particle its circles.
    made: Vec<[Circle; CIRCLES]>,
    frames: Vec<RigidFrame>,
    distance: Vec<u32>,
}

/// A frame that may have been made.
#[derive(Clone, Copy, Default)]
enum Circle {
    #[default]
    Unmade,
    /// Its particles are in a plane.
    Flat,
    /// Its number and its size.
    Made(u32, f64),
}

impl<'a> TurningFrames<'a> {
    pub fn new(points: &'a [DVec3], edges: &[[u32; 2]]) -> TurningFrames<'a> {
        let mut next = vec![Vec::new(); points.len()];
        for &[a, b] in edges {
            next[a as usize].push(b);
            next[b as usize].push(a);
        }
        let made = vec![[Circle::Unmade; CIRCLES]; points.len()];
        TurningFrames { points, next, made, frames: Vec::new(), distance: vec![u32::MAX; points.len()] }
    }

    /// Entries that carry `off` along with the particles around a corner, by axes of frames; none if all these are in a
    /// plane. Handles of new frames are appended.
    pub fn carry(&mut self, corner: u32, off: DVec3, handles: &mut SparseRows) -> Option<Vec<(u32, f64)>> {
        let (mut row, mut left) = (Vec::new(), 1.0);
        for k in 0..CIRCLES {
            let Some((frame, size)) = self.circle(corner, k, handles) else { continue };
            let wider = (k + 1 < CIRCLES) && self.circle(corner, k + 1, handles).is_some();
            // All of it as near as its size, none of it twice as far.
            let enough = if wider { (2.0 - off.length() / (REACH * size)).clamp(0.0, 1.0) } else { 1.0 };
            let part = left * enough;
            left -= part;
            if part > 0.0 {
                row.extend([0, 1, 2].map(|axis| (3 * frame + axis, part * off[axis as usize])));
            }
            if left <= 0.0 {
                break;
            }
        }
        (left <= 1e-12).then_some(row)
    }

    fn circle(&mut self, corner: u32, k: usize, handles: &mut SparseRows) -> Option<(u32, f64)> {
        if let Circle::Unmade = self.made[corner as usize][k] {
            let circle = self.make(corner, 1 << k, handles);
            self.made[corner as usize][k] = circle;
        }
        match self.made[corner as usize][k] {
            Circle::Made(frame, size) => Some((frame, size)),
            _ => None,
        }
    }

    /// The frame of all that is within so many edges of a corner.
    fn make(&mut self, corner: u32, edges: u32, handles: &mut SparseRows) -> Circle {
        let near = self.within(corner, edges);
        let at = |i: u32| self.points[i as usize];
        let (here, edges) = (at(corner), f64::from(edges));
        // Falling to zero one edge further out.
        let weighted: Vec<(u32, f64)> = near
            .iter()
            .map(|&(i, distance)| (i, (1.0 - (f64::from(distance) / (edges + 1.0)).powi(2)).powi(2)))
            .collect();
        let total: f64 = weighted.iter().map(|e| e.1).sum();
        let middle = weighted.iter().map(|&(i, m)| m / total * (at(i) - here)).sum::<DVec3>();
        let mut spread = DMat3::ZERO;
        for &(i, m) in &weighted {
            let d = at(i) - here - middle;
            spread += DMat3::from_cols(d * d.x, d * d.y, d * d.z) * (m / total);
        }
        let (values, _) = symmetric_eigen(spread);
        if !spread.is_finite() || values.min_element() <= FLAT * values.max_element() {
            return Circle::Flat;
        }
        let inverse = spread.inverse();
        let first = handles.len() as u32;
        for axis in 0..3 {
            let slope = |&(i, m): &(u32, f64)| (i, m / total * (inverse * (at(i) - here - middle))[axis]);
            handles.push(weighted.iter().map(slope));
        }
        self.frames.push(RigidFrame { first, spread });
        Circle::Made(
            self.frames.len() as u32 - 1,
            (spread.x_axis.x + spread.y_axis.y + spread.z_axis.z).sqrt(),
        )
    }

    /// Particles within so many edges of one, and how many edges; in the order of their numbers.
    fn within(&mut self, corner: u32, edges: u32) -> Vec<(u32, u32)> {
        let mut found = vec![(corner, 0)];
        self.distance[corner as usize] = 0;
        let mut done = 0;
        while let Some(&(i, distance)) = found.get(done) {
            done += 1;
            for &j in self.next[i as usize].iter().filter(|_| distance < edges) {
                if self.distance[j as usize] == u32::MAX {
                    self.distance[j as usize] = distance + 1;
                    found.push((j, distance + 1));
                }
            }
        }
        found.iter().for_each(|&(i, _)| self.distance[i as usize] = u32::MAX);
        found.sort_unstable();
        found
    }

    /// With each vertex by the axes of frames.
    pub fn finish(self, vertices: SparseRows) -> Option<Box<RigidOffsets>> {
        (!vertices.columns.is_empty()).then(|| Box::new(RigidOffsets { frames: self.frames, vertices }))
    }
}
