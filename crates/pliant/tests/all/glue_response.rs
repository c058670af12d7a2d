//! What glue does to what it holds: masses bound to a body are felt as the paper says, and heavy ones are held in few iterations.

use crate::common::run;
use pliant::shapes::SolidShape;
use pliant::{
    Body, BodyFrame, Builder, Control, Coupling, DMat3, DVec3, Glue, Material, Points, Simulation,
    SolverKind, shapes,
};
use std::f64::consts::TAU;
use std::sync::{Arc, Mutex};

/// A block of eight particles.
fn block(solver: SolverKind) -> Body {
    let shape = shapes::tet_box([1, 1, 1], DVec3::new(0.12, 0.1, 0.08), shapes::TetStyle::Five).unwrap();
    let rubber = Material { young: 1e5, ..Material::named("rubber").unwrap() };
    let mut body = Body::new("block", shape).elastic(rubber).solved_by(solver);
    body.controls.damping = 0.0;
    body.controls.iterations = if solver == SolverKind::Newton { 12 } else { 60 };
    body
}

/// A ball of 0.8 kg, as heavy as three quarters of the block, whose middle is where it will be bound, off the block.
fn ball() -> Body {
    let mut ball = Body::rigid("ball", SolidShape::Ball { radius: 0.02 }.build_rigid().unwrap());
    ball.mass = MASS;
    ball.at(BOUND.x, BOUND.y, BOUND.z)
}

const MASS: f64 = 0.8;
const BOUND: DVec3 = DVec3::new(0.01, 0.09, 0.0);

/// What the ball is bound to.
#[derive(Clone, Copy, PartialEq)]
enum Parents {
    None,
    /// The corners above.
    Top,
    /// All corners, weighted by their masses: the frame then moves as the block does as a whole.
    All,
}

/// The midpoint rule, which keeps energy; and implicit Euler, after which nothing is done about energy.
const MIDPOINT: f64 = 0.5;
const EULER: f64 = 1.0;

/// The block, with the ball beside it, bound to it or not, in steps of so many seconds.
fn world(solver: SolverKind, parents: Parents, step: f64, implicitness: f64) -> Simulation {
    let mut builder = Builder::new().substeps(1).body(block(solver)).body(ball());
    (builder.gravity, builder.step) = (DVec3::ZERO, step);
    builder.implicit.implicitness = implicitness;
    let mut s = builder.build().unwrap();
    let at: Vec<DVec3> = s.positions(0).collect();
    let weight = |i: usize| match parents {
        Parents::None => 0.0,
        Parents::Top => f64::from(u8::from(at[i].y > 0.0)),
        Parents::All => s.model().bodies()[0].parts.rest().mass[i],
    };
    let chosen: Vec<(u32, f64)> = (0..8).map(|i| (i as u32, weight(i))).filter(|p| p.1 > 0.0).collect();
    if !chosen.is_empty() {
        let rest: Vec<DVec3> = chosen.iter().map(|p| at[p.0 as usize]).collect();
        let frame = BodyFrame::new(0, &chosen, &rest, (BOUND, DMat3::IDENTITY)).unwrap();
        let middle = s.point_of(1, BOUND).unwrap();
        s.couple(Coupling::joint(frame, middle)).unwrap();
    }
    s
}

type Matrix = Vec<Vec<f64>>;

fn place_at(s: &mut Simulation, x: &[f64]) {
    let mut state = s.state().clone();
    let mut to = state.bodies_mut()[0].positions_mut();
    x.chunks_exact(3).enumerate().for_each(|(i, p)| to.set(i, DVec3::from_slice(p)));
    s.set_state(state).unwrap();
}

