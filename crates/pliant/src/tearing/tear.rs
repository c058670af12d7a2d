//! A body that has torn: its parts as they follow from those it was built with, and from what its state says is broken.

use super::corners::Corners;
use super::facets::Facets;
use super::prototype;
use super::surface::TornSurface;
use crate::memory::Section;
use crate::model::{BodyModel, Model, PinGroup, Prototype, Shown};
use crate::state::{BodyState, State, StateError};
use std::sync::Arc;

/// What a torn body was, and how it came apart.
#[derive(Debug)]
pub(crate) struct Tear {
    /// The body as it was built and edited: nothing of it is torn, pins are as they were made.
    pub whole: BodyModel,
    pub shape: Arc<TornShape>,
}

/// What tearing has made of a prototype and of what is shown of it; shared by bodies that tore alike.
#[derive(Debug)]
pub(crate) struct TornShape {
    pub of: (Arc<Prototype>, Arc<Shown>),
    pub corners: Corners,
    pub surface: TornSurface,
    pub prototype: Arc<Prototype>,
    pub shown: Arc<Shown>,
}

impl TornShape {
    fn new(whole: &BodyModel, facets: &Facets, corners: Corners) -> TornShape {
        let torn = prototype::torn(&whole.prototype, facets, &corners);
        let surface = whole.shown.torn(facets, &whole.rest().positions, &corners);
        TornShape {
            of: (whole.prototype.clone(), whole.shown.clone()),
            prototype: Arc::new(torn),
            shown: Arc::new(Shown::of(surface.triangles.clone(), surface.skin.clone())),
            surface,
            corners,
        }
    }
}

/// Shapes that bodies have, and some that they had: going back and forth over a tear, edits of a torn body, and copies that
/// tear alike find them again.
#[derive(Debug, Default)]
pub(crate) struct TornShapes(Vec<Arc<TornShape>>);

impl TornShapes {
    const MOST: usize = 16;

    /// The shape of a body whose facets broke in this order; `None` if they cannot have.
    fn get(&mut self, whole: &BodyModel, broken: &[u32]) -> Option<Arc<TornShape>> {
        let same = |s: &&Arc<TornShape>| {
            Arc::ptr_eq(&s.of.0, &whole.prototype)
                && Arc::ptr_eq(&s.of.1, &whole.shown)
                && s.corners.broken() == broken
        };
        if let Some(known) = self.0.iter().find(same) {
            return Some(known.clone());
        }
        let facets = whole.prototype.facets()?;
        // Mostly more breaks of a body that was torn before.
        let begun = |s: &&Arc<TornShape>| {
            Arc::ptr_eq(&s.of.0, &whole.prototype) && broken.starts_with(s.corners.broken())
        };
        let longest = self.0.iter().filter(begun).max_by_key(|s| s.corners.broken().len());
        let mut corners = longest.map_or_else(|| Corners::whole(facets), |s| s.corners.clone());
        let done = corners.broken().len();
        if !broken[done..].iter().all(|&f| corners.break_facet(facets, f as usize)) {
            return None;
        }
        let shape = Arc::new(TornShape::new(whole, facets, corners));
        if self.0.len() >= Self::MOST
            && let Some(unused) = self.0.iter().position(|s| Arc::strong_count(s) == 1)
        {
            self.0.remove(unused);
        }
        self.0.push(shape.clone());
        Some(shape)
    }
}

/// What a state says of a tear: the broken facets in their order.
pub(crate) fn broken(state: &BodyState) -> Option<Vec<u32>> {
    indices(&state.memory()[Section::Broken])
}

fn indices(numbers: &[f64]) -> Option<Vec<u32>> {
    let index = |v: &f64| (*v >= 0.0 && *v < f64::from(u32::MAX) && v.fract() == 0.0).then_some(*v as u32);
    numbers.iter().map(index).collect()
}

/// The particles each pin group of a torn body holds at present, as its state says.
fn held(whole: &BodyModel, state: &BodyState, particles: usize) -> Option<Vec<Vec<u32>>> {
    let numbers = indices(&state.memory()[Section::Held])?;
    let mut rest = &numbers[..];
    let mut groups = Vec::with_capacity(whole.pins.len());
    let mut taken = vec![false; particles];
    for _ in whole.pins.iter() {
        let (count, more) = rest.split_first()?;
        let (own, more) = more.split_at_checked(*count as usize)?;
        let sound = own.is_sorted() && own.iter().all(|&i| (i as usize) < particles);
        if !sound || own.iter().any(|&i| std::mem::replace(&mut taken[i as usize], true)) {
            return None;
        }
        groups.push(own.to_vec());
        rest = more;
    }
    rest.is_empty().then_some(groups)
}

