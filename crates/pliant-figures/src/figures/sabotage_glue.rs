//! Made-up data for the claims about point cloud glue: good, and sabotaged.

use super::sabotage::{Series, at, series};

const SHARES: [&str; 4] = ["on parent 1", "on parent 2", "on parent 3", "on parent 4"];
const SQUARE: [(f64, f64); 4] = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];

/// A force on a point at (1.4, 0), and what each parent gets of it.
fn arrows(panel: usize, pull: (f64, f64), share: impl Fn((f64, f64)) -> (f64, f64)) -> Series {
    let arrow = |from: (f64, f64), by: (f64, f64)| at(&[from, (from.0 + by.0, from.1 + by.1)]);
    let mut lines = vec![(panel, "on the bound point", arrow((1.4, 0.0), pull))];
    lines.extend(SHARES.into_iter().zip(SQUARE).map(|(name, from)| (panel, name, arrow(from, share(from)))));
    lines
}

/// Changes and growths by weights, changes by glue, at every angle but the last, and there.
fn distances(growth: [f64; 2], glue: [f64; 2]) -> Series {
    let line = |v: [f64; 2]| series(12, move |t| v[usize::from(t == 1.0)]);
    vec![
        (4, "weights (1, 1, −1): change", line([0.05; 2])),
        (4, "weights (1, 1, −1): growth", line(growth)),
        (4, "glue: change", line(glue)),
        (4, "one spring under the same force", line([0.02; 2])),
    ]
}

fn lost(force: f64, torque: f64) -> Series {
    vec![(5, "force", series(9, move |t| t * force)), (5, "torque", series(9, move |t| t * torque))]
}

/// Noise against the number of parents, of these orders.
fn crowd(disc: f64, sphere: f64, area: f64) -> Series {
    let line = |order: f64| at(&[3.0, 8.0, 24.0, 64.0].map(|n: f64| (n, 2.0 * (n / 3.0).powf(order))));
    vec![
        (0, "on a disc", line(disc)),
        (0, "on a sphere", line(sphere)),
        (0, "on a disc that grows with them", line(area)),
    ]
}

/// A bar that swings bare, and with something on it, out of step by so much.
fn swings(name: &'static str, late: f64) -> Series {
    let line = |late: f64| series(60, move |t| (12.0 * t - late).cos());
    vec![(0, "nothing on it", line(0.0)), (0, name, line(late))]
}

/// What springs of all stiffnesses do, the first of them, and all others.
fn springs(panel: usize, v: [f64; 2]) -> Series {
    let names = ["springs of 1e2 N/m", "springs of 1e3 N/m", "springs of 1e4 N/m", "springs of 1e5 N/m"];
    let line = |k: usize| series(9, move |_| v[k.min(1)]);
    names.into_iter().enumerate().map(|(k, name)| (panel, name, line(k))).collect()
}

/// Names and panel of the ratio of a claim about time, a ratio that it accepts, and some that it does not.
pub fn timed(id: &str) -> Option<(usize, &'static str, &'static str, f64, &'static [f64])> {
    let (step, fits) = ("a step", "of it rotations and derivatives");
    Some(match id.strip_prefix("glue/")? {
        "costs-a-few-steps-of-springs" => (3, "glue", "springs of 1e4 N/m", 2.0, &[10.0, f64::NAN]),
        "rotations-of-a-tree-are-cheap" => (0, fits, step, 0.01, &[0.5, f64::NAN]),
        "all-of-it-is-a-small-part-of-a-tree" => (0, "a step without glue", step, 0.9, &[0.1, f64::NAN]),
        "rotations-of-a-shirt-are-nothing" => (1, fits, step, 1e-4, &[0.5, f64::NAN]),
        _ => return None,
    })
}

