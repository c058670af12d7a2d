//! Tearing: what is conserved, what becomes of the elements, and the same bits however a torn state is reached.

use crate::common::*;
use pliant::model::BodyModel;
use pliant::tearing::NEW_VERTEX;
use pliant::{
    Body, Builder, ConstraintKind, Control, DVec3, Edit, Hold, Material, Section, Simulation, SolverKind,
    Timeline, shapes,
};
use std::collections::HashSet;

const SOLVERS: [SolverKind; 4] =
    [SolverKind::Projective, SolverKind::Newton, SolverKind::Xpbd, SolverKind::Pbd];

fn cloth_material() -> Material {
    Material { young: 5e5, poisson: 0.3, density: 300.0, thickness: 1e-3, damping: 5.0 }
}

/// A strip of cloth along x, held at both ends; the right one is drawn away at `speed` for one second.
fn strip(solver: SolverKind, speed: f64) -> Body {
    let mut body = Body::new("strip", shapes::sheet(1.0, 0.3, 16, 5).unwrap());
    body = body.elastic(cloth_material()).solved_by(solver);
    body.controls.iterations = 20;
    let end = |x: f64| {
        let near = move |p: &DVec3| (p.x - x).abs() < 1e-6;
        let points = shapes::sheet(1.0, 0.3, 16, 5).unwrap().points;
        (0..points.len() as u32).filter(|&i| near(&points[i as usize])).collect::<Vec<u32>>()
    };
    body = body.pin(end(-0.5)).pin(end(0.5));
    body.pins[1].motion.velocity = DVec3::X * speed;
    body.pins[1].motion.end = 1.0;
    body
}

fn bar(solver: SolverKind) -> Body {
    let cells = shapes::tet_box([8, 3, 3], DVec3::new(0.8, 0.3, 0.3), shapes::TetStyle::Five).unwrap();
    let mut body = Body::new("bar", cells).elastic(Material::named("jelly").unwrap()).solved_by(solver);
    body.controls.iterations = 12;
    body
}

fn parts(s: &Simulation) -> &BodyModel {
    &s.model().bodies()[0].parts
}

fn alone(body: Body) -> Simulation {
    let mut builder = weightless(body);
    builder.substeps = 2;
    builder.build().unwrap()
}

/// The corners of all elements at present.
fn cells(parts: &BodyModel) -> Vec<Vec<u32>> {
    let width = parts.facets().unwrap().width();
    let whole = match parts.topology().solid {
        true => parts.topology().tetrahedra.as_flattened().to_vec(),
        false => parts.topology().faces.as_flattened().to_vec(),
    };
    whole.chunks(width).map(<[u32]>::to_vec).collect()
}

/// No element is lost or used twice, each has the corners it was built with, and every particle is a corner of some.
fn check_elements(s: &Simulation) {
    let (now, whole) = (parts(s), parts(s).whole());
    let (now_cells, whole_cells) = (cells(now), cells(whole));
    assert_eq!(now_cells.len(), whole_cells.len(), "elements were lost");
    let origin =
        now.corners().map_or_else(|| (0..now.particle_count() as u32).collect(), |c| c.origin().to_vec());
    for (now, whole) in now_cells.iter().zip(&whole_cells) {
        assert_eq!(&now.iter().map(|&i| origin[i as usize]).collect::<Vec<_>>(), whole);
    }
    let used: HashSet<u32> = now_cells.iter().flatten().copied().collect();
    assert_eq!(used.len(), now.particle_count(), "a particle of no element");
    assert_eq!(now.particle_count(), s.state().bodies()[0].positions().len());
    let masses: f64 = now.rest().mass.iter().sum();
    let wanted: f64 = whole.rest().mass.iter().sum();
    assert!((masses - wanted).abs() < 1e-12 * wanted, "{masses} instead of {wanted}");
    for (v, m) in whole.rest().mass.iter().enumerate() {
        let copies = (0..origin.len()).filter(|i| origin[*i] as usize == v);
        let sum: f64 = copies.map(|i| now.rest().mass[i]).sum();
        assert!((sum - m).abs() < 1e-14 * wanted, "particle {v}");
    }
    let pieces = s.pieces(0);
    let particles: usize = pieces.iter().map(|p| p.particles.len()).sum();
    let elements: usize = pieces.iter().map(|p| p.elements.len()).sum();
    assert_eq!((particles, elements), (now.particle_count(), now_cells.len()));
    let shown = now.shown();
    let vertices = shown.skin().map_or(now.particle_count(), |skin| skin.len());
    assert!(shown.triangles().iter().flatten().all(|&i| (i as usize) < vertices));
    if let Some(skin) = shown.skin() {
        skin.check(vertices, now.particle_count()).unwrap();
    }
}

