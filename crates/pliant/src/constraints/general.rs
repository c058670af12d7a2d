//! Constraints without a closed form: say what must vanish (or not be negative), and the nearest point is searched.
//!
//! A [`Condition`] gives M numbers C(y) of an element's N corners with their gradients. The nearest corners with
//! C(y) = 0, or C(y) ≥ 0, are found by sequential quadratic programming (projective-dynamics §6): linearise C at y, and
//! go toward the point of the linearised set nearest to x; the first step is the update of position-based
//! dynamics (eq. 13). Every step returns to the set and must lead nearer to x, so what is found is feasible and
//! stationary.
//!
//! *Safeguards.* The batch knows a feasible shape of every element, found from its rest shape when it is made. If the
//! search from x ends nowhere, or farther away than that shape (moved along rigidly where the condition allows), it
//! begins again from there, and failing that takes the shape itself. So projections are always feasible, finite and no worse than the rest shape,
//! whatever the condition returns; whether they are nearest, only you can promise.

use super::element_shape::{Differences, differ, rows_of};
use super::{ConstraintBatch, Properties, Rows, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::outer;
use pliant_math::{nearest_rotation, pseudo_inverse};
use std::fmt::Debug;
use std::ops::Range;

/// Values of M conditions, and their gradients by the N corners.
pub type Values<const N: usize, const M: usize> = ([f64; M], [[DVec3; N]; M]);

/// What the N corners of an element must fulfil: M equations or inequalities.
pub trait Condition<const N: usize, const M: usize>:
    Clone + Debug + PartialEq + Send + Sync + 'static
{
    /// A short name, the same for ever.
    fn kind(&self) -> &'static str;

    /// What the constraint promises. If it does not mind rigid motions, corners are compared minus their mean.
    fn properties(&self) -> Properties;

    /// C and its gradients for corners of an element. Where C is not defined, anything that is not finite may
    /// be returned.
    fn evaluate(&self, element: usize, x: &[DVec3; N]) -> Values<N, M>;

    /// Whether C ≥ 0 is wanted instead of C = 0.
    fn at_least(&self) -> bool {
        false
    }

    /// Appends the condition's data.
    fn encode(&self, w: &mut Writer);

    /// Reads what [`Condition::encode`] wrote, for a number of elements.
    fn decode(r: &mut Reader<'_>, elements: usize) -> Result<Self, Truncated>;
}

/// Elements of N corners that want to fulfil conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionBatch<const N: usize, const M: usize, C> {
    condition: C,
    corners: Vec<u32>,
    rows: Rows,
    /// A feasible shape of each element.
    feasible: Vec<[DVec3; N]>,
}

impl<const N: usize, const M: usize, C: Condition<N, M>> ConditionBatch<N, M, C> {
    /// Elements at their rest positions; `weight` is that of each corner's row. The indices of elements for
    /// which no feasible shape was found from the rest shape are returned as an error.
    pub fn new(
        condition: C,
        elements: &[[u32; N]],
        rest: &Points,
        weight: &[f64],
    ) -> Result<Self, Vec<usize>> {
        let mut bad = Vec::new();
        let mut feasible = Vec::with_capacity(elements.len());
        for (e, corners) in elements.iter().enumerate() {
            let at = corners.map(|i| rest.get(i as usize));
            match (Search { condition: &condition, element: e, x: &at }).run(at) {
                Some(shape) => feasible.push(shape),
                None => bad.push(e),
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        Ok(Self::from_parts(condition, elements.as_flattened().to_vec(), weight, feasible))
    }

    fn from_parts(condition: C, corners: Vec<u32>, weight: &[f64], feasible: Vec<[DVec3; N]>) -> Self {
        let rows = rows_of::<N>(&corners, weight, differences(&condition));
        ConditionBatch { condition, corners, rows, feasible }
    }

    /// The condition it keeps, as it was given.
    pub fn condition(&self) -> &C {
        &self.condition
    }

    /// The feasible shape as near to `x` as it gets by a rigid motion, if that is allowed.
    fn fitted(&self, e: usize, x: &[DVec3; N]) -> [DVec3; N] {
        let shape = &self.feasible[e];
        if differences(&self.condition) == Differences::Identity {
            return *shape;
        }
        let mean =
            |points: &[DVec3; N]| points[0] + points.iter().map(|p| *p - points[0]).sum::<DVec3>() / N as f64;
        let (from, to) = (mean(shape), mean(x));
        let covariance = shape.iter().zip(x).map(|(s, x)| outer(*x - to, *s - from)).sum::<DMat3>();
        let turn = nearest_rotation(covariance, DMat3::IDENTITY);
        shape.map(|s| turn * (s - from) + to)
    }

    /// What is found from x, unless the feasible shape is nearer: then the search begins there, and the shape
    /// itself is the last resort.
    fn nearest(&self, e: usize, x: &[DVec3; N]) -> [DVec3; N] {
        let search = Search { condition: &self.condition, element: e, x };
        let known = self.fitted(e, x);
        let limit = distance(&known, x);
        let good = |y: &[DVec3; N]| distance(y, x) <= limit;
        search.run(*x).filter(good).or_else(|| search.run(known).filter(good)).unwrap_or(known)
    }
}

fn differences<const N: usize, const M: usize>(condition: &impl Condition<N, M>) -> Differences {
    if condition.properties().rigid_invariant { Differences::Mean } else { Differences::Identity }
}

fn distance<const N: usize>(a: &[DVec3; N], b: &[DVec3; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).length_squared()).sum()
}

/// Most steps of one search.
const SLIDES: usize = 200;

/// Most steps of one return to the set.
const RETURNS: usize = 30;

/// C and its gradients at a point, with what follows from them.
struct Evaluation<const N: usize, const M: usize> {
    y: [DVec3; N],
    values: Values<N, M>,
    product: [[f64; M]; M],
}

/// A search for the feasible point nearest to `x`.
struct Search<'a, const N: usize, const M: usize, C> {
    condition: &'a C,
    element: usize,
    x: &'a [DVec3; N],
}

impl<const N: usize, const M: usize, C: Condition<N, M>> Search<'_, N, M, C> {
    fn evaluate(&self, y: [DVec3; N]) -> Option<Evaluation<N, M>> {
        let values = self.condition.evaluate(self.element, &y);
        let (c, j) = &values;
        let product: [[f64; M]; M] = std::array::from_fn(|a| std::array::from_fn(|b| dot(&j[a], &j[b])));
        let finite = c.iter().chain(product.as_flattened()).all(|v| v.is_finite());
        finite.then_some(Evaluation { y, values, product })
    }

    /// The displacement from y to the point of the linearised set nearest to y + g.
    fn displacement(&self, at: &Evaluation<N, M>, g: &[DVec3; N]) -> [DVec3; N] {
        let (c, j) = &at.values;
        let missing: [f64; M] = std::array::from_fn(|a| -c[a] - dot(&j[a], g));
        let lambda = multipliers(&at.product, &missing, self.condition.at_least());
        std::array::from_fn(|k| g[k] + j.iter().zip(&lambda).map(|(j, l)| j[k] * *l).sum::<DVec3>())
    }

    fn violation(&self, at: &Evaluation<N, M>) -> f64 {
        let wrong = |v: &f64| if self.condition.at_least() { (-v).max(0.0) } else { v.abs() };
        at.values.0.iter().map(wrong).sum()
    }

    /// Goes to the set by the shortest way to first order, until that is rounding.
    fn feasible(&self, y: [DVec3; N]) -> Option<Evaluation<N, M>> {
        let mut at = self.evaluate(y)?;
        for _ in 0..RETURNS {
            let violation = self.violation(&at);
            if violation == 0.0 {
                return Some(at);
            }
            let change = self.displacement(&at, &[DVec3::ZERO; N]);
            let length = dot(&change, &change);
            // No change at all is no solution but a place without slope.
            if length > 0.0 && length <= 1e-28 * self.size(&at.y) {
                return Some(at);
            }
            let shorter = |t: f64| self.evaluate(std::array::from_fn(|k| at.y[k] + change[k] * t));
            let next =
                (0..12).find_map(|n| shorter(0.5_f64.powi(n)).filter(|p| self.violation(p) < violation));
            match next {
                Some(next) => at = next,
                // Rounding may not let C become smaller than it is.
                None => return (length > 0.0 && length <= 1e-20 * self.size(&at.y)).then_some(at),
            }
        }
        None
    }

    fn size(&self, y: &[DVec3; N]) -> f64 {
        let origin = self.x.iter().sum::<DVec3>() / N as f64;
        let scale = if N == 1 { y[0].length_squared() } else { 0.0 };
        y.iter().map(|p| (*p - origin).length_squared()).fold(scale.max(f64::MIN_POSITIVE), f64::max)
    }

    /// Slides along the set while that leads nearer to x. Steps of length one are sequential quadratic
    /// programming; where the set is curved more than it is far, the last two steps say what is better
    /// (Barzilai & Borwein 1988).
    fn run(&self, start: [DVec3; N]) -> Option<[DVec3; N]> {
        let mut at = self.feasible(start)?;
        let toward = |at: &Evaluation<N, M>| {
            let g = std::array::from_fn(|k| self.x[k] - at.y[k]);
            self.displacement(at, &g)
        };
        let (mut change, mut step) = (toward(&at), 1.0);
        for _ in 0..SLIDES {
            let (length, far) = (dot(&change, &change), distance(&at.y, self.x));
            if length <= 1e-22 * self.size(&at.y) {
                break;
            }
            let attempt = |t: f64| -> Option<Evaluation<N, M>> {
                let next = self.feasible(std::array::from_fn(|k| at.y[k] + change[k] * t))?;
                (distance(&next.y, self.x) < far - 1e-4 * t * length).then_some(next)
            };
            let Some(next) = (0..12).find_map(|n| attempt(step * 0.5_f64.powi(n))) else { break };
            let ahead = toward(&next);
            let moved: [DVec3; N] = std::array::from_fn(|k| next.y[k] - at.y[k]);
            let turned: [DVec3; N] = std::array::from_fn(|k| change[k] - ahead[k]);
            let curvature = dot(&moved, &turned);
            step = if curvature > 0.0 { (dot(&moved, &moved) / curvature).clamp(1e-3, 1e3) } else { 1.0 };
            (at, change) = (next, ahead);
        }
        Some(at.y)
    }
}

