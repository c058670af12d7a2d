//! Keyframed controls: they equal live edits to the last bit, survive a resume, and belong to their keys.

use crate::common::*;
use pliant::solvers::Support;
use pliant::{
    Body, Builder, Clustering, Control, Controls, DAffine3, DVec3, Ease, Key, Keyframes, StepError, Track,
    Value, shapes,
};

/// A body of each solver on the ground.
fn mixed() -> Builder {
    let mut bear = Body::new("bear", shapes::gummy_bear(0.6, 0.08).unwrap()).at(0.0, 0.4, 0.0);
    bear.clusters = Clustering::Radius(0.25);
    let bear = bear.frequency(12.0);
    let mut twin = bear.clone().projective().at(1.0, 0.4, 0.0).pin([0]);
    twin.name = "twin".into();
    twin.controls.edge_stiffness = 1e3;
    Builder::new().ground().body(bear).body(twin).substeps(2)
}

/// Stepped keys of every kind of control, at times of frames.
fn stepped() -> Vec<(u64, Control, Value)> {
    vec![
        (0, Control::Gravity, DVec3::new(0.0, -5.0, 1.0).into()),
        (7, Control::Gravity, DVec3::ZERO.into()),
        (21, Control::Gravity, DVec3::new(3.0, -9.0, 0.0).into()),
        (3, Control::Frequency(0.into()), 6.0.into()),
        (11, Control::Frequency(0.into()), 19.0.into()),
        (0, Control::Iterations(0.into()), 3.0.into()),
        (13, Control::Iterations(0.into()), 8.0.into()),
        (5, Control::EdgeStiffness(1.into()), 0.0.into()),
        (17, Control::EdgeStiffness(1.into()), 4e3.into()),
        (2, Control::Mass(1.into()), 3.0.into()),
    ]
}

fn tracks(h: f64) -> Vec<Track> {
    let mut tracks: Vec<Track> = Vec::new();
    for (frame, control, value) in stepped() {
        let key = Key::new(frame as f64 * h, value).ease(Ease::Stepped);
        match tracks.iter_mut().find(|t| t.control == control) {
            Some(track) => track.keys.push(key),
            None => tracks.push(Track::new(control, [key])),
        }
    }
    tracks
}

#[test]
fn live_edits_equal_keyframed_ones() {
    let h = mixed().step;
    let mut keyed = mixed();
    keyed.keyframes.tracks = tracks(h);
    let mut keyed = keyed.build().unwrap();
    let mut live = mixed().build().unwrap();
    // The first key's value holds before it too.
    for track in tracks(h) {
        live.set(track.control, track.keys[0].value).unwrap();
    }
    for frame in 0..40 {
        for (_, control, value) in stepped().into_iter().filter(|(at, _, _)| *at == frame) {
            live.set(control, value).unwrap();
        }
        for (_, control, _) in stepped() {
            assert_eq!(keyed.controls().get(control), live.controls().get(control), "{control:?} at {frame}");
        }
        run(&mut keyed, 1);
        run(&mut live, 1);
        assert_eq!(bits(&keyed), bits(&live), "step {frame}");
    }
}

#[test]
fn a_host_that_drives_each_step_equals_smooth_keys() {
    let keys = [(0.0, 8.0), (0.2, 16.0), (0.5, 3.0)].map(|(t, v)| Key::new(t, v).ease(Ease::Smooth));
    let track = Track::new(Control::Frequency(0.into()), keys);
    let mut keyed = mixed().track(track.clone()).build().unwrap();
    let mut driven = mixed().build().unwrap();
    for step in 0..40 {
        run(&mut keyed, 1);
        let report = driven.step_with(|number, time, controls| {
            assert_eq!(number, step);
            controls.set(track.control, track.value(time).unwrap()).map(|_| ())
        });
        assert_eq!(report.unwrap().step, step + 1);
    }
    assert_eq!(bits(&keyed), bits(&driven));
}

#[test]
fn a_refused_value_of_a_host_is_named_and_changes_nothing() {
    let mut s = mixed().build().unwrap();
    let (before, controls) = (bits(&s), s.controls().clone());
    let error = s
        .step_with(|_, _, controls| {
            controls.set(Control::Gravity, DVec3::X)?;
            controls.set(Control::Restitution(1.into()), 1.5)?;
            Ok(())
        })
        .unwrap_err();
    let StepError::Control(refused) = &error else { panic!("{error}") };
    assert_eq!(refused.control, "restitution");
    assert!(error.to_string().contains("restitution = 1.5") && error.to_string().contains("from 0 to 1"));
    assert_eq!((bits(&s), s.controls()), (before, &controls));
}

