//! `pliant run`, and `pliant` alone: simulate into a log, then export from it.

use crate::args::{self, PictureArgs, PlacingArgs, RunArgs};
use crate::failure::Failure;
use crate::files::Files;
use crate::log_file::{self, ExistingLog, OpenedLog};
use crate::simulate::{self, End, Outcome};
use crate::source::{self, SceneArgument};
use crate::stats::{StatsFile, Timings};
use crate::trace::TraceFile;
use crate::{outputs, terminal};
use pliant::{Edit, Isa, StepError};
use pliant_cache::{ExportOptions, ExportSummary, LogReader, ResampledLog, without_number};
use pliant_session::{DEMOS, Disk, SceneSettings, Session, SessionOptions};
use std::path::{Path, PathBuf};

/// Folder of `pliant` alone.
const OUT: &str = "out";

/// What to run and what to make of it.
struct RunRequest {
    source: SceneArgument,
    /// Empty: what the scene names.
    outputs: Vec<PathBuf>,
    frames: Option<u32>,
    threads: usize,
    isa: Option<Isa>,
    stats: Option<PathBuf>,
    /// The file, and for how many steps.
    trace: Option<(PathBuf, u32)>,
    log: Option<PathBuf>,
    policy: ExistingLog,
    quiet: bool,
    placing: PlacingArgs,
    picture: PictureArgs,
    /// How the user can say it again to go on.
    again: String,
}

/// `pliant run`
pub fn command(args: &RunArgs) -> Result<(), Failure> {
    outputs::check_formats(&args.output)?;
    execute(RunRequest {
        source: source::find(&args.scene, &args.mesh)?,
        outputs: args.output.clone(),
        frames: args.frames,
        threads: args::threads(args.threads),
        isa: args.isa,
        stats: args.stats.clone(),
        trace: args.trace.clone().map(|path| (path, args.trace_steps)),
        log: args.log.clone(),
        policy: match (args.resume, args.force) {
            (true, _) => ExistingLog::Resume,
            (_, true) => ExistingLog::Force,
            _ => ExistingLog::Ask,
        },
        quiet: args.quiet,
        placing: args.placing,
        picture: args.picture.clone(),
        again: resume_command(),
    })
}

/// `pliant` alone
pub fn default_demo() -> Result<(), Failure> {
    let demo = DEMOS
        .first()
        .ok_or_else(|| Failure::usage("this build has no demos; run a scene with `pliant run SCENE`"))?;
    let file = |extension: &str| Path::new(OUT).join(demo.name).with_extension(extension);
    execute(RunRequest {
        source: source::of_demo(demo)?,
        outputs: vec![file("usda"), file("gif"), file("png")],
        frames: None,
        threads: args::threads(None),
        isa: None,
        stats: None,
        trace: None,
        log: Some(file("plog")),
        // Whoever stopped it and calls it again wants the rest.
        policy: ExistingLog::ResumeSame,
        quiet: false,
        placing: PlacingArgs::default(),
        picture: PictureArgs::default(),
        again: terminal::program(),
    })
}

fn execute(request: RunRequest) -> Result<(), Failure> {
    // Nothing is undone or gone back to here.
    let options = SessionOptions::default().threads(request.threads).isa(request.isa).memory(0);
    let mut session = Session::build(&request.source.scene, &Disk, options)?;
    let scene = session.settings().clone();
    let frames = request.frames.unwrap_or(scene.frames);
    let wanted = if request.outputs.is_empty() {
        outputs::check_formats(&scene.outputs)?;
        scene.outputs.clone()
    } else {
        request.outputs.clone()
    };
    let log = request.log.clone().unwrap_or_else(|| log_beside(wanted.first(), &request.source.name));
    let last = match request.placing.fps {
        // As footage counts them.
        Some(fps) => (f64::from(frames) * fps / scene.frames_per_second + 1e-6).floor() as u32,
        None => frames,
    };
    protect(&request, &scene, &log, &wanted, 0..=last)?;
    if request.trace.is_some() && !traceable(&session) {
        return Err(Failure::usage(
            "--trace: no body of the scene is moved by a solver with an objective; set solver = \"projective\", \
             \"newton\", \"xpbd\" or \"pbd\", or leave --trace out",
        ));
    }
    // Statistics are written in place, line by line: a device takes them unharmed.
    let stats = request.stats.as_deref().filter(|path| !outputs::is_device(path));
    let files = wanted.iter().map(PathBuf::as_path).chain([log.as_path()]).chain(stats);
    let trace = request.trace.iter().map(|(path, _)| path.as_path());
    let files = files.chain(trace.filter(|path| !outputs::is_device(path)));
    outputs::prepare_folders(files, request.quiet)?;
    if !request.quiet {
        for note in &scene.notes {
            terminal::problem(&format!("note: {note}"));
        }
    }
    let outcome = record(&request, &mut session, &log, frames)?;
    let reader = LogReader::open(&log)?;
    if reader.frame_count() as u64 > u64::from(frames) + 1 {
        // A log that held more than was asked for has more files come of it than were looked at.
        let resampled = ResampledLog::new(&reader, request.placing.fps)?;
        let numbers = (0..resampled.frame_count()).filter_map(|k| resampled.frame_index(k));
        protect(&request, &scene, &log, &wanted, numbers)?;
    }
    let options = ExportOptions {
        surface: request.placing.surface,
        frames_per_second: request.placing.fps,
        ..request.picture.options(request.threads)
    };
    let done = outputs::write_all(&reader, &wanted, &options, request.placing.placing(), request.quiet)?;
    if request.quiet {
        return Ok(());
    }
    let resampled = ResampledLog::new(&reader, request.placing.fps)?;
    let films =
        wanted.iter().filter_map(|path| outputs::movie_command(path, &resampled, &options).transpose());
    let films = films.collect::<Result<Vec<String>, Failure>>()?;
    terminal::result(&summary(&request, &reader, outcome.as_ref(), (&done, &films)))
}

