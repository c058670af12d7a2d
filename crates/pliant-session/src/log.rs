//! Recording a session to a log, going on with one, and exporting what was recorded.

use crate::error::SessionError;
use crate::recording::{self, Recording, due};
use crate::session::{Session, program};
use pliant::StepReport;
use pliant_cache::{
    CacheError, ExportOptions, ExportOutput, ExportProgress, ExportSummary, LogFrame, LogMedium, LogReader,
    LogWarning, LogWriter, OutputFolder, ReopenedLog, export_all,
};
use std::path::Path;

/// What came of going on with a log.
#[derive(Debug)]
#[non_exhaustive]
pub struct ResumedLog {
    /// The last frame the log kept: the present one. `None` if it had to be begun anew with the first.
    pub last_frame: Option<u32>,
    /// What was wrong with the log.
    pub warnings: Vec<LogWarning>,
    /// The program that began it, if it was another: frames may differ from an unbroken run's.
    pub other_program: Option<String>,
    /// The set of bits it was computed with so far, if that is another than this session's.
    pub other_bits: Option<String>,
}

impl Session {
    /// Begins a log in a file, with the present frame as its first; an existing file is refused unless `overwrite`.
    pub fn record_file(&mut self, path: impl AsRef<Path>, overwrite: bool) -> Result<(), SessionError> {
        let writer = LogWriter::create(path, &self.log_header(), overwrite)?;
        self.record_with(writer)
    }

    /// The same on anything that takes bytes; `name` is what messages call it.
    ///
    /// ```
    /// use pliant_cache::{LogReader, MemoryLog, WriteOnlyLog};
    /// # use pliant_session::{Disk, SceneSource, Session, SessionOptions};
    /// # let scene = SceneSource::text("[[body]]\nshape = \"ball\"\nparticles = 60\n");
    /// # let mut session = Session::open(&scene, &Disk, SessionOptions::default()).unwrap();
    ///
    /// let log = MemoryLog::default();
    /// session.record("run", Box::new(log.clone()))?;
    /// session.step()?;
    /// session.finish_log()?;
    /// assert_eq!(LogReader::from_bytes("run", log.bytes())?.frame_count(), 2);
    ///
    /// // Anything that implements `Write`, such as a pipe:
    /// session.record("pipe", Box::new(WriteOnlyLog(Vec::new())))?;
    /// # Ok::<(), pliant_session::SessionError>(())
    /// ```
    pub fn record(&mut self, name: impl AsRef<Path>, medium: Box<dyn LogMedium>) -> Result<(), SessionError> {
        let writer = LogWriter::begin(medium, name, &self.log_header())?;
        self.record_with(writer)
    }

    fn record_with(&mut self, writer: LogWriter) -> Result<(), SessionError> {
        let mut recording = Recording::new(writer.compact()?, self.settings().checkpoint_every);
        recording::fill(&mut self.frame, &self.simulation, &StepReport::default());
        recording.append(&self.frame, None)?;
        // A log that begins later, or after edits, is gone on with from here.
        recording.edited = self.frame() > 0 || !self.edits().is_empty();
        self.recording = Some(recording);
        Ok(())
    }

    /// The frame the run is to end with: a log has a checkpoint there.
    pub fn run_until(&mut self, frame: u32) {
        if let Some(recording) = &mut self.recording {
            recording.until = Some(frame);
        }
    }

    /// Whether a log is of this scene and holds all frames up to this one, so that there is nothing to go on with.
    pub fn is_complete(&self, log: &LogReader, frames: u32) -> bool {
        let last = log.frame_count().checked_sub(1).and_then(|k| log.frame_index(k));
        // More frames than asked for are never cut off.
        log.header().scene_hash == self.settings().hash
            && last.is_some_and(|n| n > frames || (n == frames && log.is_finished()))
    }

    /// Goes on with a log in a file, to the last frame of a run given by `frames`: everything after its last checkpoint is
    /// computed again, and has the same bytes. A log of another scene is refused, and not touched.
    pub fn resume_file(&mut self, path: impl AsRef<Path>, frames: u32) -> Result<ResumedLog, SessionError> {
        let resumed = LogWriter::resume(path, self.settings().hash)?;
        self.resume_with(resumed, frames)
    }

    /// Goes on with a log that is kept elsewhere than in a file, from its last checkpoint.
    pub fn resume(
        &mut self,
        name: impl AsRef<Path>,
        medium: Box<dyn LogMedium>,
        frames: u32,
    ) -> Result<ResumedLog, SessionError> {
        let resumed = LogWriter::resume_on(medium, name, self.settings().hash)?;
        self.resume_with(resumed, frames)
    }

