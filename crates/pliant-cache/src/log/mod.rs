//! The frame log (`.plog`): the primary output of a run, from which every other format is made.
//!
//! Append-only and checksummed, so that a run killed at any moment leaves a log that opens:
//!
//! ```text
//! file    magic [8 bytes]  version u32  reserved u32
//! record  kind u32  length u64  crc32(kind, length, payload) u32  payload [length bytes]
//! ```
//!
//! All numbers are little-endian. The first record is the header, then frames and checkpoints in
//! the order of simulation, then (after a clean close) an end mark. Payloads of headers, epochs and
//! frames are made of named channels, and readers skip records and channels they do not know, so later
//! versions can add to the format without breaking older readers.
//!
//! The header has the bodies there are at first. Where bodies come, go or change their topology, an [`Epoch`] goes
//! before the next frame; see [`LogReader::bodies_at`]. Bodies with the same mesh, skin and elements store them once,
//! whenever they come. The first frame of a body is stored as it is. Frames of a
//! compact log ([`LogWriter::compact`]) hold positions on a grid of at most 2⁻¹⁷ of the body's size (they are off by half
//! a step at most: 4 µm for a body of a metre), velocities to a thousandth and strains to a five-hundredth of the largest
//! in their body, and controls only where they changed. Bodies that never deform, which the header tells by their particles at
//! rest, have a pose in each frame (a place and a turn, exact) and no positions: these follow from it. Checkpoints are exact: what is
//! resumed does not depend on what frames show.

mod attributes;
mod channel;
mod collider;
mod epoch;
mod frame;
mod header;
mod index;
mod medium;
mod packed;
mod picture;
mod pose;
mod reader;
mod record;
mod rice;
mod simulated;
mod skin;
mod writer;

pub use collider::{ColliderPlace, LogCollider};
pub use epoch::Epoch;
pub use frame::LogFrame;
pub use header::{LogBody, LogHeader, VersionOrigin};
pub use index::LogWarning;
pub use medium::{LogMedium, LogSource, MemoryLog, WriteOnlyLog};
pub use pose::BodyPose;
pub use reader::LogReader;
pub use simulated::SimulatedElements;
pub use writer::{LogWriter, ReopenedLog};
