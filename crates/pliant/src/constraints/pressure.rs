//! Pressure in a closed surface: the volume it encloses wants to be within bounds, or is filled with gas.
//!
//! Every vertex has a row xᵢ − c with the area aᵢ it stands for as weight, where the centroid c is an auxiliary unknown
//! (one star of couplings instead of a clique). The wanted places are the nearest ones whose surface encloses a
//! wanted volume: yᵢ = xᵢ + λ ∇ᵢV(y)/aᵢ, found by sequential quadratic programming, which is the projective-dynamics
//! update (26) for volume. As ∇ᵢV is area times normal, the forces are those of one pressure λ (times the stiffness)
//! over the whole surface, and a volume off by ΔV costs about ½ ΔV²/A.
//!
//! *Conserved.* Rows vanish on translations, and a closed surface's ∇V neither pushes nor turns: no net force, no
//! torque. *Gas.* The potential U(V) = give (outside (V − V₀) − V₀ ln V/V₀) of a gas at constant temperature takes the
//! place of bounds: y minimises ½ Σ a ‖x − y‖² + U(V(y)), with the pressure give (V₀/V − outside) at y, and
//! [`ConstraintBatch::energy`] is that minimum. `give` is how far the pressure moves the surface against the
//! constraint's own softness: true pressure is stiffness × give, so a stiffer constraint with less give is nearer
//! to the gas, and converges more slowly.
//!
//! *Not exact.* The set is not convex: what is found is a stationary point, or the fitted rest shape scaled to the
//! wanted volume where that is nearer or nothing else is found (crumpled, collapsed, turned inside out).

use super::hessian::{ElementHessian, HessianAt, INNER};
use super::surface::{area, corners, edges};
use super::{AUXILIARY, ConstraintBatch, Properties, Rows, RowsBuilder, TornBatch, TornElements, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::cross_matrix;
use pliant_math::nearest_rotation;
use std::ops::Range;

/// What is inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filling {
    /// Least and largest volume, as ratios of the rest volume; not negative.
    Volume([f64; 2]),
    /// Gas that has pressure 1 at the rest volume.
    Gas {
        /// Pressure outside: at 1 the rest shape is in balance, at 0 the surface is in a vacuum.
        outside: f64,
        /// How far a pressure of 1 moves the surface of the constraint, in metres.
        give: f64,
    },
}

/// Why a surface cannot be filled.
#[derive(Clone, Debug, PartialEq)]
pub enum NotClosedError {
    /// Edges that do not lie between two triangles of one orientation.
    Edges(Vec<[u32; 2]>),
    /// A volume that is not positive: the surface is flat or inside out.
    Volume(f64),
}

impl std::fmt::Display for NotClosedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotClosedError::Edges(edges) => write!(
                f,
                "the surface is not closed: {} edges do not lie between two triangles of one orientation, the \
                 first from particle {} to {}",
                edges.len(),
                edges[0][0],
                edges[0][1]
            ),
            NotClosedError::Volume(v) => {
                write!(
                    f,
                    "the surface encloses {v} m³: turn its triangles counter-clockwise seen from outside"
                )
            }
        }
    }
}

impl std::error::Error for NotClosedError {}

/// A closed surface and what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pressure {
    rows: Rows,
    /// The surface's vertices.
    particles: Vec<u32>,
    /// Triangles as indices into `particles`.
    triangles: Vec<[u32; 3]>,
    /// Vertices at rest about their centroid.
    rest: Vec<DVec3>,
    volume: f64,
    filling: Filling,
}

