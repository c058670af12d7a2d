//! Finding what touches what, without what comes of it: boxes fitted, then all pairs.

mod scene;

use crate::timing::best_of;
use crate::{Measurement, Run};
use scene::Scene;
use std::time::Duration;

/// Sheets of the same density and detail, by the number of their vertices.
pub(crate) const ROLLED: [(&str, usize); 4] = [
    ("contact/detect/rolled/12k", 12_500),
    ("contact/detect/rolled/50k", 50_000),
    ("contact/detect/rolled/200k", 200_000),
    ("contact/detect/rolled/1m", 1_000_000),
];

pub(crate) fn rolled(run: &mut Run<'_>) -> Result<(), String> {
    for (name, vertices) in ROLLED {
        if run.wants(name) {
            let scene = Scene::rolled(vertices).map_err(|e| e.to_string())?;
            measure(run, name, scene);
        }
    }
    Ok(())
}

pub(crate) fn pile(run: &mut Run<'_>) -> Result<(), String> {
    let scene = Scene::pile().map_err(|e| e.to_string())?;
    measure(run, "contact/detect/pile", scene);
    Ok(())
}

fn measure(run: &mut Run<'_>, name: &'static str, mut scene: Scene) {
    let budget = Duration::from_secs(1);
    for threads in run.one_and_two() {
        let fit = best_of(budget / 4, || scene.fit(threads));
        let value = best_of(budget, || scene.detect(threads));
        let (vertices, pairs, visits) = scene.size();
        let each = 1e9 * value / vertices as f64;
        let note = format!(
            "{vertices} vertices, {pairs} pairs, {visits} visits, {each:.0} ns a vertex; boxes fitted in {:.2} ms",
            1e3 * fit
        );
        let isa = pliant::Isa::best().name();
        run.report(Measurement::new(name, (value, "s"), isa).on(threads).noted(note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_touch_where_they_should() {
        let mut pile = Scene::pile().unwrap();
        pile.fit(2);
        pile.detect(2);
        let (vertices, pairs, _) = pile.size();
        assert_eq!(vertices, 29_600);
        assert!((5_000..60_000).contains(&pairs), "{pairs}");
        // More layers, but no more than that.
        let work = [12_500, 50_000].map(|n| {
            let mut sheet = Scene::rolled(n).unwrap();
            sheet.fit(1);
            sheet.detect(1);
            let (vertices, pairs, visits) = sheet.size();
            assert!(pairs > 10 * vertices && vertices.abs_diff(n) < n / 50);
            visits as f64 / vertices as f64
        });
        assert!(work[1] < 2.0 * work[0], "{work:?}");
    }
}
