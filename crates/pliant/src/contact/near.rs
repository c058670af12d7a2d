//! Which bodies may touch each other in a step: they move together then, as an island.
//!
//! Boxes around where each can get to are sorted along the longest axis of all and swept. They are generous, and only a question
//! of who waits for whom: what touches is looked for in every substep (`pairs.rs`).

use crate::controls::Controls;
use crate::model::{Model, ModelCoupling};
use crate::state::State;
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, NOWHERE, join, overlap};

/// What is added to a box, relative to the size of its body: room for what forces and contacts do within a step.
const MARGIN: f64 = 0.02;

/// Pairs of bodies that come near each other.
#[derive(Default)]
pub(crate) struct NearPairs {
    boxes: Vec<Bounds>,
    order: Vec<u32>,
    /// Bodies that couplings hold together, which do not touch.
    coupled: Vec<(u32, u32)>,
    pairs: Vec<(u32, u32)>,
}

impl NearPairs {
    /// The pairs, by places in the model, in ascending order; what touches itself is a pair with itself.
    pub fn list(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Finds the pairs for the step to come.
    pub fn find(&mut self, model: &Model, state: &State, controls: &Controls) {
        self.pairs.clear();
        if !model.params.body_contact {
            return;
        }
        let itself = model.bodies().iter().enumerate().filter(|(_, b)| b.parts.touches_itself());
        self.pairs.extend(itself.map(|(k, _)| (k as u32, k as u32)));
        if model.bodies().len() < 2 {
            return;
        }
        self.boxes.clear();
        self.boxes.extend((0..model.bodies().len()).map(|k| reach_of(model, state, controls, k)));
        self.find_coupled(model, state, controls);
        let NearPairs { boxes, order, coupled, pairs } = self;
        let all = boxes.iter().filter(|b| b.0.is_finite()).fold(NOWHERE, |a, b| join(a, *b));
        let axis = (all.1 - all.0).max_position();
        order.clear();
        order.extend((0..boxes.len() as u32).filter(|k| boxes[*k as usize].0.is_finite()));
        let low = |k: u32| boxes[k as usize].0[axis];
        order.sort_unstable_by(|a, b| low(*a).total_cmp(&low(*b)).then(a.cmp(b)));
        for (n, &a) in order.iter().enumerate() {
            let end = boxes[a as usize].1[axis];
            for &b in order[n + 1..].iter().take_while(|b| low(**b) <= end) {
                let pair = (a.min(b), a.max(b));
                if overlap(boxes[a as usize], boxes[b as usize])
                    && may_touch(model, pair)
                    && coupled.binary_search(&pair).is_err()
                {
                    pairs.push(pair);
                }
            }
        }
        pairs.sort_unstable();
    }

    fn find_coupled(&mut self, model: &Model, state: &State, controls: &Controls) {
        self.coupled.clear();
        // What is broken or open holds nothing, and keeps nobody from touching.
        let live = state.couplings.iter().zip(&controls.couplings);
        let holds = live.map(|(memory, live)| !memory.broken && live.values.stiffness > 0.0);
        let pair = |(c, _): (&ModelCoupling, bool)| {
            let mut places = c.coupling.bodies().filter_map(|body| model.index(body));
            let (a, b) = (places.next()? as u32, places.next()? as u32);
            Some((a.min(b), a.max(b)))
        };
        self.coupled.extend(model.couplings().iter().zip(holds).filter(|(_, holds)| *holds).filter_map(pair));
        self.coupled.sort_unstable();
        self.coupled.dedup();
    }
}

/// Whether two bodies touch if they meet: their groups allow it, and one of them moves by forces.
fn may_touch(model: &Model, (a, b): (u32, u32)) -> bool {
    let [a, b] = [a, b].map(|k| &model.bodies()[k as usize].parts);
    a.filter.allows(b.filter) && (a.is_moved_by_forces() || b.is_moved_by_forces())
}

/// The box around wherever a body can get to in a step; nowhere for one that touches no other.
fn reach_of(model: &Model, state: &State, controls: &Controls, k: usize) -> Bounds {
    let parts = &model.bodies()[k].parts;
    if parts.filter == crate::model::ContactFilter::NONE {
        return (DVec3::INFINITY, DVec3::NEG_INFINITY);
    }
    let (body, step) = (&state.bodies[k], model.params.step);
    let mut bounds = NOWHERE;
    for (x, v) in body.x.iter().zip(body.v.iter()) {
        let to = x + v * step;
        bounds = (bounds.0.min(x.min(to)), bounds.1.max(x.max(to)));
    }
    let live = controls.live(k);
    let fall = live.pull().length() * step * step;
    let shape = parts.collision();
    let margin = DVec3::splat(shape.overhang + fall + MARGIN * shape.size);
    (bounds.0 - margin, bounds.1 + margin)
}
