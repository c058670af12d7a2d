//! Fits a set of points by gradient descent through the Procrustes transform.
//!
//! Run it with `cargo run --release -p pliant-math --example fit_points`. Points of a nearly rigid thing have been seen, badly; the
//! tips of three sticks fixed to it have been seen well. Wanted are the points x that are near to where they were seen (y), as
//! rigid as possible, and carry the tips to where those were seen (z):
//!
//! > E(x) = ½ Σ |xᵢ − yᵢ|² + ½ k Σ |xᵢ − gᵢ(x)|² + ½ m Σ |φ_b(x) − z_b|²
//!
//! where g(x) is the rest shape fitted to x, and φ_b(x) the tip of a stick carried by that fit. The second term is the
//! difference between points and the transform fitted to them; as the fit is a minimum of it, its gradient is what one would
//! write down for g held still. The third needs the derivative of the fit, transposed: a pull on a tip, shared out to the points.

use glam::{DMat3, DVec3};
use pliant_math::SplitMix64;
use pliant_math::procrustes::{Cloud, Fit, Load};

/// How rigid it is, and how well the tips were seen.
const RIGIDITY: f64 = 4.0;
const TRUST: f64 = 40.0;

struct Problem {
    cloud: Cloud,
    seen: Vec<DVec3>,
    /// Tips at rest, and where they were seen.
    tips: Vec<(DVec3, DVec3)>,
}

impl Problem {
    fn fit(&self, x: &[DVec3]) -> Fit {
        self.cloud.fit(|i| x[i], DMat3::IDENTITY)
    }

    /// Where the rest shape has this point in a fit.
    fn goal(&self, fit: &Fit, i: usize) -> DVec3 {
        fit.translation + fit.rotation * self.cloud.offsets()[i]
    }

    fn energy(&self, x: &[DVec3]) -> f64 {
        let fit = self.fit(x);
        let points = (0..x.len()).map(|i| {
            let bent = x[i].distance_squared(self.goal(&fit, i));
            x[i].distance_squared(self.seen[i]) + RIGIDITY * bent
        });
        let tips = self.tips.iter().map(|(rest, seen)| TRUST * fit.place(*rest).distance_squared(*seen));
        0.5 * (points.sum::<f64>() + tips.sum::<f64>())
    }

    /// The gradient, and the longest step along it that is safe.
    fn gradient(&self, x: &[DVec3], to: &mut [DVec3]) -> f64 {
        let fit = self.fit(x);
        let mut load = Load::default();
        let mut steepest = 1.0 + RIGIDITY;
        for (rest, seen) in &self.tips {
            load += fit.load(*rest, (fit.place(*rest) - *seen) * TRUST);
            // ‖∂φ/∂x‖² is at most what bounds the mobility of points of unit mass.
            steepest += TRUST * fit.inverse_mass_bound(&self.cloud, *rest, |_| 1.0);
        }
        for (i, g) in to.iter_mut().enumerate() {
            let pull = x[i] - self.seen[i] + (x[i] - self.goal(&fit, i)) * RIGIDITY;
            *g = pull + fit.share(&self.cloud, i, &load);
        }
        steepest.recip()
    }
}

/// A point in the cube from −1 to 1.
fn vector(rng: &mut SplitMix64) -> DVec3 {
    DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0
}

/// The problem, and how the thing is really turned.
fn problem() -> Result<(Problem, DMat3), Box<dyn std::error::Error>> {
    let mut rng = SplitMix64::new(2010);
    let rest: Vec<DVec3> = (0..12).map(|_| vector(&mut rng)).collect();
    let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 1.1);
    let truth = |p: DVec3| turn * p + DVec3::new(0.3, -2.0, 5.0);
    let seen = rest.iter().map(|p| truth(*p) + vector(&mut rng) * 0.3).collect();
    let tips = [DVec3::X, DVec3::Y, DVec3::Z].map(|d| (3.0 * d, truth(3.0 * d) + vector(&mut rng) * 0.003));
    let cloud = Cloud::new(&rest, &[1.0; 12])?;
    Ok((Problem { cloud, seen, tips: tips.to_vec() }, turn))
}

/// The angle between two rotations.
fn angle(a: DMat3, b: DMat3) -> f64 {
    let c = a.transpose() * b;
    (((c.x_axis.x + c.y_axis.y + c.z_axis.z) - 1.0) / 2.0).clamp(-1.0, 1.0).acos()
}

/// The largest error of the gradient against differences of the energy.
fn gradient_error(problem: &Problem, x: &[DVec3]) -> f64 {
    let mut gradient = vec![DVec3::ZERO; x.len()];
    problem.gradient(x, &mut gradient);
    let mut worst = 0.0_f64;
    for (i, g) in gradient.iter().enumerate() {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let at = |by: f64| {
                let mut moved = x.to_vec();
                moved[i] += axis * by;
                problem.energy(&moved)
            };
            worst = worst.max(((at(1e-5) - at(-1e-5)) / 2e-5 - g.dot(axis)).abs());
        }
    }
    worst
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (problem, turn) = problem()?;
    let mut x = problem.seen.clone();
    println!("gradient against differences: {:.1e}", gradient_error(&problem, &x));
    assert!(gradient_error(&problem, &x) < 1e-7);

    let at_first = angle(problem.fit(&x).rotation, turn);
    let mut gradient = vec![DVec3::ZERO; x.len()];
    let mut energy = problem.energy(&x);
    let mut steepness = f64::INFINITY;
    for iteration in 0..=1500 {
        let step = problem.gradient(&x, &mut gradient);
        steepness = gradient.iter().map(|g| g.length_squared()).sum::<f64>().sqrt();
        if iteration % 150 == 0 {
            println!("iteration {iteration:4}: energy {energy:.9}, gradient {steepness:.1e}");
        }
        for (x, g) in x.iter_mut().zip(&gradient) {
            *x -= *g * step;
        }
        let next = problem.energy(&x);
        assert!(next <= energy * (1.0 + 1e-14), "each step goes down: {energy} {next}");
        energy = next;
    }
    assert!(steepness < 1e-7, "converged");

    let at_last = angle(problem.fit(&x).rotation, turn);
    println!("turned wrong by {at_first:.4} rad as seen, {at_last:.4} rad as fitted");
    assert!(at_last < 0.1 * at_first, "the tips tell how it is turned");
    Ok(())
}

#[test]
fn the_example_converges() {
    main().expect("the example must run");
}
