//! Panels against the plain factor, on graphs of every kind.

use super::Panels;
use crate::{SparseSpd, SymmetricBuilder, SymmetricMatrix};
use pliant_math::SplitMix64;
use pliant_math::lanes::Isa;

/// A repeatable stream of numbers in 0..1.
struct Dice(SplitMix64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0.unit()
    }
    fn below(&mut self, n: usize) -> usize {
        (self.roll() * n as f64) as usize
    }
}

/// Masses and springs: positive definite for any edges.
fn springs(n: usize, edges: impl IntoIterator<Item = (usize, usize)>, seed: u64) -> SymmetricMatrix {
    let mut dice = Dice(SplitMix64::new(seed));
    let mut m = SymmetricBuilder::new(n);
    for i in 0..n {
        m.add(i, i, 0.05 + dice.roll());
    }
    for (i, j) in edges {
        let k = 0.1 + 10.0 * dice.roll();
        m.add(i, i, k);
        m.add(j, j, k);
        m.add(i, j, -k);
    }
    m.build()
}

fn lattice(nx: usize, ny: usize, nz: usize) -> (Vec<(usize, usize)>, Vec<[f64; 3]>) {
    let (mut edges, mut points) = (Vec::new(), Vec::new());
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                let i = points.len();
                points.push([x as f64, y as f64, z as f64]);
                if x > 0 {
                    edges.push((i, i - ny * nz));
                }
                if y > 0 {
                    edges.push((i, i - nz));
                }
                if z > 0 {
                    edges.push((i, i - 1));
                }
                if x > 0 && y > 0 {
                    edges.push((i, i - ny * nz - nz));
                }
            }
        }
    }
    (edges, points)
}

/// A name, a matrix, and where its unknowns are.
type Case = (&'static str, SymmetricMatrix, Option<Vec<[f64; 3]>>);

fn cases() -> Vec<Case> {
    let mut dice = Dice(SplitMix64::new(5));
    let mut cases = Vec::new();
    let (edges, points) = lattice(30, 31, 1);
    cases.push(("cloth", springs(930, edges.clone(), 1), None));
    cases.push(("cloth with points", springs(930, edges, 1), Some(points)));
    let (edges, points) = lattice(25, 6, 7);
    cases.push(("beam", springs(1050, edges.clone(), 2), None));
    cases.push(("beam with points", springs(1050, edges.clone(), 2), Some(points)));
    cases.push(("foolish points", springs(1050, edges, 2), Some(vec![[f64::NAN; 3]; 1050])));
    let (edges, points) = lattice(11, 12, 13);
    cases.push(("cube", springs(1716, edges, 3), Some(points)));
    for n in [2, 3, 7, 8, 9, 40, 300] {
        let edges: Vec<_> =
            (0..2 * n).map(|_| (dice.below(n), dice.below(n))).filter(|(i, j)| i != j).collect();
        cases.push(("random", springs(n, edges, n as u64), None));
    }
    let (one, _) = lattice(9, 9, 2);
    let bodies = (0..40).flat_map(|b| one.iter().map(move |&(i, j)| (i + 162 * b, j + 162 * b)));
    cases.push(("forty bodies", springs(40 * 162, bodies, 4), None));
    let (big, _) = lattice(20, 20, 2);
    let bodies = big.into_iter().chain(one.iter().map(|&(i, j)| (800 + i, 800 + j)));
    cases.push(("two bodies and loose ends", springs(1000, bodies, 4), None));
    cases.push(("diagonal", springs(100, [], 6), None));
    cases.push(("nothing", springs(0, [], 6), None));
    cases.push(("one", springs(1, [], 6), None));
    let dense = (0..70).flat_map(|i| (0..i).map(move |j| (i, j)));
    cases.push(("dense", springs(70, dense, 7), None));
    cases.push(("star", springs(500, (1..500).map(|i| (0, i)), 8), None));
    cases.push(("star about the last", springs(500, (0..499).map(|i| (499, i)), 8), None));
    cases.push(("chain", springs(700, (1..700).map(|i| (i - 1, i)), 9), None));
    cases
}

fn columns(n: usize, seed: u64) -> Vec<f64> {
    let mut dice = Dice(SplitMix64::new(seed));
    (0..3 * n).map(|_| dice.roll() - 0.5).collect()
}

/// Three columns between the matrix's order and the panels'.
fn permuted(panels: &Panels, columns: &[f64]) -> Vec<f64> {
    let n = panels.size();
    (0..3).flat_map(|c| panels.order().iter().map(move |&i| columns[c * n + i as usize])).collect()
}

fn bits(v: &[f64]) -> Vec<u64> {
    v.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn solves_as_the_plain_factor_does() {
    for (name, matrix, points) in cases() {
        let panels = Panels::factor(&matrix, points.as_deref()).unwrap();
        let plain = SparseSpd::factor(&matrix).unwrap();
        let n = matrix.size();
        let mut expected = columns(n, 11);
        let mut got = permuted(&panels, &expected);
        let mut single = expected[..n].to_vec();
        plain.solve(&mut expected, &mut plain.scratch());
        let mut scratch = panels.scratch();
        panels.solve(Isa::best(), &mut got, &mut scratch);
        panels.solve_original(Isa::best(), &mut single, &mut scratch);
        let scale = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (e, g) in permuted(&panels, &expected).iter().zip(&got) {
            assert!((e - g).abs() <= 1e-10 * scale, "{name}: {e} {g}");
        }
        for (e, g) in expected.iter().zip(&single) {
            assert!((e - g).abs() <= 1e-10 * scale, "{name}, one column: {e} {g}");
        }
    }
}

#[test]
fn unknowns_are_a_permutation_in_domains_and_top() {
    for (name, matrix, points) in cases() {
        let panels = Panels::factor(&matrix, points.as_deref()).unwrap();
        let mut sorted = panels.order().to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(k, &v)| k == v as usize), "{name}");
        let mut end = 0;
        for range in panels.domains().iter().cloned().chain([panels.top()]) {
            assert_eq!(range.start, end, "{name}");
            end = range.end;
        }
        assert_eq!(end, matrix.size(), "{name}");
        assert!(panels.domains().len() <= super::cut::DOMAINS);
    }
}

