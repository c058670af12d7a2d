//! A small signed-distance toolbox: negative inside, positive outside, blended into figures.
//!
//! Only sums, products and square roots are used, so the same shape has the same bits on every machine.
//! Formulas after Inigo Quilez, "distance functions".

use glam::{DMat3, DVec3};

/// Distance to a sphere.
pub(crate) fn sphere(p: DVec3, center: DVec3, radius: f64) -> f64 {
    p.distance(center) - radius
}

/// Distance to an ellipsoid with half axes `radii` along x, y and z; exact at the surface to first order.
pub(crate) fn ellipsoid(p: DVec3, center: DVec3, radii: DVec3) -> f64 {
    let q = (p - center) / radii;
    let slope = (q / radii).length();
    if slope > 0.0 { q.length() * (q.length() - 1.0) / slope } else { -radii.min_element() }
}

/// Distance to a capsule around the segment from `a` to `b`.
pub(crate) fn capsule(p: DVec3, a: DVec3, b: DVec3, radius: f64) -> f64 {
    let along = b - a;
    let length2 = along.length_squared();
    let t = if length2 > 0.0 { ((p - a).dot(along) / length2).clamp(0.0, 1.0) } else { 0.0 };
    p.distance(a + along * t) - radius
}

/// Distance to the hull of two balls, radius `ra` at `a` and `rb` at `b`.
pub(crate) fn round_cone(p: DVec3, a: DVec3, b: DVec3, ra: f64, rb: f64) -> f64 {
    let along = b - a;
    let length2 = along.length_squared();
    let difference = ra - rb;
    let a2 = length2 - difference * difference;
    if a2 <= 0.0 {
        // One ball holds the other.
        return sphere(p, a, ra).min(sphere(p, b, rb));
    }
    let from = p - a;
    let y = from.dot(along);
    let z = y - length2;
    let x2 = (from * length2 - along * y).length_squared();
    let (y2, z2) = (y * y * length2, z * z * length2);
    let k = difference.signum() * difference * difference * x2;
    if z.signum() * a2 * z2 > k {
        (x2 + z2).sqrt() / length2 - rb
    } else if y.signum() * a2 * y2 < k {
        (x2 + y2).sqrt() / length2 - ra
    } else {
        ((x2 * a2 / length2).sqrt() + y * difference) / length2 - ra
    }
}

/// Distance to a torus around the y axis: a tube of radius `minor` whose middle is at `major`.
pub(crate) fn torus(p: DVec3, major: f64, minor: f64) -> f64 {
    let ring = (p.x * p.x + p.z * p.z).sqrt() - major;
    (ring * ring + p.y * p.y).sqrt() - minor
}

/// Distance to an upright cylinder about the origin.
pub(crate) fn cylinder(p: DVec3, radius: f64, half_height: f64) -> f64 {
    let side = (p.x * p.x + p.z * p.z).sqrt() - radius;
    let cap = p.y.abs() - half_height;
    let outside = (side.max(0.0) * side.max(0.0) + cap.max(0.0) * cap.max(0.0)).sqrt();
    outside + side.max(cap).min(0.0)
}

/// Union of two shapes with the crease filled over a width of about `k` (polynomial smooth minimum).
pub(crate) fn smooth_union(a: f64, b: f64, k: f64) -> f64 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * k * 0.25
}

/// Shape `a` with `b` taken away, the rim rounded over a width of about `k`.
pub(crate) fn smooth_subtraction(a: f64, b: f64, k: f64) -> f64 {
    -smooth_union(-a, b, k)
}

/// A place and orientation for a shape: points are taken into it before measuring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    origin: DVec3,
    axes: DMat3,
}

impl Frame {
    /// A frame at `origin` whose y axis is along `up` and whose z axis is as near to `front` as it can be.
    pub fn new(origin: DVec3, up: DVec3, front: DVec3) -> Frame {
        let y = up.normalize_or(DVec3::Y);
        let x = y.cross(front).try_normalize().unwrap_or_else(|| y.any_orthonormal_vector());
        Frame { origin, axes: DMat3::from_cols(x, y, x.cross(y)) }
    }

    /// `p` as seen from this frame.
    pub fn local(&self, p: DVec3) -> DVec3 {
        self.axes.transpose() * (p - self.origin)
    }
}

/// Gradient by central differences over `step`.
pub(crate) fn gradient(distance: &impl Fn(DVec3) -> f64, p: DVec3, step: f64) -> DVec3 {
    let along = |axis: DVec3| distance(p + axis * step) - distance(p - axis * step);
    DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z)) / (2.0 * step)
}

/// Moves `p` onto the zero level by `steps` Newton steps, none longer than `reach`.
pub(crate) fn project(distance: &impl Fn(DVec3) -> f64, mut p: DVec3, reach: f64, steps: usize) -> DVec3 {
    for _ in 0..steps {
        let g = gradient(distance, p, reach * 1e-3);
        let slope2 = g.length_squared();
        if slope2 > 0.0 {
            p -= (g * (distance(p) / slope2)).clamp_length_max(reach);
        }
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_right_on_the_axes() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(sphere(DVec3::X * 3.0, DVec3::X, 0.5), 1.5);
        close(ellipsoid(DVec3::Y * 2.0, DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)), 0.0);
        assert!(ellipsoid(DVec3::ZERO, DVec3::ZERO, DVec3::ONE) < 0.0);
        close(capsule(DVec3::new(0.5, 2.0, 0.0), DVec3::ZERO, DVec3::X, 0.25), 1.75);
        close(capsule(DVec3::Y, DVec3::ZERO, DVec3::ZERO, 0.25), 0.75);
        close(round_cone(DVec3::Y * 3.0, DVec3::ZERO, DVec3::Y, 0.5, 0.25), 1.75);
        close(round_cone(DVec3::Y * -3.0, DVec3::ZERO, DVec3::Y, 0.5, 0.25), 2.5);
        close(round_cone(DVec3::new(2.0, 0.5, 0.0), DVec3::ZERO, DVec3::Y, 0.5, 0.5), 1.5);
        close(torus(DVec3::X * 3.0, 1.0, 0.25), 1.75);
        close(cylinder(DVec3::new(4.0, 6.0, 0.0), 1.0, 2.0), 5.0);
        close(cylinder(DVec3::ZERO, 1.0, 2.0), -1.0);
        close(smooth_union(1.0, 1.0, 0.4), 0.9);
        close(smooth_union(1.0, 2.0, 0.4), 1.0);
    }

    #[test]
    fn points_are_projected_onto_the_surface() {
        let shape = |p: DVec3| ellipsoid(p, DVec3::ZERO, DVec3::new(1.0, 0.6, 0.8));
        let p = project(&shape, DVec3::new(0.7, 0.5, 0.4), 0.1, 8);
        assert!(shape(p).abs() < 1e-9);
    }

    #[test]
    fn frames_keep_lengths() {
        let frame = Frame::new(DVec3::ONE, DVec3::new(1.0, 2.0, 0.5), DVec3::Z);
        let p = DVec3::new(0.3, -2.0, 4.0);
        assert!((frame.local(p).length() - (p - DVec3::ONE).length()).abs() < 1e-12);
        let up = frame.local(DVec3::ONE + DVec3::new(1.0, 2.0, 0.5));
        assert!(up.x.abs() < 1e-12 && up.z.abs() < 1e-12 && up.y > 0.0);
    }
}
