//! Values of controls, and why one is refused.

use super::{Allowed, Control};
use crate::solvers::SolverKind;
use glam::DVec3;
use std::fmt;

/// What a change costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nothing: it is read anew in each step.
    Free,
    /// A new numerical factorisation at the next step.
    Refactor,
    /// All caches are made anew at the next step.
    Rebuild,
}

/// A new value: a number or a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Value {
    /// In the unit of its control.
    Number(f64),
    /// Three numbers in the unit of its control.
    Vector(DVec3),
}

impl From<f64> for Value {
    fn from(v: f64) -> Value {
        Value::Number(v)
    }
}

impl From<DVec3> for Value {
    fn from(v: DVec3) -> Value {
        Value::Vector(v)
    }
}

impl From<[f64; 3]> for Value {
    fn from(v: [f64; 3]) -> Value {
        Value::Vector(v.into())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(v) => write!(f, "{v:?}"),
            Value::Vector(v) => write!(f, "{v}"),
        }
    }
}

/// A refused value: nothing was changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ControlError {
    /// The control as scenes name it.
    pub control: &'static str,
    /// The value that was refused, as text: it may be no number.
    pub value: String,
    /// The range of the control, or what has the effect instead of it, in words.
    pub allowed: String,
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} is not allowed: {}", self.control, self.value, self.allowed)
    }
}

impl std::error::Error for ControlError {}

impl Control {
    /// Why a value is refused, or nothing.
    pub fn check(self, value: Value, solver: SolverKind, h: f64) -> Result<(), ControlError> {
        let refuse =
            |allowed: String| Err(ControlError { control: self.name(), value: value.to_string(), allowed });
        let allowed = self.descriptor().allowed;
        match (self.range(solver, h), value) {
            (None, Value::Vector(v)) if allowed == Allowed::Direction && v == DVec3::ZERO => {
                refuse("it must have a length; set gravity_magnitude to 0 for no gravity".into())
            }
            (None, Value::Vector(v)) if v.is_finite() && v.abs().max_element() <= 1e12 => Ok(()),
            (None, Value::Vector(_)) => refuse("its components must be numbers from -1e12 to 1e12".into()),
            (None, Value::Number(_)) => refuse("it must be a vector of three numbers".into()),
            (Some(_), Value::Vector(_)) => refuse("it must be a single number".into()),
            (Some((lo, hi)), Value::Number(v)) if !(lo..=hi).contains(&v) => {
                let hint = match allowed {
                    Allowed::Frequency(_) if v > hi => {
                        let substeps = (v / hi).ceil();
                        format!("; take {substeps} times the substeps for this frequency, or lower it")
                    }
                    _ => String::new(),
                };
                let range =
                    if hi >= f64::MAX { format!("at least {lo}") } else { format!("from {lo} to {hi:?}") };
                refuse(format!("it must be a number {range}{hint}"))
            }
            (Some(_), Value::Number(v)) if matches!(allowed, Allowed::Whole(..)) && v.fract() != 0.0 => {
                refuse("it must be a whole number".into())
            }
            _ => Ok(()),
        }
    }
}
