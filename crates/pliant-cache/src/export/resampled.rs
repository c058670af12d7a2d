//! The frames an export is made of: those of the log, or moments between them at another rate.

use crate::{BodyPose, CacheError, LogBody, LogFrame, LogHeader, LogReader};
use glam::DVec3;
use std::path::Path;

/// A moment this near to a frame of the log, in frames, is that frame.
const SAME: f64 = 1e-6;

/// The frames of a log at a rate of one's own. Frame number n of an export with r frames a second is the moment n / r
/// seconds after frame 0, whatever the rate of the log; between two frames of the log everything goes straight from the
/// one to the other, so nothing leaves the space between them (a floor, say).
#[derive(Debug)]
pub struct ResampledLog<'a> {
    reader: &'a LogReader,
    /// Frames a second and the moments, where they are not the log's own.
    resampled: Option<(f64, Vec<ResampledFrame>)>,
}

/// A frame between two of the log.
#[derive(Clone, Copy, Debug)]
struct ResampledFrame {
    number: u32,
    /// Place of the frame before, and how far it is to the next.
    place: usize,
    part: f64,
}

impl<'a> ResampledLog<'a> {
    /// The frames of a log, at `per_second` frames a second if that is given.
    pub fn new(reader: &'a LogReader, per_second: Option<f64>) -> Result<ResampledLog<'a>, CacheError> {
        let own = reader.header().frames_per_second;
        let Some(rate) = per_second.filter(|&rate| rate != own) else {
            return Ok(ResampledLog { reader, resampled: None });
        };
        if !(rate.is_finite() && rate > 0.0) {
            return Err(CacheError::invalid(
                reader.path().display().to_string(),
                format!("{rate} frames a second is no rate"),
                "give a number above 0, such as 24",
            ));
        }
        Ok(ResampledLog { reader, resampled: Some((rate, moments(reader, rate / own))) })
    }

    /// The log's file.
    pub fn path(&self) -> &Path {
        self.reader.path()
    }

    /// What the log says about itself; for the rate ask [`frames_per_second`](ResampledLog::frames_per_second).
    pub fn header(&self) -> &'a LogHeader {
        self.reader.header()
    }

    /// The rate that frame numbers count by.
    pub fn frames_per_second(&self) -> f64 {
        self.resampled.as_ref().map_or(self.header().frames_per_second, |r| r.0)
    }

    /// The log itself.
    pub(super) fn log(&self) -> &'a LogReader {
        self.reader
    }

    /// Which epoch of the log the `i`-th frame is in; a moment between two frames is in that of the first.
    pub(crate) fn epoch_of(&self, i: usize) -> usize {
        match &self.resampled {
            Some((_, moments)) => self.reader.epoch_of(moments.get(i).map_or(0, |m| m.place)),
            None => self.reader.epoch_of(i),
        }
    }

    /// The bodies there are in the `i`-th frame.
    pub fn bodies_at(&self, i: usize) -> &'a [LogBody] {
        &self.reader.epochs()[self.epoch_of(i)].bodies
    }

    /// How many frames there are.
    pub fn frame_count(&self) -> usize {
        self.resampled.as_ref().map_or(self.reader.frame_count(), |r| r.1.len())
    }

    /// Number of the `i`-th frame.
    pub fn frame_index(&self, i: usize) -> Option<u32> {
        match &self.resampled {
            Some((_, moments)) => moments.get(i).map(|m| m.number),
            None => self.reader.frame_index(i),
        }
    }

    /// Simulated time of the `i`-th frame.
    pub fn frame_time(&self, i: usize) -> Option<f64> {
        let Some((_, moments)) = &self.resampled else {
            return self.reader.frame_time(i);
        };
        let ResampledFrame { place, part, .. } = *moments.get(i)?;
        let before = self.reader.frame_time(place)?;
        let after = if part > 0.0 { self.reader.frame_time(place + 1)? } else { before };
        Some(before + part * (after - before))
    }

    /// The `i`-th frame.
    pub fn frame(&self, i: usize) -> Result<LogFrame, CacheError> {
        let Some((_, moments)) = &self.resampled else {
            return self.reader.frame(i);
        };
        // A place beyond the last is refused by the log.
        let past = ResampledFrame { number: 0, place: self.reader.frame_count(), part: 0.0 };
        let ResampledFrame { number, place, part } = moments.get(i).copied().unwrap_or(past);
        let mut frame = self.reader.frame(place)?;
        if part > 0.0 {
            let after = self.reader.frame(place + 1)?;
            let (bodies, then) = (self.reader.bodies_at(place), self.reader.bodies_at(place + 1));
            let poses = poses_between((bodies, &frame.poses), (then, &after.poses), part);
            match partners(bodies, then) {
                None => frame = between(frame, &after, part),
                Some(partners) => frame = between(frame.clone(), &picked(&frame, &after, &partners), part),
            }
            pose(&mut frame, bodies, poses);
        }
        Ok(LogFrame { index: number, ..frame })
    }
}

