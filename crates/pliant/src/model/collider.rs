//! What bodies collide with and cannot move: shapes that stand still, follow a motion, or are led by a host.

use super::{HalfSpace, Motion, Sequence};
use crate::bytes::Digest;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use pliant_geometry::colliders::{ColliderMesh, Primitive};
use std::sync::Arc;

/// A collider of a simulation. Colliders are numbered in the order they come, and no number is given twice: the id of
/// one that was removed names nothing for ever. The n-th collider a simulation is built with (from 0) has number n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColliderId(u64);

impl ColliderId {
    /// The number, to be kept in files.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The id that [`number`](ColliderId::number) told, from a file or over a wire. It names nothing where there is no
    /// such collider.
    pub fn from_number(number: u64) -> ColliderId {
        ColliderId(number)
    }
}

impl From<usize> for ColliderId {
    fn from(number: usize) -> ColliderId {
        ColliderId(number as u64)
    }
}

impl std::fmt::Display for ColliderId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What a collider is made of, in coordinates of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColliderShape {
    /// Everything on the far side of a plane, for floors, walls and slopes.
    Plane {
        /// Unit normal, pointing to where bodies are.
        normal: DVec3,
        /// The plane is n·x = offset.
        offset: f64,
    },
    /// A ball, box, capsule or cylinder.
    Solid(Primitive),
    /// A triangle mesh. A closed one is solid; an open one has two sides, and who is on one of them stays there.
    Mesh {
        /// The mesh, shared by whoever has it.
        mesh: Arc<ColliderMesh>,
        /// How far bodies keep from its triangles, m. An open mesh needs some, or nothing could tell on which side what
        /// lies on it is.
        thickness: f64,
    },
}

/// Something bodies cannot enter.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Name, for messages and look-up; may be empty.
    pub name: String,
    /// What it is made of.
    pub shape: ColliderShape,
    /// Where it stands before anything moves it, without scale or mirror.
    pub at: DAffine3,
    /// Where the vertices of its mesh are over time, in its own coordinates; `None` keeps them where they are.
    pub input: Option<Arc<Sequence>>,
    /// How it moves while no host leads it; friction and bounces feel its velocity.
    pub motion: Motion,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Normal velocity kept by a bounce, 0 to 1.
    pub restitution: f64,
}

impl Collider {
    /// The ground y = 0.
    pub fn ground() -> Collider {
        HalfSpace::ground().into()
    }

    /// The collider with a name to find it by; building refuses two of one name.
    pub fn named(self, name: impl Into<String>) -> Collider {
        Collider { name: name.into(), ..self }
    }

    /// The collider with a motion of its own; what touches it is carried along.
    pub fn moving(self, motion: Motion) -> Collider {
        Collider { motion, ..self }
    }

    /// A ball, box, capsule or cylinder around `at`, with friction 0.5.
    pub fn solid(shape: Primitive, at: DAffine3) -> Collider {
        Collider { shape: ColliderShape::Solid(shape), at, ..Collider::ground() }
    }

    /// A mesh, with friction 0.5. An open one keeps bodies a thousandth of its size away, until told otherwise.
    pub fn mesh(mesh: impl Into<Arc<ColliderMesh>>, at: DAffine3) -> Collider {
        let mesh = mesh.into();
        let thickness = if mesh.is_closed() { 0.0 } else { 1e-3 * mesh.size() };
        Collider { shape: ColliderShape::Mesh { mesh, thickness }, at, ..Collider::ground() }
    }

    /// The same collider with this coefficient of friction, from 0 (ice) on; 1 is rubber on stone.
    pub fn with_friction(self, friction: f64) -> Collider {
        Collider { friction, ..self }
    }

    /// The collider with vertices that follow a sequence of as many positions; only meshes can.
    pub fn following(self, input: impl Into<Arc<Sequence>>) -> Collider {
        Collider { input: Some(input.into()), ..self }
    }

    /// Where its own coordinates are when it is placed like this.
    pub fn placed(&self, placement: &DAffine3) -> DAffine3 {
        if self.at == DAffine3::IDENTITY { *placement } else { *placement * self.at }
    }

