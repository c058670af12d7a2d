//! The inside of a mesh cut into tetrahedra: all of it, or an error that says what would do.
//!
//! Pieces that the mesh itself has apart all stay, as parts of one body. Where a piece is too thin for the cells it
//! falls to bits; bits are not kept, as each would be a body of its own, but what goes with them is measured.

use super::Shape;
use super::from_mesh::{check, is_closed, outwards, weld};
use super::pieces::SolidPieces;
use crate::error::positive;
use crate::{
    GeometryError, Skin, StuffingOptions, StuffingReport, TetMesh, TriMesh, Winding, has_inside, inside,
    parallel, stuff,
};
use glam::DVec3;
use pliant_math::SplitMix64;

/// Part of a mesh's volume that may be without tetrahedra.
pub(super) const LEFT_OUT: f64 = 0.01;

/// A body-centred lattice has two points in each cell: cells this much wider than the spacing have as many points as
/// there are particles with that spacing.
const CELLS_A_SPACING: f64 = 1.26;
/// A smaller spacing after one that left something out: about half as many points again.
const FINER: f64 = 0.86;
/// Pieces of a mesh up to which it is cut: who crosses whom is asked of every two, and each needs points of its own.
const MOST_PIECES: usize = 5_000;
/// Points up to which a spacing that would do is looked for.
const MOST_TRIED: usize = 400_000;
/// Places looked at to tell what of a mesh has no tetrahedra near.
const SAMPLES: f64 = 60_000.0;
/// Such a place is further than this part of a cell from all of them: flat faces over round surfaces and cut-off edges
/// are nearer.
const NEAR: f64 = 0.35;

/// Cuts the inside of a mesh, closed or nearly so, into tetrahedra with points about `spacing` apart, to which the mesh is
/// bound as it is. Pieces that the mesh has apart stay apart, in one body. The notes say what was lost; more than
/// a hundredth of the volume is an error with a spacing that would do.
pub fn tets_from_mesh(mesh: TriMesh, spacing: f64) -> Result<(Shape, Vec<String>), GeometryError> {
    tets_from_mesh_within(mesh, spacing, 0)
}

/// The same, but where something thin would be left out the spacing is made smaller, as long as there are no more than
/// `most` points; the notes say so.
pub fn tets_from_mesh_within(
    mesh: TriMesh,
    spacing: f64,
    most: usize,
) -> Result<(Shape, Vec<String>), GeometryError> {
    check(&mesh)?;
    positive("spacing", spacing)?;
    if !has_inside(&mesh) {
        return Err(GeometryError::new(
            "the mesh is open, so it has no inside to cut into tetrahedra",
            "close its holes, or use it as cloth",
        ));
    }
    let surface = if is_closed(&weld(&mesh).0) { outwards(mesh) } else { mesh };
    let bodies = apart(&surface)?;
    let mut first: Option<(f64, f64)> = None;
    let mut finer = spacing;
    let refused = |(spacing, left_out), found| Err(refusal(spacing, left_out, found));
    loop {
        let cuts: Vec<Result<CutBody, GeometryError>> = bodies.iter().map(|body| body.cut(finer)).collect();
        let points: usize = cuts.iter().flatten().map(|cut| cut.tets.points.len()).sum();
        // A body without a tetrahedron is left out as a whole.
        let lost: f64 = cuts
            .iter()
            .zip(&bodies)
            .map(|(cut, body)| match cut {
                Ok(cut) => cut.left_out * body.volume,
                Err(_) => body.volume,
            })
            .sum();
        let left_out = lost / bodies.iter().map(|body| body.volume).sum::<f64>();
        let enough = left_out <= LEFT_OUT;
        if enough && (finer == spacing || points <= most) {
            return shape(surface, &bodies, &cuts, (finer, spacing));
        }
        if enough {
            return refused(first.unwrap_or((finer, left_out)), Some((finer, points)));
        }
        // Too many cells for the memory: that is the answer, or the end of looking for one.
        if let Some(error) =
            cuts.into_iter().filter_map(Result::err).find(|e| e.message.contains("puts more than"))
        {
            return match first {
                Some(first) => refused(first, None),
                None => Err(error),
            };
        }
        first.get_or_insert((finer, left_out));
        if points > MOST_TRIED || finer < 1e-3 * spacing {
            return refused(first.unwrap_or((finer, left_out)), None);
        }
        finer *= FINER;
    }
}

