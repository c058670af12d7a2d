//! Forces on eight bound points as forces on their parents, and the blocks of their derivatives.

use super::{Bindings, Eight, EightMatrices, Pose, Poses, load, load_matrices, store, store_matrices, times};
use crate::lanes::{Isa, Kernel, Lanes};

impl Bindings {
    /// fᵢ = wᵢ (f + K⁻¹(r_b × f) × rᵢ) for all parents of all bindings. Forces come in packs of eight, shares go to slots
    /// (see [`Bindings::slot`]); lanes without a parent get zero.
    ///
    /// # Panics
    /// If `poses` are of another batch, or there are not as many packs of forces and slots for shares as needed.
    pub fn transfer(&self, isa: Isa, poses: &Poses, forces: &[Eight], shares: &mut [Eight]) {
        assert_eq!(poses.count, self.count, "poses of another batch");
        assert_eq!(forces.len(), self.packs(), "packs of forces");
        assert_eq!(shares.len(), self.slots(), "slots for shares");
        isa.run(Transfer { bindings: self, poses: &poses.packs, forces, shares });
    }

    /// ∂φ/∂xᵢ for all parents of all bindings, into their slots; zero in lanes without a parent.
    ///
    /// # Panics
    /// If `poses` are of another batch, or there are not as many slots for blocks as needed.
    pub fn blocks(&self, isa: Isa, poses: &Poses, blocks: &mut [EightMatrices]) {
        assert_eq!(poses.count, self.count, "poses of another batch");
        assert_eq!(blocks.len(), self.slots(), "slots for blocks");
        isa.run(Blocks { bindings: self, poses: &poses.packs, blocks });
    }
}

struct Transfer<'a> {
    bindings: &'a Bindings,
    poses: &'a [Pose],
    forces: &'a [Eight],
    shares: &'a mut [Eight],
}

impl Kernel for Transfer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Bindings { packs, weights, offsets, .. } = self.bindings;
        for ((pack, pose), force) in packs.iter().zip(self.poses).zip(self.forces) {
            let rotation = load_matrices(l, &pose.rotation);
            let f = load(l, force);
            let torque = l.cross(times(l, &rotation, load(l, &pack.bound)), f);
            let y = times(l, &load_matrices(l, &pose.compliance), torque);
            // y × R v = ([y]ₓ R) v
            let spin = [l.cross(y, rotation[0]), l.cross(y, rotation[1]), l.cross(y, rotation[2])];
            let slots = pack.slots.clone();
            let shares = &mut self.shares[slots.clone()];
            for ((weight, offset), share) in weights[slots.clone()].iter().zip(&offsets[slots]).zip(shares) {
                let turned = times(l, &spin, load(l, offset));
                store(l, l.scale_add(l.load(weight), f, turned), share);
            }
        }
    }
}

struct Blocks<'a> {
    bindings: &'a Bindings,
    poses: &'a [Pose],
    blocks: &'a mut [EightMatrices],
}

impl Kernel for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Bindings { packs, weights, offsets, .. } = self.bindings;
        for (pack, pose) in packs.iter().zip(self.poses) {
            let rotation = load_matrices(l, &pose.rotation);
            let compliance = load_matrices(l, &pose.compliance);
            let arm = times(l, &rotation, load(l, &pack.bound));
            // −[r_b]ₓ K⁻¹, by columns
            let [a, b, c] =
                [l.cross(compliance[0], arm), l.cross(compliance[1], arm), l.cross(compliance[2], arm)];
            let slots = pack.slots.clone();
            let blocks = &mut self.blocks[slots.clone()];
            for ((weight, offset), block) in weights[slots.clone()].iter().zip(&offsets[slots]).zip(blocks) {
                let w = l.load(weight);
                let r = times(l, &rotation, load(l, offset));
                let (x, y, z) = (r[0], r[1], r[2]);
                let minus = [l.neg(x), l.neg(y), l.neg(z)];
                let mut turned = [
                    l.scale_add(z, b, l.scale(minus[1], c)),
                    l.scale_add(x, c, l.scale(minus[2], a)),
                    l.scale_add(y, a, l.scale(minus[0], b)),
                ];
                turned[0][0] = l.add(turned[0][0], w);
                turned[1][1] = l.add(turned[1][1], w);
                turned[2][2] = l.add(turned[2][2], w);
                store_matrices(l, turned, block);
            }
        }
    }
}
