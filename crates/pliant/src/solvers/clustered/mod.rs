//! Clustered shape matching: strain limiting (Bargteil & Jones, strain-limiting.txt) and the deformer
//! (shape-matching-deformer.txt), one solver with different goals and integrators.
//!
//! A body is a cloud of particles in overlapping clusters. Each cluster finds the rigid, linear or
//! quadratic motion of its rest shape that fits its particles best; goals are averaged over a
//! particle's clusters. One substep of the strain-limited integrator (algorithm 1):
//!
//! 1. springs of strength α toward the goals, and all other forces, change the velocities; positions
//!    follow (symplectic Euler);
//! 2. a few iterations move particles that strayed more than γ cluster widths from a goal back to
//!    that distance, ω of the way;
//! 3. what the iterations moved is added to the velocities.
//!
//! Without limiting (no iterations, or ω = 0) this is Müller's integrator, with α = 0 and γ = 0 it is
//! position-based dynamics. Forces are α m_ic (g_ic − x_i) with split masses, so linear and angular
//! momentum are conserved to rounding while no limit is active. Active limits conserve neither, to the
//! paper's letter; with [`BodyControls::conserve_momentum`](crate::BodyControls::conserve_momentum) each
//! cluster takes its own momentum back, and both are conserved to rounding.
//!
//! The deformer's integrator is impulses and an explicit Euler step (eq. 2 to 4), then a matching step
//! that moves particles α_s of the way to their goals and gives α_f of that to the velocity (eq. 7,
//! with the old position it lacks). Limiting may follow it too.
//!
//! All of this happens in blocks of eight particles (`layout`), in lanes (`kernels`); what clusters
//! make of the sums is in `fit`. Everything kept between steps is a cache.

mod balance;
mod contacts;
mod fit;
mod goals;
mod kernels;
mod layout;

use super::damping::decay;
use super::{Solver, SolverError, SolverKind, SubstepReport};
use crate::contact::Surface;
use crate::controls::{BodyControls, Controls};
use crate::model::{Goals, HalfSpace, Integrator, Model};
use crate::state::State;
use crate::team::Team;
use balance::Anchor;
use fit::Sums;
use glam::{DAffine3, DMat3, DVec3};
use kernels::{
    BalanceSum, BalanceSums, Drive, Euler, Finish, FitSum, FitSums, Fixed, Goal, Limit, MotionSum,
    MotionSums, Octet, QuadraticGoal, QuadraticSum, QuadraticSums, RestBlock, Screw, Springs, Weights,
};
use layout::{EMPTY, Entry, Layout, WIDTH};
use pliant_math::lanes::{Isa, Kernel, Lanes, M3, rotations8};
use pliant_math::nearest_rotation;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub use goals::{elastic_energy, raise_strain};

/// Blocks, pieces and clusters per chunk of parallel work.
const BLOCKS: usize = 32;
const PIECES: usize = 8;
const CLUSTERS: usize = 8;
/// Particles per chunk when results are taken back.
const PARTICLES: usize = 1024;

/// 1/limit² of clusters without extent: above any other, and with any distance still a number.
const COINCIDENT: f64 = 1e200;

/// The solver; everything in it is a cache.
#[derive(Debug)]
pub struct Clustered {
    cache: Option<Box<Cache>>,
    isa: Isa,
}

impl Default for Clustered {
    fn default() -> Self {
        Clustered { cache: None, isa: Isa::best() }
    }
}

impl Clustered {
    /// Runs the kernels with another instruction set: slower, with the same bits.
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
    }

    /// The instruction set the kernels run with.
    pub fn isa(&self) -> Isa {
        self.isa
    }
}

/// Numbers of one body for one substep.
#[derive(Clone, Copy, Debug)]
struct BodyNow {
    active: bool,
    deformer: bool,
    two_step: bool,
    controls: BodyControls,
    alpha: f64,
    /// Limiting iterations that can have an effect.
    iterations: u32,
    damping: f64,
    keep: f64,
    /// Share of the stretch beyond the yield strain that becomes permanent.
    creep: f64,
    kick: DVec3,
    surface: Surface,
}

