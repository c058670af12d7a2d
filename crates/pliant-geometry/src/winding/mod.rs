//! Inside or outside a triangle mesh, by the generalised winding number; and the nearest point on it.
//!
//! How often the mesh winds about a point: 1 inside, 0 outside, and something sensible between where the mesh
//! has holes or crosses itself. Far groups of triangles count as one expansion of third order (Barill and others
//! 2018, "Fast winding numbers for soups and clouds"), so a query costs about the logarithm of the triangles.

mod block;
mod moments;
mod nearest;
mod segment;
mod tree;

use crate::TriMesh;
use block::TriangleBlock;
use glam::DVec3;
use tree::WindingNode;

/// A triangle mesh prepared for many questions: how often it winds about a point, and where it is nearest.
///
/// The mesh may be anything: open, crossing itself, a soup of loose triangles, with flat ones among them. Numbers
/// are within 1e-3 of the exact sum over all triangles, and mostly within 1e-5.
///
/// ```
/// use glam::DVec3;
/// use pliant_geometry::{Winding, shapes};
///
/// let ball = shapes::ball(0.5, 0.1).map(|shape| Winding::new(&shape.surface))?;
/// assert!((ball.number(DVec3::ZERO) - 1.0).abs() < 1e-3);
/// assert!(ball.number(DVec3::splat(2.0)).abs() < 1e-3);
/// # Ok::<(), pliant_geometry::GeometryError>(())
/// ```
pub struct Winding {
    blocks: Vec<TriangleBlock>,
    nodes: Vec<WindingNode>,
}

impl Winding {
    /// Prepares a mesh, whose indices must be in range and whose positions finite.
    pub fn new(mesh: &TriMesh) -> Winding {
        tree::build(mesh.triangles.iter().map(|t| t.map(|i| mesh.positions[i as usize])).collect())
    }

    /// The same of loose triangles, whose corners must be finite.
    pub(crate) fn of_triangles(triangles: Vec<[DVec3; 3]>) -> Winding {
        tree::build(triangles)
    }

    /// How often the mesh winds about `p`. A point on a triangle sees that triangle under no angle, so that the
    /// middle of a cube's face has ½, its edge ¼ and its corner ⅛.
    pub fn number(&self, p: impl Into<DVec3>) -> f64 {
        let p = p.into();
        let mut sum = 0.0;
        self.visit(|node| match node.far(p) {
            Some(angle) => {
                sum += angle;
                false
            }
            None => {
                if let Some(block) = node.block() {
                    sum += self.blocks[block].solid_angle(p);
                }
                true
            }
        });
        sum / (4.0 * std::f64::consts::PI)
    }

    /// The numbers of many points on so many threads (at least one); the same to the bit for any number of them.
    pub fn numbers(&self, points: &[DVec3], threads: usize) -> Vec<f64> {
        crate::parallel::map(points, threads, |&p| self.number(p))
    }

    /// Whether the mesh winds about `p` at least half a time, in either direction: inside, for a closed mesh, one
    /// with holes, or one turned inside out (which winds −1 times).
    pub fn inside(&self, p: impl Into<DVec3>) -> bool {
        self.number(p).abs() > 0.5
    }

    /// Walks the tree in order; `open` says whether to go on to a node's children.
    fn visit<'a>(&'a self, mut open: impl FnMut(&'a WindingNode) -> bool) {
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            index = if open(node) { index + 1 } else { node.after };
        }
    }
}

#[cfg(test)]
mod tests;
