//! Animated input of a body or a collider: a point cache, a moving glTF file, a sequence of meshes, or a wagging made up from numbers.

mod wag;

use crate::Diagnostic;
use crate::digest::InputDigest;
use crate::mesh;
use crate::record::Record;
use crate::resolver::Resolver;
use crate::shape::{self, MadeShape};
use crate::source::{Check, Located, SourceText, Span};
use glam::DVec3;
use pliant::solvers::{Feature, Support, support};
use pliant::{Body, DAffine3, Sequence, SolverKind};
use pliant_geometry::{TriMesh, VertexAnimation, join, parse_mdd, parse_pc2};
use std::path::{Path, PathBuf};
use wag::Wag;

/// An animated input as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct InputPlan {
    at: Span,
    of: InputKind,
    /// Frames of the animation a second.
    fps: f64,
    repeat: bool,
    pub reshape: bool,
}

/// What follows an animation.
#[derive(Clone, Copy)]
pub(crate) struct Animated<'a> {
    /// Its points at rest, in its own coordinates.
    pub points: &'a [DVec3],
    /// From the coordinates of its file to its own.
    pub from_file: DAffine3,
    pub owner: InputOwner,
}

#[derive(Clone, Copy)]
pub(crate) enum InputOwner {
    Body,
    /// A body that never deforms, whose points are the vertices of its mesh.
    Rigid,
    Collider,
}

#[derive(Clone, Debug)]
enum InputKind {
    Cache(Located<String>),
    Meshes(Located<NumberedFiles>),
    Wag(Wag),
}

/// Names of numbered files.
#[derive(Clone, Debug)]
struct NumberedFiles {
    folder: String,
    before: String,
    digits: usize,
    after: String,
}

/// Most positions of a wagging, over all its samples: about a gigabyte.
const MOST_POSITIONS: usize = 50_000_000;
/// Files with faults of one sequence that are named one by one.
const SHOWN: usize = 20;

/// Reads the input of a body; `None` if there is none or it has faults, which were reported.
pub(crate) fn plan(check: &mut Check<'_>, body: &Record, solver: SolverKind, fps: f64) -> Option<InputPlan> {
    let input = body.record("input")?;
    if let Support::No(instead) = support(solver, Feature::AnimatedInput) {
        let text = format!("the {} solver does not support animated inputs", solver.name());
        check.add(&input.at, text, instead);
    }
    if solver == SolverKind::Rigid {
        return of_rigid(check, input, fps);
    }
    let reshape = input.truth("reshape");
    let paints = |p: &Record| p.given("channel").is_some_and(|c| c.it.text() == "follow");
    if !reshape && !body.records("paint").iter().any(paints) {
        check.add(
            input.place("reshape"),
            "nothing follows this input: the rest shape does not, and no particle is painted to",
            "add [[body.paint]] with channel = \"follow\", or leave `reshape` out",
        );
    }
    let of = kind(check, input)?;
    Some(InputPlan { reshape, ..of_kind(input, of, fps) })
}

/// Reads the input that leads a rigid body.
fn of_rigid(check: &mut Check<'_>, input: &Record, fps: f64) -> Option<InputPlan> {
    if let Some(given) = input.given("reshape") {
        let help = "a rigid body goes where its input has it and keeps its shape: remove it";
        check.add(&given.at, "`reshape` is not for rigid bodies", help);
    }
    let mut of = kind(check, input)?;
    if let InputKind::Wag(own) = &mut of {
        let bend = input.record("wag").and_then(|w| w.given("bend")).filter(|b| b.it.truth());
        if let Some(given) = bend {
            check.add(&given.at, "a rigid body does not bend", "remove it: the body turns as a whole");
        }
        own.along = None;
    }
    Some(of_kind(input, of, fps))
}

/// Reads the input of a collider.
pub(crate) fn of_collider(check: &mut Check<'_>, collider: &Record, fps: f64) -> Option<InputPlan> {
    let input = collider.record("input")?;
    let of = kind(check, input)?;
    Some(of_kind(input, of, fps))
}

fn of_kind(input: &Record, of: InputKind, fps: f64) -> InputPlan {
    InputPlan {
        at: input.at.clone(),
        of,
        fps: input.given("fps").map_or(fps, |v| v.it.number()),
        repeat: input.truth("repeat"),
        reshape: false,
    }
}

