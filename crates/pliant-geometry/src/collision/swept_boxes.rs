//! Where a collision surface goes within a substep: its vertices, and boxes around all they may touch on the way.

use glam::DVec3;

use super::CollisionSurface;
use super::rest_tree::{LEAF, RestTree};
use crate::box_tree::{Bounds, NOWHERE};

/// Points as three columns of one length.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// All x.
    pub x: &'a [f64],
    /// All y.
    pub y: &'a [f64],
    /// All z.
    pub z: &'a [f64],
}

impl Columns<'_> {
    #[inline(always)]
    fn get(&self, i: u32) -> DVec3 {
        let i = i as usize;
        DVec3::new(self.x[i], self.y[i], self.z[i])
    }
}

/// Which end of the motion is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MotionEnd {
    /// Where it begins: what has to stay apart on the way is measured there.
    #[default]
    Start,
    /// Where it ends.
    End,
}

/// A vertex at one end of its way, and how long that is: what is measured, together.
pub(super) type Swept = [f64; 4];

/// Boxes around all places of a surface's vertices, triangles and edges within a substep, and those places. Kept from step to
/// step and fitted anew, without building anything and without allocating.
///
/// Boxes are in single precision, rounded outward, as seen from an origin: where that is near, they are tight. What is
/// found may have a few more pairs that are further apart than was asked for in another origin, never fewer.
#[derive(Clone, Debug, Default)]
pub struct SweptBoxes {
    starts: Vec<Swept>,
    ends: Vec<Swept>,
    margin: f64,
    origin: DVec3,
    pub(super) vertices: TreeBoxes,
    pub(super) triangles: TreeBoxes,
    pub(super) edges: TreeBoxes,
    /// Of vertices, what leaves of triangles and edges are made of.
    corners: Vec<Corner>,
}

/// A box as numbers that are compared four at a time; the last are not used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub lo: [f32; 4],
    pub hi: [f32; 4],
}

impl Corner {
    pub const NOWHERE: Corner = Corner { lo: [f32::INFINITY; 4], hi: [f32::NEG_INFINITY; 4] };

    #[inline(always)]
    pub fn join(&self, other: &Corner) -> Corner {
        let mut joined = *self;
        for k in 0..4 {
            joined.lo[k] = joined.lo[k].min(other.lo[k]);
            joined.hi[k] = joined.hi[k].max(other.hi[k]);
        }
        joined
    }

    #[inline(always)]
    pub fn holds(&self, p: DVec3) -> bool {
        (0..3).all(|k| f64::from(self.lo[k]) <= p[k] && p[k] <= f64::from(self.hi[k]))
    }

    #[inline(always)]
    pub fn overlaps(&self, other: &Corner) -> bool {
        let mut all = true;
        for k in 0..3 {
            all &= (self.lo[k] <= other.hi[k]) & (other.lo[k] <= self.hi[k]);
        }
        all
    }
}

/// The boxes of a leaf, side by side; those that are not there are nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    lo: [[f32; LEAF]; 3],
    hi: [[f32; LEAF]; 3],
}

impl Leaf {
    pub const NOWHERE: Leaf = Leaf { lo: [[f32::INFINITY; LEAF]; 3], hi: [[f32::NEG_INFINITY; LEAF]; 3] };

    /// Bit k is whether item k overlaps a box.
    #[inline(always)]
    pub fn overlaps(&self, with: &Corner) -> u32 {
        let mut hits = [0_u32; LEAF];
        for (k, hit) in hits.iter_mut().enumerate() {
            let mut all = true;
            for axis in 0..3 {
                all &= (self.lo[axis][k] <= with.hi[axis]) & (with.lo[axis] <= self.hi[axis][k]);
            }
            *hit = u32::from(all) << k;
        }
        hits.iter().fold(0, |bits, hit| bits | hit)
    }

    /// Bit k is whether item k is no further from a point than the root of `limit`.
    #[inline(always)]
    pub fn within(&self, p: DVec3, limit: f64) -> u32 {
        let mut bits = 0;
        for k in 0..LEAF {
            let mut squared = 0.0;
            for axis in 0..3 {
                let (lo, hi) = (f64::from(self.lo[axis][k]), f64::from(self.hi[axis][k]));
                let away = (lo - p[axis]).max(p[axis] - hi).max(0.0);
                squared += away * away;
            }
            bits |= u32::from(squared <= limit) << k;
        }
        bits
    }

    /// Bit 8 i + k is whether item i overlaps item k of another.
    #[inline(always)]
    pub fn pairs(&self, other: &Leaf) -> u64 {
        let mut rows = [0_u32; LEAF];
        for k in 0..LEAF {
            let [lo, hi] = [&other.lo, &other.hi].map(|side| [side[0][k], side[1][k], side[2][k]]);
            for (i, row) in rows.iter_mut().enumerate() {
                let mut all = true;
                for axis in 0..3 {
                    all &= (self.lo[axis][i] <= hi[axis]) & (lo[axis] <= self.hi[axis][i]);
                }
                *row |= u32::from(all) << k;
            }
        }
        rows.iter().rev().fold(0, |bits, row| bits << LEAF | u64::from(*row))
    }

    #[inline(always)]
    pub fn set(&mut self, k: usize, item: &Corner) {
        for axis in 0..3 {
            self.lo[axis][k] = item.lo[axis];
            self.hi[axis][k] = item.hi[axis];
        }
    }
}