fn dot<const N: usize>(a: &[DVec3; N], b: &[DVec3; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// K λ = r, or K λ ≥ r with λ ≥ 0 and equality where λ > 0. Directions K says nothing about are left alone.
fn multipliers<const M: usize>(k: &[[f64; M]; M], r: &[f64; M], at_least: bool) -> [f64; M] {
    if !at_least {
        let inverse = pseudo_inverse(*k, 1e-12).inverse;
        return std::array::from_fn(|a| inverse[a].iter().zip(r).map(|(k, r)| k * r).sum());
    }
    let mut lambda = [0.0; M];
    for _ in 0..if M == 1 { 1 } else { 200 } {
        for a in (0..M).filter(|a| k[*a][*a] > 0.0) {
            let others: f64 = (0..M).filter(|b| *b != a).map(|b| k[a][b] * lambda[b]).sum();
            lambda[a] = ((r[a] - others) / k[a][a]).max(0.0);
        }
    }
    lambda
}

impl<const N: usize, const M: usize, C: Condition<N, M>> ConstraintBatch for ConditionBatch<N, M, C> {
    fn kind(&self) -> &'static str {
        self.condition.kind()
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        let differences = differences(&self.condition);
        for (k, e) in elements.enumerate() {
            let corners: [u32; N] = std::array::from_fn(|c| self.corners[e * N + c]);
            // Those that do not mind where they are, near the origin: rounding is that of the element's size.
            let (x, moved) = match differences {
                Differences::Identity => (corners.map(|i| view.x.get(i as usize)), DVec3::ZERO),
                _ => differ(&corners, view.x, Differences::Mean),
            };
            let y = self.nearest(e, &x);
            y.iter().enumerate().for_each(|(c, y)| p.set(k * N + c, *y + moved));
        }
    }

    fn properties(&self) -> Properties {
        self.condition.properties()
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.indices(&self.corners);
        w.numbers(&self.rows.weights().iter().copied().step_by(N.max(1)).collect::<Vec<f64>>());
        w.numbers(&self.feasible.as_flattened().iter().flat_map(|p| p.to_array()).collect::<Vec<f64>>());
        self.condition.encode(&mut w);
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Self, Truncated> {
        let mut r = Reader(bytes);
        let (corners, weight, numbers) = (r.indices()?, r.numbers()?, r.numbers()?);
        let elements = weight.len();
        if corners.len() != N * elements || numbers.len() != 3 * N * elements {
            return Err(Truncated);
        }
        let condition = C::decode(&mut r, elements)?;
        let point = |k: usize| DVec3::new(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]);
        let feasible = (0..elements).map(|e| std::array::from_fn(|c| point(e * N + c))).collect();
        Ok(Self::from_parts(condition, corners, &weight, feasible))
    }
}

#[cfg(test)]
mod tests;
