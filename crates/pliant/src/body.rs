//! A body as a user describes it: shape, place, material, clusters, pins.

use crate::constraints::Limits;
use crate::controls::{BodyControls, Stiffness};
use crate::elements::{Constraint, ConstraintKind, ElementKind};
use crate::material::Material;
use crate::model::{
    BodyKind, ContactFilter, Goals, Input, Integrator, Matching, Motion, Sequence, SequenceError,
};
use crate::solvers::SolverKind;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use pliant_geometry::{ClusterMethod, ClusterSize, Covering, Shape};
use pliant_math::outer;
use std::sync::Arc;

/// The placement of points that fits others best.
fn fitted(rest: &[DVec3], to: &[DVec3]) -> DAffine3 {
    let mean = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len() as f64;
    let (from, center) = (mean(rest), mean(to));
    let sum = rest.iter().zip(to).fold(DMat3::ZERO, |sum, (r, x)| sum + outer(*x - center, *r - from));
    let turn = pliant_math::nearest_rotation(sum, DMat3::IDENTITY);
    DAffine3::from_mat3_translation(turn, center - turn * from)
}

/// How a body is cut into overlapping clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clustering {
    /// None: edges or elements hold the body together.
    None,
    /// Everything is one cluster.
    Whole,
    /// Balls of this radius (strain-limiting, §2).
    Radius(f64),
    /// About this many, or exactly where the method can.
    Count(usize),
}

/// How far particles keep from what they touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ContactRadius {
    /// As far as the shape's surface lies beyond them, so that what is seen rests on what is seen.
    #[default]
    Shown,
    /// The same for all particles, m. Zero lets particles themselves touch, as the papers have it.
    Fixed(f64),
    /// One for each particle, m: for a surface other than the shape's own, see [`pliant_geometry::reach_beyond`].
    Each(Vec<f64>),
}

/// How clusters of that size are made. The default is the paper's: random, equal shares, one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterStyle {
    /// How centres are chosen.
    pub method: ClusterMethod,
    /// Scales, each twice as coarse as the one before.
    pub levels: u32,
    /// The part of every particle's mass that all coarser scales carry together.
    pub coarse_share: f64,
    /// Whether shares fall smoothly to zero at the rim of a cluster.
    pub smooth: bool,
    /// Whether clusters keep the mirror planes of the body, so that a symmetric push does not turn it.
    pub symmetric: bool,
    /// How much further clusters reach than it takes to cover the body, as a part of their radius.
    pub overlap: f64,
}

impl Default for ClusterStyle {
    fn default() -> ClusterStyle {
        let Covering { method, levels, coarse_share, smooth, symmetric, overlap, .. } =
            Covering::new(ClusterMethod::Random, ClusterSize::Whole);
        ClusterStyle { method, levels, coarse_share, smooth, symmetric, overlap }
    }
}

/// Which particles a pin group holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// By index within the body.
    Particles(Vec<u32>),
    /// All inside this box, in the world, where the body starts (before any initial stretch).
    Box(DVec3, DVec3),
}

/// A group of pinned particles of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Pins {
    /// What messages, scenes and [`Model::body`](crate::model::Model::body) call it; no two bodies may have one name.
    pub name: String,
    /// Which particles it holds.
    pub select: Selection,
    /// How they move.
    pub motion: Motion,
    /// Spring stiffness (N/m per particle) of soft pins; `None` holds exactly.
    pub stiffness: Option<f64>,
}

/// A soft body to be. Every setting has a default that works; the values are checked when the
/// simulation is built.
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Particles, surface and edges at rest.
    pub shape: Shape,
    /// Where the shape's origin starts.
    pub position: DVec3,
    /// How it is turned at the start.
    pub rotation: DQuat,
    /// Initial deformation along the shape's axes; 1 is the rest shape.
    pub stretch: DVec3,
    /// The velocity all particles begin with, m/s.
    pub velocity: DVec3,
    /// Initial angular velocity, radians per second, about the centre of mass.
    pub spin: DVec3,
    /// Mass of the whole body, kg.
    pub mass: f64,
    /// Who moves it.
    pub solver: SolverKind,
    /// How many clusters hold it together, or how large they are; none for bodies of elements and rigid ones.
    pub clusters: Clustering,
    /// How those clusters are made.
    pub cluster_style: ClusterStyle,
    /// Seed of the random covering.
    pub seed: u64,
    /// Which deformations its clusters' goals may show (clustered solver).
    pub goals: Goals,
    /// The report's two-step goals instead of the blend; for comparison.
    pub two_step: bool,
    /// How the clustered solver moves it on in time.
    pub integrator: Integrator,
    /// Painted stiffness, 0 to 1 per particle; empty for 1 everywhere. Averaged over each cluster, since
    /// forces within a cluster only balance if it pulls all its members alike.
    pub painted_stiffness: Vec<f64>,
    /// What [`BodyControls::tear_strain`] is multiplied by at each particle, above 0; empty for 1 everywhere.
    pub painted_tear_strain: Vec<f64>,
    /// Animated shapes it follows (clustered solver).
    pub input: Option<Input>,
    /// What its elements resist (implicit solvers).
    pub constraints: Vec<Constraint>,
    /// Pinned particles.
    pub pins: Vec<Pins>,
    /// How far its particles keep from what they touch.
    pub contact_radius: ContactRadius,
    /// Which bodies it touches, where bodies touch ([`Builder::body_contact`](crate::Builder::body_contact)).
    pub contact_filter: ContactFilter,
    /// The values that can change while running.
    pub controls: BodyControls,
    /// Colour in pictures and caches, linear RGB.
    pub color: [f32; 3],
}