/// The stiffness at rest, by differences of the energy.
#[allow(clippy::needless_range_loop)] // both triangles of the matrix at once
fn stiffness(rest: &[f64]) -> Matrix {
    let mut s = world(SolverKind::Newton, Parents::None, 1e-2, MIDPOINT);
    let (n, d) = (rest.len(), 1e-5);
    let mut energy = |moved: &[(usize, f64)]| {
        let mut x = rest.to_vec();
        moved.iter().for_each(|(i, by)| x[*i] += by);
        place_at(&mut s, &x);
        s.statistics().elastic
    };
    let mut second = |i: usize, j: usize| {
        let both = |a: f64, b: f64| [(i, a * d), (j, b * d)];
        let sum = energy(&both(1.0, 1.0)) - energy(&both(1.0, -1.0)) - energy(&both(-1.0, 1.0))
            + energy(&both(-1.0, -1.0));
        sum / (4.0 * d * d)
    };
    (0..n).map(|i| (0..n).map(|j| second(i.max(j), i.min(j))).collect()).collect()
}

/// How the bound point moves with the corners, by differences: three rows.
fn jacobian(rest: &[f64], parents: Parents) -> Matrix {
    let s = world(SolverKind::Newton, parents, 1e-2, MIDPOINT);
    let coupling = &s.model().couplings()[0].coupling;
    let pliant::Attachment::Frame(frame) = &coupling.sides[0] else { panic!("a frame") };
    let d = 1e-6;
    let bound = |k: usize, by: f64| {
        let at = |i: u32| {
            let i = i as usize;
            let p = DVec3::from_slice(&rest[3 * i..3 * i + 3]);
            if k / 3 == i { p + DVec3::AXES[k % 3] * by } else { p }
        };
        frame.fit(at, DMat3::IDENTITY).place(frame.at())
    };
    let columns: Vec<DVec3> = (0..rest.len()).map(|k| (bound(k, d) - bound(k, -d)) / (2.0 * d)).collect();
    (0..3).map(|axis| columns.iter().map(|c| c[axis]).collect()).collect()
}

