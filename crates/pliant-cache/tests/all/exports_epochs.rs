//! Exports of a run in which bodies come, go and are torn: each format has them as its readers can take them.

use crate::common::changing::{self, FRAMES, changing_header, frame_with, vertices};
use pliant_cache::{
    CacheError, ExportOptions, ExportSummary, FORMATS, FrameSelection, LogBody, LogReader, LogWriter, export,
};
use pliant_geometry::{TriMesh, parse_mdd, parse_pc2, read_mesh};
use std::path::Path;

fn run(dir: &Path) -> LogReader {
    let path = dir.join("a.plog");
    changing::write_changing(&path, &[], false);
    LogReader::open(&path).unwrap()
}

fn write(reader: &LogReader, name: &str, options: &ExportOptions) -> Result<ExportSummary, CacheError> {
    export(reader, reader.path().with_file_name(name), options, &mut |_, _| {})
}

fn read_pc2(reader: &LogReader, name: &str) -> Vec<Vec<[f32; 3]>> {
    let cache = parse_pc2(&std::fs::read(reader.path().with_file_name(name)).unwrap()).unwrap();
    cache.samples.iter().map(|s| s.iter().map(|p| p.as_vec3().to_array()).collect()).collect()
}

/// The points of the torn cloth before it is torn, as it will have them: copies lie on what they will come from.
fn in_last_topology(points: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let copies = (0..6).map(|row| row * 6 + 3);
    let there = points.len() - 36;
    points.iter().copied().chain(copies.skip(there).map(|v| points[v])).collect()
}

#[test]
fn caches_have_one_topology_and_all_bodies_in_all_frames() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    let summary = write(&reader, "a.pc2", &ExportOptions::default()).unwrap();
    assert_eq!((summary.frames, summary.vertices), (13, 8 + 42 + 20 + 8 + 8));
    let samples = read_pc2(&reader, "a.pc2");
    let at = |k: usize, id: u64| vertices(&reader, k, id);
    for (k, sample) in samples.iter().enumerate() {
        // The cube goes with frame 8 and stays where it was; the copy waits where it comes in frame 3.
        assert_eq!(sample[..8], at(k.min(7), 0).unwrap(), "frame {k}");
        assert_eq!(sample[8..50], in_last_topology(&at(k, 1).unwrap()), "frame {k}");
        assert_eq!(sample[50..70], at(k, 2).unwrap(), "frame {k}");
        assert_eq!(sample[70..78], at(k.max(3), 3).unwrap(), "frame {k}");
        assert_eq!(sample[78..], at(k.max(10), 4).unwrap(), "frame {k}");
    }
    write(&reader, "a.mdd", &ExportOptions::default()).unwrap();
    let mdd = parse_mdd(&std::fs::read(dir.path().join("a.mdd")).unwrap()).unwrap();
    let mdd: Vec<Vec<[f32; 3]>> =
        mdd.samples.iter().map(|s| s.iter().map(|p| p.as_vec3().to_array()).collect()).collect();
    assert_eq!(mdd, samples);
    // Frames of one topology have that one.
    let frames = FrameSelection { first: Some(0), last: Some(2), step: 1 };
    let summary = write(&reader, "b.pc2", &ExportOptions { frames, ..Default::default() }).unwrap();
    assert_eq!(summary.vertices, 8 + 36 + 20);
    assert_eq!(read_pc2(&reader, "b.pc2")[2][8..44], at(2, 1).unwrap());
    // Also where the versions between are not shown: frame 0, then 6 with both tears.
    let frames = FrameSelection { first: Some(0), last: Some(6), step: 6 };
    write(&reader, "b.pc2", &ExportOptions { frames, ..Default::default() }).unwrap();
    let [first, last] = &read_pc2(&reader, "b.pc2")[..] else { panic!() };
    assert_eq!(first[8..50], in_last_topology(&at(0, 1).unwrap()));
    assert_eq!(last[8..50], at(6, 1).unwrap());
}

