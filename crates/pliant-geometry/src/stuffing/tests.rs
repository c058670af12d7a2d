use super::field::{CutLattice, EdgeCut, NEAR_LONG, NEAR_SHORT};
use super::lattice::BccLattice;
use super::octree::OctreeLevels;
use super::stencils::StencilMesh;
use glam::{DVec3, IVec3};
use pliant_math::SplitMix64;
use std::collections::BTreeSet;

/// The bounds of Labelle and Shewchuk 2007, in degrees.
const LEAST: f64 = 10.7;
const MOST: f64 = 164.8;

/// Whatever is inside and wherever edges are cut, the angles stay within the bounds: that is what was proven.
#[test]
fn any_signs_and_any_cuts_keep_the_bounds() {
    let (mut least, mut most) = (180.0f64, 0.0f64);
    for seed in 0..40 {
        let mut rng = SplitMix64::new(seed);
        let lattice = BccLattice { cells: IVec3::new(9, 10, 11), middle: DVec3::ZERO, cell: 0.3 };
        let share = 0.2 + 0.6 * rng.unit();
        let inside: Vec<bool> = (0..lattice.len() as u32)
            .map(|i| rng.unit() < share && !lattice.at_border(lattice.at(i)))
            .collect();
        let mut cuts = CutLattice::edges_to_cut(&lattice, &inside);
        for cut in &mut cuts {
            let marks = [0.0, 0.285, 0.2852, 0.3987, 0.3989, 0.5, 0.6011, 0.6013, 0.7148, 0.7150, 1.0];
            cut.part = if seed % 2 == 0 { rng.unit() } else { marks[(rng.unit() * 11.0) as usize] };
        }
        let field = CutLattice::new(lattice, &inside, cuts);
        let mut filler = StencilMesh::new(&field);
        OctreeLevels::uniform(&lattice).each_tet(|tet| filler.add(tet));
        // Neighbours split their common faces alike: no point inside is on the boundary.
        let outer: BTreeSet<u32> = filler.mesh.boundary().into_iter().flatten().collect();
        let place = |p: DVec3| p.to_array().map(f64::to_bits);
        let within: BTreeSet<[u64; 3]> = (0..lattice.len() as u32)
            .filter(|&i| field.sign[i as usize] == 1)
            .map(|i| place(field.point_position(i)))
            .collect();
        assert!(outer.iter().all(|&i| !within.contains(&place(filler.mesh.points[i as usize]))));
        let quality = filler.mesh.quality();
        assert!(filler.mesh.volumes().iter().all(|&v| v > 0.0));
        least = least.min(quality.smallest_dihedral);
        most = most.max(quality.largest_dihedral);
    }
    assert!(least > LEAST && most < MOST, "{least} {most}");
}

/// Coarse cells fill exactly what fine ones fill, and their tetrahedra meet face to face.
#[test]
fn graded_cells_fill_the_same_room_without_cracks() {
    let lattice = BccLattice { cells: IVec3::new(37, 40, 33), middle: DVec3::ZERO, cell: 0.1 };
    let inside: Vec<bool> = (0..lattice.len() as u32)
        .map(|i| {
            let p = lattice.position(lattice.at(i));
            p.length() < 1.5 && (p - DVec3::new(0.7, 0.3, 0.2)).length() > 0.15
        })
        .collect();
    let cuts = CutLattice::edges_to_cut(&lattice, &inside);
    let field = CutLattice::new(lattice, &inside, cuts);
    let fill = |levels: OctreeLevels| {
        let mut filler = StencilMesh::new(&field);
        levels.each_tet(|tet| filler.add(tet));
        filler.mesh
    };
    let (fine, graded) = (fill(OctreeLevels::uniform(&lattice)), fill(OctreeLevels::graded(&field)));
    assert!(4 * graded.tetrahedra.len() < 3 * fine.tetrahedra.len(), "{}", graded.tetrahedra.len());
    let boundary = |mesh: &crate::TetMesh| {
        let place = |i: u32| mesh.points[i as usize].to_array().map(f64::to_bits);
        let mut faces: Vec<_> = mesh
            .boundary()
            .into_iter()
            .map(|face| {
                let mut face = face.map(place);
                face.sort_unstable();
                face
            })
            .collect();
        faces.sort_unstable();
        faces
    };
    assert!(boundary(&fine) == boundary(&graded));
    let volume = |mesh: &crate::TetMesh| mesh.volumes().iter().sum::<f64>();
    assert!((volume(&fine) / volume(&graded) - 1.0).abs() < 1e-10);
    assert!(graded.volumes().iter().all(|&v| v > 0.0));
    let quality = graded.quality();
    assert!(quality.smallest_dihedral > LEAST && quality.largest_dihedral < MOST, "{quality:?}");
}

