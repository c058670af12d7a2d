//! What bodies collide with and cannot move: shapes that stand still, follow a motion, or are led by a host.

use super::{HalfSpace, Motion};
use crate::bytes::Digest;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A collider of a simulation. Colliders are numbered in the order they come, and no number is given twice: the id of
/// one that was removed names nothing for ever. The n-th collider a simulation is built with (from 0) has number n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColliderId(u64);

impl ColliderId {
    /// The number, to be kept in files.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The id of this number.
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

/// What a collider is made of, where its motion has not yet taken it anywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColliderShape {
    /// Everything on the far side of a plane, for floors, walls and slopes.
    Plane {
        /// Unit normal, pointing to where bodies are.
        normal: DVec3,
        /// The plane is n·x = offset.
        offset: f64,
    },
}

/// Something bodies cannot enter.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Name, for messages and look-up; may be empty.
    pub name: String,
    /// What it is made of.
    pub shape: ColliderShape,
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

    /// The same collider under a name.
    pub fn named(self, name: impl Into<String>) -> Collider {
        Collider { name: name.into(), ..self }
    }

    /// The same collider, moving.
    pub fn moving(self, motion: Motion) -> Collider {
        Collider { motion, ..self }
    }

    /// The half-space it is when it is placed like this.
    pub fn half_space(&self, placement: &DAffine3) -> HalfSpace {
        let ColliderShape::Plane { normal, offset } = self.shape;
        let normal = placement.matrix3 * normal;
        let offset = offset + normal.dot(placement.translation);
        HalfSpace { normal, offset, friction: self.friction, restitution: self.restitution }
    }

    /// Why bodies cannot collide with it, and what to do.
    pub(crate) fn faults(&self) -> Vec<(String, &'static str)> {
        let Collider {
            shape: ColliderShape::Plane { normal, offset }, motion, friction, restitution, ..
        } = self;
        let mut faults = Vec::new();
        let unit = (normal.length() - 1.0).abs() <= 1e-9;
        if !(unit && offset.is_finite()) {
            let text = format!("it has normal {normal} and offset {offset}");
            faults.push((text, "give a normal of length 1 and a finite offset"));
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

impl From<HalfSpace> for Collider {
    fn from(plane: HalfSpace) -> Collider {
        let HalfSpace { normal, offset, friction, restitution } = plane;
        let shape = ColliderShape::Plane { normal, offset };
        Collider { name: String::new(), shape, motion: Motion::REST, friction, restitution }
    }
}

/// A collider of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCollider {
    /// What it is known by, for as long as the simulation lives.
    pub id: ColliderId,
    /// What it is.
    pub collider: Collider,
}

impl ModelCollider {
    /// A plane that stands still, without a name and in its place, is told as planes always were: checkpoints from before
    /// there were other colliders fit.
    pub(super) fn digest(&self, place: usize, hash: &mut Digest) {
        let Collider { name, shape: ColliderShape::Plane { normal, offset }, motion, friction, restitution } =
            &self.collider;
        normal.to_array().into_iter().for_each(|v| hash.number(v));
        [offset, friction, restitution].into_iter().for_each(|v| hash.number(*v));
        if !(name.is_empty() && *motion == Motion::REST && self.id == ColliderId::from(place)) {
            hash.word(self.id.number());
            hash.bytes(name.as_bytes());
            motion.digest(hash);
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
