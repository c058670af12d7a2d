//! Joints and glue: points and frames of bodies that are tied together, and when they come and go.

use crate::body::BodyPlan;
use crate::event::BodySchedule;
use crate::group::GroupSelection;
use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, Span};
use crate::suggest;
use crate::track;
use glam::{DMat3, DQuat, DVec3};
use pliant::{
    Attachment, BodyPoint, ControlOwner, Coupling, CouplingId, CouplingKind, Edit, Glue, Motor, Simulation,
    SolverKind, Track, WorldFrame,
};
use std::ops::Range;
use std::sync::Arc;

/// What joints call the world, where they name a body.
const WORLD: &str = "world";

/// A joint, or glue, as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct JointPlan {
    pub name: String,
    /// By their places in the file; none for the world.
    bodies: [Option<usize>; 2],
    ends: JointEnds,
    stiffness: Option<f64>,
    damping: f64,
    break_force: f64,
    break_distance: f64,
    /// Of a hinge, radians.
    limits: Option<[f64; 2]>,
    motor: Option<Motor>,
    /// Its keyframes, for any coupling.
    tracks: Vec<Track>,
    /// Where it stands.
    pub at: Span,
}

#[derive(Clone, Debug)]
enum JointEnds {
    /// A particle of each.
    Particles([Located<u32>; 2]),
    /// The point of each that is nearest to a place; axes for what is more than a point, the last that of a hinge.
    Near(Located<DVec3>, CouplingKind, DMat3),
    /// Points of the first that follow frames of the second.
    Glue(GluePlan),
}

#[derive(Clone, Debug)]
struct GluePlan {
    /// Those of the first that are bound, and those of the second that may carry them; any unless given.
    points: Option<Located<GluePoints>>,
    onto: Option<Located<GluePoints>>,
    parents: Option<usize>,
    radius: f64,
}

#[derive(Clone, Debug)]
enum GluePoints {
    Particles(Vec<Located<u32>>),
    Box(DVec3, DVec3),
    /// Those of a pin of the body, by its place among these.
    Pin(usize),
}

/// Reads the joints and the glue of a scene. Faults are reported.
/// `h` is how long a substep is.
pub(crate) fn plan(check: &mut Check<'_>, root: &Record, bodies: &[BodyPlan], h: f64) -> Vec<JointPlan> {
    let mut joints = Vec::<JointPlan>::new();
    let both = root
        .records("joint")
        .iter()
        .map(|r| (r, true))
        .chain(root.records("glue").iter().map(|r| (r, false)));
    for (record, is_joint) in both {
        let read = if is_joint { joint(check, record, bodies) } else { glue(check, record, bodies) };
        let Some(mut joint) = read else { continue };
        let any = ControlOwner::Coupling(CouplingId::from(0));
        joint.tracks = track::plan(check, record.records("keyframes"), any, &[], h);
        if let Some(name) = record.given("name").filter(|_| joints.iter().any(|j| j.name == joint.name)) {
            let text = format!("there is a joint or glue named \"{}\" already", joint.name);
            check.add(&name.at, text, "give each joint and glue a name of its own, or none");
        }
        joints.push(joint);
    }
    joints
}

/// The place of the body of this name in the file; one that is not there is reported.
fn body_named(check: &mut Check<'_>, name: &Located<SceneValue>, bodies: &[BodyPlan]) -> Option<usize> {
    let place = bodies.iter().position(|b| b.name == name.it.text());
    if place.is_none() {
        let text = format!("there is no body named {}", check.source.quote(&name.at));
        let help = match suggest::nearest(name.it.text(), bodies.iter().map(|b| b.name.as_str())) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "name a [[body]] of this file".into(),
        };
        check.add(&name.at, text, help);
    }
    place
}