/// Boxes of one tree.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeBoxes {
    /// As nodes of the [`RestTree`].
    pub nodes: Vec<Corner>,
    /// Which node a leaf is.
    pub leaf_nodes: Vec<u32>,
    pub leaves: Vec<Leaf>,
}

impl TreeBoxes {
    fn fit(&mut self, tree: &RestTree, item: impl Fn(u32) -> Corner) {
        self.nodes.resize(tree.nodes.len(), Corner::NOWHERE);
        self.leaves.resize(tree.leaves(), Leaf::NOWHERE);
        self.leaf_nodes.resize(tree.leaves(), 0);
        // Children stand behind their parents.
        for (k, node) in tree.nodes.iter().enumerate().rev() {
            let first = k + 1;
            self.nodes[k] = if node.skip as usize == first {
                self.leaf_nodes[node.leaf as usize] = k as u32;
                let leaf = &mut self.leaves[node.leaf as usize];
                let items = tree.items(node.leaf);
                if items.len() < LEAF {
                    *leaf = Leaf::NOWHERE;
                }
                let mut whole = Corner::NOWHERE;
                for (slot, &i) in items.iter().enumerate() {
                    let item = item(i);
                    leaf.set(slot, &item);
                    whole = whole.join(&item);
                }
                whole
            } else {
                self.nodes[first].join(&self.nodes[tree.nodes[first].skip as usize])
            };
        }
    }
}

/// More than what rounding twice does.
const OUTWARD: f32 = 2.4e-7;

#[inline(always)]
fn round_down(v: f64) -> f32 {
    let v = v.min(f64::from(f32::MAX)) as f32;
    v - (v.abs() * OUTWARD + f32::MIN_POSITIVE)
}

#[inline(always)]
fn round_up(v: f64) -> f32 {
    -round_down(-v)
}

impl SweptBoxes {
    /// Puts boxes around everything of a surface that goes straight from one place to another, or anywhere between, and
    /// `margin` around it: two surfaces find what comes within the sum of their margins. Columns are those of the body, in which
    /// [`CollisionSurface::places`] are numbered. All boxes that are compared with each other need one `origin`.
    pub fn fit(
        &mut self,
        surface: &CollisionSurface,
        from: Columns<'_>,
        to: Columns<'_>,
        margin: f64,
        origin: DVec3,
    ) {
        let path = |v: usize| {
            let place = surface.places()[v];
            [from.get(place), to.get(place)]
        };
        self.fit_ways(surface, path, margin, origin);
    }

    /// The same, with where each vertex of the surface begins and ends, by its own number.
    pub fn fit_ways(
        &mut self,
        surface: &CollisionSurface,
        way_of: impl Fn(usize) -> [DVec3; 2],
        margin: f64,
        origin: DVec3,
    ) {
        self.margin = margin;
        self.origin = origin;
        self.starts.clear();
        self.ends.clear();
        self.corners.clear();
        for v in 0..surface.places().len() {
            let [from, to] = way_of(v);
            let path = from.distance(to);
            self.starts.push([from.x, from.y, from.z, path]);
            self.ends.push([to.x, to.y, to.z, path]);
            let wide = margin + surface.radius(v as u32);
            let (lo, hi) = (from.min(to) - origin, from.max(to) - origin);
            self.corners.push(Corner {
                lo: [round_down(lo.x - wide), round_down(lo.y - wide), round_down(lo.z - wide), 0.0],
                hi: [round_up(hi.x + wide), round_up(hi.y + wide), round_up(hi.z + wide), 0.0],
            });
        }
        let at = |v: u32| self.corners[v as usize];
        self.vertices.fit(&surface.vertex_tree, at);
        let triangles = surface.triangles();
        self.triangles.fit(&surface.triangle_tree, |t| {
            let [a, b, c] = triangles[t as usize].map(at);
            a.join(&b).join(&c)
        });
        let edges = surface.edges();
        self.edges.fit(&surface.edge_tree, |e| {
            let [a, b] = edges[e as usize].map(at);
            a.join(&b)
        });
    }

    /// The box around all of it, margin included, for the [`BroadPhase`](super::BroadPhase).
    pub fn bounds(&self) -> Bounds {
        match self.vertices.nodes.first() {
            Some(whole) => {
                let [lo, hi] =
                    [whole.lo, whole.hi].map(|c| DVec3::new(c[0].into(), c[1].into(), c[2].into()));
                // More than what these sums round.
                let wide = 1e-15 * self.origin.abs();
                (self.origin + lo - wide, self.origin + hi + wide)
            }
            None => NOWHERE,
        }
    }

    /// What is left around it.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// From where boxes are seen.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Where a vertex is.
    #[inline(always)]
    pub fn point(&self, vertex: u32, moment: MotionEnd) -> DVec3 {
        let [x, y, z, _] = self.swept(moment)[vertex as usize];
        DVec3::new(x, y, z)
    }

    /// How far a vertex goes.
    #[inline(always)]
    pub fn path(&self, vertex: u32) -> f64 {
        self.starts[vertex as usize][3]
    }

    /// All vertices at one end.
    #[inline(always)]
    pub(super) fn swept(&self, moment: MotionEnd) -> &[Swept] {
        match moment {
            MotionEnd::Start => &self.starts,
            MotionEnd::End => &self.ends,
        }
    }
}
