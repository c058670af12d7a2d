//! Mass properties of solids: volume, centre, and how the volume is spread around it, of even density.
//!
//! Of a closed mesh they are exact: the integrals of 1, x and x xᵀ over the signed tetrahedra between a point and the
//! triangles. With the corners a, b, c of a triangle seen from that point, V = a·(b × c)/6 and s = a + b + c, these are V,
//! V s/4 and V (a aᵀ + b bᵀ + c cᵀ + s sᵀ)/20. Of a mesh with holes they are sums over cubes inside by winding number.

use crate::eigen::symmetric_eigen;
use crate::error::positive;
use crate::fill::{FillDensity, FillOptions, FillPattern, fill, has_inside};
use crate::shapes::{check, is_closed, weld};
use crate::{GeometryError, TriMesh};
use glam::{DMat3, DVec3};
use pliant_math::outer;

/// Cubes that a mesh with holes is filled with, about.
const CUBES: usize = 50_000;
/// A solid that is thinner than this part of its length has no inertia worth the name.
const THINNEST: f64 = 1e-6;

/// What a solid of even density weighs in relation to its density, where its centre is, and how it resists turning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume in m³, above zero.
    pub volume: f64,
    /// Centre of mass.
    pub center: DVec3,
    /// ∫ (x − c)(x − c)ᵀ over the volume, as a part of it, m².
    pub spread: DMat3,
}

impl MassProperties {
    /// A full ball around the origin; refused unless its radius is a positive number.
    pub fn ball(radius: f64) -> Result<MassProperties, GeometryError> {
        positive("radius", radius)?;
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        Ok(MassProperties::upright(volume, DVec3::splat(radius * radius / 5.0)))
    }

    /// A full box around the origin with edges of these lengths along the axes; refused unless they are positive numbers.
    pub fn cuboid(size: impl Into<DVec3>) -> Result<MassProperties, GeometryError> {
        let size = size.into();
        for (name, length) in [("width (x)", size.x), ("height (y)", size.y), ("depth (z)", size.z)] {
            positive(name, length)?;
        }
        Ok(MassProperties::upright(size.element_product(), size * size / 12.0))
    }

    /// A full cylinder around the origin whose axis is y; refused unless both lengths are positive numbers.
    pub fn cylinder(radius: f64, height: f64) -> Result<MassProperties, GeometryError> {
        positive("radius", radius)?;
        positive("height", height)?;
        let (across, along) = (radius * radius / 4.0, height * height / 12.0);
        let volume = std::f64::consts::PI * radius * radius * height;
        Ok(MassProperties::upright(volume, DVec3::new(across, along, across)))
    }

    /// A full capsule around the origin whose axis is y, `height` from tip to tip; refused unless that is at least twice
    /// the radius.
    pub fn capsule(radius: f64, height: f64) -> Result<MassProperties, GeometryError> {
        positive("radius", radius)?;
        positive("height", height)?;
        let straight = height - 2.0 * radius;
        if straight < 0.0 {
            return Err(GeometryError::new(
                format!("a capsule of height {height} has no room for its ends of radius {radius}"),
                format!("make it at least {} m high (twice the radius), or use a ball", 2.0 * radius),
            ));
        }
        let (r2, half) = (radius * radius, 0.5 * straight);
        let tube = std::f64::consts::PI * r2 * straight;
        let ball = 4.0 / 3.0 * std::f64::consts::PI * r2 * radius;
        // Each end is half a ball, whose centre is ⅜ r beyond that of the ball and about which r²/5 − (⅜ r)² are left.
        let (beyond, volume) = (0.375 * radius, tube + ball);
        let ends = r2 / 5.0 - beyond * beyond + (half + beyond) * (half + beyond);
        let along = (tube * straight * straight / 12.0 + ball * ends) / volume;
        let across = (tube * r2 / 4.0 + ball * r2 / 5.0) / volume;
        Ok(MassProperties::upright(volume, DVec3::new(across, along, across)))
    }

    /// Of what a mesh encloses: exactly if it is closed (vertices in the same place count as one), by its winding number if
    /// it is nearly closed. Refused are meshes that enclose nothing, as cloth, and ones that show their inside.
    pub fn of_mesh(mesh: &TriMesh) -> Result<MassProperties, GeometryError> {
        check(mesh)?;
        let (welded, _) = weld(mesh);
        let (lo, hi) = TriMesh::bounds(&welded.positions).unwrap_or_default();
        let properties = match is_closed(&welded) {
            true => enclosed(&welded, 0.5 * (lo + hi))?,
            false => wound(&welded)?,
        };
        properties.check((hi - lo).length())
    }

    /// Whether those of a mesh are exact: whether it is closed, vertices in the same place counting as one.
    pub fn are_exact(mesh: &TriMesh) -> bool {
        is_closed(&weld(mesh).0)
    }

