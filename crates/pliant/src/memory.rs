//! What history leaves behind of a body beside positions and velocities, in named sections.
//!
//! [`Section`] is the one table: copying, returning from a failed step, checking and checkpoints all go through it, so
//! that a section that is added there cannot be forgotten anywhere.

use crate::bytes::{Reader, Truncated, Writer};
use crate::model::{BodyModel, RigidRest};
use crate::points::Points;
use glam::{DMat3, DQuat, DVec3};
use std::ops::{Index, IndexMut};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// Last rotation of every cluster, nine numbers each: it breaks ties where several rotations fit equally well.
    Rotations,
    /// Permanent stretch of every cluster's rest shape, nine numbers each.
    Plastic,
    /// What the constraint batches remember, one after the other.
    Batches,
    /// The energy that steps with `implicitness` below 1 have lost lately.
    LostEnergy,
    /// Where the particles of each pin group were when it was made, before its own motion: three numbers each, one group
    /// after the other.
    Anchors,
    /// The facets that are broken, in the order they broke: all that a tear is.
    Broken,
    /// Which particles each pin group of a torn body holds: how many, then their numbers. Empty for bodies that are
    /// whole.
    Held,
    /// How the principal axes of a body lie that never deforms: a unit quaternion, x y z w. Without it the body would deform
    /// by rounding.
    Orientation,
    /// For how many steps it has been at rest, and a digest of what its island then felt, as two whole numbers.
    Sleep,
}

impl Section {
    /// Every section, in the order they are stored in.
    pub const ALL: [Section; 9] = [
        Section::Rotations,
        Section::Plastic,
        Section::Batches,
        Section::LostEnergy,
        Section::Anchors,
        Section::Broken,
        Section::Held,
        Section::Orientation,
        Section::Sleep,
    ];

    /// How many of them checkpoints told before they told of couplings.
    pub(crate) const BEFORE_COUPLINGS: usize = 7;
    /// And before they told of sleep.
    pub(crate) const BEFORE_SLEEP: usize = 8;

    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Section::Rotations => "rotations",
            Section::Plastic => "plastic",
            Section::Batches => "batches",
            Section::LostEnergy => "lost_energy",
            Section::Anchors => "anchors",
            Section::Broken => "broken",
            Section::Held => "held",
            Section::Orientation => "orientation",
            Section::Sleep => "sleep",
        }
    }

    /// What a body without history, with particles at `x`, has there.
    fn initial(self, model: &BodyModel, x: &Points) -> Vec<f64> {
        match self {
            Section::Rotations | Section::Plastic => {
                DMat3::IDENTITY.to_cols_array().repeat(model.topology().clusters.len())
            }
            Section::Batches => {
                let mut list = Vec::new();
                model.batches().iter().for_each(|b| b.batch.initial_state(&mut list));
                list
            }
            Section::LostEnergy => vec![0.0],
            Section::Anchors => {
                let held = model.pins().iter().flat_map(|g| &g.particles);
                held.flat_map(|&i| x.get(i as usize).to_array()).collect()
            }
            Section::Sleep => vec![0.0; 3],
            Section::Broken | Section::Held => Vec::new(),
            Section::Orientation => {
                let at = |i: usize| if i < x.len() { x.get(i) } else { DVec3::ZERO };
                let turn = |r: &RigidRest| r.turn_of([at(0), at(1), at(2), at(3)], DQuat::IDENTITY);
                model.rigid().map_or(Vec::new(), |r| turn(r).to_array().to_vec())
            }
        }
    }

    fn len(self, model: &BodyModel) -> usize {
        match self {
            Section::Rotations | Section::Plastic => 9 * model.topology().clusters.len(),
            Section::Batches => model.memory_offsets().last().copied().unwrap_or(0),
            Section::LostEnergy => 1,
            Section::Anchors => 3 * held(model),
            Section::Broken => model.corners().map_or(0, |c| c.broken().len()),
            Section::Held => model.corners().map_or(0, |_| model.pins().len() + held(model)),
            Section::Orientation => model.rigid().map_or(0, |_| 4),
            Section::Sleep => 3,
        }
    }
}

