//! The live values of one coupling.

use crate::model::{Coupling, CouplingId, Motor};

/// The live values of one coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingControls {
    /// How stiffly it holds, N/m; infinite for exactly, 0 for not at all.
    pub stiffness: f64,
    /// How fast the motor of a hinge turns it, rad/s.
    pub motor_speed: f64,
    /// The torque a motor turns with at most, N m.
    pub motor_torque: f64,
}

/// What may change of a coupling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CouplingEntry {
    pub id: CouplingId,
    pub values: CouplingControls,
}

impl CouplingEntry {
    /// Of a coupling as it was built.
    pub fn new(id: CouplingId, coupling: &Coupling) -> CouplingEntry {
        let Motor { speed, torque } = coupling.motor.unwrap_or(Motor { speed: 0.0, torque: 0.0 });
        let stiffness = coupling.stiffness.unwrap_or(f64::INFINITY);
        CouplingEntry { id, values: CouplingControls { stiffness, motor_speed: speed, motor_torque: torque } }
    }
}
