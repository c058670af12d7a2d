//! Contact: what touches what, the forces that keep it apart, and what a bounce gives back.
//!
//! Contacts lie outside the solvers, over [`Endpoint`]s of any bodies: they are found once every body of an island has
//! predicted where it goes (`detect.rs`), and answer every round of the solvers with forces (`dual.rs`). So do couplings
//! (`ties.rs`), whose forces may pull as well as push.

mod dense_spd;
mod cone;
mod detect;
pub(crate) mod dual;
mod endpoint;
mod features;
mod half_space;
mod nodes;
mod obstacle;
mod restitution;
mod solid;
mod sweeps;
mod ties;
mod touches;
mod trajectory;
mod watch;

pub(crate) use cone::PointContact;
pub(crate) use detect::{Contacts, PointCounts};
pub(crate) use dual::{Bodies, Respond, SubstepStart, Touching};
pub use endpoint::{Contact, Endpoint};
pub(crate) use half_space::push_out_of_solids;
pub use half_space::{Arrival, Surface, lowest_gap, push_out, release};
pub(crate) use nodes::{Nodes, WIDTH};
pub use obstacle::Obstacle;
pub use restitution::bounce;
pub use solid::{ColliderGeometry, ContactPlane, ContactPlanes, MovingPoint, Solid};
pub(crate) use sweeps::SolidResponse;
pub(crate) use ties::{Pull, Tie, Velocities};
pub use touches::{PresentColliders, Touch, Touches};
pub(crate) use trajectory::ColliderTrajectory;
pub use trajectory::Obstacles;
pub use watch::{ContactChange, ContactEvent, ContactWatch};
