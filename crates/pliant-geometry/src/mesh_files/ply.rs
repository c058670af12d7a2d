//! PLY in: text and both binary orders, any layout of elements and properties.
//!
//! Vertices may have normals, texture coordinates (`s t`, `u v`, `texture_u texture_v`) and colours (whole numbers
//! are sRGB, real ones linear); faces may have texture coordinates of their own (`texcoord`, as MeshLab writes) and a
//! `texnumber` that picks one of the `TextureFile` comments. Triangle strips become triangles.

use super::MeshFile;
use super::color::Coding;
use super::notes::{Notes, POINTS_ONLY};
use super::ply_body::PlyBody;
use super::ply_header::{PlyElement, PlyEncoding, PlyHeader, PlyType, header};
use crate::error::{ErrorList, GeometryError};
use crate::poly::{Layer, MeshAttributes, PolyMesh, Polygons, SurfaceMaterial};
use glam::DVec3;

/// Reads a PLY file; nothing is set aside before the counts of its header are known to fit its bytes.
pub(super) fn read(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let header = header(bytes)?;
    let mut body = PlyBody::new(bytes, header.end, header.lines, header.encoding);
    let mut draft = PlyDraft::default();
    let one = |e: GeometryError| vec![e];
    let mut seen = [false; 3];
    for element in &header.elements {
        body.holds(element).map_err(one)?;
        let which = ["vertex", "face", "tristrips"].iter().position(|n| *n == element.name);
        match which.filter(|&w| !std::mem::replace(&mut seen[w], true)) {
            Some(0) => draft.vertices(element, &mut body).map_err(one)?,
            Some(1) => draft.faces(element, &mut body).map_err(one)?,
            Some(_) => draft.strips(element, &mut body).map_err(one)?,
            None => {
                let kind = format!("the element `{}` is passed over", element.name);
                draft.notes.count(&kind, || format!("{} of them", element.count));
                body.skip(element).map_err(one)?;
            }
        }
    }
    body.begin_row();
    if body.left() > 0 {
        draft.notes.say(format!("{} bytes after the last element are passed over", body.left()));
    }
    if body.longer.0 > 0 {
        let (times, line) = body.longer;
        draft.notes.say(format!("{times} rows are longer than the header says, the first at line {line}"));
    }
    draft.finish(header)
}

#[derive(Default)]
struct PlyDraft {
    positions: Vec<DVec3>,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    colors: Vec<[f64; 4]>,
    coding: Option<Coding>,
    faces: Polygons,
    corner_uvs: Vec<[f32; 2]>,
    face_textures: Vec<u32>,
    errors: ErrorList,
    notes: Notes,
}

/// What a property of a vertex is for.
const X: usize = 0;
const NX: usize = 3;
const U: usize = 6;
const RED: usize = 8;
const ALPHA: usize = 11;
const NAMES: [&[&str]; 12] = [
    &["x"],
    &["y"],
    &["z"],
    &["nx", "normal_x"],
    &["ny", "normal_y"],
    &["nz", "normal_z"],
    &["s", "u", "texture_u", "texture_s"],
    &["t", "v", "texture_v", "texture_t"],
    &["red", "r", "diffuse_red"],
    &["green", "g", "diffuse_green"],
    &["blue", "b", "diffuse_blue"],
    &["alpha", "a", "diffuse_alpha"],
];

impl PlyDraft {
    fn vertices(&mut self, element: &PlyElement, body: &mut PlyBody<'_>) -> Result<(), GeometryError> {
        let places: [Option<usize>; 12] = NAMES.map(|names| element.find(names));
        let all = |range: std::ops::Range<usize>| range.clone().all(|k| places[k].is_some());
        if !all(X..NX) {
            return Err(GeometryError::new(
                "the vertices have no x, y and z",
                "a PLY file has `property float x` and so on after `element vertex`; export it again",
            ));
        }
        let (normals, uvs, colors) = (all(NX..U), all(U..RED), all(RED..ALPHA));
        // For each property, which of the values it is.
        let mut slots = vec![usize::MAX; element.properties.len()];
        places.iter().enumerate().for_each(|(k, p)| p.iter().for_each(|&p| slots[p] = k));
        for (p, _) in element.properties.iter().zip(&slots).filter(|(_, s)| **s == usize::MAX) {
            self.notes.say(format!("the vertex property `{}` is passed over", p.name));
        }
        if colors {
            self.coding = places[RED].map(|p| match element.properties[p].kind {
                PlyType::F32 | PlyType::F64 => Coding::Linear,
                PlyType::U8 | PlyType::I8 => Coding::Bytes,
                _ => Coding::Words,
            });
        }
        let opaque = match (places[ALPHA], self.coding) {
            (None, Some(Coding::Bytes)) => 255.0,
            (None, Some(Coding::Words)) => 65535.0,
            _ => 1.0,
        };
        let count = element.count as usize;
        self.positions.reserve_exact(count);
        self.normals.reserve_exact(if normals { count } else { 0 });
        self.uvs.reserve_exact(if uvs { count } else { 0 });
        self.colors.reserve_exact(if colors { count } else { 0 });
        for i in 0..count {
            let mut values = [0.0; 12];
            values[ALPHA] = opaque;
            body.begin_row();
            for (property, &slot) in element.properties.iter().zip(&slots) {
                match property.length {
                    Some(length) => body.skip_list(length, property.kind)?,
                    None => {
                        let value = body.number(property.kind)?;
                        if let Some(place) = values.get_mut(slot) {
                            *place = value;
                        }
                    }
                }
            }
            body.end_row();
            let [x, y, z, nx, ny, nz, u, v, r, g, b, a] = values;
            let position = DVec3::new(x, y, z);
            if !position.is_finite() {
                let help = "positions must be finite numbers; look for a division by zero where the file was written";
                self.errors.push_at(format!("vertex {i} is at {position}"), help);
            }
            self.positions.push(position);
            if normals {
                let normal = self.finite([nx, ny, nz].map(|c| c as f32), i, "normals");
                self.normals.push(normal);
            }
            if uvs {
                let uv = self.finite([u, v].map(|c| c as f32), i, "texture coordinates");
                self.uvs.push(uv);
            }
            if colors {
                self.colors.push([r, g, b, a]);
            }
        }
        Ok(())
    }

