//! What the elements of a body resist, as the scene describes it.

use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::mesh;
use crate::record::{Record, SceneValue};
use crate::shape::MadeShape;
use crate::source::{Check, Located, SourceText};
use glam::DVec3;
use pliant::constraints::{CurvatureLimits, Differences, ExampleWeights, Filling, Limits};
use pliant::{Constraint, ConstraintKind};

/// A constraint as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) enum ConstraintPlan {
    /// Known already.
    Ready(Constraint),
    /// Its examples are in files yet to be read.
    Examples { files: Vec<Located<String>>, weights: ExampleWeights, stiffness: Option<f64> },
}

/// Reads the constraints of a body; `None` if it names none. Faults are reported.
pub(crate) fn plan(check: &mut Check<'_>, body: &Record) -> Option<Vec<ConstraintPlan>> {
    let given = body.given("constraint")?.it.list();
    let records = given.iter().filter_map(|v| match &v.it {
        SceneValue::Record(record) => Some(record),
        _ => None,
    });
    Some(records.filter_map(|r| one(check, r)).collect())
}

fn one(check: &mut Check<'_>, record: &Record) -> Option<ConstraintPlan> {
    let stiffness = record.given("stiffness").map(|v| v.it.number());
    let kind = match record.tag.as_ref()?.it {
        "strain" => ConstraintKind::Strain,
        "strain_limit" => ConstraintKind::StrainLimit(Limits::new(bounds(check, record))),
        "fibre" => {
            let direction = record.vector("direction");
            if direction == DVec3::ZERO {
                let help = "give their direction in the shape at rest, as [1, 0, 0]";
                check.add(record.place("direction"), "`direction` has length 0, which is no direction", help);
                return None;
            }
            ConstraintKind::Fibre(direction, Limits::new(bounds(check, record)))
        }
        "volume" => ConstraintKind::Volume(Limits::new(bounds(check, record))),
        "bending" => ConstraintKind::Bending,
        "bending_limit" => {
            let absolute = record.number("curvature");
            ConstraintKind::BendingLimit(CurvatureLimits { relative: bounds(check, record), absolute })
        }
        "hinge" => ConstraintKind::Hinge,
        "pressure" => ConstraintKind::Pressure(Filling::Volume(bounds(check, record))),
        "rigid" => ConstraintKind::Rigid(match record.text("differences").as_str() {
            "vertex" => Differences::Vertex,
            "identity" => Differences::Identity,
            _ => Differences::Mean,
        }),
        "examples" => {
            let files = record.given("files")?.it.list().iter();
            let files = files.map(|f| Located { at: f.at.clone(), it: f.it.text().to_string() }).collect();
            let weights = match record.text("weights").as_str() {
                "common" => ExampleWeights::Common,
                _ => ExampleWeights::Own,
            };
            return Some(ConstraintPlan::Examples { files, weights, stiffness });
        }
        other => unreachable!("the format names a constraint {other} that is not made here"),
    };
    Some(ConstraintPlan::Ready(Constraint { kind, stiffness }))
}

/// The bounds of a limit. An infinite upper one is kept as a number so large that it is none.
fn bounds(check: &mut Check<'_>, record: &Record) -> [f64; 2] {
    let [min, max] = ["min", "max"].map(|key| record.number(key));
    if min > max {
        let text = format!("`min` {min} is above `max` {max}");
        check.add(record.place("min"), text, "exchange them; 1 is the rest shape");
    }
    [min, max.min(1e100)]
}

/// The constraints for the engine.
pub(crate) fn make(
    plans: &[ConstraintPlan],
    made: &MadeShape,
    source: &SourceText,
    digest: &mut InputDigest<'_>,
) -> Result<Vec<Constraint>, Vec<Diagnostic>> {
    let mut check = Check::new(source);
    let mut list = Vec::with_capacity(plans.len());
    for plan in plans {
        match plan {
            ConstraintPlan::Ready(constraint) => list.push(constraint.clone()),
            ConstraintPlan::Examples { files, weights, stiffness } => {
                let shapes = files.iter().map(|f| example(f, made, source, digest));
                // Each is read before any is missed: all faults at once.
                let shapes: Vec<_> = shapes.map(|shape| check.take(shape)).collect();
                let shapes: Option<Vec<Vec<DVec3>>> = shapes.into_iter().collect();
                list.extend(shapes.map(|shapes| Constraint {
                    kind: ConstraintKind::Examples(shapes.into(), *weights),
                    stiffness: *stiffness,
                }));
            }
        }
    }
    check.finish(list)
}

fn example(
    file: &Located<String>,
    made: &MadeShape,
    source: &SourceText,
    digest: &mut InputDigest<'_>,
) -> Result<Vec<DVec3>, Vec<Diagnostic>> {
    let positions = mesh::read_vertices(source, file, digest)?;
    let (found, wanted) = (positions.len(), made.shape.points.len());
    if found != wanted {
        return Err(vec![source.problem(
            &file.at,
            format!("the example has {found} vertices, the body has {wanted} particles"),
            "give a deformed copy of the shape: the same vertices in the same order, as kind = \"vertices\" keeps them",
        )]);
    }
    Ok(positions.into_iter().map(|p| made.from_file.transform_point3(p)).collect())
}
