//! Fields of force that reach through the whole world: accelerations as functions of place and time.
//!
//! Each is bounded and smooth and has no memory, so a step stays a function of model, state and controls.

use crate::bytes::Digest;
use crate::noise::noise;
use glam::DVec3;

/// An acceleration of whatever is somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// Towards a point: −s 2ρ/(1 + ρ²) along the way from it, with ρ the distance over `radius`. Strongest, s, at
    /// the radius; nothing at the point itself; falls like one over the distance far away.
    Attractor {
        /// The point.
        center: DVec3,
        /// Largest acceleration, m/s²; less than 0 pushes away.
        strength: f64,
        /// Where it is strongest, m.
        radius: f64,
    },
    /// Around an axis, by the same law of the distance from it.
    Vortex {
        /// A point of the axis.
        center: DVec3,
        /// Its direction, of any length but 0; the turn is a right-handed one.
        axis: DVec3,
        /// Largest acceleration, m/s².
        strength: f64,
        /// Where it is strongest, m.
        radius: f64,
    },
    /// Eddies: the curl of a smooth noise, so that nothing gathers anywhere.
    Turbulence {
        /// Acceleration, m/s²: about as much is usual, eight times as much the bound.
        strength: f64,
        /// Size of the eddies, m.
        size: f64,
        /// How many pass a place in a second.
        rate: f64,
    },
    /// One acceleration everywhere in a box, which fades smoothly around it.
    Uniform {
        /// Smallest coordinates of the box.
        min: DVec3,
        /// Largest.
        max: DVec3,
        /// The acceleration, m/s².
        acceleration: DVec3,
        /// Over what distance from the box it fades, m.
        falloff: f64,
    },
    /// Out of a ball that flies through the world: s f(ρ) away from its centre, with ρ the distance over `radius` and
    /// f = ρ (1 − ρ²)² scaled to a largest value of 1, at ρ = 0.45; nothing beyond the radius.
    Ball {
        /// Where its centre stands until it starts.
        center: DVec3,
        /// How it flies from then on, m/s.
        velocity: DVec3,
        /// When it starts, s.
        start: f64,
        /// Its radius, m.
        radius: f64,
        /// Largest acceleration, m/s²; less than 0 draws in.
        strength: f64,
    },
}

/// Largest acceleration, m/s².
const MOST: f64 = 1e9;

/// The way noise drifts by in time: along no axis and no plane of its cells.
pub(crate) const DRIFT: DVec3 = DVec3::new(0.71, 0.43, -0.56);

impl Field {
    /// The acceleration at a place and time, m/s².
    pub fn acceleration(&self, x: impl Into<DVec3>, time: f64) -> DVec3 {
        let x = x.into();
        match *self {
            Field::Attractor { center, strength, radius } => -strength * rise((x - center) / radius),
            Field::Vortex { center, axis, strength, radius } => {
                let axis = axis / axis.length();
                let r = (x - center) / radius;
                strength * axis.cross(rise(r - axis * axis.dot(r)))
            }
            Field::Turbulence { strength, size, rate } => {
                let slope = noise(x / size + DRIFT * (rate * time)).1;
                let curl = DVec3::new(
                    slope.y_axis.z - slope.z_axis.y,
                    slope.z_axis.x - slope.x_axis.z,
                    slope.x_axis.y - slope.y_axis.x,
                );
                // Derivatives are within ±15/4: a component within ±15/2, the length below 13.
                0.6 * strength * curl
            }
            Field::Uniform { min, max, acceleration, falloff } => {
                let beyond = (min - x).max(x - max).max(DVec3::ZERO).length();
                let part =
                    if falloff > 0.0 { (1.0 - beyond / falloff).max(0.0) } else { f64::from(beyond == 0.0) };
                acceleration * (part * part * (3.0 - 2.0 * part))
            }
            Field::Ball { center, velocity, start, radius, strength } => {
                let r = (x - center - velocity * (time - start).max(0.0)) / radius;
                let inside = (1.0 - r.length_squared()).max(0.0);
                // One over the largest value of ρ (1 − ρ²)², at ρ = 1/√5.
                r * (strength * 3.493_856_214_843_422 * inside * inside)
            }
        }
    }

