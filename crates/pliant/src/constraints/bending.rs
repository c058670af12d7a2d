//! Bending of surfaces by mean curvature: every vertex wants the curvature it has at rest (projective-dynamics §5.4).
//!
//! With cotangent weights of the rest surface, v = Σⱼ (cot α + cot β)/2A · (xⱼ − xᵢ) is the Laplacian of the
//! position, of length 2|H| (eq. 21; 1/R on a cylinder). The potential is ½ A ‖v − p‖² with p of a wanted length
//! in the direction of v (eq. 28), so the energy is ½ ∫ (2|H| − 2|H₀|)² dA for isometric deformations; A is the
//! mixed Voronoi area. A flat surface wants p = 0: its energy is quadratic, and stretching it in its plane by
//! any linear map costs nothing.
//!
//! *Borders.* At a border vertex the cotangent sum is not a curvature but mostly the border's normal in the
//! plane, of size 1/h: to hold it to zero or to a length would clamp the border. Interior vertices alone leave
//! the border without moment, which is what a free plate has; the strip of half a cell they miss vanishes with
//! refinement. A vertex on an edge of three triangles counts as a border.
//!
//! *Dents.* |H| does not tell a dent from a bump; `hinge.rs` does. Two notions of strain carry over to bending as
//! the paper suggests: limits (lengths of v within bounds), and examples. An example's curvature vector is
//! first turned onto the rest's, and the result may be turned freely, so only lengths count: with weights of
//! its own for every vertex, examples are limits; with weights common to all, lengths are blended.

use super::blend;
use super::hessian::{ElementHessian, HessianAt, length_hessian};
use super::surface::{corners, cotangents, edges, mixed_areas};
use super::{ConstraintBatch, Properties, Rows, RowsBuilder, TornBatch, TornElements, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Vertices that resist bending.
#[derive(Clone, Debug, PartialEq)]
pub struct Bending {
    rows: Rows,
    /// Directions of v at rest, for vertices where it has none at present.
    directions: Points,
    wanted: TargetLengths,
    rest_is_free: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum TargetLengths {
    /// Least and largest length of each v.
    Within([Vec<f64>; 2]),
    /// Lengths at rest, then those of each example, blended with weights common to all vertices.
    Blend(Vec<Vec<f64>>),
}

/// Which curvatures (lengths of v = 2|H|) a limited surface may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvatureLimits {
    /// Multiples of the rest curvature.
    pub relative: [f64; 2],
    /// Curvature in 1/m that is always allowed, so that flat places may bend.
    pub absolute: f64,
}

/// Why examples do not fit a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleCountError {
    /// Index of the example that differs.
    pub example: usize,
    /// How many particles it has.
    pub found: usize,
    /// How many it should have.
    pub wanted: usize,
}

impl std::fmt::Display for ExampleCountError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ExampleCountError { example, found, wanted } = self;
        write!(
            f,
            "example {example} has {found} particles, the rest shape {wanted}: examples are deformed copies of it"
        )
    }
}

impl std::error::Error for ExampleCountError {}

impl Bending {
    /// Vertices of a surface that want the mean curvature they have in `rest`. Row weights are areas.
    pub fn new(triangles: &[[u32; 3]], rest: &Points) -> Bending {
        Bending::limited(triangles, rest, CurvatureLimits { relative: [1.0, 1.0], absolute: 0.0 })
    }

    /// Vertices that do not mind curvatures within limits.
    pub fn limited(triangles: &[[u32; 3]], rest: &Points, limits: CurvatureLimits) -> Bending {
        let rows = laplacian(triangles, rest);
        let (lengths, directions) = lengths(&rows, rest);
        let [min, max] = limits.relative;
        let low: Vec<f64> =
            lengths.iter().map(|l| if limits.absolute >= min * l { 0.0 } else { min * l }).collect();
        let high = lengths.iter().map(|l| (max * l).max(limits.absolute)).collect();
        let rest_is_free = min <= 1.0 && max >= 1.0;
        Bending { rows, directions, wanted: TargetLengths::Within([low, high]), rest_is_free }
    }