#[test]
fn a_name_is_asked_for_in_all_frames() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    let of = |name: &str, first: Option<u32>, last: Option<u32>| ExportOptions {
        body: Some(name.into()),
        frames: FrameSelection { first, last, step: 1 },
        ..Default::default()
    };
    // Two bodies had this name, one after the other.
    assert_eq!(write(&reader, "a.pc2", &of("soft box \"1\"", None, None)).unwrap().vertices, 16);
    assert_eq!(write(&reader, "a.pc2", &of("copy", Some(5), None)).unwrap().vertices, 8);
    let early = write(&reader, "a.usda", &of("copy", None, Some(2))).unwrap_err().to_string();
    assert!(early.contains("\"copy\" is in none of the frames"), "{early}");
    let unknown = write(&reader, "a.gif", &of("copi", None, None)).unwrap_err().to_string();
    assert!(unknown.contains("no body \"copi\"") && unknown.contains("copy"), "{unknown}");
}

#[test]
fn sequences_have_what_is_there() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    write(&reader, "a.obj", &ExportOptions::default()).unwrap();
    write(&reader, "a.ply", &ExportOptions::default()).unwrap();
    for k in 0..FRAMES as usize {
        let bodies = reader.bodies_at(k);
        let points: Vec<[f32; 3]> = bodies.iter().flat_map(|b| vertices(&reader, k, b.id).unwrap()).collect();
        let faces: usize = bodies.iter().map(|b| b.mesh.triangles.len()).sum();
        for extension in ["obj", "ply"] {
            let found = read_mesh(&dir.path().join(format!("a_{k:04}.{extension}"))).unwrap();
            let got: Vec<[f32; 3]> =
                found.meshes.iter().flat_map(|m| &m.positions).map(|p| p.as_vec3().to_array()).collect();
            let triangles: usize = found.meshes.iter().map(|m| m.triangulated().triangles.len()).sum();
            assert_eq!(triangles, faces, "{extension}, frame {k}");
            assert_eq!(got, points, "{extension}, frame {k}");
        }
    }
}

#[test]
fn usd_tells_when_bodies_are_there() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    write(&reader, "a.usda", &ExportOptions::default()).unwrap();
    let text = std::fs::read_to_string(dir.path().join("a.usda")).unwrap();
    let prim = |name: &str| {
        let start = text.find(&format!("def Mesh \"{name}\"")).unwrap();
        &text[start..start + text[start..].find("\n    }\n").unwrap()]
    };
    let copy = prim("copy");
    assert!(copy.contains("0: \"invisible\",\n            3: \"inherited\",\n        }"), "{copy}");
    assert!(copy.contains("inherits = </World/Shapes/soft_box__1_>") && !copy.contains("faceVertexCounts"));
    let cube = prim("soft_box__1_");
    assert!(cube.contains("0: \"inherited\",\n            8: \"invisible\",\n        }"), "{cube}");
    let cloth = prim("soft_box__1__2");
    assert!(!cloth.contains("visibility"), "it is always there");
    let samples = |attribute: &str| {
        let start = cloth.find(&format!("{attribute}.timeSamples")).unwrap();
        let all = &cloth[start..start + cloth[start..].find("\n        }").unwrap()];
        all.lines().skip(1).map(|l| l.trim().split(':').next().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(samples("faceVertexIndices"), ["0", "5", "6"]);
    assert_eq!(samples("points").len(), 13);
    assert_eq!(text.matches("int[] faceVertexCounts").count(), 2, "of the cloth, and of all cubes together");
}

#[test]
fn glb_shows_and_hides_and_shares() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    write(&reader, "a.glb", &ExportOptions::default()).unwrap();
    let bytes = std::fs::read(dir.path().join("a.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json = String::from_utf8(bytes[20..20 + length].to_vec()).unwrap();
    assert_eq!(json.matches("\"path\":\"scale\"").count(), 3, "the cube, its copy and its namesake");
    assert_eq!(json.matches("\"scale\":[0,0,0]").count(), 2, "those that are not there at first");
    let found = read_mesh(&dir.path().join("a.glb")).unwrap();
    assert_eq!(found.meshes.len(), 5);
    let frames: Vec<usize> =
        found.meshes.iter().map(|m| m.animation.as_ref().map_or(1, |m| m.samples.len())).collect();
    // Their own, and a key more where they come or go.
    assert_eq!(frames, [9, 13, 13, 11, 4]);
    // Three cubes of two parts and the cloth: two lists of indices for cubes and one for the cloth.
    let indices: std::collections::HashSet<&str> =
        json.split("\"indices\":").skip(1).map(|rest| rest.split(',').next().unwrap()).collect();
    assert_eq!(indices.len(), 3, "{indices:?}");
}

/// Between two frames of the log bodies go straight; what is gone in the next frame stays, what is new is not there yet.
#[test]
fn other_rates_go_through_changes() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    let options = ExportOptions { frames_per_second: Some(48.0), ..Default::default() };
    write(&reader, "a.obj", &options).unwrap();
    write(&reader, "a.pc2", &options).unwrap();
    let samples = read_pc2(&reader, "a.pc2");
    let mean = |a: &[[f32; 3]], b: &[[f32; 3]]| -> Vec<[f32; 3]> {
        a.iter().zip(b).map(|(a, b)| [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))).collect()
    };
    let near = |a: &[[f32; 3]], b: &[[f32; 3]]| {
        assert_eq!(a.len(), b.len());
        let off = a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f32::max) < 1e-5);
    };
    let at = |k: usize, id: u64| vertices(&reader, k, id).unwrap();
    // Half way from frame 7 to 8, where the cube is gone: it stays, the others move.
    near(&samples[15][..8], &at(7, 0));
    near(&samples[15][50..70], &mean(&at(7, 2), &at(8, 2)));
    // Half way from frame 4 to the first tear: whole still, on the way to where its first copies will be.
    near(&samples[9][8..50], &in_last_topology(&mean(&at(4, 1), &at(5, 1)[..36])));
    let names = |n: usize| read_mesh(&dir.path().join(format!("a_{n:04}.obj"))).unwrap().meshes.len();
    assert_eq!([5, 6, 15, 16].map(names), [3, 4, 4, 3], "between two frames there is what was there before");
}

