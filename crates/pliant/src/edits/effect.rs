//! The second part of an edit: what happens to the state.

use super::{Edited, Removed, change};
use crate::couplings::CouplingMemory;
use crate::memory::Section;
use crate::model::{BodyModel, ColliderId, Coupling, CouplingId, Motion};
use crate::state::{BodyState, State};
use crate::tearing;
use glam::{DAffine3, DMat3, DVec3};
use std::ops::Range;

/// What an edit does to the state, once model and controls are edited. Bodies by their place in the model.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    None,
    /// A body comes last.
    Added(Box<BodyState>),
    Removed {
        place: usize,
        name: String,
        tracks: usize,
    },
    /// A body has other parts.
    Changed {
        place: usize,
        parts: BodyModel,
    },
    /// A pin group comes last; its particles are held where they are.
    Held {
        place: usize,
        group: usize,
        particles: Vec<u32>,
        motion: Motion,
    },
    /// A pin group goes, by its place, with its anchors; a torn body's state knows better which these are.
    Released {
        place: usize,
        group: usize,
        anchors: Range<usize>,
    },
    /// Velocities change: an impulse is shared by weights, of a body of so many times the mass it was built with.
    Pushed {
        place: usize,
        at: Vec<(u32, f64)>,
        impulse: DVec3,
        mass_ratio: f64,
        whole: BodyModel,
    },
    /// Facets break.
    Torn {
        place: usize,
        facets: Vec<u32>,
        whole: BodyModel,
    },
    Moved {
        place: usize,
        turn: DMat3,
        by: DVec3,
    },
    /// A collider comes last.
    ColliderAdded {
        id: ColliderId,
        at: DAffine3,
        vertices: Vec<DVec3>,
    },
    ColliderRemoved {
        place: usize,
    },
    /// A collider, and the vertices of its mesh, are somewhere else at once.
    ColliderChanged {
        place: usize,
        at: Option<DAffine3>,
        vertices: Option<Vec<DVec3>>,
    },
    /// A coupling comes last.
    CouplingAdded {
        id: CouplingId,
        coupling: Box<Coupling>,
    },
    CouplingRemoved {
        place: usize,
    },
}

impl Effect {
    /// Does to the state what model and controls have already taken up.
    pub fn act(&self, state: &mut State) -> Edited {
        if !matches!(self, Effect::None) {
            state.bodies.iter_mut().for_each(BodyState::wake);
        }
        match self {
            Effect::None => {}
            Effect::Added(body) => {
                state.bodies.push((**body).clone());
                return Edited::Body(body.id());
            }
            Effect::Removed { place, name, tracks } => {
                let (name, tracks) = (name.clone(), *tracks);
                return Edited::Removed(Box::new(Removed {
                    name,
                    state: state.bodies.remove(*place),
                    tracks,
                }));
            }
            Effect::Changed { place, parts } => change::act(&mut state.bodies[*place], parts),
            Effect::Held { place, group, particles, motion } => {
                let time = state.time;
                hold(&mut state.bodies[*place], particles, motion, time);
                return Edited::Group(*group);
            }
            Effect::Released { place, group, anchors } => {
                release(&mut state.bodies[*place], *group, anchors);
            }
            Effect::Pushed { place, at, impulse, mass_ratio, whole } => {
                let body = &mut state.bodies[*place];
                for &(i, w) in at {
                    let i = i as usize;
                    let mass = mass_ratio * tearing::mass_of(whole, body, i);
                    body.v.set(i, body.v.get(i) + *impulse * (w / mass));
                }
            }
            Effect::Torn { place, facets, whole } => {
                tearing::split(whole, &mut state.bodies[*place], facets);
            }
            Effect::ColliderAdded { id, at, vertices } => {
                state.colliders.push(*at);
                state.vertices.push(vertices.clone());
                return Edited::Collider(*id);
            }
            Effect::CouplingAdded { id, coupling } => {
                let memory = CouplingMemory::new(coupling, |body| state.body(body));
                state.couplings.push(memory);
                return Edited::Coupling(*id);
            }
            Effect::CouplingRemoved { place } => {
                state.couplings.remove(*place);
            }
            Effect::ColliderRemoved { place } => {
                state.colliders.remove(*place);
                state.vertices.remove(*place);
            }
            Effect::ColliderChanged { place, at, vertices } => {
                if let Some(at) = at {
                    state.colliders[*place] = *at;
                }
                if let Some(vertices) = vertices {
                    state.vertices[*place].clone_from(vertices);
                }
            }
            Effect::Moved { place, turn, by } => {
                let body = &mut state.bodies[*place];
                for i in 0..body.x.len() {
                    body.x.set(i, *turn * body.x.get(i) + *by);
                    body.v.set(i, *turn * body.v.get(i));
                }
                body.memory.turn(*turn);
            }
        }
        Edited::Done
    }
}

/// Particles are held where they are now.
fn hold(body: &mut BodyState, particles: &[u32], motion: &Motion, time: f64) {
    // Anchors are relative to the group's own motion, which goes on as it would have.
    let undo = motion.placement(time).inverse();
    let at = |&i: &u32| undo.transform_point3(body.x.get(i as usize)).to_array();
    let mut anchors = body.memory[Section::Anchors].to_vec();
    anchors.extend(particles.iter().flat_map(at));
    body.memory.replace(Section::Anchors, anchors);
    tearing::hold(body, particles);
}

/// Forgets where the particles of a group were held: its part of the anchors, or what tears have made of that.
fn release(body: &mut BodyState, group: usize, anchors: &Range<usize>) {
    let own = tearing::release(body, group).unwrap_or_else(|| anchors.clone());
    let mut anchors = body.memory[Section::Anchors].to_vec();
    anchors.drain(3 * own.start..3 * own.end);
    body.memory.replace(Section::Anchors, anchors);
}
