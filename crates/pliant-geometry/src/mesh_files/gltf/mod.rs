//! glTF 2.0 and its binary form GLB, in and out.
//!
//! Read with a reader of our own over `serde_json`: every number of a file is looked at before it is used, so that
//! no file can cause a panic, and what a small file may become is bounded by [`document::Budget`].

mod accessor;
mod animation;
mod container;
mod document;
mod instance;
mod json;
mod material;
mod mesh;
mod nodes;
mod parts;
mod primitive;
mod track;
mod uri;
mod write;
mod write_json;
mod write_meshes;

pub use parts::GlbNormals;
pub use write::{Glb, GlbSurface};
pub use write_meshes::write_glb;

use crate::error::{ErrorList, GeometryError};
use crate::mesh_files::{Fetch, MeshFile};
use document::{Budget, Buffers, Document, DocumentLists};
use json::JsonPlace;
use mesh::GltfMesh;
use std::collections::BTreeMap;
use std::path::Path;

/// What to do about a compressed file.
const UNCOMPRESSED: &str = "export without compression: in Blender switch Data > Compression off; \
    or undo it with `gltf-transform copy` or gltfpack without -c";

/// Reads `.gltf` or `.glb`; buffers beside the file come through `fetch`.
pub(super) fn parse_gltf(
    bytes: &[u8],
    path: &Path,
    fetch: Fetch<'_>,
) -> Result<MeshFile, Vec<GeometryError>> {
    let one = |e| vec![e];
    let container = container::open(bytes).map_err(one)?;
    // The parser refuses what is nested deeper than 128.
    let json = serde_json::from_slice(container.json).map_err(|e| {
        let help = "the file is damaged or no glTF: export it again";
        let message = format!("the JSON part cannot be read: {e}");
        vec![if container.binary {
            GeometryError::new(message, help)
        } else {
            GeometryError::at_line(e.line(), message, help)
        }]
    })?;
    let lists = DocumentLists::new(&json).map_err(one)?;
    let mut errors = ErrorList::default();
    support(&lists.root).unwrap_or_else(|e| errors.add(e));
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    let buffers = Buffers::load(&lists, container.bytes, path, fetch, &mut errors);
    let budget = Budget::new((bytes.len() as u64).saturating_add(buffers.total()));
    let document = Document { lists, buffers, budget };
    let mut file = MeshFile {
        format: format!("glTF 2.0, {}", if container.binary { "binary" } else { "text" }),
        ..MeshFile::default()
    };
    read(&document, &mut file, &mut errors);
    if errors.is_empty() { Ok(file) } else { Err(errors.finish()) }
}

fn read(document: &Document<'_>, file: &mut MeshFile, errors: &mut ErrorList) {
    let lists = &document.lists;
    let shown = nodes::walk(document, &mut file.notes, errors);
    let mut meshes: BTreeMap<usize, Option<GltfMesh<'_>>> = BTreeMap::new();
    let mut users = Vec::new();
    for (place, node) in shown.iter().enumerate() {
        match node.at.refer("mesh", &lists.meshes) {
            Ok(Some((index, _))) => users.push((place, index)),
            Ok(None) => {}
            Err(e) => errors.add(e),
        }
    }
    let wanted: Vec<usize> = match lists.nodes.len() {
        0 => (0..lists.meshes.len()).collect(),
        _ => users.iter().map(|&(_, mesh)| mesh).collect(),
    };
    for index in wanted {
        if let Some(at) = lists.meshes.at(index).filter(|_| !meshes.contains_key(&index)) {
            meshes.insert(index, mesh::read(document, at, &mut file.notes, errors));
        }
    }
    let of_node = |index: usize| meshes.get(&index).and_then(Option::as_ref);
    let targets =
        users.iter().filter_map(|&(place, mesh)| Some((place, of_node(mesh)?.weights.len()))).collect();
    let (tracks, moved) = animation::read(document, &shown, &targets, &mut file.notes, errors);
    if !errors.is_empty() {
        return;
    }
    for &(place, index) in &users {
        let Some(mesh) = of_node(index) else { continue };
        match instance::place(document, &shown, place, mesh, &tracks, &moved) {
            Ok(found) => file.meshes.extend(found),
            Err(e) => return errors.add(e),
        }
    }
    if lists.nodes.len() == 0 {
        file.meshes.extend(meshes.values().flatten().flat_map(instance::alone));
    }
    let skinned = users.iter().filter(|(place, _)| shown[*place].at.get("skin").is_some()).count();
    if skinned > 0 {
        file.notes
            .push(format!("{skinned} meshes follow bones: they are read as modelled, in their bind pose"));
    }
    if file.meshes.is_empty() {
        errors.add(
            lists.root.fault("the scene shows no mesh", "export at least one mesh with faces or points"),
        );
    }
}

/// Refuses versions and required extensions that change the geometry in ways not known here.
fn support(root: &JsonPlace<'_>) -> Result<(), GeometryError> {
    let asset = root.need("asset")?;
    let version = asset.text("minVersion").or(asset.text("version")).unwrap_or("(none)");
    if !(version == "2" || version == "2.0") {
        return Err(
            asset.fault(format!("glTF version {} is not 2.0", uri::shown(version)), "export it as glTF 2.0")
        );
    }
    for name in root.list("extensionsRequired")?.texts() {
        let looks =
            ["KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_", "EXT_lights_"];
        if name == "KHR_mesh_quantization" || looks.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let compressed = ["draco", "meshopt"].iter().any(|c| name.contains(c));
        let help = if compressed { UNCOMPRESSED } else { "export without this extension" };
        let why = if compressed { "the meshes are compressed" } else { "this is not known here" };
        let place = root.need("extensionsRequired")?;
        return Err(place.fault(format!("{} is required: {why}", uri::shown(name)), help));
    }
    Ok(())
}
