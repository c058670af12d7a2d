//! What came of cutting a mesh into tetrahedra.

use super::pinches::pinched_points;
use crate::{TetMesh, TetQuality, TriMesh, Winding, parallel};
use glam::DVec3;

/// Size, quality and faithfulness of a mesh of tetrahedra, measured after it was made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StuffingReport {
    /// How many tetrahedra there are, at least one.
    pub tetrahedra: usize,
    /// How many points they share: particles of a body made of them.
    pub points: usize,
    /// Parts that no face joins.
    pub parts: usize,
    /// Worst angles and radii. Angles lie between 10.7° and 164.8°.
    pub quality: TetQuality,
    /// Volume of all tetrahedra.
    pub volume: f64,
    /// Volume inside the mesh: exact for a closed one that does not cross itself, else from lattice points inside.
    pub mesh_volume: f64,
    /// Furthest that the boundary of the tetrahedra is from the mesh, at its vertices and the middles of its faces.
    pub boundary_to_mesh: f64,
    /// Furthest that a vertex of the mesh is from the tetrahedra's boundary.
    pub mesh_to_boundary: f64,
    /// Vertices of the mesh further than one cell from the boundary: on parts too thin for the cell, or not around
    /// an inside at all.
    pub vertices_missed: usize,
    /// Tetrahedra taken away because the body touched itself along one of their edges.
    pub taken_at_pinches: usize,
    /// Points given to parts that touched at a point alone.
    pub points_parted: usize,
    /// Boundary points at which the body still touches itself; its boundary is watertight all the same.
    pub pinched_points: usize,
}

impl StuffingReport {
    /// Volume of the tetrahedra against that of the mesh: 0.01 is one percent too much.
    pub fn volume_error(&self) -> f64 {
        self.volume / self.mesh_volume - 1.0
    }

    /// What was lost and why, in words for the user.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.vertices_missed > 0 {
            notes.push(format!(
                "{} vertices of the mesh are further than a cell from the tetrahedra: they are on parts thinner than a \
                 cell, or around no inside; a smaller cell keeps thin parts",
                self.vertices_missed
            ));
        }
        if self.taken_at_pinches > 0 {
            notes.push(format!(
                "{} tetrahedra were taken away where the body touched itself along an edge",
                self.taken_at_pinches
            ));
        }
        notes
    }

    pub(super) fn measure(
        tets: &TetMesh,
        (mesh, winding): (&TriMesh, &Winding),
        (mesh_volume, cell): (f64, f64),
        [taken_at_pinches, points_parted]: [usize; 2],
        threads: usize,
    ) -> StuffingReport {
        let (surface, _) = tets.surface();
        let middle = |t: &[u32; 3]| t.iter().map(|&i| surface.positions[i as usize]).sum::<DVec3>() / 3.0;
        let samples: Vec<DVec3> =
            surface.positions.iter().copied().chain(surface.triangles.iter().map(middle)).collect();
        let used: Vec<DVec3> = used_vertices(mesh);
        let boundary = Winding::new(&surface);
        let to = |other: &Winding, from: &[DVec3]| {
            parallel::map(from, threads, |&p| other.nearest(p).map_or(0.0, |q| p.distance(q)))
        };
        let missed = to(&boundary, &used);
        let furthest = |distances: &[f64]| distances.iter().copied().fold(0.0, f64::max);
        StuffingReport {
            tetrahedra: tets.tetrahedra.len(),
            points: tets.points.len(),
            parts: tets.parts().into_iter().max().map_or(0, |last| last + 1),
            quality: tets.quality(),
            volume: tets.volumes().iter().sum(),
            mesh_volume,
            boundary_to_mesh: furthest(&to(winding, &samples)),
            mesh_to_boundary: furthest(&missed),
            vertices_missed: missed.iter().filter(|&&distance| distance > cell).count(),
            taken_at_pinches,
            points_parted,
            pinched_points: pinched_points(&surface.triangles),
        }
    }
}

/// The vertices that belong to a triangle.
fn used_vertices(mesh: &TriMesh) -> Vec<DVec3> {
    let mut used: Vec<u32> = mesh.triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    used.into_iter().map(|i| mesh.positions[i as usize]).collect()
}
