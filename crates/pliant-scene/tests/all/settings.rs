//! What keys do: defaults, materials, names, planes, rotations, pins, notes.

use pliant::{BodyControls, Control, DVec3, Ease, Goals, Integrator, SolverKind, Stiffness};
use pliant_scene::{BuiltScene, ColorBy, Look, Scene};

fn built(text: &str) -> BuiltScene {
    let scene = Scene::parse(text, "s.toml".as_ref()).and_then(|s| s.build(1));
    scene.unwrap_or_else(|p| panic!("{text}\n{}", p[0]))
}

#[test]
fn a_ball_alone_takes_sound_defaults() {
    let scene = built("[[body]]\nshape = \"ball\"\n");
    let (model, controls) = (scene.simulation.model(), scene.simulation.controls());
    assert!((1300..=1700).contains(&model.particle_count()));
    assert_eq!(model.bodies()[0].parts.solver(), SolverKind::Clustered);
    let body = controls.body(0).unwrap();
    assert_eq!(body.stiffness, Stiffness::Frequency(25.0));
    assert_eq!((body.strain_limit, body.iterations), (0.3, 5));
    assert_eq!(body.friction, None);
    let mass: f64 = model.bodies()[0].parts.rest().mass.iter().sum();
    assert!((mass / 14.137 - 1.0).abs() < 0.02, "{mass} kg for a ball of 0.15 m of water");
    assert_eq!((scene.settings.frames, scene.settings.frames_per_second), (120, 60.0));
    assert_eq!(scene.settings.picture.color_by, ColorBy::Body);
    assert_eq!(scene.bodies[0].look, Look::Jelly);
    assert!(scene.settings.outputs.is_empty() && scene.settings.checkpoint_every == 30);
}

#[test]
fn a_sheet_alone_is_cloth() {
    let scene = built("solver = \"clustered\"\n[[body]]\nshape = \"sheet\"\n");
    let model = scene.simulation.model();
    assert_eq!(model.bodies()[0].parts.solver(), SolverKind::Projective);
    let body = scene.simulation.controls().body(0).unwrap();
    assert_eq!((body.edge_stiffness, body.iterations), (2000.0, 10));
    assert!(
        model.bodies()[0].parts.topology().clusters.is_empty()
            && !model.bodies()[0].parts.topology().edges.is_empty()
    );
    let mass: f64 = model.bodies()[0].parts.rest().mass.iter().sum();
    assert!((mass - 0.3).abs() < 1e-12);
    assert_eq!(scene.bodies[0].look, Look::Cloth);
    assert!((1300..=1700).contains(&model.particle_count()));
}

#[test]
fn projective_solids_have_clusters_and_no_strain_limit() {
    let scene = built("solver = \"projective\"\n[[body]]\nshape = \"box\"\nparticles = 64\n");
    let body = scene.simulation.controls().body(0).unwrap();
    assert_eq!((body.strain_limit, body.iterations), (f64::INFINITY, 10));
    assert!(!scene.simulation.model().bodies()[0].parts.topology().clusters.is_empty());
}

#[test]
fn keys_of_a_body_go_before_its_materials() {
    let scene = built(
        "[materials.jelly]\nfrequency = 6\ndamping = 3\nfriction = 0.1\n\
         [[body]]\nshape = \"ball\"\nparticles = 50\nmaterial = \"jelly\"\n\
         [[body]]\nshape = \"ball\"\nparticles = 50\nmaterial = \"jelly\"\nalpha = 0.5\ndamping = 4\n",
    );
    let controls = scene.simulation.controls();
    assert_eq!(controls.body(0).unwrap().stiffness, Stiffness::Frequency(6.0));
    assert_eq!(controls.body(0).unwrap().damping, 3.0);
    assert_eq!(controls.body(1).unwrap().stiffness, Stiffness::Alpha(0.5));
    assert_eq!(controls.body(1).unwrap().damping, 4.0);
    assert_eq!(controls.body(1).unwrap().friction, Some(0.1));
}

