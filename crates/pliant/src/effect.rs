//! Which body reads which control: one table, asked wherever a control is set live or by keys. A value that
//! nobody would read is refused with what would have the effect.

use crate::controls::{Control, ControlError, Value};
use crate::model::{BatchScale, BodySettings, Goals, Integrator, Model};
use crate::solvers::{Feature, SolverKind, Support, support};
use crate::tearing;

impl Control {
    /// Whether a change of it has an effect on a body as it is built in `model`, and if not, what has.
    pub fn effect(self, model: &Model) -> Support {
        let Some(b) = self.body() else { return Support::Yes };
        let Some(body) = model.get(b).map(|b| &b.parts) else {
            return Support::No("there is no such body");
        };
        let BodySettings { solver, goals, integrator, .. } = body.settings;
        let clustered = solver == SolverKind::Clustered;
        let takes = |scales: &[BatchScale]| body.batches.iter().any(|b| scales.contains(&b.scale));
        let needs = |yes: bool, instead: &'static str| if yes { Support::Yes } else { Support::No(instead) };
        // A solver that knows the feature reads it, if the body has what it acts on.
        let feature = |feature: Feature, has: bool, instead: &'static str| match support(solver, feature) {
            Support::Yes => needs(has, instead),
            no => no,
        };
        use BatchScale::{Bending, SheetArea, SheetStrain, Strain, Thread, Volume};
        match self {
            Control::Gravity
            | Control::GravityMagnitude
            | Control::GravityDirection
            | Control::Wind
            | Control::Gusts
            | Control::Iterations(_)
            | Control::Damping(_)
            | Control::Drag(_)
            | Control::Force(_)
            | Control::Friction(_)
            | Control::Restitution(_)
            | Control::Mass(_) => Support::Yes,
            Control::StrainLimit(_) => support(solver, Feature::StrainLimit),
            Control::YieldStrain(_)
            | Control::Creep(_)
            | Control::PlasticLimit(_)
            | Control::Hardening(_) => support(solver, Feature::Plasticity),
            Control::Relaxation(_) => needs(
                clustered || solver == SolverKind::Pbd,
                "set `iterations`: only the clustered solver and PBD take a part of each correction",
            ),
            Control::ViscousFriction(_) => feature(
                Feature::Deformer,
                integrator == Integrator::Deformer,
                "set `friction`, or build the body with integrator = \"deformer\"",
            ),
            Control::Flappiness(_) => feature(
                Feature::Deformer,
                integrator == Integrator::Deformer,
                "set `damping`, or build the body with integrator = \"deformer\"",
            ),
            Control::Deformation(_) | Control::Volume(_) => feature(
                Feature::LinearGoals,
                goals != Goals::Rigid,
                "rigid goals do not deform: set `frequency`, or build the body with goals = \"linear\" or \
                 \"quadratic\"",
            ),
            Control::Follow(_) | Control::FollowDamping(_) => feature(
                Feature::AnimatedInput,
                body.input.iter().any(|i| i.follow.iter().any(|w| *w > 0.0)),
                "no particle of the body follows an animation: build it with `input` and painted `follow`",
            ),
            Control::Air(_) => needs(
                !body.topology().faces.is_empty(),
                "the body has no faces for air to push: set `drag`, or build it of triangles or tetrahedra",
            ),
            Control::TearStrain(_) => match support(solver, Feature::Tearing) {
                Support::Yes => tearing::obstacle(body.whole().prototype()).map_or(Support::Yes, Support::No),
                no => no,
            },
            Control::Alpha(_) | Control::Frequency(_) if clustered => Support::Yes,
            // Position based dynamics satisfies every constraint fully, however stiff it is said to be.
            Control::Alpha(_)
            | Control::Frequency(_)
            | Control::EdgeStiffness(_)
            | Control::Young(_)
            | Control::Poisson(_)
            | Control::Thickness(_)
                if solver == SolverKind::Pbd =>
            {
                Support::No(
                    "PBD knows no stiffness: set `relaxation` or `iterations`, or use solver = \"xpbd\"",
                )
            }
            Control::Alpha(_) | Control::Frequency(_) => needs(
                takes(&[BatchScale::Stiffness]),
                "the body has no clusters: set `young` or `edge_stiffness`, or build it with clusters",
            ),
            Control::EdgeStiffness(_) => feature(
                Feature::Edges,
                takes(&[BatchScale::EdgeStiffness]),
                "the body has no springs: set `young` or `frequency`, or build it with `edge_stiffness` above 0",
            ),
            Control::Young(_) => feature(
                Feature::Elements,
                takes(&[Strain, Volume, SheetStrain, SheetArea, Bending, Thread]),
                "no constraint of the body takes its stiffness from a material: set `frequency` or \
                 `edge_stiffness`, or build it of elements of a material",
            ),
            Control::Poisson(_) => feature(
                Feature::Elements,
                takes(&[Strain, Volume, SheetStrain, SheetArea, Bending]),
                "no constraint of the body takes its stiffness from a material that has a Poisson's ratio: set \
                 `frequency`, `edge_stiffness` or, for threads, `young`",
            ),
            Control::Thickness(_) => feature(
                Feature::Elements,
                takes(&[SheetStrain, SheetArea, Bending, Thread]),
                "the body has no triangles or threads of a material: set `young` for solids, else `frequency` or \
                 `edge_stiffness`",
            ),
        }
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
