//! Every test of the crate but `log_mutations`, in one program: it is linked once.
#![allow(clippy::unwrap_used)] // tests may panic, and their helpers

mod alembic;
#[path = "../common/mod.rs"]
mod common;
mod epochs;
mod exports;
mod exports_epochs;
mod exports_geometry;
mod exports_together;
mod glb;
mod log;
mod ogawa;
mod rigid;
mod skins;
