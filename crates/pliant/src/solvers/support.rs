//! Which solver supports which feature: one table, checked when a scene is built and printed in the
//! docs.

use super::SolverKind;

/// Something a scene may ask of a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Shape-matching clusters.
    Clusters,
    /// Strain limiting of clusters.
    StrainLimit,
    /// Springs along edges.
    Edges,
    /// Particles held exactly, fixed or moving.
    Pins,
    /// Particles held by springs.
    SoftPins,
    /// Colliders of every shape, with friction and restitution. Particles of clustered bodies meet them one by one: what is
    /// thinner than they are apart may go in between; all other bodies meet corners and edges with their faces too.
    Colliders,
    /// A user's own constraint batch.
    CustomConstraint,
    /// A mesh sequence the body follows.
    AnimatedInput,
    /// Goals that stretch and shear.
    LinearGoals,
    /// Goals that bend and twist.
    QuadraticGoals,
    /// The deformer's integrator.
    Deformer,
    /// Deformation that stays.
    Plasticity,
    /// Stiffness painted on the particles.
    PaintedStiffness,
    /// Tetrahedra, triangles and threads with a material.
    Elements,
    /// Triangles and tetrahedra that come apart.
    Tearing,
    /// Point cloud glue, joints, hinges with limits and motors, welds: to bodies of any solver and to the world. Threads, whose
    /// particles are on a line, carry no frames.
    Couplings,
    /// Bodies that touch each other.
    BodyContact,
    /// Fields of force through the whole world.
    Fields,
    /// The objective after each iteration ([`Simulation::trace_step`](crate::Simulation::trace_step)); without it nothing is told.
    Tracing,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Feature; 19] = [
        Feature::Clusters,
        Feature::StrainLimit,
        Feature::Edges,
        Feature::Pins,
        Feature::SoftPins,
        Feature::Colliders,
        Feature::CustomConstraint,
        Feature::AnimatedInput,
        Feature::LinearGoals,
        Feature::QuadraticGoals,
        Feature::Deformer,
        Feature::Plasticity,
        Feature::PaintedStiffness,
        Feature::Elements,
        Feature::Tearing,
        Feature::Couplings,
        Feature::BodyContact,
        Feature::Fields,
        Feature::Tracing,
    ];

    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Clusters => "clusters",
            Feature::StrainLimit => "strain limiting",
            Feature::Edges => "edge springs",
            Feature::Pins => "pins",
            Feature::SoftPins => "soft pins",
            Feature::Colliders => "colliders",
            Feature::CustomConstraint => "custom constraints",
            Feature::AnimatedInput => "animated inputs",
            Feature::LinearGoals => "linear goals",
            Feature::QuadraticGoals => "quadratic goals",
            Feature::Deformer => "the deformer's integrator",
            Feature::Plasticity => "plasticity",
            Feature::PaintedStiffness => "painted stiffness",
            Feature::Elements => "constraints of elements",
            Feature::Tearing => "tearing",
            Feature::Couplings => "glue and joints",
            Feature::BodyContact => "contact between bodies",
            Feature::Fields => "fields of force",
            Feature::Tracing => "tracing of iterations",
        }
    }
}

/// Whether a pair works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The solver does it.
    Yes,
    /// It is refused; this is what to do instead.
    No(&'static str),
}

/// Whether a solver supports a feature, and what to take instead if not.
pub fn support(solver: SolverKind, feature: Feature) -> Support {
    use Feature::*;
    if solver == SolverKind::Rigid {
        return of_rigid(feature);
    }
    match (feature, solver.uses_constraints()) {
        (Clusters | Pins | Colliders | Couplings | BodyContact | Fields, _) => Support::Yes,
        (
            StrainLimit | AnimatedInput | LinearGoals | QuadraticGoals | Deformer | Plasticity
            | PaintedStiffness,
            false,
        )
        | (Edges | SoftPins | CustomConstraint | Elements | Tearing | Tracing, true) => Support::Yes,
        (StrainLimit, true) => {
            Support::No("raise `frequency` for a stiffer body, or use solver = \"clustered\"")
        }
        (Edges, false) => {
            Support::No("use solver = \"projective\", or give the body clusters with `radius` or `clusters`")
        }
        (SoftPins, false) => {
            Support::No("leave `stiffness` out to hold the particles exactly, or use solver = \"projective\"")
        }
        (AnimatedInput, true) => {
            Support::No("use solver = \"clustered\", or pins that move for the projective solver")
        }
        (Elements, false) => Support::No(
            "use solver = \"projective\", or describe the stiffness by `frequency` and `strain_limit`",
        ),
        (Tearing, false) => Support::No(
            "clusters hold a body together across any tear: use solver = \"projective\" with a material",
        ),
        (Tracing, false) => {
            Support::No("its steps are explicit and lower no objective: compare with more substeps")
        }
        (CustomConstraint, false) => Support::No("use solver = \"projective\""),
        (LinearGoals | QuadraticGoals, true) => Support::No(
            "lower `frequency` or give more clusters for a body that bends, or use solver = \"clustered\"",
        ),
        (Deformer, true) => Support::No("leave `integrator` out, or use solver = \"clustered\""),
        (Plasticity, true) => Support::No("leave `yield_strain` out, or use solver = \"clustered\""),
        (PaintedStiffness, true) => {
            Support::No("make bodies of different `frequency`, or use solver = \"clustered\"")
        }
    }
}

/// Of bodies that never deform.
fn of_rigid(feature: Feature) -> Support {
    use Feature::*;
    match feature {
        Colliders | AnimatedInput | Couplings | BodyContact | Fields => Support::Yes,
        Pins => Support::No(
            "hold the whole body (make it kinematic), or tie a point of it by a joint to a body that is held",
        ),
        SoftPins => Support::No("tie a point of it by a spring to a body that is held"),
        Tracing => Support::No("it has no objective: compare with more substeps"),
        Tearing => Support::No("use solver = \"projective\" with a material"),
        Clusters | StrainLimit | Edges | CustomConstraint | LinearGoals | QuadraticGoals | Deformer
        | Plasticity | PaintedStiffness | Elements => {
            Support::No("a rigid body does not deform: use another solver for one that does")
        }
    }
}

/// The table as Markdown, as it stands in the documentation.
pub fn support_table() -> String {
    let mut text = String::from("| feature |");
    SolverKind::ALL.iter().for_each(|s| text += &format!(" {} |", s.name()));
    text += "\n|---|";
    SolverKind::ALL.iter().for_each(|_| text += "---|");
    for feature in Feature::ALL {
        text += &format!("\n| {} |", feature.name());
        for solver in SolverKind::ALL {
            text += match support(solver, feature) {
                Support::Yes => " yes |",
                Support::No(_) => " no |",
            };
        }
    }
    text + "\n"
}
