//! Cuts a polygon into triangles: ear clipping along the axis it faces most, a fan where that has no meaning.
//!
//! Clipping an ear only ever takes from the inside. A corner that is no ear, because something of the outside
//! lies in its triangle, therefore stays none until one of its neighbours goes: every corner is looked at once and
//! again twice per clipped ear, and with a tree for what lies in a triangle the whole takes about n log n. Signs
//! are exact (Shewchuk 1997), and coordinates are those of the file with one left out, so that a polygon that
//! is simple along that axis is covered once, however thin its parts.

use crate::reflex_tree::{Point, ReflexTree};
use glam::DVec3;
use robust::{Coord, orient2d};

/// How often all corners are looked at again before a polygon counts as crossing itself.
const SECOND_LOOKS: usize = 8;
/// Corners looked at for the least bad one, in a polygon that crosses itself.
const SEARCHED: usize = 32;

/// Appends the triangles of `polygon` (indices into `positions`, in order around it) to `triangles`, as places
/// in the polygon. Triangles that would name a vertex twice are left out.
pub(crate) fn triangulate(polygon: &[u32], positions: &[DVec3], triangles: &mut Vec<[u32; 3]>) {
    let n = polygon.len();
    let different = |t: &[u32; 3]| {
        let [u, v, w] = t.map(|i| polygon[i as usize]);
        u != v && v != w && w != u
    };
    if n <= 3 {
        triangles.extend((n == 3).then_some([0, 1, 2]).filter(different));
        return;
    }
    if (0..n).any(|i| polygon[i] == polygon[(i + 1) % n]) {
        return without_repeats(polygon, positions, triangles);
    }
    let Some(flat) = flatten(polygon, positions) else {
        triangles.extend((2..n as u32).map(|k| [0, k - 1, k]).filter(different));
        return;
    };
    if let &[a, b, c, d] = flat.as_slice() {
        // Most polygons; a cut along either diagonal, the first if both will do.
        let turn = |a, b, c| orient2d(a, b, c) > 0.0;
        if turn(a, b, c) && turn(a, c, d) {
            return triangles.extend([[0, 1, 2], [0, 2, 3]].into_iter().filter(different));
        }
        if turn(b, c, d) && turn(b, d, a) {
            return triangles.extend([[1, 2, 3], [1, 3, 0]].into_iter().filter(different));
        }
    }
    Clipping::new(&flat).run(|t| triangles.extend(Some(t).filter(different)));
}

/// The same for a polygon that names vertices twice in a row.
fn without_repeats(polygon: &[u32], positions: &[DVec3], triangles: &mut Vec<[u32; 3]>) {
    let mut places: Vec<u32> = (0..polygon.len() as u32).collect();
    places.dedup_by_key(|i| polygon[*i as usize]);
    while places.len() > 1 && places.last().map(|&i| polygon[i as usize]) == Some(polygon[0]) {
        places.pop();
    }
    let fewer: Vec<u32> = places.iter().map(|&i| polygon[i as usize]).collect();
    let before = triangles.len();
    triangulate(&fewer, positions, triangles);
    triangles[before..].iter_mut().flatten().for_each(|i| *i = places[*i as usize]);
}

/// The polygon seen along the axis that its normal is nearest to, counter-clockwise; `None` if it faces nowhere.
fn flatten(polygon: &[u32], positions: &[DVec3]) -> Option<Vec<Point>> {
    let origin = positions[polygon[0] as usize];
    let arm = |i: u32| positions[i as usize] - origin;
    let extent = polygon.iter().map(|&i| arm(i).abs().max_element()).fold(0.0, f64::max);
    // A power of two, so that coordinates stay what they are.
    let scale = (-extent.log2().floor()).clamp(-1000.0, 1000.0).exp2();
    // Newell's normal: right for polygons that are not convex, and for bent ones.
    let next = polygon.iter().skip(1).chain(&polygon[..1]);
    let normal: DVec3 = polygon.iter().zip(next).map(|(&a, &b)| (arm(a) * scale).cross(arm(b) * scale)).sum();
    let size = normal.abs();
    if !(size.max_element() > 0.0 && normal.is_finite()) {
        return None;
    }
    let axis = if size.x > size.y && size.x > size.z { 0 } else { 1 + usize::from(size.z >= size.y) };
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let (u, v) = if normal[axis] > 0.0 { (u, v) } else { (v, u) };
    Some(polygon.iter().map(|&i| positions[i as usize] * scale).map(|p| Coord { x: p[u], y: p[v] }).collect())
}

