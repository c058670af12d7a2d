//! What a body was made of as bytes, for bodies that a scene does not know.
//!
//! Written is what decides what a body is: everything that goes into its prototype and its kind, and beside it what is
//! shown of it, what it follows and what holds it. Where it is and how it moves is state, its live values are controls,
//! and the mesh attributes of its surface the engine does not keep. Structs are taken apart field by field, so that one with a
//! new field does not compile until it is said here what becomes of it.
//!
//! What is read comes from strangers: lengths are held against the bytes that are there, and what was read is checked
//! by the builder as if a user had given it.

mod shape;

pub(crate) use shape::{read_shown, write_shown};

use crate::body::{Body, ClusterStyle, Clustering, ContactRadius};
use crate::bytes::{Reader, Truncated, Writer};
use crate::constraints::{CurvatureLimits, Differences, ExampleWeights, Filling, Limits};
use crate::controls::{BodyControls, Stiffness};
use crate::elements::{Constraint, ConstraintKind};
use crate::model::{BodyKind, ContactFilter, Goals, Input, Integrator, Motion, PinGroup, Sequence, Source};
use crate::solvers::SolverKind;
use pliant_geometry::ClusterMethod;
use shape::{read_shape, write_shape};
use std::sync::Arc;

/// The first format of checkpoints that tells which bodies a body touches.
const CONTACT_FILTERS: u64 = 10;

/// An enum without fields as a number that stays the same wherever a variant stands in its list.
macro_rules! choice {
    ($write:ident, $read:ident, $type:ty { $($variant:path = $number:literal),+ $(,)? }) => {
        pub(crate) fn $write(w: &mut Writer, value: $type) {
            w.word(match value { $($variant => $number),+ });
        }

        pub(crate) fn $read(r: &mut Reader<'_>) -> Result<$type, Truncated> {
            Ok(match r.word()? {
                $($number => $variant,)+
                _ => return Err(Truncated),
            })
        }
    };
}
pub(crate) use choice;

choice!(write_solver, read_solver, SolverKind {
    SolverKind::Clustered = 0,
    SolverKind::Projective = 1,
    SolverKind::Newton = 2,
    SolverKind::Xpbd = 3,
    SolverKind::Pbd = 4,
    SolverKind::Rigid = 5,
});
choice!(write_goals, read_goals, Goals { Goals::Rigid = 0, Goals::Linear = 1, Goals::Quadratic = 2 });
choice!(write_integrator, read_integrator, Integrator {
    Integrator::StrainLimited = 0,
    Integrator::Deformer = 1,
});
choice!(write_method, read_method, ClusterMethod {
    ClusterMethod::Random = 0,
    ClusterMethod::FileOrder = 1,
    ClusterMethod::Farthest = 2,
    ClusterMethod::KMeans = 3,
});
choice!(write_weights, read_weights, ExampleWeights { ExampleWeights::Own = 0, ExampleWeights::Common = 1 });
choice!(write_differences, read_differences, Differences {
    Differences::Mean = 0,
    Differences::Vertex = 1,
    Differences::Identity = 2,
});

/// Appends what a body of this kind was made of.
pub(crate) fn write(w: &mut Writer, of: &Source, kind: BodyKind) {
    // How masses are coupled the world's settings say.
    let Source { body, sprung, consistent: _ } = of;
    let Body {
        // Each body has its own.
        name: _,
        input: _,
        pins: _,
        // The state says where it is and how it moves.
        position: _,
        rotation: _,
        stretch: _,
        velocity: _,
        spin: _,
        // The engine does not keep it.
        color: _,
        // Its kind has them.
        solver: _,
        two_step: _,
        integrator: _,
        shape,
        mass,
        clusters,
        cluster_style,
        seed,
        goals,
        painted_stiffness,
        painted_tear_strain,
        constraints,
        contact_radius,
        contact_filter,
        controls,
    } = body;
    let matching = kind.matching().unwrap_or_default();
    write_solver(w, kind.solver());
    w.word(matching.two_step.into());
    write_integrator(w, matching.integrator);
    write_goals(w, *goals);
    w.word((*sprung).into());
    // All other live values are controls; this one decides whether there are springs.
    w.word((controls.edge_stiffness > 0.0).into());
    w.number(*mass);
    w.word(*seed);
    write_clusters(w, *clusters, *cluster_style);
    write_radius(w, contact_radius);
    w.numbers(painted_stiffness);
    w.numbers(painted_tear_strain);
    w.word(constraints.len() as u64);
    constraints.iter().for_each(|c| write_constraint(w, c));
    [contact_filter.groups, contact_filter.touches].into_iter().for_each(|v| w.word(v.into()));
    w.word(contact_filter.itself.map_or(2, u64::from));
    write_shape(w, shape);
}

