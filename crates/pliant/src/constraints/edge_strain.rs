//! Strain of edges: each edge wants its rest length (projective-dynamics §5.1, curves).
//!
//! The potential of an edge of rest length L is ½ w ‖(xᵢ − xⱼ)/L − d‖² with d any unit vector, so the
//! nearest point is the edge's own direction. The weight w is the volume (solids), area (cloth) or
//! length (curves) the edge stands for: stiffness is then per volume, area or length and does not
//! change with resolution as a plain spring constant would. Lengths alone cannot tell a shape from
//! its mirror image.

use super::{ConstraintBatch, Properties, Rows, RowsBuilder, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::DVec3;
use std::ops::Range;

/// A batch of edges that resist stretching and compression.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeStrain {
    rows: Rows,
    edges: Vec<[u32; 2]>,
    rest: Points,
}

impl EdgeStrain {
    /// Edges between particles at their rest positions; `measure` is what each edge stands for.
    pub fn new(edges: Vec<[u32; 2]>, positions: &Points, measure: &[f64]) -> EdgeStrain {
        let mut rows = RowsBuilder::default();
        let mut rest = Points::default();
        for (&[i, j], &w) in edges.iter().zip(measure) {
            let d = positions.get(i as usize) - positions.get(j as usize);
            let length = d.length();
            // Two particles that rest on the same spot simply want to be together: p = 0.
            let scale = if length > 0.0 { length.recip() } else { 1.0 };
            rows.row(w, [(i, scale), (j, -scale)]).end_element();
            rest.push(d * scale);
        }
        EdgeStrain { rows: rows.build(), edges, rest }
    }

    /// Shares the measure of each particle equally among its edges, so that the edges' measures sum
    /// to the body's.
    pub fn share_measure(edges: &[[u32; 2]], measure: &[f64]) -> Vec<f64> {
        let mut degree = vec![0u32; measure.len()];
        edges.iter().flatten().for_each(|&i| degree[i as usize] += 1);
        let part = |i: u32| measure[i as usize] / f64::from(degree[i as usize]);
        edges.iter().map(|&[i, j]| part(i) + part(j)).collect()
    }

    fn direction(&self, e: usize, x: &Points) -> (DVec3, f64) {
        let [i, j] = self.edges[e];
        let d = x.get(i as usize) - x.get(j as usize);
        (d, d.length())
    }
}

impl ConstraintBatch for EdgeStrain {
    fn kind(&self) -> &'static str {
        "edge_strain"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        for (k, e) in elements.enumerate() {
            let rest = self.rest.get(e);
            let (d, length) = self.direction(e, view.x);
            // A collapsed edge has no direction of its own; any is nearest, its rest direction is
            // one. Subnormal lengths divide badly and count as collapsed.
            let collapsed = length < f64::MIN_POSITIVE.sqrt() || rest == DVec3::ZERO;
            p.set(k, if collapsed { rest } else { d / length });
        }
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: true, exact_nearest: true, rest_is_free: true, sees_reflection: false }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.rows.encode(&mut w);
        w.indices(self.edges.as_flattened());
        self.rest.columns().into_iter().for_each(|c| w.numbers(c));
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<EdgeStrain, Truncated> {
        let mut r = Reader(bytes);
        let rows = Rows::decode(&mut r)?;
        let edges: Vec<[u32; 2]> = r.indices()?.as_chunks().0.to_vec();
        let rest = Points { x: r.numbers()?, y: r.numbers()?, z: r.numbers()? };
        let fits = rows.elements() == edges.len() && rest.columns().iter().all(|c| c.len() == edges.len());
        if fits { Ok(EdgeStrain { rows, edges, rest }) } else { Err(Truncated) }
    }

    fn raise_strain(&self, view: View<'_>, strain: &mut [f64]) {
        for (e, &[i, j]) in self.edges.iter().enumerate() {
            // The row's coefficient is the inverse rest length.
            let inverse = self.rows.row(e).next().map_or(0.0, |(_, c)| c);
            let s = (self.direction(e, view.x).1 * inverse - self.rest.get(e).length().round()).abs();
            for i in [i as usize, j as usize] {
                strain[i] = strain[i].max(s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;

    #[test]
    fn conforms() {
        let rest: Points = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.5, 0.0), DVec3::new(0.1, 0.2, 2.0)]
            .into_iter()
            .collect();
        let edges = vec![[0, 1], [1, 2], [0, 2], [0, 3], [2, 3]];
        let batch = EdgeStrain::new(edges, &rest, &[1.0, 0.5, 2.0, 1.0, 3.0]);
        conformance::check(&batch, &rest).unwrap();
    }

    #[test]
    fn measures_add_up_to_the_body() {
        let edges = [[0, 1], [1, 2], [2, 0], [2, 3]];
        let shares = EdgeStrain::share_measure(&edges, &[1.0, 2.0, 3.0, 4.0]);
        assert!((shares.iter().sum::<f64>() - 10.0).abs() < 1e-12);
    }
}
