//! Frames in a fraction of their bytes: positions on a grid a hundred thousand times finer than the body, told as what
//! is left after moving the body along from where it was when it came, velocities and strains as fine as anyone can see.
//!
//! Each body of a frame is packed by itself, and from nothing but the first frame it was in: any frame can be read alone,
//! and a run that is resumed writes the same bytes. What a torn body is packed by is torn with it. Prediction and grid are whole numbers and single operations on f64, so
//! they are the same everywhere. What does not fit is stored as it is.

use super::epoch::BodyChange;
use super::header::{LogBody, VersionOrigin};
use super::rice::{PackedInput, put_block, put_whole};
use glam::{DMat3, DVec3};
use std::ops::Range;
use std::sync::Arc;

/// Steps of the grid across a body: the largest power of two below its size is so many of them, as a power of two.
const FINE: i32 = 17;
/// The same for velocities and strains, across the largest in the body.
const FINE_VELOCITY: i32 = 9;
const FINE_STRAIN: i32 = 8;
/// Parts of a whole in which the movement of a body is told.
const PARTS: f64 = 4096.0;

/// Positions of a body that it is packed by.
pub(super) type Reference = Arc<[Vec<f64>; 3]>;

/// The bodies of an epoch and what each is packed by.
#[derive(Clone, Debug)]
pub(super) struct PackedLayout(Vec<Segment>);

#[derive(Clone, Debug)]
struct Segment {
    particles: Range<usize>,
    step: Option<f64>,
    /// Unknown until the first frame the body is in.
    reference: Option<Reference>,
    /// Whether positions follow from a pose and are not stored.
    rigid: bool,
}

/// The grid of a body by its mesh at rest; none where that has no size.
pub(super) fn grid_step(body: &LogBody) -> Option<f64> {
    let bounds = pliant_geometry::TriMesh::bounds(&body.mesh.positions);
    step_below(bounds.map_or(0.0, |(low, high)| (high - low).max_element()), FINE)
}

/// Positions as a later version of a body has them.
pub(super) fn carried(reference: &[Vec<f64>; 3], origin: &[u32]) -> Reference {
    Arc::new(reference.each_ref().map(|axis| origin.iter().map(|&i| axis[i as usize]).collect()))
}

impl PackedLayout {
    /// Of bodies with their grids and what they are packed by.
    pub(super) fn of<'a>(
        bodies: impl IntoIterator<Item = (&'a LogBody, Option<f64>, Option<Reference>)>,
    ) -> PackedLayout {
        let segment = |(body, step, reference): (&LogBody, Option<f64>, Option<Reference>)| Segment {
            particles: body.particles.start as usize..body.particles.end as usize,
            step,
            reference,
            rigid: body.rigid.is_some(),
        };
        PackedLayout(bodies.into_iter().map(segment).collect())
    }

    /// Of the bodies a log begins with.
    pub(super) fn first(bodies: &[LogBody]) -> PackedLayout {
        PackedLayout::of(bodies.iter().map(|b| (b, grid_step(b), None)))
    }

    /// Of the bodies of the next epoch: what is known of those before goes on.
    pub(super) fn next(&self, before: &[LogBody], bodies: &[LogBody]) -> PackedLayout {
        PackedLayout::of(bodies.iter().map(|body| match (BodyChange::of(body, before), &body.origin) {
            (BodyChange::Kept(k), _) => (body, self.0[k].step, self.0[k].reference.clone()),
            (BodyChange::Changed(k), Some(origin)) => {
                let VersionOrigin { particles, .. } = &**origin;
                (body, grid_step(body), self.0[k].reference.as_ref().map(|r| carried(r, particles)))
            }
            _ => (body, grid_step(body), None),
        }))
    }

    pub(super) fn particles(&self) -> usize {
        self.0.last().map_or(0, |s| s.particles.end)
    }

    /// Lets bodies that came with this frame be packed by it from now on.
    pub(super) fn learn(&mut self, positions: &[Vec<f64>; 3]) {
        for segment in self.0.iter_mut().filter(|s| s.reference.is_none() && !s.rigid) {
            let own = |axis: &Vec<f64>| axis[segment.particles.clone()].to_vec();
            segment.reference = Some(Arc::new(positions.each_ref().map(own)));
        }
    }

