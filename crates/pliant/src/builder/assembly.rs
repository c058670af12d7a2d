//! From the description of a body to its parts: prototype, pins, where it starts.

use super::MakeBatch;
use super::checks::Faults;
use crate::body::{Body, Clustering, ContactRadius, Selection};
use crate::bytes::Digest;
use crate::constraints::{ClusterShape, EdgeStrain};
use crate::elements;
use crate::model::{
    BatchScale, BodyModel, ClusterSet, Goals, MassMatrix, ModelBatch, Params, PinGroup, Prototype, Rest,
    RigidRest, Shown, Source, Topology,
};
use crate::points::Points;
use crate::solvers::SolverKind;
use crate::tearing;
use glam::DVec3;
use pliant_geometry::{TetMesh, reach_beyond};
use std::collections::HashMap;
use std::sync::Arc;

/// Where the shapes of bodies come from that never deform.
const RIGID_SHAPES: &str =
    "make its shape by `SolidShape::build_rigid` or `shapes::rigid_from_mesh`, or use another solver";

/// A body that was put together.
pub(crate) struct Assembled {
    pub parts: BodyModel,
    pub x: Points,
    pub v: Points,
}

/// What a body has beside its description.
#[derive(Default)]
pub(super) struct Extras {
    /// Whether keyframes give it springs later.
    pub sprung: bool,
    /// Constraints of the user's own.
    pub custom: Vec<MakeBatch>,
}

/// Puts bodies together; those alike share a prototype, and those that also look alike what is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembler {
    /// By a digest of what goes into a prototype.
    known: HashMap<u64, Vec<Known>>,
}

/// A prototype that was made.
#[derive(Clone, Debug)]
struct Known {
    of: Arc<Source>,
    prototype: Arc<Prototype>,
    /// What bodies of it show; mostly all the same.
    shown: Vec<Arc<Shown>>,
}

impl Assembler {
    /// `b` is the body's index, for faults.
    pub(super) fn assemble(
        &mut self,
        b: usize,
        body: &Body,
        extras: Extras,
        params: &Arc<Params>,
        faults: &mut Faults,
    ) -> Option<Assembled> {
        let consistent = params.implicit.mass == MassMatrix::Consistent;
        let before = faults.0.len();
        let prototype = match extras.custom.is_empty() {
            false => make_prototype(b, body, extras, consistent, faults)
                .map(|made| (Arc::new(made), Arc::new(Shown::new(&body.shape)))),
            true => self.shared(b, body, extras, params, faults),
        };
        if let Some(prototype) = prototype.as_ref().filter(|_| body.controls.tear_strain.is_finite())
            && let Some(text) = tearing::obstacle(&prototype.0)
        {
            faults.add(Some(b), "tear_strain", "the body cannot tear".into(), text);
        }
        let (x, v) = start(body, prototype.as_ref().map_or(&[], |p| &p.0.rest.mass));
        let pins = pin_groups(b, body, faults);
        let input = body.placed_input().map(Arc::new);
        let prototype = prototype.filter(|_| faults.0.len() == before)?;
        let parts = BodyModel::new(prototype, body.kind(), pins, input, params);
        let parts = parts.touching(body.contact_filter);
        Some(Assembled { parts, x, v })
    }

    /// The prototype of an equal body that came before, or a new one; and what is shown, in the same way.
    fn shared(
        &mut self,
        b: usize,
        body: &Body,
        extras: Extras,
        params: &Params,
        faults: &mut Faults,
    ) -> Option<(Arc<Prototype>, Arc<Shown>)> {
        let consistent = params.implicit.mass == MassMatrix::Consistent;
        let sprung = extras.sprung;
        let list = self.known.entry(digest(body)).or_default();
        let same = |Known { of, .. }: &Known| {
            (of.sprung, of.consistent) == (sprung, consistent) && alike(&of.body, body, params.body_contact)
        };
        let k = match list.iter().position(same) {
            Some(k) => k,
            None => {
                let made = make_prototype(b, body, extras, consistent, faults)?;
                let of = Arc::new(Source { body: body.clone(), sprung, consistent });
                let prototype = Arc::new(made.made_of(of.clone()));
                list.push(Known { of, prototype, shown: Vec::new() });
                list.len() - 1
            }
        };
        let Known { prototype, shown, .. } = &mut list[k];
        let known = shown.iter().find(|s| s.is_of(&body.shape)).cloned();
        let shown = known.unwrap_or_else(|| {
            shown.push(Arc::new(Shown::new(&body.shape)));
            shown[shown.len() - 1].clone()
        });
        Some((prototype.clone(), shown))
    }
}

