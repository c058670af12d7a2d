//! Statistics of a frame, as JSON: in the log without timings (its bytes must not depend on the machine), in the
//! `--stats` file with them.

use crate::failure::Failure;
use pliant::{Simulation, Statistics, StepReport};
use pliant_cache::{CacheError, LogReader};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
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
}

/// Milliseconds spent on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    pub clustered: f64,
    pub projective: f64,
    /// Measuring and writing the frame.
    pub log: f64,
}

/// The statistics of the present state as one JSON object.
pub fn json(frame: u32, s: &Statistics, simulation: &Simulation, report: &StepReport) -> String {
    let stats = FrameStats {
        frame,
        time: simulation.state().time,
        kinetic: s.kinetic,
        elastic: s.elastic,
        gravity: s.gravity,
        momentum: s.momentum.to_array(),
        angular_momentum: s.angular_momentum.to_array(),
        max_strain: s.max_strain,
        contacts: report.contacts,
        max_penetration: s.max_penetration,
        iterations: report.iterations,
        residual: report.residual,
    };
    // Plain numbers always have a JSON form; numbers beyond all bounds become null.
    serde_json::to_string(&stats).unwrap_or_default()
}

/// A line of the file: the log's object with the timings added; `None` where nobody measured them.
fn line(json: &str, ms: Option<Timings>) -> String {
    let ms = serde_json::to_string(&ms).unwrap_or_else(|_| "null".into());
    format!("{},\"ms\":{ms}}}\n", json.trim_end().trim_end_matches('}'))
}

/// The file of `--stats`, written line by line so that it can be followed and survives a kill.
pub struct StatsFile {
    path: PathBuf,
    file: File,
}

impl StatsFile {
    /// Begins a file, or takes one up: with lines for all frames of `log` up to number `last`. Lines that are
    /// missing are made from the log.
    pub fn open(path: &Path, log: Option<(&LogReader, u32)>) -> Result<StatsFile, Failure> {
        let lines = match log {
            Some((reader, last)) => kept_lines(path, reader, last)?,
            None => String::new(),
        };
        let io = |e| Failure::from(CacheError::io(path, "write the statistics", e));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path).map_err(io)?;
        file.write_all(lines.as_bytes()).map_err(io)?;
        Ok(StatsFile { path: path.to_path_buf(), file })
    }

    /// Appends the line of a frame.
    pub fn append(&mut self, json: &str, ms: Timings) -> Result<(), Failure> {
        self.file
            .write_all(line(json, Some(ms)).as_bytes())
            .map_err(|e| CacheError::io(&self.path, "write the statistics", e).into())
    }
}

fn kept_lines(path: &Path, reader: &LogReader, last: u32) -> Result<String, Failure> {
    let old = if path.is_file() {
        fs::read(path).map_err(|e| CacheError::io(path, "read the statistics so far", e))?
    } else {
        Vec::new()
    };
    // A line that was cut off by a kill is no JSON object and is made anew.
    let old: BTreeMap<u64, String> = String::from_utf8_lossy(&old)
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
        let ms = Timings { clustered: 1.5, projective: 0.0, log: 0.25 };
        let with = line("{\"frame\":3}", Some(ms));
        assert_eq!(with, "{\"frame\":3,\"ms\":{\"clustered\":1.5,\"projective\":0.0,\"log\":0.25}}\n");
        assert_eq!(line("{\"frame\":3}", None), "{\"frame\":3,\"ms\":null}\n");
    }
}
