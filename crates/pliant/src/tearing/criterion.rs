//! Where a body tears: at particles around which it is stretched too far.
//!
//! Of every particle the Cauchy–Green tensors FᵀF of the elements around it are averaged by their size; the square root of
//! the largest eigenvalue is how far the body is stretched there, and its eigenvector the direction in the rest shape. A
//! uniform stretch is measured exactly, whatever the mesh: whether it tears does not depend on how its edges lie, only where
//! does ([`super::cut`] takes the facets that lie across).
//!
//! Tears run on, they do not shatter: of neighbouring tips only the one with the greatest excess goes on in a step, and a new
//! tear begins only while none does, where the excess is the greatest of the whole body.
//! Around a tip the load that the opened part no longer carries concentrates by itself; it goes on at [`TIP`] of the strain.

use super::cut::Star;
use crate::model::BodyModel;
use crate::points::Points;
use glam::{DMat3, DVec3};
use pliant_math::svd3;

/// A tip goes on at this part of the strain that begins a tear: elements show only some of how the load concentrates there,
/// which grows without bound towards the tip itself.
const TIP: f64 = 0.6;

/// Room that is kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Per particle: the six different entries of the sum of its tensors, and of the sizes.
    sums: Vec<[f64; 7]>,
    candidates: Vec<Candidate>,
    blocked: Vec<bool>,
    /// The facets to break.
    pub facets: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Strain over what the particle bears.
    excess: f64,
    particle: u32,
    direction: DVec3,
}

impl Scratch {
    /// Finds the facets that break at `x` where strain exceeds `threshold`; left in `facets`, in the order they break.
    pub fn find(&mut self, model: &BodyModel, threshold: f64, x: &Points) {
        self.facets.clear();
        let Some(facets) = model.facets().filter(|_| threshold < f64::INFINITY) else { return };
        let corners = model.corners();
        self.sum(facets, corners.map_or(facets.cells(), |c| c.particles()), x);
        self.list(&model.rest().toughness, threshold, if corners.is_some() { TIP } else { 1.0 });
        if self.candidates.is_empty() {
            return;
        }
        // The greatest first; equal ones by their number.
        self.candidates
            .sort_unstable_by(|a, b| b.excess.total_cmp(&a.excess).then(a.particle.cmp(&b.particle)));
        self.blocked.clear();
        self.blocked.resize(x.len(), false);
        let rest = &model.whole().rest().positions;
        let rest = |i: u32| rest.get(i as usize);
        // Tips go on; where none does, a new tear may begin.
        for begins in [false, true] {
            if begins && !self.facets.is_empty() {
                break;
            }
            for k in 0..self.candidates.len() {
                let Candidate { particle, direction, excess } = self.candidates[k];
                let vertex = corners.map_or(particle, |c| c.origin()[particle as usize]);
                let star = Star { facets, corners, rest: &rest, particle, vertex };
                let wanted =
                    if begins { excess > 1.0 } else { !self.blocked[particle as usize] && star.is_tip() };
                let Some(cut) = wanted.then(|| star.cut(direction)).flatten() else { continue };
                self.facets.extend(cut);
                if begins {
                    break;
                }
                for e in star.elements() {
                    let cell = corners.map_or(facets.cell(e as usize), |c| c.cell(facets, e as usize));
                    cell.iter().for_each(|&i| self.blocked[i as usize] = true);
                }
            }
        }
    }

    /// Adds up the tensors around every particle.
    fn sum(&mut self, facets: &super::Facets, particles: &[u32], x: &Points) {
        self.sums.clear();
        self.sums.resize(x.len(), [0.0; 7]);
        for (e, cell) in particles.chunks_exact(facets.width()).enumerate() {
            let duals = facets.duals(e);
            let origin = x.get(cell[0] as usize);
            let mut f = [DVec3::ZERO; 3];
            for (g, &i) in duals.iter().zip(&cell[1..]) {
                let edge = x.get(i as usize) - origin;
                (f[0], f[1], f[2]) = (f[0] + edge * g.x, f[1] + edge * g.y, f[2] + edge * g.z);
            }
            let m = facets.measure(e);
            let [xx, yy, zz] = f.map(|c| m * c.length_squared());
            let (xy, yz, zx) = (m * f[0].dot(f[1]), m * f[1].dot(f[2]), m * f[2].dot(f[0]));
            let own = [xx, yy, zz, xy, yz, zx, m];
            for &i in cell {
                self.sums[i as usize].iter_mut().zip(own).for_each(|(sum, v)| *sum += v);
            }
        }
    }

    /// Lists the particles that are stretched by more than a part of what they bear.
    fn list(&mut self, toughness: &[f64], threshold: f64, part: f64) {
        self.candidates.clear();
        for (i, &[xx, yy, zz, xy, yz, zx, m]) in self.sums.iter().enumerate() {
            let limit = threshold * toughness.get(i).copied().unwrap_or(1.0);
            let most = m * (1.0 + part * limit).powi(2);
            // No eigenvalue is above the norm: mostly that is all there is to compute.
            let norm = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + yz * yz + zx * zx);
            if m <= 0.0 || norm.partial_cmp(&(most * most)) != Some(std::cmp::Ordering::Greater) {
                continue;
            }
            let tensor = DMat3::from_cols(
                DVec3::new(xx, xy, zx) / m,
                DVec3::new(xy, yy, yz) / m,
                DVec3::new(zx, yz, zz) / m,
            );
            let parts = svd3(tensor);
            let excess = (parts.sigma.x.sqrt() - 1.0) / limit;
            if excess > part && excess.is_finite() {
                self.candidates.push(Candidate { excess, particle: i as u32, direction: parts.u.x_axis });
            }
        }
    }
}
