//! Contact: what touches what, the forces that keep it apart, and what a bounce gives back.
//!
//! Contacts lie outside the solvers, over `Endpoint`s of any bodies: they are found once every body of an island has
//! predicted where it goes (`detect.rs`), and answer every round of the solvers with forces (`dual.rs`). So do couplings
//! (`couplings`), whose forces may pull as well as push.

mod apart;
mod cone;
mod detect;
pub(crate) mod dual;
mod endpoint;
mod half_space;
mod looked_at;
mod mesh_meets;
mod near;
mod nodes;
mod obstacle;
mod pairs;
mod restitution;
mod ridges;
mod solid;
mod steps;
mod sweeps;
mod thin;
mod touches;
mod trajectory;
mod watch;

pub(crate) use apart::{Apart, Cut, Ended};
pub(crate) use cone::PointContact;
pub(crate) use detect::{Contacts, PointCounts};
pub(crate) use dual::{Bodies, Respond, SubstepStart, Touching, When, WithNodes};
pub(crate) use endpoint::{Contact, Endpoint};
pub(crate) use half_space::{Arrival, ContactMaterial, lowest_gap, push_out, push_out_of_solids, release};
pub(crate) use looked_at::LookedAt;
pub(crate) use near::NearPairs;
pub(crate) use nodes::{Nodes, PairResponse, ResponseKey, WIDTH};
pub(crate) use obstacle::Obstacle;
pub(crate) use restitution::bounce;
pub(crate) use solid::{ColliderGeometry, ContactPlane, ContactPlanes, MovingPoint, Solid};
pub(crate) use sweeps::SolidResponse;
pub use touches::{PresentColliders, Touch, Touches};
pub(crate) use trajectory::{ColliderTrajectory, Obstacles};
pub use watch::{ContactChange, ContactEvent, ContactWatch};
