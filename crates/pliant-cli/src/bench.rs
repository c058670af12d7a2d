//! `pliant bench`: speed against this machine's own limits.

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::files::Files;
use crate::{outputs, plot, terminal};
use pliant_bench::{Measurement, Options};

pub fn command(args: &BenchArgs) -> Result<(), Failure> {
    if args.list {
        let rows: Vec<String> =
            pliant_bench::list().map(|(name, about)| format!("{name:28}  {about}\n")).collect();
        return terminal::result(&rows.concat());
    }
    // Said before a minute of measuring, not after.
    if args.plot.is_some() {
        plot::available()?;
    }
    let scaling = |name: &str| name.starts_with("clustered/scaling/") && name.contains(&args.filter);
    if args.plot.is_some() && !pliant_bench::list().any(|(name, _)| scaling(name)) {
        return Err(Failure::usage(format!(
            "--plot draws clustered/scaling, which --filter {} leaves out; use --filter clustered/scaling",
            args.filter
        )));
    }
    if let Some(path) = &args.plot {
        let mut files = Files::new(false);
        args.points.iter().for_each(|points| files.reads(points, "the list of points"));
        files.writes(path, "the drawing");
        files.finish()?;
        outputs::require_folder(path)?;
    }
    let points = match (&args.points, args.radius) {
        (Some(path), Some(radius)) => {
            let points = pliant_geometry::read_points(path).map_err(|all| {
                let io = all.iter().all(|e| e.io);
                let code = if io { Failure::IO } else { Failure::USAGE };
                Failure::all(code, all.iter().map(ToString::to_string).collect())
            })?;
            Some((points, radius))
        }
        _ => None,
    };
    let options = Options {
        filter: args.filter.clone(),
        threads: args.threads.map_or(0, usize::from),
        isa: args.isa,
        points,
    };
    // Printed as it comes: a full run takes a while.
    let mut failed = None;
    let outcome = pliant_bench::run(&options, |m| {
        let line = if args.json { json(&m) } else { row(&m) };
        failed = failed.take().or(terminal::result(&line).err());
    });
    let frames = outcome.map_err(Failure::usage)?;
    if let Some(path) = &args.plot {
        plot::speed(&frames, path)?;
    }
    failed.map_or(Ok(()), Err)
}

fn json(m: &Measurement) -> String {
    // Plain numbers and words always have a JSON form.
    format!("{}\n", serde_json::to_string(m).unwrap_or_default())
}

fn row(m: &Measurement) -> String {
    let share = m.share_of_limit.map_or(String::new(), |s| format!("{:5.1} % of the limit", 100.0 * s));
    let row = format!(
        "{:28} {:10.4} {:8} {} thread(s)  {:9} {share:22}",
        m.name, m.value, m.unit, m.threads, m.isa
    );
    format!("{}\n", format!("{row} {}", m.note).trim_end())
}
