//! A fine surface that sticks out of its cage of tetrahedra, twisted and squashed: by weights of the nearest element, which reach
//! outside and blow up, and as it is bound ("The Point Cloud Glue", section 5, embeddings).

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, RED, carried, picture_of_size};
use pliant::shapes::{Shape, TetStyle, tet_box};
use pliant::{DMat3, DQuat, DVec3};
use pliant_cache::render::{Colors, Image, Look, RenderItem};
use pliant_geometry::{Skin, SkinBinding, TriMesh};
use std::f64::consts::PI;

/// The panel after the pictures.
const LENGTHS: usize = 3;
const REACHING: &str = "weights that reach outside: longest edge";
const EDGE: &str = "as bound: longest edge";
const LONGEST: &str = "as bound: longest";
const SHORTEST: &str = "as bound: shortest";
/// Rings of a spike, four vertices each, and how long it is.
const RINGS: u32 = 12;
const LENGTH: f64 = 0.32;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "embedding",
        about: "A surface that sticks out of its cage, twisted and squashed: by weights and as bound",
    },
    run,
    metrics: &[
        ("longest", |p| largest(&p.values(LENGTHS, LONGEST))),
        ("shortest", |p| smallest(&p.values(LENGTHS, SHORTEST))),
        ("reaching_over_bound", |p| {
            largest(&p.values(LENGTHS, REACHING)) / largest(&p.values(LENGTHS, EDGE))
        }),
    ],
};

/// A round bar about y and spikes on it all around; where each spike's vertices begin.
fn brush() -> (TriMesh, Vec<usize>) {
    let mut mesh = TriMesh::default();
    let (around, along) = (32, 60);
    for j in 0..=along {
        for i in 0..around {
            let (s, c) = (2.0 * PI * f64::from(i) / f64::from(around)).sin_cos();
            let y = f64::from(j) / f64::from(along) - 0.5;
            mesh.positions.push(DVec3::new(0.085 * c, 0.96 * y, 0.085 * s));
        }
    }
    tube(&mut mesh, 0, around, along);
    let mut spikes = Vec::new();
    for k in 0..24 {
        let (s, c) = (2.4 * f64::from(k)).sin_cos();
        let (out, across) = (DVec3::new(c, 0.0, s), DVec3::new(-s, 0.0, c));
        let foot = DVec3::Y * (0.9 * (f64::from(k) + 0.5) / 24.0 - 0.45) + 0.08 * out;
        let first = mesh.positions.len();
        spikes.push(first);
        for ring in 0..=RINGS {
            let t = f64::from(ring) / f64::from(RINGS);
            let wide = 0.016 * (1.0 - 0.9 * t);
            let corners = [across, DVec3::Y, -across, -DVec3::Y];
            mesh.positions.extend(corners.map(|d| foot + t * LENGTH * out + wide * d));
        }
        tube(&mut mesh, first as u32, 4, RINGS);
    }
    (mesh, spikes)
}

