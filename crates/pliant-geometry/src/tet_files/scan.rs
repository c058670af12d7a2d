//! Walking through the words and numbers of a file, in text or binary, knowing where one is.

use super::draft::FilePlace;
use crate::GeometryError;
use crate::points::shorten;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Text,
    LittleEndian,
    BigEndian,
}

pub(super) const CUT_OFF: &str =
    "export it again: it was cut off, or is being written, or its header is wrong";

pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    pub numbers: Numbers,
    /// `#` begins a comment.
    pub comments: bool,
    /// What is being read: its name, which one, of how many.
    progress: (&'static str, u64, u64),
}

impl<'a> Scan<'a> {
    pub fn new(bytes: &'a [u8]) -> Scan<'a> {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scan { bytes, at, line: 1, numbers: Numbers::Text, comments: false, progress: ("", 0, 0) }
    }

    /// Says what is being read, for the error if the file ends there.
    pub fn reading(&mut self, what: &'static str, index: u64, of: u64) {
        self.progress = (what, index, of);
    }

    /// Line of the latest word, or the byte where reading goes on.
    pub fn place(&self) -> FilePlace {
        if self.numbers == Numbers::Text { FilePlace::Line(self.line) } else { FilePlace::Byte(self.at) }
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Whether the last character read was the last of the file and no line end followed.
    pub fn touches_end(&self) -> bool {
        self.at == self.bytes.len() && self.bytes.last().is_some_and(|b| !b.is_ascii_whitespace())
    }

    pub fn fault(&self, message: impl Into<String>, help: impl Into<String>) -> GeometryError {
        self.place().error(message.into(), help)
    }

    fn ends(&self) -> GeometryError {
        let (what, index, of) = self.progress;
        let message = match what {
            "" => "the file ends in the middle".to_string(),
            _ => format!("the file ends within {what} {} of {of}", index + 1),
        };
        self.fault(message, CUT_OFF)
    }

    /// The next word, if there is one.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            match *self.bytes.get(self.at)? {
                b'\n' => self.line += 1,
                b'#' if self.comments => {
                    let end = self.bytes[self.at..].iter().position(|&b| b == b'\n');
                    self.at = end.map_or(self.bytes.len(), |n| self.at + n);
                    continue;
                }
                b if b.is_ascii_whitespace() => {}
                _ => break,
            }
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| b.is_ascii_whitespace() || self.comments && *b == b'#');
        let word = &rest[..length.unwrap_or(rest.len())];
        self.at += word.len();
        Some(word)
    }

    /// The next word, left where it is.
    pub fn peek(&mut self) -> Option<&'a [u8]> {
        let before = (self.at, self.line);
        let word = self.word();
        (self.at, self.line) = before;
        word
    }

    /// What is left of the line, without its end.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at = (self.at + length + 1).min(self.bytes.len());
        self.line += usize::from(length < rest.len());
        rest[..length].trim_ascii()
    }

    /// The words of the next line that has any, comments left out, and its number.
    pub fn line_of_words(&mut self) -> Option<(usize, Vec<&'a [u8]>)> {
        loop {
            if self.left() == 0 {
                return None;
            }
            let line = self.line;
            let text = self.rest_of_line().split(|&b| b == b'#').next().unwrap_or_default();
            let words: Vec<&[u8]> =
                text.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|w| !w.is_empty()).collect();
            if !words.is_empty() {
                return Some((line, words));
            }
        }
    }

    /// Goes on after the first `mark` from here; false, and nothing moves, if there is none.
    pub fn skip_past(&mut self, mark: &[u8]) -> bool {
        let Some(found) = self.bytes[self.at..].windows(mark.len()).position(|w| w == mark) else {
            return false;
        };
        let passed = &self.bytes[self.at..self.at + found + mark.len()];
        self.line += passed.iter().filter(|&&b| b == b'\n').count();
        self.at += passed.len();
        true
    }

    /// So many bytes as they are.
    pub fn take(&mut self, count: u64) -> Result<&'a [u8], GeometryError> {
        match usize::try_from(count).ok().filter(|&n| n <= self.left()) {
            Some(n) => {
                self.at += n;
                Ok(&self.bytes[self.at - n..self.at])
            }
            None => Err(self.ends()),
        }
    }

    /// Passes over `count` numbers of `width` bytes each.
    pub fn skip(&mut self, count: u64, width: u64) -> Result<(), GeometryError> {
        if self.numbers != Numbers::Text {
            return self.take(count.saturating_mul(width)).map(|_| ());
        }
        for _ in 0..count {
            self.word().ok_or_else(|| self.ends())?;
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], GeometryError> {
        let bytes = self.take(N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        if self.numbers == Numbers::BigEndian {
            array.reverse();
        }
        Ok(array)
    }

    fn parse<T: std::str::FromStr>(&mut self, kind: &str) -> Result<T, GeometryError> {
        let word = self.word().ok_or_else(|| self.ends())?;
        parse(word).ok_or_else(|| not_a(word, kind, self.place()))
    }

    /// A whole number; 4 bytes in binary.
    pub fn int(&mut self) -> Result<i64, GeometryError> {
        match self.numbers {
            Numbers::Text => self.parse("a whole number"),
            _ => Ok(i32::from_le_bytes(self.array()?).into()),
        }
    }

    /// A count or index; 8 bytes in binary.
    pub fn size(&mut self) -> Result<u64, GeometryError> {
        match self.numbers {
            Numbers::Text => self.parse("a whole number that is not negative"),
            _ => Ok(u64::from_le_bytes(self.array()?)),
        }
    }

    /// A real number; 8 bytes in binary.
    pub fn real(&mut self) -> Result<f64, GeometryError> {
        match self.numbers {
            Numbers::Text => self.parse("a number"),
            _ => Ok(f64::from_le_bytes(self.array()?)),
        }
    }

    /// Requires the next word to be `wanted`.
    pub fn expect(&mut self, wanted: &str) -> Result<(), GeometryError> {
        match self.word() {
            Some(word) if word == wanted.as_bytes() => Ok(()),
            Some(word) => {
                let found = shorten(&String::from_utf8_lossy(word));
                Err(self.fault(format!("`{found}` where {wanted} should be"), CUT_OFF))
            }
            None => Err(self.fault(format!("the file ends without {wanted}"), CUT_OFF)),
        }
    }
}

pub(super) fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

pub(super) fn not_a(word: &[u8], kind: &str, place: FilePlace) -> GeometryError {
    place.error(
        format!("`{}` is not {kind}", shorten(&String::from_utf8_lossy(word))),
        "check that the counts above it are right and that the file was not edited by hand",
    )
}
