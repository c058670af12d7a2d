//! Binding a render surface to particles: moving-least-squares weights that follow every affine motion exactly.
//!
//! With compact weights w over the particles near a vertex x, their weighted mean c and scatter
//! C = Σ w (p−c)(p−c)ᵀ, the weight of particle i is φᵢ = wᵢ/W + wᵢ (x−c)·C⁺(pᵢ−c). Then Σφ = 1 and
//! Σφp = x wherever C has full rank along x−c, so any affine motion of the particles carries the vertex
//! along to rounding. Where particles lie on a sheet, a line or a point, C⁺ leaves the missing directions
//! out and the vertex is carried by its foot on the sheet, the line or the point. A vertex far outside would lean on
//! differences of particles too strongly; it is held back, and the rest carried by the body as a whole.

use crate::eigen::symmetric_eigen;
use crate::kdtree::KdTree;
use crate::rows::{self, SparseRows};
use crate::skin::Skin;
use crate::skin_binding::WholeBody;
use glam::{DMat3, DVec3};

/// Most particles a vertex may follow.
const MAX_ENTRIES: usize = 32;
/// Neighbours a vertex follows where they surround it well: few keep detail.
const USUAL_ENTRIES: usize = 20;
/// How strongly a vertex may lean on its neighbours' differences before more of them get a say, and when
/// they have all of it. Between the two they are blended, so that no seam shows.
const LEAN_MORE: std::ops::Range<f64> = 1.2..2.0;
/// And how strongly before its weights are cut back: Σ|φ| ≤ 1 + this.
const STRONGEST: f64 = 3.0;
/// A direction in which neighbours spread less than this share (squared) of their widest has none.
const FLAT: f64 = 1e-12;

impl Skin {
    /// Weights that let `vertices` follow `particles`, at most 32 each. All positions must be finite;
    /// without particles every vertex is left without entries.
    ///
    /// The support reaches to the next neighbour not taken, where its weight is zero, so weights vary
    /// continuously over the surface and no seams show.
    pub fn bind(particles: &[DVec3], vertices: &[DVec3]) -> Skin {
        MovingLeastSquares::new(particles, None).skin(vertices)
    }

    /// The same for a body whose particles are held together by `edges`: a vertex follows only particles
    /// joined to its nearest one through others close by, so that an ear does not follow the other ear.
    pub fn bind_connected(particles: &[DVec3], edges: &[[u32; 2]], vertices: &[DVec3]) -> Skin {
        MovingLeastSquares::new(particles, Some(edges)).skin(vertices)
    }
}

/// Moving least squares over particles, prepared for many vertices.
pub(crate) struct MovingLeastSquares<'a> {
    particles: &'a [DVec3],
    tree: KdTree,
    neighbours: Option<Neighbours>,
    near: Vec<(f64, u32)>,
    joined: Vec<u32>,
    whole: WholeBody<'a>,
}

/// A vertex by particles, what they do not carry of it, and what the body as a whole carries of that.
pub(crate) struct FollowedVertex {
    pub particles: Vec<(u32, f64)>,
    /// Of the handles of the whole.
    pub handles: Vec<(u32, f64)>,
}

