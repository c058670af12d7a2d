//! A thousand small bodies fall on a slope: none breaks, and together they gain no energy.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, limited};
use pliant::shapes::{ball, cuboid};
use pliant::{Body, Builder, Clustering, DQuat, DVec3, HalfSpace, Simulation};

const BODIES: usize = 1000;
const GAMMA: f64 = 0.3;
const SECONDS: usize = 4;
/// Steps between two samples: measuring every body costs more than moving it.
const EVERY: usize = 4;
const PAPER: &str = "limits to the paper's letter";
const CONSERVING: &str = "limits that conserve momentum";

pub const DEFINITION: Definition = Definition {
    figure: Figure { name: "raining_bodies", about: "A thousand bodies fall on a slope: strain and energy" },
    run,
    metrics: &[
        ("late_strain_over_gamma", |p| late_strain(p, PAPER)),
        ("conserving_late_strain_over_gamma", |p| late_strain(p, CONSERVING)),
        ("energy_peak", |p| {
            let energy = p.values(1, PAPER);
            energy.first().map_or(f64::NAN, |first| largest(&energy) / first)
        }),
    ],
};

fn late_strain(plot: &Plot, name: &str) -> f64 {
    largest(tail(&plot.values(0, name), RATE as usize / EVERY)) / GAMMA
}

fn run() -> Result<Plot, Failure> {
    let mut strain = Panel::new("Strain", "time (s)", "largest strain of all bodies");
    let mut energy = Panel::new("Energy above the lowest place", "time (s)", "J");
    for (name, conserving) in [(PAPER, false), (CONSERVING, true)] {
        let mut simulation = rain(conserving)?;
        let (mut strains, mut energies) = (Vec::new(), Vec::new());
        for step in 0..=SECONDS * RATE as usize {
            if step > 0 {
                simulation.step()?;
            }
            if step % EVERY == 0 {
                let (time, s) = (simulation.state().time(), simulation.statistics());
                strains.push((time, s.max_strain));
                energies.push((time, s.kinetic + s.elastic + s.gravity));
            }
        }
        // From the lowest place a body reached, so that the sum has a zero and a ratio has a meaning.
        let lowest =
            simulation.state().bodies()[0].positions().iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        energies.iter_mut().for_each(|e| e.1 -= 9.81 * BODIES as f64 * lowest);
        strain = strain.line(name, Style::Solid, strains);
        energy = energy.line(name, Style::Solid, energies);
    }
    let strain = strain.line("γ", Style::Guide, vec![(0.0, GAMMA), (SECONDS as f64, GAMMA)]);
    Ok(Plot { panels: vec![strain, energy], ..Plot::new("1,000 bodies falling on a slope") })
}

/// Ten by ten by ten bodies above a slope, turned every way by the golden angle.
fn rain(conserving: bool) -> Result<Simulation, Failure> {
    let normal = DVec3::new(0.4, 1.0, 0.0).normalize();
    let mut builder = Builder::new().collider(HalfSpace { normal, friction: 0.3, ..HalfSpace::ground() });
    (builder.substeps, builder.threads) = (2, 2);
    let shapes = [ball(0.1, 0.05)?, cuboid(DVec3::splat(0.15), 0.05)?];
    for k in 0..BODIES {
        let cell = [k % 10, k / 10 % 10, k / 100].map(|c| c as f64);
        let mut body = Body::new(format!("body_{k:04}"), shapes[k % 2].clone()).frequency(12.0);
        body.position = DVec3::new(0.4 * cell[0], 2.0 + 0.5 * cell[2], 0.4 * cell[1]);
        body.rotation = DQuat::from_axis_angle(DVec3::new(1.0, 1.0, 0.3).normalize(), 2.399_963 * k as f64);
        body.clusters = Clustering::Count(4);
        body.controls.damping = 1.0;
        body = limited(body, GAMMA, 3);
        body.controls.conserve_momentum = conserving;
        builder.bodies.push(body);
    }
    Ok(builder.build()?)
}