#[derive(Debug)]
struct Cache {
    model: Model,
    layout: Layout,
    /// Where each particle lies: block · 8 + lane, or [`EMPTY`].
    slots: Vec<u32>,
    /// Lanes that hold a particle no pin prescribes.
    free: Vec<u8>,
    /// Lanes with prescribed particles: block, lane, pin group, anchor.
    pins: Vec<(u32, u32, u32, DVec3)>,
    placements: Vec<DAffine3>,

    weights: Vec<Weights>,
    rest: Vec<RestBlock>,
    /// Rest centres of the clusters, from their body's.
    centers: Vec<[f64; 3]>,
    /// Σ m q over each cluster: zero but for the rounding of the centre. Uncorrected it would turn the
    /// cluster by a constant, and symmetric bodies would drift.
    lopsided: Vec<DVec3>,

    now: Vec<BodyNow>,
    /// What positions of a body are relative to in this substep, and the planes seen from there.
    origins: Vec<DVec3>,
    planes: Vec<HalfSpace>,
    wanted: Vec<bool>,
    drives: Vec<Option<Drive>>,
    euler: Vec<Option<(f64, f64, [f64; 3])>>,
    relaxation: Vec<Option<(f64, bool)>>,

    x: Vec<Octet>,
    v: Vec<Octet>,
    start: Vec<Octet>,
    /// Where rigid motions are fitted if some body is the deformer's: after its Euler step.
    levers: Vec<Octet>,
    predicted: Vec<Octet>,
    moved: Vec<u8>,

    sums: Vec<FitSum>,
    quadratic_sums: Vec<QuadraticSum>,
    motion: Vec<MotionSum>,
    balance: Vec<BalanceSum>,

    goals: Vec<Goal>,
    /// One per cluster if any body has quadratic goals, else empty.
    quadratic: Vec<QuadraticGoal>,
    rotations: Vec<DMat3>,
    plastic: Vec<DMat3>,
    present: Vec<DVec3>,
    anchors: Vec<Anchor>,
    /// Rigid velocities, then reactions.
    screws: Vec<Screw>,
}

