//! A coupling as an island sees it, and where its points are.

use super::CouplingMemory;
use crate::model::{BodyFrame, CouplingKind, WorldFrame};
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

    /// Where it is, from where its particles (in the order of [`TieSide::particles`]) are.
    pub fn placed(&self, position: impl Fn(usize) -> DVec3, before: DMat3) -> Placed<'_> {
        match self {
            TieSide::Point { weights, .. } => {
                let counts = weights.iter().filter(|w| **w != 0.0).enumerate();
                let at = counts.fold(DVec3::ZERO, |sum, (k, w)| sum + position(k) * *w);
                Placed::Point { at, weights }
            }
            TieSide::Frame { frame, .. } => Placed::Frame { frame, fit: frame.cloud().fit(position, before) },
            TieSide::World(frame) => Placed::World(frame),
        }
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
    /// Force (N) and distance (m) beyond which it breaks.
    pub breaks: (f64, f64),
    /// Its place in the model.
    pub place: usize,
    /// What history has left, during a step only.
    pub memory: CouplingMemory,
}

/// A point of a tie: what of both sides is to be in one place, and along which axes of the first side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TiePoint {
    /// In the axes of the frames.
    pub offset: DVec3,
    /// All three, or the first `axes` of the columns told here.
    pub axes: usize,
    pub along: DMat3,
}

impl Tie {
    /// How many rows each of its points has.
    pub fn rows(kind: CouplingKind) -> &'static [usize] {
        match kind {
            CouplingKind::Point => &[3],
            CouplingKind::Hinge => &[3, 2],
            CouplingKind::Weld => &[3, 2, 1],
        }
    }

    /// Whether where its points are is not linear in where particles are.
    pub fn is_curved(&self) -> bool {
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

    /// Point `k` of it: the place itself; one on the last axis, which may not go sideways; one on the first, which may not turn
    /// about the last.
    pub(super) fn point(&self, k: usize) -> TiePoint {
        let reach = self.sides.iter().filter_map(TieSide::reach).fold(0.0, f64::max);
        let axes = Tie::rows(self.kind)[k];
        match k {
            0 => TiePoint { offset: DVec3::ZERO, axes, along: DMat3::IDENTITY },
            1 => TiePoint { offset: DVec3::Z * reach, axes, along: DMat3::IDENTITY },
            _ => {
                let along = DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X);
                TiePoint { offset: DVec3::X * reach, axes, along }
            }
        }
    }
}