/// Whether some body is moved by a solver that minimises something.
fn traceable(session: &Session) -> bool {
    let later = session.events().edits().iter().filter_map(|(_, edit)| match edit {
        Edit::Add(body) => Some(body.solver),
        _ => None,
    });
    let there = session.simulation().model().bodies().iter().map(|b| b.parts.solver());
    there.chain(later).any(|solver| solver.uses_constraints())
}

/// Runs the simulation; `None` if the log already held everything.
fn record(
    request: &RunRequest,
    session: &mut Session,
    log: &Path,
    frames: u32,
) -> Result<Option<Outcome>, Failure> {
    // Before the log: a run that may not write its statistics should not have replaced anything.
    let mut stats = request.stats.as_deref().map(StatsFile::claim).transpose()?;
    let continued = match log_file::open(log, session, frames, request.policy)? {
        OpenedLog::Complete => {
            if let Some(stats) = &mut stats {
                stats.begin(Some((&LogReader::open(log)?, u32::MAX)))?;
            }
            return Ok(None);
        }
        OpenedLog::Unfinished(last) => last,
    };
    if let Some(stats) = &mut stats {
        match continued {
            Some(last) => stats.begin(Some((&session.log()?, last)))?,
            None => {
                stats.begin(None)?;
                stats.append(&session.logged_frame().stats_json, Timings::default())?;
            }
        }
    }
    let trace = request.trace.as_ref().map(|(path, steps)| TraceFile::create(path, *steps)).transpose()?;
    let outcome = simulate::simulate(session, frames, (stats, trace), request.quiet)?;
    let last = outcome.last_frame;
    let kept = format!(
        "frames 0 to {last} are in {}; export them with `{} export {} -o out.gif`",
        log.display(),
        terminal::program(),
        terminal::quoted(&log.display().to_string())
    );
    match &outcome.end {
        End::Complete => Ok(Some(outcome)),
        End::Stopped => Err(Failure::new(
            Failure::INTERRUPTED,
            format!("after frame {last} of {frames}; {kept}\n  help: go on with `{}`", request.again),
        )),
        End::Failed(StepError::NonFinite { step, body, particle, likely }) => Err(Failure::new(
            Failure::NON_FINITE,
            format!(
                "{}: the simulation became non-finite in frame {step}, body \"{body}\", particle {particle}\n  \
                 likely cause: {likely}\n  help: {kept}",
                request.source.argument
            ),
        )),
        End::Failed(e) => Err(Failure::new(
            Failure::NON_FINITE,
            format!("{}: frame {}: {e}\n  help: {kept}", request.source.argument, last + 1),
        )),
    }
}

/// The log beside the first output, or in the current folder.
fn log_beside(first: Option<&PathBuf>, name: &str) -> PathBuf {
    let own = PathBuf::from(format!("{name}.plog"));
    match first {
        // Of numbered files what is left without the number, or the scene's name if nothing is.
        Some(first) => match without_number(first) {
            Some(plain) => plain.with_extension("plog"),
            None => first.with_file_name(own),
        },
        None => own,
    }
}

/// Refuses to write one file over another, over a part of the scene, or over what somebody else made.
fn protect(
    request: &RunRequest,
    scene: &SceneSettings,
    log: &Path,
    outputs: &[PathBuf],
    frames: impl IntoIterator<Item = u32> + Clone,
) -> Result<(), Failure> {
    let mut files = Files::new(request.policy == ExistingLog::Force);
    let of_scene = if request.source.is_mesh { "the mesh" } else { "a file of the scene" };
    scene.inputs.iter().for_each(|path| files.reads(path, of_scene));
    if let Some(path) = &request.source.file {
        files.reads(path, if request.source.is_mesh { "the mesh" } else { "the scene" });
    }
    for output in outputs {
        files.exports(output, frames.clone());
    }
    files.writes(log, "the log");
    request.stats.iter().for_each(|path| files.writes(path, "the statistics"));
    request.trace.iter().for_each(|(path, _)| files.writes(path, "the trace"));
    request.source.saved.iter().for_each(|path| files.writes(path, "the saved scene"));
    files.finish()
}

