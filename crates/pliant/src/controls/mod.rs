//! What may change while a simulation runs, what each change costs, and which values are allowed.

mod body;
mod codec;
mod coupling;
mod table;
mod value;

pub use body::{BodyControls, Stiffness};
pub use coupling::CouplingControls;
pub(crate) use coupling::CouplingEntry;
pub use table::{Allowed, Control, ControlOwner, Descriptor};
pub use value::{ControlError, Cost, Value};

use crate::memory::Memory;
use crate::model::{
    BodyId, BodyModel, ColliderId, CouplingId, Model, ModelCollider, ModelCoupling, is_rigid,
};
use crate::solvers::SolverKind;
use glam::{DAffine3, DVec3};

/// What may change of the world around the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldControls {
    /// Gravity, m/s²; kept beside its size and direction, so that either can be changed alone and the
    /// direction survives a time without gravity.
    pub(crate) gravity: DVec3,
    pub(crate) gravity_direction: DVec3,
    pub(crate) gravity_magnitude: f64,
    pub(crate) wind: DVec3,
    pub(crate) gusts: f64,
}

/// What may change of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyEntry {
    pub id: BodyId,
    pub values: BodyControls,
    /// Where a host holds a pin group; `None` follows the group's own motion.
    pub pins: Vec<Option<DAffine3>>,
    /// Forces on its particles, N; none, or one for each it was built with.
    pub forces: Vec<DVec3>,
}

/// Everything that may change between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    pub(crate) world: WorldControls,
    /// The bodies, in the model's order.
    pub(crate) bodies: Vec<BodyEntry>,
    /// The couplings, in the model's order.
    pub(crate) couplings: Vec<CouplingEntry>,
    /// Where a host wants each collider, in the model's order; `None` follows the collider's own motion.
    pub(crate) colliders: Vec<Option<DAffine3>>,
    /// Where a host wants the vertices of each collider's mesh, in the collider's own coordinates; none if it gives none.
    pub(crate) vertices: Vec<Vec<DVec3>>,
}

/// What one body is moved by at present.
#[derive(Clone, Copy, Debug)]
pub struct LiveControls<'a> {
    /// What is the same for all bodies: gravity, wind, gusts.
    pub world: &'a WorldControls,
    /// Those of the body alone.
    pub body: &'a BodyControls,
    pub(crate) pins: &'a [Option<DAffine3>],
    pub(crate) forces: &'a [DVec3],
}

impl LiveControls<'_> {
    /// Where the particles of every pin group of the body are wanted at `time`, one group after the other.
    pub(crate) fn targets(&self, model: &BodyModel, memory: &Memory, time: f64, out: &mut Vec<DVec3>) {
        out.clear();
        let mut anchors = memory.anchors();
        for (group, held) in model.pins.iter().zip(self.pins) {
            let placement = held.unwrap_or_else(|| group.motion.placement(time));
            let own = anchors.by_ref().take(group.particles.len());
            out.extend(own.map(|anchor| placement.transform_point3(anchor)));
        }
    }

    /// The acceleration of gravity and the force on the whole body.
    pub(crate) fn pull(&self) -> DVec3 {
        self.world.gravity + self.body.force / self.body.mass
    }
}

impl WorldControls {
    pub(crate) fn set_gravity(&mut self, gravity: DVec3) {
        (self.gravity, self.gravity_magnitude) = (gravity, gravity.length());
        self.gravity_direction = unit(gravity).unwrap_or(self.gravity_direction);
    }

    /// Gravity, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }
}

impl BodyEntry {
    /// Controls of a body whose pin groups follow their own motion.
    pub fn new(id: BodyId, values: BodyControls, model: &BodyModel) -> BodyEntry {
        BodyEntry { id, values, pins: vec![None; model.pins.len()], forces: Vec::new() }
    }
}

impl Controls {
    /// Controls of a model. Values are taken as checked.
    pub(crate) fn new(
        gravity: DVec3,
        bodies: Vec<BodyEntry>,
        couplings: &[ModelCoupling],
        colliders: usize,
    ) -> Controls {
        let mut world = WorldControls {
            gravity,
            gravity_direction: DVec3::NEG_Y,
            gravity_magnitude: 0.0,
            wind: DVec3::ZERO,
            gusts: 0.0,
        };
        world.set_gravity(gravity);
        Controls {
            world,
            bodies,
            couplings: couplings.iter().map(|c| CouplingEntry::new(c.id, &c.coupling)).collect(),
            colliders: vec![None; colliders],
            vertices: vec![Vec::new(); colliders],
        }
    }

