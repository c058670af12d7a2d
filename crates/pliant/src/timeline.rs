//! A simulation that can be asked for any frame in any order, as a deformer node of an animation package.
//!
//! Frame n is the state after n steps, with the edits of that frame made. Going forward runs on from the nearest
//! stored state, going back restores one; because a step is a pure function, a frame has the same bits however it
//! was reached. An edit at frame k acts from the step that leaves frame k on: frames up to k stay, frames after it
//! are forgotten.
//!
//! # Memory
//! Stored states are bounded by [`Timeline::set_memory`]. Half of the room goes to anchors in even steps over
//! the whole run, the rest to frames around the present one. With room for c states and n frames, anchors
//! are less than 4n/c frames apart: no jump computes more steps than that, and going back frame by frame
//! about one per frame as soon as what lies between two anchors fits the other half. What has no room can be
//! handed to a [`Store`] of the host's.

use crate::builder::{Assembler, BuildErrors};
use crate::checkpoint::{self, Checkpoint};
use crate::controls::{Control, ControlError, Controls, Value};
use crate::edits::{Edit, EditError, Editing, Effect};
use crate::model::Model;
use crate::simulation::{Simulation, StepError};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a frame cannot be had or an edit not be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TimelineError {
    /// The timeline begins later.
    TooEarly {
        /// The frame asked for.
        frame: u64,
        /// The first there is.
        first: u64,
    },
    /// A step failed; frames up to this one are there.
    Step {
        /// The frame that cannot be left.
        frame: u64,
        /// Why.
        reason: StepError,
    },
    /// A value was refused: of the edit itself, or of a later one that no longer fits.
    Control {
        /// The frame of the edit that is refused.
        frame: u64,
        /// Why.
        reason: ControlError,
    },
    /// Substeps, colliders, keyframes or a model were refused.
    World {
        /// The frame of the edit that is refused.
        frame: u64,
        /// Why.
        reason: BuildErrors,
    },
    /// The edit gives a model of other bodies than the timeline has in that frame.
    OtherBodies {
        /// The frame of the edit that is refused.
        frame: u64,
    },
    /// Something about a body was refused.
    Edit {
        /// The frame of the edit that is refused.
        frame: u64,
        /// Why.
        reason: EditError,
    },
}

impl fmt::Display for TimelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimelineError::TooEarly { frame, first } => {
                write!(f, "there is no frame {frame}: the timeline begins at frame {first}")
            }
            TimelineError::Step { frame, reason } => write!(f, "after frame {frame}: {reason}"),
            TimelineError::Control { frame, reason } => write!(f, "at frame {frame}: {reason}"),
            TimelineError::World { frame, reason } => write!(f, "at frame {frame}: {reason}"),
            TimelineError::Edit { frame, reason } => write!(f, "at frame {frame}: {reason}"),
            TimelineError::OtherBodies { frame } => write!(
                f,
                "at frame {frame}: the model has other particles, clusters, pins or bodies; \
                 begin a new timeline with it"
            ),
        }
    }
}

impl std::error::Error for TimelineError {}

/// A host's own place for states that have no room in memory, such as files.
pub trait Store: Send {
    /// Keeps the checkpoint of a frame in place of an earlier one; whether there was room.
    fn keep(&mut self, frame: u64, checkpoint: &[u8]) -> bool;
    /// Gives it back; nothing if it was lost, which costs only time.
    fn load(&mut self, frame: u64) -> Option<Vec<u8>>;
    /// Forgets a frame.
    fn forget(&mut self, frame: u64);
}

impl Store for BTreeMap<u64, Vec<u8>> {
    fn keep(&mut self, frame: u64, checkpoint: &[u8]) -> bool {
        self.insert(frame, checkpoint.to_vec());
        true
    }

    fn load(&mut self, frame: u64) -> Option<Vec<u8>> {
        self.get(&frame).cloned()
    }

    fn forget(&mut self, frame: u64) {
        self.remove(&frame);
    }
}

/// Model and controls in force from a frame on; keyframed values follow from the time. Edits also do something to the state
/// of the frame they are made at.
#[derive(Clone, Debug)]
struct Setup {
    model: Model,
    controls: Controls,
    effects: Vec<Effect>,
}

