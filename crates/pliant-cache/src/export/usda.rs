//! Animated USD as text: a mesh (or points) per body with time-sampled points, normals and extents.
//!
//! USD wants all samples of an attribute together, the log holds all attributes of a frame
//! together. So a first pass over the log writes f32 blocks of fixed size to a spool file beside
//! the target, and a second picks from it attribute by attribute: memory stays at one frame of one
//! body, the log is decoded once, and no number of bodies exhausts open files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use pliant_geometry::TriMesh;

use super::{ExportOptions, ExportSummary, Progress, chosen_bodies, short_normal, to_f32};
use crate::atomic::{AtomicFile, beside};
use crate::{CacheError, LogBody, LogReader};

/// Text is handed to the file in pieces of about this size.
const PIECE: usize = 1 << 18;

pub(super) fn write(
    reader: &LogReader,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let frames = options.frames.positions(reader)?;
    let bodies = chosen_bodies(reader, options)?;
    let steps = frames.len() + bodies.len();

    let mut file = AtomicFile::create(path)?;
    let mut spool = Spool::create(path, &bodies)?;
    let mut codes = Vec::with_capacity(frames.len());
    let (mut mesh, mut points, mut normals, mut normals32) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (done, &k) in frames.iter().enumerate() {
        let frame = reader.frame(k)?;
        for body in &bodies {
            body.vertices(&frame, &mut mesh);
            to_f32(body, frame.index, &mesh, &mut points)?;
            spool.put(&points)?;
            if !body.is_point_cloud() {
                TriMesh::vertex_normals(&mesh, &body.mesh.triangles, &mut normals);
                normals32.clear();
                normals32.extend(normals.iter().map(|n| short_normal(*n)));
                spool.put(&normals32)?;
            }
        }
        codes.push(frame.index);
        progress(done + 1, steps);
    }
    spool.rewind()?;

    let names = prim_names(&bodies);
    file.put(stage_start(reader, &codes).as_bytes())?;
    for (b, body) in bodies.iter().enumerate() {
        let body_out = BodyOut { body, name: &names[b], place: b, codes: &codes };
        body_out.write(&mut spool, &mut file)?;
        progress(frames.len() + b + 1, steps);
    }
    file.put(materials(&bodies, &names).as_bytes())?;
    file.put(b"}\n")?;
    Ok(ExportSummary {
        path: path.to_path_buf(),
        files: 1,
        frames: frames.len(),
        vertices: bodies.iter().map(|b| b.mesh.positions.len()).sum(),
        bytes: file.commit()?,
    })
}

/// Layer metadata and the opening of the root prim.
fn stage_start(reader: &LogReader, codes: &[u32]) -> String {
    let header = reader.header();
    let first = codes.first().copied().unwrap_or(0);
    let last = codes.last().copied().unwrap_or(0);
    let fps = header.frames_per_second;
    format!(
        "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = {}\n    endTimeCode = {last}\n    \
         framesPerSecond = {fps}\n    metersPerUnit = 1\n    startTimeCode = {first}\n    \
         timeCodesPerSecond = {fps}\n    upAxis = \"Y\"\n)\n\ndef Xform \"World\"\n{{\n",
        quoted(&format!("Simulated by {}. Time codes are frame numbers.", header.program)),
    )
}

/// One material per body, under the root so that a reference to it brings them along.
fn materials(bodies: &[&LogBody], names: &[String]) -> String {
    let mut text = String::from("    def Scope \"Materials\"\n    {\n");
    for (body, name) in bodies.iter().zip(names) {
        let [r, g, b] = body.color;
        let _ = write!(
            text,
            "        def Material \"{name}\"\n        {{\n            \
             token outputs:surface.connect = </World/Materials/{name}/Surface.outputs:surface>\n\n            \
             def Shader \"Surface\"\n            {{\n                \
             uniform token info:id = \"UsdPreviewSurface\"\n                \
             color3f inputs:diffuseColor = ({r}, {g}, {b})\n                \
             float inputs:metallic = 0\n                \
             float inputs:roughness = 0.5\n                \
             token outputs:surface\n            }}\n        }}\n\n"
        );
    }
    text.push_str("    }\n");
    text
}

/// A body as it is written.
struct BodyOut<'a> {
    body: &'a LogBody,
    name: &'a str,
    /// Its place among the exported bodies, as the spool counts.
    place: usize,
    /// Time code of each sample.
    codes: &'a [u32],
}

