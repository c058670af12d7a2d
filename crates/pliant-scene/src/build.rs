//! From a scene to a simulation: files are read, shapes filled, and the engine's objections are led back
//! to the lines that caused them.

use crate::body::BodyPlan;
use crate::built::{BuiltBody, BuiltCollider, BuiltScene};
use crate::collider::ColliderSchedule;
use crate::constraint;
use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::element_choice::ElementChoice;
use crate::event::{self, BodySchedule, EventContext, keyframes};
use crate::format::MOST_PARTICLES;
use crate::inert;
use crate::joint::JointSchedule;
use crate::notes;
use crate::paint::{self, Channel};
use crate::pin;
use crate::render::RenderSurface;
use crate::resolver::{Disk, Resolver};
use crate::scene::Scene;
use crate::shape::{MadeShape, ShapePlan};
use crate::source::{Check, Span};
use pliant::{
    Body, BodyControls, BodyId, BuildError, BuildErrors, Builder, Collider, ColliderShape, Constraint,
    ContactRadius, DAffine3, Input, Material,
};
use pliant_geometry::{Elements, Look, TriMesh, reach_beyond};
use std::sync::Arc;

/// kg/m³ of a solid that does not say: as water.
const DENSITY: f64 = 1000.0;
/// kg/m² of a sheet or shell that does not say: as a light fabric.
/// Parts around a ball or cylinder in pictures.
const ROUND: usize = 64;
const THIN_DENSITY: f64 = 0.3;

impl Scene {
    /// Builds the simulation: reads meshes, fills shapes, clusters. Every problem at once.
    pub fn build(&self, threads: usize) -> Result<BuiltScene, Vec<Diagnostic>> {
        self.build_with(threads, &Disk)
    }

