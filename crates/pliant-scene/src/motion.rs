//! How something prescribed moves: the keys that pins and planes share.

use crate::record::Record;
use crate::source::Check;
use pliant::Motion;

/// Reads the motion of a table with the keys of `keys/motion.rs`.
pub(crate) fn plan(check: &mut Check<'_>, of: &Record) -> Motion {
    let motion = Motion {
        velocity: of.vector("velocity"),
        spin: of.vector("spin"),
        pivot: of.vector("pivot"),
        sway: of.vector("sway"),
        frequency: of.number("frequency"),
        start: of.number("start"),
        end: of.number("end"),
    };
    if motion.end < motion.start {
        let text = format!("the motion ends at {} s, before it begins at {} s", motion.end, motion.start);
        check.add(of.place("end"), text, "let `end` be later than `start`");
    }
    motion
}
