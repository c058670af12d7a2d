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
mod pack;
mod response;

use self::fit::GoalMethod;
use super::damping::decay;
use super::{Before, FinishReport, Outside, Progress, Round, Solver, SolverError, Stage, Subject};
use crate::contact::{ColliderGeometry, Obstacle, Obstacles, Respond, Solid, Surface, release};
use crate::controls::{BodyControls, LiveControls};
use crate::memory::Section;
use crate::model::{BodyModel, Goals, Input, Integrator, Rest};
use crate::points::Points;
use crate::state::BodyState;
use crate::team::Team;
use balance::ClusterInertia;
use contacts::BlockContact;
use glam::{DMat3, DVec3};
use kernels::{
    BalanceSum, BalanceSums, Drive, Euler, Finish, FitSum, FitSums, Goal, KernelInputs, Limit, MotionSum,
    MotionSums, Points8, QuadraticGoal, QuadraticSum, QuadraticSums, Relaxation, RestBlock, Screw, Springs,
    Weights,
};
use layout::{ClusterLayout, EMPTY, Entry, WIDTH};
use pack::{ClusterConstants, FitClusters, FitPack, total};
use pliant_math::lanes::{Bits, Isa};
use response::CouplingResponse;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub use goals::{elastic_energy, raise_strain};

/// Blocks, pieces and clusters per chunk of parallel work.
const BLOCKS: usize = 32;
const PIECES: usize = 8;
const CLUSTERS: usize = 8;
/// Particles per chunk when results are taken back.
const PARTICLES: usize = 1024;

/// The solver; all but the instruction set is a cache.
#[derive(Clone, Debug)]
pub struct Clustered {
    cache: Option<Box<ClusteredCache>>,
    isa: Isa,
}

impl Clustered {
    /// A solver whose kernels run with an instruction set.
    pub fn new(isa: Isa) -> Clustered {
        Clustered { cache: None, isa }
    }
}

/// Numbers of the body for one substep.
#[derive(Clone, Copy, Debug)]
struct SubstepSettings {
    deformer: bool,
    making: GoalMethod,
    controls: BodyControls,
    alpha: f64,
    /// Limiting iterations that can have an effect.
    iterations: u32,
    damping: f64,
    keep: f64,
    /// 1/γ², zero for no limit. A limit of zero is one far below what rounding can tell.
    inverse_gamma: f64,
    /// Share of the stretch beyond the yield strain that becomes permanent.
    creep: f64,
    kick: DVec3,
    surface: Surface,
    /// The furthest a particle that began inside an obstacle is pushed out.
    release: f64,
}

#[derive(Clone, Debug)]
struct ClusteredCache {
    /// How the kernels round.
    bits: Bits,
    model: BodyModel,
    layout: ClusterLayout,
    /// Where each particle lies: block · 8 + lane, or [`EMPTY`].
    slots: Vec<u32>,
    /// Lanes that hold a particle no pin prescribes.
    free: Vec<u8>,
    /// How far the particles of each block keep from obstacles, and the size of the body.
    radii: Vec<[f64; WIDTH]>,
    /// What contact adds to the energy of the particles of each block, their masses, and their velocities before it.
    gains: Vec<f64>,
    masses: Vec<[f64; WIDTH]>,
    arriving: Vec<Points8>,
    diameter: f64,
    /// End of the present substep.
    time: f64,
    /// What was read of the controls for it, the contacts found so far, and how far beyond its limit a particle still was.
    now: Option<SubstepSettings>,
    contacts: usize,
    excess: f64,
    /// Lanes with prescribed particles: block, lane, number of the target.
    pins: Vec<(u32, u32, u32)>,
    targets: Vec<DVec3>,
    /// Lanes that follow an animated input: block, lane, particle, painted weight.
    followers: Vec<(u32, u32, u32, f64)>,
    /// Rest shape of the present substep, if it is animated.
    animated: Option<Box<Rest>>,

    weights: Vec<Weights>,
    rest: Vec<RestBlock>,
    /// Rest centres of the clusters, from the body's.
    centers: Vec<[f64; 3]>,
    constants: Vec<ClusterConstants>,

    /// What positions are relative to in this substep, and the obstacles seen from there.
    origin: DVec3,
    planes: Vec<Obstacle>,
    solids: Vec<Solid>,

    x: Vec<Points8>,
    v: Vec<Points8>,
    start: Vec<Points8>,
    /// Where rigid motions are fitted if the body is the deformer's: after its Euler step. Else empty, and
    /// `start` serves.
    levers: Vec<Points8>,
    predicted: Vec<Points8>,
    moved: Vec<u8>,

