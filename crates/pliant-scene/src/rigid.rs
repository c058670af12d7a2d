//! Rigid bodies of a scene: the keys they do not have, with what to do instead, and how kinematic ones are led.

use crate::body::euler;
use crate::motion;
use crate::record::{Record, SceneValue};
use crate::shape::{MadeShape, ShapePlan};
use crate::source::{Check, Located, Span};
use glam::{DAffine3, DVec3};
use pliant::{Body, Control, Ease, Input, Key, Motion, Pins, Selection, Sequence, SequenceError, Track};
use std::sync::Arc;

/// How a kinematic body is led.
#[derive(Clone, Debug)]
pub(crate) enum KinematicPlan {
    /// Along a motion; about itself where no pivot is given.
    Motion {
        motion: Motion,
        about_itself: bool,
    },
    Keys(PlaceKeys),
}

/// Where a body is over time, and how it is turned.
#[derive(Clone, Debug)]
pub(crate) struct PlaceKeys {
    at: Span,
    places: Track,
    /// Degrees about x, then y, then z.
    turns: Track,
    /// The time of the last key.
    end: f64,
    repeats: bool,
}

/// Most places that keys are looked up at.
const MOST_PLACES: f64 = 200_000.0;

/// What a rigid body has no use for, and what to do instead.
const FOREIGN: &[(&[&str], &str)] = &[
    (&["solver"], "a rigid body has a solver of its own: remove it, or kind = \"rigid\""),
    (&["spacing", "particles", "sampling"], "a rigid body is not filled with particles: remove it"),
    (
        &[
            "clusters",
            "cluster_radius",
            "clustering",
            "cluster_levels",
            "coarse_share",
            "smooth_weights",
            "symmetric",
            "overlap",
            "seed",
        ],
        "a rigid body has no clusters: remove it",
    ),
    (
        &["elements", "constraint", "goals", "two_step", "integrator", "limiting", "alpha"],
        "a rigid body does not deform: remove it, or kind = \"rigid\"",
    ),
    (&["stretch"], "a rigid body does not deform: give its shape the size you want"),
    (&["contact_radius"], "a rigid body touches with its own surface: remove it"),
    (&["skin"], "what a rigid body shows goes with it as it is: remove it"),
    (
        &["pin"],
        "a part of a rigid body cannot be held: tie it by a [[joint]] with between = [\"its name\", \"world\"] and at = [x, y, z], or hold \
         all of it with `kinematic = true`",
    ),
    (&["group"], "a rigid body is glued as a whole, and has no particles to choose from: remove it"),
    (&["paint"], "a rigid body has no particles to paint: remove it"),
];

/// Whether a body is one that never deforms.
pub(crate) fn is_rigid(body: &Record) -> bool {
    body.given("kind").is_some_and(|word| word.it.text() == "rigid")
}

/// Reports what only rigid bodies have of one that deforms, and the other way round.
pub(crate) fn check(check: &mut Check<'_>, body: &Record, shape: Option<&ShapePlan>) {
    if !is_rigid(body) {
        if let Some(given) = body.given("kinematic") {
            let help = "set kind = \"rigid\"; of a soft body hold particles with [[body.pin]], or let it follow an `input`";
            check.add(&given.at, "`kinematic` is for rigid bodies, and this one is soft", help);
        }
        return;
    }
    for (keys, instead) in FOREIGN {
        for given in keys.iter().filter_map(|key| Some((key, body.given(key)?))) {
            check.add(&given.1.at, format!("`{}` is not for rigid bodies", given.0), *instead);
        }
    }
    let place = body.place("shape");
    if let Some((text, help)) = shape.and_then(refused) {
        check.add(place, format!("{text} cannot be a rigid body"), help);
    }
}

