//! Draws a few still lifes and a short animation with the CPU renderer, to look at.
//!
//! `cargo run --release -p pliant-cache --example studio -- DIR`

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use glam::DVec3;
use pliant_cache::render::*;

/// Surface of a field (negative inside) by marching tetrahedra.
fn march(low: DVec3, high: DVec3, n: usize, field: impl Fn(DVec3) -> f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let m = n + 1;
    let at = |i: usize| {
        let f = DVec3::new((i % m) as f64, (i / m % m) as f64, (i / m / m) as f64) / n as f64;
        low + (high - low) * f
    };
    let values: Vec<f64> = (0..m * m * m).map(|i| field(at(i))).collect();
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    let mut known: HashMap<(usize, usize), u32> = HashMap::new();
    for cell in 0..n * n * n {
        let base = cell % n + (cell / n % n) * m + cell / n / n * m * m;
        let corner = |k: usize| base + (k & 1) + (k >> 1 & 1) * m + (k >> 2 & 1) * m * m;
        for path in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            let tet = [corner(0), corner(path[0]), corner(path[1]), corner(7)];
            let (inside, outside): (Vec<usize>, Vec<usize>) = tet.iter().partition(|v| values[**v] < 0.0);
            let mut cut = |a: usize, b: usize| {
                *known.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let t = (values[a] / (values[a] - values[b])).clamp(0.01, 0.99);
                    points.push(at(a).lerp(at(b), t));
                    points.len() as u32 - 1
                })
            };
            let mut polygon = Vec::new();
            match (inside.as_slice(), outside.as_slice()) {
                ([a], [b, c, d]) | ([b, c, d], [a]) => polygon.push([cut(*a, *b), cut(*a, *c), cut(*a, *d)]),
                ([a, b], [c, d]) => {
                    let q = [cut(*a, *c), cut(*a, *d), cut(*b, *d), cut(*b, *c)];
                    polygon.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
                }
                _ => {}
            }
            let out = outside.iter().map(|v| at(*v)).sum::<DVec3>() / outside.len().max(1) as f64
                - inside.iter().map(|v| at(*v)).sum::<DVec3>() / inside.len().max(1) as f64;
            for mut t in polygon {
                let [a, b, c] = t.map(|v| points[v as usize]);
                if (b - a).cross(c - a).dot(out) < 0.0 {
                    t.swap(1, 2);
                }
                faces.push(t);
            }
        }
    }
    (points, faces)
}

fn bear(n: usize) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut balls = vec![
        (DVec3::new(0.0, 0.42, 0.0), DVec3::new(0.30, 0.36, 0.26)),
        (DVec3::new(0.0, 0.92, 0.03), DVec3::new(0.25, 0.23, 0.22)),
        (DVec3::new(0.0, 0.87, 0.23), DVec3::new(0.10, 0.08, 0.09)),
    ];
    for s in [-1.0, 1.0] {
        balls.push((DVec3::new(s * 0.19, 1.11, 0.0), DVec3::new(0.09, 0.09, 0.06)));
        balls.push((DVec3::new(s * 0.29, 0.56, 0.14), DVec3::new(0.10, 0.10, 0.16)));
        balls.push((DVec3::new(s * 0.19, 0.13, 0.22), DVec3::new(0.13, 0.125, 0.22)));
    }
    march(DVec3::new(-0.6, -0.1, -0.5), DVec3::new(0.6, 1.3, 0.7), n, |p| {
        let k = 0.05;
        let sum: f64 = balls
            .iter()
            .map(|(c, r)| (-((((p - *c) / *r).length() - 1.0) * r.min_element()) / k).exp())
            .sum();
        -k * sum.ln()
    })
}

fn torus(center: DVec3, big: f64, small: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (n, m) = (72, 28);
    let points = (0..n * m).map(|i| {
        let (u, v) = ((i / m) as f64 / n as f64 * TAU, (i % m) as f64 / m as f64 * TAU);
        let r = big + small * v.cos();
        center + DVec3::new(r * u.cos(), small * v.sin(), r * u.sin())
    });
    let id = |i: usize, j: usize| (i % n * m + j % m) as u32;
    let faces = (0..n * m).flat_map(|k| {
        let (i, j) = (k / m, k % m);
        [[id(i, j), id(i, j + 1), id(i + 1, j)], [id(i + 1, j), id(i, j + 1), id(i + 1, j + 1)]]
    });
    (points.collect(), faces.collect())
}

