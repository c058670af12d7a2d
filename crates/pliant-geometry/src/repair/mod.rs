//! What is wrong with a mesh is mended, each kind by itself, and every mend is told.
//!
//! Vertices are never moved (but by welding within a tolerance, if asked for) and keep their order. The mends are
//! gone through until none finds anything, so a second repair changes nothing; one that would leave more defects
//! ([`crate::MeshReport::defects`]) than it found is undone.

mod edit;
mod faces;
mod holes;
mod join;
mod pieces;
mod place;
mod seams;
mod turns;

pub use join::join;
pub use pieces::split_pieces;
pub use place::{normalise, normalising, transform};

use crate::inspect::weld::same_places;
use crate::inspect::{defects, fault};
use crate::poly::PolyMesh;
use std::fmt;

/// Mends settle in two or three rounds; more would be going in circles.
const ROUNDS: usize = 16;

/// What is to be mended.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairOptions {
    /// Make one of vertices that are no further apart than this: 0 for the same place, `None` for never. Texture
    /// coordinates and normals stay as they are, corner by corner.
    pub weld: Option<f64>,
    /// Drop faces of fewer than three different vertices, and those without area that close nothing.
    pub degenerate: bool,
    /// Drop copies of faces, walked the same way.
    pub duplicates: bool,
    /// Drop copies that are turned over, too: one side of double-sided sheets.
    pub opposite_duplicates: bool,
    /// Turn faces so that neighbours agree.
    pub agree: bool,
    /// Turn closed pieces that are inside-out; cavities stay.
    pub outward: bool,
    /// Split vertices and edges where solids only touch.
    pub split: bool,
    /// Fill holes, if they are small.
    pub holes: Option<Holes>,
    /// Drop pieces whose box is smaller than this share of the whole mesh's; 0 drops none.
    pub tiny_pieces: f64,
    /// Drop vertices that no face uses.
    pub unreferenced: bool,
}

/// Holes that are small enough to be filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holes {
    /// Edges around it, at most (and never more than 256).
    pub edges: usize,
    /// Length around it, at most, as a share of its piece's diagonal.
    pub share: f64,
}

impl Default for Holes {
    fn default() -> Holes {
        // About a thirtieth of the size across: no sleeve and no neck of a garment.
        Holes { edges: 32, share: 0.1 }
    }
}

impl Default for RepairOptions {
    fn default() -> RepairOptions {
        RepairOptions {
            weld: Some(0.0),
            degenerate: true,
            duplicates: true,
            opposite_duplicates: false,
            agree: true,
            outward: true,
            split: true,
            holes: Some(Holes::default()),
            tiny_pieces: 0.0,
            unreferenced: false,
        }
    }
}

impl RepairOptions {
    /// Nothing is mended; to choose from there.
    pub fn none() -> RepairOptions {
        RepairOptions {
            weld: None,
            degenerate: false,
            duplicates: false,
            opposite_duplicates: false,
            agree: false,
            outward: false,
            split: false,
            holes: None,
            tiny_pieces: 0.0,
            unreferenced: false,
        }
    }
}

/// Something that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// How many.
    pub count: usize,
    /// What was done to them, such as "vertices welded".
    pub what: &'static str,
    /// What was wrong with them, as a sentence without a full stop.
    pub why: &'static str,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.count, self.what, self.why)
    }
}

/// A changed mesh and what was done; `None` if there was nothing to do.
type Repaired = Option<(PolyMesh, Vec<(usize, &'static str, &'static str)>)>;

type RepairStep = fn(&PolyMesh, &RepairOptions) -> Repaired;

/// Mends a mesh. A mesh that does not hold together ([`PolyMesh::check`]) is given back as it is.
pub fn repair(mesh: &PolyMesh, options: &RepairOptions) -> (PolyMesh, Vec<Repair>) {
    let mut work = RepairWork { mesh: mesh.clone(), defects: 0, repairs: Vec::new() };
    if fault(mesh).is_some() {
        return (work.mesh, work.repairs);
    }
    work.defects = defects(mesh);
    for _ in 0..ROUNDS {
        let mends: [(bool, RepairStep); 8] = [
            (true, seams),
            (options.degenerate, flat),
            (options.duplicates, copies),
            (options.agree, agree),
            (options.holes.is_some(), fill),
            (options.outward, outward),
            (options.tiny_pieces > 0.0, tiny),
            (options.unreferenced, unreferenced),
        ];
        let changed = mends.iter().filter(|(wanted, mend)| *wanted && work.take(mend(&work.mesh, options)));
        if changed.count() == 0 {
            break;
        }
    }
    (work.mesh, work.repairs)
}

