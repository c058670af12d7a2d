//! A wagging made up from numbers: points turn about an axis to and fro, as one, or the more the farther out they are.

use super::MOST_POSITIONS;
use crate::Diagnostic;
use crate::record::Record;
use crate::source::{Check, SourceText, Span};
use glam::{DQuat, DVec3};
use pliant::DAffine3;
use std::f64::consts::TAU;

/// Samples a period has at least: corners of the path are then below a thousandth of its width.
const SAMPLES: usize = 64;
/// And at most, however slow the wagging.
const MOST_SAMPLES: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Wag {
    pub at: Span,
    axis: DVec3,
    pivot: DVec3,
    /// Radians.
    angle: f64,
    frequency: f64,
    /// Direction along which it bends; `None` turns it rigidly.
    pub along: Option<DVec3>,
}

impl Wag {
    /// As the scene describes it; `None` if that has faults, which were reported.
    pub fn new(check: &mut Check<'_>, wag: &Record) -> Option<Wag> {
        let mut direction = |key: &str| {
            let v = wag.vector(key);
            let unit = (v / v.abs().max_element()).try_normalize();
            if unit.is_none() {
                let text = format!("`{key}` has length 0, which is no direction");
                check.add(wag.place(key), text, "give a direction, as [0, 0, 1]");
            }
            unit
        };
        let (axis, along) = (direction("axis"), direction("along"));
        let bend = wag.truth("bend");
        if !bend && let Some(given) = wag.given("along") {
            check.add(&given.at, "`along` has no meaning without `bend`", "remove one of the two lines");
        }
        Some(Wag {
            at: wag.at.clone(),
            axis: axis?,
            pivot: wag.vector("pivot"),
            angle: wag.number("angle").to_radians(),
            frequency: wag.number("frequency"),
            along: if bend { Some(along?) } else { None },
        })
    }

    /// One period of the points, and its samples a second.
    pub fn frames(
        &self,
        points: &[DVec3],
        placement: DAffine3,
        fps: f64,
        source: &SourceText,
    ) -> Result<(Vec<Vec<DVec3>>, f64), Vec<Diagnostic>> {
        if points.len() > MOST_POSITIONS / SAMPLES {
            let text = format!("a wagging of {} particles takes more memory than is allowed", points.len());
            let most = MOST_POSITIONS / SAMPLES;
            return Err(vec![source.problem(&self.at, text, format!("let the body have up to {most}"))]);
        }
        // In the body's own coordinates, as the engine places the sequence like the body.
        let back = placement.inverse();
        let pivot = back.transform_point3(self.pivot);
        let axis = back.transform_vector3(self.axis).normalize();
        let share = self.shares(points, back, pivot, source)?;
        let wanted = ((fps / self.frequency).ceil() as usize).min(MOST_SAMPLES);
        let count = wanted.min(MOST_POSITIONS / points.len().max(1)).max(SAMPLES);
        let frame = |k: usize| {
            let angle = self.angle * (TAU * k as f64 / count as f64).sin();
            let turned =
                |(p, s): (&DVec3, &f64)| pivot + DQuat::from_axis_angle(axis, angle * s) * (*p - pivot);
            points.iter().zip(&share).map(turned).collect()
        };
        Ok(((0..count).map(frame).collect(), count as f64 * self.frequency))
    }

    /// How much of the angle each point turns by.
    fn shares(
        &self,
        points: &[DVec3],
        back: DAffine3,
        pivot: DVec3,
        source: &SourceText,
    ) -> Result<Vec<f64>, Vec<Diagnostic>> {
        let Some(along) = self.along else { return Ok(vec![1.0; points.len()]) };
        let along = back.transform_vector3(along).normalize();
        let height = |p: &DVec3| (*p - pivot).dot(along);
        let far = points.iter().map(height).fold(0.0, f64::max);
        if far <= 0.0 {
            return Err(vec![source.problem(
                &self.at,
                "no particle is beyond the pivot in the direction of `along`, so nothing bends",
                "move `pivot` to the root of what wags and let `along` point to its tip, both in the world",
            )]);
        }
        Ok(points.iter().map(|p| (height(p) / far).clamp(0.0, 1.0)).collect())
    }
}