/// A simulation with all its frames.
pub struct Timeline {
    simulation: Simulation,
    /// Whether the simulation's state is a frame of this timeline; not after an edit before it.
    present: bool,
    first: u64,
    start: Setup,
    edits: BTreeMap<u64, Vec<Edit>>,
    /// What each frame with edits makes of the setup before it.
    setups: BTreeMap<u64, Setup>,
    /// States as they were when their frame was reached.
    states: BTreeMap<u64, State>,
    /// Frames that the host keeps.
    spilled: BTreeSet<u64>,
    store: Option<Box<dyn Store>>,
    /// Bytes of one state.
    size: usize,
    /// Bytes of all states in memory.
    memory: usize,
    /// Frames from one anchor to the next, a power of two.
    stride: u64,
    computed: u64,
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline")
            .field("simulation", &self.simulation)
            .field("edits", &self.edits.len())
            .field("stored", &self.states.len())
            .field("stride", &self.stride)
            .finish()
    }
}

/// Memory of a timeline that does not say: 256 MiB.
const MEMORY: usize = 1 << 28;

impl Timeline {
    /// The frames of a simulation, beginning with the one it is at.
    pub fn new(simulation: Simulation) -> Timeline {
        let state = simulation.state().clone();
        let first = state.step;
        // What is torn is told by the states.
        let (model, controls) = (simulation.model().whole(), simulation.controls().clone());
        let start = Setup { model, controls, effects: Vec::new() };
        Timeline {
            size: simulation.checkpoint().len(),
            simulation,
            present: true,
            first,
            start,
            edits: BTreeMap::new(),
            setups: BTreeMap::new(),
            states: BTreeMap::from([(first, state)]),
            spilled: BTreeSet::new(),
            store: None,
            memory: MEMORY,
            stride: 1,
            computed: 0,
        }
    }

    /// Hands states that have no room in memory to `store`.
    pub fn set_store(&mut self, store: Box<dyn Store>) {
        self.spilled.clear();
        self.store = Some(store);
    }

    /// Bounds the stored states, in bytes. The first frame's is always kept, since all others follow from it.
    pub fn set_memory(&mut self, bytes: usize) {
        self.memory = bytes;
        self.refine();
        self.thin(self.simulation.state().step);
    }

    /// Bytes of all stored states, without the simulation's own.
    pub fn stored_bytes(&self) -> usize {
        self.states.len() * self.size
    }

