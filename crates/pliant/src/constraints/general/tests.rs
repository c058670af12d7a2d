//! Angles, ellipsoids and inequalities, none of which has a simple nearest point.

use super::*;
use crate::constraints::conformance::Stream;
use crate::constraints::conformance::{check, check_near};

/// Of what depends on where in the world it is.
const OF_A_PLACE: Properties =
    Properties { rigid_invariant: false, exact_nearest: false, rest_is_free: true, sees_reflection: false };

/// Particles on an ellipsoid about the origin.
#[derive(Clone, Debug, PartialEq)]
struct OnEllipsoid(DVec3);

impl Condition<1, 1> for OnEllipsoid {
    fn kind(&self) -> &'static str {
        "on_ellipsoid"
    }

    fn properties(&self) -> Properties {
        OF_A_PLACE
    }

    fn evaluate(&self, _: usize, [x]: &[DVec3; 1]) -> Values<1, 1> {
        let scaled = *x / self.0;
        ([scaled.length_squared() - 1.0], [[scaled / self.0 * 2.0]])
    }

    fn encode(&self, w: &mut Writer) {
        w.numbers(&self.0.to_array());
    }

    fn decode(r: &mut Reader<'_>, _: usize) -> Result<Self, Truncated> {
        let &[x, y, z] = r.numbers()?.as_slice() else { return Err(Truncated) };
        Ok(OnEllipsoid(DVec3::new(x, y, z)))
    }
}

/// Hinges with a given angle between their triangles' normals: corners 0 and 1 at the edge, 2 left, 3 right.
#[derive(Clone, Debug, PartialEq)]
struct HingeAngle(Vec<f64>);

impl Condition<4, 1> for HingeAngle {
    fn kind(&self) -> &'static str {
        "hinge_angle"
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: true, exact_nearest: false, rest_is_free: true, sees_reflection: true }
    }

    fn evaluate(&self, e: usize, &[a, b, l, r]: &[DVec3; 4]) -> Values<4, 1> {
        let (angle, gradient) = hinge_angle(a, b, l, r);
        // Between −π and π: angles on either side of a closed hinge are not far from each other.
        let turn = std::f64::consts::TAU;
        let off = angle - self.0[e];
        ([off - turn * (off / turn).round()], [gradient])
    }

    fn encode(&self, w: &mut Writer) {
        w.numbers(&self.0);
    }

    fn decode(r: &mut Reader<'_>, elements: usize) -> Result<Self, Truncated> {
        let angles = r.numbers()?;
        if angles.len() == elements { Ok(HingeAngle(angles)) } else { Err(Truncated) }
    }
}

fn hinge_angle(a: DVec3, b: DVec3, l: DVec3, r: DVec3) -> (f64, [DVec3; 4]) {
    let edge = b - a;
    let length = edge.length();
    let (n1, n2) = (edge.cross(l - a), (r - a).cross(edge));
    let angle = n1.cross(n2).dot(edge / length).atan2(n1.dot(n2));
    let (u1, u2) = (n1 / n1.length_squared(), n2 / n2.length_squared());
    let (gl, gr) = (u1 * -length, u2 * -length);
    // No turning of the whole changes the angle: moments about the edge's ends determine the rest.
    let share = |p: DVec3| (p - a).dot(edge) / edge.length_squared();
    let gb = -(gl * share(l) + gr * share(r));
    (angle, [-(gl + gr + gb), gb, gl, gr])
}

/// Two particles no nearer to each other than a distance, and above the ground: inequalities.
#[derive(Clone, Debug, PartialEq)]
struct Apart(f64);

impl Condition<2, 3> for Apart {
    fn kind(&self) -> &'static str {
        "apart"
    }

    fn properties(&self) -> Properties {
        OF_A_PLACE
    }

    fn at_least(&self) -> bool {
        true
    }

    fn evaluate(&self, _: usize, [a, b]: &[DVec3; 2]) -> Values<2, 3> {
        let d = *b - *a;
        let n = d / d.length();
        ([d.length() - self.0, a.y, b.y], [[-n, n], [DVec3::Y, DVec3::ZERO], [DVec3::ZERO, DVec3::Y]])
    }

    fn encode(&self, w: &mut Writer) {
        w.number(self.0);
    }

    fn decode(r: &mut Reader<'_>, _: usize) -> Result<Self, Truncated> {
        r.number().map(Apart)
    }
}

fn hinges() -> (Points, Vec<[u32; 4]>) {
    let rest: Points = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(0.4, 0.9, 0.3),
        DVec3::new(0.6, -1.1, 0.4),
        DVec3::new(1.5, 0.8, -0.2),
    ]
    .into_iter()
    .collect();
    (rest, vec![[0, 1, 2, 3], [2, 1, 4, 0]])
}

