//! Keys of the scene itself: time, forces, and the tables it is made of.

use super::body::BODY;
use super::collider::COLLIDER;
use super::event::EVENT;
use super::field::FIELDS;
use super::implicit::IMPLICIT;
use super::joint::{GLUE, JOINT};
use super::keyframes::WORLD_TRACK;
use super::kinds::{FORCE, SOLVER};
use super::material::MATERIAL;
use super::output::OUTPUT;
use super::picture::PICTURE;
use super::plane::PLANE;
use crate::format::{Key, NumberRange, Table, ValueKind};

/// The scene itself.
pub(crate) static SCENE: Table = Table {
    title: "the scene",
    groups: &[&[
        Key::new("fps", ValueKind::Number(NumberRange::new(0.01, 1e6)), "Frames per second; one step is one frame.")
            .default("60")
            .also(&["frames_per_second", "rate"]),
        Key::new("frames", ValueKind::Whole(1, 10_000_000), "How many frames to simulate.")
            .default("120")
            .also(&["steps"]),
        Key::new(
            "substeps",
            ValueKind::Whole(1, 10_000),
            "Equal parts a step is taken in; more allow stiffer bodies and cost as much more.",
        )
        .default("4"),
        Key::new("gravity", FORCE, "Acceleration of everything, m/s²; y is up.").default("[0, -9.81, 0]"),
        Key::new("wind", FORCE, "Velocity of the air, m/s; it pushes the faces of bodies that have `air`.")
            .default("[0, 0, 0]"),
        Key::new(
            "gusts",
            ValueKind::Number(NumberRange::new(0.0, 10.0)),
            "How much of the wind comes and goes: 0 for a steady one, 1 for one that now and then stands still.",
        )
        .default("0.0")
        .also(&["gust", "turbulence"]),
        Key::new(
            "body_contact",
            ValueKind::Truth,
            "Whether bodies touch each other, whichever solvers move them; colliders they touch always.",
        )
        .default("false")
        .also(&["contact", "collisions", "collide"]),
        Key::new(
            "sleep_speed",
            ValueKind::Number(NumberRange::new(0.0, 1e3)),
            "Bodies that touch or hold each other sleep when none of their particles has been faster for half a second, m/s: they cost nothing until \
             something wakes them. 0: none does.",
        )
        .default("0.0")
        .also(&["sleeping", "sleep_threshold"]),
        Key::new(
            "solver",
            SOLVER,
            "The solver of solid bodies that do not name one; sheets and bodies of elements take \"projective\".",
        )
        .default("\"clustered\""),
        Key::new("output", ValueKind::Table(&OUTPUT), "What is written.").example("{ files = [\"scene.gif\"] }"),
        Key::new(
            "implicit",
            ValueKind::Table(&IMPLICIT),
            "How the projective solver takes a step; `implicitness` and `mass` hold for Newton's method too. The same for all \
             their bodies.",
        )
        .example("{ implicitness = 0.55, acceleration = \"lbfgs\" }"),
        Key::new("picture", ValueKind::Table(&PICTURE), "How pictures are taken.").example("{ width = 320 }"),
        Key::new("materials", ValueKind::Named(&MATERIAL), "Materials by name, for bodies to share.")
            .example("{ jelly = { frequency = 30.0 } }")
            .also(&["material"]),
        Key::new("keyframes", ValueKind::Tables(&WORLD_TRACK), "Values of the world over time.")
            .example("[{ control = \"gravity_magnitude\", keys = [[0, 9.81], [1, 0]] }]")
            .also(&["keyframe", "keys", "animation"]),
        Key::new(
            "field",
            ValueKind::List(&ValueKind::Tagged(FIELDS), 0, 1000),
            "Fields of force, which act on all bodies alike.",
        )
        .example("[{ kind = \"attractor\", center = [0, 1, 0], strength = 20.0 }]")
        .also(&["fields", "force_field"]),
        Key::new("plane", ValueKind::Tables(&PLANE), "Planes no body can pass, at rest or moving; an empty one is the ground y = 0.")
            .example("[{ normal = [0, 1, 0] }]")
            .also(&["planes", "ground", "floor"]),
        Key::new("collider", ValueKind::Tables(&COLLIDER), "Other things no body can enter: balls, boxes, capsules, cylinders, meshes, grounds of heights; at rest, moving or animated.")
            .example("[{ shape = { kind = \"ball\", radius = 0.2 } }]")
            .also(&["colliders", "collision_object", "obstacle", "obstacles"]),
        Key::new("joint", ValueKind::Tables(&JOINT), "Points of bodies that are tied together, exactly or by springs.")
            .example("[{ between = [\"lamp\", \"cord\"], at = [0, 1, 0] }]")
            .also(&["joints", "coupling", "tie", "link"]),
        Key::new("glue", ValueKind::Tables(&GLUE), "Bodies that are glued to others, on their surface or off it.")
            .example("[{ from = \"pocket\", to = \"shirt\" }]")
            .also(&["glues", "binding", "bind"]),
        Key::new("event", ValueKind::Tables(&EVENT), "What happens at a time: pins are let go, bodies held, pushed, moved.")
            .example("[{ at = 1.5, body = \"cloth\", release = \"left\" }]")
            .also(&["events"]),
        Key::new("body", ValueKind::Tables(&BODY), "The soft bodies.")
            .example("[{ shape = \"ball\" }]")
            .also(&["bodies"]),
    ]],
    rules: &[],
};