/// A part of the mesh that nothing joins to another.
struct SeparateBody {
    mesh: TriMesh,
    /// Vertices of the whole mesh that these are.
    vertices: Vec<usize>,
    pieces: SolidPieces,
    volume: f64,
}

/// The bodies of a mesh: each is cut on its own, as cells would bridge a gap smaller than they are.
fn apart(surface: &TriMesh) -> Result<Vec<SeparateBody>, GeometryError> {
    let pieces = SolidPieces::up_to(surface, MOST_PIECES).map_err(|count| {
        GeometryError::new(
            format!(
                "the mesh has {count} separate pieces, each of which would be cut into tetrahedra of its own; \
                 {MOST_PIECES} are possible"
            ),
            "take fewer objects of the file, or the particles of a few as bodies of a scene with `copies`",
        )
    })?;
    let of_piece = pieces.bodies();
    let mut names: Vec<usize> = of_piece.clone();
    names.sort_unstable();
    names.dedup();
    // Once over the mesh for all of them: there may be thousands.
    let mut own: Vec<(Vec<usize>, Vec<[u32; 3]>)> = vec![Default::default(); names.len()];
    let number = |v: usize| names.partition_point(|&name| name < of_piece[pieces.of_vertex[v]]);
    let place: Vec<u32> = (0..pieces.of_vertex.len())
        .map(|v| {
            let vertices = &mut own[number(v)].0;
            vertices.push(v);
            vertices.len() as u32 - 1
        })
        .collect();
    for t in &surface.triangles {
        own[number(t[0] as usize)].1.push(t.map(|i| place[i as usize]));
    }
    let of_name = |(vertices, triangles): (Vec<usize>, Vec<[u32; 3]>)| {
        let positions = vertices.iter().map(|&v| surface.positions[v]).collect();
        let mesh = TriMesh { positions, triangles };
        let signed = mesh.volume().abs();
        let volume = if is_closed(&weld(&mesh).0) { signed } else { inside(&mesh).volume };
        SeparateBody { pieces: SolidPieces::new(&mesh), vertices, mesh, volume }
    };
    Ok(own.into_iter().map(of_name).filter(|body| !body.mesh.triangles.is_empty()).collect())
}

/// A body cut at one spacing.
struct CutBody {
    tets: TetMesh,
    /// For each tetrahedron the part it is in, and for each part the pieces whose surface it touches.
    part_of: Vec<usize>,
    touches: Vec<Vec<usize>>,
    report: StuffingReport,
    /// Bits that were taken away, and their tetrahedra.
    bits: (usize, usize),
    /// Part of the body's volume that has no tetrahedra.
    left_out: f64,
}

impl SeparateBody {
    fn cut(&self, spacing: f64) -> Result<CutBody, GeometryError> {
        let cell = CELLS_A_SPACING * spacing;
        let (mut tets, report) = stuff(&self.mesh, cell, &StuffingOptions::default())?;
        let missed = missed(&self.mesh, &tets, &report, cell);
        let parts = tets.parts();
        let volumes = tets.volumes();
        let mut volume = vec![0.0; report.parts];
        parts.iter().zip(&volumes).for_each(|(&part, v)| volume[part] += v);
        let touches = touched(&tets, &parts, report.parts, &self.pieces);
        // The largest part of each piece stays; whatever else lies on the same pieces are bits of it.
        let mut order: Vec<usize> = (0..report.parts).collect();
        order.sort_by(|&a, &b| volume[b].total_cmp(&volume[a]).then(a.cmp(&b)));
        let mut taken = vec![false; self.pieces.len()];
        let mut number = vec![None; report.parts];
        let mut kept = Vec::new();
        for part in order {
            if touches[part].iter().all(|&piece| !taken[piece]) {
                number[part] = Some(kept.len());
                kept.push(touches[part].clone());
            }
            touches[part].iter().for_each(|&piece| taken[piece] = true);
        }
        let lost: f64 = (0..report.parts).filter(|&p| number[p].is_none()).map(|p| volume[p]).sum();
        let mut at = parts.iter();
        tets.tetrahedra.retain(|_| at.next().is_some_and(|&part| number[part].is_some()));
        tets.drop_unreferenced();
        let bits = (report.parts - kept.len(), report.tetrahedra - tets.tetrahedra.len());
        Ok(CutBody {
            part_of: parts.iter().filter_map(|&part| number[part]).collect(),
            touches: kept,
            bits,
            left_out: lost / report.mesh_volume + missed,
            tets,
            report,
        })
    }
}

