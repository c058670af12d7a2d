//! USDZ packages: a zip archive of one stored file whose data begins at a multiple of 64 bytes.
//!
//! By PKWARE's APPNOTE (sections 4.3.7, 4.3.12, 4.3.16) and the USDZ specification, which allows no compression,
//! no encryption and no 64-bit extension.

use crate::CacheError;
use crate::atomic::AtomicFile;
use std::path::Path;

const ALIGNMENT: usize = 64;
/// Local header without name and padding.
const HEADER: usize = 30;
/// What checksum and sizes in a local header come after.
const CHECKSUM_AT: u64 = 14;
/// The first of January 1980, the first day zip knows: the same run gives the same bytes.
const DATE: u16 = 0x21;

/// An archive begun, its one file to be written next.
pub(super) struct Package {
    name: String,
}

impl Package {
    /// Writes what comes before the data.
    pub fn begin(file: &mut AtomicFile, name: String) -> Result<Package, CacheError> {
        let end = HEADER + name.len();
        // An extra field has four bytes of its own.
        let padding = (end + 4).next_multiple_of(ALIGNMENT) - end;
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend(common(&name, 0, 0, padding as u16));
        bytes.extend(name.as_bytes());
        // The identifier USD's own writer takes for padding.
        bytes.extend(0x1986_u16.to_le_bytes());
        bytes.extend((padding as u16 - 4).to_le_bytes());
        bytes.resize(end + padding, 0);
        file.put(&bytes)?;
        Ok(Package { name })
    }

    /// Completes the archive once the data is there.
    pub fn end(self, file: &mut AtomicFile, path: &Path, size: u64, crc: u32) -> Result<(), CacheError> {
        let too_large = |_| {
            CacheError::invalid(
                path.display().to_string(),
                format!("{size} bytes of text are more than a USDZ package can hold, which is 4 GB"),
                "export to .usda, or fewer frames",
            )
        };
        let start = file.position();
        let size = u32::try_from(size).map_err(too_large)?;
        let start = u32::try_from(start).map_err(too_large)?;
        let mut sums = crc.to_le_bytes().to_vec();
        sums.extend(size.to_le_bytes());
        sums.extend(size.to_le_bytes());
        file.patch(CHECKSUM_AT, &sums)?;

        let mut bytes = b"PK\x01\x02".to_vec();
        bytes.extend(10_u16.to_le_bytes());
        bytes.extend(common(&self.name, crc, size, 0));
        // Comment, disk, attributes inside and outside, and where the local header is.
        bytes.extend([0; 14]);
        bytes.extend(self.name.as_bytes());
        let directory = bytes.len() as u32;
        bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        bytes.extend(directory.to_le_bytes());
        bytes.extend(start.to_le_bytes());
        bytes.extend([0; 2]);
        file.put(&bytes)
    }
}

/// What local and central headers share: version 1.0, no flags, stored, date, sums, lengths.
fn common(name: &str, crc: u32, size: u32, extra: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [10, 0, 0, 0, DATE] {
        bytes.extend(word.to_le_bytes());
    }
    for long in [crc, size, size] {
        bytes.extend(long.to_le_bytes());
    }
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend(extra.to_le_bytes());
    bytes
}
