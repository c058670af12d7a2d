//! The order of a torn body's unknowns: that of the whole body, with what came apart side by side.
//!
//! Finding an order is most of the work of a factor, and one that is good for the whole body is good for what tearing makes
//! of it. It must be a function of the model alone, so that a solver made anew gives the same bits: it is that of the whole
//! prototype with nothing pinned and every constraint at work, which its copies share.

use super::system::places;
use crate::dofs::{Dof, DofMap};
use crate::model::BodyModel;
use crate::solvers::unknowns::{Inertia, Unknowns};
use pliant_linalg::Panels;

/// Finds the order of the whole body, if it was not found yet: a body that may tear does not wait for it then.
pub(super) fn prepare(model: &BodyModel) {
    of_whole(model);
}

/// The order of the unknowns of a torn body; `None` if it is whole.
pub(super) fn order(model: &BodyModel, natural: &Unknowns) -> Option<Vec<u32>> {
    let origin = model.corners()?.origin();
    let mut copies: Vec<Vec<u32>> = vec![Vec::new(); model.whole().particle_count()];
    for (i, &from) in origin.iter().enumerate() {
        if let Dof::Free(u) = natural.dofs.get(i) {
            copies[from as usize].push(*u);
        }
    }
    let particles = of_whole(model).iter().filter_map(|&i| copies.get(i as usize)).flatten();
    let auxiliary = natural.auxiliary.iter().flatten();
    Some(particles.chain(auxiliary).copied().collect())
}

/// The particles of the whole body in a good order; auxiliary unknowns of constraints are beyond their number.
fn of_whole(model: &BodyModel) -> &[u32] {
    let prototype = model.whole().prototype();
    prototype.order.get_or_init(|| {
        let free = model.pinned(Vec::new(), 0);
        let scales = vec![1.0; free.batches.len()];
        let dofs = DofMap::new(vec![Dof::Free(0); free.particle_count()], &[]);
        let unknowns = Unknowns::new(&free, dofs, &scales);
        let matrix = unknowns.matrix(&free, &scales, &Inertia::new(&free, free.params.substep()));
        Panels::good_order(&matrix, Some(&places(&free, &unknowns)))
    })
}
