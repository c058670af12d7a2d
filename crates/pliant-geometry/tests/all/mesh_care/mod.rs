//! What is found in meshes and what is mended: known shapes, brute force on random soups, real files.

mod found;
mod known;
mod mended;
mod soups;
