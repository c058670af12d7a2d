//! PC2 point caches in: the positions of a mesh's vertices, sample after sample.
//!
//! ```text
//! "POINTCACHE2\0"  version i32 = 1  points i32  start f32  sample_rate f32  samples i32
//! samples × points × (x y z) f32, little-endian
//! ```

use crate::error::GeometryError;
use glam::DVec3;

/// What a PC2 file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCache {
    /// Frame of the first sample.
    pub start: f64,
    /// Frames from one sample to the next.
    pub rate: f64,
    /// Positions of all points, sample after sample; at least one of each, equally many in all.
    pub samples: Vec<Vec<DVec3>>,
}

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const HEADER: usize = 32;
const POINT: usize = 12;
/// Samples with bad positions that are named one by one.
const SHOWN: usize = 20;

/// Reads a PC2 file from memory; every error at once, up to a cap.
///
/// Nothing is set aside before the counts of the header are known to fit the bytes that are there.
pub fn parse_pc2(bytes: &[u8]) -> Result<PointCache, Vec<GeometryError>> {
    let one = |message: String, help: &str| Err(vec![GeometryError::new(message, help)]);
    if !bytes.starts_with(MAGIC) {
        return one(
            "this is not a PC2 point cache: it does not begin with POINTCACHE2".into(),
            "export the animation as .pc2, or as a sequence of .obj files",
        );
    }
    let Some((header, body)) = bytes.split_at_checked(HEADER) else {
        let message = format!("the file ends within its header, after {} of {HEADER} bytes", bytes.len());
        return one(message, "export it again: it was cut off");
    };
    let field = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    let whole = |at| i32::from_le_bytes(field(at));
    let real = |at| f64::from(f32::from_le_bytes(field(at)));
    let (version, points, samples) = (whole(12), whole(16), whole(28));
    let (start, rate) = (real(20), real(24));
    let mut errors = Vec::new();
    let mut fault = |message: String, help: &str| errors.push(GeometryError::new(message, help));
    if version != 1 {
        fault(format!("the file is of version {version}; version 1 is read"), "export it as PC2 version 1");
    }
    if points < 1 {
        fault(format!("the header says {points} points"), "export a mesh with at least one vertex");
    }
    if samples < 1 {
        fault(format!("the header says {samples} samples"), "export at least one frame");
    }
    if !start.is_finite() {
        fault(format!("the header says that it starts at frame {start}"), "export it again");
    }
    if !(rate.is_finite() && rate > 0.0) {
        fault(format!("the header says {rate} frames from sample to sample"), "export it again");
    }
    let (points, samples) = (points.max(0) as u64, samples.max(0) as u64);
    // At most 2³¹ · 2³¹ · 12, which 128 bits hold.
    let wanted = u128::from(points) * u128::from(samples) * POINT as u128;
    if points > 0 && samples > 0 && wanted != body.len() as u128 {
        let have = body.len() / (POINT * points as usize);
        fault(
            format!(
                "the header says {samples} samples of {points} points, which are {wanted} bytes; {} follow it \
                 ({have} whole samples)",
                body.len()
            ),
            "export it again: it was cut off, or is being written, or its header is wrong",
        );
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let coordinate = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let point = |b: &[u8]| DVec3::new(coordinate(b), coordinate(&b[4..]), coordinate(&b[8..]));
    let sample = |bytes: &[u8]| bytes.chunks_exact(POINT).map(point).collect();
    let samples: Vec<Vec<DVec3>> = body.chunks_exact(POINT * points as usize).map(sample).collect();
    let mut hidden = 0;
    for (k, sample) in samples.iter().enumerate() {
        let Some(i) = sample.iter().position(|p| !p.is_finite()) else { continue };
        if errors.len() == SHOWN {
            hidden += 1;
            continue;
        }
        let message = format!("point {i} of sample {k} is at {}", sample[i]);
        errors.push(GeometryError::new(message, "repair the animation there and export it again"));
    }
    if hidden > 0 {
        let message = format!("{hidden} more errors are not shown");
        errors.push(GeometryError::new(message, "correct the ones above first: they often have one cause"));
    }
    if errors.is_empty() { Ok(PointCache { start, rate, samples }) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file, byte for byte as the format says.
    fn file(version: i32, points: i32, start: f32, rate: f32, samples: i32, values: &[f32]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.extend(points.to_le_bytes());
        bytes.extend(start.to_le_bytes());
        bytes.extend(rate.to_le_bytes());
        bytes.extend(samples.to_le_bytes());
        values.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        bytes
    }

    fn said(bytes: &[u8]) -> Vec<String> {
        parse_pc2(bytes).err().unwrap_or_default().into_iter().map(|e| e.message).collect()
    }

    #[test]
    fn samples_come_in_order_with_start_and_rate() {
        let values: Vec<f32> = (0..18).map(|i| i as f32 * 0.5 - 2.0).collect();
        let cache = parse_pc2(&file(1, 2, 5.0, 2.0, 3, &values)).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!((cache.start, cache.rate, cache.samples.len()), (5.0, 2.0, 3));
        assert_eq!(cache.samples[0], [DVec3::new(-2.0, -1.5, -1.0), DVec3::new(-0.5, 0.0, 0.5)]);
        assert_eq!(cache.samples[2][1], DVec3::new(5.5, 6.0, 6.5));
    }

    #[test]
    fn headers_that_lie_are_refused_before_anything_is_set_aside() {
        let huge = said(&file(1, i32::MAX, 0.0, 1.0, i32::MAX, &[0.0; 6]));
        assert!(huge.len() == 1 && huge[0].contains("2147483647 samples") && huge[0].contains("24 follow"));
        // No bytes per sample would make any number of them fit.
        assert_eq!(said(&file(1, 0, 0.0, 1.0, i32::MAX, &[])), ["the header says 0 points"]);
        let short = said(&file(1, 2, 0.0, 1.0, 3, &[0.0; 17]));
        assert!(short[0].contains("72 bytes; 68 follow it (2 whole samples)"), "{short:?}");
        let long = said(&file(1, 2, 0.0, 1.0, 1, &[0.0; 7]));
        assert!(long[0].contains("24 bytes; 28 follow"), "{long:?}");
        let all = said(&file(2, -1, f32::NAN, 0.0, 0, &[]));
        assert_eq!(all.len(), 5, "{all:?}");
    }

    #[test]
    fn other_files_and_bad_positions_are_told() {
        assert!(said(b"v 0 0 0\n")[0].contains("not a PC2"));
        assert!(said(b"")[0].contains("not a PC2"));
        assert!(said(b"POINTCACHE2\0\x01")[0].contains("after 13 of 32 bytes"));
        let bad = said(&file(1, 2, 0.0, 1.0, 2, &[0., 0., 0., 0., 0., 0., 0., 0., 0., f32::NAN, 0., 0.]));
        assert!(bad.len() == 1 && bad[0].starts_with("point 1 of sample 1"), "{bad:?}");
        let all_bad = said(&file(1, 1, 0.0, 1.0, 25, &[f32::INFINITY; 75]));
        assert!(all_bad.len() == 21 && all_bad[20].starts_with("5 more"), "{all_bad:?}");
    }

    proptest! {
        #[test]
        fn no_bytes_at_all_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..44) {
            let mut file = file(1, 1, 0.0, 1.0, 1, &[1.0, 2.0, 3.0]);
            file.truncate(at);
            file.extend(bytes);
            if let Ok(cache) = parse_pc2(&file) {
                prop_assert!(cache.samples.iter().flatten().count() * POINT == file.len() - HEADER);
            }
        }
    }
}
