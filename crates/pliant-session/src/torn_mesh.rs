//! The render mesh of a torn body, with what its file says of it: texture coordinates, materials, colours.

use pliant::DVec3;
use pliant::model::BodyModel;
use pliant::tearing::{NEW_VERTEX, TornSurface};
use pliant_cache::LogBody;
use pliant_cache::geometry::{Layer, MeshAttributes, Polygons, Skin, TriMesh};
use pliant_scene::BuiltBody;

/// Vertices of a torn mesh by those of the whole one.
pub(crate) struct TornMesh {
    /// At rest.
    pub positions: Vec<DVec3>,
    /// The vertex of the whole mesh that each was; of those that a tear has laid open the nearest one at rest.
    whole: Vec<u32>,
}

impl TornMesh {
    pub fn new(own: &BuiltBody, surface: &TornSurface, model: &BodyModel) -> TornMesh {
        let vertices = &own.surface.positions;
        let mut mesh = TornMesh { positions: Vec::new(), whole: Vec::new() };
        for (v, &origin) in surface.origin.iter().enumerate() {
            let (at, whole) = match origin {
                NEW_VERTEX => {
                    let at = rest(surface, v, model);
                    let near = |w: &usize| vertices[*w].distance_squared(at);
                    let nearest = (0..vertices.len()).min_by(|a, b| near(a).total_cmp(&near(b)));
                    (at, nearest.unwrap_or(0) as u32)
                }
                origin => (vertices[origin as usize], origin),
            };
            mesh.positions.push(at);
            mesh.whole.push(whole);
        }
        mesh
    }

    /// The vertices of the version before that vertices were, given what is known of that. What a tear has laid open
    /// begins at the nearest vertex of the whole mesh, which keeps its number in all versions.
    pub fn origin(&self, since: &[u32]) -> Vec<u32> {
        let pairs = since.iter().zip(&self.whole);
        pairs.map(|(&before, &whole)| if before == NEW_VERTEX { whole } else { before }).collect()
    }

    /// Lets a body show this mesh.
    pub fn show(self, body: &mut LogBody, own: &BuiltBody, surface: &TornSurface, model: &BodyModel) {
        body.attributes = self.attributes(own, surface, model).into();
        body.mesh = TriMesh { positions: self.positions, triangles: surface.triangles.clone() }.into();
        body.skin = surface.skin.clone().unwrap_or_else(|| Skin::identity(model.particle_count())).into();
    }

    /// What the file says of the whole mesh, for the torn one. Polygons stay as long as no tear goes through one; faces
    /// that a tear has laid open take what their nearest vertices have.
    fn attributes(&self, own: &BuiltBody, surface: &TornSurface, model: &BodyModel) -> MeshAttributes {
        let (attributes, whole) = (&own.attributes, &own.surface.triangles);
        if attributes.is_empty() {
            return MeshAttributes::default();
        }
        let colors = match attributes.colors.is_empty() {
            true => Vec::new(),
            false => self.whole.iter().map(|&v| attributes.colors[v as usize]).collect(),
        };
        let (cut, face_of) = attributes.faces.corner_triangles_with_faces(&own.surface.positions);
        if cut.len() != whole.len() {
            return MeshAttributes {
                faces: Polygons::of_triangles(&surface.triangles),
                colors,
                ..MeshAttributes::default()
            };
        }
        // For each corner of the torn triangles the corner of the file's faces it was, and the face.
        let mut corner_at = vec![(0, 0); own.surface.positions.len()];
        for ((t, corners), face) in whole.iter().zip(&cut).zip(&face_of) {
            t.iter().zip(corners).for_each(|(v, c)| corner_at[*v as usize] = (*c, *face));
        }
        let facets = model.facets().map_or(0, |f| f.len());
        let mut sources: Vec<[(u32, u32); 3]> =
            cut.iter().zip(&face_of).map(|(corners, face)| corners.map(|c| (c, *face))).collect();
        let mut laid_open = false;
        for (t, [facet, _]) in surface.triangles[whole.len()..].iter().zip(&surface.opened) {
            let copy = (*facet as usize).checked_sub(facets).and_then(|k| sources.get(k).copied());
            laid_open |= copy.is_none();
            sources.push(copy.unwrap_or_else(|| t.map(|v| corner_at[self.whole[v as usize] as usize])));
        }
        let (faces, kept) = self.faces(attributes, &cut, surface);
        let corner_sources: Vec<u32> = match kept {
            true => {
                let added = sources[whole.len()..].iter().flatten().map(|s| s.0);
                (0..attributes.faces.corners().len() as u32).chain(added).collect()
            }
            false => sources.iter().flatten().map(|s| s.0).collect(),
        };
        let face_sources: Vec<u32> = match kept {
            true => {
                let added = sources[whole.len()..].iter().map(|s| s[0].1);
                (0..attributes.faces.len() as u32).chain(added).collect()
            }
            false => sources.iter().map(|s| s[0].1).collect(),
        };
        let pick = |from: &[u32], at: &[u32]| match from.is_empty() {
            true => Vec::new(),
            false => at.iter().map(|&k| from[k as usize]).collect(),
        };
        let mut torn = MeshAttributes { faces, colors, ..attributes.clone() };
        torn.uvs.corners = pick(&attributes.uvs.corners, &corner_sources);
        torn.normals.corners = pick(&attributes.normals.corners, &corner_sources);
        if laid_open {
            // No file says how those lie.
            torn.normals = Layer::default();
        }
        torn.face_materials = pick(&attributes.face_materials, &face_sources);
        torn
    }

    /// The faces, and whether they are the file's polygons with some triangles more, or else all triangles.
    fn faces(
        &self,
        attributes: &MeshAttributes,
        cut: &[[u32; 3]],
        surface: &TornSurface,
    ) -> (Polygons, bool) {
        let mut corners: Vec<Option<u32>> = vec![None; attributes.faces.corners().len()];
        let mut torn = false;
        for (c, v) in cut.iter().flatten().zip(surface.triangles.iter().flatten()) {
            torn |= *corners[*c as usize].get_or_insert(*v) != *v;
        }
        if !torn {
            let added = &surface.triangles[cut.len()..];
            let sizes: Vec<u32> = attributes.faces.sizes().chain(added.iter().map(|_| 3)).collect();
            // A corner in no triangle (of a face without size) keeps its vertex.
            let old = corners.iter().zip(attributes.faces.corners()).map(|(new, old)| new.unwrap_or(*old));
            let all: Vec<u32> = old.chain(added.iter().flatten().copied()).collect();
            if let Some(faces) = Polygons::from_sizes(&sizes, all) {
                return (faces, true);
            }
        }
        (Polygons::of_triangles(&surface.triangles), false)
    }
}

/// Where a vertex is at rest by what it follows.
fn rest(surface: &TornSurface, vertex: usize, model: &BodyModel) -> DVec3 {
    let x = &model.rest().positions;
    match &surface.skin {
        Some(skin) => skin.weights_of(vertex).into_iter().map(|(i, w)| x.get(i as usize) * w).sum(),
        None => x.get(vertex),
    }
}
