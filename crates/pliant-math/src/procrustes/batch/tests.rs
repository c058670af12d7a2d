//! Batches against one at a time, and their bits on every instruction set and in any company.

use super::fit::FitAll;
use super::*;
use crate::SplitMix64;
use crate::lanes::{Isa, Kernel, Plain};
use crate::procrustes::tests::{Case, cases, random_vector};
use crate::rotation::tests::{random, random_rotation};

/// A batch, and where the parents of all its bindings are.
struct Batch {
    bindings: Bindings,
    poses: Poses,
    positions: [Vec<f64>; 3],
}

impl Batch {
    fn of(cases: &[&Case]) -> Batch {
        let mut batch = Batch {
            bindings: Bindings::default(),
            poses: Poses::new(&Bindings::default()),
            positions: Default::default(),
        };
        for c in cases {
            let first = batch.positions[0].len() as u32;
            // From last to first, so that numbers matter.
            for x in c.now.iter().rev() {
                (0..3).for_each(|axis| batch.positions[axis].push(x[axis]));
            }
            let parents: Vec<u32> = (0..c.now.len() as u32).rev().map(|i| first + i).collect();
            batch.bindings.push(&c.cloud, &parents, c.bound);
        }
        batch.poses = Poses::new(&batch.bindings);
        for (k, c) in cases.iter().enumerate() {
            batch.poses.set_rotation(k, c.previous);
        }
        batch
    }

    fn fit(&mut self, isa: Isa) {
        let [x, y, z] = &self.positions;
        self.bindings.fit(isa, [x, y, z], &mut self.poses);
    }

    /// Shares and blocks of one binding.
    fn answers(&self, isa: Isa, forces: &[DVec3]) -> Vec<(Vec<DVec3>, Vec<DMat3>)> {
        let mut packed = vec![[[0.0; 8]; 3]; self.bindings.packs()];
        for (k, f) in forces.iter().enumerate() {
            set(&mut packed[k / 8], k % 8, *f);
        }
        let mut shares = vec![[[0.0; 8]; 3]; self.bindings.slots()];
        let mut blocks = vec![[[[0.0; 8]; 3]; 3]; self.bindings.slots()];
        self.bindings.transfer(isa, &self.poses, &packed, &mut shares);
        self.bindings.blocks(isa, &self.poses, &mut blocks);
        let each = |k: usize| {
            let slots = (0..self.bindings.parents(k).count()).map(move |i| self.bindings.slot(k, i));
            (
                slots.clone().map(|(s, lane)| get(&shares[s], lane)).collect(),
                slots.map(|(s, lane)| get_matrix(&blocks[s], lane)).collect(),
            )
        };
        (0..self.bindings.len()).map(each).collect()
    }
}

/// Ordinary ones, and some that have collapsed to a line, to a point, or are mirrored ties.
fn all_kinds() -> Vec<Case> {
    let mut rng = SplitMix64::new(41);
    let mut list = cases(12);
    let plain = list.len();
    for k in 0..plain {
        let mut c = cases(1).swap_remove(k % 9);
        c.previous = random_rotation(&mut rng);
        let line = random_vector(&mut rng).normalize();
        let share = [0.0, 1e-3, 1e-7][k % 3];
        match k % 4 {
            0 => c.now.iter_mut().for_each(|x| *x = line * line.dot(*x) * 2.0 + *x * share),
            1 => c.now.iter_mut().for_each(|x| *x = *x * share + DVec3::X * c.size),
            2 => {
                // The mirrored rest shape, and two equal singular values where it has them.
                let mirrored = |v: &DVec3| c.previous * (*v * DVec3::new(1.0, 1.0, -1.0));
                c.now = c.cloud.offsets().iter().map(mirrored).collect();
            }
            _ => {}
        }
        list.push(c);
    }
    list
}

fn shuffled<'a>(list: &'a [Case], rng: &mut SplitMix64) -> Vec<&'a Case> {
    let mut keys: Vec<(f64, &Case)> = list.iter().map(|c| (random(rng), c)).collect();
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    keys.into_iter().map(|k| k.1).collect()
}

#[test]
fn a_batch_gives_what_each_gives_alone() {
    let list = all_kinds();
    let mut rng = SplitMix64::new(42);
    let mut doubtful = 0;
    for isa in Isa::available() {
        let order = shuffled(&list, &mut rng);
        let mut batch = Batch::of(&order);
        batch.fit(isa);
        let forces: Vec<DVec3> = order.iter().map(|_| random_vector(&mut rng)).collect();
        let answers = batch.answers(isa, &forces);
        for (k, c) in order.iter().enumerate() {
            let (one, got) = (c.fit(), batch.poses.get(&batch.bindings, k));
            doubtful += usize::from(!one.is_determined());
            let name = format!("{}, determined {}: {one:?} {got:?}", c.kind, one.determined);
            // In what the positions say of it both are as good as rounding allows.
            let k1 = one.condition.min(1e9);
            let reach = c.bound.length() + c.size;
            assert!((got.translation - one.translation).length() <= 1e-14 * reach, "{name}");
            assert!((got.sigma - one.sigma).length() <= 2e-14 * (one.sigma.x + 1e-300), "{name}");
            let turned = (got.rotation - one.rotation).abs().to_cols_array().into_iter().fold(0.0, f64::max);
            // Ties are broken by a pull of 1e-9 of the largest singular value.
            let exact = if one.is_determined() { 2e-14 * k1 } else { 1e-5 };
            assert!(turned <= exact, "{turned:e} {name}");
            let place = batch.poses.place(k);
            assert!((place - got.place(c.bound)).length() <= 1e-14 * reach);
            assert!((place - one.place(c.bound)).length() <= 10.0 * exact * reach, "{name}");
            assert_eq!(got.determined, one.determined, "{name}");
            if !one.is_determined() {
                continue;
            }
            assert!((got.condition / one.condition - 1.0).abs() < 1e-13 * k1, "{name}");
            let load = one.load(c.bound, forces[k]);
            for i in 0..c.now.len() {
                let scale = c.cloud.weights()[i] * (1.0 + k1 * k1) * reach / c.size;
                let share = one.share(&c.cloud, i, &load);
                assert!((answers[k].0[i] - share).length() <= 1e-13 * scale, "{name}");
                let gap = answers[k].1[i] - one.block(&c.cloud, i, c.bound);
                assert!(gap.to_cols_array().iter().all(|e| e.abs() <= 1e-13 * scale), "{name}");
            }
        }
    }
    assert!(doubtful > 20, "{doubtful}");
}

