//! STL out, binary: the triangles of all meshes with their normals, in f32.

use crate::poly::PolyMesh;
use crate::triangle::unit_normal;
use std::io::{Error, ErrorKind, Result, Write};

pub(super) fn write(meshes: &[PolyMesh], out: &mut dyn Write) -> Result<()> {
    let triangles: Vec<Vec<[u32; 3]>> = meshes.iter().map(|m| m.attributes.triangles(&m.positions)).collect();
    let count = u32::try_from(triangles.iter().map(Vec::len).sum::<usize>()).map_err(|_| {
        Error::new(ErrorKind::InvalidInput, "more triangles than STL can count: write several files")
    })?;
    // A header that begins with "solid" would pass for text.
    let title = meshes.first().map(|m| m.name.as_str()).filter(|n| n.is_ascii() && !n.starts_with("solid"));
    let mut header = [0; 80];
    let title = title.unwrap_or_default().as_bytes();
    let length = title.len().min(80);
    header[..length].copy_from_slice(&title[..length]);
    out.write_all(&header)?;
    out.write_all(&count.to_le_bytes())?;
    for (mesh, triangles) in meshes.iter().zip(&triangles) {
        for t in triangles {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            let normal = unit_normal([a, b, c]);
            let mut facet = [0; 50];
            let values = [normal, a, b, c].map(|p| p.as_vec3().to_array());
            for (slot, x) in facet.chunks_exact_mut(4).zip(values.as_flattened()) {
                slot.copy_from_slice(&x.to_le_bytes());
            }
            out.write_all(&facet)?;
        }
    }
    Ok(())
}
