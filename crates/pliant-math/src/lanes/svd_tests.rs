//! Decompositions of eight against their definition and the scalar code.

use super::tests::{of_each_kind, widest};
use super::*;
use crate::SplitMix64;
use crate::rotation::tests::{random, random_matrices, random_matrix, random_rotation};
use crate::{Svd3, svd3};
use glam::{DMat3, DVec3};
use std::array::from_fn;

pub(super) type Pack = [[[f64; 8]; 3]; 3];

pub(super) fn pack(matrices: [DMat3; 8]) -> Pack {
    from_fn(|column| from_fn(|row| from_fn(|lane| matrices[lane].col(column)[row])))
}

pub(super) fn unpack(packed: &Pack) -> [DMat3; 8] {
    from_fn(|lane| DMat3::from_cols_array(&from_fn(|k| packed[k / 3][k % 3][lane])))
}

pub(super) fn stored<L: Lanes>(l: L, v: L::F) -> [f64; 8] {
    let mut to = [0.0; 8];
    l.store(v, &mut to);
    to
}

struct Both<'a>([&'a Pack; 2]);

impl Kernel for Both<'_> {
    type Output = [(Pack, [[f64; 8]; 3], Pack); 3];
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let a = self.0.map(|a| a.map(|column| column.map(|e| l.load(&e))));
        let [first, second] = svds(l, &a);
        let save = |m: M3<L>| m.map(|column| column.map(|e| stored(l, e)));
        [first, second, svds(l, &[a[1]])[0]].map(|s| (save(s.u), s.sigma.map(|e| stored(l, e)), save(s.v)))
    }
}

/// The decompositions of sixteen, as two interleaved packs; the second is also made alone, with the same
/// bits.
fn decompose(isa: Isa, matrices: &[DMat3; 16]) -> [Svd3; 16] {
    let packs = [pack(from_fn(|k| matrices[k])), pack(from_fn(|k| matrices[k + 8]))];
    let [first, second, alone] = isa.run(Both([&packs[0], &packs[1]]));
    assert_eq!(format!("{second:?}"), format!("{alone:?}"));
    let svd = |(u, sigma, v): &(Pack, [[f64; 8]; 3], Pack), lane: usize| Svd3 {
        u: unpack(u)[lane],
        sigma: DVec3::from_array(from_fn(|k| sigma[k][lane])),
        v: unpack(v)[lane],
    };
    from_fn(|k| if k < 8 { svd(&first, k) } else { svd(&second, k - 8) })
}

/// Every way to be special, in all directions and sizes.
pub(super) fn matrices() -> Vec<DMat3> {
    let mut rng = SplitMix64::new(31);
    let mut list = random_matrices();
    for axis in 0..9 {
        // Axis-aligned, where entries are exactly zero, and a lone entry.
        list.push(DMat3::from_cols_array(&from_fn(|k| if k == axis { -2.0 } else { 0.0 })));
        list.push(DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0)) * DMat3::from_cols_array(&[1.0; 9]));
    }
    for k in 0..6000 {
        let (u, v) = (random_rotation(&mut rng), random_rotation(&mut rng));
        let mut tiny = || 10f64.powf(-17.0 * random(&mut rng).abs());
        let (a, b) = (tiny(), tiny());
        let d = match k % 12 {
            0 => DVec3::new(1.0, a, b),
            1 => DVec3::new(1.0, a, -a),
            2 => DVec3::new(1.0, 1.0 + a, 1.0 - b),
            3 => DVec3::new(1.0, 1.0 + a, -b),
            4 => DVec3::new(1.0, a, a * b),
            5 => DVec3::new(1.0, a, a * (1.0 + b)),
            6 => DVec3::new(1.0, 0.0, 0.0),
            7 => DVec3::new(1.0, 1.0, 0.0),
            8 => DVec3::new(-1.0, -1.0, -1.0),
            9 => DVec3::new(1.0, 1e-9, 1e-9),
            10 => DVec3::new(1.0 + a, 0.5, 0.5 - b),
            _ => DVec3::new(1.0, 0.7, -0.4),
        };
        let size = 10f64.powi([0, 0, -200, 150, -3][k % 5]);
        let turned = if k % 7 == 0 { DMat3::from_diagonal(d) } else { u * DMat3::from_diagonal(d) * v };
        list.push(turned * size);
    }
    list.extend([DMat3::IDENTITY * 1e-310, DMat3::from_cols_array(&[5e-324; 9]), DMat3::IDENTITY * 1e308]);
    while !list.len().is_multiple_of(16) {
        list.push(random_matrix(&mut rng));
    }
    list
}

