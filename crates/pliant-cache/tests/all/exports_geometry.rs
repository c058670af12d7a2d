//! Point caches, VTU series and USD packages read back by code that did not write them; units, axes and frames.

use crate::common::{dressed_header, expected, frame, write_dressed};
use pliant_cache::{
    Conversion, ErrorKind, ExportOptions, ExportSummary, FrameSelection, LogReader, LogWriter, export,
};
use std::fs;
use std::path::{Path, PathBuf};

const FRAMES: u32 = 9;

/// A folder with the log of the dressed run.
fn dressed() -> (pliant_testing::TempDir, LogReader) {
    let folder = pliant_testing::tempdir().unwrap();
    let log = folder.path().join("a.plog");
    write_dressed(&log, FRAMES);
    let reader = LogReader::open(&log).unwrap();
    (folder, reader)
}

fn run(reader: &LogReader, path: &Path, options: &ExportOptions) -> ExportSummary {
    let mut last = (0, 1);
    let done = export(reader, path, options, &mut |done, all| last = (done, all)).unwrap();
    assert_eq!(last.0, last.1, "progress ends at the end");
    done
}

fn word(bytes: &[u8], at: usize) -> [u8; 4] {
    bytes[at..at + 4].try_into().unwrap()
}

/// MDD from its published description: times, and positions of each frame.
fn parse_mdd(bytes: &[u8]) -> (Vec<f32>, Vec<Vec<[f32; 3]>>) {
    let count = |at| i32::from_be_bytes(word(bytes, at)) as usize;
    let float = |at| f32::from_be_bytes(word(bytes, at));
    let (frames, points) = (count(0), count(4));
    assert_eq!(bytes.len(), 8 + 4 * frames + 12 * frames * points);
    let times = (0..frames).map(|k| float(8 + 4 * k)).collect();
    let start = 8 + 4 * frames;
    let point = |f: usize, p: usize| [0, 1, 2].map(|a| float(start + 4 * (3 * (f * points + p) + a)));
    (times, (0..frames).map(|f| (0..points).map(|p| point(f, p)).collect()).collect())
}

/// An array of a VTU file.
struct Array {
    name: String,
    kind: String,
    components: usize,
    data: Vec<u8>,
}

impl Array {
    fn floats(&self) -> Vec<f32> {
        assert_eq!(self.kind, "Float32");
        self.data.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
    }

    fn whole(&self) -> Vec<i32> {
        assert_eq!(self.kind, "Int32");
        self.data.as_chunks::<4>().0.iter().map(|&b| i32::from_le_bytes(b)).collect()
    }

    fn triples(&self) -> Vec<[f32; 3]> {
        assert_eq!(self.components, 3);
        self.floats().as_chunks::<3>().0.to_vec()
    }
}

struct Vtu {
    points: usize,
    cells: usize,
    arrays: Vec<Array>,
}

impl Vtu {
    fn get(&self, name: &str) -> &Array {
        self.arrays.iter().find(|a| a.name == name).unwrap_or_else(|| panic!("no {name}"))
    }
}

fn attribute(tag: &str, name: &str) -> String {
    let from =
        tag.find(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name} in {tag}")) + name.len() + 3;
    tag[from..].split('"').next().unwrap().into()
}

/// A VTU file with raw appended data: head of XML, underscore, blocks of u64 length and bytes, end of XML.
fn parse_vtu(path: &Path) -> Vtu {
    let bytes = fs::read(path).unwrap();
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
    let end = b"\n  </AppendedData>\n</VTKFile>\n";
    assert!(bytes.ends_with(end));
    let data = &bytes[at + mark.len()..bytes.len() - end.len()];
    assert!(head.contains("byte_order=\"LittleEndian\" header_type=\"UInt64\""));
    let mut used = 0;
    let arrays = head
        .split("<DataArray")
        .skip(1)
        .filter(|tag| tag.contains("format=\"appended\""))
        .map(|tag| {
            let offset: usize = attribute(tag, "offset").parse().unwrap();
            assert_eq!(offset, used, "blocks follow one another");
            let length = u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap()) as usize;
            used = offset + 8 + length;
            Array {
                name: attribute(tag, "Name"),
                kind: attribute(tag, "type"),
                components: attribute(tag, "NumberOfComponents").parse().unwrap(),
                data: data[offset + 8..used].to_vec(),
            }
        })
        .collect();
    assert_eq!(used, data.len());
    let piece = head.split("<Piece").nth(1).unwrap();
    let count = |name| attribute(piece, name).parse().unwrap();
    Vtu { points: count("NumberOfPoints"), cells: count("NumberOfCells"), arrays }
}

