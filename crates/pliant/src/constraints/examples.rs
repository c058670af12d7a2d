//! Tetrahedra that follow examples: each wants to be a rotated blend of its rest shape and some deformed ones.
//!
//! The set is { R h(w) : R ∈ SO(3) } with h(w) = I + Σ wᵢ (Sᵢ − I), where Gᵢ = Rᵢᵀ Sᵢ is the deformation gradient of
//! example i and Rᵢ aligns it with the rest shape, element by element (projective-dynamics, eqs 17, 18). ExampleWeights are
//! each element's own, or common to the whole body (found by a reduction in every iteration).
//!
//! *Bounds.* w ≥ 0 with Σ w ≤ `reach`. Up to reach 1, h is a mean of stretches, hence itself one: an element cannot
//! collapse. Beyond, elements follow examples farther than shown, and may be drawn flat where an example
//! compresses them.
//!
//! *Local solve* (eq. 27): rotations and weights alternate, each exact for the other, beginning at the rest shape;
//! then every single example is tried, and the search begins there if it is nearer. So the result is never worse
//! than the rest shape or any example; a nearest point is not guaranteed, as the problem is not convex.

use super::{
    ConstraintBatch, Properties, Rotations, Rows, TetrahedronStrain, TornBatch, TornElements, View, blend,
};
use crate::bytes::{Reader, Truncated, Writer};
use crate::constraints::GradientSet;
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::nearest_rotation;
use std::ops::Range;

/// Most shapes, the rest shape among them, an element can blend with weights of its own.
const MOST: usize = 16;

/// Whose weights examples are blended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleWeights {
    /// Each element has its own; at most 15 examples.
    Own,
    /// All elements have the same; any number of examples.
    Common,
}

/// Tetrahedra that want to be their rest shape, an example, or between.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleTetrahedra {
    rows: Rows,
    /// Sᵢ − I, the examples of one element after each other.
    differences: Vec<DMat3>,
    /// Inner products of the differences, per element or for all; the rest shape is the first, with zeros.
    products: Vec<f64>,
    shapes: usize,
    weights: ExampleWeights,
    reach: f64,
}

/// Why examples do not fit a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExampleError {
    /// Tetrahedra that are flat or inverted at rest.
    Rest(Vec<usize>),
    /// An example with another number of particles.
    Count {
        /// Which example.
        example: usize,
        /// How many particles it has.
        found: usize,
        /// How many it should have.
        wanted: usize,
    },
    /// Tetrahedra that an example flattens or inverts.
    Flattened {
        /// Which example.
        example: usize,
        /// Which tetrahedra.
        elements: Vec<usize>,
    },
    /// More examples than elements can blend each for itself.
    TooMany {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
}

impl std::fmt::Display for ExampleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExampleError::Rest(elements) => {
                write!(
                    f,
                    "{} tetrahedra are flat or inverted at rest, the first is {}",
                    elements.len(),
                    elements[0]
                )
            }
            ExampleError::Count { example, found, wanted } => write!(
                f,
                "example {example} has {found} particles, the rest shape {wanted}: examples are deformed copies of it"
            ),
            ExampleError::Flattened { example, elements } => write!(
                f,
                "example {example} flattens or inverts {} tetrahedra, the first is {}: it must keep them upright",
                elements.len(),
                elements[0]
            ),
            ExampleError::TooMany { found, most } => {
                write!(
                    f,
                    "{found} examples, at most {most} with weights of each element's own: use common weights"
                )
            }
        }
    }
}

impl std::error::Error for ExampleError {}

impl ExampleTetrahedra {
    /// Tetrahedra at their rest positions and in examples of the same particles; `weight` is the volume each
    /// stands for, `reach` the most the examples' weights may sum to, usually 1.
    pub fn new(
        elements: &[[u32; 4]],
        rest: &Points,
        weight: &[f64],
        examples: &[Points],
        weights: ExampleWeights,
        reach: f64,
    ) -> Result<ExampleTetrahedra, ExampleError> {
        if let Some(example) = examples.iter().position(|e| e.len() != rest.len()) {
            return Err(ExampleError::Count { example, found: examples[example].len(), wanted: rest.len() });
        }
        let shapes = examples.len() + 1;
        if weights == ExampleWeights::Own && shapes > MOST {
            return Err(ExampleError::TooMany { found: examples.len(), most: MOST - 1 });
        }
        let strain =
            TetrahedronStrain::new(Rotations, elements, rest, weight, None).map_err(ExampleError::Rest)?;
        let rows = strain.rows().clone();
        let mut differences = Vec::with_capacity(rows.elements() * examples.len());
        let mut flattened = vec![Vec::new(); examples.len()];
        for e in 0..rows.elements() {
            for (example, bad) in examples.iter().zip(&mut flattened) {
                let g = gradient(&rows, e, example);
                let scale = g.to_cols_array().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                if g.determinant() <= 1e-6 * scale.powi(3) || !g.is_finite() {
                    bad.push(e);
                }
                differences.push(nearest_rotation(g, DMat3::IDENTITY).transpose() * g - DMat3::IDENTITY);
            }
        }
        if let Some(example) = flattened.iter().position(|bad| !bad.is_empty()) {
            return Err(ExampleError::Flattened { example, elements: flattened.swap_remove(example) });
        }
        Ok(Self::from_parts(rows, differences, shapes, weights, reach))
    }