    /// Vertices that want the curvature of the rest shape, of any of the examples, or between; each for itself.
    pub fn with_examples(
        triangles: &[[u32; 3]],
        rest: &Points,
        examples: &[Points],
    ) -> Result<Bending, ExampleCountError> {
        let (rows, directions, all) = example_lengths(triangles, rest, examples)?;
        let bound = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            (0..rows.len()).map(|r| all.iter().map(|l| l[r]).reduce(pick).unwrap_or(0.0)).collect()
        };
        let wanted = TargetLengths::Within([bound(f64::min), bound(f64::max)]);
        Ok(Bending { rows, directions, wanted, rest_is_free: true })
    }

    /// Vertices that want curvatures blended of the rest shape's and the examples' with weights common to all:
    /// non-negative, summing to one, and found anew in every iteration.
    pub fn with_common_examples(
        triangles: &[[u32; 3]],
        rest: &Points,
        examples: &[Points],
    ) -> Result<Bending, ExampleCountError> {
        let (rows, directions, all) = example_lengths(triangles, rest, examples)?;
        Ok(Bending { rows, directions, wanted: TargetLengths::Blend(all), rest_is_free: true })
    }

    /// Least and largest length a vertex wants.
    fn bounds(&self, vertex: usize, view: View<'_>) -> [f64; 2] {
        match &self.wanted {
            TargetLengths::Within([low, high]) => [low[vertex], high[vertex]],
            TargetLengths::Blend(all) => {
                let length = all.iter().zip(view.shared).map(|(l, w)| l[vertex] * w).sum();
                [length, length]
            }
        }
    }

    fn vector(&self, row: usize, x: &Points) -> DVec3 {
        // Relative to the vertex, whose entry is the first: rounding is that of the ring's size.
        let mut entries = self.rows.row(row);
        let origin = entries.next().map_or(DVec3::ZERO, |(i, _)| x.get(i as usize));
        entries.map(|(j, c)| (x.get(j as usize) - origin) * c).sum()
    }
}

/// One row for each interior vertex: its own entry, then its ring's.
fn laplacian(triangles: &[[u32; 3]], rest: &Points) -> Rows {
    let areas = mixed_areas(triangles, rest);
    let all = edges(triangles);
    let mut interior = vec![false; rest.len()];
    triangles.iter().flatten().for_each(|&i| interior[i as usize] = areas[i as usize] > 0.0);
    all.others.iter().flatten().for_each(|&i| interior[i as usize] = false);
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    for t in triangles {
        let cot = cotangents(corners(*t, rest));
        for k in 0..3 {
            let (i, j) = (t[(k + 1) % 3], t[(k + 2) % 3]);
            entries.push((i, j, 0.5 * cot[k]));
            entries.push((j, i, 0.5 * cot[k]));
        }
    }
    entries.sort_by_key(|(i, j, _)| (*i, *j));
    let mut rows = RowsBuilder::default();
    for ring in entries.chunk_by(|a, b| a.0 == b.0).filter(|ring| interior[ring[0].0 as usize]) {
        let i = ring[0].0;
        let area = areas[i as usize];
        let neighbours: Vec<(u32, f64)> = ring
            .chunk_by(|a, b| a.1 == b.1)
            .map(|same| (same[0].1, same.iter().map(|(_, _, c)| c).sum::<f64>() / area))
            .collect();
        let own = (i, -neighbours.iter().map(|(_, c)| c).sum::<f64>());
        rows.row(area, std::iter::once(own).chain(neighbours)).end_element();
    }
    rows.build()
}

