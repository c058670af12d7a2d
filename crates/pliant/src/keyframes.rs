//! Values over time: keys that drive controls, as the channels of an animation package.
//!
//! Keyframes are part of the model, so a step stays a pure function of model, state and controls, and a
//! checkpoint of a keyframed run goes on exactly. A step takes the values of the moment it begins and keeps
//! them for all its substeps: it does what the same values set by hand before the step would do, bit by bit.
//!
//! A keyframed control belongs to its keys. Setting it by hand is refused until the track is gone, because
//! the next step would overwrite the value without a word.

use crate::bytes::Digest;
use crate::controls::{BodyControls, Control, ControlError, ControlOwner, Controls, Value};
use crate::model::{BodyId, CouplingId};
use crate::solvers::{Feature, SolverKind, Support, support};
use glam::{DQuat, DVec3};

/// How a value goes on from a key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Ease {
    /// It stays until the next key.
    Stepped,
    /// It changes at a steady rate.
    #[default]
    Linear,
    /// It leaves and arrives at rest (smoothstep, 3s² − 2s³). It never leaves the range between the two
    /// keys, so values that are allowed at the keys are allowed between them.
    Smooth,
}

impl Ease {
    /// Every ease.
    pub const ALL: [Ease; 3] = [Ease::Stepped, Ease::Linear, Ease::Smooth];

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Ease::Stepped => "stepped",
            Ease::Linear => "linear",
            Ease::Smooth => "smooth",
        }
    }

    /// The share of the way to the next key's value after share `s` of the time.
    fn share(self, s: f64) -> f64 {
        match self {
            Ease::Stepped => 0.0,
            Ease::Linear => s,
            Ease::Smooth => s * s * (3.0 - 2.0 * s),
        }
    }
}

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Seconds since the start.
    pub time: f64,
    /// What the control is then, in its unit; of the same kind in all keys of a track.
    pub value: Value,
    /// How it goes on to the next key.
    pub ease: Ease,
}

impl Key {
    /// A key from which the value goes on at a steady rate.
    pub fn new(time: f64, value: impl Into<Value>) -> Key {
        Key { time, value: value.into(), ease: Ease::Linear }
    }

    /// The key with another course of values up to the next key.
    pub fn ease(self, ease: Ease) -> Key {
        Key { ease, ..self }
    }
}

/// The keys of one control.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Track {
    /// What they drive.
    pub control: Control,
    /// In ascending order of time; at least one.
    pub keys: Vec<Key>,
}

/// A key counts as reached this many seconds before its time: the time of a frame is a product that may fall
/// short of the key's number in its last digit.
const SLACK: f64 = 1e-9;

impl Track {
    /// A track of a control.
    pub fn new(control: Control, keys: impl IntoIterator<Item = Key>) -> Track {
        Track { control, keys: keys.into_iter().collect() }
    }

    /// The value at a time; before the first key its value, after the last its. Vectors go component by
    /// component, directions turn at a steady or eased rate the short way round, opposite ones about an
    /// axis that depends on the first alone. Nothing without keys.
    pub fn value(&self, time: f64) -> Option<Value> {
        let next = self.keys.partition_point(|k| k.time <= time + SLACK);
        let Some(from) = next.checked_sub(1).and_then(|k| self.keys.get(k)) else {
            return self.keys.first().map(|k| k.value);
        };
        let Some(to) = self.keys.get(next) else { return Some(from.value) };
        let s = ((time - from.time) / (to.time - from.time)).clamp(0.0, 1.0);
        Some(self.between(from, to, from.ease.share(s)))
    }

    fn between(&self, from: &Key, to: &Key, s: f64) -> Value {
        match (from.value, to.value) {
            // Exact at both ends, and where nothing changes: rounding must not leave the range.
            _ if s == 0.0 || from.value == to.value => from.value,
            _ if s == 1.0 => to.value,
            (Value::Vector(a), Value::Vector(b)) if self.control == Control::GravityDirection => {
                Value::Vector(turn(a, b, s))
            }
            (Value::Vector(a), Value::Vector(b)) => {
                Value::Vector(DVec3::from_array([0, 1, 2].map(|i| mix(a[i], b[i], s))))
            }
            (Value::Number(a), Value::Number(b)) => Value::Number(mix(a, b, s)),
            // `check` has refused tracks of numbers and vectors.
            _ => from.value,
        }
    }

