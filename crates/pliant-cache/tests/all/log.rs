//! The frame log against everything that happens to files: cuts, flips, other versions, two writers.

use crate::common::{frame, header, records, write_log};
use pliant_cache::{CacheError, ErrorKind, LogBody, LogFrame, LogReader, LogWarning, LogWriter};
use std::fs;

#[test]
fn what_goes_in_comes_out() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 5, &[2], true);
    let reader = LogReader::open(&path).unwrap();
    assert_eq!(*reader.header(), header());
    assert_eq!(reader.frame_count(), 5);
    assert!(reader.is_finished());
    assert!(reader.warnings().is_empty());
    for i in [4, 0, 2, 1, 3] {
        assert_eq!(reader.frame(i).unwrap(), frame(&header(), i as u32));
        assert_eq!(reader.frame_time(i), Some(i as f64 / 24.0));
    }
    assert_eq!(reader.last_checkpoint().unwrap(), Some((2, b"state 2".to_vec())));
    assert_eq!(reader.frame(5).unwrap_err().kind(), ErrorKind::Content);
    assert!(!dir.path().join("a.plog.tmp").exists());
}

#[test]
fn a_cut_at_every_byte_of_the_last_record_loses_that_record_only() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 3, &[], false);
    let bytes = fs::read(&path).unwrap();
    let (kind, start, end) = *records(&bytes).last().unwrap();
    assert_eq!((&kind, end), (b"FRAM", bytes.len()));
    let cut = dir.path().join("cut.plog");
    for length in start..end {
        fs::write(&cut, &bytes[..length]).unwrap();
        let reader = LogReader::open(&cut).unwrap();
        assert_eq!(reader.frame_count(), 2);
        assert_eq!(
            reader.warnings(),
            [LogWarning::BrokenOff { last_frame: Some(1), torn_bytes: (length - start) as u64 }]
        );
        assert!(reader.warnings()[0].to_string().contains("broken off after frame 1"));
        assert_eq!(reader.frame(1).unwrap(), frame(&header(), 1));
        // A cut with the length kept, as after a power cut: the rest reads as zeros.
        let mut zeros = bytes[..length].to_vec();
        zeros.resize(end, 0);
        if zeros != bytes {
            fs::write(&cut, &zeros).unwrap();
            assert_eq!(LogReader::open(&cut).unwrap().frame_count(), 2);
        }
    }
}

#[test]
fn a_cut_anywhere_in_the_file_never_panics_and_keeps_whole_frames() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 3, &[1], true);
    let bytes = fs::read(&path).unwrap();
    let records = records(&bytes);
    let cut = dir.path().join("cut.plog");
    for length in 0..bytes.len() {
        fs::write(&cut, &bytes[..length]).unwrap();
        let whole = records.iter().filter(|r| r.0 == *b"FRAM" && r.2 <= length).count();
        match LogReader::open(&cut) {
            Ok(reader) => {
                assert_eq!(reader.frame_count(), whole);
                assert!(!reader.is_finished());
                assert_eq!(reader.warnings().len(), 1);
            }
            Err(e) => {
                assert!(length < records[0].2, "{e}");
                assert_eq!(e.kind(), ErrorKind::Content);
            }
        }
    }
}

#[test]
fn damage_in_the_middle_is_told_from_a_torn_tail() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 6, &[1], true);
    let bytes = fs::read(&path).unwrap();
    // Frame 3 is the sixth record: header, 0, 1, checkpoint, 2, 3.
    let (kind, start, end) = records(&bytes)[5];
    assert_eq!(&kind, b"FRAM");
    // In kind, length (small, huge), checksum, frame number and data.
    for place in [start, start + 4, start + 6, start + 11, start + 12, start + 16, end - 1] {
        let mut hurt = bytes.clone();
        hurt[place] ^= 0x40;
        fs::write(&path, &hurt).unwrap();
        let reader = LogReader::open(&path).unwrap();
        assert_eq!(reader.frame_count(), 3);
        let [warning] = reader.warnings() else { panic!() };
        let LogWarning::Damaged { offset, frames, last_frame, .. } = warning else {
            panic!("byte {place}: {warning}")
        };
        assert_eq!((*offset, *frames, *last_frame), (start as u64, 3, Some(2)));
        let text = warning.to_string();
        assert!(text.contains(&format!("at byte {start}")) && text.contains("up to frame 2"), "{text}");
        assert_eq!(reader.frame(2).unwrap(), frame(&header(), 2));
    }
    // Taking it up again goes back to the checkpoint before the damage.
    let resumed = LogWriter::resume(&path, header().scene_hash).unwrap();
    assert_eq!(resumed.checkpoint, Some((1, b"state 1".to_vec())));
    assert_eq!((resumed.kept_frames, resumed.dropped_frames), (2, 1));
}

