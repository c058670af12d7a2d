//! The world's settings as bytes: what edits can change of them.

use crate::bytes::{Reader, Truncated, Writer};
use crate::controls::{Control, ControlOwner, Value};
use crate::description::{choice, counter, read_animation, read_sequence, write_motion, write_sequence};
use crate::fields::Field;
use crate::keyframes::{Ease, Key, Keyframes, Track};
use crate::model::{
    Acceleration, Attachment, BodyFrame, BodyId, BodyPoint, Collider, ColliderId, ColliderShape, Coupling,
    CouplingId, CouplingKind, Implicit, MassMatrix, ModelCollider, ModelCoupling, Motor, Params, WarmStart,
    WorldFrame, primitive_of, primitive_parts,
};
use glam::{DAffine3, DMat3};
use pliant_geometry::TriMesh;
use pliant_geometry::colliders::ColliderMesh;
use std::sync::Arc;

choice!(write_ease, read_ease, Ease { Ease::Stepped = 0, Ease::Linear = 1, Ease::Smooth = 2 });
choice!(write_warm_start, read_warm_start, WarmStart { WarmStart::Prediction = 0, WarmStart::Last = 1 });
choice!(write_mass, read_mass, MassMatrix { MassMatrix::Lumped = 0, MassMatrix::Consistent = 1 });
choice!(write_acceleration, read_acceleration, Acceleration {
    Acceleration::None = 0,
    Acceleration::LBfgs = 1,
    Acceleration::Anderson = 2,
});

/// The first format of checkpoints that tells whether bodies touch.
const BODY_CONTACT: u64 = 10;
/// And that tells whether bodies sleep.
const SLEEP: u64 = 11;

pub(super) fn write(w: &mut Writer, params: &Params) {
    // No edit changes the step.
    let Params { step: _, substeps, keyframes, implicit, fields, body_contact, sleep_speed } = params;
    w.word((*substeps).into());
    write_keyframes(w, keyframes);
    let Implicit { warm_start, mass, acceleration, tolerance, implicitness } = *implicit;
    write_warm_start(w, warm_start);
    write_mass(w, mass);
    write_acceleration(w, acceleration);
    [tolerance, implicitness].into_iter().for_each(|v| w.number(v));
    w.word(fields.len() as u64);
    fields.iter().for_each(|f| write_field(w, f));
    w.word((*body_contact).into());
    w.number(*sleep_speed);
}

/// Reads back what [`write`] wrote, of a world of this step; nothing is checked yet.
pub(super) fn read(r: &mut Reader<'_>, step: f64, format: u64) -> Result<Params, Truncated> {
    let substeps = u32::try_from(r.word()?).map_err(|_| Truncated)?;
    let keyframes = read_keyframes(r)?;
    let implicit = Implicit {
        warm_start: read_warm_start(r)?,
        mass: read_mass(r)?,
        acceleration: read_acceleration(r)?,
        tolerance: r.number()?,
        implicitness: r.number()?,
    };
    let fields = (0..r.length()?).map(|_| read_field(r)).collect::<Result<_, _>>()?;
    // Before that bodies did not touch.
    let body_contact = format >= BODY_CONTACT && r.flag()?;
    let sleep_speed = if format >= SLEEP { r.number()? } else { 0.0 };
    Ok(Params { step, substeps, keyframes, implicit, fields, body_contact, sleep_speed })
}

/// What bodies cannot enter.
pub(super) fn write_colliders(w: &mut Writer, colliders: &[ModelCollider]) {
    w.word(colliders.len() as u64);
    for ModelCollider { id, collider } in colliders {
        let Collider { name, shape, at, input, motion, friction, restitution } = collider;
        w.word(id.number());
        w.text(name);
        write_shape(w, shape);
        [friction, restitution].into_iter().for_each(|v| w.number(*v));
        write_motion(w, motion);
        w.placement(at);
        w.word(input.is_some().into());
        if let Some(input) = input {
            write_sequence(w, input);
        }
    }
}