    fn upright(volume: f64, spread: DVec3) -> MassProperties {
        MassProperties { volume, center: DVec3::ZERO, spread: DMat3::from_diagonal(spread) }
    }

    /// Refuses what would turn by no force at all.
    fn check(self, size: f64) -> Result<MassProperties, GeometryError> {
        let (along, _) = self.axes();
        let thin = along.min_element().max(0.0).sqrt() <= THINNEST * along.max_element().max(0.0).sqrt();
        let sound = self.volume > 0.0 && self.volume.is_finite() && self.center.is_finite();
        if sound && !thin && along.is_finite() && along.min_element() > 0.0 {
            return Ok(self);
        }
        Err(GeometryError::new(
            format!("it encloses {:.3e} m³ at a size of {size:.3e} m, and so has no inertia", self.volume),
            "give the solid a thickness in all three directions, or make it cloth or a thread",
        ))
    }

    /// The principal axes as a rotation, with the spread along each, in m².
    pub fn axes(&self) -> (DVec3, DMat3) {
        let diagonal = DVec3::new(self.spread.x_axis.x, self.spread.y_axis.y, self.spread.z_axis.z);
        if self.spread == DMat3::from_diagonal(diagonal) {
            return (diagonal, DMat3::IDENTITY);
        }
        let (along, [x, y, _]) = symmetric_eigen(self.spread);
        let x = x.normalize();
        let y = (y - x * x.dot(y)).normalize();
        (along, DMat3::from_cols(x, y, x.cross(y)))
    }

    /// The inertia tensor about the centre of a solid of this mass.
    pub fn inertia(&self, mass: f64) -> DMat3 {
        let trace = self.spread.x_axis.x + self.spread.y_axis.y + self.spread.z_axis.z;
        (DMat3::from_diagonal(DVec3::splat(trace)) - self.spread) * mass
    }
}

/// Of a closed mesh, seen from a point.
fn enclosed(mesh: &TriMesh, from: DVec3) -> Result<MassProperties, GeometryError> {
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize] - from);
        let (own, sum) = (a.dot(b.cross(c)) / 6.0, a + b + c);
        volume += own;
        first += sum * (own / 4.0);
        second += (outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum)) * (own / 20.0);
    }
    if volume < 0.0 {
        return Err(GeometryError::new(
            format!("it is inside out: it encloses {volume:.3e} m³"),
            "turn its faces around in your modeller (\"recalculate normals outside\"), or by `pliant mesh --repair`",
        ));
    }
    let center = first / volume;
    Ok(MassProperties {
        volume,
        center: from + center,
        spread: second * volume.recip() - outer(center, center),
    })
}