impl Cache {
    fn new(model: &Model) -> Cache {
        let layout = Layout::new(model);
        let (blocks, clusters, pieces) = (layout.lanes.len(), layout.clusters.len(), layout.pieces.len());
        let bodies = model.topology.bodies.len();
        let mut slots = vec![EMPTY; model.particle_count()];
        let mut free = vec![0u8; blocks];
        for (b, lanes) in layout.lanes.iter().enumerate() {
            for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != EMPTY) {
                slots[i as usize] = (b * WIDTH + lane) as u32;
                free[b] |= 1 << lane;
            }
        }
        let mut pins = Vec::new();
        for (g, group) in model.params.pins.iter().enumerate() {
            for (&i, &anchor) in group.particles.iter().zip(&group.anchors) {
                let slot = slots[i as usize];
                if slot != EMPTY {
                    let (block, lane) = (slot / WIDTH as u32, slot % WIDTH as u32);
                    free[block as usize] &= !(1 << lane);
                    pins.push((block, lane, g as u32, anchor));
                }
            }
        }
        let any_quadratic = model.rest.bases.iter().any(|b| b.goals == Goals::Quadratic);
        let quadratic = |n: usize| if any_quadratic { n } else { 0 };
        let mut cache = Cache {
            placements: Vec::with_capacity(model.params.pins.len()),
            weights: vec![Weights::default(); blocks],
            rest: vec![RestBlock::default(); blocks],
            centers: vec![[0.0; 3]; clusters],
            lopsided: vec![DVec3::ZERO; clusters],
            now: Vec::with_capacity(bodies),
            origins: vec![DVec3::ZERO; bodies],
            planes: Vec::with_capacity(bodies * model.params.planes.len()),
            wanted: vec![false; bodies],
            drives: vec![None; bodies],
            euler: vec![None; bodies],
            relaxation: vec![None; bodies],
            x: vec![Octet::default(); blocks],
            v: vec![Octet::default(); blocks],
            start: vec![Octet::default(); blocks],
            levers: vec![Octet::default(); blocks],
            predicted: vec![Octet::default(); blocks],
            moved: vec![0; blocks],
            sums: vec![[0.0; 12]; pieces],
            quadratic_sums: vec![[0.0; 18]; quadratic(pieces)],
            motion: vec![[0.0; 12]; pieces],
            balance: vec![[0.0; 6]; pieces],
            goals: vec![Goal::default(); clusters],
            quadratic: vec![QuadraticGoal::default(); quadratic(clusters)],
            rotations: vec![DMat3::IDENTITY; clusters],
            plastic: vec![DMat3::IDENTITY; clusters],
            present: vec![DVec3::ZERO; clusters],
            anchors: vec![Anchor::default(); clusters],
            screws: vec![Screw::default(); clusters],
            model: model.clone(),
            layout,
            slots,
            free,
            pins,
        };
        cache.take_rest();
        cache
    }

    /// Puts the rest shape into lanes, relative to each body's centre.
    fn take_rest(&mut self) {
        let Cache { model, layout, weights, rest, centers, lopsided, quadratic, .. } = self;
        let model_rest = &model.rest;
        let origins: Vec<DVec3> = model
            .topology
            .bodies
            .iter()
            .map(|body| {
                let first = model_rest.positions.get(body.particles.start);
                let offsets = body.particles.clone().map(|i| model_rest.positions.get(i) - first);
                first + offsets.sum::<DVec3>() / body.particles.len() as f64
            })
            .collect();
        let smooth = !layout.by_block.shares.is_empty();
        for (b, lanes) in layout.lanes.iter().enumerate() {
            let origin = origins[layout.body_of_block[b] as usize];
            for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != EMPTY) {
                let i = i as usize;
                let share = if smooth { 1.0 } else { 1.0 / model.topology.memberships(i).len() as f64 };
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
            let origin = origins[layout.body_of_cluster[k] as usize];
            let cluster = &model_rest.clusters[c as usize];
            centers[k] = (cluster.center - origin).to_array();
            lopsided[k] = DVec3::ZERO;
            for e in layout.by_cluster.range(k) {
                let Entry { index, mask } = layout.by_cluster.list[e];
                let w = &weights[index as usize];
                for lane in (0..WIDTH).filter(|lane| mask & (1 << lane) != 0) {
                    let share = layout.by_cluster.shares.get(e).map_or(1.0, |s| s[lane]);
                    let q = |j: usize| (-w.weight[lane]).mul_add(centers[k][j], w.weighted[j][lane]);
                    lopsided[k] += DVec3::new(q(0), q(1), q(2)) * share;
                }
            }
            if let (Some(to), Some(_)) = (quadratic.get_mut(k), &model_rest.bases[c as usize].quadratic) {
                (to.center, to.scale) = (centers[k], cluster.width.recip());
            }
        }
    }

    /// The live values of all bodies, read anew in each substep: changing them costs nothing.
    fn read_controls(&mut self, controls: &Controls, state: &State, h: f64) {
        self.now.clear();
        self.planes.clear();
        for (b, (c, settings)) in controls.bodies.iter().zip(&self.model.params.bodies).enumerate() {
            let idle = c.relaxation == 0.0 || c.strain_limit == f64::INFINITY;
            let active = settings.solver == SolverKind::Clustered;
            let deformer = settings.integrator == Integrator::Deformer;
            let now = BodyNow {
                active,
                deformer,
                two_step: settings.two_step,
                controls: *c,
                alpha: c.stiffness.alpha(h),
                iterations: if idle || !active { 0 } else { c.iterations },
                damping: decay(c.damping, h),
                keep: 1.0 - decay(c.drag, h),
                creep: if c.yield_strain < f64::INFINITY { decay(c.creep, h) } else { 0.0 },
                kick: (controls.gravity + c.force / c.mass) * h,
                surface: Surface { friction: c.friction, restitution: c.restitution },
            };
            self.origins[b] = state.x.get(self.model.topology.bodies[b].particles.start);
            let origin = self.origins[b];
            self.planes
                .extend(self.model.params.planes.iter().map(|p| HalfSpace { offset: -p.gap(origin), ..*p }));
            self.euler[b] = (active && deformer).then_some((h, now.keep, now.kick.to_array()));
            self.drives[b] = active.then(|| match deformer {
                false => Drive {
                    pull: now.alpha / h,
                    jump: 0.0,
                    damping: now.damping,
                    keep: now.keep,
                    kick: now.kick.to_array(),
                    advance: h,
                },
                true => Drive {
                    pull: c.flappiness * now.alpha / h,
                    jump: now.alpha,
                    damping: now.damping,
                    keep: 1.0,
                    kick: [0.0; 3],
                    advance: 0.0,
                },
            });
            self.now.push(now);
        }
    }

    fn want(&mut self, wanted: impl Fn(&BodyNow) -> bool) -> bool {
        for (flag, now) in self.wanted.iter_mut().zip(&self.now) {
            *flag = now.active && wanted(now);
        }
        self.wanted.contains(&true)
    }
}

