//! Bodies that never deform: the log has their poses, and what is exported as transforms shows what is baked into points.

use crate::common::changing::changing_header;
use crate::common::posed::{FRAMES, Run, bodies, frame, pose, there, write};
use glam::{DQuat, DVec3};
use pliant_cache::{Conversion, ExportOptions, LogBody, LogFrame, LogReader, LogWriter, MemoryLog, export};
use pliant_geometry::{parse_pc2, read_mesh};
use std::path::Path;
use std::sync::Arc;

fn log(path: &Path, compact: bool) -> (Run, LogReader) {
    let run = bodies();
    let header = pliant_cache::LogHeader { bodies: run.first.clone(), ..changing_header() };
    let writer = LogWriter::create(path, &header, true).unwrap();
    let writer = if compact { writer.compact().unwrap() } else { writer };
    write(&run, writer, 0..FRAMES).finish().unwrap();
    (run, LogReader::open(path).unwrap())
}

#[test]
fn frames_have_poses_and_all_that_follows_from_them() {
    let dir = pliant_testing::tempdir().unwrap();
    let mut sizes = Vec::new();
    for compact in [false, true] {
        let path = dir.path().join("a.plog");
        let (run, reader) = log(&path, compact);
        assert_eq!(reader.header().bodies, run.first);
        // Backwards, as any frame can be read alone.
        for k in (0..FRAMES).rev() {
            let (found, bodies) = (reader.frame(k as usize).unwrap(), reader.bodies_at(k as usize));
            let wanted = frame(&run, k);
            assert_eq!((bodies, &found.poses), (there(&run, k), &wanted.poses), "frame {k}");
            let mut poses = wanted.poses.iter();
            for body in bodies {
                let mut vertices = Vec::new();
                body.vertices(&found, &mut vertices);
                let at = |i: u32| DVec3::from_array([0, 1, 2].map(|a| found.positions[a][i as usize]));
                let Some(rest) = &body.rigid else {
                    let told = |i: u32| DVec3::from_array([0, 1, 2].map(|a| wanted.positions[a][i as usize]));
                    let off = body.particles.clone().map(|i| at(i).distance(told(i))).fold(0.0, f64::max);
                    assert!(off < 1e-5, "frame {k}: {off}");
                    continue;
                };
                let pose = poses.next().unwrap();
                assert!(body.particles.clone().zip(rest.iter()).all(|(i, p)| at(i) == pose.of_point(*p)));
                for (v, rest) in vertices.iter().zip(&body.mesh.positions) {
                    assert!(v.distance(pose.of_point(*rest)) < 1e-14, "frame {k}, {}", body.name);
                }
            }
        }
        sizes.push(std::fs::metadata(&path).unwrap().len());
    }
    assert!(sizes[1] < sizes[0], "{sizes:?}");
}

#[test]
fn what_is_taken_up_again_has_the_bytes_of_an_unbroken_log() {
    let run = bodies();
    let header = pliant_cache::LogHeader { bodies: run.first.clone(), ..changing_header() };
    for compact in [false, true] {
        let packed = |writer: LogWriter| if compact { writer.compact().unwrap() } else { writer };
        let [whole, broken] = [(); 2].map(|()| MemoryLog::default());
        let writer = LogWriter::begin(Box::new(whole.clone()), "whole", &header).unwrap();
        write(&run, packed(writer), 0..FRAMES).finish().unwrap();
        let writer = LogWriter::begin(Box::new(broken.clone()), "broken", &header).unwrap();
        drop(write(&run, packed(writer), 0..7));
        let again = LogWriter::resume_on(Box::new(broken.clone()), "broken", header.scene_hash).unwrap();
        assert_eq!(again.dropped_frames, 1);
        write(&run, packed(again.writer), 6..FRAMES).finish().unwrap();
        assert!(whole.bytes() == broken.bytes(), "compact: {compact}");
    }
}

