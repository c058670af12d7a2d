//! The verdicts as a table: `verdicts.md`, and `index.html` with the figures.

use crate::claims::{Claim, ClaimResult, Verdict};
use crate::figures::Figure;

/// A measured number with the digits that matter.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "no number".into();
    }
    let size = value.abs();
    if value == 0.0 || (1e-3..1e5).contains(&size) {
        trimmed(&format!("{value:.4}"))
    } else {
        format!("{value:.2e}")
    }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// What was measured: a number, and of times the least and the most of all runs.
pub fn measured(result: &ClaimResult) -> String {
    match result.spread {
        Some([least, most]) if least.is_finite() && most.is_finite() => {
            format!("{} ({} to {})", number(result.measured), number(least), number(most))
        }
        Some(_) => format!("{} (by the clock on the wall)", number(result.measured)),
        None => number(result.measured),
    }
}

fn tally(results: &[ClaimResult]) -> String {
    let count = |v| results.iter().filter(|r| r.verdict == v).count();
    format!(
        "{} claims: {} reproduced, {} partly, {} not, {} measured but not judged",
        results.len(),
        count(Verdict::Reproduced),
        count(Verdict::Partly),
        count(Verdict::Not),
        count(Verdict::Unjudged)
    )
}

/// The table as Markdown.
pub fn markdown(results: &[ClaimResult]) -> String {
    let mut text = format!("# Verdicts\n\n{}. Thresholds are in `claims.toml`.\n\n", tally(results));
    text.push_str("| claim | paper | what it says | metric | measured | accepted | verdict |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for r in results {
        let cells = [
            &r.id,
            &format!("{}, {}", r.paper, r.place),
            &r.text,
            &format!("`{}`", r.metric),
            &measured(r),
            &r.threshold,
            &format!("**{}**", r.verdict),
        ];
        let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222}\
h2{margin-top:3rem;font-family:monospace}img{max-width:100%;height:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}\
th,td{border-bottom:1px solid #ccc;padding:.35rem .6rem;text-align:left;vertical-align:top}td.n{white-space:nowrap}\
.reproduced{color:#00614a}.partly{color:#8a5a00}.not{color:#a33b00}.unjudged{color:#555}.reproduced,.partly,.not,.unjudged{font-weight:600;white-space:nowrap}\
small{color:#555}";

/// A page with every figure, its claims and verdicts.
pub fn html(figures: &[Figure], claims: &[Claim], results: &[ClaimResult]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Pliant: the papers' figures</title>\
         <style>{STYLE}</style></head><body>\n<h1>The papers' figures, from our own runs</h1>\n<p>{}.</p>\n",
        tally(results)
    );
    for figure in figures {
        let (name, about) = (figure.name, escaped(figure.about));
        page.push_str(&format!(
            "<h2 id=\"{name}\">{name}</h2>\n<p>{about} (<a href=\"{name}.csv\">data</a>)</p>\n\
             <img src=\"{name}.svg\" alt=\"{about}\">\n\
             <table><tr><th>claim</th><th>metric</th><th>measured</th><th>accepted</th><th>verdict</th></tr>\n"
        ));
        for claim in claims.iter().filter(|c| c.figure == name) {
            for r in results.iter().filter(|r| r.id == claim.id) {
                page.push_str(&format!(
                    "<tr><td>{}<br><small>{}, {}</small></td><td>{}<br><small>{}</small></td>\
                     <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"{}\">{v}</td></tr>\n",
                    escaped(&r.text),
                    escaped(&r.paper),
                    escaped(&r.place),
                    escaped(&r.metric),
                    escaped(&claim.why),
                    measured(r),
                    escaped(&r.threshold),
                    if r.verdict == Verdict::Unjudged { "unjudged".into() } else { r.verdict.to_string() },
                    v = r.verdict,
                ));
            }
        }
        page.push_str("</table>\n");
    }
    page.push_str("</body></html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_with_their_spread() {
        let claims = crate::claims::all().unwrap();
        let claim = claims.iter().find(|c| c.id == "projective-dynamics/thirty-for-one").unwrap();
        let definition = crate::figures::ALL.iter().find(|d| d.figure.name == claim.figure).unwrap();
        let mut result = claim.judge(definition, &crate::plot::Plot::new("nothing"));
        (result.measured, result.spread) = (30.0, Some([25.0, 62.5]));
        assert_eq!(measured(&result), "30 (25 to 62.5)");
        result.verdict = Verdict::Unjudged;
        let table = markdown(std::slice::from_ref(&result));
        assert!(
            table.contains("1 measured but not judged") && table.contains("**measured, not judged**"),
            "{table}"
        );
        result.spread = Some([f64::NAN; 2]);
        assert_eq!(measured(&result), "30 (by the clock on the wall)");
    }
}
