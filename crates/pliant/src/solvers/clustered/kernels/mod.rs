//! The passes over memberships, eight lanes at a time: sums over clusters, goals over particles.
//!
//! Positions are relative to a point of the body that moves with it, rest positions to the body's rest
//! centre: rounding is that of the body's size, wherever it is. Every kernel is written once and
//! compiled for each instruction set, with the same bits on all (see [`pliant_math::lanes`]).

// Indices over coordinates read as the formulas do; and closures would not be inlined.
#![allow(clippy::needless_range_loop)]

mod averages;
mod limits;
mod springs;
mod sums;

use super::layout::{Entries, WIDTH};
use glam::DVec3;
use pliant_math::lanes::{Lanes, V3};

pub(super) use limits::{Inside, Limit, Relaxation};
pub(super) use springs::{Drive, Euler, Finish, Springs};
pub(super) use sums::{BalanceSums, FitSums, MotionSums, QuadraticSums};

/// Eight points: x, y and z columns.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Points8(pub [[f64; WIDTH]; 3]);

impl Points8 {
    #[inline(always)]
    pub fn get(&self, lane: usize) -> DVec3 {
        DVec3::new(self.0[0][lane], self.0[1][lane], self.0[2][lane])
    }

    #[inline(always)]
    pub fn set(&mut self, lane: usize, p: DVec3) {
        (self.0[0][lane], self.0[1][lane], self.0[2][lane]) = (p.x, p.y, p.z);
    }
}

/// Rest positions times mass, and mass, as sums need them: m r, m, where m is the part of a particle
/// that one of its clusters has if all have the same.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weights {
    pub weighted: [[f64; WIDTH]; 3],
    pub weight: [f64; WIDTH],
}

/// Rest positions and the equal share of each cluster, as goals need them.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RestBlock {
    pub rest: [[f64; WIDTH]; 3],
    pub share: [f64; WIDTH],
}

/// A cluster's goals g = linear · r + shift, and what its limit is.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Goal {
    /// By columns.
    pub linear: [[f64; 3]; 3],
    pub shift: [f64; 3],
    /// Painted stiffness, 0 to 1.
    pub pull: f64,
    /// 1/(γ w)², zero for no limit.
    pub inverse_limit: f64,
    /// 1/w², zero for a single point.
    pub inverse_width: f64,
}

/// The quadratic part of a goal: `terms` over (r − center) · scale. The centring of the terms is in
/// the shift.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuadraticGoal {
    pub terms: [[f64; 3]; 6],
    pub center: [f64; 3],
    /// 1/w; zero where the cluster's goals are not quadratic.
    pub scale: f64,
}

/// A field base + turn × x: a rigid velocity, or a rigid displacement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Screw {
    pub base: DVec3,
    pub turn: DVec3,
}

/// Σ m x (3), Σ m x qᵀ (9, by columns).
pub(super) type FitSum = [f64; 12];
/// Σ m x t for the six quadratic terms.
pub(super) type QuadraticSum = [f64; 18];
/// Σ m v (3), Σ m d dᵀ (xx, yy, zz, xy, yz, zx), Σ m d × v (3), d from the cluster's centre.
pub(super) type MotionSum = [f64; 12];
/// Σ m c (3) and Σ m d × c (3) of corrections c.
pub(super) type BalanceSum = [f64; 6];

#[inline(always)]
fn load3<L: Lanes>(l: L, v: &[[f64; WIDTH]; 3]) -> V3<L> {
    [l.load(&v[0]), l.load(&v[1]), l.load(&v[2])]
}

#[inline(always)]
fn store3<L: Lanes>(l: L, v: V3<L>, to: &mut [[f64; WIDTH]; 3]) {
    l.store(v[0], &mut to[0]);
    l.store(v[1], &mut to[1]);
    l.store(v[2], &mut to[2]);
}

#[inline(always)]
fn splat3<L: Lanes>(l: L, v: [f64; 3]) -> V3<L> {
    [l.splat(v[0]), l.splat(v[1]), l.splat(v[2])]
}

#[inline(always)]
fn sub3<L: Lanes>(l: L, a: V3<L>, b: V3<L>) -> V3<L> {
    [l.sub(a[0], b[0]), l.sub(a[1], b[1]), l.sub(a[2], b[2])]
}

