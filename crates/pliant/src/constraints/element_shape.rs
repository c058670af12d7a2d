//! Rigid elements with a choice of differences: what A and B do to convergence (projective-dynamics §3.3).
//!
//! The constraint is always the same, "the element's corners are a rigidly moved copy of its rest shape", and so
//! are the shapes without energy. What differs is the metric in which the nearest copy is found: corners minus
//! their mean, minus the first corner, or as they are. Rows that vanish on translations let a body move freely in
//! the global step; with corners as they are (A = B = I) every iteration holds them where they were, which
//! converges slowly, and linear momentum is conserved only once converged: the energy is as invariant as the
//! others', since the projection moves along, but the rows are not.

use super::{ConstraintBatch, Properties, Rows, RowsBuilder, TornBatch, TornElements, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::outer;
use pliant_math::{nearest_rotation, svd3};
use std::ops::Range;

/// Which differences of an element's corners are compared with the rest shape's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differences {
    /// Each corner minus the mean of all.
    Mean,
    /// Each other corner minus the first.
    Vertex,
    /// The corners themselves.
    Identity,
}

const ALL: [Differences; 3] = [Differences::Mean, Differences::Vertex, Differences::Identity];

/// Elements of C corners (edges, triangles, tetrahedra, ...) that want to be rigid.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementShape<const C: usize> {
    differences: Differences,
    corners: Vec<u32>,
    rows: Rows,
    /// The wanted differences, unturned; for the corners themselves, minus their mean.
    rest: Points,
    sees_reflection: bool,
}

impl<const C: usize> ElementShape<C> {
    /// Elements at their rest positions; `weight` is that of each row of an element.
    pub fn new(
        elements: &[[u32; C]],
        rest: &Points,
        weight: &[f64],
        differences: Differences,
    ) -> ElementShape<C> {
        let corners: Vec<u32> = elements.as_flattened().to_vec();
        let rows = rows_of::<C>(&corners, weight, differences);
        let mut wanted = Points::default();
        let mut sees_reflection = false;
        for corners in elements {
            let (at, _) = differ(corners, rest, differences);
            let mut spread = DMat3::ZERO;
            for d in at.into_iter().skip(usize::from(differences == Differences::Vertex)) {
                spread += outer(d, d);
                wanted.push(d);
            }
            let sigma = svd3(spread).sigma;
            sees_reflection |= sigma.z > 1e-12 * sigma.x;
        }
        ElementShape { differences, corners, rows, rest: wanted, sees_reflection }
    }
}

/// The matrix A.
pub(super) fn rows_of<const C: usize>(corners: &[u32], weight: &[f64], differences: Differences) -> Rows {
    let mut rows = RowsBuilder::default();
    for (corners, &w) in corners.chunks_exact(C.max(1)).zip(weight) {
        for (k, &i) in corners.iter().enumerate() {
            match differences {
                Differences::Mean => {
                    let own = |l: usize| f64::from(u8::from(l == k)) - 1.0 / C as f64;
                    rows.row(w, corners.iter().enumerate().map(|(l, &j)| (j, own(l))));
                }
                Differences::Vertex if k == 0 => {}
                Differences::Vertex => {
                    rows.row(w, [(i, 1.0), (corners[0], -1.0)]);
                }
                Differences::Identity => {
                    rows.row(w, [(i, 1.0)]);
                }
            }
        }
        rows.end_element();
    }
    rows.build()
}

/// Corners minus their mean or the first, and what must be added to the wanted ones to get A x.
pub(super) fn differ<const C: usize>(
    corners: &[u32; C],
    x: &Points,
    differences: Differences,
) -> ([DVec3; C], DVec3) {
    let origin = corners.first().map_or(DVec3::ZERO, |&i| x.get(i as usize));
    let from_first = corners.map(|i| x.get(i as usize) - origin);
    if differences == Differences::Vertex {
        return (from_first, DVec3::ZERO);
    }
    let mean = from_first.iter().sum::<DVec3>() / C as f64;
    let moved = if differences == Differences::Identity { origin + mean } else { DVec3::ZERO };
    (from_first.map(|d| d - mean), moved)
}