    /// The name as in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Field::Attractor { .. } => "attractor",
            Field::Vortex { .. } => "vortex",
            Field::Turbulence { .. } => "turbulence",
            Field::Uniform { .. } => "uniform",
            Field::Ball { .. } => "ball",
        }
    }

    /// What is wrong with it and what to do, if anything is.
    pub(crate) fn fault(&self) -> Option<(String, &'static str)> {
        let (places, strength, lengths) = match *self {
            Field::Attractor { center, strength, radius } => {
                ([center; 2], DVec3::X * strength, [radius, 1.0])
            }
            Field::Vortex { center, axis, strength, radius } => {
                ([center, axis], DVec3::X * strength, [radius, axis.length()])
            }
            Field::Turbulence { strength, size, rate } => {
                ([DVec3::X * rate; 2], DVec3::X * strength, [size, 1.0])
            }
            Field::Uniform { min, max, acceleration, falloff } => {
                ([min, max], acceleration, [1.0 + falloff, 1.0])
            }
            Field::Ball { center, velocity, start, radius, strength } => {
                ([center, velocity + start], DVec3::X * strength, [radius, 1.0])
            }
        };
        let name = self.name();
        let far = |v: DVec3| !(v.is_finite() && v.abs().max_element() <= 1e12);
        if places.into_iter().any(far) {
            return Some((
                format!("the {name} has numbers that are not finite, or beyond 1e12"),
                "give smaller ones",
            ));
        }
        if far(strength) || strength.abs().max_element() > MOST {
            return Some((format!("the {name} has a strength of {strength}"), "give one up to 1e9 m/s²"));
        }
        if lengths.into_iter().any(|l| !(1e-9..=1e12).contains(&l)) {
            let text = format!("the {name} has no size, or its axis no direction");
            return Some((text, "give lengths above 0, and an axis of any length but 0"));
        }
        if let Field::Uniform { min, max, falloff, .. } = *self
            && !(min.cmple(max).all() && falloff >= 0.0)
        {
            let text = format!("its box from {min} to {max} with a falloff of {falloff} is none");
            return Some((text, "give the smaller coordinates in `min`, and a falloff of at least 0"));
        }
        None
    }

    pub(crate) fn digest(&self, hash: &mut Digest) {
        hash.bytes(self.name().as_bytes());
        let (vectors, numbers) = match *self {
            Field::Attractor { center, strength, radius } => {
                ([center, DVec3::ZERO, DVec3::ZERO], [strength, radius])
            }
            Field::Vortex { center, axis, strength, radius } => {
                ([center, axis, DVec3::ZERO], [strength, radius])
            }
            Field::Turbulence { strength, size, rate } => {
                ([DVec3::X * rate, DVec3::ZERO, DVec3::ZERO], [strength, size])
            }
            Field::Uniform { min, max, acceleration, falloff } => ([min, max, acceleration], [falloff, 0.0]),
            Field::Ball { center, velocity, start, radius, strength } => {
                ([center, velocity, DVec3::X * start], [strength, radius])
            }
        };
        vectors.iter().flat_map(|v| v.to_array()).chain(numbers).for_each(|v| hash.number(v));
    }
}

