//! What the clusters of a block say about its particles, averaged: goals, limits and rigid motions.

use super::{Goal, KernelInputs, QuadraticGoal, Screw, beyond_limit, displacement_to_goal, load3, splat3};
use crate::solvers::clustered::layout::Entry;
use pliant_math::lanes::{Lanes, V3};

/// What the clusters of a block say about its particles.
pub struct Averages<L: Lanes> {
    /// Σ share · weight · (g − x), with the painted stiffness or what is beyond the limit as weight.
    pub displacement: V3<L>,
    /// Σ share · (base, turn) of the clusters' screws.
    pub base: V3<L>,
    pub turn: V3<L>,
    /// Largest squared distance from a goal, in widths.
    pub farthest: L::F,
    /// Whether anything is beyond its limit.
    pub beyond: bool,
}

/// Averages over the clusters of block `b`. What is not asked for is not computed.
#[inline(always)]
pub fn average<
    L: Lanes,
    const GENERAL: bool,
    const LIMITED: bool,
    const SCREWS: bool,
    const MEASURE: bool,
>(
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
