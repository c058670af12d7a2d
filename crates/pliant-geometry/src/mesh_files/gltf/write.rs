//! GLB out, frame by frame: what does not move first, then positions and normals of each frame as they come.
//!
//! A moving surface becomes its first frame and one morph target per further frame, the difference from the first;
//! an animation of their weights fades from each frame to the next, so that between frames vertices go straight.
//! N frames take N·(N − 1) weights, but all surfaces with the same times share them, and they are fewer numbers
//! than the positions of one body while that has more than a third as many vertices as there are frames. Beyond
//! [`DENSE_UP_TO`] frames only those that are one are stored, as a sparse accessor; not always, as that is read by
//! Blender and three.js but not by everything.
//! A surface may be there for a part of the time only: outside of it its node has no size, which is how the specification
//! lets visibility be animated. Surfaces that have indices, texture coordinates or colours in common share them.
//! Normals move in the targets too: a viewer would light the first frame's otherwise. Only where they would make the
//! file larger than [`NORMALS_UP_TO`] they are left out altogether, and viewers shade faces flat.

use super::parts::{GlbNormals, GlbPart, SECTIONS, parts, share};
use super::write_json;
use crate::GeometryError;
use crate::poly::MeshAttributes;
use glam::DVec3;

/// A file with normals may be so large; one that would be larger goes without.
const NORMALS_UP_TO: u64 = 1 << 30;

/// A surface or cloud to be written.
#[derive(Clone, Copy, Debug)]
pub struct GlbSurface<'a> {
    /// Its name; may be empty.
    pub name: &'a str,
    /// Its faces and what is on them; without faces it is a cloud.
    pub attributes: &'a MeshAttributes,
    /// Vertices at rest: polygons are cut into triangles there.
    pub positions: &'a [DVec3],
    /// Whether frames come with normals.
    pub normals: GlbNormals<'a>,
    /// Positions and normals of a surface that moves as one: [`Glb::pose`] then says where its node is in each frame, and it has no
    /// frames of its own.
    pub rest: Option<[&'a [[f32; 3]]; 2]>,
    /// When each frame is, in seconds from zero up; a single one does not move.
    pub times: &'a [f64],
    /// The frame of the file that its first one is.
    pub begin: usize,
    /// Seconds from which on and up to which it is shown; `None` is always.
    pub shown: [Option<f64>; 2],
}

impl GlbSurface<'_> {
    /// How many frames of positions it has.
    pub(super) fn frames(&self) -> usize {
        if self.rest.is_some() { 1 } else { self.times.len().max(1) }
    }
}

/// A GLB file in the making: first [`Glb::head`], then [`Glb::fixed`], then all frames, then [`Glb::poses`], then `head` again in
/// place of the first, as the bounds that JSON must tell are known only now; it stays as long as it was.
#[derive(Debug)]
pub struct Glb {
    pub(super) surfaces: Vec<PlannedSurface>,
    pub(super) materials: write_json::Materials,
    pub(super) clips: Vec<Clip>,
    pub(super) visibilities: Vec<Visibility>,
    /// Times of nodes that move, each once.
    pub(super) walks: Vec<Vec<f32>>,
    /// Bytes of what parts have in common, of clips and the like, and of poses, which come last.
    pub(super) sections: [u64; SECTIONS],
    pub(super) clip_bytes: u64,
    pub(super) pose_bytes: u64,
    pub(super) frame_bytes: Vec<u64>,
    reserved: usize,
}

/// A surface as it is written.
#[derive(Debug)]
pub(super) struct PlannedSurface {
    pub name: String,
    pub parts: Vec<GlbPart>,
    /// Index of its clip, if it moves.
    pub clip: Option<usize>,
    /// If it moves as one: index of the times of its node, if there are several, and where that is.
    pub walk: Option<Walk>,
    /// Index of its life, if it is not always there.
    pub visibility: Option<usize>,
    /// Its first frame in the file, and how many it has.
    pub begin: usize,
    pub frames: usize,
}

/// How the node of a surface moves.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub times: Option<usize>,
    /// How many poses it is to have, and those known so far.
    pub count: usize,
    pub places: Vec<[f32; 3]>,
    pub turns: Vec<[f32; 4]>,
}

/// Bytes of a pose: a place and a turn.
const POSE: u64 = 28;

