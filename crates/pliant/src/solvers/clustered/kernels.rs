//! The passes over memberships, eight lanes at a time: sums over clusters, goals over particles.
//!
//! Positions are relative to a point of the body that moves with it, rest positions to the body's rest
//! centre: rounding is that of the body's size, wherever it is. Every kernel is written once and
//! compiled for each instruction set, with the same bits on all (see [`pliant_math::lanes`]).

// Indices over coordinates read as the formulas do; and closures would not be inlined.
#![allow(clippy::needless_range_loop)]

use super::balance::ClusterInertia;
use super::layout::{ClusterPiece, Entries, Entry, WIDTH};
use glam::DVec3;
use pliant_math::lanes::{Kernel, Lanes, V3};

/// Entries of a cluster that are asked for before they are needed: in a large body they lie anywhere in memory.
const AHEAD: usize = 6;

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

/// The way g − x to a cluster's goals.
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

/// Sums of pieces, for [`super::fit`].
pub(super) struct FitSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    pub x: &'a [Points8],
    pub out: &'a mut [FitSum],
}

impl Kernel for FitSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        for p in 0..self.pieces.len() {
            // The sums do not depend on how many are made at a time, only the speed does.
            if L::REGISTERS >= 20 {
                self.columns::<L, 0, 4>(l, p);
            } else {
                self.columns::<L, 0, 2>(l, p);
                self.columns::<L, 2, 4>(l, p);
            }
        }
    }
}

impl FitSums<'_> {
    /// Columns `FROM..TO` of piece `p`: 0 is Σ m x, then the three of Σ m x qᵀ.
    #[inline(always)]
    fn columns<L: Lanes, const FROM: usize, const TO: usize>(&mut self, l: L, p: usize) {
        let KernelInputs { by_cluster, weights, centers, .. } = self.fixed;
        let piece = &self.pieces[p];
        let center = splat3(l, centers[piece.cluster as usize]);
        let mut sums = [[l.splat(0.0); 3]; 4];
        for e in piece.entries.start as usize..piece.entries.end as usize {
            if let Some(Entry { index, .. }) = by_cluster.list.get(e + AHEAD) {
                l.prefetch(&self.x[*index as usize]);
                l.prefetch(&weights[*index as usize]);
            }
            let Entry { index, mask } = by_cluster.list[e];
            let w = &weights[index as usize];
            let mut x = load3(l, &self.x[index as usize].0);
            if let Some(shares) = by_cluster.shares.get(e) {
                x = l.scale(l.load(shares), x);
            } else if mask != u8::MAX {
                let m = l.mask(mask);
                x = [l.keep(m, x[0]), l.keep(m, x[1]), l.keep(m, x[2])];
            }
            let weight = l.load(&w.weight);
            for j in FROM..TO {
                let factor = match j {
                    0 => weight,
                    // m (r − r_cm). About the rest centre Σ m q = 0, so the mean of x drops out.
                    _ => l.neg_mul_add(weight, center[j - 1], l.load(&w.weighted[j - 1])),
                };
                sums[j] = l.scale_add(factor, x, sums[j]);
            }
        }
        for j in FROM..TO {
            for i in 0..3 {
                self.out[p][3 * j + i] = l.sum(sums[j][i]);
            }
        }
    }
}

/// Sums over the quadratic terms, for clusters that have them.
pub(super) struct QuadraticSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    /// Bodies it is for.
    pub quadratic: &'a [QuadraticGoal],
    pub x: &'a [Points8],
    pub out: &'a mut [QuadraticSum],
}

