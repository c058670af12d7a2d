//! What holds a body of elements together: from a description to constraint batches.

use crate::body::Body;
use crate::constraints::{
    Bending, ConstraintBatch, CurvatureLimits, Differences, EdgeStrain, ElementShape, ExampleTetrahedra,
    ExampleWeights, Fibres, Filling, GradientSet, HingeBending, Limits, Pressure, Rotations, Simplices,
    StrainLimits, VolumeLimits, simplex_measure,
};
use crate::model::BatchScale;
use crate::points::Points;
use glam::DVec3;
use std::sync::Arc;

/// Something the elements of a body resist, in the implicit solvers. Tetrahedra are its elements if it has
/// any, else triangles, else edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// What is asked of which particles.
    pub kind: ConstraintKind,
    /// How strongly: Pa for tetrahedra, N/m for triangles, N for edges, N m for bending. Left out, the
    /// material decides ([`BodyControls::young`](crate::BodyControls::young) and its like).
    pub stiffness: Option<f64>,
}

/// What a constraint is about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstraintKind {
    /// Every deformation: the nearest rotation is wanted (projective-dynamics, eq. 15 with SO(n)).
    Strain,
    /// Stretch beyond limits, as ratios to the rest length; within them nothing.
    StrainLimit(Limits),
    /// Stretch beyond limits along one direction of the rest shape only: fibres of a muscle, warp or weft.
    Fibre(DVec3, Limits),
    /// Change of volume (of area for triangles) beyond limits, as ratios to the rest volume.
    Volume(Limits),
    /// Change of the mean curvature of a sheet; cannot tell a dent from a bump.
    Bending,
    /// Curvature of a sheet beyond limits.
    BendingLimit(CurvatureLimits),
    /// Change of the signed curvature between neighbouring triangles of a shell.
    Hinge,
    /// Deformations other than those of examples (and what lies between): shapes of as many particles.
    /// Triangles follow their curvature.
    Examples(Arc<[Vec<DVec3>]>, ExampleWeights),
    /// Change of the volume a closed surface of triangles encloses: a balloon, filled.
    Pressure(Filling),
    /// Every deformation, with a choice of A and B for comparison (projective-dynamics §3.3).
    Rigid(Differences),
}

impl From<ConstraintKind> for Constraint {
    /// With the stiffness of the material.
    fn from(kind: ConstraintKind) -> Constraint {
        Constraint { kind, stiffness: None }
    }
}

impl ConstraintKind {
    /// The constraint with a stiffness of its own in place of the body's, in the unit of its kind. Building refuses what is no positive number.
    pub fn of_stiffness(self, stiffness: f64) -> Constraint {
        Constraint { kind: self, stiffness: Some(stiffness) }
    }

    /// The name as in scene files.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }

    /// Everything that is to be known of a kind beside how it is made ([`Maker::make`]): one arm each.
    fn facts(&self) -> Facts {
        use BatchScale::{Bending, SheetArea, SheetStrain, Strain, Thread, Volume};
        let any = [Some(Strain), Some(SheetStrain), Some(Thread)];
        let filled = [Some(Strain), Some(SheetStrain), None];
        let of_sheets = [None, Some(Bending), None];
        let facts = |name, scales, limits| Facts { name, scales, limits };
        match self {
            ConstraintKind::Strain => facts("strain", any, None),
            ConstraintKind::StrainLimit(l) => facts("strain_limit", any, Some([l.min, l.max])),
            ConstraintKind::Fibre(_, l) => facts("fibre", filled, Some([l.min, l.max])),
            ConstraintKind::Volume(l) => {
                facts("volume", [Some(Volume), Some(SheetArea), None], Some([l.min, l.max]))
            }
            ConstraintKind::Bending => facts("bending", of_sheets, None),
            ConstraintKind::BendingLimit(l) => facts("bending_limit", of_sheets, Some(l.relative)),
            ConstraintKind::Hinge => facts("hinge", of_sheets, None),
            ConstraintKind::Examples(..) => facts("examples", [Some(Strain), Some(Bending), None], None),
            ConstraintKind::Pressure(Filling::Volume(l)) => {
                facts("pressure", [None, Some(SheetStrain), None], Some(*l))
            }
            ConstraintKind::Pressure(Filling::Gas { .. }) => {
                facts("pressure", [None, Some(SheetStrain), None], None)
            }
            ConstraintKind::Rigid(_) => facts("rigid", any, None),
        }
    }
}

/// What is to be known of a kind of constraint.
struct Facts {
    name: &'static str,
    /// The scale that follows the material, of tetrahedra, triangles and edges; `None` where it cannot be had of them.
    scales: [Option<BatchScale>; 3],
    /// The bounds a user gave.
    limits: Option<[f64; 2]>,
}

