//! What is taken into lanes and given back: the model's constant numbers once, the live values in every substep, and
//! the state before and after it.

use super::fit::GoalMethod;
use super::kernels::{Goal, Points8, QuadraticGoal, RestBlock, Screw, Weights};
use super::layout::{ClusterLayout, EMPTY, Entry, WIDTH};
use super::pack::ClusterConstants;
use super::response::CouplingResponse;
use super::{BLOCKS, ClusterInertia, ClusteredCache, PARTICLES, SubstepSettings};
use crate::contact::{ContactMaterial, Obstacles, release};
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::{BodyModel, Goals, Integrator, Rest};
use crate::points::Points;
use crate::solvers::Before;
use crate::solvers::damping::decay;
use crate::state::BodyState;
use crate::team::Team;
use glam::{DMat3, DVec3};
use pliant_math::lanes::Bits;

impl ClusteredCache {
    pub(super) fn new(model: &BodyModel, bits: Bits) -> ClusteredCache {
        let layout = ClusterLayout::new(model);
        let (blocks, clusters, pieces) = (layout.lanes.len(), layout.clusters.len(), layout.pieces.len());
        let mut slots = vec![EMPTY; model.particle_count()];
        let mut free = vec![0u8; blocks];
        let (mut radii, mut masses) = (vec![[0.0; WIDTH]; blocks], vec![[0.0; WIDTH]; blocks]);
        for (b, lanes) in layout.lanes.iter().enumerate() {
            for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != EMPTY) {
                slots[i as usize] = (b * WIDTH + lane) as u32;
                free[b] |= 1 << lane;
                radii[b][lane] = model.rest().radius[i as usize];
                masses[b][lane] = model.rest().mass[i as usize];
            }
        }
        let pins = pinned_lanes(model, &slots, &mut free);
        let followers = following_lanes(model, &slots, &mut free);
        let reshapes = model.input.as_ref().is_some_and(|i| i.reshape);
        let deformer = model.kind.matching().unwrap_or_default().integrator == Integrator::Deformer;
        let any_quadratic = model.rest().bases.iter().any(|b| b.goals == Goals::Quadratic);
        let quadratic = |n: usize| if any_quadratic { n } else { 0 };
        let mut cache = ClusteredCache {
            bits,
            targets: Vec::with_capacity(model.pins.iter().map(|g| g.particles.len()).sum()),
            time: 0.0,
            now: None,
            contacts: 0,
            excess: 0.0,
            weights: vec![Weights::default(); blocks],
            rest: vec![RestBlock::default(); blocks],
            centers: vec![[0.0; 3]; clusters],
            constants: vec![ClusterConstants::default(); clusters],
            origin: DVec3::ZERO,
            planes: Vec::new(),
            solids: Vec::new(),
            x: vec![Points8::default(); blocks],
            v: vec![Points8::default(); blocks],
            start: vec![Points8::default(); blocks],
            levers: vec![Points8::default(); if deformer { blocks } else { 0 }],
            predicted: vec![Points8::default(); blocks],
            moved: vec![0; blocks],
            sums: vec![[0.0; 12]; pieces],
            quadratic_sums: vec![[0.0; 18]; quadratic(pieces)],
            motion: vec![[0.0; 12]; pieces],
            balance: vec![[0.0; 6]; pieces],
            goals: vec![Goal::default(); clusters],
            quadratic: vec![QuadraticGoal::default(); quadratic(clusters)],
            rotations: vec![DMat3::IDENTITY; clusters],
            plastic: vec![DMat3::IDENTITY; clusters],
            any_plastic: false,
            present: vec![DVec3::ZERO; clusters],
            anchors: vec![ClusterInertia::default(); clusters],
            screws: vec![Screw::default(); clusters],
            tied: CouplingResponse::new(model),
            crowded: false,
            model: model.clone(),
            layout,
            slots,
            free,
            radii,
            masses,
            gains: vec![0.0; blocks],
            arriving: vec![Points8::default(); blocks],
            diameter: model.diameter(),
            pins,
            followers,
            animated: reshapes.then(|| Box::new(model.rest().clone())),
        };
        cache.take_rest();
        cache
    }

    /// Puts the rest shape into lanes, relative to the body's centre.
    fn take_rest(&mut self) {
        let ClusteredCache { model, layout, weights, rest, centers, constants, quadratic, animated, .. } =
            self;
        let bits = self.bits;
        let model_rest: &Rest = animated.as_deref().unwrap_or(model.rest());
        let first = model_rest.positions.get(0);
        let offsets = model_rest.positions.iter().map(|p| p - first);
        let origin = first + offsets.sum::<DVec3>() / model.particle_count() as f64;
        let smooth = !layout.by_block.shares.is_empty();
        for (b, lanes) in layout.lanes.iter().enumerate() {
            for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != EMPTY) {
                let i = i as usize;
                let share = if smooth { 1.0 } else { 1.0 / model.topology().memberships(i).len() as f64 };
                let (mass, r) = (model_rest.mass[i] * share, model_rest.positions.get(i) - origin);
                weights[b].weight[lane] = mass;
                rest[b].share[lane] = share;
                for (k, r) in r.to_array().into_iter().enumerate() {
                    weights[b].weighted[k][lane] = mass * r;
                    rest[b].rest[k][lane] = r;
                }
            }
        }
        for (k, &c) in layout.clusters.iter().enumerate() {
            let cluster = &model_rest.clusters[c as usize];
            centers[k] = (cluster.center - origin).to_array();
            let mut first_moment = DVec3::ZERO;
            for e in layout.by_cluster.range(k) {
                let Entry { index, mask } = layout.by_cluster.list[e];
                let w = &weights[index as usize];
                for lane in (0..WIDTH).filter(|lane| mask & (1 << lane) != 0) {
                    let share = layout.by_cluster.shares.get(e).map_or(1.0, |s| s[lane]);
                    let q = |j: usize| bits.mul_add(-w.weight[lane], centers[k][j], w.weighted[j][lane]);
                    first_moment += DVec3::new(q(0), q(1), q(2)) * share;
                }
            }
            let width = cluster.width;
            constants[k] = ClusterConstants {
                inverse_mass: cluster.mass.recip(),
                inverse_width: if width > 0.0 { (width * width).recip() } else { 0.0 },
                stiffness: cluster.stiffness,
                center: centers[k],
                first_moment: first_moment.to_array(),
                coincident: width == 0.0 && model.topology().clusters.range(c as usize).len() > 1,
                deforms: model_rest.bases[c as usize].goals != Goals::Rigid,
            };
            if let Some(to) = quadratic.get_mut(k) {
                let scale =
                    model_rest.bases[c as usize].quadratic.as_ref().map_or(0.0, |_| cluster.width.recip());
                (to.center, to.scale) = (centers[k], scale);
            }
        }
    }

    /// The live values, read anew in each substep: changing them costs nothing.
    pub(super) fn read_controls(
        &mut self,
        controls: LiveControls<'_>,
        obstacles: Obstacles<'_>,
        x: &Points,
        h: f64,
    ) -> SubstepSettings {
        let (c, matching) = (controls.body, self.model.kind.matching().unwrap_or_default());
        let idle = c.relaxation == 0.0 || c.strain_limit == f64::INFINITY;
        let now = SubstepSettings {
            deformer: matching.integrator == Integrator::Deformer,
            making: GoalMethod::of(matching),
            controls: *c,
            alpha: c.stiffness.alpha(h),
            iterations: if idle { 0 } else { c.iterations },
            damping: decay(c.damping, h),
            keep: 1.0 - decay(c.drag, h),
            inverse_gamma: c.strain_limit.max(1e-18).powi(-2),
            creep: if c.yield_strain < f64::INFINITY { decay(c.creep, h) } else { 0.0 },
            kick: controls.pull() * h,
            surface: ContactMaterial { friction: c.friction, restitution: c.restitution },
            release: release(self.diameter, h),
        };
        self.origin = x.get(0);
        let origin = self.origin;
        self.planes.clear();
        self.planes.extend(obstacles.planes.iter().map(|o| o.seen_from(origin)));
        self.solids.clear();
        self.solids.extend(obstacles.solids.iter().map(|s| s.seen_from(origin)));
        now
    }

    /// Takes up the rest shape that an animated input has at the end of the substep.
    pub(super) fn follow_input(&mut self) {
        if let (Some(rest), Some(input)) = (&mut self.animated, &self.model.input) {
            rest.reshape(self.model.topology(), &input.sequence.at(self.time));
            self.take_rest();
        }
    }

    /// Takes positions and velocities into lanes, and what clusters remember.
    pub(super) fn take_state(
        &mut self,
        now: &SubstepSettings,
        from: Option<Before<'_>>,
        state: &BodyState,
        team: &Team,
    ) {
        let ClusteredCache { layout, origin, x, v, start, rotations, plastic, .. } = self;
        let (from_x, from_v) = from.unwrap_or((&state.x, &state.v));
        let origin = origin.to_array();
        team.split((&mut x[..], (&mut v[..], &mut start[..])), BLOCKS, |range, (x, (v, start))| {
            let columns = (from_x.columns(), from_v.columns());
            for (k, b) in range.enumerate() {
                for (j, origin) in origin.into_iter().enumerate() {
                    let (from_x, from_v) = (columns.0[j], columns.1[j]);
                    let (to_x, to_v) = (&mut x[k].0[j], &mut v[k].0[j]);
                    for (lane, &i) in layout.lanes[b].iter().enumerate() {
                        // Lanes without a particle rest at the origin.
                        to_x[lane] = from_x.get(i as usize).map_or(0.0, |x| x - origin);
                        to_v[lane] = from_v.get(i as usize).copied().unwrap_or(0.0);
                    }
                    start[k].0[j] = *to_x;
                }
            }
        });
        for (k, &c) in layout.clusters.iter().enumerate() {
            rotations[k] = state.memory.matrix(Section::Rotations, c as usize);
            plastic[k] = state.memory.matrix(Section::Plastic, c as usize);
        }
        self.any_plastic = now.creep > 0.0 || plastic.iter().any(|p| *p != DMat3::IDENTITY);
    }

    /// Takes movements, velocities and what clusters remember back to the state.
    pub(super) fn give_state(&mut self, from: Option<Before<'_>>, state: &mut BodyState, team: &Team) {
        let ClusteredCache { layout, slots, v, start, rotations, plastic, .. } = self;
        team.split((&mut state.x, &mut state.v), PARTICLES, |range, (to_x, to_v)| {
            let was = from.map(|(x, _)| x.columns().map(|c| &c[range.clone()]));
            let slots = &slots[range];
            let to = [(to_x.x, to_v.x), (to_x.y, to_v.y), (to_x.z, to_v.z)];
            for (j, (to_x, to_v)) in to.into_iter().enumerate() {
                for ((k, &slot), (to_x, to_v)) in slots.iter().enumerate().zip(to_x.iter_mut().zip(to_v)) {
                    let (b, lane) = (slot as usize / WIDTH, slot as usize % WIDTH);
                    // As a movement: what stands still keeps its bits, however far from the origin.
                    *to_x = was.map_or(*to_x, |was| was[j][k]) + start[b].0[j][lane];
                    *to_v = v[b].0[j][lane];
                }
            }
        });
        for &(block, lane, number) in &self.pins {
            let i = layout.lanes[block as usize][lane as usize] as usize;
            state.x.set(i, self.targets[number as usize]);
        }
        for &(_, _, k, _) in self.followers.iter().filter(|f| f.3 >= 1.0) {
            let Some(input) = &self.model.input else { break };
            state.x.set(k as usize, input.sequence.at(self.time).get(k as usize));
        }
        for (k, &c) in layout.clusters.iter().enumerate() {
            state.memory.set_matrix(Section::Rotations, c as usize, rotations[k]);
            state.memory.set_matrix(Section::Plastic, c as usize, plastic[k]);
        }
    }
}

