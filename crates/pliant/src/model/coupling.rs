//! What ties bodies together: points or frames of bodies that are kept in one place, exactly or by springs.

use super::hinge_drive::{Motor, limits_fault};
use super::{BodyFrame, BodyId, Model, ModelBody};
use crate::bytes::Digest;
use crate::couplings::{CouplingMemory, Tie};
use crate::state::State;
use glam::{DMat3, DVec3};
use std::sync::Arc;

/// A coupling of a simulation. Couplings are numbered in the order they come, and no number is given twice: the id of
/// one that was removed names nothing for ever. The n-th coupling a simulation is built with (from 0) has number n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CouplingId(u64);

impl CouplingId {
    /// The number, to be kept in files.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The id that [`number`](CouplingId::number) told, from a file or over a wire. It names nothing where there is no
    /// such coupling.
    pub fn from_number(number: u64) -> CouplingId {
        CouplingId(number)
    }
}

impl From<usize> for CouplingId {
    fn from(number: usize) -> CouplingId {
        CouplingId(number as u64)
    }
}

impl std::fmt::Display for CouplingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A point of a body: the mean of up to four of its particles by weights that sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPoint {
    /// Whose particles these are.
    pub body: BodyId,
    /// The particles it is the mean of; unused entries repeat the first with weight 0.
    pub particles: [u32; 4],
    /// The weight of each of the particles, in sum one; zero for those that have no say.
    pub weights: [f64; 4],
}

impl BodyPoint {
    /// The place of one particle of a body.
    pub fn particle(body: impl Into<BodyId>, particle: u32) -> BodyPoint {
        BodyPoint { body: body.into(), particles: [particle; 4], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// The mean of particles by weights, (particle, weight), as a query tells a point of a surface. More than four
    /// particles, or none, are `None`.
    pub fn mean(body: impl Into<BodyId>, of: &[(u32, f64)]) -> Option<BodyPoint> {
        let first = of.first()?.0;
        let mut point = BodyPoint { body: body.into(), particles: [first; 4], weights: [0.0; 4] };
        for (k, &(particle, weight)) in of.iter().enumerate() {
            *point.particles.get_mut(k)? = particle;
            point.weights[k] = weight;
        }
        Some(point)
    }

    /// The particles that count, with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.particles.iter().copied().zip(self.weights).filter(|(_, w)| *w != 0.0)
    }
}

/// What a coupling takes hold of on one of its sides.
#[derive(Clone, Debug, PartialEq)]
pub enum Attachment {
    /// A point that moves with a body.
    Point(BodyPoint),
    /// A frame that best fits particles of a body: point cloud glue.
    Frame(Arc<BodyFrame>),
    /// A place in the world, and what turns with nothing.
    World(WorldFrame),
}

/// Where something is held in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldFrame {
    /// Where it is in the world, m.
    pub at: DVec3,
    /// A rotation whose columns are axes; hinges turn about the last.
    pub axes: DMat3,
}

impl Attachment {
    /// The body it takes hold of; none in the world.
    pub fn body(&self) -> Option<BodyId> {
        match self {
            Attachment::Point(point) => Some(point.body),
            Attachment::Frame(frame) => Some(frame.body()),
            Attachment::World(_) => None,
        }
    }

    /// Where its point is in a state; `None` if the body is gone. A frame whose fit is not unique takes the one nearest to the
    /// rotation `before`.
    pub fn place(&self, state: &State, before: DMat3) -> Option<DVec3> {
        match self {
            Attachment::Point(point) => {
                let x = state.body(point.body)?.positions();
                Some(point.parts().map(|(i, w)| x.get(i as usize) * w).sum())
            }
            Attachment::Frame(frame) => {
                let x = state.body(frame.body())?.positions();
                Some(frame.fit(|i| x.get(i as usize), before).place(frame.at()))
            }
            Attachment::World(frame) => Some(frame.at),
        }
    }

