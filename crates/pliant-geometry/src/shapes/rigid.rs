//! Solids that never deform: four particles that have their mass, centre and inertia, a surface that is a fixed
//! combination of them, and the points by which they touch.
//!
//! With the spread λ_k along the principal axes q_k (see [`MassProperties`]), four equal masses at
//! c + Σ_k √λ_k s_k q_k, s ∈ {(1, 1, 1), (1, −1, −1), (−1, 1, −1), (−1, −1, 1)}, have exactly the solid's centre and
//! inertia: Σ s = 0 and Σ s sᵀ = 4. Any point c + Σ_k √λ_k σ_k q_k of the solid is the mean of the four by the weights
//! (1 + σ·s)/4, which sum to 1 but may be negative.

use super::{Shape, SolidShape, weld};
use crate::mass::MassProperties;
use crate::{GeometryError, Skin, TriMesh};
use glam::{DMat3, DVec3};

/// Where the four particles are, in units of the spread along the axes.
const CORNERS: [DVec3; 4] = [
    DVec3::new(1.0, 1.0, 1.0),
    DVec3::new(1.0, -1.0, -1.0),
    DVec3::new(-1.0, 1.0, -1.0),
    DVec3::new(-1.0, -1.0, 1.0),
];
/// A mesh of more vertices than this touches by those of them that stick out.
const ALL: usize = 256;
/// Edges around a vertex that are looked at pair by pair.
const MOST_DIRECTIONS: usize = 64;
/// Sines below this are of one plane.
const FLAT: f64 = 1e-6;
/// Of a surface's size: triangles of round things in pictures.
const FINENESS: f64 = 24.0;

/// A point by which a solid that never deforms touches others: all within a radius of it belongs to the solid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// Where it is, at rest.
    pub at: DVec3,
    /// How far the solid reaches around it, m.
    pub radius: f64,
}

impl SolidShape {
    /// The solid as one that never deforms, with its exact mass, centre and inertia where these are known in closed form.
    pub fn build_rigid(&self) -> Result<Shape, GeometryError> {
        let shape = |properties, surface, contact| Ok(rigid(&properties, surface, contact));
        let round = |size: f64| self.surface(size / FINENESS);
        match *self {
            SolidShape::Ball { radius } => {
                let contact = vec![ContactPoint { at: DVec3::ZERO, radius }];
                shape(MassProperties::ball(radius)?, round(2.0 * radius)?, contact)
            }
            SolidShape::Cuboid { size } => {
                let properties = MassProperties::cuboid(size)?;
                let corner =
                    |k: u32| DVec3::from_array([0, 1, 2].map(|a| if k >> a & 1 == 0 { -0.5 } else { 0.5 }));
                let contact = (0..8).map(|k| ContactPoint { at: corner(k) * size, radius: 0.0 }).collect();
                shape(properties, super::cuboid(size, size.max_element())?.surface, contact)
            }
            SolidShape::Capsule { radius, height } => {
                let properties = MassProperties::capsule(radius, height)?;
                let end = 0.5 * height - radius;
                let ends = if end > 0.0 { &[-end, end][..] } else { &[0.0] };
                let contact = ends.iter().map(|y| ContactPoint { at: DVec3::Y * *y, radius }).collect();
                shape(properties, round(height)?, contact)
            }
            SolidShape::Cylinder { radius, height } => {
                let properties = MassProperties::cylinder(radius, height)?;
                let surface = round(height.max(2.0 * radius))?;
                // The rims of what is shown, so that nothing seen sinks in.
                let on_rim = |p: &&DVec3| p.y.abs() == 0.5 * height && p.x.hypot(p.z) > radius * (1.0 - 1e-9);
                let contact = surface.positions.iter().filter(on_rim);
                let contact = contact.map(|p| ContactPoint { at: *p, radius: 0.0 }).collect();
                shape(properties, surface, contact)
            }
            SolidShape::Torus { .. } | SolidShape::GummyBear { .. } | SolidShape::Bunny { .. } => {
                let mut surface = round(self.extent()?.max_element())?;
                // Figures have their centre of mass at the origin, as they have when they are filled.
                let center = MassProperties::of_mesh(&surface)?.center;
                surface.positions.iter_mut().for_each(|p| *p -= DVec3::new(0.0, center.y, center.z));
                rigid_from_mesh(surface)
            }
        }
    }
}

