//! A constraint of your own in one file: particles that want to stay on a sphere.
//!
//! Run it with `cargo run --release --example custom_constraint`. A sheet is dropped around an
//! invisible ball: the constraint wants each particle outside the ball, pulls it to the surface if it
//! is inside, and leaves it alone otherwise. Two functions matter: which differences of positions the
//! constraint looks at (its rows; here the position itself), and the nearest point of the wanted set.

use pliant::bytes::{Reader, Truncated, Writer};
use pliant::constraints::{ConstraintBatch, Properties, Rows, RowsBuilder, View, conformance};
use pliant::{Body, Builder, Clustering, DVec3, Points, PointsMut, shapes};
use std::ops::Range;

/// Particles that stay outside a ball.
#[derive(Clone, Debug, PartialEq)]
struct OutsideBall {
    rows: Rows,
    particles: Vec<u32>,
    center: DVec3,
    radius: f64,
}

impl OutsideBall {
    fn new(particles: Vec<u32>, center: DVec3, radius: f64, stiffness: f64) -> OutsideBall {
        let mut rows = RowsBuilder::default();
        for &i in &particles {
            rows.row(stiffness, [(i, 1.0)]).end_element();
        }
        OutsideBall { rows: rows.build(), particles, center, radius }
    }
}

impl ConstraintBatch for OutsideBall {
    fn kind(&self) -> &'static str {
        "outside_ball"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The nearest point of the set: the particle itself, or the ball's surface above it.
    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        for (k, e) in elements.enumerate() {
            let x = view.x.get(self.particles[e] as usize);
            let out = x - self.center;
            let nearest = if out.length() >= self.radius {
                x
            } else {
                // At the very centre every direction is as good; up is one. (So near it that squares
                // underflow counts as the centre: the conformance check finds this if left out.)
                let at_center = out.length_squared() < f64::MIN_POSITIVE;
                self.center + if at_center { DVec3::Y } else { out.normalize() } * self.radius
            };
            p.set(k, nearest);
        }
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: false, exact_nearest: true, rest_is_free: true, sees_reflection: false }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.indices(&self.particles);
        w.numbers(&[self.center.x, self.center.y, self.center.z, self.radius]);
        w.number(self.rows.weights().first().copied().unwrap_or(0.0));
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<OutsideBall, Truncated> {
        let mut r = Reader(bytes);
        let particles = r.indices()?;
        let &[x, y, z, radius] = r.numbers()?.as_slice() else { return Err(Truncated) };
        Ok(OutsideBall::new(particles, DVec3::new(x, y, z), radius, r.number()?))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Check what the constraint declares about itself.
    let rest: Points = [DVec3::X * 2.0, DVec3::Y * 3.0, DVec3::NEG_Z * 1.5].into_iter().collect();
    let sample = OutsideBall::new(vec![0, 1, 2], DVec3::ZERO, 1.0, 10.0);
    conformance::check(&sample, &rest).map_err(|faults| faults.join("\n"))?;
    println!("the constraint keeps its promises");

    // Use it: a sheet falls over the ball.
    let (center, radius) = (DVec3::new(0.0, 0.6, 0.0), 0.4);
    let mut sheet = Body::new("sheet", shapes::sheet(1.6, 1.6, 32, 32)?).projective().at(0.0, 1.1, 0.0);
    sheet.clusters = Clustering::None;
    sheet.controls.edge_stiffness = 200.0;
    sheet.controls.damping = 2.0;
    let count = sheet.shape.points.len() as u32;
    let mut simulation = Builder::new()
        .ground()
        .body(sheet)
        .constraint(move |_| OutsideBall::new((0..count).collect(), center, radius, 100.0))
        .build()?;
    for frame in 1..=90 {
        simulation.step()?;
        if frame % 15 == 0 {
            let deepest = simulation.positions(0).map(|p| radius - (p - center).length()).fold(0.0, f64::max);
            println!("frame {frame:2}: deepest point {:.1} mm inside the ball", 1000.0 * deepest);
            assert!(deepest < 0.05, "soft constraints give way a little, not this much");
        }
    }
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example must run");
}
