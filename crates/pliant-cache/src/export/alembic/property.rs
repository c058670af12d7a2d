//! Properties: named trees of sampled values, and how their headers are packed into bits.

use super::digest::{AlembicDigest, digest};
use super::ogawa::{Child, Ogawa};
use crate::CacheError;

/// The type of one value, numbered as Alembic numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pod {
    Bool = 0,
    U8 = 1,
    I8 = 2,
    U32 = 5,
    I32 = 6,
    U64 = 7,
    F32 = 10,
    F64 = 11,
}

impl Pod {
    fn size(self) -> usize {
        match self {
            Pod::Bool | Pod::U8 | Pod::I8 => 1,
            Pod::U32 | Pod::I32 | Pod::F32 => 4,
            Pod::U64 | Pod::F64 => 8,
        }
    }
}

/// Whether a sample is one element or a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleShape {
    Scalar = 1,
    Array = 2,
}

/// Samples whose time does not matter, because there is only one.
pub(super) const TIMELESS: u32 = 0;
/// The sampling of the exported frames; bodies that come later have samplings after it.
pub(super) const FRAMES: u32 = 1;

/// The samples of one property. Bytes go to the file at once; where they are is kept.
pub(super) struct PropertySamples {
    shape: SampleShape,
    pod: Pod,
    /// Values that make up an element: 3 for a point.
    extent: u8,
    /// Which time sampling: [`TIMELESS`], [`FRAMES`] or a later one.
    time: u32,
    count: u32,
    /// The first sample that differs from sample 0, and the last that differs from the one before.
    /// Only sample 0 and those between the two are stored; both are 0 if all are the same.
    first_changed: u32,
    last_changed: u32,
    stored: Vec<Child>,
    last: Option<Sample>,
    /// Whether all samples have one element, and whether all have equally many.
    single: bool,
    homogeneous: bool,
    /// Hash of all samples in order.
    digest: AlembicDigest,
}

/// A sample in the file.
#[derive(Clone, Copy)]
struct Sample {
    key: AlembicDigest,
    length: usize,
    child: Child,
}

impl PropertySamples {
    pub(super) fn new(shape: SampleShape, pod: Pod, extent: u8, time: u32) -> PropertySamples {
        PropertySamples {
            shape,
            pod,
            extent,
            time,
            count: 0,
            first_changed: 0,
            last_changed: 0,
            stored: Vec::new(),
            last: None,
            single: true,
            homogeneous: true,
            digest: [0; 16],
        }
    }

    /// Puts the samples on another time sampling.
    pub(super) fn timed(mut self, time: u32) -> PropertySamples {
        self.time = time;
        self
    }

    /// Adds the next sample; one that repeats the last is counted, not written.
    pub(super) fn push(&mut self, out: &mut Ogawa, bytes: &[u8]) -> Result<(), CacheError> {
        let (key, length) = (digest(bytes), bytes.len());
        let sample = match self.last {
            Some(last) if (last.key, last.length) == (key, length) => last,
            _ => Sample { key, length, child: out.sample(&key, bytes)? },
        };
        self.add(sample);
        Ok(())
    }

    /// Adds a sample that other properties may have too.
    pub(super) fn push_known(&mut self, out: &mut Ogawa, bytes: &[u8]) -> Result<(), CacheError> {
        let key = digest(bytes);
        let child = out.known_sample(&key, bytes)?;
        self.add(Sample { key, length: bytes.len(), child });
        Ok(())
    }

    /// Adds the last sample of `other`, sharing its bytes in the file.
    pub(super) fn push_shared(&mut self, other: &PropertySamples) {
        if let Some(sample) = other.last {
            self.add(sample);
        }
    }

    /// Says that the last sample also holds for all later ones, `count` in all.
    pub(super) fn hold(&mut self, count: u32) {
        if self.last.is_some() && self.count < count {
            self.count = count;
            self.digest = mix(&[&self.digest, &count.to_le_bytes()]);
        }
    }

    fn add(&mut self, sample: Sample) {
        let elements = |s: &Sample| s.length / (self.pod.size() * usize::from(self.extent));
        self.single &= elements(&sample) == 1;
        match self.last {
            Some(last) if (last.key, last.length) == (sample.key, sample.length) => {}
            Some(last) => {
                self.homogeneous &= last.length == sample.length;
                if self.first_changed == 0 {
                    self.first_changed = self.count;
                } else {
                    // Samples since the last change were only counted; now they need their place.
                    let repeats = self.count - self.last_changed - 1;
                    self.stored.extend((0..repeats).map(|_| last.child));
                }
                self.last_changed = self.count;
                self.stored.push(sample.child);
            }
            None => self.stored.push(sample.child),
        }
        self.last = Some(sample);
        self.count += 1;
        self.digest = mix(&[&self.digest, &sample.key, &(sample.length as u64).to_le_bytes()]);
    }

    /// Samples as a reader that knows no repetition counts them.
    pub(super) fn distinct(&self) -> u32 {
        if self.last_changed == 0 { self.count.min(1) } else { self.count }
    }

    fn write(&self, out: &mut Ogawa) -> Result<Child, CacheError> {
        match self.shape {
            SampleShape::Scalar => out.group(&self.stored),
            // Each with its dimensions, empty where the length of the bytes tells.
            SampleShape::Array => {
                let pairs: Vec<Child> = self.stored.iter().flat_map(|&c| [c, Child::EMPTY_DATA]).collect();
                out.group(&pairs)
            }
        }
    }
}

/// A property: samples, or a compound of further properties.
pub(super) struct AlembicProperty {
    name: &'static str,
    metadata: &'static str,
    content: PropertyContent,
}

enum PropertyContent {
    Compound(Vec<AlembicProperty>),
    Sampled(PropertySamples),
}

