//! Sizes: area, lengths of edges, how far triangles are from equilateral and polygons from flat.

use super::Findings;
use crate::poly::Polygons;
use glam::DVec3;

/// Triangles longer than this times what an equilateral one of their height would be are needles.
const NEEDLE: f64 = 20.0;
/// Corners further than this share of the face's size from its plane make it bent.
const BENT: f64 = 1e-3;

/// Measures of faces and edges.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measures {
    /// Area of all faces.
    pub area: f64,
    /// Mean length of the sides of faces.
    pub mean_edge: f64,
    /// Shortest side that is longer than zero; zero if there is none.
    pub shortest_edge: f64,
    /// Length of the longest edge, in the unit of the file; zero without edges.
    pub longest_edge: f64,
    /// Mean aspect of triangles: longest edge by height upon it, 1 for an equilateral one.
    pub mean_aspect: f64,
    /// The worst aspect of a triangle with area, and a face it is of.
    pub worst_aspect: (f64, u32),
    /// Faces with triangles of aspect above 20.
    pub needles: Findings<u32>,
    /// Faces of more than three corners that are not flat within a thousandth of their size.
    pub bent: Findings<u32>,
}

impl Measures {
    pub(crate) fn new(faces: &Polygons, positions: &[DVec3], triangles: &[[u32; 3]], of: &[u32]) -> Measures {
        let at = |v: u32| positions[v as usize];
        let mut measures = Measures { shortest_edge: f64::INFINITY, ..Measures::default() };
        let (mut edges, mut with_area) = (0_u64, 0_u64);
        for face in faces.iter() {
            for (k, &v) in face.iter().enumerate() {
                let length = at(v).distance(at(face[(k + 1) % face.len()]));
                if length > 0.0 {
                    edges += 1;
                    measures.mean_edge += length;
                    measures.shortest_edge = measures.shortest_edge.min(length);
                    measures.longest_edge = measures.longest_edge.max(length);
                }
            }
        }
        measures.mean_edge /= edges.max(1) as f64;
        if edges == 0 {
            measures.shortest_edge = 0.0;
        }
        let mut last_needle = u32::MAX;
        for (t, &face) in triangles.iter().zip(of) {
            let [a, b, c] = t.map(at);
            let double = (b - a).cross(c - a).length();
            measures.area += double / 2.0;
            let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
            // Longest edge by height, times √3/2.
            let aspect = longest / double * (0.75_f64).sqrt();
            if !aspect.is_finite() {
                continue;
            }
            with_area += 1;
            measures.mean_aspect += aspect;
            if aspect > measures.worst_aspect.0 {
                measures.worst_aspect = (aspect, face);
            }
            if aspect > NEEDLE && face != last_needle {
                measures.needles.push(face);
                last_needle = face;
            }
        }
        measures.mean_aspect /= with_area.max(1) as f64;
        let bent = |f: &usize| bend(&faces.corners()[faces.range(*f)], positions) > BENT;
        if !faces.all_triangles() {
            measures.bent = (0..faces.len()).filter(bent).map(|f| f as u32).collect();
        }
        measures
    }
}

/// How far corners are from the face's plane (by Newell's normal), by the face's size.
fn bend(face: &[u32], positions: &[DVec3]) -> f64 {
    if face.len() < 4 {
        return 0.0;
    }
    let first = positions[face[0] as usize];
    let at = |k: usize| positions[face[k % face.len()] as usize] - first;
    let normal: DVec3 = (0..face.len()).map(|k| at(k).cross(at(k + 1))).sum();
    let Some(normal) = normal.try_normalize() else { return 0.0 };
    let heights = (0..face.len()).map(|k| at(k).dot(normal));
    let (lo, hi) = heights.fold((0.0_f64, 0.0_f64), |(lo, hi), h| (lo.min(h), hi.max(h)));
    let size = (0..face.len()).map(|k| at(k).length()).fold(0.0, f64::max);
    (hi - lo) / size
}
