//! Particles on a cubic lattice inside a shape, and the springs between lattice neighbours.

use crate::error::{GeometryError, positive};
use glam::DVec3;

/// More particles than this are refused: it is nearly always a spacing in the wrong unit.
pub(crate) const MAX_PARTICLES: usize = 5_000_000;
/// Cells looked at while filling; a box this much larger than its shape means a sliver of a shape.
const MAX_CELLS: f64 = 4e8;

/// The cells whose centre is inside a shape, in rows along x, then y, then z.
#[derive(Default)]
pub(crate) struct Lattice {
    cells: Vec<[i32; 3]>,
    spacing: f64,
    /// How much later than the origin, in cells, the lattice begins.
    shift: DVec3,
}

impl Lattice {
    /// Cells of width `spacing` between `lo` and `hi` whose centre is `inside`. Cell centres are at odd
    /// halves of the spacing, so that a shape symmetric about a coordinate plane keeps its symmetry.
    pub fn fill(
        lo: DVec3,
        hi: DVec3,
        spacing: f64,
        inside: &mut dyn FnMut(DVec3) -> bool,
    ) -> Result<Lattice, GeometryError> {
        let mut each = |points: &[DVec3]| points.iter().map(|&p| inside(p)).collect();
        Lattice::fill_many(lo, hi, spacing, DVec3::ZERO, &mut each)
    }

    /// The same, asked for a layer of cells at a time, which can be shared out to threads; and beginning `shift` cells
    /// later.
    pub fn fill_many(
        lo: DVec3,
        hi: DVec3,
        spacing: f64,
        shift: DVec3,
        inside: &mut dyn FnMut(&[DVec3]) -> Vec<bool>,
    ) -> Result<Lattice, GeometryError> {
        let mut lattice = Lattice { cells: Vec::new(), spacing: positive("spacing", spacing)?, shift };
        let (from, to) = ((lo / spacing).floor() - 1.0, (hi / spacing).ceil() + 1.0);
        let size = to - from;
        if size.x * size.y * size.z > MAX_CELLS {
            return Err(too_many(lo, hi, spacing));
        }
        // A refusal should come at once: guess from a lattice eight times as coarse.
        if size.x * size.y * size.z > 3e7 {
            let guess = Lattice::fill_many(lo, hi, 8.0 * spacing, shift, inside)?.len() * 512;
            if guess > MAX_PARTICLES / 2 * 3 {
                return Err(too_many(lo, hi, spacing));
            }
        }
        for k in from.z as i32..to.z as i32 {
            let row = |j| (from.x as i32..to.x as i32).map(move |i| [i, j, k]);
            let layer: Vec<[i32; 3]> = (from.y as i32..to.y as i32).flat_map(row).collect();
            let centers: Vec<DVec3> = layer.iter().map(|&cell| lattice.center(cell)).collect();
            let kept = layer.into_iter().zip(inside(&centers)).filter(|(_, inside)| *inside);
            lattice.cells.extend(kept.map(|(cell, _)| cell));
            if lattice.cells.len() > MAX_PARTICLES {
                return Err(too_many(lo, hi, spacing));
            }
        }
        Ok(lattice)
    }

    fn center(&self, [i, j, k]: [i32; 3]) -> DVec3 {
        (DVec3::new(f64::from(i) + 0.5, f64::from(j) + 0.5, f64::from(k) + 0.5) + self.shift) * self.spacing
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cells, sorted by z, then y, then x; cell i reaches from i to i + 1 times the spacing.
    pub fn cells(&self) -> &[[i32; 3]] {
        &self.cells
    }

    /// Width of the cells.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Particle positions.
    pub fn points(&self) -> Vec<DVec3> {
        self.cells.iter().map(|&c| self.center(c)).collect()
    }

    /// Every pair of particles that share a lattice cell's edge, face diagonal or space diagonal.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        lattice_edges(&self.cells)
    }
}

/// Pairs of cells that differ by at most one in every coordinate; `cells` sorted by z, then y, then x.
pub(crate) fn lattice_edges(cells: &[[i32; 3]]) -> Vec<[u32; 2]> {
    let key = |c: &[i32; 3]| [c[2], c[1], c[0]];
    let mut edges = Vec::with_capacity(cells.len() * 12);
    for (a, c) in cells.iter().enumerate() {
        // Each pair once: only neighbours later in the order, found row by row.
        if cells.get(a + 1).is_some_and(|n| *n == [c[0] + 1, c[1], c[2]]) {
            edges.push([a as u32, a as u32 + 1]);
        }
        for (dy, dz) in [(1, 0), (-1, 1), (0, 1), (1, 1)] {
            let first = [c[2] + dz, c[1] + dy, c[0] - 1];
            let start = a + 1 + cells[a + 1..].partition_point(|n| key(n) < first);
            for (b, n) in cells.iter().enumerate().skip(start).take(3) {
                if n[1] == first[1] && n[2] == first[0] && n[0] <= c[0] + 1 {
                    edges.push([a as u32, b as u32]);
                }
            }
        }
    }
    edges
}

/// The error for a spacing so small that there would be too many particles.
pub(crate) fn too_many(lo: DVec3, hi: DVec3, spacing: f64) -> GeometryError {
    let size = hi - lo;
    let enough = (size.x * size.y * size.z / MAX_PARTICLES as f64).cbrt();
    GeometryError::new(
        format!("a spacing of {spacing} m gives more than {MAX_PARTICLES} particles"),
        format!("use a spacing of {enough:.2e} m or more; lengths are in metres"),
    )
}

/// The error for a spacing so large that no particle is inside.
pub(crate) fn too_few(lo: DVec3, hi: DVec3, spacing: f64) -> GeometryError {
    let fits = (hi - lo).min_element() / 4.0;
    GeometryError::new(
        format!("a spacing of {spacing} m leaves no particle inside the shape"),
        format!("use a spacing of {fits:.2e} m or less; lengths are in metres"),
    )
}
