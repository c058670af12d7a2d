//! Anything is glued to anything: every pairing of the kinds of bodies scenes know, in either direction.

use pliant::{Attachment, DVec3, Simulation};
use pliant_scene::{Diagnostic, Scene};
use std::fs;

/// The kinds, each as a body of about 10 cm around the origin.
const KINDS: [(&str, &str); 7] = [
    ("clusters", "shape = { kind = \"box\", size = [0.1, 0.1, 0.1] }\nparticles = 64\nclusters = 4"),
    (
        "tetrahedra",
        "shape = { kind = \"box\", size = [0.1, 0.1, 0.1], cells = [2, 2, 2] }\nelements = \"tetrahedra\"\nmaterial = \"jelly\"",
    ),
    ("cloth", "shape = { kind = \"sheet\", size = [0.1, 0.1], cells = [4, 4] }\nmaterial = \"cotton\""),
    ("thread", "shape = { kind = \"thread\", points = [[-0.05, 0, 0], [0.05, 0, 0]], segments = 6 }"),
    ("points", "shape = { kind = \"points\", file = \"cloud.txt\" }\nclusters = 2"),
    ("rigid", "kind = \"rigid\"\nshape = { kind = \"box\", size = [0.1, 0.1, 0.1] }\ndensity = 500"),
    ("animated", "shape = { kind = \"box\", size = [0.1, 0.1, 0.1] }\nparticles = 64\nclusters = 2"),
];

/// What makes the last of them follow an animation, all of it.
const ANIMATION: &str = "[body.input]\nwag = { axis = [0, 0, 1], angle = 25, frequency = 1.5 }\n\
                         [[body.paint]]\nchannel = \"follow\"\nvalue = 1\nbox = { min = [-9, -9, -9], max = [9, 9, 9] }\n";

fn body(name: &str, kind: usize, at: DVec3, velocity: DVec3) -> String {
    let (kind, keys) = KINDS[kind];
    let list = |v: DVec3| format!("[{}, {}, {}]", v.x, v.y, v.z);
    let mut text = format!("[[body]]\nname = \"{name}\"\n{keys}\nposition = {}\n", list(at));
    if kind == "animated" {
        text += ANIMATION;
    } else {
        text += &format!("velocity = {}\n", list(velocity));
    }
    text
}

/// The farthest that what is glued is apart.
fn apart(s: &Simulation) -> f64 {
    let each = s.model().couplings().iter().zip(s.state().couplings());
    let ways = each.map(|(c, m)| {
        let [a, b] = [0, 1].map(|k| c.coupling.sides[k].place(s.state(), m.rotations[k]).unwrap());
        a.distance(b)
    });
    ways.fold(0.0, f64::max)
}

fn middle(s: &Simulation, body: usize) -> DVec3 {
    s.positions(body).sum::<DVec3>() / s.positions(body).len() as f64
}

