//! A body in a USD file: a mesh (or points) with time-sampled points, normals and bounds, and what it wears.

use pliant_geometry::Layer;

use super::materials::SCOPE;
use super::spool::Spool;
use super::text::{Text, quoted};
use crate::export::materials::faces_by_material;
use crate::export::stream::{StreamBody, point_width};
use crate::{CacheError, LogBody};

/// What each frame has of a body, in this order.
#[derive(Clone, Copy)]
pub(super) enum Block {
    Extent,
    Points,
    Normals,
}

impl Block {
    pub const COUNT: usize = 3;
}

/// How normals lie on a mesh.
enum NormalsAt {
    /// One per vertex; which of the frame's normals it is, or none for vertices without faces.
    Vertices(Option<Vec<Option<u32>>>),
    /// One of the frame's normals per corner.
    Corners,
}

/// A body as it is written.
pub(super) struct Prim<'a> {
    pub shown: &'a StreamBody<'a>,
    pub name: &'a str,
    /// Its place among the exported bodies.
    pub place: usize,
    /// Time code of each sample.
    pub codes: &'a [u32],
    /// Names of the materials its faces may name.
    pub materials: Vec<&'a str>,
    /// Units of the target per metre.
    pub scale: f64,
}

impl Prim<'_> {
    pub fn write(&self, spool: &mut Spool, text: &mut Text) -> Result<(), CacheError> {
        let body = self.shown.body;
        let cloud = body.is_point_cloud();
        write!(
            text,
            "    def {} \"{}\" (\n        displayName = {}\n        \
             prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {{\n",
            if cloud { "Points" } else { "Mesh" },
            self.name,
            quoted(&body.name)
        );
        if !body.mesh.positions.is_empty() {
            self.samples(spool, text, "float3[] extent", Block::Extent, None)?;
        }
        let parts = if cloud { Vec::new() } else { faces_by_material(body) };
        if parts.len() < 2 {
            let material = self.materials[parts.first().map_or(0, |p| p.0)];
            writeln!(text, "        rel material:binding = <{SCOPE}/{material}>");
        }
        self.samples(spool, text, "point3f[] points", Block::Points, None)?;
        if cloud {
            self.widths(text)?;
        } else {
            self.faces(text)?;
            self.normals(spool, text)?;
            self.coordinates(text)?;
        }
        self.colors(text)?;
        if parts.len() > 1 {
            self.subsets(text, &parts)?;
        }
        text.put("    }\n\n");
        Ok(())
    }

    /// A time-sampled array of triples, in another order if one is given.
    fn samples(
        &self,
        spool: &mut Spool,
        text: &mut Text,
        attribute: &str,
        block: Block,
        order: Option<&[Option<u32>]>,
    ) -> Result<(), CacheError> {
        writeln!(text, "        {attribute}.timeSamples = {{");
        let mut triples = Vec::new();
        for (sample, code) in self.codes.iter().enumerate() {
            spool.get(sample, self.place * Block::COUNT + block as usize, &mut triples)?;
            write!(text, "            {code}: ");
            match order {
                None => text.tuples(triples.iter().copied())?,
                Some(order) => {
                    text.tuples(order.iter().map(|k| k.map_or([0.0, 1.0, 0.0], |k| triples[k as usize])))?;
                }
            }
            text.put(",\n");
        }
        text.put("        }\n");
        Ok(())
    }

    fn faces(&self, text: &mut Text) -> Result<(), CacheError> {
        text.put("        uniform bool doubleSided = 1\n        int[] faceVertexCounts = ");
        text.indices(self.shown.faces.sizes())?;
        text.put("\n        int[] faceVertexIndices = ");
        text.indices(self.shown.faces.corners().iter().copied())?;
        text.put("\n        uniform token subdivisionScheme = \"none\"\n");
        Ok(())
    }

    fn normals(&self, spool: &mut Spool, text: &mut Text) -> Result<(), CacheError> {
        let vertex = "        normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n";
        match normals_at(self.shown) {
            NormalsAt::Vertices(order) => {
                text.put(vertex);
                self.samples(spool, text, "normal3f[] normals", Block::Normals, order.as_deref())
            }
            // Only the primvar can be indexed; it comes before plain normals where a program knows both.
            NormalsAt::Corners => {
                text.put(
                    "        normal3f[] primvars:normals (\n            interpolation = \"faceVarying\"\n        )\n",
                );
                self.samples(spool, text, "normal3f[] primvars:normals", Block::Normals, None)?;
                text.put("        int[] primvars:normals:indices = ");
                text.indices(self.shown.normal_of_corner().unwrap_or(&[]).iter().copied())?;
                text.put("\n");
                Ok(())
            }
        }
    }

    fn coordinates(&self, text: &mut Text) -> Result<(), CacheError> {
        let Layer { values, corners } = &self.shown.body.coat.uvs;
        if corners.is_empty() {
            return Ok(());
        }
        let vertices = self.shown.body.mesh.positions.len();
        let at_vertices = values.len() == vertices && corners == self.shown.faces.corners();
        text.put("        texCoord2f[] primvars:st = ");
        text.tuples(values.iter().copied())?;
        let at = if at_vertices { "vertex" } else { "faceVarying" };
        write!(text, " (\n            interpolation = \"{at}\"\n        )\n");
        if !at_vertices {
            text.put("        int[] primvars:st:indices = ");
            text.indices(corners.iter().copied())?;
            text.put("\n");
        }
        Ok(())
    }

    fn colors(&self, text: &mut Text) -> Result<(), CacheError> {
        let colors = &self.shown.body.coat.colors;
        text.put("        color3f[] primvars:displayColor = ");
        if colors.is_empty() {
            text.tuples([self.shown.body.color])?;
            text.put(" (\n            interpolation = \"constant\"\n        )\n");
            return Ok(());
        }
        let vertex = " (\n            interpolation = \"vertex\"\n        )\n";
        text.tuples(colors.iter().map(|&[r, g, b, _]| [r, g, b]))?;
        text.put(vertex);
        if colors.iter().any(|c| c[3] != 1.0) {
            text.put("        float[] primvars:displayOpacity = ");
            text.list(colors, |text, c| text.float(c[3]))?;
            text.put(vertex);
        }
        Ok(())
    }

    /// One per point although they are equal: USD computes no bounds from a constant width.
    fn widths(&self, text: &mut Text) -> Result<(), CacheError> {
        let width = scaled_width(self.shown.body, self.scale);
        text.put("        float[] widths = ");
        text.list(&self.shown.body.mesh.positions, |text, _| text.float(width))?;
        text.put(" (\n            interpolation = \"vertex\"\n        )\n");
        Ok(())
    }

    /// The faces of each material. Together they are all faces, each once.
    fn subsets(&self, text: &mut Text, parts: &[(usize, Vec<u32>)]) -> Result<(), CacheError> {
        text.put("        uniform token subsetFamily:materialBind:familyType = \"partition\"\n");
        for (m, faces) in parts {
            let material = self.materials[*m];
            write!(
                text,
                "\n        def GeomSubset \"{material}\" (\n            \
                 prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {{\n            \
                 uniform token elementType = \"face\"\n            \
                 uniform token familyName = \"materialBind\"\n            int[] indices = "
            );
            text.indices(faces.iter().copied())?;
            write!(text, "\n            rel material:binding = <{SCOPE}/{material}>\n        }}\n");
        }
        Ok(())
    }
}