/// Reads back what [`write`] wrote: a body at the origin that nothing holds, and whether keyframes give it springs. Nothing
/// of it is checked yet.
pub(crate) fn read(r: &mut Reader<'_>, format: u64) -> Result<(Body, bool), Truncated> {
    let (solver, two_step, integrator, goals) =
        (read_solver(r)?, r.flag()?, read_integrator(r)?, read_goals(r)?);
    let (sprung, springs) = (r.flag()?, r.flag()?);
    let (mass, seed) = (r.number()?, r.word()?);
    let (clusters, cluster_style) = read_clusters(r)?;
    let contact_radius = read_radius(r)?;
    let (painted_stiffness, painted_tear_strain) = (r.numbers()?, r.numbers()?);
    let constraints = (0..r.length()?).map(|_| read_constraint(r)).collect::<Result<_, _>>()?;
    let contact_filter = match format >= CONTACT_FILTERS {
        true => {
            let (groups, touches) = (read_bits(r)?, read_bits(r)?);
            let itself = match r.word()? {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            };
            ContactFilter { groups, touches, itself }
        }
        false => ContactFilter::ALL,
    };
    // Values that every solver allows at any substep: those in force are controls.
    let controls = BodyControls {
        stiffness: Stiffness::Alpha(0.0),
        strain_limit: f64::INFINITY,
        edge_stiffness: if springs { 1.0 } else { 0.0 },
        ..BodyControls::default()
    };
    let body = Body {
        mass,
        solver,
        clusters,
        cluster_style,
        seed,
        goals,
        two_step,
        integrator,
        painted_stiffness,
        painted_tear_strain,
        constraints,
        contact_radius,
        contact_filter,
        controls,
        ..Body::new("", read_shape(r, format)?)
    };
    Ok((body, sprung))
}

fn read_bits(r: &mut Reader<'_>) -> Result<u32, Truncated> {
    u32::try_from(r.word()?).map_err(|_| Truncated)
}

fn write_clusters(w: &mut Writer, clusters: Clustering, style: ClusterStyle) {
    match clusters {
        Clustering::None => w.word(0),
        Clustering::Whole => w.word(1),
        Clustering::Radius(radius) => {
            w.word(2);
            w.number(radius);
        }
        Clustering::Count(count) => {
            w.word(3);
            w.word(count as u64);
        }
    }
    let ClusterStyle { method, levels, coarse_share, smooth, symmetric, overlap } = style;
    write_method(w, method);
    w.word(levels.into());
    w.number(coarse_share);
    w.word(smooth.into());
    w.word(symmetric.into());
    w.number(overlap);
}

fn read_clusters(r: &mut Reader<'_>) -> Result<(Clustering, ClusterStyle), Truncated> {
    let clusters = match r.word()? {
        0 => Clustering::None,
        1 => Clustering::Whole,
        2 => Clustering::Radius(r.number()?),
        3 => Clustering::Count(whole(r)?),
        _ => return Err(Truncated),
    };
    let style = ClusterStyle {
        method: read_method(r)?,
        levels: whole(r)?,
        coarse_share: r.number()?,
        smooth: r.flag()?,
        symmetric: r.flag()?,
        overlap: r.number()?,
    };
    Ok((clusters, style))
}

fn write_radius(w: &mut Writer, radius: &ContactRadius) {
    match radius {
        ContactRadius::Shown => w.word(0),
        ContactRadius::Fixed(radius) => {
            w.word(1);
            w.number(*radius);
        }
        ContactRadius::Each(each) => {
            w.word(2);
            w.numbers(each);
        }
    }
}

