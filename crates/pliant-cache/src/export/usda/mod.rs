//! Animated USD: a mesh (or points) per body with all its attributes, as text or as a package of it.
//!
//! USD wants all samples of an attribute together, the log holds all attributes of a frame
//! together. So frames go as f32 blocks of fixed size to a spool file beside
//! the target, and in the end these are picked from it attribute by attribute: memory stays at one frame of one
//! body, the log is decoded once, and no number of bodies exhausts open files.

mod body;
mod materials;
mod spool;
mod text;
mod zip;

use super::materials::MaterialTable;
use super::names::{NameStyle, unique};
use super::sink::{ExportOrder, FrameOutput, FrameWriter, Sink, SurfaceEncoder};
use super::stream::{ConvertedSurface, ExportStream, NormalPrecision, StreamBody, SurfaceOptions};
use super::{Conversion, ExportSummary};
use crate::atomic::AtomicFile;
use crate::export::ResampledLog;
use crate::{CacheError, LogBody, LogHeader};
use body::{FrameBlock, Prim, extent, scaled_width};
use spool::{POSE, Spool};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use text::{Text, quoted};
use zip::Package;

/// `.usda`: text.
pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let file = AtomicFile::create(order.folder, &order.path)?;
    UsdStage::begin(order, Text::new(file), None)
}

/// `.usdz`: the same text in a package. It has to hold all it names, so textures are left out.
pub(super) fn begin_package<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let stem = order.path.file_stem().map(|s| s.to_string_lossy().to_string()).unwrap_or_default();
    let name = unique([stem.as_str()], NameStyle::Identifier, "run", &[]).concat();
    // A zip counts the bytes of names in 16 bits.
    let name: String = name.chars().take(200).chain(".usda".chars()).collect();
    let mut file = AtomicFile::create(order.folder, &order.path)?;
    let package = Package::begin(&mut file, name)?;
    UsdStage::begin(order, Text::new(file), Some(package))
}

/// A scene on its way into a file.
struct UsdStage<'a> {
    reader: &'a ResampledLog<'a>,
    stream: &'a ExportStream<'a>,
    path: PathBuf,
    options: SurfaceOptions,
    text: Text,
    /// The package that the text is in.
    package: Option<Package>,
    spool: Spool,
    /// Time codes of the frames in the spool.
    codes: Vec<u32>,
}

impl<'a> UsdStage<'a> {
    fn begin(order: ExportOrder<'a>, text: Text, package: Option<Package>) -> Result<Sink<'a>, CacheError> {
        let ExportOrder { reader, stream, path, conversion, folder, .. } = order;
        let spool = Spool::create(folder, &path)?;
        let normals = NormalPrecision::Short;
        let options = SurfaceOptions { poses: true, ..SurfaceOptions::baked(conversion, normals, false) };
        let stage = UsdStage { reader, stream, path, options, text, package, spool, codes: Vec::new() };
        let make = SurfaceEncoder { stream, options };
        Ok(Sink { make: Box::new(make), put: Box::new(stage) })
    }
}

impl FrameWriter for UsdStage<'_> {
    /// All frames as blocks, to be picked from attribute by attribute.
    fn put(&mut self, _: usize, made: FrameOutput) -> Result<(), CacheError> {
        let loaded = made.surfaces()?;
        let block = |body: usize, block: FrameBlock| body * FrameBlock::COUNT + block as usize;
        let blocks = loaded.bodies.iter().flat_map(|s| {
            let posed = s.pose.is_some();
            [
                (block(s.body, FrameBlock::Extent), if posed { 0 } else { 2 }),
                (block(s.body, FrameBlock::Points), if posed { POSE } else { s.points.len() }),
                (block(s.body, FrameBlock::NormalPrecision), s.normals.len()),
            ]
        });
        self.spool.begin_frame(&blocks.collect::<Vec<_>>());
        for shown in &loaded.bodies {
            if let Some(pose) = &shown.pose {
                self.spool.put_pose(pose)?;
                continue;
            }
            let version = &self.stream.bodies[shown.body].versions[shown.version];
            let pad = scaled_width(version.body, self.options.conversion.scale) / 2.0;
            self.spool.put(&extent(&shown.points, pad))?;
            self.spool.put(&shown.points)?;
            self.spool.put(&shown.normals)?;
        }
        self.codes.push(loaded.index);
        Ok(())
    }

