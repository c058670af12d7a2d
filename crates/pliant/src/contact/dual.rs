//! Contact forces: dual unknowns inside Coulomb cones, whichever solvers move the bodies that touch.
//!
//! The points that touch respond to forces through G = J C Jᵀ: J takes the movements of particles to those of the sides
//! of contacts, C says how the particles of a body move by forces on them, which is all that differs between solvers
//! ([`Respond`]). What is sought are forces f that push only, with their tangential part within the Coulomb cone,
//! such that no point ends inside another, no force is where points separate, and what is held by friction stays where
//! it was: a fixed point of
//!
//! > f = cone(f − (n gap(u) + slide(u))/d), u = u₀ + G f,
//!
//! found by accelerated projected gradients. Everything speaks of the end of the substep. The step 1/d cannot diverge:
//! for symmetric G of blocks G_ab, diag(Σ_b ‖G_ab‖ y_b / y_a) − G is positive semidefinite for every positive y.
//! Forces are kept from one round of the solvers to the next, so they become more exact as the positions do.
//!
//! Couplings (`couplings`) have forces without bounds, which follow from those of the contacts by a linear solve. They are
//! eliminated: after every change of the contact forces they are solved for anew, so that contacts see the response of
//! bodies that hold together. That is G less a positive semidefinite matrix, for which 1/d is as safe.

use super::looked_at::LookedAt;
use super::nodes::{Nodes, PairResponse};
use super::steps::{Moved, Steps, Thoroughness};
use super::sweeps::{SolidResponse, Sweeps};
use super::{Contact, Endpoint, Obstacles};
use crate::couplings::{Pull, Tie, TieLayout, Ties};
use crate::points::Points;
use crate::solvers::Subject;
use crate::team::Team;
use glam::DVec3;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of the forces in one round: where responses are cheap, and where each is a solve.
const STEPS: usize = 60;
const STEPS_BY_SOLVES: usize = 15;
/// Most times that forces of couplings are solved for, by a system that may not be quite the present one.
const MOST_SOLVES: usize = 6;
/// Most times that points of frames are looked at anew in one round, where they have been brought by forces along where they were.
const MOST_LOOKS: usize = 4;
/// What a contact that is not expected to carry any force counts in the bound of its neighbours' responses.
const IDLE: f64 = 0.03;
/// Steps between two rounds of bodies that go on by themselves, and the part of what a round has moved that they may leave to the next.
const STEPS_BETWEEN: usize = 12;
const PART_BETWEEN: f64 = 0.02;
/// So few contacts take all steps in every round: they are cheap, and come to rest sooner.
const FEW: usize = 512;

/// A body in the middle of a substep, as contacts see it: where its particles are at the end of the substep, and how
/// they move by forces.
pub(crate) trait Respond {
    /// What of it stays the same during the substep.
    fn beginning(&self) -> &SubstepStart;

    /// Where a particle ends if nothing is done any more.
    fn end(&self, particle: usize) -> DVec3;

    /// The same of all particles.
    fn ends(&self, to: &mut Points) {
        (0..to.len()).for_each(|i| to.set(i, self.end(i)));
    }

    /// The same of those points that may end nearer to an obstacle than `reach`, or of more: tells which these are.
    fn look(&self, _obstacles: Obstacles<'_>, _reach: f64, to: &mut Points, near: &mut LookedAt) {
        self.ends(to);
        near.take_all(to.len());
    }

    /// Where a particle ends with the present round made and all contact forces taken away.
    fn free_end(&self, particle: usize) -> DVec3;

    /// Where a particle ends with the present round made and the forces that were pushed with.
    fn ahead(&self, particle: usize) -> DVec3 {
        self.end(particle)
    }

    /// The same of several, and where they begin and end.
    fn ends_of(&self, particles: &[u32], when: When, to: &mut Vec<DVec3>) {
        let start = &self.beginning().start;
        to.extend(particles.iter().map(|i| match when {
            When::Start => start.get(*i as usize),
            When::End => self.end(*i as usize),
            When::Free => self.free_end(*i as usize),
            When::Ahead => self.ahead(*i as usize),
        }));
    }