fn read_radius(r: &mut Reader<'_>) -> Result<ContactRadius, Truncated> {
    Ok(match r.word()? {
        0 => ContactRadius::Shown,
        1 => ContactRadius::Fixed(r.number()?),
        2 => ContactRadius::Each(r.numbers()?),
        _ => return Err(Truncated),
    })
}

fn write_constraint(w: &mut Writer, constraint: &Constraint) {
    let Constraint { kind, stiffness } = constraint;
    write_option(w, *stiffness);
    let limits =
        |w: &mut Writer, Limits { min, max }: Limits| [min, max].into_iter().for_each(|v| w.number(v));
    match kind {
        ConstraintKind::Strain => w.word(0),
        ConstraintKind::StrainLimit(own) => {
            w.word(1);
            limits(w, *own);
        }
        ConstraintKind::Fibre(direction, own) => {
            w.word(2);
            w.vector(*direction);
            limits(w, *own);
        }
        ConstraintKind::Volume(own) => {
            w.word(3);
            limits(w, *own);
        }
        ConstraintKind::Bending => w.word(4),
        ConstraintKind::BendingLimit(CurvatureLimits { relative, absolute }) => {
            w.word(5);
            relative.iter().chain([absolute]).for_each(|v| w.number(*v));
        }
        ConstraintKind::Hinge => w.word(6),
        ConstraintKind::Examples(shapes, weights) => {
            w.word(7);
            write_weights(w, *weights);
            w.word(shapes.len() as u64);
            shapes.iter().for_each(|shape| w.vectors(shape));
        }
        ConstraintKind::Pressure(Filling::Volume(own)) => {
            w.word(8);
            own.iter().for_each(|v| w.number(*v));
        }
        ConstraintKind::Pressure(Filling::Gas { outside, give }) => {
            w.word(9);
            [outside, give].into_iter().for_each(|v| w.number(*v));
        }
        ConstraintKind::Rigid(differences) => {
            w.word(10);
            write_differences(w, *differences);
        }
    }
}

fn read_constraint(r: &mut Reader<'_>) -> Result<Constraint, Truncated> {
    let stiffness = read_option(r)?;
    let pair = |r: &mut Reader<'_>| Ok([r.number()?, r.number()?]);
    let limits = |r: &mut Reader<'_>| pair(r).map(Limits::new);
    let kind = match r.word()? {
        0 => ConstraintKind::Strain,
        1 => ConstraintKind::StrainLimit(limits(r)?),
        2 => ConstraintKind::Fibre(r.vector()?, limits(r)?),
        3 => ConstraintKind::Volume(limits(r)?),
        4 => ConstraintKind::Bending,
        5 => ConstraintKind::BendingLimit(CurvatureLimits { relative: pair(r)?, absolute: r.number()? }),
        6 => ConstraintKind::Hinge,
        7 => {
            let weights = read_weights(r)?;
            let shapes: Vec<_> = (0..r.length()?).map(|_| r.vectors()).collect::<Result<_, _>>()?;
            ConstraintKind::Examples(shapes.into(), weights)
        }
        8 => ConstraintKind::Pressure(Filling::Volume(pair(r)?)),
        9 => ConstraintKind::Pressure(Filling::Gas { outside: r.number()?, give: r.number()? }),
        10 => ConstraintKind::Rigid(read_differences(r)?),
        _ => return Err(Truncated),
    };
    Ok(Constraint { kind, stiffness })
}

/// Appends what a body follows, in the world.
pub(crate) fn write_input(w: &mut Writer, input: &Input) {
    let Input { sequence, follow, reshape } = input;
    w.word((*reshape).into());
    w.numbers(follow);
    write_sequence(w, sequence);
}

/// Appends the frames of an animation.
pub(crate) fn write_sequence(w: &mut Writer, sequence: &Sequence) {
    let (frames, per_second, repeats) = sequence.parts();
    w.number(per_second);
    w.word(repeats.into());
    w.word(frames.len() as u64);
    frames.iter().for_each(|frame| w.vectors(frame));
}

