//! Blue noise: five times too many random points, thinned out where they are crowded.

use super::eliminate::eliminate;
use super::regular::first_spacing;
use super::{FillDensity, FillRegion, FilledPoints};
use crate::lattice::{Lattice, MAX_PARTICLES, too_many};
use crate::{GeometryError, KdTree, SplitMix64};
use glam::DVec3;

/// Random points for each that is wanted.
const CANDIDATES: usize = 5;
/// Neighbours are nearer than this many spacings: as many as share a lattice cell.
const NEIGHBOUR: f64 = 1.75;

pub(super) fn fill(region: &FillRegion, by: FillDensity, seed: u64) -> Result<FilledPoints, GeometryError> {
    let middle = 0.5 * (region.lo + region.hi);
    let at = |spacing: f64, shift: DVec3| {
        let mut inside = |points: &[DVec3]| {
            let moved: Vec<DVec3> = points.iter().map(|&p| p + middle).collect();
            region.inside(&moved)
        };
        Lattice::fill_many(region.lo - middle, region.hi - middle, spacing, shift, &mut inside)
    };
    let spacing = match by {
        FillDensity::Spacing(spacing) => spacing,
        FillDensity::Count(count) => first_spacing(region, count as f64, &at)?,
    };
    let cells = around(at(spacing, DVec3::ZERO)?.cells());
    if cells.is_empty() {
        return Err(region.too_few(spacing));
    }
    let mut rng = SplitMix64::new(seed);
    let (mut points, mut rounds) = (Vec::new(), 0);
    let wanted = loop {
        let mut candidates = Vec::with_capacity(cells.len() * CANDIDATES);
        for &[i, j, k] in &cells {
            let corner = DVec3::new(f64::from(i), f64::from(j), f64::from(k));
            for _ in 0..CANDIDATES {
                candidates.push(middle + (corner + DVec3::new(rng.unit(), rng.unit(), rng.unit())) * spacing);
            }
        }
        let inside = region.inside(&candidates);
        points.extend(candidates.into_iter().zip(inside).filter(|(_, inside)| *inside).map(|(p, _)| p));
        rounds += 1;
        let wanted = match by {
            FillDensity::Count(count) => count,
            FillDensity::Spacing(_) => {
                (points.len() as f64 / (rounds * CANDIDATES) as f64).round().max(1.0) as usize
            }
        };
        // More rounds only where the first lattice was far from the number asked for.
        if points.len() >= 4 * wanted || rounds >= 20 {
            break wanted;
        }
    };
    if wanted > MAX_PARTICLES {
        return Err(too_many(region.lo, region.hi, spacing));
    }
    if points.len() < wanted {
        return Err(region.too_few(spacing));
    }
    let volume = points.len() as f64 / (rounds * CANDIDATES) as f64 * spacing.powi(3);
    let share = volume / wanted as f64;
    let points = eliminate(points, wanted, volume);
    let edges = neighbours(&points, NEIGHBOUR * share.cbrt());
    Ok(FilledPoints { points, edges, share })
}

/// Cells and all that touch them, sorted by z, then y, then x.
fn around(cells: &[[i32; 3]]) -> Vec<[i32; 3]> {
    let mut all: Vec<[i32; 3]> = cells
        .iter()
        .flat_map(|&[i, j, k]| (0..27).map(move |n| [k + n / 9 - 1, j + n / 3 % 3 - 1, i + n % 3 - 1]))
        .collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|[k, j, i]| [i, j, k]).collect()
}

/// All pairs no further apart than `radius`, sorted.
fn neighbours(points: &[DVec3], radius: f64) -> Vec<[u32; 2]> {
    let tree = KdTree::new(points);
    let mut edges = Vec::new();
    for (i, &p) in points.iter().enumerate() {
        tree.within(p, radius, |j| {
            if j > i as u32 {
                edges.push([i as u32, j]);
            }
        });
    }
    edges.sort_unstable();
    edges
}