    /// Positions as bytes; `None` if they are more than the bodies have.
    pub(super) fn pack_positions(&self, now: &[Vec<f64>; 3]) -> Option<Vec<u8>> {
        if now[0].len() != self.particles() {
            return None;
        }
        let mut out = Vec::new();
        for segment in self.0.iter().filter(|s| !s.rigid) {
            let now = now.each_ref().map(|axis| &axis[segment.particles.clone()]);
            if !put_positions(&mut out, segment, now) {
                out.push(RAW);
                now.iter().flat_map(|axis| axis.iter()).for_each(|x| out.extend(x.to_le_bytes()));
            }
        }
        Some(out)
    }

    /// The positions of all particles but those of bodies that never deform.
    pub(super) fn unpack_positions(&self, bytes: &[u8]) -> Result<[Vec<f64>; 3], String> {
        let mut input = PackedInput(bytes);
        let mut now: [Vec<f64>; 3] = Default::default();
        for segment in self.0.iter().filter(|s| !s.rigid) {
            let count = segment.particles.len();
            match (input.byte()?, segment.step, &segment.reference) {
                (RAW, _, _) => {
                    for axis in &mut now {
                        input.floats(count, axis)?;
                    }
                }
                (PACKED, Some(step), Some(reference)) if reference[0].len() == count => {
                    let movement = Movement::read(&mut input)?;
                    let predicted = movement.predicted(slices(reference), step);
                    for (axis, predicted) in now.iter_mut().zip(predicted) {
                        let left = input.block(count)?;
                        axis.extend(predicted.iter().zip(left).map(|(p, l)| p.wrapping_add(l) as f64 * step));
                    }
                }
                _ => return Err("positions are packed in an unknown way".into()),
            }
        }
        input.end()?;
        Ok(now)
    }

    /// The positions of those bodies that are stored as they are, which needs no references.
    pub(super) fn whole_positions(&self, bytes: &[u8]) -> Result<Vec<Option<Reference>>, String> {
        let mut input = PackedInput(bytes);
        let mut whole = Vec::new();
        for segment in &self.0 {
            let count = segment.particles.len();
            if segment.rigid {
                whole.push(None);
            } else if input.byte()? == RAW {
                let mut axes: [Vec<f64>; 3] = Default::default();
                for axis in &mut axes {
                    input.floats(count, axis)?;
                }
                whole.push(Some(Arc::new(axes)));
            } else {
                Movement::read(&mut input)?;
                for _ in 0..3 {
                    input.skip_block(count)?;
                }
                whole.push(None);
            }
        }
        Ok(whole)
    }

    /// The same of positions that are not packed, those of bodies that never deform left out.
    pub(super) fn parts_of(&self, positions: &[Vec<f64>; 3]) -> Result<Vec<Option<Reference>>, String> {
        let mut end = 0;
        let part = |segment: &Segment| {
            if segment.rigid {
                return Ok(None);
            }
            let first = end;
            end += segment.particles.len();
            let own = |axis: &Vec<f64>| axis.get(first..end).map(<[f64]>::to_vec);
            let [x, y, z] = positions.each_ref().map(own);
            let axes = x.zip(y).zip(z).map(|((x, y), z)| Some(Arc::new([x, y, z])));
            axes.ok_or_else(|| "it has too few particles".to_string())
        };
        self.0.iter().map(part).collect()
    }

    /// Numbers for display (`N` for each particle) as bytes.
    pub(super) fn pack_shown<const N: usize>(&self, values: [&[f32]; N]) -> Option<Vec<u8>> {
        if values.iter().any(|v| v.len() != self.particles()) {
            return None;
        }
        let mut out = Vec::new();
        for segment in &self.0 {
            let of_body = values.map(|v| &v[segment.particles.clone()]);
            let largest = of_body.iter().flat_map(|v| v.iter()).fold(0.0f32, |m, v| m.max(v.abs()));
            let finite = of_body.iter().all(|v| v.iter().all(|x| x.is_finite()));
            let fine = if N == 1 { FINE_STRAIN } else { FINE_VELOCITY };
            match step_below(f64::from(largest), fine).filter(|_| finite) {
                _ if finite && largest == 0.0 => out.push(NOTHING),
                Some(step) => {
                    out.push(PACKED);
                    out.extend(((step.to_bits() >> 52) as u16).to_le_bytes());
                    for values in of_body {
                        let steps: Vec<i64> =
                            values.iter().map(|&v| (f64::from(v) / step).round() as i64).collect();
                        let middle =
                            (steps.iter().sum::<i64>() as f64 / steps.len().max(1) as f64).round() as i64;
                        put_whole(&mut out, middle);
                        put_block(&mut out, &steps.iter().map(|s| s - middle).collect::<Vec<_>>());
                    }
                }
                None => {
                    out.push(RAW);
                    of_body.iter().flat_map(|v| v.iter()).for_each(|x| out.extend(x.to_le_bytes()));
                }
            }
        }
        Some(out)
    }

