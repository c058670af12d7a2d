//! One point in contact that moves by what it is pushed with: the force in its friction cone that is right for it alone.

use glam::{DMat3, DVec3};

/// A point that touches, with how it moves by forces there. Forces may as well be impulses, and movements velocities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointContact {
    normal: DVec3,
    friction: f64,
    /// From forces to movements, and back.
    response: DMat3,
    stiffness: DMat3,
    /// How far a force along the plane moves it at most, about.
    sliding: f64,
}

impl PointContact {
    /// `response` has no direction in which it does not move.
    pub fn new(normal: DVec3, friction: f64, response: DMat3) -> PointContact {
        let trace = response.x_axis.x + response.y_axis.y + response.z_axis.z;
        PointContact { normal, friction, response, stiffness: response.inverse(), sliding: trace }
    }

    /// How it moves by a force.
    pub fn moves(&self, force: DVec3) -> DVec3 {
        self.response * force
    }

    /// The force in place of `force`, with which it is `off` from where it is to be: nothing that separates by itself; what holds
    /// it there, if that is in the cone; else what slides, as far as Coulomb lets it, against the direction it slides in.
    pub fn next(&self, force: DVec3, off: DVec3) -> DVec3 {
        let n = self.normal;
        let holds = force - self.stiffness * off;
        let push = n.dot(holds);
        let along = holds - n * push;
        if push > 0.0 && along.length() <= self.friction * push {
            return holds;
        }
        let free = off - self.response * force;
        let missing = -n.dot(free);
        if missing <= 0.0 {
            return DVec3::ZERO;
        }
        let slid = off - n * n.dot(off);
        let against = (force - n * n.dot(force) - slid / self.sliding).try_normalize().unwrap_or(DVec3::ZERO);
        let direction = n + against * self.friction;
        let by = n.dot(self.response * direction);
        if by > 0.0 {
            return direction * (missing / by);
        }
        // Friction would press it in: none, then.
        n * (missing / n.dot(self.response * n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that is heavy along x and light along z, and is coupled.
    fn response() -> DMat3 {
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
        turn * DMat3::from_diagonal(DVec3::new(0.5, 1.0, 2.5)) * turn.transpose()
    }

    fn solve(contact: &PointContact, free: DVec3) -> (DVec3, DVec3) {
        let mut force = DVec3::ZERO;
        for _ in 0..200 {
            force = contact.next(force, free + contact.moves(force));
        }
        (force, free + contact.moves(force))
    }

    #[test]
    fn it_separates_holds_or_slides_against_its_way() {
        let n = DVec3::new(0.36, 0.48, 0.8);
        for k in 0..300 {
            let value = |rate: f64| (rate * f64::from(k)).sin();
            let free = DVec3::new(value(1.0), value(0.7), value(0.31));
            for friction in [0.0, 0.3, 1.0] {
                let contact = PointContact::new(n, friction, response());
                let (force, off) = solve(&contact, free);
                let (push, gap) = (n.dot(force), n.dot(off));
                assert!(push >= 0.0 && gap > -1e-12 && (push * gap).abs() < 1e-12);
                let (along, slid) = (force - n * push, off - n * gap);
                assert!(along.length() <= friction * push + 1e-12);
                if slid.length() > 1e-9 && push > 0.0 {
                    // All of the friction there is, straight against the movement.
                    let wanted = slid * (-friction * push / slid.length());
                    assert!((along - wanted).length() < 1e-9, "{along} instead of {wanted}");
                }
            }
        }
    }
}
