//! The archive: objects with their properties, time samplings and what the file says of itself.

use super::digest::{AlembicDigest, digest};
use super::ogawa::{Child, Ogawa};
use super::property::{
    AlembicProperty, FRAMES, MetadataTable, TIMELESS, mix, properties_digest, write_properties,
};
use crate::CacheError;

/// Layout of objects and properties within Ogawa.
const LAYOUT_VERSION: i32 = 0;
/// The Alembic library whose files these are like: 1.8.3.
const LIBRARY_VERSION: i32 = 10803;

/// An object of the scene tree.
pub(super) struct AlembicObject {
    pub(super) name: String,
    pub(super) metadata: &'static str,
    pub(super) properties: Vec<AlembicProperty>,
    pub(super) children: Vec<AlembicObject>,
}

/// When samples were taken, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Times {
    /// From `start` on, `step` apart.
    Uniform { start: f64, step: f64 },
    /// Each by itself.
    Listed(Vec<f64>),
}

impl Times {
    /// The times of frames by their numbers, which rise.
    pub(super) fn of_frames(numbers: &[u32], frames_per_second: f64) -> Times {
        let seconds = |n: u32| f64::from(n) / frames_per_second;
        let first = numbers.first().copied().unwrap_or(0);
        let step = numbers.get(1).map_or(1, |&n| n.saturating_sub(first));
        if numbers.windows(2).all(|w| w[1].saturating_sub(w[0]) == step) {
            Times::Uniform { start: seconds(first), step: seconds(step) }
        } else {
            Times::Listed(numbers.iter().map(|&n| seconds(n)).collect())
        }
    }

    fn encode(&self, samples: u32, out: &mut Vec<u8>) {
        // The time of a cycle that says there is none.
        const ACYCLIC: f64 = f64::MAX / 32.0;
        let (cycle, times) = match self {
            Times::Uniform { start, step } => (*step, std::slice::from_ref(start)),
            Times::Listed(times) => (ACYCLIC, &times[..]),
        };
        out.extend_from_slice(&samples.to_le_bytes());
        out.extend_from_slice(&cycle.to_le_bytes());
        out.extend_from_slice(&(times.len() as u32).to_le_bytes());
        for time in times {
            out.extend_from_slice(&time.to_le_bytes());
        }
    }
}

impl AlembicObject {
    /// Writes the object after all that is in it; gives where it is and a hash of it.
    fn write(
        &self,
        metadata: &mut MetadataTable,
        out: &mut Ogawa,
    ) -> Result<(Child, AlembicDigest), CacheError> {
        let mut group = vec![write_properties(&self.properties, metadata, out)?];
        let mut headers = Vec::new();
        let mut digests: Vec<AlembicDigest> = Vec::new();
        for child in &self.children {
            let (place, hash) = child.write(metadata, out)?;
            group.push(place);
            digests.push(mix(&[child.name.as_bytes(), child.metadata.as_bytes(), &hash]));
            headers.extend_from_slice(&(child.name.len() as u32).to_le_bytes());
            headers.extend_from_slice(child.name.as_bytes());
            let index = metadata.index(child.metadata);
            headers.push(index);
            if index == MetadataTable::SPELLED_OUT {
                headers.extend_from_slice(&(child.metadata.len() as u32).to_le_bytes());
                headers.extend_from_slice(child.metadata.as_bytes());
            }
        }
        // Readers compare these to tell whether two objects, or all below them, are the same.
        let own = properties_digest(&self.properties);
        let below = if digests.is_empty() { [0; 16] } else { digest(digests.as_flattened()) };
        headers.extend_from_slice(&own);
        headers.extend_from_slice(&below);
        group.push(out.data(&headers)?);
        Ok((out.group(&group)?, mix(&[&own, &below])))
    }

    fn most_samples(&self, time: u32) -> u32 {
        let own = self.properties.iter().map(|p| p.most_samples(time)).max();
        let below = self.children.iter().map(|c| c.most_samples(time)).max();
        own.max(below).unwrap_or(0)
    }
}

/// Writes what is left once all samples are in the file, and finishes it; gives its size.
/// `times` are those of the samplings from [`FRAMES`] on.
pub(super) fn finish(
    mut out: Ogawa,
    top: &AlembicObject,
    about: &str,
    times: &[Times],
) -> Result<u64, CacheError> {
    let mut metadata = MetadataTable::default();
    let layout = out.data(&LAYOUT_VERSION.to_le_bytes())?;
    let library = out.data(&LIBRARY_VERSION.to_le_bytes())?;
    let (top_group, _) = top.write(&mut metadata, &mut out)?;
    let about = out.data(about.as_bytes())?;
    let mut samplings = Vec::new();
    Times::Uniform { start: 0.0, step: 1.0 }.encode(top.most_samples(TIMELESS), &mut samplings);
    for (sampling, times) in (FRAMES..).zip(times) {
        times.encode(top.most_samples(sampling), &mut samplings);
    }
    let samplings = out.data(&samplings)?;
    let metadata = metadata.write(&mut out)?;
    let root = out.group(&[layout, library, top_group, about, samplings, metadata])?;
    out.finish(root)
}
