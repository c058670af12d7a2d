//! Figure 10 of the projective-dynamics paper: a flag under extreme forces and in extreme wind, which pushes triangles
//! along their normals; the objective never increases.

use super::{Definition, Failure, Figure};
use crate::elements::places;
use crate::metrics::{largest, swing};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, GREEN, ORANGE, PINK, picture};
use crate::scenes::RATE;
use pliant::{Body, Builder, Clustering, Control, DQuat, DVec3, Points, Simulation, shapes};
use pliant_cache::render::{Colors, Look, RenderItem};
use std::f64::consts::FRAC_PI_2;
use std::sync::{Arc, Mutex, PoisonError};

const CELLS: [usize; 2] = [30, 20];
const STEPS: usize = 60;
/// N/m.
const EDGE_STIFFNESS: f64 = 1e4;
const ITERATIONS: u32 = 10;
/// Accelerations of the storm, m/s²: a hundred and a thousand times gravity, and calm for comparison.
const STORMS: [(&str, f64); 3] = [("calm", 0.0), ("100 g", 981.0), ("1000 g", 9810.0)];

/// Speeds of the wind, m/s: a strong hurricane, and ten times that.
const WINDS: [(&str, f64); 2] = [("wind of 50 m/s", 50.0), ("wind of 500 m/s", 500.0)];
/// Density of air times drag coefficient, kg/m³.
const AIR: f64 = 1.2;
/// Panel of the push of the wind, and its lines.
const PUSH: usize = 3;
const ALONG: &str = "along the flag's normal";
const ACROSS: &str = "across it";
const STRETCH: usize = 4;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "extreme_wind",
        about: "A flag in an extreme storm: objective per iteration of every step (figure 10)",
    },
    run,
    metrics: &[
        ("worst_ratio", |p| largest(&STORMS.map(|s| largest(&p.values(0, s.0))))),
        ("wind_worst_ratio", |p| largest(&WINDS.map(|s| largest(&p.values(0, s.0))))),
        ("push_off_the_normal", |p| {
            let (along, across) = (p.values(PUSH, ALONG), p.values(PUSH, ACROSS));
            let square = along.first().copied().unwrap_or(f64::NAN);
            let edge_on = along.last().copied().unwrap_or(f64::NAN);
            // No push at all would be off nothing.
            if swing(&along) > 0.0 { largest(&[edge_on, largest(&across)]) / square } else { f64::NAN }
        }),
        ("wind_stretch", |p| largest(&p.values(STRETCH, WINDS[1].0))),
    ],
};

fn flag() -> Result<Simulation, Failure> {
    let mut body = Body::new("flag", shapes::sheet(1.5, 1.0, CELLS[0], CELLS[1])?).projective();
    body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
    body.mass = 0.2;
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = EDGE_STIFFNESS;
    body.controls.iterations = ITERATIONS;
    body.controls.damping = 0.0;
    body.controls.air = AIR;
    let pole: Vec<u32> = (0..=CELLS[1] as u32).map(|j| j * (CELLS[0] as u32 + 1)).collect();
    Ok(Builder::new().substeps(1).body(body.pin(pole)).build()?)
}

/// The storm turns about the pole and comes from above and below in turn, without warning.
fn storm(step: usize, size: f64) -> DVec3 {
    let gust = (step / 6) as f64;
    DVec3::new((2.4 * gust).cos(), 0.6 * (1.7 * gust).sin(), (2.4 * gust).sin()) * size
}

/// What a second of the storm is made of.
#[derive(Clone, Copy)]
enum WindModel {
    /// An acceleration of the whole flag, m/s².
    Force(f64),
    /// Air that comes at so many m/s and pushes each triangle by its normal.
    Wind(f64),
}

impl WindModel {
    fn set(self, simulation: &mut Simulation, step: usize) -> Result<(), Failure> {
        match self {
            WindModel::Force(size) => {
                let mass = simulation.controls().body(0).map_or(1.0, |c| c.mass);
                simulation.set(Control::Force(0.into()), storm(step, size) * mass)?;
            }
            WindModel::Wind(speed) => {
                simulation.set(Control::Wind, storm(step, speed))?;
            }
        }
        Ok(())
    }
}

