//! Inside and outside by the winding number: of a closed mesh, of one with holes, of a soup; and how near the
//! hierarchical number is to the exact sum.

use super::{Definition, Failure, Figure};
use crate::metrics::{distribution, largest};
use crate::plot::{Panel, Plot, Style};
use pliant::{DQuat, DVec3};
use pliant_cache::render::{ColorMap, Image};
use pliant_geometry::shapes::SolidShape;
use pliant_geometry::{SplitMix64, TriMesh, Winding};

const CLOSED: &str = "closed";
const HOLED: &str = "3 % removed";
const TORN: &str = "30 % removed";
const SOUP: &str = "soup";
const REMOVED: &str = "triangles removed at random";
const SHARES: [f64; 8] = [0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5];
/// Panels after the slices.
const ERRORS: usize = 4;
const RIGHT: usize = 5;
/// Points compared with the exact sum, and points whose side is decided.
const EXACT: usize = 1000;
const DECIDED: usize = 20_000;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "winding",
        about: "Slices through the winding number of a closed, a holed and a soup mesh, and its error",
    },
    run,
    metrics: &[
        ("largest_error", |p| {
            largest(&[CLOSED, HOLED, TORN, SOUP].map(|name| largest(&p.values(ERRORS, name))))
        }),
        ("holed_right", |p| {
            let found = p.points(RIGHT, REMOVED).iter().find(|q| q.0 == 3.0);
            found.map_or(f64::NAN, |q| q.1)
        }),
        ("soup_right", |p| p.values(RIGHT, SOUP).first().copied().unwrap_or(f64::NAN)),
    ],
};

fn run() -> Result<Plot, Failure> {
    let bear = SolidShape::GummyBear { height: 1.0 }.build(0.04)?.surface;
    let Some((lo, hi)) = TriMesh::bounds(&bear.positions) else {
        return Err("a bear without a surface".into());
    };
    let air = 0.12 * (hi - lo).max_element();
    let mut rng = SplitMix64::new(3);
    let mut place = || lo - air + (hi - lo + 2.0 * air) * DVec3::new(rng.unit(), rng.unit(), rng.unit());
    let points: Vec<DVec3> = (0..DECIDED).map(|_| place()).collect();
    let truth = sides(&Winding::new(&bear), &points);

    let mut errors =
        Panel::new("Error of the hierarchical number", "share of points", "|difference from the exact sum|")
            .y_log();
    let mut slices = Vec::new();
    let soup = soup(&bear);
    let mut soup_right = f64::NAN;
    for (name, mesh) in
        [(CLOSED, bear.clone()), (HOLED, holed(&bear, 0.03)), (TORN, holed(&bear, 0.3)), (SOUP, soup)]
    {
        let winding = Winding::new(&mesh);
        let near = &points[..EXACT];
        let numbers = winding.numbers(near, 2);
        let off = numbers.iter().zip(near).map(|(n, &p)| (n - exact(&mesh, p)).abs());
        errors = errors.line(name, Style::Solid, distribution(off.collect(), 200));
        let right = agreement(&truth, &sides(&winding, &points));
        if name == SOUP {
            soup_right = right;
        }
        let title = format!("{name}: {} triangles", mesh.triangles.len());
        let wrong = ((1.0 - right) * DECIDED as f64).round();
        let note = format!("{wrong} of {DECIDED} points decided otherwise than by the closed mesh");
        slices.push(Panel::image(title, note, slice(&winding, lo - air, hi + air)));
    }
    let decided = SHARES.map(|share| {
        let mesh = holed(&bear, share);
        (100.0 * share, agreement(&truth, &sides(&Winding::new(&mesh), &points)))
    });
    let title = "Points on the right side of the surface";
    let right = Panel::new(title, "triangles removed (%)", "share of points in the box")
        .line(REMOVED, Style::Marked, decided.to_vec())
        .line(SOUP, Style::Dashed, vec![(0.0, soup_right), (50.0, soup_right)]);
    slices.extend([errors, right]);
    let title = "Winding number in a slice: blue 0, red 1, black line ½";
    Ok(Plot { panels: slices, ..Plot::new(title) })
}

/// Whether points are inside.
fn sides(winding: &Winding, points: &[DVec3]) -> Vec<bool> {
    winding.numbers(points, 2).iter().map(|n| *n > 0.5).collect()
}

fn agreement(a: &[bool], b: &[bool]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}

/// The mesh without a random share of its triangles.
fn holed(mesh: &TriMesh, share: f64) -> TriMesh {
    let mut rng = SplitMix64::new(17);
    let triangles = mesh.triangles.iter().copied().filter(|_| rng.unit() >= share).collect();
    TriMesh { positions: mesh.positions.clone(), triangles }
}

/// Every triangle on its own, moved and turned by up to half of its size.
fn soup(mesh: &TriMesh) -> TriMesh {
    let mut rng = SplitMix64::new(29);
    let mut random = || 2.0 * DVec3::new(rng.unit(), rng.unit(), rng.unit()) - DVec3::ONE;
    let mut soup = TriMesh::default();
    for t in &mesh.triangles {
        let corners = t.map(|i| mesh.positions[i as usize]);
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let size = corners[0].distance(corners[1]);
        let (shift, turn) = (0.5 * size * random(), DQuat::from_scaled_axis(0.5 * random()));
        let first = soup.positions.len() as u32;
        soup.positions.extend(corners.map(|p| middle + shift + turn * (p - middle)));
        soup.triangles.push([first, first + 1, first + 2]);
    }
    soup
}

/// The sum of all solid angles (van Oosterom and Strackee 1983) over the full one.
fn exact(mesh: &TriMesh, p: DVec3) -> f64 {
    let angle = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize] - p);
        let [la, lb, lc] = [a, b, c].map(DVec3::length);
        let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * a.dot(b.cross(c)).atan2(below)
    };
    mesh.triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// The number in the middle plane of a box, with a line where it is a half.
fn slice(winding: &Winding, lo: DVec3, hi: DVec3) -> Image {
    let size = hi - lo;
    let height = 360usize;
    let step = size.y / height as f64;
    let width = (size.x / step) as usize;
    let z = 0.5 * (lo.z + hi.z);
    let at = |k: usize| {
        let (x, y) = ((k % width) as f64 + 0.5, (k / width) as f64 + 0.5);
        DVec3::new(lo.x + x * step, hi.y - y * step, z)
    };
    let numbers = winding.numbers(&(0..width * height).map(at).collect::<Vec<_>>(), 2);
    let mut image = Image::filled(width as u32, height as u32, [255; 3]);
    for (k, pixel) in image.rgb.chunks_exact_mut(3).enumerate() {
        let here = numbers[k];
        let (x, y) = (k % width, k / width);
        let next = [(x + 1 < width, k + 1), (y + 1 < height, k + width)];
        let step = next.map(|(inside, j)| if inside { numbers[j] - here } else { 0.0 });
        // Distance to the line in pixels, as far as the slope tells.
        let slope = step[0].hypot(step[1]).max(1e-9);
        let ink = (1.4 - (here - 0.5).abs() / slope).clamp(0.0, 1.0) as f32;
        let color = ColorMap::Diverging.at(0.1 + 0.8 * here);
        for (byte, part) in pixel.iter_mut().zip(color) {
            *byte = (255.0 * part * (1.0 - ink)).round() as u8;
        }
    }
    image
}