    /// The value just before `time`: what a stepped key at `time` has not changed yet.
    fn before(&self, time: f64) -> Option<Value> {
        match self.keys.iter().rposition(|k| k.time < time) {
            Some(k) if self.keys[k].ease == Ease::Stepped => Some(self.keys[k].value),
            _ => self.value(time),
        }
    }

    /// Every fault of the track by itself: keys missing, out of order, or with values that are not allowed
    /// for a body of that solver with substeps of `h` seconds.
    fn check(&self, solver: SolverKind, h: f64, mut fault: impl FnMut(Option<usize>, String, String)) {
        let name = self.control.name();
        if self.keys.is_empty() {
            fault(None, format!("the track of {name} has no keys"), "give at least one".into());
        }
        for (k, key) in self.keys.iter().enumerate() {
            if !key.time.is_finite() {
                let text = format!("key {k} of {name} is at {:?} s", key.time);
                fault(Some(k), text, "give a time that is a finite number of seconds".into());
            }
            let earlier = k.checked_sub(1).map(|p| self.keys[p].time);
            if let Some(earlier) = earlier.filter(|e| key.time <= *e) {
                let text =
                    format!("key {k} of {name} is at {} s, not after the one at {earlier} s", key.time);
                fault(Some(k), text, "put the keys in order of time, one at a time each".into());
            }
            if let Err(e) = self.control.check(key.value, solver, h) {
                fault(Some(k), format!("{name} cannot be {} at key {k}", e.value), e.allowed);
            }
            if let Some(next) = self.keys.get(k + 1).filter(|_| key.ease != Ease::Stepped) {
                let infinite = |v: Value| matches!(v, Value::Number(n) if n == f64::INFINITY);
                if matches!(self.control, Control::Iterations(_)) {
                    let text =
                        format!("{name} is a whole number and cannot be {} at key {k}", key.ease.name());
                    fault(Some(k), text, "let its keys be \"stepped\"".into());
                } else if infinite(key.value) != infinite(next.value) {
                    let text =
                        format!("there is nothing between {name} at key {k} and at the next: one is inf");
                    fault(Some(k), text, "let this key be \"stepped\", or give large finite numbers".into());
                }
            }
        }
        for (feature, used) in [
            (Feature::Edges, matches!(self.control, Control::EdgeStiffness(_))),
            (Feature::StrainLimit, matches!(self.control, Control::StrainLimit(_))),
        ] {
            if let (true, Support::No(instead)) = (used, support(solver, feature)) {
                let text = format!("the {} solver does not support {}", solver.name(), feature.name());
                fault(None, text, instead.into());
            }
        }
    }

    /// First and last time, for messages.
    fn span(&self) -> (f64, f64) {
        let time = |k: Option<&Key>| k.map_or(0.0, |k| k.time);
        (time(self.keys.first()), time(self.keys.last()))
    }
}

fn mix(a: f64, b: f64, s: f64) -> f64 {
    (a * (1.0 - s) + b * s).clamp(a.min(b), a.max(b))
}

/// Turns the direction of `a` by share `s` toward that of `b`.
fn turn(a: DVec3, b: DVec3, s: f64) -> DVec3 {
    // By the largest component first: the square of a tiny vector vanishes.
    let unit = |v: DVec3| (v / v.abs().max_element()).normalize_or(DVec3::NEG_Y);
    let (a, b) = (unit(a), unit(b));
    let across = a.cross(b);
    let angle = across.length().atan2(a.dot(b));
    let axis = across.try_normalize().unwrap_or_else(|| a.any_orthonormal_vector());
    DQuat::from_axis_angle(axis, angle * s) * a
}

/// What is wrong with some keyframes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeyframeFault {
    /// Which of the tracks it is in, from 0.
    pub track: usize,
    /// Index of the key, if it is one's.
    pub key: Option<usize>,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The tracks of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Keyframes {
    /// Each drives a control of its own.
    pub tracks: Vec<Track>,
}

impl Keyframes {
    /// The track that drives a control, whole or in part.
    pub fn driving(&self, control: Control) -> Option<&Track> {
        self.tracks.iter().find(|t| overlap(t.control, control))
    }