/// Which block of a body and frame in the spool.
#[derive(Clone, Copy)]
enum Block {
    Points,
    Normals,
}

impl BodyOut<'_> {
    fn write(&self, spool: &mut Spool, file: &mut AtomicFile) -> Result<(), CacheError> {
        let body = self.body;
        let (name, cloud) = (self.name, body.is_point_cloud());
        let mut text = String::new();
        let _ = write!(
            text,
            "    def {} \"{name}\" (\n        displayName = {}\n        \
             prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {{\n",
            if cloud { "Points" } else { "Mesh" },
            quoted(&body.name)
        );
        if !cloud {
            text.push_str("        uniform bool doubleSided = 1\n");
        }
        let width = if cloud { point_width(body) } else { 0.0 };
        self.extents(spool, &mut text, file, width / 2.0)?;
        if !cloud {
            text.push_str("        int[] faceVertexCounts = [");
            list(&mut text, file, body.mesh.triangles.iter(), |out, _| out.push('3'))?;
            text.push_str("]\n        int[] faceVertexIndices = [");
            list(&mut text, file, body.mesh.triangles.as_flattened().iter(), |out, v| {
                let _ = write!(out, "{v}");
            })?;
            text.push_str("]\n");
        }
        let _ = writeln!(text, "        rel material:binding = </World/Materials/{name}>");
        if !cloud {
            text.push_str(
                "        normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n",
            );
            self.samples(spool, &mut text, file, "normal3f[] normals", Block::Normals)?;
        }
        self.samples(spool, &mut text, file, "point3f[] points", Block::Points)?;
        let [r, g, b] = body.color;
        let _ = write!(
            text,
            "        color3f[] primvars:displayColor = [({r}, {g}, {b})] (\n            \
             interpolation = \"constant\"\n        )\n"
        );
        if cloud {
            // One per point although they are equal: USD computes no bounds from a constant width.
            text.push_str("        float[] widths = [");
            list(&mut text, file, body.mesh.positions.iter(), |out, _| {
                let _ = write!(out, "{width}");
            })?;
            text.push_str("] (\n            interpolation = \"vertex\"\n        )\n");
        } else {
            text.push_str("        uniform token subdivisionScheme = \"none\"\n");
        }
        text.push_str("    }\n\n");
        file.put(text.as_bytes())
    }

    /// A time-sampled array of triples.
    fn samples(
        &self,
        spool: &mut Spool,
        text: &mut String,
        file: &mut AtomicFile,
        attribute: &str,
        block: Block,
    ) -> Result<(), CacheError> {
        let _ = writeln!(text, "        {attribute}.timeSamples = {{");
        let mut triples = Vec::new();
        for (sample, code) in self.codes.iter().enumerate() {
            spool.get(sample, self.place, block, &mut triples)?;
            let _ = write!(text, "            {code}: [");
            list(text, file, triples.iter(), |out, [x, y, z]| {
                let _ = write!(out, "({x}, {y}, {z})");
            })?;
            text.push_str("],\n");
        }
        text.push_str("        }\n");
        Ok(())
    }

    /// Time-sampled bounds, grown by `pad` for the size of points.
    fn extents(
        &self,
        spool: &mut Spool,
        text: &mut String,
        file: &mut AtomicFile,
        pad: f32,
    ) -> Result<(), CacheError> {
        if self.body.mesh.positions.is_empty() {
            return Ok(());
        }
        text.push_str("        float3[] extent.timeSamples = {\n");
        let mut triples = Vec::new();
        for (sample, code) in self.codes.iter().enumerate() {
            spool.get(sample, self.place, Block::Points, &mut triples)?;
            let mut low = [f32::INFINITY; 3];
            let mut high = [f32::NEG_INFINITY; 3];
            for p in &triples {
                for k in 0..3 {
                    low[k] = low[k].min(p[k] - pad);
                    high[k] = high[k].max(p[k] + pad);
                }
            }
            let ([a, b, c], [d, e, f]) = (low, high);
            let _ = writeln!(text, "            {code}: [({a}, {b}, {c}), ({d}, {e}, {f})],");
            drain(text, file)?;
        }
        text.push_str("        }\n");
        Ok(())
    }
}

/// Appends items with commas, handing text on whenever a piece is full.
fn list<T>(
    text: &mut String,
    file: &mut AtomicFile,
    items: impl Iterator<Item = T>,
    put: impl Fn(&mut String, T),
) -> Result<(), CacheError> {
    for (k, item) in items.enumerate() {
        if k > 0 {
            text.push_str(", ");
        }
        put(text, item);
        drain(text, file)?;
    }
    Ok(())
}

