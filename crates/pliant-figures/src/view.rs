//! Bodies as pictures: triangles seen from far away, shaded, the nearest last.

use crate::plot::ShadedTriangle;
use pliant::DVec3;
use pliant_geometry::unit_normal;
use std::collections::BTreeMap;

/// Triangles seen from the direction `from`, y up.
pub fn seen(from: DVec3, points: &[DVec3], triangles: &[[u32; 3]], color: usize) -> Vec<ShadedTriangle> {
    let toward = from.normalize_or(DVec3::Z);
    let right = DVec3::Y.cross(toward).normalize_or(DVec3::X);
    let up = toward.cross(right);
    // Light comes from over the viewer's left shoulder and meets both sides of a sheet.
    let light = (toward + 0.7 * up - 0.6 * right).normalize_or(toward);
    let mut faces: Vec<(f64, ShadedTriangle)> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            let normal = unit_normal([a, b, c]);
            let shade = 0.15 + 0.75 * (normal * normal.dot(toward).signum()).dot(light).max(0.0);
            let corners = [a, b, c].map(|p| (p.dot(right), p.dot(up)));
            ((a + b + c).dot(toward), ShadedTriangle { corners, shade, color })
        })
        .collect();
    faces.sort_by(|a, b| a.0.total_cmp(&b.0));
    faces.into_iter().map(|f| f.1).collect()
}

/// The faces of tetrahedra that only one of them has.
pub fn boundary(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut count: BTreeMap<[u32; 3], (usize, [u32; 3])> = BTreeMap::new();
    for &[a, b, c, d] in tetrahedra {
        for face in [[a, c, b], [a, b, d], [a, d, c], [b, c, d]] {
            let mut key = face;
            key.sort_unstable();
            count.entry(key).or_insert((0, face)).0 += 1;
        }
    }
    count.into_values().filter(|(n, _)| *n == 1).map(|(_, face)| face).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_face_is_last_and_two_tetrahedra_share_one() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::Z + DVec3::X, DVec3::Z + DVec3::Y];
        let faces = seen(DVec3::Z, &points, &[[3, 4, 5], [0, 1, 2]], 0);
        assert_eq!(faces.len(), 2);
        // Both look the same; the nearer comes from the first triangle.
        assert_eq!(faces[0].corners, [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]);
        assert_eq!(boundary(&[[0, 1, 2, 3], [0, 2, 1, 4]]).len(), 6);
    }
}
