//! The binary container (`.glb`): a header, a JSON chunk and at most one chunk of bytes.

use crate::GeometryError;

/// The parts of a file: its JSON, and the chunk of bytes of a binary one.
pub(super) struct Container<'a> {
    pub json: &'a [u8],
    pub bytes: Option<&'a [u8]>,
    pub binary: bool,
}

pub(super) const MAGIC: &[u8] = b"glTF";
pub(super) const JSON_CHUNK: &[u8] = b"JSON";
pub(super) const BYTES_CHUNK: &[u8] = b"BIN\0";

/// Takes a file apart; one without the magic is taken for JSON.
pub(super) fn open(file: &[u8]) -> Result<Container<'_>, GeometryError> {
    if !file.starts_with(MAGIC) {
        let json = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        return Ok(Container { json, bytes: None, binary: false });
    }
    let word = |at: usize| {
        let bytes = file.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let cut_off = |what: String| GeometryError::new(what, "the file is incomplete: copy or export it again");
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(cut_off(format!("the header needs 12 bytes, the file has {}", file.len())));
    };
    if version != 2 {
        return Err(GeometryError::new(
            format!("the container has version {version}; 2 is read"),
            "export it again as glTF 2.0",
        ));
    }
    if length as usize > file.len() {
        return Err(cut_off(format!("byte 8 claims {length} bytes, the file has {}", file.len())));
    }
    let file = &file[..length as usize];
    let (mut at, mut json, mut bytes) = (12, None, None);
    while let (Some(size), Some(kind)) = (word(at), file.get(at + 4..at + 8)) {
        let Some(chunk) = file.get(at + 8..(at + 8).saturating_add(size as usize)) else {
            return Err(cut_off(format!(
                "the chunk at byte {at} claims {size} bytes, {} are left",
                file.len() - at - 8
            )));
        };
        match kind {
            JSON_CHUNK if json.is_none() => json = Some(chunk),
            BYTES_CHUNK if bytes.is_none() => bytes = Some(chunk),
            _ => {}
        }
        at += 8 + size as usize;
    }
    let json = json.ok_or_else(|| cut_off("there is no JSON chunk".into()))?;
    Ok(Container { json, bytes, binary: true })
}
