//! A mesh where a node shows it: weights and transforms applied, at rest and over time.

use super::document::Document;
use super::json::JsonPlace;
use super::material;
use super::mesh::{GltfMesh, MorphShape, weights};
use super::nodes::{GltfNode, Local};
use super::track::{AnimatedProperty, GltfTrack, rotation};
use crate::TriMesh;
use crate::error::{GeometryError, all_finite};
use crate::poly::{FollowingNormals, Layer, MeshAttributes, PolyMesh, VertexAnimation};
use glam::{DMat3, DMat4, DVec3};
use std::collections::HashMap;

/// What animations move, by node of the file.
pub(super) type Tracks = HashMap<(usize, AnimatedProperty), GltfTrack>;

/// The meshes of a node.
pub(super) fn place(
    document: &Document<'_>,
    shown: &[GltfNode<'_>],
    place: usize,
    mesh: &GltfMesh<'_>,
    tracks: &Tracks,
    moved: &[bool],
) -> Result<Vec<PolyMesh>, GeometryError> {
    let node = &shown[place];
    let skinned = node.at.get("skin").is_some();
    let name = node.at.text("name").filter(|n| !n.is_empty()).unwrap_or(mesh.name);
    // The transform of a node has no meaning for a mesh that bones move.
    let world = if skinned { DMat4::IDENTITY } else { node.world };
    let at_rest = match node.at.get("weights") {
        Some(_) => weights(&node.at, mesh.weights.len())?,
        None => mesh.weights.clone(),
    };
    let path = InstancePath {
        document,
        at: &node.at,
        shown,
        tracks,
        chain: if moved[place] && !skinned { chain(shown, place) } else { Vec::new() },
        weights: tracks.get(&(node.index, AnimatedProperty::Weights)),
        fixed: world,
        at_rest: &at_rest,
    };
    let times = path.times()?;
    mesh.shapes
        .iter()
        .map(|shape| {
            document.budget.bytes(&node.at, 1, size(shape) + name.len())?;
            let positions = path.pose(shape, &at_rest, world)?;
            let animation = match times.is_empty() {
                true => None,
                false => {
                    Some(VertexAnimation { samples: path.samples(shape, &times)?, times: times.clone() })
                }
            };
            let attributes = posed_attributes(shape, &positions, &at_rest, world);
            Ok(PolyMesh { name: name.to_string(), positions, attributes, animation })
        })
        .collect()
}

/// A mesh that no node shows, as it is.
pub(super) fn alone(mesh: &GltfMesh<'_>) -> Vec<PolyMesh> {
    let as_is = |shape: &MorphShape| {
        let positions = displaced(shape, &mesh.weights);
        let attributes = posed_attributes(shape, &positions, &mesh.weights, DMat4::IDENTITY);
        PolyMesh { name: mesh.name.to_string(), positions, attributes, animation: None }
    };
    mesh.shapes.iter().map(as_is).collect()
}

/// Bytes an instance takes without its motion.
fn size(shape: &MorphShape) -> usize {
    let MeshAttributes { faces, uvs, normals, colors, materials, face_materials } = &shape.attributes;
    // What each of its lists takes beside its content, and its place in the list of meshes.
    let lists = 9 * 24;
    size_of::<PolyMesh>()
        + lists
        + 24 * shape.positions.len()
        + 4 * (faces.corners().len() + uvs.corners.len() + normals.corners.len() + face_materials.len())
        + 8 * uvs.values.len()
        + 12 * normals.values.len()
        + 16 * colors.len()
        + materials.iter().map(material::size).sum::<usize>()
}

/// Nodes from one up to its root, root first.
fn chain(shown: &[GltfNode<'_>], place: usize) -> Vec<usize> {
    let mut chain: Vec<usize> = std::iter::successors(Some(place), |&p| shown[p].parent).collect();
    chain.reverse();
    chain
}

/// How a mesh moves: the transforms above it and its weights.
struct InstancePath<'a> {
    document: &'a Document<'a>,
    at: &'a JsonPlace<'a>,
    shown: &'a [GltfNode<'a>],
    tracks: &'a Tracks,
    /// Nodes above and the node itself; empty if none of them moves.
    chain: Vec<usize>,
    weights: Option<&'a GltfTrack>,
    fixed: DMat4,
    at_rest: &'a [f64],
}

impl<'a> InstancePath<'a> {
    fn all_tracks(&self) -> impl Iterator<Item = &'a GltfTrack> + '_ {
        let parts = [AnimatedProperty::Translation, AnimatedProperty::Rotation, AnimatedProperty::Scale];
        let of_node = move |&p: &usize| parts.map(|part| self.tracks.get(&(self.shown[p].index, part)));
        self.chain.iter().flat_map(of_node).chain([self.weights]).flatten()
    }

