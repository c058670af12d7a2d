//! Groups of particles that glue names.

use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, Span};
use glam::DVec3;

/// A group as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    pub name: String,
    pub select: GroupSelection,
    /// Where it says which particles.
    pub at: Span,
}

/// Which particles.
#[derive(Clone, Debug)]
pub(crate) enum GroupSelection {
    Particles(Vec<Located<u32>>),
    Box(DVec3, DVec3),
}

/// Reads the groups of a body. Faults are reported.
pub(crate) fn plan(check: &mut Check<'_>, body: &Record) -> Vec<GroupPlan> {
    let pins: Vec<&str> =
        body.records("pin").iter().filter_map(|p| p.given("name")).map(|n| n.it.text()).collect();
    let mut groups = Vec::<GroupPlan>::new();
    for group in body.records("group") {
        let Some(name) = group.given("name") else { continue };
        let text = name.it.text();
        if pins.contains(&text) || groups.iter().any(|g| g.name == text) {
            let fault = format!("there is a group or pin named \"{text}\" of this body already");
            check.add(&name.at, fault, "give each a name of its own");
        }
        let (select, at) = if let Some(list) = group.given("particles") {
            let particle = |p: &Located<SceneValue>| Located { at: p.at.clone(), it: p.it.whole() as u32 };
            (GroupSelection::Particles(list.it.list().iter().map(particle).collect()), list.at.clone())
        } else if let Some(extent) = group.record("box") {
            (GroupSelection::Box(extent.vector("min"), extent.vector("max")), extent.at.clone())
        } else {
            continue;
        };
        groups.push(GroupPlan { name: text.to_string(), select, at });
    }
    groups
}
