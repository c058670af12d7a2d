//! Speed of the kernels against this machine's own limits.
//!
//! Absolute times wander from machine to machine and from day to day, so every run first measures what
//! the machine can do at all (multiply-adds, memory bandwidth) and reports each kernel as a share of
//! the limit that binds it, next to its time. Names are paths that stay the same for ever.

mod clustered;
mod limits;
mod projective;
mod timing;

use serde::Serialize;

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// A path, the same for ever.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Threads used.
    pub threads: usize,
    /// Part of the limit that binds it, measured in the same run; `None` for the limits themselves.
    pub share_of_limit: Option<f64>,
    /// Instruction set the kernel ran with.
    pub isa: &'static str,
}

/// What the machine can do at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// f64 operations per second of one thread; a multiply-add counts as two.
    pub flops: f64,
    /// Bytes per second one thread moves between memory and registers.
    pub bandwidth: f64,
    /// Widest instruction set found.
    pub isa: &'static str,
}

/// A benchmark by name.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&'static str, &Options, &Limits) -> Result<Vec<Measurement>, String>,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "clustered/bunny/pass",
        about: "2,020 particles, about 26 clusters, α = 0.5, 5 iterations: per membership and goal pass",
        run: clustered::bunny_pass,
    },
    Bench {
        name: "clustered/bunny/frame",
        about: "the same, a whole frame, back to back",
        run: clustered::bunny_frame,
    },
    Bench {
        name: "clustered/million/pass",
        about: "one million particles: per membership and goal pass",
        run: clustered::million_pass,
    },
    Bench {
        name: "projective/cloth/iteration",
        about: "81×81 cloth hung by two corners, 19,360 edges: local step, right-hand side, global step",
        run: projective::cloth_iteration,
    },
];

/// What to measure.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only names that contain this; everything if empty.
    pub filter: String,
    /// Threads for the kernels; 0 for one.
    pub threads: usize,
    /// A point list to use instead of the built-in bunny, with its cluster radius.
    pub points: Option<(Vec<pliant::DVec3>, f64)>,
}

/// Names and descriptions of all benchmarks.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    let limits = [
        ("limits/fma", "f64 multiply-adds of one thread, counted as two operations"),
        ("limits/bandwidth", "memory bandwidth of one thread, reading and writing"),
    ];
    limits.into_iter().chain(BENCHES.iter().map(|b| (b.name, b.about)))
}

/// Measures the limits, then everything the filter lets through, handing out each number as it comes.
pub fn run(options: &Options, mut sink: impl FnMut(Measurement)) -> Result<(), String> {
    let wanted = |name: &str| name.contains(options.filter.as_str());
    if !list().any(|(name, _)| wanted(name)) {
        let names: Vec<&str> = list().map(|(n, _)| n).collect();
        return Err(format!(
            "no benchmark's name contains \"{}\"; there are {}",
            options.filter,
            names.join(", ")
        ));
    }
    let limits = limits::measure();
    let limit = |name, value, unit| Measurement {
        name,
        value,
        unit,
        threads: 1,
        share_of_limit: None,
        isa: limits.isa,
    };
    sink(limit("limits/fma", limits.flops / 1e9, "Gflop/s"));
    sink(limit("limits/bandwidth", limits.bandwidth / 1e9, "GB/s"));
    for bench in BENCHES.iter().filter(|b| wanted(b.name)) {
        (bench.run)(bench.name, options, &limits)?.into_iter().for_each(&mut sink);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_paths_and_a_wrong_filter_lists_them() {
        let names: Vec<_> = list().map(|(n, _)| n).collect();
        assert!(names.iter().all(|n| n.contains('/')));
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len());
        let options = Options { filter: "nonsense".into(), ..Options::default() };
        let error = run(&options, |_| {}).unwrap_err();
        assert!(error.contains("clustered/bunny/pass"), "{error}");
    }
}
