//! Finding what touches what: vertices, triangles and edges of bodies that deform, near each other within a substep.
//!
//! A [`CollisionSurface`] is what a body is at rest and is shared by its copies; [`SweptBoxes`] are where one of them goes
//! and are fitted anew in every substep. [`BroadPhase`] tells which bodies are near each other, [`Detection`] what of
//! them: it cuts the search into tasks that any number of threads may run, and gives the same in the same order.
//!
//! ```
//! use glam::DVec3;
//! use pliant_geometry::collision::{CollisionBody, BroadPhase, CollisionSurface, Columns, Detection, Search, SweptBoxes};
//! use std::ops::ControlFlow;
//!
//! // Two triangles, the second of which falls onto the first.
//! let rest = [DVec3::ZERO, DVec3::Z, DVec3::X];
//! let surface = CollisionSurface::new(&rest, &[[0, 1, 2]])?;
//! let (x, z) = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]);
//! let mut boxes = [SweptBoxes::default(), SweptBoxes::default()];
//! for (boxes, (from, to)) in boxes.iter_mut().zip([(&[0.0; 3], &[0.0; 3]), (&[0.4; 3], &[0.0; 3])]) {
//!     let (from, to) = (Columns { x: &x, y: from, z: &z }, Columns { x: &x, y: to, z: &z });
//!     boxes.fit(&surface, from, to, 0.01, DVec3::ZERO);
//! }
//! let body = |i: u32| CollisionBody { surface: &surface, boxes: &boxes[i as usize] };
//!
//! // Kept from step to step, with their memory.
//! let (mut broad, mut detection) = (BroadPhase::default(), Detection::default());
//! detection.clear();
//! broad.pairs(boxes.iter().map(SweptBoxes::bounds), |a, b| {
//!     detection.add((a, body(a)), (b, body(b)), Search { edges: true, ..Search::default() });
//!     ControlFlow::Continue(())
//! });
//! let (tasks, found) = detection.tasks();
//! for (task, found) in found.iter_mut().enumerate() {
//!     tasks.run(task, &body, found); // on any thread
//! }
//! for (group, nears) in detection.groups() {
//!     for near in nears {
//!         println!("{group:?} {near:?}");
//!     }
//! }
//! assert!(detection.groups().any(|(_, nears)| nears.iter().any(|near| (near.distance - 0.4).abs() < 1e-12)));
//! # Ok::<(), pliant_geometry::GeometryError>(())
//! ```

mod broad_phase;
mod closest;
mod detection;
mod rest_tree;
mod search;
mod side;
mod surface;
mod swept_boxes;

pub use broad_phase::BroadPhase;
pub use closest::{edge_edge, vertex_triangle};
pub use detection::{CollisionBody, Detection, Group, Near, PairKind, Search, Tasks};
pub use search::Found;
pub use surface::CollisionSurface;
pub use swept_boxes::{Columns, MotionEnd, SweptBoxes};
