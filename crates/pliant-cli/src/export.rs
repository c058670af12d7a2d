//! `pliant export`: other formats from a frame log.

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::files::Files;
use crate::{outputs, terminal};
use pliant_cache::{ExportOptions, FrameSelection, LogReader, ResampledLog};
use std::path::PathBuf;

pub fn command(args: &ExportArgs) -> Result<(), Failure> {
    outputs::check_formats(&args.output)?;
    let reader = LogReader::open(&args.log)?;
    for warning in reader.warnings() {
        terminal::problem(&format!("warning: {}: {warning}", args.log.display()));
    }
    let options = ExportOptions {
        frames: FrameSelection { first: args.first, last: args.last, step: args.step },
        body: args.body.clone(),
        frames_per_second: args.placing.fps,
        surface: args.placing.surface,
        ..args.picture.options(usize::from(args.threads.unwrap_or(0)))
    };
    let mut files = Files::new(args.force);
    files.reads(&args.log, "the log");
    let resampled = ResampledLog::new(&reader, args.placing.fps)?;
    let places = options.frames.positions(&resampled)?;
    for output in &args.output {
        files.exports(output, places.iter().filter_map(|&k| resampled.frame_index(k)));
    }
    files.finish()?;
    outputs::prepare_folders(args.output.iter().map(PathBuf::as_path), args.quiet)?;
    let done = outputs::write_all(&reader, &args.output, &options, args.placing.placing(), args.quiet)?;
    if args.quiet {
        return Ok(());
    }
    let mut lines: Vec<String> = done.iter().map(outputs::describe).collect();
    let films =
        args.output.iter().filter_map(|path| outputs::movie_command(path, &resampled, &options).transpose());
    for film in films {
        lines.push(format!("film of these pictures:\n  {}\n", film?));
    }
    terminal::result(&format!("from {}:\n{}", args.log.display(), lines.concat()))
}