/// How many particles are pinned.
fn held(model: &BodyModel) -> usize {
    model.pins().iter().map(|g| g.particles.len()).sum()
}

/// The sections of one body.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    sections: [Vec<f64>; Section::ALL.len()],
}

impl Memory {
    pub(crate) fn new(model: &BodyModel, x: &Points) -> Memory {
        Memory { sections: Section::ALL.map(|s| s.initial(model, x)) }
    }

    /// Where pinned particles were when their groups were made.
    pub fn anchors(&self) -> impl Iterator<Item = DVec3> + '_ {
        self[Section::Anchors].as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p))
    }

    /// Replaces a section by one of another length: the model has changed.
    pub(crate) fn replace(&mut self, section: Section, numbers: Vec<f64>) {
        self.sections[section as usize] = numbers;
    }

    /// How the principal axes of a body lie that never deforms.
    pub(crate) fn turning(&self) -> DQuat {
        self[Section::Orientation].first_chunk::<4>().map_or(DQuat::IDENTITY, |q| DQuat::from_array(*q))
    }

    /// The 3×3 matrices of a section.
    pub fn matrices(&self, section: Section) -> impl ExactSizeIterator<Item = DMat3> + '_ {
        self[section].as_chunks::<9>().0.iter().map(DMat3::from_cols_array)
    }

    /// Matrix `k` of a section.
    pub(crate) fn matrix(&self, section: Section, k: usize) -> DMat3 {
        DMat3::from_cols_array(&self[section].as_chunks::<9>().0[k])
    }

    /// Replaces matrix `k` of a section.
    pub(crate) fn set_matrix(&mut self, section: Section, k: usize, to: DMat3) {
        self[section].as_chunks_mut::<9>().0[k] = to.to_cols_array();
    }

    /// Turns what is told in the world's axes.
    pub(crate) fn turn(&mut self, turn: DMat3) {
        for rotation in self[Section::Rotations].as_chunks_mut::<9>().0 {
            *rotation = (turn * DMat3::from_cols_array(rotation)).to_cols_array();
        }
        for axes in self[Section::Orientation].as_chunks_mut::<4>().0 {
            *axes = (DQuat::from_mat3(&turn) * DQuat::from_array(*axes)).normalize().to_array();
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Memory) {
        for (to, from) in self.sections.iter_mut().zip(&other.sections) {
            to.copy_from_slice(from);
        }
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.sections.iter().map(Vec::len).sum()
    }

    pub(crate) fn has_sizes_of(&self, other: &Memory) -> bool {
        self.sections.iter().zip(&other.sections).all(|(a, b)| a.len() == b.len())
    }

    pub(crate) fn fits(&self, model: &BodyModel) -> bool {
        Section::ALL.into_iter().all(|s| self[s].len() == s.len(model))
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.sections.iter().flatten().all(|v| v.is_finite())
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        self.sections.iter().for_each(|s| w.numbers(s));
    }

    pub(crate) fn empty() -> Memory {
        Memory { sections: Default::default() }
    }

    /// Reads back what [`Memory::write`] wrote, of the first so many sections: older formats knew fewer.
    pub(crate) fn read(r: &mut Reader<'_>, sections: usize) -> Result<Memory, Truncated> {
        let mut memory = Memory::empty();
        for section in memory.sections.iter_mut().take(sections) {
            *section = r.numbers()?;
        }
        if sections <= Section::Sleep as usize {
            memory.replace(Section::Sleep, vec![0.0; 3]);
        }
        Ok(memory)
    }
}

impl Index<Section> for Memory {
    type Output = [f64];

    fn index(&self, section: Section) -> &[f64] {
        &self.sections[section as usize]
    }
}

impl IndexMut<Section> for Memory {
    fn index_mut(&mut self, section: Section) -> &mut [f64] {
        &mut self.sections[section as usize]
    }
}