/// A stretched, moving state of a body, so that everything there is to conserve is there.
fn disturb(s: &mut Simulation) {
    let mut random = Random::new(7);
    let x: Vec<DVec3> =
        s.positions(0).map(|p| p * DVec3::new(1.3, 0.9, 1.1) + random.vector() * 0.004).collect();
    let v: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.y, -p.x, 0.3) + random.vector() * 0.2).collect();
    put(s, &x, &v);
}

/// Facets in a plane x = const of the rest shape.
fn across(s: &Simulation, x: f64) -> Vec<u32> {
    let facets = parts(s).facets().unwrap();
    let rest = &parts(s).whole().rest().positions;
    let in_plane =
        |f: &usize| facets.particles(*f).iter().all(|&i| (rest.get(i as usize).x - x).abs() < 1e-6);
    (0..facets.len()).filter(in_plane).map(|f| f as u32).collect()
}

#[test]
fn a_tear_conserves_mass_momentum_and_energy() {
    for solver in SOLVERS {
        let mut cloth = strip(solver, 0.0);
        cloth.constraints.push(ConstraintKind::Hinge.into());
        cloth.pins.clear();
        for body in [cloth, bar(solver)] {
            let mut s = alone(body);
            disturb(&mut s);
            let before = s.statistics();
            let facets = across(&s, 0.0);
            assert!(facets.len() >= 5);
            s.tear(0, &facets).unwrap();
            let after = s.statistics();
            check_elements(&s);
            assert_eq!(s.pieces(0).len(), 2);
            assert!((after.momentum - before.momentum).length() < 1e-13 * momentum_scale(&s));
            assert!((after.angular_momentum - before.angular_momentum).length() < 1e-13 * angular_scale(&s));
            assert!((after.kinetic - before.kinetic).abs() < 1e-13 * before.kinetic);
            assert!(before.elastic > 1e-6, "nothing to conserve: {}", before.elastic);
            assert!(
                after.elastic <= before.elastic * (1.0 + 1e-13),
                "{} of {}",
                after.elastic,
                before.elastic
            );
            assert!(after.elastic > 0.5 * before.elastic, "{} of {}", after.elastic, before.elastic);
            assert!((after.gravity - before.gravity).abs() <= 1e-13 * (1.0 + before.gravity.abs()));
            // Without pins momentum stays what it is in the steps that follow too.
            run(&mut s, 5);
            let moved = (s.statistics().momentum - before.momentum).length();
            assert!(moved < 1e-10 * momentum_scale(&s), "{solver:?}: {moved}");
        }
    }
}

#[test]
fn a_single_broken_facet_inside_opens_nothing_and_two_open_a_slit() {
    let mut s = alone(strip(SolverKind::Projective, 0.0));
    let n = s.model().particle_count();
    let facets = parts(&s).facets().unwrap();
    // Three particles in a row along z, inside the sheet.
    let at = |x: usize, z: usize| (z * 17 + x) as u32;
    let [first, second] = [facets.find(&[at(8, 1), at(8, 2)]), facets.find(&[at(8, 2), at(8, 3)])];
    let (first, second) = (first.unwrap() as u32, second.unwrap() as u32);
    let elastic = s.statistics().elastic;
    s.tear(0, &[first]).unwrap();
    assert_eq!(s.model().particle_count(), n, "the edge's ends are still held on the other side");
    assert_eq!(s.tears().len(), 1);
    s.tear(0, &[second]).unwrap();
    assert_eq!(s.model().particle_count(), n + 1);
    assert_eq!(s.pieces(0).len(), 1);
    let torn = &s.tears()[0];
    assert_eq!(torn.particle_origin.len(), n + 1);
    assert_eq!(torn.particle_origin[n], at(8, 2));
    assert_eq!(torn.shown_origin, torn.particle_origin);
    assert!(s.statistics().elastic <= elastic + 1e-15);
    check_elements(&s);
    // Again is nothing.
    let bits_before = bits(&s);
    s.tear(0, &[first, second]).unwrap();
    assert_eq!(bits(&s), bits_before);
    s.step().unwrap();
    assert_eq!(s.tears().len(), 1, "what was torn by hand before a step is told after it");
    s.step().unwrap();
    assert!(s.tears().is_empty());
}

