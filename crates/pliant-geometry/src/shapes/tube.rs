//! An open tube: the side of a cylinder as a thin shell.

use super::Shape;
use crate::circle::turn;
use crate::error::positive;
use crate::lattice::MAX_PARTICLES;
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;

/// A tube about the y axis of `around` × `along` cells, without ends. Vertices are in rings, ring after ring upwards;
/// diagonals alternate like a chessboard where `around` is even.
pub fn tube(radius: f64, height: f64, around: usize, along: usize) -> Result<Shape, GeometryError> {
    positive("radius", radius)?;
    positive("height", height)?;
    if around < 3 || along == 0 {
        return Err(GeometryError::new(
            format!("a tube of {around} cells around and {along} along"),
            "a tube needs at least three cells around and one along",
        ));
    }
    if around as f64 * (along as f64 + 1.0) > MAX_PARTICLES as f64 {
        return Err(GeometryError::new(
            format!("a tube of {around} by {along} cells has more than {MAX_PARTICLES} particles"),
            "use fewer cells",
        ));
    }
    let mut shape = Shape { skin: Skin::identity(around * (along + 1)), ..Shape::default() };
    let step = height / along as f64;
    let chord = 2.0 * radius * turn(1, 2 * around).1;
    for j in 0..=along {
        let y = (j as f64 - 0.5 * along as f64) * step;
        let share = if j == 0 || j == along { 0.5 } else { 1.0 };
        for i in 0..around {
            let (c, s) = turn(i, around);
            shape.points.push(DVec3::new(radius * c, y, radius * s));
            shape.measure.push(share * chord * step);
        }
    }
    for j in 0..along {
        for i in 0..around {
            let next = (i + 1) % around;
            let [a, b] = [i, next].map(|i| (j * around + i) as u32);
            let [d, c] = [i, next].map(|i| ((j + 1) * around + i) as u32);
            let cut = if (i + j) % 2 == 0 { [[a, c, b], [a, d, c]] } else { [[a, d, b], [b, d, c]] };
            shape.triangles.extend(cut);
        }
    }
    shape.surface = TriMesh { positions: shape.points.clone(), triangles: shape.triangles.clone() };
    shape.edges = shape.surface.edges();
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tube_has_the_area_of_its_prism_and_faces_outwards() {
        let shape = tube(0.5, 2.0, 12, 7).unwrap();
        assert_eq!((shape.points.len(), shape.triangles.len()), (12 * 8, 2 * 12 * 7));
        let mut area = 0.0;
        for t in &shape.triangles {
            let [a, b, c] = t.map(|i| shape.points[i as usize]);
            let n = (b - a).cross(c - a);
            area += 0.5 * n.length();
            let out = (a + b + c) * DVec3::new(1.0, 0.0, 1.0);
            assert!(n.dot(out) > 0.0, "{t:?}");
        }
        let prism = 12.0 * 2.0 * 0.5 * (std::f64::consts::PI / 12.0).sin() * 2.0;
        assert!((area - prism).abs() < 1e-12 && (shape.measure.iter().sum::<f64>() - prism).abs() < 1e-12);
        // Two rims of twelve edges, all others between two triangles.
        assert_eq!(2 * shape.edges.len(), 3 * shape.triangles.len() + 24);
        assert!(
            tube(0.5, 2.0, 2, 1).is_err() && tube(0.5, 2.0, 3, 0).is_err() && tube(0.0, 1.0, 3, 1).is_err()
        );
    }
}
