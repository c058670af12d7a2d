//! Forces and energy of all constraints at a position, in chunks: what every implicit solver needs.
//!
//! Elements are cut into chunks that depend on the model only. A chunk copies the few places it touches,
//! adds the forces of its elements to a copy of its own, and afterwards every unknown gathers what the
//! chunks have for it, in their order. No scatter between threads, no colouring, the same bits for any team.

use super::objective::vector;
use super::unknowns::Unknowns;
use crate::constraints::{AUXILIARY, Neighbourhood, PaddedVector, View};
use crate::dofs::Dof;
use crate::model::BodyModel;
use crate::points::{Points, PointsMut};
use crate::team::{Pieces, Team};
use glam::DVec3;
use pliant_math::lanes::Isa;
use std::ops::Range;

/// Elements with a kernel per chunk: their places fit the first cache, and the second is left to the factor.
const ELEMENTS: usize = 512;
/// Rows per chunk of batches without one.
const ROWS: usize = 256;
const NOWHERE: u32 = u32::MAX;

/// A part of a batch.
#[derive(Clone, Debug)]
struct AssemblyChunk {
    batch: usize,
    work: ChunkWork,
}

#[derive(Clone, Debug)]
enum ChunkWork {
    /// Packs of the batch's kernel, and where their corners stand in [`Assembly::corners`].
    Packs { packs: Range<usize>, corners: Range<usize> },
    /// Elements to project one by one, and where the entries of their rows stand in [`Assembly::entries`].
    Rows { elements: Range<usize>, entries: Range<usize> },
}

/// The constraints of one solver, ready to be evaluated. Places are numbered: unknowns first, then
/// prescribed particles, then particles that are combinations of others.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    unknowns: Unknowns,
    /// The place of each particle.
    places: Vec<u32>,
    /// The particle at each place; auxiliary unknowns have none.
    particles: Vec<u32>,
    chunks: Vec<AssemblyChunk>,
    /// Where each chunk's copies of places end, and its projections.
    local_ends: Vec<usize>,
    projected_ends: Vec<usize>,
    local_places: Vec<u32>,
    corners: Vec<[u32; 8]>,
    /// Local index of each entry of the rows of chunks without a kernel.
    entries: Vec<u32>,
    x: Vec<PaddedVector>,
    forces: Vec<PaddedVector>,
    projected: Points,
    energies: Vec<f64>,
    /// For each unknown, where its forces are among the local ones.
    slot_ends: Vec<u32>,
    slots: Vec<u32>,
    /// Combined particles: place, then (unknown, weight) and slots.
    combined: Vec<Combined>,
    /// Whether some batch looks at positions particle by particle.
    plain: bool,
}

#[derive(Clone, Debug)]
struct Combined {
    place: usize,
    particle: usize,
    parents: Vec<(u32, f64)>,
    free: Vec<(u32, f64)>,
    slots: Vec<u32>,
}

impl Assembly {
    pub fn new(model: &BodyModel, unknowns: Unknowns) -> Assembly {
        let (places, particles) = number_places(model, &unknowns);
        let mut assembly = Assembly {
            chunks: Vec::new(),
            local_ends: Vec::new(),
            projected_ends: Vec::new(),
            local_places: Vec::new(),
            corners: Vec::new(),
            entries: Vec::new(),
            x: Vec::new(),
            forces: Vec::new(),
            projected: Points::default(),
            energies: Vec::new(),
            slot_ends: Vec::new(),
            slots: Vec::new(),
            combined: Vec::new(),
            plain: false,
            unknowns,
            places,
            particles,
        };
        let mut local = LocalNumbers { of_place: vec![NOWHERE; assembly.particles.len()], first: 0 };
        for b in (0..model.batches.len()).filter(|b| assembly.unknowns.active[*b]).collect::<Vec<_>>() {
            assembly.cut(model, b, &mut local);
        }
        let n = assembly.local_places.len();
        assembly.x = vec![[0.0; 4]; n];
        assembly.forces = vec![[0.0; 4]; n];
        assembly.projected = Points::zeros(assembly.projected_ends.last().copied().unwrap_or(0));
        assembly.energies = vec![0.0; assembly.chunks.len()];
        assembly.list_slots();
        assembly
    }

