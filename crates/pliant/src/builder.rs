//! From bodies to a simulation: everything is checked, all faults are reported at once.

use crate::body::{Body, Clustering, ContactRadius, Selection};
use crate::constraints::{AUXILIARY, ClusterShape, ConstraintBatch, EdgeStrain, Position};
use crate::controls::{BodyControls, Control, Controls, Stiffness, Value};
use crate::elements;
use crate::fields::Field;
use crate::keyframes::{Keyframes, Track};
use crate::model::{
    BatchScale, BodyTopology, ClusterSet, Goals, HalfSpace, Implicit, Integrator, MassMatrix, Model,
    ModelBatch, Params, PinGroup, Rest, Topology,
};
use crate::points::Points;
use crate::simulation::Simulation;
use crate::solvers::{Feature, SolverKind, Support, support};
use crate::state::State;
use crate::team::Team;
use glam::DVec3;
use pliant_geometry::{TetMesh, reach_beyond};
use std::sync::Arc;

/// One fault of a description, with where it is and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildError {
    /// Index of the body, if it is one's.
    pub body: Option<usize>,
    /// The setting at fault, as in scene files.
    pub field: &'static str,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.body {
            Some(b) => write!(f, "body {b}, {}: {}; {}", self.field, self.message, self.help),
            None => write!(f, "{}: {}; {}", self.field, self.message, self.help),
        }
    }
}

/// Every fault found.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildErrors(pub Vec<BuildError>);

impl std::fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, e) in self.0.iter().enumerate() {
            write!(f, "{}{e}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}

/// Most equal parts a step is taken in.
const MOST_SUBSTEPS: u32 = 10_000;

/// A constraint of the user's own, added to a body.
#[derive(Debug)]
struct Custom {
    /// `None` if it was added before any body.
    body: Option<usize>,
    batch: CustomBatch,
}

type MakeBatch = Box<dyn FnOnce(u32, &Points) -> Arc<dyn ConstraintBatch>>;

struct CustomBatch(MakeBatch);

impl std::fmt::Debug for CustomBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CustomBatch")
    }
}

/// Collects bodies, planes and settings of a simulation.
#[derive(Debug)]
pub struct Builder {
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Velocity of the air, m/s; see [`Control::Wind`].
    pub wind: DVec3,
    /// How much of it comes and goes; see [`Control::Gusts`].
    pub gusts: f64,
    /// Seconds per step.
    pub step: f64,
    /// Equal parts a step is taken in.
    pub substeps: u32,
    /// Solid half-spaces.
    pub planes: Vec<HalfSpace>,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// Controls that follow keys; bodies by their index.
    pub keyframes: Keyframes,
    /// Fields of force.
    pub fields: Vec<Field>,
    /// Number of threads.
    pub threads: usize,
    /// How the implicit solvers take a step.
    pub implicit: Implicit,
    customs: Vec<Custom>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// Earth's gravity, 60 steps a second of 4 substeps each, no ground, one thread.
    pub fn new() -> Builder {
        Builder {
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind: DVec3::ZERO,
            gusts: 0.0,
            step: 1.0 / 60.0,
            substeps: 4,
            planes: Vec::new(),
            bodies: Vec::new(),
            keyframes: Keyframes::default(),
            fields: Vec::new(),
            threads: 1,
            implicit: Implicit::default(),
            customs: Vec::new(),
        }
    }

    /// Adds the ground y = 0.
    pub fn ground(self) -> Builder {
        self.plane(HalfSpace::ground())
    }

    /// Adds a half-space.
    pub fn plane(mut self, plane: HalfSpace) -> Builder {
        self.planes.push(plane);
        self
    }

    /// Adds a body.
    pub fn body(mut self, body: Body) -> Builder {
        self.bodies.push(body);
        self
    }

    /// Lets a control follow keys.
    pub fn track(mut self, track: Track) -> Builder {
        self.keyframes.tracks.push(track);
        self
    }

    /// Adds a field of force.
    pub fn field(mut self, field: Field) -> Builder {
        self.fields.push(field);
        self
    }

