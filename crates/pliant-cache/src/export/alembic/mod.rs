//! Alembic archives (Ogawa): a polygon mesh or points per body, with positions, normals and bounds per frame.
//!
//! Written from the published format: [`ogawa`] is the container, [`property`] and [`archive`] are what
//! Alembic keeps in it, [`schema`] is which properties a mesh has. Samples go to the file frame by frame
//! and only their positions in it are kept, so memory stays at about one frame.
//!
//! A body has samples of the frames it is in, on a time sampling of its own if it comes later, and a property `visible`
//! over all frames if it is not in all of them; for programs that do not look at that it has no size then. Where its topology changes, faces and what is on them are samples too.
//!
//! Times are frame numbers over frames per second; a program with the same rate shows frame 7 of the
//! log in its frame 7.

mod archive;
mod bounds;

mod digest;
mod ogawa;
mod property;
mod schema;
mod surface;

use super::names::{NameStyle, unique};
use super::sink::{ExportOrder, FrameOutput, FrameWriter, Sink, SurfaceEncoder};
use super::stream::{BodyVersion, ExportStream, NormalPrecision, SurfaceOptions};
use super::{Conversion, ExportSummary};
use crate::export::ResampledLog;
use crate::{CacheError, LogHeader};
use archive::{AlembicObject, Times};
use bounds::SampleBounds;
use ogawa::Ogawa;
use property::{FRAMES, PropertySamples};
use schema::{BodyOut, BodySamples, bounds_samples, child_bounds};
use std::path::{Path, PathBuf};

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let ExportOrder { reader, stream, path, conversion, folder, .. } = order;
    let count = check_counts(&path, stream)?;
    // A body that comes later has times of its own.
    let mut starts: Vec<usize> = stream.bodies.iter().map(|b| b.lifetime.start).chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    let sampling = |start: usize| FRAMES + starts.partition_point(|&s| s < start) as u32;
    let options =
        SurfaceOptions { poses: true, ..SurfaceOptions::baked(conversion, NormalPrecision::Full, false) };
    let mut out = Ogawa::create(folder, &path)?;
    let (mut motions, mut rest_bounds) = (Vec::new(), Vec::new());
    for (b, body) in stream.bodies.iter().enumerate() {
        let rest = body.moves_as_one().then(|| stream.at_rest(b, options)).transpose()?;
        rest_bounds.push(rest.as_ref().map(|rest| SampleBounds::of(&rest.points)));
        let time = sampling(body.lifetime.start);
        motions.push(match rest {
            Some(rest) => BodySamples::at_rest(&mut out, time, &rest)?,
            None => BodySamples::new(time),
        });
    }
    let archive = Archive {
        motions,
        rest_bounds,
        out,
        whole: bounds_samples(FRAMES),
        numbers: Vec::with_capacity(stream.frames.len()),
        buffer: Vec::new(),
        reader,
        stream,
        path,
        conversion,
        count,
        starts,
    };
    let make = SurfaceEncoder { stream, options };
    Ok(Sink { make: Box::new(make), put: Box::new(archive) })
}

/// An archive whose samples are being written.
struct Archive<'a> {
    reader: &'a ResampledLog<'a>,
    stream: &'a ExportStream<'a>,
    path: PathBuf,
    conversion: Conversion,
    count: u32,
    /// The frames that bodies come with.
    starts: Vec<usize>,
    out: Ogawa,
    motions: Vec<BodySamples>,
    /// Of bodies that move as one, the bounds of these at rest.
    rest_bounds: Vec<Option<SampleBounds>>,
    whole: PropertySamples,
    numbers: Vec<u32>,
    buffer: Vec<u8>,
}

