//! Keys of a material, `[materials.NAME]`, which are keys of a body too.

use super::kinds::{FREQUENCY, FRICTION, RATE, SHARE};
use crate::format::{Key, NumberRange, Rule, Table, ValueKind};

/// Keys of a material, which are keys of a body too.
pub(crate) const MATERIAL_KEYS: &[Key] = &[
    Key::new(
        "frequency",
        FREQUENCY,
        "Stiffness as oscillations per second (Hz); does not depend on step, substeps or resolution. 25 unless given, or the most the step allows.",
    )
    .example("30.0")
    .also(&["stiffness"]),
    Key::new(
        "alpha",
        SHARE,
        "Stiffness as the papers' alpha: the share of the way to the goal covered in one substep.",
    )
    .example("0.5"),
    Key::new(
        "strain_limit",
        ValueKind::Number(NumberRange::new(0.0, 1e6).or_infinite()),
        "Gamma: allowed distance from the goal over the width of a cluster; inf for no limit. 0.3 for the clustered solver, which alone has it.",
    )
    .example("0.3")
    .also(&["gamma"]),
    Key::new(
        "relaxation",
        ValueKind::Number(NumberRange::new(0.0, 2.0)),
        "Omega: under- or over-relaxation of the strain limiting; in PBD the part of each correction that is made.",
    )
    .default("1.0")
    .also(&["omega"]),
    Key::new(
        "limiting",
        ValueKind::Word(&["conserving", "paper"]),
        "Whether strain limiting takes back the momentum it introduces, so that limits hold on the ground \
         and set nothing spinning, or follows the paper to the letter.",
    )
    .default("\"conserving\""),
    Key::new(
        "iterations",
        ValueKind::Whole(0, 10_000),
        "Iterations per substep. 5 for the clustered solver, 10 for all others.",
    )
    .example("5"),
    Key::new(
        "damping",
        RATE,
        "Decay rate (1/s) of all motion that is not rigid; keeps momentum.",
    )
    .default("2.0"),
    Key::new("drag", RATE, "Decay rate (1/s) of all motion, as by air.").default("0.0"),
    Key::new(
        "edge_stiffness",
        ValueKind::Number(NumberRange::new(0.0, 1e15)),
        "Stiffness of springs along edges (projective solver): Pa for solids, N/m for sheets. 2000 for sheets, otherwise 0.",
    )
    .example("2000.0"),
    Key::new(
        "friction",
        FRICTION,
        "Coulomb friction of the surface, combined with the plane's as the root of their product; the plane's unless given.",
    )
    .example("0.5"),
    Key::new(
        "restitution",
        SHARE,
        "Speed kept by a bounce; the larger of the body's and the plane's counts.",
    )
    .default("0.0")
    .also(&["elasticity", "bounciness"]),
    Key::new(
        "goals",
        ValueKind::Word(&["rigid", "linear", "quadratic"]),
        "Which deformations the goals of a cluster follow: none, stretch and shear, or bending and twist too.",
    )
    .default("\"rigid\"")
    .also(&["goal", "mode"]),
    Key::new(
        "deformation",
        ValueKind::Number(NumberRange::new(0.0, 0.98)),
        "Beta: how much of the fitted deformation linear and quadratic goals follow.",
    )
    .default("0.5")
    .also(&["beta"]),
    Key::new("volume", SHARE, "How much of its volume a linear or quadratic goal keeps.").default("1.0"),
    Key::new(
        "two_step",
        ValueKind::Truth,
        "Whether goals are made by deformation and then rotation instead of as a blend of both; for comparison.",
    )
    .default("false"),
    Key::new(
        "integrator",
        ValueKind::Word(&["strain_limited", "deformer"]),
        "How the clustered solver moves on in time: springs and strain limits, or the deformer's matching step.",
    )
    .default("\"strain_limited\""),
    Key::new(
        "flappiness",
        SHARE,
        "The deformer's share of the matching step that becomes velocity: low creeps to the goal, high swings.",
    )
    .default("1.0"),
    Key::new(
        "viscous_friction",
        SHARE,
        "The deformer's friction: the share of the sliding velocity an impact takes away.",
    )
    .default("0.2"),
    Key::new(
        "yield_strain",
        ValueKind::Number(NumberRange::new(0.0, 1e6).or_infinite()),
        "Stretch of a cluster beyond which it deforms for good; inf for an elastic body.",
    )
    .default("inf")
    .also(&["yield", "plasticity"]),
    Key::new("creep", RATE, "Rate (1/s) at which what is beyond the yield strain becomes permanent.")
        .default("10.0"),
    Key::new("plastic_limit", ValueKind::Number(NumberRange::new(0.0, 9.0)), "Largest permanent stretch.").default("0.5"),
    Key::new("hardening", RATE, "How much the yield strain grows per permanent stretch.").default("0.0"),
    Key::new(
        "follow",
        FREQUENCY,
        "How strongly painted particles are drawn to the body's input: oscillations per second (Hz) at weight 1. 4 unless given, or the most the step allows.",
    )
    .example("4.0"),
    Key::new(
        "follow_damping",
        RATE,
        "Rate (1/s) at which the motion of painted particles relative to the input decays, at weight 1.",
    )
    .default("3.0"),
    Key::new(
        "density",
        ValueKind::Number(NumberRange::new(1e-9, 1e9)),
        "kg/m³; for sheets, open meshes and vertices without elements kg/m². The named material's; else 1000, and \
         0.3 kg/m² for whatever is thin, unless this or `mass` is given.",
    )
    .example("1000.0"),
    Key::new(
        "young",
        ValueKind::Number(NumberRange::new(0.0, 1e15)),
        "Young's modulus of its elements, Pa: how hard it is to stretch. 1e5 unless given, or the named material's.",
    )
    .example("1e5")
    .also(&["youngs_modulus", "modulus"]),
    Key::new(
        "poisson",
        ValueKind::Number(NumberRange::new(0.0, 0.499)),
        "Poisson's ratio of its elements: how much it thins when stretched; close to 0.5 it keeps its volume. \
         0.3 unless given, or the named material's.",
    )
    .example("0.3")
    .also(&["poissons_ratio", "nu"]),
    Key::new(
        "thickness",
        ValueKind::Number(NumberRange::new(1e-9, 1e3)),
        "Thickness of sheets and shells, diameter of threads, m. 0.001 unless given, or the named material's.",
    )
    .example("0.001")
    .also(&["diameter"]),
    Key::new(
        "air",
        ValueKind::Number(NumberRange::new(0.0, 1e6)),
        "How strongly air pushes its faces: density times drag coefficient, kg/m³. 1.2 where there is wind and the \
         body has faces (sheets, shells, tetrahedra), otherwise 0.",
    )
    .example("1.2")
    .also(&["air_density", "drag_coefficient"]),
    Key::new(
        "tear_strain",
        ValueKind::Number(NumberRange::new(1e-3, 1e6).or_infinite()),
        "How far triangles and tetrahedra may be stretched before they come apart: 0.4 is 40 % longer. They never do unless \
         it is given (not for clusters). Painted, it is this times the painted value.",
    )
    .default("inf"),
];

pub(crate) const ONE_STIFFNESS: Rule = Rule::AtMostOne(&["frequency", "alpha"]);
pub(crate) static MATERIAL: Table =
    Table { title: "a material", groups: &[MATERIAL_KEYS], rules: &[ONE_STIFFNESS] };
