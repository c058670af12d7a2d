//! The one way a command fails: messages for the user and an exit code for scripts.

use crate::terminal;
use pliant_cache::{CacheError, ErrorKind};
use pliant_scene::Diagnostic;
use pliant_session::SessionError;
use std::process::ExitCode;

/// Why the program ends without success.
#[derive(Debug)]
pub struct Failure {
    /// The program's exit code.
    pub code: u8,
    /// What went wrong, as it is printed, each with its place and remedy; all at once.
    pub messages: Vec<String>,
}

impl Failure {
    /// Bad usage or scene.
    pub const USAGE: u8 = 2;
    /// The simulation left the range of numbers.
    pub const NON_FINITE: u8 = 3;
    /// Files, disks, permissions.
    pub const IO: u8 = 4;
    /// Stopped by Ctrl-C, as shells report it.
    pub const INTERRUPTED: u8 = 130;

    /// A failure with one message.
    pub fn new(code: u8, message: impl Into<String>) -> Failure {
        Failure::all(code, vec![message.into()])
    }

    /// A failure with several.
    pub fn all(code: u8, messages: Vec<String>) -> Failure {
        // Being stopped is what the user asked for.
        let kind = if code == Failure::INTERRUPTED { "stopped" } else { "error" };
        let messages = messages.iter().map(|m| format!("{kind}: {m}")).collect();
        Failure { code, messages }
    }

    /// Bad usage.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Failure::USAGE, message)
    }

    /// Prints the messages and gives the exit code.
    pub fn report(&self) -> ExitCode {
        for message in &self.messages {
            terminal::problem(message);
        }
        ExitCode::from(self.code)
    }
}

impl From<CacheError> for Failure {
    fn from(e: CacheError) -> Self {
        let code = match e.kind() {
            ErrorKind::Io => Failure::IO,
            _ => Failure::USAGE,
        };
        Failure::new(code, e.to_string())
    }
}

impl From<SessionError> for Failure {
    fn from(e: SessionError) -> Self {
        match e {
            SessionError::Log(e) => e.into(),
            SessionError::Step(_) => Failure::new(Failure::NON_FINITE, e.to_string()),
            e => Failure::usage(e.to_string()),
        }
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(all: Vec<Diagnostic>) -> Self {
        // A scene that is wrong in itself stays wrong when the disk is fine again.
        let io = !all.is_empty() && all.iter().all(|d| d.is_io);
        if all.is_empty() {
            return Failure::usage("the scene cannot be built, and nothing says why; please report this");
        }
        Failure {
            code: if io { Failure::IO } else { Failure::USAGE },
            messages: all.iter().map(Diagnostic::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(is_io: bool, place: Option<(usize, usize)>) -> Diagnostic {
        Diagnostic {
            file: "a.toml".into(),
            place,
            message: "wrong".into(),
            help: "mend it".into(),
            is_io,
            ..Diagnostic::default()
        }
    }

    #[test]
    fn diagnostics_keep_their_place_and_decide_the_code() {
        let one = Failure::from(vec![diagnostic(true, None), diagnostic(false, Some((3, 7)))]);
        assert_eq!(one.code, Failure::USAGE);
        assert_eq!(one.messages[0], "a.toml: error: wrong\n  help: mend it");
        assert_eq!(one.messages[1], "a.toml:3:7: error: wrong\n  help: mend it");
        assert_eq!(Failure::from(vec![diagnostic(true, None)]).code, Failure::IO);
        assert_eq!(Failure::from(Vec::<Diagnostic>::new()).messages.len(), 1);
    }
}
