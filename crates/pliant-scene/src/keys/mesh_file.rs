//! Keys of what is read from mesh files: scale, origin, object; and the table `render`.

use super::kinds::LENGTH;
use crate::format::{Key, Rule, Table, ValueKind};

/// How large what a file holds is, and which way up.
pub(crate) const FIT: &[Key] = &[
    Key::new("scale", LENGTH, "Metres per unit of the file.").default("1.0"),
    Key::new("fit", LENGTH, "Metres of the longest side of its box, instead of `scale`.").example("0.4"),
    Key::new("up", ValueKind::Word(&["y", "z"]), "Which axis is up in the file.").default("\"y\""),
    Key::new(
        "origin",
        ValueKind::Word(&["file", "center", "base"]),
        "What becomes the body's origin: the file's, the centre of its box, or the centre of the lowest side of it.",
    )
    .default("\"file\""),
];

pub(crate) const SCALE_OR_FIT: Rule = Rule::AtMostOne(&["scale", "fit"]);

/// Which object of a mesh file.
pub(crate) const OBJECT: &[Key] =
    &[Key::new("object", ValueKind::Text, "Only the object of this name. All are joined unless given.")
        .example("\"hat\"")];

pub(crate) static RENDER: Table = Table {
    title: "a render mesh",
    groups: &[
        &[Key::new(
            "file",
            ValueKind::Text,
            "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB.",
        )
        .required()
        .example("\"example.obj\"")],
        OBJECT,
    ],
    rules: &[],
};
