//! PLY out, binary little-endian: all meshes as one, f32 where that says the same and f64 otherwise.

use super::color::as_bytes;
use super::write::first_vertices;
use crate::poly::{Layer, PolyMesh};
use std::io::{Error, ErrorKind, Result, Write};

/// Bytes gathered before they are written.
const CHUNK: usize = 1 << 16;

pub(super) fn write(meshes: &[PolyMesh], out: &mut dyn Write) -> Result<()> {
    let layout = PlyLayout::new(meshes)?;
    layout.write_header(out)?;
    let mut buffer = Vec::with_capacity(2 * CHUNK);
    layout.write_vertices(&mut buffer, out)?;
    layout.write_faces(&mut buffer, out)?;
    out.write_all(&buffer)
}

/// What the file holds of the meshes, and in which types. Those without something that others have get zeros.
struct PlyLayout<'a> {
    meshes: &'a [PolyMesh],
    /// Number of each mesh's first vertex in the file.
    first: Vec<u32>,
    /// Whether f32 holds every position exactly.
    single: bool,
    /// By mesh and vertex. Corners of a vertex that differ have none: there is room for one, readers find them anew.
    normals: Vec<Option<Vec<[f32; 3]>>>,
    uvs: Vec<Option<Vec<[f32; 2]>>>,
    /// Whether texture coordinates are written by corner, as vertices have several.
    corner_uvs: bool,
    colors: bool,
    /// Colours as bytes, if those say the same.
    color_bytes: Option<Vec<Vec<[u8; 4]>>>,
    /// Image files of all materials, each once.
    textures: Vec<&'a str>,
    /// Whether a byte counts the entries of every list.
    short_lists: bool,
}

impl<'a> PlyLayout<'a> {
    fn new(meshes: &'a [PolyMesh]) -> Result<PlyLayout<'a>> {
        let normals = meshes.iter().map(|m| by_vertex(m, &m.attributes.normals, [0.0; 3])).collect();
        let uvs: Vec<_> = meshes.iter().map(|m| by_vertex(m, &m.attributes.uvs, [0.0; 2])).collect();
        let corner_uvs =
            meshes.iter().zip(&uvs).any(|(m, uvs)| !m.attributes.uvs.is_empty() && uvs.is_none());
        let largest = meshes.iter().flat_map(|m| m.attributes.faces.sizes()).max().unwrap_or(0);
        if largest > i32::MAX as u32 {
            return Err(Error::new(ErrorKind::InvalidInput, "a face has too many corners for PLY"));
        }
        Ok(PlyLayout {
            meshes,
            first: first_vertices(meshes)?,
            single: meshes.iter().flat_map(|m| &m.positions).all(|p| p.as_vec3().as_dvec3() == *p),
            normals,
            uvs,
            corner_uvs,
            colors: meshes.iter().any(|m| !m.attributes.colors.is_empty()),
            color_bytes: meshes.iter().map(|m| as_bytes(&m.attributes.colors)).collect(),
            textures: textures(meshes),
            // A byte counts up to 255 corners, and twice as many numbers must fit for texture coordinates.
            short_lists: largest < if corner_uvs { 128 } else { 256 },
        })
    }

    fn has_normals(&self) -> bool {
        self.normals.iter().any(Option::is_some)
    }

    fn vertex_uvs(&self) -> bool {
        !self.corner_uvs && self.uvs.iter().any(Option::is_some)
    }

    fn write_header(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "ply\nformat binary_little_endian 1.0")?;
        if let [mesh] = self.meshes
            && !mesh.name.is_empty()
        {
            writeln!(out, "comment name: {}", mesh.name.replace(char::is_control, "_"))?;
        }
        for texture in &self.textures {
            writeln!(out, "comment TextureFile {}", texture.replace(char::is_control, "_"))?;
        }
        let vertices: usize = self.meshes.iter().map(|m| m.positions.len()).sum();
        writeln!(out, "element vertex {vertices}")?;
        let mut properties = |kind: &str, names: &[&str]| {
            names.iter().try_for_each(|name| writeln!(out, "property {kind} {name}"))
        };
        properties(if self.single { "float" } else { "double" }, &["x", "y", "z"])?;
        properties("float", if self.has_normals() { &["nx", "ny", "nz"] } else { &[] })?;
        properties("float", if self.vertex_uvs() { &["s", "t"] } else { &[] })?;
        let kind = if self.color_bytes.is_some() { "uchar" } else { "float" };
        properties(kind, if self.colors { &["red", "green", "blue", "alpha"] } else { &[] })?;
        let count = if self.short_lists { "uchar" } else { "int" };
        let index = if vertices > i32::MAX as usize { "uint" } else { "int" };
        let faces: usize = self.meshes.iter().map(|m| m.attributes.faces.len()).sum();
        if faces > 0 {
            writeln!(out, "element face {faces}\nproperty list {count} {index} vertex_indices")?;
            if self.corner_uvs {
                writeln!(out, "property list {count} float texcoord")?;
            }
            if self.textures.len() > 1 {
                writeln!(out, "property int texnumber")?;
            }
        }
        writeln!(out, "end_header")
    }