#[test]
fn bodies_without_a_name_get_one_of_their_own() {
    let ball = "[[body]]\nshape = \"ball\"\nparticles = 20\n";
    let scene =
        built(&format!("{ball}{ball}[[body]]\nname = \"ball\"\nshape = \"box\"\nparticles = 8\n{ball}"));
    let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["ball_2", "ball_3", "ball", "ball_4"]);
    assert_ne!(scene.bodies[0].color, scene.bodies[1].color);
}

#[test]
fn long_steps_lower_the_default_stiffness_instead_of_refusing_it() {
    let scene = built("fps = 10\nsubsteps = 1\n[[body]]\nshape = \"ball\"\nparticles = 50\n");
    let Stiffness::Frequency(f) = scene.simulation.controls().body(0).unwrap().stiffness else {
        panic!("a frequency")
    };
    assert!((f - 10.0 / 6.0).abs() < 1e-12);
}

#[test]
fn planes_are_normalised_and_may_be_given_by_a_point() {
    let scene = built(
        "[[plane]]\n[[plane]]\nnormal = [0, 3, 4]\npoint = [0, 0, 2]\nfriction = 0.2\n\
         [[plane]]\nnormal = [1e-200, 0, 0]\noffset = -3\n[[body]]\nshape = \"ball\"\nposition = [0, 5, 0]\nparticles = 9\n",
    );
    let planes: Vec<_> = scene.simulation.state().half_spaces(scene.simulation.model()).collect();
    assert_eq!(planes[0], pliant::HalfSpace::ground());
    assert!((planes[1].normal - DVec3::new(0.0, 0.6, 0.8)).length() < 1e-15);
    assert!((planes[1].offset - 1.6).abs() < 1e-15);
    assert_eq!((planes[2].normal, planes[2].offset), (DVec3::X, -3.0));
}

#[test]
fn rotations_are_about_x_then_y_then_z_or_an_axis() {
    let place = |rotation: &str| {
        let text = format!(
            "[[body]]\nshape = {{ kind = \"box\", size = [1, 2, 4] }}\nparticles = 8\nclusters = 1\nrotation = {rotation}\n"
        );
        let scene = built(&text);
        scene.simulation.positions(0).fold(DVec3::ZERO, |m, p| m.max(p.abs()))
    };
    let near = |a: DVec3, b: DVec3| assert!((a - b).length() < 1e-12, "{a} {b}");
    near(place("[90, 0, 0]"), DVec3::new(0.5, 2.0, 1.0));
    near(place("[90, 90, 0]"), DVec3::new(1.0, 2.0, 0.5));
    near(place("{ axis = [0, 0, 7], angle = 90 }"), DVec3::new(1.0, 0.5, 2.0));
}

#[test]
fn corners_of_a_sheet_can_be_pinned() {
    let scene = built(
        "[[body]]\nshape = { kind = \"sheet\", size = [2, 4], cells = [2, 3] }\n[[body.pin]]\nname = \"top\"\n\
         corners = [\"right_back\", \"left_front\"]\n",
    );
    let pin = &scene.simulation.model().bodies()[0].parts.pins()[0];
    assert_eq!((pin.name.as_str(), pin.particles.as_slice()), ("top", [2, 9].as_slice()));
    let anchors: Vec<DVec3> = scene.simulation.state().bodies()[0].memory().anchors().collect();
    assert_eq!(anchors, [DVec3::new(1.0, 0.0, -2.0), DVec3::new(-1.0, 0.0, 2.0)]);
}

#[test]
fn pins_in_a_box_follow_their_motion() {
    let mut scene = built(
        "gravity = [0, 0, 0]\n[[body]]\nshape = \"box\"\nparticles = 64\nposition = [0, 1, 0]\n[[body.pin]]\n\
         box = { min = [-1, 1.1, -1], max = [1, 2, 1] }\nvelocity = [0.6, 0, 0]\nend = 0.5\n",
    );
    for _ in 0..60 {
        scene.simulation.step().unwrap();
    }
    let pin = scene.simulation.model().bodies()[0].parts.pins()[0].clone();
    assert_eq!(pin.particles.len(), 16);
    let state = &scene.simulation.state().bodies()[0];
    for (&i, anchor) in pin.particles.iter().zip(state.memory().anchors()) {
        let x = state.positions().get(i as usize);
        assert!((x - anchor - DVec3::new(0.3, 0.0, 0.0)).length() < 1e-9);
    }
}

