//! Many bindings at a time, eight in lanes: where bound points are, what forces on them are to their parents, and the
//! derivative.
//!
//! The results are those of [`Cloud::fit`] and its [`Fit`] to rounding. Their bits depend on the binding, its parents' positions
//! and the set of bits of the instruction set ([`Isa::bits`]) alone, not on what else is in the batch or where.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use pliant_math::lanes::Isa;
//! use pliant_math::procrustes::{Bindings, Cloud, Poses};
//!
//! let rest = [DVec3::ZERO, DVec3::X, DVec3::Y];
//! let mut bindings = Bindings::default();
//! bindings.push(&Cloud::new(&rest, &[1.0; 3])?, &[4, 2, 3], DVec3::Z);
//!
//! // Columns of all points; the three above are numbers 4, 2 and 3, and have moved by one along x.
//! let columns: [Vec<f64>; 3] =
//!     [vec![9.0, 9.0, 2.0, 1.0, 1.0], vec![9.0, 9.0, 0.0, 1.0, 0.0], vec![9.0, 9.0, 0.0, 0.0, 0.0]];
//! let mut poses = Poses::new(&bindings);
//! bindings.fit(Isa::best(), [&columns[0], &columns[1], &columns[2]], &mut poses);
//! assert!((poses.place(0) - DVec3::new(1.0, 0.0, 1.0)).length() < 1e-14);
//! # Ok::<(), pliant_math::procrustes::CloudError>(())
//! ```

mod fit;
mod jacobian;
#[cfg(test)]
mod tests;

use super::fit::Solution;
use super::{Cloud, Fit};
use crate::lanes::{Lanes, M3, V3};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Eight vectors: x, y and z of each lane.
pub type Eight = [[f64; 8]; 3];

/// Eight 3×3 matrices, `a[column][row]` of each lane.
pub type EightMatrices = [Eight; 3];

/// Bound points with their parents, in packs of eight. A pack has as many *slots* as the binding of most parents in it: slot s
/// of a pack holds parent s of each of the eight.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    packs: Vec<Pack>,
    parents: Vec<[u32; 8]>,
    weights: Vec<[f64; 8]>,
    /// wᵢ vᵢ
    offsets: Vec<Eight>,
    count: usize,
}

/// What eight bindings have once. Lanes that are not in use have no weight anywhere.
#[derive(Clone, Debug)]
struct Pack {
    slots: Range<usize>,
    /// v_b
    bound: Eight,
    /// The parent of most weight: an origin within the cloud, from which one pass is as good as two.
    heaviest: [u32; 8],
    /// What [`Fit`] needs of the clouds, one for each lane in use.
    size: [f64; 8],
    stiffness: [f64; 8],
    mean: Eight,
    counts: [usize; 8],
}

/// Where the clouds of a batch are. It goes from step to step: its rotations break ties. The default is of no clouds.
#[derive(Clone, Debug, Default)]
pub struct Poses {
    packs: Vec<Pose>,
    count: usize,
}

/// Where eight clouds are.
#[derive(Clone, Debug)]
struct Pose {
    rotation: EightMatrices,
    translation: Eight,
    /// φ
    place: Eight,
    sigma: Eight,
    compliance: EightMatrices,
    /// Root mean square distance of the parents from their mean, now.
    size: [f64; 8],
}

impl Pack {
    /// Bit k: lane k holds a binding.
    fn used(&self) -> u8 {
        (0..8).fold(0, |bits, lane| bits | u8::from(self.counts[lane] > 0) << lane)
    }
}

impl Bindings {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many packs of eight they are, the last not always full.
    pub fn packs(&self) -> usize {
        self.packs.len()
    }

    /// How many slots all packs have together: the length of what [`Bindings::transfer`] and [`Bindings::blocks`] fill.
    pub fn slots(&self) -> usize {
        self.weights.len()
    }

    /// Where a parent of a binding is in what is filled: its slot and its lane.
    pub fn slot(&self, binding: usize, parent: usize) -> (usize, usize) {
        let pack = &self.packs[binding / 8];
        assert!(parent < pack.counts[binding % 8], "binding {binding} has no parent {parent}");
        (pack.slots.start + parent, binding % 8)
    }

    /// The numbers of a binding's parents.
    pub fn parents(&self, binding: usize) -> impl Iterator<Item = u32> + '_ {
        let pack = &self.packs[binding / 8];
        let lane = binding % 8;
        self.parents[pack.slots.clone()][..pack.counts[lane]].iter().map(move |p| p[lane])
    }

    /// Adds a point bound to a cloud, told by its place at rest. The points of the cloud are found by these numbers in the
    /// positions. Bindings alike in number of parents are best added next to each other.
    ///
    /// # Panics
    /// If there is not one number for each point of the cloud.
    pub fn push(&mut self, cloud: &Cloud, parents: &[u32], rest_point: DVec3) {
        assert_eq!(parents.len(), cloud.len(), "one number for each point of the cloud");
        let lane = self.count % 8;
        if lane == 0 {
            let start = self.slots();
            self.packs.push(Pack {
                slots: start..start,
                bound: [[0.0; 8]; 3],
                heaviest: [0; 8],
                size: [0.0; 8],
                stiffness: [1.0; 8],
                mean: [[0.0; 8]; 3],
                counts: [0; 8],
            });
        }
        self.count += 1;
        // There is one: it was pushed with lane 0.
        let Some(pack) = self.packs.last_mut() else { return };
        while pack.slots.len() < cloud.len() {
            // Lanes with fewer parents take their heaviest again, without weight: any that is there will do.
            self.parents.push(pack.heaviest);
            self.weights.push([0.0; 8]);
            self.offsets.push([[0.0; 8]; 3]);
            pack.slots.end += 1;
        }
        let heaviest =
            (1..cloud.len()).fold(0, |h, i| if cloud.weights()[i] > cloud.weights()[h] { i } else { h });
        pack.heaviest[lane] = parents[heaviest];
        if lane == 0 {
            pack.heaviest = [parents[heaviest]; 8];
        }
        for (s, slot) in pack.slots.clone().enumerate() {
            self.parents[slot][lane] = *parents.get(s).unwrap_or(&parents[heaviest]);
            let w = cloud.weights().get(s).copied().unwrap_or(0.0);
            self.weights[slot][lane] = w;
            set(&mut self.offsets[slot], lane, cloud.offsets().get(s).map_or(DVec3::ZERO, |v| *v * w));
        }
        set(&mut pack.bound, lane, rest_point - cloud.mean());
        set(&mut pack.mean, lane, cloud.mean());
        pack.size[lane] = cloud.size();
        pack.stiffness[lane] = cloud.stiffness();
        pack.counts[lane] = cloud.len();
    }
}