/// Drawn out to 1.5 times its length.
#[test]
fn a_strip_pulled_too_far_parts_and_one_pulled_less_does_not() {
    for solver in SOLVERS {
        for (tear_strain, parts_wanted) in [(0.25, true), (1.0, false)] {
            let mut body = strip(solver, 0.5);
            body.controls.tear_strain = tear_strain;
            let mut s = alone(body);
            let mut torn_at = None;
            for step in 0..90 {
                s.step().unwrap();
                if !s.tears().is_empty() && torn_at.is_none() {
                    torn_at = Some(step);
                }
            }
            check_elements(&s);
            let pieces = s.pieces(0);
            let large = pieces.iter().filter(|p| p.elements.len() > 8).count();
            println!(
                "{solver:?}, {tear_strain}: torn at {torn_at:?}, {} pieces, {large} large, {} particles",
                pieces.len(),
                s.model().particle_count()
            );
            match parts_wanted {
                true => {
                    // 0.5 m/s for so many sixtieths of a second.
                    let strain = 0.5 * torn_at.unwrap() as f64 / 60.0;
                    // PBD converges to no strain in particular: near the pulled end it is larger.
                    let off = if solver == SolverKind::Pbd { 0.1 } else { 0.03 };
                    assert!((strain - tear_strain).abs() < off, "{solver:?} tore at {strain}");
                    assert!(large == 2 && pieces.len() <= 4, "{solver:?}: {} pieces", pieces.len());
                }
                false => assert!(torn_at.is_none() && pieces.len() == 1, "{solver:?}"),
            }
        }
    }
}

#[test]
fn whether_it_tears_does_not_depend_on_the_mesh() {
    // A square stretched uniformly along a direction that edges of the mesh take every angle to.
    for turn in [0.0, 0.3, 0.7, 1.2, 1.57] {
        for (stretch, tears) in [(1.29, false), (1.31, true)] {
            let mut body =
                Body::new("square", shapes::sheet(1.0, 1.0, 8, 8).unwrap()).elastic(cloth_material());
            body.controls.tear_strain = 0.3;
            let mut s = alone(body);
            let axis = DVec3::new(f64::cos(turn), 0.0, f64::sin(turn));
            let x: Vec<DVec3> = s.positions(0).map(|p| p + axis * (axis.dot(p) * (stretch - 1.0))).collect();
            put(&mut s, &x, &vec![DVec3::ZERO; x.len()]);
            // No time to move: what is judged is this state.
            s.set(Control::Iterations(0.into()), 0.0).unwrap();
            s.step().unwrap();
            assert_eq!(!s.tears().is_empty(), tears, "turned by {turn}, stretched by {stretch}");
        }
    }
}

fn tearing_scene(threads: usize) -> Simulation {
    let mut strip = strip(SolverKind::Projective, 0.9).at(0.0, 1.0, 0.0);
    strip.controls.tear_strain = 0.3;
    strip.controls.air = 1.2;
    strip.pins[0].stiffness = Some(4e4);
    let mut jelly = bar(SolverKind::Projective).at(0.0, 0.3, 0.0);
    jelly.stretch = DVec3::new(1.6, 0.8, 0.8);
    jelly.controls.tear_strain = 0.35;
    let mut newton = bar(SolverKind::Newton).at(0.0, 0.4, 1.0);
    (newton.name, newton.stretch) = ("newton".into(), DVec3::new(1.7, 0.8, 0.8));
    newton.controls.tear_strain = 0.4;
    let mut xpbd = strip.clone().solved_by(SolverKind::Xpbd).at(0.0, 1.0, 2.0);
    xpbd.name = "xpbd".into();
    let mut builder = Builder::new().ground().substeps(2).wind(2.0, 0.0, 1.0);
    builder.bodies.extend([strip, jelly, newton, xpbd]);
    builder.threads = threads;
    builder.build().unwrap()
}

fn torn_bodies(s: &Simulation) -> usize {
    s.model().bodies().iter().filter(|b| b.parts.corners().is_some_and(|c| c.broken().len() >= 5)).count()
}

