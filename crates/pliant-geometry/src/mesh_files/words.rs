//! Words and numbers of text files, straight from their bytes.

/// The words of a line: what is between spaces and tabs.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}

/// A number; `None` if the word is none. "nan" and "inf" are numbers here.
pub(super) fn real(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A whole number; `None` if the word is none or beyond 64 bits.
pub(super) fn whole(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &d in digits {
        if !d.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(d - b'0'))?;
    }
    Some(if negative { -value } else { value })
}

/// A word for a message: the first characters, nothing that upsets a terminal.
pub(super) fn shown(word: &[u8]) -> String {
    crate::points::shorten(&String::from_utf8_lossy(&word[..word.len().min(128)]))
}

/// A name as a file has it, in any encoding.
pub(super) fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii()).into_owned()
}

/// The lines of a text with their numbers from 1; no byte order mark, no line ends of any system.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|&b| b == b'\n').enumerate().map(|(i, line)| (i + 1, line.trim_ascii()))
}
