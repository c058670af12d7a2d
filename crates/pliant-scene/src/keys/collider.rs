//! Keys of colliders: what bodies cannot enter.

use super::input::{FPS, REPEAT, WAG};
use super::kinds::{COLOR, FRICTION, LENGTH, SHARE, SIZE, VECTOR};
use super::mesh_file::{FIT, OBJECT, SCALE_OR_FIT};
use super::motion::MOTION;
use super::placement::TURN;
use crate::format::{COORDINATE, Key, NumberRange, Rule, Table, ValueKind};

pub(crate) static COLLIDER: Table = Table {
    title: "a collider",
    groups: &[
        &[
            Key::new(
                "shape",
                ValueKind::Tagged(COLLIDER_SHAPES),
                "What it is made of, around its own origin.",
            )
            .required()
            .example("{ kind = \"ball\", radius = 0.2 }"),
            Key::new("position", VECTOR, "Where its origin is, m.").default("[0, 0, 0]"),
            Key::new(
                "rotation",
                ValueKind::Either(&[VECTOR, ValueKind::Table(&TURN)]),
                "How it is turned: degrees about x, then y, then z, or an axis and an angle.",
            )
            .default("[0, 0, 0]")
            .example("[0, 45, 0]"),
            Key::new("friction", FRICTION, "Coulomb friction.").default("0.5"),
            Key::new("restitution", SHARE, "Speed kept by a bounce.").default("0.0"),
            Key::new("name", ValueKind::Text, "A name of its own, for events and messages.")
                .example("\"table\""),
            Key::new(
                "color",
                COLOR,
                "Its colour in pictures: \"#rrggbb\", or red, green and blue from 0 to 1. Grey unless given.",
            )
            .example("\"#a08060\"")
            .also(&["colour"]),
            Key::new(
                "input",
                ValueKind::Table(&COLLIDER_INPUT),
                "An animation that the vertices of its mesh follow.",
            )
            .example("{ file = \"example.pc2\" }"),
        ],
        MOTION,
    ],
    rules: &[Rule::Needs("sway", "frequency"), Rule::Needs("frequency", "sway")],
};

/// Shapes by name; each has the keys of its table and `kind`.
pub(crate) const COLLIDER_SHAPES: &[(&str, &Table)] = &[
    ("ball", &BALL),
    ("box", &BOX),
    ("capsule", &CAPSULE),
    ("cylinder", &CYLINDER),
    ("mesh", &MESH),
    ("heights", &HEIGHTS),
];

static BALL: Table = Table {
    title: "a ball to collide with",
    groups: &[&[Key::new("radius", LENGTH, "Its radius, m.").default("0.1")]],
    rules: &[],
};

static BOX: Table = Table {
    title: "a box to collide with",
    groups: &[&[Key::new("size", SIZE, "Its edges along x, y and z, m.").default("[0.2, 0.2, 0.2]")]],
    rules: &[],
};

static CAPSULE: Table = Table {
    title: "a capsule to collide with",
    groups: &[&[
        Key::new("radius", LENGTH, "Its radius, m.").default("0.05"),
        Key::new("height", LENGTH, "From end to end along y, m; at least twice the radius.").default("0.3"),
    ]],
    rules: &[],
};

static CYLINDER: Table = Table {
    title: "a cylinder to collide with",
    groups: &[&[
        Key::new("radius", LENGTH, "Its radius, m.").default("0.1"),
        Key::new("height", LENGTH, "Along y, m.").default("0.2"),
    ]],
    rules: &[],
};

static MESH: Table = Table {
    title: "a mesh to collide with",
    groups: &[
        &[
            Key::new(
                "file",
                ValueKind::Text,
                "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB. A closed one is solid; an open one has two \
                 sides, and who is on one of them stays there.",
            )
            .required()
            .example("\"example.obj\""),
            Key::new(
                "thickness",
                ValueKind::Number(NumberRange::new(0.0, 1e6)),
                "How far bodies keep from it, m. 0 for a closed mesh, a thousandth of its size for an open one unless given.",
            )
            .example("0.002"),
        ],
        FIT,
        OBJECT,
    ],
    rules: &[SCALE_OR_FIT],
};

static HEIGHTS: Table = Table {
    title: "a ground of heights",
    groups: &[&[
        Key::new(
            "rows",
            ValueKind::List(&ValueKind::List(&ValueKind::Number(NumberRange::new(-COORDINATE, COORDINATE)), 2, 100_000), 2, 100_000),
            "Heights in rows along x, one row after the other along z, m; all rows equally long. What is below them is solid.",
        )
        .required()
        .example("[[0, 0.1, 0], [0, 0.2, 0]]"),
        Key::new("size", ValueKind::List(&LENGTH, 2, 2), "How far they reach along x and z, m.").default("[1, 1]"),
        Key::new("depth", LENGTH, "How far it goes down below the lowest, m.").default("1.0"),
    ]],
    rules: &[],
};

pub(crate) static COLLIDER_INPUT: Table = Table {
    title: "the input of a collider",
    groups: &[&[
        Key::new(
            "file",
            ValueKind::Text,
            "A PC2 or MDD cache of its vertices, or a glTF file that moves, relative to the scene's folder; in the units of its mesh and placed like it.",
        )
        .example("\"example.pc2\""),
        Key::new(
            "files",
            ValueKind::Text,
            "Numbered meshes, each # a digit; vertices in the order of its mesh, in its units and placed like it.",
        )
        .example("\"example_####.obj\""),
        Key::new("wag", ValueKind::Table(&WAG), "A wagging of its mesh, without any file.")
            .example("{ axis = [0, 0, 1], pivot = [0, 0, 0], angle = 40, frequency = 1.0 }"),
        FPS,
        REPEAT,
    ]],
    rules: &[Rule::ExactlyOne(&["file", "files", "wag"])],
};
