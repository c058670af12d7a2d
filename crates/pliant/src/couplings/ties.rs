//! The forces of couplings in a substep: points of bodies that are to end in one place, and what brings them there.
//!
//! With c the way from the second point to the first, a spring with stiffness k and damping b holds with f = −k c − b ċ at
//! the end of the substep. By ċ = (c − c₀)/h that is c + f/K = c₀ b/(h K), K = k + b/h; a joint is K = ∞. The points respond to
//! the forces through the same G as contacts, so all forces together solve (G + 1/K) f = −(c_free − target): the Schur
//! complement of the couplings on the factors of the bodies, with one number per pair where all bodies answer alike along x, y
//! and z and all points are linear, blocks of up to 3×3 else.
//!
//! Points of frames are not linear in the particles (The point cloud glue, eq. 4). In every round they are taken to be, by
//! their Jacobian (eq. 15 to 18) where the forces so far lead: Newton's method, with the response of the bodies in the middle.
//! While no frame has turned much, the system that was factored serves on.

use super::CouplingMemory;
use super::pairs::{Hold, PairCache, Turned};
use super::row::{TieLink, TieRow, links_of};
use super::system::{Plan, System};
use super::tie::{Placed, Tie, TieSide};
use super::turn::{self, Grip, Turn};
use crate::contact::{Bodies, Nodes, When, release};
use crate::solvers::SolverKind;
use crate::team::Team;
use glam::{DMat3, DVec3};
use pliant_math::lanes::Isa;
use pliant_math::procrustes::{Bindings, Poses};
use std::sync::{Arc, Mutex, PoisonError};

/// The cosine of the turn (of a frame since the system was factored) beyond which it is factored anew: 1°.
const TURNED: f64 = 0.99985;
/// The distance, relative to the size of the bodies, below which points are together.
const SETTLED: f64 = 1e-11;
/// The distance, relative to the size of the bodies, that is left to rounding where forces are solved for.
const ROUNDED: f64 = 1e-13;
/// How much of what the points would come apart by themselves is left in what holds exactly: joints that contradict each other then
/// have a least-squares compromise, as springs of one stiffness have.
const GIVE: f64 = 1e-10;
/// The distance, relative to the size of the bodies, that rounding and turning frames leave between points in one step.
const NEAR: f64 = 1e-6;
/// How often a change of the forces is halved that brings points of frames further apart, or that works where joints do not.
const HALVINGS: usize = 6;
/// The part of force times way that what holds exactly may do as work. It does none but by how far frames turn in a substep.
const WORK: f64 = 0.1;
/// The distance, relative to the size of the bodies, beyond which points of frames that no round brings together are let go for
/// the rest of a substep.
const LOST: f64 = 1e-4;

/// The velocities of the bodies of an island, by their places in it.
pub(crate) trait Velocities {
    /// 1/m of a particle; 0 if it does not move by forces.
    fn softness(&self, place: usize, particle: usize) -> f64;
    fn velocity(&self, place: usize, particle: usize) -> DVec3;
    fn add(&mut self, place: usize, particle: usize, by: DVec3);
}

/// A tie in a substep.
#[derive(Clone, Copy, Debug)]
struct Held {
    first_row: u32,
    /// Seconds of the substep.
    h: f64,
    /// How its sides were turned when the system was factored.
    formed: [DMat3; 2],
    /// The angle of a hinge that is limited or driven.
    turn: Option<Turn>,
    /// Whether it holds nothing in the rest of the substep.
    lost: bool,
    /// Whether it was known how its frames were turned when the substep began.
    determined: bool,
    /// How far a spring still lets its points be apart, and the share of the way between them that it gives up in this substep.
    rest: f64,
    drawn: f64,
    /// The energy another stiffness has put into the spring.
    put_in: f64,
}

/// What the ties of an island are to each other as long as they are there.
#[derive(Debug, Default)]
pub(crate) struct TieLayout {
    plan: Plan,
    /// One number per pair of points, or a block of up to 3×3.
    scalar: bool,
    /// Of each point: itself and those after it that hold one of its bodies.
    touching: Vec<Vec<u32>>,
    /// What holds each body, in the order of the ties.
    holds: Vec<Vec<Hold>>,
    /// The clouds of all frames, whose parents are numbered among the nodes of all bodies; and which is that of a side.
    bindings: Bindings,
    binding: Vec<[u32; 2]>,
    /// What these answer each other, as long as matrices live. A function of the model and its controls.
    pairs: Mutex<PairCache>,
}

impl TieLayout {
    /// Of ties between so many bodies; `alike` tells whether each of these answers alike along x, y and z.
    pub fn new(ties: &[Tie], bodies: usize, alike: bool) -> TieLayout {
        let scalar = alike && !ties.iter().any(Tie::is_nonlinear);
        let mut groups = Vec::new();
        for tie in ties {
            let holds: Vec<usize> = tie.sides.iter().filter_map(|s| s.body()).collect();
            let rows = tie.rows().iter();
            groups.extend(rows.map(|rows| (if scalar { 1 } else { *rows }, holds.clone())));
        }
        let mut holding: Vec<Vec<u32>> = vec![Vec::new(); bodies];
        for (k, (_, holds)) in groups.iter().enumerate() {
            holds.iter().for_each(|b| holding[*b].push(k as u32));
        }
        let touching = |(k, (_, holds)): (usize, &(usize, Vec<usize>))| {
            let mut list: Vec<u32> = holds.iter().flat_map(|b| &holding[*b]).copied().collect();
            list.sort_unstable();
            list.dedup();
            list.retain(|j| *j as usize >= k);
            list
        };
        let touching = groups.iter().enumerate().map(touching).collect();
        let mut holds = vec![Vec::new(); bodies];
        let mut nodes = 0;
        for (tie, of) in ties.iter().enumerate() {
            for (side, of) in of.sides.iter().enumerate() {
                nodes += of.particles().count();
                if let Some(body) = of.body() {
                    holds[body].push(Hold { tie: tie as u32, side: side as u32 });
                }
            }
        }
        let pairs = Mutex::new(PairCache::new(holds.iter().map(Vec::len), nodes));
        let (bindings, binding) = bind(ties, bodies);
        TieLayout { plan: Plan::new(&groups, bodies), scalar, touching, holds, bindings, binding, pairs }
    }
}