/// What the kernels read, borrowed from parts of a cache.
macro_rules! fixed {
    ($cache:ident) => {
        Fixed {
            by_cluster: &$cache.layout.by_cluster,
            by_block: &$cache.layout.by_block,
            weights: &$cache.weights,
            rest: &$cache.rest,
            centers: &$cache.centers,
            body_of_cluster: &$cache.layout.body_of_cluster,
            body_of_block: &$cache.layout.body_of_block,
        }
    };
}

impl Solver for Clustered {
    fn kind(&self) -> SolverKind {
        SolverKind::Clustered
    }

    fn prepare(&mut self, model: &Model, _controls: &Controls) -> Result<(), SolverError> {
        if !self.cache.as_ref().is_some_and(|c| c.model.same_parts(model)) {
            self.cache = Some(Box::new(Cache::new(model)));
        }
        Ok(())
    }

    fn substep(
        &mut self,
        model: &Model,
        controls: &Controls,
        state: &mut State,
        team: &Team,
    ) -> Result<SubstepReport, SolverError> {
        self.prepare(model, controls)?;
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return Ok(SubstepReport::default());
        };
        let h = model.params.substep();
        cache.read_controls(controls, state, h);
        controls.placements(model, state.time + h, &mut cache.placements);
        let resting = 2.0 * h * controls.gravity.length();

        cache.take_state(state, team);
        let mut contacts = cache.euler_step(h, resting, isa, team);
        cache.want(|_| true);
        cache.fit(true, isa, team);
        cache.fit_motion(isa, team);
        contacts += cache.springs(h, isa, team);
        let (iterations, residual) = cache.limit_strain(isa, team);
        let finite = cache.update_velocities(h, resting, isa, team);
        cache.give_state(state, team);
        Ok(SubstepReport { contacts, iterations, residual, finite })
    }

    fn drop_caches(&mut self) {
        self.cache = None;
    }
}

impl Cache {
    /// Takes positions and velocities into lanes, and what clusters remember.
    fn take_state(&mut self, state: &State, team: &Team) {
        let Cache { layout, origins, x, v, start, rotations, plastic, .. } = self;
        team.split((&mut x[..], (&mut v[..], &mut start[..])), BLOCKS, |range, (x, (v, start))| {
            for (k, b) in range.enumerate() {
                let origin = origins[layout.body_of_block[b] as usize];
                let (to_x, to_v) = (&mut x[k], &mut v[k]);
                for (lane, &i) in layout.lanes[b].iter().enumerate().filter(|(_, i)| **i != EMPTY) {
                    to_x.set(lane, state.x.get(i as usize) - origin);
                    to_v.set(lane, state.v.get(i as usize));
                }
                start[k] = *to_x;
            }
        });
        for (k, &c) in layout.clusters.iter().enumerate() {
            (rotations[k], plastic[k]) = (state.frames[c as usize], state.plastic[c as usize]);
        }
    }

