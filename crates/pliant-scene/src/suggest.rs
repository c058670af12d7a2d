//! Which of some words was most likely meant.

/// The word nearest to `given`, if any is near enough that it was probably meant: what to ask after "did you mean".
pub fn nearest<'a>(given: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase().replace(['-', ' '], "_");
    let mut best: Option<(usize, f64, &str)> = None;
    for word in words {
        let distance = strsim::osa_distance(&given, &word.to_lowercase());
        // A third of the letters may be wrong, but two short words with nothing in common are not alike.
        let allowed = (given.chars().count().max(word.chars().count()) / 3).max(1);
        let alike = strsim::jaro_winkler(&given, &word.to_lowercase());
        if (distance > allowed && alike < 0.88) || alike == 0.0 {
            continue;
        }
        if best.is_none_or(|(d, a, _)| distance < d || (distance == d && alike > a)) {
            best = Some((distance, alike, word));
        }
    }
    best.map(|b| b.2)
}

/// The `most` words that look most like `given`, the likeliest first; none that has next to nothing in common with it.
pub(crate) fn likely<'a>(given: &str, words: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    const LITTLE: f64 = 0.6;
    let given = given.to_lowercase().replace(['-', ' '], "_");
    let alike = |word: &str| strsim::jaro_winkler(&given, &word.to_lowercase());
    let mut near: Vec<(f64, &str)> =
        words.into_iter().map(|w| (alike(w), w)).filter(|w| w.0 > LITTLE).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(most).map(|w| w.1).collect()
}

/// Words as `a`, `b` or `c`.
pub(crate) fn list(words: &[&str], last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, start)) => format!("{} {last} {end}", start.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_leaves_strangers() {
        let words = ["frequency", "friction", "frames", "fps", "force"];
        assert_eq!(nearest("frequancy", words), Some("frequency"));
        assert_eq!(nearest("Friction", words), Some("friction"));
        assert_eq!(nearest("frame", words), Some("frames"));
        assert_eq!(nearest("zebra", words), None);
        assert_eq!(nearest("", words), None);
    }
}
