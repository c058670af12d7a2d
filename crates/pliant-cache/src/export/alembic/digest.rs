//! The 128-bit hash that Alembic keys samples by: MurmurHash3 (Appleby 2011, x64, 128 bits, seed 0).

/// A hash as it stands in the file.
pub(super) type AlembicDigest = [u8; 16];

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Hashes bytes. Alembic hashes arrays as they lie in memory on a little-endian machine, which is
/// how they are written.
pub(super) fn digest(bytes: &[u8]) -> AlembicDigest {
    let (mut h1, mut h2) = (0u64, 0u64);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (k1, k2) = halves(block);
        h1 = (h1 ^ scramble_first(k1)).rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ scramble_second(k2)).rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // A missing half is zero, which scrambles to zero and so changes nothing.
    let mut last = [0; 16];
    last[..tail.len()].copy_from_slice(tail);
    let (k1, k2) = halves(&last);
    h1 ^= scramble_first(k1);
    h2 ^= scramble_second(k2);

    let length = bytes.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = avalanche(h1);
    h2 = avalanche(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (u128::from(h1) | u128::from(h2) << 64).to_le_bytes()
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (both as u64, (both >> 64) as u64)
}

fn scramble_first(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn scramble_second(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn avalanche(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::digest;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Keys in a file that the Alembic library wrote: one byte, two integers, seven integers, a matrix.
    #[test]
    fn keys_are_those_of_the_alembic_library() {
        let integers = |v: &[i32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let identity: Vec<u8> = (0..16).flat_map(|k| f64::from(u8::from(k % 5 == 0)).to_le_bytes()).collect();
        for (bytes, key) in [
            (vec![1], "16fe7483905cce7a85670e43e4678877"),
            (vec![0x30], "80a346d5bedec92a095e873ce5e98d3a"),
            (integers(&[4, 3]), "cc4fb317d489e4db9746e87bb0f3a512"),
            (integers(&[3, 2, 1, 0, 2, 4, 1]), "8739e8b0778d4632f9a7d25de8e5429f"),
            (identity, "09053870b0b9836616151d2fe8c23db9"),
        ] {
            assert_eq!(hex(&digest(&bytes)), key, "{bytes:?}");
        }
    }

    #[test]
    fn every_byte_and_the_length_matter() {
        let base: Vec<u8> = (0..40).collect();
        let mut seen = std::collections::BTreeSet::new();
        for length in 0..=40 {
            assert!(seen.insert(digest(&base[..length])));
        }
        for k in 0..40 {
            let mut other = base.clone();
            other[k] ^= 0x80;
            assert!(seen.insert(digest(&other)), "byte {k}");
        }
        assert!(seen.insert(digest(&[0; 2])) && seen.insert(digest(&[0; 3])));
    }
}
