//! What is shown and logged of bodies: which there are at first, and again whenever some come, go or change their topology.

use crate::torn_mesh::TornMesh;
use pliant::model::{BodyModel, ModelBody, Prototype, Shown};
use pliant::tearing::TornSurface;
use pliant::{BodyId, Simulation};
use pliant_cache::geometry::{Elements, Look, Skin, SkinScratch, TriMesh};
use pliant_cache::{LogBody, SimulatedElements, VersionOrigin};
use pliant_scene::BuiltBody;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the scene says of bodies, by the numbers of their ids.
pub(crate) type BuiltBodies = BTreeMap<u64, BuiltBody>;

/// Follows which bodies a simulation has. What it knows is that of the last frame; clones share all that is large.
#[derive(Clone)]
pub(crate) struct Recorder {
    bodies: Vec<LogBody>,
    known: Vec<RecordedBody>,
    /// The render meshes of bodies that have torn.
    torn: Vec<(BodyId, Arc<TornSurface>)>,
}

/// A body as it was recorded.
#[derive(Clone)]
struct RecordedBody {
    id: BodyId,
    prototype: Arc<Prototype>,
    shown: Arc<Shown>,
}

impl RecordedBody {
    fn of(body: &ModelBody) -> RecordedBody {
        RecordedBody {
            id: body.id,
            prototype: body.parts.prototype().clone(),
            shown: body.parts.shown().clone(),
        }
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

impl Recorder {
    /// Of a simulation as it is now, each body in its first version.
    pub fn new(simulation: &Simulation, built: &BuiltBodies) -> Recorder {
        let mut bodies: Vec<LogBody> = Vec::new();
        for body in simulation.model().bodies() {
            let new = new_body(body, built, &bodies);
            bodies.push(new);
        }
        Recorder::resumed(bodies, simulation, built)
    }

    /// Of a simulation that was brought to a frame whose bodies are known, from a log or from before.
    pub fn resumed(bodies: Vec<LogBody>, simulation: &Simulation, built: &BuiltBodies) -> Recorder {
        let surface = |body: &ModelBody| Some((body.id, Arc::new(torn_surface(body, built)?)));
        let there = simulation.model().bodies();
        let mut recorder = Recorder {
            bodies,
            known: there.iter().map(RecordedBody::of).collect(),
            torn: there.iter().filter_map(surface).collect(),
        };
        recorder.number();
        recorder
    }

    /// The bodies of the last frame.
    pub fn bodies(&self) -> &[LogBody] {
        &self.bodies
    }

    /// Takes up which bodies there are now; whether they are others than in the last frame. To be called before each frame.
    pub fn follow(&mut self, simulation: &Simulation, built: &BuiltBodies) -> bool {
        let bodies = simulation.model().bodies();
        if self.known.len() == bodies.len() && self.known.iter().zip(bodies).all(|(k, b)| k.is(b)) {
            return false;
        }
        let before = std::mem::take(&mut self.bodies);
        let mut after: Vec<LogBody> = Vec::with_capacity(bodies.len());
        for body in bodies {
            let old = before.binary_search_by_key(&body.id.number(), |b| b.id).ok().map(|k| &before[k]);
            let known = self.known.binary_search_by_key(&body.id, |k| k.id).ok().map(|k| &self.known[k]);
            after.push(match (old, known) {
                (Some(old), Some(known)) if known.is(body) => old.clone(),
                (Some(old), _) => self.next_version(old, body, simulation, built),
                (None, _) => new_body(body, built, &before),
            });
        }
        self.known = bodies.iter().map(RecordedBody::of).collect();
        self.bodies = after;
        self.number();
        true
    }

    /// Says where the particles of each body are among all.
    fn number(&mut self) {
        let mut end = 0;
        for body in &mut self.bodies {
            body.particles = end..end + body.particles.len() as u32;
            end = body.particles.end;
        }
    }
}

/// What a body of the scene shows, with what its file says of it.
fn of_scene<'a>(body: &ModelBody, built: &'a BuiltBodies) -> Option<&'a BuiltBody> {
    // Every body of a scene is known by the number it will have.
    built.get(&body.id.number())
}

/// The render mesh of a body, if that has torn.
fn torn_surface(body: &ModelBody, built: &BuiltBodies) -> Option<TornSurface> {
    let own = of_scene(body, built)?;
    body.parts.torn_surface(&own.surface.triangles, &own.skin)
}