    fn write_vertices(&self, buffer: &mut Vec<u8>, out: &mut dyn Write) -> Result<()> {
        let (has_normals, vertex_uvs) = (self.has_normals(), self.vertex_uvs());
        for (m, mesh) in self.meshes.iter().enumerate() {
            for (i, p) in mesh.positions.iter().enumerate() {
                if self.single {
                    put(buffer, &p.as_vec3().to_array());
                } else {
                    p.to_array().iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
                }
                if has_normals {
                    put(buffer, &self.normals[m].as_ref().map_or([0.0; 3], |n| n[i]));
                }
                if vertex_uvs {
                    put(buffer, &self.uvs[m].as_ref().map_or([0.0; 2], |n| n[i]));
                }
                match &self.color_bytes {
                    _ if !self.colors => {}
                    Some(bytes) => buffer.extend_from_slice(bytes[m].get(i).unwrap_or(&[255; 4])),
                    None => put(buffer, mesh.attributes.colors.get(i).unwrap_or(&[1.0; 4])),
                }
                flush(buffer, out)?;
            }
        }
        Ok(())
    }

    fn write_faces(&self, buffer: &mut Vec<u8>, out: &mut dyn Write) -> Result<()> {
        let put_count = |buffer: &mut Vec<u8>, n: usize| match self.short_lists {
            true => buffer.push(n as u8),
            false => buffer.extend_from_slice(&(n as u32).to_le_bytes()),
        };
        for (mesh, first) in self.meshes.iter().zip(&self.first) {
            let attributes = &mesh.attributes;
            let uv = |c: usize| {
                attributes.uvs.corners.get(c).map_or([0.0; 2], |&i| attributes.uvs.values[i as usize])
            };
            for (f, face) in attributes.faces.iter().enumerate() {
                put_count(buffer, face.len());
                face.iter().for_each(|v| buffer.extend_from_slice(&(first + v).to_le_bytes()));
                if self.corner_uvs {
                    put_count(buffer, 2 * face.len());
                    attributes.faces.range(f).for_each(|c| put(buffer, &uv(c)));
                }
                if self.textures.len() > 1 {
                    let texture = attributes.material_of(f).and_then(|m| m.texture.as_deref());
                    let number = self.textures.iter().position(|t| Some(*t) == texture).unwrap_or(0);
                    buffer.extend_from_slice(&(number as u32).to_le_bytes());
                }
                flush(buffer, out)?;
            }
        }
        Ok(())
    }
}

fn by_vertex<T: Copy>(mesh: &PolyMesh, layer: &Layer<T>, nothing: T) -> Option<Vec<T>> {
    layer.by_vertex(&mesh.attributes.faces, mesh.positions.len(), nothing)
}

/// Writes what was gathered once it is enough.
fn flush(buffer: &mut Vec<u8>, out: &mut dyn Write) -> Result<()> {
    if buffer.len() < CHUNK {
        return Ok(());
    }
    let written = out.write_all(buffer);
    buffer.clear();
    written
}

fn put(buffer: &mut Vec<u8>, values: &[f32]) {
    values.iter().for_each(|x| buffer.extend_from_slice(&x.to_le_bytes()));
}

/// Image files of all materials, each once.
fn textures(meshes: &[PolyMesh]) -> Vec<&str> {
    let mut textures: Vec<&str> = Vec::new();
    for texture in meshes.iter().flat_map(|m| &m.attributes.materials).filter_map(|m| m.texture.as_deref()) {
        if !textures.contains(&texture) {
            textures.push(texture);
        }
    }
    textures
}
