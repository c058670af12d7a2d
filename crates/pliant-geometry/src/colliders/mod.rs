//! Shapes that things collide with: how far a point is from them, and where a straight path enters them.
//!
//! [`Primitive`]s have closed forms. A [`ColliderMesh`] is a triangle mesh, closed or open, whose vertices may move
//! straight from one place to another; a [`MovingMesh`] is that mesh as it moves.
//!
//! Beside [`collision`](crate::collision), since the question is another: there all pairs of two surfaces that deform, with boxes fitted
//! anew in every substep and eight triangles at a time; here one point or path against a mesh whose tree stays as it was at
//! rest, with signs by normals of edges and vertices ([`nearest_on_triangle`](crate::nearest_on_triangle) is exact on edges, which tell
//! the sign, and branches; the one there has no branches and an answer for slivers).

mod mesh;
mod moving_mesh;
mod primitive;

pub use mesh::ColliderMesh;
pub(crate) use mesh::{incidence, is_closed};
pub use moving_mesh::{Crossing, Minima, MovingMesh, SurfacePoint};
pub use primitive::{NearestPoint, Primitive};

#[cfg(test)]
mod tests;
