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

use self::fit::Making;
use super::damping::decay;
use super::{Before, Solver, SolverError, SolverKind, SubstepReport};
use crate::contact::{Surface, release};
use crate::controls::{BodyControls, Controls};
use crate::model::{Goals, HalfSpace, Integrator, Model, Rest};
use crate::points::Points;
use crate::state::State;
use crate::team::Team;
use balance::Anchor;
use contacts::Meeting;
use glam::{DAffine3, DMat3, DVec3};
use kernels::{
    BalanceSum, BalanceSums, Drive, Euler, Finish, FitSum, FitSums, Fixed, Goal, Limit, MotionSum,
    MotionSums, Octet, QuadraticGoal, QuadraticSum, QuadraticSums, Relaxation, RestBlock, Screw, Springs,
    Weights,
};
use layout::{EMPTY, Entry, Layout, WIDTH};
use pack::{ClusterConstants, FitClusters, FitPack, total};
use pliant_math::lanes::{Bits, Isa};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub use goals::{elastic_energy, raise_strain};

/// Blocks, pieces and clusters per chunk of parallel work.
const BLOCKS: usize = 32;
const PIECES: usize = 8;
const CLUSTERS: usize = 8;
/// Particles per chunk when results are taken back.
const PARTICLES: usize = 1024;

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
    making: Making,
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
    /// The furthest a particle that began inside a plane is pushed out.
    release: f64,
}

#[derive(Debug)]
struct Cache {
    /// How the kernels round.
    bits: Bits,
    model: Model,
    layout: Layout,
    /// Where each particle lies: block · 8 + lane, or [`EMPTY`].
    slots: Vec<u32>,
    /// Lanes that hold a particle no pin prescribes.
    free: Vec<u8>,
    /// How far the particles of each block keep from planes, and the size of each body.
    radii: Vec<[f64; WIDTH]>,
    /// What contact adds to the energy of the particles of each block, their masses, and their velocities before it.
    gains: Vec<f64>,
    masses: Vec<[f64; WIDTH]>,
    arriving: Vec<Octet>,
    diameters: Vec<f64>,
    /// End of the present substep.
    time: f64,
    /// Lanes with prescribed particles: block, lane, pin group, anchor.
    pins: Vec<(u32, u32, u32, DVec3)>,
    placements: Vec<DAffine3>,
    /// Lanes that follow an animated input: block, lane, input, particle of the body, painted weight.
    followers: Vec<(u32, u32, u32, u32, f64)>,
    /// Rest shapes of the present substep, if any body's is animated.
    animated: Option<Box<Rest>>,

    weights: Vec<Weights>,
    rest: Vec<RestBlock>,
    /// Rest centres of the clusters, from their body's.
    centers: Vec<[f64; 3]>,
    constants: Vec<ClusterConstants>,

    now: Vec<BodyNow>,
    /// What positions of a body are relative to in this substep, and the planes seen from there.
    origins: Vec<DVec3>,
    planes: Vec<HalfSpace>,
    wanted: Vec<bool>,
    drives: Vec<Option<Drive>>,
    euler: Vec<Option<(f64, f64, [f64; 3])>>,
    relaxation: Vec<Option<Relaxation>>,

    x: Vec<Octet>,
    v: Vec<Octet>,
    start: Vec<Octet>,
    /// Where rigid motions are fitted if some body is the deformer's: after its Euler step. Else empty, and
    /// `start` serves.
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
    any_plastic: bool,
    present: Vec<DVec3>,
    anchors: Vec<Anchor>,
    /// Rigid velocities, then reactions.
    screws: Vec<Screw>,
}

