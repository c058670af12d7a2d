//! `pliant figures`: the papers' figures from our own runs, with verdicts.

use crate::args::FiguresArgs;
use crate::failure::Failure;
use crate::say;
use pliant_figures::{FigureError, Verdict};

pub fn command(args: &FiguresArgs) -> Result<(), Failure> {
    if args.list {
        let rows: Vec<String> =
            pliant_figures::figures().iter().map(|f| format!("{:20}  {}\n", f.name, f.about)).collect();
        return say::result(&rows.concat());
    }
    let results =
        pliant_figures::run(&args.names, &args.output, &mut |line| say::problem(line)).map_err(|e| {
            let code = if matches!(e, FigureError::Io { .. }) { Failure::IO } else { Failure::USAGE };
            Failure::new(code, e.to_string())
        })?;
    let mut text = String::new();
    for r in &results {
        text += &format!("{:12} {:50} {:10.3e}  wanted {}\n", word(r.verdict), r.id, r.measured, r.threshold);
    }
    let count = |v| results.iter().filter(|r| r.verdict == v).count();
    text += &format!(
        "{} reproduced, {} partly, {} not; drawings and data in {}\n",
        count(Verdict::Reproduced),
        count(Verdict::Partly),
        count(Verdict::Not),
        args.output.join("index.html").display()
    );
    say::result(&text)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Partly => "partly",
        Verdict::Not => "not",
    }
}
