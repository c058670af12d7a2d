//! Animated input: a sequence of shapes that a body's rest shape and painted particles follow.

use glam::{DAffine3, DVec3};
use std::fmt;
use std::sync::Arc;

/// Positions of the same points in frames of equal length, as a mesh animation gives them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    frames: Vec<Vec<DVec3>>,
    per_second: f64,
    /// Whether it begins again at its end.
    repeats: bool,
}

/// Why a sequence cannot be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SequenceError {
    /// The frame at fault, from 0; `None` for the sequence as a whole.
    pub frame: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            Some(frame) => write!(f, "frame {frame} of the sequence {}; {}", self.message, self.help),
            None => write!(f, "the sequence {}; {}", self.message, self.help),
        }
    }
}

impl std::error::Error for SequenceError {}

impl Sequence {
    /// A sequence of `per_second` frames a second, the first at time zero. All faults are reported.
    pub fn new<V: Into<DVec3>>(frames: Vec<Vec<V>>, per_second: f64) -> Result<Sequence, Vec<SequenceError>> {
        let frames: Vec<Vec<DVec3>> =
            frames.into_iter().map(|frame| frame.into_iter().map(Into::into).collect()).collect();
        let mut faults = Vec::new();
        let mut fault = |frame, message, help| faults.push(SequenceError { frame, message, help });
        let Some(count) = frames.first().map(Vec::len) else {
            fault(None, "has no frames".into(), "give at least one");
            return Err(faults);
        };
        // Frames are counted as time goes on: the count must stay a number.
        if !(per_second > 0.0 && per_second <= 1e9) {
            fault(None, format!("has {per_second:?} frames a second"), "give a number above 0 and up to 1e9");
        }
        for (k, frame) in frames.iter().enumerate() {
            if frame.len() != count {
                let message = format!("has {} points, the first has {count}", frame.len());
                fault(Some(k), message, "export all frames from one mesh whose vertices stay the same");
            }
            if let Some(i) = frame.iter().position(|p| !p.is_finite()) {
                let message = format!("has a point {i} that is not finite");
                fault(Some(k), message, "repair or leave out the frame");
            }
        }
        if faults.is_empty() { Ok(Sequence { frames, per_second, repeats: false }) } else { Err(faults) }
    }

    /// The sequence without an end: the last frame leads over to the first in the time of one frame.
    pub fn repeating(mut self) -> Sequence {
        self.repeats = true;
        self
    }

    /// Number of points in each frame.
    pub fn points(&self) -> usize {
        self.frames[0].len()
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Never: a sequence has at least one frame.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The shape at a time: linear between frames, resting before the first and after the last.
    pub fn at(&self, time: f64) -> SequenceSample<'_> {
        let count = self.frames.len();
        let frame = (time * self.per_second).max(0.0);
        let frame = if self.repeats { frame % count as f64 } else { frame.min((count - 1) as f64) };
        let first = (frame as usize).min(count - 1);
        let next = if self.repeats { (first + 1) % count } else { (first + 1).min(count - 1) };
        SequenceSample { from: &self.frames[first], to: &self.frames[next], part: frame - first as f64 }
    }

    /// The same with other points in each frame.
    pub(crate) fn mapped(&self, map: impl Fn(&Vec<DVec3>) -> Vec<DVec3>) -> Sequence {
        Sequence { frames: self.frames.iter().map(map).collect(), ..*self }
    }

    pub(crate) fn placed(&self, placement: DAffine3) -> Sequence {
        let place = |frame: &Vec<DVec3>| frame.iter().map(|p| placement.transform_point3(*p)).collect();
        Sequence { frames: self.frames.iter().map(place).collect(), ..*self }
    }

    /// The first frame with a point so far away that it is no number.
    pub(crate) fn first_non_finite(&self) -> Option<usize> {
        self.frames.iter().position(|frame| frame.iter().any(|p| !p.is_finite()))
    }

    /// The frames, how many there are a second, and whether it repeats: all of it.
    pub(crate) fn parts(&self) -> (&[Vec<DVec3>], f64, bool) {
        let Sequence { frames, per_second, repeats } = self;
        (frames, *per_second, *repeats)
    }

    pub(crate) fn digest(&self, hash: &mut crate::bytes::Digest) {
        hash.number(self.per_second);
        hash.word(self.repeats.into());
        for p in self.frames.iter().flatten() {
            p.to_array().into_iter().for_each(|v| hash.number(v));
        }
    }
}

/// A shape between two frames.
#[derive(Clone, Copy, Debug)]
pub struct SequenceSample<'a> {
    from: &'a [DVec3],
    to: &'a [DVec3],
    part: f64,
}

impl SequenceSample<'_> {
    /// Point `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> DVec3 {
        // At a frame this is the frame, to the bit.
        self.from[i] + (self.to[i] - self.from[i]) * self.part
    }
}

/// What a body follows, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The shape of the body's particles over time, placed like the body.
    pub sequence: Arc<Sequence>,
    /// Painted weights, one per particle: 1 is held where the sequence is, 0 is free, and what lies between
    /// is drawn there by springs ([`BodyControls::follow`](crate::BodyControls::follow)), with lag and
    /// overshoot. Empty for 0 everywhere.
    pub follow: Vec<f64>,
    /// Whether the rest shape is the sequence's, too: the body then takes its poses, not only its place.
    pub reshape: bool,
}

impl Input {
    /// A body whose rest shape follows a sequence, with all particles free.
    pub fn new(sequence: Sequence) -> Input {
        Input { sequence: Arc::new(sequence), follow: Vec::new(), reshape: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x: f64) -> Vec<DVec3> {
        vec![DVec3::ZERO, DVec3::X * x]
    }

    #[test]
    fn is_linear_between_frames_and_rests_or_repeats_outside() {
        let s =
            Sequence::new(vec![line(1.0), line(2.0), line(4.0)], 10.0).unwrap_or_else(|e| panic!("{e:?}"));
        let x = |s: &Sequence, t: f64| s.at(t).get(1).x;
        for (t, want) in [(-1.0, 1.0), (0.0, 1.0), (0.05, 1.5), (0.15, 3.0), (0.2, 4.0), (9.0, 4.0)] {
            assert!((x(&s, t) - want).abs() < 1e-12, "{t}");
        }
        let s = s.repeating();
        // From the last frame back to the first, and on.
        for (t, want) in [(0.25, 2.5), (0.3, 1.0), (0.35, 1.5), (3.05, 1.5)] {
            assert!((x(&s, t) - want).abs() < 1e-9, "{t}: {}", x(&s, t));
        }
    }

    #[test]
    fn a_changing_vertex_count_is_refused_with_its_frames() {
        let mut bad = line(1.0);
        bad.push(DVec3::NAN);
        let faults = Sequence::new(vec![line(1.0), bad.clone(), line(2.0), bad], f64::NAN);
        let text: Vec<String> = faults.err().unwrap_or_default().iter().map(|e| e.to_string()).collect();
        assert_eq!(text.len(), 5, "{text:?}");
        assert!(text.iter().any(|t| t.contains("frame 1") && t.contains("3 points, the first has 2")));
        assert!(Sequence::new(Vec::<Vec<DVec3>>::new(), 1.0).is_err());
    }
}
