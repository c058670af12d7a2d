//! Pliant: soft bodies that cannot blow up.
//!
//! A soft body in ten lines:
//!
//! ```
//! use pliant::{Body, Builder, shapes};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bear = Body::new("bear", shapes::gummy_bear(0.3, 0.03)?).at(0.0, 0.5, 0.0);
//! let mut simulation = Builder::new().ground().body(bear).build()?;
//! for _ in 0..120 {
//!     simulation.step()?;
//! }
//! let lowest = simulation.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
//! assert!(lowest > -1e-9, "it rests on the ground");
//! # Ok(())
//! # }
//! ```
//!
//! # How it is put together
//! Every method here moves particles toward the nearest point of a set of wanted shapes, then finds a
//! consensus among neighbours that disagree. There is one vocabulary of [`constraints`] and several
//! ways to consensus, the [`solvers`]:
//!
//! - [`solvers::clustered`]: clustered shape matching with strain limiting; meshless, explicit, fast;
//! - [`solvers::projective`]: projective dynamics; implicit, any mixture of constraints;
//! - [`solvers::newton`] and [`solvers::position_based`] (XPBD and PBD): what it is compared with, over the same
//!   scenes.
//!
//! A [`Model`](model::Model) is constant, a [`State`] changes, [`Controls`] may be
//! changed by the user between steps, and a step is a pure function of the three: the same input gives
//! the same bits, for any number of threads, after dropping every cache, or after saving and loading.
//!
//! # What each solver supports
#![doc = include_str!("../support.md")]
//!
//! Building an unsupported pair is refused with the alternatives. Edge springs alone cannot tell a
//! body from its mirror image: a body held together by edges only and turned inside out stays so.
//! Clusters can, and turn it back.
//!
//! # Features
//! None is on by default, and none changes what is computed. `serde` derives `Serialize` and `Deserialize` for plain data:
//! materials, identifiers, kinds of solvers, keyframes, statistics and reports. [`prelude`] has the names most programs need.
//!
//! # Units
//! SI units, y up, right-handed; 60 steps a second unless told otherwise.

mod advance;
mod arrays;
mod body;
mod builder;
pub mod bytes;
mod checkpoint;
pub mod constraints;
pub mod contact;
mod controls;
mod couplings;
mod description;
mod dofs;
mod edits;
mod effect;
mod elements;
mod fields;
mod forces;
mod island;
mod keyframes;
mod material;
mod memory;
pub mod model;
mod noise;
mod notes;
mod points;
pub mod prelude;
pub mod queries;
mod schedule;
mod simulation;
mod sleep;
mod solver_pool;
pub mod solvers;
mod state;
mod statistics;
mod team;
pub mod tearing;
mod timeline;

pub use arrays::{placement, vectors};
pub use body::{Body, ClusterStyle, Clustering, ContactRadius, Pins, Selection};
pub use builder::{BuildError, BuildErrors, Builder};
pub use checkpoint::Checkpoint;
pub use contact::{ContactChange, ContactEvent, ContactWatch, PresentColliders, Touch, Touches};
pub use controls::{
    Allowed, BodyControls, Control, ControlError, ControlOwner, Controls, Cost, CouplingControls, Descriptor,
    LiveControls, Stiffness, Value, WorldControls,
};
pub use couplings::{CouplingMemory, Glue, Glued, Mishap};
pub use dofs::{Dof, DofMap};
pub use edits::{Edit, EditError, Edited, Hold, Removed};
pub use elements::{Constraint, ConstraintKind};
pub use fields::Field;
pub use forces::wind;
pub use glam::{DAffine3, DMat3, DQuat, DVec3};
pub use keyframes::{Ease, Key, KeyframeFault, Keyframes, Track};
pub use material::{Elasticity, Material};
pub use memory::{Memory, Section};
pub use model::{
    Acceleration, Attachment, BodyFrame, BodyId, BodyPoint, Collider, ColliderId, ColliderShape,
    ContactFilter, Coupling, CouplingId, CouplingKind, Goals, HalfSpace, Implicit, Input, Integrator,
    MassMatrix, Motion, Motor, Sequence, SequenceError, WarmStart, WorldFrame,
};
/// Meshes, points and shapes: reading and writing them, looking them over, mending, filling, binding.
pub use pliant_geometry as geometry;
pub use pliant_geometry::colliders::{ColliderMesh, Primitive};
pub use pliant_geometry::{ClusterMethod, TriMesh, read_mesh, shapes};
pub use pliant_math::lanes::{Bits, Isa};
pub use points::{Points, PointsMut, UnevenColumnsError};
pub use queries::{Hit, Place, Queries, RenderMesh, SurfaceMesh};
pub use schedule::{Schedule, ScheduleError};
pub use simulation::{Clock, Driver, Simulation, StepError, StepReport};
pub use solvers::{Convergence, SolverKind, TracePoint};
pub use state::{BodyState, State, StateError};
pub use statistics::Statistics;
pub use team::{Team, TooManyThreads};
pub use timeline::{Store, Timeline, TimelineError};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