fn write_shape(w: &mut Writer, shape: &ColliderShape) {
    match shape {
        ColliderShape::Plane { normal, offset } => {
            w.word(0);
            w.vector(*normal);
            w.number(*offset);
        }
        ColliderShape::Solid(shape) => {
            let (kind, sizes) = primitive_parts(shape);
            w.word(1);
            w.word(kind);
            sizes.into_iter().for_each(|v| w.number(v));
        }
        ColliderShape::Mesh { mesh, thickness } => {
            w.word(2);
            w.number(*thickness);
            w.vectors(&mesh.mesh().positions);
            w.indices(&mesh.mesh().triangles.concat());
        }
    }
}

fn read_shape(r: &mut Reader<'_>) -> Result<ColliderShape, Truncated> {
    Ok(match r.word()? {
        0 => ColliderShape::Plane { normal: r.vector()?, offset: r.number()? },
        1 => {
            let (kind, sizes) = (r.word()?, [r.number()?, r.number()?, r.number()?]);
            ColliderShape::Solid(primitive_of(kind, sizes).ok_or(Truncated)?)
        }
        2 => {
            let (thickness, positions, corners) = (r.number()?, r.vectors()?, r.indices()?);
            let (triangles, rest) = corners.as_chunks::<3>();
            let mesh = TriMesh { positions, triangles: triangles.to_vec() };
            let mesh = ColliderMesh::new(mesh).ok().filter(|_| rest.is_empty()).ok_or(Truncated)?;
            ColliderShape::Mesh { mesh: Arc::new(mesh), thickness }
        }
        _ => return Err(Truncated),
    })
}

/// Reads back what [`write_colliders`] wrote; nothing is checked yet. Formats before 8 knew only planes.
pub(super) fn read_colliders(r: &mut Reader<'_>, version: u64) -> Result<Vec<ModelCollider>, Truncated> {
    let collider = |r: &mut Reader<'_>| {
        let (id, name) = (ColliderId::from_number(counter(r)?), r.text()?);
        let only_planes = version < 8;
        let shape = match only_planes {
            true => ColliderShape::Plane { normal: r.vector()?, offset: r.number()? },
            false => read_shape(r)?,
        };
        let (friction, restitution) = (r.number()?, r.number()?);
        let motion = read_animation(r)?;
        let (mut at, mut input) = (DAffine3::IDENTITY, None);
        if !only_planes {
            at = r.placement()?;
            input = if r.flag()? { Some(Arc::new(read_sequence(r)?)) } else { None };
        }
        Ok(ModelCollider { id, collider: Collider { name, shape, at, input, motion, friction, restitution } })
    };
    (0..r.length()?).map(|_| collider(r)).collect()
}

choice!(write_coupling_kind, read_coupling_kind, CouplingKind {
    CouplingKind::Point = 0,
    CouplingKind::Hinge = 1,
    CouplingKind::Weld = 2,
});

/// What ties bodies together.
pub(super) fn write_couplings(w: &mut Writer, couplings: &[ModelCoupling]) {
    w.word(couplings.len() as u64);
    for ModelCoupling { id, coupling } in couplings {
        let Coupling { name, sides, kind, stiffness, damping, break_force, break_distance, limits, motor } =
            coupling;
        w.word(id.number());
        w.text(name);
        sides.iter().for_each(|side| write_attachment(w, side));
        write_coupling_kind(w, *kind);
        w.word(stiffness.is_some().into());
        [stiffness.unwrap_or(0.0), *damping, *break_force, *break_distance]
            .into_iter()
            .for_each(|v| w.number(v));
        let drive = motor.map(|Motor { speed, torque }| [speed, torque]);
        for pair in [*limits, drive] {
            w.word(pair.is_some().into());
            pair.unwrap_or_default().into_iter().for_each(|v| w.number(v));
        }
    }
}

