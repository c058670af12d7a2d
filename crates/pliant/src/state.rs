//! The changing side of a simulation: with the controls, exactly what a checkpoint stores.

use crate::bytes::{Reader, Truncated, Writer};
use crate::checkpoint::OLDEST;
use crate::couplings::CouplingMemory;
use crate::memory::{Memory, Section};
use crate::model::{BodyId, BodyModel, HalfSpace, Model, ModelCollider, ModelCoupling, ModelId};
use crate::points::{Points, PointsMut};
use crate::solvers::rigid::Pose;
use crate::tearing::TornShapes;
use glam::{DAffine3, DVec3};

/// Positions, velocities and everything else history leaves behind. A step is a pure function of
/// model, state and controls, so these saved and loaded continue with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Seconds since the start.
    pub(crate) time: f64,
    /// Steps since the start.
    pub(crate) step: u64,
    /// The bodies, in the model's order.
    pub(crate) bodies: Vec<BodyState>,
    /// Where the colliders are, in the model's order, relative to where they were made: friction and bounces feel how
    /// they go on from there.
    pub(crate) colliders: Vec<DAffine3>,
    /// Where the vertices of their meshes are, in their own coordinates; none of a collider that does not change its shape.
    pub(crate) vertices: Vec<Vec<DVec3>>,
    /// What history leaves behind of the couplings, in the model's order.
    pub(crate) couplings: Vec<CouplingMemory>,
    /// The model this state belongs to.
    pub(crate) model: ModelId,
}

/// What changes of a body in a step: positions, m, velocities, m/s, and what history leaves behind beside them.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    id: BodyId,
    pub(crate) x: Points,
    pub(crate) v: Points,
    pub(crate) memory: Memory,
}

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes are not a checkpoint, or are damaged.
    Damaged(&'static str),
    /// Written by another version of the format.
    Version {
        /// The version found.
        found: u64,
        /// The version this program writes.
        expected: u64,
    },
    /// It belongs to another model.
    OtherModel,
    /// A body was made by an edit that cannot be told in bytes: it has constraints of a user's own.
    Undescribed {
        /// Name of the body.
        body: String,
    },
}

impl std::fmt::Display for StateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StateError::Damaged(what) => write!(f, "the checkpoint is damaged: {what}"),
            StateError::Version { found, expected } => write!(
                f,
                "the checkpoint has format version {found}, this program reads versions {OLDEST} to {expected}; \
                 run again from the start, or with the program that wrote it"
            ),
            StateError::OtherModel => f.write_str(
                "the checkpoint belongs to another model: the scene was changed since; \
                 run again from the start",
            ),
            StateError::Undescribed { body } => write!(
                f,
                "body \"{body}\" of the checkpoint has constraints of a user's own, which are not stored; \
                 make the edit that gave it them again (`Edit::Model`), then restore"
            ),
        }
    }
}

impl std::error::Error for StateError {}

impl From<Truncated> for StateError {
    fn from(_: Truncated) -> Self {
        StateError::Damaged("it ends early")
    }
}

impl BodyState {
    /// A body at `x` with velocities `v`, which has no history yet.
    pub(crate) fn new(id: BodyId, model: &BodyModel, x: Points, v: Points) -> BodyState {
        let memory = Memory::new(model, &x);
        BodyState { id, x, v, memory }
    }

    /// Of nothing, to stand where another was taken.
    pub(crate) fn empty() -> BodyState {
        let id = BodyId::from_number(u64::MAX);
        BodyState { id, x: Points::EMPTY, v: Points::EMPTY, memory: Memory::empty() }
    }

    /// Whose state it is.
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// Positions, in the order of the body's shape.
    pub fn positions(&self) -> &Points {
        &self.x
    }

    /// Velocities of the particles, m/s. The deformer's bodies move otherwise: see [`Simulation::velocity`](crate::Simulation::velocity).
    pub fn velocities(&self) -> &Points {
        &self.v
    }

    /// Lets it begin anew to come to rest, if it sleeps.
    pub(crate) fn wake(&mut self) {
        self.memory[Section::Sleep].fill(0.0);
    }

