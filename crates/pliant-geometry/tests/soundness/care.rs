//! Any small soup of triangles through all that is done to a mesh after reading it: looked at, mended, filled, cut.

use glam::DVec3;
use pliant_geometry::{
    FillDensity, FillOptions, FillPattern, MeshAttributes, PolyMesh, Polygons, RepairOptions,
    StuffingOptions, TriMesh, has_inside, inspect, join, repair, shapes, split_pieces, stuff,
};

/// More would make a run slow, and find nothing that few do not.
const MOST_VERTICES: usize = 24;
const MOST_FACES: usize = 40;

/// Bytes as a mesh: how coordinates are written, how many vertices, the vertices, then corners of faces.
fn mesh(bytes: &[u8]) -> Option<(u8, PolyMesh)> {
    let (&[how, count], rest) = bytes.split_first_chunk()?;
    let count = usize::from(count) % MOST_VERTICES + 3;
    // A small grid, where much coincides; any number of f32; the same far out.
    let width = if how & 1 == 0 { 1 } else { 4 };
    let far = if how & 2 == 0 { 1.0 } else { 1e20 };
    let (positions, corners) = rest.split_at_checked(3 * width * count)?;
    let number = |b: &[u8]| match *b {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])) * far,
        _ => f64::from(b[0] % 5) * far,
    };
    let positions: Vec<DVec3> = positions
        .chunks_exact(3 * width)
        .map(|p| DVec3::from_array([0, 1, 2].map(|k| number(&p[k * width..(k + 1) * width]))))
        .collect();
    let mut faces = Polygons::default();
    for face in corners.chunks_exact(4).take(MOST_FACES) {
        // Half of the values of a fourth corner say that there is none.
        let face = if face[3] >= 128 { &face[..3] } else { face };
        faces.push(&face.iter().map(|&c| u32::from(c) % count as u32).collect::<Vec<u32>>());
    }
    let attributes = MeshAttributes { faces, ..MeshAttributes::default() };
    Some((how, PolyMesh { positions, attributes, ..PolyMesh::default() }))
}

pub fn feed(bytes: &[u8]) -> bool {
    let Some((how, mesh)) = mesh(bytes) else { return false };
    let report = inspect(&mesh, 1);
    let (mended, _) = repair(&mesh, &RepairOptions::default());
    if report.fault.is_some() {
        return false;
    }
    assert!(report.lines().iter().all(|l| !l.contains("NaN")), "{:?}", report.lines());
    mended.check().unwrap_or_else(|e| panic!("{e}"));
    assert!(inspect(&mended, 1).defects() <= report.defects(), "mending made it worse");
    let (again, more) = repair(&mended, &RepairOptions::default());
    assert!(more.is_empty() && again == mended, "mended twice: {more:?}");
    join(&split_pieces(&mended)).check().unwrap_or_else(|e| panic!("{e}"));
    solids(if how & 4 == 0 { mesh } else { mended }.triangulated(), how);
    true
}

/// One of the ways to make a solid of a mesh, or none: they take a thousand times as long as all else.
fn solids(mesh: TriMesh, how: u8) {
    match how >> 4 {
        0 => drop(has_inside(&mesh)),
        1 => filled(mesh, FillPattern::Lattice),
        2 => filled(mesh, FillPattern::Jittered),
        3 => filled(mesh, FillPattern::BlueNoise),
        4 => stuffed(&mesh, false),
        5 => stuffed(&mesh, true),
        _ => {}
    }
}

fn filled(mesh: TriMesh, pattern: FillPattern) {
    let filling = FillOptions { pattern, by: FillDensity::Count(20), seed: 1 };
    if let Ok(shape) = shapes::filled(mesh, &filling) {
        assert!(!shape.points.is_empty() && shape.points.iter().all(|p| p.is_finite()));
        assert!(shape.measure.iter().all(|m| m.is_finite() && *m > 0.0), "{:?}", shape.measure);
        assert!(shape.edges.iter().flatten().all(|&i| (i as usize) < shape.points.len()));
    }
}

fn stuffed(mesh: &TriMesh, graded: bool) {
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let cell = (hi - lo).max_element() / 5.0;
    if let Ok((tets, report)) = stuff(mesh, cell, &StuffingOptions { graded, threads: 1 }) {
        assert!(tets.points.iter().all(|p| p.is_finite()));
        assert!(tets.volumes().iter().all(|&v| v > 0.0), "a tetrahedron without volume");
        assert!(!report.volume_error().is_nan());
    }
}