impl Facts {
    /// Which elements it can be had of.
    fn needs(&self) -> String {
        let all = [ElementKind::Tetrahedra, ElementKind::Triangles, ElementKind::Edges];
        let known = all.iter().zip(&self.scales).filter(|(_, scale)| scale.is_some());
        known.map(|(e, _)| e.name()).collect::<Vec<_>>().join(" or ")
    }
}

/// What a body's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementKind {
    Tetrahedra,
    Triangles,
    Edges,
}

impl ElementKind {
    pub fn of(body: &Body) -> Option<ElementKind> {
        let shape = &body.shape;
        if !shape.tetrahedra.is_empty() {
            Some(ElementKind::Tetrahedra)
        } else if !shape.triangles.is_empty() {
            Some(ElementKind::Triangles)
        } else {
            (!shape.edges.is_empty()).then_some(ElementKind::Edges)
        }
    }

    fn name(self) -> &'static str {
        match self {
            ElementKind::Tetrahedra => "tetrahedra",
            ElementKind::Triangles => "triangles",
            ElementKind::Edges => "edges",
        }
    }
}

/// A fault of a body's elements or constraints: what and what to do.
pub(crate) type Fault = (String, String);

/// Faults that can be seen before anything is built.
pub(crate) fn check(body: &Body) -> Vec<Fault> {
    let mut faults = Vec::new();
    let n = body.shape.points.len();
    let elements = ElementKind::of(body);
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
    for Constraint { kind, stiffness } in &body.constraints {
        let name = kind.name();
        let mut number = |what: &str, v: f64, most: f64| {
            if !(0.0..=most).contains(&v) {
                let text = format!("{what} {v:?} of the constraint `{name}` is not allowed");
                faults.push((text, format!("give a number from 0 to {most:?}")));
            }
        };
        stiffness.iter().for_each(|k| number("stiffness", *k, 1e15));
        match kind {
            ConstraintKind::BendingLimit(l) => number("curvature", l.absolute, 1e9),
            ConstraintKind::Pressure(Filling::Gas { outside, give }) => {
                number("outside", *outside, 1e6);
                number("give", *give, 1e6);
            }
            _ => {}
        }
        let facts = kind.facts();
        if let Some([min, max]) = facts.limits {
            number("min", min, 1e6);
            number("max", max, f64::INFINITY);
            if min > max {
                let text = format!("min {min} of the constraint `{name}` is above max {max}");
                faults.push((text, "exchange them; 1 is the rest shape".into()));
            }
        }
        if matches!(kind, ConstraintKind::Pressure(_)) && stiffness.is_none() {
            let text = "the constraint `pressure` has no stiffness".into();
            faults.push((text, "give one: a material says nothing about what fills a body".into()));
        }
        let missing = |needs: &str| (format!("the constraint `{name}` needs {needs}"), remedy(elements));
        match elements.map(|e| (e, facts.scales[e as usize])) {
            None => faults.push(missing("elements, and the shape has none")),
            Some((e, None)) => {
                faults.push(missing(&format!("{}, and the shape has {}", facts.needs(), e.name())))
            }
            Some(_) => {}
        }
        if let ConstraintKind::Fibre(direction, _) = kind
            && !(direction.is_finite() && direction.length() > 0.0)
        {
            let text = format!("the fibre direction {direction} is none");
            faults.push((text, "give a vector of any length but 0".into()));
        }
        if let ConstraintKind::Examples(shapes, _) = kind {
            for (k, shape) in shapes.iter().enumerate() {
                if shape.len() != n {
                    let text = format!("example {k} has {} points, the shape has {n}", shape.len());
                    faults.push((text, "give deformed copies of the shape: same points, same order".into()));
                } else if let Some(i) = shape.iter().position(|p| !p.is_finite()) {
                    faults.push((format!("point {i} of example {k} is not finite"), "repair it".into()));
                }
            }
        }
    }
    faults
}

fn remedy(elements: Option<ElementKind>) -> String {
    match elements {
        None | Some(ElementKind::Edges) => {
            "give the body a shape with tetrahedra (as `SolidShape::build_tets` makes) or triangles, or hold it together by \
             clusters"
                .into()
        }
        Some(_) => "take the constraint out, or use another shape".into(),
    }
}

/// A batch with what scales it.
pub(crate) type Scaled = (BatchScale, f64, Arc<dyn ConstraintBatch>);