#[test]
fn frames_that_do_not_fit_their_bodies_are_refused() {
    let run = bodies();
    let header = pliant_cache::LogHeader { bodies: run.first.clone(), ..changing_header() };
    let mut writer = LogWriter::begin(Box::new(MemoryLog::default()), "a", &header).unwrap();
    let good = frame(&run, 0);
    let missing = LogFrame { poses: vec![good.poses[0]], ..good.clone() };
    let text = writer.append_frame(&missing).unwrap_err().to_string();
    assert!(text.contains("1 poses for 2 rigid bodies"), "{text}");
    writer.append_frame(&good).unwrap();
    let mut bad = run.first.clone();
    bad[1].rigid = Some(Arc::new(vec![DVec3::ZERO; 3]));
    let header = pliant_cache::LogHeader { bodies: bad, ..header };
    let refused = LogWriter::begin(Box::new(MemoryLog::default()), "a", &header);
    assert!(refused.unwrap_err().to_string().contains("3 particles at rest for 4"));
}

/// Points of each body in each frame it is in, as PC2 has them; at `z_up` and `scale` of an export.
fn baked(reader: &LogReader, conversion: Conversion) -> Vec<Vec<(u64, Vec<[f32; 3]>)>> {
    let shown = |k: usize| {
        let frame = reader.frame(k).unwrap();
        let body = |body: &LogBody| {
            let mut vertices = Vec::new();
            body.vertices(&frame, &mut vertices);
            (body.id, vertices.iter().map(|p| conversion.position(*p).as_vec3().to_array()).collect())
        };
        reader.bodies_at(k).iter().map(body).collect()
    };
    (0..FRAMES as usize).map(shown).collect()
}

/// Points at rest are told in f32, and a pose turns the axes into one another: what is left is the rounding of the body at rest,
/// whose points are within a metre, `meter` of the file's units, however small a coordinate comes out.
fn close(found: &[[f32; 3]], wanted: &[[f32; 3]], meter: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (a, b) in found.as_flattened().iter().zip(wanted.as_flattened()) {
        assert!((a - b).abs() <= f32::EPSILON * (meter as f32 + b.abs()), "{what}: {a} {b}");
    }
}

/// The numbers in a text.
fn numbers(text: &str) -> Vec<f64> {
    let other = |c: char| !(c.is_ascii_digit() || "+-.e".contains(c));
    text.split(other).filter_map(|n| n.parse().ok()).collect()
}

/// The samples of an attribute by their time codes; of one that is not sampled the value at code -1.
fn samples<'a>(prim: &'a str, attribute: &str) -> Vec<(i64, Vec<f64>)> {
    if let Some(at) = prim.find(&format!("{attribute}.timeSamples = {{\n")) {
        let text = prim[at..].split_once("{\n").unwrap().1.split_once('}').unwrap().0;
        let line = |l: &'a str| {
            let (code, values) = l.split_once(':')?;
            Some((code.trim().parse().ok()?, numbers(values)))
        };
        return text.lines().filter_map(line).collect();
    }
    let at = prim.find(&format!("{attribute} = ")).unwrap_or_else(|| panic!("no {attribute}"));
    vec![(-1, numbers(prim[at..].split_once('=').unwrap().1.lines().next().unwrap()))]
}

fn at(samples: &[(i64, Vec<f64>)], code: i64) -> &[f64] {
    &samples.iter().rev().find(|s| s.0 <= code).unwrap_or(&samples[0]).1
}

/// What a prim of a text shows at a frame, and whether its points are told once.
fn seen_usd(text: &str, name: &str, code: i64) -> (Vec<[f32; 3]>, bool) {
    let prim = text.split(&format!("def Mesh \"{name}\"")).nth(1).unwrap();
    let prim = prim.split("\n    def ").next().unwrap();
    let class = prim.split("inherits = </World/Shapes/").nth(1).and_then(|t| t.split('>').next());
    let shape = class.map_or(prim, |c| text.split(&format!("class Mesh \"{c}\"")).nth(1).unwrap());
    let points = samples(if prim.contains("point3f[] points") { prim } else { shape }, "point3f[] points");
    let mut found: Vec<DVec3> =
        at(&points, code).as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect();
    if prim.contains("xformOp:orient") {
        assert!(prim.contains("xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\""));
        let place = DVec3::from_slice(at(&samples(prim, "double3 xformOp:translate"), code));
        let orient = samples(prim, "quatd xformOp:orient");
        let [w, x, y, z] = at(&orient, code) else { panic!("{orient:?}") };
        let turn = DQuat::from_xyzw(*x, *y, *z, *w);
        assert!((turn.length() - 1.0).abs() < 1e-12);
        found.iter_mut().for_each(|p| *p = place + turn * *p);
        // No change of sign on the way.
        assert!(
            orient.windows(2).all(|s| s[0].1.iter().zip(&s[1].1).map(|(a, b)| a * b).sum::<f64>() >= 0.0)
        );
    }
    (found.iter().map(|p| p.as_vec3().to_array()).collect(), points.len() == 1 && points[0].0 == -1)
}

