//! Skin binding: what the vertices of a fine render mesh follow.

mod anchor;
mod boxes;
mod clusters;
mod elements;
mod frames;
pub(crate) mod particles;
mod turning;
mod whole;

pub(crate) use whole::WholeBody;

use crate::cluster::Clusters;
use crate::error::{GeometryError, all_finite};
use crate::shapes::Shape;
use crate::skin::Skin;
use glam::DVec3;

/// What the vertices of a render mesh are bound to.
///
/// Measured (`pliant-cache/examples/skin_binding.rs`, 35,000 vertices on 1,500 particles, bodies twisted, bent, squashed and
/// crumpled): bound to tetrahedra a mesh is off by a fifth or less of what it is bound to particles, and its normals
/// are nearer too; particles calm what trembles from one to the next, four times as well as tetrahedra; clusters calm
/// it best and are off by three times as much as particles, as they are blind to what happens within them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkinBinding {
    /// The particles around each vertex, by moving least squares: smooth, and at home everywhere.
    Particles,
    /// The tetrahedra it is in: what the elements do, vertices do.
    Tetrahedra,
    /// The cloth it lies on, keeping its distance on its side of it.
    Cloth,
    /// The clusters around it: calm, and stiff within a cluster.
    Clusters,
}

impl SkinBinding {
    /// All of them, by name.
    pub const NAMES: [(&'static str, SkinBinding); 4] = [
        ("particles", SkinBinding::Particles),
        ("tetrahedra", SkinBinding::Tetrahedra),
        ("cloth", SkinBinding::Cloth),
        ("clusters", SkinBinding::Clusters),
    ];

    /// The binding that suits a body best: its elements if it has any, as they come nearest to how it moves, else its
    /// particles. Clusters only suit bodies whose particles tremble within them.
    pub fn usual(shape: &Shape) -> SkinBinding {
        if !shape.tetrahedra.is_empty() {
            SkinBinding::Tetrahedra
        } else if !shape.triangles.is_empty() {
            SkinBinding::Cloth
        } else {
            SkinBinding::Particles
        }
    }
}

impl Skin {
    /// Binds `vertices` to a body at rest. Fails if the body has no such elements, or a position is not finite.
    pub fn bind_to(
        binding: SkinBinding,
        shape: &Shape,
        clusters: Option<&Clusters>,
        vertices: &[DVec3],
    ) -> Result<Skin, GeometryError> {
        all_finite("particle", &shape.points)?;
        all_finite("vertex", vertices)?;
        let lacks = |what: &str, help: &str| {
            Err(GeometryError::new(format!("a mesh cannot be bound to {what} of a body that has none"), help))
        };
        match binding {
            SkinBinding::Particles if shape.points.is_empty() => {
                lacks("particles", "give the body at least one particle")
            }
            SkinBinding::Particles if shape.edges.is_empty() => Ok(Skin::bind(&shape.points, vertices)),
            SkinBinding::Particles => Ok(Skin::bind_connected(&shape.points, &shape.edges, vertices)),
            SkinBinding::Tetrahedra if shape.tetrahedra.is_empty() => {
                lacks("tetrahedra", "cut the body into tetrahedra, or bind to its particles")
            }
            SkinBinding::Tetrahedra => Ok(Skin::bind_tets(&shape.points, &shape.tetrahedra, vertices)),
            SkinBinding::Cloth if shape.triangles.is_empty() => {
                lacks("cloth", "use the body as cloth or shell, or bind to its particles")
            }
            SkinBinding::Cloth => Ok(Skin::bind_cloth(&shape.points, &shape.triangles, vertices)),
            SkinBinding::Clusters => match clusters.filter(|c| !c.is_empty()) {
                Some(clusters) => Ok(Skin::bind_clusters(&shape.points, &shape.edges, clusters, vertices)),
                None => lacks("clusters", "give the body clusters, or bind to its particles"),
            },
        }
    }
}
