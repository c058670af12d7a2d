//! Best-fit rotations of eight matrices at a time: the kernel that everything with clusters or corotated elements waits for.

use crate::timing::best_of;
use crate::{Measurement, Run};
use pliant::{DMat3, DQuat, Isa};
use pliant_geometry::SplitMix64;
use pliant_math::lanes::{Kernel, Lanes, rotations8};
use std::array::from_fn;
use std::hint::black_box;
use std::time::Duration;

/// By how far matrices are from rotations: iterations end sooner for those that are near.
pub(crate) const STRAINS: [(&str, f64); 3] =
    [("math/rotations/near", 1e-3), ("math/rotations/strained", 0.1), ("math/rotations/far", 0.5)];

type Pack = [[[f64; 8]; 3]; 3];
const PACKS: usize = 64;

struct Pass<'a>(&'a [Pack], &'a mut [Pack]);

impl Kernel for Pass<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (a, to) in self.0.iter().zip(self.1) {
            let mut x = [[l.splat(0.0); 3]; 3];
            for (column, a) in x.iter_mut().zip(a) {
                for (entry, a) in column.iter_mut().zip(a) {
                    *entry = l.load(a);
                }
            }
            let (r, _) = rotations8(l, &x);
            for (column, to) in r.into_iter().zip(to) {
                for (entry, to) in column.into_iter().zip(to) {
                    l.store(entry, to);
                }
            }
        }
    }
}

pub(crate) fn rotations(run: &mut Run<'_>) -> Result<(), String> {
    for (name, strain) in STRAINS.into_iter().filter(|s| run.wants(s.0)).collect::<Vec<_>>() {
        let mut rng = SplitMix64::new(9);
        let mut number = || 2.0 * rng.unit() - 1.0;
        let mut matrix = || {
            let turn = DQuat::from_xyzw(number(), number(), number(), number() + 1e-3).normalize();
            let bend = DMat3::from_cols_array(&from_fn(|_| number()));
            DMat3::from_quat(turn) * (DMat3::IDENTITY + bend * strain)
        };
        let from: Vec<Pack> = (0..PACKS)
            .map(|_| {
                let matrices: [DMat3; 8] = from_fn(|_| matrix());
                from_fn(|column| from_fn(|row| from_fn(|lane| matrices[lane].col(column)[row])))
            })
            .collect();
        let mut to = from.clone();
        let isas = run.options.isa.map_or_else(|| Isa::available().collect(), |isa| vec![isa]);
        for isa in isas {
            let seconds =
                best_of(Duration::from_millis(200), || isa.run(Pass(black_box(&from), black_box(&mut to))));
            let each = 1e9 * seconds / (8 * PACKS) as f64;
            run.report(Measurement::new(name, (each, "ns"), isa.name()).noted("per matrix".into()));
        }
    }
    Ok(())
}
