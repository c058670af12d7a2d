//! Elastic energy by body, as checks of a substep need it.

use super::SolverKind;
use crate::constraints::View;
use crate::controls::Controls;
use crate::model::Model;
use crate::points::Points;
use glam::DAffine3;

/// Measures; all it holds is memory to do so without allocating.
#[derive(Debug)]
pub(super) struct ElasticEnergy {
    placements: Vec<DAffine3>,
    shared: Vec<Vec<f64>>,
}

/// The bodies of a solver at some time.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub kind: SolverKind,
    pub model: &'a Model,
    pub controls: &'a Controls,
    pub x: &'a Points,
    /// What batches remember from earlier steps.
    pub memory: &'a [f64],
    pub time: f64,
}

impl ElasticEnergy {
    pub fn new(model: &Model) -> ElasticEnergy {
        ElasticEnergy {
            placements: Vec::with_capacity(model.params.pins.len()),
            shared: model.batches.iter().map(|b| vec![0.0; b.batch.shared_len()]).collect(),
        }
    }

    /// The elastic energy of each body of the solver, zero for others.
    pub fn measure(&mut self, at: Moment<'_>, energy: &mut [f64]) {
        let Moment { kind, model, controls, x, memory, time } = at;
        energy.fill(0.0);
        controls.placements(model, time, &mut self.placements);
        let mut begin = 0;
        for (k, b) in model.batches.iter().enumerate() {
            let state = &memory[begin..begin + b.batch.state_len()];
            begin += state.len();
            let scale = model.batch_scale(controls, k);
            if model.params.bodies[b.body].solver != kind || scale == 0.0 {
                continue;
            }
            b.batch.begin_iteration(x, &mut self.shared[k]);
            let view = View { x, state, shared: &self.shared[k], placements: &self.placements };
            energy[b.body] += scale * b.batch.energy(view);
        }
    }
}
