//! Sums over the members of clusters, piece by piece: what fits, rigid motions and balances are made of.

// Indices over coordinates read as the formulas do; and closures would not be inlined.
#![allow(clippy::needless_range_loop)]

use super::{
    BalanceSum, FitSum, Goal, KernelInputs, MotionSum, Points8, QuadraticGoal, QuadraticSum, add_cross, add3,
    beyond_limit, displacement_to_goal, load3, splat3, sub3, terms,
};
use crate::solvers::clustered::balance::ClusterInertia;
use crate::solvers::clustered::layout::{ClusterPiece, Entry};
use glam::DVec3;
use pliant_math::lanes::{Kernel, Lanes};

/// Entries of a cluster that are asked for before they are needed: in a large body they lie anywhere in memory.
const AHEAD: usize = 6;

/// Sums of pieces, for [`fit`](super::super::fit).
pub struct FitSums<'a> {
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
pub struct QuadraticSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    /// By cluster; a scale of zero where goals are not quadratic.
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
pub struct MotionSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    /// Where each cluster's centre is now.
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
pub struct BalanceSums<'a> {
    pub fixed: KernelInputs<'a>,
    pub pieces: &'a [ClusterPiece],
    /// By cluster.
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