const NAMES: [(u64, &str); 4] = [(0, ""), (1, "block"), (2, "block__too"), (7, "ring")];

#[test]
fn usd_has_samples_of_transforms() {
    let dir = pliant_testing::tempdir().unwrap();
    let (_, reader) = log(&dir.path().join("a.plog"), true);
    for conversion in [Conversion::default(), Conversion { scale: 100.0, z_up: true }] {
        let path = dir.path().join("a.usda");
        let options = ExportOptions { conversion, ..Default::default() };
        export(&reader, &path, &options, &mut |_, _| {}).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for (k, bodies) in baked(&reader, conversion).iter().enumerate() {
            for (id, wanted) in bodies.iter().filter(|(id, _)| *id > 0) {
                let name = NAMES.iter().find(|n| n.0 == *id).unwrap().1;
                let (found, once) = seen_usd(&text, name, k as i64);
                assert!(once, "{name}");
                close(&found, wanted, conversion.scale, name);
            }
        }
        // Two alike hold their points once; one that comes and goes is also hidden by its size.
        assert_eq!(text.matches("point3f[] points = ").count(), 2);
        assert!(text.contains("[\"xformOp:translate\", \"xformOp:orient\", \"xformOp:scale\"]"));
        assert!(
            text.contains("\"xformOp:scale\"") && text.matches("token visibility.timeSamples").count() == 1
        );
    }
}

#[test]
fn alembic_has_samples_of_transforms() {
    let dir = pliant_testing::tempdir().unwrap();
    let (_, reader) = log(&dir.path().join("a.plog"), true);
    for conversion in [Conversion::default(), Conversion { scale: 100.0, z_up: true }] {
        let path = dir.path().join("a.abc");
        let options = ExportOptions { conversion, ..Default::default() };
        export(&reader, &path, &options, &mut |_, _| {}).unwrap();
        let archive = crate::ogawa::read(&std::fs::read(&path).unwrap());
        let baked = baked(&reader, conversion);
        for (b, id) in [(1, 1), (2, 2), (3, 7)] {
            let object = &archive.top.children[b];
            let points = object.children[0].properties.part(".geom/P");
            assert_eq!(points.count, 1);
            let rest: Vec<f32> = points.floats(0);
            let values = object.properties.part(".xform/.vals");
            let (_, cycle, times) = &archive.samplings[values.time as usize];
            let second = |k: usize| if times.len() > 1 { times[k] } else { times[0] + k as f64 * cycle };
            assert_eq!(values.count, if id == 7 { 2 + 6 + 2 } else { FRAMES as usize });
            let mut seen = 0;
            for k in 0..values.count {
                let matrix = values.doubles(k);
                let frame = second(k) * 24.0;
                let shown = |p: &[f32; 3]| {
                    let p = p.map(f64::from);
                    [0, 1, 2].map(|c| {
                        ((0..3).map(|r| p[r] * matrix[4 * r + c]).sum::<f64>() + matrix[12 + c]) as f32
                    })
                };
                let found: Vec<[f32; 3]> = rest.as_chunks::<3>().0.iter().map(shown).collect();
                let there = baked[(frame + 1e-6).floor() as usize].iter().find(|b| b.0 == id);
                if let (Some((_, wanted)), true) = (there, (frame - frame.round()).abs() < 1e-6) {
                    close(&found, wanted, conversion.scale, &object.name);
                    seen += 1;
                } else if there.is_none() {
                    // It has no size while it is not there.
                    assert!(found.iter().all(|p| *p == found[0]), "frame {frame}");
                }
            }
            assert_eq!(seen, if id == 7 { 6 } else { FRAMES as usize });
            assert_eq!(object.properties.parts.contains_key("visible"), id == 7);
        }
    }
}

