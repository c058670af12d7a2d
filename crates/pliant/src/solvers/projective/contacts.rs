//! Contacts of a projective body: forces inside friction cones.
//!
//! Half-spaces do not enter the matrix. The points of a body that touch respond to forces through G = S B⁻¹ Sᵀ, one
//! number per pair of points as B is the same for x, y and z. What is sought are forces f that push only, with their
//! tangential part within the Coulomb cone, such that no point ends inside an obstacle, no force is on a point that
//! separates, and what is held by friction stays where it was: a fixed point of
//!
//! > f = cone(f − (n gap(u) + slide(u))/d), u = u₀ + G f,
//!
//! found by accelerated projected gradients. The step 1/d cannot diverge: for a non-negative G, diag(G y / y) − G is
//! positive semidefinite for every positive y. Forces are kept from one iteration of the solver to the next, so they
//! become more exact as the positions do.
//!
//! The response of a body with up to [`DENSE`] contacts is a dense block, whose columns are kept while the matrix
//! lives; beyond that every response is a solve. Both find the same forces.

use super::System;
use crate::contact::Contact;
use crate::dofs::DofMap;
use crate::solvers::implicit::Substep;
use crate::solvers::objective::Hands;
use glam::DVec3;
use pliant_math::lanes::{Isa, Kernel, Lanes};

/// Most contacts of a body whose responses are kept as a dense block, and most numbers in the columns it comes from.
const DENSE: usize = 1024;
const DENSE_COLUMNS: usize = 4 << 20;
/// Numbers in the columns kept from step to step (128 MiB), unless the present contacts alone need more.
const KEPT: usize = 16 << 20;
/// Steps of the forces in one iteration of the solver: with a dense block, and where each is a solve.
const STEPS: usize = 60;
const STEPS_BY_SOLVES: usize = 15;
/// The movement, relative to the size of the body, below which forces are settled.
const SETTLED: f64 = 1e-10;
/// What a contact that is not expected to carry any force counts in the bound of its neighbours' responses.
const IDLE: f64 = 0.03;
/// B⁻¹ may have small negative entries, which a bound from one solve does not see.
const SAFETY: f64 = 1.1;
/// Lanes of the response kernel.
const WIDTH: usize = 8;

/// A contact as its body's forces see it.
#[derive(Clone, Copy, Debug)]
struct Row {
    particle: u32,
    normal: DVec3,
    offset: f64,
    friction: f64,
    /// Where the particle was when the substep began.
    start: DVec3,
    force: DVec3,
    /// Where the point ends without contact forces.
    free: DVec3,
    /// d: what a force moves the point by at most, in company of its neighbours'.
    metric: f64,
}

/// The contacts, with their forces.
#[derive(Clone, Debug)]
struct Group {
    /// Particles of the body.
    particles: usize,
    diameter: f64,
    rows: Vec<Row>,
    /// Forces extrapolated from the last two, x, y and z; those that follow; and those with the smallest residual so far.
    trial: [Vec<f64>; 3],
    next: Vec<DVec3>,
    best: Vec<DVec3>,
    /// Responses to `trial`, eight rows at a time.
    response: [Vec<[f64; WIDTH]>; 3],
    /// Tiles of eight rows: for each column the response of those rows. Of `block_rows` rows; 0 if to be made.
    block: Vec<[f64; WIDTH]>,
    block_rows: usize,
    pace: Pace,
}

/// How the accelerated iteration of a group is going.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    momentum: f64,
    smallest: f64,
    settled: bool,
}

impl Group {
    fn new(particles: usize, diameter: f64, planes: usize) -> Group {
        let most = particles * planes;
        let tiles = most.div_ceil(WIDTH);
        Group {
            rows: Vec::with_capacity(most),
            trial: [(); 3].map(|()| Vec::with_capacity(most)),
            next: Vec::with_capacity(most),
            best: Vec::with_capacity(most),
            response: [(); 3].map(|()| Vec::with_capacity(tiles)),
            // Grows only when more points touch than ever before.
            block: Vec::with_capacity((tiles * most).min(1 << 13)),
            block_rows: 0,
            pace: Pace::default(),
            particles,
            diameter,
        }
    }

