//! Small dense problems of soft bodies: polar decomposition, SVD, best-fit rotations, and the lanes
//! to solve eight at a time.
//!
//! Every method in Pliant moves particles toward a best-fit transform, so the questions "which
//! rotation is nearest?" and "which rigid velocity is nearest?" are asked millions of times a
//! second, often of mirrored, flat or collapsed sets. The answers here are defined for all of them:
//! always right-handed, never NaN, and among equally good rotations the one nearest to a given
//! previous frame.

mod horn;
pub mod lanes;
pub mod procrustes;
mod products;
pub mod projections;
mod rigid_velocity;
mod rng;
mod rotation;
mod svd;
mod symmetric;

pub use horn::horn_rotation;
pub use products::{cross_matrix, outer};
pub use rigid_velocity::{angular_velocity, inertia_tensor_term};
pub use rng::SplitMix64;
pub use rotation::nearest_rotation;
pub use svd::{Svd3, svd3};
pub use symmetric::{PseudoInverse, eigen_symmetric, pseudo_inverse};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
