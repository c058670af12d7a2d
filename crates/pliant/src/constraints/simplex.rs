//! Constraints on how simplices deform: edges, triangles and tetrahedra, eight at a time.
//!
//! A simplex of D dimensions with rest edges r_c = X_c − X_0 is deformed by the 3×D gradient
//! F = `[x_c − x_0]·[r_c]⁻¹` in a frame of its own (projective-dynamics, eq. 16; the paper embeds triangles in
//! the plane, which is not linear in q, so triangles have a 3×2 gradient here). F is linear in q: its D columns
//! are the rows A of the constraint. What distinguishes strain, limits, volume and fibres is the set F is
//! drawn to, a [`GradientSet`]; this file holds everything else.

#![allow(clippy::needless_range_loop)] // lanes: iterators and closures are not inlined into every instruction set

use super::hessian::{ElementHessian, full_hessian};
use super::kernel::{ElementKernel, Neighbourhood, add_corner};
use super::torn::TornEdge;
use super::{ConstraintBatch, Properties, Rows, RowsBuilder, TornBatch, TornElements, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::lanes::{Isa, Kernel, Lanes, V3};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The set of wanted deformation gradients of D-dimensional simplices.
pub trait GradientSet<const D: usize>: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// A short name, the same for ever.
    fn kind(&self) -> &'static str;

    /// What the set promises.
    fn properties(&self) -> Properties;

    /// The nearest wanted gradients of N packs of eight simplices, as columns; `first` is the number of the
    /// first pack. Two packs at once hide the latencies of one where there are registers for both. A lane's
    /// result must depend on its own gradient and element only, be finite for finite input, and have the
    /// same bits for every instruction set and N. Must be `#[inline(always)]`.
    fn project<L: Lanes, const N: usize>(
        &self,
        lanes: L,
        first: usize,
        f: &[[V3<L>; D]; N],
    ) -> [[V3<L>; D]; N];

    /// Whether [`GradientSet::curvature`] is known.
    fn has_hessian(&self) -> bool {
        false
    }

    /// The second derivative of ½ ‖F − T(F)‖² for an element with the nearest gradient T: how the gradient with
    /// respect to column d changes with column e. Without directions of negative curvature if `clamped`.
    fn curvature(&self, _element: usize, _f: [DVec3; D], _t: [DVec3; D], _clamped: bool) -> [[DMat3; D]; D] {
        full_hessian()
    }

    /// The set for some of the elements, in that order; `None` if it cannot tell.
    fn subset(&self, _elements: &[u32]) -> Option<Self> {
        None
    }

    /// Appends the set's data.
    fn encode(&self, w: &mut Writer);

    /// Reads what [`GradientSet::encode`] wrote, for a number of elements.
    fn decode(r: &mut Reader<'_>, elements: usize) -> Result<Self, Truncated>;

    /// Relative deformation a gradient shows, for statistics and colours.
    fn strain(&self, _f: [DVec3; D]) -> f64 {
        0.0
    }
}

/// Eight simplices at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pack<const D: usize> {
    /// `inverse[c][d]`: how much of edge c is in column d of F.
    inverse: [[[f64; 8]; D]; D],
    /// Weights; zero in lanes without an element.
    weight: [f64; 8],
}

/// Simplices whose gradients are drawn to a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Simplices<const D: usize, S> {
    set: S,
    /// D + 1 particles an element.
    corners: Vec<u32>,
    packs: Vec<Pack<D>>,
    rows: Rows,
}

