//! What the demos of glue and joints show: a shirt that closes and opens, branches that break off, clothes on a line.

use pliant::{Attachment, DMat3, DVec3, Simulation};
use pliant_scene::{BuiltScene, DEMOS, Scene};

fn built(name: &str) -> BuiltScene {
    let demo = DEMOS.iter().find(|d| d.name == name).unwrap();
    let scene = Scene::parse(demo.text, name.as_ref()).unwrap_or_else(|p| panic!("{name}: {}", p[0]));
    scene.build(2).unwrap_or_else(|p| panic!("{name}: {}", p[0]))
}

fn body(built: &BuiltScene, name: &str) -> usize {
    built.bodies.iter().position(|b| b.name == name).unwrap_or_else(|| panic!("no body {name}"))
}

fn middle(s: &Simulation, b: usize) -> DVec3 {
    s.positions(b).sum::<DVec3>() / s.positions(b).len() as f64
}

/// How far what each coupling holds is apart.
fn apart(s: &Simulation) -> Vec<f64> {
    let each = s.model().couplings().iter().zip(s.state().couplings());
    each.map(|(c, m)| {
        let [a, b] = [0, 1].map(|k| c.coupling.sides[k].place(s.state(), m.rotations[k]).unwrap());
        a.distance(b)
    })
    .collect()
}

/// Couplings between these two bodies.
fn between(s: &Simulation, a: usize, b: usize) -> Vec<usize> {
    let of = |k: usize| {
        s.model().couplings()[k].coupling.sides.clone().map(|side| side.body().map(|b| b.number()))
    };
    let wanted = [Some(a as u64), Some(b as u64)];
    let all = 0..s.model().couplings().len();
    all.filter(|k| of(*k) == wanted || of(*k) == [wanted[1], wanted[0]]).collect()
}

/// Particles of a row of the shirt, from one of its ends to the other.
const ROW: usize = 49;

/// How far a glued point is below the layer that carries it, whose outside is told by how its cells lie.
fn below(s: &Simulation, coupling: usize) -> f64 {
    let [Attachment::Frame(frame), point] = &s.model().couplings()[coupling].coupling.sides else {
        panic!("not a glued point")
    };
    let x: Vec<DVec3> = s.positions(frame.body()).collect();
    let parents = || frame.parents().iter().map(|i| *i as usize);
    let mean = parents().map(|i| x[i]).sum::<DVec3>() / frame.parents().len() as f64;
    let along = |i: usize| {
        x[if i % ROW + 1 < ROW { i + 1 } else { i }] - x[if !i.is_multiple_of(ROW) { i - 1 } else { i }]
    };
    let up = |i: usize| x[i + ROW] - x[i - ROW];
    let out = parents().map(|i| up(i).cross(along(i)).normalize()).sum::<DVec3>().normalize();
    (mean - point.place(s.state(), DMat3::IDENTITY).unwrap()).dot(out)
}

#[test]
fn a_shirt_closes_at_its_collar_and_opens_at_its_cuffs_its_layers_in_order() {
    let mut built = built("garment");
    let shirt = body(&built, "shirt");
    let front = between(&built.simulation, shirt, shirt);
    assert_eq!(front.len(), 10, "two points at each button");
    let cuffs: Vec<usize> = (0..built.simulation.model().couplings().len())
        .filter(|k| built.simulation.model().couplings()[*k].coupling.name.contains("cuff"))
        .collect();
    let widest = |off: &[f64], of: &[usize]| of.iter().map(|k| off[*k]).fold(0.0, f64::max);
    let (mut collar, mut cuff) = (Vec::new(), Vec::new());
    for frame in 1..=95 {
        built.simulation.step_by(&built.events).unwrap();
        let s = &built.simulation;
        let off = apart(s);
        // Two points for each button, from the collar down.
        let (keyed, held) = front.split_at(4);
        collar.push(widest(&off, keyed));
        cuff.push(widest(&off, &cuffs));
        assert!(widest(&off, held) < 1e-9, "frame {frame}: {}", widest(&off, held));
        for (k, coupling) in held.iter().enumerate() {
            let gap = below(s, *coupling);
            assert!(gap > 0.004, "frame {frame}: the layers are {gap} m apart under button {}", 3 + k / 2);
        }
    }
    println!(
        "collar {:.4} m open, then {:.4}; cuffs {:.4}, then {:.4}",
        collar[9], collar[60], cuff[78], cuff[94]
    );
    assert!(collar[9] > 0.02 && collar[60] < 0.002, "open, then closed: {} and {}", collar[9], collar[60]);
    assert!(cuff[78] < 0.002 && cuff[94] > 0.02, "closed, then open: {} and {}", cuff[78], cuff[94]);
}

