//! A clustered body as couplings and other bodies see it.
//!
//! Explicit steps let every particle answer to forces by itself, with h²/m; the cluster it is in feels them a substep later only. Glue
//! that pulls at a few particles would tear these out. So the clusters of a particle take most of a force and move by it as rigid
//! bodies, at once (`contact.md` of the design):
//!
//! > dxᵢ = h² [ (1 − σ) Fᵢ/mᵢ + σ Σ_c s_ic (P_c/M_c + I_c⁻¹ L_c × r_ic) ], P_c = Σ s_jc Fⱼ, L_c = Σ s_jc r_jc × Fⱼ
//!
//! with the shares s_ic that particles have in clusters, places as the substep began. That is symmetric, and keeps linear and angular
//! momentum. What a pin prescribes moves by no force: clusters with such particles leave theirs to these alone.

use super::layout::WIDTH;
use super::passes::ObstacleInputs;
use super::{ClusteredCache, contacts};
use crate::contact::{ColliderGeometry, Nodes, Obstacles, Respond, SubstepStart};
use crate::model::BodyModel;
use crate::points::Points;
use crate::solvers::implicit::out_of_solids;
use crate::solvers::{Outside, Subject};
use crate::team::Team;
use glam::{DMat3, DVec3};
use pliant_math::lanes::Isa;

/// σ: the part of a force that clusters take.
const BY_CLUSTERS: f64 = 0.9;
/// What is added to moments of inertia, as a part of their sum: a cluster on a line does not spin about it.
const ROUND: f64 = 1e-9;

/// What couplings know of the body and do to it in a substep. Empty until it is tied to something.
#[derive(Clone, Debug)]
pub(super) struct CouplingResponse {
    beginning: SubstepStart,
    /// How far forces have moved each particle, and what they move it by now.
    pushed: Points,
    moved: Points,
    /// Blocks with particles that are tied or move with them, and their lanes.
    blocks: Vec<(u32, u8)>,
    h: f64,
    /// Those of the body's clusters that tied particles are in, and of each cluster its place there, counted from 1.
    clusters: Vec<AnsweringCluster>,
    place: Vec<u32>,
    /// Whether a pin prescribes particles of a cluster.
    pinned: Vec<bool>,
    /// The parts tied particles have in these, node after node, and where they end.
    parts: Vec<ClusterPart>,
    ends: Vec<u32>,
    /// Nodes that this was prepared for.
    prepared: usize,
}

/// A cluster that answers as a rigid body.
#[derive(Clone, Copy, Debug)]
struct AnsweringCluster {
    number: u32,
    center: DVec3,
    /// 1/M and I⁻¹, and how large that is.
    softness: f64,
    turning: DMat3,
    turning_bound: f64,
    /// What it moves by: P/M and I⁻¹ L; or the forces and torques that lead there.
    by: DVec3,
    turn: DVec3,
}

/// The part of a node in a cluster.
#[derive(Clone, Copy, Debug)]
struct ClusterPart {
    cluster: u32,
    share: f64,
    arm: DVec3,
}

impl CouplingResponse {
    pub fn new(model: &BodyModel) -> CouplingResponse {
        let beginning = SubstepStart { size: model.diameter(), start: Points::EMPTY, free: Vec::new() };
        CouplingResponse {
            beginning,
            pushed: Points::EMPTY,
            moved: Points::EMPTY,
            blocks: Vec::new(),
            h: 0.0,
            clusters: Vec::new(),
            place: Vec::new(),
            pinned: Vec::new(),
            parts: Vec::new(),
            ends: Vec::new(),
            prepared: 0,
        }
    }

    /// Begins a substep of `h` seconds at these positions.
    pub fn begin(&mut self, model: &BodyModel, start: &Points, h: f64) {
        let n = model.particle_count();
        if self.beginning.free.len() != n {
            self.reserve(model);
        }
        self.beginning.start.copy_from(start);
        self.pushed.clear();
        self.h = h;
        for cluster in self.clusters.drain(..) {
            self.place[cluster.number as usize] = 0;
        }
        self.parts.clear();
        self.ends.clear();
        self.blocks.clear();
        self.prepared = 0;
    }