/// `[r_c]⁻¹` of a simplex at rest, in an orthonormal frame that begins `along` a direction where its dimension
/// leaves a choice; `None` if it is flat, or a tetrahedron turned inside out.
pub fn rest_inverse<const D: usize>(edges: [DVec3; D], along: Option<DVec3>) -> Option<[[f64; D]; D]> {
    let frame = frame(edges, along)?;
    // m[d][c] = frame_d · r_c, beside the identity; Gauss–Jordan with pivoting makes it the inverse.
    let mut m = [[0.0; D]; D];
    let mut inverse = [[0.0; D]; D];
    let mut size = 0.0_f64;
    for (d, axis) in frame.iter().enumerate() {
        inverse[d][d] = 1.0;
        for (c, edge) in edges.iter().enumerate() {
            m[d][c] = axis.dot(*edge);
            size = size.max(m[d][c].abs());
        }
    }
    if D == 3 && edges[0].dot(edges[1].cross(edges[2])) <= 0.0 {
        return None;
    }
    for k in 0..D {
        let pivot = (k..D).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()))?;
        if m[pivot][k].abs() <= 1e-9 * size || !m[pivot][k].is_finite() {
            return None;
        }
        m.swap(k, pivot);
        inverse.swap(k, pivot);
        let scale = m[k][k].recip();
        for c in 0..D {
            m[k][c] *= scale;
            inverse[k][c] *= scale;
        }
        for r in (0..D).filter(|r| *r != k) {
            let factor = m[r][k];
            for c in 0..D {
                m[r][c] -= factor * m[k][c];
                inverse[r][c] -= factor * inverse[k][c];
            }
        }
    }
    Some(inverse)
}

/// Orthonormal axes of the space the simplex spans: the world's for tetrahedra.
fn frame<const D: usize>(edges: [DVec3; D], along: Option<DVec3>) -> Option<[DVec3; D]> {
    let mut axes = [DVec3::ZERO; D];
    match D {
        1 => axes[0] = edges[0].try_normalize()?,
        2 => {
            let normal = edges[0].cross(edges[1]).try_normalize()?;
            let in_plane = |v: DVec3| (v - normal * normal.dot(v)).try_normalize();
            axes[0] = along.and_then(in_plane).or_else(|| edges[0].try_normalize())?;
            axes[1] = normal.cross(axes[0]);
        }
        _ => axes.iter_mut().zip([DVec3::X, DVec3::Y, DVec3::Z]).for_each(|(a, axis)| *a = axis),
    }
    Some(axes)
}

/// Length, area or volume of a simplex with these edges.
pub fn simplex_measure<const D: usize>(edges: [DVec3; D]) -> f64 {
    match D {
        1 => edges[0].length(),
        2 => 0.5 * edges[0].cross(edges[1]).length(),
        _ => edges[0].dot(edges[1].cross(edges[2])) / 6.0,
    }
}

