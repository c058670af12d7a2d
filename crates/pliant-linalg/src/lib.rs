//! Sparse symmetric positive definite systems: order, factor, solve, and low-rank overlays.
//!
//! The projective solver's global step is one linear system with a matrix that stays the same for
//! thousands of steps and a right-hand side of three columns (x, y, z). [`SparseSpd`] is that
//! factor; [`Overlay`] adds what changes from step to step (contacts, moving handles) without
//! touching the factor.
//!
//! Everything runs on the calling thread: results do not depend on how many threads there are.

mod matrix;
mod overlay;
mod panels;
mod spd;

pub use matrix::{SymmetricBuilder, SymmetricMatrix};
pub use overlay::Overlay;
pub use panels::{DomainWork, PanelScratch, Panels};
pub use spd::{NotPositiveDefinite, Scratch, SparseSpd};
