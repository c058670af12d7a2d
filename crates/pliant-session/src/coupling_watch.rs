//! What is said of joints and glue that broke, collapsed or let go.

use pliant::model::Model;
use pliant::{CouplingId, Mishap, Simulation};
use std::collections::{BTreeMap, BTreeSet};

/// Counts, over a run, what happened to couplings, by the names scenes give them.
#[derive(Debug, Default)]
pub struct CouplingWatch {
    records: BTreeMap<(String, Kind), Record>,
}

/// Mishaps in the order they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Broke,
    Collapsed,
    LetGo,
}

#[derive(Debug)]
struct Record {
    first: u64,
    last: u64,
    frames: u32,
    couplings: BTreeSet<CouplingId>,
}

impl CouplingWatch {
    /// Takes up what happened in a step that led to a frame.
    pub fn frame(&mut self, number: u64, simulation: &Simulation) {
        for (id, mishap) in simulation.mishaps() {
            let kind = match mishap {
                Mishap::Broke => Kind::Broke,
                Mishap::Collapsed => Kind::Collapsed,
                _ => Kind::LetGo,
            };
            let fresh = || Record { first: number, last: number, frames: 1, couplings: BTreeSet::new() };
            let key = (described(simulation.model(), id), kind);
            let record = self.records.entry(key).or_insert_with(fresh);
            record.frames += u32::from(record.last != number);
            record.last = number;
            record.couplings.insert(id);
        }
    }

    /// One note for each name and what happened to it.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.records.iter().map(|((name, kind), record)| {
            let Record { first, frames, couplings, .. } = record;
            let points = match couplings.len() {
                1 => String::new(),
                n => format!(" at {n} points"),
            };
            match kind {
                Kind::Broke => format!("note: {name} broke{points}, first in frame {first}"),
                Kind::Collapsed => format!(
                    "note: {name} collapsed{points}, first in frame {first}: the particles that carry it came to lie on a line or in \
                     one place, so it holds without turning anything until they are apart again\n  help: make what carries it \
                     stiffer, or let more particles do so with `parents`"
                ),
                Kind::LetGo => format!(
                    "note: {name} held nothing{points} for moments of {frames} {}, the first of them {first}: what carries it is \
                     squashed or torn about so far that no force brings its points together\n  help: make it stiffer, or raise \
                     `substeps`",
                    if *frames == 1 { "frame" } else { "frames" },
                ),
            }
        })
    }
}

/// The name of a joint or glue as the scene gives it, or what it ties together. Points of one glue have numbers after its name.
fn described(model: &Model, id: CouplingId) -> String {
    let Some(coupling) = model.coupling_index(id).map(|k| &model.couplings()[k].coupling) else {
        return format!("coupling {id}");
    };
    let name = coupling.name.as_str();
    if !name.is_empty() {
        let numbered = |(base, number): (&str, &str)| {
            number.parse::<usize>().is_ok_and(|n| n > 1).then(|| base.to_string())
        };
        let base = name.rsplit_once(' ').and_then(numbered).filter(|base| model.coupling(base).is_some());
        return format!("`{}`", base.as_deref().unwrap_or(name));
    }
    let sides = coupling.sides.each_ref().map(|side| match side.body() {
        Some(body) => model.get(body).map_or_else(|| format!("body {body}"), |b| format!("`{}`", b.name)),
        None => "the world".into(),
    });
    format!("what ties {} to {}", sides[1], sides[0])
}
