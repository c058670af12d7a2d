//! What a body's material acts on: which elements its shape is cut into.

use crate::material::MaterialLayers;
use crate::shape::ShapePlan;
use crate::source::Check;

/// The elements of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementChoice {
    /// None: clusters and springs hold it together.
    None,
    /// Whatever the shape has: only reading a mesh tells whether it is closed.
    Whatever,
    Tetrahedra,
    Triangles,
    Edges,
}

/// Keys that only mean something for elements.
const OF_ELEMENTS: [&str; 4] = ["young", "poisson", "thickness", "constraint"];

/// Decides it, and reports what the shape cannot be cut into.
pub(crate) fn plan(
    check: &mut Check<'_>,
    layers: &MaterialLayers<'_>,
    shape: Option<&ShapePlan>,
) -> ElementChoice {
    let Some(shape) = shape else { return ElementChoice::None };
    let of_elements = |layer: &crate::record::Record| {
        // A material has no constraints.
        OF_ELEMENTS.into_iter().find(|k| layer.values.contains_key(k)).map(|k| layer.place(k).clone())
    };
    let own = of_elements(layers.body);
    let Some(word) = layers.body.given("elements") else {
        let material = || layers.body.given("material").filter(|_| layers.named.is_some());
        let reason = own
            .or_else(|| material().map(|m| m.at.clone()))
            .or_else(|| layers.material.and_then(of_elements));
        if let (Some(at), ShapePlan::Points { .. }) = (&reason, shape) {
            let help = "remove it: clusters hold points together, as stiff as `frequency` says";
            check.add(at, "points have no elements for a material to act on", help);
            return ElementChoice::None;
        }
        return if reason.is_some() || shape.is_made_of_elements() {
            ElementChoice::Whatever
        } else {
            ElementChoice::None
        };
    };
    let cut = match word.it.text() {
        "tetrahedra" => ElementChoice::Tetrahedra,
        "triangles" => ElementChoice::Triangles,
        "edges" => ElementChoice::Edges,
        _ => ElementChoice::None,
    };
    if let (ElementChoice::None, Some(at)) = (cut, &own) {
        let help = "remove it, or remove elements = \"none\"";
        check.add(at, "this is of elements, and the body has none", help);
    }
    let thin = matches!(
        shape,
        ShapePlan::Sheet { .. } | ShapePlan::Tube { .. } | ShapePlan::Roll { .. } | ShapePlan::Vertices(_)
    );
    let line = matches!(shape, ShapePlan::Thread { .. });
    let points = matches!(shape, ShapePlan::Points { .. });
    if match cut {
        ElementChoice::Tetrahedra => thin || line || points,
        ElementChoice::Triangles => line || points,
        ElementChoice::Edges => points,
        _ => false,
    } {
        let help = match () {
            () if points => "remove it: clusters hold points together",
            () if line => "set elements = \"edges\", or remove it",
            () => "set elements = \"triangles\", or give a solid or a closed mesh",
        };
        check.add(&word.at, format!("the shape cannot be cut into {}", word.it.text()), help);
    }
    cut
}