/// The clouds of all frames, their parents numbered as [`Ties::add`] makes nodes of particles, body after body; and for each side of
/// each tie the number of its cloud.
fn bind(ties: &[Tie], bodies: usize) -> (Bindings, Vec<[u32; 2]>) {
    let mut nodes = vec![Nodes::default(); bodies];
    let sides = || ties.iter().flat_map(|t| &t.sides);
    for side in sides() {
        if let Some(body) = side.body() {
            side.particles().for_each(|i| _ = nodes[body].of(i));
        }
    }
    let mut first = vec![0];
    nodes.iter().for_each(|n| first.push(first[first.len() - 1] + n.len() as u32));
    let (mut bindings, mut binding) = (Bindings::default(), Vec::with_capacity(ties.len()));
    for tie in ties {
        binding.push([0, 1].map(|k| {
            let number = bindings.len() as u32;
            if let TieSide::Frame { body, frame } = &tie.sides[k] {
                let parents = frame.parents().iter().map(|i| first[*body] + nodes[*body].of(*i));
                bindings.push(frame.cloud(), &parents.collect::<Vec<u32>>(), frame.at());
            }
            number
        }));
    }
    (bindings, binding)
}

/// The couplings of an island in a substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ties {
    rows: Vec<TieRow>,
    links: Vec<TieLink>,
    held: Vec<Held>,
    layout: Arc<TieLayout>,
    system: System,
    /// The share of the ways between exactly tied points that this substep is to close.
    pace: f64,
    /// Whether the system is that of the present responses.
    formed: bool,
    /// Whether all bodies go through all rounds, whatever was settled before.
    patient: bool,
    /// Whether all bodies answer alike in all rounds of a substep.
    constant: bool,
    /// Whether no frame has turned far since the system was factored.
    straight: bool,
    /// Whether another round follows the present one in any case, and whether points were taken to be linear anew in it.
    brief: bool,
    relinearised: bool,
    /// Whether forces were not corrected yet in the present round, and how far points were off then in the one before.
    begins: bool,
    left: f64,
    /// How many frames were fitted since that was asked last.
    fits: usize,
    /// Forces at the beginning of the round, and how far points then ended from where they are to.
    forces: Vec<DVec3>,
    off: f64,
    /// How far any point of a frame ends from where it is to by the forces there are, squared; infinite where they may do other
    /// than bodies answer.
    reached: f64,
    /// Violations, and then changes of the forces: x, y and z, or one after the other.
    sides: [Vec<f64>; 3],
    /// Where the nodes of each body begin among all; where they are, and which of them are led.
    first_node: Vec<u32>,
    starts: Vec<DVec3>,
    frees: Vec<DVec3>,
    ends: Vec<DVec3>,
    led: Vec<bool>,
    /// Where they were looked at last, x, y and z; and the clouds of all frames there.
    columns: [Vec<f64>; 3],
    poses: Poses,
    isa: Option<Isa>,
    /// Of each point and side: how it is turned.
    turned: Vec<[Turned; 2]>,
    /// Of each point: how its directions answer themselves.
    own: Vec<DMat3>,
    /// Scratch: the work of the particles of a point.
    works: Vec<f64>,
    pulls: Vec<Pull>,
}

impl Ties {
    /// Forgets all ties; those to come are laid out like this.
    pub fn begin(&mut self, layout: &Arc<TieLayout>) {
        self.rows.clear();
        self.links.clear();
        self.held.clear();
        self.turned.clear();
        self.pulls.clear();
        self.formed = false;
        self.left = f64::INFINITY;
        self.pace = 1.0;
        self.layout = layout.clone();
        self.poses.begin(&layout.bindings);
    }

    /// Which instructions frames are fitted with.
    pub fn run_with(&mut self, isa: Isa) {
        self.isa = Some(isa);
    }

