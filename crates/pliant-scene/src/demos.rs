//! The built-in scenes: ordinary scene files, kept in the repository's `scenes` folder.

/// A built-in scene.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Demo {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it; "(offline)" if two threads of a common machine do not keep up with real time.
    pub about: &'static str,
    /// The scene file.
    pub text: &'static str,
}

macro_rules! demo {
    ($name:literal, $about:literal) => {
        Demo { name: $name, about: $about, text: include_str!(concat!("../scenes/", $name, ".toml")) }
    };
}

/// The built-in scenes, the default one first.
pub const DEMOS: &[Demo] = &[
    demo!("gummy_bear", "a gummy bear is dropped, squashes, bounces and comes to rest, sitting"),
    demo!("bunny_undamped", "a bunny of about 2,020 particles in 26 clusters bounces, without damping"),
    demo!("bunny_damped", "the same bunny with damped springs calms down"),
    demo!("stretched_cube_one", "a cube stretched by half swings back as one cluster, without gravity"),
    demo!("stretched_cube_many", "a stretched cube in about 29 clusters: waves run through it"),
    demo!("dropped_cube", "a soft cube falls on the ground on its edge"),
    demo!("spinning_cube", "shape matching keeps a cube spinning while its position-based twin slows down"),
    demo!("hanging_cloth", "a sheet held by two corners swings down in a wide arc"),
    demo!(
        "tipping_floor",
        "a floor tips under blocks of jelly until they slide, and a wall that holds them goes"
    ),
    demo!("let_go", "a banner is let go, pin after pin, and a ball is kicked away in time"),
    demo!("glued_tree", "branches glued to branches, with rigid balls; a gust goes through, and one falls"),
    demo!(
        "garment",
        "a shirt with a pocket and buttons glued on; its collar closes, its cuffs open (offline)"
    ),
    demo!(
        "ploughed_branches",
        "a vehicle breaks branches off, where the force on their glue is too much (offline)"
    ),
    demo!("puppet", "a puppet of jelly limbs on hinges with limits is bobbed, and motors wave its arms"),
    demo!("rigid_bodies", "solids slide, roll, bounce and hang; a T-handle turns over again and again"),
    demo!("bumping_bears", "two gummy bears run into each other and tumble"),
    demo!(
        "toy_box",
        "jelly bears, rubber cubes and rigid balls fall into a box on each other and come to rest"
    ),
    demo!("mobile", "a bear and a ball hang from a bar by joints; the bear is let go, and the bar tips"),
    demo!("coming_and_going", "jelly balls are dropped one after the other and vanish as they came"),
    demo!("jelly_to_rubber", "a ball sags as jelly, becomes rubber where it lies, and jumps"),
    demo!("twisting_bar", "a bar of springs is wrung by pins that move"),
    demo!("keyframed_jelly", "gravity turns to each wall in turn while a jelly bear melts and sets again"),
    demo!(
        "whipping_antenna",
        "an antenna follows a wagging animation by its root; its tip lags and overshoots"
    ),
    demo!("side_by_side", "the same bear moved by the clustered and by the projective solver"),
    demo!("torus_quadratic", "a torus falls on its edge and bends and twists by quadratic goals"),
    demo!("bears_rigid_linear_quadratic", "the same bear with rigid, linear and quadratic goals"),
    demo!("wagging_tail", "a tail on a handle that wags: it lags, overshoots and swings on"),
    demo!("flat_sheet", "a flat sheet of clusters swings from two corners and does not explode"),
    demo!("clay", "a bear of clay stays squashed where one of rubber bounces"),
    demo!("raining_bodies", "a thousand balls, boxes and rings rain on a slope (offline)"),
    demo!("elastic_bear", "a gummy bear of jelly tetrahedra squashes and wobbles"),
    demo!("tet_bar", "a bar of tetrahedra is wrung once round"),
    demo!("pressed_balls", "balls of rubber, jelly and foam are pressed and come back"),
    demo!("volume_against_strain", "the same ball resists strain, volume change, or both"),
    demo!("muscle_fibres", "the fibres of a muscle contract and relax; it bulges and thins"),
    demo!("curtain_limits", "three curtains that may stretch by ten, twenty and thirty percent"),
    demo!("bowl", "a gummy bear falls into a bowl of heights and slides to its bottom"),
    demo!("cloth_over_ball", "a cloth falls over a ball on a table and hangs down over both (offline)"),
    demo!(
        "falling_cloths",
        "two cloths fall onto a ball of jelly and onto each other, a third one crumples (offline)"
    ),
    demo!("rocking_dish", "a dish that bends to and fro, an animated collider, rolls a soft ball about"),
    demo!("draped_cloth", "a tablecloth of cotton folds where it hangs over the edge"),
    demo!("flag", "a flag in a storm with gusts of twice the wind"),
    demo!("torn_flag", "a storm grows until it tears a flag: it opens where it is worn and rips across"),
    demo!("shot_sheet", "an unseen ball flies through a stretched sheet; the hole runs on and parts it"),
    demo!("pulled_jelly", "a bar of jelly is pulled until it tears across and springs back in two"),
    demo!("fillings", "bears filled on a lattice, shaken, and evenly without order, shown by clusters"),
    demo!("balloons", "balloons of one rubber: limp, filled, blown up to twice the volume (offline)"),
    demo!("washing_line", "clothes hang by pegs on a real line, beside a tree and a house (offline)"),
    demo!("buckling_cylinder", "thin tubes pressed from above buckle, finer the softer they bend"),
    demo!("materials", "sheets and balls of eight materials, hung and dropped"),
];
