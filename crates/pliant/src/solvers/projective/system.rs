//! The global step, as a step from the present positions q:
//!
//! > (M/h² + Σ w AᵀA) Δq = −∇E(q) = Σ w Aᵀ (p − A q) − M/h² (q − s).
//!
//! It is the paper's equation (10) with the matrix times q subtracted on both sides: a quasi-Newton step
//! whose matrix is constant, and an upper bound of the Hessian, so that no line search is needed.

use super::acceleration::Accelerator;
use super::global::Global;
use super::inherited;
use crate::dofs::{Dof, DofMap};
use crate::model::BodyModel;
use crate::solvers::SolverError;
use crate::solvers::objective::{Executor, Objective, columns};
use crate::solvers::unknowns::{Inertia, Unknowns};
use glam::DVec3;

#[derive(Clone, Debug)]
pub(super) struct System {
    pub objective: Objective,
    /// The unknowns as the model has them; the objective's are in the order of the factor.
    natural: Unknowns,
    pub global: Global,
    inertia: Inertia,
    /// The step that follows from −∇E; x, y and z columns one after the other.
    step: Vec<f64>,
    /// A right-hand side other than −∇E.
    loaded: Vec<f64>,
    /// Movements that follow from it alone.
    response: Vec<f64>,
}

impl System {
    pub fn new(
        model: &BodyModel,
        scales: &[f64],
        dofs: DofMap,
        h: f64,
        diameter: f64,
    ) -> Result<System, SolverError> {
        let natural = Unknowns::new(model, dofs, scales);
        let inertia = Inertia::new(model, h);
        let matrix = natural.matrix(model, scales, &inertia);
        let global = match inherited::order(model, &natural) {
            Some(order) => Global::in_order(&matrix, &order),
            None => Global::new(&matrix, &places(model, &natural)),
        };
        let global = global.map_err(factor_error)?;
        let objective = Objective::new(model, natural.renumbered(global.order()), scales, h, diameter);
        let [step, loaded, response] = [(); 3].map(|()| vec![0.0; 3 * natural.count]);
        Ok(System { global, inertia, step, loaded, response, natural, objective })
    }

    /// Whether the same batches have rows under other stiffnesses.
    pub fn fits(&self, scales: &[f64]) -> bool {
        self.natural.fit(scales)
    }

    /// New weights on the same rows: a numerical refactorisation with the ordering kept.
    pub fn rescale(&mut self, model: &BodyModel, scales: &[f64]) -> Result<(), SolverError> {
        self.objective.rescale(scales);
        let matrix = self.natural.matrix(model, scales, &self.inertia);
        self.global.refactor(&matrix).map_err(factor_error)
    }

    pub fn dofs(&self) -> &DofMap {
        self.objective.dofs()
    }

    pub fn factor_len(&self) -> usize {
        self.global.factor_len()
    }

    /// Solves for the step from −∇E.
    pub fn solve(&mut self, executor: Executor<'_>) {
        self.global.solve(self.objective.descent(), &mut self.step, executor);
    }

    /// Solves for the plain step from another −∇E.
    pub fn solve_from(&mut self, descent: &[f64], executor: Executor<'_>) {
        self.global.solve(descent, &mut self.step, executor);
    }

    /// Lets an accelerator make the step: from the plain one, or from −∇E with the solve inside.
    pub fn improve(&mut self, from_plain: bool, accelerator: &mut Accelerator, executor: Executor<'_>) {
        if !from_plain {
            self.step.copy_from_slice(self.objective.descent());
        }
        let (global, loaded) = (&mut self.global, &mut self.loaded);
        accelerator.improve(&mut self.step, |step| {
            loaded.copy_from_slice(step);
            global.solve(loaded, step, executor);
        });
    }

    /// The step solved for.
    pub fn step(&self) -> &[f64] {
        &self.step
    }

    /// Solves with forces on top of −∇E.
    pub fn solve_with(&mut self, executor: Executor<'_>, add: impl FnOnce(&DofMap, &mut [&mut [f64]; 3])) {
        self.loaded.copy_from_slice(self.objective.descent());
        add(self.objective.dofs(), &mut columns(&mut self.loaded));
        self.global.solve(&self.loaded, &mut self.step, executor);
    }

    /// Solves for the movements that forces alone bring about: see [`System::responded`].
    pub fn respond(&mut self, executor: Executor<'_>, add: impl FnOnce(&DofMap, &mut [&mut [f64]; 3])) {
        self.loaded.fill(0.0);
        add(self.objective.dofs(), &mut columns(&mut self.loaded));
        self.global.solve(&self.loaded, &mut self.response, executor);
    }