    fn resume_with(&mut self, resumed: ReopenedLog, frames: u32) -> Result<ResumedLog, SessionError> {
        let own = self.simulation.bits();
        let begun = &resumed.header.bits;
        let mut continued = ResumedLog {
            last_frame: resumed.writer.last_frame(),
            warnings: resumed.warnings,
            other_program: Some(resumed.header.program).filter(|p| *p != program()),
            other_bits: Some(begun.clone()).filter(|bits| !bits.is_empty() && *bits != own.name()),
        };
        let mut recording = Recording::new(resumed.writer.compact()?, self.settings().checkpoint_every);
        recording.until = Some(frames);
        if let Some((frame, state)) = resumed.checkpoint {
            let bodies = recording.writer.bodies().to_vec();
            let path = recording.writer.path().display().to_string();
            let refused = |e| SessionError::Refused(format!("{path}: {e}"));
            let bits = self.resume_from(frame, &state, bodies).map_err(refused)?;
            continued.other_bits = (bits != own).then(|| bits.name().to_string());
            // Where this run stopped an unbroken one would have written none: the bytes are to be the same.
            match due(frame, frames, recording.every) {
                true => recording.checkpointed = Some(frame),
                false => recording.writer.drop_checkpoint()?,
            }
        } else {
            recording::fill(&mut self.frame, &self.simulation, &StepReport::default());
            recording.append(&self.frame, None)?;
        }
        self.recording = Some(recording);
        Ok(continued)
    }

    /// The last frame that was made for the log, with its statistics as JSON.
    pub fn logged_frame(&self) -> &LogFrame {
        &self.frame
    }

    /// Reads what the log holds so far.
    pub fn log(&self) -> Result<LogReader, SessionError> {
        match &self.recording {
            Some(recording) => Ok(recording.writer.reader()?),
            None => Err(SessionError::Refused(
                "nothing is recorded; begin a log with `record` before the first step".into(),
            )),
        }
    }

    /// Makes files of what was recorded so far, also while the run goes on; gives what came of each output.
    ///
    /// ```
    /// use pliant_cache::{ExportOptions, MemoryOutput, ExportOutput};
    /// # use pliant_session::{Disk, MemoryLog, SceneSource, Session, SessionOptions};
    /// # let scene = SceneSource::text("[[body]]\nshape = \"ball\"\nparticles = 60\n");
    /// # let mut session = Session::open(&scene, &Disk, SessionOptions::default()).unwrap();
    /// session.record("run", Box::new(MemoryLog::default()))?;
    /// session.step()?;
    /// let outputs = [ExportOutput { path: "now.glb".into(), conversion: Default::default() }];
    /// let files = MemoryOutput::default();
    /// let done = session.export(&outputs, &ExportOptions::default(), &files, &mut |_, _| {})?;
    /// assert_eq!(done[0].as_ref().unwrap().frames, 2);
    /// assert!(files.take().contains_key("now.glb".as_ref() as &std::path::Path));
    /// # Ok::<(), pliant_session::SessionError>(())
    /// ```
    pub fn export(
        &self,
        outputs: &[ExportOutput],
        options: &ExportOptions,
        folder: &dyn OutputFolder,
        progress: ExportProgress<'_>,
    ) -> Result<Vec<Result<ExportSummary, CacheError>>, SessionError> {
        Ok(export_all(&self.log()?, outputs, options, folder, progress))
    }

    /// Leaves the log without an end mark, with a checkpoint of its last frame: the run is to be gone on with.
    pub fn pause_log(&mut self) -> Result<(), SessionError> {
        self.close_log()?;
        Ok(())
    }

    /// Closes the log with a checkpoint of its last frame and an end mark.
    pub fn finish_log(&mut self) -> Result<(), SessionError> {
        match self.close_log()? {
            Some(recording) => Ok(recording.writer.finish()?),
            None => Ok(()),
        }
    }

    fn close_log(&mut self) -> Result<Option<Recording>, CacheError> {
        let Some(mut recording) = self.recording.take() else { return Ok(None) };
        let here = u32::try_from(self.simulation.state().step()).ok();
        // Scrubbed back, the state is not that of the last frame.
        let last = recording.writer.last_frame().filter(|last| *last > 0 && Some(*last) == here);
        if let Some(last) = last
            && (recording.checkpointed != Some(last) || recording.edited)
        {
            recording.checkpoint(last, &self.simulation)?;
        }
        Ok(Some(recording))
    }
}
