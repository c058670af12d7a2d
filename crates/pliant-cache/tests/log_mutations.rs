//! Random damage, with and without repaired checksums: readers answer, never panic, never
//! allocate much more than the file is long.
#![allow(clippy::unwrap_used)] // helpers outside #[test] functions may panic too

mod common;

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

fn sound() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.plog");
        write_log(&path, 3, &[1], true);
        fs::read(&path).unwrap()
    })
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
    ) {
        let mut bytes = sound().to_vec();
        let layout = records(&bytes);
        // Half of the cases aim at the structure at the start of records, where it hurts most.
        let starts: Vec<usize> = layout.iter().flat_map(|r| r.1..(r.1 + 120).min(r.2)).collect();
        for (at, value, flip) in &changes {
            let at = if early { starts[at.index(starts.len())] } else { at.index(bytes.len()) };
            bytes[at] = if *flip { bytes[at] ^ (1 << (value % 8)) } else { *value };
        }
        if repair {
            repair_checksums(&mut bytes, &layout);
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.plog");
        fs::write(&path, &bytes).unwrap();
        LARGEST.store(0, Ordering::Relaxed);
        if let Ok(reader) = LogReader::open(&path) {
            for i in 0..reader.frame_count() {
                let _ = reader.frame(i);
            }
            let _ = reader.last_checkpoint();
            for format in ["pc2", "usda", "obj", "ply"] {
                let target = dir.path().join(format!("out.{format}"));
                let _ = export(&reader, &target, &ExportOptions::default(), &mut |_, _| {});
            }
            let _ = LogWriter::resume(&path, reader.header().scene_hash);
        }
        let largest = LARGEST.load(Ordering::Relaxed);
        // Text buffers for USD have a fixed size and may double once.
        prop_assert!(largest <= 2 * bytes.len() + (2 << 20), "{largest} bytes for a file of {}", bytes.len());
    }
}
