//! Rigid bodies in scenes: what they are made of, how they are led and tied, and what is refused of them.

use pliant::{DQuat, DVec3, Simulation};
use pliant_geometry::TriMesh;
use pliant_geometry::shapes::SolidShape;
use pliant_scene::{BuiltScene, Diagnostic, Scene};
use std::fmt::Write;
use std::path::Path;

fn built_in(text: &str, folder: &Path) -> Result<BuiltScene, Vec<Diagnostic>> {
    Scene::parse(text, &folder.join("scene.toml"))?.build(1)
}

fn built(text: &str) -> BuiltScene {
    built_in(text, Path::new("")).unwrap_or_else(|p| panic!("{}", p[0]))
}

/// What is wrong with a scene: line and column, message, help.
fn refused(text: &str) -> Vec<((usize, usize), String, String)> {
    let problems = built_in(text, Path::new("")).map(|_| ()).unwrap_err();
    problems.into_iter().map(|p| (p.place.unwrap_or_default(), p.message, p.help)).collect()
}

/// Writes a mesh as OBJ.
fn save(path: &Path, mesh: &TriMesh) {
    let mut text = String::new();
    mesh.positions.iter().for_each(|p| writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z).unwrap());
    mesh.triangles
        .iter()
        .map(|t| t.map(|i| i + 1))
        .for_each(|[a, b, c]| writeln!(text, "f {a} {b} {c}").unwrap());
    std::fs::write(path, text).unwrap();
}

fn steps(scene: &mut BuiltScene, count: usize) {
    for _ in 0..count {
        scene.simulation.step_by(&scene.events).unwrap();
    }
}

fn origin(s: &Simulation, body: usize) -> DVec3 {
    s.placement(body).unwrap().translation
}

#[test]
fn every_closed_shape_is_a_solid_of_its_mass() {
    let pi = std::f64::consts::PI;
    for (shape, volume) in [
        ("\"ball\"", 4.0 / 3.0 * pi * 0.15_f64.powi(3)),
        ("\"box\"", 0.027),
        ("\"cylinder\"", pi * 0.12 * 0.12 * 0.3),
        ("{ kind = \"capsule\", radius = 0.1, height = 0.2 }", 4.0 / 3.0 * pi * 1e-3),
        ("\"torus\"", 0.0),
        ("\"gummy_bear\"", 0.0),
        ("\"bunny\"", 0.0),
    ] {
        for (mass, wanted) in [("", 1000.0), ("density = 250\n", 250.0), ("mass = 3\n", 3.0 / volume)] {
            let text = format!("[[body]]\nkind = \"rigid\"\nshape = {shape}\nposition = [0, 1, 0]\n{mass}");
            let scene = built(&text);
            let body = &scene.simulation.model().bodies()[0].parts;
            let total = body.rigid().unwrap().mass;
            assert!(
                volume == 0.0 || (total / (wanted * volume) - 1.0).abs() < 1e-12,
                "{shape} {mass}: {total}"
            );
            assert!(scene.settings.notes.is_empty(), "{:?}", scene.settings.notes);
        }
    }
    let scene = built(
        "[[body]]\nkind = \"rigid\"\nshape = \"box\"\nmaterial = \"steel\"\n[materials.steel]\ndensity = 7850\n",
    );
    assert!((scene.simulation.model().bodies()[0].parts.rigid().unwrap().mass - 7850.0 * 0.027).abs() < 1e-9);
}

