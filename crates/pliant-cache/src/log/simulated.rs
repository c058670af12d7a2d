//! What the particles of a body make up: its elements and masses, for looking at the simulation itself.

use super::channel::{ChannelNumber, LogChannel, find, parse, put};
use pliant_geometry::Elements;

/// Elements over the particles of a body and their masses. Any of it may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulatedElements {
    /// What the particles make up.
    pub elements: Elements,
    /// Mass of each particle, kg.
    pub masses: Vec<f32>,
}

impl SimulatedElements {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == SimulatedElements::default()
    }

    /// Whether it fits so many particles; what is wrong otherwise.
    pub(super) fn check(&self, particles: usize) -> Result<(), String> {
        elements_fit("tetrahedron", &self.elements.tetrahedra, particles)?;
        elements_fit("triangle of cloth", &self.elements.triangles, particles)?;
        elements_fit("edge", &self.elements.edges, particles)?;
        if !self.masses.is_empty() && self.masses.len() != particles {
            return Err(format!("{} masses for {particles} particles", self.masses.len()));
        }
        match self.masses.iter().position(|m| !m.is_finite()) {
            Some(i) => Err(format!("the mass of particle {i} is not finite")),
            None => Ok(()),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_elements(&mut out, "tetrahedra", &self.elements.tetrahedra);
        put_elements(&mut out, "triangles", &self.elements.triangles);
        put_elements(&mut out, "edges", &self.elements.edges);
        if !self.masses.is_empty() {
            put(&mut out, "masses", &[&self.masses[..]]);
        }
        out
    }

    /// From its channels. Whether it fits the particles is checked with the body.
    pub(super) fn decode(payload: &[u8]) -> Result<SimulatedElements, String> {
        let channels = parse(payload)?;
        Ok(SimulatedElements {
            elements: Elements {
                tetrahedra: elements(&channels, "tetrahedra")?,
                triangles: elements(&channels, "triangles")?,
                edges: elements(&channels, "edges")?,
            },
            masses: find(&channels, "masses").map_or(Ok(Vec::new()), LogChannel::values)?,
        })
    }
}

fn elements_fit<const N: usize>(name: &str, elements: &[[u32; N]], particles: usize) -> Result<(), String> {
    let last = |e: &[u32; N]| e.iter().copied().max().unwrap_or(0);
    match elements.iter().position(|e| last(e) as usize >= particles) {
        Some(k) => Err(format!("{name} {k} names particle {} of {particles}", last(&elements[k]))),
        None => Ok(()),
    }
}

fn put_elements<const N: usize>(out: &mut Vec<u8>, name: &str, elements: &[[u32; N]]) {
    if elements.is_empty() {
        return;
    }
    let planes: [Vec<u32>; N] = std::array::from_fn(|k| elements.iter().map(|e| e[k]).collect());
    put(out, name, &planes.each_ref().map(Vec::as_slice));
}

fn elements<T: ChannelNumber, const N: usize>(
    channels: &[LogChannel<'_>],
    name: &str,
) -> Result<Vec<[T; N]>, String> {
    let Some(channel) = find(channels, name) else { return Ok(Vec::new()) };
    let planes = channel.planes::<T, N>()?;
    Ok((0..planes[0].len()).map(|i| std::array::from_fn(|k| planes[k][i])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_and_are_held_to_the_particles() {
        let simulated = SimulatedElements {
            elements: Elements {
                tetrahedra: vec![[0, 1, 2, 3], [3, 2, 1, 4]],
                triangles: vec![[0, 1, 4]],
                edges: vec![[0, 1], [4, 0]],
            },
            masses: vec![0.5; 5],
        };
        assert_eq!(SimulatedElements::decode(&simulated.encode()), Ok(simulated.clone()));
        assert_eq!(simulated.check(5), Ok(()));
        assert!(simulated.check(4).is_err_and(|e| e.contains("tetrahedron 1 names particle 4")));
        assert!(simulated.check(6).is_err_and(|e| e.contains("5 masses")));
        assert!(SimulatedElements::default().encode().is_empty());
    }
}
