//! Elastic energy of a body, as checks of a substep need it.

use super::Subject;
use crate::constraints::View;
use crate::memory::{Memory, Section};
use crate::model::BodyModel;
use crate::points::Points;
use glam::DVec3;

/// Measures; all it holds is memory to do so without allocating.
#[derive(Clone, Debug)]
pub(super) struct ElasticEnergy {
    targets: Vec<DVec3>,
    shared: Vec<Vec<f64>>,
}

impl ElasticEnergy {
    pub fn new(model: &BodyModel) -> ElasticEnergy {
        ElasticEnergy {
            targets: Vec::with_capacity(model.pins.iter().map(|g| g.particles.len()).sum()),
            shared: model.batches.iter().map(|b| vec![0.0; b.batch.shared_len()]).collect(),
        }
    }

    /// The elastic energy of a body at positions `x`, with the mass it was built with.
    pub fn measure(&mut self, body: Subject<'_>, x: &Points, memory: &Memory) -> f64 {
        let Subject { model, controls, time, .. } = body;
        controls.targets(model, memory, time, &mut self.targets);
        let memory = &memory[Section::Batches];
        let (mut begin, mut energy) = (0, 0.0);
        for (k, b) in model.batches.iter().enumerate() {
            let state = &memory[begin..begin + b.batch.state_len()];
            begin += state.len();
            let scale = model.batch_scale(controls.body, k);
            if scale == 0.0 {
                continue;
            }
            b.batch.begin_iteration(x, &mut self.shared[k]);
            let view = View { x, state, shared: &self.shared[k], targets: &self.targets };
            energy += scale * b.batch.energy(view);
        }
        energy
    }
}
