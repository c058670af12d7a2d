//! Kinds of values that several tables have: vectors, lengths, shares, colours.

use crate::format::{COORDINATE, NumberRange, ValueKind};

pub(crate) const NUMBER: ValueKind = ValueKind::Number(NumberRange::new(-COORDINATE, COORDINATE));
pub(crate) const RATE: ValueKind = ValueKind::Number(NumberRange::new(0.0, 1e9));
pub(crate) const FREQUENCY: ValueKind = ValueKind::Number(NumberRange::new(0.0, 1e6));
pub(crate) const FRICTION: ValueKind = ValueKind::Number(NumberRange::new(0.0, 1e6));
pub(crate) const SHARE: ValueKind = ValueKind::Number(NumberRange::new(0.0, 1.0));
pub(crate) const LENGTH: ValueKind = ValueKind::Number(NumberRange::above(0.0, 1e6));
pub(crate) const VECTOR: ValueKind = ValueKind::List(&NUMBER, 3, 3);
pub(crate) const SPIN: ValueKind = ValueKind::List(&ValueKind::Number(NumberRange::new(-1e6, 1e6)), 3, 3);
pub(crate) const FORCE: ValueKind = ValueKind::List(&ValueKind::Number(NumberRange::new(-1e12, 1e12)), 3, 3);
pub(crate) const SIZE: ValueKind = ValueKind::List(&LENGTH, 3, 3);
pub(crate) const COLOR: ValueKind = ValueKind::Either(&[ValueKind::HexColor, ValueKind::List(&SHARE, 3, 3)]);
pub(crate) const SOLVER: ValueKind = ValueKind::Word(&["clustered", "projective", "newton", "xpbd", "pbd"]);
pub(crate) const LENGTH_OR_INFINITE: ValueKind =
    ValueKind::Number(NumberRange::above(0.0, 1e6).or_infinite());
