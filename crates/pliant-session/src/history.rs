//! Edits in the order they were made, and states to go back to.
//!
//! The ideas are those of [`pliant::Timeline`]: because a step is a pure function, a frame has the same bits however it
//! is reached, so any earlier state and the edits since are enough. States are checkpoints, made when a frame is reached
//! and before the edits of that frame. Half of the memory goes to anchors a power of two of frames apart, the rest to the
//! frames around the present one.

use crate::recorder::Recorder;
use pliant::Edit;
use std::collections::BTreeMap;

/// An edit and its frame: it acts in the step that leaves it.
pub(crate) type FrameEdit = (u64, Edit);

/// A state to go back to, and what was shown of its bodies.
#[derive(Clone)]
pub(crate) struct StoredState {
    pub checkpoint: Vec<u8>,
    pub recorder: Recorder,
}

pub(crate) struct History {
    edits: Vec<FrameEdit>,
    undone: Vec<FrameEdit>,
    /// Never empty: the first frame's is always kept, since all others follow from it.
    kept: BTreeMap<u64, StoredState>,
    first: u64,
    /// Bytes for states.
    memory: usize,
    /// Frames from one anchor to the next.
    stride: u64,
}

impl History {
    /// Begins at a frame.
    pub fn new(frame: u64, start: StoredState, memory: usize) -> History {
        let kept = BTreeMap::from([(frame, start)]);
        History { edits: Vec::new(), undone: Vec::new(), kept, first: frame, memory, stride: 1 }
    }

    /// Begins anew at a frame that nothing before leads to.
    pub fn begin_at(&mut self, frame: u64, start: StoredState) {
        *self = History::new(frame, start, self.memory);
    }

    /// The first frame there is.
    pub fn first(&self) -> u64 {
        self.first
    }

    pub fn set_memory(&mut self, bytes: usize, around: u64) {
        self.memory = bytes;
        self.thin(around);
    }

    /// Whether there is room for more than the first state.
    pub fn keeps_states(&self) -> bool {
        self.kept.values().next().is_some_and(|first| self.memory > first.checkpoint.len())
    }

    /// Keeps the state of a frame that was just reached.
    pub fn keep(&mut self, frame: u64, state: StoredState) {
        self.kept.insert(frame, state);
        self.thin(frame);
    }

    /// The nearest state at or before a frame.
    pub fn nearest(&self, frame: u64) -> Option<(u64, &StoredState)> {
        self.kept.range(..=frame).next_back().map(|(at, kept)| (*at, kept))
    }

    /// Forgets the states of all frames after this one.
    pub fn forget_after(&mut self, frame: u64) {
        self.kept.split_off(&frame.max(self.first).saturating_add(1));
        // Anchors may stand as close again as what is left allows.
        self.stride = 1;
    }

    /// The edits of a frame, in the order they were made.
    pub fn at(&self, frame: u64) -> impl Iterator<Item = &Edit> {
        self.edits.iter().filter(move |(at, _)| *at == frame).map(|(_, edit)| edit)
    }

    /// All edits in the order they were made.
    pub fn edits(&self) -> &[FrameEdit] {
        &self.edits
    }

    /// Takes up an edit that was made. One more value of the control that was set last, at the same frame, replaces it:
    /// dragging a slider is one edit.
    pub fn made(&mut self, frame: u64, edit: Edit) {
        if let (Some((at, Edit::Set(last, value))), Edit::Set(control, new)) = (self.edits.last_mut(), &edit)
            && (*at, &*last) == (frame, control)
        {
            *value = *new;
            return;
        }
        self.edits.push((frame, edit));
    }

    /// What was undone cannot be done again any more.
    pub fn forget_undone(&mut self) {
        self.undone.clear();
    }

    pub fn last(&self) -> Option<&FrameEdit> {
        self.edits.last()
    }

    pub fn last_undone(&self) -> Option<&FrameEdit> {
        self.undone.last()
    }

    pub fn undo_last(&mut self) {
        self.undone.extend(self.edits.pop());
    }

    pub fn redone(&mut self) {
        self.undone.pop();
    }

    fn is_anchor(&self, frame: u64) -> bool {
        (frame - self.first).is_multiple_of(self.stride)
    }

    /// Gives up states until there is room: anchors by doubling their distance, others by how far they are from `around`.
    fn thin(&mut self, around: u64) {
        let size =
            |kept: &BTreeMap<u64, StoredState>| kept.values().map(|k| k.checkpoint.len()).sum::<usize>();
        let mut bytes = size(&self.kept);
        while bytes > self.memory && self.kept.len() > 1 {
            let anchors: usize = self
                .kept
                .iter()
                .filter(|(f, _)| self.is_anchor(**f))
                .map(|(_, kept)| kept.checkpoint.len())
                .sum();
            let others = self.kept.keys().copied().filter(|f| !self.is_anchor(*f));
            match others.max_by_key(|f| (f.abs_diff(around), *f)) {
                Some(frame) if anchors <= self.memory / 2 => {
                    bytes -= self.kept.remove(&frame).map_or(0, |kept| kept.checkpoint.len());
                }
                _ if self.stride < 1 << 40 => self.stride *= 2,
                // Only the first is an anchor now, and it alone is more than half of the room.
                other => match other {
                    Some(frame) => bytes -= self.kept.remove(&frame).map_or(0, |kept| kept.checkpoint.len()),
                    None => return,
                },
            }
        }
    }
}
