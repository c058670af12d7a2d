//! Thin bodies never cross: where a substep would take them is cut short of it.
//!
//! Every crossing of an edge and a triangle begins where a vertex meets a triangle or an edge an edge. So for each such pair that
//! may meet on the way from where all is apart to where the solvers lead, a plane is put between the two, and no vertex goes beyond
//! nine tenths of its way to that ("divide and truncate"). Each vertex goes straight, by the least share that any of its pairs
//! leaves it; any mixture of shares keeps all pairs apart, so nothing crosses whatever forces do and however fast things are.
//! What was lost that way is tried again from there, as there may be a way around.

use super::thin::{is_thin_pair, run};
use super::{Bodies, SubstepStart};
use crate::model::{CollisionShape, TouchSurface};
use crate::points::Points;
use crate::team::Team;
use glam::DVec3;
use pliant_geometry::collision::{CollisionBody, Detection, MotionEnd, Near, PairKind, Search, SweptBoxes};
use std::sync::Arc;

/// How often what is lost is tried again.
const PASSES: usize = 3;
/// What of its way to the plane a vertex may go at most in a pass.
const TOWARDS: f64 = 0.9;
/// What stays between two in any case, in terms of how thick they are: without it gaps shrink pass by pass until rounding crosses.
const KEPT: f64 = 2e-3;
/// Where the plane between two lies at least and at most.
const BETWEEN: (f64, f64) = (0.05, 0.95);

/// What was cut from the way of an island's bodies in a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cut {
    /// Vertices that did not go all their way.
    pub vertices: usize,
    /// Σ m |Δv|, kg m/s: how much of momentum that took, whatever its direction.
    pub momentum: f64,
    /// Pairs that what is prescribed took through each other, or that were in each other from the start: nothing is promised of
    /// these.
    pub through: usize,
}

impl Cut {
    /// Takes up what was cut in another substep.
    pub fn add(&mut self, other: Cut) {
        self.vertices += other.vertices;
        self.momentum += other.momentum;
        self.through += other.through;
    }
}

/// A body in the present substep.
#[derive(Debug, Default)]
struct Moved {
    shape: Option<Arc<CollisionShape>>,
    /// Where its vertices are for certain, and where they are to go.
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    /// The share of that which each may go; 1 of what is prescribed.
    shares: Vec<f64>,
    led: Vec<bool>,
    /// How far its surface lies beyond its vertices, at most.
    thick: f64,
    boxes: SweptBoxes,
    cut: bool,
}

/// Sees to it that thin bodies stay apart.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    pairs: Vec<[usize; 2]>,
    moved: Vec<Moved>,
    detection: Detection,
}

impl Clone for Apart {
    fn clone(&self) -> Apart {
        Apart::default()
    }
}

/// The bodies of an island as their substep has ended.
pub(crate) trait Ended {
    /// Where the particles of a body are.
    fn positions(&self, place: usize) -> &Points;

    /// Moves a particle that was to be elsewhere, with the velocity that goes with it; returns the momentum that takes.
    fn put(&mut self, place: usize, particle: usize, at: DVec3) -> f64;
}

impl Apart {
    /// Takes up which bodies are thin, and where they begin the substep.
    pub fn begin(&mut self, pairs: &[[usize; 2]], bodies: &mut dyn Bodies) {
        self.pairs.clear();
        self.moved.iter_mut().for_each(|m| m.shape = None);
        for &[a, b] in pairs {
            let mut shape = |k: usize| Some(bodies.get(k)?.body.model.collision().clone());
            let (Some(one), Some(other)) = (shape(a), shape(b)) else { continue };
            if is_thin_pair(&one, &other, a == b) && (one.is_thin() || other.is_thin()) {
                self.pairs.push([a, b]);
            }
        }
        if self.moved.len() < bodies.len() {
            self.moved.resize_with(bodies.len(), Moved::default);
        }
        for k in 0..bodies.len() {
            if self.pairs.iter().flatten().any(|p| *p == k)
                && let Some(touching) = bodies.get(k)
            {
                let shape = touching.body.model.collision().clone();
                self.moved[k].begin(shape, touching.side.beginning());
            }
        }
    }

