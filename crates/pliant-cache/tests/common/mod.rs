//! A small run with everything awkward in it: a skinned box, an open cloth, a cloud, odd names.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses its own part; tests may panic

pub mod changing;
pub mod posed;

use glam::DVec3;
use pliant_cache::render::{Look, Plane};
use pliant_cache::{
    ColorBy, Elements, LogBody, LogFrame, LogHeader, LogReader, LogWriter, PictureSettings, SimulatedElements,
};
use pliant_geometry::{Layer, MeshAttributes, Polygons, Skin, SplitMix64, SurfaceMaterial, TriMesh};
use std::path::Path;

/// A number in -1..1, the same for the same seed.
pub fn noise(seed: u64) -> f64 {
    SplitMix64::new(seed).unit() * 2.0 - 1.0
}

fn cube() -> TriMesh {
    let corner = |i: usize| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2 & 1) as f64);
    // Two triangles of each face.
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    TriMesh {
        positions: (0..8).map(corner).collect(),
        triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

fn cloth() -> TriMesh {
    let n = 6;
    TriMesh {
        positions: (0..n * n).map(|i| DVec3::new((i % n) as f64 * 0.2, 2.0, (i / n) as f64 * 0.2)).collect(),
        triangles: (0..(n - 1) * (n - 1))
            .flat_map(|q| {
                let a = (q % (n - 1) + q / (n - 1) * n) as u32;
                let n = n as u32;
                [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]
            })
            .collect(),
    }
}

/// A body in its first version, without clusters and attributes.
fn body((id, name): (u64, &str), particles: std::ops::Range<u32>, mesh: TriMesh, skin: Skin) -> LogBody {
    LogBody {
        id,
        version: 0,
        origin: None,
        name: name.into(),
        color: [0.5, 0.5, 0.5],
        particles,
        mesh: mesh.into(),
        skin: skin.into(),
        cluster: vec![].into(),
        attributes: Default::default(),
        simulated: Default::default(),
        look: Look::Jelly,
        rigid: None,
    }
}

pub fn header() -> LogHeader {
    // Each corner from two of 12 particles with uneven weights.
    let skin = Skin {
        offsets: (0..=8).map(|v| 2 * v).collect(),
        particles: (0..8).flat_map(|v| [v, (v + 5) % 12]).collect(),
        weights: (0..8).flat_map(|v| [0.9 - 0.01 * v as f64, 0.1 + 0.01 * v as f64]).collect(),
        ..Skin::default()
    };
    let solid = LogBody {
        color: [0.9, 0.3, 0.1],
        cluster: vec![0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3].into(),
        look: Look::Matte,
        ..body((0, "soft box \"1\""), 0..12, cube(), skin)
    };
    let sheet = LogBody {
        color: [0.1, 0.3, 0.9],
        look: Look::Cloth,
        ..body((1, "soft box_\"1\""), 12..48, cloth(), thick(&cloth()))
    };
    let cloud = TriMesh {
        positions: (0..20).map(|i| DVec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2))).collect(),
        triangles: vec![],
    };
    LogHeader {
        program: "pliant 0.1.0".into(),
        bits: "fused".into(),
        scene_text: "[scene]\nname = \"täst \\ \"\n".into(),
        scene_hash: 0xfeed_beef_0123_4567,
        frames_per_second: 24.0,
        bodies: vec![solid, sheet, body((2, "Materials"), 48..68, cloud, Skin::identity(20))],
        planes: vec![Plane { normal: DVec3::Y, offset: -0.25 }],
        colliders: vec![],
        picture: PictureSettings {
            width: 64,
            height: 48,
            color_by: ColorBy::Speed,
            camera: pliant_cache::render::CameraMotion::Follow,
            azimuth: -30.0,
            elevation: 20.0,
        },
    }
}