impl Kernel for QuadraticSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let KernelInputs { by_cluster, weights, rest, .. } = self.fixed;
        for (piece, out) in self.pieces.iter().zip(self.out) {
            let k = piece.cluster as usize;
            let goal = &self.quadratic[k];
            if goal.scale == 0.0 {
                continue;
            }
            let mut sums = [[l.splat(0.0); 3]; 6];
            for e in piece.entries.start as usize..piece.entries.end as usize {
                let index = by_cluster.list[e].index as usize;
                let m = l.mul(KernelInputs::lanes_of(l, by_cluster, e), l.load(&weights[index].weight));
                let x = l.scale(m, load3(l, &self.x[index].0));
                let t = terms(l, load3(l, &rest[index].rest), goal.center, goal.scale);
                for k in 0..6 {
                    sums[k] = l.scale_add(t[k], x, sums[k]);
                }
            }
            for k in 0..6 {
                for i in 0..3 {
                    out[3 * k + i] = l.sum(sums[k][i]);
                }
            }
        }
    }
}

/// Momentum, inertia and angular momentum of clusters about their present centres.
pub(super) struct MotionSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    /// Bodies it is for.
    pub centers: &'a [DVec3],
    pub x: &'a [Points8],
    pub v: &'a [Points8],
    pub out: &'a mut [MotionSum],
}

impl Kernel for MotionSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let KernelInputs { by_cluster, weights, .. } = self.fixed;
        for (piece, out) in self.pieces.iter().zip(self.out) {
            let k = piece.cluster as usize;
            let center = splat3(l, self.centers[k].to_array());
            let zero = [l.splat(0.0); 3];
            let (mut momentum, mut squares, mut products, mut spin) = (zero, zero, zero, zero);
            for e in piece.entries.start as usize..piece.entries.end as usize {
                let index = by_cluster.list[e].index as usize;
                let m = l.mul(KernelInputs::lanes_of(l, by_cluster, e), l.load(&weights[index].weight));
                let d = sub3(l, load3(l, &self.x[index].0), center);
                let mv = l.scale(m, load3(l, &self.v[index].0));
                let md = l.scale(m, d);
                momentum = add3(l, momentum, mv);
                spin = add_cross(l, spin, d, mv);
                for i in 0..3 {
                    squares[i] = l.mul_add(md[i], d[i], squares[i]);
                    products[i] = l.mul_add(md[i], d[(i + 1) % 3], products[i]);
                }
            }
            let all = [momentum, squares, products, spin];
            for j in 0..4 {
                for i in 0..3 {
                    out[3 * j + i] = l.sum(all[j][i]);
                }
            }
        }
    }
}

/// Momentum and angular momentum of what limiting would move, about the centres at the start.
pub(super) struct BalanceSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    /// Bodies it is for.
    pub goals: &'a [Goal],
    pub quadratic: &'a [QuadraticGoal],
    pub anchors: &'a [ClusterInertia],
    /// Lanes that are not held.
    pub free: &'a [u8],
    pub start: &'a [Points8],
    pub x: &'a [Points8],
    pub out: &'a mut [BalanceSum],
}

impl Kernel for BalanceSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let KernelInputs { by_cluster, weights, rest, .. } = self.fixed;
        for (piece, out) in self.pieces.iter().zip(self.out) {
            let k = piece.cluster as usize;
            let center = splat3(l, self.anchors[k].center.to_array());
            let quadratic = self.quadratic.get(k).filter(|q| q.scale > 0.0);
            let zero = [l.splat(0.0); 3];
            let (mut push, mut torque) = (zero, zero);
            for e in piece.entries.start as usize..piece.entries.end as usize {
                let index = by_cluster.list[e].index as usize;
                let displacement = displacement_to_goal(
                    l,
                    &self.goals[k],
                    quadratic,
                    load3(l, &rest[index].rest),
                    load3(l, &self.x[index].0),
                );
                let free = l.mask(self.free[index]);
                let Some(beyond) = beyond_limit(l, displacement, &self.goals[k], free) else { continue };
                let m = l.mul(KernelInputs::lanes_of(l, by_cluster, e), l.load(&weights[index].weight));
                let moved = l.scale(l.mul(m, beyond), displacement);
                push = add3(l, push, moved);
                torque = add_cross(l, torque, sub3(l, load3(l, &self.start[index].0), center), moved);
            }
            for i in 0..3 {
                out[i] = l.sum(push[i]);
                out[3 + i] = l.sum(torque[i]);
            }
        }
    }
}

