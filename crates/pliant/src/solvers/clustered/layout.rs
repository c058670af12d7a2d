//! Where the particles lie in the solver's memory: blocks of eight, and who belongs to whom.
//!
//! Sums run over the members of a cluster, goals over the clusters of a particle. With particles in
//! blocks of eight both are lists of (block, cluster, mask) entries, read in one direction each: no
//! scatter, no copies, and an order that depends on nothing but the model. Lanes of an entry that are
//! not in the cluster are wasted, so particles of the same clusters are packed into the same blocks
//! (1.5 against 2.2 ns a membership on the paper's bunny), and blocks follow a space-filling curve.

use crate::model::BodyModel;
use glam::DVec3;
use std::ops::Range;

/// Lanes of a block.
pub(super) const WIDTH: usize = 8;

/// A lane without a particle.
pub(super) const EMPTY: u32 = u32::MAX;

/// Entries of a piece: sums over larger clusters are cut here, for threads to share.
const PIECE: usize = 128;

/// Blocks along the curve that may change places.
const STRETCH: usize = 64;

/// Candidates looked at for each free lane of a block.
const WINDOW: usize = 48;

/// One block seen from a cluster, or one cluster seen from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The block or the cluster.
    pub index: u32,
    /// Which lanes of the block are in the cluster.
    pub mask: u8,
}

/// Entries of each cluster or block: `offsets[k]..offsets[k + 1]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    pub offsets: Vec<u32>,
    pub list: Vec<Entry>,
    /// The share of each lane's particle that belongs to the cluster; empty if every particle is split
    /// equally, which needs no numbers.
    pub shares: Vec<[f64; WIDTH]>,
}

impl Entries {
    #[inline(always)]
    pub fn range(&self, k: usize) -> Range<usize> {
        self.offsets[k] as usize..self.offsets[k + 1] as usize
    }
}

/// A stretch of a cluster's entries, summed by one thread.
#[derive(Clone, Debug)]
pub(super) struct ClusterPiece {
    pub cluster: u32,
    pub entries: Range<u32>,
}

/// The blocks of a body, and their clusters.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterLayout {
    /// Particle in each lane of each block, or [`EMPTY`].
    pub lanes: Vec<[u32; WIDTH]>,
    /// The model's index of each cluster of the layout.
    pub clusters: Vec<u32>,
    pub by_cluster: Entries,
    pub by_block: Entries,
    pub pieces: Vec<ClusterPiece>,
    /// Where the pieces of each cluster begin; one more than clusters.
    pub piece_offsets: Vec<u32>,
}

impl ClusterLayout {
    pub fn new(model: &BodyModel) -> ClusterLayout {
        let mut layout = ClusterLayout::default();
        let smooth = is_smooth(model);
        layout.by_block.offsets.push(0);
        layout.clusters.extend(0..model.topology().clusters.len() as u32);
        for lanes in pack(model, &along_curve(model)) {
            layout.add_block(model, lanes, smooth);
        }
        layout.order_clusters();
        layout.list_by_cluster();
        layout
    }

    /// Numbers the clusters by their first block: sums then walk through memory as the blocks do.
    fn order_clusters(&mut self) {
        let mut first = vec![u32::MAX; self.clusters.len()];
        for block in (0..self.lanes.len()).rev() {
            for e in self.by_block.range(block) {
                first[self.by_block.list[e].index as usize] = block as u32;
            }
        }
        let mut order: Vec<u32> = (0..self.clusters.len() as u32).collect();
        order.sort_by_key(|&k| first[k as usize]);
        let mut number = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
        self.by_block.list.iter_mut().for_each(|e| e.index = number[e.index as usize]);
        self.clusters = order.iter().map(|&k| self.clusters[k as usize]).collect();
    }

