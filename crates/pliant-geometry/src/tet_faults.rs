//! What can be wrong with a tetrahedral mesh, found all at once.

use crate::{GeometryError, TetMesh};
use glam::DVec3;
use std::fmt;

/// A tetrahedron whose volume is below this share of the cube over its longest edge is flat.
const FLAT: f64 = 1e-12;
/// How many faults one error spells out.
const SHOWN: usize = 10;

/// One thing wrong with a tetrahedral mesh. Elements and points count from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TetFault {
    /// A coordinate is not a number, infinite, or too large to do sums with.
    Point {
        /// Index of the point.
        point: usize,
        /// Where it is said to be.
        position: DVec3,
    },
    /// A corner names a point that does not exist.
    OutOfRange {
        /// Which tetrahedron.
        element: usize,
        /// The point it names.
        point: u32,
        /// How many points there are.
        points: usize,
    },
    /// Two corners are the same point.
    RepeatedCorner {
        /// Which tetrahedron.
        element: usize,
        /// The point it names twice.
        point: u32,
    },
    /// The corners lie in a plane, to rounding.
    Flat {
        /// Which tetrahedron.
        element: usize,
    },
    /// It has the four corners of an earlier tetrahedron, in whatever order.
    Duplicate {
        /// Which tetrahedron.
        element: usize,
        /// The earlier one.
        first: usize,
    },
}

impl TetFault {
    /// The tetrahedron at fault, if it is one.
    pub fn element(&self) -> Option<usize> {
        match *self {
            TetFault::Point { .. } => None,
            TetFault::OutOfRange { element, .. }
            | TetFault::RepeatedCorner { element, .. }
            | TetFault::Flat { element }
            | TetFault::Duplicate { element, .. } => Some(element),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            TetFault::Point { .. } => {
                "every coordinate must be a finite number, of a size one can do sums with"
            }
            TetFault::OutOfRange { .. } => {
                "the mesh may be cut off, or its indices count from another number"
            }
            TetFault::RepeatedCorner { .. } | TetFault::Flat { .. } => {
                "remove flat tetrahedra, or mesh again with a quality bound (TetGen -q, Gmsh Mesh.Optimize)"
            }
            TetFault::Duplicate { .. } => "remove the second of them: it would count the material twice",
        }
    }

    /// The fault in words, with elements and points named as the caller knows them.
    pub(crate) fn named(
        &self,
        element_name: &dyn Fn(usize) -> String,
        point_name: &dyn Fn(usize) -> String,
    ) -> String {
        match *self {
            TetFault::Point { point, position: DVec3 { x, y, z } } => {
                format!("{} is at ({x}, {y}, {z})", point_name(point))
            }
            TetFault::OutOfRange { element, point, points } => {
                format!("{} names point {point} but there are {points}", element_name(element))
            }
            TetFault::RepeatedCorner { element, point } => {
                format!("{} names {} twice", element_name(element), point_name(point as usize))
            }
            TetFault::Flat { element } => format!("{} has no volume", element_name(element)),
            TetFault::Duplicate { element, first } => {
                format!("{} has the corners of {}", element_name(element), element_name(first))
            }
        }
    }
}

impl fmt::Display for TetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(&|e| format!("tetrahedron {e}"), &|p| format!("point {p}")))
    }
}

impl TetMesh {
    /// Everything wrong with the mesh, first the points, then the tetrahedra in order. Inverted tetrahedra and
    /// unreferenced points are not faults: bodies made of the mesh turn the first and leave out the second.
    pub fn faults(&self) -> Vec<TetFault> {
        let mut faults = Vec::new();
        let usable = |p: DVec3| p.is_finite() && p.abs().max_element() < 1e100;
        for (point, &position) in self.points.iter().enumerate() {
            if !usable(position) {
                faults.push(TetFault::Point { point, position });
            }
        }
        let mut sorted: Vec<([u32; 4], usize)> = Vec::with_capacity(self.tetrahedra.len());
        for (element, &t) in self.tetrahedra.iter().enumerate() {
            let points = self.points.len();
            if let Some(&point) = t.iter().find(|&&i| i as usize >= points) {
                faults.push(TetFault::OutOfRange { element, point, points });
                continue;
            }
            let mut key = t;
            key.sort_unstable();
            if let Some(pair) = key.windows(2).find(|pair| pair[0] == pair[1]) {
                faults.push(TetFault::RepeatedCorner { element, point: pair[0] });
                continue;
            }
            sorted.push((key, element));
            let corners = t.map(|i| self.points[i as usize]);
            if corners.iter().all(|&p| usable(p)) && is_flat(corners) {
                faults.push(TetFault::Flat { element });
            }
        }
        sorted.sort_unstable();
        for same in sorted.chunk_by(|a, b| a.0 == b.0) {
            let first = same[0].1;
            faults.extend(same[1..].iter().map(|&(_, element)| TetFault::Duplicate { element, first }));
        }
        faults.sort_by_key(TetFault::element);
        faults
    }
}

