//! The linear system of the global step, in terms of the way δ = q − s from the prediction s:
//!
//! > (M/h² + Σ w AᵀA) δ = Σ w Aᵀ (p − A s).
//!
//! Inertia has no right-hand side in this form, prescribed particles have none either (they are where
//! s puts them), and all numbers are as small as the deformation, wherever the body is: momentum is
//! conserved to the rounding of δ, and free fall is exact.

use crate::constraints::{AUXILIARY, View};
use crate::dofs::{Dof, DofMap};
use crate::model::Model;
use crate::points::Points;
use crate::solvers::{SolverError, SolverKind};
use crate::team::Team;
use glam::DVec3;
use pliant_linalg::{Scratch, SparseSpd, SymmetricBuilder, SymmetricMatrix};
use std::ops::Range;

/// Elements per chunk of the local step, unknowns per chunk of the right-hand side.
const CHUNK: usize = 256;

/// A chunk of the local step.
#[derive(Debug)]
struct Task {
    batch: usize,
    elements: Range<usize>,
}

#[derive(Debug)]
pub(super) struct System {
    dofs: DofMap,
    unknowns: usize,
    /// Particles that are made of unknowns, in order, with m/h².
    moving: Vec<(u32, f64)>,
    tasks: Vec<Task>,
    /// Where each task's rows end, for cutting `p`.
    task_ends: Vec<usize>,
    /// Row entries by unknown, without and with weights: `gather_ends[u]..gather_ends[u + 1]`.
    gather_ends: Vec<u32>,
    gather_rows: Vec<u32>,
    gather_coefficients: Vec<f64>,
    /// w · coefficient, remade when stiffness changes.
    gather_weighted: Vec<f64>,
    row_weights: Vec<f64>,
    /// A s for all rows, and p − A s.
    predicted: Points,
    p: Points,
    /// Auxiliary unknowns at s, per batch.
    auxiliary: Vec<Points>,
    /// Batches with any stiffness; the others have no rows at all, which keeps the matrix sparse.
    active: Vec<bool>,
    factor: SparseSpd,
    scratch: Scratch,
    /// Right-hand side as assembled, and the solution; x, y and z columns one after the other.
    rhs: Vec<f64>,
    solution: Vec<f64>,
}

impl System {
    pub fn new(model: &Model, scales: &[f64]) -> Result<System, SolverError> {
        let dofs = DofMap::of_solver(model, SolverKind::Projective);
        System::with_dofs(model, scales, dofs)
    }

    fn with_dofs(model: &Model, scales: &[f64], dofs: DofMap) -> Result<System, SolverError> {
        let h = model.params.substep();
        let moving = (0..model.particle_count())
            .filter(|&i| !matches!(dofs.get(i), Dof::Absent | Dof::Fixed))
            .map(|i| (i as u32, model.rest.mass[i] / (h * h)))
            .collect();
        let mut unknowns = dofs.unknowns();
        let mut entries: Vec<(u32, u32, f64)> = Vec::new(); // unknown, row, coefficient
        let (mut tasks, mut task_ends) = (Vec::new(), Vec::new());
        let mut first = 0;
        for (b, model_batch) in model.batches.iter().enumerate().filter(|(b, _)| scales[*b] > 0.0) {
            let rows = model_batch.batch.rows();
            let mut e = 0;
            while e < rows.elements() {
                // Whole elements, about CHUNK rows at a time: boundaries depend on the data only.
                let begin = e;
                while e < rows.elements() && (e == begin || rows.of_elements(begin..e).len() < CHUNK) {
                    e += 1;
                }
                for row in rows.of_elements(begin..e) {
                    for (column, c) in rows.row(row) {
                        let row = (first + row) as u32;
                        if column < AUXILIARY {
                            dofs.expand(column as usize, |u, w| entries.push((u, row, c * w)));
                        } else {
                            entries.push((unknowns as u32 + (column - AUXILIARY), row, c));
                        }
                    }
                }
                task_ends.push(first + rows.of_elements(begin..e).end);
                tasks.push(Task { batch: b, elements: begin..e });
            }
            first += rows.len();
            unknowns += model_batch.batch.auxiliary_unknowns();
        }
        entries.sort_by_key(|&(u, row, _)| (u, row));
        // An embedded particle and its parent may meet in one row.
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut gather_ends = vec![0u32; unknowns + 1];
        entries.iter().for_each(|&(u, _, _)| gather_ends[u as usize + 1] += 1);
        for u in 0..unknowns {
            gather_ends[u + 1] += gather_ends[u];
        }
        let mut system = System {
            unknowns,
            moving,
            tasks,
            task_ends,
            gather_ends,
            gather_rows: entries.iter().map(|e| e.1).collect(),
            gather_coefficients: entries.iter().map(|e| e.2).collect(),
            gather_weighted: vec![0.0; entries.len()],
            row_weights: vec![0.0; first],
            predicted: Points::zeros(first),
            p: Points::zeros(first),
            auxiliary: model.batches.iter().map(|b| Points::zeros(b.batch.auxiliary_unknowns())).collect(),
            active: scales.iter().map(|s| *s > 0.0).collect(),
            rhs: vec![0.0; 3 * unknowns],
            solution: vec![0.0; 3 * unknowns],
            factor: empty_factor()?,
            scratch: empty_factor()?.scratch(),
            dofs,
        };
        system.weigh(model, scales);
        system.factor = SparseSpd::factor(&system.matrix()).map_err(factor_error)?;
        system.scratch = system.factor.scratch();
        Ok(system)
    }

