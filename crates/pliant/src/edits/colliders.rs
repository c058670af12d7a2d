//! Colliders that come, go and become others.

use super::{EditError, Editing, Effect};
use crate::builder;
use crate::controls::no_such_collider;
use crate::model::{Collider, ColliderId, ModelCollider};
use crate::state::fits_mesh;

impl Editing<'_> {
    pub(super) fn add_collider(&mut self, collider: &Collider) -> Result<Effect, EditError> {
        let id = self.model.next_collider();
        let mut all = self.model.colliders().to_vec();
        all.push(ModelCollider { id, collider: collider.clone() });
        builder::check_colliders(all.iter().map(|c| &c.collider))?;
        *self.model = self.model.with_colliders(all, id.number() + 1);
        self.controls.colliders.push(None);
        self.controls.vertices.push(Vec::new());
        let (at, vertices) = (collider.motion.placement(self.time), collider.vertices(self.time));
        Ok(Effect::ColliderAdded { id, at, vertices })
    }

    pub(super) fn remove_collider(&mut self, collider: ColliderId) -> Result<Effect, EditError> {
        let place = self.collider_place(collider)?;
        let mut all = self.model.colliders().to_vec();
        all.remove(place);
        *self.model = self.model.with_colliders(all, self.model.next_collider().number());
        self.controls.colliders.remove(place);
        self.controls.vertices.remove(place);
        Ok(Effect::ColliderRemoved { place })
    }

    pub(super) fn change_collider(&mut self, id: ColliderId, to: &Collider) -> Result<Effect, EditError> {
        let place = self.collider_place(id)?;
        let mut all = self.model.colliders().to_vec();
        all[place].collider = to.clone();
        builder::check_colliders(all.iter().map(|c| &c.collider))?;
        *self.model = self.model.with_colliders(all, self.model.next_collider().number());
        // Where a host leads it, it is; as are its vertices, unless the mesh has others.
        let at = self.controls.colliders[place].is_none().then(|| to.motion.placement(self.time));
        let given = &mut self.controls.vertices[place];
        if !fits_mesh(given, &self.model.colliders()[place]) {
            given.clear();
        }
        let vertices = given.is_empty().then(|| to.vertices(self.time));
        Ok(Effect::ColliderChanged { place, at, vertices })
    }

    /// Where a collider stands in the model.
    pub(super) fn collider_place(&self, id: ColliderId) -> Result<usize, EditError> {
        let found = self.model.collider_index(id);
        found.ok_or_else(|| EditError::NoCollider { collider: id, help: no_such_collider(self.model, id) })
    }
}
