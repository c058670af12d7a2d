//! Names of bodies and materials as formats can take them: kept where possible, never the same twice.

use std::collections::{HashMap, HashSet};

/// What a format takes as a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameStyle {
    /// ASCII letters, digits and underscores, no digit first: prims of USD.
    Identifier,
    /// Anything without spaces: readers of OBJ end names there.
    Word,
    /// A word without what separates parts of paths in Alembic or in programs that read it.
    Part,
    /// Anything printable.
    Text,
}

impl NameStyle {
    fn allows(self, c: char) -> bool {
        match self {
            NameStyle::Identifier => c.is_ascii_alphanumeric(),
            NameStyle::Word => !c.is_whitespace() && !c.is_control(),
            NameStyle::Part => NameStyle::Word.allows(c) && !"/\\|:;.=\"'".contains(c),
            NameStyle::Text => !c.is_control(),
        }
    }
}

/// The names in a style: what it has no room for becomes an underscore, names that would then be the same (or
/// one of `taken`) are numbered, and where nothing is left it is `fallback`.
pub(super) fn unique<'n>(
    names: impl IntoIterator<Item = &'n str>,
    style: NameStyle,
    fallback: &str,
    taken: &[&str],
) -> Vec<String> {
    let mut taken: HashSet<String> = taken.iter().map(|t| t.to_string()).collect();
    // The next number to try for a name, so that a thousand equal names take no million attempts.
    let mut next: HashMap<String, u32> = HashMap::new();
    let mut make = |name: &str| {
        let mut base: String = name.chars().map(|c| if style.allows(c) { c } else { '_' }).collect();
        if base.is_empty() {
            base.push_str(fallback);
        }
        if style == NameStyle::Identifier && base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        let count = next.entry(base.clone()).or_insert(1);
        loop {
            let name = if *count == 1 { base.clone() } else { format!("{base}_{count}") };
            *count += 1;
            if taken.insert(name.clone()) {
                return name;
            }
        }
    };
    names.into_iter().map(&mut make).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_apart_and_in_style() {
        let names = ["bär", "a b", "a_b", "", "2", "a_b_2", "a b"];
        assert_eq!(
            unique(names, NameStyle::Identifier, "body", &["a_b"]),
            ["b_r", "a_b_2", "a_b_3", "body", "_2", "a_b_2_2", "a_b_4"]
        );
        assert_eq!(unique(names, NameStyle::Word, "body", &[])[..3], ["bär", "a_b", "a_b_2"]);
        assert_eq!(unique(["a/b", "a b", "c:\"d"], NameStyle::Part, "body", &[]), ["a_b", "a_b_2", "c__d"]);
        assert_eq!(unique(names, NameStyle::Text, "body", &[])[..3], ["bär", "a b", "a_b"]);
        let many = unique(vec!["x"; 20_000], NameStyle::Word, "", &[]);
        assert_eq!(many[19_999], "x_20000");
    }
}
