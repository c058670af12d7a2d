//! Names of objects: what Alembic and the programs that read it can take, unique where they must be.

use std::collections::BTreeSet;

/// Names as they are, but for what separates parts of paths in Alembic or in programs that read it, and
/// spaces; numbered where two would be the same, `fallback` where nothing is left.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str>, fallback: &str) -> Vec<String> {
    let mut taken = BTreeSet::new();
    names
        .map(|name| {
            let awkward = |c: char| c.is_control() || c.is_whitespace() || "/\\|:;.=\"'".contains(c);
            let mut base: String = name.chars().map(|c| if awkward(c) { '_' } else { c }).collect();
            if base.is_empty() {
                base.push_str(fallback);
            }
            let mut unique = base.clone();
            let mut count = 2;
            while !taken.insert(unique.clone()) {
                unique = format!("{base}_{count}");
                count += 1;
            }
            unique
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::unique;

    #[test]
    fn names_are_kept_apart_and_free_of_separators() {
        let names = unique(["bär", "a/b", "a b", "", "a_b", "a_b_2"].into_iter(), "body");
        assert_eq!(names, ["bär", "a_b", "a_b_2", "body", "a_b_3", "a_b_2_2"]);
    }
}