impl Pressure {
    /// Fills a closed surface with outward triangles.
    pub fn new(triangles: &[[u32; 3]], rest: &Points, filling: Filling) -> Result<Pressure, NotClosedError> {
        let all = edges(triangles);
        if !all.others.is_empty() || triangles.is_empty() {
            return Err(if triangles.is_empty() {
                NotClosedError::Volume(0.0)
            } else {
                NotClosedError::Edges(all.others)
            });
        }
        let mut particles: Vec<u32> = triangles.iter().flatten().copied().collect();
        particles.sort_unstable();
        particles.dedup();
        let mut areas = vec![0.0; particles.len()];
        let local = |i: u32| particles.binary_search(&i).unwrap_or(0);
        for &t in triangles {
            t.iter().for_each(|&i| areas[local(i)] += area(corners(t, rest)) / 3.0);
        }
        let inner: Vec<u32> = triangles.iter().flatten().map(|&i| local(i) as u32).collect();
        let places = || particles.iter().map(|&i| rest.get(i as usize));
        let total: f64 = areas.iter().sum();
        let center = places().zip(&areas).map(|(p, a)| p * *a).sum::<DVec3>() / total;
        let places: Vec<DVec3> = places().map(|p| p - center).collect();
        let batch = Pressure::from_parts(particles, inner, &areas, places, filling);
        // Written so that a volume that is not a number is refused as well.
        if batch.volume > 0.0 { Ok(batch) } else { Err(NotClosedError::Volume(batch.volume)) }
    }

    fn from_parts(
        particles: Vec<u32>,
        triangles: Vec<u32>,
        areas: &[f64],
        rest: Vec<DVec3>,
        filling: Filling,
    ) -> Pressure {
        let mut rows = RowsBuilder::default();
        for (&i, &a) in particles.iter().zip(areas) {
            rows.row(a, [(i, 1.0), (AUXILIARY, -1.0)]).end_element();
        }
        let triangles = triangles.as_chunks::<3>().0.to_vec();
        let volume = volume(&triangles, |i| rest[i]);
        Pressure { rows: rows.build(), particles, triangles, rest, volume, filling }
    }

    /// The volume enclosed at `x`.
    pub fn enclosed(&self, x: &Points) -> f64 {
        let origin = x.get(self.particles[0] as usize);
        volume(&self.triangles, |i| x.get(self.particles[i] as usize) - origin)
    }

    fn center(&self, x: &Points) -> DVec3 {
        let origin = x.get(self.particles[0] as usize);
        let (mut sum, mut total) = (DVec3::ZERO, 0.0);
        for (&i, a) in self.particles.iter().zip(self.rows.weights()) {
            sum += (x.get(i as usize) - origin) * *a;
            total += a;
        }
        origin + sum / total
    }

    /// The volume to reach from a volume of bounds, `None` where it may stay; gas has no such volume.
    fn target(&self, v: f64) -> Option<f64> {
        let Filling::Volume([min, max]) = self.filling else { return Some(f64::NAN) };
        let (low, high) = (min * self.volume, max * self.volume);
        if v < low { Some(low) } else { (v > high).then_some(high) }
    }

    /// λ for a volume that is `v` + λ `slope` to first order.
    fn multiplier(&self, target: f64, v: f64, slope: f64) -> f64 {
        match self.filling {
            Filling::Volume(_) => (target - v) / slope,
            Filling::Gas { outside, give } => {
                // W = v + λ slope with λ = give (V₀/W − outside) is a quadratic equation with one positive root.
                let (half, product) = (0.5 * (v - slope * give * outside), slope * give * self.volume);
                let root = half.hypot(product.sqrt());
                let reached = if half > 0.0 { half + root } else { product / (root - half) };
                (reached - v) / slope
            }
        }
    }

    /// U(V).
    fn potential_at(&self, v: f64) -> f64 {
        match self.filling {
            Filling::Volume(_) => 0.0,
            Filling::Gas { outside, give } => {
                give * (outside * (v - self.volume) - self.volume * (v / self.volume).ln())
            }
        }
    }