#[test]
fn it_falls_turns_bounces_and_slides_as_it_is_told() {
    let mut scene = built(
        "substeps = 4\n[[plane]]\nfriction = 0.0\n[[body]]\nkind = \"rigid\"\nshape = { kind = \"ball\", radius = 0.1 }\nposition = [1, 0.6, 0]\n\
         rotation = [0, 90, 0]\nvelocity = [0.5, 0, 0]\nspin = [0, 3, 0]\nrestitution = 0.5\n",
    );
    let turned = scene.simulation.placement(0).unwrap().matrix3 * DVec3::Z;
    assert!(turned.distance(DVec3::X) < 1e-12);
    let mut high = 0.0_f64;
    let mut hit = false;
    for _ in 0..60 {
        steps(&mut scene, 1);
        let y = origin(&scene.simulation, 0).y;
        hit |= y < 0.15;
        high = if hit { high.max(y) } else { 0.0 };
    }
    assert!((high - 0.1 - 0.25 * 0.5).abs() < 0.005, "{high}");
    assert!((origin(&scene.simulation, 0).x - 1.5).abs() < 1e-9);
    let turn = scene.simulation.placement(0).unwrap().matrix3;
    let wanted = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2 + 3.0);
    assert!((turn * DVec3::X).distance(wanted * DVec3::X) < 1e-9);
}

#[test]
fn kinematic_bodies_stay_move_and_follow_their_keys() {
    let body = |kinematic: &str| {
        built(&format!(
            "substeps = 2\n[[body]]\nkind = \"rigid\"\nshape = \"box\"\nkinematic = {kinematic}\n{}",
            match kinematic {
                k if k.contains("keys") => "",
                _ => "position = [1, 2, 3]\n",
            }
        ))
    };
    let mut scene = body("true");
    steps(&mut scene, 30);
    assert!(origin(&scene.simulation, 0).distance(DVec3::new(1.0, 2.0, 3.0)) < 1e-12);
    let mut scene = body("{ velocity = [0, 1, 0], spin = [0, 0, 2] }");
    steps(&mut scene, 30);
    // It turns about itself.
    assert!(origin(&scene.simulation, 0).distance(DVec3::new(1.0, 2.5, 3.0)) < 1e-9);
    let turned = scene.simulation.placement(0).unwrap().matrix3 * DVec3::X;
    assert!(turned.distance(DVec3::new(1f64.cos(), 1f64.sin(), 0.0)) < 1e-9);

    let keys = "{ keys = [[0.5, [0, 1, 0]], [1.0, [2, 1, 0], [0, 360, 0]], [1.5, [2, 3, 0], [0, 360, 90], \"smooth\"], [2.0, [0, 1, 0], [0, 360, 0]]] }";
    let mut scene = body(keys);
    assert_eq!(origin(&scene.simulation, 0), DVec3::Y);
    let place = |s: &Simulation| (origin(s, 0), s.placement(0).unwrap().matrix3 * DVec3::X);
    for (frames, wanted, axis) in [
        (30, DVec3::Y, DVec3::X),
        // Half of the way, and of the turn.
        (15, DVec3::new(1.0, 1.0, 0.0), -DVec3::X),
        (15, DVec3::new(2.0, 1.0, 0.0), DVec3::X),
        (30, DVec3::new(2.0, 3.0, 0.0), DVec3::Y),
        // Smooth: 5/32 of the way after a quarter of the time.
        (7, DVec3::new(f64::NAN, 0.0, 0.0), DVec3::ZERO),
        (53, DVec3::Y, DVec3::X),
    ] {
        steps(&mut scene, frames);
        let (at, x) = place(&scene.simulation);
        if wanted.is_nan() {
            assert!(at.x > 1.7 && at.x < 1.8, "{at}");
        } else {
            assert!(at.distance(wanted) < 1e-9 && x.distance(axis) < 1e-9, "{frames}: {at} {x}");
        }
    }
    let mut scene = body("{ keys = [[0, [0, 0, 0]], [1, [1, 0, 0]]], repeat = true }");
    steps(&mut scene, 150);
    assert!((origin(&scene.simulation, 0).x - 0.5).abs() < 1e-9, "{}", origin(&scene.simulation, 0));
}

