//! What the reader makes of a table: values that were checked against the format, with their places.

use crate::format::Table;
use crate::reader;
use crate::source::{Located, Span};
use glam::DVec3;
use std::collections::BTreeMap;

/// A checked value.
#[derive(Clone, Debug)]
pub(crate) enum SceneValue {
    Number(f64),
    Whole(u64),
    Truth(bool),
    /// Also words and colours.
    Text(String),
    List(Vec<Located<SceneValue>>),
    Record(Record),
    Records(Vec<Record>),
    Named(Vec<(Located<String>, Record)>),
}

/// A checked table. Keys with faults are absent; the faults were reported.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub at: Span,
    pub table: &'static Table,
    /// For shapes, which one it is.
    pub tag: Option<Located<&'static str>>,
    pub values: BTreeMap<&'static str, Located<SceneValue>>,
}

impl Record {
    /// What was given for a key.
    pub fn given(&self, key: &str) -> Option<&Located<SceneValue>> {
        // A key that is not in the format could never be given: asking for it is a slip in this crate.
        debug_assert!(self.table.key(key).is_some(), "no key {key} in {}", self.table.title);
        self.values.get(key)
    }

    /// What was given for a key, or its default.
    pub fn value(&self, key: &str) -> SceneValue {
        match self.given(key) {
            Some(value) => value.it.clone(),
            None => reader::default_of(self.table, key),
        }
    }

    pub fn number(&self, key: &str) -> f64 {
        self.value(key).number()
    }

    pub fn vector(&self, key: &str) -> DVec3 {
        self.value(key).vector()
    }

    pub fn whole(&self, key: &str) -> u64 {
        self.value(key).whole()
    }

    pub fn truth(&self, key: &str) -> bool {
        self.value(key).truth()
    }

    pub fn text(&self, key: &str) -> String {
        self.value(key).text().to_string()
    }

    /// The tables under a key; none if it is absent.
    pub fn records(&self, key: &str) -> &[Record] {
        match self.given(key).map(|v| &v.it) {
            Some(SceneValue::Records(list)) => list,
            _ => &[],
        }
    }

    /// The table under a key.
    pub fn record(&self, key: &str) -> Option<&Record> {
        match self.given(key).map(|v| &v.it) {
            Some(SceneValue::Record(record)) => Some(record),
            _ => None,
        }
    }

    /// The table under a key, or one in which nothing is given.
    pub fn record_or_empty(&self, key: &str, table: &'static Table) -> Record {
        self.record(key).cloned().unwrap_or_else(|| Record {
            at: self.at.clone(),
            table,
            tag: None,
            values: BTreeMap::new(),
        })
    }

    /// Where a key's value stands, or the table if it is absent.
    pub fn place(&self, key: &str) -> &Span {
        self.values.get(key).map_or(&self.at, |v| &v.at)
    }
}

/// The format fixes each key's kind and the reader has checked it, so another kind here is a slip in this
/// crate; the test that reads every key's example would meet it.
impl SceneValue {
    pub fn number(&self) -> f64 {
        match self {
            SceneValue::Number(v) => *v,
            other => unreachable!("{other:?} was read where the format has a number"),
        }
    }

    pub fn whole(&self) -> u64 {
        match self {
            SceneValue::Whole(v) => *v,
            other => unreachable!("{other:?} was read where the format has a whole number"),
        }
    }

    pub fn truth(&self) -> bool {
        match self {
            SceneValue::Truth(v) => *v,
            other => unreachable!("{other:?} was read where the format has true or false"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            SceneValue::Text(v) => v,
            other => unreachable!("{other:?} was read where the format has text"),
        }
    }

    pub fn list(&self) -> &[Located<SceneValue>] {
        match self {
            SceneValue::List(v) => v,
            other => unreachable!("{other:?} was read where the format has a list"),
        }
    }

    pub fn vector(&self) -> DVec3 {
        match self.list() {
            [x, y, z] => DVec3::new(x.it.number(), y.it.number(), z.it.number()),
            other => unreachable!("{other:?} was read where the format has three numbers"),
        }
    }
}