    /// Every fault at once, for bodies of these solvers and initial values, and these couplings, with substeps of `h` seconds.
    pub fn check(
        &self,
        bodies: &[(BodyId, SolverKind, BodyControls)],
        couplings: &[CouplingId],
        h: f64,
    ) -> Vec<KeyframeFault> {
        let mut faults = Vec::new();
        for (t, track) in self.tracks.iter().enumerate() {
            let mut fault = |key, message, help| faults.push(KeyframeFault { track: t, key, message, help });
            let name = track.control.name();
            let of = |b: BodyId| bodies.iter().find(|(id, ..)| *id == b);
            let (solver, gone) = match track.control.owner() {
                ControlOwner::World => (SolverKind::Clustered, None),
                ControlOwner::Body(b) => match of(b) {
                    Some((_, solver, _)) => (*solver, None),
                    None => (SolverKind::Clustered, Some((format!("body {b}"), bodies.len(), "bodies"))),
                },
                ControlOwner::Coupling(c) => {
                    let gone = (format!("coupling {c}"), couplings.len(), "couplings");
                    (SolverKind::Clustered, (!couplings.contains(&c)).then_some(gone))
                }
            };
            if let Some((owner, count, what)) = gone {
                let help = format!("there are {count} {what}, numbered from 0");
                fault(None, format!("{name} of {owner} cannot be keyframed"), help);
                continue;
            }
            track.check(solver, h, &mut fault);
            if let Some(other) = self.tracks[..t].iter().find(|o| overlap(o.control, track.control)) {
                let other = other.control.name();
                let text = match other == name {
                    true => format!("there is a track of {name} already"),
                    false => format!("the track of {other} sets {name} too"),
                };
                fault(None, text, "let one track hold all its keys".into());
            }
        }
        if faults.is_empty() {
            for (b, solver, controls) in bodies {
                if *solver == SolverKind::Clustered {
                    self.check_relaxation(*b, controls, &mut faults);
                }
            }
        }
        faults
    }

    /// Relaxation and iterations are only sound together, at every time. Between two keys of either the
    /// iterations stay and the relaxation is monotone, so the ends of each span are enough.
    fn check_relaxation(&self, b: BodyId, base: &BodyControls, faults: &mut Vec<KeyframeFault>) {
        let index = |c: Control| self.tracks.iter().position(|t| t.control == c);
        let found = [Control::Relaxation(b), Control::Iterations(b)].map(index);
        let Some(track) = found[0].or(found[1]) else { return };
        let [relaxation, iterations] = found.map(|i| i.map(|i| &self.tracks[i]));
        let number = |v: Option<Value>, usual: f64| match v {
            Some(Value::Number(v)) => v,
            _ => usual,
        };
        let both = [relaxation, iterations].into_iter().flatten();
        let mut times: Vec<f64> = both.flat_map(|t| t.keys.iter().map(|k| k.time)).collect();
        times.sort_by(f64::total_cmp);
        for (k, &time) in times.iter().enumerate() {
            let count = number(iterations.and_then(|t| t.value(time)), base.iterations.into());
            let here = relaxation.and_then(|t| t.value(time));
            let next = times.get(k + 1).and_then(|&later| relaxation.and_then(|t| t.before(later)));
            for value in [here, next] {
                let value = number(value, base.relaxation);
                let at_once = BodyControls { iterations: count as u32, relaxation: value, ..*base };
                if let Err(e) = at_once.check_relaxation() {
                    let message = format!("relaxation cannot be {} from {time} s on", e.value);
                    faults.push(KeyframeFault { track, key: None, message, help: e.allowed });
                    return;
                }
            }
        }
    }

