//! Meshes as files have them to GLB.

use super::parts::GlbNormals;
use super::write::{Glb, GlbSurface};
use crate::GeometryError;
use crate::TriMesh;
use crate::poly::{FollowingNormals, PolyMesh};
use glam::DVec3;
use std::io::Write;

/// Writes meshes as one GLB file: a node with the mesh's name for each, materials as primitives, polygons cut into
/// triangles, vertices split where texture coordinates or normals differ, clouds as points. A mesh that moves shows
/// its motion alone, beginning with the first sample. Gives the bytes written.
pub fn write_glb(out: &mut dyn Write, meshes: &[PolyMesh]) -> Result<u64, GeometryError> {
    for mesh in meshes {
        mesh.check()
            .map_err(|e| GeometryError { message: format!("\"{}\": {}", mesh.name, e.message), ..e })?;
    }
    let following: Vec<Option<FollowingNormals>> = meshes
        .iter()
        .map(|mesh| {
            let rest = || TriMesh {
                positions: mesh.positions.clone(),
                triangles: mesh.attributes.triangles(&mesh.positions),
            };
            (!mesh.attributes.normals.is_empty()).then(|| FollowingNormals::new(&mesh.attributes, &rest()))
        })
        .collect();
    let surfaces: Vec<GlbSurface<'_>> = meshes
        .iter()
        .zip(&following)
        .map(|(mesh, following)| GlbSurface {
            rest: None,
            name: &mesh.name,
            attributes: &mesh.attributes,
            positions: &mesh.positions,
            normals: following.as_ref().map_or(GlbNormals::None, |f| GlbNormals::OfCorners(f.of_corners())),
            times: mesh.animation.as_ref().map_or(&[], |m| &m.times),
            begin: 0,
            shown: [None; 2],
        })
        .collect();
    let mut glb = Glb::new(&surfaces)?;
    let failed = |e: std::io::Error| GeometryError {
        io: true,
        ..GeometryError::new(format!("cannot write: {e}"), "check the disk and the path, then try again")
    };
    // What is written cannot be changed any more, so the bounds are found before.
    frames(&mut glb, meshes, &following, |_| Ok(()))?;
    out.write_all(&glb.head()).map_err(failed)?;
    glb.fixed(|bytes| out.write_all(bytes)).map_err(failed)?;
    frames(&mut glb, meshes, &following, |bytes| out.write_all(bytes).map_err(failed))?;
    Ok(glb.file_bytes())
}

/// Hands all frames of all meshes to `put`, in the order of the file.
fn frames(
    glb: &mut Glb,
    meshes: &[PolyMesh],
    following: &[Option<FollowingNormals>],
    mut put: impl FnMut(&[u8]) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    let still = |mesh: &PolyMesh| mesh.animation.as_ref().is_none_or(|m| m.samples.is_empty());
    let count = |mesh: &PolyMesh| mesh.animation.as_ref().map_or(1, |m| m.samples.len().max(1));
    let narrow = |points: &[DVec3]| points.iter().map(|p| p.as_vec3().to_array()).collect::<Vec<[f32; 3]>>();
    let (mut directions, mut bytes) = (Vec::new(), Vec::new());
    for k in 0..meshes.iter().map(count).max().unwrap_or(0) {
        for (s, mesh) in meshes.iter().enumerate().filter(|(_, m)| k < count(m)) {
            let points = match &mesh.animation {
                Some(animation) if !still(mesh) => &animation.samples[k],
                _ => &mesh.positions,
            };
            directions.clear();
            if let Some(following) = following[s].as_ref().filter(|_| glb.has_normals()) {
                following.at(points, &mut directions);
            }
            glb.frame(k, s, &narrow(points), &narrow(&directions), &mut bytes)?;
            put(&bytes)?;
        }
    }
    Ok(())
}