/// Normals a file gives for corners are written per vertex where each vertex has but one: that is a sixth of it.
fn normals_at(shown: &StreamBody<'_>) -> NormalsAt {
    let Some(of_corner) = shown.normal_of_corner() else { return NormalsAt::Vertices(None) };
    let mut of_vertex: Vec<Option<u32>> = vec![None; shown.body.mesh.positions.len()];
    for (&v, &n) in shown.faces.corners().iter().zip(of_corner) {
        if *of_vertex[v as usize].get_or_insert(n) != n {
            return NormalsAt::Corners;
        }
    }
    NormalsAt::Vertices(Some(of_vertex))
}

/// Bounds of points, grown by `pad` for their size; nothing for nothing.
pub(super) fn extent(points: &[[f32; 3]], pad: f32) -> [[f32; 3]; 2] {
    if points.is_empty() {
        return [[0.0; 3]; 2];
    }
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for p in points {
        for k in 0..3 {
            low[k] = low[k].min(p[k] - pad);
            high[k] = high[k].max(p[k] + pad);
        }
    }
    [low, high]
}

/// The width of points in the target's units; 0 for meshes.
pub(super) fn scaled_width(body: &LogBody, scale: f64) -> f32 {
    if body.is_point_cloud() { (f64::from(point_width(body)) * scale) as f32 } else { 0.0 }
}
