//! Clouds of every kind to try the transform and its derivative on.

mod clouds;
mod degenerate;
mod derivative;
mod momentum;

use super::{Cloud, Fit};
use crate::SplitMix64;
use crate::rotation::tests::{random, random_matrix, random_rotation};
use glam::{DMat3, DVec3};

pub(super) fn random_vector(rng: &mut SplitMix64) -> DVec3 {
    DVec3::new(random(rng), random(rng), random(rng))
}

/// A cloud, where its points are now, the frame before, and a bound point.
pub(super) struct Case {
    pub kind: &'static str,
    pub cloud: Cloud,
    pub now: Vec<DVec3>,
    pub previous: DMat3,
    pub bound: DVec3,
    /// Of the rest cloud.
    pub size: f64,
}

impl Case {
    pub fn fit(&self) -> Fit {
        self.cloud.fit(|i| self.now[i], self.previous)
    }
}

const KINDS: [&str; 9] =
    ["random", "planar", "thin", "near-symmetric", "mirrored", "tiny", "huge", "three points", "many points"];

/// So many cases of each kind, all determined, about the origin.
pub(super) fn cases(each: usize) -> Vec<Case> {
    let mut rng = SplitMix64::new(17);
    let mut list = Vec::new();
    for kind in KINDS {
        let determined = std::iter::from_fn(|| Some(case(kind, &mut rng)));
        let determined = determined.take(4 * each).flatten().filter(|c: &Case| c.fit().is_determined());
        let before = list.len();
        list.extend(determined.take(each));
        assert_eq!(list.len() - before, each, "hardly any {kind} cloud is determined");
    }
    list
}

fn case(kind: &'static str, rng: &mut SplitMix64) -> Option<Case> {
    let count = match kind {
        "three points" => 3,
        "near-symmetric" => 8,
        "many points" => 60,
        _ => 4 + (random(rng).abs() * 8.0) as usize,
    };
    let corner = |i: usize| {
        let side = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        DVec3::new(side(0), side(1), side(2))
    };
    let thickness = 10f64.powf(-0.5 - random(rng).abs());
    let size = match kind {
        "tiny" => 1e-6,
        "huge" => 1e6,
        _ => 1.0,
    };
    let turn = random_rotation(rng);
    let rest: Vec<DVec3> = (0..count)
        .map(|i| {
            let shape = match kind {
                "planar" => random_vector(rng) * DVec3::new(1.0, 1.0, 0.0),
                "thin" => random_vector(rng) * DVec3::new(1.0, thickness, thickness),
                "near-symmetric" => corner(i) + random_vector(rng) * 1e-9,
                _ => random_vector(rng),
            };
            turn * shape * size
        })
        .collect();
    let weights: Vec<f64> =
        rest.iter().map(|_| if kind == "near-symmetric" { 1.0 } else { 0.1 + random(rng).abs() }).collect();
    let cloud = Cloud::new(&rest, &weights).ok()?;

    // Turned anyhow, stretched and pushed out of shape.
    let strength = if kind == "near-symmetric" { 1e-9 } else { 0.3 };
    let mirror = if kind == "mirrored" { DVec3::new(-1.0, 1.0, 1.0) } else { DVec3::ONE };
    let stretch = random_rotation(rng)
        * (DMat3::IDENTITY + random_matrix(rng) * strength)
        * DMat3::from_diagonal(mirror)
        * turn.transpose();
    let now = rest
        .iter()
        .map(|x| {
            let noise = if kind == "thin" { 0.3 * thickness } else { 0.5 * strength };
            stretch * *x + random_vector(rng) * (noise * size)
        })
        .collect();
    let bound = random_vector(rng) * (2.0 * size);
    Some(Case { kind, cloud, now, previous: random_rotation(rng), bound, size })
}
