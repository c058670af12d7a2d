//! Weak strain constraints combined with stronger strain limits (section 7.1 of the projective-dynamics paper): a bar
//! that is soft until its limit and stiff from there on.

use super::{Definition, Failure, Figure};
use crate::elements::places;
use crate::metrics::{largest, mean, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{GREEN, ORANGE, PINK, picture};
use crate::view::boundary;
use pliant::constraints::Limits;
use pliant::{
    Acceleration, Body, Builder, Constraint, ConstraintKind, DVec3, Material, Motion, Pins, Selection,
    Simulation, shapes,
};
use pliant_cache::render::{Colors, Image, Look, RenderItem};

const SIZE: DVec3 = DVec3::new(1.0, 0.2, 0.2);
const CELLS: [usize; 3] = [15, 3, 3];
/// Pa.
const WEAK: f64 = 1e4;
const STRONG: f64 = 20.0 * WEAK;
const LIMIT: f64 = 0.15;
/// Strain added in each step, and steps.
const STEP: f64 = 0.01;
const STEPS: usize = 32;
const TANGENT: usize = 1;
const STRAIN_ALONE: &str = "weak strain";
const LIMIT_ALONE: &str = "strong limit";
const BOTH: &str = "weak strain and strong limit";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "stiffening",
        about: "Force on a pulled bar of weak strain constraints, strong limits and both (section 7.1)",
    },
    run,
    metrics: &[
        ("soft_over_weak", |p| soft(p, BOTH) / soft(p, STRAIN_ALONE)),
        ("stiff_over_soft", |p| stiff(p, BOTH) / soft(p, BOTH)),
        ("bend_over_limit", |p| {
            let between = (stiff(p, BOTH) * soft(p, BOTH)).sqrt();
            let first = p.points(TANGENT, BOTH).iter().find(|q| q.1 > between);
            first.map_or(f64::NAN, |q| q.0) / (100.0 * LIMIT)
        }),
    ],
};

/// Mean tangent stiffness between two strains, as parts of the limit.
fn tangent(plot: &Plot, name: &str, from: f64, to: f64) -> f64 {
    let within = |q: &&(f64, f64)| (from..=to).contains(&(q.0 / (100.0 * LIMIT)));
    mean(&plot.points(TANGENT, name).iter().filter(within).map(|q| q.1).collect::<Vec<_>>())
}

fn soft(plot: &Plot, name: &str) -> f64 {
    tangent(plot, name, 0.0, 0.5)
}

fn stiff(plot: &Plot, name: &str) -> f64 {
    tangent(plot, name, 1.25, 2.0)
}

fn constraints(name: &str) -> Vec<Constraint> {
    let strain = ConstraintKind::Strain.of_stiffness(WEAK);
    let limit = ConstraintKind::StrainLimit(Limits::new([1.0 - LIMIT, 1.0 + LIMIT])).of_stiffness(STRONG);
    match name {
        STRAIN_ALONE => vec![strain],
        LIMIT_ALONE => vec![limit],
        _ => vec![strain, limit],
    }
}