    /// The same with files from elsewhere than the disk.
    pub fn build_with(&self, threads: usize, files: &dyn Resolver) -> Result<BuiltScene, Vec<Diagnostic>> {
        self.check_size()?;
        let mut check = Check::new(&self.source);
        let mut digest = InputDigest::new(files);
        digest.bytes(self.source.text.as_bytes());
        let mut notes = Vec::new();
        let mut built = Vec::new();
        let mut bodies = Vec::new();
        let mut total = 0;
        let mut original = None;
        for plan in &self.bodies {
            // Copies follow their original, whose shape they take and whose faults were told.
            let known = original.take().filter(|_| plan.copy > 0);
            if plan.copy > 0 && known.is_none() {
                continue;
            }
            match self.make_body(plan, known, &mut digest) {
                Ok((body, made)) => {
                    total += made.shape.points.len();
                    if plan.copy == 0 {
                        notes.extend(made.notes.iter().map(|n| format!("body `{}`: {n}", plan.name)));
                    }
                    original = Some(made.clone());
                    built.push(finish(plan, made));
                    bodies.push(body);
                }
                Err(mut problems) => check.problems.append(&mut problems),
            }
            if total > MOST_PARTICLES {
                too_many(&mut check, plan, total);
                break;
            }
        }
        let mut colliders = Vec::new();
        for (k, plan) in self.colliders.iter().enumerate() {
            let mut own = Vec::new();
            colliders.extend(check.take(plan.make(&self.source, &mut digest, &mut own)));
            notes.extend(own.into_iter().map(|n| format!("{}: {n}", plan.title(k))));
        }
        check.finish(())?;

        // All bodies at once, to see whether each can be built; that is the simulation itself unless some come later.
        let body_schedule = BodySchedule::new(&self.events, bodies.len());
        let at_start = body_schedule.at_start;
        if at_start == 0 {
            let text = "every body is added or only described for an event, and none is there from the start";
            return Err(vec![self.source.problem_overall(text, "leave out an `add` event, or add a body")]);
        }
        let located = |errors: BuildErrors| {
            let mut check = Check::new(&self.source);
            check.problems.extend(errors.0.iter().map(|e| self.locate(e)));
            check.finish(()).err().unwrap_or_default()
        };
        let everywhere = (0..bodies.len()).map(BodyId::from).collect();
        let in_file = BodySchedule {
            ids: everywhere,
            order: (0..bodies.len()).collect(),
            at_start: bodies.len(),
            described: Vec::new(),
        };
        let (plans, tracks) = (&self.bodies[..], &self.tracks[..]);
        let mut check = Check::new(&self.source);
        let times = ColliderSchedule::new(&mut check, &colliders, &self.colliders, &self.collider_events);
        check.finish(())?;
        let mut all = self.builder(&colliders, threads);
        all.bodies.clone_from(&bodies);
        all.keyframes = keyframes(plans, tracks, &in_file, |_| true);
        let mut all = all.build().map_err(located)?;
        let mut check = Check::new(&self.source);
        let joints = JointSchedule::new(&mut check, (&self.joints, &self.joint_events), &all, &body_schedule);
        check.finish(())?;
        let inert = inert::refuse(self, all.model());
        if !inert.is_empty() {
            return Err(inert);
        }
        // Where one stands that is never there is nothing to tell.
        let described: Vec<String> = plans
            .iter()
            .zip(&body_schedule.described)
            .filter(|(_, described)| **described)
            .map(|(plan, _)| format!("body `{}`:", plan.name))
            .collect();
        let told = notes::about(self, &all).into_iter();
        notes.extend(told.filter(|note| !described.iter().any(|name| note.starts_with(name))));
        let complete = at_start == bodies.len() && times.at_start.len() == colliders.len();
        let fewer = match complete {
            true => None,
            false => {
                let mut builder = self.builder(&times.at_start, threads);
                builder.bodies = body_schedule.order[..at_start].iter().map(|&b| bodies[b].clone()).collect();
                builder.keyframes = keyframes(plans, tracks, &body_schedule, |b| {
                    body_schedule.order[..at_start].contains(&b)
                });
                builder.couplings.clone_from(&joints.at_start);
                Some(builder.build().map_err(located)?)
            }
        };
        if complete && !joints.at_start.is_empty() {
            // Where their points are is known only now.
            let mut builder = self.builder(&colliders, threads);
            builder.bodies.clone_from(&bodies);
            builder.keyframes = keyframes(plans, tracks, &in_file, |_| true);
            builder.couplings.clone_from(&joints.at_start);
            all = builder.build().map_err(located)?;
        }
        let context =
            EventContext { plans, bodies: &bodies, all: &all, body_schedule: &body_schedule, tracks };
        let events = event::make(
            (&self.events, &times, &joints),
            &context,
            fewer.as_ref().unwrap_or(&all),
            &self.source,
        )?;
        let simulation = fewer.unwrap_or(all);
        let all_built = body_schedule.ids.iter().copied().zip(built).zip(&body_schedule.described);
        let mut by_id: Vec<(BodyId, BuiltBody)> =
            all_built.filter(|(_, d)| !**d).map(|(own, _)| own).collect();
        by_id.sort_by_key(|(id, _)| *id);
        let built = by_id.into_iter().map(|(_, body)| body).collect();
        let (hash, inputs) = digest.finish();
        Ok(BuiltScene {
            simulation,
            events,
            bodies: built,
            colliders: times
                .of_id
                .iter()
                .map(|&k| built_collider(&colliders[k], self.colliders[k].color))
                .collect(),
            frames: self.frames,
            frames_per_second: self.fps,
            checkpoint_every: self.checkpoint_every,
            outputs: self.outputs.clone(),
            picture: self.picture,
            text: self.source.text.clone(),
            hash,
            inputs,
            notes,
        })
    }

    /// Refuses a scene that is too large, as far as that can be told before anything large is made.
    fn check_size(&self) -> Result<(), Vec<Diagnostic>> {
        let mut check = Check::new(&self.source);
        let mut total = 0_usize;
        for plan in &self.bodies {
            total = total.saturating_add(plan.shape.expected(plan.resolution).unwrap_or(0));
            if total > MOST_PARTICLES {
                too_many(&mut check, plan, total);
                break;
            }
        }
        check.finish(())
    }

