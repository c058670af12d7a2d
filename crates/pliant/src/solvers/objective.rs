//! The objective of an implicit step (projective-dynamics, eq. 8), its value and its gradient:
//!
//! > E(q) = ½ Σ m/h² ‖q − s‖² + Σ ½ w ‖A q − p(q)‖²,
//!
//! and what batches have beside the distances (the potential of a gas). Projections are at their optimum, so they drop out of the gradient. What is held is the displacement d = q − s from
//! the prediction: inertia and velocities follow from it without cancellation, so momentum is conserved to
//! the rounding of d, and free fall is exact.

use super::assembly::Assembly;
use super::unknowns::{Inertia, Unknowns};
use crate::constraints::{PaddedVector, View};
use crate::dofs::{Dof, DofMap};
use crate::model::BodyModel;
use crate::points::Points;
use crate::team::{Pieces, Team};
use glam::DVec3;
use pliant_math::lanes::Isa;

/// Unknowns per chunk of plain loops.
pub(crate) const CHUNK: usize = 1024;

/// Who computes: the threads and the instruction set.
pub(crate) type Executor<'a> = (&'a Team, Isa);

/// What projections may look at besides positions.
#[derive(Clone, Copy)]
pub(crate) struct ProjectionInputs<'a> {
    /// What the batches remember from earlier steps, and where each one's memory begins.
    pub memory: &'a [f64],
    pub offsets: &'a [usize],
    /// Where pinned particles are wanted.
    pub targets: &'a [DVec3],
}

/// E of a body, at present positions that can be moved.
#[derive(Clone, Debug)]
pub(crate) struct Objective {
    assembly: Assembly,
    scales: Vec<f64>,
    /// M/h², and its diagonal by unknown.
    inertia: Inertia,
    inertia_of_unknown: Vec<f64>,
    /// One over the size of the body, squared: what movements of particles are measured by; 0 for other unknowns.
    per_size: Vec<f64>,
    /// Prediction, displacement from it, and present position of every place.
    s: Vec<PaddedVector>,
    displacement: Vec<PaddedVector>,
    q: Vec<PaddedVector>,
    /// The present positions by particle, for batches that look at them so.
    points: Points,
    auxiliary: Vec<Points>,
    shared: Vec<Vec<f64>>,
    /// −∇E; x, y and z columns one after the other.
    descent: Vec<f64>,
    /// Where chunks of unknowns end, and per chunk: inertial energy, squared movement.
    ends: Vec<usize>,
    sums: Vec<f64>,
}

impl Objective {
    /// `unknowns` in the order the linear solver wants them.
    pub fn new(model: &BodyModel, unknowns: Unknowns, scales: &[f64], h: f64, diameter: f64) -> Objective {
        let assembly = Assembly::new(model, unknowns);
        let inertia = Inertia::new(model, h);
        let (n, places) = (assembly.unknowns().count, assembly.place_count());
        let by_unknown =
            |of: &dyn Fn(usize) -> f64| (0..n).map(|u| assembly.particle(u).map_or(0.0, of)).collect();
        Objective {
            inertia_of_unknown: by_unknown(&|i| inertia.each[i]),
            per_size: by_unknown(&|_| diameter.powi(-2)),
            scales: scales.to_vec(),
            s: vec![[0.0; 4]; places],
            displacement: vec![[0.0; 4]; places],
            q: vec![[0.0; 4]; places],
            points: Points::zeros(model.particle_count()),
            auxiliary: model.batches.iter().map(|b| Points::zeros(b.batch.auxiliary_unknowns())).collect(),
            shared: model.batches.iter().map(|b| vec![0.0; b.batch.shared_len()]).collect(),
            descent: vec![0.0; 3 * n],
            sums: vec![0.0; n.div_ceil(CHUNK)],
            ends: (1..=n.div_ceil(CHUNK)).map(|c| (c * CHUNK).min(n)).collect(),
            inertia,
            assembly,
        }
    }

    /// Other stiffnesses of the same batches.
    pub fn rescale(&mut self, scales: &[f64]) {
        self.scales.copy_from_slice(scales);
    }

    pub fn dofs(&self) -> &DofMap {
        &self.assembly.unknowns().dofs
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.inertia_of_unknown.len()
    }

