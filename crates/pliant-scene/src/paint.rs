//! Painted values of a body: regions of the world, evaluated at its particles where the body starts.

use crate::record::Record;
use crate::shape::MadeShape;
use crate::source::{Check, Located, SourceText};
use crate::{Diagnostic, pin};
use glam::DVec3;
use pliant::DAffine3;

/// What is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Stiffness,
    Follow,
    TearStrain,
}

/// A painted region as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct PaintPlan {
    channel: Channel,
    value: f64,
    region: Located<PaintRegion>,
    falloff: f64,
}

#[derive(Clone, Debug)]
enum PaintRegion {
    Box(DVec3, DVec3),
    Sphere(DVec3, f64),
}

impl PaintRegion {
    fn distance(&self, p: DVec3) -> f64 {
        match *self {
            PaintRegion::Box(lo, hi) => (p - p.clamp(lo, hi)).length(),
            PaintRegion::Sphere(center, radius) => ((p - center).length() - radius).max(0.0),
        }
    }
}

/// Reads a painted region of a body with or without an input; `None` if it has faults, which were reported.
pub(crate) fn plan(check: &mut Check<'_>, paint: &Record, has_input: bool) -> Option<PaintPlan> {
    let channel = match paint.text("channel").as_str() {
        "follow" => Channel::Follow,
        "tear_strain" => Channel::TearStrain,
        _ => Channel::Stiffness,
    };
    if channel == Channel::Follow && !has_input {
        check.add(
            paint.place("channel"),
            "there is nothing to follow: the body has no input",
            "add a table [body.input], as with wag = { angle = 40 }, or remove this paint",
        );
    }
    let value = paint.given("value")?.it.number();
    let allowed = if channel == Channel::TearStrain { 1e-3..=1e6 } else { 0.0..=1.0 };
    if !allowed.contains(&value) {
        let text = format!("{value} cannot be painted in this channel");
        check.add(paint.place("value"), text, format!("give {} to {:?}", allowed.start(), allowed.end()));
        return None;
    }
    let (region, at) = if let Some(extent) = paint.record("box") {
        let (lo, hi) = (extent.vector("min"), extent.vector("max"));
        if !lo.cmple(hi).all() {
            let text = format!("`min` {lo} is beyond `max` {hi}: nothing is in this box");
            check.add(&extent.at, text, "give the smaller coordinates in `min`");
            return None;
        }
        (PaintRegion::Box(lo, hi), &extent.at)
    } else {
        let sphere = paint.record("sphere")?;
        (PaintRegion::Sphere(sphere.vector("center"), sphere.number("radius")), &sphere.at)
    };
    let region = Located { at: at.clone(), it: region };
    Some(PaintPlan { channel, value, region, falloff: paint.number("falloff") })
}

/// What is painted on every particle: without paint stiffness and tear strain are 1 and follow 0; empty without any.
pub(crate) fn make(
    channel: Channel,
    paint: &[PaintPlan],
    made: &MadeShape,
    placement: DAffine3,
    source: &SourceText,
) -> Result<Vec<f64>, Vec<Diagnostic>> {
    let mut check = Check::new(source);
    let mut layers = paint.iter().filter(|p| p.channel == channel).peekable();
    if layers.peek().is_none() {
        return Ok(Vec::new());
    }
    let bare = if channel == Channel::Follow { 0.0 } else { 1.0 };
    let mut values = vec![bare; made.shape.points.len()];
    for layer in layers {
        let mut touched = false;
        for (value, p) in values.iter_mut().zip(&made.shape.points) {
            let distance = layer.region.it.distance(placement.transform_point3(*p));
            if distance <= layer.falloff {
                touched = true;
                // Smooth at both ends, so that a fade shows no edges; exact inside.
                let s = if distance > 0.0 { 1.0 - distance / layer.falloff } else { 1.0 };
                let share = s * s * (3.0 - 2.0 * s);
                *value = *value * (1.0 - share) + layer.value * share;
            }
        }
        if !touched {
            let (lo, hi) = pin::bounds(made, placement);
            check.add(
                &layer.region.at,
                "no particle is painted",
                format!("move or enlarge the region; at the start the body reaches from {lo} to {hi}"),
            );
        }
    }
    check.finish(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scene;

    #[test]
    fn paint_fades_and_later_layers_go_over_earlier_ones() {
        let text = "[[body]]\nshape = { kind = \"box\", size = [1, 1, 1] }\nspacing = 0.1\nposition = [5, 0, 0]\n\
             [[body.paint]]\nvalue = 0.2\nbox = { min = [4, -1, -1], max = [5, 1, 1] }\nfalloff = 0.25\n\
             [[body.paint]]\nvalue = 0.7\nsphere = { center = [4.5, 0.5, 0.5], radius = 0.1 }\n";
        let scene = Scene::parse(text, "s".as_ref()).unwrap_or_else(|p| panic!("{}", p[0]));
        let plan = &scene.bodies[0];
        let mut digest = crate::digest::InputDigest::new(&crate::resolver::Disk);
        let made = plan
            .shape
            .make((plan.resolution, plan.sampling), plan.cut, &scene.source, &(0..0), &mut digest)
            .unwrap_or_else(|p| panic!("{}", p[0]));
        let placement = DAffine3::from_translation(plan.position);
        let values = make(Channel::Stiffness, &plan.paint, &made, placement, &scene.source)
            .unwrap_or_else(|p| panic!("{}", p[0]));
        assert_eq!(values.len(), made.shape.points.len());
        for (value, p) in values.iter().zip(&made.shape.points) {
            let wanted = match p {
                p if (*p - DVec3::new(-0.5, 0.5, 0.5)).length() <= 0.1 => 0.7,
                p if p.x <= 0.0 => 0.2,
                p if p.x >= 0.25 => 1.0,
                p => {
                    let s = 1.0 - p.x / 0.25;
                    1.0 - 0.8 * s * s * (3.0 - 2.0 * s)
                }
            };
            assert!((value - wanted).abs() < 1e-12, "{p}: {value}, not {wanted}");
        }
        assert!(values.contains(&0.7) && values.contains(&0.2) && values.contains(&1.0));
    }
}
