//! Figure 3 of projective-dynamics, as plain data: Gauss–Seidel against consensus on a few sets of points.

use glam::DVec3;

/// The nearest point of a set.
pub type Nearest<'a> = &'a dyn Fn(DVec3) -> DVec3;

/// Projects on one set after the other, as position based dynamics does; every point on the way, the start first.
pub fn one_after_the_other(sets: &[Nearest<'_>], start: DVec3, rounds: usize) -> Vec<DVec3> {
    let mut displacement = vec![start];
    let mut at = start;
    for set in (0..rounds).flat_map(|_| sets) {
        at = set(at);
        displacement.push(at);
    }
    displacement
}

/// Goes to the mean of the projections on all sets, as projective dynamics does; the start first.
pub fn consensus(sets: &[Nearest<'_>], start: DVec3, rounds: usize) -> Vec<DVec3> {
    let mut displacement = vec![start];
    let mut at = start;
    for _ in 0..rounds {
        at = sets.iter().map(|set| set(at)).sum::<DVec3>() / sets.len() as f64;
        displacement.push(at);
    }
    displacement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(center: DVec3, radius: f64) -> impl Fn(DVec3) -> DVec3 {
        move |p| center + (p - center).normalize_or(DVec3::X) * radius
    }

    #[test]
    fn on_sets_that_meet_both_arrive() {
        let (a, b) = (circle(DVec3::ZERO, 1.0), circle(DVec3::X, 1.0));
        let meeting = DVec3::new(0.5, 0.75_f64.sqrt(), 0.0);
        for method in [one_after_the_other, consensus] {
            let displacement = method(&[&a, &b], DVec3::new(0.2, 2.0, 0.0), 200);
            assert!((*displacement.last().unwrap() - meeting).length() < 1e-12);
        }
    }

    #[test]
    fn on_sets_apart_one_after_the_other_jumps_for_ever_and_consensus_settles_in_the_middle() {
        let (a, b) = (circle(DVec3::ZERO, 1.0), circle(DVec3::X * 4.0, 1.0));
        let start = DVec3::new(1.0, 2.0, 0.0);
        let jumps = one_after_the_other(&[&a, &b], start, 500);
        let last = &jumps[jumps.len() - 3..];
        // The circles are 2 apart.
        assert!((last[1] - last[0]).length() > 1.99 && (last[2] - last[1]).length() > 1.99, "{last:?}");
        let settled = consensus(&[&a, &b], start, 500);
        let last = &settled[settled.len() - 2..];
        assert!((last[1] - last[0]).length() < 1e-12, "{last:?}");
        assert!((last[1] - DVec3::X * 2.0).length() < 1e-9, "{last:?}");
    }
}
