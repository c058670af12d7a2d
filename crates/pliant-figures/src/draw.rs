//! A plot as SVG: panels side by side, a legend below each where it hides nothing.

use crate::embed::{PlacedImage, embed};
use crate::plot::{Line, Panel, Plot, Style};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::series::DashedLineSeries;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Okabe and Ito's palette, which is told apart with every common kind of colour blindness.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(40, 40, 40),
];
const INK: RGBColor = RGBColor(40, 40, 40);
const GUIDE: RGBColor = RGBColor(110, 110, 110);
const FONT: &str = "Helvetica, Arial, sans-serif";
const PANEL_HEIGHT: u32 = 430;
const TITLE_HEIGHT: u32 = 46;
const LEGEND_ROW: u32 = 24;
/// More points than a line has pixels are thinned, keeping every extreme.
const MOST_POINTS: usize = 1200;

/// Draws a plot.
pub fn svg(plot: &Plot) -> Result<String, String> {
    let mut text = String::new();
    let images = draw(plot, &mut text).map_err(|e| format!("drawing failed: {e}"))?;
    embed(&mut text, &images).map_err(|e| format!("drawing failed: {e}"))?;
    Ok(text)
}

fn draw<'a>(plot: &'a Plot, text: &mut String) -> Result<Vec<PlacedImage<'a>>, Box<dyn std::error::Error>> {
    // Four in a square, multiples of three in rows of three; three are narrower, to be read at the width of a page.
    let panels = plot.panels.len().max(1);
    let (columns, width) = match panels {
        1 | 2 => (panels, 640),
        n if n % 3 == 0 => (3, 520),
        _ => (2, 640),
    };
    let grid = panels.div_ceil(columns);
    let rows = plot.panels.iter().filter(|p| p.picture.is_none()).map(legend_rows).max().unwrap_or(0) as u32;
    let legend = rows * LEGEND_ROW + 18;
    let size = (width * columns as u32, TITLE_HEIGHT + (PANEL_HEIGHT + legend) * grid as u32);
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let title = (FONT, 21).into_font().style(FontStyle::Bold).color(&INK);
    root.draw(&Text::new(plot.title.clone(), (24, 16), title))?;
    let (_, body) = root.split_vertically(TITLE_HEIGHT);
    let mut images = Vec::new();
    for (panel, area) in plot.panels.iter().zip(body.split_evenly((grid, columns))) {
        if let Some(side) = panel.picture {
            draw_picture(panel, side, &area)?;
            images.extend(panel.image.as_ref().map(|image| PlacedImage::inside(image, free(&area))));
            continue;
        }
        let (chart, key) = area.split_vertically(PANEL_HEIGHT);
        draw_panel(panel, &chart)?;
        draw_legend(panel, &key, width as i32)?;
    }
    root.present()?;
    drop(body);
    Ok(images)
}

/// Where a picture has room, below its title and note: left, top, width and height.
fn free(area: &Area<'_>) -> [f64; 4] {
    let ((x, y), (width, height)) = (area.get_base_pixel(), area.dim_in_pixel());
    [f64::from(x) + 24.0, f64::from(y) + 54.0, f64::from(width) - 48.0, f64::from(height) - 62.0]
}

