//! Random polygon soups: counts against brute force.

use super::known::mesh;
use pliant_geometry::{Holes, PolyMesh, RepairOptions, inspect, join, repair, split_pieces};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Few vertices on a small grid, so that everything that can be wrong is.
pub fn soup() -> impl Strategy<Value = PolyMesh> {
    (3_usize..12, 1_u32..5).prop_flat_map(|(vertices, steps)| {
        let point = prop::array::uniform3((0..=steps).prop_map(f64::from));
        let face = prop::collection::vec(0..vertices as u32, 3..6);
        let face = prop_oneof![4 => prop::collection::vec(0..vertices as u32, 3..4), 1 => face];
        (prop::collection::vec(point, vertices), prop::collection::vec(face, 0..14))
            .prop_map(|(positions, faces)| mesh(&positions, &faces))
    })
}

type Fan = BTreeSet<(usize, usize)>;

proptest! {
    #[test]
    fn counts_are_those_of_brute_force(m in soup()) {
        let report = inspect(&m, 2);
        let faces: Vec<Vec<u32>> = super::known::faces(&m);
        let distinct = |f: &[u32]| f.iter().collect::<BTreeSet<_>>().len();
        // Edges by all pairs of neighbouring corners of faces that have not collapsed.
        let mut edges: BTreeMap<(u32, u32), Vec<bool>> = BTreeMap::new();
        // Corners at a vertex that meet across an edge there.
        let mut at: BTreeMap<u32, Vec<(BTreeSet<u32>, Fan)>> = BTreeMap::new();
        for (k, f) in faces.iter().enumerate().filter(|(_, f)| distinct(f) > 2) {
            let n = f.len();
            for c in 0..n {
                let (a, b) = (f[c], f[(c + 1) % n]);
                if a != b {
                    edges.entry((a.min(b), a.max(b))).or_default().push(a < b);
                }
                let before = (1..n).map(|d| f[(c + n - d) % n]).find(|&v| v != a);
                let after = (1..n).map(|d| f[(c + d) % n]).find(|&v| v != a);
                let sides = BTreeSet::from([before.unwrap(), after.unwrap()]);
                at.entry(a).or_default().push((sides, BTreeSet::from([(k, c)])));
            }
        }
        let count = |p: &dyn Fn(&Vec<bool>) -> bool| edges.values().filter(|s| p(s)).count();
        prop_assert_eq!(report.as_is.edges, edges.len());
        prop_assert_eq!(report.as_is.boundary_edges.count, count(&|s| s.len() == 1));
        prop_assert_eq!(report.as_is.non_manifold_edges.count, count(&|s| s.len() > 2));
        prop_assert_eq!(report.as_is.inconsistent_edges.count, count(&|s| s.len() == 2 && s[0] == s[1]));
        let mut pinched = 0;
        for fans in at.values_mut() {
            while let Some((i, j)) = (0..fans.len())
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .find(|&(i, j)| !fans[i].0.is_disjoint(&fans[j].0))
            {
                let (sides, corners) = fans.swap_remove(i);
                fans[j].0.extend(sides);
                fans[j].1.extend(corners);
            }
            pinched += usize::from(fans.len() > 1);
        }
        prop_assert_eq!(report.as_is.non_manifold_vertices.count, pinched);
        // Pieces by growing sets of vertices.
        let mut pieces: Vec<BTreeSet<u32>> = Vec::new();
        for f in faces.iter().filter(|f| distinct(f) > 2) {
            let mut grown: BTreeSet<u32> = f.iter().copied().collect();
            pieces.retain(|p| {
                let apart = p.is_disjoint(&grown);
                if !apart {
                    grown.extend(p);
                }
                apart
            });
            pieces.push(grown);
        }
        prop_assert_eq!(report.as_is.pieces, pieces.len());
        // Copies, by all pairs.
        let sorted: Vec<Vec<u32>> = faces.iter().map(|f| { let mut f = f.clone(); f.sort_unstable(); f }).collect();
        let copied = (0..faces.len()).filter(|&i| sorted[..i].contains(&sorted[i])).count();
        prop_assert_eq!(report.face_faults.duplicate.count + report.face_faults.opposite.count, copied);
        prop_assert_eq!(report.face_faults.repeated.count, faces.iter().filter(|f| distinct(f) < f.len()).count());
        let used: BTreeSet<u32> = faces.iter().flatten().copied().collect();
        prop_assert_eq!(report.unreferenced.count, m.positions.len() - used.len());
        let places = |i: usize| m.positions[..i].contains(&m.positions[i]);
        prop_assert_eq!(report.coincident.count, (0..m.positions.len()).filter(|&i| places(i)).count());
        prop_assert!(report.lines().iter().all(|l| !l.contains("NaN")));
        prop_assert_eq!(&report, &inspect(&m, 3));
    }
}

fn options() -> impl Strategy<Value = RepairOptions> {
    let weld = prop_oneof![Just(None), Just(Some(0.0)), Just(Some(1.1))];
    let holes = prop_oneof![
        Just(None),
        (3_usize..20, 0.0..5.0).prop_map(|(edges, share)| Some(Holes { edges, share }))
    ];
    let flags = prop::array::uniform8(any::<bool>());
    (weld, holes, flags, prop_oneof![Just(0.0), Just(0.5)]).prop_map(|(weld, holes, flags, tiny_pieces)| {
        let [degenerate, duplicates, opposite_duplicates, agree, outward, split, unreferenced, default] =
            flags;
        if default {
            return RepairOptions { holes, ..RepairOptions::default() };
        }
        RepairOptions {
            weld,
            degenerate,
            duplicates,
            opposite_duplicates,
            agree,
            outward,
            split,
            holes,
            tiny_pieces,
            unreferenced,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn repairs_never_make_it_worse_and_are_done_at_once(m in soup(), options in options()) {
        let (fixed, done) = repair(&m, &options);
        prop_assert!(fixed.check().is_ok());
        prop_assert!(inspect(&fixed, 1).defects() <= inspect(&m, 1).defects());
        prop_assert_eq!(done.is_empty(), fixed == m);
        let (again, more) = repair(&fixed, &options);
        prop_assert_eq!(more, vec![]);
        prop_assert_eq!(&again, &fixed);
        // No vertex is anywhere it was not.
        prop_assert!(fixed.positions.iter().all(|p| m.positions.contains(p)));
        if options == RepairOptions::default() {
            prop_assert_eq!(inspect(&fixed, 1).face_faults.duplicate.count, 0);
        }
    }

    #[test]
    fn pieces_joined_again_have_the_same_faces(m in soup()) {
        let pieces = split_pieces(&m);
        let whole = join(&pieces);
        let (a, b) = (inspect(&m, 1), inspect(&whole, 1));
        prop_assert_eq!(a.faces, b.faces);
        prop_assert_eq!(a.face_faults.repeated.count, b.face_faults.repeated.count);
        prop_assert_eq!(a.face_faults.zero_area.count, b.face_faults.zero_area.count);
        prop_assert_eq!((a.welded.pieces, a.welded.edges, a.crossings.count()), (b.welded.pieces, b.welded.edges, b.crossings.count()));
        prop_assert!(pieces.iter().all(|p| inspect(p, 1).welded.pieces <= 1));
    }
}
