//! The session itself: a simulation made from a scene, with its frames, edits, log and surfaces.

mod edits;
mod shown;

use crate::colliders;
use crate::convergence::ConvergenceWatch;
use crate::coupling_watch::CouplingWatch;
use crate::error::SessionError;
use crate::history::{History, StoredState};
use crate::recorder::{BuiltBodies, Recorder};
use crate::recording::{self, Recording};
use crate::source::SceneSource;
use crate::statistics::FrameStatistics;
use crate::surface::{self, BodySurface};
use pliant::{Bits, BodyId, Isa, Schedule, Simulation, StateError, StepError, StepReport, TracePoint};
use pliant_cache::{LogBody, LogCollider, LogFrame, LogHeader};
use pliant_scene::{BuiltScene, Diagnostic, Resolver, Scene, SceneSettings};
use shown::shown_in_log;
use std::sync::Arc;

/// Reads seconds from wherever the host keeps time; a session itself reads no clock.
pub type SharedClock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// How a session is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Threads of the simulation; its bits do not depend on it.
    pub threads: usize,
    /// Instructions to use; the best of this machine if none is named.
    pub isa: Option<Isa>,
    /// Bytes for states to go back to (undo, scrubbing). With 0 only the first is kept, and going back computes anew.
    pub memory: usize,
}

impl Default for SessionOptions {
    fn default() -> Self {
        SessionOptions { threads: 1, isa: None, memory: 1 << 28 }
    }
}

impl SessionOptions {
    /// The number of threads that steps may use; 0 for as many as the machine has. It changes no bit of what comes out.
    pub fn threads(self, threads: usize) -> SessionOptions {
        SessionOptions { threads, ..self }
    }

    /// The bytes that states of earlier frames may take, for going back; what does not fit is computed again.
    pub fn memory(self, memory: usize) -> SessionOptions {
        SessionOptions { memory, ..self }
    }

    /// The instruction set of kernels; `None` for the widest there is. AVX2 and AVX-512 give the same bits, the baseline
    /// others.
    pub fn isa(self, isa: Option<Isa>) -> SessionOptions {
        SessionOptions { isa, ..self }
    }
}

/// What a step of a session gives back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameReport {
    /// Number of the frame that was reached.
    pub frame: u64,
    /// The engine's report.
    pub step: StepReport,
    /// Seconds spent measuring and logging the frame; zero without a clock.
    pub log_seconds: f64,
}

/// A run of a scene; see the [crate] for what it can do.
pub struct Session {
    pub(crate) simulation: Simulation,
    events: Schedule,
    built: BuiltBodies,
    /// What pictures show of colliders that are no planes.
    colliders: Vec<LogCollider>,
    settings: SceneSettings,
    pub(crate) recorder: Recorder,
    history: History,
    pub(crate) recording: Option<Recording>,
    /// The last frame that was made for the log.
    pub(crate) frame: LogFrame,
    clock: Option<SharedClock>,
    watch: ConvergenceWatch,
    couplings: CouplingWatch,
    surfaces: Vec<BodySurface>,
    /// Whether the surfaces are those of the present state.
    posed: bool,
}

impl Session {
    /// Reads a scene and builds it: every problem at once.
    ///
    /// ```
    /// use pliant_session::{Disk, SceneSource, Session, SessionOptions};
    ///
    /// let mut session =
    ///     Session::open(&SceneSource::Demo("gummy_bear".into()), &Disk, SessionOptions::default())?;
    /// session.step().unwrap();
    /// assert_eq!(session.frame(), 1);
    /// # Ok::<(), Vec<pliant_session::Diagnostic>>(())
    /// ```
    pub fn open(
        source: &SceneSource,
        files: &dyn Resolver,
        options: SessionOptions,
    ) -> Result<Session, Vec<Diagnostic>> {
        let (scene, notes) = source.load(files)?;
        let mut session = Session::build(&scene, files, options)?;
        session.settings.notes.splice(0..0, notes);
        Ok(session)
    }

    /// Builds a scene that was read.
    pub fn build(
        scene: &Scene,
        files: &dyn Resolver,
        options: SessionOptions,
    ) -> Result<Session, Vec<Diagnostic>> {
        Ok(Session::of(scene.build_with(options.threads, files)?, options))
    }