#[test]
fn bits_depend_neither_on_instructions_nor_on_the_order_of_domains() {
    for (name, matrix, points) in cases() {
        let panels = Panels::factor(&matrix, points.as_deref()).unwrap();
        let n = panels.size();
        let rhs = columns(n, 12);
        let mut reference = rhs.clone();
        panels.solve(Isa::best(), &mut reference, &mut panels.scratch());
        for isa in Isa::available() {
            let widest = Isa::available().filter(|i| i.bits() == isa.bits()).max().unwrap_or(isa);
            let mut reference = rhs.clone();
            panels.solve(widest, &mut reference, &mut panels.scratch());
            let mut got = rhs.clone();
            panels.solve(isa, &mut got, &mut panels.scratch());
            assert_eq!(bits(&reference), bits(&got), "{name} {}", isa.name());
            let mut one = rhs[..n].to_vec();
            let mut baseline = rhs[..n].to_vec();
            panels.solve(isa, &mut one, &mut panels.scratch());
            panels.solve(widest, &mut baseline, &mut panels.scratch());
            assert_eq!(bits(&baseline), bits(&one), "{name} one column {}", isa.name());
        }
        // Domains backwards, with memory that an earlier solve left dirty.
        let isa = Isa::best();
        let mut works: Vec<_> = (0..panels.domains().len()).map(|d| panels.domain_work(d)).collect();
        let mut top_work = panels.top_work();
        for _ in 0..2 {
            let mut got = rhs.clone();
            for d in (0..works.len()).rev() {
                let r = panels.domains()[d].clone();
                let own = [0, 1, 2].map(|c| &rhs[c * n + r.start..c * n + r.end]);
                panels.forward(d, isa, own, &mut works[d]);
            }
            let mut tops = [0, 1, 2].map(|c| rhs[c * n + panels.top().start..(c + 1) * n].to_vec());
            let [x, y, z] = &mut tops;
            panels.top_solve(isa, [x, y, z], &works, &mut top_work);
            for d in (0..works.len()).rev() {
                let r = panels.domains()[d].clone();
                let mut own = [0, 1, 2].map(|_| vec![0.0; r.len()]);
                let [x, y, z] = &mut own;
                panels.backward(d, isa, [x, y, z], [0, 1, 2].map(|c| &tops[c][..]), &mut works[d]);
                for c in 0..3 {
                    got[c * n + r.start..c * n + r.end].copy_from_slice(&own[c]);
                }
            }
            for c in 0..3 {
                got[c * n + panels.top().start..(c + 1) * n].copy_from_slice(&tops[c]);
            }
            assert_eq!(bits(&reference), bits(&got), "{name}");
        }
    }
}

#[test]
fn refactoring_equals_factoring_afresh() {
    for (name, matrix, points) in cases() {
        let mut other = matrix.clone();
        other.values.iter_mut().for_each(|v| *v *= 1.7);
        let fresh = Panels::factor(&matrix, points.as_deref()).unwrap();
        let mut again = Panels::factor(&other, points.as_deref()).unwrap();
        again.refactor(&matrix).unwrap();
        assert_eq!(fresh.order, again.order, "{name}");
        for (a, b) in fresh.blocks.iter().zip(&again.blocks) {
            assert!(a.data.iter().zip(&b.data).all(|(a, b)| bits(&a.0) == bits(&b.0)), "{name}");
        }
    }
}

#[test]
fn refuses_what_is_not_positive_definite() {
    let (edges, _) = lattice(12, 12, 2);
    let good = springs(288, edges, 1);
    for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let mut matrix = good.clone();
        let k = matrix.columns[100];
        assert_eq!(matrix.rows[k], 100);
        matrix.values[k] = bad;
        assert!(Panels::factor(&matrix, None).is_err(), "{bad}");
        let mut panels = Panels::factor(&good, None).unwrap();
        assert!(panels.refactor(&matrix).is_err(), "{bad}");
    }
}