/// What becomes of a corner of a background tetrahedron: it is inside, outside, or moved along one of its edges.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Inside,
    Outside,
    MovedTo(IVec3),
}

/// All arrangements of one tetrahedron, with cuts and moves as far as they go and none at all: no angle leaves the
/// bounds. That is the proof of the paper on a coarse grid of cases, and shows at once if a threshold is wrong.
#[test]
fn no_arrangement_of_a_tetrahedron_leaves_the_bounds() {
    let lattice = BccLattice { cells: IVec3::splat(4), middle: DVec3::ZERO, cell: 1.0 };
    let edges: Vec<IVec3> = IVec3::AXES
        .into_iter()
        .flat_map(|axis| [2 * axis, -2 * axis])
        .chain((0..8).map(|i| 2 * super::lattice::octant(i) - 1))
        .collect();
    let (mut least, mut most) = (180.0f64, 0.0f64);
    for tet in super::lattice::around_face(IVec3::new(1, 1, 1), 0) {
        let states = |at: IVec3| {
            let moves = edges.iter().map(move |&edge| State::MovedTo(at + edge));
            [State::Inside, State::Outside, State::MovedTo(at)].into_iter().chain(moves).collect::<Vec<_>>()
        };
        let each = tet.map(states);
        for i in 0..17usize.pow(4) {
            let state: [State; 4] = std::array::from_fn(|k| each[k][i / 17usize.pow(k as u32) % 17]);
            if state.contains(&State::Inside) && possible(tet, state) {
                for mesh in arrangements(&lattice, tet, state) {
                    let quality = mesh.quality();
                    least = least.min(quality.smallest_dihedral);
                    most = most.max(quality.largest_dihedral);
                }
            }
        }
    }
    assert!(least > LEAST && most < MOST, "{least} {most}");
    // Nor do they stay far from them, or else the thresholds are not those of the paper.
    assert!(least < 10.85 && most > 164.6, "{least} {most}");
}

/// Whether signs explain the moves: a corner moves to a cut, whose ends were on different sides, and one cut does not
/// move both.
fn possible(tet: [IVec3; 4], state: [State; 4]) -> bool {
    (0..16).any(|sides: u32| {
        let side = |k: usize| sides >> k & 1 == 1;
        (0..4).all(|k| match state[k] {
            State::Inside => side(k),
            State::Outside => !side(k),
            State::MovedTo(to) => match tet.iter().position(|&at| at == to).filter(|&other| other != k) {
                Some(other) => side(other) != side(k) && state[other] != State::MovedTo(tet[k]),
                None => true,
            },
        })
    })
}

/// The tetrahedra of an arrangement, for its cuts as near to either end as they may be.
fn arrangements(lattice: &BccLattice, tet: [IVec3; 4], state: [State; 4]) -> Vec<crate::TetMesh> {
    let near = |a: IVec3, b: IVec3| if (a.x - b.x) % 2 == 0 { NEAR_LONG } else { NEAR_SHORT };
    let mut sign = vec![-1; lattice.len()];
    let mut cuts = Vec::new();
    let mut free = Vec::new();
    for (k, &at) in tet.iter().enumerate() {
        let index = lattice.index(at);
        match state[k] {
            State::Inside => {
                sign[index as usize] = 1;
                for &other in tet.iter().enumerate().filter(|o| state[o.0] == State::Outside).map(|o| o.1) {
                    free.push((index, lattice.index(other)));
                    cuts.push(EdgeCut {
                        inside: index,
                        outside: lattice.index(other),
                        part: near(at, other),
                    });
                }
            }
            State::Outside => {}
            State::MovedTo(to) => {
                sign[index as usize] = 0;
                let part = if to == at { 0.0 } else { near(at, to) };
                let outside = if to == at { index } else { lattice.index(to) };
                cuts.push(EdgeCut { inside: index, outside, part });
            }
        }
    }
    cuts.sort_unstable_by_key(|cut| (cut.inside, cut.outside));
    let mut moved_to = vec![u32::MAX; lattice.len()];
    for (i, cut) in cuts.iter().enumerate().filter(|(_, cut)| sign[cut.inside as usize] == 0) {
        moved_to[cut.inside as usize] = i as u32;
    }
    let mut field = CutLattice { lattice: *lattice, sign, cuts, moved_to };
    let mut meshes = Vec::new();
    for ends in 0..1u32 << free.len() {
        for (bit, &(inside, outside)) in free.iter().enumerate() {
            let cut = field.cut(inside, outside) as usize;
            let least = near(lattice.at(inside), lattice.at(outside));
            field.cuts[cut].part = if ends >> bit & 1 == 1 { 1.0 - least } else { least };
        }
        let mut filler = StencilMesh::new(&field);
        filler.add(tet);
        meshes.push(filler.mesh);
    }
    meshes
}
