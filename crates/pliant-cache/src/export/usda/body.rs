//! A body in a USD file: a mesh (or points) with time-sampled points, normals and bounds, and its attributes.
//!
//! A body that is torn stays one prim, whose topology is sampled where it changes; one that is not always there is
//! invisible until it comes and when it is gone. Bodies alike inherit their shape from a class that holds it once.

use super::materials::SCOPE;
use super::spool::Spool;
use super::text::{Text, quoted};
use crate::export::materials::faces_by_material;
use crate::export::stream::{BodyVersion, ConvertedSurface, StreamBody, point_width};
use crate::{CacheError, LogBody};
use glam::DQuat;

/// Where the shapes are that several bodies share.
pub(super) const SHAPES: &str = "/World/Shapes";

/// What each frame has of a body, in this order.
#[derive(Clone, Copy)]
pub(super) enum FrameBlock {
    Extent,
    Points,
    NormalPrecision,
}

impl FrameBlock {
    pub const COUNT: usize = 3;
}

/// A body as it is written.
pub(super) struct Prim<'a> {
    pub body: &'a StreamBody<'a>,
    pub name: &'a str,
    /// Its place among the exported bodies.
    pub place: usize,
    /// Time code of each exported frame.
    pub codes: &'a [u32],
    /// For each version the materials its faces may name, by their place in `material_names`.
    pub materials: &'a [Vec<usize>],
    pub material_names: &'a [String],
    /// The class that holds its shape, if it shares that with others.
    pub class: Option<&'a str>,
    /// Units of the target per metre.
    pub scale: f64,
    /// Its surface at rest, if it moves as one.
    pub rest: Option<&'a ConvertedSurface>,
}

