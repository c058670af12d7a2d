//! Inside or outside a triangle mesh, by the generalised winding number; and the nearest point on it.
//!
//! How often the mesh winds about a point: 1 inside, 0 outside, and something sensible between where the mesh
//! has holes or crosses itself. Far groups of triangles count as one dipole (Barill and others 2018, "Fast
//! winding numbers for soups and clouds"), so a query costs about the logarithm of the triangles.

use crate::mesh::TriMesh;
use glam::DVec3;

/// A group counts as one dipole from this many of its radii away; the error is then below a few percent.
const FAR: f64 = 2.5;
const LEAF: usize = 8;

/// A mesh prepared for many queries.
pub(crate) struct Winding {
    triangles: Vec<[DVec3; 3]>,
    nodes: Vec<Node>,
}

struct Node {
    range: (usize, usize),
    center: DVec3,
    radius: f64,
    /// Sum of area-weighted normals.
    dipole: DVec3,
    /// Where the second child is; the first follows its parent. Zero for leaves.
    second: usize,
}

impl Winding {
    pub fn new(mesh: &TriMesh) -> Winding {
        let triangles = mesh.triangles.iter().map(|t| t.map(|i| mesh.positions[i as usize])).collect();
        let mut winding = Winding { triangles, nodes: Vec::new() };
        if !winding.triangles.is_empty() {
            winding.build(0, winding.triangles.len());
        }
        winding
    }

    fn build(&mut self, lo: usize, hi: usize) {
        let group = &mut self.triangles[lo..hi];
        let middle = |t: &[DVec3; 3]| (t[0] + t[1] + t[2]) / 3.0;
        let mut area = 0.0;
        let (mut weighted, mut plain, mut dipole) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for t in group.iter() {
            let normal = (t[1] - t[0]).cross(t[2] - t[0]) * 0.5;
            let m = middle(t);
            area += normal.length();
            weighted += m * normal.length();
            plain += m;
            dipole += normal;
            min = min.min(m);
            max = max.max(m);
        }
        let center = if area > 0.0 { weighted / area } else { plain / group.len() as f64 };
        let radius = group.iter().flatten().map(|p| p.distance(center)).fold(0.0, f64::max);
        let index = self.nodes.len();
        self.nodes.push(Node { range: (lo, hi), center, radius, dipole, second: 0 });
        if hi - lo > LEAF {
            let size = max - min;
            let axis =
                if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
            let half = (hi - lo) / 2;
            group.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]));
            self.build(lo, lo + half);
            self.nodes[index].second = self.nodes.len();
            self.build(lo + half, hi);
        }
    }

    /// How often the mesh winds about `p`.
    pub fn number(&self, p: DVec3) -> f64 {
        if self.nodes.is_empty() { 0.0 } else { self.solid_angle(0, p) / (4.0 * std::f64::consts::PI) }
    }

    fn solid_angle(&self, index: usize, p: DVec3) -> f64 {
        let node = &self.nodes[index];
        let away = node.center - p;
        let distance = away.length();
        if distance > FAR * node.radius {
            return node.dipole.dot(away) / (distance * distance * distance);
        }
        if node.second == 0 {
            return self.triangles[node.range.0..node.range.1].iter().map(|t| solid_angle(t, p)).sum();
        }
        self.solid_angle(index + 1, p) + self.solid_angle(node.second, p)
    }
}

