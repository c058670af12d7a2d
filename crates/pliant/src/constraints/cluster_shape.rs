//! Shape matching as a constraint: a cluster wants to be a rigidly moved copy of its rest shape.
//!
//! The energy is ½ Σ m_ic ‖(xᵢ − x_cm) − R (rᵢ − r_cm)‖², with the same best-fit rotation R as
//! [clustered shape matching](crate::solvers::clustered); scaled by k/m in 1/s² it is the same spring.
//! Subtracting the mean would couple every pair of a cluster's particles. Instead the centroid is an
//! auxiliary unknown c: minimising over it gives c = x_cm, hence the same energy, with a star of
//! couplings instead of a clique.

use super::{AUXILIARY, ConstraintBatch, Properties, Rows, RowsBuilder, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::model::{Rest, Topology};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::nearest_rotation;
use std::ops::Range;

/// A batch of shape-matching clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterShape {
    rows: Rows,
    /// r_i − r_cm per row.
    offsets: Points,
    /// w_c per cluster, for the strain.
    widths: Vec<f64>,
}

impl ClusterShape {
    /// The clusters in `range` of a topology, with their split masses as weights.
    pub fn new(topology: &Topology, rest: &Rest, range: Range<usize>) -> ClusterShape {
        let mut rows = RowsBuilder::default();
        let (mut offsets, mut widths) = (Points::default(), Vec::new());
        for (k, c) in range.enumerate() {
            for slot in topology.clusters.range(c) {
                let i = topology.clusters.members[slot];
                let mass = rest.share[slot] * rest.mass[i as usize];
                rows.row(mass, [(i, 1.0), (AUXILIARY + k as u32, -1.0)]);
                offsets.push(rest.positions.get(i as usize) - rest.clusters[c].center);
            }
            rows.end_element();
            widths.push(rest.clusters[c].width);
        }
        ClusterShape { rows: rows.build(), offsets, widths }
    }

    fn particle(&self, row: usize) -> usize {
        self.rows.row(row).next().map_or(0, |(i, _)| i as usize)
    }

    /// Centre of mass and best-fit rotation of cluster `c`.
    fn fit(&self, c: usize, x: &Points, previous: DMat3) -> (DVec3, DMat3) {
        let rows = self.rows.of_elements(c..c + 1);
        if rows.is_empty() {
            return (DVec3::ZERO, previous);
        }
        let origin = x.get(self.particle(rows.start));
        let (mut mass, mut sum, mut a) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for row in rows {
            let (m, r) = (self.rows.weights()[row], self.offsets.get(row));
            let d = (x.get(self.particle(row)) - origin) * m;
            mass += m;
            sum += d;
            // Σ m r = 0 about the rest centre, so the mean of x drops out of the covariance.
            a += DMat3::from_cols(d * r.x, d * r.y, d * r.z);
        }
        (origin + sum / mass, nearest_rotation(a, previous))
    }
}

fn frame(state: &[f64], c: usize) -> DMat3 {
    state.get(9 * c..9 * c + 9).map_or(DMat3::IDENTITY, DMat3::from_cols_slice)
}

impl ConstraintBatch for ClusterShape {
    fn kind(&self) -> &'static str {
        "cluster_shape"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        let first = self.rows.of_elements(elements.clone()).start;
        for c in elements {
            let (_, rotation) = self.fit(c, view.x, frame(view.state, c));
            for row in self.rows.of_elements(c..c + 1) {
                p.set(row - first, rotation * self.offsets.get(row));
            }
        }
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: true, exact_nearest: true, rest_is_free: true, sees_reflection: true }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.rows.encode(&mut w);
        self.offsets.columns().into_iter().for_each(|c| w.numbers(c));
        w.numbers(&self.widths);
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<ClusterShape, Truncated> {
        let mut r = Reader(bytes);
        let rows = Rows::decode(&mut r)?;
        let offsets = r.points()?;
        let widths = r.numbers()?;
        let fits = widths.len() == rows.elements() && offsets.columns().iter().all(|c| c.len() == rows.len());
        if fits { Ok(ClusterShape { rows, offsets, widths }) } else { Err(Truncated) }
    }

    fn auxiliary_unknowns(&self) -> usize {
        self.rows.elements()
    }

    fn auxiliary_values(&self, x: &Points, values: &mut Points) {
        for c in 0..self.rows.elements() {
            let rows = self.rows.of_elements(c..c + 1);
            let mass: f64 = self.rows.weights()[rows.clone()].iter().sum();
            let sum: DVec3 = rows.map(|r| x.get(self.particle(r)) * self.rows.weights()[r]).sum();
            values.set(c, sum / mass);
        }
    }

    fn state_len(&self) -> usize {
        9 * self.rows.elements()
    }

    fn initial_state(&self, state: &mut Vec<f64>) {
        (0..self.rows.elements()).for_each(|_| state.extend(DMat3::IDENTITY.to_cols_array()));
    }

    fn end_step(&self, x: &Points, state: &mut [f64]) {
        for c in 0..self.rows.elements() {
            let (_, rotation) = self.fit(c, x, frame(state, c));
            state[9 * c..9 * c + 9].copy_from_slice(&rotation.to_cols_array());
        }
    }

    fn raise_strain(&self, view: View<'_>, strain: &mut [f64]) {
        for (c, &width) in self.widths.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let (center, rotation) = self.fit(c, view.x, frame(view.state, c));
            for row in self.rows.of_elements(c..c + 1) {
                let i = self.particle(row);
                let goal = rotation * self.offsets.get(row) + center;
                strain[i] = strain[i].max((view.x.get(i) - goal).length() / width);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;
    use crate::model::ClusterSet;

    #[test]
    fn conforms() {
        let rest: Points = (0..12)
            .map(|i| {
                let t = f64::from(i);
                DVec3::new((t * 1.3).sin(), (t * 0.7).cos(), (t * 2.1).sin() * 0.5)
            })
            .collect();
        let clusters = ClusterSet { offsets: vec![0, 8, 16], members: (0..8).chain(4..12).collect() };
        let topology = Topology::new(Vec::new(), Vec::new(), false, clusters, 12);
        let mass: Vec<f64> = (0..12).map(|i| 1.0 + f64::from(i) * 0.1).collect();
        let r = Rest::new(&topology, rest.clone(), mass, vec![1.0; 12]);
        conformance::check(&ClusterShape::new(&topology, &r, 0..2), &rest).unwrap();
    }
}