/// Something that stays as long as the topology does, of a version.
type VersionWriter<'p> = &'p dyn Fn(&mut Text, &BodyVersion<'_>) -> Result<(), CacheError>;

impl Prim<'_> {
    pub fn write(&self, spool: &mut Spool, text: &mut Text) -> Result<(), CacheError> {
        let inherits = self.class.map_or(String::new(), |c| format!("        inherits = <{SHAPES}/{c}>\n"));
        write!(
            text,
            "    def {} \"{}\" (\n        displayName = {}\n{inherits}        \
             prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {{\n",
            self.kind(),
            self.name,
            quoted(self.body.name)
        );
        let seen = self.body.versions.iter().any(|v| !v.body.mesh.positions.is_empty());
        if seen && self.rest.is_none() {
            self.samples(spool, text, "float3[] extent", FrameBlock::Extent)?;
        }
        if let [] | [_] = self.parts()[..] {
            let used = self.parts().first().map_or(self.materials[0][0], |p| p.0);
            writeln!(text, "        rel material:binding = <{SCOPE}/{}>", self.material_names[used]);
        }
        if self.rest.is_none() {
            self.moving(spool, text)?;
        }
        let colored = self.body.versions.iter().all(|v| !v.body.attributes.colors.is_empty());
        if !colored {
            text.put("        color3f[] primvars:displayColor = ");
            text.tuples([self.body.first().body.color])?;
            text.put(" (\n            interpolation = \"constant\"\n        )\n");
        }
        let mut order = Vec::new();
        if self.rest.is_some() {
            self.poses(spool, text)?;
            order.extend(["translate", "orient"]);
        }
        if self.visibility(text) {
            order.push("scale");
        }
        if !order.is_empty() {
            let order: Vec<String> = order.iter().map(|op| format!("\"xformOp:{op}\"")).collect();
            writeln!(text, "        uniform token[] xformOpOrder = [{}]", order.join(", "));
        }
        if self.class.is_none() {
            self.shape(text)?;
        }
        text.put("    }\n\n");
        Ok(())
    }

    /// Points and normals in every frame.
    fn moving(&self, spool: &mut Spool, text: &mut Text) -> Result<(), CacheError> {
        self.samples(spool, text, "point3f[] points", FrameBlock::Points)?;
        if !self.is_cloud() {
            let attribute = if self.normals_at_corners() { "primvars:normals" } else { "normals" };
            let interpolation = if self.normals_at_corners() { "faceVarying" } else { "vertex" };
            write!(
                text,
                "        normal3f[] {attribute} (\n            interpolation = \"{interpolation}\"\n        )\n"
            );
            self.samples(spool, text, &format!("normal3f[] {attribute}"), FrameBlock::NormalPrecision)?;
        }
        Ok(())
    }

    /// Points and normals of one that moves as one, which its transform takes along.
    fn still(&self, rest: &ConvertedSurface, text: &mut Text) -> Result<(), CacheError> {
        if !rest.points.is_empty() {
            text.put("        float3[] extent = ");
            text.tuples(extent(&rest.points, scaled_width(self.body.first().body, self.scale) / 2.0))?;
            text.put("\n");
        }
        text.put("        point3f[] points = ");
        text.tuples(rest.points.iter().copied())?;
        text.put("\n");
        if self.is_cloud() {
            return Ok(());
        }
        let at_corners = self.normals_at_corners();
        let (attribute, interpolation) =
            if at_corners { ("primvars:normals", "faceVarying") } else { ("normals", "vertex") };
        write!(text, "        normal3f[] {attribute} = ");
        let order = normals_of_vertices(self.body.first()).flatten().filter(|_| !at_corners);
        put_normals(text, &rest.normals, &order)?;
        write!(text, " (\n            interpolation = \"{interpolation}\"\n        )\n");
        Ok(())
    }

    /// Where it is in each frame, and how it is turned. Turns go on from frame to frame without a change of sign.
    fn poses(&self, spool: &mut Spool, text: &mut Text) -> Result<(), CacheError> {
        let block = self.place * FrameBlock::COUNT + FrameBlock::Points as usize;
        text.put("        double3 xformOp:translate.timeSamples = {\n");
        for frame in self.body.lifetime.clone() {
            if let Some(pose) = spool.get_pose(frame, block)? {
                let [x, y, z] = pose.place.to_array();
                writeln!(text, "            {}: ({x:?}, {y:?}, {z:?}),", self.codes[frame]);
                text.piece()?;
            }
        }
        text.put("        }\n        quatd xformOp:orient.timeSamples = {\n");
        let mut before = DQuat::IDENTITY;
        for frame in self.body.lifetime.clone() {
            if let Some(pose) = spool.get_pose(frame, block)? {
                before = if pose.turn.dot(before) < 0.0 { -pose.turn } else { pose.turn };
                let [x, y, z, w] = before.to_array();
                writeln!(text, "            {}: ({w:?}, {x:?}, {y:?}, {z:?}),", self.codes[frame]);
                text.piece()?;
            }
        }
        text.put("        }\n");
        Ok(())
    }

    /// The class of a shape that several bodies share.
    pub fn write_class(&self, class: &str, text: &mut Text) -> Result<(), CacheError> {
        write!(text, "        class {} \"{class}\"\n        {{\n", self.kind());
        self.shape(text)?;
        text.put("        }\n\n");
        Ok(())
    }

    /// What stays as long as the topology does.
    fn shape(&self, text: &mut Text) -> Result<(), CacheError> {
        if let Some(rest) = self.rest {
            self.still(rest, text)?;
        }
        if self.is_cloud() {
            // One per point although they are equal: USD computes no bounds from a constant width.
            self.held(text, "float[] widths", Some("vertex"), &|text, v| {
                let width = scaled_width(v.body, self.scale);
                text.list(&v.body.mesh.positions, |text, _| text.float(width))
            })?;
        } else {
            text.put("        uniform bool doubleSided = 1\n");
            self.held(text, "int[] faceVertexCounts", None, &|text, v| text.indices(v.faces.sizes()))?;
            let corners: VersionWriter<'_> = &|text, v| text.indices(v.faces.corners().iter().copied());
            self.held(text, "int[] faceVertexIndices", None, corners)?;
            text.put("        uniform token subdivisionScheme = \"none\"\n");
            if self.normals_at_corners() {
                // Only the primvar can be indexed; it comes before plain normals where a program knows both.
                self.held(text, "int[] primvars:normals:indices", None, &|text, v| {
                    text.indices(v.normal_of_corner().unwrap_or(v.faces.corners()).iter().copied())
                })?;
            }
            self.coordinates(text)?;
        }
        self.colors(text)?;
        self.subsets(text)
    }

    fn kind(&self) -> &'static str {
        if self.is_cloud() { "Points" } else { "Mesh" }
    }

    fn is_cloud(&self) -> bool {
        self.body.versions.iter().all(|v| v.body.is_point_cloud())
    }

    /// Normals a file gives for corners are written per vertex where each vertex has but one: that is a sixth of it.
    fn normals_at_corners(&self) -> bool {
        self.body.versions.iter().any(|v| normals_of_vertices(v).is_none())
    }

    /// When it is there, if not always; whether it was said. Blender's importer knows no visibility, so it has no size either
    /// while it is not.
    fn visibility(&self, text: &mut Text) -> bool {
        let lifetime = &self.body.lifetime;
        if *lifetime == (0..self.codes.len()) {
            return false;
        }
        text.put("        token visibility.timeSamples = {\n");
        if lifetime.start > 0 {
            writeln!(text, "            {}: \"invisible\",", self.codes[0]);
        }
        writeln!(text, "            {}: \"inherited\",", self.codes[lifetime.start]);
        if let Some(gone) = self.codes.get(lifetime.end) {
            writeln!(text, "            {gone}: \"invisible\",");
        }
        text.put("        }\n        double3 xformOp:scale.timeSamples = {\n");
        for (code, size) in self.body.size_keys(self.codes) {
            writeln!(text, "            {code}: ({size}, {size}, {size}),");
        }
        text.put("        }\n");
        true
    }

    /// A time-sampled array of triples.
    fn samples(
        &self,
        spool: &mut Spool,
        text: &mut Text,
        attribute: &str,
        block: FrameBlock,
    ) -> Result<(), CacheError> {
        writeln!(text, "        {attribute}.timeSamples = {{");
        let mut triples = Vec::new();
        let mut order = None;
        for frame in self.body.lifetime.clone() {
            let version = &self.body.versions[self.body.version_at(frame)];
            if version.from == frame
                && matches!(block, FrameBlock::NormalPrecision)
                && !self.normals_at_corners()
            {
                order = normals_of_vertices(version).flatten();
            }
            spool.get(frame, self.place * FrameBlock::COUNT + block as usize, &mut triples)?;
            write!(text, "            {}: ", self.codes[frame]);
            put_normals(text, &triples, &order)?;
            text.put(",\n");
        }
        text.put("        }\n");
        Ok(())
    }

    /// An attribute with a value for each version: one, or a sample where each begins.
    fn held(
        &self,
        text: &mut Text,
        attribute: &str,
        interpolation: Option<&str>,
        put: VersionWriter<'_>,
    ) -> Result<(), CacheError> {
        let about = interpolation
            .map_or(String::new(), |i| format!(" (\n            interpolation = \"{i}\"\n        )"));
        if let [only] = &self.body.versions[..] {
            write!(text, "        {attribute} = ");
            put(text, only)?;
            writeln!(text, "{about}");
            return Ok(());
        }
        if !about.is_empty() {
            writeln!(text, "        {attribute}{about}");
        }
        writeln!(text, "        {attribute}.timeSamples = {{");
        for version in &self.body.versions {
            write!(text, "            {}: ", self.codes[version.from]);
            put(text, version)?;
            text.put(",\n");
        }
        text.put("        }\n");
        Ok(())
    }

    fn coordinates(&self, text: &mut Text) -> Result<(), CacheError> {
        let versions = &self.body.versions;
        if versions.iter().all(|v| v.body.attributes.uvs.is_empty()) {
            return Ok(());
        }
        let at_vertices = versions.iter().all(|v| {
            let uvs = &v.body.attributes.uvs;
            uvs.values.len() == v.body.mesh.positions.len() && uvs.corners == v.faces.corners()
        });
        let at = if at_vertices { "vertex" } else { "faceVarying" };
        self.held(text, "texCoord2f[] primvars:st", Some(at), &|text, v| {
            text.tuples(v.body.attributes.uvs.values.iter().copied())
        })?;
        if at_vertices {
            return Ok(());
        }
        self.held(text, "int[] primvars:st:indices", None, &|text, v| {
            text.indices(v.body.attributes.uvs.corners.iter().copied())
        })
    }

    /// Colours of vertices; that of the whole body stands with the body.
    fn colors(&self, text: &mut Text) -> Result<(), CacheError> {
        let versions = &self.body.versions;
        if versions.iter().any(|v| v.body.attributes.colors.is_empty()) {
            return Ok(());
        }
        self.held(text, "color3f[] primvars:displayColor", Some("vertex"), &|text, v| {
            text.tuples(v.body.attributes.colors.iter().map(|&[r, g, b, _]| [r, g, b]))
        })?;
        if versions.iter().flat_map(|v| &v.body.attributes.colors).any(|c| c[3] != 1.0) {
            self.held(text, "float[] primvars:displayOpacity", Some("vertex"), &|text, v| {
                text.list(&v.body.attributes.colors, |text, c| text.float(c[3]))
            })?;
        }
        Ok(())
    }

    /// The materials that faces have in any version, by their place in `material_names`, and for each version the faces.
    fn parts(&self) -> Vec<(usize, Vec<Vec<u32>>)> {
        let versions = &self.body.versions;
        let mut parts: Vec<(usize, Vec<Vec<u32>>)> = Vec::new();
        for (k, version) in versions.iter().enumerate().filter(|_| !self.is_cloud()) {
            for (m, faces) in faces_by_material(version.body) {
                let material = self.materials[k][m];
                let place = parts.iter().position(|p| p.0 == material).unwrap_or_else(|| {
                    parts.push((material, vec![Vec::new(); versions.len()]));
                    parts.len() - 1
                });
                parts[place].1[k].extend(faces);
            }
        }
        parts
    }

    /// The faces of each material, if there are several. Together they are all faces, each once.
    fn subsets(&self, text: &mut Text) -> Result<(), CacheError> {
        let parts = self.parts();
        if parts.len() < 2 {
            return Ok(());
        }
        text.put("        uniform token subsetFamily:materialBind:familyType = \"partition\"\n");
        for (material, faces) in parts {
            let material = &self.material_names[material];
            write!(
                text,
                "\n        def GeomSubset \"{material}\" (\n            \
                 prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {{\n            \
                 uniform token elementType = \"face\"\n            \
                 uniform token familyName = \"materialBind\"\n            int[] indices"
            );
            match &faces[..] {
                [only] => {
                    text.put(" = ");
                    text.indices(only.iter().copied())?;
                }
                several => {
                    text.put(".timeSamples = {\n");
                    for (version, faces) in self.body.versions.iter().zip(several) {
                        write!(text, "                {}: ", self.codes[version.from]);
                        text.indices(faces.iter().copied())?;
                        text.put(",\n");
                    }
                    text.put("            }");
                }
            }
            write!(text, "\n            rel material:binding = <{SCOPE}/{material}>\n        }}\n");
        }
        Ok(())
    }
}

/// Triples as they are, or as each vertex has them.
fn put_normals(
    text: &mut Text,
    triples: &[[f32; 3]],
    order: &Option<Vec<Option<u32>>>,
) -> Result<(), CacheError> {
    match order {
        None => text.tuples(triples.iter().copied()),
        Some(order) => text.tuples(order.iter().map(|k| k.map_or([0.0, 1.0, 0.0], |k| triples[k as usize]))),
    }
}

/// For each vertex which of the frame's normals it has, `None` inside if that is its own number; nothing at all where
/// corners of a vertex have several.
fn normals_of_vertices(version: &BodyVersion<'_>) -> Option<Option<Vec<Option<u32>>>> {
    let Some(of_corner) = version.normal_of_corner() else { return Some(None) };
    let mut of_vertex: Vec<Option<u32>> = vec![None; version.body.mesh.positions.len()];
    for (&v, &n) in version.faces.corners().iter().zip(of_corner) {
        if *of_vertex[v as usize].get_or_insert(n) != n {
            return None;
        }
    }
    Some(Some(of_vertex))
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
