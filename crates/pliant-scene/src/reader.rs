//! Walks the parsed text along the format: every misspelt key, wrong type and value out of range is
//! reported, none stops the walk.

use crate::format::{Key, Kind, Rule, Table};
use crate::guesses;
use crate::keys::{BODY, SCENE, groups};
use crate::record::{Datum, Record};
use crate::source::{Check, Placed, Source, Span};
use crate::suggest::{likely, list, nearest};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

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
pub(crate) fn default_of(table: &Table, key: &str) -> Datum {
    let Some(key) = table.key(key) else { unreachable!("the format of {} has no key {key}", table.title) };
    match parse_literal(key, key.default) {
        Ok(value) => value,
        Err(why) => unreachable!("the default of {} is wrong: {why}", key.name),
    }
}

/// A value for a key from TOML text, checked as if it stood in a scene.
pub(crate) fn parse_literal(key: &'static Key, toml: &str) -> Result<Datum, String> {
    let source = Source { file: "format".into(), text: toml.to_string(), around: None };
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
    tag: Option<Placed<&'static str>>,
) -> Record {
    let mut values = BTreeMap::new();
    let mut present: BTreeMap<&str, Span> = BTreeMap::new();
    for (name, given) in from {
        if tag.is_some() && name.get_ref() == "kind" {
            continue;
        }
        match form.key(name.get_ref()) {
            None => unknown(check, name.get_ref(), &name.span(), form, tag.is_some()),
            Some(key) => {
                present.insert(key.name, name.span());
                if let Some(it) = value(check, given, &key.kind, key) {
                    values.insert(key.name, Placed { at: given.span(), it });
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

/// Keys of a table up to which all are named to somebody who missed one.
const MOST_LISTED: usize = 20;

/// Of a larger table, how many that look like it.
const MOST_LIKELY: usize = 3;

/// Refuses a key that does not exist, and says which was meant.
fn unknown(check: &mut Check<'_>, name: &str, at: &Span, form: &Table, tagged: bool) {
    let mut names: Vec<&str> = form.keys().map(|k| k.name).collect();
    if tagged {
        names.insert(0, "kind");
    }
    // Other names of a key lead to it, but a key's own name goes before another's nickname.
    let aliases = || form.keys().flat_map(|k| k.also.iter().map(|also| (*also, k.name)));
    let exact = aliases().find(|(also, _)| *also == name);
    let near = || {
        let alias = nearest(name, aliases().map(|a| a.0))?;
        aliases().find(|(also, _)| *also == alias)
    };
    // What goes by this word elsewhere is told instead of the keys that happen to look alike.
    let guess = guesses::key(name).filter(|_| exact.is_none());
    if let Some(help) = guess {
        return check.add(at, format!("there is no key `{name}` in {}", form.title), help);
    }
    let own = || nearest(name, names.iter().copied());
    let right = exact.map(|a| a.1).or_else(own).or_else(|| near().map(|a| a.1));
    let elsewhere = homes(name);
    let meant = match right {
        Some(right) => format!("did you mean `{right}`? "),
        None if !elsewhere.is_empty() => format!("it is a key of {}; ", elsewhere.join(", ")),
        None => String::new(),
    };
    // Sixty words hide the one that is wanted.
    let allowed = match names.len() > MOST_LISTED {
        true => {
            let likely = likely(name, names.iter().copied(), MOST_LIKELY);
            let likely = match meant.is_empty() && !likely.is_empty() {
                true => format!("nearest to it are {}; ", list(&likely, "and")),
                false => String::new(),
            };
            let groups = match groups(form).filter(|_| meant.is_empty()) {
                Some(groups) => format!(" for {groups}"),
                None => String::new(),
            };
            format!(
                "{likely}{} has {} keys{groups}, which `pliant schema` lists with what they mean",
                form.title,
                names.len()
            )
        }
        false => format!("allowed here: {}", list(&names, "and")),
    };
    check.add(at, format!("there is no key `{name}` in {}", form.title), format!("{meant}{allowed}"));
}

/// The tables of the format that have a key of this name.
fn homes(name: &str) -> Vec<&'static str> {
    fn visit(table: &'static Table, name: &str, found: &mut Vec<&'static str>) {
        if table.key(name).is_some() && !found.contains(&table.title) {
            found.push(table.title);
        }
        for key in table.keys() {
            match &key.kind {
                Kind::Table(t) | Kind::Tables(t) | Kind::Named(t) => visit(t, name, found),
                Kind::Tagged(variants) | Kind::List(Kind::Tagged(variants), ..) => {
                    variants.iter().for_each(|v| visit(v.1, name, found));
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    visit(&SCENE, name, &mut found);
    found
}

/// Reads one value; `None` if it was refused.
fn value(
    check: &mut Check<'_>,
    given: &Spanned<DeValue<'_>>,
    kind: &'static Kind,
    key: &Key,
) -> Option<Datum> {
    let at = given.span();
    match (kind, given.get_ref()) {
        (Kind::Number(range), DeValue::Integer(_) | DeValue::Float(_)) => {
            let number = number(given.get_ref());
            match range.contains(number) {
                true => Some(Datum::Number(number)),
                false => refuse(check, &at, kind, key),
            }
        }
        (Kind::Whole(lo, hi), DeValue::Integer(_) | DeValue::Float(_)) => {
            let number = whole(given.get_ref());
            match number.filter(|n| (lo..=hi).contains(&n)) {
                Some(number) => Some(Datum::Whole(number)),
                None => refuse(check, &at, kind, key),
            }
        }
        (Kind::Truth, DeValue::Boolean(truth)) => Some(Datum::Truth(*truth)),
        (Kind::Text, DeValue::String(text)) => {
            match text.trim().is_empty() || text.chars().any(char::is_control) {
                true => refuse(check, &at, kind, key),
                false => Some(Datum::Text(text.to_string())),
            }
        }
        (Kind::HexColor, DeValue::String(text)) => match crate::color::parse_hex(text) {
            Some(_) => Some(Datum::Text(text.to_string())),
            None => refuse(check, &at, kind, key),
        },
        (Kind::Word(words), DeValue::String(text)) => match words.iter().find(|w| *w == text) {
            Some(word) => Some(Datum::Text(word.to_string())),
            None => word_refused(check, &at, text, words, kind, key),
        },
        (Kind::Tuple(kinds, fewest, _), DeValue::Array(items)) => {
            if !(*fewest..=kinds.len()).contains(&items.len()) {
                return refuse(check, &at, kind, key);
            }
            let read = |(item, of): (&Spanned<DeValue<'_>>, &'static Kind)| {
                value(check, item, of, key).map(|it| Placed { at: item.span(), it })
            };
            // Each is read before any is missed: all faults at once.
            let values: Vec<Option<Placed<Datum>>> = items.iter().zip(*kinds).map(read).collect();
            values.into_iter().collect::<Option<_>>().map(Datum::List)
        }
        (Kind::List(of, lo, hi), DeValue::Array(items)) => {
            let before = check.problems.len();
            if !(*lo..=*hi).contains(&items.len()) {
                let count = items.len();
                let have = if count == 1 { "1 value".into() } else { format!("{count} values") };
                check.add(&at, format!("`{}` has {have}", key.name), wanted(kind, key));
            }
            let mut values = Vec::with_capacity(items.len());
            for item in items.iter() {
                if let Some(it) = value(check, item, of, key) {
                    values.push(Placed { at: item.span(), it });
                }
            }
            (check.problems.len() == before).then_some(Datum::List(values))
        }
        (Kind::Table(form), DeValue::Table(items)) => {
            let before = check.problems.len();
            let record = table(check, items, at, form, None);
            // A table with faults is kept: the faults are reported, the rest of it is still checked.
            let inline = matches!(key.kind, Kind::Either(_)) || form.keys().all(|k| k.required);
            (!inline || check.problems.len() == before).then_some(Datum::Record(record))
        }
        (Kind::Tables(form), DeValue::Array(items)) => {
            let mut records = Vec::new();
            for item in items.iter() {
                match item.get_ref() {
                    DeValue::Table(inner) => records.push(table(check, inner, item.span(), form, None)),
                    _ => {
                        refuse(check, &item.span(), kind, key);
                    }
                }
            }
            Some(Datum::Records(records))
        }
        (Kind::Tables(_) | Kind::List(Kind::Tagged(_), ..), DeValue::Table(_)) => {
            check.add(
                &at,
                format!("`{}` needs double brackets", key.name),
                format!("there can be several: write the heading as [[{}]]", heading(key)),
            );
            None
        }
        (Kind::Named(form), DeValue::Table(items)) => {
            let mut named = Vec::new();
            for (name, item) in items {
                match item.get_ref() {
                    DeValue::Table(inner) => {
                        let (it, place) = (name.get_ref().to_string(), name.span());
                        let record = table(check, inner, item.span(), form, None);
                        named.push((Placed { at: place, it }, record));
                    }
                    _ => check.add(
                        &item.span(),
                        format!("`{}` in [{}] is {}", name.get_ref(), key.name, said(check.source, item)),
                        format!("write a heading [{}.{}] and the keys under it", key.name, name.get_ref()),
                    ),
                }
            }
            Some(Datum::Named(named))
        }
        (Kind::Tagged(variants), DeValue::String(word)) => {
            let (name, form) = variant(check, variants, word, &at, kind, key)?;
            let tag = Placed { at: at.clone(), it: name };
            let before = check.problems.len();
            let record = table(check, &DeTable::new(), at, form, Some(tag));
            (check.problems.len() == before).then_some(Datum::Record(record))
        }
        (Kind::Tagged(variants), DeValue::Table(items)) => {
            let Some(tag) = items.get("kind") else {
                let words: Vec<&str> = variants.iter().map(|v| v.0).collect();
                check.add(
                    &at,
                    format!("`kind` is missing in `{}`", key.name),
                    format!("say which it is: kind = {}", list(&words, "or").replace('`', "\"")),
                );
                return None;
            };
            let DeValue::String(word) = tag.get_ref() else {
                return refuse(check, &tag.span(), kind, key);
            };
            let (name, form) = variant(check, variants, word, &tag.span(), kind, key)?;
            let placed = Placed { at: tag.span(), it: name };
            let before = check.problems.len();
            let record = table(check, items, at, form, Some(placed));
            (check.problems.len() == before).then_some(Datum::Record(record))
        }
        (Kind::Either(kinds), given_value) => match kinds.iter().find(|k| fits(k, given_value)) {
            Some(kind) => value(check, given, kind, key),
            None => mistyped(check, given, kind, key),
        },
        _ => mistyped(check, given, kind, key),
    }
}

fn variant(
    check: &mut Check<'_>,
    variants: &'static [(&'static str, &'static Table)],
    word: &str,
    at: &Span,
    kind: &Kind,
    key: &Key,
) -> Option<(&'static str, &'static Table)> {
    let found = variants.iter().find(|v| v.0 == word);
    if found.is_none() {
        let words: Vec<&str> = variants.iter().map(|v| v.0).collect();
        word_refused(check, at, word, &words, kind, key);
    }
    found.copied()
}

/// Whether a value is of the TOML type of a kind.
fn fits(kind: &Kind, value: &DeValue<'_>) -> bool {
    match kind {
        Kind::Number(_) | Kind::Whole(..) => matches!(value, DeValue::Integer(_) | DeValue::Float(_)),
        Kind::Truth => value.is_bool(),
        Kind::Text | Kind::HexColor | Kind::Word(_) => value.is_str(),
        Kind::List(..) | Kind::Tuple(..) | Kind::Tables(_) => value.is_array(),
        Kind::Table(_) | Kind::Named(_) => value.is_table(),
        Kind::Tagged(_) => value.is_table() || value.is_str(),
        Kind::Either(kinds) => kinds.iter().any(|k| fits(k, value)),
    }
}

fn number(value: &DeValue<'_>) -> f64 {
    match value {
        // Whole numbers too large for 128 bits are beyond every range.
        DeValue::Integer(i) => i128::from_str_radix(i.as_str(), i.radix()).map_or(f64::NAN, |v| v as f64),
        DeValue::Float(f) => f.as_str().parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// A whole number; one written as `5.0` is fine.
fn whole(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(i) => u64::from_str_radix(i.as_str(), i.radix()).ok(),
        _ => {
            let v = number(value);
            (v.fract() == 0.0 && (0.0..9e15).contains(&v)).then_some(v as u64)
        }
    }
}

fn refuse(check: &mut Check<'_>, at: &Span, kind: &Kind, key: &Key) -> Option<Datum> {
    let message = format!("`{}` cannot be {}", key.name, check.source.quote(at));
    check.add(at, message, wanted(kind, key));
    None
}

fn word_refused(
    check: &mut Check<'_>,
    at: &Span,
    word: &str,
    words: &[&str],
    kind: &Kind,
    key: &Key,
) -> Option<Datum> {
    // Words that name keys, as controls do, are known by the keys' other names too.
    let nickname = || BODY.keys().find(|k| k.also.contains(&word) && words.contains(&k.name)).map(|k| k.name);
    let guess = || guesses::shape(word).filter(|shape| key.name == "shape" && words.contains(shape));
    let meant = nickname().or_else(guess).or_else(|| nearest(word, words.iter().copied()));
    let meant = meant.map_or(String::new(), |w| format!("did you mean \"{w}\"? "));
    let message = format!("`{}` cannot be {}", key.name, check.source.quote(at));
    check.add(at, message, format!("{meant}{}", wanted(kind, key)));
    None
}

fn mistyped(check: &mut Check<'_>, given: &Spanned<DeValue<'_>>, kind: &Kind, key: &Key) -> Option<Datum> {
    let message = format!("`{}` is {}", key.name, said(check.source, given));
    check.add(&given.span(), message, wanted(kind, key));
    None
}

/// What a value is, with its text.
fn said(source: &Source, given: &Spanned<DeValue<'_>>) -> String {
    let text = source.quote(&given.span());
    match given.get_ref() {
        DeValue::String(_) => format!("the text {text}"),
        DeValue::Integer(_) | DeValue::Float(_) => format!("the number {text}"),
        DeValue::Boolean(_) => format!("the truth value {text}"),
        DeValue::Datetime(_) => format!("the date or time {text}"),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

fn wanted(kind: &Kind, key: &Key) -> String {
    format!("give {}: {}", kind.expected(), lower(key.doc))
}

/// The first letter small, to stand after a colon; abbreviations stay.
fn lower(doc: &str) -> String {
    let mut chars = doc.chars();
    match (chars.next(), doc.chars().nth(1)) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(chars).collect(),
        _ => doc.to_string(),
    }
}

/// The heading of a list of tables, as it is written in a file.
fn heading(key: &Key) -> &'static str {
    match key.name {
        "pin" => "body.pin",
        "paint" => "body.paint",
        "keyframes" if matches!(key.kind, Kind::Tables(of) if of.title.ends_with("body")) => "body.keyframes",
        "keyframes" => "keyframes",
        "plane" => "plane",
        "collider" => "collider",
        "joint" => "joint",
        "field" => "field",
        "constraint" => "body.constraint",
        _ => "body",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        fn visit_kind(kind: &'static Kind, all: &mut Vec<&'static Table>) {
            match kind {
                Kind::Table(t) | Kind::Tables(t) | Kind::Named(t) => visit(t, all),
                Kind::Tagged(variants) => variants.iter().for_each(|v| visit(v.1, all)),
                Kind::Either(kinds) => kinds.iter().for_each(|k| visit_kind(k, all)),
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