fn part(folder: &Path, frame: usize) -> PathBuf {
    folder.join(format!("a_{frame:04}.vtu"))
}

#[test]
fn mdd_holds_the_vertices_and_times() {
    let (folder, reader) = dressed();
    let path = folder.path().join("a.mdd");
    let done = run(&reader, &path, &ExportOptions::default());
    assert_eq!((done.files, done.frames, done.vertices), (1, 9, 69));
    let bytes = fs::read(&path).unwrap();
    assert_eq!(done.bytes, bytes.len() as u64);
    let (times, frames) = parse_mdd(&bytes);
    for k in [0, 4, 8] {
        assert_eq!(times[k], reader.frame_time(k).unwrap() as f32);
        assert_eq!(frames[k], expected(&reader, k));
    }
    let frames = FrameSelection { first: Some(1), last: Some(7), step: 3 };
    run(&reader, &path, &ExportOptions { frames, ..Default::default() });
    let (times, frames) = parse_mdd(&fs::read(&path).unwrap());
    assert_eq!(times, [1, 4, 7].map(|k| reader.frame_time(k).unwrap() as f32));
    assert_eq!(frames[2], expected(&reader, 7));
}

#[test]
fn vtu_holds_particles_their_elements_and_fields() {
    let (folder, reader) = dressed();
    let path = folder.path().join("a.pvd");
    let frames = FrameSelection { first: Some(1), last: None, step: 2 };
    let done = run(&reader, &path, &ExportOptions { frames, ..Default::default() });
    assert_eq!((done.files, done.frames, done.vertices), (5, 4, 73));
    let list = fs::read_to_string(&path).unwrap();
    let listed: Vec<(String, String)> =
        list.split("<DataSet").skip(1).map(|t| (attribute(t, "timestep"), attribute(t, "file"))).collect();
    assert_eq!(listed.len(), 4);
    for ((time, file), k) in listed.iter().zip([1, 3, 5, 7]) {
        assert_eq!(time.parse::<f64>().unwrap(), reader.frame_time(k).unwrap());
        assert_eq!(*file, format!("a_{k:04}.vtu"));
    }
    let header = reader.header();
    for k in [1, 5, 7] {
        let frame = reader.frame(k).unwrap();
        let vtu = parse_vtu(&part(folder.path(), k));
        let [x, y, z] = &frame.positions;
        let points: Vec<[f32; 3]> = (0..73).map(|i| [x[i], y[i], z[i]].map(|c| c as f32)).collect();
        assert_eq!((vtu.points, vtu.get("Points").triples()), (73, points));
        let [u, v, w] = &frame.velocity;
        let velocities: Vec<[f32; 3]> = (0..73).map(|i| [u[i], v[i], w[i]]).collect();
        assert_eq!(vtu.get("velocity").triples(), velocities);
        assert_eq!(vtu.get("strain").floats(), frame.strain);
        assert_eq!(vtu.get("contact").data, frame.contact);
        assert_eq!(vtu.get("mass").floats()[72], 72.5);
        let clusters: Vec<i32> = header.bodies[0].cluster.iter().map(|&c| c as i32).chain([-1; 61]).collect();
        assert_eq!(vtu.get("cluster").whole(), clusters);
        let body: Vec<i32> =
            [(0, 12), (1, 36), (2, 20), (3, 5)].iter().flat_map(|&(b, n)| vec![b; n]).collect();
        assert_eq!(vtu.get("body").whole(), body);
        // Vertices of the box, triangles of the cloth, vertices of the cloud, tetrahedra of the pyramid.
        let types: Vec<u8> =
            [(1, 12), (5, 50), (1, 20), (10, 2)].iter().flat_map(|&(t, n)| vec![t; n]).collect();
        assert_eq!((vtu.cells, &vtu.get("types").data), (84, &types));
        let (corners, offsets) = (vtu.get("connectivity").whole(), vtu.get("offsets").whole());
        assert_eq!(*offsets.last().unwrap() as usize, corners.len());
        let cell = |c: usize| &corners[if c == 0 { 0 } else { offsets[c - 1] as usize }..offsets[c] as usize];
        assert_eq!(cell(3), [3]);
        assert_eq!(cell(12), header.bodies[1].mesh.triangles[0].map(|v| v as i32 + 12));
        assert_eq!(cell(83), [68, 71, 70, 72]);
    }
}

