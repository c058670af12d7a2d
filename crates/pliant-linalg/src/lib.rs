//! Sparse symmetric positive definite systems: order, factor, solve, and low-rank overlays.
