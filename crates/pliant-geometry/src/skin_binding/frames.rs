//! How space around each point of an element mesh is carried along: its deformation gradient, a fixed combination of
//! points, averaged over the elements at it.
//!
//! In a solid, F = Σ pⱼ ⊗ gⱼ with gⱼ the volume-weighted mean of ∇λⱼ over the tetrahedra at the point: one handle for
//! each column. On a cloth the same with areas gives the images of two tangents; the third direction is the
//! normal, turned with the cloth (see [`NormalOffsets`](crate::NormalOffsets)). At rest F is the identity, exactly.

use crate::TriMesh;
use crate::rows::SparseRows;
use glam::{DMat2, DMat3, DVec2, DVec3};

/// The frame of each point.
pub(super) struct DeformationFrames {
    /// Images of the axes of each point, `axes[i].len()` after one another.
    pub handles: SparseRows,
    /// The first handle of each point.
    pub first: Vec<u32>,
    /// Rest directions whose images the handles are: three for solids, two for cloth, none without elements.
    pub axes: Vec<Vec<DVec3>>,
    /// What the normal of a point carries of an offset; zero for solids.
    pub normal_axis: Vec<DVec3>,
    /// How far the image of a unit vector may move when every point moves by one; infinite without elements.
    pub swing: Vec<f64>,
}

/// Mean gradients: for each point (other point, gⱼ), sorted.
struct Stencils {
    offsets: Vec<usize>,
    entries: Vec<(u32, DVec3)>,
}

impl Stencils {
    /// From (point, other, gradient times measure) and the sum of measures at each point.
    fn new(mut pieces: Vec<(u32, u32, DVec3)>, measure: &[f64]) -> Stencils {
        pieces.sort_by_key(|p| (p.0, p.1));
        let mut stencils = Stencils { offsets: vec![0], entries: Vec::new() };
        let mut at = 0;
        for (i, &whole) in measure.iter().enumerate() {
            let begin = stencils.entries.len();
            while let Some(&(_, other, gradient)) = pieces.get(at).filter(|p| p.0 as usize == i) {
                at += 1;
                match stencils.entries[begin..].last_mut() {
                    Some(last) if last.0 == other => last.1 += gradient,
                    _ => stencils.entries.push((other, gradient)),
                }
            }
            stencils.entries[begin..].iter_mut().for_each(|e| e.1 /= whole);
            if !stencils.entries[begin..].iter().all(|e| e.1.is_finite()) {
                stencils.entries.truncate(begin);
            }
            stencils.offsets.push(stencils.entries.len());
        }
        stencils
    }

    fn of(&self, i: usize) -> &[(u32, DVec3)] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }
}

impl DeformationFrames {
    fn empty() -> DeformationFrames {
        DeformationFrames {
            handles: SparseRows::new(),
            first: vec![],
            axes: vec![],
            normal_axis: vec![],
            swing: vec![],
        }
    }

    fn push(&mut self, stencil: &[(u32, DVec3)], maps: &[(DVec3, DVec3)], normal_axis: DVec3) {
        self.first.push(self.handles.len() as u32);
        self.axes.push(maps.iter().map(|m| m.0).collect());
        for (_, direction) in maps {
            self.handles.push(stencil.iter().map(|(j, g)| (*j, g.dot(*direction))));
        }
        let none = stencil.is_empty() || maps.is_empty();
        let swing = |(_, g): &(u32, DVec3)| {
            let image: DVec3 = maps.iter().map(|(axis, direction)| *axis * g.dot(*direction)).sum();
            image.length()
        };
        self.swing.push(if none { f64::INFINITY } else { stencil.iter().map(swing).sum() });
        self.normal_axis.push(normal_axis);
    }

