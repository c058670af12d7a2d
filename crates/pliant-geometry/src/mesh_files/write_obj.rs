//! Wavefront OBJ out, with its material library: shortest text that gives the same numbers back.

use super::color::srgb;
use super::write::{CompanionFile, first_vertices};
use crate::poly::{PolyMesh, SurfaceMaterial};
use std::collections::HashMap;
use std::io::{Result, Write};
use std::path::Path;

/// The name that says that faces have no material. A material goes on until the next, also into the next object.
const NONE: &str = "none";

pub(super) fn write(file: &Path, meshes: &[PolyMesh], out: &mut dyn Write) -> Result<Vec<CompanionFile>> {
    let first = first_vertices(meshes)?;
    let library = Library::new(meshes);
    let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let companion = CompanionFile { name: format!("{stem}.mtl"), bytes: library.text()? };
    if !library.materials.is_empty() {
        writeln!(out, "mtllib {}", companion.name)?;
    }
    let (mut uvs, mut normals) = (1, 1);
    let mut material = NONE;
    for (m, mesh) in meshes.iter().enumerate() {
        let attributes = &mesh.attributes;
        if !mesh.name.is_empty() || meshes.len() > 1 {
            match one_line(&mesh.name).as_str() {
                "" => writeln!(out, "o mesh{m}")?,
                name => writeln!(out, "o {name}")?,
            }
        }
        for (i, p) in mesh.positions.iter().enumerate() {
            match attributes.colors.get(i) {
                Some(c) => {
                    writeln!(out, "v {} {} {} {} {} {}", p.x, p.y, p.z, srgb(c[0]), srgb(c[1]), srgb(c[2]))?
                }
                None => writeln!(out, "v {} {} {}", p.x, p.y, p.z)?,
            }
        }
        for [u, v] in &attributes.uvs.values {
            writeln!(out, "vt {u} {v}")?;
        }
        for [x, y, z] in &attributes.normals.values {
            writeln!(out, "vn {x} {y} {z}")?;
        }
        let names: Vec<&str> = attributes.materials.iter().map(|m| library.name(m)).collect();
        let mut line = Vec::new();
        for f in 0..attributes.faces.len() {
            let which = attributes.face_materials.get(f).map_or(0, |&k| k as usize);
            let used = names.get(which).copied().unwrap_or(NONE);
            if used != material {
                writeln!(out, "usemtl {used}")?;
                material = used;
            }
            line.clear();
            line.push(b'f');
            for c in attributes.faces.range(f) {
                line.push(b' ');
                put(&mut line, u64::from(first[m]) + u64::from(attributes.faces.corners()[c]) + 1);
                let index = |corners: &[u32], first: u64| corners.get(c).map(|&i| first + u64::from(i));
                match (index(&attributes.uvs.corners, uvs), index(&attributes.normals.corners, normals)) {
                    (None, None) => {}
                    (uv, normal) => {
                        line.push(b'/');
                        uv.iter().for_each(|&i| put(&mut line, i));
                        if let Some(i) = normal {
                            line.push(b'/');
                            put(&mut line, i);
                        }
                    }
                }
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
        uvs += attributes.uvs.values.len() as u64;
        normals += attributes.normals.values.len() as u64;
    }
    Ok(if library.materials.is_empty() { Vec::new() } else { vec![companion] })
}

/// A whole number in decimal: much of an OBJ file, and quicker than through formatting.
fn put(line: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

/// All materials of a file under names that differ.
struct Library<'a> {
    materials: Vec<(String, &'a SurfaceMaterial)>,
    /// Where materials are, by the name they have in their mesh.
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Library<'a> {
    fn new(meshes: &'a [PolyMesh]) -> Library<'a> {
        let mut library = Library { materials: Vec::new(), places: HashMap::new() };
        let mut taken: HashMap<String, usize> = HashMap::new();
        for material in meshes.iter().flat_map(|m| &m.attributes.materials) {
            let same = library.places.entry(&material.name).or_default();
            if same.iter().any(|&k| library.materials[k].1 == material) {
                continue;
            }
            let base = match one_line(&material.name) {
                _ if *material == SurfaceMaterial::default() => continue,
                name if name.is_empty() => "material".to_string(),
                name => name,
            };
            let mut name = base.clone();
            while taken.contains_key(&name) {
                let again = taken.entry(base.clone()).or_insert(0);
                *again += 1;
                name = format!("{base}.{again:03}");
            }
            taken.insert(name.clone(), 0);
            same.push(library.materials.len());
            library.materials.push((name, material));
        }
        library
    }

    fn name(&self, material: &SurfaceMaterial) -> &str {
        let mut same = self.places.get(material.name.as_str()).into_iter().flatten();
        same.find(|&&k| self.materials[k].1 == material).map_or(NONE, |&k| &self.materials[k].0)
    }

    fn text(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for (name, m) in &self.materials {
            let [r, g, b, a] = m.color;
            writeln!(text, "newmtl {name}\nKd {r} {g} {b}\nd {a}\nPr {}\nPm {}", m.roughness, m.metallic)?;
            if let Some(texture) = &m.texture {
                writeln!(text, "map_Kd {}", one_line(texture))?;
            }
        }
        Ok(text)
    }
}

/// A name that ends where its line does and is nothing but a name.
fn one_line(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    clean.trim().trim_end_matches('\\').replace(" #", "_#")
}