    /// The deformer's forces and Euler step, with impulses where planes are touched.
    fn euler_step(&mut self, h: f64, resting: f64, isa: Isa, team: &Team) -> usize {
        if self.euler.iter().all(Option::is_none) {
            return 0;
        }
        let contacts = AtomicUsize::new(0);
        let fixed = fixed!(self);
        let (now, free, planes, drives) = (&self.now, &self.free, &self.planes, &self.euler);
        let per_body = self.model.params.planes.len();
        let start = &self.start;
        team.split((&mut self.x[..], &mut self.v[..]), BLOCKS, |range, (x, v)| {
            isa.run(Euler { fixed, first: range.start, drives, x, v });
            let mut found = 0;
            for (k, b) in range.enumerate() {
                let body = fixed.body_of_block[b] as usize;
                if drives[body].is_some() && per_body > 0 {
                    let planes = &planes[body * per_body..(body + 1) * per_body];
                    let c = &now[body].controls;
                    found += contacts::impulses(
                        planes, c, free[b], h, resting, &start[b], &mut x[k], &mut v[k], isa,
                    );
                }
            }
            contacts.fetch_add(found, Ordering::Relaxed);
        });
        self.place_pins(false, h);
        self.levers.copy_from_slice(&self.x);
        contacts.into_inner()
    }