impl<const D: usize, S: GradientSet<D>> Simplices<D, S> {
    /// Simplices between particles at their rest positions; `weight` is what each stands for (volume, area,
    /// length), before it is scaled by a stiffness. `along` chooses the first axis of each triangle's
    /// frame. The indices of simplices that have no extent are returned as an error.
    pub fn new<const C: usize>(
        set: S,
        elements: &[[u32; C]],
        rest: &Points,
        weight: &[f64],
        along: Option<DVec3>,
    ) -> Result<Self, Vec<usize>> {
        assert!(C == D + 1, "a simplex of {D} dimensions has {} corners", D + 1);
        let mut bad = Vec::new();
        let mut inverses = Vec::with_capacity(elements.len());
        for (e, corners) in elements.iter().enumerate() {
            match rest_inverse::<D>(edges_of(corners, rest), along) {
                Some(inverse) => inverses.push(inverse),
                None => bad.push(e),
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        let corners: Vec<u32> = elements.iter().flatten().copied().collect();
        Ok(Self::from_parts(set, corners, &inverses, weight))
    }

    pub(super) fn from_parts(set: S, corners: Vec<u32>, inverses: &[[[f64; D]; D]], weight: &[f64]) -> Self {
        let mut rows = RowsBuilder::default();
        let mut packs = Vec::with_capacity(inverses.len().div_ceil(8));
        for (e, inverse) in inverses.iter().enumerate() {
            let corners = &corners[e * (D + 1)..][..D + 1];
            for d in 0..D {
                let first = -inverse.iter().map(|edge| edge[d]).sum::<f64>();
                let others = inverse.iter().zip(&corners[1..]).map(|(edge, &i)| (i, edge[d]));
                rows.row(weight[e], std::iter::once((corners[0], first)).chain(others));
            }
            rows.end_element();
            if e % 8 == 0 {
                // Lanes without an element repeat the first with no weight: finite, and without force.
                let lanes = inverse.map(|edge| edge.map(|v| [v; 8]));
                packs.push(Pack { inverse: lanes, weight: [0.0; 8] });
            }
            let pack = &mut packs[e / 8];
            pack.weight[e % 8] = weight[e];
            for (lanes, edge) in pack.inverse.iter_mut().zip(inverse) {
                lanes.iter_mut().zip(edge).for_each(|(lanes, v)| lanes[e % 8] = *v);
            }
        }
        Simplices { set, corners, packs, rows: rows.build() }
    }

    pub(super) fn corners_of(&self, element: usize) -> &[u32] {
        &self.corners[element * (D + 1)..][..D + 1]
    }

    /// The nearest wanted gradient of one element.
    pub(super) fn nearest(&self, e: usize, f: [DVec3; D], isa: Isa) -> [DVec3; D] {
        // Alone in its lane; the others repeat it.
        let mut lanes = f.map(|column| column.to_array().map(|v| [v; 8]));
        isa.run(Project { simplices: self, pack: e / 8, f: &mut lanes });
        lanes.map(|column| DVec3::new(column[0][e % 8], column[1][e % 8], column[2][e % 8]))
    }

    pub(super) fn gradient(&self, e: usize, x: &Points) -> [DVec3; D] {
        let corners = &self.corners[e * (D + 1)..][..D + 1];
        let origin = x.get(corners[0] as usize);
        let mut f = [DVec3::ZERO; D];
        for (c, &i) in corners[1..].iter().enumerate() {
            let edge = x.get(i as usize) - origin;
            for (d, column) in f.iter_mut().enumerate() {
                *column += edge * self.packs[e / 8].inverse[c][d][e % 8];
            }
        }
        f
    }

    /// Edges go along with the elements that have them.
    fn torn_edges(&self, elements: TornElements<'_>) -> TornBatch {
        let whole = self.corners.as_chunks::<2>().0;
        let edges: Vec<TornEdge> = elements.edges(whole).collect();
        let of: Vec<u32> = edges.iter().map(|e| e.of).collect();
        let Some(set) = self.set.subset(&of) else { return TornBatch::Cannot };
        let each = || of.iter().map(|&e| e as usize);
        let inverses: Vec<[[f64; D]; D]> =
            each().map(|e| self.packs[e / 8].inverse.map(|edge| edge.map(|v| v[e % 8]))).collect();
        let weights: Vec<f64> =
            each().zip(&edges).map(|(e, edge)| self.rows.weights()[e * D] * edge.share).collect();
        let corners = edges.iter().flat_map(|e| e.ends).collect();
        TornBatch::of(Self::from_parts(set, corners, &inverses, &weights))
    }

    /// The set the gradients are drawn to.
    pub fn set(&self) -> &S {
        &self.set
    }
}

fn edges_of<const D: usize>(corners: &[u32], rest: &Points) -> [DVec3; D] {
    let origin = rest.get(corners[0] as usize);
    std::array::from_fn(|c| rest.get(corners[c + 1] as usize) - origin)
}

impl<const D: usize> Pack<D> {
    /// F of eight simplices from their corners.
    #[inline(always)]
    fn gradient<L: Lanes>(&self, l: L, edges: &[V3<L>; D]) -> [V3<L>; D] {
        let mut f = [[l.splat(0.0); 3]; D];
        for d in 0..D {
            f[d] = l.scale(l.load(&self.inverse[0][d]), edges[0]);
            for c in 1..D {
                f[d] = l.scale_add(l.load(&self.inverse[c][d]), edges[c], f[d]);
            }
        }
        f
    }
}

struct AddForces<'a, 'n, const D: usize, S> {
    simplices: &'a Simplices<D, S>,
    packs: Range<usize>,
    near: Neighbourhood<'n>,
}

impl<const D: usize, S: GradientSet<D>> Kernel for AddForces<'_, '_, D, S> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) -> f64 {
        let mut energy = l.splat(0.0);
        let mut pack = self.packs.start;
        if L::REGISTERS >= 32 {
            while pack + 2 <= self.packs.end {
                energy = self.add::<L, 2>(l, pack, energy);
                pack += 2;
            }
        }
        while pack < self.packs.end {
            energy = self.add::<L, 1>(l, pack, energy);
            pack += 1;
        }
        0.5 * l.sum(energy)
    }
}

