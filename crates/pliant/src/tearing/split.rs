//! What a tear does to the state of a body: particles that come apart are where the one they were was, as fast as it was.

use super::corners::Corners;
use super::tear::{broken, held_numbers};
use crate::memory::Section;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;

/// Breaks facets of a body, in this order; those that are broken already stay so. Tells whether any broke.
pub(crate) fn split(whole: &BodyModel, state: &mut BodyState, facets: &[u32]) -> bool {
    let (Some(all), Some(before)) = (whole.prototype.facets(), broken(state)) else { return false };
    let was_whole = before.is_empty();
    let Some(mut corners) = Corners::replay(all, before) else { return false };
    let count = corners.origin().len();
    let breaks = |f: &&u32| corners.break_facet(all, **f as usize);
    if facets.iter().filter(breaks).count() == 0 {
        return false;
    }
    let parents = &corners.parent()[count..];
    append(&mut state.x, parents);
    append(&mut state.v, parents);
    let numbers = corners.broken().iter().map(|&f| f64::from(f)).collect();
    state.memory.replace(Section::Broken, numbers);
    if was_whole {
        state.memory.replace(Section::Held, held_numbers(whole.pins.iter().map(|g| &g.particles[..])));
    }
    hold_copies(state, count, parents);
    true
}

/// New particles where those they came apart from are.
fn append(points: &mut Points, parents: &[u32]) {
    for &parent in parents {
        points.push(points.get(parent as usize));
    }
}

/// What comes apart from a held particle is held in the same place.
fn hold_copies(state: &mut BodyState, first: usize, parents: &[u32]) {
    let groups = held_groups(state);
    let anchors = state.memory[Section::Anchors].to_vec();
    let (mut at, mut places, mut lists) = (0, Vec::with_capacity(anchors.len()), Vec::new());
    for group in groups {
        let own = &anchors[3 * at..3 * (at + group.len())];
        at += group.len();
        let mut held: Vec<(u32, [f64; 3])> =
            group.iter().copied().zip(own.as_chunks::<3>().0.iter().copied()).collect();
        for (&parent, new) in parents.iter().zip(first as u32..) {
            if let Some(&(_, place)) = held.iter().find(|(i, _)| *i == parent) {
                held.push((new, place));
            }
        }
        places.extend(held.iter().flat_map(|(_, place)| *place));
        lists.push(held.into_iter().map(|(i, _)| i).collect::<Vec<u32>>());
    }
    state.memory.replace(Section::Anchors, places);
    state.memory.replace(Section::Held, held_numbers(lists.iter().map(|l| &l[..])));
}

/// The pin groups of a torn body by its state.
pub(crate) fn held_groups(state: &BodyState) -> Vec<Vec<u32>> {
    let mut rest = &state.memory[Section::Held];
    let mut groups = Vec::new();
    while let Some((count, more)) = rest.split_first() {
        let (own, more) = more.split_at((*count as usize).min(more.len()));
        groups.push(own.iter().map(|&i| i as u32).collect());
        rest = more;
    }
    groups
}

/// Takes up a pin group that a torn body gets.
pub(crate) fn hold(state: &mut BodyState, particles: &[u32]) {
    if !state.memory[Section::Broken].is_empty() {
        let mut groups = held_groups(state);
        groups.push(particles.to_vec());
        state.memory.replace(Section::Held, held_numbers(groups.iter().map(|g| &g[..])));
    }
}

/// Forgets the pin group of this place of a torn body; tells which of all anchors are its own.
pub(crate) fn release(state: &mut BodyState, place: usize) -> Option<std::ops::Range<usize>> {
    if state.memory[Section::Broken].is_empty() {
        return None;
    }
    let mut groups = held_groups(state);
    let begin: usize = groups[..place].iter().map(Vec::len).sum();
    let own = groups.remove(place);
    state.memory.replace(Section::Held, held_numbers(groups.iter().map(|g| &g[..])));
    Some(begin..begin + own.len())
}

/// The mass of a particle of a body as its state says it is torn; of the body as built.
pub(crate) fn mass_of(whole: &BodyModel, state: &BodyState, particle: usize) -> f64 {
    let rest = &whole.rest().mass;
    let torn = whole.prototype.facets().zip(broken(state)).filter(|(_, b)| !b.is_empty());
    let corners = torn.and_then(|(facets, broken)| Corners::replay(facets, broken).map(|c| (facets, c)));
    match corners {
        Some((facets, corners)) => super::prototype::mass_of(rest, facets, &corners, particle),
        None => rest.get(particle).copied().unwrap_or(f64::INFINITY),
    }
}