    /// The keyframes of all tracks together, with more between them where the way is bent.
    fn times(&self) -> Result<Vec<f64>, GeometryError> {
        let keys: usize = self.all_tracks().map(|t| t.times.len()).sum();
        self.document.budget.work(self.at, keys, 64)?;
        let mut keys: Vec<f64> =
            self.all_tracks().flat_map(|t| t.times.iter().map(|&t| f64::from(t))).collect();
        keys.sort_by(f64::total_cmp);
        keys.dedup();
        let tracks: Vec<&GltfTrack> = self.all_tracks().collect();
        self.document.budget.work(self.at, keys.len(), 16 * tracks.len())?;
        let mut scratch = Vec::new();
        let mut times = Vec::with_capacity(keys.len());
        for pair in keys.windows(2) {
            let pieces = tracks.iter().map(|t| t.pieces(pair[0], pair[1], &mut scratch)).max().unwrap_or(1);
            let step = (pair[1] - pair[0]) / pieces as f64;
            times.extend((0..pieces).map(|k| pair[0] + step * k as f64));
        }
        times.extend(keys.last());
        Ok(times)
    }

    /// Vertices at each time.
    fn samples(&self, shape: &MorphShape, times: &[f64]) -> Result<Vec<Vec<DVec3>>, GeometryError> {
        self.document.budget.bytes(self.at, times.len(), size_of::<DVec3>() * shape.positions.len())?;
        self.document.budget.work(self.at, times.len(), 8 * self.chain.len() + self.at_rest.len())?;
        let mut weights = self.at_rest.to_vec();
        let sample = |&time: &f64| {
            if let Some(track) = self.weights {
                track.at(time, &mut weights);
            }
            self.pose(shape, &weights, self.transform(time))
        };
        times.iter().map(sample).collect()
    }

    fn pose(
        &self,
        shape: &MorphShape,
        weights: &[f64],
        transform: DMat4,
    ) -> Result<Vec<DVec3>, GeometryError> {
        let moving = shape.targets.iter().zip(weights).filter(|(t, w)| !t.is_empty() && **w != 0.0).count();
        self.document.budget.work(self.at, 1 + moving, shape.positions.len())?;
        let mut positions = displaced(shape, weights);
        positions.iter_mut().for_each(|p| *p = transform.transform_point3(*p));
        all_finite("vertex", &positions).map_err(|e| self.at.fault(e.message, e.help))?;
        Ok(positions)
    }

    fn transform(&self, time: f64) -> DMat4 {
        if self.chain.is_empty() {
            return self.fixed;
        }
        self.chain.iter().fold(DMat4::IDENTITY, |above, &p| above * self.local(&self.shown[p], time))
    }

    fn local(&self, node: &GltfNode<'_>, time: f64) -> DMat4 {
        let Local::Parts { mut translation, rotation: mut turn, mut scale } = node.local else {
            return node.local.matrix();
        };
        let mut value = Vec::new();
        let vector = |v: &[f64]| v.first_chunk::<3>().map_or(DVec3::ZERO, |v| DVec3::from_array(*v));
        if let Some(track) = self.tracks.get(&(node.index, AnimatedProperty::Translation)) {
            track.at(time, &mut value);
            translation = vector(&value);
        }
        if let Some(track) = self.tracks.get(&(node.index, AnimatedProperty::Rotation)) {
            track.at(time, &mut value);
            turn = rotation(&value);
        }
        if let Some(track) = self.tracks.get(&(node.index, AnimatedProperty::Scale)) {
            track.at(time, &mut value);
            scale = vector(&value);
        }
        Local::Parts { translation, rotation: turn, scale }.matrix()
    }
}

/// Vertices with the targets added, in the axes of the mesh.
fn displaced(shape: &MorphShape, weights: &[f64]) -> Vec<DVec3> {
    let wide = |p: &[f32; 3]| DVec3::from_array(p.map(f64::from));
    let mut positions: Vec<DVec3> = shape.positions.iter().map(wide).collect();
    for (target, &weight) in shape.targets.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
        positions.iter_mut().zip(target).for_each(|(p, move_by)| *p += weight * wide(move_by));
    }
    positions
}

/// The attributes in the axes of the scene: normals turned, faces turned over where the transform mirrors.
fn posed_attributes(
    shape: &MorphShape,
    positions: &[DVec3],
    weights: &[f64],
    transform: DMat4,
) -> MeshAttributes {
    let mut attributes = shape.attributes.clone();
    if !attributes.normals.is_empty() && weights.iter().any(|&w| w != 0.0) {
        let rest: Vec<DVec3> = displaced(shape, &[]);
        let triangles = attributes.triangles(&rest);
        let following = FollowingNormals::new(&attributes, &TriMesh { positions: rest, triangles });
        let mut normals = Vec::new();
        following.at(&displaced(shape, weights), &mut normals);
        let values = normals.iter().map(|n| n.as_vec3().to_array()).collect();
        attributes.normals = Layer { values, corners: following.of_corners().to_vec() };
    }
    let linear = DMat3::from_mat4(transform);
    let determinant = linear.determinant();
    if determinant < 0.0 {
        attributes.flip();
        // Turning the faces over turned the normals too; those of a mirrored surface only need mirroring.
        attributes.normals.values.iter_mut().flatten().for_each(|x| *x = -*x);
    }
    // The inverse transpose up to a factor, also where there is no inverse.
    let DMat3 { x_axis: x, y_axis: y, z_axis: z } = linear;
    let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    let sign = if determinant < 0.0 { -1.0 } else { 1.0 };
    for normal in &mut attributes.normals.values {
        let turned = sign * (cofactors * DVec3::from_array(normal.map(f64::from)));
        *normal = turned.normalize_or_zero().as_vec3().to_array();
    }
    debug_assert!(attributes.check(positions.len()).is_ok());
    attributes
}