impl<const D: usize, S: GradientSet<D>> AddForces<'_, '_, D, S> {
    /// Adds the forces of N packs; returns the energy, twice, on top of what there was.
    #[inline(always)]
    fn add<L: Lanes, const N: usize>(&mut self, l: L, first: usize, mut energy: L::F) -> L::F {
        let packs = &self.simplices.packs[first..first + N];
        let corners = &self.near.corners[(first - self.packs.start) * (D + 1)..][..N * (D + 1)];
        let mut f = [[[l.splat(0.0); 3]; D]; N];
        for k in 0..N {
            let origin = l.load_transposed(self.near.x, &corners[k * (D + 1)]);
            let mut edges = [[l.splat(0.0); 3]; D];
            for c in 0..D {
                let x = l.load_transposed(self.near.x, &corners[k * (D + 1) + c + 1]);
                edges[c] = [l.sub(x[0], origin[0]), l.sub(x[1], origin[1]), l.sub(x[2], origin[2])];
            }
            f[k] = packs[k].gradient(l, &edges);
        }
        let t = self.simplices.set.project(l, first, &f);
        for k in 0..N {
            let weight = l.mul(l.splat(self.near.scale), l.load(&packs[k].weight));
            // w (T − F), then its share of every corner.
            let mut pull = [[l.splat(0.0); 3]; D];
            let mut squares = l.splat(0.0);
            for d in 0..D {
                let (t, f) = (t[k][d], f[k][d]);
                let r = [l.sub(t[0], f[0]), l.sub(t[1], f[1]), l.sub(t[2], f[2])];
                squares = l.add(squares, l.dot(r, r));
                pull[d] = l.scale(weight, r);
            }
            energy = l.mul_add(weight, squares, energy);
            let mut origin = [l.splat(0.0); 3];
            for c in 0..D {
                let mut force = l.scale(l.load(&packs[k].inverse[c][0]), pull[0]);
                for d in 1..D {
                    force = l.scale_add(l.load(&packs[k].inverse[c][d]), pull[d], force);
                }
                origin = [l.sub(origin[0], force[0]), l.sub(origin[1], force[1]), l.sub(origin[2], force[2])];
                add_corner(l, self.near.forces, &corners[k * (D + 1) + c + 1], force);
            }
            add_corner(l, self.near.forces, &corners[k * (D + 1)], origin);
        }
        energy
    }
}

struct Project<'a, 'v, const D: usize, S> {
    simplices: &'a Simplices<D, S>,
    pack: usize,
    f: &'v mut [[[f64; 8]; 3]; D],
}

impl<const D: usize, S: GradientSet<D>> Kernel for Project<'_, '_, D, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut f = [[l.splat(0.0); 3]; D];
        for d in 0..D {
            f[d] = [l.load(&self.f[d][0]), l.load(&self.f[d][1]), l.load(&self.f[d][2])];
        }
        let [t] = self.simplices.set.project(l, self.pack, &[f]);
        for d in 0..D {
            for axis in 0..3 {
                l.store(t[d][axis], &mut self.f[d][axis]);
            }
        }
    }
}

impl<const D: usize, S: GradientSet<D>> ElementKernel for Simplices<D, S> {
    fn elements(&self) -> usize {
        self.rows.elements()
    }

    fn stencil(&self, element: usize) -> &[u32] {
        &self.corners[element * (D + 1)..][..D + 1]
    }

    fn add_forces(&self, packs: Range<usize>, near: Neighbourhood<'_>, isa: Isa) -> f64 {
        isa.run(AddForces { simplices: self, packs, near })
    }
}

impl<const D: usize, S: GradientSet<D>> ConstraintBatch for Simplices<D, S> {
    fn kind(&self) -> &'static str {
        self.set.kind()
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn kernel(&self) -> Option<&dyn ElementKernel> {
        Some(self)
    }

    fn element_hessian(&self) -> Option<&dyn ElementHessian> {
        if self.set.has_hessian() { Some(self) } else { None }
    }

