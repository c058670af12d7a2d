//! Keys of events: what happens at a time.

use super::kinds::VECTOR;
use crate::format::{COORDINATE, Key, MOST_PARTICLES, NumberRange, Rule, Table, ValueKind};

const IMPULSE: ValueKind = ValueKind::List(&ValueKind::Number(NumberRange::new(-1e12, 1e12)), 3, 3);
const PARTICLES: ValueKind = ValueKind::List(&ValueKind::Whole(0, MOST_PARTICLES as u64), 1, MOST_PARTICLES);

pub(crate) static EVENT: Table = Table {
    title: "an event",
    groups: &[&[
        Key::new(
            "at",
            ValueKind::Number(NumberRange::new(0.0, COORDINATE)),
            "When, s: it acts in the step from the first frame at or after that time on.",
        )
        .required()
        .example("1.5"),
        Key::new(
            "body",
            ValueKind::Text,
            "The body it happens to, by name; may be left out where there is only one.",
        )
        .example("\"cloth\""),
        Key::new("plane", ValueKind::Text, "The plane it happens to instead, by name: it may come (`add`) and go (`remove`).")
            .example("\"gate\""),
        Key::new("collider", ValueKind::Text, "The collider it happens to instead, by name: it may come (`add`) and go (`remove`).")
            .example("\"table\""),
        Key::new("glue", ValueKind::Text, "The glue it happens to instead, by name: it may come (`add`) and go (`remove`).")
            .example("\"pocket\""),
        Key::new("joint", ValueKind::Text, "The joint it happens to instead, by name: it may come (`add`) and go (`remove`).")
            .example("\"hook\""),
        Key::new(
            "add",
            ValueKind::Truth,
            "The body comes: as its [[body]] says, in that moment and not before. In the file it stands like any other.",
        )
        .example("true")
        .also(&["spawn", "create"]),
        Key::new("remove", ValueKind::Truth, "The body goes, for good.").example("true").also(&["delete", "destroy"]),
        Key::new(
            "become",
            ValueKind::Text,
            "The body becomes what another [[body]] says, where it is: material, solver, goals, paint. That one only \
             describes it and is never there itself; it must have as many particles.",
        )
        .example("\"stone_bear\"")
        .also(&["change", "turn_into"]),
        Key::new("release", ValueKind::Text, "Lets go of the pin of this name.")
            .example("\"left\"")
            .also(&["unpin", "let_go", "drop"]),
        Key::new("hold", PARTICLES, "Holds these particles where they are.").example("[0, 1]").also(&["pin"]),
        Key::new(
            "push",
            IMPULSE,
            "An impulse, N s: on `particles` in equal parts, or on the whole body by its mass.",
        )
        .example("[0, 2, 0]")
        .also(&["impulse", "kick"]),
        Key::new("move", VECTOR, "Moves the body as it is by this way, m.")
            .example("[0, 1, 0]")
            .also(&["teleport"]),
        Key::new("particles", PARTICLES, "The particles that are pushed, counted from 0.").example("[0, 1]"),
    ]],
    rules: &[Rule::ExactlyOne(&["add", "remove", "become", "release", "hold", "push", "move"]), Rule::Needs("particles", "push"), Rule::AtMostOne(&["body", "plane", "collider", "joint", "glue"])],
};
