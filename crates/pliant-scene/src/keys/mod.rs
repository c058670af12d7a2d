//! Every key of a scene file: name, kind, range, default, meaning; one file for each table.
//!
//! The reader and the schema both follow these lists. To add a key, add it to its table here and take it up where that table
//! is made use of.

mod body;
mod collider;
mod constraint;
mod copies;
mod event;
mod field;
mod group;
mod implicit;
mod input;
mod joint;
mod keyframes;
mod kinds;
mod kinematic;
mod material;
mod mesh_file;
mod motion;
mod output;
mod paint;
mod picture;
mod pin;
mod placement;
mod plane;
mod scene;
mod shape;

pub(crate) use body::{BODY, groups};
pub(crate) use implicit::IMPLICIT;
pub(crate) use output::OUTPUT;
pub(crate) use picture::PICTURE;
pub(crate) use pin::CORNERS;
pub(crate) use scene::SCENE;
