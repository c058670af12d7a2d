//! A body as the scene describes it, checked as far as the file alone allows.

use crate::color;
use crate::constraint::{self, ConstraintPlan};
use crate::element_choice::{self, ElementChoice};
use crate::group::{self, GroupPlan};
use crate::input::{self, InputPlan};
use crate::material::{BodyTraits, MaterialLayers};
use crate::paint::{self, PaintPlan};
use crate::pin::{self, PinPlan};
use crate::record::{Record, SceneValue};
use crate::render::{self, RenderPlan};
use crate::rigid::{self, KinematicPlan};
use crate::shape::{self, ParticlePattern, Resolution, ShapePlan};
use crate::source::{Check, Located, Span};
use crate::suggest::{list, nearest};
use crate::track;
use glam::{DQuat, DVec3};
use pliant::solvers::{Feature, Support, support};
use pliant::{
    BodyControls, BodyId, ClusterMethod, ClusterStyle, Clustering, ContactFilter, Goals, Integrator,
    Material, SolverKind, Track,
};
use pliant_geometry::Look;

/// A body to be built.
#[derive(Clone, Debug)]
pub(crate) struct BodyPlan {
    pub name: String,
    pub shape: ShapePlan,
    pub resolution: Resolution,
    pub cut: ElementChoice,
    /// What its elements resist; `None` for the usual.
    pub constraints: Option<Vec<ConstraintPlan>>,
    pub solver: SolverKind,
    pub controls: BodyControls,
    pub clusters: Clustering,
    pub cluster_style: ClusterStyle,
    pub seed: u64,
    pub mass: Option<f64>,
    pub density: Option<f64>,
    /// How far particles keep from planes, if not as far as what is shown reaches.
    pub contact_radius: Option<f64>,
    /// Which bodies it touches.
    pub contact_filter: ContactFilter,
    pub position: DVec3,
    pub rotation: DQuat,
    pub stretch: DVec3,
    pub velocity: DVec3,
    pub spin: DVec3,
    pub color: [f32; 3],
    pub look: Option<Look>,
    pub render: RenderPlan,
    pub sampling: ParticlePattern,
    pub pins: Vec<PinPlan>,
    pub groups: Vec<GroupPlan>,
    pub goals: Goals,
    pub two_step: bool,
    pub integrator: Integrator,
    pub paint: Vec<PaintPlan>,
    pub input: Option<InputPlan>,
    /// How it is led, if it is rigid and is.
    pub kinematic: Option<KinematicPlan>,
    /// Of body 0, whichever this one is.
    pub tracks: Vec<Track>,
    /// Which of the copies of the body of its table it is; 0 also if there are none.
    pub copy: usize,
    /// The table and its material's, for the places of their keys.
    pub record: Record,
    pub material: Option<Record>,
}

/// Clusters of a body that does not say: enough to bend, few enough that a body of 0.3 m carries itself.
const CLUSTERS: usize = 12;

/// What holds for all bodies.
pub(crate) struct WorldSettings<'a> {
    pub solver: SolverKind,
    /// Frames per second.
    pub fps: f64,
    /// Seconds per substep.
    pub substep: f64,
    pub materials: &'a [(Located<String>, Record)],
    /// Whether there is ever any wind.
    pub wind: bool,
}

