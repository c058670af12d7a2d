//! Tetrahedra inside meshes of all kinds: angles within the proven bounds, right way round, watertight, near the mesh.

use glam::DVec3;
use pliant_geometry::shapes::{self, SolidShape};
use pliant_geometry::{GeometryError, SplitMix64, StuffingOptions, StuffingReport, TetMesh, TriMesh, stuff};
use proptest::prelude::*;
use std::collections::BTreeMap;

const PLAIN: StuffingOptions = StuffingOptions { graded: false, threads: 2 };
const GRADED: StuffingOptions = StuffingOptions { graded: true, threads: 2 };

/// What holds for every mesh, however broken.
fn check(mesh: &TetMesh, report: &StuffingReport, what: &str) {
    assert_eq!(mesh.faults(), [], "{what}");
    assert!(mesh.volumes().iter().all(|&v| v > 0.0), "{what}");
    let quality = mesh.quality();
    assert!(quality.smallest_dihedral > 10.7 && quality.largest_dihedral < 164.8, "{what}: {quality:?}");
    assert_eq!((report.tetrahedra, report.points), (mesh.tetrahedra.len(), mesh.points.len()), "{what}");
    assert!(mesh.unreferenced().is_empty(), "{what}");
    let mut walked: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();
    for [a, b, c] in mesh.boundary() {
        for [p, q] in [[a, b], [b, c], [c, a]] {
            walked.entry([p.min(q), p.max(q)]).or_default()[usize::from(p < q)] += 1;
        }
    }
    assert!(walked.values().all(|&w| w == [1, 1]), "{what}: the boundary is not watertight");
    for number in [report.volume, report.mesh_volume, report.boundary_to_mesh, report.mesh_to_boundary] {
        assert!(number.is_finite() && number >= 0.0, "{what}: {report:?}");
    }
}

fn stuffed(mesh: &TriMesh, cell: f64, options: &StuffingOptions, what: &str) -> (TetMesh, StuffingReport) {
    let (tets, report) = stuff(mesh, cell, options).unwrap_or_else(|e| panic!("{what}: {e}"));
    check(&tets, &report, what);
    (tets, report)
}

#[test]
fn solids_are_filled_to_their_surface() {
    let solids = [
        SolidShape::Ball { radius: 0.5 },
        SolidShape::Torus { major: 0.6, minor: 0.25 },
        SolidShape::Cuboid { size: DVec3::new(1.0, 0.7, 0.5) },
        SolidShape::GummyBear { height: 1.0 },
        SolidShape::Bunny { height: 1.0 },
        SolidShape::Cylinder { radius: 0.4, height: 1.0 },
    ];
    for solid in solids {
        let surface = solid.build(0.04).unwrap().surface;
        // The ears of the bunny are thinner than the larger cells.
        let cells = if matches!(solid, SolidShape::Bunny { .. }) { &[0.05, 0.04] } else { &[0.1, 0.063] };
        for &cell in cells {
            for options in [PLAIN, GRADED] {
                let what = format!("{solid:?} at {cell}, {options:?}");
                let (_, report) = stuffed(&surface, cell, &options, &what);
                assert!(report.volume_error().abs() < 0.12, "{what}: {report:?}");
                assert!(report.boundary_to_mesh < 0.6 * cell, "{what}: {report:?}");
                assert!(report.mesh_to_boundary < cell, "{what}: {report:?}");
                assert_eq!((report.vertices_missed, report.parts), (0, 1), "{what}: {report:?}");
            }
        }
    }
}

#[test]
fn finer_cells_come_nearer_to_the_surface() {
    let surface = shapes::ball(0.5, 0.02).unwrap().surface;
    let error = |cell| stuffed(&surface, cell, &PLAIN, "a ball").1.volume_error().abs();
    let (coarse, fine) = (error(0.16), error(0.04));
    assert!(fine < coarse / 8.0, "{coarse} {fine}");
}

#[test]
fn threads_do_not_matter_and_a_mesh_inside_out_is_the_same() {
    let mut surface = shapes::gummy_bear(1.0, 0.05).unwrap().surface;
    let make = |surface: &TriMesh, threads| stuff(surface, 0.07, &StuffingOptions { threads, graded: true });
    let one = make(&surface, 1).unwrap();
    assert_eq!(make(&surface, 2).unwrap(), one);
    assert_eq!(make(&surface, 5).unwrap(), one);
    surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let turned = make(&surface, 2).unwrap().0;
    assert_eq!(turned.tetrahedra, one.0.tetrahedra);
}

fn remove_share(mesh: &TriMesh, share: f64) -> TriMesh {
    let mut rng = SplitMix64::new(7);
    let triangles = mesh.triangles.iter().copied().filter(|_| rng.unit() >= share).collect();
    TriMesh { triangles, ..mesh.clone() }
}

