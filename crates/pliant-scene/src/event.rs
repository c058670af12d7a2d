//! Events as the scene describes them: what happens to a body at a time; colliders are `collider.rs`'s, joints
//! `joint.rs`'s.
//!
//! A body that an event adds is not there from the start. Ids follow from the order bodies come in, so all of them are known
//! beforehand: first those that are there from the start, then the others as they are added.

use crate::Diagnostic;
use crate::body::BodyPlan;
use crate::collider::{self, ColliderEvent, ColliderPlan, ColliderSchedule};
use crate::joint::{self, JointEvent, JointPlan, JointSchedule};
use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, SourceText, Span};
use crate::suggest;
use glam::DVec3;
use pliant::{Body, BodyId, DAffine3, Edit, Hold, Keyframes, Schedule, Simulation, Track};

/// An event that was read.
#[derive(Clone, Debug)]
pub(crate) struct EventPlan {
    frame: u64,
    body: usize,
    action: EventAction,
    /// Where it stands.
    at: Span,
}

#[derive(Clone, Debug)]
enum EventAction {
    Add,
    Remove,
    /// It becomes what another body of the file says.
    Become(usize),
    /// A pin group by its name.
    Release(String),
    Hold(Vec<u32>),
    /// An impulse on some particles, or on all.
    Push(DVec3, Option<Vec<u32>>),
    Move(DVec3),
}

/// The events of a scene, by what they happen to.
#[derive(Default)]
pub(crate) struct SceneEvents {
    pub bodies: Vec<EventPlan>,
    pub colliders: Vec<ColliderEvent>,
    pub joints: Vec<JointEvent>,
}

/// Reads the events of a scene. Faults are reported.
pub(crate) fn plan(
    check: &mut Check<'_>,
    root: &Record,
    (bodies, colliders, joints): (&[BodyPlan], &[ColliderPlan], &[JointPlan]),
    fps: f64,
) -> SceneEvents {
    let mut all = SceneEvents::default();
    for event in root.records("event") {
        // Times are written with few digits: a frame that is as good as there counts.
        let Some(at) = event.given("at") else { continue };
        let frame = (at.it.number() * fps - 1e-6).ceil().max(0.0) as u64;
        let nothing = ["add", "remove"].into_iter().find(|k| event.given(k).is_some_and(|v| !v.it.truth()));
        if let Some(key) = nothing {
            check.add(
                event.place(key),
                format!("`{key} = false` lets nothing happen"),
                "leave the event out",
            );
            continue;
        }
        let named = ["plane", "collider"].into_iter().find_map(|key| Some((key, event.given(key)?)));
        match (named, event.given("joint").or_else(|| event.given("glue"))) {
            (Some(named), _) => all.colliders.extend(collider::event(check, event, frame, named, colliders)),
            (None, Some(name)) => all.joints.extend(joint::event(check, event, frame, name, joints)),
            (None, None) => all.bodies.extend(one(check, event, frame, bodies)),
        }
    }
    all
}

