//! Whole numbers in few bits, by Golomb and Rice: the low bits as they are, the rest as so many ones.

/// Ones of a number after which it is written out.
const LONGEST: u32 = 24;

/// Whole numbers around zero, by Golomb and Rice: the low bits as they are, the rest as so many ones.
pub(super) fn put_block(out: &mut Vec<u8>, values: &[i64]) {
    if values.iter().all(|&v| v == 0) {
        out.push(u8::MAX);
        return;
    }
    let sum: u128 = values.iter().map(|&v| u128::from(unsigned(v))).sum();
    let mean = (sum / values.len() as u128) as u64;
    let about = mean.checked_ilog2().unwrap_or(0).min(55);
    let length = |low: &u32| -> u64 {
        let one = |v: &i64| match unsigned(*v) >> low {
            high if high < u64::from(LONGEST) => high + 1 + u64::from(*low),
            _ => u64::from(LONGEST) + 64,
        };
        values.iter().map(one).sum()
    };
    let low = [about.saturating_sub(1), about, about + 1].into_iter().min_by_key(length).unwrap_or(about);
    out.push(low as u8);
    let mut bits = BitWriter { out, word: 0, count: 0 };
    for &v in values {
        let u = unsigned(v);
        let high = u >> low;
        if high < u64::from(LONGEST) {
            bits.put((1 << high) - 1, high as u32);
            bits.put(0, 1);
            bits.put(u & ((1 << low) - 1), low);
        } else {
            bits.put((1 << LONGEST) - 1, LONGEST);
            bits.put(u & 0xFFFF_FFFF, 32);
            bits.put(u >> 32, 32);
        }
    }
    bits.flush();
}

/// A whole number around zero as one that is not negative, the small ones first.
fn unsigned(v: i64) -> u64 {
    (v << 1 ^ v >> 63) as u64
}

/// A whole number in as many bytes as it takes, seven bits in each.
pub(super) fn put_whole(out: &mut Vec<u8>, v: i64) {
    let mut u = unsigned(v);
    while u >= 0x80 {
        out.push(u as u8 | 0x80);
        u >>= 7;
    }
    out.push(u as u8);
}

/// Bits, the lowest first.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    word: u128,
    count: u32,
}

impl BitWriter<'_> {
    fn put(&mut self, value: u64, count: u32) {
        self.word |= u128::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.out.push(self.word as u8);
            self.word >>= 8;
            self.count -= 8;
        }
    }

    fn flush(self) {
        if self.count > 0 {
            self.out.push(self.word as u8);
        }
    }
}

/// What is left to read.
pub(super) struct PackedInput<'a>(pub &'a [u8]);

impl PackedInput<'_> {
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or("packed values are cut off")?;
        self.0 = tail;
        Ok(*head)
    }

    pub fn byte(&mut self) -> Result<u8, String> {
        self.take::<1>().map(|[b]| b)
    }

    pub fn whole(&mut self) -> Result<i64, String> {
        let mut u = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            u |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok((u >> 1) as i64 ^ -((u & 1) as i64));
            }
        }
        Err("a packed number is too long".into())
    }

    /// Appends so many numbers that are stored as they are.
    pub fn floats(&mut self, count: usize, out: &mut Vec<f64>) -> Result<(), String> {
        let bytes = count.checked_mul(8).and_then(|n| self.0.split_at_checked(n));
        let (head, tail) = bytes.ok_or("packed values are cut off")?;
        self.0 = tail;
        out.extend(head.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)));
        Ok(())
    }

    /// Passes over a block. One of zeros takes no room here, however many it says they are.
    pub fn skip_block(&mut self, count: usize) -> Result<(), String> {
        if self.0.first() == Some(&u8::MAX) {
            return self.byte().map(|_| ());
        }
        self.block(count).map(|_| ())
    }

    pub fn end(&self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err("there are more packed values than particles".into()) }
    }

    pub fn block(&mut self, count: usize) -> Result<Vec<i64>, String> {
        let low = u32::from(self.byte()?);
        if low == u32::from(u8::MAX) {
            return Ok(vec![0; count]);
        }
        if low > 56 {
            return Err("packed values have too many bits".into());
        }
        let bytes = self.0;
        let (mut word, mut there, mut at, mut used) = (0u128, 0u32, 0, 0usize);
        let mut values = Vec::with_capacity(count.min(bytes.len().saturating_mul(8)));
        for _ in 0..count {
            // The longest number fits.
            while there <= 100 && at < bytes.len() {
                word |= u128::from(bytes[at]) << there;
                there += 8;
                at += 1;
            }
            let high = word.trailing_ones().min(LONGEST);
            let (skip, taken) = if high < LONGEST { (high + 1, low) } else { (LONGEST, 64) };
            if skip + taken > there {
                return Err("packed values are cut off".into());
            }
            let rest = (word >> skip) as u64;
            let u = match high < LONGEST {
                true => u64::from(high) << low | rest & ((1 << low) - 1),
                false => rest,
            };
            word >>= skip + taken;
            there -= skip + taken;
            used += (skip + taken) as usize;
            values.push((u >> 1) as i64 ^ -((u & 1) as i64));
        }
        // The next begins with a byte of its own.
        self.0 = &bytes[used.div_ceil(8)..];
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_come_back() {
        let blocks: [&[i64]; 5] = [
            &[0, 0, 0],
            &[1, -1, 5, -900, 3],
            &[i64::MAX, i64::MIN, 0, 1],
            &[1 << 40, -(1 << 40), 7, 0, 0, 0, 0],
            &[-1],
        ];
        let mut bytes = Vec::new();
        blocks.iter().for_each(|b| put_block(&mut bytes, b));
        let mut input = PackedInput(&bytes);
        for block in blocks {
            assert_eq!(input.block(block.len()).as_deref(), Ok(block));
        }
        assert_eq!(input.end(), Ok(()));
        for cut in 0..bytes.len() {
            let mut input = PackedInput(&bytes[..cut]);
            let read = blocks.iter().try_for_each(|b| input.block(b.len()).map(|_| ()));
            assert!(read.is_err(), "{cut}");
        }
    }
}