impl Body {
    /// A body of 1 kg, moved by the clustered solver with about 12 clusters.
    pub fn new(name: impl Into<String>, shape: Shape) -> Body {
        Body {
            name: name.into(),
            shape,
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            stretch: DVec3::ONE,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            mass: 1.0,
            solver: SolverKind::Clustered,
            clusters: Clustering::Count(12),
            cluster_style: ClusterStyle::default(),
            seed: 1,
            goals: Goals::Rigid,
            two_step: false,
            integrator: Integrator::StrainLimited,
            painted_stiffness: Vec::new(),
            painted_tear_strain: Vec::new(),
            input: None,
            constraints: Vec::new(),
            pins: Vec::new(),
            controls: BodyControls::default(),
            contact_radius: ContactRadius::Shown,
            contact_filter: ContactFilter::ALL,
            color: [0.8, 0.1, 0.1],
        }
    }

    /// A body of 1 kg that never deforms. Its shape is one that was made for it, by
    /// [`SolidShape::build_rigid`](crate::shapes::SolidShape::build_rigid) or
    /// [`shapes::rigid_from_mesh`](crate::shapes::rigid_from_mesh): four particles that have mass, centre and inertia of the solid.
    ///
    /// ```
    /// use pliant::{Body, Builder, DVec3, shapes::SolidShape};
    ///
    /// let die = SolidShape::Cuboid { size: DVec3::splat(0.02) }.build_rigid()?;
    /// let die = Body::rigid("die", die).density(1200.0).at(0.0, 0.3, 0.0);
    /// let mut simulation = Builder::new().ground().body(die).build()?;
    /// for _ in 0..60 {
    ///     simulation.step()?;
    /// }
    /// assert!(simulation.placement(0).unwrap().translation.y < 0.02);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rigid(name: impl Into<String>, shape: Shape) -> Body {
        let mut body =
            Body { solver: SolverKind::Rigid, clusters: Clustering::None, ..Body::new(name, shape) };
        body.controls.strain_limit = f64::INFINITY;
        body
    }

    /// Sets the mass by kilograms per cubic metre: of solids, whose particles stand for their volume.
    pub fn density(self, density: f64) -> Body {
        let volume: f64 = self.shape.measure.iter().sum();
        self.mass(density * volume)
    }

    /// Leads all of it along a motion from where it starts, whatever touches or pulls it: an infinitely heavy body for others
    /// that are tied to it. A host may lead it elsewhere, as pins: it is the body's pin group 0
    /// ([`Driver::place_pins`](crate::Driver::place_pins)).
    pub fn kinematic(mut self, motion: Motion) -> Body {
        let select = Selection::Particles((0..self.shape.points.len() as u32).collect());
        self.pins.push(Pins { name: "kinematic".into(), select, motion, stiffness: None });
        self
    }

    /// Leads a body that never deforms along an animated mesh whose vertices are those of its surface, in its own coordinates, by
    /// the placement that fits each frame best.
    pub fn following(mut self, animation: &Sequence) -> Result<Body, SequenceError> {
        let rest = &self.shape.surface.positions;
        if animation.points() != rest.len() {
            let message = format!("has {} points, and the body's surface {}", animation.points(), rest.len());
            let help = "animate the mesh that the body is made of";
            return Err(SequenceError { frame: None, message, help });
        }
        let placed = |frame: &Vec<DVec3>| {
            let at = fitted(rest, frame);
            self.shape.points.iter().map(|p| at.transform_point3(*p)).collect()
        };
        let sequence = Arc::new(animation.mapped(placed));
        let follow = vec![1.0; self.shape.points.len()];
        self.input = Some(Input { sequence, follow, reshape: false });
        Ok(self)
    }

    /// What its clusters are made by; `None` if it has none.
    pub fn covering(&self) -> Option<Covering> {
        let size = match self.clusters {
            Clustering::None => return None,
            Clustering::Whole => ClusterSize::Whole,
            Clustering::Radius(radius) => ClusterSize::Radius(radius),
            Clustering::Count(count) => ClusterSize::Count(count),
        };
        let ClusterStyle { method, levels, coarse_share, smooth, symmetric, overlap } = self.cluster_style;
        Some(Covering { method, size, levels, coarse_share, smooth, symmetric, overlap, seed: self.seed })
    }

    /// Places the shape's origin.
    pub fn at(mut self, x: f64, y: f64, z: f64) -> Body {
        self.position = DVec3::new(x, y, z);
        self
    }

    /// Sets the mass of the whole body.
    pub fn mass(mut self, kilograms: f64) -> Body {
        self.mass = kilograms;
        self
    }

    /// Sets the stiffness as oscillations per second.
    pub fn frequency(mut self, hertz: f64) -> Body {
        self.controls.stiffness = Stiffness::Frequency(hertz);
        self
    }

    /// Lets the clusters' goals stretch, shear, and bend if quadratic.
    pub fn goals(mut self, goals: Goals) -> Body {
        self.goals = goals;
        self
    }

    /// The input with its sequence in the world.
    pub(crate) fn placed_input(&self) -> Option<Input> {
        let placement = DAffine3::from_rotation_translation(self.rotation, self.position);
        self.input.as_ref().map(|input| {
            let sequence = Arc::new(input.sequence.placed(placement));
            Input { sequence, ..input.clone() }
        })
    }

    /// The controls it starts with.
    pub(crate) fn live_values(&self) -> BodyControls {
        BodyControls { mass: self.mass, ..self.controls }
    }

    pub(crate) fn kind(&self) -> BodyKind {
        let Body { goals, two_step, integrator, .. } = *self;
        match self.solver {
            SolverKind::Clustered => BodyKind::Clustered(Matching { goals, two_step, integrator }),
            SolverKind::Rigid => BodyKind::Rigid,
            solver => BodyKind::Elastic(solver),
        }
    }

    /// Lets the projective solver move the body.
    pub fn projective(self) -> Body {
        self.solved_by(SolverKind::Projective)
    }

    /// Lets another solver that uses constraints move the body: Newton's method or position based dynamics,
    /// to compare with the projective one.
    pub fn solved_by(mut self, solver: SolverKind) -> Body {
        self.solver = solver;
        if !solver.uses_constraints() {
            return self;
        }
        self.controls.iterations = self.controls.iterations.max(10);
        self.controls.strain_limit = f64::INFINITY;
        self
    }

    /// Lets the projective solver move the body as elements of a material: tetrahedra, triangles or threads,
    /// whatever its shape has. A solid filled with particles has none and is refused when built: fill it with
    /// tetrahedra ([`SolidShape::build_tets`](crate::shapes::SolidShape::build_tets)). Its mass follows from the density; clusters and edge springs are left out.
    pub fn elastic(mut self, material: Material) -> Body {
        let (volume, constraints) = match ElementKind::of(&self) {
            Some(ElementKind::Triangles) => (
                self.shape.measure.iter().sum::<f64>() * material.thickness,
                vec![
                    ConstraintKind::Strain.into(),
                    ConstraintKind::Volume(Limits::new([1.0, 1.0])).into(),
                    ConstraintKind::Bending.into(),
                ],
            ),
            Some(ElementKind::Edges) if self.shape.surface.triangles.is_empty() => {
                // An edge to a particle that is not there has no length; it is refused when built.
                let points = &self.shape.points;
                let length = |e: &[u32; 2]| {
                    let [a, b] = e.map(|i| points.get(i as usize));
                    a.zip(b).map_or(0.0, |(a, b)| (*a - *b).length())
                };
                let length: f64 = self.shape.edges.iter().map(length).sum();
                let section = std::f64::consts::PI * material.thickness.powi(2) / 4.0;
                (length * section, vec![ConstraintKind::Strain.into()])
            }
            _ => (
                self.shape.measure.iter().sum(),
                vec![ConstraintKind::Strain.into(), ConstraintKind::Volume(Limits::new([1.0, 1.0])).into()],
            ),
        };
        self = self.projective();
        self.mass = material.density * volume;
        self.constraints = constraints;
        self.clusters = Clustering::None;
        self.controls.edge_stiffness = 0.0;
        (self.controls.young, self.controls.poisson) = (material.young, material.poisson);
        (self.controls.thickness, self.controls.damping) = (material.thickness, material.damping);
        self
    }

    /// Holds particles where they are.
    pub fn pin(mut self, particles: impl IntoIterator<Item = u32>) -> Body {
        self.pins.push(Pins {
            name: String::new(),
            select: Selection::Particles(particles.into_iter().collect()),
            motion: Motion::REST,
            stiffness: None,
        });
        self
    }
}
