//! Bodies that come, go and are torn in a log: every frame has its own, each mesh is stored once, a resumed log has the
//! bytes of an unbroken one, and nonsense is refused.

use crate::common::changing::{self, FRAMES, bodies_in, changing_header, frame_with, go_on, next_bodies};
use crate::common::records;
use pliant_cache::{CacheError, LogBody, LogReader, LogWriter, VersionOrigin};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

fn written(compact: bool, checkpoints: &[u32]) -> (pliant_testing::TempDir, PathBuf) {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    changing::write_changing(&path, checkpoints, compact);
    (dir, path)
}

/// What a body is, apart from where its particles are in a frame.
fn unplaced(bodies: &[LogBody]) -> Vec<LogBody> {
    bodies.iter().map(|b| LogBody { particles: 0..b.particles.len() as u32, ..b.clone() }).collect()
}

#[test]
fn every_frame_has_the_bodies_of_its_time() {
    let (_dir, path) = written(false, &[4]);
    let reader = LogReader::open(&path).unwrap();
    assert!(reader.is_finished() && reader.warnings().is_empty());
    let firsts: Vec<u32> = reader.epochs().iter().map(|e| e.first).collect();
    assert_eq!(firsts, [0, 3, 5, 6, 8, 10]);
    // In any order.
    for i in [12, 0, 7, 3, 5, 4, 6, 8, 11, 2, 9, 10, 1] {
        let there = reader.bodies_at(i);
        assert_eq!(unplaced(there), unplaced(&bodies_in(i as u32)), "frame {i}");
        let mut end = 0;
        for body in there {
            assert_eq!(body.particles.start, end);
            end = body.particles.end;
        }
        assert_eq!(reader.frame(i).unwrap(), frame_with(there, i as u32), "frame {i}");
    }
    // Copies share what they have in common, also those that came later, after the one they are like was gone.
    let at = |i: usize, id: u64| reader.bodies_at(i).iter().find(|b| b.id == id).unwrap();
    assert!(
        Arc::ptr_eq(&at(0, 0).mesh, &at(12, 3).mesh)
            && Arc::ptr_eq(&at(0, 0).attributes, &at(12, 4).attributes)
    );
    assert!(Arc::ptr_eq(&at(4, 3).skin, &at(12, 4).skin));
    assert!(Arc::ptr_eq(&at(6, 1).mesh, &at(12, 1).mesh), "what stays is the same");
}

#[test]
fn what_stays_or_is_known_is_not_stored_again() {
    let (_dir, path) = written(false, &[]);
    let bytes = fs::read(&path).unwrap();
    let epochs: Vec<usize> = records(&bytes).iter().filter(|r| r.0 == *b"EPOC").map(|r| r.2 - r.1).collect();
    let [spawn, tear, _, removal, namesake] = epochs[..] else { panic!("{epochs:?}") };
    // A copy: its name, colour and place; the ids of those that stay. No mesh.
    assert!(spawn < 600 && namesake < 600, "{epochs:?}");
    assert!(removal < 100, "{epochs:?}");
    assert!(tear > 2000, "{epochs:?}");
}

#[test]
fn a_compact_log_is_near_and_reads_any_frame_alone() {
    let (_dir, path) = written(true, &[4]);
    let near = 2.0 / f64::from(1 << 17);
    for i in (0..FRAMES as usize).rev() {
        // Opened anew: nothing is known from other frames.
        let reader = LogReader::open(&path).unwrap();
        let (got, wanted) = (reader.frame(i).unwrap(), frame_with(reader.bodies_at(i), i as u32));
        for k in 0..3 {
            let off = got.positions[k].iter().zip(&wanted.positions[k]).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) <= near, "frame {i}");
            assert_eq!(got.positions[k].len(), wanted.positions[k].len());
        }
        assert_eq!((&got.controls, &got.contact), (&wanted.controls, &wanted.contact));
        // What comes is as it is in its first frame.
        for body in reader.bodies_at(i).iter().filter(|b| [(3, 3), (4, 10)].contains(&(b.id, i))) {
            let range = body.particles.start as usize..body.particles.end as usize;
            assert_eq!(got.positions[1][range.clone()], wanted.positions[1][range]);
        }
    }
    let (_other, plain) = written(false, &[4]);
    let size = |p: &PathBuf| fs::metadata(p).unwrap().len();
    assert!(size(&path) < size(&plain));
}