/// Push of a light breeze on a flat, free flag in one step, along and across its normal, against the angle (degrees)
/// between wind and normal.
fn pushes() -> Result<[Vec<(f64, f64)>; 2], Failure> {
    let (mut along, mut across) = (Vec::new(), Vec::new());
    for angle in (0..=90).step_by(5) {
        let mut body = Body::new("flag", shapes::sheet(1.5, 1.0, CELLS[0], CELLS[1])?).projective();
        body.clusters = Clustering::None;
        body.mass = 0.2;
        body.controls.damping = 0.0;
        body.controls.air = AIR;
        // The sheet lies in the plane y = 0.
        let (s, c) = f64::from(angle).to_radians().sin_cos();
        let mut builder = Builder::new().substeps(1).body(body).wind(2.0 * s, 2.0 * c, 0.0);
        builder.gravity = DVec3::ZERO;
        let mut simulation = builder.build()?;
        simulation.step()?;
        let push = simulation.statistics().momentum * RATE;
        along.push((f64::from(angle), push.y.abs()));
        across.push((f64::from(angle), push.with_y(0.0).length()));
    }
    Ok([along, across])
}

/// Largest stretch of an edge over its length.
fn stretch(objective: &Objective, x: &Points) -> f64 {
    let one = |&(i, j, length, _): &(usize, usize, f64, f64)| (x.get(i) - x.get(j)).length() / length - 1.0;
    largest(&objective.edges.iter().map(one).collect::<Vec<_>>())
}

/// The objective (equation 8) of a flag of edges, written down plainly and sharing no code with the engine.
struct Objective {
    mass: Vec<f64>,
    /// Ends, rest length and weight.
    edges: Vec<(usize, usize, f64, f64)>,
}

impl Objective {
    fn new(simulation: &Simulation) -> Objective {
        let model = &simulation.model().bodies()[0].parts;
        let (rest, edges) = (model.rest(), &model.topology().edges);
        let mut degree = vec![0.0; model.particle_count()];
        edges.iter().flatten().for_each(|&i| degree[i as usize] += 1.0);
        let share = |i: usize| rest.measure[i] / degree[i];
        let edge = |&[i, j]: &[u32; 2]| {
            let (i, j) = (i as usize, j as usize);
            let length = (rest.positions.get(i) - rest.positions.get(j)).length();
            (i, j, length, EDGE_STIFFNESS * (share(i) + share(j)))
        };
        Objective { mass: rest.mass.clone(), edges: edges.iter().map(edge).collect() }
    }

    /// Its value at `q`, with the prediction `s`.
    fn value(&self, q: &Points, s: &Points) -> f64 {
        let inertia = |(i, m): (usize, &f64)| 0.5 * RATE * RATE * m * (q.get(i) - s.get(i)).length_squared();
        let stretch = |&(i, j, length, weight): &(usize, usize, f64, f64)| {
            0.5 * weight * ((q.get(i) - q.get(j)).length() / length - 1.0).powi(2)
        };
        self.mass.iter().enumerate().map(inertia).sum::<f64>() + self.edges.iter().map(stretch).sum::<f64>()
    }
}

/// Takes a step and gives the objective at the prediction and after each iteration.
fn objectives(
    simulation: &mut Simulation,
    objective: &Objective,
    seen: &Mutex<Vec<Points>>,
) -> Result<Vec<f64>, Failure> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    simulation.step()?;
    let list = seen.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(list.iter().map(|q| objective.value(q, &list[0])).collect())
}

/// Lets every iteration be seen.
fn watched(simulation: &mut Simulation) -> Arc<Mutex<Vec<Points>>> {
    let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
    let sink = seen.clone();
    simulation.observe_iterations(
        0,
        Box::new(move |_, q| sink.lock().unwrap_or_else(PoisonError::into_inner).push(q.clone())),
    );
    seen
}