    /// Cuts a batch into chunks.
    fn cut(&mut self, model: &BodyModel, b: usize, local: &mut LocalNumbers) {
        let batch = &model.batches[b].batch;
        let projected = self.projected_ends.last().copied().unwrap_or(0);
        if let Some(kernel) = batch.kernel() {
            for first in (0..kernel.elements()).step_by(ELEMENTS) {
                let last = (first + ELEMENTS).min(kernel.elements());
                let begin = self.corners.len();
                for pack in (first..last).step_by(8) {
                    for corner in 0..kernel.stencil(pack).len() {
                        // Empty lanes repeat the pack's first element, as kernels expect.
                        let element = |lane: usize| if pack + lane < last { pack + lane } else { pack };
                        let place = |lane| self.places[kernel.stencil(element(lane))[corner] as usize];
                        let places: [u32; 8] = std::array::from_fn(place);
                        self.corners.push(places.map(|p| local.number(p, &mut self.local_places)));
                    }
                }
                let work = ChunkWork::Packs {
                    packs: first / 8..last.div_ceil(8),
                    corners: begin..self.corners.len(),
                };
                self.end_chunk(b, work, projected, local);
            }
            return;
        }
        self.plain = true;
        let rows = batch.rows();
        let mut e = 0;
        while e < rows.elements() {
            // Whole elements, about ROWS rows at a time.
            let (begin, first) = (e, self.entries.len());
            while e < rows.elements() && (e == begin || rows.of_elements(begin..e).len() < ROWS) {
                e += 1;
            }
            for (column, _) in rows.of_elements(begin..e).flat_map(|row| rows.row(row)) {
                let place = match column.checked_sub(AUXILIARY) {
                    None => self.places[column as usize],
                    Some(k) => self.unknowns.auxiliary[b][k as usize],
                };
                self.entries.push(local.number(place, &mut self.local_places));
            }
            let work = ChunkWork::Rows { elements: begin..e, entries: first..self.entries.len() };
            self.end_chunk(b, work, projected + rows.of_elements(0..e).end, local);
        }
    }

    fn end_chunk(&mut self, batch: usize, work: ChunkWork, projected: usize, local: &mut LocalNumbers) {
        local.forget(&self.local_places);
        self.local_ends.push(self.local_places.len());
        self.projected_ends.push(projected);
        self.chunks.push(AssemblyChunk { batch, work });
    }

    fn list_slots(&mut self) {
        let n = self.unknowns.count;
        let mut ends = vec![0u32; n + 1];
        let of_unknowns = |place: u32| (place as usize) < n;
        for &place in self.local_places.iter().filter(|p| of_unknowns(**p)) {
            ends[place as usize + 1] += 1;
        }
        for u in 0..n {
            ends[u + 1] += ends[u];
        }
        let mut cursor = ends.clone();
        let mut slots = vec![0u32; ends[n] as usize];
        for (slot, &place) in self.local_places.iter().enumerate().filter(|(_, p)| of_unknowns(**p)) {
            let at = &mut cursor[place as usize];
            slots[*at as usize] = slot as u32;
            *at += 1;
        }
        for (place, &particle) in self.particles.iter().enumerate().skip(n) {
            if let Dof::Combined { free, parents } = self.unknowns.dofs.get(particle as usize) {
                let places = self.local_places.iter().enumerate();
                let slots = places.filter(|(_, p)| **p as usize == place).map(|(slot, _)| slot as u32);
                self.combined.push(Combined {
                    place,
                    particle: particle as usize,
                    parents: parents.iter().map(|&(i, w)| (self.places[i as usize], w)).collect(),
                    free: free.clone(),
                    slots: slots.collect(),
                });
            }
        }
        (self.slot_ends, self.slots) = (ends, slots);
    }