    fn from_parts(
        rows: Rows,
        differences: Vec<DMat3>,
        shapes: usize,
        weights: ExampleWeights,
        reach: f64,
    ) -> Self {
        let squared = shapes * shapes;
        let count = if weights == ExampleWeights::Own { rows.elements() } else { 1 };
        let mut products = vec![0.0; count * squared];
        for e in 0..rows.elements() {
            let own = &differences[e * (shapes - 1)..][..shapes - 1];
            let (start, weight) =
                if weights == ExampleWeights::Own { (e * squared, 1.0) } else { (0, rows.weights()[3 * e]) };
            for (i, a) in own.iter().enumerate() {
                for (j, b) in own.iter().enumerate() {
                    products[start + (i + 1) * shapes + j + 1] += weight * inner(a, b);
                }
            }
        }
        ExampleTetrahedra { rows, differences, products, shapes, weights, reach }
    }

    fn differences(&self, e: usize) -> &[DMat3] {
        &self.differences[e * (self.shapes - 1)..][..self.shapes - 1]
    }

    /// h(w).
    fn blend(&self, e: usize, w: &[f64]) -> DMat3 {
        self.differences(e).iter().zip(&w[1..]).fold(DMat3::IDENTITY, |h, (d, w)| h + *d * *w)
    }

    /// Rotates blend h onto F: the wanted gradient, its squared distance, and Rᵀ F − I.
    fn fit(f: DMat3, h: DMat3) -> (DMat3, f64, DMat3) {
        let r = nearest_rotation(f * h.transpose(), DMat3::IDENTITY);
        let wanted = r * h;
        let off = f - wanted;
        (wanted, inner(&off, &off), r.transpose() * f - DMat3::IDENTITY)
    }

    /// Alternates between rotations and weights from where `w` is, while it pays; returns the squared distance.
    /// `distance` fits rotations to weights and says what is wanted of them.
    fn alternate(
        &self,
        products: &[f64],
        [w, rhs, last]: [&mut [f64]; 3],
        mut distance: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> f64 {
        let mut best = distance(w, rhs);
        for _ in 0..PASSES {
            last.copy_from_slice(w);
            blend::minimise(w, products, rhs);
            let next = distance(w, rhs);
            if next.is_nan() || next >= best {
                w.copy_from_slice(last);
                break;
            }
            let gain = best - next;
            best = next;
            if gain <= 1e-15 * best {
                break;
            }
        }
        best
    }

    /// The best weights found, left in the first quarter of `scratch`, which holds four numbers a shape.
    fn search(
        &self,
        products: &[f64],
        scratch: &mut [f64],
        mut distance: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) {
        let n = self.shapes;
        let (kept, work) = scratch.split_at_mut(n);
        let (w, work) = work.split_at_mut(n);
        let (rhs, last) = work.split_at_mut(n);
        let last = &mut last[..n];
        let mut best = f64::INFINITY;
        for start in 0..n {
            w.fill(0.0);
            w[start] = self.reach;
            if distance(w, rhs) < best {
                let found = self.alternate(products, [w, rhs, last], &mut distance);
                if found < best {
                    best = found;
                    kept.copy_from_slice(w);
                }
            }
        }
        if best == f64::INFINITY {
            // Nothing can be compared, as distances overflow: the rest shape.
            kept.fill(0.0);
        }
    }
}

/// Most alternations of one search.
const PASSES: usize = 60;

fn inner(a: &DMat3, b: &DMat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}

/// F of element e, relative to its first corner.
fn gradient(rows: &Rows, e: usize, x: &Points) -> DMat3 {
    let column = |k: usize| {
        let mut entries = rows.row(3 * e + k);
        let origin = entries.next().map_or(DVec3::ZERO, |(i, _)| x.get(i as usize));
        entries.map(|(i, c)| (x.get(i as usize) - origin) * c).sum::<DVec3>()
    };
    DMat3::from_cols(column(0), column(1), column(2))
}

impl ConstraintBatch for ExampleTetrahedra {
    fn kind(&self) -> &'static str {
        "example_tetrahedra"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        let mut scratch = [0.0; 4 * MOST];
        for (k, e) in elements.enumerate() {
            let f = gradient(&self.rows, e, view.x);
            let w = match self.weights {
                ExampleWeights::Common => view.shared,
                ExampleWeights::Own => {
                    let products =
                        &self.products[e * self.shapes * self.shapes..][..self.shapes * self.shapes];
                    self.search(products, &mut scratch, |w, rhs| {
                        let (_, distance, turned) = Self::fit(f, self.blend(e, w));
                        self.differences(e)
                            .iter()
                            .zip(&mut rhs[1..])
                            .for_each(|(d, c)| *c = inner(d, &turned));
                        distance
                    });
                    &scratch
                }
            };
            let wanted = Self::fit(f, self.blend(e, &w[..self.shapes])).0;
            (0..3).for_each(|c| p.set(3 * k + c, wanted.col(c)));
        }
    }

