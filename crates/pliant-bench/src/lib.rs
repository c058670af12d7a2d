//! Speed of the kernels against this machine's own limits.
//!
//! Absolute times wander from machine to machine and from day to day, so every run first measures what
//! the machine can do at all (multiply-adds, memory bandwidth) and reports each kernel as a share of
//! the limit that binds it, next to its time. Names are paths that stay the same for ever.

mod bodies;
mod clustered;
mod colliders;
mod detect;
mod export;
mod geometry;
mod glue;
mod limits;
mod pile;
mod projective;
mod rigid;
mod rotations;
mod tearing;
mod timing;
mod tree;
mod village;

use serde::Serialize;

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// A path, the same for ever.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// What the value is measured in: s, ns, ms, B/s.
    pub unit: &'static str,
    /// Threads used.
    pub threads: usize,
    /// Part of the limit that binds it, measured in the same run; `None` for the limits themselves.
    pub share_of_limit: Option<f64>,
    /// Instruction set the kernel ran with.
    pub isa: &'static str,
    /// What was measured, in a few words for people; not part of the JSON.
    #[serde(skip)]
    pub note: String,
}

impl Measurement {
    /// Of one thread, bound by no limit.
    pub(crate) fn new(
        name: &'static str,
        (value, unit): (f64, &'static str),
        isa: &'static str,
    ) -> Measurement {
        Measurement { name, value, unit, threads: 1, share_of_limit: None, isa, note: String::new() }
    }

    pub(crate) fn on(self, threads: usize) -> Measurement {
        Measurement { threads, ..self }
    }

    /// Of which limit it is which part.
    pub(crate) fn limited(self, share_of_limit: impl Into<Option<f64>>) -> Measurement {
        Measurement { share_of_limit: share_of_limit.into(), ..self }
    }

    pub(crate) fn noted(self, note: String) -> Measurement {
        Measurement { note, ..self }
    }
}

/// A whole frame of one of the sizes of `clustered/scaling`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameTime {
    /// Particles that the frame moves.
    pub particles: usize,
    /// Pairs of a cluster and a member, which the work goes by.
    pub memberships: usize,
    /// Seconds of a frame.
    pub seconds: f64,
}

/// What the machine can do at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// f64 operations per second of one thread; a multiply-add counts as two.
    pub flops: f64,
    /// Bytes per second one thread moves between memory and registers.
    pub bandwidth: f64,
    /// Bytes per second one thread reads of sets of so many bytes, from the smallest.
    pub caches: [(usize, f64); 4],
    /// Widest instruction set found.
    pub isa: &'static str,
}

/// What a group of benchmarks works with.
pub(crate) struct Run<'a> {
    options: &'a Options,
    limits: &'a Limits,
    sink: &'a mut dyn FnMut(Measurement),
    frames: Vec<FrameTime>,
}

impl Run<'_> {
    /// Whether the filter lets this name through.
    fn wants(&self, name: &str) -> bool {
        name.contains(self.options.filter.as_str())
    }

    /// Hands out a number, if it is wanted: groups may measure several at once.
    fn report(&mut self, measurement: Measurement) {
        if self.wants(measurement.name) {
            (self.sink)(measurement);
        }
    }
}