/// A body that was not there before; what it has in common with one of `others` it shares.
fn new_body(body: &ModelBody, built: &BuiltBodies, others: &[LogBody]) -> LogBody {
    let model = &body.parts;
    let Some(own) = of_scene(body, built) else {
        return as_the_engine_shows(body, model);
    };
    let simulated = SimulatedElements { elements: own.elements.clone(), masses: masses(model) };
    let cluster: Vec<u32> = (0..model.particle_count()).map_while(|i| nearest_cluster(model, i)).collect();
    let mut new = LogBody {
        color: own.color,
        // Colours by cluster make sense for whole bodies only.
        cluster: Arc::new(if cluster.len() == model.particle_count() { cluster } else { Vec::new() }),
        mesh: own.surface.clone().into(),
        attributes: own.attributes.clone().into(),
        skin: own.skin.clone().into(),
        simulated: simulated.into(),
        look: own.look,
        ..bare(body, model)
    };
    if let Some(surface) = body.parts.torn_surface(&own.surface.triangles, &own.skin) {
        // First seen when it has torn already, as after going on from a checkpoint.
        let whole = new.simulated.clone();
        TornMesh::new(own, &surface, model).show(&mut new, own, &surface, model);
        new.simulated = torn_elements(&whole, model).into();
        return new;
    }
    if let Some(alike) = others.iter().find(|o| o.mesh == new.mesh && o.skin == new.skin) {
        share(&mut new.mesh, &alike.mesh);
        share(&mut new.attributes, &alike.attributes);
        share(&mut new.skin, &alike.skin);
        share(&mut new.simulated, &alike.simulated);
    }
    new
}

/// A body that neither scene nor log knows: the surface the engine has of it, or its particles.
fn as_the_engine_shows(body: &ModelBody, model: &BodyModel) -> LogBody {
    let (shown, mut new) = (model.shown(), bare(body, model));
    let particles: Vec<_> = model.rest().positions.iter().collect();
    let mut positions = Vec::new();
    shown.vertices(&particles, &mut SkinScratch::default(), &mut positions);
    new.mesh = TriMesh { positions, triangles: shown.triangles().to_vec() }.into();
    if let Some(skin) = shown.skin() {
        new.skin = skin.clone().into();
    }
    let topology = model.topology();
    let elements = Elements {
        tetrahedra: topology.tetrahedra.clone(),
        triangles: topology.faces.clone(),
        edges: topology.edges.clone(),
    };
    new.simulated = SimulatedElements { elements: elements.largest(), masses: masses(model) }.into();
    new
}

/// A body of which only its particles are known.
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
        attributes: Arc::default(),
        skin: Skin::identity(count).into(),
        cluster: Arc::default(),
        simulated: SimulatedElements { masses: masses(model), ..SimulatedElements::default() }.into(),
        look: Look::default(),
        rigid: model.rigid().map(|_| Arc::new(model.rest().positions.iter().collect())),
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

impl Recorder {
    /// A body after its topology changed.
    fn next_version(
        &mut self,
        old: &LogBody,
        body: &ModelBody,
        simulation: &Simulation,
        built: &BuiltBodies,
    ) -> LogBody {
        let model = &body.parts;
        let next =
            LogBody { version: old.version + 1, color: old.color, look: old.look, ..bare(body, model) };
        let tear = simulation.tears().iter().find(|t| t.body == body.id);
        let (Some(tear), Some(own), Some(surface)) = (tear, of_scene(body, built), torn_surface(body, built))
        else {
            // Nobody knows what became of the surface: what is left to show are the particles.
            return next;
        };
        let known = self.torn.iter().position(|(id, _)| *id == body.id);
        let first = || TornSurface::whole(own.surface.triangles.clone(), own.surface.positions.len());
        let before = known.map_or_else(|| Arc::new(first()), |k| self.torn.swap_remove(k).1);
        let mesh = TornMesh::new(own, &surface, model);
        let mut version = LogBody {
            cluster: match old.cluster.is_empty() {
                true => Arc::default(),
                false => Arc::new(tear.particle_origin.iter().map(|&i| old.cluster[i as usize]).collect()),
            },
            origin: Some(Arc::new(VersionOrigin {
                particles: tear.particle_origin.clone(),
                vertices: mesh.origin(&surface.since(&before)),
            })),
            simulated: torn_elements(&old.simulated, model).into(),
            ..next
        };
        mesh.show(&mut version, own, &surface, model);
        self.torn.push((body.id, Arc::new(surface)));
        version
    }
}

/// The elements of a torn body, of the kinds that were told of it before.
fn torn_elements(before: &SimulatedElements, model: &BodyModel) -> SimulatedElements {
    let (topology, told) = (model.topology(), &before.elements);
    let elements = Elements {
        tetrahedra: topology.tetrahedra.clone(),
        triangles: if told.triangles.is_empty() { Vec::new() } else { topology.faces.clone() },
        edges: if told.edges.is_empty() { Vec::new() } else { topology.edges.clone() },
    };
    SimulatedElements { elements, masses: masses(model) }
}

/// The cluster of a particle whose centre is nearest at rest.
fn nearest_cluster(model: &BodyModel, particle: usize) -> Option<u32> {
    let x = model.rest().positions.get(particle);
    let distance = |c: u32| model.rest().clusters[c as usize].center.distance_squared(x);
    let of = model.topology().memberships(particle).iter().map(|m| m.cluster);
    of.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
}
