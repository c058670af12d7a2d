//! The corner map of a torn body: which particle each corner of its elements uses.
//!
//! Around every particle, elements that are joined through facets that hold form groups. As long as there is one group,
//! broken facets open nothing; when it falls apart, each group gets a particle of its own: that with the lowest element
//! keeps the number, others are added at the end. Facets break one after the other, so the map is a function of the body
//! as it was built and of the list of broken facets in their order, which is all that a state stores of a tear.

use super::facets::{Facets, NONE};

/// Which particle each corner uses, and where particles came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Corners {
    /// Facets in the order they broke.
    broken: Vec<u32>,
    is_broken: Vec<bool>,
    /// The particle of each corner of the elements.
    particle: Vec<u32>,
    /// The particle of the whole body each particle was.
    origin: Vec<u32>,
    /// The particle each one came apart from, itself for those of the whole body.
    parent: Vec<u32>,
}

impl Corners {
    /// Of a body that nothing has torn.
    pub(crate) fn whole(facets: &Facets) -> Corners {
        let all: Vec<u32> = (0..facets.particle_count() as u32).collect();
        Corners {
            broken: Vec::new(),
            is_broken: vec![false; facets.len()],
            particle: facets.cells().to_vec(),
            origin: all.clone(),
            parent: all,
        }
    }

    /// Of a body whose facets broke in this order; `None` if there is no such facet or one breaks twice.
    pub(crate) fn replay(facets: &Facets, broken: impl IntoIterator<Item = u32>) -> Option<Corners> {
        let mut corners = Corners::whole(facets);
        for facet in broken {
            if !corners.break_facet(facets, facet as usize) {
                return None;
            }
        }
        Some(corners)
    }

    /// Breaks a facet; `false` if it is broken already or not there.
    pub(crate) fn break_facet(&mut self, facets: &Facets, facet: usize) -> bool {
        if self.is_broken.get(facet) != Some(&false) {
            return false;
        }
        self.is_broken[facet] = true;
        self.broken.push(facet as u32);
        for &vertex in facets.particles(facet) {
            self.separate(facets, facet, vertex);
        }
        true
    }

    /// Gives the elements around a particle of the whole body particles of their own, if breaking `facet` has parted them.
    fn separate(&mut self, facets: &Facets, facet: usize, vertex: u32) {
        let used: Vec<u32> =
            facets.joined(facet).iter().map(|&e| self.at(facets, e as usize, vertex)).collect();
        let Some(&particle) = used.iter().find(|p| used.iter().filter(|q| q == p).count() > 1) else {
            return;
        };
        let own: Vec<u32> = facets
            .star(vertex as usize)
            .iter()
            .copied()
            .filter(|&e| self.at(facets, e as usize, vertex) == particle)
            .collect();
        let group = self.groups(facets, vertex, &own);
        // Elements are in ascending order, and so are the groups by their lowest.
        for number in 1..=group.iter().copied().max().unwrap_or(0) {
            let new = self.origin.len() as u32;
            self.origin.push(vertex);
            self.parent.push(particle);
            for (&e, _) in own.iter().zip(&group).filter(|(_, g)| **g == number) {
                if let Some(k) = facets.corner_of(e as usize, vertex) {
                    self.particle[e as usize * facets.width() + k] = new;
                }
            }
        }
    }

    /// The group of each of some elements around a particle: joined through facets that hold. What only this particle joined
    /// from the start stays with the first group.
    fn groups(&self, facets: &Facets, vertex: u32, own: &[u32]) -> Vec<u32> {
        let joined_by = |holds: &dyn Fn(usize) -> bool| {
            let mut group = vec![NONE; own.len()];
            let mut count = 0;
            let mut open = Vec::new();
            for first in 0..own.len() {
                if group[first] != NONE {
                    continue;
                }
                group[first] = count;
                open.push(first);
                while let Some(k) = open.pop() {
                    let e = own[k] as usize;
                    let around = (0..facets.width()).filter(|&c| facets.cell(e)[c] != vertex);
                    for facet in around.filter_map(|c| facets.opposite(e, c)).filter(|f| holds(*f)) {
                        for other in facets.joined(facet) {
                            if let Ok(at) = own.binary_search(other)
                                && group[at] == NONE
                            {
                                group[at] = count;
                                open.push(at);
                            }
                        }
                    }
                }
                count += 1;
            }
            group
        };
        let built = joined_by(&|_| true);
        let mut now = joined_by(&|f| !self.is_broken[f]);
        if built.iter().any(|g| *g > 0) {
            // The first of each group that was apart from the start holds on to the first of all.
            let firsts: Vec<u32> = (1..=*built.iter().max().unwrap_or(&0))
                .filter_map(|g| built.iter().position(|b| *b == g).map(|k| now[k]))
                .collect();
            now.iter_mut().filter(|g| firsts.contains(g)).for_each(|g| *g = 0);
            let mut numbers: Vec<u32> = now.clone();
            numbers.sort_unstable();
            numbers.dedup();
            now.iter_mut().for_each(|g| *g = numbers.binary_search(g).unwrap_or(0) as u32);
        }
        now
    }

    /// The particle an element uses where the whole body has `vertex`.
    pub(crate) fn at(&self, facets: &Facets, element: usize, vertex: u32) -> u32 {
        let corner = facets.corner_of(element, vertex);
        corner.map_or(vertex, |k| self.particle[element * facets.width() + k])
    }

    /// Facets in the order they broke, by their numbers in [`Facets`].
    pub fn broken(&self) -> &[u32] {
        &self.broken
    }

    pub(crate) fn is_broken(&self, facet: usize) -> bool {
        self.is_broken[facet]
    }

    /// The particle of each corner, element after element.
    pub fn particles(&self) -> &[u32] {
        &self.particle
    }

    /// The particles of an element.
    pub(crate) fn cell(&self, facets: &Facets, element: usize) -> &[u32] {
        &self.particle[element * facets.width()..][..facets.width()]
    }

    /// Which particle of the whole body each particle was.
    pub fn origin(&self) -> &[u32] {
        &self.origin
    }

    /// The particle each one came apart from; those of the whole body are their own.
    pub(crate) fn parent(&self) -> &[u32] {
        &self.parent
    }
}
