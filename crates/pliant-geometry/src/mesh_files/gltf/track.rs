//! Animation tracks: values over time, held, linear or cubic, as section 3.11 and appendix C of the specification say.

use super::accessor::Accessor;
use super::document::Document;
use super::json::{EXPORT_AGAIN, JsonPlace};
use crate::GeometryError;
use glam::DQuat;

/// What of a node an animation moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AnimatedProperty {
    Translation,
    Rotation,
    Scale,
    Weights,
}

impl AnimatedProperty {
    pub fn named(name: &str) -> Option<AnimatedProperty> {
        Some(match name {
            "translation" => AnimatedProperty::Translation,
            "rotation" => AnimatedProperty::Rotation,
            "scale" => AnimatedProperty::Scale,
            "weights" => AnimatedProperty::Weights,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Step,
    Linear,
    Cubic,
}

/// One property of one node over time.
pub(super) struct GltfTrack {
    property: AnimatedProperty,
    between: Between,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// Per time `width` values; for cubic ones in-tangents, values, out-tangents.
    values: Vec<f32>,
    width: usize,
}

/// A cubic piece is followed by so many straight ones.
const CUBIC_PIECES: usize = 8;
/// Vertices move on straight lines between samples: a turn is cut so that they stay close to their arcs.
const TURN_PER_PIECE: f64 = 0.1;

impl GltfTrack {
    /// Reads a sampler; `targets` is how many weights there are.
    pub fn read(
        document: &Document<'_>,
        at: &JsonPlace<'_>,
        property: AnimatedProperty,
        targets: usize,
    ) -> Result<GltfTrack, GeometryError> {
        let between = match at.text("interpolation").unwrap_or("LINEAR") {
            "STEP" => Between::Step,
            "LINEAR" => Between::Linear,
            "CUBICSPLINE" => Between::Cubic,
            _ => return Err(at.need("interpolation")?.fault("this is no interpolation", EXPORT_AGAIN)),
        };
        let needed = |key| {
            let found = Accessor::named(document, at, key)?;
            found.ok_or_else(|| at.fault(format!("`{key}` is missing"), EXPORT_AGAIN))
        };
        let (input, output) = (needed("input")?, needed("output")?);
        let times = input.floats::<1>(None)?.into_flattened();
        let rising = times.windows(2).all(|w| w[0] < w[1]);
        if !rising || !times.iter().all(|t| t.is_finite()) {
            return Err(input.fault("the times do not rise"));
        }
        let (values, width) = match property {
            AnimatedProperty::Weights => (output.floats::<1>(None)?.into_flattened(), targets),
            AnimatedProperty::Rotation => (output.floats::<4>(None)?.into_flattened(), 4),
            _ => (output.floats::<3>(None)?.into_flattened(), 3),
        };
        let per_time = if between == Between::Cubic { 3 } else { 1 };
        if times.len().checked_mul(width).and_then(|n| n.checked_mul(per_time)) != Some(values.len()) {
            return Err(output.fault(format!(
                "{} numbers do not make {per_time} times {width} for each of {} keyframes",
                values.len(),
                times.len()
            )));
        }
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(output.fault(format!("number {i} is {}", values[i])));
        }
        Ok(GltfTrack { property, between, times, values, width })
    }

    /// The values at a time; before the first and after the last keyframe they stay.
    pub fn at(&self, time: f64, out: &mut Vec<f64>) {
        out.clear();
        let next = self.times.partition_point(|&t| f64::from(t) <= time);
        let last = self.times.len() - 1;
        if next == 0 || next > last || self.between == Between::Step {
            out.extend(self.key(next.saturating_sub(1)).iter().map(|&v| f64::from(v)));
            return self.normalize(out);
        }
        let (t0, t1) = (f64::from(self.times[next - 1]), f64::from(self.times[next]));
        let s = (time - t0) / (t1 - t0);
        let (a, b) = (self.key(next - 1), self.key(next));
        match self.between {
            Between::Cubic => {
                // Hermite: value and tangent at both ends, tangents per second.
                let (leave, arrive) = (self.tangent(next - 1, 2), self.tangent(next, 0));
                let [s2, s3, span] = [s * s, s * s * s, t1 - t0];
                out.extend((0..self.width).map(|i| {
                    let [a, b, m0, m1] = [a[i], b[i], leave[i], arrive[i]].map(f64::from);
                    (2.0 * s3 - 3.0 * s2 + 1.0) * a
                        + span * (s3 - 2.0 * s2 + s) * m0
                        + (3.0 * s2 - 2.0 * s3) * b
                        + span * (s3 - s2) * m1
                }));
            }
            _ if self.property == AnimatedProperty::Rotation => {
                let turned = quaternion(a).slerp(quaternion(b), s);
                out.extend(turned.to_array());
            }
            _ => out.extend(a.iter().zip(b).map(|(&a, &b)| f64::from(a) * (1.0 - s) + f64::from(b) * s)),
        }
        self.normalize(out);
    }

    /// In how many straight pieces the way from one time to another, with no keyframe between, is to be cut.
    pub fn pieces(&self, from: f64, to: f64, scratch: &mut Vec<f64>) -> usize {
        match (self.between, self.property) {
            (Between::Step, _) => 1,
            (Between::Cubic, _) => CUBIC_PIECES,
            (Between::Linear, AnimatedProperty::Rotation) => {
                self.at(from, scratch);
                let start = rotation(scratch);
                self.at(to, scratch);
                (start.angle_between(rotation(scratch)) / TURN_PER_PIECE).ceil().clamp(1.0, 64.0) as usize
            }
            (Between::Linear, _) => 1,
        }
    }

    fn key(&self, k: usize) -> &[f32] {
        self.tangent(k, 1)
    }

    /// Part 0, 1, 2 of a cubic keyframe: in-tangent, value, out-tangent; others have the value alone.
    fn tangent(&self, k: usize, part: usize) -> &[f32] {
        let start = if self.between == Between::Cubic { 3 * k + part } else { k } * self.width;
        &self.values[start..start + self.width]
    }

    fn normalize(&self, values: &mut [f64]) {
        if self.property == AnimatedProperty::Rotation {
            values.copy_from_slice(&rotation(values).to_array());
        }
    }
}

/// A unit quaternion of four numbers; no turn if they are all zero.
pub(super) fn rotation(values: &[f64]) -> DQuat {
    let found = values.first_chunk::<4>().map_or(DQuat::IDENTITY, |q| DQuat::from_array(*q));
    let length = found.length();
    if length.is_finite() && length > 1e-300 { found / length } else { DQuat::IDENTITY }
}

fn quaternion(values: &[f32]) -> DQuat {
    let [x, y, z, w] = values.first_chunk::<4>().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]).map(f64::from);
    rotation(&[x, y, z, w])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(
        property: AnimatedProperty,
        between: Between,
        times: &[f32],
        values: &[f32],
        width: usize,
    ) -> GltfTrack {
        GltfTrack { property, between, times: times.to_vec(), values: values.to_vec(), width }
    }