/// A picture of squares under its title. Colours go round the circle by the golden ratio, which keeps
/// any number of neighbours apart.
fn draw_picture(panel: &Panel, side: f64, area: &Area<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let (width, height) = area.dim_in_pixel();
    let title = (FONT, 16).into_font().color(&INK);
    area.draw(&Text::new(panel.title.clone(), (24, 8), title))?;
    let note = (FONT, 14).into_font().color(&GUIDE);
    area.draw(&Text::new(panel.x_label.clone(), (24, 30), note))?;
    let corners = || panel.faces.iter().flat_map(|f| f.corners.iter());
    let all = || panel.lines.iter().flat_map(|l| l.points.iter()).chain(corners());
    let (x, y) = (extent(all().map(|p| p.0), false, 0.0), extent(all().map(|p| p.1), false, 0.0));
    let (left, top, right, bottom) = (24.0, 62.0, f64::from(width) - 24.0, f64::from(height) - 16.0);
    let scale = ((right - left) / (x.1 - x.0 + side)).min((bottom - top) / (y.1 - y.0 + side));
    let middle = |range: (f64, f64)| 0.5 * (range.0 + range.1);
    let pixel = |px: f64, py: f64| {
        let across = 0.5 * (left + right) + (px - middle(x)) * scale;
        (across.round() as i32, (0.5 * (top + bottom) - (py - middle(y)) * scale).round() as i32)
    };
    for face in panel.faces.iter().filter(|f| f.corners.iter().all(|c| c.0.is_finite() && c.1.is_finite())) {
        let RGBColor(r, g, b) = PALETTE[face.color % PALETTE.len()];
        let [r, g, b] = [r, g, b].map(|v| lit(v, face.shade));
        let corners = face.corners.map(|c| pixel(c.0, c.1)).to_vec();
        area.draw(&Polygon::new(corners, RGBColor(r, g, b).filled()))?;
    }
    for (k, line) in panel.lines.iter().enumerate() {
        let color = HSLColor((k as f64 * 0.618_034).fract(), 0.55, [0.42, 0.56, 0.68][k % 3]);
        for &(px, py) in line.points.iter().filter(|p| p.0.is_finite() && p.1.is_finite()) {
            let corners = [pixel(px - 0.5 * side, py - 0.5 * side), pixel(px + 0.5 * side, py + 0.5 * side)];
            area.draw(&Rectangle::new(corners, color.filled()))?;
        }
    }
    Ok(())
}

/// A part of a colour under light: dark below a half, toward white above.
fn lit(part: u8, shade: f64) -> u8 {
    let part = f64::from(part);
    let value =
        if shade < 0.5 { part * (0.3 + 1.4 * shade) } else { part + (255.0 - part) * (shade - 0.5) * 1.4 };
    value.round().clamp(0.0, 255.0) as u8
}

/// Colour of each line: guides are grey, the others take the palette in turn.
fn colors(panel: &Panel) -> Vec<RGBColor> {
    let mut turn = 0;
    let color = |line: &Line| {
        if line.style == Style::Guide {
            return GUIDE;
        }
        turn += 1;
        PALETTE[(turn - 1) % PALETTE.len()]
    };
    panel.lines.iter().map(color).collect()
}

fn draw_panel(panel: &Panel, area: &Area<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let seen = |p: &&(f64, f64)| panel.view.is_none_or(|v| (v.0..=v.1).contains(&p.0));
    let all = || panel.lines.iter().flat_map(|l| l.points.iter()).filter(seen);
    let x = panel.view.unwrap_or_else(|| extent(all().map(|p| p.0), panel.x_log, 0.0));
    // Room above and below keeps lines off the frame.
    let y = extent(all().map(|p| p.1), panel.y_log, 0.06);
    let log = |range: (f64, f64)| {
        let (bold, light) = log_ticks(range.0, range.1);
        (range.0..range.1).log_scale().with_key_points(bold).with_light_points(light)
    };
    match (panel.x_log, panel.y_log) {
        (false, false) => draw_axes(panel, area, x.0..x.1, y.0..y.1),
        (false, true) => draw_axes(panel, area, x.0..x.1, log(y)),
        (true, false) => draw_axes(panel, area, log(x), y.0..y.1),
        (true, true) => draw_axes(panel, area, log(x), log(y)),
    }
}

/// Where a logarithmic axis has numbers, and where only lines: 1, 2, 5 of each decade if there are few
/// decades, otherwise powers of ten in steps that leave room for the numbers.
fn log_ticks(lo: f64, hi: f64) -> (Vec<f64>, Vec<f64>) {
    let (from, to) = (lo.log10().floor() as i32, hi.log10().ceil() as i32);
    let inside = |v: &f64| lo <= *v && *v <= hi;
    // Parsing the decimal is exact where multiplying powers is not.
    let at = |digit: u32, exponent: i32| format!("{digit}e{exponent}").parse().unwrap_or(f64::NAN);
    let decades = hi.log10() - lo.log10();
    let light = if decades > 8.0 {
        vec![]
    } else {
        (from..=to).flat_map(|e| (2..10).map(move |d| at(d, e))).filter(inside).collect()
    };
    let digits: &[u32] = match decades {
        d if d < 0.8 => &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        d if d < 3.2 => &[1, 2, 5],
        _ => &[1],
    };
    let step = (decades / 7.0).ceil().max(1.0) as i32;
    let exponents = (from..=to).filter(|e| e.rem_euclid(step) == 0);
    let bold = exponents.flat_map(|e| digits.iter().map(move |d| at(*d, e))).filter(inside).collect();
    (bold, light)
}