/// A body of the file, or a group of it as "body.group"; faults are reported.
fn part_named(
    check: &mut Check<'_>,
    name: &Located<SceneValue>,
    bodies: &[BodyPlan],
) -> Option<(usize, Option<Located<GluePoints>>)> {
    let text = name.it.text();
    // Names may have dots themselves.
    let mut dots = text.char_indices().filter(|(_, c)| *c == '.').map(|(k, _)| (&text[..k], &text[k + 1..]));
    let owner = dots.find_map(|(body, group)| Some((bodies.iter().position(|b| b.name == body)?, group)));
    let Some((body, group)) = owner.filter(|_| bodies.iter().all(|b| b.name != text)) else {
        return Some((body_named(check, name, bodies)?, None));
    };
    let plan = &bodies[body];
    let located = |it: GluePoints| Some((body, Some(Located { at: name.at.clone(), it })));
    if let Some(found) = plan.groups.iter().find(|g| g.name == group) {
        return match &found.select {
            GroupSelection::Particles(list) => located(GluePoints::Particles(list.clone())),
            // What is not in it is told of the box.
            GroupSelection::Box(lo, hi) => {
                Some((body, Some(Located { at: found.at.clone(), it: GluePoints::Box(*lo, *hi) })))
            }
        };
    }
    if let Some(pin) = plan.pins.iter().position(|p| !p.name.is_empty() && p.name == group) {
        return located(GluePoints::Pin(pin));
    }
    let names = || plan.groups.iter().map(|g| &g.name).chain(plan.pins.iter().map(|p| &p.name));
    let names: Vec<&str> = names().map(String::as_str).filter(|n| !n.is_empty()).collect();
    let help = match suggest::nearest(group, names.iter().copied()) {
        Some(near) => format!("did you mean \"{}.{near}\"?", plan.name),
        None if names.is_empty() => "give the body a [[body.group]] of that name".into(),
        None => format!("it has {}", names.join(", ")),
    };
    check.add(&name.at, format!("body `{}` has no group named \"{group}\"", plan.name), help);
    None
}

/// What joints and glue have in common.
fn held(record: &Record, bodies: [Option<usize>; 2], ends: JointEnds) -> JointPlan {
    let most = |key: &str| record.given(key).map_or(f64::INFINITY, |v| v.it.number());
    JointPlan {
        name: record.given("name").map_or(String::new(), |n| n.it.text().to_string()),
        bodies,
        ends,
        stiffness: record.given("stiffness").map(|v| v.it.number()),
        damping: record.number("damping"),
        break_force: most("break_force"),
        break_distance: most("break_distance"),
        limits: None,
        motor: None,
        tracks: Vec::new(),
        at: record.at.clone(),
    }
}

/// The limits of a hinge and what drives it. Faults are reported.
fn turning(check: &mut Check<'_>, joint: &Record, kind: CouplingKind) -> (Option<[f64; 2]>, Option<Motor>) {
    for key in ["limits", "motor"].iter().filter(|_| kind != CouplingKind::Hinge) {
        if joint.given(key).is_some() {
            let text = format!("a {} has no angle to limit or to drive", kind.name());
            check.add(joint.place(key), text, "add `kind = \"hinge\"`");
        }
    }
    let limits = joint.given("limits").map(|v| {
        let [least, most] = [0, 1].map(|k| v.it.list()[k].it.number());
        if least > most {
            let text = format!("the least angle, {least}, is above the greatest, {most}");
            check.add(&v.at, text, "give the least first");
        }
        [least.to_radians(), most.to_radians()]
    });
    let motor = joint.record("motor");
    (limits, motor.map(|m| Motor { speed: m.number("speed"), torque: m.number("torque") }))
}

