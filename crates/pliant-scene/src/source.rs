//! The text of a scene with its name, and the problems found in it so far.

use crate::diagnostic::Diagnostic;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A part of the text, in bytes.
pub(crate) type Span = Range<usize>;

/// Something read from the text, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Located<T> {
    pub at: Span,
    pub it: T,
}

/// The text of a scene and the file it is from.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub file: PathBuf,
    pub text: String,
    /// The mesh around which the text was made, if nobody wrote it: then it has no lines that anyone could look at.
    pub around: Option<PathBuf>,
}

/// Where to go on from, if the options of the command line do not do.
const SAVE: &str = "`--particles`, `--material` and `--fit` set other values, `--save-scene FILE.toml` writes the scene this \
                    amounts to, in which all can be changed";

impl SourceText {
    /// Line and column of a byte, counted from 1; columns count characters.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..self.floor(at)];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before[start..].trim_start_matches('\u{feff}').chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    }

    /// What the text says there, shortened to one short line.
    pub fn quote(&self, at: &Span) -> String {
        let text = &self.text[self.floor(at.start)..self.floor(at.end.max(at.start))];
        let line = text.lines().next().unwrap_or_default();
        let mut short: String = line.chars().take(40).filter(|c| !c.is_control()).collect();
        if short.len() < text.trim_end().len() {
            short.push('…');
        }
        short
    }

    /// A problem with that part of the text.
    pub fn problem(&self, at: &Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        if self.around.is_some() {
            return self.problem_overall(message, help);
        }
        let (line, column) = self.place(at.start);
        let text = self.text.lines().nth(line - 1).unwrap_or_default();
        let text = text.trim_start_matches('\u{feff}');
        let covered = &self.text[self.floor(at.start)..self.floor(at.end.max(at.start))];
        let width = covered.lines().next().unwrap_or_default().chars().count();
        Diagnostic {
            file: self.file.clone(),
            place: Some((line, column)),
            message: message.into(),
            help: help.into(),
            is_io: false,
            line: text.to_string(),
            width: width.max(1),
        }
    }

    /// A problem with the scene as a whole.
    pub fn problem_overall(&self, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let help = help.into();
        let (file, help) = match &self.around {
            Some(mesh) => {
                (mesh.clone(), if help.is_empty() { SAVE.into() } else { format!("{help}; {SAVE}") })
            }
            None => (self.file.clone(), help),
        };
        Diagnostic { file, message: message.into(), help, ..Diagnostic::default() }
    }

    /// A path in the scene, relative to the scene's folder.
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// The nearest place at or before a byte where a character begins.
    fn floor(&self, at: usize) -> usize {
        self.text.floor_char_boundary(at.min(self.text.len()))
    }
}

/// A source with the problems found in it so far.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    pub source: &'a SourceText,
    pub problems: Vec<Diagnostic>,
}

impl<'a> Check<'a> {
    pub fn new(source: &'a SourceText) -> Check<'a> {
        Check { source, problems: Vec::new() }
    }

    pub fn add(&mut self, at: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.source.problem(at, message, help));
    }

    /// What was made, or `None` and its problems are taken up.
    pub fn take<T>(&mut self, made: Result<T, Vec<Diagnostic>>) -> Option<T> {
        made.map_err(|mut problems| self.problems.append(&mut problems)).ok()
    }

    /// The problems in the order of the text, or `value` if there are none.
    pub fn finish<T>(mut self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        // What is about a file as a whole comes after its lines: "more errors are not shown" speaks of those above.
        self.problems.sort_by(|a, b| {
            (&a.file, a.place.is_none(), a.place).cmp(&(&b.file, b.place.is_none(), b.place))
        });
        self.problems.dedup();
        Err(self.problems)
    }
}
