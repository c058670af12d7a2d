//! The elements of all constraints in the order they are satisfied: colour by colour, each in chunks.

use super::colours::colours;
use crate::constraints::{AUXILIARY, ConstraintBatch, PaddedVector, View};
use crate::dofs::{Dof, DofMap};
use crate::model::BodyModel;
use crate::points::{Points, PointsMut};
use crate::solvers::objective::ProjectionInputs;
use crate::team::{Pieces, Team};
use glam::DVec3;
use std::ops::Range;
use std::sync::Arc;

/// Elements per chunk: a few packs of eight.
const CHUNK: usize = 64;
/// An entry of a row whose column is an auxiliary unknown.
const NO_PARTICLE: u32 = u32::MAX;

/// All elements of a body's batches.
#[derive(Clone, Debug)]
pub(super) struct ColouredElements {
    colours: Vec<Colour>,
    items: Vec<Item>,
    /// The particles of each item, one after the other, those that cannot move included.
    particles: Vec<u32>,
    /// For each entry of each item's rows, which of its particles that is.
    entries: Vec<u32>,
    /// Auxiliary unknowns of the items.
    auxiliary: Vec<u32>,
    /// One over mass; zero for what is held.
    inverse_mass: Vec<f64>,
    /// What each item has pushed with so far in this substep.
    multipliers: Vec<f64>,
    projected: Points,
    corrections: Vec<PaddedVector>,
}

#[derive(Clone, Debug)]
struct Item {
    batch: u32,
    element: u32,
    particles: Range<u32>,
    entries: Range<u32>,
    auxiliary: Range<u32>,
}

/// Items that share no particle, in chunks that are ranges of items, particles and rows.
#[derive(Clone, Debug, Default)]
struct Colour {
    items: Range<usize>,
    particles: Range<usize>,
    chunks: Vec<ColourChunk>,
    item_ends: Vec<usize>,
    particle_ends: Vec<usize>,
    row_ends: Vec<usize>,
}

#[derive(Clone, Debug)]
struct ColourChunk {
    batch: usize,
    items: Range<usize>,
    /// The batch in the order of this colour, and where in it the chunk begins, if it can be so ordered: then
    /// eight elements are projected at a time.
    sorted: Option<(Arc<dyn ConstraintBatch>, usize)>,
}

/// How a body's constraints are satisfied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CorrectionRule {
    /// One over stiffness times h²; zero for PBD.
    pub compliance: f64,
    /// The part of each correction that is made.
    pub share: f64,
}

/// What constraints may look at besides positions, and how those of each batch are satisfied.
#[derive(Clone, Copy)]
pub(super) struct SweepInputs<'a> {
    pub rules: &'a [CorrectionRule],
    pub surroundings: ProjectionInputs<'a>,
    pub shared: &'a [Vec<f64>],
    pub auxiliary: &'a [Points],
}

impl<'a> SweepInputs<'a> {
    fn view<'x>(&self, b: usize, x: &'x Points) -> View<'x>
    where
        'a: 'x,
    {
        let ProjectionInputs { memory, offsets, targets } = self.surroundings;
        View { x, state: &memory[offsets[b]..offsets[b + 1]], shared: &self.shared[b], targets }
    }
}

/// What moves.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    pub x: Points,
    /// From the prediction.
    pub displacement: Points,
}

impl ColouredElements {
    /// `active` tells which batches take part.
    pub fn new(model: &BodyModel, dofs: &DofMap, active: &[bool]) -> ColouredElements {
        let mut elements = ColouredElements {
            colours: Vec::new(),
            items: Vec::new(),
            particles: Vec::new(),
            entries: Vec::new(),
            auxiliary: Vec::new(),
            inverse_mass: Vec::new(),
            multipliers: Vec::new(),
            projected: Points::default(),
            corrections: Vec::new(),
        };
        let free = |i: &u32| matches!(dofs.get(*i as usize), Dof::Free(_));
        elements.inverse_mass = (0..model.particle_count() as u32)
            .map(|i| if free(&i) { model.rest().mass[i as usize].recip() } else { 0.0 })
            .collect();
        let mut list: Vec<(usize, usize, Vec<u32>)> = Vec::new();
        for b in (0..model.batches.len()).filter(|b| active[*b]) {
            let rows = model.batches[b].batch.rows();
            for e in 0..rows.elements() {
                let columns = rows.of_elements(e..e + 1).flat_map(|r| rows.row(r)).map(|(c, _)| c);
                let mut particles: Vec<u32> = columns.filter(|c| *c < AUXILIARY).filter(free).collect();
                particles.sort_unstable();
                particles.dedup();
                if !particles.is_empty() {
                    list.push((b, e, particles));
                }
            }
        }
        let colour = colours(list.iter().map(|(_, _, p)| p.as_slice()), model.particle_count());
        let mut order: Vec<usize> = (0..list.len()).collect();
        // Stable: within a colour batch by batch, elements in order.
        order.sort_by_key(|&k| colour[k]);
        for same in order.chunk_by(|a, b| colour[*a] == colour[*b]) {
            elements.add_colour(model, same.iter().map(|&k| (list[k].0, list[k].1)));
        }
        let most = |f: fn(&Colour) -> Option<usize>| elements.colours.iter().filter_map(f).max().unwrap_or(0);
        elements.projected = Points::zeros(most(|c| c.row_ends.last().copied()));
        elements.corrections = vec![[0.0; 4]; most(|c| c.particle_ends.last().copied())];
        elements.multipliers = vec![0.0; elements.items.len()];
        elements
    }

