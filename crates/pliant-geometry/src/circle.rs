//! Points evenly round the unit circle, the same bits on every machine.
//!
//! `f64::sin` comes from the system's mathematics library and differs between systems in the last bit;
//! shapes built on it would not be the same everywhere.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// (cosine, sine) of `i/count` of a full turn.
pub(crate) fn turn(i: usize, count: usize) -> (f64, f64) {
    // Exact reduction in whole numbers: quarter turns first, then the nearer half of the quarter.
    let quarters = 4 * (i % count) / count;
    let rest = 4 * (i % count) - quarters * count;
    let mirrored = 2 * rest > count;
    let part = if mirrored { count - rest } else { rest };
    let (c, s) = small(FRAC_PI_2 * part as f64 / count as f64);
    let (c, s) = if mirrored { (s, c) } else { (c, s) };
    match quarters {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    }
}

/// Cosine and sine of an angle between 0 and π/4 by their power series.
fn small(angle: f64) -> (f64, f64) {
    debug_assert!((0.0..=FRAC_PI_4 + 1e-9).contains(&angle));
    let x2 = angle * angle;
    let series = |first: f64| {
        // Summed from the smallest term; eleven terms reach the last bit.
        (0..11).rev().fold(1.0, |sum, k| {
            let n = 2.0 * f64::from(k) + first;
            1.0 - x2 / (n * (n + 1.0)) * sum
        })
    };
    (series(1.0), angle * series(2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library_and_is_exact_at_quarters() {
        for count in [3, 4, 5, 8, 17, 64, 97] {
            for i in 0..2 * count {
                let angle = std::f64::consts::TAU * i as f64 / count as f64;
                let (c, s) = turn(i, count);
                assert!((c - angle.cos()).abs() < 4e-15 && (s - angle.sin()).abs() < 4e-15, "{i}/{count}");
            }
        }
        assert_eq!(turn(2, 8), (0.0, 1.0));
        assert_eq!(turn(4, 8), (-1.0, 0.0));
    }
}
