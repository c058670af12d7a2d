//! What a mesh is like: counts, sizes, and everything that is wrong with it, with places to look at.
//!
//! Faces are taken as they are, and once more with vertices in the same place taken as one ("welded"): STL files
//! and meshes cut along texture seams are open in the first sense only.

mod closedness;
mod crossings;
mod exact;
mod faces;
pub(crate) mod fans;
mod findings;
mod measures;
pub(crate) mod shells;
pub(crate) mod sides;
mod text;
pub(crate) mod topology;
mod units;
pub(crate) mod weld;

pub use closedness::Closedness;
pub use crossings::Crossings;
pub use faces::FaceFaults;
pub(crate) use faces::{copies, on_a_line};
pub use findings::Findings;
pub use measures::Measures;
pub use topology::{MeshPiece, MeshTopology};
pub(crate) use units::short;
pub use units::{UnitGuess, guess_units};

use crate::error::all_finite;
use crate::poly::PolyMesh;
use glam::DVec3;
use shells::Shells;
use sides::WeldedFaces;

/// Vertices nearer than this share of the mesh's diagonal are reported as nearly the same.
const NEAR: f64 = 1e-6;
/// Coordinates beyond this cannot be measured: squares of areas would overflow.
const LARGEST: f64 = 1e60;

/// What a mesh is like.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MeshReport {
    /// What the file calls the mesh; empty where it does not.
    pub name: String,
    /// Why the mesh could not be looked at: indices out of range, coordinates that are no usable numbers. All
    /// below but the first counts is left empty then.
    pub fault: Option<String>,
    /// Number of vertices, used or not.
    pub vertices: usize,
    /// Number of faces, as the file has them.
    pub faces: usize,
    /// Faces with three corners.
    pub triangles: usize,
    /// Faces with four corners.
    pub quads: usize,
    /// Faces with five and more.
    pub larger: usize,
    /// Smallest and largest coordinates; `None` without vertices.
    pub bounds: Option<[DVec3; 2]>,
    /// Vertices that no face uses.
    pub unreferenced: Findings<u32>,
    /// Vertices in exactly the place of an earlier one.
    pub coincident: Findings<u32>,
    /// Further vertices that are within `near_distance` of an earlier one.
    pub near: Findings<u32>,
    /// What counts as near: a millionth of the diagonal.
    pub near_distance: f64,
    /// Faces that are degenerate or there twice.
    pub face_faults: FaceFaults,
    /// How faces hang together by the vertices they name.
    pub as_is: MeshTopology,
    /// What hangs together where vertices in the same place count as one: what a mesh is once it is mended.
    pub welded: MeshTopology,
    /// Pairs of triangles that meet where they should not.
    pub crossings: Crossings,
    /// Whether it bounds a solid.
    pub closedness: Closedness,
    /// Share of points near the surface that it winds about a whole number of times; `None` where it is closed
    /// by its edges, or there is nothing to measure.
    pub wholeness: Option<f64>,
    /// Volume, signed, where it is closed and consistently oriented.
    pub volume: Option<f64>,
    /// First faces of closed pieces that are inside-out (cavities are not).
    pub inside_out: Findings<u32>,
    /// Sizes of faces and edges.
    pub measures: Measures,
    /// Whether there are texture coordinates.
    pub has_uvs: bool,
    /// Whether there are normals.
    pub has_normals: bool,
    /// Whether there are vertex colours.
    pub has_colors: bool,
    /// What the file calls the materials of its faces.
    pub materials: Vec<String>,
    /// Number of moments at which the file tells where the vertices are; zero for a mesh that does not move.
    pub animation_samples: usize,
    /// What its numbers probably mean; `None` without vertices.
    pub units: Option<UnitGuess>,
}

impl MeshReport {
    /// How much keeps the faces, as they are, from being a closed, consistently oriented surface without copies:
    /// never more after a repair than before.
    pub fn defects(&self) -> usize {
        self.as_is.defects() + self.face_faults.defects()
    }
}

/// Why a mesh cannot be worked on.
pub(crate) fn fault(mesh: &PolyMesh) -> Option<String> {
    let checked = mesh.check().and_then(|()| all_finite("vertex", &mesh.positions));
    if let Err(error) = checked {
        return Some(error.message);
    }
    let large = mesh.positions.iter().position(|p| p.abs().max_element() > LARGEST)?;
    Some(format!("vertex {large} is at {}, too far out to measure", mesh.positions[large]))
}

/// The defects of a mesh, without the rest of the report.
pub(crate) fn defects(mesh: &PolyMesh) -> usize {
    let faces = &mesh.attributes.faces;
    let around = WeldedFaces::new(faces, None);
    MeshTopology::new(&around, &mesh.positions).defects() + FaceFaults::new(faces, &mesh.positions).defects()
}

