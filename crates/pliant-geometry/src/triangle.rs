//! One triangle: its normal, the point of it nearest to another, and where a ray meets it.

use crate::box_tree::Bounds;
use glam::DVec3;

/// The normal of a triangle, of length one; zero if it has no area. It looks to where the corners go round against the
/// clock.
#[inline]
pub fn unit_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// The mean of the corners of a triangle by weights, whose sum is one.
#[inline]
pub fn weighted([a, b, c]: [DVec3; 3], weights: [f64; 3]) -> DVec3 {
    a * weights[0] + b * weights[1] + c * weights[2]
}

/// Weights of the corners that make the point of a triangle nearest to `p` (Ericson 2005, "Real-time collision
/// detection", 5.1.5).
pub fn nearest_on_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let dots = |q: DVec3| (ab.dot(p - q), ac.dot(p - q));
    let ((d1, d2), (d3, d4), (d5, d6)) = (dots(a), dots(b), dots(c));
    let (in_a, in_b, in_c) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let part = |above: f64, below: f64| if below > 0.0 { (above / below).clamp(0.0, 1.0) } else { 0.0 };
    if d1 <= 0.0 && d2 <= 0.0 {
        [1.0, 0.0, 0.0]
    } else if d3 >= 0.0 && d4 <= d3 {
        [0.0, 1.0, 0.0]
    } else if d6 >= 0.0 && d5 <= d6 {
        [0.0, 0.0, 1.0]
    } else if in_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = part(d1, d1 - d3);
        [1.0 - t, t, 0.0]
    } else if in_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = part(d2, d2 - d6);
        [1.0 - t, 0.0, t]
    } else if in_a <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = part(d4 - d3, d4 - d3 + d5 - d6);
        [0.0, 1.0 - t, t]
    } else {
        let whole = in_a + in_b + in_c;
        let (v, w) = (part(in_b, whole), part(in_c, whole));
        [(1.0 - v - w).max(0.0), v, w]
    }
}

/// Of the largest coordinate a box has, seen from the ray's origin, how much it is widened: more than what rounding does
/// to the corners of triangles in it, so that no box hides a triangle that is met.
const WIDER: f64 = 4e-15;

/// A half-line, prepared for meeting many triangles and boxes.
///
/// The test is that of Woop, Benthin and Wald (2013), "Watertight ray/triangle intersection": along an edge that two
/// triangles share both compute the same numbers, so that no ray slips through between them.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    origin: DVec3,
    direction: DVec3,
    inverse: DVec3,
    /// The axis of the longest component comes last; the others are in the order that keeps triangles' turns.
    axes: [usize; 3],
    shear: DVec3,
}

