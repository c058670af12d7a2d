//! The loop of a run: steps until the end or until the user stops it, with progress and statistics.

use crate::failure::Failure;
use crate::interrupt::DeferredStop;
use crate::progress;
use crate::stats::{StatsFile, Timings};
use crate::terminal;
use crate::trace::TraceFile;
use pliant::StepError;
use pliant_session::{Session, SessionError};
use std::sync::Arc;
use std::time::Instant;

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// All frames are there.
    Complete,
    /// The user stopped it.
    Stopped,
    /// A step failed; the frames before it are there.
    Failed(StepError),
}

/// What a run did.
#[derive(Debug)]
pub struct Outcome {
    pub end: End,
    /// Number of the last frame in the log.
    pub last_frame: u32,
    /// Frames simulated just now.
    pub simulated: u32,
    /// How long that took.
    pub seconds: f64,
}

/// Steps a session, which writes its log, until frame number `frames`.
pub fn simulate(
    session: &mut Session,
    frames: u32,
    (mut stats, mut trace): (Option<StatsFile>, Option<TraceFile>),
    quiet: bool,
) -> Result<Outcome, Failure> {
    let deferred = DeferredStop::begin();
    let begin = Instant::now();
    session.set_clock(Arc::new(move || begin.elapsed().as_secs_f64()));
    let bar = progress::bar("simulating", frames.into(), quiet);
    let number = |session: &Session| u32::try_from(session.frame()).unwrap_or(u32::MAX);
    let first = number(session);
    let end = loop {
        bar.set_position(session.frame());
        if number(session) >= frames {
            break End::Complete;
        }
        if deferred.stop() {
            break End::Stopped;
        }
        let stepped = match &mut trace {
            Some(trace) => trace.step(session)?,
            None => session.step(),
        };
        let report = match stepped {
            Ok(report) => report,
            Err(SessionError::Step(e)) => break End::Failed(e),
            Err(e) => return Err(e.into()),
        };
        if let Some(stats) = &mut stats {
            stats.append(&session.logged_frame().stats_json, Timings::of(&report))?;
        }
    };
    bar.finish_and_clear();
    let (solvers, couplings) = (session.convergence_notes(), session.coupling_notes());
    solvers.iter().chain(&couplings).for_each(|note| terminal::problem(note));
    let last = number(session);
    // No end mark after Ctrl-C: the run is to be gone on with. After a failed step there is nothing to go on
    // with, the same step would fail again.
    match end {
        End::Stopped => session.pause_log()?,
        _ => session.finish_log()?,
    }
    Ok(Outcome { end, last_frame: last, simulated: last - first, seconds: begin.elapsed().as_secs_f64() })
}
