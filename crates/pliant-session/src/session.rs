//! The session itself: a simulation made from a scene, with its frames, edits, log and surfaces.

use crate::convergence::ConvergenceWatch;
use crate::error::SessionError;
use crate::history::{History, StoredState};
use crate::recorder::{BuiltBodies, Recorder};
use crate::recording::{self, Recording};
use crate::solids;
use crate::source::SceneSource;
use crate::statistics::FrameStatistics;
use crate::surface::{self, BodySurface};
use pliant::{
    Bits, BodyId, Control, Edit, Edited, Isa, Schedule, Simulation, StateError, StepError, StepReport,
    TracePoint, Value,
};
use pliant_cache::geometry::{Elements, Look, PictureSettings};
use pliant_cache::{LogBody, LogFrame, LogHeader, LogSolid};
use pliant_scene::{BuiltBody, BuiltScene, Diagnostic, Resolver, Scene};
use std::path::PathBuf;
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
    /// With so many threads.
    pub fn threads(self, threads: usize) -> SessionOptions {
        SessionOptions { threads, ..self }
    }

    /// With so many bytes for states to go back to.
    pub fn memory(self, memory: usize) -> SessionOptions {
        SessionOptions { memory, ..self }
    }

    /// With these instructions.
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
    solids: Vec<LogSolid>,
    settings: Settings,
    pub(crate) recorder: Recorder,
    history: History,
    pub(crate) recording: Option<Recording>,
    /// The last frame that was made for the log.
    pub(crate) frame: LogFrame,
    clock: Option<SharedClock>,
    watch: ConvergenceWatch,
    surfaces: Vec<BodySurface>,
    /// Whether the surfaces are those of the present state.
    posed: bool,
}