    /// Cuts the ways of all bodies so that no two thin ones cross.
    pub fn keep(&mut self, bodies: &mut (impl Ended + ?Sized), team: &Team) -> Cut {
        let mut cut = Cut::default();
        if self.pairs.is_empty() {
            return cut;
        }
        for (k, moved) in self.moved.iter_mut().enumerate().filter(|(_, m)| m.shape.is_some()) {
            moved.end(bodies.positions(k));
        }
        for pass in 1..=PASSES {
            let (lost, through) = self.pass(team);
            if pass == 1 {
                cut.through = through;
            }
            if !lost {
                break;
            }
        }
        for (k, moved) in self.moved.iter().enumerate().filter(|(_, m)| m.shape.is_some() && m.cut) {
            let Some((_, touch)) = moved.touch() else { continue };
            let Some(particles) = touch.particles() else { continue };
            for (v, &i) in particles.iter().enumerate() {
                if moved.from[v] != moved.to[v] && !moved.led[v] {
                    cut.vertices += 1;
                    cut.momentum += bodies.put(k, i as usize, moved.from[v]);
                }
            }
        }
        cut
    }

    /// Lets everything go as far as it may from where it is. Tells whether any way was lost, and how many pairs could not be kept
    /// apart.
    fn pass(&mut self, team: &Team) -> (bool, usize) {
        let Apart { pairs, moved, detection } = self;
        let origin =
            moved.iter().find_map(|m| m.shape.as_ref().and(m.from.first())).copied().unwrap_or_default();
        for moved in moved.iter_mut().filter(|m| m.shape.is_some()) {
            moved.fit(origin);
        }
        let body = |k: u32| moved[k as usize].as_body();
        detection.clear();
        for &[a, b] in pairs.iter() {
            let search = Search { nearest: false, edges: true, moment: MotionEnd::Start };
            let (Some(first), Some(second)) = (body(a as u32), body(b as u32)) else { continue };
            detection.add((a as u32, first), (b as u32, second), search);
        }
        run(detection, &body, team);
        moved.iter_mut().for_each(|m| m.shares.fill(1.0));
        let mut through = 0;
        for (group, nears) in detection.groups() {
            let [a, b] = [group.first as usize, group.second as usize];
            for near in nears {
                through += usize::from(!divide(moved, [a, b], group.kind, near));
            }
        }
        let mut lost = false;
        for moved in moved.iter_mut().filter(|m| m.shape.is_some()) {
            let Moved { from, to, shares, cut, .. } = moved;
            for ((from, to), share) in from.iter_mut().zip(to.iter()).zip(shares.iter()) {
                if *share >= 1.0 {
                    *from = *to;
                } else {
                    *from = from.lerp(*to, *share);
                    (lost, *cut) = (true, true);
                }
            }
        }
        (lost, through)
    }
}

/// The vertices of two primitives: how many are of the first.
fn vertices(moved: &[Moved], [a, b]: [usize; 2], kind: PairKind, near: &Near) -> Option<([u32; 4], usize)> {
    let (one, other) = (moved[a].touch()?.1.surface(), moved[b].touch()?.1.surface());
    Some(if kind == PairKind::EdgeEdge {
        let ([p, q], [r, s]) = (one.edges()[near.first as usize], other.edges()[near.second as usize]);
        ([p, q, r, s], 2)
    } else {
        let [p, q, r] = other.triangles()[near.second as usize];
        ([near.first, p, q, r], 1)
    })
}

