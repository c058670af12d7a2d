//! Every kind's Hessian against differences of its gradient, in whatever way it is deformed.

use super::super::test_meshes::{random, roll, sheet, sphere};
use super::super::*;
use super::*;
use crate::constraints::conformance::Stream;
use crate::constraints::simplex::tests::{tetrahedra, triangles};
use glam::DQuat;

/// The gradient over all particles, auxiliary unknowns and projections at their best.
fn gradient(batch: &dyn ConstraintBatch, x: &Points) -> Vec<f64> {
    let mut shared = vec![0.0; batch.shared_len()];
    batch.begin_iteration(x, &mut shared);
    let mut g = Points::zeros(x.len());
    batch.add_gradient(View { x, state: &[], shared: &shared, targets: &[] }, &mut g);
    g.iter().flat_map(|v| v.to_array()).collect()
}

/// The whole Hessian over the particles' coordinates, inner unknowns eliminated.
fn hessian(batch: &dyn ConstraintBatch, x: &Points, clamped: bool) -> Vec<Vec<f64>> {
    let mut shared = vec![0.0; batch.shared_len()];
    batch.begin_iteration(x, &mut shared);
    let view = View { x, state: &[], shared: &shared, targets: &[] };
    let at = HessianAt { view, clamped, isa: Isa::best() };
    let element_hessian = batch.element_hessian().unwrap();
    let n = x.len();
    let size = 3 * (n + element_hessian.inner());
    let mut h = vec![vec![0.0; size]; size];
    for s in 0..element_hessian.stencils() {
        let width = element_hessian.width(s);
        let mut blocks = vec![DMat3::NAN; width * (width + 1) / 2];
        element_hessian.hessian(s, at, &mut blocks);
        let place = |k: usize| match element_hessian.column(s, k) {
            column if column >= INNER => n + (column - INNER) as usize,
            column => column as usize,
        };
        let mut block = blocks.iter();
        for (a, b) in (0..width).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let block = block.next().unwrap();
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                h[3 * place(a) + i][3 * place(b) + j] += block.col(j)[i];
                if a != b {
                    h[3 * place(b) + j][3 * place(a) + i] += block.col(j)[i];
                }
            }
        }
    }
    let mut normal = vec![DVec3::ZERO; element_hessian.inner()];
    if let Some(s) = element_hessian.border(at, &mut normal) {
        // As one more unknown, with −s on the diagonal.
        let flat: Vec<f64> =
            vec![0.0; 3 * n].into_iter().chain(normal.iter().flat_map(|g| g.to_array())).collect();
        h.iter_mut().zip(&flat).for_each(|(row, g)| row.push(*g));
        h.push(flat.into_iter().chain([-s]).collect());
    }
    // Gauss's elimination of all that is not a particle: inner places, then their border.
    let mut left = vec![true; h.len()];
    for k in 3 * n..h.len() {
        left[k] = false;
        let pivot = h[k].clone();
        for (row, _) in h.iter_mut().zip(&left).filter(|(_, left)| **left) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
        }
    }
    h.truncate(3 * n);
    h.iter_mut().for_each(|row| row.truncate(3 * n));
    h
}

fn moved(x: &Points, coordinate: usize, by: f64) -> Points {
    let mut y = x.clone();
    let (i, axis) = (coordinate / 3, coordinate % 3);
    let mut p = y.get(i);
    p[axis] += by;
    y.set(i, p);
    y
}

/// Differences of the gradient; `None` near a kink, where two step widths disagree.
fn differences(batch: &dyn ConstraintBatch, x: &Points) -> Option<Vec<Vec<f64>>> {
    let with = |step: f64| -> Vec<Vec<f64>> {
        (0..3 * x.len())
            .map(|j| {
                let (ahead, behind) =
                    (gradient(batch, &moved(x, j, step)), gradient(batch, &moved(x, j, -step)));
                ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step)).collect()
            })
            .collect()
    };
    let (fine, coarse) = (with(1e-5), with(2e-5));
    let size = size(&fine);
    let apart = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * size;
    let agree = fine.iter().flatten().zip(coarse.iter().flatten()).all(apart);
    agree.then_some(fine)
}

