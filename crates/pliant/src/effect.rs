//! Which body reads which control: what the table of controls asks wherever one is set live or by keys. A value that
//! nobody would read is refused with what would have the effect.

use crate::controls::{Control, ControlError, ControlOwner, Value};
use crate::model::BatchScale::{
    self, Bending, EdgeStiffness, SheetArea, SheetStrain, Strain, Thread, Volume,
};
use crate::model::{BodyModel, Coupling, Goals, Integrator, Model};
use crate::solvers::{Feature, SolverKind, Support, support};

impl Control {
    /// Whether a change of it has an effect on a body as it is built in `model`, and if not, what has.
    pub fn effect(self, model: &Model) -> Support {
        match self.owner() {
            ControlOwner::World => Support::Yes,
            ControlOwner::Body(body) => match model.get(body) {
                Some(body) => (self.descriptor().reader)(&body.parts),
                None => Support::No("there is no such body"),
            },
            ControlOwner::Coupling(coupling) => match model.coupling_index(coupling) {
                Some(k) => self.coupling_effect(&model.couplings()[k].coupling),
                None => Support::No("there is no such coupling"),
            },
        }
    }

    /// Whether it has an effect on a coupling.
    fn coupling_effect(self, coupling: &Coupling) -> Support {
        let of_motor = matches!(self, Control::MotorSpeed(_) | Control::MotorTorque(_));
        needs(!of_motor || coupling.motor.is_some(), "it has no motor: give a hinge one when it is built")
    }

    /// Refuses a value that nothing would read.
    pub(crate) fn check_effect(self, value: Value, model: &Model) -> Result<(), ControlError> {
        match self.effect(model) {
            Support::Yes => Ok(()),
            Support::No(instead) => {
                let allowed = format!("nothing reads it here; {instead}");
                Err(ControlError { control: self.name(), value: value.to_string(), allowed })
            }
        }
    }
}

fn needs(yes: bool, instead: &'static str) -> Support {
    if yes { Support::Yes } else { Support::No(instead) }
}

/// A solver that knows the feature reads it, if the body has what it acts on.
fn feature(body: &BodyModel, feature: Feature, has: bool, instead: &'static str) -> Support {
    match support(body.solver(), feature) {
        Support::Yes => needs(has, instead),
        no => no,
    }
}

/// Whether stiffness of some of these kinds is in the body.
fn takes(body: &BodyModel, scales: &[BatchScale]) -> bool {
    body.batches.iter().any(|b| scales.contains(&b.scale))
}

/// The same for numbers of a material. Position based dynamics satisfies every constraint fully, however stiff it is
/// said to be.
fn of_material(body: &BodyModel, of: Feature, scales: &[BatchScale], instead: &'static str) -> Support {
    match body.solver() {
        SolverKind::Pbd => {
            Support::No("PBD knows no stiffness: set `relaxation` or `iterations`, or use solver = \"xpbd\"")
        }
        _ => feature(body, of, takes(body, scales), instead),
    }
}

pub(crate) fn always(_: &BodyModel) -> Support {
    Support::Yes
}

/// Whoever can move otherwise than as one.
pub(crate) fn deforms(body: &BodyModel) -> Support {
    needs(
        body.rigid().is_none(),
        "a rigid body has no motion but that of a solid: set `drag`, `friction` or `restitution`",
    )
}

pub(crate) fn iterates(body: &BodyModel) -> Support {
    needs(body.rigid().is_none(), "a rigid body takes as many rounds as it needs: set `substeps`")
}

pub(crate) fn strain_limit(body: &BodyModel) -> Support {
    support(body.solver(), Feature::StrainLimit)
}

pub(crate) fn plasticity(body: &BodyModel) -> Support {
    support(body.solver(), Feature::Plasticity)
}

pub(crate) fn relaxation(body: &BodyModel) -> Support {
    needs(
        matches!(body.solver(), SolverKind::Clustered | SolverKind::Pbd),
        "set `iterations`: only the clustered solver and PBD take a part of each correction",
    )
}

fn deformer(body: &BodyModel, instead: &'static str) -> Support {
    feature(
        body,
        Feature::Deformer,
        body.kind.matching().is_some_and(|m| m.integrator == Integrator::Deformer),
        instead,
    )
}

pub(crate) fn viscous_friction(body: &BodyModel) -> Support {
    deformer(body, "set `friction`, or build the body with integrator = \"deformer\"")
}

pub(crate) fn flappiness(body: &BodyModel) -> Support {
    deformer(body, "set `damping`, or build the body with integrator = \"deformer\"")
}

pub(crate) fn deforming_goals(body: &BodyModel) -> Support {
    feature(
        body,
        Feature::LinearGoals,
        body.kind.matching().is_some_and(|m| m.goals != Goals::Rigid),
        "rigid goals do not deform: set `frequency`, or build the body with goals = \"linear\" or \"quadratic\"",
    )
}

pub(crate) fn animated_input(body: &BodyModel) -> Support {
    if body.rigid().is_some() {
        return Support::No("a rigid body is where its animation has it: leave it out");
    }
    feature(
        body,
        Feature::AnimatedInput,
        body.input.iter().any(|i| i.follow.iter().any(|w| *w > 0.0)),
        "no particle of the body follows an animation: build it with `input` and painted `follow`",
    )
}

pub(crate) fn air(body: &BodyModel) -> Support {
    needs(
        !body.topology().faces.is_empty(),
        "the body has no faces for air to push: set `drag`, or build it of triangles or tetrahedra",
    )
}

pub(crate) fn tearing(body: &BodyModel) -> Support {
    match support(body.solver(), Feature::Tearing) {
        Support::Yes => crate::tearing::obstacle(body.whole().prototype()).map_or(Support::Yes, Support::No),
        no => no,
    }
}

pub(crate) fn cluster_stiffness(body: &BodyModel) -> Support {
    match body.solver() {
        SolverKind::Clustered => Support::Yes,
        SolverKind::Rigid => support(SolverKind::Rigid, Feature::Clusters),
        _ => of_material(
            body,
            Feature::Clusters,
            &[BatchScale::Stiffness],
            "the body has no clusters: set `young` or `edge_stiffness`, or build it with clusters",
        ),
    }
}

pub(crate) fn edges(body: &BodyModel) -> Support {
    of_material(
        body,
        Feature::Edges,
        &[EdgeStiffness],
        "the body has no springs: set `young` or `frequency`, or build it with `edge_stiffness` above 0",
    )
}

pub(crate) fn young(body: &BodyModel) -> Support {
    of_material(
        body,
        Feature::Elements,
        &[Strain, Volume, SheetStrain, SheetArea, Bending, Thread],
        "no constraint of the body takes its stiffness from a material: set `frequency` or `edge_stiffness`, or build \
         it of elements of a material",
    )
}

pub(crate) fn poisson(body: &BodyModel) -> Support {
    of_material(
        body,
        Feature::Elements,
        &[Strain, Volume, SheetStrain, SheetArea, Bending],
        "no constraint of the body takes its stiffness from a material that has a Poisson's ratio: set `frequency`, \
         `edge_stiffness` or, for threads, `young`",
    )
}

pub(crate) fn thickness(body: &BodyModel) -> Support {
    of_material(
        body,
        Feature::Elements,
        &[SheetStrain, SheetArea, Bending, Thread],
        "the body has no triangles or threads of a material: set `young` for solids, else `frequency` or \
         `edge_stiffness`",
    )
}