    /// Lets the air move at this velocity, m/s.
    pub fn wind(mut self, x: f64, y: f64, z: f64) -> Builder {
        self.wind = DVec3::new(x, y, z);
        self
    }

    /// Takes each step in `substeps` parts.
    pub fn substeps(mut self, substeps: u32) -> Builder {
        self.substeps = substeps;
        self
    }

    /// Adds a constraint of your own to the body added last (projective solver). `make` is given the
    /// index of the body's first particle and all rest positions.
    pub fn constraint<B: ConstraintBatch + 'static>(
        mut self,
        make: impl FnOnce(u32, &Points) -> B + 'static,
    ) -> Builder {
        let body = self.bodies.len().checked_sub(1);
        let batch = CustomBatch(Box::new(move |first, rest| Arc::new(make(first, rest))));
        self.customs.push(Custom { body, batch });
        self
    }

    /// Checks everything and builds the simulation, ready to step.
    pub fn build(self) -> Result<Simulation, BuildErrors> {
        let refuse = |field, message: String, help: String| {
            BuildErrors(vec![BuildError { body: None, field, message, help }])
        };
        // Before the work: it is refused without it.
        if let Err(e) = Team::check(self.threads) {
            return Err(refuse("threads", e.to_string(), format!("give 0 to {}", Team::MOST)));
        }
        let (model, state, controls, threads) = self.parts()?;
        let team = Team::new(threads)
            .map_err(|e| refuse("threads", e.to_string(), format!("give 0 to {}", Team::MOST)))?;
        Simulation::new(model, state, controls, team).map_err(|e| {
            let help = "lower the largest stiffness or take a smaller step".into();
            refuse("stiffness", e.to_string(), help)
        })
    }

    fn parts(self) -> Result<(Model, State, Controls, usize), BuildErrors> {
        let mut faults = Faults::default();
        self.check(&mut faults);
        // Shapes with faults cannot be put together.
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let mut assembly = Assembly::default();
        for (b, body) in self.bodies.iter().enumerate() {
            let sprung = self.keyframes.tracks.iter().any(|t| t.control == Control::EdgeStiffness(b));
            assembly.add(b, body, sprung, &mut faults);
        }
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let Assembly { bodies, positions, mass, measure, edges, faces, clusters, shares, x, v, pins } =
            assembly;
        let topology = Topology::new(bodies, edges, faces, clusters, mass.len());
        let mut rest = Rest::with_shares(&topology, positions, mass, measure, shares);
        // As given, not as summed up: a body of unchanged mass is heavier by exactly nothing.
        rest.body_mass = self.bodies.iter().map(|b| b.mass).collect();
        if self.implicit.mass == MassMatrix::Consistent {
            rest.coupled_mass = elements::coupled_masses(&self.bodies, &topology);
        }
        for (b, body) in self.bodies.iter().enumerate() {
            if body.goals != Goals::Rigid {
                rest.set_goals(&topology, b, body.goals);
            }
            if !body.painted_stiffness.is_empty() {
                rest.paint_stiffness(&topology, b, &body.painted_stiffness);
            }
            let radii = &mut rest.radius[topology.bodies[b].particles.clone()];
            match &body.contact_radius {
                ContactRadius::Shown => {
                    radii.copy_from_slice(&reach_beyond(&body.shape.points, &body.shape.surface))
                }
                ContactRadius::Fixed(radius) => radii.fill(*radius),
                ContactRadius::Each(each) => radii.copy_from_slice(each),
            }
        }
        let params = Params {
            step: self.step,
            substeps: self.substeps,
            planes: self.planes,
            pins,
            inputs: self.bodies.iter().enumerate().filter_map(|(b, body)| body.placed_input(b)).collect(),
            bodies: self.bodies.iter().map(Body::settings).collect(),
            keyframes: self.keyframes,
            implicit: self.implicit,
            fields: self.fields,
        };
        let mut batches = constraint_batches(&self.bodies, &topology, &rest, &params, &mut faults);
        for custom in self.customs {
            let Some(body) = custom.body else { continue };
            let first = topology.bodies[body].particles.start as u32;
            let batch = (custom.batch.0)(first, &rest.positions);
            faults.sound(body, &*batch, rest.mass.len());
            batches.push(ModelBatch { body, scale: BatchScale::Own, factor: 1.0, batch });
        }
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let pin_count = params.pins.len();
        let model = Model::new(topology, rest, params, batches);
        faults.effects(&model.params.keyframes, &model);
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let state = State::new(&model, x, v);
        let controls: Vec<_> =
            self.bodies.iter().map(|b| BodyControls { mass: b.mass, ..b.controls }).collect();
        let mut controls = Controls::new(self.gravity, controls, pin_count);
        controls.put(Control::Wind, self.wind.into());
        controls.put(Control::Gusts, self.gusts.into());
        Ok((model, state, controls, self.threads))
    }

    fn check(&self, faults: &mut Faults) {
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
        if self.bodies.is_empty() {
            faults.add(None, "bodies", "there is no body".into(), "add one");
        }
        faults.planes(&self.planes);
        for (text, help) in self.fields.iter().filter_map(Field::fault) {
            faults.add(None, "field", text, help);
        }
        for (b, body) in self.bodies.iter().enumerate() {
            if self.bodies[..b].iter().any(|other| other.name == body.name) {
                let text = format!("there are two bodies named \"{}\"", body.name);
                faults.add(Some(b), "name", text, "give each body a name of its own");
            }
            self.check_body(b, body, faults);
        }
        let bodies: Vec<_> = self.bodies.iter().map(|b| (b.solver, b.controls)).collect();
        faults.keyframes(&self.keyframes, &bodies, self.step / f64::from(self.substeps.max(1)));
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

    fn check_body(&self, b: usize, body: &Body, faults: &mut Faults) {
        let at = Some(b);
        let n = body.shape.points.len();
        if n == 0 {
            faults.add(at, "shape", "it has no particles".into(), "use a finer spacing");
        }
        if let Some(i) = body.shape.points.iter().position(|p| !p.is_finite()) {
            faults.add(at, "shape", format!("particle {i} is not finite"), "remove or repair it");
        }
        if body.shape.measure.len() != n || body.shape.measure.iter().any(|m| !(*m >= 0.0 && m.is_finite())) {
            let text = "each particle needs a measure that is a number, not negative".into();
            faults.add(at, "shape", text, "give one volume or area per particle");
        }
        if body.shape.edges.iter().flatten().any(|&i| i as usize >= n) {
            let text = format!("an edge refers to a particle that is not there (there are {n})");
            faults.add(at, "shape", text, "number particles from 0");
        }
        let radii: &[f64] = match &body.contact_radius {
            ContactRadius::Shown => &[],
            ContactRadius::Fixed(radius) => std::slice::from_ref(radius),
            ContactRadius::Each(each) => each,
        };
        if let Some((i, r)) = radii.iter().enumerate().find(|(_, r)| !(**r >= 0.0 && r.is_finite())) {
            let text = format!("number {i} is {r:?}");
            faults.add(at, "contact_radius", text, "give metres, 0 or more");
        }
        if matches!(&body.contact_radius, ContactRadius::Each(each) if each.len() != n) {
            let text = format!("there are {} for {n} particles", radii.len());
            faults.add(at, "contact_radius", text, "give one per particle");
        }
        // Anything smaller is a number without precision, and so would be all that is made of it.
        if !(1e-300..=1e12).contains(&body.mass) {
            let text = format!("{:?} is not allowed", body.mass);
            faults.add(at, "mass", text, "give the kilograms of the whole body, above 0 and up to 1e12");
        }
        for (field, v) in [("position", body.position), ("velocity", body.velocity), ("spin", body.spin)] {
            if !v.is_finite() {
                faults.add(at, field, format!("{v} is not finite"), "give three finite numbers");
            }
        }
        if !body.stretch.is_finite() {
            faults.add(at, "stretch", format!("{} is not finite", body.stretch), "1, 1, 1 is the rest shape");
        }
        if !body.rotation.is_finite() || !body.rotation.is_normalized() {
            let text = format!("{} is not a unit quaternion", body.rotation);
            faults.add(at, "rotation", text, "normalise it");
        }
        match body.clusters {
            Clustering::Radius(r) if r.is_nan() || r <= 0.0 => {
                let text = format!("{r} is not a radius");
                faults.add(at, "radius", text, "give the reach of a cluster in metres, above 0");
            }
            Clustering::Count(0) => {
                faults.add(at, "clusters", "0 clusters".into(), "give at least 1, or a radius");
            }
            Clustering::None if body.solver == SolverKind::Clustered => {
                let text = "the clustered solver needs clusters".into();
                faults.add(
                    at,
                    "clusters",
                    text,
                    "give `radius` or `clusters`, or use solver = \"projective\"",
                );
            }
            _ => {}
        }
        let style = &body.cluster_style;
        if !(1..=16).contains(&style.levels) {
            faults.add(at, "cluster_levels", format!("{} is not allowed", style.levels), "give 1 to 16");
        }
        for (field, value, allowed) in
            [("overlap", style.overlap, 0.0..=10.0), ("coarse_share", style.coarse_share, 0.01..=0.99)]
        {
            if !allowed.contains(&value) {
                let help = format!("give {} to {}", allowed.start(), allowed.end());
                faults.add(at, field, format!("{value} is not allowed"), &help);
            }
        }
        let h = self.step / f64::from(self.substeps.max(1));
        faults.controls(b, body.solver, &body.controls, h);
        let c = &body.controls;
        if c.edge_stiffness > 0.0 {
            faults.supported(b, body.solver, Feature::Edges, "edge_stiffness");
        }
        if c.strain_limit.is_finite() {
            faults.supported(b, body.solver, Feature::StrainLimit, "strain_limit");
        }
        if let Some(input) = &body.input {
            faults.supported(b, body.solver, Feature::AnimatedInput, "input");
            if input.sequence.points() != n {
                let found = input.sequence.points();
                let text = format!("its sequence has {found} points, the body has {n} particles");
                faults.add(at, "input", text, "let the particles be the vertices of the animated mesh");
            }
            if let Some(frame) = body.placed_input(b).and_then(|i| i.input.sequence.first_non_finite()) {
                let text = format!("frame {frame} of its sequence is not finite where the body is placed");
                faults.add(at, "input", text, "move the body or the sequence nearer to the origin");
            }
            if !input.follow.is_empty() && input.follow.len() != n {
                let text = format!("{} follow weights for {n} particles", input.follow.len());
                faults.add(at, "follow", text, "give one per particle, or none");
            }
            if let Some(i) = input.follow.iter().position(|w| !(0.0..=1.0).contains(w)) {
                let text = format!("weight {:?} of particle {i}", input.follow[i]);
                faults.add(at, "follow", text, "give numbers from 0 (free) to 1 (held)");
            }
        }
        let goals = match body.goals {
            Goals::Rigid => None,
            Goals::Linear => Some(Feature::LinearGoals),
            Goals::Quadratic => Some(Feature::QuadraticGoals),
        };
        if let Some(feature) = goals {
            faults.supported(b, body.solver, feature, "goals");
        }
        if body.integrator == Integrator::Deformer {
            faults.supported(b, body.solver, Feature::Deformer, "integrator");
        }
        if c.yield_strain.is_finite() {
            faults.supported(b, body.solver, Feature::Plasticity, "yield_strain");
        }
        faults.painted(b, body);
        if !body.constraints.is_empty() {
            faults.supported(b, body.solver, Feature::Elements, "constraints");
        }
        for (text, help) in elements::check(body) {
            faults.add(at, "constraints", text, &help);
        }
        for pins in &body.pins {
            if pins.stiffness.is_some() {
                faults.supported(b, body.solver, Feature::SoftPins, "pins");
            }
            if pins.stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
                let text = format!("pin stiffness {:?}", pins.stiffness);
                faults.add(at, "pins", text, "give a number above 0, or leave it out to hold exactly");
            }
            if let Selection::Particles(list) = &pins.select
                && let Some(i) = list.iter().find(|&&i| i as usize >= n)
            {
                let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
                faults.add(at, "pins", text, "pin particles that exist");
            }
            let m = &pins.motion;
            let vectors = [m.velocity, m.spin, m.pivot, m.sway];
            if vectors.iter().any(|v| !v.is_finite())
                || !m.frequency.is_finite()
                || m.start.is_nan()
                || m.end.is_nan()
            {
                faults.add(
                    at,
                    "pins",
                    "the motion has numbers that are not finite".into(),
                    "give finite numbers",
                );
            }
        }
    }
}

