//! What is shown of bodies that the scene does not have: those that came by an edit, in this run or in one that is gone on with.

use pliant_cache::LogBody;
use pliant_cache::geometry::{Elements, Look};
use pliant_scene::BuiltBody;

/// What is shown of a body that comes by an edit: the surface of its own shape.
pub(super) fn shown_of(body: &pliant::Body) -> BuiltBody {
    let shape = &body.shape;
    let look =
        match (shape.surface.triangles.is_empty(), shape.tetrahedra.is_empty(), shape.triangles.is_empty()) {
            (true, ..) => Look::Matte,
            (_, true, false) => Look::Cloth,
            _ => Look::Jelly,
        };
    let elements = Elements {
        tetrahedra: shape.tetrahedra.clone(),
        triangles: shape.triangles.clone(),
        edges: shape.edges.clone(),
    };
    BuiltBody {
        name: body.name.clone(),
        color: body.color,
        surface: shape.surface.clone(),
        attributes: shape.attributes.clone(),
        skin: shape.skin.clone(),
        elements: elements.largest(),
        look,
    }
}

/// The same of one that a log knows.
pub(super) fn shown_in_log(body: &LogBody) -> BuiltBody {
    BuiltBody {
        name: body.name.to_string(),
        color: body.color,
        surface: body.mesh.as_ref().clone(),
        attributes: body.attributes.as_ref().clone(),
        skin: body.skin.as_ref().clone(),
        elements: body.simulated.elements.clone(),
        look: body.look,
    }
}
