//! All outputs of a log at once: every frame is read and skinned once, and goes to each of them.
//!
//! Geometry is written as frames go by. Pictures are drawn when all frames have been looked at, since camera and colours
//! fit all of them; frames that will be drawn are kept until then, as far as there is room.

use super::picture::{Picture, PictureFrames, PictureJob, PicturePlan, PicturePlanner};
use super::sink::{ExportOrder, FrameEncoder, FrameNeeds, FrameOutput, FrameWriter, Sink};
use super::stream::{ExportStream, PosedFrame};
use super::{
    Conversion, ExportOptions, ExportProgress, ExportSummary, Format, FormatKind, ResampledLog, ahead,
};
use crate::{CacheError, LogReader, OutputFolder};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOutput {
    /// Where; the extension says in which format.
    pub path: PathBuf,
    /// Its units and axes, which go before those of the options.
    pub conversion: Conversion,
}

/// Bytes of frames that are kept to be drawn; others are read again.
const KEPT_BYTES: usize = 128 << 20;

/// Makes all outputs, and gives what came of each, in their order. One that fails does not keep the others from being made.
///
/// ```
/// use pliant_cache::{ExportOptions, LogReader, MemoryOutput, ExportOutput, export_all};
/// # use pliant_cache::{LogFrame, LogHeader, LogWriter, MemoryLog};
/// # let log = MemoryLog::default();
/// # let header = LogHeader { program: "test 1".into(), bits: String::new(), scene_text: String::new(), scene_hash: 7,
/// #     frames_per_second: 60.0, bodies: vec![], planes: vec![], colliders: vec![], picture: Default::default() };
/// # let mut writer = LogWriter::begin(Box::new(log.clone()), "run", &header)?;
/// # writer.append_frame(&LogFrame::default())?;
/// # writer.finish()?;
/// let reader = LogReader::from_bytes("run", log.bytes())?;
/// let outputs = ["run.usda", "run.pc2"].map(|name| ExportOutput { path: name.into(), conversion: Default::default() });
/// let folder = MemoryOutput::default();
/// for done in export_all(&reader, &outputs, &ExportOptions::default(), &folder, &mut |_, _| {}) {
///     done?;
/// }
/// assert_eq!(folder.take().len(), 2);
/// # Ok::<(), pliant_cache::CacheError>(())
/// ```
pub fn export_all(
    reader: &LogReader,
    outputs: &[ExportOutput],
    options: &ExportOptions,
    folder: &dyn OutputFolder,
    progress: ExportProgress<'_>,
) -> Vec<Result<ExportSummary, CacheError>> {
    let mut results = Results { outputs, done: outputs.iter().map(|_| None).collect() };
    let resampled = ResampledLog::new(reader, options.frames_per_second);
    let made = resampled.and_then(|resampled| {
        let stream = ExportStream::new(&resampled, options)?;
        let mut work = ExportWork::begin(&resampled, &stream, options, folder, &mut results);
        let mut counted = Counted { done: 0, all: work.steps(), progress };
        work.pass_by(&mut results, &mut counted)?;
        work.finish(&mut results, &mut counted);
        Ok(())
    });
    if let Err(e) = made {
        results.fail_all(e);
    }
    results.finish()
}

/// What came of each output so far.
struct Results<'a> {
    outputs: &'a [ExportOutput],
    done: Vec<Option<Result<ExportSummary, CacheError>>>,
}

impl Results<'_> {
    fn set(&mut self, output: usize, result: Result<ExportSummary, CacheError>) {
        self.done[output] = Some(result);
    }

    /// What keeps all from being made is told once.
    fn fail_all(&mut self, error: CacheError) {
        let mut error = Some(error);
        for (done, output) in self.done.iter_mut().zip(self.outputs).filter(|(done, _)| done.is_none()) {
            let also = || {
                let (why, help) = ("it was not made either, for the reason given before", "mend that first");
                CacheError::invalid(output.path.display().to_string(), why, help)
            };
            *done = Some(Err(error.take().unwrap_or_else(also)));
        }
    }

    fn finish(self) -> Vec<Result<ExportSummary, CacheError>> {
        let lost = || CacheError::invalid("export", "nothing came of this output", "please report this");
        self.done.into_iter().map(|done| done.unwrap_or_else(|| Err(lost()))).collect()
    }
}

/// Steps of all work together.
struct Counted<'a> {
    done: usize,
    all: usize,
    progress: ExportProgress<'a>,
}

impl Counted<'_> {
    fn step(&mut self) {
        self.done += 1;
        (self.progress)(self.done, self.all);
    }
}

/// The outputs that have begun.
struct ExportWork<'a> {
    resampled: &'a ResampledLog<'a>,
    stream: &'a ExportStream<'a>,
    options: &'a ExportOptions,
    folder: &'a dyn OutputFolder,
    /// Number of the output, and its two halves.
    makers: Vec<(usize, Box<dyn FrameEncoder + 'a>)>,
    writers: Vec<Option<Box<dyn FrameWriter + 'a>>>,
    /// The same of pictures.
    pictures: Vec<(usize, Picture, PathBuf)>,
    planner: Option<PicturePlanner<'a>>,
    kept: HashMap<usize, Arc<PosedFrame>>,
}

