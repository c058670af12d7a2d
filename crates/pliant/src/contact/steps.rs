//! The steps by which the contact forces of a round are found: accelerated projected gradients over all that takes part.
//!
//! What carries no force and stays open takes no part until a step has closed it. Contacts are numbered by themselves, and
//! nodes of all bodies one after the other, so that a step is one pass over bodies (forces onto their nodes, and how these move)
//! and one over contacts, each of which any number of threads may share: sums are taken in one order.

use super::dual::{Bodies, Link, Row, WithNodes, into_cone};
use super::nodes::Nodes;
use crate::couplings::Ties;
use crate::team::{Pieces, Team};
use glam::DVec3;

/// The movement, relative to the size of the bodies, below which forces are settled.
const SETTLED: f64 = 1e-10;
/// Contacts per piece of work.
const PIECE: usize = 256;
/// How open a contact without a force is to be to take no part at first, relative to the size of the bodies.
const OPEN: f64 = 1e-3;
/// Most times that contacts join which steps have closed.
const MOST_JOINED: usize = 3;

/// How far steps go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thoroughness {
    /// Most steps.
    pub steps: usize,
    /// The part of the movement that is there at first, below which they end.
    pub part: f64,
    /// Whether all contacts take part from the first step, open ones too.
    pub all: bool,
}

/// A contact that takes part.
#[derive(Clone, Copy, Debug)]
struct Part {
    normal: DVec3,
    /// How far it is from where it is to be, along the normal and by what it has slid, without contact forces.
    off: DVec3,
    friction: f64,
    /// What a force moves the sides by at most, in company of its neighbours', and one over that; nothing where nothing moves.
    metric: f64,
    per_metric: f64,
    per_size: f64,
    /// Its number among all, and where its links begin and end.
    row: u32,
    links: [u32; 2],
    force: DVec3,
    /// Extrapolated from the last two forces; the one that follows; and that with the smallest residual so far.
    trial: DVec3,
    next: DVec3,
    best: DVec3,
}

/// What a piece of a step has found.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    moved: f64,
    left: f64,
    against: f64,
}

/// How the accelerated iteration is going.
#[derive(Clone, Copy, Debug)]
struct Pace {
    momentum: f64,
    smallest: f64,
    /// Whether the best forces are those of the least work left, or those by which the furthest contact moves least.
    by_work: bool,
    /// What the last step has changed: by the work of it, and the furthest that it moves any contact relative to its size.
    left: f64,
    moved: f64,
}

/// Room for the steps of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    parts: Vec<Part>,
    /// Node and weight, of one part after the other.
    links: Vec<(u32, f64)>,
    /// Whether a row takes part.
    takes_part: Vec<bool>,
    /// The ends of the nodes of each body, and how these move.
    ends: Vec<usize>,
    moved: Vec<DVec3>,
    /// By how much these move at most by the weights of all, along x.
    reached: Vec<DVec3>,
    /// The parts that hold each node, with what of their forces it gets.
    first_on: Vec<u32>,
    on: Vec<(u32, f64)>,
    /// Pieces of the parts.
    pieces: Vec<usize>,
    sums: Vec<Sum>,
}

/// The bodies, their nodes, and what ties them.
pub(super) struct Moved<'a> {
    pub bodies: &'a mut dyn Bodies,
    pub nodes: &'a mut [Nodes],
    pub ties: &'a mut Ties,
    pub team: &'a Team,
}

impl Steps {
    pub fn reserve(&mut self, contacts: usize, nodes: usize, bodies: usize) {
        let Steps { parts, links, takes_part, ends, moved, reached, first_on, on, pieces, sums } = self;
        ends.clear();
        ends.reserve(bodies);
        reached.clear();
        reached.reserve(nodes);
        parts.clear();
        parts.reserve(contacts);
        links.clear();
        links.reserve(2 * contacts);
        takes_part.clear();
        takes_part.reserve(contacts);
        moved.clear();
        moved.reserve(nodes);
        first_on.clear();
        first_on.reserve(nodes + 1);
        on.clear();
        on.reserve(2 * contacts);
        pieces.clear();
        pieces.reserve(contacts.div_ceil(PIECE));
        sums.clear();
        sums.reserve(contacts.div_ceil(PIECE));
    }

    /// Numbers the nodes there are; to be called before anything is asked of them in a round.
    pub fn number(&mut self, nodes: &[Nodes]) {
        self.ends.clear();
        self.ends.extend(nodes.iter().scan(0, |end, n| {
            *end += n.len();
            Some(*end)
        }));
        self.moved.clear();
        self.moved.resize(self.ends.last().copied().unwrap_or(0), DVec3::ZERO);
    }

    fn number_of(&self, link: &Link) -> usize {
        let first = if link.body == 0 { 0 } else { self.ends[link.body as usize - 1] };
        first + link.node as usize
    }