/// Ear clipping in progress.
struct Clipping<'a> {
    points: &'a [Point],
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Corners to look at, the last first, and which of them are not looked at yet.
    open: Vec<u32>,
    unseen: Vec<bool>,
    reflex: ReflexTree,
    left: usize,
}

impl<'a> Clipping<'a> {
    fn new(points: &'a [Point]) -> Clipping<'a> {
        let n = points.len() as u32;
        let turn = |i: u32| {
            let [a, b, c] = [(i + n - 1) % n, i, (i + 1) % n].map(|i| points[i as usize]);
            orient2d(a, b, c)
        };
        let reflex = (0..n).filter(|&i| turn(i) <= 0.0).collect();
        Clipping {
            points,
            next: (0..n).map(|i| (i + 1) % n).collect(),
            previous: (0..n).map(|i| (i + n - 1) % n).collect(),
            // Starting at the second corner, a convex polygon becomes the fan everyone expects.
            open: std::iter::once(0).chain((1..n).rev()).collect(),
            unseen: vec![true; points.len()],
            reflex: ReflexTree::new(points, reflex),
            left: points.len(),
        }
    }

    fn run(mut self, mut emit: impl FnMut([u32; 3])) {
        let mut looks = 0;
        let mut clipped = false;
        let mut at = 0;
        while self.left > 3 {
            let ear = match self.open.pop() {
                Some(i) if !std::mem::take(&mut self.unseen[i as usize]) || !self.is_ear(i) => continue,
                Some(ear) => ear,
                None if clipped && looks < SECOND_LOOKS => {
                    (looks, clipped) = (looks + 1, false);
                    self.look_again(at);
                    continue;
                }
                None => self.least_bad(at),
            };
            let (a, c) = (self.previous[ear as usize], self.next[ear as usize]);
            emit([a, ear, c]);
            clipped = true;
            at = a;
            self.next[a as usize] = c;
            self.previous[c as usize] = a;
            self.left -= 1;
            self.unseen[ear as usize] = false;
            self.reflex.remove(ear);
            for i in [a, c] {
                if self.turn(i) > 0.0 {
                    self.reflex.remove(i);
                }
                self.unseen[i as usize] = true;
                self.open.push(i);
            }
        }
        let b = self.next[at as usize];
        emit([at, b, self.next[b as usize]]);
    }

    fn around(&self, i: u32) -> [Point; 3] {
        [self.previous[i as usize], i, self.next[i as usize]].map(|i| self.points[i as usize])
    }

    fn turn(&self, i: u32) -> f64 {
        let [a, b, c] = self.around(i);
        orient2d(a, b, c)
    }

    fn is_ear(&self, i: u32) -> bool {
        let [a, b, c] = self.around(i);
        if orient2d(a, b, c) <= 0.0 {
            return false;
        }
        let own = [self.previous[i as usize], i, self.next[i as usize]];
        !self.reflex.any_in(self.points, [a, b, c], |k| {
            let p = self.points[k as usize];
            // Holes are often cut in by a bridge walked twice, so corners may coincide with the ear's own; at its
            // tip they are in the way if they go on into it.
            let inward = |q: u32| {
                let q = self.points[q as usize];
                orient2d(a, b, q) > 0.0 && orient2d(b, c, q) > 0.0
            };
            !own.contains(&k)
                && p != a
                && p != c
                && (p != b || inward(self.previous[k as usize]) || inward(self.next[k as usize]))
        })
    }

    /// Opens all corners that are left.
    fn look_again(&mut self, at: u32) {
        let mut i = at;
        for _ in 0..self.left {
            self.unseen[i as usize] = true;
            self.open.push(i);
            i = self.previous[i as usize];
        }
    }

    /// A corner to clip where there is no ear: a straight one, then a convex one, then any.
    fn least_bad(&self, at: u32) -> u32 {
        let mut best = (0, at);
        let mut i = at;
        for _ in 0..self.left.min(SEARCHED) {
            let turn = self.turn(i);
            let worth = if turn == 0.0 { 2 } else { usize::from(turn > 0.0) };
            if worth > best.0 {
                best = (worth, i);
            }
            i = self.next[i as usize];
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;
    use proptest::prelude::*;

    /// Twice the area of the polygon and of its triangles, exactly; all corners used, one triangle less than two.
    fn cover(polygon: &[[i64; 2]], lift: impl Fn([f64; 2]) -> DVec3) -> Result<(), String> {
        let positions: Vec<DVec3> = polygon.iter().map(|p| lift(p.map(|x| x as f64))).collect();
        let indices: Vec<u32> = (0..polygon.len() as u32).collect();
        let mut triangles = Vec::new();
        triangulate(&indices, &positions, &mut triangles);
        let cross = |[a, b]: [i64; 2], [c, d]: [i64; 2]| {
            i128::from(a) * i128::from(d) - i128::from(b) * i128::from(c)
        };
        let around = polygon.iter().zip(polygon.iter().cycle().skip(1));
        let whole: i128 = around.map(|(&a, &b)| cross(a, b)).sum();
        let areas: Vec<i128> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| polygon[i as usize]);
                cross([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]])
            })
            .collect();
        let mut used = vec![false; polygon.len()];
        triangles.iter().flatten().for_each(|&i| used[i as usize] = true);
        match () {
            () if triangles.len() != polygon.len() - 2 => Err(format!("{} triangles", triangles.len())),
            () if used.contains(&false) => Err("a corner is not used".into()),
            () if areas.iter().sum::<i128>() != whole => {
                Err(format!("{} of {whole}", areas.iter().sum::<i128>()))
            }
            () if areas.iter().map(|a| a.abs()).sum::<i128>() != whole.abs() => Err("they overlap".into()),
            () => Ok(()),
        }
    }

    fn flat([x, y]: [f64; 2]) -> DVec3 {
        DVec3::new(x, y, 3.0)
    }

    fn star(n: usize, seed: u64) -> Vec<[i64; 2]> {
        let mut random = SplitMix64::new(seed);
        (0..n)
            .map(|k| {
                let (sin, cos) = (k as f64 / n as f64 * std::f64::consts::TAU).sin_cos();
                let r = 1e9 * (0.1 + 0.9 * random.unit());
                [(r * cos) as i64, (r * sin) as i64]
            })
            .collect()
    }

    /// A band between two turns of a spiral with right angles.
    fn spiral(turns: i64) -> Vec<[i64; 2]> {
        let arm = |k: i64, width: i64| {
            let r = 4 * (k / 4) + k % 4 + 1 - width;
            [[-r, -r], [r, -r], [r, r], [-r - 4, r]][(k % 4) as usize]
        };
        let out = (0..4 * turns).map(|k| arm(k, 0));
        out.chain((0..4 * turns).rev().map(|k| arm(k, 1))).collect()
    }

    fn comb(teeth: i64) -> Vec<[i64; 2]> {
        let mut corners = vec![[0, -1], [4 * teeth, -1]];
        for k in (0..teeth).rev() {
            corners.extend([[4 * k + 3, 1000 + k % 7], [4 * k + 1, 1000 - k % 5], [4 * k, 0]]);
        }
        corners
    }

    fn crossing(p: &[[i64; 2]]) -> bool {
        let n = p.len();
        let side = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
            (i128::from(b[0] - a[0]) * i128::from(c[1] - a[1])
                - i128::from(b[1] - a[1]) * i128::from(c[0] - a[0]))
            .signum()
        };
        let on = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
            side(a, b, c) == 0 && (0..2).all(|k| (a[k].min(b[k])..=a[k].max(b[k])).contains(&c[k]))
        };
        (0..n).any(|i| {
            let (a, b) = (p[i], p[(i + 1) % n]);
            (i + 1..n).any(|j| {
                let (c, d) = (p[j], p[(j + 1) % n]);
                if j == i + 1 || (j + 1) % n == i {
                    // Neighbours may not fold back.
                    let (q, r) = if j == i + 1 { (d, a) } else { (c, b) };
                    return on(a, b, q) && q != a && q != b
                        || on(c, d, r) && r != c && r != d
                        || a == b
                        || c == d;
                }
                on(a, b, c)
                    || on(a, b, d)
                    || on(c, d, a)
                    || on(c, d, b)
                    || side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
            })
        })
    }

    #[test]
    fn non_convex_polygons_are_covered_once() {
        let arrow = [[0, 0], [2, 2], [0, 1], [-2, 2]];
        assert_eq!(cover(&arrow, flat), Ok(()));
        for teeth in [1, 2, 9, 400, 30_000] {
            assert_eq!(cover(&comb(teeth), flat), Ok(()), "{teeth}");
        }
        for turns in [1, 2, 9, 2000] {
            let spiral = spiral(turns);
            assert!(turns > 9 || !crossing(&spiral));
            assert_eq!(cover(&spiral, flat), Ok(()), "{turns}");
        }
        assert_eq!(cover(&star(50_000, 7), flat), Ok(()));
    }

    #[test]
    fn a_hole_by_a_bridge_walked_twice_is_left_out() {
        let ring = [[0, 0], [9, 0], [9, 9], [0, 9], [0, 0], [3, 3], [3, 6], [6, 6], [6, 3], [3, 3]];
        assert_eq!(cover(&ring, flat), Ok(()));
        // The hole touches the outline in a corner.
        let touching = [[0, 0], [9, 0], [9, 9], [0, 9], [0, 0], [2, 4], [4, 4], [4, 2]];
        assert_eq!(cover(&touching, flat), Ok(()));
    }

    #[test]
    fn straight_and_thin_parts_do_no_harm() {
        let square: Vec<[i64; 2]> =
            (0..40).map(|k| [[k, 0], [10, k - 10], [30 - k, 10], [0, 40 - k]][k as usize / 10]).collect();
        assert_eq!(cover(&square, flat), Ok(()));
        let thin = [[0, 0], [1 << 40, 1], [1 << 41, 3], [1 << 40, 2]];
        assert_eq!(cover(&thin, flat), Ok(()));
        // Seen from every side, tiny and far away.
        for scale in [1e-200, 1e-9, 1.0, 1e60] {
            for turn in 0..6 {
                let lift = |[x, y]: [f64; 2]| {
                    let mut p = [x * scale, y * scale, 0.0];
                    p.rotate_right(turn % 3);
                    if turn > 2 {
                        p.reverse();
                    }
                    DVec3::from_array(p)
                };
                assert_eq!(cover(&comb(9), lift), Ok(()), "{scale} {turn}");
            }
        }
    }

    #[test]
    fn convex_polygons_become_a_fan() {
        let square = [(0., 0.), (1., 0.), (1., 1.), (0., 1.)].map(|(x, y)| DVec3::new(x, y, 0.0));
        let mut triangles = Vec::new();
        triangulate(&[0, 1, 2, 3], &square, &mut triangles);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]]);
        triangles.clear();
        let hexagon: Vec<DVec3> =
            (0..6).map(|k| DVec3::new(f64::from(k).cos(), 0.0, -f64::from(k).sin())).collect();
        triangulate(&[0, 1, 2, 3, 4, 5], &hexagon, &mut triangles);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]);
    }

    #[test]
    fn a_polygon_without_area_becomes_a_fan() {
        let mut triangles = Vec::new();
        triangulate(&[0, 1, 2, 3], &[DVec3::ONE; 4], &mut triangles);
        assert_eq!(triangles.len(), 2);
    }

    #[test]
    fn polygons_that_cross_themselves_a_great_deal_come_to_an_end() {
        let mut random = SplitMix64::new(3);
        let n = 50_000;
        let positions: Vec<DVec3> =
            (0..n).map(|_| DVec3::new(random.unit(), random.unit(), random.unit())).collect();
        let mut triangles = Vec::new();
        triangulate(&(0..n).collect::<Vec<u32>>(), &positions, &mut triangles);
        assert_eq!(triangles.len(), n as usize - 2);
    }

    /// Corners on a small grid: many simple ones among them have straight and nearly touching parts.
    #[test]
    fn small_polygons_are_covered_once() {
        let mut random = SplitMix64::new(11);
        let mut simple = 0;
        for _ in 0..40_000 {
            let n = 4 + random.below(7);
            let corners: Vec<[i64; 2]> =
                (0..n).map(|_| [0; 2].map(|_: i64| random.below(6) as i64)).collect();
            if !crossing(&corners) {
                simple += 1;
                assert_eq!(cover(&corners, flat), Ok(()), "{corners:?}");
            }
        }
        assert!(simple > 1000, "{simple}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn simple_polygons_are_covered_once(n in 3_usize..60, seed in any::<u64>(), tilt in 0_usize..3) {
            let star = star(n, seed);
            prop_assume!(!crossing(&star));
            let planes: [fn([f64; 2]) -> DVec3; 3] = [|p| DVec3::new(p[0], p[1], 0.0), |p| DVec3::new(0.0, p[0], p[1]),
                |p| DVec3::new(p[0], p[1], p[0] + 2.0 * p[1])];
            prop_assert_eq!(cover(&star, planes[tilt]), Ok(()));
        }

        #[test]
        fn anything_comes_to_an_end(
            corners in proptest::collection::vec((0_u32..12, -2_i32..3), 0..40),
            points in proptest::collection::vec(prop_oneof![Just(0.0), -1.0..1.0, Just(1e300), Just(f64::MIN_POSITIVE)], 36),
        ) {
            let positions: Vec<DVec3> = points.chunks(3).map(DVec3::from_slice).collect();
            let polygon: Vec<u32> = corners.iter().map(|c| c.0).collect();
            let mut triangles = Vec::new();
            triangulate(&polygon, &positions, &mut triangles);
            prop_assert!(triangles.iter().flatten().all(|&i| (i as usize) < polygon.len()));
            prop_assert!(triangles.len() <= polygon.len());
        }
    }
}
