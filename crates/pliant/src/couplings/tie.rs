//! A coupling as an island sees it, and where its points are.

use super::CouplingMemory;
use super::pairs::Turned;
use super::turn;
use crate::model::{Attachment, BodyFrame, BodyId, BodyPoint, Coupling, CouplingKind, Motor, WorldFrame};
use glam::{DMat3, DVec3};
use pliant_math::procrustes::Fit;
use std::sync::Arc;

/// One side of a tie; its body by the place it has in the island.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TieSide {
    /// A weighted mean of particles; unused entries have weight 0.
    Point {
        body: usize,
        particles: [u32; 4],
        weights: [f64; 4],
    },
    Frame {
        body: usize,
        frame: Arc<BodyFrame>,
    },
    World(WorldFrame),
}

impl TieSide {
    /// Its body, if it is of one.
    pub fn body(&self) -> Option<usize> {
        match self {
            TieSide::Point { body, .. } | TieSide::Frame { body, .. } => Some(*body),
            TieSide::World(_) => None,
        }
    }

    /// The particles it holds by, in a fixed order.
    pub fn particles(&self) -> impl Iterator<Item = u32> + '_ {
        let (of_point, of_frame): (&[u32], &[u32]) = match self {
            TieSide::Point { particles, .. } => (particles, &[]),
            TieSide::Frame { frame, .. } => (&[], frame.parents()),
            TieSide::World(_) => (&[], &[]),
        };
        let weights: &[f64] = if let TieSide::Point { weights, .. } = self { weights } else { &[] };
        let counts = of_point.iter().zip(weights).filter(|(_, w)| **w != 0.0).map(|(i, _)| *i);
        counts.chain(of_frame.iter().copied())
    }

    /// Where it is, from where its particles (in the order of [`TieSide::particles`]) are, and how the cloud of its frame is.
    #[inline]
    pub fn placed(&self, position: impl Fn(usize) -> DVec3, fit: impl FnOnce() -> Fit) -> Placed<'_> {
        match self {
            TieSide::Point { weights, .. } => {
                let counts = weights.iter().filter(|w| **w != 0.0).enumerate();
                let at = counts.fold(DVec3::ZERO, |sum, (k, w)| sum + position(k) * *w);
                Placed::Point { at, weights }
            }
            TieSide::Frame { frame, .. } => Placed::Frame { frame, fit: fit() },
            TieSide::World(frame) => Placed::World(frame),
        }
    }

    /// What of its particles where it is follows from: (w, w v) of each.
    pub fn moments(&self) -> impl Iterator<Item = [f64; 4]> + '_ {
        let weights: &[f64] = if let TieSide::Point { weights, .. } = self { weights } else { &[] };
        let of_point = weights.iter().filter(|w| **w != 0.0).map(|w| [*w, 0.0, 0.0, 0.0]);
        let cloud = if let TieSide::Frame { frame, .. } = self { Some(frame.cloud()) } else { None };
        let of_frame = cloud
            .into_iter()
            .flat_map(|c| c.weights().iter().zip(c.offsets()).map(|(w, v)| [*w, w * v.x, w * v.y, w * v.z]));
        of_point.chain(of_frame)
    }

    /// Half the size of what holds the frame: how far from its place turning is looked at.
    fn reach(&self) -> Option<f64> {
        match self {
            TieSide::Frame { frame, .. } => Some(frame.cloud().size()),
            TieSide::Point { .. } | TieSide::World(_) => None,
        }
    }
}