impl<const C: usize> ConstraintBatch for ElementShape<C> {
    fn kind(&self) -> &'static str {
        "element_shape"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The best-fit copy: all rows of an element weigh the same, and the best translation of corners as they are
    /// takes mean to mean.
    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        let first = self.rows.of_elements(elements.clone()).start;
        let skip = usize::from(self.differences == Differences::Vertex);
        for e in elements {
            let rows = self.rows.of_elements(e..e + 1);
            let corners: &[u32; C] = &std::array::from_fn(|k| self.corners[e * C + k]);
            let (at, moved) = differ(corners, view.x, self.differences);
            let covariance =
                rows.clone().zip(&at[skip..]).map(|(r, d)| outer(*d, self.rest.get(r))).sum::<DMat3>();
            let turn = nearest_rotation(covariance, DMat3::IDENTITY);
            rows.for_each(|r| p.set(r - first, turn * self.rest.get(r) + moved));
        }
    }

    fn torn(&self, elements: TornElements<'_>) -> TornBatch {
        if !elements.are(&self.corners) {
            return TornBatch::Cannot;
        }
        let corners = elements.corners.particles().to_vec();
        let now = |e: usize, i: u32| elements.corners.at(elements.facets, e, i);
        TornBatch::of(ElementShape::<C> {
            rows: self.rows.renamed(0..self.rows.elements(), now),
            corners,
            ..self.clone()
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            rigid_invariant: true,
            exact_nearest: true,
            rest_is_free: true,
            sees_reflection: self.sees_reflection,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.word(ALL.iter().position(|d| *d == self.differences).unwrap_or(0) as u64);
        w.word(self.sees_reflection.into());
        w.indices(&self.corners);
        let first = |e: usize| self.rows.weights().get(self.rows.of_elements(e..e + 1).start);
        let weights: Vec<f64> = (0..self.rows.elements()).filter_map(|e| first(e).copied()).collect();
        w.numbers(&weights);
        self.rest.columns().into_iter().for_each(|c| w.numbers(c));
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Self, Truncated> {
        let mut r = Reader(bytes);
        let differences = *usize::try_from(r.word()?).ok().and_then(|k| ALL.get(k)).ok_or(Truncated)?;
        let (sees_reflection, corners, weight) = (r.word()? != 0, r.indices()?, r.numbers()?);
        if corners.len() != C * weight.len() {
            return Err(Truncated);
        }
        let rows = rows_of::<C>(&corners, &weight, differences);
        let rest = r.points()?;
        let fits = rest.columns().iter().all(|c| c.len() == rows.len());
        if fits {
            Ok(ElementShape { differences, corners, rows, rest, sees_reflection })
        } else {
            Err(Truncated)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_meshes::energy;
    use super::*;
    use crate::constraints::conformance::{check, rows_vanish_on_translations};

    fn points() -> Points {
        [
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(0.2, 1.5, 0.0),
            DVec3::new(0.1, 0.2, 2.0),
            DVec3::new(1.0, 1.0, 1.5),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn edges_triangles_and_tetrahedra_conform() {
        let rest = points();
        for differences in ALL {
            let weight = [1.0, 0.5, 2.0];
            check(&ElementShape::new(&[[0, 1], [1, 2], [0, 3]], &rest, &weight, differences), &rest).unwrap();
            check(&ElementShape::new(&[[0, 1, 2], [1, 2, 3]], &rest, &weight[..2], differences), &rest)
                .unwrap();
            let tetrahedra =
                ElementShape::new(&[[0, 1, 2, 3], [1, 2, 3, 4]], &rest, &weight[..2], differences);
            check(&tetrahedra, &rest).unwrap();
            check(&ElementShape::new(&[[0, 1, 2, 3, 4]], &rest, &weight[..1], differences), &rest).unwrap();
            assert_eq!(rows_vanish_on_translations(&tetrahedra), differences != Differences::Identity);
        }
    }

    /// One metric minus the mean, the other not: with best translation they measure the same. From the first
    /// corner, an edge stretched by d is off by d; from the mean both ends by d/2.
    #[test]
    fn a_stretched_edge_has_the_energy_of_its_metric() {
        let rest = points();
        let x: Points = [DVec3::ZERO, DVec3::X * 1.4].into_iter().collect();
        let of = |d| energy(&ElementShape::new(&[[0, 1]], &rest, &[3.0], d), &x);
        assert!((of(Differences::Vertex) - 0.5 * 3.0 * 0.16).abs() < 1e-12);
        assert!((of(Differences::Mean) - 0.5 * 3.0 * 0.08).abs() < 1e-12);
        assert!((of(Differences::Identity) - of(Differences::Mean)).abs() < 1e-12);
    }
}