impl Cache {
    fn new(model: &Model, bits: Bits) -> Cache {
        let layout = Layout::new(model);
        let (blocks, clusters, pieces) = (layout.lanes.len(), layout.clusters.len(), layout.pieces.len());
        let bodies = model.topology.bodies.len();
        let mut slots = vec![EMPTY; model.particle_count()];
        let mut free = vec![0u8; blocks];
        let (mut radii, mut masses) = (vec![[0.0; WIDTH]; blocks], vec![[0.0; WIDTH]; blocks]);
        for (b, lanes) in layout.lanes.iter().enumerate() {
            for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != EMPTY) {
                slots[i as usize] = (b * WIDTH + lane) as u32;
                free[b] |= 1 << lane;
                radii[b][lane] = model.rest.radius[i as usize];
                masses[b][lane] = model.rest.mass[i as usize];
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
        let mut followers = Vec::new();
        for (n, input) in model.params.inputs.iter().enumerate() {
            let first = model.topology.bodies[input.body].particles.start;
            for (k, &weight) in input.input.follow.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let slot = slots[first + k];
                // A pin holds more firmly than any weight.
                if slot != EMPTY && free[slot as usize / WIDTH] & (1 << (slot % WIDTH as u32)) != 0 {
                    let (block, lane) = (slot / WIDTH as u32, slot % WIDTH as u32);
                    followers.push((block, lane, n as u32, k as u32, weight));
                    if weight >= 1.0 {
                        free[block as usize] &= !(1 << lane);
                    }
                }
            }
        }
        let reshapes = model.params.inputs.iter().any(|i| i.input.reshape);
        let any_deformer = model.params.bodies.iter().any(|b| b.integrator == Integrator::Deformer);
        let any_quadratic = model.rest.bases.iter().any(|b| b.goals == Goals::Quadratic);
        let quadratic = |n: usize| if any_quadratic { n } else { 0 };
        let mut cache = Cache {
            bits,
            placements: Vec::with_capacity(model.params.pins.len()),
            time: 0.0,
            weights: vec![Weights::default(); blocks],
            rest: vec![RestBlock::default(); blocks],
            centers: vec![[0.0; 3]; clusters],
            constants: vec![ClusterConstants::default(); clusters],
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
            levers: vec![Octet::default(); if any_deformer { blocks } else { 0 }],
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
            any_plastic: false,
            present: vec![DVec3::ZERO; clusters],
            anchors: vec![Anchor::default(); clusters],
            screws: vec![Screw::default(); clusters],
            model: model.clone(),
            layout,
            slots,
            free,
            radii,
            masses,
            gains: vec![0.0; blocks],
            arriving: vec![Octet::default(); blocks],
            diameters: super::implicit::diameters(model),
            pins,
            followers,
            animated: reshapes.then(|| Box::new((*model.rest).clone())),
        };
        cache.take_rest();
        cache
    }