fn joint(check: &mut Check<'_>, joint: &Record, bodies: &[BodyPlan]) -> Option<JointPlan> {
    let between = joint.given("between")?;
    let (mut ends, mut known) = ([None; 2], true);
    for (end, name) in ends.iter_mut().zip(between.it.list()) {
        // A body may have that name, too.
        let world = name.it.text() == WORLD && !bodies.iter().any(|b| b.name == WORLD);
        *end = if world { None } else { body_named(check, name, bodies) };
        known &= world || end.is_some();
    }
    let kind = joint.given("kind").map_or(CouplingKind::Point, |k| {
        CouplingKind::ALL.into_iter().find(|kind| kind.name() == k.it.text()).unwrap_or_default()
    });
    let points = if let Some(at) = joint.given("at") {
        let axis = joint.given("axis").map_or(DVec3::Z, |_| joint.vector("axis"));
        if let (Some(given), None) = (joint.given("axis"), axis.try_normalize()) {
            check.add(&given.at, "an axis of length 0 points nowhere", "give a vector that has a direction");
        }
        let turn = DQuat::from_rotation_arc(DVec3::Z, axis.normalize_or(DVec3::Z));
        let place = Located { at: at.at.clone(), it: joint.vector("at") };
        JointEnds::Near(place, kind, DMat3::from_quat(turn))
    } else {
        if kind != CouplingKind::Point {
            let text = format!("a {} needs a place", kind.name());
            check.add(joint.place("kind"), text, "give `at = [x, y, z]` instead of `particles`");
        }
        // The rules of the format have reported it if there are none.
        let list = joint.given("particles")?.it.list();
        let particle = |k: usize| Located { at: list[k].at.clone(), it: list[k].it.whole() as u32 };
        if ends.contains(&None) && known {
            let help = "give the place with `at = [x, y, z]`";
            check.add(&between.at, "the world has no particles", help);
        }
        JointEnds::Particles([particle(0), particle(1)])
    };
    if !known {
        return None;
    }
    if let (JointEnds::Particles(list), Some(k)) = (&points, (0..2).find(|k| is_rigid(ends[*k], bodies))) {
        let help = "give the place with `at = [x, y, z]` instead of `particles`";
        check.add(&list[k].at, "a rigid body has no particles to be tied by", help);
        return None;
    }
    if ends[0] == ends[1] && matches!(points, JointEnds::Near(..)) {
        let text = match ends[0] {
            Some(_) => "both ends are of one body, and one place has one nearest point",
            None => "both ends are of the world",
        };
        check.add(&between.at, text, "give the two points with `particles = [a, b]`");
        return None;
    }
    let (limits, motor) = turning(check, joint, kind);
    Some(JointPlan { limits, motor, ..held(joint, ends, points) })
}

/// Whether the body of a place in the file never deforms.
fn is_rigid(body: Option<usize>, bodies: &[BodyPlan]) -> bool {
    body.is_some_and(|b| bodies[b].solver == SolverKind::Rigid)
}

fn glue(check: &mut Check<'_>, glue: &Record, bodies: &[BodyPlan]) -> Option<JointPlan> {
    let [from, to] = ["from", "to"].map(|key| glue.given(key));
    let (from, to) = (from?, to?);
    let (from_part, to_part) = (part_named(check, from, bodies), part_named(check, to, bodies));
    let ends = [&from_part, &to_part].map(|part| part.as_ref().map(|p| p.0));
    let chosen = if let Some(list) = glue.given("particles") {
        let particle = |p: &Located<SceneValue>| Located { at: p.at.clone(), it: p.it.whole() as u32 };
        let particles = list.it.list().iter().map(particle).collect();
        Some(Located { at: list.at.clone(), it: GluePoints::Particles(particles) })
    } else {
        extent(glue, "box").map(|e| Located { at: e.at, it: GluePoints::Box(e.it.0, e.it.1) })
    };
    let (Some((_, from_group)), Some((_, to_group))) = (from_part, to_part) else { return None };
    let boxed = extent(glue, "onto").map(|e| Located { at: e.at, it: GluePoints::Box(e.it.0, e.it.1) });
    for (group, given) in [(&from_group, &chosen), (&to_group, &boxed)] {
        if let (Some(_), Some(given)) = (group, given) {
            let help = "name the body alone, or leave this out";
            check.add(&given.at, "a group is named already that says which particles", help);
        }
    }
    let (points, onto) = (from_group.or(chosen), to_group.or(boxed));
    if ends[0] == ends[1] && points.is_none() {
        let help = "say which of its particles: `box = { min = …, max = … }` or `particles = […]`";
        check.add(&to.at, "a body that is glued to itself lies against itself everywhere", help);
        return None;
    }
    if let (Some(points), true) = (&points, is_rigid(ends[0], bodies)) {
        let help = "leave `particles` and `box` out";
        check.add(&points.at, "a rigid body is glued as a whole, and has no particles to choose from", help);
        return None;
    }
    let radius = glue.given("radius").map_or(f64::INFINITY, |v| v.it.number());
    let parents = glue.given("parents").map(|v| v.it.whole() as usize);
    Some(held(glue, ends, JointEnds::Glue(GluePlan { points, onto, parents, radius })))
}

/// The corners of a box.
fn extent(record: &Record, key: &str) -> Option<Located<(DVec3, DVec3)>> {
    let extent = record.record(key)?;
    Some(Located { at: extent.at.clone(), it: (extent.vector("min"), extent.vector("max")) })
}

