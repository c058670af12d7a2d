//! What glue costs of a step (figures 5 and 6 of "The Point Cloud Glue"): rotations and their derivatives alone, as the paper
//! counts, and all there is to it, of a tree of branches with ornaments and of a shirt with buttons.

use super::{Definition, Failure, Figure};
use crate::clock::{Ratio, Stopwatch, kind, runs};
use crate::plot::{Panel, Plot, Style};
use crate::shirt::{Hold, shirt};
use pliant::shapes::{SolidShape, TetStyle, tet_box};
use pliant::{Attachment, Body, Builder, DVec3, Glue, Material, Simulation, SolverKind};
use pliant_math::procrustes::{Bindings, Poses};

const STEP: &str = "a step";
const BARE: &str = "a step without glue";
const FITS: &str = "of it rotations and derivatives";
const TREE: usize = 0;
const SHIRT: usize = 1;
const STEPS: u32 = 20;
/// Branches of the tree, and as many ornaments.
const BRANCHES: usize = 15;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "glue_cost",
        about: "What glue costs of a step: a tree with ornaments, a shirt with buttons",
    },
    run,
    metrics: &[
        ("tree_fits", |p| fits(TREE).median(p)),
        ("tree_fits_least", |p| fits(TREE).least(p)),
        ("tree_fits_most", |p| fits(TREE).most(p)),
        ("tree_all", |p| 1.0 - bare(TREE).median(p)),
        ("tree_all_least", |p| 1.0 - bare(TREE).most(p)),
        ("tree_all_most", |p| 1.0 - bare(TREE).least(p)),
        ("shirt_fits", |p| fits(SHIRT).median(p)),
        ("shirt_fits_least", |p| fits(SHIRT).least(p)),
        ("shirt_fits_most", |p| fits(SHIRT).most(p)),
    ],
};

const fn fits(panel: usize) -> Ratio<'static> {
    Ratio { panel, over: FITS, under: STEP }
}

const fn bare(panel: usize) -> Ratio<'static> {
    Ratio { panel, over: BARE, under: STEP }
}

/// Branches of 1,000 tetrahedra, two growing from each, a rigid ball on every one; the first is held.
fn tree(glued: bool) -> Result<Simulation, Failure> {
    const LENGTH: f64 = 0.5;
    let branch = tet_box([13, 4, 4], DVec3::new(LENGTH, 0.06, 0.06), TetStyle::Five)?;
    let ball = SolidShape::Ball { radius: 0.03 }.build_rigid()?;
    let rubber = Material::named("rubber").ok_or("there is no rubber")?;
    let wood = Material { young: 1e7, density: 500.0, ..rubber };
    let mut builder = Builder::new().substeps(2);
    let depth = |k: usize| f64::from((k + 1).ilog2());
    let root = |k: usize| DVec3::new(depth(k) * LENGTH, 2.0, if k.is_multiple_of(2) { 0.03 } else { -0.03 });
    for k in 0..BRANCHES {
        let at = root(k) + DVec3::X * (0.5 * LENGTH);
        let mut body = Body::new(format!("branch {k}"), branch.clone()).elastic(wood).at(at.x, at.y, at.z);
        if k == 0 {
            let near = (0_u32..).zip(&branch.points).filter(|(_, p)| p.x < -0.49 * LENGTH);
            body = body.pin(near.map(|(i, _)| i).collect::<Vec<_>>());
        }
        builder = builder.body(body);
    }
    for k in 0..BRANCHES {
        let at = root(k) + DVec3::new(0.7 * LENGTH, -0.07, 0.0);
        builder = builder.body(Body::rigid(format!("ornament {k}"), ball.clone()).at(at.x, at.y, at.z));
    }
    let mut s = builder.build()?;
    if !glued {
        return Ok(s);
    }
    let mut couplings = Vec::new();
    for k in 1..2 * BRANCHES {
        let parent = if k < BRANCHES { (k - 1) / 2 } else { k - BRANCHES };
        let mut glue = Glue::default();
        if k < BRANCHES {
            // Three corners of its root hold a branch.
            let own: Vec<DVec3> = s.positions(k).collect();
            let least = own.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
            let face: Vec<u32> =
                (0_u32..).zip(&own).filter(|(_, p)| p.x < least + 1e-6).map(|(i, _)| i).collect();
            glue.points = Some(vec![face[0], face[4], face[22]]);
        }
        couplings.extend(s.find_glue(k, parent, &glue)?.couplings);
    }
    for coupling in couplings {
        s.couple(coupling)?;
    }
    Ok(s)
}

/// Seconds for the rotation of a frame and all blocks of its derivative, as the engine makes them: many at once.
fn rotation(s: &Simulation) -> f64 {
    let sides = || s.model().couplings().iter().flat_map(|c| &c.coupling.sides);
    let mut columns: [Vec<f64>; 3] = Default::default();
    let mut bindings = Bindings::default();
    for side in sides() {
        let Attachment::Frame(frame) = side else { continue };
        let first = columns[0].len() as u32;
        let at: Vec<DVec3> = s.positions(frame.body()).collect();
        let parents: Vec<u32> = (0..frame.parents().len() as u32).map(|k| first + k).collect();
        for i in frame.parents() {
            columns.iter_mut().zip(at[*i as usize].to_array()).for_each(|(c, v)| c.push(v));
        }
        bindings.push(frame.cloud(), &parents, frame.at());
    }
    let (mut poses, mut blocks) = (Poses::new(&bindings), vec![[[[0.0; 8]; 3]; 3]; bindings.slots()]);
    let [x, y, z] = &columns;
    let rounds = 200;
    let watch = Stopwatch::start();
    for _ in 0..rounds {
        bindings.fit(s.isa(), [x, y, z], &mut poses);
        bindings.blocks(s.isa(), &poses, &mut blocks);
        std::hint::black_box((&mut poses, &mut blocks));
    }
    watch.seconds() / f64::from(rounds) / bindings.len().max(1) as f64
}

fn measured(title: &str, make: impl Fn(bool) -> Result<Simulation, Failure>) -> Result<Panel, Failure> {
    let mut lines: [Vec<(f64, f64)>; 3] = Default::default();
    for run in 1..=runs() {
        let mut seconds = [0.0; 3];
        for (k, glued) in [true, false].into_iter().enumerate() {
            let mut s = make(glued)?;
            s.step()?;
            let watch = Stopwatch::start();
            let mut fits = 0;
            for _ in 0..STEPS {
                fits += s.step()?.fits;
            }
            seconds[k] = watch.seconds() / f64::from(STEPS);
            if glued {
                seconds[2] = rotation(&s) * fits as f64 / f64::from(STEPS);
            }
        }
        lines.iter_mut().zip(seconds).for_each(|(line, t)| line.push((run as f64, 1e3 * t)));
    }
    let mut panel = Panel::new(&format!("{title} ({})", kind()), "run", "milliseconds a step").y_log();
    for (name, line) in [STEP, BARE, FITS].into_iter().zip(lines) {
        panel = panel.line(name, Style::Marked, line);
    }
    Ok(panel)
}

fn run() -> Result<Plot, Failure> {
    let tree = measured("15 branches of 1,000 tetrahedra, 15 ornaments", tree)?;
    let shirt = measured("A shirt with five buttons", |glued| {
        shirt(if glued { Hold::Glue } else { Hold::Nothing }, true, SolverKind::Projective, 10)
    })?;
    Ok(Plot { panels: vec![tree, shirt], ..Plot::new("What glue costs of a step") })
}
