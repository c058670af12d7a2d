//! The JSON schema of scene files, for editors: written from the same list of keys the reader follows.

use crate::format::{Key, NumberRange, Rule, Table, ValueKind};
use crate::keys::SCENE;
use serde_json::{Map, Value, json};

/// The JSON schema of scene.toml (draft 7, the one editors for TOML understand).
pub fn schema() -> String {
    let mut root = object(&SCENE, None);
    root.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
    root.insert("title".into(), json!("Pliant scene"));
    root.insert(
        "description".into(),
        json!("A scene of soft bodies. SI units, y up; angles in degrees, spins in radians per second."),
    );
    root.insert("required".into(), json!(["body"]));
    format!("{:#}\n", Value::Object(root))
}

fn object(table: &Table, tag: Option<&str>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    if let Some(tag) = tag {
        properties.insert("kind".into(), json!({ "const": tag, "description": "Which it is." }));
        required.push("kind");
    }
    for key in table.keys() {
        properties.insert(key.name.into(), property(key));
    }
    required.extend(table.keys().filter(|k| k.required).map(|k| k.name));
    let mut object = Map::new();
    object.insert("type".into(), json!("object"));
    object.insert("properties".into(), Value::Object(properties));
    object.insert("additionalProperties".into(), json!(false));
    if !required.is_empty() {
        object.insert("required".into(), json!(required));
    }
    rules(table, &mut object);
    object
}

fn rules(table: &Table, object: &mut Map<String, Value>) {
    let mut all: Vec<Value> = Vec::new();
    let mut needs = Map::new();
    for rule in table.rules {
        match rule {
            Rule::AtMostOne(names) | Rule::ExactlyOne(names) => {
                for (i, a) in names.iter().enumerate() {
                    all.extend(names[..i].iter().map(|b| json!({ "not": { "required": [b, a] } })));
                }
                if matches!(rule, Rule::ExactlyOne(_)) {
                    let any: Vec<Value> = names.iter().map(|n| json!({ "required": [n] })).collect();
                    all.push(json!({ "anyOf": any }));
                }
            }
            Rule::Needs(first, second) => {
                needs.insert((*first).into(), json!([second]));
            }
        }
    }
    if !all.is_empty() {
        object.insert("allOf".into(), Value::Array(all));
    }
    if !needs.is_empty() {
        object.insert("dependencies".into(), Value::Object(needs));
    }
}

fn property(key: &Key) -> Value {
    let mut value = kind(&key.kind);
    value.insert("description".into(), json!(key.doc));
    // JSON has no infinity; such a default is in the description only.
    if let Some(default) = json_of(key.default) {
        value.insert("default".into(), default);
    }
    if let Some(example) = json_of(key.example) {
        value.insert("examples".into(), json!([example]));
    }
    Value::Object(value)
}

/// TOML of the format as JSON; `None` for nothing and for what JSON cannot say.
fn json_of(text: &str) -> Option<Value> {
    fn convert(value: &toml::Value) -> Option<Value> {
        Some(match value {
            toml::Value::String(s) => json!(s),
            toml::Value::Integer(i) => json!(i),
            toml::Value::Float(f) => Value::Number(serde_json::Number::from_f64(*f)?),
            toml::Value::Boolean(b) => json!(b),
            toml::Value::Datetime(d) => json!(d.to_string()),
            toml::Value::Array(a) => Value::Array(a.iter().map(convert).collect::<Option<_>>()?),
            toml::Value::Table(t) => {
                let entries = t.iter().map(|(k, v)| Some((k.clone(), convert(v)?)));
                Value::Object(entries.collect::<Option<_>>()?)
            }
        })
    }
    let table: toml::Table = toml::from_str(&format!("v = {text}")).ok()?;
    table.get("v").and_then(convert)
}

fn kind(of: &ValueKind) -> Map<String, Value> {
    let value = match of {
        ValueKind::Number(range) => return number(range),
        ValueKind::Whole(lo, hi) => json!({ "type": "integer", "minimum": lo, "maximum": hi }),
        ValueKind::Truth => json!({ "type": "boolean" }),
        ValueKind::Text => json!({ "type": "string", "minLength": 1 }),
        ValueKind::Tuple(kinds, fewest, _) => {
            let items: Vec<Value> = kinds.iter().map(|k| Value::Object(kind(k))).collect();
            json!({ "type": "array", "items": items, "minItems": fewest, "maxItems": kinds.len() })
        }
        ValueKind::HexColor => json!({ "type": "string", "pattern": "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$" }),
        ValueKind::Word(words) => json!({ "enum": words }),
        ValueKind::List(of, lo, hi) => {
            json!({ "type": "array", "items": kind(of), "minItems": lo, "maxItems": hi })
        }
        ValueKind::Table(table) => return object(table, None),
        ValueKind::Tables(table) => json!({ "type": "array", "items": object(table, None) }),
        ValueKind::Named(table) => json!({ "type": "object", "additionalProperties": object(table, None) }),
        ValueKind::Tagged(variants) => {
            let alone = variants.iter().filter(|(_, t)| !t.keys().any(|k| k.required));
            let words: Vec<&str> = alone.map(|v| v.0).collect();
            let mut any = vec![json!({ "enum": words })];
            any.extend(variants.iter().map(|(tag, table)| Value::Object(object(table, Some(tag)))));
            json!({ "anyOf": any })
        }
        ValueKind::Either(kinds) => {
            let any: Vec<Value> = kinds.iter().map(|k| Value::Object(kind(k))).collect();
            json!({ "anyOf": any })
        }
    };
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn number(range: &NumberRange) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("type".into(), json!("number"));
    let low = if range.above { "exclusiveMinimum" } else { "minimum" };
    map.insert(low.into(), json!(range.lo));
    // Editors that read TOML's inf as a number compare it with the maximum.
    if !range.infinite && range.hi.is_finite() {
        map.insert("maximum".into(), json!(range.hi));
    }
    map
}