/// A mesh as a solid that never deforms, with the mass properties of what it encloses (see [`MassProperties::of_mesh`]). It
/// touches by its vertices; of many, by those that stick out of the surface around them, which are all that
/// a plane can meet.
pub fn rigid_from_mesh(surface: TriMesh) -> Result<Shape, GeometryError> {
    let properties = MassProperties::of_mesh(&surface)?;
    let (welded, _) = weld(&surface);
    let mut used = vec![false; welded.positions.len()];
    welded.triangles.iter().flatten().for_each(|&i| used[i as usize] = true);
    let all = used.iter().filter(|u| **u).count() <= ALL;
    let sticks_out = if all { used } else { sticking_out(&welded) };
    let contact = welded.positions.iter().zip(sticks_out).filter(|(_, out)| *out);
    let contact = contact.map(|(p, _)| ContactPoint { at: *p, radius: 0.0 }).collect();
    Ok(rigid(&properties, surface, contact))
}

/// A solid of these mass properties as one that never deforms, with a surface to show and the points it touches by.
pub fn rigid(properties: &MassProperties, surface: TriMesh, contact: Vec<ContactPoint>) -> Shape {
    let (spread, axes) = properties.axes();
    let reach = DVec3::from_array(spread.to_array().map(f64::sqrt));
    let to_world = axes * DMat3::from_diagonal(reach);
    let from_world = DMat3::from_diagonal(reach.recip()) * axes.transpose();
    let own = |p: &DVec3| from_world * (*p - properties.center);
    Shape {
        points: CORNERS.map(|s| properties.center + to_world * s).to_vec(),
        measure: vec![0.25 * properties.volume; 4],
        skin: carried(surface.positions.iter().map(own)),
        surface,
        contact,
        ..Shape::default()
    }
}

/// How vertices follow the four particles of a solid that never deforms, whose own surface or not: for a mesh that is shown in
/// place of it. `None` if these are not the particles of such a solid.
pub fn rigid_skin(particles: &[DVec3], vertices: &[DVec3]) -> Option<Skin> {
    let &[a, b, c, d] = particles else { return None };
    let center = ((a + b) + (c + d)) * 0.25;
    let to_world = DMat3::from_cols((a + b) - (c + d), (a - b) + (c - d), (a - b) - (c - d)) * 0.25;
    let from_world = to_world.inverse();
    from_world.is_finite().then(|| carried(vertices.iter().map(|p| from_world * (*p - center))))
}

/// The skin of points that are told in units of the spread along the axes.
fn carried(own: impl Iterator<Item = DVec3>) -> Skin {
    let mut skin = Skin { offsets: vec![0], ..Skin::default() };
    for at in own {
        skin.particles.extend(0..4);
        skin.weights.extend(CORNERS.map(|s| 0.25 * (1.0 + at.dot(s))));
        skin.offsets.push(skin.particles.len() as u32);
    }
    skin
}

/// Vertices that are beyond all their neighbours in some direction: a plane that the mesh lies on can touch no others.
/// Flat faces and straight edges have none but their ends, however finely they are cut.
fn sticking_out(mesh: &TriMesh) -> Vec<bool> {
    let edges = mesh.edges();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
    for [a, b] in edges {
        around[a as usize].push(b);
        around[b as usize].push(a);
    }
    let beyond = |(v, neighbours): (usize, &Vec<u32>)| {
        let directions: Vec<DVec3> = neighbours
            .iter()
            .filter_map(|&i| (mesh.positions[i as usize] - mesh.positions[v]).try_normalize())
            .collect();
        !directions.is_empty() && in_one_cone(&directions)
    };
    around.iter().enumerate().map(beyond).collect()
}