/// Vertices off and beyond the cloth: a skin with all its parts.
fn thick(cloth: &TriMesh) -> Skin {
    let off = |(i, p): (usize, &DVec3)| *p + DVec3::new(0.03, 0.01 * (i % 3) as f64, 0.02);
    let vertices: Vec<DVec3> = cloth.positions.iter().enumerate().map(off).collect();
    let skin = Skin::bind_cloth(&cloth.positions, &cloth.triangles, &vertices);
    assert!(skin.handles.is_some() && skin.normal_offsets.is_some());
    skin
}

pub fn frame(header: &LogHeader, index: u32) -> LogFrame {
    frame_of(&header.bodies, index, header.frames_per_second)
}

/// A frame of some bodies. Particles that share a place in a mesh move together, as do those of a body whatever others there are.
pub fn frame_of(bodies: &[LogBody], index: u32, frames_per_second: f64) -> LogFrame {
    let time = f64::from(index) / frames_per_second;
    let mut positions: [Vec<f64>; 3] = Default::default();
    for body in bodies {
        for k in body.particles.clone() {
            let rest = body
                .mesh
                .positions
                .get((k - body.particles.start) as usize)
                .copied()
                .unwrap_or(DVec3::splat(0.5));
            let p = rest
                + DVec3::new(
                    (time * 3.0 + f64::from(k)).sin() / 7.0,
                    -0.3 * time,
                    1e-7 * noise(u64::from(index) << 32 | u64::from(k)),
                );
            for (axis, v) in positions.iter_mut().zip(p.to_array()) {
                axis.push(v);
            }
        }
    }
    let n = positions[0].len();
    LogFrame {
        index,
        time,
        positions,
        velocity: [0, 1, 2]
            .map(|a| (0..n).map(|k| noise(u64::from(index) + 9 * k as u64 + a) as f32).collect()),
        speed: (0..n).map(|k| k as f32 * 0.1).collect(),
        strain: (0..n).map(|k| 1.0 / (1.0 + k as f32)).collect(),
        contact: if index.is_multiple_of(2) { vec![] } else { vec![1; n] },
        planes: None,
        colliders: Vec::new(),
        poses: Vec::new(),
        stats_json: format!("{{\"time\":{time}}}"),
        controls: vec![1, 2, 3],
    }
}

/// Writes frames 0..count with a checkpoint after each frame in `checkpoints`.
pub fn write_log(path: &Path, count: u32, checkpoints: &[u32], finish: bool) {
    let header = header();
    let mut writer = LogWriter::create(path, &header, false).unwrap();
    for i in 0..count {
        writer.append_frame(&frame(&header, i)).unwrap();
        if checkpoints.contains(&i) {
            writer.append_checkpoint(i, format!("state {i}").as_bytes()).unwrap();
        }
    }
    if finish {
        writer.finish().unwrap();
    }
}

/// What the exports should hold: f32 vertices of all bodies in order.
pub fn expected(reader: &LogReader, position: usize) -> Vec<[f32; 3]> {
    let frame = reader.frame(position).unwrap();
    let mut all = Vec::new();
    let mut mesh = Vec::new();
    for body in &reader.header().bodies {
        body.vertices(&frame, &mut mesh);
        all.extend(mesh.iter().map(|p| p.as_vec3().to_array()));
    }
    all
}

/// `(kind, offset, end)` of every record, by walking the documented layout.
pub fn records(bytes: &[u8]) -> Vec<([u8; 4], usize, usize)> {
    let mut found = Vec::new();
    let mut at = 16;
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()) as usize;
        found.push((bytes[at..at + 4].try_into().unwrap(), at, at + 16 + length));
        at += 16 + length;
    }
    found
}

