//! What fuzz targets have in common: bytes go through a reader, and whatever it accepts has to be sound.

#[path = "../../crates/pliant-geometry/tests/soundness/mod.rs"]
mod soundness;

pub use soundness::feed;

/// A frame log, as it is and with its checksums put right: behind wrong ones nothing is read.
pub fn log(bytes: &[u8]) {
    let path = std::env::temp_dir().join(format!("pliant-fuzz-{}.plog", std::process::id()));
    let mut sealed = bytes.to_vec();
    seal(&mut sealed);
    for bytes in [bytes, &sealed] {
        std::fs::write(&path, bytes).expect("a temporary file");
        let Ok(reader) = pliant_cache::LogReader::open(&path) else { continue };
        // From the last on: each has to be read by itself, whatever epoch it is in.
        for i in (0..reader.frame_count()).rev() {
            let bodies = reader.bodies_at(i);
            let rising =
                bodies.windows(2).all(|w| w[0].id < w[1].id && w[0].particles.end == w[1].particles.start);
            assert!(rising, "bodies come by their ids and share the particles without gaps");
            if let Ok(frame) = reader.frame(i) {
                let [x, y, z] = frame.positions;
                let particles = bodies.last().map_or(0, |b| b.particles.end as usize);
                assert!(x.len() == y.len() && x.len() == z.len() && x.len() >= particles);
            }
        }
        for pair in reader.epochs().windows(2) {
            for body in &pair[1].bodies {
                let before = pair[0].bodies.iter().find(|b| b.id == body.id && b.version != body.version);
                if let (Some(before), Some(origin)) = (before, &body.origin) {
                    assert_eq!(origin.vertices.len(), body.mesh.positions.len());
                    assert!(origin.vertices.iter().all(|&v| (v as usize) < before.mesh.positions.len()));
                }
            }
        }
        let _ = reader.last_checkpoint();
    }
}

/// Puts lengths that are too large and all checksums right, record by record.
fn seal(bytes: &mut [u8]) {
    let mut at = 16;
    while at + 16 <= bytes.len() {
        let left = (bytes.len() - at - 16) as u64;
        let length = bytes[at + 4..at + 12].iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b)).min(left);
        bytes[at + 4..at + 12].copy_from_slice(&length.to_le_bytes());
        let end = at + 16 + length as usize;
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes[at..at + 12]);
        sum.update(&bytes[at + 16..end]);
        bytes[at + 12..at + 16].copy_from_slice(&sum.finalize().to_le_bytes());
        at = end;
    }
}
