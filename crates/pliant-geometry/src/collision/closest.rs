//! Closest points of two primitives: defined for every input, whatever has no area or no length.

use glam::DVec3;

/// Square of the sine of a triangle's angle below which it has no inside.
const NO_INSIDE: f64 = 1e-16;

/// A part of a way between 0 and 1; 0 where it is none, or where there is no way.
#[inline(always)]
fn part(above: f64, below: f64) -> f64 {
    let part = if below > 0.0 { above / below } else { 0.0 };
    // Two choices rather than `clamp`, so that lanes need no branch and a NaN becomes a number.
    let part = if part > 0.0 { part } else { 0.0 };
    if part < 1.0 { part } else { 1.0 }
}

/// Weights of the corners that make the point of a triangle nearest to `p`. They are not negative and add up to one, for
/// slivers and triangles without area too.
///
/// The best of the three edges and, where the point stands above it, of the inside. That is more than telling the region by signs,
/// but these say nothing of slivers, and here are no branches: eight triangles at a time take little more than one.
#[inline(always)]
pub fn vertex_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, bc, ca, ap, bp, cp) = (b - a, c - b, a - c, p - a, p - b, p - c);
    let (u, v, w) = (
        part(ap.dot(ab), ab.length_squared()),
        part(bp.dot(bc), bc.length_squared()),
        part(cp.dot(ca), ca.length_squared()),
    );
    let (du, dv, dw) =
        ((ap - u * ab).length_squared(), (bp - v * bc).length_squared(), (cp - w * ca).length_squared());
    let mut best = ([1.0 - u, u, 0.0], du);
    best = if dv < best.1 { ([0.0, 1.0 - v, v], dv) } else { best };
    best = if dw < best.1 { ([w, 0.0, 1.0 - w], dw) } else { best };
    let normal = bc.cross(ca);
    let whole = normal.length_squared();
    let (x, y) = (bc.cross(bp).dot(normal) / whole, ca.cross(cp).dot(normal) / whole);
    let z = 1.0 - x - y;
    let above = ap.dot(normal);
    let inside = (x >= 0.0)
        & (y >= 0.0)
        & (z >= 0.0)
        & (whole > NO_INSIDE * bc.length_squared() * ca.length_squared())
        & (above * above <= best.1 * whole);
    if inside { [x, y, z] } else { best.0 }
}

/// How far along two edges, from 0 to 1 each, their closest points are. Where several are equally close, as on parallel
/// edges, it is one of them.
#[inline(always)]
pub fn edge_edge([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> [f64; 2] {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let (uw, vw) = (u.dot(w), v.dot(w));
    // The nearest points of the lines, then back and forth between what is left of them: Ericson 2005, 5.1.9. The last
    // one is for nearly parallel edges, where the first is inaccurate.
    let s = part(uv * vw - vv * uw, uu * vv - uv * uv);
    let t = part(uv * s + vw, vv);
    let s = part(uv * t - uw, uu);
    [s, part(uv * s + vw, vv)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;
    use crate::triangle::weighted;

    /// The least distance that trying finds: of points on a grid, then on ever finer ones around the best.
    fn tried(distance: impl Fn(f64, f64) -> f64) -> f64 {
        let (mut s, mut t, mut step, mut best) = (0.5, 0.5, 0.5, f64::INFINITY);
        while step > 1e-9 {
            let middle = (s, t);
            for i in -8..=8 {
                for j in -8..=8 {
                    let (x, y) = (middle.0 + step * f64::from(i) / 8.0, middle.1 + step * f64::from(j) / 8.0);
                    let (x, y) = (f64::clamp(x, 0.0, 1.0), f64::clamp(y, 0.0, 1.0));
                    if distance(x, y) < best {
                        (s, t, best) = (x, y, distance(x, y));
                    }
                }
            }
            step *= 0.4;
        }
        best
    }

    /// Corners of all sorts: anywhere, on a line, in a place, nearly so.
    fn corners<const N: usize>(rng: &mut SplitMix64, kind: u32, scale: f64, far: f64) -> [DVec3; N] {
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5;
        let (origin, line) = (random(), random());
        let off = [1.0, 0.0, 1e-3, 1e-7, 1e-13, 0.0][kind as usize % 6];
        let along = if kind % 6 == 5 { 0.0 } else { 1.0 };
        std::array::from_fn(|_| {
            let p = match kind % 6 {
                0 => random(),
                _ => origin + along * (random().x * 2.0) * line + off * random(),
            };
            p * scale + DVec3::splat(far)
        })
    }

    #[test]
    fn nothing_on_a_triangle_is_nearer_however_thin_it_is() {
        let mut rng = SplitMix64::new(1);
        for case in 0..1200 {
            let (scale, far) = [(1.0, 0.0), (1e-5, 0.0), (1.0, 1e5), (1e20, 0.0)][case as usize % 4];
            let t: [DVec3; 3] = corners(&mut rng, case / 4, scale, far);
            let [p] = corners(&mut rng, 0, scale, far);
            let w = vertex_triangle(p, t);
            assert!(w.iter().all(|w| (0.0..=1.0).contains(w)) && (w.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let found = p.distance(weighted(t, w));
            let least = tried(|s, u| p.distance(weighted(t, [1.0 - s, s * (1.0 - u), s * u])));
            assert!(found <= least + 2e-8 * scale + 1e-10 * far.signum(), "{case}: {found:e} {least:e}");
        }
    }

    #[test]
    fn nothing_on_two_edges_is_nearer_parallel_or_points_or_whatever() {
        let mut rng = SplitMix64::new(2);
        for case in 0..2400 {
            let (scale, far) = [(1.0, 0.0), (1e-5, 0.0), (1.0, 1e5), (1e20, 0.0)][case as usize % 4];
            let [a, b]: [DVec3; 2] = corners(&mut rng, if case % 3 == 0 { 5 } else { 0 }, scale, far);
            let [mut c, mut d]: [DVec3; 2] = corners(&mut rng, if case % 5 == 0 { 5 } else { 0 }, scale, far);
            if case % 2 == 0 {
                d = c
                    + (b - a) * (rng.unit() - 0.5) * 2.0
                    + [0.0, 1e-12, 1e-7][case as usize / 4 % 3] * (d - c);
            }
            if case % 7 == 0 {
                c = a;
            }
            let [s, t] = edge_edge([a, b], [c, d]);
            assert!((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t));
            let apart = |s: f64, t: f64| (a + s * (b - a)).distance(c + t * (d - c));
            let least = tried(apart);
            let found = apart(s, t);
            assert!(found <= least + 2e-8 * scale + 1e-10 * far.signum(), "{case}: {found:e} {least:e}");
        }
    }

    #[test]
    fn what_is_no_number_gives_no_nan() {
        for v in [f64::NAN, f64::INFINITY, 1e300] {
            let p = [DVec3::new(v, 0.0, 1.0), DVec3::ONE, DVec3::X];
            assert!(edge_edge([p[0], p[1]], [p[2], p[1]]).iter().all(|s| s.is_finite()));
            assert!(vertex_triangle(DVec3::ONE, p).iter().all(|s| s.is_finite()), "{v}");
            assert!(
                vertex_triangle(p[0], [DVec3::X, DVec3::Y, DVec3::Z]).iter().all(|s| s.is_finite()),
                "{v}"
            );
        }
    }
}
