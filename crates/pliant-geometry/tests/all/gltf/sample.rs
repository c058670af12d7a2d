//! Files made by hand: a JSON part and a list of numbers, as `.gltf`, with data inside, or as `.glb`.

use pliant_geometry::encode_base64;
use pliant_geometry::{GeometryError, MeshFile, read_mesh_through};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A document that grows by accessors.
pub struct Sample {
    pub json: Value,
    pub bytes: Vec<u8>,
}

impl Sample {
    pub fn new() -> Sample {
        let json = json!({
            "asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], "meshes": [], "nodes": [],
            "scenes": [{"nodes": []}], "buffers": [{"byteLength": 0}]
        });
        Sample { json, bytes: Vec::new() }
    }

    fn push(&mut self, list: &str, value: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    /// Bytes on a boundary of four, as a view.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.json["buffers"][0]["byteLength"] = self.bytes.len().into();
        self.push("bufferViews", json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}))
    }

    pub fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({"bufferView": view, "type": kind, "componentType": component, "count": count}),
        )
    }

    pub fn floats<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = values.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
        self.accessor(["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1], 5126, values.len(), &bytes)
    }

    pub fn indices(&mut self, values: &[u16]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.accessor("SCALAR", 5123, values.len(), &bytes)
    }

    pub fn mesh(&mut self, primitives: Value) -> usize {
        self.push("meshes", json!({"name": "mesh", "primitives": primitives}))
    }

    /// A node of the scene.
    pub fn node(&mut self, node: Value) -> usize {
        let index = self.push("nodes", node);
        self.json["scenes"][0]["nodes"].as_array_mut().unwrap().push(index.into());
        index
    }

    /// An animation of one channel.
    pub fn animate(&mut self, node: usize, path: &str, interpolation: &str, input: usize, output: usize) {
        if self.json["animations"].is_null() {
            self.json["animations"] = json!([]);
        }
        self.push(
            "animations",
            json!({
                "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
                "samplers": [{"input": input, "output": output, "interpolation": interpolation}]
            }),
        );
    }

    /// A triangle in a node of its own: positions 0 0 0, 1 0 0, 0 1 0.
    pub fn triangle() -> Sample {
        let mut sample = Sample::new();
        let positions = sample.floats(&TRIANGLE);
        let mesh = sample.mesh(json!([{"attributes": {"POSITION": positions}}]));
        sample.node(json!({"name": "node", "mesh": mesh}));
        sample
    }

    pub fn glb(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(&self.json).unwrap();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bytes = self.bytes.clone();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let mut out = b"glTF\x02\0\0\0".to_vec();
        out.extend((28 + json.len() as u32 + bytes.len() as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", json), (b"BIN\0", bytes)] {
            out.extend((chunk.len() as u32).to_le_bytes());
            out.extend_from_slice(kind);
            out.extend(chunk);
        }
        out
    }

    /// As text, with a URI for the buffer.
    pub fn text(&self, uri: &str) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"][0]["uri"] = uri.into();
        serde_json::to_vec_pretty(&json).unwrap()
    }

    pub fn read(&self) -> MeshFile {
        read("a.glb", &self.glb()).unwrap()
    }

    /// The message of all errors.
    pub fn errors(&self) -> String {
        messages(read("a.glb", &self.glb()))
    }
}

pub const TRIANGLE: [[f32; 3]; 3] = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]];

pub fn messages(result: Result<MeshFile, Vec<GeometryError>>) -> String {
    result.unwrap_err().iter().map(|e| format!("{e}\n")).collect()
}

pub fn read(name: &str, bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    read_with(name, bytes, &[])
}

/// Reads a file from memory, with others beside it.
pub fn read_with(name: &str, bytes: &[u8], others: &[(&str, &[u8])]) -> Result<MeshFile, Vec<GeometryError>> {
    let mut files: BTreeMap<PathBuf, Vec<u8>> = others.iter().map(|(n, b)| (n.into(), b.to_vec())).collect();
    files.insert(name.into(), bytes.to_vec());
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    read_mesh_through(Path::new(name), &mut |p| files.get(p).cloned().ok_or_else(missing))
}

pub fn base64(bytes: &[u8]) -> String {
    String::from_utf8(encode_base64(bytes)).unwrap()
}
