//! The JSON part of a GLB that is written: scene, meshes, materials, one animation, and where the numbers are.

use super::parts::{GlbPart, SECTIONS, fraction};
use super::write::{Glb, PlannedSurface, Walk};
use crate::poly::{MeshAttributes, SurfaceMaterial};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Length of the longest number that bounds can have.
pub(super) const LONGEST: usize = 24;

const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// Materials, each once, and the images they name.
#[derive(Debug, Default)]
pub(super) struct Materials {
    written: Vec<String>,
    numbers: HashMap<String, usize>,
    images: Vec<String>,
    image_numbers: HashMap<String, usize>,
}

impl Materials {
    /// The number of a material of a mesh. One that has none gets a plain one: what glTF takes instead is a metal,
    /// black without surroundings to mirror. White under vertex colours, which are multiplied with it.
    pub fn number(&mut self, attributes: &MeshAttributes, index: usize) -> usize {
        let plain = || {
            let usual = SurfaceMaterial::default();
            if attributes.colors.is_empty() { usual } else { SurfaceMaterial { color: [1.0; 4], ..usual } }
        };
        let material = attributes.materials.get(index).cloned().unwrap_or_else(plain);
        let image = material.texture.as_deref().filter(|_| !attributes.uvs.is_empty()).and_then(image_uri);
        let image = image.map(|uri| {
            let next = self.images.len();
            *self.image_numbers.entry(uri).or_insert_with_key(|uri| {
                self.images.push(uri.clone());
                next
            })
        });
        let see_through = material.color[3] < 1.0 || attributes.colors.iter().any(|c| c[3] < 1.0);
        let text = material_json(&material, image, see_through);
        let next = self.written.len();
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.written.push(text.clone());
            next
        })
    }
}

/// The name of an image file as a URI; `None` for what names no file, such as an image inside another file.
fn image_uri(name: &str) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    let known = ["png", "jpg", "jpeg", "webp", "ktx2", "avif", "tga", "bmp", "tif", "tiff", "exr", "dds"];
    known.contains(&extension.to_ascii_lowercase().as_str()).then(|| {
        let mut uri = String::new();
        // What is escaped already stays so.
        for byte in name.replace('\\', "/").bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'%' => {
                    uri.push(char::from(byte));
                }
                _ => {
                    let _ = write!(uri, "%{byte:02X}");
                }
            }
        }
        uri
    })
}

fn material_json(material: &SurfaceMaterial, image: Option<usize>, see_through: bool) -> String {
    let [r, g, b, a] = material.color.map(fraction);
    let texture = image.map_or(String::new(), |i| format!(",\"baseColorTexture\":{{\"index\":{i}}}"));
    format!(
        "{{{}\"pbrMetallicRoughness\":{{\"baseColorFactor\":[{r},{g},{b},{a}],\"metallicFactor\":{},\
         \"roughnessFactor\":{}{texture}}}{},\"doubleSided\":true}}",
        name_json(&material.name),
        fraction(material.metallic),
        fraction(material.roughness),
        if see_through { ",\"alphaMode\":\"BLEND\"" } else { "" },
    )
}

/// `"name":"…",` or nothing for an empty name.
fn name_json(name: &str) -> String {
    match name.is_empty() {
        true => String::new(),
        false => format!("\"name\":{},", serde_json::Value::from(name)),
    }
}

/// The lists that grow while the file is described.
#[derive(Default)]
struct Tables {
    accessors: Vec<String>,
    views: Vec<String>,
    offset: u64,
}

impl Tables {
    /// A view of the next bytes; nothing if there are none.
    fn view(&mut self, length: u64, more: &str) -> usize {
        if length > 0 {
            let offset = self.offset;
            self.views
                .push(format!("{{\"buffer\":0,\"byteOffset\":{offset},\"byteLength\":{length}{more}}}"));
        }
        self.offset += length;
        self.views.len().saturating_sub(1)
    }

    fn accessor(
        &mut self,
        view: usize,
        offset: &mut u64,
        count: usize,
        kind: AccessorKind,
        more: &str,
    ) -> usize {
        let (name, component, size) = kind;
        self.accessors.push(format!(
            "{{\"bufferView\":{view},\"byteOffset\":{offset},\"componentType\":{component},\"count\":{count},\
             \"type\":\"{name}\"{more}}}"
        ));
        *offset += (size * count as u64).next_multiple_of(4);
        self.accessors.len() - 1
    }

