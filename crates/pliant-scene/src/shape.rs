//! The shape of a body: from its keys to particles and a surface.

use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::element_choice::ElementChoice;
use crate::fit::{self, FitPlan};
use crate::mesh::{self, MeshPlan, ReadMesh};
use crate::record::Record;
use crate::render::RenderSurface;
use crate::source::{Check, Located, SourceText, Span};
use glam::{DAffine3, DVec3};
use pliant_geometry::shapes::{self, SolidShape, TetStyle};
use pliant_geometry::{
    FillDensity, FillOptions, FillPattern, GeometryError, PolyMesh, Shape, Skin, TetMesh, TriMesh,
    files_of_tets, has_inside, inside, read_tets_through,
};
use std::path::Path;

/// A shape as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) enum ShapePlan {
    Solid(SolidShape),
    Sheet {
        size: [f64; 2],
        cells: Option<[usize; 2]>,
    },
    Mesh(MeshPlan),
    /// A mesh whose vertices are the particles.
    Vertices(MeshPlan),
    Points {
        file: Located<String>,
        fit: FitPlan,
    },
    /// A box of cells cut into tetrahedra.
    Cells {
        size: DVec3,
        cells: [usize; 3],
        style: TetStyle,
    },
    /// Tetrahedra of a file.
    Tets {
        file: Located<String>,
        fit: FitPlan,
    },
    Tube {
        radius: f64,
        height: f64,
        cells: Option<[usize; 2]>,
    },
    Thread {
        points: Vec<DVec3>,
        segments: usize,
    },
}

/// How finely a shape is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resolution {
    Spacing(f64),
    Particles(usize),
}

/// How particles are arranged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ParticlePattern {
    pattern: FillPattern,
    seed: u64,
}

/// How finely, and how arranged.
type ParticleLayout = (Resolution, ParticlePattern);

/// Particles of a body that does not say: enough to bend well, few enough to be quick.
const PARTICLES: usize = 1500;

/// Particles to which a mesh with thin parts may come on its own.
const MOST_FOR_THIN_PARTS: usize = 40_000;

/// Pieces of a thread that does not say.
const SEGMENTS: usize = 50;

/// A shape made, and what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct MadeShape {
    pub shape: Shape,
    /// Whether the particles stand for areas, not volumes (or lengths).
    pub thin: bool,
    /// Cells of a sheet.
    pub cells: Option<[usize; 2]>,
    pub notes: Vec<String>,
    /// From the coordinates of its file to its own.
    pub from_file: DAffine3,
    /// What is shown instead of the shape's own surface.
    pub shown: Option<RenderSurface>,
    /// How far what it shows lies beyond each particle.
    pub reach: Vec<f64>,
}

impl MadeShape {
    fn new(shape: Shape, thin: bool) -> MadeShape {
        MadeShape {
            shape,
            thin,
            cells: None,
            notes: Vec::new(),
            from_file: DAffine3::IDENTITY,
            shown: None,
            reach: Vec::new(),
        }
    }

    /// Takes up the faces, texture coordinates and materials of the mesh that its surface is.
    fn take_attributes(&mut self, mut poly: PolyMesh) {
        let surface = &self.shape.surface;
        if poly.positions != surface.positions {
            return;
        }
        // A mesh turned inside out was turned back.
        let turned = poly.triangulated().triangles != surface.triangles;
        if turned {
            poly.attributes.flip();
        }
        self.shape.attributes = poly.attributes;
    }
}

