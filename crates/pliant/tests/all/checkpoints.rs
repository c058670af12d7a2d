//! A checkpoint of a run that was edited is all that a simulation built from the same scene needs to go on with its bits.

use crate::common::*;
use pliant::constraints::{EdgeStrain, Limits};
use pliant::{
    Body, BodyId, Builder, Clustering, Collider, ConstraintKind, ContactRadius, Control, DAffine3, DVec3,
    Ease, Edit, Field, Goals, HalfSpace, Hold, Input, Integrator, Key, Keyframes, Material, Motion, Sequence,
    Simulation, SolverKind, StateError, Track, shapes,
};
use pliant_geometry::{Skin, SkinBinding, TriMesh};
use std::sync::Arc;

fn bear() -> Body {
    let mut bear = Body::new("bear", shapes::gummy_bear(0.6, 0.12).unwrap()).at(0.0, 0.4, 0.0);
    bear.clusters = Clustering::Count(5);
    bear.velocity = DVec3::new(0.5, -2.0, 0.0);
    bear
}

fn bar() -> Body {
    let shape = shapes::tet_box([4, 2, 2], DVec3::new(0.4, 0.2, 0.2), shapes::TetStyle::Five).unwrap();
    Body::new("bar", shape).elastic(Material::named("jelly").unwrap()).at(1.0, 0.3, 0.0)
}

fn sheet() -> Body {
    let shape = shapes::sheet(1.0, 1.0, 5, 5).unwrap();
    Body::new("sheet", shape).elastic(Material::named("cotton").unwrap()).at(-2.0, 1.0, 0.0)
}

fn named(mut body: Body, name: &str) -> Body {
    body.name = name.into();
    body
}

/// The scene that everyone has.
fn scene() -> Simulation {
    let mut builder = Builder::new().ground().body(bear()).body(bar()).body(sheet());
    builder.threads = 2;
    builder = builder.track(Track::new(Control::Drag(0.into()), [Key::new(0.0, 0.1), Key::new(1.0, 0.3)]));
    builder.build().unwrap()
}

/// A body that follows an animation.
fn led() -> Body {
    let mut body = Body::new("led", shapes::ball(0.2, 0.08).unwrap()).at(0.0, 2.0, 3.0);
    let rest = body.shape.points.clone();
    let bent = rest.iter().map(|p| *p + DVec3::Y * p.x).collect();
    let mut input = Input::new(Sequence::new(vec![rest, bent], 4.0).unwrap().repeating());
    input.follow = body.shape.points.iter().map(|p| if p.y > 0.1 { 1.0 } else { 0.5 }).collect();
    body.input = Some(input);
    body.goals = Goals::Linear;
    body.integrator = Integrator::Deformer;
    body
}