impl<'a> MovingLeastSquares<'a> {
    /// Over particles that are near each other, or with edges also joined to each other.
    pub fn new(particles: &'a [DVec3], edges: Option<&[[u32; 2]]>) -> MovingLeastSquares<'a> {
        MovingLeastSquares {
            particles,
            tree: KdTree::new(particles),
            neighbours: edges.map(|edges| Neighbours::new(particles.len(), edges)),
            near: Vec::new(),
            joined: Vec::new(),
            whole: WholeBody::new(particles, edges),
        }
    }

    fn skin(&mut self, vertices: &[DVec3]) -> Skin {
        let mut handles = SparseRows::new();
        let (mut particles, mut through) = (SparseRows::new(), SparseRows::new());
        for &vertex in vertices {
            let followed = self.follow(vertex, None, &mut handles);
            particles.push(followed.particles);
            through.push(followed.handles);
        }
        Skin::assemble(particles, handles, through, None)
    }

    /// The weights of one vertex, and how the whole carries what they leave over; handles for that are appended.
    /// What lies along `normal` is left to others.
    pub fn follow(
        &mut self,
        vertex: DVec3,
        normal: Option<DVec3>,
        handles: &mut SparseRows,
    ) -> FollowedVertex {
        let particles = self.row(vertex);
        let mut left = self.left(vertex, &particles);
        if let Some(n) = normal.filter(|n| n.length_squared() > 0.0) {
            left -= n * (left.dot(n) / n.length_squared());
        }
        let handles = match self.near.first() {
            Some(&(_, nearest)) => self.whole.carry(nearest, left, handles),
            None => Vec::new(),
        };
        FollowedVertex { particles, handles }
    }

    /// What a row of weights leaves of the way to a vertex at rest.
    pub fn left(&self, vertex: DVec3, row: &[(u32, f64)]) -> DVec3 {
        row.iter().fold(vertex, |left, &(i, w)| left - w * self.particles[i as usize])
    }

    /// Finds the neighbours of a vertex (nearest first, one more than may be used).
    fn search(&mut self, vertex: DVec3) {
        self.tree.nearest(vertex, MAX_ENTRIES + 1, &mut self.near);
        let Some(neighbours) = &mut self.neighbours else { return };
        neighbours.keep_joined(&mut self.near, &mut self.joined);
        // Mostly all are joined, and looking further would find the same ones.
        if self.near.len() <= MAX_ENTRIES {
            self.tree.nearest(vertex, 2 * MAX_ENTRIES, &mut self.near);
            neighbours.keep_joined(&mut self.near, &mut self.joined);
            self.near.truncate(MAX_ENTRIES + 1);
        }
    }

    /// The weights of one vertex; none without particles.
    fn row(&mut self, vertex: DVec3) -> Vec<(u32, f64)> {
        self.search(vertex);
        let mut row = Vec::new();
        if self.near.is_empty() {
            return row;
        }
        let usual = NeighbourhoodFit::new(self.particles, vertex, &self.near, USUAL_ENTRIES);
        let part = (usual.lean - LEAN_MORE.start) / (LEAN_MORE.end - LEAN_MORE.start);
        let part = if usual.flat { 1.0 } else { part.clamp(0.0, 1.0) };
        if part < 1.0 {
            usual.weights().for_each(|(i, w)| rows::add(&mut row, i, (1.0 - part) * w));
        }
        if part > 0.0 {
            let broad = NeighbourhoodFit::new(self.particles, vertex, &self.near, MAX_ENTRIES);
            broad.weights().for_each(|(i, w)| rows::add(&mut row, i, part * w));
        }
        row
    }

    /// How much each neighbour of a vertex has to do with it: positive, in sum one.
    pub fn shares(&mut self, vertex: DVec3) -> Vec<(u32, f64)> {
        self.search(vertex);
        if self.near.is_empty() {
            return Vec::new();
        }
        NeighbourhoodFit::new(self.particles, vertex, &self.near, USUAL_ENTRIES).shares
    }
}

/// Who is tied to whom (compressed sparse rows).
struct Neighbours {
    offsets: Vec<u32>,
    others: Vec<u32>,
    /// Per particle the last search that met it, even when it was near and odd when it was joined.
    met: Vec<u64>,
    search: u64,
}

impl Neighbours {
    fn new(count: usize, edges: &[[u32; 2]]) -> Neighbours {
        let mut offsets = vec![0; count + 1];
        for &i in edges.iter().flatten() {
            offsets[i as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut others = vec![0; 2 * edges.len()];
        for &[a, b] in edges {
            for (i, j) in [(a, b), (b, a)] {
                others[next[i as usize] as usize] = j;
                next[i as usize] += 1;
            }
        }
        Neighbours { offsets, others, met: vec![0; count], search: 0 }
    }

    /// Keeps of `near` (nearest first) what is joined to its first through members of `near`.
    fn keep_joined(&mut self, near: &mut Vec<(f64, u32)>, joined: &mut Vec<u32>) {
        self.search += 2;
        for n in near.iter() {
            self.met[n.1 as usize] = self.search;
        }
        joined.clear();
        if let Some(first) = near.first() {
            joined.push(first.1);
            self.met[first.1 as usize] += 1;
        }
        let mut done = 0;
        while done < joined.len() {
            let i = joined[done] as usize;
            done += 1;
            for &j in &self.others[self.offsets[i] as usize..self.offsets[i + 1] as usize] {
                if self.met[j as usize] == self.search {
                    self.met[j as usize] += 1;
                    joined.push(j);
                }
            }
        }
        near.retain(|n| self.met[n.1 as usize] == self.search + 1);
    }
}

/// The weighted neighbourhood of one vertex.
struct NeighbourhoodFit {
    /// Particle and its share of the total weight, nearest first.
    shares: Vec<(u32, f64)>,
    /// (x−c)·C⁺(pᵢ−c) of each, with C of the shares.
    slopes: Vec<f64>,
    /// Mean size of the slopes.
    lean: f64,
    /// The vertex is off the sheet, line or point that the neighbours make up.
    flat: bool,
}

impl NeighbourhoodFit {
    fn new(particles: &[DVec3], vertex: DVec3, near: &[(f64, u32)], count: usize) -> NeighbourhoodFit {
        let count = count.min(near.len());
        // Two distances bound the support: the next neighbour's, and without one a bit past the last.
        let reach = match near.get(count) {
            Some(next) => next.0.sqrt(),
            None => near.last().map_or(0.0, |last| last.0.sqrt() * 1.25),
        };
        let falloff = |d2: f64| {
            // Broad, so that a second layer of particles has a say when the vertex is outside the first;
            // its slope is zero where it ends.
            let q2 = if reach > 0.0 { d2 / (reach * reach) } else { 0.0 };
            let s = (1.0 - q2).max(0.0);
            s * s
        };
        let mut shares: Vec<(u32, f64)> =
            near[..count].iter().map(|&(d2, i)| (i, falloff(d2))).filter(|s| s.1 > 0.0).collect();
        let total: f64 = shares.iter().map(|s| s.1).sum();
        if shares.is_empty() || total < 1e-200 {
            // All at one distance: nothing tells them apart.
            shares = near[..count].iter().map(|&(_, i)| (i, 1.0 / count as f64)).collect();
        } else {
            shares.iter_mut().for_each(|s| s.1 /= total);
        }
        let mut offsets: Vec<DVec3> = shares.iter().map(|s| particles[s.0 as usize] - vertex).collect();
        let mut mean = DVec3::ZERO;
        // Twice, because thin neighbourhoods feel the rounding of the first mean.
        for _ in 0..2 {
            let rest: DVec3 = shares.iter().zip(&offsets).map(|(s, &d)| s.1 * d).sum();
            offsets.iter_mut().for_each(|d| *d -= rest);
            mean += rest;
        }
        let mut scatter = DMat3::ZERO;
        for (s, &d) in shares.iter().zip(&offsets) {
            scatter += DMat3::from_cols(s.1 * d * d.x, s.1 * d * d.y, s.1 * d * d.z);
        }
        let (values, vectors) = symmetric_eigen(scatter);
        let widest = values.max_element();
        let mut pull = DVec3::ZERO;
        let mut flat = false;
        for k in 0..3 {
            let along = -mean.dot(vectors[k]);
            if widest > 0.0 && values[k] > FLAT * widest {
                pull += vectors[k] * (along / values[k]);
            } else if along.abs() > 1e-9 * reach {
                flat = true;
            }
        }
        let slopes: Vec<f64> = offsets.iter().map(|d| pull.dot(*d)).collect();
        let lean = shares.iter().zip(&slopes).map(|(s, slope)| s.1 * slope.abs()).sum();
        NeighbourhoodFit { shares, slopes, lean, flat }
    }

    fn weights(&self) -> impl Iterator<Item = (u32, f64)> {
        // Leaning too far out of its neighbours would shake the vertex: lean less.
        let scale = (STRONGEST / self.lean).min(1.0);
        let weight = move |(s, slope): (&(u32, f64), &f64)| (s.0, s.1 * (1.0 + scale * slope));
        // One but for rounding, which thin neighbourhoods enlarge.
        let total: f64 = self.shares.iter().zip(&self.slopes).map(|pair| weight(pair).1).sum();
        self.shares.iter().zip(&self.slopes).map(move |pair| (weight(pair).0, weight(pair).1 / total))
    }
}
