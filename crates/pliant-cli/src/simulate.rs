//! The loop of a run: step, measure, append; a checkpoint now and then, and wherever it ends.

use crate::convergence::Watch;
use crate::failure::Failure;
use crate::interrupt::Deferred;
use crate::journal::{Journal, due, other_bits};
use crate::progress;
use crate::recorder::Recorder;
use crate::say;
use crate::solids;
use crate::stats::{self, StatsFile, Timings};
use crate::trace::TraceFile;
use pliant::{Simulation, SolverKind, StepError, StepReport};
use pliant_cache::{LogFrame, LogPlane};
use pliant_scene::BuiltScene;
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

/// Simulates until the log holds frame number `frames`.
pub fn simulate(
    scene: &mut BuiltScene,
    mut journal: Journal,
    frames: u32,
    (mut stats, mut trace): (Option<StatsFile>, Option<TraceFile>),
    quiet: bool,
) -> Result<Outcome, Failure> {
    let deferred = Deferred::begin();
    let begin = Instant::now();
    let (simulation, events, built) = (&mut scene.simulation, &scene.events, &scene.bodies);
    simulation.set_clock(Box::new(move || begin.elapsed().as_secs_f64()));
    if let Some(state) = &journal.checkpoint {
        let log = journal.writer.path();
        let frame = journal.last_frame.unwrap_or(0).into();
        let bits = simulation.restore_by(events, frame, state);
        let bits = bits.map_err(|e| Failure::usage(format!("{}: {e}", log.display())))?;
        if bits != simulation.bits() {
            say::problem(&other_bits(log, bits.name(), simulation.bits().name()));
        }
    }
    let mut recorder = Recorder::new(simulation, built);
    let bar = progress::bar("simulating", frames.into(), quiet);
    let mut frame = LogFrame::default();
    let mut last = match journal.last_frame {
        Some(n) => n,
        None => {
            record(&mut frame, 0, simulation, &StepReport::default());
            journal.writer.append_frame(&frame)?;
            if let Some(stats) = &mut stats {
                stats.append(&frame.stats_json, Timings::default())?;
            }
            0
        }
    };
    let first = last;
    let mut watch = Watch::default();
    let end = loop {
        bar.set_position(last.into());
        if last >= frames {
            break End::Complete;
        }
        if deferred.stop() {
            break End::Stopped;
        }
        let made = simulation.make_scheduled(events);
        let stepped = match (&mut trace, made) {
            (_, Err(refused)) => Err(refused),
            (Some(trace), _) => trace.step(simulation, Box::new(move || begin.elapsed().as_secs_f64()))?,
            (None, _) => simulation.step(),
        };
        let report = match stepped {
            Ok(report) => report,
            Err(e) => break End::Failed(e),
        };
        let stepped = Instant::now();
        last += 1;
        watch.frame(last, &report);
        recorder.follow(simulation, built, &mut journal.writer)?;
        record(&mut frame, last, simulation, &report);
        journal.writer.append_frame(&frame)?;
        if let Some(stats) = &mut stats {
            let ms = |kind: SolverKind| 1e3 * report.seconds[kind as usize];
            stats.append(
                &frame.stats_json,
                Timings {
                    clustered: ms(SolverKind::Clustered),
                    projective: ms(SolverKind::Projective),
                    newton: ms(SolverKind::Newton),
                    xpbd: ms(SolverKind::Xpbd),
                    pbd: ms(SolverKind::Pbd),
                    log: 1e3 * stepped.elapsed().as_secs_f64(),
                },
            )?;
        }
        if due(last, frames, scene.checkpoint_every) {
            journal.writer.append_checkpoint(last, &simulation.checkpoint())?;
            journal.checkpointed = Some(last);
        }
    };
    bar.finish_and_clear();
    watch.notes().for_each(|note| say::problem(&note));
    if last > 0 && journal.checkpointed != Some(last) {
        journal.writer.append_checkpoint(last, &simulation.checkpoint())?;
    }
    // No end mark after Ctrl-C: the run is to be gone on with. After a failed step there is nothing to go on
    // with, the same step would fail again.
    if !matches!(end, End::Stopped) {
        journal.writer.finish()?;
    }
    Ok(Outcome { end, last_frame: last, simulated: last - first, seconds: begin.elapsed().as_secs_f64() })
}

/// Fills a frame of the log from the present state. Nothing in it may depend on clock or threads.
fn record(frame: &mut LogFrame, index: u32, simulation: &Simulation, report: &StepReport) {
    let state = simulation.state();
    frame.index = index;
    frame.time = state.time();
    frame.positions.iter_mut().for_each(Vec::clear);
    frame.velocity.iter_mut().for_each(Vec::clear);
    frame.contact.clear();
    // Colliders are all there is to touch.
    let around = simulation.present_colliders();
    for (body, state) in simulation.model().bodies().iter().zip(state.bodies()) {
        for (to, from) in frame.positions.iter_mut().zip(state.positions().columns()) {
            to.extend_from_slice(from);
        }
        let radius = &body.parts.rest().radius;
        for (i, x) in state.positions().iter().enumerate() {
            let v = simulation.velocity(body.id, i).unwrap_or_default().to_array();
            frame.velocity.iter_mut().zip(v).for_each(|(to, v)| to.push(v as f32));
            frame.contact.push(around.touch(x, radius[i]).into());
        }
    }
    let shown =
        state.half_spaces(simulation.model()).map(|p| LogPlane { normal: p.normal, offset: p.offset });
    frame.planes = Some(shown.collect());
    frame.solids = solids::places(simulation);
    let mut strain = Vec::new();
    let statistics = simulation.statistics_and_strain(&mut strain);
    frame.strain.clear();
    frame.strain.extend(strain.iter().map(|s| *s as f32));
    // A few hundred bytes per body beside tens of thousands: always, so that any frame can be read alone.
    frame.controls = simulation.controls().encode();
    frame.stats_json = stats::json(index, &statistics, simulation, report);
}
