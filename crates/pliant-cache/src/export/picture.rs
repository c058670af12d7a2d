//! Pictures: `.gif` and `.apng` are animations in real time, `.png` is a contact sheet, `####.png` a picture of each frame.
//!
//! The camera is fitted to what the bodies cover over all frames, or follows them smoothly, and the scale of colours is
//! fitted to the values they reach, so that neither jumps while the animation plays.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;

use super::sequence::{is_pattern, numbered};
use super::{ExportOptions, ExportSummary, Progress, check_body, chosen};
use crate::atomic::AtomicFile;
use crate::export::Footage;
use crate::render::{
    Camera, CameraPath, ColorMap, Colors, GifError, Image, Item, Look, Plane, Settings, Survey, busy_frames,
    categorical, contact_sheet, draw_legend, draw_text, encode_png, frame_stride, map_colors,
    neighbour_colors, render, round_spacing, sheet_frames, text_size, write_png_by,
};
use crate::{CacheError, ColorBy, LogBody, LogFrame, LogPicture, LogPlane, LogSolid};

/// How many times as large as the largest body a collider may be and still be all in the picture.
const MUCH_LARGER: f64 = 6.0;
/// Frames looked at to place the camera; more would only cost time, motion between them is small.
const SURVEYED: usize = 240;
/// Tiles of a contact sheet, and how many in a row.
const TILES: (usize, usize) = (12, 4);
/// Frames of a run up to which the busiest are looked for.
const CHOSEN_FROM: usize = 2000;
/// Bodies of which each is named in the picture: one needs no name, and many names would hide what they name.
const NAMED: std::ops::RangeInclusive<usize> = 2..=8;
/// How many frames the writer of animations looks at before the first.
const PALETTE_FRAMES: usize = 6;
/// Sides of a picture in pixels that make sense.
const SIDES: std::ops::RangeInclusive<u32> = 16..=8192;

pub(super) fn write_gif(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let selected = options.frames.positions(reader)?;
    let fps = reader.frames_per_second() / f64::from(options.frames.step.max(1));
    let (stride, _) = frame_stride(fps);
    let frames: Vec<usize> = selected.iter().copied().step_by(stride).collect();
    let mut studio = Studio::new(reader, options, &selected, false)?;
    let mut file = AtomicFile::create(path)?;
    let mut done = 0;
    // The writer asks for a few frames ahead to choose the palette, then for all of them: draw each once.
    let mut ahead = BTreeMap::new();
    let bytes = crate::render::write_gif(Vec::new(), frames.len(), stride as f64 / fps, |i| {
        if let Some(image) = ahead.remove(&i) {
            return Ok(image);
        }
        let image = studio.draw(frames[i], options.threads)?;
        done += 1;
        progress(done, frames.len());
        if done <= PALETTE_FRAMES {
            ahead.insert(i, image.clone());
        }
        Ok::<_, Failure>(image)
    })
    .map_err(|e| e.into_error(path))?;
    file.put(&bytes)?;
    Ok(summary(path, frames.len(), file.commit()?))
}

pub(super) fn write_png(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    if is_pattern(path) {
        return write_sequence(reader, path, options, progress);
    }
    let selected = options.frames.positions(reader)?;
    let mut studio = Studio::new(reader, options, &selected, true)?;
    let shown = busy_frames(&changes(reader, &selected)?, TILES.0);
    let mut file = AtomicFile::create(path)?;
    let mut tiles = Vec::with_capacity(shown.len());
    for &k in &shown {
        let time = reader.frame_time(selected[k]).unwrap_or(0.0);
        tiles.push((time, studio.draw(selected[k], options.threads)?));
        progress(tiles.len(), shown.len());
    }
    let sheet = contact_sheet(&tiles, TILES.1.min(tiles.len()));
    let bytes = encode_png(&sheet).map_err(|e| CacheError::io(path, "encode the picture", e))?;
    file.put(&bytes)?;
    Ok(summary(path, shown.len(), file.commit()?))
}