fn size(h: &[Vec<f64>]) -> f64 {
    h.iter().flatten().fold(1e-3, |m, v| f64::max(m, v.abs()))
}

fn vector(rng: &mut Stream) -> DVec3 {
    DVec3::new(random(rng), random(rng), random(rng))
}

/// The rest shape stretched, turned and jittered at random.
fn deformed(rest: &Points, jitter: f64, rng: &mut Stream) -> Points {
    let stretch = DVec3::ONE + vector(rng) * 0.5;
    let turn = DQuat::from_scaled_axis(vector(rng) * 3.0);
    rest.iter().map(|p| turn * (p * stretch) + vector(rng) * jitter).collect()
}

/// How many of the states could be compared.
fn compare(name: &str, batch: &dyn ConstraintBatch, states: impl Iterator<Item = Points>) -> usize {
    let mut compared = 0;
    for x in states {
        let Some(wanted) = differences(batch, &x) else { continue };
        let found = hessian(batch, &x, false);
        let size = size(&wanted);
        for (i, (row, wanted)) in found.iter().zip(&wanted).enumerate() {
            for (j, (value, wanted)) in row.iter().zip(wanted).enumerate() {
                let off = (value - wanted).abs() / size;
                assert!(off < 1e-6, "{name} ({i}, {j}): {value}, by differences {wanted}");
            }
        }
        compared += 1;
    }
    compared
}

/// Batches of every kind that knows its Hessian, the rest shape, and how much to jitter it.
fn kinds() -> Vec<(String, Box<dyn ConstraintBatch>, Points, f64)> {
    let mut list: Vec<(String, Box<dyn ConstraintBatch>, Points, f64)> = Vec::new();
    let mut add = |name: String, batch: Box<dyn ConstraintBatch>, rest: &Points, jitter: f64| {
        list.push((name, batch, rest.clone(), jitter));
    };
    let (solid, tets) = tetrahedra();
    let (flat, faces) = triangles();
    let weight = [0.7, 0.3];
    let strain = TetrahedronStrain::new(Rotations, &tets, &solid, &weight, None).unwrap();
    add("tetrahedron strain".into(), Box::new(strain), &solid, 0.3);
    let strain = Simplices::<2, Rotations>::new(Rotations, &faces, &flat, &weight, None).unwrap();
    add("triangle strain".into(), Box::new(strain), &flat, 0.3);
    for bounds in [[1.0, 1.0], [0.9, 1.1], [1.2, 1.4], [0.3, 0.5]] {
        let limits = Limits::new(bounds);
        let volume =
            Simplices::<3, VolumeLimits>::new(VolumeLimits(limits), &tets, &solid, &weight, None).unwrap();
        add(format!("volume {bounds:?}"), Box::new(volume), &solid, 0.3);
        let area =
            Simplices::<2, VolumeLimits>::new(VolumeLimits(limits), &faces, &flat, &weight, None).unwrap();
        add(format!("area {bounds:?}"), Box::new(area), &flat, 0.3);
        let strain =
            Simplices::<3, StrainLimits>::new(StrainLimits(limits), &tets, &solid, &weight, None).unwrap();
        add(format!("tetrahedron limits {bounds:?}"), Box::new(strain), &solid, 0.3);
        let strain =
            Simplices::<2, StrainLimits>::new(StrainLimits(limits), &faces, &flat, &weight, None).unwrap();
        add(format!("triangle limits {bounds:?}"), Box::new(strain), &flat, 0.3);
        let edges = EdgeStrain::limited(&[[0, 1], [1, 2], [0, 3]], &solid, &[0.7, 0.3, 1.1], bounds);
        add(format!("edges {bounds:?}"), Box::new(edges), &solid, 0.3);
        let set = Fibres::new(DVec3::new(1.0, 2.0, 0.5), limits);
        let fibres = Simplices::<3, Fibres>::new(set, &tets, &solid, &weight, None).unwrap();
        add(format!("tetrahedron fibres {bounds:?}"), Box::new(fibres), &solid, 0.3);
        let fibres = Simplices::<2, Fibres>::new(set, &faces, &flat, &weight, Some(DVec3::ONE)).unwrap();
        add(format!("triangle fibres {bounds:?}"), Box::new(fibres), &flat, 0.3);
    }
    let (triangles, plane) = sheet([3, 3], [1.0, 1.0], |_, p| p);
    let shell = roll(&plane, 0.5);
    add("bending".into(), Box::new(Bending::new(&triangles, &shell)), &shell, 0.05);
    let limits = CurvatureLimits { relative: [0.8, 1.2], absolute: 0.5 };
    add("bending limits".into(), Box::new(Bending::limited(&triangles, &shell, limits)), &shell, 0.05);
    add("hinges".into(), Box::new(HingeBending::new(&triangles, &shell)), &shell, 0.05);
    let (triangles, ball) = sphere(1);
    for filling in [
        Filling::Volume([1.0, 1.0]),
        Filling::Volume([1.3, 1.6]),
        Filling::Gas { outside: 1.0, give: 0.1 },
        Filling::Gas { outside: 0.2, give: 0.2 },
    ] {
        let batch = Pressure::new(&triangles, &ball, filling).unwrap();
        add(format!("{filling:?}"), Box::new(batch), &ball, 0.05);
    }
    list
}

