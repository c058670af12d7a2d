//! Keys of rotations and boxes, which bodies, colliders, pins and paint have.

use super::kinds::{NUMBER, VECTOR};
use crate::format::{Key, Table};

pub(crate) static TURN: Table = Table {
    title: "a rotation",
    groups: &[&[
        Key::new("axis", VECTOR, "Axis of the turn, of any length but 0.").required().example("[0, 1, 0]"),
        Key::new("angle", NUMBER, "Degrees.").required().example("45"),
    ]],
    rules: &[],
};

pub(crate) static EXTENT: Table = Table {
    title: "a region",
    groups: &[&[
        Key::new("min", VECTOR, "Smallest coordinates, m.").required().example("[-1, -1, -1]"),
        Key::new("max", VECTOR, "Largest coordinates, m.").required().example("[1, 1, 1]"),
    ]],
    rules: &[],
};
