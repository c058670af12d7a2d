//! Measures and draws fine meshes bound to coarse bodies, by each binding: how near they come to the motion of the
//! body, how smooth they stay, of how many particles a vertex is made. What that costs: `pliant bench --filter geometry/skin`.
//!
//! `cargo run --release -p pliant-cache --example skin_binding -- DIR`

use glam::{DQuat, DVec3};
use pliant_cache::render::*;
use pliant_geometry::shapes::{self, SolidShape};
use pliant_geometry::{
    ClusterMethod, ClusterSize, Clusters, Covering, Shape, Skin, SkinBinding, SplitMix64, TriMesh,
    unit_normal,
};
use std::f64::consts::{PI, TAU};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

type Draw<'a> = dyn Fn(&str, &TriMesh, &[DVec3], Look, f64) -> std::io::Result<()> + 'a;
type Motion = (&'static str, Box<dyn Fn(DVec3) -> DVec3>);

/// Motions of a body about one metre large around the origin.
fn motions() -> Vec<Motion> {
    let crumple = |p: DVec3| {
        let mut rng = SplitMix64::new(5);
        let mut unit = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - DVec3::ONE;
        (0..7).fold(p, |x, k| x + unit() * 0.05 * ((unit() * 11.0).dot(p) + f64::from(k)).sin())
    };
    vec![
        ("twisted", Box::new(|p| DQuat::from_rotation_y(PI * p.y) * p)),
        (
            "bent",
            Box::new(|p| {
                let (s, c) = (1.6 * p.y).sin_cos();
                DVec3::new((p.x + 1.0 / 1.6) * c - 1.0 / 1.6, (p.x + 1.0 / 1.6) * s, p.z)
            }),
        ),
        (
            "squashed",
            Box::new(|p| DVec3::new(p.x * (1.3 - p.y), 0.5 * p.y - 0.3 * p.x * p.x, p.z * (1.3 - p.y))),
        ),
        ("crumpled", Box::new(crumple)),
    ]
}

fn apply(skin: &Skin, points: &[DVec3]) -> Vec<DVec3> {
    let [x, y, z]: [Vec<f64>; 3] = [0, 1, 2].map(|k| points.iter().map(|p| p[k]).collect());
    let mut vertices = Vec::new();
    skin.apply([&x, &y, &z], &mut vertices);
    vertices
}

/// Angles in degrees of normals from what they should be: the mean, and what one in a thousand exceeds.
fn roughness(mesh: &TriMesh, got: &[DVec3], want: &[DVec3]) -> (f64, f64) {
    let normal = |x: &[DVec3], t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| x[i as usize]);
        unit_normal([a, b, c])
    };
    let mut angles: Vec<f64> = mesh
        .triangles
        .iter()
        .map(|t| normal(got, t).angle_between(normal(want, t)).to_degrees())
        .filter(|a| a.is_finite())
        .collect();
    angles.sort_by(f64::total_cmp);
    (angles.iter().sum::<f64>() / angles.len() as f64, angles[angles.len() * 999 / 1000])
}

struct Body {
    name: &'static str,
    shape: Shape,
    mesh: TriMesh,
}

