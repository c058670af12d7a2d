//! A count of findings with the first few of them, so that a message can point somewhere.

/// How many there are of something, and where the first ones are.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Findings<T> {
    /// How many.
    pub count: usize,
    /// The first of them in ascending order, enough to look at: `count` says how many there are.
    pub first: Vec<T>,
}

impl<T> Findings<T> {
    /// How many examples are kept.
    pub(crate) const EXAMPLES: usize = 8;

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn push(&mut self, example: T) {
        self.count += 1;
        if self.first.len() < Self::EXAMPLES {
            self.first.push(example);
        }
    }

    pub(crate) fn append(&mut self, other: Findings<T>) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(Self::EXAMPLES);
    }
}

impl<T> FromIterator<T> for Findings<T> {
    fn from_iter<I: IntoIterator<Item = T>>(examples: I) -> Findings<T> {
        let mut found = Findings { count: 0, first: Vec::new() };
        examples.into_iter().for_each(|e| found.push(e));
        found
    }
}
