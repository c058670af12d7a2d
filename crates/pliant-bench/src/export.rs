//! How fast exports are: a log of 35,000 vertices on 2,000 particles (or each on its own), and 120 frames.
//!
//! `cargo run --release -p pliant-cache --example export_speed -- FOLDER [EXTENSION…]`; best of five.
#![allow(clippy::unwrap_used)] // an example may panic

use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::DVec3;
use pliant_cache::render::Look;
use pliant_cache::{
    ColorBy, ExportOptions, LogBody, LogFrame, LogHeader, LogReader, LogWriter, PictureSettings,
    SimulatedElements, export,
};
use pliant_geometry::{MeshAttributes, Skin, TriMesh};

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

fn write_log(path: &Path, body: LogBody) {
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
        program: "speed".into(),
        bits: String::new(),
        scene_text: String::new(),
        scene_hash: 0,
        frames_per_second: 24.0,
        bodies: vec![body],
        planes: vec![],
        solids: vec![],
        picture,
    };
    let mut writer = LogWriter::create(path, &header, true).unwrap();
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
        writer.append_frame(&frame).unwrap();
    }
    writer.finish().unwrap();
}

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("a folder"));
    std::fs::create_dir_all(&folder).unwrap();
    let mut extensions: Vec<String> = std::env::args().skip(2).collect();
    if extensions.is_empty() {
        extensions = ["pc2", "mdd", "vtu", "usda"].map(String::from).to_vec();
    }
    for (name, particles, entries) in [("skinned", 2000, 12), ("plain", SIDE * SIDE, 1)] {
        let log = folder.join(name).with_extension("plog");
        write_log(&log, body(particles, entries));
        let reader = LogReader::open(&log).unwrap();
        for extension in &extensions {
            for surface in [false, true] {
                if surface && extension != "vtu" {
                    continue;
                }
                let options = ExportOptions { surface, ..Default::default() };
                let path = folder.join(name).with_extension(extension);
                let mut best = f64::INFINITY;
                let mut bytes = 0;
                for _ in 0..5 {
                    let begin = Instant::now();
                    bytes = export(&reader, &path, &options, &mut |_, _| {}).unwrap().bytes;
                    best = best.min(begin.elapsed().as_secs_f64());
                }
                let shown = if surface { " surface" } else { "" };
                let megabytes = bytes as f64 / 1e6;
                println!(
                    "{name} .{extension}{shown}: {megabytes:.0} MB in {best:.3} s, {:.0} MB/s",
                    megabytes / best
                );
            }
        }
    }
}
