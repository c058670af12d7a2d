//! What can go wrong with a session.

use pliant::{EditError, ScheduleError, StateError, StepError};
use pliant_cache::CacheError;
use std::fmt;

/// Why a session cannot do something.
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionError {
    /// A step failed; the frames before it are there, and the state is the last good one.
    Step(StepError),
    /// The frame log could not be read or written, or an export of it could not be made.
    Log(CacheError),
    /// An edit was refused; nothing has changed.
    Edit(EditError),
    /// An edit would leave a later edit, or an event of the scene, without what it acts on; nothing has changed.
    Later(ScheduleError),
    /// A checkpoint was refused; nothing has changed.
    State(StateError),
    /// Something that cannot be done now, why, and what to do.
    Refused(String),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::Step(e) => e.fmt(f),
            SessionError::Log(e) => e.fmt(f),
            SessionError::Edit(e) => e.fmt(f),
            SessionError::Later(e) => {
                write!(
                    f,
                    "what is to happen later would no longer be possible: {e}; undo or change that first"
                )
            }
            SessionError::State(e) => e.fmt(f),
            SessionError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SessionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SessionError::Step(e) => Some(e),
            SessionError::Log(e) => Some(e),
            SessionError::Edit(e) => Some(e),
            SessionError::Later(e) => Some(e),
            SessionError::State(e) => Some(e),
            SessionError::Refused(_) => None,
        }
    }
}

impl From<StepError> for SessionError {
    fn from(e: StepError) -> Self {
        SessionError::Step(e)
    }
}

impl From<CacheError> for SessionError {
    fn from(e: CacheError) -> Self {
        SessionError::Log(e)
    }
}

impl From<EditError> for SessionError {
    fn from(e: EditError) -> Self {
        SessionError::Edit(e)
    }
}

impl From<StateError> for SessionError {
    fn from(e: StateError) -> Self {
        SessionError::State(e)
    }
}
