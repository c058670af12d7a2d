//! What is shown of bodies now: the render meshes of the scene with normals, skinned once per frame.

use pliant::DVec3;
use pliant::Simulation;
use pliant_cache::LogBody;
use pliant_cache::geometry::{FollowingNormals, Look};
use std::sync::Arc;

/// The render mesh of a body as it is now.
#[derive(Clone, Debug)]
pub struct BodySurface {
    body: LogBody,
    following: Arc<FollowingNormals>,
    positions: Vec<DVec3>,
    normals: Vec<DVec3>,
}

impl BodySurface {
    fn new(body: &LogBody) -> BodySurface {
        let following = Arc::new(FollowingNormals::new(&body.attributes, &body.mesh));
        BodySurface { body: body.clone(), following, positions: Vec::new(), normals: Vec::new() }
    }

    /// The body: mesh at rest, attributes, skin, colour, and which version of its topology this is.
    pub fn body(&self) -> &LogBody {
        &self.body
    }

    /// What the scene calls the body; unique in it.
    pub fn name(&self) -> &str {
        &self.body.name
    }

    /// How it answers light.
    pub fn look(&self) -> Look {
        self.body.look
    }

    /// Corners of the triangles; none where the body is shown as points. They stay the same for as long as
    /// [`LogBody::version`] does.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.body.mesh.triangles
    }

    /// Where the vertices are, in metres.
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Unit normals: one per vertex, or, where the file of the mesh has hard edges, as
    /// [`normal_of_corner`](BodySurface::normal_of_corner) says. Empty for points.
    pub fn normals(&self) -> &[DVec3] {
        &self.normals
    }

    /// For each corner of the faces of [`LogBody::attributes`] its normal; `None` where there is one per vertex.
    pub fn normal_of_corner(&self) -> Option<&[u32]> {
        (!self.body.attributes.normals.is_empty()).then(|| self.following.of_corners())
    }

    /// Positions in the numbers that graphics cards take, relative to `origin`; into a buffer of the caller's.
    pub fn positions_f32(&self, origin: impl Into<DVec3>, into: &mut Vec<[f32; 3]>) {
        let origin = origin.into();
        into.clear();
        into.extend(self.positions.iter().map(|p| (*p - origin).as_vec3().to_array()));
    }

    /// Normals in the same numbers.
    pub fn normals_f32(&self, into: &mut Vec<[f32; 3]>) {
        into.clear();
        into.extend(self.normals.iter().map(|n| n.as_vec3().to_array()));
    }
}

/// Brings the surfaces of these bodies to where the simulation is; what was prepared for those that stay is kept.
pub(crate) fn pose(surfaces: &mut Vec<BodySurface>, bodies: &[LogBody], simulation: &Simulation) {
    let same = |s: &BodySurface, b: &LogBody| (s.body.id, s.body.version) == (b.id, b.version);
    if surfaces.len() != bodies.len() || !surfaces.iter().zip(bodies).all(|(s, b)| same(s, b)) {
        let mut before = std::mem::take(surfaces);
        for body in bodies {
            let known = before.iter().position(|s| same(s, body));
            surfaces.push(known.map_or_else(|| BodySurface::new(body), |k| before.swap_remove(k)));
        }
    }
    for (surface, state) in surfaces.iter_mut().zip(simulation.state().bodies()) {
        surface.body.skin.apply(state.positions().columns(), &mut surface.positions);
        surface.normals.clear();
        if !surface.body.is_point_cloud() {
            surface.following.at(&surface.positions, &mut surface.normals);
        }
    }
}
