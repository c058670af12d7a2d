//! The paper's final example: the bunny bouncing on the ground, without and with damping.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, limited, sample_statistics};
use pliant::shapes::Solid;
use pliant::{Body, Builder, Clustering, DVec3, Simulation, Stiffness};

const SECONDS: usize = 10;
const SECOND: usize = RATE as usize;
const GAMMA: f64 = 0.3;
const PARTICLES: usize = 2020;
const UNDAMPED: &str = "undamped";
const DAMPED: &str = "damped (5 per second)";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "bouncing_bunny",
        about: "The bunny of about 2,020 particles bouncing for ten seconds, undamped and damped",
    },
    run,
    metrics: &[
        ("undamped_energy_peak", |p| largest(&p.values(1, UNDAMPED))),
        ("late_kinetic_undamped_over_damped", |p| {
            largest(tail(&p.values(2, UNDAMPED), SECOND)) / largest(tail(&p.values(2, DAMPED), SECOND))
        }),
        ("settled_over_gamma", |p| largest(tail(&p.values(3, UNDAMPED), SECOND)) / GAMMA),
        ("damped_late_kinetic", |p| {
            let kinetic = p.values(2, DAMPED);
            largest(tail(&kinetic, SECOND)) / largest(&kinetic)
        }),
    ],
};

/// The bunny, a metre high, half a metre above the ground.
fn bunny(damping: f64) -> Result<Simulation, Failure> {
    let solid = Solid::Bunny { height: 1.0 };
    let shape = solid.build(solid.spacing_for_count(PARTICLES)?)?;
    let lowest = shape.points.iter().map(|p| p.y).fold(f64::MAX, f64::min);
    let mut body = Body::new("bunny", shape).at(0.0, 0.5 - lowest, 0.0);
    body.clusters = Clustering::Count(26);
    body.controls.stiffness = Stiffness::Alpha(0.5);
    body = limited(body, GAMMA, 5);
    body.controls.damping = damping;
    Ok(Builder::new().substeps(1).ground().body(body).build()?)
}

fn run() -> Result<Plot, Failure> {
    let mut height = Panel::new("Height of the centre of mass", "time (s)", "height (m)");
    let mut energy = Panel::new("Total energy", "time (s)", "share of the start");
    let mut kinetic = Panel::new("Kinetic energy", "time (s)", "kinetic energy (J)").y_log();
    let mut strain = Panel::new("Peak strain", "time (s)", "peak strain β");
    let mut sizes = (0, 0);
    for (name, damping) in [(UNDAMPED, 0.0), (DAMPED, 5.0)] {
        let mut simulation = bunny(damping)?;
        let model = simulation.model().clone();
        sizes = (model.particle_count(), model.topology().clusters.len());
        let start = simulation.statistics();
        let start = start.kinetic + start.elastic + start.gravity;
        let [y, e, k, b] = sample_statistics(&mut simulation, SECONDS * SECOND, |sim, s| {
            let mass = &sim.model().bodies()[0].parts.rest().mass;
            let center: DVec3 = sim.positions(0).zip(mass).map(|(p, m)| p * *m).sum();
            let total: f64 = mass.iter().sum();
            [center.y / total, (s.kinetic + s.elastic + s.gravity) / start, s.kinetic, s.max_strain]
        })?;
        height = height.line(name, Style::Solid, y);
        energy = energy.line(name, Style::Solid, e);
        kinetic = kinetic.line(name, Style::Solid, k);
        strain = strain.line(name, Style::Solid, b);
    }
    let strain = strain.line("γ", Style::Guide, vec![(0.0, GAMMA), (SECONDS as f64, GAMMA)]);
    let title = format!(
        "A bunny of {} particles in {} clusters dropped by half a metre, α = 0.5, γ = 0.3, 5 iterations",
        sizes.0, sizes.1
    );
    Ok(Plot { panels: vec![height, energy, kinetic, strain], ..Plot::new(title) })
}
