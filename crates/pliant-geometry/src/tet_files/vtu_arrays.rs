//! Data arrays of VTK's XML files: text, base64 or raw, inline or appended, plain or compressed.

use super::draft::FilePlace;
use super::scan::{CUT_OFF, not_a, parse};
use super::xml::Tag;
use crate::GeometryError;
use crate::base64::Base64Reader;
use crate::points::shorten;
use std::cell::Cell;

/// Memory that numbers may take whatever the size of the file, and how much more for each of its bytes: many arrays
/// may name the same bytes, and deflate makes a thousand of one, but no mesh of interest shrinks so much.
const FREE_BYTES: u64 = 64 << 20;
const BYTES_PER_BYTE: u64 = 64;

/// What the file as a whole says about its arrays.
pub(super) struct VtuEncoding<'a> {
    pub big_endian: bool,
    /// Bytes of the numbers that tell sizes: 4 or 8.
    pub size_width: usize,
    pub zlib: bool,
    /// The appended data after its `_`, and whether it is base64.
    pub appended: Option<(&'a [u8], bool)>,
    /// Memory that numbers may still take.
    left: Cell<u64>,
}

impl VtuEncoding<'_> {
    pub fn new(big_endian: bool, size_width: usize, zlib: bool) -> Self {
        VtuEncoding { big_endian, size_width, zlib, appended: None, left: Cell::new(0) }
    }

    /// Sets what a file of so many bytes may become.
    pub fn allow(&self, file: usize) {
        self.left.set(FREE_BYTES.saturating_add((file as u64).saturating_mul(BYTES_PER_BYTE)));
    }
}

/// One array, not read yet.
pub(super) struct VtuArray<'a> {
    pub name: String,
    number_type: String,
    source: ArraySource<'a>,
    pub line: usize,
}