/// A picture of each frame.
fn write_sequence(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let selected = options.frames.positions(reader)?;
    let mut studio = Studio::new(reader, options, &selected, true)?;
    let mut done = ExportSummary {
        path: numbered(path, reader.frame_index(selected[0]).unwrap_or(0)),
        files: 0,
        frames: selected.len(),
        vertices: 0,
        bytes: 0,
    };
    for &k in &selected {
        let mut file = AtomicFile::create(&numbered(path, reader.frame_index(k).unwrap_or(0)))?;
        let mut bytes = Vec::new();
        write_png_by(&studio.draw(k, options.threads)?, Some(&reader.header().program), &mut bytes)
            .map_err(|e| CacheError::io(path, "encode the picture", e))?;
        file.put(&bytes)?;
        done.bytes += file.commit_one_of_many()?;
        done.files += 1;
        progress(done.files, selected.len());
    }
    Ok(done)
}

/// Most pictures a second of an animated PNG that does not ask for a rate: more doubles its size and is hardly seen.
const SMOOTH: f64 = 30.0;

pub(super) fn write_apng(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let selected = options.frames.positions(reader)?;
    let fps = reader.frames_per_second() / f64::from(options.frames.step.max(1));
    // A rate that was asked for is kept.
    let stride = match options.frames_per_second {
        Some(_) => 1,
        None => (fps / SMOOTH - 1e-9).ceil().max(1.0) as usize,
    };
    let frames: Vec<usize> = selected.iter().copied().step_by(stride).collect();
    let mut studio = Studio::new(reader, options, &selected, true)?;
    let mut file = AtomicFile::create(path)?;
    let mut bytes = Vec::new();
    crate::render::write_apng(&mut bytes, frames.len(), stride as f64 / fps, |i| {
        let image = studio.draw(frames[i], options.threads)?;
        progress(i + 1, frames.len());
        Ok::<_, Failure>(image)
    })
    .map_err(|e| e.into_error(path))?;
    file.put(&bytes)?;
    Ok(summary(path, frames.len(), file.commit()?))
}

/// How much the motion changes up to each frame: the mean change of the particles' steps, per frame. Falling
/// freely adds little, an impact much.
fn changes(reader: &Footage<'_>, selected: &[usize]) -> Result<Vec<f64>, CacheError> {
    // Short runs and very long ones are spread evenly: the one needs no choice, the other would be read twice.
    if selected.len() <= TILES.0 || selected.len() > CHOSEN_FROM {
        return Ok(vec![0.0; selected.len()]);
    }
    let mut changes = Vec::with_capacity(selected.len());
    let mut before: Vec<DVec3> = Vec::new();
    let mut step: Vec<DVec3> = Vec::new();
    let mut epoch = None;
    for &k in selected {
        // Of other bodies nothing is compared.
        if epoch.replace(reader.epoch_of(k)) != Some(reader.epoch_of(k)) {
            (before, step) = Default::default();
        }
        let [x, y, z] = reader.frame(k)?.positions;
        let now: Vec<DVec3> = x.iter().zip(&y).zip(&z).map(|((x, y), z)| DVec3::new(*x, *y, *z)).collect();
        let mut sum = 0.0;
        let moved: Vec<DVec3> = now.iter().zip(&before).map(|(a, b)| *a - *b).collect();
        for (new, old) in moved.iter().zip(&step) {
            sum += (*new - *old).length();
        }
        changes.push(sum / now.len().max(1) as f64);
        step = moved;
        before = now;
    }
    Ok(changes)
}

fn summary(path: &Path, frames: usize, bytes: u64) -> ExportSummary {
    ExportSummary { path: path.to_path_buf(), files: 1, frames, vertices: 0, bytes }
}

/// Either side of drawing and encoding may fail.
enum Failure {
    Gif(GifError),
    Cache(CacheError),
}

impl From<GifError> for Failure {
    fn from(e: GifError) -> Self {
        Failure::Gif(e)
    }
}

impl From<std::io::Error> for Failure {
    fn from(e: std::io::Error) -> Self {
        Failure::Gif(GifError::Io(e))
    }
}

impl From<CacheError> for Failure {
    fn from(e: CacheError) -> Self {
        Failure::Cache(e)
    }
}

