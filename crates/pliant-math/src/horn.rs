//! Horn's rotation by power iteration: slow, and sharing no code with anything else here.
//!
//! Tests and figures measure the engine with it, so that an error in the fast fits cannot hide itself.

use glam::{DQuat, DVec3};

/// The rotation r → x that best fits pairs (r, x) about their centres, weights multiplied into either, as the dominant
/// eigenvector of Horn's 4×4 matrix (Horn 1987). No pairs, or nothing but zeros, give the identity.
pub fn horn_rotation(pairs: impl Iterator<Item = (DVec3, DVec3)>) -> DQuat {
    let mut s = [[0.0; 3]; 3];
    for (r, x) in pairs {
        for (i, row) in s.iter_mut().enumerate() {
            for (j, e) in row.iter_mut().enumerate() {
                *e += r[i] * x[j];
            }
        }
    }
    if s == [[0.0; 3]; 3] {
        return DQuat::IDENTITY;
    }
    let t = s[0][0] + s[1][1] + s[2][2];
    let (a, b, c) = (s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]);
    let mut m = [[t, a, b, c], [a, 0.0, 0.0, 0.0], [b, 0.0, 0.0, 0.0], [c, 0.0, 0.0, 0.0]];
    for i in 0..3 {
        for j in 0..3 {
            m[i + 1][j + 1] = s[i][j] + s[j][i] - if i == j { t } else { 0.0 };
        }
    }
    // Shifted so that the largest eigenvalue is the largest in size, then squared to isolate it.
    let shift = m.iter().flatten().map(|v: &f64| v.abs()).sum::<f64>();
    (0..4).for_each(|i| m[i][i] += shift);
    for _ in 0..60 {
        let mut p = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                p[i][j] = (0..4).map(|k| m[i][k] * m[k][j]).sum();
            }
        }
        let scale = p.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        p.iter_mut().flatten().for_each(|v| *v /= scale);
        m = p;
    }
    let column = (0..4).fold(0, |best, k| if m[k][k] > m[best][best] { k } else { best });
    let q = [0, 1, 2, 3].map(|row: usize| m[row][column]);
    DQuat::from_xyzw(q[1], q[2], q[3], q[0]).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_rotations_are_found() {
        let cloud =
            (0..30).map(f64::from).map(|t| DVec3::new((t * 1.3).sin(), (t * 2.1).cos(), (t * 0.7).sin()));
        for size in [0.0, 1e-9, 0.3, 3.0, std::f64::consts::PI] {
            let q = DQuat::from_scaled_axis(DVec3::new(2.0, -1.0, 2.0) / 3.0 * size);
            let found = horn_rotation(cloud.clone().map(|p| (p * 0.25, q * p)));
            let off = (found * q.inverse()).xyz().length();
            assert!(off < 1e-13, "{size}: {off}");
        }
        assert_eq!(horn_rotation(std::iter::empty()), DQuat::IDENTITY);
    }
}
