//! The `pliant` program: reads the command line, hands over to one command, gives back its exit code.

mod args;
mod bench;
mod check;
mod convergence;
mod demos;
mod export;
mod failure;
mod figures;
mod files;
mod interrupt;
mod journal;
mod mesh;
mod outputs;
mod progress;
mod recorder;
mod run;
mod say;
mod simulate;
mod solids;
mod source;
mod stats;
mod torn_mesh;
mod trace;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = interrupt::install().and_then(|()| match args.command {
        None => run::default_demo(),
        Some(Command::Run(a)) => run::command(&a),
        Some(Command::Export(a)) => export::command(&a),
        Some(Command::Check(a)) => check::command(&a),
        Some(Command::Mesh(a)) => mesh::command(&a),
        Some(Command::Demos(a)) => demos::command(&a),
        Some(Command::Figures(a)) => figures::command(&a),
        Some(Command::Bench(a)) => bench::command(&a),
        Some(Command::Schema) => say::result(&schema()),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The JSON schema, ending in a line break like any text file.
fn schema() -> String {
    format!("{}\n", pliant_scene::schema().trim_end())
}
