//! A scene: read from a file, checked, and ready to be built.

use crate::body::{self, BodyPlan, WorldSettings};
use crate::collider::{self, ColliderEvent, ColliderPlan};
use crate::copies;
use crate::diagnostic::Diagnostic;
use crate::event::{self, EventPlan, SceneEvents};
use crate::field;
use crate::joint::{self, JointEvent, JointPlan};
use crate::keys;
use crate::reader;
use crate::record::{Record, SceneValue};
use crate::resolver::{Disk, Resolver};
use crate::source::{Check, SourceText};
use crate::track;
use glam::DVec3;
use pliant::{Acceleration, ControlOwner, Field, Implicit, MassMatrix, Track, WarmStart};
use pliant_geometry::{CameraMotion, ColorBy, PictureSettings};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A scene that was read and checked as far as the file alone allows.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(crate) source: SourceText,
    pub(crate) fps: f64,
    pub(crate) frames: u32,
    pub(crate) substeps: u32,
    pub(crate) gravity: DVec3,
    pub(crate) wind: DVec3,
    pub(crate) gusts: f64,
    pub(crate) body_contact: bool,
    pub(crate) sleep_speed: f64,
    pub(crate) fields: Vec<Field>,
    pub(crate) checkpoint_every: u32,
    pub(crate) outputs: Vec<PathBuf>,
    pub(crate) implicit: Implicit,
    pub(crate) picture: PictureSettings,
    pub(crate) colliders: Vec<ColliderPlan>,
    pub(crate) collider_events: Vec<ColliderEvent>,
    pub(crate) joints: Vec<JointPlan>,
    pub(crate) joint_events: Vec<JointEvent>,
    pub(crate) bodies: Vec<BodyPlan>,
    /// Keyframes of the world.
    pub(crate) tracks: Vec<Track>,
    pub(crate) events: Vec<EventPlan>,
    /// The whole scene as read, for the places of its keys.
    pub(crate) root: Record,
}

impl Scene {
    /// Reads and checks a scene file: every problem at once.
    pub fn load(path: &Path) -> Result<Scene, Vec<Diagnostic>> {
        Scene::load_with(path, &Disk)
    }

