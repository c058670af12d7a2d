//! Meshes moved, turned, scaled and mirrored as a whole.

use crate::TriMesh;
use crate::poly::PolyMesh;
use glam::{DAffine3, DMat3, DVec3};

/// The mesh transformed: normals stay upright on their faces, and a mirrored mesh still looks outwards.
pub fn transform(mesh: &PolyMesh, by: DAffine3) -> PolyMesh {
    let mut mesh = mesh.clone();
    let samples = mesh.animation.iter_mut().flat_map(|m| &mut m.samples);
    for p in mesh.positions.iter_mut().chain(samples.flatten()) {
        *p = by.transform_point3(*p);
    }
    let matrix = by.matrix3;
    let mirrored = matrix.determinant() < 0.0;
    // The cofactor matrix is the inverse transpose times the determinant, and there even for flat transforms.
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let sign = if mirrored { -1.0 } else { 1.0 };
    let upright = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * sign;
    if mirrored {
        mesh.attributes.flip();
    }
    for normal in &mut mesh.attributes.normals.values {
        let old = DVec3::from_array(normal.map(f64::from)) * sign;
        let new = (upright * old).normalize_or(old);
        *normal = new.to_array().map(|x| x as f32);
    }
    mesh
}

/// The transform that stands what is within these bounds on y = 0, with its middle above the origin, and scales
/// it so that its longest extent is `size`.
pub fn normalising([lo, hi]: [DVec3; 2], size: Option<f64>) -> DAffine3 {
    let longest = (hi - lo).max_element();
    let scale = match size {
        Some(size) if longest > 0.0 && size.is_finite() && size > 0.0 => size / longest,
        _ => 1.0,
    };
    let middle = lo + (hi - lo) / 2.0;
    let foot = DVec3::new(middle.x, lo.y, middle.z);
    DAffine3::from_scale(DVec3::splat(scale)) * DAffine3::from_translation(-foot)
}

/// The mesh standing on y = 0 in the middle, as long as `size` if given.
pub fn normalise(mesh: &PolyMesh, size: Option<f64>) -> PolyMesh {
    match TriMesh::bounds(&mesh.positions) {
        Some((lo, hi)) => transform(mesh, normalising([lo, hi], size)),
        None => mesh.clone(),
    }
}
