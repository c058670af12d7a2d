//! The linear system of the global step: rows of all constraints and of inertia over the unknowns.
//!
//! Inertia ‖q − s‖² m/h² is treated as one more row per particle, so that matrix Σ w aᵀa and
//! right-hand side Σ w aᵀ(p − constants) come from one list of rows. Prescribed particles are
//! constants of a row; combined ones expand into their parents.

use crate::constraints::{AUXILIARY, View};
use crate::dofs::{Dof, DofMap};
use crate::model::Model;
use crate::points::Points;
use crate::solvers::{SolverError, SolverKind};
use crate::team::Team;
use pliant_linalg::{Scratch, SparseSpd, SymmetricBuilder, SymmetricMatrix};
use std::ops::Range;

/// Elements per chunk of the local step, unknowns per chunk of the right-hand side.
const CHUNK: usize = 256;

/// A chunk of the local step.
#[derive(Debug)]
struct Task {
    batch: usize,
    elements: Range<usize>,
    /// Entries of `System::constants` that belong to its rows.
    constants: Range<usize>,
}

/// A row's coefficient on a particle (or the fixed part of one) that is not an unknown.
#[derive(Clone, Copy, Debug)]
struct Constant {
    row: u32,
    particle: u32,
    coefficient: f64,
}

#[derive(Debug)]
pub(super) struct System {
    dofs: DofMap,
    unknowns: usize,
    /// Particles with an inertia row, in order; row k belongs to the k-th.
    inertia: Vec<u32>,
    tasks: Vec<Task>,
    /// Rows begin after the inertia rows; where each task's rows end, for cutting `p`.
    task_ends: Vec<usize>,
    constants: Vec<Constant>,
    inertia_constants: usize,
    /// Row entries by unknown, without and with weights: `gather_ends[u]..gather_ends[u + 1]`.
    gather_ends: Vec<u32>,
    gather_rows: Vec<u32>,
    gather_coefficients: Vec<f64>,
    /// w · coefficient, remade when stiffness changes.
    gather_weighted: Vec<f64>,
    row_weights: Vec<f64>,
    /// Nearest points (minus constants) of all rows.
    p: Points,
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
        let inertia: Vec<u32> = (0..model.particle_count())
            .filter(|&i| !matches!(dofs.get(i), Dof::Absent | Dof::Fixed))
            .map(|i| i as u32)
            .collect();
        let mut unknowns = dofs.unknowns();
        let mut entries: Vec<(u32, u32, f64)> = Vec::new(); // unknown, row, coefficient
        let mut constants = Vec::new();
        let mut add = |row: usize, i: u32, c: f64, constants: &mut Vec<Constant>| {
            dofs.expand(i as usize, |u, w| entries.push((u, row as u32, c * w)));
            if matches!(dofs.get(i as usize), Dof::Fixed | Dof::Combined { .. }) {
                constants.push(Constant {
                    row: row as u32,
                    particle: i,
                    coefficient: c,
                });
            }
        };
        for (row, &i) in inertia.iter().enumerate() {
            add(row, i, 1.0, &mut constants);
        }
        let inertia_constants = constants.len();
        let mut auxiliary_entries = Vec::new();
        let (mut tasks, mut task_ends) = (Vec::new(), Vec::new());
        let mut first = inertia.len();
        for (b, model_batch) in model.batches.iter().enumerate() {
            let rows = model_batch.batch.rows();
            let mut e = 0;
            while e < rows.elements() {
                // Whole elements, about CHUNK rows at a time: boundaries depend on the data only.
                let begin = e;
                while e < rows.elements() && (e == begin || rows.of_elements(begin..e).len() < CHUNK) {
                    e += 1;
                }
                let before = constants.len();
                for row in rows.of_elements(begin..e) {
                    for (column, c) in rows.row(row) {
                        if column < AUXILIARY {
                            add(first + row, column, c, &mut constants);
                        } else {
                            let u = unknowns as u32 + (column - AUXILIARY);
                            auxiliary_entries.push((u, (first + row) as u32, c));
                        }
                    }
                }
                task_ends.push(first + rows.of_elements(begin..e).end);
                tasks.push(Task {
                    batch: b,
                    elements: begin..e,
                    constants: before..constants.len(),
                });
            }
            first += rows.len();
            unknowns += model_batch.batch.auxiliary_unknowns();
        }
        entries.extend(auxiliary_entries);
        entries.sort_by_key(|&(u, row, _)| (u, row));
        let mut gather_ends = vec![0u32; unknowns + 1];
        entries
            .iter()
            .for_each(|&(u, _, _)| gather_ends[u as usize + 1] += 1);
        for u in 0..unknowns {
            gather_ends[u + 1] += gather_ends[u];
        }
        let mut system = System {
            unknowns,
            inertia,
            tasks,
            task_ends,
            constants,
            inertia_constants,
            gather_ends,
            gather_rows: entries.iter().map(|e| e.1).collect(),
            gather_coefficients: entries.iter().map(|e| e.2).collect(),
            gather_weighted: vec![0.0; entries.len()],
            row_weights: vec![0.0; first],
            p: Points::zeros(first),
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

    /// New weights on the same rows: a numerical refactorisation with the ordering kept.
    pub fn rescale(&mut self, model: &Model, scales: &[f64]) -> Result<(), SolverError> {
        self.weigh(model, scales);
        self.factor.refactor(&self.matrix()).map_err(factor_error)
    }

    fn weigh(&mut self, model: &Model, scales: &[f64]) {
        let h = model.params.substep();
        for (w, &i) in self.row_weights.iter_mut().zip(&self.inertia) {
            *w = model.rest.mass[i as usize] / (h * h);
        }
        let mut first = self.inertia.len();
        for (b, scale) in model.batches.iter().zip(scales) {
            let weights = b.batch.rows().weights();
            for (w, own) in self.row_weights[first..].iter_mut().zip(weights) {
                *w = own * scale;
            }
            first += weights.len();
            // A batch scaled to nothing would leave its auxiliary unknowns without an equation. A
            // trace of weight keeps them defined; particles do not feel it.
            if *scale == 0.0 && b.batch.auxiliary_unknowns() > 0 {
                let range = first - weights.len()..first;
                for (w, own) in self.row_weights[range].iter_mut().zip(weights) {
                    *w = own * 1e-9;
                }
            }
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

    /// Sets the wanted values of the inertia rows to `s`, which also holds the places of prescribed
    /// particles.
    pub fn begin_substep(&mut self, s: &Points) {
        for (row, &i) in self.inertia.iter().enumerate() {
            self.p.set(row, s.get(i as usize));
        }
        // What prescribed particles contribute to a row moves to its right-hand side.
        for c in &self.constants[..self.inertia_constants] {
            let constant = fixed_part(&self.dofs, c.particle, s) * c.coefficient;
            self.p.set(c.row as usize, self.p.get(c.row as usize) - constant);
        }
    }

    /// Projects all constraints.
    pub fn local_step<'v>(&mut self, model: &Model, team: &Team, view: impl Fn(usize) -> View<'v> + Sync) {
        let (tasks, constants, dofs, ends) = (&self.tasks, &self.constants, &self.dofs, &self.task_ends);
        let inertia = self.inertia.len();
        team.split_at(&mut self.p, ends, |t, mut p| {
            let task = &tasks[t];
            let view = view(task.batch);
            // The first piece begins with the inertia rows, which stay as they are.
            let (skip, base) = if t == 0 { (inertia, 0) } else { (0, ends[t - 1]) };
            let mut rows = crate::points::PointsMut {
                x: &mut p.x[skip..],
                y: &mut p.y[skip..],
                z: &mut p.z[skip..],
            };
            model.batches[task.batch]
                .batch
                .project(task.elements.clone(), view, &mut rows);
            for c in &constants[task.constants.clone()] {
                let k = c.row as usize - base;
                p.set(k, p.get(k) - fixed_part(dofs, c.particle, view.x) * c.coefficient);
            }
        });
    }

    /// Assembles the right-hand side and solves.
    pub fn global_step(&mut self, team: &Team) {
        let n = self.unknowns;
        let (ends, rows, weighted, p) = (
            &self.gather_ends,
            &self.gather_rows,
            &self.gather_weighted,
            &self.p,
        );
        let (x, yz) = self.rhs.split_at_mut(n);
        let (y, z) = yz.split_at_mut(n);
        team.split((x, (y, z)), CHUNK, |range, (x, (y, z))| {
            for (k, u) in range.enumerate() {
                let mut sum = glam::DVec3::ZERO;
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
        [
            &self.solution[..n],
            &self.solution[n..2 * n],
            &self.solution[2 * n..],
        ]
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

    /// Writes the solution into particle positions; returns the largest movement.
    pub fn read_positions(&self, q: &mut Points) -> f64 {
        let columns = self.solution();
        let mut largest = 0.0_f64;
        for &i in &self.inertia {
            let mut to = fixed_part(&self.dofs, i, q);
            self.dofs.expand(i as usize, |u, w| {
                let u = u as usize;
                to += glam::DVec3::new(columns[0][u], columns[1][u], columns[2][u]) * w;
            });
            largest = largest.max((to - q.get(i as usize)).length_squared());
            q.set(i as usize, to);
        }
        largest.sqrt()
    }
}

/// The part of a particle's position that is not made of unknowns.
fn fixed_part(dofs: &DofMap, particle: u32, x: &Points) -> glam::DVec3 {
    match dofs.get(particle as usize) {
        Dof::Fixed => x.get(particle as usize),
        Dof::Combined { fixed, .. } => fixed.iter().map(|&(i, w)| x.get(i as usize) * w).sum(),
        Dof::Free(_) | Dof::Absent => glam::DVec3::ZERO,
    }
}

fn empty_factor() -> Result<SparseSpd, SolverError> {
    SparseSpd::factor(&SymmetricBuilder::new(0).build()).map_err(factor_error)
}

fn factor_error(e: pliant_linalg::NotPositiveDefinite) -> SolverError {
    SolverError::Factor(e.to_string())
}
