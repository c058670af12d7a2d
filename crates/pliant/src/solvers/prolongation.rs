//! The end of a substep with θ < 1: from θ h on to h, without adding energy.
//!
//! An implicit Euler step to θ h only loses energy; carrying it on to h gives back what it lost. For linear springs
//! that is exact at θ = ½. Beyond them, and where iterations stop early, it may give back more than there was,
//! and in stiff bodies that grows from step to step. So the energy of every body is compared with
//! what it had, and if there is more, the motion that deforms it gives it up: first its velocity, then the part of
//! its prolongation, in the end all of the deformation of this substep. Motion as a rigid body is left alone, so
//! momentum is kept. A body that is pinned or touches something gives up all of its motion in the same way, and
//! stays between where it began and where it would have ended: outside of what it touches.
//!
//! The midpoint rule's energy swings a little around what it keeps. What a body without contact lost in earlier
//! substeps, up to a small part of what it has, is therefore remembered in the state and may come back.

use super::Subject;
use super::damping::RigidVelocity;
use super::energy::ElasticEnergy;
use super::implicit::SubstepEnd;
use crate::dofs::Dof;
use crate::memory::Section;
use crate::points::Points;
use crate::state::BodyState;
use glam::{DQuat, DVec3};

/// Shares of the prolongation tried one after the other.
const SHARES: [f64; 3] = [0.5, 0.25, 0.0];
/// The most of the deforming motion's kinetic energy that is taken before its prolongation is shortened.
const MOST: f64 = 0.75;
/// The most lost energy that is remembered, relative to what there is.
const REMEMBERED: f64 = 0.05;
/// Energy above what there was that is rounding, relative.
const ROUNDING: f64 = 1e-13;

#[derive(Clone, Debug)]
pub(super) struct Prolongation {
    /// Where particles are at θ h.
    pub middle: Points,
    /// Elastic energy before and after.
    before: f64,
    after: f64,
    /// Where particles began, prescribed ones excepted: those are where they end.
    begin: Points,
    /// The end of the substep as prolonged, and what of it is being taken apart.
    full_x: Points,
    full_v: Points,
    part: Points,
}

impl Prolongation {
    pub fn new(particles: usize) -> Prolongation {
        let points = || Points::zeros(particles);
        Prolongation {
            middle: points(),
            before: 0.0,
            after: 0.0,
            begin: points(),
            full_x: points(),
            full_v: points(),
            part: points(),
        }
    }

    /// Takes from the end of the substep, which is in `state`, what energy there is too much. All is seen from what
    /// carries the body.
    pub fn limit(&mut self, energy: &mut ElasticEnergy, passage: SubstepEnd<'_>, state: &mut BodyState) {
        let SubstepEnd { end, dofs, start, touching, .. } = passage;
        let model = end.model;
        let carry = touching.velocity * model.params.substep();
        (0..start.len()).for_each(|i| self.begin.set(i, start.get(i) + carry));
        for i in (0..model.particle_count()).filter(|i| dofs.get(*i) == &Dof::Fixed) {
            self.begin.set(i, state.x.get(i));
        }
        self.full_x.copy_from(&state.x);
        self.full_v.copy_from(&state.v);
        self.before = energy.measure(end, &self.begin, &state.memory);
        for attempt in 0..=SHARES.len() {
            self.after = energy.measure(end, &state.x, &state.memory);
            if self.calm(passage, attempt, state) {
                return;
            }
        }
    }