    /// ∇V at `y`.
    fn slopes(&self, y: &[f64], slopes: &mut [f64]) {
        slopes.fill(0.0);
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| DVec3::from_slice(&y[3 * i as usize..]));
            for (k, n) in [b.cross(c), c.cross(a), a.cross(b)].into_iter().enumerate() {
                (0..3).for_each(|axis| slopes[3 * t[k] as usize + axis] += n[axis] / 6.0);
            }
        }
    }

    /// Newton steps from `y` to the place nearest to `d` with the wanted volume; its cost, if there is one.
    fn search(&self, target: f64, d: &[f64], y: &mut [f64], slopes: &mut [f64]) -> Option<f64> {
        let weights = self.rows.weights();
        let at = |list: &[f64], i: usize| DVec3::new(list[3 * i], list[3 * i + 1], list[3 * i + 2]);
        let size: f64 = weights.iter().enumerate().map(|(i, a)| a * at(d, i).length_squared()).sum();
        let area: f64 = weights.iter().sum();
        let small = 1e-26 * (size + area * self.volume.powf(2.0 / 3.0));
        for round in 0..ROUNDS {
            self.slopes(y, slopes);
            // The volume is of third degree in places: its slopes tell it, V = y·∇V/3, and V + (d − y)·∇V at `d`.
            let (mut here, mut there, mut slope) = (0.0, 0.0, 0.0);
            for (i, a) in weights.iter().enumerate() {
                let n = at(slopes, i);
                here += n.dot(at(y, i));
                there += n.dot(at(d, i));
                slope += n.length_squared() / a;
            }
            let linear = there - here * (2.0 / 3.0);
            let lambda = self.multiplier(target, linear, slope);
            if !lambda.is_finite() || slope <= 0.0 {
                return None;
            }
            // After some rounds without an end, shorter steps: overshooting goes back and forth.
            let step = if round < 12 { 1.0 } else { 0.5 };
            let (mut moved, mut far) = (0.0, 0.0);
            for (i, a) in weights.iter().enumerate() {
                let change = (at(d, i) + at(slopes, i) * (lambda / a) - at(y, i)) * step;
                moved += a * change.length_squared();
                (0..3).for_each(|axis| y[3 * i + axis] += change[axis]);
                far += a * (at(y, i) - at(d, i)).length_squared();
            }
            if moved <= small {
                let v = volume(&self.triangles, |i| at(y, i));
                let cost = 0.5 * far + self.potential_at(v);
                return cost.is_finite().then_some(cost);
            }
        }
        None
    }

    /// The rest shape fitted to `d`, with a volume; its cost.
    fn fitted(&self, target: f64, d: &[f64], y: &mut [f64]) -> f64 {
        let volume = if target.is_nan() { self.volume } else { target };
        let scale = (volume / self.volume).cbrt();
        let mut covariance = DMat3::ZERO;
        for (i, (r, a)) in self.rest.iter().zip(self.rows.weights()).enumerate() {
            let at = DVec3::new(d[3 * i], d[3 * i + 1], d[3 * i + 2]) * *a;
            covariance += DMat3::from_cols(at * r.x, at * r.y, at * r.z);
        }
        let turn = nearest_rotation(covariance, DMat3::IDENTITY) * scale;
        let mut far = 0.0;
        for (i, (r, a)) in self.rest.iter().zip(self.rows.weights()).enumerate() {
            let to = turn * *r;
            (0..3).for_each(|axis| {
                far += a * (to[axis] - d[3 * i + axis]).powi(2);
                y[3 * i + axis] = to[axis];
            });
        }
        0.5 * far + self.potential_at(volume)
    }
}

/// Most steps of one search.
const ROUNDS: usize = 60;

fn volume(triangles: &[[u32; 3]], at: impl Fn(usize) -> DVec3) -> f64 {
    let six: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| at(i as usize));
            a.dot(b.cross(c))
        })
        .sum();
    six / 6.0
}

