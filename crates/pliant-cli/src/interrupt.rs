//! Ctrl-C: finish the frame while simulating, stop at once while doing anything that can simply be done again.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether a simulation is under way that wants to end by itself.
static SIMULATING: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);
/// Half-written files that nobody needs when the program ends at once.
static LITTER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes over Ctrl-C (and requests to terminate), and what a limit on file sizes does.
pub fn install() -> Result<(), Failure> {
    survive_large_files()?;
    listen().map_err(|e| Failure::new(Failure::IO, format!("cannot listen for Ctrl-C: {e}")))
}

/// What happens at every Ctrl-C, on a thread of its own.
fn interrupted() {
    if SIMULATING.load(Ordering::SeqCst) && !STOP.swap(true, Ordering::SeqCst) {
        return;
    }
    // The second time, or where there is nothing to finish. The log survives this at any moment.
    for path in LITTER.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(Failure::INTERRUPTED.into());
}

#[cfg(unix)]
fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listener = move || signals.forever().for_each(|_| interrupted());
    std::thread::Builder::new().name("ctrl-c".into()).spawn(listener).map(|_| ())
}

#[cfg(not(unix))]
fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(interrupted)
}

/// A file that grows beyond the limit a user is given (`ulimit -f`) kills a program without a word, unless it takes the
/// signal: then the write fails as on a full disk, and is told as that.
#[cfg(unix)]
fn survive_large_files() -> Result<(), Failure> {
    // Nobody looks at the flag: the failed write says it all.
    let unseen = std::sync::Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unseen)
        .map(|_| ())
        .map_err(|e| Failure::new(Failure::IO, format!("cannot listen for limits on file sizes: {e}")))
}

#[cfg(not(unix))]
fn survive_large_files() -> Result<(), Failure> {
    Ok(())
}

/// While this lives, the first Ctrl-C only raises a flag.
pub struct DeferredStop(());

impl DeferredStop {
    /// From now on.
    pub fn begin() -> DeferredStop {
        SIMULATING.store(true, Ordering::SeqCst);
        DeferredStop(())
    }

    /// Whether the user wants to stop.
    pub fn stop(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}

impl Drop for DeferredStop {
    fn drop(&mut self) {
        SIMULATING.store(false, Ordering::SeqCst);
    }
}

/// While this lives, the unfinished files beside exports are removed if the program is stopped.
pub struct TemporaryFiles(());

impl TemporaryFiles {
    /// The exporters write `path.tmp` and rename it when it is whole; USD has a second file while it is made, and
    /// the list of VTU files another name.
    pub fn exports(paths: &[PathBuf]) -> TemporaryFiles {
        let beside = |path: &Path, suffix: &str| {
            let mut name = path.file_name().unwrap_or_default().to_os_string();
            name.push(suffix);
            path.with_file_name(name)
        };
        let mut litter = LITTER.lock().unwrap_or_else(PoisonError::into_inner);
        for path in paths {
            let path = &pliant_cache::write_target(path).unwrap_or_else(|_| path.clone());
            litter.extend([beside(path, ".tmp"), beside(path, ".spool.tmp")]);
            litter.push(beside(&path.with_extension("pvd"), ".tmp"));
        }
        TemporaryFiles(())
    }
}

impl Drop for TemporaryFiles {
    fn drop(&mut self) {
        LITTER.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
