//! Meshes and particles as renderings on white.

use pliant::DVec3;
use pliant::shapes::Shape;
use pliant_cache::render::{
    Backdrop, Camera, Colors, Image, Look, Plane, RenderItem, RenderSettings, render,
};
use pliant_geometry::Skin;

/// Colours of renderings (sRGB), the palette of the diagrams made paler.
pub const BODY: [f32; 3] = [0.56, 0.72, 0.84];
pub const ORANGE: [f32; 3] = [0.90, 0.45, 0.05];
pub const GREEN: [f32; 3] = [0.0, 0.62, 0.45];
pub const PINK: [f32; 3] = [0.80, 0.38, 0.62];
pub const YELLOW: [f32; 3] = [0.95, 0.75, 0.25];
pub const RED: [f32; 3] = [0.80, 0.05, 0.05];
pub const INK: [f32; 3] = [0.16, 0.18, 0.20];

/// Items seen from the angles of [`Camera::fit`] so that the points of `frame` fit, cut to what is not white.
pub fn picture(items: &[RenderItem<'_>], frame: &[DVec3], azimuth: f64, elevation: f64) -> Image {
    picture_of_size(1000, items, frame, (azimuth, elevation))
}

/// The same, of so many pixels each way before it is cut.
pub fn picture_of_size(
    size: u32,
    items: &[RenderItem<'_>],
    frame: &[DVec3],
    (azimuth, elevation): (f64, f64),
) -> Image {
    let backdrop = Backdrop::plain([1.0; 3]);
    let settings =
        RenderSettings { samples: 2, backdrop, dither: false, ..RenderSettings::sized(size, size) };
    let camera = Camera::fit_points(frame, 1.0, azimuth, elevation);
    let mut image = render(items, &[], &camera, &settings);
    // The backdrop darkens toward the corners; the page does not.
    let empty = render(&[], &[], &camera, &settings);
    for (pixel, behind) in image.rgb.chunks_exact_mut(3).zip(empty.rgb.chunks_exact(3)) {
        if pixel == behind {
            pixel.fill(255);
        }
    }
    trimmed(&image)
}

/// Items on the ground (y = 0) before the backdrop, seen so that the points of `frame` fit: the same frame for several
/// moments lets them be compared.
pub fn on_the_ground(items: &[RenderItem<'_>], frame: &[DVec3], azimuth: f64, elevation: f64) -> Image {
    let settings = RenderSettings { samples: 2, dither: false, ..RenderSettings::sized(960, 800) };
    let camera = Camera::fit_points(frame, 1.2, azimuth, elevation);
    render(items, &[Plane { normal: DVec3::Y, offset: 0.0 }], &camera, &settings)
}

/// Where a skin is when the particles are there.
pub fn carried(skin: &Skin, points: &[DVec3]) -> Vec<DVec3> {
    let [x, y, z]: [Vec<f64>; 3] = [0, 1, 2].map(|k| points.iter().map(|p| p[k]).collect());
    let mut vertices = Vec::new();
    skin.apply([&x, &y, &z], &mut vertices);
    vertices
}

/// A body of gelatine with its particles at `points`, on the ground.
pub fn jelly(shape: &Shape, points: &[DVec3], frame: &[DVec3], color: [f32; 3], from: (f64, f64)) -> Image {
    let positions = carried(&shape.skin, points);
    let (triangles, colors) = (&shape.surface.triangles, Colors::Uniform(color));
    let item = RenderItem::Mesh { positions: &positions, triangles, colors, look: Look::Jelly };
    on_the_ground(&[item], frame, from.0, from.1)
}

/// The picture without white rows and columns around it.
fn trimmed(image: &Image) -> Image {
    let inked = |x: u32, y: u32| image.pixel(x, y).is_some_and(|p| p != [255; 3]);
    let column = |x: &u32| (0..image.height).any(|y| inked(*x, y));
    let row = |y: &u32| (0..image.width).any(|x| inked(x, *y));
    let (Some(left), Some(right)) = ((0..image.width).find(column), (0..image.width).rfind(column)) else {
        return image.clone();
    };
    let (Some(top), Some(bottom)) = ((0..image.height).find(row), (0..image.height).rfind(row)) else {
        return image.clone();
    };
    let mut cut = Image::filled(right - left + 1, bottom - top + 1, [255; 3]);
    let rows = image.rgb.chunks_exact(3 * image.width as usize).skip(top as usize);
    for (to, from) in cut.rgb.chunks_exact_mut(3 * (right - left + 1) as usize).zip(rows) {
        to.copy_from_slice(&from[3 * left as usize..3 * (right + 1) as usize]);
    }
    cut
}

/// Triangles with a colour each, which show as flat facets.
#[derive(Default)]
pub struct FlatTriangles {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    colors: Vec<[f32; 3]>,
}

impl FlatTriangles {
    /// Triangles over points, coloured by their number.
    pub fn new(points: &[DVec3], triangles: &[[u32; 3]], color: impl Fn(usize) -> [f32; 3]) -> FlatTriangles {
        let mut facets = FlatTriangles::default();
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

    pub fn item(&self) -> RenderItem<'_> {
        let colors = Colors::PerVertex(&self.colors);
        RenderItem::Mesh { positions: &self.positions, triangles: &self.triangles, colors, look: Look::Matte }
    }
}

/// Thin rods along edges.
pub fn rods<'a>(
    positions: &'a [DVec3],
    edges: &'a [[u32; 2]],
    radius: f64,
    color: [f32; 3],
) -> RenderItem<'a> {
    RenderItem::Lines { positions, segments: edges, radius, colors: Colors::Uniform(color) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_cut_to_what_is_in_them() {
        let mut image = Image::filled(8, 6, [255; 3]);
        image.blend(2, 3, [10, 20, 30], 1.0);
        image.blend(4, 4, [40, 50, 60], 1.0);
        let cut = trimmed(&image);
        assert_eq!((cut.width, cut.height), (3, 2));
        assert_eq!((cut.pixel(0, 0), cut.pixel(2, 1)), (Some([10, 20, 30]), Some([40, 50, 60])));
        assert_eq!(trimmed(&Image::filled(3, 3, [255; 3])).width, 3, "nothing in it");
    }
}