struct RepairWork {
    mesh: PolyMesh,
    defects: usize,
    repairs: Vec<Repair>,
}

impl RepairWork {
    /// Takes a mend unless it makes things worse; whether it did.
    fn take(&mut self, mend: Repaired) -> bool {
        let Some((mesh, done)) = mend else { return false };
        let defects = defects(&mesh);
        if defects > self.defects {
            return false;
        }
        (self.mesh, self.defects) = (mesh, defects);
        for (count, what, why) in done.into_iter().filter(|d| d.0 > 0) {
            match self.repairs.iter_mut().find(|r| r.what == what) {
                Some(repair) => repair.count += count,
                None => self.repairs.push(Repair { count, what, why }),
            }
        }
        true
    }
}

fn seams(mesh: &PolyMesh, options: &RepairOptions) -> Repaired {
    let names = match options.weld {
        Some(tolerance) => same_places(mesh, tolerance.max(0.0)),
        None => (0..mesh.positions.len() as u32).collect(),
    };
    // Faces that welding collapses must not keep their neighbours apart.
    let (mut dropped, mut shortened) = (0, 0);
    let mut trimmed = None;
    if options.degenerate
        && let Some((mesh, faces, corners)) = faces::drop_collapsed(mesh, &names)
    {
        (dropped, shortened) = (faces, corners);
        trimmed = Some(mesh);
    }
    let mended = seams::repair_seams(trimmed.as_ref().unwrap_or(mesh), &names, options.split);
    let done = vec![
        (mended.welded, "vertices welded", "they were in the place of another one"),
        (mended.split, "vertices split", "faces met there that only touch"),
        (mended.moved, "corners joined to others", "their faces fit together with those of another vertex"),
        (dropped, "faces dropped", "they had fewer than three different vertices"),
        (shortened, "faces shortened", "they named a vertex twice in a row"),
    ];
    (mended.mesh != *mesh).then_some((mended.mesh, done))
}

fn flat(mesh: &PolyMesh, _: &RepairOptions) -> Repaired {
    let (mesh, count) = faces::drop_flat(mesh)?;
    Some((mesh, vec![(count, "flat faces dropped", "they had no area and closed nothing")]))
}

fn copies(mesh: &PolyMesh, options: &RepairOptions) -> Repaired {
    let (mesh, count) = faces::drop_copies(mesh, options.opposite_duplicates)?;
    Some((mesh, vec![(count, "copies dropped", "another face had the same vertices")]))
}

fn agree(mesh: &PolyMesh, _: &RepairOptions) -> Repaired {
    let (mesh, count) = turns::agree(mesh)?;
    Some((mesh, vec![(count, "faces turned over", "they looked the other way than their neighbours")]))
}

fn outward(mesh: &PolyMesh, _: &RepairOptions) -> Repaired {
    let (mesh, count) = turns::outward(mesh)?;
    Some((mesh, vec![(count, "pieces turned outwards", "they were closed and inside-out")]))
}

fn fill(mesh: &PolyMesh, options: &RepairOptions) -> Repaired {
    let (mesh, count, triangles) = holes::fill(mesh, options.holes.as_ref()?)?;
    Some((
        mesh,
        vec![
            (count, "holes filled", "they were small for their piece"),
            (triangles, "triangles added", "they fill the holes"),
        ],
    ))
}

fn tiny(mesh: &PolyMesh, options: &RepairOptions) -> Repaired {
    let (mesh, count) = pieces::drop_tiny(mesh, options.tiny_pieces)?;
    Some((mesh, vec![(count, "pieces dropped", "they were tiny")]))
}

fn unreferenced(mesh: &PolyMesh, _: &RepairOptions) -> Repaired {
    let keep = edit::used(mesh);
    let count = keep.iter().filter(|k| !**k).count();
    let done = vec![(count, "vertices dropped", "no face used them")];
    (count > 0).then(|| (edit::keep_vertices(mesh, &keep), done))
}
