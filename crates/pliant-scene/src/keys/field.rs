//! Keys of fields of force.

use super::kinds::{LENGTH, VECTOR};
use super::placement::EXTENT;
use crate::format::{Key, NumberRange, Table, ValueKind};

const STRENGTH: ValueKind = ValueKind::Number(NumberRange::new(-1e9, 1e9));
const ACCELERATION: ValueKind = ValueKind::List(&STRENGTH, 3, 3);
const RADIUS: Key = Key::new("radius", LENGTH, "Distance at which it is strongest, m.").default("0.5");

/// Fields by name; each has the keys of its table and `kind`.
pub(crate) const FIELDS: &[(&str, &Table)] = &[
    ("attractor", &ATTRACTOR),
    ("vortex", &VORTEX),
    ("turbulence", &TURBULENCE),
    ("uniform", &UNIFORM),
    ("ball", &BALL),
];

static BALL: Table = Table {
    title: "a ball that flies through",
    groups: &[&[
        Key::new("center", VECTOR, "Where its centre stands until it starts, m.").default("[0, 0, 0]"),
        Key::new("velocity", VECTOR, "How it flies from then on, m/s.").default("[0, 0, 0]"),
        Key::new("start", ValueKind::Number(NumberRange::new(0.0, 1e9)), "When it starts, s.").default("0.0"),
        Key::new("radius", LENGTH, "Its radius, m; beyond it nothing is pushed.").default("0.1"),
        Key::new("strength", STRENGTH, "Largest acceleration out of it, m/s²; less than 0 draws in.")
            .default("1000.0"),
    ]],
    rules: &[],
};

static ATTRACTOR: Table = Table {
    title: "an attractor",
    groups: &[&[
        Key::new("center", VECTOR, "Where it draws to, m.").default("[0, 0, 0]"),
        Key::new("strength", STRENGTH, "Largest acceleration, m/s²; less than 0 pushes away.")
            .default("10.0"),
        RADIUS,
    ]],
    rules: &[],
};

static VORTEX: Table = Table {
    title: "a vortex",
    groups: &[&[
        Key::new("center", VECTOR, "A point of its axis, m.").default("[0, 0, 0]"),
        Key::new("axis", VECTOR, "Its axis, of any length but 0; it turns right-handed.")
            .default("[0, 1, 0]"),
        Key::new("strength", STRENGTH, "Largest acceleration, m/s², around the axis.").default("10.0"),
        RADIUS,
    ]],
    rules: &[],
};

static TURBULENCE: Table = Table {
    title: "turbulence",
    groups: &[&[
        Key::new("strength", STRENGTH, "About the acceleration, m/s².").default("5.0"),
        Key::new("size", LENGTH, "Size of the eddies, m.").default("0.5"),
        Key::new(
            "rate",
            ValueKind::Number(NumberRange::new(0.0, 1e6)),
            "How many eddies pass a place in a second.",
        )
        .default("1.0"),
    ]],
    rules: &[],
};

static UNIFORM: Table = Table {
    title: "a uniform field",
    groups: &[&[
        Key::new("box", ValueKind::Table(&EXTENT), "Where it acts, in the world.")
            .required()
            .example("{ min = [-1, 0, -1], max = [1, 1, 1] }"),
        Key::new("acceleration", ACCELERATION, "The acceleration, m/s².").default("[0, 10, 0]"),
        Key::new(
            "falloff",
            ValueKind::Number(NumberRange::new(0.0, 1e6)),
            "Distance from the box over which it fades, m; at 0 it ends sharply.",
        )
        .default("0.1"),
    ]],
    rules: &[],
};