/// A run in which bodies wear something: a cube of quads with hard normals, texture coordinates and two
/// materials; a pyramid with colours at its vertices; a tetrahedral solid; names that only differ in signs.
pub fn dressed_header() -> LogHeader {
    let mut header = header();
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let normals = [[0., 0., -1.], [0., 0., 1.], [0., -1., 0.], [0., 1., 0.], [-1., 0., 0.], [1., 0., 0.]];
    let mut faces = Polygons::default();
    quads.iter().for_each(|q| faces.push(q));
    let material = |name: &str, color| SurfaceMaterial { name: name.into(), color, ..Default::default() };
    let red = material("rot glänzend", [0.8, 0.1, 0.1, 1.0]);
    let glass = SurfaceMaterial {
        metallic: 0.25,
        roughness: 0.125,
        ..material("rot_glänzend", [0.5, 0.5, 1.0, 0.25])
    };
    let cube = &mut header.bodies[0];
    cube.attributes = MeshAttributes {
        uvs: Layer {
            values: vec![[0., 0.], [1., 0.], [1., 1.], [0., 1.], [0.5, 0.25]],
            corners: (0..24).map(|c| if c == 5 { 4 } else { c % 4 }).collect(),
        },
        normals: Layer { values: normals.to_vec(), corners: (0..24).map(|c| c / 4).collect() },
        materials: vec![red.clone(), glass],
        face_materials: vec![0, 0, 1, 0, 1, 1],
        colors: Vec::new(),
        faces,
    }
    .into();
    let triangles = cube.attributes.triangles(&cube.mesh.positions);
    std::sync::Arc::make_mut(&mut cube.mesh).triangles = triangles;
    // The cloth: smooth normals and coordinates of its own per vertex, the same red.
    let cloth = &mut header.bodies[1];
    let faces = Polygons::of_triangles(&cloth.mesh.triangles);
    cloth.attributes = MeshAttributes {
        uvs: Layer::of_vertices(
            cloth.mesh.positions.iter().map(|p| [p.x as f32, p.z as f32]).collect(),
            &faces,
        ),
        normals: Layer::of_vertices(vec![[0.0, 1.0, 0.0]; 36], &faces),
        materials: vec![red],
        faces,
        ..MeshAttributes::default()
    }
    .into();
    std::sync::Arc::make_mut(&mut cloth.simulated).elements.triangles = cloth.mesh.triangles.clone();
    let apex = DVec3::new(0.5, 1.0, 0.5);
    let square = [DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Z, DVec3::Z];
    let mut faces = Polygons::default();
    for face in [&[0, 1, 2, 3][..], &[1, 0, 4], &[2, 1, 4], &[3, 2, 4], &[0, 3, 4]] {
        faces.push(face);
    }
    let positions: Vec<DVec3> = square.into_iter().chain([apex]).collect();
    let attributes = MeshAttributes {
        colors: (0..5).map(|v| [v as f32 / 4.0, 0.5, 0.25, 1.0 - v as f32 / 8.0]).collect(),
        faces,
        ..MeshAttributes::default()
    };
    header.bodies.push(LogBody {
        id: 3,
        version: 0,
        origin: None,
        name: "1. Pyramide".into(),
        color: [1.0, 1.0, 1.0],
        particles: 68..73,
        mesh: TriMesh { triangles: attributes.triangles(&positions), positions }.into(),
        attributes: attributes.into(),
        skin: Skin::identity(5).into(),
        cluster: vec![].into(),
        simulated: SimulatedElements {
            elements: Elements { tetrahedra: vec![[0, 2, 1, 4], [0, 3, 2, 4]], ..Default::default() },
            ..Default::default()
        }
        .into(),
        look: Look::Matte,
        rigid: None,
    });
    for body in &mut header.bodies {
        std::sync::Arc::make_mut(&mut body.simulated).masses =
            body.particles.clone().map(|k| 0.5 + k as f32).collect();
    }
    header
}

/// Writes frames 0..count of the dressed run.
pub fn write_dressed(path: &Path, count: u32) -> LogHeader {
    let header = dressed_header();
    let mut writer = LogWriter::create(path, &header, true).unwrap();
    (0..count).for_each(|i| writer.append_frame(&frame(&header, i)).unwrap());
    writer.finish().unwrap();
    header
}
