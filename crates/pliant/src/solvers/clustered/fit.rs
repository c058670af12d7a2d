//! From sums over a cluster to its goals: the best rigid, linear or quadratic motion of the rest shape.
//!
//! All goals have the form g = M q + c plus, if quadratic, Q q̃, with q the offset from the rest centre.
//! What a cluster remembers (its permanent stretch P) and how far it may deform (β) only enter M and Q,
//! so the passes over particles are the same for all of them.

use crate::controls::BodyControls;
use crate::model::{ClusterBasis, ClusterRest, Goals, Integrator, Matching, quadratic_terms};
use glam::{DMat3, DVec3};
use pliant_math::projections::limit_volume;
use pliant_math::{nearest_rotation, svd3};

/// Volume preservation may stretch a shape to this much of its rest size and no further. Without a
/// bound, a flattened cluster (det A → 0) would be blown up in its plane without end.
const LARGEST_STRETCH: f64 = 2.0;

/// Below this a shape is a point, and its directions are rounding.
const SMALLEST_STRETCH: f64 = 1e-9;

/// How goals come of rotation and deformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoalMethod {
    /// β A + (1 − β) R.
    Blend,
    /// Deformed, then turned, to the deformer report's letter: with its own integrator, whose unrest the report tells of.
    AsReported,
    /// Deformed, then turned; volume is kept by a force that has an energy. For springs, which would gain from it otherwise.
    TwoSteps,
}

impl GoalMethod {
    pub fn of(matching: Matching) -> GoalMethod {
        match (matching.two_step, matching.integrator) {
            (false, _) => GoalMethod::Blend,
            (true, Integrator::Deformer) => GoalMethod::AsReported,
            (true, Integrator::StrainLimited) => GoalMethod::TwoSteps,
        }
    }
}

/// Σ m x, Σ m x qᵀ, and Σ m x tᵀ over the six quadratic terms t (in widths, not centred).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums {
    pub first: DVec3,
    pub covariance: DMat3,
    pub quadratic: [DVec3; 6],
}

impl Sums {
    pub const ZERO: Sums = Sums { first: DVec3::ZERO, covariance: DMat3::ZERO, quadratic: [DVec3::ZERO; 6] };
}

/// A cluster's goals g = `linear` q + `center` + `quadratic` t − `offset`, where t are the quadratic
/// terms in widths and the offset centres them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// Best rigid rotation of the (permanently stretched) rest shape.
    pub rotation: DMat3,
    /// Present centre of mass.
    pub center: DVec3,
    pub linear: DMat3,
    pub quadratic: [DVec3; 6],
    /// Σ quadratic · mean.
    pub offset: DVec3,
}

impl Default for Fit {
    fn default() -> Self {
        Fit {
            rotation: DMat3::IDENTITY,
            center: DVec3::ZERO,
            linear: DMat3::IDENTITY,
            quadratic: [DVec3::ZERO; 6],
            offset: DVec3::ZERO,
        }
    }
}

impl Fit {
    /// Goal of a member, relative to what `center` is relative to.
    pub fn goal(&self, cluster: &ClusterRest, basis: &ClusterBasis, rest: DVec3) -> DVec3 {
        let q = rest - cluster.center;
        let mut goal = self.linear * q + self.center;
        if basis.goals == Goals::Quadratic {
            let terms = quadratic_terms(q / cluster.width);
            goal -= self.offset;
            goal += self.quadratic.iter().zip(terms).map(|(c, t)| *c * t).sum::<DVec3>();
        }
        goal
    }
}

/// The matrix whose nearest rotation is the cluster's: Σ m x (P q)ᵀ.
#[inline(always)]
pub(super) fn to_rotate(sums: &Sums, plastic: &DMat3) -> DMat3 {
    if *plastic == DMat3::IDENTITY { sums.covariance } else { sums.covariance * plastic.transpose() }
}

/// The best linear map from rest offsets to present ones, Σ m x qᵀ (Σ m q qᵀ)⁻¹ (deformer, eq. 5); in
/// directions without extent it turns with the rest.
pub(super) fn best_linear(sums: &Sums, basis: &ClusterBasis, rotation: DMat3) -> DMat3 {
    sums.covariance * basis.inverse + rotation * basis.null
}