/// Of whatever a mesh with holes winds about, in cubes.
fn wound(mesh: &TriMesh) -> Result<MassProperties, GeometryError> {
    let open = || {
        GeometryError::new(
            "the mesh is open, and what it encloses cannot be told",
            "close its holes in your modeller or by `pliant mesh --repair`, or make it cloth",
        )
    };
    if !has_inside(mesh) {
        return Err(open());
    }
    let by = FillDensity::Count(CUBES);
    let filled =
        fill(mesh, &FillOptions { pattern: FillPattern::Lattice, by, seed: 0 }).map_err(|_| open())?;
    let count = filled.points.len() as f64;
    let center = filled.points.iter().sum::<DVec3>() / count;
    let apart = filled.points.iter().fold(DMat3::ZERO, |sum, p| sum + outer(*p - center, *p - center));
    // Each is a cube, not a point.
    let own = DMat3::from_diagonal(DVec3::splat(filled.share.cbrt().powi(2) / 12.0));
    Ok(MassProperties { volume: filled.share * count, center, spread: apart * count.recip() + own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::SolidShape;

    fn near(a: &MassProperties, b: &MassProperties, tolerance: f64) {
        let size = b.spread.x_axis.length() + b.spread.y_axis.length() + b.spread.z_axis.length();
        assert!((a.volume / b.volume - 1.0).abs() < tolerance, "{} and {}", a.volume, b.volume);
        assert!((a.center - b.center).length() < tolerance * size.sqrt(), "{} and {}", a.center, b.center);
        let off = a.spread - b.spread;
        for (k, column) in [off.x_axis, off.y_axis, off.z_axis].into_iter().enumerate() {
            assert!(
                column.abs().max_element() < tolerance * size,
                "column {k}: {} and {}",
                a.spread,
                b.spread
            );
        }
    }

    #[test]
    fn a_mesh_of_a_box_has_exactly_its_mass_properties_wherever_it_is() {
        let size = DVec3::new(1.0, 0.5, 0.2);
        let mut mesh = crate::shapes::cuboid(size, 0.1).unwrap().surface;
        let closed = MassProperties::cuboid(size).unwrap();
        near(&MassProperties::of_mesh(&mesh).unwrap(), &closed, 1e-14);
        let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, -0.7, 0.4));
        let far = DVec3::new(30.0, -20.0, 10.0);
        mesh.positions.iter_mut().for_each(|p| *p = turn * *p + far);
        let turned = DMat3::from_quat(turn);
        let spread = turned * closed.spread * turned.transpose();
        let found = MassProperties::of_mesh(&mesh).unwrap();
        near(&found, &MassProperties { center: far, spread, ..closed }, 1e-12);
        // Its axes turn with it.
        let (along, axes) = found.axes();
        for (k, (l, axis)) in
            along.to_array().into_iter().zip([axes.x_axis, axes.y_axis, axes.z_axis]).enumerate()
        {
            assert!((found.spread * axis - axis * l).length() < 1e-14, "axis {k}");
        }
        assert!((axes.determinant() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn closed_forms_are_what_fine_meshes_tend_to() {
        let shapes: [(SolidShape, Result<MassProperties, GeometryError>); 4] = [
            (SolidShape::Ball { radius: 0.3 }, MassProperties::ball(0.3)),
            (SolidShape::Cylinder { radius: 0.2, height: 0.7 }, MassProperties::cylinder(0.2, 0.7)),
            (SolidShape::Capsule { radius: 0.2, height: 1.1 }, MassProperties::capsule(0.2, 1.1)),
            (SolidShape::Capsule { radius: 0.2, height: 0.4 }, MassProperties::ball(0.2)),
        ];
        for (shape, closed) in shapes {
            let closed = closed.unwrap();
            let mut errors = Vec::new();
            for spacing in [0.02, 0.01] {
                let mesh = shape.build(spacing).unwrap().surface;
                let found = MassProperties::of_mesh(&mesh).unwrap();
                near(&found, &closed, 0.01);
                errors.push((found.volume / closed.volume - 1.0).abs());
            }
            assert!(errors[1] < 0.4 * errors[0] || errors[1] < 2e-4, "{shape:?}: {errors:?}");
        }
        // Two half balls and nothing between them are a ball.
        near(&MassProperties::capsule(0.5, 1.0).unwrap(), &MassProperties::ball(0.5).unwrap(), 1e-14);
    }

    #[test]
    fn inertia_is_that_of_the_textbook() {
        let [a, b, c] = [0.3, 0.5, 0.7];
        let of_box = MassProperties::cuboid(DVec3::new(a, b, c)).unwrap().inertia(12.0);
        let wanted = DVec3::new(b * b + c * c, a * a + c * c, a * a + b * b);
        assert!((of_box.x_axis.x - wanted.x).abs() + (of_box.y_axis.y - wanted.y).abs() < 1e-14);
        let of_ball = MassProperties::ball(2.0).unwrap().inertia(5.0);
        assert!((of_ball.z_axis.z - 2.0 * 4.0).abs() < 1e-14);
        let rod = MassProperties::cylinder(0.1, 2.0).unwrap().inertia(3.0);
        assert!((rod.y_axis.y - 0.5 * 3.0 * 0.01).abs() < 1e-14);
        assert!((rod.x_axis.x - 3.0 * (3.0 * 0.01 + 4.0) / 12.0).abs() < 1e-14);
    }

    #[test]
    fn meshes_without_inertia_are_refused_with_the_reason() {
        let whole = crate::shapes::cuboid(DVec3::new(0.4, 0.3, 0.2), 0.05).unwrap().surface;
        let mut turned = whole.clone();
        turned.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        let mut flat = whole.clone();
        flat.positions.iter_mut().for_each(|p| p.y = 0.25);
        let mut line = whole.clone();
        line.positions.iter_mut().for_each(|p| (p.x, p.y) = (1.0, 0.5));
        let mut point = whole.clone();
        point.positions.iter_mut().for_each(|p| *p = DVec3::ONE);
        let sheet = crate::shapes::sheet(1.0, 1.0, 4, 4).unwrap().surface;
        let none = TriMesh { positions: vec![DVec3::ZERO], triangles: Vec::new() };
        let mut far = whole.clone();
        far.positions[3].x = f64::NAN;
        for (mesh, why) in [
            (turned, "inside out"),
            (flat, "no inertia"),
            (line, "no inertia"),
            (point, "open"),
            (sheet, "open"),
            (none, "open"),
            (far, "vertex 3"),
        ] {
            let refused = MassProperties::of_mesh(&mesh).unwrap_err();
            assert!(refused.message.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_hole_costs_little() {
        let mesh = SolidShape::Bunny { height: 1.0 }.build(0.05).unwrap().surface;
        let whole = MassProperties::of_mesh(&mesh).unwrap();
        let mut holed = mesh.clone();
        let lowest = mesh.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        holed.triangles.retain(|t| mesh.positions[t[0] as usize].y > lowest + 0.005);
        assert!(holed.triangles.len() < mesh.triangles.len());
        near(&MassProperties::of_mesh(&holed).unwrap(), &whole, 0.02);
    }
}
