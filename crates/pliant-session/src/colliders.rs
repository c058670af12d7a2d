//! What the log is told of colliders that are no planes: their meshes at first, where they are in every frame.

use pliant::{ColliderShape, Simulation};
use pliant_cache::{ColliderPlace, LogCollider};
use pliant_scene::BuiltCollider;

/// The meshes of all colliders a scene has or will have.
pub(crate) fn meshes(colliders: &[BuiltCollider]) -> Vec<LogCollider> {
    let shown = colliders.iter().enumerate().filter(|(_, c)| !c.surface.triangles.is_empty());
    shown
        .map(|(id, c)| LogCollider { id: id as u64, color: c.color, mesh: c.surface.clone().into() })
        .collect()
}

/// Where they are at present.
pub(crate) fn places(simulation: &Simulation) -> Vec<ColliderPlace> {
    let (model, state) = (simulation.model(), simulation.state());
    let all = model.colliders().iter().zip(state.colliders()).enumerate();
    all.filter(|(_, (of, _))| !matches!(of.collider.shape, ColliderShape::Plane { .. }))
        .map(|(k, (of, placement))| ColliderPlace {
            id: of.id.number(),
            at: of.collider.placed(placement),
            vertices: state.collider_vertices(k).to_vec(),
        })
        .collect()
}
