//! Meshes, mesh files in, shapes, sampling, clustering and skins.

mod mesh;
mod skin;

pub use mesh::TriMesh;
pub use skin::Skin;
