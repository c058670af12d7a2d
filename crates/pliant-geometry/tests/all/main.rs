//! Every test of the crate but `hostile_memory`, in one program: it is linked once.
#![allow(clippy::unwrap_used)] // tests may panic, and their helpers

mod cluster;
mod collision;
mod covering;
mod fill;
mod gltf;
mod mesh_care;
mod mesh_hostile;
mod mesh_readers;
mod mesh_round_trips;
mod obj;
mod parents;
mod regressions;
mod samples;
mod shapes;
mod skin;
mod skin_binding;
#[path = "../soundness/mod.rs"]
mod soundness;
mod stuffing;
mod symmetry;
mod tet_files;
mod tet_solids;
mod tet_write;
mod tets;
