//! Keys of `[[keyframes]]`, `[[body.keyframes]]` and those of joints and glue: controls over time.

use super::kinds::NUMBER;
use crate::format::{Key, NumberRange, Table, ValueKind};
use pliant::Control;

/// A time and what holds then.
const KEYS: ValueKind = ValueKind::List(
    &ValueKind::Tuple(
        &[NUMBER, KEY_VALUE, EASE],
        2,
        "[time, value] or [time, value, \"ease\"], with the time in seconds",
    ),
    1,
    100_000,
);

const KEY_VALUE: ValueKind = ValueKind::Either(&[
    ValueKind::Number(NumberRange::new(-1e15, 1e15).or_infinite()),
    ValueKind::List(&ValueKind::Number(NumberRange::new(-1e12, 1e12)), 3, 3),
]);

pub(crate) const EASE: ValueKind = ValueKind::Word(&["stepped", "linear", "smooth"]);

/// Keys of a track, apart from what it drives.
const TRACK_KEYS: &[Key] = &[
    Key::new(
        "keys",
        KEYS,
        "Times (s) and values, each with an ease of its own if need be; the first and the last value hold before and after.",
    )
    .required()
    .example("[[0.0, 0.2], [1.0, 0.9, \"stepped\"], [1.5, 0.1]]"),
    Key::new(
        "ease",
        EASE,
        "How values go on to the next key: not until there, at a steady rate, or leaving and arriving at rest. \"linear\" unless given; \"stepped\" for whole numbers.",
    )
    .example("\"smooth\"")
    .also(&["interpolation"]),
];

pub(crate) static WORLD_TRACK: Table = Table {
    title: "keyframes of the world",
    groups: &[
        &[Key::new("control", ValueKind::Word(Control::WORLD_NAMES), "What the keys drive.")
            .required()
            .example("\"gravity_magnitude\"")],
        TRACK_KEYS,
    ],
    rules: &[],
};

pub(crate) static BODY_TRACK: Table = Table {
    title: "keyframes of a body",
    groups: &[
        &[Key::new("control", ValueKind::Word(Control::BODY_NAMES), "What the keys drive.")
            .required()
            .example("\"deformation\"")],
        TRACK_KEYS,
    ],
    rules: &[],
};

pub(crate) static COUPLING_TRACK: Table = Table {
    title: "keyframes of a joint or glue",
    groups: &[
        &[Key::new("control", ValueKind::Word(Control::COUPLING_NAMES), "What the keys drive.")
            .required()
            .example("\"stiffness\"")],
        TRACK_KEYS,
    ],
    rules: &[],
};