/// Squares of the frequencies with their modes, A u = λ M u, ascending: Jacobi's method on L⁻¹ A L⁻ᵀ.
#[allow(clippy::needless_range_loop)] // columns of two matrices at once
fn modes(a: &Matrix, m: &Matrix) -> Vec<(f64, Vec<f64>)> {
    let n = a.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let sum = m[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
    }
    let forward = |b: &[f64]| {
        let mut y = b.to_vec();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| l[i][k] * y[k]).sum();
            y[i] = (y[i] - sum) / l[i][i];
        }
        y
    };
    let columns: Matrix = a.iter().map(|row| forward(row)).collect();
    let rows: Matrix = (0..n).map(|j| forward(&columns.iter().map(|c| c[j]).collect::<Vec<_>>())).collect();
    let mut b: Matrix = (0..n).map(|i| (0..n).map(|j| 0.5 * (rows[i][j] + rows[j][i])).collect()).collect();
    let mut v: Matrix = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                let angle = 0.5 * (2.0 * b[p][q]).atan2(b[q][q] - b[p][p]);
                let (s, c) = angle.sin_cos();
                for row in &mut b {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..n {
                    (b[p][k], b[q][k]) = (c * b[p][k] - s * b[q][k], s * b[p][k] + c * b[q][k]);
                    (v[k][p], v[k][q]) = (c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]);
                }
            }
        }
    }
    let mut found: Vec<(f64, Vec<f64>)> = (0..n)
        .map(|k| {
            // u = L⁻ᵀ v.
            let mut u: Vec<f64> = (0..n).map(|i| v[i][k]).collect();
            for i in (0..n).rev() {
                let sum: f64 = (i + 1..n).map(|j| l[j][i] * u[j]).sum();
                u[i] = (u[i] - sum) / l[i][i];
            }
            (b[k][k], u)
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

fn product(m: &Matrix, u: &[f64]) -> Vec<f64> {
    m.iter().map(|row| row.iter().zip(u).map(|(a, b)| a * b).sum()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn flat(points: &Points) -> Vec<f64> {
    points.iter().flat_map(|p| p.to_array()).collect()
}

/// Lets the world swing in a mode, and tells how far along it it is after each step.
fn swing(
    (solver, parents, speed, implicitness): (SolverKind, Parents, f64, f64),
    mode: &[f64],
    (with, j): (&Matrix, &Matrix),
    step: f64,
    steps: usize,
) -> Vec<f64> {
    let mut s = world(solver, parents, step, implicitness);
    let rest = flat(s.state().bodies()[0].positions());
    let largest = mode.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let speed = speed / largest;
    let mut state = s.state().clone();
    let mut v = state.bodies_mut()[0].velocities_mut();
    mode.chunks_exact(3).enumerate().for_each(|(i, u)| v.set(i, DVec3::from_slice(u) * speed));
    if parents != Parents::None {
        let bound = DVec3::from_slice(&product(j, mode)) * speed;
        let mut v = state.bodies_mut()[1].velocities_mut();
        (0..4).for_each(|i| v.set(i, bound));
    }
    s.set_state(state).unwrap();
    let weighted = product(with, mode);
    let along = |s: &Simulation| {
        let x = flat(s.state().bodies()[0].positions());
        dot(&x.iter().zip(&rest).map(|(a, b)| a - b).collect::<Vec<_>>(), &weighted) / speed
    };
    (0..steps)
        .map(|_| {
            s.step().unwrap();
            along(&s)
        })
        .collect()
}

/// The part of a swing that turns around with its beginning: what is of second order in how far it goes drops out.
fn odd_swing(parents: Parents, mode: &[f64], of: (&Matrix, &Matrix), step: f64, steps: usize) -> Vec<f64> {
    let [forth, back] =
        [1e-3, -1e-3].map(|speed| swing((SolverKind::Newton, parents, speed, EULER), mode, of, step, steps));
    forth.iter().zip(&back).map(|(a, b)| a.midpoint(*b)).collect()
}

/// The angular frequency of what passes through zero.
fn frequency(values: &[f64], step: f64) -> f64 {
    let crossing = |w: &[f64]| (w[0] < 0.0 && w[1] >= 0.0).then(|| w[0] / (w[0] - w[1]));
    let times: Vec<f64> =
        values.windows(2).enumerate().filter_map(|(k, w)| Some((k as f64 + crossing(w)?) * step)).collect();
    assert!(times.len() > 4, "{} passages", times.len());
    TAU * (times.len() - 1) as f64 / (times[times.len() - 1] - times[0])
}

/// A block with a bound mass swings as (K, M + Jᵀ M_b J) says; in modes that do not move the bound point, as without it.
#[test]
fn a_bound_mass_is_felt_as_its_jacobian_says() {
    let s = world(SolverKind::Newton, Parents::None, 1e-2, MIDPOINT);
    let rest = flat(s.state().bodies()[0].positions());
    let n = rest.len();
    let (k, j) = (stiffness(&rest), jacobian(&rest, Parents::Top));
    let own = &s.model().bodies()[0].parts.rest().mass;
    let mass = |i: usize, l: usize| if i == l { own[i / 3] } else { 0.0 };
    let bare: Matrix = (0..n).map(|i| (0..n).map(|l| mass(i, l)).collect()).collect();
    let bound = |i: usize, l: usize| MASS * (0..3).map(|a| j[a][i] * j[a][l]).sum::<f64>();
    let heavy: Matrix = (0..n).map(|i| (0..n).map(|l| mass(i, l) + bound(i, l)).collect()).collect();
    let (with, without) = (modes(&k, &heavy), modes(&k, &bare));
    // Six that are rigid come first.
    let mut felt = 0.0_f64;
    for ((square, u), (bare, _)) in with.iter().zip(&without).skip(6).take(5) {
        let wanted = square.sqrt();
        felt = felt.max(1.0 - wanted / bare.sqrt());
        // Midpoint steps are slower by (ω h)²/12.
        let step = 0.15 / wanted;
        for solver in [SolverKind::Newton, SolverKind::Projective] {
            let values = swing((solver, Parents::Top, 1e-4, MIDPOINT), u, (&heavy, &j), step, 400);
            let found = frequency(&values, step);
            println!("{solver:?}: {:.3} of {:.3} Hz", found / TAU, wanted / TAU);
            assert!((found / wanted - 1.0).abs() < 0.01, "{solver:?}: {found} instead of {wanted} rad/s");
        }
    }
    assert!(felt > 0.05, "the mass changes some frequency, or nothing was tested: {felt}");
    let j = jacobian(&rest, Parents::All);
    for (_, u) in without.iter().skip(6) {
        let largest = u.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let moved = product(&j, u).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(moved < 1e-6 * largest, "{moved} of {largest}");
        let [glued, free] = [Parents::All, Parents::None].map(|p| odd_swing(p, u, (&bare, &j), 2e-3, 60));
        let far = glued.iter().zip(&free).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let size = free.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        println!("{:.1e} apart", far / size);
        assert!(far < 1e-6 * size, "{far} of {size}");
    }
}

/// A twig of tetrahedra that is held at one end, and perhaps an ornament of so many times its mass glued on by its other. The
/// stiffer the heavier: all sag alike.
fn twig(solver: SolverKind, ratio: f64, glued: bool) -> Simulation {
    twig_as_stiff((solver, if glued { ratio } else { 0.0 }), ratio, glued)
}

/// The same, as stiff as one with an ornament of `for_ratio` is to be.
fn twig_as_stiff((solver, for_ratio): (SolverKind, f64), ratio: f64, glued: bool) -> Simulation {
    let size = DVec3::new(0.3, 0.03, 0.03);
    let shape = shapes::tet_box([10, 1, 1], size, shapes::TetStyle::Five).unwrap();
    let held: Vec<u32> =
        (0..shape.points.len() as u32).filter(|i| shape.points[*i as usize].x < -0.149).collect();
    let rubber = Material::named("rubber").unwrap();
    let own = rubber.density * size.element_product();
    // A cantilever sags by w l⁴/8 of its own weight and by F l³/3 of a load: 3/8 of it counts.
    let young = 4e6 * (1.0 + for_ratio * 8.0 / 3.0);
    let mut body = Body::new("twig", shape).elastic(Material { young, ..rubber }).solved_by(solver).pin(held);
    body.controls.iterations = 50;
    let mut ornament = Body::rigid("ornament", SolidShape::Ball { radius: 0.02 }.build_rigid().unwrap());
    ornament.mass = own * ratio;
    let ornament = ornament.at(0.15, -0.03, 0.0);
    let mut builder = Builder::new().substeps(1).body(body);
    if glued {
        builder = builder.body(ornament);
    }
    builder.implicit.tolerance = 0.0;
    let mut s = builder.build().unwrap();
    if glued {
        let couplings = s.find_glue(1, 0, &Glue::default()).unwrap().couplings;
        couplings.into_iter().for_each(|c| assert!(s.couple(c).is_ok()));
    }
    s
}

/// How many iterations bring a step within 1e-4 of the first position error, that of where inertia alone leads, against the converged
/// step. Glue asks for more than are wanted while it is not settled, so what is counted is what was done.
fn iterations_needed(ratio: f64, glued: bool) -> u32 {
    // In the middle of a swing, not where nothing has bent yet.
    let mut swung = twig(SolverKind::Newton, ratio, glued);
    swung.set(Control::Gravity, DVec3::new(0.0, -9.81, 4.0)).unwrap();
    run(&mut swung, 12);
    let state = swung.state().clone();
    let mut after = |iterations: u32| {
        swung.set_state(state.clone()).unwrap();
        swung.set(Control::Iterations(0.into()), f64::from(iterations)).unwrap();
        let done = swung.step().unwrap().iterations;
        (done, swung.positions(0).collect::<Vec<DVec3>>())
    };
    let (_, converged) = after(100);
    let error = |x: &mut dyn Iterator<Item = DVec3>| {
        x.zip(&converged).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    };
    let h = 1.0 / 60.0;
    let body = &state.bodies()[0];
    let moved = body.positions().iter().zip(body.velocities().iter()).zip(&converged);
    // What is held stays.
    let predicted =
        moved.map(
            |((x, v), to)| {
                if x.distance(*to) > 0.0 { x + (v + DVec3::new(0.0, -9.81, 4.0) * h) * h } else { x }
            },
        );
    let first = error(&mut predicted.collect::<Vec<_>>().into_iter());
    for wanted in 1..50 {
        let (done, x) = after(wanted);
        let left = error(&mut x.into_iter()) / first;
        println!("mass ratio {ratio}: {left:.1e} after {done}");
        if left <= 1e-4 {
            return done;
        }
    }
    panic!("mass ratio {ratio}: no end");
}

/// The paper's ornaments: the heavier, the stiffer the twig, and still about as many iterations.
#[test]
fn heavy_ornaments_take_few_more_iterations() {
    let bare = iterations_needed(0.0, false);
    let needed = [1.0, 10.0, 100.0, 1000.0].map(|ratio| iterations_needed(ratio, true));
    println!("iterations without glue {bare}, with 1:1, 10:1, 100:1, 1000:1 {needed:?}");
    assert!(needed[3] <= 4 * needed[0], "{needed:?} beside {bare}");
}

/// How many iterations of projective dynamics make the step a tenth as long: what an error takes to become a tenth. They are looked at
/// one by one, so that rounds which glue adds hide none. A twig without glue is as stiff as the one with it.
fn rounds_for_a_tenth(ratio: f64, glued: bool) -> f64 {
    const MOST: u32 = 8000;
    let mut s = twig_as_stiff((SolverKind::Projective, ratio), ratio, glued);
    s.set(Control::Gravity, DVec3::new(0.0, -9.81, 4.0)).unwrap();
    s.set(Control::Iterations(0.into()), 400.0).unwrap();
    run(&mut s, 12);
    s.set(Control::Iterations(0.into()), f64::from(MOST)).unwrap();
    let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
    let sink = seen.clone();
    s.observe_iterations(0, Box::new(move |_, q| sink.lock().unwrap().push(q.clone())));
    s.step().unwrap();
    let list = std::mem::take(&mut *seen.lock().unwrap());
    let step = |w: &[Points]| w[0].iter().zip(w[1].iter()).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
    let steps: Vec<f64> = list.windows(2).map(step).collect();
    // Before rounding is all there is to a step, and when the slowest of all errors is what is left.
    let last = steps.iter().rposition(|s| *s > 1e-9 * steps[0]).unwrap();
    let middle = last / 2;
    let rounds = (last - middle) as f64 / (steps[middle] / steps[last]).log10();
    println!(
        "mass ratio {ratio}, glued {glued}: {rounds:.0} rounds for a tenth, by steps {middle} to {last}"
    );
    rounds
}

/// Heavy ornaments on stiff twigs take projective dynamics about as many iterations as light ones, and fewer than the twigs take alone.
/// Alone or not these are thousands: it is not made for stiff twigs of a cell's thickness.
#[test]
fn heavy_ornaments_take_projective_twigs_no_more_rounds() {
    let needed = [1.0, 10.0, 100.0, 1000.0].map(|ratio| {
        let [glued, alone] = [true, false].map(|glued| rounds_for_a_tenth(ratio, glued));
        assert!(glued <= 1.1 * alone, "mass ratio {ratio}: {glued} rounds beside {alone}");
        glued
    });
    assert!(needed[3] <= 4.0 * needed[0], "{needed:?}");
}

/// A cloth that is held along an edge, and a rigid button bound 12 mm above it by a soft spring.
fn soft_button(solver: SolverKind, stiffness: f64) -> Simulation {
    let sheet = shapes::sheet(0.3, 0.3, 8, 8).unwrap();
    let held: Vec<u32> =
        (0..sheet.points.len() as u32).filter(|i| sheet.points[*i as usize].z < -0.149).collect();
    let cloth = Body::new("cloth", sheet).elastic(Material::named("cotton").unwrap()).solved_by(solver);
    let size = DVec3::new(0.03, 0.004, 0.03);
    let mut button = Body::rigid("button", SolidShape::Cuboid { size }.build_rigid().unwrap());
    button.mass = 2e-3;
    let mut s = Builder::new().body(cloth.pin(held)).body(button.at(0.0, OFF, 0.02)).build().unwrap();
    let mut glue = Glue::default();
    (glue.stiffness, glue.damping) = (Some(stiffness), 0.02);
    let couplings = s.find_glue(1, 0, &glue).unwrap().couplings;
    couplings.into_iter().for_each(|c| assert!(s.couple(c).is_ok()));
    s
}

/// How far the button is from the cloth.
const OFF: f64 = 0.012;

/// The triangles of the cloth all of whose corners carry the button.
fn carrying(s: &Simulation) -> Vec<[u32; 3]> {
    let pliant::Attachment::Frame(frame) = &s.model().couplings()[0].coupling.sides[0] else { panic!() };
    let faces = &s.model().bodies()[0].parts.topology().faces;
    let parents = |f: &&[u32; 3]| f.iter().all(|i| frame.parents().contains(i));
    let found: Vec<[u32; 3]> = faces.iter().filter(parents).copied().collect();
    assert!(found.len() > 1, "{} triangles of {:?}", found.len(), frame.parents());
    found
}

/// Where the button is and where the corners of the triangles are.
fn corners(s: &Simulation, triangles: &[[u32; 3]]) -> (DVec3, Vec<[DVec3; 3]>) {
    let x = s.state().bodies()[0].positions();
    (s.placement(1).unwrap().translation, triangles.iter().map(|t| t.map(|i| x.get(i as usize))).collect())
}

/// How far a place is above a triangle, and whether it is over it at all.
fn above(p: DVec3, [a, b, c]: [DVec3; 3]) -> (f64, bool) {
    let normal = (b - a).cross(c - a);
    let inside = |u: DVec3, v: DVec3| (v - u).cross(p - u).dot(normal) >= 0.0;
    (normal.normalize().dot(p - a), inside(a, b) && inside(b, c) && inside(c, a))
}

/// Shaken by the edge it hangs by, a button on a soft spring comes half of its way to the cloth and more, and is never behind a triangle that
/// carries it, nor goes through one.
#[test]
fn a_soft_button_stays_on_its_side_when_shaken() {
    for solver in [SolverKind::Projective, SolverKind::Newton, SolverKind::Xpbd] {
        let mut s = soft_button(solver, 40.0);
        let triangles = carrying(&s);
        let (p, at) = corners(&s, &triangles);
        // As the cells lie.
        let up = above(p, at[0]).0.signum();
        assert!(at.iter().all(|t| (up * above(p, *t).0 - OFF).abs() < 1e-9));
        let mut rng = pliant_geometry::SplitMix64::new(7);
        let (mut least, mut most, mut through, mut over) = (f64::INFINITY, 0.0_f64, 0, 0);
        let mut before = (p, at);
        for _ in 0..240 {
            let shake = DVec3::new(rng.unit() - 0.5, rng.unit() - 0.5, rng.unit() - 0.5) * SHAKE;
            s.controls_mut().place_pins(0, 0, Some(pliant::DAffine3::from_translation(shake))).unwrap();
            s.step().unwrap();
            let (c, memory) = (&s.model().couplings()[0].coupling, &s.state().couplings()[0]);
            let [a, b] = [0, 1].map(|k| c.sides[k].place(s.state(), memory.rotations[k]).unwrap());
            most = most.max(a.distance(b));
            let now = corners(&s, &triangles);
            for (was, is) in before.1.iter().zip(&now.1) {
                let ((h0, _), (h1, inside)) = (above(before.0, *was), above(now.0, *is));
                if inside {
                    least = least.min(up * h1);
                    over += 1;
                }
                if h0 * h1 < 0.0 {
                    // Where it is in its plane on the way.
                    let t = h0 / (h0 - h1);
                    let there = [0, 1, 2].map(|k| was[k].lerp(is[k], t));
                    through += usize::from(above(before.0.lerp(now.0, t), there).1);
                }
            }
            before = now;
        }
        println!(
            "{solver:?}: deflected by {most:.4} m of {OFF}, {over} times over a triangle, by {least:.4} m at least"
        );
        assert!(most > 0.5 * OFF && over > 200, "{solver:?}: {most} m, {over} times: this shakes nothing");
        assert!(least > 0.0 && through == 0, "{solver:?}: {least} m, {through} times through a triangle");
    }
}

/// Where the edge is led, m, anew in every step: up to so far from where it was, by more than a metre a second.
const SHAKE: f64 = 0.023;
