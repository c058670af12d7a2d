//! What holds particles back: limits of strain, and which of them are inside an obstacle.

use super::averages::average;
use super::{
    Goal, KernelInputs, Points8, QuadraticGoal, Screw, add_cross, add3, load3, splat3, store3, sub3,
};
use crate::contact::Obstacle;
use crate::solvers::clustered::layout::WIDTH;
use pliant_math::lanes::{Kernel, Lanes};

/// How a body's limits are met.
#[derive(Clone, Copy, Debug)]
pub struct Relaxation {
    pub omega: f64,
    pub gamma: f64,
    /// Whether clusters take the momentum of their corrections back.
    pub conserve: bool,
}

/// One iteration of strain limiting: lines 5 and 6 of algorithm 1 as a correction, which leaves
/// particles within their limits untouched to the last bit.
pub struct Limit<'a> {
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

/// Which lanes are inside an obstacle, or nearer to it than their radius.
pub struct Inside<'a> {
    pub planes: &'a [Obstacle],
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
