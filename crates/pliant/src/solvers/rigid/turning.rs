//! How a solid turns by itself: its angular momentum stays what it is, and its axes go around it as Euler's equations say.
//!
//! With L along the principal axes the energy is ½ Σ L_k²/I_k = ½ |L|²/I_b + ½ Σ (1/I_k − 1/I_b) L_k². By the first part alone
//! the solid turns evenly about L, whatever the rest does; by each other term alone, evenly about that axis, at the rate
//! (1/I_k − 1/I_b) L_k. These turns are made in turn, forth and back in a symmetric order whose error is of fourth order (Blanes
//! and Moan 2002, the method S₆ of table 2). Every one of them is exact: L is kept to the last digit, the energy swings a little and
//! does not drift, and solids with two equal moments, for which one term is left, turn exactly.

use crate::model::RigidRest;
use glam::{DQuat, DVec3};

/// Shares of the time for the one axis and for the other.
const FIRST: [f64; 4] = [
    0.0792036964311957,
    0.353172906049774,
    -0.0420650803577195,
    1.0 - 2.0 * (0.0792036964311957 + 0.353172906049774 - 0.0420650803577195),
];
const SECOND: [f64; 3] =
    [0.209515106613362, -0.143851773179818, 0.5 - (0.209515106613362 - 0.143851773179818)];
/// Largest turn about one axis, rad, that the order is made for; what turns further is taken in parts.
const LARGEST: f64 = 0.25;
/// Most parts of a substep. What turns faster than they can follow keeps its angular momentum and loses its way.
const MOST_PARTS: f64 = 200.0;

/// sin(t)/t and cos(t) as series of t².
const SINE: [f64; 7] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
];
const COSINE: [f64; 7] =
    [1.0, -0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0, 1.0 / 479_001_600.0];

