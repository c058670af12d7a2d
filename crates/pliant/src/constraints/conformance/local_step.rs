//! What the local step owes the solver: kernels that agree with the rows, and an objective that cannot grow.

use super::{Checker, size};
use crate::constraints::{AUXILIARY, ConstraintBatch, ElementKernel, Neighbourhood, PaddedVector};
use crate::points::Points;
use glam::DVec3;
use pliant_math::lanes::Isa;

impl<B: ConstraintBatch> Checker<'_, B> {
    /// Forces and energy of the kernel are those of the rows for every instruction set, with the same bits for
    /// all of a kind.
    pub(super) fn kernel_equals_rows(&mut self, name: &str, x: &Points) {
        if self.batch.kernel().is_none() {
            return;
        }
        let mut gradient = Points::zeros(x.len());
        self.with_view(x, |v| self.batch.add_gradient(v, &mut gradient));
        let energy = self.energy(x);
        // Rows sum absolute positions, kernels edges: they may differ by the rounding of the former.
        let rows = self.batch.rows();
        let (at, p) = (self.apply_rows(x), self.project(x));
        let (mut most, mut reach) = (0.0_f64, f64::MIN_POSITIVE);
        for r in 0..rows.len() {
            let terms: f64 = rows.row(r).map(|(c, a)| a.abs() * x.get(c as usize).length()).sum();
            let coefficient = rows.row(r).map(|(_, a)| a.abs()).fold(0.0, f64::max);
            most += rows.weights()[r] * coefficient * (terms + p.get(r).length());
            reach += rows.weights()[r] * (terms + p.get(r).length()) * (at.get(r) - p.get(r)).length()
                + rows.weights()[r] * 1e-12 * (terms + p.get(r).length()).powi(2);
        }
        for isa in Isa::available() {
            self.kernel_is(name, x, (&gradient, energy), (most, reach), isa);
        }
    }

    fn kernel_is(
        &mut self,
        name: &str,
        x: &Points,
        (gradient, energy): (&Points, f64),
        (most, reach): (f64, f64),
        isa: Isa,
    ) {
        let Some(kernel) = self.batch.kernel() else { return };
        let (forces, work) = add_forces(kernel, x, isa);
        let off = (0..x.len()).map(|i| (forces.get(i) + gradient.get(i)).length()).fold(0.0, f64::max);
        // Where several points are nearest, rounding decides which is found; they have the same energy.
        let unique = !["mirrored", "flat", "line", "point", "tiny", "huge"].contains(&name);
        if unique && off > 1e-12 * most {
            self.fault(format!("the kernel's forces on the {name} shape differ from the rows' by {off}"));
        }
        if (work - energy).abs() > 1e-12 * reach {
            self.fault(format!("the kernel's energy of the {name} shape is {work}, the rows' {energy}"));
        }
        for other in Isa::available().filter(|other| other.bits() == isa.bits()) {
            let (again, same) = add_forces(kernel, x, other);
            if again != forces || same.to_bits() != work.to_bits() {
                self.fault(format!("the kernel has other bits for {} on the {name} shape", other.name()));
            }
        }
    }

    /// Σ ½ w ‖A x − p‖² with the present p is no more than with the p of any other state: then the local
    /// half step cannot raise the objective (projective-dynamics, eq. 8), wherever the solver comes from. Batches
    /// that do not promise nearest points must still descend from where they are: see below.
    pub(super) fn no_earlier_projection_is_better(&mut self, shapes: &[(&'static str, Points)]) {
        if !self.batch.properties().exact_nearest {
            return;
        }
        let rows = self.batch.rows().clone();
        let targets: Vec<Points> = shapes.iter().map(|(_, x)| self.project(x)).collect();
        for ((name, x), own) in shapes.iter().zip(&targets) {
            let at = self.apply_rows(x);
            for elements in self.parts() {
                let part = elements.start;
                let energy = |p: &Points| -> f64 {
                    rows.of_elements(elements.clone())
                        .map(|r| 0.5 * rows.weights()[r] * (at.get(r) - p.get(r)).length_squared())
                        .sum()
                };
                let present = energy(own);
                let weight: f64 = rows.of_elements(elements.clone()).map(|r| rows.weights()[r]).sum();
                let tolerance = 1e-7 * present
                    + 1e-12 * weight * (1.0 + size(&at)).powi(2)
                    + self.rounding(rows.of_elements(elements.clone()), x);
                for ((other, _), p) in shapes.iter().zip(&targets) {
                    if energy(p) < present - tolerance {
                        let earlier = energy(p);
                        self.fault(format!(
                            "element {part} of the {name} shape: the projection of the {other} shape has \
                             energy {earlier}, its own {present}: the local step raises the objective"
                        ));
                        return;
                    }
                }
            }
        }
    }

    /// From every shape, however degenerate, alternating local and global half steps never raise the energy. The
    /// global half step is one of gradient descent with fixed p, short enough to lower any quadratic of these
    /// rows; the local one must then not lose what was gained.
    pub(super) fn half_steps_descend(&mut self, name: &str, x: &Points) {
        let rows = self.batch.rows();
        // Rows of |Aᵀ w A| sum to at least its largest eigenvalue.
        let mut sums = vec![0.0; x.len()];
        for r in 0..rows.len() {
            let total: f64 = rows.row(r).map(|(_, a)| a.abs()).sum();
            for (c, a) in rows.row(r).filter(|(c, _)| *c < AUXILIARY) {
                sums[c as usize] += rows.weights()[r] * a.abs() * total;
            }
        }
        let bound = sums.into_iter().fold(f64::MIN_POSITIVE, f64::max);
        let mut x = x.clone();
        let mut before = self.energy(&x);
        for step in 0..6 {
            let mut gradient = Points::zeros(x.len());
            self.with_view(&x, |v| self.batch.add_gradient(v, &mut gradient));
            x = x.iter().zip(gradient.iter()).map(|(x, g)| x - g / bound).collect();
            let after = self.energy(&x);
            let tolerance = 1e-9 * before.abs()
                + self.rounding(0..self.batch.rows().len(), &x)
                + 1e-14 * self.batch.rows().weights().iter().sum::<f64>();
            if after.is_nan() || after > before + tolerance {
                self.fault(format!(
                    "half step {step} from the {name} shape raises the energy from {before} to {after}"
                ));
                return;
            }
            before = after;
        }
    }

    /// Inner forces of batches that do not mind rigid motions neither push nor turn a body.
    pub(super) fn inner_forces_balance(&mut self, name: &str, x: &Points) {
        // At degenerate shapes the nearest point is not unique, and the one chosen need not be balanced.
        if !self.batch.properties().rigid_invariant || name != "random" {
            return;
        }
        let mut gradient = Points::zeros(x.len());
        self.with_view(x, |v| self.batch.add_gradient(v, &mut gradient));
        let push: DVec3 = gradient.iter().sum();
        let turn: DVec3 = x.iter().zip(gradient.iter()).map(|(x, g)| x.cross(g)).sum();
        let total: f64 = gradient.iter().map(|g| g.length()).sum::<f64>() + f64::MIN_POSITIVE;
        let rounding = 1e-12 * self.force_scale(x);
        if push.length() > 1e-9 * total + rounding {
            self.fault(format!("inner forces push the {name} shape by {}", push.length()));
        }
        if turn.length() > 1e-6 * total * (1.0 + size(x)) + rounding * (1.0 + size(x)) {
            self.fault(format!("inner forces turn the {name} shape by {}", turn.length()));
        }
    }

    fn force_scale(&self, x: &Points) -> f64 {
        let rows = self.batch.rows();
        let p = self.project(x);
        (0..rows.len())
            .map(|r| {
                let largest = rows.row(r).map(|(_, a)| a.abs()).fold(0.0, f64::max);
                let particles = rows.row(r).filter(|(c, _)| *c < AUXILIARY);
                let terms: f64 = particles.map(|(c, a)| a.abs() * x.get(c as usize).length()).sum();
                rows.weights()[r] * largest * (terms + p.get(r).length())
            })
            .sum()
    }
}

/// The kernel on all elements at once, every particle its own place.
fn add_forces(kernel: &dyn ElementKernel, x: &Points, isa: Isa) -> (Points, f64) {
    let packs = kernel.elements().div_ceil(8);
    let mut corners = Vec::new();
    for pack in 0..packs {
        for c in 0..kernel.stencil(8 * pack).len() {
            // Empty lanes repeat the first element of their pack.
            let element = |lane: usize| {
                if 8 * pack + lane < kernel.elements() { 8 * pack + lane } else { 8 * pack }
            };
            corners.push(std::array::from_fn(|lane| kernel.stencil(element(lane))[c]));
        }
    }
    let places: Vec<PaddedVector> = x.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect();
    let mut forces = vec![[0.0; 4]; x.len()];
    let near = Neighbourhood { corners: &corners, x: &places, forces: &mut forces, scale: 1.0 };
    let energy = kernel.add_forces(0..packs, near, isa);
    (forces.iter().map(|f| DVec3::new(f[0], f[1], f[2])).collect(), energy)
}