#[test]
fn threads_and_dropped_caches_give_the_same_bits() {
    let mut reference = tearing_scene(1);
    run(&mut reference, 40);
    assert_eq!(torn_bodies(&reference), 4, "not everything tore");
    for threads in [2, 7] {
        let mut s = tearing_scene(threads);
        for _ in 0..40 {
            s.drop_caches();
            run(&mut s, 1);
        }
        assert_eq!(bits(&reference), bits(&s), "{threads} threads");
    }
}

#[test]
fn saved_and_loaded_at_any_step_over_a_tear() {
    let mut reference = tearing_scene(1);
    run(&mut reference, 40);
    for at in [0, 20, 26, 39] {
        let mut first = tearing_scene(1);
        run(&mut first, at);
        let bytes = first.checkpoint();
        // Loaded into one that was just built, and into one that is torn already.
        for before in [0, 30] {
            let mut second = tearing_scene(2);
            run(&mut second, before);
            second.restore(&bytes).unwrap();
            assert_eq!(second.state(), first.state());
            run(&mut second, 40 - at);
            assert_eq!(bits(&reference), bits(&second), "resumed at {at} after {before}");
        }
    }
}

#[test]
fn a_timeline_scrubs_over_a_tear() {
    let straight: Vec<Vec<u64>> = {
        let mut s = tearing_scene(1);
        (0..=40)
            .map(|k| {
                if k > 0 {
                    run(&mut s, 1);
                }
                bits(&s)
            })
            .collect()
    };
    for memory in [1 << 28, 1] {
        let mut timeline = Timeline::new(tearing_scene(2));
        timeline.set_memory(memory);
        timeline.set_store(Box::new(std::collections::BTreeMap::new()));
        for frame in [40_u64, 3, 25, 24, 26, 39, 0, 31, 30, 40] {
            let state = timeline.frame(frame).unwrap();
            assert_eq!(state_bits(state), straight[frame as usize], "frame {frame}");
            let s = timeline.simulation();
            s.state().check(s.model()).unwrap();
        }
    }
}

/// Edits of torn bodies by hand, by a timeline and by a schedule: the same bits.
#[test]
fn edits_of_torn_bodies_live_and_in_a_timeline() {
    let edits = |s: &Simulation| {
        let facets = across(s, 0.25);
        [
            (4, Edit::Tear(0.into(), facets)),
            (28, Edit::Push(0.into(), vec![(40, 0.5), (41, 0.5)], DVec3::Y * 1e-2)),
            (30, Edit::Hold(0.into(), Hold::exactly([40, 60]))),
            (33, Edit::Release(0.into(), 1)),
            (36, Edit::Hold(0.into(), Hold::by_springs([20], 50.0))),
            (38, Edit::Release(0.into(), 2)),
        ]
    };
    let mut live = tearing_scene(1);
    let list = edits(&live);
    let mut straight = vec![bits(&live)];
    for frame in 0..42 {
        for (_, edit) in list.iter().filter(|(at, _)| *at == frame) {
            live.edit(edit).unwrap();
        }
        run(&mut live, 1);
        straight.push(bits(&live));
    }
    let mut timeline = Timeline::new(tearing_scene(1));
    for (at, edit) in &list {
        timeline.edit(*at, edit.clone()).unwrap();
    }
    for frame in [42_u64, 29, 32, 37, 5, 41] {
        let state = timeline.frame(frame).unwrap();
        if !list.iter().any(|(at, _)| *at == frame) {
            assert_eq!(state_bits(state), straight[frame as usize], "frame {frame}");
        }
    }
    let schedule = pliant::Schedule::new(list.iter().cloned());
    let mut by_schedule = tearing_scene(1);
    let mut saved = None;
    for frame in 0..42 {
        if frame == 35 {
            saved = Some(by_schedule.checkpoint());
        }
        by_schedule.step_by(&schedule).unwrap();
    }
    assert_eq!(bits(&by_schedule), straight[42]);
    let mut resumed = tearing_scene(2);
    resumed.restore_by(&schedule, 35, &saved.unwrap()).unwrap();
    for _ in 35..42 {
        resumed.step_by(&schedule).unwrap();
    }
    assert_eq!(bits(&resumed), straight[42]);
}

