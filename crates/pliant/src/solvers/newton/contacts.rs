//! Planes as bounds of Newton's method: particles that lie on a plane and are pressed into it are held there, in the
//! step as in its length.
//!
//! Pushing particles out after each step carries no load: where a step falls by more than the body is thick (h²g at
//! five steps a second), all of it ends in the plane, flat, and stays so. Held, the normal movement of a particle is no
//! unknown of the step, and the force of the plane is what is left of the gradient. A particle that is drawn away is
//! let go in the next iteration.
//!
//! Friction is Coulomb's with the plane's force λ as the iterations before found it: a potential μλ f(|t|) of the slide t
//! since the substep began, smooth below [`SLIP`] (as in Li et al. 2020), so that what sticks creeps by less than that.
//! Friction tilts a body and so changes λ: the mean of what was and what is found keeps that from going back and
//! forth for ever.

use super::super::implicit::{Substep, surface};
use super::super::objective::Objective;
use crate::controls::LiveControls;
use crate::dofs::Dof;
use crate::model::HalfSpace;
use glam::{DMat3, DVec3};

/// Slides below this part of the body's size count as sticking.
const SLIP: f64 = 1e-8;
/// How near a plane counts as on it, relative to the place's own size.
const ON: f64 = 1e-9;

/// A particle held by a plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub unknown: usize,
    pub normal: DVec3,
    particle: usize,
    start: DVec3,
    /// μ times the plane's force.
    drag: f64,
    slip: f64,
}

impl Held {
    /// The slide since the substep began.
    fn slide(&self, q: &Objective) -> DVec3 {
        let way = q.position(self.particle) - self.start;
        way - self.normal * self.normal.dot(way)
    }

    fn energy(&self, q: &Objective) -> f64 {
        let (y, e) = (self.slide(q).length(), self.slip);
        self.drag * if y < e { y * y / e - y * y * y / (3.0 * e * e) + e / 3.0 } else { y }
    }

    fn force(&self, q: &Objective) -> DVec3 {
        let t = self.slide(q);
        let (y, e) = (t.length(), self.slip);
        t * (-self.drag * if y < e { (2.0 - y / e) / e } else { y.recip() })
    }

    /// The second derivative of the friction, across the normal.
    pub fn curvature(&self, q: &Objective) -> DMat3 {
        let t = self.slide(q);
        let (y, e) = (t.length(), self.slip);
        let (around, along) =
            if y < e { ((2.0 - y / e) / e, 2.0 * (1.0 - y / e) / e) } else { (y.recip(), 0.0) };
        let plane = DMat3::IDENTITY - outer(self.normal);
        (plane * around + outer(t.normalize_or_zero()) * (along - around)) * self.drag
    }
}

fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}

/// What planes hold at present.
#[derive(Debug)]
pub(super) struct Contacts {
    held: Vec<Held>,
    /// μλ of each free particle and plane; negative where they do not touch.
    drag: Vec<f64>,
    /// Where each may be at θ h for the end of the substep to be outside: n·q at least.
    offsets: Vec<f64>,
    /// Particles that may move, with their unknown.
    free: Vec<(usize, usize)>,
    planes: Vec<HalfSpace>,
}

impl Contacts {
    pub fn new(substep: &Substep) -> Contacts {
        let planes = substep.model.params.planes.clone();
        let mut free = Vec::new();
        if !planes.is_empty() {
            for i in 0..substep.model.particle_count() {
                if let Dof::Free(u) = substep.dofs.get(i) {
                    free.push((i, *u as usize));
                }
            }
        }
        let most = free.len() * planes.len();
        Contacts {
            held: Vec::with_capacity(most),
            drag: vec![-1.0; most],
            offsets: vec![0.0; most],
            free,
            planes,
        }
    }

    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// The most there can be.
    pub fn most(&self) -> usize {
        self.held.capacity()
    }

    /// Whether there is anything to touch.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// Begins a substep.
    pub fn begin(&mut self, substep: &Substep) {
        self.held.clear();
        self.drag.fill(-1.0);
        let mut offsets = self.offsets.iter_mut();
        for &(particle, _) in &self.free {
            for (plane, offset) in self.planes.iter().zip(offsets.by_ref()) {
                *offset = substep.lowest(plane, particle);
            }
        }
    }

