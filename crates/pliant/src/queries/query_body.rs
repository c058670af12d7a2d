//! One body as queries see it: its shown surface or its particles where they are, with boxes around them.

use crate::model::{BodyId, BodyModel, Prototype, Shown};
use crate::points::Points;
use glam::DVec3;
use pliant_geometry::SkinScratch;
use pliant_geometry::box_tree::{Bounds, BoxSearch, NOWHERE, around, join};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct QueryBody {
    pub id: BodyId,
    pub shown: Arc<Shown>,
    prototype: Arc<Prototype>,
    least_radius: f64,
    pub particles: Vec<DVec3>,
    /// Empty where they are the particles.
    vertices: Vec<DVec3>,
    scratch: SkinScratch,
    /// Fitted to the tree of what is shown.
    boxes: Vec<Bounds>,
    /// Around everything there is of it.
    pub bounds: Bounds,
    /// How far a particle of it reaches at most.
    pub reach: f64,
}

impl QueryBody {
    pub fn new(id: BodyId, model: &BodyModel, least_radius: f64) -> QueryBody {
        QueryBody {
            id,
            shown: model.shown().clone(),
            prototype: model.prototype().clone(),
            least_radius,
            particles: Vec::new(),
            vertices: Vec::new(),
            scratch: SkinScratch::default(),
            boxes: Vec::new(),
            bounds: NOWHERE,
            reach: model.rest().radius.iter().copied().fold(least_radius, f64::max),
        }
    }

    /// Whether it was made for this body.
    pub fn is_of(&self, model: &BodyModel) -> bool {
        Arc::ptr_eq(&self.shown, model.shown()) && Arc::ptr_eq(&self.prototype, model.prototype())
    }

    /// Takes in where its particles are.
    pub fn refresh(&mut self, x: &Points) {
        let unmoved = self.particles.len() == x.len() && self.particles.iter().copied().eq(x.iter());
        if unmoved && !self.boxes.is_empty() {
            return;
        }
        self.particles.clear();
        self.particles.extend(x.iter());
        if self.shown.skin().is_some() {
            self.shown.vertices(&self.particles, &mut self.scratch, &mut self.vertices);
        }
        let mut boxes = std::mem::take(&mut self.boxes);
        let tree = self.shown.tree(&self.prototype.rest().positions);
        match self.is_cloud() {
            true => tree.fit(|i| self.ball_bounds(i), &mut boxes),
            false => tree.fit(|t| around(self.corners(t)), &mut boxes),
        }
        self.boxes = boxes;
        let particles = self.particles.iter().fold(NOWHERE, |all, &p| join(all, (p, p)));
        self.bounds = join(self.surface_bounds(), particles);
    }

    /// Around what the tree is over.
    pub fn surface_bounds(&self) -> Bounds {
        self.boxes.first().copied().unwrap_or(NOWHERE)
    }

    /// Whether its particles are what is seen of it.
    pub fn is_cloud(&self) -> bool {
        self.shown.triangles().is_empty()
    }

    pub fn vertices(&self) -> &[DVec3] {
        if self.shown.skin().is_some() { &self.vertices } else { &self.particles }
    }

    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        let vertices = self.vertices();
        self.shown.triangles()[triangle as usize].map(|i| vertices[i as usize])
    }

    pub fn radius(&self, particle: u32) -> f64 {
        self.prototype.rest().radius[particle as usize].max(self.least_radius)
    }

    fn ball_bounds(&self, particle: u32) -> Bounds {
        let (p, r) = (self.particles[particle as usize], self.radius(particle));
        (p - r, p + r)
    }

    pub fn search(&self, search: &mut impl BoxSearch) {
        self.shown.tree(&self.prototype.rest().positions).search(&self.boxes, search);
    }
}
