//! Matrices made of vectors.

use glam::{DMat3, DVec3};

/// a bᵀ, the matrix of v ↦ a (b · v).
#[inline]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The matrix of v ↦ a × v.
#[inline]
pub fn cross_matrix(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_act_as_their_formulas_say() {
        let (a, b, v) = (DVec3::new(1.0, -2.0, 3.0), DVec3::new(0.5, 4.0, -1.0), DVec3::new(2.0, 7.0, -5.0));
        assert_eq!(outer(a, b) * v, a * b.dot(v));
        assert_eq!(cross_matrix(a) * v, a.cross(v));
    }
}
