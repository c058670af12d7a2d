//! The scene file: schema, places in the file, diagnostics, and building a simulation from it.
//!
//! A scene is plain data in TOML. Reading goes in three steps, each of which finds every problem it can
//! before the next begins:
//!
//! 1. [`Scene::parse`] walks the text along the format, the one list of keys that also makes the
//!    [`schema`]: misspelt keys, wrong types, values out of range, contradictions; and asks the engine
//!    which values it allows with the chosen solver and step;
//! 2. [`Scene::build`] reads the files the scene names and fills the shapes with particles;
//! 3. the engine checks the whole, and its objections are led back to the lines that caused them.
//!
//! ```
//! use pliant_scene::Scene;
//!
//! let scene = "[[plane]]\n[[body]]\nshape = \"ball\"\nparticles = 100\nposition = [0, 0.5, 0]\n";
//! let mut built = Scene::parse(scene, "drop.toml".as_ref()).unwrap().build(1).unwrap();
//! built.simulation.step().unwrap();
//!
//! let problems = Scene::parse("framse = 3\n", "typo.toml".as_ref()).unwrap_err();
//! assert_eq!(problems[0].place, Some((1, 1)));
//! assert!(problems[0].help.starts_with("did you mean `frames`?"));
//! ```

mod body;
mod build;
mod built;
mod collider;
mod color;
mod constraint;
mod copies;
mod demos;
mod diagnostic;
mod digest;
mod element_choice;
mod event;
mod field;
mod fit;
mod format;
mod group;
mod guesses;
mod inert;
mod input;
mod joint;
mod keys;
mod material;
mod mesh;
mod motion;
mod notes;
mod paint;
mod pin;
mod quick;
mod reader;
mod record;
mod render;
mod resolver;
mod rigid;
mod scene;
mod schema;
mod shape;
mod source;
mod suggest;
mod track;

pub use built::{BuiltBody, BuiltCollider, BuiltScene, SceneSettings};
pub use demos::{DEMOS, Demo};
pub use diagnostic::Diagnostic;
pub use pliant_geometry::{CameraMotion, ColorBy, Elements, Look, PictureSettings};
pub use quick::QuickStart;
pub use resolver::{Disk, InMemory, Resolver};
pub use scene::Scene;
pub use schema::schema;
pub use suggest::nearest as nearest_word;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
