//! Keys of joints: points of bodies that are tied together.

use super::kinds::{RATE, VECTOR};
use crate::format::{Key, MOST_PARTICLES, NumberRange, Rule, Table, ValueKind};

pub(crate) static JOINT: Table = Table {
    title: "a joint",
    groups: &[&[
        Key::new("name", ValueKind::Text, "A name of its own, for events and messages.").example("\"hook\""),
        Key::new("between", ValueKind::List(&ValueKind::Text, 2, 2), "The two bodies it ties, by name.")
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
            "stiffness",
            ValueKind::Number(NumberRange::above(0.0, 1e12)),
            "Ties by a spring of so many N/m. Exactly unless given.",
        )
        .example("200.0"),
        Key::new("damping", RATE, "Damping of the spring, N s/m.").default("0.0"),
    ]],
    rules: &[Rule::ExactlyOne(&["at", "particles"])],
};