#[test]
fn a_change_that_is_not_told_is_refused_where_it_must_be_known() {
    let dir = pliant_testing::tempdir().unwrap();
    let path = dir.path().join("a.plog");
    let header = changing_header();
    let mut writer = LogWriter::create(&path, &header, true).unwrap();
    writer.append_frame(&frame_with(&header.bodies, 0)).unwrap();
    let mut bodies = header.bodies.clone();
    let cloth = &header.bodies[1];
    let triangles = cloth.mesh.triangles[1..].to_vec();
    let mesh = TriMesh { triangles, ..TriMesh::clone(&cloth.mesh) };
    bodies[1] = LogBody { version: 1, mesh: mesh.into(), attributes: Default::default(), ..cloth.clone() };
    writer.begin_epoch(bodies.clone()).unwrap();
    writer.append_frame(&frame_with(&bodies, 1)).unwrap();
    writer.finish().unwrap();
    let reader = LogReader::open(&path).unwrap();
    for name in ["a.pc2", "a.mdd", "a.glb"] {
        let e = write(&reader, name, &ExportOptions::default()).unwrap_err().to_string();
        assert!(e.contains("which vertex becomes which") && e.contains(".usda"), "{name}: {e}");
        assert!(!dir.path().join(name).exists());
    }
    for name in ["a.usda", "a.abc", "a.obj", "a.ply", "a.pvd", "a.gif"] {
        write(&reader, name, &ExportOptions::default()).unwrap();
    }
}

/// Every format writes the same bytes whatever the number of threads, and takes frames without any body.
#[test]
fn every_format_on_any_number_of_threads_and_of_no_body_at_all() {
    let dir = pliant_testing::tempdir().unwrap();
    let reader = run(dir.path());
    for format in FORMATS {
        let mut all = Vec::new();
        for threads in [1, 3] {
            let folder = dir.path().join(threads.to_string());
            std::fs::create_dir_all(&folder).unwrap();
            let name = format!("{threads}/t.{}", format.extension);
            let done = write(&reader, &name, &ExportOptions { threads, ..Default::default() }).unwrap();
            all.push(std::fs::read(&done.path).unwrap());
        }
        // The list of a series has the names of its files.
        assert!(
            all[0] == all[1] || ["pvd", "vtu", "obj"].contains(&format.extension),
            "{}",
            format.extension
        );
    }
    let path = dir.path().join("none.plog");
    let header = changing_header();
    let mut writer = LogWriter::create(&path, &header, true).unwrap();
    writer.append_frame(&frame_with(&header.bodies, 0)).unwrap();
    writer.begin_epoch(Vec::new()).unwrap();
    writer.append_frame(&frame_with(&[], 1)).unwrap();
    writer.finish().unwrap();
    let reader = LogReader::open(&path).unwrap();
    for format in FORMATS {
        write(&reader, &format!("n.{}", format.extension), &ExportOptions::default()).unwrap();
    }
}
