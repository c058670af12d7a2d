//! Files that shapes are read from, and how their faults are told.

use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::source::{Located, SourceText};
use pliant_geometry::{GeometryError, TetMesh};

/// A tetrahedral mesh may be in two files; what was read of them tells as much.
pub(super) fn digest_tets(mesh: &TetMesh, digest: &mut InputDigest<'_>) {
    let points = mesh.points.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes);
    digest.bytes(&points.collect::<Vec<u8>>());
    let corners = mesh.tetrahedra.iter().flatten().flat_map(|i| i.to_le_bytes());
    digest.bytes(&corners.collect::<Vec<u8>>());
}

/// The bytes of a file the scene names.
pub(crate) fn read(
    source: &SourceText,
    file: &Located<String>,
    digest: &mut InputDigest<'_>,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let path = source.resolve(&file.it);
    digest.read(&path).map_err(|why| {
        let problem = source.problem(
            &file.at,
            format!("cannot read {}: {why}", path.display()),
            "check the path, which is relative to the scene's folder, and that you may read it",
        );
        vec![Diagnostic { is_io: true, ..problem }]
    })
}

/// Problems inside a file the scene names.
pub(crate) fn in_file(
    source: &SourceText,
    file: &Located<String>,
    errors: Vec<GeometryError>,
) -> Vec<Diagnostic> {
    let (line, _) = source.place(file.at.start);
    let path = source.resolve(&file.it);
    errors
        .into_iter()
        .map(|e| Diagnostic {
            file: e.file.unwrap_or_else(|| path.clone()),
            place: e.line.map(|l| (l, 0)),
            message: e.message,
            help: match source.around {
                Some(_) => e.help,
                None => format!("{} (read because of {}:{line})", e.help, source.file.display()),
            },
            is_io: e.io,
            ..Diagnostic::default()
        })
        .collect()
}
