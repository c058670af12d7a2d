//! Degrees of freedom: which particles are free, fixed, or linear in others.

use crate::model::BodyModel;

/// How a particle depends on the unknowns of the linear system.
#[derive(Clone, Debug, PartialEq)]
pub enum Dof {
    /// It is unknown number `n`.
    Free(u32),
    /// Its position is prescribed.
    Fixed,
    /// It is Σ weight · unknown, as a point of a triangle or tetrahedron. The combination folds into
    /// the matrix; ties that are not linear (glue, joints) never come here.
    Combined {
        /// Its unknowns.
        free: Vec<(u32, f64)>,
        /// All its parents, as particles.
        parents: Vec<(u32, f64)>,
    },
}

/// The map from the particles of a body to unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct DofMap {
    dofs: Vec<Dof>,
    unknowns: usize,
}

impl DofMap {
    /// The particles of a body: pinned ones fixed, the others free.
    pub fn of_body(model: &BodyModel) -> DofMap {
        let mut dofs = vec![Dof::Free(0); model.particle_count()];
        for &i in model.pins().iter().filter(|g| g.stiffness.is_none()).flat_map(|g| &g.particles) {
            dofs[i as usize] = Dof::Fixed;
        }
        DofMap::new(dofs, &[])
    }

    /// Numbers the free particles in order; `combined` makes particles linear in free ones, given as
    /// (particle, [(parent, weight)]); parents are free or fixed, never combined themselves.
    pub fn new(mut dofs: Vec<Dof>, combined: &[(u32, Vec<(u32, f64)>)]) -> DofMap {
        combined.iter().for_each(|(i, _)| {
            dofs[*i as usize] = Dof::Combined { free: Vec::new(), parents: Vec::new() };
        });
        let mut unknowns = 0;
        for dof in &mut dofs {
            if let Dof::Free(n) = dof {
                *n = unknowns;
                unknowns += 1;
            }
        }
        for (i, parents) in combined {
            let free = parents
                .iter()
                .filter_map(|&(parent, w)| match dofs[parent as usize] {
                    Dof::Free(n) => Some((n, w)),
                    _ => None,
                })
                .collect();
            dofs[*i as usize] = Dof::Combined { free, parents: parents.clone() };
        }
        DofMap { dofs, unknowns: unknowns as usize }
    }

    /// The same particles with the unknowns renamed: `name[old]` is the new one.
    pub fn renamed(&self, name: &[u32]) -> DofMap {
        let mut map = self.clone();
        for dof in &mut map.dofs {
            match dof {
                Dof::Free(n) => *n = name[*n as usize],
                Dof::Combined { free, .. } => free.iter_mut().for_each(|(n, _)| *n = name[*n as usize]),
                Dof::Fixed => {}
            }
        }
        map
    }

    /// How many columns the system of a body has.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// How particle `i` depends on them.
    pub fn get(&self, i: usize) -> &Dof {
        &self.dofs[i]
    }

    /// Calls `entry(unknown, weight)` for what particle `i` is made of.
    #[inline]
    pub fn expand(&self, i: usize, mut entry: impl FnMut(u32, f64)) {
        match &self.dofs[i] {
            Dof::Free(n) => entry(*n, 1.0),
            Dof::Combined { free, .. } => free.iter().for_each(|&(n, w)| entry(n, w)),
            Dof::Fixed => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_the_free_and_expands_the_combined() {
        let dofs = vec![Dof::Free(0), Dof::Fixed, Dof::Free(0), Dof::Free(0)];
        let map = DofMap::new(dofs, &[(3, vec![(0, 0.25), (2, 0.75)])]);
        assert_eq!(map.unknowns(), 2);
        let mut seen = Vec::new();
        map.expand(3, |n, w| seen.push((n, w)));
        assert_eq!(seen, [(0, 0.25), (1, 0.75)]);
        map.expand(1, |_, _| panic!("fixed particles have no unknowns"));
    }
}
