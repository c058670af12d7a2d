//! Named, typed arrays: what header and frame payloads are made of.
//!
//! ```text
//! channel  name_length u16  name  element u8  components u8  count u64  bytes u64  data
//! ```
//!
//! `data` holds `components` planes of `count` elements each (x of all, then y of all, …), which is
//! how the engine keeps them and what compresses best. The explicit byte length lets a reader skip
//! element types it has never heard of.

/// Element type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ChannelType {
    U8 = 1,
    U32 = 2,
    U64 = 3,
    F32 = 4,
    F64 = 5,
}

impl ChannelType {
    fn size(self) -> usize {
        match self {
            ChannelType::U8 => 1,
            ChannelType::U32 | ChannelType::F32 => 4,
            ChannelType::U64 | ChannelType::F64 => 8,
        }
    }

    fn from_code(code: u8) -> Option<ChannelType> {
        [ChannelType::U8, ChannelType::U32, ChannelType::U64, ChannelType::F32, ChannelType::F64]
            .into_iter()
            .find(|e| *e as u8 == code)
    }
}

/// A number that can be stored in a channel.
pub(super) trait ChannelNumber: Copy {
    const ELEMENT: ChannelType;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($type:ty, $element:ident, $size:literal) => {
        impl ChannelNumber for $type {
            const ELEMENT: ChannelType = ChannelType::$element;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut raw = [0; $size];
                raw.copy_from_slice(bytes);
                <$type>::from_le_bytes(raw)
            }
        }
    };
}
number!(u8, U8, 1);
number!(u32, U32, 4);
number!(u64, U64, 8);
number!(f32, F32, 4);
number!(f64, F64, 8);

/// Appends a channel of equally long planes.
pub(super) fn put<T: ChannelNumber>(out: &mut Vec<u8>, name: &str, planes: &[&[T]]) {
    let count = planes.first().map_or(0, |p| p.len());
    debug_assert!(planes.iter().all(|p| p.len() == count));
    let bytes = count * planes.len() * T::ELEMENT.size();
    out.reserve(22 + name.len() + bytes);
    out.extend_from_slice(&(name.len() as u16).to_le_bytes());
    out.extend_from_slice(name.as_bytes());
    out.push(T::ELEMENT as u8);
    out.push(planes.len() as u8);
    out.extend_from_slice(&(count as u64).to_le_bytes());
    out.extend_from_slice(&(bytes as u64).to_le_bytes());
    for plane in planes {
        for &value in *plane {
            value.put(out);
        }
    }
}

/// A channel inside a payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogChannel<'a> {
    pub(super) name: &'a str,
    element: u8,
    components: u8,
    count: u64,
    data: &'a [u8],
}

impl LogChannel<'_> {
    /// The planes, if there are `N` of them of type `T` and the data has the length it should.
    pub(super) fn planes<T: ChannelNumber, const N: usize>(&self) -> Result<[Vec<T>; N], String> {
        let name = self.name;
        if ChannelType::from_code(self.element) != Some(T::ELEMENT) || usize::from(self.components) != N {
            return Err(format!(
                "channel \"{name}\" holds {} components of element type {}, not {N} of {:?}",
                self.components,
                self.element,
                T::ELEMENT
            ));
        }
        let size = T::ELEMENT.size();
        let plane_bytes = usize::try_from(self.count)
            .ok()
            .and_then(|c| c.checked_mul(size))
            .filter(|p| p.checked_mul(N) == Some(self.data.len()))
            .ok_or_else(|| {
                format!(
                    "channel \"{name}\" says {} × {N} elements but has {} bytes",
                    self.count,
                    self.data.len()
                )
            })?;
        Ok(std::array::from_fn(|k| {
            self.data[k * plane_bytes..(k + 1) * plane_bytes].chunks_exact(size).map(T::get).collect()
        }))
    }

    /// A channel of one plane.
    pub(super) fn values<T: ChannelNumber>(&self) -> Result<Vec<T>, String> {
        let [plane] = self.planes::<T, 1>()?;
        Ok(plane)
    }

    /// A channel of one plane with exactly one value.
    pub(super) fn value<T: ChannelNumber>(&self) -> Result<T, String> {
        match self.values::<T>()?[..] {
            [value] => Ok(value),
            ref v => Err(format!("channel \"{}\" holds {} values, not one", self.name, v.len())),
        }
    }

    /// A channel of UTF-8 text.
    pub(super) fn text(&self) -> Result<String, String> {
        String::from_utf8(self.values()?).map_err(|_| format!("channel \"{}\" is not UTF-8 text", self.name))
    }
}

/// Splits a payload into its channels without copying data.
pub(super) fn parse(mut rest: &[u8]) -> Result<Vec<LogChannel<'_>>, String> {
    fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], String> {
        let (head, tail) = rest.split_at_checked(count).ok_or("a channel is longer than its record")?;
        *rest = tail;
        Ok(head)
    }
    let mut channels = Vec::new();
    while !rest.is_empty() {
        let length = take(&mut rest, 2)?;
        let name_length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let name = std::str::from_utf8(take(&mut rest, name_length)?)
            .map_err(|_| "a channel's name is not UTF-8 text")?;
        let element = u8::get(take(&mut rest, 1)?);
        let components = u8::get(take(&mut rest, 1)?);
        let count = u64::get(take(&mut rest, 8)?);
        let bytes = u64::get(take(&mut rest, 8)?);
        let bytes = usize::try_from(bytes).map_err(|_| "a channel is longer than its record")?;
        channels.push(LogChannel { name, element, components, count, data: take(&mut rest, bytes)? });
    }
    Ok(channels)
}

/// The first channel of a name, or an error that names it.
pub(super) fn need<'a, 'b>(channels: &'b [LogChannel<'a>], name: &str) -> Result<&'b LogChannel<'a>, String> {
    find(channels, name).ok_or_else(|| format!("channel \"{name}\" is missing"))
}

/// The first channel of a name.
pub(super) fn find<'a, 'b>(channels: &'b [LogChannel<'a>], name: &str) -> Option<&'b LogChannel<'a>> {
    channels.iter().find(|c| c.name == name)
}