#[test]
fn glb_has_nodes_that_move() {
    let dir = pliant_testing::tempdir().unwrap();
    let (_, reader) = log(&dir.path().join("a.plog"), true);
    let path = dir.path().join("a.glb");
    export(&reader, &path, &ExportOptions::default(), &mut |_, _| {}).unwrap();
    let found = read_mesh(&path).unwrap();
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    let baked = baked(&reader, Conversion::default());
    // The soft one has a vertex for each hard edge around it; its points are tested with those of other soft bodies.
    for (mesh, (id, _)) in found.meshes.iter().zip(NAMES).skip(1) {
        let animation = mesh.animation.as_ref().unwrap();
        let mut seen = 0;
        for (k, bodies) in baked.iter().enumerate() {
            let Some((_, wanted)) = bodies.iter().find(|b| b.0 == id) else { continue };
            let time = f64::from((k as f64 / 24.0) as f32);
            let Some(place) = animation.times.iter().position(|t| (*t - time).abs() < 1e-6) else { continue };
            let sample: Vec<[f32; 3]> =
                animation.samples[place].iter().map(|p| p.as_vec3().to_array()).collect();
            close(&sample, wanted, 1.0, &mesh.name);
            seen += 1;
        }
        assert_eq!(seen, if id == 7 { 6 } else { FRAMES }, "{}", mesh.name);
    }
    // No morph targets but of the soft one, for each of its two materials, and two alike share their points.
    let bytes = std::fs::read(&path).unwrap();
    let json = String::from_utf8_lossy(
        &bytes[20..20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize],
    );
    assert_eq!((json.matches("\"targets\"").count(), json.matches("\"rotation\":[").count()), (2, 3));
    let position = |k: usize| {
        json.match_indices("\"POSITION\":").nth(k).map(|(i, _)| json[i..].split([',', '}']).next())
    };
    // The morph targets of the soft one come first.
    let first = json.matches("\"POSITION\":").count() - 3;
    assert!(position(first) == position(first + 1) && position(first) != position(first + 2));
}

#[test]
fn formats_without_transforms_have_points() {
    let dir = pliant_testing::tempdir().unwrap();
    let (_, reader) = log(&dir.path().join("a.plog"), true);
    let path = dir.path().join("a.pc2");
    export(&reader, &path, &ExportOptions::default(), &mut |_, _| {}).unwrap();
    let samples = parse_pc2(&std::fs::read(&path).unwrap()).unwrap().samples;
    for (k, bodies) in baked(&reader, Conversion::default()).iter().enumerate().take(3) {
        let wanted: Vec<[f32; 3]> = bodies.iter().flat_map(|b| b.1.iter().copied()).collect();
        let found: Vec<[f32; 3]> = samples[k].iter().map(|p| p.as_vec3().to_array()).collect();
        assert_eq!(found[..wanted.len()], wanted, "frame {k}");
    }
}

/// Twice as many frames a second: between two frames it turns evenly, and its middle goes straight.
#[test]
fn moments_between_frames_are_rigid_too() {
    let dir = pliant_testing::tempdir().unwrap();
    let (run, reader) = log(&dir.path().join("a.plog"), false);
    let path = dir.path().join("a.pc2");
    let options =
        ExportOptions { frames_per_second: Some(48.0), body: Some("ring".into()), ..Default::default() };
    export(&reader, &path, &options, &mut |_, _| {}).unwrap();
    let samples = parse_pc2(&std::fs::read(&path).unwrap()).unwrap().samples;
    let (rest, center) = {
        let body = &run.more[3];
        let particles = body.rigid.as_ref().unwrap();
        (&body.mesh.positions, particles.iter().sum::<DVec3>() / 4.0)
    };
    for k in 3..8 {
        let (a, b) = (pose(7, k), pose(7, k + 1));
        let step = DQuat::from_scaled_axis(DVec3::new(0.9, 1.4, -0.4) * 0.5);
        let (turn, middle) = (step * a.turn, a.of_point(center).lerp(b.of_point(center), 0.5));
        let found = &samples[2 * k as usize + 1];
        for (p, rest) in found.iter().zip(rest) {
            assert!(p.distance(middle + turn * (*rest - center)) < 1e-6, "frame {k}");
        }
    }
}