#[test]
fn copies_tear_as_one_alone() {
    let one = |k: usize| {
        let mut body = strip(SolverKind::Projective, 0.9);
        body.name = format!("strip {k}");
        body.controls.tear_strain = 0.3;
        body
    };
    let mut single = alone(one(0));
    let mut builder = weightless(one(0));
    builder.bodies.extend((1..5).map(one));
    (builder.substeps, builder.threads) = (2, 2);
    let mut many = builder.build().unwrap();
    run(&mut single, 45);
    run(&mut many, 45);
    assert!(single.pieces(0).len() > 1);
    for (k, body) in many.state().bodies().iter().enumerate() {
        assert!(body_bits(body) == body_bits(&single.state().bodies()[0]), "copy {k}");
    }
    let prototypes: HashSet<_> =
        many.model().bodies().iter().map(|b| std::sync::Arc::as_ptr(b.parts.prototype())).collect();
    assert_eq!(prototypes.len(), 1, "what tore alike is one prototype");
}

#[test]
fn pins_skins_and_paint_follow() {
    let mut body = bar(SolverKind::Projective);
    body.painted_tear_strain = body.shape.points.iter().map(|p| 1.0 + p.x.abs()).collect();
    let middle: Vec<u32> = (0..body.shape.points.len() as u32)
        .filter(|&i| body.shape.points[i as usize].x.abs() < 1e-6)
        .collect();
    body = body.pin(middle.iter().copied());
    body.pins[0].stiffness = Some(300.0);
    let mut s = alone(body);
    disturb(&mut s);
    let before = s.statistics();
    let shown_before = parts(&s).shown().triangles().len();
    let facets = across(&s, 0.0);
    s.tear(0, &facets).unwrap();
    let now = parts(&s);
    assert_eq!(now.pins()[0].particles.len(), 2 * middle.len(), "both sides are held");
    assert_eq!(s.state().bodies()[0].memory()[Section::Anchors].len(), 6 * middle.len());
    let after = s.statistics();
    assert!(
        (after.elastic - before.elastic).abs() < 1e-12 * before.elastic,
        "springs are shared, not doubled"
    );
    // What was inside is shown, from both sides.
    assert_eq!(now.shown().triangles().len(), shown_before + 2 * facets.len());
    let torn = &s.tears()[0];
    assert!(now.surface().unwrap().origin.contains(&NEW_VERTEX));
    let count = now.whole().shown().skin().unwrap().len() as u32;
    assert!(torn.shown_origin.iter().all(|&v| v < count), "laid open, as the nearest that was there");
    // A render mesh follows as what is shown does.
    let other =
        now.torn_surface(now.whole().shown().triangles(), now.whole().shown().skin().unwrap()).unwrap();
    assert_eq!(&other, now.surface().unwrap());
    let whole = now.whole();
    for (i, &origin) in now.corners().unwrap().origin().iter().enumerate() {
        assert_eq!(now.rest().toughness[i], whole.rest().toughness[origin as usize]);
        assert_eq!(now.rest().radius[i], whole.rest().radius[origin as usize]);
    }
    // The surface is closed: every edge is there once each way.
    let mut edges = HashSet::new();
    let mesh: Vec<DVec3> = {
        let mut vertices = Vec::new();
        let particles: Vec<DVec3> = s.positions(0).collect();
        now.shown().vertices(&particles, &mut Default::default(), &mut vertices);
        vertices
    };
    let key = |i: u32| mesh[i as usize].to_array().map(f64::to_bits);
    // By place: seams of vertices of one place are shut, but both sides of the tear are in one place now.
    let mut count = 0;
    for &[a, b, c] in now.shown().triangles() {
        for (i, j) in [(a, b), (b, c), (c, a)] {
            edges.insert((key(i), key(j)));
            count += 1;
        }
    }
    assert!(edges.iter().all(|(a, b)| edges.contains(&(*b, *a))), "{count} edges, a border is open");
    run(&mut s, 3);
    check_elements(&s);
}