#[test]
fn a_kinematic_body_is_let_go_by_an_event_and_flies_on() {
    let mut scene = built(
        "gravity = [0, 0, 0]\n[[body]]\nname = \"puck\"\nkind = \"rigid\"\nshape = \"ball\"\nkinematic = { velocity = [1, 0, 0] }\n\
         [[event]]\nat = 0.5\nbody = \"puck\"\nrelease = \"kinematic\"\n[[event]]\nat = 0.75\nbody = \"puck\"\npush = [0, 28.274333882308138, 0]\n",
    );
    steps(&mut scene, 60);
    // A push of twice its mass, for a quarter of a second.
    assert!(
        origin(&scene.simulation, 0).distance(DVec3::new(1.0, 0.5, 0.0)) < 1e-6,
        "{}",
        origin(&scene.simulation, 0)
    );
}

#[test]
fn it_follows_an_animated_mesh() {
    let folder = pliant_testing::tempdir().unwrap();
    let mesh = SolidShape::Cuboid { size: DVec3::new(0.3, 0.2, 0.1) }.build_rigid().unwrap().surface;
    for k in 0..=30 {
        let at = |p: &DVec3| DQuat::from_rotation_y(0.1 * f64::from(k)) * *p + DVec3::X * 0.05 * f64::from(k);
        let mut frame = mesh.clone();
        frame.positions.iter_mut().for_each(|p| *p = at(p));
        save(&folder.path().join(format!("box_{k:02}.obj")), &frame);
    }
    let text = "[[body]]\nkind = \"rigid\"\nshape = { kind = \"mesh\", file = \"box_00.obj\" }\nposition = [0, 1, 0]\n\
                input = { files = \"box_##.obj\", fps = 60 }\n";
    let mut scene = built_in(text, folder.path()).unwrap_or_else(|p| panic!("{}", p[0]));
    for k in 1..=30 {
        steps(&mut scene, 1);
        let at = origin(&scene.simulation, 0);
        assert!(at.distance(DVec3::new(0.05 * f64::from(k), 1.0, 0.0)) < 1e-5, "frame {k}: {at}");
    }
    let turned = scene.simulation.placement(0).unwrap().matrix3 * DVec3::X;
    assert!(turned.distance(DQuat::from_rotation_y(3.0) * DVec3::X) < 1e-4);
    let wag = "[[body]]\nkind = \"rigid\"\nshape = \"box\"\ninput = { wag = { axis = [0, 0, 1], angle = 90, frequency = 1 } }\n";
    let mut scene = built(wag);
    steps(&mut scene, 15);
    assert!((scene.simulation.placement(0).unwrap().matrix3 * DVec3::X).distance(DVec3::Y) < 1e-3);
}

#[test]
fn it_is_tied_to_the_world_and_glued_to_cloth() {
    let mut scene = built(
        "substeps = 2\n[[body]]\nname = \"rod\"\nkind = \"rigid\"\nshape = { kind = \"box\", size = [0.4, 0.05, 0.05] }\nposition = [0.3, 1, 0]\n\
         [[joint]]\nbetween = [\"rod\", \"world\"]\nat = [0, 1, 0]\n",
    );
    // A place off the solid is a point of it, too.
    for _ in 0..60 {
        steps(&mut scene, 1);
        let held = scene.simulation.placement(0).unwrap().transform_point3(DVec3::new(-0.3, 0.0, 0.0));
        assert!(held.distance(DVec3::Y) < 1e-9, "{held}");
    }
    let mut scene = built(
        "substeps = 2\n[[body]]\nname = \"shirt\"\nshape = { kind = \"sheet\", size = [0.4, 0.4], cells = [12, 12] }\nmaterial = \"cotton\"\n\
         rotation = [90, 0, 0]\nposition = [0, 1, 0]\n[[body.pin]]\ncorners = [\"left_back\", \"right_back\"]\n\
         [[body]]\nname = \"button\"\nkind = \"rigid\"\nshape = { kind = \"cylinder\", radius = 0.02, height = 0.005 }\nrotation = [90, 0, 0]\n\
         position = [0, 1, 0.004]\ndensity = 1200\n[[glue]]\nfrom = \"button\"\nto = \"shirt\"\n",
    );
    assert!(
        scene.settings.notes.iter().any(|n| n.starts_with("glue: the frame of `button`")),
        "{:?}",
        scene.settings.notes
    );
    let gap = |s: &Simulation| {
        let at = origin(s, 1);
        s.positions(0).map(|p| p.distance(at)).fold(f64::INFINITY, f64::min)
    };
    let before = gap(&scene.simulation);
    steps(&mut scene, 60);
    assert!((gap(&scene.simulation) - before).abs() < 5e-3, "{before} {}", gap(&scene.simulation));
}

