//! Test: every claim's verdict says yes to good made-up data and no to sabotaged data.

use super::ALL;
use crate::claims::{Verdict, all};
use crate::plot::{Panel, Plot, Style};

pub type Series = Vec<(usize, &'static str, Vec<(f64, f64)>)>;

fn plot(lines: Series) -> Plot {
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
pub fn series(n: usize, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=n).map(|k| (k as f64, f(k as f64 / n as f64))).collect()
}

/// 1 + amplitude(t)·wave, many periods.
fn wave(n: usize, amplitude: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    series(n, |t| 1.0 + amplitude(t) * (t * n as f64 * 0.31).cos())
}

pub fn at(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.to_vec()
}

/// The flappinesses of the deformer's sweep.
fn tenths(f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=10).map(|k| f64::from(k) / 10.0).map(|x| (x, f(x))).collect()
}

/// All lines of the deformer's sweep, at one value.
fn sweep(panel: usize, value: f64) -> Series {
    let names = [
        "linear, β = 0",
        "linear, β = 0.5",
        "linear, β = 0.9",
        "linear, β = 0.98",
        "quadratic, β = 0",
        "quadratic, β = 0.5",
        "quadratic, β = 0.9",
        "quadratic, β = 0.98",
    ];
    names.map(|name| (panel, name, series(5, move |_| value))).to_vec()
}

/// A cube that made this share of the turn due to it.
fn spun(name: &'static str, due: &'static str, share: f64) -> Series {
    vec![(0, name, series(26, move |t| 2.0 * share * t)), (0, due, series(26, |t| 2.0 * t))]
}

/// All lines of the crumpled sheet, from one value to another.
fn sheets(panel: usize, from: f64, to: f64) -> Series {
    let names = [
        "rigid, one cluster",
        "rigid, 12 clusters",
        "linear, one cluster",
        "linear, 12 clusters",
        "quadratic, one cluster",
        "quadratic, 12 clusters",
    ];
    names.map(|name| (panel, name, series(9, move |t| from + t * (to - from)))).to_vec()
}

/// A fall that grows with this power of time.
fn flight(name: &'static str, order: i32) -> Series {
    vec![(1, name, (1..=120).map(|k| f64::from(k) / 60.0).map(|t| (t, 5.0 * t.powi(order))).collect())]
}

