//! Looks at every output before the work begins: a run of an hour must not end in "unknown format".

use crate::failure::Failure;
use crate::files::Identity;
use crate::interrupt::TemporaryFiles;
use crate::{progress, terminal};
use pliant_cache::{
    CacheError, DiskOutput, ExportOptions, ExportOutput, ExportSummary, FORMATS, LogReader, ResampledLog,
    TargetOptions, export_all, is_pattern, without_number, write_target,
};
use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Refuses outputs no exporter knows or that would overwrite each other; all at once.
pub fn check_formats(outputs: &[PathBuf]) -> Result<(), Failure> {
    let mut messages: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut unknown = 0;
    for path in outputs {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        if extension == "plog" {
            messages.push(format!(
                "{}: the frame log is no export; name it with --log {}",
                path.display(),
                path.display()
            ));
        } else if !FORMATS.iter().any(|f| f.extension == extension) {
            let what = if extension.is_empty() {
                "no extension to tell the format by".to_string()
            } else {
                format!("unknown format \".{extension}\"")
            };
            messages.push(format!("{}: {what}", path.display()));
            unknown = messages.len();
        } else if !seen.insert(Identity::of(path)) {
            messages.push(format!("{}: named twice; give each output its own name", path.display()));
        }
    }
    // The list of formats once is enough.
    if let Some(last) = unknown.checked_sub(1) {
        messages[last] += "; known are:";
        for f in FORMATS {
            messages[last] += &format!("\n    .{:5} {}", f.extension, f.about);
        }
    }
    failed(Failure::USAGE, messages)
}

/// Creates the folders of all files to be written, says so, and tries whether they can be written to.
pub fn prepare_folders<'a>(files: impl IntoIterator<Item = &'a Path>, quiet: bool) -> Result<(), Failure> {
    let mut messages = Vec::new();
    let mut seen = HashSet::new();
    let mut made = Vec::new();
    for file in files {
        if file.is_dir() {
            messages.push(format!(
                "{}: this is a folder; name a file in it, such as {}",
                file.display(),
                file.join("run").with_extension("usda").display()
            ));
            continue;
        }
        let folder = match write_target(file) {
            Ok(target) => folder_of(&target),
            Err(e) => {
                messages.push(e.to_string());
                continue;
            }
        };
        if !seen.insert(folder.clone()) {
            continue;
        }
        let new = !folder.exists();
        match fs::create_dir_all(&folder).and_then(|()| probe(&folder)) {
            Ok(()) if new => made.push(folder),
            Ok(()) => {}
            Err(e) => messages.push(CacheError::io(file, "write into its folder", e).to_string()),
        }
    }
    // A folder nobody wanted is most likely a misspelt one: it is told, once all of them are there.
    if messages.is_empty() && !quiet {
        made.iter().for_each(|f| terminal::problem(&format!("note: made the folder {}", f.display())));
    }
    failed(Failure::IO, messages)
}

/// Refuses a file whose folder is not there or cannot be written to.
#[cfg(feature = "bench")]
pub fn require_folder(file: &Path) -> Result<(), Failure> {
    let folder = write_target(file).map(|target| folder_of(&target))?;
    probe(&folder).map_err(|e| CacheError::io(file, "write into its folder", e).into())
}

/// Whether it is a device that takes bytes one after the other, such as a terminal.
pub fn is_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        fs::metadata(path).is_ok_and(|m| m.file_type().is_char_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

fn failed(code: u8, messages: Vec<String>) -> Result<(), Failure> {
    if messages.is_empty() { Ok(()) } else { Err(Failure::all(code, messages)) }
}

/// The folder a file is in.
fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Permissions tell only half of it (read-only disks, quotas): try.
fn probe(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".pliant-{}.tmp", std::process::id()));
    File::create(&path)?;
    fs::remove_file(&path)
}

