//! The `pliant` program: reads the command line, hands over to one command, gives back its exit code.

mod args;
#[cfg(feature = "bench")]
mod bench;
mod check;
mod demos;
mod export;
mod failure;
#[cfg(feature = "figures")]
mod figures;
mod files;
mod interrupt;
mod left_out;
mod log_file;
mod mesh;
mod outputs;
#[cfg(feature = "bench")]
mod plot;
mod progress;
mod run;
mod simulate;
mod source;
mod stats;
mod terminal;
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
        #[cfg(feature = "figures")]
        Some(Command::Figures(a)) => figures::command(&a),
        #[cfg(not(feature = "figures"))]
        Some(Command::Figures(_)) => Err(left_out::failure("pliant figures", "figures")),
        #[cfg(feature = "bench")]
        Some(Command::Bench(a)) => bench::command(&a),
        #[cfg(not(feature = "bench"))]
        Some(Command::Bench(_)) => Err(left_out::failure("pliant bench", "bench")),
        Some(Command::Schema) => terminal::result(&schema()),
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
