//! How much of a change of motion there is energy for: what bounces of all solvers are scaled by.

/// The largest share s of a change, at most all of it, at which linear s + square s² is no more than `spare`.
pub(super) fn affordable(spare: f64, linear: f64, square: f64) -> f64 {
    if linear + square <= spare {
        return 1.0;
    }
    if spare.is_nan() || spare <= 0.0 || square <= 0.0 {
        return 0.0;
    }
    let root = (linear * linear + 4.0 * square * spare).sqrt();
    let share = if linear > 0.0 { 2.0 * spare / (linear + root) } else { (root - linear) / (2.0 * square) };
    share.clamp(0.0, 1.0)
}

/// The speed along the normal that a point is to leave an obstacle with, zero if it rests: it comes with the speed `into`, is
/// drawn in by the acceleration `toward`, had `left` to go, and takes substeps of `h`. Arrivals below `resting` rest. By the energy
/// that symplectic Euler keeps, as `rigid/impacts.rs` has it.
pub(super) fn leaving(
    (into, toward, left): (f64, f64, f64),
    h: f64,
    (restitution, resting): (f64, f64),
) -> f64 {
    let arrived = (into * (into.abs() + h * toward) + 2.0 * toward * left).max(0.0).sqrt();
    let (kick, back) = (0.5 * h * toward, restitution * arrived);
    if arrived > resting && back > 0.0 { kick + kick.hypot(back) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_uses_what_there_is_and_no_more() {
        for (spare, linear, square) in [(1.0, 3.0, 2.0), (0.5, -1.0, 4.0), (1e-9, 1.0, 1e9), (2.0, 0.0, 8.0)]
        {
            let s = affordable(spare, linear, square);
            assert!(s > 0.0 && s < 1.0);
            assert!((linear * s + square * s * s - spare).abs() < 1e-12 * spare.max(linear.abs() * s));
        }
        assert_eq!(affordable(5.0, 3.0, 2.0), 1.0);
        assert_eq!(
            (affordable(0.0, 1.0, 1.0), affordable(f64::NAN, 1.0, 1.0), affordable(-1.0, 0.0, 0.0)),
            (0.0, 0.0, 0.0)
        );
    }

    /// A ball that falls on the ground in steps of h reaches e² of its height again, however large h is.
    #[test]
    fn a_bounce_has_its_height() {
        for (h, e) in [(1e-3, 0.8), (0.02, 0.5), (0.05, 1.0)] {
            let g = 9.81;
            let (mut v, mut y) = (0.0_f64, 1.0_f64);
            while y + h * (v - h * g) > 0.0 {
                v -= h * g;
                y += h * v;
            }
            let top = |v: f64, y: f64| y + v * (v - h * g) / (2.0 * g);
            let up = leaving((-v, g, y), h, (e, 0.0));
            assert!((top(up, 0.0) - e * e * top(v, y)).abs() < 1e-12, "{h} {e}");
        }
        assert_eq!(leaving((1.0, 9.81, 0.0), 0.1, (0.5, 2.0)), 0.0);
    }
}