/// The range of an axis: what is drawn and `margin` (as a share) at both ends.
fn extent(values: impl Iterator<Item = f64>, log: bool, margin: f64) -> (f64, f64) {
    let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values.filter(usable).map(|v| if log { v.log10() } else { v }) {
        (lo, hi) = (lo.min(v), hi.max(v));
    }
    if lo > hi {
        (lo, hi) = (0.0, 1.0);
    }
    // A constant line still needs a range that shows it as one.
    let least = if log { 0.2 } else { 1e-9 * hi.abs().max(1e-3) };
    if hi - lo < least {
        (lo, hi) = (lo - least, hi + least);
    }
    let margin = margin * (hi - lo);
    (lo, hi) = (lo - margin, hi + margin);
    if log { (10f64.powf(lo), 10f64.powf(hi)) } else { (lo, hi) }
}

fn draw_axes<X, Y>(panel: &Panel, area: &Area<'_>, x: X, y: Y) -> Result<(), Box<dyn std::error::Error>>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    // Powers of ten on one axis all look alike: 0.01 beside 10⁻⁴ does not.
    let (x, y): (X::CoordDescType, Y::CoordDescType) = (x.into(), y.into());
    let powers = |range: std::ops::Range<f64>| range.start < 8e-4 || range.end > 2e4;
    let (x_powers, y_powers) = (powers(x.range()), powers(y.range()));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 16).into_font().color(&INK))
        .margin_left(10)
        .margin_right(26)
        .margin_top(2)
        .margin_bottom(2)
        .x_label_area_size(48)
        .y_label_area_size(76)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .x_labels(8)
        .y_labels(8)
        .max_light_lines(if panel.x_log || panel.y_log { 9 } else { 1 })
        .bold_line_style(RGBColor(214, 214, 214))
        .light_line_style(RGBColor(240, 240, 240))
        .axis_style(INK.stroke_width(1))
        .label_style((FONT, 14).into_font().color(&INK))
        .axis_desc_style((FONT, 15).into_font().color(&INK))
        .x_label_formatter(&|v| if panel.x_log { log_tick(*v, x_powers) } else { tick(*v) })
        .y_label_formatter(&|v| if panel.y_log { log_tick(*v, y_powers) } else { tick(*v) })
        .draw()?;
    let drawable = |p: &(f64, f64)| {
        panel.view.is_none_or(|v| (v.0..=v.1).contains(&p.0))
            && p.0.is_finite()
            && p.1.is_finite()
            && (!panel.x_log || p.0 > 0.0)
            && (!panel.y_log || p.1 > 0.0)
    };
    for (line, color) in panel.lines.iter().zip(colors(panel)) {
        let points: Vec<(f64, f64)> = line.points.iter().copied().filter(drawable).collect();
        let points = thinned(&points, MOST_POINTS);
        match line.style {
            Style::Solid => {
                chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
            }
            Style::Dashed => {
                chart.draw_series(DashedLineSeries::new(points, 8, 5, color.stroke_width(2)))?;
            }
            Style::Guide => {
                chart.draw_series(DashedLineSeries::new(points, 4, 4, color.stroke_width(1)))?;
            }
            Style::Marked => {
                chart.draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))?;
                chart.draw_series(points.into_iter().map(|p| Circle::new(p, 4, color.filled())))?;
            }
        }
    }
    Ok(())
}

/// Lowest and highest point of each of so many equal stretches.
fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretches = most / 2;
    let mut kept = Vec::with_capacity(most);
    for k in 0..stretches {
        let part = &points[k * points.len() / stretches..(k + 1) * points.len() / stretches];
        let lowest = (0..part.len()).min_by(|&a, &b| part[a].1.total_cmp(&part[b].1)).unwrap_or(0);
        let highest = (0..part.len()).max_by(|&a, &b| part[a].1.total_cmp(&part[b].1)).unwrap_or(0);
        kept.push(part[lowest.min(highest)]);
        if lowest != highest {
            kept.push(part[lowest.max(highest)]);
        }
    }
    kept
}

/// A tick's number: plain where short, otherwise with a power of ten.
fn tick(v: f64) -> String {
    let size = v.abs();
    // Sums of steps miss zero by rounding.
    if size < 1e-12 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        return scientific(v);
    }
    let text = format!("{v:.4}");
    text.trim_end_matches('0').trim_end_matches('.').replace('-', "−")
}