impl Failure {
    fn into_error(self, path: &Path) -> CacheError {
        match self {
            Failure::Cache(e) => e,
            Failure::Gif(GifError::Io(e)) => CacheError::io(path, "write the animation", e),
            Failure::Gif(e) => CacheError::invalid(
                path.display().to_string(),
                e.to_string(),
                "choose another size of the picture",
            ),
        }
    }
}

/// Everything that stays the same from picture to picture.
struct Studio<'a> {
    reader: &'a Footage<'a>,
    options: &'a ExportOptions,
    /// The bodies of the epoch that was last drawn.
    epoch: usize,
    bodies: Vec<Sitter<'a>>,
    planes: Vec<Plane>,
    path: CameraPath,
    settings: Settings,
    picture: LogPicture,
    /// Smallest and largest value of the colour scale.
    range: (f64, f64),
    /// Whether bodies have their names written over them.
    named: bool,
}

/// A body and what is needed to draw it.
struct Sitter<'a> {
    body: &'a LogBody,
    /// Radius of the balls of a point cloud.
    radius: f64,
    /// Colour of each vertex where it does not change over time.
    fixed: Vec<[f32; 3]>,
    vertices: Vec<DVec3>,
    colors: Vec<[f32; 3]>,
}

impl<'a> Studio<'a> {
    fn new(
        reader: &'a Footage<'a>,
        options: &'a ExportOptions,
        selected: &[usize],
        dither: bool,
    ) -> Result<Studio<'a>, CacheError> {
        check_body(reader, options)?;
        let picture = checked_picture(reader, options)?;
        let mut bodies: Vec<Sitter> = Vec::new();
        let aspect = f64::from(picture.width) / f64::from(picture.height);
        let mut survey = Survey::new(aspect, picture.azimuth, picture.elevation);
        let mut top = 0.0f64;
        let mut epoch = None;
        let surveyed = sheet_frames(selected.len(), SURVEYED);
        let mut epochs: Vec<usize> = surveyed.iter().map(|&k| reader.epoch_of(selected[k])).collect();
        epochs.dedup();
        let all = epochs.iter().flat_map(|&e| &reader.log().epochs()[e].bodies);
        let only_props = all.filter(|b| chosen(b, options)).all(|b| b.look == Look::Prop);
        for k in surveyed {
            let frame = reader.frame(selected[k])?;
            if epoch.replace(reader.epoch_of(selected[k])) != Some(reader.epoch_of(selected[k])) {
                bodies = sitters(reader, options, selected[k], picture.color_by, bodies);
            }
            for sitter in &mut bodies {
                sitter.pose(&frame);
                if only_props || !sitter.is_prop() {
                    survey.body(&sitter.vertices, sitter.radius);
                }
                top = top.max(high_value(&sitter.particle_values(&frame, picture.color_by)));
            }
            survey_solids(&mut survey, reader, &frame);
            survey.moment(frame.time);
        }
        let path = survey.path(picture.camera);
        let settings = Settings {
            dither,
            // The same lines all the time, however near the camera comes.
            grid: Some(round_spacing(path.radius())),
            ..Settings::sized(picture.width, picture.height)
        };
        let mut start = 0.0;
        if let Some(first) = selected.first() {
            let frame = reader.frame(*first)?;
            bodies = sitters(reader, options, *first, picture.color_by, bodies);
            bodies.iter_mut().for_each(|sitter| sitter.pose(&frame));
            start = frame.time;
        }
        let named = names_fit(&bodies, &path.at(start), &settings);
        Ok(Studio {
            reader,
            options,
            epoch: selected.first().map_or(0, |&first| reader.epoch_of(first)),
            bodies,
            planes: planes(&reader.header().planes),
            path,
            settings,
            named,
            picture,
            range: (0.0, if top > 0.0 { top } else { 1.0 }),
        })
    }

    /// Draws the frame of this place in the log.
    fn draw(&mut self, place: usize, threads: usize) -> Result<Image, CacheError> {
        let frame = &self.reader.frame(place)?;
        let by = self.picture.color_by;
        if self.epoch != self.reader.epoch_of(place) {
            self.epoch = self.reader.epoch_of(place);
            let before = std::mem::take(&mut self.bodies);
            self.bodies = sitters(self.reader, self.options, place, by, before);
        }
        let (map, label) = match by {
            ColorBy::Speed => (ColorMap::Plasma, "speed, m/s"),
            _ => (ColorMap::Viridis, "strain"),
        };
        for sitter in &mut self.bodies {
            sitter.pose(frame);
            sitter.paint(frame, by, self.range, map);
        }
        let mut items: Vec<Item> = self.bodies.iter().map(|s| s.item(by)).collect();
        let header = self.reader.header();
        let solids: Vec<(&LogSolid, Vec<DVec3>)> = frame
            .solids
            .iter()
            .filter_map(|place| {
                let solid = header.solids.iter().find(|s| s.id == place.id)?;
                Some((solid, place.shown(&solid.mesh)))
            })
            .collect();
        items.extend(solids.iter().map(|(solid, vertices)| Item::Mesh {
            positions: vertices,
            triangles: &solid.mesh.triangles,
            colors: Colors::Uniform(solid.color.map(srgb)),
            look: Look::Prop,
        }));
        let settings = Settings { threads, ..self.settings };
        let camera = self.path.at(frame.time);
        let planes = frame.planes.as_deref().map(planes);
        let mut image = render(&items, planes.as_ref().unwrap_or(&self.planes), &camera, &settings);
        if self.named {
            for sitter in self.bodies.iter().filter(|sitter| !sitter.is_prop()) {
                if let Some([left, top, ..]) = sitter.label(&camera, &settings) {
                    let scale = label_scale(&settings);
                    draw_text(&mut image, left, top, &sitter.body.name, scale, [60, 66, 80], 0.85);
                }
            }
        }
        if matches!(by, ColorBy::Speed | ColorBy::Strain) {
            draw_legend(&mut image, map, self.range, label);
        }
        Ok(image)
    }
}