/// The goals of a cluster whose rotation is known.
pub(super) fn fit(
    sums: &Sums,
    cluster: &ClusterRest,
    basis: &ClusterBasis,
    rotation: DMat3,
    plastic: &DMat3,
    making: GoalMethod,
    controls: &BodyControls,
) -> Fit {
    let center = sums.first / cluster.mass;
    let stretched = if *plastic == DMat3::IDENTITY { rotation } else { rotation * *plastic };
    let rigid = Fit { rotation, center, linear: stretched, ..Fit::default() };
    let beta = controls.deformation;
    if basis.goals == Goals::Rigid || (beta == 0.0 && making == GoalMethod::Blend) {
        return rigid;
    }
    let mut linear = best_linear(sums, basis, rotation);
    let mut quadratic = [DVec3::ZERO; 6];
    if let (Goals::Quadratic, Some(q)) = (basis.goals, &basis.quadratic) {
        // Columns of Ã_pq, in widths and with the quadratic terms centred, times the inverse.
        let w = cluster.width.recip();
        let c = sums.covariance;
        let mut columns = [DVec3::ZERO; 9];
        columns[..3].copy_from_slice(&[c.x_axis * w, c.y_axis * w, c.z_axis * w]);
        for k in 0..6 {
            columns[3 + k] = sums.quadratic[k] - sums.first * q.mean[k];
        }
        let column = |j: usize| {
            let sum: DVec3 = columns.iter().zip(&q.inverse).map(|(c, row)| *c * row[j]).sum();
            sum / cluster.mass
        };
        let fitted = DMat3::from_cols(column(0), column(1), column(2)) * w;
        linear = fitted + rotation * basis.null;
        quadratic = std::array::from_fn(|k| column(3 + k));
    }
    let mut scale = beta;
    if making == GoalMethod::TwoSteps && controls.volume > 0.0 {
        let best = best_linear(sums, basis, rotation);
        linear += (nearest_of_volume(best, cluster, basis) - best) * controls.volume;
        // Turned back before it is mixed with the undeformed shape: otherwise what is mixed depends on how the body lies,
        // and one that only spins would be drawn together.
        linear = rotation.transpose() * linear;
        quadratic.iter_mut().for_each(|q| *q = rotation.transpose() * *q);
    } else {
        // All of the shape by one factor, or the goals would turn it.
        let bend: f64 = quadratic.iter().map(|q| q.length_squared()).sum();
        let bend = if bend > 0.0 { bend / (cluster.width * cluster.width) } else { 0.0 };
        scale *= volume_scale(linear, bend, controls.volume);
    }
    quadratic.iter_mut().for_each(|q| *q *= scale);
    let mut fit = rigid;
    if making != GoalMethod::Blend {
        // Deform first, then turn the result onto the points (deformer, §3.3). With P folded in, the
        // undeformed shape is P q.
        let deformed = linear * scale + *plastic * (1.0 - beta);
        let mut cross = sums.covariance * deformed.transpose();
        if let Some(basis) = &basis.quadratic {
            for ((x, mean), g) in sums.quadratic.iter().zip(basis.mean).zip(&quadratic) {
                let x = *x - sums.first * mean;
                cross += DMat3::from_cols(x * g.x, x * g.y, x * g.z);
            }
        }
        let turn = nearest_rotation(cross, rotation);
        fit.linear = turn * deformed;
        fit.quadratic = quadratic.map(|q| turn * q);
    } else {
        fit.linear = linear * scale + stretched * (1.0 - beta);
        fit.quadratic = quadratic;
    }
    if let Some(basis) = &basis.quadratic {
        fit.offset = fit.quadratic.iter().zip(basis.mean).map(|(q, m)| *q * m).sum();
    }
    fit
}

/// The factor that gives a deformation `share` of its volume back, bounded so that nothing grows
/// beyond [`LARGEST_STRETCH`]. A shape turned inside out keeps its size as one that is not: that is
/// continuous where it is flat, and leaves it to the rotation to turn it back. `bend` is the squared
/// size of what is not linear: where the linear part is flat, it too would grow without end.
pub(super) fn volume_scale(a: DMat3, bend: f64, share: f64) -> f64 {
    if share == 0.0 {
        return 1.0;
    }
    let columns = [a.x_axis, a.y_axis, a.z_axis];
    let stretch = ((columns.iter().map(|c| c.length_squared()).sum::<f64>() + bend) / 3.0).sqrt();
    // What has shrunk to a point has no shape to give a volume to.
    if !(SMALLEST_STRETCH..=f64::MAX).contains(&stretch) {
        return 1.0;
    }
    let most = (LARGEST_STRETCH / stretch).max(1.0);
    // In units of the stretch, where the determinant of anything is a number of its own size.
    let unit = (a * stretch.recip()).determinant().abs().cbrt() * stretch;
    unit.recip().min(most).powf(share)
}

