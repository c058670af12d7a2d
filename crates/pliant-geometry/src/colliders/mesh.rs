//! A triangle mesh that things collide with: its tree, what lies around each vertex, and whether it is closed.

use crate::box_tree::{Bounds, BoxTree, around};
use crate::triangle::unit_normal;
use crate::{GeometryError, TriMesh};
use glam::DVec3;

/// A mesh prepared for collisions. Open ones have two sides and no inside.
#[derive(Clone, Debug)]
pub struct ColliderMesh {
    mesh: TriMesh,
    pub(super) tree: BoxTree,
    /// Boxes of the tree around the mesh as it was made.
    fitted: Vec<Bounds>,
    /// Triangles around each vertex: `around[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    around: Vec<u32>,
    closed: bool,
    size: f64,
    /// Vertices that stick out: faces around them turn by more than a few degrees.
    sharp: Vec<u32>,
}

/// The cosine of how far faces around a vertex turn away from its normal at least, where it sticks out.
const SHARP: f64 = 0.95;

impl PartialEq for ColliderMesh {
    fn eq(&self, other: &ColliderMesh) -> bool {
        self.mesh == other.mesh
    }
}

impl ColliderMesh {
    /// Prepares a mesh; every fault at once. One that is closed must show its outside. Vertices in the same place count as
    /// one, as files repeat them where normals or textures change; all of them keep their number.
    pub fn new(mut mesh: TriMesh) -> Result<ColliderMesh, Vec<GeometryError>> {
        let mut faults = Vec::new();
        let count = mesh.positions.len();
        if mesh.triangles.is_empty() {
            faults.push(GeometryError::new("it has no triangles", "give a mesh with faces"));
        }
        if let Some(i) = mesh.positions.iter().position(|p| !p.is_finite()) {
            faults.push(GeometryError::new(format!("vertex {i} is not finite"), "repair the mesh"));
        }
        if let Some(i) = mesh.triangles.iter().flatten().find(|i| **i as usize >= count) {
            let text = format!("a triangle refers to vertex {i}, and there are {count}");
            faults.push(GeometryError::new(text, "repair the mesh"));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
        let size = (hi - lo).length();
        if size <= 0.0 {
            return Err(vec![GeometryError::new(
                "all its vertices are in one place",
                "give a mesh with a size",
            )]);
        }
        weld(&mut mesh);
        let closed = is_closed(&mesh.triangles);
        if closed && mesh.volume() <= 0.0 {
            let text = format!("it is inside out: it encloses {:.3e} m³", mesh.volume());
            let help = "turn its faces around in your modeller (\"recalculate normals outside\"), or by `pliant mesh --repair`";
            return Err(vec![GeometryError::new(text, help)]);
        }
        let corners = |t: &[u32; 3]| around(t.map(|i| mesh.positions[i as usize]));
        let tree = BoxTree::new(&mesh.triangles.iter().map(corners).collect::<Vec<_>>());
        let mut fitted = Vec::new();
        tree.fit(|t| corners(&mesh.triangles[t as usize]), &mut fitted);
        let (offsets, around) = incidence(&mesh.triangles, count);
        let mut solid = ColliderMesh { mesh, tree, fitted, offsets, around, closed, size, sharp: Vec::new() };
        solid.sharp = (0..count as u32).filter(|v| solid.sticks_out(*v)).collect();
        Ok(solid)
    }

    /// Whether the surface turns sharply at a vertex, or ends there.
    fn sticks_out(&self, vertex: u32) -> bool {
        let normal = |t: &u32| unit_normal(self.triangle(*t).map(|i| self.mesh.positions[i as usize]));
        let around = self.around(vertex);
        let mean = around.iter().map(normal).sum::<DVec3>().normalize_or_zero();
        // Around an inner vertex as many edges lie as triangles.
        let mut ends: Vec<u32> =
            around.iter().flat_map(|t| self.triangle(*t)).filter(|i| *i != vertex).collect();
        ends.sort_unstable();
        ends.dedup();
        !around.is_empty()
            && (ends.len() > around.len() || around.iter().any(|t| normal(t).dot(mean) < SHARP))
    }

    /// Vertices that stick out.
    pub fn sharp(&self) -> &[u32] {
        &self.sharp
    }

    /// A solid ground from heights over a grid of `columns` by as many rows as there are, along x and z around the origin
    /// and `spacing` apart: all that is below them, down to `depth` under the lowest.
    pub fn heights(
        columns: usize,
        heights: &[f64],
        spacing: [f64; 2],
        depth: f64,
    ) -> Result<ColliderMesh, Vec<GeometryError>> {
        let mut faults = Vec::new();
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows * columns != heights.len() {
            let text = format!("{} heights are no grid of {columns} columns", heights.len());
            faults.push(GeometryError::new(
                text,
                "give at least two rows of at least two heights, all equally long",
            ));
        }
        if let Some(k) = heights.iter().position(|h| !h.is_finite()) {
            faults.push(GeometryError::new(format!("height {k} is not finite"), "give finite numbers"));
        }
        if !(spacing.iter().all(|s| *s > 0.0 && s.is_finite()) && depth > 0.0 && depth.is_finite()) {
            let text = format!("spacing {spacing:?} and depth {depth}");
            faults.push(GeometryError::new(text, "both must be above 0"));
        }
        match faults.is_empty() {
            true => ColliderMesh::new(ground(columns, rows, heights, spacing, depth)),
            false => Err(faults),
        }
    }

    /// The triangles, and where the vertices are unless they move.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Whether it has an inside.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The diagonal of its box as it was made: what is small beside it does not count.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Boxes of its tree around the mesh as it was made.
    pub fn boxes(&self) -> &[Bounds] {
        &self.fitted
    }

    /// Boxes of its tree around vertices that move straight from one place to another, wherever on their paths they are.
    pub fn fit(&self, from: &[DVec3], to: &[DVec3], fitted: &mut Vec<Bounds>) {
        let corners = |t: u32| {
            let [a, b, c] = self.mesh.triangles[t as usize].map(|i| i as usize);
            around([from[a], from[b], from[c], to[a], to[b], to[c]])
        };
        self.tree.fit(corners, fitted);
    }

    /// The vertices of a triangle, seen from outside against the clock.
    pub fn triangle(&self, t: u32) -> [u32; 3] {
        self.mesh.triangles[t as usize]
    }

    /// The triangles around a vertex.
    pub(super) fn around(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.around[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }
}

/// Lets triangles use the first of all vertices in the same place, and leaves out those without three places.
fn weld(mesh: &mut TriMesh) {
    let key = |i: &u32| mesh.positions[*i as usize].to_array().map(|v| (v + 0.0).to_bits());
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    order.sort_by_key(|i| (key(i), *i));
    let mut first: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for pair in order.windows(2) {
        if key(&pair[0]) == key(&pair[1]) {
            first[pair[1] as usize] = first[pair[0] as usize];
        }
    }
    mesh.triangles.iter_mut().flatten().for_each(|i| *i = first[*i as usize]);
    mesh.triangles.retain(|[a, b, c]| a != b && b != c && c != a);
}

/// Whether every edge has two triangles, and these go along it in opposite directions.
pub(crate) fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let directed = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<(u32, u32, bool)> = directed.map(|[a, b]| (a.min(b), a.max(b), a < b)).collect();
    edges.sort_unstable();
    edges.len().is_multiple_of(2)
        && edges.chunks(2).all(|e| (e[0].0, e[0].1) == (e[1].0, e[1].1) && e[0].2 != e[1].2)
        && edges
            .chunks(2)
            .zip(edges.chunks(2).skip(1))
            .all(|(e, next)| (e[0].0, e[0].1) != (next[0].0, next[0].1))
}

/// The triangles around vertex `i` are `around[offsets[i]..offsets[i + 1]]`: offsets, around.
pub(crate) fn incidence(triangles: &[[u32; 3]], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; vertices + 1];
    triangles.iter().flatten().for_each(|&i| offsets[i as usize + 1] += 1);
    for i in 0..vertices {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut around = vec![0; offsets[vertices] as usize];
    for (t, corners) in triangles.iter().enumerate() {
        for &i in corners {
            around[next[i as usize] as usize] = t as u32;
            next[i as usize] += 1;
        }
    }
    (offsets, around)
}

/// The solid under heights.
fn ground(columns: usize, rows: usize, heights: &[f64], [dx, dz]: [f64; 2], depth: f64) -> TriMesh {
    let mut mesh = TriMesh::default();
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min) - depth;
    let (cx, cz) = (0.5 * (columns - 1) as f64, 0.5 * (rows - 1) as f64);
    let at = |k: usize| ((k % columns) as f64 - cx, (k / columns) as f64 - cz);
    for (k, &h) in heights.iter().enumerate() {
        let (x, z) = at(k);
        mesh.positions.push(DVec3::new(x * dx, h, z * dz));
    }
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let [a, b] = [row * columns + column, (row + 1) * columns + column].map(|k| k as u32);
            mesh.triangles.extend([[a, b, b + 1], [a, b + 1, a + 1]]);
        }
    }
    // Around the rim, seen from above against the triangles' turn: along +z, +x, −z, −x.
    let mut rim: Vec<usize> = (0..rows - 1).map(|r| r * columns).collect();
    rim.extend((0..columns - 1).map(|c| (rows - 1) * columns + c));
    rim.extend((1..rows).rev().map(|r| r * columns + columns - 1));
    rim.extend((1..columns).rev());
    let first = mesh.positions.len() as u32;
    for &k in &rim {
        let (x, z) = at(k);
        mesh.positions.push(DVec3::new(x * dx, low, z * dz));
    }
    let middle = mesh.positions.len() as u32;
    mesh.positions.push(DVec3::Y * low);
    for k in 0..rim.len() {
        let next = (k + 1) % rim.len();
        let (a, b) = (rim[k] as u32, rim[next] as u32);
        let (c, d) = (first + k as u32, first + next as u32);
        mesh.triangles.extend([[b, a, c], [b, c, d], [d, c, middle]]);
    }
    mesh
}