    fn is_dense(&self, dense: usize) -> bool {
        self.rows.len() <= dense && self.rows.len() * self.particles <= DENSE_COLUMNS
    }

    fn add(&mut self, contact: &Contact, start: DVec3) {
        self.block_rows = 0;
        self.rows.push(Row {
            particle: contact.stencil[0],
            normal: contact.normal,
            offset: contact.offset,
            friction: contact.friction,
            start,
            force: DVec3::ZERO,
            free: DVec3::ZERO,
            metric: 0.0,
        });
    }

    /// Makes room for as many rows as there are, and begins from the forces so far.
    fn begin(&mut self) {
        let (rows, tiles) = (self.rows.len(), self.rows.len().div_ceil(WIDTH));
        for (axis, trial) in self.trial.iter_mut().enumerate() {
            trial.clear();
            trial.extend(self.rows.iter().map(|r| r.force[axis]));
        }
        for response in &mut self.response {
            response.clear();
            response.resize(tiles, [0.0; WIDTH]);
        }
        for forces in [&mut self.next, &mut self.best] {
            forces.clear();
            forces.extend(self.rows.iter().map(|r| r.force));
        }
        self.pace = Pace { momentum: 1.0, smallest: f64::INFINITY, settled: rows == 0 };
    }

    fn point(&self, k: usize, theta: f64) -> DVec3 {
        let [x, y, z] = &self.response;
        let (tile, lane) = (k / WIDTH, k % WIDTH);
        self.rows[k].free + DVec3::new(x[tile][lane], y[tile][lane], z[tile][lane]) / theta
    }

    fn set_response(&mut self, k: usize, to: DVec3) {
        for (response, value) in self.response.iter_mut().zip(to.to_array()) {
            response[k / WIDTH][k % WIDTH] = value;
        }
    }

    /// Replaces the trial forces by how much each row counts in the bound, as x: all of it where there is, or by the
    /// present response will be, a force.
    fn weigh(&mut self, theta: f64) {
        for k in 0..self.rows.len() {
            let Row { normal, offset, force, .. } = self.rows[k];
            let touches = force != DVec3::ZERO || normal.dot(self.point(k, theta)) < offset;
            self.trial[0][k] = if touches { 1.0 } else { IDLE };
        }
    }

    /// The metric from the response to what [`Group::weigh`] left.
    fn bound(&mut self, theta: f64, safety: f64) {
        for (k, row) in self.rows.iter_mut().enumerate() {
            row.metric = safety * self.response[0][k / WIDTH][k % WIDTH] / (self.trial[0][k] * theta);
            self.trial[0][k] = row.force.x;
        }
    }

    /// One accelerated step of the forces from the response to the trial; the last one does not extrapolate.
    fn update(&mut self, theta: f64, last: bool) {
        let (mut moved, mut against) = (0.0_f64, 0.0);
        for k in 0..self.rows.len() {
            let row = &self.rows[k];
            let trial = DVec3::new(self.trial[0][k], self.trial[1][k], self.trial[2][k]);
            let force = row.projected(trial, self.point(k, theta));
            moved = moved.max((force - trial).length() * row.metric);
            against += row.metric * (trial - force).dot(force - row.force);
            self.next[k] = force;
        }
        // With friction a smaller residual is not certain to follow: the best is kept.
        if moved < self.pace.smallest {
            self.pace.smallest = moved;
            self.best.copy_from_slice(&self.next);
        }
        self.pace.settled = moved <= SETTLED * self.diameter;
        if against > 0.0 {
            self.pace.momentum = 1.0;
        }
        let momentum = 0.5 * (1.0 + (1.0 + 4.0 * self.pace.momentum * self.pace.momentum).sqrt());
        let beta = if last { 0.0 } else { (self.pace.momentum - 1.0) / momentum };
        self.pace.momentum = momentum;
        let [x, y, z] = &mut self.trial;
        for (k, (row, next)) in self.rows.iter_mut().zip(&self.next).enumerate() {
            let ahead = *next + (*next - row.force) * beta;
            row.force = *next;
            (x[k], y[k], z[k]) = (ahead.x, ahead.y, ahead.z);
        }
    }