/// The map Y of determinant 1 whose goals Y q are nearest to those of the linear map `a`, weighed by the particles'
/// masses: how two-step goals keep volume.
///
/// Scaling A by det A^(−1/3), as the blend does, is no one's gradient: with G = Σ m q qᵀ its pull is k (s − 1) A G, and the
/// derivative of s A G is not symmetric, so a cluster that goes round a cycle of shapes may come back faster. Four particles,
/// whose linear fit is exact, are held by little else: each passage through flat, where s is largest, throws them apart.
///
/// The distance to a set has an energy. Let V(x) = ½ k min Σ mᵢ ‖A qᵢ − Y qᵢ‖² over det Y = 1, with A the best linear map of
/// the x. The minimum does not change with Y to first order, so −∂V/∂xᵢ = k mᵢ (Y − A) qᵢ: moving the goals by (Y − A) q *is*
/// the force of V, and a share of it that of the share of V. Its curvature is at most k, that of a spring to the goal, so
/// the explicit step is as stable as without. Σ m q = 0 keeps linear momentum, and as A G Yᵀ is symmetric at the nearest Y
/// the force has no torque. With B = A G^½ the sum is ‖B − Y G^½‖², so Y G^½ is the nearest matrix of determinant det G^½.
/// It thickens what is flat instead of blowing it up in its plane, and what is turned inside out is turned back.
fn nearest_of_volume(a: DMat3, cluster: &ClusterRest, basis: &ClusterBasis) -> DMat3 {
    // Per mass and width, with extent one where the shape has none: there the map only turns with the rest.
    let inverse = svd3(basis.inverse * (cluster.mass * cluster.width * cluster.width) + basis.null);
    let power = |exponent: fn(f64) -> f64| {
        inverse.u * DMat3::from_diagonal(inverse.sigma.map(exponent)) * inverse.u.transpose()
    };
    let (root, back) = (power(|e| e.sqrt().recip()), power(f64::sqrt));
    let b = a * root;
    let columns = [b.x_axis, b.y_axis, b.z_axis];
    let size = columns.iter().map(|c| c.length_squared()).sum::<f64>().sqrt();
    let target = root.determinant();
    // What has shrunk to a point has no shape to give a volume to.
    if !((SMALLEST_STRETCH..=f64::MAX).contains(&size) && target > 0.0 && target.is_finite()) {
        return a;
    }
    // In units of its size if that is large, so that no determinant overflows.
    let unit = size.max(1.0);
    let wanted = target / unit / unit / unit;
    limit_volume(b * unit.recip(), wanted, wanted) * back * unit
}

/// What remains of a cluster's stretch: the part beyond the yield strain flows into the permanent
/// stretch P at the creep rate (`flow` of it in this substep), with volume and maximum kept
/// (Müller 2005, §4.3, with the excess flowing instead of all of it).
pub(super) fn flow(
    plastic: &DMat3,
    sums: &Sums,
    basis: &ClusterBasis,
    fit: &Fit,
    c: &BodyControls,
    flow: f64,
) -> DMat3 {
    // Stretch of the permanently deformed shape: A P⁻¹ = R S. Not with the cluster's own rotation, which
    // in an uneven cluster is another one: what is only turned has no strain.
    let s = svd3(best_linear(sums, basis, fit.rotation) * plastic.inverse());
    let hand = (s.u.determinant() * s.v.determinant()).signum();
    let stretch = s.sigma * DVec3::new(1.0, 1.0, hand) - DVec3::ONE;
    let elastic = s.v * DMat3::from_diagonal(stretch) * s.v.transpose();
    let strain = stretch.abs().max_element();
    let hardened = c.yield_strain + c.hardening * svd3(*plastic - DMat3::IDENTITY).sigma.x;
    if !strain.is_finite() || strain <= hardened {
        return *plastic;
    }
    let share = flow * (1.0 - hardened / strain);
    bounded((DMat3::IDENTITY + elastic * share) * *plastic, c.plastic_limit)
}

