//! Base64 (RFC 4648) in and out.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits that a character stands for.
fn digit(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Bytes as base64 (RFC 4648), padded: ASCII letters, four for three bytes.
pub fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(*group.get(i).unwrap_or(&0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= group.len() { letter } else { b'=' });
        }
    }
    text
}

/// Decodes one text; padding may be left out, white space is passed over. The message tells the byte that is wrong.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut digits, mut padding) = (0u32, 0, 0);
    for (at, byte) in text.bytes().enumerate() {
        let digit = match byte {
            b'=' => {
                padding += 1;
                continue;
            }
            _ if byte.is_ascii_whitespace() => continue,
            _ => digit(byte).ok_or_else(|| format!("byte {at} of the data is no base64"))?,
        };
        if padding > 0 {
            return Err(format!("byte {at} of the data comes after the padding"));
        }
        bits = bits << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, digits) = (0, 0);
        }
    }
    if digits == 1 || padding > 2 {
        return Err("the base64 data is cut off".into());
    }
    if digits > 1 {
        let rest = (bits << (6 * (4 - digits))).to_be_bytes();
        out.extend_from_slice(&rest[1..digits]);
    }
    Ok(out)
}

/// Decodes groups of four characters each for itself, so that texts set one after the other, each with its own
/// padding, read as the bytes one after the other. VTK writes header and data that way.
pub(crate) struct Base64Reader<'a> {
    text: std::slice::Iter<'a, u8>,
    /// Bytes of the latest group not given out yet.
    kept: [u8; 3],
    begin: usize,
    end: usize,
}

impl<'a> Base64Reader<'a> {
    pub fn new(text: &'a [u8]) -> Base64Reader<'a> {
        Base64Reader { text: text.iter(), kept: [0; 3], begin: 0, end: 0 }
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
                b'=' if digits >= 2 => {
                    padding += 1;
                    continue;
                }
                b if b.is_ascii_whitespace() => continue,
                b => digit(b)?,
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

    fn read(text: &str) -> Vec<u8> {
        let mut reader = Base64Reader::new(text.as_bytes());
        std::iter::from_fn(|| reader.byte()).collect()
    }

    #[test]
    fn reads_the_examples_of_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9v\n YmFy", "foobar"),
        ] {
            assert_eq!(read(text), bytes.as_bytes());
        }
    }

    #[test]
    fn padded_texts_in_a_row_are_their_bytes_in_a_row() {
        assert_eq!(read("Zg==Zm9vYg=="), b"ffoob");
        assert_eq!(read("Zm9v*Zm9v"), b"foo");
    }

    #[test]
    fn decodes_the_examples_of_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg", "foob"),
            ("Zm9v\nYmFy", "foobar"),
        ] {
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
            assert_eq!(
                decode(std::str::from_utf8(&encode(bytes.as_bytes())).unwrap()).unwrap(),
                bytes.as_bytes()
            );
        }
        for wrong in ["Z", "Zm9vY", "Zm9*", "Zg==Zg==", "Z===", "Zm9é"] {
            assert!(decode(wrong).is_err(), "{wrong}");
        }
    }
}