    /// A session of a scene that was built.
    pub fn of(scene: BuiltScene, options: SessionOptions) -> Session {
        let BuiltScene { mut simulation, events, bodies, colliders, settings, .. } = scene;
        if let Some(isa) = options.isa {
            simulation.set_isa(isa);
        }
        let built: BuiltBodies = (0..).zip(bodies).collect();
        let recorder = Recorder::new(&simulation, &built);
        let start = StoredState { checkpoint: simulation.checkpoint(), recorder: recorder.clone() };
        Session {
            history: History::new(simulation.state().step(), start, options.memory),
            settings,
            colliders: colliders::meshes(&colliders),
            simulation,
            events,
            built,
            recorder,
            recording: None,
            frame: LogFrame::default(),
            clock: None,
            watch: ConvergenceWatch::default(),
            couplings: CouplingWatch::default(),
            surfaces: Vec::new(),
            posed: false,
        }
    }

    /// Lets the session know the time, for its reports.
    pub fn set_clock(&mut self, clock: SharedClock) {
        let own = clock.clone();
        self.simulation.set_clock(Box::new(move || own()));
        self.clock = Some(clock);
    }

    /// Bounds the states that are kept to go back to, in bytes; see [`SessionOptions::memory`].
    pub fn set_memory(&mut self, bytes: usize) {
        self.history.set_memory(bytes, self.simulation.state().step());
    }

    /// The number of the present frame: steps done.
    pub fn frame(&self) -> u64 {
        self.simulation.state().step()
    }

    /// The simulation, to look at: model, state, controls, queries, statistics.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// What the scene says beside the simulation.
    pub fn settings(&self) -> &SceneSettings {
        &self.settings
    }

    /// What is to happen by the scene, and when.
    pub fn events(&self) -> &Schedule {
        &self.events
    }

    /// Positions of a body's particles, x, y and z, borrowed from the state; `None` if the body is gone.
    pub fn positions(&self, body: impl Into<BodyId>) -> Option<[&[f64]; 3]> {
        self.simulation.state().body(body).map(|b| b.positions().columns())
    }

    /// The render meshes of all bodies as they are now, with normals. Skinned when first asked for after a step or edit.
    ///
    /// ```
    /// # use pliant_session::{Disk, SceneSource, Session, SessionOptions};
    /// let scene = SceneSource::text("[[body]]\nshape = \"ball\"\nparticles = 60\n");
    /// let mut session = Session::open(&scene, &Disk, SessionOptions::default()).unwrap();
    /// let ball = &session.surfaces()[0];
    /// assert_eq!(ball.positions().len(), ball.normals().len());
    /// ```
    pub fn surfaces(&mut self) -> &[BodySurface] {
        if !self.posed {
            // Bodies may be others since the last frame, by edits; the next frame takes that up for good.
            let mut now = self.recorder.clone();
            now.follow(&self.simulation, &self.built);
            surface::pose(&mut self.surfaces, now.bodies(), &self.simulation);
            self.posed = true;
        }
        &self.surfaces
    }

    /// What pictures and logs know of the bodies there were in the last frame.
    pub fn bodies(&self) -> &[LogBody] {
        self.recorder.bodies()
    }

    /// Notes on solvers whose iterations did not come to an end so far.
    pub fn convergence_notes(&self) -> Vec<String> {
        self.watch.notes().collect()
    }

    /// Notes on joints and glue that broke, collapsed or let go so far: one for each name and what happened.
    pub fn coupling_notes(&self) -> Vec<String> {
        self.couplings.notes().collect()
    }

    /// Statistics of the present state; contacts and convergence are those of `report`, the last step's.
    pub fn statistics(&self, report: &StepReport) -> FrameStatistics {
        FrameStatistics::measure(&self.simulation, report, &mut Vec::new())
    }

    /// Makes the events of the present frame, takes a step, and logs the frame if there is a log. If the step fails, the
    /// state is that of the present frame.
    pub fn step(&mut self) -> Result<FrameReport, SessionError> {
        self.advance(|simulation, _| simulation.step().map(|report| (report, Vec::new()))).map(|r| r.0)
    }

    /// The same, to the same bits, with the objective after each iteration; see [`Simulation::trace_step`].
    pub fn trace_step(&mut self) -> Result<(FrameReport, Vec<TracePoint>), SessionError> {
        self.advance(|simulation, clock| {
            let clock = clock.clone();
            simulation.trace_step(Box::new(move || clock.as_ref().map_or(0.0, |clock| clock())))
        })
    }

