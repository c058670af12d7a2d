//! `pliant check`: reads and builds a scene without running it.

use crate::args::{self, CheckArgs};
use crate::failure::Failure;
use crate::{outputs, source, terminal};
use pliant::Edit;
use pliant::model::ModelBody;

pub fn command(args: &CheckArgs) -> Result<(), Failure> {
    let source = source::find(&args.scene, &args::MeshRunArgs::default())?;
    let built = source.scene.build(args::threads(None))?;
    outputs::check_formats(&built.settings.outputs)?;
    let bodies = built.simulation.model().bodies();
    let clusters = |b: &ModelBody| b.parts.topology().clusters.len();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "fine: {}: {}, {}, {}, {} at {} per second\n",
        source.argument,
        match bodies.len() {
            1 => "1 body".to_string(),
            n => format!("{n} bodies"),
        },
        count(built.simulation.model().particle_count(), "particle"),
        count(bodies.iter().map(clusters).sum(), "cluster"),
        count(built.settings.frames as usize, "frame"),
        built.settings.frames_per_second,
    );
    let width = bodies.iter().map(|b| b.name.chars().count()).max();
    for body in bodies {
        text += &format!(
            "  {:width$}  {}, {}, {}\n",
            body.name,
            body.parts.solver().name(),
            count(body.parts.particle_count(), "particle"),
            count(clusters(body), "cluster"),
            width = width.unwrap_or(0),
        );
    }
    for (frame, edit) in built.events.edits() {
        if let Edit::Add(body) = edit {
            let (solver, particles) = (body.solver.name(), count(body.shape.points.len(), "particle"));
            text += &format!("  {}  {solver}, {particles}, comes at frame {frame}\n", body.name);
        }
    }
    for note in &built.settings.notes {
        text += &format!("note: {note}\n");
    }
    terminal::result(&text)
}
