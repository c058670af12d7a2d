//! Files of tetrahedra: every format reads the same mesh, and no file, however damaged, does harm.

mod samples;

use pliant_geometry::{GeometryError, SplitMix64, parse_gmsh, parse_medit, parse_vtk, parse_vtu, read_tets};
use samples::{all, ele, gmsh2_text, gmsh4_text, medit, node, tetgen, wanted};

#[test]
fn every_format_reads_the_same_mesh() {
    for sample in all() {
        let file = (sample.parse)(&sample.bytes).unwrap_or_else(|e| panic!("{}: {e}", sample.name));
        assert_eq!(file.mesh, wanted(), "{}", sample.name);
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused_or_the_same() {
    for sample in all() {
        for end in 0..sample.bytes.len() {
            let Ok(file) = (sample.parse)(&sample.bytes[..end]) else { continue };
            let warned = file.notes.iter().any(|n| n.contains("without a line end"));
            assert!(warned || file.mesh == wanted(), "{} cut at {end}", sample.name);
        }
    }
}

#[test]
fn damage_never_panics() {
    let mut rng = SplitMix64::new(2);
    for sample in all() {
        let mut fine = 0;
        for _ in 0..3000 {
            let mut bytes = sample.bytes.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                match rng.below(4) {
                    0 => bytes[at] = rng.next_u64() as u8,
                    1 => bytes[at] = b"0123456789-+.e$<>=_ \n#"[rng.below(22) as usize],
                    2 => drop(bytes.drain(at..(at + 1 + rng.below(8) as usize).min(bytes.len()))),
                    _ => {
                        let piece = bytes[at..(at + 1 + rng.below(12) as usize).min(bytes.len())].to_vec();
                        let to = rng.below(bytes.len() as u64) as usize;
                        bytes.splice(to..to, piece);
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            if let Ok(file) = (sample.parse)(&bytes) {
                fine += 1;
                assert!(file.mesh.faults().is_empty() && file.mesh.volumes().iter().all(|&v| v > 0.0));
            }
        }
        assert!(fine < 3000, "{}: no damage was ever noticed", sample.name);
    }
}

/// The error of a file that must have one, in full.
fn refused<T: std::fmt::Debug>(result: Result<T, GeometryError>) -> String {
    let error = result.map_or_else(|error| error, |file| panic!("{file:?}"));
    assert!(!error.help.is_empty());
    error.to_string()
}

/// Every count in every text made a thousand million, and every eight bytes in every binary made enormous.
#[test]
fn counts_that_lie_cost_nothing() {
    for sample in all() {
        let words: Vec<(usize, usize)> = sample
            .bytes
            .split_inclusive(|b| b.is_ascii_whitespace() || *b == b'"')
            .scan(0, |at, word| {
                *at += word.len();
                Some((*at - word.len(), *at - 1))
            })
            .filter(|&(from, to)| from < to && sample.bytes[from..to].iter().all(u8::is_ascii_digit))
            .collect();
        for (from, to) in words {
            let bytes = [&sample.bytes[..from], b"4000000000", &sample.bytes[to..]].concat();
            let _ = (sample.parse)(&bytes);
        }
        for at in 0..sample.bytes.len().saturating_sub(8) {
            let mut bytes = sample.bytes.clone();
            bytes[at..at + 8].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
            let _ = (sample.parse)(&bytes);
        }
    }
    let error = refused(tetgen(node().replace("5 3 1 1", "1000000000 3 1 1").as_bytes(), ele().as_bytes()));
    assert!(error.contains("it.node") && error.contains("after 5 of 1000000000"), "{error}");
    let error = refused(parse_gmsh(gmsh2_text().replace("$Elements\n3", "$Elements\n9").as_bytes()));
    assert!(error.contains("$EndElements"), "{error}");
}

#[test]
fn faults_are_told_with_the_numbers_and_lines_of_the_file() {
    let bad = "4 4 0\n1 1 2 3 4\n2 2 3 4 9\n3 2 2 3 4\n4 4 3 2 1\n";
    let error = refused(tetgen(node().as_bytes(), bad.as_bytes()));
    assert!(error.starts_with("it.ele:3: "), "{error}");
    assert!(
        error.contains("tetrahedron 2 (line 3) names point 9, which the file does not have (1 to 5)"),
        "{error}"
    );
    assert!(error.contains("tetrahedron 3 (line 4) names point 2 (line 4) twice"), "{error}");
    assert!(error.contains("tetrahedron 4 (line 5) has the corners of tetrahedron 1 (line 2)"), "{error}");
    let error = refused(tetgen(node().replace("1.75", "nan").as_bytes(), ele().as_bytes()));
    assert!(error.starts_with("it.node:6: point 4 (line 6) is at (0, 0, NaN)"), "{error}");
    let error = refused(tetgen(node().replace("0 0 1.75", "1 1 0").as_bytes(), ele().as_bytes()));
    assert!(error.contains("tetrahedron 1 (line 3) has no volume"), "{error}");
    let error = refused(tetgen(node().replace("\n3 ", "\n2 ").as_bytes(), ele().as_bytes()));
    assert!(error.contains("point 2 is given twice"), "{error}");
    let error = refused(parse_gmsh(gmsh4_text(1).replace("3 50 6 400", "3 50 -6 400").as_bytes()));
    assert!(error.starts_with("line ") && error.contains("`-6`"), "{error}");
    let many = format!("30 4 0\n{}", (0..30).map(|i| format!("{i} 1 1 2 3\n")).collect::<String>());
    assert!(refused(tetgen(node().as_bytes(), many.as_bytes())).contains("and 20 more faults"));
}

#[test]
fn what_can_be_put_right_is_and_said() {
    let inverted = ele().replace("2 3 4 5", "3 2 4 5");
    let file = tetgen(node().as_bytes(), inverted.as_bytes()).unwrap();
    assert!(file.mesh.volumes().iter().all(|&v| v > 0.0));
    assert!(file.notes.iter().any(|n| n.starts_with("1 of 2")), "{:?}", file.notes);

    let more = node().replace("5 3 1 1", "7 3 1 1").replace("# made", "6 9 9 9\n7 9 9 9\n# made");
    let file = tetgen(more.as_bytes(), ele().as_bytes()).unwrap();
    assert_eq!(file.mesh, wanted());
    assert!(file.notes.iter().any(|n| n.starts_with("2 points") && n.contains("the first is 6")));

    let ten = "1 10 1\n0 1 2 3 4 5 5 5 5 5 5 8\n";
    let file = tetgen(node().as_bytes(), ten.as_bytes()).unwrap();
    assert_eq!((file.mesh.points.len(), file.mesh.regions), (4, vec![8]));
    assert!(file.notes.iter().any(|n| n.contains("10 in all")));

    let file = parse_gmsh(gmsh4_text(4).as_bytes()).unwrap();
    assert_eq!(file.mesh.regions, [7, 7], "the physical group of volume 4");
    assert!(file.notes.iter().any(|n| n.contains("1 triangles")));
    let file = parse_gmsh(gmsh2_text().replace(" 4 2 0 0 ", " 4 2 0 6 ").as_bytes()).unwrap();
    assert_eq!(file.mesh.regions, [6, 6], "the volume where there is no physical group");

    // Region 12 cut off to 1: nothing else tells.
    let cut = medit().replace("2 3 4 5 0\nEnd\n", "2 3 4 5 1");
    assert!(parse_medit(cut.as_bytes()).unwrap().notes.iter().any(|n| n.contains("without a line end")));

    let twin = medit().replace("1 1 1.125 0", "1 1 1.125 0\n0 0 0 0").replace("Vertices\n5", "Vertices\n6");
    let twin =
        twin.replace("2 3 4 5 0\n", "2 3 4 5 0\n2 4 3 6 0\n").replace("Tetrahedra\n2", "Tetrahedra\n3");
    assert!(parse_medit(twin.as_bytes()).unwrap().notes.iter().any(|n| n.contains("place of another")));
}

#[test]
fn other_files_are_told_what_they_are() {
    let triangles = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n\
                     $Elements\n1 1 1 1\n2 1 2 1\n1 1 2 3\n$EndElements\n";
    let error = refused(parse_gmsh(triangles.as_bytes()));
    assert!(error.contains("only 1 triangles: this is a surface"), "{error}");
    assert!(refused(parse_gmsh(b"$MeshFormat\n4 0 8\n$EndMeshFormat\n")).contains("version 4;"));
    assert!(refused(parse_gmsh(b"$NOD\n1\n")).contains("version 1"));
    assert!(refused(parse_medit(&[1, 0, 0, 0, 3, 0, 0, 0])).contains(".meshb"));
    assert!(refused(parse_medit(b"MFEM mesh v1.0")).contains("not a Medit"));
    assert!(
        refused(parse_vtk(b"# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\n")).contains("surface")
    );
    assert!(refused(parse_vtu(b"<VTKFile type=\"PolyData\">")).contains("surface"));
    assert!(refused(parse_vtu(b"hello")).contains("no <VTKFile>"));
    assert!(refused(read_tets("cow.obj".as_ref())).contains("`.obj`"));
    assert!(refused(read_tets("/no/such/it.ele".as_ref())).contains("it.node"));
}
