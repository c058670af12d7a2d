//! What a description must fulfil: everything is checked, all faults are told at once.

mod body;

use super::{BuildError, BuildErrors, Builder};
use crate::constraints::{AUXILIARY, ConstraintBatch};
use crate::controls::{BodyControls, Control, Controls};
use crate::fields::Field;
use crate::keyframes::Keyframes;
use crate::model::{
    BodyId, Collider, Coupling, CouplingId, Implicit, Model, ModelBody, ModelCoupling, Params,
};
use crate::solvers::{Feature, SolverKind, Support, support};

/// Most equal parts a step is taken in.
const MOST_SUBSTEPS: u32 = 10_000;

impl Builder {
    /// Everything that can be told before bodies are put together.
    pub(super) fn check(&self, faults: &mut Faults) {
        // A time after however many steps must be a number.
        if !(self.step > 0.0 && self.step <= 1e9) {
            let text = format!("{:?} is not allowed", self.step);
            faults.add(None, "step", text, "give a number above 0 and up to 1e9 (seconds per step, as 1/60)");
        }
        faults.substeps(self.substeps);
        faults.sleep(self.sleep_speed);
        if !self.gravity.is_finite() {
            faults.add(
                None,
                "gravity",
                format!("{} is not finite", self.gravity),
                "give three finite numbers",
            );
        }
        faults.implicit(&self.implicit);
        for (control, value) in [(Control::Wind, self.wind.into()), (Control::Gusts, self.gusts.into())] {
            if let Err(e) = control.check(value, SolverKind::Clustered, self.step) {
                faults.add(None, e.control, format!("{} is not allowed", e.value), &e.allowed);
            }
        }
        faults.colliders(self.colliders.iter());
        for (text, help) in self.fields.iter().filter_map(Field::fault) {
            faults.add(None, "field", text, help);
        }
        for (b, body) in self.bodies.iter().enumerate() {
            if self.bodies[..b].iter().any(|other| other.name == body.name) {
                let text = format!("there are two bodies named \"{}\"", body.name);
                faults.add(Some(b), "name", text, "give each body a name of its own");
            }
            faults.body(b, body, self.step / f64::from(self.substeps.max(1)));
        }
        let bodies: Vec<_> =
            self.bodies.iter().enumerate().map(|(b, body)| (b.into(), body.solver, body.controls)).collect();
        let couplings: Vec<CouplingId> = (0..self.couplings.len()).map(CouplingId::from).collect();
        faults.keyframes(&self.keyframes, (&bodies, &couplings), self.step / f64::from(self.substeps.max(1)));
        for custom in &self.customs {
            match custom.body {
                Some(b) => {
                    faults.supported(b, self.bodies[b].solver, Feature::CustomConstraint, "constraint")
                }
                None => faults.add(
                    None,
                    "constraint",
                    "a constraint was added before any body".into(),
                    "add the body first",
                ),
            }
        }
    }
}

/// Checks what may change while running: substeps and keyframes, with the values of all bodies. `model`
/// is of the same bodies.
pub(crate) fn check_world(model: &Model, params: &Params, controls: &Controls) -> Result<(), BuildErrors> {
    let mut faults = Faults::default();
    faults.world(params);
    let h = params.step / f64::from(params.substeps.max(1));
    let mut bodies = Vec::with_capacity(model.bodies().len());
    for (b, (body, entry)) in model.bodies().iter().zip(&controls.bodies).enumerate() {
        let solver = body.parts.solver();
        faults.controls(b, solver, &entry.values, h);
        bodies.push((body.id, solver, entry.values));
    }
    let couplings: Vec<CouplingId> = model.couplings().iter().map(|c| c.id).collect();
    faults.keyframes(&params.keyframes, (&bodies, &couplings), h);
    faults.effects(&params.keyframes, model);
    if faults.0.is_empty() { Ok(()) } else { Err(BuildErrors(faults.0)) }
}

/// Checks colliders that are to be those of a model.
pub(crate) fn check_colliders<'a>(
    colliders: impl Iterator<Item = &'a Collider> + Clone,
) -> Result<(), BuildErrors> {
    let mut faults = Faults::default();
    faults.colliders(colliders);
    if faults.0.is_empty() { Ok(()) } else { Err(BuildErrors(faults.0)) }
}

/// Checks couplings that are to be those of a model with these bodies.
pub(crate) fn check_couplings(couplings: &[ModelCoupling], bodies: &[ModelBody]) -> Result<(), BuildErrors> {
    let mut faults = Faults::default();
    faults.couplings(couplings.iter().map(|c| &c.coupling), bodies);
    if faults.0.is_empty() { Ok(()) } else { Err(BuildErrors(faults.0)) }
}

/// Faults as they are found.
#[derive(Default)]
pub(super) struct Faults(pub Vec<BuildError>);

impl Faults {
    pub fn add(&mut self, body: Option<usize>, field: &'static str, message: String, help: &str) {
        self.0.push(BuildError { body, field, message, help: help.into() });
    }

    /// Substeps and how implicit steps are taken.
    pub fn world(&mut self, params: &Params) {
        self.substeps(params.substeps);
        self.sleep(params.sleep_speed);
        self.implicit(&params.implicit);
    }

