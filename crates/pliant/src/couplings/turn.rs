//! How far a hinge turns in a substep: limits and a motor, as a torque that depends on the angle it ends at.
//!
//! A motor turns with all its torque until the angle its speed leads to, and holds there with what that takes; a limit holds
//! with whatever it takes. So the torque falls from angle to angle in steps, and as the response to it grows, there is one angle at which they
//! meet. Which step that is on follows from where the hinge would end without it, and is found anew in every round: Newton's
//! method for a function with corners.

use super::tie::Tie;
use glam::DMat3;
use std::f64::consts::{PI, TAU};

/// How fast a hinge comes back that begins beyond its limits, rad/s.
const RETURN: f64 = 1.0;
/// How far a motor turns in a substep at most, rad.
const FARTHEST: f64 = 1.0;

/// What is done about the angle of a hinge in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grip {
    /// It is held at an angle.
    Held(f64),
    /// A torque, which may be none, turns it.
    Turned(f64),
}

/// The angle of a hinge in a substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn {
    /// As the substep begins.
    pub start: f64,
    limits: [f64; 2],
    /// Where the motor leads, and its greatest torque.
    motor: Option<(f64, f64)>,
    pub grip: Grip,
    /// The angle that offsets of the row are told at.
    pub at: f64,
}

impl Turn {
    /// Of a hinge whose sides are turned by `angle` as a substep of `h` seconds begins.
    pub fn new(tie: &Tie, angle: f64, h: f64) -> Turn {
        let [least, most] = tie.limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let middle = if tie.limits.is_some() { least.midpoint(most) } else { angle };
        let start = near(angle, middle);
        let limits = [least.min(start + RETURN * h), most.max(start - RETURN * h)];
        let lead = |speed: f64| start + (speed * h).clamp(-FARTHEST, FARTHEST);
        let motor = tie.motor.map(|m| (lead(m.speed).clamp(limits[0], limits[1]), m.torque));
        Turn { start, limits, motor, grip: Grip::Turned(0.0), at: start }
    }

    /// What is to be done where it would end at an angle without the torque, and ends `answer` rad further per N m.
    pub fn grip(&self, free: f64, answer: f64) -> Grip {
        let [least, most] = self.limits;
        let (lead, torque) = self.motor.unwrap_or((free, 0.0));
        // Nothing is infinite but what holds at any price.
        let displacement = if torque > 0.0 { answer * torque } else { 0.0 };
        let (back, forth) = (free - displacement, free + displacement);
        match self.motor.is_some() {
            _ if forth < least => Grip::Held(least),
            _ if back > most => Grip::Held(most),
            true if forth < lead => Grip::Turned(torque),
            true if back > lead => Grip::Turned(-torque),
            true => Grip::Held(lead),
            false => Grip::Turned(0.0),
        }
    }
}

/// How the second of two frames is turned about the last axis of the first.
pub(super) fn angle([a, b]: [DMat3; 2]) -> f64 {
    let turn = a.transpose() * b;
    (turn.x_axis.y - turn.y_axis.x).atan2(turn.x_axis.x + turn.y_axis.y)
}

/// The same angle within half a turn of another.
pub(super) fn near(angle: f64, other: f64) -> f64 {
    angle - TAU * ((angle - other + PI) / TAU).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying all torques: what is gripped is where response and torque meet.
    #[test]
    fn torque_and_angle_meet() {
        for (motor, speed) in [(None, 0.0), (Some(0.7), 1.0), (Some(0.0), 0.5), (Some(f64::INFINITY), -2.0)] {
            let limits = [-0.4, 0.6];
            let lead: f64 = 0.1 * speed;
            let turn = Turn {
                start: 0.0,
                limits,
                motor: motor.map(|torque| (lead.clamp(-0.4, 0.6), torque)),
                grip: Grip::Turned(0.0),
                at: 0.0,
            };
            for k in -300..=300 {
                let (free, answer) = (f64::from(k) * 0.01, 0.3);
                let (end, torque) = match turn.grip(free, answer) {
                    Grip::Held(at) => (at, (at - free) / answer),
                    Grip::Turned(torque) => (free + answer * torque, torque),
                };
                let strength = motor.unwrap_or(0.0);
                assert!((-0.4 - 1e-12..=0.6 + 1e-12).contains(&end), "{motor:?} {free}: {end}");
                // Beyond the motor's strength only limits hold, and only inward.
                if torque > strength + 1e-12 {
                    assert!((end + 0.4).abs() < 1e-12, "{motor:?} {free}: {end} by {torque}");
                }
                if torque < -strength - 1e-12 {
                    assert!((end - 0.6).abs() < 1e-12, "{motor:?} {free}: {end} by {torque}");
                }
                // A motor that does not reach where it leads turns with all it has.
                if motor.is_some() && (end - lead.clamp(-0.4, 0.6)).abs() > 1e-12 {
                    let sign = (lead - end).signum();
                    assert!(torque * sign >= strength - 1e-12, "{motor:?} {free}: {end} by {torque}");
                }
            }
        }
    }

    #[test]
    fn angles_are_told_near_others() {
        for k in -50..50 {
            let angle = f64::from(k) * 0.37;
            let a = DMat3::from_rotation_x(0.3) * DMat3::from_rotation_z(0.2);
            let b = a * DMat3::from_rotation_z(angle);
            let found = near(super::angle([a, b]), angle);
            assert!((found - angle).abs() < 1e-9, "{found} for {angle}");
        }
    }
}