#[test]
fn what_is_no_log_is_named() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        LogReader::open(&path).expect_err("refused")
    };
    let empty = open(b"");
    assert!(matches!(empty, CacheError::NotALog { .. }) && empty.to_string().contains("empty"));
    assert!(matches!(open(b"#usda 1.0\n and more text"), CacheError::NotALog { .. }));
    fs::remove_file(&path).unwrap();
    write_log(&path, 1, &[], true);
    let bytes = fs::read(&path).unwrap();
    for version in [0u32, 2, 77] {
        let mut other = bytes.clone();
        other[8..12].copy_from_slice(&version.to_le_bytes());
        let e = open(&other);
        assert!(matches!(e, CacheError::OtherVersion { found, known: 3, .. } if found == version));
        let text = e.to_string();
        assert!(text.contains(&format!("version {version}")) && text.contains("version 3"), "{text}");
    }
    // A damaged header leaves nothing to read.
    let mut hurt = bytes.clone();
    hurt[60] ^= 1;
    assert!(matches!(open(&hurt), CacheError::Damaged { offset: 16, frames: 0, .. }));
    let missing = LogReader::open(dir.path().join("none.plog")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert_eq!(LogReader::open(dir.path()).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn later_versions_may_add_records_and_channels() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 2, &[], false);
    let bytes = fs::read(&path).unwrap();
    let (_, start, end) = *records(&bytes).last().unwrap();
    let record = |kind: &[u8; 4], payload: &[u8]| {
        let mut out = kind.to_vec();
        out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        let mut crc = crc32fast::Hasher::new();
        crc.update(&out);
        crc.update(payload);
        out.extend_from_slice(&crc.finalize().to_le_bytes());
        out.extend_from_slice(payload);
        out
    };
    // A channel with an element type this version does not know.
    let mut payload = bytes[start + 16..end].to_vec();
    payload.extend_from_slice(&[3, 0]);
    payload.extend_from_slice(b"vel");
    payload.extend_from_slice(&[99, 3]);
    payload.extend_from_slice(&2u64.to_le_bytes());
    payload.extend_from_slice(&6u64.to_le_bytes());
    payload.extend_from_slice(&[7; 6]);
    let mut newer = bytes[..start].to_vec();
    newer.extend(record(b"NOTE", b"something new"));
    newer.extend(record(b"FRAM", &payload));
    newer.extend(record(b"END.", b""));
    fs::write(&path, &newer).unwrap();
    let reader = LogReader::open(&path).unwrap();
    assert!(reader.warnings().is_empty());
    assert_eq!(reader.frame(1).unwrap(), frame(&header(), 1));
}

#[test]
fn a_resumed_run_has_the_same_bytes() {
    let dir = pliant_testing::tempdir().unwrap();
    let whole = dir.path().join("whole.plog");
    write_log(&whole, 8, &[2, 5], true);
    let whole = fs::read(&whole).unwrap();
    let path = dir.path().join("cut.plog");
    let hash = header().scene_hash;
    for length in (records(&whole)[0].2..=whole.len()).step_by(97) {
        fs::write(&path, &whole[..length]).unwrap();
        let mut r = LogWriter::resume(&path, hash).unwrap();
        let next = match &r.checkpoint {
            Some((n, state)) => {
                assert_eq!(*state, format!("state {n}").into_bytes());
                n + 1
            }
            None => 0,
        };
        assert_eq!(r.kept_frames as u32, next);
        assert_eq!(r.writer.last_frame(), next.checked_sub(1));
        for i in next..8 {
            r.writer.append_frame(&frame(&header(), i)).unwrap();
            if [2, 5].contains(&i) {
                r.writer.append_checkpoint(i, format!("state {i}").as_bytes()).unwrap();
            }
        }
        r.writer.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {length}");
    }
}