/// A joint comes or goes.
#[derive(Clone, Debug)]
pub(crate) struct JointEvent {
    pub frame: u64,
    /// Where it stands.
    pub at: Span,
    joint: usize,
    pub comes: bool,
}

/// Reads an event of the joint of this name. Faults are reported.
pub(crate) fn event(
    check: &mut Check<'_>,
    event: &Record,
    frame: u64,
    name: &Located<SceneValue>,
    joints: &[JointPlan],
) -> Option<JointEvent> {
    let wanted = name.it.text();
    let Some(joint) = joints.iter().position(|j| !wanted.is_empty() && j.name == wanted) else {
        let names = joints.iter().map(|j| j.name.as_str()).filter(|n| !n.is_empty());
        let help = match suggest::nearest(wanted, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "give the [[joint]] or [[glue]] that name".into(),
        };
        check.add(&name.at, format!("there is no joint named \"{wanted}\""), help);
        return None;
    };
    let (add, remove) = (event.given("add"), event.given("remove"));
    if add.is_none() && remove.is_none() {
        let help = "let it come (`add = true`) or go (`remove = true`)";
        check.add(&event.at, format!("this cannot happen to a joint, and \"{wanted}\" is one"), help);
        return None;
    }
    Some(JointEvent { frame, at: event.at.clone(), joint, comes: add.is_some() })
}

/// The joints of a scene over time.
pub(crate) struct JointSchedule<'a> {
    /// Those that are there from the start.
    pub at_start: Vec<Coupling>,
    /// What happens, in the order of time.
    pub edits: Vec<(&'a JointEvent, Edit)>,
    /// Keyframes, and the frame at which what they drive goes.
    tracks: Vec<(Track, Option<u64>)>,
    /// What glue has found to hold on to.
    pub notes: Vec<String>,
}

impl<'a> JointSchedule<'a> {
    /// Follows the joints through the events; what cannot happen is reported. `all` has all bodies of the file, in its
    /// order, where the file puts them: that is where joints find their points.
    pub fn new(
        check: &mut Check<'_>,
        (joints, events): (&[JointPlan], &'a [JointEvent]),
        (all, bodies): (&Simulation, &[BodyPlan]),
        body_schedule: &BodySchedule,
    ) -> JointSchedule<'a> {
        let mut notes = Vec::new();
        let couplings: Vec<Vec<Coupling>> =
            joints.iter().map(|j| couple(check, j, (all, bodies), body_schedule, &mut notes)).collect();
        let later = |k: usize| events.iter().any(|e| e.joint == k && e.comes);
        let mut ids: Vec<Option<Range<usize>>> = vec![None; joints.len()];
        let mut at_start = Vec::new();
        for (k, joint) in joints.iter().enumerate().filter(|(k, _)| !later(*k)) {
            let there = |b: &usize| body_schedule.order[..body_schedule.at_start].contains(b);
            if !joint.bodies.iter().flatten().all(there) {
                let text = "a body of this joint is not there from the start";
                let help = "name the joint, and let an [[event]] add it when both bodies are there";
                check.add(&joint.at, text, help);
            }
            ids[k] = Some(at_start.len()..at_start.len() + couplings[k].len());
            at_start.extend(couplings[k].iter().cloned());
        }
        let (mut next, mut gone) = (at_start.len(), vec![false; joints.len()]);
        let mut ordered: Vec<&JointEvent> = events.iter().collect();
        ordered.sort_by_key(|e| e.frame);
        let mut edits = Vec::new();
        for event in ordered {
            let name = &joints[event.joint].name;
            let mut refuse =
                |text: &str, help: &str| check.add(&event.at, format!("joint `{name}` {text}"), help);
            match (event.comes, ids[event.joint].clone()) {
                _ if gone[event.joint] => {
                    refuse("is gone by then", "a joint comes and goes once; add another [[joint]] for later");
                }
                (true, None) => {
                    let own = &couplings[event.joint];
                    ids[event.joint] = Some(next..next + own.len());
                    next += own.len();
                    edits.extend(own.iter().map(|c| (event, Edit::Couple(Box::new(c.clone())))));
                }
                (true, Some(_)) => {
                    let help = "a joint comes once; add another [[joint]] for what comes later";
                    refuse("was added before", help);
                }
                (false, Some(own)) => {
                    gone[event.joint] = true;
                    edits.extend(own.map(|id| (event, Edit::Uncouple(CouplingId::from(id)))));
                }
                (false, None) => refuse("is not there yet", "let it go after the event that adds it"),
            }
        }
        let mut tracks = Vec::new();
        for (k, joint) in joints.iter().enumerate().filter(|(_, j)| !j.tracks.is_empty()) {
            if later(k) {
                let help = "let it be there from the start, and key its stiffness: 0 holds nothing";
                check.add(&joint.at, "it has keyframes, and an event adds it", help);
            }
            let goes = events.iter().filter(|e| e.joint == k && !e.comes).map(|e| e.frame).min();
            for id in ids[k].clone().into_iter().flatten().map(CouplingId::from) {
                let of = |t: &Track| (Track { control: t.control.of(id), ..t.clone() }, goes);
                tracks.extend(joint.tracks.iter().map(of));
            }
        }
        JointSchedule { at_start, edits, tracks, notes }
    }

