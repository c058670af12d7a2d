//! Edits with their undo and redo, and going to any frame.

use super::Session;
use super::shown::shown_of;
use crate::error::SessionError;
use crate::history::StoredState;
use crate::recorder::Recorder;
use pliant::{Control, Edit, Edited, Schedule, StepError, Value};

impl Session {
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

    /// Makes what was edited at a frame before, now that it is reached again.
    pub(super) fn replay_edits(&mut self, frame: u64) -> Result<(), SessionError> {
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
}
