//! Keyframes as the scene gives them; the engine's objections are led back to the keys they are about.

use crate::record::{Record, SceneValue};
use crate::source::{Check, Span};
use pliant::{BodyControls, BodyId, Control, ControlOwner, Ease, Key, Keyframes, SolverKind, Track, Value};

/// Reads the tracks of one owner: of the world, of the only one of `bodies`, or of a coupling, which is known by any id until the
/// scene is built. Faults are reported.
pub(crate) fn plan(
    check: &mut Check<'_>,
    records: &[Record],
    owner: ControlOwner,
    bodies: &[(BodyId, SolverKind, BodyControls)],
    h: f64,
) -> Vec<Track> {
    // A track that lost its control or keys has been reported; the rest is still checked.
    let (kept, tracks): (Vec<&Record>, Vec<Track>) =
        records.iter().filter_map(|r| Some((r, read(r, owner)?))).unzip();
    let keyframes = Keyframes { tracks };
    let coupling = if let ControlOwner::Coupling(id) = owner { Some(id) } else { None };
    for fault in keyframes.check(bodies, coupling.as_slice(), h) {
        let record = kept[fault.track];
        let place = match fault.key {
            Some(key) => key_place(record, key),
            None => record.place("control"),
        };
        check.add(place, fault.message, fault.help);
    }
    keyframes.tracks
}

fn read(record: &Record, owner: ControlOwner) -> Option<Track> {
    let control = Control::named(record.given("control")?.it.text(), owner)?;
    let usual = match (record.given("ease"), control) {
        (Some(word), _) => ease(&word.it),
        (None, Control::Iterations(_)) => Ease::Stepped,
        (None, _) => Ease::Linear,
    };
    let keys = record.given("keys")?.it.list().iter().map(|key| {
        let parts = key.it.list();
        let value = match &parts[1].it {
            SceneValue::Number(v) => Value::Number(*v),
            vector => Value::Vector(vector.vector()),
        };
        Key { time: parts[0].it.number(), value, ease: parts.get(2).map_or(usual, |e| ease(&e.it)) }
    });
    Some(Track::new(control, keys))
}

fn ease(word: &SceneValue) -> Ease {
    Ease::ALL.into_iter().find(|e| e.name() == word.text()).unwrap_or_default()
}

fn key_place(record: &Record, key: usize) -> &Span {
    let keys = record.given("keys").map(|k| k.it.list());
    keys.and_then(|k| k.get(key)).map_or(&record.at, |k| &k.at)
}
