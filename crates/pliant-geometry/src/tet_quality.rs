//! How well shaped tetrahedra are: their dihedral angles and how round they are.

use crate::TetMesh;
use glam::DVec3;

/// The worst shapes in a mesh of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TetQuality {
    /// Smallest angle between two faces, in degrees: 70.5° in a regular tetrahedron.
    pub smallest_dihedral: f64,
    /// Largest angle between two faces, in degrees.
    pub largest_dihedral: f64,
    /// Least of three times the inscribed over the circumscribed radius: 1 for a regular tetrahedron, 0 for a flat one.
    pub least_radius_ratio: f64,
}

impl TetMesh {
    /// The worst angles and radii; those of a regular tetrahedron for a mesh without any.
    pub fn quality(&self) -> TetQuality {
        let regular = (1.0f64 / 3.0).acos();
        let (mut least, mut most) = if self.tetrahedra.is_empty() { (regular, regular) } else { (7.0, 0.0) };
        let mut ratio: f64 = 1.0;
        for t in &self.tetrahedra {
            let corners = t.map(|i| self.points[i as usize]);
            for angle in dihedrals(corners) {
                least = least.min(angle);
                most = most.max(angle);
            }
            ratio = ratio.min(radius_ratio(corners));
        }
        TetQuality {
            smallest_dihedral: least.to_degrees(),
            largest_dihedral: most.to_degrees(),
            least_radius_ratio: ratio,
        }
    }
}

/// The angles between faces at the six edges, in radians; 0 or π where a tetrahedron is flat.
fn dihedrals([a, b, c, d]: [DVec3; 4]) -> [f64; 6] {
    let at = |p: DVec3, q: DVec3, r: DVec3, s: DVec3| {
        let along = q - p;
        let (u, v) = (along.cross(r - p), along.cross(s - p));
        u.cross(v).length().atan2(u.dot(v))
    };
    [at(a, b, c, d), at(a, c, b, d), at(a, d, b, c), at(b, c, a, d), at(b, d, a, c), at(c, d, a, b)]
}

fn radius_ratio([a, b, c, d]: [DVec3; 4]) -> f64 {
    let (u, v, w) = (b - a, c - a, d - a);
    let (vw, wu, uv) = (v.cross(w), w.cross(u), u.cross(v));
    let six = u.dot(vw).abs();
    let faces = vw.length() + wu.length() + uv.length() + (c - b).cross(d - b).length();
    let across = (vw * u.length_squared() + wu * v.length_squared() + uv * w.length_squared()).length();
    // Inscribed radius 6V / 2A over circumscribed |…| / 12V; with `six` = 6V and `faces` twice the area.
    let whole = faces * across;
    if whole > 0.0 { 3.0 * (six / faces) * (2.0 * six / across) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tetrahedra_have_their_known_shapes() {
        let mesh = |points: [DVec3; 4]| TetMesh {
            points: points.to_vec(),
            tetrahedra: vec![[0, 1, 2, 3]],
            regions: Vec::new(),
        };
        let regular = mesh([
            DVec3::ONE,
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
        ]);
        let quality = regular.quality();
        assert!((quality.least_radius_ratio - 1.0).abs() < 1e-12);
        assert!((quality.smallest_dihedral - 70.528779).abs() < 1e-6);
        let corner = mesh([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).quality();
        assert!((corner.largest_dihedral - 90.0).abs() < 1e-9);
        assert!((corner.smallest_dihedral - 2.0f64.sqrt().atan().to_degrees()).abs() < 1e-9);
        // Inscribed (1 − 1/√3)/2, circumscribed √3/2.
        let want = 3.0 * (1.0 - 1.0 / 3.0f64.sqrt()) / 2.0 / (3.0f64.sqrt() / 2.0);
        assert!((corner.least_radius_ratio / want - 1.0).abs() < 1e-12, "{corner:?} {want}");
        let flat = mesh([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y]).quality();
        assert_eq!((flat.smallest_dihedral, flat.least_radius_ratio), (0.0, 0.0));
    }
}