    fn subset(&self, elements: &[u32]) -> Option<Arc<dyn ConstraintBatch>> {
        let set = self.set.subset(elements)?;
        let each = || elements.iter().map(|&e| e as usize);
        let corners = each().flat_map(|e| self.stencil(e).iter().copied()).collect();
        let inverses: Vec<[[f64; D]; D]> =
            each().map(|e| self.packs[e / 8].inverse.map(|edge| edge.map(|v| v[e % 8]))).collect();
        let weights: Vec<f64> = each().map(|e| self.rows.weights()[e * D]).collect();
        Some(Arc::new(Self::from_parts(set, corners, &inverses, &weights)))
    }

    fn torn(&self, elements: TornElements<'_>) -> TornBatch {
        if D == 1 {
            return self.torn_edges(elements);
        }
        if !elements.are(&self.corners) {
            return TornBatch::Cannot;
        }
        let corners = elements.corners.particles();
        let columns = corners.chunks_exact(D + 1).flat_map(|cell| cell.repeat(D)).collect();
        TornBatch::of(Simplices {
            set: self.set.clone(),
            corners: corners.to_vec(),
            packs: self.packs.clone(),
            rows: self.rows.with_columns(columns),
        })
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        let first = elements.start;
        for pack in elements.start / 8..elements.end.div_ceil(8) {
            let mine = (8 * pack).max(elements.start)..(8 * pack + 8).min(elements.end);
            let mut f = [[[0.0; 8]; 3]; D];
            for e in mine.clone() {
                for (d, column) in self.gradient(e, view.x).into_iter().enumerate() {
                    (0..3).for_each(|axis| f[d][axis][e % 8] = column[axis]);
                }
            }
            Isa::best().run(Project { simplices: self, pack, f: &mut f });
            for e in mine {
                for (d, t) in f.iter().enumerate() {
                    p.set((e - first) * D + d, DVec3::new(t[0][e % 8], t[1][e % 8], t[2][e % 8]));
                }
            }
        }
    }

    fn properties(&self) -> Properties {
        self.set.properties()
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.indices(&self.corners);
        w.numbers(self.rows.weights());
        let lane = |e: usize| self.packs[e / 8].inverse.map(|edge| edge.map(|v| v[e % 8]));
        let inverses: Vec<f64> =
            (0..self.rows.elements()).flat_map(|e| lane(e).as_flattened().to_vec()).collect();
        w.numbers(&inverses);
        self.set.encode(&mut w);
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Self, Truncated> {
        let mut r = Reader(bytes);
        let (corners, weights, inverses) = (r.indices()?, r.numbers()?, r.numbers()?);
        let elements = corners.len() / (D + 1);
        let fits = corners.len() == elements * (D + 1)
            && weights.len() == elements * D
            && inverses.len() == elements * D * D;
        if !fits {
            return Err(Truncated);
        }
        let set = S::decode(&mut r, elements)?;
        let weights: Vec<f64> = weights.into_iter().step_by(D).collect();
        let inverses: Vec<[[f64; D]; D]> = inverses
            .chunks_exact(D * D)
            .map(|m| std::array::from_fn(|c| std::array::from_fn(|d| m[c * D + d])))
            .collect();
        Ok(Self::from_parts(set, corners, &inverses, &weights))
    }

    fn raise_strain(&self, view: View<'_>, strain: &mut [f64]) {
        for e in 0..self.rows.elements() {
            let s = self.set.strain(self.gradient(e, view.x));
            for &i in self.stencil(e) {
                strain[i as usize] = strain[i as usize].max(s);
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two tetrahedra that share a face.
    pub fn tetrahedra() -> (Points, [[u32; 4]; 2]) {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.2, 1.5, 0.0], [0.1, 0.2, 2.0], [1.0, 1.0, 1.5]];
        (points.map(DVec3::from_array).into_iter().collect(), [[0, 1, 2, 3], [1, 2, 3, 4]])
    }

    /// Two triangles of one plane, z = 0.
    pub fn triangles() -> (Points, [[u32; 3]; 2]) {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.2, 1.5, 0.0], [1.4, 1.2, 0.0]];
        (points.map(DVec3::from_array).into_iter().collect(), [[0, 1, 2], [1, 3, 2]])
    }
}