/// Lengths and directions of v; lengths that are only rounding are zero.
fn lengths(rows: &Rows, x: &Points) -> (Vec<f64>, Points) {
    let (mut lengths, mut directions) = (Vec::with_capacity(rows.len()), Points::default());
    for r in 0..rows.len() {
        let origin = rows.row(r).next().map_or(DVec3::ZERO, |(i, _)| x.get(i as usize));
        let (mut v, mut terms) = (DVec3::ZERO, 0.0);
        for (j, c) in rows.row(r) {
            let d = (x.get(j as usize) - origin) * c;
            v += d;
            terms += d.length();
        }
        let flat = v.length() <= 1e-12 * terms;
        lengths.push(if flat { 0.0 } else { v.length() });
        directions.push(if flat { DVec3::ZERO } else { v.normalize_or(DVec3::Y) });
    }
    (lengths, directions)
}

type ExampleLengths = (Rows, Points, Vec<Vec<f64>>);

fn example_lengths(
    triangles: &[[u32; 3]],
    rest: &Points,
    examples: &[Points],
) -> Result<ExampleLengths, ExampleCountError> {
    if let Some(example) = examples.iter().position(|e| e.len() != rest.len()) {
        return Err(ExampleCountError { example, found: examples[example].len(), wanted: rest.len() });
    }
    let rows = laplacian(triangles, rest);
    let (own, mut directions) = lengths(&rows, rest);
    let mut all = vec![own];
    for example in examples {
        // The example's own curvature: its Laplacian need not be the rest's, as it may be stretched.
        let (length, direction) = lengths(&laplacian_like(&rows, triangles, example), example);
        for r in (0..rows.len()).filter(|r| length[*r] > 0.0) {
            if directions.get(r) == DVec3::ZERO {
                directions.set(r, direction.get(r));
            }
        }
        all.push(length);
    }
    Ok((rows, directions, all))
}

/// The Laplacian of a deformed copy of the surface, or that of the rest where the copy has lost a vertex's area.
fn laplacian_like(rows: &Rows, triangles: &[[u32; 3]], example: &Points) -> Rows {
    let own = laplacian(triangles, example);
    if own.len() == rows.len() { own } else { rows.clone() }
}

impl ConstraintBatch for Bending {
    fn kind(&self) -> &'static str {
        "bending"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    /// None of a flat surface: there w AᵀA is the Hessian.
    fn element_hessian(&self) -> Option<&dyn ElementHessian> {
        let flat = match &self.wanted {
            TargetLengths::Within([_, high]) => high.iter().all(|h| *h == 0.0),
            TargetLengths::Blend(all) => all.iter().flatten().all(|l| *l == 0.0),
        };
        if flat { None } else { Some(self) }
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        for (k, e) in elements.enumerate() {
            let [low, high] = self.bounds(e, view);
            let v = self.vector(e, view.x);
            p.set(k, with_length(v, low, high, self.directions.get(e)));
        }
    }