    fn torn(&self, elements: TornElements<'_>) -> TornBatch {
        let count = self.rows.elements();
        let fits = count == elements.facets.elements()
            && (0..count)
                .all(|e| self.rows.row(3 * e).all(|(i, _)| elements.facets.corner_of(e, i).is_some()));
        if !fits {
            return TornBatch::Cannot;
        }
        let now = |e: usize, i: u32| elements.corners.at(elements.facets, e, i);
        TornBatch::of(ExampleTetrahedra { rows: self.rows.renamed(0..count, now), ..self.clone() })
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: true, exact_nearest: false, rest_is_free: true, sees_reflection: true }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.word((self.weights == ExampleWeights::Common).into());
        w.word(self.shapes as u64);
        w.number(self.reach);
        self.rows.encode(&mut w);
        w.numbers(&self.differences.iter().flat_map(|d| d.to_cols_array()).collect::<Vec<f64>>());
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Self, Truncated> {
        let mut r = Reader(bytes);
        let weights = if r.word()? == 0 { ExampleWeights::Own } else { ExampleWeights::Common };
        let (shapes, reach) = (usize::try_from(r.word()?).map_err(|_| Truncated)?, r.number()?);
        let (rows, numbers) = (Rows::decode(&mut r)?, r.numbers()?);
        let count =
            shapes.checked_sub(1).and_then(|k| k.checked_mul(9 * rows.elements())).ok_or(Truncated)?;
        let sound = numbers.len() == count
            && rows.len() == 3 * rows.elements()
            && (0..rows.elements()).all(|e| rows.of_elements(e..e + 1) == (3 * e..3 * e + 3))
            && (weights == ExampleWeights::Common || shapes <= MOST)
            && (rows.elements() > 0 || shapes <= MOST);
        if !sound {
            return Err(Truncated);
        }
        let differences = numbers.as_chunks::<9>().0.iter().map(DMat3::from_cols_array).collect();
        Ok(Self::from_parts(rows, differences, shapes, weights, reach))
    }

    fn shared_len(&self) -> usize {
        if self.weights == ExampleWeights::Common { 4 * self.shapes } else { 0 }
    }

    fn begin_iteration(&self, x: &Points, shared: &mut [f64]) {
        if self.weights == ExampleWeights::Own {
            return;
        }
        self.search(&self.products, shared, |w, rhs| {
            rhs.fill(0.0);
            let mut total = 0.0;
            for e in 0..self.rows.elements() {
                let weight = self.rows.weights()[3 * e];
                let (_, distance, turned) = Self::fit(gradient(&self.rows, e, x), self.blend(e, w));
                total += weight * distance;
                for (d, c) in self.differences(e).iter().zip(&mut rhs[1..]) {
                    *c += weight * inner(d, &turned);
                }
            }
            total
        });
    }

    fn raise_strain(&self, view: View<'_>, strain: &mut [f64]) {
        for e in 0..self.rows.elements() {
            let f = gradient(&self.rows, e, view.x);
            let s = Rotations.strain([f.x_axis, f.y_axis, f.z_axis]);
            self.rows.row(3 * e).for_each(|(i, _)| strain[i as usize] = strain[i as usize].max(s));
        }
    }
}

#[cfg(test)]
mod tests;
