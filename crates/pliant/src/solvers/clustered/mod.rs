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
//! All of this happens in blocks of eight particles (`layout`), in lanes (`kernels`), pass after pass (`passes`) over what
//! `inputs` took there; what clusters make of the sums is in `fit`. Everything kept between steps is a cache.

mod balance;
mod contacts;
mod fit;
mod goals;
mod inputs;
mod kernels;
mod layout;
mod pack;
mod passes;
mod response;

use super::{FinishReport, Outside, Progress, Round, Solver, SolverError, Stage, Subject};
use crate::contact::{ColliderGeometry, ContactMaterial, Obstacle, Obstacles, Respond, Solid};
use crate::controls::{BodyControls, LiveControls};
use crate::model::{BodyModel, Rest};
use crate::points::Points;
use crate::state::BodyState;
use balance::ClusterInertia;
use fit::GoalMethod;
use glam::{DMat3, DVec3};
use kernels::{
    BalanceSum, Drive, FitSum, Goal, MotionSum, Points8, QuadraticGoal, QuadraticSum, RestBlock, Screw,
    Weights,
};
use layout::{ClusterLayout, WIDTH};
use pack::ClusterConstants;
use pliant_math::lanes::{Bits, Isa};
use response::CouplingResponse;

pub(crate) use goals::{elastic_energy, raise_strain};

/// Blocks, pieces and clusters per chunk of parallel work.
const BLOCKS: usize = 32;
const PIECES: usize = 8;
const CLUSTERS: usize = 8;
/// Particles per chunk when results are taken back.
const PARTICLES: usize = 1024;

/// The solver; all but the instruction set is a cache.
#[derive(Clone, Debug)]
pub(crate) struct Clustered {
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
    surface: ContactMaterial,
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
    /// Whether others may touch the body in this substep: it meets obstacles as they do then, so that loads go through.
    crowded: bool,
}

/// What solids around the body are made of, the length of the substep, and the way into an obstacle that counts as rest.
#[derive(Clone, Copy)]
struct ContactSettings<'a> {
    forms: &'a [ColliderGeometry],
    h: f64,
    resting: f64,
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
        let Stage { body: Subject { model, controls, time, obstacles }, before, team, tied, crowded } = stage;
        let obstacles = if crowded { Obstacles::NONE } else { obstacles };
        self.prepare(model, controls)?;
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return Ok(0);
        };
        let h = model.params.substep();
        cache.time = time + h;
        cache.crowded = crowded;
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
        !self.cache.as_ref().is_some_and(|c| c.crowded)
    }

    fn advance(&mut self, stage: Stage<'_>, _: &BodyState) -> Progress {
        if let Some(cache) = self.cache.as_mut().filter(|_| stage.tied && !stage.crowded) {
            cache.push_out_tied(stage.body.obstacles.forms, self.isa);
        }
        Progress { moved: self.cache.as_ref().map_or(0.0, |c| c.excess), settled: false }
    }

    fn finish(&mut self, stage: Stage<'_>, outside: Outside<'_>, state: &mut BodyState) -> FinishReport {
        let (Some(cache), isa) = (&mut self.cache, self.isa) else {
            return FinishReport::default();
        };
        let pushed = if stage.crowded { cache.settle(stage.body, outside) } else { 0.0 };
        let finite = cache.update_velocities(stage.body.model.params.substep(), isa, stage.team);
        cache.give_state(stage.before, state, stage.team);
        FinishReport { contacts: cache.contacts, pushed, finite }
    }

    /// It is explicit: there is no solution that its rounds lead to.
    fn positions(&mut self) -> Option<&Points> {
        None
    }

    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(self.clone())
    }
}
