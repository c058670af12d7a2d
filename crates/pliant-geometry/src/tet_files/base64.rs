//! Base64 in, a piece at a time.

/// Decodes groups of four characters each for itself, so that texts set one after the other, each with its own
/// padding, read as the bytes one after the other. VTK writes header and data that way.
pub(super) struct Base64<'a> {
    text: std::slice::Iter<'a, u8>,
    /// Bytes of the latest group not given out yet.
    kept: [u8; 3],
    begin: usize,
    end: usize,
}

impl<'a> Base64<'a> {
    pub fn new(text: &'a [u8]) -> Base64<'a> {
        Base64 { text: text.iter(), kept: [0; 3], begin: 0, end: 0 }
    }

    /// The next byte; `None` at the end or where the text is not base64.
    pub fn byte(&mut self) -> Option<u8> {
        while self.begin == self.end {
            self.group()?;
        }
        self.begin += 1;
        Some(self.kept[self.begin - 1])
    }

    fn group(&mut self) -> Option<()> {
        let mut bits = 0u32;
        let mut digits = 0;
        let mut padding = 0;
        while digits + padding < 4 {
            let digit = match *self.text.next()? {
                b @ b'A'..=b'Z' => b - b'A',
                b @ b'a'..=b'z' => b - b'a' + 26,
                b @ b'0'..=b'9' => b - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if digits >= 2 => {
                    padding += 1;
                    continue;
                }
                b if b.is_ascii_whitespace() => continue,
                _ => return None,
            };
            if padding > 0 {
                return None;
            }
            bits = bits << 6 | u32::from(digit);
            digits += 1;
        }
        let [_, bytes @ ..] = (bits << (6 * padding)).to_be_bytes();
        (self.kept, self.begin, self.end) = (bytes, 0, 3 - padding);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> Vec<u8> {
        let mut reader = Base64::new(text.as_bytes());
        std::iter::from_fn(|| reader.byte()).collect()
    }

    #[test]
    fn decodes_the_examples_of_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9v\n YmFy", "foobar"),
        ] {
            assert_eq!(decode(text), bytes.as_bytes());
        }
    }

    #[test]
    fn padded_texts_in_a_row_are_their_bytes_in_a_row() {
        assert_eq!(decode("Zg==Zm9vYg=="), b"ffoob");
        assert_eq!(decode("Zm9v*Zm9v"), b"foo");
    }
}
