//! Colliders of every shape: what rests on them, slides, bounces, is draped over them or thrown at them does not enter,
//! whichever solver moves it.

use crate::common::*;
use pliant::{
    Body, Builder, Clustering, Collider, ColliderMesh, DAffine3, DQuat, DVec3, HalfSpace, Material, Motion,
    Primitive, Sequence, Simulation, SolverKind, Stiffness, shapes,
};
use pliant_geometry::TriMesh;

const SOLVERS: [(SolverKind, f64); 7] = [
    (SolverKind::Clustered, 1.0),
    (SolverKind::Projective, 1.0),
    (SolverKind::Projective, 0.5),
    (SolverKind::Newton, 1.0),
    (SolverKind::Newton, 0.5),
    (SolverKind::Xpbd, 1.0),
    (SolverKind::Pbd, 1.0),
];

/// A sheet as each solver would have one.
fn sheet(solver: SolverKind, cells: usize) -> Body {
    let shape = shapes::sheet(0.8, 0.8, cells, cells).unwrap();
    let mut body = Body::new("sheet", shape).solved_by(solver);
    match solver.uses_constraints() {
        true => {
            body = body.elastic(Material { thickness: 1e-3, ..Material::named("cotton").unwrap() });
            body.controls.iterations = 10;
        }
        false => body.controls.stiffness = Stiffness::Frequency(10.0),
    }
    body.solver = solver;
    body
}

fn built(theta: f64, body: Body, colliders: impl IntoIterator<Item = Collider>) -> Simulation {
    let mut builder = Builder::new().body(body).substeps(2);
    builder.implicit.implicitness = theta;
    builder.colliders.extend(colliders);
    builder.build().unwrap()
}

fn middle(s: &Simulation) -> DVec3 {
    s.positions(0).sum::<DVec3>() / s.positions(0).len() as f64
}

fn speed(s: &Simulation) -> DVec3 {
    s.velocities(0).sum::<DVec3>() / s.velocities(0).len() as f64
}

fn at(x: f64, y: f64, z: f64) -> DAffine3 {
    DAffine3::from_translation(DVec3::new(x, y, z))
}

fn cuboid(x: f64, y: f64, z: f64) -> Primitive {
    Primitive::Cuboid { half: 0.5 * DVec3::new(x, y, z) }
}

/// A box as a closed mesh of welded vertices, its faces cut into squares.
fn box_mesh(size: DVec3, parts: u32) -> ColliderMesh {
    let mut mesh = TriMesh::default();
    let mut known: Vec<(DVec3, u32)> = Vec::new();
    let mut vertex = |p: DVec3, mesh: &mut TriMesh| {
        let found = known.iter().find(|(q, _)| q.distance(p) < 1e-9).map(|(_, i)| *i);
        found.unwrap_or_else(|| {
            mesh.positions.push(p);
            known.push((p, mesh.positions.len() as u32 - 1));
            mesh.positions.len() as u32 - 1
        })
    };
    for axis in 0..3 {
        for side in [-0.5, 0.5] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut at = |i: u32, j: u32, mesh: &mut TriMesh| {
                let mut p = DVec3::ZERO;
                p[axis] = side * size[axis];
                p[u] = (f64::from(i) / f64::from(parts) - 0.5) * size[u];
                p[v] = (f64::from(j) / f64::from(parts) - 0.5) * size[v];
                vertex(p, mesh)
            };
            for (i, j) in (0..parts).flat_map(|i| (0..parts).map(move |j| (i, j))) {
                let [a, b, c, d] =
                    [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| at(i, j, &mut mesh));
                match side > 0.0 {
                    true => mesh.triangles.extend([[a, b, c], [a, c, d]]),
                    false => mesh.triangles.extend([[a, c, b], [a, d, c]]),
                }
            }
        }
    }
    ColliderMesh::new(mesh).unwrap()
}