    /// The values, or zeros if one is no finite number.
    fn finite<const N: usize>(&mut self, values: [f32; N], vertex: usize, what: &str) -> [f32; N] {
        if values.iter().all(|v| v.is_finite()) {
            return values;
        }
        let kind = format!("{what} that are no finite numbers are taken as 0");
        self.notes.count(&kind, || format!("vertex {vertex}"));
        [0.0; N]
    }

    fn faces(&mut self, element: &PlyElement, body: &mut PlyBody<'_>) -> Result<(), GeometryError> {
        let list = |names: &[&str]| element.find(names).filter(|&p| element.properties[p].length.is_some());
        let Some(corners) = list(&["vertex_indices", "vertex_index"]) else {
            if element.count > 0 {
                self.notes.say("the faces have no list `vertex_indices` and are passed over");
            }
            return body.skip(element);
        };
        let texcoord = list(&["texcoord"]);
        let texnumber = element.find(&["texnumber"]).filter(|&p| element.properties[p].length.is_none());
        for (k, p) in element.properties.iter().enumerate() {
            if k != corners && Some(k) != texcoord && Some(k) != texnumber {
                self.notes.say(format!("the face property `{}` is passed over", p.name));
            }
        }
        let (mut face, mut uv) = (Vec::new(), Vec::new());
        for f in 0..element.count {
            body.begin_row();
            let mut texture = 0.0;
            face.clear();
            uv.clear();
            for (k, property) in element.properties.iter().enumerate() {
                let Some(length) = property.length else {
                    let value = body.number(property.kind)?;
                    if Some(k) == texnumber {
                        texture = value;
                    }
                    continue;
                };
                if k == corners {
                    for _ in 0..body.length(length, property.kind)? {
                        face.push(self.index(body.number(property.kind)?, f));
                    }
                } else if Some(k) == texcoord {
                    for _ in 0..body.length(length, property.kind)? {
                        uv.push(body.number(property.kind)? as f32);
                    }
                } else {
                    body.skip_list(length, property.kind)?;
                }
            }
            body.end_row();
            if face.len() < 3 {
                self.notes.count("faces with fewer than three corners are left out", || format!("face {f}"));
                continue;
            }
            self.faces.push(&face);
            if texcoord.is_some() {
                self.corner_uv(&uv, face.len(), f);
            }
            if texnumber.is_some() {
                self.face_textures.push(if texture >= 0.0 { texture as u32 } else { 0 });
            }
        }
        Ok(())
    }

    fn corner_uv(&mut self, uv: &[f32], corners: usize, face: u64) {
        if uv.len() == 2 * corners && uv.iter().all(|x| x.is_finite()) {
            self.corner_uvs.extend(uv.chunks_exact(2).map(|p| [p[0], p[1]]));
            return;
        }
        let kind = "texture coordinates that do not fit the corners of their face are taken as 0";
        self.notes.count(kind, || format!("face {face}"));
        self.corner_uvs.resize(self.corner_uvs.len() + corners, [0.0; 2]);
    }

    /// A vertex that a face names; vertices may come after faces, so only what no mesh can have is refused here.
    fn index(&mut self, value: f64, face: u64) -> u32 {
        if value >= 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0 {
            return value as u32;
        }
        self.errors.push_at(
            format!("face {face} names vertex {value}"),
            "vertices count from 0; export the file again",
        );
        0
    }