/// Good data, and data with which the verdict must be "not".
fn examples(id: &str) -> (Series, Vec<Series>) {
    let free = "no limiting";
    let limited = "γ = 0.3, 5 iterations";
    let pbd_cube = "position-based (α = 0, γ = 0)";
    let elastic_cube = "α = 0.1, γ = 0.3";
    let elastic_mass = "shape matching, α = 0.1";
    let pbd_mass = "position-based dynamics";
    let (sm_spin, pbd_spin) = ("shape matching, one cluster", "position-based, one cluster");
    let many_spin = "shape matching, 29 clusters";
    let (quiet, damped) = ("undamped", "damped (5 per second)");
    let (paper_rain, kept_rain) = ("limits to the paper's letter", "limits that conserve momentum");
    let overshoot = "how far below the rest width";
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
        "strain-limiting/bunny-stands" => (
            vec![(4, damped, series(600, |t| 1.0 - 0.3 * (-20.0 * t).exp()))],
            vec![
                // Sunk into itself, and collapsed only in the very end.
                vec![(4, damped, series(600, |t| 1.0 - 0.5 * t))],
                vec![(4, damped, series(600, |t| if t > 0.99 { 0.3 } else { 1.0 }))],
                vec![(4, quiet, series(600, |_| 1.0))],
            ],
        ),
        "strain-limiting/bunny-looks-like-a-bunny" => (
            vec![(5, damped, series(600, |t| 0.01 + 0.2 * (-40.0 * t).exp()))],
            vec![vec![(5, damped, series(600, |t| 0.3 * t))], vec![(5, damped, series(600, |_| f64::NAN))]],
        ),
        "strain-limiting/forces-fall-in-arcs" => (
            flight("shape matching, gravity as a force", 2),
            vec![flight("shape matching, gravity as a force", 1)],
        ),
        "strain-limiting/pbd-itself-falls-in-arcs" => (
            flight("position-based, gravity as a force", 2),
            vec![flight("position-based, gravity as a force", 1)],
        ),
        "strain-limiting/gravity-by-positions-falls-in-lines" => {
            let name = "position-based, gravity moves positions";
            (flight(name, 1), vec![flight(name, 2), flight(name, 0)])
        }
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
        "strain-limiting/symmetric-clusters-do-not-turn" => {
            let both = |angle: f64| {
                ["symmetric random", "symmetric k-means"].map(|s| (1, s, series(1000, move |t| angle * t)))
            };
            (both(1e-13).to_vec(), vec![both(1e-3).to_vec(), both(1e-13)[..1].to_vec()])
        }
        "strain-limiting/random-clusters-lump-mass" => (
            vec![(5, "random", series(28, |t| 0.3 + 1.4 * t))],
            vec![vec![(5, "random", series(28, |t| 0.99 + 0.02 * t))]],
        ),
        "strain-limiting/better-clusters-lump-less" => (
            vec![(5, "random", series(28, |t| 0.3 + 1.4 * t)), (5, "k-means", series(28, |t| 0.9 + 0.2 * t))],
            vec![vec![(5, "random", series(28, |t| 0.9 + 0.2 * t)), (5, "k-means", series(28, |t| 0.3 + t))]],
        ),
        "strain-limiting/multi-scale-clusters-carry-further" => {
            let fall = |depth: f64| series(240, move |t| -depth * (20.0 * t).min(1.0));
            (
                vec![(0, "one scale", fall(0.2)), (0, "three scales", fall(0.1))],
                vec![vec![(0, "one scale", fall(0.1)), (0, "three scales", fall(0.2))]],
            )
        }
        "strain-limiting/grid-stays-at-the-limit" => {
            let gammas = [("γ = 0.1", 0.1), ("γ = 0.2", 0.2), ("γ = 0.3", 0.3)];
            let all = |over: f64| -> Series {
                let panels = [0, 1].into_iter();
                panels.flat_map(|p| gammas.map(|(name, g)| (p, name, series(5, move |_| over * g)))).collect()
            };
            let mut one_bad = all(1.0);
            one_bad[3].2[2].1 = 0.5;
            (all(1.0), vec![all(2.0), one_bad, all(1.0)[..5].to_vec()])
        }
        "strain-limiting/one-cluster-needs-no-limit" => (
            vec![(0, "no limit", series(5, |_| 0.3)), (0, "at the start", series(1, |_| 0.3))],
            vec![vec![(0, "no limit", series(5, |t| 0.3 + t)), (0, "at the start", series(1, |_| 0.3))]],
        ),
        "strain-limiting/a-thousand-bodies-stay-bounded" => (
            vec![(0, paper_rain, series(60, |t| 0.3 + 0.5 * (-40.0 * t).exp()))],
            vec![vec![(0, paper_rain, series(60, |t| 0.3 + 0.5 * t))]],
        ),
        "strain-limiting/a-thousand-bodies-stay-bounded-conserving" => (
            vec![(0, kept_rain, series(60, |t| 0.3 + 0.5 * (-40.0 * t).exp()))],
            vec![vec![(0, kept_rain, series(60, |t| 0.3 + 0.5 * t))]],
        ),
        "strain-limiting/a-thousand-bodies-gain-no-energy" => (
            vec![(1, paper_rain, series(60, |t| 9.0 - t))],
            vec![vec![(1, paper_rain, series(60, |t| 9.0 * (3.0 * t).exp()))]],
        ),
        "deformer/high-flappiness-overshoots" => {
            (vec![(1, overshoot, tenths(|f| 0.4 * f))], vec![vec![(1, overshoot, tenths(|_| 0.0))]])
        }
        "deformer/low-flappiness-does-not-overshoot" => {
            (vec![(1, overshoot, tenths(|f| 0.4 * f))], vec![vec![(1, overshoot, tenths(|f| 0.4 - 0.1 * f))]])
        }
        "deformer/overshoot-grows-with-flappiness" => (
            vec![(1, overshoot, tenths(|f| 0.4 * f.sqrt()))],
            vec![vec![(1, overshoot, tenths(|f| if f > 0.5 { 0.1 } else { 0.4 * f }))]],
        ),
        "deformer/low-flappiness-is-slower" => {
            let fall = |rate: f64| series(120, move |t| 1.0 + 0.5 * (-rate * t).exp());
            (
                vec![(0, "α_f = 0.1", fall(5.0)), (0, "α_f = 1.0", fall(20.0))],
                vec![
                    vec![(0, "α_f = 0.1", fall(20.0)), (0, "α_f = 1.0", fall(5.0))],
                    vec![(0, "α_f = 0.1", fall(0.0)), (0, "α_f = 1.0", fall(5.0))],
                ],
            )
        }
        "deformer/tail-swings-on" => {
            let tip = |size: f64| series(180, move |t| size * (40.0 * t).sin());
            (
                vec![(2, "α_f = 1.0", tip(0.4)), (2, "α_f = 0.2", tip(0.1))],
                vec![vec![(2, "α_f = 1.0", tip(0.1)), (2, "α_f = 0.2", tip(0.4))]],
            )
        }
        "deformer/quadratic-goals-bend-and-twist" => (
            vec![(0, "quadratic", wave(360, |_| 0.5)), (0, "linear", series(360, |t| 0.1 * t))],
            vec![vec![(0, "quadratic", wave(360, |_| 0.5)), (0, "linear", wave(360, |_| 0.5))]],
        ),
        "deformer/torus-bends-visibly" => (
            vec![(0, "quadratic", series(360, |t| 0.1 * (1.0 - t)))],
            vec![vec![(0, "quadratic", series(360, |t| 0.01 * t))]],
        ),
        "deformer/torus-is-elastic" => (
            vec![(0, "quadratic", series(360, |t| 0.1 * (-20.0 * t).exp()))],
            vec![vec![(0, "quadratic", series(360, |t| 0.1 * t))]],
        ),
        "deformer/each-mode-is-softer" => {
            let modes = |sizes: [f64; 3]| -> Series {
                let names = ["rigid", "linear", "quadratic"].into_iter().zip(sizes);
                names.map(|(name, size)| (1, name, series(9, move |t| size * t))).collect()
            };
            (
                modes([1.0, 2.0, 3.0]),
                vec![modes([1.0, 2.0, 1.5]), modes([2.0, 1.0, 3.0]), modes([1.0, 2.0, 3.0])[..2].to_vec()],
            )
        }
        "deformer/cube-root-of-the-determinant-explodes" => {
            let name = "the report's goal, by its formula";
            (vec![(0, name, series(12, |t| 1.0 + 99.0 * t))], vec![vec![(0, name, series(12, |_| 1.0))]])
        }
        "deformer/bounded-volume-does-not-explode" => {
            let name = "largest extent in 2 s, simulated";
            (vec![(0, name, series(12, |t| 1.0 + t))], vec![vec![(0, name, series(12, |t| 1.0 + 99.0 * t))]])
        }
        "deformer/volume-is-kept" => {
            let dip = |depth: f64| series(180, move |t| 1.0 - depth * (1.0 - t));
            (
                vec![(1, "volume kept", dip(0.1)), (1, "volume free", dip(0.4))],
                vec![vec![(1, "volume kept", dip(0.4)), (1, "volume free", dip(0.1))]],
            )
        }
        "deformer/high-settings-never-settle" => (
            vec![(2, "linear, β = 0.98", at(&[(0.2, 0.0), (1.0, 0.3)]))],
            vec![vec![(2, "linear, β = 0.98", at(&[(0.2, 0.3), (1.0, 1e-6)]))]],
        ),
        "deformer/lower-flappiness-settles" => (
            vec![(2, "linear, β = 0.98", at(&[(0.2, 1e-6), (1.0, 0.3)]))],
            vec![vec![(2, "linear, β = 0.98", at(&[(0.2, 0.3), (1.0, 0.3)]))]],
        ),
        "deformer/some-high-settings-never-settle" => {
            let mut good = sweep(2, 1e-6);
            good[2].2[5].1 = 0.3;
            (good.clone(), vec![sweep(2, 1e-6), good[..5].to_vec()])
        }
        "deformer/blend-settles" => {
            let mut bad = sweep(1, 1e-6);
            bad[6].2[5].1 = 0.3;
            (sweep(1, 1e-6), vec![bad, sweep(1, 1e-6)[..7].to_vec()])
        }
        "deformer/blend-stays-bounded" => {
            let mut bad = sweep(0, 1.1);
            bad[4].2[3].1 = f64::INFINITY;
            (sweep(0, 1.1), vec![bad, sweep(0, 9.0)])
        }
        "deformer/two-steps-needed-to-rotate" => (
            spun("linear, blend", "linear, blend: angular momentum over inertia", 0.5),
            vec![spun("linear, blend", "linear, blend: angular momentum over inertia", 1.0)],
        ),
        "deformer/two-steps-rotate" => (
            spun("linear, two steps", "linear, two steps: angular momentum over inertia", 1.0),
            vec![
                spun("linear, two steps", "linear, two steps: angular momentum over inertia", 0.5),
                spun("linear, two steps", "linear, two steps: angular momentum over inertia", 1.5),
            ],
        ),
        "deformer/flat-sheet-does-not-explode" => {
            let mut bad = sheets(0, 1.2, 1.0);
            bad[3].2[4].1 = 50.0;
            (sheets(0, 1.2, 1.0), vec![bad, sheets(0, 1.2, 1.0)[..5].to_vec()])
        }
        "deformer/flat-sheet-recovers" => {
            (sheets(1, 0.4, 0.001), vec![sheets(1, 0.4, 0.3), sheets(1, 0.4, 0.001)[1..].to_vec()])
        }
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
        _ => {
            let others = super::sabotage_projective::examples(id);
            let others = others.or_else(|| super::sabotage_mesh::examples(id));
            match others.or_else(|| super::sabotage_glue::examples(id)) {
                Some(found) => found,
                None => panic!("{id} has no sabotaged data; add some"),
            }
        }
    }
}

#[test]
fn good_data_is_believed_and_sabotaged_data_is_not() {
    for claim in all().unwrap() {
        let definition = ALL.iter().find(|d| d.figure.name == claim.figure).unwrap();
        let verdict = |lines: Series| claim.judge(definition, &plot(lines));
        let (good, bad) = examples(&claim.id);
        let result = verdict(good);
        assert_eq!(result.verdict, Verdict::Reproduced, "{}: {}", claim.id, result.measured);
        for lines in bad {
            let result = verdict(lines);
            assert_eq!(result.verdict, Verdict::Not, "{}: {}", claim.id, result.measured);
        }
        // A time that scatters across its threshold is not judged, nor one of a single run, by the clock on the wall.
        for lines in super::sabotage_projective::scattered(&claim.id) {
            let result = verdict(lines);
            assert_eq!(result.verdict, Verdict::Unjudged, "{}: {:?}", claim.id, result.spread);
        }
        assert_eq!(claim.spread.is_some(), !super::sabotage_projective::scattered(&claim.id).is_empty());
        // A figure without data shows nothing.
        assert_eq!(verdict(vec![]).verdict, Verdict::Not, "{} with no data", claim.id);
    }
}
