//! Pictures: `.gif` and `.apng` are animations in real time, `.png` is a contact sheet, `####.png` a picture of each frame.
//!
//! The camera is fitted to what the bodies cover over all frames, or follows them smoothly, and the scale of colours is
//! fitted to the values they reach, so that neither jumps while the animation plays.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use glam::DVec3;

use super::sequence::{is_pattern, numbered};
use super::sink::Needs;
use super::stream::{Posed, PosedBody, Stream};
use super::{ExportOptions, ExportSummary, chosen};
use crate::atomic::AtomicFile;
use crate::export::Footage;
use crate::render::{
    Camera, CameraPath, ColorMap, Colors, GifError, Image, Item, Look, Settings, Survey, busy_frames,
    categorical, contact_sheet, draw_legend, draw_text, encode_png, frame_stride, map_colors,
    neighbour_colors, render, round_spacing, sheet_frames, text_size, write_png_by,
};
use crate::{CacheError, ColorBy, LogBody, LogFrame, LogSolid, OutputFolder, PictureSettings};

/// What pictures need of a frame.
pub(super) const SKIN: Needs = Needs { skin: true, normals: false };
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

/// A kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picture {
    /// An animation in few colours.
    Gif,
    /// An animation in all colours.
    Apng,
    /// A contact sheet, or a picture of each frame.
    Png,
}

/// What a picture file is made of: shared with all others of the same frames.
pub(super) struct Shoot<'a> {
    pub reader: &'a Footage<'a>,
    pub stream: &'a Stream<'a>,
    pub options: &'a ExportOptions,
    pub folder: &'a dyn OutputFolder,
    /// Frames that are already skinned, by their place.
    pub kept: &'a HashMap<usize, Arc<Posed>>,
}

impl Picture {
    /// Places of the frames that are drawn, as far as that is known before they were looked at, and how many there will be.
    pub fn frames(self, path: &Path, reader: &Footage<'_>, options: &ExportOptions, all: &[usize]) -> Drawn {
        let stride = match self {
            Picture::Gif => frame_stride(rate(reader, options)).0,
            // A rate that was asked for is kept.
            Picture::Apng if options.frames_per_second.is_some() => 1,
            Picture::Apng => (rate(reader, options) / SMOOTH - 1e-9).ceil().max(1.0) as usize,
            Picture::Png if is_pattern(path) => 1,
            Picture::Png => return Drawn { places: Vec::new(), count: all.len().min(TILES.0), stride: 1 },
        };
        let places: Vec<usize> = all.iter().copied().step_by(stride).collect();
        Drawn { count: places.len(), places, stride }
    }

    /// Whether the frames it shows are chosen by how much happens in them.
    pub fn is_sheet(self, path: &Path) -> bool {
        self == Picture::Png && !is_pattern(path)
    }

    /// Draws and writes the file. `step` is called with each frame drawn.
    pub fn write(
        self,
        path: &Path,
        shoot: &Shoot<'_>,
        seen: &Seen,
        step: &mut dyn FnMut(),
    ) -> Result<ExportSummary, CacheError> {
        let drawn = self.frames(path, shoot.reader, shoot.options, &shoot.stream.frames);
        let seconds = drawn.stride as f64 / rate(shoot.reader, shoot.options);
        let mut studio = Studio::new(shoot, seen, self != Picture::Gif);
        match self {
            Picture::Gif => write_gif(path, &mut studio, &drawn.places, seconds, step),
            Picture::Apng => write_apng(path, &mut studio, &drawn.places, seconds, step),
            Picture::Png if is_pattern(path) => write_sequence(path, &mut studio, &drawn.places, step),
            Picture::Png => write_sheet(path, &mut studio, seen, step),
        }
    }
}

/// The frames of a picture file.
pub(super) struct Drawn {
    pub places: Vec<usize>,
    pub count: usize,
    /// Every how many frames.
    stride: usize,
}