impl ConstraintBatch for Pressure {
    fn kind(&self) -> &'static str {
        "pressure"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        for (k, y) in view.shared[3 * elements.start..3 * elements.end].as_chunks::<3>().0.iter().enumerate()
        {
            p.set(k, DVec3::from_array(*y));
        }
    }

    /// A hole lets out what was inside; until one opens nothing changes.
    fn torn(&self, elements: TornElements<'_>) -> TornBatch {
        let closed = elements.corners.origin().len() == elements.facets.particle_count();
        if closed { TornBatch::of(self.clone()) } else { TornBatch::Gone }
    }

    fn properties(&self) -> Properties {
        let (rest_is_free, sees_reflection) = match self.filling {
            Filling::Volume([min, max]) => (min <= 1.0 && max >= 1.0, min > 0.0),
            Filling::Gas { .. } => (false, true),
        };
        Properties { rigid_invariant: true, exact_nearest: false, rest_is_free, sees_reflection }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.indices(&self.particles);
        w.indices(self.triangles.as_flattened());
        w.numbers(self.rows.weights());
        w.numbers(&self.rest.iter().flat_map(|p| p.to_array()).collect::<Vec<f64>>());
        let (kind, numbers) = match self.filling {
            Filling::Volume(bounds) => (0, bounds),
            Filling::Gas { outside, give } => (1, [outside, give]),
        };
        w.word(kind);
        w.numbers(&numbers);
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Pressure, Truncated> {
        let mut r = Reader(bytes);
        let (particles, triangles, areas, rest) = (r.indices()?, r.indices()?, r.numbers()?, r.numbers()?);
        let (kind, numbers) = (r.word()?, r.numbers()?);
        let filling = match (kind, numbers.as_slice()) {
            (0, &[min, max]) => Filling::Volume([min, max]),
            (1, &[outside, give]) => Filling::Gas { outside, give },
            _ => return Err(Truncated),
        };
        let n = particles.len();
        let fits = n > 0 && areas.len() == n && rest.len() == 3 * n && triangles.len() % 3 == 0;
        if !fits || triangles.iter().any(|&i| i as usize >= n) {
            return Err(Truncated);
        }
        let rest = rest.as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect();
        Ok(Pressure::from_parts(particles, triangles, &areas, rest, filling))
    }

    fn auxiliary_unknowns(&self) -> usize {
        1
    }

    fn auxiliary_values(&self, x: &Points, values: &mut Points) {
        values.set(0, self.center(x));
    }

    /// Places for all vertices, places now, a second attempt, ∇V; then what `VolumeSolution` reads.
    fn shared_len(&self) -> usize {
        12 * self.particles.len() + VolumeSolution::LEN
    }

    fn begin_iteration(&self, x: &Points, shared: &mut [f64]) {
        let n = 3 * self.particles.len();
        let (y, scratch) = shared.split_at_mut(n);
        let (d, scratch) = scratch.split_at_mut(n);
        let (other, scratch) = scratch.split_at_mut(n);
        let (slopes, last) = scratch.split_at_mut(n);
        let center = self.center(x);
        for (to, &i) in d.as_chunks_mut::<3>().0.iter_mut().zip(&self.particles) {
            *to = (x.get(i as usize) - center).to_array();
        }
        y.copy_from_slice(d);
        let at = |list: &[f64], i: usize| DVec3::new(list[3 * i], list[3 * i + 1], list[3 * i + 2]);
        let target = self.target(volume(&self.triangles, |i| at(d, i)));
        if let Some(target) = target {
            let found = self.search(target, d, y, slopes);
            let fitted = self.fitted(target, d, other);
            if !found.is_some_and(|cost| cost <= fitted) {
                y.copy_from_slice(other);
                if !self.search(target, d, y, slopes).is_some_and(|cost| cost <= fitted) {
                    y.copy_from_slice(other);
                }
            }
        }
        self.slopes(y, slopes);
        let (mut along, mut squared, mut far, mut size) = (0.0, 0.0, 0.0, 0.0);
        for (i, a) in self.rows.weights().iter().enumerate() {
            let (n, moved) = (at(slopes, i), at(y, i) - at(d, i));
            along += n.dot(moved);
            squared += n.length_squared() / a;
            far += a * moved.length_squared();
            size += a * at(d, i).length_squared();
        }
        let lambda = if squared > 0.0 { along / squared } else { 0.0 };
        let off =
            |(i, a): (usize, &f64)| (at(y, i) - at(d, i) - at(slopes, i) * (lambda / a)).length_squared() * a;
        let left: f64 = self.rows.weights().iter().enumerate().map(off).sum();
        last[0] = volume(&self.triangles, |i| at(y, i));
        last[1] = lambda;
        last[2] = f64::from(u8::from(left <= 1e-12 * far + 1e-24 * size && lambda.is_finite()));
        last[3] = f64::from(u8::from(target.is_some()));
    }

    fn potential(&self, shared: &[f64]) -> f64 {
        self.potential_at(shared[12 * self.particles.len()])
    }

    fn element_hessian(&self) -> Option<&dyn ElementHessian> {
        Some(self)
    }
}