/// Makes every output from the log. One that fails does not keep the others from being made.
pub fn write_all(
    reader: &LogReader,
    outputs: &[PathBuf],
    options: &ExportOptions,
    placing: TargetOptions,
    quiet: bool,
) -> Result<Vec<ExportSummary>, Failure> {
    let conversion = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        ExportOutput { path: path.clone(), conversion: placing.conversion(&extension) }
    };
    let all: Vec<ExportOutput> = outputs.iter().map(conversion).collect();
    let bar = progress::bar("exporting", 0, quiet);
    let temporary_files = TemporaryFiles::exports(outputs);
    let results = export_all(reader, &all, options, &DiskOutput, &mut |step, all| {
        bar.set_length(all as u64);
        bar.set_position(step as u64);
    });
    drop(temporary_files);
    bar.finish_and_clear();
    let mut done = Vec::new();
    let mut failure: Option<Failure> = None;
    for result in results {
        match result {
            Ok(summary) => done.push(summary),
            Err(e) => {
                let e = Failure::from(e);
                match &mut failure {
                    Some(f) => f.messages.extend(e.messages),
                    None => failure = Some(e),
                }
            }
        }
    }
    if let Some(failure) = failure {
        for summary in &done {
            terminal::problem(&format!("note: {} was written", summary.path.display()));
        }
        return Err(failure);
    }
    Ok(done)
}

/// One line about a file that was made.
pub fn describe(summary: &ExportSummary) -> String {
    let several = if summary.files > 1 { format!("{} files, ", summary.files) } else { String::new() };
    let frames = if summary.frames == 1 { "frame" } else { "frames" };
    format!("  {}  ({several}{} {frames}, {})\n", summary.path.display(), summary.frames, size(summary.bytes))
}

/// The command that makes a film of a sequence of pictures; `None` for anything else.
pub fn movie_command(
    path: &Path,
    resampled: &ResampledLog<'_>,
    options: &ExportOptions,
) -> Result<Option<String>, Failure> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    if extension.as_deref() != Some("png") || !is_pattern(path) {
        return Ok(None);
    }
    let places = options.frames.positions(resampled)?;
    let first = places.first().and_then(|&k| resampled.frame_index(k)).unwrap_or(0);
    let rate = resampled.frames_per_second() / f64::from(options.frames.step.max(1));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The last two or more # are where the number is.
    let Some(end) = name.rfind("##").map(|k| k + 2) else { return Ok(None) };
    let digits = name[..end].bytes().rev().take_while(|&b| b == b'#').count();
    let (before, after) = (&name[..end - digits], &name[end..]);
    let in_folder = |name: String| path.with_file_name(name).display().to_string();
    let pictures = match options.frames.step {
        0 | 1 => {
            // Per cent signs stand for numbers there.
            let plain = |text: &str| text.replace('%', "%%");
            let folder = path.parent().map(|f| plain(&f.join("").display().to_string())).unwrap_or_default();
            let name = format!("{folder}{}%0{digits}d{}", plain(before), plain(after));
            format!("-start_number {first} -i {}", terminal::quoted(&name))
        }
        // Numbers with gaps between them.
        _ => format!(
            "-pattern_type glob -i {}",
            terminal::quoted(&in_folder(format!("{before}{}{after}", "[0-9]".repeat(digits))))
        ),
    };
    let picture = resampled.header().picture;
    let sides = [options.width.unwrap_or(picture.width), options.height.unwrap_or(picture.height)];
    // Usual films have even sides.
    let pad = if sides.iter().any(|s| s % 2 == 1) { " -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2'" } else { "" };
    let film = without_number(path).unwrap_or_else(|| path.with_file_name("film.png")).with_extension("mp4");
    let film = terminal::quoted(&film.display().to_string());
    Ok(Some(format!("ffmpeg -framerate {rate} {pictures}{pad} -c:v libx264 -pix_fmt yuv420p {film}")))
}

/// A number of bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