/// A side where it is. It lives for a moment on the stack: a box would be an allocation in a step.
#[expect(clippy::large_enum_variant)]
pub(crate) enum Placed<'a> {
    Point { at: DVec3, weights: &'a [f64; 4] },
    Frame { frame: &'a BodyFrame, fit: Fit },
    World(&'a WorldFrame),
}

impl Placed<'_> {
    /// Where a point of the frame is, told in the frame's axes.
    pub fn point(&self, offset: DVec3) -> DVec3 {
        match self {
            Placed::Point { at, .. } => *at,
            Placed::Frame { frame, fit } => fit.place(frame.at() + frame.axes() * offset),
            Placed::World(frame) => frame.at + frame.axes * offset,
        }
    }

    /// The axes as they are turned now.
    pub fn axes(&self) -> DMat3 {
        match self {
            Placed::Point { .. } => DMat3::IDENTITY,
            Placed::Frame { frame, fit } => fit.rotation * frame.axes(),
            Placed::World(frame) => frame.axes,
        }
    }

    /// How it is turned from rest.
    pub fn rotation(&self) -> DMat3 {
        match self {
            Placed::Frame { fit, .. } => fit.rotation,
            Placed::Point { .. } | Placed::World(_) => DMat3::IDENTITY,
        }
    }

    /// Whether it is known how it is turned.
    pub fn is_determined(&self) -> bool {
        match self {
            Placed::Frame { fit, .. } => fit.is_determined(),
            Placed::Point { .. } | Placed::World(_) => true,
        }
    }

    /// How it turns a point of the frame, and by what lever.
    pub(super) fn turned(&self, offset: DVec3) -> Turned {
        let lever = match self {
            Placed::Frame { frame, fit } => {
                let arm = fit.arm(frame.at() + frame.axes() * offset);
                let k = fit.compliance;
                DMat3::from_cols(k.x_axis.cross(arm), k.y_axis.cross(arm), k.z_axis.cross(arm))
            }
            Placed::Point { .. } | Placed::World(_) => DMat3::ZERO,
        };
        Turned { rotation: self.rotation(), lever }
    }

    /// How a point of the frame moves with each of the particles.
    pub fn blocks(&self, offset: DVec3, mut each: impl FnMut(usize, DMat3)) {
        match self {
            Placed::Point { weights, .. } => {
                let counts = weights.iter().filter(|w| **w != 0.0).enumerate();
                counts.for_each(|(k, w)| each(k, DMat3::from_diagonal(DVec3::splat(*w))));
            }
            Placed::Frame { frame, fit } => {
                let point = frame.at() + frame.axes() * offset;
                (0..frame.parents().len()).for_each(|k| each(k, fit.block(frame.cloud(), k, point)));
            }
            Placed::World(_) => {}
        }
    }
}

/// Two places that a coupling keeps together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tie {
    pub sides: [TieSide; 2],
    pub kind: CouplingKind,
    /// N/m; `None` holds exactly.
    pub stiffness: Option<f64>,
    /// N s/m.
    pub damping: f64,
    /// The least and the greatest angle of a hinge.
    pub limits: Option<[f64; 2]>,
    /// What turns a hinge.
    pub motor: Option<Motor>,
    /// Force (N) and distance (m) beyond which it breaks.
    pub breaks: (f64, f64),
    /// Its place in the model.
    pub place: usize,
    /// What history has left, during a step only.
    pub memory: CouplingMemory,
    /// The energy put in during a step, J: see [`StepReport::coupling_energy`](crate::StepReport::coupling_energy).
    pub put_in: f64,
    /// Whether it broke during a step.
    pub broke: bool,
    /// Whether the particles of one of its frames collapsed to a line during a step.
    pub collapsed: bool,
    /// Whether it held nothing in the rest of some substep, since no round brought its points together.
    pub let_go: bool,
}

impl Tie {
    /// What happened to it in a step, the worst of it.
    pub fn mishap(&self) -> Option<Mishap> {
        let all =
            [(self.broke, Mishap::Broke), (self.collapsed, Mishap::Collapsed), (self.let_go, Mishap::LetGo)];
        all.into_iter().find(|(is, _)| *is).map(|(_, mishap)| mishap)
    }
}

/// What may happen to a coupling in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Mishap {
    /// It broke, and holds nothing ever after.
    Broke,
    /// The particles that carry one of its frames came to lie on a line or in one place, so that nothing tells how it is turned.
    /// Told once; it holds what it can until they are apart again.
    Collapsed,
    /// No forces brought its points together, as its parents have collapsed or were torn about: it held nothing in the rest of a
    /// substep.
    LetGo,
}

/// A point of a tie: what of both sides is to be in one place, and along which axes of the first side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TiePoint {
    /// On each side, in the axes of its frame.
    pub offsets: [DVec3; 2],
    /// All three, or the first `axes` of the columns told here.
    pub axes: usize,
    pub along: DMat3,
}

/// What kinds of coupling keep together: how many axes each of their points has.
const POINT: &[usize] = &[3];
const HINGE: &[usize] = &[3, 2];
const WELD: &[usize] = &[3, 2, 1];

impl Tie {
    /// A coupling of the model, which has its bodies at places of its own here; as yet it holds nothing.
    pub fn new(of: &Coupling, place: usize, within: impl Fn(BodyId) -> usize) -> Tie {
        let side = |side: &Attachment| match side {
            Attachment::Point(BodyPoint { body, particles, weights }) => {
                TieSide::Point { body: within(*body), particles: *particles, weights: *weights }
            }
            Attachment::Frame(frame) => TieSide::Frame { body: within(frame.body()), frame: frame.clone() },
            Attachment::World(frame) => TieSide::World(*frame),
        };
        Tie {
            sides: [side(&of.sides[0]), side(&of.sides[1])],
            kind: of.kind,
            stiffness: None,
            damping: of.damping,
            limits: of.limits,
            motor: of.motor,
            breaks: (of.break_force, of.break_distance),
            place,
            memory: CouplingMemory::default(),
            put_in: 0.0,
            broke: false,
            let_go: false,
            collapsed: false,
        }
    }

