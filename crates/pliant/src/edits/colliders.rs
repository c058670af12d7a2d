//! Colliders that come, go and become others.

use super::{EditError, Editing, Effect};
use crate::builder;
use crate::controls::no_such_collider;
use crate::model::{Collider, ColliderId, ModelCollider};

impl Editing<'_> {
    pub(super) fn add_collider(&mut self, collider: &Collider) -> Result<Effect, EditError> {
        let id = self.model.next_collider();
        let mut all = self.model.colliders().to_vec();
        all.push(ModelCollider { id, collider: collider.clone() });
        builder::check_colliders(all.iter().map(|c| &c.collider))?;
        *self.model = self.model.with_colliders(all, id.number() + 1);
        self.controls.colliders.push(None);
        Ok(Effect::ColliderAdded { id, at: collider.motion.placement(self.time) })
    }

    pub(super) fn remove_collider(&mut self, collider: ColliderId) -> Result<Effect, EditError> {
        let place = self.collider_place(collider)?;
        let mut all = self.model.colliders().to_vec();
        all.remove(place);
        *self.model = self.model.with_colliders(all, self.model.next_collider().number());
        self.controls.colliders.remove(place);
        Ok(Effect::ColliderRemoved { place })
    }

    pub(super) fn change_collider(&mut self, id: ColliderId, to: &Collider) -> Result<Effect, EditError> {
        let place = self.collider_place(id)?;
        let mut all = self.model.colliders().to_vec();
        all[place].collider = to.clone();
        builder::check_colliders(all.iter().map(|c| &c.collider))?;
        *self.model = self.model.with_colliders(all, self.model.next_collider().number());
        // Where a host leads it, it is.
        let led = self.controls.colliders[place].is_some();
        Ok(match led {
            true => Effect::None,
            false => Effect::ColliderPlaced { place, at: to.motion.placement(self.time) },
        })
    }

    /// Where a collider stands in the model.
    pub(super) fn collider_place(&self, id: ColliderId) -> Result<usize, EditError> {
        let found = self.model.collider_index(id);
        found.ok_or_else(|| EditError::NoCollider { collider: id, help: no_such_collider(self.model, id) })
    }
}
