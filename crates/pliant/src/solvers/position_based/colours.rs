//! Colours: elements of one colour share no particle, so their order does not matter.

/// The colour of each element, given the particles it moves. Greedy, in order: an element takes the first
/// colour none of its particles has seen.
pub(super) fn colours<'a>(elements: impl Iterator<Item = &'a [u32]>, particles: usize) -> Vec<u32> {
    let mut seen: Vec<Vec<u64>> = vec![Vec::new(); particles];
    elements
        .map(|corners| {
            let word = |w: usize| {
                let words = corners.iter().map(|&i| seen[i as usize].get(w).copied().unwrap_or(0));
                words.fold(0, |all, word| all | word)
            };
            let free = (0..).map(|w| (w, word(w))).find(|(_, taken)| *taken != u64::MAX);
            let (w, bit) = free.map_or((0, 0), |(w, taken)| (w, taken.trailing_ones()));
            for &i in corners {
                let words = &mut seen[i as usize];
                words.resize(words.len().max(w + 1), 0);
                words[w] |= 1 << bit;
            }
            64 * w as u32 + bit
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::colours;

    #[test]
    fn elements_of_a_colour_share_no_particle() {
        // A grid of squares and a fan of 200 edges about particle 0: more colours than a word has bits.
        let mut elements: Vec<Vec<u32>> = Vec::new();
        for y in 0..9u32 {
            elements.extend((0..9u32).map(|x| {
                let i = 10 * y + x;
                vec![i, i + 1, i + 10, i + 11]
            }));
        }
        elements.extend((100..300).map(|i| vec![0, i]));
        elements.push(Vec::new());
        let colour = colours(elements.iter().map(Vec::as_slice), 300);
        for (a, first) in elements.iter().enumerate() {
            for (b, second) in elements.iter().enumerate().skip(a + 1) {
                let shared = first.iter().any(|i| second.contains(i));
                assert!(!shared || colour[a] != colour[b], "elements {a} and {b}");
            }
        }
        assert_eq!(colour[..81].iter().max(), Some(&3), "squares of a grid need four colours");
        assert_eq!(colour[281], 0);
        assert_eq!(*colour.iter().max().unwrap(), 200);
    }
}