/// One of each kind glued to one of each, above it with a gap: for a second they are thrown and fall, and stay together. What cannot be is
/// refused by name.
#[test]
fn any_kind_is_glued_to_any() {
    let folder = pliant_testing::tempdir().unwrap();
    let mut cloud = String::new();
    for k in 0..64 {
        let [x, y, z] = [k % 4, k / 4 % 4, k / 16].map(|k| f64::from(k) / 30.0 - 0.05);
        cloud += &format!("{x} {y} {z}\n");
    }
    fs::write(folder.path().join("cloud.txt"), cloud).unwrap();
    let build = |text: &str| -> Result<Simulation, Vec<Diagnostic>> {
        Ok(Scene::parse(text, &folder.path().join("scene.toml"))?.build(1)?.simulation)
    };
    let thread = |k: usize| KINDS[k].0 == "thread";
    let flat = |k: usize| ["thread", "cloth"].contains(&KINDS[k].0);
    let mut worst = 0.0_f64;
    let name = |k: usize| KINDS[k].0;
    let all = 0..KINDS.len();
    for from in all.clone() {
        for to in all.clone() {
            let both = format!("{} on {}", name(from), name(to));
            // Half of each, and a gap.
            let half = |k: usize| if flat(k) { 0.0 } else { 0.05 };
            let at = DVec3::new(0.0, half(from) + half(to) + 0.01, 0.0);
            let text = format!(
                "{}{}[[glue]]\nname = \"held\"\nfrom = \"upper\"\nto = \"lower\"\n",
                body("upper", from, at, DVec3::new(0.3, 0.0, 0.5)),
                body("lower", to, DVec3::ZERO, DVec3::ZERO),
            );
            let mut s = match build(&text) {
                Err(problems) => {
                    let told = problems[0].to_string();
                    assert!(
                        thread(from) && thread(to) && told.contains("lower") && told.contains("line"),
                        "{both}: {told}"
                    );
                    continue;
                }
                Ok(s) => s,
            };
            assert!(!(thread(from) && thread(to)), "{both}: a thread has no frames");
            let count = s.model().couplings().len();
            assert!(count > 0, "{both}");
            // Frames are of what has them.
            for c in s.model().couplings() {
                for side in &c.coupling.sides {
                    if let Attachment::Frame(frame) = side {
                        let kind = [from, to][frame.body().number() as usize];
                        assert!(!thread(kind), "{both}: a frame of a thread");
                    }
                }
            }
            assert!(apart(&s) < 1e-12, "{both}: it begins {} m apart", apart(&s));
            let mut most = 0.0_f64;
            for _ in 0..60 {
                s.step().unwrap();
                most = most.max(apart(&s));
                for b in 0..2 {
                    assert!(s.positions(b).all(|p| p.is_finite()), "{both}");
                }
            }
            let led = |k: usize| KINDS[k].0 == "animated";
            if led(from) && led(to) {
                // Each goes where it is led.
                continue;
            }
            worst = worst.max(most);
            assert!(most < 1e-6, "{both}: {most} m apart");
            let between = middle(&s, 0).distance(middle(&s, 1));
            assert!(between < 0.25, "{both}: their middles are {between} m from each other");
            // Thrown or held, as the other is.
            let fallen = middle(&s, 1).y;
            assert!(if led(from) || led(to) { fallen > -0.3 } else { fallen < -4.0 }, "{both}: {fallen}");
        }
    }
    println!("at most {worst:.1e} m apart");
}

/// A peg glued to a line is held where it is put, and turns about the line by its weight.
#[test]
fn what_is_glued_to_a_thread_turns_about_it() {
    let text = "[[body]]\nname = \"line\"\nshape = { kind = \"thread\", points = [[-0.3, 1, 0], [0.3, 1, 0]], segments = 30 }\n\
                edge_stiffness = 3e3\niterations = 60\n\
                [[body.pin]]\nparticles = [0, 30]\n\
                [[body]]\nname = \"peg\"\nkind = \"rigid\"\nshape = { kind = \"box\", size = [0.06, 0.02, 0.1] }\ndensity = 300\n\
                position = [0, 1.011, 0.04]\n[[glue]]\nfrom = \"peg\"\nto = \"line\"\n";
    let built =
        Scene::parse(text, "scene.toml".as_ref()).unwrap().build(1).unwrap_or_else(|p| panic!("{}", p[0]));
    let note = built.settings.notes.iter().find(|n| n.starts_with("glue")).unwrap();
    assert!(note.contains("of `line` bound to `peg`"), "{note}");
    let mut s = built.simulation;
    let (mut lowest, mut most) = (f64::MAX, 0.0_f64);
    for _ in 0..120 {
        s.step().unwrap();
        (lowest, most) = (lowest.min(middle(&s, 1).y), most.max(apart(&s)));
    }
    assert!(most < 1e-6, "{most} m apart");
    // It hangs below the line, and swings there.
    assert!((0.6..0.985).contains(&lowest), "{lowest}");
    assert!(middle(&s, 1).x.abs() < 0.05, "{}", middle(&s, 1));
}