    pub fn unknowns(&self) -> &Unknowns {
        &self.unknowns
    }

    /// Number of places: unknowns, prescribed and combined particles.
    pub fn place_count(&self) -> usize {
        self.particles.len()
    }

    /// The place of a particle, if this solver moves it.
    #[inline(always)]
    pub fn place(&self, particle: usize) -> Option<usize> {
        let place = self.places[particle];
        (place != NOWHERE).then_some(place as usize)
    }

    /// The particle at a place; auxiliary unknowns have none.
    pub fn particle(&self, place: usize) -> Option<usize> {
        let particle = self.particles[place];
        (particle != NOWHERE).then_some(particle as usize)
    }

    /// Whether positions must be given particle by particle as well, for batches without a kernel.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Puts auxiliary unknowns where they have least energy, and combined particles between their parents.
    pub fn complete(
        &self,
        model: &BodyModel,
        x: &mut Points,
        values: &mut [Points],
        places: &mut [PaddedVector],
    ) {
        for c in &self.combined {
            let at = c.parents.iter().map(|&(p, w)| vector(places[p as usize]) * w).sum::<DVec3>();
            x.set(c.particle, at);
            places[c.place] = [at.x, at.y, at.z, 0.0];
        }
        for (b, list) in self.unknowns.auxiliary.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            model.batches[b].batch.auxiliary_values(x, &mut values[b]);
            for (&u, v) in list.iter().zip(values[b].iter()) {
                places[u as usize] = [v.x, v.y, v.z, 0.0];
            }
        }
    }

    /// Puts combined particles between their parents.
    pub fn combine(&self, places: &mut [PaddedVector]) {
        for c in &self.combined {
            let at = c.parents.iter().map(|&(p, w)| vector(places[p as usize]) * w).sum::<DVec3>();
            places[c.place] = [at.x, at.y, at.z, 0.0];
        }
    }

    /// Computes all forces at `q` and returns the energy. `view` is what a batch's projection may look at.
    pub fn forces<'v>(
        &mut self,
        model: &BodyModel,
        scales: &[f64],
        q: &[PaddedVector],
        (team, isa): (&Team, Isa),
        view: impl Fn(usize) -> View<'v> + Sync,
    ) -> f64 {
        let Assembly { chunks, local_ends, projected_ends, local_places, corners, entries, .. } = self;
        let data = (
            (Pieces(&mut self.x[..], local_ends), Pieces(&mut self.forces[..], local_ends)),
            (Pieces(&mut self.projected, projected_ends), &mut self.energies[..]),
        );
        team.split(data, 1, |range, ((x, forces), (mut projected, energy))| {
            let c = range.start;
            let chunk = &chunks[c];
            let first = if c == 0 { 0 } else { local_ends[c - 1] };
            for (x, &place) in x.iter_mut().zip(&local_places[first..]) {
                *x = q[place as usize];
            }
            forces.fill([0.0; 4]);
            let (batch, scale) = (&model.batches[chunk.batch].batch, scales[chunk.batch]);
            energy[0] = match &chunk.work {
                ChunkWork::Packs { packs, corners: at } => {
                    let corners = &corners[at.clone()];
                    let near = Neighbourhood { corners, x, forces, scale };
                    batch.kernel().map_or(0.0, |k| k.add_forces(packs.clone(), near, isa))
                }
                ChunkWork::Rows { elements, entries: at } => {
                    batch.project(elements.clone(), view(chunk.batch), &mut projected);
                    let local = &entries[at.clone()];
                    add_row_forces(batch.rows(), elements.clone(), local, scale, (x, &projected), forces)
                }
            };
        });
        self.energies.iter().sum()
    }

    /// The force of all constraints on an unknown.
    #[inline(always)]
    pub fn force(&self, u: usize) -> PaddedVector {
        let mut sum = [0.0; 4];
        for &slot in &self.slots[self.slot_ends[u] as usize..self.slot_ends[u + 1] as usize] {
            let f = &self.forces[slot as usize];
            for axis in 0..4 {
                sum[axis] += f[axis];
            }
        }
        sum
    }

    /// Adds what acts on combined particles, inertia included, to the unknowns they are made of; returns
    /// Σ m/h² d² of these particles.
    pub fn gather_combined(
        &self,
        inertia: &[f64],
        displacement: &[PaddedVector],
        [x, y, z]: [&mut [f64]; 3],
    ) -> f64 {
        let mut energy = 0.0;
        for c in &self.combined {
            let pulls: DVec3 = c.slots.iter().map(|&slot| vector(self.forces[slot as usize])).sum();
            let d = vector(displacement[c.place]);
            let force = pulls - d * inertia[c.particle];
            energy += inertia[c.particle] * d.length_squared();
            for &(u, w) in &c.free {
                let u = u as usize;
                (x[u], y[u], z[u]) = (x[u] + force.x * w, y[u] + force.y * w, z[u] + force.z * w);
            }
        }
        energy
    }
}

