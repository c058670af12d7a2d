//! What the guide says is so: its scenes run, its tables are those of the program, its links lead somewhere. Rust blocks are
//! doctests of this crate; commands are run by the tests of `pliant-cli`.

#![allow(clippy::unwrap_used)]

#[path = "guide/links.rs"]
mod links;
#[path = "guide/scenes.rs"]
mod scenes;
#[path = "guide/sources.rs"]
mod sources;
#[path = "guide/tables.rs"]
mod tables;

use std::path::PathBuf;

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