#[test]
fn every_hessian_is_the_derivative_of_the_gradient() {
    let mut rng = Stream::new(7);
    for (name, batch, rest, jitter) in kinds() {
        let count = if rest.len() > 10 { 6 } else { 40 };
        let states = (0..count).map(|_| deformed(&rest, jitter, &mut rng));
        let compared = compare(&name, &*batch, states);
        assert!(2 * compared > count, "{name}: {compared} of {count} states are away from kinks");
    }
}

/// Cut off, it is never negative along any direction; it is what it was where nothing had to be cut off.
#[test]
fn clamped_it_is_never_negative() {
    let mut rng = Stream::new(3);
    for (name, batch, rest, jitter) in kinds() {
        for k in 0..8 {
            let flat = if k % 2 == 0 { DVec3::new(1.0, 1.0, -0.3) } else { DVec3::ONE };
            let x: Points = deformed(&rest, jitter, &mut rng).iter().map(|p| p * flat).collect();
            let h = hessian(&*batch, &x, true);
            let size = size(&h);
            for _ in 0..20 {
                let v: Vec<f64> = (0..h.len()).map(|_| random(&mut rng)).collect();
                let value: f64 = h
                    .iter()
                    .zip(&v)
                    .map(|(row, a)| a * row.iter().zip(&v).map(|(h, b)| h * b).sum::<f64>())
                    .sum();
                assert!(value >= -1e-10 * size && value.is_finite(), "{name}: {value} of {size}");
            }
        }
    }
}

/// Whatever the shape, numbers.
#[test]
fn degenerate_shapes_have_finite_hessians() {
    for (name, batch, rest, _) in kinds() {
        for stretch in [DVec3::ONE, DVec3::new(-1.0, 1.0, 1.0), DVec3::X, DVec3::ZERO, DVec3::splat(1e6)] {
            let x: Points = rest.iter().map(|p| p * stretch).collect();
            for clamped in [false, true] {
                let mut shared = vec![0.0; batch.shared_len()];
                batch.begin_iteration(&x, &mut shared);
                let view = View { x: &x, state: &[], shared: &shared, targets: &[] };
                let at = HessianAt { view, clamped, isa: Isa::best() };
                let element_hessian = batch.element_hessian().unwrap();
                for s in 0..element_hessian.stencils() {
                    let width = element_hessian.width(s);
                    let mut blocks = vec![DMat3::NAN; width * (width + 1) / 2];
                    element_hessian.hessian(s, at, &mut blocks);
                    assert!(blocks.iter().all(|b| b.is_finite()), "{name}, {stretch}");
                }
            }
        }
    }
}
