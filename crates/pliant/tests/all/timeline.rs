//! Frames in any order: the bits of a straight run, edits that cost exactly the frames after them, and a
//! bound on memory.

use crate::common::*;
use pliant::{
    Body, BodyId, Builder, Clustering, Control, DVec3, Ease, Edit, Goals, HalfSpace, Hold, Key, Keyframes,
    Simulation, Store, Timeline, TimelineError, Track, Value, shapes,
};
use pliant_geometry::SplitMix64;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

fn bear() -> Body {
    let mut bear = Body::new("bear", shapes::gummy_bear(0.6, 0.09).unwrap()).at(0.0, 0.35, 0.0);
    bear.clusters = Clustering::Radius(0.25);
    bear.frequency(12.0)
}

fn twin() -> Body {
    let mut twin = bear().projective().at(1.0, 0.35, 0.0).pin([0]);
    twin.name = "twin".into();
    twin.controls.edge_stiffness = 1e3;
    twin
}

/// A bear that keeps dents, so that a state has more than positions and velocities to bring back.
fn clay() -> Body {
    let mut clay = bear().goals(Goals::Quadratic);
    clay.controls.yield_strain = 0.02;
    clay
}

/// Clustered, clustered with plasticity, projective, and both together with keyframes.
fn scenes() -> Vec<Builder> {
    let empty = || Builder::new().ground().substeps(2);
    let keys = [(0.0, -9.81), (0.3, 4.0), (0.6, -20.0)];
    let keys = keys.map(|(t, y)| Key::new(t, DVec3::new(0.0, y, 0.0)).ease(Ease::Smooth));
    let keyed = Track::new(Control::Gravity, keys);
    vec![
        empty().body(bear()),
        empty().body(clay()),
        empty().body(twin()),
        empty().body(bear()).body(twin()).track(keyed),
    ]
}

/// A straight run with values set before the steps that leave their frames: all frames.
fn straight(mut s: Simulation, frames: u64, edits: &[(u64, Control, Value)]) -> Vec<Vec<u64>> {
    let mut all = vec![bits(&s)];
    for frame in 0..frames {
        for (_, control, value) in edits.iter().filter(|e| e.0 == frame) {
            s.set(*control, *value).unwrap();
        }
        s.step().unwrap();
        all.push(bits(&s));
    }
    all
}

/// Frame numbers that jump about.
fn scrub(count: usize, frames: u64) -> impl Iterator<Item = u64> {
    let mut rng = SplitMix64::new(61);
    (0..count).map(move |_| rng.below(frames + 1))
}

#[test]
fn scrubbing_gives_the_bits_of_a_straight_run() {
    const FRAMES: u64 = 40;
    let edits: Vec<(u64, Control, Value)> = vec![
        (0, Control::Damping(0.into()), 5.0.into()),
        (9, Control::Frequency(0.into()), 4.0.into()),
        (9, Control::Drag(0.into()), 1.0.into()),
        (25, Control::Frequency(0.into()), 17.0.into()),
    ];
    for (k, scene) in scenes().into_iter().enumerate() {
        let simulation = scene.build().unwrap();
        let size = simulation.checkpoint().len();
        let mut timeline = Timeline::new(simulation);
        let wanted = straight(scenes().remove(k).build().unwrap(), FRAMES, &edits);
        for (frame, control, value) in &edits {
            timeline.set(*frame, *control, *value).unwrap();
        }
        for states in [1, 2, 5, 12, 1000] {
            timeline.set_memory(states * size);
            for frame in scrub(40, FRAMES) {
                let got = state_bits(timeline.frame(frame).unwrap());
                assert_eq!(got, wanted[frame as usize], "scene {k}, frame {frame}, room for {states}");
                assert_eq!(timeline.simulation().state().step(), frame);
                assert!(timeline.stored_bytes() <= states * size, "{timeline:?}");
            }
        }
    }
}

#[test]
fn the_clay_is_dented() {
    let mut s = scenes().remove(1).build().unwrap();
    run(&mut s, 40);
    assert!(
        s.state().bodies()[0]
            .memory()
            .matrices(pliant::Section::Plastic)
            .any(|p| p != pliant::DMat3::IDENTITY)
    );
}

