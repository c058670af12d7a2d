//! A surface as graphics cards want it: one part per material, vertices split where corners differ, triangles.

use super::write::GlbSurface;
use super::write_json::Materials;
use crate::poly::Wedges;
use std::collections::HashMap;

/// What normals the frames of a surface come with.
#[derive(Clone, Copy, Debug, Default)]
pub enum GlbNormals<'a> {
    /// None: viewers show faces flat.
    #[default]
    None,
    /// One per vertex.
    OfVertices,
    /// As many as the frame has; for each corner of the faces which.
    OfCorners(&'a [u32]),
}

/// A primitive: vertices and triangles of one material.
#[derive(Debug)]
pub(super) struct GlbPart {
    pub material: usize,
    /// For each of its vertices, the vertex and the normal of the surface; normals may be none.
    pub vertices: Vec<u32>,
    pub normals: Vec<u32>,
    pub uvs: Vec<[f32; 2]>,
    pub colors: Vec<[f32; 4]>,
    /// Empty for clouds.
    pub indices: Vec<u32>,
    /// The first frame.
    first: Vec<[f32; 3]>,
    first_normals: Vec<[f32; 3]>,
    /// Least and largest coordinates of each frame's positions.
    pub bounds: Vec<[[f32; 3]; 2]>,
    /// Positions and normals of a surface that moves as one: the same in all frames.
    still: Option<[Vec<[f32; 3]>; 2]>,
    /// Its number in the file, and those of the first parts with the same indices, texture coordinates, colours and
    /// positions at rest.
    pub number: usize,
    pub same: [usize; SECTIONS],
}

/// What parts have in common: indices, texture coordinates, colours, positions and normals at rest.
pub(super) const SECTIONS: usize = 4;

/// Numbers the parts of a file and finds what they have in common, as copies of a body do.
pub(super) fn share<'p>(parts: impl Iterator<Item = &'p mut GlbPart>) {
    let mut known: [HashMap<(bool, Vec<u8>), usize>; SECTIONS] = Default::default();
    for (number, part) in parts.enumerate() {
        part.number = number;
        for (section, known) in known.iter_mut().enumerate() {
            part.same[section] = *known.entry((part.short_indices(), part.fixed(section))).or_insert(number);
        }
    }
}

/// The parts of a surface; none if it has no vertices. Vertices keep their order; those without faces are left out.
pub(super) fn parts(surface: &GlbSurface<'_>, with_normals: bool, materials: &mut Materials) -> Vec<GlbPart> {
    let GlbSurface { attributes, positions, .. } = *surface;
    let (triangles, faces) = attributes.faces.corner_triangles_with_faces(positions);
    if triangles.is_empty() {
        let part = GlbPart {
            vertices: (0..positions.len() as u32).collect(),
            colors: attributes.colors.iter().map(|c| c.map(fraction)).collect(),
            ..GlbPart::empty(surface, materials.number(attributes, 0))
        };
        return if positions.is_empty() { Vec::new() } else { vec![part.at_rest(surface)] };
    }
    let wedges = Wedges::new(attributes);
    let material_of = |t: usize| attributes.face_materials.get(faces[t] as usize).copied().unwrap_or(0);
    // (material, vertex, wedge) of all corners once: sorted, they are the vertices of the parts in order.
    let mut used: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * triangles.len());
    let mut order: Vec<(u32, u32)> = Vec::with_capacity(triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        order.push((material_of(t), t as u32));
        for &c in corners {
            let wedge = wedges.of_corners[c as usize];
            used.push((material_of(t), wedges.vertices[wedge as usize], wedge));
        }
    }
    used.sort_unstable();
    used.dedup();
    order.sort_unstable();
    let mut triangles_of = order.chunk_by(|a, b| a.0 == b.0);
    let mut place = vec![0u32; wedges.len()];
    let part = |mine: &[(u32, u32, u32)]| {
        for (k, &(_, _, wedge)) in mine.iter().enumerate() {
            place[wedge as usize] = k as u32;
        }
        let index = |c: u32| place[wedges.of_corners[c as usize] as usize];
        let own = triangles_of.next().unwrap_or_default().iter();
        let indices = own.flat_map(|&(_, t)| triangles[t as usize].map(index)).collect();
        let first_corner = |m: &(u32, u32, u32)| wedges.first_corners[m.2 as usize] as usize;
        let vertices = mine.iter().map(|m| (m.1, first_corner(m)));
        let material = materials.number(attributes, mine[0].0 as usize);
        let part = GlbPart::of_vertices(surface, with_normals, vertices, material);
        GlbPart { indices, ..part }.at_rest(surface)
    };
    used.chunk_by(|a, b| a.0 == b.0).map(part).collect()
}

fn finite(x: f32) -> f32 {
    if x.is_finite() { x } else { 0.0 }
}

/// A number between 0 and 1.
pub(super) fn fraction(x: f32) -> f32 {
    finite(x).clamp(0.0, 1.0)
}

impl GlbPart {
    /// A part that has nothing but a material.
    fn empty(surface: &GlbSurface<'_>, material: usize) -> GlbPart {
        GlbPart {
            material,
            vertices: Vec::new(),
            normals: Vec::new(),
            uvs: Vec::new(),
            colors: Vec::new(),
            indices: Vec::new(),
            first: Vec::new(),
            first_normals: Vec::new(),
            bounds: vec![[[0.0; 3]; 2]; surface.frames()],
            still: None,
            number: 0,
            same: [0; SECTIONS],
        }
    }

