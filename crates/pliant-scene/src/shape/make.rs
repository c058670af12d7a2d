//! Shapes as they are made: files read, solids filled, meshes cut into tetrahedra.

use super::files::{digest_tets, in_file};
use super::{
    MadeShape, ParticleLayout, ParticlePattern, Resolution, ShapePlan, roll_cells, sheet_cells, tube_cells,
};
use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::element_choice::ElementChoice;
use crate::fit::FitPlan;
use crate::mesh::{self, ReadMesh};
use crate::source::{Located, SourceText, Span};
use pliant_geometry::shapes::{self, SolidShape};
use pliant_geometry::{
    FillDensity, FillOptions, FillPattern, GeometryError, MassProperties, PolyMesh, Shape, Skin, TriMesh,
    files_of_tets, has_inside, inside, read_tets_through,
};
use std::path::Path;

/// Particles to which a mesh with thin parts may come on its own.
const MOST_FOR_THIN_PARTS: usize = 40_000;

impl ShapePlan {
    /// Reads files and fills with particles. `at` is where problems with the numbers are reported.
    pub fn make(
        &self,
        layout: ParticleLayout,
        cut: ElementChoice,
        source: &SourceText,
        at: &Span,
        digest: &mut InputDigest<'_>,
    ) -> Result<MadeShape, Vec<Diagnostic>> {
        let mut made = self.make_uncut(layout, cut, source, at, digest)?;
        if cut == ElementChoice::Triangles && made.shape.triangles.is_empty() {
            let shell = shapes::shell(made.shape.surface);
            made.shape = shell.map_err(|e| vec![source.problem(at, e.message, e.help)])?;
            made.thin = true;
        }
        if cut == ElementChoice::Edges {
            made.shape.tetrahedra.clear();
            made.shape.triangles.clear();
        }
        Ok(made)
    }

    /// The same as a solid that never deforms.
    pub fn make_rigid(
        &self,
        source: &SourceText,
        at: &Span,
        digest: &mut InputDigest<'_>,
    ) -> Result<MadeShape, Vec<Diagnostic>> {
        let wrong = |e: GeometryError| {
            vec![source.problem(at, format!("this cannot be a rigid body: {}", e.message), e.help)]
        };
        match self {
            ShapePlan::Mesh(plan) => {
                let ReadMesh { mesh: poly, from_file, mut notes } = plan.read(source, digest)?;
                let surface = poly.triangulated();
                if !MassProperties::are_exact(&surface) {
                    notes.push(
                        "the mesh is not closed: its mass and inertia are those of what is inside by winding number".into(),
                    );
                }
                let shape = shapes::rigid_from_mesh(surface).map_err(wrong)?;
                let mut made = MadeShape::new(shape, false);
                made.take_attributes(poly);
                Ok(MadeShape { from_file, notes, ..made })
            }
            ShapePlan::Solid(solid) => Ok(MadeShape::new(solid.build_rigid().map_err(wrong)?, false)),
            // Reported with the place of the shape before anything is made.
            _ => Err(vec![source.problem(at, "this cannot be a rigid body", "give a closed mesh")]),
        }
    }

