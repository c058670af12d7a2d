//! Couplings that close, open, stiffen and are keyed: what that puts in is bounded and told, and no history gets lost.

use crate::common::*;
use pliant::shapes::SolidShape;
use pliant::{
    Body, BodyFrame, BodyPoint, Builder, Checkpoint, Control, Coupling, CouplingId, CouplingKind, DMat3,
    DVec3, Ease, Key, Simulation, SolverKind, Timeline, Track, shapes,
};

const GLUE: f64 = f64::INFINITY;

/// Two balls of 1 kg and 20 cm, this far apart, without gravity.
fn balls(apart: f64) -> Builder {
    let ball = |name: &str, x: f64| {
        let mut ball = Body::rigid(name, SolidShape::Ball { radius: 0.1 }.build_rigid().unwrap());
        ball.mass = 1.0;
        ball.at(x, 0.0, 0.0)
    };
    let mut builder = Builder::new().body(ball("a", 0.0)).body(ball("b", apart));
    builder.gravity = DVec3::ZERO;
    builder
}

/// Ties the middles of two solids by a spring that is open at first.
fn tied(apart: f64, stiffness: Option<f64>, damping: f64) -> (Simulation, CouplingId) {
    let mut s = balls(apart).build().unwrap();
    let middle = |s: &Simulation, k: usize| s.point_of(k, DVec3::X * (apart * k as f64)).unwrap();
    let (a, b) = (middle(&s, 0), middle(&s, 1));
    let mut coupling = Coupling::joint(a, b);
    (coupling.stiffness, coupling.damping) = (stiffness, damping);
    // There from the start, as scenes have them.
    s = balls(apart).coupling(coupling).build().unwrap();
    (s, CouplingId::from(0))
}

fn way(s: &Simulation) -> f64 {
    let at = |k: usize| s.placement(k).unwrap().translation;
    (at(1) - at(0)).length()
}

fn energy(s: &Simulation) -> f64 {
    let all = s.statistics();
    all.kinetic + all.elastic
}

/// What closes while it runs draws its points together at a pace, whatever its stiffness; no energy comes from anywhere else.
#[test]
fn what_closes_puts_in_what_it_tells_and_little() {
    for closed in [GLUE, 1e6, 2e3, 50.0] {
        let (mut s, glue) = tied(0.5, None, 0.0);
        s.set(Control::CouplingStiffness(glue), 0.0).unwrap();
        run(&mut s, 10);
        assert!((way(&s) - 0.5).abs() < 1e-12 && energy(&s) < 1e-20, "open glue holds nothing");
        s.set(Control::CouplingStiffness(glue), closed).unwrap();
        let (mut put_in, mut fastest) = (0.0, 0.0_f64);
        for k in 0..400 {
            let before = way(&s);
            put_in += s.step().unwrap().coupling_energy;
            fastest = fastest.max((before - way(&s)).abs() * 60.0);
            let all = energy(&s);
            assert!(all <= put_in * 1.001 + 1e-9, "{closed} N/m, step {k}: {all} J of {put_in}");
        }
        // A size a second: each ball moves at half of 0.2 m/s.
        if closed >= 2e3 {
            assert!(way(&s) < 0.01, "{closed} N/m: still {} apart", way(&s));
            assert!(put_in < 0.1, "{closed} N/m: {put_in} J");
            assert!(fastest < 0.45, "{closed} N/m: {fastest} m/s");
        }
        assert!(s.statistics().momentum.length() < 1e-12);
    }
}

#[test]
fn a_spring_made_stiffer_puts_in_its_part_exactly() {
    let (mut s, glue) = tied(0.5, Some(10.0), 0.0);
    assert!((s.statistics().elastic - 0.5 * 10.0 * 0.25).abs() < 1e-12);
    s.set(Control::CouplingStiffness(glue), 40.0).unwrap();
    let put_in = s.step().unwrap().coupling_energy;
    assert!((put_in - 0.5 * 30.0 * 0.25).abs() < 1e-12, "{put_in}");
    run(&mut s, 3);
    let before = energy(&s);
    let elastic = s.statistics().elastic;
    s.set(Control::CouplingStiffness(glue), 0.0).unwrap();
    let put_in = s.step().unwrap().coupling_energy;
    assert!((put_in + elastic).abs() < 1e-12, "what is let go takes its energy along: {put_in}, {elastic}");
    assert!((energy(&s) - before - put_in).abs() < 1e-9);
    // And a spring that holds on changes nothing.
    let (mut s, _) = tied(0.5, Some(10.0), 0.0);
    assert_eq!(s.step().unwrap().coupling_energy, 0.0);
}

