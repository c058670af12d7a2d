//! Keys of `[output]`: which files are written, and how often a checkpoint.

use crate::format::{Key, Table, ValueKind};

/// What is written.
pub(crate) static OUTPUT: Table = Table {
    title: "[output]",
    groups: &[&[
        Key::new(
            "files",
            ValueKind::List(&ValueKind::Text, 0, 1000),
            "Files to write, relative to the scene's folder; the ending chooses the format.",
        )
        .default("[]")
        .example("[\"bear.gif\", \"bear.usda\"]")
        .also(&["file", "outputs"]),
        Key::new(
            "checkpoint_every",
            ValueKind::Whole(1, 10_000_000),
            "Frames between two checkpoints, from which a broken-off run resumes.",
        )
        .default("30"),
    ]],
    rules: &[],
};