/// Reads the shape of a body; `None` if it has faults, which were reported.
pub(crate) fn plan(check: &mut Check<'_>, body: &Record) -> Option<ShapePlan> {
    let shape = body.record("shape")?;
    let tag = shape.tag.as_ref()?;
    let file = || {
        let given = shape.given("file")?;
        Some(Located { at: given.at.clone(), it: given.it.text().to_string() })
    };
    let size = || shape.value("size").list().iter().map(|v| v.it.number()).collect::<Vec<f64>>();
    let cells = || -> Option<Vec<usize>> {
        Some(shape.given("cells")?.it.list().iter().map(|v| v.it.whole() as usize).collect())
    };
    let plan = match tag.it {
        "box" if shape.given("cells").is_some() => {
            let cells = cells()?;
            let six = shape.given("tet_style").is_some_and(|w| w.it.text() == "six");
            let style = if six { TetStyle::Six } else { TetStyle::Five };
            ShapePlan::Cells { size: shape.vector("size"), cells: [cells[0], cells[1], cells[2]], style }
        }
        "tube" => ShapePlan::Tube {
            radius: shape.number("radius"),
            height: shape.number("height"),
            cells: cells().map(|n| [n[0], n[1]]),
        },
        "thread" => thread(body, shape),
        "tets" => ShapePlan::Tets { file: file()?, fit: fit::plan(shape) },
        "box" => ShapePlan::Solid(SolidShape::Cuboid { size: shape.vector("size") }),
        "ball" => ShapePlan::Solid(SolidShape::Ball { radius: shape.number("radius") }),
        "torus" => {
            ShapePlan::Solid(SolidShape::Torus { major: shape.number("major"), minor: shape.number("minor") })
        }
        "cylinder" => ShapePlan::Solid(SolidShape::Cylinder {
            radius: shape.number("radius"),
            height: shape.number("height"),
        }),
        "capsule" => ShapePlan::Solid(SolidShape::Capsule {
            radius: shape.number("radius"),
            height: shape.number("height"),
        }),
        "gummy_bear" => ShapePlan::Solid(SolidShape::GummyBear { height: shape.number("height") }),
        "bunny" => ShapePlan::Solid(SolidShape::Bunny { height: shape.number("height") }),
        "sheet" => {
            let size = size();
            ShapePlan::Sheet { size: [size[0], size[1]], cells: cells().map(|n| [n[0], n[1]]) }
        }
        "mesh" => ShapePlan::Mesh(mesh::plan(shape)?),
        "vertices" => ShapePlan::Vertices(mesh::plan(shape)?),
        "points" => ShapePlan::Points { file: file()?, fit: fit::plan(shape) },
        other => unreachable!("the format names a shape {other} that is not made here"),
    };
    check_plan(check, body, shape, &plan);
    Some(plan)
}

/// What can be seen without making the shape.
fn check_plan(check: &mut Check<'_>, body: &Record, shape: &Record, plan: &ShapePlan) {
    if let ShapePlan::Solid(solid) = plan {
        // One coarse look makes the geometry check its numbers against each other.
        if let Err(e) = solid.count(1e9) {
            check.add(&shape.at, e.message, e.help);
        }
    }
    if let ShapePlan::Thread { points, segments } = plan
        && let Err(e) = shapes::thread(points, (*segments).clamp(1, points.len()))
    {
        check.add(&shape.at, e.message, e.help);
    }
    for key in ["spacing", "particles"] {
        let Some(given) = body.given(key) else { continue };
        let mut contradict = |other: &str| {
            check.add(
                &given.at,
                format!("`{key}` and {other} contradict each other"),
                "they set the same thing: keep one of them",
            );
        };
        match plan {
            ShapePlan::Sheet { cells: Some(_), .. } => contradict("`cells` of the sheet"),
            ShapePlan::Tube { cells: Some(_), .. } => contradict("`cells` of the tube"),
            ShapePlan::Cells { .. } => contradict("`cells` of the box"),
            ShapePlan::Thread { .. } if shape.given("segments").is_some() => {
                contradict("`segments` of the thread");
            }
            ShapePlan::Tets { .. } => check.add(
                &given.at,
                format!("`{key}` has no meaning for tetrahedra"),
                "each point of the file is a particle: remove it",
            ),
            ShapePlan::Points { .. } => check.add(
                &given.at,
                format!("`{key}` has no meaning for points"),
                "each point of the file is a particle: remove it",
            ),
            ShapePlan::Vertices(_) => check.add(
                &given.at,
                format!("`{key}` has no meaning for vertices"),
                "each vertex of the file is a particle: remove it, or set kind = \"mesh\"",
            ),
            _ => {}
        }
    }
}

