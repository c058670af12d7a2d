//! A run of bodies that never deform: two boxes alike, a ring that comes and goes, and a soft cube beside them.

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use pliant_cache::{BodyPose, LogBody, LogFrame, LogHeader, LogWriter};
use pliant_geometry::shapes::{SolidShape, rigid_from_mesh};

use super::changing::{changing_header, frame_with};

/// Frames, numbered from 0.
pub const FRAMES: u32 = 12;

/// A body of a shape, with its place among others yet to be told.
fn rigid(id: u64, name: &str, shape: &pliant_geometry::Shape, like: &LogBody) -> LogBody {
    LogBody {
        id,
        name: name.into(),
        color: [0.1 * id as f32, 0.5, 0.3],
        particles: 0..4,
        mesh: Arc::new(shape.surface.clone()),
        attributes: Default::default(),
        skin: Arc::new(shape.skin.clone()),
        cluster: Default::default(),
        simulated: Default::default(),
        rigid: Some(Arc::new(shape.points.clone())),
        ..like.clone()
    }
}

/// A soft cube, two rigid boxes alike, a rigid solid that comes with frame 3 and goes with frame 9.
pub struct Run {
    pub first: Vec<LogBody>,
    pub more: Vec<LogBody>,
}

pub fn bodies() -> Run {
    let soft = changing_header().bodies[0].clone();
    let block = SolidShape::Cuboid { size: DVec3::new(0.3, 0.2, 0.1) }.build_rigid().unwrap();
    let one = rigid(1, "block", &block, &soft);
    let other = LogBody { id: 2, name: "block, too".into(), ..one.clone() };
    let mut ring = SolidShape::Torus { major: 0.2, minor: 0.07 }.build(0.1).unwrap().surface;
    ring.positions.iter_mut().for_each(|p| *p += DVec3::new(0.7, 0.1, -0.3));
    let ring = rigid(7, "ring", &rigid_from_mesh(ring).unwrap(), &soft);
    let placed = |bodies: Vec<LogBody>| {
        let mut end = 0;
        let place = |mut b: LogBody| {
            b.particles = end..end + b.particles.len() as u32;
            end = b.particles.end;
            b
        };
        bodies.into_iter().map(place).collect::<Vec<LogBody>>()
    };
    let first = placed(vec![soft, one, other]);
    let more = placed(first.iter().cloned().chain([ring]).collect());
    Run { first, more }
}

/// Where a body is: it turns by more than a right angle from frame to frame.
pub fn pose(id: u64, frame: u32) -> BodyPose {
    let t = f64::from(frame) + id as f64;
    let turn = DQuat::from_scaled_axis(DVec3::new(0.9, 1.4, -0.4) * t);
    BodyPose { place: DVec3::new((0.3 * t).sin(), 1.0 - 0.1 * t, 0.2 * t), turn }
}

pub fn there(run: &Run, index: u32) -> &[LogBody] {
    if (3..9).contains(&index) { &run.more } else { &run.first }
}

pub fn frame(run: &Run, index: u32) -> LogFrame {
    let bodies = there(run, index);
    let poses = bodies.iter().filter(|b| b.rigid.is_some()).map(|b| pose(b.id, index)).collect();
    LogFrame { poses, ..frame_with(bodies, index) }
}

pub fn write(run: &Run, mut writer: LogWriter, frames: impl Iterator<Item = u32>) -> LogWriter {
    for index in frames {
        if index == 3 || index == 9 {
            writer.begin_epoch(there(run, index).to_vec()).unwrap();
        }
        writer.append_frame(&frame(run, index)).unwrap();
        if index == 5 {
            writer.append_checkpoint(5, b"state").unwrap();
        }
    }
    writer
}

/// The log of it.
pub fn write_posed(path: &Path) {
    let run = bodies();
    let header = LogHeader { bodies: run.first.clone(), ..changing_header() };
    write(&run, LogWriter::create(path, &header, true).unwrap(), 0..FRAMES).finish().unwrap();
}
