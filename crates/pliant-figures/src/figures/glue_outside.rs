//! A force on a point outside its parents (figures 1 and 4 of "The Point Cloud Glue"): weights of which one is negative drive
//! them apart, glue does not.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, smallest};
use crate::plot::{Panel, Plot, Style};
use pliant::{DMat3, DVec3};
use pliant_math::procrustes::{Cloud, Fit};
use std::f64::consts::PI;

const CASES: [&str; 4] = ["a. along the arm", "b. across it", "c. both", "d. both, on deformed parents"];
const PULL: &str = "on the bound point";
const SHARES: [&str; 4] = ["on parent 1", "on parent 2", "on parent 3", "on parent 4"];
/// The panels after the cases.
const DISTANCES: usize = 4;
const LOST: usize = 5;
const WEIGHTS: &str = "weights (1, 1, −1): change";
const APART: &str = "weights (1, 1, −1): growth";
const GLUE: &str = "glue: change";
const SPRING: &str = "one spring under the same force";
const FORCE_LOST: &str = "force";
const TORQUE_LOST: &str = "torque";

/// The triangle: masses of 1 kg, springs of this stiffness (N/m) and 1 m between them, and the force on the bound point (N).
const STIFFNESS: f64 = 100.0;
const FORCE: f64 = 2.0;
/// Steps of a run, which is one period of the springs.
const STEPS: usize = 20_000;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "glue_outside",
        about: "Forces on a point outside its parents: weights drive them apart, glue does not",
    },
    run,
    metrics: &[
        ("apart_by_barycentric", |p| {
            smallest(&p.values(DISTANCES, APART)) / largest(&p.values(DISTANCES, SPRING))
        }),
        ("barycentric_over_glue", |p| {
            largest(&p.values(DISTANCES, WEIGHTS)) / largest(&p.values(DISTANCES, GLUE))
        }),
        ("same_way", same_way),
        ("windmill", windmill),
        ("lost_force_or_torque", |p| {
            let each = [FORCE_LOST, TORQUE_LOST].map(|name| largest(&p.values(LOST, name)));
            largest(&each)
        }),
    ],
};

/// Where an arrow begins, and where it goes.
fn arrow(plot: &Plot, panel: usize, name: &str) -> Option<(DVec3, DVec3)> {
    let [from, to, ..] = *plot.points(panel, name) else { return None };
    let [from, to] = [from, to].map(|(x, y)| DVec3::new(x, y, 0.0));
    Some((from, to - from))
}

/// The smallest cosine between the force along the arm and its shares.
fn same_way(plot: &Plot) -> f64 {
    let Some((_, pull)) = arrow(plot, 0, PULL) else { return f64::NAN };
    let cosine = |(_, share): (DVec3, DVec3)| share.normalize().dot(pull.normalize());
    smallest(&SHARES.map(|name| arrow(plot, 0, name).map_or(f64::NAN, cosine)))
}

/// The smallest sine between the places of parents seen from their middle and the shares, without their mean, of a force
/// across the arm; positive the way the force turns.
fn windmill(plot: &Plot) -> f64 {
    let Some((bound, pull)) = arrow(plot, 1, PULL) else { return f64::NAN };
    let sails: Vec<(DVec3, DVec3)> = SHARES.iter().filter_map(|name| arrow(plot, 1, name)).collect();
    if sails.len() != SHARES.len() {
        return f64::NAN;
    }
    let (middle, mean) =
        sails.iter().fold((DVec3::ZERO, DVec3::ZERO), |(a, b), s| (a + s.0 / 4.0, b + s.1 / 4.0));
    let direction = (bound - middle).cross(pull).normalize();
    let sine = |(at, share): &(DVec3, DVec3)| {
        (at - middle).normalize().cross((share - mean).normalize()).dot(direction)
    };
    smallest(&sails.iter().map(sine).collect::<Vec<_>>())
}

fn run() -> Result<Plot, Failure> {
    let mut panels = Vec::new();
    for (k, title) in CASES.iter().enumerate() {
        panels.push(case(title, k)?);
    }
    panels.push(distances()?);
    panels.push(lost()?);
    Ok(Plot { panels, ..Plot::new("Forces on a point bound outside its parents") })
}