/// Whether some direction d has d·w < 0 for all of these unit vectors. The normals of all planes through two of them that have
/// the others on one side sum up to such a direction, if there is one.
fn in_one_cone(directions: &[DVec3]) -> bool {
    // Better one too many than a look at all pairs of a great fan.
    if directions.len() > MOST_DIRECTIONS {
        return true;
    }
    let mut inward = DVec3::ZERO;
    for (k, a) in directions.iter().enumerate() {
        for b in &directions[..k] {
            let Some(normal) = a.cross(*b).try_normalize() else { continue };
            let side = |sign: f64| directions.iter().all(|w| sign * normal.dot(*w) <= FLAT);
            inward += normal * (f64::from(side(1.0)) - f64::from(side(-1.0)));
        }
    }
    directions.iter().all(|w| inward.dot(*w) < -FLAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::outer;

    /// Mass, centre and spread of the particles.
    fn properties(shape: &Shape) -> MassProperties {
        let volume: f64 = shape.measure.iter().sum();
        let all = || shape.points.iter().zip(&shape.measure);
        let center = all().map(|(p, m)| *p * (m / volume)).sum::<DVec3>();
        let spread =
            all().fold(DMat3::ZERO, |sum, (p, m)| sum + outer(*p - center, *p - center) * (m / volume));
        MassProperties { volume, center, spread }
    }

    #[test]
    fn four_particles_have_mass_centre_and_inertia_of_the_solid_and_carry_its_surface() {
        let bear = SolidShape::GummyBear { height: 1.0 };
        let mut mesh = bear.build(0.05).unwrap().surface;
        let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, -0.7, 0.4));
        mesh.positions.iter_mut().for_each(|p| *p = turn * *p + DVec3::new(3.0, 1.0, -2.0));
        let wanted = MassProperties::of_mesh(&mesh).unwrap();
        let shape = rigid_from_mesh(mesh.clone()).unwrap();
        let found = properties(&shape);
        assert!((found.volume / wanted.volume - 1.0).abs() < 1e-14);
        assert!((found.center - wanted.center).length() < 1e-14);
        let off = found.spread - wanted.spread;
        assert!(off.to_cols_array().iter().all(|v| v.abs() < 1e-15), "{off}");
        let mut vertices = Vec::new();
        shape.skin.apply_within(&shape.points, &mut Default::default(), &mut vertices);
        let worst = vertices.iter().zip(&mesh.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(worst < 1e-14, "{worst}");
        assert_eq!(shape.skin.check(mesh.positions.len(), 4), Ok(()));
        let again = rigid_skin(&shape.points, &mesh.positions).unwrap();
        let off = again.weights.iter().zip(&shape.skin.weights).map(|(a, b)| (a - b).abs());
        assert!(again.particles == shape.skin.particles && off.fold(0.0, f64::max) < 1e-13);
        assert!(rigid_skin(&shape.points[..3], &mesh.positions).is_none());
        assert!(rigid_skin(&[DVec3::ONE; 4], &mesh.positions).is_none());
    }

    /// Nothing that is seen may be beyond all points of contact: it would sink into a plane.
    #[test]
    fn nothing_seen_is_beyond_what_touches() {
        let shapes = [
            SolidShape::Ball { radius: 0.3 },
            SolidShape::Cuboid { size: DVec3::new(0.3, 0.2, 0.1) },
            SolidShape::Cylinder { radius: 0.2, height: 0.5 },
            SolidShape::Capsule { radius: 0.1, height: 0.5 },
            SolidShape::Torus { major: 0.4, minor: 0.1 },
            SolidShape::GummyBear { height: 1.0 },
            SolidShape::Bunny { height: 1.0 },
        ];
        for solid in shapes {
            let shape = solid.build_rigid().unwrap();
            let (count, vertices) = (shape.contact.len(), shape.surface.positions.len());
            assert!(count >= 1 && (count <= ALL || count < vertices), "{solid:?}: {count} of {vertices}");
            let mut worst = 0.0_f64;
            for k in 0..500 {
                let angle = |rate: f64| rate * k as f64;
                let n = DVec3::new(angle(1.0).sin(), angle(0.71).cos(), angle(0.37).sin()).normalize();
                let touches =
                    shape.contact.iter().map(|c| n.dot(c.at) + c.radius).fold(f64::NEG_INFINITY, f64::max);
                let seen =
                    shape.surface.positions.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
                worst = worst.max(seen - touches);
            }
            assert!(worst < 2e-5, "{solid:?}: {worst} m beyond");
        }
    }

    #[test]
    fn a_box_touches_by_its_corners_however_finely_it_is_cut() {
        let mesh = crate::shapes::cuboid(DVec3::new(1.0, 0.6, 0.4), 0.05).unwrap().surface;
        let shape = rigid_from_mesh(mesh).unwrap();
        assert_eq!(shape.contact.len(), 8);
        let exact = SolidShape::Cuboid { size: DVec3::new(1.0, 0.6, 0.4) }.build_rigid().unwrap();
        for (a, b) in shape.points.iter().zip(&exact.points) {
            let nearest = exact.points.iter().map(|p| p.distance(*a)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-12 || b.distance(*a) < 1e-12 || (a.abs() - b.abs()).length() < 1e-12);
        }
    }
}
