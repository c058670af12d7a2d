//! What fuzz targets have in common: bytes go through a reader, and whatever it accepts has to be sound.

use pliant_geometry::{GeometryError, MeshFile, TetFile, read_mesh_through};
use std::path::Path;

/// Reads a mesh of the format of an extension. Files that it names are found to hold the same bytes.
pub fn mesh(extension: &str, bytes: &[u8]) {
    let path = format!("fuzz.{extension}");
    match read_mesh_through(Path::new(&path), &mut |_| Ok(bytes.to_vec())) {
        Ok(file) => sound(&file),
        Err(errors) => explained(&errors),
    }
}

/// Tetrahedra that a parser gave.
pub fn tets(read: Result<TetFile, GeometryError>) {
    match read {
        Ok(file) => {
            let count = file.mesh.points.len();
            assert!(file.mesh.points.iter().all(|p| p.is_finite()));
            assert!(file.mesh.tetrahedra.iter().flatten().all(|&i| (i as usize) < count));
        }
        Err(error) => explained(&[error]),
    }
}

fn sound(file: &MeshFile) {
    assert!(!file.meshes.is_empty(), "a file without meshes should be an error");
    for mesh in &file.meshes {
        mesh.check().unwrap_or_else(|e| panic!("{e}"));
        let triangles = mesh.triangulated();
        assert!(triangles.triangles.iter().flatten().all(|&v| (v as usize) < triangles.positions.len()));
    }
}

fn explained(errors: &[GeometryError]) {
    assert!(!errors.is_empty());
    assert!(errors.iter().all(|e| !e.message.is_empty() && !e.help.is_empty()));
}
