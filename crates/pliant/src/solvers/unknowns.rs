//! What a solver solves for: free particles, and the auxiliary unknowns of batches with any stiffness.

use crate::constraints::AUXILIARY;
use crate::dofs::{Dof, DofMap};
use crate::model::BodyModel;
use pliant_linalg::{SymmetricBuilder, SymmetricMatrix};

/// The unknowns of one body, by number.
#[derive(Clone, Debug)]
pub(crate) struct Unknowns {
    pub dofs: DofMap,
    /// The auxiliary unknowns of each batch; none for batches without stiffness, which have no rows at all:
    /// that keeps the matrix sparse.
    pub auxiliary: Vec<Vec<u32>>,
    /// Batches with rows.
    pub active: Vec<bool>,
    pub count: usize,
}

impl Unknowns {
    /// Free particles first, in order, then what the batches add.
    pub fn new(model: &BodyModel, dofs: DofMap, scales: &[f64]) -> Unknowns {
        let mut count = dofs.unknowns();
        let active: Vec<bool> = scales.iter().map(|s| *s > 0.0).collect();
        let mut auxiliary = Vec::new();
        for (b, active) in model.batches.iter().zip(&active) {
            let more = if *active { b.batch.auxiliary_unknowns() } else { 0 };
            auxiliary.push((count as u32..(count + more) as u32).collect());
            count += more;
        }
        Unknowns { dofs, auxiliary, active, count }
    }

    /// The same in another order: `order[new]` is the old number.
    pub fn renumbered(&self, order: &[u32]) -> Unknowns {
        let mut name = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| name[old as usize] = new as u32);
        let rename = |list: &Vec<u32>| list.iter().map(|&u| name[u as usize]).collect();
        Unknowns {
            dofs: self.dofs.renamed(&name),
            auxiliary: self.auxiliary.iter().map(rename).collect(),
            active: self.active.clone(),
            count: self.count,
        }
    }

    /// Whether the same batches have rows under other stiffnesses.
    pub fn fit(&self, scales: &[f64]) -> bool {
        self.active.iter().zip(scales).all(|(active, scale)| *active == (*scale > 0.0))
    }

    /// Adds −m (dᵢ − dⱼ)² for two particles that are free or prescribed; others keep their lumped mass.
    fn couple(&self, i: u32, j: u32, m: f64, builder: &mut SymmetricBuilder) {
        let of = |i: u32| match self.dofs.get(i as usize) {
            Dof::Free(u) => Some(*u as usize),
            _ => None,
        };
        let (u, v) = (of(i), of(j));
        [u, v].into_iter().flatten().for_each(|u| builder.add(u, u, -m));
        if let (Some(u), Some(v)) = (u, v) {
            builder.add(u, v, m);
        }
    }

    /// The unknowns behind a column of a batch's rows.
    pub fn expand(&self, batch: usize, column: u32, mut entry: impl FnMut(u32, f64)) {
        if column < AUXILIARY {
            self.dofs.expand(column as usize, entry);
        } else {
            entry(self.auxiliary[batch][(column - AUXILIARY) as usize], 1.0);
        }
    }

    /// M/h² + Σ w AᵀA.
    pub fn matrix(&self, model: &BodyModel, scales: &[f64], inertia: &Inertia) -> SymmetricMatrix {
        let mut builder = SymmetricBuilder::new(self.count);
        for &(i, j, m) in &inertia.coupled {
            self.couple(i, j, m, &mut builder);
        }
        for (i, &inertia) in inertia.each.iter().enumerate() {
            match self.dofs.get(i) {
                Dof::Free(u) => builder.add(*u as usize, *u as usize, inertia),
                Dof::Combined { free, .. } => {
                    for (k, &(u, wu)) in free.iter().enumerate() {
                        let others = free[..=k].iter();
                        others.for_each(|&(v, wv)| builder.add(u as usize, v as usize, inertia * wu * wv));
                    }
                }
                Dof::Fixed => {}
            }
        }
        let mut element = ElementMatrix::default();
        for (b, scale) in scales.iter().enumerate().filter(|(b, _)| self.active[*b]) {
            let rows = model.batches[b].batch.rows();
            for e in 0..rows.elements() {
                for row in rows.of_elements(e..e + 1) {
                    element.row.clear();
                    for (column, c) in rows.row(row) {
                        self.expand(b, column, |u, w| element.entry(u, c * w));
                    }
                    element.end_row(rows.weights()[row] * scale);
                }
                element.add_to(&mut builder);
            }
        }
        builder.build()
    }
}

/// M/h²: what inertia resists movements from the prediction with.
#[derive(Clone, Debug)]
pub(crate) struct Inertia {
    /// m/h² of every particle.
    pub each: Vec<f64>,
    /// m_ij/h² of neighbours, if mass is spread as the elements' shape functions say. Its rows sum to the
    /// lumped masses, so the energy is that of these less ½ m_ij ‖dᵢ − dⱼ‖².
    pub coupled: Vec<(u32, u32, f64)>,
}

impl Inertia {
    /// For steps of `h` seconds.
    pub fn new(model: &BodyModel, h: f64) -> Inertia {
        let per = 1.0 / (h * h);
        Inertia {
            each: model.rest().mass.iter().map(|m| m / (h * h)).collect(),
            coupled: model.rest().coupled_mass.iter().map(|&(i, j, m)| (i, j, m * per)).collect(),
        }
    }
}

/// Σ w AᵀA of one element. Small elements are summed densely before they go to the builder, whose sorting
/// is what assembling costs; large ones (clusters, one-rings of many rows) go row by row.
#[derive(Default)]
struct ElementMatrix {
    columns: Vec<u32>,
    row: Vec<(u32, f64)>,
    /// Lower triangle over `columns`.
    sums: Vec<f64>,
    overflow: Vec<(u32, u32, f64)>,
}

impl ElementMatrix {
    const MOST: usize = 16;

    fn entry(&mut self, u: u32, c: f64) {
        // An embedded particle and its parent may meet in one row.
        match self.row.iter_mut().find(|(v, _)| *v == u) {
            Some((_, sum)) => *sum += c,
            None => self.row.push((u, c)),
        }
    }

    fn end_row(&mut self, w: f64) {
        for k in 0..self.row.len() {
            for l in 0..=k {
                let ((u, cu), (v, cv)) = (self.row[k], self.row[l]);
                let value = w * cu * cv;
                match (self.place(u), self.place(v)) {
                    (Some(a), Some(b)) => {
                        let (a, b) = (a.max(b), a.min(b));
                        self.sums[a * (a + 1) / 2 + b] += value;
                    }
                    _ => self.overflow.push((u, v, value)),
                }
            }
        }
    }

    fn place(&mut self, u: u32) -> Option<usize> {
        let found = self.columns.iter().position(|v| *v == u);
        found.or_else(|| {
            let fits = self.columns.len() < ElementMatrix::MOST;
            fits.then(|| {
                self.columns.push(u);
                self.sums.extend(std::iter::repeat_n(0.0, self.columns.len()));
                self.columns.len() - 1
            })
        })
    }

    fn add_to(&mut self, builder: &mut SymmetricBuilder) {
        for (a, &u) in self.columns.iter().enumerate() {
            for (b, &v) in self.columns[..=a].iter().enumerate() {
                builder.add(u as usize, v as usize, self.sums[a * (a + 1) / 2 + b]);
            }
        }
        self.overflow.drain(..).for_each(|(u, v, value)| builder.add(u as usize, v as usize, value));
        self.columns.clear();
        self.sums.clear();
    }
}