    /// Where its particles are, m, to be changed; the number of particles stays. Wakes the body if it sleeps.
    pub fn positions_mut(&mut self) -> PointsMut<'_> {
        self.wake();
        self.x.columns_mut()
    }

    /// How its particles move, m/s, to be changed; the number of particles stays. Wakes the body if it sleeps.
    pub fn velocities_mut(&mut self) -> PointsMut<'_> {
        self.wake();
        self.v.columns_mut()
    }

    /// Where a body that never deforms is: how its shape at rest lies in the world. `None` of one that does.
    pub fn placement(&self, model: &BodyModel) -> Option<DAffine3> {
        let rest = model.rigid().filter(|_| self.x.len() == 4)?;
        let pose = Pose::of(rest, self);
        let turn = pose.axes * rest.axes.transpose();
        Some(DAffine3::from_mat3_translation(turn, pose.center - turn * rest.center))
    }

    /// What else history leaves behind.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What else history has left, to be changed; sections keep their lengths.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Copies everything from a state of the same body, without allocating.
    pub(crate) fn copy_from(&mut self, other: &BodyState) {
        self.x.copy_from(&other.x);
        self.v.copy_from(&other.v);
        self.memory.copy_from(&other.memory);
    }

    /// Whether it can be copied without allocating.
    pub(crate) fn has_sizes_of(&self, other: &BodyState) -> bool {
        self.x.len() == other.x.len() && self.memory.has_sizes_of(&other.memory)
    }

    fn fits(&self, id: BodyId, model: &BodyModel) -> bool {
        let n = model.particle_count();
        self.id == id
            && [self.x.len(), self.v.len()] == [n; 2]
            && self.memory.fits(model)
            && model.is_torn_as(self)
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.x.first_non_finite().or(self.v.first_non_finite()).is_none() && self.memory.is_finite()
    }
}

impl State {
    /// Bodies with these states, at time zero.
    pub(crate) fn new(model: &Model, bodies: Vec<BodyState>) -> State {
        let (colliders, vertices) = (Self::unled(model, 0.0), Self::undeformed(model, 0.0));
        let couplings = Self::untouched(model, &bodies);
        State { time: 0.0, step: 0, bodies, colliders, vertices, couplings, model: model.id() }
    }

    /// The last step that can be counted to: beyond it a step is no longer a time of its own.
    pub const LAST_STEP: u64 = 1 << 53;

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps since the start.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Counts steps from here on: keyframes, wind and whatever else follows the time act as after `step` steps of `model`.
    pub fn begin_at(&mut self, step: u64, model: &Model) {
        (self.step, self.time) = (step, step as f64 * model.params.step);
        self.colliders = Self::unled(model, self.time);
        self.vertices = Self::undeformed(model, self.time);
    }

    /// Couplings that have just come.
    fn untouched(model: &Model, bodies: &[BodyState]) -> Vec<CouplingMemory> {
        let of = |id| bodies.binary_search_by_key(&id, |b: &BodyState| b.id).ok().map(|k| &bodies[k]);
        let memory = |c: &ModelCoupling| CouplingMemory::new(&c.coupling, of).holding(&c.coupling);
        model.couplings().iter().map(memory).collect()
    }

    /// What history leaves behind of the couplings, in the model's order.
    pub fn couplings(&self) -> &[CouplingMemory] {
        &self.couplings
    }

    /// Where colliders are that no host leads.
    pub(crate) fn unled(model: &Model, time: f64) -> Vec<DAffine3> {
        model.colliders().iter().map(|c| c.collider.motion.placement(time)).collect()
    }

    /// Where the vertices of colliders are that no host gives.
    pub(crate) fn undeformed(model: &Model, time: f64) -> Vec<Vec<DVec3>> {
        model.colliders().iter().map(|c| c.collider.vertices(time)).collect()
    }

