//! Second derivatives of elements, for Newton's method.
//!
//! Where the nearest point moves with q, the Hessian of ½ w ‖A q − p(q)‖² is less than the w AᵀA that projective
//! dynamics takes for it: turning costs less than the matrix says, which is what makes its steps short.
//! Newton's method wants the difference. Curvature below zero is cut off (element by element, as in Teran
//! et al. 2005 and Smith et al. 2019), so that the sum over all elements is positive definite with the inertia.

use super::ConstraintBatch;
use super::simplex::{GradientSet, Simplices};
use crate::points::Points;
use glam::{DMat3, DVec3};

/// Elements that know their Hessian. Batches without it are given w AᵀA, an upper bound.
pub trait ElementHessian: Send + Sync {
    /// Particles per element.
    fn corners(&self) -> usize;

    /// Particle number `corner` of an element.
    fn corner(&self, element: usize, corner: usize) -> u32;

    /// The Hessian of an element's energy at `x`, positive semidefinite: the 3×3 blocks (a, b) of corners
    /// b ≤ a, row after row.
    fn hessian(&self, element: usize, x: &Points, blocks: &mut [DMat3]);
}

impl<const D: usize, S: GradientSet<D>> ElementHessian for Simplices<D, S> {
    fn corners(&self) -> usize {
        D + 1
    }

    fn corner(&self, element: usize, corner: usize) -> u32 {
        self.rows().row(element * D).nth(corner).map_or(0, |(i, _)| i)
    }

    fn hessian(&self, element: usize, x: &Points, blocks: &mut [DMat3]) {
        let rows = self.rows();
        let none = Points::default();
        let f = std::array::from_fn(|d| rows.apply(element * D + d, x, &none));
        let curvature = self.set().curvature(element, f);
        let weight = rows.weights()[element * D];
        let mut c = [[0.0; 4]; D];
        for (d, c) in c.iter_mut().enumerate() {
            rows.row(element * D + d).zip(c).for_each(|((_, a), c)| *c = a);
        }
        let pairs = (0..=D).flat_map(|a| (0..=a).map(move |b| (a, b)));
        for (block, (a, b)) in blocks.iter_mut().zip(pairs) {
            *block = DMat3::ZERO;
            for (row, ca) in curvature.iter().zip(&c) {
                for (part, cb) in row.iter().zip(&c) {
                    *block += *part * (weight * ca[a] * cb[b]);
                }
            }
        }
    }
}

/// The second derivative of ½ ‖F‖², block by block of columns: what every curvature is at most.
pub fn full_curvature<const D: usize>() -> [[DMat3; D]; D] {
    std::array::from_fn(|d| std::array::from_fn(|e| if d == e { DMat3::IDENTITY } else { DMat3::ZERO }))
}

