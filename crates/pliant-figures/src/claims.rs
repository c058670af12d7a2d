//! Claims of the papers: `claims.toml`, thresholds, and the verdict on a measured number.

use crate::error::FigureError;
use crate::figures::Definition;
use crate::plot::Plot;
use serde::Deserialize;
use std::fmt;

/// The list of claims, as it was when the program was built.
pub fn claims_text() -> &'static str {
    include_str!("../claims.toml")
}

/// What a measured number says about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It meets the threshold.
    Reproduced,
    /// It meets only the weaker threshold.
    Partly,
    /// It meets neither, or there is no number.
    Not,
    /// A time that scatters across a threshold, or that is of the clock on the wall: nothing follows from it.
    Unjudged,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Partly => "partly",
            Verdict::Not => "not",
            Verdict::Unjudged => "measured, not judged",
        })
    }
}

/// A claim, what was measured, and the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimResult {
    /// Stable name of the claim.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Section or figure of the paper.
    pub place: String,
    /// What the paper claims.
    pub text: String,
    /// Name of the number measured.
    pub metric: String,
    /// The number; NaN if it could not be had.
    pub measured: f64,
    /// For times, the least and the most of all runs; NaN if it is not processor time.
    pub spread: Option<[f64; 2]>,
    /// What is accepted, both thresholds.
    pub threshold: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// One entry of `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub id: String,
    pub paper: String,
    pub place: String,
    pub text: String,
    /// The figure of ours that measures it.
    pub figure: String,
    pub metric: String,
    /// For times, the metrics of the least and the most of all runs.
    pub spread: Option<[String; 2]>,
    pub reproduced: Threshold,
    pub partly: Threshold,
    /// How the thresholds follow from the paper.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Claim>,
}

/// Reads a list of claims.
pub fn parse(text: &str) -> Result<Vec<Claim>, FigureError> {
    let file: File = toml::from_str(text).map_err(|e| FigureError::Claims(e.to_string()))?;
    Ok(file.claim)
}

/// The embedded claims.
pub fn all() -> Result<Vec<Claim>, FigureError> {
    parse(claims_text())
}

impl Claim {
    /// The verdict on the data of its figure.
    pub fn judge(&self, definition: &Definition, plot: &Plot) -> ClaimResult {
        let spread = self.spread.as_ref().map(|ends| ends.each_ref().map(|m| definition.measure(m, plot)));
        self.judge_number(definition.measure(&self.metric, plot), spread)
    }

    /// The verdict on a measured number and, for times, the least and the most of all runs.
    fn judge_number(&self, measured: f64, spread: Option<[f64; 2]>) -> ClaimResult {
        let scatters = |[least, most]: [f64; 2]| {
            !(least.is_finite() && most.is_finite())
                || self.reproduced.parts(least, most)
                || self.partly.parts(least, most)
        };
        let verdict = match measured {
            v if !v.is_finite() => Verdict::Not,
            _ if spread.is_some_and(scatters) => Verdict::Unjudged,
            v if self.reproduced.accepts(v) => Verdict::Reproduced,
            v if self.partly.accepts(v) => Verdict::Partly,
            _ => Verdict::Not,
        };
        ClaimResult {
            id: self.id.clone(),
            paper: self.paper.clone(),
            place: self.place.clone(),
            text: self.text.clone(),
            metric: self.metric.clone(),
            measured,
            spread,
            threshold: format!("{} (partly {})", self.reproduced, self.partly),
            verdict,
        }
    }
}

/// An interval of accepted numbers, written as `<= 1.1`, `> 0` or `0.9..1.1`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Threshold {
    text: String,
    lo: f64,
    hi: f64,
    /// Whether the ends themselves are accepted.
    closed: bool,
}

impl TryFrom<String> for Threshold {
    type Error = String;

    fn try_from(text: String) -> Result<Threshold, String> {
        let number = |s: &str| {
            let value: f64 = s.trim().parse().map_err(|_| format!("\"{text}\": \"{s}\" is not a number"))?;
            if value.is_finite() { Ok(value) } else { Err(format!("\"{text}\": {value} is not finite")) }
        };
        let (below, above) = (f64::NEG_INFINITY, f64::INFINITY);
        let (lo, hi, closed) = if let Some((lo, hi)) = text.split_once("..") {
            (number(lo)?, number(hi)?, true)
        } else if let Some(v) = text.strip_prefix("<=") {
            (below, number(v)?, true)
        } else if let Some(v) = text.strip_prefix(">=") {
            (number(v)?, above, true)
        } else if let Some(v) = text.strip_prefix('<') {
            (below, number(v)?, false)
        } else if let Some(v) = text.strip_prefix('>') {
            (number(v)?, above, false)
        } else {
            return Err(format!("\"{text}\" is not a threshold; write \"<= 1.1\", \"> 0\" or \"0.9..1.1\""));
        };
        if lo >= hi {
            return Err(format!("\"{text}\" accepts nothing"));
        }
        Ok(Threshold { lo, hi, closed, text })
    }
}