#[test]
fn bad_input_is_refused() {
    for bad in [0.0, -0.5, f64::NAN, 1e-9] {
        let mut body = strip(SolverKind::Projective, 0.0);
        body.controls.tear_strain = bad;
        let e = weightless(body).build().unwrap_err().to_string();
        assert!(e.contains("tear_strain") && e.contains("at least 0.001"), "{e}");
        let mut body = strip(SolverKind::Projective, 0.0);
        body.painted_tear_strain = vec![bad; body.shape.points.len()];
        assert!(weightless(body).build().unwrap_err().to_string().contains("painted_tear_strain"));
    }
    let mut clustered = Body::new("bear", shapes::gummy_bear(0.3, 0.05).unwrap());
    clustered.controls.tear_strain = 0.5;
    let e = weightless(clustered).build().unwrap_err().to_string();
    assert!(e.contains("does not support tearing") && e.contains("projective"), "{e}");
    let mut cloud = Body::new("bear", shapes::gummy_bear(0.3, 0.05).unwrap()).projective();
    cloud.controls.tear_strain = 0.5;
    let e = weightless(cloud).build().unwrap_err().to_string();
    assert!(e.contains("cannot tear") && e.contains("clusters"), "{e}");

    let mut s = alone(strip(SolverKind::Projective, 0.0));
    let (state, model) = (s.state().clone(), s.model().id());
    let e = s.tear(0, &[3, 99_999]).unwrap_err().to_string();
    assert!(e.contains("facet 99999 is not there"), "{e}");
    assert!(s.tear(7, &[0]).unwrap_err().to_string().contains("there is no body 7"));
    assert!(s.set(Control::TearStrain(0.into()), 0.0).is_err());
    assert_eq!((s.state(), s.model().id()), (&state, model));
    s.set(Control::TearStrain(0.into()), 0.2).unwrap();
    s.set(Control::TearStrain(0.into()), f64::INFINITY).unwrap();

    // A state that says of a body that it is torn where it cannot be.
    s.tear(0, &[5, 6, 7]).unwrap();
    for wrong in [f64::from(u32::MAX), 5.5, -1.0, 6.0] {
        let mut state = s.state().clone();
        state.bodies_mut()[0].memory_mut()[Section::Broken][0] = wrong;
        assert!(s.set_state(state).is_err(), "{wrong}");
    }
    let mut state = s.state().clone();
    state.bodies_mut()[0].memory_mut()[Section::Held][1] = 1e6;
    assert!(s.set_state(state).is_err());
    run(&mut s, 2);
}

mod random {
    use super::*;
    use proptest::prelude::*;

    fn body(kind: usize) -> Body {
        let solver = SOLVERS[kind / 2 % SOLVERS.len()];
        match kind % 2 {
            0 => {
                let mut cloth = Body::new("cloth", shapes::sheet(0.6, 0.5, 6, 5).unwrap());
                cloth = cloth.elastic(cloth_material()).solved_by(solver);
                cloth.controls.edge_stiffness = 20.0;
                cloth.pin([0, 6])
            }
            _ => {
                let cells =
                    shapes::tet_box([4, 2, 2], DVec3::new(0.4, 0.2, 0.2), shapes::TetStyle::Six).unwrap();
                let mut bar =
                    Body::new("bar", cells).elastic(Material::named("jelly").unwrap()).solved_by(solver);
                bar.pins = strip(solver, 0.0).pin([1, 2, 7]).pins.split_off(2);
                bar.pins[0].stiffness = Some(100.0);
                bar
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        /// Whatever tears in whatever order: elements and conserved quantities stay, the state is saved and loaded into a
        /// simulation as it was built, and goes on with the same bits.
        #[test]
        fn random_tears_leave_a_sound_state(kind in 0_usize..8, tears in prop::collection::vec(prop::collection::vec(0_u32..400, 1..12), 1..8)) {
            let mut s = alone(body(kind));
            disturb(&mut s);
            let facets = parts(&s).facets().unwrap().len() as u32;
            for list in &tears {
                let before = s.statistics();
                let list: Vec<u32> = list.iter().map(|f| f % facets).collect();
                s.tear(0, &list).unwrap();
                check_elements(&s);
                let after = s.statistics();
                prop_assert!((after.kinetic - before.kinetic).abs() <= 1e-12 * before.kinetic);
                prop_assert!((after.momentum - before.momentum).length() <= 1e-12 * momentum_scale(&s));
                prop_assert!(after.elastic <= before.elastic * (1.0 + 1e-12), "{} of {}", after.elastic, before.elastic);
                run(&mut s, 1);
            }
            let mut loaded = alone(body(kind));
            loaded.restore(&s.checkpoint()).unwrap();
            prop_assert_eq!(loaded.state(), s.state());
            run(&mut s, 2);
            loaded.drop_caches();
            run(&mut loaded, 2);
            prop_assert!(bits(&s) == bits(&loaded));
        }
    }
}
