//! Planes and other things that no body can pass, how they move, and when they come and go.

use crate::body;
use crate::color;
use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::input::{self, Animated, InputOwner, InputPlan};
use crate::mesh::{self, MeshPlan};
use crate::motion;
use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, SourceText, Span};
use crate::suggest;
use pliant::{Collider, ColliderId, ColliderMesh, ColliderShape, DAffine3, Edit, HalfSpace, Primitive};
use pliant_geometry::GeometryError;
use std::sync::Arc;

/// A collider as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct ColliderPlan {
    /// What it is but for its mesh.
    collider: Collider,
    /// What has to be read or made first.
    shape: GeometryPlan,
    input: Option<InputPlan>,
    /// Linear RGB.
    pub color: [f32; 3],
    /// Where its shape stands.
    shape_at: Span,
}

#[derive(Clone, Debug)]
enum GeometryPlan {
    Done,
    Mesh { mesh: MeshPlan, thickness: Option<f64> },
    Heights { rows: Vec<Vec<f64>>, size: [f64; 2], depth: f64 },
}

impl ColliderPlan {
    /// Its name; may be empty.
    pub fn name(&self) -> &str {
        &self.collider.name
    }

    /// What to call it, as the one of so many.
    pub fn title(&self, place: usize) -> String {
        let kind = if matches!(self.shape, GeometryPlan::Done) && is_plane(&self.collider) {
            "plane"
        } else {
            "collider"
        };
        match self.name() {
            "" => format!("{kind} {}", place + 1),
            name => format!("{kind} `{name}`"),
        }
    }
}

fn is_plane(collider: &Collider) -> bool {
    matches!(collider.shape, ColliderShape::Plane { .. })
}

/// A grey that stands back.
const GREY: [f32; 3] = [0.33, 0.32, 0.31];

/// Reads the planes and then the other colliders of a scene.
pub(crate) fn plan_all(check: &mut Check<'_>, root: &Record, fps: f64) -> Vec<ColliderPlan> {
    let mut all: Vec<ColliderPlan> = root.records("plane").iter().map(|p| plane(check, p)).collect();
    all.extend(root.records("collider").iter().filter_map(|c| plan(check, c, fps)));
    all
}

/// Reads a plane; the normal is made a unit vector for the user.
fn plane(check: &mut Check<'_>, plane: &Record) -> ColliderPlan {
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
    let collider = Collider::from(HalfSpace { normal, offset, friction, restitution })
        .named(name)
        .moving(motion::plan(check, plane));
    ColliderPlan { collider, shape: GeometryPlan::Done, input: None, color: GREY, shape_at: plane.at.clone() }
}

/// Reads any other collider; `None` if it has faults, which were reported.
fn plan(check: &mut Check<'_>, of: &Record, fps: f64) -> Option<ColliderPlan> {
    let (friction, restitution) = (of.number("friction"), of.number("restitution"));
    let position = of.vector("position");
    let at = DAffine3::from_rotation_translation(body::rotation(check, of), position);
    let mut motion = motion::plan(check, of);
    if of.given("pivot").is_none() {
        // It turns about itself.
        motion.pivot = position;
    }
    let input = input::of_collider(check, of, fps);
    let shape = of.record("shape")?;
    let kind = shape.tag.as_ref().map_or("", |t| t.it);
    if !matches!(kind, "mesh" | "heights")
        && let Some(given) = of.given("input")
    {
        let help = "only meshes and heights have vertices that can follow one; move this by `velocity`, `spin` and `sway`";
        check.add(&given.at, format!("a collider of kind \"{kind}\" has no animation"), help);
    }
    let name = of.given("name").map_or("", |n| n.it.text()).to_string();
    let made = |shape: Primitive| Collider::solid(shape, at);
    let half = |key: &str| 0.5 * shape.number(key);
    let (collider, shape_plan) = match kind {
        "ball" => (made(Primitive::Ball { radius: shape.number("radius") }), GeometryPlan::Done),
        "box" => (made(Primitive::Cuboid { half: 0.5 * shape.vector("size") }), GeometryPlan::Done),
        "cylinder" => (
            made(Primitive::Cylinder { radius: shape.number("radius"), half: half("height") }),
            GeometryPlan::Done,
        ),
        "capsule" => {
            let radius = shape.number("radius");
            let half = half("height") - radius;
            if half < 0.0 {
                let text = format!("a capsule of radius {radius} cannot be {} high", 2.0 * (half + radius));
                check.add(&shape.at, text, "let `height`, from end to end, be at least twice the radius");
            }
            (made(Primitive::Capsule { radius, half: half.max(0.0) }), GeometryPlan::Done)
        }
        "mesh" => {
            let thickness = shape.given("thickness").map(|t| t.it.number());
            let making = GeometryPlan::Mesh { mesh: mesh::plan(shape)?, thickness };
            (Collider { at, ..Collider::ground() }, making)
        }
        "heights" => (Collider { at, ..Collider::ground() }, heights(check, shape)?),
        other => unreachable!("the format names a shape {other} that is not made here"),
    };
    let collider = Collider { name, motion, friction, restitution, ..collider };
    let color = of.given("color").map_or(GREY, |c| color::linear(Some(&c.it), 0));
    Some(ColliderPlan { collider, shape: shape_plan, input, color, shape_at: shape.at.clone() })
}

