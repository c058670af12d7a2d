//! How far a hinge turns, and what turns it.

use std::f64::consts::PI;

/// A motor that turns a hinge: a speed it wants, and the torque it has for that.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motor {
    /// How fast it turns the second side about the axis, seen from the first, rad/s; 0 is a brake. A substep turns by one
    /// radian at most.
    pub speed: f64,
    /// The torque it does that with at most, N m; infinite for whatever it takes.
    pub torque: f64,
}

impl Motor {
    /// Whether these can be those of a motor, and if not, why and what to do.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        let Motor { speed, torque } = *self;
        if !speed.is_finite() {
            return Some((format!("its motor turns at {speed} rad/s"), "give a finite speed".into()));
        }
        let turns = torque >= 0.0;
        let help = "give a number of at least 0, or infinity for whatever it takes".into();
        (!turns).then(|| (format!("the torque of its motor is {torque} N m"), help))
    }
}

/// Whether these can be the least and the greatest angle of a hinge, and if not, why and what to do.
pub(super) fn limits_fault([least, most]: [f64; 2]) -> Option<(String, String)> {
    let ordered = least <= most && (-PI..=PI).contains(&least) && (-PI..=PI).contains(&most);
    let text = format!("it turns from {least} to {most} rad");
    let help = "give the least angle and the greatest, from -π to π; 0 is how its frames were given";
    (!ordered).then(|| (text, help.into()))
}