#[test]
fn a_vehicle_breaks_off_the_branches_in_its_way_and_no_others() {
    let mut built = built("ploughed_branches");
    let broken =
        |s: &Simulation, of: &[usize]| of.iter().filter(|k| s.state().couplings()[**k].broken).count();
    let glue = |tree: usize, which: &str| {
        let (branch, trunk) = (format!("branch_{tree}{which}"), format!("trunk_{tree}"));
        between(&built.simulation, body(&built, &branch), body(&built, &trunk))
    };
    let (low, high): (Vec<_>, Vec<_>) = (1..=4).map(|t| (glue(t, "a"), glue(t, "b"))).unzip();
    let mut first = [0; 4];
    for frame in 1..=150 {
        built.simulation.step_by(&built.events).unwrap();
        for (first, of) in first.iter_mut().zip(&low) {
            if *first == 0 && broken(&built.simulation, of) > 0 {
                *first = frame;
            }
        }
    }
    println!("frames of the first breaks: {first:?}");
    let s = &built.simulation;
    // It drives by its wheels, on the ground and upright, and nothing of it comes loose.
    let chassis = s.placement(body(&built, "chassis")).unwrap();
    println!("it came to {} at {} of its speed", chassis.translation, s.statistics().momentum.x / 100.0);
    assert!(chassis.translation.x > 1.7 && chassis.translation.z.abs() < 0.2, "{}", chassis.translation);
    assert!(chassis.matrix3.y_axis.y > 0.99, "{}", chassis.matrix3);
    let vehicle = ["cab", "bumper", "front_left", "front_right", "back_left", "back_right"];
    let far = apart(s);
    for part in vehicle {
        let held = between(s, body(&built, "chassis"), body(&built, part));
        assert!(held.len() == 1 && far[held[0]] < 1e-6, "{part} is {} m off", far[held[0]]);
    }
    assert!(first[0] > 10 && first.windows(2).all(|w| w[0] < w[1]), "one tree after the other: {first:?}");
    for t in 0..4 {
        assert!(broken(s, &low[t]) >= low[t].len() - 1, "tree {}", t + 1);
        assert_eq!(broken(s, &high[t]), 0, "what is above the vehicle stays: tree {}", t + 1);
    }
    assert!(s.positions(body(&built, "branch_1a")).all(|p| p.is_finite() && p.y > -1e-9));
}

/// How the second body of a hinge is turned about its axis, seen from the first.
fn angle(s: &Simulation, coupling: usize) -> f64 {
    let (sides, memory) = (&s.model().couplings()[coupling].coupling.sides, &s.state().couplings()[coupling]);
    let axes = |k: usize| match &sides[k] {
        Attachment::Frame(frame) => memory.rotations[k] * frame.axes(),
        other => panic!("{other:?}"),
    };
    let turn = axes(0).transpose() * axes(1);
    turn.x_axis.y.atan2(turn.x_axis.x)
}

#[test]
fn a_puppet_waves_and_bends_its_knees_one_way() {
    let mut built = built("puppet");
    let hinges: Vec<usize> = (0..built.simulation.model().couplings().len())
        .filter(|k| built.simulation.model().couplings()[*k].coupling.limits.is_some())
        .collect();
    assert_eq!(hinges.len(), 8, "shoulders, elbows, hips and knees");
    let hands = ["forearm_left", "forearm_right"].map(|name| body(&built, name));
    let mut heights = [Vec::new(), Vec::new()];
    let (mut beyond, mut worst) = (0.0_f64, 0.0_f64);
    let mut reached = vec![[f64::MAX, f64::MIN]; hinges.len()];
    for frame in 1..=300 {
        built.simulation.step_by(&built.events).unwrap();
        let s = &built.simulation;
        worst = worst.max(apart(s).into_iter().fold(0.0, f64::max));
        for (hinge, reached) in hinges.iter().zip(&mut reached) {
            let [least, most] = s.model().couplings()[*hinge].coupling.limits.unwrap();
            let at = angle(s, *hinge);
            beyond = beyond.max(least - at).max(at - most);
            *reached = [reached[0].min(at), reached[1].max(at)];
        }
        for (k, hand) in hands.into_iter().enumerate() {
            heights[k].push(middle(s, hand).y);
        }
        let finite = (0..s.model().bodies().len()).all(|b| s.positions(b).all(|p| p.is_finite()));
        assert!(finite, "frame {frame}");
    }
    println!("{worst:.1e} m apart, {beyond:.1e} rad beyond limits, hinges reach {reached:.1?}");
    assert!(worst < 2e-5, "nothing tears: {worst} m apart");
    // A limit that is met in the middle of a step is passed by half a degree at most.
    assert!(beyond < 0.0087, "{beyond} rad beyond a limit");
    // Arms hang until a motor lifts them: the right one waves first, then the left. Up and down again is a wave.
    for (k, [rests, waves]) in [[100..150, 180..300], [15..30, 40..150]].into_iter().enumerate() {
        let waves = &heights[k][waves];
        let (low, high) = waves.iter().fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(*y), h.max(*y)));
        let turns = waves.windows(3).filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0).count();
        let resting = heights[k][rests].iter().fold(f64::MIN, |h, y| h.max(*y));
        println!(
            "hand {k}: rests below {resting:.2} m, waves from {low:.2} to {high:.2} m, turning {turns} times"
        );
        assert!(high > 1.4 && high > resting + 0.15 && turns >= 2, "hand {k}");
    }
}

#[test]
fn clothes_hang_by_pegs_on_a_line_that_sags() {
    let mut built = built("washing_line");
    let (line, towel) = (body(&built, "line"), body(&built, "towel"));
    let start = middle(&built.simulation, towel);
    for _ in 0..60 {
        built.simulation.step_by(&built.events).unwrap();
    }
    let s = &built.simulation;
    let at: Vec<DVec3> = s.positions(line).collect();
    let (ends, lowest) = ([at[0].y, at[60].y], at.iter().map(|p| p.y).fold(f64::MAX, f64::min));
    assert_eq!(ends, [1.68, 1.68], "its ends are held at the posts");
    assert!((0.04..0.3).contains(&(1.68 - lowest)), "the line sags by {}", 1.68 - lowest);
    // Nothing of the clothes is pinned: they hang on two joints of each peg, and its glue.
    let worst = apart(s).into_iter().fold(0.0, f64::max);
    assert!(s.model().couplings().len() == 18 && worst < 1e-6, "{worst} m apart");
    assert!(middle(s, towel).distance(start) < 0.6, "{}", middle(s, towel));
}
