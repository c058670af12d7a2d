//! Balls, boxes, capsules and cylinders: signed distance, normal and nearest point in closed form.

use crate::TriMesh;
use crate::box_tree::Bounds;
use glam::DVec3;
use std::f64::consts::TAU;

/// A shape around the origin; what has an axis stands along y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    /// A ball around the origin.
    Ball {
        /// Its radius, m.
        radius: f64,
    },
    /// A box around the origin with faces across the axes.
    Cuboid {
        /// Half its edges along x, y and z, m.
        half: DVec3,
    },
    /// Everything within `radius` of a segment from −half to half.
    Capsule {
        /// Its radius, m.
        radius: f64,
        /// Half the length of the segment, m; the capsule is `radius` longer at both ends.
        half: f64,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Its radius, m.
        radius: f64,
        /// Half its height, m.
        half: f64,
    },
}

/// The point of a surface nearest to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPoint {
    /// Distance, m; negative inside.
    pub gap: f64,
    /// Unit normal, outwards.
    pub normal: DVec3,
    /// Where it is, in the primitive's own coordinates, m.
    pub point: DVec3,
}

/// Most steps along a path to where it enters a shape. Where it only grazes the shape they end before that is passed.
const STEPS: usize = 96;

impl Primitive {
    /// Nearest point, signed distance and normal. Where several are equally near, always the same one.
    pub fn nearest(&self, p: DVec3) -> NearestPoint {
        match *self {
            Primitive::Ball { radius } => from_center(DVec3::ZERO, radius, p, DVec3::Y),
            Primitive::Capsule { radius, half } => {
                from_center(DVec3::Y * p.y.clamp(-half, half), radius, p, DVec3::X)
            }
            Primitive::Cuboid { half } => near_cuboid(half, p),
            Primitive::Cylinder { radius, half } => near_cylinder(radius, half, p),
        }
    }

    /// Where a straight path from outside first comes as near to it as `touching`; `None` if it never does. Follows the path
    /// in steps of the distance there is, which cannot pass anything.
    pub fn enters(&self, from: DVec3, to: DVec3, touching: f64) -> Option<NearestPoint> {
        let displacement = to - from;
        let length = displacement.length();
        let mut gone = 0.0;
        let mut near = self.nearest(from);
        for _ in 0..STEPS {
            if near.gap <= touching {
                return Some(near);
            }
            gone += near.gap;
            if gone >= length {
                return None;
            }
            near = self.nearest(from + displacement * (gone / length));
        }
        Some(near)
    }

    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        let half = match *self {
            Primitive::Ball { radius } => DVec3::splat(radius),
            Primitive::Cuboid { half } => half,
            Primitive::Capsule { radius, half } => DVec3::new(radius, radius + half, radius),
            Primitive::Cylinder { radius, half } => DVec3::new(radius, half, radius),
        };
        (-half, half)
    }

    /// What sticks out of it: lines (or points, that end where they begin) with how far it reaches around them. Edges of
    /// boxes and the axis of a capsule; the rims of a cylinder as so many chords.
    pub fn ridges(&self, each: &mut dyn FnMut(DVec3, DVec3, f64)) {
        const CHORDS: usize = 32;
        match *self {
            Primitive::Ball { radius } => each(DVec3::ZERO, DVec3::ZERO, radius),
            Primitive::Capsule { radius, half } => each(DVec3::Y * -half, DVec3::Y * half, radius),
            Primitive::Cylinder { radius, half } => {
                let at = |k: usize, y: f64| {
                    let (sin, cos) = (TAU * k as f64 / CHORDS as f64).sin_cos();
                    DVec3::new(radius * cos, y, radius * sin)
                };
                for (k, y) in (0..CHORDS).flat_map(|k| [(k, -half), (k, half)]) {
                    each(at(k, y), at(k + 1, y), 0.0);
                }
            }
            Primitive::Cuboid { half } => {
                for (axis, corner) in (0..3).flat_map(|axis| (0..4).map(move |corner| (axis, corner))) {
                    let mut p = half;
                    p[(axis + 1) % 3] *= if corner & 1 == 0 { 1.0 } else { -1.0 };
                    p[(axis + 2) % 3] *= if corner & 2 == 0 { 1.0 } else { -1.0 };
                    let mut q = p;
                    q[axis] = -q[axis];
                    each(q, p, 0.0);
                }
            }
        }
    }

    /// A mesh of its surface, for pictures and exports; round ones with so many parts around.
    pub fn mesh(&self, parts: usize) -> TriMesh {
        let n = parts.max(8);
        match *self {
            Primitive::Ball { radius } => revolve(&arc(radius, 0.0, n / 2), n),
            Primitive::Capsule { radius, half } => revolve(&arc(radius, half, n / 2), n),
            Primitive::Cylinder { radius, half } => {
                // Twice where the rim is: its edge stays sharp.
                let rim = [
                    (0.0, -half),
                    (radius, -half),
                    (radius, -half),
                    (radius, half),
                    (radius, half),
                    (0.0, half),
                ];
                revolve(&rim, n)
            }
            Primitive::Cuboid { half } => cuboid_mesh(half),
        }
    }
}

