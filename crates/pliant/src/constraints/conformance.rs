//! Holds a constraint batch to what it declares: one test for every kind, yours included.

mod local_step;

use super::{AUXILIARY, ConstraintBatch, View};
use crate::points::Points;
use glam::{DMat3, DQuat, DVec3};

/// Tries `batch` on its rest shape and on random, huge, mirrored, flat and collapsed ones, and
/// returns every broken promise:
///
/// - the rest shape has zero energy, and so has a moved one (if declared);
/// - projections are finite for every finite input;
/// - a part of the elements is projected as it would be among all;
/// - projecting a projected shape changes nothing (unless there is a potential beyond the distance);
/// - no point of the set seen is nearer than the projection (if declared);
/// - the gradient is the derivative of the energy;
/// - inner forces of rigid-invariant batches neither push nor turn, so they conserve momentum;
/// - the local half step never raises the objective: no projection of another state is nearer (if nearest
///   points are declared), and alternating half steps descend from every state;
/// - a kernel has the forces and energy of the rows, and the same bits for every instruction set;
/// - bytes written are read back as the same batch.
pub fn check<B: ConstraintBatch>(batch: &B, rest: &Points) -> Result<(), Vec<String>> {
    Checker::new(batch, rest, None).run()
}

/// As [`check`], with random shapes that differ from the rest shape by up to `reach` in each coordinate: for
/// conditions that are not defined everywhere, as angles of collapsed triangles, and so have gradients and descend
/// only where they are. Degenerate shapes must still have finite projections.
pub fn check_near<B: ConstraintBatch>(batch: &B, rest: &Points, reach: f64) -> Result<(), Vec<String>> {
    Checker::new(batch, rest, Some(reach)).run()
}

/// Whether every row vanishes on translations. Then linear momentum is conserved to rounding after any
/// number of iterations; other rigid-invariant batches conserve it only as far as they have converged.
#[cfg(test)]
pub(crate) fn rows_vanish_on_translations<B: ConstraintBatch + ?Sized>(batch: &B) -> bool {
    (0..batch.rows().len()).all(|row| {
        let (sum, size) = batch.rows().row(row).fold((0.0, 0.0), |(s, m), (_, c)| (s + c, m + c.abs()));
        f64::abs(sum) <= 1e-12 * size
    })
}

/// Repeatable numbers for shapes to check at: a linear congruence (Knuth's MMIX). Not the generator of all else: some checks
/// (curved shells of slivers, pressure of what is squashed flat) have their bounds for the shapes this one makes.
pub(crate) struct Stream(u64);

impl Stream {
    pub fn new(seed: u64) -> Stream {
        Stream(seed)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

struct Checker<'a, B> {
    batch: &'a B,
    rest: &'a Points,
    /// Every particle is wanted where it is at rest.
    targets: Vec<DVec3>,
    state: Vec<f64>,
    faults: Vec<String>,
    rng: Stream,
    /// How far random shapes are from the rest shape; anything goes without.
    reach: Option<f64>,
}

impl<'a, B: ConstraintBatch> Checker<'a, B> {
    fn new(batch: &'a B, rest: &'a Points, reach: Option<f64>) -> Self {
        let mut state = Vec::new();
        batch.initial_state(&mut state);
        let targets = rest.iter().collect();
        Checker { batch, rest, targets, state, faults: Vec::new(), rng: Stream::new(42), reach }
    }