    fn reserve(&mut self, model: &BodyModel) {
        let (n, topology) = (model.particle_count(), model.topology());
        self.beginning.free = (0..n as u32).map(|i| !model.prescribes(i)).collect();
        (self.beginning.start, self.pushed, self.moved) =
            (Points::zeros(n), Points::zeros(n), Points::zeros(n));
        self.blocks.reserve(n.div_ceil(WIDTH));
        let clusters = topology.clusters.len();
        self.place = vec![0; clusters];
        let held = |c: usize| {
            let members = &topology.clusters.members[topology.clusters.range(c)];
            members.iter().any(|i| !self.beginning.free[*i as usize])
        };
        self.pinned = (0..clusters).map(held).collect();
        self.clusters.reserve(clusters);
        self.parts.reserve(topology.incidence.len());
        self.ends.reserve(n);
    }

    /// The parts of a node.
    fn parts(&self, node: usize) -> &[ClusterPart] {
        let first = node.checked_sub(1).map_or(0, |k| self.ends[k] as usize);
        &self.parts[first..self.ends[node] as usize]
    }

    /// Takes up the clusters of a particle that has become a node.
    fn add(&mut self, model: &BodyModel, particle: u32) {
        let (topology, i) = (model.topology(), particle as usize);
        let own = topology.incidence_offsets[i] as usize..topology.incidence_offsets[i + 1] as usize;
        for membership in &topology.incidence[own] {
            let number = membership.cluster;
            if self.pinned[number as usize] || !self.beginning.free[i] {
                continue;
            }
            if self.place[number as usize] == 0 {
                if let Some(cluster) = self.measured(model, number) {
                    self.clusters.push(cluster);
                    self.place[number as usize] = self.clusters.len() as u32;
                } else {
                    continue;
                }
            }
            let cluster = self.place[number as usize] - 1;
            let arm = self.beginning.start.get(i) - self.clusters[cluster as usize].center;
            let share = model.rest().share[membership.slot as usize];
            self.parts.push(ClusterPart { cluster, share, arm });
        }
        self.ends.push(self.parts.len() as u32);
    }

    /// A cluster as a rigid body where its particles began; none if it has no mass.
    fn measured(&self, model: &BodyModel, number: u32) -> Option<AnsweringCluster> {
        let start = &self.beginning.start;
        let (mut mass, mut sum) = (0.0, DVec3::ZERO);
        let members = |each: &mut dyn FnMut(f64, DVec3)| {
            let clusters = &model.topology().clusters;
            for slot in clusters.range(number as usize) {
                let i = clusters.members[slot] as usize;
                each(model.rest().share[slot] * model.rest().mass[i], start.get(i));
            }
        };
        let mut origin = None;
        members(&mut |m, x| {
            let about = *origin.get_or_insert(x);
            (mass, sum) = (mass + m, sum + (x - about) * m);
        });
        let center = origin? + sum / mass;
        let mut inertia = DMat3::ZERO;
        members(&mut |m, x| {
            let r = x - center;
            let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
            inertia += (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * m;
        });
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let turning = match trace > 0.0 {
            true => (inertia + DMat3::from_diagonal(DVec3::splat(ROUND * trace))).inverse(),
            false => DMat3::ZERO,
        };
        let sound = mass > 0.0 && turning.is_finite();
        let columns = turning.to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt();
        sound.then_some(AnsweringCluster {
            number,
            center,
            softness: mass.recip(),
            turning,
            turning_bound: columns,
            by: DVec3::ZERO,
            turn: DVec3::ZERO,
        })
    }

    /// The part of a force on a node that it takes by itself.
    fn own(&self, node: usize) -> f64 {
        1.0 - BY_CLUSTERS * self.parts(node).iter().map(|p| p.share).sum::<f64>()
    }

    /// Lets the clusters take the forces on the nodes.
    fn load(&mut self, nodes: &Nodes) {
        for cluster in &mut self.clusters {
            (cluster.by, cluster.turn) = (DVec3::ZERO, DVec3::ZERO);
        }
        for node in 0..nodes.len() {
            let force = nodes.force(node);
            let first = node.checked_sub(1).map_or(0, |k| self.ends[k] as usize);
            for part in &self.parts[first..self.ends[node] as usize] {
                let cluster = &mut self.clusters[part.cluster as usize];
                cluster.by += force * part.share;
                cluster.turn += part.arm.cross(force * part.share);
            }
        }
        for cluster in &mut self.clusters {
            cluster.by *= cluster.softness;
            cluster.turn = cluster.turning * cluster.turn;
        }
    }
}

impl ClusteredCache {
    fn softness(&self, particle: usize) -> f64 {
        let CouplingResponse { beginning, h, .. } = &self.tied;
        if beginning.free[particle] { h * h / self.model.rest().mass[particle] } else { 0.0 }
    }