/// Hands text on once there is enough of it.
fn drain(text: &mut String, file: &mut AtomicFile) -> Result<(), CacheError> {
    if text.len() >= PIECE {
        file.put(text.as_bytes())?;
        text.clear();
    }
    Ok(())
}

/// A USD string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Names USD accepts as prim names, unique also against our own `Materials`.
fn prim_names(bodies: &[&LogBody]) -> Vec<String> {
    let mut taken = BTreeSet::from(["Materials".to_string()]);
    bodies
        .iter()
        .map(|body| {
            let mut base: String =
                body.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            if base.is_empty() {
                base.push_str("body");
            }
            if base.starts_with(|c: char| c.is_ascii_digit()) {
                base.insert(0, '_');
            }
            let mut name = base.clone();
            let mut count = 2;
            while !taken.insert(name.clone()) {
                name = format!("{base}_{count}");
                count += 1;
            }
            name
        })
        .collect()
}

/// Diameter at which the points of a cloud about fill the space they take up at rest.
pub(super) fn point_width(body: &LogBody) -> f32 {
    let count = body.mesh.positions.len().max(1) as f64;
    let Some((low, high)) = TriMesh::bounds(&body.mesh.positions) else {
        return 0.01;
    };
    // Flat and line-like clouds have no volume: take the mean over the axes they have.
    let size = high - low;
    let axes: Vec<f64> = size.to_array().into_iter().filter(|&s| s > 1e-6 * size.max_element()).collect();
    let width = (axes.iter().product::<f64>() / count).powf(1.0 / axes.len().max(1) as f64) as f32;
    if !axes.is_empty() && width.is_finite() && width > 0.0 { width } else { 0.01 }
}

/// f32 blocks of all frames in a temporary file, removed when dropped.
struct Spool {
    target: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    /// Where the blocks of each body start within a frame, in bytes.
    starts: Vec<u64>,
    /// Vertices of each body.
    counts: Vec<usize>,
    frame_bytes: u64,
    buffer: Vec<u8>,
}

impl Spool {
    fn create(target: &Path, bodies: &[&LogBody]) -> Result<Spool, CacheError> {
        let path = beside(target, ".spool.tmp");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(|e| CacheError::io(&path, "create the temporary file", e))?;
        let counts: Vec<usize> = bodies.iter().map(|b| b.mesh.positions.len()).collect();
        let mut frame_bytes = 0;
        let mut starts = Vec::new();
        for (body, &count) in bodies.iter().zip(&counts) {
            starts.push(frame_bytes);
            let blocks = if body.is_point_cloud() { 1 } else { 2 };
            frame_bytes += 12 * count as u64 * blocks;
        }
        Ok(Spool {
            target: target.to_path_buf(),
            path,
            file: BufWriter::with_capacity(1 << 18, file),
            starts,
            counts,
            frame_bytes,
            buffer: Vec::new(),
        })
    }

    fn put(&mut self, triples: &[[f32; 3]]) -> Result<(), CacheError> {
        self.buffer.clear();
        for value in triples.as_flattened() {
            self.buffer.extend_from_slice(&value.to_le_bytes());
        }
        self.file
            .write_all(&self.buffer)
            .map_err(|e| CacheError::io(&self.target, "write the temporary file beside it", e))
    }

    /// From writing to reading.
    fn rewind(&mut self) -> Result<(), CacheError> {
        self.file.flush().map_err(|e| CacheError::io(&self.target, "write the temporary file beside it", e))
    }

    fn get(
        &mut self,
        sample: usize,
        body: usize,
        block: Block,
        triples: &mut Vec<[f32; 3]>,
    ) -> Result<(), CacheError> {
        let bytes = 12 * self.counts[body];
        let skip = match block {
            Block::Points => 0,
            Block::Normals => bytes as u64,
        };
        let offset = sample as u64 * self.frame_bytes + self.starts[body] + skip;
        self.buffer.resize(bytes, 0);
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(&mut self.buffer))
            .map_err(|e| CacheError::io(&self.path, "read the temporary file", e))?;
        triples.clear();
        triples.extend(
            self.buffer.as_chunks::<4>().0.as_chunks::<3>().0.iter().map(|t| t.map(f32::from_le_bytes)),
        );
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
