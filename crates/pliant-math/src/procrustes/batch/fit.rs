//! Fits eight clouds at a time: one pass over the parents, then singular values in lanes.

use super::super::fit::{LOST, UNCLEAR, solve};
use super::{Bindings, Pose, Poses, get, get_matrix, load, set, set_matrix, store, store_matrices, times};
use crate::lanes::{Isa, Kernel, Lanes, M3, V3, svds};

impl Bindings {
    /// Finds where all clouds are, by the columns of all points. Ties go to the rotations that are in `poses`.
    ///
    /// # Panics
    /// If `poses` are of another batch, or a parent's number is beyond the columns.
    pub fn fit(&self, isa: Isa, positions: [&[f64]; 3], poses: &mut Poses) {
        assert_eq!(poses.count, self.count, "poses of another batch");
        isa.run(FitAll { bindings: self, positions, poses: &mut poses.packs });
    }
}

pub(super) struct FitAll<'a> {
    pub bindings: &'a Bindings,
    pub positions: [&'a [f64]; 3],
    pub poses: &'a mut [Pose],
}

impl Kernel for FitAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let mut pack = 0;
        if L::REGISTERS >= 32 {
            while pack + 2 <= self.poses.len() {
                self.packs::<L, 2>(l, pack);
                pack += 2;
            }
        }
        while pack < self.poses.len() {
            self.packs::<L, 1>(l, pack);
            pack += 1;
        }
    }
}

/// What the parents of eight clouds add up to.
#[derive(Clone, Copy)]
struct Sums<L: Lanes> {
    covariance: M3<L>,
    mean: V3<L>,
    /// Mean square distance from the mean.
    square: L::F,
}

impl FitAll<'_> {
    #[inline(always)]
    fn packs<L: Lanes, const N: usize>(&mut self, l: L, first: usize) {
        let mut sums = [self.sums(l, first); N];
        let mut covariance = [sums[0].covariance; N];
        for k in 1..N {
            sums[k] = self.sums(l, first + k);
            covariance[k] = sums[k].covariance;
        }
        let svd = svds(l, &covariance);
        for k in 0..N {
            self.pose(l, first + k, &sums[k], svd[k].u, svd[k].sigma, svd[k].v);
        }
    }

    #[inline(always)]
    fn at<L: Lanes>(&self, l: L, parents: &[u32; 8]) -> V3<L> {
        let [x, y, z] = self.positions;
        [l.gather(x, parents), l.gather(y, parents), l.gather(z, parents)]
    }

    /// About a point of the cloud, and of weight: so the mean that is left drops out of A, since Σ wᵢ vᵢ = 0, and out of the
    /// size without loss of digits.
    #[inline(always)]
    fn sums<L: Lanes>(&self, l: L, pack: usize) -> Sums<L> {
        let zero = l.splat(0.0);
        let pack = &self.bindings.packs[pack];
        let origin = self.at(l, &pack.heaviest);
        let (mut a, mut m, mut s) = ([[zero; 3]; 3], [zero; 3], zero);
        let slots = pack.slots.clone();
        let parents = &self.bindings.parents[slots.clone()];
        let weights = &self.bindings.weights[slots.clone()];
        let offsets = &self.bindings.offsets[slots];
        for ((parents, weight), offset) in parents.iter().zip(weights).zip(offsets) {
            let x = self.at(l, parents);
            let q = [l.sub(x[0], origin[0]), l.sub(x[1], origin[1]), l.sub(x[2], origin[2])];
            let w = l.load(weight);
            let wq = l.scale(w, q);
            let v = load(l, offset);
            a = [l.scale_add(v[0], q, a[0]), l.scale_add(v[1], q, a[1]), l.scale_add(v[2], q, a[2])];
            m = [l.add(m[0], wq[0]), l.add(m[1], wq[1]), l.add(m[2], wq[2])];
            s = l.add(s, l.dot(wq, q));
        }
        let mean = [l.add(origin[0], m[0]), l.add(origin[1], m[1]), l.add(origin[2], m[2])];
        Sums { covariance: a, mean, square: l.max(l.sub(s, l.dot(m, m)), zero) }
    }

    #[inline(always)]
    fn pose<L: Lanes>(&mut self, l: L, pack: usize, sums: &Sums<L>, u: M3<L>, sigma: V3<L>, v: M3<L>) {
        let at = &self.bindings.packs[pack];
        let [s0, s1, s2] = sigma;
        let eigenvalues = [l.add(s1, s2), l.add(s2, s0), l.add(s0, s1)];
        let stiffness = l.load(&at.stiffness);
        let limit = l.max(l.mul(l.splat(LOST), stiffness), l.mul(l.splat(UNCLEAR), s0));
        // Not where a direction fades or several rotations fit, nor where anything is no number.
        let trusted = l.ge(eigenvalues[0], limit);
        let mut compliance = [[l.splat(0.0); 3]; 3];
        let mut rotation = compliance;
        for k in 0..3 {
            let inverse = l.keep(trusted, l.div(l.splat(1.0), eigenvalues[k]));
            let scaled = l.scale(inverse, u[k]);
            for j in 0..3 {
                compliance[j] = l.scale_add(u[k][j], scaled, compliance[j]);
                rotation[j] = l.scale_add(v[k][j], u[k], rotation[j]);
            }
        }
        let arm = times(l, &rotation, load(l, &at.bound));
        let place = [l.add(sums.mean[0], arm[0]), l.add(sums.mean[1], arm[1]), l.add(sums.mean[2], arm[2])];

        let doubtful = !l.bits(trusted) & at.used();
        let pose = &mut self.poses[pack];
        let previous = if doubtful == 0 { None } else { Some(pose.rotation) };
        store(l, sums.mean, &mut pose.translation);
        store(l, place, &mut pose.place);
        store(l, sigma, &mut pose.sigma);
        l.store(l.sqrt(sums.square), &mut pose.size);
        store_matrices(l, rotation, &mut pose.rotation);
        store_matrices(l, compliance, &mut pose.compliance);
        if let Some(previous) = previous {
            let mut covariance = [[[0.0; 8]; 3]; 3];
            store_matrices(l, sums.covariance, &mut covariance);
            for lane in (0..8).filter(|lane| doubtful >> lane & 1 == 1) {
                let a = get_matrix(&covariance, lane);
                let solution = solve(a, at.stiffness[lane], get_matrix(&previous, lane));
                set_matrix(&mut pose.rotation, lane, solution.rotation);
                set_matrix(&mut pose.compliance, lane, solution.compliance);
                set(&mut pose.sigma, lane, solution.sigma);
                let arm = solution.rotation * get(&at.bound, lane);
                let place = get(&pose.translation, lane) + arm;
                set(&mut pose.place, lane, place);
            }
        }
    }
}