fn run() -> Result<Plot, Failure> {
    let mut ratios =
        Panel::new("Largest objective over the one before", "step", "largest ratio of all iterations");
    let mut values = Panel::new("Objective at the end of each step", "step", "objective (J)").y_log();
    let mut errors = Panel::new("Within the worst step", "iterations", "objective over its start").y_log();
    let mut stretches =
        Panel::new("Stretch in the wind", "step", "largest stretch of an edge over its length").y_log();
    let triangles = shapes::sheet(1.5, 1.0, CELLS[0], CELLS[1])?.triangles;
    let mut pictures = Vec::new();
    let storms = STORMS.map(|(name, size)| (name, WindModel::Force(size)));
    let winds = WINDS.map(|(name, speed)| (name, WindModel::Wind(speed)));
    let colors = [BODY, BODY, ORANGE, GREEN, PINK];
    for ((name, blow), color) in storms.into_iter().chain(winds).zip(colors) {
        let mut simulation = flag()?;
        let (objective, watched) = (Objective::new(&simulation), watched(&mut simulation));
        let (mut ratio, mut value, mut longer) = (Vec::new(), Vec::new(), Vec::new());
        let (mut worst, mut curve) = (f64::NEG_INFINITY, Vec::new());
        for step in 0..STEPS {
            blow.set(&mut simulation, step)?;
            let list = objectives(&mut simulation, &objective, &watched)?;
            let at = (step + 1) as f64;
            let largest_now = largest(&list.windows(2).map(|w| w[1] / w[0]).collect::<Vec<_>>());
            ratio.push((at, largest_now));
            if largest_now > worst {
                worst = largest_now;
                curve = list.iter().enumerate().map(|(k, e)| (k as f64, e / list[0])).collect();
            }
            value.push((at, list.last().copied().unwrap_or(f64::NAN)));
            longer.push((at, stretch(&objective, simulation.state().bodies()[0].positions())));
        }
        ratios = ratios.line(name, Style::Solid, ratio);
        values = values.line(name, Style::Solid, value);
        errors = errors.line(name, Style::Solid, curve);
        if let WindModel::Wind(_) = blow {
            stretches = stretches.line(name, Style::Solid, longer);
        }
        // A flag in a calm hangs from its pole, as everybody knows.
        if name != STORMS[0].0 {
            let positions = places(&simulation);
            let colors = Colors::Uniform(color);
            let item =
                RenderItem::Mesh { positions: &positions, triangles: &triangles, colors, look: Look::Cloth };
            let image = picture(&[item], &positions, 25.0, 15.0);
            pictures.push(Panel::image(format!("After a second: {name}"), "", image));
        }
    }
    let [along, across] = pushes()?;
    let push = Panel::new("Push of a breeze on a flat flag", "angle of wind and normal (°)", "force (N)")
        .line(ALONG, Style::Marked, along)
        .line(ACROSS, Style::Dashed, across);
    let mut panels = vec![ratios, values, errors, push, stretches];
    panels.extend(pictures);
    let title = "A flag of 1,910 edges held by its pole under forces and wind that turn about every tenth of a second";
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_the_storm_only_goes_downhill() {
        let mut simulation = flag().unwrap();
        let (objective, seen) = (Objective::new(&simulation), watched(&mut simulation));
        simulation.set(Control::Force(0.into()), storm(3, 981.0)).unwrap();
        let list = objectives(&mut simulation, &objective, &seen).unwrap();
        assert_eq!(list.len(), ITERATIONS as usize + 1);
        assert!(list.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)), "{list:?}");
        // The engine's own objective is the same function.
        let mut other = flag().unwrap();
        other.set(Control::Force(0.into()), storm(3, 981.0)).unwrap();
        let theirs = other.trace_step(Box::new(|| 0.0)).unwrap().1;
        assert!((theirs[3].objective / list[3] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn wind_square_to_a_flag_pushes_it_and_edge_on_does_not() {
        let [along, across] = pushes().unwrap();
        // ½ air A u², less what the flag gives way in a sixtieth of a second.
        let full = 0.5 * AIR * 1.5 * 4.0;
        assert!((0.5 * full..=full).contains(&along[0].1), "{} of {full}", along[0].1);
        assert!(along[18].1 < 1e-9 && across.iter().all(|p| p.1 < 1e-9), "{along:?} {across:?}");
    }
}
