//! The passes of a substep, in their order: blocks and clusters are shared out to threads, kernels run over them, and
//! obstacles, pins and animated inputs act in between.

use super::contacts::{self, BlockContact};
use super::kernels::{
    BalanceSums, Euler, Finish, FitSums, KernelInputs, Limit, MotionSums, Points8, QuadraticSums, Relaxation,
    Springs,
};
use super::layout::WIDTH;
use super::pack::{FitClusters, FitPack, total};
use super::{BLOCKS, CLUSTERS, ClusteredCache, ContactSettings, PIECES, SubstepSettings, balance};
use crate::contact::{ColliderGeometry, ContactMaterial, Obstacles};
use crate::controls::LiveControls;
use crate::model::Input;
use crate::solvers::damping::decay;
use crate::team::Team;
use pliant_math::lanes::Isa;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The obstacles, and what the blocks of the body meet them with.
#[derive(Clone, Copy)]
pub(super) struct ObstacleInputs<'a> {
    pub obstacles: Obstacles<'a>,
    pub radii: &'a [[f64; WIDTH]],
    pub start: &'a [Points8],
    pub now: &'a SubstepSettings,
}

impl<'a> ObstacleInputs<'a> {
    /// Block `b` at the obstacles, without bounces.
    pub fn meeting(self, b: usize, h: f64, resting: f64) -> BlockContact<'a> {
        let ObstacleInputs { obstacles, radii, start, now } = self;
        let (surface, release, radii, start) = (now.surface, now.release, &radii[b], &start[b]);
        BlockContact { obstacles, surface, release, resting, radii, start, arriving: None, h, share: 0.0 }
    }
}

/// What the kernels read, borrowed from parts of a cache.
macro_rules! fixed {
    ($cache:ident) => {
        KernelInputs {
            by_cluster: &$cache.layout.by_cluster,
            by_block: &$cache.layout.by_block,
            weights: &$cache.weights,
            rest: &$cache.rest,
            centers: &$cache.centers,
        }
    };
}

impl ClusteredCache {
    /// The deformer's forces and Euler step, with impulses where obstacles are touched.
    pub(super) fn euler_step(
        &mut self,
        now: &SubstepSettings,
        outside: ContactSettings<'_>,
        isa: Isa,
        team: &Team,
    ) -> usize {
        let ContactSettings { forms, h, resting } = outside;
        if !now.deformer {
            return 0;
        }
        let contacts = AtomicUsize::new(0);
        let ClusteredCache { planes, solids, radii, start, free, .. } = self;
        let obstacles = Obstacles { planes, solids, forms };
        let around = ObstacleInputs { obstacles, radii, start, now };
        let drive = (h, now.keep, now.kick.to_array());
        team.split((&mut self.x[..], &mut self.v[..]), BLOCKS, |range, (x, v)| {
            isa.run(Euler { drive, x, v });
            if around.obstacles.is_empty() {
                return;
            }
            let mut found = 0;
            for (k, b) in range.enumerate() {
                let (meeting, x, v) = (around.meeting(b, h, resting), &mut x[k], &mut v[k]);
                found += contacts::impulses(meeting, &now.controls, free[b], x, v, isa);
            }
            contacts.fetch_add(found, Ordering::Relaxed);
        });
        self.place_pins(false, h);
        self.levers.copy_from_slice(&self.x);
        contacts.into_inner()
    }