    /// How nodes respond to each other, where that is one number for each pair, and these are at hand once it is prepared.
    fn pairs(&self) -> Option<PairResponse<'_>> {
        None
    }

    /// The node that touches when a ball around a point meets something along `normal`, away from that: the point itself,
    /// unless it turns with the body.
    fn touch(&mut self, point: u32, _normal: DVec3) -> u32 {
        point
    }

    /// What [`Respond::touch`] told of a node is true of another normal now.
    fn touch_elsewhere(&mut self, _node: u32, _normal: DVec3) {}

    /// Prepares responses of these nodes; tells whether each is as dear as a solve.
    fn prepare(&mut self, nodes: &Nodes, team: &Team) -> bool;

    /// The movements of the nodes by the forces on them.
    fn respond(&mut self, nodes: &mut Nodes, team: &Team);

    /// Σ ‖C_ab‖ weight_b of every node a, as its movement along x.
    fn reach(&mut self, nodes: &mut Nodes, team: &Team);

    /// Whether it is a solid, and moves as one.
    fn is_solid(&self) -> bool {
        false
    }

    /// How it responds to the nodes it is prepared for, if it is a solid.
    fn solid(&self) -> SolidResponse<'_> {
        SolidResponse::NONE
    }

    /// Takes the forces of the nodes into the present round, in place of those it had.
    fn push(&mut self, nodes: &Nodes, team: &Team);

    /// Takes them out again, so that others may be found for the same round.
    fn retract(&mut self, _team: &Team) {}

    /// Whether rounds move it also where forces stay as they are, so that these need not be exact before the last.
    fn goes_on(&self) -> bool {
        false
    }

    /// Whether it responds alike in all rounds of a substep.
    fn is_constant(&self) -> bool {
        true
    }
}

/// Where particles are looked at in a substep: as it begins, as it ends, as it would end without forces, and as it will end once
/// the present round is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Start,
    End,
    Free,
    Ahead,
}

/// A body of an island while its contacts are being found.
pub(crate) struct Touching<'a> {
    pub body: Subject<'a>,
    pub side: &'a mut dyn Respond,
    /// Its number.
    pub id: u64,
    /// Whether it meets obstacles by itself.
    pub meets_obstacles: bool,
}

impl Touching<'_> {
    /// How much heavier it is than it was built: it moves by forces as if these were so much smaller.
    pub fn mass_ratio(&self) -> f64 {
        self.body.model.mass_ratio(self.body.controls.body)
    }
}

/// The bodies of an island, as contacts and couplings see them.
pub(crate) trait Bodies {
    fn len(&self) -> usize;

    /// The body of a place; `None` if it has nothing that responds.
    fn get(&mut self, place: usize) -> Option<Touching<'_>>;

    /// Does something with each body, its nodes and its piece of a list, which end at these; bodies side by side, if they may.
    fn each_with(
        &mut self,
        nodes: &mut [Nodes],
        (list, ends): (&mut [DVec3], &[usize]),
        team: &Team,
        act: WithNodes<'_>,
    ) {
        for (place, nodes) in nodes.iter_mut().enumerate().take(self.len()) {
            let begin = if place == 0 { 0 } else { ends[place - 1] };
            if let Some(body) = self.get(place) {
                act(place, body, nodes, &mut list[begin..ends[place]], team);
            }
        }
    }
}