fn heights(check: &mut Check<'_>, shape: &Record) -> Option<GeometryPlan> {
    let given = shape.given("rows")?;
    let row = |r: &Located<SceneValue>| r.it.list().iter().map(|h| h.it.number()).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = given.it.list().iter().map(row).collect();
    let columns = rows[0].len();
    if let Some(k) = rows.iter().position(|r| r.len() != columns) {
        let text = format!("row {} has {} heights, the first has {columns}", k + 1, rows[k].len());
        check.add(&given.it.list()[k].at, text, "let all rows be equally long");
        return None;
    }
    let size = shape.value("size");
    let size: Vec<f64> = size.list().iter().map(|v| v.it.number()).collect();
    Some(GeometryPlan::Heights { rows, size: [size[0], size[1]], depth: shape.number("depth") })
}

impl ColliderPlan {
    /// Reads and makes what it is of. What is worth knowing is added to `notes`.
    pub fn make(
        &self,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Collider, Vec<Diagnostic>> {
        let told = |e: &GeometryError| {
            source.problem(&self.shape_at, format!("the collider cannot be used: {}", e.message), &e.help)
        };
        let faults = |errors: Vec<GeometryError>| errors.iter().map(told).collect::<Vec<_>>();
        let (mesh, from_file) = match &self.shape {
            GeometryPlan::Done => return Ok(self.collider.clone()),
            GeometryPlan::Heights { rows, size, depth } => {
                let columns = rows[0].len();
                let spacing = [size[0] / (columns - 1) as f64, size[1] / (rows.len() - 1) as f64];
                let made = ColliderMesh::heights(columns, &rows.concat(), spacing, *depth);
                (made.map_err(faults)?, DAffine3::IDENTITY)
            }
            GeometryPlan::Mesh { mesh, .. } => {
                let read = mesh.read(source, digest)?;
                notes.extend(read.notes);
                (ColliderMesh::new(read.mesh.triangulated()).map_err(faults)?, read.from_file)
            }
        };
        let mut collider = Collider::mesh(mesh, self.collider.at);
        if let (
            ColliderShape::Mesh { mesh, thickness: own },
            GeometryPlan::Mesh { thickness: Some(given), .. },
        ) = (&mut collider.shape, &self.shape)
        {
            if !mesh.is_closed() && *given < 1e-6 * mesh.size() {
                let text = format!("a thickness of {given} is too little for an open mesh");
                let help =
                    format!("take {own:.1e} or leave it out; or close the mesh, then it may have none");
                return Err(vec![source.problem(&self.shape_at, text, help)]);
            }
            *own = *given;
        }
        if let (Some(input), Some(mesh)) = (&self.input, collider.as_mesh()) {
            let of = Animated { points: &mesh.mesh().positions, from_file, owner: InputOwner::Collider };
            let sequence = input.sequence(of, self.collider.at, (source, digest), notes)?;
            collider.input = Some(Arc::new(sequence));
        }
        let Collider { name, motion, friction, restitution, .. } = self.collider.clone();
        Ok(Collider { name, motion, friction, restitution, ..collider })
    }
}

/// A collider comes or goes.
#[derive(Clone, Debug)]
pub(crate) struct ColliderEvent {
    pub frame: u64,
    /// Where it stands.
    pub at: Span,
    place: usize,
    comes: bool,
}

/// Reads an event of the plane or collider (that is the key) of this name. Faults are reported.
pub(crate) fn event(
    check: &mut Check<'_>,
    event: &Record,
    frame: u64,
    (key, name): (&str, &Located<SceneValue>),
    all: &[ColliderPlan],
) -> Option<ColliderEvent> {
    let wanted = name.it.text();
    let Some(place) = all.iter().position(|p| !wanted.is_empty() && p.name() == wanted) else {
        let names = all.iter().map(ColliderPlan::name).filter(|n| !n.is_empty());
        let help = match suggest::nearest(wanted, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("give the [[{key}]] that name"),
        };
        check.add(&name.at, format!("there is no {key} named \"{wanted}\""), help);
        return None;
    };
    let (add, remove) = (event.given("add"), event.given("remove"));
    if add.is_none() && remove.is_none() {
        let help =
            "let it come (`add = true`) or go (`remove = true`); its `velocity`, `spin` and `sway` move it";
        check.add(&event.at, format!("this cannot happen to a {key}, and \"{wanted}\" is one"), help);
        return None;
    }
    Some(ColliderEvent { frame, at: event.at.clone(), place, comes: add.is_some() })
}

/// The colliders of a scene over time.
pub(crate) struct ColliderSchedule<'a> {
    /// Those that are there from the start.
    pub at_start: Vec<Collider>,
    /// Of each number a collider will have, which of the scene it is.
    pub of_id: Vec<usize>,
    /// What happens, in the order of time.
    pub edits: Vec<(&'a ColliderEvent, Edit)>,
}

impl<'a> ColliderSchedule<'a> {
    /// Follows the colliders through the events; what cannot happen is reported.
    pub fn new(
        check: &mut Check<'_>,
        all: &[Collider],
        plans: &[ColliderPlan],
        events: &'a [ColliderEvent],
    ) -> ColliderSchedule<'a> {
        let later = |k: usize| events.iter().any(|e| e.place == k && e.comes);
        let mut ids: Vec<Option<ColliderId>> = vec![None; all.len()];
        let (mut at_start, mut of_id) = (Vec::new(), Vec::new());
        for (k, collider) in all.iter().enumerate().filter(|(k, _)| !later(*k)) {
            ids[k] = Some(at_start.len().into());
            at_start.push(collider.clone());
            of_id.push(k);
        }
        let (mut next, mut gone) = (at_start.len(), vec![false; all.len()]);
        let mut ordered: Vec<&ColliderEvent> = events.iter().collect();
        ordered.sort_by_key(|e| e.frame);
        let mut edits = Vec::new();
        for event in ordered {
            let title = plans[event.place].title(event.place);
            let mut refuse = |text: &str, help: &str| check.add(&event.at, format!("{title} {text}"), help);
            match (event.comes, ids[event.place]) {
                _ if gone[event.place] => {
                    refuse("is gone by then", "it comes and goes once; add another for later");
                }
                (true, None) => {
                    ids[event.place] = Some(next.into());
                    next += 1;
                    of_id.push(event.place);
                    edits.push((event, Edit::AddCollider(Box::new(all[event.place].clone()))));
                }
                (true, Some(_)) => {
                    refuse("was added before", "it comes once; add another for what comes later");
                }
                (false, Some(id)) => {
                    gone[event.place] = true;
                    edits.push((event, Edit::RemoveCollider(id)));
                }
                (false, None) => refuse("is not there yet", "let it go after the event that adds it"),
            }
        }
        ColliderSchedule { at_start, edits, of_id }
    }
}