    pub(super) fn unpack_shown<const N: usize>(&self, bytes: &[u8]) -> Result<[Vec<f32>; N], String> {
        let mut input = PackedInput(bytes);
        let mut values: [Vec<f32>; N] = std::array::from_fn(|_| Vec::new());
        for segment in &self.0 {
            let count = segment.particles.len();
            match input.byte()? {
                NOTHING => values.iter_mut().for_each(|v| v.resize(v.len() + count, 0.0)),
                RAW => {
                    for v in &mut values {
                        for _ in 0..count {
                            v.push(f32::from_le_bytes(input.take()?));
                        }
                    }
                }
                PACKED => {
                    let exponent = u64::from(u16::from_le_bytes(input.take()?) & 0x7FF);
                    let step = f64::from_bits(exponent << 52);
                    for v in &mut values {
                        let middle = input.whole()?;
                        let steps = input.block(count)?;
                        v.extend(steps.iter().map(|s| (s.wrapping_add(middle) as f64 * step) as f32));
                    }
                }
                _ => return Err("values are packed in an unknown way".into()),
            }
        }
        input.end()?;
        Ok(values)
    }
}

const RAW: u8 = 0;
const PACKED: u8 = 1;
const NOTHING: u8 = 2;

/// 2^-fine times the largest power of two below a size; `None` where there is none.
fn step_below(size: f64, fine: i32) -> Option<f64> {
    let exponent = (size.to_bits() >> 52 & 0x7FF) as i32 - fine;
    (size.is_finite() && size > 0.0 && exponent > 0).then(|| f64::from_bits((exponent as u64) << 52))
}

/// How a body went from where it came to this frame: about its middle by a matrix, and its middle to a place.
struct Movement {
    middle: [i64; 3],
    matrix: [i16; 9],
}

impl Movement {
    /// The best there is, by least squares.
    fn fit(rest: [&[f64]; 3], now: [&[f64]; 3], step: f64) -> Option<Movement> {
        let (from, to) = (centered(rest), centered(now));
        let (mut across, mut within) = (DMat3::ZERO, DMat3::ZERO);
        for (r, x) in from.0.iter().zip(&to.0) {
            across += DMat3::from_cols(*x * r.x, *x * r.y, *x * r.z);
            within += DMat3::from_cols(*r * r.x, *r * r.y, *r * r.z);
        }
        // Flat bodies say nothing of what is across them; a little of everything keeps that small.
        let little = 1e-6 * (within.x_axis.x + within.y_axis.y + within.z_axis.z) + f64::MIN_POSITIVE;
        let matrix = across * (within + DMat3::from_diagonal(DVec3::splat(little))).inverse();
        let parts = matrix.to_cols_array().map(|m| (m * PARTS).round());
        let limit = f64::from(i16::MAX);
        let matrix = match parts.iter().all(|p| p.abs() <= limit) {
            true => parts.map(|p| p as i16),
            false => [0; 9],
        };
        let middle = (to.1 / step).round().to_array();
        // Beyond this whole numbers have gaps.
        middle.iter().all(|m| m.abs() < 9e15).then(|| Movement { middle: middle.map(|m| m as i64), matrix })
    }

    fn put(&self, out: &mut Vec<u8>) {
        self.middle.iter().for_each(|&m| put_whole(out, m));
        self.matrix.iter().for_each(|m| out.extend(m.to_le_bytes()));
    }

    fn read(input: &mut PackedInput<'_>) -> Result<Movement, String> {
        let mut movement = Movement { middle: [0; 3], matrix: [0; 9] };
        for m in &mut movement.middle {
            *m = input.whole()?;
        }
        for m in &mut movement.matrix {
            *m = i16::from_le_bytes(input.take()?);
        }
        Ok(movement)
    }

    /// Where it takes the particles, in steps.
    fn predicted(&self, rest: [&[f64]; 3], step: f64) -> [Vec<i64>; 3] {
        let matrix = DMat3::from_cols_array(&self.matrix.map(|m| f64::from(m) / PARTS));
        let mut predicted: [Vec<i64>; 3] = Default::default();
        for r in centered(rest).0 {
            let moved = (matrix * r / step).round().to_array();
            for (k, to) in predicted.iter_mut().enumerate() {
                to.push(self.middle[k].wrapping_add(moved[k] as i64));
            }
        }
        predicted
    }
}