#[test]
fn a_checkpoint_off_schedule_leaves_no_trace_when_dropped() {
    let dir = pliant_testing::tempdir().unwrap();
    let whole = dir.path().join("whole.plog");
    write_log(&whole, 8, &[5], true);
    let path = dir.path().join("stopped.plog");
    write_log(&path, 4, &[3], false);
    let mut r = LogWriter::resume(&path, header().scene_hash).unwrap();
    assert_eq!(r.checkpoint, Some((3, b"state 3".to_vec())));
    r.writer.drop_checkpoint().unwrap();
    for i in 4..8 {
        r.writer.append_frame(&frame(&header(), i)).unwrap();
        if i == 5 {
            r.writer.append_checkpoint(i, b"state 5").unwrap();
        }
        // Too late now: only the checkpoint the log was taken up from can go.
        r.writer.drop_checkpoint().unwrap();
    }
    r.writer.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(&whole).unwrap());
}

#[test]
fn another_scene_is_refused_and_left_alone() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 4, &[1], false);
    let before = fs::read(&path).unwrap();
    let e = LogWriter::resume(&path, 1).unwrap_err();
    assert!(matches!(e, CacheError::OtherScene { .. }), "{e}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn two_writers_are_refused() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    let hash = header().scene_hash;
    let first = LogWriter::create(&path, &header(), false).unwrap();
    assert!(matches!(LogWriter::create(&path, &header(), false), Err(CacheError::Exists { .. })));
    assert!(matches!(LogWriter::create(&path, &header(), true), Err(CacheError::Locked { .. })));
    assert!(matches!(LogWriter::resume(&path, hash), Err(CacheError::Locked { .. })));
    first.finish().unwrap();
    let second = LogWriter::resume(&path, hash).unwrap();
    assert!(matches!(LogWriter::resume(&path, hash), Err(CacheError::Locked { .. })));
    drop(second);
    drop(LogWriter::create(&path, &header(), true).unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_failed_create_loses_nothing() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    write_log(&path, 3, &[], true);
    let before = fs::read(&path).unwrap();
    let mut bad = header();
    std::sync::Arc::make_mut(&mut bad.bodies[0].mesh).triangles[0][0] = 8;
    let e = LogWriter::create(&path, &bad, true).unwrap_err();
    assert!(e.to_string().contains("uses vertex 8"), "{e}");
    assert!(LogWriter::create(&path, &header(), false).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
    // What a killed creator leaves behind is in nobody's way.
    fs::write(dir.path().join("a.plog.tmp"), b"half a header").unwrap();
    drop(LogWriter::create(&path, &header(), true).unwrap());
    assert_eq!(LogReader::open(&path).unwrap().frame_count(), 0);
    let e = LogWriter::create(dir.path().join("no/such/dir/a.plog"), &header(), false).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Io);
}

#[test]
fn frames_that_make_no_sense_are_refused() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    let header = header();
    let mut writer = LogWriter::create(&path, &header, false).unwrap();
    writer.append_frame(&frame(&header, 3)).unwrap();
    assert!(writer.append_frame(&frame(&header, 3)).is_err());
    assert!(writer.append_checkpoint(4, b"").is_err());
    let mut bad = frame(&header, 4);
    bad.positions[1][17] = f64::NAN;
    let e = writer.append_frame(&bad).unwrap_err();
    assert!(e.to_string().contains("particle 17"), "{e}");
    let mut bad = frame(&header, 4);
    bad.positions[2].pop();
    assert!(writer.append_frame(&bad).is_err());
    let mut bad = frame(&header, 4);
    bad.strain.pop();
    assert!(writer.append_frame(&bad).is_err());
    writer.append_frame(&frame(&header, 4)).unwrap();
    writer.finish().unwrap();
    assert_eq!(LogReader::open(&path).unwrap().frame_count(), 2);
}

