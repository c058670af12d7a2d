//! Meshes joined into one, and moved.

use super::{Coat, Layer, Motion, PolyMesh, SurfaceMaterial};
use glam::{DAffine3, DVec3};

/// All meshes as one, vertices and faces in their order; equal materials become one. Layers and colours that some
/// lack are filled with zeros, normals with none at all, and a motion is kept only by a mesh that is alone.
pub fn join(meshes: &[PolyMesh]) -> PolyMesh {
    if let [one] = meshes {
        return one.clone();
    }
    let mut joined = PolyMesh::default();
    let names: Vec<&str> = meshes.iter().map(|m| m.name.as_str()).filter(|n| !n.is_empty()).collect();
    joined.name = names.join(" + ");
    let coats = || meshes.iter().map(|m| &m.coat);
    let colored = coats().any(|c| !c.colors.is_empty());
    let clad = coats().any(|c| !c.materials.is_empty());
    let textured = coats().any(|c| !c.uvs.is_empty());
    // A zero normal is none: it would show as black, where a smooth one can be found.
    let normals = coats().all(|c| !c.normals.is_empty() || c.faces.is_empty());
    let coat = &mut joined.coat;
    for mesh in meshes {
        let first = joined.positions.len() as u32;
        joined.positions.extend_from_slice(&mesh.positions);
        for face in mesh.coat.faces.iter() {
            coat.faces.push(&face.iter().map(|v| v + first).collect::<Vec<u32>>());
        }
        let corners = mesh.coat.faces.corners().len();
        if textured {
            append(&mut coat.uvs, &mesh.coat.uvs, corners, [0.0; 2]);
        }
        if normals {
            append(&mut coat.normals, &mesh.coat.normals, corners, [0.0; 3]);
        }
        if colored {
            match mesh.coat.colors.is_empty() {
                true => coat.colors.resize(joined.positions.len(), [1.0; 4]),
                false => coat.colors.extend_from_slice(&mesh.coat.colors),
            }
        }
        if clad {
            for face in 0..mesh.coat.faces.len() {
                let material = mesh.coat.material_of(face).cloned().unwrap_or_default();
                let place = place_of(&mut coat.materials, material);
                coat.face_materials.push(place);
            }
        }
    }
    joined
}

fn append<T: Copy>(to: &mut Layer<T>, from: &Layer<T>, corners: usize, missing: T) {
    let first = to.values.len() as u32;
    if from.is_empty() {
        if corners > 0 {
            to.values.push(missing);
        }
        to.corners.extend(std::iter::repeat_n(first, corners));
    } else {
        to.values.extend_from_slice(&from.values);
        to.corners.extend(from.corners.iter().map(|i| i + first));
    }
}

fn place_of(materials: &mut Vec<SurfaceMaterial>, material: SurfaceMaterial) -> u32 {
    let known = materials.iter().position(|m| *m == material);
    known.unwrap_or_else(|| {
        materials.push(material);
        materials.len() - 1
    }) as u32
}

impl PolyMesh {
    /// The mesh moved; normals turn as planes do, and a mirrored mesh has its faces turned back outwards.
    pub fn transformed(mut self, by: DAffine3) -> PolyMesh {
        if by == DAffine3::IDENTITY {
            return self;
        }
        let moved = |p: &mut DVec3| *p = by.transform_point3(*p);
        self.positions.iter_mut().for_each(moved);
        if let Some(Motion { samples, .. }) = &mut self.motion {
            samples.iter_mut().flatten().for_each(moved);
        }
        turn_normals(&mut self.coat, by);
        if by.matrix3.determinant() < 0.0 {
            self.coat.flip();
        }
        self
    }
}

/// The cofactor matrix is the inverse transposed but for a factor, and has no division. That of a mirror lets
/// normals point inwards, as its faces do, until the coat is turned over.
fn turn_normals(coat: &mut Coat, by: DAffine3) {
    let m = by.matrix3;
    let [x, y, z] = [m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis)];
    for n in &mut coat.normals.values {
        let old = DVec3::from_array(n.map(f64::from));
        *n = (x * old.x + y * old.y + z * old.z).normalize_or(old).as_vec3().to_array();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Polygons;
    use super::*;
    use crate::TriMesh;

    /// A tetrahedron with the normals of its faces.
    fn tetrahedron() -> PolyMesh {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let faces = Polygons::of_triangles(&[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
        let s = 1.0 / 3.0_f32.sqrt();
        let normals = Layer {
            values: vec![[0., 0., -1.], [0., -1., 0.], [-1., 0., 0.], [s, s, s]],
            corners: (0..12).map(|c| c / 3).collect(),
        };
        PolyMesh { positions, coat: Coat { faces, normals, ..Coat::default() }, ..PolyMesh::default() }
    }

    #[test]
    fn moved_faces_and_normals_point_outwards_mirrored_or_not() {
        let shear = glam::DMat3::from_cols(DVec3::new(2., 0.3, 0.), DVec3::new(0., 1., 0.5), DVec3::Z * 0.5);
        for mirror in [1.0, -1.0] {
            let by = DAffine3::from_mat3_translation(shear * mirror, DVec3::ONE);
            let moved = tetrahedron().transformed(by);
            let TriMesh { positions, triangles } = moved.triangulated();
            assert!(moved.triangulated().volume() > 0.0);
            for (t, corners) in triangles.iter().enumerate() {
                let [a, b, c] = corners.map(|v| positions[v as usize]);
                let normal = moved.coat.normals.values[moved.coat.normals.corners[3 * t] as usize];
                let normal = DVec3::from_array(normal.map(f64::from));
                assert!(normal.distance((b - a).cross(c - a).normalize()) < 1e-6, "{mirror} {t}");
            }
        }
    }

    #[test]
    fn joined_meshes_keep_order_layers_and_materials() {
        let red = SurfaceMaterial { name: "red".into(), ..SurfaceMaterial::default() };
        let mut first = tetrahedron();
        first.name = "a".into();
        first.coat.materials = vec![red.clone()];
        let mut second = tetrahedron();
        second.coat.colors = vec![[0.5; 4]; 4];
        second.coat.materials = vec![SurfaceMaterial::default(), red];
        second.coat.face_materials = vec![1, 0, 0, 1];
        let joined = join(&[first.clone(), second.clone()]);
        joined.check().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(joined.positions.len(), 8);
        assert_eq!(joined.coat.faces.len(), 8);
        assert_eq!(joined.coat.face_materials, [0, 0, 0, 0, 0, 1, 1, 0]);
        assert_eq!(joined.coat.colors[3], [1.0; 4]);
        assert_eq!(joined.coat.normals.corners.len(), 24);
        assert_eq!(join(&[first.clone()]), first);
        assert_eq!(join(&[]), PolyMesh::default());
        first.coat.normals = Layer::default();
        assert!(join(&[first, second]).coat.normals.is_empty());
    }
}
