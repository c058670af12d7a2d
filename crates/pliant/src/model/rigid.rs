//! A solid that never deforms, at rest: what its four particles stand for.
//!
//! They are where [`pliant_geometry::shapes::rigid()`] puts them: at c + Σ_k s_k a_k with s ∈ {(1, 1, 1), (1, −1, −1),
//! (−1, 1, −1), (−1, −1, 1)}, the a_k along the principal axes, and of equal masses. Then Σ m (x − c)(x − c)ᵀ = M Σ a_k a_kᵀ,
//! which is what the inertia follows from.

use crate::points::Points;
use glam::{DMat3, DQuat, DVec3};
use pliant_geometry::ContactPoint;

/// Signs of the axes in the places of the four particles.
pub(crate) const CORNERS: [DVec3; 4] = [
    DVec3::new(1.0, 1.0, 1.0),
    DVec3::new(1.0, -1.0, -1.0),
    DVec3::new(-1.0, 1.0, -1.0),
    DVec3::new(-1.0, -1.0, 1.0),
];

/// How far from right angles the axes of four points may be to be those of a solid.
const ASKEW: f64 = 1e-9;

/// What stays the same of a body that never deforms.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidRest {
    /// kg, as built.
    pub mass: f64,
    /// Principal moments of inertia about the centre, as built.
    pub inertia: DVec3,
    /// The centre of mass at rest, and the principal axes there.
    pub center: DVec3,
    /// A rotation: from the principal axes to the shape's own.
    pub axes: DMat3,
    /// How far the particles are from the centre along each axis, m.
    pub reach: DVec3,
    /// Its size: twice how far anything of it is from the centre, m.
    pub size: f64,
    /// The points it touches by, seen from the centre along the principal axes.
    pub contact: Vec<ContactPoint>,
    /// Those that lie together; none if there are so few that each may be looked at.
    pub groups: Vec<ContactGroup>,
}

/// Points of contact that lie together.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactGroup {
    /// The middle of a ball that all of them are in, seen from the centre along the principal axes.
    pub center: DVec3,
    /// The radius of that ball, m.
    pub radius: f64,
    /// Indices of points of contact.
    pub points: Vec<u32>,
}

/// Most points of contact in a group.
const GROUP: usize = 32;

impl ContactGroup {
    /// All points in groups, cut again and again across the longest extent through what is left.
    fn of(contact: &[ContactPoint]) -> Vec<ContactGroup> {
        let mut groups = Vec::new();
        let mut points: Vec<u32> = (0..contact.len() as u32).collect();
        if points.len() > 2 * GROUP {
            ContactGroup::cut(contact, &mut points, &mut groups);
        }
        groups
    }

    fn cut(contact: &[ContactPoint], points: &mut [u32], groups: &mut Vec<ContactGroup>) {
        let at = |i: &u32| contact[*i as usize].at;
        let lowest = points.iter().map(at).fold(DVec3::INFINITY, DVec3::min);
        let highest = points.iter().map(at).fold(DVec3::NEG_INFINITY, DVec3::max);
        if points.len() <= GROUP {
            let center = (lowest + highest) * 0.5;
            let reach = |i: &u32| at(i).distance(center) + contact[*i as usize].radius;
            // Less than rounding may make of it would miss what lies on the rim.
            let radius = points.iter().map(reach).fold(0.0, f64::max) * (1.0 + 1e-9);
            groups.push(ContactGroup { center, radius, points: points.to_vec() });
            return;
        }
        let extent = highest - lowest;
        let axis = if extent.x >= extent.y && extent.x >= extent.z {
            0
        } else if extent.y >= extent.z {
            1
        } else {
            2
        };
        points.sort_by(|a, b| at(a)[axis].total_cmp(&at(b)[axis]));
        let (a, b) = points.split_at_mut(points.len() / 2);
        ContactGroup::cut(contact, a, groups);
        ContactGroup::cut(contact, b, groups);
    }
}

/// The sum of four vectors by the signs of each axis.
pub(crate) fn along_axes(of: [DVec3; 4]) -> [DVec3; 3] {
    let [a, b, c, d] = of;
    [(a + b) - (c + d), (a - b) + (c - d), (a - b) - (c - d)]
}

/// The four places c ± a₁ ± a₂ ± a₃, in the order of [`CORNERS`].
pub(crate) fn corners(center: DVec3, [a, b, c]: [DVec3; 3]) -> [DVec3; 4] {
    let (plus, minus) = (center + a, center - a);
    let (sum, difference) = (b + c, b - c);
    [plus + sum, plus - sum, minus + difference, minus - difference]
}