    /// Why a live value is refused: its control is keyframed, or it would be unsound with one that is.
    pub(crate) fn allow(&self, control: Control, value: Value, base: &Controls) -> Result<(), ControlError> {
        let refuse = |allowed: String| {
            Err(ControlError { control: control.name(), value: value.to_string(), allowed })
        };
        if let Some(track) = self.driving(control) {
            let (count, (from, to)) = (track.keys.len(), track.span());
            return refuse(format!(
                "{} is keyframed ({count} keys from {from} s to {to} s); change or remove its track",
                track.control.name()
            ));
        }
        let mut faults = Vec::new();
        match (control, value, control.body().and_then(|b| base.body(b))) {
            (Control::Relaxation(b), Value::Number(relaxation), Some(own)) => {
                self.check_relaxation(b, &BodyControls { relaxation, ..*own }, &mut faults);
            }
            (Control::Iterations(b), Value::Number(v), Some(own)) => {
                let iterations = v as u32;
                self.check_relaxation(b, &BodyControls { iterations, ..*own }, &mut faults);
            }
            _ => {}
        }
        match faults.pop() {
            Some(fault) => refuse(format!("with the keyframes, {}: {}", fault.message, fault.help)),
            None => Ok(()),
        }
    }

    /// Gives every keyframed control its value at a time. The values were checked with the model.
    pub(crate) fn apply(&self, time: f64, controls: &mut Controls) {
        for track in &self.tracks {
            if let Some(value) = track.value(time) {
                if track.control == Control::Gravity {
                    // A gravity of zero keeps the direction before it; here no time before may show.
                    controls.world.gravity_direction = DVec3::NEG_Y;
                }
                controls.put(track.control, value);
            }
        }
    }

    pub(crate) fn digest(&self, hash: &mut Digest) {
        for track in &self.tracks {
            hash.bytes(track.control.name().as_bytes());
            hash.word(match track.control.owner() {
                ControlOwner::World => u64::MAX,
                ControlOwner::Body(body) => body.number(),
                ControlOwner::Coupling(coupling) => coupling.number(),
            });
            hash.word(track.keys.len() as u64);
            for key in &track.keys {
                let v = match key.value {
                    Value::Number(v) => [v, 0.0, 0.0],
                    Value::Vector(v) => v.to_array(),
                };
                [key.time].into_iter().chain(v).for_each(|v| hash.number(v));
                hash.word(key.ease as u64);
            }
        }
    }
}