    fn strips(&mut self, element: &PlyElement, body: &mut PlyBody<'_>) -> Result<(), GeometryError> {
        // Without properties any number of them fits.
        let count = if element.properties.is_empty() { 0 } else { element.count };
        for s in 0..count {
            body.begin_row();
            for property in &element.properties {
                let Some(length) = property.length else {
                    body.number(property.kind)?;
                    continue;
                };
                if !["vertex_indices", "vertex_index"].contains(&property.name.as_str()) {
                    body.skip_list(length, property.kind)?;
                    continue;
                }
                // -1 begins anew; every second triangle is the other way round.
                let (mut a, mut b, mut run) = (0, 0, 0_usize);
                for _ in 0..body.length(length, property.kind)? {
                    let value = body.number(property.kind)?;
                    if value == -1.0 {
                        run = 0;
                        continue;
                    }
                    let c = self.index(value, s);
                    run += 1;
                    if run > 2 && a != b && b != c && c != a {
                        self.faces.push(&if run % 2 == 1 { [a, b, c] } else { [b, a, c] });
                    }
                    (a, b) = (b, c);
                }
            }
            body.end_row();
        }
        Ok(())
    }

    fn finish(mut self, header: PlyHeader) -> Result<MeshFile, Vec<GeometryError>> {
        let count = self.positions.len();
        if count == 0 && self.errors.is_empty() {
            let help = "a PLY file has an `element vertex` with a count above 0; check that the export was not empty";
            return Err(vec![GeometryError::new("there are no vertices in it", help)]);
        }
        let faces = std::mem::take(&mut self.faces);
        if u32::try_from(count.max(faces.corners().len())).is_err() {
            let help = "split the mesh into several files";
            return Err(vec![GeometryError::new(
                "the mesh has more than 4,294,967,295 vertices or corners",
                help,
            )]);
        }
        if faces.corners().iter().any(|&v| v as usize >= count) {
            for (f, face) in faces.iter().enumerate() {
                if let Some(&v) = face.iter().find(|v| **v as usize >= count) {
                    let help = "vertices count from 0; the file may be cut off, or vertices were removed";
                    self.errors.push_at(format!("face {f} names vertex {v}, but there are {count}"), help);
                }
            }
        }
        if !self.errors.is_empty() {
            return Err(self.errors.finish());
        }
        if faces.is_empty() {
            self.notes.say(POINTS_ONLY);
            if !self.normals.is_empty() || !self.uvs.is_empty() {
                self.notes.say("normals and texture coordinates of points are passed over");
            }
        }
        let colors = self.linear_colors();
        let (materials, face_materials) = self.materials(&header.textures);
        let mut attributes =
            MeshAttributes { colors, materials, face_materials, ..MeshAttributes::default() };
        if !faces.is_empty() {
            if !self.normals.is_empty() {
                attributes.normals = Layer::of_vertices(self.normals, &faces);
            }
            if self.corner_uvs.len() == faces.corners().len() {
                attributes.uvs = shared(self.corner_uvs);
            } else if !self.uvs.is_empty() {
                attributes.uvs = Layer::of_vertices(self.uvs, &faces);
            }
        }
        attributes.faces = faces;
        let encoding = match header.encoding {
            PlyEncoding::Ascii => "ASCII",
            PlyEncoding::Little => "binary little-endian",
            PlyEncoding::Big => "binary big-endian",
        };
        Ok(MeshFile {
            format: format!("PLY, {encoding}"),
            meshes: vec![PolyMesh {
                name: header.name,
                positions: self.positions,
                attributes,
                animation: None,
            }],
            notes: self.notes.finish(),
        })
    }

    fn linear_colors(&mut self) -> Vec<[f32; 4]> {
        let Some(mut coding) = self.coding else { return Vec::new() };
        if coding == Coding::Linear && self.colors.iter().any(|c| c.iter().any(|&x| x > 1.0)) {
            self.notes.say("vertex colours go beyond 1 and are taken as 0 to 255");
            coding = Coding::Bytes;
        }
        let notes = &mut self.notes;
        let color = |(i, c): (usize, &[f64; 4])| {
            coding.decode(*c).unwrap_or_else(|| {
                notes.count("vertex colours that are no numbers are dropped: white instead", || {
                    format!("vertex {i}")
                });
                [1.0; 4]
            })
        };
        self.colors.iter().enumerate().map(color).collect()
    }

    /// A material for each image that the file names.
    fn materials(&mut self, textures: &[String]) -> (Vec<SurfaceMaterial>, Vec<u32>) {
        let material = |file: &String| SurfaceMaterial {
            name: file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem).to_string(),
            color: [1.0; 4],
            texture: Some(file.clone()),
            ..SurfaceMaterial::default()
        };
        let materials: Vec<SurfaceMaterial> = textures.iter().map(material).collect();
        let mut of_faces = std::mem::take(&mut self.face_textures);
        if materials.len() < 2 {
            of_faces.clear();
        }
        for (f, m) in of_faces.iter_mut().enumerate().filter(|(_, m)| **m as usize >= textures.len()) {
            self.notes
                .count("textures that the file does not name are taken as the first", || format!("face {f}"));
            *m = 0;
        }
        (materials, of_faces)
    }
}

/// Values per corner with equal ones shared.
fn shared(values: Vec<[f32; 2]>) -> Layer<[f32; 2]> {
    let mut index = std::collections::HashMap::new();
    let mut layer = Layer::default();
    for value in values {
        let next = layer.values.len() as u32;
        let which = *index.entry(value.map(f32::to_bits)).or_insert(next);
        if which == next {
            layer.values.push(value);
        }
        layer.corners.push(which);
    }
    layer
}