/// What the clusters of a block say about its particles.
struct Averages<L: Lanes> {
    /// Σ share · weight · (g − x), with the painted stiffness or what is beyond the limit as weight.
    displacement: V3<L>,
    /// Σ share · (base, turn) of the clusters' screws.
    base: V3<L>,
    turn: V3<L>,
    /// Largest squared distance from a goal, in widths.
    farthest: L::F,
    /// Whether anything is beyond its limit.
    beyond: bool,
}

/// Averages over the clusters of block `b`. What is not asked for is not computed.
#[inline(always)]
fn average<L: Lanes, const GENERAL: bool, const LIMITED: bool, const SCREWS: bool, const MEASURE: bool>(
    l: L,
    fixed: &KernelInputs<'_>,
    b: usize,
    (goals, quadratic, screws): (&[Goal], &[QuadraticGoal], &[Screw]),
    x: V3<L>,
) -> Averages<L> {
    let zero = [l.splat(0.0); 3];
    let mut averages: Averages<L> =
        Averages { displacement: zero, base: zero, turn: zero, farthest: l.splat(0.0), beyond: false };
    let rest = load3(l, &fixed.rest[b].rest);
    let entries = fixed.by_block;
    for e in entries.range(b) {
        let Entry { index, mask } = entries.list[e];
        let (k, mask) = (index as usize, l.mask(mask));
        let goal = &goals[k];
        let quadratic = if GENERAL { quadratic.get(k).filter(|q| q.scale > 0.0) } else { None };
        let displacement = displacement_to_goal(l, goal, quadratic, rest, x);
        let shares = if GENERAL { KernelInputs::lanes_of(l, entries, e) } else { l.splat(1.0) };
        let weight = match LIMITED {
            true => beyond_limit(l, displacement, goal, mask),
            false => Some(l.keep(mask, l.splat(goal.pull))),
        };
        if let Some(mut weight) = weight {
            if GENERAL {
                weight = l.mul(weight, shares);
            }
            averages.displacement = l.scale_add(weight, displacement, averages.displacement);
            averages.beyond = true;
        }
        if MEASURE {
            let distance =
                l.keep(mask, l.mul(l.dot(displacement, displacement), l.splat(goal.inverse_width)));
            averages.farthest = l.max(distance, averages.farthest);
        }
        if SCREWS {
            let shares = if GENERAL { shares } else { l.keep(mask, shares) };
            averages.base = l.scale_add(shares, splat3(l, screws[k].base.to_array()), averages.base);
            averages.turn = l.scale_add(shares, splat3(l, screws[k].turn.to_array()), averages.turn);
        }
    }
    averages
}

/// Numbers of a body that the kernels need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drive {
    /// Change of velocity per way to the goal.
    pub pull: f64,
    /// Movement per way to the goal, besides what the velocity does.
    pub jump: f64,
    /// Share of the non-rigid velocity that decays, and of all velocity that stays.
    pub damping: f64,
    pub keep: f64,
    /// Change of velocity by external forces.
    pub kick: [f64; 3],
    /// Seconds the new velocity moves the particle.
    pub advance: f64,
}

/// Velocities and positions after the springs of one substep.
///
/// For the strain-limited integrator: v* = (v + pull · way + damping) keep + kick, x⁰ = x + h v*
/// (algorithm 1, lines 2 and 3). For the deformer, whose forces and Euler step came before: v + pull ·
/// way and x + jump · way (eq. 7). The one formula covers both.
pub(super) struct Springs<'a> {
    pub fixed: KernelInputs<'a>,
    pub first: usize,
    pub goals: &'a [Goal],
    pub quadratic: &'a [QuadraticGoal],
    pub screws: &'a [Screw],
    pub drive: Drive,
    pub x: &'a mut [Points8],
    pub v: &'a mut [Points8],
    /// The new positions once more, for what planes and limits change about them.
    pub predicted: &'a mut [Points8],
}