#[test]
fn clusters_can_be_made_in_several_ways() {
    let ball = "[[body]]\nshape = \"ball\"\nparticles = 400\n";
    let clusters = |keys: &str| {
        let scene = built(&format!("{ball}{keys}"));
        let model = scene.simulation.model();
        (model.bodies()[0].parts.topology().clusters.clone(), model.bodies()[0].parts.rest().share.clone())
    };
    let plain = clusters("clusters = 20\n");
    assert_eq!(plain, clusters("clusters = 20\nclustering = \"random\"\nsymmetric = false\noverlap = 0\n"));
    assert_eq!(clusters("clusters = 20\nclustering = \"kmeans\"\n").0.len(), 20);
    assert_eq!(clusters("clusters = 20\nclustering = \"farthest\"\n").0.len(), 20);
    let radius = "cluster_radius = 0.06\n";
    let count = |way: &str| clusters(&format!("{radius}clustering = \"{way}\"\n")).0.len();
    assert!(count("farthest") < count("random") && count("random") < count("file_order"));
    let (fine, coarse) =
        (clusters("clusters = 20\ncluster_levels = 1\n"), clusters("clusters = 20\ncluster_levels = 3\n"));
    assert!(coarse.0.len() > fine.0.len() && coarse.0.members.starts_with(&fine.0.members));
    let heavy = clusters("clusters = 20\ncluster_levels = 3\ncoarse_share = 0.5\n");
    assert!(heavy.0 == coarse.0 && heavy.1 != coarse.1);
    let smooth = clusters("clusters = 20\nsmooth_weights = true\n");
    assert!(smooth.0 == plain.0 && smooth.1 != plain.1);
    assert_ne!(clusters("clusters = 20\nsymmetric = true\n").0, plain.0);
    assert!(clusters("clusters = 20\noverlap = 0.3\n").0.members.len() > plain.0.members.len());
}

#[test]
fn notes_tell_what_may_surprise() {
    let note = |keys: &str, part: &str| {
        let scene =
            built(&format!("[[plane]]\n[[body]]\nname = \"x\"\nshape = \"ball\"\nparticles = 60\n{keys}"));
        let found = scene.settings.notes.iter().any(|n| n.starts_with("body `x`: ") && n.contains(part));
        assert!(found, "{keys}: {:?}", scene.settings.notes);
    };
    note("cluster_radius = 5\n", "cluster_radius 5 covers everything: one cluster");
    note("cluster_radius = 1e-3\n", "one cluster per particle");
    note("clusters = 1000\n", "1000 clusters were asked");
    note("solver = \"projective\"\nclusters = \"none\"\nedge_stiffness = 0\n", "nothing holds it together");
    note("position = [0, 0, 0]\n", "m deep in plane 1");
    let clean = built("[[plane]]\n[[body]]\nshape = \"ball\"\nposition = [0, 1, 0]\nparticles = 200\n");
    assert!(clean.settings.notes.is_empty(), "{:?}", clean.settings.notes);
}

#[test]
fn threads_do_not_change_bits() {
    let text = "[[plane]]\n[[body]]\nshape = \"ball\"\nparticles = 300\nposition = [0, 0.16, 0]\n";
    let scene = Scene::parse(text, "s.toml".as_ref()).unwrap();
    let run = |threads| {
        let mut built = scene.build(threads).unwrap();
        (0..10).for_each(|_| {
            built.simulation.step().unwrap();
        });
        built.simulation.checkpoint()
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(0), run(1));
}

