//! Signed bending of shells: every edge between two triangles wants its rest angle, and tells a dent from a bump.
//!
//! For an edge with two triangles at rest, v = |e| (ν₁ + ν₂)/M is linear in the four corners (cotangent stencil of
//! Bergou et al. 2006; νᵢ the triangles' outward normals at the edge in their planes, M a third of their area). As
//! long as triangles keep their shape, v is the hinge's normal n times a signed curvature s = 2|e| sin(θ/2)/M,
//! positive where the edge is a ridge. Wanted is v = s₀ n, with the energy ½ w (s − s₀)².
//!
//! No function of v alone knows the sign of s, as a dent is a turned bump; nor does any function of two vectors,
//! since two vectors and their mirror image differ by a rotation. So two more rows show which way the hinge
//! faces: the edge direction e and the way across it, m = (ν₁ − ν₂)/2, which are orthogonal to n and each other
//! while triangles keep their shape. The set is the rigidly moved rest frame { R (v₀, e₀, m₀) }, with e and m
//! scaled by [`FIRMNESS`](HingeBending::FIRMNESS)·|s₀|. It depends on A q alone, so nothing is lagged: the nearest point is the best-fit
//! rotation, the energy has the gradient Aᵀ w (A q − p), and the local step cannot raise the objective.
//!
//! *What it costs.* The frame also resists stretching, with FIRMNESS² s₀² times the bending stiffness. A shell of
//! thickness t and radius R resists with Et and bends with Et³/12, so that is in the order of (t/R)² of its own.
//! *How far it sees.* A hinge bent the wrong way is taken for a dent up to FIRMNESS² times its rest curvature (the
//! frame would be mirrored, and a best-fit rotation gives up its weakest direction, which is n until then);
//! beyond, the frame turns over and the energy grows as s² + const instead of (s − s₀)². Flat hinges want v = 0:
//! one row, a quadratic energy, no frame.
//!
//! *What it measures.* On equilateral and on square right-angled meshes the sum over edges of M v² is
//! 3κ₁² + 3κ₂² − 2κ₁κ₂ per area, so weights are M/3: a sheet rolled to radius R along its edges has ½ A/R², as with
//! [`Bending`](super::Bending). On other meshes the energy depends on the mesh, as of all that look at single edges:
//! 13 % more on a jittered one (see the tests), and refinement does not remove it.