    fn make_uncut(
        &self,
        layout: ParticleLayout,
        cut: ElementChoice,
        source: &SourceText,
        at: &Span,
        digest: &mut InputDigest<'_>,
    ) -> Result<MadeShape, Vec<Diagnostic>> {
        let (resolution, _) = layout;
        let wrong = |e: GeometryError| vec![source.problem(at, e.message, e.help)];
        let solid = |shape| MadeShape::new(shape, false);
        match self {
            ShapePlan::Solid(kind) => solid_of(*kind, layout, cut).map_err(wrong),
            ShapePlan::Cells { size, cells, style } => {
                shapes::tet_box(*cells, *size, *style).map(solid).map_err(wrong)
            }
            ShapePlan::Tube { radius, height, cells } => {
                let [around, along] = cells.unwrap_or_else(|| tube_cells(*radius, *height, resolution));
                let shape = shapes::tube(*radius, *height, around, along).map_err(wrong)?;
                Ok(MadeShape { thin: true, ..solid(shape) })
            }
            ShapePlan::Roll { roll, cells } => {
                let [around, along] = cells.unwrap_or_else(|| roll_cells(roll, resolution));
                let shape = shapes::roll(*roll, around, along).map_err(wrong)?;
                Ok(MadeShape { thin: true, ..solid(shape) })
            }
            ShapePlan::Thread { points, segments } => {
                shapes::thread(points, *segments).map(solid).map_err(wrong)
            }
            ShapePlan::Tets { file, fit } => tets(file, fit, source, digest),
            ShapePlan::Sheet { size, cells } => {
                let cells = match cells {
                    Some(cells) => *cells,
                    None => sheet_cells(*size, resolution).map_err(wrong)?,
                };
                let shape = shapes::sheet(size[0], size[1], cells[0], cells[1]).map_err(wrong)?;
                Ok(MadeShape { thin: true, cells: Some(cells), ..solid(shape) })
            }
            ShapePlan::Mesh(plan) | ShapePlan::Vertices(plan) => {
                let ReadMesh { mesh: poly, from_file, notes } = plan.read(source, digest)?;
                let made = match self {
                    ShapePlan::Vertices(_) => vertices(poly.triangulated()),
                    _ => mesh(&poly, layout, cut),
                };
                let mut made = made.map_err(wrong)?;
                made.take_attributes(poly);
                made.notes.splice(0..0, notes);
                Ok(MadeShape { from_file, ..made })
            }
            ShapePlan::Points { file, fit } => cloud(file, fit, source, digest, at),
        }
    }
}

/// The tetrahedra of a file; each of its points is a particle.
fn tets(
    file: &Located<String>,
    fit: &FitPlan,
    source: &SourceText,
    digest: &mut InputDigest<'_>,
) -> Result<MadeShape, Vec<Diagnostic>> {
    let path = source.resolve(&file.it);
    let mut fetch = |p: &Path| digest.resolver().read(p);
    let read = read_tets_through(&path, &mut fetch).map_err(|e| in_file(source, file, vec![e]))?;
    files_of_tets(&path).iter().for_each(|p| digest.names(p));
    digest_tets(&read.mesh, digest);
    let mut mesh = read.mesh;
    let from_file = fit.placement(&mesh.points).map_err(|e| in_file(source, file, vec![e]))?;
    mesh.points.iter_mut().for_each(|p| *p = from_file.transform_point3(*p));
    let (shape, notes) = Shape::from_tets(&mesh).map_err(|e| in_file(source, file, vec![e]))?;
    let notes = read.notes.into_iter().chain(notes).map(|n| format!("{}: {n}", file.it)).collect();
    Ok(MadeShape { notes, from_file, ..MadeShape::new(shape, false) })
}

/// The points of a file as particles.
fn cloud(
    file: &Located<String>,
    fit: &FitPlan,
    source: &SourceText,
    digest: &mut InputDigest<'_>,
    at: &Span,
) -> Result<MadeShape, Vec<Diagnostic>> {
    let points = mesh::read_vertices(source, file, digest)?;
    let from_file = fit.placement(&points).map_err(|e| in_file(source, file, vec![e]))?;
    let points = points.into_iter().map(|p| from_file.transform_point3(p)).collect();
    let shape = shapes::from_points(points).map_err(|e| vec![source.problem(at, e.message, e.help)])?;
    Ok(MadeShape { from_file, ..MadeShape::new(shape, false) })
}

fn solid_of(
    kind: SolidShape,
    (resolution, sampling): ParticleLayout,
    cut: ElementChoice,
) -> Result<MadeShape, GeometryError> {
    let tetrahedra = matches!(cut, ElementChoice::Tetrahedra | ElementChoice::Whatever);
    let spacing = match resolution {
        Resolution::Spacing(spacing) => spacing,
        Resolution::Particles(count) if tetrahedra => kind.spacing_for_tet_particles(count)?,
        Resolution::Particles(count) => kind.spacing_for_count(count)?,
    };
    if !tetrahedra && sampling.pattern != FillPattern::Lattice {
        return Ok(MadeShape::new(
            shapes::filled(kind.build(spacing)?.surface, &sampling.filling(resolution))?,
            false,
        ));
    }
    let (shape, notes) =
        if tetrahedra { kind.build_tets(spacing)? } else { (kind.build(spacing)?, Vec::new()) };
    Ok(MadeShape { notes, ..MadeShape::new(shape, false) })
}

