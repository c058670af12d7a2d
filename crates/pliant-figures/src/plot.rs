//! The data of a figure: panels of lines, and how they are to be seen.

use pliant_cache::render::Image;
use std::fmt::Write;

/// A figure's data, complete: drawing and metrics use nothing else.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Heading of the whole.
    pub title: String,
    /// Its diagrams.
    pub panels: Vec<Panel>,
}

/// One diagram.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Heading.
    pub title: String,
    /// Quantity and unit of the abscissa.
    pub x_label: String,
    /// Quantity and unit of the ordinate.
    pub y_label: String,
    /// Whether the abscissa is logarithmic.
    pub x_log: bool,
    /// Whether the ordinate is logarithmic.
    pub y_log: bool,
    /// The abscissae drawn, if not all.
    pub view: Option<(f64, f64)>,
    /// A picture instead of a diagram: every point is a square of this side, equal scales, no axes.
    pub picture: Option<f64>,
    /// Its series.
    pub lines: Vec<Line>,
    /// Triangles of a picture, the farthest first; seen, not measured: they are in no file of data.
    pub faces: Vec<ShadedTriangle>,
    /// A rendering that is shown instead of a diagram; seen, not measured, either.
    pub image: Option<Image>,
}

/// A shaded triangle of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadedTriangle {
    /// Where it is seen.
    pub corners: [(f64, f64); 3],
    /// Light on it, 0 to 1.
    pub shade: f64,
    /// Number of its colour in the palette.
    pub color: usize,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A continuous line.
    #[default]
    Solid,
    /// A broken line.
    Dashed,
    /// A line with a mark at each point.
    Marked,
    /// A thin grey broken line: a value to compare with, not a measurement.
    Guide,
}

/// One series of a diagram.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Abscissae and ordinates.
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    /// A figure without panels yet.
    pub fn new(title: impl Into<String>) -> Plot {
        Plot { title: title.into(), panels: Vec::new() }
    }

    /// The points of the line `name` in panel number `panel`; empty if there is no such line, and
    /// every metric of nothing is NaN.
    pub fn points(&self, panel: usize, name: &str) -> &[(f64, f64)] {
        let lines = self.panels.get(panel).map_or(&[][..], |p| &p.lines);
        lines.iter().find(|l| l.name == name).map_or(&[], |l| &l.points)
    }

    /// The ordinates of a line; see [`points`](Plot::points).
    pub fn values(&self, panel: usize, name: &str) -> Vec<f64> {
        self.points(panel, name).iter().map(|p| p.1).collect()
    }

    /// All numbers, one point per row.
    pub fn csv(&self) -> String {
        let mut text = String::from("panel,series,x_quantity,y_quantity,x,y\n");
        for panel in &self.panels {
            for line in &panel.lines {
                let head = [&panel.title, &line.name, &panel.x_label, &panel.y_label].map(|s| quoted(s));
                let head = head.join(",");
                for (x, y) in &line.points {
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "{head},{x},{y}");
                }
            }
        }
        text
    }
}

impl Panel {
    /// A diagram with linear axes and no lines yet.
    pub fn new(title: &str, x_label: &str, y_label: &str) -> Panel {
        Panel { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), ..Panel::default() }
    }

    /// Makes the abscissa logarithmic.
    pub fn x_log(mut self) -> Panel {
        self.x_log = true;
        self
    }

    /// Makes the ordinate logarithmic; values that are not positive are not drawn.
    pub fn y_log(mut self) -> Panel {
        self.y_log = true;
        self
    }

    /// Draws only this part of the abscissa; data and metrics keep all.
    pub fn view(mut self, from: f64, to: f64) -> Panel {
        self.view = Some((from, to));
        self
    }

    /// Makes it a picture: each line is a set of squares of this side, in a colour of its own.
    pub fn picture(mut self, side: f64) -> Panel {
        self.picture = Some(side);
        self
    }

    /// A picture of triangles, the farthest first.
    pub fn faces(title: impl Into<String>, note: impl Into<String>, faces: Vec<ShadedTriangle>) -> Panel {
        let (title, x_label) = (title.into(), note.into());
        Panel { title, x_label, faces, picture: Some(0.0), ..Panel::default() }
    }

    /// A rendering under a title and a note.
    pub fn image(title: impl Into<String>, note: impl Into<String>, image: Image) -> Panel {
        let (title, x_label) = (title.into(), note.into());
        Panel { title, x_label, image: Some(image), picture: Some(0.0), ..Panel::default() }
    }

    /// Adds a line.
    pub fn line(mut self, name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Panel {
        self.lines.push(Line { name: name.into(), style, points });
        self
    }
}

/// A field of a CSV file (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_a_row_per_point_and_quotes_commas() {
        let panel = Panel::new("a, b", "t (s)", "y").line("l", Style::Solid, vec![(0.0, 1.5), (1.0, 1e-20)]);
        let plot = Plot { title: "t".into(), panels: vec![panel] };
        let csv = plot.csv();
        assert_eq!(csv.lines().count(), 3);
        assert!(csv.contains("\"a, b\",l,t (s),y,0,1.5\n"), "{csv}");
    }
}
