//! Made-up data for the claims of the projective-dynamics paper's figures: good, and sabotaged.

use super::sabotage::{Series, at, series};

/// One line at given values, abscissae 1, 2, 3, …
fn values(panel: usize, name: &'static str, values: &[f64]) -> Series {
    vec![(panel, name, values.iter().enumerate().map(|(k, v)| (k as f64 + 1.0, *v)).collect())]
}

/// The same values on lines of several names, each a line of one point more than it needs.
fn each(panel: usize, lines: &[(&'static str, f64)]) -> Series {
    lines.iter().map(|(name, v)| (panel, *name, at(&[(0.0, 0.0), (1.0, *v)]))).collect()
}

/// Two errors that fall from 1 to 1e-12 in so many units of the abscissa.
fn race(panel: usize, projective: f64, newton: f64) -> Series {
    let falls =
        |end: f64| (0..=24).map(|k| (end * f64::from(k) / 20.0, 10f64.powf(-0.5 * f64::from(k)))).collect();
    vec![(panel, "projective", falls(projective)), (panel, "Newton", falls(newton))]
}

/// Times of two things, run by run.
fn times(panel: usize, over: (&'static str, &[f64]), under: (&'static str, &[f64])) -> Series {
    [values(panel, over.0, over.1), values(panel, under.0, under.1)].concat()
}

/// Names and panel of the ratio of a claim about time, a ratio that it accepts, and some that it does not.
fn timed(id: &str) -> Option<(usize, &'static str, &'static str, f64, &'static [f64])> {
    let (pd, newton) = ("projective", "Newton");
    let glued = super::sabotage_glue::timed(id);
    if glued.is_some() {
        return glued;
    }
    Some(match id.strip_prefix("projective-dynamics/")? {
        "faster-than-newton-in-time" => (4, pd, newton, 0.5, &[3.0, f64::NAN]),
        "thirty-for-one" => (5, newton, pd, 30.0, &[2.0, 300.0]),
        "fraction-of-newtons-cost" => (6, "10 iterations", "Newton's method", 0.08, &[0.8, 2.0]),
        "cost-goes-by-iterations" => (6, "20 iterations", "10 iterations", 2.0, &[1.0, 4.0]),
        _ => return None,
    })
}

/// Runs of one ratio, give or take a percent.
fn steady(panel: usize, over: &'static str, under: &'static str, ratio: f64) -> Series {
    times(panel, (over, &[ratio, 1.01 * ratio, 0.99 * ratio]), (under, &[1.0; 3]))
}

/// Times with which a claim about time must not be judged; nothing for other claims.
pub fn scattered(id: &str) -> Vec<Series> {
    let Some((panel, over, under, good, bad)) = timed(id) else { return Vec::new() };
    vec![
        times(panel, (over, &[good, good, bad[0]]), (under, &[1.0; 3])),
        times(panel, (over, &[good]), (under, &[1.0])),
    ]
    .into_iter()
    .filter(|lines| lines.iter().all(|l| l.2.iter().all(|p| p.1.is_finite())))
    .collect()
}

/// Changes of volume of the stretched and the pressed cube, with little and much of volume.
fn cubes(soft: f64, stiff: f64) -> Series {
    let line = |sign: f64| at(&[soft, 0.1, 0.05, 0.03, stiff].map(|v| (1.0, 1.0 + sign * v)));
    vec![(0, "stretched by 50 %", line(1.0)), (0, "pressed by 40 %", line(-1.0))]
}

/// Iterations to an error of 1e-3: with positions, the mean, one corner.
fn choices(identity: f64, mean: f64, vertex: f64) -> Series {
    let names = ["positions themselves", "minus the mean of the corners", "minus one corner"];
    let falls = |end: f64| at(&[(1.0, 1.0), (end, 1e-4)]);
    names.into_iter().zip([identity, mean, vertex]).map(|(name, end)| (0, name, falls(end))).collect()
}

/// Tangent stiffness of one line: soft up to a strain (%) and stiff beyond.
fn tangents(name: &'static str, soft: f64, stiff: f64, bend: f64) -> Series {
    vec![(1, name, (1..=31).map(f64::from).map(|e| (e, if e < bend { soft } else { stiff })).collect())]
}

/// Largest distances from Newton's method with 1, 10 and 20 iterations.
fn distances(one: f64, ten: f64, twenty: f64) -> Series {
    each(0, &[("1 iteration", one), ("10 iterations", ten), ("20 iterations", twenty)])
}

/// Good data, and data with which the verdict must be "not"; `None` for a claim of another paper.
pub fn examples(id: &str) -> Option<(Series, Vec<Series>)> {
    let (turns, consensus) = ("in turn (Gauss–Seidel)", "consensus (Jacobi)");
    let (pbd, pd) = ("position based", "projective");
    let (triangles, edges) = ("triangles", "edges, one stiffness for each");
    let (stretch, folds) = ("99th percentile of stretch", "root mean square angle between neighbours");
    let (waves, depth) = ("waves around", "depth of the buckles");
    let (height, volume, shape) = ("height", "volume", "distance from the rest shape");
    let limits = |v: [f64; 3]| vec![(3, stretch, at(&[(10.0, v[0]), (20.0, v[1]), (30.0, v[2])]))];
    let waist = |v: [f64; 5]| vec![(1, "stretched by 50 %", at(&v.map(|w| (1.0, w))))];
    let storm =
        |name: &'static str, worst: f64| (0, name, series(100, move |t| if t == 0.5 { worst } else { 0.9 }));
    if let Some((panel, over, under, good, bad)) = timed(id) {
        let steady = |ratio: f64| steady(panel, over, under, ratio);
        return Some((steady(good), bad.iter().map(|r| steady(*r)).collect()));
    }
    let (both, weak) = ("weak strain and strong limit", "weak strain");
    let winds = ["wind of 50 m/s", "wind of 500 m/s"];
    let push = |along: [f64; 2], across: f64| {
        let (normal, aside) = ("along the flag's normal", "across it");
        vec![
            (3, normal, at(&[(0.0, along[0]), (90.0, along[1])])),
            (3, aside, at(&[(0.0, 0.0), (45.0, across)])),
        ]
    };
    Some(match id.strip_prefix("projective-dynamics/")? {
        "gauss-seidel-oscillates" => (
            vec![(1, turns, series(60, |_| 1.0))],
            vec![
                vec![(1, turns, series(60, |t| (-30.0 * t).exp()))],
                vec![(1, consensus, series(60, |_| 1.0))],
            ],
        ),
        "consensus-converges" => (
            vec![(1, consensus, series(60, |t| (-60.0 * t).exp()))],
            vec![vec![(1, consensus, series(60, |_| 1.0))]],
        ),
        "pbd-stiffness-depends-on-iterations" => {
            (values(2, pbd, &[9.0, 5.0, 3.0, 2.0]), vec![values(2, pbd, &[2.0, 2.1, 2.2, 2.0])])
        }
        "stiffness-independent-of-iterations" => {
            (values(2, pd, &[2.0, 2.1, 2.2, 2.0]), vec![values(2, pd, &[9.0, 5.0, 3.0, 2.0])])
        }
        "cloth-resolution" => (
            each(0, &[("10 cells", -0.5), ("20 cells", -0.49), ("40 cells", -0.48)]),
            vec![
                each(0, &[("10 cells", -0.5), ("20 cells", -0.4), ("40 cells", -0.3)]),
                each(0, &[("10 cells", -0.5), ("20 cells", -0.5)]),
            ],
        ),
        "beam-resolution" => (
            each(1, &[("4 cells", -0.5), ("6 cells", -0.52), ("8 cells", -0.53)]),
            vec![
                each(1, &[("4 cells", -0.2), ("6 cells", -0.3), ("8 cells", -0.4)]),
                each(1, &[("6 cells", -0.5), ("8 cells", -0.5)]),
            ],
        ),
        "stretch-resolution" => {
            (values(2, triangles, &[5.0, 5.1, 5.2]), vec![values(2, triangles, &[5.0, 3.0, 2.0])])
        }
        "edges-depend-on-resolution" => {
            (values(2, edges, &[5.0, 1.3, 0.3]), vec![values(2, edges, &[5.0, 5.1, 5.2])])
        }
        "beam-theory" => (
            values(1, "tetrahedra", &[0.8, 0.95, 0.98]),
            vec![values(1, "tetrahedra", &[0.2, 0.5, 0.7]), values(1, "tetrahedra", &[1.0, 1.1, 1.3])],
        ),
        "beam-converges" => {
            let line =
                |order: i32| vec![(2, "tetrahedra", at(&[4.0, 8.0, 12.0].map(|n: f64| (n, n.powi(-order)))))];
            (line(2), vec![line(0), line(-1)])
        }
        "limits-let-stretch" => (limits([9.0, 18.0, 25.0]), vec![limits([9.0, 18.0, 15.0])]),
        "limits-hold" => (limits([10.5, 20.5, 30.0]), vec![limits([20.0, 20.0, 30.0])]),
        "folds-absorbed" => {
            (values(4, folds, &[20.0, 15.0, 10.0]), vec![values(4, folds, &[20.0, 15.0, 18.0])])
        }
        "soft-volume" => (cubes(0.3, 0.01), vec![cubes(0.02, 0.01), cubes(0.3, 0.01)[..1].to_vec()]),
        "stiff-volume" => (cubes(0.3, 0.01), vec![cubes(0.3, 0.2), cubes(0.3, 0.01)[1..].to_vec()]),
        "waist-narrows" => {
            (waist([1.0, 0.99, 0.95, 0.85, 0.8]), vec![waist([1.0; 5]), vec![waist([1.0; 5])[0].clone()]])
        }
        "buckles-follow-bending" => {
            (values(4, waves, &[12.0, 8.0, 5.0]), vec![values(4, waves, &[12.0, 5.0, 8.0])])
        }
        "onset-follows-shell-theory" => (
            values(6, waves, &[12.0, 7.0, 4.0]),
            vec![
                // What is measured far beyond the onset, and a cylinder that did not buckle at all.
                values(6, waves, &[5.3, 4.5, 3.5]),
                values(6, waves, &[12.0, 7.0, f64::NAN]),
                values(4, waves, &[12.0, 7.0, 4.0]),
            ],
        ),
        "wind-by-normal" => (
            push([3.0, 0.0], 0.0),
            // A force on the whole body, and one along the wind.
            vec![push([3.0, 3.0], 0.0), push([3.0, 0.0], 1.5), push([0.0, 0.0], 0.0)],
        ),
        "wind-storm-descends" => (
            winds.map(|name| storm(name, 0.99)).to_vec(),
            vec![vec![storm(winds[0], 0.99), storm(winds[1], 1.1)], vec![storm(winds[0], 0.99)]],
        ),
        "wind-storm-is-extreme" => (
            vec![(4, winds[1], series(60, |t| 0.5 * t))],
            vec![vec![(4, winds[1], series(60, |t| 0.01 * t))], vec![(4, winds[0], series(60, |t| 0.5 * t))]],
        ),
        "weak-strain-is-soft" => (
            [tangents(weak, 1.0, 1.0, 15.0), tangents(both, 1.0, 21.0, 15.0)].concat(),
            vec![[tangents(weak, 1.0, 1.0, 15.0), tangents(both, 21.0, 21.0, 15.0)].concat()],
        ),
        "stiff-limit-stiffens" => (
            tangents(both, 1.0, 21.0, 15.0),
            vec![tangents(both, 1.0, 1.0, 15.0), tangents(both, 21.0, 1.0, 15.0)],
        ),
        "stiffens-at-the-limit" => (
            tangents(both, 1.0, 21.0, 15.0),
            vec![tangents(both, 1.0, 21.0, 9.0), tangents(both, 1.0, 1.0, 15.0)],
        ),
        "mass-matrices-look-alike" => {
            let off = |d: f64| vec![(0, "lumped from consistent", series(60, move |t| d * t))];
            (off(0.002), vec![off(0.2), off(f64::NAN)])
        }
        "mass-matrices-look-alike-cloth" => {
            let off = |d: f64| vec![(1, "lumped from consistent", series(60, move |t| d * t))];
            (off(0.002), vec![off(0.2), off(f64::NAN)])
        }
        "cylinder-buckles" => (values(5, depth, &[5.0, 6.0, 7.0]), vec![values(5, depth, &[5.0, 6.0, 0.1])]),
        "cars-follow-examples" => {
            let cars = |last| each(0, &[("squashed", 0.9), ("bent", 0.9), ("sheared", last)]);
            (cars(0.9), vec![cars(0.1), cars(0.9)[..2].to_vec()])
        }
        "cars-reach-examples" => {
            let cars = |last| each(1, &[("squashed", 0.5), ("bent", 0.5), ("sheared", last)]);
            (cars(0.5), vec![cars(0.01), cars(0.5)[1..].to_vec()])
        }
        "storm-descends" => {
            let all = |worst| vec![storm("calm", 0.9), storm("100 g", worst), storm("1000 g", 1.0)];
            (all(1.0), vec![all(1.1), all(f64::NAN), all(1.0)[..2].to_vec()])
        }
        "balls-flat" => (values(0, height, &[1.0, 0.0, 1.0]), vec![values(0, height, &[1.0, 0.3, 1.0])]),
        "balls-recover-volume" => (
            values(0, volume, &[1.0, 0.0, 1.0]),
            vec![values(0, volume, &[1.0, 0.0, 0.5]), values(0, volume, &[1.0, f64::NAN, 1.0])],
        ),
        "balls-recover-shape" => {
            (values(1, shape, &[0.01, 0.5, 0.01]), vec![values(1, shape, &[0.01, 0.5, 0.4])])
        }
        "ten-iterations-look-converged" => (distances(0.1, 0.005, 0.001), vec![distances(0.1, 0.08, 0.001)]),
        "one-iteration-does-not" => (distances(0.1, 0.005, 0.001), vec![distances(0.001, 0.0, 0.0)]),
        "iterations-approach-newton" => (
            distances(0.1, 0.005, 0.001),
            vec![distances(0.1, 0.1, 0.1), distances(0.1, 0.1, 0.0)[1..].to_vec()],
        ),
        "newton-fewer-iterations" => {
            let stuck = vec![race(0, 300.0, 9.0)[0].clone(), (0, "Newton", series(40, |_| 0.5))];
            (race(0, 300.0, 9.0), vec![race(0, 9.0, 300.0), stuck])
        }
        "newton-fewer-iterations-cloth" => (race(2, 300.0, 9.0), vec![race(2, 9.0, 300.0)]),
        "identity-converges-poorly" => (choices(900.0, 20.0, 30.0), vec![choices(30.0, 20.0, 2.0)]),
        "one-vertex-converges-too" => (choices(900.0, 20.0, 30.0), vec![choices(30.0, 2.0, 20.0)]),
        _ => return None,
    })
}