    /// Line 6 of algorithm 2 for the wanted bodies: sums over the members, then the best-fit motions.
    /// The first fit of a substep also lets permanent deformation flow.
    fn fit(&mut self, first: bool, isa: Isa, team: &Team) {
        let fixed = fixed!(self);
        let (layout, x, wanted) = (&self.layout, &self.x, &self.wanted);
        team.split(&mut self.sums[..], PIECES, |range, out| {
            isa.run(FitSums { fixed, pieces: &layout.pieces[range], wanted, x, out });
        });
        if !self.quadratic.is_empty() {
            let quadratic = &self.quadratic;
            team.split(&mut self.quadratic_sums[..], PIECES, |range, out| {
                isa.run(QuadraticSums { fixed, pieces: &layout.pieces[range], wanted, quadratic, x, out });
            });
        }
        let clusters = FitClusters {
            model: &self.model,
            layout,
            now: &self.now,
            wanted,
            centers: &self.centers,
            lopsided: &self.lopsided,
            sums: &self.sums,
            quadratic_sums: &self.quadratic_sums,
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
    fn fit_motion(&mut self, isa: Isa, team: &Team) {
        if !self.want(|b| b.damping > 0.0 || (b.iterations > 0 && b.controls.conserve_momentum)) {
            return;
        }
        let fixed = fixed!(self);
        let layout = &self.layout;
        let Cache { x, v, present, wanted, model, motion, anchors, screws, .. } = self;
        team.split(&mut motion[..], PIECES, |range, out| {
            isa.run(MotionSums { fixed, pieces: &layout.pieces[range], wanted, centers: present, x, v, out });
        });
        team.split((&mut anchors[..], &mut screws[..]), CLUSTERS, |range, (anchors, screws)| {
            for ((k, anchor), screw) in range.zip(anchors).zip(screws) {
                if !wanted[layout.body_of_cluster[k] as usize] {
                    continue;
                }
                let sum = total(&motion[..], &layout.piece_offsets, k);
                let cluster = &model.rest.clusters[layout.clusters[k] as usize];
                (*anchor, *screw) = balance::rigid_motion(&sum, present[k], cluster);
            }
        });
    }

    /// Lines 1 to 3 of algorithm 1 or the matching step of the deformer, then pins and planes. Leaves
    /// v* in `v`, x⁰ in `predicted`, and x⁰ pushed out of the planes in `x`.
    fn springs(&mut self, h: f64, isa: Isa, team: &Team) -> usize {
        let contacts = AtomicUsize::new(0);
        let fixed = fixed!(self);
        let Cache { goals, quadratic, screws, drives, now, free, planes, start, .. } = self;
        let per_body = self.model.params.planes.len();
        let parts = (&mut self.x[..], (&mut self.v[..], &mut self.predicted[..]));
        team.split(parts, BLOCKS, |range, (x, (v, predicted))| {
            isa.run(Springs { fixed, first: range.start, goals, quadratic, screws, drives, x, v, predicted });
            if per_body == 0 {
                return;
            }
            let mut found = 0;
            for (k, b) in range.enumerate() {
                let body = fixed.body_of_block[b] as usize;
                let planes = &planes[body * per_body..(body + 1) * per_body];
                if now[body].deformer {
                    // The matching step may press into a plane; that is no velocity.
                    contacts::push_out_smoothly(planes, free[b], &mut x[k], isa);
                    predicted[k] = x[k];
                } else {
                    found += contacts::push_out_lanes(
                        planes,
                        now[body].surface,
                        free[b],
                        &start[b],
                        &mut x[k],
                        isa,
                    );
                }
            }
            contacts.fetch_add(found, Ordering::Relaxed);
        });
        self.place_pins(true, h);
        contacts.into_inner()
    }

    /// Puts prescribed particles where they are held: for the goals only, or for good.
    fn place_pins(&mut self, last: bool, h: f64) {
        for &(block, lane, group, anchor) in &self.pins {
            let (b, lane) = (block as usize, lane as usize);
            let body = self.layout.body_of_block[b] as usize;
            let target = self.placements[group as usize].transform_point3(anchor) - self.origins[body];
            self.x[b].set(lane, target);
            if last {
                self.predicted[b].set(lane, target);
                self.v[b].set(lane, (target - self.start[b].get(lane)) / h);
            }
        }
    }

    /// Lines 4 to 7 of algorithm 1. Where a body asks for it, each cluster takes back the momentum its
    /// corrections introduced; see [`balance`].
    fn limit_strain(&mut self, isa: Isa, team: &Team) -> (u32, f64) {
        let most = self.now.iter().map(|b| b.iterations).max().unwrap_or(0);
        // Largest distance; a maximum does not depend on the order it is taken in, and bits of
        // non-negative numbers sort like the numbers.
        let mut residual = 0.0;
        for iteration in 0..most {
            self.want(|body| iteration < body.iterations);
            self.fit(false, isa, team);
            self.balance(iteration, isa, team);
            for (to, body) in self.relaxation.iter_mut().zip(&self.now) {
                let c = &body.controls;
                *to = (iteration < body.iterations).then_some((c.relaxation, c.conserve_momentum));
            }
            let largest = AtomicU64::new(0);
            let fixed = fixed!(self);
            let Cache { goals, quadratic, screws, relaxation, now, free, planes, start, .. } = self;
            let levers = if self.euler.iter().any(Option::is_some) { &self.levers } else { &*start };
            let per_body = self.model.params.planes.len();
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
                    measure: iteration + 1 == most,
                });
                largest.fetch_max(far.to_bits(), Ordering::Relaxed);
                if per_body == 0 {
                    return;
                }
                for (k, b) in range.enumerate().filter(|(k, _)| moved[*k] != 0) {
                    let body = fixed.body_of_block[b] as usize;
                    let planes = &planes[body * per_body..(body + 1) * per_body];
                    contacts::push_out_lanes(planes, now[body].surface, moved[k], &start[b], &mut x[k], isa);
                }
            });
            residual = f64::from_bits(largest.into_inner()).sqrt();
        }
        let gamma = self.now.iter().filter(|b| b.iterations > 0).map(|b| b.controls.strain_limit);
        (most, (residual - gamma.fold(f64::INFINITY, f64::min)).max(0.0))
    }

    /// The rigid displacement that takes back what each cluster is about to introduce.
    fn balance(&mut self, iteration: u32, isa: Isa, team: &Team) {
        if !self.want(|body| iteration < body.iterations && body.controls.conserve_momentum) {
            return;
        }
        let fixed = fixed!(self);
        let layout = &self.layout;
        let levers = match self.euler.iter().any(Option::is_some) {
            true => &self.levers,
            false => &self.start,
        };
        let Cache { x, anchors, wanted, free, goals, quadratic, balance, screws, .. } = self;
        team.split(&mut balance[..], PIECES, |range, out| {
            let pieces = &layout.pieces[range];
            isa.run(BalanceSums {
                fixed,
                pieces,
                wanted,
                goals,
                quadratic,
                anchors,
                free,
                start: levers,
                x,
                out,
            });
        });
        team.split(&mut screws[..], CLUSTERS, |range, screws| {
            for (k, screw) in range.zip(screws) {
                if wanted[layout.body_of_cluster[k] as usize] {
                    *screw = anchors[k].reaction(&total(&balance[..], &layout.piece_offsets, k));
                }
            }
        });
    }

    /// Lines 8 and 9 of algorithm 1, then bounces. Returns whether everything is still a number.
    fn update_velocities(&mut self, h: f64, resting: f64, isa: Isa, team: &Team) -> bool {
        let Cache { layout, x, predicted, now, free, planes, .. } = self;
        let per_body = self.model.params.planes.len();
        let planes_bounce = self.model.params.planes.iter().any(|p| p.restitution > 0.0);
        let finite = AtomicBool::new(true);
        team.split((&mut self.v[..], &mut self.start[..]), BLOCKS, |range, (v, start)| {
            let mut arriving = [Octet::default(); BLOCKS];
            arriving[..v.len()].copy_from_slice(v);
            let part = range.clone();
            let (x, predicted) = (&x[part.clone()], &predicted[part]);
            if !isa.run(Finish { per_second: h.recip(), x, predicted, start, v }) {
                finite.store(false, Ordering::Relaxed);
            }
            for (k, b) in range.enumerate() {
                let body = layout.body_of_block[b] as usize;
                let now = &now[body];
                if !now.deformer && (planes_bounce || now.surface.restitution > 0.0) {
                    let planes = &planes[body * per_body..(body + 1) * per_body];
                    let (at, was) = (&predicted[k], &arriving[k]);
                    contacts::bounces(planes, now.surface, free[b], at, was, resting, &mut v[k]);
                }
            }
        });
        finite.into_inner()
    }

    /// Takes movements, velocities and what clusters remember back to the state.
    fn give_state(&mut self, state: &mut State, team: &Team) {
        let Cache { layout, slots, v, start, rotations, plastic, .. } = self;
        team.split((&mut state.x, &mut state.v), PARTICLES, |range, (mut to_x, mut to_v)| {
            for (k, &slot) in slots[range].iter().enumerate().filter(|(_, slot)| **slot != EMPTY) {
                let (b, lane) = (slot as usize / WIDTH, slot as usize % WIDTH);
                // As a movement: what stands still keeps its bits, however far from the origin.
                to_x.set(k, to_x.get(k) + start[b].get(lane));
                to_v.set(k, v[b].get(lane));
            }
        });
        for &(block, lane, group, anchor) in &self.pins {
            let i = layout.lanes[block as usize][lane as usize] as usize;
            state.x.set(i, self.placements[group as usize].transform_point3(anchor));
        }
        for (k, &c) in layout.clusters.iter().enumerate() {
            (state.frames[c as usize], state.plastic[c as usize]) = (rotations[k], plastic[k]);
        }
    }
}

