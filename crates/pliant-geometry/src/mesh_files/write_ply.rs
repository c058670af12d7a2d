//! PLY out, binary little-endian: all meshes as one, f32 where that says the same and f64 otherwise.

use super::color::as_bytes;
use super::write::first_vertices;
use crate::poly::PolyMesh;
use std::io::{Error, ErrorKind, Result, Write};

/// Bytes gathered before they are written.
const CHUNK: usize = 1 << 16;

pub(super) fn write(meshes: &[PolyMesh], out: &mut dyn Write) -> Result<()> {
    let first = first_vertices(meshes)?;
    let vertices: usize = meshes.iter().map(|m| m.positions.len()).sum();
    let faces: usize = meshes.iter().map(|m| m.coat.faces.len()).sum();
    let any = |has: fn(&PolyMesh) -> bool| meshes.iter().any(has);
    let single = meshes.iter().flat_map(|m| &m.positions).all(|p| p.as_vec3().as_dvec3() == *p);
    // One normal per vertex is all there is room for; split ones are left to be found anew.
    let normals: Vec<_> =
        meshes.iter().map(|m| m.coat.normals.by_vertex(&m.coat.faces, m.positions.len(), [0.0; 3])).collect();
    let has_normals = normals.iter().any(Option::is_some);
    let uvs: Vec<_> =
        meshes.iter().map(|m| m.coat.uvs.by_vertex(&m.coat.faces, m.positions.len(), [0.0; 2])).collect();
    let corner_uvs = meshes.iter().zip(&uvs).any(|(m, uvs)| !m.coat.uvs.is_empty() && uvs.is_none());
    let vertex_uvs = !corner_uvs && uvs.iter().any(Option::is_some);
    let bytes: Option<Vec<_>> = meshes.iter().map(|m| as_bytes(&m.coat.colors)).collect();
    let colors = any(|m| !m.coat.colors.is_empty());
    let textures = textures(meshes);
    let largest = meshes.iter().flat_map(|m| m.coat.faces.sizes()).max().unwrap_or(0);
    if largest > i32::MAX as u32 {
        return Err(Error::new(ErrorKind::InvalidInput, "a face has too many corners for PLY"));
    }
    // A byte counts up to 255 corners, and twice as many numbers must fit for texture coordinates.
    let small = largest < if corner_uvs { 128 } else { 256 };

    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    if let [mesh] = meshes
        && !mesh.name.is_empty()
    {
        writeln!(out, "comment name: {}", mesh.name.replace(char::is_control, "_"))?;
    }
    for texture in &textures {
        writeln!(out, "comment TextureFile {}", texture.replace(char::is_control, "_"))?;
    }
    writeln!(out, "element vertex {vertices}")?;
    let mut properties = |kind: &str, names: &[&str]| {
        names.iter().try_for_each(|name| writeln!(out, "property {kind} {name}"))
    };
    properties(if single { "float" } else { "double" }, &["x", "y", "z"])?;
    properties("float", if has_normals { &["nx", "ny", "nz"] } else { &[] })?;
    properties("float", if vertex_uvs { &["s", "t"] } else { &[] })?;
    let kind = if bytes.is_some() { "uchar" } else { "float" };
    properties(kind, if colors { &["red", "green", "blue", "alpha"] } else { &[] })?;
    let count = if small { "uchar" } else { "int" };
    let index = if vertices > i32::MAX as usize { "uint" } else { "int" };
    if faces > 0 {
        writeln!(out, "element face {faces}\nproperty list {count} {index} vertex_indices")?;
        if corner_uvs {
            writeln!(out, "property list {count} float texcoord")?;
        }
        if textures.len() > 1 {
            writeln!(out, "property int texnumber")?;
        }
    }
    writeln!(out, "end_header")?;

    let mut buffer = Vec::with_capacity(2 * CHUNK);
    let flush = |buffer: &mut Vec<u8>, out: &mut dyn Write| {
        if buffer.len() < CHUNK {
            return Ok(());
        }
        let written = out.write_all(buffer);
        buffer.clear();
        written
    };
    for (m, mesh) in meshes.iter().enumerate() {
        for (i, p) in mesh.positions.iter().enumerate() {
            if single {
                put(&mut buffer, &p.as_vec3().to_array());
            } else {
                p.to_array().iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
            }
            if has_normals {
                put(&mut buffer, &normals[m].as_ref().map_or([0.0; 3], |n| n[i]));
            }
            if vertex_uvs {
                put(&mut buffer, &uvs[m].as_ref().map_or([0.0; 2], |n| n[i]));
            }
            match &bytes {
                _ if !colors => {}
                Some(bytes) => buffer.extend_from_slice(bytes[m].get(i).unwrap_or(&[255; 4])),
                None => put(&mut buffer, mesh.coat.colors.get(i).unwrap_or(&[1.0; 4])),
            }
            flush(&mut buffer, out)?;
        }
    }
    let put_count = |buffer: &mut Vec<u8>, n: usize| match small {
        true => buffer.push(n as u8),
        false => buffer.extend_from_slice(&(n as u32).to_le_bytes()),
    };
    for (m, mesh) in meshes.iter().enumerate() {
        let coat = &mesh.coat;
        for (f, face) in coat.faces.iter().enumerate() {
            put_count(&mut buffer, face.len());
            face.iter().for_each(|v| buffer.extend_from_slice(&(first[m] + v).to_le_bytes()));
            if corner_uvs {
                put_count(&mut buffer, 2 * face.len());
                for c in coat.faces.range(f) {
                    let value = coat.uvs.corners.get(c).map_or([0.0; 2], |&i| coat.uvs.values[i as usize]);
                    put(&mut buffer, &value);
                }
            }
            if textures.len() > 1 {
                let texture = coat.material_of(f).and_then(|m| m.texture.as_deref());
                let number = textures.iter().position(|t| Some(*t) == texture).unwrap_or(0);
                buffer.extend_from_slice(&(number as u32).to_le_bytes());
            }
            flush(&mut buffer, out)?;
        }
    }
    out.write_all(&buffer)
}

fn put(buffer: &mut Vec<u8>, values: &[f32]) {
    values.iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
}

/// Image files of all materials, each once.
fn textures(meshes: &[PolyMesh]) -> Vec<&str> {
    let mut textures: Vec<&str> = Vec::new();
    for texture in meshes.iter().flat_map(|m| &m.coat.materials).filter_map(|m| m.texture.as_deref()) {
        if !textures.contains(&texture) {
            textures.push(texture);
        }
    }
    textures
}
