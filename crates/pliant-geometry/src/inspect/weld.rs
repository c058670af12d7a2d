//! Vertices that are in the same place, exactly or within a tolerance.

use crate::poly::PolyMesh;
use glam::DVec3;
use std::hash::{BuildHasher, RandomState};

/// For each vertex the first vertex that it is the same as; itself for most. Vertices that move must stay
/// together in every sample of the motion.
///
/// Vertices are gone through in order, each joined to the first one kept so far that is near enough. So those
/// kept are all further apart than the tolerance, and doing it again changes nothing.
pub(crate) fn same_places(mesh: &PolyMesh, tolerance: f64) -> Vec<u32> {
    let positions = &mesh.positions;
    let corner = positions.iter().fold(DVec3::INFINITY, |least, &p| least.min(p));
    let samples = mesh.animation.as_ref().map_or(&[][..], |m| &m.samples);
    let near = |i: usize, k: usize| {
        let close = |a: DVec3, b: DVec3| a == b || a.distance_squared(b) <= tolerance * tolerance;
        close(positions[i], positions[k]) && samples.iter().all(|s| close(s[i], s[k]))
    };
    let mut table = WeldTable::new(positions.len());
    // A cell of four tolerances holds a bounded number of kept vertices, and most vertices look into few cells.
    let cell = 4.0 * tolerance;
    let cell_of = |p: DVec3| ((p - corner) / cell).floor().to_array().map(|x| x as i64);
    let mut kept: Vec<u32> = Vec::with_capacity(positions.len());
    for (i, &p) in positions.iter().enumerate() {
        let mut found = u32::MAX;
        if tolerance > 0.0 {
            let [lo, hi] = [cell_of(p - tolerance), cell_of(p + tolerance)];
            for x in lo[0]..=hi[0] {
                for y in lo[1]..=hi[1] {
                    for z in lo[2]..=hi[2] {
                        found = found.min(table.first([x, y, z], |k| near(i, k)));
                    }
                }
            }
            if found == u32::MAX {
                table.insert(cell_of(p), i);
            }
        } else {
            // Adding zero makes one zero of both. Moving meshes are told apart by where they end, too.
            let last = samples.last().map_or(DVec3::ZERO, |s| s[i]);
            let key = [p, last].map(|q| (q + 0.0).to_array().map(f64::to_bits));
            found = table.first(key, |k| near(i, k));
            if found == u32::MAX {
                table.insert(key, i);
            }
        }
        kept.push(if found == u32::MAX { i as u32 } else { found });
    }
    kept
}

/// Kept vertices by cell, in chains. Cells that fall on one chain do no harm: distances are compared anyway, so
/// the random hash (which a file cannot aim at) leaves no trace in the result.
struct WeldTable {
    state: RandomState,
    heads: Vec<u32>,
    next: Vec<u32>,
}

impl WeldTable {
    fn new(len: usize) -> WeldTable {
        let slots = len.next_power_of_two();
        WeldTable { state: RandomState::new(), heads: vec![u32::MAX; slots], next: vec![u32::MAX; len] }
    }

    fn slot(&self, key: impl std::hash::Hash) -> usize {
        self.state.hash_one(key) as usize & (self.heads.len() - 1)
    }

    fn insert(&mut self, key: impl std::hash::Hash, i: usize) {
        let slot = self.slot(key);
        self.next[i] = self.heads[slot];
        self.heads[slot] = i as u32;
    }

    /// The smallest one on the key's chain that fits; `u32::MAX` if there is none.
    fn first(&self, key: impl std::hash::Hash, fits: impl Fn(usize) -> bool) -> u32 {
        let mut least = u32::MAX;
        let mut at = self.heads[self.slot(key)];
        while at != u32::MAX {
            if at < least && fits(at as usize) {
                least = at;
            }
            at = self.next[at as usize];
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SplitMix64, VertexAnimation};

    fn slow(positions: &[DVec3], tolerance: f64) -> Vec<u32> {
        let mut kept: Vec<u32> = Vec::new();
        for (i, p) in positions.iter().enumerate() {
            let near =
                |&k: &usize| kept[k] == k as u32 && p.distance_squared(positions[k]) <= tolerance * tolerance;
            let first = (0..i).find(near).unwrap_or(i);
            kept.push(first as u32);
        }
        kept
    }

    #[test]
    fn the_first_near_enough_one_is_kept_as_by_brute_force() {
        let mut rng = SplitMix64::new(5);
        for round in 0..40 {
            let steps = 2.0 + f64::from(round % 10);
            let mut number = || (rng.unit() * steps).floor() / steps + rng.unit() * 0.03;
            let positions: Vec<DVec3> = (0..300).map(|_| DVec3::new(number(), number(), number())).collect();
            let snapped: Vec<DVec3> = positions.iter().map(|p| (p * steps).round() / steps - 0.5).collect();
            for (positions, tolerance) in [(&positions, 0.02), (&positions, 0.3), (&snapped, 0.0)] {
                let mesh = PolyMesh { positions: positions.clone(), ..PolyMesh::default() };
                assert_eq!(same_places(&mesh, tolerance), slow(positions, tolerance));
            }
        }
    }

    #[test]
    fn vertices_that_part_later_are_not_the_same() {
        let apart = vec![DVec3::ZERO, DVec3::X, -DVec3::ZERO];
        let animation = VertexAnimation {
            times: vec![0.0, 1.0, 2.0],
            samples: vec![vec![DVec3::ZERO; 3], apart, vec![DVec3::ZERO; 3]],
        };
        let still = PolyMesh { positions: vec![DVec3::ZERO; 3], ..PolyMesh::default() };
        assert_eq!(same_places(&still, 0.0), [0, 0, 0]);
        let moving = PolyMesh { animation: Some(animation), ..still };
        assert_eq!(same_places(&moving, 0.0), [0, 1, 0]);
        assert_eq!(same_places(&moving, 0.1), [0, 1, 0]);
    }
}