#[test]
fn shares_have_the_force_and_the_torque_in_every_lane() {
    let list = all_kinds();
    let order: Vec<&Case> = list.iter().collect();
    let mut rng = SplitMix64::new(43);
    let forces: Vec<DVec3> = order.iter().map(|_| random_vector(&mut rng)).collect();
    for isa in Isa::available() {
        let mut batch = Batch::of(&order);
        batch.fit(isa);
        for (k, (shares, blocks)) in batch.answers(isa, &forces).into_iter().enumerate() {
            let c = order[k];
            let torque = batch.poses.place(k).cross(forces[k]);
            let (mut f, mut t, mut size) = (-forces[k], -torque, (0.0, 0.0));
            for ((x, share), block) in c.now.iter().zip(&shares).zip(&blocks) {
                assert!(share.is_finite() && block.is_finite(), "{}", c.kind);
                f += *share;
                t += x.cross(*share);
                size = (size.0 + share.length(), size.1 + x.length() * share.length());
            }
            assert!(f.length() <= 1e-12 * size.0, "{}: {f}", c.kind);
            if batch.poses.get(&batch.bindings, k).is_determined() {
                assert!(t.length() <= 1e-12 * size.1, "{}: {t}", c.kind);
            }
        }
    }
}

fn bits(batch: &Batch, isa: Isa, k: usize, forces: &[DVec3]) -> Vec<u64> {
    let fit = batch.poses.get(&batch.bindings, k);
    let (shares, blocks) = &batch.answers(isa, forces)[k];
    let mut all = fit.rotation.to_cols_array().to_vec();
    all.extend(fit.compliance.to_cols_array());
    all.extend(fit.translation.to_array().into_iter().chain(fit.sigma.to_array()));
    all.extend(batch.poses.place(k).to_array().into_iter().chain([fit.condition]));
    all.extend(shares.iter().flat_map(|f| f.to_array()));
    all.extend(blocks.iter().flat_map(|b| b.to_cols_array()));
    all.into_iter().map(f64::to_bits).collect()
}

#[test]
fn bits_are_the_same_everywhere_and_in_any_company() {
    let list = all_kinds();
    let mut rng = SplitMix64::new(44);
    for isa in Isa::available() {
        // The widest instruction set of the same bits is the reference.
        let reference = Isa::available().filter(|i| i.bits() == isa.bits()).max().unwrap();
        for c in list.iter().step_by(3) {
            let force = DVec3::new(0.3, -1.0, 0.2);
            let mut alone = Batch::of(&[c]);
            alone.fit(reference);
            let want = bits(&alone, reference, 0, &[force]);
            let others = shuffled(&list, &mut rng);
            let at = (random(&mut rng).abs() * 19.0) as usize;
            let mut company: Vec<&Case> = others.into_iter().take(19).collect();
            company[at] = c;
            let mut batch = Batch::of(&company);
            batch.fit(isa);
            let got = bits(&batch, isa, at, &[force; 19]);
            assert!(got == want, "{} on {}: {:x?} {:x?}", c.kind, isa.name(), got, want);
        }
    }
}

#[test]
fn unfused_lanes_agree_to_rounding() {
    let list = cases(4);
    let order: Vec<&Case> = list.iter().collect();
    let (mut fused, mut unfused) = (Batch::of(&order), Batch::of(&order));
    fused.fit(Isa::best());
    // Without fused instructions, wherever this runs.
    let Batch { bindings, poses, positions: [x, y, z] } = &mut unfused;
    FitAll { bindings, positions: [x, y, z], poses: &mut poses.packs }.run(Plain::<false>);
    for (k, c) in order.iter().enumerate() {
        let fit = fused.poses.get(&fused.bindings, k);
        let gap = (fused.poses.place(k) - unfused.poses.place(k)).length();
        assert!(gap <= 1e-13 * fit.condition * (c.size + c.bound.length()), "{}: {gap:e}", c.kind);
    }
}

#[test]
fn ties_follow_the_frames_before_from_step_to_step() {
    let list = cases(1);
    let order: Vec<&Case> = list.iter().collect();
    let mut batch = Batch::of(&order);
    batch.fit(Isa::best());
    let before: Vec<DMat3> = (0..order.len()).map(|k| batch.poses.rotation(k)).collect();
    // All points in one place: nothing says how they are turned but what was.
    batch.positions.iter_mut().for_each(|column| column.fill(2.0));
    batch.fit(Isa::best());
    for (k, rotation) in before.iter().enumerate() {
        assert_eq!(batch.poses.rotation(k), *rotation);
        let fit = batch.poses.get(&batch.bindings, k);
        assert_eq!((fit.translation, fit.determined), (DVec3::splat(2.0), 0));
        assert!(batch.poses.place(k).is_finite());
    }
}
