//! Pins of a body: which particles, and how they move.

use crate::keys::CORNERS;
use crate::motion;
use crate::record::Record;
use crate::shape::ShapePlan;
use crate::source::{Check, Located, SourceText};
use crate::{Diagnostic, shape::MadeShape};
use glam::DVec3;
use pliant::solvers::{Feature, Support, support};
use pliant::{DAffine3, Motion, Pins, Selection, SolverKind};

/// A pin as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct PinPlan {
    pub name: String,
    motion: Motion,
    stiffness: Option<f64>,
    select: Located<PinSelection>,
}

#[derive(Clone, Debug)]
enum PinSelection {
    Particles(Vec<Located<u64>>),
    Box(DVec3, DVec3),
    /// Indices into [`CORNERS`].
    Corners(Vec<usize>),
}

/// Reads a pin; `None` if it has faults, which were reported.
pub(crate) fn plan(
    check: &mut Check<'_>,
    pin: &Record,
    shape: Option<&ShapePlan>,
    solver: SolverKind,
) -> Option<PinPlan> {
    let motion = motion::plan(check, pin);
    let stiffness = pin.given("stiffness").map(|v| v.it.number());
    if let (true, Support::No(instead)) = (stiffness.is_some(), support(solver, Feature::SoftPins)) {
        let text = format!("the {} solver does not support soft pins", solver.name());
        check.add(pin.place("stiffness"), text, instead);
    }
    let select = if let Some(list) = pin.given("particles") {
        let particles = list.it.list().iter().map(|p| Located { at: p.at.clone(), it: p.it.whole() });
        (PinSelection::Particles(particles.collect()), &list.at)
    } else if let Some(extent) = pin.record("box") {
        let (lo, hi) = (extent.vector("min"), extent.vector("max"));
        if !lo.cmple(hi).all() {
            let text = format!("`min` {lo} is beyond `max` {hi}: nothing is in this box");
            check.add(&extent.at, text, "give the smaller coordinates in `min`");
        }
        (PinSelection::Box(lo, hi), &extent.at)
    } else if let Some(corners) = pin.given("corners") {
        if shape.is_some_and(|s| !s.is_sheet()) {
            check.add(
                &corners.at,
                "`corners` are of sheets, and this body is none",
                "choose its particles with `box = { min = […], max = […] }`",
            );
        }
        let of = |word: &str| CORNERS.iter().position(|c| *c == word);
        let chosen = corners.it.list().iter().filter_map(|c| of(c.it.text())).collect();
        (PinSelection::Corners(chosen), &corners.at)
    } else {
        return None;
    };
    Some(PinPlan {
        name: pin.given("name").map_or(String::new(), |n| n.it.text().to_string()),
        motion,
        stiffness,
        select: Located { at: select.1.clone(), it: select.0 },
    })
}

/// The pins of a made body for the engine. Done here rather than there because only here the place of
/// each is known.
pub(crate) fn make(
    pins: &[PinPlan],
    made: &MadeShape,
    placement: DAffine3,
    source: &SourceText,
) -> Result<Vec<Pins>, Vec<Diagnostic>> {
    let count = made.shape.points.len();
    let mut check = Check::new(source);
    let mut taken = vec![false; count];
    let mut groups = Vec::with_capacity(pins.len());
    for pin in pins {
        let mut particles: Vec<u32> = match &pin.select.it {
            PinSelection::Particles(list) => {
                for p in list.iter().filter(|p| p.it >= count as u64) {
                    let text = format!("there is no particle {}", p.it);
                    check.add(&p.at, text, format!("the body has {count}, numbered from 0"));
                }
                list.iter().map(|p| p.it).filter(|&p| p < count as u64).map(|p| p as u32).collect()
            }
            PinSelection::Box(lo, hi) => {
                let inside = |p: &DVec3| {
                    let p = placement.transform_point3(*p);
                    p.cmpge(*lo).all() && p.cmple(*hi).all()
                };
                let points = made.shape.points.iter().enumerate();
                let found: Vec<u32> = points.filter(|(_, p)| inside(p)).map(|(i, _)| i as u32).collect();
                if found.is_empty() {
                    let (lo, hi) = bounds(made, placement);
                    check.add(
                        &pin.select.at,
                        "no particle is in this box",
                        format!("move or enlarge it; at the start the body reaches from {lo} to {hi}"),
                    );
                }
                found
            }
            PinSelection::Corners(corners) => {
                let [nx, nz] = made.cells.unwrap_or([0, 0]).map(|n| n + 1);
                let index = [0, nx - 1, nx * (nz - 1), nx * nz - 1];
                corners.iter().map(|&c| index[c] as u32).collect()
            }
        };
        particles.sort_unstable();
        particles.dedup();
        let twice = particles.iter().find(|&&i| std::mem::replace(&mut taken[i as usize], true));
        if let Some(i) = twice {
            let text = format!("particle {i} is held by an earlier pin too");
            check.add(&pin.select.at, text, "let each particle be held by one pin");
        }
        groups.push(Pins {
            name: pin.name.clone(),
            select: Selection::Particles(particles),
            motion: pin.motion,
            stiffness: pin.stiffness,
        });
    }
    check.finish(groups)
}

pub(crate) fn bounds(made: &MadeShape, placement: DAffine3) -> (DVec3, DVec3) {
    let points: Vec<DVec3> = made.shape.points.iter().map(|p| placement.transform_point3(*p)).collect();
    let round = |v: DVec3| (v * 1e4).round() / 1e4;
    let (lo, hi) = pliant_geometry::TriMesh::bounds(&points).unwrap_or_default();
    (round(lo), round(hi))
}
