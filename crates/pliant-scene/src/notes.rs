//! Things about a built scene that are no errors but that its author may not expect.

use crate::element_choice::ElementChoice;
use crate::scene::Scene;
use pliant::{Clustering, DVec3, Simulation, SolverKind};
use pliant_geometry::SkinScratch;

pub(crate) fn about(scene: &Scene, simulation: &Simulation) -> Vec<String> {
    let mut notes = simulation.notes();
    let around = simulation.present_colliders();
    for (b, plan) in scene.bodies.iter().enumerate() {
        // What holds for one copy holds for all; a thousand notes would be read by nobody.
        if plan.copy > 0 {
            continue;
        }
        let mut note = |text: String| notes.push(format!("body `{}`: {text}", plan.name));
        let part = &simulation.model().bodies()[b].parts;
        let (clusters, particles) = (part.topology().clusters.len(), part.particle_count());
        match plan.clusters {
            Clustering::Radius(r) if clusters == 1 && particles > 1 => {
                note(format!("cluster_radius {r} covers everything: one cluster"));
            }
            Clustering::Radius(r) if clusters == particles && particles > 1 => {
                note(format!("cluster_radius {r} reaches no neighbour"));
            }
            Clustering::Count(n) if plan.record.given("clusters").is_some() && n > particles => {
                note(format!("{n} clusters were asked of {particles} particles: {clusters} were made"));
            }
            Clustering::Count(n)
                if plan.record.given("clusters").is_some()
                    && plan.cluster_style.levels == 1
                    && 4 * clusters.abs_diff(n) > n =>
            {
                let why = match plan.cluster_style.symmetric {
                    true => "mirror images come together",
                    false => "no radius gives that number",
                };
                note(format!("{clusters} clusters were made where {n} were asked for: {why}"))
            }
            _ if plan.solver == SolverKind::Rigid => {}
            Clustering::None if plan.controls.edge_stiffness == 0.0 && plan.cut == ElementChoice::None => {
                note("no clusters and no edge stiffness: nothing holds it together".into());
            }
            _ => {}
        }
        // Of a rigid body what is seen: its particles are inside.
        let mut places: Vec<DVec3> = simulation.positions(b).collect();
        if part.rigid().is_some() {
            let particles = std::mem::take(&mut places);
            part.shown().vertices(&particles, &mut SkinScratch::default(), &mut places);
        }
        for (k, deepest) in around.deepest(places.into_iter()) {
            let place = k.number() as usize;
            let title = scene.colliders.get(place).map_or_else(String::new, |c| c.title(place));
            note(format!("it starts {deepest:.3} m deep in {title}"));
        }
    }
    notes
}
