//! Clustered shape matching with strain limiting (Bargteil & Jones, strain-limiting.txt).
//!
//! A body is a cloud of particles in overlapping clusters. Each cluster finds the rigid motion of its
//! rest shape that fits its particles best; goals are averaged over a particle's clusters. One
//! substep (algorithm 1):
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

mod balance;
mod goals;

use super::damping::{RigidVelocity, decay};
use super::{Solver, SolverError, SolverKind, SubstepReport};
use crate::contact::{Contact, ContactSet, Surface, bounce, detect_half_spaces, push_out};
use crate::controls::Controls;
use crate::model::Model;
use crate::points::Points;
use crate::state::State;
use crate::team::Team;
use balance::Balance;
use glam::{DAffine3, DVec3};
use goals::{ClusterFit, fit_clusters};
use std::sync::atomic::{AtomicU64, Ordering};

pub use goals::{elastic_energy, raise_strain};

/// Particles per chunk of parallel work.
const CHUNK: usize = 256;

/// The solver; everything in it is a cache.
#[derive(Debug, Default)]
pub struct Clustered {
    cache: Option<Cache>,
}

/// Numbers of one body for one substep.
#[derive(Clone, Copy, Debug)]
struct BodyNow {
    active: bool,
    alpha: f64,
    gamma: f64,
    omega: f64,
    conserve: bool,
    /// Limiting iterations that can have an effect.
    iterations: u32,
    damping: f64,
    keep: f64,
    acceleration: DVec3,
    surface: Surface,
}

#[derive(Debug)]
struct Cache {
    model: Model,
    body_of_particle: Vec<u32>,
    body_of_cluster: Vec<u32>,
    /// (pin group, entry) + 1 of prescribed particles, 0 for free ones.
    pin_of_particle: Vec<u32>,
    pins: Vec<(u32, DVec3)>,
    placements: Vec<DAffine3>,
    now: Vec<BodyNow>,
    fits: Vec<ClusterFit>,
    rigid: Vec<RigidVelocity>,
    balances: Vec<Balance>,
    start: Points,
    predicted: Points,
    contacts: ContactSet,
    /// Velocities v* with which the contacts arrived.
    arrivals: Vec<DVec3>,
}

impl Cache {
    fn new(model: &Model) -> Cache {
        let n = model.particle_count();
        let topology = &model.topology;
        let mut body_of_particle = vec![0; n];
        let mut body_of_cluster = vec![0; topology.clusters.len()];
        for (b, body) in topology.bodies.iter().enumerate() {
            body_of_particle[body.particles.clone()].fill(b as u32);
            body_of_cluster[body.clusters.clone()].fill(b as u32);
        }
        let mut pin_of_particle = vec![0; n];
        let mut pins = Vec::new();
        for (g, group) in model.params.pins.iter().enumerate() {
            for (&i, &anchor) in group.particles.iter().zip(&group.anchors) {
                pins.push((g as u32, anchor));
                pin_of_particle[i as usize] = pins.len() as u32;
            }
        }
        Cache {
            fits: vec![ClusterFit::default(); topology.clusters.len()],
            rigid: vec![RigidVelocity::REST; topology.clusters.len()],
            balances: vec![Balance::default(); topology.clusters.len()],
            start: Points::zeros(n),
            predicted: Points::zeros(n),
            contacts: ContactSet::with_capacity(n * model.params.planes.len()),
            arrivals: Vec::with_capacity(n * model.params.planes.len()),
            now: Vec::with_capacity(topology.bodies.len()),
            placements: Vec::with_capacity(model.params.pins.len()),
            model: model.clone(),
            body_of_particle,
            body_of_cluster,
            pin_of_particle,
            pins,
        }
    }

    /// The live values of all bodies, read anew in each substep: changing them costs nothing.
    fn read_controls(&mut self, controls: &Controls, h: f64) {
        self.now.clear();
        for (b, c) in controls.bodies.iter().enumerate() {
            let idle = c.relaxation == 0.0 || c.strain_limit == f64::INFINITY;
            self.now.push(BodyNow {
                active: self.model.params.bodies[b].solver == SolverKind::Clustered,
                alpha: c.stiffness.alpha(h),
                gamma: c.strain_limit,
                omega: c.relaxation,
                conserve: c.conserve_momentum,
                iterations: if idle { 0 } else { c.iterations },
                damping: decay(c.damping, h),
                keep: 1.0 - decay(c.drag, h),
                acceleration: controls.gravity + c.force / c.mass,
                surface: Surface { friction: c.friction, restitution: c.restitution },
            });
        }
    }
}

impl Solver for Clustered {
    fn kind(&self) -> SolverKind {
        SolverKind::Clustered
    }

