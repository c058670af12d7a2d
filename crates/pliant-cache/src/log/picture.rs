//! How pictures of a run are meant to be taken: part of the header, so that a picture made later from the log
//! alone looks like the one made right after the run.

use super::channel::{LogChannel, find, put};
use pliant_geometry::{CameraMotion, ColorBy, PictureSettings};

/// Appends the channels of the settings.
pub(super) fn encode(picture: &PictureSettings, out: &mut Vec<u8>) {
    put(out, "picture_size", &[&[picture.width, picture.height][..]]);
    put(out, "picture_angles", &[&[picture.azimuth, picture.elevation][..]]);
    put(out, "picture_color_by", &[picture.color_by.name().as_bytes()]);
    put(out, "picture_camera", &[picture.camera.name().as_bytes()]);
}

/// What is missing or unknown gets its default: pictures are no reason to refuse a log.
pub(super) fn decode(channels: &[LogChannel<'_>]) -> Result<PictureSettings, String> {
    let mut picture = PictureSettings::default();
    if let Some(c) = find(channels, "picture_size")
        && let [width, height] = c.values::<u32>()?[..]
    {
        (picture.width, picture.height) = (width, height);
    }
    if let Some(c) = find(channels, "picture_angles")
        && let [azimuth, elevation] = c.values::<f64>()?[..]
    {
        (picture.azimuth, picture.elevation) = (azimuth, elevation);
    }
    if let Some(c) = find(channels, "picture_color_by") {
        picture.color_by = ColorBy::named(&c.text()?).unwrap_or_default();
    }
    if let Some(c) = find(channels, "picture_camera") {
        picture.camera = CameraMotion::named(&c.text()?).unwrap_or_default();
    }
    Ok(picture)
}
