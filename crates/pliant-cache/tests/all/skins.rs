//! Skins in the log: all parts survive, parts that are not there are none, and what does not fit is refused.

use crate::common::{header, records, write_log};
use glam::{DMat3, DVec3};
use pliant_cache::{LogReader, LogWriter};
use pliant_geometry::{Handles, NormalOffsets, RigidFrame, RigidOffsets, Skin, SparseRows};
use std::fs;

/// The message with which a log is refused whose cloth has a skin changed this way.
fn refusal(change: impl Fn(&mut Skin)) -> String {
    let dir = pliant_testing::tempdir().unwrap();
    let mut header = header();
    change(std::sync::Arc::make_mut(&mut header.bodies[1].skin));
    LogWriter::create(dir.path().join("a.plog"), &header, false).unwrap_err().to_string()
}

fn handles(skin: &mut Skin) -> &mut Handles {
    skin.handles.as_mut().unwrap()
}

fn normal_offsets(skin: &mut Skin) -> &mut NormalOffsets {
    skin.normal_offsets.as_mut().unwrap()
}

fn shorten<T>(list: &mut Vec<T>) {
    list.pop();
}

#[test]
fn what_does_not_fit_is_refused() {
    let cases = [
        (refusal(|s| handles(s).handles.columns[3] = 36), "uses 36, but there are only 36"),
        (refusal(|s| handles(s).handles.weights[3] = f64::NAN), "weight 3 is not finite"),
        (refusal(|s| handles(s).vertices.columns[0] = 1_000_000), "uses 1000000"),
        (refusal(|s| handles(s).vertices.offsets[5] = u32::MAX), "offsets do not fit"),
        (refusal(|s| shorten(&mut handles(s).vertices.offsets)), "vertices on handles have 35 rows"),
        (refusal(|s| shorten(&mut handles(s).handles.weights)), "offsets do not fit"),
        (refusal(|s| normal_offsets(s).vertices.columns[0] = 36), "the skin's heights"),
        (refusal(|s| normal_offsets(s).vertices.weights[0] = f64::INFINITY), "not finite"),
        (refusal(|s| normal_offsets(s).triangles[7][2] = 36), "uses particle 36 of 36"),
        (refusal(|s| normal_offsets(s).vertices = Default::default()), "heights have 0 rows"),
        (refusal(|s| s.particles[0] = 36), "the skin's particles"),
        (refusal(|s| shorten(&mut s.offsets)), "the skin has 35 vertices, the mesh 36"),
    ];
    for (got, want) in cases {
        assert!(got.contains(want) && got.contains("soft box_"), "{got:?} lacks {want:?}");
    }
}

#[test]
fn a_part_without_its_other_half_is_refused_and_an_absent_one_is_none() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 1, &[], true);
    let sound = fs::read(&path).unwrap();
    let renamed = |names: &[&str]| {
        let mut bytes = sound.clone();
        for name in names {
            let at = bytes.windows(name.len()).position(|w| w == name.as_bytes()).unwrap();
            bytes[at] = b'X';
        }
        let (_, start, end) = records(&bytes)[0];
        let mut crc = crc32fast::Hasher::new();
        crc.update(&bytes[start..start + 12]);
        crc.update(&bytes[start + 16..end]);
        bytes[start + 12..start + 16].copy_from_slice(&crc.finalize().to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        LogReader::open(&path)
    };
    let half = renamed(&["skin_by_handle_columns"]).err().map(|e| e.to_string()).unwrap();
    assert!(half.contains("skin_by_handle_columns"), "{half}");
    let half = renamed(&["skin_by_normal_weights"]).err().map(|e| e.to_string()).unwrap();
    assert!(half.contains("skin_by_normal_weights"), "{half}");
    // As logs of earlier versions are: readers of either version pass over what they do not know.
    let reader = renamed(&["skin_handle_offsets", "skin_cloth"]).unwrap();
    let skin = &reader.header().bodies[1].skin;
    assert_eq!((&skin.handles, &skin.normal_offsets), (&None, &None));
    assert_eq!(skin.particles, header().bodies[1].skin.particles);
}

/// Gives a skin that has handles two frames, of which every vertex follows an axis.
fn frames(skin: &mut Skin) -> &mut RigidOffsets {
    let spread = DMat3::from_cols(
        DVec3::new(0.3, 0.01, 0.02),
        DVec3::new(0.01, 0.2, -0.03),
        DVec3::new(0.02, -0.03, 0.1),
    );
    let frame = |first| RigidFrame { first, spread: spread * f64::from(first + 1) };
    let count = skin.len() as u32;
    let vertices = SparseRows {
        offsets: (0..=count).collect(),
        columns: (0..count).map(|v| v % 6).collect(),
        weights: (0..count).map(|v| 0.01 * f64::from(v)).collect(),
    };
    skin.rigid_offsets.insert(Box::new(RigidOffsets { frames: vec![frame(0), frame(4)], vertices }))
}

#[test]
fn what_only_turns_survives_and_is_refused_where_it_does_not_fit() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    let mut header = header();
    frames(std::sync::Arc::make_mut(&mut header.bodies[1].skin));
    LogWriter::create(&path, &header, false).unwrap();
    let back = LogReader::open(&path).unwrap();
    assert_eq!(back.header().bodies[1].skin, header.bodies[1].skin);
    let handles = header.bodies[1].skin.handles.as_ref().unwrap().handles.len() as u32;
    let cases = [
        (refusal(|s| frames(s).vertices.columns[0] = 6), "the skin's offsets"),
        (refusal(|s| frames(s).vertices.weights[0] = f64::NAN), "not finite"),
        (refusal(|s| frames(s).frames[1].first = handles - 2), "frame 1 of the skin"),
        (refusal(|s| frames(s).frames[0].first = u32::MAX), "frame 0 of the skin"),
        (refusal(|s| frames(s).frames[0].spread.x_axis.y = f64::INFINITY), "frame 0 of the skin"),
        (
            refusal(|s| {
                frames(s);
                s.handles = None;
            }),
            "frame 0 of the skin",
        ),
    ];
    for (got, want) in cases {
        assert!(got.contains(want), "{got:?} lacks {want:?}");
    }
}