/// Benchmarks that share what they are prepared from.
struct Group {
    /// Names and descriptions.
    entries: &'static [(&'static str, &'static str)],
    run: fn(&mut Run<'_>) -> Result<(), String>,
}

const LIMITS: &[(&str, &str)] = &[
    ("limits/fma", "f64 multiply-adds of one thread, counted as two operations"),
    ("limits/bandwidth", "memory bandwidth of one thread, reading and writing"),
    ("limits/read/256k", "one thread reading 256 KiB again and again"),
    ("limits/read/1m", "the same of 1 MiB"),
    ("limits/read/4m", "the same of 4 MiB"),
    ("limits/read/16m", "the same of 16 MiB"),
];

const GROUPS: &[Group] = &[
    Group {
        entries: &[
            (
                "clustered/bunny/pass",
                "2,020 particles, 26 clusters, α = 0.5, 5 iterations, limiting to the paper's letter: per \
                 membership and goal pass of the median frame, once for each instruction set",
            ),
            ("clustered/bunny/frame", "the same, a whole frame, back to back"),
            ("clustered/bunny/conserving", "the same with limiting that takes its momentum back: per pass"),
            (
                "clustered/live/change",
                "a bunny's step with five controls changed before it, over one without",
            ),
        ],
        run: clustered::bunny,
    },
    Group {
        entries: &[
            (
                "clustered/million/pass",
                "a cube of 100³ particles, 3.57 million memberships: per membership and goal pass, on one \
                 thread and on two",
            ),
            ("clustered/million/frame", "the same, a whole frame"),
            ("clustered/million/memory", "its resident memory over the sum of the scene's arrays (Linux)"),
            (clustered::SIZES[0].0, "a cube of 10³ particles by the same recipe: per membership and pass"),
            (clustered::SIZES[1].0, "22³ particles"),
            (clustered::SIZES[2].0, "46³ particles"),
            (clustered::SIZES[3].0, "100³ particles"),
        ],
        run: clustered::lattice,
    },
    Group {
        entries: &[
            ("clustered/large/rigid", "one cluster of 50,000 particles, the deformer's integrator: a step"),
            ("clustered/large/linear", "the same with linear goals"),
            ("clustered/large/quadratic", "the same with quadratic goals"),
        ],
        run: clustered::large,
    },
    Group {
        entries: &[(
            "clustered/crowd/step",
            "1,000 bodies of 500 particles and 5 clusters fall on the ground, 5 iterations, two threads: a step",
        )],
        run: clustered::crowd,
    },
    Group {
        entries: &[
            (
                "projective/beam/iteration",
                "56×5×6 cells of five tetrahedra (8,400), one end held, sagging: local step, right-hand side \
                 and global step, on one thread and on two, with AVX-512 and AVX2",
            ),
            ("projective/beam_limited/iteration", "the same with clamped singular values"),
            ("projective/bar/iteration", "59×2×7 cells (4,130 tetrahedra), twisted"),
        ],
        run: projective::solids,
    },
    Group {
        entries: &[("projective/cloth/iteration", "81×81 cloth hung by two corners, 19,360 edges")],
        run: projective::sheet,
    },
    Group {
        entries: &[
            (
                "projective/village/iteration",
                "a house, a tree, grass and clothes on a line: about 49,000 degrees of freedom, 43,000 constraints",
            ),
            (
                "projective/pile/iteration",
                "100 cubes of 512 particles, 171,500 tetrahedra, that touch nothing",
            ),
        ],
        run: projective::scene,
    },
    Group {
        entries: &[
            ("bodies/build", "1,000 copies of a body of 500 particles, from description to first step"),
            ("bodies/add", "another copy for a thousand of them, the slowest of a hundred"),
            ("bodies/remove", "one of a thousand, the slowest of a hundred"),
        ],
        run: bodies::coming_and_going,
    },
    Group {
        entries: &[
            (
                "contact/collider/plane",
                "a block of 845 particles of projective dynamics that lies on a plane: a step",
            ),
            ("contact/collider/box", "the same on a box"),
            ("contact/collider/mesh_1k", "the same on a mesh of 1,000 triangles"),
            ("contact/collider/mesh_100k", "the same on a mesh of 100,000 triangles"),
        ],
        run: colliders::step,
    },
    Group {
        entries: &[
            (
                "contact/pile/step",
                "100 blocks of 512 particles in a pile that touch each other, 10 iterations: a step",
            ),
            ("contact/pile_clustered/step", "the same pile of clustered bodies: a step of four substeps"),
        ],
        run: pile::step,
    },
    Group {
        entries: &[(
            "contact/detect/pile",
            "100 closed bodies of 296 surface vertices that touch: nearest triangles of all vertices, on one thread and \
             on two",
        )],
        run: detect::pile,
    },
    Group {
        entries: &[
            (
                detect::ROLLED[0].0,
                "a sheet rolled up, 12,500 vertices: all pairs of vertices and triangles and of edges, on one thread and on two",
            ),
            (detect::ROLLED[1].0, "50,000 vertices"),
            (detect::ROLLED[2].0, "200,000 vertices"),
            (detect::ROLLED[3].0, "a million vertices"),
        ],
        run: detect::rolled,
    },
    Group {
        entries: &[
            (
                "glue/binding",
                "a point bound to ten parents of a bent cloth or block: its place, and a force on it shared out to them, \
                 once for each instruction set",
            ),
            ("glue/jacobian", "the same with the ten blocks of its derivative formed as well"),
        ],
        run: glue::bindings,
    },
    Group {
        entries: &[
            (
                "glue/tree/step",
                "a tree of 100 branches of 200 tetrahedra and 100 ornaments, each glued on at three points: a step",
            ),
            ("glue/tree/share", "what of that is more than the same bodies take without glue"),
        ],
        run: tree::step,
    },
    Group {
        entries: &[(
            "glue/many",
            "a block with a thousand of its 2,025 particles tied to places in the world: a step of one substep",
        )],
        run: tree::many,
    },
    Group {
        entries: &[
            ("rigid/balls/step", "10,000 rigid balls that roll on the ground: a step"),
            ("rigid/boxes/step", "10,000 rigid boxes that slide on the ground: a step"),
        ],
        run: rigid::step,
    },
    Group {
        entries: &[(
            "tearing/ten_edges",
            "ten edges of a cloth of 3,721 particles break: what that and the step after it take beyond an ordinary step",
        )],
        run: tearing::ten_edges,
    },
    Group {
        entries: &[
            ("projective/setup/solid", "97,290 particles of tetrahedra, from description to first step"),
            ("projective/setup/sheet", "99,856 particles of a sheet"),
        ],
        run: projective::setup,
    },
    Group {
        entries: &[(
            "geometry/winding",
            "winding numbers of 100,000 points about a ring of 100,000 triangles, with its tree, on one thread and \
             on two",
        )],
        run: geometry::winding,
    },
    Group {
        entries: &[(
            "geometry/stuffing",
            "a bear cut into about 100,000 tetrahedra and measured, on one thread and on two",
        )],
        run: geometry::stuffing,
    },
    Group {
        entries: &[(
            "geometry/fill/blue_noise",
            "a bear filled with 20,000 particles as blue noise, its surface bound to them",
        )],
        run: geometry::blue_noise,
    },
    Group {
        entries: &[
            (
                "geometry/inspect",
                "100,000 triangles without a common vertex looked over, on one thread and on two",
            ),
            ("geometry/repair", "the same mended: joined to a ring"),
        ],
        run: geometry::care,
    },
    Group {
        entries: &[
            (geometry::COVERINGS[0].0, "a million points covered by about 17,000 clusters, at random"),
            (geometry::COVERINGS[1].0, "the same by farthest points"),
            (geometry::COVERINGS[2].0, "the same by k-means"),
        ],
        run: geometry::clusters,
    },
    Group {
        entries: &[
            (
                geometry::SKINS[0].0,
                "a bear's fine surface moved by particles of tetrahedra that it is bound to",
            ),
            (geometry::SKINS[1].0, "the same bound to the tetrahedra"),
            (geometry::SKINS[2].0, "the same bound to clusters"),
        ],
        run: geometry::skins,
    },
    Group {
        entries: &[
            (
                rotations::STRAINS[0].0,
                "rotations nearest to matrices off by 1e-3, eight at a time, once for each instruction set",
            ),
            (rotations::STRAINS[1].0, "the same off by 0.1"),
            (rotations::STRAINS[2].0, "the same off by 0.5"),
        ],
        run: rotations::rotations,
    },
    Group {
        entries: &[
            (
                export::FILMS[0].0,
                "120 frames of 35,000 vertices on 2,000 particles, from the log to text USD",
            ),
            (export::FILMS[1].0, "the same to a point cache"),
            (export::FILMS[2].0, "the same where all vertices are particles"),
            (export::FILMS[3].0, "the skinned one to Alembic"),
        ],
        run: export::films,
    },
    Group {
        entries: &[
            ("files/ply/read", "a binary PLY of a million triangles, from a file the system has in memory"),
            ("files/ply/write", "the same, into memory"),
            ("files/stl/read", "a binary STL of a million triangles, its corners joined to vertices"),
            ("files/stl/write", "the same, into memory"),
        ],
        run: geometry::files,
    },
];

/// What to measure.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only names that contain this; everything if empty.
    pub filter: String,
    /// Threads for the kernels; 0 for what each benchmark is about, mostly one.
    pub threads: usize,
    /// Instruction set to force on the kernels that have a choice; `None` for the widest.
    pub isa: Option<pliant::Isa>,
    /// A point list to use instead of the built-in bunny, with its cluster radius.
    pub points: Option<(Vec<pliant::DVec3>, f64)>,
}

