//! Blends of stretched tetrahedra, against closed forms and brute force.

use super::super::test_meshes::{energy, random};
use super::*;
use crate::constraints::conformance;
use crate::constraints::conformance::Stream;
use glam::DQuat;

const ELEMENTS: [[u32; 4]; 2] = [[0, 1, 2, 3], [1, 2, 3, 4]];

fn rest() -> Points {
    [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.5, 0.0), DVec3::new(0.1, 0.2, 2.0), DVec3::new(1.0, 1.0, 1.5)]
        .into_iter()
        .collect()
}

fn deformed(m: DMat3) -> Points {
    rest().iter().map(|p| m * p).collect()
}

fn stretch(x: f64, y: f64) -> DMat3 {
    DMat3::from_diagonal(DVec3::new(x, y, 1.0))
}

fn batch(examples: &[Points], weights: ExampleWeights) -> ExampleTetrahedra {
    ExampleTetrahedra::new(&ELEMENTS, &rest(), &[0.5, 0.3], examples, weights, 1.0).unwrap()
}

#[test]
fn own_and_common_weights_conform() {
    let turn = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.3, 1.0, -0.5)));
    let shear = DMat3::from_cols(DVec3::X, DVec3::new(0.6, 1.0, 0.2), DVec3::Z);
    let examples = [deformed(turn * stretch(2.0, 0.8)), deformed(shear), deformed(stretch(0.6, 1.3))];
    for count in [0, 1, 3] {
        for weights in [ExampleWeights::Own, ExampleWeights::Common] {
            conformance::check(&batch(&examples[..count], weights), &rest()).unwrap();
        }
    }
}

#[test]
fn between_rest_and_example_is_free_and_beyond_is_not() {
    let turn = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(-0.8, 0.4, 1.1)));
    for weights in [ExampleWeights::Own, ExampleWeights::Common] {
        let b = batch(&[deformed(turn * stretch(2.0, 1.0))], weights);
        assert!(energy(&b, &deformed(turn.transpose() * stretch(1.6, 1.0))) < 1e-20);
        assert!((energy(&b, &deformed(stretch(3.0, 1.0))) - 0.5 * 0.8).abs() < 1e-12);
        assert!((energy(&b, &deformed(stretch(0.5, 1.0))) - 0.5 * 0.8 * 0.25).abs() < 1e-12);
    }
}

#[test]
fn common_weights_tie_elements_together() {
    let b = [ExampleWeights::Own, ExampleWeights::Common].map(|w| batch(&[deformed(stretch(2.0, 1.0))], w));
    // Only the first tetrahedron is stretched; the second follows as it must.
    let x: Points =
        (0..5).map(|i| if i == 4 { rest().get(4) } else { deformed(stretch(2.0, 1.0)).get(i) }).collect();
    assert!(energy(&b[0], &x) < 0.999 * energy(&b[1], &x));
}

#[test]
fn no_other_blend_is_nearer() {
    let examples = [deformed(stretch(2.0, 0.7)), deformed(stretch(0.8, 1.8))];
    let b = batch(&examples, ExampleWeights::Own);
    let mut rng = Stream::new(21);
    let mut worse = 0;
    for _ in 0..300 {
        let f = DMat3::from_cols_array(&std::array::from_fn(|_| 2.0 * random(&mut rng)));
        let x = deformed(f);
        let mut p = Points::zeros(6);
        b.project(0..2, View { x: &x, state: &[], shared: &[], targets: &[] }, &mut p.columns_mut());
        let own = DMat3::from_cols(p.get(0), p.get(1), p.get(2)) - f;
        let best = (0..=40)
            .flat_map(|i| (0..=40 - i).map(move |j| [1.0, f64::from(i) / 40.0, f64::from(j) / 40.0]))
            .map(|w| ExampleTetrahedra::fit(f, b.blend(0, &w)).1)
            .fold(f64::INFINITY, f64::min);
        worse += usize::from(inner(&own, &own) > best * (1.0 + 1e-9));
    }
    assert!(worse <= 3, "{worse} of 300 random gradients, half of them inverted, found only a local minimum");
    println!("{worse} of 300 local minima");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let new = |examples: &[Points], weights| {
        ExampleTetrahedra::new(&ELEMENTS, &rest(), &[1.0; 2], examples, weights, 1.0).unwrap_err()
    };
    let mut flat = rest();
    flat.set(4, (flat.get(1) + flat.get(2)) * 0.5);
    let expected = ExampleError::Flattened { example: 1, elements: vec![1] };
    assert_eq!(new(&[rest(), flat], ExampleWeights::Own), expected);
    let short: Points = rest().iter().take(3).collect();
    assert_eq!(new(&[short], ExampleWeights::Own), ExampleError::Count { example: 0, found: 3, wanted: 5 });
    assert_eq!(new(&vec![rest(); 16], ExampleWeights::Own), ExampleError::TooMany { found: 16, most: 15 });
}
