//! Position based dynamics, with and without compliance: the fast and popular relatives of projective dynamics
//! (projective-dynamics, §4.1; Müller et al. 2007; Macklin et al. 2016).
//!
//! Both predict positions as projective dynamics does and then satisfy one constraint after the other, in
//! Gauss–Seidel's manner: with C = √(Σ w ‖A q − p‖²) of an element, and the masses as metric,
//!
//! > Δq = M⁻¹ ∇Cᵀ Δλ,  Δλ = −(C + α̃ λ)/(∇C M⁻¹ ∇Cᵀ + α̃),  α̃ = 1/(k h²).
//!
//! - *PBD* has no compliance: α̃ = 0, equation (13) of the paper. There is no material in it. How stiff a body
//!   appears is a matter of iterations and of the part of each correction that is made, the control
//!   `relaxation` (the k of Müller et al.: 1 for all of it). Batches without stiffness are still left out.
//! - *XPBD* has the material's compliance. λ is what the constraint has pushed with since the substep
//!   began; once C = −α̃ λ nothing moves any more, so iterations lead to the material's stiffness and not beyond.
//!   Where ∇C keeps its direction that is the implicit Euler step of projective dynamics; where it turns, λ
//!   is one number for pushes in several directions, and the step ends nearby: a chain or a cloth within a
//!   percent, a twisted bar of tetrahedra with a twentieth of the objective's range left. One multiplier a row
//!   would end at the implicit step, but its corrections would not conserve angular momentum.
//!
//! Where constraints contradict each other Gauss–Seidel never settles (figure 3); the consensus of projective
//! dynamics does. Every correction conserves linear and angular momentum to rounding.
//!
//! Elements are coloured so that those of one colour share no particle, and are satisfied together. Contacts are one
//! more constraint after each sweep, with multipliers that are kept: a particle answers to their forces alone, by f h²/m,
//! so what presses on it from above is learnt from sweep to sweep only. Stacks sag until there are enough.

mod colours;
mod elements;
pub mod projections;

use super::implicit::{SolverPositions, Substep};
use super::objective::ProjectionInputs;
use super::{FinishReport, Outside, Progress, Round, Solver, SolverError, SolverKind, Stage};
use crate::contact::{Nodes, Respond, SubstepStart};
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;
use crate::team::Team;
use elements::{ColouredElements, CorrectionRule, Positions, SweepInputs};
use glam::DVec3;

/// The solver; all but its kind is a cache.
pub(crate) struct PositionBased {
    kind: SolverKind,
    cache: Option<PositionBasedCache>,
}

impl PositionBased {
    /// [`SolverKind::Xpbd`] with the material's compliance, any other kind without.
    pub fn new(kind: SolverKind) -> PositionBased {
        PositionBased { kind, cache: None }
    }
}

impl std::fmt::Debug for PositionBased {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PositionBased({}, prepared: {})", self.kind.name(), self.cache.is_some())
    }
}

#[derive(Clone, Debug)]
struct PositionBasedCache {
    substep: Substep,
    elements: ColouredElements,
    q: Positions,
    /// How far contact forces have moved each particle.
    pushed: Points,
    moved: f64,
    scales: Vec<f64>,
    rules: Vec<CorrectionRule>,
    auxiliary: Vec<Points>,
    shared: Vec<Vec<f64>>,
}

impl PositionBasedCache {
    fn new(model: &BodyModel, controls: LiveControls<'_>) -> PositionBasedCache {
        let scales: Vec<f64> = model.batch_scales(controls.body).collect();
        let substep = Substep::new(model);
        let active: Vec<bool> = scales.iter().map(|s| *s > 0.0).collect();
        let n = model.particle_count();
        PositionBasedCache {
            elements: ColouredElements::new(model, &substep.dofs, &active),
            substep,
            pushed: Points::zeros(n),
            moved: 0.0,
            q: Positions { x: Points::zeros(n), displacement: Points::zeros(n) },
            rules: vec![CorrectionRule { compliance: 0.0, share: 1.0 }; scales.len()],
            scales,
            auxiliary: model.batches.iter().map(|b| Points::zeros(b.batch.auxiliary_unknowns())).collect(),
            shared: model.batches.iter().map(|b| vec![0.0; b.batch.shared_len()]).collect(),
        }
    }

