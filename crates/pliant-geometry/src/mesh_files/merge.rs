//! Things that are equal get one number: a hash table of numbers only, the things themselves being kept elsewhere.

use std::hash::{BuildHasher, Hash, RandomState};

const FREE: u32 = u32::MAX;

/// Numbers of things, found by what the things are. Hashes have a secret in them, so that no file can make all of
/// its positions fall together; numbers do not depend on it.
#[derive(Default)]
pub(super) struct Merge {
    /// A power of two, at most half of them taken.
    slots: Vec<u32>,
    count: u32,
    secret: RandomState,
}

impl Merge {
    /// The number of a thing: that of the one before that was equal, or the next. `kept` gives the thing of a number
    /// that was given out before.
    pub fn number<T: Hash + PartialEq>(&mut self, thing: &T, kept: impl Fn(u32) -> T) -> u32 {
        if 2 * self.count as usize >= self.slots.len() {
            let size = (2 * self.slots.len()).max(64);
            // The numbers are all there is to keep, so the old table goes before the new one comes.
            self.slots = Vec::new();
            self.slots = vec![FREE; size];
            for number in 0..self.count {
                let slot = self.slot(&kept(number), |_| false);
                self.slots[slot] = number;
            }
        }
        let slot = self.slot(thing, |number| kept(number) == *thing);
        if self.slots[slot] == FREE {
            self.slots[slot] = self.count;
            self.count += 1;
        }
        self.slots[slot]
    }

    /// How many numbers were given out.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Where a thing is, or would be.
    fn slot(&self, thing: &impl Hash, same: impl Fn(u32) -> bool) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = self.secret.hash_one(thing) as usize & last;
        while self.slots[slot] != FREE && !same(self.slots[slot]) {
            slot = (slot + 1) & last;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_have_one_number_in_order_of_first_use() {
        let mut random = crate::SplitMix64::new(3);
        let (mut merge, mut kept) = (Merge::default(), Vec::new());
        for _ in 0..20_000 {
            let thing = random.below(5000);
            let expected = kept.iter().position(|&k| k == thing).unwrap_or(kept.len());
            let number = merge.number(&thing, |n| kept[n as usize]);
            assert_eq!(number as usize, expected);
            if expected == kept.len() {
                kept.push(thing);
            }
            assert_eq!(merge.count() as usize, kept.len());
        }
    }
}
