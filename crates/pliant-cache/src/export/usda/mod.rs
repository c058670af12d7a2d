//! Animated USD: a mesh (or points) per body with everything it wears, as text or as a package of it.
//!
//! USD wants all samples of an attribute together, the log holds all attributes of a frame
//! together. So a first pass over the log writes f32 blocks of fixed size to a spool file beside
//! the target, and a second picks from it attribute by attribute: memory stays at one frame of one
//! body, the log is decoded once, and no number of bodies exhausts open files.

mod body;
mod materials;
mod spool;
mod text;
mod zip;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use body::{Block, Prim, extent, scaled_width};
use spool::Spool;
use text::{Text, quoted};
use zip::Package;

use super::materials::Wardrobe;
use super::names::{Style, unique};
use super::stream::{Normals, Stream, StreamBody};
use super::{Conversion, ExportOptions, ExportSummary, Progress};
use crate::atomic::AtomicFile;
use crate::export::Footage;
use crate::{CacheError, LogBody, LogHeader};

/// `.usda`: text.
pub(super) fn write(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let file = AtomicFile::create(path)?;
    let stage = Stage::new(reader, path, options, true)?;
    let (text, summary) = stage.write(Text::new(file), progress)?;
    let (file, _, _) = text.finish()?;
    Ok(ExportSummary { bytes: file.commit()?, ..summary })
}

/// `.usdz`: the same text in a package. It has to hold all it names, so textures are left out.
pub(super) fn write_package(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let stem = path.file_stem().map(|s| s.to_string_lossy().to_string()).unwrap_or_default();
    let name = unique([stem.as_str()], Style::Identifier, "run", &[]).concat();
    // A zip counts the bytes of names in 16 bits.
    let name: String = name.chars().take(200).chain(".usda".chars()).collect();
    let mut file = AtomicFile::create(path)?;
    let package = Package::begin(&mut file, name)?;
    let stage = Stage::new(reader, path, options, false)?;
    let (text, summary) = stage.write(Text::new(file), progress)?;
    let (mut file, size, crc) = text.finish()?;
    package.end(&mut file, path, size, crc)?;
    Ok(ExportSummary { bytes: file.commit()?, ..summary })
}

/// A scene on its way into a file.
struct Stage<'a> {
    reader: &'a Footage<'a>,
    path: &'a Path,
    stream: Stream<'a>,
    conversion: Conversion,
    /// Whether materials may name files beside this one.
    textures: bool,
}

