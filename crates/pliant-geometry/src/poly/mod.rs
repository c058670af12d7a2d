//! Meshes as files have them: polygons with texture coordinates, normals, colours and materials, nothing lost.

mod normals;
mod polygons;
mod wedges;

pub use normals::FollowingNormals;
pub use polygons::Polygons;
pub(crate) use wedges::Wedges;

use crate::{GeometryError, TriMesh};
use glam::DVec3;

/// A mesh as a file has it. Positions have the file's transforms applied; vertex and face order are the file's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyMesh {
    /// What the file calls it; empty where it does not.
    pub name: String,
    /// Where the vertices are, in the unit of the file; faces name them by index.
    pub positions: Vec<DVec3>,
    /// Faces and what is on them; without faces the mesh is a point cloud.
    pub attributes: MeshAttributes,
    /// Positions over time, if the file moves them; as many as vertices in each.
    pub animation: Option<VertexAnimation>,
}

/// How a file moves the vertices of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexAnimation {
    /// Time of each sample in seconds, rising.
    pub times: Vec<f64>,
    /// Vertex positions at those times.
    pub samples: Vec<Vec<DVec3>>,
}

/// The faces of a render mesh and what lies on them. They never change while the vertices move, so they are kept
/// once; empty ones say that the mesh's triangles are all there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshAttributes {
    /// Faces as polygons over the vertices, counter-clockwise seen from outside.
    pub faces: Polygons,
    /// Texture coordinates, v up.
    pub uvs: Layer<[f32; 2]>,
    /// Unit normals at rest.
    pub normals: Layer<[f32; 3]>,
    /// Linear red, green, blue and opacity of each vertex; empty if there are none.
    pub colors: Vec<[f32; 4]>,
    /// Materials that faces name.
    pub materials: Vec<SurfaceMaterial>,
    /// Material of each face; empty: all faces have the first one, if there is any.
    pub face_materials: Vec<u32>,
}

/// A value per corner of the faces, with equal values shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer<T> {
    /// The values, each once; corners refer to them.
    pub values: Vec<T>,
    /// For each corner, in the order of `Polygons::corners`, its value; empty if there is no such layer.
    pub corners: Vec<u32>,
}

impl<T> Default for Layer<T> {
    fn default() -> Layer<T> {
        Layer { values: Vec::new(), corners: Vec::new() }
    }
}

impl<T> Layer<T> {
    /// One value per vertex.
    pub fn of_vertices(values: Vec<T>, faces: &Polygons) -> Layer<T> {
        Layer { values, corners: faces.corners().to_vec() }
    }

    /// Whether there is no such layer.
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// The values by vertex, `nothing` for those without a face; `None` if there is no such layer or corners of a
    /// vertex disagree.
    pub fn by_vertex(&self, faces: &Polygons, vertices: usize, nothing: T) -> Option<Vec<T>>
    where
        T: Copy,
    {
        const UNSET: u32 = u32::MAX;
        let mut of_vertex = vec![UNSET; vertices];
        for (&v, &value) in faces.corners().iter().zip(&self.corners) {
            let slot = &mut of_vertex[v as usize];
            if *slot != UNSET && *slot != value {
                return None;
            }
            *slot = value;
        }
        let value = |i: u32| if i == UNSET { nothing } else { self.values[i as usize] };
        (!self.is_empty()).then(|| of_vertex.into_iter().map(value).collect())
    }
}

/// What a face is made of, as far as formats agree on it.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMaterial {
    /// Name in the file.
    pub name: String,
    /// Linear base colour and opacity.
    pub color: [f32; 4],
    /// 0 for everything but metals.
    pub metallic: f32,
    /// 0 is a mirror, 1 is matte.
    pub roughness: f32,
    /// Image file of the base colour, as the file names it.
    pub texture: Option<String>,
}

impl Default for SurfaceMaterial {
    fn default() -> SurfaceMaterial {
        SurfaceMaterial {
            name: String::new(),
            color: [0.8, 0.8, 0.8, 1.0],
            metallic: 0.0,
            roughness: 0.5,
            texture: None,
        }
    }
}

