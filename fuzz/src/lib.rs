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

/// A scene: what is wrong with it is told, and one whose numbers are small is built, without any file.
pub fn scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let told = |all: &[pliant_scene::Diagnostic]| {
        assert!(!all.is_empty());
        all.iter().for_each(|d| assert!(!d.to_string().is_empty()));
    };
    match pliant_scene::Scene::parse(text, std::path::Path::new("scene.toml")) {
        Err(all) => told(&all),
        // A scene may ask for any amount of work, which says nothing about how it is read.
        Ok(scene) if numbers_are_small(text) => {
            if let Err(all) = scene.build_with(1, &pliant_scene::InMemory::default()) {
                told(&all);
            }
        }
        Ok(_) => {}
    }
}

/// No number has more than two digits before its point, or more than one after it.
fn numbers_are_small(text: &str) -> bool {
    let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let after_point = rest[..at].ends_with('.');
        let long = digits(&rest[at..]);
        if long > if after_point { 1 } else { 2 } || rest[at + long..].starts_with(['e', 'E', '_', 'x']) {
            return false;
        }
        rest = &rest[at + long..];
    }
    true
}

/// A checkpoint, as it is and with its checksum put right: it is taken up whole or refused, and nothing in between.
pub fn checkpoint(bytes: &[u8]) {
    let mut simulation = tumbling();
    let before = simulation.checkpoint();
    let mut sealed = bytes.to_vec();
    if let Some(rest) = sealed.len().checked_sub(8) {
        let sum = checksum(&sealed[..rest]);
        sealed[rest..].copy_from_slice(&sum.to_le_bytes());
    }
    for bytes in [bytes, &sealed] {
        match simulation.restore(bytes) {
            Ok(_) => {
                let taken_up = simulation.checkpoint();
                simulation.restore(&taken_up).expect("what it says itself");
                assert!(simulation.checkpoint() == taken_up);
                simulation.restore(&before).expect("the state before");
            }
            Err(fault) => assert!(!fault.to_string().is_empty() && simulation.checkpoint() == before),
        }
    }
}

/// What checkpoints of the seeds are of: one body of every kind, a joint, a ground and a ball.
pub fn tumbling() -> pliant::Simulation {
    use pliant::{Body, BodyPoint, Builder, Collider, Coupling, DAffine3, DVec3, Primitive, shapes};
    let soft = Body::new("soft", shapes::ball(0.2, 0.2).expect("a ball")).at(0.0, 0.5, 0.0);
    let cloth = Body::new("cloth", shapes::sheet(0.5, 0.5, 3, 3).expect("a sheet")).at(0.0, 1.0, 0.0).projective();
    let cube = shapes::SolidShape::Cuboid { size: DVec3::splat(0.2) };
    let rigid = Body::rigid("rigid", cube.build_rigid().expect("a box")).at(1.0, 0.5, 0.0);
    let ball = Collider::solid(Primitive::Ball { radius: 0.3 }, DAffine3::IDENTITY);
    let tie = Coupling::joint(BodyPoint::particle(0, 0), BodyPoint::particle(1, 0));
    let builder = Builder::new().ground().collider(ball).body(soft).body(cloth).body(rigid).coupling(tie);
    builder.build().expect("a sound scene")
}

/// The digest at the end of a checkpoint.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut word = |w: u64| {
        hash = (hash ^ w).wrapping_mul(0x0100_0000_01B3);
        hash ^= hash >> 29;
    };
    word(bytes.len() as u64);
    bytes.iter().for_each(|&b| word(b.into()));
    hash
}
