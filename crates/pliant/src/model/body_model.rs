//! One body as a solver sees it: its prototype, what it has beside it, and the world around.

use super::{
    BodyKind, CollisionShape, ContactFilter, Input, ModelBatch, Params, PinGroup, Prototype, Rest, RigidRest,
    Shown, Topology,
};
use crate::bytes::Digest;
use crate::constraints::Position;
use crate::controls::BodyControls;
use crate::model::BatchScale;
use crate::solvers::SolverKind;
use crate::solvers::rigid::Pose;
use crate::state::BodyState;
use crate::tearing::{Corners, Facets, Tear, TornSurface};
use glam::DVec3;
use std::sync::Arc;

/// Places of one ball that there is room for from the start: of colliders that it touches or is near to at once.
const MOST_TOUCHES: usize = 16;

/// The constant side of one body. All indices of particles, clusters and pin groups are its own.
#[derive(Clone, Debug)]
pub struct BodyModel {
    pub(crate) prototype: Arc<Prototype>,
    /// What is seen of it; nothing that moves it reads this.
    pub(crate) shown: Arc<Shown>,
    pub(crate) kind: BodyKind,
    /// Prescribed and softly held particles.
    pub(crate) pins: Arc<[PinGroup]>,
    /// The id of the next pin group.
    pub(crate) next_pin: usize,
    /// What it follows, in the world.
    pub(crate) input: Option<Arc<Input>>,
    /// The prototype's constraints, and the springs of soft pins.
    pub(crate) batches: Arc<[ModelBatch]>,
    pub(crate) params: Arc<Params>,
    /// Which bodies it touches.
    pub(crate) filter: ContactFilter,
    /// What it was before it tore, and how it came apart.
    tear: Option<Arc<Tear>>,
}

impl BodyModel {
    pub(crate) fn new(
        (prototype, shown): (Arc<Prototype>, Arc<Shown>),
        kind: BodyKind,
        pins: Vec<PinGroup>,
        input: Option<Arc<Input>>,
        params: &Arc<Params>,
    ) -> BodyModel {
        let next_pin = pins.len();
        BodyModel::with_pins((prototype, shown), kind, (pins, next_pin), input, params, None)
    }

    fn with_pins(
        (prototype, shown): (Arc<Prototype>, Arc<Shown>),
        kind: BodyKind,
        (pins, next_pin): (Vec<PinGroup>, usize),
        input: Option<Arc<Input>>,
        params: &Arc<Params>,
        shares: Option<&[Vec<f64>]>,
    ) -> BodyModel {
        let mut first = 0;
        let soft = pins.iter().enumerate().filter_map(|(g, group)| {
            let begin = first;
            first += group.particles.len();
            let k = group.stiffness.filter(|_| kind.solver().uses_constraints())?;
            let batch = match shares {
                Some(shares) => Position::shared(&group.particles, begin, k, &shares[g]),
                None => Position::new(&group.particles, begin, k),
            };
            let batch = Arc::new(batch);
            Some(ModelBatch { scale: BatchScale::Own, factor: 1.0, batch })
        });
        let batches = match pins.iter().any(|p| p.stiffness.is_some()) {
            true => prototype.batches.iter().cloned().chain(soft).collect(),
            false => prototype.batches.clone(),
        };
        let (pins, params) = (pins.into(), params.clone());
        let filter = ContactFilter::ALL;
        BodyModel { prototype, shown, kind, pins, next_pin, input, batches, params, filter, tear: None }
    }

    /// The same body, touching other bodies.
    pub(crate) fn touching(self, filter: ContactFilter) -> BodyModel {
        BodyModel { filter, ..self }
    }

    /// The whole body with other pin groups; `next_pin` is the id of the next one to come.
    pub(crate) fn pinned(&self, pins: Vec<PinGroup>, next_pin: usize) -> BodyModel {
        let BodyModel { prototype, shown, kind, input, params, .. } = self.whole();
        let own = (prototype.clone(), shown.clone());
        let pinned = BodyModel::with_pins(own, *kind, (pins, next_pin), input.clone(), params, None);
        BodyModel { filter: self.filter, ..pinned }
    }

    /// This whole body, torn: its pin groups hold these particles, with these shares of the stiffness of soft ones.
    pub(crate) fn with_tear(&self, tear: Tear, pins: Vec<PinGroup>, shares: &[Vec<f64>]) -> BodyModel {
        let BodyModel { kind, next_pin, input, params, .. } = self;
        let own = (tear.shape.prototype.clone(), tear.shape.shown.clone());
        let (pins, input) = ((pins, *next_pin), input.clone());
        let torn = BodyModel::with_pins(own, *kind, pins, input, params, Some(shares));
        BodyModel { tear: Some(Arc::new(tear)), filter: self.filter, ..torn }
    }