    /// A part of vertices of a surface, each with one of its corners; yet without triangles.
    fn of_vertices(
        surface: &GlbSurface<'_>,
        with_normals: bool,
        vertices: impl Iterator<Item = (u32, usize)> + Clone,
        material: usize,
    ) -> GlbPart {
        let attributes = surface.attributes;
        // v is down in the file.
        let uv = |(_, corner): (u32, usize)| {
            let [u, v] = attributes.uvs.values[attributes.uvs.corners[corner] as usize];
            [finite(u), finite(1.0 - v)]
        };
        GlbPart {
            vertices: vertices.clone().map(|(vertex, _)| vertex).collect(),
            normals: match surface.normals {
                GlbNormals::None => Vec::new(),
                _ if !with_normals => Vec::new(),
                GlbNormals::OfVertices => vertices.clone().map(|(vertex, _)| vertex).collect(),
                GlbNormals::OfCorners(of) => vertices.clone().map(|(_, corner)| of[corner]).collect(),
            },
            uvs: match attributes.uvs.is_empty() {
                true => Vec::new(),
                false => vertices.clone().map(uv).collect(),
            },
            colors: match attributes.colors.is_empty() {
                true => Vec::new(),
                false => {
                    vertices.map(|(vertex, _)| attributes.colors[vertex as usize].map(fraction)).collect()
                }
            },
            ..GlbPart::empty(surface, material)
        }
    }

    /// Whether two bytes are enough for an index; the largest number means something else.
    pub fn short_indices(&self) -> bool {
        self.vertices.len() <= usize::from(u16::MAX)
    }

    /// Whether it is the part that indices (0), texture coordinates (1) or colours (2) are written for.
    pub fn owns(&self, section: usize) -> bool {
        self.same[section] == self.number
    }

    /// Takes up positions and normals of a surface that moves as one.
    fn at_rest(mut self, surface: &GlbSurface<'_>) -> GlbPart {
        let Some([points, normals]) = surface.rest else { return self };
        let pick = |of: &[u32], from: &[[f32; 3]]| of.iter().map(|&v| from[v as usize]).collect::<Vec<_>>();
        let (points, normals) = (pick(&self.vertices, points), pick(&self.normals, normals));
        let (mut least, mut most) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for p in &points {
            for i in 0..3 {
                (least[i], most[i]) = (least[i].min(p[i]), most[i].max(p[i]));
            }
        }
        self.bounds[0] = [least, most];
        self.still = Some([points, normals]);
        self
    }

    /// Bytes of indices, texture coordinates, colours, positions at rest.
    pub fn fixed_bytes(&self) -> [u64; SECTIONS] {
        let index = if self.short_indices() { 2 } else { 4 };
        let indices = (index * self.indices.len() as u64).next_multiple_of(4);
        let still = self.still.iter().flatten().map(|t| 12 * t.len() as u64).sum();
        [indices, 8 * self.uvs.len() as u64, 16 * self.colors.len() as u64, still]
    }

    /// The bytes of one of these.
    pub fn fixed(&self, section: usize) -> Vec<u8> {
        let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect();
        match section {
            0 if self.short_indices() => {
                let mut out: Vec<u8> = self.indices.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect();
                out.resize(out.len().next_multiple_of(4), 0);
                out
            }
            0 => self.indices.iter().flat_map(|i| i.to_le_bytes()).collect(),
            1 => floats(self.uvs.as_flattened()),
            2 => floats(self.colors.as_flattened()),
            _ => self
                .still
                .iter()
                .flatten()
                .flat_map(|t| t.as_flattened())
                .flat_map(|x| x.to_le_bytes())
                .collect(),
        }
    }

    pub fn frame_bytes(&self) -> u64 {
        if self.still.is_some() {
            return 0;
        }
        12 * (self.vertices.len() + self.normals.len()) as u64
    }

    /// Appends positions and normals of a frame, as differences from the first one; false if they are not finite.
    pub fn frame(&mut self, k: usize, points: &[[f32; 3]], normals: &[[f32; 3]], out: &mut Vec<u8>) -> bool {
        out.reserve(self.frame_bytes() as usize);
        let bounds = put(&self.vertices, points, k, &mut self.first, out);
        put(&self.normals, normals, k, &mut self.first_normals, out);
        self.bounds[k] = bounds;
        bounds.as_flattened().iter().all(|x| x.is_finite())
    }
}

/// Appends `values` as `of` picks them, less `first`, which frame 0 becomes; gives their bounds.
fn put(
    of: &[u32],
    values: &[[f32; 3]],
    k: usize,
    first: &mut Vec<[f32; 3]>,
    out: &mut Vec<u8>,
) -> [[f32; 3]; 2] {
    if k == 0 {
        *first = of.iter().map(|&v| values[v as usize]).collect();
    }
    let (mut least, mut most) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for (&v, from) in of.iter().zip(first.iter()) {
        let mut value = values[v as usize];
        let mut bytes = [[0u8; 4]; 3];
        for i in 0..3 {
            if k > 0 {
                value[i] -= from[i];
            }
            least[i] = if value[i] < least[i] { value[i] } else { least[i] };
            most[i] = if value[i] > most[i] { value[i] } else { most[i] };
            bytes[i] = value[i].to_le_bytes();
        }
        out.extend_from_slice(bytes.as_flattened());
    }
    [least, most]
}
