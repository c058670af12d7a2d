//! The attributes of a render mesh as channels of the log: polygons, texture coordinates, normals, colours, materials.

use super::channel::{LogChannel, find, need, parse, put};
use pliant_geometry::{Layer, MeshAttributes, Polygons, SurfaceMaterial};

/// The channels of attributes; none if there are none.
pub(super) fn encode(attributes: &MeshAttributes) -> Vec<u8> {
    let mut out = Vec::new();
    if attributes.is_empty() {
        return out;
    }
    let sizes: Vec<u32> = attributes.faces.sizes().collect();
    put(&mut out, "face_sizes", &[&sizes[..]]);
    put(&mut out, "face_corners", &[attributes.faces.corners()]);
    put_layer(&mut out, "uv", &attributes.uvs);
    put_layer(&mut out, "normal", &attributes.normals);
    put_rows(&mut out, "vertex_colors", &attributes.colors);
    if !attributes.face_materials.is_empty() {
        put(&mut out, "face_materials", &[&attributes.face_materials[..]]);
    }
    for material in &attributes.materials {
        let mut inner = Vec::new();
        put(&mut inner, "name", &[material.name.as_bytes()]);
        put(&mut inner, "color", &[&material.color[..]]);
        put(&mut inner, "metallic", &[&[material.metallic][..]]);
        put(&mut inner, "roughness", &[&[material.roughness][..]]);
        if let Some(texture) = &material.texture {
            put(&mut inner, "texture", &[texture.as_bytes()]);
        }
        put(&mut out, "material", &[&inner[..]]);
    }
    out
}

/// Attributes from its channels. Whether it fits the mesh is checked with the body.
pub(super) fn decode(payload: &[u8]) -> Result<MeshAttributes, String> {
    let channels = parse(payload)?;
    let sizes = need(&channels, "face_sizes")?.values::<u32>()?;
    let corners = need(&channels, "face_corners")?.values()?;
    Ok(MeshAttributes {
        faces: Polygons::from_sizes(&sizes, corners)
            .ok_or("the sizes of the faces do not fit their corners")?,
        uvs: layer(&channels, "uv")?,
        normals: layer(&channels, "normal")?,
        colors: rows(&channels, "vertex_colors")?,
        materials: channels
            .iter()
            .filter(|c| c.name == "material")
            .map(|c| material(&c.values::<u8>()?))
            .collect::<Result<_, _>>()?,
        face_materials: find(&channels, "face_materials").map_or(Ok(Vec::new()), LogChannel::values)?,
    })
}

fn material(payload: &[u8]) -> Result<SurfaceMaterial, String> {
    let channels = parse(payload)?;
    let color = need(&channels, "color")?.values::<f32>()?;
    Ok(SurfaceMaterial {
        name: need(&channels, "name")?.text()?,
        color: <[f32; 4]>::try_from(color).map_err(|_| "the color of a material has not four parts")?,
        metallic: need(&channels, "metallic")?.value()?,
        roughness: need(&channels, "roughness")?.value()?,
        texture: find(&channels, "texture").map(LogChannel::text).transpose()?,
    })
}

fn put_layer<const N: usize>(out: &mut Vec<u8>, name: &str, layer: &Layer<[f32; N]>) {
    put_rows(out, &format!("{name}_values"), &layer.values);
    if !layer.is_empty() {
        put(out, &format!("{name}_corners"), &[&layer.corners[..]]);
    }
}

fn layer<const N: usize>(channels: &[LogChannel<'_>], name: &str) -> Result<Layer<[f32; N]>, String> {
    Ok(Layer {
        values: rows(channels, &format!("{name}_values"))?,
        corners: find(channels, &format!("{name}_corners")).map_or(Ok(Vec::new()), LogChannel::values)?,
    })
}

/// Rows of numbers as one plane per column.
fn put_rows<const N: usize>(out: &mut Vec<u8>, name: &str, rows: &[[f32; N]]) {
    if rows.is_empty() {
        return;
    }
    let planes: [Vec<f32>; N] = std::array::from_fn(|k| rows.iter().map(|row| row[k]).collect());
    let slices: Vec<&[f32]> = planes.iter().map(Vec::as_slice).collect();
    put(out, name, &slices);
}

fn rows<const N: usize>(channels: &[LogChannel<'_>], name: &str) -> Result<Vec<[f32; N]>, String> {
    let Some(channel) = find(channels, name) else { return Ok(Vec::new()) };
    let planes = channel.planes::<f32, N>()?;
    let rows: Vec<[f32; N]> = (0..planes[0].len()).map(|i| std::array::from_fn(|k| planes[k][i])).collect();
    match rows.iter().position(|row| !row.iter().all(|x| x.is_finite())) {
        Some(i) => Err(format!("{name} {i} is not finite")),
        None => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_back_as_they_went_in() {
        let mut faces = Polygons::default();
        faces.push(&[0, 1, 2]);
        faces.push(&[0, 2, 3, 1]);
        let red = SurfaceMaterial { name: "red".into(), color: [1.0, 0.0, 0.0, 0.5], ..Default::default() };
        let attributes = MeshAttributes {
            uvs: Layer { values: vec![[0.0, 1.0], [0.5, 0.25]], corners: vec![0, 1, 0, 1, 1, 0, 0] },
            normals: Layer::of_vertices(vec![[0.0, 1.0, 0.0]; 4], &faces),
            colors: vec![[0.1, 0.2, 0.3, 1.0]; 4],
            materials: vec![red.clone(), SurfaceMaterial { texture: Some("a b.png".into()), ..red }],
            face_materials: vec![1, 0],
            faces,
        };
        assert_eq!(decode(&encode(&attributes)), Ok(attributes.clone()));
        assert_eq!(attributes.check(4), Ok(()));
        assert!(attributes.check(3).is_err());
        assert!(encode(&MeshAttributes::default()).is_empty());
    }
}