impl PolyMesh {
    /// Its vertices with every face cut into triangles, also concave ones; faces with less than three corners give none.
    pub fn triangulated(&self) -> TriMesh {
        TriMesh { positions: self.positions.clone(), triangles: self.attributes.triangles(&self.positions) }
    }

    /// What a file cannot have written: indices out of range, layers of the wrong length, positions that are no
    /// finite numbers.
    pub fn check(&self) -> Result<(), GeometryError> {
        let fault = |message: String| Err(GeometryError::new(message, "write the mesh again"));
        if let Some(i) = self.positions.iter().position(|p| !p.is_finite()) {
            return fault(format!("vertex {i} is at {}", self.positions[i]));
        }
        if let Err(message) = self.attributes.check(self.positions.len()) {
            return fault(message);
        }
        let Some(animation) = &self.animation else { return Ok(()) };
        if animation.times.len() != animation.samples.len() || !animation.times.is_sorted() {
            return fault(format!("{} times for {} samples", animation.times.len(), animation.samples.len()));
        }
        match animation.samples.iter().position(|s| s.len() != self.positions.len()) {
            Some(k) => fault(format!("sample {k} has not {} vertices", self.positions.len())),
            None => Ok(()),
        }
    }
}

impl MeshAttributes {
    /// Whether it says no more than the triangles do.
    pub fn is_empty(&self) -> bool {
        *self == MeshAttributes::default()
    }

    /// The faces cut into triangles of vertices.
    pub fn triangles(&self, positions: &[DVec3]) -> Vec<[u32; 3]> {
        let corners = self.faces.corners();
        self.faces.corner_triangles(positions).into_iter().map(|t| t.map(|c| corners[c as usize])).collect()
    }

    /// Turns all faces over, normals too.
    pub fn flip(&mut self) {
        let order = self.faces.flip();
        for corners in [&mut self.uvs.corners, &mut self.normals.corners] {
            if !corners.is_empty() {
                *corners = order.iter().map(|&c| corners[c as usize]).collect();
            }
        }
        self.normals.values.iter_mut().flatten().for_each(|x| *x = -*x);
    }

    /// The material of a face; `None` where it has none.
    pub fn material_of(&self, face: usize) -> Option<&SurfaceMaterial> {
        self.materials.get(self.face_materials.get(face).map_or(0, |&m| m as usize))
    }

    /// Whether it fits a mesh of so many vertices; what is wrong otherwise.
    pub fn check(&self, vertices: usize) -> Result<(), String> {
        let corners = self.faces.corners();
        if let Some(c) = corners.iter().position(|&v| v as usize >= vertices) {
            return Err(format!("corner {c} names vertex {} of {vertices}", corners[c]));
        }
        layer_fits("texture coordinates", &self.uvs, corners.len())?;
        layer_fits("normals", &self.normals, corners.len())?;
        if !self.colors.is_empty() && self.colors.len() != vertices {
            return Err(format!("{} colours for {vertices} vertices", self.colors.len()));
        }
        if !self.face_materials.is_empty() && self.face_materials.len() != self.faces.len() {
            return Err(format!("{} materials for {} faces", self.face_materials.len(), self.faces.len()));
        }
        match self.face_materials.iter().position(|&m| m as usize >= self.materials.len()) {
            Some(f) => {
                Err(format!("face {f} has material {} of {}", self.face_materials[f], self.materials.len()))
            }
            None => Ok(()),
        }
    }
}

fn layer_fits<T>(name: &str, layer: &Layer<T>, corners: usize) -> Result<(), String> {
    if !layer.is_empty() && layer.corners.len() != corners {
        return Err(format!("{} {name} for {corners} corners", layer.corners.len()));
    }
    match layer.corners.iter().position(|&i| i as usize >= layer.values.len()) {
        Some(c) => Err(format!("corner {c} has {name} {} of {}", layer.corners[c], layer.values.len())),
        None => Ok(()),
    }
}