    fn add_colour(&mut self, model: &BodyModel, members: impl Iterator<Item = (usize, usize)>) {
        let first = self.items.len();
        let mut colour = Colour { particles: self.particles.len()..0, ..Colour::default() };
        members.for_each(|(b, e)| self.add_item(model, b, e));
        colour.items = first..self.items.len();
        colour.particles.end = self.particles.len();
        let mut rows = 0;
        let mut begin = first;
        for same in self.items[first..].chunk_by(|a, b| a.batch == b.batch) {
            let batch = &model.batches[same[0].batch as usize].batch;
            let subset: Vec<u32> = same.iter().map(|i| i.element).collect();
            let sorted = batch.subset(&subset);
            for (k, part) in same.chunks(CHUNK).enumerate() {
                let items = begin..begin + part.len();
                begin = items.end;
                let count =
                    |i: &Item| batch.rows().of_elements(i.element as usize..i.element as usize + 1).len();
                rows += part.iter().map(count).sum::<usize>();
                colour.item_ends.push(items.end - first);
                colour
                    .particle_ends
                    .push(part[part.len() - 1].particles.end as usize - colour.particles.start);
                colour.row_ends.push(rows);
                let sorted = sorted.as_ref().map(|s| (s.clone(), k * CHUNK));
                colour.chunks.push(ColourChunk { batch: part[0].batch as usize, items, sorted });
            }
        }
        self.colours.push(colour);
    }

    fn add_item(&mut self, model: &BodyModel, batch: usize, element: usize) {
        let rows = model.batches[batch].batch.rows();
        let begin = [self.particles.len(), self.entries.len(), self.auxiliary.len()].map(|n| n as u32);
        for (column, _) in rows.of_elements(element..element + 1).flat_map(|r| rows.row(r)) {
            if let Some(unknown) = column.checked_sub(AUXILIARY) {
                if !self.auxiliary[begin[2] as usize..].contains(&unknown) {
                    self.auxiliary.push(unknown);
                }
                self.entries.push(NO_PARTICLE);
                continue;
            }
            let mine = &self.particles[begin[0] as usize..];
            let known = mine.iter().position(|i| *i == column);
            self.entries.push(known.unwrap_or(mine.len()) as u32);
            if known.is_none() {
                self.particles.push(column);
            }
        }
        self.items.push(Item {
            batch: batch as u32,
            element: element as u32,
            particles: begin[0]..self.particles.len() as u32,
            entries: begin[1]..self.entries.len() as u32,
            auxiliary: begin[2]..self.auxiliary.len() as u32,
        });
    }

    /// Begins a substep: nothing has been pushed yet.
    pub fn begin(&mut self) {
        self.multipliers.fill(0.0);
    }

    /// Satisfies every element once, colour after colour; returns the largest squared correction.
    pub fn sweep(
        &mut self,
        model: &BodyModel,
        q: &mut Positions,
        around: SweepInputs<'_>,
        team: &Team,
    ) -> f64 {
        let mut largest = 0.0_f64;
        for c in 0..self.colours.len() {
            self.correct(c, model, &q.x, around, team);
            let colour = &self.colours[c];
            for (&i, d) in self.particles[colour.particles.clone()].iter().zip(&self.corrections) {
                let (i, d) = (i as usize, DVec3::new(d[0], d[1], d[2]));
                largest = largest.max(d.length_squared());
                let displacement = q.displacement.get(i) + d;
                q.displacement.set(i, displacement);
                q.x.set(i, q.x.get(i) + d);
            }
        }
        largest
    }