    /// The half-space it is when it is placed like this; `None` if it is none.
    pub fn half_space(&self, placement: &DAffine3) -> Option<HalfSpace> {
        let ColliderShape::Plane { normal, offset } = self.shape else { return None };
        let placement = self.placed(placement);
        let normal = placement.matrix3 * normal;
        let offset = offset + normal.dot(placement.translation);
        Some(HalfSpace { normal, offset, friction: self.friction, restitution: self.restitution })
    }

    /// Its mesh, if it is one.
    pub fn as_mesh(&self) -> Option<&ColliderMesh> {
        match &self.shape {
            ColliderShape::Mesh { mesh, .. } => Some(mesh),
            _ => None,
        }
    }

    /// Where the vertices of its mesh are at a time, if they move by themselves; else nothing.
    pub(crate) fn vertices(&self, time: f64) -> Vec<DVec3> {
        let Some(input) = &self.input else { return Vec::new() };
        let moment = input.at(time);
        (0..input.points()).map(|i| moment.get(i)).collect()
    }

    /// Why bodies cannot collide with it, and what to do.
    pub(crate) fn faults(&self) -> Vec<(String, &'static str)> {
        let Collider { name: _, shape, at, input, motion, friction, restitution } = self;
        let mut faults = shape.faults();
        if !is_rigid(at) {
            let help =
                "give finite numbers; scale the mesh itself, a collider's place has no scale or mirror";
            faults.push(("its place is no rotation and translation".into(), help));
        }
        if let Some(input) = input {
            match self.as_mesh().map(|m| m.mesh().positions.len()) {
                Some(vertices) if vertices != input.points() => faults.push((
                    format!("its animation has {} vertices, its mesh {vertices}", input.points()),
                    "export both from one mesh whose vertices stay the same",
                )),
                Some(_) => {}
                None => faults.push(("it has an animation and is no mesh".into(), "give it a mesh")),
            }
        }
        if !(*friction >= 0.0 && friction.is_finite() && (0.0..=1.0).contains(restitution)) {
            let text = format!("it has friction {friction} and restitution {restitution}");
            faults.push((text, "friction must be at least 0, restitution from 0 to 1"));
        }
        if !motion.is_finite() {
            faults.push(("its motion has numbers that are not finite".into(), "give finite numbers"));
        }
        faults
    }
}

impl ColliderShape {
    fn faults(&self) -> Vec<(String, &'static str)> {
        let positive = |sizes: &[f64]| sizes.iter().all(|v| *v > 0.0 && v.is_finite());
        let (text, help) = match self {
            ColliderShape::Plane { normal, offset } => {
                let unit = (normal.length() - 1.0).abs() <= 1e-9;
                if unit && offset.is_finite() {
                    return Vec::new();
                }
                let text = format!("it has normal {normal} and offset {offset}");
                (text, "give a normal of length 1 and a finite offset")
            }
            ColliderShape::Solid(shape) => {
                let sound = match *shape {
                    Primitive::Ball { radius } => positive(&[radius]),
                    Primitive::Cuboid { half } => positive(&half.to_array()),
                    Primitive::Capsule { radius, half } => {
                        positive(&[radius]) && half >= 0.0 && half.is_finite()
                    }
                    Primitive::Cylinder { radius, half } => positive(&[radius, half]),
                };
                if sound {
                    return Vec::new();
                }
                (format!("it is {shape:?}"), "its sizes must be above 0 and finite")
            }
            ColliderShape::Mesh { mesh, thickness } => {
                let least = if mesh.is_closed() { 0.0 } else { 1e-6 * mesh.size() };
                if *thickness >= least && thickness.is_finite() {
                    return Vec::new();
                }
                let text = format!("it has thickness {thickness}");
                (
                    text,
                    "an open mesh needs a thickness, best about a thousandth of its size; a closed one may have 0",
                )
            }
        };
        vec![(text, help)]
    }

