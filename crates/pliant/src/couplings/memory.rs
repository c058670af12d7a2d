//! What history leaves behind of a coupling.

use crate::bytes::{Reader, Truncated, Writer};
use crate::model::{Attachment, Coupling};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// The changing side of a coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingMemory {
    /// Whether it broke; it holds nothing ever after.
    pub broken: bool,
    /// How the frames of its sides are turned from their rest: among rotations that fit equally well the one nearest to it is
    /// taken next. Points turn with nothing.
    pub rotations: [DMat3; 2],
    /// The force on the first side at the end of the last substep, N; the second has the opposite.
    pub force: DVec3,
}

impl Default for CouplingMemory {
    fn default() -> CouplingMemory {
        CouplingMemory { broken: false, rotations: [DMat3::IDENTITY; 2], force: DVec3::ZERO }
    }
}

impl CouplingMemory {
    /// Of a coupling that comes while the bodies are in these states.
    pub(crate) fn new<'a>(
        coupling: &Coupling,
        body: impl Fn(crate::BodyId) -> Option<&'a BodyState>,
    ) -> CouplingMemory {
        let rotation = |side: &Attachment| match side {
            Attachment::Frame(frame) => body(frame.body()).map_or(DMat3::IDENTITY, |b| {
                frame.fit(|i| b.positions().get(i as usize), DMat3::IDENTITY).rotation
            }),
            Attachment::Point(_) | Attachment::World(_) => DMat3::IDENTITY,
        };
        let rotations = [&coupling.sides[0], &coupling.sides[1]].map(rotation);
        CouplingMemory { broken: false, rotations, force: DVec3::ZERO }
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.rotations.iter().all(DMat3::is_finite) && self.force.is_finite()
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        w.number(f64::from(u8::from(self.broken)));
        self.rotations.iter().flat_map(|r| r.to_cols_array()).for_each(|v| w.number(v));
        w.vector(self.force);
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<CouplingMemory, Truncated> {
        let broken = r.number()? != 0.0;
        let mut rotations = [DMat3::IDENTITY; 2];
        for rotation in &mut rotations {
            let mut columns = [0.0; 9];
            for v in &mut columns {
                *v = r.number()?;
            }
            *rotation = DMat3::from_cols_array(&columns);
        }
        Ok(CouplingMemory { broken, rotations, force: r.vector()? })
    }
}
