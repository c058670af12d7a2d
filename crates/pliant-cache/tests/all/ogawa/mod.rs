//! A reader of Alembic's Ogawa files for tests, from the published layout and strict about it: everything
//! must lie inside the file, nothing may overlap, and no byte may be there for nothing.

use std::collections::{BTreeMap, BTreeSet};

const DATA: u64 = 1 << 63;

/// A property: samples or parts.
#[derive(Debug, Default)]
pub struct Property {
    pub metadata: String,
    pub parts: BTreeMap<String, Property>,
    pub array: bool,
    pub single: bool,
    pub pod: u32,
    pub extent: u32,
    pub count: usize,
    pub changed: (usize, usize),
    pub time: usize,
    /// Stored samples: where they are, key, bytes.
    pub stored: Vec<(u64, Vec<u8>, Vec<u8>)>,
}

impl Property {
    /// The bytes of a sample, by the rule that repeats before the first and after the last change are
    /// not stored.
    pub fn sample(&self, k: usize) -> &[u8] {
        assert!(k < self.count);
        let (first, last) = self.changed;
        let at = if last == 0 || k < first { 0 } else { k.min(last) - first + 1 };
        &self.stored[at].2
    }

    pub fn floats(&self, k: usize) -> Vec<f32> {
        assert_eq!(self.pod, 10);
        self.sample(k).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }

    pub fn doubles(&self, k: usize) -> Vec<f64> {
        assert_eq!(self.pod, 11);
        self.sample(k).as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
    }

    pub fn integers(&self, k: usize) -> Vec<u32> {
        assert!(self.pod == 5 || self.pod == 6);
        self.sample(k).as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
    }

    pub fn part(&self, path: &str) -> &Property {
        path.split('/').fold(self, |at, name| {
            at.parts.get(name).unwrap_or_else(|| panic!("no {name}, only {:?}", at.parts.keys()))
        })
    }
}

/// An object of the tree, its properties as parts of one.
#[derive(Debug, Default)]
pub struct Object {
    pub name: String,
    pub metadata: String,
    pub properties: Property,
    pub children: Vec<Object>,
    pub hashes: [Vec<u8>; 2],
}

/// A whole file.
#[derive(Debug)]
pub struct Archive {
    pub about: String,
    /// Most samples, seconds per cycle, times of a cycle.
    pub samplings: Vec<(u32, f64, Vec<f64>)>,
    pub top: Object,
}

struct Walk<'a> {
    bytes: &'a [u8],
    seen: BTreeSet<(usize, usize)>,
    metadata: Vec<String>,
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(count);
        self.0 = rest;
        head
    }

    fn number(&mut self, size: usize) -> usize {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(self.take(size));
        u64::from_le_bytes(bytes) as usize
    }

    fn text(&mut self, count: usize) -> String {
        String::from_utf8(self.take(count).to_vec()).unwrap()
    }

    fn double(&mut self) -> f64 {
        f64::from_le_bytes(self.take(8).try_into().unwrap())
    }
}

/// Reads a file, or panics at what is wrong with it.
pub fn read(bytes: &[u8]) -> Archive {
    assert_eq!(&bytes[..8], b"Ogawa\xff\x00\x01", "magic, frozen, version");
    let mut walk = Walk { bytes, seen: BTreeSet::new(), metadata: vec![String::new()] };
    let root = walk.group(Cursor(&bytes[8..16]).number(8) as u64);
    let [layout, library, top, about, samplings, metadata] = root[..] else {
        panic!("the root has {} children", root.len());
    };
    assert_eq!(walk.data(layout), 0i32.to_le_bytes());
    assert_eq!(walk.data(library), 10803i32.to_le_bytes());
    let mut table = Cursor(walk.data(metadata));
    while !table.0.is_empty() {
        let length = table.number(1);
        walk.metadata.push(table.text(length));
    }
    let mut times = Cursor(walk.data(samplings));
    let mut samplings = Vec::new();
    while !times.0.is_empty() {
        let (most, cycle, count) = (times.number(4) as u32, times.double(), times.number(4));
        samplings.push((most, cycle, (0..count).map(|_| times.double()).collect()));
    }
    let about = String::from_utf8(walk.data(about).to_vec()).unwrap();
    let top = walk.object(top);
    let mut end = 16;
    for &(start, stop) in &walk.seen {
        assert_eq!(start, end, "a gap or an overlap");
        end = stop;
    }
    assert_eq!(end, bytes.len(), "bytes after the end");
    Archive { about, samplings, top }
}

