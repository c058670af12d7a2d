//! How the particles of a projective body respond to forces on some of them: G = S B⁻¹ Sᵀ, one number per pair of
//! particles, as the matrix B is the same for x, y and z.
//!
//! Up to [`DENSE`] nodes it is a dense block, whose columns are kept while the matrix lives, once for all bodies that share
//! it; beyond that every response is a solve. Both lead to the same forces.

use super::System;
use crate::contact::{Nodes, PairResponse, ResponseKey, WIDTH};
use crate::dofs::DofMap;
use crate::solvers::objective::Executor;
use glam::DVec3;
use pliant_math::lanes::{Kernel, Lanes};
use std::sync::{Arc, PoisonError, RwLock};

/// Most nodes of a body whose responses are kept as a dense block, and most numbers in the columns it comes from.
const DENSE: usize = 1024;
const DENSE_COLUMNS: usize = 4 << 20;
/// Numbers in the columns kept from step to step (128 MiB), unless the present nodes alone need more.
const KEPT: usize = 16 << 20;
/// B⁻¹ may have small negative entries, which a bound from one solve does not see.
const SAFETY: f64 = 1.1;

/// Responses to forces through a dense block of tiles: only those that are there, as most contacts carry none.
struct ApplyBlock<'a> {
    block: &'a [[f64; WIDTH]],
    nodes: usize,
    /// Nodes that forces are on, with these.
    loaded: &'a [(u32, [f64; 3])],
    to: [&'a mut [[f64; WIDTH]]; 3],
    scale: f64,
}

impl Kernel for ApplyBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let ApplyBlock { block, nodes, loaded, to: [x, y, z], scale } = self;
        let scale = l.splat(scale);
        let tiles = x.len();
        let mut t = 0;
        while t < tiles {
            // Two at a time; the last one alone.
            let pair = t + 1 < tiles;
            let one = &block[t * nodes..(t + 1) * nodes];
            let two = if pair { &block[(t + 1) * nodes..(t + 2) * nodes] } else { one };
            let mut sum = [l.splat(0.0); 6];
            for (k, [fx, fy, fz]) in loaded {
                let (one, two) = (l.load(&one[*k as usize]), l.load(&two[*k as usize]));
                let (fx, fy, fz) = (l.splat(*fx), l.splat(*fy), l.splat(*fz));
                sum[0] = l.mul_add(one, fx, sum[0]);
                sum[1] = l.mul_add(one, fy, sum[1]);
                sum[2] = l.mul_add(one, fz, sum[2]);
                sum[3] = l.mul_add(two, fx, sum[3]);
                sum[4] = l.mul_add(two, fy, sum[4]);
                sum[5] = l.mul_add(two, fz, sum[5]);
            }
            for (k, sum) in sum.chunks_exact(3).enumerate().take(1 + usize::from(pair)) {
                l.store(l.mul(sum[0], scale), &mut x[t + k]);
                l.store(l.mul(sum[1], scale), &mut y[t + k]);
                l.store(l.mul(sum[2], scale), &mut z[t + k]);
            }
            t += 2;
        }
    }
}

/// |G| times weights.
struct Reach<'a> {
    block: &'a [[f64; WIDTH]],
    weights: &'a [f64],
    to: &'a mut [[f64; WIDTH]],
    scale: f64,
}

impl Kernel for Reach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (tile, to) in self.block.chunks_exact(self.weights.len().max(1)).zip(self.to) {
            let mut sum = l.splat(0.0);
            for (entry, weight) in tile.iter().zip(self.weights) {
                sum = l.mul_add(l.abs(l.load(entry)), l.splat(*weight), sum);
            }
            l.store(l.mul(sum, l.splat(self.scale)), to);
        }
    }
}

/// How the particles of a body respond to a unit force on one of them, kept while the matrix lives. Contacts last for
/// many steps, and copies of a body touch in the same places; their columns need not be solved for again.
#[derive(Debug)]
struct Columns {
    numbers: Vec<f64>,
    /// Where the column of a particle begins, counted from 1; 0 if there is none.
    begin: Vec<usize>,
}

impl Columns {
    fn none(particles: usize) -> Arc<RwLock<Columns>> {
        Arc::new(RwLock::new(Columns { numbers: Vec::new(), begin: vec![0; particles] }))
    }

    fn has(&self, particle: u32) -> bool {
        self.begin[particle as usize] != 0
    }