/// Colliders that are not much larger than the bodies are to be seen too; a hall they fall in is not.
fn survey_solids(survey: &mut Survey, reader: &Footage<'_>, frame: &LogFrame) {
    let bounds = |points: &[DVec3]| Camera::bounds(points);
    let span = |(low, high): (DVec3, DVec3)| (high - low).length();
    let bodies = || reader.header().bodies.iter();
    let largest = bodies().map(|b| span(bounds(&b.mesh.positions))).fold(0.0, f64::max);
    for place in &frame.solids {
        let Some(solid) = reader.header().solids.iter().find(|s| s.id == place.id) else { continue };
        let (low, high) = bounds(&place.shown(&solid.mesh));
        if span((low, high)) <= MUCH_LARGER * largest {
            let corner = |k: u32| DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), high, low);
            survey.body(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner), 0.0);
        }
    }
}

/// The bodies of a frame; what was prepared for those that were there before is kept.
fn sitters<'a>(
    reader: &'a Footage<'a>,
    options: &ExportOptions,
    place: usize,
    by: ColorBy,
    before: Vec<Sitter<'a>>,
) -> Vec<Sitter<'a>> {
    let mut before = before.into_iter().peekable();
    let bodies = reader.bodies_at(place).iter().filter(|b| chosen(b, options));
    let one = |body: &'a LogBody| {
        while before.next_if(|old| old.body.id < body.id).is_some() {}
        let known = before.next_if(|old| (old.body.id, old.body.version) == (body.id, body.version));
        match known {
            Some(known) => Sitter { body, ..known },
            None => Sitter::new(body, by),
        }
    };
    bodies.map(one).collect()
}

