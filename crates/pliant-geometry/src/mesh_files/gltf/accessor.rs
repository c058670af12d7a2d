//! Accessors: numbers of any component type, strided, normalised and sparse, checked against the bytes that are there.

use super::document::Document;
use super::json::{EXPORT_AGAIN, JsonPlace};
use crate::GeometryError;

/// How a component is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn read(at: &JsonPlace<'_>) -> Result<Component, GeometryError> {
        let place = at.need("componentType")?;
        Ok(match place.index()? {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            other => return Err(place.fault(format!("{other} is no component type"), EXPORT_AGAIN)),
        })
    }

    fn size(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    /// The value of a component at the start of `bytes`; 0 if they are too few, which is checked before.
    fn value(self, bytes: &[u8], normalized: bool) -> f32 {
        let two = || bytes.first_chunk::<2>().copied().unwrap_or_default();
        let four = || bytes.first_chunk::<4>().copied().unwrap_or_default();
        let one = bytes.first().copied().unwrap_or_default();
        let (value, largest) = match self {
            Component::F32 => return f32::from_le_bytes(four()),
            Component::I8 => (f32::from(one as i8), 127.0),
            Component::U8 => (f32::from(one), 255.0),
            Component::I16 => (f32::from(i16::from_le_bytes(two())), 32767.0),
            Component::U16 => (f32::from(u16::from_le_bytes(two())), 65535.0),
            Component::U32 => (u32::from_le_bytes(four()) as f32, u32::MAX as f32),
        };
        if normalized { (value / largest).max(-1.0) } else { value }
    }

    /// A whole number at the start of `bytes`.
    fn whole(self, bytes: &[u8]) -> u32 {
        match self {
            Component::U8 => u32::from(bytes.first().copied().unwrap_or_default()),
            Component::U16 => bytes.first_chunk().map_or(0, |&b| u32::from(u16::from_le_bytes(b))),
            _ => bytes.first_chunk().map_or(0, |&b| u32::from_le_bytes(b)),
        }
    }

    /// The size of an unsigned type, which is what indices have.
    fn for_indices(self, at: &JsonPlace<'_>) -> Result<Component, GeometryError> {
        match self {
            Component::U8 | Component::U16 | Component::U32 => Ok(self),
            other => Err(at.fault(format!("indices are {other:?}, not unsigned"), EXPORT_AGAIN)),
        }
    }
}

/// `count` elements of `size` bytes, `stride` apart. Empty bytes stand for zeros.
#[derive(Clone, Copy)]
struct ElementRun<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> ElementRun<'a> {
    /// Finds the bytes that `at` (an accessor, or a part of a sparse one) describes.
    fn find(
        document: &'a Document<'_>,
        at: &JsonPlace<'_>,
        count: usize,
        size: usize,
    ) -> Result<ElementRun<'a>, GeometryError> {
        let Some((_, view)) = at.refer("bufferView", &document.lists.views)? else {
            return Ok(ElementRun { bytes: &[], stride: 0 });
        };
        let view_bytes = view_bytes(document, &view)?;
        let stride = match view.count("byteStride")? {
            None | Some(0) => size,
            Some(stride) if stride < size || stride > 252 => {
                return Err(view.fault(
                    format!("elements of {size} bytes have a stride of {stride}, not {size} to 252"),
                    EXPORT_AGAIN,
                ));
            }
            Some(stride) => stride,
        };
        let offset = at.count("byteOffset")?.unwrap_or(0);
        let needed = count.checked_sub(1).map_or(Some(0), |n| n.checked_mul(stride)?.checked_add(size));
        let bytes = needed.and_then(|n| view_bytes.get(offset..offset.checked_add(n)?));
        match bytes {
            Some(bytes) => Ok(ElementRun { bytes, stride }),
            None => Err(at.fault(
                format!(
                    "{count} elements of {size} bytes from byte {offset}, {stride} apart, do not fit the {} bytes of \
                     {}",
                    view_bytes.len(),
                    view.path()
                ),
                EXPORT_AGAIN,
            )),
        }
    }

    fn element(&self, index: usize) -> &'a [u8] {
        self.bytes.get(index * self.stride..).unwrap_or_default()
    }
}

fn view_bytes<'a>(document: &'a Document<'_>, view: &JsonPlace<'_>) -> Result<&'a [u8], GeometryError> {
    let Some((index, buffer)) = view.refer("buffer", &document.lists.buffers)? else {
        return Err(view.fault("`buffer` is missing", EXPORT_AGAIN));
    };
    let all = document
        .buffers
        .get(index)
        .ok_or_else(|| buffer.fault("the buffer could not be read", "see the other errors"))?;
    let offset = view.count("byteOffset")?.unwrap_or(0);
    let length = view.need_count("byteLength")?;
    offset.checked_add(length).and_then(|end| all.get(offset..end)).ok_or_else(|| {
        let message = format!(
            "{length} bytes from byte {offset} do not fit the {} bytes of {}",
            all.len(),
            buffer.path()
        );
        view.fault(message, EXPORT_AGAIN)
    })
}

