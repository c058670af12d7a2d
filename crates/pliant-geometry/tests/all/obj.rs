//! The OBJ reader: what it accepts, what it refuses and on which line, and that it never panics.

use super::samples::sample;
use glam::DVec3;
use pliant_geometry::{GeometryError, parse_obj, read_obj};
use proptest::prelude::*;
use std::path::Path;

fn lines(errors: &[GeometryError]) -> Vec<usize> {
    errors.iter().filter_map(|e| e.line).collect()
}

const CUBE: &str = "# a cube\r\nmtllib x.mtl\r\no cube\r\nv -1 -1 -1\r\nv\t1 -1 -1\r\nv 1 1 -1 1.0\r\nv -1 1 -1 nan nan nan\r\n\
    v -1 -1 1\r\nv 1 -1 1\r\nv 1 1 1\r\nv -1 1 1\r\nvt 0 0\r\nvn 0 0 1\r\nf 1/1/1 4/1/1 3/1/1 2/1/1\r\nf 5 6 7 8\r\n\
    f 1//1 2//1 6//1 5//1\r\nf 2/1 3/1 7/1 6/1 # right\r\nf -6 -5 \\\r\n  -1 -2\r\nf 4 1 5 8";

#[test]
fn reads_every_spelling_of_a_cube() {
    let obj = parse_obj(CUBE.as_bytes()).expect("a valid file");
    assert_eq!(obj.mesh.positions.len(), 8);
    assert_eq!(obj.mesh.positions[3], DVec3::new(-1.0, 1.0, -1.0));
    assert_eq!(obj.mesh.triangles.len(), 12);
    assert_eq!(obj.mesh.edges().len(), 18);
    assert!(obj.degenerate_faces.is_empty());
}

#[test]
fn agrees_with_tobj() {
    let text = CUBE
        .replace("nan nan nan", "")
        .replace(" # right", "")
        .replace("\\\r\n", "")
        .replace("-6 -5   -1 -2", "3 4 8 7");
    let options = tobj::LoadOptions { triangulate: true, single_index: false, ..Default::default() };
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, |_| Ok(Default::default()))
        .expect("valid for tobj");
    let theirs = &models[0].mesh;
    let ours = parse_obj(text.as_bytes()).expect("valid for us").mesh;
    // tobj numbers vertices by first use, so compare where the corners are.
    let corner = |i: &u32| {
        let i = *i as usize * 3;
        DVec3::new(theirs.positions[i].into(), theirs.positions[i + 1].into(), theirs.positions[i + 2].into())
    };
    let want: Vec<DVec3> = theirs.indices.iter().map(corner).collect();
    let got: Vec<DVec3> = ours.triangles.iter().flatten().map(|&i| ours.positions[i as usize]).collect();
    assert_eq!(got, want);
}

#[test]
fn every_kind_of_error_names_its_line() {
    let text = "v 0 0 0\nv 1 0\nv 1 x 0\nv inf 0 0\nv 0 1 0\nf 1 2\nf 1 2 0\nf 1 2 6\nf 1 2 -6\nf 1 a 3\nf\nf 1 2 5\n";
    let errors = parse_obj(text.as_bytes()).expect_err("nine errors");
    assert_eq!(lines(&errors), [2, 3, 4, 6, 7, 8, 9, 10, 11]);
    assert!(errors.iter().all(|e| !e.io && !e.help.is_empty() && !e.message.is_empty()));
    assert!(errors[5].message.contains('6') && errors[5].message.contains('5'), "{}", errors[5]);
}

#[test]
fn an_empty_file_is_refused_and_points_alone_are_not() {
    assert_eq!(parse_obj(b"# nothing\n").expect_err("empty").len(), 1);
    let cloud = parse_obj(b"v 1 2 3\nv 4 5 6").expect("a point cloud");
    assert_eq!((cloud.mesh.positions.len(), cloud.mesh.triangles.len()), (2, 0));
}

#[test]
fn faces_without_three_different_vertices_are_left_out_and_said() {
    let obj = parse_obj(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 2\nf 1 2 3\nf 1 2 2 3\n").expect("valid");
    assert_eq!(obj.mesh.triangles, [[0, 1, 2], [0, 1, 2]]);
    assert_eq!(obj.degenerate_faces, [4]);
}

#[test]
fn a_face_may_come_before_its_vertices() {
    let obj = parse_obj(b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").expect("valid");
    assert_eq!(obj.mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn a_missing_file_is_io() {
    let errors = read_obj(Path::new("/no/such/mesh.obj")).expect_err("not there");
    assert!(errors.len() == 1 && errors[0].io);
}

#[test]
fn sample_files_read_or_say_on_which_line_not() {
    type Expected = Result<(usize, usize), Vec<usize>>;
    let expected: [(&str, Expected); 8] = [
        ("nothing.obj", Err(vec![])),
        ("nan_colour.obj", Ok((8, 12))),
        ("negative_indices.obj", Ok((8, 12))),
        ("apart.obj", Ok((36, 12))),
        ("two_vertices.obj", Err(vec![8])),
        ("empty_group.obj", Ok((3, 1))),
        ("bent_pentagon.obj", Ok((5, 3))),
        ("wall_with_hole.obj", Ok((12, 10))),
    ];
    for (name, want) in expected {
        match (read_obj(&sample(name)), want) {
            (Ok(got), Ok(want)) => {
                assert_eq!((got.mesh.positions.len(), got.mesh.triangles.len()), want, "{name}");
            }
            (Err(got), Err(want)) => assert_eq!(lines(&got), want, "{name}"),
            (got, _) => panic!("{name}: {got:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics_on_noise(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_obj(&bytes);
    }

    #[test]
    fn never_panics_on_a_damaged_file(at in proptest::collection::vec((0usize..CUBE.len(), any::<u8>()), 1..12)) {
        let mut bytes = CUBE.as_bytes().to_vec();
        for (i, b) in at {
            bytes[i] = b;
        }
        if let Ok(obj) = parse_obj(&bytes) {
            let count = obj.mesh.positions.len() as u32;
            prop_assert!(obj.mesh.triangles.iter().flatten().all(|&i| i < count));
        }
    }

    #[test]
    fn never_panics_on_odd_statements(text in "([vf#l\\\\/ \n-]|nan|9{1,20}|0){0,60}") {
        let _ = parse_obj(text.as_bytes());
    }
}