fn write_attachment(w: &mut Writer, side: &Attachment) {
    match side {
        Attachment::Point(point) => {
            w.word(0);
            write_point(w, point);
        }
        Attachment::Frame(frame) => {
            w.word(1);
            w.word(frame.body().number());
            w.indices(frame.parents());
            w.numbers(frame.weights());
            w.vectors(frame.rest());
            w.vector(frame.at());
            write_axes(w, frame.axes());
        }
        Attachment::World(WorldFrame { at, axes }) => {
            w.word(2);
            w.vector(*at);
            write_axes(w, *axes);
        }
    }
}

fn read_attachment(r: &mut Reader<'_>) -> Result<Attachment, Truncated> {
    Ok(match r.word()? {
        0 => Attachment::Point(read_point(r)?),
        1 => {
            let (body, parents, weights) = (BodyId::from_number(counter(r)?), r.indices()?, r.numbers()?);
            let (rest, at, axes) = (r.vectors()?, r.vector()?, read_axes(r)?);
            if parents.len() != weights.len() {
                return Err(Truncated);
            }
            let parents: Vec<(u32, f64)> = parents.into_iter().zip(weights).collect();
            BodyFrame::new(body, &parents, &rest, (at, axes)).map_err(|_| Truncated)?.into()
        }
        2 => Attachment::World(WorldFrame { at: r.vector()?, axes: read_axes(r)? }),
        _ => return Err(Truncated),
    })
}

fn write_axes(w: &mut Writer, axes: DMat3) {
    [axes.x_axis, axes.y_axis, axes.z_axis].into_iter().for_each(|v| w.vector(v));
}

fn read_axes(r: &mut Reader<'_>) -> Result<DMat3, Truncated> {
    Ok(DMat3::from_cols(r.vector()?, r.vector()?, r.vector()?))
}

fn write_point(w: &mut Writer, BodyPoint { body, particles, weights }: &BodyPoint) {
    w.word(body.number());
    particles.iter().for_each(|i| w.word(u64::from(*i)));
    weights.iter().for_each(|v| w.number(*v));
}

fn read_point(r: &mut Reader<'_>) -> Result<BodyPoint, Truncated> {
    let body = BodyId::from_number(counter(r)?);
    let (mut particles, mut weights) = ([0; 4], [0.0; 4]);
    for i in &mut particles {
        *i = u32::try_from(r.word()?).map_err(|_| Truncated)?;
    }
    for w in &mut weights {
        *w = r.number()?;
    }
    Ok(BodyPoint { body, particles, weights })
}

/// Reads back what [`write_couplings`] wrote; nothing is checked yet. Formats before 9 knew only points that never break,
/// those before 10 no limits and motors.
pub(super) fn read_couplings(r: &mut Reader<'_>, version: u64) -> Result<Vec<ModelCoupling>, Truncated> {
    let coupling = |r: &mut Reader<'_>| {
        let (id, name) = (CouplingId::from_number(counter(r)?), r.text()?);
        let only_points = version < 9;
        let mut side = || match only_points {
            true => read_point(r).map(Attachment::from),
            false => read_attachment(r),
        };
        let sides = [side()?, side()?];
        let kind = if only_points { CouplingKind::Point } else { read_coupling_kind(r)? };
        let (soft, stiffness, damping) = (r.flag()?, r.number()?, r.number()?);
        let [mut break_force, mut break_distance] = [f64::INFINITY; 2];
        if !only_points {
            (break_force, break_distance) = (r.number()?, r.number()?);
        }
        let [mut limits, mut drive] = [None; 2];
        if version >= 10 {
            let mut pair = || -> Result<_, Truncated> {
                let (given, pair) = (r.flag()?, [r.number()?, r.number()?]);
                Ok(given.then_some(pair))
            };
            (limits, drive) = (pair()?, pair()?);
        }
        let coupling = Coupling {
            name,
            sides,
            kind,
            stiffness: soft.then_some(stiffness),
            damping,
            break_force,
            break_distance,
            limits,
            motor: drive.map(|[speed, torque]| Motor { speed, torque }),
        };
        Ok(ModelCoupling { id, coupling })
    };
    (0..r.length()?).map(|_| coupling(r)).collect()
}

