//! A 64-bit digest of a scene and the files it refers to: tells scenes apart, guards nothing against malice.

/// FNV-1a over bytes. Own code, because the value is stored in logs and must never change with a library.
#[derive(Clone, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    /// Changes when the meaning of scene files does.
    const FORMAT: u64 = 1;

    pub fn new() -> Digest {
        let mut digest = Digest(0xCBF2_9CE4_8422_2325);
        digest.bytes(&Digest::FORMAT.to_le_bytes());
        digest
    }

    /// Takes up a text or file with its length, so that moving a byte from one to the next shows.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &b in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    pub fn finish(&self) -> u64 {
        self.0
    }
}
