//! Keys that a scene gives and nothing of its bodies reads: refused as a live value would be, by the engine's own table,
//! since a number that can be changed without anything happening is looked for in the wrong place for hours.

use crate::body::BodyPlan;
use crate::diagnostic::Diagnostic;
use crate::element_choice::ElementChoice;
use crate::record::{Record, SceneValue};
use crate::scene::Scene;
use pliant::model::Model;
use pliant::solvers::Support;
use pliant::{BodyId, Control, SolverKind};

/// All keys without effect, at their places.
pub(crate) fn refuse(scene: &Scene, model: &Model) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    // What holds for one copy holds for all.
    let bodies = || scene.bodies.iter().enumerate().filter(|(_, plan)| plan.copy == 0);
    for (b, plan) in bodies() {
        for (key, instead) in unread(&plan.record, plan, b, model) {
            let text = format!("`{key}` does nothing on body `{}`", plan.name);
            problems.push(scene.source.problem(plan.record.place(key), text, instead));
        }
    }
    // A material may serve bodies of several kinds: it is enough if one of them reads a key.
    let mut known = Vec::new();
    for (b, plan) in bodies() {
        let Some(material) = plan.material.as_ref().filter(|m| !known.contains(&m.at)) else { continue };
        known.push(material.at.clone());
        for (key, instead) in unread(material, plan, b, model) {
            let mut users =
                bodies().filter(|(_, p)| p.material.as_ref().is_some_and(|m| m.at == material.at));
            let reads =
                |(b, p): (usize, &BodyPlan)| !unread(material, p, b, model).iter().any(|u| u.0 == key);
            if !users.any(reads) {
                let text = format!("`{key}` does nothing on any body of this material, as `{}`", plan.name);
                problems.push(scene.source.problem(material.place(key), text, instead));
            }
        }
    }
    problems
}

/// Keys of a table that the body does not read, with what it does.
fn unread(table: &Record, plan: &BodyPlan, b: usize, model: &Model) -> Vec<(&'static str, &'static str)> {
    let keys = Control::BODY_NAMES.iter().filter(|key| table.values.contains_key(**key) && !off(table, key));
    keys.filter_map(|key| match Control::named(key, BodyId::from(b))?.effect(model) {
        Support::Yes => None,
        Support::No(instead) => Some((*key, instead)),
    })
    .filter(|(key, _)| !overruled(plan, table, key) && !builds(plan, key))
    .collect()
}

/// Whether the body was built by the key, whoever reads it later: a thickness makes its mass, and an edge stiffness its
/// springs, which PBD has too though it knows no stiffness.
fn builds(plan: &BodyPlan, key: &str) -> bool {
    match key {
        "thickness" => {
            plan.mass.is_none() && !matches!(plan.cut, ElementChoice::None | ElementChoice::Tetrahedra)
        }
        "edge_stiffness" => plan.solver == SolverKind::Pbd,
        _ => false,
    }
}

/// Whether a material's key is not the body's value anyway.
fn overruled(plan: &BodyPlan, table: &Record, key: &str) -> bool {
    table.at != plan.record.at && plan.record.values.contains_key(key)
}

/// Whether the value says that there is to be none of it, which is true of a body that has none.
fn off(table: &Record, key: &str) -> bool {
    let number = match table.values.get(key).map(|v| &v.it) {
        Some(SceneValue::Number(number)) => *number,
        Some(SceneValue::Whole(number)) => *number as f64,
        _ => return false,
    };
    match key {
        "strain_limit" | "yield_strain" | "tear_strain" => number == f64::INFINITY,
        "air" | "edge_stiffness" | "deformation" | "volume" | "follow" => number == 0.0,
        _ => false,
    }
}