/// Whether four points lie in a plane, as far as their coordinates can tell.
fn is_flat([a, b, c, d]: [DVec3; 4]) -> bool {
    let [ab, ac, ad] = [b - a, c - a, d - a];
    let longest2 =
        [ab, ac, ad, c - b, d - b, d - c].map(DVec3::length_squared).into_iter().fold(0.0, f64::max);
    let far = [a, b, c, d].map(|p| p.abs().max_element()).into_iter().fold(0.0, f64::max);
    // Coordinates are known to half a unit in the last place; what that can make of a volume counts as none.
    let rounding = 4.0 * f64::EPSILON * far * longest2;
    ab.dot(ac.cross(ad)).abs() <= FLAT * longest2 * longest2.sqrt() + rounding
}

/// One error that spells out the first faults and counts the rest; `None` without faults.
pub(crate) fn fault_error(faults: &[TetFault], words: &dyn Fn(&TetFault) -> String) -> Option<GeometryError> {
    let first = faults.first()?;
    let shown: Vec<String> = faults.iter().take(SHOWN).map(words).collect();
    let mut message = shown.join("; ");
    if faults.len() > SHOWN {
        message += &format!("; and {} more faults", faults.len() - SHOWN);
    }
    let mut helps: Vec<&str> = vec![first.help()];
    for help in faults.iter().take(SHOWN).map(TetFault::help) {
        if !helps.contains(&help) {
            helps.push(help);
        }
    }
    Some(GeometryError::new(message, helps.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(tetrahedra: Vec<[u32; 4]>) -> TetMesh {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, 1.0, 0.0)];
        TetMesh { points, tetrahedra, regions: Vec::new() }
    }

    #[test]
    fn every_kind_of_fault_is_found_with_its_element() {
        let mut bad =
            mesh(vec![[0, 1, 2, 3], [0, 1, 2, 9], [0, 1, 1, 3], [0, 1, 2, 4], [3, 2, 1, 0], [1, 2, 3, 4]]);
        bad.points.push(DVec3::new(0.0, f64::NAN, 1.0));
        let faults = bad.faults();
        let elements: Vec<_> = faults.iter().map(TetFault::element).collect();
        assert_eq!(elements, [None, Some(1), Some(2), Some(3), Some(4)]);
        assert!(matches!(faults[3], TetFault::Flat { .. }));
        assert_eq!(faults[4], TetFault::Duplicate { element: 4, first: 0 });
        assert_eq!(faults[1].to_string(), "tetrahedron 1 names point 9 but there are 6");
    }

    #[test]
    fn flat_is_relative_to_size_and_place() {
        for (scale, far) in [(1e-9, 0.0), (1.0, 0.0), (1e9, 0.0), (1.0, 1e6)] {
            let at = |p: DVec3| p * scale + DVec3::splat(far);
            let tet = |height: f64| [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.3, 0.3, height)].map(at);
            assert!(!is_flat(tet(1e-6)), "{scale} {far}");
            assert!(is_flat(tet(0.0)), "{scale} {far}");
        }
    }

    #[test]
    fn one_error_counts_what_it_does_not_show() {
        let faults = mesh(vec![[0, 0, 1, 2]; 15]).faults();
        let error = fault_error(&faults, &TetFault::to_string).unwrap();
        assert!(
            error.message.contains("tetrahedron 9 names") && error.message.ends_with("and 5 more faults")
        );
    }
}
