//! What a body shows: its own surface or a finer mesh of a file, and what that is bound to.

use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::mesh::{self, MeshPlan};
use crate::record::{Record, SceneValue};
use crate::shape::MadeShape;
use crate::source::{Located, SourceText, Span};
use pliant::{Body, SolverKind};
use pliant_geometry::shapes;
use pliant_geometry::{Clusters, MeshAttributes, Skin, SkinBinding, TriMesh};

/// The keys `render` and `skin` of a body.
#[derive(Clone, Debug)]
pub(crate) struct RenderPlan {
    mesh: Option<MeshPlan>,
    binding: Option<Located<SkinBinding>>,
}

/// A surface that is not the shape's own, or is bound otherwise than that would be.
#[derive(Clone, Debug)]
pub(crate) struct RenderSurface {
    pub surface: TriMesh,
    pub attributes: MeshAttributes,
    pub skin: Skin,
}

/// Reads the keys.
pub(crate) fn plan(body: &Record) -> RenderPlan {
    let mesh = body.given("render").and_then(|given| match &given.it {
        SceneValue::Record(table) => mesh::render_plan(table),
        file => Some(MeshPlan::of_file(Located { at: given.at.clone(), it: file.text().to_string() })),
    });
    let binding = body.given("skin").and_then(|word| {
        let named = SkinBinding::NAMES.into_iter().find(|(name, _)| *name == word.it.text());
        named.map(|(_, binding)| Located { at: word.at.clone(), it: binding })
    });
    RenderPlan { mesh, binding }
}

impl RenderPlan {
    /// What the body shows; `None` for its own surface as it is.
    pub fn make(
        &self,
        body: &Body,
        made: &MadeShape,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
    ) -> Result<Option<RenderSurface>, Vec<Diagnostic>> {
        let (surface, attributes) = match &self.mesh {
            Some(plan) => {
                let mesh = plan.read_as(made.from_file, source, digest)?;
                (mesh.triangulated(), mesh.attributes)
            }
            None if self.binding.is_some() => (made.shape.surface.clone(), made.shape.attributes.clone()),
            None => return Ok(None),
        };
        if body.solver == SolverKind::Rigid
            && let Some(skin) = shapes::rigid_skin(&made.shape.points, &surface.positions)
        {
            return Ok(Some(RenderSurface { surface, attributes, skin }));
        }
        let binding = self.binding.as_ref().map_or_else(|| SkinBinding::usual(&made.shape), |r| r.it);
        let at = self.place();
        let wrong = |e: pliant_geometry::GeometryError| vec![source.problem(&at, e.message, e.help)];
        let clusters = match (binding, body.covering()) {
            (SkinBinding::Clusters, Some(covering)) => covering.build(&made.shape.points).map_err(wrong)?,
            _ => Clusters::default(),
        };
        let skin = Skin::bind_to(binding, &made.shape, Some(&clusters), &surface.positions).map_err(wrong)?;
        Ok(Some(RenderSurface { surface, attributes, skin }))
    }

    fn place(&self) -> Span {
        let binding = self.binding.as_ref().map(|r| &r.at);
        binding.or(self.mesh.as_ref().map(|m| &m.file.at)).cloned().unwrap_or_default()
    }
}
