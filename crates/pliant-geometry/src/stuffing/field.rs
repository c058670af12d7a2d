//! Which lattice points are inside, where the surface cuts the edges between them, and which points move onto it.
//!
//! A cut too near an end of its edge would make a sliver, so that end is moved onto the cut (Labelle and Shewchuk
//! 2007, section 3). All points move at once, each to its nearest cut: the rule of the paper, which goes through the
//! points one by one, can make every arrangement that matters to a tetrahedron, so its bounds hold here too.

use super::lattice::BccLattice;
use glam::DVec3;

/// How near, in lengths of an edge along an axis, a cut moves the end of that edge onto it. The pair gives the largest
/// smallest angle, 10.78°; a test goes through all arrangements.
pub(super) const NEAR_LONG: f64 = 0.2851;
/// The same for an edge between a corner and a centre.
pub(super) const NEAR_SHORT: f64 = 0.3988;

/// An edge from inside to outside, and the part of the way at which it is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EdgeCut {
    pub inside: u32,
    pub outside: u32,
    pub part: f64,
}

/// The lattice with everything the stencils ask of it.
pub(super) struct CutLattice {
    pub lattice: BccLattice,
    /// 1 inside, −1 outside, 0 moved onto the surface.
    pub sign: Vec<i8>,
    /// By inside, then outside end.
    pub cuts: Vec<EdgeCut>,
    /// The cut that a point of sign 0 was moved onto.
    pub moved_to: Vec<u32>,
}

impl CutLattice {
    /// `cuts` must be those of all edges between an inside and an outside point.
    pub fn new(lattice: BccLattice, inside: &[bool], mut cuts: Vec<EdgeCut>) -> CutLattice {
        cuts.sort_unstable_by_key(|cut| (cut.inside, cut.outside));
        let mut sign: Vec<i8> = inside.iter().map(|&inside| if inside { 1 } else { -1 }).collect();
        let mut moved_to = vec![u32::MAX; sign.len()];
        let mut nearest = vec![f64::INFINITY; sign.len()];
        for (i, cut) in cuts.iter().enumerate() {
            let long = lattice.at(cut.inside).x % 2 == lattice.at(cut.outside).x % 2;
            let (near, length) = if long { (NEAR_LONG, 1.0) } else { (NEAR_SHORT, 0.75f64.sqrt()) };
            for (end, part) in [(cut.inside, cut.part), (cut.outside, 1.0 - cut.part)] {
                let end = end as usize;
                if part < near && part * length < nearest[end] {
                    nearest[end] = part * length;
                    moved_to[end] = i as u32;
                    sign[end] = 0;
                }
            }
        }
        CutLattice { lattice, sign, cuts, moved_to }
    }

    /// The edges between points inside and outside, not cut yet.
    pub fn edges_to_cut(lattice: &BccLattice, inside: &[bool]) -> Vec<EdgeCut> {
        let mut edges = Vec::new();
        for a in 0..lattice.len() as u32 {
            for to in lattice.later_neighbours(lattice.at(a)) {
                let b = lattice.index(to);
                match (inside[a as usize], inside[b as usize]) {
                    (true, false) => edges.push(EdgeCut { inside: a, outside: b, part: 0.5 }),
                    (false, true) => edges.push(EdgeCut { inside: b, outside: a, part: 0.5 }),
                    _ => {}
                }
            }
        }
        edges
    }

    /// The index of the cut on an edge.
    pub fn cut(&self, inside: u32, outside: u32) -> u32 {
        let found = self.cuts.binary_search_by_key(&(inside, outside), |cut| (cut.inside, cut.outside));
        debug_assert!(found.is_ok(), "every edge from inside to outside is cut");
        found.unwrap_or_default() as u32
    }

    pub fn cut_position(&self, cut: u32) -> DVec3 {
        let EdgeCut { inside, outside, part } = self.cuts[cut as usize];
        let at = |index| self.lattice.position(self.lattice.at(index));
        at(inside).lerp(at(outside), part)
    }

    pub fn point_position(&self, index: u32) -> DVec3 {
        match self.moved_to[index as usize] {
            u32::MAX => self.lattice.position(self.lattice.at(index)),
            cut => self.cut_position(cut),
        }
    }
}
