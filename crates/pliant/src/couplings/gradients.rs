//! Conjugate gradients for what many couplings of one body are to each other, where a factor would take too long.
//!
//! The matrix is symmetric and positive, but for rows that others imply: these share their force then, as right-hand sides of what
//! can hold lie in its range. Each group of up to three rows answers itself by a block that is inverted beforehand (block Jacobi). Sums
//! run in the order of the rows, on one thread: the same bits always.

use super::system::{Plan, product};
use glam::{DMat3, DVec3};

/// The residual, relative to the right-hand side, that is left.
const LEFT: f64 = 1e-13;
/// The answer along a way, relative to the largest there is, below which it is rounding: rows that others imply.
const NOWHERE: f64 = 1e-14;
/// Most products with the matrix: what is left after these is for the next solve of the round.
const MOST: usize = 600;
/// What is added to blocks before they are inverted, relative to their largest diagonal: along directions in which a group hardly
/// answers rounding would be all there is to it.
const SOFTENED: f64 = 1e-6;

/// Inverted blocks, and vectors that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Gradients {
    blocks: Vec<DMat3>,
    /// The largest number on the diagonal.
    largest: f64,
    residual: Vec<f64>,
    improved: Vec<f64>,
    way: Vec<f64>,
    image: Vec<f64>,
}

impl Gradients {
    pub fn reserve(&mut self, size: usize) {
        let Gradients { blocks, residual, improved, way, image, .. } = self;
        blocks.reserve(size.saturating_sub(blocks.len()));
        [residual, improved, way, image].into_iter().for_each(|v| v.reserve(size.saturating_sub(v.len())));
    }

    /// Takes up a matrix: the lower half of it, row by row as the plan has them.
    pub fn prepare(&mut self, plan: &Plan, lower: &[f64]) {
        self.blocks.clear();
        self.largest = 0.0;
        for place in plan.groups() {
            let own = plan.rows(place);
            let mut block = DMat3::IDENTITY;
            for (i, row) in own.clone().enumerate() {
                let numbers = &lower[plan.numbers(place, row)];
                for (j, number) in numbers[numbers.len() - 1 - i..].iter().enumerate() {
                    (block.col_mut(i)[j], block.col_mut(j)[i]) = (*number, *number);
                }
            }
            let largest = (0..own.len()).map(|i| block.col(i)[i]).fold(0.0, f64::max);
            self.largest = self.largest.max(largest);
            // What does not answer at all gets no force.
            for i in 0..3 {
                block.col_mut(i)[i] = match i < own.len() {
                    true => block.col(i)[i] + SOFTENED * largest,
                    false => largest,
                };
            }
            self.blocks.push(if largest > 0.0 { block.inverse() } else { DMat3::ZERO });
        }
    }

    /// Solves for a right-hand side, in its place.
    pub fn solve(&mut self, plan: &Plan, lower: &[f64], side: &mut [f64]) {
        let size = side.len();
        self.residual.clear();
        self.residual.extend_from_slice(side);
        side.fill(0.0);
        [&mut self.improved, &mut self.way, &mut self.image].into_iter().for_each(|v| {
            v.clear();
            v.resize(size, 0.0);
        });
        self.improve(plan);
        self.way.copy_from_slice(&self.improved);
        let mut along = product(&self.residual, &self.improved);
        let enough = LEFT * LEFT * product(&self.residual, &self.residual);
        for _ in 0..MOST {
            let left = product(&self.residual, &self.residual);
            if left.is_nan() || left <= enough || along <= 0.0 {
                break;
            }
            self.multiply(plan, lower);
            let bent = product(&self.way, &self.image);
            if bent.is_nan() || bent <= NOWHERE * self.largest * product(&self.way, &self.way) {
                break;
            }
            let step = along / bent;
            side.iter_mut().zip(&self.way).for_each(|(x, w)| *x += step * w);
            self.residual.iter_mut().zip(&self.image).for_each(|(r, a)| *r -= step * a);
            self.improve(plan);
            let next = product(&self.residual, &self.improved);
            let keep = next / along;
            self.way.iter_mut().zip(&self.improved).for_each(|(w, z)| *w = z + keep * *w);
            along = next;
        }
    }

    /// The residual times the inverted blocks.
    fn improve(&mut self, plan: &Plan) {
        for (place, block) in plan.groups().zip(&self.blocks) {
            let own = plan.rows(place);
            let mut at = DVec3::ZERO;
            self.residual[own.clone()].iter().enumerate().for_each(|(i, r)| at[i] = *r);
            let to = *block * at;
            self.improved[own].iter_mut().enumerate().for_each(|(i, z)| *z = to[i]);
        }
    }

    /// The matrix times the way.
    fn multiply(&mut self, plan: &Plan, lower: &[f64]) {
        let Gradients { way, image, .. } = self;
        image.fill(0.0);
        for place in plan.groups() {
            for row in plan.rows(place) {
                let numbers = &lower[plan.numbers(place, row)];
                let at = way[row];
                let mut sum = numbers[numbers.len() - 1] * at;
                for (first, piece) in plan.pieces(place, row) {
                    let numbers = &numbers[piece];
                    sum += product(numbers, &way[first..]);
                    image[first..first + numbers.len()]
                        .iter_mut()
                        .zip(numbers)
                        .for_each(|(y, n)| *y += n * at);
                }
                image[row] += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::couplings::system::PRODUCTS_IN_TESTS;
    use crate::model::WorldFrame;
    use crate::{Body, BodyPoint, Builder, Coupling, Material, Simulation, shapes};
    use glam::{DMat3, DVec3};

    /// A block held in many places, some of which it is to be drawn to.
    fn held(products: usize) -> Simulation {
        let size = DVec3::new(0.3, 0.1, 0.1);
        let shape = shapes::tet_box([12, 4, 4], size, shapes::TetStyle::Five).unwrap();
        let rubber = Material { young: 2e5, ..Material::named("rubber").unwrap() };
        let body = Body::new("block", shape).elastic(rubber);
        let at = body.shape.points.clone();
        let tie = |i: usize| {
            let away = if i.is_multiple_of(3) { DVec3::Y * 1e-3 } else { DVec3::ZERO };
            let to = WorldFrame { at: at[i] + away, axes: DMat3::IDENTITY };
            Coupling::joint(BodyPoint::particle(0, i as u32), to)
        };
        let builder = Builder::new().body(body);
        PRODUCTS_IN_TESTS.set(products);
        let mut s = (0..at.len()).step_by(2).fold(builder, |b, i| b.coupling(tie(i))).build().unwrap();
        (0..10).for_each(|_| assert!(s.step().is_ok()));
        s
    }

    /// Whoever solves, a body that is held in 163 places moves alike.
    #[test]
    fn bodies_move_as_with_a_factor() {
        let [direct, gradients] = [usize::MAX >> 40, 0].map(held);
        let pairs = direct.positions(0).zip(gradients.positions(0));
        let far = pairs.map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
        assert!(far < 1e-9 * 0.3, "{far} m apart");
    }
}
