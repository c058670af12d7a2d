//! Self-intersections: pairs of triangles that have more in common than the vertices they share.

use super::Findings;
use super::exact::{collinear, triangles_meet};
use crate::box_tree::{Bounds, BoxTree, Pairs, around};
use crate::parallel::map_tasks;
use glam::DVec3;

/// Groups of triangles that one task goes through.
const TASK: usize = 64;
/// Work that is done at most, in comparisons of boxes: a few seconds.
const WORK: u64 = 4_000_000_000;
/// How many comparisons of boxes an exact comparison of triangles is worth.
const EXACT: u64 = 20;

/// Pairs of triangles that meet where they should not. Faces are named, not triangles; a face of more than three
/// corners may take part with several of its triangles.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Crossings {
    /// Pairs without a common vertex that cross or touch.
    pub apart: Findings<[u32; 2]>,
    /// Pairs with one or two common vertices (positions) that cross or overlap besides.
    pub adjacent: Findings<[u32; 2]>,
    /// Whether all pairs were looked at; otherwise there may be more than these.
    pub complete: bool,
}

impl Crossings {
    /// Among `triangles` of welded vertices, `faces` telling which face each is of. Triangles without area are
    /// left out, and so are pairs within a face and copies of one another.
    pub(crate) fn new(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        faces: &[u32],
        threads: usize,
    ) -> Crossings {
        Crossings::within(positions, triangles, faces, threads, WORK)
    }

    fn within(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        faces: &[u32],
        threads: usize,
        work: u64,
    ) -> Crossings {
        let at = |v: u32| positions[v as usize];
        let corners = |t: u32| triangles[t as usize].map(at);
        let with_area = |&t: &u32| {
            let [a, b, c] = corners(t);
            !collinear(a, b, c)
        };
        let kept: Vec<u32> = (0..triangles.len() as u32).filter(with_area).collect();
        let bounds = |i: u32| around(corners(kept[i as usize]));
        let tree = BoxTree::new(&(0..kept.len() as u32).map(bounds).collect::<Vec<Bounds>>());
        let mut fitted = Vec::new();
        tree.fit(bounds, &mut fitted);
        let pairs = Pairs::new(&tree, &fitted);
        let tasks = pairs.parts().div_ceil(TASK);
        let share = work / tasks.max(1) as u64;
        let parts = map_tasks(tasks, threads, |task| {
            let mut found = Crossings::default();
            let parts = TASK * task..pairs.parts().min(TASK * (task + 1));
            found.complete = pairs.find(parts, bounds, &mut { share }, |i, j| {
                found.compare(positions, triangles, faces, [i, j].map(|i| kept[i as usize]));
                EXACT
            });
            found
        });
        let mut all = Crossings { complete: true, ..Crossings::default() };
        for part in parts {
            all.apart.append(part.apart);
            all.adjacent.append(part.adjacent);
            all.complete &= part.complete;
        }
        all
    }

    fn compare(&mut self, positions: &[DVec3], triangles: &[[u32; 3]], faces: &[u32], pair: [u32; 2]) {
        let of = pair.map(|t| faces[t as usize]);
        let names = pair.map(|t| triangles[t as usize]);
        if of[0] != of[1] && triangles_meet(positions, names) {
            let shared = names[0].iter().any(|v| names[1].contains(v));
            let found = if shared { &mut self.adjacent } else { &mut self.apart };
            found.push([of[0].min(of[1]), of[0].max(of[1])]);
        }
    }

    /// Pairs of both kinds.
    pub fn count(&self) -> usize {
        self.apart.count + self.adjacent.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn soup(seed: u64, vertices: u64, count: usize, steps: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut rng = SplitMix64::new(seed);
        let positions =
            (0..vertices).map(|_| DVec3::from_array([0; 3].map(|_| (rng.unit() * steps).round())));
        let positions: Vec<DVec3> = positions.collect();
        let mut triangle = || [0; 3].map(|_| rng.below(vertices) as u32);
        let triangles = std::iter::repeat_with(&mut triangle)
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .take(count)
            .collect();
        (positions, triangles)
    }

    #[test]
    fn the_tree_finds_what_comparing_all_pairs_finds_for_any_threads() {
        for seed in 0..30 {
            let (positions, triangles) = soup(seed, 20 + 20 * seed, 150, 4.0 + 10.0 * seed as f64);
            let faces: Vec<u32> = (0..triangles.len() as u32).collect();
            let at = |v: u32| positions[v as usize];
            let flat: Vec<bool> = triangles
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(at);
                    collinear(a, b, c)
                })
                .collect();
            let mut slow = Crossings { complete: true, ..Crossings::default() };
            for t in 0..triangles.len() {
                for u in (0..t).filter(|&u| !flat[t] && !flat[u]) {
                    slow.compare(&positions, &triangles, &faces, [u as u32, t as u32]);
                }
            }
            let one = Crossings::new(&positions, &triangles, &faces, 1);
            assert_eq!((one.apart.count, one.adjacent.count), (slow.apart.count, slow.adjacent.count));
            assert!(one.complete && one.count() > 0);
            for threads in [2, 3, 8] {
                assert_eq!(one, Crossings::new(&positions, &triangles, &faces, threads));
            }
        }
    }

    #[test]
    fn too_much_work_is_stopped_and_said() {
        let (positions, triangles) = soup(1, 3000, 3000, 1e6);
        let faces: Vec<u32> = (0..3000).collect();
        let all = Crossings::new(&positions, &triangles, &faces, 2);
        let some = Crossings::within(&positions, &triangles, &faces, 1, 100_000);
        assert!(all.complete && !some.complete);
        assert!(some.count() > 0 && some.count() < all.count());
        assert_eq!(some, Crossings::within(&positions, &triangles, &faces, 3, 100_000));
    }
}
