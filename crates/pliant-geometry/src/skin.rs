//! Skins: how the vertices of a render mesh follow simulated particles.

use glam::DVec3;

/// Vertex positions as fixed linear combinations of particle positions (compressed sparse rows).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// `offsets[v]..offsets[v + 1]` are the entries of vertex `v`.
    pub offsets: Vec<u32>,
    /// Particle index of each entry, within the body.
    pub particles: Vec<u32>,
    /// Weight of each entry; the weights of a vertex sum to one.
    pub weights: Vec<f64>,
}

impl Skin {
    /// Each vertex is the particle of the same index.
    pub fn identity(count: usize) -> Skin {
        Skin {
            offsets: (0..=count as u32).collect(),
            particles: (0..count as u32).collect(),
            weights: vec![1.0; count],
        }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertex positions for particle positions given as one slice per coordinate.
    pub fn apply(&self, particles: [&[f64]; 3], vertices: &mut Vec<DVec3>) {
        vertices.clear();
        vertices.extend(self.offsets.windows(2).map(|range| {
            let mut sum = DVec3::ZERO;
            for k in range[0] as usize..range[1] as usize {
                let i = self.particles[k] as usize;
                sum += self.weights[k] * DVec3::new(particles[0][i], particles[1][i], particles[2][i]);
            }
            sum
        }));
    }
}