impl<'a> Sitter<'a> {
    fn new(body: &'a LogBody, by: ColorBy) -> Sitter<'a> {
        let thick = if is_thread(body) { THREAD } else { BALL };
        Sitter {
            radius: if body.is_point_cloud() { thick * spacing(&body.mesh.positions) } else { 0.0 },
            fixed: if by == ColorBy::Cluster { cluster_colors(body) } else { Vec::new() },
            vertices: Vec::new(),
            colors: Vec::new(),
            body,
        }
    }

    fn is_thread(&self) -> bool {
        is_thread(self.body)
    }

    fn is_prop(&self) -> bool {
        self.body.look == Look::Prop
    }

    fn pose(&mut self, frame: &LogFrame) {
        self.body.vertices(frame, &mut self.vertices);
    }

    /// The values shown, one for each particle of the body; empty where there is nothing to show.
    fn particle_values<'f>(&self, frame: &'f LogFrame, by: ColorBy) -> Cow<'f, [f32]> {
        let range = self.body.particles.start as usize..self.body.particles.end as usize;
        match by {
            ColorBy::Strain => Cow::Borrowed(frame.strain.get(range).unwrap_or(&[])),
            ColorBy::Speed => frame.speeds(range),
            ColorBy::Body | ColorBy::Cluster => Cow::Borrowed(&[]),
        }
    }

    fn paint(&mut self, frame: &LogFrame, by: ColorBy, range: (f64, f64), map: ColorMap) {
        let values = self.particle_values(frame, by);
        if values.is_empty() {
            return;
        }
        let mixed = self.body.skin.mix(&values);
        self.colors = map_colors(&mixed, range, map);
    }

    /// Where the body's name stands, over the body as it appears in the picture: left, top, width and height.
    fn label(&self, camera: &Camera, settings: &Settings) -> Option<[i64; 4]> {
        if self.vertices.is_empty() {
            return None;
        }
        let (low, high) = Camera::bounds(&self.vertices);
        let top = DVec3::new(0.5 * (low.x + high.x), high.y, 0.5 * (low.z + high.z));
        let project = camera.projection(settings);
        let (x, mut y) = project(top)?;
        for vertex in &self.vertices {
            y = project(*vertex).map_or(y, |p| y.min(p.1));
        }
        let (width, height) = text_size(&self.body.name, label_scale(settings));
        let left = (x - 0.5 * f64::from(width)).round() as i64;
        let top = (y - 1.6 * f64::from(height)).round() as i64;
        // Inside the picture as far as it fits.
        let left = left.min(i64::from(settings.width) - i64::from(width) - 2).max(2);
        let top = top.min(i64::from(settings.height) - i64::from(height) - 2).max(2);
        Some([left, top, i64::from(width), i64::from(height)])
    }

    fn item(&self, by: ColorBy) -> Item<'_> {
        let own = self.body.color.map(srgb);
        let colors = match by {
            ColorBy::Cluster if !self.fixed.is_empty() => Colors::PerVertex(&self.fixed),
            ColorBy::Strain | ColorBy::Speed if !self.colors.is_empty() => Colors::PerVertex(&self.colors),
            _ => Colors::Uniform(own),
        };
        if self.is_thread() {
            let segments = &self.body.simulated.edges;
            return Item::Lines { positions: &self.vertices, segments, radius: self.radius, colors };
        }
        if self.body.is_point_cloud() {
            return Item::Points { positions: &self.vertices, radius: self.radius, colors };
        }
        Item::Mesh {
            positions: &self.vertices,
            triangles: &self.body.mesh.triangles,
            colors,
            // Gelatine mixes its colour with what is behind: wrong for colours that are to be read off.
            look: match (by, self.body.look) {
                (ColorBy::Body, look) => look,
                (_, Look::Cloth) => Look::Cloth,
                _ => Look::Matte,
            },
        }
    }
}

/// Pixels for a dot of a name's letters.
fn label_scale(settings: &Settings) -> u32 {
    ((settings.height + 60) / 180).max(1)
}

/// Whether there are bodies to name, and none of their names begins on top of another.
fn names_fit(bodies: &[Sitter], camera: &Camera, settings: &Settings) -> bool {
    let bodies = bodies.iter().filter(|sitter| !sitter.is_prop());
    let places: Vec<[i64; 4]> = bodies.clone().filter_map(|sitter| sitter.label(camera, settings)).collect();
    let apart =
        |[x, y, w, h]: [i64; 4], [u, v, a, b]: [i64; 4]| x + w < u || u + a < x || y + h < v || v + b < y;
    NAMED.contains(&bodies.count())
        && places.iter().enumerate().all(|(k, one)| places[..k].iter().all(|other| apart(*one, *other)))
}

/// Radius of the balls of a point cloud and of a thread, in distances between particles.
const BALL: f64 = 0.45;
const THREAD: f64 = 0.15;

