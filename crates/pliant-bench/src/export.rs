//! Films on their way to files: a log of a large surface read, skinned and written.

use crate::timing::best_of;
use crate::{Measurement, Run};
use pliant::DVec3;
use pliant_cache::render::Look;
use pliant_cache::{
    ColorBy, ExportOptions, LogBody, LogFrame, LogHeader, LogReader, LogWriter, PictureSettings,
    SimulatedElements, export,
};
use pliant_geometry::{MeshAttributes, Skin, TriMesh};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name, extension, and whether the particles are vertices themselves.
pub(crate) const FILMS: [(&str, &str, bool); 4] = [
    ("export/usda/skinned", "usda", false),
    ("export/pc2/skinned", "pc2", false),
    ("export/pc2/plain", "pc2", true),
    ("export/abc/skinned", "abc", false),
];

const SIDE: usize = 187;
const FRAMES: u32 = 120;

/// A height field of 187² vertices, each following `entries` of `particles` particles.
fn body(particles: usize, entries: usize) -> LogBody {
    let vertices = SIDE * SIDE;
    let positions: Vec<DVec3> =
        (0..vertices).map(|v| DVec3::new((v % SIDE) as f64 * 0.01, 1.0, (v / SIDE) as f64 * 0.01)).collect();
    let triangles = (0..(SIDE - 1) * (SIDE - 1))
        .flat_map(|q| {
            let (a, n) = ((q % (SIDE - 1) + q / (SIDE - 1) * SIDE) as u32, SIDE as u32);
            [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]
        })
        .collect();
    let skin = match entries {
        1 => Skin::identity(vertices),
        _ => Skin {
            offsets: (0..=vertices).map(|v| (v * entries) as u32).collect(),
            particles: (0..vertices * entries)
                .map(|k| ((k / entries * particles / vertices + 37 * (k % entries)) % particles) as u32)
                .collect(),
            weights: vec![1.0 / entries as f64; vertices * entries],
            ..Skin::default()
        },
    };
    LogBody {
        id: 0,
        version: 0,
        origin: None,
        name: "field".into(),
        color: [0.5; 3],
        particles: 0..particles as u32,
        mesh: TriMesh { positions, triangles }.into(),
        attributes: MeshAttributes::default().into(),
        skin: skin.into(),
        cluster: vec![0; particles].into(),
        simulated: SimulatedElements { masses: vec![1.0; particles], ..Default::default() }.into(),
        look: Look::Cloth,
        rigid: None,
    }
}

fn write_log(path: &Path, body: LogBody) -> Result<(), Box<dyn std::error::Error>> {
    let particles = body.particles.len();
    let picture = PictureSettings {
        width: 64,
        height: 48,
        color_by: ColorBy::Body,
        azimuth: 0.0,
        elevation: 0.0,
        ..Default::default()
    };
    let header = LogHeader {
        program: "bench".into(),
        bits: String::new(),
        scene_text: String::new(),
        scene_hash: 0,
        frames_per_second: 24.0,
        bodies: vec![body],
        planes: vec![],
        colliders: vec![],
        picture,
    };
    let mut writer = LogWriter::create(path, &header, true)?;
    for index in 0..FRAMES {
        let value = |k: usize, a: usize| ((k * 7 + a * 3) as f64 + f64::from(index) * 0.1).sin();
        let frame = LogFrame {
            index,
            time: f64::from(index) / 24.0,
            positions: [0, 1, 2].map(|a| (0..particles).map(|k| value(k, a)).collect()),
            velocity: [0, 1, 2].map(|a| (0..particles).map(|k| value(k, a) as f32).collect()),
            strain: vec![0.5; particles],
            contact: vec![0; particles],
            ..Default::default()
        };
        writer.append_frame(&frame)?;
    }
    writer.finish()?;
    Ok(())
}

/// A folder of its own that goes away again.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // If it cannot be removed, the system's own cleaning does it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn films(run: &mut Run<'_>) -> Result<(), String> {
    let folder = Folder(std::env::temp_dir().join(format!("pliant_bench_films_{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).map_err(|e| e.to_string())?;
    for (name, extension, plain) in FILMS.into_iter().filter(|f| run.wants(f.0)).collect::<Vec<_>>() {
        let log = folder.0.join("film.plog");
        let (particles, entries) = if plain { (SIDE * SIDE, 1) } else { (2000, 12) };
        write_log(&log, body(particles, entries)).map_err(|e| e.to_string())?;
        let reader = LogReader::open(&log).map_err(|e| e.to_string())?;
        let path = folder.0.join("film").with_extension(extension);
        let mut done = Ok(0);
        let seconds = best_of(Duration::from_secs(2), || {
            let written = export(&reader, &path, &ExportOptions::default(), &mut |_, _| {});
            done = written.map(|w| w.bytes).map_err(|e| e.to_string());
        });
        let bytes = done.clone()? as f64;
        let note = format!("{FRAMES} frames, {:.0} MB, {:.0} MB/s", bytes / 1e6, bytes / seconds / 1e6);
        run.report(Measurement::new(name, (seconds, "s"), "baseline").on(run.all_threads()).noted(note));
    }
    Ok(())
}
