//! What `pliant mesh` has to say, for people and for programs.

use pliant_geometry::{Findings, MeshReport, MeshTopology, Repair, StuffingReport, TetMesh};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Everything there is to say about one file.
#[derive(Default)]
pub struct FileReport {
    pub file: String,
    pub format: String,
    pub parts: Vec<MeshPart>,
    pub notes: Vec<String>,
    pub tets: Option<TetReport>,
    pub particles: Option<usize>,
    /// Files with what is in them.
    pub written: Vec<(String, String)>,
}

/// An object of the file.
pub struct MeshPart {
    pub found: MeshReport,
    /// What was mended, or would be.
    pub repairs: Vec<Repair>,
    pub repaired: bool,
    /// The object as mended.
    pub after: Option<MeshReport>,
}

/// Tetrahedra that were read or cut.
pub struct TetReport {
    text: String,
    json: Value,
}

impl TetReport {
    /// Of a file.
    pub fn of_file(mesh: &TetMesh) -> TetReport {
        let (quality, volume) = (mesh.quality(), mesh.volumes().iter().sum::<f64>());
        let [small, large] = [quality.smallest_dihedral, quality.largest_dihedral];
        TetReport {
            text: format!(
                "{} tetrahedra, {} points, dihedral angles {small:.1}° to {large:.1}°, volume {volume:.6}",
                mesh.tetrahedra.len(),
                mesh.points.len(),
            ),
            json: json!({
                "tetrahedra": mesh.tetrahedra.len(), "points": mesh.points.len(),
                "smallest_dihedral": small, "largest_dihedral": large,
                "least_radius_ratio": quality.least_radius_ratio, "volume": volume,
            }),
        }
    }

    /// Cut from cells of this width.
    pub fn cut(cell: f64, r: &StuffingReport) -> TetReport {
        let error = r.volume_error();
        let [small, large] = [r.quality.smallest_dihedral, r.quality.largest_dihedral];
        TetReport {
            text: format!(
                "cell {cell:.6}: {} tetrahedra, {} points, {} part{}\n  quality: dihedral angles {small:.1}° to \
                 {large:.1}° (10.7° and 164.8° are the bounds), radius ratio at least {:.3}\n  volume {:.6}, {:+.2} % \
                 against the mesh's {:.6}\n  distance: at most {:.6} from boundary to mesh, {:.6} from mesh to boundary",
                r.tetrahedra,
                r.points,
                r.parts,
                if r.parts == 1 { "" } else { "s" },
                r.quality.least_radius_ratio,
                r.volume,
                100.0 * error,
                r.mesh_volume,
                r.boundary_to_mesh,
                r.mesh_to_boundary
            ),
            json: json!({
                "cell": cell, "tetrahedra": r.tetrahedra, "points": r.points, "parts": r.parts,
                "smallest_dihedral": small, "largest_dihedral": large,
                "least_radius_ratio": r.quality.least_radius_ratio,
                "volume": r.volume, "mesh_volume": r.mesh_volume, "volume_error": error,
                "boundary_to_mesh": r.boundary_to_mesh, "mesh_to_boundary": r.mesh_to_boundary,
                "vertices_missed": r.vertices_missed, "pinched_points": r.pinched_points,
            }),
        }
    }
}

impl FileReport {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.file, self.format);
        // Writing to a String cannot fail.
        for part in &self.parts {
            part.found.lines().iter().for_each(|line| {
                let _ = writeln!(text, "  {line}");
            });
            match (part.repaired, part.repairs.is_empty()) {
                (true, true) => text += "  repaired: nothing to do\n",
                (true, false) => text += "  repaired:\n",
                (false, true) => {}
                (false, false) => text += "  --repair would mend:\n",
            }
            for repair in &part.repairs {
                let _ = writeln!(text, "    {repair}");
            }
            if let Some(after) = &part.after {
                text += "  after that:\n";
                after.lines().iter().for_each(|line| {
                    let _ = writeln!(text, "    {line}");
                });
            }
        }
        if let Some(count) = self.particles {
            let _ = writeln!(text, "filled with {count} particles");
        }
        if let Some(tets) = &self.tets {
            let _ = writeln!(text, "{}", tets.text);
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        for (file, what) in &self.written {
            let _ = writeln!(text, "wrote {file}  ({what})");
        }
        text
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let written: Vec<Value> =
            self.written.iter().map(|(file, what)| json!({ "file": file, "what": what })).collect();
        json!({
            "file": self.file, "format": self.format, "notes": self.notes,
            "objects": self.parts.iter().map(part).collect::<Vec<Value>>(),
            "tetrahedra": self.tets.as_ref().map(|t| &t.json),
            "particles": self.particles, "written": written,
        })
    }
}

fn part(part: &MeshPart) -> Value {
    let repairs: Vec<Value> =
        part.repairs.iter().map(|r| json!({ "count": r.count, "what": r.what, "why": r.why })).collect();
    let mut value = object(&part.found);
    value[if part.repaired { "repaired" } else { "repair_would" }] = json!(repairs);
    if let Some(after) = &part.after {
        value["after"] = object(after);
    }
    value
}

/// How many, and the first of them.
fn found<T: serde::Serialize>(of: &Findings<T>) -> Value {
    json!({ "count": of.count, "first": of.first })
}

fn topology(t: &MeshTopology) -> Value {
    json!({
        "vertices": t.vertices, "edges": t.edges, "pieces": t.pieces,
        "boundary_edges": found(&t.boundary_edges), "boundary_loops": t.boundary_loops, "longest_loop": t.longest_loop,
        "non_manifold_edges": found(&t.non_manifold_edges),
        "non_manifold_vertices": found(&t.non_manifold_vertices),
        "inconsistent_edges": found(&t.inconsistent_edges),
    })
}

fn object(r: &MeshReport) -> Value {
    json!({
        "name": r.name, "fault": r.fault, "vertices": r.vertices, "faces": r.faces, "triangles": r.triangles,
        "quads": r.quads, "larger_polygons": r.larger,
        "bounds": r.bounds.map(|b| b.map(|p| p.to_array())),
        "closedness": r.closedness.name(), "volume": r.volume, "area": r.measures.area,
        "defects": r.defects(), "as_is": topology(&r.as_is), "welded": topology(&r.welded),
        "unreferenced_vertices": found(&r.unreferenced), "coincident_vertices": found(&r.coincident),
        "near_vertices": found(&r.near),
        "degenerate_faces": {
            "repeated_vertex": found(&r.face_faults.repeated), "zero_area": found(&r.face_faults.zero_area),
        },
        "duplicate_faces": { "same": found(&r.face_faults.duplicate), "turned_over": found(&r.face_faults.opposite) },
        "self_intersections": {
            "apart": found(&r.crossings.apart), "adjacent": found(&r.crossings.adjacent),
            "complete": r.crossings.complete,
        },
        "inside_out": found(&r.inside_out),
        "edges": { "mean": r.measures.mean_edge, "shortest": r.measures.shortest_edge, "longest": r.measures.longest_edge },
        "texture_coordinates": r.has_uvs, "normals": r.has_normals, "vertex_colors": r.has_colors,
        "materials": r.materials, "motion_samples": r.animation_samples,
        "units": r.units.as_ref().map(|u| json!({
            "unit": u.unit, "metres_per_unit": u.metres_per_unit, "size_in_metres": u.size, "reason": u.reason,
        })),
    })
}
