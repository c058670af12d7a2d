//! Planes no body can pass, how they move, and when they come and go.

use crate::motion;
use crate::record::Record;
use crate::source::{Check, Placed, Span};
use crate::suggest;
use pliant::{Collider, ColliderId, Edit, HalfSpace};

/// Reads a plane; the normal is made a unit vector for the user.
pub(crate) fn plan(check: &mut Check<'_>, plane: &Record) -> Collider {
    let given = plane.vector("normal");
    // Scaled first: squares of very small or large components would vanish or overflow.
    let normal = (given / given.abs().max_element()).try_normalize().unwrap_or_else(|| {
        let help = "give the direction in which bodies are, as [0, 1, 0] for the ground";
        check.add(plane.place("normal"), "`normal` has length 0, which is no direction", help);
        pliant::DVec3::Y
    });
    // A unit vector stays as it is, to the bit.
    let normal = if given.length_squared() == 1.0 { given } else { normal };
    let offset = match (plane.given("point"), plane.given("offset")) {
        (Some(point), _) => normal.dot(point.it.vector()),
        (_, Some(offset)) => offset.it.number(),
        _ => 0.0,
    };
    let (friction, restitution) = (plane.number("friction"), plane.number("restitution"));
    let name = plane.given("name").map_or("", |n| n.it.text());
    Collider::from(HalfSpace { normal, offset, friction, restitution })
        .named(name)
        .moving(motion::plan(check, plane))
}

/// A plane comes or goes.
#[derive(Clone, Debug)]
pub(crate) struct PlaneEvent {
    pub frame: u64,
    /// Where it stands.
    pub at: Span,
    plane: usize,
    comes: bool,
}

/// Reads an event of the plane of this name. Faults are reported.
pub(crate) fn event(
    check: &mut Check<'_>,
    event: &Record,
    frame: u64,
    name: &Placed<crate::record::Datum>,
    planes: &[Collider],
) -> Option<PlaneEvent> {
    let wanted = name.it.text();
    let Some(plane) = planes.iter().position(|p| !wanted.is_empty() && p.name == wanted) else {
        let names = planes.iter().map(|p| p.name.as_str()).filter(|n| !n.is_empty());
        let help = match suggest::nearest(wanted, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "give the [[plane]] that name".into(),
        };
        check.add(&name.at, format!("there is no plane named \"{wanted}\""), help);
        return None;
    };
    let (add, remove) = (event.given("add"), event.given("remove"));
    if add.is_none() && remove.is_none() {
        let help =
            "let it come (`add = true`) or go (`remove = true`); its `velocity`, `spin` and `sway` move it";
        check.add(&event.at, format!("this cannot happen to a plane, and \"{wanted}\" is one"), help);
        return None;
    }
    Some(PlaneEvent { frame, at: event.at.clone(), plane, comes: add.is_some() })
}

/// The planes of a scene over time.
pub(crate) struct PlaneTimes<'a> {
    /// Those that are there from the start.
    pub at_start: Vec<Collider>,
    /// What happens, in the order of time.
    pub edits: Vec<(&'a PlaneEvent, Edit)>,
}

impl<'a> PlaneTimes<'a> {
    /// Follows the planes through the events; what cannot happen is reported.
    pub fn new(check: &mut Check<'_>, planes: &[Collider], events: &'a [PlaneEvent]) -> PlaneTimes<'a> {
        let later = |k: usize| events.iter().any(|e| e.plane == k && e.comes);
        let mut ids: Vec<Option<ColliderId>> = vec![None; planes.len()];
        let mut at_start = Vec::new();
        for (k, plane) in planes.iter().enumerate().filter(|(k, _)| !later(*k)) {
            ids[k] = Some(at_start.len().into());
            at_start.push(plane.clone());
        }
        let (mut next, mut gone) = (at_start.len(), vec![false; planes.len()]);
        let mut ordered: Vec<&PlaneEvent> = events.iter().collect();
        ordered.sort_by_key(|e| e.frame);
        let mut edits = Vec::new();
        for event in ordered {
            let name = &planes[event.plane].name;
            let mut refuse =
                |text: &str, help: &str| check.add(&event.at, format!("plane `{name}` {text}"), help);
            match (event.comes, ids[event.plane]) {
                _ if gone[event.plane] => {
                    refuse("is gone by then", "a plane comes and goes once; add another [[plane]] for later");
                }
                (true, None) => {
                    ids[event.plane] = Some(next.into());
                    next += 1;
                    edits.push((event, Edit::AddCollider(Box::new(planes[event.plane].clone()))));
                }
                (true, Some(_)) => {
                    refuse(
                        "was added before",
                        "a plane comes once; add another [[plane]] for what comes later",
                    );
                }
                (false, Some(id)) => {
                    gone[event.plane] = true;
                    edits.push((event, Edit::RemoveCollider(id)));
                }
                (false, None) => refuse("is not there yet", "let it go after the event that adds it"),
            }
        }
        PlaneTimes { at_start, edits }
    }
}
