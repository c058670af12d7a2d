//! Words of other programs that people try: what they are called here, or that they are not there yet.

/// The words of one thing, and what to do about it.
struct Guess {
    words: &'static [&'static str],
    help: &'static str,
}

const COLLIDERS: &str = "what bodies touch are planes, [[plane]], and colliders of any shape: [[collider]] with \
                         shape = { kind = \"ball\" } (box, capsule, cylinder, mesh, heights)";
const CONTACT: &str = "bodies touch each other where the scene says `body_contact = true`; sheets touch themselves there too, and others with \
                       `self_contact = true`; `collision_groups` and `touches_groups` of a [[body]] say who touches whom";
const PINS: &str = "[[body.pin]] holds particles where they are, in a box or at corners, and may move them; [[joint]] ties \
                    bodies to each other";
const JOINTS: &str = "[[joint]] ties points of two bodies, exactly or by a spring: between = [\"a\", \"b\"], at = [x, y, z], kind = \"hinge\" or \
                      \"weld\"; [[glue]] from = \"a\", to = \"b\" glues one on the other; [[body.pin]] holds particles where they are";
const TEARING: &str = "`tear_strain` lets triangles and tetrahedra come apart where they are stretched too far, and a [[body.paint]] of that \
     channel says where sooner";
const RIGID: &str = "a [[body]] with kind = \"rigid\" never deforms, and one with `kinematic` too is led or stays where it is; what \
                     others cannot enter and never moves by itself is a [[plane]] or a [[collider]]";

const KEYS: &[Guess] = &[
    Guess { words: &["wall", "walls", "box_collider", "sphere_collider", "mesh_collider"], help: COLLIDERS },
    Guess {
        words: &[
            "self_collision",
            "self_collisions",
            "self_collide",
            "selfcollision",
            "collision",
            "collisions",
            "collide",
            "collides",
            "contact",
            "contacts",
            "collision_group",
        ],
        help: CONTACT,
    },
    Guess {
        words: &[
            "attach",
            "attached",
            "attachment",
            "attachments",
            "anchor",
            "anchors",
            "fix",
            "fixed",
            "hold",
            "hook",
        ],
        help: PINS,
    },
    Guess {
        words: &[
            "glue", "weld", "stitch", "sew", "joint", "joints", "hinge", "hinges", "link", "links", "spring",
            "springs", "tie",
        ],
        help: JOINTS,
    },
    Guess {
        words: &[
            "tear",
            "tears",
            "tearing",
            "tearable",
            "fracture",
            "break",
            "breaking",
            "breakable",
            "cut",
            "cutting",
        ],
        help: TEARING,
    },
    Guess { words: &["rigid", "rigid_body", "rigidbody", "static"], help: RIGID },
    Guess {
        words: &[
            "sphere", "cube", "cuboid", "ball", "box", "torus", "cylinder", "capsule", "sheet", "mesh",
            "model",
        ],
        help: "a shape is a key of a body: [[body]], and under it shape = \"ball\" (a sphere), \"box\", \"torus\", \
               \"cylinder\", \"capsule\", \"sheet\" … or shape = { kind = \"mesh\", file = \"bear.obj\" }",
    },
    Guess {
        words: &["cloth", "softbody", "soft_body", "object", "objects", "actor", "rope", "hair"],
        help: "what is simulated is a [[body]] with a `shape`: \"sheet\" for cloth, \"thread\" for rope, a solid or a mesh",
    },
    Guess {
        words: &["fluid", "liquid", "water", "smoke", "fire", "sand"],
        help: "fluids, smoke and grains are not there, only soft bodies",
    },
    Guess {
        words: &["camera", "view", "render_settings"],
        help: "pictures are set in [picture]: `width`, `height`, `azimuth`, `elevation`, `color_by`",
    },
    Guess {
        words: &["duration", "seconds", "end", "length", "last_frame"],
        help: "how long a run is, is `frames`, at `fps` frames a second",
    },
    Guess {
        words: &["dt", "timestep", "time_step", "step", "h"],
        help: "a step is a frame: set `fps`, and `substeps` to take smaller ones",
    },
];

/// Words for shapes, and the one that is known here.
const SHAPES: &[(&str, &[&str])] = &[
    ("ball", &["sphere", "icosphere", "uv_sphere", "ellipsoid"]),
    ("box", &["cube", "cuboid", "block", "brick"]),
    ("sheet", &["cloth", "grid", "plane", "quad", "fabric", "rectangle"]),
    ("torus", &["donut", "doughnut", "ring"]),
    ("cylinder", &["disc", "disk", "rod"]),
    ("capsule", &["pill"]),
    ("thread", &["rope", "string", "curve", "line", "hair", "chain"]),
    ("tube", &["pipe", "hose"]),
    ("roll", &["scroll", "spiral", "cuff"]),
    ("mesh", &["obj", "ply", "stl", "glb", "gltf", "file", "model"]),
    ("points", &["cloud", "point_cloud", "particles"]),
    ("tets", &["tetrahedra", "tet_mesh", "volume"]),
    ("gummy_bear", &["bear"]),
    ("bunny", &["rabbit"]),
];

fn plain(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', ' '], "_")
}

/// What a key of another program is here.
pub(crate) fn key(word: &str) -> Option<&'static str> {
    let word = plain(word);
    KEYS.iter().find(|g| g.words.contains(&word.as_str())).map(|g| g.help)
}

/// What a shape of another program is called here.
pub(crate) fn shape(word: &str) -> Option<&'static str> {
    let word = plain(word);
    SHAPES.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_guessed_twice() {
        let mut words: Vec<&str> = KEYS.iter().flat_map(|g| g.words).copied().collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        assert_eq!(shape("Ico-Sphere"), None);
        assert_eq!(shape("UV sphere"), Some("ball"));
        assert!(key("Self-Collision").is_some_and(|h| h.contains("self_contact")));
    }
}