    /// Takes up other stiffnesses; tells whether the same batches still take part.
    fn follow(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> bool {
        let mut fits = true;
        for (scale, now) in self.scales.iter_mut().zip(model.batch_scales(controls.body)) {
            fits &= (now > 0.0) == (*scale > 0.0);
            *scale = now;
        }
        fits
    }

    /// Satisfies every constraint once; returns the largest movement relative to the body's size.
    fn sweep(&mut self, kind: SolverKind, controls: LiveControls<'_>, memory: &[f64], team: &Team) -> f64 {
        let PositionBasedCache { substep, elements, q, scales, rules, auxiliary, shared, .. } = self;
        let model = &substep.model;
        for (b, batch) in model.batches.iter().enumerate().filter(|(b, _)| scales[*b] > 0.0) {
            batch.batch.begin_iteration(&q.x, &mut shared[b]);
            batch.batch.auxiliary_values(&q.x, &mut auxiliary[b]);
        }
        let h = model.params.substep();
        for (rule, scale) in rules.iter_mut().zip(&*scales) {
            *rule = match kind {
                SolverKind::Pbd => CorrectionRule { compliance: 0.0, share: controls.body.relaxation },
                _ => CorrectionRule { compliance: (scale * h * h).recip(), share: 1.0 },
            };
        }
        let surroundings =
            ProjectionInputs { memory, offsets: &substep.memory_offsets, targets: &substep.targets };
        let largest = elements.sweep(model, q, SweepInputs { rules, surroundings, shared, auxiliary }, team);
        largest.sqrt() / substep.beginning.size
    }
}

impl Positions {
    fn begin(&mut self, s: &Points) {
        self.x.copy_from(s);
        self.displacement.clear();
    }
}

impl SolverPositions for Positions {
    fn position(&self, particle: usize) -> DVec3 {
        self.x.get(particle)
    }

    fn put(&mut self, particle: usize, at: DVec3) {
        self.displacement.set(particle, self.displacement.get(particle) + (at - self.x.get(particle)));
        self.x.set(particle, at);
    }

    fn displacement(&self, particle: usize) -> DVec3 {
        self.displacement.get(particle)
    }
}

impl Solver for PositionBased {
    fn prepare(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<(), SolverError> {
        let fits = |c: &mut PositionBasedCache| c.substep.model.same(model) && c.follow(model, controls);
        if !self.cache.as_mut().is_some_and(fits) {
            self.cache = Some(PositionBasedCache::new(model, controls));
        }
        Ok(())
    }

    fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) -> Result<u32, SolverError> {
        let body = stage.body;
        self.prepare(body.model, body.controls)?;
        let Some(cache) = &mut self.cache else {
            return Ok(0);
        };
        cache.substep.predict(stage, state);
        cache.q.begin(&cache.substep.s);
        cache.pushed.clear();
        cache.elements.begin();
        Ok(body.controls.body.iterations)
    }

    fn iterate(&mut self, _: Round, stage: Stage<'_>, state: &BodyState) -> Result<bool, SolverError> {
        if let Some(cache) = &mut self.cache {
            let memory = &state.memory[Section::Batches];
            cache.moved = cache.sweep(self.kind, stage.body.controls, memory, stage.team);
        }
        Ok(true)
    }

    fn responding(&mut self) -> Option<&mut dyn Respond> {
        self.cache.as_mut().map(|c| c as &mut dyn Respond)
    }

    fn advance(&mut self, _: Stage<'_>, _: &BodyState) -> Progress {
        Progress { moved: self.cache.as_ref().map_or(0.0, |c| c.moved), settled: false }
    }

    fn finish(&mut self, stage: Stage<'_>, outside: Outside<'_>, state: &mut BodyState) -> FinishReport {
        let Some(cache) = &mut self.cache else { return FinishReport::default() };
        cache.substep.finish(stage.body, outside, state, &mut cache.q)
    }

    fn positions(&mut self) -> Option<&Points> {
        self.cache.as_ref().map(|c| &c.q.x)
    }

    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(PositionBased { kind: self.kind, cache: self.cache.clone() })
    }
}

impl PositionBasedCache {
    /// How far a particle moves by a force on it: h²/m, unless it is held.
    fn softness(&self, particle: usize) -> f64 {
        if !self.substep.beginning.free[particle] {
            return 0.0;
        }
        let (model, h) = (&self.substep.model, self.substep.reach());
        h * h / model.rest().mass[particle]
    }
}

impl Respond for PositionBasedCache {
    fn beginning(&self) -> &SubstepStart {
        &self.substep.beginning
    }

    fn end(&self, particle: usize) -> DVec3 {
        self.q.x.get(particle)
    }

    fn free_end(&self, particle: usize) -> DVec3 {
        self.q.x.get(particle) - self.pushed.get(particle)
    }

    fn prepare(&mut self, _: &Nodes, _: &Team) -> bool {
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        for k in 0..nodes.len() {
            nodes.set_movement(k, nodes.force(k) * self.softness(nodes.particles()[k] as usize));
        }
    }

    fn reach(&mut self, nodes: &mut Nodes, _: &Team) {
        for k in 0..nodes.len() {
            nodes.set_movement(
                k,
                DVec3::X * (nodes.weights[k] * self.softness(nodes.particles()[k] as usize)),
            );
        }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        for (i, force) in nodes.loads() {
            let i = i as usize;
            let by = force * self.softness(i);
            let change = by - self.pushed.get(i);
            self.q.put(i, self.q.position(i) + change);
            self.pushed.set(i, by);
        }
    }
}