impl PlannedSurface {
    fn has(&self, frame: usize) -> bool {
        (self.begin..self.begin + self.frames).contains(&frame)
    }
}

/// When surfaces are there: from a time on their nodes have this scale.
#[derive(Debug, PartialEq)]
pub(super) struct Visibility {
    pub keys: Vec<(f32, f32)>,
}

impl Visibility {
    fn new([from, until]: [Option<f64>; 2]) -> Option<Visibility> {
        let from = from.map(|t| t as f32).filter(|t| *t > 0.0);
        let mut keys = vec![(0.0, if from.is_some() { 0.0 } else { 1.0 })];
        keys.extend(from.map(|t| (t, 1.0)));
        let last = keys[keys.len() - 1].0;
        keys.extend(until.map(|t| t as f32).filter(|t| *t > last).map(|t| (t, 0.0)));
        (keys.len() > 1).then_some(Visibility { keys })
    }

    fn bytes(&self) -> u64 {
        16 * self.keys.len() as u64
    }

    fn put<E>(&self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let times = self.keys.iter().map(|k| k.0);
        let scales = self.keys.iter().flat_map(|k| [k.1; 3]);
        put(&times.chain(scales).flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
    }
}

/// Times of frames that surfaces share.
#[derive(Debug, PartialEq)]
pub(super) struct Clip {
    pub times: Vec<f32>,
}

/// Weights of so many frames, 4 MB, are stored in full.
const DENSE_UP_TO: usize = 1024;
/// The weights of more frames could not be counted.
const MOST_FRAMES: usize = 1 << 16;

impl Clip {
    /// Whether only the weights that are one are stored.
    pub fn sparse(&self) -> bool {
        self.times.len() > DENSE_UP_TO
    }

    fn bytes(&self) -> u64 {
        let n = self.times.len() as u64;
        4 * if self.sparse() { n + 2 * (n - 1) } else { n + n * (n - 1) }
    }

