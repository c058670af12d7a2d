//! Equal bits on all instruction sets of a kind that this machine has; rotations against the scalar code.

use super::*;
use crate::SplitMix64;
use crate::nearest_rotation;
use crate::rotation::tests::{random, random_matrices, random_matrix, random_rotation};
use glam::{DMat3, DVec3};
use std::array::from_fn;

/// Eight of everything an operation may be given, many times over.
fn awkward(rng: &mut SplitMix64) -> [f64; 8] {
    const SPECIAL: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -3e-310,
        1e-40,
    ];
    from_fn(|_| match (random(rng).abs() * 4.0) as usize {
        0 => SPECIAL[(random(rng).abs() * SPECIAL.len() as f64) as usize],
        1 => random(rng) * 10f64.powf(random(rng) * 300.0),
        _ => random(rng),
    })
}

/// Bits, with one NaN for all: payloads are the hardware's.
fn bits(v: f64) -> u64 {
    if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }
}

/// What plain Rust makes of a kernel.
fn by_definition<K: Kernel>(bits: Bits, kernel: K) -> K::Output {
    match bits {
        Bits::Fused => kernel.run(Plain::<true>),
        Bits::Unfused => kernel.run(Plain::<false>),
    }
}

/// The widest instruction set of the same kind.
pub(super) fn widest(bits: Bits) -> Isa {
    Isa::available().filter(|isa| isa.bits() == bits).max().unwrap_or(Isa::Baseline)
}

/// An instruction set of each kind.
pub(super) fn of_each_kind() -> impl Iterator<Item = Isa> {
    let (unfused, fused) = (widest(Bits::Unfused), widest(Bits::Fused));
    [unfused].into_iter().chain((fused != unfused).then_some(fused))
}

/// The results of every operation on the same operands.
struct Everything([[f64; 8]; 3], u8);

impl Kernel for Everything {
    type Output = Vec<(&'static str, [u64; 8])>;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let [a, b, c] = [l.load(&self.0[0]), l.load(&self.0[1]), l.load(&self.0[2])];
        let m = l.mask(self.1);
        let mut results: Vec<_> = [
            ("splat", l.splat(self.0[0][0])),
            ("load", a),
            ("add", l.add(a, b)),
            ("sub", l.sub(a, b)),
            ("mul", l.mul(a, b)),
            ("div", l.div(a, b)),
            ("mul_add", l.mul_add(a, b, c)),
            ("neg_mul_add", l.neg_mul_add(a, b, c)),
            ("min", l.min(a, b)),
            ("max", l.max(a, b)),
            ("neg", l.neg(a)),
            ("abs", l.abs(a)),
            ("sqrt", l.sqrt(a)),
            ("rsqrt_rough", l.rsqrt_rough(a)),
            ("rsqrt", l.rsqrt(a)),
            ("rsqrt_seed", l.rsqrt_seed(a)),
            ("rsqrt_wide_rough", l.rsqrt_wide_rough(a)),
            ("rsqrt_wide", l.rsqrt_wide(a)),
            ("dot", l.dot([a, b, c], [b, c, a])),
            ("cross", l.cross([a, b, c], [b, c, a])[1]),
            ("select", l.select(m, a, b)),
            ("keep", l.keep(m, a)),
            ("sum", l.splat(l.sum(a))),
            ("sums", l.sums([a, b, c, l.add(a, b), l.sub(b, c), l.mul(c, a), l.neg(a), b])),
        ]
        .into_iter()
        .map(|(name, v)| {
            let mut to = [0.0; 8];
            l.store(v, &mut to);
            (name, to.map(bits))
        })
        .collect();
        for (name, m) in [
            ("mask", m),
            ("lt", l.lt(a, b)),
            ("le", l.le(a, b)),
            ("gt", l.gt(a, b)),
            ("ge", l.ge(a, b)),
            ("and", l.and(m, l.lt(a, b))),
            ("or", l.or(m, l.lt(a, b))),
        ] {
            results.push((name, [u64::from(l.bits(m)); 8]));
        }
        results
    }
}