    /// Finds what is on a plane and pressed into it, by the gradient as last evaluated.
    pub fn find(&mut self, iteration: u32, substep: &Substep, controls: LiveControls<'_>, q: &Objective) {
        self.held.clear();
        let share = 2.0 / (1.0 + f64::from(iteration));
        let (n, descent) = (q.len(), q.descent());
        let mut drags = self.drag.iter_mut().zip(&self.offsets);
        for &(particle, unknown) in &self.free {
            let at = q.position(particle);
            for (plane, (drag, offset)) in self.planes.iter().zip(drags.by_ref()) {
                if plane.normal.dot(at) - offset > ON * (substep.diameter + at.abs().max_element()) {
                    *drag = -1.0;
                    continue;
                }
                let [x, y, z] = [0, n, 2 * n].map(|column| descent[column + unknown]);
                let pressed = -plane.normal.dot(DVec3::new(x, y, z));
                let found = surface(controls).friction(plane) * pressed.max(0.0);
                *drag = if *drag < 0.0 { found } else { *drag + (found - *drag) * share };
                if pressed > 0.0 {
                    self.held.push(Held {
                        unknown,
                        normal: plane.normal,
                        particle,
                        start: substep.start().get(particle),
                        drag: *drag,
                        slip: SLIP * substep.diameter,
                    });
                }
            }
        }
    }

    /// Moves the body out of planes as it is, without deforming it.
    pub fn lift(&self, q: &mut Objective) {
        for (p, plane) in self.planes.iter().enumerate() {
            let gap = |(k, (i, _)): (usize, &(usize, usize))| {
                plane.normal.dot(q.position(*i)) - self.offsets[k * self.planes.len() + p]
            };
            let lowest = self.free.iter().enumerate().map(gap).fold(0.0, f64::min);
            for (i, _) in self.free.iter().filter(|_| lowest < 0.0) {
                q.put(*i, q.position(*i) - plane.normal * lowest);
            }
        }
    }

    /// What friction would cost at a place a substep may begin at, if planes gave what inertia lacks there: it tells
    /// bodies that stick from those that slide before any force is known.
    pub fn estimated_friction(&self, substep: &Substep, controls: LiveControls<'_>, q: &Objective) -> f64 {
        let mut sum = 0.0;
        for &(particle, unknown) in &self.free {
            let (moved, way) = (q.way(particle), q.position(particle) - substep.start().get(particle));
            for plane in &self.planes {
                let load = q.inertia(unknown) * plane.normal.dot(moved).max(0.0);
                let slide = way - plane.normal * plane.normal.dot(way);
                sum += surface(controls).friction(plane) * load * slide.length();
            }
        }
        sum
    }

    /// Puts what is below a plane on it; tells whether anything was.
    pub fn land(&self, q: &mut Objective) -> bool {
        let mut landed = false;
        let mut offsets = self.offsets.iter();
        for &(particle, ..) in &self.free {
            for (plane, offset) in self.planes.iter().zip(offsets.by_ref()) {
                let at = q.position(particle);
                let gap = plane.normal.dot(at) - offset;
                if gap < 0.0 {
                    q.put(particle, at - plane.normal * gap);
                    landed = true;
                }
            }
        }
        landed
    }

    /// The energy of friction.
    pub fn energy(&self, q: &Objective) -> f64 {
        self.held.iter().map(|h| h.energy(q)).sum()
    }

    /// Makes −∇E what is left of it, friction added; columns of x, y and z.
    pub fn resist(&self, q: &Objective, descent: &mut [f64]) {
        for h in &self.held {
            let f = h.force(q);
            add(descent, h.unknown, f);
        }
        self.keep_on(descent);
    }

    /// Takes away what leads out of or into the planes that hold.
    pub fn keep_on(&self, columns: &mut [f64]) {
        let n = columns.len() / 3;
        // Twice: a particle in a corner has several normals.
        for h in self.held.iter().chain(&self.held) {
            let v = DVec3::new(columns[h.unknown], columns[n + h.unknown], columns[2 * n + h.unknown]);
            add(columns, h.unknown, h.normal * -h.normal.dot(v));
        }
    }
}

fn add(columns: &mut [f64], unknown: usize, v: DVec3) {
    let n = columns.len() / 3;
    (0..3).for_each(|axis| columns[axis * n + unknown] += v[axis]);
}