fn cloth(time: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let n = 60;
    let points = (0..=n * (n + 2)).map(|i| {
        let (u, v) = ((i % (n + 1)) as f64 / n as f64, (i / (n + 1)) as f64 / n as f64);
        let wave =
            0.10 * v * (9.0 * u + 3.0 * v - 4.0 * time).sin() + 0.05 * v * (5.0 * v - 17.0 * u + time).cos();
        DVec3::new(-0.75 + 1.5 * u, 1.45 - 1.25 * v, wave)
    });
    let faces = (0..n * n).flat_map(|k| {
        let a = (k / n * (n + 1) + k % n) as u32;
        let b = a + n as u32 + 1;
        [[a, b, a + 1], [a + 1, b, b + 1]]
    });
    (points.collect(), faces.collect())
}

fn cube(center: DVec3, half: f64, turn: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let points = (0..8).map(|k| {
        let s = |bit: usize| if k >> bit & 1 == 0 { -half } else { half };
        center
            + DVec3::new(turn.cos() * s(0) + turn.sin() * s(2), s(1), turn.cos() * s(2) - turn.sin() * s(0))
    });
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (points.collect(), quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect())
}

const GROUND: Plane = Plane { normal: DVec3::Y, offset: 0.0 };

fn mesh<'a>(m: &'a (Vec<DVec3>, Vec<[u32; 3]>), color: [f32; 3], look: Look) -> RenderItem<'a> {
    RenderItem::Mesh { positions: &m.0, triangles: &m.1, colors: Colors::Uniform(color), look }
}