impl<'a> Walk<'a> {
    fn extent(&mut self, at: u64, unit: usize) -> &'a [u8] {
        let at = at as usize;
        assert!(at >= 16 && at + 8 <= self.bytes.len(), "position {at}");
        let count = Cursor(&self.bytes[at..at + 8]).number(8);
        assert!(count > 0, "empty ones have position 0");
        let end = at + 8 + count * unit;
        assert!(end <= self.bytes.len(), "{count} × {unit} bytes at {at}");
        self.seen.insert((at, end));
        &self.bytes[at + 8..end]
    }

    fn group(&mut self, position: u64) -> Vec<u64> {
        assert_eq!(position & DATA, 0, "a group");
        if position == 0 {
            return Vec::new();
        }
        self.extent(position, 8).as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
    }

    fn data(&mut self, position: u64) -> &'a [u8] {
        assert_ne!(position & DATA, 0, "data");
        if position == DATA { &[] } else { self.extent(position & !DATA, 1) }
    }

    fn object(&mut self, position: u64) -> Object {
        let group = self.group(position);
        let headers = self.data(*group.last().unwrap());
        let (headers, hashes) = headers.split_at(headers.len() - 32);
        let mut object = Object {
            properties: Property { parts: self.properties(group[0]), ..Default::default() },
            hashes: [hashes[..16].to_vec(), hashes[16..].to_vec()],
            ..Default::default()
        };
        let mut cursor = Cursor(headers);
        for &child in &group[1..group.len() - 1] {
            let length = cursor.number(4);
            let name = cursor.text(length);
            assert!(!name.is_empty() && !name.contains('/'), "{name}");
            assert!(object.children.iter().all(|c| c.name != name), "{name} twice");
            let metadata = self.metadata[cursor.number(1)].clone();
            object.children.push(Object { name, metadata, ..self.object(child) });
        }
        assert!(cursor.0.is_empty(), "as many headers as children");
        object
    }

    fn properties(&mut self, position: u64) -> BTreeMap<String, Property> {
        let group = self.group(position);
        let Some((&headers, children)) = group.split_last() else {
            return BTreeMap::new();
        };
        let mut cursor = Cursor(self.data(headers));
        let mut all = BTreeMap::new();
        for &child in children {
            let info = cursor.number(4) as u32;
            let size = 1 << (info >> 2 & 3);
            let mut property = Property::default();
            if info & 3 != 0 {
                property.array = info & 2 != 0;
                property.single = info & 1 != 0;
                property.pod = info >> 4 & 15;
                property.extent = info >> 12 & 255;
                property.count = cursor.number(size);
                property.changed = match (info & 0x200 != 0, info & 0x800 != 0) {
                    (true, false) => (cursor.number(size), cursor.number(size)),
                    (false, true) => (0, 0),
                    (false, false) => (1, property.count - 1),
                    (true, true) => panic!("constant and changing"),
                };
                property.time = if info & 0x100 != 0 { cursor.number(size) } else { 0 };
                self.samples(child, &mut property);
            } else {
                property.parts = self.properties(child);
            }
            let length = cursor.number(size);
            let name = cursor.text(length);
            property.metadata = self.metadata[(info >> 20 & 255) as usize].clone();
            assert!(all.insert(name, property).is_none());
        }
        assert!(cursor.0.is_empty(), "as many headers as properties");
        all
    }

    fn samples(&mut self, position: u64, property: &mut Property) {
        let group = self.group(position);
        let step = if property.array { 2 } else { 1 };
        for pair in group.chunks(step) {
            if property.array {
                assert_eq!(pair[1], DATA, "dimensions follow from the size");
            }
            let data = self.data(pair[0]);
            let (key, bytes) = data.split_at(data.len().min(16));
            let value = match property.pod {
                0..=2 => 1,
                5 | 6 | 10 => 4,
                7 | 8 | 11 => 8,
                other => panic!("pod {other}"),
            };
            let element = value * property.extent as usize;
            assert!(bytes.len().is_multiple_of(element));
            assert!(property.array || bytes.len() == element);
            assert!(!property.single || bytes.len() == element);
            property.stored.push((pair[0], key.to_vec(), bytes.to_vec()));
        }
        let (first, last) = property.changed;
        assert!(first <= last && last < property.count, "{first} {last} {}", property.count);
        let expected = if last == 0 { 1 } else { last - first + 2 };
        assert_eq!(property.stored.len(), expected, "stored samples");
        let (mut by_key, mut by_bytes) = (BTreeMap::new(), BTreeMap::new());
        for (_, key, bytes) in &property.stored {
            assert_eq!(*by_key.entry(key).or_insert(bytes), bytes, "equal keys, different samples");
            assert_eq!(*by_bytes.entry(bytes).or_insert(key), key, "equal samples, different keys");
        }
    }
}