#[test]
fn vtu_can_show_the_surface() {
    let (folder, reader) = dressed();
    let path = folder.path().join("a.vtu");
    run(&reader, &path, &ExportOptions { surface: true, ..Default::default() });
    let vtu = parse_vtu(&part(folder.path(), 4));
    assert_eq!(vtu.get("Points").triples(), expected(&reader, 4));
    let types: Vec<u8> =
        [(9, 6), (5, 50), (1, 20), (9, 1), (5, 4)].iter().flat_map(|&(t, n)| vec![t; n]).collect();
    assert_eq!(vtu.get("types").data, types);
    assert_eq!(vtu.get("connectivity").whole()[..4], [0, 2, 3, 1]);
    // The cloud's vertices are its particles: fields pass through.
    let frame = reader.frame(4).unwrap();
    assert_eq!(vtu.get("strain").floats()[44..64], frame.strain[48..68]);
    assert_eq!(vtu.get("velocity").triples()[44][1], frame.velocity[1][48]);
}

#[test]
fn units_and_axes_are_converted_everywhere_alike() {
    let (folder, reader) = dressed();
    let conversion = Conversion { scale: 100.0, z_up: true };
    let options = ExportOptions { conversion, surface: true, ..Default::default() };
    let at = |extension: &str| folder.path().join("a").with_extension(extension);
    for extension in ["mdd", "pvd", "pc2", "usda", "obj", "ply", "glb"] {
        run(&reader, &at(extension), &options);
    }
    let frame = reader.frame(6).unwrap();
    let mut wanted = Vec::new();
    let mut vertices = Vec::new();
    for body in &reader.header().bodies {
        body.vertices(&frame, &mut vertices);
        wanted.extend(vertices.iter().map(|p| [100.0 * p.x, -100.0 * p.z, 100.0 * p.y].map(|c| c as f32)));
    }
    assert_eq!(parse_mdd(&fs::read(at("mdd")).unwrap()).1[6], wanted);
    let vtu = parse_vtu(&part(folder.path(), 6));
    assert_eq!(vtu.get("Points").triples(), wanted);
    // What moved up moves up.
    let velocity = vtu.get("velocity").triples()[44];
    assert_eq!(velocity[2], (100.0 * f64::from(frame.velocity[1][48])) as f32);
    let cache = pliant_geometry::parse_pc2(&fs::read(at("pc2")).unwrap()).unwrap();
    let as_read: Vec<[f32; 3]> = cache.samples[6].iter().map(|p| p.as_vec3().to_array()).collect();
    assert_eq!(as_read, wanted);
    for extension in ["obj", "ply"] {
        let file = pliant_geometry::read_mesh(&folder.path().join(format!("a_0006.{extension}"))).unwrap();
        let points = file.meshes.iter().flat_map(|m| &m.positions).map(|p| p.as_vec3().to_array());
        assert!(points.eq(wanted.iter().copied()), "{extension}");
        // Normals turn along: the cube's first face looked along −z and has moved a little since.
        let normals = &file.meshes[0].attributes.normals;
        let [_, forward, _] = normals.values[normals.corners[0] as usize];
        assert!(forward > 0.5, "{extension}: {forward}");
    }
    let text = fs::read_to_string(at("usda")).unwrap();
    for line in ["    metersPerUnit = 0.01", "    upAxis = \"Z\""] {
        assert!(text.lines().any(|l| l == line), "{line}");
    }
    let [x, y, z] = wanted[0];
    let sample = format!("            6: [({x}, {y}, {z}), ");
    assert!(text.lines().any(|l| l.starts_with(&sample)), "{sample}");
    // glTF is metres, y up, whatever is asked for.
    let asked = fs::read(at("glb")).unwrap();
    run(&reader, &at("glb"), &ExportOptions::default());
    assert!(asked == fs::read(at("glb")).unwrap());
}