    /// The keyframes of those that are there at a frame.
    pub fn tracks(&self, frame: u64) -> impl Iterator<Item = Track> + '_ {
        let there = move |goes: &Option<u64>| goes.is_none_or(|goes| frame < goes);
        self.tracks.iter().filter(move |(_, goes)| there(goes)).map(|(t, _)| t.clone())
    }
}

/// The couplings a joint is; none if a point is not there, which is reported. What glue has found is noted.
fn couple(
    check: &mut Check<'_>,
    joint: &JointPlan,
    (all, bodies): (&Simulation, &[BodyPlan]),
    body_schedule: &BodySchedule,
    notes: &mut Vec<String>,
) -> Vec<Coupling> {
    let options = Glue::default();
    let mut sides = [const { None::<Attachment> }; 2];
    for (end, to) in sides.iter_mut().enumerate() {
        let side = match (&joint.ends, joint.bodies[end]) {
            (JointEnds::Glue(plan), _) => {
                return glued(check, joint, plan, (all, bodies), body_schedule, notes);
            }
            (JointEnds::Near(place, _, axes), None) => Some(WorldFrame { at: place.it, axes: *axes }.into()),
            (JointEnds::Near(place, CouplingKind::Point, _), Some(body)) => {
                // Of a rigid body any place is a point, in it or off it.
                let point = all.point_of(body, place.it).or_else(|| all.point_near(body, place.it));
                point.map(Attachment::from)
            }
            (JointEnds::Near(place, _, axes), Some(body)) => {
                let frame = all.frame_near(body, place.it, *axes, &options);
                frame
                    .map(Attachment::from)
                    .map_err(|text| {
                        check.add(
                            &place.at,
                            text,
                            "tie bodies of at least three particles that are not on a line",
                        );
                    })
                    .ok()
            }
            (JointEnds::Particles(_), None) => None,
            (JointEnds::Particles(list), Some(body)) => {
                let count = all.positions(body).len();
                let found = (list[end].it as usize) < count;
                if !found {
                    let name = &all.model().bodies()[body].name;
                    let text = format!("body `{name}` has no particle {}", list[end].it);
                    check.add(&list[end].at, text, format!("it has {count}, counted from 0"));
                }
                found.then(|| BodyPoint::particle(body, list[end].it).into())
            }
        };
        *to = side.map(|side| of_schedule(side, body_schedule));
    }
    let [Some(a), Some(b)] = sides else { return Vec::new() };
    let kind = if let JointEnds::Near(_, kind, _) = joint.ends { kind } else { CouplingKind::Point };
    let mut coupling = Coupling::joint(a, b).named(joint.name.as_str());
    coupling.kind = kind;
    (coupling.stiffness, coupling.damping) = (joint.stiffness, joint.damping);
    (coupling.break_force, coupling.break_distance) = (joint.break_force, joint.break_distance);
    (coupling.limits, coupling.motor) = (joint.limits, joint.motor);
    vec![coupling]
}

