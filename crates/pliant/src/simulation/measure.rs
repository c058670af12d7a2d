//! What is measured of the present state: motion, strain, energies, momenta.

use super::Simulation;
use crate::model::BodyId;
use crate::statistics::{Present, Statistics};
use glam::DVec3;

impl Simulation {
    /// How fast particle `i` of a body moves; nothing if it is not there. For all but the deformer's bodies this is its
    /// velocity in the state. The deformer's matching step moves particles beside their velocities, which hold what
    /// gravity adds until the next one takes it back (h g / flappiness where a body lies still): there it is the displacement
    /// of the last step over its time, or the velocity where none was taken, as after a restore.
    pub fn velocity(&self, body: impl Into<BodyId>, i: usize) -> Option<DVec3> {
        let k = self.model.index(body)?;
        (i < self.state.bodies[k].x.len()).then(|| self.present(k).velocity(i))
    }

    pub(crate) fn present(&self, k: usize) -> Present<'_> {
        Present {
            model: &self.model.bodies()[k].parts,
            controls: self.controls.live(k),
            state: &self.state.bodies[k],
            time: self.state.time,
            before: self.stepped.then(|| &self.backup.bodies[k].x),
        }
    }

    /// Energies, momenta, strain and penetration of the present state; of the motion there is, see
    /// [`Simulation::velocity`]. Springs between bodies count as elastic energy.
    pub fn statistics(&self) -> Statistics {
        self.statistics_and_strain(&mut Vec::new())
    }

    /// The statistics of one body; nothing if it is gone.
    pub fn statistics_of(&self, body: impl Into<BodyId>) -> Option<Statistics> {
        let k = self.model.index(body)?;
        let mut strain = vec![0.0; self.model.bodies()[k].parts.particle_count()];
        Some(self.present(k).measure(&self.present_colliders(), &mut strain))
    }

    /// [`Simulation::statistics`] and [`Simulation::strain`] at the price of one.
    pub fn statistics_and_strain(&self, strain: &mut Vec<f64>) -> Statistics {
        let mut sum = Statistics::default();
        let around = self.present_colliders();
        self.for_each_body(strain, |body, strain| sum.add(&body.measure(&around, strain)));
        let couplings = self.model.couplings().iter().zip(&self.state.couplings);
        sum.elastic += couplings.map(|(c, memory)| c.coupling.energy(&self.state, memory)).sum::<f64>();
        sum
    }

    /// Relative deformation of every particle, body after body.
    pub fn strain(&self, strain: &mut Vec<f64>) {
        self.for_each_body(strain, |body, strain| body.strain(strain));
    }

    fn for_each_body(&self, each: &mut Vec<f64>, mut f: impl FnMut(Present<'_>, &mut [f64])) {
        each.clear();
        each.resize(self.model.particle_count(), 0.0);
        let mut rest = &mut each[..];
        for (k, body) in self.model.bodies().iter().enumerate() {
            let (own, others) = rest.split_at_mut(body.parts.particle_count());
            f(self.present(k), own);
            rest = others;
        }
    }
}