/// Runs this test again in a shell that limits the size of files, which stops writes as a full
/// disk does, and looks at what is left.
#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_frames_before() {
    const PLACE: &str = "PLIANT_TEST_FULL_DISK";
    if let Ok(path) = std::env::var(PLACE) {
        let header = header();
        let mut writer = LogWriter::create(&path, &header, false).unwrap();
        let (last, error) = (0..1000)
            .find_map(|i| Some((i, writer.append_frame(&frame(&header, i)).err()?)))
            .expect("the limit was reached");
        assert_eq!(error.kind(), ErrorKind::Io);
        let text = error.to_string();
        assert!(text.contains(&path), "{text}");
        assert!(text.contains("free space and run again with --resume"), "{text}");
        assert!(text.contains(&format!("frames up to {} are safe", last - 1)), "{text}");
        assert!(writer.append_frame(&frame(&header, last)).is_err());
        println!("full after {last}");
        return;
    }
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("full.plog");
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact --nocapture log::a_full_disk_keeps_the_frames_before",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(PLACE, &path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let reader = LogReader::open(&path).unwrap();
    assert!(text.contains(&format!("full after {}", reader.frame_count())), "{text}");
    assert!(reader.frame_count() > 3);
    assert!(matches!(reader.warnings(), [LogWarning::BrokenOff { torn_bytes: 0, .. }]));
}

/// Runs this test again as a process that writes for ever, and kills it in the middle.
#[test]
fn a_killed_run_leaves_a_log_that_opens_and_goes_on() {
    const PLACE: &str = "PLIANT_TEST_KILLED";
    let header = header();
    if let Ok(path) = std::env::var(PLACE) {
        let mut writer = LogWriter::create(&path, &header, false).unwrap();
        for i in 0.. {
            writer.append_frame(&frame(&header, i)).unwrap();
            if i % 7 == 0 {
                writer.append_checkpoint(i, &i.to_le_bytes()).unwrap();
            }
        }
    }
    let dir = pliant_testing::tempdir().unwrap();
    for round in 0..5 {
        let path = dir.path().join(format!("{round}.plog"));
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "log::a_killed_run_leaves_a_log_that_opens_and_goes_on"])
            .env(PLACE, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let enough = |bytes: u64| fs::metadata(&path).is_ok_and(|m| m.len() > bytes);
        while !enough(60_000 + 1_000 * round) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let reader = LogReader::open(&path).unwrap();
        let last = reader.frame_count() - 1;
        assert!(last > 10);
        assert_eq!(reader.frame(last).unwrap(), frame(&header, last as u32));
        assert!(matches!(reader.warnings(), [LogWarning::BrokenOff { .. }]));
        let mut resumed = LogWriter::resume(&path, header.scene_hash).unwrap();
        let (n, state) = resumed.checkpoint.unwrap();
        assert_eq!((n % 7, &state[..]), (0, &n.to_le_bytes()[..]));
        resumed.writer.append_frame(&frame(&header, n + 1)).unwrap();
        resumed.writer.finish().unwrap();
        assert_eq!(LogReader::open(&path).unwrap().frame_count(), n as usize + 2);
    }
}

