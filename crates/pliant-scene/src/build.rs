//! From a scene to a simulation: what is there from the start and what comes by events is put together, and the engine's
//! objections are led back to the lines that caused them.

mod parts;

use crate::built::{BuiltBody, BuiltScene, SceneSettings};
use crate::collider::ColliderSchedule;
use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::event::{self, BodySchedule, EventContext, keyframes};
use crate::inert;
use crate::joint::JointSchedule;
use crate::notes;
use crate::resolver::{Disk, Resolver};
use crate::scene::Scene;
use crate::source::{Check, Span};
use pliant::{Body, BodyId, BuildError, Builder, Collider, Simulation};

impl Scene {
    /// Builds the simulation: reads meshes, fills shapes, clusters. Every problem at once.
    pub fn build(&self, threads: usize) -> Result<BuiltScene, Vec<Diagnostic>> {
        self.build_with(threads, &Disk)
    }

    /// Builds the scene with the files it names read through `files`: from an archive, a server, or memory. All that is
    /// wrong comes back at once.
    pub fn build_with(&self, threads: usize, files: &dyn Resolver) -> Result<BuiltScene, Vec<Diagnostic>> {
        self.check_size()?;
        let mut digest = InputDigest::new(files);
        digest.bytes(self.source.text.as_bytes());
        let mut notes = Vec::new();
        let parts = self.make_parts(&mut digest, &mut notes)?;
        let body_schedule = BodySchedule::new(&self.events, parts.bodies.len());
        if body_schedule.at_start == 0 {
            let text = "every body is added or only described for an event, and none is there from the start";
            return Err(vec![self.source.problem_overall(text, "leave out an `add` event, or add a body")]);
        }
        let mut check = Check::new(&self.source);
        let collider_schedule =
            ColliderSchedule::new(&mut check, &parts.colliders, &self.colliders, &self.collider_events);
        check.finish(())?;

        // All bodies at once, to see whether each can be built; that is the simulation itself unless some come later.
        let in_file = BodySchedule::all_at_start(parts.bodies.len());
        let simulation =
            |colliders: &[Collider], schedule: &BodySchedule, joints: Option<&JointSchedule<'_>>| {
                self.simulation(threads, colliders, (&parts.bodies, schedule), joints)
            };
        let mut all = simulation(&parts.colliders, &in_file, None)?;
        let mut check = Check::new(&self.source);
        let joints = JointSchedule::new(
            &mut check,
            (&self.joints, &self.joint_events),
            (&all, &self.bodies),
            &body_schedule,
        );
        check.finish(())?;
        let inert = inert::refuse(self, all.model());
        if !inert.is_empty() {
            return Err(inert);
        }
        notes.extend(self.notes_about(&all, &body_schedule));
        notes.extend(joints.notes.iter().cloned());
        let complete = body_schedule.at_start == parts.bodies.len()
            && collider_schedule.at_start.len() == parts.colliders.len();
        let mut fewer = None;
        if !complete {
            fewer = Some(simulation(&collider_schedule.at_start, &body_schedule, Some(&joints))?);
        } else if !joints.at_start.is_empty() {
            // Where their points are is known only now.
            all = simulation(&parts.colliders, &in_file, Some(&joints))?;
        }
        let events = event::make(
            (&self.events, &collider_schedule, &joints),
            &EventContext {
                plans: &self.bodies,
                bodies: &parts.bodies,
                all: &all,
                body_schedule: &body_schedule,
                tracks: &self.tracks,
            },
            fewer.as_ref().unwrap_or(&all),
            &self.source,
        )?;
        let (hash, inputs) = digest.finish();
        Ok(BuiltScene {
            simulation: fewer.unwrap_or(all),
            events,
            colliders: self.shown_colliders(&parts.colliders, &collider_schedule),
            bodies: in_order_of_ids(parts.shown, &body_schedule),
            settings: SceneSettings {
                frames: self.frames,
                frames_per_second: self.fps,
                checkpoint_every: self.checkpoint_every,
                outputs: self.outputs.clone(),
                picture: self.picture,
                text: self.source.text.clone(),
                hash,
                inputs,
                notes,
            },
        })
    }

    /// A simulation of these colliders and couplings and of the bodies that are there from the start.
    fn simulation(
        &self,
        threads: usize,
        colliders: &[Collider],
        (bodies, schedule): (&[Body], &BodySchedule),
        joints: Option<&JointSchedule<'_>>,
    ) -> Result<Simulation, Vec<Diagnostic>> {
        let there = &schedule.order[..schedule.at_start];
        let mut builder = self.builder(colliders, threads);
        builder.bodies = there.iter().map(|&b| bodies[b].clone()).collect();
        builder.keyframes = keyframes(&self.bodies, &self.tracks, schedule, |b| there.contains(&b));
        if let Some(joints) = joints {
            builder.couplings.clone_from(&joints.at_start);
            builder.keyframes.tracks.extend(joints.tracks(0));
        }
        builder.build().map_err(|errors| {
            let mut check = Check::new(&self.source);
            check.problems.extend(errors.0.iter().map(|e| self.locate(e)));
            check.finish(()).err().unwrap_or_default()
        })
    }

    /// Notes on bodies as they are built. Where one stands that is never there is nothing to tell.
    fn notes_about(&self, all: &Simulation, schedule: &BodySchedule) -> Vec<String> {
        let plans = self.bodies.iter().zip(&schedule.described).filter(|(_, described)| **described);
        let described: Vec<String> = plans.map(|(plan, _)| format!("body `{}`:", plan.name)).collect();
        let mut notes = notes::about(self, all);
        notes.retain(|note| !described.iter().any(|name| note.starts_with(name)));
        notes
    }

    /// The world with these colliders, without bodies.
    fn builder(&self, colliders: &[Collider], threads: usize) -> Builder {
        let mut builder = Builder::new();
        builder.gravity = self.gravity;
        (builder.wind, builder.gusts) = (self.wind, self.gusts);
        builder.step = 1.0 / self.fps;
        builder.substeps = self.substeps;
        builder.colliders = colliders.to_vec();
        builder.fields = self.fields.clone();
        builder.implicit = self.implicit;
        builder.body_contact = self.body_contact;
        builder.sleep_speed = self.sleep_speed;
        builder.threads = threads.max(1);
        builder
    }

    /// An objection of the engine's, at the line that caused it.
    fn locate(&self, error: &BuildError) -> Diagnostic {
        let text = format!("`{}`: {}", error.field, error.message);
        match error.body.and_then(|b| self.bodies.get(b)) {
            Some(body) => {
                let text = format!("body `{}`, {text}", body.name);
                self.source.problem(body.place(error.field), text, &error.help)
            }
            None => {
                let key = match error.field {
                    "step" => "fps",
                    "colliders" if self.root.values.contains_key("collider") => "collider",
                    "colliders" => "plane",
                    "couplings" => "joint",
                    "bodies" => "body",
                    other => other,
                };
                let value = self.root.values.get(key).map(|v| &v.at);
                let stiffest = || self.stiffest().filter(|_| error.field == "stiffness");
                match value.or_else(stiffest) {
                    Some(at) => self.source.problem(at, text, &error.help),
                    None => self.source.problem_overall(text, &error.help),
                }
            }
        }
    }
}

impl Scene {
    /// Where the largest stiffness of the projective solver was set: what most likely spoils its matrix.
    fn stiffest(&self) -> Option<&Span> {
        let bodies = self.bodies.iter().filter(|b| b.solver.uses_constraints());
        let set =
            bodies.flat_map(|b| ["frequency", "alpha", "edge_stiffness", "young"].map(|key| b.given(key)));
        let largest = set.flatten().max_by(|a, b| a.it.number().total_cmp(&b.it.number()));
        largest.map(|v| &v.at)
    }
}

/// The bodies that will ever be there, by their ids.
fn in_order_of_ids(shown: Vec<BuiltBody>, schedule: &BodySchedule) -> Vec<BuiltBody> {
    let all = schedule.ids.iter().zip(shown).zip(&schedule.described);
    let mut by_id: Vec<(BodyId, BuiltBody)> =
        all.filter(|(_, described)| !**described).map(|((id, body), _)| (*id, body)).collect();
    by_id.sort_by_key(|(id, _)| *id);
    by_id.into_iter().map(|(_, body)| body).collect()
}
