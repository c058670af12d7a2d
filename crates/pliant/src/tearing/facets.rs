//! Where the elements of a body are joined, and so where it may come apart: edges between triangles, faces between
//! tetrahedra.

use crate::constraints::simplex_measure;
use crate::model::Topology;
use crate::points::Points;
use glam::{DMat3, DVec3};
use std::sync::OnceLock;

/// No facet, no element.
pub(crate) const NONE: u32 = u32::MAX;

/// The facets of a body as it was built, in its numbering; they are numbered by their particles, ascending.
#[derive(Clone, Debug)]
pub struct Facets {
    /// Corners of an element: three or four.
    width: usize,
    /// The corners of all elements.
    cells: Vec<u32>,
    /// The particles of all facets, ascending: one fewer each than an element has corners.
    particles: Vec<u32>,
    /// The elements a facet joins, two or more: those of facet f end at `ends[f]`.
    ends: Vec<u32>,
    joined: Vec<u32>,
    /// The facet opposite each corner, `NONE` at the border of the body.
    opposite: Vec<u32>,
    /// The elements around each particle, ascending: those of particle i end at `star_ends[i]`.
    star_ends: Vec<u32>,
    star: Vec<u32>,
    /// Area or volume of each element.
    measures: Vec<f64>,
    /// Dual vectors of each element's rest edges, in the space of the rest shape: F = Σ (x_c − x_0) g_cᵀ.
    duals: Vec<DVec3>,
    /// Which element each of the topology's faces belongs to, found when first asked for.
    face_hosts: OnceLock<Vec<u32>>,
}

impl Facets {
    /// The facets of a body of triangles or tetrahedra; `None` if it has neither.
    pub(crate) fn new(topology: &Topology, rest: &Points) -> Option<Facets> {
        let (width, cells): (usize, &[u32]) = match topology.solid {
            true => (4, topology.tetrahedra.as_flattened()),
            false => (3, topology.faces.as_flattened()),
        };
        if cells.is_empty() {
            return None;
        }
        let mut facets = Facets {
            width,
            cells: cells.to_vec(),
            particles: Vec::new(),
            ends: Vec::new(),
            joined: Vec::new(),
            opposite: vec![NONE; cells.len()],
            star_ends: vec![0; rest.len()],
            star: vec![0; cells.len()],
            measures: Vec::with_capacity(cells.len() / width),
            duals: Vec::with_capacity(cells.len() / width * (width - 1)),
            face_hosts: OnceLock::new(),
        };
        facets.find_facets();
        facets.find_stars();
        for e in 0..facets.elements() {
            let (measure, duals) = rest_of(facets.cell(e), rest);
            facets.measures.push(measure);
            facets.duals.extend_from_slice(&duals[..width - 1]);
        }
        Some(facets)
    }

