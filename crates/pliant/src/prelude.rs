//! The names most programs need, to be had at once: `use pliant::prelude::*;`.
//!
//! ```
//! use pliant::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bear = Body::new("bear", shapes::gummy_bear(0.3, 0.05)?).at(0.0, 0.5, 0.0);
//! let mut simulation = Builder::new().ground().body(bear).build()?;
//! simulation.step()?;
//! # Ok(())
//! # }
//! ```

pub use crate::{
    Body, BodyId, BodyPoint, Builder, Checkpoint, Clustering, Collider, ColliderId, ColliderMesh,
    ContactChange, ContactEvent, ContactWatch, Control, Controls, Coupling, CouplingId, DAffine3, DMat3,
    DQuat, DVec3, Elasticity, Field, HalfSpace, Hit, Hold, Key, Keyframes, Material, Motion, Pins, Place,
    Primitive, Queries, RenderMesh, Selection, Simulation, SolverKind, StepError, StepReport, SurfaceMesh,
    Team, Timeline, TriMesh, Value, placement, read_mesh, shapes, vectors,
};
