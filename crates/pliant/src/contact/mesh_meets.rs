//! Where a point meets a triangle mesh that moves while the point does: of a collider, or the surface of a body.
//!
//! One place for each wall that is *locally* nearest, so that a corner holds what is in it by all its walls. Where the path of
//! the point since the substep began leads through the mesh, the place is that where it entered: a fast point does not come
//! out on the other side.

use super::solid::SAME_SIDE;
use glam::{DQuat, DVec3};
use pliant_geometry::colliders::{Minima, MovingMesh, SurfacePoint};

/// A place where a point meets a mesh.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshMeet {
    pub foot: SurfacePoint,
    /// Unit normal, to where the point may be.
    pub normal: DVec3,
    /// How far the point was when the substep began, if it may have been nearer than its radius; else infinite.
    pub began: f64,
}

/// All places where a point meets a mesh, the nearest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeshMeets {
    list: [Option<MeshMeet>; MeshMeets::MOST],
}

impl MeshMeets {
    pub const MOST: usize = Minima::MOST;

    pub fn iter(&self) -> impl Iterator<Item = &MeshMeet> + '_ {
        self.list.iter().flatten()
    }

    fn one(meet: MeshMeet) -> MeshMeets {
        let mut list = [None; MeshMeets::MOST];
        list[0] = Some(meet);
        MeshMeets { list }
    }
}

/// Where a point of a radius that goes from `start` to `at` meets a mesh of a thickness: all that is nearer than `within`. It goes no
/// further than `passes` in terms of any place of the mesh.
pub(super) fn meet_mesh(
    pose: &MovingMesh<'_>,
    thickness: f64,
    (start, at): (DVec3, DVec3),
    (radius, passes): (f64, f64),
    within: f64,
) -> MeshMeets {
    // Who is nearer than its radius from the start is let go slowly.
    let began = || match radius + thickness > 0.0 {
        true => pose
            .nearest(start, pose.shares[0], radius + thickness)
            .map_or(f64::INFINITY, |f| f.distance - thickness),
        false => f64::INFINITY,
    };
    let closed = pose.mesh.is_closed();
    let minima = pose.minima(at, within);
    // What ends further away than it has come has crossed nothing.
    let away = minima.iter().next().map_or(within, |foot| foot.distance);
    let crossing = if away > passes { None } else { pose.crossing(start, at) };
    if let Some(crossing) = crossing {
        // What went around an edge is held by where it is, what went through by where it entered.
        let near = if closed { pose.nearest(at, pose.shares[1], f64::INFINITY) } else { None };
        let side = near.map(|foot| (foot, outward(pose, &foot, at)));
        match side.filter(|(_, out)| out.0.dot(crossing.normal) > SAME_SIDE) {
            Some((foot, (normal, false))) => {
                return MeshMeets::one(MeshMeet { foot, normal, began: began() });
            }
            Some((_, (_, true))) => {}
            None => {
                let (foot, normal) = (crossing.foot, crossing.normal);
                return MeshMeets::one(MeshMeet { foot, normal, began: began() });
            }
        }
    }
    let (mut meets, mut count) = (MeshMeets::default(), 0);
    let mut inside = false;
    for foot in minima.iter() {
        let (normal, outside) = outward(pose, foot, at);
        if closed && !outside {
            inside = true;
            break;
        }
        meets.list[count] = Some(MeshMeet { foot: *foot, normal, began: began() });
        count += 1;
    }
    // Deep inside nothing may be near.
    let (lo, hi) = pose.bounds();
    let in_box = closed && count == 0 && at.cmpge(lo).all() && at.cmple(hi).all();
    if inside || (in_box && pose.surrounds(at)) {
        let Some(foot) = pose.nearest(at, pose.shares[1], f64::INFINITY) else { return meets };
        let (normal, outside) = outward(pose, &foot, at);
        if !outside {
            let first = pose.nearest(start, pose.shares[0], f64::INFINITY);
            let began = first.map_or(0.0, |f| signed(pose, &f, start, pose.shares[0]) - thickness);
            return MeshMeets::one(MeshMeet { foot, normal, began });
        }
    }
    meets
}

/// The same of the surface of a body, on which others may rest with their edges on its own: what came in is held by the
/// place that was nearest when the substep began, unless its path led past that.
pub(super) fn meet_surface(
    pose: &MovingMesh<'_>,
    path: (DVec3, DVec3),
    (radius, passes): (f64, f64),
    within: f64,
) -> MeshMeets {
    let (start, at) = path;
    let meets = meet_mesh(pose, 0.0, path, (radius, passes), within);
    // On the surface to rounding is inside, too: an edge that lies on another has no direction there.
    let inside = |m: &MeshMeet| m.normal.dot(at - m.foot.point) < 0.5 * radius;
    if !meets.iter().any(inside) {
        return meets;
    }
    let [begin, end] = pose.shares;
    let Some(foot) = pose.nearest(start, begin, radius + start.distance(at)) else { return meets };
    let then = pose.normal(&foot, begin);
    let away = start - foot.point;
    if pose.mesh.is_closed() && away.dot(then) < 0.0 {
        return meets;
    }
    // Seen from the triangle, which has turned since.
    let (began, now) = (pose.normal_of(foot.triangle, begin), pose.normal_of(foot.triangle, end));
    let turn = DQuat::from_rotation_arc(began, now);
    let side = if pose.mesh.is_closed() || away.dot(then) >= 0.0 { then } else { -then };
    let direction = if foot.distance > 1e-9 * pose.mesh.size() { away / foot.distance } else { side };
    let normal = turn * direction;
    let point = pose.at_end(&foot);
    if !(began.is_normalized() && now.is_normalized()) || normal.dot(at - point) >= 0.5 * radius {
        return meets;
    }
    MeshMeets::one(MeshMeet { foot: SurfacePoint { point, ..foot }, normal, began: foot.distance })
}

/// The direction out of the surface from a point near it, and whether the point is outside; of an open mesh, whichever
/// side it is on.
pub(super) fn outward(pose: &MovingMesh<'_>, foot: &SurfacePoint, at: DVec3) -> (DVec3, bool) {
    let away = at - foot.point;
    let normal = pose.normal(foot, pose.shares[1]);
    let outside = away.dot(normal) >= 0.0;
    let sign = if outside || pose.mesh.is_closed() { 1.0 } else { -1.0 };
    // On a face, or too near to tell a direction, the surface has one.
    let flat = foot.weights.iter().all(|w| *w > 0.0);
    if flat || foot.distance <= 1e-9 * pose.mesh.size() {
        return (normal * sign, outside || !flat);
    }
    let direction = away / foot.distance;
    match outside || !pose.mesh.is_closed() {
        true => (direction, outside),
        false => (-direction, false),
    }
}

/// The distance of a point from a mesh, negative inside a closed one.
fn signed(pose: &MovingMesh<'_>, foot: &SurfacePoint, at: DVec3, share: f64) -> f64 {
    let inside = pose.mesh.is_closed() && (at - foot.point).dot(pose.normal(foot, share)) < 0.0;
    if inside { -foot.distance } else { foot.distance }
}
