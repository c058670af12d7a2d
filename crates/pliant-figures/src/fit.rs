//! Best fits the engine has no part in: Horn's rotation by power iteration, and affine maps.

use pliant::{DMat3, DQuat, DVec3};

/// The rotation r → x of weighted pairs as the dominant eigenvector of Horn's 4×4 matrix; sharing no
/// code with the engine's polar decomposition is the point.
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

/// Angle of a rotation in radians, exact for small ones too (an arc cosine is not).
pub fn angle(q: DQuat) -> f64 {
    2.0 * q.xyz().length().atan2(q.w.abs())
}

fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}

/// Angle (radians) of the rotation that best takes `rest` to `now`, both of equal masses.
pub fn turned(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let (rc, xc) = (mean(rest), mean(now));
    angle(horn_rotation(rest.iter().zip(now).map(|(r, x)| (*r - rc, *x - xc))))
}

/// The best affine map's linear part from `rest` to `now`.
pub fn best_linear(rest: &[DVec3], now: &[DVec3]) -> DMat3 {
    let (rc, xc) = (mean(rest), mean(now));
    let (mut qq, mut pq) = (DMat3::ZERO, DMat3::ZERO);
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    for (r, x) in rest.iter().zip(now) {
        qq += outer(*r - rc, *r - rc);
        pq += outer(*x - xc, *r - rc);
    }
    pq * qq.inverse()
}

/// Where the points of `now` are off their rest shape, seen from the best rigid fit.
pub fn displacements(rest: &[DVec3], now: &[DVec3]) -> Vec<DVec3> {
    let (rc, xc) = (mean(rest), mean(now));
    let turn = horn_rotation(rest.iter().zip(now).map(|(r, x)| (*r - rc, *x - xc))).inverse();
    rest.iter().zip(now).map(|(r, x)| turn * (*x - xc) - (*r - rc)).collect()
}

/// Root mean square of the distance from the best rigid fit.
pub fn beyond_rigid(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let all = displacements(rest, now);
    (all.iter().map(|d| d.length_squared()).sum::<f64>() / all.len() as f64).sqrt()
}

/// Root mean square of what the best affine map from `rest` to `now` leaves.
pub fn beyond_affine(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let (rc, xc) = (mean(rest), mean(now));
    let map = best_linear(rest, now);
    let sum: f64 = rest.iter().zip(now).map(|(r, x)| (map * (*r - rc) - (*x - xc)).length_squared()).sum();
    (sum / rest.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud() -> Vec<DVec3> {
        (0..30)
            .map(f64::from)
            .map(|t| DVec3::new((t * 1.3).sin(), (t * 2.1).cos(), (t * 0.7).sin()))
            .collect()
    }

    #[test]
    fn known_rotations_are_found() {
        for size in [0.0, 1e-9, 0.3, 3.0] {
            let q = DQuat::from_scaled_axis(DVec3::new(2.0, -1.0, 2.0) / 3.0 * size);
            let now: Vec<DVec3> = cloud().iter().map(|p| q * *p + DVec3::X).collect();
            let found = turned(&cloud(), &now);
            assert!((found - size).abs() < 1e-13 + 1e-12 * size, "{size}: {found}");
        }
    }

    #[test]
    fn affine_maps_leave_nothing() {
        let m = DMat3::from_cols(DVec3::new(1.5, 0.2, 0.0), DVec3::Y, DVec3::new(0.0, 0.1, 0.7));
        let now: Vec<DVec3> = cloud().iter().map(|p| m * *p).collect();
        assert!(beyond_affine(&cloud(), &now) < 1e-14);
        let bent: Vec<DVec3> = cloud().iter().map(|p| *p + DVec3::Y * p.x * p.x).collect();
        assert!(beyond_affine(&cloud(), &bent) > 0.1);
    }
}