/// 2ρ/(1 + ρ²) along r, for ρ = |r|.
fn rise(r: DVec3) -> DVec3 {
    2.0 * r / (1.0 + r.length_squared())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Field; 5] = [
        Field::Attractor { center: DVec3::Y, strength: 3.0, radius: 0.5 },
        Field::Vortex { center: DVec3::X, axis: DVec3::new(0.0, 2.0, 0.0), strength: 2.0, radius: 0.3 },
        Field::Turbulence { strength: 1.0, size: 0.7, rate: 2.0 },
        Field::Uniform { min: DVec3::ZERO, max: DVec3::ONE, acceleration: DVec3::X, falloff: 0.5 },
        Field::Ball { center: DVec3::ZERO, velocity: DVec3::X, start: 1.0, radius: 0.8, strength: 4.0 },
    ];

    #[test]
    fn fields_are_bounded_and_smooth() {
        let mut p = DVec3::new(-2.0, -1.5, 1.9);
        for k in 0..2000 {
            p += DVec3::new(0.002, 0.0017, -0.0019);
            let t = f64::from(k) * 0.01;
            for (field, bound) in FIELDS.iter().zip([3.0, 2.0, 8.0, 1.0, 4.0]) {
                let a = field.acceleration(p, t);
                assert!(a.length() <= bound * (1.0 + 1e-12), "{} {a}", field.name());
                let near = field.acceleration(p + DVec3::splat(1e-6), t + 1e-6);
                assert!((a - near).length() < 1e-3, "{} jumps at {p}", field.name());
            }
        }
    }

    #[test]
    fn they_act_as_described() {
        let [attractor, vortex, turbulence, uniform, ball] = FIELDS;
        assert!((attractor.acceleration(DVec3::new(0.0, 1.5, 0.0), 0.0) + 3.0 * DVec3::Y).length() < 1e-12);
        assert_eq!(attractor.acceleration(DVec3::Y, 0.0), DVec3::ZERO);
        let round = vortex.acceleration(DVec3::new(1.3, 7.0, 0.0), 0.0);
        assert!((round + 2.0 * DVec3::Z).length() < 1e-12, "{round}");
        assert_eq!(uniform.acceleration(DVec3::splat(0.5), 9.0), DVec3::X);
        assert_eq!(uniform.acceleration(DVec3::splat(2.0), 9.0), DVec3::ZERO);
        // Strongest at 1/√5 of the radius from where the ball has flown.
        let at = DVec3::new(2.0, 0.8 / 5.0_f64.sqrt(), 0.0);
        assert!((ball.acceleration(at, 3.0) - 4.0 * DVec3::Y).length() < 1e-12);
        assert_eq!(ball.acceleration(DVec3::Y, 0.0), DVec3::ZERO);
        // Without divergence.
        for p in [DVec3::new(0.3, 0.2, 0.9), DVec3::new(-4.4, 1.7, 2.2)] {
            let along = |e: DVec3| {
                (turbulence.acceleration(p + e * 1e-4, 1.0) - turbulence.acceleration(p - e * 1e-4, 1.0))
                    .dot(e)
                    / 2e-4
            };
            assert!(DVec3::AXES.into_iter().map(along).sum::<f64>().abs() < 1e-4);
        }
    }

    #[test]
    fn faults_are_found() {
        assert!(FIELDS.iter().all(|f| f.fault().is_none()));
        let bad = [
            Field::Attractor { center: DVec3::NAN, strength: 1.0, radius: 1.0 },
            Field::Attractor { center: DVec3::ZERO, strength: f64::INFINITY, radius: 1.0 },
            Field::Attractor { center: DVec3::ZERO, strength: 1.0, radius: 0.0 },
            Field::Vortex { center: DVec3::ZERO, axis: DVec3::ZERO, strength: 1.0, radius: 1.0 },
            Field::Turbulence { strength: 1.0, size: -1.0, rate: 1.0 },
            Field::Uniform { min: DVec3::ONE, max: DVec3::ZERO, acceleration: DVec3::X, falloff: 0.0 },
            Field::Uniform { min: DVec3::ZERO, max: DVec3::ONE, acceleration: DVec3::X, falloff: -0.5 },
            Field::Ball {
                center: DVec3::ZERO,
                velocity: DVec3::X,
                start: f64::NAN,
                radius: 1.0,
                strength: 1.0,
            },
            Field::Ball { center: DVec3::ZERO, velocity: DVec3::X, start: 0.0, radius: -1.0, strength: 1.0 },
        ];
        for field in bad {
            assert!(field.fault().is_some(), "{field:?}");
        }
    }
}