/// Every kind of edit there is, on bodies that were built and on those that came.
fn edited() -> Simulation {
    let mut s = scene();
    run(&mut s, 3);
    let copies: Vec<BodyId> =
        (0..4).map(|k| s.add(named(bar().at(k as f64, 1.0, 1.0), &format!("copy {k}"))).unwrap()).collect();
    run(&mut s, 2);
    let mut stiff = bar();
    stiff.controls.young = 1e5;
    stiff.constraints.push(ConstraintKind::StrainLimit(Limits::new([0.8, 1.2])).of_stiffness(1e3));
    stiff.painted_tear_strain = (0..stiff.shape.points.len()).map(|i| 1.0 + i as f64).collect();
    s.change(1, stiff.clone()).unwrap();
    s.change(copies[1], stiff.solved_by(SolverKind::Newton)).unwrap();
    let held = s.hold(0, Hold::exactly([0, 5])).unwrap();
    let motion = Motion { velocity: DVec3::Y, end: 0.5, ..Motion::REST };
    s.hold(copies[2], Hold { name: "grip".into(), motion, ..Hold::by_springs([3, 1], 400.0) }).unwrap();
    s.hold(2, Hold::exactly([0, 4])).unwrap();
    run(&mut s, 2);
    s.release(0, held).unwrap();
    s.hold(0, Hold::exactly([2])).unwrap();
    s.remove(copies[0]).unwrap();
    let led = s.add(led()).unwrap();
    let mut round = named(led_alike(), "round");
    round.contact_radius = ContactRadius::Fixed(0.01);
    s.add(round).unwrap();
    // The same prototype, shown otherwise.
    let mut bare = named(led_alike(), "bare");
    bare.contact_radius = ContactRadius::Fixed(0.01);
    bare.shape.surface.triangles.truncate(4);
    s.add(bare.at(5.0, 1.0, 0.0)).unwrap();
    let slope =
        HalfSpace { normal: DVec3::new(0.6, 0.8, 0.0), offset: -3.0, friction: 0.1, restitution: 0.5 };
    s.set_substeps(8).unwrap();
    let gone = s.add_collider(HalfSpace::ground()).unwrap();
    let slope = s.add_collider(Collider::from(slope).named("slope")).unwrap();
    s.remove_collider(gone).unwrap();
    let sway = Motion { sway: DVec3::Y * 0.01, frequency: 2.0, ..Motion::REST };
    s.change_collider(0.into(), Collider::ground().moving(sway)).unwrap();
    s.place_collider(slope, Some(DAffine3::from_translation(DVec3::Y * 0.05))).unwrap();
    let keys = [Key::new(0.0, 0.0).ease(Ease::Smooth), Key::new(1.0, 1.0).ease(Ease::Stepped)];
    let wind = [Key::new(0.0, DVec3::X), Key::new(1.0, DVec3::Z)];
    let tracks = vec![Track::new(Control::Drag(led), keys), Track::new(Control::Wind, wind)];
    s.set_keyframes(Keyframes { tracks }).unwrap_or_else(|e| panic!("{e}"));
    s.tear(2, &[3, 4, 5, 12]).unwrap();
    s.tear(copies[3], &[10, 11, 12, 13, 14, 15]).unwrap();
    s.set(Control::Young(copies[3]), 2e4).unwrap();
    s.push(copies[3], &[(0, 1.0)], DVec3::X * 0.01).unwrap();
    run(&mut s, 3);
    // What tore off is held, and let go what was there before it tore.
    let last = s.positions(2).len() as u32 - 1;
    s.hold(2, Hold::exactly([last])).unwrap();
    let lift = DAffine3::from_translation(DVec3::Y * 0.1);
    s.controls_mut().place_pins(2, 0, Some(lift)).unwrap();
    run(&mut s, 2);
    s
}

fn led_alike() -> Body {
    Body::new("led", shapes::ball(0.2, 0.08).unwrap()).at(3.0, 2.0, 3.0)
}

#[test]
fn a_fresh_simulation_goes_on_as_the_one_that_was_edited() {
    let mut whole = edited();
    let saved = whole.checkpoint();
    let mut fresh = scene();
    run(&mut fresh, 1);
    fresh.restore(&saved).unwrap();
    assert!(fresh.checkpoint() == saved, "what was restored is what was saved");
    assert_eq!(fresh.model().id(), whole.model().id());
    for step in 0..30 {
        run(&mut whole, 1);
        run(&mut fresh, 1);
        assert!(bits(&whole) == bits(&fresh), "step {step}");
    }
    assert!(fresh.checkpoint() == whole.checkpoint());
    // Copies are still copies, and what is shown is what was shown.
    let parts =
        |s: &Simulation, name: &str| s.model().get(s.model().body(name).unwrap()).unwrap().parts.clone();
    assert!(Arc::ptr_eq(parts(&fresh, "copy 2").prototype(), parts(&fresh, "copy 3").whole().prototype()));
    assert!(Arc::ptr_eq(parts(&fresh, "round").prototype(), parts(&fresh, "bare").prototype()));
    for (name, more) in [("round", true), ("bare", false)] {
        let [a, b] = [&whole, &fresh].map(|s| parts(s, name).shown().triangles().to_vec());
        assert!(a == b && (a.len() > 4) == more, "{name}");
    }
    // What comes later has the numbers it would have had.
    let ids = [&mut whole, &mut fresh].map(|s| {
        let id = s.add(named(bar().at(-3.0, 1.0, 3.0), "late")).unwrap();
        (id, s.hold(0, Hold::exactly([9])).unwrap(), s.hold(id, Hold::exactly([1])).unwrap())
    });
    assert_eq!(ids[0], ids[1]);
    assert_eq!((ids[0].0.number(), ids[0].1), (10, 2));
    run(&mut whole, 3);
    run(&mut fresh, 3);
    assert!(fresh.checkpoint() == whole.checkpoint());
}