use super::hessian::{ElementHessian, HessianAt, frame_hessian, full_hessian};
use super::surface::{Hinge, area, cotangents, edges};
use super::{ConstraintBatch, Properties, Rows, RowsBuilder, TornBatch, TornElements, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use glam::{DMat3, DVec3};
use pliant_math::nearest_rotation;
use std::ops::Range;

/// Hinges flatter than this at rest (relative to a closed one) count as flat.
const FLAT: f64 = 1e-9;

/// Hinges that resist bending either way.
#[derive(Clone, Debug, PartialEq)]
pub struct HingeBending {
    rows: Rows,
    /// The rows at rest: v₀, e₀, m₀ of curved hinges; a zero for flat ones, which have one row.
    frames: Points,
}

impl HingeBending {
    /// How firmly hinges hold their frame, in multiples of the rest curvature.
    pub const FIRMNESS: f64 = 2.0;

    /// All edges of a surface that lie between two triangles; neighbours must be oriented alike, or the edge is
    /// left out like a border. Row weights are areas.
    pub fn new(triangles: &[[u32; 3]], rest: &Points) -> HingeBending {
        let (mut rows, mut frames) = (RowsBuilder::default(), Points::default());
        for hinge in edges(triangles).hinges {
            let Some(stencil) = Stencil::new(hinge, rest) else { continue };
            let v = at_rest(&stencil.curvature(), rest);
            let (weight, closed) = (stencil.mass / 3.0, 2.0 * stencil.length / stencil.mass);
            rows.row(weight, stencil.curvature());
            if v.length() <= FLAT * closed {
                frames.push(DVec3::ZERO);
            } else {
                let firmness = Self::FIRMNESS * v.length();
                let (along, across) = (stencil.along(firmness), stencil.across(firmness));
                rows.row(weight, along).row(weight, across);
                [v, at_rest(&along, rest), at_rest(&across, rest)].into_iter().for_each(|c| frames.push(c));
            }
            rows.end_element();
        }
        HingeBending { rows: rows.build(), frames }
    }
}

fn at_rest(row: &[(u32, f64)], rest: &Points) -> DVec3 {
    let origin = row.first().map_or(DVec3::ZERO, |(i, _)| rest.get(*i as usize));
    row.iter().map(|&(i, c)| (rest.get(i as usize) - origin) * c).sum()
}

/// The rows of one hinge.
struct Stencil {
    hinge: Hinge,
    length: f64,
    mass: f64,
    /// Cotangents of the two triangles at the edge's ends.
    cot: [[f64; 2]; 2],
}

impl Stencil {
    fn new(hinge: Hinge, rest: &Points) -> Option<Stencil> {
        let [a, b, l, r] =
            [hinge.edge[0], hinge.edge[1], hinge.left, hinge.right].map(|i| rest.get(i as usize));
        let (left, right) = ([a, b, l], [b, a, r]);
        let mass = (area(left) + area(right)) / 3.0;
        let length = (b - a).length();
        if mass <= 0.0 || length <= 0.0 {
            return None;
        }
        let ([al, bl, _], [br, ar, _]) = (cotangents(left), cotangents(right));
        Some(Stencil { hinge, length, mass, cot: [[al, bl], [ar, br]] })
    }

    /// |e| ν of both triangles, each with a factor: cot_b (x_a − x_l) + cot_a (x_b − x_l) is the normal of the edge
    /// in the triangle's plane, as long as the edge.
    fn normals(&self, factors: [f64; 2]) -> [(u32, f64); 4] {
        let [[al, bl], [ar, br]] = self.cot;
        let [fl, fr] = factors;
        [
            (self.hinge.edge[0], fl * bl + fr * br),
            (self.hinge.edge[1], fl * al + fr * ar),
            (self.hinge.left, -fl * (al + bl)),
            (self.hinge.right, -fr * (ar + br)),
        ]
    }

    fn curvature(&self) -> [(u32, f64); 4] {
        self.normals([self.mass.recip(); 2])
    }

    /// From right to left, so that along × across is the normal.
    fn across(&self, scale: f64) -> [(u32, f64); 4] {
        let half = 0.5 * scale / self.length;
        self.normals([-half, half])
    }

    fn along(&self, scale: f64) -> [(u32, f64); 2] {
        let unit = scale / self.length;
        [(self.hinge.edge[0], -unit), (self.hinge.edge[1], unit)]
    }
}

impl ConstraintBatch for HingeBending {
    fn kind(&self) -> &'static str {
        "hinge_bending"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    /// None where all is flat: there w AᵀA is the Hessian.
    fn element_hessian(&self) -> Option<&dyn ElementHessian> {
        if self.rows.len() > self.rows.elements() { Some(self) } else { None }
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        let first = self.rows.of_elements(elements.clone()).start;
        for rows in elements.map(|e| self.rows.of_elements(e..e + 1)) {
            let turn = self.turn(rows.clone(), view.x);
            rows.for_each(|row| p.set(row - first, turn * self.frames.get(row)));
        }
    }

    /// Hinges of edges that hold stay as they are.
    fn torn(&self, elements: TornElements<'_>) -> TornBatch {
        let facet = |e: usize| {
            let row = self.rows.of_elements(e..e + 1).start;
            let ends: Vec<u32> = self.rows.row(row).take(2).map(|(i, _)| i).collect();
            elements.facets.find(&ends)
        };
        let facets: Option<Vec<usize>> = (0..self.rows.elements()).map(facet).collect();
        let Some(facets) = facets else { return TornBatch::Cannot };
        let holding = || (0..facets.len()).filter(|e| !elements.corners.is_broken(facets[*e]));
        let now = |e: usize, i: u32| {
            let joined = elements.facets.joined(facets[e]).iter().map(|&t| t as usize);
            let mut with = joined.filter(|&t| elements.facets.corner_of(t, i).is_some());
            with.next().map_or(i, |t| elements.corners.at(elements.facets, t, i))
        };
        let kept = holding().flat_map(|e| self.rows.of_elements(e..e + 1));
        TornBatch::of(HingeBending {
            frames: kept.map(|row| self.frames.get(row)).collect(),
            rows: self.rows.renamed(holding(), now),
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            rigid_invariant: true,
            exact_nearest: true,
            rest_is_free: true,
            sees_reflection: self.rows.len() > self.rows.elements(),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.rows.encode(&mut w);
        self.frames.columns().into_iter().for_each(|c| w.numbers(c));
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<HingeBending, Truncated> {
        let mut r = Reader(bytes);
        let rows = Rows::decode(&mut r)?;
        let frames = r.points()?;
        let fits = frames.columns().iter().all(|c| c.len() == rows.len());
        if fits { Ok(HingeBending { rows, frames }) } else { Err(Truncated) }
    }
}

impl HingeBending {
    /// How the rest frame is turned to fit the hinge. A flat hinge wants zero, however it is turned.
    fn turn(&self, rows: Range<usize>, x: &Points) -> DMat3 {
        if rows.len() == 1 {
            return DMat3::IDENTITY;
        }
        let mut covariance = DMat3::ZERO;
        for row in rows {
            let (at, rest) = (self.vector(row, x), self.frames.get(row));
            covariance += DMat3::from_cols(at * rest.x, at * rest.y, at * rest.z);
        }
        nearest_rotation(covariance, DMat3::IDENTITY)
    }

    fn vector(&self, row: usize, x: &Points) -> DVec3 {
        // Relative to the edge's first end: rounding is that of the hinge's size.
        let mut entries = self.rows.row(row);
        let origin = entries.next().map_or(DVec3::ZERO, |(i, _)| x.get(i as usize));
        entries.map(|(j, c)| (x.get(j as usize) - origin) * c).sum()
    }
}

impl ElementHessian for HingeBending {
    fn stencils(&self) -> usize {
        self.rows.elements()
    }

    fn width(&self, _stencil: usize) -> usize {
        4
    }

    fn column(&self, stencil: usize, k: usize) -> u32 {
        let first = self.rows.of_elements(stencil..stencil + 1).start;
        self.rows.row(first).nth(k).map_or(0, |(i, _)| i)
    }

    fn hessian(&self, stencil: usize, at: HessianAt<'_>, blocks: &mut [DMat3]) {
        let rows = self.rows.of_elements(stencil..stencil + 1);
        let weight = self.rows.weights()[rows.start];
        // Entries of the rows by corner; the edge's own row has the first two corners only.
        let mut c = [[0.0; 4]; 3];
        for (c, row) in c.iter_mut().zip(rows.clone()) {
            c.iter_mut().zip(self.rows.row(row)).for_each(|(c, (_, entry))| *c = entry);
        }
        let curvature = if rows.len() == 3 {
            let f = [0, 1, 2].map(|k| self.vector(rows.start + k, at.view.x));
            let rest = [0, 1, 2].map(|k| self.frames.get(rows.start + k));
            frame_hessian(f, rest, self.turn(rows.clone(), at.view.x), at.clamped)
        } else {
            full_hessian()
        };
        let pairs = (0..4).flat_map(|a| (0..=a).map(move |b| (a, b)));
        for (block, (a, b)) in blocks.iter_mut().zip(pairs) {
            *block = DMat3::ZERO;
            for (k, row) in curvature.iter().enumerate().take(rows.len()) {
                for (l, part) in row.iter().enumerate().take(rows.len()) {
                    *block += *part * (weight * c[k][a] * c[l][b]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_meshes::{energy, random, roll, sheet, sphere};
    use super::*;
    use crate::constraints::conformance::Stream;
    use crate::constraints::{Bending, conformance};

    #[test]
    fn flat_and_curved_shells_conform() {
        let mut rng = Stream::new(5);
        let mut jitter = |inside: bool, p: DVec3| {
            if inside { p + DVec3::new(random(&mut rng), random(&mut rng), 0.0) * 0.05 } else { p }
        };
        let (triangles, flat) = sheet([4, 4], [1.0, 1.0], &mut jitter);
        conformance::check(&HingeBending::new(&triangles, &flat), &flat).unwrap();
        let rolled = roll(&flat, 0.5);
        conformance::check(&HingeBending::new(&triangles, &rolled), &rolled).unwrap();
        let (triangles, ball) = sphere(1);
        conformance::check(&HingeBending::new(&triangles, &ball), &ball).unwrap();
    }

    #[test]
    fn a_half_cylinder_inside_out_is_felt() {
        let radius = 1.0 / std::f64::consts::PI;
        let (triangles, flat) = sheet([12, 6], [1.0, 0.5], |_, p| p);
        let shell = roll(&flat, radius);
        let dent: Points = shell.iter().map(|p| DVec3::new(p.x, p.y, -p.z)).collect();
        let (signed, blind) = (HingeBending::new(&triangles, &shell), Bending::new(&triangles, &shell));
        assert!(energy(&signed, &shell) < 1e-20 && energy(&blind, &shell) < 1e-20);
        assert!(energy(&blind, &dent) < 1e-20, "the mean curvature is the same");
        // s = −s₀ everywhere: four times what it takes to flatten the shell.
        let flattened = energy(&signed, &flat);
        let ratio = energy(&signed, &dent) / flattened;
        println!("flattened {flattened}, inside out {ratio} times as much");
        assert!(flattened > 1.0 && (ratio - 4.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn rolled_sheets_have_the_energy_of_their_curvature() {
        let ratio = |n: u32, jitter: f64| {
            let mut rng = Stream::new(9);
            let (triangles, flat) = sheet([n, n], [1.0, 1.0], |inside, p| {
                let d = DVec3::new(random(&mut rng), random(&mut rng), 0.0) * jitter / f64::from(n);
                if inside { p + d } else { p }
            });
            energy(&HingeBending::new(&triangles, &flat), &roll(&flat, 0.5)) / 2.0
        };
        let regular = [8, 16, 32, 64].map(|n| ratio(n, 0.0) - 1.0);
        let jittered = [16, 32, 64].map(|n| ratio(n, 0.2) - 1.0);
        println!("regular {regular:?}, jittered {jittered:?}");
        assert!(regular.windows(2).all(|e| e[1].abs() < 0.6 * e[0].abs()), "{regular:?}");
        assert!(jittered.iter().all(|e| e.abs() < 0.2), "bounded, but no convergence: {jittered:?}");
    }
}
