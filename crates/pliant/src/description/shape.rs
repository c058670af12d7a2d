//! Shapes, skins and what is shown of a body as bytes.

use crate::bytes::{Reader, Truncated, Writer};
use crate::model::Shown;
use glam::DMat3;
use pliant_geometry::{
    ContactPoint, Handles, NormalOffsets, RigidFrame, RigidOffsets, Shape, Skin, SparseRows, TriMesh,
};

/// The first format of checkpoints that tells by what a body touches.
const CONTACT_POINTS: u64 = 9;

/// The first whose skins may have parts that only turn.
const RIGID_OFFSETS: u64 = 11;

pub(super) fn write_shape(w: &mut Writer, shape: &Shape) {
    // Mesh attributes are for whoever shows the surface.
    let Shape { points, measure, surface, attributes: _, skin, edges, tetrahedra, triangles, contact } =
        shape;
    let TriMesh { positions, triangles: faces } = surface;
    w.vectors(points);
    w.numbers(measure);
    w.vectors(positions);
    w.indices(faces.as_flattened());
    write_skin(w, skin);
    w.indices(edges.as_flattened());
    w.indices(tetrahedra.as_flattened());
    w.indices(triangles.as_flattened());
    w.word(contact.len() as u64);
    for ContactPoint { at, radius } in contact {
        w.vector(*at);
        w.number(*radius);
    }
}

pub(super) fn read_shape(r: &mut Reader<'_>, format: u64) -> Result<Shape, Truncated> {
    let (points, measure) = (r.vectors()?, r.numbers()?);
    let surface = TriMesh { positions: r.vectors()?, triangles: corners(r)? };
    // The builder does not look at where the surface is.
    if !surface.positions.iter().all(|p| p.is_finite()) {
        return Err(Truncated);
    }
    let skin = read_skin(r, format)?;
    let (edges, tetrahedra, triangles) = (corners(r)?, corners(r)?, corners(r)?);
    let point = |r: &mut Reader<'_>| Ok(ContactPoint { at: r.vector()?, radius: r.number()? });
    let contact = match format >= CONTACT_POINTS {
        true => (0..r.length()?).map(|_| point(r)).collect::<Result<_, _>>()?,
        false => Vec::new(),
    };
    Ok(Shape { points, measure, surface, skin, edges, tetrahedra, triangles, contact, ..Shape::default() })
}

fn write_skin(w: &mut Writer, skin: &Skin) {
    let Skin { offsets, particles, weights, handles, normal_offsets, rigid_offsets } = skin;
    w.indices(offsets);
    w.indices(particles);
    w.numbers(weights);
    w.word(handles.is_some().into());
    if let Some(through) = handles.as_deref() {
        let Handles { handles, vertices } = through;
        [handles, vertices].into_iter().for_each(|rows| write_rows(w, rows));
    }
    w.word(normal_offsets.is_some().into());
    if let Some(NormalOffsets { triangles, vertices }) = normal_offsets.as_deref() {
        w.indices(triangles.as_flattened());
        write_rows(w, vertices);
    }
    w.word(rigid_offsets.is_some().into());
    if let Some(RigidOffsets { frames, vertices }) = rigid_offsets.as_deref() {
        w.word(frames.len() as u64);
        for RigidFrame { first, spread } in frames {
            w.word(u64::from(*first));
            [spread.x_axis, spread.y_axis, spread.z_axis].into_iter().for_each(|v| w.vector(v));
        }
        write_rows(w, vertices);
    }
}

fn read_skin(r: &mut Reader<'_>, format: u64) -> Result<Skin, Truncated> {
    let (offsets, particles, weights) = (r.indices()?, r.indices()?, r.numbers()?);
    let handles = match r.flag()? {
        true => Some(Box::new(Handles { handles: read_rows(r)?, vertices: read_rows(r)? })),
        false => None,
    };
    let normal_offsets = match r.flag()? {
        true => Some(Box::new(NormalOffsets { triangles: corners(r)?, vertices: read_rows(r)? })),
        false => None,
    };
    let frame = |r: &mut Reader<'_>| {
        let first = u32::try_from(r.word()?).map_err(|_| Truncated)?;
        Ok(RigidFrame { first, spread: DMat3::from_cols(r.vector()?, r.vector()?, r.vector()?) })
    };
    let rigid_offsets = match format >= RIGID_OFFSETS && r.flag()? {
        true => {
            let frames = (0..r.length()?).map(|_| frame(r)).collect::<Result<_, _>>()?;
            Some(Box::new(RigidOffsets { frames, vertices: read_rows(r)? }))
        }
        false => None,
    };
    Ok(Skin { offsets, particles, weights, handles, normal_offsets, rigid_offsets })
}

fn write_rows(w: &mut Writer, rows: &SparseRows) {
    let SparseRows { offsets, columns, weights } = rows;
    w.indices(offsets);
    w.indices(columns);
    w.numbers(weights);
}

fn read_rows(r: &mut Reader<'_>) -> Result<SparseRows, Truncated> {
    Ok(SparseRows { offsets: r.indices()?, columns: r.indices()?, weights: r.numbers()? })
}

/// Appends what is shown of a body.
pub(crate) fn write_shown(w: &mut Writer, shown: &Shown) {
    w.indices(shown.triangles().as_flattened());
    w.word(shown.skin().is_some().into());
    if let Some(skin) = shown.skin() {
        write_skin(w, skin);
    }
}

/// Reads back what [`write_shown`] wrote.
pub(crate) fn read_shown(r: &mut Reader<'_>, format: u64) -> Result<Shown, Truncated> {
    let triangles = corners(r)?;
    let skin = if r.flag()? { Some(read_skin(r, format)?) } else { None };
    Ok(Shown::of(triangles, skin))
}

/// Elements by their corners.
fn corners<const C: usize>(r: &mut Reader<'_>) -> Result<Vec<[u32; C]>, Truncated> {
    let flat = r.indices()?;
    let (elements, rest) = flat.as_chunks::<C>();
    if rest.is_empty() { Ok(elements.to_vec()) } else { Err(Truncated) }
}
