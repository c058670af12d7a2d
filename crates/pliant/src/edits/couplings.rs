//! Couplings that come and go.

use super::{EditError, Editing, Effect};
use crate::builder;
use crate::controls::{CouplingEntry, no_such_coupling};
use crate::model::{Coupling, CouplingId, ModelCoupling};

impl Editing<'_> {
    pub(super) fn add_coupling(&mut self, coupling: &Coupling) -> Result<Effect, EditError> {
        let id = self.model.next_coupling();
        let mut all = self.model.couplings().to_vec();
        all.push(ModelCoupling { id, coupling: coupling.clone() });
        builder::check_couplings(&all, self.model.bodies())?;
        *self.model = self.model.with_couplings(all, id.number() + 1);
        self.controls.couplings.push(CouplingEntry::new(id, coupling));
        Ok(Effect::CouplingAdded { id, coupling: Box::new(coupling.clone()) })
    }

    pub(super) fn remove_coupling(&mut self, id: CouplingId) -> Result<Effect, EditError> {
        let Some(place) = self.model.coupling_index(id) else {
            let help = no_such_coupling(self.model, id);
            return Err(EditError::NoCoupling { coupling: id, help });
        };
        let mut all = self.model.couplings().to_vec();
        all.remove(place);
        *self.model = self.model.with_couplings(all, self.model.next_coupling().number());
        self.controls.couplings.remove(place);
        self.drop_tracks(|control| control.coupling() == Some(id));
        Ok(Effect::CouplingRemoved { place })
    }
}