    fn index(&self, id: BodyId) -> Option<usize> {
        self.bodies.binary_search_by_key(&id, |b| b.id).ok()
    }

    /// What moves the body of this place in the model.
    pub(crate) fn live(&self, index: usize) -> LiveControls<'_> {
        let BodyEntry { values, pins, forces, .. } = &self.bodies[index];
        LiveControls { world: &self.world, body: values, pins, forces }
    }

    fn values_mut(&mut self, id: BodyId) -> Option<&mut BodyControls> {
        self.index(id).map(|k| &mut self.bodies[k].values)
    }

    /// The present value of a control; nothing for a body or a coupling that is not there.
    pub fn get(&self, control: Control) -> Option<Value> {
        match control.owner() {
            ControlOwner::Body(body) => self.body(body)?.get(control),
            ControlOwner::Coupling(coupling) => self.coupling(coupling)?.get(control),
            ControlOwner::World => Some(match control {
                Control::GravityMagnitude => self.world.gravity_magnitude.into(),
                Control::GravityDirection => self.world.gravity_direction.into(),
                Control::Wind => self.world.wind.into(),
                Control::Gusts => self.world.gusts.into(),
                _ => self.world.gravity.into(),
            }),
        }
    }

    /// Gravity, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.world.gravity
    }

    /// Direction of gravity, of length 1; kept while there is none.
    pub fn gravity_direction(&self) -> DVec3 {
        self.world.gravity_direction
    }

    /// Velocity of the air, m/s.
    pub fn wind(&self) -> DVec3 {
        self.world.wind
    }

    /// How much of the wind comes and goes.
    pub fn gusts(&self) -> f64 {
        self.world.gusts
    }

    /// The live values of a body; nothing for a body that is not there.
    pub fn body(&self, b: impl Into<BodyId>) -> Option<&BodyControls> {
        self.index(b.into()).map(|k| &self.bodies[k].values)
    }

    /// The live values of a coupling; nothing for one that is not there.
    pub fn coupling(&self, coupling: impl Into<CouplingId>) -> Option<&CouplingControls> {
        let id = coupling.into();
        self.couplings.binary_search_by_key(&id, |c| c.id).ok().map(|k| &self.couplings[k].values)
    }

    /// Why these cannot be controls of `model`: of other bodies or pin groups, or with values that are not
    /// allowed there.
    pub fn check(&self, model: &Model) -> Result<(), ControlError> {
        let refuse = |control, found: usize, wanted: usize| {
            let value = format!("controls of {found}");
            let allowed = format!("the model has {wanted}: take controls made for it");
            Err(ControlError { control, value, allowed })
        };
        if self.bodies.len() != model.bodies().len() {
            return refuse("bodies", self.bodies.len(), model.bodies().len());
        }
        if self.colliders.len() != model.colliders().len() {
            return refuse("colliders", self.colliders.len(), model.colliders().len());
        }
        let ids = |c: &ModelCoupling| c.id;
        if !self.couplings.iter().map(|c| c.id).eq(model.couplings().iter().map(ids)) {
            return refuse("couplings", self.couplings.len(), model.couplings().len());
        }
        if !self.colliders.iter().flatten().all(is_rigid) {
            return Err(no_rigid_placement());
        }
        if self.vertices.len() != model.colliders().len() {
            return refuse("colliders", self.vertices.len(), model.colliders().len());
        }
        for (vertices, of) in self.vertices.iter().zip(model.colliders()).filter(|(v, _)| !v.is_empty()) {
            check_vertices(vertices, of)?;
        }
        for (entry, body) in self.bodies.iter().zip(model.bodies()) {
            if entry.id != body.id {
                let allowed = "the model has others: take controls made for it".into();
                let value = format!("controls of body {}", entry.id);
                return Err(ControlError { control: "bodies", value, allowed });
            }
            let particles = body.parts.whole().particle_count();
            if !entry.forces.is_empty() && entry.forces.len() != particles {
                return refuse("forces", entry.forces.len(), particles);
            }
            if !entry.forces.iter().all(|f| f.is_finite()) {
                let allowed = "its components must be finite numbers".into();
                return Err(ControlError { control: "forces", value: "(a force)".into(), allowed });
            }
            if entry.pins.len() != body.parts.pins.len() {
                return refuse("pins", entry.pins.len(), body.parts.pins.len());
            }
        }
        let h = model.params.substep();
        for control in Control::all([]).chain(self.couplings.iter().flat_map(|c| Control::of_coupling(c.id)))
        {
            if let Some(value) = self.get(control) {
                control.check(value, SolverKind::Clustered, h)?;
            }
        }
        for (k, body) in model.bodies().iter().enumerate() {
            let entry = &self.bodies[k];
            let solver = body.parts.solver();
            for control in Control::of_body(body.id) {
                if let Some(value) = self.get(control) {
                    control.check(value, solver, h)?;
                }
            }
            if solver == SolverKind::Clustered {
                entry.values.check_relaxation()?;
            }
            if !entry.pins.iter().flatten().all(DAffine3::is_finite) {
                return Err(not_finite_placement());
            }
        }
        Ok(())
    }

    /// Changes a value for the steps to come, and says what that will cost. A value out of range, or one that
    /// nothing would read (see [`Control::effect`]), is refused and nothing changes.
    pub fn set(
        &mut self,
        model: &Model,
        control: Control,
        value: impl Into<Value>,
    ) -> Result<Cost, ControlError> {
        let value = value.into();
        let found = control.body().map(|b| (b, model.get(b), self.body(b).copied()));
        let (solver, before) = match found {
            None => (SolverKind::Clustered, None),
            Some((_, Some(body), Some(values))) => (body.parts.solver(), Some(values)),
            Some((b, ..)) => {
                let value = format!("(body {b})");
                let allowed = no_such_body(model, b);
                return Err(ControlError { control: control.name(), value, allowed });
            }
        };
        if let Some(coupling) = control.coupling().filter(|c| self.coupling(*c).is_none()) {
            let (value, allowed) = (format!("(coupling {coupling})"), no_such_coupling(model, coupling));
            return Err(ControlError { control: control.name(), value, allowed });
        }
        control.check(value, solver, model.params.substep())?;
        control.check_effect(value, model)?;
        model.params.keyframes.allow(control, value, self)?;
        // Relaxation and iterations are only sound together.
        match (control, value, before) {
            (Control::Relaxation(_), Value::Number(v), Some(before)) => {
                BodyControls { relaxation: v, ..before }.check_relaxation()?;
            }
            (Control::Iterations(_), Value::Number(v), Some(before)) if solver == SolverKind::Clustered => {
                BodyControls { iterations: v as u32, ..before }.check_relaxation()?;
            }
            _ => {}
        }
        self.put(control, value);
        let cost = control.cost(solver);
        let vanishes = |c: &BodyControls| {
            let elastic = c.elasticity();
            let zero = |v: f64| v == 0.0;
            [c.edge_stiffness, c.stiffness.per_mass(1.0), elastic.young, elastic.poisson].map(zero)
        };
        let now = control.body().and_then(|b| self.body(b));
        let rebuild = before.zip(now).is_some_and(|(old, now)| vanishes(&old) != vanishes(now));
        Ok(if cost == Cost::Refactor && rebuild { Cost::Rebuild } else { cost })
    }

    /// Changes a value that was checked.
    pub(crate) fn put(&mut self, control: Control, value: Value) {
        let world = &mut self.world;
        match (control, value) {
            (Control::Gravity, Value::Vector(v)) => return world.set_gravity(v),
            (Control::GravityMagnitude, Value::Number(v)) => {
                (world.gravity, world.gravity_magnitude) = (world.gravity_direction * v, v);
                return;
            }
            (Control::GravityDirection, Value::Vector(v)) => {
                world.gravity_direction = unit(v).unwrap_or(world.gravity_direction);
                world.gravity = world.gravity_direction * world.gravity_magnitude;
                return;
            }
            (Control::Wind, Value::Vector(v)) => return world.wind = v,
            (Control::Gusts, Value::Number(v)) => return world.gusts = v,
            _ => {}
        }
        match control.owner() {
            ControlOwner::World => {}
            ControlOwner::Body(body) => {
                if let Some(body) = self.values_mut(body) {
                    body.put(control, value);
                }
            }
            ControlOwner::Coupling(coupling) => {
                if let Ok(k) = self.couplings.binary_search_by_key(&coupling, |c| c.id) {
                    self.couplings[k].values.put(control, value);
                }
            }
        }
    }

    /// Holds a pin group of a body at `placement` relative to where it was made, or lets it follow its own motion
    /// again. `model` tells which groups there are.
    pub fn place_pins(
        &mut self,
        model: &Model,
        body: impl Into<BodyId>,
        group: usize,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        let body = body.into();
        if placement.is_some_and(|p| !p.is_finite()) {
            return Err(not_finite_placement());
        }
        let place = model.get(body).and_then(|b| b.parts.pins.iter().position(|g| g.id == group));
        let pins = self.index(body).map(|k| &mut self.bodies[k].pins);
        match pins.zip(place).and_then(|(pins, place)| pins.get_mut(place)) {
            Some(slot) => {
                *slot = placement;
                Ok(Cost::Free)
            }
            None => {
                let value = format!("(body {body}, group {group})");
                Err(ControlError { control: "pins", value, allowed: "there is no such pin group".into() })
            }
        }
    }
}

