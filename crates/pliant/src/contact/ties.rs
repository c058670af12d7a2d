//! Couplings in a substep: points of bodies that are to end in one place, and the forces that bring them there.
//!
//! With c the way from the second point to the first, a spring with stiffness k and damping b holds with f = −k c − b ċ at
//! the end of the substep. By ċ = (c − c₀)/h that is c + f/K = c₀ b/(h K), K = k + b/h; a joint is K = ∞. The points respond to
//! the forces through the same G as contacts, so all forces together solve (G + 1/K) f = −(c_free − target): the Schur
//! complement of the couplings on the factors of the bodies. It is a small dense matrix, one number per pair where all bodies
//! answer alike along x, y and z, blocks of 3×3 where one does not.

use super::Endpoint;
use super::dense_spd::DenseSpd;
use super::dual::{Bodies, Link};
use super::half_space::release;
use super::nodes::Nodes;
use crate::team::Team;
use glam::DVec3;

/// The velocities of the bodies of an island, by their places in it.
pub(crate) trait Velocities {
    /// 1/m of a particle; 0 if it does not move by forces.
    fn softness(&self, place: usize, particle: usize) -> f64;
    fn velocity(&self, place: usize, particle: usize) -> DVec3;
    fn add(&mut self, place: usize, particle: usize, by: DVec3);
}

/// Two points of bodies of an island, by their places in it, that a coupling keeps together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tie {
    pub sides: [Endpoint; 2],
    /// N/m; `None` holds exactly.
    pub stiffness: Option<f64>,
    /// N s/m.
    pub damping: f64,
}

/// A tie as the forces are found.
#[derive(Clone, Copy, Debug)]
struct TieRow {
    /// The end of its links.
    links: u32,
    /// 1/K.
    compliance: f64,
    /// Where the points are to end to each other, less what the force gives.
    target: DVec3,
    /// Where they end to each other without the forces of contacts and couplings.
    free: DVec3,
    force: DVec3,
    exact: bool,
}

fn links_of<'a>(rows: &[TieRow], links: &'a [Link], k: usize) -> &'a [Link] {
    let first = k.checked_sub(1).map_or(0, |k| rows[k].links as usize);
    &links[first..rows[k].links as usize]
}

/// The couplings of an island in a substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ties {
    rows: Vec<TieRow>,
    links: Vec<Link>,
    system: DenseSpd,
    /// Whether the system is that of the present responses.
    formed: bool,
    /// One number per pair of ties, or a block of 3×3.
    scalar: bool,
    /// Violations, and then changes of the forces: x, y and z, or one after the other.
    sides: [Vec<f64>; 3],
    /// Scratch: ties that hold exactly.
    exact: Vec<usize>,
}

impl Ties {
    pub fn clear(&mut self) {
        self.rows.clear();
        self.links.clear();
        self.formed = false;
    }

    /// Makes room for so many.
    pub fn reserve(&mut self, ties: usize) {
        self.rows.reserve(ties);
        self.links.reserve(8 * ties);
        self.system.reserve(3 * ties);
        self.sides.iter_mut().for_each(|s| s.reserve(3 * ties));
        self.exact.reserve(ties);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes up a tie of bodies that have predicted where they go; its particles become nodes.
    pub fn add(&mut self, tie: &Tie, nodes: &mut [Nodes], bodies: &mut dyn Bodies) {
        let (mut start, mut size, mut h) = (DVec3::ZERO, f64::INFINITY, 0.0);
        for (side, sign) in tie.sides.iter().zip([1.0, -1.0]) {
            for (place, particle, weight) in side.particles() {
                let Some(body) = bodies.get(place) else { continue };
                let beginning = body.side.beginning();
                start += beginning.start.get(particle as usize) * (sign * weight);
                (size, h) = (size.min(beginning.size), body.body.model.params.substep());
                let node = nodes[place].of(particle);
                self.links.push(Link::new(place, node, sign * weight, body.mass_ratio()));
            }
        }
        let (compliance, target) = match tie.stiffness {
            None => {
                let apart = start.length();
                let left = (apart - release(size, h)).max(0.0);
                (0.0, if apart > 0.0 { start * (left / apart) } else { DVec3::ZERO })
            }
            Some(k) => {
                let both = k + tie.damping / h;
                (both.recip(), start * (tie.damping / (h * both)))
            }
        };
        let exact = tie.stiffness.is_none();
        let links = self.links.len() as u32;
        self.rows.push(TieRow { links, compliance, target, free: DVec3::ZERO, force: DVec3::ZERO, exact });
    }

    /// Sees where the points end by themselves in the present round, and how they respond.
    pub fn begin_round(&mut self, nodes: &mut [Nodes], bodies: &mut dyn Bodies, team: &Team) {
        for k in 0..self.rows.len() {
            let free = |sum: DVec3, l: &Link| {
                let particle = nodes[l.body as usize].particles()[l.node as usize] as usize;
                let end = bodies.get(l.body as usize).map_or(DVec3::ZERO, |b| b.side.free_end(particle));
                sum + end * l.weight
            };
            self.rows[k].free = links_of(&self.rows, &self.links, k).iter().fold(DVec3::ZERO, free);
        }
        let (mut scalar, mut constant) = (true, true);
        for (place, _) in nodes.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
            if let Some(body) = bodies.get(place) {
                scalar &= body.side.is_scalar();
                constant &= body.side.is_constant();
            }
        }
        if !self.formed || !constant {
            self.scalar = scalar;
            self.form(nodes, bodies, team);
            self.formed = true;
        }
    }