enum ArraySource<'a> {
    Text(&'a [u8]),
    Base64(&'a [u8]),
    Appended(u64),
}

impl<'a> VtuArray<'a> {
    pub fn new(tag: &Tag, text: &'a [u8]) -> Result<VtuArray<'a>, GeometryError> {
        let source = match tag.attribute("format").unwrap_or("ascii") {
            "ascii" => ArraySource::Text(text),
            "binary" => ArraySource::Base64(text),
            "appended" => ArraySource::Appended(tag.count("offset")?),
            other => {
                let message = format!("an array of format `{}`", shorten(other));
                return Err(GeometryError::at_line(tag.line, message, "ascii, binary and appended are read"));
            }
        };
        let name = tag.attribute("Name").unwrap_or_default().to_string();
        let number_type = tag.attribute("type").unwrap_or_default().to_string();
        Ok(VtuArray { name, number_type, source, line: tag.line })
    }

    /// All values as real numbers.
    pub fn reals(&self, encoding: &VtuEncoding) -> Result<Vec<f64>, GeometryError> {
        self.values(encoding, |bytes, real, signed| match (real, bytes) {
            (true, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
            (true, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => whole(bytes, signed) as f64,
        })
    }

    /// All values as whole numbers.
    pub fn ints(&self, encoding: &VtuEncoding) -> Result<Vec<i64>, GeometryError> {
        if self.number_type.starts_with("Float") {
            let message =
                format!("the array {} is of type {}", shorten(&self.name), shorten(&self.number_type));
            return Err(GeometryError::at_line(self.line, message, "it must be of whole numbers"));
        }
        self.values(encoding, |bytes, _, signed| whole(bytes, signed))
    }

    fn values<T: std::str::FromStr>(
        &self,
        encoding: &VtuEncoding,
        number: impl Fn(&[u8], bool, bool) -> T,
    ) -> Result<Vec<T>, GeometryError> {
        let (width, real, signed) = match self.number_type.as_str() {
            "Float32" => (4, true, true),
            "Float64" => (8, true, true),
            "Int8" => (1, false, true),
            "UInt8" => (1, false, false),
            "Int16" => (2, false, true),
            "UInt16" => (2, false, false),
            "Int32" => (4, false, true),
            "UInt32" => (4, false, false),
            "Int64" => (8, false, true),
            "UInt64" => (8, false, false),
            other => {
                let message = format!("numbers of type `{}`", shorten(other));
                return Err(self.fault(message, "Float32/64 and (U)Int8 to (U)Int64 are read"));
            }
        };
        let mut stream = match self.source {
            ArraySource::Text(text) => {
                let words = text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
                let place = FilePlace::Line(self.line);
                let parsed = words.map(|w| parse(w).ok_or_else(|| not_a(w, "a number of this array", place)));
                return parsed.collect();
            }
            ArraySource::Base64(text) => ByteStream::Base64(Base64Reader::new(text), text.len()),
            ArraySource::Appended(offset) => {
                let start = usize::try_from(offset).ok();
                let data = encoding.appended.and_then(|(data, base64)| Some((data.get(start?..)?, base64)));
                match data {
                    Some((data, true)) => ByteStream::Base64(Base64Reader::new(data), data.len()),
                    Some((data, false)) => ByteStream::Raw(data),
                    None => {
                        let message = format!(
                            "its data is said to be at {offset} of the appended data, which ends before"
                        );
                        return Err(self.fault(message, CUT_OFF));
                    }
                }
            }
        };
        let mut bytes = self.bytes(encoding, &mut stream, width)?;
        if encoding.big_endian {
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        Ok(bytes.chunks_exact(width).map(|b| number(b, real, signed)).collect())
    }

    /// The bytes of the array. In the file they come after their size, or after the sizes of compressed blocks.
    fn bytes(
        &self,
        encoding: &VtuEncoding,
        stream: &mut ByteStream,
        width: usize,
    ) -> Result<Vec<u8>, GeometryError> {
        let cut_off = || self.fault("its data breaks off, or its size is wrong".into(), CUT_OFF);
        let size = |stream: &mut ByteStream| {
            let mut bytes = stream.read(encoding.size_width as u64).ok_or_else(cut_off)?;
            if encoding.big_endian {
                bytes.reverse();
            }
            Ok(whole(&bytes, false) as u64)
        };
        let first = size(stream)?;
        if !encoding.zlib {
            let bytes = stream.read(first).ok_or_else(cut_off)?;
            self.take(encoding, bytes.len(), width)?;
            return Ok(bytes);
        }
        let (full, last) = (size(stream)?, size(stream)?);
        let mut blocks = Vec::new();
        for _ in 0..first {
            blocks.push(size(stream)?);
        }
        let mut bytes = Vec::new();
        for (i, &compressed) in blocks.iter().enumerate() {
            let block = stream.read(compressed).ok_or_else(cut_off)?;
            let wanted = if i + 1 == blocks.len() && last > 0 { last } else { full };
            // Deflate makes at most 1032 bytes of one, so a block cannot claim more memory than the file warrants.
            let limit = usize::try_from(wanted).unwrap_or(usize::MAX).min(block.len().saturating_mul(1032));
            self.take(encoding, limit, width)?;
            let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&block, limit);
            let Some(plain) = plain.ok().filter(|plain| plain.len() as u64 == wanted) else {
                let message = format!("block {i} of its compressed data is damaged");
                return Err(self.fault(message, CUT_OFF));
            };
            bytes.extend(plain);
        }
        Ok(bytes)
    }

    /// Takes memory for the numbers of so many bytes.
    fn take(&self, encoding: &VtuEncoding, bytes: usize, width: usize) -> Result<(), GeometryError> {
        // Numbers are eight bytes each once they are read.
        let size = (bytes / width) as u64 * 8;
        let left = encoding.left.get().checked_sub(size).ok_or_else(|| {
            let message = "with it the file becomes far larger than its size warrants".into();
            self.fault(message, "export it again, without compression and with each array once")
        })?;
        encoding.left.set(left);
        Ok(())
    }

    fn fault(&self, message: String, help: &str) -> GeometryError {
        GeometryError::at_line(self.line, format!("array `{}`: {message}", shorten(&self.name)), help)
    }
}

enum ByteStream<'a> {
    Raw(&'a [u8]),
    /// The reader, and characters that there are at most.
    Base64(Base64Reader<'a>, usize),
}

impl ByteStream<'_> {
    /// So many bytes, or `None` if there are not.
    fn read(&mut self, count: u64) -> Option<Vec<u8>> {
        let count = usize::try_from(count).ok()?;
        match self {
            ByteStream::Raw(data) => {
                let (now, later) = data.split_at_checked(count)?;
                *data = later;
                Some(now.to_vec())
            }
            ByteStream::Base64(_, characters) if count > *characters => None,
            ByteStream::Base64(reader, _) => (0..count).map(|_| reader.byte()).collect(),
        }
    }
}

/// A little-endian whole number of any width.
fn whole(bytes: &[u8], signed: bool) -> i64 {
    let negative = signed && bytes.last().is_some_and(|&b| b >= 0x80);
    bytes.iter().rev().fold(if negative { -1 } else { 0 }, |sum, &b| sum << 8 | i64::from(b))
}