    /// How a particle responded.
    pub fn responded(&self, i: usize) -> DVec3 {
        self.moved(i, &self.response)
    }

    /// Takes the step that was solved for; returns the largest movement relative to the body's size.
    pub fn take_step(&mut self, executor: Executor<'_>) -> f64 {
        self.objective.move_by(&self.step, executor.0)
    }

    /// Where a particle would be after the step.
    #[inline]
    pub fn ahead(&self, i: usize) -> DVec3 {
        self.objective.position(i) + self.moved(i, &self.step)
    }

    /// The movement of a particle by movements of the unknowns.
    #[inline]
    fn moved(&self, i: usize, by: &[f64]) -> DVec3 {
        let n = self.natural.count;
        let mut sum = DVec3::ZERO;
        let of = |u: usize| DVec3::new(by[u], by[n + u], by[2 * n + u]);
        self.dofs().expand(i, |u, w| sum += of(u as usize) * w);
        sum
    }
}

/// Where the unknowns are at rest, which helps to order them; auxiliary ones wherever.
pub(super) fn places(model: &BodyModel, unknowns: &Unknowns) -> Vec<[f64; 3]> {
    let mut list = vec![[0.0; 3]; unknowns.count];
    for i in 0..model.particle_count() {
        if let Dof::Free(u) = unknowns.dofs.get(i) {
            list[*u as usize] = model.rest().positions.get(i).to_array();
        }
    }
    list
}

fn factor_error(e: pliant_linalg::NotPositiveDefinite) -> SolverError {
    SolverError::Factor(e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::points::Points;
    use crate::solvers::objective::ProjectionInputs;
    use crate::team::Team;
    use pliant_math::lanes::Isa;

    /// Three particles in a row; the middle one is embedded halfway between the others, the last is
    /// prescribed. The reduced solve must equal minimising over the one free particle by hand.
    #[test]
    fn combined_particles_fold_into_the_matrix() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
        let shape = pliant_geometry::shapes::Shape {
            points,
            measure: vec![1.0; 3],
            edges: vec![[0, 1], [1, 2]],
            ..Default::default()
        };
        let mut body = crate::Body::new("row", shape).projective();
        body.clusters = crate::Clustering::None;
        body.mass = 3.0;
        let simulation = Builder::new().substeps(1).body(body).build().unwrap();
        let model = &simulation.model().bodies()[0].parts;
        let stiffness = 5000.0;
        let dofs = vec![Dof::Free(0), Dof::Free(0), Dof::Fixed];
        let dofs = DofMap::new(dofs, &[(1, vec![(0, 0.5), (2, 0.5)])]);
        let mut system = System::new(model, &[stiffness], dofs, 1.0 / 60.0, 1.0).unwrap();
        assert_eq!(system.objective.len(), 1);

        // Stretched to twice its length: s = (0, ·, 4).
        let mut s: Points = [DVec3::ZERO, DVec3::splat(9.0), DVec3::X * 4.0].into_iter().collect();
        system.objective.begin(model, &mut s);
        assert_eq!(s.get(1), DVec3::X * 2.0, "the embedded particle goes between its parents");
        let around = ProjectionInputs { memory: &[], offsets: &[0, 0], targets: &[] };
        let team = Team::serial();
        let executor = (&team, Isa::best());
        // The second iteration must find nothing left to do: edges along x have one direction only.
        for _ in 0..2 {
            system.objective.evaluate(model, around, executor);
            system.solve(executor);
            system.take_step(executor);
        }
        let q = system.objective.read();

        // By hand: x₀ = d, x₁ = (d + 4)/2. Both edges want length 1 along x: with measures 1 + ½ and
        // ½ + 1, minimise ½·3600 (d² + (d/2)²) + ½ k 1.5 [((4 − d)/2 − 1)² + ((4 − d)/2 − 1)²].
        let inertia = 3600.0 * 1.25;
        let spring = stiffness * 1.5 * 2.0 * 0.25;
        let d = spring * 2.0 / (inertia + spring);
        assert!((q.get(0) - DVec3::X * d).length() < 1e-12, "{} instead of {d}", q.get(0));
        assert!((q.get(1) - DVec3::X * (d + 4.0) * 0.5).length() < 1e-12);
        assert_eq!(q.get(2), DVec3::X * 4.0);
    }
}
