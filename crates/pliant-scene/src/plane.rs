//! Planes no body can pass.

use crate::record::Record;
use crate::source::Check;
use pliant::HalfSpace;

/// Reads a plane; the normal is made a unit vector for the user.
pub(crate) fn plan(check: &mut Check<'_>, plane: &Record) -> HalfSpace {
    let given = plane.vector("normal");
    // Scaled first: squares of very small or large components would vanish or overflow.
    let normal = (given / given.abs().max_element()).try_normalize().unwrap_or_else(|| {
        let help = "give the direction in which bodies are, as [0, 1, 0] for the ground";
        check.add(plane.place("normal"), "`normal` has length 0, which is no direction", help);
        pliant::DVec3::Y
    });
    // A unit vector stays as it is, to the bit.
    let normal = if given.length_squared() == 1.0 { given } else { normal };
    let offset = match (plane.given("point"), plane.given("offset")) {
        (Some(point), _) => normal.dot(point.it.vector()),
        (_, Some(offset)) => offset.it.number(),
        _ => 0.0,
    };
    HalfSpace { normal, offset, friction: plane.number("friction"), restitution: plane.number("restitution") }
}
