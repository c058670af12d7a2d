//! Tables that the program knows better: each stands between two comments and has to be what the program says.
//! `PLIANT_WRITE_TABLES=1 cargo test -p pliant-guide` writes them anew.

use crate::root;
use pliant::solvers::support_table;
use pliant::{Allowed, BodyId, Control, ControlOwner, Cost, CouplingId, Material};
use pliant_scene::DEMOS;
use std::fs;

fn materials() -> String {
    let mut table = String::from(
        "| name | density, kg/m³ | young, Pa | poisson | thickness, m | damping, 1/s | |\n|---|---|---|---|---|---|---|\n",
    );
    for (name, m, about) in Material::NAMED {
        let Material { density, young, poisson, thickness, damping } = m;
        table += &format!(
            "| `{name}` | {density} | {young:e} | {poisson} | {thickness:e} | {damping} | {about} |\n"
        );
    }
    table
}

fn range(allowed: Allowed) -> String {
    let number = |x: f64| match x.abs() {
        a if a >= 1e6 || (a > 0.0 && a < 1e-3) => format!("{x:e}"),
        _ => format!("{x}"),
    };
    let to = |low: f64, high: f64| match high.is_finite() {
        true => format!("{} to {}", number(low), number(high)),
        false => format!("{} and more", number(low)),
    };
    match allowed {
        Allowed::Vector => "a vector".into(),
        Allowed::Direction => "a vector, not 0".into(),
        Allowed::Number(low, high) => to(low, high),
        Allowed::Whole(low, high) => format!("whole, {}", to(low, high)),
        Allowed::Frequency(high) => format!("{}; clustered: what the step resolves", to(0.0, high)),
    }
}

fn controls() -> String {
    let cost = |cost: Cost| match cost {
        Cost::Free => "–",
        Cost::Refactor => "a factorisation",
        Cost::Rebuild => "a rebuild",
    };
    let mut table = String::from(
        "| control | of | unit | range | what it is | a change costs |\n|---|---|---|---|---|---|\n",
    );
    let of_coupling = Control::of_coupling(CouplingId::from_number(0));
    for control in Control::all([BodyId::from_number(0)]).chain(of_coupling) {
        let d = control.descriptor();
        let of = match control.owner() {
            ControlOwner::World => "world",
            ControlOwner::Body(_) => "body",
            ControlOwner::Coupling(_) => "joint, glue",
        };
        let doc = d.doc().split_whitespace().collect::<Vec<_>>().join(" ");
        let (name, unit, range, cost) = (d.name, d.unit, range(d.allowed), cost(d.cost));
        table += &format!("| `{name}` | {of} | {unit} | {range} | {doc} | {cost} |\n");
    }
    table
}

fn demos() -> String {
    let mut table = String::from("| demo | |\n|---|---|\n");
    for demo in DEMOS {
        table +=
            &format!("| [`{0}`](../../crates/pliant-scene/scenes/{0}.toml) | {1} |\n", demo.name, demo.about);
    }
    table
}

/// Compares what stands between `<!-- table: NAME -->` and `<!-- end -->`, or writes it.
fn check(chapter: &str, name: &str, table: &str) {
    let path = root().join("docs/guide").join(chapter);
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- table: {name} -->\n"), "<!-- end -->");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{chapter} has no table {name}"));
    let (found, after) =
        rest.split_once(end).unwrap_or_else(|| panic!("{chapter}: the table {name} has no end"));
    let wanted = format!("\n{}\n\n", table.trim_end());
    if std::env::var_os("PLIANT_WRITE_TABLES").is_some() {
        fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
    } else {
        assert_eq!(
            found, wanted,
            "{chapter}: the table {name} is out of date; `PLIANT_WRITE_TABLES=1 cargo test -p pliant-guide` writes it"
        );
    }
}

#[test]
fn tables_are_those_of_the_program() {
    // One after the other: several are in one file.
    check("solvers.md", "support", &support_table());
    check("materials.md", "materials", &materials());
    check("control.md", "controls", &controls());
    check("scene.md", "demos", &demos());
}
