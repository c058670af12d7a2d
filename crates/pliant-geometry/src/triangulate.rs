//! Cuts a polygon into triangles: ear clipping in its best-fit plane, a fan where that has no meaning.

use glam::{DVec2, DVec3};

/// Polygons with more corners become a fan: ear clipping grows with the cube of the corners at worst.
const MAX_CLIPPED: usize = 1024;

/// Appends the triangles of `polygon` (indices into `positions`, in order around it) to `triangles`, as places
/// in the polygon. Triangles that would name a vertex twice are left out.
pub(crate) fn triangulate(polygon: &[u32], positions: &[DVec3], triangles: &mut Vec<[u32; 3]>) {
    let mut emit = |a: usize, b: usize, c: usize| {
        let [u, v, w] = [a, b, c].map(|i| polygon[i]);
        if u != v && v != w && w != u {
            triangles.push([a, b, c].map(|i| i as u32));
        }
    };
    if polygon.len() == 3 {
        return emit(0, 1, 2);
    }
    let corner = |i: u32| positions[i as usize];
    // Newell's normal: right for non-convex and slightly bent polygons.
    let origin = polygon.first().map_or(DVec3::ZERO, |&i| corner(i));
    let normal: DVec3 = (0..polygon.len())
        .map(|i| {
            let (a, b) = (corner(polygon[i]) - origin, corner(polygon[(i + 1) % polygon.len()]) - origin);
            a.cross(b)
        })
        .sum();
    let Some(normal) = normal.try_normalize().filter(|_| (4..=MAX_CLIPPED).contains(&polygon.len())) else {
        for k in 2..polygon.len() {
            emit(0, k - 1, k);
        }
        return;
    };
    let (u, v) = normal.any_orthonormal_pair();
    let flat: Vec<DVec2> = polygon
        .iter()
        .map(|&i| {
            let p = corner(i) - origin;
            DVec2::new(p.dot(u), p.dot(v))
        })
        .collect();
    let mut left: Vec<usize> = (0..polygon.len()).collect();
    while left.len() > 3 {
        let n = left.len();
        let around = |k: usize| [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
        let turn = |k: usize| {
            let [a, b, c] = around(k).map(|i| flat[i]);
            (b - a).perp_dot(c - b)
        };
        // Starting at the second corner, a convex polygon becomes the fan everyone expects.
        let order = || (0..n).map(|k| (k + 1) % n);
        let ear = order().find(|&k| turn(k) > 0.0 && is_ear(&flat, &left, around(k)));
        // A polygon that crosses itself may have none: take any convex corner, then any corner.
        let ear = ear.or_else(|| order().find(|&k| turn(k) > 0.0)).unwrap_or(1);
        let [a, b, c] = around(ear);
        emit(a, b, c);
        left.remove(ear);
    }
    emit(left[0], left[1], left[2]);
}

fn is_ear(flat: &[DVec2], left: &[usize], [a, b, c]: [usize; 3]) -> bool {
    let (pa, pb, pc) = (flat[a], flat[b], flat[c]);
    !left.iter().any(|&i| {
        let p = flat[i];
        // Holes are often cut in by a bridge walked twice, so corners may coincide with the ear's own.
        if i == a || i == b || i == c || p == pa || p == pb || p == pc {
            return false;
        }
        (pb - pa).perp_dot(p - pa) >= 0.0
            && (pc - pb).perp_dot(p - pb) >= 0.0
            && (pa - pc).perp_dot(p - pc) >= 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(polygon: &[DVec3]) -> (f64, f64) {
        let indices: Vec<u32> = (0..polygon.len() as u32).collect();
        let mut triangles = Vec::new();
        triangulate(&indices, polygon, &mut triangles);
        assert_eq!(triangles.len(), polygon.len() - 2);
        let signed: Vec<f64> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| polygon[i as usize]);
                (b - a).cross(c - a).z / 2.0
            })
            .collect();
        (signed.iter().sum(), signed.iter().map(|s| s.abs()).sum())
    }

    #[test]
    fn non_convex_polygons_are_covered_once() {
        let arrow = [(0.0, 0.0), (2.0, 2.0), (0.0, 1.0), (-2.0, 2.0)].map(|(x, y)| DVec3::new(x, y, 3.0));
        assert_eq!(area(&arrow), (2.0, 2.0));
        let comb = [
            (0., 0.),
            (5., 0.),
            (5., 3.),
            (4., 3.),
            (4., 1.),
            (3., 1.),
            (3., 3.),
            (2., 3.),
            (2., 1.),
            (0., 1.),
        ]
        .map(|(x, y)| DVec3::new(x, y, 0.0));
        let (signed, absolute) = area(&comb);
        assert_eq!(signed, 9.0);
        assert_eq!(absolute, 9.0);
    }

    #[test]
    fn convex_polygons_become_a_fan() {
        let square = [(0., 0.), (1., 0.), (1., 1.), (0., 1.)].map(|(x, y)| DVec3::new(x, y, 0.0));
        let mut triangles = Vec::new();
        triangulate(&[0, 1, 2, 3], &square, &mut triangles);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_polygon_without_area_becomes_a_fan() {
        let mut triangles = Vec::new();
        triangulate(&[0, 1, 2, 3], &[DVec3::ONE; 4], &mut triangles);
        assert_eq!(triangles.len(), 2);
    }
}