/// Looks a mesh over. The result does not depend on the number of threads.
pub fn inspect(mesh: &PolyMesh, threads: usize) -> MeshReport {
    let (attributes, positions) = (&mesh.attributes, &mesh.positions);
    let faces = &attributes.faces;
    let mut report = MeshReport {
        name: mesh.name.clone(),
        fault: fault(mesh),
        vertices: positions.len(),
        faces: faces.len(),
        triangles: faces.sizes().filter(|&n| n == 3).count(),
        quads: faces.sizes().filter(|&n| n == 4).count(),
        larger: faces.sizes().filter(|&n| n > 4).count(),
        has_uvs: !attributes.uvs.is_empty(),
        has_normals: !attributes.normals.is_empty(),
        has_colors: !attributes.colors.is_empty(),
        materials: attributes.materials.iter().map(|m| m.name.clone()).collect(),
        animation_samples: mesh.animation.as_ref().map_or(0, |m| m.samples.len()),
        ..MeshReport::default()
    };
    if report.fault.is_some() {
        return report;
    }
    report.bounds = crate::TriMesh::bounds(positions).map(|(lo, hi)| [lo, hi]);
    let extent = report.bounds.map(|[lo, hi]| hi - lo);
    report.units = extent.map(|e| guess_units(e, ""));
    report.near_distance = NEAR * extent.map_or(0.0, |e| e.length());

    let mut used = vec![false; positions.len()];
    faces.corners().iter().for_each(|&v| used[v as usize] = true);
    let indices = || 0..positions.len() as u32;
    report.unreferenced = indices().filter(|&v| !used[v as usize]).collect();
    drop(used);
    let moved = |names: &[u32]| indices().filter(|&v| names[v as usize] != v).collect::<Findings<u32>>();
    report.near = moved(&weld::same_places(mesh, report.near_distance));
    let names = weld::same_places(mesh, 0.0);
    report.coincident = moved(&names);
    report.near.count -= report.coincident.count.min(report.near.count);
    if report.near.is_empty() {
        report.near.first.clear();
    }

    report.face_faults = FaceFaults::new(faces, positions);
    let around = WeldedFaces::new(faces, None);
    report.as_is = MeshTopology::new(&around, positions);
    let around = WeldedFaces::new(faces, Some(&names));
    report.welded = if report.coincident.is_empty() {
        report.as_is.clone()
    } else {
        MeshTopology::new(&around, positions)
    };

    let (mut triangles, mut of) = faces.corner_triangles_with_faces(positions);
    triangles.iter_mut().flatten().for_each(|c| *c = faces.corners()[*c as usize]);
    report.measures = Measures::new(faces, positions, &triangles, &of);
    let name = |v: u32| names[v as usize];
    triangles.iter_mut().flatten().for_each(|v| *v = name(*v));
    // Triangles that welding collapses bound nothing.
    let whole: Vec<bool> = triangles.iter().map(|[a, b, c]| a != b && b != c && c != a).collect();
    let mut kept = whole.iter();
    triangles.retain(|_| kept.next() == Some(&true));
    let mut kept = whole.iter();
    of.retain(|_| kept.next() == Some(&true));
    drop(whole);

    report.crossings = Crossings::new(positions, &triangles, &of, threads);
    drop(of);
    report.judge(&around, positions, &triangles, threads);
    report
}

impl MeshReport {
    /// Closedness and volume.
    fn judge(
        &mut self,
        around: &WeldedFaces<'_>,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        threads: usize,
    ) {
        self.closedness = Closedness::decide(&self.welded, None);
        if self.closedness != Closedness::Closed {
            self.wholeness = closedness::wholeness(positions, triangles, threads);
            self.closedness = Closedness::decide(&self.welded, self.wholeness);
        } else if self.welded.inconsistent_edges.is_empty() {
            let center = self.bounds.map_or(DVec3::ZERO, |[lo, hi]| lo + (hi - lo) / 2.0);
            let six = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| positions[v as usize] - center);
                a.dot(b.cross(c))
            };
            self.volume = Some(triangles.iter().map(six).sum::<f64>() / 6.0);
        }
        let shells = Shells::new(around, positions, triangles);
        if shells.list.iter().any(|s| s.inward) {
            let pieces: Vec<u32> =
                shells.inside_out(positions).iter().map(|&i| shells.list[i].piece).collect();
            let mut firsts = vec![u32::MAX; pieces.len()];
            for f in (0..around.faces().len()).filter(|&f| !around.collapsed(f)) {
                let vertex = around.vertex(around.faces().range(f).start as u32);
                if let Ok(k) = pieces.binary_search(&shells.piece_of[vertex as usize]) {
                    firsts[k] = firsts[k].min(f as u32);
                }
            }
            self.inside_out = firsts.into_iter().collect();
        }
    }
}
