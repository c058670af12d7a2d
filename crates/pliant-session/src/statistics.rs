//! Numbers of a frame. Nothing in them depends on clock or machine: they are part of the log.

use pliant::model::Model;
use pliant::{Control, ControlOwner, CouplingId, Simulation, SolverKind, StepReport, Value};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is measured of a frame, in the order it is printed. SI units.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FrameStatistics {
    /// Its number, as in the log.
    pub frame: u32,
    /// Simulated seconds.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Elastic energy, J.
    pub elastic: f64,
    /// Energy of gravity, J.
    pub gravity: f64,
    /// Linear momentum, kg m/s.
    pub momentum: [f64; 3],
    /// Angular momentum about the origin, kg m²/s.
    pub angular_momentum: [f64; 3],
    /// Largest strain of any particle.
    pub max_strain: f64,
    /// Particles that touched a collider or another body in the last substep of the frame.
    pub contacts: usize,
    /// Deepest place inside an obstacle, m.
    pub max_penetration: f64,
    /// Iterations of the last substep, the most of any body.
    pub iterations: u32,
    /// How far the last iteration was from consensus.
    pub residual: f64,
    /// How each solver that has bodies converged in this step, by its name.
    pub solvers: BTreeMap<&'static str, SolverConvergence>,
    /// Energy that couplings put in during the step, J: see [`StepReport::coupling_energy`]. Left out where it is none.
    #[serde(skip_serializing_if = "is_none")]
    pub coupling_energy: f64,
    /// Couplings that broke in the step. Like the next two left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub broken: usize,
    /// Couplings whose parents collapsed in the step: see [`StepReport::collapsed`].
    #[serde(skip_serializing_if = "is_zero")]
    pub collapsed: usize,
    /// Couplings that held nothing in the rest of a substep: see [`StepReport::let_go`].
    #[serde(skip_serializing_if = "is_zero")]
    pub let_go: usize,
    /// Vertices of sheets that were held back short of crossing something. Like the next three left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub held_back: usize,
    /// What that took of momentum, kg m/s: see [`StepReport::held_back_momentum`].
    #[serde(skip_serializing_if = "is_none")]
    pub held_back_momentum: f64,
    /// Pairs that may have crossed: see [`StepReport::unkept`].
    #[serde(skip_serializing_if = "is_zero")]
    pub unkept: usize,
    /// Bodies that slept through the step.
    #[serde(skip_serializing_if = "is_zero")]
    pub asleep: usize,
    /// Keyframed values from this frame on, by body and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub controls: BTreeMap<String, KeyframedValue>,
}

/// What [`pliant::Convergence`] tells of one solver over a step, ready for JSON.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct SolverConvergence {
    /// The largest movement of a last iteration, as a share of the body's size.
    pub residual: f64,
    /// Whether every substep came to an end.
    pub converged: bool,
}

/// What a keyframed control is at a frame.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum KeyframedValue {
    /// The value of a control that is one number, in the unit of the control.
    Number(f64),
    /// The value of a control that is a vector, in the unit of the control.
    Vector([f64; 3]),
}

impl FrameStatistics {
    /// Measures a simulation after the step that gave `report`. `strain` is filled with the strain of every particle,
    /// body after body. Goes through all particles once.
    pub fn measure(simulation: &Simulation, report: &StepReport, strain: &mut Vec<f64>) -> FrameStatistics {
        let s = simulation.statistics_and_strain(strain);
        FrameStatistics {
            frame: u32::try_from(simulation.state().step()).unwrap_or(u32::MAX),
            time: simulation.state().time(),
            kinetic: bounded(s.kinetic),
            elastic: bounded(s.elastic),
            gravity: bounded(s.gravity),
            momentum: s.momentum.to_array().map(bounded),
            angular_momentum: s.angular_momentum.to_array().map(bounded),
            max_strain: bounded(s.max_strain),
            contacts: report.contacts,
            max_penetration: bounded(s.max_penetration),
            iterations: report.iterations,
            residual: bounded(report.residual),
            solvers: converged(report),
            coupling_energy: bounded(report.coupling_energy),
            broken: report.broken,
            collapsed: report.collapsed,
            let_go: report.let_go,
            held_back: report.held_back,
            held_back_momentum: bounded(report.held_back_momentum),
            unkept: report.unkept,
            asleep: report.asleep,
            controls: driven(simulation),
        }
    }

    /// One line of JSON without a line break, numbers with all their digits: a row of `--stats` files.
    pub fn json(&self) -> String {
        // Plain numbers always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn converged(report: &StepReport) -> BTreeMap<&'static str, SolverConvergence> {
    let all = SolverKind::ALL.into_iter().zip(&report.convergence).filter(|(_, c)| c.substeps > 0);
    all.map(|(kind, c)| {
        (kind.name(), SolverConvergence { residual: bounded(c.residual), converged: c.unconverged == 0 })
    })
    .collect()
}

fn driven(simulation: &Simulation) -> BTreeMap<String, KeyframedValue> {
    let (model, controls) = (simulation.model(), simulation.controls());
    let tracks = model.params().keyframes.tracks.iter();
    let entry = |control: Control| {
        let owner = match control.owner() {
            ControlOwner::World => None,
            ControlOwner::Body(body) => model.get(body).map(|b| b.name.to_string()),
            ControlOwner::Coupling(coupling) => Some(coupling_name(model, coupling)),
        };
        let name = owner.map_or(control.name().into(), |owner| format!("{owner}.{}", control.name()));
        let value = match controls.get(control)? {
            Value::Number(v) => KeyframedValue::Number(bounded(v)),
            Value::Vector(v) => KeyframedValue::Vector(v.to_array()),
        };
        Some((name, value))
    };
    tracks.filter_map(|t| entry(t.control)).collect()
}

fn is_none(energy: &f64) -> bool {
    *energy == 0.0
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What a coupling is called, for those without a name by their number.
fn coupling_name(model: &Model, coupling: CouplingId) -> String {
    let name = model.coupling_index(coupling).map(|k| model.couplings()[k].coupling.name.clone());
    name.filter(|n| !n.is_empty()).unwrap_or_else(|| format!("coupling {coupling}"))
}

/// JSON has no number beyond the largest: squares of what is still finite may lie there, and are told as that. A program
/// that reads numbers would stumble over anything else.
fn bounded(x: f64) -> f64 {
    if x.is_nan() { f64::MAX } else { x.clamp(-f64::MAX, f64::MAX) }
}