impl RigidRest {
    /// Of four points of these masses; says why it is none.
    pub(crate) fn of(points: &Points, mass: &[f64], contact: &[ContactPoint]) -> Result<RigidRest, String> {
        if points.len() != 4 || mass.len() != 4 {
            return Err(format!("it has {} particles, not the four that stand for a solid", points.len()));
        }
        let at: [DVec3; 4] = std::array::from_fn(|i| points.get(i));
        // From one of them: no cancellation far from the origin.
        let own = at.map(|p| p - at[0]);
        let center = at[0] + own.iter().sum::<DVec3>() * 0.25;
        let [a, b, c] = along_axes(own).map(|a| a * 0.25);
        let reach = DVec3::new(a.length(), b.length(), c.length());
        let total: f64 = mass.iter().sum();
        let even = mass.iter().all(|m| (m * 4.0 / total - 1.0).abs() < ASKEW);
        let (x, y) = (a / reach.x, b / reach.y);
        let askew = x.dot(y).abs().max(x.dot(c).abs() / reach.z).max(y.dot(c).abs() / reach.z);
        let right = x.cross(y).dot(c) > 0.0;
        // Written so that what is not a number is refused.
        if !(reach.min_element() > 0.0 && reach.is_finite() && askew < ASKEW && right && even) {
            return Err("its four particles do not stand for a solid".into());
        }
        if contact.is_empty() {
            return Err("it has no points to touch by".into());
        }
        let y = (y - x * x.dot(y)).normalize();
        let axes = DMat3::from_cols(x, y, x.cross(y));
        let squares = reach * reach;
        let inertia = total * DVec3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y);
        let seen = |p: &ContactPoint| ContactPoint { at: axes.transpose() * (p.at - center), ..*p };
        let contact: Vec<ContactPoint> = contact.iter().map(seen).collect();
        let size = contact.iter().map(|p| 2.0 * (p.at.length() + p.radius)).fold(0.0, f64::max);
        let sound = |p: &ContactPoint| p.at.is_finite() && p.radius >= 0.0 && p.radius.is_finite();
        if !(size > 0.0 && contact.iter().all(sound)) {
            return Err(
                "the points it touches by are no numbers, or all at its centre without a radius".into()
            );
        }
        let groups = ContactGroup::of(&contact);
        Ok(RigidRest { mass: total, inertia, center, axes, reach, size, contact, groups })
    }

    /// The weights by which a point of the solid, at rest, is the mean of its four particles: they sum to 1 and may be negative.
    pub fn weights(&self, at: DVec3) -> [f64; 4] {
        let own = self.axes.transpose() * (at - self.center) / self.reach;
        CORNERS.map(|s| 0.25 * (1.0 + own.dot(s)))
    }

    /// How the principal axes lie for particles in these places, best fitted; `before` where they do not tell.
    pub(crate) fn turn_of(&self, at: [DVec3; 4], before: DQuat) -> DQuat {
        let own = at.map(|p| p - at[0]);
        let [a, b, c] = along_axes(own);
        let fitted = DMat3::from_cols(a * self.reach.x, b * self.reach.y, c * self.reach.z);
        DQuat::from_mat3(&pliant_math::nearest_rotation(fitted, DMat3::from_quat(before))).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_geometry::shapes::SolidShape;

    fn rest(shape: &pliant_geometry::Shape) -> Result<RigidRest, String> {
        let points: Points = shape.points.iter().copied().collect();
        RigidRest::of(&points, &vec![0.5; shape.points.len()], &shape.contact)
    }

    #[test]
    fn inertia_and_axes_are_found_again_in_the_particles() {
        let mut shape = SolidShape::Cuboid { size: DVec3::new(0.3, 0.6, 0.9) }.build_rigid().unwrap();
        let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -0.2, 0.9));
        let place = |p: DVec3| turn * p + DVec3::new(5.0, 6.0, 7.0);
        shape.points.iter_mut().for_each(|p| *p = place(*p));
        shape.contact.iter_mut().for_each(|c| c.at = place(c.at));
        let found = rest(&shape).unwrap();
        let wanted = DVec3::new(0.36 + 0.81, 0.09 + 0.81, 0.09 + 0.36) * (2.0 / 12.0);
        assert!((found.inertia - wanted).length() < 1e-13, "{}", found.inertia);
        assert!((found.center - DVec3::new(5.0, 6.0, 7.0)).length() < 1e-14);
        assert!(found.contact.iter().all(|c| (c.at.abs() - DVec3::new(0.15, 0.3, 0.45)).length() < 1e-14));
        let at: [DVec3; 4] = std::array::from_fn(|i| shape.points[i]);
        let axes = DMat3::from_quat(found.turn_of(at, DQuat::IDENTITY));
        assert!((axes - found.axes).to_cols_array().iter().all(|v| v.abs() < 1e-14));
        for (p, q) in
            corners(found.center, [0, 1, 2].map(|k| found.axes.col(k) * found.reach[k])).iter().zip(at)
        {
            assert!(p.distance(q) < 1e-14);
        }
    }

    #[test]
    fn what_stands_for_no_solid_is_told() {
        let good = SolidShape::Ball { radius: 0.2 }.build_rigid().unwrap();
        assert!(rest(&good).is_ok());
        let mut skewed = good.clone();
        skewed.points[2] += DVec3::X * 0.01;
        let mut mirrored = good.clone();
        mirrored.points.iter_mut().for_each(|p| p.x = -p.x);
        let mut flat = good.clone();
        flat.points.iter_mut().for_each(|p| p.y = 0.0);
        let mut none = good.clone();
        none.points[1].x = f64::NAN;
        let mut untouchable = good.clone();
        untouchable.contact.clear();
        let five = pliant_geometry::Shape { points: vec![DVec3::ONE; 5], ..good };
        for bad in [skewed, mirrored, flat, none, untouchable, five] {
            assert!(rest(&bad).is_err());
        }
    }
}
