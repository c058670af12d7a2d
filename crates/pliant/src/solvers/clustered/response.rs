//! A clustered body as couplings see it: explicit steps let every particle answer to forces by itself, with h²/m.

use super::layout::WIDTH;
use super::passes::ObstacleInputs;
use super::{ClusteredCache, contacts};
use crate::contact::{ColliderGeometry, Nodes, Obstacles, Respond, SubstepStart};
use crate::model::BodyModel;
use crate::points::Points;
use crate::team::Team;
use glam::DVec3;
use pliant_math::lanes::Isa;

/// What couplings know of the body and do to it in a substep. Empty until it is tied to something.
#[derive(Clone, Debug)]
pub(super) struct CouplingResponse {
    beginning: SubstepStart,
    /// How far forces have moved each particle.
    pushed: Points,
    /// Blocks with particles that are tied, and their lanes.
    blocks: Vec<(u32, u8)>,
    h: f64,
}

impl CouplingResponse {
    pub fn new(model: &BodyModel) -> CouplingResponse {
        let beginning = SubstepStart { size: model.diameter(), start: Points::EMPTY, free: Vec::new() };
        CouplingResponse { beginning, pushed: Points::EMPTY, blocks: Vec::new(), h: 0.0 }
    }

    /// Begins a substep of `h` seconds at these positions.
    pub fn begin(&mut self, model: &BodyModel, start: &Points, h: f64) {
        let n = model.particle_count();
        if self.beginning.free.len() != n {
            self.beginning.free = (0..n as u32).map(|i| !model.prescribes(i)).collect();
            (self.beginning.start, self.pushed) = (Points::zeros(n), Points::zeros(n));
            self.blocks.reserve(n.div_ceil(WIDTH));
        }
        self.beginning.start.copy_from(start);
        self.pushed.clear();
        self.h = h;
    }
}

impl ClusteredCache {
    fn softness(&self, particle: usize) -> f64 {
        let CouplingResponse { beginning, h, .. } = &self.tied;
        if beginning.free[particle] { h * h / self.model.rest().mass[particle] } else { 0.0 }
    }

    fn at(&self, particle: usize) -> (usize, usize) {
        let slot = self.slots[particle] as usize;
        (slot / WIDTH, slot % WIDTH)
    }

    /// Takes tied particles out of the obstacles that couplings have drawn them into.
    pub(super) fn push_out_tied(&mut self, forms: &[ColliderGeometry], isa: Isa) {
        let ClusteredCache { planes, solids, radii, start, tied, x, free, .. } = self;
        let obstacles = Obstacles { planes, solids, forms };
        let Some(now) = self.now.filter(|_| !obstacles.is_empty()) else { return };
        let around = ObstacleInputs { obstacles, radii, start, now: &now };
        for &(block, lanes) in &tied.blocks {
            let b = block as usize;
            contacts::push_out_lanes(around.meeting(b, 0.0, 0.0), lanes & free[b], &mut x[b], isa);
        }
    }
}

impl Respond for ClusteredCache {
    fn beginning(&self) -> &SubstepStart {
        &self.tied.beginning
    }

    fn end(&self, particle: usize) -> DVec3 {
        let (block, lane) = self.at(particle);
        self.origin + self.x[block].get(lane)
    }

    fn free_end(&self, particle: usize) -> DVec3 {
        self.end(particle) - self.tied.pushed.get(particle)
    }

    fn prepare(&mut self, nodes: &Nodes, _: &Team) -> bool {
        self.tied.blocks.clear();
        for &i in nodes.particles() {
            let (block, lane) = self.at(i as usize);
            let blocks = &mut self.tied.blocks;
            match blocks.iter_mut().find(|(b, _)| *b as usize == block) {
                Some((_, lanes)) => *lanes |= 1 << lane,
                None => blocks.push((block as u32, 1 << lane)),
            }
        }
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        for k in 0..nodes.len() {
            nodes.set_movement(k, nodes.force(k) * self.softness(nodes.particles()[k] as usize));
        }
    }

    fn reach(&mut self, nodes: &mut Nodes, _: &Team) {
        for k in 0..nodes.len() {
            let by = nodes.weights[k] * self.softness(nodes.particles()[k] as usize);
            nodes.set_movement(k, DVec3::X * by);
        }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        for (i, force) in nodes.loads() {
            let (i, (block, lane)) = (i as usize, self.at(i as usize));
            let by = force * self.softness(i);
            let change = by - self.tied.pushed.get(i);
            let to = self.x[block].get(lane) + change;
            self.x[block].set(lane, to);
            self.tied.pushed.set(i, by);
        }
    }
}