#[test]
fn an_edit_costs_exactly_the_frames_after_it() {
    for (k, scene) in scenes().into_iter().enumerate() {
        let mut t = Timeline::new(scene.build().unwrap());
        let cost = |t: &mut Timeline, frame: u64| {
            let before = t.steps_computed();
            t.frame(frame).unwrap();
            t.steps_computed() - before
        };
        assert_eq!(cost(&mut t, 50), 50);
        let old = straight(scenes().remove(k).build().unwrap(), 50, &[]);
        t.set(30, Control::Damping(0.into()), 9.0).unwrap();
        assert!(t.stored_frames().eq(0..=30));
        // Nothing before it, nor the frame itself.
        for frame in [30, 0, 17, 29, 30] {
            assert_eq!(cost(&mut t, frame), 0, "frame {frame}");
            assert_eq!(state_bits(t.frame(frame).unwrap()), old[frame as usize]);
        }
        assert_eq!(cost(&mut t, 50), 20);
        assert_ne!(state_bits(t.frame(50).unwrap()), old[50]);
        // The same again is no edit, another value at the same frame replaces it.
        t.set(30, Control::Damping(0.into()), 9.0).unwrap();
        assert_eq!(cost(&mut t, 50), 0);
        t.set(30, Control::Damping(0.into()), 8.0).unwrap();
        assert_eq!((t.edits().count(), cost(&mut t, 50)), (1, 20));
        // A refused one changes nothing.
        let error = t.set(10, Control::Damping(0.into()), -1.0).unwrap_err();
        assert!(matches!(error, TimelineError::Control { frame: 10, .. }), "{error}");
        assert_eq!(cost(&mut t, 50), 0);
        // Removed, all is as it was.
        assert!(t.unset(30, Control::Damping(0.into())).unwrap());
        assert!(!t.unset(30, Control::Damping(0.into())).unwrap());
        assert_eq!(cost(&mut t, 50), 20);
        assert_eq!(state_bits(t.frame(50).unwrap()), old[50]);
        t.invalidate_after(44);
        assert_eq!((cost(&mut t, 44), cost(&mut t, 50)), (0, 6));
    }
}

#[test]
fn edits_at_the_present_frame_show_at_once() {
    let mut t = Timeline::new(scenes().remove(0).build().unwrap());
    t.frame(5).unwrap();
    t.set(5, Control::Damping(0.into()), 9.0).unwrap();
    assert_eq!(t.simulation().controls().get(Control::Damping(0.into())), Some(9.0.into()));
    t.frame(4).unwrap();
    assert_eq!(t.simulation().controls().get(Control::Damping(0.into())), Some(2.0.into()));
    t.frame(7).unwrap();
    assert_eq!(t.simulation().controls().get(Control::Damping(0.into())), Some(9.0.into()));
}

#[test]
fn worlds_keyframes_and_models_change_on_the_way() {
    const FRAMES: u64 = 30;
    let raised = HalfSpace { offset: 0.1, ..HalfSpace::ground() };
    let keys = Keyframes {
        tracks: vec![Track::new(Control::Drag(0.into()), [Key::new(0.0, 0.0), Key::new(0.5, 8.0)])],
    };
    // Upstream the twin was made of another rest shape.
    let other = || {
        let mut twin = twin();
        twin.shape.points.iter_mut().for_each(|p| *p *= DVec3::new(1.2, 0.9, 1.0));
        let model = Builder::new().ground().substeps(2).body(bear()).body(twin).build().unwrap();
        model.model().clone()
    };
    let scene = || Builder::new().ground().substeps(2).body(bear()).body(twin()).build().unwrap();
    let mut wanted = scene();
    run(&mut wanted, 8);
    wanted.set_substeps(3).unwrap();
    wanted.change_collider(0.into(), raised).unwrap();
    run(&mut wanted, 7);
    wanted.set_keyframes(keys.clone()).unwrap();
    run(&mut wanted, 15);
    let mut t = Timeline::new(scene());
    t.frame(FRAMES).unwrap();
    let size = t.simulation().checkpoint().len();
    t.edit(15, Edit::Keyframes(keys)).unwrap();
    t.edit(8, Edit::Substeps(3)).unwrap();
    t.edit(8, Edit::ChangeCollider(0.into(), Box::new(raised.into()))).unwrap();
    for memory in [1, 3, 1000] {
        t.set_memory(memory * size);
        for frame in [30, 8, 15, 9, 16, 30] {
            t.frame(frame).unwrap();
        }
        assert_eq!(bits(t.simulation()), bits(&wanted), "room for {memory}");
    }
    // One substep is too few for the stiffness, and a later edit is checked with an earlier.
    assert!(matches!(t.edit(8, Edit::Substeps(1)), Err(TimelineError::World { frame: 8, .. })));
    t.set(20, Control::Frequency(0.into()), 29.0).unwrap();
    let error = t.remove(8, 0).unwrap_err();
    assert!(matches!(error, TimelineError::Control { frame: 20, .. }), "{error}");
    t.unset(20, Control::Frequency(0.into())).unwrap();
    t.frame(FRAMES).unwrap();
    let before = t.steps_computed();
    t.edit(20, Edit::Model(other())).unwrap();
    t.frame(FRAMES).unwrap();
    assert_eq!(t.steps_computed() - before, 10);
    assert_ne!(bits(t.simulation()), bits(&wanted));
    let strange = scenes().remove(0).build().unwrap().model().clone();
    assert_eq!(t.edit(20, Edit::Model(strange)).unwrap_err(), TimelineError::OtherBodies { frame: 20 });
    t.remove(20, 0).unwrap();
    t.frame(FRAMES).unwrap();
    assert_eq!(bits(t.simulation()), bits(&wanted));
}

