//! MDD point caches in: the positions of a mesh's vertices, sample after sample, with their times.
//!
//! ```text
//! samples i32  points i32  times f32 × samples  positions (x y z) f32 × points × samples, big-endian
//! ```

use crate::error::{ErrorList, GeometryError};
use crate::poly::VertexAnimation;
use glam::DVec3;

const POINT: usize = 12;

/// Reads an MDD file from memory; every error at once, up to a cap.
///
/// Nothing is set aside before the counts of the header are known to fit the bytes that are there.
pub fn parse_mdd(bytes: &[u8]) -> Result<VertexAnimation, Vec<GeometryError>> {
    let one = |message: String, help: &str| Err(vec![GeometryError::new(message, help)]);
    let word = |b: &[u8]| [b[0], b[1], b[2], b[3]];
    let Some((header, body)) = bytes.split_at_checked(8) else {
        return one(format!("the file ends after {} bytes", bytes.len()), "export it again: it was cut off");
    };
    let (samples, points) = (i32::from_be_bytes(word(header)), i32::from_be_bytes(word(&header[4..])));
    if samples < 1 || points < 1 {
        let message = format!("the header says {samples} samples of {points} points");
        return one(message, "export at least one frame of at least one vertex; it may be no MDD file");
    }
    let (samples, points) = (samples as usize, points as usize);
    let wanted = samples as u128 * (4 + POINT as u128 * points as u128);
    if wanted != body.len() as u128 {
        return one(
            format!(
                "the header says {samples} samples of {points} points, which are {wanted} bytes; {} follow it",
                body.len()
            ),
            "export it again: it was cut off, or is being written, or it is no MDD file",
        );
    }
    let real = |b: &[u8]| f64::from(f32::from_be_bytes(word(b)));
    let point = |b: &[u8]| DVec3::new(real(b), real(&b[4..]), real(&b[8..]));
    let (times, positions) = body.split_at(4 * samples);
    let times: Vec<f64> = times.chunks_exact(4).map(real).collect();
    let mut errors = ErrorList::default();
    if let Some(k) = times.iter().position(|t| !t.is_finite()) {
        errors.push_at(format!("the time of sample {k} is {}", times[k]), "export it again");
    } else if let Some(k) = times.windows(2).position(|w| w[1] < w[0]) {
        let message =
            format!("sample {} is at {} s, before the one before it at {} s", k + 1, times[k + 1], times[k]);
        errors.push_at(message, "samples must be in order of time; export it again");
    }
    let samples: Vec<Vec<DVec3>> =
        positions.chunks_exact(POINT * points).map(|s| s.chunks_exact(POINT).map(point).collect()).collect();
    for (k, sample) in samples.iter().enumerate() {
        if let Some(i) = sample.iter().position(|p| !p.is_finite()) {
            let message = format!("point {i} of sample {k} is at {}", sample[i]);
            errors.push_at(message, "repair the animation there and export it again");
        }
    }
    if errors.is_empty() { Ok(VertexAnimation { times, samples }) } else { Err(errors.finish()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(samples: i32, points: i32, values: &[f32]) -> Vec<u8> {
        let mut bytes = samples.to_be_bytes().to_vec();
        bytes.extend(points.to_be_bytes());
        values.iter().for_each(|v| bytes.extend(v.to_be_bytes()));
        bytes
    }

    fn said(bytes: &[u8]) -> String {
        parse_mdd(bytes).err().unwrap_or_default().into_iter().map(|e| e.message + ";").collect()
    }

    #[test]
    fn times_and_samples_come_in_order() {
        let animation = parse_mdd(&file(2, 1, &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        assert_eq!(animation.times, [0.0, 0.5]);
        assert_eq!(animation.samples, [[DVec3::new(1.0, 2.0, 3.0)], [DVec3::new(4.0, 5.0, 6.0)]]);
    }

    #[test]
    fn headers_that_lie_and_bad_numbers_are_told() {
        assert!(said(b"").contains("after 0 bytes"));
        assert!(said(&file(0, 5, &[])).contains("0 samples of 5 points"));
        assert!(said(&file(i32::MAX, i32::MAX, &[0.0; 9])).contains("36 follow it"));
        assert!(
            said(&file(2, 1, &[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN])).contains("point 0 of sample 1")
        );
        assert!(said(&file(2, 1, &[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN])).contains("before the one"));
    }
}
