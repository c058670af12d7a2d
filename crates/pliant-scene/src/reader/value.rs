//! Values along the format: one function for each kind that is made of others.

use super::refusal::{describe_value, heading, refuse, refuse_type, refuse_word, wanted};
use super::table;
use crate::color;
use crate::format::{Key, Table, ValueKind};
use crate::record::{Record, SceneValue};
use crate::source::{Check, Located, Span};
use crate::suggest::list;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The tables a value may be, by the word of its key `kind`.
type Variants = &'static [(&'static str, &'static Table)];

/// Reads one value; `None` if it was refused.
pub(super) fn value(
    check: &mut Check<'_>,
    given: &Spanned<DeValue<'_>>,
    kind: &'static ValueKind,
    key: &Key,
) -> Option<SceneValue> {
    let at = given.span();
    match (kind, given.get_ref()) {
        (ValueKind::Number(range), DeValue::Integer(_) | DeValue::Float(_)) => {
            let number = number(given.get_ref());
            match range.contains(number) {
                true => Some(SceneValue::Number(number)),
                false => refuse(check, &at, kind, key),
            }
        }
        (ValueKind::Whole(lo, hi), DeValue::Integer(_) | DeValue::Float(_)) => {
            let number = whole(given.get_ref());
            match number.filter(|n| (lo..=hi).contains(&n)) {
                Some(number) => Some(SceneValue::Whole(number)),
                None => refuse(check, &at, kind, key),
            }
        }
        (ValueKind::Truth, DeValue::Boolean(truth)) => Some(SceneValue::Truth(*truth)),
        (ValueKind::Text, DeValue::String(text)) => {
            match text.trim().is_empty() || text.chars().any(char::is_control) {
                true => refuse(check, &at, kind, key),
                false => Some(SceneValue::Text(text.to_string())),
            }
        }
        (ValueKind::HexColor, DeValue::String(text)) => match color::parse_hex(text) {
            Some(_) => Some(SceneValue::Text(text.to_string())),
            None => refuse(check, &at, kind, key),
        },
        (ValueKind::Word(words), DeValue::String(text)) => match words.iter().find(|w| *w == text) {
            Some(word) => Some(SceneValue::Text(word.to_string())),
            None => refuse_word(check, &at, text, words, kind, key),
        },
        (ValueKind::Tuple(..), DeValue::Array(items)) => tuple(check, items, at, kind, key),
        (ValueKind::List(..), DeValue::Array(items)) => values_of_list(check, items, at, kind, key),
        (ValueKind::Table(form), DeValue::Table(items)) => one_table(check, items, at, form, key),
        (ValueKind::Tables(form), DeValue::Array(items)) => Some(tables(check, items, form, kind, key)),
        (ValueKind::Tables(_) | ValueKind::List(ValueKind::Tagged(_), ..), DeValue::Table(_)) => {
            check.add(
                &at,
                format!("`{}` needs double brackets", key.name),
                format!("there can be several: write the heading as [[{}]]", heading(key)),
            );
            None
        }
        (ValueKind::Named(form), DeValue::Table(items)) => Some(named_tables(check, items, form, key)),
        (ValueKind::Tagged(variants), DeValue::String(word)) => {
            let (name, form) = variant(check, variants, word, &at, kind, key)?;
            let tag = Located { at: at.clone(), it: name };
            faultless(check, |check| table(check, &DeTable::new(), at, form, Some(tag)))
        }
        (ValueKind::Tagged(variants), DeValue::Table(items)) => {
            tagged_table(check, items, at, variants, kind, key)
        }
        (ValueKind::Either(kinds), given_value) => match kinds.iter().find(|k| fits(k, given_value)) {
            Some(kind) => value(check, given, kind, key),
            None => refuse_type(check, given, kind, key),
        },
        _ => refuse_type(check, given, kind, key),
    }
}

/// Values of a kind each, in their order.
fn tuple(
    check: &mut Check<'_>,
    items: &DeArray<'_>,
    at: Span,
    kind: &'static ValueKind,
    key: &Key,
) -> Option<SceneValue> {
    let ValueKind::Tuple(kinds, fewest, _) = kind else { return None };
    if !(*fewest..=kinds.len()).contains(&items.len()) {
        return refuse(check, &at, kind, key);
    }
    let read = |(item, of): (&Spanned<DeValue<'_>>, &'static ValueKind)| {
        value(check, item, of, key).map(|it| Located { at: item.span(), it })
    };
    // Each is read before any is missed: all faults at once.
    let values: Vec<Option<Located<SceneValue>>> = items.iter().zip(*kinds).map(read).collect();
    values.into_iter().collect::<Option<_>>().map(SceneValue::List)
}