#[test]
fn the_angle_has_its_gradient() {
    let (rest, elements) = hinges();
    for corners in elements {
        let x = corners.map(|i| rest.get(i as usize));
        let (_, gradient) = hinge_angle(x[0], x[1], x[2], x[3]);
        for k in 0..12 {
            let moved = |s: f64| {
                let mut y = x;
                y[k / 3][k % 3] += s;
                hinge_angle(y[0], y[1], y[2], y[3]).0
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope - gradient[k / 3][k % 3]).abs() < 1e-8, "{k}: {slope} {gradient:?}");
        }
    }
}

#[test]
fn hinge_angles_ellipsoids_and_inequalities_conform() {
    let (rest, elements) = hinges();
    let angles: Vec<f64> = elements
        .iter()
        .map(|c| c.map(|i| rest.get(i as usize)))
        .map(|[a, b, l, r]| hinge_angle(a, b, l, r).0)
        .collect();
    let hinges = ConditionBatch::new(HingeAngle(angles), &elements, &rest, &[1.0, 0.5]).unwrap();
    check_near(&hinges, &rest, 0.15).unwrap();

    let on: Points = [DVec3::X * 2.0, DVec3::NEG_Y, DVec3::Z * 0.5].into_iter().collect();
    let ellipsoid = OnEllipsoid(DVec3::new(2.0, 1.0, 0.5));
    check(&ConditionBatch::new(ellipsoid, &[[0], [1], [2]], &on, &[1.0; 3]).unwrap(), &on).unwrap();

    let above: Points = on.iter().map(|p| p + DVec3::Y * 2.0).collect();
    check(&ConditionBatch::new(Apart(0.7), &[[0, 1], [1, 2]], &above, &[1.0; 2]).unwrap(), &above).unwrap();
}

/// The hinge reaches its angle and no other shape with it that was tried is nearer.
#[test]
fn a_hinge_reaches_its_angle_by_the_shortest_way() {
    let (rest, elements) = hinges();
    let x = elements[0].map(|i| rest.get(i as usize));
    // Much farther the shortest change is to collapse a triangle, which has any angle: angles need strain beside them.
    for angle in [-1.0, -0.3, 0.0, 0.4] {
        let batch = ConditionBatch::new(HingeAngle(vec![angle]), &elements[..1], &rest, &[1.0]).unwrap();
        let y = batch.nearest(0, &x);
        let reached = hinge_angle(y[0], y[1], y[2], y[3]).0;
        assert!((reached - angle).abs() < 1e-9, "{reached} instead of {angle}");
        // At the nearest point the change is along the gradient.
        let (_, g) = hinge_angle(y[0], y[1], y[2], y[3]);
        let change: [DVec3; 4] = std::array::from_fn(|k| y[k] - x[k]);
        let along = dot(&change, &g) / dot(&g, &g);
        let off: f64 = (0..4).map(|k| (change[k] - g[k] * along).length_squared()).sum();
        assert!(off < 1e-12 * dot(&change, &change), "{angle}: {off}");
    }
}

#[test]
fn ellipsoids_are_reached_where_brute_force_finds_them() {
    let axes = DVec3::new(2.0, 1.0, 0.5);
    let on: Points = [DVec3::X * 2.0].into_iter().collect();
    let batch = ConditionBatch::new(OnEllipsoid(axes), &[[0]], &on, &[1.0]).unwrap();
    let mut rng = Stream::new(5);
    for _ in 0..50 {
        let x = DVec3::from_array(std::array::from_fn(|_| 2.0 * super::super::test_meshes::random(&mut rng)));
        let [y] = batch.nearest(0, &[x]);
        let brute = (0..400 * 200)
            .map(|k| {
                let (u, v) = (
                    f64::from(k % 400) / 400.0 * std::f64::consts::TAU,
                    f64::from(k / 400) / 200.0 * std::f64::consts::PI,
                );
                (axes * DVec3::new(v.sin() * u.cos(), v.sin() * u.sin(), v.cos()) - x).length()
            })
            .fold(f64::INFINITY, f64::min);
        assert!(((y / axes).length() - 1.0).abs() < 1e-9);
        assert!((y - x).length() <= brute + 1e-3, "{x}: {} instead of {brute}", (y - x).length());
    }
}

#[test]
fn what_cannot_be_fulfilled_is_refused() {
    /// Never true.
    #[derive(Clone, Debug, PartialEq)]
    struct Never;
    impl Condition<1, 1> for Never {
        fn kind(&self) -> &'static str {
            "never"
        }
        fn properties(&self) -> Properties {
            OnEllipsoid(DVec3::ONE).properties()
        }
        fn evaluate(&self, _: usize, [x]: &[DVec3; 1]) -> Values<1, 1> {
            ([1.0 + x.length_squared()], [[*x * 2.0]])
        }
        fn encode(&self, _: &mut Writer) {}
        fn decode(_: &mut Reader<'_>, _: usize) -> Result<Self, Truncated> {
            Ok(Never)
        }
    }
    let rest: Points = [DVec3::X].into_iter().collect();
    assert_eq!(ConditionBatch::new(Never, &[[0]], &rest, &[1.0]).unwrap_err(), [0]);
}