impl Kernel for Springs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        match self.fixed.is_general(self.quadratic) {
            true => self.over_blocks::<L, true>(l),
            false => self.over_blocks::<L, false>(l),
        }
    }
}

impl Springs<'_> {
    #[inline(always)]
    fn over_blocks<L: Lanes, const GENERAL: bool>(self, l: L) {
        let clusters = (self.goals, self.quadratic, self.screws);
        for (k, ((to_x, to_v), predicted)) in self.x.iter_mut().zip(self.v).zip(self.predicted).enumerate() {
            let b = self.first + k;
            let drive = &self.drive;
            let (x, v) = (load3(l, &to_x.0), load3(l, &to_v.0));
            let share = l.load(&self.fixed.rest[b].share);
            let (averages, calm) = if drive.damping > 0.0 {
                let averages = average::<L, GENERAL, false, true, false>(l, &self.fixed, b, clusters, x);
                let rigid = l.scale(share, add_cross(l, averages.base, averages.turn, x));
                (averages, l.scale(l.splat(drive.damping), sub3(l, rigid, v)))
            } else {
                let averages = average::<L, GENERAL, false, false, false>(l, &self.fixed, b, clusters, x);
                (averages, [l.splat(0.0); 3])
            };
            let mut next =
                l.scale_add(l.mul(share, l.splat(drive.pull)), averages.displacement, add3(l, v, calm));
            next = l.scale_add(l.splat(drive.keep), next, splat3(l, drive.kick));
            let mut to = l.scale_add(l.splat(drive.advance), next, x);
            if drive.jump > 0.0 {
                to = l.scale_add(l.mul(share, l.splat(drive.jump)), averages.displacement, to);
            }
            store3(l, next, &mut to_v.0);
            store3(l, to, &mut to_x.0);
            store3(l, to, &mut predicted.0);
        }
    }
}

/// Forces and the explicit Euler step of the deformer (eq. 4): p + h v with the velocity before the
/// forces. Impulses come after it, for the few lanes that touch something.
pub(super) struct Euler<'a> {
    /// Seconds, share of the velocity that stays, and its change by forces.
    pub drive: (f64, f64, [f64; 3]),
    pub x: &'a mut [Points8],
    pub v: &'a mut [Points8],
}

impl Kernel for Euler<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (h, keep, kick) = self.drive;
        for (to_x, to_v) in self.x.iter_mut().zip(self.v) {
            let v = load3(l, &to_v.0);
            store3(l, l.scale_add(l.splat(h), v, load3(l, &to_x.0)), &mut to_x.0);
            store3(l, l.scale_add(l.splat(keep), v, splat3(l, kick)), &mut to_v.0);
        }
    }
}

/// Which lanes are inside an obstacle, or nearer to it than their radius.
pub(super) struct Inside<'a> {
    pub planes: &'a [crate::contact::Obstacle],
    pub radii: &'a [f64; WIDTH],
    pub x: &'a Points8,
}

impl Kernel for Inside<'_> {
    type Output = u8;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> u8 {
        let (x, radii) = (load3(l, &self.x.0), l.load(self.radii));
        let mut inside = 0;
        for plane in self.planes.iter().map(|o| &o.end) {
            let height = l.sub(l.dot(splat3(l, plane.normal.to_array()), x), radii);
            inside |= l.bits(l.lt(height, l.splat(plane.offset)));
        }
        inside
    }
}

/// How a body's limits are met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxation {
    pub omega: f64,
    pub gamma: f64,
    /// Whether clusters take the momentum of their corrections back.
    pub conserve: bool,
}