/// The nearest stretch that keeps volume and stretches no direction beyond 1 + `most` or below its
/// inverse.
fn bounded(p: DMat3, most: f64) -> DMat3 {
    let s = svd3(p);
    // Logarithms: keeping volume is a sum of zero, and scaling all three keeps it so.
    let logs = s.sigma.max(DVec3::splat(1e-6)).map(f64::ln);
    let logs = logs - DVec3::splat(logs.element_sum() / 3.0);
    let largest = logs.abs().max_element();
    let limit = most.ln_1p();
    let logs = if largest > limit { logs * (limit / largest) } else { logs };
    // Only the stretch: what rotation it has picked up is no deformation.
    s.v * DMat3::from_diagonal(logs.map(f64::exp)) * s.v.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::outer;

    /// Diagonal stretches turned both ways.
    fn maps() -> impl Iterator<Item = (DVec3, DMat3)> {
        let angles =
            (0..60).map(|k| DMat3::from_euler(glam::EulerRot::XYZ, f64::from(k), 0.3, 2.0 * f64::from(k)));
        angles.enumerate().map(|(k, turn)| {
            let k = k as f64;
            let sigma = DVec3::new(0.2 + 0.1 * (k % 7.0), 0.4 + 0.3 * (k % 5.0), 0.3 + 0.2 * (k % 11.0));
            (sigma, turn * DMat3::from_diagonal(sigma) * turn.transpose() * turn)
        })
    }

    fn mean_stretch(a: DMat3) -> f64 {
        let columns = [a.x_axis, a.y_axis, a.z_axis];
        (columns.iter().map(|c| c.length_squared()).sum::<f64>() / 3.0).sqrt()
    }

    #[test]
    fn volume_is_given_back_unless_the_bound_binds() {
        let (mut kept, mut bounded) = (0, 0);
        for (sigma, a) in maps() {
            let scale = volume_scale(a, 0.0, 1.0);
            let scaled = a * scale;
            if (scaled.determinant() - 1.0).abs() < 1e-12 {
                kept += 1;
            } else {
                // Only a shape that would grow beyond the bound keeps less.
                bounded += 1;
                assert!(scaled.determinant() < 1.0);
                assert!((mean_stretch(scaled) - LARGEST_STRETCH).abs() < 1e-12 || scale == 1.0, "{sigma}");
            }
            assert!(mean_stretch(scaled) <= mean_stretch(a).max(LARGEST_STRETCH) * (1.0 + 1e-12));
            // Half of it is half of the way, as logarithms go.
            assert!((volume_scale(a, 0.0, 0.5) - scale.sqrt()).abs() < 1e-12 * scale);
            assert_eq!(volume_scale(a, 0.0, 0.0), 1.0);
        }
        assert!(kept > 10 && bounded > 0, "{kept} kept, {bounded} bounded");
    }

    #[test]
    fn flat_inverted_and_vanished_shapes_stay_within_the_bound() {
        for (_, a) in maps() {
            for squash in [
                DVec3::new(1.0, 1.0, 0.0),
                DVec3::new(1.0, 0.0, 0.0),
                DVec3::new(1.0, 1.0, 1e-300),
                DVec3::new(-1.0, 1.0, 1.0),
                DVec3::splat(-1.0),
                DVec3::splat(1e-8),
                DVec3::splat(1e-200),
                DVec3::ZERO,
                DVec3::splat(1e150),
            ] {
                for (share, bend) in [(0.01, 0.0), (0.5, 0.3), (1.0, 0.0), (1.0, 2.0)] {
                    let b = a * DMat3::from_diagonal(squash);
                    let scale = volume_scale(b, bend, share);
                    assert!(scale.is_finite() && scale >= 0.0, "{scale}");
                    let size = |scale: f64| scale * (mean_stretch(b).powi(2) + bend / 3.0).sqrt();
                    let most = size(1.0).max(LARGEST_STRETCH) * (1.0 + 1e-12);
                    assert!(size(scale) <= most, "{squash} {bend} {}", size(scale));
                }
            }
            // Continuous through flat.
            let thin = |z: f64| volume_scale(a * DMat3::from_diagonal(DVec3::new(1.0, 1.0, z)), 0.0, 1.0);
            assert!((thin(1e-12) - thin(-1e-12)).abs() < 1e-9 * thin(0.0));
        }
    }

    #[test]
    fn what_keeps_the_volume_of_two_steps_is_the_force_of_an_energy() {
        let points = [
            DVec3::new(0.1, 0.2, -0.9),
            DVec3::new(1.0, -0.3, 0.2),
            DVec3::new(-0.8, 0.7, 0.4),
            DVec3::new(0.2, -0.9, 0.5),
            DVec3::new(-0.4, 0.1, 0.3),
        ];
        let mass = [0.3, 0.9, 0.5, 1.1, 0.7];
        let total: f64 = mass.iter().sum();
        let center = points.iter().zip(mass).map(|(p, m)| *p * m).sum::<DVec3>() / total;
        let cluster = ClusterRest { mass: total, center, width: 0.7, stiffness: 1.0 };
        let mut basis = ClusterBasis::default();
        basis.become_of(|| mass.iter().copied().zip(points), &cluster, Goals::Linear);
        let best = |x: &[DVec3]| {
            let mut sums = Sums::ZERO;
            for ((x, q), m) in x.iter().zip(points).zip(mass) {
                sums.covariance += outer(*x * m, q - center);
            }
            best_linear(&sums, &basis, DMat3::IDENTITY)
        };
        let energy = |x: &[DVec3]| {
            let a = best(x);
            let displacement = nearest_of_volume(a, &cluster, &basis) - a;
            points
                .iter()
                .zip(mass)
                .map(|(q, m)| 0.5 * m * (displacement * (*q - center)).length_squared())
                .sum::<f64>()
        };
        for (k, (_, map)) in maps().enumerate() {
            // Also turned inside out.
            let map = if k % 4 == 0 { map * DMat3::from_diagonal(DVec3::new(1.0, 1.0, -0.3)) } else { map };
            let x: Vec<DVec3> = points.iter().map(|p| map * *p).collect();
            let a = best(&x);
            let y = nearest_of_volume(a, &cluster, &basis);
            assert!((y.determinant() - 1.0).abs() < 1e-9, "{}", y.determinant());
            let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for i in 0..x.len() {
                let force = (y - a) * (points[i] - center) * mass[i];
                push += force;
                torque += x[i].cross(force);
                for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                    let at = |step: f64| {
                        let mut moved = x.clone();
                        moved[i] += axis * step;
                        energy(&moved)
                    };
                    let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                    assert!((slope + force.dot(axis)).abs() < 1e-7, "{k}: {slope} {}", force.dot(axis));
                }
            }
            assert!(push.length() < 1e-12 && torque.length() < 1e-9, "{push} {torque}");
        }
    }

    #[test]
    fn where_nothing_is_known_the_fit_turns_with_the_rest() {
        // A sheet in the plane z = 0: the fit of least norm, and the rotation across it.
        let cluster = ClusterRest { mass: 1.0, center: DVec3::ZERO, width: 1.0, stiffness: 1.0 };
        let points =
            [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(x, y)| DVec3::new(x, y, 0.0) * 0.7);
        let mut basis = ClusterBasis::default();
        basis.become_of(|| points.iter().map(|p| (0.25, *p)), &cluster, Goals::Linear);
        let a = DMat3::from_cols(DVec3::new(1.2, 0.1, 0.4), DVec3::new(-0.3, 0.9, 0.2), DVec3::splat(9.0));
        let mut sums = Sums::ZERO;
        for p in points {
            let x = a * p * 0.25;
            sums.covariance += DMat3::from_cols(x * p.x, x * p.y, x * p.z);
        }
        let rotation = nearest_rotation(sums.covariance, DMat3::IDENTITY);
        let found = best_linear(&sums, &basis, rotation);
        assert!((found.x_axis - a.x_axis).length() < 1e-14 && (found.y_axis - a.y_axis).length() < 1e-14);
        assert!((found.z_axis - rotation.z_axis).length() < 1e-14, "{found}");
        let least = best_linear(&sums, &basis, DMat3::ZERO);
        assert!(least.z_axis.length() < 1e-14, "of least norm: {least}");
    }
}
