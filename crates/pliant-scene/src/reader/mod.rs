//! Walks the parsed text along the format: every misspelt key, wrong type and value out of range is
//! reported, none stops the walk.

mod refusal;
mod unknown_key;
mod value;

use crate::format::{Key, Rule, Table};
use crate::keys::SCENE;
use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, SourceText, Span};
use crate::suggest::list;
use refusal::lower;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use value::value;

/// Reads a whole scene. `None` if the text is no TOML; otherwise what of it is right.
pub(crate) fn read(check: &mut Check<'_>) -> Option<Record> {
    let (document, faults) = DeTable::parse_recoverable(&check.source.text);
    let mut walk = Check::new(check.source);
    let record = table(&mut walk, document.get_ref(), 0..0, &SCENE, None);
    if faults.is_empty() {
        check.problems.append(&mut walk.problems);
        return Some(record);
    }
    syntax(check, &faults, walk);
    None
}

/// Most syntax errors that are shown: a bracket left open makes an error of every line after it.
const MOST_SYNTAX: usize = 5;

/// Reports what is no TOML, and what the walk found on other lines if the structure seems whole.
fn syntax(check: &mut Check<'_>, faults: &[toml::de::Error], walk: Check<'_>) {
    let mut placed: Vec<(Span, String)> =
        faults.iter().map(|f| (f.span().unwrap_or(0..0), f.message().to_string())).collect();
    placed.sort_by_key(|(at, _)| at.start);
    let mut lines: Vec<usize> = Vec::new();
    let mut damaged = false;
    for (at, message) in placed {
        damaged |= message.contains("unclosed") || message.contains("missing comma");
        let line = check.source.place(at.start).0;
        if lines.contains(&line) {
            continue;
        }
        lines.push(line);
        if lines.len() <= MOST_SYNTAX {
            let help = if message.contains("duplicate") {
                "a key can stand only once in its table: remove one"
            } else if message.contains("must be quoted") {
                "put text in quotes: \"…\""
            } else {
                "scene files are TOML: `key = value` lines, text in quotes, headings in brackets; see toml.io"
            };
            check.add(&at, format!("this is not TOML: {message}"), help);
        }
    }
    if !damaged {
        let elsewhere = |p: &crate::Diagnostic| p.place.is_some_and(|(line, _)| !lines.contains(&line));
        let missing = |p: &crate::Diagnostic| p.message.contains("missing");
        let more = walk.problems.into_iter().filter(|p| elsewhere(p) && !missing(p));
        check.problems.extend(more);
    }
}

/// The default of a key, as if it had been given.
pub(crate) fn default_of(table: &Table, key: &str) -> SceneValue {
    let Some(key) = table.key(key) else { unreachable!("the format of {} has no key {key}", table.title) };
    match parse_literal(key, key.default) {
        Ok(value) => value,
        Err(why) => unreachable!("the default of {} is wrong: {why}", key.name),
    }
}

/// A value for a key from TOML text, checked as if it stood in a scene.
pub(crate) fn parse_literal(key: &'static Key, toml: &str) -> Result<SceneValue, String> {
    let source = SourceText { file: "format".into(), text: toml.to_string(), around: None };
    let mut check = Check::new(&source);
    let parsed = DeValue::parse(toml).map_err(|e| e.to_string())?;
    let value = value(&mut check, &parsed, &key.kind, key);
    match (value, check.finish(())) {
        (Some(value), Ok(())) => Ok(value),
        (_, problems) => Err(format!("{problems:?}")),
    }
}

