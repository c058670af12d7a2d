//! Joints: points of bodies that are tied together, and when they come and go.

use crate::body::BodyPlan;
use crate::event::BodySchedule;
use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, Span};
use crate::suggest;
use glam::DVec3;
use pliant::{BodyPoint, Coupling, CouplingId, Edit, Simulation};

/// A joint as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct JointPlan {
    pub name: String,
    /// By their places in the file.
    bodies: [usize; 2],
    points: JointPoints,
    stiffness: Option<f64>,
    damping: f64,
    /// Where it stands.
    pub at: Span,
}

#[derive(Clone, Debug)]
enum JointPoints {
    /// A particle of each.
    Particles([Located<u32>; 2]),
    /// The point of each that is nearest to a place.
    Near(Located<DVec3>),
}

/// Reads the joints of a scene. Faults are reported.
pub(crate) fn plan(check: &mut Check<'_>, root: &Record, bodies: &[BodyPlan]) -> Vec<JointPlan> {
    let mut joints = Vec::<JointPlan>::new();
    for record in root.records("joint") {
        let Some(joint) = one(check, record, bodies) else { continue };
        if let Some(name) = record.given("name").filter(|_| joints.iter().any(|j| j.name == joint.name)) {
            let text = format!("there is a joint named \"{}\" already", joint.name);
            check.add(&name.at, text, "give each joint a name of its own, or none");
        }
        joints.push(joint);
    }
    joints
}

fn one(check: &mut Check<'_>, joint: &Record, bodies: &[BodyPlan]) -> Option<JointPlan> {
    let between = joint.given("between")?;
    let mut ends = [None; 2];
    for (end, name) in ends.iter_mut().zip(between.it.list()) {
        *end = bodies.iter().position(|b| b.name == name.it.text());
        if end.is_none() {
            let text = format!("there is no body named {}", check.source.quote(&name.at));
            let help = match suggest::nearest(name.it.text(), bodies.iter().map(|b| b.name.as_str())) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "name a [[body]] of this file".into(),
            };
            check.add(&name.at, text, help);
        }
    }
    let points = if let Some(at) = joint.given("at") {
        JointPoints::Near(Located { at: at.at.clone(), it: joint.vector("at") })
    } else {
        // The rules of the format have reported it if there are none.
        let list = joint.given("particles")?.it.list();
        let particle = |k: usize| Located { at: list[k].at.clone(), it: list[k].it.whole() as u32 };
        JointPoints::Particles([particle(0), particle(1)])
    };
    let [Some(a), Some(b)] = ends else { return None };
    if a == b && matches!(points, JointPoints::Near(_)) {
        let text = "both ends are of one body, and one place has one nearest point";
        check.add(&between.at, text, "give the two points with `particles = [a, b]`");
        return None;
    }
    Some(JointPlan {
        name: joint.given("name").map_or(String::new(), |n| n.it.text().to_string()),
        bodies: [a, b],
        points,
        stiffness: joint.given("stiffness").map(|v| v.it.number()),
        damping: joint.number("damping"),
        at: joint.at.clone(),
    })
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
            None => "give the [[joint]] that name".into(),
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
}

impl<'a> JointSchedule<'a> {
    /// Follows the joints through the events; what cannot happen is reported. `all` has all bodies of the file, in its
    /// order, where the file puts them: that is where joints find their points.
    pub fn new(
        check: &mut Check<'_>,
        (joints, events): (&[JointPlan], &'a [JointEvent]),
        all: &Simulation,
        body_schedule: &BodySchedule,
    ) -> JointSchedule<'a> {
        let couplings: Vec<Option<Coupling>> =
            joints.iter().map(|j| couple(check, j, all, body_schedule)).collect();
        let later = |k: usize| events.iter().any(|e| e.joint == k && e.comes);
        let mut ids: Vec<Option<CouplingId>> = vec![None; joints.len()];
        let mut at_start = Vec::new();
        for (k, joint) in joints.iter().enumerate().filter(|(k, _)| !later(*k)) {
            let there = |b: &usize| body_schedule.order[..body_schedule.at_start].contains(b);
            if !joint.bodies.iter().all(there) {
                let text = "a body of this joint is not there from the start";
                let help = "name the joint, and let an [[event]] add it when both bodies are there";
                check.add(&joint.at, text, help);
            }
            ids[k] = Some(at_start.len().into());
            at_start.extend(couplings[k].clone());
        }
        let (mut next, mut gone) = (at_start.len(), vec![false; joints.len()]);
        let mut ordered: Vec<&JointEvent> = events.iter().collect();
        ordered.sort_by_key(|e| e.frame);
        let mut edits = Vec::new();
        for event in ordered {
            let name = &joints[event.joint].name;
            let mut refuse =
                |text: &str, help: &str| check.add(&event.at, format!("joint `{name}` {text}"), help);
            match (event.comes, ids[event.joint]) {
                _ if gone[event.joint] => {
                    refuse("is gone by then", "a joint comes and goes once; add another [[joint]] for later");
                }
                (true, None) => {
                    ids[event.joint] = Some(next.into());
                    next += 1;
                    let coupling = couplings[event.joint].clone();
                    edits.extend(coupling.map(|c| (event, Edit::Couple(Box::new(c)))));
                }
                (true, Some(_)) => {
                    let help = "a joint comes once; add another [[joint]] for what comes later";
                    refuse("was added before", help);
                }
                (false, Some(id)) => {
                    gone[event.joint] = true;
                    edits.push((event, Edit::Uncouple(id)));
                }
                (false, None) => refuse("is not there yet", "let it go after the event that adds it"),
            }
        }
        JointSchedule { at_start, edits }
    }
}

/// The coupling a joint is; `None` if a point is not there, which is reported.
fn couple(
    check: &mut Check<'_>,
    joint: &JointPlan,
    all: &Simulation,
    body_schedule: &BodySchedule,
) -> Option<Coupling> {
    let mut points = [None; 2];
    for (end, to) in points.iter_mut().enumerate() {
        let body = joint.bodies[end];
        let count = all.positions(body).len();
        let point = match &joint.points {
            JointPoints::Near(place) => all.point_near(body, place.it),
            JointPoints::Particles(list) if (list[end].it as usize) < count => {
                Some(BodyPoint::particle(body, list[end].it))
            }
            JointPoints::Particles(list) => {
                let name = &all.model().bodies()[body].name;
                let text = format!("body `{name}` has no particle {}", list[end].it);
                check.add(&list[end].at, text, format!("it has {count}, counted from 0"));
                None
            }
        };
        *to = point.map(|p| BodyPoint { body: body_schedule.ids[body], ..p });
    }
    let [Some(a), Some(b)] = points else { return None };
    let coupling = match joint.stiffness {
        Some(stiffness) => Coupling::spring(a, b, stiffness, joint.damping),
        None => Coupling { damping: joint.damping, ..Coupling::joint(a, b) },
    };
    Some(coupling.named(joint.name.as_str()))
}