/// Whether a body without a surface is lines of particles, each with two neighbours at most.
fn is_thread(body: &LogBody) -> bool {
    let count = body.mesh.positions.len();
    let mut neighbours = vec![0; count];
    for i in body.simulated.edges.iter().flatten() {
        match neighbours.get_mut(*i as usize) {
            Some(n) => *n += 1,
            None => return false,
        }
    }
    body.is_point_cloud() && !body.simulated.edges.is_empty() && neighbours.iter().all(|n| *n <= 2)
}

/// What the log says, changed by the options, refused where it makes no picture.
fn checked_picture(reader: &Footage<'_>, options: &ExportOptions) -> Result<LogPicture, CacheError> {
    let own = reader.header().picture;
    let picture = LogPicture {
        width: options.width.unwrap_or(own.width),
        height: options.height.unwrap_or(own.height),
        color_by: options.color_by.unwrap_or(own.color_by),
        azimuth: options.azimuth.unwrap_or(own.azimuth),
        elevation: options.elevation.unwrap_or(own.elevation),
        camera: options.camera.unwrap_or(own.camera),
    };
    let refuse = |why: String, remedy: &str| Err(CacheError::invalid("picture", why, remedy));
    if !SIDES.contains(&picture.width) || !SIDES.contains(&picture.height) {
        return refuse(
            format!("a size of {}x{} pixels", picture.width, picture.height),
            "each side can be 16 to 8192 pixels",
        );
    }
    if !picture.azimuth.is_finite() || !(-89.0..=89.0).contains(&picture.elevation) {
        return refuse(
            format!("the camera's azimuth is {}, its elevation {}", picture.azimuth, picture.elevation),
            "give finite degrees, the elevation between -89 and 89",
        );
    }
    Ok(picture)
}

/// The value that all but the highest percent stay below: a few wild particles do not turn the rest dark.
fn high_value(values: &[f32]) -> f64 {
    let mut finite: Vec<f32> = values.iter().copied().filter(|v| v.is_finite()).collect();
    if finite.is_empty() {
        return 0.0;
    }
    let at = (finite.len() - 1) * 99 / 100;
    let (_, value, _) = finite.select_nth_unstable_by(at, f32::total_cmp);
    f64::from(*value)
}

/// Typical distance between neighbours of a point cloud, from a sample.
fn spacing(points: &[DVec3]) -> f64 {
    let sample = sheet_frames(points.len(), 64);
    let mut nearest: Vec<f64> = sample
        .into_iter()
        .map(|i| {
            let others = points.iter().enumerate().filter(|(j, _)| *j != i);
            others.map(|(_, p)| p.distance(points[i])).fold(f64::INFINITY, f64::min)
        })
        .filter(|d| d.is_finite() && *d > 0.0)
        .collect();
    nearest.sort_unstable_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).copied().unwrap_or(0.05)
}

/// The colour of each vertex's nearest cluster; clusters that meet on the surface get different ones.
fn cluster_colors(body: &LogBody) -> Vec<[f32; 3]> {
    if body.cluster.is_empty() {
        return Vec::new();
    }
    let cluster_of = |i: Option<u32>| i.map_or(0, |i| body.cluster[i as usize]);
    let of: Vec<u32> = body.skin.strongest().into_iter().map(cluster_of).collect();
    // Numbered anew: the log may count clusters through all bodies.
    let mut used = of.clone();
    used.sort_unstable();
    used.dedup();
    let of: Vec<u32> = of.iter().map(|c| used.partition_point(|u| u < c) as u32).collect();
    let mut borders: Vec<[u32; 2]> = body
        .mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|e| e.map(|v| of[v as usize]))
        .filter(|[a, b]| a != b)
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    borders.sort_unstable();
    borders.dedup();
    let colors = neighbour_colors(used.len(), &borders);
    of.iter().map(|&c| categorical(colors[c as usize])).collect()
}

/// The number a colour picker shows for linear light.
pub(super) fn srgb(linear: f32) -> f32 {
    let c = linear.clamp(0.0, 1.0);
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// The planes of a log as they are drawn.
fn planes(of: &[LogPlane]) -> Vec<Plane> {
    of.iter().map(|p| Plane { normal: p.normal, offset: p.offset }).collect()
}