/// Names and descriptions of all benchmarks.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIMITS.iter().chain(GROUPS.iter().flat_map(|g| g.entries)).copied()
}

/// Measures the limits, then everything the filter lets through, handing out each number as it comes. Gives
/// the frame times of the sizes of `clustered/scaling` that were among them, from the smallest.
pub fn run(options: &Options, mut sink: impl FnMut(Measurement)) -> Result<Vec<FrameTime>, String> {
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
    let limit = |name, value, unit| Measurement::new(name, (value, unit), limits.isa);
    sink(limit("limits/fma", limits.flops / 1e9, "Gflop/s"));
    sink(limit("limits/bandwidth", limits.bandwidth / 1e9, "GB/s"));
    for ((name, _), (_, rate)) in limits::SETS.iter().zip(limits.caches) {
        sink(limit(name, rate / 1e9, "GB/s"));
    }
    let mut run = Run { options, limits: &limits, sink: &mut sink, frames: Vec::new() };
    for group in GROUPS.iter().filter(|g| g.entries.iter().any(|e| wanted(e.0))) {
        (group.run)(&mut run)?;
    }
    Ok(run.frames)
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
    #[test]
    fn numbers_have_the_documented_fields_and_a_known_instruction_set() {
        for isa in [None, Some(pliant::Isa::Baseline)] {
            let options = Options { filter: "scaling/1k".into(), isa, ..Options::default() };
            let mut all = Vec::new();
            let frames = run(&options, |m| all.push(m)).unwrap();
            let names: Vec<&str> = all.iter().map(|m| m.name).collect();
            let limits: Vec<&str> = LIMITS.iter().map(|l| l.0).collect();
            assert_eq!(names[..limits.len()], limits);
            assert_eq!(names[limits.len()..], ["clustered/scaling/1k"]);
            assert_eq!(frames.len(), 1);
            assert_eq!(frames[0].particles, 1000);
            let m = &all[limits.len()];
            assert_eq!(m.isa, isa.unwrap_or(pliant::Isa::best()).name());
            assert!(["baseline", "avx2", "avx512"].contains(&m.isa));
            let share = m.share_of_limit.unwrap();
            // Nothing is faster than what binds it: more than all of a limit is a wrong limit.
            assert!(m.value > 0.0 && share > 0.0 && share <= 1.0, "{m:?}");
            assert!(m.note.starts_with("1000 particles"), "{}", m.note);
            let json = serde_json::to_value(m).unwrap();
            let mut keys: Vec<&String> = json.as_object().unwrap().keys().collect();
            keys.sort_unstable();
            assert_eq!(keys, ["isa", "name", "share_of_limit", "threads", "unit", "value"]);
        }
    }

    #[test]
    fn the_bunny_is_measured_with_every_instruction_set() {
        // A cloud instead of the bunny: small, and the way in for clouds of one's own.
        let points =
            (0..64).map(|i| pliant::DVec3::new(f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16)));
        let points = Some((points.collect(), 2.0));
        let options = Options { filter: "bunny/pass".into(), points, ..Options::default() };
        let mut isas = Vec::new();
        run(&options, |m| isas.extend((m.name == "clustered/bunny/pass").then_some(m.isa))).unwrap();
        let mut known: Vec<&str> = pliant::Isa::available().map(pliant::Isa::name).collect();
        known.reverse();
        assert_eq!(isas, known);
    }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
