//! The live values of one body, and what they mean.

use super::ControlError;
use crate::material::Elasticity;
use glam::DVec3;
use std::f64::consts::{PI, TAU};

/// How strongly a cluster pulls toward its rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Stiffness {
    /// The papers' α = h² k / m in [0, 1]: the share of the way to the goal covered in one step.
    /// Depends on the step.
    Alpha(f64),
    /// Oscillations per second of the springs; does not depend on step, substeps or resolution.
    Frequency(f64),
}

impl Stiffness {
    /// α for a substep of `h` seconds. For a frequency f this is 4 sin²(π f h), with which the
    /// symplectic Euler step oscillates at exactly f; to first order it is h² k/m.
    pub fn alpha(self, h: f64) -> f64 {
        match self {
            Stiffness::Alpha(a) => a,
            Stiffness::Frequency(f) => 4.0 * (PI * f * h).sin().powi(2),
        }
    }

    /// The spring constant over mass, k/m in 1/s², for integrators that are implicit.
    pub fn per_mass(self, h: f64) -> f64 {
        match self {
            Stiffness::Alpha(a) => a / (h * h),
            Stiffness::Frequency(f) => (TAU * f).powi(2),
        }
    }
}

/// The live values of one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyControls {
    /// Pull of the clusters toward their rest shape.
    pub stiffness: Stiffness,
    /// γ: allowed distance from the goal, over the cluster width; infinite for no limit.
    pub strain_limit: f64,
    /// ω: under- or over-relaxation of the strain limiting; in PBD the part of each correction that is made.
    pub relaxation: f64,
    /// Whether limiting takes back the momentum it introduced, cluster by cluster. Off is the paper to
    /// the letter: limits then give way where planes hold particles, and may set bodies spinning.
    pub conserve_momentum: bool,
    /// Iterations per substep: of strain limiting, or of local and global steps.
    pub iterations: u32,
    /// Decay rate (1/s) of all motion that is not rigid; keeps momentum.
    pub damping: f64,
    /// Decay rate (1/s) of all motion, as by air.
    pub drag: f64,
    /// A force (N) on the whole body, shared by mass.
    pub force: DVec3,
    /// Stiffness of the edges (projective): Pa for solids, N/m for sheets. A body of elements built with 0 has no
    /// edges to stiffen later.
    pub edge_stiffness: f64,
    /// Friction of the body's surface; combined with the plane's as √(a b). `None`: the plane's.
    pub friction: Option<f64>,
    /// Restitution of the body's surface; the larger of it and the plane's counts. It is the
    /// deformer's elasticity too (eq. 2).
    pub restitution: f64,
    /// The deformer's friction f (eq. 2): the share of the sliding velocity an impact takes away.
    /// Viscous, unlike [`BodyControls::friction`], which is Coulomb's.
    pub viscous_friction: f64,
    /// The deformer's α_f (eq. 7): the share of the matching step that becomes velocity. Low values
    /// creep to the goal, high ones overshoot and oscillate.
    pub flappiness: f64,
    /// β: how much of the best-fit linear or quadratic deformation the goals follow.
    pub deformation: f64,
    /// How much of its volume a linear or quadratic goal keeps: 0 none, 1 all, within bounds.
    pub volume: f64,
    /// Stretch of a cluster beyond which it deforms for good; infinite for elastic bodies.
    pub yield_strain: f64,
    /// Rate (1/s) at which what is beyond the yield strain becomes permanent.
    pub creep: f64,
    /// Largest permanent stretch.
    pub plastic_limit: f64,
    /// How much the yield strain grows per permanent stretch.
    pub hardening: f64,
    /// How strongly painted particles are drawn to an animated input: oscillations per second at weight 1.
    pub follow: f64,
    /// Rate (1/s) at which their motion relative to the input decays, at weight 1.
    pub follow_damping: f64,
    /// Mass of the whole body, kg; [`Body::mass`](crate::Body::mass) when it is built.
    pub mass: f64,
    /// Young's modulus of its elements, Pa.
    pub young: f64,
    /// Poisson's ratio of its elements.
    pub poisson: f64,
    /// Thickness of its triangles, diameter of its edges where they are the elements, m.
    pub thickness: f64,
    /// How strongly air pushes its faces: density times drag coefficient, kg/m³; about 1.2 for cloth in air,
    /// 0 for none.
    pub air: f64,
    /// How far its elements may be stretched before they come apart: 0.4 is 40 % longer; infinite for never.
    pub tear_strain: f64,
}

impl BodyControls {
    /// Largest β. At 1 the fitted deformations would have no restoring force at all.
    pub const LARGEST_DEFORMATION: f64 = 0.98;

    /// Largest ω that is stable with a number of iterations.
    ///
    /// Where the limit is active, k iterations multiply a particle's distance from its goal by
    /// f = (1 − ω)ᵏ, and the velocity follows. One step then has the characteristic polynomial
    /// λ² − f (2 − α) λ + f, stable exactly for −1/(3 − α) < f < 1. Requiring |f| ≤ 1/3 holds for every α.
    pub fn largest_relaxation(iterations: u32) -> f64 {
        1.0 + 3f64.powf(-1.0 / f64::from(iterations.max(1)))
    }

    /// The elastic numbers of its elements.
    pub fn elasticity(&self) -> Elasticity {
        Elasticity { young: self.young, poisson: self.poisson, thickness: self.thickness }
    }

    /// Refuses an over-relaxation that the number of iterations does not calm down again.
    pub(crate) fn check_relaxation(&self) -> Result<(), ControlError> {
        let most = BodyControls::largest_relaxation(self.iterations);
        if self.iterations == 0 || self.relaxation <= most {
            return Ok(());
        }
        Err(ControlError {
            control: "relaxation",
            value: self.relaxation.to_string(),
            allowed: format!(
                "with {} iterations it overshoots and grows; give at most {most:.3}, or more iterations",
                self.iterations
            ),
        })
    }
}

impl Default for BodyControls {
    fn default() -> Self {
        BodyControls {
            stiffness: Stiffness::Frequency(25.0),
            strain_limit: 0.3,
            relaxation: 1.0,
            conserve_momentum: true,
            iterations: 5,
            damping: 2.0,
            drag: 0.0,
            force: DVec3::ZERO,
            edge_stiffness: 0.0,
            friction: None,
            restitution: 0.0,
            viscous_friction: 0.2,
            flappiness: 1.0,
            deformation: 0.5,
            volume: 1.0,
            yield_strain: f64::INFINITY,
            creep: 10.0,
            plastic_limit: 0.5,
            hardening: 0.0,
            follow: 4.0,
            follow_damping: 3.0,
            mass: 1.0,
            young: 1e5,
            poisson: 0.3,
            thickness: 1e-3,
            air: 0.0,
            tear_strain: f64::INFINITY,
        }
    }
}