#[test]
fn recomputing_stays_bounded_under_a_bound_on_memory() {
    const FRAMES: u64 = 200;
    let simulation = scenes().remove(0).build().unwrap();
    let size = simulation.checkpoint().len();
    let mut t = Timeline::new(simulation);
    t.set_memory(32 * size);
    t.frame(FRAMES).unwrap();
    assert_eq!(t.steps_computed(), FRAMES);
    assert!(t.stored_bytes() <= 32 * size && t.stored_bytes() >= 16 * size);
    let worst = scrub(60, FRAMES)
        .map(|frame| {
            let before = t.steps_computed();
            t.frame(frame).unwrap();
            t.steps_computed() - before
        })
        .max();
    // 200 frames between at most 16 anchors, at distances that are powers of two.
    assert!(worst.unwrap() < 16, "{worst:?}");
    // Backward, frame by frame.
    t.frame(FRAMES).unwrap();
    let before = t.steps_computed();
    for frame in (0..=FRAMES).rev() {
        t.frame(frame).unwrap();
    }
    let steps = t.steps_computed() - before;
    assert!(steps <= FRAMES + FRAMES / 10, "{steps} steps for going back over {FRAMES} frames");
}

/// A host's store that forgets every third frame, and counts.
#[derive(Clone, Default)]
struct Leaky(Arc<Mutex<BTreeMap<u64, Vec<u8>>>>);

impl Store for Leaky {
    fn keep(&mut self, frame: u64, checkpoint: &[u8]) -> bool {
        self.0.lock().unwrap().keep(frame, checkpoint)
    }
    fn load(&mut self, frame: u64) -> Option<Vec<u8>> {
        self.0.lock().unwrap().load(frame).filter(|_| !frame.is_multiple_of(3))
    }
    fn forget(&mut self, frame: u64) {
        self.0.lock().unwrap().forget(frame);
    }
}

#[test]
fn what_has_no_room_can_be_kept_by_the_host() {
    const FRAMES: u64 = 40;
    let wanted = straight(scenes().remove(0).build().unwrap(), FRAMES, &[]);
    let simulation = scenes().remove(0).build().unwrap();
    let size = simulation.checkpoint().len();
    let mut t = Timeline::new(simulation);
    let store = Leaky::default();
    t.set_store(Box::new(store.clone()));
    t.set_memory(size);
    t.frame(FRAMES).unwrap();
    assert_eq!(t.stored_bytes(), size);
    for frame in scrub(60, FRAMES) {
        let before = t.steps_computed();
        assert_eq!(state_bits(t.frame(frame).unwrap()), wanted[frame as usize], "frame {frame}");
        assert!(t.steps_computed() - before <= 1, "only what was lost is computed again");
    }
    t.set(20, Control::Damping(0.into()), 9.0).unwrap();
    assert_eq!(store.0.lock().unwrap().keys().next_back(), Some(&20));
    let edits = [(20, Control::Damping(0.into()), 9.0.into())];
    let wanted = straight(scenes().remove(0).build().unwrap(), FRAMES, &edits);
    for frame in scrub(20, FRAMES) {
        assert_eq!(state_bits(t.frame(frame).unwrap()), wanted[frame as usize], "frame {frame}");
    }
}

