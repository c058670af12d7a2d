//! What has to be known of all frames before the first is drawn: camera path, scale of colours, names, busy frames.

use super::TILES;
use super::body::{PictureBody, picture_bodies};
use super::labels::names_fit;
use crate::export::stream::{ExportStream, PosedFrame};
use crate::export::{ExportOptions, ResampledLog, is_selected};
use crate::render::{Camera, CameraPath, CameraPlanner, Look, RenderSettings, round_spacing, sheet_frames};
use crate::{CacheError, LogFrame, PictureSettings};
use glam::DVec3;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How many times as large as the largest body a collider may be and still be all in the picture.
const MUCH_LARGER: f64 = 6.0;
/// Frames looked at to place the camera; more would only cost time, motion between them is small.
const PLANNED_FRAMES: usize = 240;
/// Frames of a run up to which the busiest are looked for.
const BUSIEST_OF: usize = 2000;
/// Sides of a picture in pixels that make sense.
const SIDES: RangeInclusive<u32> = 16..=8192;

/// What is known of all frames before the first is drawn.
pub(in crate::export) struct PicturePlan {
    pub(super) path: CameraPath,
    pub(super) settings: RenderSettings,
    pub(super) picture: PictureSettings,
    /// Smallest and largest value of the colour scale.
    pub(super) range: (f64, f64),
    /// Whether bodies have their names written over them.
    pub(super) named: bool,
    /// See [`Changes`]; for contact sheets.
    pub(super) changes: Vec<f64>,
}

/// Looks at frames as they go by, in order.
pub(in crate::export) struct PicturePlanner<'a> {
    reader: &'a ResampledLog<'a>,
    stream: &'a ExportStream<'a>,
    options: &'a ExportOptions,
    picture: PictureSettings,
    camera_planner: CameraPlanner,
    /// Largest value of what colours show.
    top: f64,
    only_props: bool,
    /// Which of the chosen frames are looked at, those that are yet to come.
    planned: VecDeque<usize>,
    epoch: Option<usize>,
    bodies: Vec<PictureBody<'a>>,
    first: Option<Arc<PosedFrame>>,
    /// Where a contact sheet is wanted of neither few nor very many frames.
    changes: Option<Changes>,
}

impl<'a> PicturePlanner<'a> {
    pub fn new(
        reader: &'a ResampledLog<'a>,
        stream: &'a ExportStream<'a>,
        options: &'a ExportOptions,
        sheet: bool,
    ) -> Result<PicturePlanner<'a>, CacheError> {
        let picture = checked_picture(reader, options)?;
        let aspect = f64::from(picture.width) / f64::from(picture.height);
        let count = stream.frames.len();
        let planned = sheet_frames(count, PLANNED_FRAMES);
        let mut epochs: Vec<usize> = planned.iter().map(|&k| reader.epoch_of(stream.frames[k])).collect();
        epochs.dedup();
        let all = epochs.iter().flat_map(|&e| &reader.log().epochs()[e].bodies);
        let only_props = all.filter(|b| is_selected(b, options)).all(|b| b.look == Look::Prop);
        // Short runs and very long ones are spread evenly: the one needs no choice, the other would take too long.
        let choose = sheet && count > TILES.0 && count <= BUSIEST_OF;
        Ok(PicturePlanner {
            reader,
            stream,
            options,
            picture,
            camera_planner: CameraPlanner::new(aspect, picture.azimuth, picture.elevation),
            top: 0.0,
            only_props,
            planned: planned.into(),
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
            None => self.planned.iter().map(|&k| self.stream.frames[k]).collect(),
        }
    }

    /// Takes a frame; those that it does not have to see are passed over.
    pub fn take(&mut self, posed: &Arc<PosedFrame>) {
        let epoch = self.reader.epoch_of(posed.place);
        if let Some(changes) = &mut self.changes {
            changes.take(&posed.frame, epoch);
        }
        if self.planned.front() != Some(&posed.among) {
            return;
        }
        self.planned.pop_front();
        self.first.get_or_insert_with(|| posed.clone());
        if self.epoch.replace(epoch) != Some(epoch) {
            let before = std::mem::take(&mut self.bodies);
            self.bodies =
                picture_bodies(self.stream, self.options, posed.place, self.picture.color_by, before);
        }
        for (body, own) in self.bodies.iter().zip(&posed.bodies) {
            if self.only_props || !body.is_prop() {
                self.camera_planner.body(&own.vertices, body.radius);
            }
            let values = body.particle_values(&posed.frame, self.picture.color_by);
            self.top = self.top.max(high_value(&values));
        }
        plan_solids(&mut self.camera_planner, self.reader, &posed.frame);
        self.camera_planner.moment(posed.frame.time);
    }

    /// What was seen, once all frames have gone by.
    pub fn finish(self) -> PicturePlan {
        let picture = self.picture;
        let path = self.camera_planner.path(picture.camera);
        let settings = RenderSettings {
            // The same lines all the time, however near the camera comes.
            grid: Some(round_spacing(path.radius())),
            ..RenderSettings::sized(picture.width, picture.height)
        };
        // The first frame is always among those that are looked at.
        let named = self.first.is_some_and(|first| {
            let bodies =
                picture_bodies(self.stream, self.options, first.place, picture.color_by, self.bodies);
            names_fit(&bodies, &first, &path.at(first.frame.time), &settings)
        });
        let count = self.stream.frames.len();
        PicturePlan {
            path,
            settings,
            picture,
            range: (0.0, if self.top > 0.0 { self.top } else { 1.0 }),
            named,
            changes: self.changes.map_or_else(|| vec![0.0; count], |c| c.all),
        }
    }
}

/// Colliders that are not much larger than the bodies are to be seen too; a hall they fall in is not.
fn plan_solids(camera_planner: &mut CameraPlanner, reader: &ResampledLog<'_>, frame: &LogFrame) {
    let bounds = |points: &[DVec3]| Camera::bounds(points);
    let span = |(low, high): (DVec3, DVec3)| (high - low).length();
    let bodies = || reader.header().bodies.iter();
    let largest = bodies().map(|b| span(bounds(&b.mesh.positions))).fold(0.0, f64::max);
    for place in &frame.colliders {
        let Some(collider) = reader.header().colliders.iter().find(|s| s.id == place.id) else { continue };
        let (low, high) = bounds(&place.shown(&collider.mesh));
        if span((low, high)) <= MUCH_LARGER * largest {
            let corner = |k: u32| DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), high, low);
            camera_planner.body(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner), 0.0);
        }
    }
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

/// What the log says, changed by the options, refused where it makes no picture.
fn checked_picture(
    reader: &ResampledLog<'_>,
    options: &ExportOptions,
) -> Result<PictureSettings, CacheError> {
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