#[test]
fn glue_that_comes_by_an_edit_draws_together_at_the_same_pace() {
    for stiffness in [None, Some(1e6)] {
        let mut s = balls(0.5).build().unwrap();
        let at = |s: &Simulation, k: usize| s.point_of(k, DVec3::X * (0.5 * k as f64)).unwrap();
        let mut coupling = Coupling::joint(at(&s, 0), at(&s, 1));
        coupling.stiffness = stiffness;
        s.couple(coupling).unwrap();
        let mut put_in = 0.0;
        for _ in 0..200 {
            put_in += s.step().unwrap().coupling_energy;
            assert!(energy(&s) <= put_in * 1.001 + 1e-9);
        }
        assert!(way(&s) < 0.01 && put_in < 0.1, "{stiffness:?}: {} apart by {put_in} J", way(&s));
    }
}

/// Two soft cubes of whichever solver, one above the other, glued at four corners.
fn cubes(solvers: [SolverKind; 2]) -> Simulation {
    let cube = |name: &str, solver: SolverKind, y: f64| {
        let shape = shapes::tet_box([2, 2, 2], DVec3::splat(0.1), shapes::TetStyle::Five).unwrap();
        let mut body = match solver {
            SolverKind::Clustered => Body::new(name, shape),
            _ => {
                let rubber = pliant::Material::named("rubber").unwrap();
                Body::new(name, shape).elastic(rubber).solved_by(solver)
            }
        };
        if solver == SolverKind::Clustered {
            body.clusters = pliant::Clustering::Count(1);
        }
        body.mass(0.5).at(0.0, y, 0.0)
    };
    let world = || {
        let mut cubes = Builder::new().body(cube("a", solvers[0], 0.0)).body(cube("b", solvers[1], 0.12));
        cubes.gravity = DVec3::ZERO;
        cubes
    };
    let s = world().build().unwrap();
    let mut builder = world();
    for (x, z) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
        let near = |k: usize, y: f64| {
            let to = DVec3::new(0.05 * x, y, 0.05 * z);
            let far = |p: DVec3| (p - to).length_squared();
            let of = s.positions(k).enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1)));
            BodyPoint::particle(k, of.unwrap().0 as u32)
        };
        builder = builder.coupling(Coupling::joint(near(0, 0.05), near(1, 0.07)));
    }
    builder.build().unwrap()
}

/// The farthest way between two points that are tied.
fn farthest(s: &Simulation) -> f64 {
    let couplings = s.model().couplings().iter();
    let ways = couplings.map(|c| {
        let [a, b] = [0, 1].map(|k| c.coupling.sides[k].place(s.state(), pliant::DMat3::IDENTITY).unwrap());
        a.distance(b)
    });
    ways.fold(0.0, f64::max)
}

