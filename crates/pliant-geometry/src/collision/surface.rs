//! What a body collides with: vertices, and the triangles and edges between them, with trees from its rest shape.

use super::closest::{edge_edge, vertex_triangle};
use super::rest_tree::RestTree;
use crate::GeometryError;
use crate::box_tree::{Bounds, around};
use crate::colliders::{incidence, is_closed};
use crate::triangle::weighted;
use glam::DVec3;

/// Vertices, triangles and edges of a body that others touch, as it is at rest. It never changes, so copies of a body
/// share one; where one of them is now is in its [`SweptBoxes`](super::SweptBoxes).
///
/// Vertices are numbered by themselves; [`CollisionSurface::places`] tells where each is found among the body's points. A
/// cloud has no triangles: its vertices are balls.
#[derive(Clone, Debug, Default)]
pub struct CollisionSurface {
    places: Vec<u32>,
    rest: Vec<DVec3>,
    /// Of clouds; else empty.
    radii: Vec<f64>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// Triangles around each vertex: `around[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    around: Vec<u32>,
    closed: bool,
    pub(super) vertex_tree: RestTree,
    pub(super) triangle_tree: RestTree,
    pub(super) edge_tree: RestTree,
}

impl CollisionSurface {
    /// Triangles between points of a body, by their numbers in it. Points of no triangle are no vertices. Points in the
    /// same place are different vertices: join those first that never part.
    pub fn new(rest: &[DVec3], triangles: &[[u32; 3]]) -> Result<CollisionSurface, GeometryError> {
        let fault = |text: String| Err(GeometryError::new(text, "repair the mesh"));
        if let Some(i) = triangles.iter().flatten().find(|i| **i as usize >= rest.len()) {
            return fault(format!("a triangle refers to vertex {i}, and there are {}", rest.len()));
        }
        if let Some(t) = triangles.iter().position(|[a, b, c]| a == b || b == c || c == a) {
            return fault(format!("triangle {t} has a vertex twice"));
        }
        let mut number = vec![u32::MAX; rest.len()];
        triangles.iter().flatten().for_each(|&i| number[i as usize] = 0);
        let places: Vec<u32> = (0..rest.len() as u32).filter(|i| number[*i as usize] == 0).collect();
        for (v, &place) in places.iter().enumerate() {
            number[place as usize] = v as u32;
        }
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|i| number[i as usize])).collect();
        let rest = places.iter().map(|i| rest[*i as usize]).collect();
        CollisionSurface { places, rest, triangles, ..CollisionSurface::default() }.prepared()
    }

    /// All points of a body as balls.
    pub fn cloud(rest: &[DVec3], radii: &[f64]) -> Result<CollisionSurface, GeometryError> {
        if rest.len() != radii.len() {
            let text = format!("there are {} points and {} radii", rest.len(), radii.len());
            return Err(GeometryError::new(text, "give each point its radius"));
        }
        if let Some(i) = radii.iter().position(|r| !(*r >= 0.0 && r.is_finite())) {
            let text = format!("point {i} has a radius of {}", radii[i]);
            return Err(GeometryError::new(text, "radii are finite and not negative"));
        }
        let places = (0..rest.len() as u32).collect();
        let (rest, radii) = (rest.to_vec(), radii.to_vec());
        CollisionSurface { places, rest, radii, ..CollisionSurface::default() }.prepared()
    }

    fn prepared(mut self) -> Result<CollisionSurface, GeometryError> {
        if let Some(v) = self.rest.iter().position(|p| !p.is_finite()) {
            let text = format!("vertex {} is not finite", self.places[v]);
            return Err(GeometryError::new(text, "repair the mesh"));
        }
        let sides = self.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        self.edges = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        self.edges.sort_unstable();
        self.edges.dedup();
        (self.offsets, self.around) = incidence(&self.triangles, self.rest.len());
        self.closed = !self.triangles.is_empty() && is_closed(&self.triangles);
        let at = |v: u32| self.rest[v as usize];
        let tree = |boxes: Vec<Bounds>| RestTree::new(&boxes);
        self.vertex_tree = tree(self.rest.iter().map(|&p| (p, p)).collect());
        self.triangle_tree = tree(self.triangles.iter().map(|t| around(t.map(at))).collect());
        self.edge_tree = tree(self.edges.iter().map(|e| around(e.map(at))).collect());
        Ok(self)
    }

    /// The place of each vertex among the points of the body.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Where the vertices are at rest.
    pub fn rest(&self) -> &[DVec3] {
        &self.rest
    }

    /// Triangles between vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Every edge of the triangles once, the lower vertex first, sorted.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Whether every edge lies between two triangles that are turned alike, so that there is an inside.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// How far a vertex reaches by itself: the radius of a ball of a cloud, else 0.
    #[inline(always)]
    pub fn radius(&self, vertex: u32) -> f64 {
        self.radii.get(vertex as usize).copied().unwrap_or(0.0)
    }

    /// The triangles around a vertex.
    pub fn around(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.around[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// How far a vertex and a triangle are from each other at rest; 0 for one of its own.
    pub fn rest_vertex_triangle(&self, vertex: u32, triangle: u32) -> f64 {
        let corners = self.triangles[triangle as usize].map(|v| self.rest[v as usize]);
        let p = self.rest[vertex as usize];
        p.distance(weighted(corners, vertex_triangle(p, corners)))
    }

    /// How far two edges are from each other at rest; 0 for those with a common vertex.
    pub fn rest_edge_edge(&self, first: u32, second: u32) -> f64 {
        let [p, q] = [first, second].map(|e| self.edges[e as usize].map(|v| self.rest[v as usize]));
        let [s, t] = edge_edge(p, q);
        p[0].lerp(p[1], s).distance(q[0].lerp(q[1], t))
    }

    /// Whether a triangle has a vertex.
    #[inline(always)]
    pub(super) fn has_vertex(&self, triangle: u32, vertex: u32) -> bool {
        let [a, b, c] = self.triangles[triangle as usize];
        (a == vertex) | (b == vertex) | (c == vertex)
    }

    /// Whether two edges have a common vertex.
    #[inline(always)]
    pub(super) fn edges_meet(&self, first: u32, second: u32) -> bool {
        let ([a, b], [c, d]) = (self.edges[first as usize], self.edges[second as usize]);
        (a == c) | (a == d) | (b == c) | (b == d)
    }
}