fn table(
    check: &mut Check<'_>,
    from: &DeTable<'_>,
    at: Span,
    form: &'static Table,
    tag: Option<Located<&'static str>>,
) -> Record {
    let mut values = BTreeMap::new();
    let mut present: BTreeMap<&str, Span> = BTreeMap::new();
    for (name, given) in from {
        if tag.is_some() && name.get_ref() == "kind" {
            continue;
        }
        match form.key(name.get_ref()) {
            None => unknown_key::refuse_unknown(check, name.get_ref(), &name.span(), form, tag.is_some()),
            Some(key) => {
                present.insert(key.name, name.span());
                if let Some(it) = value(check, given, &key.kind, key) {
                    values.insert(key.name, Located { at: given.span(), it });
                }
            }
        }
    }
    for key in form.keys().filter(|k| k.required && !present.contains_key(k.name)) {
        check.add(
            &at,
            format!("`{}` is missing in {}", key.name, form.title),
            format!("add it, as `{} = {}`: {}", key.name, key.example, lower(key.doc)),
        );
    }
    rules(check, form, &present, &at);
    Record { at, table: form, tag, values }
}

fn rules(check: &mut Check<'_>, form: &Table, present: &BTreeMap<&str, Span>, at: &Span) {
    for rule in form.rules {
        match rule {
            Rule::AtMostOne(names) | Rule::ExactlyOne(names) => {
                let mut given: Vec<&str> =
                    names.iter().copied().filter(|n| present.contains_key(n)).collect();
                given.sort_by_key(|n| present[n].start);
                if let [.., last] = given[..]
                    && given.len() > 1
                {
                    check.add(
                        &present[last],
                        format!("{} contradict each other in {}", list(&given, "and"), form.title),
                        "they set the same thing: keep one of them",
                    );
                } else if given.is_empty() && matches!(rule, Rule::ExactlyOne(_)) {
                    check.add(
                        at,
                        format!("{} is missing in {}", list(names, "or"), form.title),
                        format!("add one of {}", list(names, "and")),
                    );
                }
            }
            Rule::Needs(first, second) => {
                if let Some(at) = present.get(first)
                    && !present.contains_key(second)
                {
                    check.add(
                        at,
                        format!(
                            "`{first}` does nothing without `{second}`; `{second}` is missing in {}",
                            form.title
                        ),
                        format!("add `{second}`, or remove `{first}`"),
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ValueKind;

    /// Every table of the format, once.
    fn tables() -> Vec<&'static Table> {
        fn visit(table: &'static Table, all: &mut Vec<&'static Table>) {
            if all.iter().any(|t| std::ptr::eq(*t, table)) {
                return;
            }
            all.push(table);
            for key in table.keys() {
                visit_kind(&key.kind, all);
            }
        }
        fn visit_kind(kind: &'static ValueKind, all: &mut Vec<&'static Table>) {
            match kind {
                ValueKind::Table(t) | ValueKind::Tables(t) | ValueKind::Named(t) => visit(t, all),
                ValueKind::Tagged(variants) => variants.iter().for_each(|v| visit(v.1, all)),
                ValueKind::Either(kinds) => kinds.iter().for_each(|k| visit_kind(k, all)),
                _ => {}
            }
        }
        let mut all = Vec::new();
        visit(&SCENE, &mut all);
        all
    }

    #[test]
    fn every_default_and_example_is_allowed_by_its_own_key() {
        for table in tables() {
            for key in table.keys() {
                assert!(
                    !key.default.is_empty() || !key.example.is_empty(),
                    "{} of {} shows no value",
                    key.name,
                    table.title
                );
                for toml in [key.default, key.example].into_iter().filter(|t| !t.is_empty()) {
                    if let Err(why) = parse_literal(key, toml) {
                        panic!("{} = {toml} of {}: {why}", key.name, table.title);
                    }
                }
            }
        }
    }

    #[test]
    fn no_table_has_a_key_twice_and_rules_name_keys() {
        for table in tables() {
            let mut names: Vec<&str> = table.keys().map(|k| k.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", table.title);
            for rule in table.rules {
                let named: Vec<&str> = match rule {
                    Rule::AtMostOne(names) | Rule::ExactlyOne(names) => names.to_vec(),
                    Rule::Needs(a, b) => vec![a, b],
                };
                assert!(named.iter().all(|n| table.key(n).is_some()), "{rule:?}");
            }
        }
    }
}
