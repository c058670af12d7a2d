//! Keys of what the elements of a body resist.

use super::kinds::VECTOR;
use crate::format::{Key, NumberRange, Table, ValueKind};

const STIFFNESS: Key = Key::new(
    "stiffness",
    ValueKind::Number(NumberRange::new(0.0, 1e15)),
    "How strongly: Pa for tetrahedra, N/m for triangles, N for edges, N m for bending. The material's unless given.",
)
.example("1e4");
const RATIO: ValueKind = ValueKind::Number(NumberRange::new(0.0, 1e6));
const RATIO_OR_INFINITE: ValueKind = ValueKind::Number(NumberRange::new(0.0, 1e6).or_infinite());

/// What elements may resist, by name; each has the keys of its table and `kind`.
pub(crate) const CONSTRAINTS: &[(&str, &Table)] = &[
    ("strain", &STRAIN),
    ("strain_limit", &STRAIN_LIMIT),
    ("fibre", &FIBRE),
    ("volume", &VOLUME),
    ("bending", &BENDING),
    ("bending_limit", &BENDING_LIMIT),
    ("hinge", &HINGE),
    ("examples", &EXAMPLES),
    ("pressure", &PRESSURE),
    ("rigid", &RIGID),
];

static STRAIN: Table = Table { title: "resistance to strain", groups: &[&[STIFFNESS]], rules: &[] };

static STRAIN_LIMIT: Table = Table {
    title: "a limit of strain",
    groups: &[&[
        Key::new("min", RATIO, "Smallest length that is free, over the length at rest.").default("0.9"),
        Key::new("max", RATIO_OR_INFINITE, "Largest length that is free; inf for any.").default("1.1"),
        STIFFNESS,
    ]],
    rules: &[],
};

static FIBRE: Table = Table {
    title: "fibres",
    groups: &[&[
        Key::new("direction", VECTOR, "Their direction in the shape at rest, of any length but 0.")
            .required()
            .example("[1, 0, 0]")
            .also(&["along", "axis"]),
        Key::new(
            "min",
            RATIO,
            "Smallest length that is free, over the length at rest; less than 1 with an equal `max` contracts.",
        )
        .default("1.0"),
        Key::new("max", RATIO_OR_INFINITE, "Largest length that is free; inf for any.").default("1.0"),
        STIFFNESS,
    ]],
    rules: &[],
};

static VOLUME: Table = Table {
    title: "resistance to change of volume",
    groups: &[&[
        Key::new("min", RATIO, "Smallest volume that is free, over that at rest; area for triangles.")
            .default("1.0"),
        Key::new("max", RATIO_OR_INFINITE, "Largest volume that is free; inf for any.").default("1.0"),
        STIFFNESS,
    ]],
    rules: &[],
};

static BENDING: Table = Table { title: "resistance to bending", groups: &[&[STIFFNESS]], rules: &[] };

static BENDING_LIMIT: Table = Table {
    title: "a limit of bending",
    groups: &[&[
        Key::new(
            "curvature",
            ValueKind::Number(NumberRange::new(0.0, 1e9)),
            "Curvature that is always free, 1/m.",
        )
        .required()
        .example("20.0"),
        Key::new("min", RATIO, "Smallest curvature that is free, over that at rest.").default("0.0"),
        Key::new("max", RATIO_OR_INFINITE, "Largest curvature that is free, over that at rest.")
            .default("1.0"),
        STIFFNESS,
    ]],
    rules: &[],
};

static HINGE: Table =
    Table { title: "resistance to folding between triangles", groups: &[&[STIFFNESS]], rules: &[] };

static EXAMPLES: Table = Table {
    title: "examples",
    groups: &[&[
        Key::new(
            "files",
            ValueKind::List(&ValueKind::Text, 1, 1000),
            "Wavefront OBJ files of the deformed shape, in the units of the shape's file: as many vertices as the body \
             has particles, in their order.",
        )
        .required()
        .example("[\"example.obj\"]")
        .also(&["file"]),
        Key::new(
            "weights",
            ValueKind::Word(&["own", "common"]),
            "Whether each element blends the examples by itself or all blend them alike.",
        )
        .default("\"own\""),
        STIFFNESS,
    ]],
    rules: &[],
};

static PRESSURE: Table = Table {
    title: "what fills a closed surface",
    groups: &[&[
        Key::new(
            "stiffness",
            ValueKind::Number(NumberRange::new(0.0, 1e15)),
            "How strongly, N/m per m²: a material says nothing about what fills a body.",
        )
        .required()
        .example("1e4"),
        Key::new("min", RATIO, "Smallest volume that is free, over that at rest; above 1 inflates.")
            .default("1.0"),
        Key::new("max", RATIO_OR_INFINITE, "Largest volume that is free; inf for any.").default("1.0"),
    ]],
    rules: &[],
};

static RIGID: Table = Table {
    title: "resistance to all that is not rigid",
    groups: &[&[
        Key::new(
            "differences",
            ValueKind::Word(&["mean", "vertex", "identity"]),
            "What is compared of an element: its corners about their mean, about the first, or as they are.",
        )
        .default("\"mean\""),
        STIFFNESS,
    ]],
    rules: &[],
};