/// Reads back what [`write_input`] wrote; the sequence is sound, the rest is not checked yet.
pub(crate) fn read_input(r: &mut Reader<'_>) -> Result<Input, Truncated> {
    let (reshape, follow) = (r.flag()?, r.numbers()?);
    Ok(Input { sequence: Arc::new(read_sequence(r)?), follow, reshape })
}

/// Reads back what [`write_sequence`] wrote.
pub(crate) fn read_sequence(r: &mut Reader<'_>) -> Result<Sequence, Truncated> {
    let (per_second, repeats) = (r.number()?, r.flag()?);
    let frames = (0..r.length()?).map(|_| r.vectors()).collect::<Result<_, _>>()?;
    let sequence = Sequence::new(frames, per_second).map_err(|_| Truncated)?;
    Ok(if repeats { sequence.repeating() } else { sequence })
}

/// Appends how a pin group or a collider moves.
pub(crate) fn write_motion(w: &mut Writer, motion: &Motion) {
    let Motion { velocity, spin, pivot, sway, frequency, start, end } = *motion;
    [velocity, spin, pivot, sway].into_iter().for_each(|v| w.vector(v));
    [frequency, start, end].into_iter().for_each(|v| w.number(v));
}

/// Reads back what [`write_motion`] wrote; nothing is checked yet.
pub(crate) fn read_animation(r: &mut Reader<'_>) -> Result<Motion, Truncated> {
    Ok(Motion {
        velocity: r.vector()?,
        spin: r.vector()?,
        pivot: r.vector()?,
        sway: r.vector()?,
        frequency: r.number()?,
        start: r.number()?,
        end: r.number()?,
    })
}

/// Appends pin groups and the id of the next one.
pub(crate) fn write_pins(w: &mut Writer, pins: &[PinGroup], next: usize) {
    w.word(next as u64);
    w.word(pins.len() as u64);
    for PinGroup { id, name, particles, motion, stiffness } in pins {
        w.word(*id as u64);
        w.text(name);
        w.indices(particles);
        write_motion(w, motion);
        write_option(w, *stiffness);
    }
}

/// Reads back what [`write_pins`] wrote. Groups are in order, hold different particles and move by finite numbers.
pub(crate) fn read_pins(r: &mut Reader<'_>) -> Result<(Vec<PinGroup>, usize), Truncated> {
    let next = counter(r)?;
    let next = usize::try_from(next).map_err(|_| Truncated)?;
    let mut pins: Vec<PinGroup> = Vec::new();
    let mut taken = Vec::new();
    for _ in 0..r.length()? {
        let (id, name, particles) = (whole(r)?, r.text()?, r.indices()?);
        let motion = read_animation(r)?;
        let stiffness = read_option(r)?;
        let sound = id < next
            && pins.last().is_none_or(|p| p.id < id)
            && motion.is_finite()
            && particles.is_sorted()
            && stiffness.is_none_or(|k| k > 0.0 && k.is_finite());
        if !sound {
            return Err(Truncated);
        }
        taken.extend_from_slice(&particles);
        pins.push(PinGroup { id, name, particles, motion, stiffness });
    }
    taken.sort_unstable();
    if taken.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Truncated);
    }
    Ok((pins, next))
}

fn write_option(w: &mut Writer, value: Option<f64>) {
    w.word(value.is_some().into());
    w.number(value.unwrap_or(0.0));
}

fn read_option(r: &mut Reader<'_>) -> Result<Option<f64>, Truncated> {
    let (given, value) = (r.flag()?, r.number()?);
    Ok(given.then_some(value))
}

/// A whole number that is counted on from: far from where there is no next one.
pub(crate) fn counter(r: &mut Reader<'_>) -> Result<u64, Truncated> {
    r.word().and_then(|n| if n < 1 << 53 { Ok(n) } else { Err(Truncated) })
}

fn whole<N: TryFrom<u64>>(r: &mut Reader<'_>) -> Result<N, Truncated> {
    r.word().and_then(|n| N::try_from(n).map_err(|_| Truncated))
}