/// Frames of a compact log as near as is promised: positions to a 2⁻¹⁸th of the body's size, the rest of what is shown to
/// a thousandth or a five-hundredth of the largest; the first frame and everything that is no number exactly.
#[test]
fn a_compact_log_is_small_and_near() {
    let dir = pliant_testing::tempdir().unwrap();
    let mut header = header();
    // A crowd of the first body.
    let copy = header.bodies[0].clone();
    let count = copy.particles.len() as u32;
    for k in 0..200 {
        let start = header.particle_count() as u32;
        let particles = start..start + count;
        header.bodies.push(LogBody {
            id: 3 + k,
            name: format!("copy {k}").into(),
            particles,
            ..copy.clone()
        });
    }
    let particles = header.particle_count();
    let at = |i: u32| {
        let swing = |p: usize, k: usize| ((p * (k + 3)) as f64 * 0.37 + f64::from(i) * 0.1).sin();
        let mut f = LogFrame {
            index: i,
            time: f64::from(i) / 60.0,
            positions: std::array::from_fn(|k| {
                (0..particles)
                    .map(|p| (p / 7) as f64 * 0.3 + f64::from(i) * 0.01 + 0.05 * swing(p, k))
                    .collect()
            }),
            velocity: std::array::from_fn(|k| (0..particles).map(|p| swing(p, k + 5) as f32).collect()),
            strain: (0..particles).map(|p| 0.1 * swing(p, 9).abs() as f32).collect(),
            contact: (0..particles).map(|p| u8::from(p % 5 == 0)).collect(),
            stats_json: format!("{{\"frame\":{i}}}"),
            controls: vec![(i / 4) as u8; 5000],
            ..LogFrame::default()
        };
        f.velocity[0][3] = 0.0;
        f
    };
    let write = |name: &str, compact: bool, last: u32| {
        let path = dir.path().join(name);
        let mut writer = LogWriter::create(&path, &header, false).unwrap();
        if compact {
            writer = writer.compact().unwrap();
        }
        for i in 0..last {
            writer.append_frame(&at(i)).unwrap();
            if i == 9 {
                writer.append_checkpoint(i, b"state").unwrap();
            }
        }
        writer.finish().unwrap();
        (path.clone(), std::fs::metadata(&path).unwrap().len())
    };
    let (_, plain) = write("plain.plog", false, 20);
    let (path, packed) = write("packed.plog", true, 20);
    // Of bodies of eight particles that shake at random; what moves as one takes far less.
    assert!(2 * packed < plain, "{packed} of {plain} bytes");
    let reader = LogReader::open(&path).unwrap();
    assert_eq!(*reader.header(), header, "bodies that are copies are all there");
    // Backwards: any frame can be read alone.
    for i in (0..20).rev() {
        let (got, wanted) = (reader.frame(i as usize).unwrap(), at(i));
        assert!(got.controls == wanted.controls && got.contact == wanted.contact, "frame {i}");
        assert_eq!((got.index, got.time, &got.stats_json), (wanted.index, wanted.time, &wanted.stats_json));
        for body in &header.bodies {
            let (low, high) = pliant_geometry::TriMesh::bounds(&body.mesh.positions).unwrap();
            let near = (high - low).max_element() / f64::from(1 << 18);
            let range = body.particles.start as usize..body.particles.end as usize;
            let largest = |v: &[f32]| v[range.clone()].iter().fold(0.0f32, |m, x| m.max(x.abs()));
            let fastest = wanted.velocity.iter().map(|v| largest(v)).fold(0.0, f32::max);
            for p in range.clone() {
                for k in 0..3 {
                    let off = (got.positions[k][p] - wanted.positions[k][p]).abs();
                    assert!(off <= if i == 0 { 0.0 } else { near }, "frame {i}, particle {p}: {off}, {near}");
                    let off = (got.velocity[k][p] - wanted.velocity[k][p]).abs();
                    assert!(off <= fastest / 1000.0, "frame {i}, particle {p}: {off} of {fastest}");
                }
                let off = (got.strain[p] - wanted.strain[p]).abs();
                assert!(off <= largest(&wanted.strain) / 500.0, "frame {i}, particle {p}: {off}");
            }
        }
    }
    // Taken up again after its checkpoint, it gets the bytes of the unbroken one.
    let whole = std::fs::read(&path).unwrap();
    let cut = dir.path().join("cut.plog");
    std::fs::write(&cut, &whole[..whole.len() * 4 / 5]).unwrap();
    let resumed = LogWriter::resume(&cut, header.scene_hash).unwrap();
    assert_eq!(resumed.writer.last_frame(), Some(9));
    let mut writer = resumed.writer.compact().unwrap();
    (10..20).for_each(|i| writer.append_frame(&at(i)).unwrap());
    writer.finish().unwrap();
    assert!(std::fs::read(&cut).unwrap() == whole);
}
