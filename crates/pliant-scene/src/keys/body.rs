//! Keys of `[[body]]`, apart from those of its material, and what they are for.

use super::constraint::CONSTRAINTS;
use super::copies::COPIES;
use super::group::GROUP;
use super::input::INPUT;
use super::keyframes::BODY_TRACK;
use super::kinds::{COLOR, FORCE, LENGTH, LENGTH_OR_INFINITE, SOLVER, SPIN, VECTOR};
use super::kinematic::KINEMATIC;
use super::material::{MATERIAL_KEYS, ONE_STIFFNESS};
use super::mesh_file::RENDER;
use super::paint::PAINT;
use super::pin::PIN;
use super::placement::TURN;
use super::shape::SHAPES;
use crate::format::{Key, MOST_PARTICLES, NumberRange, Rule, Table, ValueKind};
use pliant_geometry::Look;

/// What the many keys of a large table are for, in a line.
pub(crate) fn groups(table: &Table) -> Option<&'static str> {
    match table.title {
        "a body" => Some(
            "what it is (`kind`), its shape and fineness (`shape`, `particles`), place (`position`, `rotation`), material (`material`, `young`, \
             `frequency`), solver and clusters (`solver`, `clusters`), pins and input (`pin`, `input`) and look (`color`, `look`)",
        ),
        "a material" => Some(
            "stiffness (`frequency`, `young`), damping (`damping`, `drag`), limits (`strain_limit`, `yield_strain`), contact \
             (`friction`, `restitution`) and goals (`goals`, `volume`)",
        ),
        "the scene" => Some(
            "time (`fps`, `frames`, `substeps`), forces (`gravity`, `wind`), bodies (`body`, `plane`, `materials`), solver \
             (`solver`) and results (`output`, `picture`)",
        ),
        _ => None,
    }
}

