//! The file of `--stats`: the statistics of every frame as the log has them, with timings added.

use crate::failure::Failure;
use crate::outputs;
use pliant::SolverKind;
use pliant_cache::{CacheError, LogReader};
use pliant_session::FrameReport;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Milliseconds spent on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    pub clustered: f64,
    pub projective: f64,
    pub newton: f64,
    pub xpbd: f64,
    pub pbd: f64,
    pub rigid: f64,
    /// Measuring and writing the frame.
    pub log: f64,
}

impl Timings {
    /// Of a step.
    pub fn of(report: &FrameReport) -> Timings {
        let ms = |kind: SolverKind| 1e3 * report.step.seconds[kind as usize];
        Timings {
            clustered: ms(SolverKind::Clustered),
            projective: ms(SolverKind::Projective),
            newton: ms(SolverKind::Newton),
            xpbd: ms(SolverKind::Xpbd),
            pbd: ms(SolverKind::Pbd),
            rigid: ms(SolverKind::Rigid),
            log: 1e3 * report.log_seconds,
        }
    }
}

/// A line of the file: the log's object with the timings added; `None` where nobody measured them.
fn line(json: &str, ms: Option<Timings>) -> String {
    let ms = serde_json::to_string(&ms).unwrap_or_else(|_| "null".into());
    let open = json.trim_end();
    format!("{},\"ms\":{ms}}}\n", open.strip_suffix('}').unwrap_or(open))
}

/// The file of `--stats`, written line by line so that it can be followed and survives a kill.
pub struct StatsFile {
    path: PathBuf,
    /// Locked, if it is a regular file.
    file: File,
    regular: bool,
}

impl StatsFile {
    /// Opens the file and keeps other runs from writing it; what is in it stays until [`begin`](StatsFile::begin).
    pub fn claim(path: &Path) -> Result<StatsFile, Failure> {
        let io = |e| Failure::from(CacheError::io(path, "write the statistics", e));
        let regular = !outputs::is_device(path);
        let mut options = OpenOptions::new();
        options.read(regular).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(io)?;
        // A device may well be shared.
        match if regular { file.try_lock() } else { Ok(()) } {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(format!(
                    "{}: another run is writing these statistics; wait for it to end or choose another name",
                    path.display()
                )));
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        Ok(StatsFile { path: path.to_path_buf(), file, regular })
    }

    /// Begins the file, or takes it up: with lines for all frames of `log` up to number `last`. Lines that are
    /// missing are made from the log.
    pub fn begin(&mut self, log: Option<(&LogReader, u32)>) -> Result<(), Failure> {
        let io = |e| Failure::from(CacheError::io(&self.path, "write the statistics", e));
        let lines = match log {
            Some((reader, last)) => {
                let mut old = Vec::new();
                if self.regular {
                    self.file.read_to_end(&mut old).map_err(io)?;
                }
                kept_lines(&old, reader, last)?
            }
            None => String::new(),
        };
        if self.regular {
            self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(io)?;
        }
        self.file.write_all(lines.as_bytes()).map_err(io)
    }

    /// Appends the line of a frame.
    pub fn append(&mut self, json: &str, ms: Timings) -> Result<(), Failure> {
        self.file
            .write_all(line(json, Some(ms)).as_bytes())
            .map_err(|e| CacheError::io(&self.path, "write the statistics", e).into())
    }
}

fn kept_lines(old: &[u8], reader: &LogReader, last: u32) -> Result<String, Failure> {
    // A line that was cut off by a kill is no JSON object and is made anew.
    let old: BTreeMap<u64, String> = String::from_utf8_lossy(old)
        .lines()
        .filter_map(|l| {
            let value: serde_json::Value = serde_json::from_str(l).ok()?;
            Some((value.get("frame")?.as_u64()?, format!("{l}\n")))
        })
        .collect();
    let mut lines = String::new();
    for k in 0..reader.frame_count() {
        let Some(n) = reader.frame_index(k).filter(|n| *n <= last) else {
            break;
        };
        match old.get(&n.into()) {
            Some(l) => lines.push_str(l),
            None => lines.push_str(&line(&reader.frame(k)?.stats_json, None)),
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timings_are_added_to_the_object() {
        let ms = Timings { clustered: 1.5, log: 0.25, ..Timings::default() };
        let with = line("{\"frame\":3}", Some(ms));
        assert!(with.starts_with("{\"frame\":3,\"ms\":{\"clustered\":1.5,\"projective\":0.0,"), "{with}");
        assert!(with.ends_with(",\"log\":0.25}}\n"), "{with}");
        assert_eq!(line("{\"frame\":3}", None), "{\"frame\":3,\"ms\":null}\n");
    }
}
