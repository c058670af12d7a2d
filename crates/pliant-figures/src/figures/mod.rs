//! The figures: one file each, listed here.

mod against_newton;
mod bouncing_bunny;
mod buckling;
mod cantilever;
mod cloth_iterations;
mod clusters;
mod convergence;
mod curtain_limits;
mod deformer_stability;
mod differences;
mod embedding;
mod example_cars;
mod extreme_wind;
mod filling;
mod flappiness;
mod flat_sheet;
mod flattened_balls;
mod glue_cost;
mod glue_outside;
mod glue_parents;
mod glue_springs;
mod glue_stiffness;
mod goal_descent;
mod gravity_paths;
mod infeasible_sets;
mod limit_excess;
mod mass_matrices;
mod mesh_care;
mod multi_scale;
mod peak_strain;
mod projective_descent;
mod projective_momentum;
mod raining_bodies;
mod resolutions;
mod skin_binding;
mod spinning_cube;
mod stiffening;
mod stretched_cube;
mod stretched_cube_grid;
mod stuffing;
mod symmetric_stretch;
mod torus_modes;
mod two_steps;
mod volume_preservation;
mod volume_weights;
mod winding;
mod zero_length_spring;

#[cfg(test)]
mod sabotage;
#[cfg(test)]
mod sabotage_glue;
#[cfg(test)]
mod sabotage_mesh;
#[cfg(test)]
mod sabotage_projective;

use crate::error::FigureError;
use crate::plot::Plot;

/// Why a run failed.
pub type Failure = Box<dyn std::error::Error>;

/// A figure that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Stable name, also of its files.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
}

/// A number made of a plot, and nothing else.
pub type Metric = fn(&Plot) -> f64;

/// All there is to a figure.
pub struct Definition {
    pub figure: Figure,
    pub run: fn() -> Result<Plot, Failure>,
    pub metrics: &'static [(&'static str, Metric)],
}

impl Definition {
    /// The metric of a claim; NaN if there is none of this name.
    pub fn measure(&self, metric: &str, plot: &Plot) -> f64 {
        self.metrics.iter().find(|(name, _)| *name == metric).map_or(f64::NAN, |(_, f)| f(plot))
    }
}

/// Every figure, in the order they are made.
pub const ALL: &[&Definition] = &[
    &peak_strain::DEFINITION,
    &limit_excess::DEFINITION,
    &stretched_cube::DEFINITION,
    &zero_length_spring::DEFINITION,
    &spinning_cube::DEFINITION,
    &goal_descent::DEFINITION,
    &gravity_paths::DEFINITION,
    &bouncing_bunny::DEFINITION,
    &symmetric_stretch::DEFINITION,
    &clusters::DEFINITION,
    &multi_scale::DEFINITION,
    &stretched_cube_grid::DEFINITION,
    &raining_bodies::DEFINITION,
    &flappiness::DEFINITION,
    &torus_modes::DEFINITION,
    &volume_preservation::DEFINITION,
    &deformer_stability::DEFINITION,
    &two_steps::DEFINITION,
    &flat_sheet::DEFINITION,
    &projective_descent::DEFINITION,
    &projective_momentum::DEFINITION,
    &infeasible_sets::DEFINITION,
    &cloth_iterations::DEFINITION,
    &resolutions::DEFINITION,
    &cantilever::DEFINITION,
    &curtain_limits::DEFINITION,
    &volume_weights::DEFINITION,
    &stiffening::DEFINITION,
    &example_cars::DEFINITION,
    &buckling::DEFINITION,
    &extreme_wind::DEFINITION,
    &flattened_balls::DEFINITION,
    &against_newton::DEFINITION,
    &mass_matrices::DEFINITION,
    &convergence::DEFINITION,
    &differences::DEFINITION,
    &mesh_care::DEFINITION,
    &winding::DEFINITION,
    &filling::DEFINITION,
    &stuffing::DEFINITION,
    &skin_binding::DEFINITION,
    &glue_outside::DEFINITION,
    &glue_parents::DEFINITION,
    &glue_stiffness::DEFINITION,
    &glue_springs::DEFINITION,
    &glue_cost::DEFINITION,
    &embedding::DEFINITION,
];

/// The public side of [`ALL`].
const FIGURES: [Figure; ALL.len()] = {
    let mut list = [Figure { name: "", about: "" }; ALL.len()];
    let mut k = 0;
    while k < ALL.len() {
        list[k] = ALL[k].figure;
        k += 1;
    }
    list
};

/// Every figure there is, in the order they are made.
pub fn figures() -> &'static [Figure] {
    &FIGURES
}

/// What a figure is called now that had another name before.
fn present_name(name: &str) -> &str {
    match name {
        "riding" => "skin_binding",
        name => name,
    }
}

/// The definitions named, each once, all if none is named.
pub fn choose(names: &[String]) -> Result<Vec<&'static Definition>, FigureError> {
    let names: Vec<&str> = names.iter().map(|name| present_name(name)).collect();
    for &name in &names {
        if !FIGURES.iter().any(|f| f.name == name) {
            return Err(FigureError::UnknownName(name.into()));
        }
    }
    let wanted = |d: &Definition| names.is_empty() || names.contains(&d.figure.name);
    Ok(ALL.iter().copied().filter(|d| wanted(d)).collect())
}
