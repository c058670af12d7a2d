//! Keys of `[[body.paint]]`: regions with a value of their own.

use super::kinds::{LENGTH, VECTOR};
use super::placement::EXTENT;
use crate::format::{Key, NumberRange, Rule, Table, ValueKind};

pub(crate) static PAINT: Table = Table {
    title: "paint",
    groups: &[&[
        Key::new(
            "channel",
            ValueKind::Word(&["stiffness", "follow", "tear_strain"]),
            "What is painted: stiffness, how far particles follow the body's input, or how far it may be stretched.",
        )
        .default("\"stiffness\""),
        Key::new(
            "value",
            ValueKind::Number(NumberRange::new(0.0, 1e6)),
            "The painted value: a share of the body's stiffness; or 1 to be held where the input is, less to be drawn there, 0 (where nothing is painted) to be free; or what its `tear_strain` is multiplied by, 0.001 or more.",
        )
        .required()
        .example("0.2"),
        Key::new(
            "box",
            ValueKind::Table(&EXTENT),
            "The painted region: a box in the world, where the body starts (before any stretch).",
        )
        .example("{ min = [-1, -1, -1], max = [1, 1, 1] }"),
        Key::new("sphere", ValueKind::Table(&SPHERE), "The painted region: a sphere in the world.")
            .example("{ center = [0, 0, 0], radius = 1.0 }"),
        Key::new(
            "falloff",
            ValueKind::Number(NumberRange::new(0.0, 1e6)),
            "Distance from the region over which the paint fades, m.",
        )
        .default("0.0"),
    ]],
    rules: &[Rule::ExactlyOne(&["box", "sphere"])],
};

static SPHERE: Table = Table {
    title: "a sphere",
    groups: &[&[
        Key::new("center", VECTOR, "Its centre, m.").required().example("[0, 0, 0]"),
        Key::new("radius", LENGTH, "Its radius, m.").required().example("0.1"),
    ]],
    rules: &[],
};
