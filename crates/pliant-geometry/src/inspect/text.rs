//! The report as lines of text.

use super::{Closedness, Findings, MeshReport, short};
use std::fmt::Debug;

impl MeshReport {
    /// The report for people to read: what is there, then what is wrong; nothing about what is fine.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.counts()];
        if let Some(fault) = &self.fault {
            lines.push(format!("cannot be looked at: {fault}"));
            return lines;
        }
        if let Some([lo, hi]) = self.bounds {
            let [x, y, z] = (hi - lo).to_array().map(short);
            let at = ((lo + hi) / 2.0).to_array().map(short).join(", ");
            lines.push(format!("size {x} x {y} x {z}, centre ({at})"));
        }
        if let Some(units) = &self.units {
            lines.push(format!(
                "units: {} ({} m): scale by {}",
                units.reason,
                short(units.size),
                units.metres_per_unit
            ));
        }
        lines.push(self.extras());
        if self.faces > 0 {
            lines.push(self.surface());
            self.pieces(&mut lines);
            self.faults(&mut lines);
        }
        lines.retain(|line| !line.is_empty());
        lines
    }

    fn counts(&self) -> String {
        let mut kinds = Vec::new();
        for (count, kind) in
            [(self.triangles, "triangles"), (self.quads, "quads"), (self.larger, "larger polygons")]
        {
            if count > 0 {
                kinds.push(format!("{count} {kind}"));
            }
        }
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        format!("{name}{} vertices, {} faces{kinds}", self.vertices, self.faces)
    }

    fn extras(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (there, what) in [
            (self.has_uvs, "texture coordinates"),
            (self.has_normals, "normals"),
            (self.has_colors, "vertex colours"),
        ] {
            if there {
                parts.push(what.into());
            }
        }
        if !self.materials.is_empty() {
            parts.push(format!("{} materials", self.materials.len()));
        }
        if self.animation_samples > 0 {
            parts.push(format!("{} samples of motion", self.animation_samples));
        }
        if parts.is_empty() { String::new() } else { format!("with {}", parts.join(", ")) }
    }

    fn surface(&self) -> String {
        let m = &self.measures;
        let volume = self.volume.map_or(String::new(), |v| format!(", volume {}", short(v)));
        let whole = match (self.closedness, self.wholeness) {
            (Closedness::Nothing, _) | (_, None) => String::new(),
            (_, Some(share)) => {
                format!(" (inside and outside told apart at {:.0} % of its points)", 100.0 * share)
            }
        };
        format!(
            "{}{whole}, area {}{volume}; edges {} to {}, mean {}; mean aspect {}, worst {} (face {})",
            self.closedness.name(),
            short(m.area),
            short(m.shortest_edge),
            short(m.longest_edge),
            short(m.mean_edge),
            short(m.mean_aspect),
            short(m.worst_aspect.0),
            m.worst_aspect.1
        )
    }

    fn pieces(&self, lines: &mut Vec<String>) {
        let welded = if self.welded.pieces == self.as_is.pieces {
            String::new()
        } else {
            format!(", {} when coincident vertices are welded", self.welded.pieces)
        };
        let noun = if self.as_is.pieces == 1 { "piece" } else { "pieces" };
        lines.push(format!("{} {noun}{welded}", self.as_is.pieces));
        for piece in self.welded.largest.iter().take(5) {
            let genus = match piece.genus {
                Some(genus) => format!("genus {genus}"),
                None if !piece.orientable => "not orientable".into(),
                None => "not manifold".into(),
            };
            lines.push(format!(
                "  piece at face {}: {} faces, {} vertices, Euler characteristic {}, {} boundary loops, {genus}",
                piece.first_face, piece.faces, piece.vertices, piece.euler, piece.boundary_loops
            ));
        }
    }

    fn faults(&self, lines: &mut Vec<String>) {
        let (welded, faces) = (&self.welded, &self.face_faults);
        let hidden = if self.as_is.boundary_edges.count == welded.boundary_edges.count {
            String::new()
        } else {
            format!(" when welded, {} as they are", self.as_is.boundary_edges.count)
        };
        let loops = format!(
            "open edges{hidden}, in {} loops, the longest {} long",
            welded.boundary_loops,
            short(welded.longest_loop)
        );
        add(lines, &welded.boundary_edges, &loops);
        if welded.boundary_edges.is_empty() {
            add(
                lines,
                &self.as_is.boundary_edges,
                "open edges that close when coincident vertices are welded",
            );
        }
        add(lines, &welded.non_manifold_edges, "edges where three or more faces meet");
        add(lines, &welded.non_manifold_vertices, "vertices where faces meet that share no edge there");
        add(lines, &welded.inconsistent_edges, "edges between faces that are turned differently");
        add(lines, &self.inside_out, "closed pieces that are inside-out");
        add(lines, &faces.repeated, "faces that name a vertex twice");
        add(lines, &faces.zero_area, "faces without area");
        add(lines, &faces.duplicate, "faces that are there twice");
        add(lines, &faces.opposite, "faces with the vertices of another, turned over");
        add(lines, &self.coincident, "vertices in the place of another");
        add(lines, &self.near, &format!("more vertices within {} of another", short(self.near_distance)));
        add(lines, &self.unreferenced, "vertices without a face");
        let least = if self.crossings.complete { "" } else { "or more " };
        add(lines, &self.crossings.apart, &format!("{least}pairs of triangles that cross or touch"));
        add(lines, &self.crossings.adjacent, &format!("{least}pairs of neighbouring triangles that overlap"));
        if !self.crossings.complete {
            lines.push("the search for crossings was stopped: there are too many near one another".into());
        }
        add(lines, &self.measures.needles, "needle-like faces");
        add(lines, &self.measures.bent, "faces that are not flat");
    }
}

fn add<T: Debug>(lines: &mut Vec<String>, found: &Findings<T>, what: &str) {
    if !found.is_empty() {
        let more = if found.count > found.first.len() { ", ..." } else { "" };
        let first: Vec<String> = found.first.iter().map(|e| format!("{e:?}")).collect();
        lines.push(format!("{} {what}: {}{more}", found.count, first.join(", ")));
    }
}