#[test]
fn what_is_not_said_is_what_the_engine_takes() {
    let scene = built("[[body]]\nshape = \"ball\"\nparticles = 50\nmass = 1\n");
    assert_eq!(*scene.simulation.controls().body(0).unwrap(), BodyControls::default());
    let settings = scene.simulation.model().bodies()[0].parts.kind().matching().unwrap();
    assert_eq!((settings.goals, settings.integrator), (Goals::Rigid, Integrator::StrainLimited));
    assert!(!settings.two_step && scene.simulation.model().params().keyframes.tracks.is_empty());
}

#[test]
fn goals_and_plasticity_can_be_the_materials() {
    let scene = built(
        "[materials.clay]\ngoals = \"quadratic\"\ndeformation = 0.7\nvolume = 0.5\nyield_strain = 0.1\ncreep = 3\n\
         plastic_limit = 2\nhardening = 1\nintegrator = \"deformer\"\nflappiness = 0.4\nviscous_friction = 0.6\n\
         [[body]]\nshape = \"ball\"\nparticles = 50\nmaterial = \"clay\"\ngoals = \"linear\"\ntwo_step = true\n",
    );
    let settings = scene.simulation.model().bodies()[0].parts.kind().matching().unwrap();
    assert_eq!((settings.goals, settings.integrator), (Goals::Linear, Integrator::Deformer));
    assert!(settings.two_step);
    let c = scene.simulation.controls().body(0).unwrap();
    assert_eq!((c.deformation, c.volume, c.yield_strain, c.creep), (0.7, 0.5, 0.1, 3.0));
    assert_eq!((c.plastic_limit, c.hardening, c.flappiness, c.viscous_friction), (2.0, 1.0, 0.4, 0.6));
}

#[test]
fn keyframes_drive_the_body_they_stand_under() {
    let mut scene = built(
        "fps = 10\n[[keyframes]]\ncontrol = \"gravity\"\nkeys = [[0, [0, -1, 0]], [1, [0, -3, 0]]]\n\
         [[body]]\nshape = \"ball\"\nparticles = 50\n\
         [[body]]\nshape = \"ball\"\nparticles = 50\n\
         [[body.keyframes]]\ncontrol = \"damping\"\nease = \"smooth\"\nkeys = [[0, 1, \"stepped\"], [0.5, 2], [1, 4]]\n\
         [[body.keyframes]]\ncontrol = \"iterations\"\nkeys = [[0, 3], [0.35, 7]]\n",
    );
    let tracks = &scene.simulation.model().params().keyframes.tracks;
    let controls: Vec<Control> = tracks.iter().map(|t| t.control).collect();
    assert_eq!(controls, [Control::Gravity, Control::Damping(1.into()), Control::Iterations(1.into())]);
    let eases: Vec<Ease> = tracks[1].keys.iter().map(|k| k.ease).collect();
    assert_eq!(eases, [Ease::Stepped, Ease::Smooth, Ease::Smooth]);
    let mut seen = Vec::new();
    for _ in 0..=10 {
        let c = scene.simulation.controls();
        assert_eq!(c.body(0).unwrap().damping, 2.0);
        seen.push((-c.gravity().y, c.body(1).unwrap().damping, c.body(1).unwrap().iterations));
        scene.simulation.step().unwrap();
    }
    assert_eq!((seen[0], seen[5]), ((1.0, 1.0, 3), (2.0, 2.0, 7)));
    assert_eq!((seen[4].1, seen[3].2, seen[4].2), (1.0, 3, 7));
    assert_eq!(seen[10], (3.0, 4.0, 7));
}