fn kind(check: &mut Check<'_>, input: &Record) -> Option<InputKind> {
    Some(if let Some(file) = input.given("file") {
        InputKind::Cache(Located { at: file.at.clone(), it: file.it.text().to_string() })
    } else if let Some(files) = input.given("files") {
        InputKind::Meshes(Located { at: files.at.clone(), it: pattern(check, files.it.text(), &files.at)? })
    } else {
        for key in ["fps", "repeat"] {
            if let Some(given) = input.given(key) {
                let text = format!("`{key}` has no meaning for a wagging, which repeats by itself");
                check.add(&given.at, text, "it is for `file` and `files`: remove it");
            }
        }
        InputKind::Wag(Wag::new(check, input.record("wag")?)?)
    })
}

fn pattern(check: &mut Check<'_>, text: &str, at: &Span) -> Option<NumberedFiles> {
    let (folder, name) = text.rfind('/').map_or(("", text), |i| text.split_at(i + 1));
    let first = name.find('#');
    let last = name.rfind('#');
    let (Some(first), Some(last)) = (first, last) else {
        let help = "write a # for each digit, as \"walk_####.obj\"; or give one .pc2 file in `file`";
        check.add(at, "there is no # in the name, where the files have their number", help);
        return None;
    };
    let digits = last + 1 - first;
    if name[first..=last].bytes().any(|b| b != b'#') || folder.contains('#') {
        let help = "put all # together in the name of the file, as \"walk_####.obj\"";
        check.add(at, "the # are in several places; only one number can count the frames", help);
        return None;
    }
    if digits > 18 {
        check.add(at, "a number of more than 18 digits", "write a # for each digit, as \"walk_####.obj\"");
        return None;
    }
    let [folder, before, after] = [folder, &name[..first], &name[last + 1..]].map(String::from);
    Some(NumberedFiles { folder, before, digits, after })
}

impl InputPlan {
    /// The sequence of a made body's particles, before the body is placed.
    pub fn make(
        &self,
        made: &mut MadeShape,
        placement: DAffine3,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
    ) -> Result<Sequence, Vec<Diagnostic>> {
        let of = Animated { points: &made.shape.points, from_file: made.from_file, owner: InputOwner::Body };
        self.sequence(of, placement, (source, digest), &mut made.notes)
    }

    /// The sequence of the particles of a body that never deforms: each frame as a whole where it fits the vertices best.
    pub fn make_rigid(
        &self,
        made: &mut MadeShape,
        placement: DAffine3,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
    ) -> Result<Sequence, Vec<Diagnostic>> {
        let points = &made.shape.surface.positions;
        let of = Animated { points, from_file: made.from_file, owner: InputOwner::Rigid };
        let sequence = self.sequence(of, placement, (source, digest), &mut made.notes)?;
        let told = |e: pliant::SequenceError| vec![source.problem(&self.at, e.to_string(), e.help)];
        let led = Body::rigid("", made.shape.clone()).following(&sequence).map_err(told)?;
        let input = led.input.map(|input| Sequence::clone(&input.sequence));
        input.ok_or_else(|| vec![source.problem(&self.at, "nothing follows this input", "leave it out")])
    }