/// The batches of a body's constraints. ElementKind without extent are faults.
pub(crate) fn batches(body: &Body, rest: &Points) -> Result<Vec<Scaled>, Vec<Fault>> {
    let Some(kind) = ElementKind::of(body) else { return Ok(Vec::new()) };
    let maker = Maker {
        tetrahedra: &body.shape.tetrahedra,
        triangles: &body.shape.triangles,
        edges: &body.shape.edges,
        rest,
        kind,
    };
    let (mut list, mut faults) = (Vec::new(), Vec::new());
    for constraint in &body.constraints {
        let facts = constraint.kind.facts();
        match maker.make(&constraint.kind) {
            Ok(batch) => list.push(match constraint.stiffness {
                Some(stiffness) => (BatchScale::Own, stiffness, batch),
                None => (facts.scales[kind as usize].unwrap_or(BatchScale::Own), 1.0, batch),
            }),
            Err(fault) => faults.push(fault),
        }
    }
    faults.dedup();
    if faults.is_empty() { Ok(list) } else { Err(faults) }
}

/// A body's elements, to make batches of.
struct Maker<'a> {
    tetrahedra: &'a [[u32; 4]],
    triangles: &'a [[u32; 3]],
    edges: &'a [[u32; 2]],
    rest: &'a Points,
    kind: ElementKind,
}

impl Maker<'_> {
    fn make(&self, constraint: &ConstraintKind) -> Result<Arc<dyn ConstraintBatch>, Fault> {
        Ok(match constraint {
            ConstraintKind::Strain => match self.kind {
                ElementKind::Tetrahedra => self.solids(Rotations)?,
                ElementKind::Triangles => self.sheets(Rotations, None)?,
                ElementKind::Edges => self.threads(Limits::new([1.0, 1.0])),
            },
            ConstraintKind::StrainLimit(limits) => match self.kind {
                ElementKind::Tetrahedra => self.solids(StrainLimits(*limits))?,
                ElementKind::Triangles => self.sheets(StrainLimits(*limits), None)?,
                ElementKind::Edges => self.threads(*limits),
            },
            ConstraintKind::Fibre(direction, limits) => {
                let set = Fibres::new(*direction, *limits);
                match self.kind {
                    ElementKind::Tetrahedra => self.solids(set)?,
                    _ => self.sheets(set, Some(*direction))?,
                }
            }
            ConstraintKind::Volume(limits) => match self.kind {
                ElementKind::Tetrahedra => self.solids(VolumeLimits(*limits))?,
                _ => self.sheets(VolumeLimits(*limits), None)?,
            },
            ConstraintKind::Bending => Arc::new(Bending::new(self.triangles, self.rest)),
            ConstraintKind::BendingLimit(limits) => {
                Arc::new(Bending::limited(self.triangles, self.rest, *limits))
            }
            ConstraintKind::Hinge => Arc::new(HingeBending::new(self.triangles, self.rest)),
            ConstraintKind::Examples(shapes, weights) => self.examples(shapes, *weights)?,
            ConstraintKind::Pressure(filling) => {
                let batch = Pressure::new(self.triangles, self.rest, *filling);
                let help = "close the surface, with all its triangles facing outward";
                arc(batch.map_err(|e| (e.to_string(), help.into()))?)
            }
            ConstraintKind::Rigid(differences) => match self.kind {
                ElementKind::Tetrahedra => self.rigid::<3, 4>(self.tetrahedra, *differences),
                ElementKind::Triangles => self.rigid::<2, 3>(self.triangles, *differences),
                ElementKind::Edges => self.rigid::<1, 2>(self.edges, *differences),
            },
        })
    }

    fn solids<S: GradientSet<3>>(&self, set: S) -> Result<Arc<dyn ConstraintBatch>, Fault> {
        let volumes = measures::<3, 4>(self.tetrahedra, self.rest);
        let batch = Simplices::<3, _>::new(set, self.tetrahedra, self.rest, &volumes, None);
        batch.map(arc).map_err(|bad| self.without_extent(&bad))
    }

    fn sheets<S: GradientSet<2>>(
        &self,
        set: S,
        along: Option<DVec3>,
    ) -> Result<Arc<dyn ConstraintBatch>, Fault> {
        let areas = measures::<2, 3>(self.triangles, self.rest);
        let batch = Simplices::<2, _>::new(set, self.triangles, self.rest, &areas, along);
        batch.map(arc).map_err(|bad| self.without_extent(&bad))
    }

    fn threads(&self, limits: Limits) -> Arc<dyn ConstraintBatch> {
        let lengths = measures::<1, 2>(self.edges, self.rest);
        Arc::new(EdgeStrain::limited(self.edges, self.rest, &lengths, [limits.min, limits.max]))
    }

    /// Rows are whole edges here, not ratios: dividing the measure by their mean square makes the stiffness
    /// mean the same.
    fn rigid<const D: usize, const C: usize>(
        &self,
        elements: &[[u32; C]],
        differences: Differences,
    ) -> Arc<dyn ConstraintBatch> {
        let mut weights = measures::<D, C>(elements, self.rest);
        for (w, corners) in weights.iter_mut().zip(elements) {
            let points = corners.map(|i| self.rest.get(i as usize));
            let mean = points.iter().sum::<DVec3>() / C as f64;
            let spread: f64 = points.iter().map(|p| (*p - mean).length_squared()).sum();
            *w *= D as f64 / spread.max(f64::MIN_POSITIVE);
        }
        Arc::new(ElementShape::<C>::new(elements, self.rest, &weights, differences))
    }

    fn examples(
        &self,
        shapes: &[Vec<DVec3>],
        weights: ExampleWeights,
    ) -> Result<Arc<dyn ConstraintBatch>, Fault> {
        let shapes: Vec<Points> = shapes.iter().map(|s| s.iter().copied().collect()).collect();
        let help = "give deformed copies of the shape: same points, same order, no element turned over";
        if self.kind == ElementKind::Tetrahedra {
            let volumes = measures::<3, 4>(self.tetrahedra, self.rest);
            let batch = ExampleTetrahedra::new(self.tetrahedra, self.rest, &volumes, &shapes, weights, 1.0);
            return batch.map(arc).map_err(|e| (e.to_string(), help.into()));
        }
        let batch = match weights {
            ExampleWeights::Own => Bending::with_examples(self.triangles, self.rest, &shapes),
            ExampleWeights::Common => Bending::with_common_examples(self.triangles, self.rest, &shapes),
        };
        batch.map(arc).map_err(|e| (e.to_string(), help.into()))
    }

    fn without_extent(&self, bad: &[usize]) -> Fault {
        let shown: Vec<String> = bad.iter().take(10).map(usize::to_string).collect();
        let more = if bad.len() > 10 { format!(" and {} more", bad.len() - 10) } else { String::new() };
        let (what, help) = match self.kind {
            ElementKind::Tetrahedra => (
                "no volume, or are turned inside out, at rest",
                "remove them, or exchange two corners of those turned inside out",
            ),
            _ => ("no extent at rest", "remove them, or merge the particles that coincide"),
        };
        let text = format!("{} {}{more} (counted from 0) have {what}", self.kind.name(), shown.join(", "));
        (text, help.into())
    }
}