    fn run(mut self) -> Result<(), Vec<String>> {
        if self.state.len() != self.batch.state_len() {
            self.fault("initial_state and state_len disagree");
        }
        self.rest_is_free();
        let shapes = self.shapes();
        // Batches with a potential beyond the distance have no set whose points would stay.
        let is_set = shapes.iter().all(|(_, x)| self.energy_is_distance(x));
        for (name, x) in &shapes {
            self.projection_is_finite(name, x);
            self.parts_agree_with_the_whole(name, x);
            if is_set {
                self.projection_is_idempotent(name, x);
            }
            self.gradient_is_derivative(name, x);
            self.inner_forces_balance(name, x);
            self.kernel_equals_rows(name, x);
            if self.reach.is_none() || ["rest", "moved", "random"].contains(name) {
                self.half_steps_descend(name, x);
            }
        }
        self.projection_is_nearest(&shapes);
        self.no_earlier_projection_is_better(&shapes);
        self.bytes_round_trip();
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults) }
    }

    fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(format!("{}: {}", self.batch.kind(), what.into()));
    }

    fn random(&mut self) -> f64 {
        2.0 * self.rng.unit() - 1.0
    }

    fn random_vector(&mut self) -> DVec3 {
        DVec3::new(self.random(), self.random(), self.random())
    }

    fn view<'v>(&'v self, shared: &'v [f64], x: &'v Points) -> View<'v> {
        View { x, state: &self.state, shared, targets: &self.targets }
    }

    fn with_view<T>(&self, x: &Points, f: impl FnOnce(View<'_>) -> T) -> T {
        let mut shared = vec![0.0; self.batch.shared_len()];
        self.batch.begin_iteration(x, &mut shared);
        f(self.view(&shared, x))
    }

    fn energy(&self, x: &Points) -> f64 {
        self.with_view(x, |v| self.batch.energy(v))
    }

    fn project(&self, x: &Points) -> Points {
        let mut p = Points::zeros(self.batch.rows().len());
        self.with_view(x, |v| {
            self.batch.project(0..self.batch.rows().elements(), v, &mut p.columns_mut());
        });
        p
    }

    fn apply_rows(&self, x: &Points) -> Points {
        let mut extra = Points::zeros(self.batch.auxiliary_unknowns());
        self.batch.auxiliary_values(x, &mut extra);
        (0..self.batch.rows().len()).map(|r| self.batch.rows().apply(r, x, &extra)).collect()
    }

    /// Elements that are projected for themselves, or all of them where a reduction ties them together.
    fn parts(&self) -> Vec<std::ops::Range<usize>> {
        let count = self.batch.rows().elements();
        let together = if self.batch.shared_len() == 0 { 1 } else { count.max(1) };
        (0..count).step_by(together).map(|e| e..e + together).collect()
    }

    fn energy_is_distance(&self, x: &Points) -> bool {
        let (rows, at, p) = (self.batch.rows(), self.apply_rows(x), self.project(x));
        let distance: f64 =
            (0..rows.len()).map(|r| 0.5 * rows.weights()[r] * (at.get(r) - p.get(r)).length_squared()).sum();
        let tolerance = 1e-9 * distance + self.rounding(0..rows.len(), x);
        (self.energy(x) - distance).abs() <= tolerance + 1e-12 * rows.weights().iter().sum::<f64>()
    }

    /// What rounding can change of Σ w ‖A x − p‖² over some rows, beyond its own digits.
    fn rounding(&self, range: std::ops::Range<usize>, x: &Points) -> f64 {
        let rows = self.batch.rows();
        let particles = |r: usize| rows.row(r).filter(|(c, _)| *c < AUXILIARY);
        let terms = |r: usize| particles(r).map(|(c, a)| a.abs() * x.get(c as usize).length()).sum::<f64>();
        range.map(|r| rows.weights()[r] * (1e-11 * terms(r)).powi(2)).sum()
    }

    fn shapes(&mut self) -> Vec<(&'static str, Points)> {
        let turn = DQuat::from_scaled_axis(DVec3::new(1.0, 2.0, -0.5));
        let map = |f: &mut dyn FnMut(DVec3) -> DVec3| self.rest.iter().map(f).collect::<Points>();
        let mut list = vec![
            ("rest", map(&mut |p| p)),
            ("moved", map(&mut |p| turn * p + DVec3::new(3.0, -1.0, 2.0))),
            ("stretched", map(&mut |p| p * DVec3::new(2.0, 1.0, 0.7))),
            ("mirrored", map(&mut |p| p * DVec3::new(-1.0, 1.0, 1.0))),
            ("flat", map(&mut |p| p * DVec3::new(1.0, 0.0, 1.0))),
            ("line", map(&mut |p| p * DVec3::new(0.0, 1.0, 0.0))),
            ("point", map(&mut |_| DVec3::ONE)),
            ("huge", map(&mut |p| p * 1e12)),
            ("tiny", map(&mut |p| p * 1e-160)),
        ];
        for _ in 0..12 {
            let noise: Vec<DVec3> = (0..self.rest.len()).map(|_| self.random_vector()).collect();
            let near = |p: DVec3, d: DVec3| self.reach.map_or(d * 3.0, |reach| p + d * reach);
            list.push(("random", self.rest.iter().zip(&noise).map(|(p, d)| near(p, *d)).collect()));
        }
        list
    }

    fn rest_is_free(&mut self) {
        let promises = self.batch.properties();
        let scale: f64 = self.batch.rows().weights().iter().sum::<f64>() * (1.0 + size(self.rest)).powi(2);
        if promises.rest_is_free && self.energy(self.rest) > 1e-20 * scale {
            self.fault(format!("the rest shape has energy {}", self.energy(self.rest)));
        }
        if promises.rest_is_free && promises.rigid_invariant {
            let q = DQuat::from_scaled_axis(self.random_vector() * 2.0);
            let t = self.random_vector();
            let moved: Points = self.rest.iter().map(|p| q * p + t).collect();
            if self.energy(&moved) > 1e-20 * scale {
                self.fault(format!("the moved rest shape has energy {}", self.energy(&moved)));
            }
        }
        if promises.sees_reflection && promises.rigid_invariant {
            let mirrored: Points = self.rest.iter().map(|p| p * DVec3::new(1.0, 1.0, -1.0)).collect();
            if self.energy(&mirrored) <= 1e-12 * scale {
                self.fault("declares to see reflections, but the mirrored rest shape has no energy");
            }
        }
    }

    fn projection_is_finite(&mut self, name: &str, x: &Points) {
        if let Some(row) = self.project(x).first_non_finite() {
            self.fault(format!("projection of the {name} shape is not finite in row {row}"));
        }
    }

    /// Solvers project in chunks: each must write what belongs to it at the beginning of its part.
    fn parts_agree_with_the_whole(&mut self, name: &str, x: &Points) {
        let rows = self.batch.rows();
        let whole = self.project(x);
        for e in 0..rows.elements() {
            for elements in [e..e + 1, e..rows.elements()] {
                let range = rows.of_elements(elements.clone());
                let mut part = Points::zeros(range.len());
                self.with_view(x, |v| self.batch.project(elements, v, &mut part.columns_mut()));
                if range.clone().any(|r| part.get(r - range.start) != whole.get(r)) {
                    self.fault(format!(
                        "elements from {e} on of the {name} shape differ when projected alone"
                    ));
                    return;
                }
            }
        }
    }

    /// Finds a shape whose differences are the projection, and projects that.
    fn projection_is_idempotent(&mut self, name: &str, x: &Points) {
        let p = self.project(x);
        let Some(y) = self.realise(&p, x) else { return };
        let again = self.project(&y);
        let off = (0..p.len()).map(|r| (p.get(r) - again.get(r)).length()).fold(0.0, f64::max);
        if off > 1e-6 * (1.0 + size(&p)) {
            self.fault(format!("projecting the projected {name} shape moves it by {off}"));
        }
    }

    /// Particles with A y = p by conjugate gradients on the normal equations; `None` where the
    /// projections of neighbours contradict each other.
    fn realise(&self, p: &Points, start: &Points) -> Option<Points> {
        let rows = self.batch.rows();
        let (n, extra) = (start.len(), self.batch.auxiliary_unknowns());
        let index = |c: u32| {
            if c < AUXILIARY { c as usize } else { n + (c - AUXILIARY) as usize }
        };
        let forward = |y: &[DVec3]| -> Vec<DVec3> {
            (0..rows.len()).map(|r| rows.row(r).map(|(c, a)| y[index(c)] * a).sum()).collect()
        };
        let backward = |r: &[DVec3]| -> Vec<DVec3> {
            let mut y = vec![DVec3::ZERO; n + extra];
            for (k, v) in r.iter().enumerate() {
                rows.row(k).for_each(|(c, a)| y[index(c)] += *v * a);
            }
            y
        };
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let mut y = vec![DVec3::ZERO; n + extra];
        let mut residual: Vec<DVec3> = p.iter().collect();
        let mut gradient = backward(&residual);
        let mut direction = gradient.clone();
        let mut norm = dot(&gradient, &gradient);
        for _ in 0..20 * (n + extra) {
            let image = forward(&direction);
            let curvature = dot(&image, &image);
            if curvature <= 0.0 || norm <= 1e-28 * (1.0 + size(p)).powi(2) {
                break;
            }
            let step = norm / curvature;
            y.iter_mut().zip(&direction).for_each(|(y, d)| *y += *d * step);
            residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= *i * step);
            gradient = backward(&residual);
            let next = dot(&gradient, &gradient);
            direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = *g + *d * (next / norm));
            norm = next;
        }
        let worst = residual.iter().map(|r| r.length()).fold(0.0, f64::max);
        (worst < 1e-9 * (1.0 + size(p))).then(|| y.into_iter().take(n).collect())
    }

    fn projection_is_nearest(&mut self, shapes: &[(&'static str, Points)]) {
        if !self.batch.properties().exact_nearest {
            return;
        }
        let rows = self.batch.rows().clone();
        let targets: Vec<Points> = shapes.iter().map(|(_, x)| self.project(x)).collect();
        for ((name, x), own) in shapes.iter().zip(&targets) {
            let at = self.apply_rows(x);
            for elements in self.parts() {
                let e = elements.start;
                let distance = |p: &Points, turn: DMat3| -> f64 {
                    rows.of_elements(elements.clone())
                        .map(|r| rows.weights()[r] * (at.get(r) - turn * p.get(r)).length_squared())
                        .sum()
                };
                let best = distance(own, DMat3::IDENTITY);
                let others: Vec<f64> = targets.iter().map(|t| distance(t, DMat3::IDENTITY)).collect();
                // Sets that do not mind rigid motions contain every turned copy as well.
                let turned: Vec<f64> = if self.batch.properties().rigid_invariant {
                    let turns: Vec<_> =
                        (0..30).map(|k| self.random_vector() * if k % 2 == 0 { 3.0 } else { 0.01 }).collect();
                    turns
                        .iter()
                        .map(|t| distance(own, DMat3::from_quat(DQuat::from_scaled_axis(*t))))
                        .collect()
                } else {
                    Vec::new()
                };
                let tolerance = 1e-7 * (1e-300 + best)
                    + 1e-12 * (1.0 + size(&at)).powi(2)
                    + self.rounding(rows.of_elements(elements.clone()), x);
                if let Some(nearer) = others.iter().chain(&turned).find(|d| **d < best - tolerance) {
                    let text = format!("element {e} of the {name} shape: {nearer} is nearer than {best}");
                    self.fault(text);
                    return;
                }
            }
        }
    }

    fn gradient_is_derivative(&mut self, name: &str, x: &Points) {
        // Only where the energy is smooth: at degenerate shapes the nearest point is not unique.
        if !["rest", "moved", "stretched", "random"].contains(&name)
            || (name == "stretched" && self.reach.is_some())
        {
            return;
        }
        let mut gradient = Points::zeros(x.len());
        self.with_view(x, |v| self.batch.add_gradient(v, &mut gradient));
        let direction: Vec<DVec3> = (0..x.len()).map(|_| self.random_vector()).collect();
        let step = 1e-6;
        let moved = |s: f64| x.iter().zip(&direction).map(|(p, d)| p + *d * s).collect::<Points>();
        let slope = (self.energy(&moved(step)) - self.energy(&moved(-step))) / (2.0 * step);
        let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| g.dot(*d)).sum();
        let scale = self.batch.rows().weights().iter().sum::<f64>() * (1.0 + size(x));
        if (slope - expected).abs() > 1e-4 * scale {
            self.fault(format!("gradient of the {name} shape is {expected}, differences say {slope}"));
        }
    }

    fn bytes_round_trip(&mut self) {
        let bytes = self.batch.encode();
        match B::decode(&bytes) {
            Err(_) => self.fault("does not read its own bytes"),
            Ok(copy) => {
                if copy.encode() != bytes || copy.rows() != self.batch.rows() {
                    self.fault("is not the same after writing and reading");
                }
            }
        }
        if (0..bytes.len()).step_by(8).any(|cut| B::decode(&bytes[..cut]).is_ok()) {
            self.fault("accepts bytes that were cut off");
        }
    }
}

fn size(points: &Points) -> f64 {
    points.iter().map(|p| p.length()).fold(0.0, f64::max)
}
