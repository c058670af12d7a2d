//! `pliant export`: other formats from a frame log.

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::{outputs, say};
use pliant_cache::{ExportOptions, FrameSelection, LogReader};
use std::path::PathBuf;

pub fn command(args: &ExportArgs) -> Result<(), Failure> {
    outputs::check_formats(&args.output)?;
    let reader = LogReader::open(&args.log)?;
    for warning in reader.warnings() {
        say::problem(&format!("warning: {}: {warning}", args.log.display()));
    }
    let options = ExportOptions {
        frames: FrameSelection { first: args.first, last: args.last, step: args.step },
        body: args.body.clone(),
        surface: args.placing.surface,
        ..args.picture.options(usize::from(args.threads.unwrap_or(0)))
    };
    outputs::prepare_folders(args.output.iter().map(PathBuf::as_path))?;
    let done = outputs::write_all(&reader, &args.output, &options, args.placing.placing(), args.quiet)?;
    if args.quiet {
        return Ok(());
    }
    let lines: Vec<String> = done.iter().map(outputs::describe).collect();
    say::result(&format!("from {}:\n{}", args.log.display(), lines.concat()))
}