/// Numbers of places within the present chunk.
struct LocalNumbers {
    of_place: Vec<u32>,
    /// How many places earlier chunks have.
    first: usize,
}

impl LocalNumbers {
    fn number(&mut self, place: u32, list: &mut Vec<u32>) -> u32 {
        let number = &mut self.of_place[place as usize];
        if *number == NOWHERE {
            *number = (list.len() - self.first) as u32;
            list.push(place);
        }
        *number
    }

    fn forget(&mut self, list: &[u32]) {
        list[self.first..].iter().for_each(|&p| self.of_place[p as usize] = NOWHERE);
        self.first = list.len();
    }
}

fn number_places(model: &BodyModel, unknowns: &Unknowns) -> (Vec<u32>, Vec<u32>) {
    let mut places = vec![NOWHERE; model.particle_count()];
    let mut particles = vec![NOWHERE; unknowns.count];
    for (i, place) in places.iter_mut().enumerate() {
        if let Dof::Free(u) = unknowns.dofs.get(i) {
            (*place, particles[*u as usize]) = (*u, i as u32);
        }
    }
    for combined in [false, true] {
        for (i, place) in places.iter_mut().enumerate() {
            let wanted = match unknowns.dofs.get(i) {
                Dof::Fixed => !combined,
                Dof::Combined { .. } => combined,
                Dof::Free(_) => false,
            };
            if wanted {
                *place = particles.len() as u32;
                particles.push(i as u32);
            }
        }
    }
    (places, particles)
}

/// w Aᵀ (p − A q) of some elements, row by row; returns their energy.
fn add_row_forces(
    rows: &crate::constraints::Rows,
    elements: Range<usize>,
    local: &[u32],
    scale: f64,
    (x, projected): (&[PaddedVector], &PointsMut<'_>),
    forces: &mut [PaddedVector],
) -> f64 {
    let mut energy = 0.0;
    let mut at = 0;
    for (k, row) in rows.of_elements(elements).enumerate() {
        let entries = rows.row(row);
        let columns = &local[at..at + entries.len()];
        at += entries.len();
        let mut r = projected.get(k);
        for (&i, (_, c)) in columns.iter().zip(entries.clone()) {
            r -= vector(x[i as usize]) * c;
        }
        let pull = r * (rows.weights()[row] * scale);
        energy += 0.5 * pull.dot(r);
        for (&i, (_, c)) in columns.iter().zip(entries) {
            let f = &mut forces[i as usize];
            (f[0], f[1], f[2]) = (f[0] + pull.x * c, f[1] + pull.y * c, f[2] + pull.z * c);
        }
    }
    energy
}