    /// The energy in its springs with the particles there, by body and number: of all ways that it draws together, as its rows do,
    /// less what it still lets them be apart.
    pub fn energy(&self, memory: &CouplingMemory, at: impl Fn(usize, u32) -> DVec3) -> f64 {
        let placed = [0, 1].map(|k| match &self.sides[k] {
            TieSide::Point { body, particles, weights } => {
                let counts = particles.iter().zip(weights).filter(|(_, w)| **w != 0.0);
                Placed::Point { at: counts.map(|(i, w)| at(*body, *i) * *w).sum(), weights }
            }
            TieSide::Frame { body, frame } => {
                Placed::Frame { frame, fit: frame.fit(|i| at(*body, i), memory.rotations[k]) }
            }
            TieSide::World(frame) => Placed::World(frame),
        });
        let [a, b] = &placed;
        let displacement = |k: usize, angle: f64| {
            let TiePoint { offsets: [on_a, on_b], axes, along } = self.point(k, angle);
            let (displacement, along) = (a.point(on_a) - b.point(on_b), a.axes() * along);
            if axes == 3 {
                displacement.length_squared()
            } else {
                (0..axes).map(|n| along.col(n).dot(displacement).powi(2)).sum()
            }
        };
        let springs = self.rows().len() - usize::from(self.has_angle());
        let (mut farthest, mut sum) = (0.0_f64, 0.0);
        for square in (0..springs).map(|k| displacement(k, 0.0)) {
            (farthest, sum) = (farthest.max(square.sqrt()), sum + square);
        }
        if farthest > 0.0 {
            sum *= (1.0 - memory.rest / farthest).max(0.0).powi(2);
        }
        // A limit is as soft as the rest.
        if let (true, Some([least, most])) = (self.has_angle(), self.limits) {
            let angle = turn::near(turn::angle([a.axes(), b.axes()]), least.midpoint(most));
            if angle < least || angle > most {
                sum += displacement(springs, angle.clamp(least, most));
            }
        }
        0.5 * memory.stiffness * sum
    }

    /// How many rows each of its points has.
    pub fn rows(&self) -> &'static [usize] {
        match self.kind {
            CouplingKind::Point => POINT,
            CouplingKind::Hinge if !self.has_angle() => HINGE,
            CouplingKind::Hinge | CouplingKind::Weld => WELD,
        }
    }

    /// Whether it is a hinge whose angle is limited or driven: its last row is that angle.
    pub fn has_angle(&self) -> bool {
        self.kind == CouplingKind::Hinge && (self.limits.is_some() || self.motor.is_some())
    }

    /// Whether where its points are is not linear in where particles are.
    pub fn is_nonlinear(&self) -> bool {
        self.sides.iter().any(|s| matches!(s, TieSide::Frame { .. }))
    }

    /// What of the way between its points no particle carries.
    pub(super) fn fixed_part(&self) -> DVec3 {
        let of = |side: &TieSide| match side {
            TieSide::World(frame) => frame.at,
            TieSide::Point { .. } | TieSide::Frame { .. } => DVec3::ZERO,
        };
        of(&self.sides[0]) - of(&self.sides[1])
    }

    /// How far from its place turning is looked at: half the size of what holds its frames.
    pub fn reach(&self) -> f64 {
        self.sides.iter().filter_map(TieSide::reach).fold(0.0, f64::max)
    }

    /// Point `k` of it: the place itself; one on the last axis, which may not go sideways; one on the first, which may not turn
    /// about the last but by `angle`.
    pub(super) fn point(&self, k: usize, angle: f64) -> TiePoint {
        let axes = self.rows()[k];
        match k {
            0 => TiePoint { offsets: [DVec3::ZERO; 2], axes, along: DMat3::IDENTITY },
            1 => TiePoint { offsets: [DVec3::Z * self.reach(); 2], axes, along: DMat3::IDENTITY },
            _ => {
                let (sin, cos) = angle.sin_cos();
                let (across, out) = (DVec3::new(-sin, cos, 0.0), DVec3::new(cos, sin, 0.0));
                let offsets = [out * self.reach(), DVec3::X * self.reach()];
                TiePoint { offsets, axes, along: DMat3::from_cols(across, DVec3::Z, out) }
            }
        }
    }
}
