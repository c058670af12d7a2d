//! Where a vertex stands: in a tetrahedron, or next to triangles, by weights of the corners that vary continuously.

use super::boxes::Boxes;
use crate::box_tree::around;
use crate::tetrahedron::barycentric;
use crate::triangle::{nearest_on_triangle, weighted};
use glam::DVec3;

/// Triangles up to this much farther than the nearest (relative) have a say. The nearest point alone jumps across
/// above a hollow; the nearest points of a few triangles, which fade out, do not.
const FADE: f64 = 0.25;
/// Most triangles that have a say.
const MOST: usize = 16;
/// How far outside a tetrahedron, in its own weights, still counts as inside: rounding at faces.
const EDGE: f64 = 1e-10;

/// Triangles to stand on.
pub(super) struct NearestTriangles<'a> {
    points: &'a [DVec3],
    triangles: Vec<[u32; 3]>,
    tree: Boxes,
}

impl<'a> NearestTriangles<'a> {
    pub fn new(points: &'a [DVec3], triangles: Vec<[u32; 3]>) -> NearestTriangles<'a> {
        let boxes: Vec<_> = triangles.iter().map(|t| around(t.map(|i| points[i as usize]))).collect();
        NearestTriangles { points, tree: Boxes::new(&boxes), triangles }
    }

    fn nearest_on(&self, t: u32, p: DVec3) -> ([f64; 3], f64) {
        let corners = self.triangles[t as usize].map(|i| self.points[i as usize]);
        let weights = nearest_on_triangle(corners, p);
        (weights, weighted(corners, weights).distance(p))
    }

    /// Corners and their weights, positive and in sum one; none without triangles. `out` is cleared first.
    pub fn anchor(&self, p: DVec3, out: &mut Vec<(u32, f64)>) {
        out.clear();
        let least = self.tree.least_distance(p, |t| self.nearest_on(t, p).1);
        let mut reach = (1.0 + FADE) * least;
        let mut near = Vec::new();
        if !reach.is_finite() {
            return;
        }
        self.tree.around(p, reach * (1.0 + 1e-9), |t| {
            let (weights, distance) = self.nearest_on(t, p);
            if distance <= reach {
                near.push((distance, t, weights));
            }
        });
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some(next) = near.get(MOST) {
            reach = next.0;
            near.truncate(MOST);
        }
        let mut total = 0.0;
        for &(distance, t, weights) in &near {
            let part = if reach > least { ((reach - distance) / (reach - least)).powi(2) } else { 1.0 };
            total += part;
            for (corner, weight) in self.triangles[t as usize].into_iter().zip(weights) {
                if part * weight > 0.0 {
                    crate::rows::add(out, corner, part * weight);
                }
            }
        }
        out.iter_mut().for_each(|e| e.1 /= total);
    }
}

/// Tetrahedra to be in.
pub(super) struct EnclosingTets<'a> {
    points: &'a [DVec3],
    tetrahedra: &'a [[u32; 4]],
    tree: Boxes,
}

impl<'a> EnclosingTets<'a> {
    pub fn new(points: &'a [DVec3], tetrahedra: &'a [[u32; 4]]) -> EnclosingTets<'a> {
        let boxes: Vec<_> = tetrahedra.iter().map(|t| around(t.map(|i| points[i as usize]))).collect();
        EnclosingTets { points, tetrahedra, tree: Boxes::new(&boxes) }
    }

    /// Corners and barycentric weights in the tetrahedron that holds `p` best, the first among equals; whether any
    /// does. `out` is cleared first.
    pub fn anchor(&self, p: DVec3, out: &mut Vec<(u32, f64)>) -> bool {
        out.clear();
        let mut best = (-EDGE, u32::MAX, [0.0; 4]);
        self.tree.around(p, 0.0, |t| {
            let corners = self.tetrahedra[t as usize].map(|i| self.points[i as usize]);
            let Some(weights) = barycentric(corners, p) else { return };
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if least > best.0 || (least == best.0 && t < best.1) {
                best = (least, t, weights);
            }
        });
        let Some(t) = self.tetrahedra.get(best.1 as usize) else { return false };
        out.extend(t.iter().copied().zip(best.2));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;

    #[test]
    fn the_nearest_triangle_found_is_the_nearest_of_all() {
        let mut rng = SplitMix64::new(9);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        let points: Vec<DVec3> = (0..300).map(|i| random() * 0.3 + f64::from(i / 30) * 0.2).collect();
        let triangles: Vec<[u32; 3]> = (0..100).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let ground = NearestTriangles::new(&points, triangles);
        let mut anchor = Vec::new();
        for _ in 0..200 {
            let p = random() * 3.0 - 0.5;
            let each = (0..100).map(|t| ground.nearest_on(t, p).1);
            let least = each.fold(f64::INFINITY, f64::min);
            assert_eq!(ground.tree.least_distance(p, |t| ground.nearest_on(t, p).1), least);
            ground.anchor(p, &mut anchor);
            assert!((anchor.iter().map(|e| e.1).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(anchor.iter().all(|e| e.1 > 0.0));
        }
    }

    #[test]
    fn a_point_is_in_the_tetrahedron_that_holds_it() {
        let mut rng = SplitMix64::new(5);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        let points: Vec<DVec3> = (0..400).map(|i| random() * 0.3 + f64::from(i / 40) * 0.2).collect();
        let tetrahedra: Vec<[u32; 4]> = (0..100).map(|t| [0, 1, 2, 3].map(|k| 4 * t + k)).collect();
        let inside = EnclosingTets::new(&points, &tetrahedra);
        let mut anchor = Vec::new();
        let mut hits = 0;
        for round in 0..2000 {
            let p = random() * 0.3 + f64::from(round % 10) * 0.2;
            let holds = |t: &[u32; 4]| {
                barycentric(t.map(|i| points[i as usize]), p).is_some_and(|w| w.iter().all(|w| *w >= 0.0))
            };
            let any = tetrahedra.iter().any(holds);
            assert_eq!(inside.anchor(p, &mut anchor), any);
            if any {
                hits += 1;
                let sum: DVec3 = anchor.iter().map(|&(i, w)| w * points[i as usize]).sum();
                assert!(sum.distance(p) < 1e-10);
            }
        }
        assert!(hits > 20);
    }
}
