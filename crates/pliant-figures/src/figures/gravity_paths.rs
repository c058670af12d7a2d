//! The paths of a thrown cube: gravity as a force that velocities carry on, and as displacements of positions, which
//! is how position-based dynamics treats everything else.

use super::{Definition, Failure, Figure};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, position_based};
use pliant::{Builder, Clustering, DVec3, Simulation};

const SECONDS: f64 = 2.0;
const STEPS: usize = (SECONDS * RATE) as usize;
/// m/s, to the side.
const THROWN: f64 = 3.0;
const GRAVITY: f64 = 9.81;
const FALL: usize = 1;
const FORCE: &str = "shape matching, gravity as a force";
const PBD: &str = "position-based, gravity as a force";
const POSITIONS: &str = "position-based, gravity moves positions";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "gravity_paths",
        about: "A thrown cube under gravity as a force and as displacements of positions: arcs and lines",
    },
    run,
    metrics: &[
        ("force_order", |p| order(p, FORCE)),
        ("pbd_order", |p| order(p, PBD)),
        ("position_order", |p| order(p, POSITIONS)),
    ],
};

/// Order at which the fall grows with time, from the middle of the flight to its end.
fn order(plot: &Plot, name: &str) -> f64 {
    let fall = plot.points(FALL, name);
    let (Some(end), Some(middle)) = (fall.last(), fall.get(fall.len() / 2)) else { return f64::NAN };
    (end.1 / middle.1).ln() / (end.0 / middle.0).ln()
}

/// A cube thrown to the side.
fn thrown(by_positions: bool, gravity: DVec3) -> Result<Simulation, Failure> {
    let mut body = cube(Clustering::Whole, 0.5)?;
    body.velocity = DVec3::X * THROWN;
    if by_positions {
        body = position_based(body, 5);
    }
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = gravity;
    Ok(builder.build()?)
}

fn center(simulation: &Simulation) -> DVec3 {
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for p in simulation.positions(0) {
        sum += p;
        count += 1.0;
    }
    sum / count
}

/// Centres of the cube, step by step; `moved` is added to all positions after each, unseen by velocities.
fn flight(mut simulation: Simulation, moved: DVec3) -> Result<Vec<(f64, DVec3)>, Failure> {
    let mut path = vec![(0.0, center(&simulation))];
    for _ in 0..STEPS {
        simulation.step()?;
        if moved != DVec3::ZERO {
            let mut state = simulation.state().clone();
            let mut x = state.bodies_mut()[0].positions_mut();
            (0..x.len()).for_each(|i| x.set(i, x.get(i) + moved));
            simulation.set_state(state)?;
        }
        path.push((simulation.state().time(), center(&simulation)));
    }
    Ok(path)
}

fn run() -> Result<Plot, Failure> {
    let down = DVec3::Y * -GRAVITY;
    let flights = [
        (FORCE, Style::Solid, flight(thrown(false, down)?, DVec3::ZERO)?),
        (PBD, Style::Dashed, flight(thrown(true, down)?, DVec3::ZERO)?),
        (POSITIONS, Style::Solid, flight(thrown(true, DVec3::ZERO)?, down / (RATE * RATE))?),
    ];
    let mut path = Panel::new(
        "Paths, each over its own depth",
        "distance to the side (m)",
        "height / depth of the fall",
    );
    let mut fall = Panel::new("Fall", "time (s)", "fall (m)").x_log().y_log();
    for (name, style, points) in flights {
        let start = points.first().map_or(0.0, |p| p.1.y);
        let depth = points.last().map_or(f64::NAN, |p| start - p.1.y);
        path = path.line(name, style, points.iter().map(|(_, p)| (p.x, (p.y - start) / depth)).collect());
        // Before the first step nothing has fallen, and a logarithm has no nothing.
        fall = fall.line(name, style, points.iter().skip(1).map(|(t, p)| (*t, start - p.y)).collect());
    }
    Ok(Plot { panels: vec![path, fall], ..Plot::new("A cube thrown to the side at 3 m/s") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_are_not_carried_on_by_velocities() {
        let path = flight(thrown(true, DVec3::ZERO).unwrap(), DVec3::Y * -1e-3).unwrap();
        let fallen = path[0].1.y - path[STEPS].1.y;
        assert!((fallen - 1e-3 * STEPS as f64).abs() < 1e-9, "{fallen}");
    }
}
