//! The schema and the reader accept the same keys and values.

use pliant_scene::{DEMOS, Scene, schema};
use serde_json::Value;

/// The parts of JSON Schema the schema uses; whether a value is allowed by it.
fn allows(schema: &Value, value: &Value) -> bool {
    let Some(rules) = schema.as_object() else {
        return true;
    };
    rules.iter().all(|(rule, arg)| match (rule.as_str(), value) {
        ("type", _) => match arg.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => value.as_f64().is_some_and(|v| v.fract() == 0.0),
            other => panic!("type {other}"),
        },
        ("minimum", Value::Number(v)) => v.as_f64() >= arg.as_f64(),
        ("maximum", Value::Number(v)) => v.as_f64() <= arg.as_f64(),
        ("exclusiveMinimum", Value::Number(v)) => v.as_f64() > arg.as_f64(),
        ("enum", _) => arg.as_array().unwrap().contains(value),
        ("const", _) => arg == value,
        ("items", Value::Array(list)) if arg.is_array() => {
            list.iter().zip(arg.as_array().unwrap()).all(|(v, s)| allows(s, v))
        }
        ("items", Value::Array(list)) => list.iter().all(|v| allows(arg, v)),
        ("minItems", Value::Array(list)) => list.len() as u64 >= arg.as_u64().unwrap(),
        ("maxItems", Value::Array(list)) => list.len() as u64 <= arg.as_u64().unwrap(),
        ("minLength", Value::String(s)) => s.chars().count() as u64 >= arg.as_u64().unwrap(),
        ("properties", Value::Object(map)) => {
            map.iter().all(|(k, v)| arg.get(k).is_none_or(|s| allows(s, v)))
        }
        ("additionalProperties", Value::Object(map)) => match arg {
            Value::Bool(false) => map.keys().all(|k| schema["properties"].get(k).is_some()),
            other => map.values().all(|v| allows(other, v)),
        },
        ("required", Value::Object(map)) => {
            arg.as_array().unwrap().iter().all(|k| map.contains_key(k.as_str().unwrap()))
        }
        ("dependencies", Value::Object(map)) => arg.as_object().unwrap().iter().all(|(k, needs)| {
            !map.contains_key(k)
                || needs.as_array().unwrap().iter().all(|n| map.contains_key(n.as_str().unwrap()))
        }),
        ("allOf", _) => arg.as_array().unwrap().iter().all(|s| allows(s, value)),
        ("anyOf", _) => arg.as_array().unwrap().iter().any(|s| allows(s, value)),
        ("not", _) => !allows(arg, value),
        _ => true,
    })
}

fn json(toml: &str) -> Value {
    fn convert(value: toml::Value) -> Value {
        match value {
            toml::Value::String(s) => s.into(),
            toml::Value::Integer(i) => i.into(),
            // JSON has no infinity; a huge number stands for it.
            toml::Value::Float(f) => if f.is_infinite() { f.signum() * 1e300 } else { f }.into(),
            toml::Value::Boolean(b) => b.into(),
            toml::Value::Datetime(d) => d.to_string().into(),
            toml::Value::Array(a) => a.into_iter().map(convert).collect(),
            toml::Value::Table(t) => t.into_iter().map(|(k, v)| (k, convert(v))).collect(),
        }
    }
    convert(toml::Value::Table(toml::from_str(toml).unwrap()))
}

fn root() -> Value {
    serde_json::from_str(&schema()).unwrap()
}

/// The keys the reader allows where `zzzz` stands in `scene`: those it lists, or, where there are too many for a list, as
/// many as it counts, each of `candidates` tried.
fn accepted(scene: &str, candidates: &[String]) -> Vec<String> {
    let refusal = |scene: &str, key: &str| {
        let problems = Scene::parse(scene, "s".as_ref()).err().unwrap_or_default();
        problems.into_iter().find(|p| p.message.contains(&format!("there is no key `{key}`")))
    };
    let help = refusal(scene, "zzzz").unwrap().help;
    let mut keys: Vec<String> = match help.split_once("allowed here: ") {
        Some((_, list)) => list.split('`').skip(1).step_by(2).map(String::from).collect(),
        None => {
            let count = help.split_once(" keys").unwrap().0.rsplit(' ').next().unwrap().to_string();
            assert_eq!(count, candidates.len().to_string(), "{help}");
            let known = |key: &&String| refusal(&scene.replace("zzzz", key), key).is_none();
            candidates.iter().filter(known).cloned().collect()
        }
    };
    keys.sort();
    keys
}