#[test]
fn every_operation_has_the_same_bits_on_every_instruction_set() {
    let mut rng = SplitMix64::new(1);
    for round in 0..20_000 {
        let mut operands = from_fn(|_| awkward(&mut rng));
        if round % 3 == 0 {
            // Equal operands and zeros of both signs are where comparisons differ.
            operands[1] = operands[0].map(|v| if v == 0.0 { -v } else { v });
        }
        for isa in Isa::available() {
            let expected = by_definition(isa.bits(), Everything(operands, round as u8));
            let found = isa.run(Everything(operands, round as u8));
            for (e, f) in expected.iter().zip(&found) {
                assert_eq!(e, f, "{} {operands:?}", isa.name());
            }
        }
    }
}

#[test]
fn multiply_adds_round_once_or_twice() {
    // 0.1·10 is 1 when rounded before the subtraction.
    let [tenth, ten, one] = [[0.1; 8], [10.0; 8], [1.0; 8]];
    assert_eq!(Plain::<true>.mul_add(tenth, ten, [-1.0; 8]), [2f64.powi(-54); 8]);
    assert_eq!(Plain::<true>.neg_mul_add(tenth, ten, one), [-(2f64.powi(-54)); 8]);
    assert_eq!(Plain::<false>.mul_add(tenth, ten, [-1.0; 8]), [0.0; 8]);
    assert_eq!(Plain::<false>.neg_mul_add(tenth, ten, one), [0.0; 8]);
    assert_eq!(Bits::Fused.mul_add(0.1, 10.0, -1.0), 2f64.powi(-54));
    assert_eq!(Bits::Unfused.mul_add(0.1, 10.0, -1.0), 0.0);
}

#[test]
fn plain_rust_means_what_it_says() {
    let a = [1.0, -0.0, 0.0, f64::NAN, 2.0, f64::INFINITY, -3.0, 0.1];
    let b = [2.0, 0.0, -0.0, 5.0, f64::NAN, 1.0, -3.0, 10.0];
    let l = Plain::<true>;
    assert_eq!(l.min(a, b).map(bits), [1.0, 0.0, -0.0, 5.0, f64::NAN, 1.0, -3.0, 0.1].map(bits));
    assert_eq!(l.max(a, b).map(bits), [2.0, 0.0, -0.0, 5.0, f64::NAN, f64::INFINITY, -3.0, 10.0].map(bits));
    assert_eq!(l.bits(l.lt(a, b)), 0b1000_0001);
    assert_eq!(l.bits(l.ge(a, b)), 0b0110_0110);
    assert_eq!(l.keep(l.mask(0b0000_0010), a).map(bits), [0.0, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(bits));
    assert_eq!(l.select(l.mask(1), b, a)[..3], [2.0, -0.0, 0.0]);
    // The order shows where additions are lost to rounding.
    assert_eq!(l.sum([1e16, 1.0, 0.0, 0.0, -1e16, 1.0, 1.0, 0.0]), 3.0);
    let axes = [[[1.0; 8], [0.0; 8], [0.0; 8]], [[0.0; 8], [1.0; 8], [0.0; 8]]];
    assert_eq!(l.cross(axes[0], axes[1]), [[0.0; 8], [0.0; 8], [1.0; 8]]);
    assert_eq!(l.dot([[1.0; 8], [2.0; 8], [3.0; 8]], [[4.0; 8], [5.0; 8], [6.0; 8]]), [32.0; 8]);
}

#[test]
fn reciprocal_square_roots_are_accurate_over_their_range() {
    let mut rng = SplitMix64::new(2);
    for k in 0..20_000 {
        let a = 10f64.powf(f64::from(k) / 20_000.0 * 66.0 - 30.0) * (1.0 + 1e-3 * random(&mut rng));
        let a = a.clamp(1e-30, 1e36);
        let error = |y: f64| (y * y * a - 1.0).abs() / 2.0;
        assert!(error(Plain::<true>.rsqrt_rough([a; 8])[0]) < 2e-7, "{a}");
        assert!(error(Plain::<true>.rsqrt([a; 8])[0]) < 1e-15, "{a}");
        assert!(error(Plain::<false>.rsqrt([a; 8])[0]) < 1e-15, "{a}");
    }
}

#[test]
fn wide_reciprocal_square_roots_are_accurate_for_every_normal_number() {
    let error = |y: f64, a: f64| ((y * a.sqrt()) * (y * a.sqrt()) - 1.0).abs() / 2.0;
    for k in 0..200_000 {
        let a = 10f64.powf(f64::from(k) / 200_000.0 * 615.0 - 307.0);
        assert!(error(Plain::<true>.rsqrt_seed([a; 8])[0], a) < 0.035, "{a}");
        assert!(error(Plain::<true>.rsqrt_wide_rough([a; 8])[0], a) < 1e-5, "{a}");
        assert!(error(Plain::<true>.rsqrt_wide([a; 8])[0], a) < 1e-15, "{a}");
        assert!(error(Plain::<false>.rsqrt_wide([a; 8])[0], a) < 1e-15, "{a}");
    }
    for a in [0.0, 5e-324, 1e-310, f64::MIN_POSITIVE, f64::MAX] {
        assert!(Plain::<true>.rsqrt_wide([a; 8])[0].is_finite(), "{a}");
        assert!(Plain::<false>.rsqrt_wide([a; 8])[0].is_finite(), "{a}");
    }
}

/// Gathers, and rows to columns and back.
struct Moves<'a>(&'a [[f64; 4]], &'a [u32; 8]);

impl Kernel for Moves<'_> {
    type Output = ([f64; 8], [[f64; 4]; 8]);
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let (mut flat, mut rows) = ([0.0; 8], [[f64::NAN; 4]; 8]);
        l.store(l.gather(self.0.as_flattened(), self.1), &mut flat);
        let [x, y, z] = l.load_transposed(self.0, self.1);
        l.store_transposed([y, z, x], &mut rows);
        (flat, rows)
    }
}

