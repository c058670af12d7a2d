//! Random damage, with and without repaired checksums: readers answer, never panic, never
//! allocate much more than the file is long. A program of its own, as the allocations of all threads count.
#![allow(clippy::unwrap_used)] // helpers outside #[test] functions may panic too

mod common;

use common::changing::write_changing;
use common::{records, write_log};
use pliant_cache::{ExportOptions, LogReader, LogWriter, export};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Remembers the largest single allocation, to show that lengths in a file are not believed.
struct Largest;
static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code)] // an allocator cannot be written without; this one only watches
unsafe impl GlobalAlloc for Largest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Largest = Largest;

/// A plain log, one with epochs, and that packed.
fn sound(which: usize) -> &'static [u8] {
    static BYTES: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    &BYTES.get_or_init(|| {
        let dir = pliant_testing::tempdir().unwrap();
        let path = dir.path().join("a.plog");
        write_log(&path, 3, &[1], true);
        let plain = fs::read(&path).unwrap();
        let changing = [false, true].map(|compact| {
            write_changing(&path, &[4], compact);
            fs::read(&path).unwrap()
        });
        let [epochs, packed] = changing;
        [plain, epochs, packed]
    })[which]
}

fn repair_checksums(bytes: &mut [u8], layout: &[([u8; 4], usize, usize)]) {
    for &(_, start, end) in layout {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&bytes[start..start + 12]);
        crc.update(&bytes[start + 16..end]);
        bytes[start + 12..start + 16].copy_from_slice(&crc.finalize().to_le_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]
    #[test]
    fn damaged_logs_are_answered(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
        repair in any::<bool>(),
        early in any::<bool>(),
        which in 0..3usize,
    ) {
        let mut bytes = sound(which).to_vec();
        let layout = records(&bytes);
        // Half of the cases aim at the structure at the start of records, where it hurts most.
        let near = |kind: &[u8]| if kind == b"EPOC" { 1500 } else { 120 };
        let starts: Vec<usize> = layout.iter().flat_map(|r| r.1..(r.1 + near(&r.0)).min(r.2)).collect();
        for (at, value, flip) in &changes {
            let at = if early { starts[at.index(starts.len())] } else { at.index(bytes.len()) };
            bytes[at] = if *flip { bytes[at] ^ (1 << (value % 8)) } else { *value };
        }
        if repair {
            repair_checksums(&mut bytes, &layout);
        }
        let dir = pliant_testing::tempdir().unwrap();
        let path = dir.path().join("a.plog");
        fs::write(&path, &bytes).unwrap();
        LARGEST.store(0, Ordering::Relaxed);
        if let Ok(reader) = LogReader::open(&path) {
            for i in (0..reader.frame_count()).rev() {
                if let Ok(frame) = reader.frame(i) {
                    let end = reader.bodies_at(i).last().map_or(0, |b| b.particles.end as usize);
                    prop_assert!(frame.positions[0].len() >= end);
                }
            }
            let _ = reader.last_checkpoint();
            for format in ["pc2", "usda", "obj", "ply", "abc", "glb", "pvd"] {
                let target = dir.path().join(format!("out.{format}"));
                let _ = export(&reader, &target, &ExportOptions::default(), &mut |_, _| {});
            }
            if let Ok(resumed) = LogWriter::resume(&path, reader.header().scene_hash) {
                let _ = resumed.writer.compact();
            }
        }
        let largest = LARGEST.load(Ordering::Relaxed);
        // Text buffers for USD have a fixed size and may double once.
        prop_assert!(largest <= 2 * bytes.len() + (2 << 20), "{largest} bytes for a file of {}", bytes.len());
    }
}