    /// Scalars of which only some are not zero.
    fn sparse(&mut self, view: usize, offset: &mut u64, count: usize, some: usize) -> usize {
        let values = *offset + 4 * some as u64;
        self.accessors.push(format!(
            "{{\"componentType\":5126,\"count\":{count},\"type\":\"SCALAR\",\"sparse\":{{\"count\":{some},\"indices\":\
             {{\"bufferView\":{view},\"byteOffset\":{offset},\"componentType\":5125}},\"values\":\
             {{\"bufferView\":{view},\"byteOffset\":{values}}}}}}}"
        ));
        *offset = values + 4 * some as u64;
        self.accessors.len() - 1
    }
}

/// Type, component type and bytes of an element.
type AccessorKind = (&'static str, u32, u64);
const SCALAR: AccessorKind = ("SCALAR", 5126, 4);
const VEC2: AccessorKind = ("VEC2", 5126, 8);
const VEC3: AccessorKind = ("VEC3", 5126, 12);
const VEC4: AccessorKind = ("VEC4", 5126, 16);

/// The JSON part, with the bounds known so far.
pub(super) fn json(glb: &Glb) -> String {
    let mut writer = JsonWriter::new(glb);
    writer.samplers();
    glb.surfaces.iter().for_each(|surface| writer.surface(surface));
    writer.finish()
}

/// A file while its JSON is put together.
struct JsonWriter<'a> {
    glb: &'a Glb,
    tables: Tables,
    /// Views of the sections that all frames share, the last that of clips, and how far each is taken up.
    views: [usize; SECTIONS + 1],
    fixed_offsets: [u64; SECTIONS + 1],
    /// The view of the poses, and how far it is taken up; samplers of nodes.
    pose_view: usize,
    pose_offset: u64,
    samplers: Vec<String>,
    /// Accessors of the times of nodes.
    walks: Vec<usize>,
    /// The same for the bytes of each frame.
    frame_views: Vec<usize>,
    frame_offsets: Vec<u64>,
    /// Accessors that several parts share, by section and what is the same.
    shared: HashMap<(usize, usize), usize>,
    nodes: Vec<String>,
    meshes: Vec<String>,
    channels: Vec<String>,
}

