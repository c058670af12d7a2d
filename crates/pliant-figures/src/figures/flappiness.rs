//! The deformer's flappiness α_f: the share of the matching step that becomes velocity. Little creeps to the
//! goal, much overshoots; on a stretched cube, and on a tail whose handle stops.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, deformer, weightless};
use pliant::shapes::capsule;
use pliant::{
    Body, Builder, ClusterMethod, ClusterStyle, Clustering, DVec3, Goals, Motion, Pins, Selection, Simulation,
};

const STIFFNESS: f64 = 0.2;
const STRETCH: f64 = 0.5;
const STEPS: usize = 120;
const OVERSHOOT: &str = "how far below the rest width";
/// The tail's handle sways for one period, then stops where it began.
const SWAY: f64 = 0.15;
const SECONDS: usize = 3;
const LIMP: f64 = 0.2;
/// Of four substeps a step: a tail of many clusters hangs limp in softer ones.
const TAIL_STIFFNESS: f64 = 0.6;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "flappiness",
        about: "Overshoot against the deformer's flappiness, cube and tail",
    },
    run,
    metrics: &[
        ("overshoot_full", |p| at(p, 1.0)),
        ("overshoot_none", |p| at(p, 0.0)),
        ("overshoot_trend", |p| {
            let each = p.values(1, OVERSHOOT);
            -largest(&each.windows(2).map(|w| w[0] - w[1]).collect::<Vec<_>>())
        }),
        ("time_share", |p| arrival(p, 0.1) / arrival(p, 1.0)),
        ("tail_overshoot_ratio", |p| {
            let swing = |flappiness: f64| {
                let after = tail(&p.values(2, &label(flappiness)), (SECONDS - 1) * RATE as usize).to_vec();
                largest(&after.iter().map(|x| x.abs()).collect::<Vec<_>>())
            };
            swing(1.0) / swing(LIMP)
        }),
    ],
};

fn label(flappiness: f64) -> String {
    format!("α_f = {flappiness:.1}")
}

fn tenths() -> impl Iterator<Item = f64> {
    (0..=10).map(|k| f64::from(k) / 10.0)
}

fn at(plot: &Plot, flappiness: f64) -> f64 {
    let point = plot.points(1, OVERSHOOT).iter().find(|p| (p.0 - flappiness).abs() < 1e-9);
    point.map_or(f64::NAN, |p| p.1)
}

/// Steps until nine tenths of the way are done; fractions by interpolation.
fn arrival(plot: &Plot, flappiness: f64) -> f64 {
    let goal = 1.0 + 0.1 * STRETCH;
    let points = plot.points(0, &label(flappiness));
    let crossing = points.windows(2).find(|w| w[0].1 > goal && w[1].1 <= goal);
    crossing.map_or(f64::NAN, |w| w[0].0 + (w[0].1 - goal) / (w[0].1 - w[1].1) * (w[1].0 - w[0].0))
}

fn run() -> Result<Plot, Failure> {
    let title = "Width of a cube stretched by 50 %, first 60 of 120 steps";
    let mut widths = Panel::new(title, "step", "width (m)").view(0.0, 60.0);
    let mut overshoot = Vec::new();
    for flappiness in tenths() {
        let mut body = deformer(cube(Clustering::Whole, 0.0)?, STIFFNESS, flappiness);
        body.stretch = DVec3::new(1.0 + STRETCH, 1.0, 1.0);
        let mut simulation = weightless(body)?;
        let mut points = vec![(0.0, width(&simulation))];
        for step in 1..=STEPS {
            simulation.step()?;
            points.push((step as f64, width(&simulation)));
        }
        let below: Vec<f64> = points.iter().map(|p| (1.0 - p.1) / STRETCH).collect();
        overshoot.push((flappiness, largest(&below).max(0.0)));
        // Eleven lines would hide each other; the sum of all is in the second panel.
        if [0.0, 0.1, 0.2, 0.5, 1.0].contains(&flappiness) {
            widths = widths.line(label(flappiness), Style::Solid, points);
        }
    }
    let overshoot = Panel::new("Overshoot", "flappiness α_f", "share of the stretch").line(
        OVERSHOOT,
        Style::Marked,
        overshoot,
    );
    let mut tip = Panel::new(
        "Tip of a tail whose handle sways once and stops at 1 s",
        "time (s)",
        "tip's place along the sway (m)",
    );
    for flappiness in [LIMP, 0.6, 1.0] {
        let mut builder = Builder::new().body(tail_body(flappiness)?);
        builder.gravity = DVec3::ZERO;
        let mut simulation = builder.build()?;
        let rest = &simulation.model().bodies()[0].parts.rest().positions;
        let top = (0..rest.len()).max_by(|&a, &b| rest.get(a).y.total_cmp(&rest.get(b).y)).unwrap_or(0);
        let start = rest.get(top).x;
        let mut points = vec![(0.0, 0.0)];
        for _ in 0..SECONDS * RATE as usize {
            simulation.step()?;
            points.push((
                simulation.state().time(),
                simulation.state().bodies()[0].positions().get(top).x - start,
            ));
        }
        tip = tip.line(label(flappiness), Style::Solid, points);
    }
    let handle = (0..=60).map(|k| f64::from(k) / 60.0).map(|t| (t, SWAY * (std::f64::consts::TAU * t).sin()));
    let tip = tip.line("the handle", Style::Guide, handle.chain([(SECONDS as f64, 0.0)]).collect());
    let title = format!(
        "Flappiness of the deformer (no gravity, no damping; cube α_s = {STIFFNESS}, tail {TAIL_STIFFNESS})"
    );
    Ok(Plot { panels: vec![widths, overshoot, tip], ..Plot::new(title) })
}

fn width(s: &Simulation) -> f64 {
    let (lo, hi) = s.positions(0).fold((f64::MAX, f64::MIN), |(lo, hi), p| (lo.min(p.x), hi.max(p.x)));
    hi - lo
}

/// An upright tail held at its lower end by the handle.
fn tail_body(flappiness: f64) -> Result<Body, Failure> {
    let mut body = Body::new("tail", capsule(0.06, 0.6, 0.03)?).goals(Goals::Quadratic);
    // Overlapping well: clusters that share few particles hang on each other as on a hinge.
    body.clusters = Clustering::Count(8);
    body.cluster_style =
        ClusterStyle { method: ClusterMethod::KMeans, overlap: 1.0, ..ClusterStyle::default() };
    body.controls.deformation = 0.3;
    body.pins.push(Pins {
        name: "handle".into(),
        select: Selection::Box(DVec3::splat(-1.0), DVec3::new(1.0, -0.2, 1.0)),
        motion: Motion { sway: DVec3::X * SWAY, frequency: 1.0, end: 1.0, ..Motion::REST },
        stiffness: None,
    });
    Ok(deformer(body, TAIL_STIFFNESS, flappiness))
}