fn summary(
    request: &RunRequest,
    reader: &LogReader,
    outcome: Option<&Outcome>,
    (done, films): (&[ExportSummary], &[String]),
) -> String {
    let name = &request.source.name;
    let fps = reader.header().frames_per_second;
    let mut text = match outcome {
        Some(o) if o.simulated > 0 => {
            let simulated = f64::from(o.simulated) / fps;
            format!(
                "{name}: {} frames ({simulated:.2} s) simulated in {:.2} s: {:.2} ms per frame, {}\n",
                o.simulated,
                o.seconds,
                1e3 * o.seconds / f64::from(o.simulated),
                pace(simulated / o.seconds.max(1e-9))
            )
        }
        _ => format!("{name}: the log already holds all frames\n"),
    };
    let log = reader.path();
    let bytes = std::fs::metadata(log).map_or(0, |m| m.len());
    text += &format!(
        "  {}  (the frame log: {} frames, {})\n",
        log.display(),
        reader.frame_count(),
        outputs::size(bytes)
    );
    for file in done {
        text += &outputs::describe(file);
    }
    if let Some(stats) = &request.stats {
        text += &format!("  {}  (statistics, one JSON object per line)\n", stats.display());
    }
    if let Some((trace, _)) = &request.trace {
        text += &format!("  {}  (error per iteration, CSV)\n", trace.display());
    }
    text + &next_steps(request, reader, done, films)
}

/// How fast a run was against the clock: as many times faster, or slower where that is the larger number.
fn pace(times: f64) -> String {
    let number = |x: f64| if x < 9.95 { format!("{x:.1}") } else { format!("{x:.0}") };
    match times >= 0.95 {
        true => format!("{} times real time", number(times)),
        false => format!("{} times slower than real time", number(1.0 / times.max(1e-9))),
    }
}

/// What one might want to do now, for the files there are.
fn next_steps(request: &RunRequest, reader: &LogReader, done: &[ExportSummary], films: &[String]) -> String {
    let (log, fps) = (reader.path(), reader.header().frames_per_second);
    let of = |extension: &str| {
        let file = done.iter().find(|s| s.path.extension().is_some_and(|e| e == extension));
        file.map(|s| s.path.display().to_string())
    };
    let mut text = String::from("next:\n");
    let mut row = |what: &str, how: String| text += &format!("  {what:9} {how}\n");
    if let Some(gif) = of("gif").or_else(|| of("apng")).or_else(|| of("png")) {
        row("look", format!("open {gif} in a browser or picture viewer"));
    }
    for film in films {
        row("film", film.clone());
    }
    if let Some(usda) = of("usda") {
        row("Blender", format!("File > Import > Universal Scene Description (.usd*), choose {usda}"));
        let fps = request.placing.fps.unwrap_or(fps);
        if fps != 24.0 {
            let again = "or export with --for blender --fps 24";
            row("", format!("and set Output > Frame Rate to {fps} (Blender's own is 24), {again}"));
        }
    }
    if let Some(pc2) = of("pc2") {
        row("Blender", format!("Mesh Cache modifier, format PC2, choose {pc2}"));
    }
    let (me, log) = (terminal::program(), terminal::quoted(&log.display().to_string()));
    row("export", format!("{me} export {log} -o strain.gif --color-by strain"));
    if DEMOS.iter().any(|d| d.name == request.source.argument) {
        let demo = &request.source.name;
        row("your own", format!("{me} demos {demo} > my.toml, change it, {me} run my.toml -o my.gif"));
    }
    text
}

/// The command line as it was given, made to continue the run.
fn resume_command() -> String {
    let mut words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|w| w.to_string_lossy().to_string())
        .filter(|w| !["--force", "--overwrite", "--resume"].contains(&w.as_str()))
        .map(|w| terminal::quoted(&w))
        .collect();
    words.push("--resume".into());
    format!("{} {}", terminal::program(), words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::pace;

    #[test]
    fn a_pace_is_never_nothing() {
        assert_eq!(pace(123.4), "123 times real time");
        assert_eq!(pace(1.04), "1.0 times real time");
        assert_eq!(pace(0.04), "25 times slower than real time");
        assert_eq!(pace(0.9), "1.1 times slower than real time");
        // Never nothing, however slow.
        for k in 0..40 {
            let said = pace(10f64.powi(-k));
            assert!(!said.starts_with("0 ") && !said.starts_with("0.0"), "{said}");
        }
        assert!(pace(0.0).starts_with("1000000000 times slower"));
    }
}