impl<'a> JsonWriter<'a> {
    fn new(glb: &'a Glb) -> JsonWriter<'a> {
        let mut tables = Tables::default();
        let views = [
            tables.view(glb.sections[0], &format!(",\"target\":{INDICES}")),
            tables.view(glb.sections[1], &format!(",\"byteStride\":8,\"target\":{VERTICES}")),
            tables.view(glb.sections[2], &format!(",\"byteStride\":16,\"target\":{VERTICES}")),
            tables.view(glb.sections[3], &format!(",\"byteStride\":12,\"target\":{VERTICES}")),
            tables.view(glb.clip_bytes, ""),
        ];
        let more = format!(",\"byteStride\":12,\"target\":{VERTICES}");
        let frame_views: Vec<usize> =
            glb.frame_bytes.iter().map(|&bytes| tables.view(bytes, &more)).collect();
        let pose_view = tables.view(glb.pose_bytes, "");
        JsonWriter {
            pose_view,
            pose_offset: 0,
            samplers: Vec::new(),
            walks: Vec::new(),
            glb,
            tables,
            views,
            fixed_offsets: [0; SECTIONS + 1],
            frame_offsets: vec![0; frame_views.len()],
            frame_views,
            shared: HashMap::new(),
            nodes: Vec::new(),
            meshes: Vec::new(),
            channels: Vec::new(),
        }
    }

    /// The samplers of the clips, then those of the visibilities; and the times of nodes.
    fn samplers(&mut self) {
        let (tables, view, offset) =
            (&mut self.tables, self.views[SECTIONS], &mut self.fixed_offsets[SECTIONS]);
        let bounds =
            |first: f32, last: f32| format!(",\"min\":[{}],\"max\":[{}]", number(first), number(last));
        let mut samplers = Vec::new();
        for clip in &self.glb.clips {
            let n = clip.times.len();
            let input = tables.accessor(view, offset, n, SCALAR, &bounds(clip.times[0], clip.times[n - 1]));
            let output = match clip.sparse() {
                true => tables.sparse(view, offset, n * (n - 1), n - 1),
                false => tables.accessor(view, offset, n * (n - 1), SCALAR, ""),
            };
            samplers.push(format!("{{\"input\":{input},\"output\":{output},\"interpolation\":\"LINEAR\"}}"));
        }
        for visibility in &self.glb.visibilities {
            let (keys, n) = (&visibility.keys, visibility.keys.len());
            let input = tables.accessor(view, offset, n, SCALAR, &bounds(keys[0].0, keys[n - 1].0));
            let output = tables.accessor(view, offset, n, VEC3, "");
            samplers.push(format!("{{\"input\":{input},\"output\":{output},\"interpolation\":\"STEP\"}}"));
        }
        for times in &self.glb.walks {
            let more = bounds(times[0], times[times.len() - 1]);
            self.walks.push(tables.accessor(view, offset, times.len(), SCALAR, &more));
        }
        self.samplers = samplers;
    }

    /// The samplers that move a node, for its place and its turn; and where it is at first.
    fn walk(&mut self, walk: &Walk) -> (Option<[usize; 2]>, String) {
        let place = walk.places.first().copied().unwrap_or_default().map(number).join(",");
        let turn = walk.turns.first().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]).map(number).join(",");
        let at = format!(",\"translation\":[{place}],\"rotation\":[{turn}]");
        let Some(input) = walk.times.map(|times| self.walks[times]) else { return (None, at) };
        let samplers = [VEC3, VEC4].map(|kind| {
            let output = self.tables.accessor(self.pose_view, &mut self.pose_offset, walk.count, kind, "");
            self.samplers
                .push(format!("{{\"input\":{input},\"output\":{output},\"interpolation\":\"LINEAR\"}}"));
            self.samplers.len() - 1
        });
        (Some(samplers), at)
    }

    /// Adds a surface: its node, its mesh, and what moves them.
    fn surface(&mut self, surface: &PlannedSurface) {
        let name = name_json(&surface.name);
        let node = self.nodes.len();
        if surface.parts.is_empty() {
            self.nodes.push(format!("{{{}}}", name.trim_end_matches(',')));
            return;
        }
        let primitives: Vec<String> =
            surface.parts.iter().map(|part| self.primitive(surface, part)).collect();
        let (walk, at) = surface.walk.as_ref().map_or((None, String::new()), |walk| self.walk(walk));
        let mut channel = |sampler: usize, path: &str| {
            self.channels.push(format!(
                "{{\"sampler\":{sampler},\"target\":{{\"node\":{node},\"path\":\"{path}\"}}}}"
            ));
        };
        if let Some(clip) = surface.clip {
            channel(clip, "weights");
        }
        if let Some([place, turn]) = walk {
            channel(place, "translation");
            channel(turn, "rotation");
        }
        let mut scale = "";
        if let Some(visibility) = surface.visibility {
            channel(self.glb.clips.len() + visibility, "scale");
            // So that a picture without motion shows the beginning.
            scale =
                if self.glb.visibilities[visibility].keys[0].1 == 0.0 { ",\"scale\":[0,0,0]" } else { "" };
        }
        self.nodes.push(format!("{{{name}\"mesh\":{}{at}{scale}}}", self.meshes.len()));
        self.meshes.push(format!("{{{name}\"primitives\":[{}]}}", primitives.join(",")));
    }

    /// A part: the first frame in its attributes, the others as targets.
    fn primitive(&mut self, surface: &PlannedSurface, part: &GlbPart) -> String {
        let fixed = (&self.views, &mut self.fixed_offsets);
        let mut text = fixed_json(part, &mut self.tables, fixed, &mut self.shared);
        if surface.walk.is_some() {
            text.push_str(&self.still_json(part));
            return text + "}}";
        }
        for k in 0..surface.frames {
            let at = surface.begin + k;
            let (view, offset) = (self.frame_views[at], &mut self.frame_offsets[at]);
            let frame = frame_json(part, k, &mut self.tables, view, offset);
            let _ = match k {
                0 => write!(text, "{frame}}}"),
                1 => write!(text, ",\"targets\":[{{{frame}}}"),
                _ => write!(text, ",{{{frame}}}"),
            };
        }
        text + if surface.frames > 1 { "]}" } else { "}" }
    }

    /// Positions and normals of a part that moves as one; what it has in common with parts before it has their accessors.
    fn still_json(&mut self, part: &GlbPart) -> String {
        const STILL: usize = SECTIONS - 1;
        let (tables, offset) = (&mut self.tables, &mut self.fixed_offsets[STILL]);
        let [least, most] = part.bounds[0].map(|p| p.map(number).join(","));
        let bounds = format!(",\"min\":[{least}],\"max\":[{most}]");
        let positions = *self.shared.entry((STILL, part.same[STILL])).or_insert_with(|| {
            tables.accessor(self.views[STILL], offset, part.vertices.len(), VEC3, &bounds)
        });
        let mut text = format!("\"POSITION\":{positions}");
        if !part.normals.is_empty() {
            let normals = *self
                .shared
                .entry((STILL + 1, part.same[STILL]))
                .or_insert_with(|| tables.accessor(self.views[STILL], offset, part.normals.len(), VEC3, ""));
            let _ = write!(text, ",\"NORMAL\":{normals}");
        }
        text
    }

    /// The whole text.
    fn finish(self) -> String {
        let JsonWriter { glb, tables, nodes, meshes, channels, samplers, .. } = self;
        let roots: Vec<String> = (0..nodes.len()).map(|k| k.to_string()).collect();
        let mut text = String::from("{\"asset\":{\"version\":\"2.0\",\"generator\":\"pliant\"}");
        if !roots.is_empty() {
            let _ = write!(text, ",\"scene\":0,\"scenes\":[{{\"nodes\":[{}]}}]", roots.join(","));
        }
        let images = &glb.materials.images;
        let textures: Vec<String> = (0..images.len()).map(|k| format!("{{\"source\":{k}}}")).collect();
        let images: Vec<String> = images.iter().map(|uri| format!("{{\"uri\":\"{uri}\"}}")).collect();
        let animation = match channels.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "{{\"name\":\"frames\",\"channels\":[{}],\"samplers\":[{}]}}",
                channels.join(","),
                samplers.join(",")
            )],
        };
        let buffer = match glb.data_bytes() {
            0 => Vec::new(),
            bytes => vec![format!("{{\"byteLength\":{bytes}}}")],
        };
        for (key, list) in [
            ("nodes", &nodes),
            ("meshes", &meshes),
            ("materials", &glb.materials.written),
            ("textures", &textures),
            ("images", &images),
            ("animations", &animation),
            ("accessors", &tables.accessors),
            ("bufferViews", &tables.views),
            ("buffers", &buffer),
        ] {
            // Lists must not be empty.
            if !list.is_empty() {
                let _ = write!(text, ",\"{key}\":[{}]", list.join(","));
            }
        }
        text + "}"
    }
}

