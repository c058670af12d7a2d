//! Writing USD text fast: numbers in the fewest digits that give the same f32 back, handed on in pieces.

use crate::CacheError;
use crate::atomic::AtomicFile;
use std::fmt;

/// Text is handed to the file in pieces of about this size.
const PIECE: usize = 1 << 18;

/// A file of text that counts and sums up what goes into it.
pub(super) struct Text {
    pub file: AtomicFile,
    buffer: String,
    number: zmij::Buffer,
    crc: crc32fast::Hasher,
    bytes: u64,
}

impl Text {
    /// Continues a file.
    pub fn new(file: AtomicFile) -> Text {
        let crc = crc32fast::Hasher::new();
        Text { file, buffer: String::with_capacity(PIECE + 4096), number: zmij::Buffer::new(), crc, bytes: 0 }
    }

    /// Appends words; see also [`write!`].
    pub fn put(&mut self, text: &str) {
        self.buffer.push_str(text);
    }

    /// What makes [`write!`] work. Errors come with the next piece.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) {
        // A String takes all.
        let _ = fmt::Write::write_fmt(&mut self.buffer, arguments);
    }

    /// Appends a finite number.
    #[inline]
    pub fn float(&mut self, value: f32) {
        let digits = self.number.format_finite(value);
        self.buffer.push_str(digits.strip_suffix(".0").unwrap_or(digits));
    }

    /// Appends `(a, b, …)`.
    #[inline]
    pub fn tuple(&mut self, values: &[f32]) {
        let mut between = "(";
        for &value in values {
            self.buffer.push_str(between);
            self.float(value);
            between = ", ";
        }
        self.buffer.push(')');
    }

    /// Appends `[a, b, …]`, each item as `put` does it.
    pub fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        put: impl Fn(&mut Text, T),
    ) -> Result<(), CacheError> {
        self.buffer.push('[');
        for (k, item) in items.into_iter().enumerate() {
            if k > 0 {
                self.buffer.push_str(", ");
            }
            put(self, item);
            self.piece()?;
        }
        self.buffer.push(']');
        Ok(())
    }

    /// Appends a list of whole numbers.
    pub fn indices(&mut self, items: impl IntoIterator<Item = u32>) -> Result<(), CacheError> {
        self.list(items, |text, i| write!(text, "{i}"))
    }

    /// Appends a list of tuples.
    pub fn tuples<const N: usize>(
        &mut self,
        items: impl IntoIterator<Item = [f32; N]>,
    ) -> Result<(), CacheError> {
        self.list(items, |text, t| text.tuple(&t))
    }

    /// Hands text on once there is enough of it.
    #[inline]
    pub fn piece(&mut self) -> Result<(), CacheError> {
        if self.buffer.len() < PIECE {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), CacheError> {
        self.crc.update(self.buffer.as_bytes());
        self.bytes += self.buffer.len() as u64;
        self.file.put(self.buffer.as_bytes())?;
        self.buffer.clear();
        Ok(())
    }

    /// Hands the rest on; the file, how many bytes of text there were, and their CRC-32.
    pub fn finish(mut self) -> Result<(AtomicFile, u64, u32), CacheError> {
        self.flush()?;
        Ok((self.file, self.bytes, self.crc.finalize()))
    }
}

/// A USD string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A USD asset path literal; one relative to the file begins with a dot, or USD would look elsewhere for it.
pub(super) fn asset(path: &str) -> String {
    let plain: String =
        path.chars().map(|c| if c == '\\' { '/' } else { c }).filter(|c| !c.is_control()).collect();
    let anchored = plain.starts_with(['/', '.']) || plain.contains(':');
    let dot = if anchored { "" } else { "./" };
    if plain.contains('@') {
        format!("@@@{dot}{}@@@", plain.replace("@@@", "\\@@@"))
    } else {
        format!("@{dot}{plain}@")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_paths_are_written_as_usd_reads_them() {
        assert_eq!(quoted("a \"b\"\\\n\u{1}"), "\"a \\\"b\\\"\\\\\\n \"");
        assert_eq!(asset("maps\\skin.png"), "@./maps/skin.png@");
        assert_eq!(asset("/a/b.png"), "@/a/b.png@");
        assert_eq!(asset("../b.png"), "@../b.png@");
        assert_eq!(asset("C:\\b.png"), "@C:/b.png@");
        assert_eq!(asset("a@b.png"), "@@@./a@b.png@@@");
    }

    #[test]
    fn numbers_are_short_and_come_back() {
        let folder = pliant_testing::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut text = Text::new(AtomicFile::create(&crate::DiskOutput, &path).unwrap());
        let values = [0.0, 1.0, -0.5, 1e-7, 3.4e38, f32::MIN_POSITIVE, 0.1, 16777216.0];
        text.tuple(&values);
        let (file, bytes, crc) = text.finish().unwrap();
        file.commit().unwrap();
        let read = std::fs::read_to_string(&path).unwrap();
        assert_eq!((bytes, crc), (read.len() as u64, crc32fast::hash(read.as_bytes())));
        assert!(read.starts_with("(0, 1, -0.5, 1e-7, "), "{read}");
        let back = read.trim_matches(['(', ')']).split(", ").map(|n| n.parse::<f32>().unwrap());
        assert!(back.eq(values));
    }
}