/// Pin groups as numbers of a state: how many particles each has, and which.
pub(super) fn held_numbers<'a>(groups: impl IntoIterator<Item = &'a [u32]>) -> Vec<f64> {
    let of = |own: &'a [u32]| std::iter::once(own.len() as f64).chain(own.iter().map(|&i| f64::from(i)));
    groups.into_iter().flat_map(of).collect()
}

impl BodyModel {
    /// The body as its state says it is torn; `None` if it cannot be.
    pub(crate) fn torn_by(&self, state: &BodyState, shapes: &mut TornShapes) -> Option<BodyModel> {
        let whole = self.whole();
        let broken = broken(state)?;
        if broken.is_empty() {
            return state.memory()[Section::Held].is_empty().then(|| whole.clone());
        }
        let shape = shapes.get(whole, &broken)?;
        let held = held(whole, state, shape.corners.origin().len())?;
        let regroup = |(group, particles): (&PinGroup, Vec<u32>)| PinGroup { particles, ..group.clone() };
        let pins: Vec<PinGroup> = whole.pins.iter().zip(held).map(regroup).collect();
        let shares = pin_shares(whole, &pins, &shape);
        Some(whole.with_tear(Tear { whole: whole.clone(), shape }, pins, &shares))
    }

    /// Whether a state says of it what it is.
    pub(crate) fn is_torn_as(&self, state: &BodyState) -> bool {
        let broken = self.corners().map_or(&[][..], |c| c.broken());
        let held = self.corners().map(|_| held_numbers(self.pins.iter().map(|g| &g.particles[..])));
        state.memory()[Section::Broken].iter().copied().eq(broken.iter().map(|&f| f64::from(f)))
            && state.memory()[Section::Held] == *held.unwrap_or_default()
    }
}

/// How much of a soft pin's stiffness each of its particles has: what was one when it was made shares it by mass.
fn pin_shares(whole: &BodyModel, pins: &[PinGroup], shape: &TornShape) -> Vec<Vec<f64>> {
    let (parent, mass) = (shape.corners.parent(), &shape.prototype.rest.mass);
    let of = |(made, now): (&PinGroup, &PinGroup)| {
        let first = |i: u32| {
            let mut at = i;
            while made.particles.binary_search(&at).is_err() && parent[at as usize] != at {
                at = parent[at as usize];
            }
            at
        };
        let firsts: Vec<u32> = now.particles.iter().map(|&i| first(i)).collect();
        let total = |of: u32| -> f64 {
            let same = firsts.iter().zip(&now.particles).filter(|(f, _)| **f == of);
            same.map(|(_, &i)| mass[i as usize]).sum()
        };
        let alone = |of: u32| firsts.iter().filter(|f| **f == of).count() == 1;
        let share = |(&f, &i): (&u32, &u32)| if alone(f) { 1.0 } else { mass[i as usize] / total(f) };
        firsts.iter().zip(&now.particles).map(share).collect()
    };
    whole.pins.iter().zip(pins).map(of).collect()
}

impl Model {
    /// The same bodies as a state of them says they are torn.
    pub(crate) fn torn_by(&self, state: &State, shapes: &mut TornShapes) -> Result<Model, StateError> {
        let mut model = self.clone();
        for (k, (body, state)) in self.bodies().iter().zip(state.bodies()).enumerate() {
            if !body.parts.is_torn_as(state) {
                let what = StateError::Damaged("it says of a body that it is torn where it cannot be");
                model.tear(k, body.parts.torn_by(state, shapes).ok_or(what)?);
            }
        }
        Ok(model)
    }

    /// The bodies as they were built and edited, with nothing torn.
    pub(crate) fn whole(&self) -> Model {
        let mut model = self.clone();
        for (k, body) in self.bodies().iter().enumerate() {
            if body.parts.corners().is_some() {
                model.tear(k, body.parts.whole().clone());
            }
        }
        model
    }
}