/// Frames a second of what was chosen.
fn rate(reader: &Footage<'_>, options: &ExportOptions) -> f64 {
    reader.frames_per_second() / f64::from(options.frames.step.max(1))
}

/// Most pictures a second of an animated PNG that does not ask for a rate: more doubles its size and is hardly seen.
const SMOOTH: f64 = 30.0;

fn write_gif(
    path: &Path,
    studio: &mut Studio<'_>,
    frames: &[usize],
    seconds: f64,
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let mut file = AtomicFile::create(studio.shoot.folder, path)?;
    let mut done = 0;
    // The writer asks for a few frames ahead to choose the palette, then for all of them: draw each once.
    let mut ahead = BTreeMap::new();
    let bytes = crate::render::write_gif(Vec::new(), frames.len(), seconds, |i| {
        if let Some(image) = ahead.remove(&i) {
            return Ok(image);
        }
        let image = studio.draw(frames[i])?;
        done += 1;
        step();
        if done <= PALETTE_FRAMES {
            ahead.insert(i, image.clone());
        }
        Ok::<_, Failure>(image)
    })
    .map_err(|e| e.into_error(path))?;
    file.put(&bytes)?;
    Ok(summary(path, frames.len(), file.commit()?))
}

fn write_apng(
    path: &Path,
    studio: &mut Studio<'_>,
    frames: &[usize],
    seconds: f64,
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let mut file = AtomicFile::create(studio.shoot.folder, path)?;
    let mut bytes = Vec::new();
    crate::render::write_apng(&mut bytes, frames.len(), seconds, |i| {
        let image = studio.draw(frames[i])?;
        step();
        Ok::<_, Failure>(image)
    })
    .map_err(|e| e.into_error(path))?;
    file.put(&bytes)?;
    Ok(summary(path, frames.len(), file.commit()?))
}

fn write_sheet(
    path: &Path,
    studio: &mut Studio<'_>,
    seen: &Seen,
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let (reader, selected) = (studio.shoot.reader, &studio.shoot.stream.frames);
    let shown = busy_frames(&seen.changes, TILES.0);
    let mut file = AtomicFile::create(studio.shoot.folder, path)?;
    let mut tiles = Vec::with_capacity(shown.len());
    for &k in &shown {
        let time = reader.frame_time(selected[k]).unwrap_or(0.0);
        tiles.push((time, studio.draw(selected[k])?));
        step();
    }
    let sheet = contact_sheet(&tiles, TILES.1.min(tiles.len()));
    let bytes = encode_png(&sheet).map_err(|e| CacheError::io(path, "encode the picture", e))?;
    file.put(&bytes)?;
    Ok(summary(path, shown.len(), file.commit()?))
}

/// A picture of each frame.
fn write_sequence(
    path: &Path,
    studio: &mut Studio<'_>,
    frames: &[usize],
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let Shoot { reader, folder, .. } = *studio.shoot;
    let number = |k: usize| reader.frame_index(k).unwrap_or(0);
    let mut done = summary(&numbered(path, number(frames[0])), frames.len(), 0);
    done.files = 0;
    for &k in frames {
        let mut file = AtomicFile::create(folder, &numbered(path, number(k)))?;
        let mut bytes = Vec::new();
        write_png_by(&studio.draw(k)?, Some(&reader.header().program), &mut bytes)
            .map_err(|e| CacheError::io(path, "encode the picture", e))?;
        file.put(&bytes)?;
        done.bytes += file.commit_one_of_many()?;
        done.files += 1;
        step();
    }
    Ok(done)
}

/// How much the motion changes up to each frame: the mean change of the particles' steps, per frame. Falling
/// freely adds little, an impact much.
#[derive(Default)]
struct Changes {
    all: Vec<f64>,
    before: Vec<DVec3>,
    step: Vec<DVec3>,
    epoch: Option<usize>,
}