    sums: Vec<FitSum>,
    quadratic_sums: Vec<QuadraticSum>,
    motion: Vec<MotionSum>,
    balance: Vec<BalanceSum>,

    goals: Vec<Goal>,
    /// One per cluster if any has quadratic goals, else empty.
    quadratic: Vec<QuadraticGoal>,
    rotations: Vec<DMat3>,
    plastic: Vec<DMat3>,
    any_plastic: bool,
    present: Vec<DVec3>,
    anchors: Vec<ClusterInertia>,
    /// Rigid velocities, then reactions.
    screws: Vec<Screw>,
    tied: CouplingResponse,
}

impl ClusteredCache {
    fn new(model: &BodyModel, bits: Bits) -> ClusteredCache {
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
        let mut pins = Vec::new();
        for (number, &i) in model.pins.iter().flat_map(|g| &g.particles).enumerate() {
            let slot = slots[i as usize];
            let (block, lane) = (slot / WIDTH as u32, slot % WIDTH as u32);
            free[block as usize] &= !(1 << lane);
            pins.push((block, lane, number as u32));
        }
        let mut followers = Vec::new();
        if let Some(input) = &model.input {
            for (k, &weight) in input.follow.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let slot = slots[k];
                let (block, lane) = (slot / WIDTH as u32, slot % WIDTH as u32);
                // A pin holds more firmly than any weight.
                if free[block as usize] & (1 << lane) != 0 {
                    followers.push((block, lane, k as u32, weight));
                    if weight >= 1.0 {
                        free[block as usize] &= !(1 << lane);
                    }
                }
            }
        }
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
            let mut lopsided = DVec3::ZERO;
            for e in layout.by_cluster.range(k) {
                let Entry { index, mask } = layout.by_cluster.list[e];
                let w = &weights[index as usize];
                for lane in (0..WIDTH).filter(|lane| mask & (1 << lane) != 0) {
                    let share = layout.by_cluster.shares.get(e).map_or(1.0, |s| s[lane]);
                    let q = |j: usize| bits.mul_add(-w.weight[lane], centers[k][j], w.weighted[j][lane]);
                    lopsided += DVec3::new(q(0), q(1), q(2)) * share;
                }
            }
            let width = cluster.width;
            constants[k] = ClusterConstants {
                inverse_mass: cluster.mass.recip(),
                inverse_width: if width > 0.0 { (width * width).recip() } else { 0.0 },
                stiffness: cluster.stiffness,
                center: centers[k],
                lopsided: lopsided.to_array(),
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
    fn read_controls(
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
            surface: Surface { friction: c.friction, restitution: c.restitution },
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
}

/// What solids around the body are made of, the length of the substep, and the way into an obstacle that counts as rest.
#[derive(Clone, Copy)]
struct ContactSettings<'a> {
    forms: &'a [ColliderGeometry],
    h: f64,
    resting: f64,
}

/// The obstacles, and what the blocks of the body meet them with.
#[derive(Clone, Copy)]
struct ObstacleInputs<'a> {
    obstacles: Obstacles<'a>,
    radii: &'a [[f64; WIDTH]],
    start: &'a [Points8],
    now: &'a SubstepSettings,
}

impl<'a> ObstacleInputs<'a> {
    /// Block `b` at the obstacles, without bounces.
    fn meeting(self, b: usize, h: f64, resting: f64) -> BlockContact<'a> {
        let ObstacleInputs { obstacles, radii, start, now } = self;
        let (surface, release, radii, start) = (now.surface, now.release, &radii[b], &start[b]);
        BlockContact { obstacles, surface, release, resting, radii, start, arriving: None, h, share: 0.0 }
    }
}

impl SubstepSettings {
    /// Whether limits take back the momentum they introduce.
    fn balances(&self) -> bool {
        self.iterations > 0 && self.controls.conserve_momentum
    }