    /// Does something with every body that has nodes, and with its piece of a list that has room for a place of each.
    pub fn each_body(
        &mut self,
        nodes: &mut [Nodes],
        bodies: &mut dyn Bodies,
        team: &Team,
        act: WithNodes<'_>,
    ) {
        bodies.each_with(nodes, (&mut self.moved, &self.ends), team, &|place, body, nodes, list, team| {
            if !nodes.is_empty() {
                act(place, body, nodes, list, team);
            }
        });
    }

    /// Finds by how much nodes move at most by their weights.
    pub fn reach(&mut self, nodes: &mut [Nodes], bodies: &mut dyn Bodies, team: &Team) {
        self.reached.clear();
        self.reached.resize(self.moved.len(), DVec3::ZERO);
        let Steps { reached, ends, .. } = self;
        bodies.each_with(nodes, (reached, ends), team, &|_, body, nodes, reached, team| {
            if !nodes.is_empty() {
                body.side.reach(nodes, team);
                reached.iter_mut().enumerate().for_each(|(k, to)| *to = nodes.movement(k));
            }
        });
    }

    /// The same of links.
    pub fn reach_of(&self, links: &[Link]) -> f64 {
        links.iter().map(|l| self.reached[self.number_of(l)].x * l.weight.abs()).sum()
    }

    /// Takes up how nodes move.
    pub fn take_movements(&mut self, nodes: &[Nodes]) {
        let mut to = self.moved.iter_mut();
        for nodes in nodes {
            (0..nodes.len()).zip(&mut to).for_each(|(k, to)| *to = nodes.movement(k));
        }
    }

    /// Where nodes go, or by how much, of links.
    pub fn sum(&self, links: &[Link]) -> DVec3 {
        links.iter().fold(DVec3::ZERO, |sum, l| sum + self.moved[self.number_of(l)] * l.weight)
    }

    /// Finds the forces of rows, whose metrics are known. Nodes move by the trial forces.
    pub fn find(&mut self, rows: &mut [Row], links: &[Link], how: Thoroughness, mut with: Moved<'_>) {
        self.parts.clear();
        self.links.clear();
        self.takes_part.clear();
        self.takes_part.resize(rows.len(), false);
        // No force moves these.
        rows.iter_mut().filter(|r| r.metric <= 0.0).for_each(|row| row.force = DVec3::ZERO);
        let any = self.join(rows, links, if how.all { f64::INFINITY } else { OPEN });
        for _ in 0..if any { MOST_JOINED + 1 } else { 0 } {
            self.step(how, &mut with);
            for part in &self.parts {
                rows[part.row as usize].force = part.best;
            }
            if !self.join(rows, links, 0.0) {
                break;
            }
        }
        rows.iter_mut().for_each(|row| row.trial = row.force);
    }

    /// Lets those take part that carry a force or are less open than `open`; tells whether there were any that did not.
    fn join(&mut self, rows: &[Row], links: &[Link], open: f64) -> bool {
        let (before, mut first) = (self.parts.len(), 0);
        for (k, row) in rows.iter().enumerate() {
            let own = &links[first..row.links as usize];
            first = row.links as usize;
            if self.takes_part[k] || row.metric <= 0.0 {
                continue;
            }
            let at = row.free + self.sum(own);
            if row.force == DVec3::ZERO && row.normal.dot(at) - row.offset >= open * row.size {
                continue;
            }
            self.takes_part[k] = true;
            let begin = self.links.len() as u32;
            let flat = own.iter().map(|l| {
                let first = if l.body == 0 { 0 } else { self.ends[l.body as usize - 1] };
                ((first + l.node as usize) as u32, l.weight)
            });
            self.links.extend(flat);
            let n = row.normal;
            self.parts.push(Part {
                normal: n,
                off: row.free - row.start + n * (n.dot(row.start) - row.offset),
                friction: row.friction,
                metric: row.metric,
                per_metric: row.metric.recip(),
                per_size: row.size.recip(),
                row: k as u32,
                links: [begin, self.links.len() as u32],
                force: row.force,
                trial: row.force,
                next: row.force,
                best: row.force,
            });
        }
        if self.parts.len() == before {
            return false;
        }
        self.pieces.clear();
        let count = self.parts.len();
        self.pieces.extend((1..=count.div_ceil(PIECE)).map(|k| (k * PIECE).min(count)));
        self.sums.clear();
        self.sums.resize(self.pieces.len(), Sum::default());
        self.hang(rows, links);
        true
    }