    /// Begins a substep at the prediction `s`, in which prescribed particles are where they will be;
    /// combined ones are put where their parents are.
    pub fn begin(&mut self, model: &BodyModel, s: &mut Points) {
        for (place, at) in self.s.iter_mut().enumerate() {
            if let Some(i) = self.assembly.particle(place) {
                let s = s.get(i);
                *at = [s.x, s.y, s.z, 0.0];
            }
        }
        self.assembly.complete(model, s, &mut self.auxiliary, &mut self.s);
        self.q.copy_from_slice(&self.s);
        self.displacement.fill([0.0; 4]);
        self.points.copy_from(s);
    }

    /// Starts from other positions than the prediction.
    pub fn start_at(&mut self, x: &Points) {
        for (place, displacement) in self.displacement.iter_mut().enumerate().take(self.descent.len() / 3) {
            if let Some(i) = self.assembly.particle(place) {
                let d = x.get(i) - vector(self.s[place]);
                *displacement = [d.x, d.y, d.z, 0.0];
            }
        }
        self.settle();
    }

    /// Puts auxiliary unknowns where they have least energy at the present positions.
    pub fn settle_auxiliary(&mut self, model: &BodyModel) {
        self.read_all();
        self.assembly.complete(model, &mut self.points, &mut self.auxiliary, &mut self.q);
        for place in (0..self.len()).filter(|place| self.assembly.particle(*place).is_none()) {
            let d = vector(self.q[place]) - vector(self.s[place]);
            self.displacement[place] = [d.x, d.y, d.z, 0.0];
        }
    }

    /// Makes the positions follow the displacements.
    fn settle(&mut self) {
        for ((q, s), displacement) in self.q.iter_mut().zip(&self.s).zip(&self.displacement) {
            *q = [s[0] + displacement[0], s[1] + displacement[1], s[2] + displacement[2], 0.0];
        }
        self.finish_move();
    }

    fn finish_move(&mut self) {
        self.assembly.combine(&mut self.displacement);
        self.assembly.combine(&mut self.q);
        if self.assembly.is_plain() {
            self.read_all();
        }
    }

    fn read_all(&mut self) {
        for (place, q) in self.q.iter().enumerate() {
            if let Some(i) = self.assembly.particle(place) {
                self.points.set(i, vector(*q));
            }
        }
    }

    /// E at the present positions; its descent direction −∇E is in [`Objective::descent`] afterwards.
    pub fn evaluate(
        &mut self,
        model: &BodyModel,
        around: ProjectionInputs<'_>,
        (team, isa): Executor<'_>,
    ) -> f64 {
        for (b, shared) in model.batches.iter().zip(&mut self.shared).filter(|(_, s)| !s.is_empty()) {
            b.batch.begin_iteration(&self.points, shared);
        }
        let view = views(&self.points, &self.shared, around);
        let mut elastic = self.assembly.forces(model, &self.scales, &self.q, (team, isa), view);
        for (b, (batch, shared)) in model.batches.iter().zip(&self.shared).enumerate() {
            if self.scales[b] > 0.0 && !shared.is_empty() {
                elastic += self.scales[b] * batch.batch.potential(shared);
            }
        }
        let (assembly, inertia, displacement) =
            (&self.assembly, &self.inertia_of_unknown, &self.displacement);
        let [x, y, z] = columns(&mut self.descent).map(|c| Pieces(c, &self.ends));
        team.split(((x, y), (z, &mut self.sums[..])), 1, |range, ((x, y), (z, energy))| {
            let first = if range.start == 0 { 0 } else { self.ends[range.start - 1] };
            let mut sum = 0.0;
            for (k, ((x, y), z)) in x.iter_mut().zip(y).zip(z).enumerate() {
                let (f, m, d) = (assembly.force(first + k), inertia[first + k], &displacement[first + k]);
                sum += m * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
                (*x, *y, *z) = (f[0] - m * d[0], f[1] - m * d[1], f[2] - m * d[2]);
            }
            energy[0] = sum;
        });
        let mut combined =
            assembly.gather_combined(&self.inertia.each, displacement, columns(&mut self.descent));
        if !self.inertia.coupled.is_empty() {
            combined -= self.add_coupled_inertia();
        }
        elastic + 0.5 * (self.sums.iter().sum::<f64>() + combined)
    }

