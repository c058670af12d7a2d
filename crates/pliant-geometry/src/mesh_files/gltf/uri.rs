//! Where buffers come from: data URIs decoded, file names kept inside the folder of the file.

use crate::base64;
use std::path::{Component, PathBuf};

/// What a URI leads to.
pub(super) enum UriSource {
    /// Bytes in the URI itself.
    Data(Vec<u8>),
    /// A file, relative to the folder of the file that names it.
    File(PathBuf),
}

/// Reads a URI; what is wrong with it otherwise.
pub(super) fn resolve(uri: &str) -> Result<UriSource, String> {
    if let Some(data) = uri.get(..5).filter(|s| s.eq_ignore_ascii_case("data:")).map(|_| &uri[5..]) {
        let Some((kind, text)) = data.split_once(',') else {
            return Err("the data URI has no comma before its data".into());
        };
        return match kind.to_ascii_lowercase().ends_with(";base64") {
            true => base64::decode(text).map(UriSource::Data),
            false => percent(text).map(UriSource::Data),
        };
    }
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    if let Some(scheme) = scheme.filter(|s| s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)))
    {
        return Err(format!("`{scheme}:` leads out of the folder of the file"));
    }
    let name = String::from_utf8(percent(uri)?).map_err(|_| "the name is no UTF-8".to_string())?;
    if name.is_empty() || name.contains('\0') {
        return Err("this is no file name".into());
    }
    // Backslashes separate folders on Windows only; such names are as dangerous there as slashes.
    let mut path = PathBuf::new();
    for part in PathBuf::from(name.replace('\\', "/")).components() {
        match part {
            Component::Normal(part) if !part.to_string_lossy().contains(':') => path.push(part),
            Component::CurDir => {}
            _ => return Err(format!("`{}` leads out of the folder of the file", shown(&name))),
        }
    }
    Ok(UriSource::File(path))
}

/// The start of a text that may be very long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Undoes %-escapes.
fn percent(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (digit(bytes.next()), digit(bytes.next())) {
            (Some(high), Some(low)) => out.push((16 * high + low) as u8),
            _ => return Err("a `%` is not followed by two hexadecimal digits".into()),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_the_folder() {
        for inside in ["a.bin", "./a.bin", "sub/a.bin", "a%20b.bin", "sub/./a..bin"] {
            assert!(matches!(resolve(inside), Ok(UriSource::File(_))), "{inside}");
        }
        for outside in [
            "../a.bin",
            "/etc/passwd",
            "%2e%2e/a.bin",
            "sub/%2E%2E/%2e%2e/a.bin",
            "..%2fa.bin",
            "file:///etc/passwd",
            "http://host/a.bin",
            "C:\\a.bin",
            "C:a.bin",
            "C%3A/a.bin",
            "..\\a.bin",
            "\\\\host\\a.bin",
            "//host/a.bin",
            "",
            "a%00.bin",
            "a%zz.bin",
            "%ff.bin",
            "a%2",
        ] {
            assert!(resolve(outside).is_err(), "{outside}");
        }
        assert!(matches!(resolve("DATA:;base64,Zg=="), Ok(UriSource::Data(d)) if d == b"f"));
        assert!(matches!(resolve("data:,a%20b"), Ok(UriSource::Data(d)) if d == b"a b"));
    }
}