/// Opening and closing again and again, in whichever solvers, adds no more than is told; what is closed meets, what is open does not stay.
#[test]
fn any_two_solvers_may_be_opened_and_closed() {
    for a in SolverKind::SOFT {
        for b in SolverKind::SOFT.into_iter().filter(|b| *b as usize >= a as usize) {
            let mut s = cubes([a, b]);
            let (mut put_in, mut met) = (0.0, Vec::new());
            for k in 0..160 {
                let stiffness = [0.0, 300.0, GLUE, 2e4][k / 20 % 4];
                for glue in 0..4 {
                    s.set(Control::CouplingStiffness(CouplingId::from(glue)), stiffness).unwrap();
                }
                put_in += s.step().unwrap().coupling_energy;
                let all = energy(&s);
                assert!(all <= put_in * (1.0 + 1e-9) + 1e-12, "{a:?} {b:?}, step {k}: {all} J of {put_in}");
                if k % 20 == 19 {
                    met.push(farthest(&s));
                }
            }
            let momentum = s.statistics().momentum.length();
            assert!(momentum < 1e-10, "{a:?} {b:?}: {momentum}");
            // At the ends of the phases: open, soft, glued, stiff, and all that again.
            assert!((met[0] - 0.02).abs() < 1e-9, "{a:?} {b:?}: open glue holds nothing: {met:?}");
            for (k, most) in [(1, 2e-3), (2, 1e-12), (3, 5e-5), (5, 1e-3), (6, 1e-12), (7, 1e-5)] {
                assert!(met[k] < most, "{a:?} {b:?}: points are {} m apart in phase {k}: {met:?}", met[k]);
            }
        }
    }
}

/// A button that closes and a cuff that opens, by keys.
fn keyed(threads: usize) -> Simulation {
    let (s, glue) = tied(0.3, None, 0.0);
    let mut builder = balls(0.3).coupling(s.model().couplings()[0].coupling.clone());
    builder.threads = threads;
    let key = |t: f64, v: f64| Key::new(t, v).ease(Ease::Stepped);
    let keys = [key(0.0, 0.0), key(0.1, 500.0), key(0.3, GLUE), key(0.5, 0.0)];
    builder.keyframes.tracks.push(Track::new(Control::CouplingStiffness(glue), keys));
    builder.build().unwrap()
}

#[test]
fn keys_do_what_hands_do_and_nothing_is_forgotten() {
    let mut keys = keyed(1);
    let mut hands = tied(0.3, None, 0.0).0;
    let glue = CouplingId::from(0);
    for k in 0..40 {
        let stiffness = match k {
            0..6 => 0.0,
            6..18 => 500.0,
            18..30 => GLUE,
            _ => 0.0,
        };
        hands.set(Control::CouplingStiffness(glue), stiffness).unwrap();
        let reports = (keys.step().unwrap(), hands.step().unwrap());
        assert_eq!(reports.0.coupling_energy.to_bits(), reports.1.coupling_energy.to_bits(), "step {k}");
        assert_eq!(bits(&keys), bits(&hands), "step {k}");
    }
    let refused = keys.set(Control::CouplingStiffness(glue), 1.0).unwrap_err().to_string();
    assert!(refused.contains("keyframed"), "{refused}");
    // Two threads, caches dropped, a checkpoint in the middle of closing, a timeline.
    let wanted = bits(&keys);
    let mut other = keyed(2);
    for k in 0..40 {
        if k % 7 == 3 {
            other.drop_caches();
        }
        if k == 12 {
            let bytes = other.checkpoint();
            let read = Checkpoint::decode(&bytes, other.model()).unwrap();
            assert!(read.state.couplings()[0].rest > 0.0, "in the middle of closing");
            other = keyed(1);
            other.restore(&bytes).unwrap();
        }
        other.step().unwrap();
    }
    assert_eq!(bits(&other), wanted);
    let mut timeline = Timeline::new(keyed(1));
    timeline.frame(35).unwrap();
    timeline.frame(10).unwrap();
    assert_eq!(state_bits(timeline.frame(40).unwrap()), wanted);
}

/// A coupling that goes takes its keys along; one that is open leaves its bodies the bits they have alone.
#[test]
fn open_couplings_and_those_that_go_leave_nothing() {
    let mut s = keyed(1);
    run(&mut s, 3);
    s.uncouple(CouplingId::from(0)).unwrap();
    assert!(s.model().params().keyframes.tracks.is_empty());
    run(&mut s, 3);
    let (mut open, glue) = tied(0.3, None, 0.0);
    open.set(Control::CouplingStiffness(glue), 0.0).unwrap();
    let mut alone = balls(0.3).build().unwrap();
    run(&mut open, 5);
    run(&mut alone, 5);
    assert_eq!(bits(&open), bits(&alone));
}

