//! What a description must fulfil: everything is checked, all faults are told at once.

use super::{BuildError, BuildErrors, Builder};
use crate::body::{Body, Clustering, ContactRadius, Selection};
use crate::constraints::{AUXILIARY, ConstraintBatch};
use crate::controls::{BodyControls, Control, Controls};
use crate::elements;
use crate::fields::Field;
use crate::keyframes::Keyframes;
use crate::model::{
    BodyId, Collider, Coupling, CouplingId, Goals, Implicit, Integrator, Model, ModelBody, ModelCoupling,
    Params, Shown,
};
use crate::solvers::{Feature, SolverKind, Support, support};
use glam::DVec3;

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

    /// Everything about a body by itself, with substeps of `h` seconds.
    pub fn body(&mut self, b: usize, body: &Body, h: f64) {
        let at = Some(b);
        let n = body.shape.points.len();
        if n == 0 {
            self.add(at, "shape", "it has no particles".into(), "use a finer spacing");
        }
        if let Some(i) = body.shape.points.iter().position(|p| !p.is_finite()) {
            self.add(at, "shape", format!("particle {i} is not finite"), "remove or repair it");
        }
        if body.shape.measure.len() != n || body.shape.measure.iter().any(|m| !(*m >= 0.0 && m.is_finite())) {
            let text = "each particle needs a measure that is a number, not negative".into();
            self.add(at, "shape", text, "give one volume or area per particle");
        }
        if body.shape.edges.iter().flatten().any(|&i| i as usize >= n) {
            let text = format!("an edge refers to a particle that is not there (there are {n})");
            self.add(at, "shape", text, "number particles from 0");
        }
        if let Err(text) = Shown::check(&body.shape) {
            self.add(at, "shape", text, "give a surface whose skin has a row for each vertex, or no surface");
        }
        let radii: &[f64] = match &body.contact_radius {
            ContactRadius::Shown => &[],
            ContactRadius::Fixed(radius) => std::slice::from_ref(radius),
            ContactRadius::Each(each) => each,
        };
        if let Some((i, r)) = radii.iter().enumerate().find(|(_, r)| !(**r >= 0.0 && r.is_finite())) {
            let text = format!("number {i} is {r:?}");
            self.add(at, "contact_radius", text, "give metres, 0 or more");
        }
        if matches!(&body.contact_radius, ContactRadius::Each(each) if each.len() != n) {
            let text = format!("there are {} for {n} particles", radii.len());
            self.add(at, "contact_radius", text, "give one per particle");
        }
        // Anything smaller is a number without precision, and so would be all that is made of it.
        if !(1e-300..=1e12).contains(&body.mass) {
            let text = format!("{:?} is not allowed", body.mass);
            self.add(at, "mass", text, "give the kilograms of the whole body, above 0 and up to 1e12");
        }
        for (field, v) in [("position", body.position), ("velocity", body.velocity), ("spin", body.spin)] {
            if !v.is_finite() {
                self.add(at, field, format!("{v} is not finite"), "give three finite numbers");
            }
        }
        if !body.stretch.is_finite() {
            self.add(at, "stretch", format!("{} is not finite", body.stretch), "1, 1, 1 is the rest shape");
        }
        if !body.rotation.is_finite() || !body.rotation.is_normalized() {
            let text = format!("{} is not a unit quaternion", body.rotation);
            self.add(at, "rotation", text, "normalise it");
        }
        match body.clusters {
            Clustering::Radius(r) if r.is_nan() || r <= 0.0 => {
                let text = format!("{r} is not a radius");
                self.add(at, "radius", text, "give the reach of a cluster in metres, above 0");
            }
            Clustering::Count(0) => {
                self.add(at, "clusters", "0 clusters".into(), "give at least 1, or a radius");
            }
            Clustering::None if body.solver == SolverKind::Clustered => {
                let text = "the clustered solver needs clusters".into();
                self.add(at, "clusters", text, "give `radius` or `clusters`, or use solver = \"projective\"");
            }
            _ => {}
        }
        let style = &body.cluster_style;
        if !(1..=16).contains(&style.levels) {
            self.add(at, "cluster_levels", format!("{} is not allowed", style.levels), "give 1 to 16");
        }
        for (field, value, allowed) in
            [("overlap", style.overlap, 0.0..=10.0), ("coarse_share", style.coarse_share, 0.01..=0.99)]
        {
            if !allowed.contains(&value) {
                let help = format!("give {} to {}", allowed.start(), allowed.end());
                self.add(at, field, format!("{value} is not allowed"), &help);
            }
        }
        self.controls(b, body.solver, &body.controls, h);
        let c = &body.controls;
        if c.edge_stiffness > 0.0 {
            self.supported(b, body.solver, Feature::Edges, "edge_stiffness");
        }
        if c.strain_limit.is_finite() {
            self.supported(b, body.solver, Feature::StrainLimit, "strain_limit");
        }
        if let Some(input) = &body.input {
            self.supported(b, body.solver, Feature::AnimatedInput, "input");
            if input.sequence.points() != n {
                let found = input.sequence.points();
                let text = format!("its sequence has {found} points, the body has {n} particles");
                self.add(at, "input", text, "let the particles be the vertices of the animated mesh");
            }
            if let Some(frame) = body.placed_input().and_then(|i| i.sequence.first_non_finite()) {
                let text = format!("frame {frame} of its sequence is not finite where the body is placed");
                self.add(at, "input", text, "move the body or the sequence nearer to the origin");
            }
            if !input.follow.is_empty() && input.follow.len() != n {
                let text = format!("{} follow weights for {n} particles", input.follow.len());
                self.add(at, "follow", text, "give one per particle, or none");
            }
            if let Some(i) = input.follow.iter().position(|w| !(0.0..=1.0).contains(w)) {
                let text = format!("weight {:?} of particle {i}", input.follow[i]);
                self.add(at, "follow", text, "give numbers from 0 (free) to 1 (held)");
            }
        }
        let goals = match body.goals {
            Goals::Rigid => None,
            Goals::Linear => Some(Feature::LinearGoals),
            Goals::Quadratic => Some(Feature::QuadraticGoals),
        };
        if let Some(feature) = goals {
            self.supported(b, body.solver, feature, "goals");
        }
        if body.integrator == Integrator::Deformer {
            self.supported(b, body.solver, Feature::Deformer, "integrator");
        }
        if c.yield_strain.is_finite() {
            self.supported(b, body.solver, Feature::Plasticity, "yield_strain");
        }
        if c.tear_strain.is_finite() || !body.painted_tear_strain.is_empty() {
            self.supported(b, body.solver, Feature::Tearing, "tear_strain");
        }
        self.painted(b, body);
        self.painted_tear_strain(b, body);
        if !body.constraints.is_empty() {
            self.supported(b, body.solver, Feature::Elements, "constraints");
        }
        for (text, help) in elements::check(body) {
            self.add(at, "constraints", text, &help);
        }
        if body.solver == SolverKind::Rigid {
            self.rigid(b, body);
        }
        for pins in &body.pins {
            if pins.stiffness.is_some() {
                self.supported(b, body.solver, Feature::SoftPins, "pins");
            }
            if pins.stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
                let text = format!("pin stiffness {:?}", pins.stiffness);
                self.add(at, "pins", text, "give a number above 0, or leave it out to hold exactly");
            }
            if let Selection::Particles(list) = &pins.select
                && let Some(i) = list.iter().find(|&&i| i as usize >= n)
            {
                let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
                self.add(at, "pins", text, "pin particles that exist");
            }
            if !pins.motion.is_finite() {
                self.add(
                    at,
                    "pins",
                    "the motion has numbers that are not finite".into(),
                    "give finite numbers",
                );
            }
        }
    }

    /// What a body that never deforms cannot have.
    fn rigid(&mut self, b: usize, body: &Body) {
        let at = Some(b);
        let whole = |select: &Selection| matches!(select, Selection::Particles(list) if list.len() >= 4);
        if !(body.pins.is_empty() || body.pins.len() == 1 && whole(&body.pins[0].select)) {
            self.supported(b, body.solver, Feature::Pins, "pins");
        }
        if body.stretch != DVec3::ONE {
            let text = format!("{} is not allowed: a rigid body does not deform", body.stretch);
            self.add(at, "stretch", text, "leave it out, and make the shape of the size you want");
        }
        if body.contact_radius != ContactRadius::Shown {
            let text = "a rigid body touches with its own surface".into();
            self.add(at, "contact_radius", text, "leave it out");
        }
        if body.clusters != Clustering::None {
            self.supported(b, body.solver, Feature::Clusters, "clusters");
        }
    }

    fn painted(&mut self, b: usize, body: &Body) {
        let (paint, n) = (&body.painted_stiffness, body.shape.points.len());
        if paint.is_empty() {
            return;
        }
        let field = "painted_stiffness";
        self.supported(b, body.solver, Feature::PaintedStiffness, field);
        if paint.len() != n {
            let text = format!("there are {} values for {n} particles", paint.len());
            self.add(Some(b), field, text, "give one per particle, or none for 1 everywhere");
        }
        let bad: Vec<usize> = (0..paint.len()).filter(|&i| !(0.0..=1.0).contains(&paint[i])).collect();
        if let Some(&i) = bad.first() {
            let more = if bad.len() > 1 {
                format!(", and {} more are out of range", bad.len() - 1)
            } else {
                String::new()
            };
            let text = format!("particle {i} has {:?}{more}", paint[i]);
            self.add(
                Some(b),
                field,
                text,
                "give numbers from 0 (not pulled at all) to 1 (all of the stiffness)",
            );
        }
    }

    fn painted_tear_strain(&mut self, b: usize, body: &Body) {
        let (paint, n) = (&body.painted_tear_strain, body.shape.points.len());
        let field = "painted_tear_strain";
        if !paint.is_empty() && paint.len() != n {
            let text = format!("there are {} values for {n} particles", paint.len());
            self.add(Some(b), field, text, "give one per particle, or none for 1 everywhere");
        }
        if let Some(i) = paint.iter().position(|v| !(1e-3..=f64::INFINITY).contains(v)) {
            let text = format!("particle {i} has {:?}", paint[i]);
            self.add(Some(b), field, text, "give factors of at least 0.001; inf never tears");
        }
    }

    /// Substeps and how implicit steps are taken.
    pub fn world(&mut self, params: &Params) {
        self.substeps(params.substeps);
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
