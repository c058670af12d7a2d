//! Meshes, points and tetrahedra in and out; looking over, mending, filling, cutting; shapes, clustering and skins.

mod appearance;
mod base64;
pub mod box_tree;
mod circle;
mod cluster;
pub mod colliders;
pub mod collision;
mod contour;
mod disjoint_sets;
mod eigen;
mod elements;
mod error;
mod fill;
mod inspect;
mod kdtree;
mod lattice;
mod mass;
mod mdd;
mod mesh;
mod mesh_files;
mod obj;
pub mod parallel;
mod parents;
mod pc2;
mod points;
mod poly;
mod reach;
mod reflex_tree;
mod repair;
mod rows;
mod sdf;
pub mod shapes;
mod skin;
mod skin_binding;
mod stuffing;
mod tet_cells;
mod tet_faults;
mod tet_files;
mod tet_mesh;
mod tet_quality;
mod tet_snap;
mod tetrahedron;
mod triangle;
mod triangulate;
mod winding;

pub use appearance::{CameraMotion, ColorBy, Look, PictureSettings};
pub use base64::encode as encode_base64;
pub use cluster::{
    ClusterMethod, ClusterSize, ClusterStatistics, Clusters, Covering, MirrorPlane, Symmetry, ValueSpread,
    file_order_covering, fit_radius_for_count, random_covering,
};
pub use elements::Elements;
pub use error::{GeometryError, read_regular};
pub use fill::{FillDensity, FillOptions, FillPattern, Interior, has_inside, inside};
pub use inspect::{
    Closedness, Crossings, FaceFaults, Findings, Measures, MeshPiece, MeshReport, MeshTopology, UnitGuess,
    guess_units, inspect,
};
pub use kdtree::KdTree;
pub use mass::MassProperties;
pub use mdd::parse_mdd;
pub use mesh::TriMesh;
pub use mesh_files::{
    CompanionFile, Fetch, Glb, GlbNormals, GlbSurface, MeshFile, read_animation, read_mesh,
    read_mesh_through, write_glb, write_mesh,
};
pub use obj::{ObjMesh, parse_obj, read_obj};
pub use parents::{ParentFinder, ParentOptions, Parents};
pub use pc2::{PointCache, parse_pc2};
pub use pliant_math::SplitMix64;
pub use points::{parse_points, read_points};
pub use poly::{
    FollowingNormals, Layer, MeshAttributes, PolyMesh, Polygons, SurfaceMaterial, VertexAnimation,
};
pub use reach::reach_beyond;
pub use repair::{
    Holes, Repair, RepairOptions, join, normalise, normalising, repair, split_pieces, transform,
};
pub use rows::{SparseRows, merge as merge_weights};
pub use shapes::{ContactPoint, Shape};
pub use skin::{Handles, NormalOffsets, RigidFrame, RigidOffsets, Skin, SkinScratch};
pub use skin_binding::SkinBinding;
pub use stuffing::{StuffingOptions, StuffingReport, stuff};
pub use tet_faults::TetFault;
pub use tet_files::{
    TetFile, files_of_tets, parse_gmsh, parse_medit, parse_tetgen, parse_vtk, parse_vtu, read_tets,
    read_tets_through, save_tets, write_tetgen, write_tets,
};
pub use tet_mesh::TetMesh;
pub use tet_quality::TetQuality;
pub use tetrahedron::barycentric;
pub use triangle::{Ray, nearest_on_triangle, unit_normal, weighted};
pub use winding::Winding;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
