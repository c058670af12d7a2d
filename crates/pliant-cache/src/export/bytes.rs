//! Numbers as the bytes of a file, whole slices at a time.

/// Appends numbers of four bytes each, in the byte order that `bytes` gives.
pub(super) fn put_words<T: Copy>(out: &mut Vec<u8>, values: &[T], bytes: impl Fn(T) -> [u8; 4]) {
    let start = out.len();
    // Filling chunks of known size compiles to a copy; appending value by value does not.
    out.resize(start + 4 * values.len(), 0);
    for (to, &value) in out[start..].as_chunks_mut::<4>().0.iter_mut().zip(values) {
        *to = bytes(value);
    }
}

/// Appends little-endian floats.
pub(super) fn put_floats(out: &mut Vec<u8>, values: &[f32]) {
    put_words(out, values, f32::to_le_bytes);
}

/// The bytes of little-endian floats.
pub(super) fn float_bytes(values: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_floats(&mut bytes, values);
    bytes
}

/// The bytes of little-endian integers.
pub(super) fn integer_bytes(values: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * values.size_hint().0);
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}
