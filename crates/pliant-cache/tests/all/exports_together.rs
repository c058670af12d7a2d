//! All outputs at once have the bytes each has alone, on a disk and in memory, for any number of threads; one that fails does
//! not keep the others.

use crate::common::changing::write_changing;
use crate::common::write_dressed;
use pliant_cache::{
    Conversion, DiskOutput, ExportOptions, ExportOutput, FORMATS, LogReader, MemoryOutput, export, export_all,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn small() -> ExportOptions {
    ExportOptions { width: Some(64), height: Some(48), threads: 1, ..Default::default() }
}

/// One of each format, and numbered pictures; some in other units.
fn outputs(folder: &Path) -> Vec<ExportOutput> {
    let names = FORMATS.iter().map(|f| format!("{0}/a.{0}", f.extension)).chain(["pictures/##.png".into()]);
    let with = |(k, name): (usize, String)| ExportOutput {
        path: folder.join(name),
        conversion: Conversion { scale: [1.0, 100.0][k % 2], z_up: k % 3 == 1 },
    };
    names.enumerate().map(with).collect()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for part in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        for file in fs::read_dir(part).unwrap().map(|e| e.unwrap().path()) {
            all.insert(file.strip_prefix(folder).unwrap().to_path_buf(), fs::read(&file).unwrap());
        }
    }
    all
}

#[test]
fn together_in_memory_and_alone_are_the_same_bytes() {
    for torn in [false, true] {
        let folder = pliant_testing::tempdir().unwrap();
        let log = folder.path().join("a.plog");
        match torn {
            true => write_changing(&log, &[], true),
            false => drop(write_dressed(&log, 20)),
        }
        let reader = LogReader::open(&log).unwrap();
        let all = outputs(folder.path());
        for output in &all {
            fs::create_dir_all(output.path.parent().unwrap()).unwrap();
            let options = ExportOptions { conversion: output.conversion, ..small() };
            export(&reader, &output.path, &options, &mut |_, _| {}).unwrap();
        }
        let alone = files(folder.path());
        assert!(alone.len() > 40, "{}", alone.len());
        for threads in [1, 2, 5] {
            let mut last = (0, 0);
            let options = ExportOptions { threads, ..small() };
            let done = export_all(&reader, &all, &options, &DiskOutput, &mut |k, of| {
                assert!(k == last.0 + 1 && k <= of, "step {k} of {of} after {last:?}");
                last = (k, of);
            });
            assert!(done.iter().all(Result::is_ok), "{done:?}");
            assert_eq!(last.0, last.1, "all steps were counted");
            assert!(files(folder.path()) == alone, "{threads} threads");
        }
        let memory = MemoryOutput::default();
        let done = export_all(&reader, &outputs(Path::new("")), &small(), &memory, &mut |_, _| {});
        let told: u64 = done.into_iter().map(|d| d.unwrap().bytes).sum();
        let made = memory.take();
        assert_eq!(told, made.values().map(|b| b.len() as u64).sum::<u64>());
        // Each in the folder of its own.
        assert!(made == alone);
    }
}

#[test]
fn one_that_fails_does_not_keep_the_others() {
    let folder = pliant_testing::tempdir().unwrap();
    let log = folder.path().join("a.plog");
    write_dressed(&log, 4);
    let reader = LogReader::open(&log).unwrap();
    let names =
        ["no/such/folder/a.usda", "a.fbx", "a.pc2", "no/such/folder/a.gif", "a.gif", "no/such/folder/a.obj"];
    let all = names.map(|n| ExportOutput { path: folder.path().join(n), conversion: Default::default() });
    let done = export_all(&reader, &all, &small(), &DiskOutput, &mut |_, _| {});
    let fine: Vec<bool> = done.iter().map(Result::is_ok).collect();
    assert_eq!(fine, [false, false, true, false, true, false]);
    let told = done.into_iter().filter_map(Result::err).map(|e| e.to_string()).collect::<Vec<_>>().join("\n");
    assert!(told.contains("a.fbx") && told.contains("no/such/folder/a.mtl"), "{told}");
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "the log, two outputs and nothing else");

    // What keeps all from being made is told once, with every output named.
    let nobody = ExportOptions { body: Some("nobody".into()), ..small() };
    let done = export_all(&reader, &all[1..3], &nobody, &DiskOutput, &mut |_, _| {});
    let told: Vec<String> = done.into_iter().map(|d| d.unwrap_err().to_string()).collect();
    assert!(told[0].contains("there is no body \"nobody\""), "{told:?}");
    assert!(told[1].contains("a.pc2") && told[1].contains("for the reason given before"), "{told:?}");
}