    /// Reads a scene whose text, and later whose files, come through `files` and not from the disk.
    pub fn load_with(path: &Path, files: &dyn Resolver) -> Result<Scene, Vec<Diagnostic>> {
        let whole = |message: String, help: &str, is_io: bool| {
            vec![Diagnostic {
                file: path.to_path_buf(),
                message,
                help: help.into(),
                is_io,
                ..Diagnostic::default()
            }]
        };
        let bytes = files.read(path).map_err(|why| {
            let help = "check the path and that you may read it; `pliant demos` lists built-in scenes";
            whole(format!("cannot read the scene: {why}"), help, true)
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Scene::parse(&text, path),
            Err(bad) => {
                let good = bad.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(&bad.as_bytes()[..good]).into_owned();
                let source = SourceText { file: path.to_path_buf(), text, around: None };
                Err(vec![source.problem(
                    &(good..good),
                    "this is not text in UTF-8",
                    "save the file as UTF-8 text; scene files are TOML",
                )])
            }
        }
    }

    /// Checks a scene text; paths in it are relative to `file`'s folder.
    pub fn parse(text: &str, file: &Path) -> Result<Scene, Vec<Diagnostic>> {
        Scene::of_source(SourceText { file: file.to_path_buf(), text: text.to_string(), around: None })
    }

    /// The same of a text that was made around a mesh and is in no file: problems are told of the mesh. Paths in it are
    /// relative to the current folder.
    pub fn parse_around(text: &str, mesh: &Path) -> Result<Scene, Vec<Diagnostic>> {
        let file = PathBuf::from(mesh.with_extension("toml").file_name().unwrap_or_default());
        Scene::of_source(SourceText { file, text: text.to_string(), around: Some(mesh.to_path_buf()) })
    }

    fn of_source(source: SourceText) -> Result<Scene, Vec<Diagnostic>> {
        let mut check = Check::new(&source);
        let scene = reader::read(&mut check).map(|root| Scene::from_root(&mut check, root));
        match check.finish(scene)? {
            Some(scene) => Ok(scene),
            // Unreachable in practice: a text that is no TOML has a problem at least.
            None => Err(vec![source.problem_overall("this is no scene", "")]),
        }
    }

    fn from_root(check: &mut Check<'_>, root: Record) -> Scene {
        let fps = root.number("fps");
        let substeps = root.whole("substeps") as u32;
        let materials = match root.given("materials").map(|m| &m.it) {
            Some(SceneValue::Named(list)) => list.as_slice(),
            _ => &[],
        };
        let around = WorldSettings {
            solver: body::solver(&root.text("solver")),
            fps,
            substep: 1.0 / (fps * f64::from(substeps)),
            materials,
            wind: root.vector("wind") != DVec3::ZERO || drives_wind(&root),
        };
        let records = root.records("body");
        if records.is_empty() && check.problems.is_empty() {
            check.problems.push(check.source.problem_overall(
                "there is no body in the scene",
                "add one: a line [[body]] and under it shape = \"ball\"",
            ));
        }
        let names = names(check, records);
        let bodies = records.iter().zip(names).enumerate();
        let bodies = bodies.filter_map(|(i, (r, name))| body::plan(check, r, i, name, &around));
        let bodies = bodies.collect();
        let bodies = copies::expand(check, bodies);
        let tracks = track::plan(check, root.records("keyframes"), ControlOwner::World, &[], around.substep);
        let colliders = collider::plan_all(check, &root, fps);
        let joints = joint::plan(check, &root, &bodies, around.substep);
        let scene_events = event::plan(check, &root, (&bodies, &colliders, &joints), fps);
        let SceneEvents { bodies: events, colliders: collider_events, joints: joint_events } = scene_events;
        let (outputs, checkpoint_every) = output(check, &root);
        Scene {
            source: check.source.clone(),
            fps,
            frames: root.whole("frames") as u32,
            substeps,
            gravity: root.vector("gravity"),
            wind: root.vector("wind"),
            gusts: root.number("gusts"),
            body_contact: root.truth("body_contact"),
            sleep_speed: root.number("sleep_speed"),
            fields: field::plan(check, &root),
            checkpoint_every,
            outputs,
            implicit: implicit(&root),
            picture: picture(&root),
            colliders,
            collider_events,
            joints,
            joint_events,
            bodies,
            tracks,
            events,
            root,
        }
    }
}

/// Whether keyframes let wind come up.
fn drives_wind(root: &Record) -> bool {
    let of_wind = |r: &Record| r.given("control").is_some_and(|c| c.it.text() == "wind");
    root.records("keyframes").iter().any(of_wind)
}

/// A name for each body: its own, or its shape's with a number if there are several.
fn names(check: &mut Check<'_>, bodies: &[Record]) -> Vec<String> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for body in bodies {
        let Some(name) = body.given("name") else { continue };
        let line = check.source.place(name.at.start).0;
        if let Some(first) = taken.get(name.it.text()) {
            let message =
                format!("there is a body named {} already, in line {first}", check.source.quote(&name.at));
            check.add(&name.at, message, "give each body a name of its own");
        }
        taken.entry(name.it.text().to_string()).or_insert(line);
    }
    let mut names = Vec::with_capacity(bodies.len());
    for body in bodies {
        if let Some(name) = body.given("name") {
            names.push(name.it.text().to_string());
            continue;
        }
        let shape = body.record("shape").and_then(|s| s.tag.as_ref());
        let base = shape.map_or("body", |t| t.it);
        let mut name = base.to_string();
        let mut count = 1;
        while taken.contains_key(&name) {
            count += 1;
            name = format!("{base}_{count}");
        }
        taken.insert(name.clone(), 0);
        names.push(name);
    }
    names
}

fn output(check: &mut Check<'_>, root: &Record) -> (Vec<PathBuf>, u32) {
    let output = root.record_or_empty("output", &keys::OUTPUT);
    let mut paths: Vec<PathBuf> = Vec::new();
    for file in output.value("files").list() {
        let path = check.source.resolve(file.it.text());
        if paths.contains(&path) {
            let message = format!("{} is written twice", check.source.quote(&file.at));
            check.add(&file.at, message, "name each file once");
        }
        paths.push(path);
    }
    (paths, output.whole("checkpoint_every") as u32)
}

fn implicit(root: &Record) -> Implicit {
    let table = root.record_or_empty("implicit", &keys::IMPLICIT);
    Implicit {
        warm_start: match table.text("warm_start").as_str() {
            "last" => WarmStart::Last,
            _ => WarmStart::Prediction,
        },
        mass: match table.text("mass").as_str() {
            "consistent" => MassMatrix::Consistent,
            _ => MassMatrix::Lumped,
        },
        acceleration: match table.text("acceleration").as_str() {
            "lbfgs" => Acceleration::LBfgs,
            "anderson" => Acceleration::Anderson,
            _ => Acceleration::None,
        },
        tolerance: table.number("tolerance"),
        implicitness: table.number("implicitness"),
    }
}

fn picture(root: &Record) -> PictureSettings {
    let picture = root.record_or_empty("picture", &keys::PICTURE);
    PictureSettings {
        width: picture.whole("width") as u32,
        height: picture.whole("height") as u32,
        // The reader has refused other words.
        color_by: ColorBy::named(&picture.text("color_by")).unwrap_or_default(),
        azimuth: picture.number("azimuth"),
        elevation: picture.number("elevation"),
        camera: CameraMotion::named(&picture.text("camera")).unwrap_or_default(),
    }
}
