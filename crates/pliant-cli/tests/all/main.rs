//! Every test of the program, in one program: it is linked once.
#![allow(clippy::unwrap_used)] // tests may panic, and their helpers

mod broken_off;
mod common;
mod files_are_safe;
mod frames_and_films;
#[cfg(all(feature = "figures", feature = "bench"))] // it tells of every command
mod guide;
mod mesh;
mod run;
#[cfg(unix)]
mod special_files;
mod torn_runs;
mod usage;
