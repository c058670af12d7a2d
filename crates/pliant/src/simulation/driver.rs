//! Controls in the hands of a host: every value is checked against the model.

use crate::controls::{Control, ControlError, Controls, Cost, Value};
use crate::model::{BodyId, ColliderId, Model};
use glam::{DAffine3, DVec3};

/// The controls as [`Simulation::step_with`](crate::Simulation::step_with) and [`Simulation::controls_mut`](crate::Simulation::controls_mut) hand them out: every value is
/// checked.
#[derive(Debug)]
pub struct Driver<'a> {
    pub(super) model: &'a Model,
    pub(super) controls: &'a mut Controls,
}

impl Driver<'_> {
    /// The values at present.
    pub fn controls(&self) -> &Controls {
        self.controls
    }

    /// What is simulated.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Changes a value; see [`Controls::set`].
    pub fn set(&mut self, control: Control, value: impl Into<Value>) -> Result<Cost, ControlError> {
        self.controls.set(self.model, control, value)
    }

    /// Holds a pin group of a body; see [`Controls::place_pins`].
    pub fn place_pins(
        &mut self,
        body: impl Into<BodyId>,
        group: usize,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        self.controls.place_pins(self.model, body, group, placement)
    }

    /// Leads the vertices of a collider; see [`Controls::deform_collider`].
    pub fn deform_collider(
        &mut self,
        collider: ColliderId,
        vertices: Option<&[DVec3]>,
    ) -> Result<Cost, ControlError> {
        self.controls.deform_collider(self.model, collider, vertices)
    }

    /// Leads a collider; see [`Controls::place_collider`].
    pub fn place_collider(
        &mut self,
        collider: ColliderId,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        self.controls.place_collider(self.model, collider, placement)
    }
}
