//! Projections of eight: allowed, nearest, the same again and in any frame, for every matrix.

use super::projections::{limit_fibre, limit_strain, limit_volume, rotation};
use super::projections32::{M32, limit_area32, limit_fibre32, limit_strain32, rotation32};
use super::svd_tests::{Pack, matrices, pack, stored, unpack};
use super::tests::{of_each_kind, widest};
use super::*;
use crate::SplitMix64;
use crate::projections as plain;
use crate::rotation::tests::{random, random_matrix, random_rotation};
use glam::{DMat3, DVec2, DVec3};
use std::array::from_fn;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ask {
    Rotation,
    Strain,
    Volume,
    Fibre,
    Rotation32,
    Strain32,
    Area32,
    Fibre32,
}
use Ask::*;

const ALL: [Ask; 8] = [Rotation, Strain, Volume, Fibre, Rotation32, Strain32, Area32, Fibre32];
const D: DVec3 = DVec3::new(0.48, 0.6, -0.64);
const D2: DVec2 = DVec2::new(0.6, -0.8);

/// Two packs together (where it can be) and the second alone.
struct Project<'a>(Ask, [&'a Pack; 2], [f64; 2]);

impl Kernel for Project<'_> {
    type Output = [Pack; 3];
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> [Pack; 3] {
        let f = self.1.map(|a| a.map(|column| column.map(|e| l.load(&e))));
        let [min, max] = self.2.map(|b| l.splat(b));
        let one = [f[1]];
        let d = D.to_array().map(|e| l.splat(e));
        let d2 = D2.to_array().map(|e| l.splat(e));
        let with_rest = |m: M32<L>| [m[0], m[1], [l.splat(0.0); 3]];
        let flat = |m: &M3<L>| -> M3<L> {
            let m = [m[0], m[1]];
            with_rest(match self.0 {
                Rotation32 => rotation32(l, &m),
                Strain32 => limit_strain32(l, &m, min, max),
                Area32 => limit_area32(l, &m, min, max),
                _ => limit_fibre32(l, &m, d2, min, max),
            })
        };
        let ([a, b], [c]) = match self.0 {
            Rotation => (rotation(l, &f), rotation(l, &one)),
            Strain => (limit_strain(l, &f, &[min; 2], &[max; 2]), limit_strain(l, &one, &[min], &[max])),
            Volume => (limit_volume(l, &f, &[min; 2], &[max; 2]), limit_volume(l, &one, &[min], &[max])),
            Fibre => {
                let fibre = |m: &M3<L>| limit_fibre(l, m, d, min, max);
                ([fibre(&f[0]), fibre(&f[1])], [fibre(&f[1])])
            }
            _ => ([flat(&f[0]), flat(&f[1])], [flat(&f[1])]),
        };
        [a, b, c].map(|m| m.map(|column| column.map(|e| stored(l, e))))
    }
}

fn project(isa: Isa, ask: Ask, f: &[DMat3; 16], bounds: [f64; 2]) -> [DMat3; 16] {
    let packs = [pack(from_fn(|k| f[k])), pack(from_fn(|k| f[k + 8]))];
    let [a, b, alone] = isa.run(Project(ask, [&packs[0], &packs[1]], bounds));
    let (a, b, alone) = (unpack(&a), unpack(&b), unpack(&alone));
    for k in 0..8 {
        assert_eq!(bits(b[k]), bits(alone[k]), "{ask:?} {}", f[k + 8]);
    }
    from_fn(|k| if k < 8 { a[k] } else { b[k - 8] })
}

fn bits(m: DMat3) -> [u64; 9] {
    m.to_cols_array().map(f64::to_bits)
}

fn scalar(ask: Ask, f: DMat3, [min, max]: [f64; 2]) -> DMat3 {
    let flat = [f.x_axis, f.y_axis];
    let with_rest = |[x, y]: [DVec3; 2]| DMat3::from_cols(x, y, DVec3::ZERO);
    match ask {
        Rotation => plain::rotation(f),
        Strain => plain::limit_strain(f, min, max),
        Volume => plain::limit_volume(f, min, max),
        Fibre => plain::limit_fibre(f, D, min, max),
        Rotation32 => with_rest(plain::rotation32(flat)),
        Strain32 => with_rest(plain::limit_strain32(flat, min, max)),
        Area32 => with_rest(plain::limit_area32(flat, min, max)),
        Fibre32 => with_rest(plain::limit_fibre32(flat, D2, min, max)),
    }
}

fn is_flat(ask: Ask) -> bool {
    matches!(ask, Rotation32 | Strain32 | Area32 | Fibre32)
}

/// Of what is asked about: the third column is none of a triangle's.
fn distance(ask: Ask, a: DMat3, b: DMat3) -> f64 {
    let d = a - b;
    let z = if is_flat(ask) { DVec3::ZERO } else { d.z_axis };
    (d.x_axis.length_squared() + d.y_axis.length_squared() + z.length_squared()).sqrt()
}