fn thread(body: &Record, shape: &Record) -> ShapePlan {
    let points: Vec<DVec3> = shape.value("points").list().iter().map(|p| p.it.vector()).collect();
    let length: f64 = points.windows(2).map(|p| p[0].distance(p[1])).sum();
    let segments = match (shape.given("segments"), body.given("spacing"), body.given("particles")) {
        (Some(n), _, _) => n.it.whole() as usize,
        (_, Some(spacing), _) => (length / spacing.it.number()).round().clamp(1.0, 1e9) as usize,
        (_, _, Some(n)) => n.it.whole().saturating_sub(1).max(1) as usize,
        _ => SEGMENTS.max(points.len() - 1),
    };
    ShapePlan::Thread { points, segments }
}

/// How finely a body is filled.
pub(crate) fn resolution(body: &Record) -> Resolution {
    match (body.given("spacing"), body.given("particles")) {
        (Some(spacing), _) => Resolution::Spacing(spacing.it.number()),
        (_, Some(count)) => Resolution::Particles(count.it.whole() as usize),
        _ => Resolution::Particles(PARTICLES),
    }
}

/// How particles of a body are arranged.
pub(crate) fn sampling(body: &Record) -> ParticlePattern {
    let pattern = match body.text("sampling").as_str() {
        "jittered" => FillPattern::Jittered,
        "blue_noise" => FillPattern::BlueNoise,
        _ => FillPattern::Lattice,
    };
    ParticlePattern { pattern, seed: body.whole("seed") }
}

impl ShapePlan {
    pub fn is_sheet(&self) -> bool {
        matches!(self, ShapePlan::Sheet { .. })
    }

    /// Whether it has elements without being asked for them.
    pub fn is_made_of_elements(&self) -> bool {
        use ShapePlan::{Cells, Tets, Thread, Tube};
        matches!(self, Cells { .. } | Tets { .. } | Tube { .. } | Thread { .. })
    }

    /// Whether air can push it: whether it has triangles or a boundary of tetrahedra.
    pub fn has_faces(&self, cut: ElementChoice) -> bool {
        match self {
            ShapePlan::Solid(_) | ShapePlan::Mesh(_) => {
                cut != ElementChoice::None && cut != ElementChoice::Edges
            }
            ShapePlan::Points { .. } | ShapePlan::Thread { .. } => false,
            _ => cut != ElementChoice::Edges,
        }
    }

    /// About how many particles it will have; `None` where only making it tells.
    pub fn expected(&self, resolution: Resolution) -> Option<usize> {
        match (self, resolution) {
            (ShapePlan::Cells { cells, .. }, _) => {
                cells.iter().try_fold(1_usize, |all, n| all.checked_mul(n + 1)).or(Some(usize::MAX))
            }
            (ShapePlan::Tube { radius, height, cells }, _) => {
                let [around, along] = cells.unwrap_or_else(|| tube_cells(*radius, *height, resolution));
                Some(around.saturating_mul(along + 1))
            }
            (ShapePlan::Thread { segments, .. }, _) => Some(segments + 1),
            (ShapePlan::Sheet { size, cells }, _) => {
                let cells = cells.map_or_else(|| sheet_cells(*size, resolution).ok(), Some)?;
                Some(cells.iter().map(|n| n + 1).product())
            }
            (ShapePlan::Solid(_), Resolution::Particles(count)) => Some(count),
            (ShapePlan::Solid(solid), Resolution::Spacing(spacing)) => solid.count(spacing).ok(),
            _ => None,
        }
    }

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
            ShapePlan::Thread { points, segments } => {
                shapes::thread(points, *segments).map(solid).map_err(wrong)
            }
            ShapePlan::Tets { file, fit } => {
                let path = source.resolve(&file.it);
                let mut fetch = |p: &Path| digest.resolver().read(p);
                let read =
                    read_tets_through(&path, &mut fetch).map_err(|e| in_file(source, file, vec![e]))?;
                files_of_tets(&path).iter().for_each(|p| digest.names(p));
                digest_tets(&read.mesh, digest);
                let mut mesh = read.mesh;
                let from_file = fit.placement(&mesh.points).map_err(|e| in_file(source, file, vec![e]))?;
                mesh.points.iter_mut().for_each(|p| *p = from_file.transform_point3(*p));
                let (shape, notes) = Shape::from_tets(&mesh).map_err(|e| in_file(source, file, vec![e]))?;
                let notes =
                    read.notes.into_iter().chain(notes).map(|n| format!("{}: {n}", file.it)).collect();
                Ok(MadeShape { notes, from_file, ..solid(shape) })
            }
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
            ShapePlan::Points { file, fit } => {
                let points = mesh::read_vertices(source, file, digest)?;
                let from_file = fit.placement(&points).map_err(|e| in_file(source, file, vec![e]))?;
                let points = points.into_iter().map(|p| from_file.transform_point3(p)).collect();
                let shape = shapes::from_points(points).map_err(wrong)?;
                Ok(MadeShape { from_file, ..solid(shape) })
            }
        }
    }
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