    /// Brings the energy of a body down to what it was. Tells whether it is done; if not, the body has moved less
    /// far, and its energy is to be measured again.
    fn calm(&mut self, passage: SubstepEnd<'_>, attempt: usize, state: &mut BodyState) -> bool {
        let SubstepEnd { end: Subject { model, controls, .. }, start, arriving, touching, .. } = passage;
        let (pull, h, mass) = (controls.pull(), model.params.substep(), &model.rest().mass);
        let particles = 0..mass.len();
        let (mut kinetic, mut excess) = (0.0, self.after - self.before - touching.work);
        let carry = touching.velocity;
        for (i, &m) in mass.iter().enumerate() {
            let (was, is) = (arriving.get(i) - pull * h - carry, state.v.get(i) - carry);
            kinetic += 0.5 * m * was.length_squared();
            excess += 0.5 * m * (is.length_squared() - was.length_squared());
            excess -= m * pull.dot(state.x.get(i) - start.get(i) - carry * h);
        }
        let had = kinetic + self.before;
        let lost = &mut state.memory[Section::LostEnergy][0];
        let free = !touching.any;
        // What obstacles and moving pins take is not the integrator's to give back.
        let held = |i: usize| passage.dofs.get(i) == &Dof::Fixed;
        let alone = free && particles.clone().all(|i| !held(i) || self.begin.get(i) == start.get(i));
        if excess <= *lost + ROUNDING * had {
            *lost = if alone { (*lost - excess).clamp(0.0, REMEMBERED * had) } else { 0.0 };
            return true;
        }
        let excess = excess - *lost;
        let loose = free && particles.clone().all(|i| !held(i));
        let points = || mass.iter().copied().enumerate();
        let carried = RigidVelocity { linear: carry, ..RigidVelocity::REST };
        let rigid = if loose { RigidVelocity::fit(points, &state.x, &state.v) } else { carried };
        let deforming: f64 = points()
            .map(|(i, m)| 0.5 * m * (state.v.get(i) - rigid.at(state.x.get(i))).length_squared())
            .sum();
        let last = attempt == SHARES.len();
        if excess <= MOST * deforming || (last && excess <= deforming) {
            *lost = 0.0;
            let keep = (1.0 - excess / deforming).max(0.0).sqrt();
            for i in particles.filter(|i| passage.dofs.get(*i) != &Dof::Fixed) {
                let along = rigid.at(state.x.get(i));
                state.v.set(i, along + (state.v.get(i) - along) * keep);
            }
            return true;
        }
        if last {
            *lost = 0.0;
            self.stiffen(passage, loose, state);
            return true;
        }
        self.shorten(passage, loose, SHARES[attempt], state);
        false
    }

    /// Prolongs the deforming part of the motion by a share only.
    fn shorten(&mut self, passage: SubstepEnd<'_>, loose: bool, share: f64, state: &mut BodyState) {
        let Prolongation { middle, full_x, full_v, part, .. } = self;
        let SubstepEnd { end: Subject { model, .. }, start, theta, dofs, touching, .. } = passage;
        let reach = theta * model.params.substep();
        let points = || model.rest().mass.iter().copied().enumerate();
        let body = 0..model.particle_count();
        let implicit = |i: usize| (middle.get(i) - start.get(i)) / reach;
        let carry = touching.velocity * (model.params.substep() - reach);
        for (full, to, from, carry) in [
            (&*full_x, &mut state.x, &(|i: usize| middle.get(i)) as &dyn Fn(usize) -> DVec3, carry),
            (&*full_v, &mut state.v, &implicit, DVec3::ZERO),
        ] {
            body.clone().for_each(|i| part.set(i, full.get(i) - from(i)));
            let carried = RigidVelocity { linear: carry, ..RigidVelocity::REST };
            let rigid = if loose { RigidVelocity::fit(points, middle, part) } else { carried };
            for i in body.clone().filter(|i| dofs.get(*i) != &Dof::Fixed) {
                let along = rigid.at(middle.get(i));
                to.set(i, from(i) + along + (part.get(i) - along) * share);
            }
        }
    }

    /// Moves the body as a rigid one: it ends as deformed as it began.
    fn stiffen(&mut self, passage: SubstepEnd<'_>, loose: bool, state: &mut BodyState) {
        let Prolongation { begin, full_x, full_v, part, .. } = self;
        let mass = &passage.end.model.rest().mass;
        let points = || mass.iter().copied().enumerate();
        let body = 0..mass.len();
        body.clone().for_each(|i| part.set(i, full_x.get(i) - begin.get(i)));
        let carry = passage.touching.velocity;
        let fit = |x: &Points, v: &Points, carry: DVec3| match loose {
            true => RigidVelocity::fit(points, x, v),
            false => RigidVelocity { linear: carry, ..RigidVelocity::REST },
        };
        let (moved, velocity) = (fit(begin, part, DVec3::ZERO), fit(full_x, full_v, carry));
        let turn = DQuat::from_scaled_axis(moved.angular);
        for i in body.clone().filter(|i| passage.dofs.get(*i) != &Dof::Fixed) {
            let x = moved.center + moved.linear + turn * (begin.get(i) - moved.center);
            state.x.set(i, if loose { x } else { begin.get(i) });
            state.v.set(i, velocity.at(state.x.get(i)));
        }
    }
}
