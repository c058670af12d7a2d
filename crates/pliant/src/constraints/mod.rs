//! The vocabulary of constraints: sets of wanted shapes, and how to reach their nearest point.
//!
//! A constraint wants the differences A·q of its particles to lie in a set; its energy is
//! ½ w ‖A q − p‖² with p the nearest point of the set (projective-dynamics, eq. 7). A
//! [`ConstraintBatch`] holds all constraints of one kind of a body as arrays, and says two things:
//! its constant [`Rows`] A with weights, and how to [`project`](ConstraintBatch::project). Energy,
//! gradient, system matrix and right-hand side follow from these for every kind alike.
//!
//! # Writing your own
//! One file, one trait: see `examples/custom_constraint.rs` (or `examples/constraint_without_closed_form.rs`, where
//! the nearest point is searched for), and check it with
//! [`conformance::check`], which tests everything a batch declares about itself.

mod bending;
mod blend;
mod cluster_shape;
pub mod conformance;
mod edge_strain;
mod element_shape;
mod examples;
mod fibre;
mod general;
mod hessian;
mod hinge;
mod kernel;
mod limits;
mod position;
mod pressure;
mod rows;
mod simplex;
mod strain;
mod strain_limit;
mod stretches;
mod surface;
#[cfg(test)]
mod test_meshes;
mod torn;
mod volume;

pub use bending::{Bending, CurvatureLimits, ExampleCountError};
pub(crate) use cluster_shape::ClusterShape;
pub use edge_strain::EdgeStrain;
pub use element_shape::Differences;
pub(crate) use element_shape::ElementShape;
pub(crate) use examples::ExampleTetrahedra;
pub use examples::ExampleWeights;
pub(crate) use fibre::Fibres;
pub use general::{Condition, ConditionBatch, Values};
pub use hessian::{ElementHessian, HessianAt, INNER};
pub(crate) use hinge::HingeBending;
pub use kernel::{ElementKernel, Neighbourhood, PaddedVector};
pub use limits::Limits;
pub use position::Position;
pub use pressure::{Filling, NotClosedError, Pressure};
pub use rows::{AUXILIARY, Rows, RowsBuilder};
pub(crate) use simplex::{GradientSet, Simplices, simplex_measure};
pub(crate) use strain::{Rotations, TetrahedronStrain};
pub(crate) use strain_limit::StrainLimits;
pub use torn::{TornBatch, TornElements};
pub(crate) use volume::VolumeLimits;

use crate::bytes::Truncated;
use crate::points::{Points, PointsMut};
use glam::DVec3;
use std::ops::Range;
use std::sync::Arc;

/// What a projection may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Positions of all particles.
    pub x: &'a Points,
    /// What the batch remembers from earlier steps ([`ConstraintBatch::state_len`] numbers).
    pub state: &'a [f64],
    /// What [`ConstraintBatch::begin_iteration`] computed.
    pub shared: &'a [f64],
    /// Where each particle of the body's pin groups is wanted now, one group after the other.
    pub targets: &'a [DVec3],
}

/// What a batch promises; [`conformance::check`] holds it to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// A rigid motion of the particles changes neither energy nor shape of the projection.
    pub rigid_invariant: bool,
    /// `project` finds a nearest point, not merely a feasible one.
    pub exact_nearest: bool,
    /// The rest shape has zero energy.
    pub rest_is_free: bool,
    /// Tells a shape from its mirror image.
    pub sees_reflection: bool,
}

/// All constraints of one kind of one body, as arrays.
pub trait ConstraintBatch: std::fmt::Debug + Send + Sync {
    /// A short name, the same for ever: it goes into files and tables.
    fn kind(&self) -> &'static str;

    /// The matrix A, row weights, and which rows belong to which element.
    fn rows(&self) -> &Rows;