fn arc<B: ConstraintBatch + 'static>(batch: B) -> Arc<dyn ConstraintBatch> {
    Arc::new(batch)
}

/// Length, area or volume of each element.
fn measures<const D: usize, const C: usize>(elements: &[[u32; C]], rest: &Points) -> Vec<f64> {
    let edges = |corners: &[u32; C]| {
        let origin = rest.get(corners[0] as usize);
        std::array::from_fn::<DVec3, D, _>(|c| rest.get(corners[c + 1] as usize) - origin)
    };
    elements.iter().map(|e| simplex_measure(edges(e))).collect()
}

/// m_ij = ∫ρ φᵢ φⱼ of neighbouring particles of an implicit body of tetrahedra or triangles: a simplex of k corners
/// gives m/k(k + 1) to each pair.
pub(crate) fn coupled_masses(body: &Body) -> Vec<(u32, u32, f64)> {
    let mut list = Vec::new();
    if !body.solver.uses_constraints() {
        return list;
    }
    let rest: Points = body.shape.points.iter().copied().collect();
    match ElementKind::of(body) {
        Some(ElementKind::Tetrahedra) => {
            let volumes = measures::<3, 4>(&body.shape.tetrahedra, &rest);
            couple(&body.shape.tetrahedra, &volumes, body.mass, &mut list);
        }
        Some(ElementKind::Triangles) => {
            let areas = measures::<2, 3>(&body.shape.triangles, &rest);
            couple(&body.shape.triangles, &areas, body.mass, &mut list);
        }
        _ => {}
    }
    list
}

pub(crate) fn couple<const C: usize>(
    elements: &[[u32; C]],
    measures: &[f64],
    mass: f64,
    list: &mut Vec<(u32, u32, f64)>,
) {
    let total: f64 = measures.iter().sum();
    for (corners, measure) in elements.iter().zip(measures) {
        let m = mass * measure / total / (C * (C + 1)) as f64;
        for (k, &i) in corners.iter().enumerate() {
            for &j in &corners[..k] {
                list.push((i.min(j), i.max(j), m));
            }
        }
    }
    list.sort_by_key(|&(i, j, _)| (i, j));
    list.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
}