impl Controls {
    /// Leads a collider to `placement`, relative to where it was made, in the course of the next step, and keeps it there;
    /// or lets it follow its own motion again.
    pub fn place_collider(
        &mut self,
        model: &Model,
        collider: ColliderId,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        if placement.is_some_and(|p| !is_rigid(&p)) {
            return Err(no_rigid_placement());
        }
        match model.collider_index(collider).and_then(|k| self.colliders.get_mut(k)) {
            Some(slot) => *slot = placement,
            None => {
                let value = format!("(collider {collider})");
                let allowed = no_such_collider(model, collider);
                return Err(ControlError { control: "colliders", value, allowed });
            }
        }
        Ok(Cost::Free)
    }

    /// Leads the vertices of a collider's mesh, in its own coordinates, to these places in the course of the next step, and
    /// keeps them there; or lets them follow its animation or be where the mesh has them again.
    pub fn deform_collider(
        &mut self,
        model: &Model,
        collider: ColliderId,
        vertices: Option<&[DVec3]>,
    ) -> Result<Cost, ControlError> {
        let Some((k, slot)) =
            model.collider_index(collider).and_then(|k| Some((k, self.vertices.get_mut(k)?)))
        else {
            let value = format!("(collider {collider})");
            let allowed = no_such_collider(model, collider);
            return Err(ControlError { control: "colliders", value, allowed });
        };
        if let Some(vertices) = vertices {
            check_vertices(vertices, &model.colliders()[k])?;
        }
        slot.clear();
        slot.extend_from_slice(vertices.unwrap_or_default());
        Ok(Cost::Free)
    }

