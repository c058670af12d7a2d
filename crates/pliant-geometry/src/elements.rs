//! What the particles of a body make up, for those who look at the simulation itself.

/// Elements over the particles of a body (indices within the body). Any of it may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// Tetrahedra of solids, positively oriented.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Triangles of cloth and shells.
    pub triangles: Vec<[u32; 3]>,
    /// Edges of threads and frameworks.
    pub edges: Vec<[u32; 2]>,
}

impl Elements {
    /// Of those there are, the ones with the most corners: edges of tetrahedra tell nothing new.
    pub fn largest(self) -> Elements {
        match (self.tetrahedra.is_empty(), self.triangles.is_empty()) {
            (false, _) => Elements { tetrahedra: self.tetrahedra, ..Elements::default() },
            (true, false) => Elements { triangles: self.triangles, ..Elements::default() },
            (true, true) => Elements { edges: self.edges, ..Elements::default() },
        }
    }
}