#[test]
fn a_package_is_an_aligned_archive_of_the_text() {
    let (folder, reader) = dressed();
    let [text, package] = ["a.usda", "a.usdz"].map(|n| folder.path().join(n));
    run(&reader, &text, &ExportOptions::default());
    run(&reader, &package, &ExportOptions::default());
    let (text, bytes) = (fs::read(text).unwrap(), fs::read(package).unwrap());
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]) as usize;
    let long = |at: usize| u32::from_le_bytes(word(&bytes, at)) as usize;
    assert_eq!(&bytes[..4], b"PK\x03\x04");
    // No flags, stored.
    assert_eq!((half(6), half(8)), (0, 0));
    let start = 30 + half(26) + half(28);
    assert!(start.is_multiple_of(64));
    assert_eq!(&bytes[30..36], b"a.usda");
    assert_eq!((long(18), long(22)), (text.len(), text.len()));
    assert_eq!(long(14), crc32fast_of(&text) as usize);
    assert!(bytes[start..start + text.len()] == text);
    let directory = start + text.len();
    assert_eq!(&bytes[directory..directory + 4], b"PK\x01\x02");
    assert_eq!((long(directory + 16), long(directory + 42)), (long(14), 0));
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    assert_eq!((half(end + 10), long(end + 12), long(end + 16)), (1, end - directory, directory));
}

/// CRC-32 bit by bit.
fn crc32fast_of(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

#[test]
fn usd_dresses_bodies() {
    let folder = pliant_testing::tempdir().unwrap();
    let log = folder.path().join("a.plog");
    let mut header = dressed_header();
    std::sync::Arc::make_mut(&mut header.bodies[1].attributes).materials[0].texture =
        Some("maps\\skin.png".into());
    let mut writer = LogWriter::create(&log, &header, false).unwrap();
    writer.append_frame(&frame(&header, 0)).unwrap();
    writer.finish().unwrap();
    let reader = LogReader::open(&log).unwrap();
    let path = folder.path().join("a.usda");
    run(&reader, &path, &ExportOptions::default());
    let text = fs::read_to_string(&path).unwrap();
    for line in [
        "int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]",
        "int[] faceVertexCounts = [4, 3, 3, 3, 3]",
        "normal3f[] primvars:normals (",
        "int[] primvars:st:indices = [0, 1, 2, 3, 0, 4, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]",
        "uniform token subsetFamily:materialBind:familyType = \"partition\"",
        "int[] indices = [0, 1, 3]",
        "int[] indices = [2, 4, 5]",
        "displayName = \"rot glänzend\"",
        "color3f inputs:diffuseColor = (0.5, 0.5, 1)",
        "float inputs:opacity = 0.25",
        "float inputs:metallic = 0.25",
        "float inputs:roughness = 0.125",
        "asset inputs:file = @./maps/skin.png@",
        "string inputs:varname = \"st\"",
        "string inputs:varname = \"displayColor\"",
        "float[] primvars:displayOpacity = [1, 0.875, 0.75, 0.625, 0.5] (",
    ] {
        assert!(text.lines().any(|l| l.trim_start() == line), "{line}");
    }
    // The texture made another material of the red, so there are three besides the two bodies' own.
    assert_eq!(text.matches("def Material \"").count(), 5);
    // A package holds no files beside the text, so it names none.
    let package = folder.path().join("a.usdz");
    run(&reader, &package, &ExportOptions::default());
    assert!(!String::from_utf8_lossy(&fs::read(package).unwrap()).contains("skin.png"));
}

#[test]
fn what_fails_leaves_the_old_file_and_nothing_else() {
    let folder = pliant_testing::tempdir().unwrap();
    let log = folder.path().join("a.plog");
    let header = dressed_header();
    let mut writer = LogWriter::create(&log, &header, false).unwrap();
    let mut bad = frame(&header, 0);
    bad.positions[1][70] = 1e300;
    writer.append_frame(&bad).unwrap();
    writer.finish().unwrap();
    let reader = LogReader::open(&log).unwrap();
    for extension in ["mdd", "usdz", "pvd", "pc2", "usda"] {
        let path = folder.path().join("a").with_extension(extension);
        fs::write(&path, b"old").unwrap();
        let e = export(&reader, &path, &ExportOptions::default(), &mut |_, _| {}).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Content);
        assert!(e.to_string().contains("frame 0, body \"1. Pyramide\""), "{e}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6);
    // A scale that leaves the range of f32 is seen as well.
    let conversion = Conversion { scale: 1e300, z_up: false };
    let body = Some("Materials".into());
    let options = ExportOptions { conversion, body, ..Default::default() };
    assert!(export(&reader, folder.path().join("b.mdd"), &options, &mut |_, _| {}).is_err());
    assert!(!folder.path().join("b.mdd").exists());
}
