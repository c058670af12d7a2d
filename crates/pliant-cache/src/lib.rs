//! The frame log and everything made from it: USD, PC2, OBJ, GIF and PNG.
pub mod render;
