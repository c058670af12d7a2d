//! Points as structure of arrays: one contiguous column per coordinate.

use glam::DVec3;

/// Positions or velocities of all particles. Columns suit SIMD lanes, and are at once the three
/// right-hand sides of a linear solve. They have one length, which the team of threads relies on: so they
/// are private, and nothing here changes the length of one alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

/// Three columns that are to be points have different lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnevenColumnsError {
    /// Lengths of the x, y and z columns.
    pub lengths: [usize; 3],
}

impl std::fmt::Display for UnevenColumnsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.lengths;
        write!(f, "there are {x} x, {y} y and {z} z coordinates; points need as many of each")
    }
}

impl std::error::Error for UnevenColumnsError {}

impl Points {
    /// No points.
    pub(crate) const EMPTY: Points = Points { x: Vec::new(), y: Vec::new(), z: Vec::new() };

    /// `count` points at the origin.
    pub fn zeros(count: usize) -> Points {
        Points { x: vec![0.0; count], y: vec![0.0; count], z: vec![0.0; count] }
    }

    /// Puts all at the origin.
    pub(crate) fn clear(&mut self) {
        [&mut self.x, &mut self.y, &mut self.z].into_iter().for_each(|column| column.fill(0.0));
    }

    /// Makes them so many, new ones at the origin; allocates only to grow beyond what there ever was.
    pub(crate) fn resize(&mut self, count: usize) {
        [&mut self.x, &mut self.y, &mut self.z].into_iter().for_each(|column| column.resize(count, 0.0));
    }

    /// Points of these coordinates; the columns must have one length.
    pub fn from_columns(x: Vec<f64>, y: Vec<f64>, z: Vec<f64>) -> Result<Points, UnevenColumnsError> {
        match x.len() == y.len() && x.len() == z.len() {
            true => Ok(Points { x, y, z }),
            false => Err(UnevenColumnsError { lengths: [x.len(), y.len(), z.len()] }),
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Point `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> DVec3 {
        DVec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// Replaces point `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, p: impl Into<DVec3>) {
        let p = p.into();
        (self.x[i], self.y[i], self.z[i]) = (p.x, p.y, p.z);
    }

    /// Adds a point at the end.
    pub fn push(&mut self, p: impl Into<DVec3>) {
        let p = p.into();
        self.x.push(p.x);
        self.y.push(p.y);
        self.z.push(p.z);
    }

    /// All points in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Copies all coordinates from points of the same number, without allocating.
    pub fn copy_from(&mut self, other: &Points) {
        self.x.copy_from_slice(&other.x);
        self.y.copy_from_slice(&other.y);
        self.z.copy_from_slice(&other.z);
    }

    /// The three columns, of one length.
    pub fn columns(&self) -> [&[f64]; 3] {
        [&self.x, &self.y, &self.z]
    }

    /// The three columns, writable.
    pub fn columns_mut(&mut self) -> PointsMut<'_> {
        PointsMut { x: &mut self.x, y: &mut self.y, z: &mut self.z }
    }

    /// Index of the first point with a coordinate that is not a finite number.
    pub fn first_non_finite(&self) -> Option<usize> {
        (0..self.len()).find(|&i| !self.get(i).is_finite())
    }
}

impl FromIterator<DVec3> for Points {
    fn from_iter<I: IntoIterator<Item = DVec3>>(points: I) -> Points {
        let mut list = Points::default();
        points.into_iter().for_each(|p| list.push(p));
        list
    }
}

/// A writable stretch of points.
#[derive(Debug)]
pub struct PointsMut<'a> {
    /// First coordinate of every particle, m or m/s.
    pub x: &'a mut [f64],
    /// Second coordinate of every particle; up is y.
    pub y: &'a mut [f64],
    /// Third coordinate of every particle.
    pub z: &'a mut [f64],
}

impl PointsMut<'_> {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Point `i` of the stretch.
    #[inline(always)]
    pub fn get(&self, i: usize) -> DVec3 {
        DVec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// Replaces point `i` of the stretch.
    #[inline(always)]
    pub fn set(&mut self, i: usize, p: impl Into<DVec3>) {
        let p = p.into();
        (self.x[i], self.y[i], self.z[i]) = (p.x, p.y, p.z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_one_length() {
        let uneven = Points::from_columns(vec![0.0; 3], vec![0.0; 4], vec![0.0; 3]);
        assert_eq!(uneven, Err(UnevenColumnsError { lengths: [3, 4, 3] }));
        let points = Points::from_columns(vec![1.0], vec![2.0], vec![3.0]);
        assert_eq!(points, Ok([DVec3::new(1.0, 2.0, 3.0)].into_iter().collect()));
    }
}