/// Reads a body; `None` if it has faults, which were reported.
pub(crate) fn plan(
    check: &mut Check<'_>,
    body: &Record,
    index: usize,
    name: String,
    around: &WorldSettings<'_>,
) -> Option<BodyPlan> {
    let shape = shape::plan(check, body);
    let (material, named) = material(check, body, around);
    let layers = MaterialLayers { body, material, named };
    let is_rigid = rigid::is_rigid(body);
    rigid::check(check, body, shape.as_ref());
    let cut = match is_rigid {
        true => ElementChoice::None,
        false => element_choice::plan(check, &layers, shape.as_ref()),
    };
    let elastic = cut != ElementChoice::None;
    let cloth = !elastic && shape.as_ref().is_some_and(ShapePlan::is_sheet);
    let windy = around.wind && shape.as_ref().is_some_and(|s| s.has_faces(cut));
    let traits = BodyTraits { cloth, elastic, windy };
    let solver = if is_rigid { SolverKind::Rigid } else { solver_of(body, traits, around.solver) };
    let controls = layers.controls(solver, traits, around.substep);
    layers.check(check, &name, &controls, solver, traits, around.substep);
    let clusters = match is_rigid {
        true => Clustering::None,
        false => clusters(check, layers, solver, traits, &controls),
    };
    let kinematic = rigid::plan(check, body);
    let start = kinematic.as_ref().and_then(KinematicPlan::start);
    let (position, rotation) = start.unwrap_or((body.vector("position"), rotation(check, body)));
    let bodies = [(0.into(), solver, controls)];
    let tracks =
        track::plan(check, body.records("keyframes"), BodyId::from(0).into(), &bodies, around.substep);
    let has_input = body.given("input").is_some();
    let paint = body.records("paint").iter().filter_map(|p| paint::plan(check, p, has_input)).collect();
    let input = input::plan(check, body, solver, around.fps);
    let (goals, two_step, integrator) = layers.goals();
    // Pins of a rigid body were refused.
    let pins = if is_rigid { &[] } else { body.records("pin") };
    let pins = pins.iter().filter_map(|p| pin::plan(check, p, shape.as_ref(), solver)).collect();
    let groups = group::plan(check, body);
    Some(BodyPlan {
        shape: shape?,
        resolution: shape::resolution(body),
        cut,
        constraints: constraint::plan(check, body),
        solver,
        controls,
        clusters,
        cluster_style: cluster_style(body),
        seed: body.whole("seed"),
        mass: body.given("mass").map(|v| v.it.number()),
        density: layers
            .given("density")
            .map(|v| v.it.number())
            .or(named.filter(|_| elastic || is_rigid).map(|m| m.density)),
        contact_radius: body.given("contact_radius").map(|v| v.it.number()),
        contact_filter: contact_filter(body),
        position,
        rotation,
        stretch: body.vector("stretch"),
        velocity: body.vector("velocity"),
        spin: body.vector("spin"),
        color: color::linear(body.given("color").map(|c| &c.it), index),
        look: body.given("look").and_then(|word| Look::named(word.it.text())),
        render: render::plan(body),
        sampling: shape::sampling(body),
        pins,
        groups,
        goals,
        two_step,
        integrator,
        paint,
        input,
        kinematic,
        tracks,
        copy: 0,
        record: body.clone(),
        material: material.cloned(),
        name,
    })
}

impl BodyPlan {
    /// Where a setting of the engine's stands in the scene: in the body, in its material, or the body.
    pub fn place(&self, field: &str) -> &Span {
        let key = match field {
            "radius" => "cluster_radius",
            "pins" => "pin",
            "constraints" => "constraint",
            other => other,
        };
        self.given(key).map_or(&self.record.at, |v| &v.at)
    }

    /// What the body or its material gives for a key.
    pub fn given(&self, key: &str) -> Option<&Located<SceneValue>> {
        let material = || self.material.as_ref().and_then(|m| m.values.get(key));
        self.record.values.get(key).or_else(material)
    }

    /// Where the choice of resolution or shape stands.
    pub fn shape_place(&self) -> &Span {
        let key = ["spacing", "particles", "shape"];
        let given = key.into_iter().find(|k| self.record.values.contains_key(k));
        given.map_or(&self.record.at, |k| self.record.place(k))
    }
}

/// Who moves a body that deforms: whom it names, or the scene's solver where that can.
fn solver_of(body: &Record, traits: BodyTraits, usual: SolverKind) -> SolverKind {
    let BodyTraits { cloth, elastic, .. } = traits;
    match body.given("solver") {
        Some(word) => solver(word.it.text()),
        None if elastic && support(usual, Feature::Elements) == Support::Yes => usual,
        None if (cloth || elastic) && !usual.uses_constraints() => SolverKind::Projective,
        None => usual,
    }
}

/// The solver of that name.
pub(crate) fn solver(word: &str) -> SolverKind {
    let named = SolverKind::ALL.into_iter().find(|s| s.name() == word);
    named.unwrap_or(SolverKind::Clustered)
}