    /// The sequence of what has these points, before it is placed.
    pub fn sequence(
        &self,
        of: Animated<'_>,
        placement: DAffine3,
        (source, digest): (&SourceText, &mut InputDigest<'_>),
        notes: &mut Vec<String>,
    ) -> Result<Sequence, Vec<Diagnostic>> {
        let (mut frames, per_second, repeats) = match &self.of {
            InputKind::Cache(file) => {
                let (frames, per_second) = self.cache(file, source, digest)?;
                (frames, per_second, self.repeat)
            }
            InputKind::Meshes(pattern) => (meshes(pattern, source, digest)?, self.fps, self.repeat),
            InputKind::Wag(wag) => {
                let (frames, per_second) = wag.frames(of.points, placement, self.fps, source)?;
                (frames, per_second, true)
            }
        };
        if !matches!(self.of, InputKind::Wag(_)) {
            frames.iter_mut().flatten().for_each(|p| *p = of.from_file.transform_point3(*p));
            notes.extend(self.fits(&frames[0], of, source)?);
        }
        let sequence = Sequence::new(frames, per_second).map_err(|faults| {
            let problem = |f: &pliant::SequenceError| source.problem(&self.at, f.to_string(), f.help);
            faults.iter().take(SHOWN).map(problem).collect::<Vec<_>>()
        })?;
        Ok(if repeats { sequence.repeating() } else { sequence })
    }

    /// Frames of a point cache or of a glTF file that moves, and how many there are a second.
    fn cache(
        &self,
        file: &Located<String>,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
    ) -> Result<(Vec<Vec<DVec3>>, f64), Vec<Diagnostic>> {
        let extension = Path::new(&file.it).extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let animation = match extension.as_str() {
            "gltf" | "glb" => {
                join(&mesh::read_file(source, file, digest)?.meshes).animation.ok_or_else(|| {
                    let help =
                        "export it with its animation (morph targets or moving nodes), or leave `input` out";
                    vec![source.problem(&file.at, "nothing moves in the file", help)]
                })?
            }
            "mdd" => {
                let bytes = shape::read(source, file, digest)?;
                parse_mdd(&bytes).map_err(|e| shape::in_file(source, file, e))?
            }
            _ => {
                let bytes = shape::read(source, file, digest)?;
                let cache = parse_pc2(&bytes).map_err(|e| shape::in_file(source, file, e))?;
                return Ok((cache.samples, self.fps / cache.rate));
            }
        };
        Ok((evenly(&animation, self.fps), self.fps))
    }

    /// Whether the frames are of these points, as far as can be told; returns what is worth knowing.
    fn fits(
        &self,
        first: &[DVec3],
        of: Animated<'_>,
        source: &SourceText,
    ) -> Result<Option<String>, Vec<Diagnostic>> {
        let points = of.points;
        if first.len() != points.len() {
            let (found, wanted) = (first.len(), points.len());
            let (has, help) = match of.owner {
                InputOwner::Body => (
                    format!("the body {wanted} particles"),
                    "let the particles be the vertices of the animated mesh: \
                     shape = { kind = \"vertices\", file = \"…\" }, with the mesh the animation was made from",
                ),
                InputOwner::Rigid => (
                    format!("the mesh of the body {wanted} vertices"),
                    "give the mesh that the animation was made from; its vertices must stay the same",
                ),
                InputOwner::Collider => (
                    format!("the mesh of the collider {wanted} vertices"),
                    "give the mesh that the animation was made from; its vertices must stay the same",
                ),
            };
            let text = format!("the input has {found} points, {has}");
            return Err(vec![source.problem(self.place(), text, help)]);
        }
        let (lo, hi) = TriMesh::bounds(points).unwrap_or_default();
        let apart = first.iter().zip(points).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        Ok((apart > 0.5 * (hi - lo).length()).then(|| {
            format!(
                "its input begins up to {apart:.3} m away from its shape: check that both have the same \
                 scale, upward axis and order of vertices"
            )
        }))
    }

    /// Where what is followed is named.
    fn place(&self) -> &Span {
        match &self.of {
            InputKind::Cache(file) => &file.at,
            InputKind::Meshes(pattern) => &pattern.at,
            InputKind::Wag(wag) => &wag.at,
        }
    }
}

/// The frames of a motion at even times from its first to its last, straight between its samples.
fn evenly(animation: &VertexAnimation, fps: f64) -> Vec<Vec<DVec3>> {
    let (Some(&begin), Some(&end)) = (animation.times.first(), animation.times.last()) else {
        return Vec::new();
    };
    let points = animation.samples[0].len().max(1);
    let most = (MOST_POSITIONS / points).max(1) as f64;
    let count = (((end - begin) * fps).round().clamp(0.0, most - 1.0)) as usize + 1;
    let frame = |k: usize| {
        let time = begin + k as f64 / fps;
        let next = animation.times.partition_point(|&t| t <= time).min(animation.times.len() - 1);
        let before = next.saturating_sub(1);
        let span = animation.times[next] - animation.times[before];
        let part = if span > 0.0 { ((time - animation.times[before]) / span).clamp(0.0, 1.0) } else { 1.0 };
        let pairs = animation.samples[before].iter().zip(&animation.samples[next]);
        pairs.map(|(a, b)| a.lerp(*b, part)).collect()
    };
    (0..count).map(frame).collect()
}

/// The vertices of numbered meshes, in the order of their numbers: every fault of every file at once.
fn meshes(
    pattern: &Located<NumberedFiles>,
    source: &SourceText,
    digest: &mut InputDigest<'_>,
) -> Result<Vec<Vec<DVec3>>, Vec<Diagnostic>> {
    let NumberedFiles { folder, before, digits, after } = &pattern.it;
    let numbered = number_files(pattern, source, digest.resolver())?;
    let mut problems = gaps(&numbered, pattern, source);
    let mut frames: Vec<Vec<DVec3>> = Vec::with_capacity(numbered.len());
    let mut first: Option<(usize, String)> = None;
    let mut bad = 0;
    for number in &numbered {
        let name = format!("{before}{number:0digits$}{after}");
        let file = Located { at: pattern.at.clone(), it: format!("{folder}{name}") };
        let read = mesh::read_vertices(source, &file, digest).and_then(|positions| {
            let count = positions.len();
            let (wanted, whose) = first.get_or_insert((count, name));
            if count == *wanted {
                return Ok(positions);
            }
            let text = format!("frame {number} has {count} vertices, {whose} has {wanted}");
            let help = "export all frames from one mesh whose vertices stay the same, without modifiers that \
                        add or remove some";
            let error = pliant_geometry::GeometryError::new(text, help);
            Err(shape::in_file(source, &file, vec![error]))
        });
        match read {
            Ok(positions) => frames.push(positions),
            Err(mut found) => {
                bad += 1;
                if bad <= SHOWN {
                    problems.append(&mut found);
                }
            }
        }
    }
    if bad > SHOWN {
        let text = format!("{} more files of the sequence have faults", bad - SHOWN);
        problems.push(source.problem(&pattern.at, text, "correct the ones named first"));
    }
    if problems.is_empty() { Ok(frames) } else { Err(problems) }
}

/// The numbers of the files that match a pattern, in order; at least one.
fn number_files(
    pattern: &Located<NumberedFiles>,
    source: &SourceText,
    resolver: &dyn Resolver,
) -> Result<Vec<u64>, Vec<Diagnostic>> {
    let NumberedFiles { folder, before, digits, after } = &pattern.it;
    let mut path = source.resolve(folder);
    if path.as_os_str().is_empty() {
        path = PathBuf::from(".");
    }
    let unread = |why: std::io::Error| {
        let help = "check the path, which is relative to the scene's folder, and that you may read it";
        let problem = source.problem(&pattern.at, format!("cannot read {}: {why}", path.display()), help);
        vec![Diagnostic { is_io: true, ..problem }]
    };
    let mut numbers = Vec::new();
    for name in resolver.list(&path).map_err(unread)? {
        let middle = name.strip_prefix(before.as_str()).and_then(|n| n.strip_suffix(after.as_str()));
        let Some(middle) = middle.filter(|m| m.len() == *digits && m.bytes().all(|b| b.is_ascii_digit()))
        else {
            continue;
        };
        numbers.extend(middle.parse::<u64>());
    }
    numbers.sort_unstable();
    if numbers.is_empty() {
        let text = format!("there is no file {before}{}{after} in {}", "#".repeat(*digits), path.display());
        let help = "each # stands for one digit; the folder is relative to the scene's";
        return Err(vec![Diagnostic { is_io: true, ..source.problem(&pattern.at, text, help) }]);
    }
    Ok(numbers)
}

/// Numbers that are missing between others.
fn gaps(numbers: &[u64], pattern: &Located<NumberedFiles>, source: &SourceText) -> Vec<Diagnostic> {
    let width = pattern.it.digits;
    let missing: Vec<String> = numbers
        .windows(2)
        .filter(|w| w[1] > w[0] + 1)
        .map(|w| match w[1] - w[0] {
            2 => format!("{:0width$}", w[0] + 1),
            _ => format!("{:0width$} to {:0width$}", w[0] + 1, w[1] - 1),
        })
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let more = if missing.len() > SHOWN { ", and more" } else { "" };
    let shown = &missing[..missing.len().min(SHOWN)];
    let text = format!("frames are missing in the sequence: {}{more}", shown.join(", "));
    vec![source.problem(&pattern.at, text, "export them too, or number the files without gaps")]
}
