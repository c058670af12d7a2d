//! What a body shows: its own surface or a finer mesh of a file, and what that rides on.

use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::mesh::{self, MeshPlan};
use crate::record::{Datum, Record};
use crate::shape::Made;
use crate::source::{Placed, Source, Span};
use pliant::Body;
use pliant_geometry::{Clusters, Coat, Riding, Skin, TriMesh};

/// The keys `render` and `skin` of a body.
#[derive(Clone, Debug)]
pub(crate) struct RenderPlan {
    mesh: Option<MeshPlan>,
    riding: Option<Placed<Riding>>,
}

/// A surface that is not the shape's own, or rides otherwise than that would.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub surface: TriMesh,
    pub coat: Coat,
    pub skin: Skin,
}

/// Reads the keys.
pub(crate) fn plan(body: &Record) -> RenderPlan {
    let mesh = body.given("render").and_then(|given| match &given.it {
        Datum::Record(table) => mesh::render_plan(table),
        file => Some(MeshPlan::of_file(Placed { at: given.at.clone(), it: file.text().to_string() })),
    });
    let riding = body.given("skin").and_then(|word| {
        let named = Riding::NAMES.into_iter().find(|(name, _)| *name == word.it.text());
        named.map(|(_, riding)| Placed { at: word.at.clone(), it: riding })
    });
    RenderPlan { mesh, riding }
}

impl RenderPlan {
    /// What the body shows; `None` for its own surface as it is.
    pub fn make(
        &self,
        body: &Body,
        made: &Made,
        source: &Source,
        digest: &mut Digest<'_>,
    ) -> Result<Option<Shown>, Vec<Diagnostic>> {
        let (surface, coat) = match &self.mesh {
            Some(plan) => {
                let mesh = plan.read_as(made.from_file, source, digest)?;
                (mesh.triangulated(), mesh.coat)
            }
            None if self.riding.is_some() => (made.shape.surface.clone(), made.shape.coat.clone()),
            None => return Ok(None),
        };
        let riding = self.riding.as_ref().map_or_else(|| Riding::usual(&made.shape), |r| r.it);
        let at = self.place();
        let wrong = |e: pliant_geometry::GeometryError| vec![source.problem(&at, e.message, e.help)];
        let clusters = match (riding, body.covering()) {
            (Riding::Clusters, Some(covering)) => covering.build(&made.shape.points).map_err(wrong)?,
            _ => Clusters::default(),
        };
        let skin = Skin::ride(riding, &made.shape, Some(&clusters), &surface.positions).map_err(wrong)?;
        Ok(Some(Shown { surface, coat, skin }))
    }

    fn place(&self) -> Span {
        let riding = self.riding.as_ref().map(|r| &r.at);
        riding.or(self.mesh.as_ref().map(|m| &m.file.at)).cloned().unwrap_or_default()
    }
}