/// All bodies as one shape.
fn shape(
    surface: TriMesh,
    bodies: &[SeparateBody],
    cuts: &[Result<CutBody, GeometryError>],
    (spacing, asked): (f64, f64),
) -> Result<(Shape, Vec<String>), GeometryError> {
    let mut whole = TetMesh::default();
    let mut notes = Vec::new();
    let mut skins = Vec::new();
    let mut lost = Vec::new();
    let [mut bits, mut bits_tets, mut all_tets] = [0; 3];
    for (body, cut) in bodies.iter().zip(cuts) {
        let Ok(cut) = cut else {
            lost.extend_from_slice(&body.vertices);
            continue;
        };
        for note in cut.report.notes() {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        bits += cut.bits.0;
        bits_tets += cut.bits.1;
        all_tets += cut.report.tetrahedra;
        let first = whole.points.len() as u32;
        cut.skins(body, first, &mut skins);
        whole.points.extend_from_slice(&cut.tets.points);
        whole.tetrahedra.extend(cut.tets.tetrahedra.iter().map(|t| t.map(|i| i + first)));
    }
    if spacing < asked {
        notes.push(format!(
            "a spacing of {asked:.3e} m would leave out thin parts: it is {spacing:.3e} m, with {} particles",
            whole.points.len()
        ));
    }
    if bits > 0 {
        notes.push(format!(
            "{bits_tets} of {all_tets} tetrahedra, in {bits} bits that no face joins to the rest, were left out: less than \
             {:.0} % of the volume",
            100.0 * LEFT_OUT
        ));
    }
    let (mut shape, more) = Shape::from_tets(&whole)?;
    notes.extend(more);
    if !lost.is_empty() {
        // What is too small for a tetrahedron follows whatever is nearest.
        let positions: Vec<DVec3> = lost.iter().map(|&v| surface.positions[v]).collect();
        let all = (0..shape.points.len() as u32).collect();
        skins.push((Skin::bind_connected(&shape.points, &shape.edges, &positions), lost, all));
    }
    shape.skin = Skin::gather(surface.positions.len(), &skins);
    shape.surface = surface;
    Ok((shape, notes))
}

/// A skin, the vertices it is of, and the particles it names.
type OwnSkin = (Skin, Vec<usize>, Vec<u32>);

impl CutBody {
    /// Skins of the body's vertices: each piece follows the parts inside it, and not what only comes near. Points count
    /// from `first`.
    fn skins(&self, body: &SeparateBody, first: u32, skins: &mut Vec<OwnSkin>) {
        let (points, edges) = (&self.tets.points, self.tets.edges());
        let mut bind = |own: Vec<u32>, edges: &[[u32; 2]], vertices: Vec<usize>| {
            let points: Vec<DVec3> = own.iter().map(|&i| points[i as usize]).collect();
            let positions: Vec<DVec3> = vertices.iter().map(|&v| body.mesh.positions[v]).collect();
            let skin = Skin::bind_connected(&points, edges, &positions);
            let vertices = vertices.into_iter().map(|v| body.vertices[v]).collect();
            skins.push((skin, vertices, own.into_iter().map(|i| first + i).collect()));
        };
        let all: Vec<u32> = (0..points.len() as u32).collect();
        if self.touches.len() == 1 {
            return bind(all, &edges, (0..body.vertices.len()).collect());
        }
        let mut of_point = vec![0; points.len()];
        for (t, &part) in self.tets.tetrahedra.iter().zip(&self.part_of) {
            t.iter().for_each(|&i| of_point[i as usize] = part);
        }
        // No two parts share a piece.
        let mut part_of_piece = vec![None; body.pieces.len()];
        for (part, touched) in self.touches.iter().enumerate() {
            touched.iter().for_each(|&piece| part_of_piece[piece] = Some(part));
        }
        let vertices_of = |part: Option<usize>| -> Vec<usize> {
            let owner = |v: usize| part_of_piece[body.pieces.of_vertex[v]];
            (0..body.vertices.len()).filter(|&v| owner(v) == part).collect()
        };
        for part in 0..self.touches.len() {
            let own: Vec<u32> = all.iter().copied().filter(|&i| of_point[i as usize] == part).collect();
            let mut place = vec![0; points.len()];
            own.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
            let own_edges = edges.iter().filter(|e| of_point[e[0] as usize] == part);
            let own_edges: Vec<[u32; 2]> = own_edges.map(|e| e.map(|i| place[i as usize])).collect();
            bind(own, &own_edges, vertices_of(Some(part)));
        }
        bind(all, &edges, vertices_of(None));
    }
}

fn refusal(spacing: f64, left_out: f64, found: Option<(f64, usize)>) -> GeometryError {
    let help = match found {
        Some((spacing, points)) => format!(
            "set spacing = {}, which makes about {points} particles of it; or use it as cloth, with elements = \
             \"triangles\"",
            rounded_down(spacing)
        ),
        None => format!(
            "no spacing that makes up to {MOST_TRIED} particles does: make it thicker, or use it as cloth, with elements = \
             \"triangles\""
        ),
    };
    let message = format!(
        "a spacing of {spacing:.3e} m leaves out {:.1} % of the mesh's volume, in parts too thin for it",
        100.0 * left_out
    );
    GeometryError::new(message, help)
}

/// Two digits, and never more than the number.
fn rounded_down(value: f64) -> f64 {
    let unit = 10f64.powi(value.log10().floor() as i32 - 2);
    let text = format!("{:.2e}", (value / unit).floor() * unit);
    text.parse().unwrap_or(value)
}

/// The pieces whose surface each part touches, by the points of its boundary.
fn touched(tets: &TetMesh, parts: &[usize], count: usize, pieces: &SolidPieces) -> Vec<Vec<usize>> {
    let mut touches = vec![Vec::new(); count];
    let mut part_of_point = vec![0; tets.points.len()];
    for (t, &part) in tets.tetrahedra.iter().zip(parts) {
        t.iter().for_each(|&i| part_of_point[i as usize] = part);
    }
    let (boundary, point_of) = tets.surface();
    let nearest = parallel::map(&boundary.positions, parallel::thread_count(0), |&p| pieces.nearest(p));
    let mut groups: Vec<(usize, usize)> =
        point_of.iter().zip(nearest).map(|(&i, piece)| (part_of_point[i as usize], piece)).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.into_iter().for_each(|(part, piece)| touches[part].push(piece));
    touches
}

/// Part of the mesh's volume that is further from all tetrahedra than the cut of a lattice explains.
fn missed(surface: &TriMesh, tets: &TetMesh, report: &StuffingReport, cell: f64) -> f64 {
    // Nothing much can be missing where the volumes agree.
    if report.volume_error() > -LEFT_OUT {
        return 0.0;
    }
    let (lo, hi) = TriMesh::bounds(&surface.positions).unwrap_or_default();
    let size = hi - lo;
    let counts = (size / (size.element_product() / SAMPLES).cbrt())
        .round()
        .max(DVec3::splat(5.0))
        .min(DVec3::splat(1e4));
    let [nx, ny, nz] = counts.to_array().map(|n| n as usize);
    // Shaken, as a wall that is parallel to a lattice lies on it or between its layers.
    let mut random = SplitMix64::new(1);
    let mut points = Vec::with_capacity(nx * ny * nz);
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let at = DVec3::new(i as f64, j as f64, k as f64);
                points.push(lo + size * (at + DVec3::from_array([(); 3].map(|()| random.unit()))) / counts);
            }
        }
    }
    let (mesh, boundary) = (Winding::new(surface), Winding::new(&tets.surface().0));
    let state = parallel::map(&points, parallel::thread_count(0), |&p| {
        if !mesh.inside(p) {
            return 0u8;
        }
        let far = boundary.nearest(p).is_none_or(|q| q.distance(p) > NEAR * cell);
        1 + u8::from(far && !boundary.inside(p))
    });
    let inside = state.iter().filter(|&&s| s > 0).count();
    state.iter().filter(|&&s| s == 2).count() as f64 / inside.max(1) as f64
}