#[test]
fn a_keyframed_run_resumes_exactly() {
    let build = || {
        let mut b = mixed();
        b.keyframes.tracks = tracks(b.step);
        b.build().unwrap()
    };
    let mut whole = build();
    run(&mut whole, 30);
    for at in [0, 7, 12, 29] {
        let mut first = build();
        run(&mut first, at);
        let mut second = build();
        second.restore(&first.checkpoint()).unwrap();
        assert_eq!(second.controls(), first.controls(), "controls at step {at}");
        second.drop_caches();
        run(&mut second, 30 - at);
        assert_eq!(bits(&whole), bits(&second), "resumed at step {at}");
    }
    // Other keys make another model.
    assert!(mixed().build().unwrap().restore(&whole.checkpoint()).is_err());
}

#[test]
fn a_keyframed_control_belongs_to_its_keys() {
    let mut s = mixed()
        .track(Track::new(Control::GravityMagnitude, [Key::new(0.0, 9.81), Key::new(1.0, 0.0)]))
        .track(Track::new(Control::Frequency(0.into()), [Key::new(0.5, 10.0)]))
        .track(Track::new(Control::Relaxation(0.into()), [Key::new(0.0, 1.0), Key::new(1.0, 1.7)]))
        .build()
        .unwrap();
    for (control, value) in [
        (Control::GravityMagnitude, Value::from(3.0)),
        (Control::Gravity, DVec3::X.into()),
        (Control::Frequency(0.into()), 3.0.into()),
        (Control::Alpha(0.into()), 0.5.into()),
    ] {
        let error = s.set(control, value).unwrap_err().to_string();
        assert!(error.contains("keyframed"), "{error}");
    }
    let error = s.set(Control::Iterations(0.into()), 2.0).unwrap_err().to_string();
    assert!(error.contains("with the keyframes"), "{error}");
    s.set(Control::GravityDirection, DVec3::X).unwrap();
    s.set(Control::Frequency(1.into()), 3.0).unwrap();
    run(&mut s, 30);
    assert!((s.controls().gravity() - DVec3::X * 9.81 / 2.0).length() < 1e-9, "{}", s.controls().gravity());
    // Without its track it keeps the last value and is free.
    s.set_keyframes(Keyframes::default()).unwrap();
    assert!((s.controls().gravity().length() - 9.81 / 2.0).abs() < 1e-9);
    s.set(Control::GravityMagnitude, 3.0).unwrap();
}

#[test]
fn unsound_keyframes_are_refused_when_built_and_when_the_world_changes() {
    let errors = mixed()
        .track(Track::new(Control::Frequency(0.into()), [Key::new(1.0, 5.0), Key::new(0.5, 500.0)]))
        .track(Track::new(Control::Drag(9.into()), [Key::new(0.0, 1.0)]))
        .build()
        .unwrap_err();
    let text = errors.to_string();
    assert_eq!(errors.0.len(), 3, "{text}");
    assert!(errors.0.iter().all(|e| e.field == "keyframes"));
    assert!(text.contains("key 1 of frequency is at 0.5 s, not after the one at 1 s"), "{text}");
    assert!(text.contains("from 0 to 20.0"), "{text}");
    assert!(text.contains("body 9"), "{text}");
    let mut s =
        mixed().track(Track::new(Control::Frequency(0.into()), [Key::new(0.0, 5.0), Key::new(9.0, 18.0)]));
    s.bodies[0].controls.stiffness = pliant::Stiffness::Frequency(5.0);
    let mut s = s.build().unwrap();
    let error = s.set_substeps(1).unwrap_err().to_string();
    assert!(error.contains("frequency cannot be 18.0 at key 1"), "{error}");
}

#[test]
fn controls_survive_their_bytes() {
    let mut s = mixed().build().unwrap();
    let all: Vec<Control> = Control::all([0.into(), 1.into()]).collect();
    for (k, control) in all.iter().enumerate() {
        // What nothing reads cannot be set.
        if control.effect(s.model()) != Support::Yes {
            continue;
        }
        let value = match control {
            Control::Gravity | Control::GravityDirection | Control::Wind | Control::Force(_) => {
                Value::from(DVec3::new(1.0, 2.0, k as f64))
            }
            Control::Iterations(_) => 7.0.into(),
            Control::StrainLimit(_) | Control::YieldStrain(_) => f64::INFINITY.into(),
            Control::Relaxation(_) => 1.1.into(),
            Control::Poisson(_) => 0.4.into(),
            _ => (0.3 + 0.01 * k as f64).min(0.9).into(),
        };
        s.set(*control, value).unwrap();
    }
    s.controls_mut().place_pins(1, 0, Some(DAffine3::from_translation(DVec3::Y))).unwrap();
    let bytes = s.controls().encode();
    assert_eq!(&Controls::decode(&bytes, s.model()).unwrap(), s.controls());
    for cut in 0..bytes.len() {
        assert!(Controls::decode(&bytes[..cut], s.model()).is_err(), "cut at {cut}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Controls::decode(&longer, s.model()).is_err());
    // Another version, another number of colliders or bodies, a value that is not allowed.
    for (at, byte) in [(8, 9), (104, 5), (216, 5), (232, 0xff), (240, 0xff)] {
        let mut bad = bytes.clone();
        bad[at..at + 8].fill(byte);
        assert!(Controls::decode(&bad, s.model()).is_err(), "at {at}");
    }
}
