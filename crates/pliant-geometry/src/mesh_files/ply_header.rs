//! The header of a PLY file: which elements follow, how many of each, and how their properties are written.

use super::words::{name, shown, whole, words};
use crate::error::{ErrorList, GeometryError};

/// A header longer than this is none.
const MOST_BYTES: usize = 1 << 20;
/// Elements and properties together.
const MOST_ENTRIES: usize = 1000;

/// How the body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn named(word: &[u8]) -> Option<Kind> {
        Some(match word {
            b"char" | b"int8" => Kind::I8,
            b"uchar" | b"uint8" => Kind::U8,
            b"short" | b"int16" => Kind::I16,
            b"ushort" | b"uint16" => Kind::U16,
            b"int" | b"int32" => Kind::I32,
            b"uint" | b"uint32" => Kind::U32,
            b"float" | b"float32" => Kind::F32,
            b"double" | b"float64" => Kind::F64,
            _ => return None,
        })
    }

    pub fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }

    pub fn is_real(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
}

/// A number per element, or a list of them with its length before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
    /// How the length of a list is written; `None` if it is no list.
    pub length: Option<Kind>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

impl Element {
    /// The fewest bytes that one of them takes.
    pub fn least_bytes(&self, encoding: Encoding) -> u64 {
        let size = |p: &Property| match encoding {
            // A digit and what parts it from the next.
            Encoding::Ascii => 2,
            _ => p.length.unwrap_or(p.kind).size() as u64,
        };
        self.properties.iter().map(size).sum()
    }

    pub fn find(&self, names: &[&str]) -> Option<usize> {
        self.properties.iter().position(|p| names.contains(&p.name.as_str()))
    }
}

#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Image files that comments name, as MeshLab writes them.
    pub textures: Vec<String>,
    /// Name of the object, from a comment that Pliant writes.
    pub name: String,
    /// Where the body begins.
    pub end: usize,
    /// Lines of the header.
    pub lines: usize,
}

/// Reads the header; every error of it at once.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Vec<GeometryError>> {
    let mut header = Header {
        encoding: Encoding::Ascii,
        elements: vec![],
        textures: vec![],
        name: String::new(),
        end: 0,
        lines: 0,
    };
    let mut errors = ErrorList::default();
    let mut encoding = None;
    let mut entries = 0;
    loop {
        let rest = &bytes[header.end..];
        if rest.is_empty() || header.end > MOST_BYTES || entries > MOST_ENTRIES {
            errors.push(
                header.lines.max(1),
                "the header does not end",
                "a PLY file has a line `end_header` before its numbers; the file may be cut off",
            );
            break;
        }
        // Lines end with \n, \r\n, or \r alone; what follows a \r in the last line may already be a number.
        let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let line = rest[..length].trim_ascii();
        let both = rest[length..].starts_with(b"\r\n");
        header.end += (length + 1 + usize::from(both)).min(rest.len());
        header.lines += 1;
        let number = header.lines;
        let mut parts = words(line);
        let keyword = parts.next().unwrap_or_default();
        match keyword {
            b"end_header" => break,
            b"ply" | b"" | b"obj_info" => {}
            b"comment" => comment(line[keyword.len()..].trim_ascii(), &mut header),
            b"format" => {
                encoding = match parts.next().unwrap_or_default() {
                    b"ascii" => Some(Encoding::Ascii),
                    b"binary_little_endian" => Some(Encoding::Little),
                    b"binary_big_endian" => Some(Encoding::Big),
                    other => {
                        let message = format!("`{}` is no format of PLY", shown(other));
                        let help = "it is `ascii`, `binary_little_endian` or `binary_big_endian`";
                        errors.push(number, message, help);
                        Some(Encoding::Ascii)
                    }
                }
            }
            b"element" => {
                entries += 1;
                let (own, count) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let Some(count) = whole(count).and_then(|n| u64::try_from(n).ok()) else {
                    let message = format!("`{}` is no count of elements", shown(count));
                    errors.push(number, message, "write `element NAME COUNT`");
                    continue;
                };
                header.elements.push(Element { name: name(own), count, properties: Vec::new() });
            }
            b"property" => {
                entries += 1;
                match property(&mut parts) {
                    Ok(property) => match header.elements.last_mut() {
                        Some(element) => element.properties.push(property),
                        None => errors.push(number, "a property before any element", "write its `element` line first"),
                    },
                    Err(message) => errors.push(
                        number,
                        message,
                        "write `property TYPE NAME` or `property list TYPE TYPE NAME`, with a type such as `float` or `int`",
                    ),
                }
            }
            other => {
                let message = format!("`{}` is no statement of a PLY header", shown(other));
                errors.push(number, message, "the header may be damaged; export the file again");
            }
        }
    }
    match encoding {
        Some(encoding) => header.encoding = encoding,
        None => errors.push(1, "there is no `format` line", "write `format ascii 1.0` after the first line"),
    }
    if errors.is_empty() { Ok(header) } else { Err(errors.finish()) }
}

fn comment(text: &[u8], header: &mut Header) {
    if let Some(file) = text.strip_prefix(b"TextureFile ") {
        header.textures.push(name(file));
    } else if let Some(own) = text.strip_prefix(b"name: ") {
        header.name = name(own);
    }
}

fn property<'a>(parts: &mut impl Iterator<Item = &'a [u8]>) -> Result<Property, String> {
    let kind = |word: &[u8]| Kind::named(word).ok_or_else(|| format!("`{}` is no type of PLY", shown(word)));
    let first = parts.next().unwrap_or_default();
    let (length, own) = match first {
        b"list" => (Some(kind(parts.next().unwrap_or_default())?), parts.next().unwrap_or_default()),
        other => (None, other),
    };
    if length.is_some_and(Kind::is_real) {
        return Err("the length of a list is no whole number".into());
    }
    let kind = kind(own)?;
    match parts.next() {
        Some(own) => Ok(Property { name: name(own), kind, length }),
        None => Err("the property has no name".into()),
    }
}