/// A soft body.
pub(crate) static BODY: Table = Table {
    title: "a body",
    groups: &[
        &[
            Key::new("name", ValueKind::Text, "A name of its own; the shape's unless given.").example("\"bear\""),
            Key::new(
                "kind",
                ValueKind::Word(&["soft", "rigid"]),
                "Whether it deforms: a soft body does, a rigid one never. A rigid body is a ball, box, capsule, cylinder, torus, \
                 bear, bunny or closed mesh, and has `mass` or `density`, `friction`, `restitution` and `drag`, but no particles, \
                 clusters, elements or pins.",
            )
            .default("\"soft\""),
            Key::new(
                "kinematic",
                ValueKind::Either(&[ValueKind::Truth, ValueKind::Table(&KINEMATIC)]),
                "Holds a rigid body where it is (true), or leads it along a motion or keys, whatever touches or pulls it. With \
                 `input` it is led along an animated mesh instead.",
            )
            .example("{ keys = [[0.0, [0, 0, 0]], [1.0, [0, 1, 0], [0, 90, 0]]] }")
            .also(&["passive", "is_static", "animated"]),
            Key::new(
                "shape",
                ValueKind::Tagged(SHAPES),
                "What it is made of, at rest, centred at its origin.",
            )
            .required()
            .example("{ kind = \"ball\", radius = 0.2 }"),
            Key::new("spacing", LENGTH, "Distance between particles, m.").example("0.05"),
            Key::new(
                "particles",
                ValueKind::Whole(1, MOST_PARTICLES as u64),
                "About how many particles. 1500 unless this or `spacing` is given.",
            )
            .example("200")
            .also(&["count", "resolution"]),
            Key::new(
                "sampling",
                ValueKind::Word(&["lattice", "jittered", "blue_noise"]),
                "How solids are filled with particles: on a lattice, on one shaken by `seed`, or scattered evenly \
                 without order. Tetrahedra are always cut from a lattice.",
            )
            .default("\"lattice\""),
            Key::new(
                "solver",
                SOLVER,
                "Who moves it; newton, xpbd and pbd take what projective takes, to compare with it.",
            ).example("\"projective\""),
            Key::new(
                "elements",
                ValueKind::Word(&["tetrahedra", "triangles", "edges", "none"]),
                "What its material acts on: the inside of solids and closed meshes cut into tetrahedra; the triangles \
                 of sheets and surfaces; edges, as threads; or none, for clusters and springs. Whatever the shape has \
                 if a named material, `young`, `poisson`, `thickness` or `constraint` is given, otherwise \"none\".",
            )
            .example("\"triangles\""),
            Key::new(
                "material",
                ValueKind::Text,
                "A material of the scene; else one known by name: rubber, jelly, foam, cotton, silk, denim, leather, \
                 paper, steel_sheet, muscle. Keys of the body go before its keys.",
            )
            .example("\"jelly\""),
            Key::new(
                "constraint",
                ValueKind::List(&ValueKind::Tagged(CONSTRAINTS), 0, 1000),
                "What its elements resist. Strain and volume unless given; for sheets and shells bending too; for \
                 threads strain alone.",
            )
            .example("[\"strain\", { kind = \"strain_limit\", min = 0.9, max = 1.1, stiffness = 1e5 }]")
            .also(&["constraints"]),
            Key::new("mass", ValueKind::Number(NumberRange::above(0.0, 1e12)), "Mass of the whole body, kg.").example("1.0"),
            Key::new(
                "clusters",
                ValueKind::Either(&[ValueKind::Whole(1, 1_000_000), ValueKind::Word(&["none"])]),
                "About how many clusters, or \"none\" (projective solver). 12 unless this or `cluster_radius` is given; \"none\" for sheets.",
            )
            .example("24"),
            Key::new(
                "cluster_radius",
                LENGTH_OR_INFINITE,
                "Reach of a cluster, m; inf for a single one.",
            )
            .example("0.1")
            .also(&["radius"]),
            Key::new(
                "clustering",
                ValueKind::Word(&["random", "farthest", "kmeans", "file_order"]),
                "How clusters are chosen: balls around random particles; the fewest balls; compact cells, the \
                 most even, in exactly the number asked for; or in file order as the paper's program does.",
            )
            .default("\"random\""),
            Key::new(
                "cluster_levels",
                ValueKind::Whole(1, 16),
                "Scales of clusters, each twice as coarse as the one before; coarse ones tie far parts together.",
            )
            .default("1"),
            Key::new(
                "coarse_share",
                ValueKind::Number(NumberRange::new(0.01, 0.99)),
                "The part of the mass that all coarser scales of clusters carry together.",
            )
            .default("0.25"),
            Key::new(
                "smooth_weights",
                ValueKind::Truth,
                "Whether a particle's share in a cluster falls smoothly to zero at its rim; otherwise shares are equal.",
            )
            .default("false"),
            Key::new(
                "symmetric",
                ValueKind::Truth,
                "Whether clusters keep the mirror planes of the shape, so that a symmetric push does not turn it.",
            )
            .default("false"),
            Key::new(
                "overlap",
                ValueKind::Number(NumberRange::new(0.0, 10.0)),
                "How much further clusters reach than it takes to cover the body, as a part of their radius.",
            )
            .default("0.0"),
            Key::new("seed", ValueKind::Whole(0, i64::MAX as u64), "Seed of the random clusters.").default("1"),
            Key::new("position", VECTOR, "Where its origin starts, m.").default("[0, 0, 0]"),
            Key::new(
                "rotation",
                ValueKind::Either(&[VECTOR, ValueKind::Table(&TURN)]),
                "How it is turned at the start: degrees about x, then y, then z, or an axis and an angle.",
            )
            .default("[0, 0, 0]")
            .example("[0, 45, 0]"),
            Key::new("stretch", VECTOR, "Initial deformation along its own axes; 1 is the rest shape.")
                .default("[1, 1, 1]")
                .also(&["scale"]),
            Key::new("velocity", VECTOR, "Initial velocity, m/s.").default("[0, 0, 0]"),
            Key::new(
                "spin",
                SPIN,
                "Initial angular velocity about the centre of mass, radians per second.",
            )
            .default("[0, 0, 0]")
            .also(&["angular_velocity"]),
            Key::new("force", FORCE, "A force on the whole body, N, shared by mass.").default("[0, 0, 0]"),
            Key::new(
                "color",
                COLOR,
                "Its colour: \"#rrggbb\", or red, green and blue from 0 to 1, as on a screen (sRGB). One of a palette unless given.",
            )
            .example("\"#e03030\"")
            .also(&["colour"]),
            Key::new(
                "look",
                ValueKind::Word(Look::NAMES),
                "How it looks in pictures. \"cloth\" for sheets and open meshes, \"matte\" for points and vertices, otherwise \"jelly\". \
                 \"prop\" is matte and not what the picture is about (a table, a press, a line): it has no name there, and \
                 the camera does not make room for it.",
            )
            .example("\"matte\""),
            Key::new(
                "render",
                ValueKind::Either(&[ValueKind::Text, ValueKind::Table(&RENDER)]),
                "A mesh to show in place of its own surface, as fine as you like: a file, or a table with `file` and \
                 `object`. It lies where the shape's file has it, and keeps its vertex order, texture coordinates and \
                 materials.",
            )
            .example("\"fine.obj\""),
            Key::new(
                "skin",
                ValueKind::Word(&["particles", "tetrahedra", "cloth", "clusters"]),
                "What carries the shown surface: the particles around it, the tetrahedra or the cloth it is on, or \
                 the clusters, which is smoothest. Its elements if it has any unless given, else its particles.",
            )
            .example("\"clusters\""),
            Key::new(
                "contact_radius",
                ValueKind::Number(NumberRange::new(0.0, 1e6)),
                "How far its particles keep from planes, m. As far as what is shown lies beyond them unless given, so \
                 that what is seen rests on what is seen; 0 lets particles themselves touch, as the papers have it.",
            )
            .example("0.01")
            .also(&["collision_radius", "collision_margin", "particle_radius"]),
            Key::new(
                "body_contact",
                ValueKind::Truth,
                "Whether it touches other bodies, where the scene's `body_contact` lets them touch.",
            )
            .default("true"),
            Key::new(
                "self_contact",
                ValueKind::Truth,
                "Whether it touches itself, where the scene's `body_contact` lets bodies touch. Sheets do unless this says otherwise, \
                 all else does not.",
            )
            .example("false")
            .also(&["self_collision", "self_collisions"]),
            Key::new(
                "collision_groups",
                ValueKind::List(&ValueKind::Whole(1, 32), 1, 32),
                "The groups it is in, of 32; in all of them unless given.",
            )
            .example("[1]")
            .also(&["collision_group", "groups"]),
            Key::new(
                "touches_groups",
                ValueKind::List(&ValueKind::Whole(1, 32), 1, 32),
                "The groups it touches: two bodies do if each is in a group that the other touches. All of them unless given.",
            )
            .example("[1, 2]")
            .also(&["collision_mask"]),
            Key::new("pin", ValueKind::Tables(&PIN), "Particles that are held or led.")
                .example("[{ particles = [0] }]")
                .also(&["pins"]),
            Key::new("group", ValueKind::Tables(&GROUP), "Particles under a name, for glue; pins are such groups, too.")
                .example("[{ name = \"cuff\", particles = [0, 1, 2] }]"),
            Key::new("paint", ValueKind::Tables(&PAINT), "Regions with a stiffness of their own, or that follow the input; later ones go over earlier ones.")
                .example("[{ value = 0.2, sphere = { center = [0, 0, 0], radius = 1.0 } }]"),
            Key::new(
                "copies",
                ValueKind::Table(&COPIES),
                "Many of the same body on a grid, named name_0001 and so on; each is a body of its own.",
            )
            .example("{ grid = [2, 3, 2] }")
            .also(&["scatter", "instances", "repeat", "array"]),
            Key::new("input", ValueKind::Table(&INPUT), "An animation that the rest shape and painted particles follow (clustered solver), or that leads a rigid body.")
                .example("{ wag = { angle = 40 } }"),
            Key::new("keyframes", ValueKind::Tables(&BODY_TRACK), "Values of the body over time.")
                .example("[{ control = \"deformation\", keys = [[0.0, 0.1], [1.0, 0.9]] }]")
                .also(&["keyframe", "keys", "animation"]),
        ],
        MATERIAL_KEYS,
    ],
    rules: &[
        Rule::AtMostOne(&["spacing", "particles"]),
        Rule::AtMostOne(&["mass", "density"]),
        Rule::AtMostOne(&["clusters", "cluster_radius"]),
        ONE_STIFFNESS,
    ],
};
