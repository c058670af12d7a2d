//! What holds a body of elements together: from a description to constraint batches.

use crate::body::Body;
use crate::constraints::{ConstraintBatch, EdgeStrain, Rotations, Simplices, simplex_measure};
use crate::model::BatchScale;
use crate::points::Points;
use glam::DVec3;
use std::sync::Arc;

/// Something the elements of a body resist, in the implicit solvers. Tetrahedra are its elements if it has
/// any, else triangles, else edges. Where a stiffness is left out, the material's counts
/// ([`BodyControls::young`](crate::BodyControls::young) and its like).
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    /// Every deformation: the nearest rotation is wanted (projective-dynamics, eq. 15 with SO(n)).
    Strain {
        /// Pa (N/m for triangles, N for edges); the material's 2μ if left out.
        stiffness: Option<f64>,
    },
    /// Stretch beyond limits, as ratios to the rest length; within them nothing.
    StrainLimit {
        /// Smallest stretch allowed.
        min: f64,
        /// Largest stretch allowed.
        max: f64,
        /// As for strain.
        stiffness: f64,
    },
    /// Stretch beyond limits along one direction only: fibres of a muscle, warp or weft of a weave.
    Fibre {
        /// Direction in the shape at rest.
        direction: DVec3,
        /// Smallest stretch allowed.
        min: f64,
        /// Largest stretch allowed.
        max: f64,
        /// As for strain.
        stiffness: f64,
    },
    /// Change of volume (of area for triangles) beyond limits, as ratios to the rest volume.
    Volume {
        /// Smallest ratio allowed.
        min: f64,
        /// Largest ratio allowed.
        max: f64,
        /// Pa (N/m for triangles); the material's 3λ (2λ′ t) if left out.
        stiffness: Option<f64>,
    },
    /// Change of the mean curvature of a sheet; cannot tell a dent from a bump.
    Bending {
        /// N m; the material's D if left out.
        stiffness: Option<f64>,
    },
    /// Change of the signed angle between neighbouring triangles of a shell.
    Hinge {
        /// N m; the material's D if left out.
        stiffness: Option<f64>,
    },
}

impl Constraint {
    /// The name as in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Constraint::Strain { .. } => "strain",
            Constraint::StrainLimit { .. } => "strain_limit",
            Constraint::Fibre { .. } => "fibre",
            Constraint::Volume { .. } => "volume",
            Constraint::Bending { .. } => "bending",
            Constraint::Hinge { .. } => "hinge",
        }
    }

    /// The numbers a user gave, by name.
    fn numbers(&self) -> Vec<(&'static str, f64)> {
        let mut list = Vec::new();
        match *self {
            Constraint::Strain { stiffness }
            | Constraint::Bending { stiffness }
            | Constraint::Hinge { stiffness } => {
                list.extend(stiffness.map(|k| ("stiffness", k)));
            }
            Constraint::StrainLimit { min, max, stiffness }
            | Constraint::Fibre { min, max, stiffness, .. } => {
                list.extend([("min", min), ("max", max), ("stiffness", stiffness)]);
            }
            Constraint::Volume { min, max, stiffness } => {
                list.extend([("min", min), ("max", max)]);
                list.extend(stiffness.map(|k| ("stiffness", k)));
            }
        }
        list
    }

    fn limits(&self) -> Option<[f64; 2]> {
        match *self {
            Constraint::StrainLimit { min, max, .. }
            | Constraint::Fibre { min, max, .. }
            | Constraint::Volume { min, max, .. } => Some([min, max]),
            _ => None,
        }
    }

    /// The stiffness given, with the batch's weights; or the scale that follows the material.
    fn scale(&self, elements: Elements) -> (Option<f64>, BatchScale) {
        let (given, follows) = match (self, elements) {
            (Constraint::Strain { stiffness }, Elements::Tetrahedra) => (*stiffness, BatchScale::Strain),
            (Constraint::Strain { stiffness }, Elements::Triangles) => (*stiffness, BatchScale::SheetStrain),
            (Constraint::Strain { stiffness }, Elements::Edges) => (*stiffness, BatchScale::Thread),
            (Constraint::Volume { stiffness, .. }, Elements::Tetrahedra) => (*stiffness, BatchScale::Volume),
            (Constraint::Volume { stiffness, .. }, _) => (*stiffness, BatchScale::SheetArea),
            (Constraint::Bending { stiffness } | Constraint::Hinge { stiffness }, _) => {
                (*stiffness, BatchScale::Bending)
            }
            (Constraint::StrainLimit { stiffness, .. } | Constraint::Fibre { stiffness, .. }, _) => {
                (Some(*stiffness), BatchScale::Own)
            }
        };
        (given, if given.is_some() { BatchScale::Own } else { follows })
    }
}

/// What a body's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    Tetrahedra,
    Triangles,
    Edges,
}

impl Elements {
    pub fn of(body: &Body) -> Option<Elements> {
        let shape = &body.shape;
        if !shape.tetrahedra.is_empty() {
            Some(Elements::Tetrahedra)
        } else if !shape.triangles.is_empty() {
            Some(Elements::Triangles)
        } else {
            (!shape.edges.is_empty()).then_some(Elements::Edges)
        }
    }

    fn name(self) -> &'static str {
        match self {
            Elements::Tetrahedra => "tetrahedra",
            Elements::Triangles => "triangles",
            Elements::Edges => "edges",
        }
    }
}

/// A fault of a body's elements or constraints: what and what to do.
pub(crate) type Fault = (String, String);