impl Changes {
    fn take(&mut self, frame: &LogFrame, epoch: usize) {
        // Of other bodies nothing is compared.
        if self.epoch.replace(epoch) != Some(epoch) {
            (self.before, self.step) = Default::default();
        }
        let [x, y, z] = &frame.positions;
        let now: Vec<DVec3> = x.iter().zip(y).zip(z).map(|((x, y), z)| DVec3::new(*x, *y, *z)).collect();
        let mut sum = 0.0;
        let moved: Vec<DVec3> = now.iter().zip(&self.before).map(|(a, b)| *a - *b).collect();
        for (new, old) in moved.iter().zip(&self.step) {
            sum += (*new - *old).length();
        }
        self.all.push(sum / now.len().max(1) as f64);
        (self.step, self.before) = (moved, now);
    }
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
    shoot: &'a Shoot<'a>,
    seen: &'a Seen,
    /// The bodies of the epoch that was last drawn.
    epoch: Option<usize>,
    bodies: Vec<Sitter<'a>>,
    settings: Settings,
}

/// What is known of all frames before the first is drawn.
pub(super) struct Seen {
    path: CameraPath,
    settings: Settings,
    picture: PictureSettings,
    /// Smallest and largest value of the colour scale.
    range: (f64, f64),
    /// Whether bodies have their names written over them.
    named: bool,
    /// See [`Changes`]; for contact sheets.
    changes: Vec<f64>,
}

/// Looks at frames as they go by, in order.
pub(super) struct Surveyor<'a> {
    reader: &'a Footage<'a>,
    stream: &'a Stream<'a>,
    options: &'a ExportOptions,
    picture: PictureSettings,
    survey: Survey,
    /// Largest value of what colours show.
    top: f64,
    only_props: bool,
    /// Which of the chosen frames are looked at, those that are yet to come.
    surveyed: VecDeque<usize>,
    epoch: Option<usize>,
    bodies: Vec<Sitter<'a>>,
    first: Option<Arc<Posed>>,
    /// Where a contact sheet is wanted of neither few nor very many frames.
    changes: Option<Changes>,
}

impl<'a> Surveyor<'a> {
    pub fn new(
        reader: &'a Footage<'a>,
        stream: &'a Stream<'a>,
        options: &'a ExportOptions,
        sheet: bool,
    ) -> Result<Surveyor<'a>, CacheError> {
        let picture = checked_picture(reader, options)?;
        let aspect = f64::from(picture.width) / f64::from(picture.height);
        let count = stream.frames.len();
        let surveyed = sheet_frames(count, SURVEYED);
        let mut epochs: Vec<usize> = surveyed.iter().map(|&k| reader.epoch_of(stream.frames[k])).collect();
        epochs.dedup();
        let all = epochs.iter().flat_map(|&e| &reader.log().epochs()[e].bodies);
        let only_props = all.filter(|b| chosen(b, options)).all(|b| b.look == Look::Prop);
        // Short runs and very long ones are spread evenly: the one needs no choice, the other would take too long.
        let choose = sheet && count > TILES.0 && count <= CHOSEN_FROM;
        Ok(Surveyor {
            reader,
            stream,
            options,
            picture,
            survey: Survey::new(aspect, picture.azimuth, picture.elevation),
            top: 0.0,
            only_props,
            surveyed: surveyed.into(),
            epoch: None,
            bodies: Vec::new(),
            first: None,
            changes: choose.then(Changes::default),
        })
    }

    /// Places of the frames it has to see.
    pub fn places(&self) -> Vec<usize> {
        match self.changes {
            Some(_) => self.stream.frames.clone(),
            None => self.surveyed.iter().map(|&k| self.stream.frames[k]).collect(),
        }
    }

    /// Takes a frame; those that it does not have to see are passed over.
    pub fn take(&mut self, posed: &Arc<Posed>) {
        let epoch = self.reader.epoch_of(posed.place);
        if let Some(changes) = &mut self.changes {
            changes.take(&posed.frame, epoch);
        }
        if self.surveyed.front() != Some(&posed.among) {
            return;
        }
        self.surveyed.pop_front();
        self.first.get_or_insert_with(|| posed.clone());
        if self.epoch.replace(epoch) != Some(epoch) {
            let before = std::mem::take(&mut self.bodies);
            self.bodies = sitters(self.stream, self.options, posed.place, self.picture.color_by, before);
        }
        for (sitter, own) in self.bodies.iter().zip(&posed.bodies) {
            if self.only_props || !sitter.is_prop() {
                self.survey.body(&own.vertices, sitter.radius);
            }
            let values = sitter.particle_values(&posed.frame, self.picture.color_by);
            self.top = self.top.max(high_value(&values));
        }
        survey_solids(&mut self.survey, self.reader, &posed.frame);
        self.survey.moment(posed.frame.time);
    }

    /// What was seen, once all frames have gone by.
    pub fn finish(self) -> Seen {
        let picture = self.picture;
        let path = self.survey.path(picture.camera);
        let settings = Settings {
            // The same lines all the time, however near the camera comes.
            grid: Some(round_spacing(path.radius())),
            ..Settings::sized(picture.width, picture.height)
        };
        // The first frame is always among those that are looked at.
        let named = self.first.is_some_and(|first| {
            let bodies = sitters(self.stream, self.options, first.place, picture.color_by, self.bodies);
            names_fit(&bodies, &first, &path.at(first.frame.time), &settings)
        });
        let count = self.stream.frames.len();
        Seen {
            path,
            settings,
            picture,
            range: (0.0, if self.top > 0.0 { self.top } else { 1.0 }),
            named,
            changes: self.changes.map_or_else(|| vec![0.0; count], |c| c.all),
        }
    }
}

