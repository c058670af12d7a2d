//! Shapes that things collide with: how far a point is from them, and where a straight path enters them.
//!
//! [`Primitive`]s have closed forms. A [`SolidMesh`] is a triangle mesh, closed or open, whose vertices may move
//! straight from one place to another; a [`Pose`] is that mesh as it moves.

mod mesh;
mod pose;
mod primitive;

pub use mesh::SolidMesh;
pub(crate) use mesh::{incidence, is_closed};
pub use pose::{Crossing, Minima, Pose, SurfacePoint};
pub use primitive::{NearestPoint, Primitive};

#[cfg(test)]
mod tests;