/// The nearest places y are inner unknowns. With a (y − x) = λ ∇V(y) they follow a movement of x by
/// (a − λ ∇²V) dy = a dx + ∇V dλ, where ∇V·dy = 0 for a wanted volume, and −dλ/U″ for a gas. Stencils are the vertices,
/// of x and y, and then the triangles, of three y, with their share of −λ ∇²V.
impl ElementHessian for Pressure {
    fn stencils(&self) -> usize {
        self.particles.len() + self.triangles.len()
    }

    fn width(&self, stencil: usize) -> usize {
        if stencil < self.particles.len() { 2 } else { 3 }
    }

    fn column(&self, stencil: usize, k: usize) -> u32 {
        match stencil.checked_sub(self.particles.len()) {
            None if k == 0 => self.particles[stencil],
            None => INNER + stencil as u32,
            Some(t) => INNER + self.triangles[t][k],
        }
    }

    fn hessian(&self, stencil: usize, at: HessianAt<'_>, blocks: &mut [DMat3]) {
        let n = self.particles.len();
        let found = VolumeSolution::of(&at.view.shared[12 * n..]);
        let Some(t) = stencil.checked_sub(n) else {
            let a = self.rows.weights()[stencil];
            // Places that were merely put somewhere stay there.
            let follows = if found.stationary { -a } else { 0.0 };
            let entries = [a, follows, a].map(|v| DMat3::from_diagonal(DVec3::splat(v)));
            blocks.copy_from_slice(&entries);
            return;
        };
        blocks.fill(DMat3::ZERO);
        if found.stationary && !at.clamped {
            let y = &at.view.shared[..3 * n];
            let [a, b, c] = self.triangles[t].map(|i| DVec3::from_slice(&y[3 * i as usize..]));
            // V = Σ a·(b × c)/6: the second derivative by a and b is −c×, and so on around.
            let by = found.lambda / 6.0;
            blocks[1] = cross_matrix(c) * -by;
            blocks[3] = cross_matrix(b) * by;
            blocks[4] = cross_matrix(a) * -by;
        }
    }

    fn inner(&self) -> usize {
        self.particles.len()
    }

    fn border(&self, at: HessianAt<'_>, gradient: &mut [DVec3]) -> Option<f64> {
        let n = self.particles.len();
        let found = VolumeSolution::of(&at.view.shared[12 * n..]);
        let slopes = at.view.shared[9 * n..12 * n].as_chunks::<3>().0;
        gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g = DVec3::from_array(*s));
        match self.filling {
            _ if !found.stationary || !found.held => None,
            Filling::Volume(_) => Some(0.0),
            Filling::Gas { give, .. } => Some(found.volume * found.volume / (give * self.volume)),
        }
    }

    fn mean(&self) -> Option<(&[u32], &[f64])> {
        Some((&self.particles, self.rows.weights()))
    }
}

/// What is known of the places found.
struct VolumeSolution {
    volume: f64,
    /// λ of a (y − x) = λ ∇V(y).
    lambda: f64,
    /// Whether they satisfy that, and so move with x as it says.
    stationary: bool,
    /// Whether there is a wanted volume or a gas; a volume within bounds holds nothing.
    held: bool,
}

impl VolumeSolution {
    const LEN: usize = 4;

    fn of(numbers: &[f64]) -> VolumeSolution {
        VolumeSolution {
            volume: numbers[0],
            lambda: numbers[1],
            stationary: numbers[2] != 0.0,
            held: numbers[3] != 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
