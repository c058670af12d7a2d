//! Keys of `copies`: many of the same body on a grid.

use super::kinds::VECTOR;
use crate::format::{COORDINATE, Key, NumberRange, Table, ValueKind};

pub(crate) static COPIES: Table = Table {
    title: "copies of a body",
    groups: &[&[
        Key::new(
            "grid",
            ValueKind::List(&ValueKind::Whole(1, 10_000), 3, 3),
            "How many along x, y and z; along x and z around the body's position, along y up from it.",
        )
        .required()
        .example("[10, 10, 10]")
        .also(&["count", "number"]),
        Key::new("apart", VECTOR, "Distance of neighbours along x, y and z, m.")
            .default("[1, 1, 1]")
            .also(&["spacing", "step"]),
        Key::new(
            "shift",
            ValueKind::Number(NumberRange::new(0.0, COORDINATE)),
            "How far each is moved off its place at random, at most, along each axis, m.",
        )
        .default("0.0")
        .also(&["jitter", "spread"]),
        Key::new("turn", ValueKind::Truth, "Whether each is turned at random, in all directions alike.")
            .default("false"),
        Key::new("seed", ValueKind::Whole(0, i64::MAX as u64), "Seed of what is random.").default("1"),
    ]],
    rules: &[],
};
