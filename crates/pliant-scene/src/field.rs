//! Fields of force as the scene describes them.

use crate::record::{Record, SceneValue};
use crate::source::Check;
use glam::DVec3;
use pliant::Field;

/// Reads the fields of a scene. Faults are reported.
pub(crate) fn plan(check: &mut Check<'_>, root: &Record) -> Vec<Field> {
    let Some(given) = root.given("field") else { return Vec::new() };
    let records = given.it.list().iter().filter_map(|v| match &v.it {
        SceneValue::Record(record) => Some(record),
        _ => None,
    });
    records.filter_map(|r| one(check, r)).collect()
}

fn one(check: &mut Check<'_>, field: &Record) -> Option<Field> {
    let strength = || field.number("strength");
    Some(match field.tag.as_ref()?.it {
        "attractor" => Field::Attractor {
            center: field.vector("center"),
            strength: strength(),
            radius: field.number("radius"),
        },
        "vortex" => {
            let axis = field.vector("axis");
            if axis == DVec3::ZERO {
                let help = "give a direction, as [0, 1, 0] for a turn about the vertical";
                check.add(field.place("axis"), "`axis` has length 0, which is no direction", help);
                return None;
            }
            // Scaled first: squares of very small or large components would vanish or overflow.
            let axis = (axis / axis.abs().max_element()).normalize();
            let (center, radius) = (field.vector("center"), field.number("radius"));
            Field::Vortex { center, axis, strength: strength(), radius }
        }
        "turbulence" => {
            Field::Turbulence { strength: strength(), size: field.number("size"), rate: field.number("rate") }
        }
        "ball" => Field::Ball {
            center: field.vector("center"),
            velocity: field.vector("velocity"),
            start: field.number("start"),
            radius: field.number("radius"),
            strength: strength(),
        },
        "uniform" => {
            let extent = field.record("box")?;
            let (min, max) = (extent.vector("min"), extent.vector("max"));
            if !min.cmple(max).all() {
                let text = format!("`min` {min} is beyond `max` {max}: nothing is in this box");
                check.add(&extent.at, text, "give the smaller coordinates in `min`");
                return None;
            }
            let acceleration = field.vector("acceleration");
            Field::Uniform { min, max, acceleration, falloff: field.number("falloff") }
        }
        other => unreachable!("the format names a field {other} that is not made here"),
    })
}