#[test]
fn a_cut_anywhere_and_resumed_has_the_same_bytes() {
    for compact in [false, true] {
        // Checkpoints right before and after what happens.
        let checkpoints = [2, 3, 5, 7, 9];
        let (dir, path) = written(compact, &checkpoints);
        let whole = fs::read(&path).unwrap();
        let cut = dir.path().join("cut.plog");
        let ends: Vec<usize> = records(&whole).iter().flat_map(|r| [r.2, r.2 - 1, r.1 + 20]).collect();
        for length in ends.into_iter().filter(|&n| n >= records(&whole)[0].2 && n <= whole.len()) {
            fs::write(&cut, &whole[..length]).unwrap();
            let opened = LogReader::open(&cut).unwrap();
            for i in 0..opened.frame_count() {
                assert_eq!(unplaced(opened.bodies_at(i)), unplaced(&bodies_in(i as u32)));
                opened.frame(i).unwrap();
            }
            let resumed = LogWriter::resume(&cut, changing_header().scene_hash).unwrap();
            let from = resumed.checkpoint.as_ref().map_or(0, |(n, _)| n + 1);
            let mut writer = resumed.writer;
            if compact {
                writer = writer.compact().unwrap();
            }
            go_on(&mut writer, from, &checkpoints);
            writer.finish().unwrap();
            assert!(fs::read(&cut).unwrap() == whole, "cut at {length}, compact {compact}");
        }
    }
}

#[test]
fn bodies_that_cannot_follow_are_refused() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    let header = changing_header();
    let mut writer = LogWriter::create(&path, &header, false).unwrap();
    let early = writer.begin_epoch(header.bodies.clone()).unwrap_err();
    assert!(early.to_string().contains("no frame yet"), "{early}");
    writer.append_frame(&frame_with(&header.bodies, 0)).unwrap();
    let bodies = header.bodies.clone();
    let refused = |writer: &mut LogWriter, change: &dyn Fn(&mut Vec<LogBody>), told: &str| {
        let mut wrong = bodies.clone();
        change(&mut wrong);
        let e = writer.begin_epoch(wrong).unwrap_err().to_string();
        assert!(e.contains(told), "{told}: {e}");
    };
    let w = &mut writer;
    refused(w, &|b| b[1].color = [0.0; 3], "not what it was; make it version 1");
    refused(w, &|b| b[1].version = 2, "version 2 follows version 0");
    refused(w, &|b| b.swap(0, 1), "id 0 is not above");
    refused(w, &|b| b.push(LogBody { id: 9, version: 1, ..b[0].clone() }), "was not there before");
    let torn = next_bodies(5, &bodies).unwrap().swap_remove(1);
    let bad = |particles: u32| {
        let origin = torn.origin.as_deref().unwrap();
        let mut origin =
            VersionOrigin { particles: origin.particles.clone(), vertices: origin.vertices.clone() };
        origin.particles[0] = particles;
        LogBody { origin: Some(Arc::new(origin)), ..torn.clone() }
    };
    refused(w, &|b| b[1] = bad(36), "that it did not have");
    let short = Arc::new(VersionOrigin { particles: vec![0], vertices: vec![0] });
    refused(w, &|b| b[1] = LogBody { origin: Some(short.clone()), ..torn.clone() }, "says where 1 particles");
    // A gone id names nothing ever after.
    w.begin_epoch(bodies[..2].to_vec()).unwrap();
    w.append_frame(&frame_with(&bodies[..1], 1)).unwrap_err();
    w.append_frame(&frame_with(&bodies[..2], 1)).unwrap();
    assert_eq!(w.bodies().len(), 2);
    refused(w, &|_| {}, "another body had id 2 before");
    w.begin_epoch(vec![bodies[0].clone(), bad(35)]).unwrap();
    // No body at all is a world too.
    w.begin_epoch(Vec::new()).unwrap();
    w.append_frame(&frame_with(&[], 2)).unwrap();
    writer.finish().unwrap();
    let reader = LogReader::open(&path).unwrap();
    assert_eq!([0, 1, 2].map(|i| reader.bodies_at(i).len()), [3, 2, 0]);
}

/// Records that contradict those before are damage, told with their place; what comes before is read.
#[test]
fn epochs_out_of_place_are_damage() {
    let (dir, path) = written(false, &[]);
    let bytes = fs::read(&path).unwrap();
    let all = records(&bytes);
    let epochs: Vec<_> = all.iter().filter(|r| r.0 == *b"EPOC").collect();
    let other = dir.path().join("b.plog");
    let open = |parts: &[&[u8]]| {
        fs::write(&other, parts.concat()).unwrap();
        LogReader::open(&other).unwrap()
    };
    // The same one twice in a row, and one before any frame.
    let e = epochs[1];
    let twice = open(&[&bytes[..e.2], &bytes[e.1..e.2], &bytes[e.2..]]);
    assert!(twice.warnings()[0].to_string().contains("an epoch: "), "{}", twice.warnings()[0]);
    assert_eq!(twice.frame_count(), 5);
    let early = open(&[&bytes[..all[0].2], &bytes[e.1..e.2], &bytes[e.2..]]);
    assert!(early.warnings()[0].to_string().contains("an epoch: "));
    // One that is missing: the frames after it have particles of bodies nobody knows.
    let missing = open(&[&bytes[..epochs[0].1], &bytes[epochs[0].2..]]);
    let failed = (0..missing.frame_count()).filter_map(|i| missing.frame(i).err()).next();
    assert!(failed.is_none_or(|e| matches!(e, CacheError::Damaged { .. })));
    for i in 0..3 {
        missing.frame(i).unwrap();
    }
}
