//! `pliant check`: reads and builds a scene without running it.

use crate::args::{self, CheckArgs};
use crate::failure::Failure;
use crate::{outputs, say, source};

pub fn command(args: &CheckArgs) -> Result<(), Failure> {
    let source = source::find(&args.scene, &args::MeshRunArgs::default())?;
    let built = source.scene.build(args::threads(None))?;
    outputs::check_formats(&built.outputs)?;
    let topology = &built.simulation.model().topology();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "fine: {}: {}, {}, {}, {} at {} per second\n",
        source.argument,
        match topology.bodies.len() {
            1 => "1 body".to_string(),
            n => format!("{n} bodies"),
        },
        count(built.simulation.model().particle_count(), "particle"),
        count(topology.clusters.len(), "cluster"),
        count(built.frames as usize, "frame"),
        built.frames_per_second,
    );
    let params = &built.simulation.model().params();
    let width = topology.bodies.iter().map(|b| b.name.chars().count()).max();
    for (body, settings) in topology.bodies.iter().zip(&params.bodies) {
        text += &format!(
            "  {:width$}  {}, {}, {}\n",
            body.name,
            settings.solver.name(),
            count(body.particles.len(), "particle"),
            count(body.clusters.len(), "cluster"),
            width = width.unwrap_or(0),
        );
    }
    for note in &built.notes {
        text += &format!("note: {note}\n");
    }
    say::result(&text)
}