#[test]
fn ids_that_were_given_are_not_given_again_after_a_restore() {
    // What is left of these edits is nothing but the numbers.
    let mut s = scene();
    let id = s.add(named(bar(), "short")).unwrap();
    s.remove(id).unwrap();
    let group = s.hold(1, Hold::exactly([0])).unwrap();
    s.release(1, group).unwrap();
    let mut fresh = scene();
    fresh.restore(&s.checkpoint()).unwrap();
    assert_eq!(fresh.model().id(), s.model().id());
    assert_eq!(fresh.add(named(bar(), "next")).unwrap().number(), id.number() + 1);
    assert_eq!(fresh.hold(1, Hold::exactly([0])).unwrap(), group + 1);
}

#[test]
fn equal_bodies_are_described_once_and_built_ones_not_at_all() {
    let size = |copies: usize| {
        let mut s = Builder::new().ground().body(bear()).build().unwrap();
        for k in 0..copies {
            s.add(named(bar().at(k as f64, 0.3, 0.0), &format!("{k:03}"))).unwrap();
        }
        s.checkpoint().len()
    };
    let mut bodies = Builder::new().ground().body(bear());
    bodies.bodies.extend((0..100).map(|k| named(bar().at(k as f64, 0.3, 0.0), &format!("{k:03}"))));
    let built = bodies.build().unwrap().checkpoint().len();
    let (none, one, all) = (size(0), size(1), size(100));
    let description = one - none - (built - none) / 100;
    assert!(
        all - built < description + 100 * 80,
        "{description} bytes once, {} more than built",
        all - built
    );
    // A scene that nobody edited costs four words.
    let mut s = scene();
    let plain = s.checkpoint().len();
    run(&mut s, 3);
    assert_eq!(s.checkpoint().len(), plain);
}

/// Springs over the edges of a body, as a user might write them: nothing tells how they came about.
fn with_custom() -> Builder {
    let builder = Builder::new().ground().body(bear()).body(bar());
    builder.constraint(|rest| EdgeStrain::lengths(&[[0, 9], [1, 12]], rest, &[10.0, 10.0]))
}

#[test]
fn a_body_that_cannot_be_described_is_named() {
    // As the scene built it, it need not be: whatever holds it.
    let mut s = with_custom().build().unwrap();
    s.hold(1, Hold::exactly([3])).unwrap();
    run(&mut s, 3);
    let mut fresh = with_custom().build().unwrap();
    fresh.restore(&s.checkpoint()).unwrap();
    run(&mut s, 3);
    run(&mut fresh, 3);
    assert!(s.checkpoint() == fresh.checkpoint());

    let other = || {
        let builder = Builder::new().ground().body(bear()).body(bar());
        builder.build().unwrap()
    };
    let mut s = other();
    let custom = with_custom().build().unwrap().model().clone();
    s.edit(&Edit::Model(custom.clone())).unwrap();
    s.hold(1, Hold::exactly([3])).unwrap();
    run(&mut s, 3);
    let saved = s.checkpoint();
    let mut fresh = other();
    run(&mut fresh, 2);
    fresh.add(named(bar(), "more")).unwrap();
    let before = (fresh.checkpoint(), fresh.model().id());
    let error = fresh.restore(&saved).unwrap_err();
    assert_eq!(error, StateError::Undescribed { body: "bar".into() });
    assert!(error.to_string().contains("\"bar\"") && error.to_string().contains("Edit::Model"), "{error}");
    assert_eq!((fresh.checkpoint(), fresh.model().id()), before);
    // With the edit made again it goes on; what came after it is told.
    let mut fresh = other();
    fresh.edit(&Edit::Model(custom)).unwrap();
    fresh.restore(&saved).unwrap();
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(s.checkpoint() == fresh.checkpoint());
}