/// A digest of what bodies of one prototype have in common, or of enough of it to tell most others apart.
fn digest(body: &Body) -> u64 {
    let mut hash = Digest::default();
    for p in &body.shape.points {
        p.to_array().into_iter().for_each(|v| hash.number(v));
    }
    hash.word(body.solver as u64);
    hash.word(body.seed);
    hash.number(body.mass);
    hash.word(body.constraints.len() as u64);
    hash.finish()
}

/// Whether two descriptions lead to one prototype.
fn alike(a: &Body, b: &Body, touching: bool) -> bool {
    let stiff = |body: &Body| body.controls.edge_stiffness > 0.0;
    let family = |body: &Body| (body.solver.uses_constraints(), body.solver == SolverKind::Rigid);
    let settings = |body: &Body| (family(body), body.clusters, body.cluster_style, body.seed, body.goals);
    settings(a) == settings(b)
        && a.mass == b.mass
        && stiff(a) == stiff(b)
        && a.painted_stiffness == b.painted_stiffness
        && a.painted_tear_strain == b.painted_tear_strain
        && a.constraints == b.constraints
        && a.contact_radius == b.contact_radius
        && (a.shape.points == b.shape.points && a.shape.measure == b.shape.measure)
        && (a.shape.edges == b.shape.edges && a.shape.triangles == b.shape.triangles)
        && a.shape.tetrahedra == b.shape.tetrahedra
        && a.shape.contact == b.shape.contact
        && a.contact_filter == b.contact_filter
        && (!of_surface(a, touching) || a.shape.surface == b.shape.surface)
}

/// Whether what is shown of a body decides how it touches colliders, or others where bodies touch.
fn of_surface(body: &Body, touching: bool) -> bool {
    let elements = !body.shape.triangles.is_empty() || !body.shape.tetrahedra.is_empty();
    body.contact_radius == ContactRadius::Shown || touching && !elements
}

/// Mass of each particle: it follows the measure; a cloud without volume shares it equally.
fn masses(body: &Body) -> Vec<f64> {
    let (measure, count) = (&body.shape.measure, body.shape.points.len());
    let total: f64 = measure.iter().sum();
    match total > 0.0 && measure.iter().all(|m| *m > 0.0) {
        true => measure.iter().map(|m| body.mass * m / total).collect(),
        false => vec![body.mass / count as f64; count],
    }
}

/// Where a body starts, and how fast.
fn start(body: &Body, mass: &[f64]) -> (Points, Points) {
    let place = |p: DVec3| body.rotation * (p * body.stretch) + body.position;
    let x: Points = body.shape.points.iter().map(|p| place(*p)).collect();
    let center = x.iter().zip(mass).map(|(x, m)| x * *m).sum::<DVec3>() / body.mass;
    let v = x.iter().map(|x| body.velocity + body.spin.cross(x - center)).collect();
    (x, v)
}

fn make_prototype(
    b: usize,
    body: &Body,
    extras: Extras,
    consistent: bool,
    faults: &mut Faults,
) -> Option<Prototype> {
    let before = faults.0.len();
    // Springs that elements make superfluous would only take time and memory.
    let springs = body.constraints.is_empty() || body.controls.edge_stiffness > 0.0 || extras.sprung;
    let edges = match body.solver.uses_constraints() && springs {
        true => body.shape.edges.clone(),
        false => Vec::new(),
    };
    let solid = !body.shape.tetrahedra.is_empty();
    let faces = match solid {
        true => TetMesh { tetrahedra: body.shape.tetrahedra.clone(), ..TetMesh::default() }.boundary(),
        false => body.shape.triangles.clone(),
    };
    let (clusters, shares) = match clusters(body) {
        Ok(clusters) => clusters,
        Err(e) => {
            let field = if matches!(body.clusters, Clustering::Count(_)) { "clusters" } else { "radius" };
            faults.add(Some(b), field, e.message, &e.help);
            return None;
        }
    };
    let positions: Points = body.shape.points.iter().copied().collect();
    let mut topology = Topology::new(edges, faces, solid, clusters, positions.len());
    if body.solver.uses_constraints() {
        topology.tetrahedra.clone_from(&body.shape.tetrahedra);
    }
    let mut rest = Rest::with_shares(&topology, positions, masses(body), body.shape.measure.clone(), shares);
    // As given, not as summed up: the ratio of a body of unchanged mass is exactly 1.
    rest.body_mass = body.mass;
    if consistent {
        rest.coupled_mass = elements::coupled_masses(body);
    }
    if body.goals != Goals::Rigid {
        rest.set_goals(&topology, body.goals);
    }
    rest.toughness.clone_from(&body.painted_tear_strain);
    if !body.painted_stiffness.is_empty() {
        rest.paint_stiffness(&topology, &body.painted_stiffness);
    }
    match &body.contact_radius {
        ContactRadius::Shown => rest.radius = reach_beyond(&body.shape.points, &body.shape.surface),
        ContactRadius::Fixed(radius) => rest.radius.fill(*radius),
        ContactRadius::Each(each) => rest.radius.copy_from_slice(each),
    }
    if body.solver == SolverKind::Rigid {
        make_rigid(b, body, &mut rest, faults);
    }
    let mut batches = constraint_batches(b, body, &topology, &rest, faults);
    for make in extras.custom {
        let batch = make(&rest.positions);
        faults.sound(b, &*batch, rest.mass.len());
        batches.push(ModelBatch { scale: BatchScale::Own, factor: 1.0, batch });
    }
    (faults.0.len() == before).then(|| Prototype::new(topology, rest, batches))
}

