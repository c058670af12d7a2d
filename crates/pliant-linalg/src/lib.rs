//! Sparse symmetric positive definite systems: order, factor, solve.
//!
//! The projective solver's global step is one linear system with a matrix that stays the same for
//! thousands of steps and a right-hand side of three columns (x, y, z). [`Panels`] is that factor,
//! packed for solving and cut into domains; [`SparseSpd`] is the plain one, quickly factored anew.
//!
//! No thread is started here: everything runs on the calling one, and results do not depend on how many
//! share the domains.

mod matrix;
mod panels;
mod spd;

pub use matrix::{SymmetricBuilder, SymmetricMatrix};
pub use panels::{DomainWork, PanelScratch, Panels};
pub use spd::{NotPositiveDefinite, Scratch, SparseSpd};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
