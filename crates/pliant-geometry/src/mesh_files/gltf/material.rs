//! Materials: base colour, metallic, roughness and the image of the base colour.

use super::document::Document;
use super::json::JsonPlace;
use crate::{GeometryError, SurfaceMaterial};

/// What the specification gives a primitive without material.
pub(super) fn unnamed() -> SurfaceMaterial {
    SurfaceMaterial { color: [1.0; 4], metallic: 1.0, roughness: 1.0, ..SurfaceMaterial::default() }
}

/// Reads a material.
pub(super) fn read(document: &Document<'_>, at: &JsonPlace<'_>) -> Result<SurfaceMaterial, GeometryError> {
    let mut found = SurfaceMaterial { name: at.text("name").unwrap_or_default().into(), ..unnamed() };
    if let Some(surface) = at.get("pbrMetallicRoughness") {
        if let Some(color) = surface.numbers::<4>("baseColorFactor")? {
            found.color = color.map(factor);
        }
        found.metallic = surface.number("metallicFactor")?.map_or(1.0, factor);
        found.roughness = surface.number("roughnessFactor")?.map_or(1.0, factor);
        if let Some(texture) = surface.get("baseColorTexture") {
            found.texture = image(document, &texture)?;
        }
    }
    // Without blending the opacity is not looked at.
    if at.text("alphaMode").unwrap_or("OPAQUE") == "OPAQUE" {
        found.color[3] = 1.0;
    }
    Ok(found)
}

/// Bytes a copy takes: names can be long.
pub(super) fn size(material: &SurfaceMaterial) -> usize {
    size_of::<SurfaceMaterial>() + material.name.len() + material.texture.as_ref().map_or(0, String::len)
}

fn factor(x: f64) -> f32 {
    x.clamp(0.0, 1.0) as f32
}

/// The image of a texture: the name of its file, or its own name if its bytes are inside.
fn image(document: &Document<'_>, at: &JsonPlace<'_>) -> Result<Option<String>, GeometryError> {
    let Some((_, texture)) = at.refer("index", &document.lists.textures)? else { return Ok(None) };
    let Some((_, image)) = texture.refer("source", &document.lists.images)? else { return Ok(None) };
    let inside = |uri: &&str| uri.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("data:"));
    let file = image.text("uri").filter(|uri| !inside(uri));
    Ok(file.or(image.text("name")).map(str::to_string))
}