#[test]
fn rows_are_gathered_and_scattered_in_order() {
    let rows: Vec<[f64; 4]> = (0..50).map(|i| from_fn(|k| f64::from(4 * i + k as i32))).collect();
    let mut rng = SplitMix64::new(8);
    for _ in 0..200 {
        let at: [u32; 8] = from_fn(|_| (random(&mut rng).abs() * 50.0) as u32);
        for isa in Isa::available() {
            let (flat, moved) = isa.run(Moves(&rows, &at));
            assert_eq!(flat, at.map(f64::from), "{}", isa.name());
            let expected = at.map(|i| [rows[i as usize][1], rows[i as usize][2], rows[i as usize][0], 0.0]);
            assert_eq!(moved, expected, "{}", isa.name());
        }
    }
}

#[test]
fn no_lane_reads_out_of_range() {
    let rows = [[0.0; 4]; 10];
    for isa in Isa::available() {
        for lane in 0..8 {
            for beyond in [10, u32::MAX] {
                let at = from_fn(|k| if k == lane { beyond } else { 9 });
                let outcome = std::panic::catch_unwind(|| isa.run(Moves(&rows, &at)));
                assert!(outcome.is_err(), "{} {lane}", isa.name());
            }
        }
    }
}

struct Rotations<'a>(&'a [[[f64; 8]; 3]; 3]);

impl Kernel for Rotations<'_> {
    type Output = ([[[f64; 8]; 3]; 3], u8);
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        let (r, trusted) = rotations8(l, &self.0.map(|column| column.map(|e| l.load(&e))));
        let stored = r.map(|column| {
            column.map(|e| {
                let mut to = [0.0; 8];
                l.store(e, &mut to);
                to
            })
        });
        (stored, l.bits(trusted))
    }
}

fn pack(matrices: [DMat3; 8]) -> [[[f64; 8]; 3]; 3] {
    from_fn(|column| from_fn(|row| from_fn(|lane| matrices[lane].col(column)[row])))
}

/// Rotations and whether they may be trusted.
fn rotations(isa: Isa, matrices: [DMat3; 8]) -> [(DMat3, bool); 8] {
    let (r, trusted) = isa.run(Rotations(&pack(matrices)));
    let entry = |lane: usize| move |k: usize| r[k / 3][k % 3][lane];
    from_fn(|lane| (DMat3::from_cols_array(&from_fn(entry(lane))), trusted >> lane & 1 == 1))
}

/// The known families, and matrices ever closer to what is no longer trusted.
fn matrices() -> Vec<DMat3> {
    let mut rng = SplitMix64::new(17);
    let mut list = random_matrices();
    for k in 0..2000 {
        let (u, v) = (random_rotation(&mut rng), random_rotation(&mut rng));
        let (y, z) = (10f64.powf(-6.5 * random(&mut rng).abs()), 10f64.powf(-6.5 * random(&mut rng).abs()));
        list.push(u * DMat3::from_diagonal(DVec3::new(1.0, y, z)) * v * 10f64.powi([0, -100, 100][k % 3]));
    }
    while !list.len().is_multiple_of(8) {
        list.push(random_matrix(&mut rng));
    }
    list
}

