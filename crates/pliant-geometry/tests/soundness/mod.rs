//! Bytes go through a reader, and whatever it accepts has to be sound: shared by the regression tests and the fuzz
//! targets.

mod care;

use pliant_geometry::{
    GeometryError, MeshFile, PolyMesh, TetFile, VertexAnimation, parse_gmsh, parse_mdd, parse_medit,
    parse_obj, parse_pc2, parse_points, parse_tetgen, parse_vtk, parse_vtu, read_mesh_through,
};
use std::path::Path;

/// Feeds bytes to the reader of a format; whether it accepted them. Panics where it breaks its word.
pub fn feed(format: &str, bytes: &[u8]) -> bool {
    match format {
        "gmsh" => tets(parse_gmsh(bytes)),
        "medit" => tets(parse_medit(bytes)),
        "vtk" => tets(parse_vtk(bytes)),
        "vtu" => tets(parse_vtu(bytes)),
        "tetgen" => {
            let (node, ele) = two_files(bytes);
            tets(parse_tetgen(node, ele, ["fuzz.node", "fuzz.ele"].map(Path::new)))
        }
        "pc2" => accepted(parse_pc2(bytes), |cache| {
            assert!(cache.start.is_finite() && cache.rate.is_finite() && !cache.samples.is_empty());
            assert!(cache.samples.iter().all(|s| !s.is_empty() && s.iter().all(|p| p.is_finite())));
        }),
        "mdd" => accepted(parse_mdd(bytes), |animation| motion_is_sound(&animation)),
        "care" => care::feed(bytes),
        _ => {
            if format == "obj" {
                accepted(parse_obj(bytes), |obj| {
                    let count = obj.mesh.positions.len() as u32;
                    assert!(obj.mesh.triangles.iter().flatten().all(|&v| v < count));
                });
            } else if format == "xyz" {
                accepted(parse_points(bytes), |points| assert!(points.iter().all(|p| p.is_finite())));
            }
            mesh(format, bytes)
        }
    }
}

/// Reads a mesh of the format of an extension. The files that it names hold what follows the first zero byte; they
/// must be beside it or below.
fn mesh(extension: &str, bytes: &[u8]) -> bool {
    // Binary formats have zeros in them, and name no files or their own.
    let text = matches!(extension, "obj" | "gltf");
    let (own, named) = if text { two_files(bytes) } else { (bytes, bytes) };
    let path = format!("folder/fuzz.{extension}");
    let mut fetch = |asked: &Path| {
        let inside = asked.starts_with("folder") && !asked.components().any(|c| c.as_os_str() == "..");
        assert!(inside, "{} is not in the folder", asked.display());
        Ok(if asked == Path::new(&path) { own.to_vec() } else { named.to_vec() })
    };
    accepted(read_mesh_through(Path::new(&path), &mut fetch), |file: MeshFile| {
        assert!(!file.meshes.is_empty(), "a file without meshes should be an error");
        file.meshes.iter().for_each(mesh_is_sound);
    })
}

/// What comes before the first zero byte, and what after it.
fn two_files(bytes: &[u8]) -> (&[u8], &[u8]) {
    let middle = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    (&bytes[..middle], bytes.get(middle + 1..).unwrap_or_default())
}

fn mesh_is_sound(mesh: &PolyMesh) {
    mesh.check().unwrap_or_else(|e| panic!("{e}"));
    assert!(!mesh.positions.is_empty());
    let finite = |numbers: &[f32]| numbers.iter().all(|x| x.is_finite());
    assert!(finite(mesh.attributes.uvs.values.as_flattened()), "texture coordinates");
    assert!(finite(mesh.attributes.normals.values.as_flattened()), "normals");
    assert!(finite(mesh.attributes.colors.as_flattened()), "colours");
    for material in &mesh.attributes.materials {
        assert!(finite(&material.color) && finite(&[material.metallic, material.roughness]), "{material:?}");
    }
    assert!(mesh.attributes.faces.sizes().all(|n| n >= 3), "a face of less than three corners");
    mesh.animation.iter().for_each(motion_is_sound);
    let triangles = mesh.triangulated().triangles;
    assert!(triangles.iter().flatten().all(|&v| (v as usize) < mesh.positions.len()));
}

fn motion_is_sound(animation: &VertexAnimation) {
    assert!(!animation.samples.is_empty() && animation.times.len() == animation.samples.len());
    assert!(
        animation.times.is_sorted() && animation.times.iter().all(|t| t.is_finite()),
        "{:?}",
        animation.times
    );
    assert!(animation.samples.iter().flatten().all(|p| p.is_finite()), "a position of a motion");
}

fn tets(read: Result<TetFile, GeometryError>) -> bool {
    accepted(read.map_err(|error| vec![error]), |file| {
        let mesh = &file.mesh;
        assert!(!mesh.tetrahedra.is_empty() && mesh.points.iter().all(|p| p.is_finite()));
        assert!(mesh.tetrahedra.iter().flatten().all(|&i| (i as usize) < mesh.points.len()));
        assert!(mesh.regions.is_empty() || mesh.regions.len() == mesh.tetrahedra.len());
        assert!(mesh.volumes().iter().all(|&v| v > 0.0), "an inverted or flat tetrahedron");
        assert!(mesh.unreferenced().is_empty());
    })
}

/// Checks what was read, or that the errors say what to do.
fn accepted<T>(read: Result<T, Vec<GeometryError>>, check: impl FnOnce(T)) -> bool {
    match read {
        Ok(value) => {
            check(value);
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() < 25, "{} errors", errors.len());
            assert!(errors.iter().all(|e| !e.message.is_empty() && !e.help.is_empty()), "{errors:?}");
            // Some put all that is wrong into one; numbers may have three hundred digits.
            let longest = errors.iter().map(|e| e.to_string().len()).max();
            assert!(longest < Some(30_000), "an error of {longest:?} bytes");
            false
        }
    }
}