/// Checks what may change while running: substeps, planes and keyframes, with the values of all bodies. `model`
/// is of the same bodies.
pub(crate) fn check_world(model: &Model, params: &Params, controls: &Controls) -> Result<(), BuildErrors> {
    let mut faults = Faults::default();
    faults.substeps(params.substeps);
    faults.planes(&params.planes);
    faults.implicit(&params.implicit);
    let h = params.step / f64::from(params.substeps.max(1));
    for (b, (settings, c)) in params.bodies.iter().zip(&controls.bodies).enumerate() {
        faults.controls(b, settings.solver, c, h);
    }
    let bodies: Vec<_> =
        params.bodies.iter().map(|b| b.solver).zip(controls.bodies.iter().copied()).collect();
    faults.keyframes(&params.keyframes, &bodies, h);
    faults.effects(&params.keyframes, model);
    if faults.0.is_empty() { Ok(()) } else { Err(BuildErrors(faults.0)) }
}

#[derive(Default)]
struct Faults(Vec<BuildError>);

impl Faults {
    fn add(&mut self, body: Option<usize>, field: &'static str, message: String, help: &str) {
        self.0.push(BuildError { body, field, message, help: help.into() });
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

    fn planes(&mut self, planes: &[HalfSpace]) {
        for (k, p) in planes.iter().enumerate() {
            if (p.normal.length() - 1.0).abs() > 1e-9 || !p.offset.is_finite() {
                let text = format!("plane {k} has normal {} and offset {}", p.normal, p.offset);
                self.add(None, "planes", text, "give a normal of length 1 and a finite offset");
            }
            if !(p.friction >= 0.0 && p.friction.is_finite() && (0.0..=1.0).contains(&p.restitution)) {
                let text = format!("plane {k} has friction {} and restitution {}", p.friction, p.restitution);
                self.add(None, "planes", text, "friction must be at least 0, restitution from 0 to 1");
            }
        }
    }

    fn keyframes(&mut self, keyframes: &Keyframes, bodies: &[(SolverKind, BodyControls)], h: f64) {
        for fault in keyframes.check(bodies, h) {
            let body = keyframes.tracks[fault.track].control.body().filter(|b| *b < bodies.len());
            self.add(body, "keyframes", fault.message, &fault.help);
        }
    }

    /// Keys of controls that nothing would read. Tracks with faults of their own are told about first.
    fn effects(&mut self, keyframes: &Keyframes, model: &Model) {
        if !self.0.is_empty() {
            return;
        }
        for track in &keyframes.tracks {
            if let Support::No(instead) = track.control.effect(model) {
                let text = format!("nothing reads {} here", track.control.name());
                self.add(track.control.body(), "keyframes", text, instead);
            }
        }
    }

    /// The values of a body's controls, each by itself and those that go together.
    fn controls(&mut self, b: usize, solver: SolverKind, c: &BodyControls, h: f64) {
        let stiffness = match c.stiffness {
            Stiffness::Alpha(a) => (Control::Alpha(b), a),
            Stiffness::Frequency(f) => (Control::Frequency(b), f),
        };
        let numbers = [
            stiffness,
            (Control::StrainLimit(b), c.strain_limit),
            (Control::Relaxation(b), c.relaxation),
            (Control::Iterations(b), f64::from(c.iterations)),
            (Control::Damping(b), c.damping),
            (Control::Drag(b), c.drag),
            (Control::EdgeStiffness(b), c.edge_stiffness),
            (Control::Friction(b), c.friction.unwrap_or(0.0)),
            (Control::Restitution(b), c.restitution),
            (Control::ViscousFriction(b), c.viscous_friction),
            (Control::Flappiness(b), c.flappiness),
            (Control::Deformation(b), c.deformation),
            (Control::Volume(b), c.volume),
            (Control::YieldStrain(b), c.yield_strain),
            (Control::Creep(b), c.creep),
            (Control::PlasticLimit(b), c.plastic_limit),
            (Control::Hardening(b), c.hardening),
            (Control::Follow(b), c.follow),
            (Control::FollowDamping(b), c.follow_damping),
            (Control::Young(b), c.young),
            (Control::Poisson(b), c.poisson),
            (Control::Thickness(b), c.thickness),
            (Control::Air(b), c.air),
        ];
        let each = numbers
            .into_iter()
            .map(|(control, v)| (control, Value::Number(v)))
            .chain([(Control::Force(b), Value::Vector(c.force))])
            .map(|(control, value)| control.check(value, solver, h));
        let together = (solver == SolverKind::Clustered).then(|| c.check_relaxation());
        for e in each.chain(together).filter_map(Result::err) {
            self.add(Some(b), e.control, format!("{} is not allowed", e.value), &e.allowed);
        }
    }

    /// A constraint of a user's own must refer to what is there.
    fn sound(&mut self, body: usize, batch: &dyn ConstraintBatch, particles: usize) {
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

#[derive(Default)]
struct Assembly {
    bodies: Vec<BodyTopology>,
    positions: Points,
    mass: Vec<f64>,
    measure: Vec<f64>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    clusters: ClusterSet,
    shares: Vec<f64>,
    x: Points,
    v: Points,
    pins: Vec<PinGroup>,
}

impl Assembly {
    /// `sprung` tells that keyframes give it springs later.
    fn add(&mut self, b: usize, body: &Body, sprung: bool, faults: &mut Faults) {
        let first = self.mass.len();
        let points = &body.shape.points;
        let total: f64 = body.shape.measure.iter().sum();
        // Mass follows the measure; a cloud without volume shares it equally.
        let masses: Vec<f64> = match total > 0.0 && body.shape.measure.iter().all(|m| *m > 0.0) {
            true => body.shape.measure.iter().map(|m| body.mass * m / total).collect(),
            false => vec![body.mass / points.len() as f64; points.len()],
        };
        let place = |p: DVec3| body.rotation * p + body.position;
        let center: DVec3 =
            points.iter().zip(&masses).map(|(p, m)| place(*p * body.stretch) * *m).sum::<DVec3>() / body.mass;
        for p in points {
            let x = place(*p * body.stretch);
            self.positions.push(*p);
            self.x.push(x);
            self.v.push(body.velocity + body.spin.cross(x - center));
        }
        self.mass.extend(masses);
        self.measure.extend(&body.shape.measure);
        let first_edge = self.edges.len();
        // Springs that elements make superfluous would only take time and memory.
        let springs = body.constraints.is_empty() || body.controls.edge_stiffness > 0.0 || sprung;
        if body.solver != SolverKind::Clustered && springs {
            self.edges.extend(body.shape.edges.iter().map(|e| e.map(|i| i + first as u32)));
        }
        let first_face = self.faces.len();
        let solid = !body.shape.tetrahedra.is_empty();
        let boundary = if solid {
            TetMesh { tetrahedra: body.shape.tetrahedra.clone(), ..TetMesh::default() }.boundary()
        } else {
            body.shape.triangles.clone()
        };
        self.faces.extend(boundary.into_iter().map(|f| f.map(|i| i + first as u32)));
        let first_cluster = self.clusters.len();
        if let Err(e) = self.add_clusters(first, body) {
            let field = if matches!(body.clusters, Clustering::Count(_)) { "clusters" } else { "radius" };
            faults.add(Some(b), field, e.message, &e.help);
        }
        self.bodies.push(BodyTopology {
            name: body.name.clone(),
            particles: first..self.mass.len(),
            clusters: first_cluster..self.clusters.len(),
            edges: first_edge..self.edges.len(),
            faces: first_face..self.faces.len(),
            solid,
        });
        self.add_pins(b, body, first, faults);
    }

    fn add_clusters(&mut self, first: usize, body: &Body) -> Result<(), pliant_geometry::GeometryError> {
        let Some(covering) = body.covering() else { return Ok(()) };
        let covering = covering.build(&body.shape.points)?;
        let set = &mut self.clusters;
        if set.offsets.is_empty() {
            set.offsets.push(0);
        }
        let start = set.members.len() as u32;
        set.offsets.extend(covering.offsets[1..].iter().map(|o| o + start));
        set.members.extend(covering.members.iter().map(|i| i + first as u32));
        self.shares.extend(covering.shares_or_equal());
        Ok(())
    }

    fn add_pins(&mut self, b: usize, body: &Body, first: usize, faults: &mut Faults) {
        let mut taken = vec![false; body.shape.points.len()];
        for pins in &body.pins {
            let mut particles: Vec<u32> = match &pins.select {
                Selection::Particles(list) => list.iter().map(|i| i + first as u32).collect(),
                Selection::Box(lo, hi) => (first..self.mass.len())
                    .filter(|&i| {
                        let p = body.rotation * self.positions.get(i) + body.position;
                        p.cmpge(*lo).all() && p.cmple(*hi).all()
                    })
                    .map(|i| i as u32)
                    .collect(),
            };
            particles.sort_unstable();
            particles.dedup();
            if particles.is_empty() {
                let text = "no particle is inside the box".into();
                faults.add(
                    Some(b),
                    "pins",
                    text,
                    "move or enlarge it; it is given in the world, at the start",
                );
            }
            if let Some(i) =
                particles.iter().find(|&&i| std::mem::replace(&mut taken[i as usize - first], true))
            {
                let text = format!("particle {} is in two groups", *i as usize - first);
                faults.add(Some(b), "pins", text, "let each particle be held by one group");
            }
            let anchors = particles.iter().map(|&i| self.x.get(i as usize)).collect();
            self.pins.push(PinGroup {
                name: pins.name.clone(),
                body: b,
                particles,
                anchors,
                motion: pins.motion,
                stiffness: pins.stiffness,
            });
        }
    }
}

/// The constraint batches of the bodies the implicit solvers move.
fn constraint_batches(
    bodies: &[Body],
    topology: &Topology,
    rest: &Rest,
    params: &Params,
    faults: &mut Faults,
) -> Vec<ModelBatch> {
    let mut list = Vec::new();
    for (b, (body, part)) in bodies.iter().zip(&topology.bodies).enumerate() {
        if body.solver == SolverKind::Clustered {
            continue;
        }
        let mut add = |scale, factor, batch| list.push(ModelBatch { body: b, scale, factor, batch });
        if !part.clusters.is_empty() {
            let batch = Arc::new(ClusterShape::new(topology, rest, part.clusters.clone()));
            add(BatchScale::Stiffness, 1.0, batch);
        }
        if !part.edges.is_empty() {
            let edges = &topology.edges[part.edges.clone()];
            let measure = EdgeStrain::share_measure(edges, &rest.measure);
            let batch = Arc::new(EdgeStrain::lengths(edges, &rest.positions, &measure));
            add(BatchScale::EdgeStiffness, 1.0, batch);
        }
        match elements::batches(body, part.particles.start, &rest.positions) {
            Ok(batches) => batches.into_iter().for_each(|(scale, factor, batch)| add(scale, factor, batch)),
            Err(bad) => {
                bad.into_iter().for_each(|(text, help)| faults.add(Some(b), "shape", text, &help));
            }
        }
        for (g, group) in params.pins.iter().enumerate().filter(|(_, g)| g.body == b) {
            if let Some(k) = group.stiffness {
                let anchors = group.anchors.iter().copied().collect();
                add(BatchScale::Own, 1.0, Arc::new(Position::new(&group.particles, anchors, g, k)));
            }
        }
    }
    list
}