    /// Puts the rest shape into lanes, relative to each body's centre.
    fn take_rest(&mut self) {
        let Cache { model, layout, weights, rest, centers, constants, quadratic, animated, .. } = self;
        let bits = self.bits;
        let model_rest: &Rest = animated.as_deref().unwrap_or(&model.rest);
        let origins = &mut self.origins;
        for (origin, body) in origins.iter_mut().zip(&model.topology.bodies) {
            let first = model_rest.positions.get(body.particles.start);
            let offsets = body.particles.clone().map(|i| model_rest.positions.get(i) - first);
            *origin = first + offsets.sum::<DVec3>() / body.particles.len() as f64;
        }
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
                coincident: width == 0.0 && model.topology.clusters.range(c as usize).len() > 1,
                deforms: model_rest.bases[c as usize].goals != Goals::Rigid,
            };
            if let Some(to) = quadratic.get_mut(k) {
                let scale =
                    model_rest.bases[c as usize].quadratic.as_ref().map_or(0.0, |_| cluster.width.recip());
                (to.center, to.scale) = (centers[k], scale);
            }
        }
    }

    /// The live values of all bodies, read anew in each substep: changing them costs nothing.
    fn read_controls(&mut self, controls: &Controls, x: &Points, h: f64) {
        self.now.clear();
        self.planes.clear();
        for (b, (c, settings)) in controls.bodies.iter().zip(&self.model.params.bodies).enumerate() {
            let idle = c.relaxation == 0.0 || c.strain_limit == f64::INFINITY;
            let active = settings.solver == SolverKind::Clustered;
            let deformer = settings.integrator == Integrator::Deformer;
            let now = BodyNow {
                active,
                deformer,
                making: Making::of(settings),
                controls: *c,
                alpha: c.stiffness.alpha(h),
                iterations: if idle || !active { 0 } else { c.iterations },
                damping: decay(c.damping, h),
                keep: 1.0 - decay(c.drag, h),
                inverse_gamma: c.strain_limit.max(1e-18).powi(-2),
                creep: if c.yield_strain < f64::INFINITY { decay(c.creep, h) } else { 0.0 },
                kick: (controls.gravity + c.force / c.mass) * h,
                surface: Surface { friction: c.friction, restitution: c.restitution },
                release: release(self.diameters[b], h),
            };
            self.origins[b] = x.get(self.model.topology.bodies[b].particles.start);
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
            self.cache = Some(Box::new(Cache::new(model, self.isa.bits())));
        }
        Ok(())
    }

    fn substep(
        &mut self,
        model: &Model,
        controls: &Controls,
        from: Option<Before<'_>>,
        state: &mut State,
        team: &Team,
    ) -> Result<SubstepReport, SolverError> {
        self.prepare(model, controls)?;
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return Ok(SubstepReport::default());
        };
        let h = model.params.substep();
        cache.time = state.time + h;
        cache.follow_inputs();
        cache.read_controls(controls, from.map_or(&state.x, |f| f.0), h);
        controls.placements(model, state.time + h, &mut cache.placements);
        // Gravity alone brings a resting particle h² g into the ground.
        let resting = 2.0 * h * h * controls.gravity.length();

        cache.take_state(from, state, team);
        let mut contacts = cache.euler_step(h, resting, isa, team);
        cache.want(|_| true);
        cache.fit(true, isa, team);
        cache.fit_motion(isa, team);
        cache.draw_followers(controls, h);
        contacts += cache.springs(h, resting, isa, team);
        let (iterations, residual) = cache.limit_strain(isa, team);
        let finite = cache.update_velocities(h, isa, team);
        cache.give_state(from, state, team);
        Ok(SubstepReport { contacts, iterations, residual, finite })
    }

    fn drop_caches(&mut self) {
        self.cache = None;
    }

    fn set_isa(&mut self, isa: Isa) {
        // What is made beside the kernels is rounded as they do.
        if isa.bits() != self.isa.bits() {
            self.cache = None;
        }
        self.isa = isa;
    }
}

