//! One primitive of a mesh: its vertices (positions, normals, texture coordinates, colours, targets) and triangles.

use super::accessor::Accessor;
use super::document::Document;
use super::json::{EXPORT_AGAIN, JsonPlace};
use crate::GeometryError;

/// What a primitive is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Points,
    Lines,
    Triangles,
    Strip,
    Fan,
}

impl Mode {
    pub fn read(at: &JsonPlace<'_>) -> Result<Mode, GeometryError> {
        Ok(match at.count("mode")? {
            Some(0) => Mode::Points,
            Some(1..=3) => Mode::Lines,
            None | Some(4) => Mode::Triangles,
            Some(5) => Mode::Strip,
            Some(6) => Mode::Fan,
            Some(other) => return Err(at.fault(format!("{other} is no mode"), EXPORT_AGAIN)),
        })
    }

    /// Triangles of a run of vertices, by the formulas of section 3.7.2.1 of the specification. Those that name a
    /// vertex twice join strips and mean nothing there.
    pub fn triangles(self, run: &[u32]) -> Vec<[u32; 3]> {
        let proper = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        match self {
            Mode::Points | Mode::Lines => Vec::new(),
            Mode::Triangles => run.as_chunks::<3>().0.to_vec(),
            Mode::Strip => run
                .windows(3)
                .enumerate()
                .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] })
                .filter(proper)
                .collect(),
            Mode::Fan => run
                .get(1..)
                .unwrap_or_default()
                .windows(2)
                .map(|w| [w[0], w[1], run[0]])
                .filter(proper)
                .collect(),
        }
    }
}

/// The vertices of a primitive, before it is joined with others.
pub(super) struct PrimitiveVertices {
    pub positions: Vec<[f32; 3]>,
    pub normals: Option<Vec<[f32; 3]>>,
    /// v down, as in the file.
    pub uvs: Option<Vec<[f32; 2]>>,
    pub colors: Option<Vec<[f32; 4]>>,
    /// Displacements of each target; `None` where it moves nothing.
    pub targets: Vec<Option<Vec<[f32; 3]>>>,
    /// Numbers that were none, and set to zero.
    pub mended: usize,
}

/// Which accessors make the vertices: primitives with the same ones share them.
pub(super) fn vertex_key(at: &JsonPlace<'_>) -> Result<Vec<Option<usize>>, GeometryError> {
    let attributes = at.need("attributes")?;
    let mut key = Vec::new();
    for name in ["POSITION", "NORMAL", "TEXCOORD_0", "COLOR_0"] {
        key.push(attributes.count(name)?);
    }
    for target in at.list("targets")?.iter() {
        key.push(target.count("POSITION")?);
    }
    Ok(key)
}

impl PrimitiveVertices {
    pub fn read(document: &Document<'_>, at: &JsonPlace<'_>) -> Result<PrimitiveVertices, GeometryError> {
        let attributes = at.need("attributes")?;
        let Some(accessor) = Accessor::named(document, &attributes, "POSITION")? else {
            return Err(attributes.fault("`POSITION` is missing", EXPORT_AGAIN));
        };
        if !accessor.has_bytes() && at.get("extensions").is_some() {
            return Err(at.fault("the vertices are compressed", super::UNCOMPRESSED));
        }
        let count = accessor.count;
        let positions = accessor.floats::<3>(None)?;
        if let Some(i) = positions.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            let [x, y, z] = positions[i];
            return Err(attributes.need("POSITION")?.fault(
                format!("vertex {i} is at ({x}, {y}, {z})"),
                "every coordinate must be a finite number",
            ));
        }
        let same = |accessor: &Accessor<'_>, name: &str| match accessor.count == count {
            true => Ok(()),
            false => Err(accessor.fault(format!("{} {name} for {count} positions", accessor.count))),
        };
        let mut mended = 0;
        let mut targets = Vec::new();
        for target in at.list("targets")?.iter() {
            let Some(accessor) = Accessor::named(document, &target, "POSITION")? else {
                targets.push(None);
                continue;
            };
            same(&accessor, "displacements")?;
            let moves = accessor.floats::<3>(None)?;
            if let Some(i) = moves.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
                let place = target.need("POSITION")?;
                return Err(place.fault(
                    format!("vertex {i} moves by {:?}", moves[i]),
                    "every coordinate must be a finite number",
                ));
            }
            targets.push(Some(moves));
        }
        let named = |name: &str| {
            let found = Accessor::named(document, &attributes, name)?;
            found.as_ref().map_or(Ok(()), |a| same(a, name))?;
            Ok::<_, GeometryError>(found)
        };
        Ok(PrimitiveVertices {
            positions,
            normals: named("NORMAL")?.map(|a| finite(a.floats(None)?, &mut mended)).transpose()?,
            uvs: named("TEXCOORD_0")?.map(|a| finite(a.floats(None)?, &mut mended)).transpose()?,
            colors: named("COLOR_0")?.map(|a| finite(a.floats(Some(1.0))?, &mut mended)).transpose()?,
            targets,
            mended,
        })
    }
}

/// The corners of a primitive as indices below `vertices`.
pub(super) fn corners(
    document: &Document<'_>,
    at: &JsonPlace<'_>,
    vertices: usize,
) -> Result<Vec<u32>, GeometryError> {
    let Some(accessor) = Accessor::named(document, at, "indices")? else {
        document.budget.bytes(at, vertices, 4)?;
        return Ok((0..vertices as u32).collect());
    };
    let run = accessor.indices()?;
    match run.iter().position(|&v| v as usize >= vertices) {
        Some(k) => Err(at
            .need("indices")?
            .fault(format!("corner {k} names vertex {} of {vertices}", run[k]), EXPORT_AGAIN)),
        None => Ok(run),
    }
}

/// The values with what is no number set to zero, and counted.
fn finite<const N: usize>(
    mut values: Vec<[f32; N]>,
    mended: &mut usize,
) -> Result<Vec<[f32; N]>, GeometryError> {
    for x in values.as_flattened_mut().iter_mut().filter(|x| !x.is_finite()) {
        *x = 0.0;
        *mended += 1;
    }
    Ok(values)
}
