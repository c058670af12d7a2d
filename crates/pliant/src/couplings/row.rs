//! A point of a tie as the forces are found, and the particles that hold it.

use glam::{DMat3, DVec3};

/// A particle that holds a point of a tie.
#[derive(Clone, Copy, Debug)]
pub(super) struct TieLink {
    pub body: u32,
    pub node: u32,
    /// The same among the nodes of all bodies that ties hold.
    pub at: u32,
    /// How c moves with it.
    pub block: DMat3,
    /// What of a force it gets, in terms of the masses its body was built with.
    pub share: f64,
}

impl TieLink {
    pub fn force(&self, of: DVec3) -> DVec3 {
        self.block.transpose() * of * self.share
    }
}

/// A point of a tie as the forces are found.
#[derive(Clone, Copy, Debug)]
pub(super) struct TieRow {
    /// The ends of its links, and of those of its first side.
    pub links: u32,
    pub first_side: u32,
    /// Directions in which the points are kept together.
    pub axes: usize,
    pub along: DMat3,
    /// 1/K, along each direction.
    pub compliance: [f64; 3],
    /// Where the points were to each other when the substep began.
    pub start: DVec3,
    /// Where they are to end to each other, less what the force gives.
    pub target: DVec3,
    /// Where they end to each other without the forces of contacts and couplings.
    pub free: DVec3,
    pub force: DVec3,
    /// What is small.
    pub size: f64,
    pub exact: bool,
    /// Whether its force stays as it is: none where it was let go, and the torque that turns a hinge.
    pub idle: bool,
    /// Whether it is the angle of a hinge, and if so, whether a motor works on it.
    pub turns: bool,
    pub driven: bool,
    /// How far a unit force of it along its first axis moves it along that; 0 as long as nothing is known of it.
    pub answer: f64,
}

impl TieRow {
    /// What of a vector its directions see.
    pub fn seen(&self, v: DVec3) -> DVec3 {
        if self.axes == 3 {
            return v;
        }
        self.directions().fold(DVec3::ZERO, |sum, n| sum + n * n.dot(v))
    }

    /// How far points that are `way` apart are from where they are to be, squared; nothing where nothing holds them.
    pub fn off(&self, displacement: DVec3) -> f64 {
        if self.idle {
            return 0.0;
        }
        (self.seen(displacement - self.target) + self.give()).length_squared() / (self.size * self.size)
    }

    /// How far its force lets the points come apart.
    pub fn give(&self) -> DVec3 {
        let along = self.directions().zip(self.compliance);
        along.fold(DVec3::ZERO, |sum, (n, c)| sum + n * (c * n.dot(self.force)))
    }

    pub fn directions(&self) -> impl Iterator<Item = DVec3> + use<> {
        let along = self.along;
        (0..self.axes).map(move |k| along.col(k))
    }
}

/// The links of row `k`.
pub(super) fn links_of<'a>(rows: &[TieRow], links: &'a [TieLink], k: usize) -> &'a [TieLink] {
    let first = k.checked_sub(1).map_or(0, |k| rows[k].links as usize);
    &links[first..rows[k].links as usize]
}