    fn advance(
        &mut self,
        step: impl FnOnce(
            &mut Simulation,
            &Option<SharedClock>,
        ) -> Result<(StepReport, Vec<TracePoint>), StepError>,
    ) -> Result<(FrameReport, Vec<TracePoint>), SessionError> {
        let edited = self.checkpoint_edits()?;
        self.simulation.make_scheduled(&self.events)?;
        self.posed = false;
        let (report, points) = step(&mut self.simulation, &self.clock)?;
        let now = |clock: &Option<SharedClock>| clock.as_ref().map_or(0.0, |clock| clock());
        let stepped = now(&self.clock);
        let frame = self.frame();
        self.watch.frame(frame, &report);
        self.couplings.frame(frame, &self.simulation);
        let changed = self.recorder.follow(&self.simulation, &self.built);
        if self.recording.is_some() {
            recording::fill(&mut self.frame, &self.simulation, &report);
        }
        if let Some(recording) = &mut self.recording {
            recording.append(&self.frame, changed.then_some(self.recorder.bodies()))?;
            recording.checkpoint_if_due(self.frame.index, edited && changed, &self.simulation)?;
        }
        if self.history.keeps_states() {
            let checkpoint = self.simulation.checkpoint();
            self.history.keep(frame, StoredState { checkpoint, recorder: self.recorder.clone() });
        }
        self.replay_edits(frame)?;
        let log_seconds = now(&self.clock) - stepped;
        Ok((FrameReport { frame, step: report, log_seconds }, points))
    }

    /// A run that is gone on with from its log knows of edits by the checkpoint after them; whether there was need for one.
    fn checkpoint_edits(&mut self) -> Result<bool, SessionError> {
        let Session { recording: Some(recording), simulation, .. } = self else { return Ok(false) };
        let frame = u32::try_from(simulation.state().step()).unwrap_or(u32::MAX);
        if recording.edited && recording.writer.last_frame() == Some(frame) {
            recording.checkpoint(frame, simulation)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The state as bytes: a session of the same scene goes on from it by [`Session::restore`].
    pub fn checkpoint(&self) -> Vec<u8> {
        self.simulation.checkpoint()
    }

    /// Goes on from a checkpoint of a session of the same scene. Edits before it cannot be undone any more. Refused while a
    /// log is written, whose frames would not be those that lead here. Tells which set of bits it was computed with.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<Bits, SessionError> {
        if self.recording.is_some() {
            return Err(SessionError::Refused(
                "a log is being written that this state is no part of; finish it first".into(),
            ));
        }
        let bits = self.simulation.restore(checkpoint)?;
        self.restart_history(Recorder::new(&self.simulation, &self.built));
        Ok(bits)
    }

    /// Goes on from a checkpoint that a log has for a frame, whose bodies it knows.
    pub(crate) fn resume_from(
        &mut self,
        frame: u32,
        checkpoint: &[u8],
        bodies: Vec<LogBody>,
    ) -> Result<Bits, StateError> {
        let bits = match self.simulation.restore_by(&self.events, frame.into(), checkpoint) {
            // The events alone do not lead there: it was edited by hand, which the checkpoint tells.
            Err(StateError::OtherModel) => self.simulation.restore(checkpoint)?,
            restored => restored?,
        };
        // What came by an edit is known from the log, as long as it is whole.
        for body in bodies.iter().filter(|b| b.version == 0) {
            self.built.entry(body.id).or_insert_with(|| shown_in_log(body));
        }
        self.restart_history(Recorder::resumed(bodies, &self.simulation, &self.built));
        Ok(bits)
    }

    /// From here on this is the first frame.
    fn restart_history(&mut self, recorder: Recorder) {
        self.recorder = recorder;
        self.posed = false;
        let start = StoredState { checkpoint: self.simulation.checkpoint(), recorder: self.recorder.clone() };
        self.history.begin_at(self.simulation.state().step(), start);
    }

    /// What a log has to know of the scene to be shown without it.
    pub fn log_header(&self) -> LogHeader {
        LogHeader {
            program: program(),
            bits: self.simulation.bits().name().into(),
            scene_text: self.settings.text.clone(),
            scene_hash: self.settings.hash,
            frames_per_second: self.settings.frames_per_second,
            bodies: self.recorder.bodies().to_vec(),
            planes: recording::shown_planes(&self.simulation),
            colliders: self.colliders.clone(),
            picture: self.settings.picture,
        }
    }
}

/// Program and version, as logs name their maker.
pub fn program() -> String {
    format!("pliant {}", env!("CARGO_PKG_VERSION"))
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("simulation", &self.simulation)
            .field("edits", &self.history.edits().len())
            .field("log", &self.recording.as_ref().map(|r| r.writer.path()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    /// Windows and scripts keep a session on a thread of its own.
    #[test]
    fn a_session_may_go_to_another_thread() {
        fn goes<T: Send>() {}
        goes::<super::Session>();
    }
}