/// Shapes that enclose nothing, or that are made of parts that move against each other.
fn refused(shape: &ShapePlan) -> Option<(&'static str, &'static str)> {
    Some(match shape {
        ShapePlan::Solid(_) | ShapePlan::Mesh(_) => return None,
        ShapePlan::Cells { .. } => {
            ("a box of cells", "leave out `cells`, which cut a soft body into tetrahedra")
        }
        ShapePlan::Sheet { .. } => (
            "a sheet encloses nothing, and so",
            "give it a thickness: { kind = \"box\", size = [1, 0.01, 1] }",
        ),
        ShapePlan::Tube { .. } => (
            "a tube is open above and below, and so",
            "use a \"cylinder\", or a closed mesh of a pipe with its wall",
        ),
        ShapePlan::Roll { .. } => {
            ("a rolled sheet encloses nothing, and so", "use a \"cylinder\", or a closed mesh of it")
        }
        ShapePlan::Thread { .. } => {
            ("a thread encloses nothing, and so", "use a \"cylinder\" or a \"capsule\"")
        }
        ShapePlan::Vertices(_) => (
            "a shape whose vertices are particles",
            "set kind = \"mesh\" in its shape, which takes the same files",
        ),
        ShapePlan::Points { .. } => ("a cloud of points encloses nothing, and so", "give a closed mesh"),
        ShapePlan::Tets { .. } => {
            ("a shape of tetrahedra", "give the closed mesh around them: { kind = \"mesh\", file = \"…\" }")
        }
    })
}

/// Reads how a body is led; `None` if it is not, or if there are faults, which were reported.
pub(crate) fn plan(check: &mut Check<'_>, body: &Record) -> Option<KinematicPlan> {
    let given = body.given("kinematic").filter(|_| is_rigid(body))?;
    if matches!(given.it, SceneValue::Truth(false)) {
        return None;
    }
    if body.given("input").is_some() {
        let help = "leave one of the two out";
        check.add(&given.at, "`kinematic` and `input` contradict each other: both lead the body", help);
    }
    for key in ["velocity", "spin", "force"] {
        if let Some(own) = body.given(key) {
            let text = format!("`{key}` does nothing on a kinematic body");
            let help = match key {
                "force" => "it goes where it is led: remove it",
                _ => "say how it is led: kinematic = { velocity = [x, y, z] } or { spin = [x, y, z] }",
            };
            check.add(&own.at, text, help);
        }
    }
    let SceneValue::Record(table) = &given.it else {
        return Some(KinematicPlan::Motion { motion: Motion::REST, about_itself: true });
    };
    let Some(keys) = table.given("keys") else {
        let about_itself = table.given("pivot").is_none();
        return Some(KinematicPlan::Motion { motion: motion::plan(check, table), about_itself });
    };
    for key in ["velocity", "spin", "pivot", "sway", "frequency", "start", "end"] {
        if let Some(own) = table.given(key) {
            let help = "leave it out, or the keys";
            check.add(&own.at, format!("`{key}` and `keys` contradict each other"), help);
        }
    }
    if let Some(own) = body.given("position") {
        let help = "remove it; the first key says where the body starts";
        check.add(&own.at, "`position` and the keys of `kinematic` contradict each other", help);
    }
    if let Some(own) = body.given("copies") {
        let help = "give the copies a `velocity`, `spin` or `sway`, or write each body by itself";
        check.add(&own.at, "keys of `kinematic` are places in the world and cannot be copied", help);
    }
    place_keys(check, keys, table, body).map(KinematicPlan::Keys)
}

