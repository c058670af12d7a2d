//! The numbers of a PLY file one after the other, in text or binary.

use super::ply_header::{PlyElement, PlyEncoding, PlyType};
use super::words::{real, shown};
use crate::GeometryError;

const CUT_OFF: &str = "export it again: it was cut off, or is being written, or its header is wrong";

pub(super) struct PlyBody<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    encoding: PlyEncoding,
    /// Rows of text that had more numbers than the header says, and the line of the first.
    pub longer: (usize, usize),
}

impl<'a> PlyBody<'a> {
    pub fn new(bytes: &'a [u8], at: usize, lines: usize, encoding: PlyEncoding) -> PlyBody<'a> {
        PlyBody { bytes, at, line: lines + 1, encoding, longer: (0, 0) }
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at the line or byte where reading is.
    pub fn fault(&self, message: String, help: &str) -> GeometryError {
        match self.encoding {
            PlyEncoding::Ascii => GeometryError::at_line(self.line, message, help),
            _ => GeometryError::new(format!("{message} (byte {})", self.at), help),
        }
    }

    /// Refuses an element with more of them than the bytes that are left can hold.
    pub fn holds(&self, element: &PlyElement) -> Result<(), GeometryError> {
        let least = u128::from(element.least_bytes(self.encoding)) * u128::from(element.count);
        // The last number of a text needs no line end.
        if least <= self.left() as u128 + 1 {
            return Ok(());
        }
        let message = format!(
            "the header says {} of element `{}`, which take at least {least} bytes; {} follow",
            element.count,
            element.name,
            self.left()
        );
        Err(self.fault(message, CUT_OFF))
    }

    /// Goes to the next row: in text, to the next line that is not empty.
    pub fn begin_row(&mut self) {
        if self.encoding != PlyEncoding::Ascii {
            return;
        }
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*b == b'\n');
            self.at += 1;
        }
    }

    /// Leaves a row of text, with whatever else is on its line.
    pub fn end_row(&mut self) {
        if self.encoding != PlyEncoding::Ascii {
            return;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        if !rest[..length].trim_ascii().is_empty() {
            let first = if self.longer.0 == 0 { self.line } else { self.longer.1 };
            self.longer = (self.longer.0 + 1, first);
        }
        self.at += length;
    }

    /// The next number of the row.
    #[inline]
    pub fn number(&mut self, kind: PlyType) -> Result<f64, GeometryError> {
        if self.encoding == PlyEncoding::Ascii {
            return self.word();
        }
        let size = kind.size();
        let Some(b) = self.bytes.get(self.at..self.at + size) else {
            return Err(self.fault("the file ends here".into(), CUT_OFF));
        };
        self.at += size;
        let mut word = [0; 8];
        word[..size].copy_from_slice(b);
        if self.encoding == PlyEncoding::Big {
            word[..size].reverse();
        }
        let [a, b, c, d, ..] = word;
        Ok(match kind {
            PlyType::I8 => f64::from(a as i8),
            PlyType::U8 => f64::from(a),
            PlyType::I16 => f64::from(i16::from_le_bytes([a, b])),
            PlyType::U16 => f64::from(u16::from_le_bytes([a, b])),
            PlyType::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            PlyType::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            PlyType::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            PlyType::F64 => f64::from_le_bytes(word),
        })
    }

    fn word(&mut self) -> Result<f64, GeometryError> {
        while self.bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace() && *b != b'\n') {
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if length == 0 {
            let message = if rest.is_empty() { "the file ends here" } else { "the line ends too early" };
            return Err(self.fault(message.into(), CUT_OFF));
        }
        let word = &rest[..length];
        self.at += length;
        real(word).ok_or_else(|| {
            self.fault(
                format!("`{}` is not a number", shown(word)),
                "the file is damaged there: export it again",
            )
        })
    }

    /// The length of a list; refused if the bytes that are left cannot hold it.
    pub fn length(&mut self, length: PlyType, kind: PlyType) -> Result<usize, GeometryError> {
        let n = self.number(length)?;
        let size = if self.encoding == PlyEncoding::Ascii { 2 } else { kind.size() };
        if !(n >= 0.0 && n.fract() == 0.0) {
            return Err(
                self.fault(format!("a list is of length {n}"), "the file is damaged there: export it again")
            );
        }
        if n * size as f64 > self.left() as f64 + 1.0 {
            return Err(
                self.fault(format!("a list is of length {n}, longer than what is left of the file"), CUT_OFF)
            );
        }
        Ok(n as usize)
    }

    /// Passes over an element that is of no use.
    pub fn skip(&mut self, element: &PlyElement) -> Result<(), GeometryError> {
        if element.properties.is_empty() {
            return Ok(());
        }
        let binary = self.encoding != PlyEncoding::Ascii;
        if binary && element.properties.iter().all(|p| p.length.is_none()) {
            // Known to fit: `holds` was asked.
            let all = element.least_bytes(self.encoding) * element.count;
            self.at = (self.at + all as usize).min(self.bytes.len());
            return Ok(());
        }
        for _ in 0..element.count {
            self.begin_row();
            for p in &element.properties {
                match p.length {
                    None => drop(self.number(p.kind)?),
                    Some(length) => self.skip_list(length, p.kind)?,
                }
            }
            self.end_row();
        }
        Ok(())
    }

    /// Passes over a list.
    pub fn skip_list(&mut self, length: PlyType, kind: PlyType) -> Result<(), GeometryError> {
        let n = self.length(length, kind)?;
        if self.encoding != PlyEncoding::Ascii {
            self.at = (self.at + n * kind.size()).min(self.bytes.len());
            return Ok(());
        }
        (0..n).try_for_each(|_| self.number(kind).map(drop))
    }
}
