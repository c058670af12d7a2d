//! Eight triangles side by side, and the exact solid angle of them all together.

use glam::DVec3;

/// How many triangles a leaf of the tree holds.
pub(super) const WIDTH: usize = 8;

type BlockLanes = [f64; WIDTH];

/// The corners of up to eight triangles, coordinate by coordinate so that they are worked on side by side; what is
/// left over is filled with triangles that are a point of the last one.
pub(super) struct TriangleBlock([[BlockLanes; 3]; 3]);

impl TriangleBlock {
    pub fn new(triangles: &[[DVec3; 3]]) -> TriangleBlock {
        let filler = triangles.last().map_or([DVec3::ZERO; 3], |t| [t[0]; 3]);
        let corner = |k: usize, i: usize| triangles.get(k).unwrap_or(&filler)[i];
        TriangleBlock([0, 1, 2].map(|i| [0, 1, 2].map(|axis| std::array::from_fn(|k| corner(k, i)[axis]))))
    }

    pub fn triangles(&self) -> [[DVec3; 3]; WIDTH] {
        std::array::from_fn(|k| self.0.map(|[x, y, z]| DVec3::new(x[k], y[k], z[k])))
    }

    /// Twice the sum of the angles of the complex numbers whose angle is half that of each triangle (van Oosterom
    /// and Strackee 1983). They are multiplied, which adds up the angles, and whole turns are counted on the way:
    /// one arctangent serves all.
    pub fn solid_angle(&self, p: DVec3) -> f64 {
        let (real, imaginary) = self.half_angles(p);
        let mut turns = 0;
        let (mut re, mut im) = (1.0, 0.0);
        for k in 0..WIDTH {
            let (x, y) = (real[k], imaginary[k]);
            let before = im;
            (re, im) = (re * x - im * y, re * y + im * x);
            if before >= 0.0 && y >= 0.0 && im < 0.0 {
                turns += 1;
            } else if before < 0.0 && y < 0.0 && im >= 0.0 {
                turns -= 1;
            }
        }
        2.0 * im.atan2(re) + 4.0 * std::f64::consts::PI * f64::from(turns)
    }

    /// A complex number for each triangle with half its solid angle; 1 for a triangle whose plane `p` is in.
    fn half_angles(&self, p: DVec3) -> (BlockLanes, BlockLanes) {
        let (mut real, mut imaginary) = ([1.0; WIDTH], [0.0; WIDTH]);
        for k in 0..WIDTH {
            let at = |i: usize, axis: usize| self.0[i][axis][k] - p[axis];
            let a = [at(0, 0), at(0, 1), at(0, 2)];
            let b = [at(1, 0), at(1, 1), at(1, 2)];
            let c = [at(2, 0), at(2, 1), at(2, 2)];
            let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
            let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
            let (la, lb, lc) = (dot(a, a).sqrt(), dot(b, b).sqrt(), dot(c, c).sqrt());
            let (above, whole) = (dot(a, cross), la * lb * lc);
            let below = whole + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
            let seen = above != 0.0 && whole > 0.0;
            let scale = 1.0 / if seen { whole } else { 1.0 };
            real[k] = if seen { below * scale } else { 1.0 };
            imaginary[k] = if seen { above * scale } else { 0.0 };
        }
        (real, imaginary)
    }
}