impl FrameWriter for Archive<'_> {
    fn put(&mut self, _: usize, made: FrameOutput) -> Result<(), CacheError> {
        let loaded = made.surfaces()?;
        self.numbers.push(loaded.index);
        let mut all = SampleBounds::EMPTY;
        for surface in &loaded.bodies {
            let motion = &mut self.motions[surface.body];
            if let (Some(pose), Some(rest)) = (&surface.pose, &self.rest_bounds[surface.body]) {
                all = all.union(&rest.moved(pose));
                let comes_later = self.stream.bodies[surface.body].lifetime.start > 0;
                motion.pose(&mut self.out, pose, comes_later)?;
                continue;
            }
            let bounds = SampleBounds::of(&surface.points);
            all = all.union(&bounds);
            motion.push(&mut self.out, surface, &bounds, &mut self.buffer)?;
        }
        self.whole.push(&mut self.out, &all.to_bytes())
    }

    fn finish(self: Box<Self>, _: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        let Archive {
            reader, stream, path, conversion, count, starts, mut out, motions, whole, numbers, ..
        } = *self;
        let names = unique(stream.bodies.iter().map(|b| b.name), NameStyle::Part, "body", &[]);
        let rate = reader.frames_per_second();
        let mut times: Vec<Times> = starts.iter().map(|&s| Times::of_frames(&numbers[s..], rate)).collect();
        let mut children = Vec::with_capacity(names.len());
        for ((body, name), motion) in stream.bodies.iter().zip(names).zip(motions) {
            let mut keys = body.size_keys(&numbers);
            let own = FRAMES + times.len() as u32;
            let placed = match motion.is_posed() {
                false => schema::sizes(&mut out, &keys, own)?,
                true if keys.is_empty() => None,
                true => {
                    // The frames it is in, and around them when it has no size.
                    let there = body.lifetime.clone().map(|k| (f64::from(numbers[k]), 1.0));
                    keys.retain(|(frame, _)| !body.lifetime.clone().any(|k| f64::from(numbers[k]) == *frame));
                    keys.extend(there);
                    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
                    None
                }
            };
            if !keys.is_empty() {
                times.push(Times::Listed(keys.iter().map(|(frame, _)| frame / rate).collect()));
            }
            let own = (!keys.is_empty()).then_some(own);
            let scale = conversion.scale;
            let body = BodyOut { body, name, motion, sizes: placed, placed: own, frames: count, scale };
            children.push(body.write(&mut out)?);
        }
        let top = AlembicObject {
            name: String::new(),
            metadata: "",
            properties: vec![child_bounds(whole)],
            children,
        };
        let bytes = archive::finish(out, &top, &about(reader.header(), rate, &conversion), &times)?;
        Ok(stream.summary(&path, bytes))
    }
}

/// What the archive says of itself. No date: the same log gives the same file.
fn about(header: &LogHeader, frames_per_second: f64, conversion: &Conversion) -> String {
    let program: String =
        header.program.chars().map(|c| if c.is_control() || ";=".contains(c) { ' ' } else { c }).collect();
    format!(
        "FramesPerTimeUnit={};_ai_AlembicVersion=Alembic 1.8.3;_ai_Application={program};\
         _ai_Description={} per metre, {} up",
        frames_per_second,
        conversion.scale,
        if conversion.z_up { 'z' } else { 'y' },
    )
}

/// How many frames there are. Alembic counts samples in 32 bits, vertices and corners of a mesh in 31.
fn check_counts(path: &Path, stream: &ExportStream<'_>) -> Result<u32, CacheError> {
    let refuse = |what: String| {
        let why = format!("{what} are more than an Alembic file can count");
        CacheError::invalid(path.display().to_string(), why, "export fewer, or to .usda")
    };
    for BodyVersion { body, faces, .. } in stream.versions() {
        let corners = faces.corners().len();
        for (count, what) in [(body.mesh.positions.len(), "vertices"), (corners, "corners of faces")] {
            if i32::try_from(count).is_err() {
                return Err(refuse(format!("{count} {what} of body \"{}\"", body.name)));
            }
        }
    }
    u32::try_from(stream.frames.len()).map_err(|_| refuse(format!("{} frames", stream.frames.len())))
}