    /// Makes the system from what a unit force of each tie does to all of them.
    fn form(&mut self, nodes: &mut [Nodes], bodies: &mut dyn Bodies, team: &Team) {
        let Ties { rows, links, system, .. } = self;
        let (count, axes) = (rows.len(), if self.scalar { 1 } else { 3 });
        system.begin(count * axes);
        for k in 0..count {
            let own = links_of(rows, links, k);
            let pulls = |place: usize| own.iter().any(|l| l.body as usize == place);
            for axis in 0..axes {
                nodes.iter_mut().for_each(Nodes::unload);
                for l in own {
                    nodes[l.body as usize].load(l.node as usize, DVec3::AXES[axis] * l.force);
                }
                for place in (0..bodies.len()).filter(|p| pulls(*p)) {
                    if let Some(body) = bodies.get(place) {
                        body.side.respond(&mut nodes[place], team);
                    }
                }
                for j in k..count {
                    let pulled = links_of(rows, links, j).iter().filter(|l| pulls(l.body as usize));
                    let moved = pulled.fold(DVec3::ZERO, |sum, l| {
                        sum + nodes[l.body as usize].movement(l.node as usize) * l.weight
                    });
                    for (other, moved) in moved.to_array().into_iter().enumerate().take(axes) {
                        let soft = if j == k && other == axis { rows[k].compliance } else { 0.0 };
                        system.set(j * axes + other, k * axes + axis, moved + soft);
                    }
                }
            }
        }
        system.factor();
    }

    /// Puts the forces on the nodes, beside those that are there.
    pub fn load(&self, nodes: &mut [Nodes]) {
        for (k, row) in self.rows.iter().enumerate() {
            for l in links_of(&self.rows, &self.links, k) {
                nodes[l.body as usize].load(l.node as usize, row.force * l.force);
            }
        }
    }

    /// Changes the forces so that all ties hold, from where the nodes move by those there are.
    pub fn correct(&mut self, nodes: &[Nodes]) {
        let mut sides = std::mem::take(&mut self.sides);
        sides.iter_mut().for_each(Vec::clear);
        for (k, row) in self.rows.iter().enumerate() {
            let moved =
                |sum: DVec3, l: &Link| sum + nodes[l.body as usize].movement(l.node as usize) * l.weight;
            let at = links_of(&self.rows, &self.links, k).iter().fold(row.free, moved);
            let off = (row.target - at - row.force * row.compliance).to_array();
            match self.scalar {
                true => sides.iter_mut().zip(off).for_each(|(s, v)| s.push(v)),
                false => sides[0].extend_from_slice(&off),
            }
        }
        match self.scalar {
            true => sides.iter_mut().for_each(|s| self.system.solve(s)),
            false => self.system.solve(&mut sides[0]),
        }
        for (k, row) in self.rows.iter_mut().enumerate() {
            row.force += match self.scalar {
                true => DVec3::new(sides[0][k], sides[1][k], sides[2][k]),
                false => DVec3::from_slice(&sides[0][3 * k..]),
            };
        }
        self.sides = sides;
    }

