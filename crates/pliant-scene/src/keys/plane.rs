//! Keys of `[[plane]]`: half-spaces no body can enter.

use super::kinds::{FRICTION, NUMBER, SHARE, VECTOR};
use super::motion::MOTION;
use crate::format::{Key, Rule, Table, ValueKind};

pub(crate) static PLANE: Table = Table {
    title: "a plane",
    groups: &[
        &[
            Key::new("normal", VECTOR, "Direction in which bodies are; of any length but 0.")
                .default("[0, 1, 0]"),
            Key::new(
                "offset",
                NUMBER,
                "Distance of the plane from the origin along its normal, m. 0 unless given.",
            )
            .example("0.5"),
            Key::new("point", VECTOR, "A point of the plane, instead of its offset.").example("[0, 0.5, 0]"),
            Key::new("friction", FRICTION, "Coulomb friction.").default("0.5"),
            Key::new("restitution", SHARE, "Speed kept by a bounce.").default("0.0"),
            Key::new("name", ValueKind::Text, "A name of its own, for events and messages.")
                .example("\"gate\""),
        ],
        MOTION,
    ],
    rules: &[
        Rule::AtMostOne(&["offset", "point"]),
        Rule::Needs("sway", "frequency"),
        Rule::Needs("frequency", "sway"),
    ],
};