impl Ray {
    /// From `origin` on in a direction of any length; `None` if that is zero, or anything is not finite.
    pub fn new(origin: impl Into<DVec3>, direction: impl Into<DVec3>) -> Option<Ray> {
        let (origin, direction) = (origin.into(), direction.into());
        // Scaled first: squares of very long and very short directions are no numbers.
        let longest = direction.abs().max_element();
        let direction = (direction / longest).try_normalize()?;
        if !(origin.is_finite() && longest.is_finite()) {
            return None;
        }
        let z = direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            (x, y) = (y, x);
        }
        let shear = DVec3::new(direction[x] / direction[z], direction[y] / direction[z], 1.0 / direction[z]);
        Some(Ray { origin, direction, inverse: direction.recip(), axes: [x, y, z], shear })
    }

    /// Its direction, of length one.
    pub fn direction(&self) -> DVec3 {
        self.direction
    }

    /// The point at a distance.
    pub fn at(&self, distance: f64) -> DVec3 {
        self.origin + distance * self.direction
    }

    /// Where it enters a box, or a little before: zero if it begins inside, infinite if it passes by.
    #[inline]
    pub fn enters(&self, (lo, hi): Bounds) -> f64 {
        let (lo, hi) = (lo - self.origin, hi - self.origin);
        let wider = WIDER * lo.abs().max(hi.abs()).max_element();
        let (mut begin, mut end) = (0.0_f64, f64::INFINITY);
        for k in 0..3 {
            let (lo, hi) = (lo[k] - wider, hi[k] + wider);
            if self.inverse[k].is_infinite() {
                if lo > 0.0 || hi < 0.0 {
                    return f64::INFINITY;
                }
                continue;
            }
            let (a, b) = (lo * self.inverse[k], hi * self.inverse[k]);
            begin = begin.max(a.min(b));
            end = end.min(a.max(b));
        }
        let before = begin * (1.0 - WIDER);
        if before <= end * (1.0 + WIDER) { before } else { f64::INFINITY }
    }

    /// Distance and weights of the corners where it meets a triangle, from whichever side. Triangles without area and
    /// those seen edge-on are not met.
    #[inline]
    pub fn triangle(&self, corners: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
        let [x, y, z] = self.axes;
        let seen = |p: DVec3| {
            let p = p - self.origin;
            (p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z], self.shear.z * p[z])
        };
        let [a, b, c] = corners.map(seen);
        let u = c.0 * b.1 - c.1 * b.0;
        let v = a.0 * c.1 - a.1 * c.0;
        let w = b.0 * a.1 - b.1 * a.0;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let whole = u + v + w;
        let weights = [u / whole, v / whole, w / whole];
        let distance = weights[0] * a.2 + weights[1] * b.2 + weights[2] * c.2;
        // The last two also answer what has no area, and what is too large or too small for products.
        (distance >= 0.0 && distance.is_finite() && whole != 0.0).then_some((distance, weights))
    }

    /// Distance at which it enters a ball: zero if it begins inside.
    #[inline]
    pub fn ball(&self, center: DVec3, radius: f64) -> Option<f64> {
        let from = self.origin - center;
        if from.length_squared() <= radius * radius {
            return Some(0.0);
        }
        let along = from.dot(self.direction);
        let aside = from - along * self.direction;
        let inside = radius * radius - aside.length_squared();
        let distance = -along - inside.sqrt();
        (inside >= 0.0 && distance >= 0.0).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;

    #[test]
    fn a_ray_meets_what_it_was_aimed_at_and_no_box_hides_it() {
        let mut rng = SplitMix64::new(4);
        let mut random = |scale: f64| scale * (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5);
        for scale in [1e-6, 1.0, 1e6] {
            for _ in 0..2000 {
                let corners = [random(scale), random(scale), random(scale)];
                let mut w = random(1.0).abs();
                w /= w.element_sum();
                let aim = w.x * corners[0] + w.y * corners[1] + w.z * corners[2];
                let origin = random(4.0 * scale);
                let ray = Ray::new(origin, (aim - origin) * 7.0).unwrap();
                let Some((t, weights)) = ray.triangle(corners) else { panic!("{corners:?} {origin}") };
                let area = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
                let steep = area.normalize().dot(ray.direction()).abs().max(1e-9);
                assert!((t - aim.distance(origin)).abs() < 1e-12 * scale / steep);
                let met: DVec3 = (0..3).map(|k| weights[k] * corners[k]).sum();
                assert!(met.distance(ray.at(t)) < 1e-14 * scale + 1e-12 * scale / steep);
                assert!(ray.enters(crate::box_tree::around(corners)) <= t);
                assert!(ray.triangle(corners.map(|c| 2.0 * origin - c)).is_none(), "behind");
            }
        }
    }

    #[test]
    fn no_ray_slips_through_between_two_triangles() {
        let mut rng = SplitMix64::new(6);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5;
        for _ in 0..20_000 {
            let (a, b) = (random(), random());
            // Two triangles at the edge from a to b, and a ray at its middle as nearly as numbers allow.
            let (c, d) = (a + random(), b + random());
            let (aim, origin) = (a.lerp(b, 0.5), random() * 3.0);
            let Some(ray) = Ray::new(origin, aim - origin) else { continue };
            // On opposite sides of the edge, seen along the ray.
            let seen = |p: DVec3| (b - a).cross(p - a).dot(ray.direction());
            if seen(c) * seen(d) >= 0.0 {
                continue;
            }
            assert!(ray.triangle([a, b, c]).is_some() || ray.triangle([b, a, d]).is_some());
        }
    }

    #[test]
    fn what_is_no_ray_is_none_and_what_is_no_triangle_is_not_met() {
        for direction in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY, DVec3::new(0.0, f64::NAN, 1.0)] {
            assert!(Ray::new(DVec3::ZERO, direction).is_none());
        }
        assert!(Ray::new(DVec3::NAN, DVec3::X).is_none());
        for length in [1e-320, 1e-200, 1.0, 1e300] {
            let ray = Ray::new(DVec3::ZERO, DVec3::new(0.0, 0.0, length)).unwrap();
            assert_eq!(ray.direction(), DVec3::Z);
            let triangle =
                [DVec3::new(-1.0, -1.0, 2.0), DVec3::new(1.0, -1.0, 2.0), DVec3::new(0.0, 1.0, 2.0)];
            assert_eq!(ray.triangle(triangle).unwrap().0, 2.0);
            assert_eq!(ray.triangle([DVec3::Z; 3]), None);
            assert_eq!(ray.triangle([DVec3::X, DVec3::NEG_X, DVec3::Z]), None, "edge-on");
            assert_eq!(ray.triangle(triangle.map(|p| p * 1e200)), None);
            assert_eq!(ray.ball(DVec3::Z * 3.0, 1.0), Some(2.0));
            assert_eq!(ray.ball(DVec3::Z * 3.0, 4.0), Some(0.0));
            assert_eq!((ray.ball(DVec3::Z * -3.0, 1.0), ray.ball(DVec3::X * 2.0, 1.0)), (None, None));
            assert_eq!(ray.ball(DVec3::Z * 3.0, 0.0), Some(3.0));
        }
    }
}