/// A model from elsewhere, of a world with other settings, is told as everything else.
#[test]
fn another_model_is_carried_too() {
    let build = |fields: bool| {
        let mut body = bar();
        body.controls.tear_strain = f64::INFINITY;
        let mut builder = Builder::new().ground().body(body);
        if fields {
            builder.implicit.mass = pliant::MassMatrix::Consistent;
            builder.implicit.implicitness = 0.75;
            builder = builder
                .field(Field::Turbulence { strength: 2.0, size: 0.3, rate: 1.0 })
                .field(Field::Attractor { center: DVec3::Y, strength: 1.0, radius: 0.5 });
        }
        builder.build().unwrap()
    };
    let mut s = build(false);
    run(&mut s, 3);
    s.edit(&Edit::Model(build(true).model().clone())).unwrap();
    run(&mut s, 3);
    let mut fresh = build(false);
    fresh.restore(&s.checkpoint()).unwrap();
    assert!(fresh.checkpoint() == s.checkpoint());
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(bits(&s) == bits(&fresh));
    let mut never = build(false);
    run(&mut never, 16);
    assert!(bits(&s) != bits(&never), "the edit does something");
}

#[test]
fn of_another_scene_it_is_refused() {
    let s = edited();
    let mut other = Builder::new().ground().body(bear()).body(bar()).build().unwrap();
    let before = other.checkpoint();
    assert_eq!(other.restore(&s.checkpoint()).unwrap_err(), StateError::OtherModel);
    let mut heavier = bear();
    heavier.mass = 2.0;
    let mut other2 = Builder::new().ground().body(heavier).body(bar()).body(sheet()).build().unwrap();
    assert_eq!(other2.restore(&s.checkpoint()).unwrap_err(), StateError::OtherModel);
    assert!(other.checkpoint() == before);
}

#[test]
fn damage_anywhere_is_refused_and_never_more_than_that() {
    let saved = edited().checkpoint();
    let mut s = scene();
    let before = s.checkpoint();
    for cut in (0..saved.len()).step_by(saved.len() / 40).chain(saved.len() - 10..saved.len()) {
        assert!(s.restore(&saved[..cut]).is_err());
    }
    for at in (0..saved.len()).step_by(saved.len() / 60 + 1) {
        let mut bad = saved.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(s.restore(&bad).is_err(), "byte {at}");
    }
    assert!(s.checkpoint() == before);
}

/// Even with a checksum that fits nothing makes it panic, and what it takes can be stepped.
#[test]
fn what_sticks_out_of_a_body_that_came_is_shown_as_before() {
    let mut brush = named(bar(), "brush");
    let bristle = (0..30).map(|k| DVec3::new(0.01 * f64::from(k % 2), 0.02 * f64::from(k), 0.0));
    let surface =
        TriMesh { positions: bristle.collect(), triangles: (0..28).map(|k| [k, k + 1, k + 2]).collect() };
    brush.shape.skin =
        Skin::bind_to(SkinBinding::Tetrahedra, &brush.shape, None, &surface.positions).unwrap();
    brush.shape.surface = surface;
    let mut s = scene();
    run(&mut s, 2);
    let id = s.add(brush).unwrap();
    run(&mut s, 3);
    let mut fresh = scene();
    fresh.restore(&s.checkpoint()).unwrap();
    let skin = |s: &Simulation| s.model().get(id).unwrap().parts.shown().skin().unwrap().clone();
    assert!(skin(&s).rigid_offsets.is_some(), "it reaches far outside");
    assert_eq!(skin(&fresh), skin(&s));
}

