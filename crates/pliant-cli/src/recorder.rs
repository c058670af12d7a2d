//! What the log is told of bodies: which there are at first, and again whenever some come, go or change their topology.

use crate::torn::Torn;
use pliant::model::{BodyModel, ModelBody, Prototype, Shown};
use pliant::{BodyId, DVec3, Simulation};
use pliant_cache::render::Look as Render;
use pliant_cache::{CacheError, LogBody, LogWriter, Simulated};
use pliant_geometry::{Skin, TriMesh};
use pliant_scene::{BuiltBody, BuiltScene, Look};
use std::sync::Arc;

/// Follows which bodies a simulation has. What it knows is that of the last frame in the log.
pub struct Recorder {
    known: Vec<Known>,
}

/// A body as it was recorded.
struct Known {
    id: BodyId,
    prototype: Arc<Prototype>,
    shown: Arc<Shown>,
}

impl Known {
    fn of(body: &ModelBody) -> Known {
        Known { id: body.id, prototype: body.parts.prototype().clone(), shown: body.parts.shown().clone() }
    }

    /// Whether a body has the topology it had; constraints and masses alone may be others.
    fn is(&self, body: &ModelBody) -> bool {
        let (old, new) = (&self.prototype, body.parts.prototype());
        let particles = |p: &Prototype| p.rest().mass.len();
        self.id == body.id
            && Arc::ptr_eq(&self.shown, body.parts.shown())
            && (Arc::ptr_eq(old, new) || particles(old) == particles(new))
    }
}

/// The bodies a scene begins with.
pub fn first_bodies(scene: &BuiltScene) -> Vec<LogBody> {
    let mut end = 0;
    let bodies = scene.simulation.model().bodies();
    let mut logged: Vec<LogBody> = Vec::with_capacity(bodies.len());
    for body in bodies {
        let mut new = new_body(body, &scene.bodies, &logged);
        new.particles = end..end + new.particles.end;
        end = new.particles.end;
        logged.push(new);
    }
    logged
}

impl Recorder {
    /// Of a simulation as it was in the last frame of the log, or as it was built.
    pub fn new(simulation: &Simulation) -> Recorder {
        Recorder { known: simulation.model().bodies().iter().map(Known::of).collect() }
    }

    /// Tells the log which bodies there are, if they are others than in the last frame. To be called before each frame.
    pub fn follow(
        &mut self,
        simulation: &Simulation,
        built: &[BuiltBody],
        writer: &mut LogWriter,
    ) -> Result<(), CacheError> {
        let bodies = simulation.model().bodies();
        if self.known.len() == bodies.len() && self.known.iter().zip(bodies).all(|(k, b)| k.is(b)) {
            return Ok(());
        }
        let before = writer.bodies();
        let mut after: Vec<LogBody> = Vec::with_capacity(bodies.len());
        for body in bodies {
            let old = before.binary_search_by_key(&body.id.number(), |b| b.id).ok().map(|k| &before[k]);
            let known = self.known.binary_search_by_key(&body.id, |k| k.id).ok().map(|k| &self.known[k]);
            after.push(match (old, known) {
                (Some(old), Some(known)) if known.is(body) => old.clone(),
                (Some(old), _) => next_version(old, body, simulation, built),
                (None, _) => new_body(body, built, before),
            });
        }
        self.known = bodies.iter().map(Known::of).collect();
        writer.begin_epoch(after)
    }
}

/// What became of a body whose topology the last step has changed; `None` if the engine does not tell. Nothing tears bodies
/// yet: this is the one place to ask.
fn topology_change(_: &Simulation, _: &ModelBody, _: &BuiltBody) -> Option<Torn> {
    None
}

/// A body that was not there before; what it has in common with one of `others` it shares.
fn new_body(body: &ModelBody, built: &[BuiltBody], others: &[LogBody]) -> LogBody {
    let model = &body.parts;
    // Every body of a scene is known by the number it will have.
    let Some(own) = built.get(body.id.number() as usize) else {
        return bare(body, model);
    };
    let simulated = Simulated {
        tetrahedra: own.elements.tetrahedra.clone(),
        triangles: own.elements.triangles.clone(),
        edges: own.elements.edges.clone(),
        masses: masses(model),
    };
    let cluster: Vec<u32> = (0..model.particle_count()).map_while(|i| nearest_cluster(model, i)).collect();
    let mut new = LogBody {
        color: own.color,
        // Colours by cluster make sense for whole bodies only.
        cluster: Arc::new(if cluster.len() == model.particle_count() { cluster } else { Vec::new() }),
        mesh: own.surface.clone().into(),
        coat: own.coat.clone().into(),
        skin: own.skin.clone().into(),
        simulated: simulated.into(),
        look: match own.look {
            Look::Jelly => Render::Jelly,
            Look::Matte => Render::Matte,
            Look::Cloth => Render::Cloth,
            Look::Prop => Render::Prop,
        },
        ..bare(body, model)
    };
    if let Some(alike) = others.iter().find(|o| o.mesh == new.mesh && o.skin == new.skin) {
        share(&mut new.mesh, &alike.mesh);
        share(&mut new.coat, &alike.coat);
        share(&mut new.skin, &alike.skin);
        share(&mut new.simulated, &alike.simulated);
    }
    new
}

/// A body of which only the engine knows: its particles.
fn bare(body: &ModelBody, model: &BodyModel) -> LogBody {
    let count = model.particle_count();
    let positions = model.rest().positions.iter().collect();
    LogBody {
        id: body.id.number(),
        name: body.name.clone(),
        version: 0,
        origin: None,
        color: [0.5; 3],
        particles: 0..count as u32,
        mesh: TriMesh { positions, triangles: Vec::new() }.into(),
        coat: Arc::default(),
        skin: Skin::identity(count).into(),
        cluster: Arc::default(),
        simulated: Simulated { masses: masses(model), ..Simulated::default() }.into(),
        look: Render::default(),
    }
}

fn share<T: PartialEq>(own: &mut Arc<T>, other: &Arc<T>) {
    if own == other {
        *own = other.clone();
    }
}

fn masses(model: &BodyModel) -> Vec<f32> {
    model.rest().mass.iter().map(|&m| m as f32).collect()
}

/// A body after its topology changed.
fn next_version(old: &LogBody, body: &ModelBody, simulation: &Simulation, built: &[BuiltBody]) -> LogBody {
    let whole = built.get(body.id.number() as usize);
    let change = whole.and_then(|whole| Some((whole, topology_change(simulation, body, whole)?)));
    let next =
        LogBody { version: old.version + 1, color: old.color, look: old.look, ..bare(body, &body.parts) };
    match change {
        Some((whole, torn)) => {
            let rest: Vec<DVec3> = body.parts.rest().positions.iter().collect();
            torn.version_of(whole, old, &rest, next)
        }
        // Nobody knows what became of the surface: what is left to show are the particles.
        None => next,
    }
}

/// The cluster of a particle whose centre is nearest at rest.
fn nearest_cluster(model: &BodyModel, particle: usize) -> Option<u32> {
    let x = model.rest().positions.get(particle);
    let distance = |c: u32| model.rest().clusters[c as usize].center.distance_squared(x);
    let of = model.topology().memberships(particle).iter().map(|m| m.cluster);
    of.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
}