    fn at(&self, particle: usize) -> (usize, usize) {
        let slot = self.slots[particle] as usize;
        (slot / WIDTH, slot % WIDTH)
    }

    /// Takes tied particles out of the obstacles that couplings have drawn them into.
    pub(super) fn push_out_tied(&mut self, forms: &[ColliderGeometry], isa: Isa) {
        let ClusteredCache { planes, solids, radii, start, tied, x, free, .. } = self;
        let obstacles = Obstacles { planes, solids, forms };
        let Some(now) = self.now.filter(|_| !obstacles.is_empty()) else { return };
        let around = ObstacleInputs { obstacles, radii, start, now: &now };
        for &(block, lanes) in &tied.blocks {
            let b = block as usize;
            contacts::push_out_lanes(around.meeting(b, 0.0, 0.0), lanes & free[b], &mut x[b], isa);
        }
    }
}

impl ClusteredCache {
    /// The last word of obstacles where they are met as others meet them: what forces have left inside, less than they could
    /// tell, is moved out. Returns how far that moved a particle, relative to the size of the body.
    pub(super) fn settle(&mut self, body: Subject<'_>, Outside { contacts, place, .. }: Outside<'_>) -> f64 {
        let mut furthest = 0.0_f64;
        let size = self.tied.beginning.size;
        for (contact, i) in contacts.iter().filter_map(|c| Some((c, c.particle_at_obstacle(place)?))) {
            let at = self.end(i);
            let gap = contact.normal.dot(at) - contact.offset;
            if gap < 0.0 {
                self.put(i, at - contact.normal * gap);
                furthest = furthest.max(-gap / size);
            }
        }
        for i in 0..self.tied.beginning.free.len() {
            if body.obstacles.solids.is_empty() {
                break;
            }
            if !self.tied.beginning.free[i] {
                continue;
            }
            let at = self.end(i);
            let to = out_of_solids(body, (&self.tied.beginning, i), at);
            if to != at {
                self.put(i, to);
                furthest = furthest.max(to.distance(at) / size);
            }
        }
        furthest
    }

    fn put(&mut self, particle: usize, at: DVec3) {
        let (block, lane) = self.at(particle);
        self.x[block].set(lane, at - self.origin);
    }
}

impl Respond for ClusteredCache {
    fn beginning(&self) -> &SubstepStart {
        &self.tied.beginning
    }

    fn end(&self, particle: usize) -> DVec3 {
        let (block, lane) = self.at(particle);
        self.origin + self.x[block].get(lane)
    }

    fn free_end(&self, particle: usize) -> DVec3 {
        self.end(particle) - self.tied.pushed.get(particle)
    }

