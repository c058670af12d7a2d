//! Keys of `shape`: one table for each kind of body shape.

use super::kinds::{LENGTH, SIZE, VECTOR};
use super::mesh_file::{FIT, OBJECT, SCALE_OR_FIT};
use crate::format::{Key, MOST_PARTICLES, NumberRange, Rule, Table, ValueKind};

/// The shapes by name; each has the keys of its table and `kind`.
pub(crate) const SHAPES: &[(&str, &Table)] = &[
    ("box", &BOX),
    ("ball", &BALL),
    ("torus", &TORUS),
    ("cylinder", &CYLINDER),
    ("capsule", &CAPSULE),
    ("sheet", &SHEET),
    ("gummy_bear", &GUMMY_BEAR),
    ("bunny", &BUNNY),
    ("mesh", &MESH),
    ("vertices", &VERTICES),
    ("points", &POINTS),
    ("tets", &TETS),
    ("tube", &TUBE),
    ("roll", &ROLL),
    ("thread", &THREAD),
];

static BOX: Table = Table {
    title: "a box",
    groups: &[&[
        Key::new("size", SIZE, "Width (x), height (y) and depth (z), m.").default("[0.3, 0.3, 0.3]"),
        Key::new(
            "cells",
            ValueKind::List(&ValueKind::Whole(1, 100_000), 3, 3),
            "Cells along x, y and z, each cut into tetrahedra, instead of `spacing` or `particles` of the body.",
        )
        .example("[28, 5, 6]"),
        Key::new(
            "tet_style",
            ValueKind::Word(&["five", "six"]),
            "How a cell is cut: into five tetrahedra, in turns like a chessboard, or into six of one shape.",
        )
        .example("\"six\""),
    ]],
    rules: &[Rule::Needs("tet_style", "cells")],
};

static BALL: Table = Table {
    title: "a ball",
    groups: &[&[Key::new("radius", LENGTH, "Radius, m.").default("0.15")]],
    rules: &[],
};

static TORUS: Table = Table {
    title: "a torus",
    groups: &[&[
        Key::new("major", LENGTH, "Distance of the middle of the tube from the axis (y), m.").default("0.15"),
        Key::new("minor", LENGTH, "Radius of the tube, m; less than `major`.").default("0.06"),
    ]],
    rules: &[],
};

static CYLINDER: Table = Table {
    title: "a cylinder",
    groups: &[&[
        Key::new("radius", LENGTH, "Radius, m.").default("0.12"),
        Key::new("height", LENGTH, "Height (y), m.").default("0.3"),
    ]],
    rules: &[],
};

static CAPSULE: Table = Table {
    title: "a capsule",
    groups: &[&[
        Key::new("radius", LENGTH, "Radius, m.").default("0.1"),
        Key::new("height", LENGTH, "Height (y) from tip to tip, m; at least twice the radius.")
            .default("0.4"),
    ]],
    rules: &[],
};

static SHEET: Table = Table {
    title: "a sheet",
    groups: &[&[
        Key::new("size", ValueKind::List(&LENGTH, 2, 2), "Width (x) and depth (z), m.").default("[1.0, 1.0]"),
        Key::new(
            "cells",
            ValueKind::List(&ValueKind::Whole(1, 10_000), 2, 2),
            "Cells along x and z, instead of `spacing` or `particles` of the body.",
        )
        .example("[20, 20]"),
    ]],
    rules: &[],
};

static GUMMY_BEAR: Table = Table {
    title: "a gummy bear",
    groups: &[&[Key::new("height", LENGTH, "Height from soles to ear tips, m.").default("0.3")]],
    rules: &[],
};

static BUNNY: Table = Table {
    title: "a bunny",
    groups: &[&[Key::new("height", LENGTH, "Height from paws to ear tips, m.").default("0.3")]],
    rules: &[],
};

static MESH: Table = Table {
    title: "a mesh",
    groups: &[
        &[Key::new(
            "file",
            ValueKind::Text,
            "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB. What has an inside is filled with \
             particles, holes or not; the rest is a shell of its vertices.",
        )
        .required()
        .example("\"example.obj\"")],
        FIT,
        OBJECT,
    ],
    rules: &[SCALE_OR_FIT],
};

static VERTICES: Table = Table {
    title: "vertices",
    groups: &[
        &[Key::new(
            "file",
            ValueKind::Text,
            "A mesh, relative to the scene's folder: OBJ, PLY, STL, OFF, glTF or GLB; each vertex is a particle, in its \
             order.",
        )
        .required()
        .example("\"example.obj\"")],
        FIT,
        OBJECT,
    ],
    rules: &[SCALE_OR_FIT],
};

static POINTS: Table = Table {
    title: "points",
    groups: &[
        &[Key::new(
            "file",
            ValueKind::Text,
            "A text file of lines `x y z`, or a mesh, relative to the scene's folder; each point or vertex is a particle.",
        )
        .required()
        .example("\"example.txt\"")],
        FIT,
    ],
    rules: &[SCALE_OR_FIT],
};

static TETS: Table = Table {
    title: "tetrahedra",
    groups: &[&[
        Key::new(
            "file",
            ValueKind::Text,
            "A tetrahedral mesh, relative to the scene's folder: TetGen (.node and .ele), Gmsh (.msh), Medit (.mesh), \
             .vtk or .vtu; each point is a particle.",
        )
        .required()
        .example("\"example.msh\""),
    ],
    FIT,
    ],
    rules: &[SCALE_OR_FIT],
};

static TUBE: Table = Table {
    title: "a tube",
    groups: &[&[
        Key::new("radius", LENGTH, "Radius, m.").default("0.1"),
        Key::new("height", LENGTH, "Height (y), m; it is open above and below.").default("0.3"),
        Key::new(
            "cells",
            ValueKind::List(&ValueKind::Whole(1, 100_000), 2, 2),
            "Cells around and along, instead of `spacing` or `particles` of the body; at least three around.",
        )
        .example("[40, 20]"),
    ]],
    rules: &[],
};

static ROLL: Table = Table {
    title: "a roll",
    groups: &[&[
        Key::new("size", SIZE, "Width (x), height (y) and depth (z) of its innermost turn, an ellipse seen from above, m.")
            .default("[0.2, 0.3, 0.2]"),
        Key::new(
            "turn",
            ValueKind::Number(NumberRange::above(0.0, 36_000.0)),
            "How far the sheet goes round, degrees: above 360 its ends overlap in front (+z), the one that comes from +x on the outside.",
        )
        .default("400.0"),
        Key::new("gap", ValueKind::Number(NumberRange::new(0.0, 1e6)), "How far it grows outwards with every turn, m.").default("0.01"),
        Key::new(
            "cells",
            ValueKind::List(&ValueKind::Whole(1, 100_000), 2, 2),
            "Cells around and along, instead of `spacing` or `particles` of the body.",
        )
        .example("[40, 20]"),
    ]],
    rules: &[],
};

static THREAD: Table = Table {
    title: "a thread",
    groups: &[&[
        Key::new(
            "points",
            ValueKind::List(&VECTOR, 2, 100_000),
            "Its ends and what corners lie between them, m.",
        )
        .default("[[-0.5, 0, 0], [0.5, 0, 0]]"),
        Key::new(
            "segments",
            ValueKind::Whole(1, MOST_PARTICLES as u64 - 1),
            "Straight pieces it is made of, at least one between two points. 50 unless this, or `spacing` or \
             `particles` of the body is given.",
        )
        .example("80"),
    ]],
    rules: &[],
};
