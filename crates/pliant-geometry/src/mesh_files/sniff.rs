//! Which format a file is in: by its extension, unless its content says something else for sure.

use super::words::{lines, real, words};
use super::{off, stl};
use crate::GeometryError;

/// Formats that points are read from, by extension.
pub(super) const POINTS: [&str; 5] = ["txt", "xyz", "pts", "csv", "asc"];
const KNOWN: [&str; 6] = ["obj", "ply", "stl", "off", "gltf", "glb"];
const BEFORE_ALL: usize = 4096;

/// The extension a file should have, and a note if it has another.
pub(super) fn format(extension: &str, bytes: &[u8]) -> Result<(&'static str, Option<String>), GeometryError> {
    let known = KNOWN.into_iter().chain(POINTS).find(|k| *k == extension);
    let sure = content(bytes);
    match (known, sure) {
        (_, Some(SniffedContent::Other(what, help))) => {
            Err(GeometryError::new(format!("this is {what}"), help))
        }
        (Some(known), Some(SniffedContent::Mesh(found))) if known != found => {
            Ok((found, Some(format!("the file is named .{known} but its content is .{found}: read as that"))))
        }
        (Some(known), _) => Ok((known, None)),
        (None, Some(SniffedContent::Mesh(found))) => {
            Ok((found, Some(format!("the file's name does not say what it is; its content is .{found}"))))
        }
        (None, None) => match guess(bytes) {
            Some(found) => {
                Ok((found, Some(format!("the file's name does not say what it is; it looks like .{found}"))))
            }
            None => Err(GeometryError::new(
                match extension {
                    "" => {
                        "the file's name has no extension, and its content is of no known format".to_string()
                    }
                    _ => format!("`.{extension}` is not a mesh format that can be read"),
                },
                "convert it to .obj, .ply, .stl, .off, .gltf or .glb, or to a list of points (.txt, .xyz, .csv)",
            )),
        },
    }
}

enum SniffedContent {
    Mesh(&'static str),
    /// What it is instead, and what to do.
    Other(&'static str, &'static str),
}

/// What the content says for sure.
fn content(bytes: &[u8]) -> Option<SniffedContent> {
    const ASIS: &str = "export the mesh as .obj, .ply, .stl, .off, .gltf or .glb";
    const ANIMATION: &str = "it moves the vertices of a mesh: give it together with that mesh";
    const TETS: &str = "read it as tetrahedra, or export its surface as .obj or .ply";
    let other: [(&[u8], &str, &str); 13] = [
        (b"POINTCACHE2\0", "a PC2 point cache, not a mesh", ANIMATION),
        (b"Kaydara FBX Binary", "an FBX file", ASIS),
        (b"; FBX", "an FBX file", ASIS),
        (b"#usda", "a USD file", ASIS),
        (b"PXR-USDC", "a USD file", ASIS),
        (b"Ogawa", "an Alembic file", ASIS),
        (b"BLENDER", "a Blender file", ASIS),
        (b"PK\x03\x04", "an archive (.usdz, .3mf or .zip)", ASIS),
        (b"\x1f\x8b", "compressed (gzip)", "unpack it first"),
        (b"\x28\xb5\x2f\xfd", "compressed (zstd)", "unpack it first"),
        (b"$MeshFormat", "a Gmsh file of tetrahedra", TETS),
        (b"MeshVersionFormatted", "a Medit file of tetrahedra", TETS),
        (b"# vtk DataFile", "a VTK file", TETS),
    ];
    if let Some((_, what, help)) = other.into_iter().find(|o| bytes.starts_with(o.0)) {
        return Some(SniffedContent::Other(what, help));
    }
    if bytes.starts_with(b"glTF") {
        return Some(SniffedContent::Mesh("glb"));
    }
    if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
        return Some(SniffedContent::Mesh("ply"));
    }
    if stl::sniff(bytes).is_some() {
        return Some(SniffedContent::Mesh("stl"));
    }
    if off::sniff(bytes) {
        return Some(SniffedContent::Mesh("off"));
    }
    let start = &bytes[..bytes.len().min(BEFORE_ALL)];
    let json = start.trim_ascii_start().first() == Some(&b'{');
    if json && start.windows(7).any(|w| w == b"\"asset\"") {
        return Some(SniffedContent::Mesh("gltf"));
    }
    // Both vertices and faces, or vertices in plenty, are an OBJ file whatever it is called.
    let statements =
        lines(start).filter(|(_, l)| l.starts_with(b"v ") && words(l).skip(1).all(|w| real(w).is_some()));
    (statements.count() > 2).then_some(SniffedContent::Mesh("obj"))
}

/// What the content might be, for a file whose name says nothing.
fn guess(bytes: &[u8]) -> Option<&'static str> {
    let start = &bytes[..bytes.len().min(BEFORE_ALL)];
    let mut first = lines(start).map(|(_, l)| l).filter(|l| !l.is_empty() && l[0] != b'#');
    let line = first.next()?;
    if line.starts_with(b"v ") || line.starts_with(b"o ") || line.starts_with(b"mtllib ") {
        return Some("obj");
    }
    let numbers = line.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|w| !w.is_empty());
    let mut count = 0;
    let points = numbers.inspect(|_| count += 1).all(|w| real(w).is_some()) && count > 2;
    points.then_some("xyz")
}
