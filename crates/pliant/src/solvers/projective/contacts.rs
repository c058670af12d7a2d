//! Contacts of the projective solver: forces inside friction cones, through the overlay.
//!
//! Half-spaces do not enter the matrix. Contact points respond to forces through the small dense
//! matrix G of the [`Overlay`]; block Gauss–Seidel finds forces with non-negative normal part, tangential
//! part within the Coulomb cone, no point inside an obstacle, and no force on a point that separates.
//! Where contacts are too many for a dense matrix, points are pushed out after each global step
//! instead, which transmits their forces more softly.

use super::System;
use crate::contact::Contact;
use crate::points::Points;
use crate::solvers::objective::Hands;
use glam::DVec3;
use pliant_linalg::Overlay;

/// Most contacts solved with the dense response matrix.
const MOST: usize = 512;
/// Sweeps of Gauss–Seidel at most, and the movement (relative to body size) below which it stops.
const SWEEPS: usize = 60;
const SETTLED: f64 = 1e-10;

#[derive(Debug)]
pub(super) struct ContactSolver {
    overlay: Overlay,
    forces: Vec<DVec3>,
    free: Vec<DVec3>,
    column: Vec<f64>,
    tie: Vec<(u32, f64)>,
    diameter: f64,
    /// Whether the response matrix of the present ties is still to be computed.
    needs_response: bool,
}

impl ContactSolver {
    /// For at most so many contacts.
    pub fn new(contacts: usize, unknowns: usize) -> ContactSolver {
        let ties = contacts.min(MOST);
        ContactSolver {
            overlay: Overlay::with_capacity(ties, 1, unknowns),
            forces: Vec::with_capacity(ties),
            free: Vec::with_capacity(ties),
            column: Vec::with_capacity(ties),
            tie: Vec::with_capacity(8),
            diameter: 1.0,
            needs_response: false,
        }
    }

    /// To be called when the base matrix changes.
    pub fn forget_columns(&mut self) {
        self.overlay.forget_columns();
    }

    /// Whether so many contacts are solved through the overlay.
    pub fn is_exact(contacts: &[Contact]) -> bool {
        contacts.len() <= MOST
    }

    /// Takes up the contacts of a substep of bodies at most `diameter` large.
    pub fn begin(&mut self, contacts: &[Contact], system: &System, diameter: f64) {
        self.diameter = diameter;
        self.overlay.clear();
        self.forces.clear();
        if !ContactSolver::is_exact(contacts) {
            return;
        }
        for c in contacts {
            self.tie.clear();
            system.dofs().expand(c.stencil[0] as usize, |u, w| self.tie.push((u, w)));
            self.overlay.push(self.tie.iter().copied());
            self.forces.push(DVec3::ZERO);
        }
        self.needs_response = true;
    }

    /// Adds the contact forces to the solution of the global step.
    pub fn resolve(&mut self, contacts: &[Contact], system: &mut System, start: &Points, hands: Hands<'_>) {
        if contacts.is_empty() {
            return;
        }
        if self.needs_response {
            let n = system.objective.len();
            self.overlay.prepare(n, |column| system.global.solve_one(column, hands.1));
            self.needs_response = false;
        }
        self.free.clear();
        let points = contacts.iter().map(|c| c.stencil[0] as usize);
        self.free.extend(points.map(|i| system.ahead(i)));
        self.sweep(contacts, start);
        let (overlay, forces, column) = (&self.overlay, &self.forces, &mut self.column);
        if forces.iter().all(|f| *f == DVec3::ZERO) {
            return;
        }
        system.solve_with(hands, |rhs| {
            for (axis, rhs) in rhs.into_iter().enumerate() {
                column.clear();
                column.extend(forces.iter().map(|f| f[axis]));
                overlay.scatter(column, rhs);
            }
        });
    }

    fn sweep(&mut self, contacts: &[Contact], start: &Points) {
        let settled = SETTLED * self.diameter;
        for _ in 0..SWEEPS {
            let mut largest = 0.0_f64;
            for (k, contact) in contacts.iter().enumerate() {
                let row = self.overlay.gram_row(k);
                let response = row[k];
                if response <= 0.0 {
                    continue;
                }
                let point = row.iter().zip(&self.forces).fold(self.free[k], |u, (g, f)| u + *f * *g);
                // The force that would put the point on the plane, where it was tangentially.
                let n = contact.normal;
                let gap = n.dot(point) - contact.offset;
                let way = point - start.get(contact.stencil[0] as usize);
                let slide = way - n * n.dot(way);
                let wanted = self.forces[k] - (n * gap + slide) / response;
                let force = into_cone(wanted, n, contact.friction);
                largest = largest.max((force - self.forces[k]).length() * response);
                self.forces[k] = force;
            }
            if largest <= settled {
                break;
            }
        }
    }
}

/// Pushes only, with the tangential part at most μ times the normal one.
fn into_cone(force: DVec3, normal: DVec3, friction: f64) -> DVec3 {
    let push = normal.dot(force);
    if push <= 0.0 {
        return DVec3::ZERO;
    }
    let slide = force - normal * push;
    let (length, most) = (slide.length(), friction * push);
    if length <= most { force } else { normal * push + slide * (most / length) }
}