/// Good data, and data with which the verdict must be "not"; `None` for a claim of another kind.
pub fn examples(id: &str) -> Option<(Series, Vec<Series>)> {
    let along = |share: fn((f64, f64)) -> (f64, f64)| arrows(0, (1.0, 0.0), share);
    let across = |share: fn((f64, f64)) -> (f64, f64)| arrows(1, (0.0, 1.0), share);
    let squashed =
        |line: f64| vec![(1, "noise of the bound point", at(&[(1.0, 2.0), (0.1, 20.0), (1e-9, line)]))];
    let condition = |order: f64| -> Series {
        vec![(2, "condition number", at(&[1.0, 0.1, 1e-4, 1e-9].map(|w: f64| (w, 2.0 * w.powf(order)))))]
    };
    let arm = |worst: f64| vec![(2, "change of the arm's length", at(&[(1.0, 1e-16), (1e-9, worst)]))];
    Some(match id {
        "glue/barycentric-weights-drive-apart" => {
            let growths = |v| distances(v, [0.001; 2]);
            // Any force: one direction that does not is enough.
            (
                growths([0.05, 0.03]),
                vec![growths([0.05, 0.001]), growths([0.05, -0.1]), growths([f64::NAN, 0.05])],
            )
        }
        "glue/never-violently-apart" => {
            let changes = |v| distances([0.05; 2], v);
            (
                changes([0.001; 2]),
                vec![changes([0.001, 0.03]), changes([0.05; 2]), changes([0.001, f64::NAN])],
            )
        }
        "glue/along-the-arm-all-go-the-same-way" => {
            let mut missing = along(|_| (0.25, 0.0));
            missing.pop();
            // The weights of figure 1: one is pushed back.
            let apart = along(|x| if x == SQUARE[0] { (-0.5, 0.0) } else { (0.5, 0.0) });
            (along(|_| (0.25, 0.0)), vec![apart, along(|x| (0.25, x.1)), missing])
        }
        "glue/across-the-arm-is-a-windmill" => {
            let mut missing = across(|x| (-x.1, 0.25 + x.0));
            missing.pop();
            (
                across(|x| (-x.1, 0.25 + x.0)),
                vec![
                    across(|x| (x.1, 0.25 - x.0)),
                    across(|x| (x.0, 0.25 + x.1)),
                    across(|_| (0.0, 0.25)),
                    missing,
                ],
            )
        }
        "glue/forces-keep-sum-and-torque" => (
            lost(1e-15, 1e-14),
            vec![lost(0.1, 1e-14), lost(1e-15, 0.1), lost(1e-15, f64::NAN), lost(1e-15, 1e-14)[..1].to_vec()],
        ),
        "glue/more-parents-average" => (
            crowd(-0.5, -0.5, -0.9),
            vec![
                crowd(0.0, -0.5, -0.9),
                crowd(-0.5, -0.1, -0.9),
                crowd(0.5, 0.5, 0.5),
                crowd(-0.5, f64::NAN, -0.9),
            ],
        ),
        "glue/larger-areas-average-more" => (
            crowd(-0.5, -0.5, -0.9),
            vec![crowd(-0.5, -0.5, -0.5), crowd(-0.5, -0.5, -0.3), crowd(-0.5, -0.5, f64::NAN)],
        ),
        "glue/collapse-frees-the-rotation" => (squashed(1000.0), vec![squashed(4.0), squashed(f64::NAN)]),
        "glue/condition-tells-of-a-collapse" => (condition(-1.0), vec![condition(0.0), condition(1.0)]),
        "glue/collapsed-parents-carry-on" => (arm(1e-15), vec![arm(0.1), arm(f64::NAN)]),
        "glue/parents-stay-as-soft" => {
            let glued = |late| swings("a button glued on", late);
            (glued(0.002), vec![glued(1.0), glued(f64::NAN), glued(0.002)[..1].to_vec()])
        }
        "glue/keeps-layers-apart" => {
            let order = |v: [f64; 2]| vec![(1, "glue", series(9, move |t| v[usize::from(t == 1.0)]))];
            (order([0.008, 0.007]), vec![order([0.008, -0.008]), order([0.008, f64::NAN])])
        }
        "glue/springs-lose-the-order" => {
            (springs(1, [0.001, -0.004]), vec![springs(1, [0.008, 0.001]), springs(1, [f64::NAN, 0.001])])
        }
        "glue/holds-exactly" => {
            let apart = |v: f64| vec![(0, "glue", series(9, move |t| t * v))];
            (apart(1e-12), vec![apart(1e-3), apart(f64::NAN)])
        }
        "glue/springs-come-apart" => {
            (springs(0, [0.01, 0.02]), vec![springs(0, [0.02, 1e-4]), springs(0, [0.02, f64::NAN])])
        }
        "glue/stiff-springs-converge-slowly" => {
            let taken = |glue: f64, springs: f64| -> Series {
                vec![
                    (2, "glue", at(&[(1e2, glue), (1e5, glue)])),
                    (2, "springs", at(&[(1e2, 10.0), (1e5, springs)])),
                ]
            };
            (taken(10.0, 100.0), vec![taken(10.0, 10.0), taken(100.0, 10.0), taken(10.0, f64::NAN)])
        }
        "embedding/nothing-flies-off" => {
            let longest = |v: f64| vec![(3, "as bound: longest", series(9, move |t| 1.0 + t * v))];
            (longest(0.1), vec![longest(5.0), longest(f64::NAN)])
        }
        "embedding/nothing-shrinks" => {
            let shortest = |v: f64| vec![(3, "as bound: shortest", series(9, move |t| 1.0 - t * v))];
            (shortest(0.1), vec![shortest(0.9), shortest(f64::NAN)])
        }
        "embedding/reaching-weights-blow-up" => {
            let spikes = |far: f64, bound: f64| -> Series {
                vec![
                    (3, "weights that reach outside: longest edge", series(9, move |_| far)),
                    (3, "as bound: longest edge", series(9, move |_| bound)),
                ]
            };
            (spikes(4.0, 1.1), vec![spikes(1.1, 1.1), spikes(4.0, 4.0), spikes(f64::NAN, 1.0)])
        }
        "glue/holding-each-changes-the-dynamics" => {
            let held = |late| swings("each parent held to the button", late);
            (held(1.0), vec![held(0.002), held(0.0), held(f64::NAN)])
        }
        _ => return None,
    })
}
