//! The header of a PLY file: which elements follow, how many of each, and how their properties are written.

use super::words::{name, shown, whole, words};
use crate::error::{ErrorList, GeometryError};

/// A header longer than this is none.
const MOST_BYTES: usize = 1 << 20;
/// Elements and properties together.
const MOST_ENTRIES: usize = 1000;

/// How the body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlyEncoding {
    Ascii,
    Little,
    Big,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlyType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl PlyType {
    fn named(word: &[u8]) -> Option<PlyType> {
        Some(match word {
            b"char" | b"int8" => PlyType::I8,
            b"uchar" | b"uint8" => PlyType::U8,
            b"short" | b"int16" => PlyType::I16,
            b"ushort" | b"uint16" => PlyType::U16,
            b"int" | b"int32" => PlyType::I32,
            b"uint" | b"uint32" => PlyType::U32,
            b"float" | b"float32" => PlyType::F32,
            b"double" | b"float64" => PlyType::F64,
            _ => return None,
        })
    }

    pub fn size(self) -> usize {
        match self {
            PlyType::I8 | PlyType::U8 => 1,
            PlyType::I16 | PlyType::U16 => 2,
            PlyType::I32 | PlyType::U32 | PlyType::F32 => 4,
            PlyType::F64 => 8,
        }
    }

    pub fn is_real(self) -> bool {
        matches!(self, PlyType::F32 | PlyType::F64)
    }
}

/// A number per element, or a list of them with its length before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlyProperty {
    pub name: String,
    pub kind: PlyType,
    /// How the length of a list is written; `None` if it is no list.
    pub length: Option<PlyType>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlyElement {
    pub name: String,
    pub count: u64,
    pub properties: Vec<PlyProperty>,
}

impl PlyElement {
    /// The fewest bytes that one of them takes.
    pub fn least_bytes(&self, encoding: PlyEncoding) -> u64 {
        let size = |p: &PlyProperty| match encoding {
            // A digit and what parts it from the next.
            PlyEncoding::Ascii => 2,
            _ => p.length.unwrap_or(p.kind).size() as u64,
        };
        self.properties.iter().map(size).sum()
    }

    pub fn find(&self, names: &[&str]) -> Option<usize> {
        self.properties.iter().position(|p| names.contains(&p.name.as_str()))
    }
}

#[derive(Debug)]
pub(super) struct PlyHeader {
    pub encoding: PlyEncoding,
    pub elements: Vec<PlyElement>,
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
pub(super) fn header(bytes: &[u8]) -> Result<PlyHeader, Vec<GeometryError>> {
    let mut header = PlyHeader {
        encoding: PlyEncoding::Ascii,
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
        if header.end >= bytes.len() || header.end > MOST_BYTES || entries > MOST_ENTRIES {
            errors.push(
                header.lines.max(1),
                "the header does not end",
                "a PLY file has a line `end_header` before its numbers; the file may be cut off",
            );
            break;
        }
        let line = header.next_line(bytes);
        let number = header.lines;
        let mut parts = words(line);
        let keyword = parts.next().unwrap_or_default();
        match keyword {
            b"end_header" => break,
            b"ply" | b"" | b"obj_info" => {}
            b"comment" => comment(line[keyword.len()..].trim_ascii(), &mut header),
            b"format" => encoding = Some(format(parts.next().unwrap_or_default(), number, &mut errors)),
            b"element" => {
                entries += 1;
                match element(&mut parts) {
                    Ok(element) => header.elements.push(element),
                    Err(message) => errors.push(number, message, "write `element NAME COUNT`"),
                }
            }
            b"property" => {
                entries += 1;
                match (property(&mut parts), header.elements.last_mut()) {
                    (Ok(property), Some(element)) => element.properties.push(property),
                    (Ok(_), None) => {
                        errors.push(
                            number,
                            "a property before any element",
                            "write its `element` line first",
                        );
                    }
                    (Err(message), _) => errors.push(number, message, PROPERTY),
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

const PROPERTY: &str =
    "write `property TYPE NAME` or `property list TYPE TYPE NAME`, with a type such as `float` or `int`";

impl PlyHeader {
    /// The next line, counted, without what ends it: \n, \r\n, or \r alone, as what follows a \r in the last line may
    /// already be a number.
    fn next_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let rest = &bytes[self.end..];
        let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let both = rest[length..].starts_with(b"\r\n");
        self.end += (length + 1 + usize::from(both)).min(rest.len());
        self.lines += 1;
        rest[..length].trim_ascii()
    }
}

fn format(word: &[u8], line: usize, errors: &mut ErrorList) -> PlyEncoding {
    match word {
        b"ascii" => PlyEncoding::Ascii,
        b"binary_little_endian" => PlyEncoding::Little,
        b"binary_big_endian" => PlyEncoding::Big,
        other => {
            let message = format!("`{}` is no format of PLY", shown(other));
            errors.push(line, message, "it is `ascii`, `binary_little_endian` or `binary_big_endian`");
            PlyEncoding::Ascii
        }
    }
}

fn element<'a>(parts: &mut impl Iterator<Item = &'a [u8]>) -> Result<PlyElement, String> {
    let (own, count) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match whole(count).and_then(|n| u64::try_from(n).ok()) {
        Some(count) => Ok(PlyElement { name: name(own), count, properties: Vec::new() }),
        None => Err(format!("`{}` is no count of elements", shown(count))),
    }
}

fn comment(text: &[u8], header: &mut PlyHeader) {
    if let Some(file) = text.strip_prefix(b"TextureFile ") {
        header.textures.push(name(file));
    } else if let Some(own) = text.strip_prefix(b"name: ") {
        header.name = name(own);
    }
}

fn property<'a>(parts: &mut impl Iterator<Item = &'a [u8]>) -> Result<PlyProperty, String> {
    let kind =
        |word: &[u8]| PlyType::named(word).ok_or_else(|| format!("`{}` is no type of PLY", shown(word)));
    let first = parts.next().unwrap_or_default();
    let (length, own) = match first {
        b"list" => (Some(kind(parts.next().unwrap_or_default())?), parts.next().unwrap_or_default()),
        other => (None, other),
    };
    if length.is_some_and(PlyType::is_real) {
        return Err("the length of a list is no whole number".into());
    }
    let kind = kind(own)?;
    match parts.next() {
        Some(own) => Ok(PlyProperty { name: name(own), kind, length }),
        None => Err("the property has no name".into()),
    }
}
