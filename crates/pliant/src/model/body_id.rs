//! What a body is known by while others come and go.

/// A body of a simulation. Bodies are numbered in the order they come, and no number is given twice: the id of a body that
/// was removed names nothing for ever. The n-th body a simulation is built with (from 0) has number n, so
/// `0.into()` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyId(u64);

impl BodyId {
    /// The number, to be kept in files.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The id that [`number`](BodyId::number) told, from a file or over a wire. It names nothing where there is no such
    /// body.
    pub fn from_number(number: u64) -> BodyId {
        BodyId(number)
    }
}

impl From<usize> for BodyId {
    fn from(number: usize) -> BodyId {
        BodyId(number as u64)
    }
}

impl std::fmt::Display for BodyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
