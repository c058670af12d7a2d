//! The frame log of a run: begun, replaced or taken up again, but never destroyed by accident.

use crate::failure::Failure;
use crate::{recorder, say, solids};
use pliant_cache::render::CameraMotion;
use pliant_cache::{CacheError, ColorBy, ErrorKind, LogHeader, LogPicture, LogPlane, LogReader, LogWriter};
use pliant_scene::BuiltScene;
use std::path::Path;

/// What to do with a log that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A finished one may be replaced, an unfinished one not.
    Ask,
    /// Continue it.
    Resume,
    /// Continue an unfinished one of the same scene, otherwise like [`Policy::Ask`].
    ResumeSame,
    /// Replace it.
    Force,
}

/// A log ready to be appended to.
pub struct Journal {
    pub writer: LogWriter,
    /// Number of the last frame it holds.
    pub last_frame: Option<u32>,
    /// The state to go on from, if not from the initial one.
    pub checkpoint: Option<Vec<u8>>,
    /// Number of the frame of the last checkpoint in the log.
    pub checkpointed: Option<u32>,
}

/// What came of opening a log.
pub enum Opened {
    /// Frames are missing.
    Unfinished(Box<Journal>),
    /// It already holds all frames asked for.
    Complete,
}

/// Opens the log of a run of `frames` frames.
pub fn open(path: &Path, scene: &BuiltScene, frames: u32, policy: Policy) -> Result<Opened, Failure> {
    if policy == Policy::Force {
        return create(path, scene, true);
    }
    let existing = match LogReader::open(path) {
        Ok(reader) => reader,
        Err(CacheError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            if policy == Policy::Resume {
                say::problem(&format!("note: {}: no log to resume; starting", path.display()));
            }
            return create(path, scene, false);
        }
        Err(e) if e.kind() == ErrorKind::Io => return Err(e.into()),
        Err(e) => {
            return Err(Failure::usage(format!(
                "{e}\n  help: replace the file with --force, or name another log with --log FILE"
            )));
        }
    };
    let same = existing.header().scene_hash == scene.hash;
    match policy {
        Policy::Resume => resume(path, scene, frames, &existing),
        Policy::ResumeSame if same && !existing.is_finished() => resume(path, scene, frames, &existing),
        _ if existing.is_finished() => create(path, scene, true),
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
                Policy::ResumeSame => "it is of another scene: move it away or remove it",
                _ =>
                    "continue it with --resume, replace it with --force, or name another log with --log FILE",
            }
        ))),
    }
}

fn create(path: &Path, scene: &BuiltScene, overwrite: bool) -> Result<Opened, Failure> {
    Ok(Opened::Unfinished(Box::new(Journal {
        writer: LogWriter::create(path, &header(scene), overwrite)?.compact()?,
        last_frame: None,
        checkpoint: None,
        checkpointed: None,
    })))
}

fn resume(path: &Path, scene: &BuiltScene, frames: u32, existing: &LogReader) -> Result<Opened, Failure> {
    if existing.header().scene_hash == scene.hash {
        let last = existing.frame_count().checked_sub(1);
        let last = last.and_then(|k| existing.frame_index(k));
        // More frames than asked for are never cut off.
        if last.is_some_and(|n| n > frames || (n == frames && existing.is_finished())) {
            return Ok(Opened::Complete);
        }
    }
    let resumed = LogWriter::resume(path, scene.hash).map_err(|e| {
        let other = matches!(e, CacheError::OtherScene { .. });
        let mut failure = Failure::from(e);
        if other {
            failure.messages[0] += "\n  help: a new log is begun under another name with --log FILE, or in \
                                    place of this one with --force";
        }
        failure
    })?;
    for warning in &resumed.warnings {
        if matches!(warning, pliant_cache::LogWarning::Damaged { .. }) {
            say::problem(&format!("warning: {}: {warning}", path.display()));
        }
    }
    let program = program();
    if resumed.header.program != program {
        say::problem(&format!(
            "note: {}: begun by {}, continued by {program}; the frames may differ from an unbroken run's",
            path.display(),
            resumed.header.program
        ));
    }
    // A checkpoint says so itself.
    let (begun, now) = (&resumed.header.bits, scene.simulation.bits().name());
    if resumed.checkpoint.is_none() && !begun.is_empty() && begun != now {
        say::problem(&other_bits(path, begun, now));
    }
    let mut journal = Journal {
        last_frame: resumed.writer.last_frame(),
        writer: resumed.writer.compact()?,
        checkpoint: None,
        checkpointed: None,
    };
    if let Some((frame, state)) = resumed.checkpoint {
        journal.checkpoint = Some(state);
        // Where this run stopped an unbroken one would have written none: the bytes are to be the same.
        if due(frame, frames, scene.checkpoint_every) {
            journal.checkpointed = Some(frame);
        } else {
            journal.writer.drop_checkpoint()?;
        }
    }
    Ok(Opened::Unfinished(Box::new(journal)))
}

/// What is said where a run goes on with another set of bits.
pub fn other_bits(path: &Path, before: &str, now: &str) -> String {
    format!(
        "note: {}: computed with {before} multiply-adds so far, with {now} ones from here on (another instruction \
         set); the frames differ from an unbroken run's by rounding",
        path.display()
    )
}

/// Whether a run of `frames` frames writes a checkpoint after this one.
pub fn due(frame: u32, frames: u32, every: u32) -> bool {
    frame > 0 && (frame == frames || frame.is_multiple_of(every.max(1)))
}

fn program() -> String {
    format!("pliant {}", env!("CARGO_PKG_VERSION"))
}

/// What the log has to know of the scene to be shown without it.
fn header(scene: &BuiltScene) -> LogHeader {
    let model = scene.simulation.model();
    let picture = scene.picture;
    LogHeader {
        program: program(),
        bits: scene.simulation.bits().name().into(),
        scene_text: scene.text.clone(),
        scene_hash: scene.hash,
        frames_per_second: scene.frames_per_second,
        bodies: recorder::first_bodies(scene),
        planes: scene
            .simulation
            .state()
            .half_spaces(model)
            .map(|p| LogPlane { normal: p.normal, offset: p.offset })
            .collect(),
        solids: solids::meshes(scene),
        picture: LogPicture {
            width: picture.width,
            height: picture.height,
            color_by: match picture.color_by {
                pliant_scene::ColorBy::Body => ColorBy::Body,
                pliant_scene::ColorBy::Strain => ColorBy::Strain,
                pliant_scene::ColorBy::Cluster => ColorBy::Cluster,
                pliant_scene::ColorBy::Speed => ColorBy::Speed,
            },
            azimuth: picture.azimuth,
            elevation: picture.elevation,
            camera: match picture.camera {
                pliant_scene::CameraMotion::Auto => CameraMotion::Auto,
                pliant_scene::CameraMotion::Fixed => CameraMotion::Fixed,
                pliant_scene::CameraMotion::Follow => CameraMotion::Follow,
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::due;

    #[test]
    fn checkpoints_come_on_schedule_and_at_the_end() {
        let at = |frames, every| (0..=frames).filter(|&f| due(f, frames, every)).collect::<Vec<_>>();
        assert_eq!(at(10, 4), [4, 8, 10]);
        assert_eq!(at(8, 4), [4, 8]);
        assert_eq!(at(3, 0), [1, 2, 3]);
        assert_eq!(at(0, 4), [0u32; 0]);
    }
}