/// What is done with a body of a place, its nodes and its piece of a list.
pub(crate) type WithNodes<'a> = &'a (dyn Fn(usize, Touching<'_>, &mut Nodes, &mut [DVec3], &Team) + Sync);

/// A body as it begins a substep.
#[derive(Clone, Debug)]
pub(crate) struct SubstepStart {
    /// Its size, which tells what is small.
    pub size: f64,
    /// Where its particles are.
    pub start: Points,
    /// Whether each moves by forces at all.
    pub free: Vec<bool>,
}

/// A node that takes part in a contact or a tie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub body: u32,
    pub node: u32,
    /// What its movement counts: positive on the first side, negative on the second.
    pub weight: f64,
    /// What of a force it gets, in terms of the masses its body was built with.
    pub force: f64,
}

impl Link {
    pub fn new(body: usize, node: u32, weight: f64, mass_ratio: f64) -> Link {
        Link { body: body as u32, node, weight, force: weight / mass_ratio }
    }
}

/// A contact as the iteration sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub normal: DVec3,
    pub offset: f64,
    pub friction: f64,
    /// Where the sides were to each other when the substep began, less what the obstacle itself moves.
    pub start: DVec3,
    /// What counts as small.
    pub size: f64,
    /// The end of its links.
    pub links: u32,
    pub force: DVec3,
    /// Where the sides end to each other without contact forces.
    pub free: DVec3,
    /// d: what a force moves the sides by at most, in company of its neighbours'.
    pub metric: f64,
    /// What is on the nodes at present.
    pub trial: DVec3,
}

/// Pushes only, with the tangential part at most μ times the normal one. The normal part stays as it is: the nearest
/// point of the cone would lift what slides.
#[inline(always)]
pub(super) fn into_cone(force: DVec3, normal: DVec3, friction: f64) -> DVec3 {
    let push = normal.dot(force);
    if push <= 0.0 {
        return DVec3::ZERO;
    }
    let slide = force - normal * push;
    let (length, most) = (slide.length(), friction * push);
    if length <= most { force } else { normal * push + slide * (most / length) }
}

/// How the forces of a round may be found.
#[derive(Clone, Copy, Debug)]
struct StepsAllowed {
    most: usize,
    /// Whether some body does not go on by itself between rounds: what one has left the next may not mend.
    exact: bool,
}

/// The forces of contacts and couplings of an island.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dual {
    rows: Vec<Row>,
    links: Vec<Link>,
    ties: Ties,
    sweeps: Sweeps,
    /// Of each body of the island.
    nodes: Vec<Nodes>,
    /// Whether these move as the forces there are let them, whatever rounds come.
    moved: bool,
    steps: Steps,
}

impl Dual {
    /// Forgets all contacts and couplings; the bodies of the island have so many particles, and ties to come this layout.
    pub fn begin(&mut self, particles: impl ExactSizeIterator<Item = usize>, layout: &Arc<TieLayout>) {
        self.rows.clear();
        self.links.clear();
        self.moved = false;
        self.ties.begin(layout);
        let count = particles.len();
        if self.nodes.len() < count {
            self.nodes.resize_with(count, Nodes::default);
        }
        for (nodes, particles) in self.nodes.iter_mut().zip(particles) {
            nodes.begin(particles);
        }
        // Of an island before, which was larger.
        self.nodes[count..].iter_mut().for_each(|n| n.begin(0));
    }

    /// Makes room for as many contacts and couplings of bodies of so many particles.
    pub fn reserve(
        &mut self,
        particles: impl ExactSizeIterator<Item = usize> + Clone,
        contacts: usize,
        (ties, layout): (&[Tie], &Arc<TieLayout>),
    ) {
        self.begin(particles.clone(), layout);
        self.nodes.iter_mut().zip(particles.clone()).for_each(|(nodes, n)| nodes.reserve(n));
        self.rows.reserve(contacts);
        self.links.reserve(2 * contacts);
        self.sweeps.reserve(contacts);
        self.steps.reserve(contacts, particles.sum(), self.nodes.len());
        self.ties.reserve(ties, layout);
    }