fn series(x: f64, of: &[f64; 7]) -> f64 {
    of.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// sin and cos of half an angle, of sums and products alone: the same on every machine. Beyond a quarter of a
/// radian they are doubled up from there.
fn half_turn(angle: f64) -> (f64, f64) {
    let (mut half, mut doublings) = (0.5 * angle, 0);
    while half.abs() > 0.25 && doublings < 1100 {
        half *= 0.5;
        doublings += 1;
    }
    let x = half * half;
    let s = half * series(x, &SINE);
    let c = series(x, &COSINE);
    let (mut s, mut c) = (s, c);
    for _ in 0..doublings {
        (s, c) = (2.0 * s * c, (c - s) * (c + s));
        // Rounding would grow with every doubling.
        let scale = 1.5 - 0.5 * (s * s + c * c);
        (s, c) = (s * scale, c * scale);
    }
    (s, c)
}

/// The turn by an angle about an axis, both given as one vector.
pub(crate) fn turn_by(vector: DVec3) -> DQuat {
    let x = 0.25 * vector.length_squared();
    if x <= 0.0625 {
        let axis = vector * (0.5 * series(x, &SINE));
        return DQuat::from_xyzw(axis.x, axis.y, axis.z, series(x, &COSINE));
    }
    let angle = vector.length();
    let (s, c) = half_turn(angle);
    let axis = vector * (s / angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, c)
}

/// Turns the principal axes, and the angular momentum seen from them, about axis `k` by an angle.
fn about(k: usize, angle: f64, turn: &mut DQuat, seen: &mut DVec3) {
    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
    let (s, c) = half_turn(angle);
    let (sine, cosine) = (2.0 * s * c, (c - s) * (c + s));
    // q ← q · (c + s e_k): of the parts of q, the one along e_k mixes with w, the others with each other.
    let q = turn.to_array();
    let mut to = [0.0; 4];
    to[k] = c * q[k] + s * q[3];
    to[3] = c * q[3] - s * q[k];
    to[i] = c * q[i] + s * q[j];
    to[j] = c * q[j] - s * q[i];
    *turn = DQuat::from_array(to);
    let (a, b) = (seen[i], seen[j]);
    (seen[i], seen[j]) = (cosine * a + sine * b, cosine * b - sine * a);
}

/// Where the principal axes are after `h` seconds with this angular momentum, in the world.
pub(crate) fn turned(rest: &RigidRest, turn: DQuat, momentum: DVec3, h: f64) -> DQuat {
    let inertia = rest.inertia;
    // The middle one of the moments, and the two axes that differ from it.
    let middle = (0..3).find(|&b| {
        let others = [inertia[(b + 1) % 3], inertia[(b + 2) % 3]];
        others[0].min(others[1]) <= inertia[b] && inertia[b] <= others[0].max(others[1])
    });
    let b = middle.unwrap_or(0);
    let rate = |k: usize| inertia[k].recip() - inertia[b].recip();
    let (i, j) = ((b + 1) % 3, (b + 2) % 3);
    let mut to = turn;
    match (rate(i), rate(j)) {
        (0.0, 0.0) => {}
        (0.0, of_j) => about_alone(j, of_j * h, &mut to, momentum),
        (of_i, 0.0) => about_alone(i, of_i * h, &mut to, momentum),
        (of_i, of_j) => about_both((i, of_i), (j, of_j), &mut to, momentum, h),
    }
    (turn_by(momentum * (h / inertia[b])) * to).normalize()
}

/// One term alone.
fn about_alone(k: usize, time: f64, turn: &mut DQuat, momentum: DVec3) {
    let mut seen = turn.conjugate() * momentum;
    let angle = time * seen[k];
    about(k, angle, turn, &mut seen);
}

fn about_both((i, of_i): (usize, f64), (j, of_j): (usize, f64), turn: &mut DQuat, momentum: DVec3, h: f64) {
    let mut seen = turn.conjugate() * momentum;
    let fastest = momentum.length() * h * of_i.abs().max(of_j.abs());
    // What is no number is one part, and stays none.
    let parts = (fastest / LARGEST).ceil().clamp(1.0, MOST_PARTS);
    let part = h / parts;
    let [a1, a2, a3, a4] = FIRST.map(|share| share * part * of_i);
    let [b1, b2, b3] = SECOND.map(|share| share * part * of_j);
    for _ in 0..parts as u32 {
        for (a, b) in [(a1, b1), (a2, b2), (a3, b3), (a4, b3), (a3, b2), (a2, b1)] {
            about(i, a * seen[i], turn, &mut seen);
            about(j, b * seen[j], turn, &mut seen);
        }
        about(i, a1 * seen[i], turn, &mut seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    fn solid(inertia: DVec3) -> RigidRest {
        RigidRest {
            mass: 1.0,
            inertia,
            center: DVec3::ZERO,
            axes: DMat3::IDENTITY,
            reach: DVec3::ONE,
            size: 1.0,
            contact: Vec::new(),
            groups: Vec::new(),
        }
    }

    fn energy(rest: &RigidRest, turn: DQuat, momentum: DVec3) -> f64 {
        let seen = turn.conjugate() * momentum;
        0.5 * seen.dot(seen / rest.inertia)
    }

    #[test]
    fn half_turns_are_sines_and_cosines() {
        for k in -2000..2000 {
            let angle = f64::from(k) * 0.0137;
            let (s, c) = half_turn(angle);
            assert!((s - (0.5 * angle).sin()).abs() < 4e-16 * (1.0 + angle.abs()), "{angle}: {s}");
            assert!((c - (0.5 * angle).cos()).abs() < 4e-16 * (1.0 + angle.abs()), "{angle}: {c}");
        }
        let quarter = turn_by(DVec3::Z * std::f64::consts::FRAC_PI_2) * DVec3::X;
        assert!((quarter - DVec3::Y).length() < 1e-15);
        assert!(!turn_by(DVec3::splat(f64::INFINITY)).is_finite());
    }

    /// By the same step a hundred times finer.
    #[test]
    fn the_error_is_of_fourth_order() {
        let rest = solid(DVec3::new(1.0, 2.0, 3.0));
        let momentum = DVec3::new(0.8, -1.3, 0.6);
        let turn = turn_by(DVec3::new(0.3, 0.4, -0.2));
        let after = |steps: u32, time: f64| {
            let mut at = turn;
            (0..steps).for_each(|_| at = turned(&rest, at, momentum, time / f64::from(steps)));
            at
        };
        let exact = after(4000, 3.0);
        let error = |steps: u32| (after(steps, 3.0) - exact).length();
        let (coarse, fine) = (error(24), error(48));
        assert!(coarse / fine > 13.0 && coarse < 1e-6, "{coarse} and {fine}");
    }

    /// The time between two flips of a solid that turns nearly about its middle axis is half a period of the elliptic
    /// solution (Landau and Lifshitz, Mechanics, §37): 2 K(m) over its rate, K = π/2 agm(1, √(1 − m)).
    #[test]
    fn flips_come_when_the_elliptic_solution_says() {
        let rest = solid(DVec3::new(1.0, 2.0, 3.0));
        let spin = DVec3::new(0.01, 10.0, 0.01);
        let momentum = spin * rest.inertia;
        let twice = spin.dot(momentum);
        let square = momentum.length_squared();
        // Square is above 2 · twice, as there.
        let rate = ((3.0 - 2.0) * (square - twice) / 6.0).sqrt();
        let m = (2.0 - 1.0) * (3.0 * twice - square) / ((3.0 - 2.0) * (square - twice));
        let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
        while a - b > 1e-15 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        let wanted = std::f64::consts::PI / (a * rate);
        let (mut turn, mut before, mut flips) = (DQuat::IDENTITY, momentum.y, Vec::new());
        let (first, h) = (energy(&rest, turn, momentum), 1.0 / 60.0);
        let mut worst = 0.0_f64;
        for k in 1..=3600 {
            turn = turned(&rest, turn, momentum, h);
            let seen = (turn.conjugate() * momentum).y;
            if seen * before < 0.0 {
                flips.push((f64::from(k) - seen / (seen - before)) * h);
            }
            before = seen;
            worst = worst.max((energy(&rest, turn, momentum) / first - 1.0).abs());
        }
        let mean = (flips[flips.len() - 1] - flips[0]) / (flips.len() - 1) as f64;
        assert!(
            flips.len() > 10 && (mean / wanted - 1.0).abs() < 1e-4,
            "{mean} s instead of {wanted}: {flips:?}"
        );
        for pair in flips.windows(2) {
            assert!(((pair[1] - pair[0]) / wanted - 1.0).abs() < 0.01, "{flips:?}");
        }
        assert!(worst < 1e-6, "{worst}");
    }

    #[test]
    fn symmetric_solids_turn_exactly_at_any_step() {
        for inertia in [
            DVec3::splat(0.4),
            DVec3::new(0.4, 0.1, 0.4),
            DVec3::new(0.1, 0.4, 0.4),
            DVec3::new(0.4, 0.4, 0.7),
        ] {
            let rest = solid(inertia);
            let momentum = DVec3::new(0.8, -1.3, 0.6);
            let turn = turn_by(DVec3::new(0.3, 0.4, -0.2));
            let mut fine = turn;
            (0..1000).for_each(|_| fine = turned(&rest, fine, momentum, 1e-3));
            let once = turned(&rest, turn, momentum, 1.0);
            assert!((once - fine).length() < 1e-13, "{inertia}: {once} and {fine}");
            assert!((energy(&rest, once, momentum) - energy(&rest, turn, momentum)).abs() < 1e-14);
        }
    }
}
