//! Made-up data for the claims about meshes on their way to bodies: good, and sabotaged.

use super::sabotage::{Series, at, series};

/// Counts of four kinds of damage: made, found, left.
fn counts(made: [f64; 4], found: [f64; 4], left: [f64; 4]) -> Series {
    let line = |v: [f64; 4]| at(&[1.0, 2.0, 3.0, 4.0].map(|k| (k, v[k as usize - 1])));
    vec![(2, "made", line(made)), (2, "found", line(found)), (2, "found after repair", line(left))]
}

/// Errors of the winding number of four meshes.
fn errors(worst: f64) -> Series {
    let names = ["closed", "3 % removed", "30 % removed", "soup"];
    let line = |k: usize| series(9, move |t| if k == 2 { worst * t } else { 1e-6 });
    names.into_iter().enumerate().map(|(k, name)| (4, name, line(k))).collect()
}

/// Smallest and largest angles, of the graded mesh as given.
fn angles(graded: [f64; 2]) -> Series {
    let ends = |v: [f64; 2]| at(&v.map(|angle| (angle, 1e-5)));
    vec![
        (2, "uniform, smallest and largest", ends([20.0, 150.0])),
        (2, "graded, smallest and largest", ends(graded)),
    ]
}

/// Mean distances of surfaces bound to particles, tetrahedra and clusters.
fn bound(particles: f64, tetrahedra: f64, clusters: f64) -> Series {
    let line = |v: f64| series(9, move |t| 2.0 * v * t);
    vec![
        (5, "on particles", line(particles)),
        (5, "on tetrahedra", line(tetrahedra)),
        (5, "on clusters", line(clusters)),
    ]
}

/// Good data, and data with which the verdict must be "not"; `None` for a claim of another kind.
pub fn examples(id: &str) -> Option<(Series, Vec<Series>)> {
    let made = [120.0, 60.0, 16.0, 16.0];
    let removed = |right: f64| vec![(5, "triangles removed at random", at(&[(0.0, 1.0), (3.0, right)]))];
    let volumes = |v: [f64; 3]| vec![(3, "volume", at(&[(0.0, v[0]), (1.0, v[1]), (2.0, v[2])]))];
    let errors_of = |order: i32| -> Series {
        vec![(3, "bear", at(&[0.1, 0.05, 0.025].map(|h: f64| (h, 10.0 * h.powi(order)))))]
    };
    let pairs = |wave: f64| vec![(5, "blue noise", at(&[(1.0, 3.0), (2.0, 1.0 + wave), (3.0, 1.0)]))];
    let soup = |right: f64| vec![(5, "soup", at(&[(0.0, right), (50.0, right)]))];
    let quilt = |off: f64| vec![(5, "quilt on cloth", series(9, move |_| off))];
    Some(match id {
        "mesh/inspection-finds-all-damage" => (
            counts(made, made, [0.0; 4]),
            vec![
                counts(made, [120.0, 60.0, 0.0, 16.0], [0.0; 4]),
                counts(made, [120.0, 90.0, 16.0, 16.0], [0.0; 4]),
                counts(made, made, [0.0; 4])[..1].to_vec(),
            ],
        ),
        "mesh/repair-leaves-nothing" => (
            counts(made, made, [0.0; 4]),
            vec![counts(made, made, [3.0, 0.0, 0.0, 1.0]), counts(made, made, [0.0; 4])[..2].to_vec()],
        ),
        "mesh/repair-keeps-the-body" => (
            volumes([1.0, 0.9, 0.999]),
            vec![volumes([1.0, 0.9, 0.9]), volumes([1.0, 1.0, -1.0]), volumes([1.0, 1.0, f64::NAN])],
        ),
        "winding/expansion-is-close" => (errors(1e-4), vec![errors(0.1), errors(f64::NAN)]),
        "winding/holes-do-not-matter" => (removed(0.999), vec![removed(0.9), removed(1.0)[..0].to_vec()]),
        "winding/soups-have-an-inside" => (soup(0.99), vec![soup(0.9), soup(f64::NAN)]),
        "filling/blue-noise-keeps-its-distance" => {
            let least = |d: f64| vec![(4, "blue noise", at(&[(1.0, 1.0), (d, 0.001)]))];
            (least(0.7), vec![least(0.4), least(f64::NAN)])
        }
        "filling/blue-noise-has-no-lattice" => {
            (pairs(0.05), vec![pairs(5.0), pairs(-0.5), vec![(5, "lattice", at(&[(2.5, 1.0)]))]])
        }
        "stuffing/no-small-angles" => {
            (angles([11.0, 160.0]), vec![angles([2.0, 160.0]), angles([11.0, 160.0])[..1].to_vec()])
        }
        "stuffing/no-large-angles" => {
            (angles([11.0, 160.0]), vec![angles([11.0, 175.0]), angles([11.0, 160.0])[..1].to_vec()])
        }
        "stuffing/volume-converges" => (errors_of(2), vec![errors_of(0), errors_of(-1)]),
        "stuffing/volume-is-near" => (errors_of(2), vec![errors_of(1), errors_of(0)]),
        "skin_binding/tetrahedra-are-nearest" => {
            (bound(0.05, 0.005, 0.15), vec![bound(0.05, 0.04, 0.15), bound(0.05, f64::NAN, 0.15)])
        }
        "skin_binding/particles-are-near" => (bound(0.05, 0.005, 0.15), vec![bound(0.5, 0.005, 0.15)]),
        "skin_binding/clusters-are-stiffer" => {
            (bound(0.05, 0.005, 0.15), vec![bound(0.05, 0.005, 0.9), bound(0.05, 0.005, 0.01)])
        }
        "skin_binding/cloth-keeps-its-thickness" => (quilt(0.01), vec![quilt(1.0), quilt(f64::NAN)]),
        _ => return None,
    })
}
