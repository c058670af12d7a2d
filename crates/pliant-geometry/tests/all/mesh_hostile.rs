//! Mesh files that are damaged, cut off or lie: a mesh with notes or an error with a remedy, never a panic.

use super::samples::{sample, sample_files};
use pliant_geometry::{SplitMix64, parse_mdd, parse_pc2, read_mesh, read_mesh_through};
use proptest::prelude::*;
use std::path::Path;

const NAMES: [&str; 8] = ["a.obj", "a.ply", "a.stl", "a.off", "a.xyz", "a.csv", "a", "a.pts"];

/// Reads and holds the reader to its word.
fn read(name: &str, bytes: &[u8]) {
    let mut first = true;
    let mut fetch = |_: &Path| {
        // Libraries are as hostile as the file that names them.
        let mesh = std::mem::take(&mut first);
        Ok(if mesh { bytes.to_vec() } else { bytes.iter().rev().take(500).copied().collect() })
    };
    match read_mesh_through(Path::new(name), &mut fetch) {
        Ok(file) => {
            assert!(!file.meshes.is_empty());
            for mesh in &file.meshes {
                mesh.check().expect("a whole mesh");
                assert!(!mesh.positions.is_empty());
                let triangles = mesh.triangulated().triangles;
                assert!(triangles.iter().flatten().all(|&v| (v as usize) < mesh.positions.len()));
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() < 25);
            assert!(errors.iter().all(|e| !e.message.is_empty() && !e.help.is_empty()));
        }
    }
}

/// A small valid file of every format.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let obj = "mtllib x.mtl\no a\nv 0 0 0 1 .5 0\nv 1 0 0 0 0 1\nv 1 1 0 0 0 0\nv 0 1 0 0 0 0\nvt 0 0\nvn 0 0 1\n\
        usemtl m\nf 1/1/1 2/1/1 3/1/1 4/1/1\no b\nf -1//1 -2//1 \\\n -3//1\ng c\nl 1 2\n";
    let body = "0 0 0 255 1\n1 0 0 1 2\n0 1 0 3 4\n3 0 1 2\n4 0 1 2 1\n";
    let head = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment TextureFile t.png\nelement vertex 3\nproperty float x\nproperty float y\n\
             property float z\nproperty uchar s\nproperty uchar t\nelement face 2\n\
             property list uchar int vertex_indices\nend_header\n"
        )
    };
    let mut little = head("binary_little_endian").into_bytes();
    let mut big = head("binary_big_endian").into_bytes();
    for (k, p) in [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].iter().enumerate() {
        p.iter().for_each(|x| little.extend(x.to_le_bytes()));
        p.iter().for_each(|x| big.extend(x.to_be_bytes()));
        little.extend([k as u8, 5]);
        big.extend([k as u8, 5]);
    }
    for face in [&[0_i32, 1, 2][..], &[0, 1, 2, 1]] {
        little.push(face.len() as u8);
        big.push(face.len() as u8);
        face.iter().for_each(|i| little.extend(i.to_le_bytes()));
        face.iter().for_each(|i| big.extend(i.to_be_bytes()));
    }
    let mut stl = vec![0_u8; 80];
    stl.extend(2_u32.to_le_bytes());
    for t in 0..2 {
        (0..12).for_each(|k| stl.extend((((k * 7 + t) % 5) as f32).to_le_bytes()));
        stl.extend([0, 0]);
    }
    let text = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n";
    vec![
        ("a.obj", obj.into()),
        ("a.ply", (head("ascii") + body).into_bytes()),
        ("a.ply", little),
        ("a.ply", big),
        ("a.stl", stl),
        ("a.stl", text.into()),
        ("a.off", b"STCNOFF\n3 1 0\n0 0 0 0 0 1 1 0 0 1 0 0\n1 0 0 0 0 1 1 0 0 1 0 0\n0 1 0 0 0 1 1 0 0 1 0 0\n3 0 1 2\n".to_vec()),
        ("a.pts", b"2\n1 2 3 4 5 6 7\n1 2 3 4 5 6 7\n".to_vec()),
        ("a.csv", b"x,y,z,nx,ny,nz\n1,2,3,0,0,1\n".to_vec()),
    ]
}