fn bits(s: &Svd3) -> [u64; 21] {
    let (u, v) = (s.u.to_cols_array(), s.v.to_cols_array());
    from_fn(|k| {
        if k < 9 {
            u[k]
        } else if k < 18 {
            v[k - 9]
        } else {
            s.sigma[k - 18]
        }
        .to_bits()
    })
}

#[test]
fn decompositions_are_proper_sorted_and_exact() {
    let (mut worst, mut skew) = (0.0_f64, 0.0_f64);
    for sixteen in matrices().as_chunks::<16>().0 {
        for (a, s) in of_each_kind().flat_map(|isa| sixteen.iter().zip(decompose(isa, sixteen))) {
            let size = a.to_cols_array().iter().fold(0.0_f64, |m, e| m.max(e.abs()));
            let exact = size > 1e-290;
            for m in [s.u, s.v] {
                let e = (m.transpose() * m - DMat3::IDENTITY).to_cols_array();
                skew = e.iter().fold(skew, |m, e| m.max(e.abs()));
                assert!(e.iter().all(|e| e.abs() < 1e-14), "{a} {e:?}");
                assert!(m.determinant() > 0.9, "{a}");
            }
            assert!(s.sigma.x >= s.sigma.y && s.sigma.y >= s.sigma.z.abs(), "{a} {}", s.sigma);
            if exact {
                let b = *a * size.recip();
                let e = s.u * DMat3::from_diagonal(s.sigma * size.recip()) * s.v.transpose() - b;
                worst = e.to_cols_array().iter().fold(worst, |m, e| m.max(e.abs()));
                assert!(e.to_cols_array().iter().all(|e| e.abs() < 2e-14), "{a} {e}");
                let scalar = svd3(b).sigma * size;
                assert!((s.sigma.abs() - scalar).abs().max_element() < 1e-14 * s.sigma.x, "{a} {}", s.sigma);
                let det = b.determinant();
                assert!(s.sigma.z.signum() == det.signum() || det.abs() < 1e-15, "{a}");
            }
        }
    }
    println!("reconstruction {worst:e}, orthogonality {skew:e}");
}

#[test]
fn decompositions_have_the_same_bits_everywhere_and_in_any_company() {
    let list = matrices();
    for (n, sixteen) in list.as_chunks::<16>().0.iter().enumerate() {
        let expected = decompose(Isa::best(), sixteen).map(|s| bits(&s));
        for isa in Isa::available() {
            let expected = decompose(widest(isa.bits()), sixteen).map(|s| bits(&s));
            assert!(decompose(isa, sixteen).map(|s| bits(&s)) == expected, "{} {sixteen:?}", isa.name());
        }
        let mut company: [DMat3; 16] = from_fn(|k| list[(n * 37 + k * 131) % list.len()]);
        for k in 0..16 {
            company[15 - k] = sixteen[k];
            let found = bits(&decompose(Isa::best(), &company)[15 - k]);
            assert!(found == expected[k], "{}", sixteen[k]);
        }
    }
}

#[test]
fn a_lane_that_is_not_finite_harms_no_other() {
    let mut rng = SplitMix64::new(3);
    let good: [DMat3; 16] = from_fn(|_| random_matrix(&mut rng));
    let mut bad = good;
    bad[2].x_axis.x = f64::NAN;
    bad[9].y_axis.z = f64::INFINITY;
    let (expected, found) = (decompose(Isa::best(), &good), decompose(Isa::best(), &bad));
    for k in (0..16).filter(|k| ![2, 9].contains(k)) {
        assert_eq!(bits(&expected[k]), bits(&found[k]));
    }
}