impl Winding {
    /// The point of the mesh nearest to `p`; `None` for a mesh without triangles.
    pub fn nearest(&self, p: DVec3) -> Option<DVec3> {
        let mut best = (f64::INFINITY, None);
        // The nearer child is on top, so that the other one can mostly be passed over.
        let mut open = vec![(0.0, 0)];
        while let Some((least, index)) = open.pop() {
            let Some(node) = self.nodes.get(index).filter(|_| least < best.0) else { continue };
            if node.second == 0 {
                for t in &self.triangles[node.range.0..node.range.1] {
                    let q = nearest_on_triangle(t, p);
                    let distance = q.distance(p);
                    if distance < best.0 {
                        best = (distance, Some(q));
                    }
                }
                continue;
            }
            let gap =
                |child: usize| (self.nodes[child].center.distance(p) - self.nodes[child].radius).max(0.0);
            let mut children = [index + 1, node.second].map(|child| (gap(child), child));
            if children[0].0 < children[1].0 {
                children.swap(0, 1);
            }
            open.extend(children);
        }
        best.1
    }
}

/// The point of a triangle nearest to `p` (Ericson 2005, "Real-time collision detection", 5.1.5).
fn nearest_on_triangle(&[a, b, c]: &[DVec3; 3], p: DVec3) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let dots = |q: DVec3| (ab.dot(p - q), ac.dot(p - q));
    let ((d1, d2), (d3, d4), (d5, d6)) = (dots(a), dots(b), dots(c));
    let (in_a, in_b, in_c) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let part = |above: f64, below: f64| if below > 0.0 { (above / below).clamp(0.0, 1.0) } else { 0.0 };
    if d1 <= 0.0 && d2 <= 0.0 {
        a
    } else if d3 >= 0.0 && d4 <= d3 {
        b
    } else if d6 >= 0.0 && d5 <= d6 {
        c
    } else if in_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        a + ab * part(d1, d1 - d3)
    } else if in_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        a + ac * part(d2, d2 - d6)
    } else if in_a <= 0.0 && d4 >= d3 && d5 >= d6 {
        b + (c - b) * part(d4 - d3, d4 - d3 + d5 - d6)
    } else {
        let whole = in_a + in_b + in_c;
        a + ab * part(in_b, whole) + ac * part(in_c, whole)
    }
}

/// Solid angle of a triangle seen from `p` (van Oosterom and Strackee 1983).
fn solid_angle(t: &[DVec3; 3], p: DVec3) -> f64 {
    let [a, b, c] = t.map(|q| q - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let above = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * above.atan2(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    /// Against a search through weights of the corners, for points all around triangles, flat ones too.
    #[test]
    fn the_nearest_point_of_a_triangle_is_nearest() {
        let mut rng = SplitMix64::new(4);
        for round in 0..300 {
            let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - DVec3::ONE;
            let (a, b, p) = (random(), random(), random() * 2.0);
            let c = if round % 10 == 0 { a.lerp(b, 0.3) } else { random() };
            let got = nearest_on_triangle(&[a, b, c], p).distance(p);
            let steps = 60;
            let grid = (0..=steps).flat_map(|i| (0..=steps - i).map(move |j| (i, j)));
            let at =
                |(i, j): (i32, i32)| a + ((b - a) * f64::from(i) + (c - a) * f64::from(j)) / f64::from(steps);
            let least = grid.map(|ij| at(ij).distance(p)).fold(f64::INFINITY, f64::min);
            assert!(got <= least + 1e-12 && got > least - 0.06, "{round}: {got} {least}");
        }
    }

    #[test]
    fn the_nearest_point_of_a_mesh_is_that_of_its_nearest_triangle() {
        let mut rng = SplitMix64::new(9);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        let positions: Vec<DVec3> = (0..300).map(|i| random() * 0.3 + f64::from(i / 30) * 0.2).collect();
        let triangles = (0..100).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let winding = Winding::new(&TriMesh { positions, triangles });
        for _ in 0..200 {
            let p = random() * 3.0 - 0.5;
            let each = winding.triangles.iter().map(|t| nearest_on_triangle(t, p).distance(p));
            let least = each.fold(f64::INFINITY, f64::min);
            assert_eq!(winding.nearest(p).map(|q| q.distance(p)), Some(least));
        }
        assert_eq!(Winding::new(&TriMesh::default()).nearest(DVec3::ZERO), None);
    }
}