#[test]
fn copies_stand_on_a_grid_with_names_of_their_own() {
    let body = "[[body]]\nname = \"b\"\nshape = \"ball\"\nparticles = 20\nposition = [1, 2, 3]\n";
    let middles = |copies: &str| -> Vec<DVec3> {
        let scene = built(&format!("{body}copies = {{ grid = [2, 2, 3], apart = [1, 2, 4]{copies} }}\n"));
        let middle = |b| {
            let points = scene.simulation.positions(b);
            let n = points.len() as f64;
            points.sum::<DVec3>() / n
        };
        (0..scene.bodies.len()).map(middle).collect()
    };
    let plain = middles("");
    assert_eq!(plain.len(), 12);
    for (k, place) in
        [(0, [0.5, 2.0, -1.0]), (1, [1.5, 2.0, -1.0]), (2, [0.5, 2.0, 3.0]), (11, [1.5, 4.0, 7.0])]
    {
        assert!(plain[k].distance(DVec3::from_array(place)) < 1e-9, "{k}: {}", plain[k]);
    }
    let moved = middles(", shift = 0.25");
    let shifts: Vec<DVec3> = moved.iter().zip(&plain).map(|(a, b)| *a - *b).collect();
    assert!(shifts.iter().all(|w| w.abs().max_element() <= 0.25 && w.length() > 1e-6));
    assert_eq!(moved, middles(", shift = 0.25"));
    assert_ne!(moved, middles(", shift = 0.25, seed = 2"));
    // Turning draws from the same numbers but does not move the grid.
    let turned = middles(", shift = 0.25, turn = true");
    assert!(turned.iter().zip(&moved).all(|(a, b)| a.distance(*b) < 1e-9));
    let scene =
        built(&format!("{body}copies = {{ grid = [1, 1, 2] }}\n[[body]]\nshape = \"box\"\nparticles = 8\n"));
    let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["b_0001", "b_0002", "box"]);
    assert_ne!(scene.bodies[0].color, scene.bodies[1].color);
}

#[test]
fn a_named_material_makes_elements_of_whatever_the_shape_has() {
    let body = |keys: &str| built(&format!("[[body]]\n{keys}"));
    let kinds = |scene: &BuiltScene| -> Vec<&'static str> {
        scene.simulation.model().bodies()[0].parts.batches().iter().map(|b| b.batch.kind()).collect()
    };
    let ball = body("shape = \"ball\"\nparticles = 200\nmaterial = \"rubber\"\n");
    let (model, controls) = (ball.simulation.model(), ball.simulation.controls().body(0).unwrap());
    assert_eq!(model.bodies()[0].parts.solver(), SolverKind::Projective);
    assert_eq!((controls.young, controls.poisson, controls.damping), (1.0e6, 0.47, 1.0));
    assert!(model.bodies()[0].parts.topology().clusters.is_empty() && controls.edge_stiffness == 0.0);
    assert!((150..=260).contains(&model.particle_count()), "{}", model.particle_count());
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.15_f64.powi(3);
    let mass: f64 = model.bodies()[0].parts.rest().mass.iter().sum();
    assert!((mass / (1100.0 * volume) - 1.0).abs() < 0.1, "{mass}");
    assert_eq!(ball.bodies[0].look, Look::Jelly);

    let sheet = body("shape = { kind = \"sheet\", cells = [4, 4] }\nmaterial = \"cotton\"\nyoung = 5e6\n");
    let controls = sheet.simulation.controls().body(0).unwrap();
    assert_eq!((controls.young, controls.thickness), (5e6, 4e-4));
    assert!(
        (sheet.simulation.model().bodies()[0].parts.rest().mass.iter().sum::<f64>() - 500.0 * 4e-4).abs()
            < 1e-12
    );
    assert_eq!(kinds(&sheet).len(), kinds(&ball).len() + 1, "bending too: {:?}", kinds(&sheet));
    assert_eq!(sheet.bodies[0].look, Look::Cloth);

    let thread = body("shape = { kind = \"thread\", segments = 8 }\nmaterial = \"rubber\"\n");
    assert_eq!(thread.simulation.model().particle_count(), 9);
    let section = std::f64::consts::PI * 1e-6;
    assert!(
        (thread.simulation.model().bodies()[0].parts.rest().mass.iter().sum::<f64>() - 1100.0 * section)
            .abs()
            < 1e-9
    );
    let tube = body("shape = { kind = \"tube\", cells = [8, 4] }\n");
    assert_eq!(tube.simulation.model().particle_count(), 40);
    assert!(kinds(&tube).iter().any(|k| k.contains("bending")), "{:?}", kinds(&tube));
    for scene in [ball, sheet, thread, tube] {
        assert!(scene.settings.notes.is_empty(), "{:?}", scene.settings.notes);
    }
}