/// What the scene says beside the simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Frames the scene asks for after the first.
    pub frames: u32,
    /// Frames a second; one step is one frame.
    pub frames_per_second: f64,
    /// Frames between two checkpoints of a log.
    pub checkpoint_every: u32,
    /// Files the scene names to be made.
    pub outputs: Vec<PathBuf>,
    /// How pictures are taken.
    pub picture: PictureSettings,
    /// The scene text.
    pub text: String,
    /// Digest of the scene text and every file it refers to: a log of another scene is not gone on with.
    pub hash: u64,
    /// Files the scene is made of beside its text.
    pub inputs: Vec<PathBuf>,
    /// What is worth knowing and no error.
    pub notes: Vec<String>,
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
        let BuiltScene {
            mut simulation, events, bodies, frames, frames_per_second, checkpoint_every, ..
        } = scene;
        if let Some(isa) = options.isa {
            simulation.set_isa(isa);
        }
        let built: BuiltBodies = (0..).zip(bodies).collect();
        let recorder = Recorder::new(&simulation, &built);
        let start = StoredState { checkpoint: simulation.checkpoint(), recorder: recorder.clone() };
        Session {
            history: History::new(simulation.state().step(), start, options.memory),
            settings: Settings {
                frames,
                frames_per_second,
                checkpoint_every,
                outputs: scene.outputs,
                picture: scene.picture,
                text: scene.text,
                hash: scene.hash,
                inputs: scene.inputs,
                notes: scene.notes,
            },
            solids: solids::meshes(&scene.colliders),
            simulation,
            events,
            built,
            recorder,
            recording: None,
            frame: LogFrame::default(),
            clock: None,
            watch: ConvergenceWatch::default(),
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
    pub fn settings(&self) -> &Settings {
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

    /// Makes what was edited at a frame before, now that it is reached again.
    fn replay_edits(&mut self, frame: u64) -> Result<(), SessionError> {
        let edits: Vec<Edit> = self.history.at(frame).cloned().collect();
        for edit in edits {
            self.make(&edit).map_err(StepError::Edit)?;
        }
        Ok(())
    }

    fn make(&mut self, edit: &Edit) -> Result<Edited, pliant::EditError> {
        let edited = self.simulation.edit(edit)?;
        if let (Edit::Add(body), Edited::Body(id)) = (edit, &edited) {
            self.built.insert(id.number(), shown_of(body));
        }
        self.posed = false;
        if let Some(recording) = &mut self.recording {
            recording.edited = true;
        }
        Ok(edited)
    }

    /// Gives a control a value from now on; see [`Session::edit`]. Values of one control that are set one after the other at
    /// the same frame are one edit.
    pub fn set(&mut self, control: Control, value: impl Into<Value>) -> Result<(), SessionError> {
        self.edit(Edit::Set(control, value.into())).map(|_| ())
    }

    /// Changes the world at the present frame. The frame stays as it is, in the log too; frames after it are forgotten, and
    /// nothing else. Edits of later frames stay and are made again when these are reached. A refusal changes nothing.
    pub fn edit(&mut self, edit: Edit) -> Result<Edited, SessionError> {
        self.check_numbers(&edit)?;
        let frame = self.frame();
        self.check_cut(frame)?;
        let edited = self.make(&edit)?;
        // What only sets values takes nothing away that a later edit could need.
        let plain =
            matches!(edit, Edit::Set(..) | Edit::Pins(..) | Edit::Forces(..) | Edit::PlaceCollider(..));
        if !plain && let Err(refused) = self.later_edits(frame).check(&self.simulation) {
            self.return_to(frame)?;
            return Err(SessionError::Later(refused));
        }
        self.commit_edit(frame, edit)?;
        self.history.forget_undone();
        Ok(edited)
    }

    /// Forgets what comes after an edit that was made, and takes note of it; if the log cannot be cut, it is taken back.
    fn commit_edit(&mut self, frame: u64, edit: Edit) -> Result<(), SessionError> {
        if let Err(e) = self.forget_after(frame) {
            self.return_to(frame)?;
            return Err(e);
        }
        self.history.made(frame, edit);
        Ok(())
    }

    /// Takes the last edit back and returns to its frame, of which it tells the number; `None` if there is none. Frames after
    /// it are forgotten.
    pub fn undo(&mut self) -> Result<Option<u64>, SessionError> {
        let Some(&(frame, _)) = self.history.last() else { return Ok(None) };
        self.check_cut(frame)?;
        self.forget_after(frame)?;
        self.history.undo_last();
        if self.frame() >= frame {
            self.return_to(frame)?;
            if let Some(recording) = &mut self.recording {
                recording.edited = true;
            }
        }
        Ok(Some(frame))
    }

    /// Makes the edit again that was undone last, at its frame; `None` if there is none.
    pub fn redo(&mut self) -> Result<Option<u64>, SessionError> {
        let Some((frame, edit)) = self.history.last_undone().cloned() else { return Ok(None) };
        self.go_to(frame)?;
        self.check_cut(frame)?;
        self.make(&edit)?;
        self.commit_edit(frame, edit)?;
        self.history.redone();
        Ok(Some(frame))
    }

    /// Every edit with its frame, in the order they were made.
    pub fn edits(&self) -> &[(u64, Edit)] {
        self.history.edits()
    }

    /// Goes to any frame: back to one that was there, or on. Nothing is forgotten; what was computed has the same bits again.
    pub fn go_to(&mut self, frame: u64) -> Result<(), SessionError> {
        let first = self.history.first();
        if frame < first {
            return Err(SessionError::Refused(format!(
                "there is no frame {frame}: the session begins at frame {first}; go to a later one"
            )));
        }
        let near = self.history.nearest(frame).map_or(first, |(at, _)| at);
        if frame < self.frame() || near > self.frame() {
            self.return_to(near)?;
        }
        while self.frame() < frame {
            self.step()?;
        }
        Ok(())
    }

    /// Brings everything to a frame at or before the present one, with its edits made.
    fn return_to(&mut self, frame: u64) -> Result<(), SessionError> {
        let missing = || SessionError::Refused(format!("no state at or before frame {frame} is kept"));
        let (_, kept) = self.history.nearest(frame).ok_or_else(missing)?;
        let StoredState { checkpoint, recorder } = kept.clone();
        let at = self.history.nearest(frame).map_or(frame, |(at, _)| at);
        self.simulation.restore(&checkpoint)?;
        self.recorder = Recorder::resumed(recorder.bodies().to_vec(), &self.simulation, &self.built);
        self.posed = false;
        self.replay_edits(at)?;
        while self.frame() < frame {
            self.step()?;
        }
        Ok(())
    }

    /// Whether what comes after a frame can be forgotten.
    fn check_cut(&self, frame: u64) -> Result<(), SessionError> {
        let Some(recording) = &self.recording else { return Ok(()) };
        let last = recording.writer.last_frame().map_or(0, u64::from);
        if last > frame && !recording.writer.can_forget() {
            return Err(SessionError::Refused(format!(
                "frames up to {last} went to a log that cannot be cut back, so frame {frame} cannot be edited; \
                 record to a file or to memory, or edit at frame {last}"
            )));
        }
        Ok(())
    }

    fn forget_after(&mut self, frame: u64) -> Result<(), SessionError> {
        self.history.forget_after(frame);
        if let Some(recording) = &mut self.recording {
            let number = u32::try_from(frame).unwrap_or(u32::MAX);
            if recording.writer.last_frame().is_some_and(|last| last > number) {
                recording.writer.forget_after(number)?;
            }
        }
        Ok(())
    }

    /// What is yet to happen after a frame, by events and edits.
    fn later_edits(&self, frame: u64) -> Schedule {
        let events = self.events.edits().iter().filter(|(at, _)| *at >= frame);
        let edits = self.history.edits().iter().filter(|(at, _)| *at > frame);
        Schedule::new(events.chain(edits).cloned())
    }

    /// Numbers are given to bodies, colliders and couplings as they come: those of events are known from the start and must stay free.
    fn check_numbers(&self, edit: &Edit) -> Result<(), SessionError> {
        let alike = |other: &Edit| match edit {
            Edit::Add(_) => matches!(other, Edit::Add(_)),
            Edit::AddCollider(_) => matches!(other, Edit::AddCollider(_)),
            Edit::Couple(_) => matches!(other, Edit::Couple(_)),
            _ => false,
        };
        let frame = self.frame();
        let later = self.later_edits(frame);
        match later.edits().iter().rev().find(|(_, other)| alike(other)) {
            None => Ok(()),
            Some((at, _)) => Err(SessionError::Refused(format!(
                "at frame {frame} nothing can be added, because something else still comes at frame {at} by an event or an \
                 edit, whose number would be taken; add it after frame {at}"
            ))),
        }
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
            solids: self.solids.clone(),
            picture: self.settings.picture,
        }
    }
}

