//! A frame that best fits particles of a body, wherever they go: what glue holds on to.

use super::BodyId;
use crate::bytes::Digest;
use glam::{DMat3, DVec3};
use pliant_math::procrustes::{Cloud, CloudError, Fit};

/// A frame carried by some particles of a body, its *parents*, as the rigid motion that fits theirs best carries it (The
/// point cloud glue, eq. 4): on the body, in it or beside it. Forces on the frame reach the parents with their torque and stretch
/// nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFrame {
    body: BodyId,
    parents: Vec<u32>,
    /// As they were given.
    weights: Vec<f64>,
    cloud: Cloud,
    /// Where the parents are told to be at rest.
    rest: Vec<DVec3>,
    at: DVec3,
    axes: DMat3,
}

impl BodyFrame {
    /// The frame at `at` with these `axes` (a rotation), carried by particles with weights, (particle, weight), which are at `rest`
    /// when it is there. At least three parents that are not on a line must have a weight above 0.
    pub fn new(
        body: impl Into<BodyId>,
        parents: &[(u32, f64)],
        rest: &[DVec3],
        (at, axes): (DVec3, DMat3),
    ) -> Result<BodyFrame, CloudError> {
        let weights: Vec<f64> = parents.iter().map(|p| p.1).collect();
        let cloud = Cloud::new(rest, &weights)?;
        let parents = parents.iter().map(|p| p.0).collect();
        Ok(BodyFrame { body: body.into(), parents, weights, cloud, rest: rest.to_vec(), at, axes })
    }

    /// The body whose particles carry it.
    pub fn body(&self) -> BodyId {
        self.body
    }

    /// The frame of the same particles of another body, for copies of one prototype.
    pub fn of(self, body: impl Into<BodyId>) -> BodyFrame {
        BodyFrame { body: body.into(), ..self }
    }

    /// The particles that carry it.
    pub fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// Their weights, as they were given: only their ratios matter.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Where they are when the frame is at its place.
    pub fn rest(&self) -> &[DVec3] {
        &self.rest
    }

    /// What fits their motion.
    pub fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// Its place among the parents at rest.
    pub fn at(&self) -> DVec3 {
        self.at
    }

    /// Its axes among the parents at rest, the columns of a rotation; hinges turn about the last.
    pub fn axes(&self) -> DMat3 {
        self.axes
    }

    /// The motion of the parents from rest to where they are, by particle. If it is not unique it is the one nearest to a rotation
    /// `before`.
    pub fn fit(&self, position: impl Fn(u32) -> DVec3, before: DMat3) -> Fit {
        self.cloud.fit(|k| position(self.parents[k]), before)
    }

    pub(super) fn digest(&self, hash: &mut Digest) {
        hash.word(self.body.number());
        hash.word(self.parents.len() as u64);
        self.parents.iter().for_each(|i| hash.word(u64::from(*i)));
        self.weights.iter().for_each(|w| hash.number(*w));
        let vectors =
            self.rest.iter().copied().chain([self.at, self.axes.x_axis, self.axes.y_axis, self.axes.z_axis]);
        vectors.flat_map(|v| v.to_array()).for_each(|v| hash.number(v));
    }
}