/// Puts a plane between two and cuts the ways to it. Tells whether it is sure that they stay apart.
fn divide(moved: &mut [Moved], [a, b]: [usize; 2], kind: PairKind, near: &Near) -> bool {
    let Some((list, split)) = vertices(moved, [a, b], kind, near) else { return true };
    let whose = |k: usize| if k < split { a } else { b };
    let from: [DVec3; 4] = std::array::from_fn(|k| moved[whose(k)].from[list[k] as usize]);
    let ways: [DVec3; 4] = std::array::from_fn(|k| moved[whose(k)].to[list[k] as usize] - from[k]);
    let foot = if split == 2 {
        from[2].lerp(from[3], near.at[1])
    } else {
        let [u, v, w] = near.triangle_weights();
        from[1] * u + from[2] * v + from[3] * w
    };
    let top = if split == 2 { from[0].lerp(from[1], near.at[0]) } else { from[0] };
    let apart = top - foot;
    let distance = apart.length();
    let normal = apart / distance;
    if !normal.is_finite() {
        return false;
    }
    // Towards each other, of what may be cut and of what may not.
    let (mut least, mut wanted) = ([0.0_f64; 2], [0.0_f64; 2]);
    for k in 0..4 {
        let side = usize::from(k >= split);
        let towards = if side == 0 { -normal.dot(ways[k]) } else { normal.dot(ways[k]) };
        let to = if moved[whose(k)].led[list[k] as usize] { &mut least[side] } else { &mut wanted[side] };
        *to = to.max(towards);
    }
    let keep = KEPT * (moved[a].thick + moved[b].thick);
    let all = [wanted[0].max(least[0]), wanted[1].max(least[1])];
    if all[0] + all[1] <= 0.0 || (all[0] + all[1]) < TOWARDS * (distance - 2.0 * keep) {
        return true;
    }
    // From the foot: as much to each side as it comes near, but all to what is led.
    let room = distance.max(f64::MIN_POSITIVE);
    let share = (all[1] / (all[0] + all[1])).clamp(BETWEEN.0, BETWEEN.1);
    let height = (share * room).clamp(least[1].min(room), (room - least[0]).max(0.0).max(least[1].min(room)));
    let sure = least[0] + least[1] < room;
    for k in 0..4 {
        let body = &mut moved[whose(k)];
        let v = list[k] as usize;
        if body.led[v] {
            continue;
        }
        let above = normal.dot(from[k] - foot) - height;
        let (gap, towards) =
            if k < split { (above, -normal.dot(ways[k])) } else { (-above, normal.dot(ways[k])) };
        let most = (TOWARDS * (gap - keep)).max(0.0);
        if towards > most {
            body.shares[v] = body.shares[v].min(most / towards);
        }
    }
    sure
}

impl Moved {
    fn begin(&mut self, shape: Arc<CollisionShape>, beginning: &SubstepStart) {
        let Some(touch) = shape.touch_surface() else { return };
        let count = touch.surface().places().len() as u32;
        let at = |i: u32| beginning.start.get(i as usize);
        self.from.clear();
        self.from.extend((0..count).map(|v| touch.vertex(&shape, v).at(at)));
        self.led.clear();
        match touch.particles() {
            Some(particles) => self.led.extend(particles.iter().map(|i| !beginning.free[*i as usize])),
            None => self.led.resize(count as usize, true),
        }
        self.shares.resize(count as usize, 1.0);
        self.thick = shape.most_beyond();
        self.cut = false;
        self.shape = Some(shape);
    }

    /// Takes up where it is to go.
    fn end(&mut self, positions: &Points) {
        let Moved { shape: Some(shape), to, .. } = self else { return };
        let Some(touch) = shape.touch_surface() else { return };
        let count = touch.surface().places().len() as u32;
        to.clear();
        to.extend((0..count).map(|v| touch.vertex(shape, v).at(|i| positions.get(i as usize))));
    }

    fn touch(&self) -> Option<(&CollisionShape, &TouchSurface)> {
        let shape = self.shape.as_deref()?;
        Some((shape, shape.touch_surface()?))
    }

    fn as_body(&self) -> Option<CollisionBody<'_>> {
        Some(CollisionBody { surface: self.touch()?.1.surface(), boxes: &self.boxes })
    }

    fn fit(&mut self, origin: DVec3) {
        let Moved { shape: Some(shape), from, to, boxes, thick, .. } = self else { return };
        let Some(touch) = shape.touch_surface() else { return };
        boxes.fit_ways(touch.surface(), |v| [from[v], to[v]], 2.0 * KEPT * *thick, origin);
    }
}