impl<'a> Stage<'a> {
    fn new(
        reader: &'a Footage<'a>,
        path: &'a Path,
        options: &ExportOptions,
        textures: bool,
    ) -> Result<Stage<'a>, CacheError> {
        let stream = Stream::new(reader, options)?;
        Ok(Stage { reader, path, stream, conversion: options.conversion, textures })
    }

    fn write(self, mut text: Text, progress: Progress<'_>) -> Result<(Text, ExportSummary), CacheError> {
        let steps = self.stream.frames.len() + self.stream.bodies.len();
        let (mut spool, codes) = self.fill_spool(&mut |done| progress(done, steps))?;
        let bodies = &self.stream.bodies;
        let taken = ["Materials", "Shapes"];
        let names = unique(bodies.iter().map(|b| b.name), Style::Identifier, "body", &taken);
        let wardrobe = Wardrobe::new(self.stream.versions().map(|v| v.body));
        let material_names = unique(
            wardrobe.materials.iter().map(|m| m.material.name.as_str()),
            Style::Identifier,
            "material",
            &[],
        );
        let (classes, class_names) = shared_shapes(bodies);
        let mut of_versions = &wardrobe.of_bodies[..];
        let mut prims = Vec::with_capacity(bodies.len());
        for (place, body) in bodies.iter().enumerate() {
            let materials;
            (materials, of_versions) = of_versions.split_at(body.versions.len());
            let class = classes[place].map(|c| class_names[c].as_str());
            let (name, scale) = (names[place].as_str(), self.conversion.scale);
            let (codes, material_names) = (&codes[..], &material_names[..]);
            prims.push(Prim { body, name, place, codes, materials, material_names, class, scale });
        }

        self.start(&mut text, &codes);
        for (place, prim) in prims.iter().enumerate() {
            prim.write(&mut spool, &mut text)?;
            progress(codes.len() + place + 1, steps);
        }
        if !class_names.is_empty() {
            text.put("    class Scope \"Shapes\"\n    {\n");
            for (c, name) in class_names.iter().enumerate() {
                if let Some(place) = classes.iter().position(|of| *of == Some(c)) {
                    prims[place].write_class(name, &mut text)?;
                }
            }
            text.put("    }\n\n");
        }
        materials::write(&mut text, &wardrobe.materials, &material_names, self.textures);
        text.put("}\n");
        let summary = self.stream.summary(self.path, 0);
        Ok((text, summary))
    }

    /// All frames as blocks, and their time codes.
    fn fill_spool(&self, done: &mut dyn FnMut(usize)) -> Result<(Spool, Vec<u32>), CacheError> {
        let mut spool = Spool::create(self.path)?;
        let mut codes = Vec::new();
        self.stream.each_frame(Normals::Short, |_, loaded| {
            let block = |body: usize, block: Block| body * Block::COUNT + block as usize;
            let blocks = loaded.bodies.iter().flat_map(|s| {
                [
                    (block(s.body, Block::Extent), 2),
                    (block(s.body, Block::Points), s.points.len()),
                    (block(s.body, Block::Normals), s.normals.len()),
                ]
            });
            spool.begin_frame(&blocks.collect::<Vec<_>>());
            for shown in &loaded.bodies {
                let version = &self.stream.bodies[shown.body].versions[shown.version];
                let pad = scaled_width(version.body, self.conversion.scale) / 2.0;
                spool.put(&extent(&shown.points, pad))?;
                spool.put(&shown.points)?;
                spool.put(&shown.normals)?;
            }
            codes.push(loaded.frame.index);
            done(codes.len());
            Ok(())
        })?;
        spool.rewind()?;
        Ok((spool, codes))
    }

    /// Layer metadata and the opening of the root prim.
    fn start(&self, text: &mut Text, codes: &[u32]) {
        let header: &LogHeader = self.reader.header();
        let first = codes.first().copied().unwrap_or(0);
        let last = codes.last().copied().unwrap_or(0);
        let fps = self.reader.frames_per_second();
        let Conversion { scale, z_up, .. } = self.conversion;
        write!(
            text,
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = {}\n    endTimeCode = {last}\n    \
             framesPerSecond = {fps}\n    metersPerUnit = {}\n    startTimeCode = {first}\n    \
             timeCodesPerSecond = {fps}\n    upAxis = \"{}\"\n)\n\ndef Xform \"World\"\n{{\n",
            quoted(&format!("Simulated by {}. Time codes are frame numbers.", header.program)),
            1.0 / scale,
            if z_up { 'Z' } else { 'Y' },
        );
    }
}

/// For each body the number of the shape it shares with others, and names for those shapes. Only bodies that are never
/// torn share.
fn shared_shapes(bodies: &[StreamBody<'_>]) -> (Vec<Option<usize>>, Vec<String>) {
    let key = |b: &StreamBody<'_>| {
        let LogBody { mesh, coat, .. } = b.first().body;
        (b.versions.len() == 1).then_some((Arc::as_ptr(mesh), Arc::as_ptr(coat)))
    };
    let mut users: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, body) in bodies.iter().enumerate() {
        key(body).into_iter().for_each(|key| users.entry(key).or_default().push(place));
    }
    let mut shared: Vec<Vec<usize>> = users.into_values().filter(|places| places.len() > 1).collect();
    shared.sort_unstable();
    let mut classes = vec![None; bodies.len()];
    for (c, places) in shared.iter().enumerate() {
        places.iter().for_each(|&place| classes[place] = Some(c));
    }
    let names = unique(shared.iter().map(|places| bodies[places[0]].name), Style::Identifier, "shape", &[]);
    (classes, names)
}
