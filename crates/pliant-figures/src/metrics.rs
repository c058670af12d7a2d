//! Numbers made of series, as pure functions: NaN, which no threshold accepts, where there is no data.

/// Largest value; NaN of nothing or if a value is NaN.
pub fn largest(values: &[f64]) -> f64 {
    // `f64::max` forgets NaN, and a run that went through NaN must not be forgiven.
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Smallest value; NaN of nothing or if a value is NaN.
pub fn smallest(values: &[f64]) -> f64 {
    -largest(&values.iter().map(|v| -v).collect::<Vec<_>>())
}

/// Mean value; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle value, the upper one of two; NaN of nothing or if a value is NaN.
pub fn median(mut values: Vec<f64>) -> f64 {
    if values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Difference between the largest and the smallest value; NaN of nothing.
pub fn swing(values: &[f64]) -> f64 {
    largest(values) - smallest(values)
}

/// Values from the least to the greatest against the share of them that are no greater, both ends and at most `steps`
/// between: enough to draw a distribution and to take its mean.
pub fn distribution(mut values: Vec<f64>, steps: usize) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let steps = steps.min(last).max(1);
    let at = |k: usize| k * last / steps;
    (0..=steps).filter_map(|k| Some((k as f64 / steps as f64, *values.get(at(k))?))).collect()
}

/// The first `n` values, all if there are fewer.
pub fn head(values: &[f64], n: usize) -> &[f64] {
    &values[..n.min(values.len())]
}

/// The last `n` values, all if there are fewer.
pub fn tail(values: &[f64], n: usize) -> &[f64] {
    &values[values.len() - n.min(values.len())..]
}

/// Peaks late in the series over peaks early in it: the series is cut into ten blocks, and the mean of
/// the last three blocks' largest values divided by that of the first three's.
pub fn growth(values: &[f64]) -> f64 {
    if values.len() < 10 {
        return f64::NAN;
    }
    let peaks: Vec<f64> =
        (0..10).map(|k| largest(&values[k * values.len() / 10..(k + 1) * values.len() / 10])).collect();
    mean(&peaks[7..]) / mean(&peaks[..3])
}

/// Largest ratio of a value to the one before, for a series that should never increase. Steps within
/// `floor` of each other count as none: below it there is only rounding.
pub fn worst_ratio(values: &[f64], floor: f64) -> f64 {
    let ratios: Vec<f64> = values
        .windows(2)
        .map(|w| if w[1] - w[0] <= floor { (w[1] / w[0]).min(1.0) } else { w[1] / w[0] })
        .collect();
    largest(&ratios)
}

/// Slope, and share of the variance explained (R²), of the straight line through the points.
pub fn line_fit(points: &[(f64, f64)]) -> (f64, f64) {
    if points.len() < 3 {
        return (f64::NAN, f64::NAN);
    }
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(a, b), p| (a + p.0 / n, b + p.1 / n));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
        yy += (y - my) * (y - my);
    }
    (xy / xx, xy * xy / (xx * yy))
}

/// Slope of the line through the points in logarithms: the order of a power law.
pub fn order(points: &[(f64, f64)]) -> f64 {
    line_fit(&points.iter().map(|p| (p.0.ln(), p.1.ln())).collect::<Vec<_>>()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_nan_give_nan() {
        assert!(largest(&[]).is_nan() && mean(&[]).is_nan() && swing(&[]).is_nan());
        assert!(growth(&[1.0; 9]).is_nan() && worst_ratio(&[1.0], 0.0).is_nan() && order(&[]).is_nan());
        assert!(median(vec![]).is_nan() && median(vec![1.0, f64::NAN, 2.0]).is_nan());
        assert!(swing(&[1.0, f64::NAN, 2.0]).is_nan() && largest(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn known_series_give_known_numbers() {
        assert_eq!(swing(&[1.0, -2.0, 3.0]), 5.0);
        assert_eq!(median(vec![3.0, 1.0, 9.0]), 3.0);
        assert_eq!(worst_ratio(&[4.0, 2.0, 3.0, 1.0], 0.0), 1.5);
        assert_eq!(worst_ratio(&[1.0, 1e-20, 2e-20], 1e-15), 1.0);
        let square: Vec<(f64, f64)> = (1..9).map(|k| (f64::from(k), f64::from(k * k) * 3.0)).collect();
        assert!((order(&square) - 2.0).abs() < 1e-12);
        let grows: Vec<f64> = (0..100).map(|k| 1.0 + f64::from(k)).collect();
        assert!((growth(&grows) - 90.0 / 20.0).abs() < 1e-12);
    }
}