    fn make_body(
        &self,
        plan: &BodyPlan,
        known: Option<MadeShape>,
        digest: &mut InputDigest<'_>,
    ) -> Result<(Body, MadeShape), Vec<Diagnostic>> {
        let mut made = match known {
            Some(made) => made,
            None => {
                let layout = (plan.resolution, plan.sampling);
                plan.shape.make(layout, plan.cut, &self.source, plan.shape_place(), digest)?
            }
        };
        let placement = DAffine3::from_rotation_translation(plan.rotation, plan.position);
        // Each is made before any is missed: all faults at once.
        let mut check = Check::new(&self.source);
        let input = plan.input.as_ref().map(|input| {
            let sequence = input.make(&mut made, placement, &self.source, digest);
            let sequence = check.take(sequence)?;
            Some((Arc::new(sequence), input.reshape))
        });
        let pins = check.take(pin::make(&plan.pins, &made, placement, &self.source));
        let mut painted =
            |channel| check.take(paint::make(channel, &plan.paint, &made, placement, &self.source));
        let (painted_stiffness, follow) = (painted(Channel::Stiffness), painted(Channel::Follow));
        let painted_tear_strain = painted(Channel::TearStrain).unwrap_or_default();
        let own = plan
            .constraints
            .as_ref()
            .map(|list| check.take(constraint::make(list, &made, &self.source, digest)));
        check.finish(())?;
        let elastic = (plan.cut != ElementChoice::None).then(|| elastic(plan, &made));
        let (usual_mass, usual_constraints) = elastic.unwrap_or_default();
        let constraints = own.map_or(usual_constraints, Option::unwrap_or_default);
        let follow = follow.unwrap_or_default();
        let input = input.flatten().map(|(sequence, reshape)| Input { sequence, follow, reshape });
        let measure: f64 = made.shape.measure.iter().sum();
        let usual = if made.thin { THIN_DENSITY } else { DENSITY };
        let mass = plan.mass.or(usual_mass).unwrap_or(plan.density.unwrap_or(usual) * measure);
        let mut body = Body {
            name: plan.name.clone(),
            shape: made.shape.clone(),
            position: plan.position,
            rotation: plan.rotation,
            stretch: plan.stretch,
            velocity: plan.velocity,
            spin: plan.spin,
            mass,
            solver: plan.solver,
            clusters: plan.clusters,
            cluster_style: plan.cluster_style,
            seed: plan.seed,
            pins: pins.unwrap_or_default(),
            goals: plan.goals,
            two_step: plan.two_step,
            integrator: plan.integrator,
            input,
            constraints,
            painted_stiffness: painted_stiffness.unwrap_or_default(),
            painted_tear_strain,
            contact_radius: ContactRadius::Shown,
            controls: plan.controls,
            color: plan.color,
        };
        if plan.copy == 0 {
            made.shown = plan.render.make(&body, &made, &self.source, digest)?;
            let surface = made.shown.as_ref().map_or(&made.shape.surface, |s| &s.surface);
            made.reach = reach_beyond(&made.shape.points, surface);
        }
        body.contact_radius = match plan.contact_radius {
            Some(radius) => ContactRadius::Fixed(radius),
            None => ContactRadius::Each(made.reach.clone()),
        };
        Ok((body, made))
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

/// Mass and constraints of a body of elements; thin ones without a density have that of cloth.
fn elastic(plan: &BodyPlan, made: &MadeShape) -> (Option<f64>, Vec<Constraint>) {
    let BodyControls { young, poisson, thickness, damping, .. } = plan.controls;
    let density = plan.density.unwrap_or(DENSITY);
    let material = Material { density, young, poisson, thickness, damping };
    let mut shape = made.shape.clone();
    if plan.cut == ElementChoice::Edges {
        // Asked for as threads, whatever surface they show.
        shape.surface = Default::default();
    }
    let body = Body::new("", shape).elastic(material);
    (Some(body.mass).filter(|_| plan.density.is_some() || !made.thin), body.constraints)
}

fn too_many(check: &mut Check<'_>, plan: &BodyPlan, total: usize) {
    check.add(
        plan.shape_place(),
        format!("with body `{}` the scene has {total} particles; {MOST_PARTICLES} are possible", plan.name),
        "ask for fewer particles, a coarser spacing or fewer cells, or leave out bodies",
    );
}

/// What pictures need of a collider.
fn built_collider(of: &Collider, color: [f32; 3]) -> BuiltCollider {
    BuiltCollider { color, surface: surface_of(of) }
}

/// The surface of a collider in its own coordinates; nothing of a plane, which has no end.
fn surface_of(of: &Collider) -> TriMesh {
    match &of.shape {
        ColliderShape::Plane { .. } => TriMesh::default(),
        ColliderShape::Solid(shape) => shape.mesh(ROUND),
        ColliderShape::Mesh { mesh, .. } => mesh.mesh().clone(),
    }
}

/// What pictures and caches need of a body.
fn finish(plan: &BodyPlan, made: MadeShape) -> BuiltBody {
    let usual = match plan.shape {
        ShapePlan::Points { .. } | ShapePlan::Vertices(_) | ShapePlan::Thread { .. } => Look::Matte,
        _ if made.thin => Look::Cloth,
        _ => Look::Jelly,
    };
    let shape = made.shape;
    let all = Elements { tetrahedra: shape.tetrahedra, triangles: shape.triangles, edges: shape.edges };
    let elements = all.largest();
    let own = RenderSurface { surface: shape.surface, attributes: shape.attributes, skin: shape.skin };
    let RenderSurface { surface, attributes, skin } = made.shown.unwrap_or(own);
    BuiltBody {
        name: plan.name.clone(),
        color: plan.color,
        surface,
        attributes,
        skin,
        elements,
        look: plan.look.unwrap_or(usual),
    }
}
