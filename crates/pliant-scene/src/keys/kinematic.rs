//! Keys of `kinematic`: how a rigid body is led.

use super::keyframes::EASE;
use super::kinds::{NUMBER, VECTOR};
use super::motion::MOTION;
use crate::format::{COORDINATE, Key, NumberRange, Rule, Table, ValueKind};

/// Where it is at a time, and how it is turned.
const PLACES: ValueKind = ValueKind::List(
    &ValueKind::Tuple(
        &[ValueKind::Number(NumberRange::new(0.0, COORDINATE)), VECTOR, TURNED, EASE],
        2,
        "[time, [x, y, z]], [time, [x, y, z], [a, b, c]] or [time, [x, y, z], [a, b, c], \"ease\"], with the time in seconds",
    ),
    1,
    100_000,
);

/// Degrees about x, then y, then z.
const TURNED: ValueKind = ValueKind::List(&NUMBER, 3, 3);

pub(crate) static KINEMATIC: Table = Table {
    title: "the motion of a kinematic body",
    groups: &[
        &[
            Key::new(
                "keys",
                PLACES,
                "Times (s), where its origin is then, in the world, and how it is turned, in degrees about x, then y, then z: angles go \
                 evenly from key to key, so that 360 is once around. Where no turn is given it is that of the key before, at \
                 first `rotation`. Instead of the body's `position`.",
            )
            .example("[[0.0, [0, 0, 0]], [1.0, [0, 1, 0], [0, 90, 0], \"smooth\"]]"),
            Key::new(
                "ease",
                EASE,
                "How it goes on to the next key: not until there, at a steady rate, or leaving and arriving at rest.",
            )
            .default("\"linear\"")
            .also(&["interpolation"]),
            Key::new("repeat", ValueKind::Truth, "Whether the keys begin again after the last.").default("false"),
        ],
        MOTION,
    ],
    rules: &[
        Rule::Needs("ease", "keys"),
        Rule::Needs("repeat", "keys"),
        Rule::Needs("sway", "frequency"),
        Rule::Needs("frequency", "sway"),
    ],
};
