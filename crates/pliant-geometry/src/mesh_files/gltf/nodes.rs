//! The tree of nodes: which meshes are shown where, and along which chain of transforms.

use super::document::Document;
use super::json::{EXPORT_AGAIN, JsonPlace};
use super::track::rotation;
use crate::error::{ErrorList, GeometryError};
use glam::{DMat4, DQuat, DVec3};

/// How a node is placed in its parent.
#[derive(Clone, Copy)]
pub(super) enum Local {
    Matrix(DMat4),
    Parts { translation: DVec3, rotation: DQuat, scale: DVec3 },
}

impl Local {
    fn read(at: &JsonPlace<'_>) -> Result<Local, GeometryError> {
        if let Some(columns) = at.numbers::<16>("matrix")? {
            return Ok(Local::Matrix(DMat4::from_cols_array(&columns)));
        }
        Ok(Local::Parts {
            translation: at.numbers("translation")?.map_or(DVec3::ZERO, DVec3::from_array),
            rotation: at.numbers::<4>("rotation")?.map_or(DQuat::IDENTITY, |q| rotation(&q)),
            scale: at.numbers("scale")?.map_or(DVec3::ONE, DVec3::from_array),
        })
    }

    pub fn matrix(&self) -> DMat4 {
        match *self {
            Local::Matrix(matrix) => matrix,
            Local::Parts { translation, rotation, scale } => {
                DMat4::from_scale_rotation_translation(scale, rotation, translation)
            }
        }
    }
}

/// A node that the scene shows.
pub(super) struct GltfNode<'a> {
    pub at: JsonPlace<'a>,
    /// Its index in the file.
    pub index: usize,
    /// Its parent among the nodes shown.
    pub parent: Option<usize>,
    pub local: Local,
    /// To the axes of the scene, without animation.
    pub world: DMat4,
}

/// The nodes of the scene, parents before children. A node reached twice is an error, so that this ends.
pub(super) fn walk<'a>(
    document: &'a Document<'a>,
    notes: &mut Vec<String>,
    errors: &mut ErrorList,
) -> Vec<GltfNode<'a>> {
    let list = &document.lists.nodes;
    let mut seen = vec![false; list.len()];
    let mut shown: Vec<GltfNode<'a>> = Vec::new();
    // A stack instead of recursion: trees may be as deep as the file is long.
    let mut stack: Vec<(usize, Option<usize>)> = match roots(document, notes) {
        Ok(roots) => roots.into_iter().rev().map(|root| (root, None)).collect(),
        Err(e) => {
            errors.add(e);
            return shown;
        }
    };
    while let Some((index, parent)) = stack.pop() {
        let Some(at) = list.at(index) else { continue };
        if std::mem::replace(&mut seen[index], true) {
            errors.add(
                at.fault(
                    "the node is reached twice: it has two parents or is its own ancestor",
                    EXPORT_AGAIN,
                ),
            );
            continue;
        }
        // A node of eleven bytes in the file takes hundreds here.
        if let Err(e) = document.budget.bytes(&at, 1, size_of::<GltfNode<'_>>() + 2 * at.path().len()) {
            errors.add(e);
            return shown;
        }
        match Local::read(&at) {
            Ok(local) => {
                let above = parent.map_or(DMat4::IDENTITY, |p: usize| shown[p].world);
                let world = above * local.matrix();
                shown.push(GltfNode { at: at.clone(), index, parent, local, world });
            }
            Err(e) => {
                errors.add(e);
                continue;
            }
        }
        let here = Some(shown.len() - 1);
        match indices(&at, "children", list.len()) {
            Ok(children) => stack.extend(children.into_iter().rev().map(|child| (child, here))),
            Err(e) => errors.add(e),
        }
    }
    let hidden = list.iter().zip(&seen).filter(|(at, seen)| !**seen && at.get("mesh").is_some()).count();
    if hidden > 0 && errors.is_empty() {
        notes.push(format!("{hidden} nodes with meshes are not in the scene and are passed over"));
    }
    shown
}

/// The nodes a scene begins with; without scenes those that are nobody's child.
fn roots(document: &Document<'_>, notes: &mut Vec<String>) -> Result<Vec<usize>, GeometryError> {
    let lists = &document.lists;
    let count = lists.nodes.len();
    let chosen = lists.root.refer("scene", &lists.scenes)?.map(|(_, at)| at).or_else(|| lists.scenes.at(0));
    if let Some(scene) = chosen {
        if lists.scenes.len() > 1 {
            notes.push(format!("{} of {} scenes is read", scene.path(), lists.scenes.len()));
        }
        return indices(&scene, "nodes", count);
    }
    let mut is_child = vec![false; count];
    for at in lists.nodes.iter() {
        indices(&at, "children", count)?.into_iter().for_each(|child| is_child[child] = true);
    }
    match (0..count).filter(|&k| !is_child[k]).collect::<Vec<_>>() {
        roots if roots.is_empty() && count > 0 => {
            Err(lists.root.fault("every node is the child of another: they go in circles", EXPORT_AGAIN))
        }
        roots => Ok(roots),
    }
}

/// The indices under a key, all below `count`.
fn indices(at: &JsonPlace<'_>, key: &str, count: usize) -> Result<Vec<usize>, GeometryError> {
    let within = |at: JsonPlace<'_>| match at.index()? {
        index if index < count => Ok(index),
        index => Err(at.fault(format!("node {index} is named, but there are {count}"), EXPORT_AGAIN)),
    };
    at.list(key)?.iter().map(within).collect()
}
