//! Statistics of a frame, as JSON: in the log without timings (its bytes must not depend on the machine), in the
//! `--stats` file with them.

use crate::failure::Failure;
use crate::outputs;
use pliant::{Control, Simulation, SolverKind, Statistics, StepReport, Value};
use pliant_cache::{CacheError, LogReader};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The numbers of a frame, in the order they are printed.
#[derive(Serialize)]
struct FrameStats {
    frame: u32,
    time: f64,
    kinetic: f64,
    elastic: f64,
    gravity: f64,
    momentum: [f64; 3],
    angular_momentum: [f64; 3],
    max_strain: f64,
    contacts: usize,
    max_penetration: f64,
    iterations: u32,
    residual: f64,
    /// How each solver that has bodies converged in this step.
    solvers: BTreeMap<&'static str, Converged>,
    /// Keyframed values from this frame on, by body and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    controls: BTreeMap<String, Driven>,
}

/// See [`pliant::Convergence`].
#[derive(Serialize)]
struct Converged {
    residual: f64,
    converged: bool,
}

fn converged(report: &StepReport) -> BTreeMap<&'static str, Converged> {
    let all = SolverKind::ALL.into_iter().zip(&report.convergence).filter(|(_, c)| c.substeps > 0);
    all.map(|(kind, c)| {
        (kind.name(), Converged { residual: bounded(c.residual), converged: c.unconverged == 0 })
    })
    .collect()
}

#[derive(Serialize)]
#[serde(untagged)]
enum Driven {
    Number(f64),
    Vector([f64; 3]),
}

fn driven(simulation: &Simulation) -> BTreeMap<String, Driven> {
    let (model, controls) = (simulation.model(), simulation.controls());
    let tracks = model.params().keyframes.tracks.iter();
    let entry = |control: Control| {
        let name = match control.body().and_then(|b| model.get(b)) {
            Some(body) => format!("{}.{}", body.name, control.name()),
            None => control.name().into(),
        };
        let value = match controls.get(control)? {
            Value::Number(v) => Driven::Number(v),
            Value::Vector(v) => Driven::Vector(v.to_array()),
        };
        Some((name, value))
    };
    tracks.filter_map(|t| entry(t.control)).collect()
}

/// Milliseconds spent on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    pub clustered: f64,
    pub projective: f64,
    pub newton: f64,
    pub xpbd: f64,
    pub pbd: f64,
    /// Measuring and writing the frame.
    pub log: f64,
}

/// The statistics of the present state as one JSON object.
pub fn json(frame: u32, s: &Statistics, simulation: &Simulation, report: &StepReport) -> String {
    let stats = FrameStats {
        frame,
        time: simulation.state().time(),
        kinetic: bounded(s.kinetic),
        elastic: bounded(s.elastic),
        gravity: bounded(s.gravity),
        momentum: s.momentum.to_array().map(bounded),
        angular_momentum: s.angular_momentum.to_array().map(bounded),
        max_strain: bounded(s.max_strain),
        contacts: report.contacts,
        max_penetration: bounded(s.max_penetration),
        iterations: report.iterations,
        residual: bounded(report.residual),
        solvers: converged(report),
        controls: driven(simulation),
    };
    // Plain numbers always have a JSON form.
    serde_json::to_string(&stats).unwrap_or_default()
}

/// JSON has no number beyond the largest: squares of what is still finite may lie there, and are told as that. A program
/// that reads numbers would stumble over anything else.
fn bounded(x: f64) -> f64 {
    if x.is_nan() { f64::MAX } else { x.clamp(-f64::MAX, f64::MAX) }
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