#[test]
fn a_scene_material_goes_before_one_of_the_same_name() {
    let scene = built(
        "[materials.jelly]\nfrequency = 6\n[[body]]\nshape = \"ball\"\nparticles = 50\nmaterial = \"jelly\"\n",
    );
    assert_eq!(scene.simulation.model().bodies()[0].parts.solver(), SolverKind::Clustered);
    let scene = built(
        "[materials.jelly]\nyoung = 2e4\ndensity = 900\n[[body]]\nshape = \"box\"\nparticles = 50\nmaterial = \"jelly\"\n",
    );
    assert_eq!(scene.simulation.model().bodies()[0].parts.solver(), SolverKind::Projective);
    let c = scene.simulation.controls().body(0).unwrap();
    assert_eq!((c.young, c.poisson), (2e4, 0.3));
    assert!(
        (scene.simulation.model().bodies()[0].parts.rest().mass.iter().sum::<f64>() - 900.0 * 0.027).abs()
            < 1e-9
    );
}

#[test]
fn elements_can_be_chosen() {
    let scene = |shape: &str, elements: &str| {
        built(&format!("[[body]]\nshape = {shape}\nelements = \"{elements}\"\n"))
    };
    let plain = built("[[body]]\nshape = \"sheet\"\n");
    let none = scene("\"sheet\"", "none");
    assert_eq!(plain.simulation.model().id(), none.simulation.model().id());
    let threads = scene("{ kind = \"sheet\", cells = [3, 3] }", "edges");
    let batches = threads.simulation.model().bodies()[0].parts.batches();
    assert!(batches.iter().any(|b| format!("{:?}", b.scale) == "Thread"), "{batches:?}");
    let shell = scene("{ kind = \"box\", size = [1, 1, 1] }", "triangles");
    assert_eq!(shell.bodies[0].look, Look::Cloth);
    let area: f64 = shell.simulation.model().bodies()[0].parts.rest().measure.iter().sum();
    assert!((area - 6.0).abs() < 1e-9, "{area}");
    let bar = built("[[body]]\nshape = { kind = \"box\", size = [1, 0.2, 0.3], cells = [6, 2, 3] }\n");
    assert_eq!(bar.simulation.model().particle_count(), 7 * 3 * 4);
    let six = "[[body]]\nshape = { kind = \"box\", cells = [6, 2, 3], tet_style = \"six\" }\n";
    assert_ne!(built(six).simulation.model().id(), bar.simulation.model().id());
}

#[test]
fn constraints_replace_the_usual_ones() {
    let scene = built(
        "[[body]]\nshape = { kind = \"box\", cells = [2, 2, 2] }\nyoung = 1e4\n\
         constraint = [\"strain\", { kind = \"fibre\", direction = [2, 0, 0], min = 0.5, max = 0.7, stiffness = 1e5 }]\n\
         [[body.keyframes]]\ncontrol = \"young\"\nkeys = [[0, 1e4], [1, 2e4]]\n\
         [[body]]\nshape = { kind = \"sheet\", cells = [4, 4] }\n\
         [[body.constraint]]\nkind = \"strain_limit\"\nmax = inf\nstiffness = 50\n\
         [[body.constraint]]\nkind = \"bending_limit\"\ncurvature = 12\n\
         [[body.constraint]]\nkind = \"hinge\"\n\
         [[body.constraint]]\nkind = \"rigid\"\ndifferences = \"vertex\"\n",
    );
    let [box_, sheet] = [0, 1].map(|b| scene.simulation.model().bodies()[b].parts.batches());
    assert_eq!((box_.len(), sheet.len()), (2, 4), "{box_:?} {sheet:?}");
    assert!(box_.iter().any(|b| b.factor == 1e5) && sheet.iter().any(|b| b.factor == 50.0));
    let mut simulation = scene.simulation;
    for _ in 0..5 {
        simulation.step().unwrap();
    }
    assert!(simulation.controls().body(0).unwrap().young > 1e4);
}