fn tube(mesh: &mut TriMesh, first: u32, around: u32, along: u32) {
    for j in 0..along {
        for i in 0..around {
            let at = |i: u32, j: u32| first + j * around + i % around;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
}

/// Vertices by barycentric weights of the element that reaches them with the least negative ones.
fn reaching(cage: &Shape, vertices: &[DVec3]) -> Vec<([u32; 4], [f64; 4])> {
    let weights = |t: &[u32; 4], p: DVec3| {
        let [a, b, c, d] = t.map(|i| cage.points[i as usize]);
        let [u, v, w] = (DMat3::from_cols(b - a, c - a, d - a).inverse() * (p - a)).to_array();
        [1.0 - u - v - w, u, v, w]
    };
    let least = |w: [f64; 4]| w.into_iter().fold(f64::INFINITY, f64::min);
    let best = |p: &DVec3| {
        let each = cage.tetrahedra.iter().map(|t| (*t, weights(t, *p)));
        each.max_by(|a, b| least(a.1).total_cmp(&least(b.1))).unwrap_or_default()
    };
    vertices.iter().map(best).collect()
}

/// Twisted by half a turn and squashed across to a third, the whole of it by `t` = 1.
fn moved(t: f64) -> impl Fn(DVec3) -> DVec3 {
    move |p| DQuat::from_rotation_y(t * PI * p.y) * p * DVec3::new(1.0, 1.0, 1.0 - 0.67 * t)
}

/// How much the most stretched edge of the spikes is stretched, and the longest and the shortest of them outside the cage, all over
/// how long they are at rest.
fn lengths(vertices: &[DVec3], rest: &[DVec3], spikes: &[usize]) -> [f64; 3] {
    let middle = |x: &[DVec3], ring: usize| x[ring..ring + 4].iter().sum::<DVec3>() / 4.0;
    let tip = 4 * RINGS as usize;
    let length = |x: &[DVec3], first: usize| middle(x, first + 4 * 2).distance(middle(x, first + tip));
    let each: Vec<f64> = spikes.iter().map(|s| length(vertices, *s) / length(rest, *s)).collect();
    // From ring to ring.
    let along = spikes.iter().flat_map(|s| *s..*s + tip);
    let edges: Vec<f64> =
        along.map(|v| vertices[v].distance(vertices[v + 4]) / rest[v].distance(rest[v + 4])).collect();
    [largest(&edges), largest(&each), smallest(&each)]
}

fn drawn(mesh: &TriMesh, positions: &[DVec3], spikes: &[usize], frame: &[DVec3]) -> Image {
    let color = |v: usize| if spikes.first().is_some_and(|first| v >= *first) { RED } else { BODY };
    let colors: Vec<[f32; 3]> = (0..positions.len()).map(color).collect();
    let colors = Colors::PerVertex(&colors);
    let item = RenderItem::Mesh { positions, triangles: &mesh.triangles, colors, look: Look::Matte };
    picture_of_size(420, &[item], frame, (20.0, 12.0))
}

fn run() -> Result<Plot, Failure> {
    let cage = tet_box([2, 8, 2], DVec3::new(0.2, 1.0, 0.2), TetStyle::Five)?;
    let (mesh, spikes) = brush();
    let by_weights = reaching(&cage, &mesh.positions);
    let skin = Skin::bind_to(SkinBinding::Tetrahedra, &cage, None, &mesh.positions)?;
    let at = |t: f64| {
        let points: Vec<DVec3> = cage.points.iter().map(|p| moved(t)(*p)).collect();
        let far = by_weights.iter().map(|(t, w)| (0..4).map(|k| w[k] * points[t[k] as usize]).sum());
        (far.collect::<Vec<DVec3>>(), carried(&skin, &points))
    };
    let mut lines: [Vec<(f64, f64)>; 4] = Default::default();
    for k in 0..=20 {
        let t = f64::from(k) / 20.0;
        let (far, bound) = at(t);
        let [torn, ..] = lengths(&far, &mesh.positions, &spikes);
        let [edge, longest, shortest] = lengths(&bound, &mesh.positions, &spikes);
        lines.iter_mut().zip([torn, edge, longest, shortest]).for_each(|(line, v)| line.push((t, v)));
    }
    let (far, bound) = at(1.0);
    let frame: Vec<DVec3> = mesh.positions.iter().chain(&bound).copied().collect();
    let mut panels = vec![
        Panel::image(
            "At rest",
            format!(
                "{} vertices on {} tetrahedra; red is what sticks out",
                mesh.positions.len(),
                cage.tetrahedra.len()
            ),
            drawn(&mesh, &mesh.positions, &spikes, &frame),
        ),
        Panel::image(
            "By weights that reach outside",
            "twisted, and squashed to a third",
            drawn(&mesh, &far, &spikes, &frame),
        ),
        Panel::image(
            "As it is bound",
            "inside by weights, outside by best-fit frames",
            drawn(&mesh, &bound, &spikes, &frame),
        ),
    ];
    let title = "Length of the spikes, and of their edges";
    let mut panel = Panel::new(title, "twisted and squashed by", "over their length at rest");
    for (name, line) in [REACHING, EDGE, LONGEST, SHORTEST].into_iter().zip(lines) {
        panel = panel.line(name, Style::Solid, line);
    }
    panels.push(panel);
    Ok(Plot { panels, ..Plot::new("A surface that sticks out of its cage") })
}