#[inline(always)]
fn add3<L: Lanes>(l: L, a: V3<L>, b: V3<L>) -> V3<L> {
    [l.add(a[0], b[0]), l.add(a[1], b[1]), l.add(a[2], b[2])]
}

/// a + b × c
#[inline(always)]
fn add_cross<L: Lanes>(l: L, a: V3<L>, b: V3<L>, c: V3<L>) -> V3<L> {
    [
        l.neg_mul_add(b[2], c[1], l.mul_add(b[1], c[2], a[0])),
        l.neg_mul_add(b[0], c[2], l.mul_add(b[2], c[0], a[1])),
        l.neg_mul_add(b[1], c[0], l.mul_add(b[0], c[1], a[2])),
    ]
}

/// The six quadratic terms of (r − center) · scale.
#[inline(always)]
fn terms<L: Lanes>(l: L, r: V3<L>, center: [f64; 3], scale: f64) -> [L::F; 6] {
    let q = l.scale(l.splat(scale), sub3(l, r, splat3(l, center)));
    [
        l.mul(q[0], q[0]),
        l.mul(q[1], q[1]),
        l.mul(q[2], q[2]),
        l.mul(q[0], q[1]),
        l.mul(q[1], q[2]),
        l.mul(q[2], q[0]),
    ]
}

/// The displacement g − x to a cluster's goals.
#[inline(always)]
fn displacement_to_goal<L: Lanes>(
    l: L,
    goal: &Goal,
    quadratic: Option<&QuadraticGoal>,
    r: V3<L>,
    x: V3<L>,
) -> V3<L> {
    let mut displacement = sub3(l, splat3(l, goal.shift), x);
    for j in 0..3 {
        for i in 0..3 {
            displacement[i] = l.mul_add(l.splat(goal.linear[j][i]), r[j], displacement[i]);
        }
    }
    if let Some(quadratic) = quadratic {
        let t = terms(l, r, quadratic.center, quadratic.scale);
        for k in 0..6 {
            for i in 0..3 {
                displacement[i] = l.mul_add(l.splat(quadratic.terms[k][i]), t[k], displacement[i]);
            }
        }
    }
    displacement
}

/// 1 − min(γ/β, 1) of lines 9 and 10 of algorithm 2: the share of the way to its goal that a particle
/// must go to be within γ cluster widths of it, for lanes of `mask`; `None` if all are within.
#[inline(always)]
fn beyond_limit<L: Lanes>(l: L, displacement: V3<L>, goal: &Goal, mask: L::M) -> Option<L::F> {
    // (distance / limit)²
    let square = l.mul(l.dot(displacement, displacement), l.splat(goal.inverse_limit));
    let one = l.splat(1.0);
    let over = l.and(mask, l.gt(square, one));
    // Most are within their limits most of the time; the root has four times the latency of the rest.
    if l.bits(over) == 0 {
        return None;
    }
    // Within the range of the rough root; above, nothing changes. One Newton step: to 1e-13, which is
    // plenty for a limit.
    let square = l.min(square, l.splat(1e36));
    let y = l.rsqrt_rough(square);
    let error = l.neg_mul_add(l.mul(square, y), y, one);
    let y = l.mul_add(l.mul(y, l.splat(0.5)), error, y);
    Some(l.keep(over, l.sub(one, y)))
}

/// Everything the kernels read that stays the same during a substep.
#[derive(Clone, Copy)]
pub(super) struct KernelInputs<'a> {
    pub by_cluster: &'a Entries,
    pub by_block: &'a Entries,
    pub weights: &'a [Weights],
    pub rest: &'a [RestBlock],
    /// Rest centres of the clusters.
    pub centers: &'a [[f64; 3]],
}

impl KernelInputs<'_> {
    /// Whether some particle is split unequally or some goal is quadratic: kernels have a general form
    /// for that and a faster one without.
    fn is_general(&self, quadratic: &[QuadraticGoal]) -> bool {
        !self.by_block.shares.is_empty() || !quadratic.is_empty()
    }

    /// The share of each lane of an entry of `entries`, in units of the equal share.
    #[inline(always)]
    fn lanes_of<L: Lanes>(l: L, entries: &Entries, e: usize) -> L::F {
        match entries.shares.get(e) {
            Some(shares) => l.load(shares),
            None => l.keep(l.mask(entries.list[e].mask), l.splat(1.0)),
        }
    }
}