#[test]
fn a_render_mesh_goes_along_exactly() {
    let folder = pliant_testing::tempdir().unwrap();
    let fine = SolidShape::Ball { radius: 0.3 }.build(0.03).unwrap().surface;
    save(&folder.path().join("fine.obj"), &fine);
    let text = "[[body]]\nkind = \"rigid\"\nshape = \"box\"\nposition = [0, 3, 0]\nspin = [1, 2, 3]\nrender = \"fine.obj\"\n";
    let mut scene = built_in(text, folder.path()).unwrap_or_else(|p| panic!("{}", p[0]));
    steps(&mut scene, 30);
    let points: Vec<DVec3> = scene.simulation.positions(0).collect();
    let mut shown = Vec::new();
    scene.bodies[0].skin.apply_within(&points, &mut Default::default(), &mut shown);
    let at = scene.simulation.placement(0).unwrap();
    for (p, rest) in shown.iter().zip(&scene.bodies[0].surface.positions) {
        assert!(p.distance(at.transform_point3(*rest)) < 1e-12);
    }
}

#[test]
fn what_is_not_for_rigid_bodies_is_refused_with_what_is() {
    let body = "[[body]]\nkind = \"rigid\"\nshape = \"box\"\n";
    for (more, message, help) in [
        ("[[body.pin]]\nparticles = [0]\n", "`pin` is not for rigid bodies", "\"world\""),
        ("solver = \"projective\"\n", "`solver` is not for rigid bodies", "remove it"),
        ("particles = 100\n", "`particles` is not for rigid bodies", "not filled"),
        ("clusters = 3\n", "`clusters` is not for rigid bodies", "no clusters"),
        ("elements = \"tetrahedra\"\n", "`elements` is not for rigid bodies", "does not deform"),
        ("stretch = [2, 1, 1]\n", "`stretch` is not for rigid bodies", "the size you want"),
        ("contact_radius = 0.1\n", "`contact_radius` is not for rigid bodies", "own surface"),
        (
            "paint = [{ value = 0.2, sphere = { center = [0, 0, 0], radius = 1.0 } }]\n",
            "`paint` is not",
            "no particles",
        ),
        ("frequency = 20\n", "`frequency` does nothing", "does not deform"),
        ("young = 1e5\n", "`young` does nothing", "does not deform"),
        ("damping = 1\n", "`damping` does nothing", "`drag`"),
        ("iterations = 3\n", "`iterations` does nothing", "substeps"),
        ("tear_strain = 0.3\n", "`tear_strain` does nothing", "material"),
        (
            "kinematic = true\nvelocity = [1, 0, 0]\n",
            "`velocity` does nothing on a kinematic body",
            "how it is led",
        ),
        ("kinematic = { keys = [[0, [0, 0, 0]], [0, [1, 0, 0]]] }\n", "does not come after", "order of time"),
        (
            "position = [1, 0, 0]\nkinematic = { keys = [[0, [0, 0, 0]]] }\n",
            "`position` and the keys",
            "first key",
        ),
        (
            "kinematic = { keys = [[0, [0, 0, 0]]], velocity = [1, 0, 0] }\n",
            "`velocity` and `keys`",
            "leave it out",
        ),
        ("kinematic = { ease = \"smooth\" }\n", "`ease`", "keys"),
        ("kinematic = true\ninput = { wag = {} }\n", "contradict each other", "leave one"),
        ("input = { wag = { bend = true } }\n", "does not bend", "as a whole"),
        ("input = { wag = {}, reshape = true }\n", "`reshape` is not for rigid bodies", "remove it"),
        (
            "kinematic = { keys = [[0, [0, 0, 0]]] }\ncopies = { grid = [2, 1, 1] }\n",
            "cannot be copied",
            "by itself",
        ),
        (
            "[[joint]]\nbetween = [\"box\", \"box\"]\nparticles = [0, 1]\n",
            "no particles to be tied by",
            "`at",
        ),
    ] {
        let found = refused(&format!("{body}{more}"));
        assert!(found.iter().any(|f| f.1.contains(message) && f.2.contains(help)), "{more}: {found:?}");
        assert!(found.iter().all(|f| f.0.0 > 0), "{more}: {found:?}");
    }
    for (shape, message, help) in [
        ("\"sheet\"", "a sheet encloses nothing", "box"),
        ("\"thread\"", "a thread encloses nothing", "capsule"),
        ("\"tube\"", "open above and below", "cylinder"),
        ("{ kind = \"box\", cells = [2, 2, 2] }", "a box of cells", "leave out `cells`"),
        ("{ kind = \"vertices\", file = \"a.obj\" }", "vertices are particles", "kind = \"mesh\""),
        ("{ kind = \"points\", file = \"a.txt\" }", "cloud of points", "closed mesh"),
        ("{ kind = \"tets\", file = \"a.msh\" }", "tetrahedra", "closed mesh"),
    ] {
        let found = refused(&format!("[[body]]\nkind = \"rigid\"\nshape = {shape}\n"));
        assert!(found[0].1.contains(message) && found[0].2.contains(help), "{shape}: {found:?}");
    }
    let soft = refused("[[body]]\nshape = \"ball\"\nkinematic = true\n");
    assert!(soft[0].1.contains("this one is soft") && soft[0].0 == (3, 13), "{soft:?}");
}

