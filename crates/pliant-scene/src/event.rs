//! Events as the scene describes them: what happens to a body at a time.

use crate::Diagnostic;
use crate::body::BodyPlan;
use crate::record::Record;
use crate::source::{Check, Source, Span};
use crate::suggest;
use glam::DVec3;
use pliant::{BodyId, DAffine3, Edit, Hold, Schedule, Simulation};

/// An event that was read.
#[derive(Clone, Debug)]
pub(crate) struct EventPlan {
    frame: u64,
    body: usize,
    action: Action,
    /// Where it stands.
    at: Span,
}

#[derive(Clone, Debug)]
enum Action {
    /// A pin group by its name.
    Release(String),
    Hold(Vec<u32>),
    /// An impulse on some particles, or on all.
    Push(DVec3, Option<Vec<u32>>),
    Move(DVec3),
}

/// Reads the events of a scene. Faults are reported.
pub(crate) fn plan(check: &mut Check<'_>, root: &Record, bodies: &[BodyPlan], fps: f64) -> Vec<EventPlan> {
    root.records("event").iter().filter_map(|event| one(check, event, bodies, fps)).collect()
}

fn one(check: &mut Check<'_>, event: &Record, bodies: &[BodyPlan], fps: f64) -> Option<EventPlan> {
    let body = body_of(check, event, bodies);
    // Times are written with few digits: a frame that is as good as there counts.
    let frame = (event.given("at")?.it.number() * fps - 1e-6).ceil().max(0.0) as u64;
    let body = body?;
    let particles = |key: &str| {
        event.given(key).map(|v| v.it.list().iter().map(|p| p.it.whole() as u32).collect::<Vec<u32>>())
    };
    let action = if let Some(name) = event.given("release") {
        Action::Release(name.it.text().to_string())
    } else if let Some(list) = particles("hold") {
        Action::Hold(list)
    } else if event.given("push").is_some() {
        Action::Push(event.vector("push"), particles("particles"))
    } else if event.given("move").is_some() {
        Action::Move(event.vector("move"))
    } else {
        // The rules of the format have reported it.
        return None;
    };
    Some(EventPlan { frame, body, action, at: event.at.clone() })
}

/// The body an event names, or the only one there is.
fn body_of(check: &mut Check<'_>, event: &Record, bodies: &[BodyPlan]) -> Option<usize> {
    let Some(name) = event.given("body") else {
        if bodies.len() != 1 {
            let text = format!("there are {} bodies, and the event names none", bodies.len());
            check.add(&event.at, text, "add `body = \"name\"`");
            return None;
        }
        return Some(0);
    };
    let wanted = name.it.text();
    let found = bodies.iter().position(|b| b.name == wanted);
    if found.is_none() {
        let names: Vec<&str> = bodies.iter().map(|b| b.name.as_str()).collect();
        let help = match suggest::nearest(wanted, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("there are {}", names.iter().take(8).copied().collect::<Vec<_>>().join(", ")),
        };
        check.add(&name.at, format!("there is no body named \"{wanted}\""), help);
    }
    found
}

/// The schedule of a simulation that was built of the scene; every event that cannot be made is told with its line.
pub(crate) fn make(
    events: &[EventPlan],
    simulation: &Simulation,
    source: &Source,
) -> Result<Schedule, Vec<Diagnostic>> {
    let mut check = Check::new(source);
    let mut edits = Vec::with_capacity(events.len());
    // As they act: in the order of time, those of one frame in the order of the file.
    let mut ordered: Vec<&EventPlan> = events.iter().collect();
    ordered.sort_by_key(|e| e.frame);
    for event in &ordered {
        let body = &simulation.model().bodies()[event.body];
        let id: BodyId = body.id;
        let edit = match &event.action {
            Action::Release(name) => {
                let pins = body.parts.pins();
                let Some(group) = pins.iter().find(|g| g.name == *name) else {
                    let names: Vec<String> = pins
                        .iter()
                        .filter(|g| !g.name.is_empty())
                        .map(|g| format!("\"{}\"", g.name))
                        .collect();
                    let help = match names.is_empty() {
                        true => "give a [[body.pin]] that name".into(),
                        false => format!("it has {}", names.join(", ")),
                    };
                    check.add(&event.at, format!("`{}` has no pin named \"{name}\"", body.name), help);
                    continue;
                };
                Edit::Release(id, group.id)
            }
            Action::Hold(particles) => Edit::Hold(id, Hold::exactly(particles.iter().copied())),
            Action::Push(impulse, Some(particles)) => {
                let share = 1.0 / particles.len() as f64;
                Edit::Push(id, particles.iter().map(|&i| (i, share)).collect(), *impulse)
            }
            Action::Push(impulse, None) => {
                let mass = &body.parts.rest().mass;
                let total: f64 = mass.iter().sum();
                let shares = mass.iter().enumerate().map(|(i, m)| (i as u32, m / total));
                Edit::Push(id, shares.collect(), *impulse)
            }
            Action::Move(by) => Edit::Teleport(id, DAffine3::from_translation(*by)),
        };
        edits.push((event.frame, edit));
    }
    check.finish(())?;
    let schedule = Schedule::new(edits);
    if let Err(e) = schedule.check(simulation) {
        let mut check = Check::new(source);
        check.add(&ordered[e.edit].at, e.reason.to_string(), "see what happens to the body before");
        check.finish(())?;
    }
    Ok(schedule)
}