    /// Hands out the weights: at frame k + 1 that of target k is one.
    fn weights<E>(&self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let targets = self.times.len() - 1;
        let one = 1.0f32.to_le_bytes();
        if self.sparse() {
            let place = |k: usize| ((k + 1) * targets + k) as u32;
            put(&(0..targets).flat_map(|k| place(k).to_le_bytes()).collect::<Vec<u8>>())?;
            return put(&one.repeat(targets));
        }
        let mut weights = vec![0u8; 4 * targets];
        put(&weights)?;
        for k in 0..targets {
            weights[4 * k..4 * k + 4].copy_from_slice(&one);
            put(&weights)?;
            weights[4 * k..4 * k + 4].fill(0);
        }
        Ok(())
    }
}

impl Glb {
    /// Plans a file. Each surface is to be given as many frames as it has times, at least one.
    pub fn new(surfaces: &[GlbSurface<'_>]) -> Result<Glb, GeometryError> {
        let planned = Glb::plan(surfaces, true)?;
        match planned.file_bytes() <= NORMALS_UP_TO {
            true => Ok(planned),
            false => Glb::plan(surfaces, false)?.fits(),
        }
    }

    fn plan(surfaces: &[GlbSurface<'_>], normals: bool) -> Result<Glb, GeometryError> {
        let mut glb = Glb {
            surfaces: Vec::with_capacity(surfaces.len()),
            materials: write_json::Materials::default(),
            clips: Vec::new(),
            visibilities: Vec::new(),
            walks: Vec::new(),
            sections: [0; SECTIONS],
            clip_bytes: 0,
            pose_bytes: 0,
            frame_bytes: Vec::new(),
            reserved: 0,
        };
        for surface in surfaces {
            surface.attributes.check(surface.positions.len()).map_err(|why| {
                GeometryError::new(
                    format!("\"{}\": {why}", surface.name),
                    "this cannot be written: mend the mesh",
                )
            })?;
            let parts = parts(surface, normals, &mut glb.materials);
            let clip = match surface.rest {
                Some(_) => None,
                None => glb.clip_of(surface)?,
            };
            let walk = match surface.rest {
                Some(_) => Some(glb.walk_of(surface)?),
                None => None,
            };
            let visibility = Visibility::new(surface.shown).map(|visibility| {
                glb.visibilities.iter().position(|l| *l == visibility).unwrap_or_else(|| {
                    glb.visibilities.push(visibility);
                    glb.visibilities.len() - 1
                })
            });
            glb.surfaces.push(PlannedSurface {
                name: surface.name.into(),
                parts,
                clip,
                walk,
                visibility,
                begin: surface.begin,
                frames: surface.frames(),
            });
        }
        share(glb.surfaces.iter_mut().flat_map(|s| &mut s.parts));
        for part in glb.surfaces.iter().flat_map(|s| &s.parts) {
            let bytes = part.fixed_bytes();
            for section in (0..SECTIONS).filter(|&section| part.owns(section)) {
                glb.sections[section] += bytes[section];
            }
        }
        let walks = glb.walks.iter().map(|times| 4 * times.len() as u64);
        let visibilities = glb.visibilities.iter().map(Visibility::bytes);
        glb.clip_bytes = glb.clips.iter().map(Clip::bytes).chain(visibilities).chain(walks).sum();
        let animated = glb.surfaces.iter().filter_map(|s| s.walk.as_ref()).filter(|w| w.times.is_some());
        glb.pose_bytes = animated.map(|w| POSE * w.count as u64).sum();
        let frames = glb.surfaces.iter().map(|s| s.begin + s.frames).max().unwrap_or(0);
        glb.frame_bytes = (0..frames)
            .map(|k| {
                glb.surfaces
                    .iter()
                    .filter(|s| s.has(k))
                    .flat_map(|s| &s.parts)
                    .map(GlbPart::frame_bytes)
                    .sum()
            })
            .collect();
        // Bounds are zeros by now and may become as long as numbers get.
        glb.reserved =
            (write_json::json(&glb).len() + glb.unknown() * write_json::LONGEST).next_multiple_of(4);
        Ok(glb)
    }

    /// The times of a surface's frames, if there are several.
    fn times_of(surface: &GlbSurface<'_>) -> Result<Option<Vec<f32>>, GeometryError> {
        let times: Vec<f32> = surface.times.iter().map(|&t| t as f32).collect();
        if times.len() < 2 {
            return Ok(None);
        }
        let rising = times.windows(2).all(|w| w[0] < w[1]);
        if !rising || !times.iter().all(|t| t.is_finite() && *t >= 0.0) {
            return Err(GeometryError::new(
                format!("\"{}\": the times of its frames do not rise from zero", surface.name),
                "give every frame a time of its own, in seconds",
            ));
        }
        Ok(Some(times))
    }

    /// How the node of a surface is to move.
    fn walk_of(&mut self, surface: &GlbSurface<'_>) -> Result<Walk, GeometryError> {
        let count = surface.times.len().max(1);
        let Some(times) = Glb::times_of(surface)? else { return Ok(Walk { count, ..Walk::default() }) };
        let known = self.walks.iter().position(|w| *w == times).unwrap_or_else(|| {
            self.walks.push(times);
            self.walks.len() - 1
        });
        Ok(Walk { times: Some(known), count, ..Walk::default() })
    }

    /// Numbers the clip of a surface that moves.
    fn clip_of(&mut self, surface: &GlbSurface<'_>) -> Result<Option<usize>, GeometryError> {
        let Some(times) = Glb::times_of(surface)? else { return Ok(None) };
        let clip = Clip { times };
        if clip.times.len() > MOST_FRAMES {
            return Err(GeometryError::new(
                format!("\"{}\": {} frames are too many for morph targets", surface.name, clip.times.len()),
                "export fewer frames, or to .usda",
            ));
        }
        if let Some(known) = self.clips.iter().position(|c| *c == clip) {
            return Ok(Some(known));
        }
        self.clips.push(clip);
        Ok(Some(self.clips.len() - 1))
    }

    fn fits(self) -> Result<Glb, GeometryError> {
        match u32::try_from(self.file_bytes()) {
            Ok(_) => Ok(self),
            Err(_) => Err(GeometryError::new(
                format!("{} bytes are more than the 4 GiB a GLB file can have", self.file_bytes()),
                "export fewer frames, or to .usda",
            )),
        }
    }

    /// How many bytes the file will have.
    pub(crate) fn file_bytes(&self) -> u64 {
        28 + self.reserved as u64 + self.data_bytes()
    }

    pub(super) fn data_bytes(&self) -> u64 {
        self.sections.iter().chain(&self.frame_bytes).sum::<u64>() + self.clip_bytes + self.pose_bytes
    }

    /// How many numbers of the JSON part are known only in the end: bounds of frames, and where nodes begin.
    fn unknown(&self) -> usize {
        let bounds: usize = self.surfaces.iter().map(|s| s.parts.len() * s.frames).sum();
        6 * bounds + 7 * self.surfaces.iter().filter(|s| s.walk.is_some()).count()
    }

    /// Whether frames need normals.
    pub fn has_normals(&self) -> bool {
        self.surfaces.iter().flat_map(|s| &s.parts).any(|p| !p.normals.is_empty())
    }

    /// All bytes before the data.
    pub fn head(&self) -> Vec<u8> {
        let mut json = write_json::json(self).into_bytes();
        debug_assert!(json.len() <= self.reserved);
        json.resize(self.reserved, b' ');
        let words = |out: &mut Vec<u8>, length: u64, kind: &[u8]| {
            out.extend_from_slice(&(length as u32).to_le_bytes());
            out.extend_from_slice(kind);
        };
        let mut out = Vec::with_capacity(json.len() + 28);
        out.extend_from_slice(super::container::MAGIC);
        words(&mut out, 2, &(self.file_bytes() as u32).to_le_bytes());
        words(&mut out, json.len() as u64, super::container::JSON_CHUNK);
        out.append(&mut json);
        words(&mut out, self.data_bytes(), super::container::BYTES_CHUNK);
        out
    }

    /// Hands out what does not move, in pieces.
    pub fn fixed<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for section in 0..SECTIONS {
            for part in self.surfaces.iter().flat_map(|s| &s.parts).filter(|p| p.owns(section)) {
                put(&part.fixed(section))?;
            }
        }
        for clip in &self.clips {
            put(&clip.times.iter().flat_map(|t| t.to_le_bytes()).collect::<Vec<u8>>())?;
            clip.weights(&mut put)?;
        }
        for visibility in &self.visibilities {
            visibility.put(&mut put)?;
        }
        for times in &self.walks {
            put(&times.iter().flat_map(|t| t.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        Ok(())
    }

    /// Takes the next pose of a surface that moves as one: the place and the turn (x, y, z, w) of its node.
    pub fn pose(&mut self, surface: usize, place: [f32; 3], turn: [f32; 4]) -> Result<(), GeometryError> {
        let PlannedSurface { name, walk, .. } = &mut self.surfaces[surface];
        let Some(walk) = walk.as_mut().filter(|w| w.places.len() < w.count) else {
            return Err(GeometryError::new(
                format!("\"{name}\": a pose too many"),
                "give one for each of its times, of surfaces that move as one",
            ));
        };
        // The short way round from one to the next.
        let before = walk.turns.last().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let along: f32 = before.iter().zip(turn).map(|(a, b)| a * b).sum();
        walk.places.push(place);
        walk.turns.push(if along < 0.0 { turn.map(|x| -x) } else { turn });
        Ok(())
    }

    /// Hands out all poses, after all frames.
    pub fn poses<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for walk in self.surfaces.iter().filter_map(|s| s.walk.as_ref()).filter(|w| w.times.is_some()) {
            let mut bytes: Vec<u8> =
                walk.places.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
            bytes.resize(12 * walk.count, 0);
            bytes.extend(walk.turns.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            bytes.resize(POSE as usize * walk.count, 0);
            put(&bytes)?;
        }
        Ok(())
    }

    /// The bytes of the `k`-th frame of a surface, in place of what `out` held. The data has all surfaces of the file's
    /// first frame, then those of the second that have one, and so on; the first of a surface must be known before any
    /// other of it.
    pub fn frame(
        &mut self,
        k: usize,
        surface: usize,
        points: &[[f32; 3]],
        normals: &[[f32; 3]],
        out: &mut Vec<u8>,
    ) -> Result<(), GeometryError> {
        out.clear();
        let PlannedSurface { name, parts, .. } = &mut self.surfaces[surface];
        for part in parts {
            if !part.frame(k, points, normals, out) {
                return Err(GeometryError::new(
                    format!(
                        "\"{name}\", frame {k}: a position or its displacement from the first frame is no finite number"
                    ),
                    "export the frames before it",
                ));
            }
        }
        Ok(())
    }
}