impl<'a> Studio<'a> {
    fn new(shoot: &'a Shoot<'a>, seen: &'a Seen, dither: bool) -> Studio<'a> {
        let settings = Settings { dither, threads: shoot.options.threads, ..seen.settings };
        Studio { shoot, seen, epoch: None, bodies: Vec::new(), settings }
    }

    /// Draws the frame of this place in the log.
    fn draw(&mut self, place: usize) -> Result<Image, CacheError> {
        let Shoot { reader, stream, options, kept, .. } = *self.shoot;
        let posed = match kept.get(&place) {
            Some(posed) => posed.clone(),
            None => Arc::new(stream.pose(place, SKIN)?),
        };
        let frame = &posed.frame;
        let (by, range) = (self.seen.picture.color_by, self.seen.range);
        if self.epoch.replace(reader.epoch_of(place)) != Some(reader.epoch_of(place)) {
            let before = std::mem::take(&mut self.bodies);
            self.bodies = sitters(stream, options, place, by, before);
        }
        let (map, label) = match by {
            ColorBy::Speed => (ColorMap::Plasma, "speed, m/s"),
            _ => (ColorMap::Viridis, "strain"),
        };
        for sitter in &mut self.bodies {
            sitter.paint(frame, by, range, map);
        }
        let shown = || self.bodies.iter().zip(posed.bodies.iter().map(|b| &b.vertices[..]));
        let mut items: Vec<Item> = shown().map(|(s, vertices)| s.item(vertices, by)).collect();
        let header = reader.header();
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
        let camera = self.seen.path.at(frame.time);
        let planes = frame.planes.as_deref().unwrap_or(&reader.header().planes);
        let mut image = render(&items, planes, &camera, &self.settings);
        if self.seen.named {
            for (sitter, vertices) in shown().filter(|(sitter, _)| !sitter.is_prop()) {
                if let Some([left, top, ..]) = sitter.label(vertices, &camera, &self.settings) {
                    let scale = label_scale(&self.settings);
                    draw_text(&mut image, left, top, &sitter.body.name, scale, [60, 66, 80], 0.85);
                }
            }
        }
        if matches!(by, ColorBy::Speed | ColorBy::Strain) {
            draw_legend(&mut image, map, range, label);
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

/// A body and what is needed to draw it.
struct Sitter<'a> {
    body: &'a LogBody,
    /// Radius of the balls of a point cloud.
    radius: f64,
    /// Colour of each vertex where it does not change over time.
    fixed: Vec<[f32; 3]>,
    colors: Vec<[f32; 3]>,
}

/// The bodies of a frame; what was prepared for those that were there before is kept.
fn sitters<'a>(
    stream: &'a Stream<'a>,
    options: &ExportOptions,
    place: usize,
    by: ColorBy,
    before: Vec<Sitter<'a>>,
) -> Vec<Sitter<'a>> {
    let mut before = before.into_iter().peekable();
    let one = |body: &'a LogBody| {
        while before.next_if(|old| old.body.id < body.id).is_some() {}
        let known = before.next_if(|old| (old.body.id, old.body.version) == (body.id, body.version));
        match known {
            Some(known) => Sitter { body, ..known },
            None => Sitter::new(body, by),
        }
    };
    let bodies = stream.bodies_at(place).into_iter().map(|(_, body)| body);
    bodies.filter(|b| chosen(b, options)).map(one).collect()
}