    /// Line 6 of algorithm 2: sums over the members, then the best-fit motions.
    /// The first fit of a substep also lets permanent deformation flow.
    pub(super) fn fit(&mut self, now: &SubstepSettings, first: bool, isa: Isa, team: &Team) {
        let fixed = fixed!(self);
        let (layout, x) = (&self.layout, &self.x);
        team.split(&mut self.sums[..], PIECES, |range, out| {
            isa.run(FitSums { fixed, pieces: &layout.pieces[range], x, out });
        });
        if !self.quadratic.is_empty() {
            let quadratic = &self.quadratic;
            team.split(&mut self.quadratic_sums[..], PIECES, |range, out| {
                isa.run(QuadraticSums { fixed, pieces: &layout.pieces[range], quadratic, x, out });
            });
        }
        let clusters = FitClusters {
            rest: self.animated.as_deref().unwrap_or(self.model.rest()),
            layout,
            now,
            constants: &self.constants,
            sums: &self.sums,
            quadratic_sums: &self.quadratic_sums,
            plastic: self.any_plastic,
            first,
        };
        let parts =
            (&mut self.goals[..], (&mut self.rotations[..], (&mut self.plastic[..], &mut self.present[..])));
        if self.quadratic.is_empty() {
            team.split(parts, CLUSTERS, |range, (goals, (rotations, (plastic, present)))| {
                isa.run(FitPack { clusters, range, goals, rotations, plastic, present, quadratic: &mut [] });
            });
        } else {
            let parts = (&mut self.quadratic[..], parts);
            team.split(parts, CLUSTERS, |range, (quadratic, (goals, (rotations, (plastic, present))))| {
                isa.run(FitPack { clusters, range, goals, rotations, plastic, present, quadratic });
            });
        }
    }

    /// The rigid motion each cluster's damping leaves alone, and the inertia its limits push against.
    pub(super) fn fit_motion(&mut self, now: &SubstepSettings, isa: Isa, team: &Team) {
        if now.damping == 0.0 && !now.balances() {
            return;
        }
        let fixed = fixed!(self);
        let layout = &self.layout;
        let rest = self.animated.as_deref().unwrap_or(self.model.rest());
        let ClusteredCache { x, v, present, motion, anchors, screws, .. } = self;
        team.split(&mut motion[..], PIECES, |range, out| {
            isa.run(MotionSums { fixed, pieces: &layout.pieces[range], centers: present, x, v, out });
        });
        team.split((&mut anchors[..], &mut screws[..]), CLUSTERS, |range, (anchors, screws)| {
            for ((k, anchor), screw) in range.zip(anchors).zip(screws) {
                let sum = total(&motion[..], &layout.piece_offsets, k);
                let cluster = &rest.clusters[layout.clusters[k] as usize];
                (*anchor, *screw) = balance::rigid_motion(&sum, present[k], cluster);
            }
        });
    }

    /// Lines 1 to 3 of algorithm 1 or the matching step of the deformer, then pins and obstacles. Leaves
    /// v* in `v`, x⁰ in `predicted`, and x⁰ pushed out of obstacles in `x`.
    pub(super) fn springs(
        &mut self,
        now: &SubstepSettings,
        outside: ContactSettings<'_>,
        isa: Isa,
        team: &Team,
    ) -> usize {
        let ContactSettings { forms, h, resting } = outside;
        let contacts = AtomicUsize::new(0);
        let fixed = fixed!(self);
        let ClusteredCache { goals, quadratic, screws, free, radii, masses, planes, solids, start, .. } =
            self;
        let obstacles = Obstacles { planes, solids, forms };
        let around = ObstacleInputs { obstacles, radii, start, now };
        let parts = (&mut self.x[..], (&mut self.v[..], &mut self.predicted[..]));
        let restitution = now.surface.restitution > 0.0
            || planes.iter().any(|o| o.end.restitution > 0.0)
            || solids.iter().any(|s| s.restitution > 0.0);
        let bounces = !now.deformer && !obstacles.is_empty() && restitution;
        let others = (&mut self.arriving[..], &mut self.gains[..]);
        let drive = now.drive(h);
        team.split((parts, others), BLOCKS, |range, ((x, (v, predicted)), (arriving, gains))| {
            if bounces {
                arriving.copy_from_slice(v);
                gains.fill(0.0);
            }
            isa.run(Springs { fixed, first: range.start, goals, quadratic, screws, drive, x, v, predicted });
            if around.obstacles.is_empty() {
                return;
            }
            let mut found = 0;
            for (k, b) in range.enumerate() {
                let mut meeting = around.meeting(b, h, resting);
                if now.deformer {
                    // What the matching step presses into an obstacle is no velocity, and friction was the impulses'.
                    meeting.surface = ContactMaterial { friction: Some(0.0), restitution: 0.0 };
                }
                (meeting.arriving, meeting.share) = (bounces.then_some(&arriving[k]), 1.0);
                let touching = contacts::push_out_lanes(meeting, free[b], &mut x[k], isa);
                if now.deformer {
                    predicted[k] = x[k];
                } else {
                    found += touching;
                }
                if bounces && touching > 0 {
                    gains[k] = contacts::energy_gained(
                        meeting,
                        &masses[b],
                        (&arriving[k], &v[k]),
                        (&predicted[k], &x[k]),
                    );
                }
            }
            contacts.fetch_add(found, Ordering::Relaxed);
        });
        if bounces && self.gains.iter().sum::<f64>() > 0.0 {
            self.limit_bounces(now, outside, isa);
        }
        self.place_pins(true, h);
        contacts.into_inner()
    }

