//! Everything the program prints. The print macros panic when nobody listens any more (`pliant demos | head -1`);
//! these do not.

use crate::failure::Failure;
use std::io::{ErrorKind, Write};

/// Prints what was asked for to standard output. A reader that has seen enough is no error.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::new(
            Failure::IO,
            format!("cannot write to standard output: {e}; free space, or send it elsewhere"),
        )),
        _ => Ok(()),
    }
}

/// Tells the user something beside the result, on standard error. If even that is closed there is
/// nobody left to tell.
pub fn problem(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// How the user called this program, so that commands we suggest can be pasted: after
/// `cargo run --release` that is `target/release/pliant`.
pub fn program() -> String {
    let called = std::env::args_os().next().map(|a| a.to_string_lossy().into_owned());
    called.filter(|name| !name.is_empty()).unwrap_or_else(|| "pliant".into())
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("out/a.gif"), "out/a.gif");
        assert_eq!(quoted("my run.toml"), "'my run.toml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
