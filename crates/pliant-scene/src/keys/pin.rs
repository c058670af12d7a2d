//! Keys of `[[body.pin]]`: particles that are held or led.

use super::motion::MOTION;
use super::placement::EXTENT;
use crate::format::{Key, MOST_PARTICLES, NumberRange, Rule, Table, ValueKind};

pub(crate) static PIN: Table = Table {
    title: "a pin",
    groups: &[
        &[
            Key::new("name", ValueKind::Text, "A name, for messages and live control.").example("\"hook\""),
            Key::new(
                "particles",
                ValueKind::List(&ValueKind::Whole(0, MOST_PARTICLES as u64), 1, MOST_PARTICLES),
                "Particles of the body, counted from 0.",
            )
            .example("[0, 1]"),
            Key::new(
                "box",
                ValueKind::Table(&EXTENT),
                "All particles in this box, in the world, where the body starts (before any stretch).",
            )
            .example("{ min = [-1, -1, -1], max = [1, 1, 1] }"),
            Key::new(
                "corners",
                ValueKind::List(&ValueKind::Word(CORNERS), 1, 4),
                "Corners of a sheet: left is -x, back is -z, before it is turned.",
            )
            .example("[\"left_back\", \"right_back\"]"),
        ],
        MOTION,
        &[Key::new(
            "stiffness",
            ValueKind::Number(NumberRange::above(0.0, 1e15)),
            "Spring stiffness per particle, N/m (projective solver); held exactly unless given.",
        )
        .example("1000.0")],
    ],
    rules: &[
        Rule::ExactlyOne(&["particles", "box", "corners"]),
        Rule::Needs("sway", "frequency"),
        Rule::Needs("frequency", "sway"),
    ],
};

/// Corners of a sheet, in the order of [`crate::pin`].
pub(crate) const CORNERS: &[&str] = &["left_back", "right_back", "left_front", "right_front"];