impl<'a> ExportWork<'a> {
    fn begin(
        resampled: &'a ResampledLog<'a>,
        stream: &'a ExportStream<'a>,
        options: &'a ExportOptions,
        folder: &'a dyn OutputFolder,
        results: &mut Results<'_>,
    ) -> ExportWork<'a> {
        let mut work = ExportWork {
            resampled,
            stream,
            options,
            folder,
            makers: Vec::new(),
            writers: Vec::new(),
            pictures: Vec::new(),
            planner: None,
            kept: HashMap::new(),
        };
        for (k, output) in results.outputs.iter().enumerate() {
            match Format::of(&output.path).map(|format| format.kind) {
                Ok(FormatKind::Picture(picture)) => work.pictures.push((k, picture, output.path.clone())),
                Ok(FormatKind::Geometry(begin)) => match work.begin_one(output, begin) {
                    Ok(Sink { make, put }) => {
                        work.makers.push((k, make));
                        work.writers.push(Some(put));
                    }
                    Err(e) => results.set(k, Err(e)),
                },
                Err(e) => results.set(k, Err(e)),
            }
        }
        if !work.pictures.is_empty() {
            let sheet = work.pictures.iter().any(|(_, picture, path)| picture.is_sheet(path));
            match PicturePlanner::new(resampled, stream, options, sheet) {
                Ok(planner) => work.planner = Some(planner),
                Err(e) => work.refuse_pictures(e, results),
            }
        }
        work
    }

    fn begin_one(
        &self,
        output: &ExportOutput,
        begin: for<'o> fn(ExportOrder<'o>) -> Result<Sink<'o>, CacheError>,
    ) -> Result<Sink<'a>, CacheError> {
        self.stream.check_body_there(self.options)?;
        begin(ExportOrder {
            reader: self.resampled,
            stream: self.stream,
            path: output.path.clone(),
            options: self.options,
            conversion: output.conversion,
            folder: self.folder,
        })
    }

    /// All pictures are taken alike: what refuses one refuses the others.
    fn refuse_pictures(&mut self, error: CacheError, results: &mut Results<'_>) {
        let text = error.to_string();
        let mut error = Some(error);
        for (k, _, path) in self.pictures.drain(..) {
            let again = || CacheError::invalid(path.display().to_string(), &*text, "see there");
            let own = error.take().unwrap_or_else(again);
            results.set(k, Err(own));
        }
    }

    /// The frames that have to go by.
    fn places(&self) -> Vec<usize> {
        match &self.planner {
            Some(planner) if self.makers.is_empty() => planner.places(),
            None if self.makers.is_empty() => Vec::new(),
            _ => self.stream.frames.clone(),
        }
    }

    /// How many steps there are.
    fn steps(&self) -> usize {
        let writing: usize = self.writers.iter().flatten().map(|w| w.steps()).sum();
        self.places().len() + writing + self.drawn().map(|drawn| drawn.count).sum::<usize>()
    }

    /// What each picture will draw.
    fn drawn(&self) -> impl Iterator<Item = PictureFrames> {
        let frames = &self.stream.frames;
        let pictures = self.pictures.iter();
        pictures.map(|(_, picture, path)| picture.frames(path, self.resampled, self.options, frames))
    }

    /// Reads and skins every frame and lets the outputs have it.
    fn pass_by(&mut self, results: &mut Results<'_>, counted: &mut Counted<'_>) -> Result<(), CacheError> {
        let places = self.places();
        let drawn: HashSet<usize> = self.drawn().flat_map(|drawn| drawn.places).collect();
        let needs =
            self.makers.iter().map(|(_, make)| make.needs()).fold(FrameNeeds::default(), |all, own| {
                FrameNeeds {
                    skin: all.skin || own.skin,
                    normals: all.normals || own.normals,
                    rigid: all.rigid || own.rigid,
                }
            });
        let pictures = self.planner.is_some();
        let needs = FrameNeeds { skin: needs.skin || pictures, rigid: needs.rigid || pictures, ..needs };
        let alive: Vec<AtomicBool> = self.makers.iter().map(|_| AtomicBool::new(true)).collect();
        let (stream, makers, writers) = (self.stream, &self.makers, &mut self.writers);
        let (planner, kept) = (&mut self.planner, &mut self.kept);
        let mut budget = KEPT_BYTES;
        let make = |_: &mut (), place: usize| {
            let posed = Arc::new(stream.pose(place, needs)?);
            let one = |((_, maker), alive): (&(usize, Box<dyn FrameEncoder + 'a>), &AtomicBool)| {
                alive.load(Ordering::Relaxed).then(|| maker.make(&posed))
            };
            let made: Vec<Option<Result<FrameOutput, CacheError>>> =
                makers.iter().zip(&alive).map(one).collect();
            Ok((posed, made))
        };
        ahead::in_order(self.options.threads, &places, make, |_, (posed, made)| {
            for (k, made) in made.into_iter().enumerate() {
                let (Some(made), Some(writer)) = (made, &mut writers[k]) else { continue };
                if let Err(e) = made.and_then(|made| writer.put(posed.among, made)) {
                    alive[k].store(false, Ordering::Relaxed);
                    writers[k] = None;
                    results.set(makers[k].0, Err(e));
                }
            }
            if let Some(planner) = planner {
                planner.take(&posed);
                let size = posed.size();
                if drawn.contains(&posed.place) && size <= budget {
                    budget -= size;
                    kept.insert(posed.place, posed);
                }
            }
            counted.step();
            Ok(())
        })
    }

    /// Completes what was written and draws the pictures.
    fn finish(self, results: &mut Results<'_>, counted: &mut Counted<'_>) {
        for ((output, _), writer) in self.makers.iter().zip(self.writers) {
            if let Some(writer) = writer {
                results.set(*output, writer.finish(&mut || counted.step()));
            }
        }
        let Some(planner) = self.planner else { return };
        let plan: PicturePlan = planner.finish();
        let ExportWork { resampled: reader, stream, options, folder, ref kept, .. } = self;
        let job = PictureJob { reader, stream, options, folder, kept };
        for (output, picture, path) in &self.pictures {
            let written = picture.write(path, &job, &plan, &mut || counted.step());
            results.set(*output, written);
        }
    }
}