    /// Where a host wants a collider; nothing if none leads it or it is not there.
    pub fn collider(&self, model: &Model, collider: ColliderId) -> Option<DAffine3> {
        model.collider_index(collider).and_then(|k| self.colliders.get(k).copied().flatten())
    }
}

/// Refuses vertices that cannot be those of a collider's mesh.
fn check_vertices(vertices: &[DVec3], of: &ModelCollider) -> Result<(), ControlError> {
    let refuse = |value: String, allowed: String| Err(ControlError { control: "colliders", value, allowed });
    let Some(mesh) = of.collider.as_mesh() else {
        let text = "only meshes have any: place the collider instead";
        return refuse(format!("(vertices of collider {})", of.id), text.into());
    };
    let count = mesh.mesh().positions.len();
    if vertices.len() != count {
        let text = format!("the mesh has {count}: give each a place, in the order of the mesh");
        return refuse(format!("({} vertices of collider {})", vertices.len(), of.id), text);
    }
    match vertices.iter().position(|v| !v.is_finite()) {
        Some(i) => refuse(format!("(vertex {i} of collider {})", of.id), "it must be finite".into()),
        None => Ok(()),
    }
}

/// What to say of a collider that is not there.
pub(crate) fn no_such_collider(model: &Model, id: ColliderId) -> String {
    let count = model.colliders().len();
    match id < model.next_collider() {
        true => format!("that collider was removed; there are {count} colliders"),
        false => format!("there are {count} colliders, numbered from 0"),
    }
}

/// What to say of a coupling that is not there.
pub(crate) fn no_such_coupling(model: &Model, id: CouplingId) -> String {
    let count = model.couplings().len();
    match id < model.next_coupling() {
        true => format!("that coupling was removed; there are {count} couplings"),
        false => format!("there are {count} couplings, numbered from 0"),
    }
}

fn no_rigid_placement() -> ControlError {
    let allowed = "it must be finite, and a rotation without scale or mirror".into();
    ControlError { control: "colliders", value: "(placement)".into(), allowed }
}

/// What to say of a body that is not there.
pub(crate) fn no_such_body(model: &Model, id: BodyId) -> String {
    let count = model.bodies().len();
    match id.number() < model.next_id() {
        true => format!("that body was removed; there are {count} bodies"),
        false => format!("there are {count} bodies, numbered from 0"),
    }
}

fn not_finite_placement() -> ControlError {
    let allowed = "its components must be finite numbers".into();
    ControlError { control: "pins", value: "(placement)".into(), allowed }
}

/// The direction of a vector, also of one whose square would overflow or vanish.
fn unit(v: DVec3) -> Option<DVec3> {
    (v / v.abs().max_element()).try_normalize()
}