/// A bar held at both ends, one of which is drawn away so slowly that forces are always in balance.
fn bar(cells: [usize; 3], name: &str) -> Result<Simulation, Failure> {
    let shape = shapes::tet_box(cells, SIZE, shapes::TetStyle::Five)?;
    let soft = Material { density: 1000.0, young: WEAK, poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("bar", shape).elastic(soft);
    body.constraints = constraints(name);
    body.controls.iterations = 60;
    for side in [-1.0, 1.0] {
        let end = |i: &u32| body.shape.points[*i as usize].x * side > 0.5 * SIZE.x - 1e-9;
        let select = Selection::Particles((0..body.shape.points.len() as u32).filter(end).collect());
        let velocity = if side > 0.0 { DVec3::X * STEP * SIZE.x } else { DVec3::ZERO };
        let motion = Motion { velocity, ..Motion::REST };
        body.pins.push(Pins { name: String::new(), select, motion, stiffness: None });
    }
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::ZERO;
    builder.step = 1.0;
    builder.implicit.acceleration = Acceleration::LBfgs;
    Ok(builder.build()?)
}

fn run() -> Result<Plot, Failure> {
    let mut forces = Panel::new("Force", "strain (%)", "force (N)");
    let mut tangents =
        Panel::new("Tangent stiffness", "strain (%)", "tangent stiffness × length / area (Pa)").y_log();
    let mut pictures = Vec::new();
    for (name, style, color) in [
        (STRAIN_ALONE, Style::Solid, GREEN),
        (LIMIT_ALONE, Style::Dashed, ORANGE),
        (BOTH, Style::Marked, PINK),
    ] {
        let mut simulation = bar(CELLS, name)?;
        let mut energy = vec![simulation.statistics().elastic];
        for _ in 0..STEPS {
            simulation.step()?;
            energy.push(simulation.statistics().elastic);
        }
        // The force is the slope of the energy, the tangent stiffness the slope of the force.
        let stretch = STEP * SIZE.x;
        let force: Vec<f64> = energy.windows(2).map(|e| (e[1] - e[0]) / stretch).collect();
        let percent = 100.0 * STEP;
        let at = |k: usize, half: f64| (k as f64 + half) * percent;
        let points = force.iter().enumerate().map(|(k, f)| (at(k, 0.5), *f)).collect();
        forces = forces.line(name, style, points);
        let scale = SIZE.x / (SIZE.y * SIZE.z);
        let slope = |(k, f): (usize, &[f64])| (at(k, 1.0), (f[1] - f[0]) / stretch * scale);
        // A limit alone has no stiffness before it is reached, and a logarithm no nothing.
        let points = force.windows(2).enumerate().map(slope).filter(|q| q.1 > 1.0).collect();
        tangents = tangents.line(name, style, points);
        let mut hung = hanging(name)?;
        for _ in 0..HANGING {
            hung.step()?;
        }
        pictures.push((name, color, places(&hung)));
    }
    let guide = |panel: Panel| {
        let values: Vec<f64> = panel.lines.iter().flat_map(|l| l.points.iter().map(|p| p.1)).collect();
        let ends = [smallest(&values), largest(&values)];
        panel.line("the limit", Style::Guide, ends.map(|y| (100.0 * LIMIT, y)).to_vec())
    };
    let (forces, tangents) = (guide(forces), guide(tangents));
    let outside = boundary(&shapes::tet_box(CELLS, SIZE, shapes::TetStyle::Five)?.tetrahedra);
    let note = "weak strain, strong limit, both";
    let image = side_by_side(&pictures, &outside);
    let picture = Panel::image("Hung up under the same weight, from the left", note, image);
    let title = format!(
        "A bar of strain constraints (10 kPa), of limits at ±{:.0} % twenty times as strong, and of both",
        100.0 * LIMIT
    );
    Ok(Plot { panels: vec![forces, tangents, picture], ..Plot::new(title) })
}

/// Long steps to a standstill.
const HANGING: usize = 40;

/// The bar hung up by an end; its weight stretches weak strain alone by a half on average.
fn hanging(name: &str) -> Result<Simulation, Failure> {
    let shape = shapes::tet_box(CELLS, SIZE, shapes::TetStyle::Five)?;
    let soft = Material { density: 1000.0, young: WEAK, poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("bar", shape).elastic(soft);
    body.constraints = constraints(name);
    body.controls.iterations = 60;
    let held = (0..body.shape.points.len() as u32)
        .filter(|&i| body.shape.points[i as usize].x > 0.5 * SIZE.x - 1e-9)
        .collect::<Vec<_>>();
    let mut builder = Builder::new().substeps(1).body(body.pin(held));
    // Along the bar: pictures turn it upright.
    builder.gravity = DVec3::X * -9.81;
    builder.step = 0.1;
    builder.implicit.acceleration = Acceleration::LBfgs;
    Ok(builder.build()?)
}

/// Bars beside one another, hanging down.
fn side_by_side(bars: &[(&str, [f32; 3], Vec<DVec3>)], triangles: &[[u32; 3]]) -> Image {
    let upright = |k: usize, p: &DVec3| DVec3::new(0.5 * k as f64 - p.y, p.x, p.z);
    let placed: Vec<Vec<DVec3>> =
        bars.iter().enumerate().map(|(k, bar)| bar.2.iter().map(|p| upright(k, p)).collect()).collect();
    let items: Vec<RenderItem<'_>> = bars
        .iter()
        .zip(&placed)
        .map(|((_, color, _), positions)| RenderItem::Mesh {
            positions,
            triangles,
            colors: Colors::Uniform(*color),
            look: Look::Jelly,
        })
        .collect();
    picture(&items, &placed.concat(), 15.0, 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_gets_longer_by_what_it_is_drawn() {
        let mut simulation = bar([4, 1, 1], BOTH).unwrap();
        for _ in 0..3 {
            simulation.step().unwrap();
        }
        let far = simulation.positions(0).map(|p| p.x).fold(f64::MIN, f64::max);
        assert!((far - 0.5 - 3.0 * STEP).abs() < 1e-9, "{far}");
        // Half of stiffness times strain squared times volume, as long as the limit is far.
        let expected = 0.5 * WEAK * (3.0 * STEP).powi(2) * SIZE.element_product();
        let energy = simulation.statistics().elastic;
        assert!((energy / expected - 1.0).abs() < 0.01, "{energy} {expected}");
    }
}