/// Glue that broke, or was opened, keeps nobody from touching: what it held meets like any other bodies, and gains nothing by it.
#[test]
fn what_came_apart_touches() {
    let all = [(0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25)];
    for broken in [true, false] {
        let (s, glue) = tied(0.3, None, 0.0);
        let mut coupling = s.model().couplings()[0].coupling.clone();
        coupling.break_force = if broken { 1.0 } else { f64::INFINITY };
        let mut s = balls(0.3).body_contact().coupling(coupling).build().unwrap();
        run(&mut s, 5);
        if broken {
            s.push(1, &all, DVec3::X * 0.5).unwrap();
        } else {
            s.set(Control::CouplingStiffness(glue), 0.0).unwrap();
        }
        run(&mut s, 5);
        assert_eq!(s.state().couplings()[0].broken, broken);
        // Against each other, faster than either can go through the other unseen.
        s.push(1, &all, DVec3::X * -3.0).unwrap();
        let (before, mut nearest) = (energy(&s), f64::INFINITY);
        for k in 0..120 {
            s.step().unwrap();
            nearest = nearest.min(way(&s));
            assert!(energy(&s) <= before * (1.0 + 1e-6), "step {k}: {} J of {before}", energy(&s));
        }
        let at = |k: usize| s.placement(k).unwrap().translation.x;
        assert!(at(0) < at(1), "{} passed through {}", at(1), at(0));
        assert!(nearest > 0.199 && nearest < 0.21, "they met at a distance of {nearest}");
    }
}

/// The springs of a weld and a hinge are those of all their rows: what turning has put into them is told, and what a change of their
/// stiffness puts in is what there is more of it.
#[test]
fn a_turned_weld_tells_the_energy_of_all_its_springs() {
    let angle = 0.3_f64;
    for (kind, turn) in [
        (CouplingKind::Weld, DMat3::from_rotation_z(angle)),
        (CouplingKind::Weld, DMat3::from_rotation_x(angle)),
        (CouplingKind::Hinge, DMat3::from_rotation_x(angle)),
    ] {
        let s = balls(0.5).build().unwrap();
        let frame = |k: usize, axes: DMat3| {
            let rest: Vec<DVec3> = s.positions(k).collect();
            let parents = [0, 1, 2, 3].map(|i| (i, 1.0));
            BodyFrame::new(k, &parents, &rest, (DVec3::X * 0.25, axes)).unwrap()
        };
        let (a, b) = (frame(0, DMat3::IDENTITY), frame(1, turn));
        let reach = a.cloud().size().max(b.cloud().size());
        let mut coupling = Coupling::weld(a, b);
        (coupling.kind, coupling.stiffness) = (kind, Some(10.0));
        let mut s = balls(0.5).coupling(coupling).build().unwrap();
        let wanted = 0.5 * 10.0 * (reach * angle.sin()).powi(2);
        let told = s.statistics().elastic;
        assert!((told - wanted).abs() < 1e-12 * wanted, "{kind:?}: {told} J instead of {wanted}");
        s.set(Control::CouplingStiffness(0.into()), 40.0).unwrap();
        let before = energy(&s);
        let put_in = s.step().unwrap().coupling_energy;
        assert!((put_in - 3.0 * wanted).abs() < 1e-9 * wanted, "{kind:?}: {put_in} J put in of {wanted}");
        let (mut most, mut moved) = (0.0_f64, 0.0_f64);
        for _ in 0..100 {
            s.step().unwrap();
            (most, moved) = (most.max(energy(&s)), moved.max(s.statistics().kinetic));
        }
        assert!(most <= (before + put_in) * 1.001, "{kind:?}: {most} J of {}", before + put_in);
        assert!(moved > 0.5 * wanted, "{kind:?}: it swings by {moved} J");
        let elastic = s.statistics().elastic;
        s.set(Control::CouplingStiffness(0.into()), 0.0).unwrap();
        let let_go = s.step().unwrap().coupling_energy;
        assert!((let_go + elastic).abs() < 1e-12, "{kind:?}: {let_go} J let go of {elastic}");
    }
}
