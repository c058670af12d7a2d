//! Disjoint sets over indices: which faces, corners or vertices hang together, and which way round.

/// Disjoint sets; every set is known by its smallest member, whatever the order of joining.
pub(crate) struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    pub fn new(len: usize) -> DisjointSets {
        DisjointSets { parents: (0..len as u32).collect() }
    }

    /// The smallest member of the set that `i` is in.
    pub fn find(&mut self, mut i: u32) -> u32 {
        // Path halving: no recursion, and paths stay short.
        while self.parents[i as usize] != i {
            let above = self.parents[self.parents[i as usize] as usize];
            self.parents[i as usize] = above;
            i = above;
        }
        i
    }

    /// Joins two sets; whether they were two.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// For each index the number of its set; sets count from 0 in the order of their smallest members.
    pub fn numbers(&mut self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.parents.len());
        let mut count = 0;
        for i in 0..self.parents.len() as u32 {
            // The smallest member comes first, so its number is known by then.
            let root = self.find(i);
            numbers.push(if root == i { count } else { numbers[root as usize] });
            count += u32::from(root == i);
        }
        numbers
    }

    /// How many sets there are.
    pub fn count(&self) -> usize {
        self.parents.iter().zip(0..).filter(|(parent, i)| **parent == *i).count()
    }
}

/// Disjoint sets whose members are turned one way or the other relative to the smallest of their set.
pub(crate) struct OrientedSets {
    /// Twice the parent, plus one if turned against it.
    parents: Vec<u64>,
}

impl OrientedSets {
    pub fn new(len: usize) -> OrientedSets {
        OrientedSets { parents: (0..len as u64).map(|i| 2 * i).collect() }
    }

    /// The smallest member of the set, and whether `i` is turned against it.
    pub fn find(&mut self, i: u32) -> (u32, bool) {
        let (mut i, mut turned) = (u64::from(i), 0);
        loop {
            let link = self.parents[i as usize];
            let above = link / 2;
            if above == i {
                return (i as u32, turned == 1);
            }
            let further = self.parents[above as usize];
            // The root links to itself unturned, so halving the path is right there too.
            self.parents[i as usize] = further ^ (link & 1);
            turned ^= (link ^ further) & 1;
            i = further / 2;
        }
    }

    /// Joins two sets so that `a` and `b` are turned against one another or not; false if that contradicts what
    /// is known.
    pub fn join(&mut self, a: u32, b: u32, turned: bool) -> bool {
        let ((root_a, turned_a), (root_b, turned_b)) = (self.find(a), self.find(b));
        let against = turned ^ turned_a ^ turned_b;
        if root_a == root_b {
            return !against;
        }
        self.parents[root_a.max(root_b) as usize] = 2 * u64::from(root_a.min(root_b)) + u64::from(against);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn sets_are_known_by_their_smallest_member() {
        let mut sets = DisjointSets::new(6);
        assert!(sets.join(5, 3) && sets.join(3, 4) && !sets.join(4, 5));
        assert_eq!((0..6).map(|i| sets.find(i)).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 3]);
    }

    #[test]
    fn turns_add_up_along_any_path() {
        let mut rng = SplitMix64::new(3);
        let truth: Vec<bool> = (0..200).map(|_| rng.below(2) == 1).collect();
        let mut sets = OrientedSets::new(200);
        for _ in 0..600 {
            let (a, b) = (rng.below(200) as u32, rng.below(200) as u32);
            let turned = truth[a as usize] != truth[b as usize];
            assert!(sets.join(a, b, turned));
            assert!(!sets.join(a, b, !turned));
        }
        for i in 0..200 {
            let (root, turned) = sets.find(i);
            assert_eq!(turned, truth[i as usize] != truth[root as usize]);
        }
    }
}