/// The keys an object of the schema allows.
fn listed(object: &Value) -> Vec<String> {
    assert_eq!(object["additionalProperties"], false);
    let mut keys: Vec<String> = object["properties"].as_object().unwrap().keys().cloned().collect();
    keys.sort();
    keys
}

#[test]
fn schema_keys_are_the_accepted_keys() {
    let root = root();
    let top = &root["properties"];
    let body = &top["body"]["items"];
    let pin = &body["properties"]["pin"]["items"];
    let paint = &body["properties"]["paint"]["items"];
    let input = &body["properties"]["input"];
    let turn = &body["properties"]["rotation"]["anyOf"][1];
    let pairs = [
        ("zzzz = 1\n", &root),
        ("[output]\nzzzz = 1\n", &top["output"]),
        ("[picture]\nzzzz = 1\n", &top["picture"]),
        ("[materials.m]\nzzzz = 1\n", &top["materials"]["additionalProperties"]),
        ("[[plane]]\nzzzz = 1\n", &top["plane"]["items"]),
        ("[[body]]\nzzzz = 1\n", body),
        ("[[body]]\nrotation = { zzzz = 1 }\n", turn),
        ("[[body]]\n[[body.pin]]\nzzzz = 1\n", pin),
        ("[[body]]\n[[body.pin]]\nbox = { zzzz = 1 }\n", &pin["properties"]["box"]),
        ("[[keyframes]]\nzzzz = 1\n", &top["keyframes"]["items"]),
        ("[[body]]\n[[body.keyframes]]\nzzzz = 1\n", &body["properties"]["keyframes"]["items"]),
        ("[[body]]\n[body.input]\nzzzz = 1\n", input),
        ("[[body]]\n[body.input]\nwag = { zzzz = 1 }\n", &input["properties"]["wag"]),
        ("[[body]]\n[body.kinematic]\nzzzz = 1\n", &body["properties"]["kinematic"]["anyOf"][1]),
        ("[[body]]\n[[body.paint]]\nzzzz = 1\n", paint),
        ("[[body]]\n[[body.paint]]\nsphere = { zzzz = 1 }\n", &paint["properties"]["sphere"]),
    ];
    for (scene, object) in pairs {
        assert_eq!(accepted(scene, &listed(object)), listed(object), "{scene}");
    }
    let shapes = body["properties"]["shape"]["anyOf"].as_array().unwrap();
    assert_eq!(shapes.len(), 16, "fifteen shapes, and names alone");
    let constraints = body["properties"]["constraint"]["items"]["anyOf"].as_array().unwrap();
    assert_eq!(constraints.len(), 11, "ten constraints, and names alone");
    let fields = top["field"]["items"]["anyOf"].as_array().unwrap();
    assert_eq!(fields.len(), 6, "five fields, and names alone");
    for (head, tables) in [
        ("[[body]]\n[body.shape]\n", shapes),
        ("[[body]]\n[[body.constraint]]\n", constraints),
        ("[[field]]\n", fields),
    ] {
        for table in &tables[1..] {
            let kind = table["properties"]["kind"]["const"].as_str().unwrap();
            assert_eq!(
                accepted(&format!("{head}kind = \"{kind}\"\nzzzz = 1\n"), &listed(table)),
                listed(table),
                "{kind}"
            );
        }
    }
}

#[test]
fn every_key_is_described() {
    fn visit(value: &Value) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (key, property) in properties {
                let text = property["description"].as_str().unwrap_or("");
                assert!(text.len() > 5, "{key} is not described");
            }
        }
        match value {
            Value::Object(map) => map.values().for_each(visit),
            Value::Array(list) => list.iter().for_each(visit),
            _ => {}
        }
    }
    visit(&root());
}

#[test]
fn every_demo_validates() {
    let root = root();
    for demo in DEMOS {
        assert!(allows(&root, &json(demo.text)), "{}", demo.name);
    }
}

