//! What a reader passed over, dropped or mended: each kind once, with how often and where first.

/// Notes of one file.
#[derive(Default)]
pub(crate) struct Notes {
    kinds: Vec<Note>,
}

struct Note {
    text: String,
    first: String,
    times: usize,
}

impl Notes {
    /// Something worth saying once.
    pub fn say(&mut self, text: impl Into<String>) {
        self.kinds.push(Note { text: text.into(), first: String::new(), times: 1 });
    }

    /// One more of a kind; `place` says where it is and is asked the first time only.
    pub fn count(&mut self, kind: &str, place: impl FnOnce() -> String) {
        match self.kinds.iter_mut().find(|n| n.text == kind) {
            Some(note) => note.times += 1,
            None => self.kinds.push(Note { text: kind.into(), first: place(), times: 1 }),
        }
    }

    /// The notes in order of first occurrence.
    pub fn finish(self) -> Vec<String> {
        let sentence = |n: Note| match (n.times, n.first.as_str()) {
            (_, "") => n.text,
            (1, first) => format!("{} ({first})", n.text),
            (times, first) => format!("{} ({times} times, first: {first})", n.text),
        };
        self.kinds.into_iter().map(sentence).collect()
    }
}

/// What to say of a file without faces.
pub(super) const POINTS_ONLY: &str = "there are no faces: the vertices are a point cloud";
