//! A key that a table does not have: what was meant, or what there is.

use crate::format::{Table, ValueKind};
use crate::guesses;
use crate::keys::{SCENE, groups};
use crate::source::{Check, Span};
use crate::suggest::{likely, list, nearest};

/// Keys of a table up to which all are named to somebody who missed one.
const MOST_LISTED: usize = 20;

/// Of a larger table, how many that look like it.
const MOST_LIKELY: usize = 3;

/// Refuses a key that does not exist, and says which was meant.
pub(super) fn refuse_unknown(check: &mut Check<'_>, name: &str, at: &Span, form: &Table, tagged: bool) {
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
    let elsewhere = tables_with(name);
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
fn tables_with(name: &str) -> Vec<&'static str> {
    fn visit(table: &'static Table, name: &str, found: &mut Vec<&'static str>) {
        if table.key(name).is_some() && !found.contains(&table.title) {
            found.push(table.title);
        }
        for key in table.keys() {
            match &key.kind {
                ValueKind::Table(t) | ValueKind::Tables(t) | ValueKind::Named(t) => visit(t, name, found),
                ValueKind::Tagged(variants) | ValueKind::List(ValueKind::Tagged(variants), ..) => {
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