#[test]
fn meshes_that_are_no_solids_are_refused_and_holes_are_told() {
    let folder = pliant_testing::tempdir().unwrap();
    let scene =
        "[[body]]\nkind = \"rigid\"\nshape = { kind = \"mesh\", file = \"a.obj\" }\nposition = [0, 2, 0]\n";
    let with = |mesh: &TriMesh| {
        save(&folder.path().join("a.obj"), mesh);
        built_in(scene, folder.path())
    };
    let ball = SolidShape::Ball { radius: 0.2 }.build(0.03).unwrap().surface;
    let mass = |built: &BuiltScene| built.simulation.model().bodies()[0].parts.rigid().unwrap().mass;
    let whole = with(&ball).unwrap();
    assert!(whole.settings.notes.is_empty(), "{:?}", whole.settings.notes);
    let mut holed = ball.clone();
    holed.triangles.truncate(ball.triangles.len() - 2);
    let holed = with(&holed).unwrap();
    assert!(holed.settings.notes.iter().any(|n| n.contains("not closed") && n.contains("winding number")));
    assert!((mass(&holed) / mass(&whole) - 1.0).abs() < 0.03, "{} {}", mass(&holed), mass(&whole));
    let mut bowl = ball.clone();
    bowl.triangles.retain(|t| t.iter().all(|&i| ball.positions[i as usize].y < 0.0));
    let mut flat = ball.clone();
    flat.positions.iter_mut().for_each(|p| p.y = 0.0);
    let mut inside_out = ball;
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    for (mesh, what) in [(bowl, "bowl"), (flat, "flat"), (inside_out, "inside out")] {
        let problems = with(&mesh).map(|_| ()).unwrap_err();
        let [problem] = &problems[..] else { panic!("{what}: {problems:?}") };
        assert!(problem.message.contains("this cannot be a rigid body"), "{what}: {problem}");
        assert!(problem.place == Some((3, 9)) && !problem.help.is_empty(), "{what}: {problem}");
    }
}
