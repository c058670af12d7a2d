//! A tree of boxes over triangles, to find pairs that may meet: leaves along a Morton curve, a complete binary
//! tree above them (Lauterbach and others 2009, "Fast BVH construction on GPUs").

use glam::DVec3;

/// Triangles in a leaf.
const LEAF: usize = 8;

type Bounds = (DVec3, DVec3);

pub(crate) struct BoxTree {
    /// The triangles' indices in the order of the leaves.
    pub order: Vec<u32>,
    /// Boxes as in a heap: the children of `k` are `2k` and `2k + 1`, leaves begin at the half.
    boxes: Vec<Bounds>,
}

impl BoxTree {
    /// Over the triangles that `keep` is true for.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]], keep: impl Fn(usize) -> bool) -> BoxTree {
        let (lo, hi) = positions
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), &p| (lo.min(p), hi.max(p)));
        let scale = (hi - lo).map(|w| if w > 0.0 { f64::from(1 << 20) / w } else { 0.0 });
        let mut keys: Vec<(u64, u32)> = (0..triangles.len())
            .filter(|&t| keep(t))
            .map(|t| {
                let (a, b) = bounds(positions, triangles[t]);
                let cell = ((a - lo) + (b - lo)) * scale;
                (morton(cell.to_array().map(|x| x as u64)), t as u32)
            })
            .collect();
        keys.sort_unstable();
        let order: Vec<u32> = keys.into_iter().map(|(_, t)| t).collect();
        let half = order.len().div_ceil(LEAF).next_power_of_two();
        let mut boxes = vec![(DVec3::INFINITY, DVec3::NEG_INFINITY); 2 * half];
        for (leaf, group) in order.chunks(LEAF).enumerate() {
            let each = group.iter().map(|&t| bounds(positions, triangles[t as usize]));
            boxes[half + leaf] = each.fold(boxes[half + leaf], join);
        }
        for k in (1..half).rev() {
            boxes[k] = join(boxes[2 * k], boxes[2 * k + 1]);
        }
        BoxTree { order, boxes }
    }

    pub fn leaves(&self) -> usize {
        self.order.len().div_ceil(LEAF)
    }

    /// The triangles of a leaf.
    pub fn leaf(&self, leaf: usize) -> &[u32] {
        &self.order[LEAF * leaf..self.order.len().min(LEAF * (leaf + 1))]
    }

    /// Calls `visit` with every leaf from `leaf` on whose box touches that of `leaf`, while it returns true; the
    /// number of boxes looked at.
    pub fn touching(&self, leaf: usize, mut visit: impl FnMut(usize) -> bool) -> usize {
        let half = self.boxes.len() / 2;
        let levels = half.trailing_zeros();
        let here = self.boxes[half + leaf];
        let mut looked = 0;
        let mut open = vec![1_usize];
        while let Some(k) = open.pop() {
            looked += 1;
            let below = levels - (usize::BITS - 1 - k.leading_zeros());
            // The last leaf under k.
            let last = ((k + 1) << below) - 1 - half;
            if last < leaf || !overlap(here, self.boxes[k]) {
                continue;
            }
            if k < half {
                open.extend([2 * k + 1, 2 * k]);
            } else if !visit(k - half) {
                break;
            }
        }
        looked
    }
}

pub(crate) fn bounds(positions: &[DVec3], triangle: [u32; 3]) -> Bounds {
    let [a, b, c] = triangle.map(|v| positions[v as usize]);
    (a.min(b).min(c), a.max(b).max(c))
}

pub(crate) fn overlap(a: Bounds, b: Bounds) -> bool {
    a.0.cmple(b.1).all() && b.0.cmple(a.1).all()
}

fn join(a: Bounds, b: Bounds) -> Bounds {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The bits of three numbers of 21 bits in turn.
fn morton(cell: [u64; 3]) -> u64 {
    let spread = |x: u64| {
        let mut x = x.min((1 << 21) - 1);
        x = (x | x << 32) & 0x001F_0000_0000_FFFF;
        x = (x | x << 16) & 0x001F_0000_FF00_00FF;
        x = (x | x << 8) & 0x100F_00F0_0F00_F00F;
        x = (x | x << 4) & 0x10C3_0C30_C30C_30C3;
        (x | x << 2) & 0x1249_2492_4924_9249
    };
    spread(cell[0]) << 2 | spread(cell[1]) << 1 | spread(cell[2])
}