    fn find_facets(&mut self) {
        // (particles, corner it is opposite to); triangles leave the last particle free.
        let mut sides: Vec<([u32; 3], u32)> = Vec::with_capacity(self.cells.len());
        for (e, cell) in self.cells.chunks_exact(self.width).enumerate() {
            for k in 0..self.width {
                let mut own = [NONE; 3];
                let others = cell.iter().enumerate().filter(|(c, _)| *c != k);
                own.iter_mut().zip(others).for_each(|(to, (_, i))| *to = *i);
                own.sort_unstable();
                sides.push((own, (e * self.width + k) as u32));
            }
        }
        sides.sort_unstable();
        for same in sides.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            let facet = self.ends.len() as u32;
            self.particles.extend_from_slice(&same[0].0[..self.width - 1]);
            for (_, corner) in same {
                self.opposite[*corner as usize] = facet;
                self.joined.push(corner / self.width as u32);
            }
            self.ends.push(self.joined.len() as u32);
        }
    }

    fn find_stars(&mut self) {
        self.cells.iter().for_each(|&i| self.star_ends[i as usize] += 1);
        let mut sum = 0;
        for end in &mut self.star_ends {
            sum += *end;
            *end = sum;
        }
        let mut cursor = self.star_ends.clone();
        for (corner, &i) in self.cells.iter().enumerate().rev() {
            let at = &mut cursor[i as usize];
            *at -= 1;
            self.star[*at as usize] = (corner / self.width) as u32;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing is joined to anything.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The particles of a facet, ascending: two of an edge, three of a face.
    pub fn particles(&self, facet: usize) -> &[u32] {
        let width = self.width - 1;
        &self.particles[facet * width..][..width]
    }

    /// The elements a facet joins.
    pub fn joined(&self, facet: usize) -> &[u32] {
        let begin = if facet == 0 { 0 } else { self.ends[facet - 1] as usize };
        &self.joined[begin..self.ends[facet] as usize]
    }

    /// The facet of these particles, in any order; `None` if no two elements are joined there.
    pub fn find(&self, particles: &[u32]) -> Option<usize> {
        let mut wanted = particles.to_vec();
        wanted.sort_unstable();
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.particles(middle).cmp(&wanted) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// How many triangles or tetrahedra the body has.
    pub fn elements(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Corners of an element: three or four.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The corners of all elements.
    pub(crate) fn cells(&self) -> &[u32] {
        &self.cells
    }

    pub(crate) fn cell(&self, element: usize) -> &[u32] {
        &self.cells[element * self.width..][..self.width]
    }

    /// The facet opposite a corner of an element.
    pub(crate) fn opposite(&self, element: usize, corner: usize) -> Option<usize> {
        let facet = self.opposite[element * self.width + corner];
        (facet != NONE).then_some(facet as usize)
    }

    /// The elements around a particle, ascending.
    pub(crate) fn star(&self, particle: usize) -> &[u32] {
        let begin = if particle == 0 { 0 } else { self.star_ends[particle - 1] as usize };
        &self.star[begin..self.star_ends[particle] as usize]
    }

    /// Number of particles.
    pub(crate) fn particle_count(&self) -> usize {
        self.star_ends.len()
    }

    /// Which corner of an element a particle is.
    pub(crate) fn corner_of(&self, element: usize, particle: u32) -> Option<usize> {
        self.cell(element).iter().position(|&i| i == particle)
    }

    /// Area or volume of an element at rest.
    pub(crate) fn measure(&self, element: usize) -> f64 {
        self.measures[element]
    }

    pub(crate) fn measures(&self) -> &[f64] {
        &self.measures
    }

    pub(crate) fn duals(&self, element: usize) -> &[DVec3] {
        &self.duals[element * (self.width - 1)..][..self.width - 1]
    }

    /// Which element each of the topology's faces belongs to.
    pub(crate) fn face_hosts(&self, faces: &[[u32; 3]]) -> &[u32] {
        self.face_hosts.get_or_init(|| match self.width {
            3 => (0..faces.len() as u32).collect(),
            _ => faces.iter().map(|f| self.element_with(f).unwrap_or(0)).collect(),
        })
    }

    /// The first element that has all these corners.
    pub(crate) fn element_with(&self, corners: &[u32]) -> Option<u32> {
        let has = |e: &&u32| corners.iter().all(|&i| self.corner_of(**e as usize, i).is_some());
        self.star(*corners.first()? as usize).iter().find(has).copied()
    }
}

/// Measure and dual vectors of an element at rest; flat ones have none and show no strain.
fn rest_of(cell: &[u32], rest: &Points) -> (f64, [DVec3; 3]) {
    let origin = rest.get(cell[0] as usize);
    let edge = |k: usize| rest.get(cell[k] as usize) - origin;
    let finite = |duals: [DVec3; 3]| match duals.iter().all(|d| d.is_finite()) {
        true => duals,
        false => [DVec3::ZERO; 3],
    };
    if cell.len() == 3 {
        let (a, b) = (edge(1), edge(2));
        let square = (a.cross(b)).length_squared();
        let dual = |of: DVec3, other: DVec3| (of * other.length_squared() - other * of.dot(other)) / square;
        return (simplex_measure([a, b]), finite([dual(a, b), dual(b, a), DVec3::ZERO]));
    }
    let edges = [edge(1), edge(2), edge(3)];
    let inverse = DMat3::from_cols(edges[0], edges[1], edges[2]).inverse().transpose();
    (simplex_measure(edges), finite([inverse.x_axis, inverse.y_axis, inverse.z_axis]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ClusterSet;

    fn two_tetrahedra() -> (Facets, Points) {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.2, 1.5, 0.0], [0.1, 0.2, 2.0], [1.0, 1.0, 1.5]];
        let rest: Points = points.map(DVec3::from_array).into_iter().collect();
        let mut topology = Topology::new(vec![], vec![], true, ClusterSet::default(), 5);
        topology.tetrahedra = vec![[0, 1, 2, 3], [1, 4, 2, 3]];
        (Facets::new(&topology, &rest).unwrap(), rest)
    }

    #[test]
    fn two_tetrahedra_have_one_face_in_common() {
        let (facets, _) = two_tetrahedra();
        assert_eq!((facets.len(), facets.particles(0), facets.joined(0)), (1, &[1, 2, 3][..], &[0, 1][..]));
        assert_eq!((facets.find(&[3, 1, 2]), facets.find(&[0, 1, 2])), (Some(0), None));
        assert_eq!(
            (facets.opposite(0, 0), facets.opposite(1, 1), facets.opposite(0, 1)),
            (Some(0), Some(0), None)
        );
        assert_eq!((facets.star(0), facets.star(1), facets.star(4)), (&[0][..], &[0, 1][..], &[1][..]));
    }

    /// F = Σ (x_c − x_0) g_cᵀ is the linear map the corners were moved by.
    #[test]
    fn duals_give_the_deformation_gradient() {
        let (facets, rest) = two_tetrahedra();
        let map = DMat3::from_cols(
            DVec3::new(1.1, 0.2, 0.0),
            DVec3::new(-0.3, 0.9, 0.4),
            DVec3::new(0.0, 0.1, 1.3),
        );
        let mut f = DMat3::ZERO;
        for (g, &i) in facets.duals(1).iter().zip(&facets.cell(1)[1..]) {
            let edge = map * (rest.get(i as usize) - rest.get(facets.cell(1)[0] as usize));
            f += DMat3::from_cols(edge * g.x, edge * g.y, edge * g.z);
        }
        assert!((f - map).to_cols_array().iter().all(|e| e.abs() < 1e-12), "{f}");
    }
}
