//! Progress on a terminal; silence in a pipe.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error; hidden if that is no terminal, or if the user wants quiet.
pub fn bar(label: &str, length: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{prefix:>12} {bar:32} {pos}/{len}  {msg}{eta} left") {
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }
    bar.set_prefix(label.to_string());
    bar
}