/// How far a projection is from being allowed.
fn violation(ask: Ask, t: DMat3, [min, max]: [f64; 2]) -> f64 {
    let outside = |v: f64| (min - v).max(v - max).max(0.0);
    let s =
        plain::signed_svd(if is_flat(ask) { DMat3::from_cols(t.x_axis, t.y_axis, DVec3::ZERO) } else { t });
    let s = s.sigma;
    match ask {
        Rotation => (s - DVec3::ONE).abs().max_element(),
        Strain => outside(s.x).max(outside(s.y)).max(outside(s.z)),
        Volume => outside(t.determinant()) / (1.0 + s.x * s.y * s.z.abs() + 1e-3 * s.x * s.y),
        Fibre => outside((t * D).length()),
        Rotation32 => (s.x - 1.0).abs().max((s.y - 1.0).abs()),
        Strain32 => outside(s.x).max(outside(s.y)),
        Area32 => outside(s.x * s.y) / (1.0 + 1e-3 * s.x * s.x),
        Fibre32 => outside((t.x_axis * D2.x + t.y_axis * D2.y).length()),
    }
}

const BOUNDS: [[f64; 2]; 7] =
    [[0.9, 1.1], [1.0, 1.0], [0.0, 0.5], [0.5, 2.0], [0.0, 0.0], [1e-3, 2e-3], [20.0, 30.0]];

/// Those of a size that bounds near one are meant for: general, reflected, flat, collapsed.
fn deformations(count: usize) -> Vec<DMat3> {
    let mut rng = SplitMix64::new(41);
    let mut list: Vec<DMat3> = matrices();
    list.retain(|a| {
        let size = a.to_cols_array().iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        size == 0.0 || size > 1e-4 && size < 1e4
    });
    list.truncate(count / 4);
    while list.len() < count || !list.len().is_multiple_of(16) {
        let (u, v) = (random_rotation(&mut rng), random_rotation(&mut rng));
        let mut r = || 3f64.powf(2.0 * random(&mut rng));
        let d = DVec3::new(r(), r(), r());
        let sign = if random(&mut rng) < 0.0 { -1.0 } else { 1.0 };
        list.push(u * DMat3::from_diagonal(d * DVec3::new(sign, 1.0, 1.0)) * v);
    }
    list
}

#[test]
fn projections_are_allowed_and_as_near_as_the_scalar_ones() {
    for ask in ALL {
        for bounds in BOUNDS {
            for sixteen in deformations(3000).as_chunks::<16>().0 {
                let found = |isa| sixteen.iter().zip(project(isa, ask, sixteen, bounds));
                for (f, t) in of_each_kind().flat_map(found) {
                    let size = 1.0 + distance(ask, *f, DMat3::ZERO);
                    let wrong = violation(ask, t, bounds);
                    assert!(wrong < 1e-13 * size, "{ask:?} {bounds:?} {f}: {t} {wrong:e}");
                    let s = scalar(ask, *f, bounds);
                    assert!(violation(ask, s, bounds) < 1e-13 * size, "scalar {ask:?} {bounds:?} {f}: {s}");
                    let (near, near_scalar) = (distance(ask, *f, t), distance(ask, *f, s));
                    let gap = (near - near_scalar).abs();
                    // On the edge of what is allowed, rounding decides whether there is anything to do.
                    let edge = violation(ask, *f, bounds) < 1e-14;
                    assert!(edge || gap < 1e-11 * size, "{ask:?} {bounds:?} {f}: {near} {near_scalar}");
                }
            }
        }
    }
}

