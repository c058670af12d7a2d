//! Balloons: energies and forces in closed form, and ways back from any shape.

use super::super::test_meshes::{energy, sphere};
use super::*;
use crate::constraints::conformance;

#[test]
fn bounds_and_gas_conform() {
    let (triangles, rest) = sphere(1);
    for bounds in [[1.0, 1.0], [0.5, 1.5], [1.2, 1.2]] {
        let batch = Pressure::new(&triangles, &rest, Filling::Volume(bounds)).unwrap();
        conformance::check(&batch, &rest).unwrap();
        assert!(conformance::rows_vanish_on_translations(&batch));
    }
    for (outside, give) in [(1.0, 0.5), (0.0, 0.2)] {
        let batch = Pressure::new(&triangles, &rest, Filling::Gas { outside, give }).unwrap();
        conformance::check(&batch, &rest).unwrap();
    }
}

#[test]
fn a_sphere_of_another_size_has_the_energy_of_its_growth() {
    let (triangles, rest) = sphere(3);
    let batch = Pressure::new(&triangles, &rest, Filling::Volume([1.0, 1.0])).unwrap();
    let grown: Points = rest.iter().map(|p| p * 1.1 + DVec3::X).collect();
    // The nearest sphere of the rest volume is the rest shape: ½ A (0.1)².
    let area: f64 = batch.rows().weights().iter().sum();
    let ratio = energy(&batch, &grown) / (0.5 * area * 0.01);
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
}

#[test]
fn gas_pushes_with_its_pressure() {
    let (triangles, rest) = sphere(2);
    let (outside, give) = (0.4, 1e-3);
    let batch = Pressure::new(&triangles, &rest, Filling::Gas { outside, give }).unwrap();
    let small: Points = rest.iter().map(|p| p * 0.9).collect();
    let mut shared = vec![0.0; batch.shared_len()];
    batch.begin_iteration(&small, &mut shared);
    let view = View { x: &small, state: &[], shared: &shared, targets: &[] };
    let mut gradient = Points::zeros(rest.len());
    batch.add_gradient(view, &mut gradient);
    let force: f64 = gradient.iter().zip(rest.iter()).map(|(g, n)| -g.dot(n)).sum();
    // Boyle: pressure V₀/V − outside; growing by dr changes the volume by 3V/r dr.
    let area = 3.0 * batch.enclosed(&small) / 0.9;
    let ratio = force / (give * (0.9_f64.powi(-3) - outside) * area);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_pressed_balloon_comes_back() {
    let (triangles, rest) = sphere(2);
    let batch = Pressure::new(&triangles, &rest, Filling::Volume([1.0, 1.0])).unwrap();
    for squash in [0.3, 0.01, -0.5] {
        let mut x: Points = rest.iter().map(|p| p * DVec3::new(1.0, squash, 1.0)).collect();
        let before = batch.enclosed(&x);
        for _ in 0..20 {
            let mut shared = vec![0.0; batch.shared_len()];
            batch.begin_iteration(&x, &mut shared);
            // One damped global step of the constraint alone.
            let center = batch.center(&x);
            x = (0..x.len())
                .map(|i| {
                    let y = DVec3::new(shared[3 * i], shared[3 * i + 1], shared[3 * i + 2]) + center;
                    x.get(i).lerp(y, 0.5)
                })
                .collect();
        }
        let ratio = batch.enclosed(&x) / batch.volume;
        assert!((ratio - 1.0).abs() < 1e-3, "from {before} to {ratio}");
    }
}

#[test]
fn open_and_inverted_surfaces_are_refused() {
    let (mut triangles, rest) = sphere(0);
    let full = Filling::Volume([1.0, 1.0]);
    let turned: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert!(matches!(Pressure::new(&turned, &rest, full), Err(NotClosedError::Volume(v)) if v < 0.0));
    triangles.remove(0);
    let fault = Pressure::new(&triangles, &rest, full).unwrap_err();
    assert_eq!(fault, NotClosedError::Edges(vec![[0, 1], [0, 2], [1, 2]]));
}