    /// Vertices around which nothing broke stay as they are; at a tear's rim there is no moment, as at any border.
    fn torn(&self, elements: TornElements<'_>) -> TornBatch {
        let vertex = |row: usize| self.rows.row(row).next().map_or(0, |(i, _)| i);
        let kept: Vec<usize> = (0..self.rows.len()).filter(|r| elements.is_whole(vertex(*r))).collect();
        let of = |list: &[f64]| kept.iter().map(|&r| list[r]).collect::<Vec<f64>>();
        TornBatch::of(Bending {
            rows: self.rows.renamed(kept.iter().copied(), |r, i| elements.beside(vertex(r), i)),
            directions: kept.iter().map(|&r| self.directions.get(r)).collect(),
            wanted: match &self.wanted {
                TargetLengths::Within([low, high]) => TargetLengths::Within([of(low), of(high)]),
                TargetLengths::Blend(all) => TargetLengths::Blend(all.iter().map(|l| of(l)).collect()),
            },
            rest_is_free: self.rest_is_free,
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            rigid_invariant: true,
            exact_nearest: true,
            rest_is_free: self.rest_is_free,
            sees_reflection: false,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.rows.encode(&mut w);
        self.directions.columns().into_iter().for_each(|c| w.numbers(c));
        w.word(self.rest_is_free.into());
        let (kind, lists): (u64, &[Vec<f64>]) = match &self.wanted {
            TargetLengths::Within(bounds) => (0, bounds),
            TargetLengths::Blend(all) => (1, all),
        };
        w.word(kind);
        w.word(lists.len() as u64);
        lists.iter().for_each(|l| w.numbers(l));
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Bending, Truncated> {
        let mut r = Reader(bytes);
        let rows = Rows::decode(&mut r)?;
        let directions = r.points()?;
        let (rest_is_free, kind, count) = (r.word()? != 0, r.word()?, r.word()?);
        let lists: Vec<Vec<f64>> = (0..count).map(|_| r.numbers()).collect::<Result<_, _>>()?;
        let lengths = directions.columns().map(<[f64]>::len).into_iter().chain(lists.iter().map(Vec::len));
        if rows.elements() != rows.len() || lengths.into_iter().any(|n| n != rows.len()) {
            return Err(Truncated);
        }
        let wanted = match (kind, <[Vec<f64>; 2]>::try_from(lists)) {
            (0, Ok(bounds)) => TargetLengths::Within(bounds),
            (1, Ok(pair)) => TargetLengths::Blend(pair.into()),
            (1, Err(lists)) if !lists.is_empty() => TargetLengths::Blend(lists),
            _ => return Err(Truncated),
        };
        Ok(Bending { rows, directions, wanted, rest_is_free })
    }

    fn shared_len(&self) -> usize {
        match &self.wanted {
            TargetLengths::Within(_) => 0,
            TargetLengths::Blend(all) => blend::scratch_len(all.len()),
        }
    }

    /// Common weights: with p turned onto v only lengths count, and the best weights solve a small quadratic
    /// program exactly.
    fn begin_iteration(&self, x: &Points, shared: &mut [f64]) {
        let TargetLengths::Blend(all) = &self.wanted else { return };
        let mut problem = blend::Problem::new(shared, all.len());
        problem.start_with(0, 1.0);
        for (r, area) in self.rows.weights().iter().enumerate() {
            let length = self.vector(r, x).length();
            problem.add(*area, |k| all[k][r], length);
        }
        problem.solve();
    }
}

/// Weights common to all vertices count as given: following them would couple all pairs, and can only make the
/// surface softer.
impl ElementHessian for Bending {
    fn stencils(&self) -> usize {
        self.rows.elements()
    }

    fn width(&self, stencil: usize) -> usize {
        self.rows.row(stencil).len()
    }

    fn column(&self, stencil: usize, k: usize) -> u32 {
        self.rows.row(stencil).nth(k).map_or(0, |(i, _)| i)
    }

    fn hessian(&self, stencil: usize, at: HessianAt<'_>, blocks: &mut [DMat3]) {
        let [low, high] = self.bounds(stencil, at.view);
        let v = self.vector(stencil, at.view.x);
        let h = length_hessian(v, low, high, at.clamped) * self.rows.weights()[stencil];
        let entries = self.rows.row(stencil);
        let pairs = entries
            .clone()
            .enumerate()
            .flat_map(|(k, (_, a))| entries.clone().take(k + 1).map(move |(_, b)| a * b));
        blocks.iter_mut().zip(pairs).for_each(|(block, c)| *block = h * c);
    }
}

/// The nearest vector with a length between two bounds.
fn with_length(v: DVec3, low: f64, high: f64, otherwise: DVec3) -> DVec3 {
    // Scaled by the largest coordinate: squares of huge and tiny ones stay numbers.
    let largest = v.abs().max_element();
    if high == 0.0 {
        return DVec3::ZERO;
    }
    if largest <= 1e-14 * low || largest < 1e-290 {
        return otherwise * low;
    }
    let unit = v / largest;
    let length = unit.length();
    let wanted = (length * largest).clamp(low, high);
    unit * (wanted / length)
}

#[cfg(test)]
mod tests;
