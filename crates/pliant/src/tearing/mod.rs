//! Bodies that tear: cloth along edges between triangles, solids along faces between tetrahedra.
//!
//! What is torn is state: the list of broken facets in the order they broke ([`Section::Broken`](crate::Section::Broken)).
//! Everything else follows from it and from the body as it was built: which particle each corner of an element uses
//! ([`Corners`]), the torn body's prototype, what is shown of it. So a checkpoint, going back in a
//! [`Timeline`](crate::Timeline) and a resumed run all find the body as it was, and a step stays a pure function.
//!
//! *When.* At the end of a step, from the state alone and each body by itself ([`Control::TearStrain`](crate::Control::TearStrain)), or by
//! hand ([`Simulation::tear`]). *What is conserved.* Particles that come apart are where the one was and as fast; its mass is
//! shared by the size of their elements. Momenta and kinetic energy stay what they are; elastic energy does not rise, as
//! elements keep their rest shape and what spanned the tear (bending) is left out. A closed surface that opens loses its
//! pressure.

mod corners;
mod criterion;
mod cut;
mod facets;
mod prototype;
mod split;
mod surface;
mod tear;

pub use corners::Corners;
pub use facets::Facets;
pub use surface::{NEW_VERTEX, TornSurface};

pub(crate) use criterion::Scratch;
pub(crate) use prototype::obstacle;
pub(crate) use split::{hold, mass_of, release, split};
pub(crate) use surface::{Whole, hosts};
pub(crate) use tear::{Tear, TornShapes};

use crate::edits::{Edit, EditError};
use crate::model::{BodyId, BodyModel, Model};
use crate::simulation::Simulation;
use glam::DVec3;
use pliant_geometry::Skin;

/// A body that has torn in the last step, or by hand since the step before it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Torn {
    /// Which body has torn.
    pub body: BodyId,
    /// The particle that each of its particles was before.
    pub particle_origin: Vec<u32>,
    /// The shown vertex that each was before; of a face that a tear has laid open, the nearest one at rest.
    pub shown_origin: Vec<u32>,
}

/// A part of a body that nothing joins to the others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// Its elements: triangles or tetrahedra, in the order of the body's shape; none of a particle without any.
    pub elements: Vec<u32>,
    /// The particles that hang together in it, ascending.
    pub particles: Vec<u32>,
}

impl Simulation {
    /// Breaks facets of a body by hand, by their numbers in [`BodyModel::facets`], in this order. The body opens where
    /// what is joined around a particle falls apart: a single edge in the middle of a cloth opens nothing yet.
    pub fn tear(&mut self, body: impl Into<BodyId>, facets: &[u32]) -> Result<(), EditError> {
        self.edit(&Edit::Tear(body.into(), facets.to_vec())).map(|_| ())
    }

    /// The bodies that came apart in the last step or, by hand, since the step before it: where particles and shown vertices
    /// came from. Where they are in the body as it was built is told by [`BodyModel::corners`] and [`BodyModel::surface`].
    pub fn tears(&self) -> &[Torn] {
        &self.tearing.torn
    }

    /// What a body has fallen into, by the lowest particle; one piece if nothing is apart, none if the body is gone.
    pub fn pieces(&self, body: impl Into<BodyId>) -> Vec<Piece> {
        self.model.get(body).map_or_else(Vec::new, |b| pieces(&b.parts))
    }
}

fn pieces(body: &BodyModel) -> Vec<Piece> {
    let n = body.particle_count();
    let mut root: Vec<u32> = (0..n as u32).collect();
    fn find(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            root[i as usize] = root[root[i as usize] as usize];
            i = root[i as usize];
        }
        i
    }
    let (width, cells) = match body.facets() {
        Some(f) => (f.width(), body.corners().map_or(f.cells(), |c| c.particles())),
        None => (2, body.topology().edges.as_flattened()),
    };
    for cell in cells.chunks_exact(width) {
        for pair in cell.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|i| find(&mut root, i));
            root[a.max(b) as usize] = a.min(b);
        }
    }
    let mut number = vec![u32::MAX; n];
    let mut list: Vec<Piece> = Vec::new();
    for i in 0..n as u32 {
        let first = find(&mut root, i) as usize;
        if number[first] == u32::MAX {
            number[first] = list.len() as u32;
            list.push(Piece { elements: Vec::new(), particles: Vec::new() });
        }
        list[number[first] as usize].particles.push(i);
    }
    if body.facets().is_some() {
        for (e, cell) in cells.chunks_exact(width).enumerate() {
            let first = find(&mut root, cell[0]) as usize;
            list[number[first] as usize].elements.push(e as u32);
        }
    }
    list
}

/// What a simulation keeps to tear bodies.
#[derive(Debug, Default)]
pub(crate) struct Tearing {
    pub shapes: TornShapes,
    scratch: Scratch,
    torn: Vec<Torn>,
    /// Whether the list is of a step that is over.
    stale: bool,
}

impl Tearing {
    /// A step begins: what was told of the one before is over.
    pub fn begin_step(&mut self) {
        if self.stale {
            self.torn.clear();
        }
        self.stale = false;
    }

