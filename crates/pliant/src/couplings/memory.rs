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
    /// The force on the first side at the end of the last substep, N, all of it together; the second has the opposite.
    pub force: DVec3,
    /// The stiffness it held with in the last step, N/m: infinite exactly, 0 not at all.
    pub stiffness: f64,
    /// How far a spring still lets its points be apart, m. One that began to hold while the simulation ran draws them together at
    /// the pace of one body size a second.
    pub rest: f64,
}

impl Default for CouplingMemory {
    fn default() -> CouplingMemory {
        CouplingMemory {
            broken: false,
            rotations: [DMat3::IDENTITY; 2],
            force: DVec3::ZERO,
            stiffness: 0.0,
            rest: 0.0,
        }
    }
}

impl CouplingMemory {
    /// Of a coupling that begins to hold while the bodies are in these states.
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
        CouplingMemory { rotations, ..CouplingMemory::default() }
    }

    /// The same of one that has been there from the start.
    pub(crate) fn holding(self, coupling: &Coupling) -> CouplingMemory {
        CouplingMemory { stiffness: coupling.stiffness.unwrap_or(f64::INFINITY), ..self }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let numbers = self.stiffness >= 0.0 && self.rest >= 0.0 && self.rest.is_finite();
        numbers && self.rotations.iter().all(DMat3::is_finite) && self.force.is_finite()
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        w.number(f64::from(u8::from(self.broken)));
        self.rotations.iter().flat_map(|r| r.to_cols_array()).for_each(|v| w.number(v));
        w.vector(self.force);
        w.number(self.stiffness);
        w.number(self.rest);
    }

    /// Reads it back; formats that did not tell how it holds knew only couplings that hold as they were built.
    pub(crate) fn read(
        r: &mut Reader<'_>,
        coupling: &Coupling,
        tells_stiffness: bool,
    ) -> Result<CouplingMemory, Truncated> {
        let broken = r.number()? != 0.0;
        let mut rotations = [DMat3::IDENTITY; 2];
        for rotation in &mut rotations {
            let mut columns = [0.0; 9];
            for v in &mut columns {
                *v = r.number()?;
            }
            *rotation = DMat3::from_cols_array(&columns);
        }
        let memory = CouplingMemory { broken, rotations, force: r.vector()?, ..Default::default() };
        match tells_stiffness {
            true => Ok(CouplingMemory { stiffness: r.number()?, rest: r.number()?, ..memory }),
            false => Ok(memory.holding(coupling)),
        }
    }
}
