//! Just enough XML for VTK's files: tags one after the other, their attributes and the text after them.
//!
//! Written here because VTK's raw appended data is not XML, and readers of XML refuse the whole file.

use crate::GeometryError;
use std::borrow::Cow;

pub(super) struct Xml<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

/// A tag; `</name>` has a name that begins with `/`.
pub(super) struct Tag<'a> {
    pub name: Cow<'a, str>,
    inside: Cow<'a, str>,
    pub line: usize,
    /// Whether it ends with `/>`.
    pub empty: bool,
}

impl<'a> Xml<'a> {
    pub fn new(bytes: &'a [u8]) -> Xml<'a> {
        Xml { bytes, at: 0, line: 1 }
    }

    /// Everything from here on.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The text up to the next tag.
    pub fn text(&mut self) -> &'a [u8] {
        self.until(b"<").unwrap_or_default()
    }

    /// What comes before `mark`, which is not passed; everything and `None` if there is no such mark.
    fn until(&mut self, mark: &[u8]) -> Option<&'a [u8]> {
        let rest = self.rest();
        let found = rest.windows(mark.len()).position(|w| w == mark);
        let before = &rest[..found.unwrap_or(rest.len())];
        self.line += before.iter().filter(|&&b| b == b'\n').count();
        self.at += before.len();
        found.map(|_| before)
    }

    /// The next tag; comments, declarations and text before it are passed over.
    pub fn tag(&mut self) -> Result<Option<Tag<'a>>, GeometryError> {
        loop {
            if self.until(b"<").is_none() {
                return Ok(None);
            }
            let line = self.line;
            let end: &[u8] = match self.rest() {
                rest if rest.starts_with(b"<!--") => b"-->",
                rest if rest.starts_with(b"<?") => b"?>",
                _ => b">",
            };
            let Some(inside) = self.until(end) else {
                let message = "the file ends within a tag";
                return Err(GeometryError::at_line(line, message, super::scan::CUT_OFF));
            };
            self.at += end.len();
            if end.len() > 1 || inside.starts_with(b"<!") {
                continue;
            }
            let inside = &inside[1..];
            let empty = inside.ends_with(b"/");
            let inside = inside.strip_suffix(b"/").unwrap_or(inside);
            let length = inside.iter().position(u8::is_ascii_whitespace).unwrap_or(inside.len());
            let (name, inside) = inside.split_at(length);
            let [name, inside] = [name, inside].map(String::from_utf8_lossy);
            return Ok(Some(Tag { name, inside, line, empty }));
        }
    }
}

impl Tag<'_> {
    /// The value of an attribute.
    pub fn attribute(&self, wanted: &str) -> Option<&str> {
        let mut rest: &str = &self.inside;
        while let Some((name, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|&c| c == '"' || c == '\'')?;
            let (value, after) = after[1..].split_once(quote)?;
            if name.trim() == wanted {
                return Some(value);
            }
            rest = after;
        }
        None
    }

    /// The value of an attribute that is a whole number.
    pub fn count(&self, wanted: &str) -> Result<u64, GeometryError> {
        let value = self.attribute(wanted).unwrap_or_default();
        value.trim().parse().map_err(|_| {
            let message = format!("<{}> has {wanted}=\"{}\"", self.name, crate::points::shorten(value));
            GeometryError::at_line(self.line, message, "a whole number should be there")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_attributes_text_and_lines() {
        let mut xml = Xml::new(b"<?xml version='1'?>\n<!-- <no> -->\n<a x=\"1\" y = 'two'><b/>text</a>");
        let a = xml.tag().unwrap().unwrap();
        assert_eq!((&*a.name, a.line, a.empty), ("a", 3, false));
        assert_eq!((a.attribute("y"), a.count("x"), a.attribute("z")), (Some("two"), Ok(1), None));
        assert!(xml.tag().unwrap().unwrap().empty);
        assert_eq!(xml.text(), b"text");
        assert_eq!(xml.tag().unwrap().unwrap().name, "/a");
        assert!(xml.tag().unwrap().is_none());
        assert!(Xml::new(b"<a x=").tag().is_err());
    }
}
