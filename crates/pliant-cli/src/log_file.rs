//! The frame log of a run: begun, replaced or taken up again, but never destroyed by accident.

use crate::failure::Failure;
use crate::terminal;
use pliant_cache::{CacheError, ErrorKind, LogReader, LogWarning};
use pliant_session::{Session, SessionError};
use std::path::Path;

/// What to do with a log that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingLog {
    /// A finished one may be replaced, an unfinished one not.
    Ask,
    /// Continue it.
    Resume,
    /// Continue an unfinished one of the same scene, otherwise like [`ExistingLog::Ask`].
    ResumeSame,
    /// Replace it.
    Force,
}

/// What came of opening a log.
pub enum OpenedLog {
    /// Frames are missing: the session writes it. If it was gone on with, up to this frame.
    Unfinished(Option<u32>),
    /// It already holds all frames asked for.
    Complete,
}

/// Opens the log of a run of `frames` frames.
pub fn open(
    path: &Path,
    session: &mut Session,
    frames: u32,
    policy: ExistingLog,
) -> Result<OpenedLog, Failure> {
    if policy == ExistingLog::Force {
        return create(path, session, true, frames);
    }
    let existing = match LogReader::open(path) {
        Ok(reader) => reader,
        Err(CacheError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            if policy == ExistingLog::Resume {
                terminal::problem(&format!("note: {}: no log to resume; starting", path.display()));
            }
            return create(path, session, false, frames);
        }
        Err(e) if e.kind() == ErrorKind::Io => return Err(e.into()),
        Err(e) => {
            return Err(Failure::usage(format!(
                "{e}\n  help: replace the file with --force, or name another log with --log FILE"
            )));
        }
    };
    let same = existing.header().scene_hash == session.settings().hash;
    match policy {
        ExistingLog::Resume => resume(path, session, frames, &existing),
        ExistingLog::ResumeSame if same && !existing.is_finished() => {
            resume(path, session, frames, &existing)
        }
        _ if existing.is_finished() => create(path, session, true, frames),
        _ => Err(Failure::usage(format!(
            "{}: holds an unfinished run ({}) that would be lost\n  help: {}",
            path.display(),
            match existing.frame_count() {
                0 => "no frame yet".into(),
                1 => "1 frame".into(),
                n => format!("{n} frames"),
            },
            match policy {
                // Without a command there are no options to name.
                ExistingLog::ResumeSame => "it is of another scene: move it away or remove it",
                _ =>
                    "continue it with --resume, replace it with --force, or name another log with --log FILE",
            }
        ))),
    }
}

fn create(path: &Path, session: &mut Session, overwrite: bool, frames: u32) -> Result<OpenedLog, Failure> {
    session.record_file(path, overwrite)?;
    session.run_until(frames);
    Ok(OpenedLog::Unfinished(None))
}

fn resume(
    path: &Path,
    session: &mut Session,
    frames: u32,
    existing: &LogReader,
) -> Result<OpenedLog, Failure> {
    if session.is_complete(existing, frames) {
        return Ok(OpenedLog::Complete);
    }
    let continued = session.resume_file(path, frames).map_err(|e| {
        let other = matches!(e, SessionError::Log(CacheError::OtherScene { .. }));
        let mut failure = Failure::from(e);
        if other {
            failure.messages[0] += "\n  help: a new log is begun under another name with --log FILE, or in \
                                    place of this one with --force";
        }
        failure
    })?;
    for warning in &continued.warnings {
        if matches!(warning, LogWarning::Damaged { .. }) {
            terminal::problem(&format!("warning: {}: {warning}", path.display()));
        }
    }
    if let Some(begun_by) = &continued.other_program {
        terminal::problem(&format!(
            "note: {}: begun by {begun_by}, continued by {}; the frames may differ from an unbroken run's",
            path.display(),
            pliant_session::program()
        ));
    }
    if let Some(before) = &continued.other_bits {
        terminal::problem(&format!(
            "note: {}: computed with {before} multiply-adds so far, with {} ones from here on (another instruction \
             set); the frames differ from an unbroken run's by rounding",
            path.display(),
            session.simulation().bits().name()
        ));
    }
    Ok(OpenedLog::Unfinished(continued.last_frame))
}