    /// Why it cannot take hold of anything among these bodies, and what to do.
    fn faults(&self, bodies: &[ModelBody], faults: &mut Vec<(String, String)>) {
        if let Attachment::World(WorldFrame { at, axes }) = self {
            let turned = (*axes * axes.transpose() - DMat3::IDENTITY).to_cols_array();
            if !(at.is_finite() && turned.iter().all(|v| v.abs() < 1e-9) && axes.determinant() > 0.0) {
                let text = format!("its place in the world is {at}, with axes {axes}");
                faults.push((text, "give a finite place, and axes that are a rotation".into()));
            }
            return;
        }
        let Some(body) = self.body() else { return };
        let Ok(k) = bodies.binary_search_by_key(&body, |b| b.id) else {
            let help = format!("tie bodies that are there; there are {}", bodies.len());
            return faults.push((format!("there is no body {body}"), help));
        };
        let (name, count) = (&bodies[k].name, bodies[k].parts.whole().particle_count());
        let particles = match self {
            Attachment::Point(point) => &point.particles[..],
            Attachment::Frame(frame) => frame.parents(),
            Attachment::World(_) => &[],
        };
        if let Some(i) = particles.iter().find(|i| **i as usize >= count) {
            let text = format!("body \"{name}\" has no particle {i} (there are {count}, from 0)");
            faults.push((text, "tie particles that exist".into()));
        }
        if let Attachment::Point(BodyPoint { weights, .. }) = self {
            let sum: f64 = weights.iter().sum();
            if !weights.iter().all(|w| w.is_finite()) || (sum - 1.0).abs() > 1e-9 {
                let text = format!("the weights of its point of body \"{name}\" are {weights:?}");
                faults.push((text, "give finite weights that sum to 1".into()));
            }
        }
    }

    fn digest(&self, hash: &mut Digest) {
        match self {
            Attachment::Point(BodyPoint { body, particles, weights }) => {
                hash.word(body.number());
                particles.iter().for_each(|i| hash.word(u64::from(*i)));
                weights.iter().for_each(|w| hash.number(*w));
            }
            Attachment::Frame(frame) => frame.digest(hash),
            Attachment::World(WorldFrame { at, axes }) => {
                at.to_array().into_iter().chain(axes.to_cols_array()).for_each(|v| hash.number(v));
            }
        }
    }
}

impl From<BodyPoint> for Attachment {
    fn from(point: BodyPoint) -> Attachment {
        Attachment::Point(point)
    }
}

impl From<BodyFrame> for Attachment {
    fn from(frame: BodyFrame) -> Attachment {
        Attachment::Frame(Arc::new(frame))
    }
}

impl From<Arc<BodyFrame>> for Attachment {
    fn from(frame: Arc<BodyFrame>) -> Attachment {
        Attachment::Frame(frame)
    }
}

impl From<WorldFrame> for Attachment {
    fn from(frame: WorldFrame) -> Attachment {
        Attachment::World(frame)
    }
}

/// What of its two sides a coupling keeps together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CouplingKind {
    /// One point: the sides turn freely about each other.
    #[default]
    Point,
    /// A point and an axis, the last of each frame: the sides turn about it.
    Hinge,
    /// Frames: nothing moves relative to the other.
    Weld,
}

impl CouplingKind {
    /// Every kind.
    pub const ALL: [CouplingKind; 3] = [CouplingKind::Point, CouplingKind::Hinge, CouplingKind::Weld];

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            CouplingKind::Point => "point",
            CouplingKind::Hinge => "hinge",
            CouplingKind::Weld => "weld",
        }
    }
}

/// Two places that are kept together: of bodies, or of one and the world.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coupling {
    /// Name, for messages and look-up; may be empty.
    pub name: String,
    /// The sides. What begins apart comes together at the pace of one body size a second.
    pub sides: [Attachment; 2],
    /// What of them is kept together.
    pub kind: CouplingKind,
    /// Spring stiffness, N/m; `None` holds exactly.
    pub stiffness: Option<f64>,
    /// Force per relative velocity of the sides, N s/m. Only for springs.
    pub damping: f64,
    /// The force beyond which it breaks, N; infinite for never. That is the resultant one; of hinges and welds also their torque, but
    /// for that about the axis of a hinge, at a lever as long as the root mean square distance of the parents from their mean, the longer of both sides.
    pub break_force: f64,
    /// How far its points may come apart before it breaks, m; infinite for any distance.
    pub break_distance: f64,
    /// The least and the greatest angle of a hinge, rad: how its second side is turned about the axis, seen from the first, as the
    /// frames were given 0. `None` for any.
    pub limits: Option<[f64; 2]>,
    /// What turns a hinge.
    pub motor: Option<Motor>,
}

