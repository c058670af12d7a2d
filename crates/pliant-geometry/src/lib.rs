//! Meshes, mesh files in, shapes, sampling, clustering and skins.

mod bind;
mod circle;
mod cluster;
mod contour;
mod eigen;
mod error;
mod inspect;
mod kdtree;
mod lattice;
mod mesh;
mod mesh_files;
mod obj;
mod pc2;
mod points;
mod poly;
mod repair;
mod rng;
pub mod sdf;
pub mod shapes;
mod skin;
mod tet_cells;
mod tet_faults;
mod tet_files;
mod tet_mesh;
mod tet_snap;
mod triangulate;
mod winding;

pub use cluster::{
    ClusterStatistics, Clusters, Covering, Method, MirrorPlane, Size, Spread, Symmetry, file_order_covering,
    fit_radius_for_count, random_covering,
};
pub use error::{GeometryError, read_regular};
pub use inspect::{
    Closedness, Crossings, FaceFaults, Found, Measures, MeshReport, Piece, Topology, UnitGuess, guess_units,
    inspect,
};
pub use kdtree::KdTree;
pub use mesh::TriMesh;
pub use mesh_files::{Fetch, MeshFile, read_mesh, read_mesh_through};
pub use obj::{ObjMesh, parse_obj, read_obj};
pub use pc2::{PointCache, parse_pc2};
pub use points::{parse_points, read_points};
pub use poly::{Coat, FollowingNormals, Layer, Motion, PolyMesh, Polygons, SurfaceMaterial, Wedges};
pub use repair::{
    Holes, Repair, RepairOptions, join, normalise, normalising, repair, split_pieces, transform,
};
pub use rng::SplitMix64;
pub use shapes::Shape;
pub use skin::Skin;
pub use tet_faults::TetFault;
pub use tet_files::{TetFile, parse_gmsh, parse_medit, parse_tetgen, parse_vtk, parse_vtu, read_tets};
pub use tet_mesh::TetMesh;
