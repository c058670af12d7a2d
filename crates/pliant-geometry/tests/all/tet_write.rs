//! Files of tetrahedra written and read back: the same mesh, positions to the last bit.

use glam::DVec3;
use pliant_geometry::shapes::ball;
use pliant_geometry::{
    StuffingOptions, TetMesh, parse_gmsh, parse_medit, parse_tetgen, parse_vtu, read_tets, save_tets, stuff,
    write_tetgen, write_tets,
};
use std::path::Path;

fn sample() -> TetMesh {
    let mut mesh =
        stuff(&ball(0.5, 0.1).expect("valid").surface, 0.17, &StuffingOptions::default()).expect("valid").0;
    // Positions that decimals of fixed length would lose.
    mesh.points.iter_mut().for_each(|p| *p = *p / 3.0 + DVec3::new(1.0e-9 / 7.0, 0.1, 1.0 / 3.0));
    mesh
}

fn written(extension: &str, mesh: &TetMesh) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_tets(extension, mesh, &mut bytes).expect("valid");
    bytes
}

fn bits(mesh: &TetMesh) -> Vec<[u64; 3]> {
    mesh.points.iter().map(|p| p.to_array().map(f64::to_bits)).collect()
}

#[test]
fn every_format_gives_back_what_was_written() {
    for regions in [false, true] {
        let mut mesh = sample();
        if regions {
            mesh.regions =
                (0..mesh.tetrahedra.len() as i32).map(|i| [7, 7, -2, 0][i as usize / 5 % 4]).collect();
        }
        let (mut node, mut ele) = (Vec::new(), Vec::new());
        write_tetgen(&mesh, &mut node, &mut ele).unwrap();
        let read = [
            ("gmsh", parse_gmsh(&written("msh", &mesh))),
            ("vtu", parse_vtu(&written("vtu", &mesh))),
            ("medit", parse_medit(&written("mesh", &mesh))),
            ("tetgen", parse_tetgen(&node, &ele, [Path::new("a.node"), Path::new("a.ele")])),
        ];
        for (format, file) in read {
            let file = file.unwrap_or_else(|e| panic!("{format}: {e}"));
            assert_eq!(file.notes, [""; 0], "{format}");
            assert_eq!(bits(&file.mesh), bits(&mesh), "{format}");
            assert_eq!(file.mesh.tetrahedra, mesh.tetrahedra, "{format}");
            match (format, regions) {
                // Gmsh knows no tetrahedron without a volume, and regions of VTK files are not read.
                ("gmsh", false) => assert!(file.mesh.regions.iter().all(|&r| r == 1)),
                ("vtu", _) => assert!(file.mesh.regions.is_empty()),
                _ => assert_eq!(file.mesh.regions, mesh.regions, "{format}"),
            }
        }
    }
}

#[test]
fn files_are_written_by_their_extension() {
    let folder = std::env::temp_dir().join(format!("pliant-tets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mesh = sample();
    for name in ["a.msh", "a.vtu", "a.mesh", "a.node", "b.ele"] {
        let path = folder.join(name);
        save_tets(&path, &mesh).unwrap();
        assert_eq!(bits(&read_tets(&path).unwrap().mesh), bits(&mesh), "{name}");
    }
    assert!(save_tets(&folder.join("a.step"), &mesh).unwrap_err().to_string().contains(".step"));
    assert!(!folder.join("a.step").exists());
    assert!(save_tets(&folder.join("none/a.msh"), &mesh).unwrap_err().io);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn unsound_meshes_are_not_written() {
    let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let sound = TetMesh { points, tetrahedra: vec![[0, 1, 2, 3]], regions: Vec::new() };
    let wrong = [
        TetMesh { tetrahedra: vec![[0, 1, 2, 4]], ..sound.clone() },
        TetMesh { regions: vec![1, 2], ..sound.clone() },
        TetMesh { points: vec![DVec3::NAN; 4], ..sound },
    ];
    for mesh in wrong {
        for extension in ["msh", "vtu", "mesh"] {
            assert!(write_tets(extension, &mesh, &mut Vec::new()).is_err());
        }
        assert!(write_tetgen(&mesh, &mut Vec::new(), &mut Vec::new()).is_err());
    }
}