    /// Planes are told as they always were.
    fn digest(&self, hash: &mut Digest) {
        match self {
            ColliderShape::Plane { normal, offset } => {
                normal.to_array().into_iter().for_each(|v| hash.number(v));
                hash.number(*offset);
            }
            ColliderShape::Solid(shape) => {
                let (kind, sizes) = primitive_parts(shape);
                hash.bytes(b"solid");
                hash.word(kind);
                sizes.into_iter().for_each(|v| hash.number(v));
            }
            ColliderShape::Mesh { mesh, thickness } => {
                hash.bytes(b"mesh");
                hash.number(*thickness);
                let mesh = mesh.mesh();
                mesh.positions.iter().flat_map(|p| p.to_array()).for_each(|v| hash.number(v));
                mesh.triangles.iter().flatten().for_each(|&i| hash.word(i.into()));
            }
        }
    }
}

/// The kind of a primitive as a number, and its sizes; what is not needed is 0.
pub(crate) fn primitive_parts(shape: &Primitive) -> (u64, [f64; 3]) {
    match *shape {
        Primitive::Ball { radius } => (0, [radius, 0.0, 0.0]),
        Primitive::Cuboid { half } => (1, half.to_array()),
        Primitive::Capsule { radius, half } => (2, [radius, half, 0.0]),
        Primitive::Cylinder { radius, half } => (3, [radius, half, 0.0]),
    }
}

/// The primitive of a kind and sizes.
pub(crate) fn primitive_of(kind: u64, [a, b, c]: [f64; 3]) -> Option<Primitive> {
    Some(match kind {
        0 => Primitive::Ball { radius: a },
        1 => Primitive::Cuboid { half: DVec3::new(a, b, c) },
        2 => Primitive::Capsule { radius: a, half: b },
        3 => Primitive::Cylinder { radius: a, half: b },
        _ => return None,
    })
}

impl From<HalfSpace> for Collider {
    fn from(plane: HalfSpace) -> Collider {
        let HalfSpace { normal, offset, friction, restitution } = plane;
        let shape = ColliderShape::Plane { normal, offset };
        let (at, motion) = (DAffine3::IDENTITY, Motion::REST);
        Collider { name: String::new(), shape, at, input: None, motion, friction, restitution }
    }
}

/// A collider under the id it has in a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelCollider {
    /// What it is known by, for as long as the simulation lives.
    pub id: ColliderId,
    /// Its shape, place and surface, as it was given.
    pub collider: Collider,
}

impl ModelCollider {
    /// A plane that stands still, without a name and in its place, is told as planes always were: checkpoints from before
    /// there were other colliders fit.
    pub(super) fn digest(&self, place: usize, hash: &mut Digest) {
        let Collider { name, shape, at, input, motion, friction, restitution } = &self.collider;
        shape.digest(hash);
        [friction, restitution].into_iter().for_each(|v| hash.number(*v));
        if !(name.is_empty() && *motion == Motion::REST && self.id == ColliderId::from(place)) {
            hash.word(self.id.number());
            hash.bytes(name.as_bytes());
            motion.digest(hash);
        }
        if *at != DAffine3::IDENTITY {
            hash.bytes(b"at");
            at.to_cols_array().into_iter().for_each(|v| hash.number(v));
        }
        if let Some(input) = input {
            hash.bytes(b"input");
            input.digest(hash);
        }
    }
}

/// Whether a placement moves and turns, without scale, shear or mirror.
pub(crate) fn is_rigid(placement: &DAffine3) -> bool {
    let turn = placement.matrix3;
    let off = (turn * turn.transpose() - DMat3::IDENTITY).to_cols_array();
    placement.is_finite() && off.iter().all(|e| e.abs() < 1e-9) && turn.determinant() > 0.0
}

/// The placement at a share of the way from one to another.
pub(crate) fn between(from: &DAffine3, to: &DAffine3, share: f64) -> DAffine3 {
    if share >= 1.0 || from == to {
        return *to;
    }
    let (a, b) = (DQuat::from_mat3(&from.matrix3), DQuat::from_mat3(&to.matrix3));
    let translation = from.translation.lerp(to.translation, share);
    DAffine3::from_rotation_translation(a.slerp(b, share).normalize(), translation)
}