    /// Frames whose states are in memory, ascending.
    pub fn stored_frames(&self) -> impl Iterator<Item = u64> + '_ {
        self.states.keys().copied()
    }

    /// Steps computed so far, for whatever frame.
    pub fn steps_computed(&self) -> u64 {
        self.computed
    }

    /// The number of the first frame.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The simulation at the frame asked for last, with the edits of that frame made.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Takes the simulation out, as it is at the frame asked for last.
    pub fn into_simulation(self) -> Simulation {
        self.simulation
    }

    /// Every edit with its frame, in the order they act.
    pub fn edits(&self) -> impl Iterator<Item = (u64, &Edit)> {
        self.edits.iter().flat_map(|(frame, list)| list.iter().map(move |e| (*frame, e)))
    }

    /// The state at a frame, in any order. If a step on the way fails, the frames before it are there.
    pub fn frame(&mut self, frame: u64) -> Result<&State, TimelineError> {
        if frame < self.first {
            return Err(TimelineError::TooEarly { frame, first: self.first });
        }
        if frame > State::LAST_STEP {
            return Err(TimelineError::Step { frame: State::LAST_STEP, reason: StepError::TooManySteps });
        }
        let here = self.simulation.state().step;
        let stored = |t: &Timeline| {
            let nearest = [
                t.states.range(..=frame).next_back().map(|s| *s.0),
                t.spilled.range(..=frame).next_back().copied(),
            ];
            nearest.into_iter().flatten().max().unwrap_or(t.first)
        };
        if !self.present || here > frame || here < stored(self) {
            // A host may have lost what it kept; then the next earlier one serves.
            while !self.restore(stored(self)) {}
        }
        while self.simulation.state().step < frame {
            let from = self.simulation.state().step;
            self.simulation.step().map_err(|reason| TimelineError::Step { frame: from, reason })?;
            self.computed += 1;
            self.states.insert(from + 1, self.simulation.state().clone());
            // Bodies that tear have more particles.
            self.size = self.size.max(self.simulation.state().size());
            self.thin(from + 1);
            self.enforce(from + 1);
        }
        Ok(self.simulation.state())
    }

    /// Gives a control a value from the step that leaves `frame` on, until another edit of it.
    pub fn set(
        &mut self,
        frame: u64,
        control: Control,
        value: impl Into<Value>,
    ) -> Result<(), TimelineError> {
        self.edit(frame, Edit::Set(control, value.into()))
    }

    /// Removes what [`Timeline::set`] did at exactly this frame; whether there was such an edit.
    pub fn unset(&mut self, frame: u64, control: Control) -> Result<bool, TimelineError> {
        let list = self.edits.get(&frame);
        let at = list.and_then(|l| l.iter().position(|e| matches!(e, Edit::Set(c, _) if *c == control)));
        at.map_or(Ok(false), |index| self.remove(frame, index).map(|_| true))
    }

    /// Makes an edit at a frame, in place of one of the same thing there. Frames after it are forgotten, and
    /// nothing else. All later edits are checked with it; a refusal changes nothing.
    pub fn edit(&mut self, frame: u64, edit: Edit) -> Result<(), TimelineError> {
        let mut list = self.edits.get(&frame).cloned().unwrap_or_default();
        match list.iter().position(|e| edit.replaces(e)) {
            Some(k) if edit.same(&list[k]) => return Ok(()),
            Some(k) => list[k] = edit,
            None => list.push(edit),
        }
        self.change(frame, list)
    }

    /// Removes the edit of this index at a frame and gives it back; `None` if there is none.
    pub fn remove(&mut self, frame: u64, index: usize) -> Result<Option<Edit>, TimelineError> {
        let mut list = self.edits.get(&frame).cloned().unwrap_or_default();
        if index >= list.len() {
            return Ok(None);
        }
        let edit = list.remove(index);
        self.change(frame, list)?;
        Ok(Some(edit))
    }

    /// Forgets every frame after this one: whatever they depended on is no longer so.
    pub fn invalidate_after(&mut self, frame: u64) {
        self.states.retain(|f, _| *f <= frame.max(self.first));
        for gone in self.spilled.split_off(&frame.max(self.first).saturating_add(1)) {
            if let Some(store) = &mut self.store {
                store.forget(gone);
            }
        }
        self.present &= self.simulation.state().step <= frame;
        self.refine();
    }

    fn change(&mut self, frame: u64, list: Vec<Edit>) -> Result<(), TimelineError> {
        if frame < self.first {
            return Err(TimelineError::TooEarly { frame, first: self.first });
        }
        let later = self.edits.range(frame.saturating_add(1)..).map(|(f, l)| (*f, l.as_slice()));
        let mut setup = self.setup_before(frame).clone();
        let mut setups = BTreeMap::new();
        let mut assembler = std::mem::take(&mut self.simulation.assembler);
        let mut made = Ok(());
        for (at, edits) in [(frame, list.as_slice())].into_iter().chain(later) {
            setup.effects.clear();
            made = made.and_then(|()| edits.iter().try_for_each(|e| setup.make(at, e, &mut assembler)));
            if !edits.is_empty() {
                setups.insert(at, setup.clone());
            }
        }
        self.simulation.assembler = assembler;
        made?;
        self.setups.split_off(&frame);
        self.setups.append(&mut setups);
        match list.is_empty() {
            true => self.edits.remove(&frame),
            false => self.edits.insert(frame, list),
        };
        self.invalidate_after(frame);
        if self.present && self.simulation.state().step == frame {
            // The state as it was before the edits that were made there so far.
            self.present = self.states.contains_key(&frame) && self.restore(frame);
        }
        Ok(())
    }

    /// What is in force when a frame is reached.
    fn setup_before(&self, frame: u64) -> &Setup {
        self.setups.range(..frame).next_back().map_or(&self.start, |(_, setup)| setup)
    }

    /// Makes the edits of a frame the simulation has just reached.
    fn enforce(&mut self, frame: u64) {
        if let Some(Setup { model, controls, effects }) = self.setups.get(&frame) {
            let before = self.simulation.model.clone();
            self.simulation.take_up(model, controls, None);
            effects.iter().for_each(|effect| drop(effect.act(&mut self.simulation.state)));
            self.simulation.follow_model(Some(&before));
        }
    }

    /// Puts the simulation to a stored frame, with the edits of that frame made; `false` if the host has lost it.
    fn restore(&mut self, frame: u64) -> bool {
        let Setup { model, controls, .. } = self.setup_before(frame).clone();
        let bits = self.simulation.bits();
        match self.states.get(&frame) {
            Some(state) => self.simulation.take_up(&model, &controls, Some(state)),
            None => {
                let bytes = self.store.as_mut().and_then(|s| s.load(frame));
                // Controls follow from the edits, whatever they were when it was stored.
                let Some(Checkpoint { state, .. }) =
                    bytes.and_then(|b| Checkpoint::decode(&b, &model).ok()).filter(|c| c.bits == bits)
                else {
                    self.spilled.remove(&frame);
                    return false;
                };
                self.simulation.take_up(&model, &controls, Some(&state));
                self.states.insert(frame, state);
                self.thin(frame);
            }
        }
        self.simulation.follow_model(None);
        self.enforce(frame);
        self.present = true;
        true
    }

    /// Most states there is room for.
    fn capacity(&self) -> usize {
        (self.memory / self.size.max(1)).max(1)
    }

    fn is_anchor(&self, frame: u64) -> bool {
        (frame - self.first).is_multiple_of(self.stride)
    }

    /// Lets anchors stand as close as the frames there are allow.
    fn refine(&mut self) {
        let last = self.states.keys().next_back().map_or(0, |f| f - self.first);
        let most = (self.capacity() as u64 / 2).max(1);
        self.stride = 1;
        while last / self.stride + 1 > most && self.stride <= last {
            self.stride *= 2;
        }
    }

    /// Gives up states until there is room: anchors by doubling their distance, others by how far they are
    /// from the frame `around`.
    fn thin(&mut self, around: u64) {
        let capacity = self.capacity();
        while self.states.len() > capacity {
            let anchors = self.states.keys().filter(|f| self.is_anchor(**f)).count();
            let far = |f: &u64| (f.abs_diff(around), *f);
            let others = self.states.keys().copied().filter(|f| !self.is_anchor(*f));
            match others.max_by_key(far) {
                Some(frame) if anchors <= (capacity / 2).max(1) => self.spill(frame),
                _ => self.stride *= 2,
            }
        }
    }

    fn spill(&mut self, frame: u64) {
        let Some(state) = self.states.remove(&frame) else { return };
        if self.store.is_none() || self.spilled.contains(&frame) {
            return;
        }
        let Setup { model, mut controls, .. } = self.setup_before(frame).clone();
        model.params.keyframes.apply(frame as f64 * model.params.step, &mut controls);
        let bytes = checkpoint::encode(&model, &state, &controls, self.simulation.bits());
        if self.store.as_mut().is_some_and(|store| store.keep(frame, &bytes)) {
            self.spilled.insert(frame);
        }
    }
}

impl Setup {
    fn make(&mut self, frame: u64, edit: &Edit, assembler: &mut Assembler) -> Result<(), TimelineError> {
        let time = frame as f64 * self.model.params.step;
        let Setup { model, controls, effects } = self;
        let effect = Editing { model, controls, assembler, time }.make(edit).map_err(|e| match e {
            EditError::Control(reason) => TimelineError::Control { frame, reason },
            EditError::Build(reason) => TimelineError::World { frame, reason },
            EditError::OtherBodies => TimelineError::OtherBodies { frame },
            reason => TimelineError::Edit { frame, reason },
        })?;
        effects.push(effect);
        Ok(())
    }
}