/// The couplings that glue is.
fn glued(
    check: &mut Check<'_>,
    joint: &JointPlan,
    plan: &GluePlan,
    (all, bodies): (&Simulation, &[BodyPlan]),
    body_schedule: &BodySchedule,
    notes: &mut Vec<String>,
) -> Vec<Coupling> {
    let [Some(from), Some(to)] = joint.bodies else { return Vec::new() };
    let problems = check.problems.len();
    let mut chosen = |body: usize, of: &Option<Located<GluePoints>>| {
        of.as_ref().map(|of| particles(check, of, (all, body), &bodies[body].name))
    };
    let (points, carriers) = (chosen(from, &plan.points), chosen(to, &plan.onto));
    if check.problems.len() > problems {
        return Vec::new();
    }
    let mut options = Glue::default();
    (options.points, options.count, options.radius) = (points, plan.parents, plan.radius);
    options.parents = carriers;
    (options.stiffness, options.damping) = (joint.stiffness, joint.damping);
    (options.break_force, options.break_distance) = (joint.break_force, joint.break_distance);
    options.name.clone_from(&joint.name);
    match all.find_glue(from, to, &options) {
        Ok(found) => {
            let pliant::Glued { couplings, parents: (least, most), condition, reach, .. } = found;
            // Of a thread its own points are bound to what is glued to it, and so is what is free to what is led.
            let bound = couplings.first().and_then(|c| c.sides[1].body());
            let turned = bound == Some(to.into()) && from != to;
            let names = if turned { [to, from] } else { [from, to] }.map(|b| bodies[b].name.as_str());
            let parents = if least == most { least.to_string() } else { format!("{least} to {most}") };
            notes.push(format!(
                "glue: {} of `{}` bound to `{}`, by {parents} particles each (condition at most {condition:.1}, {reach:.1} \
                 sizes of these away at most)",
                match couplings.first().map(|c| c.kind) {
                    Some(CouplingKind::Weld) => "the frame".to_string(),
                    _ if couplings.len() == 1 => "1 point".to_string(),
                    _ => format!("{} points", couplings.len()),
                },
                names[0],
                names[1],
            ));
            let of = |side: Attachment| of_schedule(side, body_schedule);
            couplings
                .into_iter()
                .map(|mut c| {
                    c.sides = c.sides.map(of);
                    c
                })
                .collect()
        }
        Err(text) => {
            check.add(
                &joint.at,
                text,
                "glue bodies with particles that are not on a line, or widen `radius`",
            );
            Vec::new()
        }
    }
}

/// The particles of a body that are meant; those that are not there are reported.
fn particles(
    check: &mut Check<'_>,
    of: &Located<GluePoints>,
    (all, body): (&Simulation, usize),
    name: &str,
) -> Vec<u32> {
    match &of.it {
        GluePoints::Particles(list) => {
            let count = all.positions(body).len();
            for p in list.iter().filter(|p| p.it as usize >= count) {
                let text = format!("body `{name}` has no particle {}", p.it);
                check.add(&p.at, text, format!("it has {count}, counted from 0"));
            }
            list.iter().map(|p| p.it).collect()
        }
        GluePoints::Box(lo, hi) => within(check, all, body, (*lo, *hi), &of.at),
        GluePoints::Pin(pin) => {
            let pins = all.model().bodies()[body].parts.pins();
            pins.get(*pin).map_or_else(Vec::new, |pin| pin.particles.clone())
        }
    }
}

/// The particles of a body in a box; that there are none is reported.
fn within(
    check: &mut Check<'_>,
    all: &Simulation,
    body: usize,
    (lo, hi): (DVec3, DVec3),
    at: &Span,
) -> Vec<u32> {
    let inside = |p: &DVec3| p.cmpge(lo).all() && p.cmple(hi).all();
    let found = all.positions(body).enumerate().filter(|(_, p)| inside(p));
    let found: Vec<u32> = found.map(|(i, _)| i as u32).collect();
    if found.is_empty() {
        let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (lo, hi) = all.positions(body).fold(none, |(lo, hi), p| (lo.min(p), hi.max(p)));
        let help = format!("move or enlarge it; at the start the body reaches from {lo} to {hi}");
        check.add(at, "no particle is in this box", help);
    }
    found
}

/// The same of the body as it is known while the scene runs.
fn of_schedule(side: Attachment, body_schedule: &BodySchedule) -> Attachment {
    let of = |body: pliant::BodyId| body_schedule.ids[body.number() as usize];
    match side {
        Attachment::Point(point) => BodyPoint { body: of(point.body), ..point }.into(),
        Attachment::Frame(frame) => {
            let body = of(frame.body());
            Arc::unwrap_or_clone(frame).of(body).into()
        }
        world => world,
    }
}