fn place_keys(
    check: &mut Check<'_>,
    keys: &Located<SceneValue>,
    table: &Record,
    body: &Record,
) -> Option<PlaceKeys> {
    let usual = ease(&table.value("ease"));
    let mut turn = match body.value("rotation") {
        SceneValue::List(_) => body.vector("rotation"),
        _ => {
            let help = "give [a, b, c], degrees about x, then y, then z, as the keys have them";
            check.add(body.place("rotation"), "an axis and an angle do not go with keys", help);
            return None;
        }
    };
    let (mut places, mut turns) = (Vec::new(), Vec::new());
    let mut before = f64::NEG_INFINITY;
    for key in keys.it.list() {
        let parts = key.it.list();
        let time = parts[0].it.number();
        if time <= before {
            let text = format!("the key at {time} s does not come after that at {before} s");
            check.add(&parts[0].at, text, "write keys in the order of time, each at a time of its own");
        }
        before = time;
        turn = parts.get(2).map_or(turn, |t| t.it.vector());
        let own = parts.get(3).map_or(usual, |e| ease(&e.it));
        places.push(Key::new(time, parts[1].it.vector()).ease(own));
        turns.push(Key::new(time, turn).ease(own));
    }
    let repeats = table.truth("repeat");
    if repeats && before <= 0.0 {
        let help = "give a key at a later time, at which they are to begin again";
        check.add(table.place("repeat"), "the keys end where they begin, and cannot repeat", help);
    }
    // Any control that is a vector: only what is between keys is asked of it.
    let track = |keys| Track::new(Control::Force(0.into()), keys);
    Some(PlaceKeys { at: keys.at.clone(), places: track(places), turns: track(turns), end: before, repeats })
}

fn ease(word: &SceneValue) -> Ease {
    Ease::ALL.into_iter().find(|e| e.name() == word.text()).unwrap_or_default()
}

impl PlaceKeys {
    /// Where the body's own coordinates are at a time.
    pub fn at(&self, time: f64) -> DAffine3 {
        let value = |track: &Track| match track.value(time) {
            Some(pliant::Value::Vector(v)) => v,
            _ => DVec3::ZERO,
        };
        DAffine3::from_rotation_translation(euler(value(&self.turns)), value(&self.places))
    }

    /// The places of a body's particles, in the coordinates it starts in, so many times a second.
    fn sequence(&self, particles: &[DVec3], rate: f64) -> Result<Sequence, Vec<SequenceError>> {
        let rate = if self.end * rate > MOST_PLACES { MOST_PLACES / self.end } else { rate };
        let steps = (self.end * rate).ceil().max(1.0);
        // So that the last key is met: at its own time, or as the beginning of the next round.
        let rate = if self.end > 0.0 { steps / self.end } else { rate };
        let back = self.at(0.0).inverse();
        let count = steps as usize + usize::from(!self.repeats);
        let frame = |k: usize| {
            let at = back * self.at(k as f64 / rate);
            particles.iter().map(|p| at.transform_point3(*p)).collect::<Vec<DVec3>>()
        };
        let sequence = Sequence::new((0..count).map(frame).collect(), rate)?;
        Ok(if self.repeats { sequence.repeating() } else { sequence })
    }
}

impl KinematicPlan {
    /// Where a body starts that is led by keys.
    pub fn start(&self) -> Option<(DVec3, glam::DQuat)> {
        let KinematicPlan::Keys(keys) = self else { return None };
        let (_, turn, place) = keys.at(0.0).to_scale_rotation_translation();
        Some((place, turn))
    }

    /// Lets a body be led; `rate` is how often keys are looked up, a second. Gives what is wrong, and where.
    pub fn lead(
        &self,
        body: &mut Body,
        made: &MadeShape,
        rate: f64,
    ) -> Result<(), (Span, Vec<SequenceError>)> {
        let all = 0..made.shape.points.len() as u32;
        match self {
            KinematicPlan::Motion { motion, about_itself } => {
                let pivot = if *about_itself { body.position } else { motion.pivot };
                body.pins.push(Pins {
                    name: "kinematic".into(),
                    select: Selection::Particles(all.collect()),
                    motion: Motion { pivot, ..*motion },
                    stiffness: None,
                });
            }
            KinematicPlan::Keys(keys) => {
                let sequence = keys.sequence(&made.shape.points, rate).map_err(|e| (keys.at.clone(), e))?;
                let follow = vec![1.0; all.len()];
                body.input = Some(Input { sequence: Arc::new(sequence), follow, reshape: false });
            }
        }
        Ok(())
    }
}
