//! Materials by their physics: what a stiffness in pascals means for the weights of constraints.
//!
//! For small strain the projective potentials agree with linear elasticity if strain has the weight 2μ,
//! volume 3λ, area 2λ′ and bending D, per volume or (times thickness) per area: the distance of a gradient
//! with strain ε from SO(3) is ‖ε‖, from the matrices of determinant one |tr ε|/√3 (in the plane /√2), and
//! Δx = 2H n. λ′ is Lamé's number in plane stress.

use std::f64::consts::PI;

/// What a body is made of. A few are [`named`](Material::named); any other is as good.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Material {
    /// kg/m³.
    pub density: f64,
    /// Young's modulus, Pa: how hard it is to stretch.
    pub young: f64,
    /// Poisson's ratio, 0 to 0.499: how much it thins when stretched; close to ½ it keeps its volume.
    pub poisson: f64,
    /// Thickness of sheets, diameter of curves, m.
    pub thickness: f64,
    /// Decay rate of its vibrations, 1/s.
    pub damping: f64,
}

/// Largest Poisson's ratio; at ½ the resistance to volume change has no bound.
pub(crate) const LARGEST_POISSON: f64 = 0.499;

const fn material(density: f64, young: f64, poisson: f64, thickness: f64, damping: f64) -> Material {
    Material { density, young, poisson, thickness, damping }
}

impl Material {
    /// Materials everybody knows, with what they are like. Numbers are typical ones from handbooks and
    /// fabric measurements; fabrics are much softer to bend than E t³/12 of a solid sheet says, so
    /// their modulus and thickness are effective ones.
    pub const NAMED: [(&'static str, Material, &'static str); 10] = [
        ("rubber", material(1100.0, 1.0e6, 0.47, 2e-3, 1.0), "a soft vulcanised rubber"),
        ("jelly", material(1000.0, 1.0e4, 0.45, 5e-3, 1.5), "gelatine that keeps its shape on a plate"),
        ("foam", material(40.0, 3.0e4, 0.1, 1e-2, 4.0), "open-cell upholstery foam: squeezes, hardly bulges"),
        ("cotton", material(500.0, 4.0e6, 0.2, 4e-4, 2.0), "a shirt's plain weave, 200 g/m²"),
        ("silk", material(500.0, 3.0e6, 0.2, 1.5e-4, 1.0), "light and flowing, 75 g/m²"),
        ("denim", material(600.0, 1.5e7, 0.2, 7e-4, 3.0), "heavy twill that folds coarsely, 420 g/m²"),
        ("leather", material(860.0, 3.0e7, 0.35, 1.5e-3, 3.0), "an upper of 1.5 mm"),
        ("paper", material(800.0, 2.0e9, 0.2, 1e-4, 1.0), "a sheet for writing, 80 g/m²"),
        ("steel_sheet", material(7850.0, 2.0e11, 0.29, 5e-4, 0.5), "half a millimetre of mild steel"),
        ("muscle", material(1060.0, 3.0e4, 0.47, 1e-2, 4.0), "relaxed, across its fibres"),
    ];

    /// The material of this name.
    pub fn named(name: &str) -> Option<Material> {
        Material::NAMED.iter().find(|(n, _, _)| *n == name).map(|(_, m, _)| *m)
    }
}

/// The elastic numbers of a body at present.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Elasticity {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Thickness of sheets, diameter of curves, m.
    pub thickness: f64,
}

impl Elasticity {
    /// Lamé's μ = E/2(1 + ν), the shear modulus.
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// Lamé's λ = Eν/(1 + ν)(1 − 2ν).
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// λ′ = Eν/(1 − ν²), of a sheet whose faces are free.
    pub fn lambda_of_sheet(&self) -> f64 {
        self.young * self.poisson / (1.0 - self.poisson.powi(2))
    }

    /// D = E t³/12(1 − ν²), the bending stiffness of a plate, N m.
    pub fn bending(&self) -> f64 {
        self.young * self.thickness.powi(3) / (12.0 * (1.0 - self.poisson.powi(2)))
    }

    /// E A of a round thread, N.
    pub fn stretching_of_thread(&self) -> f64 {
        self.young * PI * self.thickness.powi(2) / 4.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_agree_with_each_other() {
        let e = Elasticity { young: 2.0e5, poisson: 0.3, thickness: 0.01 };
        let (mu, lambda) = (e.mu(), e.lambda());
        // E = μ(3λ + 2μ)/(λ + μ), ν = λ/2(λ + μ); plane stress: λ′ = 2λμ/(λ + 2μ).
        assert!((mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu) - e.young).abs() < 1e-6 * e.young);
        assert!((lambda / (2.0 * (lambda + mu)) - e.poisson).abs() < 1e-12);
        assert!((2.0 * lambda * mu / (lambda + 2.0 * mu) - e.lambda_of_sheet()).abs() < 1e-6 * e.young);
    }

    #[test]
    fn named_materials_are_allowed_ones() {
        for (name, m, _) in Material::NAMED {
            let sound = m.density > 0.0 && m.young > 0.0 && m.thickness > 0.0;
            assert!(sound && (0.0..=LARGEST_POISSON).contains(&m.poisson), "{name}");
            assert_eq!(Material::named(name), Some(m));
        }
        assert_eq!(Material::named("unobtainium"), None);
    }
}