    /// The same body in a world of other parameters.
    pub(crate) fn under(&self, params: &Arc<Params>) -> BodyModel {
        let under = |t: &Arc<Tear>| Arc::new(Tear { whole: t.whole.under(params), shape: t.shape.clone() });
        BodyModel { params: params.clone(), tear: self.tear.as_ref().map(under), ..self.clone() }
    }

    /// The body as it was built and edited, with nothing torn: itself, if nothing is.
    pub fn whole(&self) -> &BodyModel {
        self.tear.as_ref().map_or(self, |t| &t.whole)
    }

    /// Which particle each corner of its elements uses, if it has torn.
    pub fn corners(&self) -> Option<&Corners> {
        self.tear.as_ref().map(|t| &t.shape.corners)
    }

    /// Where its elements are joined, in the numbering of the whole body; `None` if it has neither triangles nor tetrahedra.
    pub fn facets(&self) -> Option<&Facets> {
        self.whole().prototype.facets()
    }

    /// What of the whole body's shown surface each vertex was, if it has torn.
    pub fn surface(&self) -> Option<&TornSurface> {
        self.tear.as_ref().map(|t| &t.shape.surface)
    }

    /// What its copies share.
    pub fn prototype(&self) -> &Arc<Prototype> {
        &self.prototype
    }

    /// What is seen of it; shared by copies.
    pub fn shown(&self) -> &Arc<Shown> {
        &self.shown
    }

    /// Elements, clusters, incidence.
    pub fn topology(&self) -> &Topology {
        &self.prototype.topology
    }

    /// Rest shape and masses.
    pub fn rest(&self) -> &Rest {
        &self.prototype.rest
    }

    /// What of it touches other bodies.
    pub(crate) fn collision(&self) -> &Arc<CollisionShape> {
        self.prototype.collision()
    }

    /// Whether any of it moves by forces.
    pub(crate) fn is_moved_by_forces(&self) -> bool {
        let led = !self.pins.is_empty() || self.input.is_some();
        !led || (0..self.particle_count() as u32).any(|i| !self.prescribes(i))
    }

    /// Whether it touches itself, where bodies touch.
    pub(crate) fn touches_itself(&self) -> bool {
        self.filter.groups != 0
            && self.filter.itself.unwrap_or_else(|| self.collision().is_thin())
            && self.rigid().is_none()
            && self.is_moved_by_forces()
    }

    /// Which bodies it touches.
    pub fn filter(&self) -> ContactFilter {
        self.filter
    }

    /// What kind of body it is.
    pub fn kind(&self) -> BodyKind {
        self.kind
    }

    /// Who moves it.
    pub fn solver(&self) -> SolverKind {
        self.kind.solver()
    }

    /// Groups of prescribed and softly held particles.
    pub fn pins(&self) -> &[PinGroup] {
        &self.pins
    }

    /// What it follows.
    pub fn input(&self) -> Option<&Input> {
        self.input.as_deref()
    }

    /// Constraints of the implicit solvers, in a fixed order.
    pub fn batches(&self) -> &[ModelBatch] {
        &self.batches
    }

    /// The world around it.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Particles of the body as it is now: a torn one has more than its prototype.
    pub fn particle_count(&self) -> usize {
        self.rest().mass.len()
    }

    /// What it is if it never deforms.
    pub fn rigid(&self) -> Option<&RigidRest> {
        self.rest().rigid.as_deref()
    }

    /// Number of its points as contacts know them: the particles, and after them the points of contact of a body that
    /// never deforms, which are no particles.
    pub fn point_count(&self) -> usize {
        self.rest().radius.len()
    }

    /// Points that forces may be on at once: beside those of [`BodyModel::point_count`], where balls around points of contact touch.
    pub(crate) fn node_count(&self) -> usize {
        let round = self.rigid().map_or(0, |r| r.contact.iter().filter(|c| c.radius > 0.0).count());
        self.point_count() + MOST_TOUCHES * round
    }