    fn get(&self, particle: usize, len: usize) -> &[f64] {
        let begin = self.begin[particle] - 1;
        &self.numbers[begin..begin + len]
    }

    fn forget(&mut self) {
        self.numbers.clear();
        self.begin.fill(0);
    }
}

#[cfg(test)]
thread_local! {
    /// Lets tests compare the two ways to respond.
    static DENSE_IN_TESTS: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

#[derive(Clone, Debug)]
pub(super) struct Response {
    /// Shared with the solvers this one was duplicated to or from, until one of them gets another matrix. Whoever solves for
    /// a column finds the same numbers, so nothing depends on who was first.
    columns: Arc<RwLock<Columns>>,
    /// The same, which tells this matrix from others.
    key: ResponseKey,
    particles: usize,
    /// Tiles of eight nodes: for each node the response of those eight. Of these particles.
    block: Vec<[f64; WIDTH]>,
    block_of: Vec<u32>,
    is_dense: bool,
    /// Most nodes with a dense block.
    dense: usize,
}

impl Response {
    /// Of a body of so many particles.
    pub fn new(particles: usize) -> Response {
        #[cfg(test)]
        let dense = DENSE_IN_TESTS.get().unwrap_or(DENSE);
        #[cfg(not(test))]
        let dense = DENSE;
        let columns = Columns::none(particles);
        Response {
            key: columns.clone(),
            columns,
            particles,
            block: Vec::new(),
            block_of: Vec::new(),
            is_dense: true,
            dense,
        }
    }

    /// Makes room for columns and blocks; blocks grow only when more points touch than ever before.
    pub fn reserve(&mut self) {
        let most = self.particles;
        let missing = |len: usize, wanted: usize| wanted.saturating_sub(len);
        let Response { columns, block, block_of, .. } = self;
        let columns = &mut *columns.write().unwrap_or_else(PoisonError::into_inner);
        columns.numbers.reserve(missing(columns.numbers.len(), (most * most).min(KEPT)));
        block.reserve(missing(block.len(), (most.div_ceil(WIDTH) * most).min(1 << 13)));
        block_of.reserve(missing(block_of.len(), most));
    }

    /// To be called when the matrix changes.
    pub fn forget_columns(&mut self) {
        let capacity = self.columns.read().unwrap_or_else(PoisonError::into_inner).numbers.capacity();
        self.columns = Columns::none(self.particles);
        self.key = self.columns.clone();
        self.block_of.clear();
        if capacity > 0 {
            self.reserve();
        }
    }

    /// Makes the dense block if it is missing, and the columns it needs: a solve gives three of them. Tells whether
    /// responses are solves instead.
    pub fn prepare(&mut self, nodes: &Nodes, system: &mut System, executor: Executor<'_>) -> bool {
        let particles = self.particles;
        self.is_dense = nodes.len() <= self.dense && nodes.len() * particles <= DENSE_COLUMNS;
        if !self.is_dense || self.block_of == nodes.particles() {
            return !self.is_dense;
        }
        let shared = self.columns.clone();
        let known = shared.read().unwrap_or_else(PoisonError::into_inner);
        if nodes.particles().iter().all(|i| known.has(*i)) {
            self.fill(nodes, &known);
            return false;
        }
        drop(known);
        let columns = &mut *shared.write().unwrap_or_else(PoisonError::into_inner);
        let new = nodes.particles().iter().filter(|i| !columns.has(**i)).count() * particles;
        if columns.numbers.len() + new > KEPT {
            columns.forget();
        }
        loop {
            let (mut found, mut count) = ([0; 3], 0);
            for (to, i) in found.iter_mut().zip(nodes.particles().iter().filter(|i| !columns.has(**i))) {
                (*to, count) = (*i as usize, count + 1);
            }
            if count == 0 {
                break;
            }
            system.respond(executor, |dofs, rhs| {
                for (&i, rhs) in found[..count].iter().zip(rhs.iter_mut()) {
                    dofs.expand(i, |u, w| rhs[u as usize] += w);
                }
            });
            for (axis, &i) in found[..count].iter().enumerate() {
                columns.begin[i] = columns.numbers.len() + 1;
                columns.numbers.extend((0..particles).map(|j| system.responded(j)[axis]));
            }
        }
        self.fill(nodes, columns);
        false
    }

    /// Makes the block from the columns of the nodes.
    fn fill(&mut self, nodes: &Nodes, columns: &Columns) {
        self.block.clear();
        for tile in nodes.particles().chunks(WIDTH) {
            for with in nodes.particles() {
                let column = columns.get(*with as usize, self.particles);
                let mut entry = [0.0; WIDTH];
                for (to, i) in entry.iter_mut().zip(tile) {
                    *to = column[*i as usize];
                }
                self.block.push(entry);
            }
        }
        self.block_of.clear();
        self.block_of.extend_from_slice(nodes.particles());
    }

    /// Movements of the nodes at the end of the substep, θ being where forces are taken.
    pub fn respond(&self, nodes: &mut Nodes, theta: f64, system: &mut System, executor: Executor<'_>) {
        if self.is_dense {
            let count = nodes.len();
            let (loaded, to) = nodes.loaded_and_movements();
            let (block, scale) = (&self.block[..], theta.recip());
            executor.1.run(ApplyBlock { block, nodes: count, loaded, to, scale });
            return;
        }
        system.respond(executor, |dofs, rhs| nodes.loads().for_each(|(i, f)| scatter(dofs, rhs, i, f)));
        for k in 0..nodes.len() {
            nodes.set_movement(k, system.responded(nodes.particles()[k] as usize) / theta);
        }
    }

    /// The numbers for all pairs of nodes, if there are such.
    pub fn pairs(&self, theta: f64) -> Option<PairResponse<'_>> {
        let (nodes, scale) = (self.block_of.len(), theta.recip());
        self.is_dense.then_some(PairResponse { block: &self.block, nodes, scale, key: &self.key })
    }

    /// |G| times the weights of the nodes.
    pub fn reach(&self, nodes: &mut Nodes, theta: f64, system: &mut System, executor: Executor<'_>) {
        if self.is_dense {
            let Nodes { weights, moved: [to, ..], .. } = nodes;
            executor.1.run(Reach { block: &self.block, weights, to, scale: theta.recip() });
            return;
        }
        system.respond(executor, |dofs, rhs| {
            for (i, w) in nodes.particles().iter().zip(&nodes.weights) {
                scatter(dofs, rhs, *i, DVec3::X * *w);
            }
        });
        for k in 0..nodes.len() {
            let by = system.responded(nodes.particles()[k] as usize).x;
            nodes.set_movement(k, DVec3::X * (SAFETY * by / theta));
        }
    }
}

