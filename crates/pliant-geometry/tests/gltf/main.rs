//! glTF and GLB: what files can say, what they must not, and what is written.
#![allow(clippy::unwrap_used)] // tests may panic

mod features;
mod hostile;
mod moving;
mod sample;
mod written;
