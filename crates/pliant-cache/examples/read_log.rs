//! Reads a frame log: who is in it, where everything is in each frame, and what was measured.
//!
//! ```text
//! pliant run let_go --log let_go.plog
//! cargo run --release -p pliant-cache --example read_log -- let_go.plog
//! ```
//!
//! A log is the one file a run writes as it goes; everything else is made from it. It opens while the run is still going or after
//! it was killed: what is whole can be read. Bodies may come, go and be torn, so ask for those of each frame.

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

use pliant_cache::{CacheError, LogReader};
use std::path::Path;

/// What is told of a log, a line each.
fn tell(path: &Path) -> Result<Vec<String>, CacheError> {
    let log = LogReader::open(path)?;
    let header = log.header();
    let rate = header.frames_per_second;
    let mut lines = vec![format!("written by {}, {rate} frames a second", header.program)];
    // Broken off or damaged further on: no error, as all before it can be read.
    lines.extend(log.warnings().iter().map(|w| format!("note: {w}")));
    for (k, epoch) in log.epochs().iter().enumerate() {
        let names: Vec<&str> = epoch.bodies.iter().map(|b| &*b.name).collect();
        lines.push(format!("epoch {k}: {}", names.join(", ")));
    }
    let mut vertices = Vec::new();
    for i in 0..log.frame_count() {
        // Any frame can be read by itself, in any order.
        let frame = log.frame(i)?;
        for body in log.bodies_at(i) {
            // Particles are what was simulated, in one array per coordinate for all bodies ...
            let particles = body.particles.start as usize..body.particles.end as usize;
            let lowest = frame.positions[1][particles.clone()].iter().copied().fold(f64::MAX, f64::min);
            let fastest = frame.speeds(particles).iter().copied().fold(0.0, f32::max);
            // ... and vertices what is shown: the render mesh, which follows the particles.
            body.vertices(&frame, &mut vertices);
            lines.push(format!(
                "frame {} ({:.3} s): {} has {} vertices and {} triangles, lowest particle at {lowest:.3} m, fastest {fastest:.2} m/s",
                frame.index,
                frame.time,
                body.name,
                vertices.len(),
                body.mesh.triangles.len(),
            ));
        }
        // Energies, momenta and so on, as docs/statistics.md says, in one JSON object.
        if !frame.stats_json.is_empty() {
            lines.push(format!("  measured: {}", frame.stats_json));
        }
    }
    Ok(lines)
}

fn main() -> Result<(), CacheError> {
    let Some(path) = std::env::args_os().nth(1) else {
        println!("give the log of a run: `pliant run gummy_bear --log bear.plog` makes one");
        return Ok(());
    };
    for line in tell(Path::new(&path))? {
        println!("{line}");
    }
    Ok(())
}

#[test]
#[allow(clippy::unwrap_used)]
fn whole_logs_and_cut_ones_are_read() {
    let folder = pliant_testing::tempdir().unwrap();
    let path = folder.path().join("run.plog");
    common::write_log(&path, 4, &[2], true);
    let whole = tell(&path).unwrap();
    let frames = |lines: &[String]| lines.iter().filter(|l| l.starts_with("frame ")).count();
    let bodies = LogReader::open(&path).unwrap().header().bodies.len();
    assert_eq!(frames(&whole), 4 * bodies, "{whole:#?}");
    assert!(!whole.iter().any(|l| l.starts_with("note")), "{whole:#?}");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 60]).unwrap();
    let cut = tell(&path).unwrap();
    assert!(frames(&cut) == 3 * bodies && cut.iter().any(|l| l.starts_with("note")), "{cut:#?}");
}
