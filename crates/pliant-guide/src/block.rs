//! The fenced blocks of a page, with what their first line says about them.

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Line of the page it begins at, from 1.
    pub line: usize,
    /// Its language: the first word behind the fence.
    pub language: String,
    /// What else is said of it there.
    pub words: Vec<String>,
    /// What is in it.
    pub text: String,
}

impl Block {
    /// The name of the file it is meant to be, if any.
    pub fn file(&self) -> Option<&str> {
        self.words.iter().find(|w| w.contains('.')).map(String::as_str)
    }

    /// Whether a word is said of it.
    pub fn is(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    /// The lines that are commands, without their comments; a line that ends in a backslash goes on with the next.
    pub fn commands(&self) -> Vec<String> {
        let joined = self.text.replace("\\\n", " ");
        let lines = joined.lines().map(|l| l.split(" #").next().unwrap_or(l).trim());
        lines.filter(|l| !l.is_empty() && !l.starts_with('#')).map(String::from).collect()
    }
}

/// All fenced blocks of a page in their order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (k, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(info) => {
                open = true;
                let mut words = info.split([' ', ',']).filter(|w| !w.is_empty()).map(String::from);
                let language = words.next().unwrap_or_default();
                blocks.push(Block { line: k + 1, language, words: words.collect(), text: String::new() });
            }
            None => {
                if let Some(block) = blocks.last_mut().filter(|_| open) {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_place_and_words() {
        let page = "text\n```toml drop.toml\na = 1\n```\nmore\n```sh whole\npliant run a # far\n# no\npliant \\\n  check b\n```\n";
        let found = blocks(page);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].line, found[0].file(), found[0].text.as_str()),
            (2, Some("drop.toml"), "a = 1\n")
        );
        assert!(found[1].is("whole") && found[1].file().is_none());
        assert_eq!(found[1].commands(), ["pliant run a", "pliant    check b"]);
    }
}