    /// Takes the best forces seen.
    fn end(&mut self) {
        for (row, best) in self.rows.iter_mut().zip(&self.best) {
            row.force = *best;
        }
    }

    fn respond(&mut self, isa: Isa) {
        let [x, y, z] = &mut self.response;
        let [fx, fy, fz] = &self.trial;
        isa.run(Respond { block: &self.block, forces: [fx, fy, fz], to: [x, y, z] });
    }

    /// Finds the forces through the dense block.
    fn relax(&mut self, theta: f64, isa: Isa) {
        self.begin();
        self.respond(isa);
        self.weigh(theta);
        let [x, ..] = &mut self.response;
        isa.run(Reach { block: &self.block, weights: &self.trial[0], to: x });
        self.bound(theta, 1.0);
        for step in 1..=STEPS {
            if self.pace.settled {
                break;
            }
            self.respond(isa);
            self.update(theta, step == STEPS);
        }
        self.end();
    }

    /// Makes the block from the columns of the rows' particles.
    fn fill(&mut self, columns: &Columns) {
        let count = self.rows.len();
        self.block.clear();
        for tile in self.rows.chunks(WIDTH) {
            for with in &self.rows {
                let column = columns.get(with.particle as usize, self.particles);
                let mut entry = [0.0; WIDTH];
                for (to, row) in entry.iter_mut().zip(tile) {
                    *to = column[row.particle as usize];
                }
                self.block.push(entry);
            }
        }
        self.block_rows = count;
    }
}

impl Row {
    /// The force after a step of projected gradients from `trial`, with the point where that puts it.
    #[inline(always)]
    fn projected(&self, trial: DVec3, point: DVec3) -> DVec3 {
        if self.metric <= 0.0 {
            return DVec3::ZERO;
        }
        let n = self.normal;
        let gap = n.dot(point) - self.offset;
        let way = point - self.start;
        let slide = way - n * n.dot(way);
        into_cone(trial - (n * gap + slide) / self.metric, n, self.friction)
    }
}

/// Pushes only, with the tangential part at most μ times the normal one. The normal part stays as it is: the nearest
/// point of the cone would lift what slides.
#[inline(always)]
fn into_cone(force: DVec3, normal: DVec3, friction: f64) -> DVec3 {
    let push = normal.dot(force);
    if push <= 0.0 {
        return DVec3::ZERO;
    }
    let slide = force - normal * push;
    let (length, most) = (slide.length(), friction * push);
    if length <= most { force } else { normal * push + slide * (most / length) }
}

/// Responses to forces through a dense block of tiles.
struct Respond<'a> {
    block: &'a [[f64; WIDTH]],
    forces: [&'a [f64]; 3],
    to: [&'a mut [[f64; WIDTH]]; 3],
}

impl Kernel for Respond<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let [fx, fy, fz] = self.forces;
        let [x, y, z] = self.to;
        for (t, tile) in self.block.chunks_exact(fx.len().max(1)).enumerate() {
            let mut sum = [l.splat(0.0); 3];
            for (((entry, fx), fy), fz) in tile.iter().zip(fx).zip(fy).zip(fz) {
                let entry = l.load(entry);
                sum[0] = l.mul_add(entry, l.splat(*fx), sum[0]);
                sum[1] = l.mul_add(entry, l.splat(*fy), sum[1]);
                sum[2] = l.mul_add(entry, l.splat(*fz), sum[2]);
            }
            l.store(sum[0], &mut x[t]);
            l.store(sum[1], &mut y[t]);
            l.store(sum[2], &mut z[t]);
        }
    }
}

/// |G| times weights.
struct Reach<'a> {
    block: &'a [[f64; WIDTH]],
    weights: &'a [f64],
    to: &'a mut [[f64; WIDTH]],
}

impl Kernel for Reach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (tile, to) in self.block.chunks_exact(self.weights.len().max(1)).zip(self.to) {
            let mut sum = l.splat(0.0);
            for (entry, weight) in tile.iter().zip(self.weights) {
                sum = l.mul_add(l.abs(l.load(entry)), l.splat(*weight), sum);
            }
            l.store(sum, to);
        }
    }
}

