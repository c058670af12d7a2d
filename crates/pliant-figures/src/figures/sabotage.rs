//! Test: every claim's verdict says yes to good made-up data and no to sabotaged data.

use super::ALL;
use crate::claims::{Verdict, all};
use crate::plot::{Panel, Plot, Style};

type Lines = Vec<(usize, &'static str, Vec<(f64, f64)>)>;

fn plot(lines: Lines) -> Plot {
    let mut plot = Plot::new("made up");
    for (panel, name, points) in lines {
        while plot.panels.len() <= panel {
            plot.panels.push(Panel::default());
        }
        let full = std::mem::take(&mut plot.panels[panel]).line(name, Style::Solid, points);
        plot.panels[panel] = full;
    }
    plot
}

/// `n` + 1 points (k, f(k/n)).
fn series(n: usize, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=n).map(|k| (k as f64, f(k as f64 / n as f64))).collect()
}

/// 1 + amplitude(t)·wave, many periods.
fn wave(n: usize, amplitude: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    series(n, |t| 1.0 + amplitude(t) * (t * n as f64 * 0.31).cos())
}

fn at(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.to_vec()
}

/// Good data, and data with which the verdict must be "not".
fn examples(id: &str) -> (Lines, Vec<Lines>) {
    let free = "no limiting";
    let limited = "γ = 0.3, 5 iterations";
    let pbd_cube = "position-based (α = 0, γ = 0)";
    let elastic_cube = "α = 0.1, γ = 0.3";
    let elastic_mass = "shape matching, α = 0.1";
    let pbd_mass = "position-based dynamics";
    let (sm_spin, pbd_spin) = ("shape matching, one cluster", "position-based, one cluster");
    let many_spin = "shape matching, 29 clusters";
    let (quiet, damped) = ("undamped", "damped (5 per second)");
    let starts = ["stretched by 50 %", "scrambled", "mirrored"];
    match id {
        "strain-limiting/unstable-without-limit" => (
            vec![(0, free, series(5000, |t| 1.0 + 2.0 * t))],
            vec![vec![(0, free, wave(5000, |_| 0.3))], vec![(0, free, series(5000, |t| 2.0 - t))]],
        ),
        "strain-limiting/stays-bounded" => (
            vec![(0, limited, series(5000, |t| 0.3 + (-20.0 * t).exp()))],
            vec![
                vec![(0, limited, series(5000, |t| 0.3 * (1.0 + t)))],
                vec![(0, limited, series(5000, |t| if t > 0.9 { f64::INFINITY } else { 0.3 }))],
            ],
        ),
        "strain-limiting/settles-at-the-limit" => (
            vec![(0, limited, series(5000, |t| 0.3 + 2.0 * (-40.0 * t).exp()))],
            vec![vec![(0, limited, series(5000, |_| 0.6))]],
        ),
        "strain-limiting/iterations-enforce-the-limit" => (
            vec![(0, "ω = 1", at(&[(1.0, 0.5), (100.0, 0.01)]))],
            vec![vec![(0, "ω = 1", at(&[(1.0, 0.5), (100.0, 0.4)]))]],
        ),
        "strain-limiting/over-relaxation-limits-faster" => (
            vec![(0, "ω = 1", at(&[(20.0, 0.1)])), (0, "ω = 1.5", at(&[(20.0, 0.05)]))],
            vec![vec![(0, "ω = 1", at(&[(20.0, 0.1)])), (0, "ω = 1.5", at(&[(20.0, 0.1)]))]],
        ),
        "strain-limiting/stretched-cube-oscillates" => (
            vec![(0, elastic_cube, wave(600, |_| 0.5))],
            vec![
                vec![(0, elastic_cube, wave(600, |t| 0.5 * (-5.0 * t).exp()))],
                vec![(0, elastic_cube, wave(600, |t| 0.5 * (3.0 * t).exp()))],
            ],
        ),
        "strain-limiting/position-based-cube-stops" => (
            vec![(0, pbd_cube, series(600, |t| if t < 0.1 { 1.5 } else { 1.0 }))],
            vec![vec![(0, pbd_cube, wave(600, |_| 0.5))]],
        ),
        "strain-limiting/many-clusters-are-local" => (
            vec![(2, "one cluster", series(9, |_| 0.0)), (2, "about 29 clusters", series(9, |t| 0.1 * t))],
            vec![vec![
                (2, "one cluster", series(9, |t| 0.1 * t)),
                (2, "about 29 clusters", series(9, |t| 0.1 * t)),
            ]],
        ),
        "strain-limiting/zero-length-spring-oscillates" => (
            vec![(0, elastic_mass, wave(300, |_| 1.0))],
            vec![vec![(0, elastic_mass, wave(300, |t| (-4.0 * t).exp()))]],
        ),
        "strain-limiting/zero-length-spring-stops-in-pbd" => {
            let x = at(&[(0.0, 1.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]);
            (
                vec![
                    (0, pbd_mass, x.clone()),
                    (1, pbd_mass, at(&[(0.0, 0.0), (1.0, 60.0), (2.0, 0.0), (3.0, 0.0)])),
                ],
                vec![
                    vec![
                        (0, pbd_mass, x),
                        (1, pbd_mass, at(&[(0.0, 0.0), (1.0, 60.0), (2.0, 60.0), (3.0, 60.0)])),
                    ],
                    vec![(0, pbd_mass, wave(300, |_| 1.0)), (1, pbd_mass, wave(300, |_| 1.0))],
                ],
            )
        }
        "strain-limiting/spin-energy-kept" => (
            vec![(0, sm_spin, wave(600, |_| 0.02))],
            vec![
                vec![(0, sm_spin, series(600, |t| 1.0 - 0.9 * t))],
                vec![(0, sm_spin, series(600, |t| 1.0 + t))],
            ],
        ),
        "strain-limiting/spin-momentum-kept" => (
            vec![(1, sm_spin, series(600, |t| 1.0 + 1e-14 * t))],
            vec![vec![(1, sm_spin, series(600, |t| 1.0 - 0.05 * t))]],
        ),
        "strain-limiting/spin-energy-kept-by-many-clusters" => (
            vec![(0, many_spin, wave(600, |_| 0.02))],
            vec![vec![(0, many_spin, series(600, |t| 1.0 - 0.9 * t))]],
        ),
        "strain-limiting/spin-momentum-kept-by-many-clusters" => (
            vec![(1, many_spin, series(600, |t| 1.0 + 1e-14 * t))],
            vec![vec![(1, many_spin, series(600, |t| 1.0 + 0.05 * t))]],
        ),
        "strain-limiting/limit-holds-on-the-ground" => (
            vec![(3, quiet, series(600, |t| 0.3 + (-40.0 * t).exp()))],
            vec![vec![(3, quiet, series(600, |_| 0.7))]],
        ),
        "strain-limiting/spin-energy-lost-in-pbd" => (
            vec![(0, pbd_spin, series(600, |t| 1.0 - 0.5 * t))],
            vec![vec![(0, pbd_spin, series(600, |_| 1.0))]],
        ),
        "strain-limiting/spin-momentum-lost-in-pbd" => (
            vec![(1, pbd_spin, series(600, |t| 1.0 - 0.5 * t))],
            vec![vec![(1, pbd_spin, series(600, |_| 1.0))]],
        ),
        "strain-limiting/iterations-never-diverge" => (
            vec![(0, "ω = 1", series(200, |t| (-9.0 * t).exp()))],
            vec![vec![(0, "ω = 1", series(200, |t| (-9.0 * t).exp() * if t == 0.5 { 1.2 } else { 1.0 }))]],
        ),
        "strain-limiting/over-relaxation-converges-faster" => {
            let decay = |rate: f64| series(200, move |t| (-rate * t).exp());
            (
                vec![(0, "ω = 1", decay(20.0)), (0, "ω = 1.5", decay(40.0))],
                vec![
                    vec![(0, "ω = 1", decay(20.0)), (0, "ω = 1.5", decay(10.0))],
                    vec![(0, "ω = 1", decay(20.0)), (0, "ω = 1.5", decay(0.0))],
                ],
            )
        }
        "strain-limiting/bunny-is-stable" => (
            vec![(1, quiet, series(600, |t| 1.0 - 0.1 * t))],
            vec![
                vec![(1, quiet, series(600, |t| (2.0 * t).exp()))],
                vec![(1, quiet, series(600, |_| f64::NAN))],
            ],
        ),
        "strain-limiting/bunny-keeps-moving-undamped" => (
            vec![(2, quiet, wave(600, |_| 0.9)), (2, damped, series(600, |t| (-20.0 * t).exp()))],
            vec![vec![
                (2, quiet, series(600, |t| (-20.0 * t).exp())),
                (2, damped, series(600, |t| (-20.0 * t).exp())),
            ]],
        ),
        "strain-limiting/damped-bunny-settles" => (
            vec![(2, damped, series(600, |t| (-20.0 * t).exp()))],
            vec![vec![(2, damped, wave(600, |_| 0.9))]],
        ),
        "strain-limiting/random-clusters-turn" => {
            let seeds =
                ["29 clusters, seed 1", "29 clusters, seed 2", "29 clusters, seed 3", "29 clusters, seed 4"];
            let all = |angle: f64| seeds.map(|s| (0, s, series(300, move |t| angle * t))).to_vec();
            (all(1e-2), vec![all(1e-14)])
        }
        "strain-limiting/one-cluster-does-not-turn" => (
            vec![(0, "one cluster", series(300, |_| 1e-15))],
            vec![vec![(0, "one cluster", series(300, |t| 1e-2 * t))]],
        ),
        "projective-dynamics/weakly-decreasing" => {
            let good = starts.map(|s| (0, s, series(80, |t| 0.1 + (-5.0 * t).exp())));
            let mut bad = good.clone();
            bad[1].2[40].1 *= 1.5;
            (good.to_vec(), vec![bad.to_vec(), good[..2].to_vec()])
        }
        "projective-dynamics/linear-convergence" => (
            vec![(1, starts[0], series(200, |t| (-20.0 * t).exp()))],
            vec![
                vec![(1, starts[0], series(200, |t| if t < 0.02 { 1.0 } else { 1e-3 }))],
                vec![(1, starts[0], series(200, |t| (0.5 + 0.49 * (t * 50.0).sin()).powi(2)))],
            ],
        ),
        "projective-dynamics/ten-iterations-suffice" => (
            vec![(2, starts[0], series(200, |t| 0.1 * (-200.0 * t).exp()))],
            vec![vec![(2, starts[0], series(200, |t| 0.1 * (-t).exp()))]],
        ),
        "projective-dynamics/linear-momentum" => {
            let names = ["1 iteration", "5 iterations", "60 iterations"];
            let all = |drift: f64| names.map(|s| (0, s, series(60, move |t| drift * t))).to_vec();
            (all(1e-15), vec![all(1e-3), all(1e-15)[..2].to_vec()])
        }
        "projective-dynamics/angular-momentum" => (
            vec![(1, "60 iterations", at(&[(1.0 / 60.0, 1e-14)]))],
            vec![vec![(1, "60 iterations", at(&[(1.0 / 60.0, 0.3)]))], vec![]],
        ),
        "projective-dynamics/damping-of-implicit-euler" => {
            let power =
                |n: i32| (1..7).map(|k| 0.5f64.powi(k)).map(|h| (h, 3.0 * h.powi(n))).collect::<Vec<_>>();
            (
                vec![(1, "60 iterations", power(1))],
                vec![vec![(1, "60 iterations", power(0))], vec![(1, "60 iterations", power(2))]],
            )
        }
        _ => panic!("{id} has no sabotaged data; add some"),
    }
}

#[test]
fn good_data_is_believed_and_sabotaged_data_is_not() {
    for claim in all().unwrap() {
        let definition = ALL.iter().find(|d| d.figure.name == claim.figure).unwrap();
        let verdict = |lines: Lines| claim.judge(definition.measure(&claim.metric, &plot(lines)));
        let (good, bad) = examples(&claim.id);
        let result = verdict(good);
        assert_eq!(result.verdict, Verdict::Reproduced, "{}: {}", claim.id, result.measured);
        for lines in bad {
            let result = verdict(lines);
            assert_eq!(result.verdict, Verdict::Not, "{}: {}", claim.id, result.measured);
        }
        // A figure without data shows nothing.
        assert_eq!(verdict(vec![]).verdict, Verdict::Not, "{} with no data", claim.id);
    }
}
