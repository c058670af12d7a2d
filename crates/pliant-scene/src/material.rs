//! Material keys of a body: its own before its material's before the defaults.

use crate::record::{Record, SceneValue};
use crate::source::{Check, Located};
use pliant::solvers::{Feature, Support, support};
use pliant::{BodyControls, Control, Goals, Integrator, Material, SolverKind, Stiffness, Value};

/// A body's table over its material's: one of the scene, or one known by name.
#[derive(Clone, Copy)]
pub(crate) struct MaterialLayers<'a> {
    pub body: &'a Record,
    pub material: Option<&'a Record>,
    pub named: Option<Material>,
}

/// What the shape of a body decides about its usual values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyTraits {
    /// Whether it is a sheet of springs.
    pub cloth: bool,
    /// Whether its elements have a material.
    pub elastic: bool,
    /// Whether wind blows on its faces.
    pub windy: bool,
}

/// Stiffness of a body that does not say, Hz: as a jelly of a few decimetres that carries itself.
const FREQUENCY: f64 = 25.0;
/// Density times drag coefficient of faces in the wind that do not say, kg/m³: as a plate in air.
const AIR: f64 = 1.2;
/// Edge stiffness of a sheet that does not say, N/m: as a light fabric.
const SHEET_STIFFNESS: f64 = 2000.0;