    fn prepare(&mut self, nodes: &Nodes, _: &Team) -> bool {
        let ClusteredCache { tied, model, slots, .. } = self;
        let at = |i: u32| (slots[i as usize] / WIDTH as u32, 1 << (slots[i as usize] as usize % WIDTH));
        for &i in &nodes.particles()[tied.prepared..] {
            let known = tied.clusters.len();
            tied.add(model, i);
            touch(&mut tied.blocks, at(i));
            for k in known..tied.clusters.len() {
                let clusters = &model.topology().clusters;
                let members = &clusters.members[clusters.range(tied.clusters[k].number as usize)];
                members.iter().for_each(|i| touch(&mut tied.blocks, at(*i)));
            }
        }
        tied.prepared = nodes.len();
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        self.tied.load(nodes);
        let (tied, scale) = (&self.tied, BY_CLUSTERS * self.tied.h * self.tied.h);
        for k in 0..nodes.len() {
            let own = self.softness(nodes.particles()[k] as usize) * tied.own(k);
            let by = tied.parts(k).iter().fold(nodes.force(k) * own, |sum, part| {
                let cluster = &tied.clusters[part.cluster as usize];
                sum + (cluster.by + cluster.turn.cross(part.arm)) * (part.share * scale)
            });
            nodes.set_movement(k, by);
        }
    }

    fn reach(&mut self, nodes: &mut Nodes, _: &Team) {
        // In x of a cluster: Σ s w, and Σ s |r| w of what turns it.
        let tied = &mut self.tied;
        tied.clusters.iter_mut().for_each(|c| c.by = DVec3::ZERO);
        for k in 0..nodes.len() {
            let first = k.checked_sub(1).map_or(0, |k| tied.ends[k] as usize);
            for part in &tied.parts[first..tied.ends[k] as usize] {
                let by = nodes.weights[k] * part.share;
                tied.clusters[part.cluster as usize].by += DVec3::new(by, by * part.arm.length(), 0.0);
            }
        }
        let (tied, scale) = (&self.tied, BY_CLUSTERS * self.tied.h * self.tied.h);
        for k in 0..nodes.len() {
            let own = self.softness(nodes.particles()[k] as usize) * tied.own(k);
            let by = tied.parts(k).iter().fold(nodes.weights[k] * own, |sum, part| {
                let AnsweringCluster { softness, turning_bound, by, .. } =
                    tied.clusters[part.cluster as usize];
                sum + part.share * scale * (softness * by.x + turning_bound * part.arm.length() * by.y)
            });
            nodes.set_movement(k, DVec3::X * by);
        }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        self.tied.load(nodes);
        self.tied.moved.clear();
        for (k, (i, force)) in nodes.loads().enumerate() {
            let by = force * (self.softness(i as usize) * self.tied.own(k));
            self.tied.moved.set(i as usize, by);
        }
        let ClusteredCache { tied, model, slots, x, .. } = self;
        let (clusters, scale) = (&model.topology().clusters, BY_CLUSTERS * tied.h * tied.h);
        for cluster in &tied.clusters {
            for slot in clusters.range(cluster.number as usize) {
                let i = clusters.members[slot] as usize;
                let arm = tied.beginning.start.get(i) - cluster.center;
                let by = (cluster.by + cluster.turn.cross(arm)) * (model.rest().share[slot] * scale);
                tied.moved.set(i, tied.moved.get(i) + by);
            }
        }
        for (i, slot) in slots.iter().enumerate().take(tied.moved.len()) {
            let (by, before) = (tied.moved.get(i), tied.pushed.get(i));
            if by != before {
                let (block, lane) = (*slot as usize / WIDTH, *slot as usize % WIDTH);
                let to = x[block].get(lane) + (by - before);
                x[block].set(lane, to);
                tied.pushed.set(i, by);
            }
        }
    }
}

/// Marks lanes of a block.
fn touch(blocks: &mut Vec<(u32, u8)>, (block, lanes): (u32, u8)) {
    match blocks.binary_search_by_key(&block, |(b, _)| *b) {
        Ok(k) => blocks[k].1 |= lanes,
        Err(k) => blocks.insert(k, (block, lanes)),
    }
}
