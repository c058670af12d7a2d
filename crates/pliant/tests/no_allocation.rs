//! A step allocates nothing, whichever solver, with contacts, damping, pins and several threads. A program of
//! its own, as the allocations of all threads count.
#![allow(clippy::unwrap_used)]

mod counting;

use counting::allocations;
use pliant::{
    Body, BodyPoint, Builder, Clustering, Collider, ColliderMesh, Control, Coupling, DAffine3, DMat3, DVec3,
    Glue, Key, Primitive, Sequence, SolverKind, Track, shapes,
};

#[test]
fn stepping_allocates_nothing() {
    for threads in [1, 2] {
        let bear = shapes::gummy_bear(0.5, 0.05).unwrap();
        let mut clustered = Body::new("clustered", bear.clone()).at(0.0, 0.3, 0.0);
        clustered.velocity = DVec3::new(0.0, -2.0, 0.0);
        clustered.controls.restitution = 0.2;
        clustered = clustered.frequency(12.0);
        let mut projective = Body::new("projective", bear).projective().at(1.0, 0.3, 0.0);
        projective.controls.edge_stiffness = 1e3;
        let mut cloth =
            Body::new("cloth", shapes::sheet(1.0, 1.0, 10, 10).unwrap()).projective().at(0.5, 1.0, 0.0);
        cloth.clusters = Clustering::None;
        cloth.controls.edge_stiffness = 100.0;
        let others = [SolverKind::Newton, SolverKind::Xpbd, SolverKind::Pbd].map(|solver| {
            let mut body = projective.clone().solved_by(solver).at(0.4, 0.3, 0.0);
            body.name = solver.name().into();
            let cells =
                shapes::tet_box([4, 2, 2], DVec3::new(0.4, 0.2, 0.2), shapes::TetStyle::Five).unwrap();
            let jelly = pliant::Material::named("jelly").unwrap();
            let mut bar = Body::new("bar", cells).elastic(jelly).solved_by(solver).at(0.4, 0.3, 0.0);
            // Looked at after every step, and never torn.
            bar.controls.tear_strain = 4.0;
            bar.name = format!("bar of {}", solver.name());
            [body, bar]
        });
        cloth.controls.air = 1.2;
        // Closed meshes, one of which changes its shape.
        let ball = ColliderMesh::new(Primitive::Ball { radius: 0.2 }.mesh(16)).unwrap();
        let waves = || {
            let wave =
                |k: u32| ball.mesh().positions.iter().map(move |p| *p * (1.0 + 0.02 * f64::from(k % 3)));
            (0..40).map(|k| wave(k).collect()).collect::<Vec<Vec<DVec3>>>()
        };
        let mesh = Collider::mesh(ball.clone(), DAffine3::from_translation(DVec3::new(0.9, 0.0, 0.1)));
        let mut builder = Builder::new()
            .ground()
            .collider(pliant::HalfSpace { normal: DVec3::X, offset: -0.2, ..pliant::HalfSpace::ground() })
            .collider(pliant::HalfSpace { normal: DVec3::NEG_X, offset: -1.2, ..pliant::HalfSpace::ground() })
            .collider(Collider::solid(
                Primitive::Ball { radius: 0.15 },
                DAffine3::from_translation(DVec3::new(0.4, 0.0, 0.0)),
            ))
            .collider(mesh.clone().following(Sequence::new(waves(), 20.0).unwrap()))
            .collider(mesh)
            .substeps(2)
            .body(clustered)
            .body(projective)
            .body(cloth.pin([0, 10]));
        builder.bodies.extend(others.into_iter().flatten());
        builder.threads = threads;
        (builder.wind, builder.gusts) = (DVec3::new(2.0, 0.0, 0.0), 0.5);
        builder.fields.push(pliant::Field::Turbulence { strength: 0.1, size: 0.5, rate: 1.0 });
        let gravity = [(0.0, -9.81), (0.5, -12.0)].map(|(t, y)| Key::new(t, DVec3::new(0.0, y, 0.0)));
        builder.keyframes.tracks.push(Track::new(Control::Gravity, gravity));
        // Bodies of all five solvers in one island, and one tied to itself.
        let kinds: Vec<SolverKind> = builder.bodies.iter().map(|b| b.solver).collect();
        let subset = SolverKind::SOFT.map(|kind| kinds.iter().position(|k| *k == kind).unwrap());
        for pair in subset.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|body| BodyPoint::particle(body, 5));
            builder.couplings.push(Coupling::joint(a, b));
        }
        let own = [3, 40].map(|i| BodyPoint::particle(2, i));
        builder.couplings.push(Coupling::spring(own[0], own[1], 50.0, 0.1));
        // A button welded to the cloth by a frame, a wheel on it that is driven, and a flap whose angle is limited.
        let solid = |name: &str, size: DVec3, at: DVec3| {
            let shape = shapes::SolidShape::Cuboid { size }.build_rigid().unwrap();
            Body::rigid(name, shape).mass(0.02).at(at.x, at.y, at.z)
        };
        let (button, places) = (builder.bodies.len(), [1.03, 1.06, 1.09].map(|y| DVec3::new(0.5, y, 0.0)));
        let size = DVec3::new(0.04, 0.02, 0.04);
        for (name, at) in ["button", "wheel", "flap"].into_iter().zip(places) {
            builder.bodies.push(solid(name, size, at));
        }
        let mut s = builder.build().unwrap();
        let glued = s.find_glue(button, 2, &Glue::default()).unwrap().couplings;
        glued.into_iter().for_each(|c| _ = s.couple(c).unwrap());
        for k in [0, 1] {
            let at = places[k].midpoint(places[k + 1]);
            let frames =
                [k, k + 1].map(|b| s.frame_near(button + b, at, DMat3::IDENTITY, &Glue::default()).unwrap());
            let [a, b] = frames;
            let hinge = Coupling::hinge(a, b);
            s.couple(if k == 0 { hinge.driven(3.0, 0.1) } else { hinge.limited(-0.2, 0.2) }).unwrap();
        }
        // The first step may still make what depends on the state, and threads allocate as they start.
        s.step().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let before = allocations();
        let mut contacts = 0;
        for _ in 0..60 {
            contacts += s.step().unwrap().contacts;
        }
        let after = allocations();
        assert!(contacts > 100, "the scene must have contacts: {contacts}");
        assert_eq!(after - before, 0, "allocations in 60 steps on {threads} threads");
    }
}