fn from_center(center: DVec3, radius: f64, p: DVec3, otherwise: DVec3) -> NearestPoint {
    let away = p - center;
    let distance = away.length();
    let normal = if distance > 0.0 { away / distance } else { otherwise };
    NearestPoint { gap: distance - radius, normal, point: center + normal * radius }
}

fn near_cuboid(half: DVec3, p: DVec3) -> NearestPoint {
    let over = p.abs() - half;
    if over.max_element() > 0.0 {
        let point = p.clamp(-half, half);
        let away = p - point;
        let gap = away.length();
        if gap > 0.0 {
            return NearestPoint { gap, normal: away / gap, point };
        }
    }
    let axis = over.max_position();
    let mut normal = DVec3::ZERO;
    normal[axis] = if p[axis] < 0.0 { -1.0 } else { 1.0 };
    let mut point = p;
    point[axis] = normal[axis] * half[axis];
    NearestPoint { gap: over[axis], normal, point }
}

fn near_cylinder(radius: f64, half: f64, p: DVec3) -> NearestPoint {
    let aside = DVec3::new(p.x, 0.0, p.z);
    let distance = aside.length();
    let out = if distance > 0.0 { aside / distance } else { DVec3::X };
    let up = DVec3::Y * if p.y < 0.0 { -1.0 } else { 1.0 };
    let (beside, above) = (distance - radius, p.y.abs() - half);
    if beside > 0.0 && above > 0.0 {
        let point = out * radius + up * half;
        let away = p - point;
        let gap = away.length();
        return NearestPoint { gap, normal: away / gap, point };
    }
    match beside >= above {
        true => NearestPoint { gap: beside, normal: out, point: out * radius + DVec3::Y * p.y },
        false => NearestPoint { gap: above, normal: up, point: aside + up * half },
    }
}

/// Distance from the axis and height along half a circle, from the bottom up, drawn apart in the middle.
fn arc(radius: f64, half: f64, parts: usize) -> Vec<(f64, f64)> {
    let parts = parts.next_multiple_of(2);
    let mut line = Vec::with_capacity(parts + 2);
    for k in 0..=parts {
        let angle = TAU * 0.5 * (k as f64 / parts as f64 - 0.5);
        let away = if k == 0 || k == parts { 0.0 } else { radius * angle.cos() };
        let y = radius * angle.sin();
        if 2 * k <= parts {
            line.push((away, y - half));
        }
        if 2 * k >= parts && (half > 0.0 || 2 * k > parts) {
            line.push((away, y + half));
        }
    }
    line
}

/// A line around the y axis, from the bottom up, its ends on the axis.
fn revolve(line: &[(f64, f64)], around: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    let n = around as u32;
    let inner = &line[1..line.len() - 1];
    for &(away, y) in inner {
        mesh.positions.extend((0..around).map(|k| {
            let (sin, cos) = (TAU * k as f64 / around as f64).sin_cos();
            DVec3::new(away * cos, y, away * sin)
        }));
    }
    let (bottom, top) = (mesh.positions.len() as u32, mesh.positions.len() as u32 + 1);
    mesh.positions.push(DVec3::Y * line[0].1);
    mesh.positions.push(DVec3::Y * line[line.len() - 1].1);
    let last = (inner.len() as u32 - 1) * n;
    for k in 0..n {
        let next = (k + 1) % n;
        mesh.triangles.push([bottom, k, next]);
        mesh.triangles.push([top, last + next, last + k]);
        for row in 0..inner.len() as u32 - 1 {
            if inner[row as usize] == inner[row as usize + 1] {
                continue;
            }
            let (a, b) = (row * n, (row + 1) * n);
            mesh.triangles.extend([[a + k, b + k, b + next], [a + k, b + next, a + next]]);
        }
    }
    mesh
}

/// Faces with corners of their own, so that edges are shown sharp.
fn cuboid_mesh(half: DVec3) -> TriMesh {
    let mut mesh = TriMesh::default();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let first = mesh.positions.len() as u32;
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = DVec3::ZERO;
                (p[axis], p[u], p[v]) = (side * half[axis], a * half[u], b * half[v]);
                mesh.positions.push(p);
            }
            let quad = |a: u32, b: u32, c: u32| [first + a, first + b, first + c];
            match side > 0.0 {
                true => mesh.triangles.extend([quad(0, 1, 2), quad(0, 2, 3)]),
                false => mesh.triangles.extend([quad(0, 2, 1), quad(0, 3, 2)]),
            }
        }
    }
    mesh
}
