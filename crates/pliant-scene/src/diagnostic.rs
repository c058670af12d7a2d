//! One problem in a scene: where it is, what is wrong, what to do.

use std::fmt;
use std::path::PathBuf;

/// One problem in a scene, with its place and remedy.
///
/// Displayed as `file:line:column: error: message`, the line it is in with a mark under the place, and
/// the remedy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostic {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// Line and column, counted from 1; `None` if the whole file is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Whether it is about reading a file (exit code 4) rather than its content (exit code 2).
    pub is_io: bool,
    /// Text of the line at `place`; empty if there is none to show.
    pub line: String,
    /// Characters of `line` the problem covers, from the column on; at least 1 if there is a line.
    pub width: usize,
}

/// Longest line that is shown whole; of a longer one only the part around the place is.
const SHOWN: usize = 100;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some((line, column)) = self.place {
            // Files without columns (meshes) have column 0.
            match column {
                0 => write!(f, "{line}:")?,
                _ => write!(f, "{line}:{column}:")?,
            }
        }
        write!(f, " error: {}", self.message)?;
        if let (Some((line, column)), false) = (self.place, self.line.is_empty()) {
            let skip = if column + self.width > SHOWN { column.saturating_sub(SHOWN / 4) } else { 0 };
            let visible = |c: char| if c.is_control() { ' ' } else { c };
            let text: String = self.line.chars().skip(skip).take(SHOWN).map(visible).collect();
            let before = column.saturating_sub(1 + skip);
            let marks = self.width.clamp(1, SHOWN.saturating_sub(before).max(1));
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            write!(f, "\n  {number} | {}", text.trim_end())?;
            write!(f, "\n  {margin} | {}{}", " ".repeat(before), "^".repeat(marks))?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
