//! A shirt that is one rolled sheet, its front over its other front: held there by glue, or by stiff springs.

use crate::figures::Failure;
use pliant::constraints::EdgeStrain;
use pliant::shapes::{Roll, Shape, SolidShape, roll};
use pliant::{
    Attachment, Body, BodyFrame, Builder, DVec3, Glue, Material, Motion, Pins, Selection, Simulation,
    SolverKind,
};

/// Heights of the buttons.
const BUTTONS: [f64; 5] = [0.26, 0.13, 0.0, -0.13, -0.26];
/// How far its layers are apart.
pub const GAP: f64 = 0.008;

/// What holds the front.
#[derive(Clone, Copy, PartialEq)]
pub enum Hold {
    Nothing,
    /// Point cloud glue, exactly.
    Glue,
    /// Springs of so many N/m from each point to the nearest particle of the other layer, as long as they begin.
    Springs(f64),
}

pub fn shape() -> Result<Shape, Failure> {
    let size = DVec3::new(0.44, 0.66, 0.22);
    Ok(roll(Roll { size, turns: 380.0 / 360.0, gap: GAP }, 44, 26)?)
}

/// The particles of the lower layer under the buttons, two for each.
fn held_points(shape: &Shape) -> Vec<u32> {
    let lower = |p: &DVec3| p.z > 0.1 && p.z < 0.11 + 0.4 * GAP && p.x.abs() < 0.02;
    let at = |y: f64| {
        let mut near: Vec<u32> =
            (0..shape.points.len() as u32).filter(|i| lower(&shape.points[*i as usize])).collect();
        near.sort_by(|a, b| {
            let off = |i: &u32| (shape.points[*i as usize].y - y).abs();
            off(a).total_cmp(&off(b)).then(a.cmp(b))
        });
        near.truncate(2);
        near
    };
    let mut all: Vec<u32> = BUTTONS.into_iter().flat_map(at).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The particle of the upper layer that is nearest to one of the lower.
fn opposite(shape: &Shape, of: u32) -> u32 {
    let p = shape.points[of as usize];
    let upper = (0..shape.points.len() as u32).filter(|i| shape.points[*i as usize].z > 0.11 + 0.6 * GAP);
    upper
        .min_by(|a, b| {
            let far = |i: &u32| shape.points[*i as usize].distance_squared(p);
            far(a).total_cmp(&far(b))
        })
        .unwrap_or(of)
}

/// The shirt, hung by the rim of its shoulders and shaken to and fro; with buttons of a gram where `buttons` says so.
pub fn shirt(hold: Hold, buttons: bool, solver: SolverKind, iterations: u32) -> Result<Simulation, Failure> {
    let shape = shape()?;
    let held = held_points(&shape);
    let cotton = Material::named("cotton").ok_or("there is no cotton")?;
    let mut body = Body::new("shirt", shape.clone()).elastic(cotton).solved_by(solver);
    (body.controls.iterations, body.controls.damping) = (iterations, 1.0);
    let rim = (0_u32..).zip(&shape.points).filter(|(_, p)| p.y > 0.329 && p.x.abs() > 0.09).map(|(i, _)| i);
    let motion = Motion { sway: DVec3::new(0.08, 0.0, 0.06), frequency: 1.5, ..Motion::REST };
    body.pins.push(Pins {
        name: String::new(),
        select: Selection::Particles(rim.collect()),
        motion,
        stiffness: None,
    });
    let mut builder = Builder::new().substeps(2).body(body);
    builder.step = 1.0 / 30.0;
    if let Hold::Springs(stiffness) = hold {
        let edges: Vec<[u32; 2]> = held.iter().map(|&i| [i, opposite(&shape, i)]).collect();
        let length = |e: &[u32; 2]| shape.points[e[0] as usize].distance(shape.points[e[1] as usize]);
        let weights: Vec<f64> = edges.iter().map(|e| stiffness * length(e).powi(2)).collect();
        builder = builder.constraint(move |rest| EdgeStrain::lengths(&edges, rest, &weights));
    }
    if buttons {
        let button = SolidShape::Cylinder { radius: 0.012, height: 0.004 }.build_rigid()?;
        for (k, y) in BUTTONS.into_iter().enumerate() {
            let at =
                Body::rigid(format!("button {k}"), button.clone()).mass(1e-3).at(0.0, y, 0.11 + GAP + 0.004);
            builder = builder.body(at);
        }
    }
    let mut s = builder.build()?;
    let mut couplings = Vec::new();
    if hold == Hold::Glue {
        let mut glue = Glue::default();
        glue.points = Some(held);
        couplings.extend(s.find_glue(0, 0, &glue)?.couplings);
        if buttons {
            let upper = (0_u32..).zip(s.positions(0)).filter(|(_, p)| p.z > 0.11 + 0.6 * GAP).map(|(i, _)| i);
            let mut onto = Glue::default();
            onto.parents = Some(upper.collect());
            for k in 1..=BUTTONS.len() {
                couplings.extend(s.find_glue(k, 0, &onto)?.couplings);
            }
        }
    }
    for coupling in couplings {
        s.couple(coupling)?;
    }
    Ok(s)
}

/// How far points of the lower layer are from where they belong beside the upper one, and how far below it they are:
/// measured in the same way whatever holds them.
pub struct Ruler {
    points: Vec<(BodyFrame, u32)>,
}

impl Ruler {
    pub fn new() -> Result<Ruler, Failure> {
        let s = shirt(Hold::Glue, false, SolverKind::Projective, 1)?;
        let sides = s.model().couplings().iter().map(|c| &c.coupling.sides);
        let points = sides.filter_map(|sides| match sides {
            [Attachment::Frame(frame), Attachment::Point(point)] => {
                Some(((**frame).clone(), point.particles[0]))
            }
            _ => None,
        });
        Ok(Ruler { points: points.collect() })
    }

    /// The farthest from its place, and the least distance of a point below the upper layer, which is negative beyond it.
    pub fn measure(&self, s: &Simulation) -> (f64, f64) {
        let x: Vec<DVec3> = s.positions(0).collect();
        let each = self.points.iter().map(|(frame, i)| {
            let fit = frame.fit(|p| x[p as usize], pliant::DMat3::IDENTITY);
            let place = fit.place(frame.at());
            // In rest, outwards is along z here.
            let below = (fit.translation - x[*i as usize]).dot(fit.rotation * DVec3::Z);
            (place.distance(x[*i as usize]), below)
        });
        each.fold((0.0, f64::INFINITY), |(far, least), (off, below)| (off.max(far), below.min(least)))
    }
}
