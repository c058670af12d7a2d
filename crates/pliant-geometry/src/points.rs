//! Plain point lists: `x y z` a line, separated by spaces, tabs or commas, with `#` comments.

use crate::error::{ErrorList, GeometryError, read_bytes};
use glam::DVec3;
use std::path::Path;

/// Reads a point list from a file; every error at once, up to a cap.
pub fn read_points(path: &Path) -> Result<Vec<DVec3>, Vec<GeometryError>> {
    let bytes = read_bytes(path)?;
    parse_points(&bytes).map_err(|errors| errors.into_iter().map(|e| e.in_file(path)).collect())
}

/// Reads a point list from memory; every error at once, up to a cap.
pub fn parse_points(bytes: &[u8]) -> Result<Vec<DVec3>, Vec<GeometryError>> {
    let mut errors = ErrorList::default();
    let mut points = Vec::new();
    for (index, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let content = line.trim_start_matches('\u{feff}').split('#').next().unwrap_or_default();
        let mut numbers = [0.0; 3];
        let mut count = 0;
        let mut fault = None;
        for word in content.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()) {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    if let Some(slot) = numbers.get_mut(count) {
                        *slot = value;
                    }
                }
                Ok(_) => fault = fault.or(Some((format!("`{word}` is not finite"), FINITE))),
                Err(_) => fault = fault.or(Some((format!("`{}` is not a number", shorten(word)), NUMBER))),
            }
            count += 1;
        }
        if let Some((message, help)) = fault {
            errors.push(index + 1, message, help);
        } else if count != 0 && count != 3 {
            errors.push(
                index + 1,
                format!("{count} numbers where a point has 3"),
                "write one point a line as `x y z`; use a point, not a comma, for decimals, and drop other columns",
            );
        } else if count == 3 {
            points.push(DVec3::from_array(numbers));
        }
    }
    if points.is_empty() && errors.is_empty() {
        return Err(vec![GeometryError::new(
            "there are no points in it",
            "write one point a line as `x y z`",
        )]);
    }
    if errors.is_empty() { Ok(points) } else { Err(errors.finish()) }
}

const FINITE: &str =
    "coordinates must be finite numbers; look for a division by zero where the file was written";
const NUMBER: &str = "write one point a line as `x y z`, and begin comments with `#`";

/// The first characters of a word, so that a binary file does not flood the terminal.
pub(crate) fn shorten(word: &str) -> String {
    let mut short: String = word.chars().take(24).filter(|c| !c.is_control()).collect();
    if word.chars().nth(24).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_spaces_commas_comments_and_windows_line_ends() {
        let text = b"\xef\xbb\xbf# head\r\n1 2 3\r\n\r\n  4,5 ,\t6e0 # tail\r\n-1, -2, -3";
        let want = vec![DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, 6.0), DVec3::new(-1.0, -2.0, -3.0)];
        assert_eq!(parse_points(text), Ok(want));
    }

    #[test]
    fn reports_every_bad_line() {
        let errors = parse_points(b"1 2 3\n1 2\nx 2 3\n1 nan 3\n1 2 3 4\n").unwrap_err();
        let lines: Vec<_> = errors.iter().map(|e| e.line).collect();
        assert_eq!(lines, [Some(2), Some(3), Some(4), Some(5)]);
        assert!(errors.iter().all(|e| !e.io && !e.help.is_empty()));
    }

    #[test]
    fn refuses_nothing_at_all() {
        assert_eq!(parse_points(b"# only a comment\n").unwrap_err().len(), 1);
    }

    #[test]
    fn caps_the_number_of_errors() {
        let errors = parse_points("x\n".repeat(1000).as_bytes()).unwrap_err();
        assert_eq!(errors.len(), ErrorList::CAP + 1);
        assert!(errors.last().is_some_and(|e| e.message.starts_with("980 more")));
    }

    #[test]
    fn an_unreadable_file_is_an_io_error() {
        let errors = read_points(Path::new("/no/such/file.txt")).unwrap_err();
        assert!(errors[0].io && errors[0].to_string().contains("/no/such/file.txt"));
    }
}
