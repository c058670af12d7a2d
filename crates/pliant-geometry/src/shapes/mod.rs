//! Built-in shapes: particles to simulate, a surface to show, and how one follows the other.
//!
//! Particles of solids are a lattice of about the `spacing` asked for; everything is centred at the origin,
//! y up, in metres. A new shape is one file here, and one arm in [`SolidShape`] if it can be asked for by count.

mod ball;
mod bunny;
mod capsule;
mod cuboid;
mod cylinder;
mod field;
mod from_mesh;
mod from_points;
mod from_tets;
mod gummy_bear;
mod pieces;
mod revolve;
mod rigid;
mod roll;
mod sheet;
mod solid;
mod tet_box;
mod tet_solid;
mod tets_in_mesh;
mod thread;
mod torus;
mod tube;

pub use ball::ball;
pub use bunny::bunny;
pub use capsule::capsule;
pub use cuboid::cuboid;
pub use cylinder::cylinder;
pub(crate) use from_mesh::{check, is_closed, weld};
pub use from_mesh::{filled, from_mesh, shell};
pub use from_points::from_points;
pub use gummy_bear::gummy_bear;
pub use rigid::{ContactPoint, rigid, rigid_from_mesh, rigid_skin};
pub use roll::{Roll, roll};
pub use sheet::sheet;
pub use solid::{SolidShape, spacing_for_count};
pub use tet_box::{TetStyle, tet_box};
pub use tets_in_mesh::{tets_from_mesh, tets_from_mesh_within};
pub use thread::thread;
pub use torus::torus;
pub use tube::tube;

use crate::{MeshAttributes, Skin, TriMesh};
use glam::DVec3;

/// A body at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// Particles (rest positions).
    pub points: Vec<DVec3>,
    /// Volume (m³; area in m² for sheets and open meshes) each particle stands for; used to share the mass.
    pub measure: Vec<f64>,
    /// Render surface at rest; without triangles it is a point cloud.
    pub surface: TriMesh,
    /// Attributes of the surface, from the file it came from: polygons, texture coordinates, materials; else empty.
    pub attributes: MeshAttributes,
    /// How the surface follows the points.
    pub skin: Skin,
    /// Neighbour pairs, each once: for sheets and open meshes the mesh edges, for solids the lattice neighbours
    /// along edges, face and space diagonals, which hold a body together like a framework.
    pub edges: Vec<[u32; 2]>,
    /// Elements of solids cut into tetrahedra, positively oriented (det[b−a, c−a, d−a] > 0); else empty.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Elements of cloth and shells: for sheets and open meshes, whose particles are the mesh vertices, the mesh's
    /// triangles with three different corners; else empty.
    pub triangles: Vec<[u32; 3]>,
    /// By what a solid that never deforms touches others; else empty, and its points touch.
    pub contact: Vec<ContactPoint>,
}
