//! A surface that was damaged on purpose, what an inspection finds on it, and what repair leaves.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, FlatTriangles, GREEN, INK, ORANGE, PINK, RED, YELLOW, picture, rods};
use pliant::DVec3;
use pliant_cache::render::Image;
use pliant_geometry::shapes::SolidShape;
use pliant_geometry::{
    Holes, MeshAttributes, MeshReport, PolyMesh, Polygons, RepairOptions, SplitMix64, StuffingOptions,
    TriMesh, inspect, repair, stuff,
};
use std::collections::BTreeSet;

const MADE: &str = "made";
const FOUND: &str = "found";
const LEFT: &str = "found after repair";
const VOLUME: &str = "volume";
/// Panels after the pictures.
const COUNTS: usize = 2;
const VOLUMES: usize = 3;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "mesh_care",
        about: "A damaged surface, what an inspection finds on it, and the same after repair",
    },
    run,
    metrics: &[
        ("found_share", |p| {
            let (made, found) = (p.values(COUNTS, MADE), p.values(COUNTS, FOUND));
            let shares: Vec<f64> = found.iter().zip(&made).map(|(f, m)| f / m).collect();
            let (low, high) = (smallest(&shares), largest(&shares));
            if shares.len() != KINDS {
                f64::NAN
            } else if 1.0 - low > high - 1.0 {
                low
            } else {
                high
            }
        }),
        ("left", |p| match p.values(COUNTS, LEFT) {
            left if left.len() == KINDS => left.iter().sum(),
            _ => f64::NAN,
        }),
        ("volume_error", |p| match p.values(VOLUMES, VOLUME)[..] {
            [sound, _, mended] => (mended / sound - 1.0).abs(),
            _ => f64::NAN,
        }),
    ],
};

/// Kinds of damage that are counted.
const KINDS: usize = 4;

/// What is done to a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Removed,
    Flipped,
    Copied,
    Pierced,
}

const DAMAGES: [Damage; 4] = [Damage::Removed, Damage::Flipped, Damage::Copied, Damage::Pierced];
/// Triangles damaged in each way.
const EACH: usize = 15;

/// Triangles that have no neighbour in common, and what is to be done to them.
fn choose(mesh: &TriMesh) -> Vec<(usize, Damage)> {
    let mut around = vec![Vec::new(); mesh.positions.len()];
    for (k, t) in mesh.triangles.iter().enumerate() {
        t.iter().for_each(|&v| around[v as usize].push(k));
    }
    let mut rng = SplitMix64::new(8);
    let mut taken = vec![false; mesh.positions.len()];
    let mut chosen = Vec::new();
    // A body of some thousand triangles has room for them; the bound only ends a hopeless search.
    for _ in 0..100_000 {
        if chosen.len() == EACH * DAMAGES.len() {
            break;
        }
        let damage = DAMAGES[chosen.len() % DAMAGES.len()];
        let k = ((rng.unit() * mesh.triangles.len() as f64) as usize).min(mesh.triangles.len() - 1);
        let ring = mesh.triangles[k].iter().flat_map(|&v| &around[v as usize]);
        let ring: Vec<u32> = ring.flat_map(|&t| mesh.triangles[t]).collect();
        if ring.iter().all(|&v| !taken[v as usize]) {
            ring.iter().for_each(|&v| taken[v as usize] = true);
            chosen.push((k, damage));
        }
    }
    chosen
}

/// The damaged mesh, and the colour of each of its triangles.
fn damaged(mesh: &TriMesh, chosen: &[(usize, Damage)]) -> (TriMesh, Vec<[f32; 3]>) {
    let mut broken = TriMesh { positions: mesh.positions.clone(), ..TriMesh::default() };
    let mut colors = Vec::new();
    for (k, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        let mut add = |t: [u32; 3], color| {
            broken.triangles.push(t);
            colors.push(color);
        };
        match chosen.iter().find(|(at, _)| *at == k).map(|(_, damage)| damage) {
            None => add([a, b, c], BODY),
            Some(Damage::Removed) => {}
            Some(Damage::Flipped) => add([a, c, b], ORANGE),
            Some(Damage::Copied) => {
                add([a, b, c], PINK);
                add([b, c, a], PINK);
            }
            Some(Damage::Pierced) => {
                add([a, b, c], BODY);
                let first = broken.positions.len() as u32;
                broken.positions.extend(shard([a, b, c].map(|i| mesh.positions[i as usize])));
                broken.triangles.push([first, first + 1, first + 2]);
                colors.push(GREEN);
            }
        }
    }
    (broken, colors)
}