/// The start of a primitive, up to where its first frame goes into the attributes. What it has in common with parts before
/// it has their accessors.
fn fixed_json(
    part: &GlbPart,
    tables: &mut Tables,
    (views, offsets): (&[usize; SECTIONS + 1], &mut [u64; SECTIONS + 1]),
    shared: &mut HashMap<(usize, usize), usize>,
) -> String {
    let mut accessor = |section: usize, count: usize, kind: AccessorKind| {
        *shared
            .entry((section, part.same[section]))
            .or_insert_with(|| tables.accessor(views[section], &mut offsets[section], count, kind, ""))
    };
    let mut text = format!("{{\"material\":{}", part.material);
    match part.indices.len() {
        0 => text.push_str(",\"mode\":0"),
        count => {
            let kind = if part.short_indices() { ("SCALAR", 5123, 2) } else { ("SCALAR", 5125, 4) };
            let _ = write!(text, ",\"indices\":{}", accessor(0, count, kind));
        }
    }
    text.push_str(",\"attributes\":{");
    if !part.uvs.is_empty() {
        let _ = write!(text, "\"TEXCOORD_0\":{},", accessor(1, part.uvs.len(), VEC2));
    }
    if !part.colors.is_empty() {
        let _ = write!(text, "\"COLOR_0\":{},", accessor(2, part.colors.len(), VEC4));
    }
    text
}

/// Positions and normals of a frame.
fn frame_json(part: &GlbPart, k: usize, tables: &mut Tables, view: usize, offset: &mut u64) -> String {
    let [least, most] = part.bounds[k].map(|p| p.map(number).join(","));
    let bounds = format!(",\"min\":[{least}],\"max\":[{most}]");
    let positions = tables.accessor(view, offset, part.vertices.len(), VEC3, &bounds);
    let mut text = format!("\"POSITION\":{positions}");
    if !part.normals.is_empty() {
        let normals = tables.accessor(view, offset, part.normals.len(), VEC3, "");
        let _ = write!(text, ",\"NORMAL\":{normals}");
    }
    text
}

/// A number in all its digits, so that readers in double precision find the same.
fn number(x: f32) -> String {
    format!("{:e}", f64::from(x))
}