fn moved(m: &(Vec<DVec3>, Vec<[u32; 3]>), by: impl Fn(DVec3) -> DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    (m.0.iter().map(|p| by(*p)).collect(), m.1.clone())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "studio".into());
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let bear = bear(56);
    println!("bear: {} triangles", bear.1.len());
    let settings = RenderSettings::default();
    let aspect = 4.0 / 3.0;
    let save = |name: &str, image: &Image| -> std::io::Result<()> {
        write_png(image, BufWriter::new(File::create(directory.join(name))?))
    };
    let timed =
        |name: &str, items: &[RenderItem], planes: &[Plane], camera: &Camera, settings: &RenderSettings| {
            let start = Instant::now();
            let image = render(items, planes, camera, settings);
            let both = start.elapsed();
            let start = Instant::now();
            let alone = render(items, planes, camera, &RenderSettings { threads: 1, ..*settings });
            println!(
                "{name}: {:.1} ms, one thread {:.1} ms",
                both.as_secs_f64() * 1e3,
                start.elapsed().as_secs_f64() * 1e3
            );
            assert!(image == alone);
            image
        };

    let camera = Camera::fit(Camera::bounds(&bear.0), aspect, 22.0, 14.0);
    let one = [mesh(&bear, body_color(0), Look::Jelly)];
    save("bear.png", &timed("bear", &one, &[GROUND], &camera, &settings))?;
    let quick = RenderSettings { samples: 2, ..settings };
    save("bear2.png", &timed("bear 2x2", &one, &[GROUND], &camera, &quick))?;
    let dark = RenderSettings { backdrop: Backdrop::dark(), ..settings };
    save("dark.png", &timed("dark", &one, &[GROUND], &camera, &dark))?;

    let ring = torus(DVec3::new(1.05, 0.17, 0.35), 0.36, 0.17);
    let block = cube(DVec3::new(-0.95, 0.28, 0.15), 0.28, 0.5);
    let balls: Vec<DVec3> = (0..9)
        .map(|i| DVec3::new(0.35 + 0.17 * (i % 3) as f64, 0.08, 0.75 + 0.17 * (i / 3) as f64))
        .collect();
    let tints: Vec<[f32; 3]> = (0..9).map(categorical).collect();
    let group = [
        mesh(&bear, body_color(2), Look::Jelly),
        mesh(&ring, body_color(1), Look::Jelly),
        mesh(&block, body_color(3), Look::Matte),
        RenderItem::Points { positions: &balls, radius: 0.08, colors: Colors::PerVertex(&tints) },
    ];
    let all = bear.0.iter().chain(&ring.0).chain(&block.0);
    let camera = Camera::fit(Camera::bounds(all), aspect, 15.0, 18.0);
    save("group.png", &timed("group", &group, &[GROUND], &camera, &settings))?;

    let flag = cloth(0.7);
    let camera = Camera::fit(Camera::bounds(&flag.0), aspect, -28.0, 10.0);
    let rod = [DVec3::new(-0.85, 1.46, 0.0), DVec3::new(0.85, 1.46, 0.0)];
    let hung = [
        mesh(&flag, body_color(4), Look::Cloth),
        RenderItem::Lines {
            positions: &rod,
            segments: &[[0, 1]],
            radius: 0.015,
            colors: Colors::Uniform([0.35, 0.36, 0.4]),
        },
    ];
    save("cloth.png", &timed("cloth", &hung, &[GROUND], &camera, &settings))?;

    let slope = Plane { normal: DVec3::new(0.42, 1.0, 0.0), offset: -0.05 };
    let wall = Plane { normal: DVec3::new(-1.0, 0.0, 0.0), offset: -1.9 };
    let sliding = moved(&bear, |p| {
        let (s, c) = 0.42f64.atan().sin_cos();
        DVec3::new(c * p.x + s * p.y - 1.35, -s * p.x + c * p.y + 0.55, p.z)
    });
    let bounds = (DVec3::new(-1.7, 0.0, -0.5), DVec3::new(1.9, 1.8, 0.6));
    let camera = Camera::fit(bounds, aspect, 10.0, 16.0);
    let ball = torus(DVec3::new(0.9, 0.2, 0.2), 0.3, 0.2);
    let items = [mesh(&sliding, body_color(5), Look::Jelly), mesh(&ball, body_color(6), Look::Jelly)];
    save("slope.png", &timed("slope", &items, &[GROUND, slope, wall], &camera, &settings))?;

    let strain: Vec<f64> = bear.0.iter().map(|p| (6.0 * p.y).sin() * 0.5 + 0.5 * p.x).collect();
    let tints = map_colors(&strain, (-0.7, 0.7), ColorMap::Viridis);
    let coloured = [RenderItem::Mesh {
        positions: &bear.0,
        triangles: &bear.1,
        colors: Colors::PerVertex(&tints),
        look: Look::Matte,
    }];
    let camera = Camera::fit(Camera::bounds(&bear.0), aspect, 22.0, 14.0);
    let mut image = timed("strain", &coloured, &[GROUND], &camera, &settings);
    draw_legend(&mut image, ColorMap::Viridis, (-0.7, 0.7), "strain");
    save("strain.png", &image)?;

    let cloud: Vec<DVec3> = bear.0.iter().step_by(6).copied().collect();
    let tints: Vec<[f32; 3]> = cloud
        .iter()
        .map(|p| categorical(((p.y * 5.0) as usize) * 3 + ((p.x + 1.0) * 4.0) as usize))
        .collect();
    let points = [RenderItem::Points { positions: &cloud, radius: 0.028, colors: Colors::PerVertex(&tints) }];
    save("points.png", &timed("points", &points, &[GROUND], &camera, &settings))?;

    // A bear that drops, squashes and wobbles, at 60 frames per second.
    let pose = |frame: usize| {
        let t = frame as f64 / 60.0;
        let fall = 0.9 - 0.5 * 9.81 * t * t;
        let hit = (2.0 * 0.9f64 / 9.81).sqrt();
        let after = (t - hit).max(0.0);
        let squash = 1.0 - 0.28 * (-2.0 * after).exp() * (14.0 * after).sin();
        let lean = 0.15 * (-1.5 * after).exp() * (9.0 * after).sin();
        moved(&bear, |p| {
            let wide = 1.0 / squash.sqrt();
            DVec3::new(wide * p.x + lean * p.y, squash * p.y + fall.max(0.0), wide * p.z)
        })
    };
    let (stride, delay) = frame_stride(60.0);
    let count = 50;
    let bounds = (DVec3::new(-0.5, 0.0, -0.4), DVec3::new(0.5, 2.0, 0.6));
    let camera = Camera::fit(bounds, aspect, 22.0, 12.0);
    let small = RenderSettings { width: 480, height: 360, dither: false, ..settings };
    let draw = |frame: usize| {
        let body = pose(frame);
        render(&[mesh(&body, body_color(0), Look::Jelly)], &[GROUND], &camera, &small)
    };
    let start = Instant::now();
    let file = BufWriter::new(File::create(directory.join("drop.gif"))?);
    write_gif(file, count, f64::from(delay) / 100.0, |i| Ok::<_, GifError>(draw(i * stride)))?;
    let bytes = std::fs::metadata(directory.join("drop.gif"))?.len();
    println!("gif: {count} frames, {bytes} bytes, {:.2} s", start.elapsed().as_secs_f64());
    let tiny = RenderSettings { width: 320, height: 240, ..small };
    let tiles: Vec<(f64, Image)> = sheet_frames(count, 12)
        .into_iter()
        .map(|i| {
            let body = pose(i * stride);
            let items = [mesh(&body, body_color(0), Look::Jelly)];
            ((i * stride) as f64 / 60.0, render(&items, &[GROUND], &camera, &tiny))
        })
        .collect();
    save("sheet.png", &contact_sheet(&tiles, 4))?;
    Ok(())
}
