//! Where a solid is and how it moves, and how its four particles tell that.
//!
//! The principal axes are memory of the body, so that it stays rigid to the last digit. All else is in the particles: the
//! centre is their mean, V and L are their momenta, to which whatever changes velocities of particles is exactly the
//! impulse and the torque that it is.

use crate::memory::Section;
use crate::model::{CORNERS, RigidRest, along_axes, corners};
use crate::points::Points;
use crate::state::BodyState;
use glam::{DMat3, DQuat, DVec3};

/// Where a solid is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    /// Its centre of mass.
    pub center: DVec3,
    /// From its principal axes to the world's.
    pub turn: DQuat,
    /// The same as a matrix.
    pub axes: DMat3,
}

impl Pose {
    pub fn new(center: DVec3, turn: DQuat) -> Pose {
        Pose { center, turn, axes: DMat3::from_quat(turn) }
    }

    /// That of particles at `x`, with the axes that the memory tells.
    pub fn told(x: &Points, turn: DQuat) -> Pose {
        let [a, b, c, d] = std::array::from_fn(|i| x.get(i));
        Pose::new(((a + b) + (c + d)) * 0.25, turn)
    }

    /// That of a state.
    pub fn of(_: &RigidRest, state: &BodyState) -> Pose {
        Pose::told(&state.x, state.memory.turning())
    }

    /// Best fitted to particles in these places.
    pub fn fitted(rest: &RigidRest, at: [DVec3; 4], before: DQuat) -> Pose {
        let [a, b, c, d] = at;
        Pose::new(((a + b) + (c + d)) * 0.25, rest.turn_of(at, before))
    }

    /// Where a point is that is told along the principal axes from the centre.
    pub fn place(&self, own: DVec3) -> DVec3 {
        self.center + self.axes * own
    }

    /// The vectors to the particles along the axes.
    fn reach(&self, rest: &RigidRest) -> [DVec3; 3] {
        [self.axes.x_axis * rest.reach.x, self.axes.y_axis * rest.reach.y, self.axes.z_axis * rest.reach.z]
    }

    /// Where its particles are.
    pub fn particles(&self, rest: &RigidRest) -> [DVec3; 4] {
        corners(self.center, self.reach(rest))
    }

    /// Where particle `i` is, from the centre.
    pub fn arm(&self, rest: &RigidRest, i: usize) -> DVec3 {
        self.axes * (rest.reach * CORNERS[i])
    }

    /// The inverse of the inertia tensor, times a vector.
    pub fn per_inertia(&self, rest: &RigidRest, v: DVec3) -> DVec3 {
        self.axes * ((self.axes.transpose() * v) / rest.inertia)
    }

    /// The inverse of the inertia tensor.
    pub fn inverse_inertia(&self, rest: &RigidRest) -> DMat3 {
        self.axes * DMat3::from_diagonal(rest.inertia.recip()) * self.axes.transpose()
    }
}

/// How a solid moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Momentum {
    /// The velocity of its centre.
    pub velocity: DVec3,
    /// Angular momentum about its centre.
    pub angular_momentum: DVec3,
}

impl Momentum {
    /// Of particles with these velocities.
    pub fn told(rest: &RigidRest, pose: &Pose, v: &Points) -> Momentum {
        Momentum::of(rest, pose.reach(rest), std::array::from_fn(|i| v.get(i)))
    }

    fn of(rest: &RigidRest, [x, y, z]: [DVec3; 3], of: [DVec3; 4]) -> Momentum {
        let [u, v, w] = along_axes(of);
        let velocity = ((of[0] + of[1]) + (of[2] + of[3])) * 0.25;
        Momentum { velocity, angular_momentum: (x.cross(u) + y.cross(v) + z.cross(w)) * (0.25 * rest.mass) }
    }

    /// The angular velocity.
    pub fn spin(&self, rest: &RigidRest, pose: &Pose) -> DVec3 {
        pose.per_inertia(rest, self.angular_momentum)
    }

    /// The velocities of its particles.
    pub fn particles(&self, rest: &RigidRest, pose: &Pose) -> [DVec3; 4] {
        let reach = pose.reach(rest);
        let spinning = |angular_momentum: DVec3| {
            let spin = pose.per_inertia(rest, angular_momentum);
            reach.map(|a| spin.cross(a))
        };
        let v = corners(self.velocity, spinning(self.angular_momentum));
        // Told by these, the angular momentum differs in its last digit, and always the same way: in an hour that
        // would be seen.
        let left = self.angular_momentum - Momentum::of(rest, reach, v).angular_momentum;
        let [a, b, c, d] = corners(DVec3::ZERO, spinning(left));
        [v[0] + a, v[1] + b, v[2] + c, v[3] + d]
    }

    /// ½ m V² + ½ ω·L, seen from what moves with `carrier_velocity`.
    pub fn energy(&self, rest: &RigidRest, pose: &Pose, carrier_velocity: DVec3) -> f64 {
        let along = 0.5 * rest.mass * (self.velocity - carrier_velocity).length_squared();
        along + 0.5 * self.angular_momentum.dot(self.spin(rest, pose))
    }
}

/// Writes a pose and how it moves into a state.
pub(crate) fn write(rest: &RigidRest, pose: &Pose, momentum: &Momentum, state: &mut BodyState) {
    let (x, v) = (pose.particles(rest), momentum.particles(rest, pose));
    for i in 0..4 {
        state.x.set(i, x[i]);
        state.v.set(i, v[i]);
    }
    state.memory[Section::Orientation].copy_from_slice(&pose.turn.to_array());
}
