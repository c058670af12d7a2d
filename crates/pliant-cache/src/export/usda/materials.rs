//! Materials of a USD file: a UsdPreviewSurface each, with its texture or the colours of vertices.

use super::text::{Text, asset, quoted};
use crate::export::materials::ExportMaterial;

/// Where prims of materials are.
pub(super) const SCOPE: &str = "/World/Materials";

/// All materials, under the root so that a reference to it brings them along. A package holds no textures.
pub(super) fn write(text: &mut Text, materials: &[ExportMaterial], names: &[String], textures: bool) {
    text.put("    def Scope \"Materials\"\n    {\n");
    for (export_material, name) in materials.iter().zip(names) {
        one(text, export_material, name, textures);
    }
    text.put("    }\n");
}

fn one(text: &mut Text, export_material: &ExportMaterial, name: &str, textures: bool) {
    let material = &export_material.material;
    let path = format!("{SCOPE}/{name}");
    let texture = material.texture.as_deref().filter(|_| textures);
    write!(
        text,
        "        def Material \"{name}\" (\n            displayName = {}\n        )\n",
        quoted(&material.name)
    );
    write!(
        text,
        "        {{\n            token outputs:surface.connect = <{path}/Surface.outputs:surface>\n\n"
    );
    shader(text, "Surface", "UsdPreviewSurface");
    let [r, g, b, opacity] = material.color;
    text.put("                color3f inputs:diffuseColor");
    if texture.is_some() {
        writeln!(text, ".connect = <{path}/Texture.outputs:rgb>");
    } else if export_material.vertex_colors {
        writeln!(text, ".connect = <{path}/Colors.outputs:result>");
    } else {
        text.put(" = ");
        text.tuple(&[r, g, b]);
        text.put("\n");
    }
    for (input, value) in
        [("metallic", material.metallic), ("opacity", opacity), ("roughness", material.roughness)]
    {
        writeln!(text, "                float inputs:{input} = {value}");
    }
    text.put("                token outputs:surface\n            }\n");
    if let Some(texture) = texture {
        text.put("\n");
        shader(text, "Texture", "UsdUVTexture");
        writeln!(text, "                asset inputs:file = {}", asset(texture));
        // What is seen until the file is found, and instead of it where there is none.
        text.put("                float4 inputs:fallback = ");
        text.tuple(&material.color);
        text.put("\n                token inputs:sourceColorSpace = \"sRGB\"\n");
        writeln!(text, "                float2 inputs:st.connect = <{path}/Coordinates.outputs:result>");
        text.put("                token inputs:wrapS = \"repeat\"\n                token inputs:wrapT = \"repeat\"\n");
        text.put("                float3 outputs:rgb\n            }\n\n");
        shader(text, "Coordinates", "UsdPrimvarReader_float2");
        text.put("                string inputs:varname = \"st\"\n                float2 outputs:result\n            }\n");
    } else if export_material.vertex_colors {
        text.put("\n");
        shader(text, "Colors", "UsdPrimvarReader_float3");
        text.put("                string inputs:varname = \"displayColor\"\n                float3 outputs:result\n            }\n");
    }
    text.put("        }\n\n");
}

fn shader(text: &mut Text, name: &str, id: &str) {
    write!(
        text,
        "            def Shader \"{name}\"\n            {{\n                uniform token info:id = \"{id}\"\n"
    );
}
