//! One body at rest, in its own numbering: what its copies share.

use super::{CollisionShape, Rest, Topology};
use crate::body::Body;
use crate::bytes::Digest;
use crate::constraints::ConstraintBatch;
use crate::controls::BodyControls;
use crate::tearing::Facets;
use std::sync::{Arc, OnceLock};

/// A constraint batch and what scales it.
#[derive(Clone, Debug)]
pub struct ModelBatch {
    /// Which of the body's stiffnesses scales it.
    pub scale: BatchScale,
    /// What it is multiplied by besides: a stiffness given with the constraint, else 1.
    pub factor: f64,
    /// All constraints of one kind.
    pub batch: Arc<dyn ConstraintBatch>,
}

impl ModelBatch {
    pub(crate) fn digest(&self, hash: &mut Digest) {
        hash.bytes(self.batch.kind().as_bytes());
        hash.word(self.scale as u64);
        hash.number(self.factor);
        hash.bytes(&self.batch.encode());
    }
}

/// Which control multiplies the weights of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchScale {
    /// [`BodyControls::stiffness`](crate::BodyControls::stiffness), as k/m in 1/s².
    Stiffness,
    /// [`BodyControls::edge_stiffness`](crate::BodyControls::edge_stiffness).
    EdgeStiffness,
    /// 2μ of the elements' material, Pa: strain of tetrahedra.
    Strain,
    /// 3λ: their volume.
    Volume,
    /// 2μ t, N/m: strain of triangles.
    SheetStrain,
    /// 2λ′ t: their area.
    SheetArea,
    /// D, N m: their bending.
    Bending,
    /// E A, N: strain of edges that are threads.
    Thread,
    /// The batch's own weights are final.
    Own,
}

impl BatchScale {
    /// The number that multiplies the batch's weights at present, with substeps of `h` seconds, for a
    /// body of `mass_ratio` times the mass it was built with. Only ratios to the inertia move a body, and
    /// the inertia stays as built: what does not grow with the mass is divided by it.
    pub(crate) fn value(self, body: &BodyControls, h: f64, mass_ratio: f64) -> f64 {
        let elastic = body.elasticity();
        match self {
            BatchScale::Stiffness => body.stiffness.per_mass(h),
            BatchScale::EdgeStiffness => body.edge_stiffness / mass_ratio,
            BatchScale::Strain => 2.0 * elastic.mu() / mass_ratio,
            BatchScale::Volume => 3.0 * elastic.lambda() / mass_ratio,
            BatchScale::SheetStrain => 2.0 * elastic.mu() * elastic.thickness / mass_ratio,
            BatchScale::SheetArea => 2.0 * elastic.lambda_of_sheet() * elastic.thickness / mass_ratio,
            BatchScale::Bending => elastic.bending() / mass_ratio,
            BatchScale::Thread => elastic.stretching_of_thread() / mass_ratio,
            BatchScale::Own => 1.0 / mass_ratio,
        }
    }
}

/// What a prototype was made of. Of the description only what goes into a prototype counts.
#[derive(Debug)]
pub(crate) struct Source {
    pub body: Body,
    /// Whether keyframes give it springs later.
    pub sprung: bool,
    /// Whether its elements couple masses.
    pub consistent: bool,
}

/// One body at rest: particles, elements, clusters, masses and constraints, by indices that begin at 0.
#[derive(Clone, Debug)]
pub struct Prototype {
    pub(crate) topology: Topology,
    pub(crate) rest: Rest,
    pub(crate) batches: Arc<[ModelBatch]>,
    digest: u64,
    /// `None` where a description does not say all: constraints of a user's own, tears.
    pub(crate) source: Option<Arc<Source>>,
    /// Where it may come apart, found when first asked for: who never tears pays nothing.
    facets: OnceLock<Option<Box<Facets>>>,
    /// What of it touches other bodies, found when first asked for.
    collision: OnceLock<Arc<CollisionShape>>,
    /// A good order of its particles to solve for, found when it tears.
    pub(crate) order: OnceLock<Vec<u32>>,
}

impl Prototype {
    pub(crate) fn new(topology: Topology, rest: Rest, batches: Vec<ModelBatch>) -> Prototype {
        let digest = digest(&topology, &rest, &batches);
        Prototype {
            topology,
            rest,
            batches: batches.into(),
            digest,
            source: None,
            facets: OnceLock::new(),
            collision: OnceLock::new(),
            order: OnceLock::new(),
        }
    }

    /// The same, with what it was made of.
    pub(crate) fn made_of(self, source: Arc<Source>) -> Prototype {
        Prototype { source: Some(source), ..self }
    }

    /// What tearing has made of the prototype of this digest, by breaking facets in this order.
    pub(crate) fn of_tear(
        topology: Topology,
        rest: Rest,
        batches: Vec<ModelBatch>,
        whole: u64,
        broken: &[u32],
    ) -> Prototype {
        let mut hash = Digest::default();
        hash.word(whole);
        broken.iter().for_each(|&f| hash.word(f.into()));
        Prototype {
            topology,
            rest,
            batches: batches.into(),
            digest: hash.finish(),
            source: None,
            facets: OnceLock::new(),
            collision: OnceLock::new(),
            order: OnceLock::new(),
        }
    }

    /// Where its triangles or tetrahedra are joined; `None` if it has neither.
    pub fn facets(&self) -> Option<&Facets> {
        let find = || Facets::new(&self.topology, &self.rest.positions).map(Box::new);
        self.facets.get_or_init(find).as_deref()
    }

    /// What of it touches other bodies.
    pub(crate) fn collision(&self) -> &Arc<CollisionShape> {
        let body = self.source.as_deref().map(|s| &s.body);
        self.collision.get_or_init(|| Arc::new(CollisionShape::new(&self.topology, &self.rest, body)))
    }

    /// Elements, clusters, incidence.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Rest shape and masses.
    pub fn rest(&self) -> &Rest {
        &self.rest
    }

    /// A digest of all its parts: two that have the same are alike.
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

fn digest(topology: &Topology, rest: &Rest, batches: &[ModelBatch]) -> u64 {
    let mut hash = Digest::default();
    hash.word(topology.solid.into());
    let indices = [
        topology.edges.as_flattened(),
        topology.faces.as_flattened(),
        topology.tetrahedra.as_flattened(),
        &topology.clusters.offsets,
        &topology.clusters.members,
    ];
    for list in indices {
        hash.word(list.len() as u64);
        list.iter().for_each(|&i| hash.word(i.into()));
    }
    let [x, y, z] = rest.positions.columns();
    let stiffness: Vec<f64> = rest.clusters.iter().map(|c| c.stiffness).collect();
    for list in [x, y, z, &rest.mass, &rest.measure, &rest.radius, &rest.share, &rest.toughness, &stiffness] {
        hash.word(list.len() as u64);
        list.iter().for_each(|v| hash.number(*v));
    }
    for p in rest.rigid.iter().flat_map(|r| &r.contact) {
        p.at.to_array().into_iter().for_each(|v| hash.number(v));
    }
    hash.word(rest.goals as u64);
    hash.number(rest.body_mass);
    for &(i, j, m) in &rest.coupled_mass {
        hash.word(i.into());
        hash.word(j.into());
        hash.number(m);
    }
    batches.iter().for_each(|b| b.digest(&mut hash));
    hash.finish()
}