fn one(check: &mut Check<'_>, event: &Record, frame: u64, bodies: &[BodyPlan]) -> Option<EventPlan> {
    let body = body_of(check, event, bodies);
    let becomes = event.given("become").map(|other| named(check, other, bodies));
    let body = body?;
    let particles = |key: &str| {
        event.given(key).map(|v| v.it.list().iter().map(|p| p.it.whole() as u32).collect::<Vec<u32>>())
    };
    let action = if event.given("add").is_some() {
        EventAction::Add
    } else if event.given("remove").is_some() {
        EventAction::Remove
    } else if let Some(other) = becomes {
        EventAction::Become(other?)
    } else if let Some(name) = event.given("release") {
        EventAction::Release(name.it.text().to_string())
    } else if let Some(list) = particles("hold") {
        EventAction::Hold(list)
    } else if event.given("push").is_some() {
        EventAction::Push(event.vector("push"), particles("particles"))
    } else if event.given("move").is_some() {
        EventAction::Move(event.vector("move"))
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
    named(check, name, bodies)
}

/// The body of a name.
fn named(check: &mut Check<'_>, name: &Located<SceneValue>, bodies: &[BodyPlan]) -> Option<usize> {
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

/// When the bodies of a scene are there.
pub(crate) struct BodySchedule {
    /// The id each body of the file has or will have.
    pub ids: Vec<BodyId>,
    /// The bodies in the order of their ids, by their place in the file; so many of them are there from the start.
    pub order: Vec<usize>,
    pub at_start: usize,
    /// Whether each only describes what another becomes: it is never there, and its id means nothing.
    pub described: Vec<bool>,
}

impl BodySchedule {
    /// So many bodies, all of them there from the start.
    pub fn all_at_start(bodies: usize) -> BodySchedule {
        BodySchedule {
            ids: (0..bodies).map(BodyId::from).collect(),
            order: (0..bodies).collect(),
            at_start: bodies,
            described: vec![false; bodies],
        }
    }

    pub fn new(events: &[EventPlan], bodies: usize) -> BodySchedule {
        let mut added: Vec<&EventPlan> =
            events.iter().filter(|e| matches!(e.action, EventAction::Add)).collect();
        added.sort_by_key(|e| e.frame);
        let mut later: Vec<usize> = Vec::new();
        for event in added {
            // A second time is a fault, told elsewhere.
            if !later.contains(&event.body) {
                later.push(event.body);
            }
        }
        let mut described = vec![false; bodies];
        for event in events {
            if let EventAction::Become(other) = event.action {
                described[other] = true;
            }
        }
        later.retain(|b| !described[*b]);
        let mut order: Vec<usize> = (0..bodies).filter(|b| !later.contains(b) && !described[*b]).collect();
        let at_start = order.len();
        order.extend(later);
        let mut ids = vec![BodyId::from(0); bodies];
        order.iter().enumerate().for_each(|(id, &b)| ids[b] = id.into());
        BodySchedule { ids, order, at_start, described }
    }
}

/// What events are made of: the bodies of the file, as plans, as the engine takes them, and in a simulation that has all
/// of them from the start.
pub(crate) struct EventContext<'a> {
    pub plans: &'a [BodyPlan],
    pub bodies: &'a [Body],
    pub all: &'a Simulation,
    pub body_schedule: &'a BodySchedule,
    /// Keyframes of the world.
    pub tracks: &'a [Track],
}

/// The keyframes of the world and of those bodies that are there, each for the id its body has.
pub(crate) fn keyframes(
    plans: &[BodyPlan],
    world: &[Track],
    body_schedule: &BodySchedule,
    there: impl Fn(usize) -> bool,
) -> Keyframes {
    let mut tracks = world.to_vec();
    for (b, plan) in plans.iter().enumerate().filter(|(b, _)| there(*b)) {
        let of_body = |t: &Track| Track { control: t.control.of(body_schedule.ids[b]), ..t.clone() };
        tracks.extend(plan.tracks.iter().map(of_body));
    }
    Keyframes { tracks }
}

/// Whether a body is there as events come one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    NotYet,
    There,
    Gone,
    /// It only describes what another becomes.
    Never,
}

