//! What a host asks of the bodies where they are now: rays, nearest points, balls, boxes, meshes to draw.
//!
//! A [`Queries`] is kept by the host and refreshed after a step. It copies what it needs, so that questions borrow nothing
//! of the simulation and may come from many threads. Refreshing goes through every shown triangle of every body that moved,
//! about twice the work of [`Simulation::render_mesh`] for all of them: with fine surfaces on few particles that is more than
//! a step, so refresh when there are questions. A body that did not move costs a comparison, and nothing is allocated once
//! all bodies were seen.
//!
//! ```
//! use pliant::{Body, Builder, DVec3, Queries, shapes};
//!
//! let ball = Body::new("ball", shapes::ball(0.2, 0.05)?).at(0.0, 1.0, 0.0);
//! let mut simulation = Builder::new().ground().body(ball).build()?;
//! let mut queries = Queries::new();
//! let mut weights = Vec::new();
//! simulation.step()?;
//! queries.refresh(&simulation);
//! if let Some(hit) = queries.cast(DVec3::new(0.0, 1.0, 5.0), DVec3::NEG_Z, 100.0) {
//!     queries.weights(&hit, &mut weights);
//!     simulation.push(hit.body, &weights, DVec3::NEG_Z * 0.5)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Answers are the same for every run: equally near things are told apart by the number of their body, then of their
//! triangle or particle.

mod attach;
mod ball;
mod cast;
mod grip;
mod hit;
mod nearest;
mod query_body;
mod surface_mesh;

pub(crate) use attach::FAR;
pub use hit::{Hit, Place};
pub use surface_mesh::{RenderMesh, SurfaceMesh};

use crate::model::BodyId;
use crate::simulation::Simulation;
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, BoxSearch, BoxTree, NOWHERE, join};
use query_body::QueryBody;

/// The bodies of a simulation as they were when it was refreshed, ready for questions.
#[derive(Debug, Default)]
pub struct Queries {
    /// By id.
    bodies: Vec<QueryBody>,
    least_radius: f64,
    /// Over the bodies, made anew each time: they go anywhere.
    tree: BoxTree,
    boxes: Vec<Bounds>,
    fitted: Vec<Bounds>,
}

impl Queries {
    /// Queries that know no body: [`refresh`](Queries::refresh) makes them known.
    pub fn new() -> Queries {
        Queries::default()
    }

    /// Lets particles of clouds be found as balls of at least this radius, m. Without it they are as large as their
    /// contact radius, which of many clouds is zero: no ray hits those. What is no radius counts as zero.
    pub fn least_radius(mut self, radius: f64) -> Queries {
        self.least_radius = if radius.is_finite() { radius.max(0.0) } else { 0.0 };
        self.bodies.clear();
        self
    }

    /// Takes in where the bodies are now. What is asked before the first time finds nothing.
    pub fn refresh(&mut self, simulation: &Simulation) {
        let model = simulation.model();
        self.bodies.retain(|seen| model.get(seen.id).is_some_and(|b| seen.is_of(&b.parts)));
        for (k, (body, state)) in model.bodies().iter().zip(simulation.state().bodies()).enumerate() {
            if self.bodies.get(k).is_none_or(|seen| seen.id != body.id) {
                self.bodies.insert(k, QueryBody::new(body.id, &body.parts, self.least_radius));
            }
            self.bodies[k].refresh(state.positions());
        }
        self.boxes.clear();
        self.boxes.extend(self.bodies.iter().map(QueryBody::surface_bounds));
        self.tree.rebuild(&self.boxes);
        let boxes = &self.boxes;
        self.tree.fit(|k| boxes[k as usize], &mut self.fitted);
    }

    /// Lowest and highest corner of a body: of all that is shown and of all its particles, those of clouds with their
    /// radii. `None` if there is no such body.
    pub fn bounds(&self, body: impl Into<BodyId>) -> Option<(DVec3, DVec3)> {
        self.body(body.into()).map(|seen| seen.bounds)
    }

    /// Lowest and highest corner of all bodies; `None` if there are none.
    pub fn bounds_of_all(&self) -> Option<(DVec3, DVec3)> {
        let all = self.bodies.iter().fold(NOWHERE, |all, seen| join(all, seen.bounds));
        (!self.bodies.is_empty()).then_some(all)
    }

    fn body(&self, id: BodyId) -> Option<&QueryBody> {
        self.bodies.binary_search_by_key(&id, |seen| seen.id).ok().map(|k| &self.bodies[k])
    }

    /// Goes through all bodies that are near enough, and in each through what is.
    fn search(&self, aim: &mut impl BodySearch) {
        self.tree.search(&self.fitted, &mut AmongBodies { bodies: &self.bodies, aim });
    }
}

/// What is looked for in all bodies: a [`BoxSearch`] that is told whose item it looks at.
trait BodySearch {
    fn near(&self, bounds: Bounds) -> f64;
    fn limit(&self) -> f64;
    fn meet(&mut self, body: &QueryBody, item: u32);
}

struct AmongBodies<'a, A> {
    bodies: &'a [QueryBody],
    aim: &'a mut A,
}

impl<A: BodySearch> BoxSearch for AmongBodies<'_, A> {
    fn near(&self, bounds: Bounds) -> f64 {
        self.aim.near(bounds)
    }
    fn limit(&self) -> f64 {
        self.aim.limit()
    }
    fn look(&mut self, item: u32) {
        let body = &self.bodies[item as usize];
        body.search(&mut WithinBody { body, aim: self.aim });
    }
}

struct WithinBody<'a, A> {
    body: &'a QueryBody,
    aim: &'a mut A,
}

impl<A: BodySearch> BoxSearch for WithinBody<'_, A> {
    fn near(&self, bounds: Bounds) -> f64 {
        self.aim.near(bounds)
    }
    fn limit(&self) -> f64 {
        self.aim.limit()
    }
    fn look(&mut self, item: u32) {
        self.aim.meet(self.body, item);
    }
}
