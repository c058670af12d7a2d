//! Numbers as the little-endian bytes of the file, whole slices at a time.

/// Replaces `bytes` by those of `values`.
pub(super) fn put_floats(values: &[f32], bytes: &mut Vec<u8>) {
    // Filling chunks of known size compiles to a copy; appending value by value does not.
    bytes.resize(4 * values.len(), 0);
    for (chunk, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(values) {
        *chunk = value.to_le_bytes();
    }
}

/// The bytes of floats.
pub(super) fn float_bytes(values: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_floats(values, &mut bytes);
    bytes
}

/// The bytes of integers.
pub(super) fn integer_bytes(values: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * values.size_hint().0);
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}
