//! Every test of the crate, in one program: it is linked once.
#![allow(clippy::unwrap_used)] // tests may panic, and their helpers

mod broken_scenes;
mod cloth_demos;
mod colliders;
mod demos;
mod events;
mod files;
mod glue_pairs;
mod glued_demos;
mod input;
mod joints;
mod mutations;
mod rigid;
mod schema;
mod settings;