    /// Takes up a contact.
    pub fn add(&mut self, contact: &Contact, bodies: &mut dyn Bodies) {
        let (mut start, mut size) = (DVec3::ZERO, f64::INFINITY);
        for (side, sign) in contact.sides.iter().zip([1.0, -1.0]) {
            if let Endpoint::World { moves } = side {
                start += *moves;
            }
            for (place, particle, weight) in side.particles() {
                let Some(body) = bodies.get(place) else { continue };
                let node = self.nodes[place].of(particle);
                self.links.push(Link::new(place, node, sign * weight, body.mass_ratio()));
                let beginning = body.side.beginning();
                start += beginning.start.get(particle as usize) * (sign * weight);
                size = size.min(beginning.size);
            }
        }
        self.rows.push(Row {
            normal: contact.normal,
            offset: contact.offset,
            friction: contact.friction,
            start,
            size,
            links: self.links.len() as u32,
            force: DVec3::ZERO,
            free: DVec3::ZERO,
            metric: 0.0,
            trial: DVec3::ZERO,
        });
    }

    /// Takes a contact anew that touches elsewhere now: its force stays until the next one is found. It holds the same nodes, maybe
    /// with other weights.
    pub fn renew(&mut self, k: usize, contact: &Contact, bodies: &mut dyn Bodies) {
        let mut start = contact.moves();
        let mut next = if k == 0 { 0 } else { self.rows[k - 1].links as usize };
        for (side, sign) in contact.sides.iter().zip([1.0, -1.0]) {
            for (place, particle, weight) in side.particles() {
                let Some(body) = bodies.get(place) else { continue };
                start += body.side.beginning().start.get(particle as usize) * (sign * weight);
                let node = self.links[next].node;
                self.links[next] = Link::new(place, node, sign * weight, body.mass_ratio());
                next += 1;
            }
        }
        let row = &mut self.rows[k];
        debug_assert_eq!(next, row.links as usize);
        (row.normal, row.offset, row.start) = (contact.normal, contact.offset, start);
    }

    /// Takes up the ties of the island.
    pub fn tie(&mut self, ties: &[Tie], bodies: &mut dyn Bodies) {
        ties.iter().for_each(|tie| self.ties.add(tie, &mut self.nodes, bodies));
        self.ties.begin_substep(ties, &self.nodes, bodies);
    }

    /// Contacts taken up.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The forces of the contacts, in the order they were taken up.
    pub fn forces(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.rows.iter().map(|r| r.force)
    }

    /// Contacts that carry a force.
    pub fn loaded(&self) -> usize {
        self.rows.iter().filter(|r| r.force != DVec3::ZERO).count()
    }

    /// What couplings do to a body of the island, once the substep is concluded.
    pub fn pull_on(&self, place: usize) -> Pull {
        self.ties.pull_on(place)
    }

    /// Whether couplings hold as they are to, however frames have turned: as the substep ends now, or will with the forces of the
    /// present round.
    pub fn ties_settled(&mut self, when: When, ties: &[Tie], bodies: &mut dyn Bodies) -> bool {
        self.ties.are_settled(when, ties, &self.nodes, bodies)
    }

    /// The nodes of a body, with the forces that were found for it.
    pub fn nodes_of(&self, place: usize) -> &Nodes {
        &self.nodes[place]
    }

    /// Lets couplings go for the rest of the substep that no round has brought together.
    pub fn slacken_ties(&mut self, ties: &[Tie], bodies: &mut dyn Bodies) {
        self.ties.slacken(ties, &self.nodes, bodies);
        self.moved = false;
    }

    /// Tells couplings what the substep has left.
    pub fn conclude_ties(&mut self, ties: &mut [Tie], bodies: &mut dyn Bodies) {
        self.ties.conclude(ties, &self.nodes, bodies);
    }

    /// The couplings, and the nodes they hold.
    pub fn ties(&mut self) -> (&mut Ties, &[Nodes]) {
        (&mut self.ties, &self.nodes)
    }

