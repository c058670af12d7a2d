//! What ties bodies together: points of bodies that are kept in one place, exactly or by springs.

use super::{BodyId, Model, ModelBody};
use crate::bytes::Digest;
use crate::state::State;
use glam::DVec3;

/// A coupling of a simulation. Couplings are numbered in the order they come, and no number is given twice: the id of
/// one that was removed names nothing for ever. The n-th coupling a simulation is built with (from 0) has number n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CouplingId(u64);

impl CouplingId {
    /// The number, to be kept in files.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The id of this number.
    pub fn from_number(number: u64) -> CouplingId {
        CouplingId(number)
    }
}

impl From<usize> for CouplingId {
    fn from(number: usize) -> CouplingId {
        CouplingId(number as u64)
    }
}

impl std::fmt::Display for CouplingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A point of a body: the mean of up to four of its particles by weights that sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPoint {
    /// The body.
    pub body: BodyId,
    /// Its particles; unused entries repeat the first with weight 0.
    pub particles: [u32; 4],
    /// Their weights.
    pub weights: [f64; 4],
}

impl BodyPoint {
    /// A particle of a body.
    pub fn particle(body: impl Into<BodyId>, particle: u32) -> BodyPoint {
        BodyPoint { body: body.into(), particles: [particle; 4], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// The mean of particles by weights, (particle, weight), as a query tells a point of a surface. More than four
    /// particles, or none, are `None`.
    pub fn mean(body: impl Into<BodyId>, of: &[(u32, f64)]) -> Option<BodyPoint> {
        let first = of.first()?.0;
        let mut point = BodyPoint { body: body.into(), particles: [first; 4], weights: [0.0; 4] };
        for (k, &(particle, weight)) in of.iter().enumerate() {
            *point.particles.get_mut(k)? = particle;
            point.weights[k] = weight;
        }
        Some(point)
    }

    /// The particles that count, with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.particles.iter().copied().zip(self.weights).filter(|(_, w)| *w != 0.0)
    }
}

/// Two points that are kept in one place: a ball joint, or a spring between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Name, for messages and look-up; may be empty.
    pub name: String,
    /// The points, of two bodies or of one. Points that begin apart come together at the pace of one body size a second.
    pub points: [BodyPoint; 2],
    /// Spring stiffness, N/m; `None` holds exactly.
    pub stiffness: Option<f64>,
    /// Force per relative velocity of the points, N s/m. Only for springs.
    pub damping: f64,
}

impl Coupling {
    /// Two points that are held together exactly and turn freely about each other.
    pub fn joint(a: BodyPoint, b: BodyPoint) -> Coupling {
        Coupling { name: String::new(), points: [a, b], stiffness: None, damping: 0.0 }
    }

    /// Two points drawn together by a damped spring (N/m, N s/m).
    pub fn spring(a: BodyPoint, b: BodyPoint, stiffness: f64, damping: f64) -> Coupling {
        Coupling { stiffness: Some(stiffness), damping, ..Coupling::joint(a, b) }
    }

    /// The same coupling under a name.
    pub fn named(self, name: impl Into<String>) -> Coupling {
        Coupling { name: name.into(), ..self }
    }

    /// The bodies it ties together.
    pub fn bodies(&self) -> [BodyId; 2] {
        self.points.map(|p| p.body)
    }

    /// The energy in its spring, J; none in a joint.
    pub(crate) fn energy(&self, state: &State) -> f64 {
        let at = |p: &BodyPoint| -> Option<DVec3> {
            let x = state.body(p.body)?.positions();
            Some(p.parts().map(|(i, w)| x.get(i as usize) * w).sum())
        };
        match (self.stiffness, at(&self.points[0]), at(&self.points[1])) {
            (Some(stiffness), Some(a), Some(b)) => 0.5 * stiffness * a.distance_squared(b),
            _ => 0.0,
        }
    }

    /// Why these bodies cannot be tied like this, and what to do.
    pub(crate) fn faults(&self, bodies: &[ModelBody]) -> Vec<(String, String)> {
        let Coupling { points, stiffness, damping, .. } = self;
        let mut faults = Vec::new();
        for BodyPoint { body, particles, weights } in points {
            let Ok(k) = bodies.binary_search_by_key(body, |b| b.id) else {
                let help = format!("tie bodies that are there; there are {}", bodies.len());
                faults.push((format!("there is no body {body}"), help));
                continue;
            };
            let (name, count) = (&bodies[k].name, bodies[k].parts.whole().particle_count());
            if let Some(i) = particles.iter().find(|i| **i as usize >= count) {
                let text = format!("body \"{name}\" has no particle {i} (there are {count}, from 0)");
                faults.push((text, "tie particles that exist".into()));
            }
            let sum: f64 = weights.iter().sum();
            if !weights.iter().all(|w| w.is_finite()) || (sum - 1.0).abs() > 1e-9 {
                let text = format!("the weights of its point of body \"{name}\" are {weights:?}");
                faults.push((text, "give finite weights that sum to 1".into()));
            }
        }
        if points[0] == points[1] {
            faults.push(("it ties a point to itself".into(), "give two points".into()));
        }
        if stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
            let help = "give a number above 0, or none to hold exactly".into();
            faults.push((format!("its stiffness is {stiffness:?} N/m"), help));
        }
        if !(*damping >= 0.0 && damping.is_finite()) {
            faults.push((format!("its damping is {damping} N s/m"), "give a number of at least 0".into()));
        } else if *damping > 0.0 && stiffness.is_none() {
            let help = "leave the damping out, or give a stiffness".into();
            faults.push((format!("it holds exactly and has a damping of {damping} N s/m"), help));
        }
        faults
    }
}

/// A coupling under the id it has in a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelCoupling {
    /// What it is known by, for as long as the simulation lives.
    pub id: CouplingId,
    /// What it is.
    pub coupling: Coupling,
}

impl ModelCoupling {
    pub(super) fn digest(&self, hash: &mut Digest) {
        let Coupling { name, points, stiffness, damping } = &self.coupling;
        hash.word(self.id.number());
        hash.bytes(name.as_bytes());
        for BodyPoint { body, particles, weights } in points {
            hash.word(body.number());
            particles.iter().for_each(|i| hash.word(u64::from(*i)));
            weights.iter().for_each(|w| hash.number(*w));
        }
        hash.number(stiffness.unwrap_or(f64::INFINITY));
        hash.number(*damping);
    }
}

impl Model {
    /// What ties bodies together, in the order it came.
    pub fn couplings(&self) -> &[ModelCoupling] {
        &self.couplings
    }

    /// Where a coupling stands in [`Model::couplings`]; `None` if it is gone or never was.
    pub fn coupling_index(&self, id: CouplingId) -> Option<usize> {
        self.couplings.binary_search_by_key(&id, |c| c.id).ok()
    }

    /// The coupling of this name.
    pub fn coupling(&self, name: &str) -> Option<CouplingId> {
        self.couplings.iter().find(|c| c.coupling.name == name).map(|c| c.id)
    }

    /// The id the next coupling will have.
    pub(crate) fn next_coupling(&self) -> CouplingId {
        CouplingId::from_number(self.next_coupling)
    }

    /// Other couplings that were checked, as the next revision; `next` is the number of the next one to come. No body is
    /// touched by it.
    pub(crate) fn with_couplings(&self, couplings: Vec<ModelCoupling>, next: u64) -> Model {
        let mut model =
            Model { couplings: std::sync::Arc::new(couplings), next_coupling: next, ..self.clone() };
        (model.id.revision, model.id.fingerprint) = (self.id.revision + 1, model.fingerprint());
        model
    }
}
