//! Bodies that never deform are told by a place and a turn, from which all of their particles follow.

use super::channel::{LogChannel, find, put};
use super::header::LogBody;
use glam::{DAffine3, DQuat, DVec3};

/// Halvings of the way between two turns; straight on from there is off by less than anyone can tell.
const HALVINGS: u32 = 16;
/// How far from 1 the length of a turn may be.
const LOOSE: f64 = 1e-6;

/// Where a body that never deforms is: what is at `p` at rest, in the coordinates of its mesh, is at `place + turn * p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPose {
    /// Where the origin of its mesh is, m.
    pub place: DVec3,
    /// How it is turned: a unit quaternion, of which the opposite says the same.
    pub turn: DQuat,
}

impl BodyPose {
    /// The pose of a rigid placement. Scale or shear in its matrix would be lost without notice.
    pub fn of(placement: &DAffine3) -> BodyPose {
        BodyPose { place: placement.translation, turn: DQuat::from_mat3(&placement.matrix3).normalize() }
    }

    /// Where a point of the body at rest is.
    pub fn of_point(&self, rest: DVec3) -> DVec3 {
        self.place + self.turn * rest
    }

    /// A part of the way to another: its middle, at `center` at rest, goes straight, and it turns evenly, the short way round.
    pub(crate) fn toward(&self, next: &BodyPose, center: DVec3, part: f64) -> BodyPose {
        let turn = between(self.turn, next.turn, part);
        let middle = self.of_point(center).lerp(next.of_point(center), part);
        BodyPose { place: middle - turn * center, turn }
    }
}

/// The turn at a part of the way from one to another, by sums, products and roots alone: the same on every machine.
fn between(from: DQuat, to: DQuat, mut part: f64) -> DQuat {
    let (mut from, mut to) = (from, if from.dot(to) < 0.0 { -to } else { to });
    for _ in 0..HALVINGS {
        let middle = (from + to).normalize();
        if part < 0.5 {
            (to, part) = (middle, 2.0 * part);
        } else {
            (from, part) = (middle, 2.0 * part - 1.0);
        }
    }
    (from * (1.0 - part) + to * part).normalize()
}

/// Poses as a channel; nothing if there are none.
pub(super) fn put_poses(poses: &[BodyPose], out: &mut Vec<u8>) {
    if poses.is_empty() {
        return;
    }
    let column = |k: usize| {
        let of = |p: &BodyPose| if k < 3 { p.place[k] } else { p.turn.to_array()[k - 3] };
        poses.iter().map(of).collect::<Vec<f64>>()
    };
    let columns: [Vec<f64>; 7] = std::array::from_fn(column);
    put(out, "pose", &columns.each_ref().map(Vec::as_slice));
}

/// Poses from the channels of a frame, one for each of its bodies that never deform.
pub(super) fn poses_of(channels: &[LogChannel<'_>], bodies: &[LogBody]) -> Result<Vec<BodyPose>, String> {
    let wanted = bodies.iter().filter(|b| b.rigid.is_some()).count();
    let columns = find(channels, "pose").map_or(Ok(Default::default()), |c| c.planes::<f64, 7>())?;
    if columns[0].len() != wanted {
        return Err(format!("it has {} poses for {wanted} rigid bodies", columns[0].len()));
    }
    let pose = |i: usize| {
        let [x, y, z, a, b, c, d] = columns.each_ref().map(|column| column[i]);
        BodyPose { place: DVec3::new(x, y, z), turn: DQuat::from_xyzw(a, b, c, d) }
    };
    let sound = |p: &BodyPose| p.place.is_finite() && (p.turn.length() - 1.0).abs() < LOOSE;
    let poses: Vec<BodyPose> = (0..wanted).map(pose).collect();
    match poses.iter().position(|p| !sound(p)) {
        Some(i) => Err(format!("pose {i} is none")),
        None => Ok(poses),
    }
}

/// The positions of all particles but those of bodies that never deform.
pub(super) fn without_rigid(positions: &[Vec<f64>; 3], bodies: &[LogBody]) -> [Vec<f64>; 3] {
    let mut kept: [Vec<f64>; 3] = Default::default();
    for (to, axis) in kept.iter_mut().zip(positions) {
        for body in bodies.iter().filter(|b| b.rigid.is_none()) {
            to.extend_from_slice(&axis[body.range()]);
        }
        to.extend_from_slice(&axis[particles(bodies)..]);
    }
    kept
}

/// The positions of all particles, those of bodies that never deform from where these are.
pub(super) fn with_rigid(
    mut others: [Vec<f64>; 3],
    poses: &[BodyPose],
    bodies: &[LogBody],
) -> Result<[Vec<f64>; 3], String> {
    if poses.is_empty() {
        return Ok(others);
    }
    let mut all: [Vec<f64>; 3] = Default::default();
    let (mut first, mut poses) = (0, poses.iter());
    for body in bodies {
        match body.rigid.as_ref().and_then(|rest| Some((rest, poses.next()?))) {
            Some((rest, pose)) => {
                let places = rest.iter().map(|p| pose.of_point(*p).to_array());
                places.for_each(|p| all.iter_mut().zip(p).for_each(|(axis, x)| axis.push(x)));
            }
            None => {
                let end = first + body.particles.len();
                for (to, axis) in all.iter_mut().zip(&others) {
                    to.extend_from_slice(axis.get(first..end).ok_or("it has too few particles")?);
                }
                first = end;
            }
        }
    }
    for (to, axis) in all.iter_mut().zip(&mut others) {
        to.extend(axis.drain(first.min(axis.len())..));
    }
    Ok(all)
}

fn particles(bodies: &[LogBody]) -> usize {
    bodies.last().map_or(0, |b| b.particles.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_turns_it_turns_evenly() {
        let axis = DVec3::new(0.3, -0.5, 0.8).normalize();
        let from = DQuat::from_rotation_x(0.4);
        for angle in [1e-9, 0.3, 2.0, 3.1] {
            let to = DQuat::from_axis_angle(axis, angle) * from;
            for part in [0.0, 0.1, 0.5, 0.77, 1.0] {
                let wanted = DQuat::from_axis_angle(axis, angle * part) * from;
                for to in [to, -to] {
                    let found = between(from, to, part);
                    let off = (found - wanted).length().min((found + wanted).length());
                    assert!(off < 1e-13, "{angle}, {part}: {off}");
                }
            }
        }
    }

    #[test]
    fn the_middle_goes_straight() {
        let center = DVec3::new(1.0, 2.0, 0.5);
        let from = BodyPose { place: DVec3::X, turn: DQuat::IDENTITY };
        let to = BodyPose { place: DVec3::new(3.0, 1.0, 0.0), turn: DQuat::from_rotation_z(1.5) };
        let quarter = from.toward(&to, center, 0.25);
        let wanted = from.of_point(center).lerp(to.of_point(center), 0.25);
        assert!(quarter.of_point(center).distance(wanted) < 1e-14);
        assert!((quarter.turn - DQuat::from_rotation_z(0.375)).length() < 1e-14);
    }
}