impl Coupling {
    /// Two points that are held together exactly and turn freely about each other.
    pub fn joint(a: impl Into<Attachment>, b: impl Into<Attachment>) -> Coupling {
        Coupling {
            name: String::new(),
            sides: [a.into(), b.into()],
            kind: CouplingKind::Point,
            stiffness: None,
            damping: 0.0,
            break_force: f64::INFINITY,
            break_distance: f64::INFINITY,
            limits: None,
            motor: None,
        }
    }

    /// Two points drawn together by a damped spring (N/m, N s/m).
    pub fn spring(
        a: impl Into<Attachment>,
        b: impl Into<Attachment>,
        stiffness: f64,
        damping: f64,
    ) -> Coupling {
        Coupling { stiffness: Some(stiffness), damping, ..Coupling::joint(a, b) }
    }

    /// Two frames that turn about their last axis only.
    pub fn hinge(a: impl Into<Attachment>, b: impl Into<Attachment>) -> Coupling {
        Coupling { kind: CouplingKind::Hinge, ..Coupling::joint(a, b) }
    }

    /// Two frames that are one.
    pub fn weld(a: impl Into<Attachment>, b: impl Into<Attachment>) -> Coupling {
        Coupling { kind: CouplingKind::Weld, ..Coupling::joint(a, b) }
    }

    /// The coupling with a name to find it by; building refuses two of one name.
    pub fn named(self, name: impl Into<String>) -> Coupling {
        Coupling { name: name.into(), ..self }
    }

    /// The coupling, which breaks for good once it holds with more than this force, N.
    pub fn breaking_at(self, force: f64) -> Coupling {
        Coupling { break_force: force, ..self }
    }

    /// The coupling, which breaks for good once its points are further apart than this, m.
    pub fn breaking_apart(self, distance: f64) -> Coupling {
        Coupling { break_distance: distance, ..self }
    }

    /// The hinge, which turns between two angles from how it was built, rad; `least` must not be above `most`.
    pub fn limited(self, least: f64, most: f64) -> Coupling {
        Coupling { limits: Some([least, most]), ..self }
    }

    /// The same hinge, turned by a motor (rad/s) with at most a torque (N m).
    pub fn driven(self, speed: f64, torque: f64) -> Coupling {
        Coupling { motor: Some(Motor { speed, torque }), ..self }
    }