/// Equal bits, or both not to be trusted.
fn same(a: (DMat3, bool), b: (DMat3, bool)) -> bool {
    let bits = |r: DMat3| r.to_cols_array().map(f64::to_bits);
    a.1 == b.1 && (!a.1 || bits(a.0) == bits(b.0))
}

#[test]
fn rotations_are_those_of_the_scalar_code_where_trusted() {
    let (mut trusted, mut refused) = (0, 0);
    for eight in matrices().as_chunks::<8>().0 {
        for (a, (r, ok)) in of_each_kind().flat_map(|isa| eight.iter().zip(rotations(isa, *eight))) {
            let largest = a.to_cols_array().iter().fold(0.0_f64, |m, e| m.max(e.abs()));
            let b = *a * (1.0 / largest);
            let norm = b.to_cols_array().iter().map(|e| e * e).sum::<f64>().sqrt();
            let det = (b * (1.0 / norm)).determinant();
            if ok {
                trusted += 1;
                assert!(det > 0.999e-6, "{a} {det}");
                let e = (r - nearest_rotation(*a, DMat3::IDENTITY)).to_cols_array();
                assert!(e.iter().all(|e| e.abs() < 1e-12), "{a} {e:?}");
                let e = (r * r.transpose() - DMat3::IDENTITY).to_cols_array();
                assert!(e.iter().all(|e| e.abs() < 2e-15), "{a} {e:?}");
            } else {
                refused += 1;
                // Not worse than it must be: every safely positive determinant is accepted.
                assert!(det.is_nan() || det <= 1.001e-6, "{a} {det}");
            }
        }
    }
    assert!(trusted > 1000 && refused > 500, "{trusted} {refused}");
}

#[test]
fn rotations_of_reflected_collapsed_and_non_finite_matrices_are_not_trusted() {
    let turn = random_rotation(&mut SplitMix64::new(4));
    let mut nan = [1.0; 9];
    let mut infinite = turn.to_cols_array();
    for k in 0..9 {
        nan[k] = f64::NAN;
        infinite[k] = f64::INFINITY;
        let list = [
            DMat3::ZERO,
            turn * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)),
            turn * DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0)),
            turn * DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0)),
            DMat3::from_cols_array(&nan),
            DMat3::from_cols_array(&infinite),
            turn * 1e-320,
            turn * 1e300,
        ];
        for isa in Isa::available() {
            assert_eq!(rotations(isa, list).map(|r| r.1), from_fn(|lane| lane == 7));
        }
        nan[k] = random(&mut SplitMix64::new(5));
        infinite[k] = 1.0;
    }
}

#[test]
fn rotations_have_the_same_bits_on_every_instruction_set() {
    for eight in matrices().as_chunks::<8>().0 {
        for isa in Isa::available() {
            let expected = rotations(widest(isa.bits()), *eight);
            let found = rotations(isa, *eight);
            assert!(expected.iter().zip(&found).all(|(e, f)| same(*e, *f)), "{} {eight:?}", isa.name());
        }
    }
}

#[test]
fn a_rotation_does_not_depend_on_its_neighbours() {
    let mut rng = SplitMix64::new(23);
    let mut list = matrices();
    // Zeros of both signs, which freezing could change, among slow neighbours.
    let slow = random_rotation(&mut rng) * DMat3::from_diagonal(DVec3::new(1.0, 1e-2, 1e-3));
    for (signs, (x, y)) in (0..512).flat_map(|signs| [(1.0, 0.0), (0.9, 0.1), (1.3, 0.0)].map(|v| (signs, v)))
    {
        let entries = [x, y, 0.0, -y, x, 0.0, 0.0, 0.0, 1.0];
        let signed = from_fn(|k| if signs >> k & 1 == 1 { -entries[k] } else { entries[k] });
        list.extend([DMat3::from_cols_array(&signed), slow]);
    }
    for (k, &a) in list.iter().enumerate() {
        let alone = rotations(Isa::best(), [a; 8]);
        assert!(alone.iter().all(|r| same(*r, alone[0])), "{a}");
        let mut company = from_fn(|i| list[(k + i * 131 + 1) % list.len()]);
        company[k % 8] = a;
        assert!(same(rotations(Isa::best(), company)[k % 8], alone[0]), "{a}");
    }
}
