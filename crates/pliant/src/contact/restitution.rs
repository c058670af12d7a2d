//! Restitution: the velocity a bounce gives back.

use super::Contact;
use glam::DVec3;

/// The velocity after contact, seen from what is touched, of a particle that arrived with `arriving` and leaves the position
/// solve with `leaving`. Restitution e returns e times the arriving normal speed; friction acts on
/// that part of the impulse too. Arrivals slower than `resting` do not bounce: gravity alone brings a
/// resting particle h·g of them in each step, and bouncing those would make it jitter.
pub fn bounce(contact: &Contact, arriving: DVec3, leaving: DVec3, resting: f64) -> DVec3 {
    let speed = -contact.normal.dot(arriving);
    let back = contact.restitution * speed;
    if speed <= resting || back <= 0.0 {
        return leaving;
    }
    let missing = back - contact.normal.dot(leaving);
    if missing <= 0.0 {
        return leaving;
    }
    let slide = leaving - contact.normal * contact.normal.dot(leaving);
    let length = slide.length();
    let held = contact.friction * missing;
    let slide = if length <= held { DVec3::ZERO } else { slide * (1.0 - held / length) };
    contact.normal * back + slide
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Endpoint;

    #[test]
    fn returns_the_stated_part_of_the_normal_speed() {
        let contact = Contact {
            sides: [Endpoint::particle(0, 0), Endpoint::FIXED],
            normal: DVec3::Y,
            gap: -0.1,
            offset: 0.0,
            friction: 0.0,
            restitution: 0.5,
            id: (0, 0),
            force: DVec3::ZERO,
            lowest: 0.0,
            renewed: false,
        };
        let v = bounce(&contact, DVec3::new(1.0, -4.0, 0.0), DVec3::new(1.0, -0.5, 0.0), 0.3);
        assert_eq!(v, DVec3::new(1.0, 2.0, 0.0));
        let slow = bounce(&contact, DVec3::new(1.0, -0.2, 0.0), DVec3::X, 0.3);
        assert_eq!(slow, DVec3::X);
        // With friction the larger impulse brakes the slide more.
        let rough = Contact { friction: 0.1, ..contact };
        let v = bounce(&rough, DVec3::new(1.0, -4.0, 0.0), DVec3::new(1.0, 0.0, 0.0), 0.3);
        assert!((v - DVec3::new(0.8, 2.0, 0.0)).length() < 1e-15);
    }
}