    fn steps(&self) -> usize {
        self.stream.bodies.len()
    }

    fn finish(mut self: Box<Self>, step: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        self.spool.rewind()?;
        self.start();
        let UsdStage { stream, path, options, mut text, package, mut spool, codes, .. } = *self;
        let bodies = &stream.bodies;
        let taken = ["Materials", "Shapes"];
        let names = unique(bodies.iter().map(|b| b.name), NameStyle::Identifier, "body", &taken);
        let table = MaterialTable::new(stream.versions().map(|v| v.body));
        let material_names = unique(
            table.materials.iter().map(|m| m.material.name.as_str()),
            NameStyle::Identifier,
            "material",
            &[],
        );
        let (classes, class_names) = shared_shapes(bodies);
        let at_rest = |(b, body): (usize, &StreamBody<'_>)| {
            body.moves_as_one().then(|| stream.at_rest(b, options)).transpose()
        };
        let rests: Vec<Option<ConvertedSurface>> =
            bodies.iter().enumerate().map(at_rest).collect::<Result<_, _>>()?;
        let mut of_versions = &table.of_bodies[..];
        let mut prims = Vec::with_capacity(bodies.len());
        for (place, body) in bodies.iter().enumerate() {
            let materials;
            (materials, of_versions) = of_versions.split_at(body.versions.len());
            let class = classes[place].map(|c| class_names[c].as_str());
            let (name, scale) = (names[place].as_str(), options.conversion.scale);
            let rest = rests[place].as_ref();
            let (codes, material_names) = (&codes[..], &material_names[..]);
            prims.push(Prim { body, name, place, codes, materials, material_names, class, scale, rest });
        }
        for prim in &prims {
            prim.write(&mut spool, &mut text)?;
            step();
        }
        write_classes(&prims, &classes, &class_names, &mut text)?;
        materials::write(&mut text, &table.materials, &material_names, package.is_none());
        text.put("}\n");
        let (mut file, size, crc) = text.finish()?;
        if let Some(package) = package {
            package.end(&mut file, &path, size, crc)?;
        }
        Ok(stream.summary(&path, file.commit()?))
    }
}

/// The shapes that several bodies share.
fn write_classes(
    prims: &[Prim<'_>],
    classes: &[Option<usize>],
    names: &[String],
    text: &mut Text,
) -> Result<(), CacheError> {
    if names.is_empty() {
        return Ok(());
    }
    text.put("    class Scope \"Shapes\"\n    {\n");
    for (c, name) in names.iter().enumerate() {
        if let Some(place) = classes.iter().position(|of| *of == Some(c)) {
            prims[place].write_class(name, text)?;
        }
    }
    text.put("    }\n\n");
    Ok(())
}

impl UsdStage<'_> {
    /// Layer metadata and the opening of the root prim.
    fn start(&mut self) {
        let header: &LogHeader = self.reader.header();
        let first = self.codes.first().copied().unwrap_or(0);
        let last = self.codes.last().copied().unwrap_or(0);
        let fps = self.reader.frames_per_second();
        let Conversion { scale, z_up, .. } = self.options.conversion;
        write!(
            self.text,
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
        let LogBody { mesh, attributes, .. } = b.first().body;
        (b.versions.len() == 1).then_some((Arc::as_ptr(mesh), Arc::as_ptr(attributes), b.moves_as_one()))
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
    let names =
        unique(shared.iter().map(|places| bodies[places[0]].name), NameStyle::Identifier, "shape", &[]);
    (classes, names)
}