/// The sum over a cluster's pieces, in their order.
#[inline(always)]
fn total<const N: usize>(sums: &[[f64; N]], offsets: &[u32], k: usize) -> [f64; N] {
    let mut pieces = sums[offsets[k] as usize..offsets[k + 1] as usize].iter();
    let mut sum = pieces.next().copied().unwrap_or([0.0; N]);
    for piece in pieces {
        for (a, b) in sum.iter_mut().zip(piece) {
            *a += b;
        }
    }
    sum
}

/// What fitting a pack of clusters reads.
#[derive(Clone, Copy)]
struct FitClusters<'a> {
    model: &'a Model,
    layout: &'a Layout,
    now: &'a [BodyNow],
    wanted: &'a [bool],
    centers: &'a [[f64; 3]],
    lopsided: &'a [DVec3],
    sums: &'a [FitSum],
    quadratic_sums: &'a [QuadraticSum],
    first: bool,
}

/// Best-fit motions of up to eight clusters, their rotations at once.
struct FitPack<'a> {
    clusters: FitClusters<'a>,
    range: std::ops::Range<usize>,
    goals: &'a mut [Goal],
    rotations: &'a mut [DMat3],
    plastic: &'a mut [DMat3],
    present: &'a mut [DVec3],
    quadratic: &'a mut [QuadraticGoal],
}