    /// Finds out which parts hold each node.
    fn hang(&mut self, rows: &[Row], links: &[Link]) {
        let Steps { parts, links: own, first_on, on, moved, .. } = self;
        first_on.clear();
        first_on.resize(moved.len() + 1, 0);
        own.iter().for_each(|(node, _)| first_on[*node as usize + 1] += 1);
        for k in 0..moved.len() {
            first_on[k + 1] += first_on[k];
        }
        on.clear();
        on.resize(own.len(), (0, 0.0));
        for (k, part) in parts.iter().enumerate() {
            let row = part.row as usize;
            let of_row = if row == 0 { 0 } else { rows[row - 1].links as usize };
            let [begin, end] = part.links.map(|l| l as usize);
            for (l, (node, _)) in own[begin..end].iter().enumerate() {
                // Up to the end of what it has so far: the beginnings move on, and are put back after.
                let at = &mut first_on[*node as usize];
                on[*at as usize] = (k as u32, links[of_row + l].force);
                *at += 1;
            }
        }
        first_on.rotate_right(1);
        first_on[0] = 0;
    }

    /// Takes steps of the forces of all parts.
    fn step(&mut self, how: Thoroughness, with: &mut Moved<'_>) {
        let by_work = !how.all;
        let mut pace = Pace { momentum: 1.0, smallest: f64::INFINITY, by_work, left: 0.0, moved: 0.0 };
        let mut enough = 0.0;
        self.parts.iter_mut().for_each(|p| (p.trial, p.force) = (p.best, p.best));
        for step in 1..=how.steps {
            self.respond(with);
            self.update(&mut pace, step == how.steps, with.team);
            if step == 1 {
                enough = how.part * how.part * pace.left;
            }
            if pace.moved <= SETTLED || pace.left <= enough {
                break;
            }
        }
    }

    /// Moves the nodes by the trial forces, and by those of couplings that go with them.
    fn respond(&mut self, with: &mut Moved<'_>) {
        self.move_nodes(with);
        if !with.ties.is_empty() {
            with.ties.correct(with.nodes);
            self.move_nodes(with);
        }
    }

    fn move_nodes(&mut self, Moved { bodies, nodes, ties, team }: &mut Moved<'_>) {
        let Steps { parts, ends, moved, first_on, on, .. } = self;
        let load = |place: usize, nodes: &mut Nodes| {
            nodes.unload();
            let first = if place == 0 { 0 } else { ends[place - 1] };
            for k in 0..nodes.len() {
                let held = first_on[first + k] as usize..first_on[first + k + 1] as usize;
                let force = on[held]
                    .iter()
                    .fold(DVec3::ZERO, |sum, (part, share)| sum + parts[*part as usize].trial * *share);
                nodes.set_force(k, force);
            }
        };
        let tied = !ties.is_empty();
        if tied {
            nodes.iter_mut().enumerate().for_each(|(place, nodes)| load(place, nodes));
            ties.load(nodes);
        }
        bodies.each_with(nodes, (moved, ends), team, &|place, body, nodes, to, team| {
            if nodes.is_empty() {
                return;
            }
            if !tied {
                load(place, nodes);
            }
            body.side.respond(nodes, team);
            to.iter_mut().enumerate().for_each(|(k, to)| *to = nodes.movement(k));
        });
    }

    /// One accelerated step of the forces from the response to the trial; the last one does not extrapolate.
    fn update(&mut self, pace: &mut Pace, last: bool, team: &Team) {
        let Steps { parts, links, moved, pieces, sums, .. } = self;
        let (links, moved): (&[(u32, f64)], &[DVec3]) = (links, moved);
        team.split((Pieces(&mut parts[..], pieces), &mut sums[..]), 1, |_, (parts, sum)| {
            let mut found = Sum::default();
            for part in parts {
                let own = &links[part.links[0] as usize..part.links[1] as usize];
                let off =
                    own.iter().fold(part.off, |sum, (node, weight)| sum + moved[*node as usize] * *weight);
                let next = into_cone(part.trial - off * part.per_metric, part.normal, part.friction);
                let change = next - part.trial;
                found.moved = found.moved.max(change.length() * part.metric * part.per_size);
                found.left += part.metric * change.length_squared();
                found.against -= part.metric * change.dot(next - part.force);
                part.next = next;
            }
            sum[0] = found;
        });
        let all = sums.iter().fold(Sum::default(), |a, b| Sum {
            moved: a.moved.max(b.moved),
            left: a.left + b.left,
            against: a.against + b.against,
        });
        (pace.moved, pace.left) = (all.moved, all.left);
        // With friction a smaller residual is not certain to follow: the best is kept. Where bodies touch each other all contacts count, as a
        // single one that cannot comply says nothing of the others.
        let residual = if pace.by_work { all.left } else { all.moved };
        let best = residual < pace.smallest;
        if best {
            pace.smallest = residual;
        }
        if all.against > 0.0 {
            pace.momentum = 1.0;
        }
        let momentum = 0.5 * (1.0 + (1.0 + 4.0 * pace.momentum * pace.momentum).sqrt());
        let beta = if last { 0.0 } else { (pace.momentum - 1.0) / momentum };
        pace.momentum = momentum;
        team.split(&mut parts[..], PIECE, |_, parts| {
            for part in parts {
                if best {
                    part.best = part.next;
                }
                part.trial = part.next + (part.next - part.force) * beta;
                part.force = part.next;
            }
        });
    }
}