    /// Of the points of tetrahedra.
    pub fn of_tets(points: &[DVec3], tetrahedra: &[[u32; 4]]) -> DeformationFrames {
        let mut pieces = Vec::with_capacity(16 * tetrahedra.len());
        let mut measure = vec![0.0; points.len()];
        for t in tetrahedra {
            let [a, b, c, d] = t.map(|i| points[i as usize]);
            let edges = DMat3::from_cols(b - a, c - a, d - a);
            let (volume, sign) = (edges.determinant().abs(), edges.determinant().signum());
            // 6V ∇λ of the last three corners; those of all four sum to zero.
            let [gb, gc, gd] = [
                edges.y_axis.cross(edges.z_axis) * sign,
                edges.z_axis.cross(edges.x_axis) * sign,
                edges.x_axis.cross(edges.y_axis) * sign,
            ];
            for &i in t {
                measure[i as usize] += volume;
                pieces.extend(t.iter().zip([-gb - gc - gd, gb, gc, gd]).map(|(&j, g)| (i, j, g)));
            }
        }
        let stencils = Stencils::new(pieces, &measure);
        let mut frames = DeformationFrames::empty();
        for i in 0..points.len() {
            frames.push(stencils.of(i), &DVec3::AXES.map(|axis| (axis, axis)), DVec3::ZERO);
        }
        frames
    }

    /// Of the points of a cloth.
    pub fn of_cloth(points: &[DVec3], triangles: &[[u32; 3]]) -> DeformationFrames {
        let mut pieces = Vec::with_capacity(9 * triangles.len());
        let mut measure = vec![0.0; points.len()];
        for t in triangles {
            let [a, b, c] = t.map(|i| points[i as usize]);
            let normal = (b - a).cross(c - a);
            let Some(unit) = normal.try_normalize() else { continue };
            // 2A ∇λ, in the plane of the triangle.
            let gradients = [unit.cross(c - b), unit.cross(a - c), unit.cross(b - a)];
            for &i in t {
                measure[i as usize] += normal.length();
                pieces.extend(t.iter().zip(gradients).map(|(&j, g)| (i, j, g)));
            }
        }
        let mut normals = Vec::new();
        TriMesh::vertex_normals(points, triangles, &mut normals);
        let stencils = Stencils::new(pieces, &measure);
        let mut frames = DeformationFrames::empty();
        for (i, &normal) in normals.iter().enumerate() {
            match tangents(points, stencils.of(i), normal) {
                Some((maps, normal_axis)) => frames.push(stencils.of(i), &maps, normal_axis),
                None => frames.push(&[], &[], normal),
            }
        }
        frames
    }
}

/// Two tangents with the directions whose mean images they are at rest, and what the normal has to carry so that
/// with it the frame at rest is the identity.
///
/// The mean T of the projections to the triangles' planes is not quite the projection to the tangent plane where
/// the cloth is curved; T m = u + κ n, and κ is taken back from what the normal carries.
fn tangents(
    points: &[DVec3],
    stencil: &[(u32, DVec3)],
    normal: DVec3,
) -> Option<([(DVec3, DVec3); 2], DVec3)> {
    let mean = |m: DVec3| stencil.iter().map(|&(j, g)| points[j as usize] * g.dot(m)).sum::<DVec3>();
    let (u, v) = normal.any_orthonormal_pair();
    let (tu, tv) = (mean(u), mean(v));
    let within = DMat2::from_cols(DVec2::new(u.dot(tu), v.dot(tu)), DVec2::new(u.dot(tv), v.dot(tv)));
    // Zero where the cloth is folded back on itself, one where it is flat.
    if within.determinant().is_nan() || within.determinant() < 1e-2 {
        return None;
    }
    let back = within.inverse();
    let maps = [(u, u * back.x_axis.x + v * back.x_axis.y), (v, u * back.y_axis.x + v * back.y_axis.y)];
    let normal_axis =
        maps.iter().fold(normal, |normal_axis, (axis, m)| normal_axis - *axis * normal.dot(mean(*m)));
    Some((maps, normal_axis))
}