#[test]
fn wind_gives_air_to_what_has_faces() {
    let bodies = "[[body]]\nshape = \"ball\"\nparticles = 50\n[[body]]\nshape = { kind = \"sheet\", cells = [2, 2] }\n\
                  [[body]]\nshape = { kind = \"box\", cells = [1, 1, 1] }\n[[body]]\nshape = \"sheet\"\nair = 0.5\n";
    let air = |world: &str| -> Vec<f64> {
        let scene = built(&format!("{world}{bodies}"));
        (0..4).map(|b| scene.simulation.controls().body(b).unwrap().air).collect()
    };
    assert_eq!(air(""), [0.0, 0.0, 0.0, 0.5]);
    assert_eq!(air("wind = [3, 0, 0]\ngusts = 0.5\n"), [0.0, 1.2, 1.2, 0.5]);
    let keyed = "[[keyframes]]\ncontrol = \"wind\"\nkeys = [[0, [0, 0, 0]], [1, [9, 0, 0]]]\n";
    assert_eq!(air(keyed), [0.0, 1.2, 1.2, 0.5]);
    let scene = built(&format!("wind = [3, 0, 0]\ngusts = 0.5\n{bodies}"));
    assert_eq!(scene.simulation.controls().wind(), DVec3::new(3.0, 0.0, 0.0));
    assert_eq!(scene.simulation.controls().gusts(), 0.5);
}

#[test]
fn tetrahedra_and_examples_are_read_from_files() {
    let folder = std::env::temp_dir().join(format!("pliant-elements-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("t.node"), "4 3 0 0\n0 0 0 0\n1 2 0 0\n2 0 2 0\n3 0 0 2\n").unwrap();
    std::fs::write(folder.join("t.ele"), "1 4 0\n0 0 1 2 3\n").unwrap();
    std::fs::write(folder.join("bent.obj"), "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0.3 0 2\n").unwrap();
    let scene = |extra: &str| {
        let text = format!(
            "[[body]]\nshape = {{ kind = \"tets\", file = \"t.ele\", scale = 0.5 }}\nmaterial = \"jelly\"\n{extra}"
        );
        Scene::parse(&text, &folder.join("s.toml")).unwrap().build(1)
    };
    let plain = scene("").unwrap();
    assert_eq!(plain.simulation.model().particle_count(), 4);
    let mass: f64 = plain.simulation.model().bodies()[0].parts.rest().mass.iter().sum();
    assert!((mass - 1000.0 / 6.0).abs() < 1e-9, "{mass}");
    let examples = "constraint = [{ kind = \"examples\", files = [\"bent.obj\"], weights = \"common\" }]\n";
    assert!(scene(examples).is_ok());
    std::fs::write(folder.join("bent.obj"), "v 0 0 0\n").unwrap();
    let problems = scene(examples).unwrap_err();
    assert!(problems[0].message.contains("1 vertices, the body has 4"), "{}", problems[0]);
    std::fs::write(folder.join("t.ele"), "1 4 0\n0 0 1 2 9\n").unwrap();
    let problem = scene("").unwrap_err().remove(0);
    assert!(problem.file.ends_with("t.ele") && problem.place.is_some(), "{problem}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn fields_are_the_engines() {
    let scene = built(
        "field = [\"turbulence\", { kind = \"vortex\", axis = [0, 5, 0], strength = -2 }]\n\
         [[body]]\nshape = \"ball\"\nparticles = 30\n",
    );
    let fields = &scene.simulation.model().params().fields;
    assert_eq!(fields[0], pliant::Field::Turbulence { strength: 5.0, size: 0.5, rate: 1.0 });
    let vortex = pliant::Field::Vortex { center: DVec3::ZERO, axis: DVec3::Y, strength: -2.0, radius: 0.5 };
    assert_eq!(fields[1..], [vortex]);
}