impl<'a> Sitter<'a> {
    fn new(body: &'a LogBody, by: ColorBy) -> Sitter<'a> {
        let thick = if is_thread(body) { THREAD } else { BALL };
        Sitter {
            radius: if body.is_point_cloud() { thick * spacing(&body.mesh.positions) } else { 0.0 },
            fixed: if by == ColorBy::Cluster { cluster_colors(body) } else { Vec::new() },
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
    fn label(&self, vertices: &[DVec3], camera: &Camera, settings: &Settings) -> Option<[i64; 4]> {
        if vertices.is_empty() {
            return None;
        }
        let (low, high) = Camera::bounds(vertices);
        let top = DVec3::new(0.5 * (low.x + high.x), high.y, 0.5 * (low.z + high.z));
        let project = camera.projection(settings);
        let (x, mut y) = project(top)?;
        for vertex in vertices {
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

    fn item<'i>(&'i self, positions: &'i [DVec3], by: ColorBy) -> Item<'i> {
        let own = self.body.color.map(srgb);
        let colors = match by {
            ColorBy::Cluster if !self.fixed.is_empty() => Colors::PerVertex(&self.fixed),
            ColorBy::Strain | ColorBy::Speed if !self.colors.is_empty() => Colors::PerVertex(&self.colors),
            _ => Colors::Uniform(own),
        };
        if self.is_thread() {
            let segments = &self.body.simulated.elements.edges;
            return Item::Lines { positions, segments, radius: self.radius, colors };
        }
        if self.body.is_point_cloud() {
            return Item::Points { positions, radius: self.radius, colors };
        }
        Item::Mesh {
            positions,
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
fn names_fit(bodies: &[Sitter], posed: &Posed, camera: &Camera, settings: &Settings) -> bool {
    let bodies = bodies.iter().zip(&posed.bodies).filter(|(sitter, _)| !sitter.is_prop());
    let label = |(sitter, own): (&Sitter, &PosedBody)| sitter.label(&own.vertices, camera, settings);
    let places: Vec<[i64; 4]> = bodies.clone().filter_map(label).collect();
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
    for i in body.simulated.elements.edges.iter().flatten() {
        match neighbours.get_mut(*i as usize) {
            Some(n) => *n += 1,
            None => return false,
        }
    }
    body.is_point_cloud() && !body.simulated.elements.edges.is_empty() && neighbours.iter().all(|n| *n <= 2)
}

/// What the log says, changed by the options, refused where it makes no picture.
fn checked_picture(reader: &Footage<'_>, options: &ExportOptions) -> Result<PictureSettings, CacheError> {
    let own = reader.header().picture;
    let picture = PictureSettings {
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