    /// Where the vertices of a collider's mesh are, by its place in the model and in its own coordinates, if that changes
    /// its shape; else nothing, and they are where the mesh has them.
    pub fn collider_vertices(&self, place: usize) -> &[DVec3] {
        self.vertices.get(place).map_or(&[], Vec::as_slice)
    }

    /// Where the colliders are, in the model's order, relative to where they were made.
    pub fn colliders(&self) -> &[DAffine3] {
        &self.colliders
    }

    /// Those colliders of `model` that are half-spaces, as they are at present.
    pub fn half_spaces<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = HalfSpace> + Clone + 'a {
        model.colliders().iter().zip(&self.colliders).filter_map(|(c, at)| c.collider.half_space(at))
    }

    /// The model this state belongs to.
    pub fn model(&self) -> ModelId {
        self.model
    }

    /// The bodies, in the model's order.
    pub fn bodies(&self) -> &[BodyState] {
        &self.bodies
    }

    /// The state of every body, in the order of the model, to be changed.
    pub fn bodies_mut(&mut self) -> &mut [BodyState] {
        &mut self.bodies
    }

    /// A body; `None` if it is gone or never was.
    pub fn body(&self, id: impl Into<BodyId>) -> Option<&BodyState> {
        let id = id.into();
        self.bodies.binary_search_by_key(&id, |b| b.id).ok().map(|k| &self.bodies[k])
    }

    /// Why this cannot be a state of `model`: of another model, of other sizes, or with numbers that are none.
    pub fn check(&self, model: &Model) -> Result<(), StateError> {
        let mut pairs = self.bodies.iter().zip(model.bodies());
        let fits = self.model == model.id()
            && self.bodies.len() == model.bodies().len()
            && self.colliders.len() == model.colliders().len()
            && self.vertices.len() == model.colliders().len()
            && self.couplings.len() == model.couplings().len()
            && self.vertices.iter().zip(model.colliders()).all(|(v, c)| fits_mesh(v, c))
            && pairs.all(|(state, body)| state.fits(body.id, &body.parts));
        if !fits {
            return Err(StateError::OtherModel);
        }
        let placed = self.colliders.iter().all(DAffine3::is_finite)
            && self.vertices.iter().flatten().all(|v| v.is_finite());
        let tied = self.couplings.iter().all(CouplingMemory::is_finite);
        if !(placed && tied && self.time.is_finite() && self.bodies.iter().all(BodyState::is_finite)) {
            return Err(StateError::Damaged("it has numbers that are not finite"));
        }
        if self.step > State::LAST_STEP {
            return Err(StateError::Damaged("it counts more steps than there can be (2^53)"));
        }
        Ok(())
    }

    /// Bytes a checkpoint of it takes, about.
    pub(crate) fn size(&self) -> usize {
        let vertices: usize = self.vertices.iter().map(Vec::len).sum();
        self.bodies.iter().map(|b| 48 * b.x.len() + 8 * b.memory.len() + 128).sum::<usize>()
            + 24 * vertices
            + 192 * self.couplings.len()
            + 64
    }

    /// Appends all of it to a checkpoint.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.word(self.model.revision);
        w.word(self.model.fingerprint);
        w.number(self.time);
        w.word(self.step);
        w.word(self.colliders.len() as u64);
        self.colliders.iter().for_each(|at| w.placement(at));
        self.vertices.iter().for_each(|v| w.vectors(v));
        w.word(self.couplings.len() as u64);
        self.couplings.iter().for_each(|c| c.write(w));
        w.word(self.bodies.len() as u64);
        for body in &self.bodies {
            w.word(body.id.number());
            for column in body.x.columns().into_iter().chain(body.v.columns()) {
                w.numbers(column);
            }
            body.memory.write(w);
        }
    }

    /// Reads back what [`State::write`] wrote of a state of `model`, and checks it.
    ///
    /// Before colliders could move, where they are was not told in it, nor was their shape before that could change, nor
    /// anything of couplings before there was anything to tell.
    pub(crate) fn read(r: &mut Reader<'_>, model: &Model, told: Told) -> Result<State, StateError> {
        let id = ModelId { revision: r.word()?, fingerprint: r.word()? };
        if id != model.id() {
            return Err(StateError::OtherModel);
        }
        let (time, step) = (r.number()?, r.word()?);
        let placed = told > Told::Bodies;
        if placed && r.word()? != model.colliders().len() as u64 {
            return Err(StateError::Damaged("the number of colliders does not fit the model"));
        }
        let colliders = match placed {
            true => model.colliders().iter().map(|_| r.placement()).collect::<Result<_, _>>()?,
            false => Self::unled(model, time),
        };
        let vertices = match told >= Told::ColliderShapes {
            true => model.colliders().iter().map(|_| r.vectors()).collect::<Result<_, _>>()?,
            false => Self::undeformed(model, time),
        };
        let mut couplings = Vec::new();
        if told >= Told::Couplings {
            if r.word()? != model.couplings().len() as u64 {
                return Err(StateError::Damaged("the number of couplings does not fit the model"));
            }
            let read = |c: &ModelCoupling| CouplingMemory::read(r, &c.coupling, told >= Told::Stiffness);
            couplings = model.couplings().iter().map(read).collect::<Result<_, _>>()?;
        }
        if r.word()? != model.bodies().len() as u64 {
            return Err(StateError::Damaged("the number of bodies does not fit the model"));
        }
        let sections = match told {
            told if told < Told::Couplings => Section::BEFORE_COUPLINGS,
            told if told < Told::Sleep => Section::BEFORE_SLEEP,
            _ => Section::ALL.len(),
        };
        let mut bodies = Vec::with_capacity(model.bodies().len());
        for _ in model.bodies() {
            let id = BodyId::from_number(r.word()?);
            let (x, v) = (r.points()?, r.points()?);
            bodies.push(BodyState { id, x, v, memory: Memory::read(r, sections)? });
        }
        if told < Told::Couplings {
            couplings = Self::untouched(model, &bodies);
        }
        let state = State { time, step, bodies, colliders, vertices, couplings, model: id };
        match state.check(&model.torn_by(&state, &mut TornShapes::default())?) {
            // It names the model, so it was changed since it was written.
            Err(StateError::OtherModel) => Err(StateError::Damaged("its sizes do not fit the model")),
            checked => checked.map(|()| state),
        }
    }
}