    /// Finds the forces for the present round of the bodies, and puts them on the nodes: [`Respond::push`] is to take them.
    ///
    /// In the `closing` round couplings are to hold to rounding; in those before it nearly is enough, as bodies will move on.
    pub fn answer(&mut self, ties: &[Tie], closing: bool, bodies: &mut dyn Bodies, team: &Team) {
        if self.rows.is_empty() && self.ties.is_empty() {
            return;
        }
        self.steps.number(&self.nodes);
        if self.sweep(bodies, team) {
            return self.load();
        }
        let steps = self.prepare(closing, ties, bodies, team);
        if !self.rows.is_empty() {
            self.respond(bodies, team);
            self.bound(bodies, team);
            // Alone a body can comply with all its contacts, as colliders do not give way.
            let (few, all) = (self.rows.len() <= FEW, bodies.len() == 1);
            let how = match closing || steps.exact || few {
                true => Thoroughness { steps: steps.most, part: 0.0, all },
                false => Thoroughness { steps: steps.most.min(STEPS_BETWEEN), part: PART_BETWEEN, all },
            };
            let Dual { rows, links, ties, nodes, steps, .. } = self;
            steps.find(rows, links, how, Moved { bodies, nodes, ties, team });
        }
        if !self.ties.is_empty() {
            self.hold(ties, bodies, team);
            self.moved = self.rows.is_empty() && self.ties.meet_constant();
        }
        self.load();
    }

    /// Finds the forces of couplings beside those of the contacts.
    fn hold(&mut self, ties: &[Tie], bodies: &mut dyn Bodies, team: &Team) {
        let brief = self.ties.is_brief();
        for pass in 1..=MOST_LOOKS {
            if pass > 1 {
                self.moved = false;
                self.ties.begin_round(false, ties, &mut self.nodes, (bodies, team));
            }
            self.solve_ties(if brief { 1 } else { MOST_SOLVES }, bodies, team);
            let mut halvings = 0;
            // Where frames hardly turn, what they turn by is mended in the next round.
            let straight = !self.ties.is_nonlinear() || (brief && self.ties.turn_little());
            while !straight && self.ties.hold_back(halvings, ties, &self.nodes, bodies) {
                self.move_nodes(bodies, team);
                halvings += 1;
            }
            if brief || halvings > 0 || !self.ties.may_gain() {
                break;
            }
        }
    }

    /// Solves for the forces of couplings where points are taken to be linear.
    fn solve_ties(&mut self, solves: usize, bodies: &mut dyn Bodies, team: &Team) {
        if !(self.moved && self.rows.is_empty() && self.ties.act_as_before()) {
            self.move_nodes(bodies, team);
        }
        // Again for what the solve has left to rounding, or an older system to mend.
        for _ in 0..solves {
            if !self.ties.correct(&self.nodes) {
                break;
            }
            self.move_nodes(bodies, team);
        }
    }

    /// Finds the forces of a solid alone, if it is one.
    fn sweep(&mut self, bodies: &mut dyn Bodies, team: &Team) -> bool {
        if bodies.len() != 1 || !self.ties.is_empty() {
            return false;
        }
        let Some(body) = bodies.get(0) else { return false };
        let (share, side) = (body.mass_ratio().recip(), body.side);
        if !side.is_solid() {
            return false;
        }
        let Dual { rows, links, sweeps, nodes, .. } = self;
        side.prepare(&nodes[0], team);
        let mut first = 0;
        for row in rows.iter_mut() {
            let own = &links[first..row.links as usize];
            first = row.links as usize;
            // With the forces it has.
            row.free = own.iter().fold(DVec3::ZERO, |sum, l| {
                sum + side.end(nodes[0].particles()[l.node as usize] as usize) * l.weight
            });
        }
        sweeps.solve(rows, side.solid(), links, share);
        rows.iter_mut().for_each(|row| row.trial = row.force);
        true
    }