/// Takes up what a solid is by its four particles; what it touches by are points of its surface.
fn make_rigid(b: usize, body: &Body, rest: &mut Rest, faults: &mut Faults) {
    let contact = &body.shape.contact;
    match RigidRest::of(&rest.positions, &rest.mass, contact) {
        Ok(solid) => {
            rest.radius.fill(0.0);
            rest.radius.extend(contact.iter().map(|c| c.radius));
            rest.rigid = Some(Arc::new(solid));
        }
        Err(text) => faults.add(Some(b), "shape", text, RIGID_SHAPES),
    }
}

/// The clusters, and the share of each membership.
fn clusters(body: &Body) -> Result<(ClusterSet, Vec<f64>), pliant_geometry::GeometryError> {
    let Some(covering) = body.covering() else { return Ok((ClusterSet::default(), Vec::new())) };
    let covering = covering.build(&body.shape.points)?;
    let shares = covering.shares_or_equal();
    Ok((ClusterSet { offsets: covering.offsets, members: covering.members }, shares))
}

fn pin_groups(b: usize, body: &Body, faults: &mut Faults) -> Vec<PinGroup> {
    let mut taken = vec![false; body.shape.points.len()];
    let mut groups = Vec::with_capacity(body.pins.len());
    for pins in &body.pins {
        let mut particles: Vec<u32> = match &pins.select {
            Selection::Particles(list) => list.clone(),
            Selection::Box(lo, hi) => {
                let inside = |p: &DVec3| {
                    let p = body.rotation * *p + body.position;
                    p.cmpge(*lo).all() && p.cmple(*hi).all()
                };
                let points = body.shape.points.iter().enumerate();
                points.filter(|(_, p)| inside(p)).map(|(i, _)| i as u32).collect()
            }
        };
        particles.sort_unstable();
        particles.dedup();
        if particles.is_empty() {
            let help = "move or enlarge it; it is given in the world, at the start";
            faults.add(Some(b), "pins", "no particle is inside the box".into(), help);
        }
        if let Some(i) = particles.iter().find(|&&i| std::mem::replace(&mut taken[i as usize], true)) {
            let text = format!("particle {i} is in two groups");
            faults.add(Some(b), "pins", text, "let each particle be held by one group");
        }
        let (name, motion, stiffness) = (pins.name.clone(), pins.motion, pins.stiffness);
        groups.push(PinGroup { id: groups.len(), name, particles, motion, stiffness });
    }
    groups
}

/// The constraint batches of a body that an implicit solver moves.
fn constraint_batches(
    b: usize,
    body: &Body,
    topology: &Topology,
    rest: &Rest,
    faults: &mut Faults,
) -> Vec<ModelBatch> {
    let mut list = Vec::new();
    if !body.solver.uses_constraints() {
        return list;
    }
    let mut add = |scale, factor, batch| list.push(ModelBatch { scale, factor, batch });
    if !topology.clusters.is_empty() {
        let batch = Arc::new(ClusterShape::new(topology, rest, 0..topology.clusters.len()));
        add(BatchScale::Stiffness, 1.0, batch);
    }
    if !topology.edges.is_empty() {
        let measure = EdgeStrain::share_measure(&topology.edges, &rest.measure);
        let batch = Arc::new(EdgeStrain::lengths(&topology.edges, &rest.positions, &measure));
        add(BatchScale::EdgeStiffness, 1.0, batch);
    }
    match elements::batches(body, &rest.positions) {
        Ok(batches) => batches.into_iter().for_each(|(scale, factor, batch)| add(scale, factor, batch)),
        Err(bad) => bad.into_iter().for_each(|(text, help)| faults.add(Some(b), "shape", text, &help)),
    }
    list
}
