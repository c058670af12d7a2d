//! A thread: particles along a line of straight pieces.

use super::Shape;
use crate::error::all_finite;
use crate::lattice::MAX_PARTICLES;
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;

/// A thread through `corners`, cut into `segments` pieces of equal length as nearly as the corners, which are all
/// particles, allow. Each particle stands for half the length (m) of the pieces at it; there is nothing to show but
/// the particles themselves.
pub fn thread(corners: &[impl Into<DVec3> + Copy], segments: usize) -> Result<Shape, GeometryError> {
    let corners: Vec<DVec3> = corners.iter().map(|&c| c.into()).collect();
    all_finite("corner", &corners)?;
    let spans = corners.len().saturating_sub(1);
    if spans == 0 || segments < spans || segments >= MAX_PARTICLES {
        return Err(GeometryError::new(
            format!("a thread of {segments} segments through {} points", corners.len()),
            format!(
                "give two points or more, at least one segment between two of them, and less than {MAX_PARTICLES}"
            ),
        ));
    }
    let lengths: Vec<f64> = corners.windows(2).map(|c| c[0].distance(c[1])).collect();
    if let Some(k) = lengths.iter().position(|l| *l <= 0.0) {
        return Err(GeometryError::new(
            format!("points {k} and {} of the thread are in the same place", k + 1),
            "remove one of them",
        ));
    }
    let mut shape = Shape::default();
    for (k, pieces) in share(&lengths, segments).into_iter().enumerate() {
        let at = |i: usize| corners[k].lerp(corners[k + 1], i as f64 / pieces as f64);
        shape.points.extend((0..pieces).map(at));
    }
    shape.points.push(corners[spans]);
    shape.measure = vec![0.0; shape.points.len()];
    for i in 0..segments {
        let half = 0.5 * shape.points[i].distance(shape.points[i + 1]);
        shape.measure[i] += half;
        shape.measure[i + 1] += half;
        shape.edges.push([i as u32, i as u32 + 1]);
    }
    shape.skin = Skin::identity(shape.points.len());
    shape.surface = TriMesh { positions: shape.points.clone(), triangles: Vec::new() };
    Ok(shape)
}

/// Pieces of each span, at least one: each further piece goes where pieces are longest.
fn share(lengths: &[f64], segments: usize) -> Vec<usize> {
    let total: f64 = lengths.iter().sum();
    let spare = (segments - lengths.len()) as f64;
    let mut pieces: Vec<usize> = lengths.iter().map(|l| 1 + (spare * l / total) as usize).collect();
    while pieces.iter().sum::<usize>() < segments {
        let long = |k: &usize| lengths[*k] / pieces[*k] as f64;
        let longest = (0..lengths.len()).max_by(|a, b| long(a).total_cmp(&long(b)).then(b.cmp(a)));
        pieces[longest.unwrap_or(0)] += 1;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_particles_and_lengths_add_up() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 3.0, 0.0)];
        let shape = thread(&corners, 11).unwrap();
        assert_eq!((shape.points.len(), shape.edges.len()), (12, 11));
        assert!(corners.iter().all(|c| shape.points.contains(c)));
        assert!((shape.measure.iter().sum::<f64>() - 4.0).abs() < 1e-12);
        let length = |e: &[u32; 2]| shape.points[e[0] as usize].distance(shape.points[e[1] as usize]);
        assert!(shape.edges.iter().all(|e| (0.2..0.5).contains(&length(e))));
    }

    #[test]
    fn threads_that_are_none_are_refused() {
        assert!(thread(&[DVec3::ZERO], 3).is_err());
        assert!(thread(&[DVec3::ZERO, DVec3::X, DVec3::Y], 1).is_err());
        assert!(thread(&[DVec3::ZERO, DVec3::ZERO], 3).is_err());
        assert!(thread(&[DVec3::ZERO, DVec3::X * f64::NAN], 3).is_err());
    }
}