    fn at(track: &GltfTrack, time: f64) -> Vec<f64> {
        let mut out = Vec::new();
        track.at(time, &mut out);
        out
    }

    #[test]
    fn held_and_linear_values() {
        let held = track(AnimatedProperty::Weights, Between::Step, &[1.0, 2.0], &[3.0, 5.0], 1);
        assert_eq!([0.0, 1.0, 1.9, 2.0, 9.0].map(|t| at(&held, t)[0]), [3.0, 3.0, 3.0, 5.0, 5.0]);
        let linear =
            track(AnimatedProperty::Translation, Between::Linear, &[1.0, 2.0], &[0., 0., 0., 2., 4., 8.], 3);
        assert_eq!(at(&linear, 1.25), [0.5, 1.0, 2.0]);
        assert_eq!(at(&linear, 0.0), [0.0; 3]);
    }

    /// A Hermite spline through values and slopes of a cubic is that cubic.
    #[test]
    fn cubic_is_exact_for_cubics() {
        let f = |t: f64| 2.0 * t.powi(3) - t * t + 3.0;
        let slope = |t: f64| 6.0 * t * t - 2.0 * t;
        let times = [0.5_f32, 2.0, 2.5];
        let values: Vec<f32> = times
            .iter()
            .flat_map(|&t| [slope(t.into()), f(t.into()), slope(t.into())].map(|x| x as f32))
            .collect();
        let cubic = track(AnimatedProperty::Weights, Between::Cubic, &times, &values, 1);
        for t in [0.5, 0.7, 1.3, 2.0, 2.2, 2.5] {
            assert!((at(&cubic, t)[0] - f(t)).abs() < 1e-9, "{t}");
        }
    }

    #[test]
    fn rotations_take_the_short_way_and_are_cut_finely() {
        let quarter = std::f32::consts::FRAC_1_SQRT_2;
        // The second quaternion has the other sign of a quarter turn about y.
        let values = [0.0, 0.0, 0.0, 1.0, 0.0, -quarter, 0.0, -quarter];
        let turn = track(AnimatedProperty::Rotation, Between::Linear, &[0.0, 1.0], &values, 4);
        let half = rotation(&at(&turn, 0.5));
        assert!(half.angle_between(DQuat::from_rotation_y(std::f64::consts::FRAC_PI_4)) < 1e-7);
        assert_eq!(turn.pieces(0.0, 1.0, &mut Vec::new()), 16);
        assert_eq!(rotation(&[0.0; 4]), DQuat::IDENTITY);
    }
}
