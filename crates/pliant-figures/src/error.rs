//! What can go wrong with figures, told so that a user knows what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why figures could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum FigureError {
    /// There is no figure of this name.
    UnknownName(String),
    /// The operating system refused something.
    Io {
        /// File or directory concerned.
        path: PathBuf,
        /// What was being done, as in "cannot {action}".
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A run failed; this is a fault of the engine or of the figure, not of the user.
    Simulation {
        /// The figure.
        figure: &'static str,
        /// What happened.
        message: String,
    },
    /// A plot could not be drawn; a fault of the program.
    Drawing(String),
    /// The embedded list of claims is at fault.
    Claims(String),
}

impl FigureError {
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> FigureError {
        FigureError::Io { path: path.to_path_buf(), action, source }
    }
}

impl fmt::Display for FigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FigureError::UnknownName(name) => {
                let known: Vec<&str> = crate::figures().iter().map(|f| f.name).collect();
                write!(f, "there is no figure \"{name}\"; known are {}", known.join(", "))
            }
            FigureError::Io { path, action, source } => {
                write!(
                    f,
                    "{}: cannot {action}: {source}; choose a directory you may write to",
                    path.display()
                )
            }
            FigureError::Simulation { figure, message } => {
                write!(f, "figure \"{figure}\" could not be made: {message}; please report this")
            }
            FigureError::Drawing(message) => write!(f, "{message}; please report this"),
            FigureError::Claims(message) => write!(f, "claims.toml: {message}; please report this"),
        }
    }
}

impl std::error::Error for FigureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FigureError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