    fn prepare(&mut self, model: &Model, _controls: &Controls) -> Result<(), SolverError> {
        if !self.cache.as_ref().is_some_and(|c| c.model.same_parts(model)) {
            self.cache = Some(Cache::new(model));
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
        let Some(cache) = &mut self.cache else {
            return Ok(SubstepReport::default());
        };
        let h = model.params.substep();
        cache.read_controls(controls, h);
        controls.placements(model, state.time + h, &mut cache.placements);

        cache.start.copy_from(&state.x);
        cache.fits.iter_mut().zip(&state.frames).for_each(|(fit, frame)| fit.rotation = *frame);
        cache.fit(&state.x, |_| true, team);
        cache.fit_rigid_velocities(state, team);
        cache.apply_forces(state, h, team);
        let contacts = cache.find_contacts();
        let (iterations, residual) = cache.limit_strain(state, team);
        cache.update_velocities(state, controls, h, team);
        for (frame, fit) in state.frames.iter_mut().zip(&cache.fits) {
            *frame = fit.rotation;
        }
        Ok(SubstepReport { contacts, iterations, residual })
    }

    fn drop_caches(&mut self) {
        self.cache = None;
    }
}

/// What balances are computed from.
struct ForBalance<'a> {
    model: &'a Model,
    start: &'a Points,
    fits: &'a [ClusterFit],
    pins: &'a [u32],
}

impl Cache {
    fn fit(&mut self, x: &Points, wanted: impl Fn(&BodyNow) -> bool + Sync, team: &Team) {
        let (model, bodies, now) = (&self.model, &self.body_of_cluster, &self.now);
        team.split(&mut self.fits[..], 4, |range, fits| {
            for (c, fit) in range.zip(fits) {
                let body = &now[bodies[c] as usize];
                if body.active && wanted(body) {
                    *fit = fit_clusters(model, c, x, fit.rotation);
                }
            }
        });
    }

    /// The rigid motion each cluster's damping leaves alone.
    fn fit_rigid_velocities(&mut self, state: &State, team: &Team) {
        if self.now.iter().all(|b| b.damping == 0.0) {
            return;
        }
        let (model, bodies, now) = (&self.model, &self.body_of_cluster, &self.now);
        team.split(&mut self.rigid[..], 4, |range, rigid| {
            for (c, rigid) in range.zip(rigid) {
                let body = &now[bodies[c] as usize];
                if body.active && body.damping > 0.0 {
                    let set = &model.topology.clusters;
                    let members = || {
                        set.range(c).map(|slot| {
                            let i = set.members[slot] as usize;
                            (i, model.rest.share[slot] * model.rest.mass[i])
                        })
                    };
                    *rigid = RigidVelocity::fit(members, &state.x, &state.v);
                }
            }
        });
    }

    /// Lines 1 to 3 of algorithm 1: springs toward unlimited goals, damping, external forces, and the
    /// positions they lead to. Leaves v* in `state.v`, x⁰ in `predicted`, and x⁰ pushed out of the
    /// planes in `state.x`.
    fn apply_forces(&mut self, state: &mut State, h: f64, team: &Team) {
        let Cache {
            model, body_of_particle, pin_of_particle, pins, placements, now, fits, rigid, start, ..
        } = self;
        let (topology, rest, planes) = (&model.topology, &model.rest, &model.params.planes);
        let predicted = &mut self.predicted;
        team.split(
            (&mut state.x, (&mut state.v, predicted)),
            CHUNK,
            |range, (mut x, (mut v, mut predicted))| {
                for (k, i) in range.enumerate() {
                    let body = &now[body_of_particle[i] as usize];
                    if !body.active {
                        continue;
                    }
                    let (from, velocity) = (start.get(i), v.get(k));
                    if pin_of_particle[i] > 0 {
                        let (group, anchor) = pins[pin_of_particle[i] as usize - 1];
                        let target = placements[group as usize].transform_point3(anchor);
                        v.set(k, (target - from) / h);
                        predicted.set(k, target);
                        x.set(k, target);
                        continue;
                    }
                    let (mut pull, mut calm) = (DVec3::ZERO, DVec3::ZERO);
                    for member in topology.memberships(i) {
                        let (c, share) = (member.cluster as usize, rest.share[member.slot as usize]);
                        pull += share * fits[c].way_to_goal(from, rest.positions.get(i), &rest.clusters[c]);
                        if body.damping > 0.0 {
                            calm += share * (rigid[c].at(from) - velocity);
                        }
                    }
                    let next = (velocity + pull * (body.alpha / h) + calm * body.damping) * body.keep
                        + body.acceleration * h;
                    let to = from + next * h;
                    v.set(k, next);
                    predicted.set(k, to);
                    x.set(k, push_out(planes, body.surface, from, to));
                }
            },
        );
    }

    /// Contacts at the predicted positions: for bounces and for the report.
    fn find_contacts(&mut self) -> usize {
        self.contacts.list.clear();
        for (body, now) in self.model.topology.bodies.iter().zip(&self.now).filter(|(_, now)| now.active) {
            detect_half_spaces(
                &self.model.params.planes,
                &self.predicted,
                body.particles.clone(),
                0.0,
                now.surface,
                &mut self.contacts,
            );
        }
        self.contacts.list.len()
    }