    /// The bodies it ties together.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.sides.iter().filter_map(Attachment::body)
    }

    /// The energy in its springs, J; none in what holds exactly, nothing, or is broken.
    pub(crate) fn energy(&self, state: &State, memory: &CouplingMemory) -> f64 {
        if memory.broken || !memory.stiffness.is_finite() {
            return 0.0;
        }
        let place = |body: BodyId| state.bodies.binary_search_by_key(&body, |b| b.id()).ok();
        // A body that is tied cannot go.
        if !self.bodies().all(|body| place(body).is_some()) {
            return 0.0;
        }
        let tie = Tie::new(self, 0, |body| place(body).unwrap_or(usize::MAX));
        tie.energy(memory, |body, i| state.bodies[body].x.get(i as usize))
    }

    /// Why these bodies cannot be tied like this, and what to do.
    pub(crate) fn faults(&self, bodies: &[ModelBody]) -> Vec<(String, String)> {
        let Coupling { name: _, sides, kind, stiffness, damping, break_force, break_distance, limits, motor } =
            self;
        let mut faults = Vec::new();
        sides.iter().for_each(|side| side.faults(bodies, &mut faults));
        if sides[0] == sides[1] {
            faults.push(("it ties a point to itself".into(), "give two points".into()));
        }
        if sides.iter().all(|s| s.body().is_none()) {
            faults.push(("it ties the world to itself".into(), "give a body on one side".into()));
        }
        let frameless = |s: &Attachment| matches!(s, Attachment::Point(_));
        if *kind != CouplingKind::Point && sides.iter().any(frameless) {
            let text = format!("a point has no axes for a {} to keep together", kind.name());
            faults.push((text, "give frames (`BodyFrame`) on both sides".into()));
        }
        if stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
            let help = "give a number above 0, or none to hold exactly".into();
            faults.push((format!("its stiffness is {stiffness:?} N/m"), help));
        }
        if !(*damping >= 0.0 && damping.is_finite()) {
            faults.push((format!("its damping is {damping} N s/m"), "give a number of at least 0".into()));
        } else if *damping > 0.0 && stiffness.is_none() {
            let help = "leave the damping out, or give a stiffness".into();
            faults.push((format!("it holds exactly and has a damping of {damping} N s/m"), help));
        }
        for (what, most, unit) in [("force", break_force, "N"), ("distance", break_distance, "m")] {
            if most.is_nan() || *most <= 0.0 {
                let help = "give a number above 0, or infinity for never".into();
                faults.push((format!("the {what} it breaks at is {most} {unit}"), help));
            }
        }
        if *kind != CouplingKind::Hinge && (limits.is_some() || motor.is_some()) {
            let text = format!("a {} has no angle to limit or to drive", kind.name());
            faults.push((text, "make it a hinge, or leave limits and motor out".into()));
        }
        faults.extend(limits.and_then(limits_fault));
        faults.extend(motor.and_then(|m| m.fault()));
        faults
    }
}

/// A coupling under the id it has in a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelCoupling {
    /// What it is known by, for as long as the simulation lives.
    pub id: CouplingId,
    /// What it ties and how, as it was given.
    pub coupling: Coupling,
}

impl ModelCoupling {
    pub(super) fn digest(&self, hash: &mut Digest) {
        let Coupling { name, sides, kind, stiffness, damping, break_force, break_distance, limits, motor } =
            &self.coupling;
        hash.word(self.id.number());
        hash.bytes(name.as_bytes());
        sides.iter().for_each(|side| side.digest(hash));
        hash.number(stiffness.unwrap_or(f64::INFINITY));
        hash.number(*damping);
        // Those that are as all once were keep the digest they had.
        if (*kind, *break_force, *break_distance) != (CouplingKind::Point, f64::INFINITY, f64::INFINITY) {
            hash.word(*kind as u64);
            [*break_force, *break_distance].into_iter().for_each(|v| hash.number(v));
        }
        if let Some(limits) = limits {
            hash.word(1);
            limits.iter().for_each(|v| hash.number(*v));
        }
        if let Some(Motor { speed, torque }) = motor {
            hash.word(2);
            [*speed, *torque].into_iter().for_each(|v| hash.number(v));
        }
    }
}

impl Model {
    /// What ties bodies together, in the order it came.
    pub fn couplings(&self) -> &[ModelCoupling] {
        &self.couplings
    }

    /// Where a coupling stands in [`Model::couplings`]; `None` if it is gone or never was.
    pub fn coupling_index(&self, id: CouplingId) -> Option<usize> {
        self.couplings.binary_search_by_key(&id, |c| c.id).ok()
    }

    /// The id of the coupling of this name; `None` if there is none.
    pub fn coupling(&self, name: &str) -> Option<CouplingId> {
        self.couplings.iter().find(|c| c.coupling.name == name).map(|c| c.id)
    }

    /// The id the next coupling will have.
    pub(crate) fn next_coupling(&self) -> CouplingId {
        CouplingId::from_number(self.next_coupling)
    }

    /// Other couplings that were checked, as the next revision; `next` is the number of the next one to come. No body is
    /// touched by it.
    pub(crate) fn with_couplings(&self, couplings: Vec<ModelCoupling>, next: u64) -> Model {
        let mut model =
            Model { couplings: std::sync::Arc::new(couplings), next_coupling: next, ..self.clone() };
        (model.id.revision, model.id.fingerprint) = (self.id.revision + 1, model.fingerprint());
        model
    }
}