    fn add_block(&mut self, model: &BodyModel, lanes: [u32; WIDTH], smooth: bool) {
        let mut clusters: Vec<(u32, u8, [f64; WIDTH])> = Vec::new();
        for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != EMPTY) {
            for member in model.topology().memberships(i as usize) {
                let k = member.cluster;
                let at = clusters.iter().position(|e| e.0 == k).unwrap_or_else(|| {
                    clusters.push((k, 0, [0.0; WIDTH]));
                    clusters.len() - 1
                });
                clusters[at].1 |= 1 << lane;
                clusters[at].2[lane] = model.rest().share[member.slot as usize];
            }
        }
        clusters.sort_unstable_by_key(|e| e.0);
        for (index, mask, shares) in clusters {
            self.by_block.list.push(Entry { index, mask });
            if smooth {
                self.by_block.shares.push(shares);
            }
        }
        self.by_block.offsets.push(self.by_block.list.len() as u32);
        self.lanes.push(lanes);
    }

    /// Turns the lists around, and cuts them into pieces.
    fn list_by_cluster(&mut self) {
        let count = self.clusters.len();
        let from = &self.by_block;
        let mut offsets = vec![0u32; count + 1];
        from.list.iter().for_each(|e| offsets[e.index as usize + 1] += 1);
        for k in 0..count {
            offsets[k + 1] += offsets[k];
        }
        let mut next = offsets.clone();
        let mut list = vec![Entry { index: 0, mask: 0 }; from.list.len()];
        let mut shares = vec![[0.0; WIDTH]; from.shares.len()];
        for block in 0..self.lanes.len() {
            for e in from.range(block) {
                let Entry { index, mask } = from.list[e];
                let to = next[index as usize] as usize;
                next[index as usize] += 1;
                list[to] = Entry { index: block as u32, mask };
                if let Some(share) = from.shares.get(e) {
                    shares[to] = *share;
                }
            }
        }
        self.piece_offsets.push(0);
        for k in 0..count {
            let (mut at, end) = (offsets[k], offsets[k + 1]);
            while at < end {
                let to = end.min(at + PIECE as u32);
                self.pieces.push(ClusterPiece { cluster: k as u32, entries: at..to });
                at = to;
            }
            self.piece_offsets.push(self.pieces.len() as u32);
        }
        self.by_cluster = Entries { offsets, list, shares };
    }

    /// Number of (particle, cluster) pairs over lanes read for them.
    #[cfg(test)]
    pub fn occupancy(&self) -> f64 {
        let used: u32 = self.by_block.list.iter().map(|e| e.mask.count_ones()).sum();
        f64::from(used) / (WIDTH * self.by_block.list.len()) as f64
    }
}

/// Whether any particle is split unequally.
fn is_smooth(model: &BodyModel) -> bool {
    (0..model.particle_count()).any(|i| {
        let members = model.topology().memberships(i);
        let equal = 1.0 / members.len() as f64;
        members.iter().any(|m| model.rest().share[m.slot as usize] != equal)
    })
}