/// Whether two controls set the same thing, or one a part of the other's.
fn overlap(a: Control, b: Control) -> bool {
    use Control::{Alpha, Frequency, Gravity, GravityDirection, GravityMagnitude};
    match (a, b) {
        (Alpha(x) | Frequency(x), Alpha(y) | Frequency(y)) => x == y,
        (Gravity, GravityDirection | GravityMagnitude) | (GravityDirection | GravityMagnitude, Gravity) => {
            true
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(track: &Track, time: f64) -> f64 {
        match track.value(time) {
            Some(Value::Number(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_hold_outside_and_follow_the_ease_between() {
        let keys = [
            Key::new(1.0, 2.0).ease(Ease::Stepped),
            Key::new(2.0, 4.0),
            Key::new(3.0, 8.0).ease(Ease::Smooth),
            Key::new(4.0, 0.0),
        ];
        let track = Track::new(Control::Damping(0.into()), keys);
        for (time, value) in [
            (-1.0, 2.0),
            (1.0, 2.0),
            (1.999, 2.0),
            (2.0, 4.0),
            (2.5, 6.0),
            (3.5, 4.0),
            (4.0, 0.0),
            (9.0, 0.0),
        ] {
            assert_eq!(number(&track, time), value, "at {time} s");
        }
        assert!((number(&track, 3.25) - 8.0 * (1.0 - 0.15625)).abs() < 1e-12);
        // A frame whose time falls short of the key in its last digits has reached it.
        assert_eq!(number(&track, 2.0 - 1e-12), 4.0);
    }

    #[test]
    fn smooth_values_stay_between_their_keys() {
        let keys = [(0.0, 0.1), (1.0, 0.98), (1.5, 0.3), (4.0, 0.98)];
        let track =
            Track::new(Control::Deformation(0.into()), keys.map(|(t, v)| Key::new(t, v).ease(Ease::Smooth)));
        for k in 0..=4000 {
            let v = number(&track, f64::from(k) * 1e-3);
            assert!((0.1..=0.98).contains(&v), "{v}");
        }
    }

    #[test]
    fn directions_turn_and_opposite_ones_are_defined() {
        for to in [DVec3::X, DVec3::Y, DVec3::new(1e-200, -3.0, 0.0), DVec3::new(0.0, 5.0, 1e-9)] {
            let keys = [Key::new(0.0, DVec3::NEG_Y), Key::new(1.0, to)];
            let track = Track::new(Control::GravityDirection, keys);
            let mut last = 0.0;
            for k in 1..10 {
                let Some(Value::Vector(v)) = track.value(f64::from(k) / 10.0) else { panic!("a vector") };
                assert!((v.length() - 1.0).abs() < 1e-12);
                let angle = v.angle_between(DVec3::NEG_Y);
                assert!(angle >= last, "{angle} after {last}");
                last = angle;
            }
        }
    }

    #[test]
    fn all_faults_are_found_at_once() {
        let bodies = [(0.into(), SolverKind::Clustered, BodyControls::default())];
        let tracks = vec![
            Track::new(Control::Damping(0.into()), []),
            Track::new(Control::Gravity, [Key::new(0.0, DVec3::X), Key::new(0.0, DVec3::Y)]),
            Track::new(Control::GravityMagnitude, [Key::new(f64::NAN, 1.0)]),
            Track::new(Control::Alpha(0.into()), [Key::new(2.0, 0.5), Key::new(1.0, 1.5)]),
            Track::new(Control::Frequency(0.into()), [Key::new(0.0, 1.0)]),
            Track::new(Control::Iterations(0.into()), [Key::new(0.0, 1.0), Key::new(1.0, 2.0)]),
            Track::new(Control::StrainLimit(0.into()), [Key::new(0.0, f64::INFINITY), Key::new(1.0, 0.3)]),
            Track::new(Control::EdgeStiffness(0.into()), [Key::new(0.0, 1.0)]),
            Track::new(Control::Drag(7.into()), [Key::new(0.0, 1.0)]),
            Track::new(Control::Volume(0.into()), [Key::new(0.0, DVec3::X)]),
        ];
        let faults = Keyframes { tracks }.check(&bodies, &[], 1.0 / 240.0);
        let found: Vec<(usize, Option<usize>, &str)> =
            faults.iter().map(|f| (f.track, f.key, f.message.as_str())).collect();
        let wanted = [
            (0, None, "no keys"),
            (1, Some(1), "at 0 s, not after the one at 0 s"),
            (2, Some(0), "NaN"),
            (2, None, "track of gravity sets gravity_magnitude too"),
            (3, Some(1), "at 1 s, not after the one at 2 s"),
            (3, Some(1), "cannot be 1.5"),
            (4, None, "track of alpha sets frequency too"),
            (5, Some(0), "whole number"),
            (6, Some(0), "inf"),
            (7, None, "does not support edge springs"),
            (8, None, "body 7"),
            (9, Some(0), "cannot be"),
        ];
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for (f, w) in found.iter().zip(wanted) {
            assert!((f.0, f.1) == (w.0, w.1) && f.2.contains(w.2), "{f:?} for {w:?}");
        }
        assert!(faults[5].help.contains("from 0 to 1"), "{}", faults[5].help);
    }

    #[test]
    fn relaxation_and_iterations_are_sound_together_at_all_times() {
        let own = BodyControls { relaxation: 1.0, ..Default::default() };
        let bodies = [(0.into(), SolverKind::Clustered, own)];
        let sound = |relaxation: &[Key], iterations: &[Key]| {
            let tracks = vec![
                Track::new(Control::Relaxation(0.into()), relaxation.iter().copied()),
                Track::new(Control::Iterations(0.into()), iterations.iter().copied()),
            ];
            Keyframes { tracks }.check(&bodies, &[], 1.0 / 240.0).is_empty()
        };
        let step = |t: f64, v: f64| Key::new(t, v).ease(Ease::Stepped);
        let few_then_many = [step(0.0, 1.0), step(1.0, 10.0)];
        assert!(sound(&[step(0.0, 1.3), step(1.0, 1.8)], &few_then_many));
        assert!(!sound(&[step(0.0, 1.3), step(0.9, 1.8)], &few_then_many));
        assert!(!sound(&[Key::new(0.0, 1.3), Key::new(1.0, 1.8)], &few_then_many), "just before 1 s");
        assert!(!sound(&[Key::new(0.0, 1.3), Key::new(2.0, 1.9)], &few_then_many[..1]));
    }
}