/// As [`tick`] for a logarithmic axis, plain or with powers of ten throughout.
fn log_tick(v: f64, powers: bool) -> String {
    if powers { scientific(v) } else { tick(v) }
}

fn scientific(v: f64) -> String {
    let text = format!("{v:.2e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let exponent: String = exponent.chars().map(superscript).collect();
    match digits.trim_end_matches('0').trim_end_matches('.') {
        "1" => format!("10{exponent}"),
        digits => format!("{}·10{exponent}", digits.replace('-', "−")),
    }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32('⁰' as u32 + (c as u32 - '0' as u32)).unwrap_or(c),
        c => c,
    }
}

/// Names longer than this need the whole width.
fn legend_columns(panel: &Panel) -> usize {
    if panel.lines.iter().all(|l| l.name.chars().count() <= 34) { 2 } else { 1 }
}

fn legend_rows(panel: &Panel) -> usize {
    panel.lines.len().div_ceil(legend_columns(panel))
}

fn draw_legend(panel: &Panel, area: &Area<'_>, width: i32) -> Result<(), Box<dyn std::error::Error>> {
    let columns = legend_columns(panel) as i32;
    let left = 92;
    let width = (width - left - 10) / columns;
    for (k, (line, color)) in panel.lines.iter().zip(colors(panel)).enumerate() {
        let (x, y) = (left + (k as i32 % columns) * width, 16 + (k as i32 / columns) * LEGEND_ROW as i32);
        let pieces: &[(i32, i32)] = match line.style {
            Style::Solid | Style::Marked => &[(0, 30)],
            Style::Dashed => &[(0, 8), (11, 19), (22, 30)],
            Style::Guide => &[(0, 4), (9, 13), (17, 21), (26, 30)],
        };
        let stroke = if line.style == Style::Guide { 1 } else { 2 };
        for &(from, to) in pieces {
            area.draw(&PathElement::new(vec![(x + from, y), (x + to, y)], color.stroke_width(stroke)))?;
        }
        if line.style == Style::Marked {
            area.draw(&Circle::new((x + 15, y), 4, color.filled()))?;
        }
        let style = (FONT, 14).into_font().color(&INK);
        area.draw(&Text::new(line.name.clone(), (x + 38, y - 7), style))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        for (v, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (1500.0, "1500"),
            (1e-10, "10⁻¹⁰"),
            (-2.5e7, "−2.5·10⁷"),
            (1e5, "10⁵"),
            (-0.5, "−0.5"),
        ] {
            assert_eq!(tick(v), text);
        }
    }

    #[test]
    fn logarithmic_axes_have_a_few_round_numbers() {
        for (lo, hi) in
            [(0.5, 1.6), (0.2, 3.0), (1.0, 100.0), (5e-4, 0.02), (1e-16, 1e-15), (1e-17, 0.3), (1e-9, 1e12)]
        {
            let (bold, light) = log_ticks(lo, hi);
            assert!((2..=10).contains(&bold.len()), "{lo}..{hi}: {bold:?}");
            assert!(bold.iter().chain(&light).all(|v| (lo..=hi).contains(v)), "{bold:?} {light:?}");
        }
        assert_eq!((log_tick(1e-4, true), log_tick(0.01, true)), ("10⁻⁴".into(), "10⁻²".into()));
        assert_eq!(log_tick(0.01, false), "0.01");
    }

    #[test]
    fn thinning_keeps_extremes() {
        let points: Vec<(f64, f64)> =
            (0..100_000).map(|i| (f64::from(i), if i == 77_777 { 9.0 } else { 0.0 })).collect();
        let few = thinned(&points, 1000);
        assert!(few.len() <= 1000 && few.iter().any(|p| p.1 == 9.0));
        assert!(few.windows(2).all(|w| w[0].0 < w[1].0));
    }

    #[test]
    fn empty_constant_and_infinite_data_can_be_drawn() {
        for points in
            [vec![], vec![(0.0, 1.0), (1.0, 1.0)], vec![(0.0, f64::NAN), (1.0, 0.0), (2.0, f64::INFINITY)]]
        {
            for log in [false, true] {
                let mut panel = Panel::new("p", "x", "y").line("a", Style::Marked, points.clone());
                (panel.x_log, panel.y_log) = (log, log);
                let text = svg(&Plot { title: "t <&>".into(), panels: vec![panel] }).unwrap();
                assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
            }
        }
    }
}