    /// A step has ended: what is listed stands until the next, or until something is torn by hand.
    pub fn end_step(&mut self) {
        self.stale = true;
    }

    /// Another state was taken up.
    pub fn forget(&mut self) {
        self.torn.clear();
    }

    /// Lists the bodies of `after` that are torn further than in `before`.
    pub fn report(&mut self, before: &Model, after: &Model) {
        let changed = |body: &&crate::model::ModelBody| {
            let old = before.get(body.id).map(|b| &b.parts);
            old.is_some_and(|old| {
                old.corners().map(Corners::broken) != body.parts.corners().map(Corners::broken)
            })
        };
        for body in after.bodies().iter().filter(changed) {
            let Some(old) = before.get(body.id) else { continue };
            self.begin_step();
            let torn = difference(body.id, &old.parts, &body.parts);
            match self.torn.iter_mut().find(|t| t.body == body.id) {
                Some(known) => *known = known.then(&torn),
                None => self.torn.push(torn),
            }
        }
    }
}

impl Torn {
    /// This, and then another tear of the same body.
    fn then(&self, next: &Torn) -> Torn {
        let compose = |first: &[u32], then: &[u32]| {
            then.iter().map(|&i| first.get(i as usize).copied().unwrap_or(0)).collect()
        };
        Torn {
            body: self.body,
            particle_origin: compose(&self.particle_origin, &next.particle_origin),
            shown_origin: compose(&self.shown_origin, &next.shown_origin),
        }
    }
}

fn difference(body: BodyId, before: &BodyModel, after: &BodyModel) -> Torn {
    let count = before.particle_count() as u32;
    let parent = after.corners().map_or(&[][..], |c| c.parent());
    let particle_origin: Vec<u32> = (0..after.particle_count() as u32)
        .map(|mut i| {
            while i >= count {
                i = parent[i as usize];
            }
            i
        })
        .collect();
    let mut shown_origin = match (after.surface(), before.surface()) {
        (Some(surface), _) if surface.skin.is_none() => particle_origin.clone(),
        (Some(surface), Some(before)) => surface.since(before),
        (Some(surface), None) => surface.origin.clone(),
        (None, _) => Vec::new(),
    };
    if shown_origin.contains(&NEW_VERTEX) {
        let (old, new) = (rest_vertices(before), rest_vertices(after));
        for (of, at) in shown_origin.iter_mut().zip(new).filter(|(of, _)| **of == NEW_VERTEX) {
            let far = |v: &DVec3| (*v - at).length_squared();
            let nearest = old.iter().enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1)));
            *of = nearest.map_or(0, |(k, _)| k as u32);
        }
    }
    Torn { body, particle_origin, shown_origin }
}

/// Where the shown vertices of a body are at rest.
fn rest_vertices(body: &BodyModel) -> Vec<DVec3> {
    let particles: Vec<DVec3> = body.rest().positions.iter().collect();
    let mut vertices = Vec::new();
    body.shown().vertices(&particles, &mut Default::default(), &mut vertices);
    vertices
}

impl BodyModel {
    /// What becomes of another surface of the whole body, such as a render mesh with a skin of its own, by the tears the body
    /// has; `None` if it has none, or if the skin is not one of its particles.
    pub fn torn_surface(&self, triangles: &[[u32; 3]], skin: &Skin) -> Option<TornSurface> {
        let (facets, corners, rest) = (self.facets()?, self.corners()?, &self.whole().rest().positions);
        skin.check(skin.len(), rest.len()).ok()?;
        let mut vertices = Vec::new();
        skin.apply(rest.columns(), &mut vertices);
        triangles.iter().flatten().all(|&v| (v as usize) < vertices.len()).then_some(())?;
        let hosts = &hosts(facets, triangles, Some(skin))[..];
        Some(Whole { facets, rest, triangles, skin: Some(skin), hosts, vertices: &vertices }.torn(corners))
    }
}

impl Simulation {
    /// Tears bodies that are stretched too far, at the end of a step.
    pub(crate) fn tear_apart(&mut self) {
        let mut before = None;
        for k in 0..self.model.bodies().len() {
            let threshold = self.controls.live(k).body.tear_strain;
            let parts = &self.model.bodies()[k].parts;
            if threshold == f64::INFINITY {
                continue;
            }
            self.tearing.scratch.find(parts, threshold, &self.state.bodies[k].x);
            if self.tearing.scratch.facets.is_empty() {
                continue;
            }
            let whole = parts.whole().clone();
            if split(&whole, &mut self.state.bodies[k], &self.tearing.scratch.facets) {
                before.get_or_insert_with(|| self.model.clone());
            }
        }
        if let Some(before) = before {
            self.follow_tears(Some(&before));
            self.fit_backup();
        }
    }

    /// Makes the model what the state says is torn; with what it was before, bodies that are torn further are told.
    pub(crate) fn follow_tears(&mut self, before: Option<&Model>) {
        let torn = self.model.torn_by(&self.state, &mut self.tearing.shapes);
        debug_assert!(torn.is_ok(), "a state was taken up that was not checked");
        if let Ok(model) = torn {
            self.model = model;
        }
        if let Some(before) = before {
            self.tearing.report(before, &self.model);
        }
    }
}