fn torus() -> TriMesh {
    let (around, tube) = (260, 135);
    let mut mesh = TriMesh::default();
    for i in 0..around {
        let (si, ci) = (TAU * f64::from(i) / f64::from(around)).sin_cos();
        for j in 0..tube {
            let (sj, cj) = (TAU * f64::from(j) / f64::from(tube)).sin_cos();
            let r = 0.35 + 0.15 * cj;
            // Standing, so that motions along y do something to it.
            mesh.positions.push(DVec3::new(r * ci, r * si, -0.15 * sj));
            let at = |i: i32, j: i32| (i % around * tube + j % tube) as u32;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
    mesh
}

fn clusters(points: &[DVec3]) -> Result<Clusters, Box<dyn std::error::Error>> {
    Ok(Covering {
        smooth: true,
        ..Covering::new(ClusterMethod::KMeans, ClusterSize::Count(points.len() / 30 + 1))
    }
    .build(points)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "skin_binding".into());
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let settings = RenderSettings { width: 720, height: 640, grid: Some(0.0), ..RenderSettings::default() };
    let draw = |name: &str, mesh: &TriMesh, x: &[DVec3], look: Look, turn: f64| -> std::io::Result<()> {
        let camera = Camera::fit(Camera::bounds(x), 9.0 / 8.0, turn, 12.0);
        let item = RenderItem::Mesh {
            positions: x,
            triangles: &mesh.triangles,
            colors: Colors::Uniform(body_color(2)),
            look,
        };
        let image = render(&[item], &[], &camera, &settings);
        write_png(&image, BufWriter::new(File::create(directory.join(name))?))
    };

    let bear = SolidShape::GummyBear { height: 1.0 }.build(0.014)?.surface;
    let mut bodies = Vec::new();
    for (name, mesh, spacing) in [("torus", torus(), 0.055), ("bear", bear, 0.052)] {
        let (shape, _) = shapes::tets_from_mesh(mesh.clone(), spacing)?;
        bodies.push(Body { name, shape, mesh });
    }
    for Body { name, shape, mesh } in &bodies {
        let clusters = clusters(&shape.points)?;
        println!(
            "{name}: {} vertices on {} particles, {} tetrahedra, {} clusters",
            mesh.positions.len(),
            shape.points.len(),
            shape.tetrahedra.len(),
            clusters.len()
        );
        for binding in [SkinBinding::Particles, SkinBinding::Tetrahedra, SkinBinding::Clusters] {
            let skin = Skin::bind_to(binding, shape, Some(&clusters), &mesh.positions)?;
            entries(&format!("  {binding:?}"), &skin);
            for (motion, field) in motions() {
                let moved: Vec<DVec3> = shape.points.iter().map(|&p| field(p)).collect();
                let want: Vec<DVec3> = mesh.positions.iter().map(|&p| field(p)).collect();
                let got = apply(&skin, &moved);
                let off: Vec<f64> = got.iter().zip(&want).map(|(a, b)| a.distance(*b)).collect();
                let (mean, most) = roughness(mesh, &got, &want);
                println!(
                    "    {motion:9} off {:.5} mean {:.5} most; normals off {mean:.2}° mean {most:.2}° worst 1/1000",
                    off.iter().sum::<f64>() / off.len() as f64,
                    off.iter().copied().fold(0.0, f64::max),
                );
                draw(&format!("{name}-{motion}-{binding:?}.png"), mesh, &got, Look::Matte, 25.0)?;
                if binding == SkinBinding::Particles {
                    draw(&format!("{name}-{motion}-wanted.png"), mesh, &want, Look::Matte, 25.0)?;
                }
            }
            let mut rng = SplitMix64::new(7);
            let mut noise = || 0.005 * (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5);
            let shaken: Vec<DVec3> = shape.points.iter().map(|&p| p + noise()).collect();
            let got = apply(&skin, &shaken);
            let most = got.iter().zip(&mesh.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            let (mean, worst) = roughness(mesh, &got, &mesh.positions);
            println!(
                "    shaken by 0.005: {most:.5} most; normals off {mean:.2}° mean {worst:.2}° worst 1/1000"
            );
            draw(&format!("{name}-shaken-{binding:?}.png"), mesh, &got, Look::Matte, 25.0)?;
        }
    }
    cloth(&draw)
}

fn entries(what: &str, skin: &Skin) {
    let count = |n: usize| n as f64 / skin.len() as f64;
    let (handles, by_handle) = skin
        .handles
        .as_ref()
        .map_or((0.0, 0.0), |h| (count(h.handles.columns.len()), count(h.vertices.columns.len())));
    println!(
        "{what}: entries per vertex: {:.1} direct, {by_handle:.1} by handles made of {handles:.1}",
        count(skin.particles.len())
    );
}

/// A thick quilt with rounded hems on a cloth of 2,000 particles, rolled up, draped and crumpled.
fn cloth(draw: &Draw<'_>) -> Result<(), Box<dyn std::error::Error>> {
    for (name, cells, thick) in [("quilt", 44, 0.012), ("coarse", 14, 0.02)] {
        let shape = shapes::sheet(1.0, 1.0, cells, cells)?;
        let n = 130;
        let mut mesh = TriMesh::default();
        for side in [1.0, -1.0] {
            let first = mesh.positions.len() as u32;
            for i in 0..=n {
                for j in 0..=n {
                    let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                    let hem = (60.0 * u.min(v).min(1.0 - u).min(1.0 - v)).min(1.0);
                    let stitch = 0.8 + 0.2 * (40.0 * u).sin() * (40.0 * v).sin();
                    mesh.positions
                        .push(DVec3::new(u - 0.5, side * thick * hem.sqrt() * stitch, v - 0.5) * 1.01);
                }
            }
            for q in 0..n * n {
                let a = first + (q / n * (n + 1) + q % n) as u32;
                let b = a + n as u32 + 1;
                let two = [[a, a + 1, b + 1], [a, b + 1, b]];
                mesh.triangles.extend(two.map(|[a, b, c]| if side > 0.0 { [a, b, c] } else { [a, c, b] }));
            }
        }
        let skin = Skin::bind_to(SkinBinding::Cloth, &shape, None, &mesh.positions)?;
        println!("{name}: {} vertices on {} particles", mesh.positions.len(), shape.points.len());
        entries("  Cloth", &skin);
        let flat = Skin::bind_to(SkinBinding::Particles, &shape, None, &mesh.positions)?;
        let motions: [Motion; 3] = [
            (
                "rolled",
                Box::new(|p| {
                    let (radius, angle) = (0.12 + 0.05 * (p.x + 0.5), 7.0 * p.x);
                    DVec3::new(radius * angle.sin(), radius * angle.cos(), p.z)
                }),
            ),
            (
                "draped",
                Box::new(|p| {
                    let r = DVec3::new(p.x, 0.0, p.z).length();
                    let folds = 0.06 * (6.0 * p.z.atan2(p.x)).sin() * (r / 0.2 - 1.0).clamp(0.0, 1.5);
                    let down = (r - 0.2).max(0.0);
                    let scale = if r > 0.2 { (0.2 + 0.25 * down + folds) / r } else { 1.0 };
                    DVec3::new(p.x * scale, -0.9 * down, p.z * scale)
                }),
            ),
            (
                "crumpled",
                Box::new(|p| {
                    let wave = 0.05 * (14.0 * p.x + 5.0 * p.z).sin() + 0.04 * (17.0 * p.z - 6.0 * p.x).cos();
                    DVec3::new(0.9 * p.x, wave, 0.9 * p.z)
                }),
            ),
        ];
        for (motion, field) in motions {
            let moved: Vec<DVec3> = shape.points.iter().map(|&p| field(p)).collect();
            let got = apply(&skin, &moved);
            draw(&format!("{name}-{motion}-Cloth.png"), &mesh, &got, Look::Cloth, 35.0)?;
            draw(&format!("{name}-{motion}-Particles.png"), &mesh, &apply(&flat, &moved), Look::Cloth, 35.0)?;
            // Top against bottom: how thick it stays.
            let half = mesh.positions.len() / 2;
            let mut kept: Vec<f64> = (0..half)
                .filter(|&v| mesh.positions[v].y > 0.5 * thick)
                .map(|v| {
                    got[v].distance(got[v + half]) / mesh.positions[v].distance(mesh.positions[v + half])
                })
                .collect();
            kept.sort_by(f64::total_cmp);
            println!(
                "    {motion:9} thickness kept: {:.3} least, {:.3} median, {:.3} most",
                kept[0],
                kept[kept.len() / 2],
                kept[kept.len() - 1]
            );
        }
    }
    Ok(())
}