/// Adds a force on a particle to a right-hand side.
pub(super) fn scatter(dofs: &DofMap, [x, y, z]: &mut [&mut [f64]; 3], particle: u32, force: DVec3) {
    dofs.expand(particle as usize, |u, w| {
        let u = u as usize;
        (x[u], y[u], z[u]) = (x[u] + w * force.x, y[u] + w * force.y, z[u] + w * force.z);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, HalfSpace, Material, Simulation, shapes};

    fn body(k: usize) -> Body {
        let size = DVec3::new(0.2, 0.1, 0.1);
        let shape = shapes::tet_box([4, 2, 2], size, shapes::TetStyle::Five).unwrap();
        let rubber = Material { young: 1e5, ..Material::named("rubber").unwrap() };
        let mut body = Body::new(format!("bar {k}"), shape).elastic(rubber);
        body.velocity = DVec3::new(1.0, -2.0, 0.3 * k as f64);
        body.at(0.4 * k as f64, 0.08, 0.0)
    }

    fn fallen(dense: usize) -> Simulation {
        let slope = HalfSpace { normal: DVec3::new(-0.6, 0.8, 0.0), ..HalfSpace::ground() };
        let mut s = Builder::new().ground().collider(slope).body(body(0)).body(body(1)).build().unwrap();
        DENSE_IN_TESTS.set(Some(dense));
        for _ in 0..40 {
            s.step().unwrap();
        }
        DENSE_IN_TESTS.set(None);
        s
    }

    /// Where every response is a solve the same forces are found.
    #[test]
    fn solves_find_what_the_dense_block_finds() {
        let (dense, solves) = (fallen(DENSE), fallen(0));
        let far = |b| {
            dense.positions(b).zip(solves.positions(b)).map(|(p, q)| (p - q).length()).fold(0.0, f64::max)
        };
        for b in 0..2 {
            assert!(far(b) < 1e-4, "{}", far(b));
        }
        assert!(dense.statistics().max_strain < 0.2);
    }
}