/// What a checkpoint tells, each with what comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    Bodies,
    ColliderPlaces,
    ColliderShapes,
    Couplings,
    Stiffness,
    Sleep,
}

/// Whether vertices are those of a collider: none, or one for each of its mesh.
pub(crate) fn fits_mesh(vertices: &[DVec3], of: &ModelCollider) -> bool {
    vertices.is_empty() || of.collider.as_mesh().is_some_and(|m| m.mesh().positions.len() == vertices.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, shapes};

    #[test]
    fn what_does_not_fit_a_model_is_told_apart() {
        let body = Body::new("ball", shapes::ball(0.2, 0.08).unwrap());
        let s = Builder::new().body(body).build().unwrap();
        let n = s.model().particle_count();
        type Change<'a> = &'a dyn Fn(&mut State);
        let changes: [(&str, Change<'_>); 9] = [
            ("fewer positions", &|s| s.bodies[0].x = Points::zeros(n - 1)),
            ("more velocities", &|s| s.bodies[0].v = Points::zeros(n + 1)),
            ("no bodies", &|s| s.bodies.clear()),
            ("a coupling", &|s| s.couplings.push(CouplingMemory::default())),
            ("another body", &|s| s.bodies[0].id = 3.into()),
            ("another memory", &|s| s.bodies[0].memory = Memory::empty()),
            ("another model", &|s| s.model.fingerprint ^= 1),
            ("time", &|s| s.time = f64::NAN),
            ("steps", &|s| s.step = u64::MAX),
        ];
        for (what, change) in changes {
            let mut state = s.state().clone();
            assert_eq!(state.check(s.model()), Ok(()));
            change(&mut state);
            assert!(state.check(s.model()).is_err(), "{what}");
        }
    }
}