    /// Whether the same batches have rows under other stiffnesses.
    pub fn fits(&self, scales: &[f64]) -> bool {
        self.active.iter().zip(scales).all(|(active, scale)| *active == (*scale > 0.0))
    }

    /// New weights on the same rows: a numerical refactorisation with the ordering kept.
    pub fn rescale(&mut self, model: &Model, scales: &[f64]) -> Result<(), SolverError> {
        self.weigh(model, scales);
        self.factor.refactor(&self.matrix()).map_err(factor_error)
    }

    fn weigh(&mut self, model: &Model, scales: &[f64]) {
        let mut first = 0;
        for (b, scale) in model.batches.iter().zip(scales).filter(|(_, scale)| **scale > 0.0) {
            let weights = b.batch.rows().weights();
            for (w, own) in self.row_weights[first..].iter_mut().zip(weights) {
                *w = own * scale;
            }
            first += weights.len();
        }
        for (k, row) in self.gather_rows.iter().enumerate() {
            self.gather_weighted[k] = self.gather_coefficients[k] * self.row_weights[*row as usize];
        }
    }

    fn matrix(&self) -> SymmetricMatrix {
        let mut by_row: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.row_weights.len()];
        for u in 0..self.unknowns {
            for k in self.gather_ends[u] as usize..self.gather_ends[u + 1] as usize {
                by_row[self.gather_rows[k] as usize].push((u as u32, self.gather_coefficients[k]));
            }
        }
        let mut builder = SymmetricBuilder::new(self.unknowns);
        for &(i, inertia) in &self.moving {
            self.dofs.expand(i as usize, |u, wu| {
                self.dofs.expand(i as usize, |v, wv| {
                    if v <= u {
                        builder.add(u as usize, v as usize, inertia * wu * wv);
                    }
                });
            });
        }
        for (row, w) in by_row.iter().zip(&self.row_weights) {
            for (a, &(i, ci)) in row.iter().enumerate() {
                for &(j, cj) in &row[..=a] {
                    builder.add(i as usize, j as usize, w * ci * cj);
                }
            }
        }
        builder.build()
    }

    pub fn dofs(&self) -> &DofMap {
        &self.dofs
    }

    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    pub fn factor_len(&self) -> usize {
        self.factor.factor_len()
    }

    /// Begins a substep at the prediction `s`, in which prescribed particles are where they will be;
    /// combined ones are put where their parents are.
    pub fn begin_substep(&mut self, model: &Model, s: &mut Points) {
        for &(i, _) in &self.moving {
            if let Dof::Combined { parents, .. } = self.dofs.get(i as usize) {
                let at = parents.iter().map(|&(j, w)| s.get(j as usize) * w).sum();
                s.set(i as usize, at);
            }
        }
        let mut first = 0;
        for (k, auxiliary) in self.auxiliary.iter_mut().enumerate().filter(|(k, _)| self.active[*k]) {
            let b = &model.batches[k];
            b.batch.auxiliary_values(s, auxiliary);
            for row in 0..b.batch.rows().len() {
                self.predicted.set(first + row, b.batch.rows().apply(row, s, auxiliary));
            }
            first += b.batch.rows().len();
        }
    }

    /// Projects all constraints.
    pub fn local_step<'v>(&mut self, model: &Model, team: &Team, view: impl Fn(usize) -> View<'v> + Sync) {
        let (tasks, ends, predicted) = (&self.tasks, &self.task_ends, &self.predicted);
        team.split_at(&mut self.p, ends, |t, mut p| {
            let task = &tasks[t];
            model.batches[task.batch].batch.project(task.elements.clone(), view(task.batch), &mut p);
            let first = if t == 0 { 0 } else { ends[t - 1] };
            for k in 0..p.len() {
                p.set(k, p.get(k) - predicted.get(first + k));
            }
        });
    }

    /// Assembles the right-hand side and solves.
    pub fn global_step(&mut self, team: &Team) {
        let n = self.unknowns;
        let (ends, rows, weighted, p) =
            (&self.gather_ends, &self.gather_rows, &self.gather_weighted, &self.p);
        let (x, yz) = self.rhs.split_at_mut(n);
        let (y, z) = yz.split_at_mut(n);
        team.split((x, (y, z)), CHUNK, |range, (x, (y, z))| {
            for (k, u) in range.enumerate() {
                let mut sum = DVec3::ZERO;
                for e in ends[u] as usize..ends[u + 1] as usize {
                    sum += p.get(rows[e] as usize) * weighted[e];
                }
                (x[k], y[k], z[k]) = (sum.x, sum.y, sum.z);
            }
        });
        self.solution.copy_from_slice(&self.rhs);
        self.factor.solve(&mut self.solution, &mut self.scratch);
    }

    /// The base factor with its scratch memory, for the overlay.
    pub fn base(&mut self) -> (&SparseSpd, &mut Scratch) {
        (&self.factor, &mut self.scratch)
    }

    /// The solution columns as they are.
    pub fn solution(&self) -> [&[f64]; 3] {
        let n = self.unknowns;
        [&self.solution[..n], &self.solution[n..2 * n], &self.solution[2 * n..]]
    }

    /// Solves once more with forces on top of the assembled right-hand side.
    pub fn solve_with(&mut self, add: impl FnOnce([&mut [f64]; 3])) {
        self.solution.copy_from_slice(&self.rhs);
        let n = self.unknowns;
        let (x, yz) = self.solution.split_at_mut(n);
        let (y, z) = yz.split_at_mut(n);
        add([x, y, z]);
        self.factor.solve(&mut self.solution, &mut self.scratch);
    }

    /// Writes q = s + δ for a range of particles; returns the largest movement since the last iteration.
    pub fn read_positions(&self, particles: Range<usize>, s: &Points, q: &mut Points) -> f64 {
        let mut largest = 0.0_f64;
        for i in particles {
            // Prescribed particles are made of no unknowns: they stay where s has them.
            let to = s.get(i) + self.way(i);
            largest = largest.max((to - q.get(i)).length_squared());
            q.set(i, to);
        }
        largest.sqrt()
    }

    /// δ of one particle.
    pub fn way(&self, i: usize) -> DVec3 {
        let [x, y, z] = self.solution();
        let mut way = DVec3::ZERO;
        self.dofs.expand(i, |u, w| way += DVec3::new(x[u as usize], y[u as usize], z[u as usize]) * w);
        way
    }
}

