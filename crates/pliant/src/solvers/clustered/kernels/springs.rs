//! How particles move when nothing holds them back: springs toward the goals, the deformer's Euler step, and the velocities
//! in the end.

use super::averages::average;
use super::{
    Goal, KernelInputs, Points8, QuadraticGoal, Screw, add_cross, add3, load3, splat3, store3, sub3,
};
use pliant_math::lanes::{Kernel, Lanes};

/// Numbers of a body that the kernels need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drive {
    /// Change of velocity per displacement to the goal, 1/s.
    pub pull: f64,
    /// Movement per displacement to the goal, besides what the velocity does.
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
/// For the strain-limited integrator: v* = (v + pull · (g − x) + damping) keep + kick, x⁰ = x + h v*
/// (algorithm 1, lines 2 and 3). For the deformer, whose forces and Euler step came before: v + pull ·
/// (g − x) and x + jump · (g − x) (eq. 7). The one formula covers both.
pub struct Springs<'a> {
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
pub struct Euler<'a> {
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

/// Line 9 of algorithm 1, v = (x(t+h) − x(t))/h, written as v* + (x(t+h) − x⁰)/h: the same in exact
/// arithmetic, and exactly v* where nothing was limited. Leaves x(t+h) − x(t) in `start`.
pub struct Finish<'a> {
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
