//! Along which facets the elements around a particle come apart when it is torn across a direction: the cheapest cut.
//!
//! The elements around the particle are a small graph, joined by the facets at the particle. The one that lies furthest
//! along the direction is to be parted from the one furthest against it. A facet across the direction resists little, one
//! along it much, in proportion to the angle it takes up at the particle; one that is broken already not at all, so that a
//! tear goes on from where it ended. The least sum is a minimum cut (Ford & Fulkerson 1956).

use super::corners::Corners;
use super::facets::Facets;
use glam::DVec3;

/// What a facet exactly across the direction resists, as a part of what one along it does: a tear takes no detours.
const ACROSS: f64 = 0.05;
/// Elements must lie this far to both sides, as a part of their distance, or there is nothing to part.
const ASIDE: f64 = 0.1;

/// The elements around one particle.
#[derive(Clone, Copy)]
pub(super) struct Star<'a> {
    pub facets: &'a Facets,
    /// `None` while nothing is torn.
    pub corners: Option<&'a Corners>,
    /// Rest positions of the whole body.
    pub rest: &'a dyn Fn(u32) -> DVec3,
    /// The particle, and what it was of the whole body.
    pub particle: u32,
    pub vertex: u32,
}

impl<'a> Star<'a> {
    /// The elements that use the particle, ascending.
    pub fn elements(self) -> impl Iterator<Item = u32> + 'a {
        let all = self.facets.star(self.vertex as usize).iter().copied();
        all.filter(move |&e| self.uses(e as usize))
    }

    fn uses(&self, element: usize) -> bool {
        self.corners.is_none_or(|c| c.at(self.facets, element, self.vertex) == self.particle)
    }

    fn is_broken(&self, facet: usize) -> bool {
        self.corners.is_some_and(|c| c.is_broken(facet))
    }

    /// Facets at the particle that join elements using it, each once; broken ones too, which are joined by it alone.
    fn facets_here(self) -> impl Iterator<Item = usize> + 'a {
        let of = move |e: u32| {
            let corners =
                (0..self.facets.width()).filter(move |&c| self.facets.cell(e as usize)[c] != self.vertex);
            corners.filter_map(move |c| self.facets.opposite(e as usize, c)).filter(move |&f| {
                // Once: from the first element that uses the particle. Alone in it, it joins nothing here.
                let mut users = self.facets.joined(f).iter().filter(|e| self.uses(**e as usize));
                users.next() == Some(&e) && users.next().is_some()
            })
        };
        self.elements().flat_map(of)
    }

    /// Whether a tear ends here: elements on both sides of a broken facet that only this particle holds together.
    pub fn is_tip(self) -> bool {
        self.corners.is_some() && self.facets_here().any(|f| self.is_broken(f))
    }

    /// Where an element lies, as a part of its distance: from −1, against the direction, to 1.
    fn side(&self, element: u32, direction: DVec3) -> f64 {
        let cell = self.facets.cell(element as usize);
        let origin = (self.rest)(self.vertex);
        let offset = cell.iter().map(|&i| (self.rest)(i) - origin).sum::<DVec3>();
        offset.normalize_or_zero().dot(direction)
    }

    /// What a facet resists a tear across the direction with.
    fn resistance(&self, facet: usize, direction: DVec3) -> f64 {
        let origin = (self.rest)(self.vertex);
        let mut others = self.facets.particles(facet).iter().filter(|i| **i != self.vertex);
        let mut next =
            || others.next().map_or(DVec3::ZERO, |&i| ((self.rest)(i) - origin).normalize_or_zero());
        let a = next();
        if self.facets.width() == 3 {
            return ACROSS + a.dot(direction).powi(2);
        }
        let b = next();
        let off = 1.0 - a.cross(b).normalize_or_zero().dot(direction).powi(2);
        a.angle_between(b).max(1e-3) * (ACROSS + off.max(0.0))
    }

    /// The facets to break so that the elements come apart across a direction of the rest shape; `None` if they cannot.
    pub fn cut(self, direction: DVec3) -> Option<Vec<u32>> {
        let farthest = |sign: f64| {
            let of = |e: u32| (sign * self.side(e, direction), e);
            self.elements().map(of).reduce(|best, next| if next.0 > best.0 { next } else { best })
        };
        let (source, sink) = (farthest(1.0)?, farthest(-1.0)?);
        if source.0 <= ASIDE || sink.0 <= ASIDE || source.1 == sink.1 {
            return None;
        }
        let elements: Vec<u32> = self.elements().collect();
        let number = |e: u32| elements.binary_search(&e).unwrap_or(0);
        let mut flow = Flow { links: vec![Vec::new(); elements.len()] };
        let holding: Vec<usize> = self.facets_here().filter(|f| !self.is_broken(*f)).collect();
        for &f in &holding {
            let users: Vec<u32> =
                self.facets.joined(f).iter().copied().filter(|&e| self.uses(e as usize)).collect();
            for pair in users.windows(2) {
                flow.link(number(pair[0]), number(pair[1]), self.resistance(f, direction));
            }
        }
        let reached = flow.cut(number(source.1), number(sink.1));
        let parted = |f: &usize| {
            let mut sides = self.facets.joined(*f).iter().filter(|e| self.uses(**e as usize));
            let first = sides.next().is_some_and(|&e| reached[number(e)]);
            sides.any(|&e| reached[number(e)] != first)
        };
        let mut list: Vec<u32> = holding.iter().filter(|f| parted(f)).map(|f| *f as u32).collect();
        list.sort_unstable();
        (!list.is_empty()).then_some(list)
    }
}

/// Elements with what their neighbours still let through: (neighbour, capacity, place of the way back).
struct Flow {
    links: Vec<Vec<(usize, f64, usize)>>,
}

impl Flow {
    fn link(&mut self, a: usize, b: usize, capacity: f64) {
        let (at, back) = (self.links[a].len(), self.links[b].len());
        self.links[a].push((b, capacity, back));
        self.links[b].push((a, capacity, at));
    }

    /// What can still be reached from the source once as much flows to the sink as can.
    fn cut(&mut self, source: usize, sink: usize) -> Vec<bool> {
        loop {
            // The shortest way that lets something through.
            let mut from = vec![None; self.links.len()];
            let mut reached = vec![false; self.links.len()];
            reached[source] = true;
            let mut queue = std::collections::VecDeque::from([source]);
            while let Some(a) = queue.pop_front() {
                for (k, &(b, capacity, _)) in self.links[a].iter().enumerate() {
                    if capacity > 1e-12 && !reached[b] {
                        (reached[b], from[b]) = (true, Some((a, k)));
                        queue.push_back(b);
                    }
                }
            }
            if !reached[sink] {
                return reached;
            }
            let path = |flow: &Flow| {
                let (mut at, mut list, mut least) = (sink, Vec::new(), f64::INFINITY);
                while let Some((a, k)) = from[at] {
                    least = least.min(flow.links[a][k].1);
                    list.push((a, k));
                    at = a;
                }
                (list, least)
            };
            let (list, least) = path(self);
            for (a, k) in list {
                let (b, _, back) = self.links[a][k];
                self.links[a][k].1 -= least;
                self.links[b][back].1 += least;
            }
        }
    }
}
