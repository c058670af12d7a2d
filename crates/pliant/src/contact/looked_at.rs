//! The points of a body that are looked at when contacts are sought: all, or those that are near to anything.

/// Numbers of points, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct LookedAt {
    /// How many there are, if these are all.
    all: Option<usize>,
    points: Vec<u32>,
}

impl LookedAt {
    /// Makes room for so many.
    pub fn reserve(&mut self, points: usize) {
        self.points.clear();
        self.points.reserve(points);
    }

    /// All points of a body that has so many.
    pub fn take_all(&mut self, points: usize) {
        self.all = Some(points);
    }

    /// These points.
    pub fn take(&mut self, points: impl Iterator<Item = u32>) {
        self.all = None;
        self.points.clear();
        self.points.extend(points);
        self.points.sort_unstable();
    }

    pub fn len(&self) -> usize {
        self.all.unwrap_or(self.points.len())
    }

    /// The number of the `k`th of them.
    #[inline(always)]
    pub fn get(&self, k: usize) -> usize {
        if self.all.is_some() { k } else { self.points[k] as usize }
    }
}
