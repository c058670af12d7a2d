//! Animations: the tracks that move meshes, of all clips together.

use super::document::Document;
use super::instance::Tracks;
use super::json::JsonPlace;
use super::nodes::GltfNode;
use super::track::{AnimatedProperty, GltfTrack};
use crate::error::{ErrorList, GeometryError};
use std::collections::{BTreeMap, BTreeSet};

/// The tracks of the nodes that show meshes and of those above them, and for each node shown whether tracks move it.
///
/// Exporters write one clip for all objects, or one for each: so the first clip that moves something about a node
/// counts, and what others do to the same is passed over. `targets` are the nodes with meshes, as places in `shown`,
/// with the number of their morph targets.
pub(super) fn read(
    document: &Document<'_>,
    shown: &[GltfNode<'_>],
    targets: &BTreeMap<usize, usize>,
    notes: &mut Vec<String>,
    errors: &mut ErrorList,
) -> (Tracks, Vec<bool>) {
    // By index in the file: the targets of nodes that matter.
    let mut matters: BTreeMap<usize, usize> = BTreeMap::new();
    for (&place, &count) in targets {
        let mut next = Some((place, count));
        while let Some((place, count)) = next {
            let node = &shown[place];
            let known = matters.contains_key(&node.index);
            if !known || count > 0 {
                matters.insert(node.index, count);
            }
            next = node.parent.filter(|_| !known).map(|p| (p, 0));
        }
    }
    let mut tracks = Tracks::new();
    let mut passed_over = BTreeSet::new();
    for (clip, animation) in document.lists.animations.iter().enumerate() {
        let mut clip_tracks = || -> Result<(), GeometryError> {
            let samplers = animation.list("samplers")?;
            for channel in animation.list("channels")?.iter() {
                let Some((index, property)) = target(document, &channel)? else { continue };
                let Some(&count) = matters.get(&index) else { continue };
                if property == AnimatedProperty::Weights && count == 0 {
                    continue;
                }
                if tracks.contains_key(&(index, property)) {
                    passed_over.insert(clip);
                    continue;
                }
                let Some((_, sampler)) = channel.refer("sampler", &samplers)? else { continue };
                let track = GltfTrack::read(document, &sampler, property, count)?;
                tracks.insert((index, property), track);
            }
            Ok(())
        };
        if let Err(e) = clip_tracks() {
            errors.add(e);
        }
    }
    if !passed_over.is_empty() {
        notes.push(format!(
            "{} of {} animations move what others before them move, and are passed over there",
            passed_over.len(),
            document.lists.animations.len()
        ));
    }
    let parts = [AnimatedProperty::Translation, AnimatedProperty::Rotation, AnimatedProperty::Scale];
    let mut moved: Vec<bool> = Vec::with_capacity(shown.len());
    for node in shown {
        let own = parts.iter().any(|&part| tracks.contains_key(&(node.index, part)));
        moved.push(own || node.parent.is_some_and(|p| moved[p]));
    }
    (tracks, moved)
}

/// Which property of which node a channel moves; `None` for what is not known.
fn target(
    document: &Document<'_>,
    channel: &JsonPlace<'_>,
) -> Result<Option<(usize, AnimatedProperty)>, GeometryError> {
    let target = channel.need("target")?;
    let Some((index, _)) = target.refer("node", &document.lists.nodes)? else { return Ok(None) };
    Ok(target.text("path").and_then(AnimatedProperty::named).map(|property| (index, property)))
}