/// The lanes of pinned particles, as (block, lane, number of the target); they are free no more.
fn pinned_lanes(model: &BodyModel, slots: &[u32], free: &mut [u8]) -> Vec<(u32, u32, u32)> {
    let held = model.pins.iter().flat_map(|g| &g.particles).enumerate();
    let place = |(number, &i): (usize, &u32)| {
        let (block, lane) = lane_of(slots[i as usize]);
        free[block as usize] &= !(1 << lane);
        (block, lane, number as u32)
    };
    held.map(place).collect()
}

/// The lanes that follow an animated input, as (block, lane, particle, painted weight); those of weight 1 are free no more.
fn following_lanes(model: &BodyModel, slots: &[u32], free: &mut [u8]) -> Vec<(u32, u32, u32, f64)> {
    let mut followers = Vec::new();
    let painted = model.input.as_ref().map_or(&[][..], |input| &input.follow);
    for (k, &weight) in painted.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        let (block, lane) = lane_of(slots[k]);
        // A pin holds more firmly than any weight.
        if free[block as usize] & (1 << lane) != 0 {
            followers.push((block, lane, k as u32, weight));
            if weight >= 1.0 {
                free[block as usize] &= !(1 << lane);
            }
        }
    }
    followers
}

/// Block and lane of a slot.
fn lane_of(slot: u32) -> (u32, u32) {
    (slot / WIDTH as u32, slot % WIDTH as u32)
}