fn sheet_cells(size: [f64; 2], resolution: Resolution) -> Result<[usize; 2], GeometryError> {
    let cells = |spacing: f64| size.map(|s| (s / spacing).round().clamp(1.0, 1e9) as usize);
    Ok(match resolution {
        Resolution::Spacing(spacing) => cells(spacing),
        Resolution::Particles(count) => {
            let largest = size[0].max(size[1]);
            let spacing = shapes::spacing_for_count(largest, count, |spacing| {
                Ok(cells(spacing).iter().map(|n| n + 1).product())
            })?;
            cells(spacing)
        }
    })
}

/// Cells around and along a tube, about square.
fn tube_cells(radius: f64, height: f64, resolution: Resolution) -> [usize; 2] {
    let round = std::f64::consts::TAU * radius;
    let spacing = match resolution {
        Resolution::Spacing(spacing) => spacing,
        Resolution::Particles(count) => (round * height / count as f64).sqrt(),
    };
    // Even around, so that diagonals alternate everywhere.
    let around = 2 * (0.5 * round / spacing).round().clamp(2.0, 1e9) as usize;
    [around, (height / spacing).round().clamp(1.0, 1e9) as usize]
}

/// A tetrahedral mesh may be in two files; what was read of them tells as much.
fn digest_tets(mesh: &TetMesh, digest: &mut InputDigest<'_>) {
    let points = mesh.points.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes);
    digest.bytes(&points.collect::<Vec<u8>>());
    let corners = mesh.tetrahedra.iter().flatten().flat_map(|i| i.to_le_bytes());
    digest.bytes(&corners.collect::<Vec<u8>>());
}

/// The bytes of a file the scene names.
pub(crate) fn read(
    source: &SourceText,
    file: &Located<String>,
    digest: &mut InputDigest<'_>,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let path = source.resolve(&file.it);
    digest.read(&path).map_err(|why| {
        let problem = source.problem(
            &file.at,
            format!("cannot read {}: {why}", path.display()),
            "check the path, which is relative to the scene's folder, and that you may read it",
        );
        vec![Diagnostic { is_io: true, ..problem }]
    })
}

/// Problems inside a file the scene names.
pub(crate) fn in_file(
    source: &SourceText,
    file: &Located<String>,
    errors: Vec<GeometryError>,
) -> Vec<Diagnostic> {
    let (line, _) = source.place(file.at.start);
    let path = source.resolve(&file.it);
    errors
        .into_iter()
        .map(|e| Diagnostic {
            file: e.file.unwrap_or_else(|| path.clone()),
            place: e.line.map(|l| (l, 0)),
            message: e.message,
            help: match source.around {
                Some(_) => e.help,
                None => format!("{} (read because of {}:{line})", e.help, source.file.display()),
            },
            is_io: e.io,
            ..Diagnostic::default()
        })
        .collect()
}
