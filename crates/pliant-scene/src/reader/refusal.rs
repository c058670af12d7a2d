//! Values that are refused: what was given, what is expected, and what was probably meant.

use crate::format::{Key, ValueKind};
use crate::guesses;
use crate::keys::BODY;
use crate::record::SceneValue;
use crate::source::{Check, SourceText, Span};
use crate::suggest::nearest;
use toml::Spanned;
use toml::de::DeValue;

/// Refuses a value of the right type, and says what is allowed.
pub(super) fn refuse(check: &mut Check<'_>, at: &Span, kind: &ValueKind, key: &Key) -> Option<SceneValue> {
    let message = format!("`{}` cannot be {}", key.name, check.source.quote(at));
    check.add(at, message, wanted(kind, key));
    None
}

/// Refuses a word that is none of those there are, and says which was meant.
pub(super) fn refuse_word(
    check: &mut Check<'_>,
    at: &Span,
    word: &str,
    words: &[&str],
    kind: &ValueKind,
    key: &Key,
) -> Option<SceneValue> {
    // Words that name keys, as controls do, are known by the keys' other names too.
    let nickname = || BODY.keys().find(|k| k.also.contains(&word) && words.contains(&k.name)).map(|k| k.name);
    let guess = || guesses::shape(word).filter(|shape| key.name == "shape" && words.contains(shape));
    let meant = nickname().or_else(guess).or_else(|| nearest(word, words.iter().copied()));
    let meant = meant.map_or(String::new(), |w| format!("did you mean \"{w}\"? "));
    let message = format!("`{}` cannot be {}", key.name, check.source.quote(at));
    check.add(at, message, format!("{meant}{}", wanted(kind, key)));
    None
}

/// Refuses a value of another type.
pub(super) fn refuse_type(
    check: &mut Check<'_>,
    given: &Spanned<DeValue<'_>>,
    kind: &ValueKind,
    key: &Key,
) -> Option<SceneValue> {
    let message = format!("`{}` is {}", key.name, describe_value(check.source, given));
    check.add(&given.span(), message, wanted(kind, key));
    None
}

/// What a value is, with its text.
pub(super) fn describe_value(source: &SourceText, given: &Spanned<DeValue<'_>>) -> String {
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

/// What is expected of a key, and what it means.
pub(super) fn wanted(kind: &ValueKind, key: &Key) -> String {
    format!("give {}: {}", kind.expected(), lower(key.doc))
}

/// The first letter small, to stand after a colon; abbreviations stay.
pub(super) fn lower(doc: &str) -> String {
    let mut chars = doc.chars();
    match (chars.next(), doc.chars().nth(1)) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(chars).collect(),
        _ => doc.to_string(),
    }
}

/// The heading of a list of tables, as it is written in a file.
pub(super) fn heading(key: &Key) -> &'static str {
    match key.name {
        "pin" => "body.pin",
        "paint" => "body.paint",
        "keyframes" if matches!(key.kind, ValueKind::Tables(of) if of.title.ends_with("body")) => {
            "body.keyframes"
        }
        "keyframes" if matches!(key.kind, ValueKind::Tables(of) if of.title.ends_with("glue")) => {
            "joint.keyframes"
        }
        "keyframes" => "keyframes",
        "plane" => "plane",
        "collider" => "collider",
        "joint" => "joint",
        "glue" => "glue",
        "field" => "field",
        "constraint" => "body.constraint",
        _ => "body",
    }
}