/// An open square in the plane y = 0, of so many parts along each side, bent by a function of place.
fn net(size: f64, parts: u32, height: impl Fn(f64, f64) -> f64) -> ColliderMesh {
    let mut mesh = TriMesh::default();
    for (i, j) in (0..=parts).flat_map(|i| (0..=parts).map(move |j| (i, j))) {
        let [x, z] = [i, j].map(|k| (f64::from(k) / f64::from(parts) - 0.5) * size);
        mesh.positions.push(DVec3::new(x, height(x, z), z));
    }
    let n = parts + 1;
    for (i, j) in (0..parts).flat_map(|i| (0..parts).map(move |j| (i, j))) {
        let a = i * n + j;
        mesh.triangles.extend([[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]);
    }
    ColliderMesh::new(mesh).unwrap()
}

/// What a floor may be made of: its top is y = 0, and it is wide.
fn floors() -> Vec<(&'static str, Collider)> {
    let heights = [0.0; 36];
    vec![
        ("box", Collider::solid(cuboid(4.0, 1.0, 4.0), at(0.0, -0.5, 0.0))),
        ("cylinder", Collider::solid(Primitive::Cylinder { radius: 3.0, half: 0.5 }, at(0.0, -0.5, 0.0))),
        ("box of triangles", Collider::mesh(box_mesh(DVec3::new(4.0, 1.0, 4.0), 7), at(0.0, -0.5, 0.0))),
        (
            "heights",
            Collider::mesh(ColliderMesh::heights(6, &heights, [0.7, 0.7], 1.0).unwrap(), at(0.0, 0.0, 0.0)),
        ),
        ("net", Collider::mesh(net(4.0, 9, |_, _| 0.0), at(0.0, -4e-3 * 2.0_f64.sqrt(), 0.0))),
    ]
}

/// A block on a flat top rests, slides and stops as it does on a plane.
#[test]
fn a_flat_top_is_as_good_as_a_plane() {
    for (solver, theta) in SOLVERS {
        let throw = |floor: Collider| {
            let mut body = block(solver);
            body.velocity = DVec3::new(1.0, -0.3, 0.2);
            body.position.y += 0.02;
            built(theta, body, [floor.with_friction(0.4)])
        };
        let mut plane = throw(Collider::ground());
        let mut others: Vec<_> = floors().into_iter().map(|(name, floor)| (name, throw(floor))).collect();
        let mut nudged = throw(Collider::ground());
        let x: Vec<DVec3> = nudged.positions(0).map(|p| p + DVec3::X * 1e-14).collect();
        let v: Vec<DVec3> = nudged.velocities(0).collect();
        put(&mut nudged, &x, &v);
        let mut rounding = 1e-9_f64;
        for step in 1..=40 {
            run(&mut plane, 1);
            run(&mut nudged, 1);
            let far = |s: &Simulation| {
                plane.positions(0).zip(s.positions(0)).map(|(a, b)| a.distance(b)).fold(0.0, f64::max)
            };
            rounding = rounding.max(far(&nudged));
            for (name, s) in &mut others {
                run(s, 1);
                let off = far(s);
                assert!(
                    off < 100.0 * rounding,
                    "{solver:?} θ {theta}, {name}, step {step}: {off} off, {rounding}"
                );
            }
        }
    }
}

/// A turned box: 30° without friction, below and above the angle of friction.
#[test]
fn a_slope_holds_and_lets_slide_as_theory_says() {
    let (mass_g, angle) = (9.81, 20.0_f64.to_radians());
    for (solver, theta) in SOLVERS {
        for friction in [0.0, 0.2, 0.5] {
            let turn = DQuat::from_rotation_z(-angle);
            let place = |local: DVec3| turn * local;
            let slope = Collider::solid(
                cuboid(8.0, 1.0, 8.0),
                DAffine3::from_rotation_translation(turn, place(DVec3::Y * -0.5)),
            );
            let mut body = block(solver);
            (body.rotation, body.position) = (turn, place(body.position));
            let mut s = built(theta, body, [slope.with_friction(friction)]);
            run(&mut s, 10);
            let before = speed(&s);
            run(&mut s, 30);
            let along = turn * DVec3::X;
            let gained = (speed(&s) - before).dot(along) * 2.0;
            let expected = (mass_g * (angle.sin() - friction * angle.cos())).max(0.0);
            let swings = theta < 1.0 || matches!(solver, SolverKind::Xpbd | SolverKind::Pbd);
            let loose = if swings { 0.35 } else { 0.1 };
            assert!(
                (gained - expected).abs() < loose,
                "{solver:?} θ {theta}, μ {friction}: {gained}, not {expected}"
            );
        }
    }
}

/// A ball that bounces off a box reaches the height that restitution says, as off a plane.
#[test]
fn bounces_off_a_box_are_those_off_a_plane() {
    let height = |floor: Collider| {
        let mut body = Body::new("ball", shapes::ball(0.1, 0.05).unwrap()).frequency(12.0).at(0.0, 0.5, 0.0);
        body.clusters = Clustering::Whole;
        body.controls.damping = 0.0;
        let mut s = built(1.0, body, [Collider { restitution: 0.8, ..floor }]);
        let mut highest = 0.0_f64;
        for step in 0..70 {
            run(&mut s, 1);
            if step > 25 {
                highest = highest.max(middle(&s).y);
            }
        }
        highest
    };
    let wanted = height(Collider::ground());
    assert!(wanted > 0.115, "{wanted}");
    for (name, floor) in floors() {
        let reached = height(floor);
        assert!((reached - wanted).abs() < 1e-3, "{name}: {reached}, not {wanted}");
    }
}

/// The deepest any particle is inside, relative to the body.
fn depth(s: &Simulation) -> f64 {
    let around = s.present_colliders();
    let radius = &s.model().bodies()[0].parts.rest().radius;
    let deep = s.positions(0).zip(radius).map(|(x, r)| around.depth(x, *r));
    deep.fold(0.0, f64::max)
}

/// A sheet draped over something round never sinks in.
fn drape(name: &str, on: &Collider) {
    for (solver, theta) in SOLVERS {
        let body = sheet(solver, 12).at(0.0, 0.4, 0.0);
        let mut s = built(theta, body, [on.clone().with_friction(0.4)]);
        let mut met = 0;
        for step in 0..60 {
            met += s.step().unwrap().contacts;
            let deep = depth(&s);
            assert!(deep < 1e-6 * 0.8, "{solver:?} θ {theta}, {name}, step {step}: {deep} inside");
        }
        assert!(met > 100, "{solver:?} θ {theta}, {name}: hardly touched, {met}");
    }
}

#[test]
fn what_is_draped_over_something_round_does_not_sink_in() {
    let turned = DAffine3::from_quat(DQuat::from_rotation_z(1.3));
    drape("ball", &Collider::solid(Primitive::Ball { radius: 0.25 }, at(0.0, 0.0, 0.0)));
    drape("capsule", &Collider::solid(Primitive::Capsule { radius: 0.1, half: 0.3 }, turned));
    drape("cylinder", &Collider::solid(Primitive::Cylinder { radius: 0.2, half: 0.2 }, turned));
}

// Tests of their own, to run beside it.
#[test]
fn what_is_draped_over_an_edge_does_not_sink_in() {
    let turned = DAffine3::from_quat(DQuat::from_rotation_z(0.6));
    drape("cube", &Collider::solid(cuboid(0.4, 0.4, 0.4), turned));
}

#[test]
fn what_is_draped_over_triangles_does_not_sink_in() {
    let mesh = Primitive::Ball { radius: 0.25 }.mesh(24);
    drape("ball of triangles", &Collider::mesh(ColliderMesh::new(mesh).unwrap(), at(0.0, 0.0, 0.0)));
}

/// What comes at ten metres a second is stopped by what is thin, in one step a frame.
#[test]
fn fast_things_do_not_pass_through_thin_ones() {
    let thin = [
        ("plate", Collider::solid(cuboid(3.0, 0.005, 3.0), at(0.0, 0.0, 0.0))),
        ("net", Collider::mesh(net(3.0, 12, |_, _| 0.0), at(0.0, 0.0, 0.0))),
        (
            "wavy net",
            Collider::mesh(net(3.0, 25, |x, z| 0.03 * (9.0 * x).sin() * (7.0 * z).cos()), at(0.0, 0.0, 0.0)),
        ),
        ("heights", {
            let heights: Vec<f64> = (0..400).map(|k| 0.03 * f64::from(k % 7)).collect();
            Collider::mesh(
                ColliderMesh::heights(20, &heights, [0.16, 0.16], 0.02).unwrap(),
                at(0.0, 0.0, 0.0),
            )
        }),
        (
            "rod",
            Collider::solid(
                Primitive::Capsule { radius: 0.01, half: 2.0 },
                DAffine3::from_quat(DQuat::from_rotation_z(1.55)),
            ),
        ),
    ];
    for (solver, theta) in SOLVERS {
        for (name, wall) in &thin {
            for what in ["block", "sheet"] {
                let mut body = if what == "block" { block(solver) } else { sheet(solver, 10) };
                // Only what it hits in the middle can be passed by a rod.
                let row = *name == "rod";
                body.position = DVec3::new(0.003, 0.45, 0.002);
                body.velocity = DVec3::new(0.3, -10.0, 0.2);
                if !solver.uses_constraints() {
                    body.controls.stiffness = Stiffness::Frequency(8.0);
                }
                if row && what == "sheet" {
                    continue;
                }
                let mut builder = Builder::new().body(body).substeps(1).collider(wall.clone());
                builder.implicit.implicitness = theta;
                let mut s = builder.build().unwrap();
                for step in 0..24 {
                    run(&mut s, 1);
                    let below =
                        s.positions(0).filter(|p| p.x.abs() < 1.3 && p.z.abs() < 1.3 && p.y < -0.1).count();
                    assert!(
                        row || below == 0,
                        "{solver:?} θ {theta}, {what} at {name}, step {step}: {below} passed"
                    );
                    assert!(depth(&s) < 1e-6, "{solver:?} θ {theta}, {what} at {name}, step {step}: inside");
                }
            }
        }
    }
}

/// Inside a corner of a mesh, where three walls meet, and in a groove, everything is held by all of them.
#[test]
fn corners_hold_by_all_their_walls() {
    let groove = net(2.0, 8, |x, _| 0.7 * x.abs());
    for (solver, theta) in SOLVERS {
        let mut body = block(solver).at(0.3, 0.7, 0.0);
        body.rotation = DQuat::from_rotation_y(0.3);
        let mut s =
            built(theta, body, [Collider::mesh(groove.clone(), at(0.0, 0.0, 0.0)).with_friction(0.1)]);
        for step in 0..90 {
            run(&mut s, 1);
            assert!(depth(&s) < 1e-6, "{solver:?} θ {theta}, step {step}: {} inside", depth(&s));
        }
        let low = s.positions(0).map(|p| p.y - 0.7 * p.x.abs()).fold(f64::MAX, f64::min);
        assert!(low > 0.0 && middle(&s).x.abs() < 0.2, "{solver:?} θ {theta}: at {}", middle(&s));
    }
}

/// What is thinner than the cells of a body holds it too: it meets faces, not only particles.
#[test]
fn thin_things_do_not_go_in_between_particles() {
    let rail = cuboid(0.5, 0.4, 0.02);
    let lying = DAffine3::from_rotation_translation(
        DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
        DVec3::new(0.0, -0.02, 0.0),
    );
    let things = [
        ("rail", Collider::solid(rail, at(0.0, -0.2, 0.0))),
        ("spike", Collider::solid(cuboid(0.02, 0.4, 0.02), at(0.0, -0.2, 0.0))),
        ("rod", Collider::solid(Primitive::Capsule { radius: 0.02, half: 0.3 }, lying)),
        ("bead", Collider::solid(Primitive::Ball { radius: 0.03 }, at(0.0, -0.03, 0.0))),
        ("pole", Collider::solid(Primitive::Cylinder { radius: 0.02, half: 0.2 }, at(0.0, -0.2, 0.0))),
        ("rail of triangles", Collider::mesh(box_mesh(DVec3::new(0.1, 0.4, 0.1), 1), at(0.0, -0.2, 0.0))),
    ];
    for (solver, theta) in SOLVERS.into_iter().filter(|(s, _)| s.uses_constraints()) {
        for (name, thing) in &things {
            let shape =
                shapes::tet_box([1, 1, 1], DVec3::new(0.3, 0.1, 0.3), shapes::TetStyle::Five).unwrap();
            let rubber = Material { young: 1e7, ..Material::named("rubber").unwrap() };
            let mut body = Body::new("slab", shape).elastic(rubber).solved_by(solver).at(0.01, 0.12, 0.003);
            body.velocity = DVec3::Y * -1.0;
            body.controls.iterations = 20;
            let mut s = built(theta, body, [thing.clone().with_friction(0.8)]);
            for step in 0..20 {
                run(&mut s, 1);
                let low = middle(&s).y;
                // Not held it would be at −0.75 m in the end; corners may hang down.
                assert!(low > -0.05, "{solver:?} θ {theta}, {name}, step {step}: impaled at {low}");
            }
        }
    }
}

/// A mesh whose vertices move evenly is a belt: it takes along by μ g until both are equally fast.
#[test]
fn a_mesh_whose_vertices_are_given_takes_along_by_friction() {
    let belt = |time: f64| -> Vec<DVec3> {
        let mesh = box_mesh(DVec3::new(12.0, 1.0, 4.0), 3);
        mesh.mesh().positions.iter().map(|p| *p + DVec3::X * 2.0 * time).collect()
    };
    for (solver, theta) in SOLVERS {
        let still =
            Collider::mesh(box_mesh(DVec3::new(12.0, 1.0, 4.0), 3), at(0.0, -0.5, 0.0)).with_friction(0.3);
        let mut led = built(theta, block(solver), [still.clone()]);
        let frames = (0..200).map(|k| belt(f64::from(k) / 60.0)).collect();
        let animated = still.following(Sequence::new(frames, 60.0).unwrap());
        let mut played = built(theta, block(solver), [animated]);
        let mut gained = [0.0; 2];
        for step in 1..=90 {
            led.deform_collider(0.into(), Some(&belt(f64::from(step) / 60.0))).unwrap();
            run(&mut led, 1);
            run(&mut played, 1);
            if step == 6 || step == 36 {
                let sign = if step == 6 { -2.0 } else { 2.0 };
                gained[0] += sign * speed(&led).x;
                gained[1] += sign * speed(&played).x;
            }
        }
        let swings = theta < 1.0 || matches!(solver, SolverKind::Xpbd | SolverKind::Pbd);
        let loose = if swings { 0.1 } else { 0.02 };
        for (gained, s) in gained.into_iter().zip([&led, &played]) {
            let expected = 0.3 * 9.81;
            assert!((gained - expected).abs() < loose * expected, "{solver:?} θ {theta}: {gained}");
            assert!((speed(s).x - 2.0).abs() < 0.02, "{solver:?} θ {theta}: rides at {}", speed(s));
        }
    }
}

/// A collider that jumps a metre in a frame takes with it what is in its way.
#[test]
fn solids_that_jump_take_along_what_is_in_their_way() {
    let floors = floors();
    for (solver, theta) in SOLVERS {
        for (name, floor) in &floors {
            let mut s = built(theta, block(solver), [floor.clone()]);
            run(&mut s, 10);
            s.place_collider(0.into(), Some(at(0.0, 1.0, 0.0))).unwrap();
            run(&mut s, 60);
            let low = s.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
            assert!(low > 0.99, "{solver:?} θ {theta}, {name}: lowest at {low}");
        }
    }
}

/// What begins inside is brought out slowly, and what is squeezed comes back.
#[test]
fn what_begins_inside_comes_out_slowly() {
    for (solver, theta) in SOLVERS {
        for shape in [Primitive::Ball { radius: 0.2 }, cuboid(0.3, 0.3, 0.3)] {
            let mut body = block(solver).at(0.0, 0.12, 0.0);
            body.velocity = DVec3::ZERO;
            let mut builder =
                Builder::new().body(body).substeps(2).collider(Collider::solid(shape, at(0.0, 0.0, 0.0)));
            builder.gravity = DVec3::ZERO;
            builder.implicit.implicitness = theta;
            let mut s = builder.build().unwrap();
            for step in 0..90 {
                run(&mut s, 1);
                let fastest = s.velocities(0).map(|v| v.length()).fold(0.0, f64::max);
                assert!(fastest < 8.0, "{solver:?} θ {theta}, {shape:?}, step {step}: {fastest} m/s");
            }
            assert!(depth(&s) < 1e-3, "{solver:?} θ {theta}, {shape:?}: still {} inside", depth(&s));
        }
    }
}

/// A collider of every kind, one that waves and one that moves, with a block of each solver among them.
fn busy_scene(threads: usize) -> Simulation {
    let wave = |time: f64| -> Vec<DVec3> {
        let rest = net(6.0, 10, |_, _| 0.0).mesh().positions.clone();
        rest.iter().map(|p| *p + DVec3::Y * 0.05 * (3.0 * p.x + 4.0 * time).sin()).collect()
    };
    let frames = (0..40).map(|k| wave(f64::from(k) / 30.0)).collect();
    let waves = Collider::mesh(net(6.0, 10, |_, _| 0.0), at(1.5, 0.0, 2.0));
    let mut builder = Builder::new()
        .collider(Collider::from(HalfSpace { offset: -0.2, ..HalfSpace::ground() }))
        .collider(waves.following(Sequence::new(frames, 30.0).unwrap()).named("waves"))
        .collider(Collider::mesh(box_mesh(DVec3::splat(0.3), 2), at(0.0, 0.3, 0.0)).named("box"))
        .collider(
            Collider::solid(Primitive::Ball { radius: 0.2 }, at(0.1, 0.2, 1.0))
                .moving(Motion { velocity: DVec3::new(0.1, 0.0, 0.0), ..Motion::REST }),
        )
        .substeps(2);
    for (k, solver) in SolverKind::SOFT.into_iter().enumerate() {
        let mut body = block(solver);
        body.name = format!("block {k}");
        body.position = DVec3::new(0.0, 0.55, k as f64);
        builder = builder.body(body);
    }
    builder.threads = threads;
    builder.build().unwrap()
}

/// The vertices that the host gives the box in a step: from the eighth on, but for one in which it lets go.
fn bent(step: u64) -> Option<Vec<DVec3>> {
    let mesh = box_mesh(DVec3::splat(0.3), 2);
    let stretch = 1.0 + 0.3 * (step as f64 * 0.7).sin();
    let led = step >= 8 && step != 15;
    led.then(|| mesh.mesh().positions.iter().map(|p| *p * DVec3::new(stretch, 1.0, 1.0)).collect())
}

/// Edits of the busy scene before a step.
fn come_and_go(step: u64) -> Option<pliant::Edit> {
    match step {
        5 => {
            let cube = Collider::solid(cuboid(0.2, 0.2, 0.2), at(0.0, 0.2, 2.0));
            Some(pliant::Edit::AddCollider(Box::new(cube)))
        }
        12 => Some(pliant::Edit::RemoveCollider(4.into())),
        _ => None,
    }
}

fn drive(s: &mut Simulation, steps: std::ops::Range<u64>, drop: bool) {
    for step in steps {
        if let Some(edit) = come_and_go(step) {
            s.edit(&edit).unwrap();
        }
        if step >= 8 {
            s.deform_collider(2.into(), bent(step).as_deref()).unwrap();
        }
        if drop {
            s.drop_caches();
        }
        run(s, 1);
    }
}

fn driven() -> Simulation {
    let mut reference = busy_scene(1);
    drive(&mut reference, 0..24, false);
    assert!(!reference.state().collider_vertices(1).is_empty());
    reference
}

/// Everything a collider can be is part of model, state and controls: the same bits by any number of threads, with caches
/// dropped.
#[test]
fn solids_give_the_same_bits_on_any_number_of_threads() {
    let reference = driven();
    for threads in [2, 7] {
        let mut s = busy_scene(threads);
        drive(&mut s, 0..24, threads == 2);
        assert_eq!(bits(&s), bits(&reference), "{threads} threads");
    }
}

#[test]
fn solids_are_restored_with_the_same_bits() {
    let reference = driven();
    let mut s = busy_scene(1);
    drive(&mut s, 0..10, false);
    let kept = s.checkpoint();
    let (state, controls) = (s.state().clone(), s.controls().clone());
    drive(&mut s, 10..16, false);
    s.restore(&kept).unwrap();
    assert_eq!((s.state(), s.controls()), (&state, &controls));
    assert_eq!(s.checkpoint(), kept);
    drive(&mut s, 10..24, false);
    assert_eq!(bits(&s), bits(&reference), "restored");
    let mut fresh = busy_scene(1);
    fresh.restore(&kept).unwrap();
    drive(&mut fresh, 10..24, false);
    assert_eq!(bits(&fresh), bits(&reference), "restored by another");
}

#[test]
fn a_timeline_and_a_driver_lead_solids_with_the_same_bits() {
    let reference = driven();
    let mut timeline = pliant::Timeline::new(busy_scene(1));
    for step in 0..24 {
        if let Some(edit) = come_and_go(step) {
            timeline.edit(step, edit).unwrap();
        }
        if step >= 8 {
            timeline.edit(step, pliant::Edit::DeformCollider(2.into(), bent(step))).unwrap();
        }
    }
    for frame in [24, 3, 13, 24] {
        timeline.frame(frame).unwrap();
    }
    assert_eq!(bits(timeline.simulation()), bits(&reference), "by a timeline");
    let mut within = busy_scene(1);
    for step in 0..24 {
        if let Some(edit) = come_and_go(step) {
            within.edit(&edit).unwrap();
        }
        within
            .step_with(|_, _, c| match step {
                ..8 => Ok(()),
                _ => c.deform_collider(2.into(), bent(step).as_deref()).map(|_| ()),
            })
            .unwrap();
    }
    assert_eq!(bits(&within), bits(&reference), "by step_with");
}

#[test]
fn what_is_no_collider_is_refused_with_what_to_do() {
    let mut s = built(
        1.0,
        block(SolverKind::Clustered),
        [Collider::mesh(net(1.0, 2, |_, _| 0.0), at(0.0, -0.1, 0.0))],
    );
    let before = s.checkpoint();
    let count = s.model().colliders()[0].collider.as_mesh().unwrap().mesh().positions.len();
    let mut vertices = vec![DVec3::ZERO; count];
    let error = s.deform_collider(0.into(), Some(&vertices[1..])).unwrap_err().to_string();
    assert!(
        error.contains(&format!("{} vertices", count - 1)) && error.contains(&count.to_string()),
        "{error}"
    );
    vertices[3].x = f64::NAN;
    let error = s.deform_collider(0.into(), Some(&vertices)).unwrap_err().to_string();
    assert!(error.contains("vertex 3"), "{error}");
    let error = s.deform_collider(7.into(), None).unwrap_err().to_string();
    assert!(error.contains("numbered from 0"), "{error}");
    for (bad, said) in [
        (Collider::solid(Primitive::Ball { radius: 0.0 }, at(0.0, 0.0, 0.0)), "above 0"),
        (Collider::solid(cuboid(1.0, -1.0, 1.0), at(0.0, 0.0, 0.0)), "above 0"),
        (
            Collider::solid(cuboid(1.0, 1.0, 1.0), DAffine3::from_scale(DVec3::splat(2.0))),
            "no scale or mirror",
        ),
        (
            Collider {
                shape: pliant::ColliderShape::Mesh { mesh: net(1.0, 2, |_, _| 0.0).into(), thickness: 0.0 },
                ..Collider::ground()
            },
            "needs a thickness",
        ),
        (Collider::ground().with_friction(-1.0), "friction -1"),
        (
            Collider::mesh(net(1.0, 2, |_, _| 0.0), at(0.0, 0.0, 0.0))
                .following(Sequence::new(vec![vec![DVec3::ZERO; 4]], 1.0).unwrap()),
            "4 vertices",
        ),
    ] {
        let error = s.add_collider(bad).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(s.checkpoint(), before, "refusals change nothing");
    let error = s.deform_collider(0.into(), Some(&[])).unwrap_err().to_string();
    assert!(error.contains("0 vertices"), "{error}");
}
