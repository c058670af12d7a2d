//! Figures end to end: files, results, and how faults are told.

use pliant_figures::{FigureError, Verdict, claims_text, figures, run};
use std::fs;

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

#[test]
fn two_cheap_figures_write_their_files_and_verdicts() {
    let directory = pliant_testing::tempdir().unwrap();
    let out = directory.path().join("new/figures");
    let mut told = Vec::new();
    let chosen = names(&["zero_length_spring", "symmetric_stretch", "zero_length_spring"]);
    let results = run(&chosen, &out, &mut |line| told.push(line.to_string())).unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    let mut files: Vec<String> =
        fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let expected = [
        "index.html",
        "symmetric_stretch.csv",
        "symmetric_stretch.svg",
        "verdicts.md",
        "zero_length_spring.csv",
        "zero_length_spring.svg",
    ];
    assert_eq!(files, expected, "and no temporary files");
    assert_eq!(results.len(), 5);
    for r in &results {
        assert!(r.measured.is_finite(), "{r:?}");
        assert_eq!(r.verdict, Verdict::Reproduced, "{r:?}");
        assert!(claims_text().contains(&r.id));
    }
    let verdicts = fs::read_to_string(out.join("verdicts.md")).unwrap();
    assert!(results.iter().all(|r| verdicts.contains(&r.id)), "{verdicts}");
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("symmetric_stretch.svg") && page.contains("class=\"reproduced\""));

    // Again over what is there, and to the last byte the same.
    let before = fs::read(out.join("symmetric_stretch.csv")).unwrap();
    run(&names(&["symmetric_stretch"]), &out, &mut |_| {}).unwrap();
    assert_eq!(before, fs::read(out.join("symmetric_stretch.csv")).unwrap());
}

#[test]
fn where_the_papers_have_pictures_there_are_pictures() {
    let directory = pliant_testing::tempdir().unwrap();
    let out = directory.path();
    // Bunny and cubes (figures 1 and 2), bear and torus (the report's 4 and 2), resolutions (figure 5).
    for (name, count) in [("bouncing_bunny", 6), ("spinning_cube", 4), ("torus_modes", 7), ("resolutions", 6)]
    {
        run(&names(&[name]), out, &mut |_| {}).unwrap();
        let svg = fs::read_to_string(out.join(format!("{name}.svg"))).unwrap();
        let pictures: Vec<&str> = svg.split("<image ").skip(1).collect();
        assert_eq!(pictures.len(), count, "{name}");
        // An empty one is a few thousand letters long.
        assert!(pictures.iter().all(|p| p.len() > 30_000), "{name}: {:?}", pictures.iter().map(|p| p.len()));
    }
}

#[test]
fn an_unknown_name_is_told_with_those_there_are_before_anything_is_done() {
    let directory = pliant_testing::tempdir().unwrap();
    let out = directory.path().join("figures");
    let error = run(&names(&["peak_strain", "peak-strain"]), &out, &mut |_| {}).unwrap_err();
    assert!(matches!(&error, FigureError::UnknownName(name) if name == "peak-strain"), "{error}");
    let error = run(&names(&["xyz"]), &out, &mut |_| {}).unwrap_err().to_string();
    assert!(figures().iter().all(|f| error.contains(f.name)), "{error}");
    assert!(!out.exists());
}

#[test]
fn a_place_that_cannot_be_written_is_an_io_error_with_its_path() {
    let directory = pliant_testing::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = run(&names(&["zero_length_spring"]), &file, &mut |_| {}).unwrap_err();
    assert!(matches!(error, FigureError::Io { .. }) && error.to_string().contains("file"), "{error}");
    let out = directory.path().join("out");
    fs::create_dir_all(out.join("zero_length_spring.svg")).unwrap();
    let error = run(&names(&["zero_length_spring"]), &out, &mut |_| {}).unwrap_err();
    assert!(matches!(error, FigureError::Io { .. }), "{error}");
    assert!(error.to_string().contains("zero_length_spring.svg"), "{error}");
}

#[test]
#[ignore = "takes two minutes"]
fn all_figures_can_be_made_and_every_claim_has_a_number() {
    let directory = pliant_testing::tempdir().unwrap();
    let results = run(&[], directory.path(), &mut |line| println!("{line}")).unwrap();
    println!("{}", fs::read_to_string(directory.path().join("verdicts.md")).unwrap());
    assert_eq!(results.len(), claims_text().matches("[[claim]]").count());
    assert!(results.iter().all(|r| r.measured.is_finite()));
}