/// Every key of a body with its example value, alone: read without panic, and allowed by the schema.
#[test]
fn every_key_can_be_used() {
    let root = root();
    let toml_of = |v: &Value| -> String {
        fn write(v: &Value) -> String {
            match v {
                Value::Object(map) => {
                    let parts: Vec<String> = map.iter().map(|(k, v)| format!("{k} = {}", write(v))).collect();
                    format!("{{ {} }}", parts.join(", "))
                }
                Value::Array(list) => format!("[{}]", list.iter().map(write).collect::<Vec<_>>().join(", ")),
                other => other.to_string(),
            }
        }
        write(v)
    };
    let examples = |property: &Value| -> Vec<String> {
        let example = property.get("examples").map(|e| &e[0]);
        [property.get("default"), example].into_iter().flatten().map(toml_of).collect()
    };
    let body = &root["properties"]["body"]["items"]["properties"];
    for (key, property) in body.as_object().unwrap() {
        for value in examples(property) {
            let shape = if key == "shape" { "" } else { "shape = \"sheet\"\n" };
            let solver = if key == "solver" { "" } else { "solver = \"projective\"\n" };
            let scene = format!("[materials.jelly]\n[[body]]\n{shape}{solver}{key} = {value}\n");
            assert!(allows(&root, &json(&scene)), "{scene}");
            if let Err(problems) = Scene::parse(&scene, "s".as_ref()) {
                // The projective solver has no strain limit and follows no input; only rigid bodies are led.
                assert!(
                    ["strain_limit", "input", "kinematic"].contains(&key.as_str()) && problems.len() == 1,
                    "{scene}{}",
                    problems[0]
                );
            }
        }
    }
    let pin = &root["properties"]["body"]["items"]["properties"]["pin"]["items"]["properties"];
    for (key, property) in pin.as_object().unwrap() {
        for value in examples(property) {
            let which = if ["particles", "box", "corners"].contains(&key.as_str()) {
                ""
            } else {
                "particles = [0]\n"
            };
            let with = match key.as_str() {
                "sway" => "frequency = 1\n",
                "frequency" => "sway = [1, 0, 0]\n",
                _ => "",
            };
            let scene = format!("[[body]]\nshape = \"sheet\"\n[[body.pin]]\n{which}{with}{key} = {value}\n");
            assert!(allows(&root, &json(&scene)), "{scene}");
            Scene::parse(&scene, "s".as_ref()).unwrap_or_else(|p| panic!("{scene}{}", p[0]));
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let root = root();
    for scene in [
        "fps = 0\n[[body]]\nshape = \"ball\"\n",
        "frames = 2.5\n[[body]]\nshape = \"ball\"\n",
        "framse = 2\n[[body]]\nshape = \"ball\"\n",
        "[[body]]\n",
        "fps = 60\n",
        "[[body]]\nshape = \"mesh\"\n",
        "[[body]]\nshape = { kind = \"ball\", height = 1 }\n",
        "[[body]]\nshape = \"ball\"\nalpha = 0.1\nfrequency = 1\n",
        "[[body]]\nshape = \"ball\"\ngravity = [0, 0, 0]\n",
        "[[body]]\nshape = \"ball\"\n[[body.pin]]\nname = \"x\"\n",
        "[[body]]\nshape = \"ball\"\n[[body.pin]]\nparticles = [0]\nsway = [1, 0, 0]\n",
        "[[plane]]\noffset = 1\npoint = [0, 0, 0]\n[[body]]\nshape = \"ball\"\n",
        "[[keyframes]]\ncontrol = \"damping\"\nkeys = [[0, 1]]\n[[body]]\nshape = \"ball\"\n",
        "[[keyframes]]\ncontrol = \"gravity\"\nkeys = [[\"now\", 1]]\n[[body]]\nshape = \"ball\"\n",
        "[[keyframes]]\ncontrol = \"gravity_magnitude\"\nkeys = [[0]]\n[[body]]\nshape = \"ball\"\n",
        "[[keyframes]]\ncontrol = \"gravity_magnitude\"\nkeys = []\n[[body]]\nshape = \"ball\"\n",
        "[[body]]\nshape = \"ball\"\ntwo_step = 1\n",
        "[[body]]\nshape = \"ball\"\ngoals = \"square\"\n",
        "[[body]]\nshape = \"ball\"\n[[body.paint]]\nvalue = 0.5\n",
        "[[body]]\nshape = \"ball\"\nconstraint = [\"stran\"]\n",
        "[[body]]\nshape = \"ball\"\nconstraint = [\"fibre\"]\n",
        "[[body]]\nshape = { kind = \"box\", tet_style = \"six\" }\n",
        "[[body]]\nshape = \"ball\"\npoisson = 0.5\n",
        "field = [\"uniform\"]\n[[body]]\nshape = \"ball\"\n",
        "gusts = -1\n[[body]]\nshape = \"ball\"\n",
    ] {
        assert!(Scene::parse(scene, "s".as_ref()).is_err(), "{scene}");
        assert!(!allows(&root, &json(scene)), "{scene}");
    }
}