impl Kernel for FitPack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let FitClusters { model, layout, now, wanted, centers, .. } = self.clusters;
        let wants = |k: usize| wanted[layout.body_of_cluster[k] as usize];
        if !self.range.clone().any(wants) {
            return;
        }
        let mut sums = [Sums::ZERO; WIDTH];
        let mut columns = [[[0.0; WIDTH]; 3]; 3];
        for (lane, k) in self.range.clone().enumerate() {
            let s = total(self.clusters.sums, &layout.piece_offsets, k);
            let v = |j: usize| DVec3::new(s[j], s[j + 1], s[j + 2]);
            sums[lane].first = v(0);
            let center = v(0) / model.rest.clusters[layout.clusters[k] as usize].mass;
            let [x, y, z] = self.clusters.lopsided[k].to_array();
            sums[lane].covariance = DMat3::from_cols(v(3) - center * x, v(6) - center * y, v(9) - center * z);
            if !self.quadratic.is_empty() {
                let s = total(self.clusters.quadratic_sums, &layout.piece_offsets, k);
                sums[lane].quadratic =
                    std::array::from_fn(|j| DVec3::new(s[3 * j], s[3 * j + 1], s[3 * j + 2]));
            }
            let a = fit::to_rotate(&sums[lane], &self.plastic[lane]).to_cols_array_2d();
            for j in 0..3 {
                for i in 0..3 {
                    columns[j][i][lane] = a[j][i];
                }
            }
        }
        let mut a: M3<L> = [[l.splat(0.0); 3]; 3];
        for j in 0..3 {
            for i in 0..3 {
                a[j][i] = l.load(&columns[j][i]);
            }
        }
        let (r, trusted) = rotations8(l, &a);
        for j in 0..3 {
            for i in 0..3 {
                l.store(r[j][i], &mut columns[j][i]);
            }
        }
        let trusted = l.bits(trusted);
        for (lane, k) in self.range.enumerate() {
            let body = &now[layout.body_of_cluster[k] as usize];
            if !wants(k) {
                continue;
            }
            let c = layout.clusters[k] as usize;
            let (cluster, basis) = (&model.rest.clusters[c], &model.rest.bases[c]);
            let rotation = if cluster.width == 0.0 {
                // A point has no rotation; what the sums say is rounding.
                self.rotations[lane]
            } else if trusted & (1 << lane) != 0 {
                let column =
                    |j: usize| DVec3::new(columns[j][0][lane], columns[j][1][lane], columns[j][2][lane]);
                DMat3::from_cols(column(0), column(1), column(2))
            } else {
                nearest_rotation(fit::to_rotate(&sums[lane], &self.plastic[lane]), self.rotations[lane])
            };
            let plastic = &mut self.plastic[lane];
            let fit = fit::fit(&sums[lane], cluster, basis, rotation, plastic, body.two_step, &body.controls);
            self.rotations[lane] = rotation;
            self.present[lane] = fit.center;
            let center = centers[k];
            let inverse_square = |w: f64| if w > 0.0 { (w * w).recip() } else { 0.0 };
            let gamma = body.controls.strain_limit;
            let inverse_limit = if cluster.width > 0.0 {
                // A limit of zero is one far below what rounding can tell.
                inverse_square(gamma.max(1e-18) * cluster.width)
            } else if gamma < f64::INFINITY && model.topology.clusters.range(c).len() > 1 {
                // Points that coincide at rest: any distance is beyond any limit.
                COINCIDENT
            } else {
                0.0
            };
            self.goals[lane] = Goal {
                linear: fit.linear.to_cols_array_2d(),
                shift: (fit.center - fit.offset - fit.linear * DVec3::from_array(center)).to_array(),
                pull: cluster.stiffness,
                inverse_limit,
                inverse_width: inverse_square(cluster.width),
            };
            if let Some(quadratic) = self.quadratic.get_mut(lane) {
                quadratic.terms = fit.quadratic.map(|t| t.to_array());
            }
            if self.clusters.first && body.creep > 0.0 {
                *plastic = fit::flow(plastic, &sums[lane], basis, &fit, &body.controls, body.creep);
            }
        }
    }
}
