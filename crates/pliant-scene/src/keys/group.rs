//! Keys of `[[body.group]]`: particles under a name, for glue.

use super::placement::EXTENT;
use crate::format::{Key, MOST_PARTICLES, Rule, Table, ValueKind};

pub(crate) static GROUP: Table = Table {
    title: "a group",
    groups: &[&[
        Key::new("name", ValueKind::Text, "What it is called: glue names it `body.name`.")
            .required()
            .example("\"cuff\""),
        Key::new(
            "particles",
            ValueKind::List(&ValueKind::Whole(0, MOST_PARTICLES as u64), 1, MOST_PARTICLES),
            "Particles of the body, counted from 0.",
        )
        .example("[0, 1]"),
        Key::new(
            "box",
            ValueKind::Table(&EXTENT),
            "All particles in this box, in the world, where the body starts.",
        )
        .example("{ min = [-1, -1, -1], max = [1, 1, 1] }"),
    ]],
    rules: &[Rule::ExactlyOne(&["particles", "box"])],
};