    /// What batches may look at, as of the last evaluation.
    pub fn views<'a>(&'a mut self, around: ProjectionInputs<'a>) -> impl Fn(usize) -> View<'a> + Sync + 'a {
        self.read_all();
        views(&self.points, &self.shared, around)
    }

    /// Adds what neighbours' masses have in common to −∇E; returns twice its energy.
    fn add_coupled_inertia(&mut self) -> f64 {
        let Objective { assembly, inertia, displacement, descent, .. } = self;
        let [x, y, z] = columns(descent);
        let n = x.len();
        let mut energy = 0.0;
        for &(i, j, m) in &inertia.coupled {
            let (Some(i), Some(j)) = (assembly.place(i as usize), assembly.place(j as usize)) else {
                continue;
            };
            let d = vector(displacement[i]) - vector(displacement[j]);
            energy += m * d.length_squared();
            for (u, sign) in [(i, m), (j, -m)] {
                if u < n {
                    (x[u], y[u], z[u]) = (x[u] + sign * d.x, y[u] + sign * d.y, z[u] + sign * d.z);
                }
            }
        }
        energy
    }

    /// −∇E as of the last evaluation; x, y and z columns one after the other.
    pub fn descent(&self) -> &[f64] {
        &self.descent
    }

    /// Σ ‖∇E‖² over the unknowns.
    pub fn gradient_squared(&self) -> f64 {
        self.descent.iter().map(|g| g * g).sum()
    }

    /// Moves the unknowns by `step` (columns); returns the largest movement, relative to the size of the body.
    pub fn move_by(&mut self, step: &[f64], team: &Team) -> f64 {
        let n = self.len();
        let (s, per_size) = (&self.s, &self.per_size);
        let [x, y, z] = [&step[..n], &step[n..2 * n], &step[2 * n..]];
        let (displacement, q) = (&mut self.displacement[..n], &mut self.q[..n]);
        let data = ((Pieces(displacement, &self.ends), Pieces(q, &self.ends)), &mut self.sums[..]);
        team.split(data, 1, |range, ((displacement, q), moved)| {
            let first = if range.start == 0 { 0 } else { self.ends[range.start - 1] };
            let mut largest = 0.0_f64;
            for (k, (displacement, q)) in displacement.iter_mut().zip(q).enumerate() {
                let u = first + k;
                let (a, b, c) = (x[u], y[u], z[u]);
                largest = largest.max((a * a + b * b + c * c) * per_size[u]);
                *displacement = [displacement[0] + a, displacement[1] + b, displacement[2] + c, 0.0];
                *q = [s[u][0] + displacement[0], s[u][1] + displacement[1], s[u][2] + displacement[2], 0.0];
            }
            moved[0] = largest;
        });
        self.finish_move();
        self.sums.iter().copied().fold(0.0, f64::max).sqrt()
    }

    /// The displacements of all unknowns, to be kept and returned to.
    pub fn displacements(&self) -> &[PaddedVector] {
        &self.displacement
    }

    /// Returns to displacements that were kept, or goes to ones made of them.
    pub fn set_displacements(&mut self, displacements: &[PaddedVector]) {
        self.displacement.copy_from_slice(displacements);
        self.settle();
    }

    /// d = q − s of a particle; zero for prescribed ones.
    pub fn displacement(&self, particle: usize) -> DVec3 {
        self.assembly.place(particle).map_or(DVec3::ZERO, |place| vector(self.displacement[place]))
    }

    /// Where a particle is.
    #[inline]
    pub fn position(&self, particle: usize) -> DVec3 {
        self.assembly.place(particle).map_or_else(|| self.points.get(particle), |p| vector(self.q[p]))
    }

    /// Puts a particle somewhere else.
    pub fn put(&mut self, particle: usize, at: DVec3) {
        if let (Some(place), Dof::Free(_)) = (self.assembly.place(particle), self.dofs().get(particle)) {
            let d = at - vector(self.s[place]);
            (self.displacement[place], self.q[place]) = ([d.x, d.y, d.z, 0.0], [at.x, at.y, at.z, 0.0]);
            self.points.set(particle, at);
        }
    }

    /// The present positions by particle.
    pub fn read(&mut self) -> &Points {
        self.read_all();
        &self.points
    }
}

fn views<'a>(
    x: &'a Points,
    shared: &'a [Vec<f64>],
    around: ProjectionInputs<'a>,
) -> impl Fn(usize) -> View<'a> + Sync + 'a {
    move |b| View {
        x,
        state: &around.memory[around.offsets[b]..around.offsets[b + 1]],
        shared: &shared[b],
        targets: around.targets,
    }
}

pub(crate) fn vector(p: PaddedVector) -> DVec3 {
    DVec3::new(p[0], p[1], p[2])
}

/// The x, y and z columns of a solve.
pub(crate) fn columns(all: &mut [f64]) -> [&mut [f64]; 3] {
    let n = all.len() / 3;
    let (x, yz) = all.split_at_mut(n);
    let (y, z) = yz.split_at_mut(n);
    [x, y, z]
}
