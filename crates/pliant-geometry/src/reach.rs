//! How far a shown surface reaches beyond the particles it follows.

use crate::TriMesh;
use crate::kdtree::KdTree;
use crate::triangle::unit_normal;
use glam::DVec3;

/// For each particle, how far the surface around it lies outside of it, along the surface's normal: zero where
/// surface and particles coincide. Particles that keep this distance from an obstacle keep the surface out of it.
///
/// Of a flat face it is exactly the distance of the particles below it. At sharp edges faces count one by one, so a
/// box lies flat on the ground; balanced on a corner it reaches a little further than said. Triangles with corners that
/// are not there or not finite count for nothing.
pub fn reach_beyond(particles: &[DVec3], surface: &TriMesh) -> Vec<f64> {
    let mut reach = vec![0.0_f64; particles.len()];
    if particles.is_empty() {
        return reach;
    }
    let tree = KdTree::new(particles);
    let nearest = |v: &DVec3| tree.nearest_from(*v, (f64::INFINITY, 0)).1;
    let nearest: Vec<u32> =
        surface.positions.iter().map(|v| if v.is_finite() { nearest(v) } else { 0 }).collect();
    for corners in &surface.triangles {
        let [Some(a), Some(b), Some(c)] = corners.map(|i| surface.positions.get(i as usize)) else {
            continue;
        };
        let normal = unit_normal([*a, *b, *c]);
        for i in corners.map(|i| i as usize) {
            let particle = nearest[i] as usize;
            let beyond = normal.dot(surface.positions[i] - particles[particle]);
            reach[particle] = reach[particle].max(if beyond.is_finite() { beyond } else { 0.0 });
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn a_box_reaches_half_a_cell_beyond_the_particles_in_it_and_a_sheet_not_at_all() {
        let surface = shapes::cuboid(DVec3::ONE, 0.1).unwrap().surface;
        let at = |k: usize| 0.1 * k as f64 - 0.45;
        let all = (0..1000).map(|k| DVec3::new(at(k % 10), at(k / 10 % 10), at(k / 100)));
        let particles: Vec<DVec3> = all.collect();
        for (p, r) in particles.iter().zip(reach_beyond(&particles, &surface)) {
            let expected = if p.abs().max_element() > 0.4 { 0.05 } else { 0.0 };
            assert!((r - expected).abs() < 1e-9, "{p}: {r}");
        }
        let sheet = shapes::sheet(1.0, 1.0, 4, 4).unwrap();
        assert_eq!(reach_beyond(&sheet.points, &sheet.surface), vec![0.0; 25]);
        assert!(reach_beyond(&[], &sheet.surface).is_empty());
    }
}