impl ParticlePattern {
    fn filling(&self, resolution: Resolution) -> FillOptions {
        let by = match resolution {
            Resolution::Spacing(spacing) => FillDensity::Spacing(spacing),
            Resolution::Particles(count) => FillDensity::Count(count),
        };
        FillOptions { pattern: self.pattern, by, seed: self.seed }
    }
}

fn mesh(
    poly: &PolyMesh,
    (resolution, sampling): ParticleLayout,
    cut: ElementChoice,
) -> Result<MadeShape, GeometryError> {
    let mesh = poly.triangulated();
    if mesh.triangles.is_empty() {
        return points(mesh);
    }
    let open = cut != ElementChoice::Tetrahedra && !has_inside(&mesh);
    if cut == ElementChoice::Triangles || open {
        let mut made = MadeShape::new(shapes::shell(mesh)?, true);
        if open && cut == ElementChoice::None {
            made.notes.push(
                "the mesh is open: a shell of its vertices. For cloth, set solver = \"projective\", \
                 clusters = \"none\" and an edge_stiffness"
                    .into(),
            );
        }
        return Ok(made);
    }
    let spacing = match resolution {
        Resolution::Spacing(spacing) => spacing,
        // What has no inside is refused with its reason, whatever the spacing.
        Resolution::Particles(count) => (inside(&mesh).volume / count as f64).cbrt().max(f64::MIN_POSITIVE),
    };
    if cut == ElementChoice::None {
        let lattice = sampling.pattern == FillPattern::Lattice;
        let shape = match resolution {
            Resolution::Spacing(_) if lattice => shapes::from_mesh(mesh, spacing)?,
            _ => shapes::filled(mesh, &sampling.filling(resolution))?,
        };
        let thin = !shape.triangles.is_empty();
        return Ok(MadeShape::new(shape, thin));
    }
    // A spacing is taken at its word; a number of particles, which is about, grows where parts are thin.
    let (shape, notes) = match resolution {
        Resolution::Spacing(_) => shapes::tets_from_mesh(mesh, spacing)?,
        Resolution::Particles(count) => {
            shapes::tets_from_mesh_within(mesh, spacing, count.max(MOST_FOR_THIN_PARTS))?
        }
    };
    Ok(MadeShape { notes, ..MadeShape::new(shape, false) })
}

/// A mesh without faces.
fn points(mesh: TriMesh) -> Result<MadeShape, GeometryError> {
    let notes = vec!["the mesh has no faces: its vertices are taken as particles".to_string()];
    Ok(MadeShape { notes, ..MadeShape::new(shapes::from_points(mesh.positions)?, false) })
}

/// Each vertex is a particle, in the order of the file, as a deformer of an animation package has them. Unlike
/// those of a shell, vertices in the same place stay apart: an animation has a position for each.
fn vertices(mesh: TriMesh) -> Result<MadeShape, GeometryError> {
    if mesh.triangles.is_empty() {
        return points(mesh);
    }
    let mut measure = vec![0.0; mesh.positions.len()];
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
        let third = (b - a).cross(c - a).length() / 6.0;
        t.iter().for_each(|&i| measure[i as usize] += third);
    }
    let area: f64 = measure.iter().sum();
    if !(area.is_finite() && area > 0.0) {
        let help = "check the scale, and that the faces are not all collapsed to lines";
        return Err(GeometryError::new(format!("the faces of the mesh have an area of {area} m²"), help));
    }
    // A vertex without a face still needs some mass to be simulated.
    let usual = area / measure.len() as f64;
    measure.iter_mut().filter(|m| **m <= 0.0).for_each(|m| *m = usual);
    let shape = Shape {
        points: mesh.positions.clone(),
        measure,
        skin: Skin::identity(mesh.positions.len()),
        edges: mesh.edges(),
        triangles: mesh.triangles.iter().copied().filter(|[a, b, c]| a != b && b != c && c != a).collect(),
        surface: mesh,
        ..Shape::default()
    };
    Ok(MadeShape::new(shape, true))
}