/// Program and version, as logs name their maker.
pub fn program() -> String {
    format!("pliant {}", env!("CARGO_PKG_VERSION"))
}

/// What is shown of a body that comes by an edit: the surface of its own shape.
fn shown_of(body: &pliant::Body) -> BuiltBody {
    let shape = &body.shape;
    let look =
        match (shape.surface.triangles.is_empty(), shape.tetrahedra.is_empty(), shape.triangles.is_empty()) {
            (true, ..) => Look::Matte,
            (_, true, false) => Look::Cloth,
            _ => Look::Jelly,
        };
    let elements = Elements {
        tetrahedra: shape.tetrahedra.clone(),
        triangles: shape.triangles.clone(),
        edges: shape.edges.clone(),
    };
    BuiltBody {
        name: body.name.clone(),
        color: body.color,
        surface: shape.surface.clone(),
        attributes: shape.attributes.clone(),
        skin: shape.skin.clone(),
        elements: elements.largest(),
        look,
    }
}

/// The same of one that a log knows.
fn shown_in_log(body: &LogBody) -> BuiltBody {
    BuiltBody {
        name: body.name.to_string(),
        color: body.color,
        surface: body.mesh.as_ref().clone(),
        attributes: body.attributes.as_ref().clone(),
        skin: body.skin.as_ref().clone(),
        elements: body.simulated.elements.clone(),
        look: body.look,
    }
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