/// a bᵀ.
pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::{EdgeStrain, Rotations, TetrahedronStrain, View};

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    fn gradient(batch: &dyn ConstraintBatch, x: &Points) -> Vec<f64> {
        let mut g = Points::zeros(x.len());
        batch.add_gradient(View { x, state: &[], shared: &[], placements: &[] }, &mut g);
        g.iter().flat_map(|v| v.to_array()).collect()
    }

    /// The Hessian of element 0 over all coordinates of its corners, which are the first particles in order.
    fn hessian(batch: &dyn ConstraintBatch, x: &Points) -> Vec<Vec<f64>> {
        let element = batch.curved().unwrap();
        let n = element.corners();
        let mut blocks = vec![DMat3::ZERO; n * (n + 1) / 2];
        element.hessian(0, x, &mut blocks);
        let mut h = vec![vec![0.0; 3 * n]; 3 * n];
        let mut k = 0;
        for a in 0..n {
            assert_eq!(element.corner(0, a), a as u32);
            for b in 0..=a {
                for i in 0..3 {
                    for j in 0..3 {
                        h[3 * a + i][3 * b + j] = blocks[k].col(j)[i];
                        h[3 * b + j][3 * a + i] = blocks[k].col(j)[i];
                    }
                }
                k += 1;
            }
        }
        h
    }

    fn moved(x: &Points, coordinate: usize, by: f64) -> Points {
        let mut y = x.clone();
        let (i, axis) = (coordinate / 3, coordinate % 3);
        let mut p = y.get(i);
        p[axis] += by;
        y.set(i, p);
        y
    }

    fn tetrahedron() -> (TetrahedronStrain, Points) {
        let rest: Points = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.5, 0.1), DVec3::new(0.1, 0.2, 2.0)]
            .into_iter()
            .collect();
        (TetrahedronStrain::new(Rotations, &[[0, 1, 2, 3]], &rest, &[0.7], None).unwrap(), rest)
    }

    /// Stretched in every direction no curvature is cut off: the Hessian is the derivative of the gradient.
    #[test]
    fn is_the_derivative_of_the_gradient_where_all_is_convex() {
        let (tetrahedron, rest) = tetrahedron();
        let edge = EdgeStrain::lengths(&[[0, 1]], &rest, &[1.3]);
        let batches: [&dyn ConstraintBatch; 2] = [&tetrahedron, &edge];
        let mut seed = 7;
        for k in 0..40 {
            let stretch = DVec3::new(1.6, 1.9, 2.3);
            let turn = DMat3::from_rotation_x(k as f64) * DMat3::from_rotation_z(0.3 * k as f64);
            let noise = |seed: &mut u64| DVec3::new(random(seed), random(seed), random(seed)) * 0.1;
            let x: Points = rest.iter().map(|p| turn * (p * stretch) + noise(&mut seed)).collect();
            for batch in batches {
                let (h, step) = (hessian(batch, &x), 1e-5);
                for (j, row) in h.iter().enumerate() {
                    let (ahead, behind) =
                        (gradient(batch, &moved(&x, j, step)), gradient(batch, &moved(&x, j, -step)));
                    for (i, value) in row.iter().enumerate() {
                        let found = (ahead[i] - behind[i]) / (2.0 * step);
                        assert!(
                            (value - found).abs() < 1e-8,
                            "{} ({i}, {j}): {value}, {found}",
                            batch.kind()
                        );
                    }
                }
            }
        }
    }

    /// Never negative along any direction, never above w AᵀA, finite for whatever shape.
    #[test]
    fn lies_between_nothing_and_the_constant_matrix() {
        let (tetrahedron, rest) = tetrahedron();
        let edge = EdgeStrain::lengths(&[[0, 1]], &rest, &[1.3]);
        let batches: [&dyn ConstraintBatch; 2] = [&tetrahedron, &edge];
        let mut seed = 3;
        let stretches = [DVec3::ONE, DVec3::splat(0.3), DVec3::new(-1.0, 1.0, 1.0), DVec3::X, DVec3::ZERO];
        for stretch in stretches {
            for _ in 0..20 {
                let x: Points = rest
                    .iter()
                    .map(|p| p * stretch + DVec3::splat(random(&mut seed)) * 0.2 * stretch.length())
                    .collect();
                for batch in batches {
                    let h = hessian(batch, &x);
                    let n = h.len();
                    for _ in 0..20 {
                        let v: Vec<f64> = (0..n).map(|_| random(&mut seed)).collect();
                        let value: f64 =
                            (0..n).map(|i| v[i] * (0..n).map(|j| h[i][j] * v[j]).sum::<f64>()).sum();
                        let way: Points = v
                            .as_chunks::<3>()
                            .0
                            .iter()
                            .map(|c| DVec3::from_array(*c))
                            .chain([DVec3::ZERO; 4])
                            .collect();
                        let rows = batch.rows();
                        let most: f64 = (0..rows.len())
                            .map(|r| {
                                rows.weights()[r] * rows.apply(r, &way, &Points::default()).length_squared()
                            })
                            .sum();
                        assert!(
                            (-1e-12..=most + 1e-12).contains(&value),
                            "{}: {value} of {most}",
                            batch.kind()
                        );
                    }
                }
            }
        }
    }
}