    /// Returns less of their restitution to the particles, where their contacts would add energy: one that has turned
    /// around may be pulled back by its neighbours in the next substep, and be turned around again.
    fn limit_bounces(&mut self, now: &SubstepSettings, outside: ContactSettings<'_>, isa: Isa) {
        let ContactSettings { forms, h, resting } = outside;
        let ClusteredCache { x, v, predicted, arriving, start, radii, masses, free, planes, solids, .. } =
            self;
        let obstacles = Obstacles { planes, solids, forms };
        let around = ObstacleInputs { obstacles, radii, start, now };
        let mut gained = |share: f64| {
            let mut sum = 0.0;
            for b in 0..x.len() {
                let meeting =
                    BlockContact { arriving: Some(&arriving[b]), share, ..around.meeting(b, h, resting) };
                x[b] = predicted[b];
                if contacts::push_out_lanes(meeting, free[b], &mut x[b], isa) > 0 {
                    sum += contacts::energy_gained(
                        meeting,
                        &masses[b],
                        (&arriving[b], &v[b]),
                        (&predicted[b], &x[b]),
                    );
                }
            }
            sum
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..8 {
            let middle = 0.5 * (low + high);
            if gained(middle) > 0.0 { high = middle } else { low = middle }
        }
        gained(low);
    }

    /// Draws painted particles toward their animated input by damped springs: they lag and overshoot.
    pub(super) fn draw_followers(&mut self, controls: LiveControls<'_>, h: f64) {
        let (time, c) = (self.time, controls.body);
        let Some(Input { sequence, .. }) = self.model.input.as_deref() else { return };
        for &(block, lane, k, weight) in self.followers.iter().filter(|f| f.3 < 1.0) {
            let (b, lane) = (block as usize, lane as usize);
            let target = sequence.at(time).get(k as usize);
            let velocity = (target - sequence.at(time - h).get(k as usize)) / h;
            let displacement = target - self.origin - self.start[b].get(lane);
            // Implicit in the way still to go: stable for any frequency and step.
            let stiffness = (std::f64::consts::TAU * c.follow * h).powi(2);
            let (alpha, calm) = (stiffness / (1.0 + stiffness), decay(c.follow_damping, h));
            let v = self.v[b].get(lane);
            // As the springs of clusters: α of the way becomes velocity. The way the input itself goes in
            // this step is the damping's part.
            let pull = (displacement - velocity * h) * (alpha / h) + (velocity - v) * calm;
            self.v[b].set(lane, v + pull * weight);
        }
    }

    /// Puts prescribed particles where they are held: for the goals only, or for good.
    fn place_pins(&mut self, last: bool, h: f64) {
        for &(block, lane, k, _) in self.followers.iter().filter(|f| f.3 >= 1.0) {
            let Some(input) = &self.model.input else { break };
            let (b, lane) = (block as usize, lane as usize);
            let target = input.sequence.at(self.time).get(k as usize) - self.origin;
            self.x[b].set(lane, target);
            if last {
                self.predicted[b].set(lane, target);
                self.v[b].set(lane, (target - self.start[b].get(lane)) / h);
            }
        }
        for &(block, lane, number) in &self.pins {
            let (b, lane) = (block as usize, lane as usize);
            let target = self.targets[number as usize] - self.origin;
            self.x[b].set(lane, target);
            if last {
                self.predicted[b].set(lane, target);
                self.v[b].set(lane, (target - self.start[b].get(lane)) / h);
            }
        }
    }

    /// One iteration of lines 4 to 7 of algorithm 1. Where the body asks for it, each cluster takes back the momentum its
    /// corrections introduced; see [`balance`]. The last one returns how far beyond the limit the farthest particle was.
    pub(super) fn limit_strain(
        &mut self,
        now: &SubstepSettings,
        (forms, measure): (&[ColliderGeometry], bool),
        isa: Isa,
        team: &Team,
    ) -> f64 {
        let c = &now.controls;
        let relaxation =
            Relaxation { omega: c.relaxation, gamma: c.strain_limit, conserve: c.conserve_momentum };
        self.fit(now, false, isa, team);
        if now.balances() {
            self.balance(isa, team);
        }
        // Largest excess; a maximum does not depend on the order it is taken in, and bits of
        // non-negative numbers sort like the numbers.
        let largest = AtomicU64::new(0);
        let fixed = fixed!(self);
        let ClusteredCache { goals, quadratic, screws, free, radii, planes, solids, start, .. } = self;
        let obstacles = Obstacles { planes, solids, forms };
        let levers = if self.levers.is_empty() { &*start } else { &self.levers };
        let around = ObstacleInputs { obstacles, radii, start, now };
        team.split((&mut self.x[..], &mut self.moved[..]), BLOCKS, |range, (x, moved)| {
            let far = isa.run(Limit {
                fixed,
                first: range.start,
                goals,
                quadratic,
                reactions: screws,
                relaxation,
                free,
                start: levers,
                x,
                moved,
                measure,
            });
            largest.fetch_max(far.to_bits(), Ordering::Relaxed);
            if around.obstacles.is_empty() {
                return;
            }
            for (k, b) in range.enumerate().filter(|(k, _)| moved[*k] != 0) {
                // Whether it bounces was decided when it arrived.
                contacts::push_out_lanes(around.meeting(b, 0.0, 0.0), moved[k], &mut x[k], isa);
            }
        });
        f64::from_bits(largest.into_inner())
    }

    /// The rigid displacement that takes back what each cluster is about to introduce.
    fn balance(&mut self, isa: Isa, team: &Team) {
        let fixed = fixed!(self);
        let layout = &self.layout;
        let levers = if self.levers.is_empty() { &self.start } else { &self.levers };
        let ClusteredCache { x, anchors, free, goals, quadratic, balance, screws, .. } = self;
        team.split(&mut balance[..], PIECES, |range, out| {
            let pieces = &layout.pieces[range];
            isa.run(BalanceSums { fixed, pieces, goals, quadratic, anchors, free, start: levers, x, out });
        });
        team.split(&mut screws[..], CLUSTERS, |range, screws| {
            for (k, screw) in range.zip(screws) {
                *screw = anchors[k].reaction(&total(&balance[..], &layout.piece_offsets, k));
            }
        });
    }

    /// Lines 8 and 9 of algorithm 1. Returns whether everything is still a number.
    pub(super) fn update_velocities(&mut self, h: f64, isa: Isa, team: &Team) -> bool {
        let ClusteredCache { x, predicted, .. } = self;
        let finite = AtomicBool::new(true);
        team.split((&mut self.v[..], &mut self.start[..]), BLOCKS, |range, (v, start)| {
            let (x, predicted) = (&x[range.clone()], &predicted[range]);
            if !isa.run(Finish { per_second: h.recip(), x, predicted, start, v }) {
                finite.store(false, Ordering::Relaxed);
            }
        });
        finite.into_inner()
    }
}
