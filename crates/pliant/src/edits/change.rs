//! A body becomes another: of other material, solver, goals, paint or rest shape, with the same particles where they are.

use super::{EditError, Editing, Effect};
use crate::body::Body;
use crate::builder;
use crate::memory::{Memory, Section};
use crate::model::{BodyId, BodyModel};
use crate::simulation::Simulation;
use crate::solvers::{Feature, Support, support};
use crate::state::BodyState;
use crate::tearing;

impl Editing<'_> {
    pub(super) fn change(&mut self, body: BodyId, to: &Body) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let was = self.model.bodies()[place].parts.whole().clone();
        let mut to = to.clone();
        // Its name, its pins and where they hold it stay what they are.
        to.name = self.model.bodies()[place].name.to_string();
        to.pins.clear();
        let made = builder::assemble_one(&to, self.model, Some(body), self.assembler)?.parts;
        self.check_change(place, &was, &made)?;
        let mut parts = made.pinned(was.pins.to_vec(), was.next_pin);
        if parts.shown.same(&was.shown) {
            // Whoever looks at it need not look again.
            parts.shown = was.shown.clone();
        }
        let (mut model, mut controls) = (self.model.clone(), self.controls.clone());
        model.replace(place, parts.clone());
        controls.bodies[place].values = to.live_values();
        builder::check_world(&model, &model.params, &controls)?;
        (*self.model, *self.controls) = (model, controls);
        self.apply_keyframes();
        Ok(Effect::Changed { place, parts })
    }

    fn check_change(&self, place: usize, was: &BodyModel, made: &BodyModel) -> Result<(), EditError> {
        let (old, new) = (was.particle_count(), made.particle_count());
        if old != new {
            let text = format!("it has {old} particles and would have {new}");
            let help = "remove it and add the other body".into();
            return Err(self.refuse(place, text, help));
        }
        let solver = made.solver();
        let unsupported = |feature: Feature| match support(solver, feature) {
            Support::Yes => None,
            Support::No(instead) => {
                Some((format!("the {} solver does not support {}", solver.name(), feature.name()), instead))
            }
        };
        if was.pins.iter().any(|g| g.stiffness.is_some())
            && let Some((text, instead)) = unsupported(Feature::SoftPins)
        {
            return Err(self.refuse(place, text, instead.into()));
        }
        // What is torn is told by facets of its elements, whenever the edit comes.
        let tears = support(was.solver(), Feature::Tearing) == Support::Yes
            && tearing::obstacle(was.prototype()).is_none();
        let same = was.topology().faces == made.topology().faces
            && was.topology().tetrahedra == made.topology().tetrahedra;
        if tears && !(same && tearing::obstacle(made.prototype()).is_none()) {
            let text = "it may have torn, and would have other elements or a solver that cannot tear";
            let help = "keep its elements and a solver of constraints, or remove it and add the other body";
            return Err(self.refuse(place, text.into(), help.into()));
        }
        Ok(())
    }
}

/// Gives the state of a body the memory that its new parts have; what both have alike is kept.
pub(super) fn act(body: &mut BodyState, parts: &BodyModel) {
    let mut memory = Memory::new(parts, &body.x);
    for section in Section::ALL {
        let kept = match section {
            Section::Anchors | Section::Broken | Section::Held => true,
            Section::Rotations | Section::Plastic => memory[section].len() == body.memory[section].len(),
            // Constraints of another kind remember other things; the axes of a solid are where its particles are.
            Section::Batches | Section::LostEnergy | Section::Orientation | Section::Sleep => false,
        };
        if kept {
            memory.replace(section, body.memory[section].to_vec());
        }
    }
    body.memory = memory;
}

impl Simulation {
    /// Makes a body what another description says: its material, solver, goals, painted channels, rest shape and live
    /// values. Particles stay where they are and keep their velocities, so there must be as many; name and pins stay
    /// too. Only what differs is prepared anew.
    pub fn change(&mut self, body: impl Into<BodyId>, to: Body) -> Result<(), EditError> {
        self.edit(&super::Edit::Change(body.into(), Box::new(to))).map(|_| ())
    }
}
