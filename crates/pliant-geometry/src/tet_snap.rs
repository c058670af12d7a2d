//! Moving the outer points of a lattice of tetrahedra onto a surface, as far as the tetrahedra stay sound.

use crate::TetMesh;
use crate::tet_mesh::outward_faces;
use crate::triangle::unit_normal;
use glam::DVec3;

/// Points go all the way or so many parts of it.
const PARTS: u8 = 8;
/// Cosine of 15 degrees: no two faces of a tetrahedron may meet at a smaller angle.
const LEAST_ANGLE: f64 = 0.965_925_826_289_068_3;

impl TetMesh {
    /// Moves every boundary point toward `onto` it, if that is no further than `reach`; less far where a
    /// tetrahedron would get an angle below 15 degrees between faces. All points give way at once, so that a
    /// symmetric mesh stays symmetric. The mesh must be sound to begin with.
    pub(crate) fn snap(&mut self, reach: f64, onto: &dyn Fn(DVec3) -> DVec3) {
        let rest = self.points.clone();
        let mut displacement = vec![DVec3::ZERO; rest.len()];
        let mut parts = vec![0; rest.len()];
        for &i in self.boundary().as_flattened() {
            let i = i as usize;
            if parts[i] == 0 {
                displacement[i] = onto(rest[i]) - rest[i];
                // Also false for what is not a number.
                parts[i] = if displacement[i].length() <= reach { PARTS } else { 0 };
            }
        }
        let moving: Vec<[u32; 4]> =
            self.tetrahedra.iter().copied().filter(|t| t.iter().any(|&i| parts[i as usize] > 0)).collect();
        loop {
            for (i, p) in self.points.iter_mut().enumerate().filter(|(i, _)| displacement[*i] != DVec3::ZERO)
            {
                *p = rest[i] + displacement[i] * (f64::from(parts[i]) / f64::from(PARTS));
            }
            let mut yields = vec![false; rest.len()];
            for t in moving.iter().filter(|&&t| !self.is_sound(t)) {
                // The one that goes furthest gives way, and those that go as far but for rounding.
                let far = t.map(|i| displacement[i as usize].length() * f64::from(parts[i as usize]));
                let furthest = far.into_iter().fold(0.0, f64::max);
                t.iter()
                    .zip(far)
                    .for_each(|(&i, far)| yields[i as usize] |= far > 0.0 && far >= 0.999 * furthest);
            }
            if !yields.contains(&true) {
                break;
            }
            parts.iter_mut().zip(&yields).for_each(|(part, &yields)| *part -= u8::from(yields));
        }
    }

    /// Whether a tetrahedron is the right way round and all its faces meet at more than the least angle.
    fn is_sound(&self, t: [u32; 4]) -> bool {
        self.edge_matrix(t).determinant() > 0.0 && self.sharpest_cosine(t) < LEAST_ANGLE
    }

    /// The cosine of the smallest angle between two faces of a tetrahedron.
    fn sharpest_cosine(&self, t: [u32; 4]) -> f64 {
        let normals = outward_faces(t).map(|face| unit_normal(face.map(|i| self.points[i as usize])));
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        pairs.into_iter().map(|(i, j)| -normals[i].dot(normals[j])).fold(-1.0, f64::max)
    }

    /// The smallest angle between two faces of any tetrahedron, as its cosine (−1 without tetrahedra).
    pub fn sharpest_dihedral_cosine(&self) -> f64 {
        self.tetrahedra.iter().map(|&t| self.sharpest_cosine(t)).fold(-1.0, f64::max)
    }
}
