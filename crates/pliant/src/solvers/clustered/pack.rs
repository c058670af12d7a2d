//! Best-fit motions of clusters from their sums, eight at a time.

// Indices over coordinates read as the formulas do.
#![allow(clippy::needless_range_loop)]

use super::SubstepSettings;
use super::fit::{self, GoalMethod, Sums};
use super::kernels::{FitSum, Goal, QuadraticGoal, QuadraticSum};
use super::layout::{ClusterLayout, WIDTH};
use crate::model::{Goals, Rest};
use glam::{DMat3, DVec3};
use pliant_math::lanes::{Kernel, Lanes, M3, rotations8};
use pliant_math::nearest_rotation;
use std::ops::Range;

/// 1/limit² of clusters without extent: above any other, and with any distance still a number.
const COINCIDENT: f64 = 1e200;

/// The sum over a cluster's pieces, in their order.
#[inline(always)]
pub(super) fn total<const N: usize>(sums: &[[f64; N]], offsets: &[u32], k: usize) -> [f64; N] {
    let mut pieces = sums[offsets[k] as usize..offsets[k + 1] as usize].iter();
    let mut sum = pieces.next().copied().unwrap_or([0.0; N]);
    for piece in pieces {
        for (a, b) in sum.iter_mut().zip(piece) {
            *a += b;
        }
    }
    sum
}

/// What fitting needs of a cluster at rest, in the order of the layout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClusterConstants {
    pub inverse_mass: f64,
    /// 1/w², zero for a single point.
    pub inverse_width: f64,
    /// Painted stiffness.
    pub stiffness: f64,
    /// Rest centre, from the body's.
    pub center: [f64; 3],
    /// Σ m q: zero but for the rounding of the centre. Uncorrected it would turn the cluster by a
    /// constant, and symmetric bodies would drift.
    pub first_moment: [f64; 3],
    /// Several points in one place.
    pub coincident: bool,
    /// Whether goals deform.
    pub deforms: bool,
}

/// What fitting a pack of clusters reads.
#[derive(Clone, Copy)]
pub(super) struct FitClusters<'a> {
    pub rest: &'a Rest,
    pub layout: &'a ClusterLayout,
    pub constants: &'a [ClusterConstants],
    pub now: &'a SubstepSettings,
    pub sums: &'a [FitSum],
    pub quadratic_sums: &'a [QuadraticSum],
    /// Whether any cluster is, or may become, permanently stretched.
    pub plastic: bool,
    pub first: bool,
}

/// Best-fit motions of up to eight clusters, their rotations at once.
pub(super) struct FitPack<'a> {
    pub clusters: FitClusters<'a>,
    pub range: Range<usize>,
    pub goals: &'a mut [Goal],
    pub rotations: &'a mut [DMat3],
    pub plastic: &'a mut [DMat3],
    pub present: &'a mut [DVec3],
    pub quadratic: &'a mut [QuadraticGoal],
}

impl Kernel for FitPack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let Gathered { covariance, present, center } = self.gather();
        let mut a: M3<L> = [[l.splat(0.0); 3]; 3];
        for j in 0..3 {
            for i in 0..3 {
                a[j][i] = l.load(&covariance[j][i]);
            }
        }
        let (r, trusted) = rotations8(l, &a);
        // Goals R r + shift, with shift = x_cm − R r_cm.
        let mut shift = [[0.0; WIDTH]; 3];
        for i in 0..3 {
            let mut t = l.load(&present[i]);
            for j in 0..3 {
                t = l.neg_mul_add(r[j][i], l.load(&center[j]), t);
            }
            l.store(t, &mut shift[i]);
        }
        let mut rotations = [[[0.0; WIDTH]; 3]; 3];
        for j in 0..3 {
            for i in 0..3 {
                l.store(r[j][i], &mut rotations[j][i]);
            }
        }
        self.make_goals((&covariance, &present), (&rotations, &shift), l.bits(trusted));
    }
}

/// Covariances by columns, present centres, rest centres: one cluster a lane.
struct Gathered {
    covariance: [[[f64; WIDTH]; 3]; 3],
    present: [[f64; WIDTH]; 3],
    center: [[f64; WIDTH]; 3],
}