#[test]
fn frames_before_the_first_and_steps_that_fail_are_named() {
    let mut s = scenes().remove(0).build().unwrap();
    run(&mut s, 5);
    let mut t = Timeline::new(s);
    assert_eq!(t.frame(4).unwrap_err(), TimelineError::TooEarly { frame: 4, first: 5 });
    assert!(t.set(4, Control::Drag(0.into()), 1.0).is_err());
    // Clusters hold on to anything but infinity.
    t.set(8, Control::Force(0.into()), DVec3::splat(1e12)).unwrap();
    t.set(8, Control::Mass(0.into()), 1e-300).unwrap();
    let error = t.frame(20).unwrap_err();
    let TimelineError::Step { frame, .. } = error else { panic!("{error}") };
    assert!(frame >= 8, "{frame}");
    assert_eq!(t.frame(frame).unwrap().step(), frame);
    t.frame(6).unwrap();
    t.unset(8, Control::Force(0.into())).unwrap();
    t.frame(20).unwrap();
}

/// Bodies come and go, are held, pushed, moved and let go at frames: any frame has the bits of a run in which the same was
/// done live, however it was reached.
#[test]
fn structural_edits_have_the_bits_of_live_ones_in_any_order() {
    let bear = |name: &str, x: f64| {
        let mut body = Body::new(name, shapes::gummy_bear(0.5, 0.12).unwrap()).at(x, 0.5, 0.0);
        body.clusters = pliant::Clustering::Count(4);
        body
    };
    let sheet = || {
        let mut sheet =
            Body::new("sheet", shapes::sheet(0.6, 0.6, 5, 5).unwrap()).projective().at(1.0, 1.0, 0.0);
        sheet.clusters = pliant::Clustering::None;
        sheet.controls.edge_stiffness = 100.0;
        sheet
    };
    let build = || Builder::new().ground().body(bear("one", 0.0)).body(sheet()).build().unwrap();
    let (one, sheet, late) = (BodyId::from(0), BodyId::from(1), BodyId::from(2));
    let lift = pliant::DAffine3::from_translation(DVec3::new(0.0, 0.3, 0.1));
    let edits = [
        (3, Edit::Add(Box::new(bear("late", -1.0)))),
        (5, Edit::Hold(sheet, Hold::exactly([0, 5]))),
        (5, Edit::Hold(sheet, Hold::by_springs([35], 50.0))),
        (8, Edit::Pins(sheet, 0, Some(lift))),
        (9, Edit::Push(late, vec![(0, 0.5), (1, 0.5)], DVec3::new(0.0, 0.2, 0.0))),
        (12, Edit::Remove(one)),
        (14, Edit::Release(sheet, 0)),
        (16, Edit::Teleport(late, lift)),
        (16, Edit::Set(Control::Frequency(late), 15.0.into())),
        (18, Edit::Release(sheet, 1)),
        (20, Edit::Remove(sheet)),
    ];
    let mut live = build();
    let mut frames = Vec::new();
    for frame in 0..=25 {
        for (_, edit) in edits.iter().filter(|(at, _)| *at == frame) {
            live.edit(edit).unwrap();
        }
        frames.push(state_bits(live.state()));
        live.step().unwrap();
    }
    let mut t = Timeline::new(build());
    // Made in another order than they act, while frames are looked at.
    t.frame(10).unwrap();
    for (frame, edit) in &edits {
        t.edit(*frame, edit.clone()).unwrap();
    }
    for frame in [25, 3, 17, 4, 12, 13, 25, 0, 20, 21, 5] {
        assert!(state_bits(t.frame(frame).unwrap()) == frames[frame as usize], "frame {frame}");
    }
    // An edit forgets the frames after it, and no others.
    t.frame(25).unwrap();
    let computed = t.steps_computed();
    t.edit(22, Edit::Push(late, vec![(3, 1.0)], DVec3::X)).unwrap();
    assert!(state_bits(t.frame(21).unwrap()) == frames[21]);
    assert!(state_bits(t.frame(22).unwrap()) != frames[22], "its velocities");
    assert_eq!(t.steps_computed(), computed);
    assert!(state_bits(t.frame(25).unwrap()) != frames[25]);
    assert_eq!(t.steps_computed(), computed + 3);
    // One that no longer fits is refused with its frame, and changes nothing.
    let error = t.edit(2, Edit::Remove(sheet)).unwrap_err();
    assert!(error.to_string().contains("at frame 5") && error.to_string().contains("was removed"), "{error}");
    let error = t.edit(21, Edit::Push(sheet, vec![(0, 1.0)], DVec3::X)).unwrap_err();
    assert!(error.to_string().contains("at frame 21"), "{error}");
    assert!(state_bits(t.frame(21).unwrap()) == frames[21]);
}
