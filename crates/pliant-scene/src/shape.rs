//! The shape of a body: what its keys ask for, and how many particles that will be.

mod files;
mod make;

use crate::element_choice::ElementChoice;
use crate::fit::{self, FitPlan};
use crate::mesh::{self, MeshPlan};
use crate::record::Record;
use crate::render::RenderSurface;
use crate::source::{Check, Located};
use glam::{DAffine3, DVec3};
use pliant_geometry::shapes::{self, Roll, SolidShape, TetStyle};
use pliant_geometry::{FillPattern, GeometryError, PolyMesh, Shape};

pub(crate) use files::{in_file, read};

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
    /// A sheet rolled up.
    Roll {
        roll: Roll,
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
        "roll" => ShapePlan::Roll {
            roll: Roll {
                size: shape.vector("size"),
                turns: shape.number("turn") / 360.0,
                gap: shape.number("gap"),
            },
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
    if let ShapePlan::Roll { roll, .. } = plan
        && let Err(e) = shapes::roll(*roll, 1, 1)
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
            ShapePlan::Roll { cells: Some(_), .. } => contradict("`cells` of the roll"),
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
        use ShapePlan::{Cells, Roll, Tets, Thread, Tube};
        matches!(self, Cells { .. } | Tets { .. } | Tube { .. } | Roll { .. } | Thread { .. })
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
            (ShapePlan::Roll { roll, cells }, _) => {
                let [around, along] = cells.unwrap_or_else(|| roll_cells(roll, resolution));
                Some((around + 1).saturating_mul(along + 1))
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

/// Cells around and along a roll, about square.
fn roll_cells(roll: &Roll, resolution: Resolution) -> [usize; 2] {
    let (round, height) = (roll.length(), roll.size.y);
    let spacing = match resolution {
        Resolution::Spacing(spacing) => spacing,
        Resolution::Particles(count) => (round * height / count as f64).sqrt(),
    };
    [round, height].map(|length| (length / spacing).round().clamp(1.0, 1e9) as usize)
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