/// A splinter through the middle of a triangle, which it is so narrow in that it meets nothing else.
fn shard([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    let (middle, along) = ((a + b + c) / 3.0, b - a);
    let size = along.length();
    let normal = along.cross(c - a).normalize_or(DVec3::Y);
    let side = along.normalize_or(DVec3::X);
    let tip = middle - 0.4 * size * normal;
    let top = middle + 0.9 * size * normal;
    [tip, top + 0.35 * size * side, top - 0.35 * size * side]
}

fn as_poly(mesh: &TriMesh) -> PolyMesh {
    let attributes =
        MeshAttributes { faces: Polygons::of_triangles(&mesh.triangles), ..MeshAttributes::default() };
    PolyMesh { positions: mesh.positions.clone(), attributes, ..PolyMesh::default() }
}

fn counts(report: &MeshReport) -> [usize; KINDS] {
    [
        report.welded.boundary_edges.count,
        report.welded.inconsistent_edges.count,
        report.face_faults.duplicate.count,
        report.crossings.apart.count,
    ]
}

fn run() -> Result<Plot, Failure> {
    // The bear's own triangles are too small to be seen.
    let fine = SolidShape::GummyBear { height: 1.0 }.build(0.04)?.surface;
    let sound = stuff(&fine, 0.05, &StuffingOptions::default())?.0.surface().0;
    let chosen = choose(&sound);
    let (broken, colors) = damaged(&sound, &chosen);
    let before = inspect(&as_poly(&broken), 2);
    // Splinters are pieces, and tiny; the holes are of one triangle, but triangles are large here.
    let holes = Some(Holes { share: 0.2, ..Holes::default() });
    let options = RepairOptions { tiny_pieces: 0.1, holes, ..RepairOptions::default() };
    let (mended, repairs) = repair(&as_poly(&broken), &options);
    let after = inspect(&mended, 2);
    let mended = mended.triangulated();

    let number = |damage| chosen.iter().filter(|(_, d)| *d == damage).count();
    let [removed, flipped, copied, pierced] = DAMAGES.map(number);
    let made = [3 * (removed + pierced), 3 * flipped, copied, pierced];
    let line = |counts: [usize; KINDS]| -> Vec<(f64, f64)> {
        counts.into_iter().enumerate().map(|(k, n)| (k as f64 + 1.0, n as f64)).collect()
    };
    let kinds = "1 open edges, 2 edges in disagreement, 3 copies, 4 crossings";
    let table = Panel::new("What an inspection counts", kinds, "how many")
        .line(FOUND, Style::Marked, line(counts(&before)))
        .line(MADE, Style::Dashed, line(made))
        .line(LEFT, Style::Marked, line(counts(&after)));
    let volumes = [&sound, &broken, &mended].map(TriMesh::volume);
    let volume = volumes.iter().enumerate().map(|(k, v)| (k as f64, v / volumes[0])).collect();
    let title = "Volume by the divergence theorem";
    let volumes = Panel::new(title, "0 sound, 1 damaged, 2 mended", "over that of the sound surface").line(
        VOLUME,
        Style::Marked,
        volume,
    );

    let note = "orange: turned over, pink: twice, green: splinters, red: open edges";
    let title = format!("Damaged: {} of {} triangles", chosen.len(), sound.triangles.len());
    let damaged = Panel::image(title, note, drawn(&broken, |k| colors[k]));
    let whole = |mesh: &TriMesh, k: usize| {
        let mut key = mesh.triangles[k].map(|i| mesh.positions[i as usize].to_array().map(f64::to_bits));
        key.sort_unstable();
        key
    };
    let old: BTreeSet<_> = (0..broken.triangles.len()).map(|k| whole(&broken, k)).collect();
    let done: Vec<String> = repairs.iter().map(|r| format!("{} {}", r.count, r.what)).collect();
    let title = format!("Mended: {}", after.closedness.name());
    let new = |k| if old.contains(&whole(&mended, k)) { BODY } else { YELLOW };
    let repaired = Panel::image(title, format!("{} (yellow: new)", done.join(", ")), drawn(&mended, new));
    Ok(Plot { panels: vec![damaged, repaired, table, volumes], ..Plot::new("Inspecting and mending a mesh") })
}

/// FlatTriangles with their edges; those of only one triangle thick and red.
fn drawn(mesh: &TriMesh, color: impl Fn(usize) -> [f32; 3]) -> Image {
    // What is turned over is turned back to be lit, and told by its colour.
    let lit = |(k, &[a, b, c]): (usize, &[u32; 3])| if color(k) == ORANGE { [a, c, b] } else { [a, b, c] };
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().enumerate().map(lit).collect();
    let facets = FlatTriangles::new(&mesh.positions, &triangles, &color);
    let mut sides: Vec<[u32; 2]> = mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    sides.sort_unstable();
    let runs = sides.chunk_by(|a, b| a == b);
    let open: Vec<[u32; 2]> = runs.filter(|run| run.len() == 1).map(|run| run[0]).collect();
    let edges = mesh.edges();
    let items = [
        facets.item(),
        rods(&mesh.positions, &edges, 0.0012, INK),
        rods(&mesh.positions, &open, 0.0035, RED),
    ];
    picture(&items, &mesh.positions, 25.0, 10.0)
}
