//! Figure 6 of the projective-dynamics paper: a curtain with strain limits of 10, 20 and 30 percent.

use super::{Definition, Failure, Figure};
use crate::elements::{noise, place, places};
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::view::seen;
use pliant::constraints::Limits;
use pliant::{
    Body, Builder, ConstraintKind, DQuat, DVec3, Material, Motion, Pins, Selection, Simulation, shapes,
};
use pliant_geometry::unit_normal;
use std::f64::consts::FRAC_PI_2;

const LIMITS: [f64; 3] = [0.1, 0.2, 0.3];
const CELLS: usize = 40;
/// Every so many particles of the upper edge hang on the rail.
const HOOK: usize = 5;
const SIDE: f64 = 2.0;
/// The rail gathers the curtain to this part of its width, in a second.
const GATHERED: f64 = 0.75;
const STEPS: usize = 150;
const STRETCH: &str = "99th percentile of stretch";
const FOLDS: &str = "root mean square angle between neighbours";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "curtain_limits",
        about: "A curtain with strain limits of 10, 20 and 30 percent: stretch and folds (figure 6)",
    },
    run,
    metrics: &[
        // The least gain from one limit to the next.
        ("stretch_gain", |p| {
            let s = p.values(3, STRETCH);
            -largest(&s.windows(2).map(|w| -w[1] / w[0]).collect::<Vec<_>>())
        }),
        ("over_limit", |p| {
            let over = p.points(3, STRETCH).iter().map(|(limit, s)| s / limit);
            largest(&over.collect::<Vec<_>>())
        }),
        // The largest ratio from one limit to the next.
        ("folds_left", |p| {
            let f = p.values(4, FOLDS);
            largest(&f.windows(2).map(|w| w[1] / w[0]).collect::<Vec<_>>())
        }),
    ],
};

fn curtain(cells: usize, limit: f64) -> Result<Simulation, Failure> {
    let shape = shapes::sheet(SIDE, SIDE, cells, cells)?;
    let cotton = Material { density: 300.0, young: 2e6, poisson: 0.0, thickness: 2e-3, damping: 2.0 };
    let mut body = Body::new("curtain", shape).elastic(cotton);
    body.constraints = vec![
        ConstraintKind::StrainLimit(Limits::new([1.0 - limit, 1.0 + limit])).into(),
        ConstraintKind::Bending.into(),
    ];
    body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
    body.controls.iterations = 20;
    for i in (0..=cells).step_by(HOOK) {
        let x = body.shape.points[i].x;
        let motion = Motion { velocity: DVec3::X * (GATHERED - 1.0) * x, end: 1.0, ..Motion::REST };
        let select = Selection::Particles(vec![i as u32]);
        body.pins.push(Pins { name: String::new(), select, motion, stiffness: None });
    }
    let mut simulation = Builder::new().substeps(1).body(body).build()?;
    // A flat sheet does not know to which side to fold.
    let edge = cells + 1;
    place(&mut simulation, |i, p| if i < edge { p } else { p + DVec3::Z * 1e-3 * noise(i) })?;
    Ok(simulation)
}

/// Larger principal stretch of a triangle, rest is 0.
fn stretch(rest: [DVec3; 3], now: [DVec3; 3]) -> f64 {
    let (u, v) = (rest[1] - rest[0], rest[2] - rest[0]);
    let x = u.normalize_or(DVec3::X);
    let y = u.cross(v).cross(u).normalize_or(DVec3::Y);
    let (a, c, d) = (u.dot(x), v.dot(x), v.dot(y));
    // Columns of the gradient F = [e1 e2] [a c; 0 d]⁻¹.
    let f1 = (now[1] - now[0]) / a;
    let f2 = (now[2] - now[0] - f1 * c) / d;
    let (p, q, r) = (f1.dot(f1), f1.dot(f2), f2.dot(f2));
    (0.5 * (p + r) + (0.25 * (p - r).powi(2) + q * q).sqrt()).sqrt() - 1.0
}

/// Principal stretches of all triangles, ascending, and the root mean square angle (degrees) between
/// neighbours.
fn measure(points: &[DVec3], rest: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<f64>, f64) {
    let corners = |p: &[DVec3], t: &[u32; 3]| t.map(|i| p[i as usize]);
    let mut all: Vec<f64> = triangles.iter().map(|t| stretch(corners(rest, t), corners(points, t))).collect();
    all.sort_by(f64::total_cmp);
    let normal = |t: &[u32; 3]| unit_normal(corners(points, t));
    let mut by_edge = std::collections::BTreeMap::new();
    let (mut sum, mut count) = (0.0, 0.0);
    for t in triangles {
        for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            if let Some(other) = by_edge.insert((i.min(j), i.max(j)), normal(t)) {
                sum += other.angle_between(normal(t)).powi(2);
                count += 1.0;
            }
        }
    }
    (all, f64::sqrt(sum / count).to_degrees())
}

fn run() -> Result<Plot, Failure> {
    let shape = shapes::sheet(SIDE, SIDE, CELLS, CELLS)?;
    let mut panels = Vec::new();
    let mut spread = Panel::new("Stretch of the triangles", "share of triangles (%)", "larger stretch (%)");
    let (mut stretches, mut folds) = (Vec::new(), Vec::new());
    for limit in LIMITS {
        let mut simulation = curtain(CELLS, limit)?;
        for _ in 0..STEPS {
            simulation.step()?;
        }
        let points = places(&simulation);
        let (all, fold) = measure(&points, &shape.points, &shape.triangles);
        let percent = 100.0 * limit;
        stretches.push((percent, 100.0 * all[all.len() * 99 / 100]));
        folds.push((percent, fold));
        let curve = all.iter().enumerate().step_by(16);
        let curve = curve.map(|(k, s)| (100.0 * k as f64 / all.len() as f64, 100.0 * s)).collect();
        spread = spread.line(format!("±{percent:.0} %"), Style::Solid, curve);
        let faces = seen(DVec3::new(0.3, 0.15, 1.0), &points, &shape.triangles, 0);
        panels.push(Panel::faces(format!("Limits ±{percent:.0} %"), "after 2.5 s", faces));
    }
    let same = LIMITS.map(|l| (100.0 * l, 100.0 * l)).to_vec();
    let stretch = Panel::new("Stretch against the limit", "limit (%)", "stretch (%)")
        .line(STRETCH, Style::Marked, stretches)
        .line("the limit", Style::Guide, same);
    let fold =
        Panel::new("Folds against the limit", "limit (%)", "angle (°)").line(FOLDS, Style::Marked, folds);
    panels.extend([stretch, fold, spread]);
    let title =
        "A curtain on hooks, gathered to 75 % of its width, with limits on the strain of its triangles";
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretch_and_angles_of_known_shapes() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::new(0.3, 0.8, 0.0)];
        let pulled = rest.map(|p| DQuat::from_rotation_y(0.7) * (p * DVec3::new(0.9, 1.25, 1.0)));
        assert!((stretch(rest, pulled) - 0.25).abs() < 1e-12);
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.5, 0.5, 0.5_f64.sqrt())];
        let (all, angle) = measure(&points, &points, &[[0, 1, 2], [1, 3, 2]]);
        assert!(all[1].abs() < 1e-12 && (angle - 90.0).abs() < 1e-9, "{angle}");
        let mut small = curtain(5, 0.1).unwrap();
        small.step().unwrap();
    }
}
