//! Drawn frames written as GIF, APNG, contact sheet or numbered PNG files.

use super::plan::PicturePlan;
use super::scene::PictureScene;
use super::{PictureJob, TILES};
use crate::CacheError;
use crate::atomic::AtomicFile;
use crate::export::ExportSummary;
use crate::export::sequence::numbered;
use crate::render::{GifError, busy_frames, contact_sheet, encode_png, write_png_by};
use std::collections::BTreeMap;
use std::path::Path;

/// How many frames the writer of animations looks at before the first.
const PALETTE_FRAMES: usize = 6;

pub(super) fn write_gif(
    path: &Path,
    scene: &mut PictureScene<'_>,
    frames: &[usize],
    seconds: f64,
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let mut file = AtomicFile::create(scene.job.folder, path)?;
    let mut done = 0;
    // The writer asks for a few frames ahead to choose the palette, then for all of them: draw each once.
    let mut ahead = BTreeMap::new();
    let bytes = crate::render::write_gif(Vec::new(), frames.len(), seconds, |i| {
        if let Some(image) = ahead.remove(&i) {
            return Ok(image);
        }
        let image = scene.draw(frames[i])?;
        done += 1;
        step();
        if done <= PALETTE_FRAMES {
            ahead.insert(i, image.clone());
        }
        Ok::<_, DrawError>(image)
    })
    .map_err(|e| e.into_error(path))?;
    file.put(&bytes)?;
    Ok(summary(path, frames.len(), file.commit()?))
}

pub(super) fn write_apng(
    path: &Path,
    scene: &mut PictureScene<'_>,
    frames: &[usize],
    seconds: f64,
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let mut file = AtomicFile::create(scene.job.folder, path)?;
    let mut bytes = Vec::new();
    crate::render::write_apng(&mut bytes, frames.len(), seconds, |i| {
        let image = scene.draw(frames[i])?;
        step();
        Ok::<_, DrawError>(image)
    })
    .map_err(|e| e.into_error(path))?;
    file.put(&bytes)?;
    Ok(summary(path, frames.len(), file.commit()?))
}

pub(super) fn write_sheet(
    path: &Path,
    scene: &mut PictureScene<'_>,
    plan: &PicturePlan,
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let (reader, selected) = (scene.job.reader, &scene.job.stream.frames);
    let shown = busy_frames(&plan.changes, TILES.0);
    let mut file = AtomicFile::create(scene.job.folder, path)?;
    let mut tiles = Vec::with_capacity(shown.len());
    for &k in &shown {
        let time = reader.frame_time(selected[k]).unwrap_or(0.0);
        tiles.push((time, scene.draw(selected[k])?));
        step();
    }
    let sheet = contact_sheet(&tiles, TILES.1.min(tiles.len()));
    let bytes = encode_png(&sheet).map_err(|e| CacheError::io(path, "encode the picture", e))?;
    file.put(&bytes)?;
    Ok(summary(path, shown.len(), file.commit()?))
}

/// A picture of each frame.
pub(super) fn write_sequence(
    path: &Path,
    scene: &mut PictureScene<'_>,
    frames: &[usize],
    step: &mut dyn FnMut(),
) -> Result<ExportSummary, CacheError> {
    let PictureJob { reader, folder, .. } = *scene.job;
    let number = |k: usize| reader.frame_index(k).unwrap_or(0);
    let mut done = summary(&numbered(path, number(frames[0])), frames.len(), 0);
    done.files = 0;
    for &k in frames {
        let mut file = AtomicFile::create(folder, &numbered(path, number(k)))?;
        let mut bytes = Vec::new();
        write_png_by(&scene.draw(k)?, Some(&reader.header().program), &mut bytes)
            .map_err(|e| CacheError::io(path, "encode the picture", e))?;
        file.put(&bytes)?;
        done.bytes += file.commit_one_of_many()?;
        done.files += 1;
        step();
    }
    Ok(done)
}

fn summary(path: &Path, frames: usize, bytes: u64) -> ExportSummary {
    ExportSummary { path: path.to_path_buf(), files: 1, frames, vertices: 0, bytes }
}

/// Either side of drawing and encoding may fail.
enum DrawError {
    Gif(GifError),
    Cache(CacheError),
}

impl From<GifError> for DrawError {
    fn from(e: GifError) -> Self {
        DrawError::Gif(e)
    }
}

impl From<std::io::Error> for DrawError {
    fn from(e: std::io::Error) -> Self {
        DrawError::Gif(GifError::Io(e))
    }
}

impl From<CacheError> for DrawError {
    fn from(e: CacheError) -> Self {
        DrawError::Cache(e)
    }
}

impl DrawError {
    fn into_error(self, path: &Path) -> CacheError {
        match self {
            DrawError::Cache(e) => e,
            DrawError::Gif(GifError::Io(e)) => CacheError::io(path, "write the animation", e),
            DrawError::Gif(e) => CacheError::invalid(
                path.display().to_string(),
                e.to_string(),
                "choose another size of the picture",
            ),
        }
    }
}
