//! What trembling parents do to a point glued to them: less the more they are, and anything once they are on a line.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, order};
use crate::plot::{Panel, Plot, Style};
use pliant::{DMat3, DVec3};
use pliant_geometry::SplitMix64;
use pliant_math::procrustes::Cloud;

const DISC: &str = "on a disc";
const SPHERE: &str = "on a sphere";
const AREA: &str = "on a disc that grows with them";
const NOISE: &str = "noise of the bound point";
const CONDITION: &str = "condition number";
const LENGTH: &str = "change of the arm's length";
const COUNTS: [usize; 10] = [3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// How far parents tremble in the root mean square, over the radius of the disc.
const TREMBLE: f64 = 1e-3;
const TRIALS: usize = 2000;
/// Parents that collapse.
const COLLAPSING: usize = 10;
/// As far outside the disc as it is wide, and above it.
const BOUND: DVec3 = DVec3::new(0.8, 1.6, 0.8);

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "glue_parents",
        about: "Noise of a glued point against the number of its parents, and parents on a line",
    },
    run,
    metrics: &[
        ("noise_order", |p| {
            let [disc, sphere] = [DISC, SPHERE].map(|name| order(p.points(0, name)));
            if (disc + 0.5).abs() > (sphere + 0.5).abs() { disc } else { sphere }
        }),
        ("area_over_crowd", |p| last(p, 0, AREA) / last(p, 0, DISC)),
        ("noise_of_a_line", |p| {
            let noise = p.values(1, NOISE);
            noise.last().zip(noise.first()).map_or(f64::NAN, |(line, rest)| line / rest)
        }),
        ("condition_order", |p| order(p.points(2, CONDITION))),
        ("arm_lost", |p| largest(&p.values(2, LENGTH))),
    ],
};

fn last(plot: &Plot, panel: usize, name: &str) -> f64 {
    plot.values(panel, name).last().copied().unwrap_or(f64::NAN)
}

/// Points spread evenly over a disc of radius 1, of the same inertia for any number.
fn disc(n: usize) -> Vec<DVec3> {
    let place = |k: usize| {
        let (s, c) = turned(k);
        DVec3::new(c, s, 0.0) * ((k as f64 + 0.5) / n as f64).sqrt()
    };
    (0..n).map(place).collect()
}

/// And over a sphere.
fn sphere(n: usize) -> Vec<DVec3> {
    let place = |k: usize| {
        let (s, c) = turned(k);
        let z = 1.0 - (2 * k + 1) as f64 / n as f64;
        DVec3::new(c, s, 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z
    };
    (0..n).map(place).collect()
}

/// Sine and cosine of so many golden angles.
fn turned(k: usize) -> (f64, f64) {
    (2.399_963_229_728_653 * k as f64).sin_cos()
}

/// The same numbers in every run, of mean 0 and mean square 1.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> f64 {
        (2.0 * self.0.unit() - 1.0) * 3.0_f64.sqrt()
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next()) / 3.0_f64.sqrt()
    }
}

/// How far the bound point trembles in the root mean square when parents at these places do, who were at rest elsewhere.
fn noise(cloud: &Cloud, at: &[DVec3]) -> f64 {
    let still = cloud.fit(|i| at[i], DMat3::IDENTITY);
    let mut random = Random(SplitMix64::new(2010));
    let mut moved = at.to_vec();
    let mut sum = 0.0;
    for _ in 0..TRIALS {
        moved.iter_mut().zip(at).for_each(|(x, at)| *x = *at + random.vector() * TREMBLE);
        let fit = cloud.fit(|i| moved[i], still.rotation);
        sum += fit.place(BOUND).distance_squared(still.place(BOUND));
    }
    (sum / TRIALS as f64).sqrt()
}

/// Where so many parents are at rest.
type Places = fn(usize) -> Vec<DVec3>;

fn crowd() -> Result<Panel, Failure> {
    let mut panel =
        Panel::new("Noise of the bound point", "number of parents", "noise / trembling of a parent")
            .x_log()
            .y_log();
    let larger: Places = |n| disc(n).iter().map(|x| *x * (n as f64 / 3.0).sqrt()).collect();
    let spread: [(&str, Places); 3] = [(DISC, disc), (SPHERE, sphere), (AREA, larger)];
    let mut end = f64::NAN;
    for (name, places) in spread {
        let mut points = Vec::new();
        for n in COUNTS {
            let at = places(n);
            let cloud = Cloud::new(&at, &vec![1.0; n])?;
            points.push((n as f64, noise(&cloud, &at) / TREMBLE));
        }
        if name == DISC {
            end = points.last().map_or(f64::NAN, |p: &(f64, f64)| p.1);
        }
        panel = panel.line(name, Style::Marked, points);
    }
    let guide = COUNTS.map(|n| (n as f64, end * (64.0 / n as f64).sqrt()));
    Ok(panel.line("as the root of their number", Style::Guide, guide.to_vec()))
}

fn run() -> Result<Plot, Failure> {
    let rest = disc(COLLAPSING);
    let cloud = Cloud::new(&rest, &[1.0; COLLAPSING])?;
    let arm = BOUND.distance(cloud.mean());
    let (mut noises, mut conditions, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    // The last is a line.
    for k in 0..=28 {
        let width = if k < 28 { 10_f64.powf(-f64::from(k) / 3.0) } else { 0.0 };
        // Where it is drawn and fitted; a line has no place on a logarithmic axis.
        let drawn = 10_f64.powf(-f64::from(k) / 3.0);
        let squashed: Vec<DVec3> = rest.iter().map(|x| DVec3::new(x.x, x.y * width, x.z)).collect();
        let fit = cloud.fit(|i| squashed[i], DMat3::IDENTITY);
        noises.push((drawn, noise(&cloud, &squashed) / TREMBLE));
        if width > 0.0 {
            conditions.push((drawn, fit.condition));
        }
        let now = fit.place(BOUND).distance(fit.translation);
        lengths.push((drawn, ((now - arm) / arm).abs().max(1e-17)));
    }
    let title = format!("{COLLAPSING} parents on a disc squashed to a line");
    let width = "width left (last: none)";
    let trembling = Panel::new(&title, width, "noise / trembling of a parent").x_log().y_log().line(
        NOISE,
        Style::Marked,
        noises,
    );
    let fitted = Panel::new("Their fit", width, "condition number, relative change")
        .x_log()
        .y_log()
        .line(CONDITION, Style::Marked, conditions)
        .line(LENGTH, Style::Marked, lengths);
    Ok(Plot {
        panels: vec![crowd()?, trembling, fitted],
        ..Plot::new("A point glued to parents that tremble")
    })
}