/// One iteration of strain limiting: lines 5 and 6 of algorithm 1 as a correction, which leaves
/// particles within their limits untouched to the last bit.
pub(super) struct Limit<'a> {
    pub fixed: KernelInputs<'a>,
    pub first: usize,
    pub goals: &'a [Goal],
    pub quadratic: &'a [QuadraticGoal],
    /// What each cluster takes back, where bodies conserve momentum.
    pub reactions: &'a [Screw],
    pub relaxation: Relaxation,
    pub free: &'a [u8],
    pub start: &'a [Points8],
    pub x: &'a mut [Points8],
    /// Lanes that were moved.
    pub moved: &'a mut [u8],
    /// Whether to find out how far from the goals particles are.
    pub measure: bool,
}

impl Kernel for Limit<'_> {
    /// How far beyond its body's limit the farthest particle was, in widths, if asked for.
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> f64 {
        match (self.fixed.is_general(self.quadratic), self.measure) {
            (true, _) => self.over_blocks::<L, true, true>(l),
            (false, true) => self.over_blocks::<L, false, true>(l),
            (false, false) => self.over_blocks::<L, false, false>(l),
        }
    }
}

impl Limit<'_> {
    #[inline(always)]
    fn over_blocks<L: Lanes, const GENERAL: bool, const MEASURE: bool>(self, l: L) -> f64 {
        let clusters = (self.goals, self.quadratic, self.reactions);
        let mut excess = 0.0_f64;
        for (k, (to, moved)) in self.x.iter_mut().zip(self.moved).enumerate() {
            let b = self.first + k;
            *moved = 0;
            let Relaxation { omega, gamma, conserve } = self.relaxation;
            let x = load3(l, &to.0);
            let (averages, mut correction);
            if conserve {
                averages = average::<L, GENERAL, true, true, MEASURE>(l, &self.fixed, b, clusters, x);
                let start = load3(l, &self.start[b].0);
                correction =
                    sub3(l, averages.displacement, add_cross(l, averages.base, averages.turn, start));
            } else {
                averages = average::<L, GENERAL, true, false, MEASURE>(l, &self.fixed, b, clusters, x);
                correction = averages.displacement;
            }
            if MEASURE {
                let mut lanes = [0.0; WIDTH];
                l.store(averages.farthest, &mut lanes);
                let farthest = lanes.iter().fold(0.0, |m: f64, v| m.max(*v)).sqrt();
                excess = excess.max(farthest - gamma);
            }
            if !conserve && !averages.beyond {
                continue;
            }
            // An empty or held lane goes nowhere.
            let share = l.load(&self.fixed.rest[b].share);
            let step = l.keep(l.mask(self.free[b]), l.mul(share, l.splat(omega)));
            correction = l.scale(step, correction);
            *moved = l.bits(l.gt(l.dot(correction, correction), l.splat(0.0)));
            store3(l, add3(l, x, correction), &mut to.0);
        }
        excess
    }
}

/// Line 9 of algorithm 1, v = (x(t+h) − x(t))/h, written as v* + (x(t+h) − x⁰)/h: the same in exact
/// arithmetic, and exactly v* where nothing was limited. Leaves x(t+h) − x(t) in `start`.
pub(super) struct Finish<'a> {
    pub per_second: f64,
    pub x: &'a [Points8],
    pub predicted: &'a [Points8],
    pub start: &'a mut [Points8],
    pub v: &'a mut [Points8],
}

impl Kernel for Finish<'_> {
    /// Whether everything is a number.
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> bool {
        let most = l.splat(f64::MAX);
        let mut finite = l.mask(u8::MAX);
        for (((x, predicted), start), v) in self.x.iter().zip(self.predicted).zip(self.start).zip(self.v) {
            let at = load3(l, &x.0);
            let moved = sub3(l, at, load3(l, &predicted.0));
            let next = l.scale_add(l.splat(self.per_second), moved, load3(l, &v.0));
            let displacement = sub3(l, at, load3(l, &start.0));
            for i in 0..3 {
                finite = l.and(finite, l.le(l.abs(next[i]), most));
                finite = l.and(finite, l.le(l.abs(displacement[i]), most));
            }
            store3(l, next, &mut v.0);
            store3(l, displacement, &mut start.0);
        }
        l.bits(finite) == u8::MAX
    }
}