impl FitPack<'_> {
    #[inline(always)]
    fn gather(&self) -> Gathered {
        let FitClusters { layout, constants, .. } = self.clusters;
        let mut covariance = [[[0.0; WIDTH]; 3]; 3];
        let (mut present, mut center) = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3]);
        for (lane, k) in self.range.clone().enumerate() {
            let (s, c) = (total(self.clusters.sums, &layout.piece_offsets, k), &constants[k]);
            for i in 0..3 {
                present[i][lane] = s[i] * c.inverse_mass;
                center[i][lane] = c.center[i];
                for j in 0..3 {
                    covariance[j][i][lane] = s[3 + 3 * j + i] - present[i][lane] * c.first_moment[j];
                }
            }
            if self.clusters.plastic && self.plastic[lane] != DMat3::IDENTITY {
                let stretched =
                    (matrix(&covariance, lane) * self.plastic[lane].transpose()).to_cols_array_2d();
                for j in 0..3 {
                    for i in 0..3 {
                        covariance[j][i][lane] = stretched[j][i];
                    }
                }
            }
        }
        Gathered { covariance, present, center }
    }

    /// Takes up what was found in lanes: rotations, of which `trusted` are as they should be, and the shifts of the goals.
    #[inline(always)]
    fn make_goals(
        &mut self,
        (covariance, present): (&[[[f64; WIDTH]; 3]; 3], &[[f64; WIDTH]; 3]),
        (rotations, shift): (&[[[f64; WIDTH]; 3]; 3], &[[f64; WIDTH]; 3]),
        trusted: u8,
    ) {
        let body = self.clusters.now;
        for (lane, k) in self.range.clone().enumerate() {
            let c = &self.clusters.constants[k];
            // A point has no rotation; what the sums say is rounding.
            let sound = trusted & (1 << lane) != 0 && c.inverse_width > 0.0;
            let goal = &mut self.goals[lane];
            goal.pull = c.stiffness;
            goal.inverse_width = c.inverse_width;
            // For points that coincide at rest, any distance is beyond any limit.
            goal.inverse_limit = match c.coincident && body.inverse_gamma > 0.0 {
                true => COINCIDENT,
                false => c.inverse_width * body.inverse_gamma,
            };
            self.present[lane] = DVec3::new(present[0][lane], present[1][lane], present[2][lane]);
            let rotation = match sound {
                true => matrix(rotations, lane),
                false if c.inverse_width > 0.0 => {
                    nearest_rotation(matrix(covariance, lane), self.rotations[lane])
                }
                false => self.rotations[lane],
            };
            self.rotations[lane] = rotation;
            for j in 0..3 {
                goal.shift[j] = shift[j][lane];
                for i in 0..3 {
                    goal.linear[j][i] = rotations[j][i][lane];
                }
            }
            if let Some(quadratic) = self.quadratic.get_mut(lane) {
                quadratic.terms = [[0.0; 3]; 6];
            }
            // What is rigid at present has the same bits whatever it could become.
            let deforms = c.deforms && (body.controls.deformation > 0.0 || body.making != GoalMethod::Blend);
            let stretched = self.clusters.plastic && self.plastic[lane] != DMat3::IDENTITY;
            let flows = self.clusters.first && body.creep > 0.0;
            if !sound || deforms || stretched || flows {
                self.fit_one(lane, k, rotation, !sound || deforms || stretched, flows);
            }
        }
    }
}

fn matrix(columns: &[[[f64; WIDTH]; 3]; 3], lane: usize) -> DMat3 {
    let column = |j: usize| DVec3::new(columns[j][0][lane], columns[j][1][lane], columns[j][2][lane]);
    DMat3::from_cols(column(0), column(1), column(2))
}

impl FitPack<'_> {
    /// Goals of a cluster that deforms, is permanently stretched, or whose rotation took some care; and
    /// what becomes permanent of its stretch.
    fn fit_one(&mut self, lane: usize, k: usize, rotation: DMat3, goals: bool, flows: bool) {
        let FitClusters { rest, layout, constants, now: body, .. } = self.clusters;
        let c = layout.clusters[k] as usize;
        let (cluster, basis) = (&rest.clusters[c], &rest.bases[c]);
        let s = total(self.clusters.sums, &layout.piece_offsets, k);
        let column = |j: usize| {
            DVec3::new(s[j], s[j + 1], s[j + 2]) - self.present[lane] * constants[k].first_moment[j / 3 - 1]
        };
        let mut sums = Sums {
            first: DVec3::new(s[0], s[1], s[2]),
            covariance: DMat3::from_cols(column(3), column(6), column(9)),
            ..Sums::ZERO
        };
        if basis.goals == Goals::Quadratic {
            let s = total(self.clusters.quadratic_sums, &layout.piece_offsets, k);
            sums.quadratic = std::array::from_fn(|j| DVec3::new(s[3 * j], s[3 * j + 1], s[3 * j + 2]));
        }
        let plastic = &mut self.plastic[lane];
        let fit = fit::fit(&sums, cluster, basis, rotation, plastic, body.making, &body.controls);
        if goals {
            let goal = &mut self.goals[lane];
            goal.linear = fit.linear.to_cols_array_2d();
            let rest_center = DVec3::from_array(constants[k].center);
            goal.shift = (fit.center - fit.offset - fit.linear * rest_center).to_array();
            if let Some(quadratic) = self.quadratic.get_mut(lane) {
                quadratic.terms = fit.quadratic.map(|t| t.to_array());
            }
        }
        if flows {
            *plastic = fit::flow(plastic, &sums, basis, &fit, &body.controls, body.creep);
        }
    }
}
