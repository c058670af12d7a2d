//! Keys of joints and glue: points and frames of bodies that are tied together.

use super::keyframes::COUPLING_TRACK;
use super::kinds::{RATE, VECTOR};
use super::placement::EXTENT;
use crate::format::{Key, MOST_PARTICLES, NumberRange, Rule, Table, ValueKind};

const NAME: Key =
    Key::new("name", ValueKind::Text, "A name of its own, for events and messages.").example("\"hook\"");

/// How it holds, and when no more.
static HOLD: &[Key] = &[
    Key::new(
        "stiffness",
        ValueKind::Number(NumberRange::above(0.0, 1e12)),
        "Holds each point by a spring of so many N/m. Exactly unless given.",
    )
    .example("200.0"),
    Key::new("damping", RATE, "Damping of the spring, N s/m.").default("0.0"),
    Key::new(
        "break_force",
        ValueKind::Number(NumberRange::above(0.0, f64::INFINITY)),
        "The force on a point beyond which it breaks for good, N. Never unless given.",
    )
    .example("40.0"),
    Key::new(
        "break_distance",
        ValueKind::Number(NumberRange::above(0.0, f64::INFINITY)),
        "How far what it holds may come apart before it breaks for good, m. Any distance unless given.",
    )
    .example("0.02"),
    Key::new(
        "keyframes",
        ValueKind::Tables(&COUPLING_TRACK),
        "Values of it over time: it opens, closes, is driven.",
    )
    .example("[{ control = \"stiffness\", keys = [[0.0, 200.0], [1.0, 20.0]] }]")
    .also(&["keyframe", "keys", "animation"]),
];

static MOTOR: Table = Table {
    title: "the motor of a hinge",
    groups: &[&[
        Key::new(
            "speed",
            ValueKind::Number(NumberRange::new(-1e6, 1e6)),
            "How fast it turns the second body about the axis, seen from the first, radians per second; 0 is a brake.",
        )
        .default("0.0"),
        Key::new(
            "torque",
            ValueKind::Number(NumberRange::new(0.0, 1e12).or_infinite()),
            "The torque it does that with at most, N m.",
        )
        .required()
        .example("2.0"),
    ]],
    rules: &[],
};

pub(crate) static JOINT: Table = Table {
    title: "a joint",
    groups: &[&[
        NAME,
        Key::new("between", ValueKind::List(&ValueKind::Text, 2, 2), "The two bodies it ties, by name; one of them may be \"world\".")
            .required()
            .example("[\"lamp\", \"cord\"]"),
        Key::new(
            "at",
            VECTOR,
            "A place, m: of each body, as the file puts it, the point nearest to it is tied. Points that begin apart come \
             together at the pace of one body size a second.",
        )
        .example("[0, 1, 0]"),
        Key::new(
            "particles",
            ValueKind::List(&ValueKind::Whole(0, MOST_PARTICLES as u64), 2, 2),
            "The particle of each body that is tied instead, counted from 0.",
        )
        .example("[0, 12]"),
        Key::new(
            "kind",
            ValueKind::Word(&["point", "hinge", "weld"]),
            "What is kept together: a point, about which both turn freely; a point and an axis; or everything.",
        )
        .default("\"point\""),
        Key::new("axis", VECTOR, "The axis of a hinge, of any length but 0.").default("[0, 0, 1]"),
        Key::new(
            "limits",
            ValueKind::List(&ValueKind::Number(NumberRange::new(-180.0, 180.0)), 2, 2),
            "The least and the greatest angle of a hinge, degrees: how the second body is turned about the axis, seen from the first; \
             0 is how the file puts them. Any angle unless given.",
        )
        .example("[-45, 90]"),
        Key::new("motor", ValueKind::Table(&MOTOR), "What turns a hinge.").example("{ speed = 3.0, torque = 2.0 }"),
    ], HOLD],
    rules: &[Rule::ExactlyOne(&["at", "particles"])],
};

pub(crate) static GLUE: Table = Table {
    title: "glue",
    groups: &[
        &[
            NAME,
            Key::new("from", ValueKind::Text, "The body that is glued on, or a group of it as \"body.group\".").required().example("\"pocket\""),
            Key::new("to", ValueKind::Text, "The body that carries it, or a group of it as \"body.group\"; the same for a body that is glued to itself.")
                .required()
                .example("\"shirt\""),
            Key::new(
                "particles",
                ValueKind::List(&ValueKind::Whole(0, MOST_PARTICLES as u64), 1, MOST_PARTICLES),
                "Particles of `from` that are bound, counted from 0. Those that lie against the other body unless given.",
            )
            .example("[0, 12]"),
            Key::new(
                "box",
                ValueKind::Table(&EXTENT),
                "All particles of `from` in this box are bound instead, where the body starts.",
            )
            .example("{ min = [-1, -1, -1], max = [1, 1, 1] }"),
            Key::new(
                "onto",
                ValueKind::Table(&EXTENT),
                "Only particles of `to` in this box carry it, where the body starts: the one of two layers that is meant.",
            )
            .example("{ min = [-1, -1, 0], max = [1, 1, 1] }"),
            Key::new(
                "parents",
                ValueKind::Whole(3, 64),
                "How many particles carry each point: more average out more of what trembles. The fewest of six to ten that tell \
                 well how they are turned unless given.",
            )
            .example("12"),
            Key::new(
                "radius",
                ValueKind::Number(NumberRange::above(0.0, f64::INFINITY)),
                "No particle that carries a point is farther from it, m.",
            )
            .example("0.1"),
        ],
        HOLD,
    ],
    rules: &[Rule::AtMostOne(&["particles", "box"])],
};
