//! Couplings: what ties bodies together in a substep, and the forces that hold them.
//!
//! A [`Tie`] is a coupling as an island sees it: two sides, which may be points, frames that best fit some particles (point
//! cloud glue), or places in the world. In a substep its points are rows of one linear system (`ties.rs`) over the responses of
//! the bodies, whichever solvers move them; frames are taken to be linear anew in every round. `system.rs` solves it sparsely.

mod glue;
mod gradients;
mod memory;
mod near_body;
mod pairs;
mod row;
mod system;
mod tie;
mod ties;
mod turn;

pub use glue::{Glue, Glued};
pub use memory::CouplingMemory;
pub use tie::Mishap;
pub(crate) use tie::Tie;
pub(crate) use ties::{Pull, TieLayout, Ties, Velocities};
