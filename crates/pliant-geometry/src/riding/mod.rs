//! Riding along: what the vertices of a fine render mesh follow.

mod boxes;
mod clusters;
mod elements;
mod foot;
mod frames;
mod whole;

pub(crate) use whole::Whole;

use crate::cluster::Clusters;
use crate::error::{GeometryError, all_finite};
use crate::shapes::Shape;
use crate::skin::Skin;
use glam::DVec3;

/// What a render mesh rides on.
///
/// Measured (`pliant-cache/examples/riding.rs`, 35,000 vertices on 1,500 particles, bodies twisted, bent, squashed and
/// crumpled): riding on tetrahedra is off by a fifth or less of what riding on particles is, and its normals
/// are nearer too; particles calm what trembles from one to the next, four times as well as tetrahedra; clusters calm
/// it best and are off by three times as much as particles, as they are blind to what happens within them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Riding {
    /// The particles around each vertex, by moving least squares: smooth, and at home everywhere.
    Particles,
    /// The tetrahedra it is in: what the elements do, vertices do.
    Tetrahedra,
    /// The cloth it lies on, keeping its distance on its side of it.
    Cloth,
    /// The clusters around it: calm, and stiff within a cluster.
    Clusters,
}

impl Riding {
    /// All ways, by name.
    pub const NAMES: [(&'static str, Riding); 4] = [
        ("particles", Riding::Particles),
        ("tetrahedra", Riding::Tetrahedra),
        ("cloth", Riding::Cloth),
        ("clusters", Riding::Clusters),
    ];

    /// The way that suits a body best: its elements if it has any, as they come nearest to how it moves, else its
    /// particles. Clusters only suit bodies whose particles tremble within them.
    pub fn usual(shape: &Shape) -> Riding {
        if !shape.tetrahedra.is_empty() {
            Riding::Tetrahedra
        } else if !shape.triangles.is_empty() {
            Riding::Cloth
        } else {
            Riding::Particles
        }
    }
}

impl Skin {
    /// Lets `vertices` ride on a body at rest. Refuses what the body does not have.
    pub fn ride(
        riding: Riding,
        shape: &Shape,
        clusters: Option<&Clusters>,
        vertices: &[DVec3],
    ) -> Result<Skin, GeometryError> {
        all_finite("particle", &shape.points)?;
        all_finite("vertex", vertices)?;
        let lacks = |what: &str, help: &str| {
            Err(GeometryError::new(format!("a mesh cannot ride on {what} of a body that has none"), help))
        };
        match riding {
            Riding::Particles if shape.points.is_empty() => {
                lacks("particles", "give the body at least one particle")
            }
            Riding::Particles if shape.edges.is_empty() => Ok(Skin::bind(&shape.points, vertices)),
            Riding::Particles => Ok(Skin::bind_connected(&shape.points, &shape.edges, vertices)),
            Riding::Tetrahedra if shape.tetrahedra.is_empty() => {
                lacks("tetrahedra", "cut the body into tetrahedra, or ride on its particles")
            }
            Riding::Tetrahedra => Ok(Skin::bind_tets(&shape.points, &shape.tetrahedra, vertices)),
            Riding::Cloth if shape.triangles.is_empty() => {
                lacks("cloth", "use the body as cloth or shell, or ride on its particles")
            }
            Riding::Cloth => Ok(Skin::bind_cloth(&shape.points, &shape.triangles, vertices)),
            Riding::Clusters => match clusters.filter(|c| !c.is_empty()) {
                Some(clusters) => Ok(Skin::bind_clusters(&shape.points, &shape.edges, clusters, vertices)),
                None => lacks("clusters", "give the body clusters, or ride on its particles"),
            },
        }
    }
}
