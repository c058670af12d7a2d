//! The colliders in the course of a step: planes and solids substep by substep, and where they are in the end.

use super::{ColliderGeometry, Obstacle, Solid};
use crate::controls::Controls;
use crate::model::{Collider, ColliderShape, Model, ModelCollider, between};
use crate::state::State;
use glam::DAffine3;

/// The colliders in every substep of a step. Kept from step to step, so that planning one allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColliderTrajectory {
    /// Substep after substep.
    planes: Vec<Obstacle>,
    solids: Vec<Solid>,
    /// What each solid is made of, for all substeps, and where it stands among the colliders.
    forms: Vec<ColliderGeometry>,
    places: Vec<usize>,
    substeps: usize,
    /// Where the colliders are after the step.
    ends: Vec<DAffine3>,
}

/// What a body may touch in a substep.
#[derive(Clone, Copy, Debug)]
pub struct Obstacles<'a> {
    /// Planes.
    pub planes: &'a [Obstacle],
    /// Everything else.
    pub solids: &'a [Solid],
    /// What the solids are made of.
    pub forms: &'a [ColliderGeometry],
}

impl<'a> Obstacles<'a> {
    /// Nothing.
    pub const NONE: Obstacles<'static> = Obstacles { planes: &[], solids: &[], forms: &[] };

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty() && self.solids.is_empty()
    }

    /// The solids with what they are made of.
    pub fn formed(&self) -> impl ExactSizeIterator<Item = (&'a Solid, &'a ColliderGeometry)> + Clone + 'a {
        let forms = self.forms;
        self.solids.iter().map(move |s| (s, &forms[s.form]))
    }
}

impl ColliderTrajectory {
    /// Takes up the step to come. What a host leads goes evenly from where it was to where it is wanted, and so do the
    /// vertices of meshes that change their shape, whoever moves them.
    pub fn plan(&mut self, model: &Model, state: &State, controls: &Controls) {
        let (step, substeps) = (model.params.step, model.params.substeps);
        self.begin(model, substeps as usize);
        self.ends.clone_from(&state.colliders);
        let begin = state.step as f64 * step;
        self.make_forms(model, |k, of, form| {
            form.take(of, &state.vertices[k], &controls.vertices[k], begin + step);
        });
        for k in 1..=substeps {
            let share = f64::from(k) / f64::from(substeps);
            let shares = [f64::from(k - 1) / f64::from(substeps), share];
            let mut form = 0;
            for (place, of) in model.colliders().iter().enumerate() {
                let (began, wanted) = (&state.colliders[place], &controls.colliders[place]);
                let to = match wanted {
                    Some(wanted) => between(began, wanted, share),
                    None => of.collider.motion.placement(begin + step * share),
                };
                let from = self.ends[place];
                self.add(of, (&from, &to), shares, &mut form);
                self.ends[place] = to;
            }
        }
    }

    /// Takes up the colliders as they are now, standing still.
    pub fn stand(&mut self, model: &Model, state: &State) {
        self.begin(model, 1);
        self.make_forms(model, |k, of, form| form.hold(of, &state.vertices[k]));
        let mut form = 0;
        for (of, at) in model.colliders().iter().zip(&state.colliders) {
            self.add(of, (at, at), [1.0, 1.0], &mut form);
        }
    }

    fn begin(&mut self, model: &Model, substeps: usize) {
        self.planes.clear();
        self.solids.clear();
        self.substeps = substeps;
        self.places.clear();
        let formed =
            model.colliders().iter().enumerate().filter(|(_, c)| !ColliderTrajectory::is_plane(&c.collider));
        self.places.extend(formed.map(|(place, _)| place));
        self.forms.resize_with(self.places.len(), ColliderGeometry::default);
    }

    fn make_forms(&mut self, model: &Model, mut make: impl FnMut(usize, &Collider, &mut ColliderGeometry)) {
        for (form, place) in self.forms.iter_mut().zip(&self.places) {
            make(*place, &model.colliders()[*place].collider, form);
        }
    }

    fn add(
        &mut self,
        of: &ModelCollider,
        (from, to): (&DAffine3, &DAffine3),
        shares: [f64; 2],
        form: &mut usize,
    ) {
        match Obstacle::moving(of, from, to) {
            Some(plane) => self.planes.push(plane),
            None => {
                let (from, to) = (of.collider.placed(from), of.collider.placed(to));
                self.solids.push(Solid::moving(of, *form, &self.forms[*form], (from, to), shares));
                *form += 1;
            }
        }
    }

    /// Whether a collider is a plane, which has no solid.
    pub fn is_plane(collider: &Collider) -> bool {
        matches!(collider.shape, ColliderShape::Plane { .. })
    }

    /// The colliders in a substep, counted from 0.
    pub fn substep(&self, k: u32) -> Obstacles<'_> {
        let (planes, solids) = (self.planes.len() / self.substeps.max(1), self.forms.len());
        Obstacles {
            planes: &self.planes[k as usize * planes..][..planes],
            solids: &self.solids[k as usize * solids..][..solids],
            forms: &self.forms,
        }
    }

    /// Tells the state where the colliders are after the step.
    pub fn arrive(&self, state: &mut State) {
        state.colliders.clone_from(&self.ends);
        for (form, place) in self.forms.iter().zip(&self.places) {
            form.arrive(&mut state.vertices[*place]);
        }
    }
}