#[test]
fn no_allowed_matrix_is_nearer() {
    let mut rng = SplitMix64::new(77);
    for ask in ALL {
        for bounds in BOUNDS {
            for sixteen in deformations(160).as_chunks::<16>().0 {
                let t = project(Isa::best(), ask, sixteen, bounds);
                for _ in 0..60 {
                    // Projections of anything are allowed; those of what is near are not far.
                    let sizes: [f64; 16] = from_fn(|_| 10f64.powf(-4.0 * random(&mut rng).abs()));
                    let others = from_fn(|k| t[k] + random_matrix(&mut rng) * sizes[k]);
                    let others = project(Isa::best(), ask, &others, bounds);
                    for k in 0..16 {
                        let (best, other) =
                            (distance(ask, sixteen[k], t[k]), distance(ask, sixteen[k], others[k]));
                        assert!(
                            best <= other + 1e-12 * (1.0 + other),
                            "{ask:?} {bounds:?} {}: {best} {other} {} {}",
                            sixteen[k],
                            t[k],
                            others[k]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn projecting_again_changes_nothing_and_frames_do_not_matter() {
    let mut rng = SplitMix64::new(78);
    for ask in ALL {
        for bounds in BOUNDS {
            for sixteen in deformations(1600).as_chunks::<16>().0 {
                let t = project(Isa::best(), ask, sixteen, bounds);
                let again = project(Isa::best(), ask, &t, bounds);
                let q = random_rotation(&mut rng);
                let turned = project(Isa::best(), ask, &sixteen.map(|f| q * f), bounds);
                for k in 0..16 {
                    let size = 1.0 + distance(ask, t[k], DMat3::ZERO);
                    let moved = distance(ask, t[k], again[k]);
                    assert!(moved < 1e-12 * size, "{ask:?} {bounds:?} {}: {moved:e}", sixteen[k]);
                    let f = sixteen[k];
                    let (s, gap, product) = if is_flat(ask) {
                        let s = plain::signed_svd(DMat3::from_cols(f.x_axis, f.y_axis, DVec3::ZERO)).sigma;
                        (s, s.y, s.x * s.y)
                    } else {
                        let s = plain::signed_svd(f).sigma;
                        (s, s.y + s.z, s.x * s.y * s.z)
                    };
                    // Where two are equally near, either may be taken: collapsed ones, and those that have to
                    // lose so much that only one direction does.
                    let shrinks = matches!(ask, Volume | Area32) && product > 2.0 * bounds[1];
                    let clear = gap > 1e-3 * s.x && (f * D).length() > 1e-3 && !shrinks;
                    let error = distance(ask, q * t[k], turned[k]);
                    assert!(!clear || error < 1e-10 * size, "{ask:?} {bounds:?} {f}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn projections_are_finite_and_have_the_same_bits_everywhere() {
    let mut list = matrices();
    list.retain(|a| a.to_cols_array().iter().all(|e| e.abs() < 1e151));
    for (n, sixteen) in list.as_chunks::<16>().0.iter().enumerate() {
        for ask in ALL {
            let bounds = BOUNDS[n % BOUNDS.len()];
            let expected = project(Isa::best(), ask, sixteen, bounds);
            for (f, t) in sixteen.iter().zip(&expected) {
                assert!(t.is_finite(), "{ask:?} {bounds:?} {f}: {t}");
            }
            for isa in Isa::available() {
                let expected = project(widest(isa.bits()), ask, sixteen, bounds);
                let found = project(isa, ask, sixteen, bounds);
                assert!(found.iter().all(|t| t.is_finite()), "{ask:?} {} {bounds:?}", isa.name());
                assert!(expected.map(bits) == found.map(bits), "{ask:?} {} {sixteen:?}", isa.name());
            }
            let mut company: [DMat3; 16] = from_fn(|k| list[(n * 37 + k * 131) % list.len()]);
            company[n % 16] = sixteen[3];
            let found = project(Isa::best(), ask, &company, bounds)[n % 16];
            assert_eq!(bits(found), bits(expected[3]), "{ask:?} {}", sixteen[3]);
        }
    }
}

/// Volumes by brute force over the singular values: a fine grid of the first two, the third from the
/// product.
#[test]
fn volumes_are_nearest_by_brute_force() {
    let mut rng = SplitMix64::new(5);
    for round in 0..400 {
        let mut r = || 3f64.powf(2.0 * random(&mut rng));
        let mut s = [r(), r(), r()];
        s.sort_by(|a, b| b.total_cmp(a));
        match round % 5 {
            0 => s[2] = -s[2],
            1 => s[2] = 0.0,
            2 => s = [s[0], s[0] * 0.999, s[0] * 0.99],
            _ => (),
        }
        let f = DMat3::from_diagonal(DVec3::from_array(s));
        let tau = [1.0, 0.1, 3.0][round % 3];
        let t = project(Isa::best(), Volume, &[f; 16], [tau, tau])[0];
        let found = distance(Volume, f, t);
        let cost = |x: f64, y: f64| {
            let z = tau / (x * y);
            ((x - s[0]).powi(2) + (y - s[1]).powi(2) + (z - s[2]).powi(2)).sqrt()
        };
        // Grids ever finer about the best so far, from several of the coarsest.
        let coarse: Vec<f64> = (0..120).map(|k| 1e-3 * 10f64.powf(f64::from(k) * 4.3 / 119.0)).collect();
        let mut starts: Vec<(f64, f64, f64)> = coarse
            .iter()
            .flat_map(|&x| coarse.iter().map(move |&y| (x, y)))
            .map(|(x, y)| (cost(x, y), x, y))
            .collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = f64::INFINITY;
        for &(start, x, y) in starts.iter().take(12) {
            let mut at = (start, x, y);
            let mut factor: f64 = 1.1;
            while factor > 1.0 + 1e-9 {
                let before = at.0;
                for (i, j) in (-2..=2).flat_map(|i| (-2..=2).map(move |j| (i, j))) {
                    let (x, y) = (at.1 * factor.powi(i), at.2 * factor.powi(j));
                    if cost(x, y) < at.0 {
                        at = (cost(x, y), x, y);
                    }
                }
                if at.0 == before {
                    factor = factor.powf(0.7);
                }
            }
            best = best.min(at.0);
        }
        assert!(found <= best + 1e-9, "{s:?} {tau}: {found} {best}");
        assert!(found >= best - 1e-6, "{s:?} {tau}: {found} {best}: brute force missed it");
    }
}
