//! Plain little-endian bytes for checkpoints, and the digest that tells models apart.

use crate::points::Points;
use glam::{DAffine3, DVec3};

/// Like FNV-1a, but over 64-bit words, each mixed in with a shift as a word has no carry into the low bits of the next: tells models apart, guards nothing against malice.
#[derive(Clone, Debug)]
pub(crate) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01B3);
        self.0 ^= self.0 >> 29;
    }

    pub fn number(&mut self, value: f64) {
        self.word(value.to_bits());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        bytes.iter().for_each(|&b| self.word(b.into()));
    }

    pub fn finish(&self) -> u64 {
        self.0
    }
}

/// Appends numbers to a byte string.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// A whole number.
    pub fn word(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A real number, all its bits.
    pub fn number(&mut self, value: f64) {
        self.word(value.to_bits());
    }

    /// A list of real numbers with its length.
    pub fn numbers(&mut self, values: &[f64]) {
        self.word(values.len() as u64);
        values.iter().for_each(|&v| self.number(v));
    }

    /// A placement, as the twelve numbers of its matrix, column after column.
    pub fn placement(&mut self, at: &DAffine3) {
        at.to_cols_array().into_iter().for_each(|v| self.number(v));
    }

    /// Three real numbers.
    pub fn vector(&mut self, v: impl Into<DVec3>) {
        v.into().to_array().into_iter().for_each(|v| self.number(v));
    }

    /// A list of vectors with its length.
    pub fn vectors(&mut self, list: &[DVec3]) {
        self.word(list.len() as u64);
        list.iter().for_each(|&v| self.vector(v));
    }

    /// A text with its length, filled up to whole words.
    pub fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self.0.resize(self.0.len() + text.len().next_multiple_of(8) - text.len(), 0);
    }

    /// A list of indices with its length.
    pub fn indices(&mut self, values: &[u32]) {
        self.word(values.len() as u64);
        values.iter().for_each(|&v| self.word(v.into()));
    }
}

/// The bytes ended early or claim what they do not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

/// Reads back what a [`Writer`] wrote; never reads past the end nor allocates more than there is.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// A whole number.
    pub fn word(&mut self) -> Result<u64, Truncated> {
        let (head, rest) = self.0.split_first_chunk::<8>().ok_or(Truncated)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*head))
    }

    /// The next eight bytes as a real number, all bits of it: it may be none.
    pub fn number(&mut self) -> Result<f64, Truncated> {
        self.word().map(f64::from_bits)
    }

    /// A placement that [`Writer::placement`] wrote.
    pub fn placement(&mut self) -> Result<DAffine3, Truncated> {
        let mut e = [0.0; 12];
        for v in &mut e {
            *v = self.number()?;
        }
        Ok(DAffine3::from_cols_array(&e))
    }

    /// The length of a list that the remaining bytes can hold, if each of it takes a word.
    pub fn length(&mut self) -> Result<usize, Truncated> {
        let n = self.word()?;
        if n <= (self.0.len() / 8) as u64 { Ok(n as usize) } else { Err(Truncated) }
    }

    /// A list of real numbers.
    pub fn numbers(&mut self) -> Result<Vec<f64>, Truncated> {
        let n = self.length()?;
        (0..n).map(|_| self.number()).collect()
    }

    /// Points as three lists of coordinates, which must be equally long.
    pub fn points(&mut self) -> Result<Points, Truncated> {
        let (x, y, z) = (self.numbers()?, self.numbers()?, self.numbers()?);
        Points::from_columns(x, y, z).map_err(|_| Truncated)
    }

    /// Yes or no.
    pub fn flag(&mut self) -> Result<bool, Truncated> {
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Truncated),
        }
    }

    /// Three real numbers.
    pub fn vector(&mut self) -> Result<DVec3, Truncated> {
        Ok(DVec3::new(self.number()?, self.number()?, self.number()?))
    }

    /// The next list of vectors, with the length that stands before it. A length that the bytes cannot hold is refused
    /// before any memory is taken.
    pub fn vectors(&mut self) -> Result<Vec<DVec3>, Truncated> {
        let n = self.length()?;
        if n > self.0.len() / 24 {
            return Err(Truncated);
        }
        (0..n).map(|_| self.vector()).collect()
    }

    /// A text that [`Writer::text`] wrote; what is no UTF-8 counts as cut off.
    pub fn text(&mut self) -> Result<String, Truncated> {
        let n = usize::try_from(self.word()?).map_err(|_| Truncated)?;
        let padded =
            n.checked_next_multiple_of(8).filter(|padded| *padded <= self.0.len()).ok_or(Truncated)?;
        let (text, rest) = self.0.split_at(padded);
        self.0 = rest;
        String::from_utf8(text[..n].to_vec()).map_err(|_| Truncated)
    }

    /// Whatever follows, taken out: as many bytes as are said first.
    pub fn part(&mut self) -> Result<Reader<'a>, Truncated> {
        let n = usize::try_from(self.word()?).map_err(|_| Truncated)?;
        let (part, rest) = self.0.split_at_checked(n).ok_or(Truncated)?;
        self.0 = rest;
        Ok(Reader(part))
    }

    /// The next list of indices, with the length that stands before it. A length that the bytes cannot hold is refused
    /// before any memory is taken.
    pub fn indices(&mut self) -> Result<Vec<u32>, Truncated> {
        let n = self.length()?;
        (0..n).map(|_| self.word().and_then(|w| u32::try_from(w).map_err(|_| Truncated))).collect()
    }
}
