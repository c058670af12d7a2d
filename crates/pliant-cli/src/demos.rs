//! `pliant demos`: the built-in scenes.

use crate::args::DemosArgs;
use crate::failure::Failure;
use crate::{source, terminal};
use pliant_scene::DEMOS;

pub fn command(args: &DemosArgs) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let text = source::demo(name)?.text;
        return terminal::result(&format!("{}\n", text.trim_end()));
    }
    let width = DEMOS.iter().map(|d| d.name.len()).max().unwrap_or(0);
    let rows: Vec<String> = DEMOS.iter().map(|d| format!("{:width$}  {}\n", d.name, d.about)).collect();
    terminal::result(&rows.concat())
}
