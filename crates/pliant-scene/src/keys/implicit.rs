//! Keys of `[implicit]`: how implicit solvers take a step.

use crate::format::{Key, NumberRange, Table, ValueKind};

/// How implicit steps are taken.
pub(crate) static IMPLICIT: Table = Table {
    title: "[implicit]",
    groups: &[&[
        Key::new(
            "implicitness",
            ValueKind::Number(NumberRange::new(0.5, 1.0)),
            "1 is implicit Euler, which damps; 0.5 the midpoint rule, which keeps energy and momentum; a little \
             above 0.5 is lively and still calm where things are stiff.",
        )
        .default("1.0")
        .also(&["theta"]),
        Key::new(
            "acceleration",
            ValueKind::Word(&["none", "lbfgs", "anderson"]),
            "Fewer iterations to the same end, with the plain step to fall back on (projective solver, where \
             nothing touches a plane).",
        )
        .default("\"none\""),
        Key::new(
            "tolerance",
            ValueKind::Number(NumberRange::new(0.0, 0.999)),
            "Iterations end when one lowers the objective by less than this part of what all have so far; 0 does \
             all of `iterations`.",
        )
        .default("0.0"),
        Key::new(
            "warm_start",
            ValueKind::Word(&["prediction", "last"]),
            "Where iterations begin: where inertia leads, or at the last positions, which damps more.",
        )
        .default("\"prediction\""),
        Key::new(
            "mass",
            ValueKind::Word(&["lumped", "consistent"]),
            "Mass at the particles, or spread as the shape functions of tetrahedra and triangles say.",
        )
        .default("\"lumped\""),
    ]],
    rules: &[],
};