/// Faults that can be seen before anything is built.
pub(crate) fn check(body: &Body) -> Vec<Fault> {
    let mut faults = Vec::new();
    let n = body.shape.points.len();
    let elements = Elements::of(body);
    for (name, corners) in [
        ("triangle", body.shape.triangles.as_flattened().chunks(3)),
        ("tetrahedron", body.shape.tetrahedra.as_flattened().chunks(4)),
    ] {
        for (e, corners) in corners.enumerate() {
            if let Some(i) = corners.iter().find(|i| **i as usize >= n) {
                let text = format!("{name} {e} refers to particle {i} that is not there (there are {n})");
                faults.push((text, "number particles from 0".into()));
            }
        }
    }
    for constraint in &body.constraints {
        let name = constraint.name();
        for (what, v) in constraint.numbers() {
            let most = if what == "max" { f64::INFINITY } else { 1e15 };
            if !(0.0..=most).contains(&v) {
                let text = format!("{what} {v:?} of the constraint `{name}` is not allowed");
                faults.push((text, format!("give a number from 0 to {most:?}")));
            }
        }
        if let Some([min, max]) = constraint.limits()
            && min > max
        {
            let text = format!("min {min} of the constraint `{name}` is above max {max}");
            faults.push((text, "exchange them; 1 is the rest shape".into()));
        }
        let missing = |needs: &str| (format!("the constraint `{name}` needs {needs}"), remedy(elements));
        match (constraint, elements) {
            (_, None) => faults.push(missing("elements, and the shape has none")),
            (Constraint::Bending { .. } | Constraint::Hinge { .. }, Some(e)) if e != Elements::Triangles => {
                faults.push(missing(&format!("triangles, and the shape has {}", e.name())));
            }
            (Constraint::Volume { .. } | Constraint::Fibre { .. }, Some(Elements::Edges)) => {
                faults.push(missing("tetrahedra or triangles, and the shape has edges"));
            }
            _ => {}
        }
        if let Constraint::Fibre { direction, .. } = constraint
            && !(direction.is_finite() && direction.length() > 0.0)
        {
            faults.push((
                format!("the fibre direction {direction} is none"),
                "give a vector of any length".into(),
            ));
        }
    }
    faults
}

fn remedy(elements: Option<Elements>) -> String {
    match elements {
        None | Some(Elements::Edges) => {
            "give the body a shape with tetrahedra or triangles, or hold it together by clusters".into()
        }
        Some(_) => "take the constraint out, or use another shape".into(),
    }
}

/// The batches of a body's constraints, over particles from `first` on. Elements without extent are faults.
pub(crate) fn batches(
    body: &Body,
    first: usize,
    rest: &Points,
) -> Result<Vec<(BatchScale, Arc<dyn ConstraintBatch>)>, Vec<Fault>> {
    let Some(kind) = Elements::of(body) else { return Ok(Vec::new()) };
    let shift = |i: u32| i + first as u32;
    let tetrahedra: Vec<[u32; 4]> = body.shape.tetrahedra.iter().map(|t| t.map(shift)).collect();
    let edges: Vec<[u32; 2]> = body.shape.edges.iter().map(|e| e.map(shift)).collect();
    let mut list: Vec<(BatchScale, Arc<dyn ConstraintBatch>)> = Vec::new();
    let mut faults = Vec::new();
    for constraint in &body.constraints {
        let (given, scale) = constraint.scale(kind);
        let batch: Result<Arc<dyn ConstraintBatch>, Vec<usize>> = match (constraint, kind) {
            (Constraint::Strain { .. }, Elements::Tetrahedra) => {
                let weights = measures::<3, 4>(&tetrahedra, rest, given);
                Simplices::<3, _>::new(Rotations, &tetrahedra, rest, &weights, None).map(arc)
            }
            (Constraint::Strain { .. }, Elements::Edges) => {
                let weights = measures::<1, 2>(&edges, rest, given);
                Ok(arc(EdgeStrain::lengths(&edges, rest, &weights)))
            }
            _ => continue,
        };
        match batch {
            Ok(batch) => list.push((scale, batch)),
            Err(bad) => faults.push(without_extent(kind, &bad)),
        }
    }
    faults.dedup();
    if faults.is_empty() { Ok(list) } else { Err(faults) }
}

fn arc<B: ConstraintBatch + 'static>(batch: B) -> Arc<dyn ConstraintBatch> {
    Arc::new(batch)
}

/// What each element stands for, times a stiffness if one is given.
fn measures<const D: usize, const C: usize>(
    elements: &[[u32; C]],
    rest: &Points,
    stiffness: Option<f64>,
) -> Vec<f64> {
    let edges = |corners: &[u32; C]| {
        let origin = rest.get(corners[0] as usize);
        std::array::from_fn::<DVec3, D, _>(|c| rest.get(corners[c + 1] as usize) - origin)
    };
    elements.iter().map(|e| simplex_measure(edges(e)) * stiffness.unwrap_or(1.0)).collect()
}

fn without_extent(kind: Elements, bad: &[usize]) -> Fault {
    let shown: Vec<String> = bad.iter().take(10).map(usize::to_string).collect();
    let more = if bad.len() > 10 { format!(" and {} more", bad.len() - 10) } else { String::new() };
    let (what, help) = match kind {
        Elements::Tetrahedra => (
            "no volume, or are turned inside out, at rest",
            "remove them, or exchange two corners of those turned inside out",
        ),
        _ => ("no extent at rest", "remove them, or merge the particles that coincide"),
    };
    (format!("{} {}{more} (counted from 0) have {what}", kind.name(), shown.join(", ")), help.into())
}
