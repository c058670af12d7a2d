//! Checksummed records: how they are framed, written as one block, and found again.

use std::io::{self, Read, Seek, SeekFrom};

/// Version of the log format this program reads and writes.
pub const FORMAT_VERSION: u32 = 3;

/// First bytes of a log. Like PNG's: not text, and line-end conversion destroys it visibly.
pub(super) const MAGIC: [u8; 8] = *b"\x89PLOG\r\n\x1a";

/// Bytes before the first record: magic, version, reserved.
pub(super) const FILE_START: u64 = 16;

/// Bytes of a record before its payload: kind, length, crc.
pub(super) const RECORD_START: u64 = 16;

/// Kinds of records; readable in a hex dump.
pub(super) mod kind {
    pub(in super::super) const HEADER: u32 = u32::from_le_bytes(*b"HEAD");
    pub(in super::super) const EPOCH: u32 = u32::from_le_bytes(*b"EPOC");
    pub(in super::super) const FRAME: u32 = u32::from_le_bytes(*b"FRAM");
    pub(in super::super) const CHECKPOINT: u32 = u32::from_le_bytes(*b"CHKP");
    pub(in super::super) const END: u32 = u32::from_le_bytes(*b"END.");
    pub(super) const ALL: [u32; 5] = [HEADER, EPOCH, FRAME, CHECKPOINT, END];
}

/// Starts a record in `out`, which [`seal`] completes once the payload has been appended.
pub(super) fn begin(out: &mut Vec<u8>) {
    out.clear();
    out.resize(RECORD_START as usize, 0);
}

/// Fills in kind, length and checksum of the record in `out`.
pub(super) fn seal(out: &mut [u8], kind: u32) {
    let length = out.len() as u64 - RECORD_START;
    out[..4].copy_from_slice(&kind.to_le_bytes());
    out[4..12].copy_from_slice(&length.to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&out[..12]);
    crc.update(&out[RECORD_START as usize..]);
    out[12..16].copy_from_slice(&crc.finalize().to_le_bytes());
}

/// A record whose checksum is right.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogRecord {
    pub(super) kind: u32,
    /// Where the record starts in the file.
    pub(super) offset: u64,
    /// Payload bytes.
    pub(super) length: u64,
}

impl LogRecord {
    pub(super) fn payload(&self) -> u64 {
        self.offset + RECORD_START
    }

    pub(super) fn end(&self) -> u64 {
        self.payload() + self.length
    }
}

/// Reads a whole record again and gives its payload if the checksum is (still) right.
/// The length was compared with the file's before, so it bounds what is allocated.
pub(super) fn read_payload(file: &mut (impl Read + Seek), record: &LogRecord) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(record.offset))?;
    let mut start = [0; RECORD_START as usize];
    file.read_exact(&mut start)?;
    let mut payload = Vec::new();
    let size = usize::try_from(record.length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    payload.try_reserve_exact(size).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.take(record.length).read_to_end(&mut payload)?;
    let mut crc = crc32fast::Hasher::new();
    crc.update(&start[..12]);
    crc.update(&payload);
    let sound = payload.len() == size && start[12..] == crc.finalize().to_le_bytes();
    Ok(sound.then_some(payload))
}

/// What lies at an offset of the file.
pub(super) enum RecordAt {
    LogRecord(LogRecord),
    /// The file ends here, between two records.
    End,
    /// Not a whole record, and why.
    Broken(String),
}

/// Walks through a file with a fixed amount of memory.
pub(super) struct Scanner<F> {
    pub(super) file: F,
    pub(super) file_length: u64,
    buffer: Vec<u8>,
}

impl<F: Read + Seek> Scanner<F> {
    pub(super) fn new(mut file: F) -> io::Result<Scanner<F>> {
        let file_length = file.seek(SeekFrom::End(0))?;
        Ok(Scanner { file, file_length, buffer: vec![0; 1 << 16] })
    }

    /// The first `out.len()` payload bytes of a record (fewer if it is shorter).
    pub(super) fn payload_start(&mut self, record: &LogRecord, out: &mut [u8]) -> io::Result<usize> {
        let count = record.length.min(out.len() as u64) as usize;
        self.file.seek(SeekFrom::Start(record.payload()))?;
        self.file.read_exact(&mut out[..count])?;
        Ok(count)
    }

    /// Looks at `offset` and verifies the checksum of the record there.
    pub(super) fn at(&mut self, offset: u64) -> io::Result<RecordAt> {
        let left = self.file_length - offset;
        if left == 0 {
            return Ok(RecordAt::End);
        }
        if left < RECORD_START {
            return Ok(RecordAt::Broken(format!("only {left} bytes where a record should start")));
        }
        self.file.seek(SeekFrom::Start(offset))?;
        let mut start = [0; RECORD_START as usize];
        self.file.read_exact(&mut start)?;
        let [k0, k1, k2, k3, l0, l1, l2, l3, l4, l5, l6, l7, crc @ ..] = start;
        let length = u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
        if length > left - RECORD_START {
            return Ok(RecordAt::Broken(format!(
                "the record claims {length} bytes, the file has only {} left",
                left - RECORD_START
            )));
        }
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&start[..12]);
        let mut todo = length;
        while todo > 0 {
            let count = todo.min(self.buffer.len() as u64) as usize;
            self.file.read_exact(&mut self.buffer[..count])?;
            hasher.update(&self.buffer[..count]);
            todo -= count as u64;
        }
        if hasher.finalize() != u32::from_le_bytes(crc) {
            return Ok(RecordAt::Broken("its checksum is wrong".into()));
        }
        Ok(RecordAt::LogRecord(LogRecord { kind: u32::from_le_bytes([k0, k1, k2, k3]), offset, length }))
    }

    /// Whether a sound record starts anywhere after `offset`. That tells damage in the middle from
    /// a tail torn off: after a torn record there is nothing. The work is bounded because a hostile
    /// file could make every byte look like the start of a long record.
    pub(super) fn any_record_after(&mut self, offset: u64) -> io::Result<bool> {
        let mut budget = 4 * self.file_length + (1 << 20);
        let mut window = vec![0; 1 << 16];
        let mut base = offset + 1;
        while base + RECORD_START <= self.file_length {
            let count = (self.file_length - base).min(window.len() as u64) as usize;
            self.file.seek(SeekFrom::Start(base))?;
            self.file.read_exact(&mut window[..count])?;
            for k in 0..count.saturating_sub(11) {
                let word = |at: usize| {
                    u32::from_le_bytes([window[at], window[at + 1], window[at + 2], window[at + 3]])
                };
                if !kind::ALL.contains(&word(k)) {
                    continue;
                }
                let length = u64::from(word(k + 4)) | u64::from(word(k + 8)) << 32;
                if length > self.file_length {
                    continue;
                }
                if length > budget {
                    return Ok(false);
                }
                budget -= length;
                if let RecordAt::LogRecord(_) = self.at(base + k as u64)? {
                    return Ok(true);
                }
            }
            if count < window.len() {
                break;
            }
            // Overlap, so that a start across two windows is seen.
            base += count as u64 - 11;
        }
        Ok(false)
    }
}
