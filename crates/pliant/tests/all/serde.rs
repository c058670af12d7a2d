//! Plain data goes through JSON and comes back the same, under the names scene files use.
//! `cargo test --release -p pliant --features serde --test all serde::` runs it.

use pliant::{
    BodyId, Control, DVec3, Ease, Key, Keyframes, Material, SolverKind, Statistics, StepReport, Stiffness,
    Track, Value,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

fn returns<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) -> String {
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    text
}

#[test]
fn plain_data_comes_back_as_it_went() {
    for (_, material, _) in Material::NAMED {
        returns(material);
    }
    for kind in SolverKind::ALL {
        assert_eq!(returns(kind), format!("\"{}\"", kind.name()));
    }
    for ease in Ease::ALL {
        assert_eq!(returns(ease), format!("\"{}\"", ease.name()));
    }
    let id = BodyId::from(3);
    assert_eq!(returns(id), "3");
    let keys =
        [Key::new(0.0, DVec3::X), Key::new(0.1, DVec3::new(0.1, f64::MIN_POSITIVE, -0.0)).ease(Ease::Smooth)];
    returns(Keyframes { tracks: vec![Track::new(Control::Force(id), keys)] });
    assert_eq!(returns(Value::Number(0.5)), r#"{"number":0.5}"#);
    assert_eq!(returns(Stiffness::Frequency(36.0)), r#"{"frequency":36.0}"#);
    returns(Statistics::default());
    returns(StepReport::default());
}
