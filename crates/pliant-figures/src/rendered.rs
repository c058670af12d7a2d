//! Meshes and particles as renderings on white.

use pliant::DVec3;
use pliant_cache::render::{Backdrop, Camera, Colors, Image, Item, Look, Settings, render};

/// Colours of renderings (sRGB), the palette of the diagrams made paler.
pub const BODY: [f32; 3] = [0.56, 0.72, 0.84];
pub const ORANGE: [f32; 3] = [0.90, 0.45, 0.05];
pub const GREEN: [f32; 3] = [0.0, 0.62, 0.45];
pub const PINK: [f32; 3] = [0.80, 0.38, 0.62];
pub const YELLOW: [f32; 3] = [0.95, 0.75, 0.25];
pub const RED: [f32; 3] = [0.80, 0.05, 0.05];
pub const INK: [f32; 3] = [0.16, 0.18, 0.20];

/// What is in a rendering, seen so that `frame` fills it. Angles are those of [`Camera::fit`].
pub fn picture(items: &[Item<'_>], frame: &[DVec3], azimuth: f64, elevation: f64) -> Image {
    let settings = Settings {
        samples: 2,
        backdrop: Backdrop::plain([1.0; 3]),
        dither: false,
        ..Settings::sized(860, 720)
    };
    let camera = Camera::fit_points(frame, 860.0 / 720.0, azimuth, elevation);
    render(items, &[], &camera, &settings)
}

/// Triangles with a colour each, which show as flat facets.
#[derive(Default)]
pub struct Facets {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    colors: Vec<[f32; 3]>,
}

impl Facets {
    /// Triangles over points, coloured by their number.
    pub fn new(points: &[DVec3], triangles: &[[u32; 3]], color: impl Fn(usize) -> [f32; 3]) -> Facets {
        let mut facets = Facets::default();
        for (k, t) in triangles.iter().enumerate() {
            facets.push(t.map(|i| points[i as usize]), color(k));
        }
        facets
    }

    /// One more.
    pub fn push(&mut self, corners: [DVec3; 3], color: [f32; 3]) {
        let first = self.positions.len() as u32;
        self.positions.extend(corners);
        self.triangles.push([first, first + 1, first + 2]);
        self.colors.extend([color; 3]);
    }

    pub fn item(&self) -> Item<'_> {
        let colors = Colors::PerVertex(&self.colors);
        Item::Mesh { positions: &self.positions, triangles: &self.triangles, colors, look: Look::Matte }
    }
}

/// Thin rods along edges.
pub fn rods<'a>(positions: &'a [DVec3], edges: &'a [[u32; 2]], radius: f64, color: [f32; 3]) -> Item<'a> {
    Item::Lines { positions, segments: edges, radius, colors: Colors::Uniform(color) }
}
