//! What a simulation is put together from: files are read, shapes filled, and each body and collider made with what pictures
//! need of it.

use crate::body::BodyPlan;
use crate::built::{BuiltBody, BuiltCollider};
use crate::collider::ColliderSchedule;
use crate::constraint;
use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::element_choice::ElementChoice;
use crate::format::MOST_PARTICLES;
use crate::paint::{self, Channel};
use crate::pin;
use crate::render::RenderSurface;
use crate::scene::Scene;
use crate::shape::{MadeShape, ShapePlan};
use crate::source::Check;
use pliant::{
    Body, BodyControls, Collider, ColliderShape, Constraint, ContactRadius, DAffine3, Input, Material,
    SolverKind,
};
use pliant_geometry::{Elements, Look, TriMesh, reach_beyond};
use std::sync::Arc;

/// kg/m³ of a solid that does not say: as water.
const DENSITY: f64 = 1000.0;
/// kg/m² of a sheet or shell that does not say: as a light fabric.
const THIN_DENSITY: f64 = 0.3;
/// Parts around a ball or cylinder in pictures.
const ROUND: usize = 64;

/// Bodies and colliders in the order of the file.
pub(super) struct Parts {
    pub bodies: Vec<Body>,
    /// What pictures and caches need of each body.
    pub shown: Vec<BuiltBody>,
    pub colliders: Vec<Collider>,
}

impl Scene {
    /// Makes all bodies and colliders: every problem at once.
    pub(super) fn make_parts(
        &self,
        digest: &mut InputDigest<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Parts, Vec<Diagnostic>> {
        let mut check = Check::new(&self.source);
        let (bodies, shown) = self.make_bodies(&mut check, digest, notes);
        let mut colliders = Vec::new();
        for (k, plan) in self.colliders.iter().enumerate() {
            let mut own = Vec::new();
            colliders.extend(check.take(plan.make(&self.source, digest, &mut own)));
            notes.extend(own.into_iter().map(|n| format!("{}: {n}", plan.title(k))));
        }
        check.finish(Parts { bodies, shown, colliders })
    }

    fn make_bodies(
        &self,
        check: &mut Check<'_>,
        digest: &mut InputDigest<'_>,
        notes: &mut Vec<String>,
    ) -> (Vec<Body>, Vec<BuiltBody>) {
        let (mut bodies, mut shown) = (Vec::new(), Vec::new());
        let mut total = 0;
        let mut original = None;
        for plan in &self.bodies {
            // Copies follow their original, whose shape they take and whose faults were told.
            let known = original.take().filter(|_| plan.copy > 0);
            if plan.copy > 0 && known.is_none() {
                continue;
            }
            match self.make_body(plan, known, digest) {
                Ok((body, made)) => {
                    total += made.shape.points.len();
                    if plan.copy == 0 {
                        notes.extend(made.notes.iter().map(|n| format!("body `{}`: {n}", plan.name)));
                    }
                    original = Some(made.clone());
                    shown.push(shown_body(plan, made));
                    bodies.push(body);
                }
                Err(mut problems) => check.problems.append(&mut problems),
            }
            if total > MOST_PARTICLES {
                too_many(check, plan, total);
                break;
            }
        }
        (bodies, shown)
    }

    /// Refuses a scene that is too large, as far as that can be told before anything large is made.
    pub(super) fn check_size(&self) -> Result<(), Vec<Diagnostic>> {
        let mut check = Check::new(&self.source);
        let mut total = 0_usize;
        for plan in &self.bodies {
            let own = match plan.solver {
                SolverKind::Rigid => Some(4),
                _ => plan.shape.expected(plan.resolution),
            };
            total = total.saturating_add(own.unwrap_or(0));
            if total > MOST_PARTICLES {
                too_many(&mut check, plan, total);
                break;
            }
        }
        check.finish(())
    }

    fn make_shape(
        &self,
        plan: &BodyPlan,
        digest: &mut InputDigest<'_>,
    ) -> Result<MadeShape, Vec<Diagnostic>> {
        let (layout, at) = ((plan.resolution, plan.sampling), plan.shape_place());
        match plan.solver {
            SolverKind::Rigid => plan.shape.make_rigid(&self.source, at, digest),
            _ => plan.shape.make(layout, plan.cut, &self.source, at, digest),
        }
    }

    fn make_body(
        &self,
        plan: &BodyPlan,
        known: Option<MadeShape>,
        digest: &mut InputDigest<'_>,
    ) -> Result<(Body, MadeShape), Vec<Diagnostic>> {
        let mut made = known.map_or_else(|| self.make_shape(plan, digest), Ok)?;
        let placement = DAffine3::from_rotation_translation(plan.rotation, plan.position);
        // Each is made before any is missed: all faults at once.
        let mut check = Check::new(&self.source);
        let is_rigid = plan.solver == SolverKind::Rigid;
        let input = plan.input.as_ref().map(|input| {
            let sequence = match is_rigid {
                true => input.make_rigid(&mut made, placement, &self.source, digest),
                false => input.make(&mut made, placement, &self.source, digest),
            };
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
        let follow = if is_rigid { vec![1.0; made.shape.points.len()] } else { follow.unwrap_or_default() };
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
            contact_filter: plan.contact_filter,
            controls: plan.controls,
            color: plan.color,
        };
        if plan.copy == 0 {
            made.shown = plan.render.make(&body, &made, &self.source, digest)?;
            let surface = made.shown.as_ref().map_or(&made.shape.surface, |s| &s.surface);
            made.reach = reach_beyond(&made.shape.points, surface);
        }
        self.lead(plan, &mut body, &made)?;
        body.contact_radius = match plan.contact_radius {
            _ if is_rigid => ContactRadius::Shown,
            Some(radius) => ContactRadius::Fixed(radius),
            None => ContactRadius::Each(made.reach.clone()),
        };
        Ok((body, made))
    }

    /// Lets a body that is led follow its motion or its keys.
    fn lead(&self, plan: &BodyPlan, body: &mut Body, made: &MadeShape) -> Result<(), Vec<Diagnostic>> {
        let Some(kinematic) = &plan.kinematic else { return Ok(()) };
        let rate = self.fps * f64::from(self.substeps);
        kinematic.lead(body, made, rate).map_err(|(at, faults)| {
            faults.iter().map(|f| self.source.problem(&at, f.to_string(), f.help)).collect()
        })
    }

    /// What pictures need of colliders, by their ids.
    pub(super) fn shown_colliders(
        &self,
        colliders: &[Collider],
        schedule: &ColliderSchedule,
    ) -> Vec<BuiltCollider> {
        let shown =
            |&k: &usize| BuiltCollider { color: self.colliders[k].color, surface: surface_of(&colliders[k]) };
        schedule.of_id.iter().map(shown).collect()
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

/// The surface of a collider in its own coordinates; nothing of a plane, which has no end.
fn surface_of(of: &Collider) -> TriMesh {
    match &of.shape {
        ColliderShape::Solid(shape) => shape.mesh(ROUND),
        ColliderShape::Mesh { mesh, .. } => mesh.mesh().clone(),
        _ => TriMesh::default(),
    }
}

/// What pictures and caches need of a body.
fn shown_body(plan: &BodyPlan, made: MadeShape) -> BuiltBody {
    let usual = match plan.shape {
        _ if plan.solver == SolverKind::Rigid => Look::Matte,
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
