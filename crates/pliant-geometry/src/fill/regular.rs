//! Particles on a lattice about the middle of the mesh, in place or jittered, and the search for their number.

use super::{FillDensity, FillRegion, FilledPoints};
use crate::lattice::Lattice;
use crate::{GeometryError, SplitMix64};
use glam::DVec3;

/// Fills in the search for a number, at most; half of them for spacings, the rest for where the lattice begins.
const TRIES: usize = 6;
/// A number this near, as a share, is not worth another fill.
const NEAR: f64 = 0.01;
/// How far a jittered particle may go along each axis, in cells.
const JITTER: f64 = 0.3;

/// A lattice and where its middle is.
pub(super) struct Regular {
    lattice: Lattice,
    middle: DVec3,
}

/// Without particles it is an error.
pub(super) fn fill(region: &FillRegion, by: FillDensity) -> Result<Regular, GeometryError> {
    let middle = 0.5 * (region.lo + region.hi);
    let at = |spacing: f64, shift: DVec3| {
        let (lo, hi) = (region.lo - middle, region.hi - middle);
        let mut inside = |points: &[DVec3]| {
            let moved: Vec<DVec3> = points.iter().map(|&p| p + middle).collect();
            region.inside(&moved)
        };
        Lattice::fill_many(lo, hi, spacing, shift, &mut inside)
    };
    let lattice = match by {
        FillDensity::Spacing(spacing) => at(spacing, DVec3::ZERO)?,
        FillDensity::Count(count) => search(region, count, &at)?,
    };
    if lattice.len() == 0 {
        return Err(region.too_few(lattice.spacing()));
    }
    Ok(Regular { lattice, middle })
}

/// The lattice nearest to `count` of a few: the number falls with the cube of the spacing, nearly, and where it jumps,
/// as in a box, lattices that begin half a cell later on some axes lie between.
fn search(
    region: &FillRegion,
    count: usize,
    at: &dyn Fn(f64, DVec3) -> Result<Lattice, GeometryError>,
) -> Result<Lattice, GeometryError> {
    let wanted = count as f64;
    let first = first_spacing(region, wanted, at)?;
    let mut spacing = first;
    let mut best = at(spacing, DVec3::ZERO)?;
    let miss = |lattice: &Lattice| (lattice.len() as f64 - wanted).abs();
    let mut last = best.len();
    for _ in 0..TRIES {
        if miss(&best) <= NEAR * wanted {
            return Ok(best);
        }
        spacing *= (last.max(1) as f64 / wanted).cbrt();
        let next = at(spacing, DVec3::ZERO)?;
        last = next.len();
        if miss(&next) < miss(&best) {
            best = next;
        }
    }
    for shift in 1..8 {
        if miss(&best) <= NEAR * wanted {
            break;
        }
        let half = |bit: i32| if shift >> bit & 1 == 1 { 0.5 } else { 0.0 };
        let next = at(first, DVec3::new(half(0), half(1), half(2)))?;
        if miss(&next) < miss(&best) {
            best = next;
        }
    }
    Ok(best)
}

fn room_volume(lattice: &Lattice) -> f64 {
    lattice.len() as f64 * lattice.spacing().powi(3)
}

/// A spacing that gives about `wanted` particles, by the volume of a coarse lattice; finer where that finds nothing.
pub(super) fn first_spacing(
    region: &FillRegion,
    wanted: f64,
    at: &dyn Fn(f64, DVec3) -> Result<Lattice, GeometryError>,
) -> Result<f64, GeometryError> {
    let size = region.hi - region.lo;
    // A flat box has no volume: it is filled like one as thick as a thousandth of its longest side.
    let bulk = size.max(DVec3::splat(1e-3 * size.max_element())).element_product();
    let mut spacing = (bulk / 1000.0).cbrt();
    for _ in 0..5 {
        if spacing <= 0.0 {
            break;
        }
        let coarse = at(spacing, DVec3::ZERO)?;
        if coarse.len() >= 50 {
            return Ok((room_volume(&coarse) / wanted).cbrt());
        }
        spacing *= 0.5;
    }
    Err(GeometryError::new(
        "the mesh winds about next to nothing, so there is no inside to fill",
        "close its holes, or use it as cloth",
    ))
}

impl Regular {
    pub fn filled(self) -> FilledPoints {
        let points = self.lattice.points().into_iter().map(|p| p + self.middle).collect();
        FilledPoints { points, edges: self.lattice.edges(), share: self.lattice.spacing().powi(3) }
    }

    pub fn jittered(self, region: &FillRegion, seed: u64) -> FilledPoints {
        let reach = JITTER * self.lattice.spacing();
        let mut filled = self.filled();
        let mut rng = SplitMix64::new(seed);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
        let moved: Vec<DVec3> = filled.points.iter().map(|&p| p + random() * reach).collect();
        let inside = region.inside(&moved);
        for ((point, moved), inside) in filled.points.iter_mut().zip(moved).zip(inside) {
            if inside {
                *point = moved;
            }
        }
        filled
    }
}