    /// Nearest points p of the rows of `elements`; `p[0]` is the first row of the first element.
    /// Must be defined (finite) for every finite x.
    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>);

    /// A local step in packs of eight, for batches that have one: same energy and forces, in less time.
    fn kernel(&self) -> Option<&dyn ElementKernel> {
        None
    }

    /// Second derivatives, for batches that know them.
    fn element_hessian(&self) -> Option<&dyn ElementHessian> {
        None
    }

    /// A batch of some of the elements, in that order, that projects as this one does: for solvers with an order of
    /// their own. Only for batches without memory, reductions and auxiliary unknowns.
    fn subset(&self, _elements: &[u32]) -> Option<Arc<dyn ConstraintBatch>> {
        None
    }

    /// What becomes of it when the body has torn. The energy at that moment must not rise: elements take their corners'
    /// new particles, which are where the old ones were, and what spanned a tear is left out. Only for batches without memory.
    fn torn(&self, _elements: TornElements<'_>) -> TornBatch {
        TornBatch::Cannot
    }

    /// What the batch promises.
    fn properties(&self) -> Properties;

    /// All the batch's data as bytes.
    fn encode(&self) -> Vec<u8>;

    /// The batch [`ConstraintBatch::encode`] wrote.
    fn decode(bytes: &[u8]) -> Result<Self, Truncated>
    where
        Self: Sized;

    /// Unknowns beyond the particles that the rows refer to (columns from [`AUXILIARY`] on), such as
    /// the centroid of a cluster: they keep rows short where subtracting a mean would couple every
    /// pair of particles.
    fn auxiliary_unknowns(&self) -> usize {
        0
    }

    /// The auxiliary unknowns that minimise the energy at `x`.
    fn auxiliary_values(&self, _x: &Points, _values: &mut Points) {}

    /// Length of what the batch remembers from step to step.
    fn state_len(&self) -> usize {
        0
    }

    /// Appends the initial memory.
    fn initial_state(&self, _state: &mut Vec<f64>) {}

    /// Updates the memory after a step that ended at `x`.
    fn end_step(&self, _x: &Points, _state: &mut [f64]) {}

    /// Length of what a reduction over all elements leaves for the projections.
    fn shared_len(&self) -> usize {
        0
    }

    /// A reduction over all elements before they are projected (global example weights, pressure).
    fn begin_iteration(&self, _x: &Points, _shared: &mut [f64]) {}

    /// Energy beyond the distances, such as that of a gas, as [`ConstraintBatch::begin_iteration`] found it.
    fn potential(&self, _shared: &[f64]) -> f64 {
        0.0
    }

    /// Total energy Σ ½ w ‖A q − p‖² at the projections of `view.x`, and the potential beside it.
    fn energy(&self, view: View<'_>) -> f64 {
        let residuals = residuals(self, view);
        let each = residuals.iter().zip(self.rows().weights());
        each.map(|(r, w)| 0.5 * w * r.length_squared()).sum::<f64>() + self.potential(view.shared)
    }

    /// Adds the gradient of the energy, Aᵀ w (A q − p): p is at its optimum, so it drops out
    /// (envelope theorem).
    fn add_gradient(&self, view: View<'_>, gradient: &mut Points) {
        for (row, (r, w)) in residuals(self, view).iter().zip(self.rows().weights()).enumerate() {
            for (column, c) in self.rows().row(row).filter(|(column, _)| *column < AUXILIARY) {
                let i = column as usize;
                gradient.set(i, gradient.get(i) + r * (w * c));
            }
        }
    }

    /// Relative deformation of each particle, raised to the largest found: for statistics and
    /// colours.
    fn raise_strain(&self, _view: View<'_>, _strain: &mut [f64]) {}
}

/// A q − p for every row, auxiliary unknowns and projections at their optimum.
fn residuals<B: ConstraintBatch + ?Sized>(batch: &B, view: View<'_>) -> Points {
    let rows = batch.rows();
    let mut p = Points::zeros(rows.len());
    batch.project(0..rows.elements(), view, &mut p.columns_mut());
    let mut extra = Points::zeros(batch.auxiliary_unknowns());
    batch.auxiliary_values(view.x, &mut extra);
    (0..rows.len()).map(|r| rows.apply(r, view.x, &extra) - p.get(r)).collect()
}