impl Threshold {
    /// Whether a number is accepted. Infinities and NaN never are: they mean a run gone wrong.
    pub fn accepts(&self, value: f64) -> bool {
        let inside = if self.closed {
            self.lo <= value && value <= self.hi
        } else {
            self.lo < value && value < self.hi
        };
        inside && value.is_finite()
    }

    /// Whether an end of it lies between two numbers, so that they may not be on the same side of it.
    fn parts(&self, least: f64, most: f64) -> bool {
        [self.lo, self.hi].iter().any(|end| least < *end && *end < most)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text.split_once("..") {
            Some((lo, hi)) => write!(f, "{lo} to {hi}"),
            None => f.write_str(&self.text.replace("<=", "≤").replace(">=", "≥")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str) -> Result<Threshold, String> {
        Threshold::try_from(text.to_string())
    }

    #[test]
    fn thresholds_accept_what_they_say() {
        for (text, inside, outside) in [
            ("<= 1", 1.0, 1.1),
            ("< 1", 0.9, 1.0),
            (">= 2", 2.0, 1.9),
            ("> 1e-6", 1e-5, 1e-6),
            ("0.9..1.1", 1.1, 1.11),
        ] {
            let t = threshold(text).unwrap();
            assert!(t.accepts(inside) && !t.accepts(outside), "{text}");
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(!t.accepts(bad), "{text} accepts {bad}");
            }
        }
        for text in ["", "1", "= 1", "<= one", "2..1", "<= inf"] {
            assert!(threshold(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_claim_has_a_figure_that_measures_it_and_a_weaker_second_threshold() {
        let claims = all().unwrap();
        for (k, claim) in claims.iter().enumerate() {
            assert!(claims[..k].iter().all(|c| c.id != claim.id), "{} is there twice", claim.id);
            let definition = crate::figures::ALL.iter().find(|d| d.figure.name == claim.figure);
            let known = definition.is_some_and(|d| d.metrics.iter().any(|(name, _)| *name == claim.metric));
            assert!(known, "{}: no figure {} with metric {}", claim.id, claim.figure, claim.metric);
            for end in claim.spread.iter().flatten() {
                let known = definition.is_some_and(|d| d.metrics.iter().any(|(name, _)| name == end));
                assert!(known, "{}: no metric {end}", claim.id);
            }
            let (strong, weak) = (&claim.reproduced, &claim.partly);
            assert!(weak.lo <= strong.lo && strong.hi <= weak.hi, "{}: partly is not weaker", claim.id);
            assert!(!claim.why.is_empty() && !claim.text.is_empty() && !claim.place.is_empty());
        }
        // And no metric hangs in the air.
        for d in crate::figures::ALL {
            for (metric, _) in d.metrics {
                let used = claims
                    .iter()
                    .filter(|c| c.figure == d.figure.name)
                    .any(|c| c.metric == *metric || c.spread.iter().flatten().any(|end| end == metric));
                assert!(used, "{}: no claim uses {metric}", d.figure.name);
            }
        }
    }

    #[test]
    fn times_are_judged_only_where_all_runs_agree() {
        let text = "[[claim]]\nid = \"a\"\npaper = \"b\"\nplace = \"c\"\ntext = \"d\"\nfigure = \"e\"\n\
                    metric = \"f\"\nspread = [\"g\", \"h\"]\nreproduced = \"1..2\"\npartly = \"<= 4\"\nwhy = \"i\"\n";
        let claim = &parse(text).unwrap()[0];
        let verdict = |measured, ends| claim.judge_number(measured, Some(ends)).verdict;
        assert_eq!(verdict(1.5, [1.4, 1.6]), Verdict::Reproduced);
        assert_eq!(verdict(3.0, [2.1, 3.9]), Verdict::Partly);
        assert_eq!(verdict(6.0, [5.0, 7.0]), Verdict::Not);
        for (measured, ends) in [(1.5, [1.4, 2.1]), (1.5, [0.9, 1.6]), (3.0, [2.5, 4.5]), (0.5, [0.1, 9.0])] {
            assert_eq!(verdict(measured, ends), Verdict::Unjudged, "{ends:?}");
        }
        // Time on the wall has no spread that means anything, and no time at all is no number.
        assert_eq!(verdict(1.5, [f64::NAN; 2]), Verdict::Unjudged);
        assert_eq!(verdict(f64::NAN, [f64::NAN; 2]), Verdict::Not);
        assert_eq!(claim.judge_number(1.5, None).verdict, Verdict::Reproduced);
    }

    #[test]
    fn faults_of_the_list_are_told_with_their_line() {
        let broken = claims_text().replacen("reproduced = \">= 1.5\"", "reproduced = \"about 1\"", 1);
        let message = parse(&broken).unwrap_err().to_string();
        assert!(message.contains("about 1") && message.contains("line"), "{message}");
    }
}
