//! OFF out: all meshes as one, with normals, colours and texture coordinates of vertices.

use super::color::as_bytes;
use super::write::first_vertices;
use crate::poly::PolyMesh;
use std::io::{Result, Write};

pub(super) fn write(meshes: &[PolyMesh], out: &mut dyn Write) -> Result<()> {
    let first = first_vertices(meshes)?;
    let vertices: usize = meshes.iter().map(|m| m.positions.len()).sum();
    let faces: usize = meshes.iter().map(|m| m.attributes.faces.len()).sum();
    let normals: Vec<_> = meshes
        .iter()
        .map(|m| m.attributes.normals.by_vertex(&m.attributes.faces, m.positions.len(), [0.0; 3]))
        .collect();
    let uvs: Vec<_> = meshes
        .iter()
        .map(|m| m.attributes.uvs.by_vertex(&m.attributes.faces, m.positions.len(), [0.0; 2]))
        .collect();
    let (has_normals, has_uvs) = (normals.iter().any(Option::is_some), uvs.iter().any(Option::is_some));
    let colors = meshes.iter().any(|m| !m.attributes.colors.is_empty());
    let bytes: Option<Vec<_>> = meshes.iter().map(|m| as_bytes(&m.attributes.colors)).collect();
    let bytes = bytes.filter(|all| all.iter().flatten().flatten().any(|&b| b > 1));
    let prefix = |has: bool, text: &'static str| if has { text } else { "" };
    writeln!(out, "{}{}{}OFF", prefix(has_uvs, "ST"), prefix(colors, "C"), prefix(has_normals, "N"))?;
    writeln!(out, "{vertices} {faces} 0")?;
    for (m, mesh) in meshes.iter().enumerate() {
        for (i, p) in mesh.positions.iter().enumerate() {
            write!(out, "{} {} {}", p.x, p.y, p.z)?;
            if has_normals {
                let [x, y, z] = normals[m].as_ref().map_or([0.0; 3], |n| n[i]);
                write!(out, " {x} {y} {z}")?;
            }
            match &bytes {
                _ if !colors => {}
                Some(bytes) => {
                    let [r, g, b, a] = bytes[m].get(i).unwrap_or(&[255; 4]);
                    write!(out, " {r} {g} {b} {a}")?;
                }
                None => {
                    let [r, g, b, a] = mesh.attributes.colors.get(i).unwrap_or(&[1.0; 4]);
                    write!(out, " {r} {g} {b} {a}")?;
                }
            }
            if has_uvs {
                let [u, v] = uvs[m].as_ref().map_or([0.0; 2], |n| n[i]);
                write!(out, " {u} {v}")?;
            }
            writeln!(out)?;
        }
    }
    for (m, mesh) in meshes.iter().enumerate() {
        for face in mesh.attributes.faces.iter() {
            write!(out, "{}", face.len())?;
            face.iter().try_for_each(|v| write!(out, " {}", first[m] + v))?;
            writeln!(out)?;
        }
    }
    Ok(())
}
