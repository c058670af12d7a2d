//! A constraint whose nearest point has no formula: particles that stay outside an ellipsoid.
//!
//! Run it with `cargo run --release --example constraint_without_closed_form`. All that is needed is a function C
//! with its gradient, here C ≥ 0 outside; the nearest point is searched for. (`custom_constraint.rs` shows a
//! ball, where it is known.)

use pliant::bytes::{Reader, Truncated, Writer};
use pliant::constraints::{Condition, ConditionBatch, Properties, Values, conformance};
use pliant::{Body, Builder, Clustering, DVec3, Points, shapes};

/// Outside an ellipsoid with these half axes.
#[derive(Clone, Debug, PartialEq)]
struct OutsideEllipsoid {
    center: DVec3,
    axes: DVec3,
}

impl OutsideEllipsoid {
    fn value(&self, x: DVec3) -> f64 {
        ((x - self.center) / self.axes).length_squared() - 1.0
    }
}

impl Condition<1, 1> for OutsideEllipsoid {
    fn kind(&self) -> &'static str {
        "outside_ellipsoid"
    }

    fn properties(&self) -> Properties {
        Properties {
            rigid_invariant: false,
            exact_nearest: false,
            rest_is_free: true,
            sees_reflection: false,
        }
    }

    fn at_least(&self) -> bool {
        true
    }

    fn evaluate(&self, _element: usize, [x]: &[DVec3; 1]) -> Values<1, 1> {
        ([self.value(*x)], [[(*x - self.center) / (self.axes * self.axes) * 2.0]])
    }

    fn encode(&self, w: &mut Writer) {
        w.numbers(&[self.center.to_array(), self.axes.to_array()].concat());
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<OutsideEllipsoid, Truncated> {
        let &[x, y, z, a, b, c] = r.numbers()?.as_slice() else { return Err(Truncated) };
        Ok(OutsideEllipsoid { center: DVec3::new(x, y, z), axes: DVec3::new(a, b, c) })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ellipsoid = OutsideEllipsoid { center: DVec3::new(0.0, 0.6, 0.0), axes: DVec3::new(0.6, 0.3, 0.4) };
    let rest: Points = [DVec3::X * 2.0, DVec3::Y * 3.0, DVec3::NEG_Z * 1.5].into_iter().collect();
    let sample = ConditionBatch::new(ellipsoid.clone(), &[[0], [1], [2]], &rest, &[10.0; 3])
        .map_err(|bad| format!("no feasible shape for elements {bad:?}"))?;
    conformance::check(&sample, &rest).map_err(|faults| faults.join("\n"))?;
    println!("the constraint keeps its promises");

    let mut sheet = Body::new("sheet", shapes::sheet(1.6, 1.6, 32, 32)?).projective().at(0.0, 1.0, 0.0);
    sheet.clusters = Clustering::None;
    sheet.controls.edge_stiffness = 200.0;
    sheet.controls.damping = 2.0;
    let count = sheet.shape.points.len() as u32;
    let outside = ellipsoid.clone();
    let mut simulation = Builder::new()
        .ground()
        .body(sheet)
        .constraint(move |rest| {
            let particles: Vec<[u32; 1]> = (0..count).map(|i| [i]).collect();
            ConditionBatch::new(outside, &particles, rest, &vec![100.0; particles.len()])
                .expect("the sheet begins outside")
        })
        .build()?;
    for frame in 1..=60 {
        simulation.step()?;
        if frame % 15 == 0 {
            let deepest = simulation.positions(0).map(|p| -ellipsoid.value(p)).fold(0.0, f64::max);
            println!("frame {frame:2}: deepest point has C = {:.3}", -deepest);
            assert!(deepest < 0.3, "soft constraints give way a little, not this much");
        }
    }
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example must run");
}
