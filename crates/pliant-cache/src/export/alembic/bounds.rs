//! Axis-aligned bounds as Alembic stores them.

use crate::BodyPose;
use glam::DVec3;

/// Lower and upper corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SampleBounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl SampleBounds {
    /// Bounds of nothing, as Alembic's box type has them.
    pub(super) const EMPTY: SampleBounds = SampleBounds { low: [f64::MAX; 3], high: [-f64::MAX; 3] };

    pub(super) fn of(points: &[[f32; 3]]) -> SampleBounds {
        let (mut low, mut high) = ([f32::MAX; 3], [-f32::MAX; 3]);
        for p in points {
            for k in 0..3 {
                low[k] = low[k].min(p[k]);
                high[k] = high[k].max(p[k]);
            }
        }
        if points.is_empty() {
            return SampleBounds::EMPTY;
        }
        SampleBounds { low: low.map(f64::from), high: high.map(f64::from) }
    }

    pub(super) fn union(&self, other: &SampleBounds) -> SampleBounds {
        let pick = |f: fn(f64, f64) -> f64, a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|k| f(a[k], b[k]));
        SampleBounds { low: pick(f64::min, self.low, other.low), high: pick(f64::max, self.high, other.high) }
    }

    /// Bounds of what these bounds hold once it is moved: of the corners.
    pub(super) fn moved(&self, pose: &BodyPose) -> SampleBounds {
        if self.low[0] > self.high[0] {
            return *self;
        }
        let ends = [self.low, self.high];
        let corner = |k: usize| {
            let own = DVec3::from_array([0, 1, 2].map(|axis| ends[k >> axis & 1][axis]));
            let at = pose.of_point(own).to_array();
            SampleBounds { low: at, high: at }
        };
        (0..8).map(corner).fold(SampleBounds::EMPTY, |all, own| all.union(&own))
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        self.low.into_iter().chain(self.high).flat_map(f64::to_le_bytes).collect()
    }
}