fn empty_factor() -> Result<SparseSpd, SolverError> {
    SparseSpd::factor(&SymmetricBuilder::new(0).build()).map_err(factor_error)
}

fn factor_error(e: pliant_linalg::NotPositiveDefinite) -> SolverError {
    SolverError::Factor(e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    /// Three particles in a row; the middle one is embedded halfway between the others, the last is
    /// prescribed. The reduced solve must equal minimising over the one free particle by hand.
    #[test]
    fn combined_particles_fold_into_the_matrix() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
        let shape = pliant_geometry::shapes::Shape {
            points,
            measure: vec![1.0; 3],
            edges: vec![[0, 1], [1, 2]],
            ..Default::default()
        };
        let mut body = crate::Body::new("row", shape).projective();
        body.clusters = crate::Clustering::None;
        body.mass = 3.0;
        let simulation = Builder::new().substeps(1).body(body).build().unwrap();
        let model = simulation.model();
        let stiffness = 5000.0;
        let dofs = vec![Dof::Free(0), Dof::Free(0), Dof::Fixed];
        let dofs = DofMap::new(dofs, &[(1, vec![(0, 0.5), (2, 0.5)])]);
        let mut system = System::with_dofs(model, &[stiffness], dofs).unwrap();
        assert_eq!(system.unknowns(), 1);

        // Stretched to twice its length: s = (0, ·, 4).
        let mut s: Points = [DVec3::ZERO, DVec3::splat(9.0), DVec3::X * 4.0].into_iter().collect();
        system.begin_substep(model, &mut s);
        assert_eq!(s.get(1), DVec3::X * 2.0, "the embedded particle goes between its parents");
        let view = View { x: &s, state: &[], shared: &[], placements: &[] };
        let team = Team::serial();
        system.local_step(model, &team, |_| view);
        system.global_step(&team);
        let mut q = s.clone();
        system.read_positions(0..3, &s, &mut q);

        // By hand: x₀ = d, x₁ = (d + 4)/2. Both edges want length 1 along x: with measures 1 + ½ and
        // ½ + 1, minimise ½·3600 (d² + (d/2)²) + ½ k 1.5 [((4 − d)/2 − 1)² + ((4 − d)/2 − 1)²].
        let inertia = 3600.0 * 1.25;
        let spring = stiffness * 1.5 * 2.0 * 0.25;
        let d = spring * 2.0 / (inertia + spring);
        assert!((q.get(0) - DVec3::X * d).length() < 1e-12, "{} instead of {d}", q.get(0));
        assert!((q.get(1) - DVec3::X * (d + 4.0) * 0.5).length() < 1e-12);
        assert_eq!(q.get(2), DVec3::X * 4.0);
    }
}