    /// Lines 4 to 7 of algorithm 1. Written as a correction, x += ω Σ share (1 − min(γ/β, 1)) (g − x),
    /// which leaves particles within their limits untouched to the last bit. Where a body asks for it,
    /// each cluster takes back the momentum its corrections introduced; see [`balance`].
    fn limit_strain(&mut self, state: &mut State, team: &Team) -> (u32, f64) {
        let most = self.now.iter().filter(|b| b.active).map(|b| b.iterations).max().unwrap_or(0);
        if most > 0 {
            self.each_balance(team, |c, body, balance, cache| {
                if body.iterations > 0 {
                    *balance = Balance::begin(cache.model, c, cache.start);
                }
            });
        }
        // Largest relative movement; a maximum does not depend on the order it is taken in, and bits
        // of non-negative numbers sort like the numbers.
        let residual = AtomicU64::new(0);
        for iteration in 0..most {
            self.fit(&state.x, |body| iteration < body.iterations, team);
            let x = &state.x;
            self.each_balance(team, |c, body, balance, cache| {
                if iteration < body.iterations {
                    let free = |i: usize| cache.pins[i] == 0;
                    balance.measure(cache.model, c, &cache.fits[c], body.gamma, cache.start, x, free);
                }
            });
            let Cache { model, body_of_particle, pin_of_particle, now, fits, balances, start, .. } = self;
            let (topology, rest, planes) = (&model.topology, &model.rest, &model.params.planes);
            residual.store(0, Ordering::Relaxed);
            team.split(&mut state.x, CHUNK, |range, mut x| {
                let mut largest = 0.0_f64;
                for (k, i) in range.enumerate() {
                    let body = &now[body_of_particle[i] as usize];
                    if !body.active || iteration >= body.iterations || pin_of_particle[i] > 0 {
                        continue;
                    }
                    let (at, from) = (x.get(k), start.get(i));
                    let mut correction = DVec3::ZERO;
                    for member in topology.memberships(i) {
                        let (c, share) = (member.cluster as usize, rest.share[member.slot as usize]);
                        let cluster = &rest.clusters[c];
                        let way = fits[c].way_to_goal(at, rest.positions.get(i), cluster);
                        let (beyond, excess) = goals::beyond_limit(way, body.gamma, cluster);
                        correction += beyond * share;
                        largest = largest.max(excess);
                        if body.conserve {
                            correction -= balances[c].reaction(from) * share;
                        }
                    }
                    if correction != DVec3::ZERO {
                        x.set(k, push_out(planes, body.surface, from, at + correction * body.omega));
                    }
                }
                residual.fetch_max(largest.to_bits(), Ordering::Relaxed);
            });
        }
        (most, f64::from_bits(residual.into_inner()))
    }

    /// Calls `work` for the balance of each cluster whose body conserves momentum.
    fn each_balance(
        &mut self,
        team: &Team,
        work: impl Fn(usize, &BodyNow, &mut Balance, &ForBalance<'_>) + Sync,
    ) {
        if !self.now.iter().any(|b| b.active && b.conserve) {
            return;
        }
        let Cache { model, body_of_cluster, now, fits, balances, start, pin_of_particle, .. } = self;
        let view = ForBalance { model, start, fits, pins: pin_of_particle };
        team.split(&mut balances[..], 4, |range, balances| {
            for (c, balance) in range.zip(balances) {
                let body = &now[body_of_cluster[c] as usize];
                if body.active && body.conserve {
                    work(c, body, balance, &view);
                }
            }
        });
    }

    /// Lines 8 and 9 of algorithm 1, v = (x(t+h) − x(t))/h, written as v* + (x(t+h) − x⁰)/h: the same
    /// in exact arithmetic, and exactly v* where nothing was limited. Then bounces.
    fn update_velocities(&mut self, state: &mut State, controls: &Controls, h: f64, team: &Team) {
        let Cache { body_of_particle, now, predicted, contacts, arrivals, pin_of_particle, .. } = self;
        let particle = |c: &Contact| c.stencil[0] as usize;
        contacts.list.retain(|c| c.restitution > 0.0 && pin_of_particle[particle(c)] == 0);
        arrivals.clear();
        arrivals.extend(contacts.list.iter().map(|c| state.v.get(particle(c))));
        let x = &state.x;
        team.split(&mut state.v, CHUNK, |range, mut v| {
            for (k, i) in range.enumerate() {
                let moved = x.get(i) - predicted.get(i);
                if now[body_of_particle[i] as usize].active && moved != DVec3::ZERO {
                    v.set(k, v.get(k) + moved / h);
                }
            }
        });
        let resting = 2.0 * h * controls.gravity.length();
        for (contact, arriving) in contacts.list.iter().zip(arrivals) {
            let i = particle(contact);
            state.v.set(i, bounce(contact, *arriving, state.v.get(i), resting));
        }
    }
}
