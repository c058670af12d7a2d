//! A run in which everything changes: a body comes, one is torn, one goes, and its name is taken by another.

use super::dressed_header;
use glam::DVec3;
use pliant_cache::{LogBody, LogFrame, LogHeader, LogReader, LogWriter, VersionOrigin};
use pliant_geometry::{MeshAttributes, Polygons, Skin, TriMesh};
use std::path::Path;
use std::sync::Arc;

/// How many frames there are, numbered from 0, and where things happen.
pub const FRAMES: u32 = 13;
/// A copy of the cube comes.
pub const SPAWN: u32 = 3;
/// The cloth is torn, in two steps.
pub const TEARS: [u32; 2] = [5, 6];
/// The cube goes.
pub const REMOVAL: u32 = 8;
/// Another body of its name comes.
pub const NAMESAKE: u32 = 10;

/// The cube of quads, the cloth and the cloud of the dressed run; the cloth is its own particles.
pub fn changing_header() -> LogHeader {
    let mut header = dressed_header();
    header.bodies.truncate(3);
    let cloth = &mut header.bodies[1];
    cloth.skin = Skin::identity(36).into();
    header
}

/// The bodies from a frame on, after those before; `None` if they stay.
pub fn next_bodies(frame: u32, before: &[LogBody]) -> Option<Vec<LogBody>> {
    let mut bodies = before.to_vec();
    let like = |name: &str, id: u64| {
        let cube = changing_header().bodies.swap_remove(0);
        LogBody { id, name: name.into(), color: [0.2, 0.7, 0.3], ..cube }
    };
    match frame {
        SPAWN => bodies.push(like("copy", 3)),
        5 | 6 => {
            let cloth = bodies.iter_mut().find(|b| b.id == 1).unwrap();
            *cloth = torn(cloth, (frame - TEARS[0]) as usize * 3);
        }
        REMOVAL => bodies.retain(|b| b.id != 0),
        NAMESAKE => bodies.push(like("soft box \"1\"", 4)),
        _ => return None,
    }
    Some(bodies)
}

/// The cloth with its fourth column of vertices torn apart over three rows from `row` on.
fn torn(cloth: &LogBody, row: usize) -> LogBody {
    let old = cloth.mesh.positions.len() as u32;
    let mut positions = cloth.mesh.positions.clone();
    let mut origin: Vec<u32> = (0..old).collect();
    let mut copy = vec![None; old as usize];
    for r in row..row + 3 {
        let v = r * 6 + 3;
        copy[v] = Some(positions.len() as u32);
        origin.push(v as u32);
        positions.push(positions[v]);
    }
    // What lies to the right takes the copies.
    let right = |t: &[u32; 3]| t.iter().any(|&v| positions[v as usize].x > 0.61);
    let mut triangles = cloth.mesh.triangles.clone();
    for t in triangles.iter_mut().filter(|t| right(t)) {
        t.iter_mut().for_each(|v| *v = copy.get(*v as usize).copied().flatten().unwrap_or(*v));
    }
    let attributes = MeshAttributes {
        faces: Polygons::of_triangles(&triangles),
        ..MeshAttributes::clone(&cloth.attributes)
    };
    let mut simulated = cloth.simulated.as_ref().clone();
    simulated.elements.triangles.clone_from(&triangles);
    simulated.masses = origin.iter().map(|&i| simulated.masses[i as usize]).collect();
    let count = positions.len();
    LogBody {
        version: cloth.version + 1,
        origin: Some(Arc::new(VersionOrigin { particles: origin.clone(), vertices: origin })),
        particles: 0..count as u32,
        mesh: TriMesh { positions, triangles }.into(),
        attributes: attributes.into(),
        skin: Skin::identity(count).into(),
        simulated: simulated.into(),
        ..cloth.clone()
    }
}

/// A frame of some bodies: a body moves by its id and its time alone, and what was torn goes apart.
pub fn frame_with(bodies: &[LogBody], index: u32) -> LogFrame {
    let time = f64::from(index) / 24.0;
    let mut positions: [Vec<f64>; 3] = Default::default();
    for body in bodies {
        for (k, _) in body.particles.clone().enumerate() {
            let rest = body.mesh.positions.get(k).copied().unwrap_or(DVec3::splat(0.5));
            // Tears go on opening.
            let open = if k >= 36 && body.id == 1 { 0.02 + 0.5 * time } else { 0.0 };
            let wave = (3.0 * time + 2.0 * rest.x + rest.z).sin() / 7.0;
            let p = rest + DVec3::new(1.7 * body.id as f64 + open, wave - 0.3 * time, 0.0);
            positions.iter_mut().zip(p.to_array()).for_each(|(axis, v)| axis.push(v));
        }
    }
    let n = positions[0].len();
    LogFrame {
        index,
        time,
        positions,
        velocity: [0, 1, 2].map(|a| (0..n).map(|k| (k + a) as f32 * 0.01).collect()),
        strain: (0..n).map(|k| 1.0 / (1.0 + k as f32)).collect(),
        contact: vec![0; n],
        stats_json: format!("{{\"time\":{time}}}"),
        controls: vec![7; 3 + n / 40],
        ..LogFrame::default()
    }
}

/// Appends the frames of a run from `from` on, with a checkpoint after each in `checkpoints`.
pub fn go_on(writer: &mut LogWriter, from: u32, checkpoints: &[u32]) {
    for i in from..FRAMES {
        if let Some(bodies) = next_bodies(i, writer.bodies()) {
            writer.begin_epoch(bodies).unwrap();
        }
        let count = |b: &[LogBody]| next_bodies(i, b).unwrap_or_else(|| b.to_vec());
        writer.append_frame(&frame_with(&count(writer.bodies()), i)).unwrap();
        if checkpoints.contains(&i) {
            writer.append_checkpoint(i, &i.to_le_bytes()).unwrap();
        }
    }
}

/// Writes the whole run.
pub fn write_changing(path: &Path, checkpoints: &[u32], compact: bool) {
    let mut writer = LogWriter::create(path, &changing_header(), true).unwrap();
    if compact {
        writer = writer.compact().unwrap();
    }
    go_on(&mut writer, 0, checkpoints);
    writer.finish().unwrap();
}

/// The bodies a frame should have, by replaying the run.
pub fn bodies_in(frame: u32) -> Vec<LogBody> {
    (0..=frame).fold(changing_header().bodies, |bodies, i| next_bodies(i, &bodies).unwrap_or(bodies))
}

/// Vertices of a body in a frame of the log, as files hold them; `None` if it is not there.
pub fn vertices(reader: &LogReader, place: usize, id: u64) -> Option<Vec<[f32; 3]>> {
    let body = reader.bodies_at(place).iter().find(|b| b.id == id)?;
    let mut out = Vec::new();
    body.vertices(&reader.frame(place).unwrap(), &mut out);
    Some(out.iter().map(|p| p.as_vec3().to_array()).collect())
}