/// The square of the arrows: parents, and the bound point.
const SQUARE: [DVec3; 4] = [
    DVec3::new(-0.5, -0.5, 0.0),
    DVec3::new(0.5, -0.5, 0.0),
    DVec3::new(0.5, 0.5, 0.0),
    DVec3::new(-0.5, 0.5, 0.0),
];
const BOUND: DVec3 = DVec3::new(1.4, 0.0, 0.0);

/// The parents of the last case: sheared, turned, and one pulled out.
fn deformed() -> [DVec3; 4] {
    let turn = DMat3::from_rotation_z(0.3);
    let mut at = SQUARE.map(|x| turn * DVec3::new(x.x + 0.3 * x.y, 0.8 * x.y, 0.0));
    at[2] += DVec3::new(0.25, 0.15, 0.0);
    at
}

fn shares(fit: &Fit, cloud: &Cloud, bound: DVec3, force: DVec3) -> Vec<DVec3> {
    let load = fit.load(bound, force);
    (0..cloud.len()).map(|i| fit.share(cloud, i, &load)).collect()
}

/// One of the paper's four drawings.
fn case(title: &str, number: usize) -> Result<Panel, Failure> {
    let cloud = Cloud::new(&SQUARE, &[1.0; 4])?;
    let at = if number == 3 { deformed() } else { SQUARE };
    let fit = cloud.fit(|i| at[i], DMat3::IDENTITY);
    let (bound, middle) = (fit.place(BOUND), fit.translation);
    let arm = fit.rotation * DVec3::X;
    let force = DMat3::from_rotation_z([0.0, 0.5 * PI, 0.25 * PI, 0.25 * PI][number]) * arm;
    let mut panel = Panel::new(title, "x", "y");
    panel = panel.line(PULL, Style::Solid, head(bound, force));
    for ((name, from), share) in SHARES.iter().zip(at).zip(shares(&fit, &cloud, BOUND, force)) {
        panel = panel.line(*name, Style::Solid, head(from, share));
    }
    let corners: Vec<DVec3> = (0..5).map(|k| at[k % 4]).collect();
    panel = panel.line("parents", Style::Guide, flat(&corners));
    let [x, y] = [0.6 * arm, 1.3 * (fit.rotation * DVec3::Y)];
    let plus = [middle - x, middle, middle + y, middle - y, middle, bound];
    panel = panel.line("axes of the fitted frame", Style::Guide, flat(&plus));
    // As wide as equal scales make it.
    let all = || panel.lines.iter().flat_map(|l| &l.points);
    let side = |of: fn(&(f64, f64)) -> f64| {
        all().map(of).fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (x, y) = (side(|p| p.0), side(|p| p.1));
    let half = 0.5 * (1.15 * 1.12 * (y.1 - y.0)).max(1.06 * (x.1 - x.0));
    let middle = 0.5 * (x.0 + x.1);
    Ok(panel.view(middle - half, middle + half))
}

fn flat(points: &[DVec3]) -> Vec<(f64, f64)> {
    points.iter().map(|p| (p.x, p.y)).collect()
}

/// An arrow: begin and end first, then the head.
fn head(from: DVec3, force: DVec3) -> Vec<(f64, f64)> {
    let tip = from + force;
    let (back, aside) = (0.08 * force.normalize_or_zero(), 0.04 * force.normalize_or_zero().cross(DVec3::Z));
    flat(&[from, tip, tip - back + aside, tip, tip - back - aside])
}

/// The triangle of figure 1, and the point that is bound as far outside as the third corner is inside.
fn triangle() -> ([DVec3; 3], DVec3) {
    let height = 0.75_f64.sqrt();
    let third = height / 3.0;
    let corners =
        [DVec3::new(third, -0.5, 0.0), DVec3::new(third, 0.5, 0.0), DVec3::new(-2.0 * third, 0.0, 0.0)];
    (corners, DVec3::new(third + height, 0.0, 0.0))
}

const EDGES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

/// The largest change and the largest growth of a distance between three free masses on springs, within a period, as `force`
/// shares the load among them. What glue leaves is that of a body that is spun up, which grows with the square of the load.
fn pulled(force: impl Fn(&[DVec3; 3]) -> [DVec3; 3]) -> [f64; 2] {
    let (mut x, _) = triangle();
    let mut v = [DVec3::ZERO; 3];
    let step = 2.0 * PI / (1.5 * STIFFNESS).sqrt() / STEPS as f64;
    let (mut change, mut growth) = (0.0_f64, 0.0_f64);
    for _ in 0..STEPS {
        let mut f = force(&x);
        for [a, b] in EDGES {
            let (direction, length) = (x[b] - x[a]).normalize_and_length();
            let pull = STIFFNESS * (length - 1.0) * direction;
            f[a] += pull;
            f[b] -= pull;
        }
        for i in 0..3 {
            v[i] += f[i] * step;
            x[i] += v[i] * step;
        }
        for [a, b] in EDGES {
            let longer = x[a].distance(x[b]) - 1.0;
            change = change.max(longer.abs());
            growth = growth.max(longer);
        }
    }
    [change, growth]
}

fn distances() -> Result<Panel, Failure> {
    let (corners, bound) = triangle();
    let cloud = Cloud::new(&corners, &[1.0; 3])?;
    let mut lines: [Vec<(f64, f64)>; 4] = Default::default();
    for k in 0..=12 {
        let angle = f64::from(15 * k);
        let load = FORCE * (DMat3::from_rotation_z(angle.to_radians()) * DVec3::X);
        let by_weights = pulled(|_| [load, load, -load]);
        let by_glue = pulled(|x| {
            let fit = cloud.fit(|i| x[i], DMat3::IDENTITY);
            let spread = fit.load(bound, load);
            [0, 1, 2].map(|i| fit.share(&cloud, i, &spread))
        });
        let values = [by_weights[0], by_weights[1], by_glue[0], FORCE / STIFFNESS];
        lines.iter_mut().zip(values).for_each(|(line, value)| line.push((angle, value)));
    }
    let [change, growth, glue, spring] = lines;
    let title = "Largest change of a distance between three free parents";
    Ok(Panel::new(title, "angle of the force to the arm (degrees)", "relative to the distance")
        .line(WEIGHTS, Style::Marked, change)
        .line(APART, Style::Dashed, growth)
        .line(GLUE, Style::Marked, glue)
        .line(SPRING, Style::Guide, spring))
}

/// What is missing in the sum of forces and torques, for parents that are more and more deformed.
fn lost() -> Result<Panel, Failure> {
    let cloud = Cloud::new(&SQUARE, &[1.0; 4])?;
    let mut lines: [Vec<(f64, f64)>; 2] = Default::default();
    for k in 0..=30 {
        let amount = 0.05 * f64::from(k);
        // Out of the plane, too.
        let moved = |i: usize| {
            let phase = (i * i) as f64 + 0.7 * f64::from(k);
            SQUARE[i] + amount * DVec3::new(phase.sin(), (2.0 * phase).cos(), (3.0 * phase).sin())
        };
        let fit = cloud.fit(moved, DMat3::IDENTITY);
        let force = DVec3::new(0.6, -1.0, 0.4);
        let all = shares(&fit, &cloud, BOUND, force);
        let sum: DVec3 = all.iter().sum();
        let about = |x: DVec3| x - fit.translation;
        let torque: DVec3 = all.iter().enumerate().map(|(i, f)| about(moved(i)).cross(*f)).sum();
        let wanted = about(fit.place(BOUND)).cross(force);
        let off = [(sum - force).length() / force.length(), (torque - wanted).length() / wanted.length()];
        lines.iter_mut().zip(off).for_each(|(line, off)| line.push((amount, off.max(1e-17))));
    }
    let [force, torque] = lines;
    Ok(Panel::new("What is lost of a force", "movement of parents / side of their square", "relative error")
        .y_log()
        .line(FORCE_LOST, Style::Marked, force)
        .line(TORQUE_LOST, Style::Marked, torque))
}