/// How the particles of a body respond to a unit force on one of them, kept while the matrix lives. Contacts last for
/// many steps; their columns need not be solved for again.
#[derive(Clone, Debug)]
struct Columns {
    numbers: Vec<f64>,
    /// Where the column of a particle begins, counted from 1; 0 if there is none.
    begin: Vec<usize>,
}

impl Columns {
    fn get(&self, particle: usize, len: usize) -> &[f64] {
        let begin = self.begin[particle] - 1;
        &self.numbers[begin..begin + len]
    }

    fn forget(&mut self) {
        self.numbers.clear();
        self.begin.fill(0);
    }
}

#[cfg(test)]
thread_local! {
    /// Lets tests compare the two ways to respond.
    static DENSE_IN_TESTS: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

#[derive(Clone, Debug)]
pub(super) struct ContactSolver {
    group: Group,
    columns: Columns,
    /// Most contacts with a dense block.
    dense: usize,
}

impl ContactSolver {
    pub fn new(substep: &Substep) -> ContactSolver {
        let (n, planes) = (substep.model.particle_count(), substep.model.params.planes.len());
        let kept = if planes == 0 { 0 } else { (n * n).min(KEPT) };
        let columns = Columns { numbers: Vec::with_capacity(kept), begin: vec![0; n] };
        #[cfg(test)]
        let dense = DENSE_IN_TESTS.get().unwrap_or(DENSE);
        #[cfg(not(test))]
        let dense = DENSE;
        ContactSolver { group: Group::new(n, substep.diameter, planes), columns, dense }
    }

    /// To be called when the matrix changes.
    pub fn forget_columns(&mut self) {
        self.columns.forget();
    }

    /// Forgets the contacts of the last substep.
    pub fn clear(&mut self) {
        self.group.rows.clear();
        self.group.block_rows = 0;
    }

    /// Takes up contacts that are listed and not yet known.
    fn take_up(&mut self, substep: &Substep) {
        for contact in &substep.contacts()[self.group.rows.len()..] {
            self.group.add(contact, substep.start().get(contact.stencil[0] as usize));
        }
    }

    /// Adds the contact forces to the solution of the global step.
    pub fn resolve(&mut self, substep: &Substep, system: &mut System, hands: Hands<'_>) {
        self.take_up(substep);
        let group = &mut self.group;
        if group.rows.is_empty() {
            return;
        }
        let theta = substep.theta();
        for row in &mut group.rows {
            let i = row.particle as usize;
            row.free = substep.end(i, system.ahead(i));
        }
        if group.is_dense(self.dense) {
            self.prepare(system, hands);
            self.group.relax(theta, hands.1);
        } else {
            self.relax_by_solves(theta, system, hands);
        }
        let rows = &self.group.rows;
        if rows.iter().any(|r| r.force != DVec3::ZERO) {
            system.solve_with(hands, |dofs, rhs| {
                rows.iter().for_each(|row| scatter(dofs, rhs, row.particle, row.force));
            });
        }
    }

    /// Contacts that carry a force.
    pub fn touching(&self) -> usize {
        self.group.rows.iter().filter(|r| r.force != DVec3::ZERO).count()
    }

    /// Makes the dense block if it is missing, and the columns it needs: a solve gives three of them.
    fn prepare(&mut self, system: &mut System, hands: Hands<'_>) {
        let ContactSolver { group, columns, .. } = self;
        if group.block_rows == group.rows.len() {
            return;
        }
        let new = missing(group, columns).count() * group.particles;
        if new > 0 && columns.numbers.len() + new > KEPT {
            columns.forget();
        }
        loop {
            let (mut found, mut count) = ([0; 3], 0);
            for i in missing(group, columns) {
                // One with several contacts comes up several times.
                if !found[..count].contains(&i) {
                    (found[count], count) = (i, count + 1);
                }
                if count == 3 {
                    break;
                }
            }
            if count == 0 {
                break;
            }
            system.respond(hands, |dofs, rhs| {
                for (&i, rhs) in found[..count].iter().zip(rhs.iter_mut()) {
                    dofs.expand(i, |u, w| rhs[u as usize] += w);
                }
            });
            for (axis, &i) in found[..count].iter().enumerate() {
                columns.begin[i] = columns.numbers.len() + 1;
                columns.numbers.extend((0..group.particles).map(|j| system.responded(j)[axis]));
            }
        }
        group.fill(columns);
    }

    /// Finds the forces of a body with very many contacts, every response being a solve.
    fn relax_by_solves(&mut self, theta: f64, system: &mut System, hands: Hands<'_>) {
        let group = &mut self.group;
        group.begin();
        respond_by_solves(group, system, hands);
        group.weigh(theta);
        respond_by_solves(group, system, hands);
        group.bound(theta, SAFETY);
        for step in 1..=STEPS_BY_SOLVES {
            if group.pace.settled {
                break;
            }
            respond_by_solves(group, system, hands);
            group.update(theta, step == STEPS_BY_SOLVES);
        }
        group.end();
    }
}

/// Responses to the trial forces.
fn respond_by_solves(group: &mut Group, system: &mut System, hands: Hands<'_>) {
    system.respond(hands, |dofs, rhs| {
        for (k, row) in group.rows.iter().enumerate() {
            let force = DVec3::new(group.trial[0][k], group.trial[1][k], group.trial[2][k]);
            scatter(dofs, rhs, row.particle, force);
        }
    });
    for k in 0..group.rows.len() {
        group.set_response(k, system.responded(group.rows[k].particle as usize));
    }
}

/// Adds a force on a particle to a right-hand side.
fn scatter(dofs: &DofMap, [x, y, z]: &mut [&mut [f64]; 3], particle: u32, force: DVec3) {
    dofs.expand(particle as usize, |u, w| {
        let u = u as usize;
        (x[u], y[u], z[u]) = (x[u] + w * force.x, y[u] + w * force.y, z[u] + w * force.z);
    });
}

/// Particles whose columns are not known; one with several contacts comes up several times.
fn missing<'a>(group: &'a Group, columns: &'a Columns) -> impl Iterator<Item = usize> + 'a {
    let particles = group.rows.iter().map(|r| r.particle as usize);
    particles.filter(|i| columns.begin[*i] == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, HalfSpace, Material, Simulation, shapes};

    fn body(k: usize) -> Body {
        let size = DVec3::new(0.2, 0.1, 0.1);
        let shape = shapes::tet_box([4, 2, 2], size, shapes::TetStyle::Five).unwrap();
        let rubber = Material { young: 1e5, ..Material::named("rubber").unwrap() };
        let mut body = Body::new(format!("bar {k}"), shape).elastic(rubber);
        body.velocity = DVec3::new(1.0, -2.0, 0.3 * k as f64);
        body.at(0.4 * k as f64, 0.08, 0.0)
    }

    fn fallen(dense: usize) -> Simulation {
        let slope = HalfSpace { normal: DVec3::new(-0.6, 0.8, 0.0), ..HalfSpace::ground() };
        let mut s = Builder::new().ground().plane(slope).body(body(0)).body(body(1)).build().unwrap();
        DENSE_IN_TESTS.set(Some(dense));
        for _ in 0..40 {
            s.step().unwrap();
        }
        DENSE_IN_TESTS.set(None);
        s
    }

    /// Where every response is a solve the same forces are found.
    #[test]
    fn solves_find_what_the_dense_block_finds() {
        let (dense, solves) = (fallen(DENSE), fallen(0));
        let far = |b| {
            dense.positions(b).zip(solves.positions(b)).map(|(p, q)| (p - q).length()).fold(0.0, f64::max)
        };
        for b in 0..2 {
            assert!(far(b) < 1e-4, "{}", far(b));
        }
        assert!(dense.statistics().max_strain < 0.2);
    }

    #[test]
    fn cones_shorten_what_slides_and_keep_what_pushes() {
        let n = DVec3::Y;
        assert!((into_cone(DVec3::new(3.0, 2.0, 4.0), n, 0.5) - DVec3::new(0.6, 2.0, 0.8)).length() < 1e-15);
        assert_eq!(into_cone(DVec3::new(0.3, 2.0, 0.4), n, 0.5), DVec3::new(0.3, 2.0, 0.4));
        assert_eq!(into_cone(DVec3::new(3.0, -2.0, 4.0), n, 0.5), DVec3::ZERO);
    }
}