#[test]
fn a_bear_is_filled_with_holes_too() {
    let bear = shapes::gummy_bear(1.5, 0.05).unwrap().surface;
    let (_, whole) = stuffed(&bear, 0.06, &PLAIN, "a bear");
    assert!(whole.volume_error().abs() < 0.05, "{whole:?}");
    let holed = remove_share(&bear, 0.03);
    for options in [PLAIN, GRADED] {
        let (_, report) = stuffed(&holed, 0.06, &options, "a bear with holes");
        assert!((report.volume / whole.volume - 1.0).abs() < 0.02, "{report:?}");
    }
}

#[test]
fn a_ball_with_holes_keeps_its_volume() {
    let ball = shapes::ball(0.5, 0.05).unwrap().surface;
    let (_, report) = stuffed(&remove_share(&ball, 0.05), 0.08, &PLAIN, "a ball with holes");
    let whole = ball.volume();
    assert!((report.volume / whole - 1.0).abs() < 0.03 && (report.mesh_volume / whole - 1.0).abs() < 0.05);
}

#[test]
fn what_has_no_inside_or_would_not_fit_is_refused_with_a_size() {
    let help = |error: Result<_, GeometryError>| error.map(|_: (TetMesh, _)| ()).unwrap_err().to_string();
    let ball = shapes::ball(0.5, 0.1).unwrap().surface;
    let tiny = help(stuff(&ball, 1e-5, &PLAIN));
    assert!(tiny.contains("use a cell of") && tiny.contains("or more"), "{tiny}");
    let huge = help(stuff(&ball, 50.0, &PLAIN));
    assert!(huge.contains("use a cell of") && huge.contains("or less"), "{huge}");
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(stuff(&ball, cell, &PLAIN).is_err(), "{cell}");
    }
    assert!(stuff(&TriMesh::default(), 0.1, &PLAIN).is_err());
    assert!(stuff(&shapes::sheet(1.0, 1.0, 4, 4).unwrap().surface, 0.1, &PLAIN).is_err());
    let dot = TriMesh { positions: vec![DVec3::ONE; 3], triangles: vec![[0, 1, 2]; 4] };
    assert!(stuff(&dot, 0.1, &PLAIN).is_err());
    let wild = TriMesh { positions: vec![DVec3::NAN; 3], triangles: vec![[0, 1, 2]] };
    assert!(stuff(&wild, 0.1, &PLAIN).is_err());
    let astray = TriMesh { positions: vec![DVec3::ONE; 3], triangles: vec![[0, 1, 3]] };
    assert!(stuff(&astray, 0.1, &PLAIN).is_err());
}

/// The size named in a refusal works.
#[test]
fn the_size_that_is_named_works() {
    let needle = shapes::cuboid(DVec3::new(1.0, 0.004, 0.004), 0.002).unwrap().surface;
    let error = stuff(&needle, 1e-6, &PLAIN).unwrap_err();
    let cell: f64 = error.help.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert!(cell > 1e-6 && cell < 4e-3, "{error}");
    assert!(stuff(&needle, 1e-3, &PLAIN).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Soups of loose triangles, of polygons that share corners, and of solids that cross: the bounds hold for all.
    #[test]
    fn soups_keep_the_bounds(seed in any::<u64>(), count in 1usize..60, kind in 0u8..4, cell in 0.08f64..0.5) {
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TriMesh::default();
        for _ in 0..count {
            let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
            let first = mesh.positions.len() as u32;
            match kind {
                0 => {
                    mesh.positions.extend([random(), random(), random()]);
                    mesh.triangles.push([first, first + 1, first + 2]);
                }
                1 => {
                    mesh.positions.extend((0..5).map(|_| random()));
                    mesh.triangles.extend((1..4).map(|i| [first, first + i, first + i + 1]));
                }
                2 => {
                    // Tetrahedra either way round, also flat ones.
                    let (at, flat) = (random() * 0.5, f64::from(count as u32 % 2));
                    mesh.positions.extend((0..4).map(|_| at + random() * DVec3::new(1.0, 1.0, flat)));
                    mesh.triangles.extend(
                        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t: [u32; 3]| t.map(|i| i + first)),
                    );
                }
                _ => {
                    // Corners on a coarse grid: points of the lattice lie on the mesh.
                    let snap = |p: DVec3| (p * 2.0).round() * 0.5;
                    mesh.positions.extend([snap(random()), snap(random()), snap(random()), snap(random())]);
                    mesh.triangles.extend(
                        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t: [u32; 3]| t.map(|i| i + first)),
                    );
                }
            }
        }
        let cell = if kind == 3 { 0.25 } else { cell };
        for options in [PLAIN, GRADED] {
            if let Ok((tets, report)) = stuff(&mesh, cell, &options) {
                check(&tets, &report, &format!("kind {kind}"));
            }
        }
    }
}