    /// The corrections of a colour at `x`.
    fn correct(&mut self, c: usize, model: &BodyModel, x: &Points, around: SweepInputs<'_>, team: &Team) {
        let ColouredElements { colours, items, multipliers, projected, corrections, .. } = self;
        let (particles, entries, auxiliary, inverse_mass) =
            (&self.particles, &self.entries, &self.auxiliary, &self.inverse_mass);
        let colour = &colours[c];
        let data = (
            (Pieces(projected, &colour.row_ends), Pieces(&mut corrections[..], &colour.particle_ends)),
            Pieces(&mut multipliers[colour.items.clone()], &colour.item_ends),
        );
        team.split(data, 1, |range, ((mut p, corrections), multipliers)| {
            let chunk = &colour.chunks[range.start];
            let batch = &model.batches[chunk.batch].batch;
            let rule = around.rules[chunk.batch];
            if let Some((sorted, first)) = &chunk.sorted {
                sorted.project(*first..first + chunk.items.len(), around.view(chunk.batch, x), &mut p);
            }
            let (mut row, mut corner) = (0, 0);
            for (k, (item, multiplier)) in items[chunk.items.clone()].iter().zip(multipliers).enumerate() {
                // Rows in the order of the colour lie one after the other in memory.
                let (batch, e) = match &chunk.sorted {
                    Some((sorted, first)) => (&**sorted, first + k),
                    None => (&**batch, item.element as usize),
                };
                let rows = batch.rows().of_elements(e..e + 1).len();
                let corners = item.particles.len();
                let mut p = part(&mut p, row..row + rows);
                if chunk.sorted.is_none() {
                    batch.project(e..e + 1, around.view(chunk.batch, x), &mut p);
                }
                let constraint = Constraint {
                    batch,
                    element: e,
                    particles: &particles[item.particles.start as usize..item.particles.end as usize],
                    entries: &entries[item.entries.start as usize..item.entries.end as usize],
                    auxiliary: &auxiliary[item.auxiliary.start as usize..item.auxiliary.end as usize],
                    inverse_mass,
                };
                let corrections = &mut corrections[corner..corner + corners];
                constraint.satisfy(x, &around.auxiliary[chunk.batch], rule, &mut p, multiplier, corrections);
                (row, corner) = (row + rows, corner + corners);
            }
        });
    }
}

fn part<'a>(p: &'a mut PointsMut<'_>, range: Range<usize>) -> PointsMut<'a> {
    PointsMut { x: &mut p.x[range.clone()], y: &mut p.y[range.clone()], z: &mut p.z[range] }
}

/// One element: C(q) = √(Σ w ‖A q − p‖²) wants to be zero.
struct Constraint<'a> {
    batch: &'a dyn ConstraintBatch,
    element: usize,
    particles: &'a [u32],
    entries: &'a [u32],
    auxiliary: &'a [u32],
    inverse_mass: &'a [f64],
}

impl Constraint<'_> {
    /// Leaves the corrections that satisfy it, or as much of it as the rule allows, alone. `p` holds its
    /// projections, and its residuals afterwards.
    fn satisfy(
        &self,
        x: &Points,
        extra: &Points,
        rule: CorrectionRule,
        p: &mut PointsMut<'_>,
        multiplier: &mut f64,
        corrections: &mut [PaddedVector],
    ) {
        corrections.fill([0.0; 4]);
        let rows = self.batch.rows();
        let range = rows.of_elements(self.element..self.element + 1);
        for (k, row) in range.clone().enumerate() {
            p.set(k, rows.apply(row, x, extra) - p.get(k));
        }
        self.auxiliary.iter().for_each(|&unknown| self.settle(unknown, p));
        let weights = &rows.weights()[range.clone()];
        let squared: f64 = weights.iter().enumerate().map(|(k, w)| w * p.get(k).length_squared()).sum();
        let c = squared.sqrt();
        if !(c > f64::MIN_POSITIVE && c.is_finite()) {
            return;
        }
        // ∇C = Aᵀ w (A q − p)/C, at first in place of the corrections.
        let mut at = 0;
        for (k, row) in range.enumerate() {
            let pull = p.get(k) * (weights[k] / c);
            for (_, a) in rows.row(row) {
                if let Some(g) = corrections.get_mut(self.entries[at] as usize) {
                    *g = [g[0] + pull.x * a, g[1] + pull.y * a, g[2] + pull.z * a, 0.0];
                }
                at += 1;
            }
        }
        let inverse = |&i: &u32| self.inverse_mass[i as usize];
        let squares = corrections.iter().zip(self.particles.iter().map(inverse));
        let response: f64 = squares.map(|(g, w)| w * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2])).sum();
        let change = -(c + rule.compliance * *multiplier) / (response + rule.compliance) * rule.share;
        if !change.is_finite() {
            corrections.fill([0.0; 4]);
            return;
        }
        *multiplier += change;
        for (g, w) in corrections.iter_mut().zip(self.particles.iter().map(inverse)) {
            g.iter_mut().for_each(|v| *v *= w * change);
        }
    }

    /// Moves an auxiliary unknown, which has no mass, to where the residuals are least.
    fn settle(&self, unknown: u32, residuals: &mut PointsMut<'_>) {
        let rows = self.batch.rows();
        let coefficient = |row: usize| {
            let entry = rows.row(row).find(|(column, _)| *column == AUXILIARY + unknown);
            entry.map_or(0.0, |(_, c)| c)
        };
        let (mut pull, mut weight) = (DVec3::ZERO, 0.0);
        for (k, row) in rows.of_elements(self.element..self.element + 1).enumerate() {
            let c = coefficient(row);
            pull += residuals.get(k) * (rows.weights()[row] * c);
            weight += rows.weights()[row] * c * c;
        }
        if weight > 0.0 {
            for (k, row) in rows.of_elements(self.element..self.element + 1).enumerate() {
                residuals.set(k, residuals.get(k) - pull * (coefficient(row) / weight));
            }
        }
    }
}
