//! `pliant figures`: the papers' figures from our own runs, with verdicts.

use crate::args::FiguresArgs;
use crate::failure::Failure;
use crate::terminal;
use pliant_figures::{FigureError, Verdict};
use pliant_scene::nearest_word;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub fn command(args: &FiguresArgs) -> Result<(), Failure> {
    if args.list {
        let rows: Vec<String> =
            pliant_figures::figures().iter().map(|f| format!("{:20}  {}\n", f.name, f.about)).collect();
        return terminal::result(&rows.concat());
    }
    protect(args)?;
    let results = pliant_figures::run(&args.names, &args.output, &mut |line| terminal::problem(line))
        .map_err(|e| {
            let code = if matches!(e, FigureError::Io { .. }) { Failure::IO } else { Failure::USAGE };
            let meant = match &e {
                FigureError::UnknownName(name) => {
                    nearest_word(name, pliant_figures::figures().iter().map(|f| f.name))
                }
                _ => None,
            };
            let hint = meant.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"));
            Failure::new(code, format!("{e}{hint}"))
        })?;
    let mut text = String::new();
    for r in &results {
        // Of times, how far the runs scatter.
        let spread = r.spread.map_or(String::new(), |[least, most]| format!(" ({least:.3} to {most:.3})"));
        text += &format!(
            "{:12} {:50} {:10.3e}{spread}  wanted {}\n",
            word(r.verdict),
            r.id,
            r.measured,
            r.threshold
        );
    }
    let count = |v| results.iter().filter(|r| r.verdict == v).count();
    text += &format!(
        "{} reproduced, {} partly, {} not, {} measured but not judged; drawings and data in {}\n",
        count(Verdict::Reproduced),
        count(Verdict::Partly),
        count(Verdict::Not),
        count(Verdict::Unjudged),
        args.output.join("index.html").display()
    );
    terminal::result(&text)
}

/// Refuses to write over what is in the folder under our names but is not ours.
fn protect(args: &FiguresArgs) -> Result<(), Failure> {
    // What each kind of file of ours begins with; a drawing goes with its data.
    let starts = |path: &Path, with: &str| {
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(with.len() as u64).read_to_end(&mut start));
        read.is_ok() && start == with.as_bytes()
    };
    let ours = |path: &Path| match path.extension().and_then(|e| e.to_str()) {
        Some("md") => starts(path, "# Verdicts"),
        Some("html") => {
            starts(path, "<!DOCTYPE html>") && starts(&path.with_file_name("verdicts.md"), "# Verdicts")
        }
        _ => starts(&path.with_extension("csv"), "panel,series,x_quantity,y_quantity,x,y"),
    };
    let chosen = pliant_figures::figures().iter().map(|f| f.name);
    let chosen = chosen.filter(|name| args.names.is_empty() || args.names.iter().any(|n| n == name));
    let files = chosen.flat_map(|name| [format!("{name}.csv"), format!("{name}.svg")]);
    let files = files.chain(["verdicts.md".to_string(), "index.html".to_string()]);
    let foreign: Vec<String> = files
        .map(|name| args.output.join(name))
        .filter(|path| std::fs::symlink_metadata(path).is_ok() && !ours(path))
        .map(|path| path.display().to_string())
        .collect();
    match foreign.is_empty() || args.force {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{}: there already and not made by pliant; name another folder with -o, or replace what is there with --force",
            foreign.join(", ")
        ))),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Partly => "partly",
        Verdict::Not => "not",
        Verdict::Unjudged => "not judged",
    }
}
