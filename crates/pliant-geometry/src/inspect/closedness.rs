//! Whether a mesh bounds a solid: by its edges, and by whether winding numbers around it are whole.

use super::shells::winding;
use super::topology::MeshTopology;
use crate::SplitMix64;
use crate::parallel::map_tasks;
use crate::triangle::unit_normal;
use glam::DVec3;

/// How far a mesh is from bounding a solid, with coincident vertices taken as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closedness {
    /// No faces at all.
    #[default]
    Nothing,
    /// Every edge has an even number of faces: there are no openings.
    Closed,
    /// It has openings, but inside and outside can be told nearly everywhere: it can be filled.
    NearlyClosed,
    /// A surface with boundary, such as a garment.
    Open,
    /// Faces that hardly share edges; filling goes by winding numbers and may be rough.
    Soup,
}

impl Closedness {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Closedness::Nothing => "nothing",
            Closedness::Closed => "closed",
            Closedness::NearlyClosed => "nearly closed",
            Closedness::Open => "open",
            Closedness::Soup => "polygon soup",
        }
    }

    /// Decides from the welded topology, and the share of points near the surface with whole winding numbers.
    pub(crate) fn decide(topology: &MeshTopology, wholeness: Option<f64>) -> Closedness {
        if topology.edges == 0 {
            Closedness::Nothing
        } else if topology.boundary_edges.is_empty() && topology.even {
            Closedness::Closed
        } else if wholeness.is_some_and(|share| share >= 0.9) {
            Closedness::NearlyClosed
        } else if 2 * topology.boundary_edges.count > topology.edges && topology.pieces > 1 {
            Closedness::Soup
        } else {
            Closedness::Open
        }
    }
}

/// The share of points a little off the surface, on both sides, that it winds about a whole number of times
/// (within a tenth): 1 for a closed mesh, near 0 for a sheet.
pub(crate) fn wholeness(positions: &[DVec3], triangles: &[[u32; 3]], threads: usize) -> Option<f64> {
    let at = |v: u32| positions[v as usize];
    let used = || triangles.iter().flatten().map(|&v| at(v));
    let (lo, hi) = used().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)));
    let step = 0.01 * (hi - lo).length();
    if triangles.is_empty() || step <= 0.0 {
        return None;
    }
    // Enough points to tell, few enough for a large mesh: at most some ten million solid angles.
    let count = (10_000_000 / triangles.len()).clamp(6, 50);
    let mut rng = SplitMix64::new(0x5EED);
    let picks: Vec<usize> = (0..count).map(|_| rng.below(triangles.len() as u64) as usize).collect();
    let whole = map_tasks(count, threads, |k| {
        let [a, b, c] = triangles[picks[k]].map(at);
        let normal = unit_normal([a, b, c]);
        [-step, step].map(|off| {
            let w = winding(positions, triangles, (a + b + c) / 3.0 + normal * off);
            (w - w.round()).abs() < 0.1
        })
    });
    let good = whole.iter().flatten().filter(|&&w| w).count();
    Some(good as f64 / (2 * count) as f64)
}