impl<'a> MaterialLayers<'a> {
    /// What was given for a key by the body, else by its material.
    pub fn given(&self, key: &str) -> Option<&'a Located<SceneValue>> {
        let material = || self.material.and_then(|m| m.given(key));
        self.body.given(key).or_else(material)
    }

    fn given_by_material(&self, key: &str) -> Option<&'a Located<SceneValue>> {
        self.material.and_then(|m| m.values.get(key))
    }

    fn number(&self, key: &str) -> f64 {
        self.given(key).map_or_else(|| self.body.number(key), |v| v.it.number())
    }

    /// A body's own stiffness, said either way, goes before its material's.
    fn stiffness(&self) -> Option<Stiffness> {
        for layer in [Some(self.body), self.material].into_iter().flatten() {
            if let Some(alpha) = layer.given("alpha") {
                return Some(Stiffness::Alpha(alpha.it.number()));
            }
            if let Some(frequency) = layer.given("frequency") {
                return Some(Stiffness::Frequency(frequency.it.number()));
            }
        }
        None
    }

    /// The live values of a body.
    pub fn controls(&self, solver: SolverKind, traits: BodyTraits, h: f64) -> BodyControls {
        // Long steps allow less; a scene that does not care about stiffness should still run.
        let most = Control::Frequency(0.into()).range(solver, h).map_or(FREQUENCY, |r| r.1);
        let usual_stiffness = Stiffness::Frequency(FREQUENCY.min(most));
        let usual = BodyControls::default();
        let projective = solver.uses_constraints();
        let number = |key: &str| self.given(key).map(|v| v.it.number());
        let named = |value: fn(&Material) -> f64| self.named.as_ref().map(value);
        let usual_limit = if solver == SolverKind::Clustered { 0.3 } else { f64::INFINITY };
        let usual_edges = if traits.cloth && projective { SHEET_STIFFNESS } else { 0.0 };
        let iterations = self.given("iterations").map(|v| v.it.whole() as u32);
        if solver == SolverKind::Rigid {
            return BodyControls {
                strain_limit: usual_limit,
                drag: self.number("drag"),
                force: self.body.vector("force"),
                friction: number("friction"),
                restitution: self.number("restitution"),
                ..usual
            };
        }
        BodyControls {
            stiffness: self.stiffness().unwrap_or(usual_stiffness),
            strain_limit: number("strain_limit").unwrap_or(usual_limit),
            relaxation: self.number("relaxation"),
            conserve_momentum: self.given("limiting").is_none_or(|v| v.it.text() != "paper"),
            iterations: iterations.unwrap_or(if projective { 10 } else { 5 }),
            damping: number("damping").or(named(|m| m.damping)).unwrap_or_else(|| self.number("damping")),
            drag: self.number("drag"),
            force: self.body.vector("force"),
            edge_stiffness: number("edge_stiffness").unwrap_or(usual_edges),
            friction: number("friction"),
            restitution: self.number("restitution"),
            viscous_friction: self.number("viscous_friction"),
            flappiness: self.number("flappiness"),
            deformation: self.number("deformation"),
            volume: self.number("volume"),
            yield_strain: self.number("yield_strain"),
            creep: self.number("creep"),
            plastic_limit: self.number("plastic_limit"),
            hardening: self.number("hardening"),
            follow: number("follow").unwrap_or(usual.follow),
            follow_damping: self.number("follow_damping"),
            young: number("young").or(named(|m| m.young)).unwrap_or(usual.young),
            poisson: number("poisson").or(named(|m| m.poisson)).unwrap_or(usual.poisson),
            thickness: number("thickness").or(named(|m| m.thickness)).unwrap_or(usual.thickness),
            air: number("air").unwrap_or(if traits.windy { AIR } else { 0.0 }),
            tear_strain: self.number("tear_strain"),
            // The shape decides about the mass.
            ..usual
        }
    }

    /// Which deformations the goals show, whether in two steps, and how the body moves on in time.
    pub fn goals(&self) -> (Goals, bool, Integrator) {
        let value = |key| self.given(key).map_or_else(|| self.body.value(key), |v| v.it.clone());
        let goals = Goals::ALL.into_iter().find(|g| g.name() == value("goals").text());
        let integrator = Integrator::ALL.into_iter().find(|i| i.name() == value("integrator").text());
        (goals.unwrap_or_default(), value("two_step").truth(), integrator.unwrap_or_default())
    }

    /// Asks the engine which of the values it allows with substeps of `h` seconds.
    pub fn check(
        &self,
        check: &mut Check<'_>,
        name: &str,
        controls: &BodyControls,
        solver: SolverKind,
        traits: BodyTraits,
        h: f64,
    ) {
        // Of what keeps a body in shape a rigid one reads nothing; `inert` tells.
        if solver == SolverKind::Rigid {
            return;
        }
        let whose = |key: &str| match self.body.given(key).is_none() && self.given_by_material(key).is_some()
        {
            true => format!(" (of the material of body `{name}`)"),
            false => String::new(),
        };
        let place = |key: &str| {
            self.body.values.get(key).or_else(|| self.given_by_material(key)).map_or(&self.body.at, |v| &v.at)
        };
        let stiffness = match controls.stiffness {
            Stiffness::Alpha(v) => (Control::Alpha(0.into()), v),
            Stiffness::Frequency(v) => (Control::Frequency(0.into()), v),
        };
        for (control, v) in [
            stiffness,
            (Control::StrainLimit(0.into()), controls.strain_limit),
            (Control::Relaxation(0.into()), controls.relaxation),
            (Control::Damping(0.into()), controls.damping),
            (Control::EdgeStiffness(0.into()), controls.edge_stiffness),
            (Control::Deformation(0.into()), controls.deformation),
            (Control::YieldStrain(0.into()), controls.yield_strain),
            (Control::PlasticLimit(0.into()), controls.plastic_limit),
            (Control::Follow(0.into()), controls.follow),
            (Control::FollowDamping(0.into()), controls.follow_damping),
        ] {
            if let Err(e) = control.check(Value::Number(v), solver, h) {
                let key = control.name();
                let usual = if self.given(key).is_none() { ", the default," } else { "" };
                let message = format!("`{key}` cannot be {}{usual} here{}", e.value, whose(key));
                check.add(place(key), message, e.allowed);
            }
        }
        for (feature, used, key) in [
            (Feature::StrainLimit, controls.strain_limit.is_finite(), "strain_limit"),
            (Feature::Edges, controls.edge_stiffness > 0.0, "edge_stiffness"),
            (Feature::Elements, traits.elastic, "solver"),
        ] {
            if let (true, Support::No(instead)) = (used, support(solver, feature)) {
                let (solver, feature) = (solver.name(), feature.name());
                let message = format!("the {solver} solver does not support {feature}{}", whose(key));
                check.add(place(key), message, instead);
            }
        }
    }
}
