//! How pictures of a run are meant to be taken: part of the header, so that a picture made later from the log
//! alone looks like the one made right after the run.

use super::channel::{Channel, find, put};
use crate::render::CameraMotion;

/// What colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    /// The body's own colour.
    #[default]
    Body,
    /// Relative deformation.
    Strain,
    /// The nearest cluster.
    Cluster,
    /// Speed.
    Speed,
}

impl ColorBy {
    /// All of them.
    pub const ALL: [ColorBy; 4] = [ColorBy::Body, ColorBy::Strain, ColorBy::Cluster, ColorBy::Speed];

    /// Name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ColorBy::Body => "body",
            ColorBy::Strain => "strain",
            ColorBy::Cluster => "cluster",
            ColorBy::Speed => "speed",
        }
    }
}

/// Size, camera and colours of pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogPicture {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// What colours show.
    pub color_by: ColorBy,
    /// Direction of the camera around the scene, degrees; 0 looks along −z.
    pub azimuth: f64,
    /// Height of the camera, degrees above the horizon.
    pub elevation: f64,
    /// Whether the camera goes along with what it shows.
    pub camera: CameraMotion,
}

impl Default for LogPicture {
    fn default() -> Self {
        LogPicture {
            width: 480,
            height: 360,
            color_by: ColorBy::Body,
            azimuth: 25.0,
            elevation: 15.0,
            camera: CameraMotion::Auto,
        }
    }
}

impl LogPicture {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put(out, "picture_size", &[&[self.width, self.height][..]]);
        put(out, "picture_angles", &[&[self.azimuth, self.elevation][..]]);
        put(out, "picture_color_by", &[self.color_by.name().as_bytes()]);
        put(out, "picture_camera", &[self.camera.name().as_bytes()]);
    }

    /// What is missing or unknown gets its default: pictures are no reason to refuse a log.
    pub(super) fn decode(channels: &[Channel<'_>]) -> Result<LogPicture, String> {
        let mut picture = LogPicture::default();
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
            let name = c.text()?;
            let known = ColorBy::ALL.into_iter().find(|c| c.name() == name);
            picture.color_by = known.unwrap_or_default();
        }
        if let Some(c) = find(channels, "picture_camera") {
            let name = c.text()?;
            let known = CameraMotion::ALL.into_iter().find(|c| c.name() == name);
            picture.camera = known.unwrap_or_default();
        }
        Ok(picture)
    }
}