#[test]
fn the_samples_are_valid() {
    for (name, bytes) in samples() {
        let mut fetch = |_: &Path| Ok(bytes.clone());
        read_mesh_through(Path::new(name), &mut fetch).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    }
}

#[test]
fn every_truncation_of_every_sample_is_survived() {
    for (name, bytes) in samples() {
        (0..bytes.len()).for_each(|n| read(name, &bytes[..n]));
    }
}

/// Byte flips, runs moved about, numbers made huge: many times, the same every time.
#[test]
fn mutations_of_every_sample_are_survived() {
    let words: [&[u8]; 12] = [
        b"-1",
        b"4294967295",
        b"99999999999999999999",
        b"nan",
        b"1e999",
        b"\n",
        b"\0",
        b"/",
        b" ",
        b"\\\n",
        b"0",
        b"\xff",
    ];
    let mut random = SplitMix64::new(5);
    for (name, sample) in samples() {
        for _ in 0..4000 {
            let mut bytes = sample.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len() as u64 + 1) as usize;
                match random.below(4) {
                    0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
                    1 => drop(bytes.splice(at..at, words[random.below(12) as usize].iter().copied())),
                    2 => bytes.truncate(at),
                    _ => {
                        let from = random.below(bytes.len() as u64 + 1) as usize;
                        let part = bytes[at.min(from)..at.max(from)].to_vec();
                        bytes.splice(from..from, part);
                    }
                }
            }
            read(name, &bytes);
        }
    }
}

#[test]
fn sample_files_give_a_mesh_with_notes_or_an_error() {
    // Vertices and faces, or what the error says.
    type Expected = Result<(usize, usize), &'static str>;
    let expected: [(&str, Expected); 12] = [
        ("apart.obj", Ok((36, 12))),
        ("bent_pentagon.obj", Ok((5, 1))),
        ("empty_group.obj", Ok((3, 1))),
        ("nan_colour.obj", Ok((8, 12))),
        ("negative_indices.obj", Ok((8, 6))),
        ("nothing.obj", Err("no vertices")),
        ("nothing.ply", Err("no vertices")),
        ("nothing.stl", Err("no triangles")),
        ("points.ply", Ok((5, 0))),
        ("soup.stl", Ok((21, 7))),
        ("two_vertices.obj", Err("the face has 2 vertices")),
        ("wall_with_hole.obj", Ok((12, 2))),
    ];
    assert!(expected.iter().map(|e| sample(e.0)).eq(sample_files()), "every sample is here");
    for (name, want) in expected {
        match (read_mesh(&sample(name)), want) {
            (Ok(file), Ok(want)) => {
                let count =
                    |f: fn(&pliant_geometry::PolyMesh) -> usize| file.meshes.iter().map(f).sum::<usize>();
                let got = (count(|m| m.positions.len()), count(|m| m.attributes.faces.len()));
                assert_eq!(got, want, "{name}");
            }
            (Err(errors), Err(want)) => assert!(errors[0].message.contains(want), "{name}: {errors:?}"),
            (got, _) => panic!("{name}: {got:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400), name in 0..NAMES.len()) {
        read(NAMES[name], &bytes);
        let _ = parse_mdd(&bytes);
        let _ = parse_pc2(&bytes);
    }

    #[test]
    fn noise_of_words_is_survived(
        text in "(v|f|o|l|vt|usemtl|ply|element vertex|property list|end_header|OFF|solid|facet|vertex|nan|9{1,20}|-1|0|1|/|\n| ){0,80}",
        name in 0..NAMES.len(),
    ) {
        read(NAMES[name], text.as_bytes());
    }
}
