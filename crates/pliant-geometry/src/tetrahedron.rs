//! One tetrahedron: the weights of its corners that make a point.

use glam::{DMat3, DVec3};

/// Volumes smaller than this part of the product of three edges count as none: weights would be rounding.
const FLAT: f64 = 1e-6;

/// The weights of the four corners whose mean `p` is, in sum one, all of them between zero and one within; `None` if the
/// corners lie in a plane, or anything is not finite.
pub fn barycentric([a, b, c, d]: [DVec3; 4], p: DVec3) -> Option<[f64; 4]> {
    let edges = DMat3::from_cols(b - a, c - a, d - a);
    let size = (b - a).length() * (c - a).length() * (d - a).length();
    if edges.determinant().abs() <= FLAT * size {
        return None;
    }
    let w = edges.inverse() * (p - a);
    w.is_finite().then(|| [1.0 - w.element_sum(), w.x, w.y, w.z])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;

    #[test]
    fn weights_make_the_point_and_flat_ones_have_none() {
        let mut rng = SplitMix64::new(3);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        for size in [1e-9, 1.0, 1e9] {
            for _ in 0..200 {
                let corners = [random(), random(), random(), random()].map(|p| p * size);
                let p = random() * size;
                let Some(weights) = barycentric(corners, p) else { continue };
                let sum: DVec3 = corners.iter().zip(weights).map(|(c, w)| *c * w).sum();
                let most = weights.iter().fold(1.0, |m: f64, w| m.max(w.abs()));
                assert!(sum.distance(p) < 1e-12 * most * most * size, "{weights:?}");
                let flat = [
                    corners[0],
                    corners[1],
                    corners[2],
                    corners[0].lerp(corners[1] * 0.3 + corners[2] * 0.7, 0.4),
                ];
                assert_eq!(barycentric(flat, p), None);
            }
        }
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert_eq!(barycentric(corners, DVec3::splat(0.25)), Some([0.25; 4]));
        assert_eq!(barycentric(corners, DVec3::NAN), None);
        assert_eq!(barycentric([DVec3::ONE; 4], DVec3::ONE), None);
    }
}