fn slices(positions: &[Vec<f64>; 3]) -> [&[f64]; 3] {
    positions.each_ref().map(Vec::as_slice)
}

/// The positions of a body from their mean, and the mean.
fn centered([x, y, z]: [&[f64]; 3]) -> (Vec<DVec3>, DVec3) {
    let all: Vec<DVec3> = (0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect();
    let mean = all.iter().sum::<DVec3>() / all.len().max(1) as f64;
    (all.into_iter().map(|p| p - mean).collect(), mean)
}

fn put_positions(out: &mut Vec<u8>, segment: &Segment, now: [&[f64]; 3]) -> bool {
    let (Some(step), Some(rest)) = (segment.step, &segment.reference) else { return false };
    let Some(movement) = Movement::fit(slices(rest), now, step) else { return false };
    let predicted = movement.predicted(slices(rest), step);
    let mut left: [Vec<i64>; 3] = Default::default();
    for ((left, predicted), axis) in left.iter_mut().zip(predicted).zip(now) {
        for (x, p) in axis.iter().zip(predicted) {
            let steps = (x / step).round();
            if steps.abs() >= 9e15 {
                return false;
            }
            left.push((steps as i64).wrapping_sub(p));
        }
    }
    out.push(PACKED);
    movement.put(out);
    left.iter().for_each(|block| put_block(out, block));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_to_a_part_of_their_size() {
        let step = step_below(0.2, FINE).unwrap();
        assert!(step <= 0.2 / 131_072.0 && step > 0.1 / 131_072.0);
        let segment = |particles, step| Segment { particles, step, reference: None, rigid: false };
        let segments = vec![segment(0..50, Some(step)), segment(50..51, Some(step)), segment(51..60, None)];
        let mut layout = PackedLayout(segments);
        let value = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1000) as f64 * 2e-4;
        let rest: [Vec<f64>; 3] = std::array::from_fn(|k| (0..60).map(|i| value(i, k)).collect());
        // Turned, stretched, moved far away, and a little dented.
        let now: [Vec<f64>; 3] = [
            (0..60).map(|i| 1000.0 - 1.2 * rest[1][i] + 1e-4 * value(i, 9)).collect(),
            (0..60).map(|i| -3.0 + rest[0][i]).collect(),
            (0..60).map(|i| rest[2][i]).collect(),
        ];
        let first = layout.pack_positions(&rest).unwrap();
        assert_eq!(layout.unpack_positions(&first).unwrap(), rest, "what comes is stored as it is");
        layout.learn(&rest);
        let bytes = layout.pack_positions(&now).unwrap();
        let back = layout.unpack_positions(&bytes).unwrap();
        let whole = layout.whole_positions(&bytes).unwrap();
        assert!(whole[0].is_none() && whole[1].is_none());
        assert_eq!(whole[2].as_ref().unwrap()[1], now[1][51..60]);
        for k in 0..3 {
            for i in 0..60 {
                let error = (back[k][i] - now[k][i]).abs();
                assert!(error <= 0.5 * step && (i < 51 || error == 0.0), "{i}: {error}");
            }
        }
        let again = layout.pack_positions(&back).unwrap();
        assert_eq!(layout.unpack_positions(&again).unwrap(), back, "what was rounded is not rounded again");
        for cut in 0..bytes.len() {
            assert!(layout.unpack_positions(&bytes[..cut]).is_err());
            assert!(layout.whole_positions(&bytes[..cut]).is_err());
        }
        let shown: Vec<f32> = (0..60).map(|i| (i as f32 - 30.0) * 0.01).collect();
        let bytes = layout.pack_shown([&shown[..], &shown, &[0.0; 60]]).unwrap();
        let [a, _, zero] = layout.unpack_shown::<3>(&bytes).unwrap();
        assert!(a.iter().zip(&shown).all(|(a, b)| (a - b).abs() <= 0.3 / 1024.0), "{a:?}");
        assert!(zero.iter().all(|z| *z == 0.0));
        let wild = [f32::INFINITY; 60];
        let bytes = layout.pack_shown([&wild]).unwrap();
        assert_eq!(layout.unpack_shown::<1>(&bytes).unwrap()[0], wild);
    }
}
