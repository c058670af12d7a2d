//! Values of the JSON part with the path that leads to them, so that every error can name its place.

use crate::GeometryError;
use serde_json::Value;

/// A value and where it is, such as `accessors[3].count`.
#[derive(Clone)]
pub(super) struct JsonPlace<'a> {
    value: &'a Value,
    path: String,
}

/// An array and where it is; absent ones are empty.
pub(super) struct JsonList<'a> {
    values: &'a [Value],
    path: String,
}

impl<'a> JsonPlace<'a> {
    pub fn root(value: &'a Value) -> JsonPlace<'a> {
        JsonPlace { value, path: String::new() }
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// An error at this place.
    pub fn fault(&self, message: impl std::fmt::Display, help: impl Into<String>) -> GeometryError {
        let place = if self.path.is_empty() { "the top level" } else { &self.path };
        GeometryError::new(format!("{place}: {message}"), help)
    }

    /// The value under a key; `None` if there is none.
    pub fn get(&self, key: &str) -> Option<JsonPlace<'a>> {
        let value = self.value.get(key).filter(|v| !v.is_null())?;
        let path = if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) };
        Some(JsonPlace { value, path })
    }

    /// The value under a key that must be there.
    pub fn need(&self, key: &str) -> Result<JsonPlace<'a>, GeometryError> {
        self.get(key).ok_or_else(|| self.fault(format!("`{key}` is missing"), EXPORT_AGAIN))
    }

    /// The array under a key; empty if there is none.
    pub fn list(&self, key: &str) -> Result<JsonList<'a>, GeometryError> {
        let Some(found) = self.get(key) else {
            return Ok(JsonList { values: &[], path: key.to_string() });
        };
        match found.value {
            Value::Array(values) => Ok(JsonList { values, path: found.path }),
            _ => Err(found.fault("this must be an array", EXPORT_AGAIN)),
        }
    }

    /// This value as a whole number that is not negative.
    pub fn index(&self) -> Result<usize, GeometryError> {
        let whole = |x: &f64| x.fract() == 0.0 && (0.0..9e15).contains(x);
        let found = self.value.as_u64().or_else(|| self.value.as_f64().filter(whole).map(|x| x as u64));
        found.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| {
            self.fault(
                format!("{} is no whole number from zero up", shortened(self.value)),
                "write a count or an index",
            )
        })
    }

    pub fn count(&self, key: &str) -> Result<Option<usize>, GeometryError> {
        self.get(key).map(|v| v.index()).transpose()
    }

    pub fn need_count(&self, key: &str) -> Result<usize, GeometryError> {
        self.need(key)?.index()
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    pub fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn number(&self, key: &str) -> Result<Option<f64>, GeometryError> {
        self.get(key).map(|v| v.as_number()).transpose()
    }

    /// A number that exists; JSON has no infinities.
    pub fn as_number(&self) -> Result<f64, GeometryError> {
        let found = self.value.as_f64().filter(|x| x.is_finite());
        found.ok_or_else(|| self.fault(format!("{} is no number", shortened(self.value)), "write a number"))
    }

    /// The N numbers under a key.
    pub fn numbers<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, GeometryError> {
        let list = self.list(key)?;
        if self.get(key).is_none() {
            return Ok(None);
        }
        if list.len() != N {
            return Err(GeometryError::new(
                format!("{}: {} numbers where {N} are needed", list.path, list.len()),
                EXPORT_AGAIN,
            ));
        }
        let mut found = [0.0; N];
        for (out, value) in found.iter_mut().zip(list.iter()) {
            *out = value.as_number()?;
        }
        Ok(Some(found))
    }

    /// What an index under a key refers to; `None` if there is no such key.
    pub fn refer<'b>(
        &self,
        key: &str,
        list: &JsonList<'b>,
    ) -> Result<Option<(usize, JsonPlace<'b>)>, GeometryError> {
        let Some(found) = self.get(key) else { return Ok(None) };
        let index = found.index()?;
        match list.at(index) {
            Some(at) => Ok(Some((index, at))),
            None => Err(found.fault(
                format!("{index} is named, but `{}` has {} entries", list.path, list.len()),
                EXPORT_AGAIN,
            )),
        }
    }
}

impl<'a> JsonList<'a> {
    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn at(&self, index: usize) -> Option<JsonPlace<'a>> {
        let value = self.values.get(index)?;
        Some(JsonPlace { value, path: format!("{}[{index}]", self.path) })
    }

    pub fn iter(&self) -> impl Iterator<Item = JsonPlace<'a>> + '_ {
        (0..self.values.len()).filter_map(|i| self.at(i))
    }

    /// The texts among the values.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.values.iter().filter_map(Value::as_str)
    }
}

pub(super) const EXPORT_AGAIN: &str = "the file is damaged or was written wrongly: export it again";

/// A value for an error message, not longer than one can read.
fn shortened(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        Value::String(s) if s.len() > 40 => format!("\"{}…\"", s.chars().take(40).collect::<String>()),
        other => other.to_string(),
    }
}