/// The schedule of a simulation that was built of the scene; every event that cannot be made is told with its line.
pub(crate) fn make<'a>(
    (events, colliders, joints): (&'a [EventPlan], &'a ColliderSchedule<'_>, &'a JointSchedule<'_>),
    context: &EventContext<'_>,
    simulation: &Simulation,
    source: &SourceText,
) -> Result<Schedule, Vec<Diagnostic>> {
    let mut check = Check::new(source);
    // As they act: in the order of time, those of one frame in the order of the file.
    let mut ordered: Vec<&EventPlan> = events.iter().collect();
    ordered.sort_by_key(|e| e.frame);
    let later = &context.body_schedule.order[context.body_schedule.at_start..];
    let mut presence = vec![Presence::There; context.plans.len()];
    later.iter().for_each(|&b| presence[b] = Presence::NotYet);
    let described = context.body_schedule.described.iter().enumerate().filter(|(_, d)| **d);
    described.for_each(|(b, _)| presence[b] = Presence::Never);
    // Each with the event it is of.
    let mut edits: Vec<(u64, &'a Span, Edit)> = Vec::with_capacity(events.len());
    // Of one frame, colliders come first, and joints that go: a body that is tied stays. Joints that come are last.
    edits.extend(colliders.edits.iter().map(|(event, edit)| (event.frame, &event.at, edit.clone())));
    let joined = |edits: &mut Vec<(u64, &'a Span, Edit)>, comes: bool| {
        let of_joints = joints.edits.iter().filter(|(event, _)| event.comes == comes);
        edits.extend(of_joints.map(|(event, edit)| (event.frame, &event.at, edit.clone())));
    };
    joined(&mut edits, false);
    for &event in &ordered {
        if let Err((text, help)) = follow(event, &mut presence, context) {
            check.add(&event.at, text, help);
            continue;
        }
        match edit(event, context) {
            Ok(edit) => edits.push((event.frame, &event.at, edit)),
            Err((text, help)) => check.add(&event.at, text, help),
        }
        if matches!(event.action, EventAction::Add) && !context.plans[event.body].tracks.is_empty() {
            let there = |b: usize| presence[b] == Presence::There;
            let mut keyframes = keyframes(context.plans, context.tracks, context.body_schedule, there);
            keyframes.tracks.extend(joints.tracks(event.frame));
            edits.push((event.frame, &event.at, Edit::Keyframes(keyframes)));
        }
    }
    joined(&mut edits, true);
    check.finish(())?;
    edits.sort_by_key(|e| e.0);
    let schedule = Schedule::new(edits.iter().map(|(frame, _, edit)| (*frame, edit.clone())));
    if let Err(e) = schedule.check(simulation) {
        let mut check = Check::new(source);
        check.add(edits[e.edit].1, e.reason.to_string(), "see what happens to the body before");
        check.finish(())?;
    }
    Ok(schedule)
}

/// Lets a body come or go; says why an event cannot happen to it then.
fn follow(
    event: &EventPlan,
    presence: &mut [Presence],
    context: &EventContext<'_>,
) -> Result<(), (String, String)> {
    let name = &context.plans[event.body].name;
    let now = &mut presence[event.body];
    match (&event.action, *now) {
        (_, Presence::Never) => {
            let help = "another body becomes it; let this happen to that one, or describe what it becomes by a [[body]] of its own";
            return Err((format!("`{name}` is never there itself"), help.into()));
        }
        (EventAction::Become(other), Presence::There) if !context.plans[*other].tracks.is_empty() => {
            let help = "give the keyframes to the body that becomes it";
            return Err((
                format!("`{}` has keyframes and is never there itself", context.plans[*other].name),
                help.into(),
            ));
        }
        (EventAction::Add, Presence::NotYet) => *now = Presence::There,
        (EventAction::Add, _) => {
            let help = "a body comes once; add another [[body]] for what comes later";
            return Err((format!("`{name}` was added before"), help.into()));
        }
        (_, Presence::NotYet) => {
            let help = "let it happen after the event that adds it";
            return Err((format!("`{name}` is not there yet"), help.into()));
        }
        (_, Presence::Gone) => {
            let help = "let it happen before the event that removes it, or leave it out";
            return Err((format!("`{name}` is gone by then"), help.into()));
        }
        (EventAction::Remove, Presence::There) => *now = Presence::Gone,
        (_, Presence::There) => {}
    }
    Ok(())
}

/// What an event does; or what is wrong, and what helps.
fn edit(event: &EventPlan, context: &EventContext<'_>) -> Result<Edit, (String, String)> {
    let body = &context.all.model().bodies()[event.body];
    let id = context.body_schedule.ids[event.body];
    Ok(match &event.action {
        EventAction::Add => Edit::Add(Box::new(context.bodies[event.body].clone())),
        EventAction::Remove => Edit::Remove(id),
        EventAction::Become(other) => Edit::Change(id, Box::new(context.bodies[*other].clone())),
        EventAction::Release(name) => {
            let pins = body.parts.pins();
            let Some(group) = pins.iter().find(|g| g.name == *name) else {
                let names: Vec<String> =
                    pins.iter().filter(|g| !g.name.is_empty()).map(|g| format!("\"{}\"", g.name)).collect();
                let help = match names.is_empty() {
                    true => "give a [[body.pin]] that name".into(),
                    false => format!("it has {}", names.join(", ")),
                };
                return Err((format!("`{}` has no pin named \"{name}\"", body.name), help));
            };
            Edit::Release(id, group.id)
        }
        EventAction::Hold(particles) => Edit::Hold(id, Hold::exactly(particles.iter().copied())),
        EventAction::Push(impulse, Some(particles)) => {
            let share = 1.0 / particles.len() as f64;
            Edit::Push(id, particles.iter().map(|&i| (i, share)).collect(), *impulse)
        }
        EventAction::Push(impulse, None) => {
            let mass = &body.parts.rest().mass;
            let total: f64 = mass.iter().sum();
            let shares = mass.iter().enumerate().map(|(i, m)| (i as u32, m / total));
            Edit::Push(id, shares.collect(), *impulse)
        }
        EventAction::Move(by) => Edit::Teleport(id, DAffine3::from_translation(*by)),
    })
}