fn write_keyframes(w: &mut Writer, keyframes: &Keyframes) {
    let Keyframes { tracks } = keyframes;
    w.word(tracks.len() as u64);
    for Track { control, keys } in tracks {
        w.text(control.name());
        w.word(control.body().is_some().into());
        w.word(match control.owner() {
            ControlOwner::World => 0,
            ControlOwner::Body(body) => body.number(),
            ControlOwner::Coupling(coupling) => coupling.number(),
        });
        w.word(keys.len() as u64);
        for Key { time, value, ease } in keys {
            w.number(*time);
            match value {
                Value::Number(v) => {
                    w.word(0);
                    w.number(*v);
                }
                Value::Vector(v) => {
                    w.word(1);
                    w.vector(*v);
                }
            }
            write_ease(w, *ease);
        }
    }
}

fn read_keyframes(r: &mut Reader<'_>) -> Result<Keyframes, Truncated> {
    let key = |r: &mut Reader<'_>| {
        let time = r.number()?;
        let value = match r.word()? {
            0 => Value::Number(r.number()?),
            1 => Value::Vector(r.vector()?),
            _ => return Err(Truncated),
        };
        Ok(Key { time, value, ease: read_ease(r)? })
    };
    let track = |r: &mut Reader<'_>| {
        let (name, of_body, number) = (r.text()?, r.flag()?, counter(r)?);
        // Those of couplings have names of their own.
        let owner = match of_body {
            true => ControlOwner::Body(BodyId::from_number(number)),
            false if Control::COUPLING_NAMES.contains(&name.as_str()) => {
                ControlOwner::Coupling(CouplingId::from_number(number))
            }
            false => ControlOwner::World,
        };
        let control = Control::named(&name, owner).ok_or(Truncated)?;
        let keys = (0..r.length()?).map(|_| key(r)).collect::<Result<_, _>>()?;
        Ok(Track { control, keys })
    };
    let tracks = (0..r.length()?).map(|_| track(r)).collect::<Result<_, _>>()?;
    Ok(Keyframes { tracks })
}

fn write_field(w: &mut Writer, field: &Field) {
    match *field {
        Field::Attractor { center, strength, radius } => {
            w.word(0);
            w.vector(center);
            [strength, radius].into_iter().for_each(|v| w.number(v));
        }
        Field::Vortex { center, axis, strength, radius } => {
            w.word(1);
            [center, axis].into_iter().for_each(|v| w.vector(v));
            [strength, radius].into_iter().for_each(|v| w.number(v));
        }
        Field::Turbulence { strength, size, rate } => {
            w.word(2);
            [strength, size, rate].into_iter().for_each(|v| w.number(v));
        }
        Field::Uniform { min, max, acceleration, falloff } => {
            w.word(3);
            [min, max, acceleration].into_iter().for_each(|v| w.vector(v));
            w.number(falloff);
        }
        Field::Ball { center, velocity, start, radius, strength } => {
            w.word(4);
            [center, velocity].into_iter().for_each(|v| w.vector(v));
            [start, radius, strength].into_iter().for_each(|v| w.number(v));
        }
    }
}

fn read_field(r: &mut Reader<'_>) -> Result<Field, Truncated> {
    Ok(match r.word()? {
        0 => Field::Attractor { center: r.vector()?, strength: r.number()?, radius: r.number()? },
        1 => Field::Vortex {
            center: r.vector()?,
            axis: r.vector()?,
            strength: r.number()?,
            radius: r.number()?,
        },
        2 => Field::Turbulence { strength: r.number()?, size: r.number()?, rate: r.number()? },
        3 => Field::Uniform {
            min: r.vector()?,
            max: r.vector()?,
            acceleration: r.vector()?,
            falloff: r.number()?,
        },
        4 => Field::Ball {
            center: r.vector()?,
            velocity: r.vector()?,
            start: r.number()?,
            radius: r.number()?,
            strength: r.number()?,
        },
        _ => return Err(Truncated),
    })
}