    fn implicit(&mut self, implicit: &Implicit) {
        if !(0.5..=1.0).contains(&implicit.implicitness) {
            let text = format!("{} is not allowed", implicit.implicitness);
            self.add(None, "implicitness", text, "give 0.5 (midpoint rule) to 1 (implicit Euler)");
        }
        if !(0.0..1.0).contains(&implicit.tolerance) {
            let text = format!("{} is not allowed", implicit.tolerance);
            self.add(None, "tolerance", text, "give a number from 0 (all iterations) to below 1, as 1e-4");
        }
    }

    fn sleep(&mut self, speed: f64) {
        if !(speed >= 0.0 && speed.is_finite()) {
            let text = format!("{speed} is not allowed");
            self.add(None, "sleep_speed", text, "give a speed in m/s, as 0.005, or 0 for none that sleep");
        }
    }

    fn substeps(&mut self, substeps: u32) {
        // More make a step that no one waits for.
        if !(1..=MOST_SUBSTEPS).contains(&substeps) {
            let text = format!("{substeps} substeps");
            self.add(None, "substeps", text, &format!("give 1 to {MOST_SUBSTEPS}"));
        }
    }

    fn colliders<'a>(&mut self, colliders: impl Iterator<Item = &'a Collider> + Clone) {
        for (k, collider) in colliders.clone().enumerate() {
            let name = match collider.name.as_str() {
                "" => k.to_string(),
                name => format!("\"{name}\""),
            };
            for (text, help) in collider.faults() {
                self.add(None, "colliders", format!("collider {name}: {text}"), help);
            }
            let alike = |other: &&Collider| !other.name.is_empty() && other.name == collider.name;
            if colliders.clone().take(k).any(|other| alike(&other)) {
                let text = format!("there are two colliders named {name}");
                self.add(None, "colliders", text, "give each collider a name of its own, or none");
            }
        }
    }

    pub fn couplings<'a>(
        &mut self,
        couplings: impl Iterator<Item = &'a Coupling> + Clone,
        bodies: &[ModelBody],
    ) {
        for (k, coupling) in couplings.clone().enumerate() {
            let name = match coupling.name.as_str() {
                "" => k.to_string(),
                name => format!("\"{name}\""),
            };
            for (text, help) in coupling.faults(bodies) {
                self.add(None, "couplings", format!("coupling {name}: {text}"), &help);
            }
            let alike = |other: &Coupling| !other.name.is_empty() && other.name == coupling.name;
            if couplings.clone().take(k).any(alike) {
                let text = format!("there are two couplings named {name}");
                self.add(None, "couplings", text, "give each coupling a name of its own, or none");
            }
        }
    }

    fn keyframes(
        &mut self,
        keyframes: &Keyframes,
        (bodies, couplings): (&[(BodyId, SolverKind, BodyControls)], &[CouplingId]),
        h: f64,
    ) {
        for fault in keyframes.check(bodies, couplings, h) {
            let control = keyframes.tracks[fault.track].control;
            let body = control.body().and_then(|b| bodies.iter().position(|(id, ..)| *id == b));
            self.add(body, "keyframes", fault.message, &fault.help);
        }
    }

    /// Keys of controls that nothing would read. Tracks with faults of their own are told about first.
    pub fn effects(&mut self, keyframes: &Keyframes, model: &Model) {
        if !self.0.is_empty() {
            return;
        }
        for track in &keyframes.tracks {
            if let Support::No(instead) = track.control.effect(model) {
                let text = format!("nothing reads {} here", track.control.name());
                let body = track.control.body().and_then(|b| model.index(b));
                self.add(body, "keyframes", text, instead);
            }
        }
    }

    /// The values of a body's controls, each by itself and those that go together.
    fn controls(&mut self, body: usize, solver: SolverKind, c: &BodyControls, h: f64) {
        let all = Control::of_body(BodyId::from(body));
        let given = all.filter(|control| !matches!(control, Control::Mass(_)));
        let each = given.filter_map(|control| Some(control.check(c.get(control)?, solver, h)));
        let together = (solver == SolverKind::Clustered).then(|| c.check_relaxation());
        for e in each.chain(together).filter_map(Result::err) {
            self.add(Some(body), e.control, format!("{} is not allowed", e.value), &e.allowed);
        }
    }

    /// A constraint of a user's own must refer to what is there.
    pub fn sound(&mut self, body: usize, batch: &dyn ConstraintBatch, particles: usize) {
        let (rows, extra) = (batch.rows(), batch.auxiliary_unknowns());
        let limit = |c: u32| if c < AUXILIARY { particles } else { extra };
        for row in 0..rows.len() {
            let bad = rows.row(row).find(|(c, a)| (c % AUXILIARY) as usize >= limit(*c) || !a.is_finite());
            let weight = rows.weights()[row];
            if bad.is_some() || !(weight >= 0.0 && weight.is_finite()) {
                let kind = batch.kind();
                let text = match bad {
                    Some((c, a)) => format!("row {row} of {kind} has coefficient {a} on unknown {c}"),
                    None => format!("row {row} of {kind} has weight {weight}"),
                };
                let help =
                    "refer to particles that exist, with finite coefficients and weights of at least 0";
                self.add(Some(body), "constraint", text, help);
                return;
            }
        }
    }

    fn supported(&mut self, body: usize, solver: SolverKind, feature: Feature, field: &'static str) {
        if let Support::No(instead) = support(solver, feature) {
            let text = format!("the {} solver does not support {}", solver.name(), feature.name());
            self.add(Some(body), field, text, instead);
        }
    }
}
