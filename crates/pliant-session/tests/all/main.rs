//! Every test of the crate, in one program: it is linked once.
#![allow(clippy::unwrap_used)] // tests may panic, and their helpers

mod edits;
mod rigid;
mod surfaces;
mod torn;