/// Values of one kind, as many as are allowed.
fn values_of_list(
    check: &mut Check<'_>,
    items: &DeArray<'_>,
    at: Span,
    kind: &'static ValueKind,
    key: &Key,
) -> Option<SceneValue> {
    let ValueKind::List(of, lo, hi) = kind else { return None };
    let before = check.problems.len();
    if !(*lo..=*hi).contains(&items.len()) {
        let count = items.len();
        let have = if count == 1 { "1 value".into() } else { format!("{count} values") };
        check.add(&at, format!("`{}` has {have}", key.name), wanted(kind, key));
    }
    let mut values = Vec::with_capacity(items.len());
    for item in items.iter() {
        if let Some(it) = value(check, item, of, key) {
            values.push(Located { at: item.span(), it });
        }
    }
    (check.problems.len() == before).then_some(SceneValue::List(values))
}

/// A table. One with faults is kept: the faults are reported, the rest of it is still checked.
fn one_table(
    check: &mut Check<'_>,
    items: &DeTable<'_>,
    at: Span,
    form: &'static Table,
    key: &Key,
) -> Option<SceneValue> {
    let before = check.problems.len();
    let record = table(check, items, at, form, None);
    let inline = matches!(key.kind, ValueKind::Either(_)) || form.keys().all(|k| k.required);
    (!inline || check.problems.len() == before).then_some(SceneValue::Record(record))
}

/// Any number of tables; what is none is reported.
fn tables(
    check: &mut Check<'_>,
    items: &DeArray<'_>,
    form: &'static Table,
    kind: &ValueKind,
    key: &Key,
) -> SceneValue {
    let mut records = Vec::new();
    for item in items.iter() {
        match item.get_ref() {
            DeValue::Table(inner) => records.push(table(check, inner, item.span(), form, None)),
            _ => {
                refuse(check, &item.span(), kind, key);
            }
        }
    }
    SceneValue::Records(records)
}

/// Tables with names of the user's; what is none is reported.
fn named_tables(check: &mut Check<'_>, items: &DeTable<'_>, form: &'static Table, key: &Key) -> SceneValue {
    let mut named = Vec::new();
    for (name, item) in items {
        match item.get_ref() {
            DeValue::Table(inner) => {
                let (it, place) = (name.get_ref().to_string(), name.span());
                let record = table(check, inner, item.span(), form, None);
                named.push((Located { at: place, it }, record));
            }
            _ => check.add(
                &item.span(),
                format!("`{}` in [{}] is {}", name.get_ref(), key.name, describe_value(check.source, item)),
                format!("write a heading [{}.{}] and the keys under it", key.name, name.get_ref()),
            ),
        }
    }
    SceneValue::Named(named)
}

/// A table whose key `kind` says which others it has.
fn tagged_table(
    check: &mut Check<'_>,
    items: &DeTable<'_>,
    at: Span,
    variants: Variants,
    kind: &ValueKind,
    key: &Key,
) -> Option<SceneValue> {
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
    let located = Located { at: tag.span(), it: name };
    faultless(check, |check| table(check, items, at, form, Some(located)))
}

/// What is read, unless a fault was reported meanwhile.
fn faultless(check: &mut Check<'_>, read: impl FnOnce(&mut Check<'_>) -> Record) -> Option<SceneValue> {
    let before = check.problems.len();
    let record = read(check);
    (check.problems.len() == before).then_some(SceneValue::Record(record))
}

/// The table of a word; one that is none of them is reported.
fn variant(
    check: &mut Check<'_>,
    variants: Variants,
    word: &str,
    at: &Span,
    kind: &ValueKind,
    key: &Key,
) -> Option<(&'static str, &'static Table)> {
    let found = variants.iter().find(|v| v.0 == word);
    if found.is_none() {
        let words: Vec<&str> = variants.iter().map(|v| v.0).collect();
        refuse_word(check, at, word, &words, kind, key);
    }
    found.copied()
}

/// Whether a value is of the TOML type of a kind.
fn fits(kind: &ValueKind, value: &DeValue<'_>) -> bool {
    match kind {
        ValueKind::Number(_) | ValueKind::Whole(..) => {
            matches!(value, DeValue::Integer(_) | DeValue::Float(_))
        }
        ValueKind::Truth => value.is_bool(),
        ValueKind::Text | ValueKind::HexColor | ValueKind::Word(_) => value.is_str(),
        ValueKind::List(..) | ValueKind::Tuple(..) | ValueKind::Tables(_) => value.is_array(),
        ValueKind::Table(_) | ValueKind::Named(_) => value.is_table(),
        ValueKind::Tagged(_) => value.is_table() || value.is_str(),
        ValueKind::Either(kinds) => kinds.iter().any(|k| fits(k, value)),
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