impl Cache {
    /// Takes positions and velocities into lanes, and what clusters remember.
    fn take_state(&mut self, from: Option<Before<'_>>, state: &State, team: &Team) {
        let Cache { layout, origins, x, v, start, rotations, plastic, .. } = self;
        let (from_x, from_v) = from.unwrap_or((&state.x, &state.v));
        team.split((&mut x[..], (&mut v[..], &mut start[..])), BLOCKS, |range, (x, (v, start))| {
            let columns = (from_x.columns(), from_v.columns());
            for (k, b) in range.enumerate() {
                let origin = origins[layout.body_of_block[b] as usize].to_array();
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
            (rotations[k], plastic[k]) = (state.frames[c as usize], state.plastic[c as usize]);
        }
        let stretched = || plastic.iter().any(|p| *p != DMat3::IDENTITY);
        self.any_plastic = self.now.iter().any(|b| b.creep > 0.0) || stretched();
    }

    /// The deformer's forces and Euler step, with impulses where planes are touched.
    fn euler_step(&mut self, h: f64, resting: f64, isa: Isa, team: &Team) -> usize {
        if self.levers.is_empty() {
            return 0;
        }
        let contacts = AtomicUsize::new(0);
        let fixed = fixed!(self);
        let (now, free, planes, drives) = (&self.now, &self.free, &self.planes, &self.euler);
        let per_body = self.model.params.planes.len();
        let (start, radii) = (&self.start, &self.radii);
        team.split((&mut self.x[..], &mut self.v[..]), BLOCKS, |range, (x, v)| {
            isa.run(Euler { fixed, first: range.start, drives, x, v });
            let mut found = 0;
            for (k, b) in range.enumerate() {
                let body = fixed.body_of_block[b] as usize;
                if drives[body].is_some() && per_body > 0 {
                    let planes = &planes[body * per_body..(body + 1) * per_body];
                    let BodyNow { controls, surface, release, .. } = now[body];
                    let (radii, start) = (&radii[b], &start[b]);
                    let meeting = Meeting {
                        planes,
                        surface,
                        release,
                        resting,
                        radii,
                        start,
                        arriving: None,
                        h,
                        share: 0.0,
                    };
                    let (x, v) = (&mut x[k], &mut v[k]);
                    found += contacts::impulses(meeting, &controls, free[b], x, v, isa);
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
            rest: self.animated.as_deref().unwrap_or(&self.model.rest),
            layout,
            now: &self.now,
            wanted,
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
    fn fit_motion(&mut self, isa: Isa, team: &Team) {
        if !self.want(|b| b.damping > 0.0 || (b.iterations > 0 && b.controls.conserve_momentum)) {
            return;
        }
        let fixed = fixed!(self);
        let layout = &self.layout;
        let rest = self.animated.as_deref().unwrap_or(&self.model.rest);
        let Cache { x, v, present, wanted, motion, anchors, screws, .. } = self;
        team.split(&mut motion[..], PIECES, |range, out| {
            isa.run(MotionSums { fixed, pieces: &layout.pieces[range], wanted, centers: present, x, v, out });
        });
        team.split((&mut anchors[..], &mut screws[..]), CLUSTERS, |range, (anchors, screws)| {
            for ((k, anchor), screw) in range.zip(anchors).zip(screws) {
                if !wanted[layout.body_of_cluster[k] as usize] {
                    continue;
                }
                let sum = total(&motion[..], &layout.piece_offsets, k);
                let cluster = &rest.clusters[layout.clusters[k] as usize];
                (*anchor, *screw) = balance::rigid_motion(&sum, present[k], cluster);
            }
        });
    }

    /// Lines 1 to 3 of algorithm 1 or the matching step of the deformer, then pins and planes. Leaves
    /// v* in `v`, x⁰ in `predicted`, and x⁰ pushed out of the planes in `x`.
    fn springs(&mut self, h: f64, resting: f64, isa: Isa, team: &Team) -> usize {
        let contacts = AtomicUsize::new(0);
        let fixed = fixed!(self);
        let Cache { goals, quadratic, screws, drives, now, free, radii, masses, planes, start, .. } = self;
        let per_body = self.model.params.planes.len();
        let parts = (&mut self.x[..], (&mut self.v[..], &mut self.predicted[..]));
        let planes_bounce = self.model.params.planes.iter().any(|p| p.restitution > 0.0);
        let bounces = per_body > 0 && (planes_bounce || now.iter().any(|n| n.surface.restitution > 0.0));
        let others = (&mut self.arriving[..], &mut self.gains[..]);
        team.split((parts, others), BLOCKS, |range, ((x, (v, predicted)), (arriving, gains))| {
            if bounces {
                arriving.copy_from_slice(v);
                gains.fill(0.0);
            }
            isa.run(Springs { fixed, first: range.start, goals, quadratic, screws, drives, x, v, predicted });
            if per_body == 0 {
                return;
            }
            let mut found = 0;
            for (k, b) in range.enumerate() {
                let body = fixed.body_of_block[b] as usize;
                let planes = &planes[body * per_body..(body + 1) * per_body];
                let now = &now[body];
                // What the matching step presses into a plane is no velocity, and friction was the impulses'.
                let surface = match now.deformer {
                    true => Surface { friction: Some(0.0), restitution: 0.0 },
                    false => now.surface,
                };
                let (release, radii, start) = (now.release, &radii[b], &start[b]);
                let arrived = (bounces && !now.deformer).then_some(&arriving[k]);
                let meeting = Meeting {
                    planes,
                    surface,
                    release,
                    resting,
                    radii,
                    start,
                    arriving: arrived,
                    h,
                    share: 1.0,
                };
                let touching = contacts::push_out_lanes(meeting, free[b], &mut x[k], isa);
                if now.deformer {
                    predicted[k] = x[k];
                } else {
                    found += touching;
                }
                if bounces && touching > 0 && !now.deformer {
                    gains[k] =
                        contacts::energy_gained(&masses[b], (&arriving[k], &v[k]), (&predicted[k], &x[k]), h);
                }
            }
            contacts.fetch_add(found, Ordering::Relaxed);
        });
        if bounces {
            self.limit_bounces(h, resting, isa);
        }
        self.place_pins(true, h);
        contacts.into_inner()
    }

    /// Returns less of their restitution to the particles of bodies whose contacts would add energy: one that has turned
    /// around may be pulled back by its neighbours in the next substep, and be turned around again.
    fn limit_bounces(&mut self, h: f64, resting: f64, isa: Isa) {
        let planes_bounce = self.model.params.planes.iter().any(|p| p.restitution > 0.0);
        let bounces = |now: &BodyNow| !now.deformer && (planes_bounce || now.surface.restitution > 0.0);
        let (per_body, blocks) = (self.model.params.planes.len(), self.layout.body_of_block.len());
        let mut first = 0;
        while first < blocks {
            let body = self.layout.body_of_block[first] as usize;
            let count =
                self.layout.body_of_block[first..].iter().take_while(|b| **b as usize == body).count();
            let range = first..first + count;
            first += count;
            if !bounces(&self.now[body]) || self.gains[range.clone()].iter().sum::<f64>() <= 0.0 {
                continue;
            }
            let BodyNow { surface, release, .. } = self.now[body];
            let planes = &self.planes[body * per_body..(body + 1) * per_body];
            let Cache { x, v, predicted, arriving, start, radii, masses, free, .. } = self;
            let mut gained = |share: f64| {
                let mut sum = 0.0;
                for b in range.clone() {
                    let (radii, start, arriving) = (&radii[b], &start[b], &arriving[b]);
                    let arrived = Some(arriving);
                    let meeting = Meeting {
                        planes,
                        surface,
                        release,
                        resting,
                        radii,
                        start,
                        arriving: arrived,
                        h,
                        share,
                    };
                    x[b] = predicted[b];
                    if contacts::push_out_lanes(meeting, free[b], &mut x[b], isa) > 0 {
                        sum +=
                            contacts::energy_gained(&masses[b], (arriving, &v[b]), (&predicted[b], &x[b]), h);
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
    }

    /// Takes up the rest shapes that animated inputs have at `time`.
    fn follow_inputs(&mut self) {
        let Some(rest) = &mut self.animated else { return };
        for input in self.model.params.inputs.iter().filter(|i| i.input.reshape) {
            rest.reshape(&self.model.topology, input.body, &input.input.sequence.at(self.time));
        }
        self.take_rest();
    }

    /// Draws painted particles toward their animated input by damped springs: they lag and overshoot.
    fn draw_followers(&mut self, controls: &Controls, h: f64) {
        let time = self.time;
        for &(block, lane, n, k, weight) in self.followers.iter().filter(|f| f.4 < 1.0) {
            let (b, lane) = (block as usize, lane as usize);
            let input = &self.model.params.inputs[n as usize];
            let c = &controls.bodies[input.body];
            let sequence = &input.input.sequence;
            let target = sequence.at(time).get(k as usize);
            let velocity = (target - sequence.at(time - h).get(k as usize)) / h;
            let way = target - self.origins[input.body] - self.start[b].get(lane);
            // Implicit in the way still to go: stable for any frequency and step.
            let stiffness = (std::f64::consts::TAU * c.follow * h).powi(2);
            let (alpha, calm) = (stiffness / (1.0 + stiffness), decay(c.follow_damping, h));
            let v = self.v[b].get(lane);
            // As the springs of clusters: α of the way becomes velocity. The way the input itself goes in
            // this step is the damping's part.
            let pull = (way - velocity * h) * (alpha / h) + (velocity - v) * calm;
            self.v[b].set(lane, v + pull * weight);
        }
    }

    /// Puts prescribed particles where they are held: for the goals only, or for good.
    fn place_pins(&mut self, last: bool, h: f64) {
        for &(block, lane, n, k, _) in self.followers.iter().filter(|f| f.4 >= 1.0) {
            let (b, lane) = (block as usize, lane as usize);
            let input = &self.model.params.inputs[n as usize];
            let target = input.input.sequence.at(self.time).get(k as usize) - self.origins[input.body];
            self.x[b].set(lane, target);
            if last {
                self.predicted[b].set(lane, target);
                self.v[b].set(lane, (target - self.start[b].get(lane)) / h);
            }
        }
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
        // Largest excess; a maximum does not depend on the order it is taken in, and bits of
        // non-negative numbers sort like the numbers.
        let mut residual = 0.0;
        for iteration in 0..most {
            self.want(|body| iteration < body.iterations);
            self.fit(false, isa, team);
            self.balance(iteration, isa, team);
            for (to, body) in self.relaxation.iter_mut().zip(&self.now) {
                let c = &body.controls;
                *to = (iteration < body.iterations).then_some(Relaxation {
                    omega: c.relaxation,
                    gamma: c.strain_limit,
                    conserve: c.conserve_momentum,
                });
            }
            let largest = AtomicU64::new(0);
            let fixed = fixed!(self);
            let Cache { goals, quadratic, screws, relaxation, now, free, radii, planes, start, .. } = self;
            let levers = if self.levers.is_empty() { &*start } else { &self.levers };
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
                    let BodyNow { surface, release, .. } = now[body];
                    let (radii, start) = (&radii[b], &start[b]);
                    // Whether it bounces was decided when it arrived.
                    let meeting = Meeting {
                        planes,
                        surface,
                        release,
                        resting: 0.0,
                        radii,
                        start,
                        arriving: None,
                        h: 0.0,
                        share: 0.0,
                    };
                    contacts::push_out_lanes(meeting, moved[k], &mut x[k], isa);
                }
            });
            residual = f64::from_bits(largest.into_inner());
        }
        (most, residual)
    }

    /// The rigid displacement that takes back what each cluster is about to introduce.
    fn balance(&mut self, iteration: u32, isa: Isa, team: &Team) {
        if !self.want(|body| iteration < body.iterations && body.controls.conserve_momentum) {
            return;
        }
        let fixed = fixed!(self);
        let layout = &self.layout;
        let levers = if self.levers.is_empty() { &self.start } else { &self.levers };
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

    /// Lines 8 and 9 of algorithm 1. Returns whether everything is still a number.
    fn update_velocities(&mut self, h: f64, isa: Isa, team: &Team) -> bool {
        let Cache { x, predicted, .. } = self;
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
    fn give_state(&mut self, from: Option<Before<'_>>, state: &mut State, team: &Team) {
        let Cache { layout, slots, v, start, rotations, plastic, .. } = self;
        team.split((&mut state.x, &mut state.v), PARTICLES, |range, (to_x, to_v)| {
            let was = from.map(|(x, _)| x.columns().map(|c| &c[range.clone()]));
            let slots = &slots[range];
            let to = [(to_x.x, to_v.x), (to_x.y, to_v.y), (to_x.z, to_v.z)];
            for (j, (to_x, to_v)) in to.into_iter().enumerate() {
                for ((k, &slot), (to_x, to_v)) in slots.iter().enumerate().zip(to_x.iter_mut().zip(to_v)) {
                    let (b, lane) = (slot as usize / WIDTH, slot as usize % WIDTH);
                    // Particles of other solvers are in no block.
                    if let (Some(moved), Some(v)) = (start.get(b), v.get(b)) {
                        // As a movement: what stands still keeps its bits, however far from the origin.
                        *to_x = was.map_or(*to_x, |was| was[j][k]) + moved.0[j][lane];
                        *to_v = v.0[j][lane];
                    }
                }
            }
        });
        for &(block, lane, group, anchor) in &self.pins {
            let i = layout.lanes[block as usize][lane as usize] as usize;
            state.x.set(i, self.placements[group as usize].transform_point3(anchor));
        }
        for &(block, lane, n, k, _) in self.followers.iter().filter(|f| f.4 >= 1.0) {
            let i = layout.lanes[block as usize][lane as usize] as usize;
            let sequence = &self.model.params.inputs[n as usize].input.sequence;
            state.x.set(i, sequence.at(self.time).get(k as usize));
        }
        for (k, &c) in layout.clusters.iter().enumerate() {
            (state.frames[c as usize], state.plastic[c as usize]) = (rotations[k], plastic[k]);
        }
    }
}