    /// What the ties do to a body of the island: whether they hold it at all, their force on it and their work, in
    /// terms of the masses it was built with. A joint keeps no energy: if it drew its points together in the substep, what it
    /// did for that is no work the bodies may keep, and each owes half of it.
    pub fn pull_on(&self, place: usize, nodes: &[Nodes], bodies: &mut dyn Bodies) -> Pull {
        let mut pull = Pull::default();
        let mut way = |l: &Link| {
            let particle = nodes[l.body as usize].particles()[l.node as usize] as usize;
            let side = bodies.get(l.body as usize).map(|b| b.side);
            side.map_or(DVec3::ZERO, |s| s.end(particle) - s.beginning().start.get(particle))
        };
        for (k, row) in self.rows.iter().enumerate() {
            let links = links_of(&self.rows, &self.links, k);
            if !links.iter().any(|l| l.body as usize == place) {
                continue;
            }
            let drawn: f64 = links.iter().map(|l| row.force.dot(way(l)) * l.weight).sum();
            let owed = if row.exact { 0.5 * drawn.max(0.0) } else { 0.0 };
            for sign in [1.0, -1.0] {
                let own = |l: &&Link| l.body as usize == place && l.weight * sign > 0.0;
                let mut mass_ratio = None;
                for l in links.iter().filter(own) {
                    pull.any = true;
                    pull.force += row.force * l.force;
                    pull.work += row.force.dot(way(l)) * l.force;
                    mass_ratio = Some(l.weight / l.force);
                }
                pull.work -= mass_ratio.map_or(0.0, |ratio| owed / ratio);
            }
        }
        pull
    }

    /// Whether any tie holds exactly.
    pub fn any_exact(&self) -> bool {
        self.rows.iter().any(|r| r.exact)
    }

    /// Takes away the velocity of exactly tied points to each other, by impulses on their particles: what begins and ends a
    /// substep in one place does not come apart in between, but prolonged from θ h to h its velocity may say so. It only
    /// takes kinetic energy.
    pub fn calm(&mut self, nodes: &[Nodes], bodies: &mut dyn Velocities) {
        let mut exact = std::mem::take(&mut self.exact);
        exact.clear();
        exact.extend((0..self.rows.len()).filter(|k| self.rows[*k].exact));
        let particle =
            |l: &Link| (l.body as usize, nodes[l.body as usize].particles()[l.node as usize] as usize);
        self.system.begin(exact.len());
        for (a, &j) in exact.iter().enumerate() {
            for (b, &k) in exact[..=a].iter().enumerate() {
                let mut sum = 0.0;
                for l in links_of(&self.rows, &self.links, j) {
                    for m in links_of(&self.rows, &self.links, k)
                        .iter()
                        .filter(|m| (m.body, m.node) == (l.body, l.node))
                    {
                        let (body, i) = particle(l);
                        sum += l.weight * m.force * bodies.softness(body, i);
                    }
                }
                self.system.set(a, b, sum);
            }
        }
        self.system.factor();
        // The matrix is another one now.
        self.formed = false;
        let mut sides = std::mem::take(&mut self.sides);
        sides.iter_mut().for_each(Vec::clear);
        for &k in &exact {
            let apart = links_of(&self.rows, &self.links, k).iter().fold(DVec3::ZERO, |sum, l| {
                let (body, i) = particle(l);
                sum - bodies.velocity(body, i) * l.weight
            });
            sides.iter_mut().zip(apart.to_array()).for_each(|(s, v)| s.push(v));
        }
        sides.iter_mut().for_each(|s| self.system.solve(s));
        for (a, &k) in exact.iter().enumerate() {
            let impulse = DVec3::new(sides[0][a], sides[1][a], sides[2][a]);
            for l in links_of(&self.rows, &self.links, k) {
                let (body, i) = particle(l);
                bodies.add(body, i, impulse * (l.force * bodies.softness(body, i)));
            }
        }
        (self.sides, self.exact) = (sides, exact);
    }
}

/// What couplings do to a body in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pull {
    /// Whether there are any.
    pub any: bool,
    pub force: DVec3,
    pub work: f64,
}
