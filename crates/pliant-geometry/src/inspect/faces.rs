//! Faces that are none, and faces that are there twice.

use super::Findings;
use super::exact::collinear;
use crate::poly::Polygons;
use glam::DVec3;

/// What is wrong with single faces.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FaceFaults {
    /// Faces that name a vertex more than once, or fewer than three.
    pub repeated: Findings<u32>,
    /// Other faces whose corners all lie on one line.
    pub zero_area: Findings<u32>,
    /// Faces with the same vertices as an earlier one, walked the same way: (earlier, later).
    pub duplicate: Findings<[u32; 2]>,
    /// Faces with the same vertices as an earlier one, walked the other way or in another order.
    pub opposite: Findings<[u32; 2]>,
}

impl FaceFaults {
    pub(crate) fn new(faces: &Polygons, positions: &[DVec3]) -> FaceFaults {
        let mut faults = FaceFaults::default();
        let mut sorted = Vec::new();
        for (f, face) in faces.iter().enumerate() {
            if repeats(face, &mut sorted) {
                faults.repeated.push(f as u32);
            } else if on_a_line(face, positions) {
                faults.zero_area.push(f as u32);
            }
        }
        for [first, later, same] in copies(faces) {
            let found = if same == 1 { &mut faults.duplicate } else { &mut faults.opposite };
            found.push([first, later]);
        }
        faults
    }

    /// How many there are.
    pub fn defects(&self) -> usize {
        self.repeated.count + self.zero_area.count + self.duplicate.count + self.opposite.count
    }
}

/// Whether a face names a vertex twice or has fewer than three corners.
fn repeats(face: &[u32], sorted: &mut Vec<u32>) -> bool {
    if let &[a, b, c] = face {
        return a == b || b == c || c == a;
    }
    sorted.clear();
    sorted.extend_from_slice(face);
    sorted.sort_unstable();
    face.len() < 3 || sorted.windows(2).any(|w| w[0] == w[1])
}

/// Whether all corners of a face lie on one line, exactly.
pub(crate) fn on_a_line(face: &[u32], positions: &[DVec3]) -> bool {
    let mut corners = face.iter().map(|&v| positions[v as usize]);
    let Some(a) = corners.next() else { return true };
    let Some(b) = corners.find(|&p| p != a) else { return true };
    corners.all(|p| collinear(a, b, p))
}

/// The faces that have the same vertices as an earlier one, in order: the first such face, the later one, and 1
/// if it is walked the same way.
pub(crate) fn copies(faces: &Polygons) -> Vec<[u32; 3]> {
    // Faces with the same sum of mixed vertex numbers are compared; the sum alone proves nothing.
    let mut keys: Vec<(u64, u32)> = faces
        .iter()
        .enumerate()
        .filter(|(_, face)| face.len() > 2)
        .map(|(f, face)| (face.iter().map(|&v| mix(v)).fold(0, u64::wrapping_add), f as u32))
        .collect();
    keys.sort_unstable();
    let corners = |f: u32| &faces.corners()[faces.range(f as usize)];
    let mut found = Vec::new();
    // Different sets of vertices of one key; nearly always one.
    let mut kinds: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    for group in keys.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() > 1) {
        kinds.clear();
        for &(_, f) in group {
            let mut sorted = corners(f).to_vec();
            sorted.sort_unstable();
            let Some((_, members)) = kinds.iter_mut().find(|(set, _)| *set == sorted) else {
                kinds.push((sorted, vec![f]));
                continue;
            };
            // The first one walked the same way, else the first with these vertices. More than a few ways to walk
            // the same vertices are not told apart.
            let same = members.iter().copied().find(|&m| same_walk(corners(m), corners(f)));
            found.push([same.unwrap_or(members[0]), f, u32::from(same.is_some())]);
            if same.is_none() && members.len() < 4 {
                members.push(f);
            }
        }
    }
    found.sort_unstable_by_key(|&[_, later, _]| later);
    found
}

/// Whether two lists are the same but for where they begin.
fn same_walk(a: &[u32], b: &[u32]) -> bool {
    a.len() == b.len()
        && b.iter().enumerate().any(|(k, &v)| v == a[0] && a.iter().eq(b[k..].iter().chain(&b[..k])))
}

fn mix(v: u32) -> u64 {
    let z = (u64::from(v) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_told_from_faces_turned_over() {
        let mut faces = Polygons::default();
        let list: [&[u32]; 7] =
            [&[0, 1, 2], &[1, 2, 0], &[2, 1, 0], &[0, 1, 2, 3], &[0, 2, 1, 3], &[1, 2, 3, 0], &[1, 1, 1]];
        list.iter().for_each(|f| faces.push(f));
        assert_eq!(copies(&faces), [[0, 1, 1], [0, 2, 0], [3, 4, 0], [3, 5, 1]]);
        let positions = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE];
        let faults = FaceFaults::new(&faces, &positions);
        assert_eq!(faults.repeated.first, [6]);
        assert_eq!((faults.duplicate.count, faults.opposite.count, faults.zero_area.count), (2, 2, 0));
    }

    #[test]
    fn a_line_is_a_line_exactly() {
        let third = DVec3::new(1.0, 2.0, 3.0);
        let points = [DVec3::ZERO, third, third * 2.0, third * 4.0, third * 4.0 + DVec3::X * 1e-15];
        assert!(on_a_line(&[0, 1, 2, 3], &points));
        assert!(!on_a_line(&[0, 1, 2, 4], &points));
        assert!(on_a_line(&[1, 1, 2, 2], &points));
    }
}