    /// Makes room for these.
    pub fn reserve(&mut self, ties: &[Tie], layout: &TieLayout) {
        let points = |t: &Tie| t.rows().len();
        let held = |t: &Tie| t.sides.iter().map(|s| s.particles().count()).sum::<usize>();
        let size = layout.plan.size();
        self.rows.reserve(ties.iter().map(points).sum());
        self.forces.reserve(ties.iter().map(points).sum());
        self.links.reserve(ties.iter().map(|t| points(t) * held(t)).sum());
        self.held.reserve(ties.len());
        self.system.reserve(&layout.plan);
        self.sides.iter_mut().for_each(|s| s.reserve(size));
        let (points, nodes) = (ties.iter().map(points).sum(), ties.iter().map(held).sum());
        self.first_node.reserve(layout.holds.len() + 1);
        [&mut self.starts, &mut self.frees, &mut self.ends].into_iter().for_each(|v| v.reserve(nodes));
        self.led.reserve(nodes);
        self.columns.iter_mut().for_each(|c| c.reserve(nodes));
        self.poses.begin(&layout.bindings);
        self.turned.reserve(points);
        self.own.reserve(points);
        self.works.reserve(ties.iter().map(held).max().unwrap_or(0));
        self.pulls.reserve(layout.holds.len());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes up a tie of bodies that have predicted where they go; its particles become nodes. One that is broken keeps its rows,
    /// which hold nothing.
    pub fn add(&mut self, tie: &Tie, nodes: &mut [Nodes], bodies: &mut dyn Bodies) {
        let (mut size, mut h, mut shares) = (f64::INFINITY, 0.0, [1.0; 2]);
        for (side, share) in tie.sides.iter().zip(&mut shares) {
            if let Some(body) = side.body().and_then(|place| bodies.get(place)) {
                (size, h) = (size.min(body.side.beginning().size), body.body.model.params.substep());
                *share = body.mass_ratio().recip();
            }
        }
        let first_row = self.rows.len();
        for (k, axes) in tie.rows().iter().enumerate() {
            let mut first_side = self.links.len();
            for (number, side) in tie.sides.iter().enumerate() {
                if let Some(place) = side.body() {
                    for particle in side.particles() {
                        // Also where nothing holds any more: so nodes are numbered as the layout has it.
                        let node = nodes[place].of(particle);
                        let (body, share) = (place as u32, shares[number]);
                        if !tie.memory.broken {
                            self.links.push(TieLink { body, node, at: 0, block: DMat3::ZERO, share });
                        }
                    }
                }
                if number == 0 {
                    first_side = self.links.len();
                }
            }
            self.rows.push(TieRow {
                links: self.links.len() as u32,
                first_side: first_side as u32,
                axes: *axes,
                along: DMat3::IDENTITY,
                compliance: [0.0; 3],
                start: DVec3::ZERO,
                target: DVec3::ZERO,
                free: DVec3::ZERO,
                force: DVec3::ZERO,
                size,
                exact: tie.stiffness.is_none(),
                idle: false,
                turns: tie.has_angle() && k == 2,
                driven: tie.motor.is_some() && k == 2,
                answer: 0.0,
            });
            self.turned.push([Turned { rotation: DMat3::IDENTITY, lever: DMat3::ZERO }; 2]);
        }
        self.held.push(Held {
            first_row: first_row as u32,
            h,
            formed: [DMat3::IDENTITY; 2],
            turn: None,
            lost: false,
            determined: true,
            rest: 0.0,
            drawn: 0.0,
            put_in: 0.0,
        });
    }

    /// All ties were taken up: sees where they begin, and where they are to end.
    pub fn begin_substep(&mut self, ties: &[Tie], nodes: &[Nodes], bodies: &mut dyn Bodies) {
        self.first_node.clear();
        self.led.clear();
        let mut count = 0;
        for (place, nodes) in nodes.iter().enumerate().take(self.layout.holds.len()) {
            self.first_node.push(count);
            count += nodes.len() as u32;
            if let Some(body) = bodies.get(place).filter(|_| !nodes.is_empty()) {
                self.led.extend(nodes.particles().iter().map(|i| body.body.model.prescribes(*i)));
            } else {
                self.led.extend(nodes.particles().iter().map(|_| true));
            }
        }
        self.first_node.push(count);
        for link in &mut self.links {
            link.at = self.first_node[link.body as usize] + link.node;
        }
        self.look(When::Start, nodes, bodies);
        self.fit(ties, At::Start, nodes);
        for tie in ties.iter().enumerate().filter(|(_, t)| !t.memory.broken) {
            self.begin_tie(tie);
        }
        let Ties { rows, pace, .. } = self;
        for row in rows.iter_mut().filter(|r| r.exact) {
            row.target *= if row.target.length() > NEAR * row.size { 1.0 - *pace } else { 0.0 };
        }
    }

    /// Sees where the particles of all ties are.
    fn look(&mut self, when: When, nodes: &[Nodes], bodies: &mut dyn Bodies) {
        let Ties { first_node, starts, frees, ends, .. } = self;
        let to = match when {
            When::Start => starts,
            When::End | When::Ahead => ends,
            When::Free => frees,
        };
        to.clear();
        for (place, range) in first_node.windows(2).enumerate().filter(|(_, r)| r[0] < r[1]) {
            let particles = &nodes[place].particles()[..(range[1] - range[0]) as usize];
            match bodies.get(place) {
                Some(body) => body.side.ends_of(particles, when, to),
                None => to.extend(particles.iter().map(|_| DVec3::ZERO)),
            }
        }
    }

    /// Sees where a tie that is whole begins, and how far it is to come.
    fn begin_tie(&mut self, (number, tie): (usize, &Tie)) {
        let placed = self.placed((number, tie));
        let Held { first_row, h, .. } = self.held[number];
        let first_row = first_row as usize;
        let own = first_row..first_row + tie.rows().len();
        if tie.has_angle() {
            let angle = turn::angle(placed.each_ref().map(Placed::axes));
            self.held[number].turn = Some(Turn::new(tie, angle, h));
        }
        self.linearise((number, tie), &placed);
        self.held[number].determined = placed.iter().all(Placed::is_determined);
        self.held[number].formed = placed.map(|p| p.rotation());
        // What nothing can follow does not keep others waiting.
        let movable = links_of(&self.rows, &self.links, first_row).iter().any(|l| !self.led[l.at as usize]);
        for row in self.rows[own.clone()].iter_mut().filter(|r| !r.turns) {
            row.start = row.seen(row.free);
            // What is not rounding comes together at a pace, all of it in the same measure: points that cannot all
            // come together stay where the squares of the ways are least.
            if row.exact && movable && row.start.length() > NEAR * row.size {
                self.pace = self.pace.min(release(row.size, h) / row.start.length());
            }
        }
        let size = self.rows[first_row].size;
        let kept = self.draw_together((number, tie), release(size, h));
        for row in &mut self.rows[own] {
            match tie.stiffness {
                None => (row.compliance, row.target) = ([0.0; 3], row.start),
                Some(k) => {
                    let both = k + tie.damping / h;
                    row.compliance = [both.recip(); 3];
                    row.target = row.start * ((tie.damping / h + k * kept) / both);
                }
            }
        }
    }

    /// Lets what a spring still leaves its points come nearer to nothing by `by`, and tells how much of the way between these that is:
    /// 1 where it does not draw at all yet. What that, and another stiffness, put into the spring is remembered.
    fn draw_together(&mut self, (number, tie): (usize, &Tie), by: f64) -> f64 {
        let first = self.held[number].first_row as usize;
        let points = self.rows[first..first + tie.rows().len()].iter().filter(|r| !r.turns);
        let (mut farthest, mut sum) = (0.0_f64, 0.0);
        for row in points {
            farthest = farthest.max(row.start.length());
            sum += row.start.length_squared();
        }
        let kept = |rest: f64| if rest < farthest { rest / farthest } else { 1.0 };
        let energy = |stiffness: f64, rest: f64| match stiffness.is_finite() && farthest > 0.0 {
            true => 0.5 * stiffness * sum * (1.0 - kept(rest)).powi(2),
            false => 0.0,
        };
        let CouplingMemory { stiffness: before, rest, .. } = tie.memory;
        // One that did not hold begins to where its points are.
        let began = if before == 0.0 { farthest } else { rest.min(farthest) };
        let held = &mut self.held[number];
        held.rest = if tie.stiffness.is_some() { (began - by).max(0.0) } else { 0.0 };
        held.put_in = energy(tie.stiffness.unwrap_or(f64::INFINITY), began) - energy(before, began);
        let left = if held.rest > 0.0 { kept(held.rest) } else { 0.0 };
        held.drawn = if began > 0.0 { kept(began) - left } else { 0.0 };
        left
    }

    /// Fits the clouds of all frames, where their particles are.
    fn fit(&mut self, ties: &[Tie], at: At, nodes: &[Nodes]) {
        let layout = self.layout.clone();
        let Ties { first_node, starts, frees, ends, columns, poses, .. } = self;
        columns.iter_mut().for_each(Vec::clear);
        let mut put = |p: DVec3| columns.iter_mut().zip(p.to_array()).for_each(|(c, v)| c.push(v));
        match at {
            At::Start => starts.iter().for_each(|p| put(*p)),
            At::End => ends.iter().for_each(|p| put(*p)),
            At::Expected => {
                for (place, range) in first_node.windows(2).enumerate() {
                    let frees = &frees[range[0] as usize..range[1] as usize];
                    frees.iter().enumerate().for_each(|(k, p)| put(*p + nodes[place].movement(k)));
                }
            }
        }
        if layout.bindings.is_empty() {
            return;
        }
        for (tie, binding) in ties.iter().zip(&layout.binding) {
            for k in (0..2).filter(|k| matches!(tie.sides[*k], TieSide::Frame { .. })) {
                poses.set_rotation(binding[k] as usize, tie.memory.rotations[k]);
            }
        }
        self.fits += layout.bindings.len();
        let [x, y, z] = &self.columns;
        layout.bindings.fit(self.isa.unwrap_or(Isa::Baseline), [x, y, z], &mut self.poses);
    }

    /// Where the sides of a tie that is whole are, there where frames were fitted last.
    #[inline]
    fn placed<'t>(&self, (number, tie): (usize, &'t Tie)) -> [Placed<'t>; 2] {
        [0, 1].map(|k| {
            let links = self.links_of_hold(Hold { tie: number as u32, side: k as u32 });
            let position = |k: usize| {
                let at = links[k].at as usize;
                let [x, y, z] = &self.columns;
                DVec3::new(x[at], y[at], z[at])
            };
            let fit = || {
                let layout = &self.layout;
                self.poses.get(&layout.bindings, layout.binding[number][k] as usize)
            };
            tie.sides[k].placed(position, fit)
        })
    }

    /// Where a particle ends by the forces so far, by which the nodes move.
    fn expected(&self, link: &TieLink, nodes: &[Nodes]) -> DVec3 {
        self.frees[link.at as usize] + nodes[link.body as usize].movement(link.node as usize)
    }

    /// Where the points of a tie are to each other, for sides in these places.
    fn displacements<'a>(
        &'a self,
        (number, tie): (usize, &'a Tie),
        [a, b]: &'a [Placed<'_>; 2],
    ) -> impl Iterator<Item = (&'a TieRow, DVec3)> {
        let first = self.held[number].first_row as usize;
        let rows = self.rows[first..first + tie.rows().len()].iter().enumerate();
        let angle = self.angle_of(number);
        rows.map(move |(k, row)| {
            let [on_a, on_b] = tie.point(k, angle).offsets;
            (row, a.point(on_a) - b.point(on_b))
        })
    }

    /// The angle that the row of the angle of a hinge is told at.
    fn angle_of(&self, number: usize) -> f64 {
        self.held[number].turn.map_or(0.0, |t| t.at)
    }

    /// Takes the points of a tie to be linear where its sides are: how they move with their particles, and along which axes
    /// they are kept together. What rows call free is where the points are to each other.
    fn linearise(&mut self, (number, tie): (usize, &Tie), [a, b]: &[Placed<'_>; 2]) {
        let angle = self.angle_of(number);
        let Ties { rows, links, held, turned, .. } = self;
        let first = held[number].first_row as usize;
        let mut begin = first.checked_sub(1).map_or(0, |k| rows[k].links as usize);
        for (k, row) in rows[first..first + tie.rows().len()].iter_mut().enumerate() {
            let point = tie.point(k, angle);
            let [on_a, on_b] = point.offsets;
            let (own, others) =
                links[begin..row.links as usize].split_at_mut(row.first_side as usize - begin);
            a.blocks(on_a, |i, block| own[i].block = block);
            b.blocks(on_b, |i, block| others[i].block = -block);
            turned[first + k] = [a.turned(on_a), b.turned(on_b)];
            row.free = a.point(on_a) - b.point(on_b);
            if row.axes < 3 {
                row.along = a.axes() * point.along;
                row.force = row.seen(row.force);
            }
            begin = row.links as usize;
        }
    }

    /// Sees where the points end by themselves in the present round, and how they respond. Nodes move as the forces so far
    /// let them where ties are nonlinear.
    ///
    /// In one that others follow (`brief`), where no frame has turned by more than a degree since, points are still taken to be
    /// linear as they were. Tells whether it is to be done once more, as only now is known how the angles of hinges answer.
    pub fn begin_round(
        &mut self,
        brief: bool,
        ties: &[Tie],
        nodes: &mut [Nodes],
        (bodies, team): (&mut dyn Bodies, &Team),
    ) -> bool {
        let (mut goes_on, mut solids, mut others) = (false, false, false);
        (self.constant, self.patient) = (true, true);
        for (place, _) in nodes.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
            if let Some(body) = bodies.get(place) {
                self.constant &= body.side.is_constant();
                let solid = body.body.model.solver() == SolverKind::Rigid;
                solids |= !body.side.is_constant() && solid;
                others |= !body.side.is_constant() && !solid;
                goes_on |= body.side.pairs().is_some();
                self.patient &= body.side.pairs().is_some() || solid;
            }
        }
        self.patient &= goes_on;
        self.brief = brief && self.patient;
        (self.straight, self.relinearised, self.begins) = (true, false, true);
        self.off = 0.0;
        self.reached = f64::INFINITY;
        self.look(When::Free, nodes, bodies);
        if self.is_nonlinear() {
            self.fit(ties, At::Expected, nodes);
        }
        for (number, tie) in ties.iter().enumerate().filter(|(_, t)| !t.memory.broken) {
            let first = self.held[number].first_row as usize;
            if !tie.is_nonlinear() {
                let free = |sum: DVec3, l: &TieLink| sum + l.block * self.frees[l.at as usize];
                let fixed = tie.fixed_part();
                self.rows[first].free = links_of(&self.rows, &self.links, first).iter().fold(fixed, free);
                continue;
            }
            self.begin_curved((number, tie), nodes);
        }
        self.forces.clear();
        self.forces.extend(self.rows.iter().map(|r| r.force));
        // What turns a hinge can only be decided once it is known how that answers.
        let asks = self.rows.iter().any(|r| r.turns && r.answer == 0.0);
        // A solid answers a little otherwise from round to round, which a system need not know that is mended in the next.
        if !self.formed || others || (solids && !self.brief) {
            self.form(ties, nodes, bodies, team);
            self.formed = true;
        }
        asks && self.rows.iter().any(|r| r.turns && r.answer != 0.0)
    }

    /// Takes the points of a tie to be linear where its sides are by the forces so far, and decides what turns it.
    fn begin_curved(&mut self, (number, tie): (usize, &Tie), nodes: &[Nodes]) {
        let first = self.held[number].first_row as usize;
        let placed = self.placed((number, tie));
        let near = |k: usize| cosine(placed[k].rotation(), self.held[number].formed[k]) > TURNED;
        let straight = near(0) && near(1);
        if self.brief && straight && !tie.has_angle() {
            for k in first..first + tie.rows().len() {
                let [on_a, on_b] = tie.point(k - first, 0.0).offsets;
                self.rows[k].free = placed[0].point(on_a) - placed[1].point(on_b);
            }
        } else {
            self.grip((number, tie), &placed);
            self.linearise((number, tie), &placed);
            self.turn_by((number, tie));
            self.relinearised = true;
        }
        if !straight {
            self.held[number].formed = placed.map(|p| p.rotation());
            (self.formed, self.straight) = (false, false);
        }
        for k in first..first + tie.rows().len() {
            self.off += self.rows[k].off(self.rows[k].free);
            let by = links_of(&self.rows, &self.links, k)
                .iter()
                .fold(DVec3::ZERO, |sum, l| sum + l.block * nodes[l.body as usize].movement(l.node as usize));
            self.rows[k].free -= by;
        }
    }

    /// Decides what is done about the angle of a hinge whose sides are here by the forces so far.
    fn grip(&mut self, (number, tie): (usize, &Tie), placed: &[Placed<'_>; 2]) {
        let Some((angle, wanted)) = self.wanted_grip((number, tie), placed) else { return };
        let row = self.last_row((number, tie));
        let Held { turn: Some(turn), .. } = &mut self.held[number] else { return };
        let idle = matches!(wanted, Grip::Turned(_));
        turn.at = if let Grip::Held(at) = wanted { at } else { angle };
        turn.grip = wanted;
        self.formed &= self.rows[row].idle == idle;
        self.rows[row].idle = idle;
    }

    /// The angle of a hinge whose sides are here by the forces so far, and what is to be done about it.
    fn wanted_grip(&self, (number, tie): (usize, &Tie), placed: &[Placed<'_>; 2]) -> Option<(f64, Grip)> {
        let Held { turn: Some(turn), lost: false, .. } = &self.held[number] else { return None };
        let row = &self.rows[self.last_row((number, tie))];
        let angle = turn::near(turn::angle(placed.each_ref().map(Placed::axes)), turn.start);
        if row.answer == 0.0 {
            return Some((angle, Grip::Turned(0.0)));
        }
        // A force on the first side turns the second the other way.
        let (reach, force) = (tie.reach(), row.along.x_axis.dot(row.force));
        let free = angle + row.answer / reach * force;
        Some((angle, turn.grip(free, row.answer / (reach * reach))))
    }

    /// Gives the row of a hinge the torque that turns it, and tells it where it began.
    fn turn_by(&mut self, (number, tie): (usize, &Tie)) {
        let Held { turn: Some(turn), lost: false, .. } = &self.held[number] else { return };
        let (turn, reach, row) = (*turn, tie.reach(), self.last_row((number, tie)));
        let row = &mut self.rows[row];
        row.start = row.along.x_axis * (reach * (turn.at - turn.start));
        if let Grip::Turned(torque) = turn.grip {
            row.force = row.along.x_axis * (-torque / reach);
        }
    }

    /// Whether what is done about the angle of a hinge whose sides are here is what is to be done.
    fn is_gripped(&self, (number, tie): (usize, &Tie), placed: &[Placed<'_>; 2]) -> bool {
        let wanted = self.wanted_grip((number, tie), placed);
        wanted.is_none_or(|(_, wanted)| self.held[number].turn.is_some_and(|t| t.grip == wanted))
    }

    fn last_row(&self, (number, tie): (usize, &Tie)) -> usize {
        self.held[number].first_row as usize + tie.rows().len() - 1
    }

    /// Whether any point is not linear in the particles: nodes must move by the forces so far before a round begins.
    pub fn is_nonlinear(&self) -> bool {
        !self.layout.scalar
    }

    /// Makes the system from what a unit force of each point does to all of them, body by body.
    fn form(&mut self, ties: &[Tie], nodes: &mut [Nodes], bodies: &mut dyn Bodies, team: &Team) {
        let layout = self.layout.clone();
        self.system.begin(&layout.plan);
        self.own.clear();
        self.own.resize(self.rows.len(), DMat3::ZERO);
        let mut pairs = layout.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, holds) in layout.holds.iter().enumerate().filter(|(_, h)| !h.is_empty()) {
            let Some(body) = bodies.get(place) else { continue };
            let share = body.mass_ratio().recip();
            if let Some(response) = body.side.pairs() {
                let shares = |k: usize| {
                    let side = &ties[holds[k].tie as usize].sides[holds[k].side as usize];
                    self.links_of_hold(holds[k]).iter().map(|l| l.node).zip(side.moments())
                };
                pairs.update(place, holds.len(), &response, shares);
                self.form_by_pairs(&layout, ties, place, (&pairs, share));
            } else {
                self.form_by_loads(&layout, ties, place, (nodes, bodies, team));
            }
        }
        self.close(&layout);
        self.system.factor(&layout.plan);
    }

    /// The particles of a side of a tie.
    fn links_of_hold(&self, Hold { tie, side }: Hold) -> &[TieLink] {
        let first = self.held[tie as usize].first_row as usize;
        let begin = first.checked_sub(1).map_or(0, |k| self.rows[k].links as usize);
        let (middle, end) = (self.rows[first].first_side as usize, self.rows[first].links as usize);
        if side == 0 { &self.links[begin..middle] } else { &self.links[middle..end] }
    }

    /// Its rows; none where nothing holds.
    fn rows_of(&self, ties: &[Tie], Hold { tie, .. }: Hold) -> std::ops::Range<usize> {
        let (first, tie) = (self.held[tie as usize].first_row as usize, &ties[tie as usize]);
        first..first + if tie.memory.broken { 0 } else { tie.rows().len() }
    }

    /// How many numbers a row has in the system, and whether it is there for others.
    fn axes_of(&self, k: usize, scalar: bool) -> usize {
        if scalar { 1 } else { self.rows[k].axes }
    }

    /// What points answer each other through a body of one number for each pair of particles.
    fn form_by_pairs(
        &mut self,
        layout: &TieLayout,
        ties: &[Tie],
        place: usize,
        (pairs, share): (&PairCache, f64),
    ) {
        let TieLayout { plan, scalar, holds, .. } = layout;
        let holds = &holds[place];
        for p in 0..holds.len() {
            for q in 0..=p {
                let moments = pairs.get(place, p, q);
                let (a, b) = (holds[p], holds[q]);
                let weight = if a.side == b.side { share } else { -share };
                for j in self.rows_of(ties, a) {
                    for k in self.rows_of(ties, b) {
                        if p == q && j < k {
                            continue;
                        }
                        let idle = [j, k].map(|k| self.rows[k].idle);
                        if j != k && (idle[0] || idle[1]) {
                            continue;
                        }
                        let block = match scalar {
                            true => DMat3::from_diagonal(DVec3::splat(moments.plain() * weight)),
                            false => {
                                let [a, b] = [(j, a), (k, b)].map(|(k, h)| &self.turned[k][h.side as usize]);
                                let block = moments.block(a, b) * weight;
                                match self.rows[j].axes + self.rows[k].axes {
                                    6 => block,
                                    _ => self.rows[j].along.transpose() * block * self.rows[k].along,
                                }
                            }
                        };
                        if j == k {
                            // Both ways where a tie holds the body by both sides.
                            self.own[j] += if p == q { block } else { block + block.transpose() };
                            continue;
                        }
                        let axes = (self.axes_of(j, *scalar), self.axes_of(k, *scalar));
                        self.system.add(plan, (j, k), axes, |i, l| block.col(l)[i]);
                    }
                }
            }
        }
    }

    /// What points answer each other through any other body, by unit forces on each.
    fn form_by_loads(
        &mut self,
        layout: &TieLayout,
        ties: &[Tie],
        place: usize,
        (nodes, bodies, team): (&mut [Nodes], &mut dyn Bodies, &Team),
    ) {
        let TieLayout { plan, scalar, holds, .. } = layout;
        let holds = &holds[place];
        let Some(body) = bodies.get(place) else { return };
        let of_body = |l: &&TieLink| l.body as usize == place;
        // A tie that holds the body by both sides is there once.
        let own = |k: usize| k == 0 || holds[k].tie != holds[k - 1].tie;
        for p in (0..holds.len()).filter(|p| own(*p)) {
            for k in self.rows_of(ties, holds[p]) {
                let idle = self.rows[k].idle;
                if idle && !self.rows[k].turns {
                    continue;
                }
                for axis in 0..self.axes_of(k, *scalar) {
                    let along = self.rows[k].along.col(axis);
                    nodes[place].unload();
                    for l in links_of(&self.rows, &self.links, k).iter().filter(of_body) {
                        nodes[place].load(l.node as usize, l.force(along));
                    }
                    body.side.respond(&mut nodes[place], team);
                    for q in (p..holds.len()).filter(|q| own(*q)) {
                        for j in self.rows_of(ties, holds[q]) {
                            // Of an angle that nothing holds only its own answer is asked.
                            if j < k || (j != k && (idle || self.rows[j].idle)) {
                                continue;
                            }
                            let links = links_of(&self.rows, &self.links, j).iter().filter(of_body);
                            let by = links.fold(DVec3::ZERO, |sum, l| {
                                sum + l.block * nodes[place].movement(l.node as usize)
                            });
                            let by = self.rows[j].along.transpose() * by;
                            if j == k {
                                *self.own[k].col_mut(axis) += by;
                                continue;
                            }
                            let axes = self.axes_of(j, *scalar);
                            self.system.add_column(plan, (j, axes), (k, axis), by);
                        }
                    }
                }
            }
        }
    }

    /// How each point answers itself, and what its spring gives.
    fn close(&mut self, layout: &TieLayout) {
        let TieLayout { plan, scalar, .. } = layout;
        for k in 0..self.rows.len() {
            let axes = self.axes_of(k, *scalar);
            let (own, row) = (&self.own[k], &mut self.rows[k]);
            if row.idle && !row.turns {
                continue;
            }
            row.answer = own.x_axis.x;
            if row.idle {
                continue;
            }
            if row.exact {
                for axis in 0..3 {
                    row.compliance[axis] = GIVE * if *scalar { own.x_axis.x } else { own.col(axis)[axis] };
                }
            }
            let give = row.compliance;
            let value = |i: usize, j: usize| own.col(j)[i] + if i == j { give[i] } else { 0.0 };
            self.system.add(plan, (k, k), (axes, axes), value);
        }
    }

    /// Puts the forces on the nodes, beside those that are there.
    pub fn load(&self, nodes: &mut [Nodes]) {
        for (k, row) in self.rows.iter().enumerate() {
            for l in links_of(&self.rows, &self.links, k) {
                nodes[l.body as usize].load(l.node as usize, l.force(row.force));
            }
        }
    }

    /// Changes the forces so that all ties hold, from where the nodes move by those there are. Tells whether there was anything to mend
    /// but rounding; if not, they stay.
    pub fn correct(&mut self, nodes: &[Nodes]) -> bool {
        let mut sides = std::mem::take(&mut self.sides);
        let TieLayout { plan, scalar, .. } = &*self.layout;
        let mut left = 0.0_f64;
        for side in &mut sides {
            side.clear();
            side.resize(plan.size(), 0.0);
        }
        for (k, row) in self.rows.iter().enumerate() {
            let moved =
                |sum: DVec3, l: &TieLink| sum + l.block * nodes[l.body as usize].movement(l.node as usize);
            let at = links_of(&self.rows, &self.links, k).iter().fold(row.free, moved);
            let off = row.target - at - row.give();
            if row.idle {
                continue;
            }
            left = left.max(row.seen(off).length() / row.size);
            let first = plan.row_of(k);
            match scalar {
                true => sides.iter_mut().zip(off.to_array()).for_each(|(s, v)| s[first] = v),
                false => row.directions().enumerate().for_each(|(d, n)| sides[0][first + d] = n.dot(off)),
            }
        }
        if std::mem::take(&mut self.begins) {
            // A system that leads away is none of the present responses.
            self.formed &= self.constant || left <= self.left;
            self.left = left;
        }
        if left <= ROUNDED {
            self.sides = sides;
            return false;
        }
        let system = &mut self.system;
        match scalar {
            true => sides.iter_mut().for_each(|s| system.solve(plan, s)),
            false => system.solve(plan, &mut sides[0]),
        }
        for (k, row) in self.rows.iter_mut().enumerate() {
            let first = plan.row_of(k);
            row.force += match scalar {
                true => DVec3::new(sides[0][first], sides[1][first], sides[2][first]),
                false => {
                    let along = row.directions().enumerate();
                    along.fold(DVec3::ZERO, |sum, (d, n)| sum + n * sides[0][first + d])
                }
            };
        }
        self.sides = sides;
        true
    }

    /// Whether the points are where they are to be, with all that rounds have done: where frames have turned far in one, another
    /// brings them nearer.
    pub fn are_settled(
        &mut self,
        when: When,
        ties: &[Tie],
        nodes: &[Nodes],
        bodies: &mut dyn Bodies,
    ) -> bool {
        if self.reached <= SETTLED * SETTLED {
            return true;
        }
        self.look(when, nodes, bodies);
        self.fit(ties, At::End, nodes);
        let nonlinear = |(_, t): &(usize, &Tie)| t.is_nonlinear() && !t.memory.broken;
        ties.iter().enumerate().filter(nonlinear).all(|tie| {
            let placed = self.placed(tie);
            self.displacements(tie, &placed)
                .all(|(row, displacement)| row.off(displacement) <= SETTLED * SETTLED)
                && self.is_gripped(tie, &placed)
        })
    }

    /// Lets points of frames go, for the rest of the substep, that all rounds have not brought together: their parents have
    /// collapsed, or been torn about so that no force along where they are leads there.
    pub fn slacken(&mut self, ties: &[Tie], nodes: &[Nodes], bodies: &mut dyn Bodies) {
        let nonlinear =
            |(_, t): &(usize, &Tie)| t.is_nonlinear() && !t.memory.broken && t.stiffness.is_none();
        self.look(When::End, nodes, bodies);
        self.fit(ties, At::End, nodes);
        for tie in ties.iter().enumerate().filter(nonlinear) {
            let placed = self.placed(tie);
            if self
                .displacements(tie, &placed)
                .all(|(row, displacement)| row.off(displacement) <= LOST * LOST)
            {
                continue;
            }
            let first = self.held[tie.0].first_row as usize;
            for row in &mut self.rows[first..first + tie.1.rows().len()] {
                (row.idle, row.force) = (true, DVec3::ZERO);
            }
            self.held[tie.0].lost = true;
            self.formed = false;
        }
    }

    /// Halves the change of the forces in this round until it brings the points of frames nearer to where they are to be than they
    /// were, and does no work. Nodes move by the forces there are. Tells whether anything was changed: if so, they are to move anew, and another
    /// look is to be taken.
    pub fn hold_back(
        &mut self,
        halvings: usize,
        ties: &[Tie],
        nodes: &[Nodes],
        bodies: &mut dyn Bodies,
    ) -> bool {
        let nonlinear = |(_, t): &(usize, &Tie)| t.is_nonlinear() && !t.memory.broken;
        let (mut off, mut most, mut works) = (0.0, 0.0_f64, false);
        self.fit(ties, At::Expected, nodes);
        for tie in ties.iter().enumerate().filter(nonlinear) {
            let placed = self.placed(tie);
            for (row, displacement) in self.displacements(tie, &placed) {
                let own = row.off(displacement);
                (off, most) = (off + own, most.max(own));
            }
            if !self.is_gripped(tie, &placed) {
                most = f64::INFINITY;
            }
            works |= tie.1.stiffness.is_none() && self.works(tie, nodes);
        }
        let mut exact = true;
        for place in 0..bodies.len() {
            exact &= bodies.get(place).is_none_or(|b| b.side.is_constant() && !b.meets_obstacles);
        }
        self.reached = if exact { most } else { f64::INFINITY };
        let count = self.rows.len() as f64;
        let nearer = off <= self.off || off <= count * SETTLED * SETTLED;
        if (nearer && !works) || halvings > HALVINGS {
            return false;
        }
        for (row, before) in self.rows.iter_mut().zip(&self.forces) {
            row.force = if halvings == HALVINGS { *before } else { before.midpoint(row.force) };
        }
        true
    }

    /// How many frames were fitted since this was asked last.
    pub fn take_fits(&mut self) -> usize {
        std::mem::take(&mut self.fits)
    }

    /// Whether all bodies answer alike in all rounds of a substep.
    pub fn meet_constant(&self) -> bool {
        self.constant
    }

    /// Whether no frame has turned by more than a degree in this substep, as far as the forces told that it began the round with.
    pub fn turn_little(&self) -> bool {
        self.straight
    }

    /// Whether there will be another round, in which what the present one leaves is mended.
    pub fn is_brief(&self) -> bool {
        self.brief
    }

    /// Whether the forces of the last round act as they did, so that nodes move by them as they have.
    pub fn act_as_before(&self) -> bool {
        self.constant && !self.relinearised
    }

    /// Whether points of frames are off by no more than turning leaves in one look, where all bodies do what they answer: another
    /// brings them together.
    pub fn may_gain(&self) -> bool {
        self.reached.is_finite() && self.reached > SETTLED * SETTLED
    }

    /// Whether an exact tie does work on what it holds, beside what it takes to draw its points together: frames then turn too far
    /// for a force along where they end.
    fn works(&self, (number, tie): (usize, &Tie), nodes: &[Nodes]) -> bool {
        let first = self.held[number].first_row as usize;
        let (mut net, mut gross) = (0.0, 0.0);
        for k in first..first + tie.rows().len() {
            let row = &self.rows[k];
            if row.idle {
                continue;
            }
            net -= row.force.dot(row.target - row.start);
            for l in links_of(&self.rows, &self.links, k) {
                let displacement = self.expected(l, nodes) - self.starts[l.at as usize];
                let force = l.block.transpose() * row.force;
                net += force.dot(displacement);
                gross += force.length() * displacement.length();
            }
        }
        net > WORK * gross
    }

    /// What the ties do to a body of the island, once the substep is concluded: whether they hold it at all, their force on it and
    /// their work, in terms of the masses it was built with. A joint keeps no energy: if it drew its points together in the
    /// substep, what it did for that is no work the bodies may keep, and each owes half of it.
    pub fn pull_on(&self, place: usize) -> Pull {
        self.pulls.get(place).copied().unwrap_or_default()
    }

    fn add_up_pulls(&mut self) {
        let Ties { rows, links, starts, ends, works, pulls, layout, .. } = self;
        pulls.clear();
        pulls.resize(layout.holds.len(), Pull::default());
        for (k, row) in rows.iter().enumerate() {
            let links = links_of(rows, links, k);
            let displacement = |l: &TieLink| l.block * (ends[l.at as usize] - starts[l.at as usize]);
            works.clear();
            works.extend(links.iter().map(|l| row.force.dot(displacement(l))));
            let drawn: f64 = works.iter().sum();
            let owed = if row.exact && !row.driven { 0.5 * drawn.max(0.0) } else { 0.0 };
            let first = k.checked_sub(1).map_or(0, |k| rows[k].links as usize);
            let first_side = row.first_side as usize - first;
            for (side, works) in
                [(&links[..first_side], &works[..first_side]), (&links[first_side..], &works[first_side..])]
            {
                for (l, work) in side.iter().zip(works) {
                    let pull = &mut pulls[l.body as usize];
                    pull.any = true;
                    pull.force += l.force(row.force);
                    pull.work += work * l.share;
                }
                if let Some(l) = side.first() {
                    pulls[l.body as usize].work -= owed * l.share;
                }
            }
        }
    }

    /// Whether any tie holds exactly.
    pub fn any_exact(&self) -> bool {
        self.rows.iter().any(|r| r.exact)
    }

    /// Takes away the velocity of exactly tied points to each other, by impulses on their particles: what begins and ends a
    /// substep in one place does not come apart in between, but prolonged from θ h to h its velocity may say so. It only
    /// takes kinetic energy.
    pub fn calm(&mut self, nodes: &[Nodes], bodies: &mut dyn Velocities) {
        let Ties { rows, links, system, layout, .. } = self;
        let TieLayout { plan, scalar, touching, .. } = &**layout;
        let particle =
            |l: &TieLink| (l.body as usize, nodes[l.body as usize].particles()[l.node as usize] as usize);
        let axes = |k: usize| if *scalar { 1 } else { rows[k].axes };
        let calmed = |row: &TieRow| row.exact && !row.turns;
        system.begin(plan);
        for k in (0..rows.len()).filter(|k| calmed(&rows[*k])) {
            for j in touching[k].iter().map(|j| *j as usize).filter(|j| calmed(&rows[*j])) {
                let mut sum = DMat3::ZERO;
                for l in links_of(rows, links, j) {
                    let own = links_of(rows, links, k).iter();
                    for m in own.filter(|m| (m.body, m.node) == (l.body, l.node)) {
                        let (body, i) = particle(l);
                        sum += l.block * m.block.transpose() * (m.share * bodies.softness(body, i));
                    }
                }
                let value = |a: usize, b: usize| rows[j].along.col(a).dot(sum * rows[k].along.col(b));
                system.add(plan, (j, k), (axes(j), axes(k)), value);
            }
        }
        system.factor(plan);
        // The matrix is another one now.
        self.formed = false;
        let mut sides = std::mem::take(&mut self.sides);
        for side in &mut sides {
            side.clear();
            side.resize(plan.size(), 0.0);
        }
        for (k, row) in rows.iter().enumerate().filter(|(_, r)| calmed(r)) {
            let apart = links_of(rows, links, k).iter().fold(DVec3::ZERO, |sum, l| {
                let (body, i) = particle(l);
                sum - l.block * bodies.velocity(body, i)
            });
            let first = plan.row_of(k);
            match scalar {
                true => sides.iter_mut().zip(apart.to_array()).for_each(|(s, v)| s[first] = v),
                false => row.directions().enumerate().for_each(|(d, n)| sides[0][first + d] = n.dot(apart)),
            }
        }
        match scalar {
            true => sides.iter_mut().for_each(|s| system.solve(plan, s)),
            false => system.solve(plan, &mut sides[0]),
        }
        for (k, row) in rows.iter().enumerate().filter(|(_, r)| calmed(r)) {
            let first = plan.row_of(k);
            let impulse = match scalar {
                true => DVec3::new(sides[0][first], sides[1][first], sides[2][first]),
                false => {
                    let along = row.directions().enumerate();
                    along.fold(DVec3::ZERO, |sum, (d, n)| sum + n * sides[0][first + d])
                }
            };
            for l in links_of(rows, links, k) {
                let (body, i) = particle(l);
                bodies.add(body, i, l.force(impulse) * bodies.softness(body, i));
            }
        }
        self.sides = sides;
    }

    /// Tells the ties what the substep has left: forces, how frames are turned, what broke, and what they have put in.
    pub fn conclude(&mut self, ties: &mut [Tie], nodes: &[Nodes], bodies: &mut dyn Bodies) {
        self.look(When::End, nodes, bodies);
        self.fit(ties, At::End, nodes);
        self.add_up_pulls();
        for (number, tie) in ties.iter_mut().enumerate().filter(|(_, t)| !t.memory.broken) {
            let placed = self.placed((number, tie));
            let (most, distance) = tie.breaks;
            let (force, torque) = self.wrench((number, tie), &placed);
            let apart = |(row, displacement): (&TieRow, DVec3)| {
                !row.turns && row.seen(displacement).length() > distance
            };
            let strained = force.length() > most || torque.length() > most * tie.reach();
            let broken = strained || self.displacements((number, tie), &placed).any(apart);
            let put_in = self.held[number].put_in + self.drawing((number, tie), &placed);
            // Told once: what has collapsed begins the next substep like that.
            let collapsed = self.held[number].determined && !placed.iter().all(Placed::is_determined);
            let rotations = placed.map(|p| p.rotation());
            tie.memory = CouplingMemory {
                broken,
                rotations,
                force,
                stiffness: tie.stiffness.unwrap_or(f64::INFINITY),
                rest: self.held[number].rest,
            };
            tie.put_in += put_in;
            tie.broke |= broken;
            tie.collapsed |= collapsed;
            tie.let_go |= self.held[number].lost;
        }
    }

    /// The force of all rows of a tie on its first side, and their torque about its place, but for that of a limit or a motor, which
    /// strains nothing: a hinge turns by it.
    fn wrench(&self, (number, tie): (usize, &Tie), [a, _]: &[Placed<'_>; 2]) -> (DVec3, DVec3) {
        let first = self.held[number].first_row as usize;
        let rows = self.rows[first..first + tie.rows().len()].iter().enumerate();
        let (at, angle) = (a.point(DVec3::ZERO), self.angle_of(number));
        rows.fold((DVec3::ZERO, DVec3::ZERO), |(force, torque), (k, row)| {
            let arm = a.point(tie.point(k, angle).offsets[0]) - at;
            let turning = if row.turns { DVec3::ZERO } else { arm.cross(row.force) };
            (force + row.force, torque + turning)
        })
    }

    /// The work of a tie in drawing its points together, and of a motor. With forces of the end of a substep it is no less than
    /// what the bodies and the spring gain by it: energies are convex in the ways.
    fn drawing(&self, (number, tie): (usize, &Tie), placed: &[Placed<'_>; 2]) -> f64 {
        let first = self.held[number].first_row as usize;
        let rows = self.rows[first..first + tie.rows().len()].iter();
        rows.map(|row| match self.held[number].turn.filter(|_| row.turns && row.idle) {
            None if row.exact => row.force.dot(row.target - row.start),
            None => -row.force.dot(row.start) * self.held[number].drawn,
            Some(turn) => {
                let angle = turn::near(turn::angle(placed.each_ref().map(Placed::axes)), turn.start);
                -row.along.x_axis.dot(row.force) * tie.reach() * (angle - turn.start)
            }
        })
        .sum()
    }
}

/// Where particles are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// As the substep began.
    Start,
    /// As it ends, with all that was done.
    End,
    /// As it ends by the forces so far, by which the nodes move.
    Expected,
}

/// The cosine of the angle between two rotations.
fn cosine(a: DMat3, b: DMat3) -> f64 {
    let trace = a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis);
    0.5 * (trace - 1.0)
}

/// What couplings do to a body in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pull {
    /// Whether there are any.
    pub any: bool,
    pub force: DVec3,
    pub work: f64,
}
