//! Keys of how pins and colliders move.

use super::kinds::{FREQUENCY, SPIN, VECTOR};
use crate::format::{COORDINATE, Key, NumberRange, ValueKind};

/// How pins and colliders move.
pub(crate) const MOTION: &[Key] = &[
    Key::new("velocity", VECTOR, "Steady velocity, m/s.").default("[0, 0, 0]"),
    Key::new("spin", SPIN, "Steady turning about `pivot`, radians per second.").default("[0, 0, 0]"),
    Key::new("pivot", VECTOR, "Centre of the spin, in the world, m.").default("[0, 0, 0]"),
    Key::new("sway", VECTOR, "Amplitude of a swing to and fro, m.").default("[0, 0, 0]"),
    Key::new("frequency", FREQUENCY, "Swings per second of `sway`.").default("0.0"),
    Key::new("start", ValueKind::Number(NumberRange::new(0.0, COORDINATE)), "When the motion begins, s.")
        .default("0.0"),
    Key::new(
        "end",
        ValueKind::Number(NumberRange::new(0.0, COORDINATE).or_infinite()),
        "When the motion ends, s.",
    )
    .default("inf"),
];