impl AlembicProperty {
    pub(super) fn compound(
        name: &'static str,
        metadata: &'static str,
        parts: Vec<AlembicProperty>,
    ) -> AlembicProperty {
        AlembicProperty { name, metadata, content: PropertyContent::Compound(parts) }
    }

    pub(super) fn sampled(
        name: &'static str,
        metadata: &'static str,
        samples: PropertySamples,
    ) -> AlembicProperty {
        AlembicProperty { name, metadata, content: PropertyContent::Sampled(samples) }
    }

    /// Most samples of any property with this time sampling.
    pub(super) fn most_samples(&self, time: u32) -> u32 {
        match &self.content {
            PropertyContent::Compound(parts) => parts.iter().map(|p| p.most_samples(time)).max().unwrap_or(0),
            PropertyContent::Sampled(samples) if samples.time == time => samples.distinct(),
            PropertyContent::Sampled(_) => 0,
        }
    }

    fn digest(&self) -> AlembicDigest {
        match &self.content {
            PropertyContent::Compound(parts) => {
                let parts: Vec<AlembicDigest> = parts.iter().map(AlembicProperty::digest).collect();
                mix(&[self.name.as_bytes(), self.metadata.as_bytes(), parts.as_flattened()])
            }
            PropertyContent::Sampled(s) => {
                let kind = [s.shape as u8, s.pod as u8, s.extent, s.time as u8];
                mix(&[self.name.as_bytes(), self.metadata.as_bytes(), &kind, &s.digest])
            }
        }
    }

    /// Packs the header: a word of bits, the counts in as few bytes as the largest needs, the name.
    fn header(&self, metadata: &mut MetadataTable, header: &mut Vec<u8>) {
        let samples = match &self.content {
            PropertyContent::Compound(_) => None,
            PropertyContent::Sampled(samples) => Some(samples),
        };
        let largest = samples
            .map_or(0, |s| s.count.max(s.time))
            .max(self.name.len() as u32)
            .max(self.metadata.len() as u32);
        let hint: u32 = match largest {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
        let number = |v: u32, out: &mut Vec<u8>| out.extend_from_slice(&v.to_le_bytes()[..1 << hint]);
        let index = metadata.index(self.metadata);
        let mut info = hint << 2 | u32::from(index) << 20;
        let mut numbers = Vec::new();
        if let Some(s) = samples {
            info |= s.shape as u32 | u32::from(s.shape == SampleShape::Array && s.single);
            info |= (s.pod as u32) << 4 | u32::from(s.extent) << 12;
            info |= u32::from(s.homogeneous) << 10;
            number(s.count, &mut numbers);
            if s.last_changed == 0 {
                info |= 0x800;
            } else if s.first_changed != 1 || s.last_changed != s.count - 1 {
                info |= 0x200;
                number(s.first_changed, &mut numbers);
                number(s.last_changed, &mut numbers);
            }
            if s.time != 0 {
                info |= 0x100;
                number(s.time, &mut numbers);
            }
        }
        header.extend_from_slice(&info.to_le_bytes());
        header.extend_from_slice(&numbers);
        number(self.name.len() as u32, header);
        header.extend_from_slice(self.name.as_bytes());
        if index == MetadataTable::SPELLED_OUT {
            number(self.metadata.len() as u32, header);
            header.extend_from_slice(self.metadata.as_bytes());
        }
    }
}

/// Writes the properties of an object or compound as a group: each one's own group, then all headers.
pub(super) fn write_properties(
    properties: &[AlembicProperty],
    metadata: &mut MetadataTable,
    out: &mut Ogawa,
) -> Result<Child, CacheError> {
    let mut children = Vec::new();
    let mut headers = Vec::new();
    for property in properties {
        children.push(match &property.content {
            PropertyContent::Compound(parts) => write_properties(parts, metadata, out)?,
            PropertyContent::Sampled(samples) => samples.write(out)?,
        });
        property.header(metadata, &mut headers);
    }
    if !headers.is_empty() {
        children.push(out.data(&headers)?);
    }
    out.group(&children)
}

/// One hash for all properties of an object.
pub(super) fn properties_digest(properties: &[AlembicProperty]) -> AlembicDigest {
    let parts: Vec<AlembicDigest> = properties.iter().map(AlembicProperty::digest).collect();
    digest(parts.as_flattened())
}

/// A hash of parts that tells where one ends and the next starts.
pub(super) fn mix(parts: &[&[u8]]) -> AlembicDigest {
    let mut all = Vec::new();
    for part in parts {
        all.extend_from_slice(&(part.len() as u64).to_le_bytes());
        all.extend_from_slice(part);
    }
    digest(&all)
}

/// Metadata that properties and objects have in common, written once and referred to by number.
#[derive(Default)]
pub(super) struct MetadataTable(Vec<&'static str>);

impl MetadataTable {
    /// The number that says: the text follows.
    pub(super) const SPELLED_OUT: u8 = 0xff;

    /// 0 is no metadata; others count from 1.
    pub(super) fn index(&mut self, text: &'static str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        if text.len() > 0xff {
            return Self::SPELLED_OUT;
        }
        if let Some(k) = self.0.iter().position(|known| *known == text) {
            return k as u8 + 1;
        }
        if self.0.len() == 254 {
            return Self::SPELLED_OUT;
        }
        self.0.push(text);
        self.0.len() as u8
    }

    pub(super) fn write(&self, out: &mut Ogawa) -> Result<Child, CacheError> {
        let mut bytes = Vec::new();
        for text in &self.0 {
            bytes.push(text.len() as u8);
            bytes.extend_from_slice(text.as_bytes());
        }
        out.data(&bytes)
    }
}