#[test]
fn whatever_is_taken_from_a_stranger_can_be_stepped() {
    let mut small = Body::new("ball", shapes::ball(0.15, 0.08).unwrap());
    small.clusters = Clustering::Count(2);
    let build = || Builder::new().ground().body(small.clone()).build().unwrap();
    let mut s = build();
    let mut led = led();
    led.shape = shapes::ball(0.15, 0.08).unwrap();
    led.input.as_mut().unwrap().sequence =
        Arc::new(Sequence::new(vec![led.shape.points.clone()], 1.0).unwrap());
    led.input.as_mut().unwrap().follow.clear();
    s.add(led).unwrap();
    let tet = shapes::tet_box([1, 1, 1], DVec3::splat(0.2), shapes::TetStyle::Five).unwrap();
    let bar = Body::new("bar", tet).elastic(Material::named("jelly").unwrap()).at(1.0, 0.3, 0.0);
    let id = s.add(bar).unwrap();
    s.hold(id, Hold::by_springs([0, 1], 100.0)).unwrap();
    s.hold(0, Hold::exactly([0])).unwrap();
    s.set_substeps(5).unwrap();
    s.add_collider(Collider::ground().named("low")).unwrap();
    s.remove_collider(0.into()).unwrap();
    let tracks = vec![Track::new(Control::Young(id), [Key::new(0.0, 1e4), Key::new(1.0, 1e3)])];
    s.set_keyframes(Keyframes { tracks }).unwrap();
    s.tear(id, &[0, 1, 2]).unwrap();
    run(&mut s, 2);
    let saved = s.checkpoint();
    // The section comes after four words, the last of which is its length.
    let section = 32 + word(&saved, 24);
    let values =
        [0, 1, 2, 3, 7, 1 << 20, 1 << 40, u64::MAX, f64::NAN.to_bits(), f64::MAX.to_bits(), 1.5f64.to_bits()];
    let mut taken = 0;
    // Every word of what is told first and last, and some of the shapes between, each with some values.
    let words = (section - 16) / 8;
    let told = |k: &usize| *k < 80 || *k + 160 > words || k.is_multiple_of(words / 150 + 1);
    for (k, n) in (0..words).filter(told).flat_map(|k| (0..3).map(move |n| (k, n))) {
        let (at, value) = (16 + 8 * k, values[(k + 4 * n) % values.len()]);
        let mut bytes = saved.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let end = bytes.len() - 8;
        let sum = checksum(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        let mut s = build();
        if s.restore(&bytes).is_ok() {
            taken += 1;
            s.state().check(s.model()).unwrap();
            drop(s.step());
        }
    }
    assert!(taken > 0, "no change was so small");
}

/// A checkpoint as version 10 wrote it, which knew nothing of sleep: the last section of memory was not there.
fn version_10(s: &Simulation) -> Vec<u8> {
    let bytes = s.checkpoint();
    let state = 32 + word(&bytes, 24);
    let (mut at, mut old) = (state + 32 + 8 + 104 * s.model().colliders().len(), Vec::new());
    old.extend_from_slice(&bytes[..at + 16]);
    assert_eq!(word(&bytes, at), 0);
    let bodies = word(&bytes, at + 8);
    at += 16;
    for _ in 0..bodies {
        let first = at;
        at += 8;
        // Six columns and eight sections.
        for _ in 0..14 {
            at += 8 + 8 * word(&bytes, at);
        }
        old.extend_from_slice(&bytes[first..at]);
        assert_eq!(word(&bytes, at), 3);
        at += 32;
    }
    old.extend_from_slice(&bytes[at..bytes.len() - 8]);
    old[8..16].copy_from_slice(&10u64.to_le_bytes());
    let sum = checksum(&old);
    old.extend_from_slice(&sum.to_le_bytes());
    old
}

#[test]
fn version_10_is_read() {
    let mut s = scene();
    run(&mut s, 5);
    let mut fresh = scene();
    fresh.restore(&version_10(&s)).unwrap();
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(bits(&s) == bits(&fresh));
}

/// A checkpoint as version 9 wrote it, whose controls told of no couplings, of which there are none.
fn version_9(s: &Simulation) -> Vec<u8> {
    let bytes = version_10(s);
    let controls = bytes.windows(8).position(|w| w == b"PLIANTCT").unwrap();
    let colliders = s.model().colliders().len();
    // No collider has vertices of its own: each says so in a word.
    let couplings = controls + 16 + 8 * 11 + 8 + 112 * colliders;
    assert_eq!(word(&bytes, couplings), 0);
    let mut old = [&bytes[..couplings], &bytes[couplings + 8..bytes.len() - 8]].concat();
    old[controls + 8..controls + 16].copy_from_slice(&7u64.to_le_bytes());
    old[8..16].copy_from_slice(&9u64.to_le_bytes());
    let sum = checksum(&old);
    old.extend_from_slice(&sum.to_le_bytes());
    old
}

#[test]
fn version_9_is_read() {
    let mut s = scene();
    run(&mut s, 5);
    let mut fresh = scene();
    fresh.restore(&version_9(&s)).unwrap();
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(bits(&s) == bits(&fresh));
}

/// A checkpoint as version 8 wrote it, which knew no bodies that never deform: the last section of memory was not there. Nor did
/// it tell of couplings, of which there are none.
fn version_8(s: &Simulation) -> Vec<u8> {
    let bytes = version_9(s);
    let state = 32 + word(&bytes, 24);
    let (mut at, mut old) = (state + 32 + 8 + 104 * s.model().colliders().len(), Vec::new());
    old.extend_from_slice(&bytes[..at]);
    assert_eq!(word(&bytes, at), 0);
    at += 8;
    let bodies = word(&bytes, at);
    old.extend_from_slice(&bytes[at..at + 8]);
    at += 8;
    for _ in 0..bodies {
        let first = at;
        at += 8;
        // Six columns and seven sections.
        for _ in 0..13 {
            at += 8 + 8 * word(&bytes, at);
        }
        old.extend_from_slice(&bytes[first..at]);
        assert_eq!(word(&bytes, at), 0);
        at += 8;
    }
    old.extend_from_slice(&bytes[at..bytes.len() - 8]);
    old[8..16].copy_from_slice(&8u64.to_le_bytes());
    let sum = checksum(&old);
    old.extend_from_slice(&sum.to_le_bytes());
    old
}

#[test]
fn version_8_is_read() {
    let mut s = scene();
    run(&mut s, 5);
    let mut fresh = scene();
    fresh.restore(&version_8(&s)).unwrap();
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(bits(&s) == bits(&fresh));
}

/// A checkpoint as it was before meshes could collide: neither state nor controls told of vertices.
fn version_7(s: &Simulation) -> Vec<u8> {
    let bytes = version_8(s);
    let colliders = s.model().colliders().len();
    let state = 32 + word(&bytes, 24);
    let vertices = state + 32 + 8 + 96 * colliders;
    let controls = bytes.windows(8).position(|w| w == b"PLIANTCT").unwrap();
    let led = controls + 16 + 8 * 11 + 8 + 104 * colliders;
    let mut old = [&bytes[..vertices], &bytes[vertices + 8 * colliders..controls + 8]].concat();
    old[8..16].copy_from_slice(&7u64.to_le_bytes());
    old.extend_from_slice(&6u64.to_le_bytes());
    old.extend_from_slice(&bytes[controls + 16..led]);
    old.extend_from_slice(&bytes[led + 8 * colliders..bytes.len() - 8]);
    let sum = checksum(&old);
    old.extend_from_slice(&sum.to_le_bytes());
    old
}

#[test]
fn version_7_is_read() {
    let mut s = scene();
    run(&mut s, 5);
    let mut fresh = scene();
    fresh.restore(&version_7(&s)).unwrap();
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(bits(&s) == bits(&fresh));
}

#[test]
fn version_5_is_read() {
    // It had no section: the words after the bits went straight on with the state. That did not tell where colliders are,
    // nor the controls where they are led.
    let older = |s: &Simulation| {
        let bytes = version_7(s);
        let state = 32 + word(&bytes, 24);
        let colliders = s.model().colliders().len();
        assert_eq!(word(&bytes, state + 32), colliders);
        let bodies = state + 32 + 8 + 96 * colliders;
        let controls = bytes.windows(8).position(|w| w == b"PLIANTCT").unwrap();
        let led = controls + 16 + 8 * 11;
        assert_eq!(word(&bytes, led), colliders);
        let values = led + 8 + 104 * colliders;
        let mut old = [&bytes[..24], &bytes[state..state + 32], &bytes[bodies..controls + 8]].concat();
        old[8..16].copy_from_slice(&5u64.to_le_bytes());
        old.extend_from_slice(&5u64.to_le_bytes());
        old.extend_from_slice(&bytes[controls + 16..led]);
        old.extend_from_slice(&bytes[values..bytes.len() - 8]);
        let sum = checksum(&old);
        old.extend_from_slice(&sum.to_le_bytes());
        old
    };
    let mut s = scene();
    run(&mut s, 5);
    let mut fresh = scene();
    fresh.restore(&older(&s)).unwrap();
    run(&mut s, 10);
    run(&mut fresh, 10);
    assert!(bits(&s) == bits(&fresh));
    // Of a run with edits it wants them made again, as it always did.
    let held = || {
        let mut s = scene();
        s.hold(0, Hold::exactly([2])).unwrap();
        run(&mut s, 3);
        s
    };
    let mut s = held();
    let old = older(&s);
    assert_eq!(scene().restore(&old).unwrap_err(), StateError::OtherModel);
    let mut again = held();
    run(&mut again, 4);
    again.restore(&old).unwrap();
    run(&mut s, 5);
    run(&mut again, 5);
    assert!(bits(&s) == bits(&again));
    // What is older still is said.
    for version in [4u64, 12] {
        let mut bytes = s.checkpoint();
        bytes[8..16].copy_from_slice(&version.to_le_bytes());
        let error = s.restore(&bytes).unwrap_err();
        assert_eq!(error, StateError::Version { found: version, expected: 11 });
        let text = error.to_string();
        assert!(text.contains(&format!("version {version},")) && text.contains("5 to 11"), "{text}");
    }
}

#[test]
fn version_6_is_read() {
    // It told of no couplings: neither the number of the next one, nor, of an edited model, whether they are known.
    let older = |s: &Simulation, edited: bool| {
        let bytes = version_7(s);
        let section = 32;
        assert_eq!(word(&bytes, section + 32), usize::from(edited));
        let mut old = bytes[..bytes.len() - 8].to_vec();
        if edited {
            // World and colliders are as built.
            assert_eq!([40, 48, 56].map(|at| word(&bytes, section + at)), [1, 1, 1]);
            old.drain(section + 56..section + 64);
        }
        old.drain(section + 16..section + 24);
        let length = word(&bytes, 24) - if edited { 16 } else { 8 };
        old[24..32].copy_from_slice(&(length as u64).to_le_bytes());
        old[8..16].copy_from_slice(&6u64.to_le_bytes());
        let sum = checksum(&old);
        old.extend_from_slice(&sum.to_le_bytes());
        old
    };
    for edited in [false, true] {
        let mut s = scene();
        if edited {
            s.hold(0, Hold::exactly([2])).unwrap();
        }
        run(&mut s, 5);
        let mut fresh = scene();
        fresh.restore(&older(&s, edited)).unwrap();
        run(&mut s, 10);
        run(&mut fresh, 10);
        assert!(bits(&s) == bits(&fresh), "edited: {edited}");
    }
}

fn word(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}