impl Poses {
    /// Not fitted yet: for ties, the frame before is that of rest.
    pub fn new(bindings: &Bindings) -> Poses {
        let mut poses = Poses::default();
        poses.begin(bindings);
        poses
    }

    /// The same in the memory it has, which is enough for any batch no larger than one before.
    pub fn begin(&mut self, bindings: &Bindings) {
        let mut one = [[[0.0; 8]; 3]; 3];
        (0..3).for_each(|k| one[k][k] = [1.0; 8]);
        let zero = [[0.0; 8]; 3];
        let pose = Pose {
            rotation: one,
            translation: zero,
            place: zero,
            sigma: zero,
            compliance: [zero; 3],
            size: [0.0; 8],
        };
        self.packs.clear();
        self.packs.resize(bindings.packs(), pose);
        self.count = bindings.len();
    }

    /// φ of a binding.
    pub fn place(&self, binding: usize) -> DVec3 {
        get(&self.packs[binding / 8].place, binding % 8)
    }

    /// φ of eight bindings.
    pub fn places(&self, pack: usize) -> &Eight {
        &self.packs[pack].place
    }

    /// R of a binding's cloud.
    pub fn rotation(&self, binding: usize) -> DMat3 {
        get_matrix(&self.packs[binding / 8].rotation, binding % 8)
    }

    /// Takes up the frame before of a binding's cloud, which breaks ties in the next fit.
    pub fn set_rotation(&mut self, binding: usize, rotation: DMat3) {
        assert!(binding < self.count, "there is no binding {binding}");
        set_matrix(&mut self.packs[binding / 8].rotation, binding % 8, rotation);
    }

    /// All of the fit of one binding's cloud.
    pub fn get(&self, bindings: &Bindings, binding: usize) -> Fit {
        assert!(binding < self.count, "there is no binding {binding}");
        let (pose, pack, lane) = (&self.packs[binding / 8], &bindings.packs[binding / 8], binding % 8);
        let solution = Solution {
            rotation: get_matrix(&pose.rotation, lane),
            sigma: get(&pose.sigma, lane),
            compliance: get_matrix(&pose.compliance, lane),
        };
        let sizes = [pack.size[lane], pose.size[lane]];
        Fit::of(&solution, sizes, pack.stiffness[lane], get(&pose.translation, lane), get(&pack.mean, lane))
    }
}

fn get(v: &Eight, lane: usize) -> DVec3 {
    DVec3::new(v[0][lane], v[1][lane], v[2][lane])
}

fn set(v: &mut Eight, lane: usize, to: DVec3) {
    (0..3).for_each(|axis| v[axis][lane] = to[axis]);
}

fn get_matrix(m: &EightMatrices, lane: usize) -> DMat3 {
    DMat3::from_cols(get(&m[0], lane), get(&m[1], lane), get(&m[2], lane))
}

fn set_matrix(m: &mut EightMatrices, lane: usize, to: DMat3) {
    (0..3).for_each(|column| set(&mut m[column], lane, to.col(column)));
}

#[inline(always)]
fn load<L: Lanes>(l: L, v: &Eight) -> V3<L> {
    [l.load(&v[0]), l.load(&v[1]), l.load(&v[2])]
}

#[inline(always)]
fn load_matrices<L: Lanes>(l: L, m: &EightMatrices) -> M3<L> {
    [load(l, &m[0]), load(l, &m[1]), load(l, &m[2])]
}

#[inline(always)]
fn store<L: Lanes>(l: L, v: V3<L>, to: &mut Eight) {
    l.store(v[0], &mut to[0]);
    l.store(v[1], &mut to[1]);
    l.store(v[2], &mut to[2]);
}

#[inline(always)]
fn store_matrices<L: Lanes>(l: L, m: M3<L>, to: &mut EightMatrices) {
    store(l, m[0], &mut to[0]);
    store(l, m[1], &mut to[1]);
    store(l, m[2], &mut to[2]);
}

/// M · v
#[inline(always)]
fn times<L: Lanes>(l: L, m: &M3<L>, v: V3<L>) -> V3<L> {
    l.scale_add(v[2], m[2], l.scale_add(v[1], m[1], l.scale(v[0], m[0])))
}
