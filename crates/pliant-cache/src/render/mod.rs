//! Pictures without a display: a small CPU renderer, and the GIF, PNG, animated PNG and contact sheets made with it.
//!
//! The scene is plain borrowed data ([`RenderItem`], [`Plane`]); [`render`] turns it into an [`Image`]. Work is cut
//! into fixed bands of rows and fixed shadow maps, so the picture has the same bits for any thread count.

mod apng;
mod backdrop;
mod camera;
mod font;
mod gif;
mod image;
mod light_map;
mod lighting;
mod palette;
mod path;
mod png;
mod quantize;
mod raster;
mod scene;
mod shade;
mod shadow;
mod sheet;
mod surface;
mod text;
mod thickness;
mod tone;

#[cfg(test)]
mod tests;

pub(crate) use apng::write_apng;
pub use backdrop::Backdrop;
pub(crate) use backdrop::round_spacing;
pub use camera::Camera;
pub(crate) use gif::{GifError, frame_stride, write_gif};
pub use image::Image;
pub use palette::{ColorMap, body_color, draw_legend};
pub(crate) use palette::{categorical, map_colors, neighbour_colors};
pub use path::{CameraPath, CameraPlanner};
pub use pliant_geometry::{CameraMotion, Look};
pub(crate) use png::write_png_by;
pub use png::{encode_png, write_png};
pub(crate) use sheet::{busy_frames, contact_sheet, sheet_frames};
pub(crate) use text::{draw_text, text_size};

use glam::DVec3;
use pliant_geometry::parallel;

/// Colours of an item, as sRGB values in 0..=1 (the numbers a colour picker or a web page shows).
#[derive(Clone, Copy, Debug)]
pub enum Colors<'a> {
    /// One colour for the whole item.
    Uniform([f32; 3]),
    /// One colour for each vertex or point; where the slice is too short its last colour is repeated.
    PerVertex(&'a [[f32; 3]]),
}

/// One thing to draw.
#[derive(Clone, Copy, Debug)]
pub enum RenderItem<'a> {
    /// A triangle mesh; triangles with a missing or non-finite vertex are skipped.
    Mesh {
        /// Vertex positions.
        positions: &'a [DVec3],
        /// Vertex indices, counter-clockwise seen from outside.
        triangles: &'a [[u32; 3]],
        /// Colours of the vertices.
        colors: Colors<'a>,
        /// Material.
        look: Look,
    },
    /// A sphere at each point, for point clouds and clusters; non-finite points are skipped.
    Points {
        /// Centres.
        positions: &'a [DVec3],
        /// Radius of every sphere, in scene units.
        radius: f64,
        /// Colours of the points.
        colors: Colors<'a>,
    },
    /// Straight rods with round ends, for edges, links and bones; rods with a bad end are skipped.
    Lines {
        /// End points.
        positions: &'a [DVec3],
        /// Pairs of indices into `positions`.
        segments: &'a [[u32; 2]],
        /// Radius of every rod, in scene units.
        radius: f64,
        /// Colours of the end points.
        colors: Colors<'a>,
    },
}

/// The boundary of the half-space `normal · x >= offset`: a ground, a wall or a slope.
///
/// Drawn as a large sheet that fades into the backdrop, with a faint grid and the shadows of the items. Planes
/// seen from behind (the camera outside the half-space) are left out, so a wall never hides the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Direction into the free half; need not be of unit length.
    pub normal: DVec3,
    /// Position along the normal, in the same scale as `normal`.
    pub offset: f64,
}

/// What does not belong to the scene: size of the picture, quality, backdrop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderSettings {
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Samples along each side of a pixel (1 to 8): 2 means 2×2 samples.
    pub samples: u32,
    /// Colours behind and below everything.
    pub backdrop: Backdrop,
    /// Brightness factor; 1 is the normal exposure.
    pub exposure: f32,
    /// Distance between grid lines on planes in scene units; `None` picks a round number, zero draws none.
    pub grid: Option<f64>,
    /// Hide banding by a fixed pattern of half an 8-bit step. Off for GIF, which dithers on its own.
    pub dither: bool,
    /// Threads to use; 0 means as many as the machine has. The picture does not depend on it.
    pub threads: usize,
}

impl Default for RenderSettings {
    fn default() -> RenderSettings {
        RenderSettings {
            width: 640,
            height: 480,
            samples: 3,
            backdrop: Backdrop::light(),
            exposure: 1.0,
            grid: None,
            dither: true,
            threads: 0,
        }
    }
}

impl RenderSettings {
    /// Default settings at another size.
    pub fn sized(width: u32, height: u32) -> RenderSettings {
        RenderSettings { width, height, ..RenderSettings::default() }
    }
}

/// More would have no bands of the picture left to draw.
const MAX_THREADS: usize = 64;
/// Largest side of a picture; beyond it sizes are clamped rather than memory exhausted.
const MAX_SIDE: u32 = 16384;

/// Draws the items and planes as seen by the camera.
///
/// Never fails: what cannot be drawn (non-finite, degenerate, behind the camera) is left out.
pub fn render(items: &[RenderItem], planes: &[Plane], camera: &Camera, settings: &RenderSettings) -> Image {
    let width = settings.width.clamp(1, MAX_SIDE);
    let height = settings.height.clamp(1, MAX_SIDE);
    let settings = RenderSettings { width, height, samples: settings.samples.clamp(1, 8), ..*settings };
    let view = camera::CameraView::new(camera, &settings);
    let scene = scene::RenderScene::new(items, planes, &view);
    let threads = parallel::thread_count(settings.threads).min(MAX_THREADS);
    let light = lighting::Lighting::new(&scene, &view, threads);
    raster::draw(&scene, &light, &view, &settings, threads)
}
