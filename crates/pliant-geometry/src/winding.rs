//! Inside or outside a triangle mesh, by the generalised winding number.
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

/// Solid angle of a triangle seen from `p` (van Oosterom and Strackee 1983).
fn solid_angle(t: &[DVec3; 3], p: DVec3) -> f64 {
    let [a, b, c] = t.map(|q| q - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let above = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * above.atan2(below)
}
