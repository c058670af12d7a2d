//! Keys of `[picture]`: size, colours and camera.

use crate::format::{Key, NumberRange, Table, ValueKind};
use pliant_geometry::{CameraMotion, ColorBy};

/// How pictures are taken.
pub(crate) static PICTURE: Table = Table {
    title: "[picture]",
    groups: &[&[
        Key::new("width", ValueKind::Whole(16, 8192), "Width in pixels.").default("640"),
        Key::new("height", ValueKind::Whole(16, 8192), "Height in pixels.").default("480"),
        Key::new("color_by", ValueKind::Word(ColorBy::NAMES), "What colours show.")
            .default("\"body\"")
            .also(&["colour_by"]),
        Key::new(
            "azimuth",
            ValueKind::Number(NumberRange::new(-360.0, 360.0)),
            "Direction of the camera around the scene, degrees; 0 looks along -z.",
        )
        .default("25"),
        Key::new(
            "elevation",
            ValueKind::Number(NumberRange::new(-89.0, 89.0)),
            "Height of the camera, degrees above the horizon.",
        )
        .default("15"),
        Key::new(
            "camera",
            ValueKind::Word(CameraMotion::NAMES),
            "Whether the camera goes along with what moves, or stands where all of the run is in the picture; auto follows \
             what would be small.",
        )
        .default("\"auto\""),
    ]],
    rules: &[],
};