/// An accessor that fits its buffers.
pub(super) struct Accessor<'a> {
    document: &'a Document<'a>,
    at: JsonPlace<'a>,
    pub count: usize,
    components: usize,
    component: Component,
    normalized: bool,
    dense: ElementRun<'a>,
    sparse: Option<Sparse<'a>>,
}

struct Sparse<'a> {
    count: usize,
    indices: ElementRun<'a>,
    index: Component,
    values: ElementRun<'a>,
}

impl<'a> Accessor<'a> {
    /// The accessor that `key` of `at` names; `None` if there is no such key.
    pub fn named(
        document: &'a Document<'a>,
        at: &JsonPlace<'_>,
        key: &str,
    ) -> Result<Option<Accessor<'a>>, GeometryError> {
        let Some((_, at)) = at.refer(key, &document.lists.accessors)? else { return Ok(None) };
        let count = at.need_count("count")?;
        if count == 0 {
            return Err(at.need("count")?.fault("an accessor has at least one element", EXPORT_AGAIN));
        }
        let component = Component::read(&at)?;
        let components = match at.text("type") {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            other => {
                let message =
                    format!("type {} is not one of SCALAR, VEC2, VEC3, VEC4", other.unwrap_or("(none)"));
                return Err(at.fault(message, EXPORT_AGAIN));
            }
        };
        let size = components * component.size();
        let dense = ElementRun::find(document, &at, count, size)?;
        let sparse = at.get("sparse").map(|s| Sparse::read(document, &s, size)).transpose()?;
        let normalized = at.flag("normalized");
        Ok(Some(Accessor { document, at, count, components, component, normalized, dense, sparse }))
    }

    /// Whether it has bytes, not only zeros.
    pub fn has_bytes(&self) -> bool {
        !self.dense.bytes.is_empty() || self.sparse.is_some()
    }

    /// An error in this accessor.
    pub fn fault(&self, message: impl std::fmt::Display) -> GeometryError {
        self.at.fault(message, EXPORT_AGAIN)
    }

    /// All elements as vectors; types with fewer components than N are refused unless `fill` makes up for them.
    pub fn floats<const N: usize>(&self, fill: Option<f32>) -> Result<Vec<[f32; N]>, GeometryError> {
        if self.components != N && !(fill.is_some() && self.components == N - 1) {
            return Err(self.fault(format!("{} components where {N} are needed", self.components)));
        }
        self.document.budget.bytes(&self.at, self.count, 4 * N)?;
        let size = self.component.size();
        let read = |bytes: &[u8]| {
            let mut value = [fill.unwrap_or(0.0); N];
            for (c, out) in value.iter_mut().enumerate().take(self.components) {
                *out = self.component.value(bytes.get(c * size..).unwrap_or_default(), self.normalized);
            }
            value
        };
        let mut values: Vec<[f32; N]> = (0..self.count).map(|i| read(self.dense.element(i))).collect();
        self.replace(&mut values, read)?;
        Ok(values)
    }

    /// All elements as indices.
    pub fn indices(&self) -> Result<Vec<u32>, GeometryError> {
        let component = self.component.for_indices(&self.at)?;
        if self.components != 1 {
            return Err(self.fault("indices must be of type SCALAR"));
        }
        self.document.budget.bytes(&self.at, self.count, 4)?;
        let read = |bytes: &[u8]| component.whole(bytes);
        let mut values: Vec<u32> = (0..self.count).map(|i| read(self.dense.element(i))).collect();
        self.replace(&mut values, read)?;
        Ok(values)
    }

    /// Puts the sparse elements in place.
    fn replace<T>(&self, values: &mut [T], read: impl Fn(&[u8]) -> T) -> Result<(), GeometryError> {
        let Some(sparse) = &self.sparse else { return Ok(()) };
        for k in 0..sparse.count {
            let index = sparse.index.whole(sparse.indices.element(k)) as usize;
            let Some(value) = values.get_mut(index) else {
                return Err(self.fault(format!("sparse index {k} names element {index} of {}", self.count)));
            };
            *value = read(sparse.values.element(k));
        }
        Ok(())
    }
}

impl<'a> Sparse<'a> {
    fn read(
        document: &'a Document<'a>,
        at: &JsonPlace<'_>,
        size: usize,
    ) -> Result<Sparse<'a>, GeometryError> {
        let count = at.need_count("count")?;
        let (indices, values) = (at.need("indices")?, at.need("values")?);
        let index = Component::read(&indices)?.for_indices(&indices)?;
        for part in [&indices, &values] {
            part.need("bufferView")?;
        }
        Ok(Sparse {
            count,
            indices: ElementRun::find(document, &indices, count, index.size())?,
            index,
            values: ElementRun::find(document, &values, count, size)?,
        })
    }
}