/// The body's material: of the scene, or else one known by name.
fn material<'a>(
    check: &mut Check<'_>,
    body: &Record,
    around: &WorldSettings<'a>,
) -> (Option<&'a Record>, Option<Material>) {
    let Some(wanted) = body.given("material") else { return (None, None) };
    let name = wanted.it.text();
    let found = around.materials.iter().find(|(n, _)| n.it == name).map(|(_, record)| record);
    let named = Material::named(name).filter(|_| found.is_none());
    if found.is_none() && named.is_none() {
        let own = around.materials.iter().map(|(n, _)| n.it.as_str());
        let names: Vec<&str> = own.chain(Material::NAMED.map(|m| m.0)).collect();
        let help = match nearest(name, names.iter().copied()) {
            Some(meant) => format!("did you mean \"{meant}\"? there are {}", list(&names, "and")),
            None => format!("there are {}; or add a table [materials.{name}]", list(&names, "and")),
        };
        check.add(&wanted.at, format!("there is no material \"{name}\""), help);
    }
    (found, named)
}

fn clusters(
    check: &mut Check<'_>,
    layers: MaterialLayers<'_>,
    solver: SolverKind,
    traits: BodyTraits,
    controls: &BodyControls,
) -> Clustering {
    let projective = solver.uses_constraints();
    if let Some(radius) = layers.body.given("cluster_radius") {
        return match radius.it.number() {
            f64::INFINITY => Clustering::Whole,
            radius => Clustering::Radius(radius),
        };
    }
    let Some(given) = layers.body.given("clusters") else {
        return match traits.elastic || traits.cloth && projective {
            true => Clustering::None,
            false => Clustering::Count(CLUSTERS),
        };
    };
    match &given.it {
        SceneValue::Whole(1) => Clustering::Whole,
        SceneValue::Whole(count) => Clustering::Count(*count as usize),
        _ if !projective => {
            check.add(
                &given.at,
                "the clustered solver needs clusters",
                "give their number or `cluster_radius`, or set solver = \"projective\"",
            );
            Clustering::None
        }
        _ => {
            if !traits.elastic && controls.edge_stiffness == 0.0 && layers.given("edge_stiffness").is_none() {
                check.add(
                    &given.at,
                    "without clusters and edges nothing holds the body together",
                    "give `edge_stiffness`, in Pa for solids and N/m for sheets, or clusters",
                );
            }
            Clustering::None
        }
    }
}

/// Whom it touches, where bodies touch.
fn contact_filter(body: &Record) -> ContactFilter {
    if !body.truth("body_contact") {
        return ContactFilter::NONE;
    }
    let groups = |key: &str| {
        let list = body.given(key).map(|list| list.it.list());
        list.map_or(u32::MAX, |list| list.iter().fold(0, |all, group| all | 1_u32 << (group.it.whole() - 1)))
    };
    let itself = body.given("self_contact").map(|v| v.it.truth());
    ContactFilter { groups: groups("collision_groups"), touches: groups("touches_groups"), itself }
}

fn cluster_style(body: &Record) -> ClusterStyle {
    ClusterStyle {
        method: match body.text("clustering").as_str() {
            "farthest" => ClusterMethod::Farthest,
            "kmeans" => ClusterMethod::KMeans,
            "file_order" => ClusterMethod::FileOrder,
            _ => ClusterMethod::Random,
        },
        levels: body.whole("cluster_levels") as u32,
        coarse_share: body.number("coarse_share"),
        smooth: body.truth("smooth_weights"),
        symmetric: body.truth("symmetric"),
        overlap: body.number("overlap"),
    }
}

/// Degrees about x, then y, then z, all fixed in the world; or an axis and an angle.
pub(crate) fn rotation(check: &mut Check<'_>, body: &Record) -> DQuat {
    match body.value("rotation") {
        SceneValue::Record(turn) => {
            let axis = turn.vector("axis");
            let unit = (axis / axis.abs().max_element()).try_normalize().unwrap_or_else(|| {
                let help = "give a direction, as [0, 1, 0] for a turn about the vertical";
                check.add(turn.place("axis"), "`axis` has length 0, which is no direction", help);
                DVec3::Y
            });
            DQuat::from_axis_angle(unit, turn.number("angle").to_radians())
        }
        angles => euler(angles.vector()),
    }
}

/// The turn by degrees about x, then y, then z.
pub(crate) fn euler(degrees: DVec3) -> DQuat {
    let [x, y, z] = degrees.to_array().map(f64::to_radians);
    DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x)
}
