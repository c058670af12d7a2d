//! glTF and GLB: what files can say, what they must not, and what is written.

mod features;
mod hostile;
mod moving;
mod sample;
mod written;
