//! The words in which the keys of a scene file are described: one description, from which the reader
//! checks and the schema is written, so that the two cannot drift apart.

/// Keys that stand together in a table.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it is, for messages: "a body".
    pub title: &'static str,
    /// Its keys, in groups so that tables can share some.
    pub groups: &'static [&'static [Key]],
    /// What holds between keys.
    pub rules: &'static [Rule],
}

impl Table {
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        let groups = self.groups;
        groups.iter().flat_map(|group| group.iter())
    }

    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|k| k.name == name)
    }
}

/// What holds between keys of a table.
#[derive(Debug)]
pub(crate) enum Rule {
    /// They say the same thing in different ways: at most one may be given.
    AtMostOne(&'static [&'static str]),
    /// One of them must be given, and only one.
    ExactlyOne(&'static [&'static str]),
    /// The first makes sense only with the second.
    Needs(&'static str, &'static str),
}

/// A key and what may stand after it.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: ValueKind,
    /// One sentence, with the unit.
    pub doc: &'static str,
    /// TOML of the value taken if the key is left out; empty if there is no fixed one.
    pub default: &'static str,
    /// TOML of a value that makes sense, where the default does not show one.
    pub example: &'static str,
    pub required: bool,
    /// What else people call it; only to suggest the right name.
    pub also: &'static [&'static str],
}

impl Key {
    pub const fn new(name: &'static str, kind: ValueKind, doc: &'static str) -> Key {
        Key { name, kind, doc, default: "", example: "", required: false, also: &[] }
    }

    pub const fn default(mut self, toml: &'static str) -> Key {
        self.default = toml;
        self
    }

    pub const fn example(mut self, toml: &'static str) -> Key {
        self.example = toml;
        self
    }

    pub const fn required(mut self) -> Key {
        self.required = true;
        self
    }

    pub const fn also(mut self, names: &'static [&'static str]) -> Key {
        self.also = names;
        self
    }
}

/// What a value may be.
#[derive(Debug)]
pub(crate) enum ValueKind {
    /// A real number.
    Number(NumberRange),
    /// A whole number, from and to.
    Whole(u64, u64),
    /// `true` or `false`.
    Truth,
    /// Any text that is not empty.
    Text,
    /// A colour as `#rrggbb` or `#rgb`.
    HexColor,
    /// One of some words.
    Word(&'static [&'static str]),
    /// Values of one kind; fewest and most.
    List(&'static ValueKind, usize, usize),
    /// Values of a kind each, in this order; how many of them must be there, and how it reads.
    Tuple(&'static [ValueKind], usize, &'static str),
    /// One table.
    Table(&'static Table),
    /// Any number of tables, `[[like.this]]`.
    Tables(&'static Table),
    /// Any number of tables with names of the user's, `[like.this]`.
    Named(&'static Table),
    /// A table whose key `kind` says which others it has; the word alone takes their defaults.
    Tagged(&'static [(&'static str, &'static Table)]),
    /// One of several kinds, told apart by their TOML types.
    Either(&'static [ValueKind]),
}

/// Numbers that are allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberRange {
    pub lo: f64,
    pub hi: f64,
    /// Whether `lo` itself is not allowed.
    pub above: bool,
    /// Whether infinity is allowed beyond `hi`.
    pub infinite: bool,
}

impl NumberRange {
    pub const fn new(lo: f64, hi: f64) -> NumberRange {
        NumberRange { lo, hi, above: false, infinite: false }
    }

    pub const fn above(lo: f64, hi: f64) -> NumberRange {
        NumberRange { above: true, ..NumberRange::new(lo, hi) }
    }

    pub const fn or_infinite(mut self) -> NumberRange {
        self.infinite = true;
        self
    }

    pub fn contains(&self, v: f64) -> bool {
        let low = if self.above { v > self.lo } else { v >= self.lo };
        (low && v <= self.hi) || (self.infinite && v == f64::INFINITY)
    }

    pub fn describe(&self) -> String {
        let [lo, hi] = [self.lo, self.hi].map(short);
        let text = if self.above { format!("above {lo}, up to {hi}") } else { format!("from {lo} to {hi}") };
        if self.infinite { text + ", or inf" } else { text }
    }
}

/// A number as people write it: 89, 0.01, 1e9.
fn short(v: f64) -> String {
    match v.abs() {
        0.0 | 1e-4..1e6 => format!("{v}"),
        _ => format!("{v:e}"),
    }
}

impl ValueKind {
    /// What is expected, for messages.
    pub fn expected(&self) -> String {
        match self {
            ValueKind::Number(range) => format!("a number {}", range.describe()),
            ValueKind::Whole(lo, hi) if *hi >= i64::MAX as u64 => format!("a whole number of at least {lo}"),
            ValueKind::Whole(lo, hi) => format!("a whole number from {lo} to {hi}"),
            ValueKind::Truth => "true or false".into(),
            ValueKind::Text => "text in quotes".into(),
            ValueKind::Tuple(_, _, form) => (*form).into(),
            ValueKind::HexColor => "a colour as \"#rrggbb\"".into(),
            ValueKind::Word(words) => {
                let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
                match words.len() {
                    1 => quoted.concat(),
                    _ => format!("one of {}", quoted.join(", ")),
                }
            }
            ValueKind::List(of, lo, hi) => {
                let many = match (*lo, *hi) {
                    (lo, hi) if lo == hi => format!("a list of {lo}"),
                    (0, _) => "a list".into(),
                    (lo, hi) if hi > 10_000 => format!("a list of at least {lo}"),
                    (lo, hi) => format!("a list of {lo} to {hi}"),
                };
                let each = match of {
                    ValueKind::Number(r) => format!("numbers {}", r.describe()),
                    ValueKind::Text => "texts in quotes".into(),
                    ValueKind::Whole(..) => "whole numbers".into(),
                    ValueKind::Tuple(..) | ValueKind::Tagged(_) => format!("entries, each {}", of.expected()),
                    other => format!("words, each {}", other.expected()),
                };
                match many.as_str() {
                    "a list" => format!("a list of {each}"),
                    _ => format!("{many} {each}"),
                }
            }
            ValueKind::Table(table) => {
                let names: Vec<&str> = table.keys().map(|k| k.name).collect();
                format!("a table with keys {}", crate::suggest::list(&names, "and"))
            }
            ValueKind::Tables(_) => "tables, each under a heading in double brackets".into(),
            ValueKind::Named(_) => "tables with names of your own".into(),
            ValueKind::Tagged(variants) => {
                let words: Vec<String> = variants.iter().map(|v| format!("\"{}\"", v.0)).collect();
                format!("one of {}, or a table {{ kind = \"…\", … }} with one of these", words.join(", "))
            }
            ValueKind::Either(kinds) => {
                let all: Vec<String> = kinds.iter().map(ValueKind::expected).collect();
                all.join(", or ")
            }
        }
    }
}

/// Largest coordinate, speed or other component of a vector.
pub(crate) const COORDINATE: f64 = 1e9;

/// Most particles of a whole scene: what the projective solver's matrix of them still fits a usual machine with.
pub(crate) const MOST_PARTICLES: usize = 5_000_000;
