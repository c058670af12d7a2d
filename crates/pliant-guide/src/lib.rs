#![doc = include_str!(concat!(env!("OUT_DIR"), "/README.md"))]
#![doc = ""]
#![doc = "# About this crate"]
#![doc = "The chapters are the files of `docs/guide`, made to be read there as well. Here `cargo doc` shows them, `cargo test` runs"]
#![doc = "their Rust blocks, and tests of this crate and of `pliant-cli` run the scenes and commands, which [`blocks`] gives."]

mod block;

pub use block::{Block, blocks};

/// A page of the guide.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// Its file, from the root of the repository.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

impl Chapter {
    /// Its fenced blocks.
    pub fn blocks(&self) -> Vec<Block> {
        blocks(self.text)
    }
}

macro_rules! pages {
    ($list:ident, $what:literal, $folder:literal: $($name:ident)+) => {
        $(
            #[doc = include_str!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".md"))]
            pub mod $name {}
        )+

        #[doc = $what]
        pub const $list: &[Chapter] = &[$(Chapter {
            path: concat!($folder, "/", stringify!($name), ".md"),
            text: include_str!(concat!("../../../", $folder, "/", stringify!($name), ".md")),
        }),+];
    };
}

pages!(CHAPTERS, "The chapters, in the order they are read in.", "docs/guide":
    start scene solvers materials clusters constraints colliders glue control sessions files papers performance troubleshooting step);
pages!(REFERENCE, "The pages to look things up in.", "docs": meshes exports statistics);
