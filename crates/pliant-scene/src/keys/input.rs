//! Keys of `input`: the animation a body or the vertices of a collider follow.

use super::kinds::VECTOR;
use crate::format::{Key, NumberRange, Rule, Table, ValueKind};

/// How fast an animation goes.
pub(crate) const FPS: Key = Key::new(
    "fps",
    ValueKind::Number(NumberRange::new(0.01, 1e6)),
    "Frames per second of the animation; the scene's unless given.",
)
.example("24");
/// What comes after its end.
pub(crate) const REPEAT: Key =
    Key::new("repeat", ValueKind::Truth, "Whether the animation begins again at its end.").default("false");

pub(crate) static INPUT: Table = Table {
    title: "an input",
    groups: &[&[
        Key::new(
            "file",
            ValueKind::Text,
            "A PC2 point cache of the body's particles, relative to the scene's folder; in the units of the shape's file and placed like the body, its first sample at the start.",
        )
        .example("\"example.pc2\""),
        Key::new(
            "files",
            ValueKind::Text,
            "Numbered Wavefront OBJ files, each # a digit; vertices in the order of the particles, in the units of the shape's file and placed like the body.",
        )
        .example("\"example_####.obj\""),
        Key::new("wag", ValueKind::Table(&WAG), "A wagging of whatever shape the body has, without any file.")
            .example("{ axis = [0, 0, 1], pivot = [0, 0, 0], angle = 40, frequency = 1.0 }"),
        FPS,
        REPEAT,
        Key::new(
            "reshape",
            ValueKind::Truth,
            "Whether the rest shape follows too, so that free parts take the poses; otherwise only painted particles do.",
        )
        .default("true"),
    ]],
    rules: &[Rule::ExactlyOne(&["file", "files", "wag"])],
};

pub(crate) static WAG: Table = Table {
    title: "a wagging",
    groups: &[&[
        Key::new("axis", VECTOR, "Axis of the turn, in the world, of any length but 0.").default("[0, 0, 1]"),
        Key::new("pivot", VECTOR, "A point of the axis, in the world, m.").default("[0, 0, 0]"),
        Key::new(
            "angle",
            ValueKind::Number(NumberRange::new(-3600.0, 3600.0)),
            "Largest turn to either side, degrees; the turn is angle sin(2π frequency t).",
        )
        .default("30"),
        Key::new("frequency", ValueKind::Number(NumberRange::above(0.0, 1e6)), "Waggings per second.").default("1.0"),
        Key::new("along", VECTOR, "Direction from the pivot to the far end, in the world, for `bend`.")
            .default("[0, 1, 0]"),
        Key::new(
            "bend",
            ValueKind::Truth,
            "Whether the turn grows from nothing at the pivot to all of it at the far end; otherwise the body turns rigidly.",
        )
        .default("true"),
    ]],
    rules: &[],
};