/// The particles of a body along a Morton curve through its rest shape.
fn along_curve(model: &BodyModel) -> Vec<u32> {
    let rest = &model.rest().positions;
    let (mut lo, mut hi) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for p in rest.iter() {
        (lo, hi) = (lo.min(p), hi.max(p));
    }
    // Cubic cells: a flat body must not be cut finely across its thickness.
    let cell = (hi - lo).max_element().max(f64::MIN_POSITIVE) / f64::from(1u32 << 20);
    let mut keyed: Vec<(u64, u32)> = (0..rest.len())
        .map(|i| {
            let p = (rest.get(i) - lo) / cell;
            let key = spread(p.x as u64) | spread(p.y as u64) << 1 | spread(p.z as u64) << 2;
            (key, i as u32)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Bits of a number of 21 bits, with two zeros after each.
fn spread(v: u64) -> u64 {
    let mut v = v & 0x1f_ffff;
    v = (v | v << 32) & 0x1f_0000_0000_ffff;
    v = (v | v << 16) & 0x1f_0000_ff00_00ff;
    v = (v | v << 8) & 0x100f_00f0_0f00_f00f;
    v = (v | v << 4) & 0x10c3_0c30_c30c_30c3;
    (v | v << 2) & 0x1249_2492_4924_9249
}

/// Blocks of particles that have as many clusters in common as possible, along the given order.
fn pack(model: &BodyModel, order: &[u32]) -> Vec<[u32; WIDTH]> {
    let clusters = |rank: u32| model.topology().memberships(order[rank as usize] as usize);
    let same = |a: &u32, b: &u32| {
        let (a, b) = (clusters(*a), clusters(*b));
        a.iter().map(|m| m.cluster).eq(b.iter().map(|m| m.cluster))
    };
    // Particles of exactly the same clusters make full blocks.
    let mut ranks: Vec<u32> = (0..order.len() as u32).collect();
    ranks.sort_by(|a, b| {
        let key = |r: u32| clusters(r).iter().map(|m| m.cluster);
        key(*a).cmp(key(*b)).then(a.cmp(b))
    });
    let mut blocks: Vec<Vec<u32>> = Vec::with_capacity(order.len().div_ceil(WIDTH));
    let mut rest: Vec<u32> = Vec::new();
    for group in ranks.chunk_by(same) {
        let full = group.chunks_exact(WIDTH);
        rest.extend(full.remainder());
        blocks.extend(full.map(<[u32]>::to_vec));
    }
    // What is left over takes, among the next along the curve, what adds the fewest clusters.
    rest.sort_unstable();
    let mut union: Vec<u32> = Vec::new();
    let mut window: Vec<u32> = Vec::new();
    let mut left = rest.into_iter();
    loop {
        window.extend(left.by_ref().take(WINDOW - window.len().min(WINDOW)));
        if window.is_empty() {
            break;
        }
        let mut block = vec![window.remove(0)];
        union.clear();
        union.extend(clusters(block[0]).iter().map(|m| m.cluster));
        while block.len() < WIDTH && !window.is_empty() {
            let added = |r: &u32| {
                let own = clusters(*r);
                let new = own.iter().filter(|m| !union.contains(&m.cluster)).count();
                (new, union.len() + new - own.len())
            };
            let Some(best) = (0..window.len()).min_by_key(|&k| added(&window[k])) else { break };
            let taken = window.remove(best);
            for m in clusters(taken) {
                if !union.contains(&m.cluster) {
                    union.push(m.cluster);
                }
            }
            block.push(taken);
        }
        blocks.push(block);
    }
    blocks.sort_unstable_by_key(|block| block.iter().copied().min());
    // Within a stretch of the curve, blocks of as many clusters follow each other: loops over them then
    // end where the processor expects it (a quarter of the time on the bunny).
    let entries = |block: &Vec<u32>| {
        let mut list: Vec<u32> = block.iter().flat_map(|r| clusters(*r)).map(|m| m.cluster).collect();
        list.sort_unstable();
        list.dedup();
        list.len()
    };
    blocks.chunks_mut(STRETCH).for_each(|stretch| stretch.sort_by_cached_key(entries));
    let lanes = |block: Vec<u32>| {
        let mut lanes = [EMPTY; WIDTH];
        lanes.iter_mut().zip(block).for_each(|(lane, rank)| *lane = order[rank as usize]);
        lanes
    };
    blocks.into_iter().map(lanes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, Clustering, shapes};

    fn layout(clusters: Clustering) -> (BodyModel, ClusterLayout) {
        let solid = shapes::SolidShape::Bunny { height: 1.0 };
        let spacing = solid.spacing_for_count(2020);
        let shape = spacing.and_then(|s| solid.build(s)).unwrap_or_default();
        let mut body = Body::new("bunny", shape);
        body.clusters = clusters;
        let model = Builder::new().body(body).build().map(|s| s.model().bodies()[0].parts.clone());
        let model = model.unwrap_or_else(|e| panic!("{e}"));
        let layout = ClusterLayout::new(&model);
        (model, layout)
    }

    #[test]
    fn every_membership_is_there_once_in_both_directions() {
        for clusters in [Clustering::Whole, Clustering::Count(26), Clustering::Radius(0.02)] {
            let (model, layout) = layout(clusters);
            let mut expected = Vec::new();
            for i in 0..model.particle_count() {
                expected.extend(model.topology().memberships(i).iter().map(|m| (i as u32, m.cluster)));
            }
            let pair = |block: u32, k: u32, lane: usize| {
                (layout.lanes[block as usize][lane], layout.clusters[k as usize])
            };
            let mut found: [Vec<(u32, u32)>; 2] = Default::default();
            for (displacement, entries, count) in
                [(0, &layout.by_block, layout.lanes.len()), (1, &layout.by_cluster, layout.clusters.len())]
            {
                for from in 0..count {
                    for e in entries.range(from) {
                        let Entry { index, mask } = entries.list[e];
                        let (block, k) =
                            if displacement == 0 { (from as u32, index) } else { (index, from as u32) };
                        let lanes = (0..WIDTH).filter(|lane| mask & (1 << lane) != 0);
                        found[displacement].extend(lanes.map(|lane| pair(block, k, lane)));
                    }
                }
                found[displacement].sort_unstable();
                assert_eq!(found[displacement], expected);
            }
            let pieces: usize = layout.pieces.iter().map(|p| p.entries.len()).sum();
            assert_eq!(pieces, layout.by_cluster.list.len());
            println!("{clusters:?}: {:.0} % of the lanes are used", 100.0 * layout.occupancy());
        }
    }
}