    /// The points by which it touches, with their radii, for particles in these places: the particles themselves, unless it
    /// never deforms. By their numbers among its points.
    pub fn contact_points<'a>(
        &'a self,
        state: &'a BodyState,
    ) -> impl Iterator<Item = (usize, DVec3, f64)> + 'a {
        let radius = &self.rest().radius;
        let pose = self.rigid().map(|rest| (rest, Pose::of(rest, state)));
        let first = if pose.is_some() { self.particle_count() } else { 0 };
        (first..radius.len()).map(move |i| {
            let at = match &pose {
                Some((rest, pose)) => pose.place(rest.contact[i - first].at),
                None => state.positions().get(i),
            };
            (i, at, radius[i])
        })
    }

    /// How many times the mass it was built with it has at present.
    pub(crate) fn mass_ratio(&self, controls: &BodyControls) -> f64 {
        controls.mass / self.rest().body_mass
    }

    /// What the weights of batch `k` are multiplied by at present.
    pub(crate) fn batch_scale(&self, controls: &BodyControls, k: usize) -> f64 {
        let b = &self.batches[k];
        b.factor * b.scale.value(controls, self.params.substep(), self.mass_ratio(controls))
    }

    /// What all of them are multiplied by.
    pub(crate) fn batch_scales(&self, controls: &BodyControls) -> impl Iterator<Item = f64> + '_ {
        let (h, ratio) = (self.params.substep(), self.mass_ratio(controls));
        let controls = *controls;
        self.batches.iter().map(move |b| b.factor * b.scale.value(&controls, h, ratio))
    }

    /// The rest shape at a time: that of a body with an animated input follows it.
    pub fn rest_at(&self, time: f64) -> std::borrow::Cow<'_, Rest> {
        let mut rest = std::borrow::Cow::Borrowed(self.rest());
        if let Some(input) = self.input.as_ref().filter(|i| i.reshape) {
            rest.to_mut().reshape(self.topology(), &input.sequence.at(time));
        }
        rest
    }

    /// Its size at rest: the diagonal of its bounds, never zero.
    pub(crate) fn diameter(&self) -> f64 {
        let points: Vec<DVec3> = self.rest().positions.iter().collect();
        let bounds = pliant_geometry::TriMesh::bounds(&points);
        bounds.map_or(0.0, |(lo, hi)| (hi - lo).length()).max(f64::MIN_POSITIVE)
    }

    /// Where the memory of each batch begins; the last is the length of all.
    pub fn memory_offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for b in self.batches.iter() {
            offsets.push(offsets[offsets.len() - 1] + b.batch.state_len());
        }
        offsets
    }

    /// Whether a particle is where pins or an animated input put it, whatever forces there are.
    pub(crate) fn prescribes(&self, particle: u32) -> bool {
        let pinned = |g: &PinGroup| g.stiffness.is_none() && g.particles.contains(&particle);
        let follows = self.input.as_ref().and_then(|i| i.follow.get(particle as usize));
        self.pins.iter().any(pinned) || follows.is_some_and(|w| *w >= 1.0)
    }

    /// Particles that are held exactly, with their targets, of the targets of all pinned ones.
    pub(crate) fn prescribed<'a>(
        &'a self,
        targets: &'a [DVec3],
    ) -> impl Iterator<Item = (usize, DVec3)> + 'a {
        let held =
            self.pins.iter().flat_map(|g| g.particles.iter().map(|i| (*i as usize, g.stiffness.is_none())));
        held.zip(targets).filter(|((_, exactly), _)| *exactly).map(|((i, _), target)| (i, *target))
    }

    /// Whether a cache made for one serves the other.
    pub fn same(&self, other: &BodyModel) -> bool {
        let same_pins = Arc::ptr_eq(&self.pins, &other.pins) || self.pins.is_empty() && other.pins.is_empty();
        let same_batches = Arc::ptr_eq(&self.batches, &other.batches)
            || same_pins && Arc::ptr_eq(&self.prototype.batches, &other.prototype.batches);
        let same_input = match (&self.input, &other.input) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        Arc::ptr_eq(&self.prototype, &other.prototype)
            && Arc::ptr_eq(&self.params, &other.params)
            && self.kind == other.kind
            && same_pins
            && same_batches
            && same_input
    }

    /// Whether a state of one has the sizes of a state of the other.
    pub(crate) fn same_sizes(&self, other: &BodyModel) -> bool {
        let pins = |m: &BodyModel| m.pins.iter().map(|g| (g.id, g.particles.len())).collect::<Vec<_>>();
        let sizes = |m: &BodyModel| (m.particle_count(), m.topology().clusters.len(), pins(m));
        // What is broken is told by the elements it was between.
        let elements = |m: &BodyModel| match m.topology().solid {
            true => m.topology().tetrahedra.clone(),
            false => m.topology().faces.iter().map(|&[a, b, c]| [a, b, c, 0]).collect(),
        };
        let same_elements =
            self.facets().is_none() && other.facets().is_none() || elements(self) == elements(other);
        sizes(self) == sizes(other)
            && same_elements
            && self.memory_offsets().last() == other.memory_offsets().last()
    }

    /// Of what it was built and edited to: how it is torn is told by the state.
    pub(crate) fn digest(&self, hash: &mut Digest) {
        if let Some(tear) = &self.tear {
            return tear.whole.digest(hash);
        }
        hash.word(self.prototype.digest());
        let m = self.kind.matching().unwrap_or_default();
        [self.solver() as u64, m.goals as u64, m.two_step.into(), m.integrator as u64]
            .into_iter()
            .for_each(|v| hash.word(v));
        if self.filter != ContactFilter::ALL {
            [self.filter.groups, self.filter.touches].into_iter().for_each(|v| hash.word(v.into()));
            hash.word(self.filter.itself.map_or(2, u64::from));
        }
        self.pins.iter().for_each(|g| g.digest(hash));
        if let Some(i) = &self.input {
            hash.word(i.reshape.into());
            i.follow.iter().for_each(|w| hash.number(*w));
            i.sequence.digest(hash);
        }
    }
}