    /// Does something with every body that has nodes.
    fn each_body(&mut self, bodies: &mut dyn Bodies, team: &Team, act: WithNodes<'_>) {
        let Dual { nodes, steps, .. } = self;
        steps.each_body(nodes, bodies, team, act);
    }

    /// Looks where everything ends by itself in the present round. Returns how many steps the forces may take.
    fn prepare(&mut self, closing: bool, ties: &[Tie], bodies: &mut dyn Bodies, team: &Team) -> StepsAllowed {
        let (by_solves, stays) = (AtomicBool::new(false), AtomicBool::new(false));
        self.each_body(bodies, team, &|_, body, nodes, ends, team| {
            if body.side.prepare(nodes, team) {
                by_solves.store(true, Ordering::Relaxed);
            }
            if !body.side.goes_on() {
                stays.store(true, Ordering::Relaxed);
            }
            for (end, i) in ends.iter_mut().zip(nodes.particles()) {
                *end = body.side.free_end(*i as usize);
            }
        });
        let most = if by_solves.into_inner() { STEPS_BY_SOLVES } else { STEPS };
        let mut first = 0;
        for row in &mut self.rows {
            let links = &self.links[first..row.links as usize];
            first = row.links as usize;
            row.free = self.steps.sum(links);
            row.trial = row.force;
        }
        if !self.ties.is_empty() {
            if self.ties.is_nonlinear() && !(self.moved && self.rows.is_empty()) {
                self.move_nodes(bodies, team);
            }
            let brief = !closing && self.rows.is_empty();
            if self.ties.begin_round(brief, ties, &mut self.nodes, (bodies, team)) {
                self.moved = false;
                self.move_nodes(bodies, team);
                self.ties.begin_round(brief, ties, &mut self.nodes, (bodies, team));
            }
        }
        StepsAllowed { most, exact: stays.into_inner() }
    }

    /// Puts the trial forces of contacts, and those of couplings, on the nodes.
    fn load(&mut self) {
        self.nodes.iter_mut().for_each(Nodes::unload);
        let mut first = 0;
        for row in &self.rows {
            for l in &self.links[first..row.links as usize] {
                self.nodes[l.body as usize].load(l.node as usize, row.trial * l.force);
            }
            first = row.links as usize;
        }
        self.ties.load(&mut self.nodes);
    }

    /// Moves the nodes by the trial forces, and by those of couplings that go with them.
    fn respond(&mut self, bodies: &mut dyn Bodies, team: &Team) {
        self.move_nodes(bodies, team);
        if !self.ties.is_empty() {
            self.ties.correct(&self.nodes);
            self.move_nodes(bodies, team);
        }
    }

    fn move_nodes(&mut self, bodies: &mut dyn Bodies, team: &Team) {
        self.load();
        self.each_body(bodies, team, &|_, body, nodes, _, team| body.side.respond(nodes, team));
    }

    /// The metric, from how much every contact counts: all of it where there is, or by the present response will be, a
    /// force.
    fn bound(&mut self, bodies: &mut dyn Bodies, team: &Team) {
        self.steps.take_movements(&self.nodes);
        let mut first = 0;
        for row in &mut self.rows {
            let links = &self.links[first..row.links as usize];
            first = row.links as usize;
            let at = row.free + self.steps.sum(links);
            let touches = row.force != DVec3::ZERO || row.normal.dot(at) < row.offset;
            let counts = if touches { 1.0 } else { IDLE };
            // Kept there until the reach is known.
            row.metric = counts;
            for l in links {
                self.nodes[l.body as usize].weights[l.node as usize] += counts * l.force.abs();
            }
        }
        // How they move by their forces is kept: who takes part is told by that.
        let Dual { nodes, steps, .. } = self;
        steps.reach(nodes, bodies, team);
        let mut first = 0;
        for row in &mut self.rows {
            let links = &self.links[first..row.links as usize];
            first = row.links as usize;
            row.metric = self.steps.reach_of(links) / row.metric;
        }
    }
}

#[cfg(test)]
mod tests;