    /// What springs and forces do to velocities and positions.
    fn drive(&self, h: f64) -> Drive {
        match self.deformer {
            false => Drive {
                pull: self.alpha / h,
                jump: 0.0,
                damping: self.damping,
                keep: self.keep,
                kick: self.kick.to_array(),
                advance: h,
            },
            true => Drive {
                pull: self.controls.flappiness * self.alpha / h,
                jump: self.alpha,
                damping: self.damping,
                keep: 1.0,
                kick: [0.0; 3],
                advance: 0.0,
            },
        }
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

impl Solver for Clustered {
    fn prepare(&mut self, model: &BodyModel, _controls: LiveControls<'_>) -> Result<(), SolverError> {
        if !self.cache.as_ref().is_some_and(|c| c.model.same(model)) {
            self.cache = Some(Box::new(ClusteredCache::new(model, self.isa.bits())));
        }
        Ok(())
    }

    /// Lines 1 to 3 of algorithm 1, or the deformer's two parts, obstacles included; a round is an iteration that limits
    /// strain.
    fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) -> Result<u32, SolverError> {
        let Stage { body: Subject { model, controls, time, obstacles }, before, team, tied } = stage;
        self.prepare(model, controls)?;
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return Ok(0);
        };
        let h = model.params.substep();
        cache.time = time + h;
        cache.follow_input();
        let now = cache.read_controls(controls, obstacles, before.map_or(&state.x, |f| f.0), h);
        controls.targets(model, &state.memory, time + h, &mut cache.targets);
        // Gravity alone brings a resting particle h² g into the ground.
        let resting = 2.0 * h * h * controls.world.gravity.length();
        cache.take_state(&now, before, state, team);
        if tied {
            cache.tied.begin(model, before.map_or(&state.x, |f| f.0), h);
        }
        let meeting = ContactSettings { forms: obstacles.forms, h, resting };
        cache.contacts = cache.euler_step(&now, meeting, isa, team);
        cache.fit(&now, true, isa, team);
        cache.fit_motion(&now, isa, team);
        cache.draw_followers(controls, h);
        cache.contacts += cache.springs(&now, meeting, isa, team);
        (cache.now, cache.excess) = (Some(now), 0.0);
        Ok(now.iterations)
    }

    fn iterate(&mut self, round: Round, stage: Stage<'_>, _: &BodyState) -> Result<bool, SolverError> {
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return Ok(false);
        };
        let Some(now) = cache.now else {
            return Ok(false);
        };
        // Others of its island may go on for longer.
        if round.number <= now.iterations {
            let last = round.number == now.iterations;
            let forms = stage.body.obstacles.forms;
            cache.excess = cache.limit_strain(&now, (forms, last), isa, stage.team);
        }
        Ok(true)
    }

    fn responding(&mut self) -> Option<&mut dyn Respond> {
        self.cache.as_deref_mut().map(|c| c as &mut dyn Respond)
    }

    fn meets_obstacles(&self) -> bool {
        true
    }

    fn advance(&mut self, stage: Stage<'_>, _: &BodyState) -> Progress {
        if let Some(cache) = self.cache.as_mut().filter(|_| stage.tied) {
            cache.push_out_tied(stage.body.obstacles.forms, self.isa);
        }
        Progress { moved: self.cache.as_ref().map_or(0.0, |c| c.excess), settled: false }
    }

    fn finish(&mut self, stage: Stage<'_>, _: Outside<'_>, state: &mut BodyState) -> FinishReport {
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return FinishReport::default();
        };
        let finite = cache.update_velocities(stage.body.model.params.substep(), isa, stage.team);
        cache.give_state(stage.before, state, stage.team);
        FinishReport { contacts: cache.contacts, pushed: 0.0, finite }
    }

    /// It is explicit: there is no solution that its rounds lead to.
    fn positions(&mut self) -> Option<&Points> {
        None
    }

    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(self.clone())
    }
}

impl ClusteredCache {
    /// Takes positions and velocities into lanes, and what clusters remember.
    fn take_state(
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

    /// The deformer's forces and Euler step, with impulses where obstacles are touched.
    fn euler_step(
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
    fn fit(&mut self, now: &SubstepSettings, first: bool, isa: Isa, team: &Team) {
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
    fn fit_motion(&mut self, now: &SubstepSettings, isa: Isa, team: &Team) {
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
    fn springs(
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
                    meeting.surface = Surface { friction: Some(0.0), restitution: 0.0 };
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

    /// Takes up the rest shape that an animated input has at the end of the substep.
    fn follow_input(&mut self) {
        if let (Some(rest), Some(input)) = (&mut self.animated, &self.model.input) {
            rest.reshape(self.model.topology(), &input.sequence.at(self.time));
            self.take_rest();
        }
    }

    /// Draws painted particles toward their animated input by damped springs: they lag and overshoot.
    fn draw_followers(&mut self, controls: LiveControls<'_>, h: f64) {
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
    fn limit_strain(
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
    fn update_velocities(&mut self, h: f64, isa: Isa, team: &Team) -> bool {
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

    /// Takes movements, velocities and what clusters remember back to the state.
    fn give_state(&mut self, from: Option<Before<'_>>, state: &mut BodyState, team: &Team) {
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
