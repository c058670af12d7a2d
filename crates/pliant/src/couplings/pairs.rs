//! How the sides of ties answer each other through a body whose particles answer alike along x, y and z.
//!
//! Where a side is follows from four means of its particles, z = Σ mᵢ ⊗ xᵢ with mᵢ = (wᵢ, wᵢ vᵢ): its middle, and the covariance that tells
//! how it is turned. Two sides of one body answer each other through Q = Σ mᵢ G_ij mⱼᵀ, sixteen numbers that last as long as
//! the matrix of the body does, however frames turn. With s, a, a' and C its parts (w w, v w, w v and v v), Λ = −\[r_b\]ₓ K⁻¹ the lever of a
//! bound point, and J as in `pliant_math::procrustes`,
//!
//! > J G J'ᵀ = s 1 + Λ \[R a\]ₓ − \[R' a'\]ₓ Λ'ᵀ − Λ (P − tr(P) 1) Λ'ᵀ, P = R' Cᵀ Rᵀ.

use crate::contact::{PairResponse, ResponseKey};
use glam::{DMat3, DVec3};
use pliant_math::cross_matrix;

/// What holds a body: a side of a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub tie: u32,
    pub side: u32,
}

/// How a bound point of a side is turned and levered now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    /// R
    pub rotation: DMat3,
    /// Λ; nothing for a point.
    pub lever: DMat3,
}

/// Q, as columns of (w, v) by (w', v').
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    plain: f64,
    /// a and a'.
    own: DVec3,
    other: DVec3,
    both: DMat3,
}

impl Moments {
    const ZERO: Moments = Moments { plain: 0.0, own: DVec3::ZERO, other: DVec3::ZERO, both: DMat3::ZERO };

    /// How a point of the first side moves by a force on one of the other.
    pub fn block(&self, first: &Turned, other: &Turned) -> DMat3 {
        let c = other.rotation * self.both.transpose() * first.rotation.transpose();
        let trace = c.x_axis.x + c.y_axis.y + c.z_axis.z;
        let levered = other.lever.transpose();
        let inner = cross_matrix(first.rotation * self.own)
            - (c - DMat3::from_diagonal(DVec3::splat(trace))) * levered;
        DMat3::from_diagonal(DVec3::splat(self.plain)) - cross_matrix(other.rotation * self.other) * levered
            + first.lever * inner
    }

    /// The same where neither side turns.
    pub fn plain(&self) -> f64 {
        self.plain
    }
}

/// The numbers between all that hold a body, kept while its matrix lives.
#[derive(Debug, Default)]
pub(super) struct PairCache {
    bodies: Vec<BodyPairs>,
    /// Scratch: how nodes move by the four loads of a side.
    moved: Vec<[f64; 4]>,
}

#[derive(Debug, Default)]
struct BodyPairs {
    key: Option<ResponseKey>,
    /// Of hold p with hold q ≤ p.
    numbers: Vec<Moments>,
}

/// A particle of a side: its node, and (w, w v).
pub(super) type Share = (u32, [f64; 4]);

impl PairCache {
    /// With room for bodies that are held in so many places.
    pub fn new(holds: impl Iterator<Item = usize>, nodes: usize) -> PairCache {
        let empty =
            |holds: usize| BodyPairs { key: None, numbers: vec![Moments::ZERO; holds * (holds + 1) / 2] };
        PairCache { bodies: holds.map(empty).collect(), moved: Vec::with_capacity(nodes) }
    }

    /// Finds the numbers of a body, if it has another matrix than they are of; `shares` tells of a hold what it is made of.
    pub fn update<I: Iterator<Item = Share>>(
        &mut self,
        place: usize,
        holds: usize,
        response: &PairResponse<'_>,
        shares: impl Fn(usize) -> I,
    ) {
        let PairCache { bodies, moved } = self;
        let body = &mut bodies[place];
        if body.key.as_ref().is_some_and(|key| std::sync::Arc::ptr_eq(key, response.key)) {
            return;
        }
        body.key = Some(response.key.clone());
        for q in 0..holds {
            moved.clear();
            moved.resize(response.nodes, [0.0; 4]);
            for (with, loads) in shares(q) {
                for (node, moved) in moved.iter_mut().enumerate() {
                    let g = response.get(node as u32, with);
                    moved.iter_mut().zip(loads).for_each(|(m, l)| *m += g * l);
                }
            }
            for p in q..holds {
                let mut sum = [[0.0; 4]; 4];
                for (node, weights) in shares(p) {
                    for (row, w) in sum.iter_mut().zip(weights) {
                        row.iter_mut().zip(moved[node as usize]).for_each(|(s, m)| *s += w * m);
                    }
                }
                let row = |k: usize| DVec3::new(sum[k][1], sum[k][2], sum[k][3]);
                body.numbers[p * (p + 1) / 2 + q] = Moments {
                    plain: sum[0][0],
                    own: DVec3::new(sum[1][0], sum[2][0], sum[3][0]),
                    other: row(0),
                    both: DMat3::from_cols(row(1), row(2), row(3)).transpose(),
                };
            }
        }
    }

    /// Between holds `p` and `q` ≤ `p` of a body.
    pub fn get(&self, place: usize, p: usize, q: usize) -> &Moments {
        &self.bodies[place].numbers[p * (p + 1) / 2 + q]
    }
}