/// All moments at a rate that is `ratio` times the log's, from its first frame to its last.
fn moments(reader: &LogReader, ratio: f64) -> Vec<ResampledFrame> {
    let numbers: Vec<u32> = (0..reader.frame_count()).filter_map(|k| reader.frame_index(k)).collect();
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
        return Vec::new();
    };
    let from = (f64::from(first) * ratio - SAME).ceil().max(0.0);
    let to = (f64::from(last) * ratio + SAME).floor();
    // A log of a hundred frames may be asked for at a million a second, but numbers end somewhere.
    let count = (to - from + 1.0).clamp(0.0, f64::from(u32::MAX / 2)) as u32;
    let moment = |number: u32| {
        let at = f64::from(number) / ratio;
        let next = numbers.partition_point(|&n| f64::from(n) <= at + SAME);
        let place = next.saturating_sub(1);
        let before = f64::from(numbers[place]);
        let part = match numbers.get(place + 1) {
            Some(&after) => (at - before) / (f64::from(after) - before),
            None => 0.0,
        };
        ResampledFrame { number, place, part: if part > SAME { part } else { 0.0 } }
    };
    (from as u32..from as u32 + count).map(moment).collect()
}

/// For each particle of some bodies the one it is in the next frame, `None` where its body is gone by then; nothing at all
/// if they are the same. Of several that a particle becomes it goes along with the first.
fn partners(before: &[LogBody], after: &[LogBody]) -> Option<Vec<Option<u32>>> {
    if before.as_ptr() == after.as_ptr() {
        return None;
    }
    let mut partners = Vec::new();
    for body in before {
        let then = after.binary_search_by_key(&body.id, |b| b.id).ok().map(|k| &after[k]);
        let first = partners.len();
        partners.resize(first + body.particles.len(), None);
        match then.map(|then| (then, &then.origin)) {
            Some((then, _)) if then.version == body.version => {
                partners[first..].iter_mut().zip(then.particles.clone()).for_each(|(p, i)| *p = Some(i));
            }
            Some((then, Some(origin))) => {
                for (&old, i) in origin.particles.iter().zip(then.particles.clone()) {
                    partners[first + old as usize].get_or_insert(i);
                }
            }
            _ => {}
        }
    }
    Some(partners)
}

/// What the particles of a frame are in the next one, in their order; those that are gone stay as they are.
fn picked(before: &LogFrame, after: &LogFrame, partners: &[Option<u32>]) -> LogFrame {
    fn of<T: Copy>(before: &[T], after: &[T], partners: &[Option<u32>]) -> Vec<T> {
        let one = |(x, p): (&T, &Option<u32>)| p.and_then(|i| after.get(i as usize)).copied().unwrap_or(*x);
        before.iter().zip(partners).map(one).collect()
    }
    LogFrame {
        positions: [0, 1, 2].map(|k| of(&before.positions[k], &after.positions[k], partners)),
        velocity: [0, 1, 2].map(|k| of(&before.velocity[k], &after.velocity[k], partners)),
        speed: of(&before.speed, &after.speed, partners),
        strain: of(&before.strain, &after.strain, partners),
        contact: of(&before.contact, &after.contact, partners),
        ..after.clone()
    }
}

/// Where bodies that never deform are between two frames; those that are gone in the next one stay.
fn poses_between(
    (bodies, now): (&[LogBody], &[BodyPose]),
    (then, next): (&[LogBody], &[BodyPose]),
    part: f64,
) -> Vec<BodyPose> {
    let rigid = |of: &'_ &LogBody| of.rigid.is_some();
    let mut later = then.iter().filter(rigid).zip(next).peekable();
    let pose = |(body, own): (&LogBody, &BodyPose)| {
        while later.next_if(|(other, _)| other.id < body.id).is_some() {}
        let next = later.peek().filter(|(other, _)| other.id == body.id).map(|(_, pose)| *pose);
        let rest = body.rigid.as_ref().map_or(&[][..], |rest| rest);
        let center = rest.iter().sum::<DVec3>() / rest.len().max(1) as f64;
        next.map_or(*own, |next| own.toward(next, center, part))
    };
    bodies.iter().filter(rigid).zip(now).map(pose).collect()
}

/// Puts bodies that never deform, with their particles, to where they are.
fn pose(frame: &mut LogFrame, bodies: &[LogBody], poses: Vec<BodyPose>) {
    for (body, pose) in bodies.iter().filter(|b| b.rigid.is_some()).zip(&poses) {
        for (i, rest) in body.range().zip(body.rigid.iter().flat_map(|rest| rest.iter())) {
            let at = pose.of_point(*rest).to_array();
            frame.positions.iter_mut().zip(at).for_each(|(axis, x)| axis[i] = x);
        }
    }
    frame.poses = poses;
}

/// A frame on the straight way from one to the next.
fn between(before: LogFrame, after: &LogFrame, part: f64) -> LogFrame {
    let mut frame = before;
    for (to, next) in frame.positions.iter_mut().zip(&after.positions) {
        to.iter_mut().zip(next).for_each(|(x, y)| *x += part * (y - *x));
    }
    let mix = |to: &mut Vec<f32>, next: &[f32]| {
        to.iter_mut().zip(next).for_each(|(x, y)| *x += part as f32 * (y - *x));
    };
    frame.velocity.iter_mut().zip(&after.velocity).for_each(|(to, next)| mix(to, next));
    mix(&mut frame.speed, &after.speed);
    mix(&mut frame.strain, &after.strain);
    frame.colliders.iter_mut().for_each(|collider| collider.toward(&after.colliders, part));
    frame.time += part * (after.time - frame.time);
    // What is yes or no, or a text, is that of the nearer one.
    if part > 0.5 {
        frame.contact.clone_from(&after.contact);
        frame.planes.clone_from(&after.planes);
        frame.stats_json.clone_from(&after.stats_json);
        frame.controls.clone_from(&after.controls);
    }
    frame
}
